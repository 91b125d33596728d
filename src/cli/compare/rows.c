/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/rows.c - rows of `tacit compare`: those of one operator, and what
 * could not be had. */
#include "cli/compare/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one row -------------------------------------------------------------- */

/* At most CLI_POINTS of a history, including the last one. */
static void keep_points(const cli_monitor *m, cli_compared *row)
{
    const int64_t stride = (m->count + CLI_POINTS - 2) / (CLI_POINTS - 1);
    row->points = 0;
    for (int64_t i = 0; i < m->count; i += stride ? stride : 1) {
        row->iteration[row->points] = (double)m->look[i].iteration;
        row->residual[row->points++] = m->look[i].residual;
    }
    if (m->count == 0) return;
    if (row->points == CLI_POINTS) row->points--;
    row->iteration[row->points] = (double)m->look[m->count - 1].iteration;
    row->residual[row->points++] = m->look[m->count - 1].residual;
}

static tacit_status repeat_runs(const cli *c, cli_system *s,
                                tacit_solver *solver, cli_monitor *m,
                                cli_compared *row)
{
    const int warmup = cli_compare_warmup(c), repeat = cli_compare_repeat(c);
    double *seconds = NULL;
    TRY(tacit_world_agree(c->world, ALLOC(repeat, "the times", &seconds)));
    tacit_status status = TACIT_OK;
    int count = 0;
    for (int i = 0; i < warmup + repeat && status >= 0; i++) {
        status = cli_run_solver(c, s, solver, m, &row->run);
        if (row->run.status == TACIT_INTERRUPTED) status = TACIT_INTERRUPTED;
        if (i >= warmup || status != TACIT_OK)
            seconds[count++] = row->run.result.seconds;
        if (status != TACIT_OK) break;
        if (i == 0) status = cli_wait_as_in_solves(c, true);
    }
    const tacit_status over = cli_wait_as_in_solves(c, false);
    row->solve = base_median(seconds, count);
    row->run.result.seconds = row->solve;
    free(seconds);
    return over < 0 && status >= 0 ? over : status;
}

/* Common to some rows: the settings (method and loop NULL: each), a system. */
typedef struct batch {
    const cli *c;
    const char *method, *loop, *format;
    double copy;
    cli_system s;
    cli_monitor *m;
} batch;

/* Note a missing loop or method, with its format; or a preconditioner. */
static void miss_row(const batch *b, cli_comparison *all, const char *method,
                     const char *loop)
{
    char reason[256];
    if (cli_is_direct(b->c)) {
        cli_compare_miss(all, "method", method, tacit_error_message());
        return;
    }
    if (all->besides && b->c->set.precond) {
        cli_compare_miss(all, "precond", b->c->set.precond,
                         tacit_error_message());
        return;
    }
    snprintf(reason, sizeof reason, "%.180s (%s in %s)", tacit_error_message(),
             method, b->format);
    cli_compare_miss(all, "loop", loop, reason);
}

static bool is_missing(const batch *b, const cli_comparison *all,
                       tacit_status status)
{
    return cli_is_missing(b->c, status) ||
           (all->besides &&
            (status == TACIT_INPUT || status == TACIT_NO_MEMORY));
}

/* The preconditioner of the row's solver, and its steps. */
static void note_solver(const cli *c, const cli_system *s,
                        const tacit_solver *solver, const char *method,
                        cli_compared *row)
{
    const tacit_operator *M = solver ? tacit_solver_precond(solver) : s->M;
    tacit_precond_info info = {.size = sizeof info};
    int64_t steps = 0;
    if (M) tacit_precond_describe(M, &info);
    row->setup = cli_max(c, info.setup_seconds);
    if (!solver) return;
    if (info.levels > 0)
        row->levels = cli_json_precond(M, cli_measure_precond(s->A, M));
    row->steps = tacit_method_find(method)->steps;
    if (row->steps > 0 && c->set.steps &&
        cli_parse_integer(c->set.steps, &steps))
        row->steps = (int)steps;
}

/* A solver of `method`, or M for method direct. */
static tacit_status make_solver(const cli *c, const cli_problem *p,
                                cli_system *s, const char *method,
                                tacit_solver **out)
{
    if (cli_is_direct(c)) return cli_make_precond(c, p, s);
    TRY(tacit_solver_create(s->queue, s->A, method, out));
    return cli_set_solver(c, p, s, *out);
}

static tacit_status one_row(batch *b, cli_comparison *all, const char *method,
                            const char *loop)
{
    const cli *c = b->c;
    cli_compared *row = cli_compare_next(all);
    tacit_solver *solver = NULL;
    if (!row) return TACIT_OK;
    tacit_status status = make_solver(c, &all->problem, &b->s, method, &solver);
    if (status >= 0 && solver) status = tacit_solver_set_loop(solver, loop);
    if (is_missing(b, all, status)) {
        miss_row(b, all, method, loop);
        tacit_solver_destroy(&solver);
        return TACIT_OK;
    }
    if (status >= 0) status = repeat_runs(c, &b->s, solver, b->m, row);
    if (status >= 0) note_solver(c, &b->s, solver, method, row);
    tacit_solver_destroy(&solver);
    if (status < 0) return status;
    row->total = row->solve + row->setup / all->solves;
    row->path = cli_path_of(c, &all->problem, &b->s, method, &row->run);
    if (c->set.spelling) row->path.precond = c->set.spelling;
    row->fraction = cli_fraction_of_copy(&row->run, b->copy);
    keep_points(b->m, row);
    all->count++;
    return status;
}

/* One more run, with every operation timed, for the bars of the page. */
static tacit_status profile(const cli *c, const cli_problem *p, cli_system *s,
                            cli_compared *row)
{
    tacit_solver *solver = NULL;
    cli_monitor silent = {.keep = false};
    cli_run run;
    tacit_status status = make_solver(c, p, s, row->path.method, &solver);
    if (status >= 0) status = cli_run_solver(c, s, solver, &silent, &run);
    tacit_solver_destroy(&solver);
    if (status < 0) return status;
    row->profiled = true;
    row->profile = run.tally;
    row->profile_seconds = run.result.seconds;
    return run.status == TACIT_INTERRUPTED ? TACIT_INTERRUPTED : TACIT_OK;
}

/* Rows that differ only in the loop do the same operations. */
static bool share_profile(const cli_comparison *all, int first,
                          cli_compared *row)
{
    for (const cli_compared *r = &all->rows[first]; r < row; r++) {
        if (strcmp(r->path.method, row->path.method) != 0) continue;
        row->profiled = r->profiled;
        row->profile = r->profile;
        row->profile_seconds = r->profile_seconds;
        return true;
    }
    return false;
}

static tacit_status profile_rows(const batch *b, cli_comparison *all, int first)
{
    cli_system s;
    if (first == all->count) return TACIT_OK;
    TRY(cli_system_create(b->c, &all->problem, "count(1)", b->format,
                          CLI_SHARING, &s));
    tacit_status status = TACIT_OK;
    for (int i = first; i < all->count && status == TACIT_OK; i++)
        if (!share_profile(all, first, &all->rows[i]))
            status = profile(b->c, &all->problem, &s, &all->rows[i]);
    cli_system_destroy(&s);
    return status;
}

/* --- rows that share an operator ------------------------------------------ */

cli_compared *cli_compare_next(cli_comparison *all)
{
    if (all->count == all->room) return NULL;
    cli_compared *row = &all->rows[all->count];
    *row = (cli_compared){.fraction = (double)NAN, .faster = (double)NAN};
    return row;
}

int cli_compare_warmup(const cli *c)
{
    return c->set.warmup < 0 ? 1 : (int)c->set.warmup;
}

int cli_compare_repeat(const cli *c)
{
    return c->set.repeat < 0 ? CLI_REPEATS : (int)c->set.repeat;
}

static bool is_wanted(const char *only, const char *name)
{
    return !only || strcmp(only, name) == 0;
}

void cli_compare_miss(cli_comparison *all, const char *what, const char *name,
                      const char *reason)
{
    cli_missing m;
    snprintf(m.what, sizeof m.what, "%s", what);
    snprintf(m.name, sizeof m.name, "%s", name);
    snprintf(m.reason, sizeof m.reason, "%s", reason);
    for (int i = 0; i < all->missing_count; i++)
        if (strcmp(all->missing[i].what, m.what) == 0 &&
            strcmp(all->missing[i].name, m.name) == 0 &&
            strcmp(all->missing[i].reason, m.reason) == 0)
            return;
    if (all->missing_count < CLI_MISSING_MOST)
        all->missing[all->missing_count++] = m;
}

/* Each loop of the device, or the one asked for. */
static tacit_status all_loops(batch *b, cli_comparison *all, const char *method)
{
    if (b->loop) return one_row(b, all, method, b->loop);
    tacit_status status = TACIT_OK;
    const tacit_loop *loop;
    for (int i = 0; status == TACIT_OK && (loop = tacit_loop_at(i)); i++)
        if (!loop->needs_gpu || cli_on_gpu(b->c))
            status = one_row(b, all, method, loop->name);
    return status;
}

/* Warn once, before the first solver runs; a factor sees all rows. */
static tacit_status warn_unbalanced(batch *b, cli_comparison *all)
{
    if (all->balanced || cli_is_direct(b->c)) return TACIT_OK;
    all->balanced = true;
    return cli_warn_unbalanced(b->c, &all->problem, &b->s, b->s.M);
}

/* An iteration of cg with CSR: its entries, and five vectors. */
static double bytes_of(const tacit_matrix_info *m)
{
    return 12.0 * (double)m->nonzeros + 40.0 * (double)m->rows;
}

/* Keep the data of this system that later rows need. */
static tacit_status look_at(batch *b, cli_comparison *all)
{
    TRY(warn_unbalanced(b, all));
    const double bytes = bytes_of(&all->problem.info);
    if (strcmp(b->c->device, all->device) != 0) {
        b->copy = cli_measure_copy(b->c, b->s.queue, bytes);
        return TACIT_OK;
    }
    if (!isfinite(all->copy))
        all->copy = cli_measure_copy(b->c, b->s.queue, bytes);
    b->copy = all->copy;
    const cli_run none = {.status = TACIT_OK};
    all->path = cli_path_of(b->c, &all->problem, &b->s, "cg", &none);
    snprintf(all->format, sizeof all->format, "%s", all->path.format);
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(b->s.A, &info);
    all->packed = info.packed;
    if (!cli_on_gpu(b->c) || all->b) return TACIT_OK;
    TRY(ALLOC(b->s.n, "the right-hand side", &all->b));
    return tacit_queue_get(b->s.queue, b->s.n, b->s.b, all->b);
}

tacit_status cli_compare_batch(const cli *c, cli_comparison *all,
                               const char *method, const char *loop,
                               const char *format, cli_monitor *m)
{
    char spec[CLI_FORMAT];
    batch b = {.c = c, .method = method, .loop = loop, .m = m};
    b.format = cli_format_spec(c, format, spec);
    const int first = all->count;
    tacit_status status = cli_system_create(c, &all->problem, "count", b.format,
                                            CLI_SHARING, &b.s);
    if (cli_is_missing(c, status)) {
        cli_compare_miss(all, "format", b.format, tacit_error_message());
        return TACIT_OK;
    }
    TRY(status);
    if (c->precision && !c->set.precision && !cli_is_mixed(&b.s)) {
        cli_compare_miss(all, "precision", c->precision,
                         "values of fewer bits make no faster products here");
        cli_system_destroy(&b.s);
        return TACIT_OK;
    }
    status = look_at(&b, all);
    const tacit_method *row;
    if (status == TACIT_OK && cli_is_direct(c))
        status = one_row(&b, all, "direct", "host");
    for (int i = 0; status == TACIT_OK && (row = tacit_method_at(i)); i++)
        if (is_wanted(method, row->name))
            status = all_loops(&b, all, row->name);
    cli_system_destroy(&b.s);
    if (status != TACIT_OK || !c->set.html) return status;
    return profile_rows(&b, all, first);
}
