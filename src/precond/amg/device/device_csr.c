/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_csr.c - a matrix in one piece of device memory;
 * upload and download; which kernels a queue has. */
#include "device/parallel.h"
#include "precond/amg/device/device_setup.h"
#include <stdlib.h>
#include <string.h>

const tct_amg_kernels *tct_amg_kernels_instead;

const tct_amg_kernels *tct_amg_kernels_of(const tacit_queue *q)
{
    const char *wish = getenv("TACIT_AMG_SETUP");
    if (wish && strcmp(wish, "host") == 0) return NULL;
    return tct_amg_kernels_instead ? tct_amg_kernels_instead
                                   : tct_amg_kernels_on(q);
}

tacit_status tct_amg_csr_open(tacit_queue *q, int64_t rows, int64_t entries,
                              double **memory, tct_amg_csr *out)
{
    const size_t ptr = (size_t)rows + 1, val = (size_t)entries;
    TRY(tacit_queue_alloc(
        q, ptr + val + tct_amg_doubles_for(entries, sizeof *out->col), memory));
    *out = tct_amg_csr_in(*memory, rows, entries);
    return TACIT_OK;
}

static tacit_status send_rows(tacit_queue *q, const tct_csr *A,
                              const tct_amg_csr *to)
{
    const tct_amg_kernels *K = tct_amg_kernels_of(q);
    return K && K->send ? K->send(q, A, to) : TACIT_UNSUPPORTED;
}

tacit_status tct_amg_csr_put(tacit_queue *q, const tct_csr *A, double **memory,
                             tct_amg_csr *out)
{
    const size_t entries = (size_t)tct_csr_nonzeros(A);
    const size_t words = entries / 2; /* two columns each */
    double last = 0.0;
    TRY(tct_amg_csr_open(q, A->rows, (int64_t)entries, memory, out));
    const tacit_status sent = send_rows(q, A, out);
    if (sent != TACIT_UNSUPPORTED && sent != TACIT_NO_MEMORY) return sent;
    q_put(q, (size_t)A->rows + 1, (const double *)(const void *)A->ptr,
          (double *)(void *)out->ptr);
    q_put(q, entries, A->val, out->val);
    double *cols = (double *)(void *)out->col;
    q_put(q, words, (const double *)(const void *)A->col32, cols);
    if (entries % 2 != 0) {
        memcpy(&last, A->col32 + 2 * words, sizeof *A->col32);
        q_put(q, 1, &last, cols + words);
    }
    return q_own_status(q);
}

typedef struct {
    const double *from;
    tct_csr *to;
} copying;

static void copy_columns(void *work, int64_t from, int64_t to)
{
    const copying *c = work;
    for (int64_t k = from; k < to; k++) {
        int32_t col;
        memcpy(&col, (const char *)c->from + (size_t)k * sizeof col,
               sizeof col);
        tct_csr_set_col(c->to, k, col);
    }
}

tacit_status tct_amg_csr_get(tacit_queue *q, const tct_amg_csr *A, tct_csr *out)
{
    const size_t words = tct_amg_doubles_for(A->entries, sizeof *A->col);
    double *cols = NULL;
    TRY(tct_csr_rows(out, A->rows, A->rows, 0, A->rows));
    TRY(tct_csr_entries(out, A->entries));
    TRY(TCT_ALLOC(words, "a matrix of aggregates", &cols));
    q_get(q, (size_t)A->rows + 1, (const double *)(const void *)A->ptr,
          (double *)(void *)out->ptr);
    q_get(q, (size_t)A->entries, A->val, out->val);
    q_get(q, words, (const double *)(const void *)A->col, cols);
    tct_parallel(A->entries, TCT_SHORT, copy_columns, &(copying){cols, out});
    tct_free(cols);
    return q_own_status(q);
}
