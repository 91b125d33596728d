/* SPDX-License-Identifier: BSD-3-Clause
 * factor/level_kernels.c - the two sweeps over slices of independent rows;
 * compiled for each instruction set, without fused multiply-adds: all sets have
 * the same bits. */
#include "device/isa.h"
#include "factor/level_solve.h"

enum { LANES = TCT_LEVEL_LANES };
typedef double lanes __attribute__((vector_size(8 * LANES)));

INLINE lanes load(const double *x)
{
    lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void store(double *x, lanes v)
{
    memcpy(x, &v, sizeof v);
}

/* Loads one by one are at least as fast as a gather instruction. */
INLINE lanes gather(const double *x, const int32_t *at)
{
    return (lanes){x[at[0]], x[at[1]], x[at[2]], x[at[3]],
                   x[at[4]], x[at[5]], x[at[6]], x[at[7]]};
}

/* Solve for slice `s`; its columns are known. */
INLINE lanes solve(const tct_level_half *h, int64_t s, const double *b)
{
    const double *v = h->v;
    lanes left = gather(b, h->from + LANES * s);
    for (int64_t e = h->start[s]; e < h->start[s + 1]; e++)
        left -= load(h->value + LANES * e) * gather(v, h->col + LANES * e);
    return left * load(h->inverse + LANES * s);
}

static void down(const tct_level_half *h, const double *b)
{
    for (int64_t s = 0; s < h->slices; s++)
        store(h->v + LANES * s, solve(h, s, b));
}

static void up(const tct_level_half *h, const double *b, const int32_t *to,
               double *x)
{
    for (int64_t s = 0; s < h->slices; s++) {
        double *own = h->v + LANES * s;
        store(own, solve(h, s, b));
        for (int i = 0; i < h->filled[s]; i++) x[to[LANES * s + i]] = own[i];
    }
}

#define tct_level_kernels_isa TCT_ISA_NAME(tct_level_kernels)
const tct_level_kernels tct_level_kernels_isa = {.down = down, .up = up};
