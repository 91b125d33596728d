/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_store.c - slices stored by kernels are those of the host, byte
 * for byte; rows arrive on the device as they are; operators with either store
 * have the same bits. Only in builds with CUDA.
 *
 * LABEL: gpu */
#include "gpu.h"
#include "matrix/matrix.h"
#include "operator/assembled.h"
#include "operator/gpu/store.h"
#include "operator/layout/look_device.h"
#include "slice_shapes.h"

/* --- the same bytes ------------------------------------------------------- */

static const char *about_what;

#define SAME(is)                                            \
    do {                                                    \
        if (!(is)) fail_msg("%s: not %s", about_what, #is); \
    } while (0)

/* Compare `bytes` of the device with those of the host. */
static bool same_there(tacit_queue *q, const void *host, const void *there,
                       size_t bytes)
{
    char *copy = malloc(bytes + 1);
    assert_non_null(copy);
    if (bytes > 0) OK(tct_gpu_store_kernels.get(q, copy, there, bytes));
    const bool same = memcmp(copy, host, bytes) == 0;
    free(copy);
    return same;
}

static void compare(tacit_queue *q, const tct_gpu_arrays *h,
                    const tct_gpu_arrays *d)
{
    tct_gpu_array a[TCT_GPU_ARRAYS], b[TCT_GPU_ARRAYS];
    const int64_t entries = h->long_rows > 0 ? h->long_ptr[h->long_rows] : 0;
    tct_gpu_list(h, entries, a);
    tct_gpu_list(d, entries, b);
    SAME(h->store == d->store && h->walk == d->walk && h->b == d->b);
    SAME(h->widest == d->widest && h->cells == d->cells);
    SAME(h->long_rows == d->long_rows && h->segments == d->segments);
    SAME(h->dict_count == d->dict_count && h->index_bytes == d->index_bytes);
    for (int i = 0; i < TCT_GPU_ARRAYS; i++) {
        SAME(!a[i].p == !b[i].p && (!a[i].p || a[i].bytes == b[i].bytes));
        if (a[i].p && !same_there(q, a[i].p, b[i].p, a[i].bytes))
            fail_msg("%s: array %d of layout.h", about_what, i);
    }
}

static void give_arrays(const tct_gpu_arrays *d)
{
    tct_gpu_array all[TCT_GPU_ARRAYS];
    tct_gpu_list(d, 0, all);
    for (int i = 0; i < TCT_GPU_ARRAYS; i++)
        tct_gpu_release((void *)(uintptr_t)all[i].p);
}

static tct_store_rows rows_of(tacit_queue *q, const tct_local *A)
{
    tct_store_rows R = {.q = q,
                        .kernels = &tct_gpu_store_kernels,
                        .rows = A->rows,
                        .cols = A->cols,
                        .entries = A->ptr[A->rows]};
    const size_t n = (size_t)R.entries;
    OK(tct_gpu_upload(A->ptr, (size_t)(A->rows + 1) * sizeof *A->ptr, &R.ptr));
    OK(tct_gpu_upload(A->col, n * sizeof *A->col, &R.col));
    OK(tct_gpu_upload(A->val, n * sizeof *A->val, &R.val));
    return R;
}

static void check(const tct_local *A, const tct_store_rows *R, int b,
                  const char *store)
{
    tct_gpu_arrays h, d;
    tct_gpu_about of_h, of_d;
    uint64_t pattern = 0;
    const tacit_status host =
        tct_gpu_slices_build(A, b, GPU_ANY_KIND, store, &h, &of_h);
    EXPECT(host,
           tct_store_build(R, b, GPU_ANY_KIND, store, &d, &of_d, &pattern));
    if (host < 0) return;
    compare(R->q, &h, &d);
    SAME(strcmp(of_h.detail, of_d.detail) == 0);
    SAME(of_h.bytes == of_d.bytes && of_h.matrix_bytes == of_d.matrix_bytes);
    SAME(pattern == tct_gpu_pattern(A));
    tct_gpu_slices_build_free(&h);
    give_arrays(&d);
}

static void stores_are_those_of_the_host(void **state)
{
    static const char *const stores[] = {"auto", "f64", "f32", "dict8",
                                         "dict16"};
    static char text[160];
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    about_what = text;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int v = 0; v < VALUES; v++) {
            tct_local A = make(shape, (values)v);
            tct_store_rows R = rows_of(q, &A);
            for (int i = 0; i < 5; i++)
                for (int b = 1; b <= GPU_BLOCK_MOST; b++) {
                    if (b > 1 && (v + b + i) % 3 != 0) continue;
                    snprintf(text, sizeof text, "%s, values %d, b %d, %s",
                             shapes[shape].name, v, b, stores[i]);
                    check(&A, &R, b, stores[i]);
                }
            tct_gpu_rows_drop(&R);
            clear(&A);
        }
    tacit_queue_destroy(&q);
}

/* --- larger matrices ------------------------------------------------------ */

/* More than all pieces of the ring, and a part of one. */
static void rows_arrive(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    tct_local A = from_gallery("poisson3d:110");
    tct_store_rows R;
    about_what = "poisson3d:110";
    assert_true(12 * A.ptr[A.rows] > TCT_GPU_STAGED);
    OK(tct_gpu_rows_bring(q, &A, &R));
    const size_t n = (size_t)R.entries;
    assert_non_null(R.ptr);
    assert_true(same_there(q, A.ptr, R.ptr, (size_t)(A.rows + 1) * 8));
    assert_true(same_there(q, A.col, R.col, n * sizeof *A.col));
    assert_true(same_there(q, A.val, R.val, n * sizeof *A.val));
    for (int b = 1; b <= 2; b++) check(&A, &R, b, "auto");
    for (int64_t k = 0; k < A.ptr[A.rows]; k++) A.val[k] = uniform(k, 3);
    tct_gpu_rows_drop(&R);
    OK(tct_gpu_rows_bring(q, &A, &R));
    check(&A, &R, 1, "auto");
    check(&A, &R, 5, "f64");
    tct_gpu_rows_drop(&R);
    clear(&A);
    tacit_queue_destroy(&q);
}

/* The product of an operator, which is new. */
static double *product(tacit_queue *q, const tacit_matrix *m,
                       const char *format, char detail[160])
{
    tacit_operator *A = NULL;
    tacit_operator_info info = {.size = sizeof info};
    OK(tacit_operator_create(q, m, format, &A));
    OK(tacit_operator_describe(A, &info));
    snprintf(detail, 160, "%s", info.detail);
    const size_t n = (size_t)info.rows;
    double *x = random_vector(n, 5), *y = poisoned_vector(q, n);
    double *there = device_vector(q, n, x);
    OK(tacit_operator_apply(A, there, y));
    double *out = host_copy(q, n, y);
    tacit_queue_free(q, &there);
    tacit_queue_free(q, &y);
    tacit_operator_destroy(&A);
    free(x);
    return out;
}

static void operators_have_the_same_bits(void **state)
{
    static const char *const matrices[] = {"poisson3d:40", "elasticity3d:14",
                                           "jump3d:40,1e4,5", "tet3d:20,1"};
    static const char *const formats[] = {
        "sell@none", "sell/f64@none", "sell32@none", "bsell@none", "csr@none"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        tacit_matrix *m = gallery_matrix(matrices[i]);
        tacit_queue *q = open_queue(TEST_DEVICE);
        for (int f = 0; f < 5; f++) {
            char host[160], there[160];
            if (strstr(formats[f], "bsell") && i != 1) continue;
            setenv("TACIT_STORE", "host", 1);
            double *a = product(q, m, formats[f], host);
            setenv("TACIT_STORE", "auto", 1);
            double *b = product(q, m, formats[f], there);
            const size_t n = (size_t)tacit_matrix_local_rows(m);
            assert_true(memcmp(a, b, n * sizeof *a) == 0);
            assert_string_equal(host, there);
            free(a);
            free(b);
        }
        tacit_queue_destroy(&q);
        tacit_matrix_destroy(&m);
    }
}

/* --- new values ----------------------------------------------------------- */

/* A matrix of the pattern of `m` with values that are no dictionary. */
static tacit_matrix *other_values(const char *name)
{
    tct_csr a = make_matrix(name);
    tacit_matrix *m = NULL;
    const int64_t n = tct_csr_nonzeros(&a);
    int64_t *col = malloc((size_t)n * sizeof *col);
    assert_non_null(col);
    for (int64_t k = 0; k < n; k++) {
        col[k] = tct_csr_col(&a, k);
        a.val[k] = 1.0 + uniform(k, 9);
    }
    OK(tacit_matrix_from_rows(test_world(), a.rows, 0, a.rows, a.ptr, col,
                              a.val, &m));
    free(col);
    tct_csr_clear(&a);
    return m;
}

static void new_values_are_stored_there(void **state)
{
    static const char name[] = "poisson3d:40";
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_matrix *m = gallery_matrix(name), *now = other_values(name);
    tacit_matrix *smaller = gallery_matrix("poisson3d:41");
    tacit_operator *A = NULL;
    char detail[160];
    OK(tacit_operator_create(q, m, "sell@none", &A));
    OK(tacit_operator_update(A, now));
    EXPECT(TACIT_INVALID, tacit_operator_update(A, smaller));
    double *fresh = product(q, now, "sell@none", detail);
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    double *x = random_vector(n, 5), *there = device_vector(q, n, x);
    double *y = poisoned_vector(q, n);
    OK(tacit_operator_apply(A, there, y));
    double *updated = host_copy(q, n, y);
    assert_true(memcmp(fresh, updated, n * sizeof *x) == 0);
    free(updated);
    free(fresh);
    free(x);
    tacit_queue_free(q, &there);
    tacit_queue_free(q, &y);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&smaller);
    tacit_matrix_destroy(&now);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* --- a look at rows ------------------------------------------------------- */

/* Sizes, diagonal and states are those of the host; poisson3d:60 has a boundary
 * that stands, so that no states are sent. */
static void a_look_is_that_of_the_host(void **state)
{
    static const char *const names[] = {"poisson3d:60", "elasticity3d:14",
                                        "jump3d:40,1e4,5", "tet3d:20,1"};
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    for (int i = 0; i < 4; i++) {
        tct_local A = from_gallery(names[i]);
        const tct_csr rows = {.global_rows = A.rows,
                              .global_cols = A.rows,
                              .rows = A.rows,
                              .ptr = A.ptr,
                              .col32 = A.col,
                              .val = A.val};
        const size_t n = (size_t)A.rows;
        tct_row_sizes h, d;
        unsigned char *of_host = malloc(n), *got = NULL;
        double *there = poisoned_vector(q, n), *diagonal = malloc(8 * n);
        assert_true(of_host && diagonal);
        tct_store_rows R = rows_of(q, &A);
        about_what = names[i];
        tct_measure_rows(&rows, of_host, &h);
        OK(tct_look_at_rows(&R, &d, there, &got));
        SAME(memcmp(&h.high, &d.high, sizeof h.high) == 0);
        SAME(memcmp(&h.inverse, &d.inverse, sizeof h.inverse) == 0);
        SAME(memcmp(&h.norm, &d.norm, sizeof h.norm) == 0);
        SAME(h.fewest == d.fewest && h.most == d.most);
        tct_local_diagonal(&A, diagonal);
        SAME(same_there(q, diagonal, there, 8 * n));
        SAME(i != 0 || !got);
        for (size_t k = 0; got && k < n; k++)
            SAME(got[k] == of_host[k] || got[k] == TCT_ROW_STANDS);
        tct_free(got);
        free(of_host);
        free(diagonal);
        tacit_queue_free(q, &there);
        tct_gpu_rows_drop(&R);
        clear(&A);
    }
    tacit_queue_destroy(&q);
}

/* The diagonal of an operator, new and with other values, is that of the host's
 * store. */
static void diagonals_stay_on_the_device(void **state)
{
    static const char name[] = "poisson3d:40";
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_matrix *m = gallery_matrix(name), *now = other_values(name);
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    double *got[4];
    for (int host = 0; host < 2; host++) {
        tacit_operator *A = NULL;
        double *d = poisoned_vector(q, n);
        setenv("TACIT_STORE", host ? "host" : "auto", 1);
        OK(tacit_operator_create(q, m, "sell@none", &A));
        OK(A->ops->diagonal(A, d));
        got[2 * host] = host_copy(q, n, d);
        OK(tacit_operator_update(A, now));
        OK(A->ops->diagonal(A, d));
        got[2 * host + 1] = host_copy(q, n, d);
        tacit_queue_free(q, &d);
        tacit_operator_destroy(&A);
    }
    setenv("TACIT_STORE", "auto", 1);
    assert_memory_equal(got[0], got[2], n * sizeof **got);
    assert_memory_equal(got[1], got[3], n * sizeof **got);
    assert_memory_not_equal(got[0], got[1], n * sizeof **got);
    for (int i = 0; i < 4; i++) free(got[i]);
    tacit_matrix_destroy(&now);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* --- shared rows ---------------------------------------------------------- */

static bool same_rows(const tct_csr *a, const tct_csr *b)
{
    const size_t n = (size_t)tct_csr_nonzeros(a);
    return a->rows == b->rows && n == (size_t)tct_csr_nonzeros(b) &&
           memcmp(a->ptr, b->ptr, (size_t)(a->rows + 1) * 8) == 0 &&
           memcmp(a->col32, b->col32, n * sizeof *a->col32) == 0 &&
           memcmp(a->val, b->val, n * sizeof *a->val) == 0;
}

/* A GPU's operator reads the rows of its matrix in place: in another order, or
 * with values far from 1, it takes a copy. */
static void a_matrix_keeps_its_rows(void **state)
{
    static const char *const formats[] = {"auto", "sell@rcm", "bsell/f64",
                                          "csr@none", "sell+low32"};
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    for (int far = 0; far < 2; far++) {
        tacit_matrix *m = gallery_matrix("elasticity3d:12");
        const int64_t n = tct_csr_nonzeros(&m->A);
        for (int64_t k = 0; k < n && far; k++)
            m->A.val[k] = ldexp(m->A.val[k], 200);
        tct_csr was = {0};
        OK(tct_csr_copy(&m->A, &was));
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            tacit_operator *A = NULL;
            const tacit_status status =
                tacit_operator_create(q, m, formats[f], &A);
            if (status != TACIT_UNSUPPORTED) OK(status);
            assert_true(same_rows(&m->A, &was));
            if (A) OK(tacit_operator_update(A, m));
            assert_true(same_rows(&m->A, &was));
            tacit_operator_destroy(&A);
        }
        tct_csr_clear(&was);
        tacit_matrix_destroy(&m);
    }
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_are_those_of_the_host),
        cmocka_unit_test(rows_arrive),
        cmocka_unit_test(operators_have_the_same_bits),
        cmocka_unit_test(new_values_are_stored_there),
        cmocka_unit_test(a_look_is_that_of_the_host),
        cmocka_unit_test(diagonals_stay_on_the_device),
        cmocka_unit_test(a_matrix_keeps_its_rows),
    };
    TEST_GPU_MAIN(tests);
}
