/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_partition.c - partitions of a matrix, and redistributed rows.
 *
 * RUN: np=1,2,3,4 */
#include "deals.h"

/* --- partitions ----------------------------------------------------------- */

static void moved_rows_keep_their_entries(void **state)
{
    (void)state;
    const int64_t n = 997;
    tacit_matrix *m = make(scattered_row, n);
    for (uint64_t round = 0; round < 3; round++) { /* move what has moved */
        const int64_t rows = tacit_matrix_local_rows(m);
        int32_t *part = calloc((size_t)rows + 1, sizeof *part);
        for (int64_t i = 0; i < rows; i++)
            part[i] =
                (int32_t)(tct_uniform(round, (uint64_t)tct_original(m, i)) *
                          tacit_world_size(test_world()));
        assert_int_equal(tct_redistribute(m, part), TACIT_OK);
        free(part);
        assert_entries(m, scattered_row, n);
        assert_int_equal(tacit_matrix_nonzeros(m), m->nonzeros);
        int64_t all = tacit_matrix_local_rows(m);
        assert_int_equal(tct_reduce_i64(test_world(), TCT_SUM, 1, &all),
                         TACIT_OK);
        assert_int_equal(all, n);
    }
    tacit_matrix_destroy(&m);
}

static void rows_move_to_one_rank(void **state)
{
    (void)state;
    const int64_t n = 61;
    tacit_matrix *m = make(scattered_row, n);
    int32_t part[61];
    for (int i = 0; i < 61; i++) part[i] = tacit_world_size(test_world()) - 1;
    assert_int_equal(tct_redistribute(m, part), TACIT_OK);
    const bool last =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    assert_int_equal(tacit_matrix_local_rows(m), last ? n : 0);
    assert_entries(m, scattered_row, n);
    tacit_matrix_destroy(&m);
}

static void cut_counts_what_an_exchange_costs(void **state)
{
    (void)state;
    tacit_matrix *m = make(line_row, 12);
    int32_t part[12];
    tacit_partition_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_cut(m, "contiguous", 3, part, &info),
                     TACIT_OK);
    for (int64_t i = 0; i < tacit_matrix_local_rows(m); i++)
        assert_int_equal(part[i], (my_first(12) + i) / 4);
    assert_int_equal(info.edge_cut, 2);
    assert_int_equal(info.volume, 4);
    assert_int_equal(info.messages, 4);
    assert_int_equal(info.rows_min, 4);
    assert_int_equal(info.rows_max, 4);
    assert_true(fabs(info.imbalance - 12.0 * 3 / 34) < 1e-14);
    assert_int_equal(tacit_matrix_cut(m, "metis", 1, part, &info), TACIT_OK);
    assert_int_equal(info.edge_cut + info.volume + info.messages, 0);
    assert_int_equal(tacit_matrix_cut(m, "metis", 13, part, &info),
                     TACIT_INVALID);
    assert_int_equal(tacit_matrix_cut(m, "mettis", 2, part, &info),
                     TACIT_INVALID);
    assert_message("'metis'");
    tacit_matrix_destroy(&m);

    m = make(dense_row, 12); /* everyone sends to everyone */
    assert_int_equal(tacit_matrix_cut(m, "contiguous", 4, part, &info),
                     TACIT_OK);
    assert_int_equal(info.volume, 12 * 3);
    assert_int_equal(info.messages, 4 * 3);
    assert_int_equal(info.edge_cut, (12 * 11 - 4 * 3 * 2) / 2);
    tacit_matrix_destroy(&m);

    m = make(upper_row, 12); /* only to the part before */
    assert_int_equal(tacit_matrix_cut(m, "contiguous", 4, part, &info),
                     TACIT_OK);
    assert_int_equal(info.edge_cut, 3);
    assert_int_equal(info.volume, 3);
    assert_int_equal(info.messages, 3);
    tacit_matrix_destroy(&m);
}

static void metis_cuts_fewer_edges(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    const size_t rows = (size_t)tacit_matrix_local_rows(m);
    int32_t *part = calloc(rows + 1, sizeof *part);
    int32_t *again = calloc(rows + 1, sizeof *part);
    tacit_partition_info dealt = {.size = sizeof dealt},
                         cut = {.size = sizeof cut};
    assert_int_equal(tacit_matrix_cut(m, "contiguous", 8, part, &dealt),
                     TACIT_OK);
    assert_int_equal(tacit_matrix_cut(m, "metis", 8, part, &cut), TACIT_OK);
    assert_true(5 * cut.edge_cut < dealt.edge_cut);
    assert_true(5 * cut.volume < dealt.volume);
    assert_true(cut.rows_min > 0 && cut.imbalance < 1.1);
    assert_int_equal(tacit_matrix_cut(m, "metis", 8, again, &cut), TACIT_OK);
    assert_memory_equal(part, again, rows * sizeof *part);
    free(part);
    free(again);
    tacit_matrix_destroy(&m);

    m = make(upper_row, 400); /* a pattern that must be made symmetric */
    int32_t *line = calloc(401, sizeof *line);
    assert_int_equal(tacit_matrix_cut(m, "metis", 4, line, &cut), TACIT_OK);
    assert_true(cut.edge_cut >= 3 && cut.edge_cut <= 8);
    free(line);
    tacit_matrix_destroy(&m);
}

static void metis_moves_rows_and_keeps_blocks(void **state)
{
    (void)state;
    tacit_matrix *m = make(shuffled_grid_row, GRID);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_entries(m, shuffled_grid_row, GRID);
    assert_true(tacit_matrix_local_rows(m) > 0);
    tacit_matrix_destroy(&m);

    const int64_t n = 3 * 67;
    m = make(block_row, n);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_entries(m, block_row, n);
    assert_int_equal(tacit_matrix_local_rows(m) % 3, 0);
    int block = 0;
    assert_int_equal(tct_matrix_block(m, &block), TACIT_OK);
    assert_int_equal(block, 3);
    tacit_matrix_destroy(&m);
}

/* One row lacks a column that its neighbours have. */
static int torn_block_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = block_row(n, i, cols, vals);
    return i == n - 2 ? count - 1 : count;
}

/* ... or a whole block. */
static int short_block_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    const int count = block_row(n, i, cols, vals);
    if (i != n - 2) return count;
    memmove(cols, cols + 3, (size_t)(count - 3) * sizeof *cols);
    memmove(vals, vals + 3, (size_t)(count - 3) * sizeof *vals);
    return count - 3;
}

/* The blocks of a matrix are what they were, though their rows are anywhere. */
static void blocks_are_known_wherever_rows_are(void **state)
{
    (void)state;
    static const struct {
        row_fn row;
        int64_t n;
        int block;
    } rows[] = {{block_row, 3 * 97, 3},       {torn_block_row, 3 * 97, 1},
                {short_block_row, 3 * 97, 1}, {grid_row, 1600, 1},
                {pieces_row, 770, 1},         {own_row, 90, 1}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (deal how = 0; how < DEALS; how++) {
            tacit_matrix *m = make(rows[k].row, rows[k].n);
            int before = 0, block = 0;
            assert_int_equal(tct_matrix_block(m, &before), TACIT_OK);
            assert_int_equal(before, rows[k].block);
            distribute(m, how);
            distribute(m, AT_RANDOM);
            assert_int_equal(tct_matrix_original_block(m, &block), TACIT_OK);
            assert_int_equal(block, before);
            tacit_matrix_destroy(&m);
        }
}

/* --- boxes ---------------------------------------------------------------- */

typedef struct {
    const char *name;
    int64_t n[3];
    int unknowns;
} grid;
enum { PARTS_MOST = 9 };

/* The corners of each part, of all ranks: its least and its largest x, y, z. */
static void find_corners(const tacit_matrix *m, const grid *g,
                         const int32_t *part, int64_t *low, int64_t *high)
{
    for (int k = 0; k < 3 * PARTS_MOST; k++) {
        low[k] = INT64_MAX;
        high[k] = -1;
    }
    for (int64_t i = 0; i < m->A.rows; i++) {
        int64_t at = tct_original(m, i) / g->unknowns;
        for (int d = 0; d < 3; at /= g->n[d++]) {
            const int k = 3 * part[i] + d;
            const int64_t x = at % g->n[d];
            if (x < low[k]) low[k] = x;
            if (x > high[k]) high[k] = x;
        }
    }
    const size_t all = 3 * PARTS_MOST;
    assert_int_equal(tct_reduce_i64(test_world(), TCT_MIN, all, low), TACIT_OK);
    assert_int_equal(tct_reduce_i64(test_world(), TCT_MAX, all, high),
                     TACIT_OK);
}

/* Parts that have all the points between their corners, together all there are,
 * are boxes. */
static void assert_boxes(const tacit_matrix *m, const grid *g, int parts,
                         const int32_t *part)
{
    int64_t low[3 * PARTS_MOST], high[3 * PARTS_MOST], all = 0;
    find_corners(m, g, part, low, high);
    for (int p = 0; p < parts; p++) {
        int64_t points = g->unknowns;
        for (int k = 3 * p; k < 3 * p + 3; k++) points *= high[k] - low[k] + 1;
        assert_true(points > 0);
        all += points;
    }
    assert_int_equal(all, m->A.global_rows);
}

static void boxes_are_boxes_and_cut_little(void **state)
{
    (void)state;
    static const grid grids[] = {{"poisson1d:40", {40, 1, 1}, 1},
                                 {"poisson2d:24x50", {24, 50, 1}, 1},
                                 {"poisson3d27:17x18x19", {17, 18, 19}, 1},
                                 {"elasticity3d:13x11x9", {13, 11, 9}, 3}};
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        tacit_matrix *m = NULL;
        assert_int_equal(
            tacit_matrix_open(test_world(), grids[k].name, NULL, &m), TACIT_OK);
        int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
        for (int parts = 1; parts <= PARTS_MOST; parts++) {
            tacit_partition_info slabs = {.size = sizeof slabs},
                                 boxes = {.size = sizeof boxes};
            assert_int_equal(
                tacit_matrix_cut(m, "contiguous", parts, part, &slabs),
                TACIT_OK);
            assert_int_equal(tacit_matrix_cut(m, "boxes", parts, part, &boxes),
                             TACIT_OK);
            assert_boxes(m, &grids[k], parts, part);
            assert_true(boxes.edge_cut <= slabs.edge_cut);
            assert_true(boxes.volume <= slabs.volume);
            assert_true(2 * boxes.rows_min > boxes.rows_max);
        }
        free(part);
        tacit_matrix_destroy(&m);
    }
}

/* In their order rows are cut between layers, as many ranks have them, and
 * where that costs next to nothing behind an even number of layers. */
static void layers_stay_together(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t layer, step[2]; /* in 2 parts, in 3 */
    } cases[] = {
        {"poisson3d:4x4x250", 16, {4, 4}},    {"poisson2d:5x300", 5, {2, 4}},
        {"elasticity3d:3x2x101", 18, {2, 2}}, {"poisson1d:24000", 1, {4, 4}},
        {"poisson2d:5x77", 1, {1, 1}},     /* no such cut */
        {"like:ecology2,9x7", 1, {1, 1}}}; /* a row less than points */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_matrix *m = NULL;
        assert_int_equal(
            tacit_matrix_open(test_world(), cases[k].name, NULL, &m), TACIT_OK);
        int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
        for (int parts = 2; parts <= 3; parts++) {
            tacit_partition_info info = {.size = sizeof info};
            const int64_t step = cases[k].layer * cases[k].step[parts - 2];
            assert_int_equal(
                tacit_matrix_cut(m, "contiguous", parts, part, &info),
                TACIT_OK);
            for (int64_t i = 1; i < m->A.rows; i++)
                if (part[i] != part[i - 1])
                    assert_int_equal((m->A.first + i) % step, 0);
            assert_true((double)((info.rows_max - 1) * parts) <=
                        1.01 * (double)m->A.global_rows);
            assert_true(info.rows_min > 0);
            for (int64_t i = 0; i < m->A.rows && parts == m->world->size; i++)
                assert_int_equal(part[i], m->world->rank);
        }
        int64_t rows = m->A.rows;
        assert_int_equal(tct_reduce_i64(m->world, TCT_SUM, 1, &rows), TACIT_OK);
        assert_int_equal(rows, m->A.global_rows);
        free(part);
        tacit_matrix_destroy(&m);
    }
}

/* Eight cubes of a cube; and what has moved is cut by its original numbers. */
static void boxes_of_what_has_moved(void **state)
{
    (void)state;
    tacit_matrix *m = NULL;
    const grid g = {"poisson3d:12", {12, 12, 12}, 1};
    assert_int_equal(tacit_matrix_open(test_world(), g.name, NULL, &m),
                     TACIT_OK);
    for (int round = 0; round < 2; round++) {
        int32_t *part = calloc((size_t)m->A.rows + 1, sizeof *part);
        tacit_partition_info info = {.size = sizeof info};
        assert_int_equal(tacit_matrix_cut(m, "boxes", 8, part, &info),
                         TACIT_OK);
        assert_boxes(m, &g, 8, part);
        assert_int_equal(info.edge_cut, 3 * 12 * 12);
        assert_int_equal(info.rows_max, 6 * 6 * 6);
        free(part);
        assert_int_equal(tacit_matrix_partition(m, "boxes", NULL), TACIT_OK);
        assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    }
    tacit_matrix_destroy(&m);
}

static void boxes_need_a_grid(void **state)
{
    (void)state;
    int32_t part[512];
    tacit_partition_info info = {.size = sizeof info};
    static const char *const others[] = {"random:100,3", "tet3d:5"};
    tacit_matrix *m = make(line_row, 20);
    assert_int_equal(tacit_matrix_partition(m, "boxes", NULL), TACIT_INVALID);
    assert_message("on a grid");
    tacit_matrix_destroy(&m);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(tacit_matrix_open(test_world(), others[k], NULL, &m),
                         TACIT_OK);
        assert_int_equal(tacit_matrix_cut(m, "boxes", 2, part, &info),
                         TACIT_INVALID);
        tacit_matrix_destroy(&m);
    }
    assert_int_equal(tacit_matrix_open(test_world(), "poisson3d:3", NULL, &m),
                     TACIT_OK); /* nine points for 13 and 14 parts */
    assert_int_equal(tacit_matrix_cut(m, "boxes", 27, part, &info),
                     TACIT_UNSUPPORTED);
    assert_message("empty");
    tacit_matrix_destroy(&m);
}

/* --- files ---------------------------------------------------------------- */

/* Write a partition file with a line for each of `n` rows, then `more`. */
static const char *part_file(int64_t n, int parts, const char *more)
{
    char text[4096] = "";
    size_t at = 0;
    for (int64_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d\n",
                               (int)(i * 5 % parts));
    snprintf(text + at, sizeof text - at, "%s", more);
    return temporary("part", text);
}

static void partition_file(void **state)
{
    (void)state;
    const int64_t n = 50;
    const int size = tacit_world_size(test_world());
    tacit_matrix *m = make(scattered_row, n);
    const char *path = part_file(n, size, "\n");
    for (int round = 0; round < 2; round++) { /* always original numbers */
        assert_int_equal(tacit_matrix_partition(m, "file", path), TACIT_OK);
        assert_entries(m, scattered_row, n);
        for (int64_t i = 0; i < tacit_matrix_local_rows(m); i++)
            assert_int_equal(tct_original(m, i) * 5 % size,
                             tacit_world_rank(test_world()));
        if (round || size == 1) break;
        int32_t part[50];
        for (int i = 0; i < 50; i++) part[i] = i % size;
        assert_int_equal(tct_redistribute(m, part), TACIT_OK);
    }
    discard(path);
    tacit_matrix_destroy(&m);
}

static void partition_file_errors(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    tacit_matrix *m = make(line_row, 20);
    char beyond[16], line[32];
    snprintf(beyond, sizeof beyond, "%d\n", size);
    const struct {
        int64_t rows;
        int parts;
        const char *more, *message;
    } cases[] = {
        {18, size, "0\n", "ends after 19 lines"},
        {20, size, "0\n", ":21: one line too many"},
        {10, size, "x\n0\n0\n0\n0\n0\n0\n0\n0\n0\n", ":11: 'x' is not"},
        {10, size, "1.5\n", ":11: '1.5' is not"},
        {10, size, "\n", ":11: '' is not"},
        {10, size, "-1\n", ":11: part -1 is out of range"},
        {19, size, beyond, ":20: part "},
        {20, size - 1, "", line}};
    snprintf(line, sizeof line, "part %d is empty", size - 1);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        if (cases[c].parts == 0) continue;
        const char *path =
            part_file(cases[c].rows, cases[c].parts, cases[c].more);
        assert_int_equal(tacit_matrix_partition(m, "file", path), TACIT_INPUT);
        assert_message(cases[c].message);
        discard(path);
    }
    assert_int_equal(tacit_matrix_partition(m, "file", "/no/such/part"),
                     TACIT_IO);
    assert_message("/no/such/part");
    assert_int_equal(tacit_matrix_partition(m, "file", NULL), TACIT_INVALID);
    assert_null(tacit_matrix_original_rows(m)); /* nothing has moved */
    tacit_matrix_destroy(&m);
}

/* --- memory --------------------------------------------------------------- */

/* All that a matrix can be asked for; the first call that fails ends it. */
static tacit_status use_all(tacit_matrix **m)
{
    given_rows g = make_rows(block_row, 60, my_first(60), my_last(60));
    tacit_status status = tacit_matrix_from_rows(
        test_world(), 60, g.first, g.rows, g.ptr, g.cols, g.vals, m);
    free_rows(&g);
    TRY(status);
    tacit_matrix_info info = {.size = sizeof info};
    TRY(tacit_matrix_describe(*m, &info));
    TRY(tacit_matrix_check_symmetric(*m));
    int32_t part[60];
    tacit_partition_info cut = {.size = sizeof cut};
    TRY(tacit_matrix_cut(*m, "metis", 4, part, &cut));
    TRY(tacit_matrix_partition(*m, "metis", NULL));
    const char *path = part_file(60, tacit_world_size(test_world()), "");
    status = tacit_matrix_partition(*m, "file", path);
    discard(path);
    return status;
}

/* Without memory at the k-th allocation of one rank, for each k until all goes
 * well, calls fail on every rank and give everything back. */
static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    const bool mine =
        tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    long k = 0;
    for (; status != TACIT_OK && k < 1000; k++) {
        tacit_matrix *m = NULL;
        if (mine) tct_memory_fail_at(k + 1);
        status = use_all(&m);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        tacit_matrix_destroy(&m);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(k > 20);
}

/* Columns that need 64 bits take other paths through the same code. */
static void wide_columns_work(void **state)
{
    (void)state;
    tacit_matrix *m = make(block_row, 201);
    const int64_t nonzeros = tct_csr_nonzeros(&m->A);
    int64_t *cols = tct_alloc((size_t)nonzeros * sizeof *cols);
    for (int64_t k = 0; k < nonzeros; k++) cols[k] = tct_csr_col(&m->A, k);
    tct_free(m->A.col32);
    m->A.col32 = NULL;
    m->A.col64 = cols;
    tacit_matrix_info info = {.size = sizeof info};
    assert_int_equal(tacit_matrix_describe(m, &info), TACIT_OK);
    assert_int_equal(info.block, 3);
    assert_int_equal(info.bandwidth, 5);
    assert_int_equal(tacit_matrix_check_symmetric(m), TACIT_OK);
    assert_int_equal(tacit_matrix_partition(m, "metis", NULL), TACIT_OK);
    assert_entries(m, block_row, 201);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moved_rows_keep_their_entries),
        cmocka_unit_test(rows_move_to_one_rank),
        cmocka_unit_test(cut_counts_what_an_exchange_costs),
        cmocka_unit_test(metis_cuts_fewer_edges),
        cmocka_unit_test(metis_moves_rows_and_keeps_blocks),
        cmocka_unit_test(blocks_are_known_wherever_rows_are),
        cmocka_unit_test(boxes_are_boxes_and_cut_little),
        cmocka_unit_test(layers_stay_together),
        cmocka_unit_test(boxes_of_what_has_moved),
        cmocka_unit_test(boxes_need_a_grid),
        cmocka_unit_test(partition_file),
        cmocka_unit_test(partition_file_errors),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
        cmocka_unit_test(wide_columns_work),
    };
    TEST_MPI_MAIN(tests);
}
