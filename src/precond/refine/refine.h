/* SPDX-License-Identifier: BSD-3-Clause
 * precond/refine/refine.h - a refinement of several columns, within
 * tacit_precond_solve. */
#ifndef TCT_PRECOND_REFINE_REFINE_H
#define TCT_PRECOND_REFINE_REFINE_H
#include "operator/null/ends.h"
#include "precond/precond.h"

/* A column. */
typedef struct tct_refine_part {
    double norm_b, target, norm; /* of b and of b - A x, times 2^shift */
    double kept;                 /* ... of `best`                       */
    int shift;
    int beyond; /* 0, or the exponent of ||x|| beyond doubles          */
    bool over, attained; /* rounding allows no smaller residual         */
    bool outside;        /* b is not in the range of A                  */
    tct_null_part along; /* of b, along A's null space                  */
    tacit_result result;
} tct_refine_part;

/* The columns that go together. */
typedef struct tct_refine_panel {
    const tacit_operator *A, *M;
    tacit_queue *q;
    const double *B; /* the caller's */
    double *X;
    size_t B_stride, X_stride;
    tacit_stop stop;
    double *b, *x, *r, *z, *best; /* panels of `stride` */
    double *c;                    /* a sum per column   */
    size_t n, stride;
    int all, first, columns; /* the caller's number; the current columns */
    bool to_the_end; /* until no step helps, since M is a factor that gives
                      * digits away for its pivots */
    tct_refine_part m[TCT_COLUMNS_MOST];
    const tct_refine_part *before; /* of a factor without pivots, or NULL */
} tct_refine_panel;

static inline double *tct_refine_column(const tct_refine_panel *R,
                                        double *panel, int j)
{
    return panel + (size_t)j * R->stride;
}

/* The norms of the columns of `panel`, summed over the ranks, into `norm`. */
void tct_refine_norms(const tct_refine_panel *R, double *panel, double *norm);

/* Take the columns from the caller, scaled, and hand the solutions back. */
tacit_status tct_refine_begin(tct_refine_panel *R);
tacit_status tct_refine_end(tct_refine_panel *R);

/* Solve the current columns. */
tacit_status tct_refine_run(tct_refine_panel *R);

/* Has a factor left b - A x without need? */
bool tct_refine_is_bad(const tct_refine_part *m);

/* Result `j` of an array whose elements have `size` bytes: the caller's header
 * may be older. */
tacit_result *tct_refine_result(tacit_result *results, size_t size, int j);

/* Results of the current columns; the worst status so far into `*worst`, with
 * its message. */
void tct_refine_conclude(const tct_refine_panel *R, tacit_result *results,
                         size_t size, tacit_status *worst);
#endif
