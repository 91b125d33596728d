/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare.c - `tacit compare`: every combination that this build has, in
 * one run on one problem, ranked by the time to the solution. */
#include "cli/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 3 };

/* --- one row -------------------------------------------------------------- */

/* At most CLI_POINTS of a history, the last one among them. */
static void keep_points(const cli_monitor *m, cli_compared *row)
{
    const int64_t stride = (m->count + CLI_POINTS - 2) / (CLI_POINTS - 1);
    row->points = 0;
    for (int64_t i = 0; i < m->count; i += stride ? stride : 1) {
        row->iteration[row->points] = (double)m->iteration[i];
        row->residual[row->points++] = m->residual[i];
    }
    if (m->count == 0) return;
    if (row->points == CLI_POINTS) row->points--;
    row->iteration[row->points] = (double)m->iteration[m->count - 1];
    row->residual[row->points++] = m->residual[m->count - 1];
}

static tacit_status repeat_runs(const cli *c, cli_system *s,
                                tacit_solver *solver, cli_monitor *m,
                                cli_compared *row)
{
    const int warmup = c->set.warmup < 0 ? 1 : (int)c->set.warmup;
    const int repeat = c->set.repeat < 0 ? REPEATS : (int)c->set.repeat;
    double *seconds = NULL;
    TRY(tct_agree(c->world, TCT_ALLOC(repeat, "the times", &seconds)));
    tacit_status status = TACIT_OK;
    int count = 0;
    for (int i = 0; i < warmup + repeat && status >= 0; i++) {
        status = cli_run_solver(c, s, solver, m, &row->run);
        if (row->run.status == TACIT_INTERRUPTED) status = TACIT_INTERRUPTED;
        if (i >= warmup || status != TACIT_OK)
            seconds[count++] = row->run.result.seconds;
        if (status != TACIT_OK) break;
    }
    row->solve = cli_median(seconds, count);
    row->run.result.seconds = row->solve;
    tct_free(seconds);
    return status;
}

static tacit_status one_method(const cli *c, cli_comparison *all, cli_system *s,
                               const char *method, cli_monitor *m)
{
    cli_compared *row = &all->rows[all->count];
    *row = (cli_compared){.path = cli_path_of(c, &all->problem, s, method)};
    tacit_solver *solver = NULL;
    TRY(tacit_solver_create(s->queue, s->A, method, &solver));
    const tacit_status status = repeat_runs(c, s, solver, m, row);
    tacit_solver_destroy(&solver);
    if (status < 0) return status;
    keep_points(m, row);
    row->fraction = cli_fraction_of_copy(&row->run, all->copy);
    all->count++;
    return status;
}

/* One more run with every operation timed, for the bars of the page. */
static tacit_status profile(const cli *c, cli_system *s, cli_compared *row)
{
    tacit_solver *solver = NULL;
    cli_monitor silent = {.keep = false};
    cli_run run;
    TRY(tacit_solver_create(s->queue, s->A, row->path.method, &solver));
    const tacit_status status = cli_run_solver(c, s, solver, &silent, &run);
    tacit_solver_destroy(&solver);
    if (status < 0) return status;
    row->profiled = true;
    row->profile = run.tally;
    row->profile_seconds = run.result.seconds;
    return run.status == TACIT_INTERRUPTED ? TACIT_INTERRUPTED : TACIT_OK;
}

/* --- all rows ------------------------------------------------------------- */

static bool is_wanted(const char *only, const char *name)
{
    return !only || strcmp(only, name) == 0;
}

static void miss(cli_comparison *all, const char *what, const char *name,
                 const char *reason)
{
    const int most = (int)(sizeof all->missing / sizeof *all->missing);
    if (all->missing_count == most) return;
    cli_missing *m = &all->missing[all->missing_count++];
    snprintf(m->what, sizeof m->what, "%s", what);
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->reason, sizeof m->reason, "%s", reason);
}

static tacit_status profile_format(const cli *c, cli_comparison *all,
                                   const char *format, int first)
{
    cli_system s;
    TRY(cli_system_create(c, &all->problem, "count(1):host", format, false,
                          &s));
    tacit_status status = TACIT_OK;
    for (int i = first; i < all->count && status == TACIT_OK; i++)
        status = profile(c, &s, &all->rows[i]);
    cli_system_destroy(&s);
    return status;
}

/* All methods in one format; TACIT_INTERRUPTED ends the comparison. */
static tacit_status one_format(const cli *c, cli_comparison *all,
                               const char *format, cli_monitor *m)
{
    cli_system s;
    const int first = all->count;
    tacit_status status =
        cli_system_create(c, &all->problem, "count:host", format, false, &s);
    if (status == TACIT_UNSUPPORTED) {
        miss(all, "format", format, tacit_error_message());
        return TACIT_OK;
    }
    TRY(status);
    if (!isfinite(all->copy)) all->copy = cli_measure_copy(c, s.queue);
    const tacit_method *method;
    for (int i = 0; status == TACIT_OK && (method = tacit_solver_method(i));
         i++)
        if (is_wanted(c->set.method, method->name))
            status = one_method(c, all, &s, method->name, m);
    cli_system_destroy(&s);
    if (status != TACIT_OK || !c->set.html) return status;
    return profile_format(c, all, format, first);
}

static tacit_status all_formats(const cli *c, cli_comparison *all)
{
    cli_monitor m = {.keep = true, .terminal = isatty(STDERR_FILENO) != 0};
    m.show = cli_prints(c) && !c->set.no_progress &&
             (m.terminal || c->set.verbose > 0);
    tacit_status status = TACIT_OK;
    cli_choice row;
    const bool automatic = c->set.format && strcmp(c->set.format, "auto") == 0;
    if (automatic) status = one_format(c, all, "auto", &m);
    for (int i = 0;
         !automatic && status == TACIT_OK && cli_axis_format.row(i, &row); i++)
        if (is_wanted(c->set.format, row.name))
            status = one_format(c, all, row.name, &m);
    cli_monitor_free(&m);
    return status;
}

static tacit_status make_room(const cli *c, cli_comparison *all)
{
    int methods = 0, formats = 1; /* "auto" */
    cli_choice row;
    while (tacit_solver_method(methods)) methods++;
    while (cli_axis_format.row(formats - 1, &row)) formats++;
    all->room = methods * formats;
    return tct_agree(c->world, TCT_ALLOC(all->room, "the rows", &all->rows));
}

/* The values of every axis that this run could not take. */
static void list_missing(const cli *c, cli_comparison *all)
{
    static const cli_axis *const axes[] = {
        &cli_axis_method, &cli_axis_loop,      &cli_axis_comm,
        &cli_axis_device, &cli_axis_precision, &cli_axis_precond};
    const char *comm = tacit_world_comm(c->world);
    cli_choice row;
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++)
        for (int i = 0; axes[k]->row(i, &row); i++) {
            if (row.reason) miss(all, axes[k]->name, row.name, row.reason);
            else if (axes[k] == &cli_axis_comm && strcmp(row.name, comm) != 0)
                miss(all, "comm", row.name,
                     strcmp(row.name, "self") == 0
                         ? "this run has been started under MPI"
                         : "this run is one process: start it with mpirun");
        }
}

/* --- ranking and output --------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const cli_compared *x = a, *y = b;
    if (x->run.result.converged != y->run.result.converged)
        return x->run.result.converged ? -1 : 1;
    return (x->solve > y->solve) - (x->solve < y->solve);
}

static void rank_rows(cli_comparison *all)
{
    qsort(all->rows, (size_t)all->count, sizeof *all->rows, by_time);
    for (int i = 0; i < all->count; i++)
        all->rows[i].ratio = all->rows[i].solve / all->rows[0].solve;
}

static void print_table(const cli_comparison *all)
{
    cli_table t = {.text = NULL};
    cli_table_row(&t, "method\tloop\tcomm\tformat\titerations\ttrue residual\t"
                      "us/iteration\tsolve s\tratio\tof copy\tstop");
    for (int i = 0; i < all->count; i++) {
        const cli_compared *r = &all->rows[i];
        const tacit_result *s = &r->run.result;
        cli_table_row(
            &t, "%s\t%s\t%s\t%s\t%" PRId64 "\t%.3e\t%.4g\t%.4g\t%.3f\t%.3f\t%s",
            r->path.method, r->path.loop, r->path.comm, r->path.format,
            s->iterations, s->true_relative_residual,
            1e6 * r->solve / (double)s->iterations, r->solve, r->ratio,
            r->fraction, cli_stop_name(s->stop));
    }
    cli_table_print(&t, stdout);
    cli_table_free(&t);
    fputc('\n', stdout);
    for (int i = 0; i < all->missing_count; i++)
        cli_table_row(&t, "%s\t%s\t%s", all->missing[i].what,
                      all->missing[i].name, all->missing[i].reason);
    cli_table_print(&t, stdout);
    cli_table_free(&t);
}

static void add_number(cJSON *to, const char *name, double value)
{
    if (isfinite(value)) cJSON_AddNumberToObject(to, name, value);
    else cJSON_AddNullToObject(to, name);
}

static cJSON *row_json(const cli_compared *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "path", cli_json_path(&r->path));
    cJSON_AddItemToObject(o, "result", cli_json_result(&r->run));
    cJSON *time = cJSON_AddObjectToObject(o, "time");
    add_number(time, "solve", r->solve);
    add_number(time, "per_iteration",
               r->solve / (double)r->run.result.iterations);
    add_number(o, "ratio", r->ratio);
    add_number(o, "fraction_of_copy", r->fraction);
    return o;
}

static cJSON *comparison_json(const cli_comparison *all)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddItemToObject(
        o, "matrix", cli_json_matrix(all->problem.name, &all->problem.info));
    add_number(o, "copy_gbytes_per_second", all->copy);
    cJSON *rows = cJSON_AddArrayToObject(o, "rows");
    for (int i = 0; i < all->count; i++)
        cJSON_AddItemToArray(rows, row_json(&all->rows[i]));
    cJSON *missing = cJSON_AddArrayToObject(o, "unavailable");
    for (int i = 0; i < all->missing_count; i++) {
        cJSON *m = cJSON_CreateObject();
        cJSON_AddStringToObject(m, "what", all->missing[i].what);
        cJSON_AddStringToObject(m, "name", all->missing[i].name);
        cJSON_AddStringToObject(m, "reason", all->missing[i].reason);
        cJSON_AddItemToArray(missing, m);
    }
    return o;
}

static tacit_status write_page(const cli *c, const cli_comparison *all)
{
    char *page = cli_comparison_html(all);
    tacit_status status = TACIT_OK;
    if (!page) status = tct_fail(TACIT_NO_MEMORY, "no memory for the page");
    status = tct_agree(c->world, status);
    if (status >= 0) status = cli_write_text(c, c->set.html, page);
    free(page);
    return status;
}

static tacit_status write_all(const cli *c, const cli_comparison *all)
{
    if (cli_prints(c) && !cli_json_only(c)) print_table(all);
    if (c->set.html) TRY(write_page(c, all));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, comparison_json(all));
}

/* Solved if any row is; otherwise what became of the first one. */
static tacit_status conclude(const cli *c, const cli_comparison *all)
{
    if (all->count == 0)
        FAIL(TACIT_UNSUPPORTED, "nothing to compare: %s",
             all->missing_count ? all->missing[0].reason : "no method");
    const cli_run *first = &all->rows[0].run;
    if (first->result.converged) return TACIT_OK;
    const tacit_stop stop = {.rtol = all->rtol, .atol = all->atol};
    char text[512];
    cli_explain(first, &stop, text, sizeof text);
    if (first->status < 0) FAIL(first->status, "%s", text);
    if (c->rank == 0) cli_complain(text);
    return first->status;
}

static tacit_status compare(const cli *c, cli_comparison *all)
{
    TRY(cli_check_writable(c, c->set.json));
    TRY(cli_check_writable(c, c->set.html));
    TRY(make_room(c, all));
    TRY(cli_problem_open(c, c->set.operand[0], CLI_FOR_SOLVING, &all->problem));
    const tacit_status status = all_formats(c, all);
    if (status < 0) return status;
    list_missing(c, all);
    rank_rows(all);
    TRY(write_all(c, all));
    if (status == TACIT_INTERRUPTED) {
        if (c->rank == 0)
            cli_complain("interrupted: these are the rows so far");
        return status;
    }
    return conclude(c, all);
}

static tacit_status compare_run(cli *c)
{
    cli_comparison all = {
        .copy = (double)NAN, .rtol = c->set.rtol, .atol = c->set.atol};
    const tacit_status status = compare(c, &all);
    cli_problem_close(&all.problem);
    tct_free(all.rows);
    return status;
}

const cli_command cli_command_compare = {
    .name = "compare",
    .operands = "MATRIX",
    .summary = "every available method and format in one run, ranked",
    .about = "Solve one problem with every method and format that this build "
             "has, and rank them by the time to the solution (median of the "
             "repeats). ratio is to the first row's time. What is not "
             "available is listed last, with the reason.",
    .least = 1,
    .most = 1,
    .run = compare_run,
};
