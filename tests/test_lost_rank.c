/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_lost_rank.c - a rank that is silent for longer than the others'
 * timeout: their solve fails, its message names the rank, and all objects can
 * be destroyed without it. Each case has a world of its own, which is unusable
 * afterwards.
 *
 * RUN: np=3
 * THREADS: 3
 * PROCESSES: 3 */
#define TEST_DEVICE "host"
#include "comm/world/world.h"
#include "device/decorators.h"
#include "gpu.h"
#include "silence.h"
#include "trisolve/grid/trsv.h"

static const double PATIENCE = 1.0; /* others may be late, too */

typedef struct {
    tacit_world *world;
    tacit_queue *q;
    tacit_operator *A;
    tacit_solver *s;
    double *b, *x;
} problem;

static void open_problem(problem *p, const char *spec, const char *method)
{
    tacit_matrix *m = NULL;
    *p = (problem){.world = NULL};
    OK(tacit_world_split(test_world(), 0, &p->world));
    OK(tacit_queue_create(p->world, spec, 1, &p->q));
    p->q->peer_seconds = PATIENCE;
    OK(tacit_matrix_open(p->world, "poisson2d:40", NULL, &m));
    OK(tacit_operator_create(p->q, m, NULL, &p->A));
    tacit_matrix_destroy(&m);
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    const size_t n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, n, &p->b));
    OK(tacit_queue_alloc(p->q, n, &p->x));
    OK(tacit_queue_fill(p->q, n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, n, 0.0, p->x));
}

static void close_problem(problem *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_solver_destroy(&p->s);
    tacit_operator_destroy(&p->A);
    tacit_queue_destroy(&p->q);
    tacit_world_destroy(&p->world);
}

/* Nobody is waited for any more. */
static void expect_no_world(tacit_world *w, const char *said)
{
    int64_t number = 1;
    char bytes[8] = "";
    tacit_world *part = NULL;
    tacit_queue *q = NULL;
    EXPECT(TACIT_COMM, tct_agree(w, TACIT_OK));
    EXPECT(TACIT_COMM, tct_reduce_i64(w, TCT_SUM, 1, &number));
    EXPECT(TACIT_COMM, tct_bcast(w, 0, sizeof bytes, bytes));
    EXPECT(TACIT_COMM, tacit_world_split(w, 0, &part));
    EXPECT(TACIT_COMM, tacit_queue_create(w, "host", 1, &q));
    assert_null(part);
    assert_null(q);
    assert_string_equal(tacit_error_message(), said);
}

/* Is a lost rank known on all ranks? A rank that gets no processor for so long
 * is as silent, so that one of several tries is enough. */
static bool all_know(bool known)
{
    int64_t unknown = !known;
    OK(tct_reduce_i64(test_world(), TCT_MAX, 1, &unknown));
    return unknown == 0;
}

enum { TRIES = 4 };

/* Rank `lost` is silent at its k-th sum or exchange, in the midst of a solve,
 * until the others have closed everything. Is it named? */
static bool lose_rank(const char *link, const char *method, int lost, int k)
{
    char spec[64], name[64];
    bool named = true;
    problem p;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    tacit_result result = {.size = sizeof result};
    snprintf(spec, sizeof spec, "lose(%d,%d,100):host@%s", lost, k, link);
    silence_begin();
    open_problem(&p, spec, method);
    const double start = tct_seconds();
    EXPECT(TACIT_COMM, tacit_solver_run(p.s, p.b, p.x, &stop, &result));
    const double seconds = tct_seconds() - start;
    char said[96];
    snprintf(said, sizeof said, "%s", tacit_error_message());
    if (tacit_world_rank(test_world()) != lost) {
        assert_true(seconds >= PATIENCE);
        snprintf(name, sizeof name, "rank %d has not answered", lost);
        const bool known = strcmp(method, "pipelined") || strcmp(link, "mpi");
        named = strstr(said, name) ||
                (!known && strstr(said, "another rank has not answered"));
        if (!named) print_message("%s: rank %d: '%s'\n", spec, lost, said);
    } else {
        assert_true(silence_is_over());
    }
    expect_no_world(p.world, said);
    close_problem(&p);
    silence_mark();
    silence_end();
    return all_know(named);
}

static void each_case(const char *link)
{
    tacit_queue *q = NULL;
    char spec[32];
    snprintf(spec, sizeof spec, "host@%s", link);
    const tacit_status status = tacit_queue_create(test_world(), spec, 1, &q);
    tacit_queue_destroy(&q);
    if (status == TACIT_UNSUPPORTED) return; /* threads have no mpi */
    OK(status);
    /* sums and exchanges of an iteration; not before, when the silent rank
     * could go on to a set-up call, and wait there for ever */
    static const struct {
        const char *method;
        int k;
    } cases[] = {{"cg", 60}, {"cg", 61}, {"pipelined", 60}};
    const int last = tacit_world_size(test_world()) - 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int lost = i % 2 ? last : 0;
        int k = 0;
        while (k < TRIES && !lose_rank(link, cases[i].method, lost, cases[i].k))
            k++;
        assert_true(k < TRIES);
    }
}

static void the_lost_are_named_in_shared_memory(void **state)
{
    (void)state;
    each_case("shm");
}

static void the_lost_are_named_through_mpi(void **state)
{
    (void)state;
    each_case("mpi");
}

/* A rank comes late to a second solve: it is missed if the others were told to
 * be patient for so long only, and waited for otherwise. */
static void the_late_are_missed_between_solves(void **state)
{
    (void)state;
    const int last = tacit_world_size(test_world()) - 1;
    const bool late = tacit_world_rank(test_world()) == last;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-6};
    if (test_world()->ops->one_process || last == 0) return;
    for (int limited = 0; limited < 2; limited++) {
        tacit_result result = {.size = sizeof result};
        problem p;
        open_problem(&p, "host", "cg");
        EXPECT(TACIT_INVALID, tacit_world_set_patience(p.world, (double)NAN));
        p.q->peer_seconds = 60.0;
        OK(tacit_solver_run(p.s, p.b, p.x, &stop, &result));
        p.q->peer_seconds = limited ? PATIENCE : 60.0;
        OK(tacit_world_set_patience(p.world, limited ? PATIENCE : 0.0));
        silence_begin();
        if (late && limited) silence_keep();
        else if (late) usleep(800000);
        const double start = tct_seconds();
        const tacit_status status =
            tacit_solver_run(p.s, p.b, p.x, &stop, &result);
        const double seconds = tct_seconds() - start;
        if (!limited) OK(status);
        else EXPECT(TACIT_COMM, status);
        if (!late && limited) assert_true(seconds >= PATIENCE);
        close_problem(&p);
        silence_mark();
        silence_end();
    }
}

/* Triangular solves are driven by messages: who waits for one does not know
 * from whom it comes first. Of a factor from rank 0 a rank begins to solve too
 * late. */
static bool lose_solver(const int grid[3], int lost)
{
    problem p = {.world = NULL};
    tacit_world *alone = NULL;
    tacit_matrix *m = NULL;
    tacit_factor *F = NULL;
    tacit_trsv *T = NULL;
    tacit_factor_panels P = {.size = sizeof P};
    const tacit_factor_options form = {.size = sizeof form, .width = 8};
    const tacit_trsv_options o = {.size = sizeof o,
                                  .grid = {grid[0], grid[1], grid[2]}};
    OK(tacit_world_split(test_world(), 0, &p.world));
    const int rank = tacit_world_rank(p.world);
    if (rank == 0) {
        OK(tacit_world_self(&alone));
        OK(tacit_matrix_open(alone, "poisson2d:20", NULL, &m));
        OK(tacit_factor_create(m, &form, &F));
        OK(tacit_factor_view(F, &P));
    }
    OK(tacit_trsv_create(p.world, rank == 0 ? &P : NULL, &o, &T));
    silence_begin();
    double B[400], X[400];
    for (int i = 0; i < 400; i++) B[i] = 1.0;
    OK(tacit_trsv_solve(T, 1, B, 400, X, 400));
    T->active->limit = PATIENCE;
    if (rank == lost) silence_keep();
    EXPECT(TACIT_COMM, tacit_trsv_solve(T, 1, B, 400, X, 400));
    char said[96], name[64];
    snprintf(said, sizeof said, "%s", tacit_error_message());
    snprintf(name, sizeof name, "rank %d has not answered for 1 s", lost);
    const bool named = rank == lost || strcmp(said, name) == 0;
    if (!named) print_message("without rank %d: '%s'\n", lost, said);
    expect_no_world(p.world, said);
    tacit_trsv_destroy(&T);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&alone);
    tacit_world_destroy(&p.world);
    silence_mark();
    silence_end();
    return all_know(named);
}

static void the_lost_are_named_in_triangular_solves(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    if (size < 2) return;
    for (int i = 0; i < 2 * size; i++) {
        const int grid[2][3] = {{size, 1, 1}, {1, size, 1}};
        int k = 0;
        while (k < TRIES && !lose_solver(grid[i % 2], i / 2)) k++;
        assert_true(k < TRIES);
    }
}

/* Reductions of the set-up plane have a limit where a world has patience; of
 * processes it is known who has not come. */
static void the_lost_are_missed_where_all_meet(void **state)
{
    (void)state;
    const int lost = tacit_world_size(test_world()) - 1;
    if (test_threads_ > 0 || lost == 0) return;
    const bool late = tacit_world_rank(test_world()) == lost;
    tacit_world *w = NULL;
    char name[64], said[96];
    double sum = 1.0;
    OK(tacit_world_split(test_world(), 0, &w));
    w->timeout = 30.0;
    OK(tct_reduce_f64(w, TCT_SUM, 1, &sum));
    assert_true(sum == lost + 1);
    silence_begin();
    if (!late) w->timeout = PATIENCE;
    else silence_keep();
    if (late) {
        OK(tct_reduce_f64(w, TCT_SUM, 1, &sum)); /* nobody takes it back */
    } else {
        EXPECT(TACIT_COMM, tct_reduce_f64(w, TCT_SUM, 1, &sum));
        snprintf(said, sizeof said, "%s", tacit_error_message());
        snprintf(name, sizeof name, "rank %d has not answered", lost);
        assert_true(strstr(said, name) ||
                    (strcmp(w->ops->name, "mpi") == 0 &&
                     strstr(said, "another rank has not answered")));
        expect_no_world(w, said);
    }
    silence_mark();
    silence_end();
    tacit_world_destroy(&w);
}

/* A rank that comes late, but in time, is no loss. */
static void who_is_late_is_waited_for(void **state)
{
    (void)state;
    problem p;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-9};
    tacit_result result = {.size = sizeof result};
    open_problem(&p, "lose(0,40,1):host", "cg");
    p.q->peer_seconds = tacit_world_size(test_world()) > 2 ? 0.0 : 30.0;
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &result));
    OK(tct_agree(p.world, TACIT_OK));
    close_problem(&p);
}

static void patience_is_from_the_environment(void **state)
{
    (void)state;
    tacit_queue *q = NULL;
    if (test_threads_ > 0) return; /* they share it */
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    assert_true(q->peer_seconds == 60.0);
    tacit_queue_destroy(&q);
    setenv("TACIT_PATIENCE", "2.5", 1);
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    assert_true(q->peer_seconds == 2.5);
    tacit_queue_destroy(&q);
    static const char *const bad[] = {"", "soon", "-1", "nan", "inf", "3s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("TACIT_PATIENCE", bad[i], 1);
        EXPECT(TACIT_INVALID, tacit_queue_create(test_world(), "host", 1, &q));
        assert_non_null(strstr(tacit_error_message(), "TACIT_PATIENCE"));
    }
    unsetenv("TACIT_PATIENCE");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patience_is_from_the_environment),
        cmocka_unit_test(who_is_late_is_waited_for),
        cmocka_unit_test(the_lost_are_missed_where_all_meet),
        cmocka_unit_test(the_late_are_missed_between_solves),
        cmocka_unit_test(the_lost_are_named_in_shared_memory),
        cmocka_unit_test(the_lost_are_named_through_mpi),
        cmocka_unit_test(the_lost_are_named_in_triangular_solves),
    };
    tct_lose_over = silence_is_over;
    TEST_MPI_MAIN(tests);
}
