/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_setup.h - set-up on the device of the vectors:
 * matrices, aggregates and coarse matrices stay in its memory; the host reads
 * sizes only. On one rank the result has the bits of the host's
 * (setup_tasks.h). Small levels are left to the host. On several ranks,
 * aggregates have rows of one rank, and the host keeps the interface rows
 * (interface_rows.h); all functions are collective then.
 *
 *     open(A, m) ... coarsen ... make the level ... descend ...
 *     ... bring: the rest is the host's ... close */
#ifndef TCT_PRECOND_AMG_DEVICE_DEVICE_SETUP_H
#define TCT_PRECOND_AMG_DEVICE_DEVICE_SETUP_H
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/amg.h"
#include "precond/amg/device/setup_kernels.h"

/* A matrix in one piece of memory. */
static inline tct_amg_csr tct_amg_csr_in(double *memory, int64_t rows,
                                         int64_t entries)
{
    double *const val = memory + rows + 1;
    return (tct_amg_csr){.rows = rows,
                         .entries = entries,
                         .ptr = (int64_t *)(void *)memory,
                         .col = (int32_t *)(void *)(val + entries),
                         .val = val};
}
/* Doubles that hold `count` elements of `size`. */
static inline size_t tct_amg_doubles_for(int64_t count, size_t size)
{
    return ((size_t)count * size + sizeof(double) - 1) / sizeof(double);
}
/* Allocate the memory of a matrix.
 * Errors      NO_MEMORY, any error of the queue. */
tacit_status tct_amg_csr_open(tacit_queue *q, int64_t rows, int64_t entries,
                              double **memory, tct_amg_csr *out);
/* Upload `A`, which has columns of 32 bits.
 * Errors      NO_MEMORY, any error of the queue. */
tacit_status tct_amg_csr_put(tacit_queue *q, const tct_csr *A, double **memory,
                             tct_amg_csr *out);
/* Download to the host, rows and columns from 0; clear it also after an error.
 * Errors      NO_MEMORY, any error of the queue. */
tacit_status tct_amg_csr_get(tacit_queue *q, const tct_amg_csr *A,
                             tct_csr *out);

/* The kernels of the device of `q`; NULL: none, or TACIT_AMG_SETUP=host in the
 * environment. */
const tct_amg_kernels *tct_amg_kernels_of(const tacit_queue *q);
/* A substitute for tests, or NULL. */
extern const tct_amg_kernels *tct_amg_kernels_instead;

typedef struct tct_amg_device tct_amg_device;

/* `smooth` [rows of A], NULL: ones; with several vectors `near` has them. *out
 * NULL: the host does the set-up; the log gives the reason.
 * Errors      DEVICE. */
tacit_status tct_amg_device_open(const tacit_operator *A, const tacit_matrix *m,
                                 const double *smooth,
                                 const tct_near_null *near,
                                 tct_amg_device **out);
void tct_amg_device_close(tct_amg_device **device);

/* Sizes of the next level, known after `coarsen`. */
typedef struct tct_amg_size {
    int64_t rows, all, nonzeros; /* this rank's rows; of all ranks */
    int rounds;
    bool positive; /* all diagonal entries */
} tct_amg_size;

/* Errors      UNSUPPORTED (rows too long), NO_MEMORY; the host may then try. */
tacit_status tct_amg_device_coarsen(tct_amg_device *t,
                                    const tct_coarsening *how,
                                    tct_amg_size *next);
/* The same by the P and `blocks` of level `as`, of a matrix with the same
 * pattern. */
tacit_status tct_amg_device_coarsen_as(tct_amg_device *t,
                                       const tct_amg_level *as,
                                       tct_amg_size *next);
/* The pattern of the next level's blocks, the caller's from now on, with
 * near-null vectors, for `coarsen_as`. */
double *tct_amg_device_blocks(tct_amg_device *t, int64_t *count);
/* The functions of amg.h for the current level; with `floats` its values stay
 * rounded. */
tacit_status tct_amg_device_floats(tct_amg_device *t, bool *out);
tacit_status tct_amg_device_operator(tct_amg_device *t,
                                     const tacit_operator *finest, bool floats,
                                     tacit_operator **out);
tacit_status tct_amg_device_rows(tct_amg_device *t, tct_amg_rows *out);
/* P to the next level, known after `coarsen`. */
tacit_status tct_amg_device_transfer(tct_amg_device *t, tct_amg_transfer *out);
/* Download P' of the near-null vectors, [rows of the next level][vectors].
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_amg_device_smooth(const tct_amg_device *t, double **out);
/* Hand over the memory of the current level's matrix; only `descend` may
 * follow. */
double *tct_amg_device_take(tct_amg_device *t);
/* Continue with the next level. */
void tct_amg_device_descend(tct_amg_device *t);
/* Global number of this rank's first row of the current level. */
int64_t tct_amg_device_first(const tct_amg_device *t);
/* Does the host take over at the current level, because it is small or must be
 * scaled by a power of 2? */
tacit_status tct_amg_device_is_done(const tct_amg_device *t, bool *out);
/* Download the matrix of the current level and its smooth vector (NULL: ones)
 * or near-null vectors [rows][vectors]. */
tacit_status tct_amg_device_bring(tct_amg_device *t, tacit_matrix **matrix,
                                  double **smooth);

/* Without a device set-up: the operator of a host matrix on one rank, stored by
 * the device, rounded if `floats`. UNSUPPORTED, without a message: the host
 * must make it. */
tacit_status tct_amg_device_put(tacit_queue *q, const tacit_matrix *m,
                                bool floats, tacit_operator **out);
/* Invert a positive semidefinite `a` [n][n], of which the lower triangle counts,
 * as invert of coarsest_solve.c; *positive false: a pivot is not positive, `a`
 * is undefined. UNSUPPORTED, without a message: the host must do it; `a` is
 * unchanged.
 * Errors      DEVICE. */
tacit_status tct_amg_device_dense(tacit_queue *q, int64_t n, double *a,
                                  bool *positive);
/* tct_amg_device_invert: factor / of [n] into `out`. tct_amg_device_random:
 * random numbers as in spectral_bound.c, if the device of `q` supports them;
 * `inverse` is NULL, or D^-1 [n] with its trace. */
void tct_amg_device_invert(tacit_queue *q, size_t n, const double *of,
                           double factor, double *out);
bool tct_amg_device_random(tacit_queue *q, size_t n, const double *inverse,
                           double trace, double *out);

#endif
