/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_foreign.c - factors of other libraries: the same product and
 * solves, rows that follow the tree built above them, and refusals of what is
 * no factor.
 *
 * DEVICE: each */
#include "base/base.h"
#include "factor/import/import.h"
#include "foreign.h"
#include "io_files.h"

/* --- the tree ------------------------------------------------------------- */

/* `up` of random forests with about `chance` of a root at each node. */
static void grow(int32_t n, double chance, uint64_t seed, int32_t *up,
                 double *weight)
{
    for (int32_t f = 0; f < n; f++) {
        const double x = tct_uniform((uint64_t)f, seed);
        const int32_t far = 1 + (int32_t)(x * x * x * (n - f - 1));
        const bool root = tct_uniform((uint64_t)f, seed + 1) < chance;
        up[f] = root || f + far >= n ? -1 : f + far;
        weight[f] = 1.0 + 9.0 * tct_uniform((uint64_t)f, seed + 2);
    }
}

static void forests_are_split_closed(void **state)
{
    (void)state;
    enum { MOST = 300 };
    int32_t up[MOST], node[MOST];
    double weight[MOST];
    for (uint64_t seed = 0; seed < 200; seed++) {
        const int32_t n = (int32_t)(MOST * tct_uniform(seed, 77));
        const int leaves = 1 << seed % 6;
        grow(n, seed % 3 == 0 ? 0.3 : 0.01, seed, up, weight);
        OK(tct_forest_split(n, up, weight, leaves, node));
        for (int32_t f = 0; f < n; f++) {
            assert_in_range(node[f], 0, 2 * leaves - 2);
            if (up[f] >= 0)
                assert_true(tct_node_is_above(node[up[f]], node[f]));
        }
    }
}

/* The most that a leaf and all above it weigh. */
static double heaviest_way(int32_t n, const double *weight, const int32_t *node,
                           int leaves)
{
    double of[64] = {0.0}, most = 0.0;
    for (int32_t f = 0; f < n; f++) of[node[f]] += weight[f];
    for (int i = 1; i < 2 * leaves - 1; i++) of[i] += of[(i - 1) / 2];
    for (int i = leaves - 1; i < 2 * leaves - 1; i++)
        if (of[i] > most) most = of[i];
    return most;
}

/* Where it is known what is best: a binary tree, lone nodes, a chain, a root
 * with leaves, and a chain on which a tree stands. */
static void known_forests_are_split_best(void **state)
{
    (void)state;
    enum { N = 127 };
    int32_t up[N], node[N];
    double weight[N];
    for (int32_t f = 0; f < N; f++) weight[f] = 1.0;
    for (int32_t f = 0; f < N; f++)
        up[f] = f == N - 1 ? -1 : N - 1 - (N - 2 - f) / 2;
    for (int leaves = 1, depth = 0; leaves <= 16; leaves *= 2, depth++) {
        OK(tct_forest_split(N, up, weight, leaves, node));
        assert_true(heaviest_way(N, weight, node, leaves) ==
                    depth + (128 / leaves - 1));
    }
    for (int32_t f = 0; f < N; f++) up[f] = -1;
    OK(tct_forest_split(N, up, weight, 4, node));
    assert_true(heaviest_way(N, weight, node, 4) == 32.0);
    for (int32_t f = 0; f < N; f++) up[f] = f + 1 < N ? f + 1 : -1;
    OK(tct_forest_split(N, up, weight, 4, node));
    assert_true(heaviest_way(N, weight, node, 4) == 127.0);
    for (int32_t f = 0; f < N; f++) up[f] = f + 1 < N ? N - 1 : -1;
    OK(tct_forest_split(N, up, weight, 2, node));
    assert_true(heaviest_way(N, weight, node, 2) == 64.0);
    for (int32_t f = 0; f < N; f++)
        up[f] = f + 1 == N ? -1 : f >= 100 ? f + 1 : f < 50 ? 100 : 100 + f % 2;
    OK(tct_forest_split(N, up, weight, 2, node));
    assert_true(heaviest_way(N, weight, node, 2) <= 27.0 + 51.0);
}

/* Of a grid the tree that is found comes near that of the dissection. */
static void a_dissection_is_found_again(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:60");
    for (int leaves = 2; leaves <= 8; leaves *= 2) {
        tacit_factor *own = factor_of(m, leaves), *F = NULL;
        lists l = lists_of(own, TACIT_FACTOR_LLT);
        const tacit_factor_options o = {.size = sizeof o, .leaves = leaves};
        OK(tacit_factor_import(&l.C, &o, &F));
        const tacit_factor_panels P = view_of(own), Q = view_of(F);
        const double ours = share_of(&P), theirs = share_of(&Q);
        if (!(theirs <= 1.25 * ours))
            fail_msg("%d leaves: %g of all at most, the dissection %g", leaves,
                     theirs, ours);
        discard(&l);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&own);
    }
    tacit_matrix_destroy(&m);
}

/* --- the same factor ------------------------------------------------------ */

static const char *const names[] = {"poisson2d:12x11", "poisson3d:5",
                                    "elasticity3d:3", "jump3d:5,1e4,1"};
enum { NAMES = sizeof names / sizeof *names };

static const tacit_factor_kind kinds[] = {TACIT_FACTOR_LLT, TACIT_FACTOR_LDLT,
                                          TACIT_FACTOR_LU, TACIT_FACTOR_IC0,
                                          TACIT_FACTOR_ILU0};

static void what_comes_in_is_what_was_given(void **state)
{
    (void)state;
    const size_t before = tct_memory_blocks();
    for (int i = 0; i < NAMES * 5; i++) {
        tacit_matrix *m = gallery(names[i % NAMES]);
        tacit_factor *own = factor_of(m, 1), *F = NULL;
        const tacit_factor_options o = {
            .size = sizeof o, .leaves = 1 << i % 4, .width = 1 + i % 3 * 20};
        lists l = lists_of(own, kinds[i / NAMES]);
        OK(tacit_factor_import(&l.C, &o, &F));
        const tacit_factor_panels P = view_of(F);
        assert_int_equal(P.leaves, o.leaves);
        assert_int_equal(P.kind, l.C.kind);
        OK(tacit_factor_check(&P));
        expect_closed(&P);
        expect_triangles(&P, &l);
        expect_product(m, &P, names[i % NAMES]);
        discard(&l);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&own);
        tacit_matrix_destroy(&m);
    }
    assert_int_equal(tct_memory_blocks(), before);
}

/* Supernodes are found: no more panels than our own has. */
static void supernodes_are_found(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson3d:9");
    tacit_factor *own = factor_of(m, 1), *F = NULL;
    lists l = lists_of(own, TACIT_FACTOR_LLT);
    OK(tacit_factor_import(&l.C, NULL, &F));
    const tacit_factor_panels P = view_of(own), Q = view_of(F);
    assert_true(Q.panels <= P.panels + P.panels / 20);
    discard(&l);
    tacit_factor_destroy(&F);
    tacit_factor_destroy(&own);
    tacit_matrix_destroy(&m);
}

/* Patterns of no matrix's factor: entries left out anywhere. */
static void any_triangle_is_taken(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        const int n = (int)(60.0 * tct_uniform(seed, 5));
        const tacit_factor_options o = {.size = sizeof o,
                                        .leaves = 1 << seed % 5};
        const double x = tct_uniform(seed, 6);
        lists l = random_lists(n, x * x, seed, kinds[seed % 5]);
        tacit_factor *F = NULL;
        OK(tacit_factor_import(&l.C, &o, &F));
        const tacit_factor_panels P = view_of(F);
        OK(tacit_factor_check(&P));
        expect_closed(&P);
        expect_triangles(&P, &l);
        discard(&l);
        tacit_factor_destroy(&F);
    }
}

/* L L' or L U times what TEST_DEVICE solves is what it was given, but for
 * rounding; rows have kept their numbers. */
static void expect_solution(const tacit_factor *F)
{
    const tacit_factor_panels P = view_of(F);
    const size_t n = (size_t)P.rows;
    double *L = dense_of(&P, P.value);
    double *U = dense_of(&P, P.upper ? P.upper : P.value);
    double *b = tct_alloc(n * sizeof *b), *x = tct_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) b[i] = tct_uniform(i, 4) - 0.5;
    solve_there(F, 1, b, x);
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0, terms = 0.0;
        for (size_t k = 0; k <= i; k++)
            for (size_t j = k; j < n; j++) {
                sum += L[k * n + i] * U[k * n + j] * x[j];
                terms += fabs(L[k * n + i] * U[k * n + j] * x[j]);
            }
        if (!(fabs(sum - b[i]) <= 1e-11 * terms))
            fail_msg("row %d of the product is %g, not %g", (int)i, sum, b[i]);
    }
    TCT_FREE(L, U, b, x);
}

/* A chain of `n` columns; the first one has the rows from `from` on, too, which
 * all others lack. */
static tacit_factor *chain_of(int n, int from)
{
    double *L = tct_calloc((size_t)n * (size_t)n * sizeof *L);
    for (int j = 0; j < n; j++) {
        L[j * n + j] = 2.0;
        if (j + 1 < n) L[j * n + j + 1] = -1.0;
        if (j >= from) L[j] = 0.5;
    }
    lists l = lists_from(L, NULL, NULL, n, NULL, TACIT_FACTOR_LLT);
    tacit_factor *F = NULL;
    OK(tacit_factor_import(&l.C, NULL, &F));
    const tacit_factor_panels P = view_of(F);
    expect_triangles(&P, &l);
    discard(&l);
    tct_free(L);
    return F;
}

static void rows_that_are_lacking_come_in(void **state)
{
    (void)state;
    tacit_factor *F = chain_of(200, 199);
    tacit_factor_panels P = view_of(F);
    assert_true(is_whole(&P));
    expect_solution(F);
    tacit_factor_destroy(&F);
    for (uint64_t seed = 0; seed < 10; seed++) {
        lists l = random_lists(30, 0.8, seed, TACIT_FACTOR_LU);
        OK(tacit_factor_import(&l.C, NULL, &F));
        P = view_of(F);
        assert_true(is_whole(&P));
        expect_solution(F);
        discard(&l);
        tacit_factor_destroy(&F);
    }
}

static void too_many_of_them_stay_out(void **state)
{
    (void)state;
    tacit_factor *F = chain_of(200, 100);
    const tacit_factor_panels P = view_of(F);
    assert_false(is_whole(&P));
    if (strcmp(TEST_DEVICE, "host") == 0) {
        expect_solution(F);
    } else {
        tacit_queue *q = open_queue(TEST_DEVICE);
        tacit_factor_solver *S = NULL;
        REFUSES(TACIT_UNSUPPORTED, "a GPU solves with whole factors",
                tacit_factor_solver_create(q, &P, NULL, &S));
        tacit_queue_destroy(&q);
    }
    tacit_factor_destroy(&F);
}

static void solves_are_those_of_the_own_factor(void **state)
{
    (void)state;
    enum { COLUMNS = 5 };
    const bool host = strcmp(TEST_DEVICE, "host") == 0;
    const int known = host ? 5 : 3; /* a GPU solves with no incomplete ones */
    for (int i = 0; i < NAMES * known; i++) {
        tacit_matrix *m = gallery(names[i % NAMES]);
        tacit_factor *own = factor_of(m, 1), *F = NULL;
        lists l = lists_of(own, kinds[i / NAMES]);
        OK(tacit_factor_import(&l.C, NULL, &F));
        const tacit_factor_panels P = view_of(F);
        assert_true(tct_is_incomplete(P.kind) || is_whole(&P));
        expect_same_solves(own, F, COLUMNS);
        expect_same_solves(own, F, 1);
        discard(&l);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&own);
        tacit_matrix_destroy(&m);
    }
}

static void files_hold_a_factor(void **state)
{
    (void)state;
    const size_t before = tct_memory_blocks();
    for (int i = 0; i < 10; i++) {
        lists l = random_lists(i < 5 ? 30 : 1, 0.2, (uint64_t)i, kinds[i % 5]);
        tacit_factor *F = NULL, *G = NULL;
        for (int k = 0; k + 1 < (int)l.C.rows; k++)
            l.original[k] = (int32_t)(l.C.rows - 1 - k);
        l.original[l.C.rows - 1] = 0;
        const tacit_factor_files files = {
            .size = sizeof files,
            .lower = in_folder(i % 2 ? "L.mtx" : "L.tacit"),
            .upper = l.C.upper_ptr ? in_folder("U.mtx.gz") : NULL,
            .diagonal = l.C.diagonal ? in_folder("D") : NULL,
            .permutation = in_folder("p")};
        OK(tacit_factor_import(&l.C, NULL, &F));
        OK(tacit_factor_write(F, test_world(), &files));
        OK(tacit_factor_read(test_world(), &files, NULL, &G));
        const tacit_factor_panels P = view_of(G);
        expect_triangles(&P, &l);
        for (int64_t k = 0; k < P.rows; k++)
            assert_int_equal(P.original[k], l.original[k]);
        tacit_factor_destroy(&F);
        tacit_factor_destroy(&G);
        discard(&l);
    }
    assert_int_equal(tct_memory_blocks(), before);
}

static void files_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    lists l = random_lists(6, 0.5, 3, TACIT_FACTOR_LLT);
    l.original[0] = 1;
    l.original[1] = 0;
    tacit_factor *F = NULL, *G = NULL;
    OK(tacit_factor_import(&l.C, NULL, &F));
    tacit_factor_files files = {.size = sizeof files,
                                .lower = in_folder("L.mtx")};
    REFUSES(TACIT_INVALID, "an order of their own",
            tacit_factor_write(F, test_world(), &files));
    files.permutation = in_folder("p");
    files.upper = in_folder("U.mtx");
    REFUSES(TACIT_INVALID, "a name for U",
            tacit_factor_write(F, test_world(), &files));
    files.diagonal = in_folder("D");
    REFUSES(TACIT_INVALID, "not both",
            tacit_factor_read(test_world(), &files, NULL, &G));
    files.diagonal = NULL;
    files.upper = "poisson2d:2";
    files.lower = "poisson2d:1";
    files.permutation = NULL;
    REFUSES(TACIT_INPUT, "has 4 rows, and poisson2d:1 1",
            tacit_factor_read(test_world(), &files, NULL, &G));
    assert_null(G);
    tacit_factor_destroy(&F);
    discard(&l);
}

/* --- what is no factor ---------------------------------------------------- */

/* Break number `i` of L and U of 4 rows, full, kind LU or LDLT; what is to be
 * said. */
static const char *break_it(lists *l, int i)
{
    switch (i) {
    case 0: l->ptr[0] = 1; return "L: its columns must start at 0, not 1";
    case 1: l->ptr[2] = 3; return "L: column 1 ends at 3, before it starts, 4";
    case 2: l->row[5] = 4; return "L: column 1: row 4 is out of range, 0 to 3";
    case 3: l->row[5] = -1; return "L: column 1: row -1 is out of range";
    case 4: l->row[6] = 2; return "L: column 1: row 2 comes after row 2";
    case 5: l->row[4] = 0; return "L: row 0, column 1 is above the diagonal";
    case 6: l->row[7] = 3; return "column 2: row 3 comes after row 3";
    case 7:
        l->row[9] = 2;
        return "row 2, column 3 is above the diagonal: the "
               "lower triangle is wanted";
    case 8: l->ptr[4] = 9; return "L: row 3, column 3: the diagonal is missing";
    case 9: l->value[7] = 0.0; return "L: row 2, column 2 is 0";
    case 10: l->value[8] = NAN; return "L: row 3, column 2 is";
    case 11: l->value[0] = INFINITY; return "L: row 0, column 0 is inf";
    case 12: l->upper_row[1] = 2; return "U: row 2, column 1 is below";
    case 13: l->upper_row[2] = 0; return "U: column 1: row 0 comes after row 0";
    case 14: l->upper_value[5] = 0.0; return "U: row 2, column 2 is 0";
    case 15: l->upper_value[4] = NAN; return "U: row 1, column 2 is";
    case 16: l->upper_ptr[4] = 9; return "U: row 3, column 3: the diagonal is";
    case 17: l->original[2] = 0; return "were both row 0";
    case 18: l->original[2] = 4; return "was row 4";
    default: return NULL;
    }
}

static void what_is_no_factor_is_told(void **state)
{
    (void)state;
    const size_t before = tct_memory_blocks();
    tacit_factor *F = NULL;
    for (int i = 0;; i++) {
        lists l = random_lists(4, 1.0, 3, TACIT_FACTOR_LU);
        const char *text = break_it(&l, i);
        if (text)
            REFUSES(TACIT_INPUT, text, tacit_factor_import(&l.C, NULL, &F));
        discard(&l);
        if (!text) break;
    }
    lists l = random_lists(4, 1.0, 3, TACIT_FACTOR_LDLT);
    l.value[4] = 2.0;
    REFUSES(TACIT_INPUT, "L: row 1, column 1 is 2, and of L D L' it is 1",
            tacit_factor_import(&l.C, NULL, &F));
    l.value[4] = 1.0;
    l.diagonal[3] = 0.0;
    REFUSES(TACIT_INPUT, "D: row 3 is 0", tacit_factor_import(&l.C, NULL, &F));
    discard(&l);
    assert_null(F);
    assert_int_equal(tct_memory_blocks(), before);
}

static void calls_that_cannot_be_are_refused(void **state)
{
    (void)state;
    tacit_factor *F = NULL;
    lists l = random_lists(4, 1.0, 3, TACIT_FACTOR_LLT);
    tacit_factor_options o = {.size = sizeof o, .leaves = 3};
    REFUSES(TACIT_INVALID, "power of two", tacit_factor_import(&l.C, &o, &F));
    l.C.kind = TACIT_FACTOR_LU;
    REFUSES(TACIT_INVALID, "arrays of U", tacit_factor_import(&l.C, NULL, &F));
    l.C.kind = TACIT_FACTOR_LDLT;
    REFUSES(TACIT_INVALID, "diagonal", tacit_factor_import(&l.C, NULL, &F));
    l.C.kind = (tacit_factor_kind)7;
    REFUSES(TACIT_INVALID, "no kind 7", tacit_factor_import(&l.C, NULL, &F));
    l.C.kind = TACIT_FACTOR_LLT;
    l.C.rows = -1;
    REFUSES(TACIT_INVALID, "rows", tacit_factor_import(&l.C, NULL, &F));
    l.C.rows = 4;
    l.C.row = NULL;
    REFUSES(TACIT_INVALID, "NULL", tacit_factor_import(&l.C, NULL, &F));
    l.C.size = 0;
    REFUSES(TACIT_INVALID, "size", tacit_factor_import(&l.C, NULL, &F));
    assert_null(F);
    discard(&l);
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    const tacit_factor_kind both[] = {TACIT_FACTOR_LDLT, TACIT_FACTOR_LU};
    for (int i = 0; i < 2; i++) {
        lists l = random_lists(40, 0.1, 9, both[i]);
        const size_t before = tct_memory_blocks();
        tacit_factor *F = NULL;
        int failed = 0;
        for (long k = 1; !F; k++, failed++) {
            tct_memory_fail_at(k);
            const tacit_status status = tacit_factor_import(&l.C, NULL, &F);
            tct_memory_fail_at(0);
            if (F) break;
            assert_int_equal(status, TACIT_NO_MEMORY);
            assert_int_equal(tct_memory_blocks(), before);
        }
        assert_true(failed > 20);
        tacit_factor_destroy(&F);
        discard(&l);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forests_are_split_closed),
        cmocka_unit_test(known_forests_are_split_best),
        cmocka_unit_test(a_dissection_is_found_again),
        cmocka_unit_test(what_comes_in_is_what_was_given),
        cmocka_unit_test(supernodes_are_found),
        cmocka_unit_test(any_triangle_is_taken),
        cmocka_unit_test(rows_that_are_lacking_come_in),
        cmocka_unit_test(too_many_of_them_stay_out),
        cmocka_unit_test(solves_are_those_of_the_own_factor),
        cmocka_unit_test(files_hold_a_factor),
        cmocka_unit_test(files_that_do_not_belong_together_are_refused),
        cmocka_unit_test(what_is_no_factor_is_told),
        cmocka_unit_test(calls_that_cannot_be_are_refused),
        cmocka_unit_test(no_memory_is_an_error_and_no_leak),
    };
    one_thread();
    TEST_GPU_MAIN(tests);
}
