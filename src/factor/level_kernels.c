/* SPDX-License-Identifier: BSD-3-Clause
 * factor/level_kernels.c - the two sweeps over slices of independent rows;
 * compiled for each instruction set, without fused multiply-adds: all sets have
 * the same bits. */
#include "device/isa.h"
#include "factor/level_solve.h"

enum { EIGHT = TCT_LEVEL_LANES };
typedef double eight __attribute__((vector_size(8 * EIGHT)));

INLINE eight load(const double *x)
{
    eight v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void store(double *x, eight v)
{
    memcpy(x, &v, sizeof v);
}

/* Loads one by one are at least as fast as a gather instruction. */
INLINE eight gather(const double *x, const int32_t *at)
{
    return (eight){x[at[0]], x[at[1]], x[at[2]], x[at[3]],
                   x[at[4]], x[at[5]], x[at[6]], x[at[7]]};
}

/* Solve for slice `s`; its columns are known. */
INLINE eight solve(const tct_level_half *h, int64_t s, const double *b)
{
    const double *v = h->v;
    eight left = gather(b, h->from + EIGHT * s);
    for (int64_t e = h->start[s]; e < h->start[s + 1]; e++)
        left -= load(h->value + EIGHT * e) * gather(v, h->col + EIGHT * e);
    return left * load(h->inverse + EIGHT * s);
}

static void down(const tct_level_half *h, const double *b)
{
    for (int64_t s = 0; s < h->slices; s++)
        store(h->v + EIGHT * s, solve(h, s, b));
}

static void up(const tct_level_half *h, const double *b, const int32_t *to,
               double *x)
{
    for (int64_t s = 0; s < h->slices; s++) {
        double *own = h->v + EIGHT * s;
        store(own, solve(h, s, b));
        for (int i = 0; i < h->filled[s]; i++) x[to[EIGHT * s + i]] = own[i];
    }
}

#define tct_level_kernels_isa TCT_ISA_NAME(tct_level_kernels)
const tct_level_kernels tct_level_kernels_isa = {.down = down, .up = up};
