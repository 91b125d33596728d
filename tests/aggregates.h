/* SPDX-License-Identifier: BSD-3-Clause
 * tests/aggregates.h - aggregates of all ranks, in vectors that each rank
 * has. */
#ifndef TESTS_AGGREGATES_H
#define TESTS_AGGREGATES_H
#include "deals.h"
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/aggregation/numbering.h"

static inline int64_t count_over(tacit_world *w, int64_t value)
{
    assert_int_equal(tct_reduce_i64(w, TCT_SUM, 1, &value), TACIT_OK);
    return value;
}

static inline int64_t all_ranks(int64_t value)
{
    return count_over(test_world(), value);
}

static inline double *zeros(int64_t n)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static inline void sum_over(tacit_world *w, double *v, int64_t n)
{
    assert_int_equal(tct_reduce_f64(w, TCT_SUM, (size_t)n, v), TACIT_OK);
}

static inline void sum_ranks(double *v, int64_t n)
{
    sum_over(test_world(), v, n);
}

/* What each rank has of `mine` [m's rows], by the numbers of `m`. */
static inline double *gathered(const tacit_matrix *m, const double *mine)
{
    double *all = zeros(m->A.global_rows);
    for (int64_t i = 0; i < m->A.rows; i++) all[m->A.first + i] = mine[i];
    sum_over(m->world, all, m->A.global_rows);
    return all;
}

/* The aggregate of each row of all ranks, among all. */
static inline double *numbers_of(const tacit_matrix *A, const tct_aggregates *G)
{
    int64_t starts[5] = {0};
    double *mine = zeros(A->A.rows);
    assert_int_equal(tct_numbering_starts(A->world, G->coarse, starts),
                     TACIT_OK);
    const int64_t first = starts[A->world->rank];
    for (int64_t k = 0; k < G->others.count; k++) {
        const int64_t n = G->others.id[k];
        assert_true(n < first || n >= first + G->coarse);
        if (k > 0) assert_true(G->others.id[k - 1] < n);
    }
    for (int64_t i = 0; i < A->A.rows; i++) {
        assert_in_range(G->of[i] + 1, 0, G->coarse + G->others.count);
        mine[i] =
            (double)tct_place_number(G->of[i], first, G->coarse, &G->others);
    }
    double *all = gathered(A, mine);
    free(mine);
    return all;
}

/* The numbers that aggregates would have if one rank had all rows. */
static inline double *indices_of(tacit_world *w, const tct_aggregates *G)
{
    int64_t starts[5] = {0};
    assert_int_equal(tct_numbering_starts(w, G->coarse, starts), TACIT_OK);
    double *index = zeros(starts[w->size]);
    for (int64_t n = 0; n < G->coarse; n++) {
        const int64_t number = starts[w->rank] + n;
        index[number] =
            (double)(G->index ? G->index[n * G->width] / G->width : number);
    }
    sum_over(w, index, starts[w->size]);
    return index;
}

/* Of all rows of `m`, in their original order. */
static inline double *in_order(const tacit_matrix *m, const double *number,
                               const double *index)
{
    double *out = zeros(m->A.global_rows);
    for (int64_t i = 0; i < m->A.rows; i++) {
        const double of = number[m->A.first + i];
        out[tct_original(m, i)] = of < 0.0 ? -1.0 : index[(int64_t)of];
    }
    sum_over(m->world, out, m->A.global_rows);
    return out;
}

#endif
