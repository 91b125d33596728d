/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_processes.c - processes that tacit_world_processes starts: their
 * common results; no process waits for one that has ended at any point, and
 * none is left running. */
#define TEST_DEVICE "host"
#include "comm/world/shared.h"
#include "gpu.h"
#include <errno.h>
#include <sys/wait.h>

enum { RANKS = 4, VICTIM = 2 };

/* What ranks and tests have in common. */
typedef struct {
    _Atomic int count, signals, ended, pid[RANKS];
    char said[RANKS][128];
} board;
static board *B;

static int clear(void **state)
{
    (void)state;
    if (!B)
        B = (board *)mmap(NULL, sizeof *B, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (B == MAP_FAILED) return 1;
    memset(B, 0, sizeof *B);
    return 0;
}

/* Each rank for itself: it is there. */
static int sign(tacit_world *w)
{
    const int rank = tacit_world_rank(w);
    B->pid[rank] = getpid();
    B->count++;
    return rank;
}

static void say(int rank)
{
    snprintf(B->said[rank], sizeof B->said[rank], "%s", tacit_error_message());
}

/* All have ended, and none is even waited for any more. */
static void expect_nobody(void)
{
    for (int r = 0; r < RANKS; r++)
        if (B->pid[r] > 0) assert_int_equal(kill(B->pid[r], 0), -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void run(tacit_rank_function *work, tacit_status wanted, int worst)
{
    int code = -1;
    const size_t blocks = tct_memory_blocks();
    EXPECT(wanted, tacit_world_processes(RANKS, work, B, &code));
    assert_int_equal(code, worst);
    assert_int_equal(tct_memory_blocks(), blocks);
    expect_nobody();
}

static int sleep_on(void)
{
    for (int k = 0; k < 100; k++) sleep(1);
    return 1;
}

/* --- in good order -------------------------------------------------------- */

static int add_up(tacit_world *w, void *ctx)
{
    double ranks = sign(w);
    const bool right =
        ctx == B && tacit_world_size(w) == RANKS &&
        tacit_world_reduce(w, TACIT_SUM, 1, &ranks) == TACIT_OK &&
        ranks == RANKS * (RANKS - 1) / 2.0;
    return right ? tacit_world_rank(w) * 10 : 99;
}

static void the_greatest_status_is_that_of_all(void **state)
{
    (void)state;
    run(add_up, TACIT_OK, (RANKS - 1) * 10);
    assert_int_equal(B->count, RANKS);
}

static void what_is_asked_must_make_sense(void **state)
{
    (void)state;
    int code = 0;
    EXPECT(TACIT_INVALID, tacit_world_processes(0, add_up, NULL, &code));
    EXPECT(TACIT_INVALID, tacit_world_processes(5000, add_up, NULL, &code));
    EXPECT(TACIT_INVALID, tacit_world_processes(1, NULL, NULL, &code));
    EXPECT(TACIT_INVALID, tacit_world_processes(1, add_up, NULL, NULL));
    for (int k = 1; k <= 3; k++) {
        const size_t blocks = tct_memory_blocks();
        tct_memory_fail_at(k);
        EXPECT(TACIT_NO_MEMORY, tacit_world_processes(2, add_up, NULL, &code));
        tct_memory_fail_at(0);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    assert_int_equal(B->count, 0);
}

/* Lists of more than half a window, of another length for each. */
static int send_much(tacit_world *w, void *ctx)
{
    enum { EACH = 40000 };
    (void)ctx;
    const int rank = sign(w);
    int64_t to[RANKS], from[RANKS], sends = 0, receives = 0;
    for (int r = 0; r < RANKS; r++) {
        to[r] = 8 * EACH * (r + 1) * (rank != VICTIM);
        from[r] = 8 * EACH * (rank + 1) * (r != VICTIM);
        sends += to[r] / 8;
        receives += from[r] / 8;
    }
    int64_t *out = calloc((size_t)sends + 1, 8), *o = out, bad = 0;
    int64_t *in = calloc((size_t)receives + 1, 8), *i = in;
    for (int r = 0; r < RANKS; r++)
        for (int64_t k = 0; k < to[r] / 8; k++)
            *o++ = (rank * RANKS + r) * 1000000 + k;
    bad += tct_alltoallv(w, to, out, from, in) != TACIT_OK;
    for (int r = 0; r < RANKS; r++)
        for (int64_t k = 0; k < from[r] / 8; k++)
            bad += *i++ != (r * RANKS + rank) * 1000000 + k;
    bad += tct_bcast(w, 1, (size_t)EACH * 8, in) != TACIT_OK;
    bad += tct_reduce_i64(w, TCT_MAX, EACH, in) != TACIT_OK;
    for (int64_t k = 0; k < EACH; k++) /* what rank 1 had of rank 0 */
        bad += in[k] != 1000000 + k;
    free(out);
    free(in);
    return bad > 0;
}

static void lists_may_be_longer_than_windows(void **state)
{
    (void)state;
    run(send_much, TACIT_OK, 0);
}

/* --- ranks that end ------------------------------------------------------- */

/* The end of a rank that nobody had to end. */
static int end_by_itself(tacit_status status)
{
    B->ended++;
    return status == TACIT_COMM ? 5 : 1;
}

/* One is killed while the others wait for it in the set-up plane. */
static int lose_in_setup(tacit_world *w, void *ctx)
{
    (void)ctx;
    const int rank = sign(w);
    if (tacit_world_agree(w, TACIT_OK) != TACIT_OK) return 1;
    if (rank == VICTIM) raise(SIGKILL);
    const tacit_status status = tacit_world_agree(w, TACIT_OK);
    say(rank);
    return end_by_itself(status);
}

static void expect_named(const char *what)
{
    char name[128];
    snprintf(name, sizeof name, "rank %d %s", VICTIM, what);
    for (int r = 0; r < RANKS; r++)
        if (r != VICTIM) assert_string_equal(B->said[r], name);
}

static void the_killed_are_named_in_setup(void **state)
{
    (void)state;
    run(lose_in_setup, TACIT_COMM, -1);
    assert_string_equal(tacit_error_message(),
                        "rank 2 was killed by signal 9 (Killed)");
    expect_named("was killed by signal 9 (Killed)");
    assert_int_equal(B->ended, RANKS - 1);
}

/* In a solve, through memory that ranks share. */
static int lose_in_solve(tacit_world *w, void *ctx)
{
    (void)ctx;
    const int rank = sign(w);
    tacit_matrix *m = NULL;
    tacit_queue *q = NULL;
    tacit_operator *A = NULL;
    tacit_solver *s = NULL;
    double *b = NULL, *x = NULL;
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    tacit_result result = {.size = sizeof result};
    if (tacit_queue_create(w, "lose(2,100):host@shm", 1, &q) != TACIT_OK ||
        tacit_matrix_open(w, "poisson2d:40", NULL, &m) != TACIT_OK ||
        tacit_operator_create(q, m, NULL, &A) != TACIT_OK ||
        tacit_solver_create(q, A, "cg", &s) != TACIT_OK)
        return 1;
    const size_t n = (size_t)tacit_operator_local_rows(A);
    if (tacit_queue_alloc(q, n, &b) != TACIT_OK ||
        tacit_queue_alloc(q, n, &x) != TACIT_OK ||
        tacit_queue_fill(q, n, 1.0, b) != TACIT_OK ||
        tacit_queue_fill(q, n, 0.0, x) != TACIT_OK)
        return 1;
    const tacit_status status = tacit_solver_run(s, b, x, &stop, &result);
    say(rank);
    tacit_solver_destroy(&s);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&m);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_queue_destroy(&q);
    return end_by_itself(status);
}

static void the_killed_are_named_in_a_solve(void **state)
{
    (void)state;
    run(lose_in_solve, TACIT_COMM, -1);
    expect_named("was killed by signal 9 (Killed)");
    assert_int_equal(B->ended, RANKS - 1);
}

/* Who leaves early is waited for no longer, and is no loss to another part. */
static int leave_early(tacit_world *w, void *ctx)
{
    (void)ctx;
    const int rank = sign(w);
    tacit_world *part = NULL;
    double number = 1.0;
    if (tacit_world_split(w, rank < 2 ? 0 : 1, &part) != TACIT_OK) return 1;
    if (rank == VICTIM) return 7;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    for (int k = 0; k < 100 && rank < 2; k++)
        if (tacit_world_reduce(part, TACIT_MAX, 1, &number) != TACIT_OK)
            return 1;
    const tacit_status status = tacit_world_agree(w, TACIT_OK);
    say(rank);
    tacit_world_destroy(&part);
    return status == TACIT_COMM ? 5 : 1;
}

static void who_leaves_early_is_not_waited_for(void **state)
{
    (void)state;
    run(leave_early, TACIT_OK, 7);
    expect_named("has ended, with status 7");
}

/* Who waits for nobody is ended some seconds later. */
static int not_notice(tacit_world *w, void *ctx)
{
    (void)ctx;
    if (sign(w) == VICTIM) raise(SIGUSR1);
    return sleep_on();
}

static void who_does_not_notice_is_ended(void **state)
{
    (void)state;
    run(not_notice, TACIT_COMM, -1);
    assert_non_null(strstr(tacit_error_message(), "rank 2 was killed by"));
}

static int end_all(tacit_world *w, void *ctx)
{
    (void)ctx;
    if (sign(w) == VICTIM) tacit_world_abort(w, 42);
    return sleep_on();
}

static void one_can_end_all(void **state)
{
    (void)state;
    const double start = tct_seconds();
    run(end_all, TACIT_OK, 42);
    assert_true(tct_seconds() - start < 4.0);
}

/* --- signals -------------------------------------------------------------- */

static void note_signal(int signal_number)
{
    (void)signal_number;
    B->signals++;
}

/* Rank 0 asks the attendant; all are told, each once. */
static int be_told(tacit_world *w, void *ctx)
{
    (void)ctx;
    signal(SIGTERM, note_signal);
    const int rank = sign(w);
    if (tacit_world_agree(w, TACIT_OK) != TACIT_OK) return 1;
    if (rank == 0) kill(getppid(), SIGTERM);
    for (int k = 0; k < 6000 && B->signals < RANKS; k++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return B->signals == RANKS ? 3 : 1;
}

static void signals_reach_each_once(void **state)
{
    (void)state;
    run(be_told, TACIT_OK, 3);
}

static int wait_long(tacit_world *w, void *ctx)
{
    (void)ctx;
    sign(w);
    return sleep_on();
}

static void doze(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* An attendant, which the test is not this time, with ranks that wait. */
static pid_t start_attendant(void)
{
    int code = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTSTP, SIG_DFL);
        (void)tacit_world_processes(RANKS, wait_long, NULL, &code);
        _exit(code);
    }
    for (int k = 0; k < 6000 && B->count < RANKS; k++) doze();
    assert_int_equal(B->count, RANKS);
    return pid;
}

/* It gets a signal, and ends of it; so do its ranks. */
static void end_attendant(pid_t pid, int signal_number)
{
    int how = 0;
    kill(pid, signal_number);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(WTERMSIG(how), signal_number);
    for (int r = 0; r < RANKS; r++) {
        for (int k = 0; k < 6000 && kill(B->pid[r], 0) == 0; k++) doze();
        assert_int_equal(kill(B->pid[r], 0), -1);
    }
}

/* As ps shows it: S is asleep, T stopped. */
static char state_of(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(text, sizeof text, file);
    if (file) fclose(file);
    const char *after = strrchr(text, ')');
    return read && after ? after[2] : '?';
}

static void expect_state(pid_t pid, char state)
{
    char is = state_of(pid);
    for (int k = 0; k < 6000 && is != state; k++) {
        doze();
        is = state_of(pid);
    }
    assert_int_equal(is, state);
}

static void they_stop_and_go_on_with_the_attendant(void **state)
{
    (void)state;
    const pid_t pid = start_attendant();
    kill(pid, SIGTSTP);
    expect_state(pid, 'T');
    for (int r = 0; r < RANKS; r++) expect_state(B->pid[r], 'T');
    kill(pid, SIGCONT);
    for (int r = 0; r < RANKS; r++) expect_state(B->pid[r], 'S');
    end_attendant(pid, SIGTERM);
}

static void a_signal_that_ends_them_ends_the_attendant(void **state)
{
    (void)state;
    end_attendant(start_attendant(), SIGTERM);
}

static void none_outlives_the_attendant(void **state)
{
    (void)state;
    end_attendant(start_attendant(), SIGKILL);
}

int main(int argc, char **argv)
{
#define EACH(test) cmocka_unit_test_setup(test, clear)
    const struct CMUnitTest tests[] = {
        EACH(the_greatest_status_is_that_of_all),
        EACH(what_is_asked_must_make_sense),
        EACH(lists_may_be_longer_than_windows),
        EACH(the_killed_are_named_in_setup),
        EACH(the_killed_are_named_in_a_solve),
        EACH(who_leaves_early_is_not_waited_for),
        EACH(who_does_not_notice_is_ended),
        EACH(one_can_end_all),
        EACH(signals_reach_each_once),
        EACH(a_signal_that_ends_them_ends_the_attendant),
        EACH(they_stop_and_go_on_with_the_attendant),
        EACH(none_outlives_the_attendant),
    };
    TEST_MPI_MAIN(tests);
}
