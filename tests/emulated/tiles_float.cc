/* SPDX-License-Identifier: BSD-3-Clause
 * tests/emulated/tiles_float.cc - tiles of floats. */
#include <math.h>
#define TCT_REAL           float
#define TCT_ADD(a, b)      ((a) + (b))
#define TCT_MUL(a, b)      ((a) * (b))
#define TCT_FMA(a, b, sum) fmaf((a), (b), (sum))
#include "tiles_text.h"

void emulated_visit_float(const tct_step_work *w, const emulated_visit *v)
{
    emulate(w, v);
}
