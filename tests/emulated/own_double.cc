/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/own_double.cc - tiles that stay, of doubles. */
#include <math.h>
#define TCT_REAL           double
#define TCT_ADD(a, b)      ((a) + (b))
#define TCT_MUL(a, b)      ((a) * (b))
#define TCT_FMA(a, b, sum) fma((a), (b), (sum))
#include "own_text.h"

size_t emulated_own_bytes_double(int columns, int rows)
{
    return own_bytes(columns, rows);
}

void emulated_own_double(emulated_own *k, int step, uint64_t seed)
{
    emulate_own(k, step, seed);
}
