/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_formats.c - every format on awkward matrices: right to rounding
 * against long double, and the same bits as every other format and number of
 * threads. */
#include "operator/slices.h"
#include "teams.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four headers above it */
#include <cmocka.h>

/* --- matrices ------------------------------------------------------------------ */

typedef enum { DOUBLES, FLOATS, FEW, SOME, ZEROS, VALUES } value_sort;

static double value_of(value_sort sort, int64_t i, int64_t j)
{
    const double u = tct_uniform((uint64_t)i + 11, (uint64_t)j);
    switch (sort) {
    case FLOATS: return (double)(float)(u - 0.5);
    case FEW: return (double)(int)(u * 13) - 6;
    case SOME: return 0.1 * (double)(int)(u * 200);
    case ZEROS: return u < 0.3 ? -0.0 : u < 0.6 ? 0.0 : u;
    case DOUBLES:
    case VALUES: break;
    }
    return u - 0.5;
}

/* Is (i, j) an entry? One function per pattern. */
typedef bool (*pattern)(int64_t i, int64_t j, int64_t n);

static bool banded(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    const int64_t d = llabs(i - j);
    return d <= 1 || d == 20 || d == 21;
}

static bool scattered(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return i == j || tct_uniform((uint64_t)i, (uint64_t)j) < 0.02;
}

static bool arrow(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return i == j || i == n / 3 || j == 5;
}

static bool with_gaps(int64_t i, int64_t j, int64_t n)
{
    return i % 3 != 0 && scattered(i, j, n);
}

/* Eight long banded rows after four short ones: sorted by length they are a
 * run that does not start at a multiple of eight. */
static bool late_run(int64_t i, int64_t j, int64_t n)
{
    const int64_t d = j - i;
    (void)n;
    return d == 0 || (i % 12 >= 4 && (d == 1 || d == 2 || d == -1 || d == -3));
}

static bool power_law(int64_t i, int64_t j, int64_t n)
{
    return i == j || tct_uniform((uint64_t)i, (uint64_t)j) <
                         8.0 / (double)(1 + (i * 7919) % n);
}

static bool blocks(int64_t i, int64_t j, int64_t b)
{
    return llabs(i / b - j / b) <= 1 ||
           tct_uniform((uint64_t)(i / b), (uint64_t)(j / b)) < 0.03;
}
static bool blocks2(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return blocks(i, j, 2);
}
static bool blocks3(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return blocks(i, j, 3) && !(i % 3 == 1 && j % 9 == 2); /* not quite full */
}
static bool blocks4(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return blocks(i, j, 4);
}
static bool blocks5(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return blocks(i, j, 5);
}
static bool blocks6(int64_t i, int64_t j, int64_t n)
{
    (void)n;
    return blocks(i, j, 6);
}

static tct_local make(pattern has, int64_t n, value_sort sort)
{
    tct_local A = {.rows = n, .cols = n};
    int64_t count = 0;
    A.ptr = tct_alloc((size_t)(n + 1) * sizeof *A.ptr);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) count += has(i, j, n);
    A.col = tct_alloc((size_t)count * sizeof *A.col);
    A.val = tct_alloc((size_t)count * sizeof *A.val);
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        A.ptr[i] = k;
        for (int64_t j = 0; j < n; j++)
            if (has(i, j, n)) {
                A.col[k] = (int32_t)j;
                A.val[k++] = value_of(sort, i, j);
            }
    }
    A.ptr[n] = k;
    return A;
}

static tct_local copy_of(const tct_local *A)
{
    tct_local B = *A;
    const int64_t k = A->ptr[A->rows];
    B.ptr = tct_alloc((size_t)(A->rows + 1) * sizeof *B.ptr);
    B.col = tct_alloc((size_t)k * sizeof *B.col);
    B.val = tct_alloc((size_t)k * sizeof *B.val);
    memcpy(B.ptr, A->ptr, (size_t)(A->rows + 1) * sizeof *B.ptr);
    memcpy(B.col, A->col, (size_t)k * sizeof *B.col);
    memcpy(B.val, A->val, (size_t)k * sizeof *B.val);
    B.owned = true;
    return B;
}

static void clear(tct_local *A)
{
    tct_free(A->ptr);
    tct_free(A->col);
    tct_free(A->val);
}

/* --- checks ------------------------------------------------------------------------ */

static double *vector(int64_t n, uint64_t seed)
{
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = tct_uniform(seed, (uint64_t)i) - 0.5;
    return x;
}

static void assert_right(const tct_local *A, const double *x, const double *y)
{
    for (int64_t i = 0; i < A->rows; i++) {
        long double sum = 0, size = 0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const long double t = (long double)A->val[k] * x[A->col[k]];
            sum += t;
            size += fabsl(t);
        }
        if (!(fabsl(y[i] - sum) <= 1e-14L * size))
            fail_msg("row %lld of %lld: %.17g, expected %.17Lg", (long long)i,
                     (long long)A->rows, y[i], sum);
    }
}

typedef struct { /* what the first format gave; the others must repeat it */
    double *y, dot;
    bool set;
} reference;

static void check_block(const tct_block *B, const tct_local *A, reference *ref)
{
    const int64_t n = A->rows;
    const size_t bytes = (size_t)n * sizeof(double);
    double *x = vector(n, 1), *z = vector(n, 2);
    double *y = vector(n, 3), *p = vector(n, 4), *q = vector(n, 5);
    double dot = NAN, again = NAN;
    for (int64_t i = 0; i < n; i++) y[i] = p[i] = q[i] = NAN;
    B->ops->multiply(B, x, y, &dot);
    assert_right(A, x, y);
    if (!ref->set) {
        *ref = (reference){.y = malloc(bytes + 1), .dot = dot, .set = true};
        memcpy(ref->y, y, bytes);
    }
    assert_memory_equal(y, ref->y, bytes);
    assert_memory_equal(&dot, &ref->dot, sizeof dot);
    B->ops->multiply(B, x, y, &again);
    assert_memory_equal(&dot, &again, sizeof dot);
    B->ops->multiply_pair(B, z, p, x, q);
    assert_memory_equal(q, ref->y, bytes);
    assert_right(A, z, p);
    free(x);
    free(z);
    free(y);
    free(p);
    free(q);
}

static void check_refill(tct_block *B, const tct_format *format,
                         const tct_local *A)
{
    tct_local other = copy_of(A);
    const int64_t k = A->ptr[A->rows];
    for (int64_t i = 0; i < k; i++) other.val[i] = 1.0 / (double)(i + 3);
    assert_int_equal(format->refill(B, &other), TACIT_OK);
    double *x = vector(A->rows, 9), *y = vector(A->rows, 8);
    B->ops->multiply(B, x, y, NULL);
    assert_right(&other, x, y);
    if (k > 0 && other.col[k - 1] > 0 &&
        (k == 1 || other.col[k - 2] != other.col[k - 1] - 1 ||
         other.ptr[A->rows - 1] == k - 1)) {
        other.col[k - 1]--; /* another pattern */
        assert_int_equal(format->refill(B, &other), TACIT_INVALID);
    }
    free(x);
    free(y);
    clear(&other);
}

static int check_formats(const tct_local *A)
{
    reference ref = {0};
    int built = 0;
    for (int f = 0; tct_formats("host")[f]; f++)
        for (int threads = 1; threads <= TEAM_MOST; threads++) {
            const tct_format *format = tct_formats("host")[f];
            tct_local source = copy_of(A);
            tct_block *B = NULL;
            const tacit_status status =
                format->create(&source, team_of[threads], &B);
            clear(&source);
            if (status == TACIT_UNSUPPORTED) continue;
            assert_int_equal(status, TACIT_OK);
            assert_true(B->nonzeros == A->ptr[A->rows]);
            assert_true(B->stored >= B->nonzeros);
            check_block(B, A, &ref);
            check_refill(B, format, A);
            B->ops->destroy(B);
            built++;
        }
    free(ref.y);
    return built;
}

/* --- tests --------------------------------------------------------------------------- */

static void awkward_patterns_in_every_format(void **state)
{
    (void)state;
    static const pattern patterns[] = {banded,    scattered, arrow,
                                       with_gaps, late_run,  power_law};
    static const int64_t sizes[] = {1, 7, 8, 9, 63, 600, 1501};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            tct_local A = make(patterns[p], sizes[s], DOUBLES);
            assert_true(check_formats(&A) >= 2 * TEAM_MOST);
            clear(&A);
        }
}

static void blocks_of_every_size(void **state)
{
    (void)state;
    static const pattern patterns[] = {blocks2, blocks3, blocks4, blocks5,
                                       blocks6};
    for (int p = 0; p < 5; p++)
        for (int64_t groups = 7; groups < 300; groups += 131) {
            tct_local A = make(patterns[p], groups * (p + 2), DOUBLES);
            assert_true(check_formats(&A) == 3 * TEAM_MOST);
            clear(&A);
        }
}

static void values_are_kept_without_loss(void **state)
{
    (void)state;
    static const value_kind expected[VALUES] = {
        [DOUBLES] = VALUE_F64, [FLOATS] = VALUE_F32, [FEW] = VALUE_DICT16,
        [SOME] = VALUE_DICT,   [ZEROS] = VALUE_F64,
    };
    for (value_sort sort = DOUBLES; sort < VALUES; sort++) {
        tct_local A = make(banded, 1000, sort), B = make(blocks3, 900, sort);
        check_formats(&A);
        check_formats(&B);
        tct_block *block = NULL;
        assert_int_equal(tct_format_sell.create(&A, NULL, &block), TACIT_OK);
        assert_int_equal(((tct_slices *)(void *)block)->kind, expected[sort]);
        block->ops->destroy(block);
        clear(&A);
        clear(&B);
    }
}

/* Columns too far apart for 16 bits, beside rows that are not. */
static void wide_slices_keep_their_columns(void **state)
{
    (void)state;
    const int64_t n = 200000;
    tct_local A = {.rows = n, .cols = n};
    A.ptr = tct_alloc((size_t)(n + 1) * sizeof *A.ptr);
    A.col = tct_alloc((size_t)(3 * n) * sizeof *A.col);
    A.val = tct_alloc((size_t)(3 * n) * sizeof *A.val);
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        A.ptr[i] = k;
        if (i % 1000 < 500 && i > 100) A.col[k++] = (int32_t)(i % 97);
        A.col[k++] = (int32_t)i;
        if (i < n - 70000 && i % 1000 < 500)
            A.col[k++] = (int32_t)(i + 65536 + i % 3000);
    }
    A.ptr[n] = k;
    for (int64_t i = 0; i < k; i++) A.val[i] = value_of(DOUBLES, i, 1);
    check_formats(&A);
    clear(&A);
}

static void runs_and_offsets_are_found(void **state)
{
    (void)state;
    tct_local A = make(banded, 2000, DOUBLES),
              B = make(scattered, 2000, DOUBLES);
    tct_block *runs = NULL, *near = NULL;
    assert_int_equal(tct_format_sell.create(&A, NULL, &runs), TACIT_OK);
    assert_int_equal(tct_format_sell.create(&B, NULL, &near), TACIT_OK);
    /* 8 bytes a value and half a byte of index; 2 bytes of index */
    assert_true(runs->matrix_bytes < 9.6 * (double)runs->nonzeros);
    assert_true(near->matrix_bytes < 11.0 * (double)near->nonzeros);
    runs->ops->destroy(runs);
    near->ops->destroy(near);
    clear(&A);
    clear(&B);
}

static void one_long_row_costs_no_padding_for_all(void **state)
{
    (void)state;
    tct_local A = make(arrow, 3000, DOUBLES);
    tct_block *B = NULL;
    assert_int_equal(tct_format_sell.create(&A, NULL, &B), TACIT_OK);
    assert_true((double)B->stored < 1.1 * (double)B->nonzeros);
    B->ops->destroy(B);
    clear(&A);
}

static void the_choice_is_one_of_the_formats(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 2500; n += 1200) {
        tct_local A = make(blocks3, 3 * (n / 3 + 1), DOUBLES);
        tct_trial trials[TCT_TRIALS_MOST];
        int count = 0;
        const tct_format *best = tct_format_choose(&A, NULL, trials, &count);
        assert_non_null(best);
        assert_int_equal(count, 3);
        double least = 1e30, chosen = 1e30;
        for (int i = 0; i < count; i++) {
            if (trials[i].bytes < 0) continue;
            if (trials[i].seconds < least) least = trials[i].seconds;
            if (strcmp(trials[i].format, best->name) == 0)
                chosen = trials[i].seconds;
        }
        assert_true(chosen == least);
        clear(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(awkward_patterns_in_every_format),
        cmocka_unit_test(blocks_of_every_size),
        cmocka_unit_test(values_are_kept_without_loss),
        cmocka_unit_test(wide_slices_keep_their_columns),
        cmocka_unit_test(runs_and_offsets_are_found),
        cmocka_unit_test(one_long_row_costs_no_padding_for_all),
        cmocka_unit_test(the_choice_is_one_of_the_formats),
    };
    return cmocka_run_group_tests(tests, open_teams, close_teams);
}
