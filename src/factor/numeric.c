/* SPDX-License-Identifier: BSD-3-Clause
 * factor/numeric.c - the values of L by the multifrontal method [DR83]: a
 * front's panels get the entries of A in its columns and its children's
 * updates; they are eliminated, and the update of the rows below, a square, is
 * passed to the parent. Kind LU has two of all, for L and U'.
 *
 * Squares are kept on two stacks by the parity of the front's depth: children's
 * on top of one, the parent's on the other. Subtrees of similar work are tasks
 * for threads of the factor, each with its own stacks; fronts above the tasks
 * use BLAS threads. */
#include "device/parallel.h"
#include "factor/eliminate.h"
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const what = "the values of a factor";

/* Fronts in the order of postorder, begin to end - 1: a subtree, or all. */
typedef struct {
    int32_t begin, end;
    double flops;
    int64_t stack[2]; /* predicted stack sizes, in values            */
    int64_t failed;   /* column of a failed pivot, from 1             */
} task;

enum { TASKS_EACH = 8 }; /* per thread */

/* Only squares of fronts in tasks are on stacks. */
typedef enum { IN_TASK = 0, ROOT_OF_TASK, ABOVE_TASKS } standing;

typedef struct {
    tacit_factor *L;
    const tct_fronts *F;
    const tct_entries *A;
    const tct_dense *dense;
    int sides; /* 2 if U' is stored, else 1 */
    double *side[2];
    int32_t *child, *next; /* [fronts] first child, next sibling */
    double **square; /* [fronts] squares, sides in sequence               */
    standing
        *standing_of; /* [fronts]                                          */
    task *tasks;
    int count, threads;
    int64_t scaled; /* scratch of a worker for kind LDLT */
} numeric;

/* State of a thread. */
typedef struct {
    double *stack[2];
    int64_t top[2];
    int32_t *at;    /* [rows] position of a row in the front */
    double *scaled; /* kind LDLT: rows of L D                          */
} worker;

/* --- a front -------------------------------------------------------------- */

/* The lower triangle of a square of m rows is stored in blocks of columns, each
 * from its first row on, so that little more than half is stored. */
static int64_t block_of(int64_t m)
{
    return m > 8 * 64 ? (m + 7) / 8 : m < 64 ? m : 64;
}

/* Values of the first `blocks` blocks, all full. */
static int64_t values_of(int64_t m, int64_t blocks)
{
    const int64_t w = block_of(m);
    return w * (blocks * m - w * (blocks * (blocks - 1) / 2));
}

/* Values of one side of front `f`'s square. */
static int64_t side_of(const tct_fronts *F, int32_t f)
{
    const int64_t m = tct_front_below(F, f), w = block_of(m);
    if (m == 0) return 0;
    const int64_t full = m / w, rest = m - full * w;
    return values_of(m, full) + rest * rest;
}

static int64_t square_of(const numeric *N, int32_t f)
{
    return N->sides * side_of(N->F, f);
}

/* Column `k` of a square, indexed by row. */
static double *square_column(const double *square, int64_t m, int64_t k)
{
    const int64_t w = block_of(m), before = k / w * w;
    return (double *)(uintptr_t)square + values_of(m, k / w) +
           (k - before) * (m - before) - before;
}

/* Offset of column `c` of front `f` in a side, indexed by row. */
static int64_t column_at(const tacit_factor *L, const tct_fronts *F, int32_t f,
                         int64_t c)
{
    const int32_t first = L->panel[f];
    const int64_t width = L->first[first + 1] - L->first[first];
    const int32_t q = first + (int32_t)(c / width);
    const int64_t before = L->first[q] - F->first[f];
    const int64_t height = L->row_start[q + 1] - L->row_start[q];
    return L->value_start[q] + (c - before) * height - before;
}

static void find_places(const tct_fronts *F, int32_t f, int32_t *place)
{
    int32_t i = 0;
    for (int64_t j = F->first[f]; j < F->first[f + 1]; j++) place[j] = i++;
    for (int64_t k = F->start[f]; k < F->start[f + 1]; k++)
        place[F->below[k]] = i++;
}

/* Clear the columns of front `f` and add the entries of A. */
static void add_matrix(const numeric *N, int32_t f, const int32_t *place)
{
    const tacit_factor *L = N->L;
    const tct_fronts *F = N->F;
    const int64_t from = L->value_start[L->panel[f]],
                  to = L->value_start[L->panel[f + 1]];
    for (int s = 0; s < N->sides; s++)
        memset(N->side[s] + from, 0, (size_t)(to - from) * sizeof(double));
    for (int64_t j = F->first[f]; j < F->first[f + 1]; j++) {
        const int32_t old = L->order.old[j];
        const int64_t at = column_at(L, F, f, j - F->first[f]);
        for (int64_t k = N->A->ptr[old]; k < N->A->ptr[old + 1]; k++) {
            const int32_t i = L->order.now[N->A->col[k]];
            if (i < j) continue;
            N->side[0][at + place[i]] += N->A->mirror[k];
            if (N->sides > 1) N->side[1][at + place[i]] += N->A->value[k];
        }
    }
}

/* Add x [n] to y at `place` of `row` [n]. */
static void scatter(int64_t n, const double *x, const int32_t *row,
                    const int32_t *place, double *y)
{
    const int32_t first = place[row[0]];
    if (place[row[n - 1]] - first == n - 1)
        for (int64_t i = 0; i < n; i++) y[first + i] += x[i];
    else
        for (int64_t i = 0; i < n; i++) y[place[row[i]]] += x[i];
}

/* Add the columns of child `c`'s square, from number `from` on, that front `f`
 * eliminates, or else those beyond, to its square. Returns the next column. */
static int64_t add_child(const numeric *N, int32_t f, int32_t c, int64_t from,
                         bool beyond, const int32_t *place)
{
    const tct_fronts *F = N->F;
    const int64_t m = tct_front_below(F, c), w = tct_front_width(F, f);
    const int64_t below = tct_front_below(F, f);
    const int32_t *row = F->below + F->start[c];
    int64_t k = from;
    for (; k < m; k++) {
        const int64_t j = place[row[k]];
        if (!beyond && j >= w) break;
        for (int s = 0; s < N->sides; s++) {
            double *to = beyond ? N->square[f] + s * side_of(F, f)
                                : N->side[s] + column_at(N->L, F, f, j);
            const double *by = N->square[c] + s * side_of(F, c);
            scatter(m - k, square_column(by, m, k) + k, row + k, place,
                    beyond ? square_column(to, below, j - w) - w : to);
        }
    }
    return k;
}

/* Panel `q` as a strip. */
static tct_strip strip_of(const numeric *N, int32_t q)
{
    const tacit_factor *L = N->L;
    const int64_t h = L->row_start[q + 1] - L->row_start[q];
    return (tct_strip){
        .width = L->first[q + 1] - L->first[q],
        .height = h,
        .ld = h,
        .lower = L->value + L->value_start[q],
        .upper = N->sides > 1 ? L->upper + L->value_start[q] : NULL,
        .diagonal = L->diagonal ? L->diagonal + L->first[q] : NULL};
}

/* Eliminate panel `q` of front `f` after the panels before it. Returns the
 * failed column, from 1. */
static int64_t eliminate_panel(const numeric *N, int32_t f, int32_t q,
                               double *scaled)
{
    const tct_strip now = strip_of(N, q);
    for (int32_t p = N->L->panel[f]; p < q; p++) {
        const tct_strip all = strip_of(N, p),
                        by = tct_strip_below(&all, all.height - now.height);
        tct_strip_update(N->dense, &by, 1.0, &now, scaled);
    }
    const int64_t bad = tct_strip_eliminate(N->dense, &now, scaled);
    return bad ? N->L->first[q] + bad : 0;
}

/* Update the square of front `f` by panel `q`; the first panel initializes
 * it. */
static void form_by_panel(const numeric *N, int32_t f, int32_t q,
                          double *scaled)
{
    const double beta = q > N->L->panel[f] ? 1.0 : 0.0;
    const int64_t m = tct_front_below(N->F, f), block = block_of(m);
    const tct_strip all = strip_of(N, q);
    for (int64_t j = 0; j < m; j += block) {
        const tct_strip by = tct_strip_below(&all, all.height - m + j);
        double *at = square_column(N->square[f], m, j) + j;
        const tct_strip to = {.width = m - j < block ? m - j : block,
                              .height = m - j,
                              .ld = m - j,
                              .lower = at,
                              .upper =
                                  N->sides > 1 ? at + side_of(N->F, f) : NULL};
        tct_strip_update(N->dense, &by, beta, &to, scaled);
    }
}

/* The square of front `f` from its own columns. */
static void form_square(const numeric *N, int32_t f, double *scaled)
{
    for (int32_t q = N->L->panel[f]; q < N->L->panel[f + 1]; q++)
        form_by_panel(N, f, q, scaled);
}

/* Allocate the square of front `f`. */
static tacit_status push_square(const numeric *N, int32_t f, worker *w)
{
    const int side = N->F->depth[f] & 1;
    if (N->standing_of[f] != IN_TASK)
        return N->square[f] ? TACIT_OK
                            : TCT_ALLOC(square_of(N, f), what, &N->square[f]);
    N->square[f] = w->stack[side] + w->top[side];
    w->top[side] += square_of(N, f);
    return TACIT_OK;
}

static void pop_square(const numeric *N, int32_t f, worker *w)
{
    if (N->standing_of[f] != IN_TASK) tct_free(N->square[f]);
    else w->top[N->F->depth[f] & 1] -= square_of(N, f);
    N->square[f] = NULL;
}

static tacit_status eliminate(const numeric *N, int32_t f, worker *w,
                              int64_t *failed)
{
    const tacit_factor *L = N->L;
    const bool above = tct_front_below(N->F, f) > 0;
    find_places(N->F, f, w->at);
    add_matrix(N, f, w->at);
    for (int32_t c = N->child[f]; c >= 0; c = N->next[c])
        add_child(N, f, c, 0, false, w->at);
    for (int32_t q = L->panel[f]; q < L->panel[f + 1] && !*failed; q++)
        *failed = eliminate_panel(N, f, q, w->scaled);
    if (above) {
        TRY(push_square(N, f, w));
        form_square(N, f, w->scaled);
    }
    for (int32_t c = N->child[f]; c >= 0; c = N->next[c]) {
        const int32_t *row = N->F->below + N->F->start[c];
        int64_t k = 0;
        while (k < tct_front_below(N->F, c) && row[k] < N->F->first[f + 1]) k++;
        add_child(N, f, c, k, true, w->at);
        pop_square(N, c, w);
    }
    return TACIT_OK;
}

/* --- tasks ---------------------------------------------------------------- */

/* Children in reverse order of the postorder, as they leave a stack. */
static void list_children(const numeric *N)
{
    for (int32_t f = 0; f < N->F->count; f++) N->child[f] = -1;
    for (int32_t k = 0; k < N->F->count; k++) {
        const int32_t f = N->F->postorder[k], up = N->F->parent[f];
        if (up < 0) continue;
        N->next[f] = N->child[up];
        N->child[up] = f;
    }
}

/* Sum flops and fronts over subtrees. */
static void sum_up(const tct_fronts *F, double *flops, int32_t *fronts)
{
    for (int32_t f = 0; f < F->count; f++) {
        flops[f] = tct_front_flops(F, f);
        fronts[f] = 1;
    }
    for (int32_t f = 0; f < F->count; f++)
        if (F->parent[f] >= 0) {
            flops[F->parent[f]] += flops[f];
            fronts[F->parent[f]] += fronts[f];
        }
}

/* Replace the largest subtree by its children's, until there are enough
 * tasks. */
static void open_largest(numeric *N, const double *flops, const int32_t *fronts)
{
    while (N->count < N->threads * TASKS_EACH) {
        task *largest = &N->tasks[0];
        for (int i = 1; i < N->count; i++)
            if (N->tasks[i].flops > largest->flops) largest = &N->tasks[i];
        const int32_t root = N->F->postorder[largest->end - 1];
        int32_t c = N->child[root], end = largest->end - 1;
        if (c < 0) break;
        N->standing_of[root] = ABOVE_TASKS;
        *largest = (task){end - fronts[c], end, flops[c], .failed = 0};
        while (end -= fronts[c], (c = N->next[c]) >= 0)
            N->tasks[N->count++] =
                (task){end - fronts[c], end, flops[c], .failed = 0};
    }
}

static int by_flops(const void *a, const void *b)
{
    const task *x = a, *y = b;
    return (x->flops < y->flops) - (x->flops > y->flops);
}

/* Predict the stack heights of a task. */
static void predict_stacks(const numeric *N, task *t)
{
    const tct_fronts *F = N->F;
    int64_t now[2] = {0, 0};
    for (int32_t k = t->begin; k < t->end; k++) {
        const int32_t f = F->postorder[k], side = F->depth[f] & 1;
        if (N->standing_of[f] == IN_TASK) now[side] += square_of(N, f);
        if (now[side] > t->stack[side]) t->stack[side] = now[side];
        for (int32_t c = N->child[f]; c >= 0; c = N->next[c])
            if (N->standing_of[c] == IN_TASK) now[1 - side] -= square_of(N, c);
    }
}

/* Make tasks for each thread; for one thread, the whole forest. */
static tacit_status distribute(numeric *N)
{
    const tct_fronts *F = N->F;
    double *flops = NULL;
    int32_t *fronts = NULL;
    N->tasks[0] = (task){.begin = 0, .end = F->count};
    N->count = 1;
    if (N->threads > 1) {
        TRY(TCT_ALLOC(F->count, what, &flops));
        const tacit_status status = TCT_ALLOC(F->count, what, &fronts);
        if (status >= 0) {
            sum_up(F, flops, fronts);
            N->count = 0;
            for (int32_t k = F->count; k > 0;
                 k -= fronts[F->postorder[k - 1]]) {
                const int32_t r = F->postorder[k - 1];
                N->tasks[N->count++] =
                    (task){k - fronts[r], k, flops[r], .failed = 0};
            }
            open_largest(N, flops, fronts);
            qsort(N->tasks, (size_t)N->count, sizeof *N->tasks, by_flops);
            for (int i = 0; i < N->count; i++)
                N->standing_of[F->postorder[N->tasks[i].end - 1]] =
                    ROOT_OF_TASK;
        }
        TCT_FREE(flops, fronts);
        TRY(status);
    }
    for (int i = 0; i < N->count; i++) predict_stacks(N, &N->tasks[i]);
    return TACIT_OK;
}

/* --- memory --------------------------------------------------------------- */

/* Peak of the squares that are not on stacks: after all tasks, and above
 * them. */
static double predict_above(const numeric *N)
{
    const tct_fronts *F = N->F;
    double now = 0.0, most = 0.0;
    for (int32_t f = 0; f < F->count; f++)
        if (N->standing_of[f] == ROOT_OF_TASK) now += (double)square_of(N, f);
    for (int32_t k = 0; k < F->count; k++) {
        const int32_t f = F->postorder[k];
        if (N->standing_of[f] != ABOVE_TASKS) continue;
        now += (double)square_of(N, f);
        most = fmax(most, now);
        for (int32_t c = N->child[f]; c >= 0; c = N->next[c])
            now -= (double)square_of(N, c);
    }
    return fmax(most, now);
}

/* Peak of the values other than L's. */
static double predict(const numeric *N)
{
    const double places = (double)N->F->rows / 2.0; /* in units of values */
    double stacks = 0.0;
    for (int side = 0; side < 2; side++) {
        double most = 0.0;
        for (int i = 0; i < N->count; i++)
            most = fmax(most, (double)N->tasks[i].stack[side]);
        stacks += most;
    }
    return predict_above(N) +
           (double)N->threads * (stacks + places + (double)N->scaled);
}

tacit_status tct_factor_require_memory(const tacit_factor *L,
                                       const tct_entries *A, double own,
                                       double more)
{
    const double room = (double)tct_memory_available();
    if (own + more <= room) return TACIT_OK;
    char why[60];
    snprintf(why, sizeof why, ", for %" PRId64 " entries of L",
             L->info.nonzeros);
    return tct_factor_refuse(own + more, (double)A->rows,
                             (double)A->ptr[A->rows], why);
}

static tacit_status require_memory(numeric *N)
{
    tacit_factor_info *info = &N->L->info;
    const double own =
                     sizeof(double) *
                     (double)(info->stored + (N->scaled > 0 ? info->rows : 0)),
                 more = sizeof(double) * predict(N);
    info->peak_bytes = info->bytes + more;
    return tct_factor_require_memory(N->L, N->A, own, more);
}

static tacit_status open_worker(const numeric *N, worker *w)
{
    int64_t most[2] = {0, 0};
    for (int i = 0; i < N->count; i++)
        for (int side = 0; side < 2; side++)
            if (N->tasks[i].stack[side] > most[side])
                most[side] = N->tasks[i].stack[side];
    TRY(TCT_ALLOC(N->F->rows, what, &w->at));
    TRY(TCT_ALLOC(N->scaled, what, &w->scaled));
    TRY(TCT_ALLOC(most[0], what, &w->stack[0]));
    return TCT_ALLOC(most[1], what, &w->stack[1]);
}

static void close_worker(worker *w)
{
    TCT_FREE(w->at, w->scaled, w->stack[0], w->stack[1]);
}

/* --- factorization -------------------------------------------------------- */

/* The pivot of column `failed`, from 1. */
static double pivot_of(const tacit_factor *L, int64_t failed)
{
    int32_t q = 0;
    while (L->first[q + 1] < failed) q++;
    const int64_t j = failed - 1 - L->first[q];
    const int64_t h = L->row_start[q + 1] - L->row_start[q];
    return L->value[L->value_start[q] + j * h + j];
}

static tacit_status do_task(const numeric *N, task *t, worker *w)
{
    tacit_status status = TACIT_OK;
    w->top[0] = w->top[1] = 0;
    for (int32_t k = t->begin; status >= 0 && !t->failed && k < t->end; k++)
        status = eliminate(N, N->F->postorder[k], w, &t->failed);
    return status;
}

/* Task queue of the workers. */
typedef struct {
    const numeric *N;
    atomic_int next; /* next task */
    atomic_bool starved;
} queue_of_tasks;

static void work(void *of, int64_t part)
{
    queue_of_tasks *Q = of;
    const numeric *N = Q->N;
    worker w = {.at = NULL};
    int i = atomic_fetch_add(&Q->next, 1);
    (void)part;
    if (i >= N->count) return; /* the queue is empty */
    tacit_status status = open_worker(N, &w);
    for (; status >= 0 && i < N->count; i = atomic_fetch_add(&Q->next, 1))
        status = do_task(N, &N->tasks[i], &w);
    if (status < 0) atomic_store(&Q->starved, true);
    close_worker(&w);
}

/* Run the tasks on threads; reports the lowest failed column. */
static tacit_status do_tasks(const numeric *N, int64_t *failed)
{
    queue_of_tasks Q = {.N = N};
    N->dense->begin(1);
    tct_parallel_shared(work, &Q);
    N->dense->end();
    if (atomic_load(&Q.starved)) /* another thread has set the error */
        FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    for (int i = 0; i < N->count; i++)
        if (N->tasks[i].failed && (!*failed || N->tasks[i].failed < *failed))
            *failed = N->tasks[i].failed;
    return TACIT_OK;
}

/* Eliminate the fronts above tasks with BLAS threads. */
static tacit_status do_above(const numeric *N, int64_t *failed)
{
    worker w = {.at = NULL};
    N->dense->begin(N->threads);
    tacit_status status = TCT_ALLOC(N->F->rows, what, &w.at);
    if (status >= 0) status = TCT_ALLOC(N->scaled, what, &w.scaled);
    for (int32_t k = 0; status >= 0 && !*failed && k < N->F->count; k++)
        if (N->standing_of[N->F->postorder[k]] == ABOVE_TASKS)
            status = eliminate(N, N->F->postorder[k], &w, failed);
    close_worker(&w);
    N->dense->end();
    return status;
}

/* Most rows of L D in a panel or block of a square. */
static int64_t most_scaled(const numeric *N)
{
    int64_t width = 0, rows = 0;
    for (int32_t q = 0; q < N->L->panel[N->F->count]; q++)
        if (N->L->first[q + 1] - N->L->first[q] > width)
            width = N->L->first[q + 1] - N->L->first[q];
    for (int32_t f = 0; f < N->F->count; f++)
        if (block_of(tct_front_below(N->F, f)) > rows)
            rows = block_of(tct_front_below(N->F, f));
    return width * (width > rows ? width : rows);
}

static tacit_status open_values(numeric *N)
{
    tacit_factor *L = N->L;
    TRY(TCT_ALLOC(L->value_start[L->info.panels], what, &L->value));
    if (N->sides > 1)
        TRY(TCT_ALLOC(L->value_start[L->info.panels], what, &L->upper));
    if (L->panels.kind == TACIT_FACTOR_LDLT)
        TRY(TCT_ALLOC(L->info.rows, what, &L->diagonal));
    N->side[0] = L->value;
    N->side[1] = L->upper;
    return TACIT_OK;
}

static tacit_status open_numeric(numeric *N)
{
    const int64_t fronts = N->F->count;
    TRY(TCT_ALLOC(fronts, what, &N->child));
    TRY(TCT_ALLOC(fronts, what, &N->next));
    TRY(TCT_ALLOC(fronts, what, &N->square));
    memset(N->square, 0, (size_t)fronts * sizeof *N->square);
    TRY(TCT_ALLOC(fronts, what, &N->standing_of));
    memset(N->standing_of, 0, (size_t)fronts * sizeof *N->standing_of);
    TRY(TCT_ALLOC(fronts + 1, what, &N->tasks)); /* at least one element */
    list_children(N);
    N->scaled = N->L->panels.kind == TACIT_FACTOR_LDLT ? most_scaled(N) : 0;
    return distribute(N);
}

static tacit_status run(numeric *N)
{
    tacit_factor *L = N->L;
    int64_t failed = 0;
    TRY(open_numeric(N));
    TRY(require_memory(N));
    TRY(open_values(N));
    TRY(do_tasks(N, &failed));
    if (!failed) TRY(do_above(N, &failed));
    if (!failed) return TACIT_OK;
    if (L->panels.kind != TACIT_FACTOR_LLT)
        return tct_refuse_pivot(L, failed - 1, pivot_of(L, failed), 0.0);
    FAIL(TACIT_INPUT,
         "the matrix is not positive definite: its row %" PRId64
         " comes to the pivot %g: factor it as L D L' (kind ldlt), or solve "
         "another matrix, A + shift I",
         (int64_t)L->order.old[failed - 1] + 1,
         tct_as_given(L, pivot_of(L, failed)));
}

tacit_status tct_factor_numeric(tacit_factor *L, const tct_fronts *F,
                                const tct_entries *A)
{
    const char *why = NULL;
    numeric N = {.L = L, .F = F, .A = A, .threads = tct_parallel_most()};
    N.dense = tct_dense_get(N.threads, &why);
    N.sides = tct_has_upper(L->panels.kind) ? 2 : 1;
    L->info.dense = N.dense->name;
    if (why)
        tct_log(
            TCT_WARN,
            "dense operations of a factor are done by own loops, which take "
            "longer, for want of a LAPACK: %s",
            why);
    const tacit_status status = run(&N);
    for (int32_t f = 0; N.square && N.standing_of && f < F->count; f++)
        if (N.standing_of[f] != IN_TASK) tct_free(N.square[f]);
    TCT_FREE(N.child, N.next, N.square, N.standing_of, N.tasks);
    return status;
}
