/* SPDX-License-Identifier: BSD-3-Clause
 * factor/tct_numeric.c - the values of L by the multifrontal method [DR83]: a
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
#include "factor/front_tasks.h"
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

static const char *const what = "the values of a factor";

/* State of a thread. */
typedef struct {
    double *stack[2];
    int64_t top[2];
    int32_t *at;    /* [rows] position of a row in the front */
    double *scaled; /* kind LDLT: rows of L D                          */
} worker;

/* --- a front -------------------------------------------------------------- */

/* Column `k` of a square, indexed by row. */
static double *square_column(const double *square, int64_t m, int64_t k)
{
    const int64_t w = tct_square_block(m), before = k / w * w;
    return (double *)(uintptr_t)square + tct_square_values(m, k / w) +
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
static void add_matrix(const tct_numeric *N, int32_t f, const int32_t *place)
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
static int64_t add_child(const tct_numeric *N, int32_t f, int32_t c,
                         int64_t from, bool beyond, const int32_t *place)
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
            double *to = beyond ? N->square[f] + s * tct_square_side(F, f)
                                : N->side[s] + column_at(N->L, F, f, j);
            const double *by = N->square[c] + s * tct_square_side(F, c);
            scatter(m - k, square_column(by, m, k) + k, row + k, place,
                    beyond ? square_column(to, below, j - w) - w : to);
        }
    }
    return k;
}

/* Panel `q` as a strip. */
static tct_strip strip_of(const tct_numeric *N, int32_t q)
{
    const tacit_factor *L = N->L;
    const int64_t h = L->row_start[q + 1] - L->row_start[q];
    return (tct_strip){
        .width = L->first[q + 1] - L->first[q],
        .height = h,
        .ld = h,
        .lower = L->value + L->value_start[q],
        .upper = N->sides > 1 ? L->upper + L->value_start[q] : NULL,
        .diagonal = L->diagonal ? L->diagonal + L->first[q] : NULL,
        .other = L->pairs ? L->off_diagonal + L->first[q] : NULL,
        .number = L->pairs ? L->number + L->first[q] : NULL,
        .least = L->least_pivot,
        .row = L->trial_row ? L->trial_row + L->first[q] : NULL,
        .col = L->trial_col ? L->trial_col + L->first[q] : NULL};
}

/* Eliminate panel `q` of front `f` after the panels before it. Returns the
 * failed column, from 1. */
static int64_t eliminate_panel(const tct_numeric *N, int32_t f, int32_t q,
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
static void form_by_panel(const tct_numeric *N, int32_t f, int32_t q,
                          double *scaled)
{
    const double beta = q > N->L->panel[f] ? 1.0 : 0.0;
    const int64_t m = tct_front_below(N->F, f), block = tct_square_block(m);
    const tct_strip all = strip_of(N, q);
    for (int64_t j = 0; j < m; j += block) {
        const tct_strip by = tct_strip_below(&all, all.height - m + j);
        double *at = square_column(N->square[f], m, j) + j;
        const tct_strip to = {
            .width = m - j < block ? m - j : block,
            .height = m - j,
            .ld = m - j,
            .lower = at,
            .upper = N->sides > 1 ? at + tct_square_side(N->F, f) : NULL};
        tct_strip_update(N->dense, &by, beta, &to, scaled);
    }
}

/* The square of front `f` from its own columns. */
static void form_square(const tct_numeric *N, int32_t f, double *scaled)
{
    for (int32_t q = N->L->panel[f]; q < N->L->panel[f + 1]; q++)
        form_by_panel(N, f, q, scaled);
}

/* Allocate the square of front `f`. */
static tacit_status push_square(const tct_numeric *N, int32_t f, worker *w)
{
    const int side = N->F->depth[f] & 1;
    if (N->standing_of[f] != TCT_IN_TASK)
        return N->square[f]
                   ? TACIT_OK
                   : TCT_ALLOC(tct_square_size(N, f), what, &N->square[f]);
    N->square[f] = w->stack[side] + w->top[side];
    w->top[side] += tct_square_size(N, f);
    return TACIT_OK;
}

static void pop_square(const tct_numeric *N, int32_t f, worker *w)
{
    if (N->standing_of[f] != TCT_IN_TASK) tct_free(N->square[f]);
    else w->top[N->F->depth[f] & 1] -= tct_square_size(N, f);
    N->square[f] = NULL;
}

static tacit_status eliminate(const tct_numeric *N, int32_t f, worker *w,
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

/* --- memory --------------------------------------------------------------- */

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

static tacit_status require_memory(tct_numeric *N)
{
    tacit_factor_info *info = &N->L->info;
    const double own =
                     sizeof(double) *
                     (double)(info->stored + (N->scaled > 0 ? info->rows : 0)),
                 more = sizeof(double) * tct_front_tasks_peak(N);
    info->peak_bytes = info->bytes + more;
    return tct_factor_require_memory(N->L, N->A, own, more);
}

static tacit_status open_worker(const tct_numeric *N, worker *w)
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

static tacit_status do_task(const tct_numeric *N, tct_front_task *t, worker *w)
{
    tacit_status status = TACIT_OK;
    w->top[0] = w->top[1] = 0;
    for (int32_t k = t->begin; status >= 0 && !t->failed && k < t->end; k++)
        status = eliminate(N, N->F->postorder[k], w, &t->failed);
    return status;
}

/* Task queue of the workers. */
typedef struct {
    const tct_numeric *N;
    atomic_int next; /* next task */
    atomic_bool starved;
} queue_of_tasks;

static void work(void *of, int64_t part)
{
    queue_of_tasks *Q = of;
    const tct_numeric *N = Q->N;
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
static tacit_status do_tasks(const tct_numeric *N, int64_t *failed)
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
static tacit_status do_above(const tct_numeric *N, int64_t *failed)
{
    worker w = {.at = NULL};
    N->dense->begin(N->threads);
    tacit_status status = TCT_ALLOC(N->F->rows, what, &w.at);
    if (status >= 0) status = TCT_ALLOC(N->scaled, what, &w.scaled);
    for (int32_t k = 0; status >= 0 && !*failed && k < N->F->count; k++)
        if (N->standing_of[N->F->postorder[k]] == TCT_ABOVE_TASKS)
            status = eliminate(N, N->F->postorder[k], &w, failed);
    close_worker(&w);
    N->dense->end();
    return status;
}

/* Most rows of L D in a panel or block of a square. */
static int64_t most_scaled(const tct_numeric *N)
{
    int64_t width = 0, rows = 0;
    for (int32_t q = 0; q < N->L->panel[N->F->count]; q++)
        if (N->L->first[q + 1] - N->L->first[q] > width)
            width = N->L->first[q + 1] - N->L->first[q];
    for (int32_t f = 0; f < N->F->count; f++)
        if (tct_square_block(tct_front_below(N->F, f)) > rows)
            rows = tct_square_block(tct_front_below(N->F, f));
    return width * (width > rows ? width : rows);
}

static tacit_status open_values(tct_numeric *N)
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

static tacit_status open_numeric(tct_numeric *N)
{
    const int64_t fronts = N->F->count;
    TRY(TCT_ALLOC(fronts, what, &N->child));
    TRY(TCT_ALLOC(fronts, what, &N->next));
    TRY(TCT_ALLOC(fronts, what, &N->square));
    memset(N->square, 0, (size_t)fronts * sizeof *N->square);
    TRY(TCT_ALLOC(fronts, what, &N->standing_of));
    memset(N->standing_of, 0, (size_t)fronts * sizeof *N->standing_of);
    TRY(TCT_ALLOC(fronts + 1, what, &N->tasks)); /* at least one element */
    N->scaled = N->L->panels.kind == TACIT_FACTOR_LDLT ? most_scaled(N) : 0;
    return tct_front_tasks_make(N);
}

static tacit_status run(tct_numeric *N)
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
    return tct_refuse_indefinite(L, N->A, failed - 1, pivot_of(L, failed));
}

tacit_status tct_factor_numeric(tacit_factor *L, const tct_fronts *F,
                                const tct_entries *A)
{
    const char *why = NULL;
    tct_numeric N = {.L = L, .F = F, .A = A, .threads = tct_parallel_most()};
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
        if (N.standing_of[f] != TCT_IN_TASK) tct_free(N.square[f]);
    TCT_FREE(N.child, N.next, N.square, N.standing_of, N.tasks);
    return status;
}
