/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/fill.h - makes an sell operator from rows in a GPU's memory, and
 * from the slices of an operator rows, or the same slices with floats, without
 * a transfer to the host. */
#ifndef TCT_OPERATOR_GPU_FILL_H
#define TCT_OPERATOR_GPU_FILL_H
#include "operator/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a square matrix of one rank; columns of a row ascend. */
typedef struct tct_device_rows {
    int64_t rows, entries;
    const int64_t *ptr; /* [rows + 1] */
    const int32_t *col; /* [entries]  */
    const double *val;  /* [entries]  */
    bool floats;        /* values are floats: 32 bits of each are stored */
    int block;          /* rows of dense blocks to be stored, 0 or 1: none */
} tct_device_rows;

/* On the queue of `like`; `norm` is the largest row sum of |a|; entries need no
 * scaling by a power of 2. The operator cannot be updated, and does not give
 * its diagonal.
 * Errors      UNSUPPORTED (a row that slices cannot have), NO_MEMORY, DEVICE. */
tacit_status tct_operator_of_device_rows(const tacit_operator *like,
                                         const tct_device_rows *rows,
                                         double norm, tacit_operator **out);

/* The slices of `A`, if they have all of its own rows, without columns of other
 * ranks; else NULL. Dense blocks may have more entries than the rows. */
const tct_gpu_arrays *tct_rows_of_operator(const tacit_operator *A);

/* --- fill.cu -------------------------------------------------------------- */

/* The size of a slice. */
typedef struct tct_slice_need {
    int32_t width, full; /* of its longest and its shortest lane */
    int32_t base, last;  /* its least and its largest column */
} tct_slice_need;

/* Sizes of slices [slices], and the length of each lane [32 slices]. */
void tct_gpu_survey_rows(tacit_queue *q, const tct_device_rows *rows,
                         int64_t slices, tct_slice_need *need,
                         uint16_t *length);
/* Fill the columns and values of all slices, of SLICE_NEAR and SLICE_FAR;
 * values are those of GPU_F64 or GPU_F32. */
void tct_gpu_fill_slices(tacit_queue *q, const tct_device_rows *rows,
                         const tct_gpu_arrays *d, uint8_t *index, void *value);
/* Round the double values of `from` to the floats of `to`, which has the same
 * slices; those of SLICE_CONST are rounded in place. */
void tct_gpu_round_slices(tacit_queue *q, const tct_gpu_arrays *from,
                          const tct_gpu_arrays *to);
/* Entries of each row [rows], with those that fill blocks; the rows, if these
 * are none. */
void tct_gpu_count_rows(tacit_queue *q, const tct_gpu_arrays *from,
                        int32_t *count);
void tct_gpu_read_rows(tacit_queue *q, const tct_gpu_arrays *from,
                       const int64_t *ptr, int32_t *col, double *val);

#ifdef __cplusplus
}
#endif
#endif
