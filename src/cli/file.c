/* SPDX-License-Identifier: BSD-3-Clause
 * cli/file.c - small text files that appear whole or not at all, and numbers
 * that all ranks share. */
#include "cli/cli.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Anything but a plain file (/dev/stdout, a pipe) cannot be replaced. */
static bool is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

static tacit_status fill(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f) FAIL(TACIT_IO, "%s: cannot be written: %s", path, strerror(errno));
    const bool written = fputs(text, f) >= 0;
    const int why = errno;
    const bool closed = fclose(f) == 0;
    if (written && closed) return TACIT_OK;
    FAIL(TACIT_IO, "%s: cannot be written: %s", path,
         strerror(written ? errno : why));
}

static tacit_status replace(const char *path, const char *text)
{
    if (is_special(path)) return fill(path, text);
    const size_t size = strlen(path) + 32;
    char *part = tct_alloc(size);
    if (!part) FAIL(TACIT_NO_MEMORY, "no memory for a file name");
    snprintf(part, size, "%s.%ld.part", path, (long)getpid());
    tacit_status status = fill(part, text);
    if (status == TACIT_OK && rename(part, path) != 0)
        status = tct_fail(TACIT_IO, "%s: cannot be written: %s", path,
                          strerror(errno));
    if (status < 0) unlink(part);
    tct_free(part);
    return status;
}

tacit_status cli_write_text(const cli *c, const char *path, const char *text)
{
    tacit_status status = TACIT_OK;
    if (c->rank == 0) {
        if (strcmp(path, "-") == 0) fputs(text, stdout);
        else status = replace(path, text);
    }
    return tct_agree(c->world, status);
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
