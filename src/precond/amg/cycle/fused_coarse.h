/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/fused_coarse.h - the bottom of the hierarchy: levels whose
 * operations are so small that starting them takes longer than they do. The
 * visit to the first of them, down to the last and back, is one operation of
 * the queue, a product with a block; in it are steps, one after the other, each
 * of which a device does to all its items at once before it begins with the
 * next. On a GPU it is one kernel.
 *
 *     keep the matrix of each level ... create ... q_multiply(M->bottom) ... clear
 *
 * For one rank, or one alone (alone.c), one right-hand side, one smooth vector,
 * and cycles V and W. */
#ifndef TCT_PRECOND_AMG_CYCLE_FUSED_COARSE_H
#define TCT_PRECOND_AMG_CYCLE_FUSED_COARSE_H
#include "precond/amg/device/device_setup.h"

/* What there is to do for item i. With x_j standing for scale_j x_j where there
 * is a scale, and likewise before_i, a row gets
 *
 *     v = alpha d_i (b_i - sum of a_ij x_j)
 *         + of_x x_i + of_before before_i + add_i           to out_i, if wanted,
 *     to_k += factor weight_k v   for all k of set i        where there is `to`;
 *
 * and where it `restricts`, set i gets
 *
 *     sum of weight_k (b_k - sum of a_kj x_j)               to out_i.
 *
 * What is NULL is 1 (d, scale) or 0 (b, before, add), or not there. No item
 * reads what another one writes in the same step. All arrays are on the
 * device. */
typedef struct tct_amg_step {
    int32_t items, restricts;
    int32_t rows, entries;       /* of A; 0 entries: there is no A          */
    int32_t columns;             /* > 0: A is dense, row after row          */
    int32_t lanes, shift, warps; /* for the device's use                    */
    const int64_t *ptr;
    const int32_t *col;
    const double *val;
    const double *x, *scale, *b, *d, *before, *before_scale, *add;
    double alpha, of_x, of_before;
    double *out;
    const int32_t *set, *list; /* set i: list[set[i]] to list[set[i + 1] - 1] */
    const double *weight;      /* in the order of `list`                      */
    double factor;
    double *to;
} tct_amg_step;

typedef struct tct_amg_steps {
    const tct_amg_step *step; /* [count] on the host */
    int count;
    tct_block about; /* what they come to, as a product: without `ops` */
} tct_amg_steps;

/* What a device does of it. */
typedef struct tct_amg_fused_kernels {
    /* The inverse that `B` has, row after row, where steps can read it, for as
     * long as `B` is there; NULL: it is not stored so. */
    const double *(*dense)(const tct_block *B);
    /* A block whose product does the steps; it keeps copies of them.
     * Errors      UNSUPPORTED (saying why), NO_MEMORY, DEVICE. */
    tacit_status (*create)(tacit_queue *q, const tct_amg_steps *steps,
                           tct_block **out);
} tct_amg_fused_kernels;

/* Those of the device of `q`; NULL: it has none. amg/gpu/bottom.c, or
 * gpu_none.c. */
const tct_amg_fused_kernels *tct_amg_fused_on(const tacit_queue *q);
/* What tests have in its place; NULL: nothing. */
extern const tct_amg_fused_kernels *tct_amg_fused_instead;

/* Would level `L`, which follows another, be one of them? Not where the
 * environment has TACIT_AMG_COARSE=launches. */
bool tct_amg_fused_wants(const tct_amg *M, const tct_amg_level *L);
/* Would this be the first of them on each rank alone (alone.c), where ranks
 * have `rows` rows and `entries` entries together? */
bool tct_amg_fused_for_each(const tct_amg *M, int64_t rows, int64_t entries);
/* Keep its matrix `m`, as its operator stores it, if it is wanted and there is
 * memory for it.  Errors DEVICE. */
tacit_status tct_amg_fused_keep(const tct_amg *M, const tacit_matrix *m,
                                tct_amg_level *L);
/* M->bottom from those levels that are kept, and whose factors are known; what
 * cannot be had is done without.  Errors DEVICE. */
tacit_status tct_amg_fused_create(tct_amg *M);
void tct_amg_fused_clear(tct_amg *M);

#endif
