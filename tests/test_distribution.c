/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_distribution.c - the tasks of a plan distributed to the processes
 * of a grid of Px x Py x Pz, and solves with threads as the blocks of their
 * GPUs. They signal each other by the kernel's source
 * (trisolve/gpu/peer_signals.h), some ahead of others. Values that a process
 * must not read are NaN. Checked by ThreadSanitizer, too.
 *
 * RUN: np=1 */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "plan_host.h"
#include "said.h"
#include "trisolve/gpu/distribute.h"
#include "trisolve/gpu/recursive_doubling.h"
#include "trisolve/grid/part.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <tacit/tacit.h>
#include <unistd.h>

enum { MOST = 8, WORKERS = 2, RUNS = 6, PLANNED = 16 };

/* --- processes ------------------------------------------------------------ */

typedef struct process {
    struct problem *of;
    int number, z;
    tct_factor_part part;
    tct_tri_plan plan;
    tct_distribution spread;
    plan_solve s;
    double *X, *first; /* [rows columns] what it writes; of the first run */
    bool same;
    tct_round round;
    tct_peer_signals signals;
    tct_doubling swap;
    double *memory;   /* of its swaps */
    uint64_t *signal; /* of these, and what `signals` has of this process */
    uint64_t *came, *over, sent[TCT_PEER_SIGNALS_PHASES];
    uint64_t values[TCT_PEER_SIGNALS_PHASES]; /* stored at others */
    pthread_t thread;
} process;

typedef struct problem {
    tacit_matrix *m;
    tacit_factor *F;
    tacit_factor_panels P;
    double *b, *x; /* [columns rows] in original order, by the host */
    int columns, px, py, pz, count;
    process p[MOST];
} problem;

static double *vector_of(int64_t n, uint64_t seed)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++)
        v[i] = seed ? tct_uniform((uint64_t)i, seed) - 0.5 : NAN;
    return v;
}
static uint64_t *words(int64_t n)
{
    uint64_t *w = calloc((size_t)n + 1, sizeof *w);
    assert_non_null(w);
    return w;
}

static int cut_of(const problem *P)
{
    return P->columns == 1 ? TCT_FOR_ONE : TCT_FOR_MANY;
}

static void make_plans(problem *P)
{
    tct_factor_distribution d;
    tct_pattern S;
    OK(tct_factor_distribution_open(test_world(), &P->P, &d));
    OK(tct_pattern_create(&P->P, P->pz, &S));
    for (int r = 0; r < P->count; r++) {
        process *p = &P->p[r];
        const int each = P->px * P->py;
        *p = (process){.of = P, .number = r, .z = r / each, .same = true};
        OK(tct_factor_part_create(&d, &S, p->z, &p->part));
        const tct_shared_rows *rows = &p->part.rows;
        const int32_t shared = rows->steps > 0 ? rows->count[0] : 0;
        OK(tct_tri_plan_create(&p->part.P, PLANNED, &p->plan));
        OK(tct_tri_plan_doubling(&p->plan, shared));
        OK(tct_tri_plan_distribute(&p->plan, P->px, P->py, r % each, rows->row,
                                   shared, &p->spread));
        assert_true(p->spread.mark == P->p[r - r % each].spread.mark);
    }
    tct_pattern_clear(&S);
    tct_factor_distribution_close(&d);
}

/* What the host of a process makes before its kernel runs. */
static void make_solve(problem *P, process *p)
{
    const int c = P->columns;
    const tct_tri_plan *plan = &p->plan;
    const tct_cut *cut = &plan->cut[cut_of(P)];
    const int64_t n = plan->rows * c;
    double *b = vector_of(n, 0);
    for (int64_t i = 0; i < n; i++)
        if (p->spread.mine[i / c])
            b[i] = p->part.place[i / c] < 0
                       ? 0.0
                       : P->b[p->part.place[i / c] + i % c * P->P.rows];
    p->s = (plan_solve){.plan = plan,
                        .columns = c,
                        .b = b,
                        .y = vector_of(n, 0),
                        .x = vector_of(n, 0),
                        .u = vector_of(plan->updates * c, 0)};
    p->X = vector_of(n, 0);
    p->first = vector_of(n, 0);
    p->round = (tct_round){.queue = calloc(1, sizeof(tct_task_queue)),
                           .task = cut->task,
                           .counter = words(tct_counters(plan->nodes)),
                           .due = cut->due,
                           .upper = tct_counts_up(plan->nodes, 0),
                           .end = cut->down + cut->between + cut->up,
                           .passes = TCT_DOWN | TCT_UP,
                           .limit_ns = UINT64_C(60000000000)};
    assert_non_null(p->round.queue);
    p->came = words((int64_t)MOST * tct_counters(plan->nodes));
    p->over = words(MOST);
}

static void connect_signals(problem *P, process *p)
{
    const int each = P->px * P->py;
    const tct_producers *speak = &p->spread.cut[cut_of(P)];
    p->signals =
        (tct_peer_signals){.rank = p->number % each,
                           .ranks = each,
                           .counters = tct_counters(p->plan.nodes),
                           .swapped = tct_counts_swapped(p->plan.nodes),
                           .adds = speak->adds,
                           .waits = speak->waits,
                           .sent = p->sent};
    for (int k = 0; k < each; k++) {
        p->signals.came[k] = P->p[p->z * each + k].came;
        p->signals.over[k] = P->p[p->z * each + k].over;
    }
}

static void connect_swaps(problem *P)
{
    int64_t room = 0;
    int32_t pieces = 0;
    const int each = P->px * P->py;
    for (int r = 0; r < P->count; r++) {
        const process *p = &P->p[r];
        const int64_t needs = (int64_t)p->part.rows.count[0] * P->columns;
        const int32_t some = p->plan.cut[cut_of(P)].between;
        if (needs > room) room = needs;
        if (some > pieces) pieces = some;
    }
    const int64_t halves = 2 * TCT_DOUBLING_STEPS_MOST;
    for (int r = 0; r < P->count; r++) {
        P->p[r].memory = vector_of(halves * room, 0);
        P->p[r].signal = words(halves * pieces);
    }
    for (int r = 0; r < P->count; r++) {
        process *p = &P->p[r];
        p->swap = (tct_doubling){.steps = p->part.rows.steps,
                                 .row = p->part.rows.row,
                                 .room = room,
                                 .pieces = pieces};
        for (int k = 0; k < p->swap.steps; k++) {
            const process *q = &P->p[(p->z ^ 1 << k) * each + p->number % each];
            p->swap.count[k] = p->part.rows.count[k];
            p->swap.here[k] = p->memory + 2 * k * room;
            p->swap.there[k] = q->memory + 2 * k * room;
            p->swap.heard[k] = p->signal + 2 * (int64_t)k * pieces;
            p->swap.told[k] = q->signal + 2 * (int64_t)k * pieces;
        }
    }
}

static problem *open_problem(const char *name, tacit_factor_kind kind,
                             const int grid[3], int columns)
{
    problem *P = calloc(1, sizeof *P);
    assert_non_null(P);
    *P = (problem){.columns = columns,
                   .px = grid[0],
                   .py = grid[1],
                   .pz = grid[2],
                   .count = grid[0] * grid[1] * grid[2]};
    const tacit_factor_options o = {
        .size = sizeof o, .leaves = 4, .kind = kind};
    P->P.size = sizeof P->P;
    OK(tacit_matrix_open(test_world(), name, NULL, &P->m));
    OK(tacit_factor_create(P->m, &o, &P->F));
    OK(tacit_factor_view(P->F, &P->P));
    const int64_t n = P->P.rows;
    P->b = vector_of(n * columns, 3);
    P->x = vector_of(n * columns, 0);
    OK(tacit_factor_solve(P->F, columns, P->b, (size_t)n, P->x, (size_t)n));
    make_plans(P);
    for (int r = 0; r < P->count; r++) make_solve(P, &P->p[r]);
    for (int r = 0; r < P->count; r++) connect_signals(P, &P->p[r]);
    connect_swaps(P);
    return P;
}

static void close_problem(problem *P)
{
    for (int r = 0; r < P->count; r++) {
        process *p = &P->p[r];
        void *const all[] = {(void *)(uintptr_t)p->s.b,
                             p->s.y,
                             p->s.x,
                             p->s.u,
                             p->X,
                             p->first,
                             p->round.queue,
                             p->round.counter,
                             p->came,
                             p->over,
                             p->memory,
                             p->signal};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
        tct_distribution_clear(&p->spread);
        tct_tri_plan_clear(&p->plan);
        tct_factor_part_clear(&p->part);
    }
    free(P->b);
    free(P->x);
    tacit_factor_destroy(&P->F);
    tacit_matrix_destroy(&P->m);
    free(P);
}

/* --- a kernel by threads -------------------------------------------------- */

enum { Y, X, U };

static double *vector_in(const process *p, int which)
{
    return which == Y ? p->s.y : which == X ? p->s.x : p->s.u;
}

/* Send a value of a row from this process to its readers; a process that is no
 * reader has it no longer. */
static void give(process *p, int which, int64_t row, unsigned readers,
                 int phase)
{
    const int c = p->s.columns, each = p->signals.ranks;
    double *here = vector_in(p, which) + row * c;
    for (int k = 0; k < each; k++) {
        process *q = &p->of->p[p->z * each + k];
        if (!(readers >> k & 1) || q == p) continue;
        memcpy(vector_in(q, which) + row * c, here, (size_t)c * sizeof *here);
        __atomic_fetch_add(&p->values[phase], 1, __ATOMIC_RELAXED);
    }
    for (int j = 0; j < c && !(readers >> p->signals.rank & 1); j++)
        here[j] = NAN;
}

/* As d_put_down, d_put_together and d_put_up of
 * trisolve/gpu/kernels/distribute.cu. */
static void give_rows(process *p, const tct_node *N, int32_t from, int32_t to,
                      bool up)
{
    const tct_distribution *S = &p->spread;
    const int c = p->s.columns;
    for (int32_t i = from < 0 ? -1 - from : from; i < to; i++) {
        const int64_t row = N->first + i, below = N->below + i - N->w;
        if (up) {
            memcpy(p->X + row * c, p->s.x + row * c, (size_t)c * sizeof *p->X);
            give(p, X, row, S->to[row].x, TCT_PEER_SIGNALS_UP);
        } else if (from < 0) {
            give(p, X, row, S->to[row].v, TCT_PEER_SIGNALS_DOWN);
        } else if (i < N->w) {
            give(p, Y, row, S->to[row].y, TCT_PEER_SIGNALS_DOWN);
        } else {
            give(p, U, below, 1U << S->to_u[below], TCT_PEER_SIGNALS_DOWN);
        }
    }
}

/* A branch is all of one process: what it reads there is given when all is
 * done. */
static void pass(process *p, const tct_task *t, bool up)
{
    const tct_tri_plan *plan = &p->plan;
    do_task(&p->s, t, up);
    if (t->what >= 0) {
        give_rows(p, &plan->node[t->what], t->from, t->to, up);
        return;
    }
    const tct_branch *B = &plan->branch[-1 - t->what];
    for (int32_t k = plan->level[B->from].from; k < plan->level[B->to - 1].to;
         k++) {
        const tct_node *N = &plan->node[plan->order[k]];
        give_rows(p, N, 0, up ? N->w : N->h, up);
    }
}

/* As d_doubling of trisolve/gpu/kernels/tasks.cuh. */
static bool swap_piece(process *p, uint64_t number, const tct_task *t)
{
    const tct_doubling *S = &p->swap;
    const int c = p->s.columns;
    for (int k = 0; k < S->steps && S->count[k] > t->from; k++) {
        const int32_t end = t->to < S->count[k] ? t->to : S->count[k];
        double *to = tct_doubling_buffer(S, S->there[k], number);
        const double *from = tct_doubling_buffer(S, S->here[k], number);
        for (int64_t e = (int64_t)t->from * c; e < (int64_t)end * c; e++)
            to[e] = p->s.y[(int64_t)S->row[e / c] * c + e % c];
        tct_doubling_signal(S, k, t->what, number);
        if (!tct_doubling_await(&p->round, S, k, t->what, number)) return false;
        for (int64_t e = (int64_t)t->from * c; e < (int64_t)end * c; e++)
            p->s.y[(int64_t)S->row[e / c] * c + e % c] += from[e];
    }
    for (int32_t i = t->from; i < t->to; i++)
        give(p, Y, S->row[i], p->spread.to[S->row[i]].sum,
             TCT_PEER_SIGNALS_BETWEEN);
    return true;
}

typedef struct {
    process *of;
    int number;
    uint64_t run;
    pthread_t thread;
} worker;

/* Be late now and then; one process is slow all of a run, while others go
 * on. */
static void wander(const worker *w, uint64_t call)
{
    const process *p = w->of;
    const uint64_t dice =
        tct_mix((uint64_t)(p->number * 100 + w->number) * 1000003u +
                w->run * 77 + call);
    const bool slow = (p->number + (int)w->run) % p->of->count == 0;
    if (slow && dice % 4 == 0) usleep(50);
    else if (dice % 31 == 0) usleep((useconds_t)(dice >> 32) % 100);
    else if (dice % 5 == 0) sched_yield();
}

static void *work(void *arg)
{
    const worker *w = arg;
    process *p = w->of;
    const tct_cut *cut = &p->plan.cut[cut_of(p->of)];
    const int32_t up = cut->down + cut->between;
    uint64_t call = 0;
    tct_task t;
    tct_worker_state hand = tct_task_queue_begin(&p->round);
    for (bool go = tct_peer_signals_begin(&p->round, &p->signals); go;) {
        wander(w, call++);
        const int32_t k = tct_task_queue_next(&p->round, &hand, &t);
        if (k < 0 || !tct_peer_signals_await(&p->round, &p->signals, &hand, &t))
            break;
        wander(w, call++);
        if (k < cut->down || k >= up) pass(p, &t, k >= up);
        else if (!swap_piece(p, hand.down, &t)) break;
        tct_peer_signals_done(&p->round, &p->signals, &hand, &t);
    }
    tct_peer_signals_end(&p->round, &p->signals, &hand, WORKERS);
    return NULL;
}

static void run_once(process *p, uint64_t run)
{
    worker w[WORKERS];
    for (int k = 0; k < WORKERS; k++) {
        w[k] = (worker){.of = p, .number = k, .run = run};
        if (pthread_create(&w[k].thread, NULL, work, &w[k])) abort();
    }
    for (int k = 0; k < WORKERS; k++) pthread_join(w[k].thread, NULL);
}

/* A process's solves, one after the other, with no regard to the others', every
 * second one with twice the right-hand side: so has X, to the last bit, if
 * nothing is of another run. */
static void *run_process(void *arg)
{
    process *p = arg;
    const int64_t n = p->plan.rows * p->s.columns;
    double *b = (double *)(uintptr_t)p->s.b;
    for (uint64_t run = 0; run < RUNS; run++) {
        const double twice = run % 2 ? 2.0 : 1.0;
        for (int64_t i = 0; i < n && run > 0; i++) b[i] *= run % 2 ? 2.0 : 0.5;
        if (p->plan.rows > 0) run_once(p, run);
        if (run == 0) memcpy(p->first, p->X, (size_t)n * sizeof *p->X);
        for (int64_t i = 0; i < n; i++)
            if (p->spread.mine[i / p->s.columns] &&
                !(p->X[i] == twice * p->first[i]))
                p->same = false;
    }
    return NULL;
}

static void run_all(problem *P)
{
    for (int r = 0; r < P->count; r++)
        if (pthread_create(&P->p[r].thread, NULL, run_process, &P->p[r]))
            abort();
    for (int r = 0; r < P->count; r++) pthread_join(P->p[r].thread, NULL);
}

/* --- tests ---------------------------------------------------------------- */

/* Each row is one process's of each grid that has it, and the host's; what was
 * sent is what was predicted. */
static void expect_solution(const problem *P, const char *name)
{
    double off = 0.0, norm = 0.0;
    int64_t rows = 0, all = 0;
    const int c = P->columns;
    for (int r = 0; r < P->count; r++) {
        const process *p = &P->p[r];
        if (r % (P->px * P->py) == 0) all += p->plan.rows;
        for (int64_t i = 0; i < p->plan.rows * c; i++) {
            if (!p->spread.mine[i / c]) continue;
            const double x = P->x[p->part.global[i / c] + i % c * P->P.rows];
            const double error = fabs(p->first[i] - x);
            if (!(error <= off)) off = error; /* NaN, too */
            norm = fmax(norm, fabs(x));
            rows += i % c == 0;
        }
        if (!p->same)
            fail_msg("%s: process %d has other bits in another run", name, r);
        for (int k = 0; k < TCT_PEER_SIGNALS_PHASES; k++) {
            assert_int_equal(p->sent[k], RUNS * p->spread.messages_sent[k]);
            if (c == 1)
                assert_int_equal(p->values[k], RUNS * p->spread.values[k]);
        }
    }
    assert_int_equal(rows, all);
    if (!(off <= 1e-11 * norm))
        fail_msg("%s, %d columns on %dx%dx%d: x is off by %g of %g", name, c,
                 P->px, P->py, P->pz, off, norm);
}

static const int grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {3, 1, 1},
                               {2, 2, 1}, {1, 3, 1}, {2, 1, 2}, {1, 2, 2},
                               {2, 2, 2}, {1, 2, 4}, {2, 3, 1}, {2, 1, 4}};
enum { GRIDS = sizeof grids / sizeof *grids };

static void grids_solve_as_the_host_does(void **state)
{
    static const struct {
        const char *name;
        tacit_factor_kind kind;
    } zoo[] = {{"poisson2d:40x33", TACIT_FACTOR_LLT},
               {"poisson3d:13", TACIT_FACTOR_LU},
               {"elasticity3d:5", TACIT_FACTOR_LDLT},
               {"poisson2d:2x2", TACIT_FACTOR_LLT}};
    (void)state;
    for (size_t i = 0; i < sizeof zoo / sizeof *zoo; i++)
        for (int g = 0; g < GRIDS; g++)
            for (int columns = 1; columns <= 3; columns += 2) {
                problem *P =
                    open_problem(zoo[i].name, zoo[i].kind, grids[g], columns);
                run_all(P);
                expect_solution(P, zoo[i].name);
                close_problem(P);
            }
}

/* Solves with one grid, and X in the order of rows, which the caller frees;
 * *stored: values of all processes. */
static double *bits_on(tacit_factor_kind kind, const int grid[3],
                       double *stored)
{
    problem *P = open_problem("poisson3d:16", kind, grid, 1);
    double *x = vector_of(P->P.rows, 0);
    *stored = 0.0;
    run_all(P);
    expect_solution(P, "poisson3d:16");
    for (int r = 0; r < P->count; r++) {
        const process *p = &P->p[r];
        *stored += (double)p->plan.stored;
        assert_true((p->plan.blocks > 0) == (P->px > 1));
        assert_true(P->count > 1 || p->spread.messages_sent[0] == 0);
        for (int64_t i = 0; i < p->plan.rows; i++)
            if (p->spread.mine[i]) x[p->part.global[i]] = p->first[i];
    }
    close_problem(P);
    return x;
}

/* With one process of a grid there is nobody to tell; with several all have
 * blocks of nodes if Px > 1, and X has the same bits. What they store is the
 * factor, and more by what some have more of than others; of U = L' what is in
 * blocks twice. */
static void blocks_and_bits(void **state)
{
    static const tacit_factor_kind kinds[] = {TACIT_FACTOR_LLT,
                                              TACIT_FACTOR_LU};
    const size_t bytes = 16 * 16 * 16 * sizeof(double);
    (void)state;
    for (int k = 0; k < 2; k++) {
        double one, *want = bits_on(kinds[k], grids[0], &one);
        for (int g = 1; g < GRIDS; g++) {
            double all;
            if (grids[g][2] > 1) continue;
            double *x = bits_on(kinds[k], grids[g], &all);
            const bool twice = k == 0 && grids[g][0] > 1;
            assert_memory_equal(x, want, bytes);
            assert_true(all > (twice ? 1.1 : 0.95) * one);
            assert_true(all < 2.0 * one);
            free(x);
        }
        free(want);
    }
}

/* A process that does not come is waited for so long, and named. */
static void who_waits_in_vain_says_for_whom(void **state)
{
    (void)state;
    problem *P = open_problem("poisson2d:40", TACIT_FACTOR_LLT,
                              (const int[3]){2, 1, 1}, 1);
    process *p = &P->p[0];
    int other = -1;
    p->round.limit_ns = 1000000000; /* workers may be late, too */
    run_once(p, 0);
    assert_true(p->round.queue->late != 0);
    assert_true(
        tct_peer_signals_late(&p->round, &p->signals, p->came, &other) >= 0);
    assert_int_equal(other, 1);
    assert_true(p->round.queue->left == 0 && p->round.queue->ticket == 0);
    close_problem(P);
}

/* The other one is not through with the last run: no task of this one is
 * done. */
static void nobody_begins_before_all_have_ended(void **state)
{
    (void)state;
    problem *P = open_problem("poisson2d:40", TACIT_FACTOR_LLT,
                              (const int[3]){1, 2, 1}, 1);
    process *p = &P->p[0];
    int other = -1;
    p->round.limit_ns = 50000000;
    p->over[0] = 3;
    p->over[1] = 2;
    run_once(p, 0);
    assert_true(p->round.queue->late != 0);
    for (int32_t k = 0; k < tct_counters(p->plan.nodes); k++)
        assert_true(p->round.counter[k] == 0 && p->came[k] == 0);
    assert_true(
        tct_peer_signals_late(&p->round, &p->signals, p->came, &other) >= 0);
    close_problem(P);
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    TCT_THREADS_AT_MOST(1);
    problem *P = open_problem("poisson2d:12", TACIT_FACTOR_LU,
                              (const int[3]){1, 1, 1}, 1);
    const size_t before = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    int failures = 0;
    for (; status != TACIT_OK; failures++) {
        tct_tri_plan plan;
        tct_distribution s;
        OK(tct_tri_plan_create(&P->P, PLANNED, &plan));
        OK(tct_tri_plan_doubling(&plan, 0));
        tct_memory_fail_at(failures + 1);
        status = tct_tri_plan_distribute(&plan, 2, 1, 0, NULL, 0, &s);
        tct_memory_fail_at(0);
        if (status != TACIT_OK) assert_int_equal(status, TACIT_NO_MEMORY);
        else tct_distribution_clear(&s);
        tct_tri_plan_clear(&plan);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(failures > 10);
    close_problem(P);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_solve_as_the_host_does),
        cmocka_unit_test(blocks_and_bits),
        cmocka_unit_test(who_waits_in_vain_says_for_whom),
        cmocka_unit_test(nobody_begins_before_all_have_ended),
        cmocka_unit_test(no_memory_is_an_error_and_no_leak),
    };
    TEST_MPI_MAIN(tests);
}
