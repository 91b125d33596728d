/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_null_components.c - components that have the constant for a null
 * vector, against a search of the whole graph, by any number of ranks and
 * threads.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "operator/assembled.h"
#include "operator/null/null_space.h"
#include "said.h"
#include <tacit/tacit.h>

enum { MOST = 120000, NONE = -1, ZEROS = -2 };

/* --- graphs, the whole of which each rank knows ---------------------------- */

typedef struct {
    int u, v;
    double weight; /* 0: an entry is stored that couples nothing */
} edge;

typedef struct {
    int n, edges;
    edge edge[2 * MOST];
    bool held[MOST];
    int label[MOST];  /* of the search: its component's lowest row, or NONE */
    int number[MOST]; /* of its component, NONE, or ZEROS                   */
} graph;

static int path(graph *g, int from, int count, int step)
{
    for (int i = 0; i + 1 < count; i++)
        g->edge[g->edges++] =
            (edge){from + i * step, from + (i + 1) * step, 1.0};
    return from + (count - 1) * step;
}

/* A path through rows in an order that jumps to and fro within each `chunk`, a
 * prime. */
static int shuffled(graph *g, int from, int chunk, int chunks)
{
    int last = from;
    for (int i = 1; i < chunk * chunks; i++) {
        const int to = from + i / chunk * chunk + i % chunk * 37 % chunk;
        g->edge[g->edges++] = (edge){last, to, 1.0};
        last = to;
    }
    return last;
}

/* Two paths through every other row; the edge between them is neither the first
 * nor the last entry of a row. */
static void pair(graph *g, int from, int count, double weight)
{
    path(g, from, count, 2);
    path(g, from + 1, count, 2);
    g->edge[g->edges++] = (edge){from + count, from + count + 1, weight};
}

static int root_of(const graph *g, int i)
{
    while (g->label[i] != i) i = g->label[i];
    return i;
}

/* Lowest rows of components, then numbers of those without a row that is held.
 * Returns how many these are. */
static int search(graph *g)
{
    static _Thread_local bool held[MOST], coupled[MOST];
    int count = 0;
    for (int i = 0; i < g->n; i++)
        g->label[i] = i, coupled[i] = held[i] = false;
    for (int e = 0; e < g->edges; e++) {
        if (g->edge[e].weight == 0.0) continue;
        coupled[g->edge[e].u] = coupled[g->edge[e].v] = true;
        const int a = root_of(g, g->edge[e].u), b = root_of(g, g->edge[e].v);
        g->label[a > b ? a : b] = a > b ? b : a;
    }
    for (int i = 0; i < g->n; i++) g->label[i] = root_of(g, g->label[i]);
    for (int i = 0; i < g->n; i++)
        if (g->held[i]) held[g->label[i]] = true;
    for (int i = 0; i < g->n; i++) {
        const int root = g->label[i];
        if (held[root]) g->number[i] = NONE;
        else if (!coupled[i]) g->number[i] = ZEROS;
        else g->number[i] = root == i ? count++ : g->number[root];
    }
    return count;
}

/* --- rows of a graph ------------------------------------------------------- */

typedef struct {
    int64_t col;
    double value;
} entry;

static int by_column(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->col > y->col) - (x->col < y->col);
}

static void add_end(const int64_t *ptr, entry *all, int i, int j, double weight)
{
    entry *diagonal = &all[ptr[i]], *next = diagonal;
    while (next->col >= 0) next++;
    *next = (entry){j, -weight};
    diagonal->value += weight;
}

/* Rows with a diagonal entry first, sorted afterwards. */
static void fill(const graph *g, int64_t *ptr, entry *all)
{
    memset(ptr, 0, (size_t)(g->n + 1) * sizeof *ptr);
    for (int i = 0; i < g->n; i++) ptr[i + 1] = 1;
    for (int e = 0; e < g->edges; e++)
        ptr[g->edge[e].u + 1]++, ptr[g->edge[e].v + 1]++;
    for (int i = 0; i < g->n; i++) ptr[i + 1] += ptr[i];
    for (int64_t k = 0; k < ptr[g->n]; k++) all[k] = (entry){-1, 0.0};
    for (int i = 0; i < g->n; i++)
        all[ptr[i]] = (entry){i, g->held[i] ? 1.0 : 0.0};
    for (int e = 0; e < g->edges; e++) {
        const edge *d = &g->edge[e];
        add_end(ptr, all, d->u, d->v, d->weight);
        add_end(ptr, all, d->v, d->u, d->weight);
    }
    for (int i = 0; i < g->n; i++)
        qsort(all + ptr[i], (size_t)(ptr[i + 1] - ptr[i]), sizeof *all,
              by_column);
}

/* This rank's rows, at least one of each rank. */
static tacit_matrix *rows_of(const graph *g)
{
    const int rank = tacit_world_rank(test_world());
    const int size = tacit_world_size(test_world());
    const int64_t first = (int64_t)g->n * rank / size;
    const int64_t rows = (int64_t)g->n * (rank + 1) / size - first;
    const size_t most = (size_t)(g->n + 2 * g->edges);
    int64_t *ptr = malloc((size_t)(g->n + 1) * sizeof *ptr);
    entry *all = malloc(most * sizeof *all);
    int64_t *cols = malloc(most * sizeof *cols);
    double *vals = malloc(most * sizeof *vals);
    tacit_matrix *m = NULL;
    fill(g, ptr, all);
    const int64_t at = ptr[first];
    for (int64_t k = at; k < ptr[first + rows]; k++) {
        cols[k - at] = all[k].col;
        vals[k - at] = all[k].value;
    }
    for (int64_t i = 0; i <= rows; i++) ptr[i] = ptr[first + i] - at;
    OK(tacit_matrix_from_rows(test_world(), g->n, first, rows, ptr, cols, vals,
                              &m));
    free(ptr);
    free(all);
    free(cols);
    free(vals);
    return m;
}

/* --- checks ---------------------------------------------------------------- */

static void check_rows(const graph *g, const tacit_matrix *m, int components,
                       const tct_null_space *N)
{
    static _Thread_local double size[MOST];
    int zeros = 0;
    memset(size, 0, sizeof size);
    for (int i = 0; i < g->n; i++) {
        zeros += g->number[i] == ZEROS;
        if (g->number[i] >= 0) size[g->number[i]] += 1.0;
    }
    assert_int_equal(tct_null_count(N), components + zeros);
    if (!N) return;
    assert_int_equal(N->components, components);
    assert_int_equal(N->zero_rows, zeros);
    for (int64_t i = 0; i < m->A.rows; i++)
        assert_int_equal(N->label[i], g->number[m->A.first + i]);
    for (int c = 0; c < components; c++) assert_true(N->size[c] == size[c]);
}

static void check(graph *g, int threads)
{
    TCT_THREADS_AT_MOST(threads);
    const int components = search(g);
    tacit_matrix *m = rows_of(g);
    unsigned char *state = malloc((size_t)m->A.rows + 1);
    tct_row_sizes sizes;
    tct_null_space *N = NULL;
    tct_measure_rows(&m->A, state, &sizes);
    OK(tct_null_find(test_world(), &m->A, m->starts, state, &N));
    check_rows(g, m, components, N);
    tct_null_close(&N);
    tacit_matrix_destroy(&m);
    free(state);
}

/* --- tests ----------------------------------------------------------------- */

/* Too large for the stack of a rank that is a thread. */
static graph *new_graph(void)
{
    graph *g = calloc(1, sizeof *g);
    assert_non_null(g);
    return g;
}

/* Components of many rows, over blocks, threads and ranks. What is held is the
 * first row of a path, the last, or none. */
static void long_paths_are_followed(void **state)
{
    (void)state;
    graph *g = new_graph();
    for (int free_ones = 0; free_ones < 2; free_ones++) {
        memset(g, 0, sizeof *g);
        int at = 0;
        for (int k = 0; k < 3; k++) {
            const int last = path(g, at, 30000 - k, 1);
            if (k < 2 || !free_ones) g->held[k == 0 ? at : last] = true;
            at = last + 1;
            const int chunks = 7, chunk = 997;
            const int end = shuffled(g, at, chunk, chunks);
            if (k < 2 || !free_ones) g->held[k == 0 ? at : end] = true;
            at += chunk * chunks;
            if (free_ones) at++; /* a row of zeros */
        }
        g->n = at;
        for (int threads = 1; threads <= 4; threads++) check(g, threads);
    }
    free(g);
}

/* Only the middle entry of one row couples two paths, or a stored zero does
 * not. */
static void middle_entries_are_followed(void **state)
{
    (void)state;
    graph *g = new_graph();
    for (int k = 0; k < 8; k++) {
        const int count = k & 1 ? 20000 : 1000;
        memset(g, 0, sizeof *g);
        pair(g, 0, count, k & 2 ? 1.0 : 0.0);
        pair(g, 2 * count, count, 1.0);
        g->held[k & 4 ? 2 * count - 2 : 0] = true;
        g->n = 4 * count;
        for (int threads = 1; threads <= 4; threads++) check(g, threads);
    }
    free(g);
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

/* Small graphs of up to as many edges as rows, some of them zeros. */
static void random_graphs_have_theirs(void **state)
{
    (void)state;
    graph *g = new_graph();
    uint64_t seed = 1;
    for (int k = 0; k < 400; k++) {
        g->n = 8 + (int)draw(&seed, 40);
        g->edges = 0;
        const int edges = (int)draw(&seed, (uint64_t)g->n);
        for (int i = 0; i < g->n; i++) g->held[i] = draw(&seed, 12) == 0;
        for (int e = 0; e < edges; e++) {
            const int u = (int)draw(&seed, (uint64_t)g->n);
            const int v = (int)draw(&seed, (uint64_t)g->n);
            bool is_new = u != v;
            for (int d = 0; d < g->edges; d++)
                is_new = is_new && !(g->edge[d].u == u && g->edge[d].v == v) &&
                         !(g->edge[d].u == v && g->edge[d].v == u);
            const double weight = draw(&seed, 8) == 0 ? 0.0 : 1.0;
            if (is_new) g->edge[g->edges++] = (edge){u, v, weight};
        }
        check(g, 2);
    }
    free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_paths_are_followed),
        cmocka_unit_test(middle_entries_are_followed),
        cmocka_unit_test(random_graphs_have_theirs),
    };
    TEST_MPI_MAIN(tests);
}
