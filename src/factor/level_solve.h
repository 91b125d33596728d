/* SPDX-License-Identifier: BSD-3-Clause
 * factor/level_solve.h - solves with an incomplete Cholesky factor on one
 * thread, level by level: rows of a level are independent, so eight of them are
 * the lanes of a slice. Each row has the operations of the loops over rows
 * (solve.c) in their order, hence their bits. */
#ifndef TCT_FACTOR_LEVEL_SOLVE_H
#define TCT_FACTOR_LEVEL_SOLVE_H
#include "factor/factor.h"

enum { TCT_LEVEL_LANES = 8 };

/* A triangle, L or L'. Its rows are sorted by level, then by length; a level
 * begins with a new slice. Slice s has cells [start[s], start[s + 1]), each a
 * column and a value of each lane. Cells past a row's end multiply the last
 * element of v, which is 0. */
typedef struct tct_level_half {
    int64_t slices;
    int64_t *start;  /* [slices + 1]                                         */
    int32_t *col;    /* [start[slices]][lanes] places in v                   */
    double *value;   /* [start[slices]][lanes]                               */
    int32_t *from;   /* [slices][lanes] places in the right-hand side        */
    uint8_t *filled; /* [slices] lanes that are rows                         */
    double *inverse; /* [slices][lanes] 1 / pivot; 0 without a row           */
    double *v;       /* [slices][lanes] the solution, and the element 0      */
} tct_level_half;

struct tct_level_kernels;

typedef struct tct_level_solve {
    tct_level_half down, up; /* L; L', whose right-hand side is down.v */
    int32_t *to;             /* [up.slices][lanes] elements of x       */
    double bytes;
    const struct tct_level_kernels *kernels;
} tct_level_solve;

/* Slices for `L` of kind IC0, whose row k is row `place[k]` of b and x; NULL
 * where the loops over rows are faster, since levels have few rows.
 * Cost        a few passes over L.
 * Errors      NO_MEMORY. */
tacit_status tct_level_solve_create(const tacit_factor *L, const int32_t *place,
                                    tct_level_solve **out);
void tct_level_solve_destroy(tct_level_solve **S);
/* x = (L L')^-1 b; x may be b. Not by two threads at once. */
void tct_level_solve_run(tct_level_solve *S, const double *b, double *x);

/* --- level_kernels.c, for each instruction set ---------------------------- */

typedef struct tct_level_kernels {
    /* h->v = h^-1 b */
    void (*down)(const tct_level_half *h, const double *b);
    /* The same, and x[to] = h->v */
    void (*up)(const tct_level_half *h, const double *b, const int32_t *to,
               double *x);
} tct_level_kernels;
extern const tct_level_kernels tct_level_kernels_base, tct_level_kernels_avx2,
    tct_level_kernels_avx512;

#endif
