/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/cells.h - small messages in numbered cells: one text for kernels
 * and for the CPU. A cell has 8 bytes of a message and its number, which are
 * stored at once: data and signal are one store, and neither end has a fence.
 *
 * The receiver's memory has some slots of cells; message n is in slot n %
 * slots. A receiver that starts message m, and sets `cleared` to m at the
 * sender, has waited for all messages before m. So m = n - slots + 1 clears the
 * slot of message n, and a wait sends nothing back. A ready sender asks for
 * nothing: its program promises that the buffer may be overwritten.
 *
 * Cells take the place of the slots, of the window and of the signals `taken`
 * and `arrived` of device/rendezvous.h where both ends are in memory of their
 * driver (parts.h). */
#ifndef TCT_TRIGGERED_CELLS_H
#define TCT_TRIGGERED_CELLS_H
#include "device/cell.h"
#include "device/rendezvous.h"

/* Bytes of the largest message that has cells, which are twice as many; with
 * up to TCT_EAGER_MOST a receive has more slots. */
enum {
    TCT_CELLS_MOST = 1 << 16,
    TCT_SLOTS_OF_SMALL = 4,
    TCT_SLOTS_OF_LARGE = 2
};

/* Constants of an end. */
typedef struct tct_end_cells {
    struct tct_numbered *slot; /* [slots][each], NULL: no cells */
    int32_t each;              /* of a slot: of the receiver's bytes */
    int32_t count;             /* of a message */
} tct_end_cells;

/* Has a message of so many bytes cells, and how many? At least one, which says
 * that an empty message has come. */
TCT_BOTH bool tct_has_cells(int64_t bytes)
{
    return bytes <= TCT_CELLS_MOST;
}
TCT_BOTH int32_t tct_cells_of(int64_t bytes)
{
    const int64_t most = TCT_CELLS_MOST, b = bytes < most ? bytes : most;
    return b <= 0 ? 1 : (int32_t)((b + TCT_CELL_BYTES - 1) / TCT_CELL_BYTES);
}
/* Slots of a receive with so many cells each: a power of two. */
TCT_BOTH int32_t tct_cell_slots(int32_t each)
{
    return each <= TCT_EAGER_MOST / TCT_CELL_BYTES ? TCT_SLOTS_OF_SMALL
                                                   : TCT_SLOTS_OF_LARGE;
}

TCT_BOTH struct tct_numbered *tct_cells_slot(const tct_end_cells *c,
                                             uint64_t number)
{
    const uint64_t last = (uint64_t)tct_cell_slots(c->each) - 1;
    return c->slot + (int64_t)(number & last) * c->each;
}

/* The message whose start clears the slot of `number`; 0: it is free. */
TCT_BOTH uint64_t tct_cells_after(const tct_end_cells *c, uint64_t number)
{
    const uint64_t slots = (uint64_t)tct_cell_slots(c->each);
    return number > slots ? number - slots + 1 : 0;
}
/* A sender's reading of `cleared`, which is NULL if the receiver is always
 * ready; and whether message `number` may be stored then. */
TCT_LANE uint64_t tct_cells_cleared(const uint64_t *cleared)
{
    return cleared ? tct_signal_value(cleared) : UINT64_MAX;
}
TCT_BOTH bool tct_cells_fit(const tct_end_cells *c, uint64_t seen,
                            uint64_t number)
{
    return seen >= tct_cells_after(c, number);
}
TCT_LANE bool tct_cells_room(const tct_end_cells *c, const uint64_t *cleared,
                             uint64_t number)
{
    return tct_cells_fit(c, tct_cells_cleared(cleared), number);
}

/* --- cell i of a message ------------------------------------------------- */

TCT_LANE void tct_cell_send(struct tct_numbered *slot, int64_t i,
                            uint64_t number, const char *from, int64_t bytes)
{
    const int64_t at = TCT_CELL_BYTES * i;
    tct_numbered_send(&slot[i], tct_cell_load(from + at, bytes - at), number);
}

/* Has it come? Then its bytes are stored at `to`. */
TCT_LANE bool tct_cell_take(const struct tct_numbered *slot, int64_t i,
                            uint64_t number, char *to, int64_t bytes)
{
    const int64_t at = TCT_CELL_BYTES * i;
    const struct tct_numbered got = tct_numbered_value(&slot[i]);
    if (got.number < number) return false;
    tct_cell_store(to + at, got.value, bytes - at);
    return true;
}

#endif
