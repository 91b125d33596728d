/* SPDX-License-Identifier: BSD-3-Clause
 * operator/build.c - the operator of a matrix is made: its blocks, of the
 * entries or of a copy of them, and its exchange. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "operator/assembled.h"
#include <string.h>

/* --- rows ----------------------------------------------------------------- */

static int64_t shortest(const void *work, int64_t from, int64_t to)
{
    const tct_csr *A = work;
    int64_t least = INT64_MAX;
    for (int64_t i = from; i < to; i++)
        if (A->ptr[i + 1] - A->ptr[i] < least)
            least = A->ptr[i + 1] - A->ptr[i];
    return least;
}

static int64_t longest(const void *work, int64_t from, int64_t to)
{
    const tct_csr *A = work;
    int64_t most = 0;
    for (int64_t i = from; i < to; i++)
        if (A->ptr[i + 1] - A->ptr[i] > most) most = A->ptr[i + 1] - A->ptr[i];
    return most;
}

static void row_statistics(const tct_csr *A, int64_t extent[3])
{
    /* negative, to use one maximum for both */
    extent[0] = -tct_parallel_min(A->rows, TCT_SHORT, shortest, A);
    extent[1] = tct_parallel_max(A->rows, TCT_SHORT, longest, A);
    extent[2] = 0;
}

typedef struct {
    const tct_csr *from;
    tct_csr *to;
} copying;

static void copy_entries(void *work, int64_t first, int64_t last)
{
    const copying *c = work;
    for (int64_t k = first; k < last; k++) {
        tct_csr_set_col(c->to, k, tct_csr_col(c->from, k));
        c->to->val[k] = c->from->val[k];
    }
}

static tacit_status require_square(const tacit_matrix *matrix)
{
    if (matrix->A.global_rows == matrix->A.global_cols)
        return tct_matrix_require_entries(matrix);
    FAIL(TACIT_INPUT, "the matrix is not square: %lld rows, %lld columns",
         (long long)matrix->A.global_rows, (long long)matrix->A.global_cols);
}

tacit_status tct_copy_rows(const tacit_queue *q, const tacit_matrix *matrix,
                           tct_csr *to)
{
    const tct_csr *from = &matrix->A;
    const int64_t nonzeros = tct_csr_nonzeros(from);
    TRY(require_square(matrix));
    TRY(tct_csr_rows(to, from->global_rows, from->global_cols, from->first,
                     from->rows));
    memcpy(to->ptr, from->ptr, (size_t)(from->rows + 1) * sizeof *to->ptr);
    TRY(tct_csr_entries(to, nonzeros));
    tct_team_stretches(q->team, nonzeros, copy_entries, &(copying){from, to});
    return TACIT_OK;
}

/* --- info ----------------------------------------------------------------- */

tacit_status tct_assembled_describe_exchange(tct_assembled *A)
{
    tacit_operator_info *info = &A->base.info;
    if (!A->plan) return TACIT_OK;
    int64_t total[2] = {A->plan->base.messages, A->plan->base.values};
    TRY(tct_reduce_i64(A->base.world, TCT_SUM, 2, total));
    info->messages = total[0];
    info->volume = total[1];
    info->neighbours = A->plan->sends;
    info->ghosts = A->ghosts;
    info->sent = A->plan->base.values;
    return TACIT_OK;
}

void tct_assembled_describe(tct_assembled *A)
{
    tacit_operator_info *info = &A->base.info;
    const tct_stored *S = &A->stored;
    const tct_block *L = S->block, *G = A->ghost;
    const tacit_operator *low = A->base.low;
    const double entries = (double)L->nonzeros + (G ? (double)G->nonzeros : 0);
    const double stored = (double)L->stored + (G ? (double)G->stored : 0);
    const double bytes = L->matrix_bytes + (G ? G->matrix_bytes : 0);
    info->format = S->name;
    info->detail = L->detail[0] ? L->detail : S->format->about.summary;
    info->packed = L->packed;
    info->bytes_per_nonzero = entries > 0 ? bytes / entries : 0.0;
    info->threads = L->threads ? L->threads : A->base.q->threads;
    info->padding = entries > 0 ? stored / entries - 1.0 : 0.0;
    if (low && entries > 0)
        info->low_bytes_per_nonzero = low->local->matrix_bytes / entries;
    info->low_bits = low ? low->bits : 0;
    info->order = A->order ? A->order->name : "none";
    info->copy_seconds = S->copy_seconds;
    info->store_seconds = S->store_seconds;
    info->order_seconds = A->order ? A->order->seconds : 0.0;
}

/* --- build ---------------------------------------------------------------- */

/* Where this rank's rows are in the grid of `m`, one to a point. Of rows that
 * were moved to a rank the first and the last show which box they could be. */
static tct_grid_place place_of(const tacit_matrix *m)
{
    const int64_t *n = m->grid, *was = m->original, last = m->A.rows - 1;
    tct_grid_place at = {.first = m->A.first};
    if (n[0] == 0 || n[0] * n[1] * n[2] != m->A.global_rows) return at;
    memcpy(at.n, n, sizeof at.n);
    if (!was || last < 0) return at;
    const int64_t step[3] = {1, n[0], n[0] * n[1]};
    at.first = 0;
    for (int d = 0; d < 3; d++)
        at.n[d] = was[last] / step[d] % n[d] - was[0] / step[d] % n[d] + 1;
    const bool box = at.n[0] > 0 && at.n[1] > 0 && at.n[2] > 0 &&
                     at.n[0] * at.n[1] * at.n[2] == m->A.rows;
    return box ? at : (tct_grid_place){.first = 0};
}

/* `rows` is consumed. Every rank calls it, with any `status`. */
static tacit_status build(tct_assembled *A, const tacit_matrix *matrix,
                          tct_csr *rows, tacit_status status,
                          const char *format)
{
    tacit_operator *base = &A->base;
    tacit_world *w = base->world;
    int64_t extent[3] = {0};
    const tct_grid_place at = place_of(matrix);
    TRY(tct_agree(w, status));
    TRY(tct_scale(base, rows));
    if (status >= 0) {
        row_statistics(rows, extent);
        status = TCT_ALLOC(w->size + 1, "an operator", &A->starts);
    }
    if (status >= 0) {
        memcpy(A->starts, matrix->starts,
               (size_t)(w->size + 1) * sizeof *A->starts);
        base->n = rows->rows;
        base->info.rows = matrix->A.global_rows;
        base->info.nonzeros = matrix->nonzeros;
        status = tct_store_blocks(A, format, &at, rows);
    }
    tct_csr_clear(rows);
    TRY(tct_agree(w, status));
    TRY(tct_reduce_i64(w, TCT_MAX, 3, extent));
    base->info.row_min = -extent[0];
    base->info.row_max = extent[1];
    if (w->size > 1) TRY(tct_assembled_plan(A, 2));
    tct_assembled_describe(A);
    return tct_assembled_describe_exchange(A);
}

static tacit_status create(tacit_queue *queue, const tacit_matrix *matrix,
                           tct_csr *rows, tacit_status status,
                           const char *format, tacit_operator **out)
{
    const double start = tct_seconds();
    tct_assembled *A = tct_calloc(sizeof *A);
    tacit_operator *base = A ? &A->base : NULL;
    if (!A && status >= 0)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for an operator");
    status = tct_agree(matrix->world, status);
    if (status >= 0) {
        base->ops = &tct_assembled_ops;
        base->q = queue;
        base->world = matrix->world;
        base->bits = 64;
        status = build(A, matrix, rows, status, format);
    }
    tct_csr_clear(rows);
    if (status < 0) {
        tacit_operator_destroy(&base);
        return status;
    }
    base->info.setup_seconds = tct_seconds() - start;
    *out = base;
    return TACIT_OK;
}

tacit_status tacit_operator_create(tacit_queue *queue,
                                   const tacit_matrix *matrix,
                                   const char *format, tacit_operator **out)
{
    REQUIRE(queue != NULL && matrix != NULL && out != NULL);
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    if (matrix->stencil)
        return tct_operator_of_grid(queue, matrix->stencil, format, out);
    tct_csr rows = {0};
    const tacit_status status = tct_copy_rows(queue, matrix, &rows);
    return create(queue, matrix, &rows, status, format, out);
}

tacit_status tacit_operator_take(tacit_queue *queue, tacit_matrix *matrix,
                                 const char *format, tacit_operator **out)
{
    REQUIRE(queue != NULL && matrix != NULL && out != NULL);
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    if (matrix->stencil)
        return tct_operator_of_grid(queue, matrix->stencil, format, out);
    tct_csr rows = {0};
    const tacit_status status = require_square(matrix);
    if (status >= 0) {
        rows = matrix->A;
        matrix->A.ptr = NULL;
        matrix->A.col32 = NULL;
        matrix->A.col64 = NULL;
        matrix->A.val = NULL;
        tct_matrix_release_entries(matrix);
    }
    return create(queue, matrix, &rows, status, format, out);
}
