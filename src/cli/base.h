/* SPDX-License-Identifier: BSD-3-Clause
 * cli/base.h - helpers of the program: baseline/base.h, the nearest known word,
 * and strict numbers. */
#ifndef TCT_CLI_BASE_H
#define TCT_CLI_BASE_H
#include "baseline/base.h"
#include <stddef.h>

/* The one of `names` [count] nearest to `word`, NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *names,
                        size_t count);

/* Parse a whole string as a number; false if anything is left over. */
bool cli_parse_integer(const char *text, int64_t *out);
bool cli_parse_real(const char *text, double *out);
/* ... as three numbers above 0, "2x1x4". */
bool cli_parse_shape(const char *text, int out[3]);
/* ... as two numbers with a comma between them. */
bool cli_parse_pair(const char *text, double out[2]);

#endif
