/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_columns.c - preconditioners applied to several right-hand sides at
 * once: each has the bits of its own application, for any cycle, format, number
 * of threads and ranks; solves of several right-hand sides; memory.
 *
 * RUN: np=1,2,3
 * THREADS: 2 */
#include "decorated.h"
#include "gpu.h"
#include "matrix/matrix.h"

enum { MOST = 7 };

typedef struct {
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *M;
    size_t n, stride;
    double *X, *Y; /* MOST columns, and behind those of Y scalars */
} many;

static void open_many(many *p, const char *spec, int threads,
                      const char *matrix, const char *format,
                      const char *precond, const tacit_precond_options *o)
{
    *p = (many){.q = NULL};
    OK(tacit_queue_create(test_world(), spec, threads, &p->q));
    p->m = gallery_matrix(matrix);
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    OK(tacit_precond_create_of(p->A, p->m, precond, o, &p->M));
    p->n = (size_t)p->A->n;
    p->stride = tct_stride(p->n);
    double *host =
        random_vector(MOST * p->stride, 3 + tacit_world_rank(test_world()));
    p->X = device_vector(p->q, MOST * p->stride, host);
    p->Y = poisoned_vector(p->q, MOST * p->stride + TCT_BATCH_SCALARS);
    free(host);
}

static void close_many(many *p)
{
    tacit_queue_free(p->q, &p->X);
    tacit_queue_free(p->q, &p->Y);
    tacit_operator_destroy(&p->M);
    tacit_operator_destroy(&p->A);
    tacit_matrix_destroy(&p->m);
    tacit_queue_destroy(&p->q);
}

/* Y = M X of the first `columns`, and each (x, y): as columns, then scalars. */
static double *images(const many *p, int columns, bool together)
{
    double *dots = p->Y + MOST * p->stride;
    const size_t all = MOST * p->stride + TCT_BATCH_SCALARS;
    OK(tacit_queue_fill(p->q, all, -7.0, p->Y));
    if (together) q_batch(p->q, columns, p->stride);
    for (int j = 0; j < (together ? 1 : columns); j++)
        apply_dot(p->M, p->q, p->X + (size_t)j * p->stride,
                  p->Y + (size_t)j * p->stride, dots + j * TCT_SCALARS);
    q_batch(p->q, 0, 0);
    OK(q_status(p->q));
    return host_copy(p->q, all, p->Y);
}

static void expect_same(const many *p, int columns, const char *what)
{
    double *alone = images(p, columns, false), *got = images(p, columns, true);
    if (!same_bits(alone, got, MOST * p->stride + TCT_BATCH_SCALARS))
        fail_msg("%s: %d columns have not the bits of one alone", what,
                 columns);
    free(alone);
    free(got);
}

/* --- bits ----------------------------------------------------------------- */

static const struct {
    const char *matrix, *format, *cycle, *smoother;
    int degree, levels;
} cases[] = {{"poisson3d:16", "sell@none", "v", "chebyshev", 2, 0},
             {"jump3d:12,1e4,1", "csr@none", "w", "chebyshev", 3, 0},
             {"tet3d:9,1", "sell@rcm", "v", "jacobi", 1, 0},
             {"tet3d:9,1", "auto", "w", "l1-jacobi", 4, 0},
             {"elasticity3d:6", "auto", "v", "chebyshev", 1, 0},
             {"poisson3d:16", "sell@none", "v", "chebyshev", 2, 2}};
enum { CASES = sizeof cases / sizeof *cases };

static void open_case(many *p, const char *spec, int threads, int i)
{
    const tacit_precond_options o = {.size = sizeof o,
                                     .cycle = cases[i].cycle,
                                     .smoother = cases[i].smoother,
                                     .degree = cases[i].degree,
                                     .levels = cases[i].levels};
    open_many(p, spec, threads, cases[i].matrix, cases[i].format, "amg", &o);
}

/* From one column to as many as there is room for, to more, which come one
 * after the other (their sums are rounded otherwise), and back. */
static void columns_have_the_bits_of_one_alone(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            many p;
            open_case(&p, "host", threads, i);
            double *first = images(&p, 2, true);
            for (int columns = 2; columns <= MOST; columns += 2) {
                OK(tct_operator_columns(p.A, columns));
                OK(tct_operator_columns(p.M, columns));
                q_batch(p.q, columns, p.stride);
                assert_true(p.M->ops->for_batch(p.M, p.q));
                q_batch(p.q, 0, 0);
                for (int k = 1; k <= columns; k++)
                    expect_same(&p, k, cases[i].matrix);
            }
            double *more[] = {images(&p, MOST, false), images(&p, MOST, true)};
            assert_true(same_bits(more[0], more[1], MOST * p.stride));
            OK(tct_operator_columns(p.M, 1));
            double *last = images(&p, 2, true);
            assert_true(same_bits(first, last, MOST * p.stride));
            double *const all[] = {first, last, more[0], more[1]};
            for (int k = 0; k < 4; k++) free(all[k]);
            close_many(&p);
        }
}

static void one_diagonal_is_for_all(void **state)
{
    (void)state;
    many p;
    open_many(&p, "host", 3, "jump3d:17,1e4,1", NULL, "jacobi", NULL);
    for (int k = 2; k <= MOST; k++) expect_same(&p, k, "jacobi");
    close_many(&p);
}

/* Memory is poisoned and out of reach; what is not yet written is not read. */
static void decorators_change_no_bit(void **state)
{
    (void)state;
    for (int i = 0; tacit_decorator_at(i); i++) {
        const char *name = tacit_decorator_at(i)->name;
        char spec[64];
        tacit_queue *q = NULL;
        snprintf(spec, sizeof spec, "%s%s:host", name, argument_of(name));
        if (tacit_queue_create(test_world(), spec, 1, &q) < 0) continue;
        tacit_queue_destroy(&q);
        many p;
        open_case(&p, spec, 1, i % 2 ? 3 : 0);
        OK(tct_operator_columns(p.M, 5));
        expect_same(&p, 5, spec);
        close_many(&p);
    }
}

/* One message for all columns, one pass over each matrix for four of them. */
static void what_is_shared_is_counted_once(void **state)
{
    (void)state;
    many p;
    open_case(&p, "count:host", 1, 0);
    OK(tct_operator_columns(p.A, 4));
    OK(tct_operator_columns(p.M, 4));
    const tacit_tally *t = tacit_queue_tally(p.q);
    tacit_tally of[2];
    for (int k = 0; k < 2; k++) {
        tacit_queue_clear_tally(p.q);
        free(images(&p, 4, k == 1));
        of[k] = *t;
    }
    assert_int_equal(of[1].spmv.count, of[0].spmv.count);
    assert_int_equal(4 * of[1].exchange.count, of[0].exchange.count);
    assert_true(of[1].moved_bytes < of[0].moved_bytes);
    close_many(&p);
}

/* --- solves --------------------------------------------------------------- */

static tacit_status solve(const many *p, tacit_solver *s, int from, int columns,
                          tacit_result *results)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    const size_t at = (size_t)from * p->stride;
    for (int j = 0; j < columns; j++)
        results[j] = (tacit_result){.size = sizeof *results};
    return tacit_solver_run_block(s, columns, p->X + at, p->stride, p->Y + at,
                                  p->stride, &stop, results);
}

/* The trial may have it that they go one after the other: that is no matter. */
static void solves_are_as_those_of_one(void **state)
{
    (void)state;
    static const char *const methods[] = {"cg", "single", "pipelined",
                                          "flexible"};
    for (int i = 0; i < 4; i++) {
        many p;
        tacit_solver *s = NULL;
        tacit_result together[MOST], alone[MOST];
        open_case(&p, "host", 1, i < 2 ? i : 2);
        OK(tacit_solver_create(p.q, p.A, methods[i], &s));
        OK(tacit_solver_set_precond(s, p.M));
        OK(tacit_queue_fill(p.q, MOST * p.stride, 0.0, p.Y));
        OK(solve(&p, s, 0, MOST, together));
        double *x = host_copy(p.q, MOST * p.stride, p.Y);
        OK(tacit_queue_fill(p.q, MOST * p.stride, 0.0, p.Y));
        for (int j = 0; j < MOST; j++) OK(solve(&p, s, j, 1, alone + j));
        double *y = host_copy(p.q, MOST * p.stride, p.Y);
        for (int j = 0; j < MOST; j++) {
            assert_true(together[j].converged && alone[j].converged);
            assert_true(llabs(together[j].iterations - alone[j].iterations) <=
                        1);
        }
        for (size_t k = 0; k < MOST * p.stride; k++)
            assert_true(fabs(x[k] - y[k]) <= 1e-5 * (1.0 + fabs(y[k])));
        free(x);
        free(y);
        tacit_solver_destroy(&s);
        close_many(&p);
    }
}

/* --- memory --------------------------------------------------------------- */

/* Whichever allocation fails on the last rank: all are told, and what there was
 * serves as before. */
static void memory_that_is_not_there_is_missed_by_all(void **state)
{
    (void)state;
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    if (test_shares_allocations(__func__)) return;
    many p;
    open_case(&p, "host", 1, 1);
    double *want = images(&p, 3, false);
    int missed = 0;
    tacit_status status = TACIT_NO_MEMORY;
    for (long k = 1; status < 0; k++) {
        if (mine) tct_memory_fail_at(k);
        status = tct_operator_columns(p.M, 3);
        tct_memory_fail_at(0);
        if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
        missed += status < 0;
        double *got = images(&p, 3, true);
        assert_true(same_bits(want, got, MOST * p.stride));
        free(got);
    }
    assert_true(missed > 0);
    free(want);
    close_many(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_the_bits_of_one_alone),
        cmocka_unit_test(one_diagonal_is_for_all),
        cmocka_unit_test(decorators_change_no_bit),
        cmocka_unit_test(what_is_shared_is_counted_once),
        cmocka_unit_test(solves_are_as_those_of_one),
        cmocka_unit_test(memory_that_is_not_there_is_missed_by_all),
    };
    TEST_MPI_MAIN(tests);
}
