/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_levels.c - graphs coarsened by all ranks: the cut edges, the
 * invariants, and the quality of partitions against METIS's own.
 *
 * RUN: np=1,3
 * THREADS: 3 */
#include "deals.h"
#include "matrix/multilevel/level.h"

static const tct_cut_bounds by_metis = {.whole = INT64_MAX, .coarse = 1};

/* --- levels --------------------------------------------------------------- */

static int64_t all_ranks(int64_t value)
{
    assert_int_equal(tct_reduce_i64(test_world(), TCT_SUM, 1, &value),
                     TACIT_OK);
    return value;
}

static int64_t weight_of(const tct_level *g)
{
    int64_t sum = 0;
    for (int64_t n = 0; n < g->nodes; n++) sum += g->weight[n];
    return all_ranks(sum);
}

static int64_t *new_words(const tct_level *g)
{
    int64_t *word = calloc((size_t)(g->nodes + g->ghosts) + 1, sizeof *word);
    assert_non_null(word);
    return word;
}

/* The weight of the edges between `part`s, each from both ends. */
static int64_t cut_of(const tct_level *g, int64_t *part)
{
    int64_t sum = 0;
    assert_int_equal(tct_level_share(g, part), TACIT_OK);
    for (int64_t n = 0; n < g->nodes; n++)
        for (int64_t k = g->ptr[n]; k < g->ptr[n + 1]; k++)
            if (part[n] != part[g->next[k]]) sum += g->edge ? g->edge[k] : 1;
    return all_ranks(sum);
}

static void assert_sound(const tct_level *g)
{
    for (int64_t k = 0; k < g->ghosts; k++) {
        assert_true(k == 0 || g->ghost[k - 1] < g->ghost[k]);
        assert_true(g->ghost[k] < tct_level_first(g) ||
                    g->ghost[k] >= tct_level_first(g) + g->nodes);
    }
    for (int64_t n = 0; n < g->nodes; n++)
        for (int64_t k = g->ptr[n]; k < g->ptr[n + 1]; k++) {
            assert_true(g->next[k] >= 0 && g->next[k] != n);
            assert_true(g->next[k] < g->nodes + g->ghosts);
        }
}

/* The finest graph has an edge for each entry off the diagonal. */
static void assert_finest(const tct_level *g, const tacit_matrix *m)
{
    const tct_csr *A = &m->A;
    assert_int_equal(g->nodes, A->rows);
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t at = g->ptr[i];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k);
            if (j == A->first + i) continue;
            const int32_t to = g->next[at++];
            assert_int_equal(
                to < g->nodes ? A->first + to : g->ghost[to - g->nodes], j);
        }
        assert_int_equal(at, g->ptr[i + 1]);
        assert_int_equal(g->weight[i], at - g->ptr[i] + 1);
    }
}

/* Whatever parts coarse nodes have, these cut as much of the fine graph. */
static void assert_cuts_alike(const tct_level *fine, const tct_level *coarse)
{
    int64_t *of_coarse = new_words(coarse), *of_fine = new_words(fine);
    for (uint64_t seed = 1; seed < 4; seed++) {
        for (int64_t n = 0; n < coarse->nodes; n++)
            of_coarse[n] = (int64_t)(mixed(seed, tct_level_first(coarse) + n) %
                                     (seed + 1));
        for (int64_t n = 0; n < fine->nodes; n++)
            of_fine[n] = of_coarse[fine->up[n]];
        assert_int_equal(cut_of(coarse, of_coarse), cut_of(fine, of_fine));
    }
    free(of_coarse);
    free(of_fine);
}

static void assert_pairs(const tct_level *fine, const tct_level *coarse,
                         int64_t heaviest)
{
    int *members = calloc((size_t)coarse->nodes + 1, sizeof *members);
    for (int64_t n = 0; n < fine->nodes; n++) {
        assert_true(fine->up[n] >= 0 && fine->up[n] < coarse->nodes);
        members[fine->up[n]]++;
    }
    for (int64_t n = 0; n < coarse->nodes; n++) {
        assert_true(members[n] == 1 || members[n] == 2);
        if (members[n] == 2) assert_true(coarse->weight[n] <= heaviest);
    }
    free(members);
}

static void check_levels(const tacit_matrix *m, int64_t heaviest, bool shrinks)
{
    tct_level fine, coarse;
    assert_int_equal(tct_level_open(m, 1, &fine), TACIT_OK);
    assert_finest(&fine, m);
    const int64_t weight = weight_of(&fine), nodes = tct_level_all(&fine);
    for (int k = 0; k < 4; k++) {
        assert_sound(&fine);
        assert_int_equal(tct_level_coarsen(&fine, heaviest, &coarse), TACIT_OK);
        assert_int_equal(weight_of(&coarse), weight);
        assert_pairs(&fine, &coarse, heaviest);
        assert_cuts_alike(&fine, &coarse);
        tct_level_close(&fine);
        fine = coarse;
    }
    if (shrinks && 2 * tct_level_all(&fine) > nodes)
        fail_msg("%lld nodes have become %lld", (long long)nodes,
                 (long long)tct_level_all(&fine));
    tct_level_close(&fine);
}

static void coarse_graphs_keep_weights_and_cuts(void **state)
{
    (void)state;
    for (int g = 0; g < GIVEN; g++)
        for (deal how = 0; how < DEALS; how++) {
            tacit_matrix *m = make(given[g].row, given[g].n);
            distribute(m, how);
            check_levels(m, INT32_MAX, !given[g].one_way);
            check_levels(m, 9, false);
            check_levels(m, 1, false); /* nothing may be joined */
            tacit_matrix_destroy(&m);
        }
}

/* --- refinement ----------------------------------------------------------- */

static void weigh(const tct_level *g, const int64_t *part, int parts,
                  int64_t *weight)
{
    for (int p = 0; p < parts; p++) weight[p] = 0;
    for (int64_t n = 0; n < g->nodes; n++) {
        assert_true(part[n] >= 0 && part[n] < parts);
        weight[part[n]] += g->weight[n];
    }
    assert_int_equal(
        tct_reduce_i64(test_world(), TCT_SUM, (size_t)parts, weight), TACIT_OK);
}

/* No worse than it was (ranks that move nodes to three parts at a time may err
 * a bit), and no part beyond 3 % that was not. */
static void refine(const tct_level *g, int parts, int64_t *part, double less)
{
    enum { PARTS = 8 };
    int64_t before[PARTS], after[PARTS], sum = 0;
    weigh(g, part, parts, before);
    const int64_t cut = cut_of(g, part);
    assert_int_equal(tct_level_refine(g, parts, part), TACIT_OK);
    weigh(g, part, parts, after);
    for (int p = 0; p < parts; p++) sum += after[p];
    for (int p = 0; p < parts; p++) {
        const double mean = (double)sum / parts;
        assert_true((double)after[p] <= 1.03 * mean || after[p] <= before[p]);
        assert_true((double)after[p] >= mean / 1.03 - 1 ||
                    after[p] >= before[p]);
    }
    const int64_t now = cut_of(g, part);
    if ((double)now > less * (double)cut)
        fail_msg("%lld edges cut by %d parts, %lld before", (long long)now,
                 parts, (long long)cut);
}

static void refining_never_cuts_more(void **state)
{
    (void)state;
    for (int g = 0; g < GIVEN; g++)
        for (deal how = 0; how < DEALS; how++)
            for (int parts = 2; parts < 8; parts += 3) {
                tct_level level;
                tacit_matrix *m = make(given[g].row, given[g].n);
                distribute(m, how);
                assert_int_equal(tct_level_open(m, 1, &level), TACIT_OK);
                int64_t *part = new_words(&level);
                for (int64_t n = 0; n < level.nodes; n++)
                    part[n] = tct_original(m, n) * parts / given[g].n;
                if (!given[g].one_way)
                    refine(&level, parts, part, parts == 2 ? 1.0 : 1.05);
                for (int64_t n = 0; n < level.nodes; n++)
                    part[n] = (int64_t)(mixed(9, tct_original(m, n)) %
                                        (uint64_t)parts);
                if (!given[g].one_way)
                    refine(&level, parts, part,
                           given[g].row == grid_row ? 0.97 : 1.02);
                free(part);
                tct_level_close(&level);
                tacit_matrix_destroy(&m);
            }
}

/* --- cuts ----------------------------------------------------------------- */

typedef struct {
    int64_t edge_cut, rows_min;
    double imbalance;
} quality;

static quality cut(const tacit_matrix *m, int parts,
                   const tct_cut_bounds *bounds)
{
    tacit_partition_info info = {0};
    int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
    int32_t *again = calloc((size_t)m->A.rows + 1, sizeof *part);
    assert_int_equal(tct_metis_cut(m, parts, bounds, part), TACIT_OK);
    assert_int_equal(tct_metis_cut(m, parts, bounds, again), TACIT_OK);
    assert_memory_equal(part, again, (size_t)m->A.rows * sizeof *part);
    assert_int_equal(tct_cut_describe(m, parts, part, &info), TACIT_OK);
    free(part);
    free(again);
    return (quality){info.edge_cut, info.rows_min, info.imbalance};
}

/* Through levels the cut is nearly METIS's own. */
static void compare(const char *name, deal how, int64_t coarse, double worse)
{
    tacit_matrix *m = open_matrix(name);
    distribute(m, how);
    for (int parts = 2; parts <= 8; parts *= 2) {
        const quality own = cut(m, parts, &by_metis);
        const quality by_levels =
            cut(m, parts, &(tct_cut_bounds){.coarse = coarse});
        if (tacit_world_rank(test_world()) == 0)
            print_message("%s in %d: %lld edges cut, %lld by METIS\n", name,
                          parts, (long long)by_levels.edge_cut,
                          (long long)own.edge_cut);
        assert_true((double)by_levels.edge_cut <= worse * (double)own.edge_cut);
        assert_true(by_levels.imbalance < 1.06 && by_levels.rows_min > 0);
    }
    tacit_matrix_destroy(&m);
}

static void cuts_are_nearly_those_of_metis(void **state)
{
    (void)state;
    compare("poisson2d:300", AS_THEY_COME, 9000, 1.3);
    compare("tet3d:30", AS_THEY_COME, 3000, 1.3);
    compare("poisson2d:150", AT_RANDOM, 4000, 1.6);
}

static void cuts_of_real_matrices_are_nearly_those_of_metis(void **state)
{
    (void)state;
    static const char *const names[] = {"fe/heart_cbcbeat_6k_mono.mtx.gz",
                                        "derived/lap_delaunay_n15.mtx.gz",
                                        "derived/lap_rgg_n_2_15_s0.mtx.gz"};
    const char *folder = getenv("TACIT_MATRICES");
    char path[512];
    if (!folder || !folder[0]) skip();
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        if (access(path, R_OK) != 0) skip();
        compare(path, AS_THEY_COME, 3000, 1.35);
    }
}

static void rows_move_as_they_were_cut(void **state)
{
    (void)state;
    for (int g = 0; g < GIVEN; g++)
        for (deal how = 0; how < DEALS; how++)
            for (int64_t coarse = 0; coarse < 100; coarse += 40) {
                tacit_matrix *m = make(given[g].row, given[g].n);
                distribute(m, how);
                int block = 0, after = 0;
                assert_int_equal(tct_matrix_block(m, &block), TACIT_OK);
                int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
                assert_int_equal(
                    tct_metis_cut(m, tacit_world_size(test_world()),
                                  &(tct_cut_bounds){.coarse = coarse}, part),
                    TACIT_OK);
                assert_int_equal(tct_redistribute(m, part), TACIT_OK);
                assert_entries(m, given[g].row, given[g].n);
                assert_true(m->A.rows > 0);
                assert_int_equal(tct_matrix_block(m, &after), TACIT_OK);
                assert_int_equal(after, block);
                free(part);
                tacit_matrix_destroy(&m);
            }
}

/* --- memory --------------------------------------------------------------- */

static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    if (test_shares_allocations(__func__)) return;
    const bool mine =
        tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
    tacit_matrix *m = make(grid_row, 800);
    int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    long k = 1;
    for (; status != TACIT_OK && k < 2000; k++) {
        if (mine) tct_memory_fail_at(k);
        status = tct_metis_cut(m, 4, &(tct_cut_bounds){.coarse = 50}, part);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(k > 60);
    free(part);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarse_graphs_keep_weights_and_cuts),
        cmocka_unit_test(refining_never_cuts_more),
        cmocka_unit_test(cuts_are_nearly_those_of_metis),
        cmocka_unit_test(cuts_of_real_matrices_are_nearly_those_of_metis),
        cmocka_unit_test(rows_move_as_they_were_cut),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    TEST_MPI_MAIN(tests);
}
