/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/problem.c - the matrix: read or made, checked, divided among
 * ranks. */
#include "cli/system/problem.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_gallery(const cli_problem *p)
{
    return strcmp(p->info.format, "gallery") == 0;
}

static tacit_status check_square(const cli_problem *p)
{
    if (p->info.rows == p->info.cols) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: not square: %" PRId64 " x %" PRId64
         ", a linear system needs as many rows as columns",
         p->name, p->info.rows, p->info.cols);
}

/* One triangle makes a symmetric matrix; both may differ. */
static tacit_status check_symmetric(const cli_problem *p)
{
    char why[512];
    if (p->info.symmetric_storage || is_gallery(p)) return TACIT_OK;
    const tacit_status status = tacit_matrix_check_symmetric(p->matrix);
    if (status != TACIT_INPUT) return status;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    return tacit_error_set(status, "%s; --method direct takes it", why);
}

const char *cli_bad_diagonal(const cli *c, const cli_problem *p,
                             char text[CLI_DIAGONAL])
{
    const tacit_matrix_info *m = &p->info;
    const int64_t bad = m->zero_diagonals + m->negative_diagonals;
    if (bad == 0 || cli_may_be_indefinite(c) || cli_is_direct(c)) return NULL;
    snprintf(text, CLI_DIAGONAL,
             "%" PRId64 " zero and %" PRId64 " negative diagonals, the first "
             "in row %" PRId64,
             m->zero_diagonals, m->negative_diagonals,
             m->first_bad_diagonal + 1);
    return text;
}

void cli_warn_diagonal(const cli *c, const cli_problem *p)
{
    char text[CLI_DIAGONAL];
    if (!cli_bad_diagonal(c, p, text)) return;
    cli_log(c, CLI_WARN, "%s: %s: not positive definite", p->name, text);
}

/* A warning that the file's right-hand side is not used unless asked for. */
static void warn_of_rhs(const cli *c, const cli_problem *p)
{
    if (p->info.own_rhs && !c->set.rhs && c->set.operands < 2)
        cli_log(c, CLI_WARN,
                "%s holds a right-hand side too, and a manufactured one is "
                "used: --rhs file takes that of the file",
                p->name);
}

/* A single solve does not win back the seconds of METIS where the rows as they
 * come send at most this part of their number, and about as much work falls to
 * each rank. */
static const double FEW = 0.1, ALIKE = 1.1;

static tacit_status order_will_do(const cli *c, const cli_problem *p, bool *out)
{
    const double rows = (double)p->info.rows;
    tacit_partition_info cut = {.size = sizeof cut};
    int32_t *part = NULL;
    *out = false;
    if (cli_solves_of(c, CLI_ALONE) > 1 || p->info.rows < c->ranks ||
        p->info.rows != p->info.cols)
        return TACIT_OK;
    TRY(tacit_world_agree(c->world, ALLOC(tacit_matrix_local_rows(p->matrix),
                                          "the parts", &part)));
    const tacit_status status =
        tacit_matrix_cut(p->matrix, "contiguous", c->ranks, part, &cut);
    free(part);
    TRY(status);
    *out = (double)cut.volume <= FEW * rows && cut.imbalance <= ALIKE;
    if (c->rank == 0)
        cli_log(c, CLI_DETAIL,
                "%" PRId64 " values to send between the ranks in this order of "
                "%" PRId64 " rows",
                cut.volume, p->info.rows);
    return TACIT_OK;
}

/* The partition, and the reason. */
static tacit_status choose_partition(const cli *c, cli_problem *p,
                                     const char **why)
{
    const cli_settings *set = &c->set;
    bool will_do = false;
    if (set->partition || (c->ranks > 1 && set->partitioner)) {
        *why = "it was asked for";
        p->partition = set->partition ? "file" : set->partitioner;
        return TACIT_OK;
    }
    *why = "one process";
    p->partition = "contiguous";
    if (c->ranks == 1) return TACIT_OK;
    *why = "rows near one another in this gallery matrix have near numbers";
    if (is_gallery(p) && !p->info.irregular) return TACIT_OK;
    TRY(order_will_do(c, p, &will_do));
    *why = "a single solve does not win back a better one";
    if (will_do) return TACIT_OK;
    *why = "rows may stand in any order";
    p->partition = "metis";
    return TACIT_OK;
}

static tacit_status divide(const cli *c, cli_problem *p)
{
    const cli_settings *set = &c->set;
    const char *why;
    const double start = base_seconds();
    TRY(choose_partition(c, p, &why));
    if (c->rank == 0)
        cli_log(c, CLI_DETAIL, "partition %s: %s", p->partition, why);
    if (strcmp(p->partition, "contiguous") != 0)
        TRY(tacit_matrix_partition(p->matrix, p->partition, set->partition));
    if (c->ranks > 1) p->partition_seconds = base_seconds() - start;
    return TACIT_OK;
}

static tacit_status check(const cli *c, cli_use use, cli_problem *p)
{
    const double start = base_seconds();
    p->info.size = sizeof p->info;
    TRY(tacit_matrix_describe(p->matrix, &p->info));
    if (use != CLI_FOR_READING) TRY(check_square(p));
    if (use == CLI_FOR_SOLVING) {
        TRY(check_symmetric(p));
        if (c->set.command != &cli_command_solve) cli_warn_diagonal(c, p);
    }
    if (use == CLI_FOR_SOLVING || use == CLI_FOR_FACTORING) warn_of_rhs(c, p);
    p->check_seconds = base_seconds() - start;
    return TACIT_OK;
}

/* Does a solve in format stencil need the entries of its matrix? A
 * preconditioner made of them does, and so does another division of rows. */
static bool needs_entries(const cli *c, cli_use use)
{
    const cli_settings *set = &c->set;
    const char *precond = set->precond ? set->precond : "none";
    const bool stencil = set->format && strcmp(set->format, "stencil") == 0;
    const bool plain =
        strcmp(precond, "none") == 0 || strcmp(precond, "jacobi") == 0;
    const char *cut = set->partitioner ? set->partitioner : "contiguous";
    return !stencil || !plain || use != CLI_FOR_SOLVING ||
           strcmp(set->command->name, "solve") != 0 || cli_is_direct(c) ||
           set->partition || strcmp(cut, "contiguous") != 0;
}

/* Where the rows are of one stencil, the entries are not made. */
static tacit_status open_matrix(const cli *c, const char *name, cli_use use,
                                tacit_matrix_options *options,
                                tacit_matrix **out)
{
    options->no_entries = !needs_entries(c, use) && tacit_gallery_find(name);
    const tacit_status status = tacit_matrix_open(c->world, name, options, out);
    if (status != TACIT_UNSUPPORTED || !options->no_entries) return status;
    options->no_entries = false;
    return tacit_matrix_open(c->world, name, options, out);
}

static tacit_status read_matrix(const cli *c, const char *name, cli_use use,
                                cli_problem *p)
{
    tacit_matrix_options options = {.size = sizeof options,
                                    .shift = c->set.shift,
                                    .drop_zeros = c->set.drop_zeros};
    const double start = base_seconds();
    TRY(open_matrix(c, name, use, &options, &p->matrix));
    p->read_seconds = base_seconds() - start;
    TRY(check(c, use, p));
    return use == CLI_FOR_READING ? TACIT_OK : divide(c, p);
}

tacit_status cli_problem_open(const cli *c, const char *name, cli_use use,
                              cli_problem *out)
{
    const bool standard = strcmp(name, "-") == 0;
    *out = (cli_problem){.name = standard ? "standard input" : name,
                         .partition = "contiguous"};
    const tacit_status status = read_matrix(c, name, use, out);
    if (status < 0) cli_problem_close(out);
    return status;
}

void cli_problem_close(cli_problem *p)
{
    tacit_matrix_destroy(&p->matrix);
}

tacit_status cli_problem_with(const cli *c, const char *name, cli_use use,
                              tacit_status (*work)(const cli *c,
                                                   const cli_problem *p))
{
    cli_problem p;
    TRY(cli_problem_open(c, name, use, &p));
    const tacit_status status = work(c, &p);
    cli_problem_close(&p);
    return status;
}
