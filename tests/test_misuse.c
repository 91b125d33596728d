/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_misuse.c - public calls with invalid NULL arguments, and calls in
 * a monitor on objects of its run: they are refused, and the run continues.
 *
 * RUN: np=1,2 */
#include "mpi_main.h"
#include <math.h>
#include <tacit/tacit.h>

#define OK(call)      assert_int_equal((call), TACIT_OK)
#define REFUSED(call) assert_int_equal((call), TACIT_INVALID)

typedef struct {
    tacit_world *w;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *M;
    tacit_solver *s;
    double *b, *x;
    size_t n;
    int calls;
} system_of;

static void open_system(system_of *S, const char *method, const char *precond)
{
    *S = (system_of){.w = NULL};
    OK(tacit_world_split(test_world(), 0, &S->w));
    OK(tacit_queue_create(S->w, "host", 1, &S->q));
    OK(tacit_matrix_open(S->w, "poisson2d:20", NULL, &S->m));
    OK(tacit_operator_create(S->q, S->m, NULL, &S->A));
    OK(tacit_precond_create_of(S->A, S->m, precond, NULL, &S->M));
    OK(tacit_solver_create(S->q, S->A, method, &S->s));
    OK(tacit_solver_set_precond(S->s, S->M));
    S->n = (size_t)tacit_operator_local_rows(S->A);
    OK(tacit_queue_alloc(S->q, 2 * S->n, &S->b));
    OK(tacit_queue_alloc(S->q, 2 * S->n, &S->x));
    OK(tacit_queue_fill(S->q, 2 * S->n, 1.0, S->b));
    OK(tacit_queue_fill(S->q, 2 * S->n, 0.0, S->x));
}

static void close_system(system_of *S)
{
    tacit_queue_free(S->q, &S->b);
    tacit_queue_free(S->q, &S->x);
    tacit_solver_destroy(&S->s);
    tacit_operator_destroy(&S->M);
    tacit_operator_destroy(&S->A);
    tacit_matrix_destroy(&S->m);
    tacit_queue_destroy(&S->q);
    tacit_world_destroy(&S->w);
    assert_null(S->s);
    assert_null(S->M);
    assert_null(S->A);
    assert_null(S->q);
    assert_null(S->w);
}

/* --- in a monitor --------------------------------------------------------- */

static void free_all(system_of *S)
{
    tacit_solver *const solver = S->s;
    tacit_solver_destroy(&S->s);
    tacit_operator_destroy(&S->A);
    tacit_operator_destroy(&S->M);
    tacit_queue_destroy(&S->q);
    assert_non_null(
        strstr(tacit_error_message(), "tacit_queue_destroy: a run"));
    tacit_world_destroy(&S->w);
    assert_non_null(
        strstr(tacit_error_message(), "tacit_world_destroy: a run"));
    assert_ptr_equal(S->s, solver);
    assert_non_null(S->A);
    assert_non_null(S->M);
    assert_non_null(S->q);
    assert_non_null(S->w);
}

static void change_all(const system_of *S)
{
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-3};
    const tacit_precond_race race = {.size = sizeof race, .matrix = S->m};
    tacit_result result = {.size = sizeof result};
    REFUSED(tacit_solver_set(S->s, "rtol", "1e-3"));
    REFUSED(tacit_solver_set_loop(S->s, "host"));
    REFUSED(tacit_solver_set_precond(S->s, NULL));
    REFUSED(tacit_solver_run(S->s, S->b, S->x, &stop, &result));
    REFUSED(tacit_solver_run_block(S->s, 1, S->b, S->n, S->x, S->n, &stop,
                                   &result));
    REFUSED(tacit_solver_race(S->s, &race, S->b, S->x, &stop, &result));
    REFUSED(tacit_operator_update(S->A, S->m));
    REFUSED(tacit_precond_update(S->M, S->m));
}

static int misuse(void *ctx, int64_t iteration, double residual)
{
    system_of *S = ctx;
    (void)iteration;
    (void)residual;
    S->calls++;
    free_all(S);
    if (S->s) change_all(S);
    REFUSED(tacit_operator_update(S->A, S->m));
    REFUSED(tacit_precond_update(S->M, S->m));
    return 0;
}

static void a_run_goes_on_whatever_its_monitor_calls(void **state)
{
    (void)state;
    for (int i = 0; tacit_method_at(i); i++) {
        system_of S;
        tacit_result result[2] = {{.size = sizeof *result},
                                  {.size = sizeof *result}};
        open_system(&S, tacit_method_at(i)->name, "jacobi");
        const tacit_stop stop = {.size = sizeof stop,
                                 .rtol = 1e-8,
                                 .monitor = misuse,
                                 .monitor_ctx = &S};
        OK(tacit_solver_run(S.s, S.b, S.x, &stop, result));
        assert_true(S.calls > 2 && result->converged);
        OK(tacit_queue_fill(S.q, 2 * S.n, 0.0, S.x));
        OK(tacit_solver_run_block(S.s, 2, S.b, S.n, S.x, S.n, &stop, result));
        OK(tacit_operator_update(S.A, S.m)); /* it is over */
        close_system(&S);
    }
}

static void so_does_one_without_a_solver(void **state)
{
    (void)state;
    system_of S;
    tacit_result result = {.size = sizeof result};
    open_system(&S, "cg", "direct");
    tacit_solver_destroy(&S.s);
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-12,
                             .monitor = misuse,
                             .monitor_ctx = &S};
    OK(tacit_precond_solve(S.A, S.M, 1, S.b, S.n, S.x, S.n, &stop, &result));
    assert_true(S.calls > 0);
    close_system(&S);
}

/* --- NULL ----------------------------------------------------------------- */

static int told;

static void count(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)text;
    told += level == 0;
}

static void getters_of_nothing(void **state)
{
    (void)state;
    char text[8] = "?";
    assert_int_equal(tacit_world_rank(NULL), 0);
    assert_int_equal(tacit_world_size(NULL), 0);
    assert_int_equal(tacit_queue_threads(NULL), 0);
    assert_null(tacit_queue_link(NULL));
    assert_string_equal(tacit_queue_link_detail(NULL), "");
    assert_null(tacit_queue_tally(NULL));
    tacit_queue_clear_tally(NULL);
    tacit_queue_describe(NULL, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(tacit_matrix_local_rows(NULL), 0);
    assert_int_equal(tacit_matrix_first_row(NULL), 0);
    assert_int_equal(tacit_matrix_global_rows(NULL), 0);
    assert_int_equal(tacit_matrix_nonzeros(NULL), 0);
    assert_null(tacit_matrix_original_rows(NULL));
    assert_int_equal(tacit_operator_local_rows(NULL), 0);
    assert_null(tacit_operator_trial_at(NULL, 0));
    assert_false(tacit_file_is_stdout(NULL));
    assert_null(tacit_exchange_end(NULL));
}

static void nothing_where_something_is_needed(void **state)
{
    (void)state;
    tacit_queue *q = NULL;
    double *x = NULL, d = 0.0;
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    tacit_queue_describe(q, NULL, 100);
    REFUSED(tacit_queue_distance(q, 4, NULL, NULL, &d));
    assert_non_null(
        strstr(tacit_error_message(), "tacit_queue_distance: x is NULL"));
    OK(tacit_queue_distance(q, 0, NULL, NULL, &d));
    assert_int_equal(tacit_queue_alloc(q, SIZE_MAX, &x), TACIT_NO_MEMORY);
    assert_int_equal(tacit_queue_alloc(q, SIZE_MAX / 8 + 2, &x),
                     TACIT_NO_MEMORY);
    assert_null(x);
    OK(tacit_queue_alloc(q, 4, &x));
    double *const was = x;
    told = 0;
    tacit_set_log(count, NULL);
    tacit_queue_free(NULL, &x);
    tacit_exchange_begin(NULL, x, 0, 1);
    tacit_set_log(NULL, NULL);
    assert_int_equal(told, 2);
    assert_ptr_equal(x, was);
    tacit_queue_free(q, &x);
    tacit_queue_destroy(&q);
}

static void says(tacit_status status, const char *sentence)
{
    assert_int_equal(status, TACIT_INVALID);
    assert_string_equal(tacit_error_message(), sentence);
}

/* A sentence names the function and the argument, the first that is wrong. */
static void arguments_are_named(void **state)
{
    (void)state;
    system_of S;
    tacit_matrix *m = NULL;
    double seconds = 0.0;
    open_system(&S, "cg", "jacobi");
    says(tacit_world_self(NULL), "tacit_world_self: out is NULL");
    says(tacit_matrix_open(NULL, "poisson2d:3", NULL, &m),
         "tacit_matrix_open: world is NULL");
    says(tacit_matrix_open(S.w, NULL, NULL, NULL),
         "tacit_matrix_open: name is NULL");
    says(tacit_matrix_open(S.w, "poisson2d:3", NULL, NULL),
         "tacit_matrix_open: out is NULL");
    says(tacit_queue_put(S.q, 3, S.b, NULL), "tacit_queue_put: x is NULL");
    says(tacit_queue_put(S.q, 3, NULL, S.b), "tacit_queue_put: host is NULL");
    says(tacit_operator_measure_exchange(S.A, 2, 1, S.b, NULL, &seconds),
         "tacit_operator_measure_exchange: y is NULL");
    says(tacit_operator_measure_exchange(S.A, 2, 0, S.b, S.b, &seconds),
         "tacit_operator_measure_exchange: expected times > 0");
    says(tacit_operator_measure_exchange(S.A, 3, 1, S.b, S.b, &seconds),
         "tacit_operator_measure_exchange: expected vectors <= 2");
    says(tacit_world_set_patience(S.w, INFINITY),
         "tacit_world_set_patience: seconds is inf: expected a finite number");
    assert_null(m);
    close_system(&S);
}

static void an_exchange_of_nothing_fails_the_queue(void **state)
{
    (void)state;
    tacit_queue *q = NULL;
    tacit_exchange *e = NULL;
    const int here = tacit_world_rank(test_world());
    const tacit_channel self = {.rank = here, .count = 2};
    const int32_t index[2] = {0, 1};
    double x[2] = {1.0, 2.0};
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    OK(tacit_exchange_create(q, 1, &self, index, 1, &self, 1, &e));
    tacit_exchange_begin(e, NULL, 2, 1);
    (void)tacit_exchange_end(e);
    REFUSED(tacit_queue_put(q, 2, x, x));
    tacit_exchange_destroy(&e);
    tacit_queue_destroy(&q);
}

static void vectors_that_share_memory_are_refused(void **state)
{
    (void)state;
    system_of S;
    double seconds = -1.0;
    tacit_result result[2] = {{.size = sizeof *result},
                              {.size = sizeof *result}};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    open_system(&S, "cg", "jacobi");
    double *const panels[] = {S.b, S.b + 1, S.b + S.n};
    for (int i = 0; i < 3; i++) {
        REFUSED(tacit_precond_solve(S.A, S.M, 2, S.b, S.n, panels[i], S.n,
                                    &stop, result));
        assert_non_null(strstr(tacit_error_message(), "share memory"));
    }
    REFUSED(tacit_operator_measure_product(S.A, 2, S.b, S.b + 1, &seconds));
    assert_non_null(strstr(tacit_error_message(), "share memory"));
    assert_true(seconds == -1.0);
    OK(tacit_operator_measure_product(S.A, 2, S.b, S.b + S.n, &seconds));
    close_system(&S);
}

/* A function of the caller's that fails, with a message or without. */
typedef struct {
    size_t n;
    tacit_status status; /* now */
    const char *why;
} user;

static tacit_status fails_or_copies(void *ctx, tacit_queue *q, const double *x,
                                    double *y)
{
    const user *u = ctx;
    (void)q;
    memcpy(y, x, u->n * sizeof *y);
    if (u->why) return tacit_error_set(u->status, "%s", u->why);
    return u->status;
}

static tacit_status fails_for_its_diagonal(void *ctx, tacit_queue *q, double *d)
{
    const user *u = ctx;
    (void)q;
    (void)d;
    return u->status;
}

static void failed_as(user u, bool diagonal, const char *text)
{
    double x[4] = {1.0}, y[4];
    system_of S = {.w = test_world(), .n = 4};
    tacit_operator_function f = {.size = sizeof f,
                                 .apply = fails_or_copies,
                                 .diagonal = fails_for_its_diagonal,
                                 .ctx = &u,
                                 .norm = 1.0};
    OK(tacit_queue_create(S.w, "host", 1, &S.q));
    OK(tacit_operator_from_function(S.q, 4, &f, &S.A));
    (void)tacit_error_set(TACIT_INVALID, "an old message");
    const tacit_status got = diagonal
                                 ? tacit_precond_create(S.A, "jacobi", &S.M)
                                 : tacit_operator_apply(S.A, x, y);
    assert_int_equal(got, u.status);
    if (!strstr(tacit_error_message(), text))
        fail_msg("'%s' does not say '%s'", tacit_error_message(), text);
    tacit_operator_destroy(&S.A);
    tacit_queue_destroy(&S.q);
}

static void users_that_fail_are_named(void **state)
{
    (void)state;
    const user silent = {4, TACIT_IO, NULL}, tells = {4, TACIT_IO, "it tore"};
    failed_as(silent, false, "`apply` returned IO (-4) without a message");
    failed_as(silent, true, "`diagonal` returned IO (-4) without a message");
    failed_as(tells, false, "it tore");
    failed_as((user){4, TACIT_OK, NULL}, false, "an old message");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_whatever_its_monitor_calls),
        cmocka_unit_test(so_does_one_without_a_solver),
        cmocka_unit_test(getters_of_nothing),
        cmocka_unit_test(nothing_where_something_is_needed),
        cmocka_unit_test(arguments_are_named),
        cmocka_unit_test(an_exchange_of_nothing_fails_the_queue),
        cmocka_unit_test(vectors_that_share_memory_are_refused),
        cmocka_unit_test(users_that_fail_are_named),
    };
    TEST_MPI_MAIN(tests);
}
