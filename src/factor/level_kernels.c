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

/* Slice `s` of `left` without its entries times what is known of v. */
INLINE lanes subtract(const tct_level_half *h, int64_t s, const double *v,
                      lanes left)
{
    for (int64_t e = h->start[s]; e < h->start[s + 1]; e++)
        left -= load(h->value + LANES * e) * gather(v, h->col + LANES * e);
    return left;
}

static void down(tct_level_solve *S, const double *b)
{
    double *v = S->v;
    for (int64_t s = 0; s < S->slices; s++) {
        const lanes left =
            subtract(&S->down, s, v, gather(b, S->from + LANES * s));
        store(v + LANES * s, left * load(S->inverse + LANES * s));
    }
}

static void up(tct_level_solve *S, double *x)
{
    double *v = S->v;
    for (int64_t s = S->slices; s-- > 0;) {
        const int32_t *from = S->from + LANES * s;
        double *own = v + LANES * s;
        const lanes left = subtract(&S->up, s, v, load(own));
        store(own, left * load(S->inverse + LANES * s));
        for (int i = 0; i < S->filled[s]; i++) x[from[i]] = own[i];
    }
}

#define tct_level_kernels_isa TCT_ISA_NAME(tct_level_kernels)
const tct_level_kernels tct_level_kernels_isa = {.down = down, .up = up};
