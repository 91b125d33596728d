/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/sstep.h - what the persistent kernel of method sstep is
 * given. */
#ifndef TCT_SOLVER_RESIDENT_SSTEP_H
#define TCT_SOLVER_RESIDENT_SSTEP_H
#include "device/blocks.h"
#include "device/queue.h"
#include "solver/resident/job.h"

struct tct_run; /* run.h */

/* Columns that are not of panels, behind those that are: r, x, M's d, and the y
 * of three vectors. */
enum { TCT_COLUMN_R, TCT_COLUMN_X, TCT_COLUMN_D, TCT_COLUMN_Y };
enum { TCT_COLUMNS_OWN = TCT_COLUMN_Y + 3 };

/* Bytes of shared memory that it has of its own, and doubles a warp for a
 * sum. */
enum { TCT_SSTEP_SHARED = 18432, TCT_SSTEP_DESK = 128 };

/* The flags of the kernel; from FLAG_MADE on the number of blocks that it made
 * of each length. */
enum { FLAG_RENEWED, FLAG_LENGTH, FLAG_MADE };
enum { TCT_SSTEP_FLAGS = FLAG_MADE + TCT_SSTEP_MOST };

typedef struct tct_sstep_job {
    tct_resident_job J; /* first: what serves all kernels asks for it */
    tct_blocks *B;      /* as blocks have left it, and leave it       */
    double *sums;       /* what is left in SUM_DRIFT                  */
    double *told;       /* [TCT_SSTEP_FLAGS], at the end               */
    double *many;       /* room for [TCT_SSTEP_SUMS][blocks + 1] sums */
    const double *b;
    int most, renew_every; /* as of tct_blocks; iterations                */
    int since;             /* iterations since r was formed anew          */
    bool chebyshev;        /* the basis has terms of three                */
    tct_panel PZ, QY;
    double *own[TCT_COLUMNS_OWN];
    int slots;         /* of a thread that are on the chip, of every column */
    int first, stride; /* their place, from column to column: doubles    */
    int desk; /* the place of TCT_SSTEP_DESK doubles for each warp        */
} tct_sstep_job;

#ifdef __cplusplus
extern "C" {
#endif
extern const struct tct_method tct_method_sstep;
extern const tct_resident_kernel tct_resident_sstep[2];

/* As tct_resident_place, of `columns` columns. */
size_t tct_resident_place_columns(tct_sstep_job *W, int columns, int threads,
                                  size_t shared_bytes);
/* How many columns there are, with M or without. */
static inline int tct_sstep_columns(int most, int M)
{
    return 4 * most + (M ? (int)TCT_COLUMNS_OWN : (int)TCT_COLUMN_D);
}
/* A run of blocks goes on: the job but for what all kernels have, with room for
 * `many` sums. */
void tct_sstep_job_fill(const struct tct_run *R, double *many,
                        const double *diagonal, tct_sstep_job *W);
/* What the kernel has told goes to the run. */
void tct_sstep_flags(struct tct_run *R);
#ifdef __cplusplus
}
#endif

#endif
