/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_order.c - orderings of the nodes of a graph. */
#include "graph/order.h"
#include "patterns.h"
#include <time.h>

#define OK(call) assert_int_equal(call, TACIT_OK)

/* --- graphs --------------------------------------------------------------- */

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

static int empty_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    (void)n;
    (void)i;
    (void)cols;
    (void)vals;
    return 0;
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

/* Edges that go one way only: a node on the interface need not see where the
 * search for it began. */
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
        const clock_t start = clock(); /* of the processor */
        OK(tct_order_rcm(&G.g, order));
        assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
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
    };
    TEST_MPI_MAIN(tests);
}
