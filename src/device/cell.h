/* SPDX-License-Identifier: BSD-3-Clause
 * device/cell.h - bytes of a message in a cell with its number (numbered.h):
 * TCT_CELL_BYTES of them are the cell's value. One text for kernels and for the
 * CPU. */
#ifndef TCT_DEVICE_CELL_H
#define TCT_DEVICE_CELL_H
#include "device/protocol.h"
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bytes of a cell are in the order of their weight"
#endif

enum { TCT_CELL_BYTES = sizeof(double) };

TCT_BOTH bool tct_cell_is_whole(const char *at, int64_t left)
{
    return left >= TCT_CELL_BYTES && (uintptr_t)at % TCT_CELL_BYTES == 0;
}

/* Bytes one by one, in few instructions. */
#if TCT_ON_GPU
#define TCT_ONE_BY_ONE _Pragma("unroll 1")
#else
#define TCT_ONE_BY_ONE
#endif

/* At most TCT_CELL_BYTES of `left` bytes; no bytes are 0. */
TCT_BOTH double tct_cell_load(const char *from, int64_t left)
{
    double value;
    uint64_t bits = 0;
    if (tct_cell_is_whole(from, left)) {
        memcpy(&value, __builtin_assume_aligned(from, TCT_CELL_BYTES),
               sizeof value);
        return value;
    }
    TCT_ONE_BY_ONE
    for (int k = 0; k < TCT_CELL_BYTES && k < left; k++)
        bits |= (uint64_t)(unsigned char)from[k] << 8 * k;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TCT_BOTH void tct_cell_store(char *to, double value, int64_t left)
{
    uint64_t bits;
    if (tct_cell_is_whole(to, left)) {
        memcpy(__builtin_assume_aligned(to, TCT_CELL_BYTES), &value,
               sizeof value);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    TCT_ONE_BY_ONE
    for (int k = 0; k < TCT_CELL_BYTES && k < left; k++)
        to[k] = (char)(bits >> 8 * k);
}

#undef TCT_ONE_BY_ONE

#endif
