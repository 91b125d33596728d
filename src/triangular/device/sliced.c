/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/sliced.c - the rows of L and of L' by level, and in slices. What takes
 * one thread, the levels, is found while the others turn L' over. */
#include "triangular/device/sliced.h"
#include "base/base.h"
#include "matrix/parallel.h"
#include "triangular/factor/levels.h"
#include <string.h>

static const char *const what = "rows of a triangular matrix";

/* Entries of a row that a lane has, as a rule at most. */
enum { ENTRIES_OF_LANE = 8 };

/* --- L' by rows, the columns of panels ------------------------------------------ */

static bool has_single_columns(const tacit_factor_panels *P)
{
    return P->panels == P->rows &&
           (P->row_start == P->value_start ||
            memcmp(P->row_start, P->value_start,
                   ((size_t)P->panels + 1) * sizeof *P->row_start) == 0);
}

/* Column j of panel K into `col` and `val`; how many entries. */
static int64_t copy_column(const tacit_factor_panels *P, int32_t K, int64_t j,
                           int32_t *col, double *val)
{
    const int64_t h = P->row_start[K + 1] - P->row_start[K],
                  k = j - P->first[K];
    const int32_t *row = P->row + P->row_start[K];
    const double *from = P->value + P->value_start[K] + k * h;
    int64_t count = 0;
    for (int64_t i = k; i < h; i++) {
        if (i > k && from[i] == 0.0) continue;
        col[count] = row[i];
        val[count++] = from[i];
    }
    return count;
}

static tacit_status copy_panels(const tacit_factor_panels *P, tct_sliced *S)
{
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    double *val = NULL;
    TRY(TCT_ALLOC(P->rows + 1, what, &ptr));
    S->up.ptr = S->own[0] = ptr;
    TRY(TCT_ALLOC(P->value_start[P->panels], what, &col));
    S->up.col = S->own[1] = col;
    TRY(TCT_ALLOC(P->value_start[P->panels], what, &val));
    S->up.val = S->own[2] = val;
    ptr[0] = 0;
    for (int32_t K = 0; K < P->panels; K++)
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++)
            ptr[j + 1] =
                ptr[j] + copy_column(P, K, j, col + ptr[j], val + ptr[j]);
    return TACIT_OK;
}

static tacit_status take_panels(const tacit_factor_panels *P, tct_sliced *S)
{
    S->up.skip = 1;
    if (!has_single_columns(P)) return copy_panels(P, S);
    S->up.ptr = P->row_start;
    S->up.col = P->row;
    S->up.val = P->value;
    return TACIT_OK;
}

/* --- L by rows --------------------------------------------------------------------- */

/* The rows of L in ranges, one for a thread, each of which goes through the columns
 * by itself, so that each row gets its columns ascending. Of a block of columns it
 * is known which rows they have. */
enum { BLOCK = 4096 };
typedef struct {
    const tct_sliced *S;
    int64_t ranges, blocks;
    int32_t *low, *high; /* [blocks] */
    int64_t *ptr;        /* of L     */
    int32_t *col;
    double *val;
} turn;

static void see_blocks(turn *t)
{
    const tct_sliced_side *U = &t->S->up;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t b = 0; b < t->blocks; b++) {
        const int64_t first = b * BLOCK, last = first + BLOCK,
                      end = last < t->S->n ? last : t->S->n;
        t->low[b] = INT32_MAX;
        t->high[b] = -1;
        for (int64_t j = first; j < end; j++) {
            const int64_t from = U->ptr[j] + 1, to = U->ptr[j + 1];
            if (from == to) continue;
            if (U->col[from] < t->low[b]) t->low[b] = U->col[from];
            if (U->col[to - 1] > t->high[b]) t->high[b] = U->col[to - 1];
        }
    }
}

/* Of range r: how many entries each row has, or, where there is room for them, the
 * entries themselves; ptr[i + 1] goes from the first to behind the last of row i. */
static void turn_range(const turn *t, int64_t r, bool fills)
{
    const tct_sliced_side *U = &t->S->up;
    const int64_t n = t->S->n, low = n * r / t->ranges,
                  high = n * (r + 1) / t->ranges;
    int64_t *next = t->ptr + 1;
    for (int64_t i = low; i < high && !fills; i++) next[i] = 0;
    for (int64_t b = 0; b < t->blocks; b++) {
        if (t->high[b] < low || t->low[b] >= high) continue;
        const int64_t last = (b + 1) * BLOCK, end = last < high ? last : high;
        for (int64_t j = b * BLOCK; j < end; j++)
            for (int64_t e = U->ptr[j] + 1; e < U->ptr[j + 1]; e++) {
                const int32_t i = U->col[e];
                if (i < low) continue;
                if (i >= high) break;
                const int64_t at = next[i]++;
                if (!fills) continue;
                t->col[at] = (int32_t)j;
                t->val[at] = U->val[e];
            }
    }
}

/* Counts become places. */
static void add_counts(const turn *t)
{
    int64_t before = 0;
    for (int64_t i = 0; i < t->S->n; i++) {
        const int64_t count = t->ptr[i + 1];
        t->ptr[i + 1] = before;
        before += count;
    }
}

/* Levels of both sides into `level` [2][n], and L by rows. */
static void turn_over(const turn *t, int32_t *levels, int32_t *level)
{
    const tct_sliced_side *U = &t->S->up;
    const int64_t n = t->S->n;
    TCT_OMP(omp parallel)
    TCT_OMP(omp single)
    {
        TCT_OMP(omp task)
        levels[0] = tct_levels_find(n, U->ptr, U->col, false, level);
        TCT_OMP(omp task)
        levels[1] = tct_levels_find(n, U->ptr, U->col, true, level + n);
        for (int fills = 0; fills < 2; fills++) {
            TCT_OMP(omp taskgroup)
            for (int64_t r = 0; r < t->ranges; r++) {
                TCT_OMP(omp task)
                turn_range(t, r, fills);
            }
            if (!fills) add_counts(t);
        }
    }
}

static tacit_status turn_and_level(tct_sliced *S, turn *t, int32_t *level)
{
    const int64_t entries = S->up.ptr[S->n] - S->n;
    int32_t levels[2];
    TRY(TCT_ALLOC(t->blocks, what, &t->low));
    TRY(TCT_ALLOC(t->blocks, what, &t->high));
    TRY(TCT_ALLOC(S->n + 1, what, &t->ptr));
    S->down.ptr = S->own[3] = t->ptr;
    TRY(TCT_ALLOC(entries, what, &t->col));
    S->down.col = S->own[4] = t->col;
    TRY(TCT_ALLOC(entries, what, &t->val));
    S->down.val = S->own[5] = t->val;
    t->ptr[0] = 0;
    see_blocks(t);
    turn_over(t, levels, level);
    S->down.levels = levels[0];
    S->up.levels = levels[1];
    return TACIT_OK;
}

/* --- slices ------------------------------------------------------------------------ */

static int64_t length_of(const tct_sliced_side *side, int64_t i)
{
    return side->ptr[i + 1] - side->ptr[i] - side->skip;
}

/* As many lanes a row as see to it that an entry, in the mean, stands in a row whose
 * lanes have their part of it at once. */
static void choose_lanes(tct_sliced *S)
{
    const int64_t entries = S->down.ptr[S->n];
    double squares = 0.0;
    for (int64_t i = 0; i < S->n; i++) {
        const double length = (double)length_of(&S->down, i);
        squares += length * length;
    }
    const double mean = entries > 0 ? squares / (double)entries : 0.0;
    S->lanes = 1;
    while (S->lanes < TCT_SLICED_LANES && ENTRIES_OF_LANE * S->lanes < mean)
        S->lanes *= 2;
    const int64_t rows = TCT_SLICED_LANES / S->lanes;
    S->slices = (S->n + rows - 1) / rows;
}

/* Cells of a slice. */
static int64_t width_of(const tct_sliced *S, const tct_sliced_side *side,
                        int64_t slice)
{
    const int64_t rows = TCT_SLICED_LANES / S->lanes, first = slice * rows;
    int64_t most = 0;
    for (int64_t p = first; p < first + rows && p < S->n; p++) {
        const int64_t length = length_of(side, side->row[p]);
        if (length > most) most = length;
    }
    return (most + S->lanes - 1) / S->lanes;
}

static tacit_status cut(const tct_sliced *S, const int32_t *level,
                        tct_sliced_side *side)
{
    int64_t *first = NULL;
    TRY(TCT_ALLOC(S->n, what, &side->row));
    TRY(TCT_ALLOC(S->n, what, &side->position));
    TRY(TCT_ALLOC(S->slices + 1, what, &side->cell));
    TRY(TCT_ALLOC((int64_t)side->levels + 1, what, &first));
    const tacit_status status =
        tct_levels_sort(S->n, level, side->levels, side->row, first);
    tct_free(first);
    TRY(status);
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t p = 0; p < S->n; p++)
        side->position[side->row[p]] = (int32_t)p;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t s = 0; s < S->slices; s++)
        side->cell[s + 1] = width_of(S, side, s);
    side->cell[0] = 0;
    for (int64_t s = 0; s < S->slices; s++) side->cell[s + 1] += side->cell[s];
    return TACIT_OK;
}

void tct_sliced_fill(const tct_sliced *S, const tct_sliced_side *side,
                     int64_t from, int64_t end, int32_t *col, double *val)
{
    const int lanes = S->lanes, rows = TCT_SLICED_LANES / lanes;
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t s = from; s < end; s++) {
        const int64_t width = side->cell[s + 1] - side->cell[s];
        for (int l = 0; l < TCT_SLICED_LANES; l++) {
            const int64_t p = s * rows + l / lanes;
            const int64_t i = p < S->n ? side->row[p] : -1;
            const int64_t length = i < 0 ? 0 : length_of(side, i);
            const int64_t first = i < 0 ? 0 : side->ptr[i] + side->skip;
            int64_t at = (side->cell[s] - side->cell[from]) * TCT_SLICED_LANES;
            at += l;
            for (int64_t c = 0; c < width; c++, at += TCT_SLICED_LANES) {
                const int64_t k = c * lanes + l % lanes;
                const bool is = k < length;
                if (col)
                    col[at] = is ? side->position[side->col[first + k]] : -1;
                if (val) val[at] = is ? side->val[first + k] : 0.0;
            }
        }
    }
}

/* --- both ---------------------------------------------------------------------------- */

static tacit_status build(const tacit_factor_panels *P, tct_sliced *S, turn *t,
                          int32_t **level)
{
    TRY(take_panels(P, S));
    TRY(TCT_ALLOC(2 * S->n, what, level));
    TRY(turn_and_level(S, t, *level));
    choose_lanes(S);
    TRY(cut(S, *level, &S->down));
    return cut(S, *level + S->n, &S->up);
}

tacit_status tct_sliced_open(const tacit_factor_panels *P, tct_sliced *out)
{
    const int64_t n = P->rows;
    turn t = {.S = out,
              .ranges = tct_threads_most(),
              .blocks = (n + BLOCK - 1) / BLOCK};
    int32_t *level = NULL;
    *out = (tct_sliced){.n = n};
    const tacit_status status = build(P, out, &t, &level);
    TCT_FREE(t.low, t.high, level);
    return status;
}

void tct_sliced_close(tct_sliced *S)
{
    TCT_FREE(S->down.row, S->down.position, S->down.cell, S->up.row,
             S->up.position, S->up.cell);
    tct_free_each(sizeof S->own / sizeof *S->own, S->own);
    *S = (tct_sliced){.n = 0};
}
