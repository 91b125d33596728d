/* SPDX-License-Identifier: BSD-3-Clause
 * tests/panels.h - tests of panel operations for every device: against dgemm of
 * a BLAS, their bits, on several ranks, and block products against single ones.
 * test_panels.c runs them on the host, test_gpu_panels.c on a GPU. */
#ifndef TESTS_PANELS_H
#define TESTS_PANELS_H
#include "comm/world/world.h"
#include "gpu.h"
#include <float.h>

enum { PANEL_MOST = TCT_COLUMNS_MOST };

#if TCT_HAVE_BLAS
void dgemm_(const char *transpose_a, const char *transpose_b, const int *m,
            const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *b, const int *ldb, const double *beta,
            double *c, const int *ldc);

/* C = C + alpha op(A) B, m x n, `inner` products an entry; and the same of the
 * absolute values, for the rounding that is allowed. */
static void reference(bool transpose, int m, int n, int inner, double alpha,
                      const double *A, int lda, const double *B, int ldb,
                      double *C, int ldc)
{
    static const double one = 1.0;
    const int a = lda > 1 ? lda : 1, b = ldb > 1 ? ldb : 1;
    const int c = ldc > 1 ? ldc : 1;
    dgemm_(transpose ? "T" : "N", "N", &m, &n, &inner, &alpha, A, &a, B, &b,
           &one, C, &c);
}
#endif

/* --- shapes --------------------------------------------------------------- */

typedef struct {
    int n, k, m, gap; /* rows, columns of one and the other, between columns */
} shape;

static const shape shapes[] = {
    {0, 1, 1, 0},      {0, 5, 3, 4},      {1, 1, 1, 0},     {1, 32, 32, 1},
    {7, 3, 2, 0},      {33, 1, 32, 3},    {513, 32, 1, 0},  {1001, 5, 7, 5},
    {4096, 4, 4, 0},   {5003, 17, 31, 2}, {60001, 8, 8, 1}, {60001, 32, 32, 0},
    {200003, 2, 3, 0}, {150000, 1, 1, 0}, {20000, 31, 2, 7}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Panels Z [k] and W [m] on host and device, and a small matrix. */
typedef struct {
    shape s;
    size_t lead, small;
    double *z, *w, *c;
    tct_panel Z, W;
    double *C;
} panels;

static panels open_panels(tacit_queue *q, shape s, int seed)
{
    panels p = {.s = s, .lead = (size_t)(s.n + s.gap)};
    p.small = (size_t)(s.k * s.m);
    p.z = random_vector(p.lead * (size_t)s.k, seed);
    p.w = random_vector(p.lead * (size_t)s.m, seed + 1);
    p.c = random_vector(p.small, seed + 2);
    const ptrdiff_t lead = (ptrdiff_t)p.lead;
    p.Z = tct_panel_of(device_vector(q, p.lead * (size_t)s.k, p.z), lead, s.k);
    p.W = tct_panel_of(device_vector(q, p.lead * (size_t)s.m, p.w), lead, s.m);
    p.C = device_vector(q, p.small, p.c);
    return p;
}

static void close_panels(tacit_queue *q, panels *p)
{
    free(p->z);
    free(p->w);
    free(p->c);
    tacit_queue_free(q, &p->Z.at);
    tacit_queue_free(q, &p->W.at);
    tacit_queue_free(q, &p->C);
}

static tacit_queue *queue_of(const char *spec, int threads)
{
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), spec, threads, &q));
    return q;
}

/* Z' W of these panels, in new memory of the host. */
static double *gram(tacit_queue *q, const panels *p)
{
    double *G = poisoned_vector(q, p->small);
    q_gram(q, (size_t)p->s.n, p->Z, p->W, G);
    OK(q_status(q));
    double *host = host_copy(q, p->small, G);
    tacit_queue_free(q, &G);
    return host;
}

/* --- in place ------------------------------------------------------------- */

/* Is `got` column `j` of X C, times `sign` and added to `before` (NULL: 0)? */
static void is_mixed(const panels *p, int j, double sign, const double *before,
                     const double *got)
{
    const double *c = p->c + j * p->s.k;
    for (size_t i = 0; i < (size_t)p->s.n; i++) {
        double want = before ? before[i] : 0.0, size = fabs(want);
        for (size_t a = 0; a < (size_t)p->s.k; a++) {
            want += sign * p->z[a * p->lead + i] * c[a];
            size += fabs(p->z[a * p->lead + i] * c[a]);
        }
        if (!(fabs(got[i] - want) <= (p->s.k + 2) * DBL_EPSILON * size))
            fail_msg("mix of %d rows, %d columns, column %d: entry %zu is "
                     "%.17g, not %.17g",
                     p->s.n, p->s.k, j, i, got[i], want);
    }
}

/* A panel is updated in place, and a vector with it, or both are left alone. */
static void mix_is_a_product_in_place(void **state)
{
    (void)state;
    tacit_queue *q = queue_of(TEST_DEVICE, 2);
    for (int i = 0; i < SHAPES; i++) {
        const shape s = shapes[i];
        const int m = s.m - 1; /* the last column is for y */
        if (m < 1 || m > s.k) continue;
        panels p = open_panels(q, s, 7 * i);
        const size_t all = p.lead * (size_t)s.k;
        for (int hold = 1; hold >= 0; hold--) {
            const double sign = i % 2 ? -1.0 : 1.0, flag = hold;
            double *held = device_vector(q, 1, &flag);
            q_mix(q, (size_t)s.n, sign, p.Z, m, p.C, p.W.at, held);
            OK(q_status(q));
            double *X = host_copy(q, all, p.Z.at);
            double *y = host_copy(q, p.lead, p.W.at);
            if (hold) assert_true(same_bits(X, p.z, all));
            if (hold) assert_true(same_bits(y, p.w, p.lead));
            for (int j = 0; j < m && !hold; j++)
                is_mixed(&p, j, 1.0, NULL, X + (size_t)j * p.lead);
            if (!hold) is_mixed(&p, m, sign, p.w, y);
            const size_t rest = (size_t)m * p.lead;
            assert_true(same_bits(X + rest, p.z + rest, all - rest));
            free(X);
            free(y);
            tacit_queue_free(q, &held);
        }
        close_panels(q, &p);
    }
    tacit_queue_destroy(&q);
}

/* --- against BLAS --------------------------------------------------------- */

#if TCT_HAVE_BLAS
static void absolute(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = fabs(x[i]);
}

static void near(shape s, const char *what, size_t n, const double *got,
                 const double *wanted, const double *size, int steps)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - wanted[i]) <= (steps + 2) * DBL_EPSILON * size[i]))
            fail_msg("%s of %d rows, %d and %d columns: entry %zu is %.17g, "
                     "not %.17g",
                     what, s.n, s.k, s.m, i, got[i], wanted[i]);
}

static void gram_is_dgemm(void **state)
{
    (void)state;
    tacit_queue *q = queue_of(TEST_DEVICE, 2);
    for (int i = 0; i < SHAPES; i++) {
        const shape s = shapes[i];
        panels p = open_panels(q, s, 7 * i);
        const int lead = (int)p.lead;
        double *G = gram(q, &p);
        double *want = host_vector(p.small, 0.0);
        double *size = host_vector(p.small, 0.0);
        reference(true, s.k, s.m, s.n, 1.0, p.z, lead, p.w, lead, want, s.k);
        absolute(p.lead * (size_t)s.k, p.z);
        absolute(p.lead * (size_t)s.m, p.w);
        reference(true, s.k, s.m, s.n, 1.0, p.z, lead, p.w, lead, size, s.k);
        near(s, "gram", p.small, G, want, size, s.n);
        free(G);
        free(want);
        free(size);
        close_panels(q, &p);
    }
    tacit_queue_destroy(&q);
}

static void combine_is_dgemm(void **state)
{
    (void)state;
    tacit_queue *q = queue_of(TEST_DEVICE, 2);
    for (int i = 0; i < 2 * SHAPES; i++) {
        const shape s = shapes[i / 2];
        const double sign = i % 2 ? -1.0 : 1.0;
        panels p = open_panels(q, s, 7 * i);
        const int lead = (int)p.lead;
        const size_t all = p.lead * (size_t)s.m;
        q_combine(q, (size_t)s.n, sign, p.Z, p.C, p.W);
        OK(q_status(q));
        double *Y = host_copy(q, all, p.W.at), *size = host_vector(all, 0.0);
        memcpy(size, p.w, all * sizeof *size);
        reference(false, s.n, s.m, s.k, sign, p.z, lead, p.c, s.k, p.w, lead);
        absolute(p.lead * (size_t)s.k, p.z);
        absolute(p.small, p.c);
        absolute(all, size);
        reference(false, s.n, s.m, s.k, 1.0, p.z, lead, p.c, s.k, size, lead);
        for (int j = 0; j < s.m; j++) { /* and nothing between the columns */
            const size_t gap = (size_t)j * p.lead + (size_t)s.n;
            assert_true(same_bits(Y + gap, p.w + gap, (size_t)s.gap));
        }
        near(s, "combine", all, Y, p.w, size, s.k);
        free(Y);
        free(size);
        close_panels(q, &p);
    }
    tacit_queue_destroy(&q);
}

/* Row `i` of all ranks: the same whoever makes it. */
static double element_at(int64_t i, int j)
{
    return 2.0 * tct_uniform(99 + (uint64_t)j, (uint64_t)i) - 1.0;
}

static double *slab(int64_t first, int64_t rows, int from, int columns)
{
    double *x = host_vector((size_t)(rows * columns), 0.0);
    for (int j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            x[j * rows + i] = element_at(first + i, from + j);
    return x;
}

static void same_on_all_ranks(size_t n, const double *x)
{
    int64_t *low = malloc(n * sizeof *low), *high = malloc(n * sizeof *high);
    assert_true(low && high);
    memcpy(low, x, n * sizeof *x);
    memcpy(high, x, n * sizeof *x);
    OK(tct_reduce_i64(test_world(), TCT_MIN, n, low));
    OK(tct_reduce_i64(test_world(), TCT_MAX, n, high));
    assert_memory_equal(low, high, n * sizeof *low);
    free(low);
    free(high);
}

/* The largest small matrix there is, summed as a whole, at once and apart. */
static void ranks_sum_a_gram(void **state)
{
    (void)state;
    enum { ROWS = 1501, K = PANEL_MOST, ALL = K * K };
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world()), total = size * ROWS;
    tacit_queue *q = queue_of(TEST_DEVICE, 1);
    double *z = slab(rank * ROWS, ROWS, 0, K),
           *w = slab(rank * ROWS, ROWS, K, K);
    double *x = device_vector(q, ROWS * K, z),
           *y = device_vector(q, ROWS * K, w);
    double *G = poisoned_vector(q, 2 * ALL);
    for (int i = 0; i < 2; i++)
        q_gram(q, ROWS, tct_panel_of(x, ROWS, K), tct_panel_of(y, ROWS, K),
               G + i * ALL);
    q_sum(q, ALL, G);
    q_sum_begin(q, ALL, G + ALL);
    q_sum_end(q, ALL, G + ALL);
    OK(q_status(q));
    double *got = host_copy(q, 2 * ALL, G);
    assert_true(same_bits(got, got + ALL, ALL));
    same_on_all_ranks(ALL, got);
    free(z);
    free(w);
    z = slab(0, total, 0, K);
    w = slab(0, total, K, K);
    double *want = host_vector(ALL, 0.0), *bound = host_vector(ALL, 0.0);
    reference(true, K, K, total, 1.0, z, total, w, total, want, K);
    absolute((size_t)total * K, z);
    absolute((size_t)total * K, w);
    reference(true, K, K, total, 1.0, z, total, w, total, bound, K);
    near((shape){total, K, K, 0}, "summed gram", ALL, got, want, bound, total);
    free(z);
    free(w);
    free(want);
    free(bound);
    free(got);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    tacit_queue_free(q, &G);
    tacit_queue_destroy(&q);
}
#else
static void skipped_without_blas(void **state)
{
    (void)state;
    print_message("skipped: no BLAS was found to compare with\n");
    skip();
}
#define gram_is_dgemm    skipped_without_blas
#define combine_is_dgemm skipped_without_blas
#define ranks_sum_a_gram skipped_without_blas
#endif

/* --- bits ----------------------------------------------------------------- */

static void sums_repeat_their_bits(void **state)
{
    (void)state;
    tacit_queue *q[] = {queue_of(TEST_DEVICE, 1), queue_of(TEST_DEVICE, 3)};
    for (int i = 0; i < SHAPES; i++) {
        double *first = NULL;
        for (int t = 0; t < 4; t++) {
            panels p = open_panels(q[t % 2], shapes[i], i);
            double *G = gram(q[t % 2], &p);
            if (!first) first = G;
            else assert_true(same_bits(first, G, p.small));
            if (G != first) free(G);
            close_panels(q[t % 2], &p);
        }
        free(first);
    }
    tacit_queue_destroy(&q[0]);
    tacit_queue_destroy(&q[1]);
}

/* Y + X C in one, and column by column. */
static void columns_have_bits_of_their_own(void **state)
{
    (void)state;
    tacit_queue *q[] = {queue_of(TEST_DEVICE, 1), queue_of(TEST_DEVICE, 3)};
    for (int i = 0; i < SHAPES; i++) {
        const shape s = shapes[i];
        panels p = open_panels(q[0], s, i), o = open_panels(q[1], s, i);
        const size_t n = (size_t)s.n, all = p.lead * (size_t)s.m;
        q_combine(q[0], n, -1.0, p.Z, p.C, p.W);
        for (int j = 0; j < s.m; j++)
            q_combine(q[1], n, -1.0, o.Z, o.C + j * s.k,
                      tct_columns(&o.W, j, 1));
        double *y = host_copy(q[0], all, p.W.at);
        double *alone = host_copy(q[1], all, o.W.at);
        assert_true(same_bits(y, alone, all));
        free(y);
        free(alone);
        close_panels(q[0], &p);
        close_panels(q[1], &o);
    }
    tacit_queue_destroy(&q[0]);
    tacit_queue_destroy(&q[1]);
}

/* --- block products ------------------------------------------------------- */

static void check_columns(tacit_operator *A, tacit_queue *q, int columns,
                          size_t gap, const char *what)
{
    const size_t n = (size_t)A->n, lead = n + gap;
    const size_t all = lead * (size_t)columns;
    double *host = random_vector(all, columns);
    double *x = device_vector(q, all, host);
    double *y = poisoned_vector(q, all), *z = poisoned_vector(q, all);
    const tct_panel X = tct_panel_of(x, (ptrdiff_t)lead, columns);
    const tct_panel Y = tct_panel_of(y, (ptrdiff_t)lead, columns);
    apply_block(A, q, X, Y);
    for (int j = 0; j < columns; j++)
        apply(A, q, tct_column(&X, j), z + (size_t)j * lead);
    OK(q_status(q));
    double *got = host_copy(q, all, y), *want = host_copy(q, all, z);
    if (!same_bits(got, want, all))
        fail_msg("%s: %d columns, %zu apart, are not so many products", what,
                 columns, lead);
    free(host);
    free(got);
    free(want);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    tacit_queue_free(q, &z);
}

static void blocks_are_products(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson3d:11", "elasticity3d:5",
                                        "tet3d:6,1", "poisson2d:9"};
    static const int columns[] = {1, 2, 3, 4,  5,  6,
                                  7, 8, 9, 16, 17, PANEL_MOST};
    enum { COUNTS = sizeof columns / sizeof *columns };
    static const int asked[] = {1, 5, PANEL_MOST}; /* at first 2 */
    tacit_queue *q = queue_of(TEST_DEVICE, 2);
    int formats = 0;
    for (int i = 0; i < 4; i++)
        for (int f = 0; tacit_format_at(TEST_DEVICE, f); f++) {
            const char *format = tacit_format_at(TEST_DEVICE, f)->name;
            tacit_matrix *m = gallery_matrix(names[i]);
            tacit_operator *A = operator_of(q, m, format);
            char what[80];
            for (int a = -1; A && a < 3; a++) {
                if (a >= 0) OK(tct_operator_columns(A, asked[a]));
                snprintf(what, sizeof what, "%s, %s", names[i], format);
                for (int c = 0; c < COUNTS; c++) /* strides odd and even */
                    check_columns(A, q, columns[c], (size_t)(3 + c % 2), what);
            }
            const tct_exchange *e = A ? A->ops->exchange(A) : NULL;
            if (e) assert_int_equal(e->columns, 32);
            formats += A != NULL;
            tacit_operator_destroy(&A);
            tacit_matrix_destroy(&m);
        }
    assert_true(formats >= 4);
    tacit_queue_destroy(&q);
}

static void columns_are_counted(void **state)
{
    (void)state;
    tacit_queue *q = queue_of("count:" TEST_DEVICE, 1);
    const shape s = {100, 5, 3, 0};
    panels p = open_panels(q, s, 1);
    tacit_queue_clear_tally(q);
    free(gram(q, &p));
    const tacit_tally *t = tacit_queue_tally(q);
    assert_int_equal(t->dot.count, 15);
    assert_true(t->dot.flops == 2.0 * 15 * 100);
    assert_true(t->moved_bytes == 8.0 * 100 * (5 + 3));
    tacit_queue_clear_tally(q);
    q_combine(q, 100, 1.0, p.Z, p.C, p.W);
    assert_int_equal(t->axpy.count, 15);
    assert_true(t->axpy.bytes == 24.0 * 15 * 100);
    assert_true(t->moved_bytes == 8.0 * 100 * (5 + 2 * 3));
    close_panels(q, &p);
    tacit_matrix *m = gallery_matrix("poisson2d:10");
    tacit_operator *A = operator_of(q, m, "csr");
    double *x = poisoned_vector(q, (size_t)A->n * 6);
    const tct_panel X = tct_panel_of(x, A->n, 3),
                    Y = tct_panel_of(x + 3 * A->n, A->n, 3);
    tacit_queue_clear_tally(q);
    q_multiply_block(q, A->local, X, Y);
    assert_int_equal(t->spmv.count, 3);
    assert_true(t->spmv.flops == 6.0 * (double)A->local->nonzeros);
    assert_true(t->moved_bytes == 48.0 * (double)A->n + A->local->matrix_bytes);
    EXPECT(TACIT_INVALID, tct_operator_columns(A, 0));
    EXPECT(TACIT_INVALID, tct_operator_columns(A, PANEL_MOST + 1));
    tacit_queue_free(q, &x);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

static const struct CMUnitTest panel_tests[] = {
    cmocka_unit_test(gram_is_dgemm),
    cmocka_unit_test(combine_is_dgemm),
    cmocka_unit_test(mix_is_a_product_in_place),
    cmocka_unit_test(ranks_sum_a_gram),
    cmocka_unit_test(sums_repeat_their_bits),
    cmocka_unit_test(columns_have_bits_of_their_own),
    cmocka_unit_test(blocks_are_products),
    cmocka_unit_test(columns_are_counted),
};

#endif
