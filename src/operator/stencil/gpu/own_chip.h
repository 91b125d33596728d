/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_chip.h - tiles of small grids of two dimensions that
 * stay in the shared memory of their blocks: one text for the kernel
 * (own_chip.cuh) and for its twin of threads, for the type TCT_REAL, of which
 * operator/stencil/cell.h is included before.
 *
 * A room is a tile and `reach` cells around it. A visit makes up to `reach`
 * steps of the room, each from one of two states to the other; what the cells
 * around are is then wrong by a cell a step, and no tile's own. Cells that
 * others read are then sent, each as a numbered value (device/protocol.h): to
 * an array that is laid out as the field, and to those of other ranks. The next
 * visit waits for the cells around the tile, and for nothing else: there are no
 * flags and no fences, and a wait for another GPU is beside those for tiles.
 *
 * Visits are numbered from 1, on all ranks alike. Number m is in slot m % 2. It
 * is sent after the cells of m - 1 of all tiles around have come, which these
 * have sent after they had read m - 2: nothing is overwritten before it is
 * read. Cells of a field's buffer are read in the first visit alone; fences
 * then keep them from what others store in the second one. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_CHIP_H
#define TCT_OPERATOR_STENCIL_GPU_OWN_CHIP_H
#include "device/protocol.h"
#include "operator/stencil/gpu/own_job.h"
#include <string.h>
#ifdef TCT_REAL

/* Cells of a thread at its tile's edge, or around the tile. */
typedef struct chip_cell {
    int at;   /* in the room; -1: nothing */
    int x, z; /* in the block             */
} chip_cell;

/* The outer cells of a box. */
typedef struct chip_frame {
    int wide, high; /* of the box                    */
    int rows[2];    /* whole ones, above and below   */
    int columns[2]; /* west and east, of other rows  */
} chip_frame;

/* A thread's view of a room. */
typedef struct chip_room {
    int thread, threads;
    int lo[2];              /* column 0 and row 0, as cells of the block   */
    int wide, high;         /* columns and rows                            */
    int from[2], to[2];     /* ... that are of the grid                    */
    int column, first, end; /* of this thread: rows [first, end) of it     */
    chip_cell takes, gives; /* its first cells of what is exchanged        */
    TCT_REAL centre, neighbours; /* weights of a step                      */
} chip_room;

/* The least number of a pair, and the largest. */
TCT_LANE int chip_min(int a, int b)
{
    return a < b ? a : b;
}
TCT_LANE int chip_max(int a, int b)
{
    return a > b ? a : b;
}

/* --- frames --------------------------------------------------------------- */

TCT_LANE chip_frame chip_frame_of(int wide, int high, int reach)
{
    chip_frame f;
    f.wide = wide;
    f.high = high;
    f.rows[0] = chip_min(reach, high);
    f.rows[1] = chip_min(reach, high - f.rows[0]);
    f.columns[0] = chip_min(reach, wide);
    f.columns[1] = chip_min(reach, wide - f.columns[0]);
    return f;
}

TCT_LANE int chip_frame_cells(const chip_frame *f)
{
    const int whole = f->rows[0] + f->rows[1];
    return f->wide * whole +
           (f->high - whole) * (f->columns[0] + f->columns[1]);
}

/* Column and row of cell `k`: whole rows come first. */
TCT_LANE void chip_frame_cell(const chip_frame *f, int k, int *column, int *row)
{
    const int whole = f->rows[0] + f->rows[1];
    const int sides = f->columns[0] + f->columns[1];
    if (k < f->wide * whole) {
        *row = k / f->wide;
        *column = k % f->wide;
        if (*row >= f->rows[0]) *row += f->high - whole;
        return;
    }
    k -= f->wide * whole;
    *row = f->rows[0] + k / sides;
    *column = k % sides;
    if (*column >= f->columns[0]) *column += f->wide - sides;
}

/* --- rooms ---------------------------------------------------------------- */

TCT_LANE int chip_wrap(const tct_step_work *w, int d, int i)
{
    const int n = w->n[d];
    if (!w->closes[d] || (i >= 0 && i < n)) return i;
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}

TCT_LANE bool chip_is_there(const chip_room *r, int column, int row)
{
    return column >= r->from[0] && column < r->to[0] && row >= r->from[1] &&
           row < r->to[1];
}

TCT_LANE chip_cell chip_nothing(void)
{
    const chip_cell c = {-1, 0, 0};
    return c;
}

TCT_LANE chip_cell chip_cell_of(const tct_own_job *J, const chip_room *r,
                                int column, int row)
{
    const tct_step_work *w = &J->w;
    chip_cell c;
    c.at = chip_is_there(r, column, row) ? row * r->wide + column : -1;
    c.x = chip_wrap(w, 0, r->lo[0] + column);
    c.z = chip_wrap(w, 2, r->lo[1] + row);
    return c;
}

/* In an array, from cell (0, 0, 0) on. */
TCT_LANE int64_t chip_in(const tct_own_job *J, const chip_cell *c)
{
    return c->z * J->w.plane + c->x;
}

/* Is it another rank's? */
TCT_LANE bool chip_is_far(const tct_own_job *J, const chip_cell *c)
{
    const int *n = J->w.n;
    return c->x < 0 || c->x >= n[0] || c->z < 0 || c->z >= n[2];
}

/* A star of one step does not read the corners of the room. */
TCT_LANE bool chip_is_read(const tct_own_job *J, const chip_room *r, int column,
                           int row)
{
    const bool star = J->reach == 1 && J->w.shape == TCT_STAR2;
    return !star || (column > 0 && column < r->wide - 1) ||
           (row > 0 && row < r->high - 1);
}

/* Cell `k` around the tile. Without neighbours nothing comes from other
 * ranks. */
TCT_LANE chip_cell chip_taken(const tct_own_job *J, const chip_room *r, int k)
{
    const chip_frame f = chip_frame_of(r->wide, r->high, J->reach);
    int column, row;
    chip_frame_cell(&f, k, &column, &row);
    chip_cell c = chip_cell_of(J, r, column, row);
    if (!chip_is_read(J, r, column, row) ||
        (J->puts == 0 && chip_is_far(J, &c)))
        c.at = -1;
    return c;
}

TCT_LANE chip_frame chip_edge(const tct_own_job *J, const chip_room *r)
{
    return chip_frame_of(r->wide - 2 * J->reach, r->high - 2 * J->reach,
                         J->reach);
}

/* Cell `k` of the tile's edge. */
TCT_LANE chip_cell chip_given(const tct_own_job *J, const chip_room *r, int k)
{
    const chip_frame f = chip_edge(J, r);
    int column, row;
    chip_frame_cell(&f, k, &column, &row);
    return chip_cell_of(J, r, column + J->reach, row + J->reach);
}

/* Columns (d 0) or rows (d 1) of the room that are of the grid. */
TCT_LANE void chip_clip(const tct_step_work *w, int d, int all, chip_room *r)
{
    const int axis = 2 * d, lo = r->lo[d];
    r->from[d] = w->closes[axis] ? 0 : chip_max(w->low[axis] - lo, 0);
    r->to[d] = w->closes[axis] ? all : chip_min(w->high[axis] - lo, all);
}

/* Of a block of `threads` threads, at least as many as the room has columns. */
TCT_LANE chip_room chip_room_of(const tct_own_job *J, const tct_box *b,
                                int thread, int threads)
{
    chip_room r;
    r.centre = (TCT_REAL)J->w.centre;
    r.neighbours = (TCT_REAL)J->w.neighbours;
    r.thread = thread;
    r.threads = threads;
    r.lo[0] = b->lo[0] - J->reach;
    r.lo[1] = b->lo[2] - J->reach;
    r.wide = b->hi[0] - b->lo[0] + 2 * J->reach;
    r.high = b->hi[2] - b->lo[2] + 2 * J->reach;
    chip_clip(&J->w, 0, r.wide, &r);
    chip_clip(&J->w, 1, r.high, &r);
    const int each = (r.high - 1) / (threads / r.wide) + 1;
    r.column = thread % r.wide;
    r.first = thread / r.wide * each;
    r.end = chip_min(r.first + each, r.high);
    const chip_frame around = chip_frame_of(r.wide, r.high, J->reach);
    const chip_frame edge = chip_edge(J, &r);
    r.takes = r.gives = chip_nothing();
    if (thread < chip_frame_cells(&around)) r.takes = chip_taken(J, &r, thread);
    if (thread < chip_frame_cells(&edge)) r.gives = chip_given(J, &r, thread);
    return r;
}

/* Both states, before the first visit. */
TCT_LANE void chip_load(const tct_own_job *J, const chip_room *r,
                        const TCT_REAL *in, TCT_REAL *a, TCT_REAL *b)
{
    for (int k = r->thread; k < r->wide * r->high; k += r->threads) {
        const int column = k % r->wide, row = k / r->wide;
        const chip_cell c = chip_cell_of(J, r, column, row);
        const bool reads = c.at >= 0 && chip_is_read(J, r, column, row);
        a[k] = b[k] = reads ? in[chip_in(J, &c)] : (TCT_REAL)J->w.boundary;
    }
}

/* --- steps ---------------------------------------------------------------- */

/* Rows [first, end) of a column, which begins at `from`, `to`. */
TCT_LANE void chip_star(const chip_room *r, const TCT_REAL *from, TCT_REAL *to,
                        int first, int end, bool has_centre)
{
    const int wide = r->wide;
    const TCT_REAL *row = from + first * wide;
    TCT_REAL north = row[-wide], cell = row[0];
    for (int y = first; y < end; y++, row += wide) {
        const TCT_REAL south = row[wide];
        to[y * wide] = weighted(has_centre, r->centre, cell, r->neighbours,
                                sum_star2(&north, row, &south, 0));
        north = cell;
        cell = south;
    }
}

/* With the sums p and q of rows (cell.h). */
TCT_LANE void chip_box(const chip_room *r, const TCT_REAL *from, TCT_REAL *to,
                       int first, int end, bool has_centre)
{
    const int wide = r->wide;
    const TCT_REAL *row = from + first * wide;
    TCT_REAL north = row_q(row - wide, 0), p = row_p(row, 0), cell = row[0];
    for (int y = first; y < end; y++) {
        row += wide;
        const TCT_REAL south_p = row_p(row, 0), south = row[0];
        const TCT_REAL south_q = TCT_ADD(south_p, south);
        const TCT_REAL sum = TCT_ADD(TCT_ADD(north, south_q), p);
        to[y * wide] =
            weighted(has_centre, r->centre, cell, r->neighbours, sum);
        north = TCT_ADD(p, cell);
        p = south_p;
        cell = south;
    }
}

/* A step of the tile and of `more` cells around it, fewer than `reach`. */
TCT_LANE void chip_step(const tct_own_job *J, const chip_room *r,
                        const TCT_REAL *from, TCT_REAL *to, int more, bool box,
                        bool has_centre)
{
    const int margin = J->reach - more, x = r->column;
    const int first = chip_max(r->first, chip_max(margin, r->from[1]));
    const int end = chip_min(r->end, chip_min(r->high - margin, r->to[1]));
    if (x < chip_max(margin, r->from[0]) ||
        x >= chip_min(r->wide - margin, r->to[0]) || first >= end)
        return;
    if (box) chip_box(r, from + x, to + x, first, end, has_centre);
    else chip_star(r, from + x, to + x, first, end, has_centre);
}

/* The tile's own cells, and the copies of the ends of rows that close. */
TCT_LANE void chip_store(const tct_own_job *J, const chip_room *r,
                         const TCT_REAL *state, TCT_REAL *out)
{
    const int reach = J->reach, x = r->lo[0] + r->column, n = J->w.n[0];
    const int first = chip_max(r->first, reach);
    const int end = chip_min(r->end, r->high - reach);
    if (r->column < reach || r->column >= r->wide - reach) return;
    for (int y = first; y < end; y++) {
        const TCT_REAL value = state[y * r->wide + r->column];
        TCT_REAL *row = out + (r->lo[1] + y) * J->w.plane;
        row[x] = value;
        if (!J->w.closes[0]) continue;
        if (x == 0) row[n] = value;
        if (x == n - 1) row[-1] = value;
    }
}

/* --- numbered values ------------------------------------------------------ */

/* The bits of a cell as those of a double, and back. */
TCT_LANE double chip_packed(TCT_REAL cell)
{
    uint64_t bits = 0;
    double value;
    memcpy(&bits, &cell, sizeof cell);
    memcpy(&value, &bits, sizeof value);
    return value;
}
TCT_LANE TCT_REAL chip_unpacked(double value)
{
    uint64_t bits;
    TCT_REAL cell;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&cell, &bits, sizeof cell);
    return cell;
}

/* Does a box of a halo, from `lo` on, have cell (x, 0, z) of the block? */
TCT_LANE bool chip_has(const tct_own_job *J, const int64_t *lo,
                       const int64_t *extent, int x, int z)
{
    const int64_t i[3] = {x + J->x, 0, z};
    bool all = true;
    for (int d = 0; d < 3; d++)
        all = all && i[d] >= lo[d] && i[d] < lo[d] + extent[d];
    return all;
}

/* Send the tile's edge as `number`, to other ranks first. */
TCT_LANE void chip_send(const tct_own_job *J, const chip_room *r,
                        const tct_halo_put *put, int sides,
                        const TCT_REAL *state, uint64_t number)
{
    const int slot = tct_buffer_of(number);
    const chip_frame edge = chip_edge(J, r);
    const int all = chip_frame_cells(&edge);
    for (int k = r->thread; k < all; k += r->threads) {
        const chip_cell c = k == r->thread ? r->gives : chip_given(J, r, k);
        const double value = chip_packed(state[c.at]);
        for (int i = 0; i < sides; i++) {
            const tct_halo_put *p = &put[i];
            if (!chip_has(J, p->send, p->extent, c.x, c.z)) continue;
            char *row = p->at[slot] + c.z * p->plane;
            tct_numbered_send((tct_numbered *)(void *)row + J->x + c.x, value,
                              number);
        }
        tct_numbered_send(J->cell[slot] + chip_in(J, &c), value, number);
    }
}

/* Until the value is that of `number`. */
TCT_LANE tct_wait_status chip_await(const tct_numbered *from, uint64_t number,
                                    tct_limit L, tct_numbered *got)
{
    tct_wait w = {0, 0};
    while (got->number != number) {
        if (got->number > number) return TCT_AHEAD;
        const tct_wait_status status = tct_poll(&w, L);
        if (status != TCT_NOT_YET) return status;
        *got = tct_numbered_value(from);
    }
    return TCT_CAME;
}

enum { CHIP_AT_ONCE = 4 /* values that are loaded together */ };

/* Receive up to CHIP_AT_ONCE cells around the tile, from `k` on; if one does not
 * come, `lost` is that. */
TCT_LANE tct_wait_status chip_receive_some(const tct_own_job *J,
                                           const chip_room *r, int k, int all,
                                           TCT_REAL *state, uint64_t number,
                                           chip_cell *lost)
{
    const tct_numbered *array = J->cell[tct_buffer_of(number)];
    tct_numbered got[CHIP_AT_ONCE];
    chip_cell c[CHIP_AT_ONCE];
    for (int i = 0; i < CHIP_AT_ONCE; i++) {
        const int at = k + i * r->threads;
        c[i] = chip_nothing();
        if (at < all) c[i] = at == r->thread ? r->takes : chip_taken(J, r, at);
        if (c[i].at >= 0)
            got[i] = tct_numbered_value(array + chip_in(J, &c[i]));
    }
    for (int i = 0; i < CHIP_AT_ONCE; i++) {
        if (c[i].at < 0) continue;
        const tct_limit L = {chip_is_far(J, &c[i]) ? J->peer_ns : J->limit_ns,
                             J->gone};
        const tct_wait_status status =
            chip_await(array + chip_in(J, &c[i]), number, L, &got[i]);
        *lost = c[i];
        if (status != TCT_CAME) return status;
        state[c[i].at] = chip_unpacked(got[i].value);
    }
    return TCT_CAME;
}

/* Receive the cells around the tile as `number`. */
TCT_LANE tct_wait_status chip_receive(const tct_own_job *J, const chip_room *r,
                                      TCT_REAL *state, uint64_t number,
                                      chip_cell *lost)
{
    const chip_frame around = chip_frame_of(r->wide, r->high, J->reach);
    const int all = chip_frame_cells(&around);
    for (int k = r->thread; k < all; k += CHIP_AT_ONCE * r->threads) {
        const tct_wait_status status =
            chip_receive_some(J, r, k, all, state, number, lost);
        if (status != TCT_CAME) return status;
    }
    return TCT_CAME;
}

/* 1 + the rank that has a cell, of the tile's neighbours; 0: this one. */
TCT_LANE uint64_t chip_owner(const tct_own_job *J, const tct_halo_put *put,
                             int sides, const chip_cell *c)
{
    const bool is_far = chip_is_far(J, c);
    for (int i = 0; i < sides; i++)
        if (is_far && chip_has(J, put[i].receive, put[i].extent, c->x, c->z))
            return 1 + (uint64_t)put[i].peer;
    return 0;
}

#endif
#endif
