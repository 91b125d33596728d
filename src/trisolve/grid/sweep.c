/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/sweep.c - one solve on a rank of a grid: message-driven sweeps,
 * and exchanges between grids. The columns of a vector element are adjacent.
 *
 * In a sweep a rank forwards the solutions that it receives, multiplies them by
 * its blocks, and counts for each sum the contributions to come: blocks, and
 * messages from members below it in the group. A complete sum is sent up; its
 * owner solves with it and sends the solution. */
#include "trisolve/grid/trsv.h"

typedef struct { /* Head of a message; identifies it. */
    int32_t panel, is_sum;
    uint64_t round;
} head;
_Static_assert(sizeof(head) == TCT_MESSAGE_HEAD * sizeof(double), "a head");

typedef struct {
    tacit_trsv *T;
    const tct_sweep *s;
    const tct_holding *H;
    const double *value; /* L, or U' */
    int64_t c;           /* columns at once */
    bool down;           /* L */
    int tag;
    const tct_side *solutions,
        *sums; /* groups that solutions are sent to, and that
                                 * sums come from */
    int64_t solutions_at, sums_at; /* offsets of their messages */
    int32_t ready;                 /* entries in T->ready */
    int64_t coming;                /* messages to come */
} sweep;

/* --- messages ------------------------------------------------------------- */

static double *message_of(const sweep *w, const tct_side *side, int32_t k)
{
    const int64_t at = side == w->solutions ? w->solutions_at : w->sums_at;
    return (double *)(void *)w->T->active->room + at + TCT_MESSAGE_HEAD * k +
           w->c * side->width[k];
}
static double *values_of(const sweep *w, const tct_side *side, int32_t k)
{
    return message_of(w, side, k) + TCT_MESSAGE_HEAD;
}
static int64_t width_of(const tct_side *side, int32_t k)
{
    return side->width[k + 1] - side->width[k];
}
static int64_t bytes_of(int64_t width, int64_t c)
{
    return (TCT_MESSAGE_HEAD + width * c) * (int64_t)sizeof(double);
}

static void write_head(const tct_active *p, double *message, int32_t panel,
                       bool is_sum)
{
    const head h = {panel, is_sum, p->round};
    memcpy(message, &h, sizeof h);
}

/* Send entry k of `side` to ranks to[count]. */
static tacit_status send(const sweep *w, const tct_side *side, int32_t k,
                         int32_t count, const int32_t *to)
{
    double *message = message_of(w, side, k);
    const int64_t bytes = bytes_of(width_of(side, k), w->c);
    write_head(w->T->active, message, side->panel[k], side == w->sums);
    for (int32_t n = 0; n < count; n++)
        TRY(tct_active_send(w->T->active, w->tag, to[n], message, bytes));
    return TACIT_OK;
}

static int32_t find(const tct_side *side, int32_t K)
{
    int32_t low = 0, high = side->count;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (side->panel[mid] < K) low = mid + 1;
        else high = mid;
    }
    return low < side->count && side->panel[low] == K ? low : -1;
}

static tacit_status refuse(const tct_active_message *l)
{
    const head *h = l->data;
    FAIL(
        TACIT_COMM,
        "a triangular solve got a message of %lld bytes for panel %d from rank "
        "%d that is not for it: do all ranks solve with as many right-hand "
        "sides?",
        (long long)l->bytes, (int)h->panel, l->from);
}

/* --- arithmetic ----------------------------------------------------------- */

/* t = -L y for all rows of a column that this rank has */
static void multiply(const sweep *w, int64_t m, int64_t n, const double *L,
                     const double *y, double *t)
{
    const int64_t c = w->c;
    if (c == 1) w->T->one->multiply(m, n, L, m, y, t);
    else w->T->dense->subtract(true, c, m, n, y, c, L, m, 0.0, t, c);
}

/* s -= L' x for these rows */
static void multiply_transposed(const sweep *w, int64_t m, int64_t n,
                                const double *L, const double *x, double *s)
{
    const int64_t c = w->c;
    if (c == 1) w->T->one->multiply_transposed(m, n, L, m, x, s);
    else w->T->dense->subtract(false, c, n, m, x, c, L, m, 1.0, s, c);
}

static void solve_diagonal(const sweep *w, int64_t n, const double *L,
                           double *x)
{
    if (w->c == 1) w->T->one->solve(!w->down, n, L, n, x);
    else w->T->dense->solve(w->down, w->c, n, L, n, x, w->c);
}

/* --- solutions and sums --------------------------------------------------- */

static void count_down(sweep *w, int32_t r)
{
    if (--w->T->left[r] == 0) w->T->ready[w->ready++] = r;
}

/* L: add a column's products to the sums of its rows */
static void apply_column(sweep *w, int32_t k)
{
    const tct_sweep *s = w->s;
    const int64_t c = w->c, m = s->rows[k + 1] - s->rows[k];
    const int32_t *offset = s->offset + s->rows[k];
    double *t = w->T->scratch;
    if (m == 0) return; /* BLAS rejects stride 0 */
    multiply(w, m, width_of(&s->col, k), w->value + w->H->below_at[k],
             values_of(w, w->solutions, k), t);
    for (int32_t n = s->col.block_start[k]; n < s->col.block_start[k + 1];
         n++) {
        const int32_t b = s->col.block[n], r = s->block_row[b];
        double *sum = values_of(w, w->sums, r);
        for (int64_t i = s->first[b]; i < s->first[b] + s->height[b]; i++)
            for (int64_t j = 0; j < c; j++)
                sum[offset[i] * c + j] += t[i * c + j];
        count_down(w, r);
    }
}

/* U: the sum of column k, once x of all its rows is known */
static void gather_column(const sweep *w, int32_t k)
{
    const tct_sweep *s = w->s;
    const int64_t c = w->c, m = s->rows[k + 1] - s->rows[k];
    const int32_t *offset = s->offset + s->rows[k];
    double *t = w->T->scratch;
    if (m == 0) return;
    for (int32_t n = s->col.block_start[k]; n < s->col.block_start[k + 1];
         n++) {
        const int32_t b = s->col.block[n];
        const double *x = values_of(w, w->solutions, s->block_row[b]);
        for (int64_t i = s->first[b]; i < s->first[b] + s->height[b]; i++)
            for (int64_t j = 0; j < c; j++) t[i * c + j] = x[offset[i] * c + j];
    }
    multiply_transposed(w, m, width_of(&s->col, k),
                        w->value + w->H->below_at[k], t,
                        values_of(w, w->sums, k));
}

/* Solution k is known: send it to the members below and use it. */
static tacit_status propagate(sweep *w, int32_t k)
{
    const tct_side *t = w->solutions;
    TRY(send(w, t, k, t->below_start[k + 1] - t->below_start[k],
             t->below + t->below_start[k]));
    if (w->down) apply_column(w, k);
    for (int32_t n = t->block_start[k]; n < t->block_start[k + 1] && !w->down;
         n++)
        count_down(w, w->s->block_col[t->block[n]]);
    return TACIT_OK;
}

/* The n rows of own panel `own`. */
static void divide_by_pivots(const sweep *w, int64_t n, int32_t own, double *v)
{
    const int64_t at = w->T->plan.own_width[own];
    tct_divide_by_pivots(n, w->T->D + at,
                         w->T->off_diagonal ? w->T->off_diagonal + at : NULL,
                         w->c, v);
}

static double *own_of(const sweep *w, int32_t own)
{
    return w->T->v + w->c * w->T->plan.own_width[own];
}

/* Sum r is complete: send it up, or at the owner add it to b and solve. A row
 * outside this sweep keeps its sum at the owner. */
static tacit_status finish_sum(sweep *w, int32_t r)
{
    const tct_side *a = w->sums;
    if (!w->down) gather_column(w, r);
    if (a->above[r] >= 0) return send(w, a, r, 1, &a->above[r]);
    const int64_t n = width_of(a, r);
    const double *sum = values_of(w, a, r);
    double *v = own_of(w, a->own[r]);
    if (w->T->D && !w->down) divide_by_pivots(w, n, a->own[r], v);
    for (int64_t i = 0; i < n * w->c; i++) v[i] += sum[i];
    const int32_t twin = a->twin[r];
    if (twin < 0) return TACIT_OK;
    const int32_t col = w->down ? twin : r;
    solve_diagonal(w, n, w->value + w->H->diagonal[col], v);
    memcpy(values_of(w, w->solutions, twin), v, (size_t)(n * w->c) * sizeof *v);
    return propagate(w, twin);
}

static tacit_status take(sweep *w)
{
    tct_active_message l;
    TRY(tct_active_take(w->T->active, w->tag, &l));
    const head *h = l.data;
    const double *from = (const double *)l.data + TCT_MESSAGE_HEAD;
    const tct_side *side = h->is_sum ? w->sums : w->solutions;
    const int32_t k = find(side, h->panel);
    if (k < 0 || h->round != w->T->active->round ||
        l.bytes != bytes_of(width_of(side, k), w->c))
        return refuse(&l);
    const int64_t n = width_of(side, k) * w->c;
    const bool is_sum = h->is_sum;
    double *to = values_of(w, side, k);
    for (int64_t i = 0; i < n && is_sum; i++) to[i] += from[i];
    if (!is_sum) memcpy(to, from, (size_t)n * sizeof *to);
    tct_active_drop(w->T->active, &l);
    if (!is_sum) return propagate(w, k);
    count_down(w, k);
    return TACIT_OK;
}

/* --- a sweep -------------------------------------------------------------- */

/* Sums begin at 0; those without contributions are complete. */
static void begin(sweep *w)
{
    const tct_side *a = w->sums;
    for (int32_t r = 0; r < a->count; r++) {
        memset(values_of(w, a, r), 0,
               (size_t)(width_of(a, r) * w->c) * sizeof(double));
        w->T->left[r] = a->block_start[r + 1] - a->block_start[r] +
                        a->below_start[r + 1] - a->below_start[r];
        if (w->T->left[r] == 0) w->T->ready[w->ready++] = r;
    }
}

/* U: send x of panels that earlier sweeps have solved. */
static tacit_status send_known(sweep *w)
{
    const tct_side *t = w->solutions;
    for (int32_t k = 0; k < t->count && !w->down; k++) {
        if (t->above[k] >= 0 || t->twin[k] >= 0) continue;
        memcpy(values_of(w, t, k), own_of(w, t->own[k]),
               (size_t)(width_of(t, k) * w->c) * sizeof(double));
        TRY(propagate(w, k));
    }
    return TACIT_OK;
}

static tacit_status run_sweep(tacit_trsv *T, const tct_stage *step, int64_t c)
{
    const tct_sweep *s = &T->plan.sweep[step->sweep];
    const tct_holding *H = &T->holding[step->sweep];
    const bool down = step->kind == TCT_SWEEP_L;
    const int tag = tct_tag_of(step->kind, step->height);
    sweep w = {.T = T,
               .s = s,
               .H = H,
               .value = down || !H->upper ? H->value : H->upper,
               .c = c,
               .down = down,
               .tag = tag,
               .solutions = down ? &s->col : &s->row,
               .sums = down ? &s->row : &s->col,
               .solutions_at = down ? H->col_at[0] : H->row_at[1],
               .sums_at = down ? H->row_at[0] : H->col_at[1],
               .coming = T->plan.in[tag]};
    begin(&w);
    TRY(send_known(&w));
    for (;;) {
        while (w.ready > 0) TRY(finish_sum(&w, T->ready[--w.ready]));
        if (w.coming-- == 0) return TACIT_OK;
        TRY(take(&w));
    }
}

/* --- between grids -------------------------------------------------------- */

/* Add `from`, c columns, to own panel k, or replace it. */
static void put(tacit_trsv *T, int32_t k, int64_t c, bool adds,
                const double *from)
{
    const int64_t *at = T->plan.own_width;
    double *v = T->v + c * at[k];
    for (int64_t i = 0; i < c * (at[k + 1] - at[k]); i++)
        v[i] = adds ? v[i] + from[i] : from[i];
}

static tacit_status send_between(tacit_trsv *T, const tct_stage *step, int tag,
                                 int64_t c)
{
    const tct_trsv_plan *p = &T->plan;
    double *message = (double *)(void *)T->active->room + T->between[tag];
    const bool each = p->grid.by_height;
    int64_t width = 0;
    for (int32_t k = 0; k < p->owns; k++) {
        if (p->own_height[k] <= step->height) continue;
        const int64_t w = p->own_width[k + 1] - p->own_width[k];
        if (each) width = 0;
        memcpy(message + TCT_MESSAGE_HEAD + c * width,
               T->v + c * p->own_width[k], (size_t)(c * w) * sizeof *message);
        width += w;
        if (!each) continue;
        write_head(T->active, message, p->own[k], false);
        TRY(tct_active_send(T->active, tag, step->peer, message,
                            bytes_of(w, c)));
        message += TCT_MESSAGE_HEAD + c * w;
    }
    if (each) return TACIT_OK;
    write_head(T->active, message, -1, false);
    return tct_active_send(T->active, tag, step->peer, message,
                           bytes_of(width, c));
}

/* All panels above the step's height, in one message or one each; those of one
 * sender arrive in this order. */
static tacit_status take_between(tacit_trsv *T, const tct_stage *step, int tag,
                                 int64_t c)
{
    const tct_trsv_plan *p = &T->plan;
    const bool each = p->grid.by_height;
    tct_active_message l = {.data = NULL};
    int64_t at = TCT_MESSAGE_HEAD;
    for (int32_t k = 0; k < p->owns; k++) {
        if (p->own_height[k] <= step->height) continue;
        if (each || !l.data) {
            TRY(tct_active_take(T->active, tag, &l));
            const head *h = l.data;
            if (h->round != T->active->round ||
                h->panel != (each ? p->own[k] : -1))
                return refuse(&l);
            at = TCT_MESSAGE_HEAD;
        }
        const int64_t end = at + c * (p->own_width[k + 1] - p->own_width[k]);
        if (end * (int64_t)sizeof(double) > l.bytes) return refuse(&l);
        put(T, k, c, step->kind == TCT_ADD_UP, (const double *)l.data + at);
        at = end;
        if (each) tct_active_drop(T->active, &l);
    }
    if (!each) tct_active_drop(T->active, &l);
    return TACIT_OK;
}

static tacit_status run_between(tacit_trsv *T, const tct_stage *step, int64_t c)
{
    const int tag = tct_tag_of(step->kind, step->height);
    return step->sends ? send_between(T, step, tag, c)
                       : take_between(T, step, tag, c);
}

/* --- a round -------------------------------------------------------------- */

static int phase_of(int kind)
{
    return kind == TCT_SWEEP_L ? 0 : kind == TCT_SWEEP_U ? 2 : 1;
}

tacit_status tct_trsv_round(tacit_trsv *T, int64_t c)
{
    TRY(tct_active_begin(T->active));
    T->dense->begin(1);
    tacit_status status = TACIT_OK;
    double before = tct_seconds();
    for (int k = 0; k < T->plan.steps && status >= 0; k++) {
        const tct_stage *step = &T->plan.step[k];
        const bool sweeps =
            step->kind == TCT_SWEEP_L || step->kind == TCT_SWEEP_U;
        status = sweeps ? run_sweep(T, step, c) : run_between(T, step, c);
        const double now = tct_seconds();
        T->seconds[phase_of(step->kind)] += now - before;
        before = now;
    }
    T->dense->end();
    return status;
}
