/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_nesting.c - dissections of the top of a factor's rows only: edges
 * lead up and down the tree, separators are small, and rows keep their order
 * within a tree node. Predictions about a factor before its rows are ordered.
 *
 * RUN: np=1 */
#include "factor/factor.h"
#include "gpu.h"
#include "matrix/matrix.h"
#include "said.h"
#include <math.h>

static tct_nesting nesting_of(const tct_graph *g, tct_rows_order order,
                              int leaves)
{
    tct_nesting x;
    OK(tct_nesting_by(g, order, leaves, &x));
    assert_int_equal(x.leaves, leaves);
    assert_int_equal(x.start[0], 0);
    assert_int_equal(x.start[2 * leaves - 1], g->nodes);
    return x;
}

/* `node` [rows]: the heap node of each. Each row is there once. */
static int32_t *nodes_of(const tct_nesting *x, int64_t rows)
{
    int32_t *node = calloc((size_t)rows + 1, sizeof *node);
    char *met = calloc((size_t)rows + 1, 1);
    assert_non_null(node);
    assert_non_null(met);
    for (int k = 0; k < 2 * x->leaves - 1; k++)
        for (int64_t i = x->start[k]; i < x->start[k + 1]; i++) {
            const int32_t row = x->old[i];
            assert_in_range(row, 0, rows - 1);
            assert_int_equal(met[row]++, 0);
            assert_int_equal(x->now[row], i);
            node[row] = x->node[k];
        }
    free(met);
    return node;
}

static void assert_nested(const tct_graph *g, const int32_t *node)
{
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            const int32_t a = node[i], b = node[g->next[e]];
            assert_true(tct_node_is_above(a, b) || tct_node_is_above(b, a));
        }
}

static void assert_ascends(const tct_nesting *x)
{
    for (int k = 0; k < 2 * x->leaves - 1; k++)
        for (int64_t i = x->start[k] + 1; i < x->start[k + 1]; i++)
            assert_true(x->old[i - 1] < x->old[i]);
}

/* Rows of leaves, and of what is above them. */
static void assert_shares(const tct_nesting *x, int64_t least, int64_t most,
                          int64_t above)
{
    int64_t between = 0;
    for (int k = 0; k < 2 * x->leaves - 1; k++) {
        const int64_t rows = x->start[k + 1] - x->start[k];
        if (x->node[k] < x->leaves - 1) between += rows;
        else assert_in_range(rows, least, most);
    }
    assert_in_range(between, 0, above);
}

/* A line of a grid in two dimensions parts it, a plane in three. METIS may
 * leave sides with a fifth more than their half. */
static void the_top_is_small(void **state)
{
    static const struct {
        const char *name;
        int leaves;
        int64_t least, most, above;
    } cases[] = {{"poisson2d:60", 2, 1400, 2160, 80},
                 {"poisson2d:60", 4, 500, 1296, 180},
                 {"poisson3d:20", 4, 1200, 2880, 1100},
                 {"elasticity3d:8", 2, 400, 1037, 300}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        tacit_matrix *m = gallery_matrix(cases[i].name);
        const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
        tct_nesting x = nesting_of(&g, TCT_ORDER_TOP_ND, cases[i].leaves);
        int32_t *node = nodes_of(&x, g.nodes);
        assert_nested(&g, node);
        assert_ascends(&x);
        assert_shares(&x, cases[i].least, cases[i].most, cases[i].above);
        free(node);
        tct_nesting_clear(&x);
        tacit_matrix_destroy(&m);
    }
}

static void unknowns_of_a_point_stay_together(void **state)
{
    (void)state;
    tacit_matrix *m = gallery_matrix("elasticity3d:7");
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    tct_nesting x = nesting_of(&g, TCT_ORDER_TOP_ND, 8);
    int32_t *node = nodes_of(&x, g.nodes);
    for (int64_t i = 0; i < g.nodes; i++)
        assert_int_equal(node[i], node[i / 3 * 3]);
    free(node);
    tct_nesting_clear(&x);
    tacit_matrix_destroy(&m);
}

/* More leaves than there is to deal out; no edges; two parts without edges
 * between them. */
static void small_ones_are_nested(void **state)
{
    static const char *const names[] = {"poisson1d:1", "poisson1d:2",
                                        "poisson1d:7", "poisson2d:3",
                                        "poisson3d:4", "elasticity3d:2"};
    static const int64_t apart_ptr[] = {0, 1, 2, 3, 4, 5};
    static const int32_t apart_next[] = {0, 1, 2, 3, 4};
    const tct_graph apart = {5, apart_ptr, apart_next};
    (void)state;
    for (int i = 0; i < 7; i++)
        for (int leaves = 2; leaves <= 64; leaves *= 2) {
            tacit_matrix *m = i < 6 ? gallery_matrix(names[i]) : NULL;
            const tct_graph g =
                m ? (tct_graph){m->A.rows, m->A.ptr, m->A.col32} : apart;
            tct_nesting x = nesting_of(&g, TCT_ORDER_TOP_ND, leaves);
            int32_t *node = nodes_of(&x, g.nodes);
            assert_nested(&g, node);
            assert_ascends(&x);
            free(node);
            tct_nesting_clear(&x);
            tacit_matrix_destroy(&m);
        }
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    tacit_matrix *m = gallery_matrix("elasticity3d:3");
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    const int64_t before = (int64_t)tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    long failed = 0;
    for (long k = 1; status == TACIT_NO_MEMORY; k++) {
        tct_nesting x;
        tct_memory_fail_at(k);
        status = tct_nesting_by(&g, TCT_ORDER_TOP_ND, 2, &x);
        tct_memory_fail_at(0);
        tct_nesting_clear(&x);
        assert_int_equal(tct_memory_blocks(), before);
        failed += status == TACIT_NO_MEMORY;
    }
    OK(status);
    assert_true(failed > 10);
    tacit_matrix_destroy(&m);
}

/* --- before the order ----------------------------------------------------- */

static double entries_of(const tct_graph *g)
{
    tct_nesting x = nesting_of(g, TCT_ORDER_ND, 1);
    tct_fronts F;
    OK(tct_fronts_create(g, &x, &F));
    const double entries = (double)F.nonzeros;
    tct_fronts_clear(&F);
    tct_nesting_clear(&x);
    return entries;
}

/* Of a tenth and less of the rows, half to twice of what all of them have: they
 * grow by 32 from 1/20 in space, by 25 on a surface, by 20 on a line. Where the
 * middle is no place to start, it starts elsewhere, too. */
static void estimates_are_near(void **state)
{
    static const char *const names[] = {"poisson3d:40", "poisson2d:200",
                                        "poisson1d:20000", "tet3d:24,1",
                                        "poisson3d:90x90x4"};
    (void)state;
    for (int i = 0; i < 5; i++) {
        tacit_matrix *m = gallery_matrix(names[i]);
        const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
        const double right = entries_of(&g);
        for (int part = 10; part <= 20; part *= 2) {
            double entries = 0.0;
            OK(tct_factor_estimate(&g, g.nodes / part, &entries));
            assert_true(entries > 0.5 * right && entries < 2.0 * right);
        }
        tacit_matrix_destroy(&m);
    }
}

static void estimates_go_on_elsewhere(void **state)
{
    enum { ROWS = 4000 };
    int64_t ptr[ROWS + 1];
    int32_t next[ROWS];
    double entries = 0.0;
    (void)state;
    for (int i = 0; i < ROWS; i++) next[i] = i;
    for (int i = 0; i <= ROWS; i++) ptr[i] = i;
    OK(tct_factor_estimate(&(tct_graph){ROWS, ptr, next}, ROWS / 10, &entries));
    assert_true(fabs(entries - ROWS) < 1e-6 * ROWS);
}

/* A petabyte of entries of a matrix: in any order L has half of them. */
static void what_no_order_saves_is_refused(void **state)
{
    const int64_t ptr[] = {0, 0, 0, (int64_t)1 << 50};
    const tct_graph g = {3, ptr, NULL};
    (void)state;
    REFUSES(TACIT_NO_MEMORY, "at least 4.19e+06 GiB of memory, whatever",
            tct_factor_predict(&g, TACIT_FACTOR_LLT, TCT_ORDER_ND));
    REFUSES(TACIT_NO_MEMORY, "at least 8.39e+06 GiB of memory, whatever",
            tct_factor_predict(&g, TACIT_FACTOR_LU, TCT_ORDER_NATURAL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_top_is_small),
        cmocka_unit_test(unknowns_of_a_point_stay_together),
        cmocka_unit_test(small_ones_are_nested),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(estimates_are_near),
        cmocka_unit_test(estimates_go_on_elsewhere),
        cmocka_unit_test(what_no_order_saves_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
