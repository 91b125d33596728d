/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/alone.c - the last levels of several ranks, wholly on each of them.
 *
 * Where a device has the last levels as one kernel (bottom.h), that takes as long
 * as a few messages. So each rank has the first of these levels whole, on a line
 * of its own beside the queue's, makes a hierarchy for it as one rank does, and
 * visits it alone: the right-hand side of all ranks comes in one exchange, as that
 * of an inverse does (coarsest.c), and nothing goes back. */
#include "matrix/parallel.h"
#include "precond/amg/bottom.h"
#include <stdio.h>
#include <string.h>

static const char *const what = "the last levels";

/* --- the matrix ---------------------------------------------------------------- */

/* A matrix and its smooth vector, on each rank. */
typedef struct {
    int64_t *ptr, *col;
    double *val, *smooth; /* NULL: ones */
} whole;

static tacit_status allocate(const tacit_matrix *m, bool smooth, whole *W)
{
    TRY(TCT_ALLOC(m->A.global_rows + 1, what, &W->ptr));
    TRY(TCT_ALLOC(m->nonzeros, what, &W->col));
    TRY(TCT_ALLOC(m->nonzeros, what, &W->val));
    if (smooth) TRY(TCT_ALLOC(m->A.global_rows, what, &W->smooth));
    return TACIT_OK;
}

/* Items of 8 bytes of each rank, to all ranks, in their order: of rank r as many as
 * `of` [size] says.
 * Memory      what comes in, once more.
 * Collective. */
static tacit_status bring_all(tacit_world *w, const int64_t *of,
                              const void *mine, void *all)
{
    enum { ITEM = 8 };
    const size_t bytes = (size_t)of[w->rank] * ITEM;
    int64_t *sizes = NULL;
    char *out = NULL;
    tacit_status status = TCT_ALLOC(2 * w->size, what, &sizes);
    if (status >= 0) status = TCT_ALLOC(w->size * (int64_t)bytes, what, &out);
    status = tct_agree(w, status);
    for (int r = 0; status >= 0 && r < w->size; r++) {
        sizes[r] = (int64_t)bytes;
        sizes[w->size + r] = of[r] * ITEM;
        if (bytes > 0) memcpy(out + (size_t)r * bytes, mine, bytes);
    }
    if (status >= 0)
        status = tct_alltoallv(w, sizes, out, sizes + w->size, all);
    TCT_FREE(sizes, out);
    return status;
}

/* Rows and entries that each rank has [size]. */
static tacit_status count_parts(const tacit_matrix *m, int64_t **rows,
                                int64_t **entries)
{
    tacit_world *w = m->world;
    const int64_t mine = m->A.ptr[m->A.rows];
    tacit_status status = TCT_ALLOC(w->size, what, rows);
    if (status >= 0) status = TCT_ALLOC(w->size, what, entries);
    TRY(tct_agree(w, status));
    for (int r = 0; r < w->size; r++)
        (*rows)[r] = m->starts[r + 1] - m->starts[r];
    return tct_allgather(w, sizeof mine, &mine, *entries);
}

static tacit_status gather(const tacit_matrix *m, const double *smooth,
                           whole *W)
{
    const tct_csr *A = &m->A;
    tacit_world *w = m->world;
    int64_t *rows = NULL, *entries = NULL, *col = NULL;
    tacit_status status = count_parts(m, &rows, &entries);
    if (status >= 0)
        status = tct_agree(w, TCT_ALLOC(A->ptr[A->rows], what, &col));
    for (int64_t k = 0; status >= 0 && k < A->ptr[A->rows]; k++)
        col[k] = tct_csr_col(A, k);
    if (status >= 0) status = bring_all(w, rows, A->ptr + 1, W->ptr + 1);
    if (status >= 0) status = bring_all(w, entries, col, W->col);
    if (status >= 0) status = bring_all(w, entries, A->val, W->val);
    if (status >= 0 && W->smooth)
        status = bring_all(w, rows, smooth, W->smooth);
    int64_t before = 0;
    W->ptr[0] = 0;
    for (int r = 0; status >= 0 && r < w->size; before += entries[r++])
        for (int64_t i = m->starts[r]; i < m->starts[r + 1]; i++)
            W->ptr[i + 1] += before;
    TCT_FREE(rows, entries, col);
    return status;
}

/* --- the hierarchy -------------------------------------------------------------- */

/* Another line on the device of `q`, for this rank alone. */
static tacit_status open_beside(const tacit_queue *q, tct_amg_alone *out)
{
    char spec[64];
    if (q->device->ordinals)
        snprintf(spec, sizeof spec, "%s(%d)", q->device->name, q->ordinal);
    else snprintf(spec, sizeof spec, "%s", q->device->name);
    TRY(tacit_world_self(&out->world));
    return tacit_queue_create(out->world, spec, q->threads, &out->q);
}

/* Wishes what `M` does of the levels that M has not; the steps read doubles. */
static tacit_status begin(const tct_amg *M, tct_amg_alone *out)
{
    tct_amg *R = tct_amg_like(M);
    if (!R) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    R->base = (tacit_operator){.ops = NULL};
    tct_precond_begin(&R->base, M->base.ops, out->A);
    R->precision = TCT_DOUBLES;
    R->given = false;
    R->levels_most -= M->levels - 1;
    R->part_of = M;
    out->M = R;
    return TACIT_OK;
}

static tacit_status build(const tct_amg *M, int64_t rows, const whole *W,
                          tct_amg_alone *out)
{
    tacit_matrix *m = NULL;
    TRY(open_beside(M->base.q, out));
    tacit_status status = tacit_matrix_from_rows(out->world, rows, 0, rows,
                                                 W->ptr, W->col, W->val, &m);
    if (status >= 0) status = tct_amg_operator_of(out->q, m, &out->A);
    if (status >= 0) status = begin(M, out);
    if (status >= 0) {
        const tct_precond_source from = {
            .matrix = m,
            .options = {.node_rows = 1,
                        .vectors = W->smooth ? 1 : 0,
                        .near_null = W->smooth}};
        status = tct_amg_build(out->M, out->A, &from, NULL);
        out->M->part_of = NULL; /* which another one may take the place of */
    }
    tacit_matrix_destroy(&m);
    if (status >= 0 && (!out->M->bottom || out->M->bottom_from > 0))
        return tacit_error_set(TACIT_UNSUPPORTED, "they are not one kernel");
    return status;
}

tacit_status tct_amg_alone_create(const tct_amg *M, const tacit_matrix *m,
                                  const double *smooth, tct_amg_alone *out)
{
    tacit_world *w = m->world;
    whole W = {.ptr = NULL};
    bool without = false, any = false;
    TRY(tct_any(w, smooth != NULL, &any));
    tacit_status status = tct_agree(w, allocate(m, any, &W));
    if (status >= 0) status = gather(m, smooth, &W);
    if (status >= 0) {
        status = build(M, m->A.global_rows, &W, out);
        without = status == TACIT_NO_MEMORY || status == TACIT_UNSUPPORTED;
        if (without)
            tct_log(TCT_DETAIL, "amg: the last levels are of all ranks: %s",
                    tacit_error_message());
        status = tct_agree(w, without ? TACIT_OK : status);
    }
    TCT_FREE(W.ptr, W.col, W.val, W.smooth);
    if (status >= 0) status = tct_any(w, without, &without);
    if (status < 0 || without) tct_amg_alone_free(out);
    return status;
}

void tct_amg_alone_free(tct_amg_alone *alone)
{
    tacit_operator *M = alone->M ? &alone->M->base : NULL;
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&alone->A);
    tacit_queue_destroy(&alone->q);
    tacit_world_destroy(&alone->world);
    *alone = (tct_amg_alone){.M = NULL};
}
