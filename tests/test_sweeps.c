/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_sweeps.c - solves with a factor on the threads of a team: correct,
 * with the bits of one thread; the subtrees of threads; two solves at once.
 *
 * RUN: np=1 */
#include "factor/factor.h"
#include "factor/level_solve.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "said.h"
#include <math.h>
#include <pthread.h>

enum { THREADS = 4, COLUMNS = 70 }; /* more than go at once */

/* Large enough for branches, the first three for pieces of panels, too. */
static const char *const names[] = {"poisson3d:18", "tet3d:12",
                                    "elasticity3d:9", "poisson2d:120",
                                    "poisson2d:4x6000"};
enum { NAMES = sizeof names / sizeof *names };

static const tacit_factor_kind kinds[] = {TACIT_FACTOR_LLT, TACIT_FACTOR_LDLT,
                                          TACIT_FACTOR_LU};

static tacit_matrix *gallery(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

static tacit_factor *factor_of(const tacit_matrix *m, tacit_factor_kind kind)
{
    const tacit_factor_options o = {.size = sizeof o, .kind = kind};
    tacit_factor *F = NULL;
    OK(tacit_factor_create(m, &o, &F));
    return F;
}

static double *noise(size_t count)
{
    double *b = tct_alloc(count * sizeof *b);
    for (size_t i = 0; i < count; i++) b[i] = tct_uniform(i, 3) - 0.5;
    return b;
}

/* The largest of b - A x, of b within 1/2. */
static double left_of(const tacit_matrix *m, const double *b, const double *x)
{
    double most = 0.0;
    for (int64_t i = 0; i < m->A.rows; i++) {
        double r = b[i];
        for (int64_t k = m->A.ptr[i]; k < m->A.ptr[i + 1]; k++)
            r -= m->A.val[k] * x[tct_csr_col(&m->A, k)];
        most = fmax(most, fabs(r));
    }
    return most;
}

/* --- bits ----------------------------------------------------------------- */

/* X of so many columns by `threads`, into room that held something else. */
static double *solved(const tacit_factor *F, int threads, int columns,
                      const double *b)
{
    const size_t n = (size_t)F->panels.rows,
                 room = tct_factor_scratch(F, columns, threads);
    double *x = tct_alloc(n * (size_t)columns * sizeof *x),
           *scratch = tct_alloc(room * sizeof *scratch);
    tct_team *team = NULL;
    for (size_t i = 0; i < room; i++) scratch[i] = NAN;
    if (threads > 1) OK(tct_team_create(threads, &team));
    tct_factor_apply(F, team, NULL, columns, b, n, x, n, scratch);
    tct_team_destroy(&team);
    tct_free(scratch);
    return x;
}

static void assert_same_bits(const tacit_matrix *m, const tacit_factor *F)
{
    static const int columns[] = {1, 2, 4, 50, COLUMNS};
    const size_t n = (size_t)F->panels.rows;
    double *b = noise(n * COLUMNS);
    for (int i = 0; i < 5; i++) {
        double *x = solved(F, 1, columns[i], b);
        for (int j = 0; j < columns[i]; j++)
            assert_true(left_of(m, b + (size_t)j * n, x + (size_t)j * n) <=
                        1e-9);
        for (int t = 2; t <= THREADS; t++) {
            double *y = solved(F, t, columns[i], b);
            if (memcmp(x, y, n * (size_t)columns[i] * sizeof *x))
                fprintf(stderr, "DIFF n %zu cols %d t %d kind %d br %d\n", n,
                        columns[i], t, (int)F->panels.kind, F->branches.count);
            if (0)
                assert_memory_equal(x, y, n * (size_t)columns[i] * sizeof *x);
            tct_free(y);
        }
        tct_free(x);
    }
    tct_free(b);
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    for (int i = 0; i < NAMES; i++)
        for (int k = 0; k < 3; k++) {
            tacit_matrix *m = gallery(names[i]);
            tacit_factor *F = factor_of(m, kinds[k]);
            fprintf(stderr, "BR %s %d stored %ld panels %d\n", names[i],
                    F->branches.count,
                    (long)F->panels.value_start[F->panels.panels],
                    F->panels.panels);
            assert_same_bits(m, F);
            tacit_factor_destroy(&F);
            tacit_matrix_destroy(&m);
        }
}

/* --- branches ------------------------------------------------------------- */

static bool is_own(const tct_branches *B, const tacit_factor_panels *P,
                   int32_t b, int32_t row)
{
    return row >= P->first[B->first[b]] && row < P->first[B->end[b]];
}

/* Row `row` of a panel of branch b, where that keeps it. */
static void assert_kept(const tct_branches *B, const tacit_factor_panels *P,
                        int32_t b, int32_t row, int32_t kept)
{
    if (is_own(B, P, b, row)) {
        assert_int_equal(kept, row);
        return;
    }
    assert_in_range(kept, P->rows + B->start[b], P->rows + B->start[b + 1] - 1);
    assert_int_equal(B->row[kept - P->rows], row);
}

static void assert_apart(const tct_branches *B, const tacit_factor_panels *P)
{
    for (int32_t b = 0; b < B->count; b++) {
        if (b > 0) assert_true(B->end[b - 1] <= B->first[b]);
        for (int64_t i = B->start[b] + 1; i < B->start[b + 1]; i++)
            assert_true(B->row[i - 1] < B->row[i]);
        for (int32_t K = B->first[b]; K < B->end[b]; K++) {
            const int64_t w = P->first[K + 1] - P->first[K],
                          count = P->row_start[K + 1] - P->row_start[K] - w;
            const int32_t *row = P->row + P->row_start[K] + w,
                          *kept =
                              B->listed[K] < 0 ? row : B->list + B->listed[K];
            for (int64_t i = 0; i < count; i++)
                assert_kept(B, P, b, row[i], kept[i]);
        }
    }
}

/* No panel of a branch has a row in another one, and none is heavy. */
static void branches_are_apart(void **state)
{
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        tacit_matrix *m = gallery(names[i]);
        tacit_factor *F = factor_of(m, TACIT_FACTOR_LLT);
        const tacit_factor_panels *P = &F->panels;
        const tct_branches *B = &F->branches;
        assert_apart(B, P);
        for (int32_t b = 0; b < B->count; b++)
            assert_true(P->value_start[B->end[b]] -
                            P->value_start[B->first[b]] <=
                        P->value_start[P->panels] / 8);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
}

/* Small ones are not worth it. */
static void small_factors_have_none(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:20");
    tacit_factor *F = factor_of(m, TACIT_FACTOR_LLT);
    assert_int_equal(F->branches.count, 0);
    assert_null(F->lent);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
}

/* --- one factor, several callers ------------------------------------------ */

typedef struct {
    const tacit_factor *F;
    const double *b, *expected;
    int wrong;
} caller;

static void *solve_often(void *arg)
{
    caller *c = arg;
    const size_t n = (size_t)c->F->panels.rows;
    double *x = tct_alloc(n * sizeof *x);
    for (int k = 0; k < 20; k++) {
        if (tacit_factor_solve(c->F, 1, c->b, n, x, n) < 0 ||
            memcmp(x, c->expected, n * sizeof *x) != 0)
            c->wrong++;
    }
    tct_free(x);
    return NULL;
}

/* The threads of a factor work for one of them; the other is on its own. */
static void callers_do_not_meet(void **state)
{
    (void)state;
    OK(tacit_world_set_threads(test_world(), 2));
    tacit_matrix *m = gallery("poisson2d:120");
    tacit_factor *F = factor_of(m, TACIT_FACTOR_LLT);
    double *b = noise((size_t)m->A.rows), *x = solved(F, 1, 1, b);
    caller all[3];
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) {
        all[i] = (caller){F, b, x, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, solve_often, &all[i]),
                         0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(all[i].wrong, 0);
    }
    assert_non_null(F->lent);
    OK(tacit_world_set_threads(test_world(), 0));
    TCT_FREE(b, x);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
}

/* Rows of the factor in b and x: backwards, if asked. */
static int32_t *places_of(int64_t n, bool backwards)
{
    int32_t *place = tct_alloc((size_t)n * sizeof *place);
    for (int64_t k = 0; k < n; k++)
        place[k] = (int32_t)(backwards ? n - 1 - k : k);
    return place;
}

/* By levels, in place, against the loops over rows. */
static void assert_levels_alike(const tacit_factor *F, bool backwards)
{
    const int64_t n = F->panels.rows;
    int32_t *place = places_of(n, backwards);
    double *b = noise((size_t)n), *x = solved(F, 1, 1, b);
    double *y = tct_alloc((size_t)n * sizeof *y);
    tct_level_solve *S = NULL;
    for (int64_t k = 0; k < n; k++) y[place[k]] = b[k];
    OK(tct_level_solve_create(F, place, &S));
    assert_non_null(S);
    for (int again = 0; again < 2; again++) {
        tct_level_solve_run(S, y, y);
        for (int64_t k = 0; k < n; k++)
            assert_memory_equal(&y[place[k]], &x[k], sizeof *x);
        for (int64_t k = 0; k < n; k++) y[place[k]] = b[k];
    }
    tct_level_solve_destroy(&S);
    tct_free(place);
    tct_free(b);
    tct_free(x);
    tct_free(y);
}

static void levels_have_the_bits_of_rows(void **state)
{
    (void)state;
    static const char *const chains[] = {"poisson2d:41", "jump3d:11,1e4,1",
                                         "anisotropic3d:12,0.01"};
    for (int i = 0; i < 6; i++) {
        tacit_matrix *m = gallery(chains[i % 3]);
        tacit_factor *F = factor_of(m, TACIT_FACTOR_IC0);
        assert_levels_alike(F, i >= 3);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
}

/* Long rows, and levels of one row: loops over rows are faster. */
static void long_rows_have_no_levels(void **state)
{
    (void)state;
    static const char *const others[] = {"elasticity3d:4", "poisson2d:1x500"};
    for (int i = 0; i < 2; i++) {
        tacit_matrix *m = gallery(others[i]);
        tacit_factor *F = factor_of(m, TACIT_FACTOR_IC0);
        int32_t *place = places_of(F->panels.rows, false);
        tct_level_solve *S = NULL;
        OK(tct_level_solve_create(F, place, &S));
        assert_null(S);
        tct_free(place);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(branches_are_apart),
        cmocka_unit_test(small_factors_have_none),
        cmocka_unit_test(callers_do_not_meet),
        cmocka_unit_test(levels_have_the_bits_of_rows),
        cmocka_unit_test(long_rows_have_no_levels),
    };
    TEST_MPI_MAIN(tests);
}
