/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/compare.c - `tacit compare`: every combination of this build, in
 * one run on one problem, ranked by the time to the solution. */
#include "cli/compare/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ON_HOST "needs --device cuda: this run is on the host"

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
    TRY(cli_problem_open(c, c->set.operand[0],
                         cli_is_direct(c) ? CLI_FOR_FACTORING : CLI_FOR_SOLVING,
                         &all->problem));
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
