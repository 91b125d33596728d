/* SPDX-License-Identifier: BSD-3-Clause
 * factor/sweeps.c - sweeps over panels in ascending order with L and descending
 * with L' or U, with D between. Right-hand sides are interleaved by row, so
 * that a panel's rows are dense matrices; a single column has its own loops.
 *
 * A thread takes one branch at a time and adds to rows above it in the branch's
 * buffer; buffers are added in the order of branches. Large panels above the
 * branches are cut into pieces that do not depend on the number of threads. */
#include "factor/sweeps.h"
#include "device/isa.h"
#include "factor/dense.h"
#include "factor/one_column.h"
#include <stdatomic.h>

typedef tct_sweep_panel panel;

enum {
    PIECE = 1 << 14, /* entries of a piece, about: twice as many are cut */
    PIECE_OF_MANY = 1 << 16, /* the same for several right-hand sides */
    ROWS = 64,               /* a piece has a multiple of these rows */
    COLUMNS = 4,             /* or of these columns */
    COLUMNS_OF_MANY = 32,    /* the same for several right-hand sides */
    COPIED = 1 << 12         /* values copied in a piece */
};

typedef struct sweep sweep;
/* Piece `k`, with a thread's own scratch `T`. */
typedef void (*piece_fn)(const sweep *w, int64_t k, double *T);

/* A sweep with L or U. */
struct sweep {
    const tct_sweeps *s;
    const tct_branches *B;
    const double *value;
    int64_t c;
    double *X, *T; /* T: one for each thread */
    const tct_one_column *one;
    const tct_dense *dense;
    int32_t branches;
    bool down;
    panel large; /* the panel in pieces */
    int64_t pieces;
    piece_fn fn;
    atomic_int_fast64_t next; /* next piece */
};

static const int32_t *rows_below(const sweep *w, int32_t K, int64_t width)
{
    const tacit_factor_panels *P = w->s->P;
    return w->branches && w->B->listed[K] >= 0
               ? w->B->list + w->B->listed[K]
               : P->row + P->row_start[K] + width;
}

static panel panel_of(const sweep *w, int32_t K)
{
    const tacit_factor_panels *P = w->s->P;
    panel p = {.w = P->first[K + 1] - P->first[K],
               .h = P->row_start[K + 1] - P->row_start[K],
               .value = w->value + P->value_start[K],
               .first = P->first[K]};
    p.row = rows_below(w, K, p.w);
    const int64_t m = p.h - p.w;
    p.dense = m > 0 && p.row[m - 1] - p.row[0] == m - 1;
    return p;
}

/* --- several right-hand sides --------------------------------------------- */

/* Update X of rows [from, end) below the panel from its columns. */
static void rows_down(const sweep *w, const panel *p, int64_t from, int64_t end,
                      double *T)
{
    const int64_t c = w->c;
    const int32_t *row = p->row + from;
    double *t = p->dense ? w->X + row[0] * c : T;
    w->dense->subtract(true, c, end - from, p->w, w->X + p->first * c, c,
                       p->value + p->w + from, p->h, p->dense ? 1.0 : 0.0, t,
                       c);
    for (int64_t i = 0; i < end - from && !p->dense; i++)
        for (int64_t j = 0; j < c; j++) w->X[row[i] * c + j] += T[i * c + j];
}

/* Gather rows of X into `to`. */
static void read_rows(int64_t count, const int32_t *row, int64_t c,
                      const double *X, double *to)
{
    for (int64_t i = 0; i < count && c == 1; i++) to[i] = X[row[i]];
    for (int64_t i = 0; i < count && c > 1; i++)
        memcpy(to + i * c, X + row[i] * c, (size_t)c * sizeof *to);
}

/* Update X of columns [from, end) of the panel from t, the rows below it. */
static void columns_up(const sweep *w, const panel *p, int64_t from,
                       int64_t end, const double *t)
{
    const int64_t c = w->c;
    w->dense->subtract(false, c, end - from, p->h - p->w, t, c,
                       p->value + p->w + from * p->h, p->h, 1.0,
                       w->X + (p->first + from) * c, c);
}

static void solve_diagonal(const sweep *w, const panel *p)
{
    double *x = w->X + p->first * w->c;
    if (w->c == 1) w->one->solve(!w->down, p->w, p->value, p->h, x);
    else w->dense->solve(w->down, w->c, p->w, p->value, p->h, x, w->c);
}

static void down(const sweep *w, const panel *p, double *T)
{
    solve_diagonal(w, p);
    if (p->h > p->w) rows_down(w, p, 0, p->h - p->w, T);
}

static void up(const sweep *w, const panel *p, double *T)
{
    const int64_t m = p->h - p->w;
    if (!p->dense) read_rows(m, p->row, w->c, w->X, T);
    if (m > 0)
        columns_up(w, p, 0, p->w, p->dense ? w->X + p->row[0] * w->c : T);
    solve_diagonal(w, p);
}

static void do_panel(const sweep *w, const panel *p, double *T)
{
    if (w->c == 1) (w->down ? w->one->down : w->one->up)(p, w->X, T);
    else (w->down ? down : up)(w, p, T);
}

/* Panels `from` to `end`, ascending or descending. */
static void do_panels(const sweep *w, int32_t from, int32_t end, double *T)
{
    for (int32_t K = from; w->down && K < end; K++) {
        const panel p = panel_of(w, K);
        do_panel(w, &p, T);
    }
    for (int32_t K = end; !w->down && K-- > from;) {
        const panel p = panel_of(w, K);
        do_panel(w, &p, T);
    }
}

/* --- threads -------------------------------------------------------------- */

static void take_pieces(void *work, int64_t k)
{
    sweep *w = work;
    double *T = w->T + k * w->s->most * w->c;
    int64_t piece;
    while ((piece = atomic_fetch_add(&w->next, 1)) < w->pieces)
        w->fn(w, piece, T);
}

/* A thread takes the next piece. */
static void run(sweep *w, int64_t pieces, piece_fn fn)
{
    w->pieces = pieces;
    w->fn = fn;
    atomic_store(&w->next, 0);
    tct_team_each(pieces > 1 ? w->s->team : NULL, take_pieces, w);
}

/* --- branches ------------------------------------------------------------- */

static void do_branch(const sweep *w, int32_t b, double *T)
{
    const tct_branches *B = w->B;
    const int64_t c = w->c, count = B->start[b + 1] - B->start[b];
    double *sums = w->X + (w->s->P->rows + B->start[b]) * c;
    if (w->down) memset(sums, 0, (size_t)(count * c) * sizeof *sums);
    else read_rows(count, B->row + B->start[b], c, w->X, sums);
    do_panels(w, B->first[b], B->end[b], T);
}

/* Descending, panels still in caches come first. */
static void branch_piece(const sweep *w, int64_t k, double *T)
{
    do_branch(w, (int32_t)(w->down ? k : w->branches - 1 - k), T);
}

static void add_up(const sweep *w)
{
    const tct_branches *B = w->B;
    const int64_t c = w->c, count = w->branches ? B->start[w->branches] : 0;
    double *X = w->X;
    const double *sums = X + w->s->P->rows * c;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < c; j++) X[B->row[i] * c + j] += sums[i * c + j];
}

/* --- panels above the branches -------------------------------------------- */

/* The number of pieces of `size` in `all`. */
static int64_t pieces_of(int64_t all, int64_t size)
{
    return (all + size - 1) / size;
}
static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t piece_of(const sweep *w)
{
    return w->c == 1 ? PIECE : PIECE_OF_MANY;
}
static int64_t rows_of_piece(const sweep *w)
{
    return pieces_of(piece_of(w) / w->large.w, ROWS) * ROWS;
}
static int64_t columns_of_piece(const sweep *w)
{
    const panel *p = &w->large;
    const int64_t step = w->c == 1 ? COLUMNS : COLUMNS_OF_MANY;
    return pieces_of(piece_of(w) / (p->h - p->w) + 1, step) * step;
}

static void down_piece(const sweep *w, int64_t k, double *T)
{
    const panel *p = &w->large;
    const int64_t from = k * rows_of_piece(w),
                  end = least(from + rows_of_piece(w), p->h - p->w);
    if (w->c > 1) {
        rows_down(w, p, from, end, T);
        return;
    }
    if (p->dense) {
        w->one->subtract(end - from, p->w, p->value + p->w + from, p->h,
                         w->X + p->first, w->X + p->row[from]);
        return;
    }
    w->one->multiply(end - from, p->w, p->value + p->w + from, p->h,
                     w->X + p->first, T);
    for (int64_t i = from; i < end; i++) w->X[p->row[i]] += T[i - from];
}

/* Gather into the first thread's T, for all threads. */
static void copy_piece(const sweep *w, int64_t k, double *T)
{
    (void)T;
    const panel *p = &w->large;
    const int64_t rows = pieces_of(COPIED, w->c), from = k * rows;
    read_rows(least(rows, p->h - p->w - from), p->row + from, w->c, w->X,
              w->T + from * w->c);
}

static void up_piece(const sweep *w, int64_t k, double *T)
{
    (void)T;
    const panel *p = &w->large;
    const int64_t from = k * columns_of_piece(w),
                  end = least(from + columns_of_piece(w), p->w);
    const double *t = p->dense ? w->X + p->row[0] * w->c : w->T;
    if (w->c > 1) columns_up(w, p, from, end, t);
    else
        w->one->multiply_transposed(p->h - p->w, end - from,
                                    p->value + p->w + from * p->h, p->h, t,
                                    w->X + p->first + from);
}

static void do_large(sweep *w)
{
    const panel *p = &w->large;
    const int64_t m = p->h - p->w;
    if (w->down) {
        solve_diagonal(w, p);
        run(w, pieces_of(m, rows_of_piece(w)), down_piece);
        return;
    }
    if (!p->dense) run(w, pieces_of(m, pieces_of(COPIED, w->c)), copy_piece);
    run(w, pieces_of(p->w, columns_of_piece(w)), up_piece);
    solve_diagonal(w, p);
}

/* For one right-hand side pieces give the same bits, and whole panels are
 * faster. */
static void do_above(sweep *w, int32_t K)
{
    const panel p = panel_of(w, K);
    if ((p.h - p.w) * p.w < 2 * piece_of(w) ||
        (w->c == 1 && tct_team_size(w->s->team) == 1)) {
        do_panel(w, &p, w->T);
        return;
    }
    w->large = p;
    do_large(w);
}

/* Panels `from` to `end`, ascending or descending. */
static void do_all_above(sweep *w, int32_t from, int32_t end)
{
    for (int32_t K = from; w->down && K < end; K++) do_above(w, K);
    for (int32_t K = end; !w->down && K-- > from;) do_above(w, K);
}

static void do_what_is_above(sweep *w)
{
    const int32_t n = w->branches;
    if (n == 0) do_panels(w, 0, w->s->P->panels, w->T);
    for (int32_t i = 0; i <= n && n > 0; i++) {
        const int32_t b = w->down ? i : n - i;
        do_all_above(w, b > 0 ? w->B->end[b - 1] : 0,
                     b < n ? w->B->first[b] : w->s->P->panels);
    }
}

/* --- sweeps --------------------------------------------------------------- */

const tct_one_column *tct_one_column_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return &tct_one_column_avx512;
    if (isa == TCT_ISA_AVX2) return &tct_one_column_avx2;
#endif
    return &tct_one_column_base;
}

int64_t tct_sweeps_rows(const tct_sweeps *s)
{
    return s->P->rows + (s->branches ? tct_branches_rows(s->branches) : 0);
}

int64_t tct_sweeps_scratch(const tct_sweeps *s, int threads)
{
    return s->most * (s->branches && s->branches->count ? threads : 1);
}

static sweep sweep_of(const tct_sweeps *s, int64_t c, double *X, double *T)
{
    const char *why;
    return (sweep){.s = s,
                   .B = s->branches,
                   .branches = s->branches ? s->branches->count : 0,
                   .c = c,
                   .X = X,
                   .T = T,
                   .one = tct_one_column_best(),
                   .dense = tct_dense_get(tct_team_size(s->team), &why)};
}

void tct_sweep_down(const tct_sweeps *s, int64_t c, double *X, double *T)
{
    sweep w = sweep_of(s, c, X, T);
    w.down = true;
    w.value = s->P->value;
    if (c > 1) w.dense->begin(1);
    run(&w, w.branches, branch_piece);
    add_up(&w);
    do_what_is_above(&w);
    if (c > 1) w.dense->end();
}

/* Rows x and y by [d e; e g], whose e is the largest. */
static void divide_pair(double d, double e, double g, int64_t c, double *x)
{
    const double p = d / e, q = g / e, t = 1.0 / ((p * q - 1.0) * e);
    double *y = x + c;
    for (int64_t j = 0; j < c; j++) {
        const double first = t * (q * x[j] - y[j]);
        y[j] = t * (p * y[j] - x[j]);
        x[j] = first;
    }
}

void tct_divide_by_pivots(int64_t rows, const double *d, const double *e,
                          int64_t c, double *X)
{
    for (int64_t k = 0; k < rows; k++) {
        if (e && e[k] != 0.0) {
            divide_pair(d[k], e[k], d[k + 1], c, X + k * c);
            k++;
            continue;
        }
        for (int64_t j = 0; j < c; j++) X[k * c + j] /= d[k];
    }
}

void tct_sweep_up(const tct_sweeps *s, int64_t c, double *X, double *T)
{
    sweep w = sweep_of(s, c, X, T);
    w.value = s->P->upper ? s->P->upper : s->P->value;
    if (c > 1) w.dense->begin(1);
    if (s->P->diagonal)
        tct_divide_by_pivots(s->P->rows, s->P->diagonal, s->P->off_diagonal, c,
                             X);
    do_what_is_above(&w);
    run(&w, w.branches, branch_piece);
    if (c > 1) w.dense->end();
}
