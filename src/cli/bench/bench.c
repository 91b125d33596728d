/* SPDX-License-Identifier: BSD-3-Clause
 * cli/bench/bench.c - `tacit bench`: the parts of an iteration, measured alone;
 * the median of the samples is printed. */
#include "cli/bench/bench.h"
#include <inttypes.h>
#include <string.h>

/* Print `t`, unless its rows ended with an error, and free it. */
static tacit_status finish(const cli *c, tacit_status status, cli_table *t)
{
    if (status >= 0 && cli_prints(c)) cli_table_print(t, stdout);
    cli_table_free(t);
    return status;
}

/* --- the product ---------------------------------------------------------- */

static tacit_status run_product(const cli_part *p, int64_t times,
                                double *seconds)
{
    return tacit_operator_measure_product(p->A, times, p->x, p->y, seconds);
}

/* `packed`: did the format pack values? For the next call. */
static tacit_status one_format(const cli *c, const cli_problem *p,
                               const char *format, bool *packed,
                               cli_table *table)
{
    cli_system s;
    char spec[CLI_FORMAT];
    TRY(cli_system_create(c, p, "count", cli_format_spec(c, format, spec),
                          CLI_SHARING, &s));
    const cli_part product = {.A = s.A, .x = s.b, .y = s.x, .run = run_product};
    tacit_queue_clear_tally(s.queue);
    double seconds = 0.0;
    tacit_status status = cli_bench_measure(c, &product, &seconds);
    const tacit_tally *t = tacit_queue_tally(s.queue);
    const double moved = cli_sum(
        c, t->moved_bytes / (double)(t->spmv.count ? t->spmv.count : 1));
    const double copy = cli_measure_copy(c, s.queue, moved);
    const double n = (double)p->info.rows, k = (double)p->info.nonzeros;
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(s.A, &info);
    *packed = info.packed;
    cli_table_row(table, "%s\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.3f\t%s",
                  info.format, 1e6 * seconds, 2e-9 * k / seconds,
                  20e-9 * (n + k) / seconds, 1e-9 * moved / seconds, copy,
                  1e-9 * moved / seconds / copy, info.detail);
    cli_system_destroy(&s);
    return status;
}

static tacit_status all_formats(const cli *c, const cli_problem *p,
                                cli_table *table)
{
    char format[CLI_FORMAT];
    bool packed = false;
    tacit_status status = TACIT_OK;
    for (int i = 0; status >= 0 && cli_format_at(c->device, i, format); i++) {
        if (cli_format_repeats(format, packed)) continue;
        packed = false;
        status = one_format(c, p, format, &packed, table);
        if (!cli_is_missing(c, status)) continue;
        cli_table_row(table, "%s\t-\t-\t-\t-\t-\t-\t%s", format,
                      tacit_error_message());
        status = TACIT_OK;
    }
    return status;
}

static tacit_status bench_spmv(const cli *c, const cli_problem *p)
{
    bool packed;
    cli_table t = {.text = NULL};
    cli_table_row(&t, "format\tus\tGflop/s\tGB/s as CSR\tGB/s moved\tcopy "
                      "GB/s\tof copy\tdetail");
    return finish(c,
                  c->set.format ? one_format(c, p, c->set.format, &packed, &t)
                                : all_formats(c, p, &t),
                  &t);
}

/* --- the exchange --------------------------------------------------------- */

static tacit_status run_exchange(const cli_part *p, int64_t times,
                                 double *seconds)
{
    return tacit_operator_measure_exchange(p->A, p->count, times, p->x, p->y,
                                           seconds);
}

static tacit_status one_exchange(const cli *c, const cli_system *s, int vectors,
                                 cli_table *table)
{
    const cli_part exchange = {
        .A = s->A, .x = s->b, .y = s->x, .count = vectors, .run = run_exchange};
    double seconds = 0.0;
    TRY(cli_bench_measure(c, &exchange, &seconds));
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(s->A, &info);
    const double values = (double)(vectors * info.volume);
    const double most = vectors * cli_max(c, (double)info.sent);
    cli_table_row(table, "%s\t%d\t%.4g\t%.0f\t%.0f\t%.0f\t%.4g",
                  tacit_queue_link(s->queue), vectors, 1e6 * seconds,
                  (double)info.messages, 8 * values, 8 * most,
                  8e-9 * values / seconds);
    return TACIT_OK;
}

typedef struct exchanges {
    const cli_problem *p;
    cli_table table;
} exchanges;

static tacit_status exchange_by_link(const cli *c, void *to)
{
    exchanges *all = to;
    cli_system s;
    TRY(cli_system_create(c, all->p, "", "csr", CLI_SHARING, &s));
    tacit_status status = one_exchange(c, &s, 1, &all->table);
    if (status >= 0) status = one_exchange(c, &s, 2, &all->table);
    cli_system_destroy(&s);
    return status;
}

static tacit_status bench_exchange(const cli *c, const cli_problem *p)
{
    exchanges all = {.p = p};
    cli_table_row(&all.table, "link\tvectors\tus\tmessages\tbytes\tbytes of "
                              "the largest rank\tGB/s");
    return finish(c, cli_each_link(c, exchange_by_link, &all), &all.table);
}

static tacit_status bench_messages(const cli *c)
{
    cli_table t = {.text = NULL};
    cli_table_row(&t, "link\tbytes\tone way us\tround trip us\tGB/s one way");
    return finish(c, cli_each_link(c, cli_bench_messages, &t), &t);
}

/* --- the sum over ranks --------------------------------------------------- */

static tacit_status run_sum(const cli_part *p, int64_t times, double *seconds)
{
    return tacit_queue_measure_sum(p->q, p->count, times, seconds);
}

static tacit_status sums(const cli *c, tacit_queue *q, cli_table *t)
{
    enum { MOST = 1024 }; /* doubles in a sum */
    cli_part sum = {.q = q, .run = run_sum};
    tacit_status status = TACIT_OK;
    for (sum.count = 1; sum.count <= MOST && status >= 0; sum.count *= 2) {
        double seconds = 0.0;
        status = cli_bench_measure(c, &sum, &seconds);
        cli_table_row(t, "%s\t%d\t%d\t%.4g\t%d", tacit_queue_link(q), sum.count,
                      8 * sum.count, 1e6 * seconds, c->ranks);
    }
    return status;
}

static tacit_status sums_by_link(const cli *c, void *to)
{
    tacit_queue *q = NULL;
    char spec[CLI_SPEC];
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &q));
    const tacit_status status = sums(c, q, to);
    tacit_queue_destroy(&q);
    return status;
}

static tacit_status bench_reduce(const cli *c)
{
    cli_table t = {.text = NULL};
    cli_table_row(&t, "link\tscalars\tbytes\tus\tranks");
    return finish(c, cli_each_link(c, sums_by_link, &t), &t);
}

/* --- the command ---------------------------------------------------------- */

static bool what_row(int i, cli_choice *out)
{
    static const cli_choice rows[] = {
        {"spmv", "the product with MATRIX, in each format", NULL, false},
        {"reduce", "the sum of scalars over the ranks", NULL, false},
        {"exchange", "the exchange that MATRIX needs, or a message and back",
         NULL, false}};
    if (i < 0 || i >= 3) return false;
    *out = rows[i];
    return true;
}
static const cli_axis axis_what = {"benchmark", "benchmarks", false, what_row};

static tacit_status bench_run(cli *c)
{
    const char *what = c->set.operand[0];
    TRY(cli_axis_check(&axis_what, what));
    const bool reduce = strcmp(what, "reduce") == 0;
    if (reduce && c->set.operands > 1)
        FAIL(TACIT_INVALID, "tacit bench reduce needs no matrix ('%s' given)",
             c->set.operand[1]);
    if (reduce) return bench_reduce(c);
    const bool exchange = strcmp(what, "exchange") == 0;
    if (exchange && c->ranks == 1)
        FAIL(TACIT_INVALID, "one process exchanges nothing: say --ranks N, or "
                            "start this with mpirun -np N");
    if (exchange && c->set.operands < 2) return bench_messages(c);
    if (c->set.operands < 2)
        FAIL(TACIT_INVALID, "tacit bench %s needs a MATRIX", what);
    c->set.rhs = "ones"; /* any vector */
    return cli_problem_with(c, c->set.operand[1], CLI_FOR_PRODUCTS,
                            exchange ? bench_exchange : bench_spmv);
}

const cli_command cli_command_bench = {
    .name = "bench",
    .operands = "spmv|reduce|exchange [MATRIX]",
    .summary = "the parts of an iteration, measured alone",
    .about =
        "Measure a part of an iteration alone and print medians, "
        "tab-separated: spmv, the product with MATRIX in each format, beside "
        "the copy bandwidth of this machine; reduce, the sum of 1 to 1024 "
        "scalars over the ranks; exchange, the messages that MATRIX needs "
        "before a product or, without MATRIX, one of 8 bytes to 64 MiB from "
        "rank 0 to the last rank and back. One way is half of the round trip. "
        "Of several ranks reduce and exchange have rows for each link that "
        "there is between them, or the one that --comm names.",
    .takes = {1, 2},
    .run = bench_run,
};
