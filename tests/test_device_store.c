/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_device_store.c - slices built by the tasks of a device
 * (operator/layout/store_tasks.h), run here by three threads, are those of the
 * host, byte for byte; so are their description, the hash of the pattern, and
 * what a look at the rows finds. */
#include "operator/assembled.h"
#include "operator/layout/cells.h"
#include "operator/layout/look_device.h"
#include "operator/null/null_space.h"
#include "slice_shapes.h"
#include <pthread.h>
#include <tacit/world.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- a device in host memory ---------------------------------------------- */

enum { THREADS = 3 };

static int taken;       /* pieces of memory */
static int64_t fail_at; /* the take that fails; 0: none */

static tacit_status take(tacit_queue *q, size_t bytes, void *out)
{
    (void)q;
    if (fail_at > 0 && --fail_at == 0)
        return tacit_error_set(TACIT_NO_MEMORY, "no memory of the twin");
    char *p = malloc(bytes + 1);
    assert_non_null(p);
    memset(p, 0xa5, bytes + 1);
    memcpy(out, &p, sizeof p);
    taken++;
    return TACIT_OK;
}

static void give(tacit_queue *q, void *p)
{
    (void)q;
    taken -= p != NULL;
    free(p);
}

static tacit_status require(double bytes, const char *what)
{
    assert_true(bytes >= 0.0 && what);
    return TACIT_OK;
}

static tacit_status zero(tacit_queue *q, void *p, size_t bytes)
{
    (void)q;
    memset(p, 0, bytes);
    return TACIT_OK;
}

static tacit_status copy(tacit_queue *q, void *to, const void *from,
                         size_t bytes)
{
    (void)q;
    memcpy(to, from, bytes);
    return TACIT_OK;
}

typedef struct {
    tct_store_task task;
    int64_t n;
    int thread;
    const tct_store_work *g;
} share;

static void do_task(const share *s, int64_t i)
{
    switch (s->task) {
#define X(name)                                          \
    case TCT_STORE_##name:                               \
        tct_store_task_##name(s->g, i, s->g->slicing.b); \
        break;
        TCT_STORE_TASKS(X)
#undef X
    }
}

static void *do_share(void *work)
{
    const share *s = work;
    for (int64_t i = s->n - 1 - s->thread; i >= 0; i -= THREADS) do_task(s, i);
    return NULL;
}

static tacit_status each(tacit_queue *q, tct_store_task task, int64_t n,
                         const tct_store_work *g)
{
    pthread_t thread[THREADS];
    share s[THREADS];
    (void)q;
    for (int t = 0; t < THREADS; t++) {
        s[t] = (share){task, n, t, g};
        assert_int_equal(pthread_create(&thread[t], NULL, do_share, &s[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    return TACIT_OK;
}

static const tct_store_kernels twin = {17,   take, give, require,
                                       zero, copy, copy, each};

/* --- the same bytes ------------------------------------------------------- */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static const char *about_what;

#define SAME(is)                                            \
    do {                                                    \
        if (!(is)) fail_msg("%s: not %s", about_what, #is); \
    } while (0)

static void compare_arrays(const tct_gpu_arrays *h, const tct_gpu_arrays *d)
{
    tct_gpu_array a[TCT_GPU_ARRAYS], b[TCT_GPU_ARRAYS];
    const int64_t entries = h->long_rows > 0 ? h->long_ptr[h->long_rows] : 0;
    tct_gpu_list(h, entries, a);
    tct_gpu_list(d, entries, b);
    SAME(h->rows == d->rows && h->cols == d->cols && h->b == d->b);
    SAME(h->store == d->store && h->walk == d->walk);
    SAME(h->widest == d->widest && h->groups == d->groups);
    SAME(h->slices == d->slices && h->cells == d->cells);
    SAME(h->index_bytes == d->index_bytes && h->dict_count == d->dict_count);
    SAME(h->long_rows == d->long_rows && h->segments == d->segments);
    for (int i = 0; i < TCT_GPU_ARRAYS; i++) {
        SAME(!a[i].p == !b[i].p);
        if (!a[i].p) continue;
        if (a[i].bytes != b[i].bytes || memcmp(a[i].p, b[i].p, a[i].bytes))
            fail_msg("%s: array %d of layout.h", about_what, i);
    }
}

static void compare_about(const tct_gpu_about *h, const tct_gpu_about *d)
{
    SAME(h->stored == d->stored && h->kernels == d->kernels);
    SAME(same_bits(h->matrix_bytes, d->matrix_bytes));
    SAME(same_bits(h->bytes, d->bytes) && same_bits(h->padding, d->padding));
    SAME(h->persistent == d->persistent && h->packed == d->packed);
    SAME(h->b == d->b && h->store == d->store && h->lossy == d->lossy);
    SAME(h->different == d->different && h->long_rows == d->long_rows);
    SAME(strcmp(h->detail, d->detail) == 0);
}

static void give_arrays(const tct_gpu_arrays *d)
{
    tct_gpu_array all[TCT_GPU_ARRAYS];
    tct_gpu_list(d, 0, all);
    for (int i = 0; i < TCT_GPU_ARRAYS; i++)
        give(NULL, (void *)(uintptr_t)all[i].p);
}

static int kinds_seen[4], stores_seen[5], sorted_seen, long_seen, joined_seen;

static void note(const tct_gpu_arrays *a)
{
    for (int64_t s = 0; s < a->slices; s++) {
        kinds_seen[a->slice[s].kind]++;
        sorted_seen += a->slice[s].sorted;
        joined_seen += a->slice[s].joined;
    }
    stores_seen[a->store]++;
    long_seen += a->long_rows > 0;
}

static tct_store_rows rows_of(const tct_local *A)
{
    return (tct_store_rows){.kernels = &twin,
                            .rows = A->rows,
                            .cols = A->cols,
                            .entries = A->ptr[A->rows],
                            .ptr = A->ptr,
                            .col = A->col,
                            .val = A->val};
}

/* Build it both ways; the same, or refused with the same message. */
static void check(const tct_local *A, int b, tct_gpu_kinds kinds,
                  const char *store)
{
    const tct_store_rows R = rows_of(A);
    tct_gpu_arrays h, d;
    tct_gpu_about of_h, of_d;
    uint64_t pattern = 0;
    char message[512];
    const tacit_status host =
        tct_gpu_slices_build(A, b, kinds, store, &h, &of_h);
    snprintf(message, sizeof message, "%s", tacit_error_message());
    const tacit_status device =
        tct_store_build(&R, b, kinds, store, &d, &of_d, &pattern);
    SAME(host == device);
    if (host < 0) {
        SAME(strcmp(message, tacit_error_message()) == 0);
        assert_int_equal(taken, 0);
        return;
    }
    compare_arrays(&h, &d);
    compare_about(&of_h, &of_d);
    SAME(pattern == tct_gpu_pattern(A));
    note(&h);
    tct_gpu_slices_build_free(&h);
    give_arrays(&d);
    assert_int_equal(taken, 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { EVERY = 3 };
#else
enum { EVERY = 1 };
#endif

static void check_stores(const tct_local *A, const char *name, int v, int b,
                         tct_gpu_kinds kinds)
{
    static const char *const stores[] = {"auto", "f64", "f32", "dict8",
                                         "dict16"};
    static char text[160];
    about_what = text;
    for (int i = v % EVERY; i < 5; i += EVERY) {
        snprintf(text, sizeof text, "%s, values %d, b %d, %s, kinds %d", name,
                 v, b, stores[i], (int)kinds);
        check(A, b, kinds, stores[i]);
    }
}

static void stores_are_those_of_the_host(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        const char *name = shapes[shape].name;
        tct_local A = make(shape, GIVEN);
        for (int v = 0; v < VALUES; v++) {
            for (int64_t k = 0; k < A.ptr[A.rows] && v != GIVEN; k++)
                A.val[k] = value((values)v, k);
            check_stores(&A, name, v, 1, GPU_ANY_KIND);
            if (v == GIVEN) check_stores(&A, name, v, 1, GPU_ONLY_FAR);
            for (int b = 2; b <= GPU_BLOCK_MOST; b++)
                if ((v + b) % 3 == 0)
                    check_stores(&A, name, v, b, GPU_ANY_KIND);
        }
        clear(&A);
    }
    for (int k = 0; k < 4; k++) assert_true(kinds_seen[k] > 0);
    for (int k = 0; k < GPU_F48; k++) assert_true(stores_seen[k] > 0);
    assert_true(sorted_seen > 0 && long_seen > 0 && joined_seen > 0);
}

/* --- many values ---------------------------------------------------------- */

/* Rows of 1, 2, ... entries, with `different` values besides 0. */
static tct_local staircase(int64_t rows, int64_t different)
{
    tct_local A = allocate(rows, rows, rows * 96);
    int64_t at = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t n = 1 + i % 90;
        for (int64_t k = 0; k < n && i + 7 * k < rows; k++) {
            A.val[at] = 1.0 / (double)(1 + at % different);
            A.col[at++] = (int32_t)(i + 7 * k);
        }
        A.ptr[i + 1] = at;
    }
    return A;
}

/* The device counts the values as the host does, and with this count the host
 * foretells the bytes of what the device stores. */
static void check_count(tct_local *A)
{
    const tct_store_rows R = rows_of(A);
    tct_value_set host, device;
    tct_gpu_arrays a;
    tct_gpu_about about;
    uint64_t pattern;
    tct_value_set_open(&host, TCT_GPU_VALUES_MOST, false);
    tct_value_set_zero(&host);
    tct_value_set_look(&host, A->val, A->ptr[A->rows]);
    assert_int_equal(tct_store_count_values(&R, &device), TACIT_OK);
    assert_int_equal(taken, 0);
    SAME(device.count == host.count && device.floats == host.floats);
    SAME(tct_gpu_store_best(&device) == tct_gpu_store_best(&host));
    tct_value_set_close(&host);
    A->values = &device;
    const double bytes = tct_gpu_slices_bytes(A, 1, GPU_ANY_KIND, NULL, NULL);
    A->values = NULL;
    assert_int_equal(
        tct_store_build(&R, 1, GPU_ANY_KIND, NULL, &a, &about, &pattern),
        TACIT_OK);
    SAME(fabs(bytes - about.matrix_bytes) <= 0.02 * about.matrix_bytes);
    give_arrays(&a);
}

static void dictionaries_end_where_they_do_on_the_host(void **state)
{
    static const int64_t different[] = {254, 255, 256, 65534, 65535, 65536};
    (void)state;
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        tct_local A = staircase(16000, different[i]);
        about_what = "a staircase";
        assert_true(A.ptr[A.rows] > 8 * 65536);
        check_count(&A);
        check(&A, 1, GPU_ANY_KIND, "auto");
        check(&A, 1, GPU_ANY_KIND, "dict16");
        check(&A, 4, GPU_ANY_KIND, "auto");
        clear(&A);
    }
}

static void odd_values_keep_their_bits(void **state)
{
    const uint64_t odd[] = {
        UINT64_C(0x8000000000000000), UINT64_C(0x7ff8000000000000),
        UINT64_C(0xfff8000020000000), UINT64_C(0x7ff0000000000000),
        UINT64_C(0x7ff8000000000001), UINT64_C(0x36a0000000000000),
        UINT64_C(0x3690000000000000), UINT64_C(0x7ff4000000000000),
        UINT64_C(0x0000000000000001), UINT64_C(0x47efffffe0000000)};
    enum { ODD = sizeof odd / sizeof *odd };
    (void)state;
    for (int first = 0; first < ODD; first++) {
        tct_local A = make(find_shape("poisson2d:33x31"), FLOATS);
        for (int64_t k = 0; k < A.ptr[A.rows]; k += 3)
            memcpy(&A.val[k], &odd[first], sizeof *odd);
        check_stores(&A, "odd values", first * EVERY, 1, GPU_ANY_KIND);
        for (int64_t k = 0; k < A.ptr[A.rows]; k++)
            memcpy(&A.val[k], &odd[first], sizeof *odd);
        check_stores(&A, "one odd value", first * EVERY, 1, GPU_ANY_KIND);
        check_count(&A);
        clear(&A);
    }
}

static bool is_float(double v)
{
    const double back = (double)(float)v;
    return isnan(v) || (isfinite(v) == isfinite((float)v) && back == v);
}

static void floats_are_found_by_their_bits(void **state)
{
    (void)state;
    for (int64_t k = 0; k < 200000; k++) {
        uint64_t bits = tct_mix((uint64_t)k);
        if (k % 2) bits &= ~UINT64_C(0x1fffffff) << k % 23;
        if (k % 3)
            bits = (bits & ~(UINT64_C(0xfff) << 52)) | (uint64_t)(850 + k % 320)
                                                           << 52;
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isnan(v)) continue;
        assert_int_equal(tct_value_is_float(bits), is_float(v));
    }
}

static void failures_leave_nothing(void **state)
{
    tct_local A = make(find_shape("an arrow"), D257);
    const tct_store_rows R = rows_of(&A);
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    int64_t n = 0;
    (void)state;
    while (status < 0) {
        tct_gpu_arrays d;
        tct_gpu_about about;
        uint64_t pattern;
        fail_at = ++n;
        status =
            tct_store_build(&R, 1, GPU_ANY_KIND, "auto", &d, &about, &pattern);
        fail_at = 0;
        if (status >= 0) give_arrays(&d);
        else assert_int_equal(status, TACIT_NO_MEMORY);
        assert_int_equal(taken, 0);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_true(n > 14); /* takes of a build */
    clear(&A);
}

static void reduced_values_are_the_hosts(void **state)
{
    tct_local A = make(find_shape("1 x 1"), GIVEN);
    const tct_store_rows R = rows_of(&A);
    tct_gpu_arrays d;
    tct_gpu_about about;
    uint64_t pattern;
    (void)state;
    assert_true(tct_store_takes(NULL) && tct_store_takes("dict8"));
    assert_false(tct_store_takes("low32") || tct_store_takes("low48"));
    assert_int_equal(
        tct_store_build(&R, 1, GPU_ANY_KIND, "low32", &d, &about, &pattern),
        TACIT_UNSUPPORTED);
    clear(&A);
}

/* --- magnitudes ----------------------------------------------------------- */

/* |A| |x| by slices and by rows; all is positive, so that rounding is little. */
static void compare_magnitudes(const tct_local *A, int b, const char *store)
{
    tct_gpu_arrays h;
    tct_gpu_about about;
    const size_t n = (size_t)A->rows, cols = (size_t)A->cols;
    double *x = malloc((cols + 1) * sizeof *x), *y = malloc((n + 1) * 8);
    assert_true(x && y);
    for (size_t i = 0; i < cols; i++) x[i] = uniform((int64_t)i, 8) - 0.5;
    for (size_t i = 0; i < n; i++) y[i] = NAN;
    if (tct_gpu_slices_build(A, b, GPU_ANY_KIND, store, &h, &about) >= 0) {
        for (int64_t i = 0; i < h.slices * GPU_LANES; i++)
            tct_cell_magnitude(&h, i / GPU_LANES, (int)(i % GPU_LANES), x, y);
        for (int64_t i = 0; i < h.long_rows; i++)
            tct_long_row_magnitude(&h, i, x, y);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
                sum += fabs(A->val[k] * x[A->col[k]]);
            SAME(fabs(y[i] - sum) <= 1e-11 * sum);
        }
        tct_gpu_slices_build_free(&h);
    }
    free(x);
    free(y);
}

static void magnitudes_are_those_of_rows(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int v = 0; v < 2; v++) {
            tct_local A = make(shape, v ? RANDOM : GIVEN);
            about_what = shapes[shape].name;
            for (int b = 1; b <= GPU_BLOCK_MOST; b += 1 + v)
                compare_magnitudes(&A, b, "auto");
            clear(&A);
        }
}

/* --- a look at rows ------------------------------------------------------- */

static tct_csr csr_of(const tct_local *A)
{
    return (tct_csr){.global_rows = A->rows,
                     .global_cols = A->cols,
                     .rows = A->rows,
                     .ptr = A->ptr,
                     .col32 = A->col,
                     .val = A->val};
}

static bool same_sizes(const tct_row_sizes *a, const tct_row_sizes *b)
{
    return same_bits(a->high, b->high) && same_bits(a->inverse, b->inverse) &&
           same_bits(a->norm, b->norm) && a->fewest == b->fewest &&
           a->most == b->most;
}

/* Sizes and the diagonal; the states that the device gives, or NULL. */
static unsigned char *look_at(const tct_local *A, unsigned char *of_host)
{
    const tct_store_rows R = rows_of(A);
    const tct_csr rows = csr_of(A);
    const size_t n = (size_t)A->rows;
    tct_row_sizes h, d;
    unsigned char *state = NULL;
    double *diagonal = calloc(2 * n + 1, sizeof *diagonal);
    assert_non_null(diagonal);
    tct_measure_rows(&rows, of_host, &h);
    OK(tct_look_at_rows(&R, &d, diagonal, &state));
    SAME(same_sizes(&h, &d));
    tct_local_diagonal(A, diagonal + n);
    SAME(memcmp(diagonal, diagonal + n, n * sizeof *diagonal) == 0);
    free(diagonal);
    assert_int_equal(taken, 0);
    return state;
}

static void sizes_are_those_of_the_host(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int v = 0; v < VALUES; v++) {
            tct_local A = make(shape, (values)v);
            about_what = shapes[shape].name;
            if (A.rows == 0) {
                clear(&A);
                continue;
            }
            unsigned char *of_host = malloc((size_t)A.rows + 1);
            assert_non_null(of_host);
            unsigned char *got = look_at(&A, of_host);
            /* a row that stands is never taken back */
            for (int64_t i = 0; got && i < A.rows; i++)
                SAME(got[i] == of_host[i] || got[i] == TCT_ROW_STANDS);
            tct_free(got);
            free(of_host);
            clear(&A);
        }
}

/* Laplacians of strips of a grid, row `i` being cell at[i]: strip k has a row
 * that stands if bit k of `stands` is set. An isolated row of zeros ends
 * each. */
enum { STRIPS = 4, WIDTH = 30, HEIGHT = 10, STRIP = WIDTH * HEIGHT + 1 };
enum { CELLS = STRIPS * STRIP };

static int neighbours_of(int cell, int to[4])
{
    const int s = cell % STRIP, x = s % WIDTH, y = s / WIDTH;
    int n = 0;
    if (s == STRIP - 1) return 0;
    if (y > 0) to[n++] = cell - WIDTH;
    if (x > 0) to[n++] = cell - 1;
    if (x < WIDTH - 1) to[n++] = cell + 1;
    if (y < HEIGHT - 1) to[n++] = cell + WIDTH;
    return n;
}

static int by_column(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static tct_local strips(const int *at, const int *row_of, int stands)
{
    tct_local A = allocate(CELLS, CELLS, 5 * CELLS);
    int64_t k = 0;
    for (int64_t i = 0; i < CELLS; i++) {
        int to[4];
        const int n = neighbours_of(at[i], to), first = at[i] % STRIP == WIDTH;
        const bool is = first && stands >> at[i] / STRIP & 1;
        int32_t *col = &A.col[k];
        for (int e = 0; e < n; e++) col[e] = (int32_t)row_of[to[e]];
        col[n] = (int32_t)i;
        qsort(col, (size_t)n + 1, sizeof *col, by_column);
        for (int e = 0; e <= n; e++)
            A.val[k + e] = col[e] == i ? (double)(n + is) : -1.0;
        A.ptr[i + 1] = k += n + 1;
    }
    return A;
}

static void compare_null(const tct_null_space *h, const tct_null_space *d)
{
    SAME(tct_null_count(h) == tct_null_count(d));
    if (!h || !d) return;
    const size_t n = (size_t)h->rows;
    SAME(h->components == d->components && h->zero_rows == d->zero_rows);
    SAME(memcmp(h->label, d->label, n * sizeof *h->label) == 0);
    SAME(memcmp(h->fixed, d->fixed, n * sizeof *h->fixed) == 0);
}

/* The same null space, whoever looked first. */
static void check_null(const tct_local *A, bool may_have_some)
{
    unsigned char of_host[CELLS];
    const int64_t starts[2] = {0, CELLS};
    const tct_csr rows = csr_of(A);
    tacit_world *w = NULL;
    tct_null_space *h = NULL, *d = NULL;
    OK(tacit_world_self(&w));
    unsigned char *of_device = look_at(A, of_host);
    OK(tct_null_find(w, &rows, starts, of_host, &h));
    if (of_device) OK(tct_null_find(w, &rows, starts, of_device, &d));
    compare_null(h, d);
    SAME(may_have_some || !of_device);
    tct_free(of_device);
    tct_null_close(&h);
    tct_null_close(&d);
    tacit_world_destroy(&w);
}

/* The cell of each row: as in the grid, backwards, or at random. */
static void order_cells(int order, int *at)
{
    for (int i = 0; i < CELLS; i++) at[i] = order == 1 ? CELLS - 1 - i : i;
    for (int i = CELLS - 1; i > 0 && order == 2; i--) {
        const int j = (int)(uniform(i, order) * (i + 1)), was = at[i];
        at[i] = at[j];
        at[j] = was;
    }
}

/* In the grid's order pointers find the row that stands. */
static void null_vectors_are_those_of_the_host(void **state)
{
    int at[CELLS], row_of[CELLS];
    (void)state;
    about_what = "strips";
    for (int order = 0; order < 3; order++) {
        order_cells(order, at);
        for (int i = 0; i < CELLS; i++) row_of[at[i]] = i;
        for (int stands = 0; stands < 1 << STRIPS; stands += 3) {
            tct_local A = strips(at, row_of, stands);
            check_null(&A, true);
            /* no rows of zeros: all stand if each strip does */
            for (int64_t i = 0; i < CELLS; i++)
                if (A.ptr[i + 1] - A.ptr[i] == 1) A.val[A.ptr[i]] = 1.0;
            check_null(&A, order == 2 || stands != (1 << STRIPS) - 1);
            clear(&A);
        }
    }
}

/* Grids, a row short of an entry, or with another column or value. */
static void grids_are_those_of_the_host(void **state)
{
    static const char *const names[] = {"poisson2d:33x31", "poisson3d:13",
                                        "poisson3d27:9"};
    static const int64_t sizes[][3] = {{33, 31, 1}, {13, 13, 13}, {9, 9, 9}};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int fault = 0; fault < 4; fault++) {
            const tct_grid_place at = {
                .n = {sizes[i][0], sizes[i][1], sizes[i][2]}};
            tct_local A = from_gallery(names[i]);
            const int64_t k = A.ptr[A.rows - 1] + 1;
            if (fault == 1) A.ptr[A.rows]--;
            if (fault == 2) A.col[k]--;
            if (fault == 3) A.val[k] = nextafter(A.val[k], 0.0);
            tct_store_rows R = rows_of(&A);
            tct_grid_rows g, h;
            about_what = names[i];
            const char *of_host = tct_grid_find(&at, &A, &h);
            A.device = &R;
            SAME(tct_grid_find(&at, &A, &g) == of_host);
            SAME(!of_host == !fault);
            SAME(fault || memcmp(g.k, h.k, sizeof g.k) == 0);
            assert_int_equal(taken, 0);
            clear(&A);
        }
}

static void a_look_that_fails_leaves_nothing(void **state)
{
    int at[CELLS];
    (void)state;
    for (int i = 0; i < CELLS; i++) at[i] = i;
    tct_local A = strips(at, at, 0);
    const tct_store_rows R = rows_of(&A);
    const size_t blocks = tct_memory_blocks();
    tct_row_sizes sizes;
    double diagonal[CELLS];
    for (int64_t n = 1; n <= 4; n++) {
        unsigned char *got = NULL;
        fail_at = n;
        const tacit_status status =
            tct_look_at_rows(&R, &sizes, diagonal, &got);
        assert_int_equal(status, n < 4 ? TACIT_NO_MEMORY : TACIT_OK);
        assert_int_equal(fail_at, n < 4 ? 0 : 1);
        fail_at = 0;
        tct_free(got);
        assert_int_equal(taken, 0);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    clear(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_are_those_of_the_host),
        cmocka_unit_test(dictionaries_end_where_they_do_on_the_host),
        cmocka_unit_test(odd_values_keep_their_bits),
        cmocka_unit_test(floats_are_found_by_their_bits),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(reduced_values_are_the_hosts),
        cmocka_unit_test(magnitudes_are_those_of_rows),
        cmocka_unit_test(sizes_are_those_of_the_host),
        cmocka_unit_test(null_vectors_are_those_of_the_host),
        cmocka_unit_test(grids_are_those_of_the_host),
        cmocka_unit_test(a_look_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
