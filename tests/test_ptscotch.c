/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_ptscotch.c - partitions by PT-Scotch against METIS's, in builds
 * that have it: invariants, determinism, refusals.
 *
 * RUN: np=1,2,3,4
 * THREADS: 2 */
#include "deals.h"

/* Of this build, and of a world whose ranks are not MPI's. */
static bool is_there(void)
{
    const tacit_partitioner *p = NULL;
    for (int i = 0; (p = tacit_partitioner_at(i)) != NULL; i++)
        if (strcmp(p->name, "ptscotch") == 0) break;
    assert_non_null(p);
    return p->reason == NULL;
}
static bool is_launched(void)
{
    return test_launched_ && test_threads_ == 0 && test_processes_ == 0;
}

static bool is_left_out(const char *test)
{
    if (is_there() && is_launched()) return false;
    printf("skipped: %s: no PT-Scotch for these ranks\n", test);
    return true;
}

/* The cut of `m`, which another is equal to. */
static tacit_partition_info cut(const tacit_matrix *m, const char *how,
                                int parts)
{
    tacit_partition_info info = {.size = sizeof info};
    const size_t rows = (size_t)tacit_matrix_local_rows(m);
    int32_t *part = calloc(rows + 1, sizeof *part);
    int32_t *again = calloc(rows + 1, sizeof *part);
    assert_int_equal(tacit_matrix_cut(m, how, parts, part, &info), TACIT_OK);
    assert_int_equal(tacit_matrix_cut(m, how, parts, again, &info), TACIT_OK);
    assert_memory_equal(part, again, rows * sizeof *part);
    free(part);
    free(again);
    return info;
}

static void cuts_are_nearly_those_of_metis(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson2d:100", "tet3d:12"};
    if (is_left_out(__func__)) return;
    for (int k = 0; k < 2; k++)
        for (deal how = AS_THEY_COME; how < DEALS; how++) {
            tacit_matrix *m = open_matrix(names[k]);
            distribute(m, how);
            for (int parts = 2; parts <= 8; parts *= 2) {
                const tacit_partition_info metis = cut(m, "metis", parts),
                                           own = cut(m, "ptscotch", parts);
                if (tacit_world_rank(test_world()) == 0)
                    print_message("%s in %d: %lld edges cut, %lld by METIS\n",
                                  names[k], parts, (long long)own.edge_cut,
                                  (long long)metis.edge_cut);
                assert_true((double)own.edge_cut <=
                            1.35 * (double)metis.edge_cut);
                assert_true(own.imbalance < 1.1 && own.rows_min > 0);
            }
            tacit_matrix_destroy(&m);
        }
}

static void rows_move_as_they_were_cut(void **state)
{
    (void)state;
    if (is_left_out(__func__)) return;
    for (int g = 0; g < GIVEN; g++)
        for (deal how = AS_THEY_COME; how < DEALS && !given[g].one_way; how++) {
            tacit_matrix *m = make(given[g].row, given[g].n);
            int block = 0, after = 0;
            distribute(m, how);
            assert_int_equal(tct_matrix_block(m, &block), TACIT_OK);
            assert_int_equal(tacit_matrix_partition(m, "ptscotch", NULL),
                             TACIT_OK);
            assert_entries(m, given[g].row, given[g].n);
            assert_true(tacit_matrix_local_rows(m) > 0);
            assert_int_equal(tct_matrix_block(m, &after), TACIT_OK);
            assert_int_equal(after, block);
            tacit_matrix_destroy(&m);
        }
}

/* Values may differ, the pattern may not. */
static int skew_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = grid_row(n, i, cols, vals);
    for (int k = 0; k < count; k++) vals[k] += (double)(i - cols[k]);
    return count;
}

static void patterns_must_be_symmetric(void **state)
{
    (void)state;
    int32_t part[400];
    tacit_partition_info info = {.size = sizeof info};
    if (is_left_out(__func__)) return;
    tacit_matrix *m = make(upper_row, 400);
    assert_int_equal(tacit_matrix_cut(m, "ptscotch", 4, part, &info),
                     TACIT_INPUT);
    assert_message("column 2 holds");
    tacit_matrix_destroy(&m);
    m = make(skew_row, 400);
    assert_int_equal(tacit_matrix_cut(m, "ptscotch", 4, part, &info), TACIT_OK);
    tacit_matrix_destroy(&m);
}

static void refusals_say_why(void **state)
{
    (void)state;
    int32_t part[40];
    tacit_partition_info info = {.size = sizeof info};
    tacit_matrix *m = make(line_row, 40);
    const tacit_status status =
        tacit_matrix_cut(m, "ptscotch", 40, part, &info);
    if (!is_there()) assert_message("configured without PT-Scotch");
    else if (!is_launched()) assert_message("mpirun");
    if (!is_there() || !is_launched())
        assert_int_equal(status, TACIT_UNSUPPORTED);
    else if (status != TACIT_OK) /* as many parts as rows */
        assert_message("empty");
    if (is_there()) /* one part needs nobody to cut it */
        assert_int_equal(tacit_matrix_cut(m, "ptscotch", 1, part, &info),
                         TACIT_OK);
    tacit_matrix_destroy(&m);
}

static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    const bool mine =
        tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
    if (is_left_out(__func__)) return;
    tacit_matrix *m = make(grid_row, 800);
    int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    long k = 1;
    for (; status != TACIT_OK && k < 200; k++) {
        if (mine) tct_memory_fail_at(k);
        status = tct_ptscotch_rows(m, 4, part);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(k > 10);
    free(part);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_nearly_those_of_metis),
        cmocka_unit_test(rows_move_as_they_were_cut),
        cmocka_unit_test(patterns_must_be_symmetric),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    TEST_MPI_MAIN(tests);
}
