/* SPDX-License-Identifier: BSD-3-Clause
 * factor/solve.c - L L' X = B: copies right-hand sides for the sweeps
 * (sweeps.c), interleaved by row. Factors with single rows as panels, such as
 * incomplete ones, use loops over rows. */
#include "device/thread_pool.h"
#include "factor/factor.h"

/* --- rows ----------------------------------------------------------------- */

/* Each row is a panel, its entries contiguous, pivot first; d = 1 / pivot. For
 * kind ILU0 the pivot of L is 1. */
static void rows_down_one(const tacit_factor_panels *P, const double *d,
                          double *x)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *l = P->value;
    const bool unit = P->upper != NULL;
    for (int64_t k = 0; k < P->rows; k++) {
        const double found = unit ? x[k] : (x[k] *= d[k]);
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            x[row[e]] -= l[e] * found;
    }
}

static void rows_up_one(const tacit_factor_panels *P, const double *d,
                        double *x)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *u = P->upper ? P->upper : P->value;
    for (int64_t k = P->rows; k-- > 0;) {
        double left = x[k];
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            left -= u[e] * x[row[e]];
        x[k] = left * d[k];
    }
}

static void rows_down(const tacit_factor_panels *P, const double *d, int64_t c,
                      double *X)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *l = P->value;
    const bool unit = P->upper != NULL;
    for (int64_t k = 0; k < P->rows; k++) {
        double *x = X + k * c;
        for (int64_t j = 0; j < c && !unit; j++) x[j] *= d[k];
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            for (int64_t j = 0; j < c; j++) X[row[e] * c + j] -= l[e] * x[j];
    }
}

static void rows_up(const tacit_factor_panels *P, const double *d, int64_t c,
                    double *X)
{
    const int64_t *start = P->row_start;
    const int32_t *row = P->row;
    const double *u = P->upper ? P->upper : P->value;
    for (int64_t k = P->rows; k-- > 0;) {
        double *x = X + k * c;
        for (int64_t e = start[k] + 1; e < start[k + 1]; e++)
            for (int64_t j = 0; j < c; j++) x[j] -= u[e] * X[row[e] * c + j];
        for (int64_t j = 0; j < c; j++) x[j] *= d[k];
    }
}

/* --- right-hand sides ----------------------------------------------------- */

void tct_panels_down(const tct_sweeps *s, int64_t c, double *X, double *T)
{
    if (s->inverse && c == 1) rows_down_one(s->P, s->inverse, X);
    else if (s->inverse) rows_down(s->P, s->inverse, c, X);
    else tct_sweep_down(s, c, X, T);
}

void tct_panels_up(const tct_sweeps *s, int64_t c, double *X, double *T)
{
    if (s->inverse && c == 1) rows_up_one(s->P, s->inverse, X);
    else if (s->inverse) rows_up(s->P, s->inverse, c, X);
    else tct_sweep_up(s, c, X, T);
}

/* A block of columns: rows of B into `v`, and back into X. */
typedef struct {
    tct_places place;
    const double *b_scale, *x_scale; /* by row of the factor, or NULL */
    int64_t rows, c;
    const double *B;
    int64_t ldb;
    double *X;
    int64_t ldx;
    double *v;
} block;

enum { ROWS_AT_ONCE = 1 << 12 };

static int64_t end_of(const block *b, int64_t from)
{
    return b->rows - from < ROWS_AT_ONCE ? b->rows : from + ROWS_AT_ONCE;
}

static void load(void *work, int64_t piece)
{
    const block *b = work;
    const int64_t from = piece * ROWS_AT_ONCE, end = end_of(b, from);
    const int32_t *place = b->place.b;
    const double *B = b->B;
    double *v = b->v;
    const int64_t c = b->c, ldb = b->ldb;
    for (int64_t k = from; k < end; k++)
        for (int64_t j = 0; j < c; j++) v[k * c + j] = B[place[k] + j * ldb];
    for (int64_t k = from; b->b_scale && k < end; k++)
        for (int64_t j = 0; j < c; j++) v[k * c + j] *= b->b_scale[k];
}

static void store(void *work, int64_t piece)
{
    const block *b = work;
    const int64_t from = piece * ROWS_AT_ONCE, end = end_of(b, from);
    const int32_t *place = b->place.x;
    double *X = b->X, *v = b->v;
    const int64_t c = b->c, ldx = b->ldx;
    for (int64_t k = from; b->x_scale && k < end; k++)
        for (int64_t j = 0; j < c; j++) v[k * c + j] *= b->x_scale[k];
    for (int64_t k = from; k < end; k++)
        for (int64_t j = 0; j < c; j++) X[place[k] + j * ldx] = v[k * c + j];
}

static void solve_on_caller(const tct_sweeps *s, int64_t c, double *X,
                            double *T)
{
    tct_panels_down(s, c, X, T);
    tct_panels_up(s, c, X, T);
}

static tct_sweeps sweeps_of(const tacit_factor *L, tct_team *team)
{
    return (tct_sweeps){.P = &L->panels,
                        .inverse = L->inverse,
                        .branches = &L->branches,
                        .team = L->branches.count ? team : NULL,
                        .most = L->most};
}

static void solve_block(const tacit_factor *L, tct_team *team, block *b)
{
    const tct_sweeps s = sweeps_of(L, team);
    const int threads = tct_team_size(s.team);
    const int64_t pieces = (b->rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    if (b->c == 1 && L->in_place && L->inverse &&
        b->place.x == L->panels.original) {
        if (b->X != b->B) memcpy(b->X, b->B, (size_t)b->rows * sizeof *b->X);
        solve_on_caller(&s, 1, b->X, NULL);
        return;
    }
    tct_team_run(s.team, threads, pieces, NULL, load, b);
    solve_on_caller(&s, b->c, b->v, b->v + tct_sweeps_rows(&s) * b->c);
    tct_team_run(s.team, threads, pieces, NULL, store, b);
}

size_t tct_factor_scratch(const tacit_factor *L, int columns, int threads)
{
    const tct_sweeps s = sweeps_of(L, NULL);
    const int at_once =
        columns < TCT_SOLVE_COLUMNS ? columns : TCT_SOLVE_COLUMNS;
    return (size_t)(tct_sweeps_rows(&s) + tct_sweeps_scratch(&s, threads)) *
           (size_t)at_once;
}

void tct_factor_apply(const tacit_factor *L, tct_team *team,
                      const tct_places *place, int columns, const double *B,
                      size_t ldb, double *X, size_t ldx, double *scratch)
{
    const int32_t *own = L->panels.original;
    block b = {.place = place ? *place
                              : (tct_places){L->b_row ? L->b_row : own, own},
               .b_scale = L->b_scale,
               .x_scale = L->x_scale,
               .rows = L->panels.rows,
               .ldb = (int64_t)ldb,
               .ldx = (int64_t)ldx,
               .v = scratch};
    for (int j = 0; j < columns; j += TCT_SOLVE_COLUMNS) {
        const int left = columns - j;
        b.c = left < TCT_SOLVE_COLUMNS ? left : TCT_SOLVE_COLUMNS;
        b.B = B + (size_t)j * ldb;
        b.X = X + (size_t)j * ldx;
        solve_block(L, team, &b);
    }
}

/* --- threads -------------------------------------------------------------- */

tacit_status tct_lent_team_create(int threads, tct_lent_team **out)
{
    tct_lent_team *c = tct_calloc(sizeof *c);
    if (!c) FAIL(TACIT_NO_MEMORY, "no memory for the threads of a solve");
    atomic_init(&c->threads, threads);
    *out = c;
    return TACIT_OK;
}

void tct_lent_team_destroy(tct_lent_team **lent)
{
    tct_free(*lent);
    *lent = NULL;
}

int tct_lent_threads(tct_lent_team *c)
{
    return c ? atomic_load(&c->threads) : 1;
}

bool tct_lent_team_take(tct_lent_team *c, tct_team **team)
{
    *team = NULL;
    const int threads = tct_lent_threads(c);
    if (threads < 2 || atomic_exchange(&c->taken, true)) return false;
    if (tct_team_take(threads, team) < 0) *team = NULL;
    /* requests no more than the system grants */
    atomic_store(&c->threads, tct_team_size(*team));
    return true;
}

void tct_lent_team_leave(tct_lent_team *c, tct_team **team)
{
    tct_team_give(team);
    atomic_store(&c->taken, false);
}
