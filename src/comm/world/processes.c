/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/processes.c - starts the ranks of a world as processes of this
 * machine, without MPI, and watches them until all have ended.
 *
 * Ranks have process groups of their own, so signals of a terminal reach only
 * the parent, which passes them on once. The parent notes in shared memory how
 * each rank has ended; if the parent ends, the system kills the ranks. */
#include "comm/world/world_processes.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Time limit of the other ranks after one was killed. */
static const double GRACE_SECONDS = 5.0;

typedef struct {
    int size, left;
    tct_process_table *process_table; /* in `bytes` of memory */
    size_t bytes;
    pid_t *pid;      /* [size] 0: ended, or not started */
    int lost;        /* first rank killed by others than this process; or -1 */
    double deadline; /* of the others; 0: none */
    int passed;      /* last signal passed on; 0: none */
    sigset_t taken, before;
    struct sigaction child; /* SIGCHLD's action before */
} start;

/* --- signals -------------------------------------------------------------- */

static void send(const start *s, int signal_number)
{
    for (int r = 0; r < s->size; r++)
        if (s->pid[r] > 0) kill(s->pid[r], signal_number);
}

/* To all at once, by stopping them first: ranks that end together must all have
 * the signal. */
static void pass_on(start *s, int signal_number)
{
    s->passed = signal_number;
    send(s, SIGSTOP);
    send(s, signal_number);
    send(s, SIGCONT);
}

/* Ctrl-Z stops all ranks and this process. */
static void suspend(const start *s)
{
    send(s, SIGSTOP);
    raise(SIGSTOP);
    send(s, SIGCONT);
}

/* Block signals, for sigtimedwait. */
static void take_signals(start *s)
{
    static const int all[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction stop, usual = {.sa_handler = SIG_DFL};
    sigemptyset(&usual.sa_mask);
    sigemptyset(&s->taken);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaddset(&s->taken, all[i]);
    if (sigaction(SIGTSTP, NULL, &stop) == 0 && stop.sa_handler != SIG_IGN)
        sigaddset(&s->taken, SIGTSTP);
    sigprocmask(SIG_BLOCK, &s->taken, &s->before);
    sigaction(SIGCHLD, &usual, &s->child); /* if ignored, no status is kept */
}

static void give_signals_back(const start *s)
{
    sigaction(SIGCHLD, &s->child, NULL);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
}

/* --- starting ------------------------------------------------------------- */

typedef struct {
    tacit_rank_function *work;
    void *ctx;
    tacit_world *world;
} task;

/* Run as rank `rank`. Does not return. */
static void run_rank(const start *s, const task *t, int rank, pid_t parent)
{
    setpgid(0, 0);
    signal(SIGTTIN, SIG_IGN); /* reads then fail instead */
    signal(SIGTTOU, SIG_IGN);
    give_signals_back(s);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the parent has ended already */
    tct_processes_join(t->world, rank);
    const int status = t->work(t->world, t->ctx);
    tacit_world_destroy(&(tacit_world *){t->world});
    (void)fflush(NULL);
    _exit(status);
}

static tacit_status start_all(start *s, const task *t)
{
    const pid_t parent = getpid();
    (void)fflush(NULL); /* or each child would write the buffers */
    for (int r = 0; r < s->size; r++) {
        const pid_t pid = fork();
        if (pid == 0) run_rank(s, t, r, parent);
        if (pid < 0)
            FAIL(TACIT_NO_MEMORY, "process %d of %d could not be started: %s",
                 r + 1, s->size, strerror(errno));
        s->pid[r] = pid;
        s->left++;
    }
    return TACIT_OK;
}

/* --- watching ------------------------------------------------------------- */

static void note_end(start *s, int rank, int how)
{
    tct_process_end *end = &s->process_table->of[rank];
    end->order = atomic_load(&s->process_table->gone);
    atomic_store(&end->how, 1 + how);
    atomic_fetch_add(&s->process_table->gone, 1);
    s->pid[rank] = 0;
    s->left--;
    if (!WIFSIGNALED(how) || s->deadline > 0.0) return;
    s->lost = rank;
    s->deadline = tct_seconds() + GRACE_SECONDS;
}

static void collect(start *s)
{
    for (int r = 0; r < s->size; r++) {
        int how = 0;
        if (s->pid[r] > 0 && waitpid(s->pid[r], &how, WNOHANG) == s->pid[r])
            note_end(s, r, how);
    }
}

static bool must_end(const start *s)
{
    return atomic_load(&s->process_table->aborted) > 0 ||
           (s->deadline > 0.0 && tct_seconds() > s->deadline);
}

/* Watch until all have ended. */
static void watch(start *s)
{
    const struct timespec interval = {.tv_nsec = 100000000};
    collect(s);
    while (s->left > 0) {
        const int signal_number = sigtimedwait(&s->taken, NULL, &interval);
        if (signal_number == SIGTSTP) suspend(s);
        else if (signal_number > 0 && signal_number != SIGCHLD)
            pass_on(s, signal_number);
        const bool over = must_end(s);
        if (over && s->deadline == 0.0) s->deadline = tct_seconds();
        collect(s);
        if (over) send(s, SIGKILL);
    }
}

/* The result of all ranks together. */
static tacit_status outcome(const start *s, int *worst_out)
{
    const int aborted = atomic_load(&s->process_table->aborted);
    char text[128];
    int worst = aborted > 0 ? aborted - 1 : 0;
    if (aborted == 0 && s->lost >= 0) {
        const int how = tct_how(s->process_table, s->lost);
        tct_how_ended(s->lost, how, text, sizeof text);
        FAIL(TACIT_COMM, "%s", text);
    }
    for (int r = 0; r < s->size && aborted == 0; r++) {
        const int how = tct_how(s->process_table, r);
        if (WEXITSTATUS(how) > worst) worst = WEXITSTATUS(how);
    }
    *worst_out = worst;
    return TACIT_OK;
}

/* --- all of it ------------------------------------------------------------ */

static tacit_status prepare(start *s, tacit_world **world)
{
    void *memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        FAIL(TACIT_NO_MEMORY, "no memory for a world of %d processes: %s",
             s->size, strerror(errno));
    s->process_table = memory;
    TRY(TCT_ALLOC(s->size, "a world", &s->pid));
    memset(s->pid, 0, (size_t)s->size * sizeof *s->pid);
    return tct_processes_world(s->size, memory, world);
}

/* Start the ranks of a world, and watch them to their end. */
static tacit_status run_world(start *s, const task *t, int *worst_out)
{
    take_signals(s);
    tacit_status status = start_all(s, t);
    if (status < 0) send(s, SIGKILL);
    watch(s);
    if (status >= 0) status = outcome(s, worst_out);
    give_signals_back(s);
    if (s->passed && s->lost >= 0 &&
        WTERMSIG(tct_how(s->process_table, s->lost)) == s->passed)
        raise(s->passed); /* end by the signal that ended the ranks */
    return status;
}

tacit_status tacit_world_processes(int size, tacit_rank_function *work,
                                   void *ctx, int *worst_out)
{
    REQUIRE(work != NULL, worst_out != NULL);
    if (size < 1 || size > TCT_PROCESSES_MOST)
        FAIL(TACIT_INVALID, "tacit_world_processes: %d ranks: expected 1 to %d",
             size, TCT_PROCESSES_MOST);
    start s = {.size = size, .lost = -1, .bytes = tct_processes_bytes(size)};
    task t = {.work = work, .ctx = ctx};
    tacit_status status = prepare(&s, &t.world);
    if (status >= 0) status = run_world(&s, &t, worst_out);
    tacit_world_destroy(&t.world);
    if (s.process_table) munmap(s.process_table, s.bytes);
    tct_free(s.pid);
    return status;
}
