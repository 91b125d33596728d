/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/level_slices.c - the rows of L and L' by level, in slices. */
#include "trisolve/gpu/level_slices.h"
#include "base/base.h"
#include "device/parallel.h"
#include "graph/levels.h"
#include <string.h>

static const char *const what = "rows of a triangular matrix";

/* Entries of a row that a lane has, at most as a rule. */
enum { ENTRIES_OF_LANE = 8 };

enum { SLICES = 64 }; /* that are worth a thread */

/* --- L' by rows, the columns of panels ------------------------------------ */

static bool has_single_columns(const tacit_factor_panels *P)
{
    return P->panels == P->rows &&
           (P->row_start == P->value_start ||
            memcmp(P->row_start, P->value_start,
                   ((size_t)P->panels + 1) * sizeof *P->row_start) == 0);
}

/* Copy column j of panel K; returns the number of entries. */
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

/* --- nodes ---------------------------------------------------------------- */

/* Rows [first, first + block) form a node if each column has the rows of the
 * next one and that one's own row. */
static bool is_node(const tct_sliced_side *U, int64_t first, int block)
{
    for (int64_t j = first; j + 1 < first + block; j++) {
        const int64_t from = U->ptr[j] + 1, next = U->ptr[j + 1],
                      count = next - from;
        if (U->ptr[j + 2] - next != count ||
            memcmp(U->col + from, U->col + next,
                   (size_t)count * sizeof *U->col) != 0)
            return false;
    }
    return true;
}

typedef struct {
    const tct_sliced_side *U;
    int block;
} blocking;

static bool are_nodes_of(const void *of, int64_t from, int64_t to)
{
    const blocking *b = of;
    for (int64_t k = from; k < to; k++)
        if (!is_node(b->U, k * b->block, b->block)) return false;
    return true;
}

static bool are_nodes(const tct_sliced *S, int block)
{
    const blocking b = {&S->up, block};
    return S->n % block == 0 &&
           tct_parallel_all(S->n / block, TCT_SHORT, are_nodes_of, &b);
}

static int find_block(const tct_sliced *S)
{
    int block = TCT_NODE_MOST;
    while (block > 1 && !are_nodes(S, block)) block--;
    return block;
}

/* --- slices --------------------------------------------------------------- */

/* The entries of row i outside its own node; those within are last in L and
 * first in L'. */
typedef struct {
    int64_t first, length;
} entries;

static inline entries entries_of(const tct_sliced *S,
                                 const tct_sliced_side *side, int64_t i)
{
    int64_t first = side->ptr[i] + side->skip, end = side->ptr[i + 1];
    if (S->block == 1) return (entries){first, end - first};
    const int64_t node = i - i % S->block;
    while (side->skip && first < end && side->col[first] < node + S->block)
        first++;
    while (!side->skip && end > first && side->col[end - 1] >= node) end--;
    return (entries){first, end - first};
}

/* Lengths of rows, added up: whole numbers, in any order. */
typedef struct {
    const tct_sliced *S;
    atomic_int_fast64_t squares, count;
} lengths;

static void add_lengths(void *work, int64_t from, int64_t to)
{
    lengths *l = work;
    int64_t squares = 0, count = 0;
    for (int64_t i = from; i < to; i++) {
        const int64_t length = entries_of(l->S, &l->S->down, i).length;
        squares += length * length;
        count += length;
    }
    atomic_fetch_add(&l->squares, squares);
    atomic_fetch_add(&l->count, count);
}

/* As many lanes a row as see to it that an entry, in the mean, stands in a row
 * whose lanes have their part of it at once; nodes get those that would have
 * none. */
static void choose_lanes(tct_sliced *S)
{
    const int most = TCT_SLICED_LANES / S->block;
    lengths l = {.S = S};
    tct_parallel(S->n, TCT_SHORT, add_lengths, &l);
    const double squares = (double)l.squares, count = (double)l.count,
                 mean = count > 0.0 ? squares / count : 0.0;
    int lanes = 1;
    while (2 * lanes <= most &&
           (ENTRIES_OF_LANE * lanes < mean || lanes < S->block - 1))
        lanes *= 2;
    const int nodes = most / lanes;
    S->lanes = most / nodes;
    S->rows = nodes * S->block;
    S->near = S->block > 1;
    S->slices = (S->n + S->rows - 1) / S->rows;
}

/* Cells of a slice. */
static int64_t width_of(const tct_sliced *S, const tct_sliced_side *side,
                        int64_t slice)
{
    const int64_t first = slice * S->rows;
    int64_t most = 0;
    for (int64_t p = first; p < first + S->rows && p < S->n; p++) {
        const int64_t length = entries_of(S, side, side->row[p]).length;
        if (length > most) most = length;
    }
    return S->near + (most + S->lanes - 1) / S->lanes;
}

/* The arguments of loops over the rows or slices of a side. */
typedef struct {
    const tct_sliced *S;
    tct_sliced_side *side;
} cutting;

/* Rows of nodes, which stand in `position` by level. */
static void list_rows(void *work, int64_t from, int64_t to)
{
    const cutting *c = work;
    const int64_t block = c->S->block;
    tct_sliced_side *side = c->side;
    for (int64_t p = from; p < to; p++) {
        const int64_t o = p % block;
        side->row[p] = (int32_t)(side->position[p / block] * block +
                                 (side->skip ? block - 1 - o : o));
    }
}

static void find_positions(void *work, int64_t from, int64_t to)
{
    const cutting *c = work;
    for (int64_t p = from; p < to; p++)
        c->side->position[c->side->row[p]] = (int32_t)p;
}

static void find_widths(void *work, int64_t from, int64_t to)
{
    const cutting *c = work;
    for (int64_t s = from; s < to; s++)
        c->side->cell[s + 1] = width_of(c->S, c->side, s);
}

/* Nodes by level, and their rows as they wait for one another. */
static tacit_status sort_rows(const tct_sliced *S, const int32_t *level,
                              tct_sliced_side *side)
{
    const int64_t block = S->block, nodes = S->n / block;
    int64_t *first = NULL;
    TRY(TCT_ALLOC((int64_t)side->levels + 1, what, &first));
    /* nodes are sorted into `position`, which is overwritten last */
    const tacit_status status =
        tct_levels_sort(nodes, level, side->levels,
                        block > 1 ? side->position : side->row, first);
    tct_free(first);
    TRY(status);
    cutting c = {S, side};
    if (block > 1) tct_parallel(S->n, TCT_SHORT, list_rows, &c);
    tct_parallel(S->n, TCT_SHORT, find_positions, &c);
    return TACIT_OK;
}

static tacit_status cut(const tct_sliced *S, const int32_t *level,
                        tct_sliced_side *side)
{
    TRY(TCT_ALLOC(S->n, what, &side->row));
    TRY(TCT_ALLOC(S->n, what, &side->position));
    TRY(TCT_ALLOC(S->slices + 1, what, &side->cell));
    TRY(sort_rows(S, level, side));
    tct_parallel(S->slices, SLICES, find_widths, &(cutting){S, side});
    side->cell[0] = 0;
    for (int64_t s = 0; s < S->slices; s++) side->cell[s + 1] += side->cell[s];
    return TACIT_OK;
}

/* The entries of each lane: at, at + step, ... before end. */
typedef struct {
    int64_t at[TCT_SLICED_LANES], end[TCT_SLICED_LANES];
} lane_entries;

static void find_lanes(const tct_sliced *S, const tct_sliced_side *side,
                       int64_t slice, lane_entries *out)
{
    const int64_t first = slice * S->rows, left = S->n - first,
                  rows = left < S->rows ? left : S->rows;
    int l = 0;
    for (int64_t r = 0; r < rows; r++) {
        const entries far = entries_of(S, side, side->row[first + r]);
        for (int k = 0; k < S->lanes; k++, l++) {
            out->at[l] = far.first + k;
            out->end[l] = far.first + far.length;
        }
    }
    for (; l < TCT_SLICED_LANES; l++) out->at[l] = out->end[l] = 0;
}

/* Cell by cell over all lanes: accesses are scattered, but those of many lanes
 * overlap. */
static void fill_columns(const tct_sliced_side *side, const lane_entries *of,
                         int64_t step, int64_t cells, int32_t *col)
{
    for (int64_t c = 0; c < cells; c++, col += TCT_SLICED_LANES)
        for (int l = 0; l < TCT_SLICED_LANES; l++) {
            const int64_t e = of->at[l] + c * step;
            col[l] = e < of->end[l] ? side->position[side->col[e]] : -1;
        }
}

static void fill_values(const tct_sliced_side *side, const lane_entries *of,
                        int64_t step, int64_t cells, double *val)
{
    for (int64_t c = 0; c < cells; c++, val += TCT_SLICED_LANES)
        for (int l = 0; l < TCT_SLICED_LANES; l++) {
            const int64_t e = of->at[l] + c * step;
            val[l] = e < of->end[l] ? side->val[e] : 0.0;
        }
}

/* Fill the first cell of a slice with the entries within nodes. */
static void fill_near(const tct_sliced *S, const tct_sliced_side *side,
                      int64_t slice, double *val)
{
    const int64_t from = slice * S->rows;
    for (int l = 0; l < TCT_SLICED_LANES; l++) val[l] = 0.0;
    for (int64_t p = from; p < from + S->rows && p < S->n; p++) {
        const int64_t i = side->row[p], head = side->row[p - p % S->block];
        const entries far = entries_of(S, side, i);
        const int64_t behind = far.first + far.length,
                      first = side->skip ? side->ptr[i] + 1 : behind,
                      end = side->skip ? far.first : side->ptr[i + 1];
        double *own = val + (p - from) * S->lanes;
        for (int64_t e = first; e < end; e++) {
            const int64_t off = side->col[e] - head;
            own[off < 0 ? -off : off] = side->val[e];
        }
    }
}

static void fill_slice(const tct_sliced *S, const tct_sliced_side *side,
                       int64_t s, int32_t *col, double *val)
{
    const int64_t near = S->near * TCT_SLICED_LANES,
                  cells = side->cell[s + 1] - side->cell[s] - S->near;
    lane_entries of;
    find_lanes(S, side, s, &of);
    if (col) {
        for (int64_t l = 0; l < near; l++) col[l] = -1;
        fill_columns(side, &of, S->lanes, cells, col + near);
    }
    if (val) {
        if (S->near) fill_near(S, side, s, val);
        fill_values(side, &of, S->lanes, cells, val + near);
    }
}

/* Slices from `first` on. */
typedef struct {
    const tct_sliced *S;
    const tct_sliced_side *side;
    int64_t first;
    int32_t *col;
    double *val;
} slice_filling;

static void fill_slices(void *work, int64_t from, int64_t to)
{
    const slice_filling *f = work;
    const int64_t *cell = f->side->cell;
    for (int64_t s = f->first + from; s < f->first + to; s++) {
        const int64_t at = (cell[s] - cell[f->first]) * TCT_SLICED_LANES;
        fill_slice(f->S, f->side, s, f->col ? f->col + at : NULL,
                   f->val ? f->val + at : NULL);
    }
}

void tct_sliced_fill(const tct_sliced *S, const tct_sliced_side *side,
                     int64_t from, int64_t end, int32_t *col, double *val)
{
    tct_parallel(end - from, SLICES, fill_slices,
                 &(slice_filling){S, side, from, col, val});
}

/* --- both ----------------------------------------------------------------- */

static void clear_levels(void *work, int64_t from, int64_t to)
{
    int32_t *level = work;
    for (int64_t i = from; i < to; i++) level[i] = 0;
}

static tacit_status build(const tacit_factor_panels *P, tct_sliced *S,
                          int32_t **level)
{
    TRY(take_panels(P, S));
    S->block = find_block(S);
    TRY(TCT_ALLOC(2 * S->n, what, level));
    tct_parallel(2 * S->n, TCT_SHORT, clear_levels, *level);
    TRY(tct_sliced_transpose(S, *level));
    choose_lanes(S);
    TRY(cut(S, *level, &S->down));
    return cut(S, *level + S->n, &S->up);
}

tacit_status tct_sliced_open(const tacit_factor_panels *P, tct_sliced *out)
{
    int32_t *level = NULL;
    *out = (tct_sliced){.n = P->rows};
    const tacit_status status = build(P, out, &level);
    tct_free(level);
    return status;
}

void tct_sliced_close(tct_sliced *S)
{
    TCT_FREE(S->down.row, S->down.position, S->down.cell, S->up.row,
             S->up.position, S->up.cell);
    tct_free_each(sizeof S->own / sizeof *S->own, S->own);
    *S = (tct_sliced){.n = 0};
}
