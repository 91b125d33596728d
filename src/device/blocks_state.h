/* SPDX-License-Identifier: BSD-3-Clause
 * device/blocks_state.h - the sums and the state of a block of iterations
 * (blocks.h), and the threads that share its arithmetic. */
#ifndef TCT_DEVICE_BLOCKS_STATE_H
#define TCT_DEVICE_BLOCKS_STATE_H
#include "device/steps.h"

enum { TCT_SSTEP_MOST = 16 }; /* vectors of a block; kept directions */

/* The sums for s vectors: (r, r), the change of r when it is recomputed, and
 * (P, Z)' (A Z, r), column by column; P has `most` columns. Moments need fewer:
 * see blocks_moment. */
enum { SUM_RR, SUM_DRIFT, SUM_GRAM };
#define TCT_SSTEP_SUMS_OF(s, most) (SUM_GRAM + ((s) + (most)) * ((s) + 1))
enum { TCT_SSTEP_SUMS = TCT_SSTEP_SUMS_OF(TCT_SSTEP_MOST, TCT_SSTEP_MOST) };

typedef double tct_small[TCT_SSTEP_MOST][TCT_SSTEP_MOST];

/* The state of blocks, in device memory. */
typedef struct tct_blocks {
    /* set by the CPU */
    int most;     /* the most vectors of a block */
    int moments;  /* as in [CG89]: from the moments of r */
    int plain;    /* no M: (r, r) is in the Gram matrix */
    int bound;    /* fixed length: stop if another is better */
    int s;        /* the most vectors of the next block */
    double limit; /* of iterations                                          */
    double early; /* ... after which a restart costs too much */
    double sigma; /* of moments: powers of A M / sigma */
    double term[TCT_SSTEP_MOST]
               [2]; /* 1 / sigma and -theta / sigma of a basis */
    /* the last block */
    int taken;   /* iterations                                                */
    int n;       /* columns of P in use; the others are 0 */
    int again;   /* blocks so far without conjugation */
    int alone;   /* blocks of one in a row, with r lost */
    int grown;   /* blocks in a row that could be longer, */
    int shrunk;  /* ... or at most half as long */
    int since;   /* iterations since r was recomputed */
    int drifted; /* r is not recomputed any more: its change is large */
    double renew; /* 1: recompute r, or 0 */
    double alpha[TCT_SSTEP_MOST];
    tct_small inverse; /* T', a row for each direction */
    double mix[2 * TCT_SSTEP_MOST * (TCT_SSTEP_MOST + 1)];
} tct_blocks;

/* The reason for a pause, with BAD_PAUSE in C_BAD. */
enum {
    PAUSE_LIMIT, /* no iteration left */
    PAUSE_SHAPE, /* another length would be better */
    PAUSE_TWICE  /* Z cancelled: conjugate it once more */
};

typedef enum tct_blocks_step {
    BLOCKS_LOOK,      /* check (r, r) only */
    BLOCKS_CONJUGATE, /* Z = Z + P B, B into mix, of `most` rows */
    BLOCKS_DECIDE,
    BLOCKS_DECIDE_AGAIN /* after BLOCKS_CONJUGATE */
} tct_blocks_step;

/* Workspace that all threads reach. */
typedef struct tct_blocks_desk {
    tct_small W, C, X; /* a column of C in each row */
    double g[TCT_SSTEP_MOST], h[TCT_SSTEP_MOST], alpha[TCT_SSTEP_MOST];
    double scale[TCT_SSTEP_MOST]; /* S                                       */
    double t[TCT_SSTEP_MOST];
    double least;  /* square of the smallest diagonal element of L           */
    int s, n;      /* vectors used, directions kept */
    int cancelled; /* Z has lost its digits */
    int taken, sound, next, goes;
} tct_blocks_desk;

/* --- threads -------------------------------------------------------------- */

/* Loop over n elements, shared by threads; barrier; by one thread. */
#if TCT_ON_GPU
#define TCT_EACH(i, n) \
    for (int i = (int)threadIdx.x; i < (n); i += (int)blockDim.x)
#define TCT_BARRIER() __syncthreads()
#define TCT_ONE       if (threadIdx.x == 0)
#else
#define TCT_EACH(i, n) for (int i = 0; i < (n); i++)
#define TCT_BARRIER()  ((void)0)
#define TCT_ONE        if (1)
#endif

TCT_BOTH int blocks_least(int a, int b)
{
    return a < b ? a : b;
}

#endif
