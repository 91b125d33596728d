/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/own_float.cc - tiles that stay, of floats. */
#include <math.h>
#define TCT_REAL           float
#define TCT_ADD(a, b)      ((a) + (b))
#define TCT_MUL(a, b)      ((a) * (b))
#define TCT_FMA(a, b, sum) fmaf((a), (b), (sum))
#include "own_text.h"

size_t emulated_own_bytes_float(int columns, int rows)
{
    return own_bytes(columns, rows);
}

void emulated_own_float(emulated_own *k, int step, uint64_t seed)
{
    emulate_own(k, step, seed);
}
