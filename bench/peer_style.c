/* SPDX-License-Identifier: BSD-3-Clause
 * bench/peer_style.c - the baseline on a GPU, cuSPARSE's product and cuBLAS,
 * on one matrix (see baseline/peer_style.h):
 *
 *     peer_style MATRIX [--iterations N] [--rtol R] [--repeat R]
 *
 * MATRIX is a file or a gallery matrix, b = 1, x = 0. Without --rtol all N
 * (100) iterations run. After a line of headings one tab-separated line per
 * variant: the time of an iteration is the median of the repeats (5), that of
 * a product the median of several batches; GB/s counts 12 bytes an entry and
 * 20 a row. */
#include "baseline/peer_style.h"
#include "matrix/matrix.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_MOST = 100 };

typedef struct {
    const char *matrix;
    int64_t iterations, repeat;
    double rtol;
} settings;

static bool read_settings(int argc, char **argv, settings *s)
{
    *s = (settings){.iterations = 100, .repeat = 5};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool fine = true;
        if (strcmp(argv[i], "--iterations") == 0)
            fine = tct_parse_int64(value, &s->iterations), i++;
        else if (strcmp(argv[i], "--repeat") == 0)
            fine = tct_parse_int64(value, &s->repeat), i++;
        else if (strcmp(argv[i], "--rtol") == 0)
            fine = tct_parse_double(value, &s->rtol), i++;
        else if (!s->matrix) s->matrix = argv[i];
        else fine = false;
        if (!fine) return false;
    }
    return s->matrix && s->iterations > 0 && s->repeat > 0 &&
           s->repeat <= REPEAT_MOST && s->rtol >= 0.0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tacit_status one_variant(const settings *s, tct_peer *P, int variant,
                                int64_t rows, int64_t nonzeros)
{
    double took[REPEAT_MOST];
    const char *name = tct_peer_variant_at(variant)->name;
    tct_peer_result result = {0};
    for (int64_t k = 0; k < s->repeat; k++) {
        TRY(tct_peer_solve(P, variant, NULL, s->rtol, s->iterations, &result));
        const int64_t n = result.iterations > 0 ? result.iterations : 1;
        took[k] = result.seconds / (double)n;
    }
    qsort(took, (size_t)s->repeat, sizeof *took, by_size);
    const double product = tct_peer_spmv_seconds(P);
    const double bytes = 12.0 * (double)nonzeros + 20.0 * (double)rows;
    printf("%s\t%lld\t%lld\t%s\t%lld\t%.2f\t%.3e\t%.2f\t%.1f\t%s\n", s->matrix,
           (long long)rows, (long long)nonzeros, name,
           (long long)result.iterations, 1e6 * took[s->repeat / 2],
           result.true_relative_residual, 1e6 * product, 1e-9 * bytes / product,
           result.algorithm);
    return TACIT_OK;
}

static tacit_status all_variants(const settings *s, const tct_csr *A)
{
    const int64_t nonzeros = tct_csr_nonzeros(A);
    tct_peer *P = NULL;
    if (A->rows != A->global_cols)
        FAIL(TACIT_INPUT, "%s: the matrix is not square", s->matrix);
    if (!A->col32)
        FAIL(TACIT_UNSUPPORTED, "%s: the columns need more than 32 bits",
             s->matrix);
    TRY(tct_peer_create(A->rows, A->ptr, A->col32, A->val, &P));
    printf("matrix\trows\tnonzeros\tvariant\titerations\tus/iteration\t"
           "true residual\tspmv us\tspmv GB/s\talgorithm\n");
    tacit_status status = TACIT_OK;
    for (int i = 0; status >= 0 && tct_peer_variant_at(i); i++)
        status = one_variant(s, P, i, A->rows, nonzeros);
    tct_peer_destroy(&P);
    return status;
}

static tacit_status run(const settings *s)
{
    tacit_world *world = NULL;
    tacit_matrix *matrix = NULL;
    TRY(tacit_world_self(&world));
    tacit_status status = tacit_matrix_open(world, s->matrix, NULL, &matrix);
    if (status >= 0) status = all_variants(s, &matrix->A);
    tacit_matrix_destroy(&matrix);
    tacit_world_destroy(&world);
    return status;
}

int main(int argc, char **argv)
{
    settings s;
    if (!read_settings(argc, argv, &s)) {
        fprintf(stderr, "usage: peer_style MATRIX [--iterations N] [--rtol R] "
                        "[--repeat R]\n");
        return 2;
    }
    if (run(&s) >= 0) return 0;
    fprintf(stderr, "peer_style: %s\n", tacit_error_message());
    return 1;
}
