/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/compare.c - `tacit compare`: every combination of this build, in
 * one run on one problem, ranked by the time to the solution. */
#include "cli/compare/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ON_HOST "needs --device cuda: this run is on the host"

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

/* Keep the data of this system that later rows need. */
static tacit_status look_at(batch *b, cli_comparison *all)
{
    if (strcmp(b->c->device, all->device) != 0) {
        b->copy = cli_measure_copy(b->c, b->s.queue);
        return TACIT_OK;
    }
    if (!isfinite(all->copy)) all->copy = cli_measure_copy(b->c, b->s.queue);
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

/* --- all rows ------------------------------------------------------------- */

/* `method` with `loop` in every format but `besides` (NULL: none), whose
 * operator packed values or not. */
static tacit_status each_format(const cli *c, cli_comparison *all,
                                const char *method, const char *loop,
                                const char *besides, bool packed,
                                cli_monitor *m)
{
    tacit_status status = TACIT_OK;
    char format[CLI_FORMAT];
    all->packed = false;
    for (int i = 0; status == TACIT_OK && cli_format_at(c->device, i, format);
         i++) {
        if (cli_format_repeats(format, all->packed)) continue;
        all->packed = false; /* if the format does not fit */
        if (!besides || strcmp(format, besides) != 0)
            status = cli_compare_batch(c, all, method, loop, format, m);
        else all->packed = packed;
    }
    return status;
}

/* Would a row on the host take seconds? By the iterations of the first row; the
 * choice of a format costs some products, too. */
static bool is_long_on_host(cli_comparison *all)
{
    enum { SETUP = 100 };           /* products, about        */
    static const double most = 2e9; /* entries times products: some seconds */
    char number[CLI_NUMBER], reason[256];
    const int64_t entries = all->problem.info.nonzeros;
    const int64_t iterations =
        all->count > 0 ? all->rows[0].run.result.iterations : 0;
    if ((double)entries * (double)(iterations + SETUP) <= most) return false;
    snprintf(reason, sizeof reason,
             "%s entries, %" PRId64 " iterations: takes long beside a GPU, so "
             "it is left out; --device host compares there",
             cli_integer(entries, number), iterations);
    cli_compare_miss(all, "device", "host", reason);
    return true;
}

static tacit_status row_of_host(const cli *c, cli_comparison *all,
                                const char *method, cli_monitor *m)
{
    cli host = *c; /* one run will do */
    host.device = "host";
    host.precision = NULL;
    if (c->set.warmup < 0) host.set.warmup = 0;
    if (c->set.repeat < 0) host.set.repeat = 1;
    host.set.html = NULL;
    return cli_compare_batch(&host, all, method, "host", "auto", m);
}

/* Rows of the GPU: all methods and loops in one format, one method in all
 * formats and in mixed precision, and one row on the host. */
static tacit_status rows_of_gpu(const cli *c, cli_comparison *all,
                                cli_monitor *m)
{
    const cli_settings *set = &c->set;
    const char *one = set->method ? set->method : "cg";
    const char *loop = set->loop ? set->loop : "auto";
    const char *format = set->format ? set->format : "auto";
    tacit_status status;
    if (set->every && !set->format)
        status = each_format(c, all, set->method, set->loop, NULL, false, m);
    else status = cli_compare_batch(c, all, set->method, set->loop, format, m);
    if (!set->every && !set->format && status == TACIT_OK) {
        char best[CLI_FORMAT];
        const bool packed = all->packed;
        snprintf(best, sizeof best, "%s", all->format);
        status = each_format(c, all, one, loop, best, packed, m);
    }
    if (!c->precision && status == TACIT_OK) {
        cli mixed = *c;
        mixed.precision = "mixed";
        status = cli_compare_batch(&mixed, all, one, loop, format, m);
    }
    if (status == TACIT_OK) status = cli_compare_besides(c, all, m);
    if (status == TACIT_OK && !all->has_baselines)
        status = cli_compare_peers(c, all);
    if (status == TACIT_OK && !is_long_on_host(all))
        status = row_of_host(c, all, one, m);
    return status;
}

static tacit_status rows_of_device(const cli *c, cli_comparison *all,
                                   cli_monitor *m)
{
    const cli_settings *set = &c->set;
    if (cli_is_direct(c))
        return cli_compare_batch(c, all, set->method, "host",
                                 set->format ? set->format : "auto", m);
    if (cli_on_gpu(c)) return rows_of_gpu(c, all, m);
    if (set->format)
        return cli_compare_batch(c, all, set->method, set->loop, set->format,
                                 m);
    const tacit_status status =
        each_format(c, all, set->method, set->loop, NULL, false, m);
    return status == TACIT_OK ? cli_compare_besides(c, all, m) : status;
}

typedef struct rows {
    cli_comparison *all;
    cli_monitor *m;
} rows;

/* For each preconditioner of a list; baselines have none, and no more rows. */
static tacit_status rows_by_link(const cli *c, void *to)
{
    const rows *r = to;
    tacit_status status = TACIT_OK;
    for (const cli_settings *set = &c->set; set && status == TACIT_OK;
         set = set->more) {
        cli with = *c;
        cli_use_precond(&with.set, set);
        r->all->has_baselines = set != &c->set;
        status = rows_of_device(&with, r->all, r->m);
    }
    return status;
}

static tacit_status all_rows(const cli *c, cli_comparison *all)
{
    cli_monitor m = cli_monitor_of(c, true);
    rows r = {all, &m};
    const tacit_status status = cli_each_link(c, rows_by_link, &r);
    cli_monitor_free(&m);
    return status;
}

static tacit_status make_room(const cli *c, cli_comparison *all)
{
    enum {
        OTHERS = 48
    }; /* mixed, baselines, host, one method's formats,
                             preconditioners, steps */
    int methods = 0, loops = 0, links = 0, formats = 1; /* "auto" */
    int preconds = 0;                                   /* of the list */
    char format[CLI_FORMAT];
    while (tacit_method_at(methods)) methods++;
    while (tacit_loop_at(loops)) loops++;
    while (tacit_link_at(links)) links++;
    while (cli_format_at(c->device, formats - 1, format)) formats++;
    for (const cli_settings *set = &c->set; set; set = set->more) preconds++;
    all->room = (methods * loops * formats + OTHERS) * links * preconds;
    return tacit_world_agree(c->world,
                             ALLOC(all->room, "the rows", &all->rows));
}

/* Why no row has the link `name`; NULL: one has it. */
static const char *without_link(const cli *c, const cli_comparison *all,
                                const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->rows[i].path.comm, name) == 0) return NULL;
    if (strcmp(name, "self") == 0) return "this run is of several processes";
    return c->ranks > 1 ? "not the one of this run: --comm names another"
                        : "this run is one process: --ranks starts several";
}

static void list_axis(const cli *c, cli_comparison *all, const cli_axis *axis)
{
    cli_choice row;
    for (int i = 0; axis->row(i, &row); i++) {
        const char *reason = cli_choice_missing(axis, &row);
        if (!reason && row.needs_gpu && !cli_on_gpu(c))
            reason =
                axis == &cli_axis_device ? "this run is on the host" : ON_HOST;
        if (!reason && axis == &cli_axis_comm)
            reason = without_link(c, all, row.name);
        if (reason) cli_compare_miss(all, axis->name, row.name, reason);
    }
}

/* The values of every axis that this run lacks. */
static void list_missing(const cli *c, cli_comparison *all)
{
    static const cli_axis *const axes[] = {
        &cli_axis_method, &cli_axis_loop,      &cli_axis_comm,
        &cli_axis_device, &cli_axis_precision, &cli_axis_precond};
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++)
        list_axis(c, all, axes[k]);
    if (cli_on_gpu(c)) return;
    const cli_choice gpu = {.needs_gpu = true};
    const char *reason = cli_choice_missing(&cli_axis_loop, &gpu);
    cli_compare_miss(all, "baseline", "peer-style", reason ? reason : ON_HOST);
}

/* --- output --------------------------------------------------------------- */

static tacit_status write_page(const cli *c, const cli_comparison *all)
{
    char *page = cli_comparison_html(all);
    tacit_status status = TACIT_OK;
    if (!page)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for the page");
    status = tacit_world_agree(c->world, status);
    if (status >= 0) status = cli_write_text(c, c->set.html, page);
    free(page);
    return status;
}

static tacit_status write_all(const cli *c, const cli_comparison *all)
{
    if (cli_prints(c) && !cli_output_taken(c)) cli_compare_print(all);
    if (c->set.html) TRY(write_page(c, all));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, cli_compare_json(all));
}

/* Solved if any row is; otherwise the status of the first one. */
static tacit_status conclude(const cli *c, const cli_comparison *all)
{
    if (all->count == 0)
        FAIL(TACIT_UNSUPPORTED, "nothing to compare: %s",
             all->missing_count ? all->missing[0].reason : "no method");
    const cli_run *first = &all->rows[0].run;
    if (cli_outcome(&first->result) == TACIT_OK) return TACIT_OK;
    char text[512];
    cli_explain(first, text, sizeof text);
    if (c->rank == 0) cli_complain(text);
    return first->status;
}

static tacit_status compare(const cli *c, cli_comparison *all)
{
    if (cli_is_direct(c)) TRY(cli_check_direct(c));
    TRY(cli_check_writable(c, c->set.json));
    TRY(cli_check_writable(c, c->set.html));
    TRY(make_room(c, all));
    TRY(cli_problem_open(c, c->set.operand[0], CLI_FOR_SOLVING, &all->problem));
    const tacit_status status = all_rows(c, all);
    if (status < 0) return status;
    list_missing(c, all);
    cli_compare_rank(all);
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
    if (cli_is_grid(c->set.operand[0])) return cli_compare_grid(c);
    cli_comparison all = {.device = c->device,
                          .copy = (double)NAN,
                          .rtol = c->set.rtol,
                          .atol = c->set.atol,
                          .solves =
                              c->set.amortize ? (double)c->set.amortize : 1.0};
    const tacit_status status = compare(c, &all);
    for (int i = 0; i < all.count; i++) cJSON_Delete(all.rows[i].levels);
    cli_problem_close(&all.problem);
    free(all.rows);
    free(all.b);
    return status;
}

const cli_command cli_command_compare = {
    .name = "compare",
    .operands = "MATRIX|GRID",
    .summary = "every available path in one run, ranked",
    .about =
        "Solve one problem on every path that this build and this machine "
        "have, and rank them by the time to the solution (median of the "
        "repeats), with that of setting up the preconditioner, or 1 / N of it "
        "with --amortize N. ratio is to the first row's time. What is not "
        "available is "
        "listed last, with the reason.\n\n"
        "On the host that is every method in every format, cg (or --method) "
        "with every preconditioner unless --precond names one, direct where "
        "its "
        "factor is no long work, and sstep with "
        "4 "
        "and 16 steps besides its 8 unless sstep(steps=S) does; --format "
        "leaves these "
        "out. On cuda it is every "
        "method with every loop in the fastest format, cg with the fastest "
        "loop in every format and in mixed precision, cg on the host unless "
        "that would take long, and the baselines peer-style: conjugate "
        "gradients of cuSPARSE and cuBLAS. "
        "x peer is the time of the fastest of these over the row's. --method, "
        "--loop, --format and --precision choose among the rows, and so does "
        "--precond, which takes several with commas, "
        "'jacobi,amg,amg(degree=3)': each has rows of its own.\n\n"
        "Of a GRID, such as star2d1r:4096x4096, all ways of jacobi to step it "
        "are ranked.",
    .takes = {1, 1},
    .run = compare_run,
};
