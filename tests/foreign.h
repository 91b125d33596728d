/* SPDX-License-Identifier: BSD-3-Clause
 * tests/foreign.h - factors of other libraries; checks that imports of them are
 * equal and solve alike, on TEST_DEVICE. */
#ifndef TESTS_FOREIGN_H
#define TESTS_FOREIGN_H
#include "base/base.h"
#include "gpu.h"
#include "said.h"
#include <dlfcn.h>

/* Small matrices, of which threads, ours and SuperLU_DIST's, would wait for
 * each other most of the time. */
static inline void one_thread(void)
{
    void *found = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    void (*set)(int);
    memcpy(&set, &found, sizeof set);
    if (set) set(1); /* SuperLU_DIST is built with OpenMP */
    setenv("OMP_NUM_THREADS", "1", 1);
}

static inline tacit_matrix *gallery(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

static inline tacit_factor *factor_of(const tacit_matrix *m, int leaves)
{
    const tacit_factor_options o = {.size = sizeof o, .leaves = leaves};
    tacit_factor *F = NULL;
    OK(tacit_factor_create(m, &o, &F));
    return F;
}

static inline tacit_factor_panels view_of(const tacit_factor *F)
{
    tacit_factor_panels P = {.size = sizeof P};
    OK(tacit_factor_view(F, &P));
    return P;
}

/* --- triangles ------------------------------------------------------------ */

/* The columns of a factor, which can be written to. */
typedef struct {
    tacit_factor_columns C;
    int64_t *ptr, *upper_ptr;
    int32_t *row, *upper_row, *original;
    double *value, *upper_value, *diagonal;
} lists;

static inline void discard(lists *l)
{
    TCT_FREE(l->ptr, l->upper_ptr, l->row, l->upper_row, l->original, l->value,
             l->upper_value, l->diagonal);
}

/* Dense n x n `T`, lower or upper, column by column, without what is 0. */
static inline void list_columns(const double *T, int n, int64_t **ptr,
                                int32_t **row, double **value)
{
    const size_t most = (size_t)n * (size_t)n;
    int64_t count = 0;
    *ptr = tct_alloc(((size_t)n + 1) * sizeof **ptr);
    *row = tct_alloc(most * sizeof **row);
    *value = tct_alloc(most * sizeof **value);
    (*ptr)[0] = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            if (T[(size_t)j * (size_t)n + (size_t)i] == 0.0) continue;
            (*row)[count] = i;
            (*value)[count++] = T[(size_t)j * (size_t)n + (size_t)i];
        }
        (*ptr)[j + 1] = count;
    }
}

/* L, and of kinds LU and ILU0 U, dense, as columns of a factor. */
static inline lists lists_from(const double *L, const double *U,
                               const double *D, int n, const int32_t *original,
                               tacit_factor_kind kind)
{
    lists l = {.C = {.size = sizeof l.C, .kind = kind, .rows = n}};
    list_columns(L, n, &l.ptr, &l.row, &l.value);
    if (kind == TACIT_FACTOR_LU || kind == TACIT_FACTOR_ILU0)
        list_columns(U, n, &l.upper_ptr, &l.upper_row, &l.upper_value);
    if (kind == TACIT_FACTOR_LDLT) {
        l.diagonal = tct_alloc((size_t)n * sizeof *l.diagonal);
        memcpy(l.diagonal, D, (size_t)n * sizeof *D);
    }
    l.original = tct_alloc((size_t)n * sizeof *l.original);
    for (int i = 0; i < n; i++) l.original[i] = original ? original[i] : i;
    l.C.ptr = l.ptr;
    l.C.row = l.row;
    l.C.value = l.value;
    l.C.upper_ptr = l.upper_ptr;
    l.C.upper_row = l.upper_row;
    l.C.upper_value = l.upper_value;
    l.C.diagonal = l.diagonal;
    l.C.original = l.original;
    return l;
}

/* L (or, of `value` = upper, U') of panels as a dense matrix, column by
 * column. */
static inline double *dense_of(const tacit_factor_panels *P,
                               const double *value)
{
    const size_t n = (size_t)P->rows;
    double *L = tct_calloc(n * n * sizeof *L);
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++)
            for (int64_t i = j - P->first[K]; i < h; i++)
                L[(size_t)j * n + (size_t)P->row[P->row_start[K] + i]] =
                    value[P->value_start[K] + (j - P->first[K]) * h + i];
    }
    return L;
}

/* Our own factor L L' as any kind: L D^-1/2, D, and D L' of D, the squares of
 * what is on L's diagonal. */
static inline lists lists_of(const tacit_factor *F, tacit_factor_kind kind)
{
    const tacit_factor_panels P = view_of(F);
    const size_t n = (size_t)P.rows;
    double *L = dense_of(&P, P.value), *U = tct_calloc(n * n * sizeof *U);
    double *D = tct_alloc(n * sizeof *D);
    for (size_t j = 0; j < n; j++) {
        const double d = L[j * n + j];
        D[j] = d * d;
        if (kind == TACIT_FACTOR_LLT || kind == TACIT_FACTOR_IC0) continue;
        for (size_t i = j; i < n; i++) {
            L[j * n + i] = i == j ? 1.0 : L[j * n + i] / d;
            U[i * n + j] = D[j] * L[j * n + i];
        }
    }
    lists l = lists_from(L, U, D, (int)n, P.original, kind);
    TCT_FREE(L, U, D);
    return l;
}

/* Triangles of `n` rows that have entries with a chance of `density`. */
static inline lists random_lists(int n, double density, uint64_t seed,
                                 tacit_factor_kind kind)
{
    const size_t all = (size_t)n * (size_t)n * sizeof(double);
    double *L = tct_calloc(all), *U = tct_calloc(all);
    double *D = tct_alloc((size_t)n * sizeof *D);
    for (int j = 0; j < n; j++) {
        D[j] = 2.0;
        for (int i = j; i < n; i++) {
            const uint64_t at = (uint64_t)(i * 1000 + j);
            const double x = tct_uniform(at, seed), y = tct_uniform(at, ~seed);
            if (i == j || x < density) L[j * n + i] = i == j ? 1.0 : x - 2.0;
            if (i == j || y < density) U[i * n + j] = i == j ? 3.0 : y - 2.0;
        }
    }
    lists l = lists_from(L, U, D, n, NULL, kind);
    TCT_FREE(L, U, D);
    return l;
}

/* --- the same? ------------------------------------------------------------ */

/* Every row lies in the tree node of its panel or above, asked one by one. */
static inline void expect_closed(const tacit_factor_panels *P)
{
    for (int32_t K = 0; K < P->panels; K++)
        for (int64_t k = P->row_start[K]; k < P->row_start[K + 1]; k++) {
            int32_t J = K, up = P->node[K];
            while (P->first[J + 1] <= P->row[k]) J++;
            while (up > P->node[J]) up = (up - 1) / 2;
            assert_int_equal(up, P->node[J]);
        }
}

/* Are all rows of a panel columns or rows of the panel of the first one below
 * it, as a GPU's solver needs them? */
static inline bool is_whole(const tacit_factor_panels *P)
{
    for (int32_t K = 0; K < P->panels; K++) {
        int64_t k = P->row_start[K] + P->first[K + 1] - P->first[K];
        if (k == P->row_start[K + 1]) continue;
        int32_t J = K;
        while (P->first[J + 1] <= P->row[k]) J++;
        for (int64_t at = P->row_start[J]; k < P->row_start[K + 1]; k++) {
            while (at < P->row_start[J + 1] && P->row[at] < P->row[k]) at++;
            if (at == P->row_start[J + 1] || P->row[at] != P->row[k])
                return false;
        }
    }
    return true;
}

/* The part of L that a leaf has with all above it, at most. */
static inline double share_of(const tacit_factor_panels *P)
{
    double of[64] = {0.0}, all = 0.0, most = 0.0;
    for (int32_t K = 0; K < P->panels; K++) {
        const double w = (double)(P->first[K + 1] - P->first[K]);
        const double h = (double)(P->row_start[K + 1] - P->row_start[K]);
        of[P->node[K]] += w * (h - (w - 1.0) / 2.0);
        all += w * (h - (w - 1.0) / 2.0);
    }
    for (int i = 1; i < 2 * P->leaves - 1; i++) of[i] += of[(i - 1) / 2];
    for (int i = P->leaves - 1; i < 2 * P->leaves - 1; i++)
        if (of[i] > most) most = of[i];
    return most / all;
}

/* The panels have the entries of `l`, and besides them zeros. */
static inline void expect_triangles(const tacit_factor_panels *P,
                                    const lists *l)
{
    const size_t n = (size_t)P->rows;
    double *L = dense_of(P, P->value), *U = NULL;
    if (P->upper) U = dense_of(P, P->upper);
    for (size_t j = 0; j < n; j++) {
        for (int64_t k = l->ptr[j]; k < l->ptr[j + 1]; k++) {
            double *at = &L[j * n + (size_t)l->row[k]];
            assert_true(*at == l->value[k]);
            *at = 0.0;
        }
        for (int64_t k = U ? l->upper_ptr[j] : 0; U && k < l->upper_ptr[j + 1];
             k++) {
            double *at = &U[(size_t)l->upper_row[k] * n + j];
            assert_true(*at == l->upper_value[k]);
            *at = 0.0;
        }
        if (l->diagonal) assert_true(P->diagonal[j] == l->diagonal[j]);
    }
    for (size_t k = 0; k < n * n; k++)
        assert_true(L[k] == 0.0 && (!U || U[k] == 0.0));
    TCT_FREE(L, U);
}

static inline double entry_of(const tacit_rows *rows, int64_t i, int64_t j)
{
    for (int64_t k = rows->ptr[i]; k < rows->ptr[i + 1]; k++)
        if (rows->cols32[k] == j) return rows->vals[k];
    return 0.0;
}

/* L L', L D L' or L U is the matrix, but for rounding: each entry is near, for
 * the sizes of what it is the sum of. */
static inline void expect_product(const tacit_matrix *m,
                                  const tacit_factor_panels *P,
                                  const char *name)
{
    const int64_t n = P->rows;
    double *L = dense_of(P, P->value);
    double *U = dense_of(P, P->upper ? P->upper : P->value);
    tacit_rows rows;
    OK(tacit_matrix_view_rows(m, &rows));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0, terms = 0.0;
            for (int64_t k = 0; k <= (i < j ? i : j); k++) {
                const double d = P->diagonal ? P->diagonal[k] : 1.0;
                sum += L[k * n + i] * U[k * n + j] * d;
                terms += fabs(L[k * n + i] * U[k * n + j] * d);
            }
            const double a = entry_of(&rows, P->original[i], P->original[j]);
            if (!(fabs(sum - a) <= 1e-14 * terms))
                fail_msg("%s: entry %d %d: %g, not %g", name, (int)i, (int)j,
                         sum, a);
        }
    TCT_FREE(L, U);
}

/* Y = what F makes of the `columns` of B, on TEST_DEVICE. */
static inline void solve_there(const tacit_factor *F, int columns,
                               const double *B, double *Y)
{
    const tacit_factor_panels P = view_of(F);
    const size_t n = (size_t)P.rows, all = n * (size_t)columns;
    if (strcmp(TEST_DEVICE, "host") == 0) {
        OK(tacit_factor_solve(F, columns, B, n, Y, n));
        return;
    }
    tacit_queue *q = open_queue(TEST_DEVICE);
    double *b = device_vector(q, all, B), *y = poisoned_vector(q, all);
    tacit_factor_solver *S = NULL;
    const tacit_factor_solver_options o = {.size = sizeof o,
                                           .columns = columns};
    OK(tacit_factor_solver_create(q, &P, &o, &S));
    OK(tacit_factor_solver_run(S, columns, b, n, y, n));
    OK(tacit_factor_solver_wait(S));
    OK(tacit_queue_get(q, all, y, Y));
    tacit_factor_solver_destroy(&S);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &y);
    tacit_queue_destroy(&q);
}

static inline void expect_same_solves(const tacit_factor *own,
                                      const tacit_factor *F, int columns)
{
    const size_t n = (size_t)view_of(own).rows, all = n * (size_t)columns;
    double *b = tct_alloc(all * sizeof *b), *x = tct_alloc(all * sizeof *x),
           *y = tct_alloc(all * sizeof *y), most = 0.0, off = 0.0;
    for (size_t k = 0; k < all; k++) b[k] = tct_uniform(k, 8) - 0.5;
    OK(tacit_factor_solve(own, columns, b, n, x, n));
    solve_there(F, columns, b, y);
    for (size_t k = 0; k < all; k++) {
        most = fmax(most, fabs(x[k]));
        off = fmax(off, fabs(x[k] - y[k]));
    }
    if (!(off <= 1e-10 * most))
        fail_msg("solves differ by %g of %g", off, most);
    TCT_FREE(b, x, y);
}

#endif
