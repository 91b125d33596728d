/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/fill.h - rows that lie in a GPU's memory become an operator, of
 * sell, and the slices of an operator rows again, or the same with floats:
 * nothing goes over the bus. */
#ifndef TCT_OPERATOR_GPU_FILL_H
#define TCT_OPERATOR_GPU_FILL_H
#include "operator/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a square matrix of one rank; columns of a row ascend. */
typedef struct tct_device_rows {
    int64_t rows, entries;
    const int64_t *ptr; /* [rows + 1] */
    const int32_t *col; /* [entries]  */
    const double *val;  /* [entries]  */
    bool floats;        /* which they are: 32 bits of each are stored */
} tct_device_rows;

/* On the queue of `like`; `norm` is the largest row sum of |a|, and entries are
 * not so far from 1 that they would be stored times a power of 2. It cannot be
 * updated, and does not tell its diagonal.
 * Errors      UNSUPPORTED (rows of too different lengths), NO_MEMORY, DEVICE. */
tacit_status tct_operator_of_device_rows(const tacit_operator *like,
                                         const tct_device_rows *rows,
                                         double norm, tacit_operator **out);

/* The slices of `A`, if they have all of its rows as they were given, but for
 * columns of other ranks; NULL: they do not. */
const tct_gpu_arrays *tct_rows_of_operator(const tacit_operator *A);

/* --- fill.cu -------------------------------------------------------------- */

/* What a slice must have room for. */
typedef struct tct_slice_need {
    int32_t width, full; /* of its longest and its shortest lane */
    int32_t base, last;  /* its least and its largest column */
} tct_slice_need;

/* Of each slice [slices], and how long each lane is [32 slices]. */
void tct_gpu_survey_rows(tacit_queue *q, const tct_device_rows *rows,
                         int64_t slices, tct_slice_need *need,
                         uint16_t *length);
/* The columns and values of all slices, of SLICE_NEAR and SLICE_FAR; values are
 * those of GPU_F64 or GPU_F32. */
void tct_gpu_fill_slices(tacit_queue *q, const tct_device_rows *rows,
                         const tct_gpu_arrays *d, uint8_t *index, void *value);
/* The values of `from`, which are doubles, as the floats of `to`, whose slices
 * are the same: those of SLICE_CONST are rounded where they are. */
void tct_gpu_round_slices(tacit_queue *q, const tct_gpu_arrays *from,
                          const tct_gpu_arrays *to);
/* How many entries each row has [rows]; the rows. */
void tct_gpu_count_rows(tacit_queue *q, const tct_gpu_arrays *from,
                        int32_t *count);
void tct_gpu_read_rows(tacit_queue *q, const tct_gpu_arrays *from,
                       const int64_t *ptr, int32_t *col, double *val);

#ifdef __cplusplus
}
#endif
#endif
