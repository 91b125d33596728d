/* SPDX-License-Identifier: BSD-3-Clause
 * bench/triangles.h - L and L' of a factor by rows, as cuSPARSE takes them. */
#ifndef BENCH_TRIANGLES_H
#define BENCH_TRIANGLES_H
#include <stdint.h>
#include <stdlib.h>
#include <tacit/factor.h>

/* A triangle by rows, or another matrix. */
typedef struct {
    int64_t entries;
    int *ptr, *col;
    double *val;
} triangle;

static inline void triangle_free(triangle *t)
{
    free(t->ptr);
    free(t->col);
    free(t->val);
}

/* L' from the panels, without the zeros that they store: a column of L is a
 * row. */
static inline triangle upper_of(const tacit_factor_panels *P)
{
    triangle t = {.entries = 0};
    const size_t most = (size_t)P->value_start[P->panels];
    t.ptr = malloc(((size_t)P->rows + 1) * sizeof *t.ptr);
    t.col = malloc(most * sizeof *t.col);
    t.val = malloc(most * sizeof *t.val);
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++) {
            const int64_t k = j - P->first[K];
            t.ptr[j] = (int)t.entries;
            for (int64_t i = k; i < h; i++) {
                const double v = P->value[P->value_start[K] + k * h + i];
                if (v == 0.0) continue;
                t.col[t.entries] = P->row[P->row_start[K] + i];
                t.val[t.entries++] = v;
            }
        }
    }
    t.ptr[P->rows] = (int)t.entries;
    return t;
}

static inline triangle transpose_of(const triangle *u, int64_t n)
{
    triangle t = {.entries = u->entries};
    t.ptr = calloc((size_t)n + 2, sizeof *t.ptr);
    t.col = malloc((size_t)u->entries * sizeof *t.col);
    t.val = malloc((size_t)u->entries * sizeof *t.val);
    for (int64_t k = 0; k < u->entries; k++) t.ptr[u->col[k] + 2]++;
    for (int64_t i = 0; i < n; i++) t.ptr[i + 2] += t.ptr[i + 1];
    for (int64_t i = 0; i < n; i++)
        for (int k = u->ptr[i]; k < u->ptr[i + 1]; k++) {
            const int to = t.ptr[u->col[k] + 1]++;
            t.col[to] = (int)i;
            t.val[to] = u->val[k];
        }
    return t;
}

#endif
