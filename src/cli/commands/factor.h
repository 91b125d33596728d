/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/factor.h - a factor's files and solves, for commands with a
 * factor. */
#ifndef TCT_CLI_COMMANDS_FACTOR_H
#define TCT_CLI_COMMANDS_FACTOR_H
#include "cli/cli.h"
#include <tacit/foreign.h>

/* Check that the options of factors go together, and that their files can be
 * written.
 * Errors      INVALID, IO. */
tacit_status cli_check_factor(const cli *c);
/* The first check alone, for a factor that is given. */
tacit_status cli_check_given(const cli *c);
/* A matrix without entries, for the files of its vectors. */
tacit_status cli_empty_matrix(const cli *c, int64_t rows, tacit_matrix **out);
/* Read MATRIX as the factor of --given.
 * Errors      those of tacit_factor_read. */
tacit_status cli_read_factor(const cli *c, tacit_factor **out);
/* The right-hand sides of --solve, then the solutions; without one none. */
typedef struct cli_factor_rhs {
    tacit_matrix *shape; /* without entries, of as many rows */
    int columns;
    double *X;
    double seconds; /* of the solve */
} cli_factor_rhs;

/* Read them, for a matrix of so many rows; cli_free_rhs frees them, also after
 * an error. */
tacit_status cli_read_rhs(const cli *c, int64_t rows, cli_factor_rhs *out);
void cli_free_rhs(cli_factor_rhs *rhs);
/* Do -o and --solve: write `F`, or solve with it.
 * Errors      those of tacit_factor_write; of solutions; BREAKDOWN: a solution
 *             is not finite; it is not written. */
tacit_status cli_use_factor(const cli *c, const tacit_factor *F,
                            cli_factor_rhs *rhs);
/* Divide each column of B [columns rows] that nears the range of doubles by a
 * power of two, 2^(*exponent)[j], so that sums on the way stay within it; and
 * multiply a solution by that. */
tacit_status cli_scale_down(int64_t rows, int columns, double *B,
                            int **exponent);
void cli_scale_up(int64_t rows, int columns, double *X, const int *exponent);
/* Errors      BREAKDOWN: X [columns rows], the same on all ranks, is not
 *             finite; rank 0 prints where. */
tacit_status cli_check_finite(const cli *c, int64_t rows, int columns,
                              const double *X);

#endif
