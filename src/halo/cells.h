/* SPDX-License-Identifier: BSD-3-Clause
 * halo/cells.h - messages of a fused halo in numbered cells: one text for
 * kernels and for the CPU. A cell has 8 bytes of a message and the number of
 * the exchange, which are stored at once: no signal follows, and no block waits
 * for another one that stores. For kernels include device/gpu/lane.cuh first.
 *
 * Cells are double-buffered as the messages are, behind which they are: a rank
 * starts exchange e + 1 after all cells of e have come from all its neighbours.
 * They have then read those of e - 1. */
#ifndef TCT_HALO_CELLS_H
#define TCT_HALO_CELLS_H
#include "device/cell.h"
#include "halo/copies.h"

/* Bytes of the largest message that has cells. */
enum { TCT_HALO_CELLS_MOST = 1 << 16 };

/* Has a copy whole cells in each row? */
TCT_BOTH bool tct_halo_has_cells(const tct_halo_copy *c)
{
    return c->row % TCT_CELL_BYTES == 0;
}
TCT_BOTH int64_t tct_halo_cells(const tct_halo_copy *c)
{
    return tct_halo_copy_bytes(c) / TCT_CELL_BYTES;
}

/* The distance of cell i of a box from its begin. */
TCT_BOTH int64_t tct_halo_cell_at(const tct_halo_copy *c, int64_t i,
                                  int64_t pitch, int64_t plane)
{
    const int64_t row = c->row / TCT_CELL_BYTES, line = i / row;
    const int64_t z = line / c->rows, y = line - z * c->rows;
    return z * plane + y * pitch + (i - line * row) * TCT_CELL_BYTES;
}

/* Send cell i of a box, from a field; `base` 0: there is none, and zeros are
 * sent. `cells`: those of the message. */
TCT_LANE void tct_halo_cell_send(const tct_halo_copy *c, uintptr_t base,
                                 struct tct_numbered *cells, int64_t i,
                                 uint64_t number)
{
    const char *from = (const char *)(base + c->from +
                                      (uintptr_t)tct_halo_cell_at(
                                          c, i, c->from_pitch, c->from_plane));
    const double value = base ? tct_cell_load(from, TCT_CELL_BYTES) : 0.0;
    tct_numbered_send(&cells[i], value, number);
}

/* Has cell i of a box come? Then it is stored to a field. */
TCT_LANE bool tct_halo_cell_take(const tct_halo_copy *c, uintptr_t base,
                                 const struct tct_numbered *cells, int64_t i,
                                 uint64_t number)
{
    const struct tct_numbered got = tct_numbered_value(&cells[i]);
    if (got.number < number) return false;
    if (base)
        tct_cell_store((char *)(base + c->to +
                                (uintptr_t)tct_halo_cell_at(c, i, c->to_pitch,
                                                            c->to_plane)),
                       got.value, TCT_CELL_BYTES);
    return true;
}

#endif
