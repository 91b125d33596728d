/* SPDX-License-Identifier: BSD-3-Clause
 * tests/slice_shapes.h - matrices for tests of sliced formats of a GPU. */
#ifndef TESTS_SLICE_SHAPES_H
#define TESTS_SLICE_SHAPES_H
#include "gallery_check.h"
#include "operator/format.h"

/* --- matrices ------------------------------------------------------------- */

typedef int (*row_maker)(int64_t i, int32_t *col); /* any order, with doubles */
enum { SHAPE_ROW_MOST = 20000 };

static inline double uniform(int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)a, (uint64_t)b);
}

static inline int no_row(int64_t i, int32_t *col)
{
    (void)i;
    (void)col;
    return 0;
}
static inline int one_row(int64_t i, int32_t *col)
{
    col[0] = (int32_t)i;
    return 1;
}
static inline int gaps_row(int64_t i, int32_t *col) /* most rows are empty */
{
    col[0] = (int32_t)i;
    col[1] = (int32_t)(i / 2);
    return i % 7 == 3 ? 2 : 0;
}
static inline int arrow_row(int64_t i, int32_t *col)
{
    col[0] = 0;
    col[1] = (int32_t)i;
    for (int k = 0; k < 15000 && i == 0; k++) col[k] = k;
    return i == 0 ? 15000 : 2;
}
static inline int wide_row(int64_t i, int32_t *col)
{
    col[0] = (int32_t)i;
    for (int k = 0; k < 17000 && i == 0; k++) col[k] = k;
    return i == 0 ? 17000 : 1;
}
static inline int power_row(int64_t i, int32_t *col)
{
    const double wish = 2.0 / (uniform(i, 0) + 5e-4);
    const int n = wish < 700.0 ? (int)wish : 700;
    for (int k = 0; k < n; k++) col[k] = (int32_t)(2520 * uniform(i, k + 1));
    return n;
}
static inline int uneven_row(int64_t i, int32_t *col) /* worth sorting */
{
    const int n = 1 + (int)(tct_mix((uint64_t)i) % 40);
    for (int k = 0; k < n; k++) col[k] = (int32_t)(1200 * uniform(i, k));
    return n;
}
static inline int far_row(int64_t i,
                          int32_t *col) /* columns beyond 16 bits apart */
{
    col[0] = (int32_t)i;
    for (int k = 1; k < 5; k++) col[k] = (int32_t)(200000 * uniform(i, k));
    return 1 + (int)(i % 5);
}
static inline int edges_row(int64_t i,
                            int32_t *col) /* runs begin before column 0 */
{
    int n = 0;
    for (int64_t j = i - 40; j <= i + 40; j += 20)
        if (j >= 0 && j < 1000) col[n++] = (int32_t)j;
    return n;
}
static inline int block3_row(int64_t i, int32_t *col)
{
    const int64_t group = i / 3, groups = 420;
    int n = 0;
    for (int k = 0; k < 3 + (int)(group % 4); k++)
        for (int j = 0; j < 3; j++)
            if (!(group % 9 == 1 && k == 1 && j == (int)(i % 3)))
                col[n++] = (int32_t)(3 * ((group + k * 17) % groups) + j);
    return n;
}

static const struct {
    const char *name; /* of the gallery where there is no row */
    row_maker row;
    int64_t rows, cols;
} shapes[] = {
    {"no rows", no_row, 0, 0},
    {"no entries", no_row, 60, 60},
    {"1 x 1", one_row, 1, 1},
    {"empty rows", gaps_row, 1201, 1201},
    {"an arrow", arrow_row, 15000, 15000},
    {"a wide arrow", wide_row, 17000, 17000},
    {"a power law", power_row, 2520, 2520},
    {"uneven", uneven_row, 1200, 1200},
    {"far columns", far_row, 1500, 200000},
    {"edges", edges_row, 1000, 1000},
    {"blocks of 3", block3_row, 1260, 1260},
    {"poisson2d:33x31", NULL, 0, 0},
    {"poisson2d:60", NULL, 0, 0},
    {"poisson3d:11", NULL, 0, 0},
    {"poisson3d27:12", NULL, 0, 0},
    {"elasticity3d:4", NULL, 0, 0},
    {"tet3d:6,1", NULL, 0, 0},
    {"random:900,12", NULL, 0, 0},
    {"jump3d:12,1e4,5", NULL, 0, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef enum { GIVEN, RANDOM, FLOATS, SIGNED_ZEROS, D255, D257, WIDE } values;
enum { VALUES = WIDE + 1 };

static inline double value(values v, int64_t k)
{
    const double u = uniform(k, 77);
    switch (v) {
    case FLOATS: return (double)(float)(u - 0.5);
    case SIGNED_ZEROS: return u < 0.3 ? -0.0 : u < 0.5 ? 0.0 : 0.1;
    case D255: return (double)(1 + k % 255) / 7.0; /* and 0 */
    case D257: return (double)(1 + k % 257) / 7.0;
    case WIDE: return (u - 0.5) * pow(10.0, 600.0 * uniform(k, 78) - 300.0);
    case GIVEN:
    case RANDOM: break;
    }
    return u - 0.5;
}

static inline int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static inline tct_local allocate(int64_t rows, int64_t cols, int64_t most)
{
    tct_local A = {.rows = rows, .cols = cols};
    A.ptr = tct_calloc((size_t)(rows + 1) * sizeof *A.ptr);
    A.col = tct_alloc((size_t)most * sizeof *A.col);
    A.val = tct_alloc((size_t)most * sizeof *A.val);
    assert_true(A.ptr && A.col && A.val);
    return A;
}

static inline tct_local from_rows(int shape)
{
    static int32_t col[SHAPE_ROW_MOST];
    int64_t most = 0, at = 0;
    for (int64_t i = 0; i < shapes[shape].rows; i++)
        most += shapes[shape].row(i, col);
    tct_local A = allocate(shapes[shape].rows, shapes[shape].cols, most);
    for (int64_t i = 0; i < A.rows; i++) {
        const int n = shapes[shape].row(i, col);
        qsort(col, (size_t)n, sizeof *col, by_number);
        for (int k = 0; k < n; k++)
            if (k == 0 || col[k] != col[k - 1]) A.col[at++] = col[k];
        A.ptr[i + 1] = at;
    }
    for (int64_t k = 0; k < at; k++) A.val[k] = value(RANDOM, k);
    return A;
}

static inline tct_local from_gallery(const char *name)
{
    tct_csr m = make_matrix(name);
    tct_local A = allocate(m.rows, m.global_cols, tct_csr_nonzeros(&m));
    for (int64_t i = 0; i <= m.rows; i++) A.ptr[i] = m.ptr[i];
    for (int64_t k = 0; k < m.ptr[m.rows]; k++) {
        A.col[k] = (int32_t)tct_csr_col(&m, k);
        A.val[k] = m.val[k];
    }
    tct_csr_clear(&m);
    return A;
}

static inline tct_local make(int shape, values v)
{
    tct_local A =
        shapes[shape].row ? from_rows(shape) : from_gallery(shapes[shape].name);
    for (int64_t k = 0; k < A.ptr[A.rows] && v != GIVEN; k++)
        A.val[k] = value(v, k);
    return A;
}

static inline int find_shape(const char *name)
{
    for (int i = 0; i < SHAPES; i++)
        if (strcmp(shapes[i].name, name) == 0) return i;
    fail_msg("no shape %s", name);
    return -1;
}

static inline void clear(tct_local *A)
{
    tct_free(A->ptr);
    tct_free(A->col);
    tct_free(A->val);
}

#endif
