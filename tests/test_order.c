/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_order.c - rows in another order inside: the orders themselves,
 * products, solves and updates in them. What a user sees is in the order of the
 * matrix.
 * RUN: np=1,2,3,4
 * LIMIT: 300 */
#include "matrix/mail.h"
#include "matrix/order.h"
#include "operator/operator.h"
#include "rows.h"
#include <tacit/tacit.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- graphs --------------------------------------------------------------- */

/* Places of 0 to n - 1 in disorder, the same on every rank. */
static int32_t *disorder(int64_t n, uint64_t seed)
{
    int32_t *at = malloc(((size_t)n + 1) * sizeof *at);
    assert_non_null(at);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j =
            (int64_t)(tct_uniform(seed, (uint64_t)i) * (double)(i + 1));
        const int32_t one = at[i];
        at[i] = at[j];
        at[j] = one;
    }
    return at;
}

static int32_t *inverse(const int32_t *at, int64_t n)
{
    int32_t *was = malloc(((size_t)n + 1) * sizeof *was);
    assert_non_null(was);
    for (int64_t i = 0; i < n; i++) was[at[i]] = (int32_t)i;
    return was;
}

/* The graph of a matrix by formula, node i being called at[i]. */
typedef struct {
    tct_graph g;
    int64_t *ptr;
    int32_t *next;
} named_graph;

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static named_graph graph_of(row_fn row, int64_t n, const int32_t *at)
{
    int64_t cols[MOST];
    double vals[MOST];
    int32_t *was = inverse(at, n);
    named_graph G;
    G.ptr = calloc((size_t)n + 1, sizeof *G.ptr);
    for (int64_t i = 0; i < n; i++)
        G.ptr[i + 1] = G.ptr[i] + row(n, was[i], cols, vals);
    G.next = calloc((size_t)G.ptr[n] + 1, sizeof *G.next);
    for (int64_t i = 0; i < n; i++) {
        const int count = row(n, was[i], cols, vals);
        int32_t *next = G.next + G.ptr[i];
        for (int k = 0; k < count; k++) next[k] = at[cols[k]];
        qsort(next, (size_t)count, sizeof *next, ascending);
    }
    free(was);
    G.g = (tct_graph){.nodes = n, .ptr = G.ptr, .next = G.next};
    return G;
}

static void free_graph(named_graph *G)
{
    free(G->ptr);
    free(G->next);
}

static void assert_permutation(const int32_t *order, int64_t n)
{
    bool *seen = calloc((size_t)n + 1, sizeof *seen);
    for (int64_t k = 0; k < n; k++) {
        assert_in_range(order[k], 0, n - 1);
        assert_false(seen[order[k]]);
        seen[order[k]] = true;
    }
    free(seen);
}

static int64_t bandwidth(const tct_graph *g, const int32_t *order)
{
    int32_t *now = inverse(order, g->nodes);
    int64_t most = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++) {
            const int64_t gap = llabs((long long)now[i] - now[g->next[k]]);
            if (gap > most) most = gap;
        }
    free(now);
    return most;
}

static int64_t cut_edges(const tct_graph *g, const int32_t *order,
                         int64_t piece)
{
    int32_t *now = inverse(order, g->nodes);
    int64_t count = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
            count += now[i] / piece != now[g->next[k]] / piece;
    free(now);
    return count;
}

/* Poison, so that what an order leaves out is seen. */
static int32_t *room_for(int64_t n)
{
    int32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    assert_non_null(order);
    memset(order, 0x7f, ((size_t)n + 1) * sizeof *order);
    return order;
}

/* Bandwidth in the order, which must be one. */
static int64_t bandwidth_found(row_fn row, int64_t n)
{
    int32_t *at = disorder(n, 7), *order = room_for(n);
    named_graph G = graph_of(row, n, at);
    OK(tct_order_rcm(&G.g, order));
    assert_permutation(order, n);
    const int64_t found = bandwidth(&G.g, order);
    OK(tct_order_metis(&G.g, order));
    assert_permutation(order, n);
    free_graph(&G);
    free(order);
    free(at);
    return found;
}

/* Bands, WIDE to each side. */
enum { WIDE = 5 };
static int band_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    for (int64_t j = i - WIDE; j <= i + WIDE; j++) {
        if (j < 0 || j >= n) continue;
        cols[count] = j;
        vals[count++] = i == j ? 2 * WIDE + 1 : -1;
    }
    return count;
}

/* Five points on a grid that is 40 wide. */
enum { ACROSS = 40 };
static int grid_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int64_t x = i % ACROSS;
    const int64_t to[] = {i - ACROSS, x > 0 ? i - 1 : -1, i,
                          x < ACROSS - 1 ? i + 1 : -1, i + ACROSS};
    int count = 0;
    for (int k = 0; k < 5; k++) {
        if (to[k] < 0 || to[k] >= n) continue;
        cols[count] = to[k];
        vals[count++] = to[k] == i ? 4.5 : -1;
    }
    return count;
}

/* Lines of 1 to 9 points, and every 11th row empty. */
static int pieces_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    if (i % 11 == 10) return 0;
    for (int64_t j = i - 1; j <= i + 1; j++) {
        if (j < 0 || j >= n || j / 11 != i / 11 || j % 11 == 10) continue;
        cols[count] = j;
        vals[count++] = i == j ? 2 : -1;
    }
    return count;
}

static int own_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    cols[0] = i;
    vals[0] = (double)(2 + i % 5);
    return 1;
}

static int empty_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    (void)i;
    (void)cols;
    (void)vals;
    return 0;
}

/* All know the last one: more neighbours than are sorted by insertion. */
static int star_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    if (i < n - 1) cols[count++] = i;
    for (int64_t j = 0; j < n - 1 && i == n - 1; j++) cols[count++] = j;
    cols[count++] = n - 1;
    for (int k = 0; k < count; k++)
        vals[k] = cols[k] == i ? (double)(i == n - 1 ? n : 2) : -1;
    return count;
}

static void rcm_finds_a_band_again(void **state)
{
    (void)state;
    assert_true(bandwidth_found(line_row, 1000) == 1);
    assert_true(bandwidth_found(band_row, 700) <= 2 * WIDE);
    assert_true(bandwidth_found(grid_row, 40 * 200) <= ACROSS + 2);
    assert_true(bandwidth_found(pieces_row, 300) == 1);
    assert_true(bandwidth_found(own_row, 50) == 0);
    assert_true(bandwidth_found(star_row, MOST - 1) <= MOST - 2);
}

static void the_smallest_graphs_have_an_order(void **state)
{
    (void)state;
    static const row_fn rows[] = {own_row, empty_row};
    for (int r = 0; r < 2; r++)
        for (int64_t n = 0; n < 4; n++)
            assert_true(bandwidth_found(rows[r], n) == 0);
    assert_true(bandwidth_found(line_row, 2) == 1);
}

/* Edges that go one way only: a node on the rim need not see where the search
 * for it began. */
static int lower_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    cols[0] = i;
    vals[0] = 2;
    if (i == 0) return 1;
    cols[1] = i - 1;
    vals[1] = 1;
    return 2;
}

static void one_way_edges_leave_no_row_out(void **state)
{
    (void)state;
    static const row_fn rows[] = {upper_row, lower_row, scattered_row};
    for (int r = 0; r < 3; r++)
        for (int64_t n = r < 2 ? 1 : 100; n < 600; n = 2 * n + 1)
            for (uint64_t seed = 0; seed < 5; seed++) {
                int32_t *at = disorder(n, seed), *order = room_for(n);
                named_graph G = graph_of(rows[r], n, at);
                OK(tct_order_rcm(&G.g, order));
                assert_permutation(order, n);
                free_graph(&G);
                free(order);
                free(at);
            }
}

/* A chain that goes one way: as long as a matrix may be, so not n times n. */
static void one_way_edges_cost_no_square(void **state)
{
    (void)state;
    enum { N = 400000 };
    static const row_fn rows[] = {upper_row, lower_row};
    for (int r = 0; r < 2; r++) {
        int32_t *at = malloc(N * sizeof *at), *order = room_for(N);
        for (int32_t i = 0; i < N; i++) at[i] = i;
        named_graph G = graph_of(rows[r], N, at);
        const double start = tct_seconds();
        OK(tct_order_rcm(&G.g, order));
        assert_true(tct_seconds() - start < 20.0);
        assert_permutation(order, N);
        free_graph(&G);
        free(order);
        free(at);
    }
}

static void metis_makes_parts_with_few_edges_between(void **state)
{
    (void)state;
    enum { N = ACROSS * 800, PART = 8192 };
    int32_t *at = disorder(N, 3), *order = room_for(N), *plain = room_for(N);
    named_graph G = graph_of(grid_row, N, at);
    for (int32_t i = 0; i < N; i++) plain[i] = i;
    OK(tct_order_metis(&G.g, order));
    assert_permutation(order, N);
    assert_true(cut_edges(&G.g, order, PART) <
                cut_edges(&G.g, plain, PART) / 20);
    memcpy(plain, order, N * sizeof *order);
    OK(tct_order_metis(&G.g, order)); /* and the same ones again */
    assert_memory_equal(plain, order, N * sizeof *order);
    free_graph(&G);
    free(plain);
    free(order);
    free(at);
}

static void metis_refuses_edges_that_go_one_way(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2, 500, 20000};
    for (int s = 0; s < 3; s++) {
        const int64_t n = sizes[s];
        int32_t *at = disorder(n, 3), *order = room_for(n);
        named_graph G = graph_of(upper_row, n, at);
        assert_int_equal(tct_order_metis(&G.g, order), TACIT_UNSUPPORTED);
        assert_message(
            "order metis: not for a pattern that is not symmetric, use rcm");
        free_graph(&G);
        free(order);
        free(at);
    }
}

/* Rows of 1 to 40 entries, at random. */
static int uneven_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = 1 + (int)(39.0 * tct_uniform(3, (uint64_t)i));
    for (int k = 0; k < count; k++) {
        cols[k] = (i + k) % n;
        vals[k] = 1.0;
    }
    return count;
}

/* Nodes stay in their chunk; each 32 have nearly one degree; and what is 32
 * nodes long and comes at the same place in each chunk differs. */
static void even_brings_equal_degrees_together(void **state)
{
    (void)state;
    enum { N = 64 * 1024 + 77, CHUNK = 1024, LOT = 32 };
    int32_t *at = disorder(N, 11), *order = room_for(N);
    named_graph G = graph_of(uneven_row, N, at);
    int64_t spread = 0, first = 0;
    for (int64_t k = 0; k < N; k++) order[k] = (int32_t)(N - 1 - k);
    tct_order_even(&G.g, CHUNK, order);
    assert_permutation(order, N);
    for (int64_t k = 0; k < N; k++)
        assert_int_equal((N - 1 - order[k]) / CHUNK, k / CHUNK);
    for (int64_t k = 0; k + LOT <= N; k += LOT) {
        const int32_t a = order[k], b = order[k + LOT - 1];
        const int64_t most = G.ptr[a + 1] - G.ptr[a];
        const int64_t least = G.ptr[b + 1] - G.ptr[b];
        assert_true(most >= least);
        spread += most - least;
        if (k % CHUNK == 0) first += most;
    }
    assert_true(spread <= 2 * N / LOT); /* 30 and more as they came */
    const double mean = (double)first / (N / CHUNK);
    assert_true(mean > 14.0 && mean < 27.0); /* not always the longest */
    free_graph(&G);
    free(at);
    free(order);
}

/* --- products --------------------------------------------------------------- */

static tacit_queue *open_queue(const char *spec)
{
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), spec, 0, &q));
    return q;
}

static double *vector(tacit_queue *q, size_t n)
{
    double *x = NULL;
    OK(tacit_queue_alloc(q, n, &x));
    return x;
}

static double entry_of_x(int64_t i)
{
    return (double)(1 + i * 7 % 11);
}

/* y = A x by the formula, x and y as the matrix is dealt out. */
static void oracle(const tacit_matrix *m, row_fn row, int64_t n, double *x,
                   double *y)
{
    for (int64_t i = 0; i < m->A.rows; i++) {
        int64_t cols[MOST];
        double vals[MOST];
        const int64_t at = tct_original(m, i);
        const int count = row(n, at, cols, vals);
        x[i] = entry_of_x(at);
        y[i] = 0.0;
        for (int k = 0; k < count; k++) y[i] += vals[k] * entry_of_x(cols[k]);
    }
}

/* A x is what the formula says: twice, the second time with other x between. */
static void assert_product(tacit_queue *q, const tacit_operator *A,
                           const tacit_matrix *m, row_fn row, int64_t n,
                           double tolerance)
{
    const size_t rows = (size_t)m->A.rows;
    double *x = vector(q, rows), *y = vector(q, rows);
    double *here = calloc(rows + 1, sizeof *here);
    double *right = calloc(rows + 1, sizeof *right);
    double *got = calloc(rows + 1, sizeof *got);
    oracle(m, row, n, here, right);
    for (int turn = 0; turn < 2; turn++) {
        OK(tacit_queue_put(q, rows, here, x));
        OK(tacit_operator_apply(A, x, y));
        OK(tacit_queue_get(q, rows, y, got));
        for (size_t i = 0; i < rows; i++)
            if (!(fabs(got[i] - right[i]) <= tolerance * fabs(right[i])))
                fail_msg("row %zu of rank %d: %.17g, not %.17g", i,
                         tacit_world_rank(test_world()), got[i], right[i]);
        OK(tacit_queue_get(q, rows, x, got));
        assert_memory_equal(got, here, rows * sizeof *got); /* only read */
        OK(tacit_operator_apply(A, y, x));
    }
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    free(here);
    free(right);
    free(got);
}

/* Dense blocks of `block_size` on a grid, its points in disorder. */
static int block_size;
static int blocks_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int64_t near[MOST];
    double unused[MOST];
    int count = 0;
    const int b = block_size;
    const int64_t points = n / b, stride = 53; /* prime, and no divisor */
    int64_t point = 0;
    while (point * stride % points != i / b) point++;
    const int blocks = grid_row(points, point, near, unused);
    for (int k = 0; k < blocks; k++)
        for (int c = 0; c < b; c++) {
            cols[count] = near[k] * stride % points * b + c;
            vals[count] = cols[count] == i ? 40.0 : -1.0;
            count++;
        }
    return count;
}

typedef struct {
    const char *name;
    row_fn row;
    int64_t n;
    bool one_way;
    double tolerance;
} sample;

static const sample samples[] = {
    {"grid in disorder", shuffled_grid_row, GRID, false, 0.0},
    {"line", line_row, 41, false, 0.0},
    {"blocks in a line", block_row, 360, false, 0.0},
    {"scattered", scattered_row, 501, true, 1e-15},
    {"upper", upper_row, 60, true, 0.0},
    {"dense", dense_row, 43, false, 0.0},
    {"pieces", pieces_row, 199, false, 0.0},
    {"diagonal", own_row, 77, false, 0.0},
    {"two rows", line_row, 2, false, 0.0},
    {"one row", own_row, 1, false, 0.0},
    {"star", star_row, 70, false, 0.0},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* Dealt out to all ranks in pieces, where there is something to deal. */
static tacit_matrix *scattered(row_fn row, int64_t n, int64_t piece)
{
    static char text[1 << 16];
    const int size = tacit_world_size(test_world());
    tacit_matrix *m = make(row, n);
    char *at = text;
    if (n < 40) return m;
    for (int64_t i = 0; i < n; i++)
        at += sprintf(at, "%d\n", (int)(i / piece * 7 / 3 % size));
    const char *path = temporary("parts", text);
    OK(tacit_matrix_partition(m, "file", path));
    discard(path);
    return m;
}

static tacit_matrix *dealt(row_fn row, int64_t n, bool moved, int64_t piece)
{
    return moved ? scattered(row, n, piece) : make(row, n);
}

static const char *const formats[] = {"csr", "sell", "bsell", "auto"};
static const char *const orders[] = {"none", "rcm", "metis", "auto"};
enum { FORMATS = 4, ORDERS = 4 };

static void expect_products(const sample *s, tacit_matrix *m, const char *spec,
                            const char *format, const char *order)
{
    char name[40];
    tacit_operator *A = NULL;
    tacit_queue *q = open_queue(spec);
    snprintf(name, sizeof name, "%s@%s", format, order);
    const tacit_status status = tacit_operator_create(q, m, name, &A);
    if (status == TACIT_UNSUPPORTED) {
        const bool metis = strcmp(order, "metis") == 0 && s->one_way;
        if (!metis && strcmp(format, "bsell") != 0)
            fail_msg("%s of %s: %s", name, s->name, tacit_error_message());
        assert_message(metis ? "" : "no dense blocks");
        assert_null(A);
    } else {
        OK(status);
        tacit_operator_info info;
        tacit_operator_describe(A, &info);
        assert_string_equal(info.order,
                            strcmp(order, "auto") == 0 ? "none" : order);
        assert_true(info.order_seconds >= 0.0 &&
                    info.order_seconds <= info.setup_seconds);
        if (strcmp(info.order, "none") == 0)
            assert_true(info.order_seconds == 0.0);
        assert_product(q, A, m, s->row, s->n, s->tolerance);
    }
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
}

static void products_are_those_of_the_matrix(void **state)
{
    (void)state;
    for (int s = 0; s < SAMPLES; s++)
        for (int moved = 0; moved < 2; moved++) {
            tacit_matrix *m = dealt(samples[s].row, samples[s].n, moved, 2);
            for (int f = 0; f < FORMATS; f++)
                for (int o = 0; o < ORDERS; o++)
                    expect_products(&samples[s], m, "host", formats[f],
                                    orders[o]);
            expect_products(&samples[s], m, "memcheck:host", "sell", "rcm");
            expect_products(&samples[s], m, "chaos(5):memcheck:host", "csr",
                            "rcm");
            tacit_matrix_destroy(&m);
        }
}

static void one_way_patterns_are_not_for_metis(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(upper_row, 800);
    tacit_operator *A = NULL;
    assert_int_equal(tacit_operator_create(q, m, "sell@metis", &A),
                     TACIT_UNSUPPORTED);
    assert_message(
        "order metis: not for a pattern that is not symmetric, use rcm");
    assert_null(A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* Blocks stay whole, and stay what bsell stores. */
static void dense_blocks_stay_whole(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    for (block_size = 2; block_size <= 6; block_size++)
        for (int o = 0; o < 3; o++) {
            const int64_t points = 2 * ACROSS, n = points * block_size;
            char name[24], blocks[24];
            tacit_matrix *m = make(blocks_row, n);
            const bool cut = m->A.rows % block_size || m->A.first % block_size;
            bool any = false;
            OK(tct_any(m->world, cut, &any));
            tacit_operator *A = NULL;
            snprintf(name, sizeof name, "bsell@%s", orders[o]);
            const tacit_status status = tacit_operator_create(q, m, name, &A);
            if (!any) {
                OK(status);
                tacit_operator_info info;
                tacit_operator_describe(A, &info);
                snprintf(blocks, sizeof blocks, "%dx%d blocks", block_size,
                         block_size);
                assert_non_null(strstr(info.detail, blocks));
                const tct_order *order = A->order;
                for (int64_t k = 0; order && k < m->A.rows; k++)
                    assert_int_equal(order->old[k],
                                     order->old[k - k % block_size] +
                                         k % block_size);
            }
            if (status == TACIT_OK) assert_product(q, A, m, blocks_row, n, 0.0);
            tacit_operator_destroy(&A);
            tacit_matrix_destroy(&m);
        }
    tacit_queue_destroy(&q);
}

/* More rows than are one part of METIS's, on every rank. */
static void large_parts_are_right_too(void **state)
{
    (void)state;
    enum { N = ACROSS * 1000 };
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(grid_row, N);
    for (int o = 0; o < 3; o++) {
        char name[24];
        tacit_operator *A = NULL;
        snprintf(name, sizeof name, "auto@%s", orders[o]);
        OK(tacit_operator_create(q, m, name, &A));
        assert_product(q, A, m, grid_row, N, 0.0);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

static void vectors_that_overlap_are_refused(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(line_row, 40);
    for (int o = 0; o < 2; o++) {
        char name[24];
        tacit_operator *A = NULL;
        tacit_solver *s = NULL;
        tacit_result result;
        const tacit_stop stop = {.rtol = 1e-8};
        snprintf(name, sizeof name, "csr@%s", orders[o]);
        OK(tacit_operator_create(q, m, name, &A));
        OK(tacit_solver_create(q, A, "cg", &s));
        const size_t n = (size_t)tacit_operator_local_rows(A);
        double *x = vector(q, 2 * n);
        q_fill(q, 2 * n, 1.0, x);
        assert_int_equal(tacit_solver_run(s, x, x, &stop, &result),
                         TACIT_INVALID);
        assert_message("b and x share memory");
        assert_int_equal(tacit_solver_run(s, x, x + n / 2, &stop, &result),
                         TACIT_INVALID);
        assert_int_equal(tacit_operator_apply(A, x, x), TACIT_INVALID);
        assert_message("x and y share memory");
        assert_int_equal(tacit_operator_apply(A, x + 1, x), TACIT_INVALID);
        OK(tacit_operator_apply(A, x, x + n));
        tacit_queue_free(q, &x);
        tacit_solver_destroy(&s);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

static void unknown_orders_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "sell@foo", "@",        "sell@",      "csr@RCM",
        "csr@rcm ", "@rcm@rcm", "csr@metis2", "@rcmrcmrcmrcmrcmrcm"};
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make(line_row, 40);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tacit_operator *A = NULL;
        assert_int_equal(tacit_operator_create(q, m, names[i], &A),
                         TACIT_INVALID);
        assert_message("unknown order '");
        assert_message("auto, none, rcm or metis");
        assert_null(A);
    }
    tacit_operator *A = NULL;
    OK(tacit_operator_create(q, m, "@rcm", &A)); /* of any format */
    tacit_operator_info info;
    tacit_operator_describe(A, &info);
    assert_string_equal(info.order, "rcm");
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* --- solves ------------------------------------------------------------------- */

typedef struct {
    tacit_queue *q;
    tacit_operator *A;
    tacit_solver *s;
    size_t n;
    double *b, *x, *xstar;
    tacit_result result;
} problem;

static void open_problem(problem *p, const char *spec, const char *format,
                         const tacit_matrix *m, const char *method)
{
    memset(p, 0, sizeof *p);
    p->q = open_queue(spec);
    OK(tacit_operator_create(p->q, m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->b = vector(p->q, p->n);
    p->x = vector(p->q, p->n);
    p->xstar = vector(p->q, p->n);
    OK(tacit_manufacture(p->q, p->A, m, 5, p->xstar, p->b));
    q_fill(p->q, p->n, 0.0, p->x);
}

static void close_problem(problem *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_queue_free(p->q, &p->xstar);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
}

typedef struct {
    int64_t calls;
    double first, last;
} watch;

static int note(void *ctx, int64_t iteration, double residual)
{
    watch *w = ctx;
    assert_int_equal(iteration, w->calls++);
    if (iteration == 0) w->first = residual;
    w->last = residual;
    return 0;
}

static tacit_status solve(problem *p, double rtol, watch *w)
{
    *w = (watch){0};
    const tacit_stop stop = {.rtol = rtol, .monitor = note, .monitor_ctx = w};
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

/* || b - A x || / || b || with the user's vectors. */
static double residual(const problem *p, const double *x)
{
    double *r = vector(p->q, p->n), norm = 0.0, of_b = 0.0;
    OK(tacit_operator_apply(p->A, x, r));
    OK(tacit_distance(p->q, p->n, p->b, r, &norm));
    OK(tacit_distance(p->q, p->n, p->b, NULL, &of_b));
    tacit_queue_free(p->q, &r);
    return norm / of_b;
}

/* A solve from x, and what it must be: x the solution in the order of the
 * matrix, and each number of the report that of the user's vectors. */
static void assert_solved(problem *p, double error_most)
{
    watch w;
    double error = 1.0;
    const double guess = residual(p, p->x);
    OK(solve(p, 1e-9, &w));
    assert_true(p->result.converged);
    assert_true(fabs(w.first - guess) <= 1e-10 * guess + 1e-14);
    assert_true(w.last == p->result.relative_residual);
    assert_int_equal(w.calls, p->result.iterations + 1);
    const double true_one = residual(p, p->x);
    assert_true(true_one <= 1.001e-9);
    assert_true(fabs(true_one - p->result.true_relative_residual) <=
                1e-3 * true_one + 1e-14);
    OK(tacit_distance(p->q, p->n, p->x, p->xstar, &error));
    if (!(error <= error_most)) fail_msg("an error of %g", error);
}

static void check_method(const tacit_matrix *m, const char *spec,
                         const char *format, const char *method,
                         const int64_t iterations[2], double *x)
{
    problem p;
    open_problem(&p, spec, format, m, method);
    assert_solved(&p, 1e-6);
    if (iterations)
        assert_true(llabs((long long)(p.result.iterations - iterations[0])) <=
                    2);
    if (x) OK(tacit_queue_get(p.q, p.n, p.x, x));
    q_axpy(p.q, p.n, 0.5, NULL, p.xstar, p.x); /* a guess that is far off */
    assert_solved(&p, 1e-6);
    if (iterations)
        assert_true(llabs((long long)(p.result.iterations - iterations[1])) <=
                    2);
    q_copy(p.q, p.n, p.xstar, p.x); /* and one that is right */
    const int64_t before = p.result.iterations;
    assert_solved(&p, 1e-6);
    assert_int_equal(p.result.iterations, 0);
    assert_true(before > 0);
    q_fill(p.q, p.n, 0.0, p.b); /* and b = 0, of which x = 0 */
    watch w;
    double norm = 1.0;
    OK(solve(&p, 1e-9, &w));
    OK(tacit_distance(p.q, p.n, p.x, NULL, &norm));
    assert_true(norm == 0.0);
    close_problem(&p);
}

static void count_iterations(const tacit_matrix *m, const char *method,
                             int64_t iterations[2])
{
    problem p;
    watch w;
    open_problem(&p, "host", "auto@none", m, method);
    OK(solve(&p, 1e-9, &w));
    iterations[0] = p.result.iterations;
    q_axpy(p.q, p.n, 0.5, NULL, p.xstar, p.x);
    OK(solve(&p, 1e-9, &w));
    iterations[1] = p.result.iterations;
    close_problem(&p);
}

static void solves_end_in_the_order_of_the_matrix(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        {"host", "csr@rcm"},          {"host", "sell@rcm"},
        {"host", "auto@metis"},       {"memcheck:host", "auto@rcm"},
        {"chaos(3):host", "csr@rcm"}, {"chaos(8):memcheck:host", "sell@metis"}};
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *m = dealt(shuffled_grid_row, GRID, moved, 3);
        for (int i = 0; tacit_solver_method(i); i++) {
            const char *method = tacit_solver_method(i)->name;
            int64_t iterations[2];
            count_iterations(m, method, iterations);
            for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
                check_method(m, paths[k][0], paths[k][1], method, iterations,
                             NULL);
        }
        tacit_matrix_destroy(&m);
    }
}

/* b = A x* of the manufactured problem is the same in any order. */
static void manufactured_problems_are_those_of_the_matrix(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    const size_t n = (size_t)m->A.rows;
    double *first = calloc(2 * n + 1, sizeof *first);
    double *other = calloc(2 * n + 1, sizeof *other);
    for (int o = 0; o < 3; o++) {
        char name[24];
        problem p;
        snprintf(name, sizeof name, "csr@%s", orders[o]);
        open_problem(&p, "host", name, m, "cg");
        double *to = o ? other : first;
        OK(tacit_queue_get(p.q, n, p.xstar, to));
        OK(tacit_queue_get(p.q, n, p.b, to + n));
        close_problem(&p);
        if (o == 0) continue;
        assert_memory_equal(first, other, n * sizeof *first);
        for (size_t i = n; i < 2 * n; i++)
            assert_true(fabs(first[i] - other[i]) <= 1e-16);
    }
    free(first);
    free(other);
    tacit_matrix_destroy(&m);
}

/* Entries so small that what is stored is the matrix times a power of 2. */
static int tiny_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = shuffled_grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) vals[k] = ldexp(vals[k], -565);
    return count;
}

static int huge_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = shuffled_grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) vals[k] = ldexp(vals[k], 900);
    return count;
}

static void far_from_1_and_in_another_order(void **state)
{
    (void)state;
    static const row_fn rows[] = {tiny_row, huge_row};
    for (int r = 0; r < 2; r++) {
        tacit_matrix *m = make(rows[r], GRID);
        tacit_queue *q = open_queue("host");
        tacit_operator *A = NULL;
        OK(tacit_operator_create(q, m, "sell@rcm", &A));
        assert_product(q, A, m, rows[r], GRID, 0.0);
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
        for (int i = 0; tacit_solver_method(i); i++)
            check_method(m, "host", "auto@rcm", tacit_solver_method(i)->name,
                         NULL, NULL);
        tacit_matrix_destroy(&m);
    }
}

static void outcomes_leave_x_in_the_order_of_the_matrix(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    for (int i = 0; tacit_solver_method(i); i++) {
        problem p;
        const tacit_stop stop = {.rtol = 1e-12, .max_iterations = 9};
        open_problem(&p, "host", "sell@rcm", m, tacit_solver_method(i)->name);
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                         TACIT_NOT_CONVERGED);
        const double left = residual(&p, p.x);
        assert_true(fabs(left - p.result.true_relative_residual) <=
                    1e-6 * left);
        q_fill(p.q, p.n, NAN, p.b);
        q_fill(p.q, p.n, 3.0, p.x);
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result),
                         TACIT_INPUT);
        double norm = 0.0;
        OK(tacit_distance(p.q, p.n, p.x, NULL, &norm)); /* x is as it was */
        assert_true(fabs(norm - 3.0 * sqrt(GRID)) < 1e-9);
        close_problem(&p);
    }
    tacit_matrix_destroy(&m);
}

static void running_in_another_order_never_allocates(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    for (int i = 0; tacit_solver_method(i); i++) {
        problem p;
        watch w;
        open_problem(&p, "host", "sell@rcm", m, tacit_solver_method(i)->name);
        tct_memory_fail_at(1);
        const tacit_status status = solve(&p, 1e-9, &w);
        const tacit_status applied = tacit_operator_apply(p.A, p.x, p.xstar);
        tct_memory_fail_at(0);
        OK(status);
        OK(applied);
        close_problem(&p);
    }
    tacit_matrix_destroy(&m);
}

static void no_memory_for_an_order_leaks_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"csr@rcm", "bsell@rcm", "sell@metis"};
    tacit_queue *q = open_queue("host");
    block_size = 3;
    tacit_matrix *m = make(blocks_row, 3 * 4 * ACROSS);
    const size_t before = tct_memory_blocks();
    for (int f = 0; f < 3; f++) {
        bool finished = false;
        for (long k = 1; k < 400 && !finished; k++) {
            tacit_operator *A = NULL;
            tacit_solver *s = NULL;
            tct_memory_fail_at(k);
            tacit_status status = tacit_operator_create(q, m, names[f], &A);
            if (status == TACIT_OK)
                status = tacit_solver_create(q, A, "cg", &s);
            if (status == TACIT_OK) status = tacit_operator_update(A, m);
            tct_memory_fail_at(0);
            finished = status == TACIT_OK;
            if (!finished && status != TACIT_NO_MEMORY)
                assert_int_equal(status, TACIT_UNSUPPORTED); /* cut blocks */
            tacit_solver_destroy(&s);
            tacit_operator_destroy(&A);
            assert_int_equal(tct_memory_blocks(), before);
        }
        assert_true(finished || tacit_world_size(test_world()) == 3);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

/* --- new values ------------------------------------------------------------------ */

/* A matrix by formula with one change: an entry left out, or one more; and all
 * values times `factor`. */
static struct {
    row_fn base;
    int64_t row, col; /* row -1: none */
    bool more;
    double factor;
} change;

static int changed_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = change.base(n, i, cols, vals);
    for (int k = 0; k < count; k++)
        vals[k] *= change.factor * (double)(1 + (i + cols[k]) % 3);
    if (i != change.row) return count;
    if (change.more) {
        cols[count] = change.col;
        vals[count++] = 0.5;
    }
    for (int k = 0; k < count && !change.more; k++) {
        if (cols[k] != change.col) continue;
        cols[k] = cols[--count];
        vals[k] = vals[count];
    }
    return count;
}

static bool stored(row_fn row, int64_t n, int64_t i, int64_t j)
{
    int64_t cols[MOST];
    double vals[MOST];
    const int count = row(n, i, cols, vals);
    for (int k = 0; k < count; k++)
        if (cols[k] == j) return true;
    return false;
}

static void new_values_are_multiplied_by(void **state)
{
    (void)state;
    static const double factors[] = {2.0, -3.0, 0x1p-600};
    tacit_queue *q = open_queue("host");
    change.row = -1;
    for (int s = 0; s < SAMPLES; s++)
        for (int f = 0; f < 3; f++)
            for (int o = 1; o < 3; o++) {
                char name[24];
                change.base = samples[s].row;
                change.factor = factors[(s + f) % 3];
                tacit_operator *A = NULL;
                tacit_matrix *old =
                    dealt(samples[s].row, samples[s].n, f > 0, 2);
                tacit_matrix *new = dealt(changed_row, samples[s].n, f > 0, 2);
                snprintf(name, sizeof name, "%s@%s", formats[f], orders[o]);
                const tacit_status status =
                    tacit_operator_create(q, old, name, &A);
                if (status == TACIT_OK) {
                    OK(tacit_operator_update(A, new));
                    assert_product(q, A, new, changed_row, samples[s].n,
                                   samples[s].tolerance);
                    OK(tacit_operator_update(A, old));
                    assert_product(q, A, old, samples[s].row, samples[s].n,
                                   samples[s].tolerance);
                } else {
                    assert_int_equal(status, TACIT_UNSUPPORTED);
                }
                tacit_operator_destroy(&A);
                tacit_matrix_destroy(&new);
                tacit_matrix_destroy(&old);
            }
    tacit_queue_destroy(&q);
}

/* Entry (i, j) too few or too many is named by these numbers, and what was
 * there is still multiplied by if only one rank has rows. */
static void expect_named(tacit_queue *q, const char *format, row_fn base,
                         int64_t n, int64_t piece, int64_t i, int64_t j)
{
    change.base = base;
    change.row = i;
    change.col = j;
    change.more = !stored(base, n, i, j);
    change.factor = 0x1p-300;
    for (int moved = 0; moved < 2; moved++) {
        tacit_matrix *old = dealt(base, n, moved, piece);
        tacit_matrix *new = dealt(changed_row, n, moved, piece);
        tacit_operator *A = NULL;
        OK(tacit_operator_create(q, old, format, &A));
        assert_int_equal(tacit_operator_update(A, new), TACIT_INVALID);
        char sentence[160];
        snprintf(sentence, sizeof sentence,
                 "row %" PRId64 ", column %" PRId64 " (counting from 1) was %s",
                 i + 1, j + 1,
                 change.more ? "not stored and is now"
                             : "stored and is not now");
        assert_message(sentence);
        if (tacit_world_size(test_world()) == 1)
            assert_product(q, A, old, base, n, 0.0);
        OK(tacit_operator_update(A, old));
        assert_product(q, A, old, base, n, 0.0);
        tacit_operator_destroy(&A);
        tacit_matrix_destroy(&new);
        tacit_matrix_destroy(&old);
    }
}

static void entries_are_named_as_the_user_knows_them(void **state)
{
    (void)state;
    static const char *const names[] = {"csr@rcm", "sell@rcm", "sell@metis"};
    static const int64_t rows[] = {0, 480, GRID - 1};
    tacit_queue *q = open_queue("host");
    for (int f = 0; f < 3; f++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            int64_t cols[MOST];
            double vals[MOST];
            const int64_t i = rows[k];
            const int count = shuffled_grid_row(GRID, i, cols, vals);
            for (int e = 0; e < count; e++) /* left out: near and far ones */
                expect_named(q, names[f], shuffled_grid_row, GRID, 1, i,
                             cols[e]);
            for (int64_t j = 3; j < GRID; j += 311) /* one more */
                if (!stored(shuffled_grid_row, GRID, i, j))
                    expect_named(q, names[f], shuffled_grid_row, GRID, 1, i, j);
        }
    tacit_queue_destroy(&q);
}

static void entries_of_ordered_blocks_are_named(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("host");
    for (int64_t i = 0; i < 360; i += 37)
        for (int64_t j = i % 50; j < 360; j += 113)
            if (!stored(block_row, 360, i, j))
                expect_named(q, "bsell@rcm", block_row, 360, 3, i, j);
    tacit_queue_destroy(&q);
}

/* --- measured --------------------------------------------------------------------- */

static int told; /* lines about an order that was tried */
static void count_orders(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    told += strstr(text, "order rcm found in") != NULL;
}

/* Five points on a LARGE x LARGE grid, in disorder: its rows of this rank. */
enum { LARGE = 500, MANY = LARGE * LARGE };
static const int32_t *place, *place_was;
static int large_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int64_t p = place_was[i], x = p % LARGE;
    const int64_t to[] = {p - LARGE, x > 0 ? p - 1 : -1, p,
                          x < LARGE - 1 ? p + 1 : -1, p + LARGE};
    int count = 0;
    for (int k = 0; k < 5; k++) {
        if (to[k] < 0 || to[k] >= n) continue;
        cols[count] = place[to[k]];
        vals[count++] = to[k] == p ? 4.0 : -1.0;
    }
    return count;
}

static tacit_matrix *make_large(int64_t n)
{
    const int64_t first = my_first(n), rows = my_last(n) - first;
    const size_t room = 5 * (size_t)rows + 1;
    int64_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);
    int64_t *cols = calloc(room, sizeof *cols);
    double *vals = calloc(room, sizeof *vals);
    for (int64_t i = 0; i < rows; i++)
        ptr[i + 1] =
            ptr[i] + large_row(n, first + i, cols + ptr[i], vals + ptr[i]);
    tacit_matrix *m = NULL;
    OK(tacit_matrix_from_rows(test_world(), n, first, rows, ptr, cols, vals,
                              &m));
    free(ptr);
    free(cols);
    free(vals);
    return m;
}

static void auto_measures_a_large_matrix(void **state)
{
    (void)state;
    int32_t *at = disorder(MANY, 11), *was = inverse(at, MANY);
    place = at;
    place_was = was;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make_large(MANY);
    tacit_set_log(count_orders, NULL);
    for (int f = 0; f < 2; f++) {
        tacit_operator *A = NULL;
        tacit_operator_info info;
        told = 0;
        OK(tacit_operator_create(q, m, f ? "csr" : NULL, &A));
        tacit_operator_describe(A, &info);
        /* a rank's share of it is too small to try */
        assert_int_equal(told, tacit_world_size(test_world()) == 1);
        if (!told) assert_string_equal(info.order, "none");
        assert_true(strcmp(info.order, "none") == 0
                        ? info.order_seconds == 0.0
                        : strcmp(info.order, "rcm") == 0 &&
                              info.order_seconds > 0.0);
        if (tacit_world_size(test_world()) == 1)
            print_message("order %s\n", info.order);
        assert_product(q, A, m, large_row, MANY, 0.0);
        OK(tacit_operator_update(A, m));
        assert_product(q, A, m, large_row, MANY, 0.0);
        tacit_operator_destroy(&A);
    }
    tacit_set_log(NULL, NULL);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
    free(at);
    free(was);
}

/* What is tried only since it may be faster must not fail for want of memory:
 * an allocation that fails then leaves the order as it is. */
static void auto_without_memory_leaves_rows_as_they_come(void **state)
{
    (void)state;
    if (tacit_world_size(test_world()) > 1) skip(); /* nothing is tried */
    int32_t *at = disorder(MANY, 11), *was = inverse(at, MANY);
    place = at;
    place_was = was;
    tacit_queue *q = open_queue("host");
    tacit_matrix *m = make_large(MANY);
    const size_t before = tct_memory_blocks();
    int gave_up = 0, refused = 0;
    tacit_set_log(count_orders, NULL);
    for (long k = 1; k < 300 && gave_up < 6; k++) {
        tacit_operator *A = NULL;
        told = 0;
        tct_memory_fail_at(k);
        const tacit_status status = tacit_operator_create(q, m, "csr", &A);
        tct_memory_fail_at(0);
        if (status != TACIT_OK) {
            refused++;
            assert_int_equal(status, TACIT_NO_MEMORY);
        } else if (!told) {
            if (gave_up++ % 4 == 0)
                assert_product(q, A, m, large_row, MANY, 0.0);
        }
        tacit_operator_destroy(&A);
        assert_int_equal(tct_memory_blocks(), before);
    }
    tacit_set_log(NULL, NULL);
    assert_true(gave_up == 6 && refused > 0);
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
    free(at);
    free(was);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rcm_finds_a_band_again),
        cmocka_unit_test(the_smallest_graphs_have_an_order),
        cmocka_unit_test(one_way_edges_leave_no_row_out),
        cmocka_unit_test(one_way_edges_cost_no_square),
        cmocka_unit_test(metis_makes_parts_with_few_edges_between),
        cmocka_unit_test(metis_refuses_edges_that_go_one_way),
        cmocka_unit_test(even_brings_equal_degrees_together),
        cmocka_unit_test(products_are_those_of_the_matrix),
        cmocka_unit_test(one_way_patterns_are_not_for_metis),
        cmocka_unit_test(dense_blocks_stay_whole),
        cmocka_unit_test(large_parts_are_right_too),
        cmocka_unit_test(vectors_that_overlap_are_refused),
        cmocka_unit_test(unknown_orders_are_refused),
        cmocka_unit_test(solves_end_in_the_order_of_the_matrix),
        cmocka_unit_test(manufactured_problems_are_those_of_the_matrix),
        cmocka_unit_test(far_from_1_and_in_another_order),
        cmocka_unit_test(outcomes_leave_x_in_the_order_of_the_matrix),
        cmocka_unit_test(running_in_another_order_never_allocates),
        cmocka_unit_test(no_memory_for_an_order_leaks_nothing),
        cmocka_unit_test(new_values_are_multiplied_by),
        cmocka_unit_test(entries_are_named_as_the_user_knows_them),
        cmocka_unit_test(entries_of_ordered_blocks_are_named),
        cmocka_unit_test(auto_measures_a_large_matrix),
        cmocka_unit_test(auto_without_memory_leaves_rows_as_they_come),
    };
    TEST_MPI_MAIN(tests);
}
