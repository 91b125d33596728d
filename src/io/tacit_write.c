/* SPDX-License-Identifier: BSD-3-Clause
 * io/tacit_write.c - matrices and vectors as .tacit files. */
#include "device/parallel.h"
#include "io/tacit_header.h"
#include <string.h>

/* The bytes of one array. */
typedef struct {
    const void *data;
    const int64_t *ptr; /* instead of data: row offsets, plus `start` */
    int64_t start, at, bytes;
} writer;

static size_t make_bytes(void *ctx, char *out, size_t room)
{
    writer *p = ctx;
    const int64_t left = p->bytes - p->at, most = (int64_t)(room / 8 * 8);
    const int64_t n = left < most ? left : most;
    if (p->ptr) {
        for (int64_t k = 0; k < n; k += 8)
            tct_store(out + k, 8, false,
                      (uint64_t)(p->ptr[(p->at + k) / 8] + p->start));
    } else if (n > 0) {
        memcpy(out, (const char *)p->data + p->at, (size_t)n);
    }
    p->at += n;
    return (size_t)n;
}

/* Write zeros up to byte `offset` of the file. */
static tacit_status pad_to(tct_sink *s, int64_t offset)
{
    static const char zeros[TCT_TACIT_ALIGN];
    int64_t n = 0;
    if (tct_sink_world(s)->rank == 0) n = offset - tct_sink_offset(s);
    return tct_sink_write(s, zeros, (size_t)n);
}

static tacit_status write_header(tct_sink *s, tct_tacit_header *h, uint64_t sum)
{
    int64_t total = (int64_t)sum;
    TRY(tct_reduce_i64(tct_sink_world(s), TCT_SUM, 1, &total));
    unsigned char raw[TCT_TACIT_HEAD];
    h->version = 1;
    h->sum = (uint64_t)total;
    tct_tacit_pack(h, raw);
    return tct_sink_write(s, raw, sizeof raw);
}

typedef struct {
    const tct_csr *A;
    int64_t start; /* entries of the rows before */
} row_hashes;

static int64_t sum_rows(const void *work, int64_t from, int64_t to)
{
    const row_hashes *s = work;
    const tct_csr *A = s->A;
    uint64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        sum +=
            tct_tacit_mixed(1, A->first + i, (uint64_t)(A->ptr[i] + s->start));
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            uint64_t bits;
            memcpy(&bits, &A->val[k], sizeof bits);
            sum +=
                tct_tacit_mixed(2, s->start + k, (uint64_t)tct_csr_col(A, k)) +
                tct_tacit_mixed(3, s->start + k, bits);
        }
    }
    return (int64_t)sum;
}

static uint64_t sum_matrix(const tct_csr *A, int64_t start, bool last)
{
    uint64_t sum = (uint64_t)tct_parallel_sum(A->rows, TCT_SHORT, sum_rows,
                                              &(row_hashes){A, start});
    if (last)
        sum += tct_tacit_mixed(1, A->global_rows,
                               (uint64_t)(A->ptr[A->rows] + start));
    return sum;
}

tacit_status tct_tacit_write_matrix(tct_sink *s, const tct_csr *A,
                                    const tct_write_options *options)
{
    tacit_world *w = tct_sink_world(s);
    const bool last = w->rank == w->size - 1;
    const int64_t n = tct_csr_nonzeros(A);
    tct_tacit_header h = {.kind = TCT_TACIT_MATRIX,
                          .flags = options->symmetric ? TCT_TACIT_SYMMETRIC : 0,
                          .rows = A->global_rows,
                          .cols = A->global_cols};
    int64_t start;
    TRY(tct_count_before(w, n, &start, &h.entries));
    tct_tacit_lay_out(&h);
    TRY(write_header(s, &h, sum_matrix(A, start, last)));
    writer ptr = {.ptr = A->ptr, .start = start, .bytes = 8 * (A->rows + last)};
    TRY(tct_sink_gather(s, make_bytes, &ptr));
    TRY(pad_to(s, h.col));
    writer col = {.data = A->col32 ? (const void *)A->col32 : A->col64,
                  .bytes = h.col_bytes * n};
    TRY(tct_sink_gather(s, make_bytes, &col));
    TRY(pad_to(s, h.val));
    writer val = {.data = A->val, .bytes = 8 * n};
    return tct_sink_gather(s, make_bytes, &val);
}

/* Checksum of elements `x` [count], numbered from `first`. */
static uint64_t sum_values(int64_t first, int64_t count, const double *x)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        sum += tct_tacit_mixed(3, first + k, bits);
    }
    return sum;
}

tacit_status tct_tacit_write_vectors(tct_sink *s, int64_t rows, int64_t count,
                                     int columns, const double *x,
                                     int64_t stride)
{
    int64_t first, total;
    TRY(tct_count_before(tct_sink_world(s), count, &first, &total));
    uint64_t sum = 0;
    for (int j = 0; j < columns; j++)
        sum += sum_values(j * rows + first, count, x + j * stride);
    tct_tacit_header h = {.kind = TCT_TACIT_VECTOR,
                          .rows = rows,
                          .cols = columns,
                          .entries = rows * columns};
    tct_tacit_lay_out(&h);
    TRY(write_header(s, &h, sum));
    for (int j = 0; j < columns; j++) {
        writer val = {.data = x + j * stride, .bytes = 8 * count};
        TRY(tct_sink_gather(s, make_bytes, &val));
    }
    return TACIT_OK;
}
