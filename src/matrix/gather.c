/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/gather.c - gathers the matrix on rank 0, for serial algorithms. */
#include "matrix/matrix.h"

static const char *const what = "the matrix on rank 0";

/* Concatenate the pieces of all ranks into `to` on rank 0; this rank's has
 * `bytes`, rank r's all[r]. */
static tacit_status send(tacit_world *w, int64_t bytes, const void *from,
                         const int64_t *all, void *to)
{
    int64_t *both = NULL;
    tacit_status status = tct_agree(w, TCT_ALLOC(2 * w->size, what, &both));
    if (status >= 0) {
        for (int r = 0; r < w->size; r++) {
            both[r] = r == 0 ? bytes : 0;
            both[w->size + r] = w->rank == 0 ? all[r] : 0;
        }
        status = tct_alltoallv(w, both, from, both + w->size, to);
    }
    tct_free(both);
    return status;
}

static tacit_status send_words(tacit_world *w, size_t size, int64_t count,
                               const void *from, const int64_t *counts,
                               int64_t *bytes, void *to)
{
    for (int r = 0; r < w->size; r++) bytes[r] = counts[r] * (int64_t)size;
    return send(w, count * (int64_t)size, from, bytes, to);
}

/* Gather row lengths into ptr + 1 and sum them. */
static tacit_status send_rows(tacit_world *w, const tct_csr *A,
                              const int64_t *starts, int64_t *bytes,
                              tct_csr *out)
{
    int64_t *length = NULL;
    tacit_status status = TCT_ALLOC(A->rows, what, &length);
    if (status >= 0 && w->rank == 0)
        status = tct_csr_rows(out, A->global_rows, A->global_cols, 0,
                              A->global_rows);
    status = tct_agree(w, status);
    for (int64_t i = 0; status >= 0 && i < A->rows; i++)
        length[i] = A->ptr[i + 1] - A->ptr[i];
    for (int r = 0; r < w->size; r++)
        bytes[r] = 8 * (starts[r + 1] - starts[r]);
    if (status >= 0)
        status =
            send(w, 8 * A->rows, length, bytes, out->ptr ? out->ptr + 1 : NULL);
    for (int64_t i = 0; status >= 0 && w->rank == 0 && i < out->rows; i++)
        out->ptr[i + 1] += out->ptr[i];
    tct_free(length);
    return status;
}

static tacit_status send_entries(tacit_world *w, const tct_csr *A,
                                 int64_t *bytes, tct_csr *out)
{
    int64_t *counts = NULL, mine = tct_csr_nonzeros(A);
    tacit_status status = TCT_ALLOC(w->size, what, &counts);
    if (status >= 0 && w->rank == 0)
        status = tct_csr_entries(out, out->ptr[out->rows]);
    status = tct_agree(w, status);
    if (status >= 0) status = tct_allgather(w, sizeof mine, &mine, counts);
    const bool wide = A->global_cols > INT32_MAX;
    const void *cols = wide ? (const void *)A->col64 : A->col32;
    void *to = wide ? (void *)out->col64 : out->col32;
    if (status >= 0)
        status = send_words(w, wide ? 8 : 4, mine, cols, counts, bytes, to);
    if (status >= 0)
        status = send_words(w, 8, mine, A->val, counts, bytes, out->val);
    tct_free(counts);
    return status;
}

tacit_status tct_gather(const tacit_matrix *m, tct_csr *out)
{
    tacit_world *w = m->world;
    tct_csr back = {0};
    int64_t *bytes = NULL;
    *out = (tct_csr){0};
    TRY(tct_agree(w, tct_matrix_require_entries(m)));
    if (m->dealt) TRY(tct_restore(m, &back));
    const tct_csr *A = m->dealt ? &back : &m->A;
    const int64_t *starts = m->dealt ? m->dealt : m->starts;
    tacit_status status = tct_agree(w, TCT_ALLOC(w->size, what, &bytes));
    if (status >= 0) status = send_rows(w, A, starts, bytes, out);
    if (status >= 0) status = send_entries(w, A, bytes, out);
    tct_free(bytes);
    tct_csr_clear(&back);
    if (status < 0) tct_csr_clear(out);
    return status;
}
