/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/combine.h - all-reductions: the parts of all ranks in their order,
 * one text for kernels and for the CPU. */
#ifndef TCT_TRIGGERED_COMBINE_H
#define TCT_TRIGGERED_COMBINE_H
#include "device/steps.h"
#include <stdint.h>
#include <tacit/triggered.h>

/* U adds: sums of integers wrap around. */
#define TCT_COMBINE(name, T, U)                                          \
    TCT_BOTH T tct_combine_##name(tacit_reduction op, T total, T part)   \
    {                                                                    \
        if (op == TACIT_SUM) return (T)((U)total + (U)part);             \
        return (op == TACIT_MIN) == (part < total) ? part : total;       \
    }                                                                    \
    TCT_BOTH T tct_combine_all_##name(tacit_reduction op, int ranks,     \
                                      int64_t count, const T *parts,     \
                                      int64_t i)                         \
    {                                                                    \
        T total = parts[i];                                              \
        for (int r = 1; r < ranks; r++)                                  \
            total = tct_combine_##name(op, total, parts[r * count + i]); \
        return total;                                                    \
    }
TCT_COMBINE(i32, int32_t, uint32_t)
TCT_COMBINE(i64, int64_t, uint64_t)
TCT_COMBINE(f32, float, float)
TCT_COMBINE(f64, double, double)
#undef TCT_COMBINE

#endif
