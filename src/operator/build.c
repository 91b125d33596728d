/* SPDX-License-Identifier: BSD-3-Clause
 * operator/build.c - the operator of a matrix is made: its blocks, of the
 * entries or of a copy of them, and its exchange. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "operator/choice/brought.h"
#include "operator/choice/rental.h"
#include "operator/null/null_space.h"
#include <string.h>

/* --- rows ------------------------------------------------------------------ */

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
    TRY(require_square(matrix));
    TCT_THREADS_OF(q->team);
    return tct_csr_copy(&matrix->A, to);
}

/* Rows that stay as they are need no copy: rented ones, and those that a GPU
 * stores. Rows of several ranks are copied where they are divided. */
tacit_status tct_rows_of(const tacit_queue *q, const tacit_matrix *matrix,
                         bool rents, tct_csr *to)
{
    tct_csr *rows = &((tacit_matrix *)(uintptr_t)matrix)->A;
    const bool stay = rents || q->device->kind == TCT_KIND_GPU;
    if (!stay && matrix->world->size == 1) return tct_copy_rows(q, matrix, to);
    TRY(require_square(matrix));
    return tct_csr_share(rows, to);
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

/* Values and their partners differ by this after some additions. */
static const double ROUNDING = 1e-9;

/* Null vectors of a matrix that is not symmetric do not bound its range. */
static tacit_status drop_if_not_symmetric(tacit_operator *A,
                                          const tacit_matrix *matrix,
                                          const tct_csr *rows)
{
    tacit_matrix view = *matrix;
    view.A = *rows;
    view.released = false;
    double most = 0.0;
    if (!A->null) return TACIT_OK;
    const tacit_status status = tct_matrix_asymmetry(&view, &most);
    if (status < 0 || most > ROUNDING) tct_null_close(&A->null);
    return status;
}

/* Sizes and states of the rows, on the host unless the device had a look. */
static tacit_status measure(const tct_assembled *A, const tct_csr *rows,
                            tct_row_sizes *sizes, unsigned char **state)
{
    *state = NULL;
    if (tct_brought_sizes(A, sizes, state)) return TACIT_OK;
    TRY(tct_agree(A->base.world, TCT_ALLOC(rows->rows, "an operator", state)));
    tct_measure_rows(rows, *state, sizes);
    return TACIT_OK;
}

tacit_status tct_scale_and_look(tct_assembled *A, const tacit_matrix *matrix,
                                tct_csr *rows)
{
    tacit_operator *base = &A->base;
    unsigned char *state = NULL;
    tct_row_sizes sizes;
    tacit_status status = measure(A, rows, &sizes, &state);
    if (status >= 0) status = tct_scale(base, rows, &sizes);
    if (base->exponent) tct_brought_drop(A); /* these have other values */
    tct_null_close(&base->null);
    if (status >= 0 && state)
        status = tct_null_find(base->world, rows, matrix->starts, state,
                               &base->null);
    if (status >= 0) status = tct_null_split(matrix, rows, base->null);
    tct_free(state);
    if (status >= 0) status = drop_if_not_symmetric(base, matrix, rows);
    return status;
}

/* `rows` is consumed. Every rank calls it, with any `status`. */
static tacit_status build(tct_assembled *A, const tacit_matrix *matrix,
                          tct_csr *rows, tacit_status status,
                          const tct_operator_wish *wish)
{
    tacit_operator *base = &A->base;
    tacit_world *w = base->world;
    const tct_grid_place at = place_of(matrix);
    A->by_model = wish->by_model;
    if (status >= 0 && wish->rents) status = tct_rental_open(A, wish);
    TRY(tct_agree(w, status));
    TRY(tct_bring_first(A, wish->format, rows));
    TRY(tct_scale_and_look(A, matrix, rows));
    status = TCT_ALLOC(w->size + 1, "an operator", &A->starts);
    if (status >= 0) {
        memcpy(A->starts, matrix->starts,
               (size_t)(w->size + 1) * sizeof *A->starts);
        base->n = rows->rows;
        base->info.rows = matrix->A.global_rows;
        base->info.nonzeros = matrix->nonzeros;
        status = tct_store_blocks(A, wish->format, &at, rows);
    }
    tct_brought_drop(A);
    tct_csr_clear(rows);
    TRY(tct_agree(w, status));
    TRY(tct_rental_agree(A));
    if (w->size > 1) TRY(tct_assembled_plan(A, 2));
    tct_assembled_describe(A);
    return tct_assembled_describe_exchange(A);
}

static tacit_status create(tacit_queue *queue, const tacit_matrix *matrix,
                           tct_csr *rows, tacit_status status,
                           const tct_operator_wish *wish, tacit_operator **out)
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
        base->one_solve = wish->one_solve;
        status = build(A, matrix, rows, status, wish);
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

static tacit_status of_grid(tacit_queue *queue, const tacit_matrix *matrix,
                            const tct_operator_wish *wish, tacit_operator **out)
{
    TRY(tct_operator_of_grid(queue, matrix->stencil, wish->format, out));
    (*out)->one_solve = wish->one_solve;
    return TACIT_OK;
}

/* On a GPU all formats are tried at once. */
static tct_operator_wish on(const tacit_queue *q, const tct_operator_wish *wish)
{
    tct_operator_wish w = *wish;
    w.rents = w.rents && q->device->kind == TCT_KIND_HOST;
    return w;
}

tacit_status tct_operator_make(tacit_queue *queue, const tacit_matrix *matrix,
                               const tct_operator_wish *wish,
                               tacit_operator **out)
{
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    if (matrix->stencil) return of_grid(queue, matrix, wish, out);
    const tct_operator_wish w = on(queue, wish);
    tct_csr rows = {0};
    const tacit_status status = tct_rows_of(queue, matrix, w.rents, &rows);
    return create(queue, matrix, &rows, status, &w, out);
}

tacit_status tacit_operator_create(tacit_queue *queue,
                                   const tacit_matrix *matrix,
                                   const char *format, tacit_operator **out)
{
    REQUIRE(queue != NULL, matrix != NULL, out != NULL);
    return tct_operator_make(queue, matrix,
                             &(tct_operator_wish){.format = format}, out);
}

/* The wish of `options`, which ranks read alike. */
static tacit_status read_options(const tacit_matrix *matrix,
                                 const tacit_operator_options *options,
                                 tct_operator_wish *out)
{
    tacit_operator_options o = {.size = sizeof o};
    tacit_status status = TACIT_OK;
    if (options)
        status =
            tct_read_sized("tacit_operator_options", options, &o, sizeof o);
    if (status >= 0 && o.solves < 0)
        status = tacit_error_set(TACIT_INVALID,
                                 "an operator for %lld solves: give their "
                                 "number, or 0 for one",
                                 (long long)o.solves);
    *out = (tct_operator_wish){.format = o.format,
                               .rents = o.solves <= 1,
                               .by_model = o.deterministic,
                               .one_solve = o.solves <= 1 || o.deterministic};
    return tct_agree(matrix->world, status);
}

tacit_status tacit_operator_create_for(tacit_queue *queue,
                                       const tacit_matrix *matrix,
                                       const tacit_operator_options *options,
                                       tacit_operator **out)
{
    REQUIRE(queue != NULL, matrix != NULL, out != NULL);
    tct_operator_wish wish;
    TRY(read_options(matrix, options, &wish));
    return tct_operator_make(queue, matrix, &wish, out);
}

/* The entries of `matrix`, which has none then. */
static tacit_status take_rows(tacit_matrix *matrix, tct_csr *out)
{
    TRY(require_square(matrix));
    *out = matrix->A;
    matrix->A = (tct_csr){.global_rows = out->global_rows,
                          .global_cols = out->global_cols,
                          .first = out->first,
                          .rows = out->rows};
    tct_matrix_release_entries(matrix);
    return tct_csr_own(out);
}

static tacit_status take(tacit_queue *queue, tacit_matrix *matrix,
                         const tct_operator_wish *wish, tacit_operator **out)
{
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    if (matrix->stencil) return of_grid(queue, matrix, wish, out);
    const tct_operator_wish w = on(queue, wish);
    tct_csr rows = {0};
    const tacit_status status = take_rows(matrix, &rows);
    return create(queue, matrix, &rows, status, &w, out);
}

tacit_status tacit_operator_take(tacit_queue *queue, tacit_matrix *matrix,
                                 const char *format, tacit_operator **out)
{
    REQUIRE(queue != NULL, matrix != NULL, out != NULL);
    return take(queue, matrix, &(tct_operator_wish){.format = format}, out);
}

tacit_status tacit_operator_take_for(tacit_queue *queue, tacit_matrix *matrix,
                                     const tacit_operator_options *options,
                                     tacit_operator **out)
{
    REQUIRE(queue != NULL, matrix != NULL, out != NULL);
    tct_operator_wish wish;
    TRY(read_options(matrix, options, &wish));
    return take(queue, matrix, &wish, out);
}
