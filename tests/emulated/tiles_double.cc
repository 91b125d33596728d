/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/tiles_double.cc - tiles of doubles. */
#include <math.h>
#define TCT_REAL           double
#define TCT_ADD(a, b)      ((a) + (b))
#define TCT_MUL(a, b)      ((a) * (b))
#define TCT_FMA(a, b, sum) fma((a), (b), (sum))
#include "tiles_text.h"

void emulated_visit_double(const tct_step_work *w, const emulated_visit *v)
{
    emulate(w, v);
}
