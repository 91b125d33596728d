/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_doubling.c - a factor in parts, each a leaf and the nodes above
 * it, and solves with threads as the blocks of several GPUs. They exchange
 * shared rows by the kernel's source (trisolve/gpu/recursive_doubling.h), some
 * ranks ahead of others. Checked by ThreadSanitizer, too.
 *
 * RUN: np=1 */
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "plan_host.h"
#include "said.h"
#include "trisolve/gpu/recursive_doubling.h"
#include "trisolve/grid/part.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <tacit/tacit.h>
#include <unistd.h>

enum { RANKS_MOST = 8, WORKERS = 2, RUNS = 6 };

/* --- a factor and its parts ----------------------------------------------- */

typedef struct rank {
    struct problem *of;
    int number;
    tct_factor_part part;
    tct_tri_plan plan;
    plan_solve s;
    tct_round round;
    tct_doubling swap;
    double *memory; /* of its swaps */
    uint64_t *signal;
    double *first; /* x of the first run: later ones have the same bits */
    bool same;
    pthread_t thread;
} rank;

typedef struct problem {
    tacit_matrix *m;
    tacit_factor *F;
    tacit_factor_panels P;
    double *b, *x; /* [columns rows] in original order, by the host */
    int columns, ranks;
    rank rank[RANKS_MOST];
} problem;

static double *vector_of(int64_t n, uint64_t seed)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++)
        v[i] = seed ? tct_uniform((uint64_t)i, seed) - 0.5 : 0.0;
    return v;
}

static void open_factor(problem *p, const char *name, int leaves)
{
    const tacit_factor_options o = {.size = sizeof o, .leaves = leaves};
    p->P.size = sizeof p->P;
    OK(tacit_matrix_open(test_world(), name, NULL, &p->m));
    OK(tacit_factor_create(p->m, &o, &p->F));
    OK(tacit_factor_view(p->F, &p->P));
}

static void make_parts(problem *p)
{
    tct_factor_distribution d;
    tct_pattern S;
    OK(tct_factor_distribution_open(test_world(), &p->P, &d));
    OK(tct_pattern_create(&p->P, p->ranks, &S));
    for (int z = 0; z < p->ranks; z++) {
        rank *r = &p->rank[z];
        *r = (rank){.of = p, .number = z};
        OK(tct_factor_part_create(&d, &S, z, &r->part));
        OK(tct_tri_plan_create(&r->part.P, 16, &r->plan));
        OK(tct_tri_plan_doubling(&r->plan,
                                 p->ranks > 1 ? r->part.rows.count[0] : 0));
    }
    tct_pattern_clear(&S);
    tct_factor_distribution_close(&d);
}

/* What the host of a rank makes before its kernel runs. */
static void make_solve(problem *p, rank *r)
{
    const int c = p->columns;
    const tct_tri_plan *plan = &r->plan;
    const tct_cut *cut = &plan->cut[c == 1 ? TCT_FOR_ONE : TCT_FOR_MANY];
    const int64_t n = plan->rows * c;
    double *b = vector_of(n, 0);
    for (int64_t i = 0; i < n; i++)
        if (r->part.place[i / c] >= 0)
            b[i] = p->b[r->part.place[i / c] + i % c * p->P.rows];
    r->s = (plan_solve){.plan = plan,
                        .columns = c,
                        .b = b,
                        .y = vector_of(n, 0),
                        .x = vector_of(n, 0),
                        .u = vector_of(plan->updates * c, 0)};
    r->round = (tct_round){
        .queue = calloc(1, sizeof(tct_task_queue)),
        .task = cut->task,
        .counter = calloc((size_t)tct_counters(plan->nodes), sizeof(uint64_t)),
        .due = cut->due,
        .upper = tct_counts_up(plan->nodes, 0),
        .end = cut->down + cut->between + cut->up,
        .passes = TCT_DOWN | TCT_UP,
        .limit_ns = UINT64_C(60000000000)};
    assert_true(r->round.queue && r->round.counter);
    r->first = vector_of(n, 0);
    r->same = true;
}

static void connect(problem *p)
{
    int64_t room = 0;
    int32_t pieces = 0;
    for (int z = 0; z < p->ranks; z++) {
        const rank *r = &p->rank[z];
        const tct_cut *cut =
            &r->plan.cut[p->columns == 1 ? TCT_FOR_ONE : TCT_FOR_MANY];
        const int64_t needs = (int64_t)r->part.rows.count[0] * p->columns;
        if (needs > room) room = needs;
        if (cut->between > pieces) pieces = cut->between;
    }
    for (int z = 0; z < p->ranks; z++) {
        const int64_t halves = 2 * TCT_DOUBLING_STEPS_MOST;
        p->rank[z].memory = vector_of(halves * room, 0);
        p->rank[z].signal =
            calloc((size_t)(halves * (pieces + 1)), sizeof(uint64_t));
        assert_non_null(p->rank[z].signal);
    }
    for (int z = 0; z < p->ranks; z++) {
        rank *r = &p->rank[z];
        r->swap = (tct_doubling){.steps = r->part.rows.steps,
                                 .row = r->part.rows.row,
                                 .room = room,
                                 .pieces = pieces};
        for (int k = 0; k < r->swap.steps; k++) {
            const rank *other = &p->rank[z ^ 1 << k];
            r->swap.count[k] = r->part.rows.count[k];
            r->swap.here[k] = r->memory + 2 * k * room;
            r->swap.there[k] = other->memory + 2 * k * room;
            r->swap.heard[k] = r->signal + 2 * (int64_t)k * pieces;
            r->swap.told[k] = other->signal + 2 * (int64_t)k * pieces;
        }
    }
}

static problem *open_problem(const char *name, int leaves, int ranks,
                             int columns)
{
    problem *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->ranks = ranks;
    p->columns = columns;
    open_factor(p, name, leaves);
    const int64_t n = p->P.rows;
    p->b = vector_of(n * columns, 3);
    p->x = vector_of(n * columns, 0);
    OK(tacit_factor_solve(p->F, columns, p->b, (size_t)n, p->x, (size_t)n));
    make_parts(p);
    for (int z = 0; z < ranks; z++) make_solve(p, &p->rank[z]);
    connect(p);
    return p;
}

static void close_problem(problem *p)
{
    for (int z = 0; z < p->ranks; z++) {
        rank *r = &p->rank[z];
        free((void *)(uintptr_t)r->s.b);
        free(r->s.y);
        free(r->s.x);
        free(r->s.u);
        free(r->round.queue);
        free(r->round.counter);
        free(r->memory);
        free(r->signal);
        free(r->first);
        tct_tri_plan_clear(&r->plan);
        tct_factor_part_clear(&r->part);
    }
    free(p->b);
    free(p->x);
    tacit_factor_destroy(&p->F);
    tacit_matrix_destroy(&p->m);
    free(p);
}

/* --- a kernel by threads -------------------------------------------------- */

/* As d_doubling of trisolve/gpu/kernels/tasks.cuh. */
static bool swap_piece(const rank *r, uint64_t number, const tct_task *t)
{
    const tct_doubling *S = &r->swap;
    const int c = r->s.columns;
    for (int k = 0; k < S->steps && S->count[k] > t->from; k++) {
        const int32_t end = t->to < S->count[k] ? t->to : S->count[k];
        double *to = tct_doubling_buffer(S, S->there[k], number);
        const double *from = tct_doubling_buffer(S, S->here[k], number);
        for (int64_t e = (int64_t)t->from * c; e < (int64_t)end * c; e++)
            to[e] = r->s.y[(int64_t)S->row[e / c] * c + e % c];
        tct_doubling_signal(S, k, t->what, number);
        if (!tct_doubling_await(&r->round, S, k, t->what, number)) return false;
        for (int64_t e = (int64_t)t->from * c; e < (int64_t)end * c; e++)
            r->s.y[(int64_t)S->row[e / c] * c + e % c] += from[e];
    }
    return true;
}

typedef struct {
    const rank *of;
    int number;
    uint64_t run;
    pthread_t thread;
} worker;

/* Be late now and then. */
static void wander(const worker *w, uint64_t call)
{
    const uint64_t dice =
        tct_mix((uint64_t)(w->of->number * 100 + w->number) * 1000003u +
                w->run * 77 + call);
    if (dice % 31 == 0) usleep((useconds_t)(dice >> 32) % 100);
    else if (dice % 5 == 0) sched_yield();
}

static void *work(void *arg)
{
    const worker *w = arg;
    const rank *r = w->of;
    const tct_cut *cut =
        &r->plan.cut[r->s.columns == 1 ? TCT_FOR_ONE : TCT_FOR_MANY];
    const int32_t up = cut->down + cut->between;
    uint64_t call = 0;
    tct_task t;
    tct_worker_state hand = tct_task_queue_begin(&r->round);
    for (;;) {
        wander(w, call++);
        const int32_t k = tct_task_queue_next(&r->round, &hand, &t);
        if (k < 0 || !tct_task_queue_await(&r->round, &hand, &t)) break;
        if (k < cut->down || k >= up) do_task(&r->s, &t, k >= up);
        else if (!swap_piece(r, hand.down, &t)) break;
        tct_task_queue_done(&r->round, &t);
    }
    tct_task_queue_end(&r->round, &hand, WORKERS);
    return NULL;
}

static void run_once(const rank *r, uint64_t run)
{
    worker w[WORKERS];
    for (int k = 0; k < WORKERS; k++) {
        w[k] = (worker){.of = r, .number = k, .run = run};
        if (pthread_create(&w[k].thread, NULL, work, &w[k])) abort();
    }
    for (int k = 0; k < WORKERS; k++) pthread_join(w[k].thread, NULL);
}

/* A rank's solves, one after the other, with no regard to the others'. */
static void *run_rank(void *arg)
{
    rank *r = arg;
    const size_t bytes =
        (size_t)(r->plan.rows * r->s.columns) * sizeof *r->first;
    for (uint64_t run = 0; run < RUNS; run++) {
        if (r->plan.rows > 0) run_once(r, run);
        if (run == 0) memcpy(r->first, r->s.x, bytes);
        r->same = r->same && memcmp(r->first, r->s.x, bytes) == 0;
        if ((r->number + (int)run) % 3 == 0) usleep(300);
    }
    return NULL;
}

static void run_all(problem *p)
{
    for (int z = 0; z < p->ranks; z++)
        if (pthread_create(&p->rank[z].thread, NULL, run_rank, &p->rank[z]))
            abort();
    for (int z = 0; z < p->ranks; z++) pthread_join(p->rank[z].thread, NULL);
}

/* --- tests ---------------------------------------------------------------- */

/* All rows that a rank has, replicas, too, are the host's. */
static void expect_solution(const problem *p, const rank *r, const char *name)
{
    double off = 0.0, norm = 0.0;
    const int c = p->columns;
    for (int64_t i = 0; i < r->plan.rows * c; i++) {
        const double x = p->x[r->part.global[i / c] + i % c * p->P.rows];
        off = fmax(off, fabs(r->s.x[i] - x));
        norm = fmax(norm, fabs(x));
    }
    if (!(off <= 1e-11 * norm))
        fail_msg("%s, %d columns, rank %d of %d: x is off by %g of %g", name, c,
                 r->number, p->ranks, off, norm);
    if (!r->same)
        fail_msg("%s: rank %d has other bits in another run", name, r->number);
}

static void parts_solve_as_the_whole_does(void **state)
{
    static const struct {
        const char *name;
        int leaves;
    } zoo[] = {{"poisson2d:40x33", 8},
               {"poisson3d:8", 4},
               {"elasticity3d:4", 16},
               {"poisson2d:2x1", 4},
               {"poisson2d:3x1", 8}};
    (void)state;
    for (size_t i = 0; i < sizeof zoo / sizeof *zoo; i++)
        for (int ranks = 1; ranks <= RANKS_MOST; ranks *= 2)
            for (int columns = 1; columns <= 3; columns += 2) {
                if (ranks > zoo[i].leaves) continue;
                problem *p =
                    open_problem(zoo[i].name, zoo[i].leaves, ranks, columns);
                run_all(p);
                for (int z = 0; z < ranks; z++)
                    expect_solution(p, &p->rank[z], zoo[i].name);
                close_problem(p);
            }
}

/* Each row has one rank that begins with it, and who shares rows lists the
 * same. */
static void parts_fit_together(void **state)
{
    (void)state;
    problem *p = open_problem("poisson3d:9", 8, 8, 1);
    const int64_t n = p->P.rows;
    int *begins = calloc((size_t)n, sizeof *begins);
    assert_non_null(begins);
    for (int z = 0; z < 8; z++) {
        const tct_factor_part *a = &p->rank[z].part;
        OK(tacit_factor_check(&a->P));
        assert_int_equal(a->rows.steps, 3);
        for (int64_t i = 0; i < a->P.rows; i++)
            if (a->place[i] >= 0) begins[a->place[i]]++;
        for (int k = 0; k < 3; k++) {
            const tct_factor_part *b = &p->rank[z ^ 1 << k].part;
            assert_true(a->rows.count[k] > 0);
            assert_int_equal(a->rows.count[k], b->rows.count[k]);
            for (int32_t i = 0; i < a->rows.count[k]; i++)
                assert_int_equal(a->global[a->rows.row[i]],
                                 b->global[b->rows.row[i]]);
        }
    }
    for (int64_t i = 0; i < n; i++) assert_int_equal(begins[i], 1);
    free(begins);
    close_problem(p);
}

/* A rank that does not come is waited for so long, and named by its step. */
static void who_waits_in_vain_says_for_whom(void **state)
{
    (void)state;
    problem *p = open_problem("poisson2d:30", 4, 4, 1);
    for (int z = 0; z < 4; z++) p->rank[z].round.limit_ns = 1000000000;
    const tct_task_queue *T = p->rank[1].round.queue;
    run_once(&p->rank[1], 0);
    assert_true(T->late != 0);
    assert_int_equal(T->missing, 1); /* step 0: rank 0 */
    assert_true(T->left == 0 && T->ticket == 0);
    close_problem(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_solve_as_the_whole_does),
        cmocka_unit_test(parts_fit_together),
        cmocka_unit_test(who_waits_in_vain_says_for_whom),
    };
    TEST_MPI_MAIN(tests);
}
