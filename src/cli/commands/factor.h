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
/* Do -o and --solve: write `F`, or solve with it; `*seconds` of the solve and
 * the number of columns, 0 without one.
 * Errors      those of tacit_factor_write; of right-hand sides and solutions;
 *             BREAKDOWN: a solution is not finite; it is not written. */
tacit_status cli_use_factor(const cli *c, const tacit_factor *F, int *columns,
                            double *seconds);
/* Errors      BREAKDOWN: X [columns rows], the same on all ranks, is not
 *             finite; rank 0 prints where. */
tacit_status cli_check_finite(const cli *c, int64_t rows, int columns,
                              const double *X);

#endif
