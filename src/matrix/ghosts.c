/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/ghosts.c - columns that other ranks own, each once. */
#include "matrix/ghosts.h"
#include "matrix/keyset.h"
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static tacit_status collect(const tct_csr *A, int block, int64_t first,
                            int64_t last, tct_keyset *set)
{
    for (int64_t n = first; n < last; n++) {
        const int64_t i = n * block - A->first;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k += block) {
            const int64_t col = tct_csr_col(A, k);
            if (col < first * block || col >= last * block)
                TRY(tct_keyset_add(set, col / block));
        }
    }
    return TACIT_OK;
}

tacit_status tct_ghosts_find(const tct_csr *A, int block, int64_t first,
                             int64_t last, tct_ghosts *out)
{
    tct_keyset set = {0};
    tct_ghosts g = {0};
    *out = g;
    if (first == 0 && last * block >= A->global_cols) return TACIT_OK;
    tacit_status status = collect(A, block, first, last, &set);
    if (status >= 0)
        status = TCT_ALLOC(set.count, "columns of other ranks", &g.id);
    for (int64_t k = 0; status >= 0 && k < set.room; k++)
        if (set.slot[k] >= 0) g.id[g.count++] = set.slot[k];
    tct_keyset_clear(&set);
    TRY(status);
    qsort(g.id, (size_t)g.count, sizeof *g.id, by_number);
    *out = g;
    return TACIT_OK;
}

void tct_ghosts_clear(tct_ghosts *g)
{
    tct_free(g->id);
    *g = (tct_ghosts){0};
}
