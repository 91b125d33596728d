/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_nodes.c - multigrid for systems of equations: the nodes of rows,
 * aggregates of nodes, those of one rank for any partition, and the matrices of
 * their columns, against their definitions.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#include "aggregates.h"
#include "bodies.h"
#include "gpu.h"
#include "precond/amg/systems/near_null.h"

static double random_number(int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)a, (uint64_t)b) - 0.5;
}

/* Of the known or, of so many vectors, random ones: the same for any cut. */
static tct_near_null near_null(const tacit_matrix *m, int node_rows,
                               int vectors)
{
    const tct_near_null_options all = {.node_rows = node_rows};
    tct_near_null B;
    if (vectors == 0) {
        OK(tct_near_null_open(m, &all, &B));
        return B;
    }
    double *X = zeros(m->A.rows * vectors);
    for (int64_t k = 0; k < m->A.rows * vectors; k++)
        X[k] =
            0.7 + random_number(tct_original(m, k % m->A.rows), k / m->A.rows);
    tct_near_null_options o = all;
    o.vectors = vectors;
    o.near_null = X;
    OK(tct_near_null_open(m, &o, &B));
    free(X);
    return B;
}

static int64_t first_of(int64_t count)
{
    int64_t starts[5] = {0};
    OK(tct_numbering_starts(test_world(), count, starts));
    return starts[tacit_world_rank(test_world())];
}

/* --- P -------------------------------------------------------------------- */

/* What the ranks that keep aggregates have of them, of all: `words` of each. */
static double *of_all(const tct_aggregates *G, int64_t words, const double *own)
{
    const int64_t all = all_ranks(G->coarse), first = first_of(G->coarse);
    double *v = zeros(all * words);
    if (G->coarse > 0)
        memcpy(v + first * words, own,
               (size_t)(G->coarse * words) * sizeof *own);
    sum_ranks(v, all * words);
    return v;
}

/* All rows of a node, on whatever ranks, have its aggregate. */
static void check_nodes(const tacit_matrix *m, const tct_near_null *B,
                        const double *number)
{
    const int64_t all = all_ranks(B->nodes), first = first_of(B->nodes);
    double *sum = zeros(all), *rows = zeros(all);
    for (int64_t i = 0; i < m->A.rows; i++) {
        const int64_t n =
            tct_place_number(B->node[i], first, B->nodes, &B->others);
        sum[n] += number[m->A.first + i];
        rows[n] += 1.0;
    }
    sum_ranks(sum, all);
    sum_ranks(rows, all);
    for (int64_t i = 0; i < m->A.rows; i++) {
        const int64_t n =
            tct_place_number(B->node[i], first, B->nodes, &B->others);
        assert_true(sum[n] == rows[n] * number[m->A.first + i]);
    }
    for (int64_t n = 0; n < all; n++) assert_true(rows[n] > 0.0);
    free(sum);
    free(rows);
}

/* Row `i` of P and of B: P has nothing where there is no aggregate, else P P' B
 * is B. Q'Q is added up in `gram`. */
static void check_row(const tct_near_null *B, const tct_aggregates *G,
                      int64_t i, const double *R, double *gram)
{
    const int64_t k = B->vectors;
    const double *w = G->weight + i * k;
    for (int64_t c = 0; !R && c < k; c++) assert_true(w[c] == 0.0);
    if (!R) return;
    for (int64_t c = 0; c < k * k; c++) gram[c] += w[c / k] * w[c % k];
    for (int64_t j = 0; j < k; j++) {
        double sum = 0.0;
        for (int64_t c = 0; c < k; c++) sum += w[c] * R[c * k + j];
        assert_true(fabs(sum - B->value[i * k + j]) < 1e-12);
    }
    assert_memory_equal(R, G->smooth + G->of[i] * k * k,
                        (size_t)(k * k) * sizeof *R);
}

/* Nodes are whole, columns of P orthonormal or 0, and P P' B = B. */
static void check_columns(const tacit_matrix *m, const tct_near_null *B,
                          const tct_aggregates *G)
{
    const int64_t k = B->vectors, all = all_ranks(G->coarse);
    double *gram = zeros(all * k * k), *number = numbers_of(m, G);
    double *R = of_all(G, k * k, G->smooth);
    assert_int_equal(G->width, k);
    check_nodes(m, B, number);
    for (int64_t i = 0; i < m->A.rows; i++) {
        const int64_t a = (int64_t)number[m->A.first + i];
        check_row(B, G, i, a < 0 ? NULL : R + a * k * k,
                  a < 0 ? NULL : gram + a * k * k);
    }
    sum_ranks(gram, all * k * k);
    for (int64_t e = 0; e < all * k * k; e++) {
        const int64_t c = e / k % k, d = e % k;
        const bool kept = c == d && R[e] > 0.0;
        assert_true(fabs(gram[e] - (kept ? 1.0 : 0.0)) < 1e-13);
    }
    free(gram);
    free(number);
    free(R);
}

/* --- P' A P --------------------------------------------------------------- */

/* A v of own rows, v [columns of all ranks]. */
static double row_times(const tct_csr *A, int64_t i, const double *v)
{
    double sum = 0.0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++)
        sum += A->val[e] * v[tct_csr_col(A, e)];
    return sum;
}

/* P x of all rows, x on the coarse level of all ranks. */
static double *prolonged(const tacit_matrix *m, const tct_aggregates *G,
                         const double *number, const double *x)
{
    const int64_t k = G->width;
    double *mine = zeros(m->A.rows);
    for (int64_t i = 0; i < m->A.rows; i++)
        for (int64_t c = 0; G->of[i] >= 0 && c < k; c++)
            mine[i] += G->weight[i * k + c] *
                       x[(int64_t)number[m->A.first + i] * k + c];
    double *all = gathered(m, mine);
    free(mine);
    return all;
}

/* y' A x, of vectors of all ranks. */
static double product(const tacit_matrix *m, const double *x, const double *y)
{
    double sum = 0.0;
    for (int64_t i = 0; i < m->A.rows; i++)
        sum += y[m->A.first + i] * row_times(&m->A, i, x);
    sum_ranks(&sum, 1);
    return sum;
}

/* A vector of the coarse level that is 0 where P has no column. */
static double *coarse_vector(const tct_aggregates *G, int seed)
{
    const int64_t k = G->width, first = first_of(G->coarse) * k;
    double *x = zeros(G->coarse * k);
    for (int64_t c = 0; c < G->coarse * k; c++)
        if (G->smooth[c * k + c % k] != 0.0)
            x[c] = random_number(first + c, seed);
    double *all = of_all(G, k, x);
    free(x);
    return all;
}

static void check_rows(const tct_aggregates *G, const tct_csr *A)
{
    const int64_t k = G->width;
    assert_int_equal(A->rows, G->coarse * k);
    for (int64_t c = 0; c < A->rows; c++) {
        const bool alone = G->smooth[c * k + c % k] == 0.0;
        assert_true(tct_csr_diagonal(A, c) > 0.0);
        for (int64_t e = A->ptr[c]; e < A->ptr[c + 1]; e++) {
            if (e > A->ptr[c])
                assert_true(tct_csr_col(A, e) > tct_csr_col(A, e - 1));
            if (alone && tct_csr_col(A, e) != A->first + c)
                assert_true(A->val[e] == 0.0);
        }
    }
}

static void check_product(const tacit_matrix *m, const tct_aggregates *G,
                          const tacit_matrix *coarse)
{
    double *number = numbers_of(m, G);
    check_rows(G, &coarse->A);
    for (int seed = 0; seed < 3; seed++) {
        double *x = coarse_vector(G, seed), *y = coarse_vector(G, seed + 10);
        double *px = prolonged(m, G, number, x);
        double *py = prolonged(m, G, number, y);
        const double wants = product(m, px, py), has = product(coarse, x, y);
        const double scale = product(m, px, px) + product(m, py, py);
        assert_true(fabs(has - wants) <= 1e-12 * scale);
        assert_true(fabs(product(coarse, y, x) - has) <= 1e-12 * scale);
        free(x);
        free(y);
        free(px);
        free(py);
    }
    free(number);
}

/* On to the next level: `*m` and `*B` become its. */
static tct_aggregates coarsen(tacit_matrix **m, tct_near_null *B, int passes,
                              bool check)
{
    const tct_coarsening how = {.passes = passes};
    tct_aggregates G;
    tacit_matrix *coarse = NULL;
    OK(tct_aggregate_nodes(*m, B, &how, &G));
    OK(tct_block_galerkin(*m, &G, &coarse));
    if (check) check_columns(*m, B, &G);
    if (check) check_product(*m, &G, coarse);
    OK(tct_near_null_next(B, &G, G.index));
    tacit_matrix_destroy(m);
    *m = coarse;
    return G;
}

/* Two levels of `m`, which is destroyed. */
static void check_two_levels(tacit_matrix *m, int node_rows, int vectors)
{
    tct_near_null B = near_null(m, node_rows, vectors);
    for (int level = 0; level < 2; level++) {
        tct_aggregates G = coarsen(&m, &B, 2, true);
        tct_aggregates_free(&G);
    }
    tct_near_null_clear(&B);
    tacit_matrix_destroy(&m);
}

/* In random deals nodes are cut apart, and aggregates may have fewer rows than
 * there are vectors. */
static const struct {
    const char *matrix;
    int node_rows, vectors;
} cases[] = {{"elasticity3d:5x4x3", 0, 0},
             {"elasticity3d:4", 3, 7},
             {"elasticity3d:4", 0, 1},
             {"poisson2d:9", 1, 3},
             {"poisson3d:4", 2, 2},
             {"tet3d:4,1", 0, 4},
             {"", 0, 0},
             {"anisotropic3d:6,0.1", 6, 3}};
enum { CASES = sizeof cases / sizeof *cases };

/* The empty name is that of the body. */
static const char *name_of(int i, const char *body)
{
    return cases[i].matrix[0] ? cases[i].matrix : body;
}

static void coarse_matrices_are_products(void **state)
{
    (void)state;
    char body[512];
    write_body(2, body);
    for (int i = 0; i < CASES; i++)
        for (deal how = 0; how < DEALS; how++) {
            tacit_matrix *m = open_matrix(name_of(i, body));
            distribute(m, how);
            check_two_levels(m, cases[i].node_rows, cases[i].vectors);
        }
    discard_body();
}

/* --- ranks ---------------------------------------------------------------- */

enum { LEVELS = 3 };

/* Of each finest row, in its original place, the aggregate that it is in on
 * each level, by the numbers of one rank. */
typedef struct {
    int64_t rows, coarse[LEVELS];
    int rounds[LEVELS];
    double *of[LEVELS];
} levels;

/* The aggregate of `number` [all rows of m], of each row of the finest level
 * that is in aggregate `above` (NULL: the row itself) of the level before. */
static double *composed(const double *number, int64_t rows, int width,
                        const double *above)
{
    double *of = zeros(rows);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t a = above ? (int64_t)above[i] * width : i;
        of[i] = a < 0 ? -1.0 : number[a];
    }
    return of;
}

static levels levels_of(tacit_matrix *m, int node_rows, int vectors)
{
    levels L = {.rows = m->A.global_rows};
    tct_near_null B = near_null(m, node_rows, vectors);
    double *original = zeros(m->A.rows), *above = NULL;
    for (int64_t i = 0; i < m->A.rows; i++)
        original[i] = (double)tct_original(m, i);
    double *place = gathered(m, original);
    for (int l = 0; l < LEVELS; l++) {
        tacit_matrix *finer = m;
        tct_aggregates G;
        OK(tct_aggregate_nodes(m, &B, &(tct_coarsening){.passes = 3}, &G));
        double *number = numbers_of(m, &G), *index = indices_of(m->world, &G);
        double *now = composed(number, L.rows, G.width, above);
        L.of[l] = zeros(L.rows);
        for (int64_t i = 0; i < L.rows; i++)
            L.of[l][(int64_t)place[i]] =
                now[i] < 0.0 ? -1.0 : index[(int64_t)now[i]];
        L.coarse[l] = count_over(finer->world, G.coarse);
        L.rounds[l] = G.rounds;
        m = NULL;
        OK(tct_block_galerkin(finer, &G, &m));
        OK(tct_near_null_next(&B, &G, G.index));
        tacit_matrix_destroy(&finer);
        tct_aggregates_free(&G);
        free(number);
        free(index);
        free(above);
        above = now;
    }
    free(above);
    free(original);
    free(place);
    tct_near_null_clear(&B);
    tacit_matrix_destroy(&m);
    return L;
}

static void forget(levels *L)
{
    for (int l = 0; l < LEVELS; l++) free(L->of[l]);
}

/* What a rank makes that has all rows. */
static levels levels_alone(tacit_world *self, int i, const char *body)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(self, name_of(i, body), NULL, &m));
    return levels_of(m, cases[i].node_rows, cases[i].vectors);
}

static void assert_same_levels(const levels *a, const levels *b,
                               const char *matrix, deal how)
{
    for (int l = 0; l < LEVELS; l++) {
        if (a->coarse[l] != b->coarse[l] || a->rounds[l] != b->rounds[l])
            fail_msg("%s, deal %d, level %d: %d aggregates, %d rounds; %d, %d",
                     matrix, how, l, (int)a->coarse[l], a->rounds[l],
                     (int)b->coarse[l], b->rounds[l]);
        for (int64_t i = 0; i < a->rows; i++)
            if (a->of[l][i] != b->of[l][i])
                fail_msg("%s, deal %d, level %d: row %d is in %g, not %g",
                         matrix, how, l, (int)i, a->of[l][i], b->of[l][i]);
    }
}

/* On three levels, whoever has the rows. */
static void aggregates_are_those_of_one_rank(void **state)
{
    (void)state;
    char body[512];
    tacit_world *self = NULL;
    OK(tacit_world_self(&self));
    write_body(4, body);
    for (int i = 0; i < CASES; i++) {
        levels one = levels_alone(self, i, body);
        assert_true(one.coarse[0] > 0);
        for (deal how = 0; how < DEALS; how++) {
            tacit_matrix *m = open_matrix(name_of(i, body));
            distribute(m, how);
            levels L = levels_of(m, cases[i].node_rows, cases[i].vectors);
            assert_same_levels(&L, &one, name_of(i, body), how);
            forget(&L);
        }
        forget(&one);
    }
    discard_body();
    tacit_world_destroy(&self);
}

/* --- memory --------------------------------------------------------------- */

static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    if (test_shares_allocations(__func__)) return;
    const bool mine =
        tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1;
    tacit_matrix *m = open_matrix("elasticity3d:4");
    distribute(m, AT_RANDOM);
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    long k = 1;
    for (; status != TACIT_OK && k < 2000; k++) {
        const tct_near_null_options o = {.node_rows = 0};
        tct_near_null B = {.vectors = 0};
        tct_aggregates G = {0};
        tacit_matrix *coarse = NULL;
        if (mine) tct_memory_fail_at(k);
        status = tct_near_null_open(m, &o, &B);
        if (status >= 0)
            status =
                tct_aggregate_nodes(m, &B, &(tct_coarsening){.passes = 2}, &G);
        if (status >= 0) status = tct_block_galerkin(m, &G, &coarse);
        tct_memory_fail_at(0);
        tacit_matrix_destroy(&coarse);
        tct_aggregates_free(&G);
        tct_near_null_clear(&B);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(k > 80);
    tacit_matrix_destroy(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarse_matrices_are_products),
        cmocka_unit_test(aggregates_are_those_of_one_rank),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    TEST_MPI_MAIN(tests);
}
