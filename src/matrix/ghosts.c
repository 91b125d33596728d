/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/ghosts.c - columns that other ranks own, each once. */
#include "matrix/ghosts.h"
#include "matrix/keyset.h"
#include "matrix/parallel.h"
#include <stdlib.h>

static const char *const what = "columns of other ranks";

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of blocks [first, last), those that are not in [own, own_end). */
static tacit_status collect(const tct_csr *A, int block, int64_t first,
                            int64_t last, int64_t own, int64_t own_end,
                            tct_keyset *set)
{
    for (int64_t n = first; n < last; n++) {
        const int64_t i = n * block - A->first;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k += block) {
            const int64_t col = tct_csr_col(A, k);
            if (col < own * block || col >= own_end * block)
                TRY(tct_keyset_add(set, col / block));
        }
    }
    return TACIT_OK;
}

/* The numbers of all sets, each once, ascending. */
static tacit_status join(int pieces, const tct_keyset *set, tct_ghosts *out)
{
    tct_ghosts g = {0};
    int64_t all = 0;
    for (int t = 0; t < pieces; t++) all += set[t].count;
    TRY(TCT_ALLOC(all, what, &g.id));
    all = 0;
    for (int t = 0; t < pieces; t++)
        for (int64_t k = 0; k < set[t].room; k++)
            if (set[t].slot[k] >= 0) g.id[all++] = set[t].slot[k];
    qsort(g.id, (size_t)all, sizeof *g.id, by_number);
    for (int64_t k = 0; k < all; k++)
        if (g.count == 0 || g.id[k] != g.id[g.count - 1])
            g.id[g.count++] = g.id[k];
    *out = g;
    return TACIT_OK;
}

tacit_status tct_ghosts_find(const tct_csr *A, int block, int64_t first,
                             int64_t last, tct_ghosts *out)
{
    const int64_t blocks = last - first;
    const int pieces = blocks > TCT_SHORT ? tct_threads_most() : 1;
    tct_keyset *set = NULL; /* of each piece */
    bool starved = false;
    *out = (tct_ghosts){0};
    if (first == 0 && last * block >= A->global_cols) return TACIT_OK;
    set = tct_calloc((size_t)pieces * sizeof *set);
    if (!set) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    TCT_OMP(omp parallel for schedule(static) reduction(|| : starved) if (pieces > 1))
    for (int t = 0; t < pieces; t++)
        starved = collect(A, block, first + blocks * t / pieces,
                          first + blocks * (t + 1) / pieces, first, last,
                          &set[t]) < 0 ||
                  starved;
    const tacit_status status =
        starved ? tacit_error_set(TACIT_NO_MEMORY, "no memory for %s", what)
                : join(pieces, set, out);
    for (int t = 0; t < pieces; t++) tct_keyset_clear(&set[t]);
    tct_free(set);
    return status;
}

void tct_ghosts_clear(tct_ghosts *g)
{
    tct_free(g->id);
    *g = (tct_ghosts){0};
}
