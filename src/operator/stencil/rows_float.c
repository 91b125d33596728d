/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/rows_float.c - rows of floats. */
#define TCT_REAL           float
#define TCT_FMA(a, b, sum) __builtin_fmaf((a), (b), (sum))
#include "operator/stencil/host_text.h"

const tct_host_rows TCT_ISA_NAME(tct_rows_float) = TCT_ROWS;
