/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_precond_update.c - preconditioners with new values: their results,
 * refusals, and that an update is made on all ranks or none.
 *
 * RUN: np=1,2,3,4
 * THREADS: 2 */
#include "gpu.h"
#include "matrix/matrix.h"
#include "problem.h"
#include <string.h>

typedef struct {
    problem p;
    tacit_operator *M;
} update;

static void open_update(update *u, tacit_matrix *m, const char *format,
                        const char *precond, const tacit_precond_options *o)
{
    problem *p = &u->p;
    *u = (update){.p.result.size = sizeof p->result};
    p->m = m;
    p->q = open_queue("host");
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    OK(tacit_precond_create_of(p->A, p->m, precond, o, &u->M));
    OK(tacit_solver_create(p->q, p->A, "cg", &p->s));
    OK(tacit_solver_set_precond(p->s, u->M));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
}

static void close_update(update *u)
{
    tacit_solver_destroy(&u->p.s);
    tacit_operator_destroy(&u->M);
    close_problem(&u->p);
}

static void scale(tacit_matrix *m, double factor)
{
    for (int64_t k = 0; k < m->A.ptr[m->A.rows]; k++) m->A.val[k] *= factor;
}

/* Operator and preconditioner have the values of `m` now. */
static void take(update *u, const tacit_matrix *m)
{
    OK(tacit_operator_update(u->p.A, m));
    OK(tacit_precond_update(u->M, m));
}

static double *image(update *u)
{
    double *v = random_vector(u->p.n, 7 + tacit_world_rank(test_world()));
    double *y = image_of(u->M, u->p.q, u->p.n, v);
    free(v);
    return y;
}

static tacit_status try_solve(update *u)
{
    problem *p = &u->p;
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-8, .max_iterations = 400};
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    return tacit_solver_run(p->s, p->b, p->x, &stop, &p->result);
}

static int64_t solve(update *u)
{
    OK(try_solve(u));
    return u->p.result.iterations;
}

/* Of the images, which are freed. */
static double difference(const update *u, double *a, double *b)
{
    double sums[2] = {0.0};
    for (size_t i = 0; i < u->p.n; i++) {
        sums[0] += (a[i] - b[i]) * (a[i] - b[i]);
        sums[1] += a[i] * a[i];
    }
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 2, sums));
    free(a);
    free(b);
    return sqrt(sums[0] / sums[1]);
}

/* --- what it is ----------------------------------------------------------- */

static const char *const matrices[] = {"jump3d:12,1e6,1", "tet3d:11,1",
                                       "poisson3d:5", "elasticity3d:6"};
static const char *const formats[] = {"sell@none", "csr@rcm"};
enum { MATRICES = 4, FORMATS = 2 };

/* For the values that it has it is what it was; the same aggregates from
 * products that were added up in another order. */
static void the_same_values_change_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < MATRICES; i++)
        for (int k = 0; k < FORMATS; k++) {
            const tacit_precond_options o = {.size = sizeof o,
                                             .precision = "double"};
            update u;
            tacit_precond_info was = {.size = sizeof was}, is = was;
            open_update(&u, gallery_matrix(matrices[i]), formats[k], "amg", &o);
            OK(tacit_precond_describe(u.M, &was));
            const int64_t before = solve(&u);
            double *a = image(&u);
            take(&u, u.p.m);
            double *b = image(&u);
            OK(tacit_precond_describe(u.M, &is));
            assert_int_equal(is.levels, was.levels);
            assert_string_equal(is.detail, was.detail);
            assert_string_equal(is.end, was.end);
            /* how many values there are, of those that rounding has told apart,
             * says how they are stored */
            if (fabs(is.bytes - was.bytes) > 0.1 * was.bytes)
                fail_msg("%s, %s: %.0f bytes, %.0f before", matrices[i],
                         formats[k], is.bytes, was.bytes);
            assert_true(difference(&u, a, b) < 1e-9);
            assert_true(llabs(solve(&u) - before) <= 1);
            close_update(&u);
        }
}

/* Powers of 2 leave all bits as they are, and the old ones come back. */
static void scaled_values_have_the_same_bits(void **state)
{
    (void)state;
    static const char *const precisions[] = {"auto", "float", "double"};
    for (int i = 0; i < MATRICES; i++)
        for (int k = 0; k < 3; k++) {
            const tacit_precond_options o = {.size = sizeof o,
                                             .precision = precisions[k]};
            const char *precond = k == 2 && i < 2 ? "jacobi" : "amg";
            update u;
            open_update(&u, gallery_matrix(matrices[i]), formats[k % FORMATS],
                        precond, &o);
            tacit_matrix *m = gallery_matrix(matrices[i]);
            take(&u, u.p.m);
            const int64_t iterations = solve(&u);
            double *a = image(&u);
            scale(m, 2.0);
            take(&u, m);
            assert_int_equal(solve(&u), iterations);
            double *b = image(&u);
            for (size_t n = 0; n < u.p.n; n++) assert_true(a[n] == 2.0 * b[n]);
            take(&u, u.p.m);
            double *c = image(&u);
            assert_true(same_bits(a, c, u.p.n));
            free(a);
            free(b);
            free(c);
            tacit_matrix_destroy(&m);
            close_update(&u);
        }
}

/* Other jumps at other places: not the best aggregates, but good ones. */
static void other_values_are_taken(void **state)
{
    (void)state;
    update u, v;
    open_update(&u, gallery_matrix("jump3d:14,1e2,1"), "sell@none", "amg",
                NULL);
    open_update(&v, gallery_matrix("jump3d:14,1e3,2"), "sell@none", "amg",
                NULL);
    const int64_t best = solve(&v);
    take(&u, v.p.m);
    const int64_t now = solve(&u);
    if (now > 2 * best)
        fail_msg("%d iterations, %d if made anew", (int)now, (int)best);
    close_update(&u);
    close_update(&v);
}

/* --- near-null vectors ---------------------------------------------------- */

/* P stays, whoever gave the vectors, and though the new matrix does not know
 * them. */
static void near_null_vectors_stay(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) { /* known, given, a single one */
        tacit_matrix *m = gallery_matrix("elasticity3d:6");
        tacit_matrix *plain = gallery_matrix("elasticity3d:6");
        double *modes = NULL;
        int vectors = 0;
        plain->elastic = false;
        scale(plain, 3.0);
        OK(tacit_matrix_rigid_body_modes(m, NULL, &vectors, &modes));
        tacit_precond_options o = {.size = sizeof o, .precision = "double"};
        if (k > 0) {
            o.vectors = k == 1 ? vectors : 1;
            o.near_null = modes;
            o.node_rows = k == 1 ? 3 : 1;
        }
        update u;
        tacit_precond_info was = {.size = sizeof was}, is = was;
        open_update(&u, m, "bsell@none", "amg", &o);
        OK(tacit_precond_describe(u.M, &was));
        double *a = image(&u);
        take(&u, plain);
        OK(tacit_precond_describe(u.M, &is));
        assert_int_equal(is.levels, was.levels);
        assert_string_equal(is.detail, was.detail);
        double *b = image(&u);
        for (size_t n = 0; n < u.p.n; n++) b[n] *= 3.0;
        assert_true(difference(&u, a, b) < 1e-9);
        tacit_matrix_free_vectors(&modes);
        tacit_matrix_destroy(&plain);
        close_update(&u);
    }
}

/* --- floats --------------------------------------------------------------- */

/* Off the diagonal as it is, and so much in a row's sum. */
static void set_row_sums(tacit_matrix *m, double sum)
{
    tct_csr *A = &m->A;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t diagonal = -1;
        double others = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (tct_csr_col(A, k) == A->first + i) diagonal = k;
            else others += A->val[k];
        A->val[diagonal] = sum - others;
    }
}

/* Where next to nothing is left of smooth vectors floats would take it. */
static void precision_is_chosen_again(void **state)
{
    (void)state;
    update u;
    tacit_matrix *m = gallery_matrix("jump3d:12,2,1");
    set_row_sums(m, 1.0);
    open_update(&u, gallery_matrix("jump3d:12,2,1"), "csr@none", "amg", NULL);
    take(&u, m);
    assert_int_equal(tacit_precond_level_at(u.M, 1)->bits, 32);
    set_row_sums(m, 1e-9);
    take(&u, m);
    assert_int_equal(tacit_precond_level_at(u.M, 1)->bits, 64);
    set_row_sums(m, 1.0);
    take(&u, m);
    assert_int_equal(tacit_precond_level_at(u.M, 1)->bits, 32);
    tacit_matrix_destroy(&m);
    close_update(&u);
}

/* --- who did not update --------------------------------------------------- */

/* amg of old values is refused in a word; jacobi takes the diagonal by
 * itself. */
static void a_run_is_never_with_old_values(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        update u;
        double left = 0.0;
        tacit_matrix *m = gallery_matrix("jump3d:9,1e4,2");
        scale(m, 1000.0);
        open_update(&u, gallery_matrix("jump3d:9,1e4,1"), "sell@none",
                    k ? "amg" : "jacobi", NULL);
        OK(try_solve(&u));
        OK(tacit_operator_update(u.p.A, m));
        if (k == 1) {
            const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
            EXPECT(TACIT_INVALID, try_solve(&u));
            assert_non_null(strstr(tacit_error_message(), "other values"));
            EXPECT(TACIT_INVALID, tacit_precond_measure(u.p.A, u.M, &left));
            EXPECT(TACIT_INVALID,
                   tacit_solver_run_block(u.p.s, 1, u.p.b, u.p.n, u.p.x, u.p.n,
                                          &stop, &u.p.result));
            OK(tacit_precond_update(u.M, m));
        }
        const int64_t now = solve(&u);
        OK(tacit_solver_set_precond(u.p.s, NULL));
        tacit_operator_destroy(&u.M);
        OK(tacit_precond_create_of(u.p.A, m, k ? "amg" : "jacobi", NULL, &u.M));
        OK(tacit_solver_set_precond(u.p.s, u.M));
        const int64_t best = solve(&u);
        assert_true(k ? now <= 2 * best : now == best);
        tacit_matrix_destroy(&m);
        close_update(&u);
    }
}

/* --- what is refused ------------------------------------------------------ */

static tacit_status nothing(void *ctx, tacit_queue *q, const double *x,
                            double *y)
{
    (void)ctx;
    (void)q;
    (void)x;
    (void)y;
    return TACIT_OK;
}

/* And leaves what there is, bit by bit. */
static void expect_refused(update *u, const tacit_matrix *m,
                           const char *sentence)
{
    double *a = image(u);
    EXPECT(TACIT_INVALID, tacit_precond_update(u->M, m));
    if (!strstr(tacit_error_message(), sentence))
        fail_msg("no '%s' in '%s'", sentence, tacit_error_message());
    double *b = image(u);
    assert_true(same_bits(a, b, u->p.n));
    free(a);
    free(b);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    update u;
    tacit_operator *M = NULL;
    open_update(&u, gallery_matrix("jump3d:9,1e4,1"), "csr@rcm", "amg", NULL);
    tacit_matrix *larger = gallery_matrix("poisson3d:10");
    tacit_matrix *other = gallery_matrix("jump3d:9,1e4,1");
    const int64_t row = 700 - other->A.first; /* another value, or column */
    const bool mine = row >= 0 && row < other->A.rows;
    expect_refused(&u, larger, "not that of the operator");
    if (mine) other->A.val[other->A.ptr[row]] *= 2.0;
    expect_refused(&u, other, "row 701 of the matrix");
    if (mine) {
        const int64_t k = other->A.ptr[row];
        other->A.val[k] *= 0.5;
        tct_csr_set_col(&other->A, k, tct_csr_col(&other->A, k) - 1);
    }
    expect_refused(&u, other, "row 701 of the matrix");
    expect_refused(&u, NULL, "other values");
    const tacit_operator_function f = {
        .size = sizeof f, .apply = nothing, .norm = 1.0};
    OK(tacit_operator_from_function(u.p.q, (int64_t)u.p.n, &f, &M));
    EXPECT(TACIT_INVALID, tacit_precond_update(M, u.p.m));
    tacit_operator_destroy(&M);
    tacit_matrix_destroy(&larger);
    tacit_matrix_destroy(&other);
    close_update(&u);
}

/* A diagonal that is not positive on one rank alone: all keep what they had. */
static void values_that_will_not_do_leave_the_old_ones(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        update u;
        tacit_matrix *m = gallery_matrix("jump3d:9,1e2,1");
        open_update(&u, gallery_matrix("jump3d:9,1e2,1"), "sell@none",
                    k ? "amg" : "jacobi", NULL);
        double *a = image(&u);
        for (int64_t e = m->A.ptr[0]; m->A.first == 0 && e < m->A.ptr[1]; e++)
            if (tct_csr_col(&m->A, e) == 0) m->A.val[e] = 0.0;
        OK(tacit_operator_update(u.p.A, m));
        EXPECT(TACIT_INPUT, tacit_precond_update(u.M, m));
        OK(tacit_operator_update(u.p.A, u.p.m));
        double *b = image(&u);
        assert_true(same_bits(a, b, u.p.n));
        free(a);
        free(b);
        OK(tacit_precond_update(u.M, u.p.m));
        OK(try_solve(&u));
        tacit_matrix_destroy(&m);
        close_update(&u);
    }
}

/* Whichever allocation fails on the last rank: the old one stays. */
static void memory_that_is_not_there_leaves_the_old_one(void **state)
{
    (void)state;
    const bool mine =
        tacit_world_rank(test_world()) + 1 == tacit_world_size(test_world());
    if (test_shares_allocations(__func__)) return;
    for (int i = 0; i < 2; i++) {
        update u;
        int missed = 0;
        open_update(&u, gallery_matrix(i ? "elasticity3d:4" : "poisson3d:11"),
                    "csr@none", "amg", NULL);
        double *a = image(&u);
        OK(tacit_operator_update(u.p.A, u.p.m));
        const size_t before = tct_memory_blocks();
        for (long k = 1; k < 300; k += k < 10 ? 1 : 17) {
            if (mine) tct_memory_fail_at(k);
            const tacit_status status = tacit_precond_update(u.M, u.p.m);
            tct_memory_fail_at(0);
            if (status >= 0) break;
            EXPECT(TACIT_NO_MEMORY, status);
            missed++;
            assert_true(tct_memory_blocks() == before);
            double *b = image(&u);
            assert_true(same_bits(a, b, u.p.n));
            free(b);
        }
        assert_true(missed > 10);
        free(a);
        close_update(&u);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_values_change_nothing),
        cmocka_unit_test(scaled_values_have_the_same_bits),
        cmocka_unit_test(other_values_are_taken),
        cmocka_unit_test(near_null_vectors_stay),
        cmocka_unit_test(precision_is_chosen_again),
        cmocka_unit_test(a_run_is_never_with_old_values),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(values_that_will_not_do_leave_the_old_ones),
        cmocka_unit_test(memory_that_is_not_there_leaves_the_old_one),
    };
    TEST_MPI_MAIN(tests);
}
