/* SPDX-License-Identifier: BSD-3-Clause
 * cli/file.c - small text files that appear whole or not at all, and numbers
 * that all ranks share. */
#include "cli/cli.h"
#include "matrix/io/sink.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

tacit_status cli_write_text(const cli *c, const char *path, const char *text)
{
    const bool prints = c->rank == 0;
    tct_sink *s = NULL;
    fflush(stdout); /* which may be where this goes */
    TRY(tct_sink_open(c->world, path, false, &s));
    tacit_status status = tct_sink_write(s, text, prints ? strlen(text) : 0);
    if (status >= 0) status = tct_sink_commit(s);
    tct_sink_close(&s);
    return status;
}

tacit_status cli_check_writable(const cli *c, const char *path)
{
    if (!path || strcmp(path, "-") == 0) return TACIT_OK;
    return tct_agree(c->world,
                     c->rank == 0 ? tacit_check_writable(path) : TACIT_OK);
}

double cli_max(const cli *c, double value)
{
    return tct_reduce_f64(c->world, TCT_MAX, 1, &value) < 0 ? (double)NAN
                                                            : value;
}

double cli_sum(const cli *c, double value)
{
    return tct_reduce_f64(c->world, TCT_SUM, 1, &value) < 0 ? (double)NAN
                                                            : value;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double cli_median(double *values, int count)
{
    if (count < 1) return (double)NAN;
    qsort(values, (size_t)count, sizeof *values, ascending);
    const int mid = count / 2;
    return count % 2 ? values[mid] : 0.5 * (values[mid - 1] + values[mid]);
}
