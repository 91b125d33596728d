/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_amg_ranks.c - algebraic multigrid on several ranks: as many
 * iterations as on one, for any partition, and levels kept by few ranks.
 *
 * RUN: np=2,3,4
 * THREADS: 3 */
#include "decorated.h"
#include "fused_twin.h"
#include "problem.h"
#include <math.h>

typedef struct {
    problem p;
    tacit_operator *M;
} amg;

static void open_amg(amg *a, tacit_world *w, const char *matrix,
                     const char *cut)
{
    const tacit_precond_options o = {.size = sizeof o};
    problem *p = &a->p;
    *a = (amg){.M = NULL};
    p->result.size = sizeof p->result;
    OK(tacit_matrix_open(w, matrix, NULL, &p->m));
    OK(tacit_matrix_partition(p->m, cut, NULL));
    OK(tacit_queue_create(w, "host", 1, &p->q));
    OK(tacit_operator_create(p->q, p->m, "sell@none", &p->A));
    OK(tacit_solver_create(p->q, p->A, "cg", &p->s));
    OK(tacit_precond_create_of(p->A, p->m, "amg", &o, &a->M));
    OK(tacit_solver_set_precond(p->s, a->M));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static int64_t solve(amg *a)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-8, .max_iterations = 200};
    OK(tacit_solver_run(a->p.s, a->p.b, a->p.x, &stop, &a->p.result));
    assert_true(a->p.result.true_relative_residual <= 1e-8);
    return a->p.result.iterations;
}

static void close_amg(amg *a)
{
    OK(tacit_solver_set_precond(a->p.s, NULL));
    tacit_operator_destroy(&a->M);
    close_problem(&a->p);
}

static int64_t iterations_of(tacit_world *w, const char *matrix,
                             const char *cut)
{
    amg a;
    open_amg(&a, w, matrix, cut);
    const int64_t its = solve(&a);
    close_amg(&a);
    return its;
}

/* Of all ranks together, so that none waits for itself alone. */
static int64_t iterations_alone(const char *matrix)
{
    tacit_world *self = NULL;
    double its = 0.0;
    OK(tacit_world_self(&self));
    if (tacit_world_rank(test_world()) == 0)
        its = (double)iterations_of(self, matrix, "contiguous");
    tacit_world_destroy(&self);
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &its));
    return (int64_t)its;
}

/* Aggregates are those of one rank, whoever has their rows; sums are rounded in
 * another order. */
static void ranks_change_few_iterations(void **state)
{
    (void)state;
    enum { MATRICES = 9 };
    static const char *const matrices[MATRICES] = {"like:g3_circuit,150x150",
                                                   "like:g3_circuit,100x100",
                                                   "jump3d:24,1e4,1",
                                                   "tet3d:20,1",
                                                   "poisson3d:31",
                                                   "poisson3d:26",
                                                   "anisotropic3d:24,0.01",
                                                   "elasticity3d:8",
                                                   "elasticity3d:13x11x9"};
    static const char *const cuts[] = {"contiguous", "metis"};
    for (int i = 0; i < MATRICES; i++) {
        const int64_t alone = iterations_alone(matrices[i]);
        for (int k = 0; k < 2; k++) {
            const int64_t its =
                iterations_of(test_world(), matrices[i], cuts[k]);
            if (llabs(its - alone) > 1 + alone / 20)
                fail_msg("%s, %s: %d iterations, %d on one rank", matrices[i],
                         cuts[k], (int)its, (int)alone);
        }
    }
}

/* Rank 0 has all of the second level, and of what is inverted each a part; the
 * global size stays. */
static void few_ranks_keep_small_levels(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    amg a;
    open_amg(&a, test_world(), "poisson3d:26", "contiguous");
    const tct_amg *M = (const tct_amg *)(const void *)a.M;
    assert_int_equal(M->levels, 4);
    for (int l = 0; l < M->levels; l++) {
        const tct_amg_level *L = &M->level[l];
        double sum = (double)L->n;
        OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &sum));
        assert_int_equal((int64_t)sum, L->about.rows);
        if (l == 0) assert_true(L->n <= L->about.rows / size + 60);
        else if (l < 3) assert_int_equal(L->n, rank ? 0 : L->about.rows);
        else assert_true(L->n > 0 && L->n <= L->about.rows / size + 1);
    }
    solve(&a);
    close_amg(&a);
}

/* --- the last levels on each rank ----------------------------------------- */

/* M is made, or made anew for other values, by a device that has them as one
 * kernel. */
static void with_twins(tct_amg_fused_kernels const *kernels)
{
    double all = 1.0; /* ranks may be threads */
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &all));
    tct_amg_fused_instead = kernels;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &all));
}

static void open_whole(amg *a, const char *matrix, const char *cut)
{
    with_twins(&twins);
    open_amg(a, test_world(), matrix, cut);
    with_twins(NULL);
}

static void close_whole(amg *a)
{
    close_amg(a);
    free(inverse);
    inverse = NULL;
}

/* From the second level on they are wholly there, and no message more than
 * those of the first one and what an exchange brings is sent. */
static void each_rank_has_the_last_levels(void **state)
{
    (void)state;
    static const struct {
        const char *matrix, *cut;
    } cases[] = {{"poisson3d:26", "contiguous"},
                 {"poisson3d:31", "metis"},
                 {"jump3d:24,1e4,1", "contiguous"},
                 {"tet3d:20,1", "metis"},
                 {"anisotropic3d:24,0.01", "metis"},
                 {"like:g3_circuit,100x100", "contiguous"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_precond_info info = {.size = sizeof info};
        const int64_t alone = iterations_alone(cases[i].matrix);
        amg a;
        open_whole(&a, cases[i].matrix, cases[i].cut);
        const tct_amg *M = (const tct_amg *)(const void *)a.M;
        products = 0;
        const int64_t its = solve(&a);
        OK(tacit_precond_describe(a.M, &info));
        if (!M->alone.M || M->levels != 2 || products < its ||
            !strstr(info.detail, "one kernel from level 1 on, on each rank"))
            fail_msg("%s: %d levels, %d visits, %s", cases[i].matrix, M->levels,
                     products, info.detail);
        if (its > alone + 1 + alone / 10)
            fail_msg("%s, %s: %d iterations, %d on one rank", cases[i].matrix,
                     cases[i].cut, (int)its, (int)alone);
        int64_t rows = INT64_MAX;
        for (int l = 0; l < info.levels; l++) {
            const tacit_precond_level *level = tacit_precond_level_at(a.M, l);
            assert_true(level->rows < rows && level->bytes > 0.0);
            rows = level->rows;
        }
        assert_true(info.levels > 2 && rows <= 800);
        close_whole(&a);
    }
}

static void they_follow_new_values(void **state)
{
    (void)state;
    amg a;
    open_whole(&a, "jump3d:24,1e3,1", "contiguous");
    const int64_t its = solve(&a);
    for (int64_t k = 0; k < a.p.m->A.ptr[a.p.m->A.rows]; k++)
        a.p.m->A.val[k] *= 0x1p100;
    OK(tacit_operator_update(a.p.A, a.p.m));
    with_twins(&twins);
    OK(tacit_precond_update(a.M, a.p.m));
    with_twins(NULL);
    OK(tacit_queue_fill(a.p.q, a.p.n, 0.0, a.p.x));
    assert_int_equal(solve(&a), its);
    close_whole(&a);
}

/* Whichever allocation fails, on one rank, all have an M or none. */
static void memory_may_lack_on_one_rank(void **state)
{
    (void)state;
    const bool fails = tacit_world_rank(test_world()) == 1;
    amg a;
    int met = 0, missed = 0;
    open_whole(&a, "poisson3d:16", "contiguous");
    if (a.p.q->one_process) {
        printf("skipped: memory_may_lack_on_one_rank: of threads any\n");
        met = 20;
    }
    for (long k = 1; met < 20; k += 3) {
        tacit_operator *M = NULL;
        with_twins(&twins);
        if (fails) tct_memory_fail_at(k);
        const tacit_status status =
            tacit_precond_create_of(a.p.A, a.p.m, "amg", NULL, &M);
        tct_memory_fail_at(0);
        with_twins(NULL);
        if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
        assert_int_equal(M == NULL, status < 0);
        met = status < 0 ? 0 : met + 1;
        missed += status < 0;
        tacit_operator_destroy(&M);
    }
    assert_true(missed > 5 || a.p.q->one_process);
    close_whole(&a);
}

/* Row `i` of D^-1 (L + I / 4) D^-1, L a path's Laplacian and d[i] 1 on the
 * first rank and a thousand times as much on each one after it. */
enum { PATH_ROWS = 20 }; /* a rank */

static double path_scale(int64_t i)
{
    return pow(1e3, (double)(i / PATH_ROWS));
}

static int64_t path_row(int64_t i, int64_t all, int64_t *col, double *val)
{
    int64_t n = 0;
    double sum = 0.0;
    for (int64_t j = i - 1; j <= i + 1; j += 2) {
        if (j < 0 || j >= all) continue;
        col[n] = j;
        val[n++] = -1.0 / path_scale(i) / path_scale(j);
        sum += 1.0;
    }
    col[n] = i;
    val[n++] = (sum + 0.25) / path_scale(i) / path_scale(i);
    return n;
}

static tacit_matrix *scaled_path(double *w)
{
    const int64_t first = (int64_t)tacit_world_rank(test_world()) * PATH_ROWS;
    const int64_t all = (int64_t)tacit_world_size(test_world()) * PATH_ROWS;
    int64_t ptr[PATH_ROWS + 1] = {0}, col[3 * PATH_ROWS];
    double val[3 * PATH_ROWS];
    tacit_matrix *m = NULL;
    for (int i = 0; i < PATH_ROWS; i++) {
        ptr[i + 1] =
            ptr[i] + path_row(first + i, all, col + ptr[i], val + ptr[i]);
        w[2 * i] = path_scale(first + i);
        w[2 * i + 1] = -w[2 * i];
    }
    OK(tacit_matrix_from_rows(test_world(), all, first, PATH_ROWS, ptr, col,
                              val, &m));
    return m;
}

/* Of d, (d, A d) is a quarter of the rows: rounding does no harm. It would be
 * far below 0 if a column of another rank had the vector of the row. */
static void energies_take_what_other_ranks_have(void **state)
{
    (void)state;
    double w[2 * PATH_ROWS], one[PATH_ROWS];
    tacit_matrix *m = scaled_path(w);
    bool floats = false;
    OK(tct_amg_floats_will_do(m, w, 2, &floats));
    assert_true(floats);
    for (int i = 0; i < PATH_ROWS; i++) one[i] = w[2 * i];
    floats = false;
    OK(tct_amg_floats_will_do(m, one, 1, &floats));
    assert_true(floats);
    tacit_matrix_destroy(&m);
}

static void moved_levels_have_the_same_bits(void **state)
{
    (void)state;
    double *first = NULL;
    for (int k = 0; k < 2; k++) {
        amg a;
        open_amg(&a, test_world(), "like:g3_circuit,60x60", "metis");
        solve(&a);
        double *x = host_copy(a.p.q, a.p.n, a.p.x);
        if (k == 0) first = x;
        else assert_true(same_bits(first, x, a.p.n));
        if (k > 0) free(x);
        close_amg(&a);
    }
    free(first);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_change_few_iterations),
        cmocka_unit_test(few_ranks_keep_small_levels),
        cmocka_unit_test(each_rank_has_the_last_levels),
        cmocka_unit_test(they_follow_new_values),
        cmocka_unit_test(memory_may_lack_on_one_rank),
        cmocka_unit_test(energies_take_what_other_ranks_have),
        cmocka_unit_test(moved_levels_have_the_same_bits),
    };
    TEST_MPI_MAIN(tests);
}
