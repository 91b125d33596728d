/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_matrix_free.c - operators that are functions, and the exchange
 * they get: against the same matrix assembled, by every method; failures on all
 * ranks and on one; invalid arguments.
 *
 * RUN: np=1,2,3,4
 * THREADS: 3 */
#define TEST_DEVICE "host"
#include "slabs.h"

static const char *const specs[] = {"host", "memcheck:host", "chaos(3):host",
                                    "late:host"};
/* The last one not where ranks are processes. */
static int count_specs(void)
{
    return test_launched_ && tacit_world_size(test_world()) > 1 ? 3 : 4;
}

#define FOR_METHODS(m)                 \
    for (int i_ = 0; i_ >= 0; i_ = -1) \
        for (const tacit_method *m; (m = tacit_method_at(i_)); i_++)

/* --- the function --------------------------------------------------------- */

static tacit_status fail_now(const slab *s)
{
    return tacit_error_set(s->status, "call %d went wrong", s->calls);
}

static void plane_product(const double *below, const double *x,
                          const double *above, double *y)
{
    for (int k = 0; k < PLANE; k++) {
        const int i = k % SIDE, j = k / SIDE;
        y[k] = 6.0 * x[k] - (i > 0 ? x[k - 1] : 0.0) -
               (i < SIDE - 1 ? x[k + 1] : 0.0) - (j > 0 ? x[k - SIDE] : 0.0) -
               (j < SIDE - 1 ? x[k + SIDE] : 0.0) - (below ? below[k] : 0.0) -
               (above ? above[k] : 0.0);
    }
}

static tacit_status product(void *ctx, tacit_queue *q, const double *x,
                            double *y)
{
    slab *s = ctx;
    (void)q;
    s->calls++;
    if (fails_here(s, BEFORE)) return fail_now(s);
    tacit_exchange_begin(s->halo, x, 0, 1);
    if (fails_here(s, BETWEEN)) return fail_now(s);
    const double *ghosts = tacit_exchange_end(s->halo);
    if (fails_here(s, AFTER)) return fail_now(s);
    for (int64_t z = 0; z < s->planes; z++)
        plane_product(z > 0 ? x + (z - 1) * PLANE : ghosts_below(s, ghosts),
                      x + z * PLANE,
                      z < s->planes - 1 ? x + (z + 1) * PLANE
                                        : ghosts_above(s, ghosts),
                      y + z * PLANE);
    return TACIT_OK;
}

static tacit_status diagonal(void *ctx, tacit_queue *q, double *d)
{
    const slab *s = ctx;
    (void)q;
    if (s->fail_at == -1) return fail_now(s);
    for (int64_t i = 0; i < s->n; i++) d[i] = 6.0;
    return TACIT_OK;
}

/* --- a solve -------------------------------------------------------------- */

/* x* of the test, by number of the row. */
static double known(int64_t row)
{
    return 2.0 * tct_uniform(7, (uint64_t)row) - 1.0;
}

static void open_vectors(problem *p)
{
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->result.size = sizeof p->result;
    double *x = host_vector(p->n, 0.0);
    const int64_t first = (int64_t)SIDE * tacit_world_rank(test_world()) /
                          tacit_world_size(test_world()) * PLANE;
    for (size_t i = 0; i < p->n; i++) x[i] = known(first + (int64_t)i);
    p->x = device_vector(p->q, p->n, x);
    p->b = poisoned_vector(p->q, p->n);
    free(x);
}

static tacit_operator_function function_of(slab *s, double norm)
{
    return (tacit_operator_function){.size = sizeof(tacit_operator_function),
                                     .apply = product,
                                     .diagonal = diagonal,
                                     .ctx = s,
                                     .norm = norm};
}

static void open_free(problem *p, const char *spec, double norm)
{
    memset(p, 0, sizeof *p);
    p->q = open_queue(spec);
    open_slab(&p->s, p->q);
    const tacit_operator_function f = function_of(&p->s, norm);
    OK(tacit_operator_from_function(p->q, p->s.n, &f, &p->A));
    open_vectors(p);
}

static void open_assembled(problem *p)
{
    char name[32];
    snprintf(name, sizeof name, "poisson3d:%d", SIDE);
    memset(p, 0, sizeof *p);
    p->q = open_queue("host");
    tacit_matrix *m = gallery_matrix(name);
    p->A = operator_of(p->q, m, "csr@none");
    assert_non_null(p->A);
    tacit_matrix_destroy(&m);
    open_vectors(p);
}

/* b = A x*, then A x = b from 0. */
static tacit_status solve(problem *p, const char *method)
{
    tacit_solver *solver = NULL;
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-11, .max_iterations = 500};
    OK(tacit_operator_apply(p->A, p->x, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
    OK(tacit_solver_create(p->q, p->A, method, &solver));
    const tacit_status status =
        tacit_solver_run(solver, p->b, p->x, &stop, &p->result);
    tacit_solver_destroy(&solver);
    return status;
}

static void expect_solution(problem *p, const double *wanted, const char *what)
{
    double *x = host_copy(p->q, p->n, p->x);
    const double off = distance_of(p->n, x, wanted);
    free(x);
    if (!(off <= 1e-8)) fail_msg("%s: off by %.2e", what, off);
}

static void methods_do_as_with_the_matrix(void **state)
{
    (void)state;
    FOR_METHODS(m)
    {
        problem a;
        open_assembled(&a);
        OK(solve(&a, m->name));
        double *wanted = host_copy(a.q, a.n, a.x);
        for (int i = 0; i < 2 * count_specs(); i++) {
            problem p;
            open_free(&p, specs[i / 2], i % 2 ? 12.0 : 0.0);
            assert_int_equal(p.n, a.n);
            OK(solve(&p, m->name));
            const int64_t more = p.result.iterations - a.result.iterations;
            if (more < -1 || more > 1)
                fail_msg("%s, %s: %lld iterations, not %lld", m->name,
                         specs[i / 2], (long long)p.result.iterations,
                         (long long)a.result.iterations);
            expect_solution(&p, wanted, m->name);
            close_problem(&p);
        }
        free(wanted);
        close_problem(&a);
    }
}

static void products_are_those_of_the_matrix(void **state)
{
    (void)state;
    problem a, p;
    open_assembled(&a);
    OK(tacit_operator_apply(a.A, a.x, a.b));
    double *wanted = host_copy(a.q, a.n, a.b);
    for (int i = 0; i < count_specs(); i++) {
        open_free(&p, specs[i], 12.0);
        OK(tacit_operator_apply(p.A, p.x, p.b));
        assert_int_equal(p.s.calls, 1);
        double *y = host_copy(p.q, p.n, p.b);
        assert_true(distance_of(p.n, y, wanted) <= 1e-13 * norm_of(p.n, y));
        free(y);
        close_problem(&p);
    }
    free(wanted);
    close_problem(&a);
}

static void messages_are_counted(void **state)
{
    (void)state;
    static const char *const counted[] = {"count:host", "count:memcheck:host",
                                          "memcheck:count:host"};
    for (int i = 0; i < 3; i++) {
        FOR_METHODS(m)
        {
            problem p;
            open_free(&p, counted[i], 12.0);
            tacit_queue_clear_tally(p.q);
            OK(solve(&p, m->name));
            const tacit_tally *t = tacit_queue_tally(p.q);
            const int64_t calls = p.s.calls;
            const int64_t peers = p.s.below + p.s.above;
            assert_true(calls > p.result.iterations * m->products);
            assert_int_equal(t->spmv.count, calls);
            assert_int_equal(t->exchange.count, calls);
            assert_int_equal(t->exchange.messages, calls * peers);
            assert_true(t->exchange.bytes ==
                        8.0 * (double)(calls * peers * PLANE));
            close_problem(&p);
        }
    }
}

/* --- what there is to know ------------------------------------------------ */

static void it_is_described(void **state)
{
    (void)state;
    problem p;
    open_free(&p, "host", 0.0);
    tacit_operator_info info = {.size = sizeof info};
    OK(tacit_operator_describe(p.A, &info));
    assert_string_equal(info.format, "function");
    assert_int_equal(info.rows, SIDE * PLANE);
    assert_null(tacit_operator_trial_at(p.A, 0));
    assert_int_equal(p.s.calls, 8); /* the estimate, below */
    /* the norm is just below 12, and the estimate a bound but no wild one */
    if (!(p.A->norm >= 12.0 && p.A->norm <= 24.0))
        fail_msg("the norm is estimated as %g", p.A->norm);
    close_problem(&p);
    open_free(&p, "host", 11.5);
    assert_int_equal(p.s.calls, 0);
    assert_true(p.A->norm == 11.5);
    close_problem(&p);
}

static void it_has_a_diagonal_if_it_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < count_specs(); i++) {
        problem p;
        tacit_operator *B = NULL, *M = NULL;
        open_free(&p, specs[i], 12.0);
        OK(tacit_precond_create(p.A, "jacobi", &M));
        OK(tacit_queue_fill(p.q, p.n, 3.0, p.x));
        OK(tacit_operator_apply(M, p.x, p.b));
        double *got = host_copy(p.q, p.n, p.b);
        for (size_t k = 0; k < p.n; k++)
            assert_true(fabs(got[k] - 0.5) < 1e-15);
        free(got);
        tacit_operator_destroy(&M);
        tacit_operator_function f = function_of(&p.s, 12.0);
        f.diagonal = NULL;
        OK(tacit_operator_from_function(p.q, p.s.n, &f, &B));
        EXPECT(TACIT_UNSUPPORTED, tacit_precond_create(B, "jacobi", &M));
        assert_non_null(strstr(tacit_error_message(), "diagonal"));
        if (p.s.rank == p.s.size - 1) p.s.fail_at = -1;
        p.s.status = TACIT_IO;
        EXPECT(TACIT_IO, tacit_precond_create(p.A, "jacobi", &M));
        assert_non_null(strstr(tacit_error_message(), "went wrong"));
        assert_null(M);
        tacit_operator_destroy(&B);
        close_problem(&p);
    }
}

static void what_needs_a_matrix_is_refused(void **state)
{
    (void)state;
    problem p;
    double seconds = 0.0;
    tacit_solver *solver = NULL;
    open_free(&p, "host", 12.0);
    tacit_matrix *m = gallery_matrix("poisson3d:12");
    EXPECT(TACIT_INVALID, tacit_operator_update(p.A, m));
    assert_non_null(strstr(tacit_error_message(), "function"));
    EXPECT(TACIT_UNSUPPORTED,
           tacit_operator_measure_exchange(p.A, 1, 1, p.x, p.b, &seconds));
    OK(tacit_operator_measure_product(p.A, 3, p.x, p.b, &seconds));
    EXPECT(TACIT_INVALID, tacit_operator_apply(p.A, p.x, p.x));
    OK(tacit_solver_create(p.q, p.A, "cg", &solver));
    EXPECT(TACIT_UNSUPPORTED, tacit_solver_set_loop(solver, "resident"));
    tacit_solver_destroy(&solver);
    OK(solve(&p, "cg")); /* all that has left it as it was */
    tacit_matrix_destroy(&m);
    close_problem(&p);
}

/* `f` makes no sense on `rank`, or (< 0) on all. */
static void expect_refused(problem *p, int rank, int64_t rows,
                           tacit_operator_function f)
{
    const bool mine = rank < 0 || rank == p->s.rank;
    const tacit_operator_function good = function_of(&p->s, 12.0);
    tacit_operator *A = NULL;
    EXPECT(TACIT_INVALID,
           tacit_operator_from_function(p->q, mine ? rows : p->s.n,
                                        mine ? &f : &good, &A));
    assert_null(A);
}

static void senseless_functions_are_refused(void **state)
{
    (void)state;
    problem p;
    open_free(&p, "host", 12.0);
    const tacit_operator_function good = function_of(&p.s, 12.0);
    for (int rank = -1; rank < p.s.size; rank++) {
        tacit_operator_function f = good;
        f.apply = NULL;
        expect_refused(&p, rank, p.s.n, f);
        f = good;
        f.size = 0;
        expect_refused(&p, rank, p.s.n, f);
        f = good;
        f.norm = NAN;
        expect_refused(&p, rank, p.s.n, f);
        f.norm = -1.0;
        expect_refused(&p, rank, p.s.n, f);
        expect_refused(&p, rank, -1, good);
    }
    tacit_operator *A = NULL;
    EXPECT(TACIT_INVALID, tacit_operator_from_function(p.q, p.s.n, NULL, &A));
    EXPECT(TACIT_INVALID, tacit_operator_from_function(NULL, p.s.n, &good, &A));
    OK(solve(&p, "cg"));
    close_problem(&p);
}

/* --- failures ------------------------------------------------------------- */

/* On every rank: the status and the sentence of the one that failed. */
static void expect_failure(const problem *p, tacit_status got, int call)
{
    char text[64];
    snprintf(text, sizeof text, "call %d went wrong", call);
    if (got != p->s.status || !strstr(tacit_error_message(), text))
        fail_msg("place %d, rank %d: %s: '%s', expected %s: '%s'",
                 (int)p->s.place, p->s.fail_rank, tacit_status_name(got),
                 tacit_error_message(), tacit_status_name(p->s.status), text);
    /* who has failed is left alone */
    if (p->s.fail_rank < 0 || p->s.fail_rank == p->s.rank)
        assert_int_equal(p->s.calls, call);
}

static void a_failure_ends_the_solve_on_all_ranks(void **state)
{
    (void)state;
    static const tacit_status with[] = {TACIT_IO, TACIT_NO_MEMORY, TACIT_DEVICE,
                                        TACIT_INVALID};
    const int size = tacit_world_size(test_world());
    int turn = 0;
    FOR_METHODS(m)
    for (int place = 0; place < PLACES; place++)
        for (int rank = -1; rank < size; rank++) {
            problem p;
            open_free(&p, specs[turn % count_specs()], 12.0);
            p.s.status = with[turn % 4];
            p.s.place = place;
            p.s.fail_rank = rank;
            p.s.fail_at = 2 + turn % 7; /* the first makes b */
            turn++;
            const tacit_status got = solve(&p, m->name);
            expect_failure(&p, got, p.s.fail_at);
            close_problem(&p);
        }
}

static void a_failure_ends_the_making_on_all_ranks(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    for (int call = 1; call <= 3; call++)
        for (int place = call == 1 ? AFTER : BEFORE; place < PLACES; place++)
            for (int rank = -1; rank < size; rank++) {
                problem p = {.q = open_queue(specs[place])};
                open_slab(&p.s, p.q);
                p.s.status = TACIT_INPUT;
                p.s.place = place;
                p.s.fail_rank = rank;
                p.s.fail_at = call;
                const tacit_operator_function f = function_of(&p.s, 0.0);
                const tacit_status got =
                    tacit_operator_from_function(p.q, p.s.n, &f, &p.A);
                assert_null(p.A);
                if (call > 1) expect_failure(&p, got, call);
                else EXPECT(TACIT_INPUT, got);
                tacit_exchange_destroy(&p.s.halo);
                tacit_queue_destroy(&p.q);
            }
}

/* An operation of the queue fails, not the function. */
static void functions_survive_failing_queues(void **state)
{
    (void)state;
    static const char *const unlucky[] = {
        "chaos(1,40):host", "chaos(0,23):host", "chaos(2,31):memcheck:host"};
    for (int i = 0; i < 3; i++) {
        problem p;
        open_free(&p, unlucky[i], 12.0);
        EXPECT(TACIT_DEVICE, solve(&p, "pipelined"));
        assert_non_null(strstr(tacit_error_message(), "made to fail"));
        close_problem(&p);
    }
}

/* --- exchanges ------------------------------------------------------------ */

enum { LENGTH = 6, STRIDE = 8, COLUMNS = 3 };

static double value_at(int rank, int column, int i)
{
    return 1000.0 * rank + 100.0 * column + i;
}

/* Each rank sends its elements 4, 2, 0 to the next rank, none to the same one
 * again, and 5, 1 to itself; what comes lies in another order. */
static void exchange_in_a_ring(const char *spec)
{
    static const int32_t index[] = {4, 2, 0, 5, 1};
    tacit_queue *q = open_queue(spec);
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    const tacit_channel to[] = {{next, 3}, {next, 0}, {rank, 2}};
    const tacit_channel from[] = {{last, 3}, {last, 0}, {rank, 2}};
    tacit_exchange *e = NULL;
    OK(tacit_exchange_create(q, 3, to, index, 3, from, COLUMNS, &e));
    double *x = host_vector(COLUMNS * STRIDE, NAN), got[5 * COLUMNS];
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < LENGTH; i++)
            x[j * STRIDE + i] = value_at(rank, j, i);
    double *v = device_vector(q, COLUMNS * STRIDE, x);
    static const int order[] = {1, 3, 2, 1};
    for (int turn = 0; turn < 4; turn++) {
        const int columns = order[turn];
        tacit_exchange_begin(e, v, STRIDE, columns);
        const double *ghosts = tacit_exchange_end(e);
        OK(tacit_queue_get(q, 5 * (size_t)columns, ghosts, got));
        for (int j = 0; j < columns; j++)
            for (int k = 0; k < 5; k++) {
                const int owner = k < 3 ? last : rank;
                const double wanted = value_at(owner, j, index[k]);
                if (got[5 * j + k] != wanted)
                    fail_msg("%s: turn %d: column %d: ghost %d is %g, not %g",
                             spec, turn, j, k, got[5 * j + k], wanted);
            }
    }
    free(x);
    tacit_queue_free(q, &v);
    tacit_exchange_destroy(&e);
    assert_null(e);
    tacit_exchange_destroy(&e);
    tacit_queue_destroy(&q);
}

static void values_arrive_where_they_belong(void **state)
{
    (void)state;
    for (int i = 0; i < count_specs(); i++) exchange_in_a_ring(specs[i]);
}

static void nothing_can_be_exchanged(void **state)
{
    (void)state;
    tacit_queue *q = open_queue("count:host");
    tacit_exchange *e = NULL;
    double *x = NULL;
    OK(tacit_exchange_create(q, 0, NULL, NULL, 0, NULL, 1, &e));
    OK(tacit_queue_alloc(q, 1, &x));
    tacit_exchange_begin(e, x, 0, 1);
    tacit_exchange_end(e);
    OK(tacit_queue_fill(q, 1, 1.0, x));
    assert_int_equal(tacit_queue_tally(q)->exchange.messages, 0);
    tacit_queue_free(q, &x);
    tacit_exchange_destroy(&e);
    tacit_queue_destroy(&q);
}

typedef struct {
    int sends, receives, columns;
    tacit_channel to, from;
    const char *word;
} bad_plan;

static void senseless_exchanges_are_refused(void **state)
{
    (void)state;
    static const int32_t index[] = {0, 1, 2};
    tacit_queue *q = open_queue("host");
    const int size = tacit_world_size(test_world());
    const int rank = tacit_world_rank(test_world());
    const tacit_channel self = {rank, 2};
    const bad_plan plans[] = {{1, 1, 1, {size, 2}, self, "rank"},
                              {1, 1, 1, self, {-1, 2}, "rank"},
                              {1, 1, 1, {rank, -1}, self, "0 or more"},
                              {1, 1, 1, self, {rank, -1}, "0 or more"},
                              {1, 1, 0, self, self, "column"},
                              {-1, 1, 1, self, self, "sends"},
                              {1, -1, 1, self, self, "receives"},
                              {1, 1, 1, self, {rank, 3}, "counts"},
                              {1, 1, 1, self, {rank, 3}, "sends 16 bytes"},
                              {1, 1, 1, self, {rank, 3}, "receives 24"},
                              {1, 0, 1, self, self, "channels"},
                              {0, 1, 1, self, self, "channels"}};
    const bad_plan good = {1, 1, 1, self, self, ""};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (int bad = -1; bad < size; bad++) {
            const bad_plan *p = bad < 0 || bad == rank ? &plans[i] : &good;
            tacit_exchange *e = NULL;
            EXPECT(TACIT_INVALID, tacit_exchange_create(
                                      q, p->sends, &p->to, index, p->receives,
                                      &p->from, p->columns, &e));
            assert_null(e);
            if (!strstr(tacit_error_message(), plans[i].word))
                fail_msg("plan %zu: '%s' does not say '%s'", i,
                         tacit_error_message(), plans[i].word);
        }
    tacit_exchange *e = NULL;
    EXPECT(TACIT_INVALID,
           tacit_exchange_create(q, 1, &self, NULL, 1, &self, 1, &e));
    EXPECT(TACIT_INVALID,
           tacit_exchange_create(q, 1, NULL, index, 1, &self, 1, &e));
    EXPECT(TACIT_INVALID,
           tacit_exchange_create(NULL, 1, &self, index, 1, &self, 1, &e));
    for (int bad = -1; bad < size; bad++) {
        static const int32_t below[] = {0, -7};
        const bool mine = bad < 0 || bad == rank;
        EXPECT(TACIT_INVALID,
               tacit_exchange_create(q, 1, &self, mine ? below : index, 1,
                                     &self, 1, &e));
        assert_non_null(strstr(tacit_error_message(), "index[1] is -7"));
    }
    assert_null(e);
    tacit_queue_destroy(&q);
}

static void too_many_columns_fail_the_queue(void **state)
{
    (void)state;
    static const int32_t index[] = {0, 1};
    static const int columns[] = {0, 3, -1};
    for (int i = 0; i < 3; i++) {
        tacit_queue *q = open_queue("host");
        const tacit_channel self = {tacit_world_rank(test_world()), 2};
        tacit_exchange *e = NULL;
        OK(tacit_exchange_create(q, 1, &self, index, 1, &self, 2, &e));
        double *x = NULL;
        OK(tacit_queue_alloc(q, 8, &x));
        OK(tacit_queue_fill(q, 8, 1.0, x));
        tacit_exchange_begin(e, x, 4, columns[i]);
        tacit_exchange_end(e);
        EXPECT(TACIT_INVALID, tacit_queue_fill(q, 8, 1.0, x));
        assert_non_null(strstr(tacit_error_message(), "expected 1 to 2"));
        tacit_queue_free(q, &x);
        tacit_exchange_destroy(&e);
        tacit_queue_destroy(&q);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_matrix),
        cmocka_unit_test(methods_do_as_with_the_matrix),
        cmocka_unit_test(messages_are_counted),
        cmocka_unit_test(it_is_described),
        cmocka_unit_test(it_has_a_diagonal_if_it_is_told),
        cmocka_unit_test(what_needs_a_matrix_is_refused),
        cmocka_unit_test(senseless_functions_are_refused),
        cmocka_unit_test(a_failure_ends_the_solve_on_all_ranks),
        cmocka_unit_test(a_failure_ends_the_making_on_all_ranks),
        cmocka_unit_test(functions_survive_failing_queues),
        cmocka_unit_test(values_arrive_where_they_belong),
        cmocka_unit_test(nothing_can_be_exchanged),
        cmocka_unit_test(senseless_exchanges_are_refused),
        cmocka_unit_test(too_many_columns_fail_the_queue),
    };
    TEST_MPI_MAIN(tests);
}
