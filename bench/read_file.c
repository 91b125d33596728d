/* SPDX-License-Identifier: BSD-3-Clause
 * bench/read_file.c - read one matrix file; time and peak memory as JSON.
 *
 *     read_file FILE [--write FILE] */
#include "io/io.h"
#include <stdio.h>
#include <string.h>

static int failed(const char *what, const char *why)
{
    fprintf(stderr, "read_file: %s: %s\n", what, why);
    return 1;
}

/* ru_maxrss would begin with the parent's. */
static double peak_bytes(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return 1024.0 * (double)kib;
}

static int run(tacit_world *w, const char *in, const char *out)
{
    tct_csr A = {0};
    tct_file_info info;
    const double start = tct_seconds();
    if (tct_read_matrix(w, in, &A, &info) < 0)
        return failed("read", tacit_error_message());
    const double read = tct_seconds() - start, peak = peak_bytes();
    double sum = 0;
    for (int64_t k = 0; k < info.nonzeros; k++) sum += A.val[k];
    const double written = tct_seconds();
    if (out && tct_write_matrix(w, out, NULL, &A) < 0)
        return failed("write", tacit_error_message());
    const double width = A.col32 ? 4 : 8;
    printf("{\"seconds\": %.6f, \"write_seconds\": %.6f, \"rows\": %lld, "
           "\"nonzeros\": %lld, \"sum\": %.17g, \"peak_bytes\": %.0f, "
           "\"csr_bytes\": %.0f}\n",
           read, out ? tct_seconds() - written : 0.0, (long long)info.rows,
           (long long)info.nonzeros, sum, peak,
           (8 + width) * (double)info.nonzeros + 8.0 * (double)info.rows);
    tct_csr_clear(&A);
    return 0;
}

int main(int argc, char **argv)
{
    const char *out = NULL;
    if (argc == 4 && strcmp(argv[2], "--write") == 0) out = argv[3];
    if (argc != (out ? 4 : 2))
        return failed("usage", "read_file FILE [--write FILE]");
    tacit_world *w = NULL;
    if (tacit_world_self(&w) < 0) return failed("world", tacit_error_message());
    const int code = run(w, argv[1], out);
    tacit_world_destroy(&w);
    return code;
}
