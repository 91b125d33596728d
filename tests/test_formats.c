/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_formats.c - every storage format with every value type, on
 * irregular shapes and every instruction set of this machine: products exact to
 * the bit against a plain sum in column order, and accurate against long
 * double; pairs, dots, new values, memory, stored entries, the choice of a
 * format. */
#include "device/isa.h"
#include "operator/host/slices.h"
#include "teams.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- matrices ------------------------------------------------------------- */

/* Columns, of `n`, of row `i` (any order, doubles allowed), at most 4096. */
typedef int (*row_maker)(int64_t n, int64_t i, int32_t *col);

static double uniform(int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)a, (uint64_t)b);
}

static int no_row(int64_t n, int64_t i, int32_t *col)
{
    (void)n;
    (void)i;
    (void)col;
    return 0;
}
static int diagonal_row(int64_t n, int64_t i, int32_t *col)
{
    (void)n;
    col[0] = (int32_t)i;
    return 1;
}
static int gaps_row(int64_t n, int64_t i,
                    int32_t *col) /* most rows are empty */
{
    (void)n;
    col[0] = (int32_t)i;
    col[1] = (int32_t)(i / 2);
    return i % 7 == 3 ? 2 : 0;
}
static int band_row(int64_t n, int64_t i, int32_t *col)
{
    int count = 0;
    for (int64_t j = i - 2; j <= i + 2; j++)
        if (j >= 0 && j < n) col[count++] = (int32_t)j;
    return count;
}
static int grid_row(int64_t n, int64_t i,
                    int32_t *col) /* 7-point, 13 x 13 x 7 */
{
    (void)n;
    const int64_t x = i % 13, y = i / 13 % 13, z = i / 169;
    int count = 0;
    col[count++] = (int32_t)i;
    if (x > 0) col[count++] = (int32_t)(i - 1);
    if (x < 12) col[count++] = (int32_t)(i + 1);
    if (y > 0) col[count++] = (int32_t)(i - 13);
    if (y < 12) col[count++] = (int32_t)(i + 13);
    if (z > 0) col[count++] = (int32_t)(i - 169);
    if (z < 6) col[count++] = (int32_t)(i + 169);
    return count;
}
static int irregular_row(int64_t n, int64_t i, int32_t *col)
{
    const int count = (int)(40.0 * uniform(i, 0) * uniform(i, 1));
    for (int k = 0; k < count; k++)
        col[k] = (int32_t)((double)n * uniform(i, k + 2));
    return count;
}
static int power_row(int64_t n, int64_t i, int32_t *col)
{
    const double wish = 2.0 / (uniform(i, 0) + 5e-4);
    const int count = wish < 2000.0 ? (int)wish : 2000;
    for (int k = 0; k < count; k++)
        col[k] = (int32_t)((double)n * uniform(i, k + 1));
    return count;
}
static int arrow_row(int64_t n, int64_t i, int32_t *col)
{
    if (i > 0) {
        col[0] = 0;
        col[1] = (int32_t)i;
        return 2;
    }
    for (int k = 0; k < n; k++) col[k] = k;
    return (int)n;
}
static int far_row(int64_t n, int64_t i,
                   int32_t *col) /* columns beyond 16 bits apart */
{
    col[0] = (int32_t)i;
    for (int k = 1; k < 5; k++) col[k] = (int32_t)((double)n * uniform(i, k));
    return 1 + (int)(i % 5);
}
static int dense_row(int64_t n, int64_t i, int32_t *col)
{
    (void)i;
    for (int k = 0; k < n; k++) col[k] = k;
    return (int)n;
}
static int wide_row(int64_t n, int64_t i, int32_t *col)
{
    for (int k = 0; k < 9; k++)
        col[k] = (int32_t)((double)n * uniform(i / 3, k));
    return 9;
}

/* Columns 16 bits apart in some rows beside others where they are not. */
static int some_far_row(int64_t n, int64_t i, int32_t *col)
{
    const int64_t j = 50 * i;
    const bool far = i % 100 < 50 && i > 10;
    int count = 0;
    if (far) col[count++] = (int32_t)(i % 97);
    col[count++] = (int32_t)j;
    if (far && j + 70000 < n) col[count++] = (int32_t)(j + 65536 + i % 3000);
    return count;
}

/* --- patterns of any size */

static int runs_row(int64_t n, int64_t i, int32_t *col)
{
    static const int64_t away[] = {-21, -20, -1, 0, 1, 20, 21};
    int count = 0;
    for (size_t k = 0; k < sizeof away / sizeof *away; k++)
        if (i + away[k] >= 0 && i + away[k] < n)
            col[count++] = (int32_t)(i + away[k]);
    return count;
}
static int scattered_row(int64_t n, int64_t i, int32_t *col)
{
    const int count = 1 + (int)((double)n / 25.0 * uniform(i, 0));
    col[0] = (int32_t)i;
    for (int k = 1; k < count; k++)
        col[k] = (int32_t)((double)n * uniform(i, k));
    return count;
}
static int cross_row(int64_t n, int64_t i, int32_t *col) /* an arrow inside */
{
    if (i == n / 3) return dense_row(n, i, col);
    col[0] = (int32_t)i;
    col[1] = 5;
    return n > 5 ? 2 : 1;
}
static int with_gaps_row(int64_t n, int64_t i, int32_t *col)
{
    return i % 3 ? scattered_row(n, i, col) : 0;
}
/* Eight long banded rows after four short ones: sorted by length they are a
 * run that does not start at a multiple of eight. */
static int late_run_row(int64_t n, int64_t i, int32_t *col)
{
    static const int64_t away[] = {0, 1, 2, -1, -3};
    const int most = i % 12 >= 4 ? 5 : 1;
    int count = 0;
    for (int k = 0; k < most; k++)
        if (i + away[k] >= 0 && i + away[k] < n)
            col[count++] = (int32_t)(i + away[k]);
    return count;
}
static int zipf_row(int64_t n, int64_t i, int32_t *col)
{
    const int count = 1 + (int)(8 * n / (8 + i * 7919 % n));
    col[0] = (int32_t)i;
    for (int k = 1; k < count; k++)
        col[k] = (int32_t)((double)n * uniform(i, k));
    return count;
}

/* Dense b x b blocks; some lack a few entries. */
static int block_row(int64_t n, int64_t i, int32_t *col, int b)
{
    const int64_t group = i / b, groups = n / b;
    const int blocks = 3 + (int)(group % 4);
    int count = 0;
    for (int k = 0; k < blocks; k++) {
        const int64_t g = (group + (k == 0 ? 0 : k * 17)) % groups;
        for (int j = 0; j < b; j++) {
            if (group % 9 == 1 && k == 1 && j == (int)(i % b)) continue;
            col[count++] = (int32_t)(b * g + j);
        }
    }
    return count;
}
static int block2_row(int64_t n, int64_t i, int32_t *col)
{
    return block_row(n, i, col, 2);
}
static int block3_row(int64_t n, int64_t i, int32_t *col)
{
    return block_row(n, i, col, 3);
}
static int block4_row(int64_t n, int64_t i, int32_t *col)
{
    return block_row(n, i, col, 4);
}
static int block5_row(int64_t n, int64_t i, int32_t *col)
{
    return block_row(n, i, col, 5);
}
static int block6_row(int64_t n, int64_t i, int32_t *col)
{
    return block_row(n, i, col, 6);
}

/* Sizes at which slices of 8 rows are begun, full, one and a bit, ... */
#define SIZES(name, row)                                                 \
    {name ", 1", row, 1, 1, 0}, {name ", 7", row, 7, 7, 0},              \
        {name ", 8", row, 8, 8, 0}, {name ", 9", row, 9, 9, 0},          \
        {name ", 63", row, 63, 63, 0}, {name ", 600", row, 600, 600, 0}, \
    {                                                                    \
        name ", 1501", row, 1501, 1501, 0                                \
    }
#define BLOCKS(name, row, b)                   \
    {name ", 7", row, 7 * b, 7 * b, b},        \
    {                                          \
        name ", 138", row, 138 * b, 138 * b, b \
    }

static const struct {
    const char *name;
    row_maker row;
    int64_t rows, cols;
    int block; /* bsell must take it */
} shapes[] = {
    {"no rows", no_row, 0, 0, 0},
    {"no entries", no_row, 17, 17, 0},
    {"1 x 1", diagonal_row, 1, 1, 0},
    {"a diagonal", diagonal_row, 777, 777, 0},
    {"empty rows", gaps_row, 1201, 1201, 0},
    {"a band", band_row, 1003, 1003, 0},
    {"a grid", grid_row, 13 * 13 * 7, 13 * 13 * 7, 0},
    {"irregular", irregular_row, 3001, 3001, 0},
    {"power law", power_row, 2500, 2500, 0},
    {"an arrow", arrow_row, 4001, 4001, 0},
    {"far columns", far_row, 1500, 200000, 0},
    {"dense", dense_row, 37, 37, 0},
    {"not square", wide_row, 500, 907, 0},
    {"some far columns", some_far_row, 4000, 200000, 0},
    {"blocks of 2", block2_row, 840, 840, 2},
    {"blocks of 3", block3_row, 1260, 1260, 3},
    {"blocks of 4", block4_row, 1680, 1680, 4},
    {"blocks of 5", block5_row, 2100, 2100, 5},
    {"blocks of 6", block6_row, 2520, 2520, 6},
    SIZES("runs", runs_row),
    SIZES("scattered", scattered_row),
    SIZES("a cross", cross_row),
    SIZES("with gaps", with_gaps_row),
    SIZES("late runs", late_run_row),
    SIZES("zipf", zipf_row),
    BLOCKS("blocks of 2", block2_row, 2),
    BLOCKS("blocks of 3", block3_row, 3),
    BLOCKS("blocks of 4", block4_row, 4),
    BLOCKS("blocks of 5", block5_row, 5),
    BLOCKS("blocks of 6", block6_row, 6),
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool is_sized(int shape)
{
    return strchr(shapes[shape].name, ',') != NULL;
}

static int shape_of(const char *name)
{
    for (int i = 0; i < SHAPES; i++)
        if (strcmp(shapes[i].name, name) == 0) return i;
    fail_msg("no shape %s", name);
    return -1;
}

typedef enum { ANY, FLOATS, TWO, TWENTY, HUNDRED, ZEROS, STORES } store;

static double value(store s, int64_t k)
{
    const double u = uniform(k, 77);
    switch (s) {
    case FLOATS: return (double)(float)(u - 0.5);
    case TWO: return u < 0.5 ? -1.0 : 0.1;
    case TWENTY: return floor(20.0 * u) / 10.0 - 1.0;
    case HUNDRED: return u < 0.01 ? -0.0 : floor(100.0 * u) / 7.0;
    case ZEROS: return u < 0.3 ? -0.0 : u < 0.6 ? 0.0 : u;
    case ANY:
    case STORES: break;
    }
    return u - 0.5;
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static tct_local make(int shape, store s)
{
    static int32_t col[4096];
    tct_local A = {.rows = shapes[shape].rows, .cols = shapes[shape].cols};
    int64_t most = 0;
    for (int64_t i = 0; i < A.rows; i++)
        most += shapes[shape].row(A.cols, i, col);
    A.ptr = tct_alloc((size_t)(A.rows + 1) * sizeof *A.ptr);
    A.col = tct_alloc((size_t)most * sizeof *A.col);
    A.val = tct_alloc((size_t)most * sizeof *A.val);
    int64_t at = 0;
    A.ptr[0] = 0;
    for (int64_t i = 0; i < A.rows; i++) {
        const int n = shapes[shape].row(A.cols, i, col);
        qsort(col, (size_t)n, sizeof *col, by_number);
        for (int k = 0; k < n; k++)
            if (k == 0 || col[k] != col[k - 1]) A.col[at++] = col[k];
        A.ptr[i + 1] = at;
    }
    for (int64_t k = 0; k < at; k++) A.val[k] = value(s, k);
    return A;
}

static tct_local copy_of(const tct_local *A)
{
    const size_t n = (size_t)A->ptr[A->rows];
    tct_local B = *A;
    B.ptr = tct_alloc((size_t)(A->rows + 1) * sizeof *B.ptr);
    B.col = tct_alloc(n * sizeof *B.col);
    B.val = tct_alloc(n * sizeof *B.val);
    memcpy(B.ptr, A->ptr, (size_t)(A->rows + 1) * sizeof *B.ptr);
    memcpy(B.col, A->col, n * sizeof *B.col);
    memcpy(B.val, A->val, n * sizeof *B.val);
    return B;
}

static void clear(tct_local *A)
{
    tct_free(A->ptr);
    tct_free(A->col);
    tct_free(A->val);
}

/* --- references ----------------------------------------------------------- */

static bool fuses(void)
{
#if defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
    return true;
#else
    return tct_isa_best() != TCT_ISA_BASE;
#endif
}

/* Row `i` in column order: the bits that every format must give. */
static double row_in_order(const tct_local *A, int64_t i, const double *x)
{
    const bool fused = fuses();
    double sum = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const double xk = x[A->col[k]];
        volatile double product = A->val[k] * xk; /* rounded by itself */
        sum = fused ? fma(A->val[k], xk, sum) : sum + product;
    }
    return sum;
}

static void assert_close(const tct_local *A, int64_t i, const double *x,
                         double y)
{
    long double sum = 0.0L, size = 0.0L;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const long double term = (long double)A->val[k] * x[A->col[k]];
        sum += term;
        size += fabsl(term);
    }
    const double terms = (double)(A->ptr[i + 1] - A->ptr[i]);
    assert_true(fabsl(sum - (long double)y) <= 1.2e-16L * terms * size);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static double *vector(int64_t n, int64_t seed)
{
    double *x = tct_alloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = uniform(i, seed) - 0.5;
    return x;
}

/* --- products ------------------------------------------------------------- */

static double last_dot; /* of the same matrix in another format, or NaN */

typedef void (*check)(const tct_format *f, const tct_local *A, tct_block *B);

/* Hand every shape, store, format, number of threads to `what`; those of many
 * sizes with one store. */
static void everywhere(check what, bool with_blocks)
{
    for (int shape = 0; shape < SHAPES; shape++)
        for (store s = ANY; s < (is_sized(shape) ? FLOATS : STORES); s++) {
            tct_local A = make(shape, s);
            last_dot = NAN;
            for (int f = 0; tct_format_at("host", f); f++)
                for (int threads = 1; threads <= TEAM_MOST;
                     threads += is_sized(shape) ? 1 : 2) {
                    const tct_format *format = tct_format_at("host", f);
                    const bool blocks =
                        strcmp(format->about.name, "bsell") == 0;
                    if (blocks && !with_blocks) continue;
                    tct_block *B = NULL;
                    const tacit_status status =
                        format->create(&A, team_of[threads], &B);
                    if (blocks && !shapes[shape].block &&
                        status == TACIT_UNSUPPORTED)
                        continue;
                    if (format == &tct_format_stencil) { /* test_stencil_rows */
                        assert_int_equal(status, TACIT_UNSUPPORTED);
                        continue;
                    }
                    assert_int_equal(status, TACIT_OK);
                    assert_int_equal(B->rows, A.rows);
                    assert_int_equal(B->nonzeros, A.ptr[A.rows]);
                    assert_true(B->stored >= B->nonzeros);
                    what(format, &A, B);
                    B->ops->destroy(B);
                }
            clear(&A);
        }
}

static void check_product(const tct_format *f, const tct_local *A, tct_block *B)
{
    double *x = vector(A->cols, 1), *y = vector(A->rows, 2);
    B->ops->multiply(B, x, y, NULL);
    for (int64_t i = 0; i < A->rows; i++) {
        assert_close(A, i, x, y[i]);
        if (!same_bits(y[i], row_in_order(A, i, x)))
            fail_msg("%s: row %lld differs", f->about.name, (long long)i);
    }
    tct_free(x);
    tct_free(y);
}

/* What a row does not multiply must not reach it: padding, neighbours. */
static void check_not_finite(const tct_format *f, const tct_local *A,
                             tct_block *B)
{
    if (A->cols == 0) return;
    double *x = vector(A->cols, 3), *y = vector(A->rows, 2);
    for (int64_t j = A->cols / 3; j < A->cols; j += 97)
        x[j] = j % 2 ? NAN : INFINITY;
    B->ops->multiply(B, x, y, NULL);
    for (int64_t i = 0; i < A->rows; i++) {
        const double want = row_in_order(A, i, x);
        if (isnan(want) ? !isnan(y[i]) : !same_bits(y[i], want))
            fail_msg("%s: row %lld is %g, not %g", f->about.name, (long long)i,
                     y[i], want);
    }
    tct_free(x);
    tct_free(y);
}

/* Each column of a block product is a product, in groups of 4, 2 and 1. */
static void check_block(const tct_format *f, const tct_local *A, tct_block *B)
{
    enum { COLUMNS = 11 };
    const int64_t in = A->cols + 3, out = A->rows + 5; /* strides */
    double *x = vector(COLUMNS * in, 4), *z = vector(A->rows, 7);
    for (int columns = 2; columns <= COLUMNS; columns += 3) {
        double *y = vector(COLUMNS * out, 6), *was = vector(COLUMNS * out, 6);
        const tct_panel X = tct_panel_of(x, in, columns),
                        Y = tct_panel_of(y, out, columns);
        B->ops->multiply_block(B, &X, &Y);
        for (int j = 0; j < COLUMNS; j++) {
            double *const want = was + j * out;
            if (j < columns) B->ops->multiply(B, x + j * in, want, NULL);
            if (memcmp(y + j * out, want, (size_t)out * sizeof *y) != 0)
                fail_msg("%s: column %d of %d", f->about.name, j, columns);
        }
        tct_free(y);
        tct_free(was);
    }
    tct_free(x);
    tct_free(z);
}

static void check_dot(const tct_format *f, const tct_local *A, tct_block *B)
{
    if (A->rows != A->cols) return;
    double *x = vector(A->cols, 8), *y = vector(A->rows, 9), dot = -1.0;
    B->ops->multiply(B, x, y, &dot);
    long double sum = 0.0L, size = 1e-300L;
    for (int64_t i = 0; i < A->rows; i++) {
        assert_true(same_bits(y[i], row_in_order(A, i, x)));
        sum += (long double)x[i] * y[i];
        size += fabsl((long double)x[i] * y[i]);
    }
    assert_true(fabsl(sum - (long double)dot) <= 1e-13L * size);
    for (int again = 0; again < 3; again++) {
        double other = -1.0;
        B->ops->multiply(B, x, y, &other);
        assert_true(same_bits(dot, other));
    }
    if (!isnan(last_dot) && !same_bits(dot, last_dot))
        fail_msg("%s: the dot differs from another format's", f->about.name);
    last_dot = dot;
    tct_free(x);
    tct_free(y);
}

/* Run a check on every instruction set that this machine has. */
static void on_every_isa(check what, bool with_blocks)
{
    static const char *const isa[] = {"base", "avx2", "avx512"};
    const tct_isa best = tct_isa_best();
    for (int i = 0; i <= (int)best; i++) {
        setenv("TACIT_ISA", isa[i], 1);
        everywhere(what, with_blocks);
    }
    unsetenv("TACIT_ISA");
}

static void products_are_exact(void **state)
{
    (void)state;
    on_every_isa(check_product, true);
}
static void padding_multiplies_nothing(void **state)
{
    (void)state;
    on_every_isa(check_not_finite, false); /* bsell fills its blocks */
}
static void a_pair_is_two_products(void **state)
{
    (void)state;
    on_every_isa(check_block, true);
}
static void dots_are_the_same_everywhere(void **state)
{
    (void)state;
    on_every_isa(check_dot, true);
}

/* --- the diagonal --------------------------------------------------------- */

static void check_diagonal(const tct_format *f, const tct_local *A,
                           tct_block *B)
{
    double *d = vector(A->rows, 4);
    f->diagonal(B, d);
    for (int64_t i = 0; i < A->rows; i++) {
        double there = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (A->col[k] == i) there = A->val[k];
        if (!same_bits(d[i], there))
            fail_msg("%s, row %lld: %g instead of %g", B->ops->name,
                     (long long)i, d[i], there);
    }
    tct_free(d);
}

static void every_format_tells_the_diagonal(void **state)
{
    (void)state;
    everywhere(check_diagonal, true);
}

/* --- new values ----------------------------------------------------------- */

static void check_refill(const tct_format *f, const tct_local *A, tct_block *B)
{
    tct_local other = copy_of(A);
    for (store s = ANY; s < STORES; s++) { /* each store into each */
        for (int64_t k = 0; k < A->ptr[A->rows]; k++)
            other.val[k] = value(s, k + 1000);
        assert_int_equal(f->refill(B, &other), TACIT_OK);
        check_product(f, &other, B);
        check_diagonal(f, &other, B);
    }
    clear(&other);
}

static void new_values_are_used(void **state)
{
    (void)state;
    everywhere(check_refill, true);
}

/* --- another pattern ------------------------------------------------------ */

/* Does row `row` of `A` have an entry in columns [from, to)? */
static bool has_entry(const tct_local *A, int64_t row, int64_t from, int64_t to)
{
    for (int64_t k = A->ptr[row]; k < A->ptr[row + 1]; k++)
        if (A->col[k] >= from && A->col[k] < to) return true;
    return false;
}

/* `where` names an entry that only one of them has, or a block of 2 to 6 rows
 * that only A, which was stored, has. */
static void assert_difference(const tct_local *was, const tct_local *is,
                              tct_difference where)
{
    assert_true(where.row >= 0 && where.row < was->rows);
    const tct_local *with = where.missing ? was : is;
    const tct_local *without = where.missing ? is : was;
    if (!where.dense) {
        assert_true(has_entry(with, where.row, where.col, where.col + 1));
        assert_false(has_entry(without, where.row, where.col, where.col + 1));
        return;
    }
    int fitting = 0;
    for (int b = 2; b <= 6; b++) {
        bool before = false, now = false;
        if (where.row % b || where.col % b || was->rows % b) continue;
        for (int64_t i = where.row; i < where.row + b; i++) {
            before = before || has_entry(was, i, where.col, where.col + b);
            now = now || has_entry(is, i, where.col, where.col + b);
        }
        fitting += before && !now;
    }
    assert_true(where.missing && fitting > 0);
}

static void expect_difference(const tct_format *f, const tct_local *A,
                              tct_local *other, tct_block *B)
{
    tct_difference where = {.row = -1};
    char place[64];
    other->differs = &where;
    assert_int_equal(f->refill(B, other), TACIT_INVALID);
    other->differs = NULL;
    assert_difference(A, other, where);
    snprintf(place, sizeof place, "row %lld, column %lld",
             (long long)where.row + 1, (long long)where.col + 1);
    assert_non_null(strstr(tacit_error_message(), place));
}

/* The matrix without the last entry of `row`. */
static void remove_last(const tct_local *A, int64_t row, tct_local *out)
{
    *out = copy_of(A);
    const int64_t n = A->ptr[A->rows], gap = A->ptr[row + 1] - 1;
    for (int64_t k = gap; k + 1 < n; k++) {
        out->col[k] = A->col[k + 1];
        out->val[k] = A->val[k + 1];
    }
    for (int64_t i = row + 1; i <= A->rows; i++) out->ptr[i]--;
}

/* Another pattern is refused, naming an entry that differs, and the block stays
 * as it was. */
static void check_other_pattern(const tct_format *f, const tct_local *A,
                                tct_block *B)
{
    const bool blocks = strcmp(f->about.name, "bsell") == 0;
    int tried = 0;
    for (int64_t row = 0; row < A->rows; row += 1 + A->rows / 40) {
        const int64_t last = A->ptr[row + 1] - 1;
        if (last < A->ptr[row]) continue;
        tct_local other;
        if (!blocks) { /* a block without one of its entries is stored alike */
            remove_last(A, row, &other);
            expect_difference(f, A, &other, B);
            clear(&other);
            tried++;
        }
        if (A->col[last] + 6 >= A->cols) continue;
        other = copy_of(A);
        other.col[last] += 6; /* another block, whatever its size */
        expect_difference(f, A, &other, B);
        clear(&other);
        tried++;
    }
    if (tried > 0) check_product(f, A, B);
}

static void another_pattern_is_refused(void **state)
{
    (void)state;
    everywhere(check_other_pattern, true);
}

/* --- memory --------------------------------------------------------------- */

static void owned_arrays_are_used_up(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int f = 0; tct_format_at("host", f); f++) {
            const size_t blocks = tct_memory_blocks();
            tct_local A = make(shape, ANY), B = copy_of(&A);
            B.owned = true;
            tct_block *block = NULL;
            const tacit_status status =
                tct_format_at("host", f)->create(&B, team_of[2], &block);
            clear(&B);
            if (status == TACIT_OK) {
                check_product(tct_format_at("host", f), &A, block);
                block->ops->destroy(block);
            } else {
                assert_int_equal(status, TACIT_UNSUPPORTED);
                if (tct_format_at("host", f) != &tct_format_stencil)
                    assert_int_equal(shapes[shape].block, 0);
            }
            clear(&A);
            assert_int_equal(tct_memory_blocks(), blocks);
        }
}

/* Each allocation fails once; nothing is lost. */
static void no_memory_is_survived(void **state)
{
    (void)state;
    tct_local A = make(shape_of("an arrow"), ANY),
              C = make(shape_of("blocks of 3"), ANY);
    for (int f = 0; tct_format_at("host", f); f++) {
        const tct_format *format = tct_format_at("host", f);
        if (format == &tct_format_stencil) continue;
        tct_local *M = strcmp(format->about.name, "bsell") == 0 ? &C : &A;
        const size_t blocks = tct_memory_blocks();
        tacit_status status = TACIT_NO_MEMORY;
        for (long k = 1; status != TACIT_OK; k++) {
            tct_block *B = NULL;
            tct_memory_fail_at(k);
            status = format->create(M, team_of[2], &B);
            tct_memory_fail_at(0);
            if (status == TACIT_OK) B->ops->destroy(B);
            assert_int_equal(tct_memory_blocks(), blocks);
            assert_true(k < 100);
        }
    }
    clear(&A);
    clear(&C);
}

/* --- choice --------------------------------------------------------------- */

static void the_choice_is_explained(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        const size_t blocks = tct_memory_blocks();
        tct_local A = make(shape, ANY);
        tacit_trial trials[TCT_TRIALS_MOST];
        int count = -1;
        const tct_format *f = tct_format_choose(&A, team_of[2], trials, &count);
        assert_non_null(f);
        bool found = A.ptr[A.rows] == 0;
        for (int i = 0; i < count; i++) {
            assert_true(trials[i].seconds > 0.0 || trials[i].reason != NULL);
            assert_true(trials[i].bytes >= 0.0 || trials[i].reason != NULL);
            found = found || (strcmp(trials[i].format, f->about.name) == 0 &&
                              trials[i].bytes >= 0.0);
        }
        assert_true(found);
        clear(&A);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
}

static void bytes_are_those_of_the_block(void **state)
{
    (void)state;
    for (int shape = 3; shape < SHAPES; shape++)
        for (int f = 0; tct_format_at("host", f); f++) {
            tct_local A = make(shape, TWO);
            const char *reason = NULL;
            const double bytes = tct_format_at("host", f)->bytes(&A, &reason);
            tct_block *B = NULL;
            const tacit_status status =
                tct_format_at("host", f)->create(&A, NULL, &B);
            if (bytes < 0.0) {
                assert_non_null(reason);
                assert_int_equal(status, TACIT_UNSUPPORTED);
            } else {
                assert_int_equal(status, TACIT_OK);
                if (B->nonzeros > 0)
                    assert_true(fabs(bytes - B->matrix_bytes) <=
                                0.1 * B->matrix_bytes);
                B->ops->destroy(B);
            }
            clear(&A);
        }
}

/* A block of doubles rounded to floats multiplies what has been rounded, and
 * tells its diagonal; and it is smaller. Other stores have nothing to round. */
static void check_rounded(const tct_format *f, const tct_local *A, tct_block *B)
{
    tct_block *R = NULL;
    const bool doubles =
        B->ops->rounded && ((const tct_slices *)(void *)B)->kind == VALUE_F64;
    assert_int_equal(B->ops->rounded != NULL, f != &tct_format_csr);
    if (!B->ops->rounded) return;
    const tacit_status status = B->ops->rounded(B, NULL, &R);
    assert_int_equal(status, doubles ? TACIT_OK : TACIT_UNSUPPORTED);
    if (!doubles) return;
    tct_local C = copy_of(A);
    for (int64_t k = 0; k < A->ptr[A->rows]; k++)
        C.val[k] = tct_rounded(A->val[k]);
    check_product(f, &C, R);
    if (f == &tct_format_sell) check_not_finite(f, &C, R);
    check_block(f, &C, R);
    if (A->rows == A->cols) {
        double *want = vector(A->rows, 1), *have = vector(A->rows, 2);
        tct_local_diagonal(&C, want);
        f->diagonal(R, have);
        assert_memory_equal(want, have, (size_t)A->rows * sizeof *want);
        tct_free(want);
        tct_free(have);
    }
    assert_true(R->matrix_bytes < B->matrix_bytes || A->ptr[A->rows] == 0);
    assert_true(R->borrowed >= 0.0 && B->borrowed == 0.0);
    assert_true(B->matrix_bytes - R->matrix_bytes <=
                R->matrix_bytes - R->borrowed);
    assert_int_equal(R->stored, B->stored);
    R->ops->destroy(R);
    clear(&C);
    check_product(f, A, B); /* which has what it had */
}

static void doubles_are_rounded_where_they_are(void **state)
{
    (void)state;
    everywhere(check_rounded, true);
}

/* Of a value that is no float however it is rounded none is made; nor without
 * memory. */
static void what_is_no_float_is_not_rounded(void **state)
{
    (void)state;
    static const double no_float[] = {1e39, -1e-46};
    enum { COUNT = sizeof no_float / sizeof *no_float };
    tct_local A = make(shape_of("irregular"), ANY);
    const double was = A.val[700];
    const size_t blocks = tct_memory_blocks();
    for (int k = 0; k < COUNT; k++) {
        tct_block *B = NULL, *R = NULL;
        A.val[700] = no_float[k];
        assert_int_equal(tct_format_sell.create(&A, team_of[2], &B), TACIT_OK);
        assert_int_equal(B->ops->rounded(B, NULL, &R), TACIT_UNSUPPORTED);
        assert_null(R);
        B->ops->destroy(B);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    A.val[700] = was;
    tct_block *B = NULL, *R = NULL;
    assert_int_equal(tct_format_sell.create(&A, team_of[2], &B), TACIT_OK);
    const size_t with = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    for (long k = 1; status == TACIT_NO_MEMORY; k++) {
        tct_memory_fail_at(k);
        status = B->ops->rounded(B, NULL, &R);
        tct_memory_fail_at(0);
        if (status < 0) assert_int_equal(tct_memory_blocks(), with);
        assert_true(k < 10);
    }
    assert_int_equal(status, TACIT_OK);
    R->ops->destroy(R);
    B->ops->destroy(B);
    assert_int_equal(tct_memory_blocks(), blocks);
    clear(&A);
}

/* Each device has formats, all of its kind and none of another. */
static void formats_are_those_of_a_kind(void **state)
{
    (void)state;
    for (int i = 0; tacit_device_at(i); i++) {
        const char *device = tacit_device_at(i)->name;
        if (tacit_device_at(i)->reason) continue;
        assert_non_null(tct_format_at(device, 0));
        for (int f = 0; tct_format_at(device, f); f++)
            assert_int_equal(tct_format_at(device, f)->kind,
                             tct_kind_of(device));
    }
    assert_int_equal(tct_device_host.kind, TCT_KIND_HOST);
}

/* Runs, floats and dictionaries are found where they are. */
static void small_stores_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        store s;
        double most; /* bytes per entry */
    } want[] = {{"a band", ANY, 9.5},     {"a band", FLOATS, 5.5},
                {"a band", TWO, 2.5},     {"a grid", TWO, 3.5},
                {"irregular", ANY, 12.0}, {"irregular", TWENTY, 5.0},
                {"runs, 1501", ANY, 9.6}, {"scattered, 1501", ANY, 11.0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        tct_local A = make(shape_of(want[i].shape), want[i].s);
        tct_block *B = NULL;
        assert_int_equal(tct_format_sell.create(&A, NULL, &B), TACIT_OK);
        const double each = B->matrix_bytes / (double)B->nonzeros;
        if (each > want[i].most)
            fail_msg("%s: %.2f bytes an entry", want[i].shape, each);
        B->ops->destroy(B);
        clear(&A);
    }
}

/* The smallest that loses nothing; minus zero is not zero. */
static void values_are_kept_without_loss(void **state)
{
    (void)state;
    static const value_kind expected[STORES] = {
        [ANY] = VALUE_F64,       [FLOATS] = VALUE_F32,   [TWO] = VALUE_DICT16,
        [TWENTY] = VALUE_DICT32, [HUNDRED] = VALUE_DICT, [ZEROS] = VALUE_F64,
    };
    for (store s = ANY; s < STORES; s++) {
        tct_local A = make(shape_of("runs, 1501"), s);
        tct_block *B = NULL;
        assert_int_equal(tct_format_sell.create(&A, NULL, &B), TACIT_OK);
        assert_int_equal(((tct_slices *)(void *)B)->kind, expected[s]);
        B->ops->destroy(B);
        clear(&A);
    }
}

static void one_long_row_costs_no_padding_for_all(void **state)
{
    (void)state;
    tct_local A = make(shape_of("a cross, 1501"), ANY);
    tct_block *B = NULL;
    assert_int_equal(tct_format_sell.create(&A, NULL, &B), TACIT_OK);
    assert_true((double)B->stored < 1.1 * (double)B->nonzeros);
    B->ops->destroy(B);
    clear(&A);
}

static void the_choice_is_the_fastest(void **state)
{
    (void)state;
    static const char *const names[] = {"blocks of 3, 7", "blocks of 3, 138",
                                        "blocks of 3"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        tct_local A = make(shape_of(names[n]), ANY);
        tacit_trial trials[TCT_TRIALS_MOST];
        int count = 0;
        const tct_format *best = tct_format_choose(&A, NULL, trials, &count);
        assert_non_null(best);
        assert_int_equal(count, 4);
        double least = 1e30, chosen = 1e30;
        for (int i = 0; i < count; i++) {
            if (trials[i].bytes < 0) continue;
            if (trials[i].seconds < least) least = trials[i].seconds;
            if (strcmp(trials[i].format, best->about.name) == 0)
                chosen = trials[i].seconds;
        }
        assert_true(chosen == least);
        clear(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_exact),
        cmocka_unit_test(padding_multiplies_nothing),
        cmocka_unit_test(a_pair_is_two_products),
        cmocka_unit_test(dots_are_the_same_everywhere),
        cmocka_unit_test(new_values_are_used),
        cmocka_unit_test(every_format_tells_the_diagonal),
        cmocka_unit_test(another_pattern_is_refused),
        cmocka_unit_test(owned_arrays_are_used_up),
        cmocka_unit_test(no_memory_is_survived),
        cmocka_unit_test(the_choice_is_explained),
        cmocka_unit_test(bytes_are_those_of_the_block),
        cmocka_unit_test(doubles_are_rounded_where_they_are),
        cmocka_unit_test(what_is_no_float_is_not_rounded),
        cmocka_unit_test(formats_are_those_of_a_kind),
        cmocka_unit_test(small_stores_are_found),
        cmocka_unit_test(values_are_kept_without_loss),
        cmocka_unit_test(one_long_row_costs_no_padding_for_all),
        cmocka_unit_test(the_choice_is_the_fastest),
    };
    return cmocka_run_group_tests(tests, open_teams, close_teams);
}
