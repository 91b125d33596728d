/* SPDX-License-Identifier: BSD-3-Clause
 * device/cell.h - bytes of a message in a cell with its number (numbered.h):
 * TCT_CELL_BYTES of them are the cell's value. One text for kernels and for the
 * CPU. */
#ifndef TCT_DEVICE_CELL_H
#define TCT_DEVICE_CELL_H
#include "device/protocol.h"
#include <string.h>

enum { TCT_CELL_BYTES = sizeof(double) };

TCT_BOTH bool tct_cell_is_whole(const char *at, int64_t left)
{
    return left >= TCT_CELL_BYTES && (uintptr_t)at % TCT_CELL_BYTES == 0;
}

/* At most TCT_CELL_BYTES of `left` bytes; no bytes are 0. */
TCT_BOTH double tct_cell_load(const char *from, int64_t left)
{
    char bytes[TCT_CELL_BYTES] = {0};
    double value;
    if (tct_cell_is_whole(from, left)) {
        memcpy(&value, __builtin_assume_aligned(from, TCT_CELL_BYTES),
               sizeof value);
        return value;
    }
    for (int k = 0; k < TCT_CELL_BYTES; k++)
        if (k < left) bytes[k] = from[k];
    memcpy(&value, bytes, sizeof value);
    return value;
}

TCT_BOTH void tct_cell_store(char *to, double value, int64_t left)
{
    char bytes[TCT_CELL_BYTES];
    if (tct_cell_is_whole(to, left)) {
        memcpy(__builtin_assume_aligned(to, TCT_CELL_BYTES), &value,
               sizeof value);
        return;
    }
    memcpy(bytes, &value, sizeof value);
    for (int k = 0; k < TCT_CELL_BYTES; k++)
        if (k < left) to[k] = bytes[k];
}

#endif
