/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_setup.h - set-up where the vectors are: the matrix
 * of a level, its aggregates and theirs in the memory of a device, so that the
 * host has but numbers of rows and entries to look at. On one rank it comes to
 * the same bits as the host (tasks.h), for which small levels are left. On
 * several, aggregates are of rows of one rank, and the host has what is between
 * ranks (interface.h): all words are collective then.
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
/* Doubles that have room for `count` elements of `size`. */
static inline size_t tct_amg_doubles_for(int64_t count, size_t size)
{
    return ((size_t)count * size + sizeof(double) - 1) / sizeof(double);
}
/* Such a piece.
 * Errors      NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_csr_open(tacit_queue *q, int64_t rows, int64_t entries,
                              double **memory, tct_amg_csr *out);
/* `A`, with columns of 32 bits, in such a piece.
 * Errors      NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_csr_put(tacit_queue *q, const tct_csr *A, double **memory,
                             tct_amg_csr *out);
/* A copy on the host, of rows and columns from 0 on; to be cleared, also after
 * an error.
 * Errors      NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_csr_get(tacit_queue *q, const tct_amg_csr *A,
                             tct_csr *out);

/* Those of the device of `q`, unless the environment says that set-up is the
 * host's (TACIT_AMG_SETUP=host); NULL: it is. */
const tct_amg_kernels *tct_amg_kernels_of(const tacit_queue *q);
/* What tests have in their place; NULL: nothing. */
extern const tct_amg_kernels *tct_amg_kernels_instead;

typedef struct tct_amg_device tct_amg_device;

/* `smooth` [rows of A], NULL: ones. *out NULL: it is left to the host, for a
 * reason that the log tells.
 * Errors      DEVICE. */
tacit_status tct_amg_device_open(const tacit_operator *A, const tacit_matrix *m,
                                 const double *smooth, tct_amg_device **out);
void tct_amg_device_close(tct_amg_device **there);

/* How large the next level is, once `coarsen` has made it. */
typedef struct tct_amg_size {
    int64_t rows, all, nonzeros; /* of this rank; of all ranks */
    int rounds;
    bool positive; /* each diagonal entry is */
} tct_amg_size;

/* Errors      UNSUPPORTED (rows too long), NO_MEMORY: the host may try. */
tacit_status tct_amg_device_coarsen(tct_amg_device *t,
                                    const tct_coarsening *how,
                                    tct_amg_size *next);
/* Of the level at hand, as amg.h says of the host's; with `floats` its values
 * are rounded for good. */
tacit_status tct_amg_device_floats(tct_amg_device *t, bool *out);
tacit_status tct_amg_device_operator(tct_amg_device *t,
                                     const tacit_operator *finest, bool floats,
                                     tacit_operator **out);
tacit_status tct_amg_device_rows(tct_amg_device *t, tct_amg_rows *out);
/* P to the next level, which `coarsen` has found. */
tacit_status tct_amg_device_transfer(tct_amg_device *t, tct_amg_transfer *out);
/* The memory of the matrix of the level at hand, which is the caller's from now
 * on; there is nothing left to do then but to descend. */
double *tct_amg_device_take(tct_amg_device *t);
/* On to the next level. */
void tct_amg_device_descend(tct_amg_device *t);
/* The number among all of this rank's first row of the level at hand. */
int64_t tct_amg_device_first(const tct_amg_device *t);
/* Is the level at hand for the host: small, or to be stored times a power of
 * 2? */
tacit_status tct_amg_device_is_done(const tct_amg_device *t, bool *out);
/* The matrix of the level at hand, and its smooth vector (NULL: ones). */
tacit_status tct_amg_device_bring(tct_amg_device *t, tacit_matrix **matrix,
                                  double **smooth);

/* Without a level: the operator of rows of the host's, all of which one rank
 * has, as the device stores them, its values `floats` if they are; UNSUPPORTED,
 * of which nothing is said: the host is to make it. */
tacit_status tct_amg_device_put(tacit_queue *q, const tacit_matrix *m,
                                bool floats, tacit_operator **out);
/* factor / of [n] into `out`; random numbers as largest.c has them, if the
 * device of `q` makes any; `inverse` is NULL, or D^-1 [n] with its trace. */
void tct_amg_device_invert(tacit_queue *q, size_t n, const double *of,
                           double factor, double *out);
bool tct_amg_device_random(tacit_queue *q, size_t n, const double *inverse,
                           double trace, double *out);

#endif
