/* SPDX-License-Identifier: BSD-3-Clause
 * cli/file.c - small text files, numbers common to all ranks, and timeouts. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

tacit_status cli_write_text(const cli *c, const char *path, const char *text)
{
    fflush(stdout); /* may be the output's */
    return tacit_file_write(c->world, path, text);
}

tacit_status cli_check_writable(const cli *c, const char *path)
{
    if (!path || strcmp(path, "-") == 0) return TACIT_OK;
    return tacit_file_check_writable(c->world, path, TACIT_FILE_TEXT);
}

tacit_status cli_wait_as_in_solves(const cli *c, bool limited)
{
    return tacit_world_set_patience(c->world, limited ? -1.0 : 0.0);
}

static double reduce(const cli *c, tacit_reduction how, double value)
{
    return tacit_world_reduce(c->world, how, 1, &value) < 0 ? (double)NAN
                                                            : value;
}

double cli_max(const cli *c, double value)
{
    return reduce(c, TACIT_MAX, value);
}

double cli_sum(const cli *c, double value)
{
    return reduce(c, TACIT_SUM, value);
}
