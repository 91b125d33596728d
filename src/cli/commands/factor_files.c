/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/factor_files.c - a factor's files: L under the given name, U and
 * vectors under names made from it; and solves with a factor. */
#include "cli/commands/factor.h"
#include "cli/report/report.h"
#include "cli/system/problem.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- checks --------------------------------------------------------------- */

tacit_status cli_check_given(const cli *c)
{
    const cli_settings *set = &c->set;
    const struct {
        bool given;
        const char *name;
    } of_given[] = {{set->upper != NULL, "upper"},
                    {set->diagonal != NULL, "diagonal"},
                    {set->permutation != NULL, "permutation"}};
    for (size_t i = 0; i < sizeof of_given / sizeof *of_given; i++)
        if (of_given[i].given && !set->given)
            FAIL(TACIT_INVALID,
                 "--%s is of a factor that others have made: add --given, "
                 "which says that MATRIX is its L",
                 of_given[i].name);
    if (set->given && (set->shift != 0.0 || set->drop_zeros))
        FAIL(TACIT_INVALID,
             "--%s is of a matrix, and with --given MATRIX is a "
             "factor",
             set->shift != 0.0 ? "shift" : "drop-zeros");
    return TACIT_OK;
}

tacit_status cli_check_factor(const cli *c)
{
    const cli_settings *set = &c->set;
    TRY(cli_check_given(c));
    if (!set->output) return TACIT_OK;
    if (set->solve)
        return tacit_file_check_writable(c->world, set->output,
                                         TACIT_FILE_VECTORS);
    if (tacit_file_is_stdout(set->output))
        FAIL(TACIT_INVALID, "-o -: L needs a file of its own, since the order "
                            "of its rows is written beside it");
    cli_factor_names n;
    cli_name_factor(set->output, &n);
    const tacit_factor_kind kind = cli_kind_of(set->kind);
    const bool upper =
        set->given ? set->upper != NULL
                   : kind == TACIT_FACTOR_LU || kind == TACIT_FACTOR_ILU0;
    const bool diagonal =
        set->given ? set->diagonal != NULL : kind == TACIT_FACTOR_LDLT;
    TRY(tacit_file_check_writable(c->world, n.permutation, TACIT_FILE_TEXT));
    if (upper)
        TRY(tacit_file_check_writable(c->world, n.upper, TACIT_FILE_MATRIX));
    if (diagonal)
        TRY(tacit_file_check_writable(c->world, n.diagonal, TACIT_FILE_TEXT));
    return tacit_file_check_writable(c->world, set->output, TACIT_FILE_MATRIX);
}

/* --- files ---------------------------------------------------------------- */

tacit_status cli_read_factor(const cli *c, tacit_factor **out)
{
    const cli_settings *set = &c->set;
    const tacit_factor_files files = {.size = sizeof files,
                                      .lower = set->operand[0],
                                      .upper = set->upper,
                                      .diagonal = set->diagonal,
                                      .permutation = set->permutation};
    const tacit_factor_options options = {.size = sizeof options,
                                          .leaves = (int)set->leaves,
                                          .width = (int)set->width};
    return tacit_factor_read(c->world, &files, &options, out);
}

static tacit_status write_factor(const cli *c, const tacit_factor *F)
{
    tacit_factor_panels P = {.size = sizeof P};
    cli_factor_names n;
    TRY(tacit_factor_view(F, &P));
    cli_name_factor(c->set.output, &n);
    const tacit_factor_files files = {.size = sizeof files,
                                      .lower = c->set.output,
                                      .upper = P.upper ? n.upper : NULL,
                                      .diagonal =
                                          P.diagonal ? n.diagonal : NULL,
                                      .permutation = n.permutation};
    TRY(tacit_factor_write(F, c->world, &files));
    cli_log(c, CLI_NOTE, "%s: L; %s: the row of the matrix that each is%s%s%s",
            files.lower, files.permutation, P.upper || P.diagonal ? "; " : "",
            P.upper      ? n.upper
            : P.diagonal ? n.diagonal
                         : "",
            P.upper      ? ": U"
            : P.diagonal ? ": D"
                         : "");
    return TACIT_OK;
}

/* --- solves --------------------------------------------------------------- */

tacit_status cli_empty_matrix(const cli *c, int64_t rows, tacit_matrix **out)
{
    int64_t *ptr = NULL;
    const double none = 0.0;
    TRY(ALLOC(rows + 1, "a matrix without entries", &ptr));
    const tacit_status status =
        tacit_matrix_from_rows(c->world, rows, 0, rows, ptr, ptr, &none, out);
    free(ptr);
    return status;
}

static int exponent_of(int64_t rows, const double *b)
{
    static const double LARGE = 0x1p900;
    double most = 0.0;
    int exponent = 0;
    for (int64_t i = 0; i < rows; i++) most = fmax(most, fabs(b[i]));
    if (most >= LARGE) (void)frexp(most, &exponent);
    return exponent;
}

static void scale_column(int64_t rows, int exponent, double *v)
{
    if (exponent == 0) return;
    for (int64_t i = 0; i < rows; i++) v[i] = ldexp(v[i], exponent);
}

tacit_status cli_scale_down(int64_t rows, int columns, double *B,
                            int **exponent)
{
    TRY(ALLOC(columns, "exponents of right-hand sides", exponent));
    for (int j = 0; j < columns; j++) {
        (*exponent)[j] = exponent_of(rows, B + j * rows);
        scale_column(rows, -(*exponent)[j], B + j * rows);
    }
    return TACIT_OK;
}

void cli_scale_up(int64_t rows, int columns, double *X, const int *exponent)
{
    for (int j = 0; j < columns; j++)
        scale_column(rows, exponent[j], X + j * rows);
}

static tacit_status find_what_is_not_finite(int64_t rows, int columns,
                                            const double *X)
{
    for (int64_t k = 0; k < rows * columns; k++)
        if (!isfinite(X[k]))
            FAIL(TACIT_BREAKDOWN,
                 "breakdown: column %" PRId64
                 " of the solution has %s in row %" PRId64
                 ", beyond the range of doubles: scale the matrix or the "
                 "right-hand side",
                 k / rows + 1, isnan(X[k]) ? "nan" : "an infinity",
                 k % rows + 1);
    return TACIT_OK;
}

tacit_status cli_check_finite(const cli *c, int64_t rows, int columns,
                              const double *X)
{
    const tacit_status status = find_what_is_not_finite(rows, columns, X);
    if (status != TACIT_OK && c->rank == 0) cli_complain(tacit_error_message());
    return status;
}

tacit_status cli_read_rhs(const cli *c, int64_t rows, cli_factor_rhs *out)
{
    *out = (cli_factor_rhs){.columns = 0};
    if (!c->set.solve) return TACIT_OK;
    TRY(cli_empty_matrix(c, rows, &out->shape));
    return tacit_matrix_read_vectors(out->shape, c->set.solve, &out->columns,
                                     &out->X);
}

void cli_free_rhs(cli_factor_rhs *rhs)
{
    tacit_matrix_free_vectors(&rhs->X);
    tacit_matrix_destroy(&rhs->shape);
}

static tacit_status solve_files(const cli *c, const tacit_factor *F,
                                cli_factor_rhs *rhs)
{
    const size_t n = (size_t)tacit_matrix_local_rows(rhs->shape);
    int *exponent = NULL;
    TRY(cli_scale_down((int64_t)n, rhs->columns, rhs->X, &exponent));
    const double start = base_seconds();
    tacit_status status =
        tacit_factor_solve(F, rhs->columns, rhs->X, n, rhs->X, n);
    rhs->seconds = base_seconds() - start;
    cli_scale_up((int64_t)n, rhs->columns, rhs->X, exponent);
    free(exponent);
    TRY(status);
    status = cli_check_finite(c, (int64_t)n, rhs->columns, rhs->X);
    if (status != TACIT_OK || !c->set.output) return status;
    fflush(stdout); /* may be the output's */
    return tacit_matrix_write_vectors(rhs->shape, c->set.output, rhs->columns,
                                      rhs->X, n);
}

tacit_status cli_use_factor(const cli *c, const tacit_factor *F,
                            cli_factor_rhs *rhs)
{
    if (c->set.solve) return solve_files(c, F, rhs);
    return c->set.output ? write_factor(c, F) : TACIT_OK;
}
