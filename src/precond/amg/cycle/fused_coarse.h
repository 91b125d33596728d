/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/fused_coarse.h - fused coarse levels, whose operations take
 * less time than their launches. A visit to the first of them, down to the last
 * and back, is one operation of the queue, a product with a block. It is a
 * sequence of steps; a device completes all items of a step before the next
 * step. On a GPU it is one kernel.
 *
 *     keep the matrix of each level ... create ...
 *     q_multiply(M->fused) ... clear
 *
 * For one rank or replicated levels (replicated_coarse.c), one right-hand side,
 * one smooth vector, and cycles V and W; in a cycle K, the levels below those that
 * begin one. */
#ifndef TCT_PRECOND_AMG_CYCLE_FUSED_COARSE_H
#define TCT_PRECOND_AMG_CYCLE_FUSED_COARSE_H
#include "precond/amg/device/device_setup.h"

/* The work for item i. With x_j standing for scale_j x_j where there is a
 * scale, and likewise before_i, a row gets
 *
 *     v = alpha d_i (b_i - sum of a_ij x_j)
 *         + of_x x_i + of_before before_i + add_i           to out_i, if
 *                                                           wanted,
 *     to_k += factor weight_k v   for all k of set i        where there is `to`;
 *
 * and where it `restricts`, set i gets
 *
 *     sum of weight_k (b_k - sum of a_kj x_j)               to out_i.
 *
 * NULL stands for 1 (d, scale), 0 (b, before, add) or absence. No item reads
 * what another item writes in the same step. All arrays are on the device. */
typedef struct tct_amg_step {
    int32_t items, restricts;
    int32_t rows, entries;       /* of A; 0 entries: there is no A          */
    int32_t columns;             /* > 0: A is dense, row after row          */
    int32_t lanes, shift, warps; /* chosen by the device                    */
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
    tct_block about; /* cost as a product, without `ops` */
} tct_amg_steps;

/* The functions of a device. */
typedef struct tct_amg_fused_kernels {
    /* The rows of the dense inverse in `B`, readable by steps while `B` exists;
     * NULL: it is stored differently. */
    const double *(*dense)(const tct_block *B);
    /* Create a block whose product runs a copy of the steps.
     * Errors      UNSUPPORTED (saying why), NO_MEMORY, DEVICE. */
    tacit_status (*create)(tacit_queue *q, const tct_amg_steps *steps,
                           tct_block **out);
} tct_amg_fused_kernels;

/* The functions of the device of `q` (cycle/gpu/fused_coarse.c); NULL: none
 * (gpu_none.c). */
const tct_amg_fused_kernels *tct_amg_fused_on(const tacit_queue *q);
/* A substitute for tests, or NULL. */
extern const tct_amg_fused_kernels *tct_amg_fused_instead;

/* May level `L`, not the first, be fused? Never if TACIT_AMG_COARSE=launches in
 * the environment. */
bool tct_amg_fused_wants(const tct_amg *M, const tct_amg_level *L);
/* May this be the first replicated and fused level (replicated_coarse.c), if
 * ranks have `rows` rows and `entries` entries together? */
bool tct_amg_fused_for_each(const tct_amg *M, int64_t rows, int64_t entries);
/* Keep a copy of its matrix `m`, in its operator's order, if it may be fused
 * and memory suffices.  Errors DEVICE. */
tacit_status tct_amg_fused_keep(const tct_amg *M, const tacit_matrix *m,
                                tct_amg_level *L);
/* Create M->fused from the levels with copies, whose factors are known.
 * M->fused stays NULL if the device or memory does not suffice.
 * Errors DEVICE. */
tacit_status tct_amg_fused_create(tct_amg *M);
void tct_amg_fused_clear(tct_amg *M);

#endif
