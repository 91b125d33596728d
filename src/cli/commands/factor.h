/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/factor.h - a factor's files and solves, for the commands that
 * have one. */
#ifndef TCT_CLI_COMMANDS_FACTOR_H
#define TCT_CLI_COMMANDS_FACTOR_H
#include "cli/cli.h"
#include <tacit/foreign.h>

/* Do the options of factors go together, and can what they name be written?
 * Errors      INVALID, IO. */
tacit_status cli_check_factor(const cli *c);
/* The first of these questions alone, of a factor that is given. */
tacit_status cli_check_given(const cli *c);
/* A matrix without entries, for the files of its vectors. */
tacit_status cli_empty_matrix(const cli *c, int64_t rows, tacit_matrix **out);
/* The factor that --given says MATRIX is.
 * Errors      those of tacit_factor_read. */
tacit_status cli_read_factor(const cli *c, tacit_factor **out);
/* What -o and --solve ask for: `F` written, or systems solved with it;
 * `*seconds`, of the solve, and how many columns, 0 without.
 * Errors      those of tacit_factor_write; of right-hand sides and solutions;
 *             BREAKDOWN: a solution is not finite, and is not written. */
tacit_status cli_use_factor(const cli *c, const tacit_factor *F, int *columns,
                            double *seconds);
/* Errors      BREAKDOWN: X [columns rows], which all ranks have, is not finite; rank 0
 *             has told so, and where. */
tacit_status cli_check_finite(const cli *c, int64_t rows, int columns,
                              const double *X);

#endif
