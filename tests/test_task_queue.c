/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_task_queue.c - solves of a plan with threads as the blocks of a
 * GPU. They take tasks and wait for each other by the kernel's source
 * (trisolve/gpu/task_queue.h), with delays, and in different numbers. Checked
 * by ThreadSanitizer, too. The plan: kinds of factors, refused ones, and nodes
 * that are narrowed.
 *
 * RUN: np=1 */
#include "base/base.h"
#include "device/parallel.h"
#include "factor/factor.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include "plan_host.h"
#include "said.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <tacit/tacit.h>
#include <unistd.h>

/* --- factors -------------------------------------------------------------- */

/* A matrix, its factor of kind LLT, and another kind of the same factor. */
typedef struct {
    tacit_matrix *m;
    tacit_factor *F;
    tacit_factor_panels panels;
    double *value, *upper, *diagonal;
} factor;

static factor open_factor(const char *name)
{
    factor f = {.panels = {.size = sizeof f.panels}};
    OK(tacit_matrix_open(test_world(), name, NULL, &f.m));
    OK(tacit_factor_create(f.m, NULL, &f.F));
    OK(tacit_factor_view(f.F, &f.panels));
    return f;
}

/* The same factor as `kind`: L D^-1/2, D, or L D^-1/2, D^1/2 L'. */
static void become(factor *f, tacit_factor_kind kind)
{
    tacit_factor_panels *P = &f->panels;
    const size_t stored = (size_t)P->value_start[P->panels];
    f->value = calloc(stored, sizeof(double));
    f->upper = calloc(stored, sizeof(double));
    f->diagonal = calloc((size_t)P->rows, sizeof(double));
    assert_true(f->value && f->upper && f->diagonal);
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++) {
            const int64_t q = j - P->first[K], at = P->value_start[K] + q * h;
            const double d = P->value[at + q];
            f->diagonal[j] = d * d;
            for (int64_t i = q; i < h; i++) {
                f->value[at + i] = P->value[at + i] / d;
                f->upper[at + i] = P->value[at + i] * d;
            }
        }
    }
    P->kind = kind;
    P->value = f->value;
    if (kind == TACIT_FACTOR_LU) P->upper = f->upper;
    else P->diagonal = f->diagonal;
}

static void close_factor(factor *f)
{
    free(f->value);
    free(f->upper);
    free(f->diagonal);
    tacit_factor_destroy(&f->F);
    tacit_matrix_destroy(&f->m);
}

static tct_tri_plan plan_of(const factor *f, int workers)
{
    TCT_THREADS_AT_MOST(1);
    tct_tri_plan plan;
    OK(tct_tri_plan_create(&f->panels, workers, &plan));
    return plan;
}

/* --- a solve by threads --------------------------------------------------- */

enum { WORKERS_MOST = 24 };

typedef struct {
    plan_solve s;
    tct_round round;
    int32_t down; /* tasks of the first pass */
    int workers, seed;
    bool tardy;
} solve;

typedef struct {
    const solve *of;
    int number;
    pthread_t thread;
} worker;

/* Be late now and then. */
static void wander(const worker *w, uint64_t call)
{
    const uint64_t dice =
        tct_mix((uint64_t)(w->of->seed * 1000 + w->number) * 1000003u + call);
    if (!w->of->tardy) return;
    if (dice % 7 == 0) usleep((useconds_t)(dice >> 32) % 200);
    else if (dice % 3 == 0) sched_yield();
}

static void *work(void *arg)
{
    const worker *w = arg;
    const solve *S = w->of;
    uint64_t call = 0;
    tct_task t;
    wander(w, call++); /* whoever comes first */
    tct_worker_state hand = tct_task_queue_begin(&S->round);
    for (;;) {
        wander(w, call++);
        const int32_t k = tct_task_queue_next(&S->round, &hand, &t);
        if (k < 0) break;
        wander(w, call++);
        if (!tct_task_queue_await(&S->round, &hand, &t)) break;
        wander(w, call++);
        do_task(&S->s, &t, k >= S->down);
        wander(w, call++);
        tct_task_queue_done(&S->round, &t);
    }
    tct_task_queue_end(&S->round, &hand, (unsigned)S->workers);
    return NULL;
}

static void run(const solve *S)
{
    worker w[WORKERS_MOST];
    for (int k = 0; k < S->workers; k++) {
        w[k] = (worker){.of = S, .number = k};
        if (pthread_create(&w[k].thread, NULL, work, &w[k])) abort();
    }
    for (int k = 0; k < S->workers; k++) pthread_join(w[k].thread, NULL);
}

static double *vector_of(int64_t n, uint64_t seed)
{
    double *v = malloc((size_t)(n > 0 ? n : 1) * sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++)
        v[i] = seed ? tct_uniform((uint64_t)i, seed) - 0.5 : NAN;
    return v;
}

static solve open_solve(const tct_tri_plan *plan, int columns)
{
    const tct_cut *cut = &plan->cut[columns == 1 ? TCT_FOR_ONE : TCT_FOR_MANY];
    const int64_t n = plan->rows * columns;
    solve S = {.s = {.plan = plan,
                     .columns = columns,
                     .b = vector_of(n, 5),
                     .y = vector_of(n, 0),
                     .x = vector_of(n, 0),
                     .u = vector_of(plan->updates * columns, 0)},
               .down = cut->down,
               .workers = 3,
               .tardy = true};
    const size_t counters = (size_t)tct_counters(plan->nodes);
    S.round = (tct_round){.queue = calloc(1, sizeof(tct_task_queue)),
                          .task = cut->task,
                          .counter = calloc(counters, sizeof(uint64_t)),
                          .due = cut->due,
                          .upper = tct_counts_up(plan->nodes, 0),
                          .end = cut->down + cut->up,
                          .passes = TCT_DOWN | TCT_UP,
                          .limit_ns = UINT64_C(60000000000)};
    assert_true(S.round.queue && S.round.counter);
    return S;
}

static void close_solve(solve *S)
{
    free((void *)(uintptr_t)S->s.b);
    free(S->s.y);
    free(S->s.x);
    free(S->s.u);
    free(S->round.queue);
    free(S->round.counter);
}

/* Is X what the host makes of B? */
static void check_solution(const factor *f, const solve *S)
{
    const int64_t n = f->panels.rows;
    const int c = S->s.columns;
    const int32_t *original = f->panels.original;
    double *B = vector_of(n * c, 0), *X = vector_of(n * c, 0);
    double off = 0.0, norm = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < c; j++) B[original[i] + j * n] = S->s.b[i * c + j];
    OK(tacit_factor_solve(f->F, c, B, (size_t)n, X, (size_t)n));
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < c; j++) {
            const double x = X[original[i] + j * n];
            off = fmax(off, fabs(S->s.x[i * c + j] - x));
            norm = fmax(norm, fabs(x));
            if (isnan(S->s.x[i * c + j])) off = INFINITY;
        }
    if (!(off <= 1e-12 * norm)) fail_msg("x is off by %g of %g", off, norm);
    free(B);
    free(X);
}

/* Counters are those of so many passes, and the rest is as it was. */
static void check_turns(const solve *S, uint64_t down, uint64_t up)
{
    const tct_task_queue *T = S->round.queue;
    assert_true(T->down == down && T->up == up);
    assert_true(T->left == 0 && T->ticket == 0 && T->late == 0);
    for (int32_t k = 0; k < tct_counters(S->s.plan->nodes); k++)
        assert_true(S->round.counter[k] ==
                    (k < S->round.upper ? down : up) * S->round.due[k]);
}

/* --- tests ---------------------------------------------------------------- */

static void every_kind_is_solved(void **state)
{
    static const char *const names[] = {"poisson2d:48", "poisson3d:9",
                                        "elasticity3d:5", "poisson2d:1x700"};
    static const tacit_factor_kind kinds[] = {
        TACIT_FACTOR_LLT, TACIT_FACTOR_LDLT, TACIT_FACTOR_LU};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 3; k++) {
            factor f = open_factor(names[i]);
            if (k > 0) become(&f, kinds[k]);
            tct_tri_plan plan = plan_of(&f, 256);
            for (int c = 1; c <= 3; c += 2) {
                solve S = open_solve(&plan, c);
                S.tardy = false;
                run(&S);
                check_solution(&f, &S);
                check_turns(&S, 1, 1);
                close_solve(&S);
            }
            tct_tri_plan_clear(&plan);
            close_factor(&f);
        }
}

/* Solves one after another with what counters and turns the last one has left,
 * by more or fewer workers, in both passes or one: the same bits each time. */
static void solves_in_a_row_have_the_same_bits(void **state)
{
    static const int workers[] = {3, 1, 7, 2, WORKERS_MOST, 4};
    (void)state;
    factor f = open_factor("poisson2d:56");
    tct_tri_plan plan = plan_of(&f, 256);
    assert_true(plan.branches > 4 && plan.depth > 3);
    solve S = open_solve(&plan, 1);
    const size_t bytes = (size_t)plan.rows * sizeof(double);
    double *first = NULL;
    for (int r = 0; r < 12; r++) {
        const int32_t end = S.round.end;
        memset(S.s.x, 0xff, bytes);
        S.workers = workers[r % 6];
        S.seed = r;
        if (r % 3 == 2) { /* by itself, and what is below it before */
            S.round.passes = TCT_DOWN;
            S.round.end = S.down;
            run(&S);
            S.round.passes = TCT_UP;
            S.round.begin = S.down;
            S.round.end = end;
        }
        run(&S);
        S.round.passes = TCT_DOWN | TCT_UP;
        S.round.begin = 0;
        check_turns(&S, (uint64_t)r + 1, (uint64_t)r + 1);
        if (first) assert_memory_equal(first, S.s.x, bytes);
        else first = memcpy(vector_of(plan.rows, 0), S.s.x, bytes);
    }
    check_solution(&f, &S);
    free(first);
    close_solve(&S);
    tct_tri_plan_clear(&plan);
    close_factor(&f);
}

/* As before the first solve. */
static void begin_again(solve *S)
{
    memset(S->round.queue, 0, sizeof *S->round.queue);
    memset(S->round.counter, 0,
           (size_t)tct_counters(S->s.plan->nodes) * sizeof(uint64_t));
}

/* Is the wait of task `k` the late one? A worker that gets no processor for so
 * long makes another one late. */
static bool names_late(solve *S, int32_t k)
{
    const tct_task *t = S->round.task;
    S->round.limit_ns = 400000000;
    run(S);
    const int32_t late = tct_task_queue_late(&S->round);
    assert_true(S->round.queue->late == 1 && S->round.queue->left == 0);
    const bool named = late >= 0 && late <= k && t[late].wait == t[k].wait;
    if (!named) print_message("task %d is late, not %d\n", (int)late, (int)k);
    begin_again(S);
    return named;
}

/* A task waits for more than ever comes: all end, and it is named. */
static void a_wait_in_vain_ends_all_and_is_named(void **state)
{
    (void)state;
    factor f = open_factor("poisson2d:56");
    tct_tri_plan plan = plan_of(&f, 256);
    solve S = open_solve(&plan, 1);
    uint32_t *due = plan.cut[TCT_FOR_ONE].due;
    const tct_task *t = S.round.task;
    int32_t k = S.down - 1;
    while (k > 0 && t[k].wait < 0) k--;
    assert_true(t[k].wait >= 0);
    due[t[k].wait]++;
    int tries = 1;
    while (tries < 8 && !names_late(&S, k)) tries++;
    assert_true(tries < 8);
    due[t[k].wait]--; /* and then it goes on from the beginning */
    S.round.limit_ns = UINT64_C(60000000000);
    run(&S);
    check_solution(&f, &S);
    close_solve(&S);
    tct_tri_plan_clear(&plan);
    close_factor(&f);
}

/* Every task comes after all that it waits for, and every column is done
 * once. */
static void tasks_come_after_what_they_wait_for(void **state)
{
    (void)state;
    factor f = open_factor("poisson3d:9");
    for (int workers = 1; workers <= 4096; workers *= 64) {
        tct_tri_plan plan = plan_of(&f, workers);
        for (int c = 0; c < TCT_CUTS; c++) {
            const tct_cut *cut = &plan.cut[c];
            uint32_t *came =
                calloc((size_t)tct_counters(plan.nodes), sizeof(uint32_t));
            int64_t rows = 0;
            assert_non_null(came);
            for (int32_t k = 0; k < cut->down + cut->up; k++) {
                const tct_task *t = &cut->task[k];
                if (t->wait >= 0)
                    assert_int_equal(came[t->wait], cut->due[t->wait]);
                if (t->tell >= 0) came[t->tell]++;
                if (t->what >= 0 && k >= cut->down) rows += t->to - t->from;
            }
            for (int32_t l = 0; l < plan.levels; l++)
                for (int32_t k = plan.level[l].from; k < plan.level[l].to; k++)
                    rows += plan.node[plan.order[k]].w;
            assert_int_equal(rows, plan.rows);
            free(came);
        }
        tct_tri_plan_clear(&plan);
    }
    close_factor(&f);
}

/* Where a block is badly conditioned it is cut, and x is as good as the
 * host's. */
static void bad_blocks_are_made_narrower(void **state)
{
    enum { N = 11 };
    int64_t ptr[N + 1], cols[N * N];
    double vals[N * N];
    (void)state;
    for (int i = 0; i <= N; i++) ptr[i] = N * i;
    for (int i = 0; i < N * N; i++) {
        cols[i] = i % N;
        vals[i] = 1.0 / (1 + i / N + i % N); /* Hilbert's */
    }
    factor f = {.panels = {.size = sizeof f.panels}};
    OK(tacit_matrix_from_rows(test_world(), N, 0, N, ptr, cols, vals, &f.m));
    OK(tacit_factor_create(f.m, NULL, &f.F));
    OK(tacit_factor_view(f.F, &f.panels));
    tct_tri_plan plan = plan_of(&f, 16);
    assert_true(plan.narrowed > 0 && plan.nodes > 1);
    assert_true(plan.condition <= TCT_PLAN_CONDITION);
    solve S = open_solve(&plan, 1);
    run(&S);
    double worst = 0.0, norm = 0.0;
    for (int i = 0; i < N; i++) {
        const int32_t *old = f.panels.original;
        double r = S.s.b[i];
        for (int j = 0; j < N; j++) r -= vals[old[i] * N + old[j]] * S.s.x[j];
        worst = fmax(worst, fabs(r));
        norm = fmax(norm, fabs(S.s.x[i]));
    }
    if (!(worst <= 1e-13 * norm)) /* of || A || || x || */
        fail_msg("residual %g, x of %g", worst, norm);
    close_solve(&S);
    tct_tri_plan_clear(&plan);
    close_factor(&f);
}

static void what_is_no_whole_factor_is_refused(void **state)
{
    (void)state;
    tct_tri_plan plan;
    factor f = open_factor("poisson2d:12");
    f.panels.kind = TACIT_FACTOR_IC0;
    REFUSES(TACIT_UNSUPPORTED, "incomplete",
            tct_tri_plan_create(&f.panels, 16, &plan));
    f.panels.kind = TACIT_FACTOR_LLT;
    /* three columns; the first has rows 1 and 2, the second not row 2 */
    const int64_t first[] = {0, 1, 2, 3}, rows[] = {0, 3, 4, 5};
    const int32_t parent[] = {1, -1, -1}, row[] = {0, 1, 2, 1, 2},
                  node[] = {0, 0, 0};
    const double value[] = {1, 1, 1, 1, 1};
    const tacit_factor_panels holes = {.size = sizeof holes,
                                       .rows = 3,
                                       .panels = 3,
                                       .first = first,
                                       .parent = parent,
                                       .row_start = rows,
                                       .row = row,
                                       .value_start = rows,
                                       .value = value,
                                       .leaves = 1,
                                       .node = node};
    REFUSES(TACIT_UNSUPPORTED, "panel 0 has row 2, and its parent, panel 1",
            tct_tri_plan_create(&holes, 16, &plan));
    f.panels.first = NULL;
    REFUSES(TACIT_INVALID, "", tct_tri_plan_create(&f.panels, 16, &plan));
    close_factor(&f);
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    TCT_THREADS_AT_MOST(1);
    factor f = open_factor("poisson2d:12");
    const size_t before = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    int failures = 0;
    for (; status != TACIT_OK; failures++) {
        tct_tri_plan plan;
        tct_memory_fail_at(failures + 1);
        status = tct_tri_plan_create(&f.panels, 16, &plan);
        tct_memory_fail_at(0);
        if (status != TACIT_OK) assert_int_equal(status, TACIT_NO_MEMORY);
        else tct_tri_plan_clear(&plan);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(failures > 20);
    close_factor(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_solved),
        cmocka_unit_test(solves_in_a_row_have_the_same_bits),
        cmocka_unit_test(a_wait_in_vain_ends_all_and_is_named),
        cmocka_unit_test(tasks_come_after_what_they_wait_for),
        cmocka_unit_test(bad_blocks_are_made_narrower),
        cmocka_unit_test(no_memory_is_an_error_and_no_leak),
        cmocka_unit_test(what_is_no_whole_factor_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
