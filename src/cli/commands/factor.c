/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/factor.c - `tacit factor`: factor the matrix, and report the
 * factor. */
#include "cli/commands/factor.h"
#include "cli/report/report.h"
#include <inttypes.h>
#include <string.h>
#include <tacit/factor.h>

/* `p` is NULL for a factor that was given. */
static cJSON *factor_json(const cli *c, const cli_problem *p,
                          const tacit_factor_info *f)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    if (p)
        cJSON_AddItemToObject(o, "matrix", cli_json_matrix(p->name, &p->info));
    else cJSON_AddStringToObject(o, "given", c->set.operand[0]);
    cli_add_factor(o, f);
    return o;
}

/* The pivots, and a diagonal that was enlarged. */
static void print_pivots(cli_table *t, const tacit_factor_info *f)
{
    char a[CLI_NUMBER];
    if (f->added > 0)
        cli_table_row(t, "pattern\t%s by %s zeros",
                      f->kind == TACIT_FACTOR_LDLT ? "of pairs made equal"
                                                   : "made symmetric",
                      cli_integer(f->added, a));
    if (f->kind == TACIT_FACTOR_LDLT)
        cli_table_row(t, "inertia\t%s", cli_inertia(f, (char[CLI_INERTIA]){0}));
    if (f->trials > 0 && f->kind == TACIT_FACTOR_LDLT)
        cli_table_row(t,
                      "scaled\tfor large pivots: %" PRId64 " of 2 x 2, %" PRId64
                      " made larger",
                      f->pairs, f->repaired);
    else if (f->trials > 0)
        cli_table_row(t,
                      "permuted\trows, for large pivots, and scaled: %d "
                      "trial%s, %" PRId64 " pivots made larger",
                      f->trials, f->trials == 1 ? "" : "s", f->repaired);
    if (f->shift > 0.0)
        cli_table_row(t,
                      "diagonal\ttaken %g times, so that all pivots are "
                      "positive",
                      1.0 + f->shift);
    if (f->least_share > 0.0)
        cli_table_row(t,
                      "pivots\t%.1e of what they are the difference of, or "
                      "more: %g in row %" PRId64,
                      f->least_share, f->least_pivot, f->least_row + 1);
    if (f->trials > 0)
        cli_table_row(t,
                      "a solve\tleaves a residual of %.1e, of %.1e after "
                      "iterative refinement",
                      f->backward_error, f->refined_error);
    else if (f->backward_error > 0.0)
        cli_table_row(t, "a solve\tleaves a residual of %.1e",
                      f->backward_error);
}

static void print_factor(const tacit_factor_info *f, bool given)
{
    char a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER];
    cli_table t = {.text = NULL};
    cli_table_row(&t, "rows\t%s", cli_integer(f->rows, a));
    cli_table_row(&t, "kind\t%s, order %s", cli_kind_name(f->kind), f->order);
    cli_table_row(&t, "entries of L\t%s, %s stored",
                  cli_integer(f->nonzeros, a), cli_integer(f->stored, b));
    print_pivots(&t, f);
    cli_table_row(&t, "supernodes\t%s, in %s panels, %" PRId32 " deep",
                  cli_integer(f->supernodes, a), cli_integer(f->panels, b),
                  f->depth);
    cli_table_row(&t, "tree\t%d %s", f->leaves,
                  f->leaves == 1 ? "leaf" : "leaves");
    if (given) cli_table_row(&t, "memory\t%s", cli_bytes(f->bytes, a));
    else
        cli_table_row(&t, "memory\t%s, %s to make it", cli_bytes(f->bytes, a),
                      cli_bytes(f->peak_bytes, b));
    if (!given)
        cli_table_row(&t, "time\torder %s, symbolic %s, numeric %s",
                      cli_seconds(f->order_seconds, a),
                      cli_seconds(f->symbolic_seconds, b),
                      cli_seconds(f->numeric_seconds, c));
    if (!given)
        cli_table_row(&t, "arithmetic\t%.3g Gflop, %.3g Gflop/s by %s",
                      f->flops * 1e-9, f->flops * 1e-9 / f->numeric_seconds,
                      f->dense);
    cli_table_print(&t, stdout);
    cli_table_free(&t);
}

static tacit_status report_and_use(const cli *c, const cli_problem *p,
                                   const tacit_factor *F, cli_factor_rhs *rhs)
{
    tacit_factor_info info = {.size = sizeof info};
    char a[CLI_NUMBER];
    const bool prints = cli_prints(c) && !cli_output_taken(c);
    TRY(tacit_factor_describe(F, &info));
    if (prints) print_factor(&info, p == NULL);
    const tacit_status status = cli_use_factor(c, F, rhs);
    if (status != TACIT_OK) return status;
    if (prints && rhs->columns > 0)
        printf("solved %d right-hand side%s in %s\n", rhs->columns,
               rhs->columns == 1 ? "" : "s", cli_seconds(rhs->seconds, a));
    if (!c->set.json) return TACIT_OK;
    cJSON *json = factor_json(c, p, &info);
    if (rhs->columns > 0) {
        cli_json_number(json, "columns", rhs->columns);
        cli_json_number(json, "solve_seconds", rhs->seconds);
    }
    return cli_write_json(c, c->set.json, json);
}

/* Right-hand sides are read before the factor takes its time. */
static tacit_status factor_and_report(const cli *c, const cli_problem *p)
{
    const tacit_factor_options options = {.size = sizeof options,
                                          .leaves = (int)c->set.leaves,
                                          .width = (int)c->set.width,
                                          .kind = cli_kind_of(c->set.kind),
                                          .order = c->set.order};
    tacit_factor *F = NULL;
    cli_factor_rhs rhs = {.columns = 0};
    tacit_status status = TACIT_OK;
    if (c->ranks == 1) /* of more the factor is refused */
        status = cli_read_rhs(c, p->info.rows, &rhs);
    if (status >= 0) status = tacit_factor_create(p->matrix, &options, &F);
    if (status >= 0) status = report_and_use(c, p, F, &rhs);
    cli_free_rhs(&rhs);
    tacit_factor_destroy(&F);
    return status;
}

static tacit_status read_and_report(const cli *c)
{
    tacit_factor *F = NULL;
    cli_factor_rhs rhs = {.columns = 0};
    tacit_factor_info info = {.size = sizeof info};
    TRY(cli_read_factor(c, &F));
    tacit_status status = tacit_factor_describe(F, &info);
    if (status >= 0) status = cli_read_rhs(c, info.rows, &rhs);
    if (status >= 0) status = report_and_use(c, NULL, F, &rhs);
    cli_free_rhs(&rhs);
    tacit_factor_destroy(&F);
    return status;
}

static tacit_status factor_run(cli *c)
{
    TRY(cli_check_factor(c));
    TRY(cli_check_writable(c, c->set.json));
    if (c->set.given) return read_and_report(c);
    return cli_problem_with(c, c->set.operand[0], CLI_FOR_READING,
                            factor_and_report);
}

const cli_command cli_command_factor = {
    .name = "factor",
    .operands = "MATRIX",
    .summary = "factor the matrix: entries, supernodes, memory, time",
    .about =
        "Factor MATRIX in one process on the host, and print what that "
        "came to: A = L L' of a symmetric positive definite one, L D L' "
        "of a symmetric one, L U of any square one, its pattern made "
        "symmetric by zeros, or L L' and L U with no more entries than A "
        "has. Where a matrix needs pivots, rows of L U are permuted and "
        "scaled, and L D L' is scaled and has pivots of 2 x 2; other kinds "
        "have none, and what that costs is checked, and told. "
        "solve --precond direct solves with a factor L L', and "
        "--precond ic0 preconditions with an incomplete one. -o L.mtx writes "
        "L, "
        "its rows in an order of their own, and beside it L.perm, their row "
        "numbers in MATRIX, and U as L.upper.mtx or D as L.diagonal, where "
        "there is one. With --given MATRIX is "
        "the L of a factor that anybody has made, or that -o wrote.",
    .takes = {1, 1},
    .run = factor_run,
};
