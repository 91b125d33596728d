/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/fill.c - the operator of rows in a GPU's memory: the host lays
 * out its slices from their widths. */
#include "operator/gpu/fill.h"
#include "operator/assembled.h"
#include "operator/gpu/slices.h"
#include "operator/gpu/store.h"
#include <stdio.h>
#include <string.h>

static const char *const what = "slices of a matrix";
static const double PADDED = 1.5; /* cells per entry, at most */

typedef struct {
    tacit_queue *q;
    const tct_device_rows *rows;
    tct_gpu_slices *S;
    tct_slice_need *need, *need_there; /* [slices] */
    tct_gpu_slice *slice;              /* [slices] */
} filling;

static const tct_block_ops rows_ops = {.name = "sell",
                                       .destroy = tct_gpu_slices_destroy};

/* Copy the widths of slices to the host. */
static tacit_status survey(filling *f)
{
    tct_gpu_arrays *d = &f->S->d;
    const size_t slices = (size_t)d->slices;
    uint16_t *length = NULL;
    TRY(TCT_ALLOC(slices, what, &f->need));
    TRY(TCT_ALLOC(slices, what, &f->slice));
    TRY(tct_gpu_upload(NULL, slices * sizeof *f->need, &f->need_there));
    TRY(tct_gpu_upload(NULL, slices * GPU_LANES * sizeof *length, &length));
    d->length = length;
    tct_gpu_survey_rows(f->q, f->rows, d->slices, f->need_there, length);
    TRY(q_own_status(f->q));
    TRY(tct_gpu_status(gpu_stream_sync(tct_gpu_of(f->q)->stream), what));
    return tct_gpu_status(gpu_memcpy(f->need, f->need_there,
                                     slices * sizeof *f->need, GPU_TO_HOST),
                          "copying from the device");
}

/* Set the start of each slice. */
static tacit_status lay_out(filling *f)
{
    tct_gpu_arrays *d = &f->S->d;
    for (int64_t s = 0; s < d->slices; s++) {
        const tct_slice_need *n = &f->need[s];
        if (n->width > UINT16_MAX)
            FAIL(TACIT_UNSUPPORTED, "a row of %d entries", n->width);
        const bool near = n->last - n->base <= UINT16_MAX;
        f->slice[s] = (tct_gpu_slice){.cell = d->cells,
                                      .index = d->index_bytes,
                                      .base = n->base,
                                      .width = (uint16_t)n->width,
                                      .full = (uint16_t)n->full,
                                      .kind = near ? SLICE_NEAR : SLICE_FAR};
        d->cells += n->width;
        d->index_bytes += near ? (int64_t)(n->width + 1) / 2 * 4 * GPU_LANES
                               : (int64_t)n->width * 4 * GPU_LANES;
        if (n->width > d->widest) d->widest = n->width;
    }
    const double cells = (double)d->cells * GPU_LANES;
    if (cells > PADDED * (double)f->rows->entries + 1e5)
        FAIL(TACIT_UNSUPPORTED, "rows of too different lengths");
    return TACIT_OK;
}

static tacit_status fill(filling *f)
{
    tct_gpu_arrays *d = &f->S->d;
    const size_t cells = (size_t)d->cells * GPU_LANES;
    const size_t size = (size_t)tct_gpu_value_bytes((tct_gpu_store)d->store);
    uint8_t *index = NULL;
    void *value = NULL;
    TRY(tct_gpu_upload(f->slice, (size_t)d->slices * sizeof *f->slice,
                       &d->slice));
    TRY(tct_gpu_upload(NULL, (size_t)d->index_bytes, &index));
    d->index = index;
    TRY(tct_gpu_upload(NULL, cells * size, &value));
    d->value = value;
    tct_gpu_fill_slices(f->q, f->rows, d, index, value);
    return q_own_status(f->q);
}

static void tell(tct_gpu_slices *S)
{
    tct_block *B = &S->base.base;
    const int value = tct_gpu_value_bytes((tct_gpu_store)S->d.store);
    B->stored = S->d.cells * GPU_LANES;
    B->matrix_bytes =
        value * (double)B->stored + (double)S->d.index_bytes +
        (double)S->d.slices * (double)(sizeof *S->d.slice + 2 * GPU_LANES);
    B->kernels = 1;
    B->takes_pass = tct_gpu_takes_pass(S);
    snprintf(B->detail, sizeof B->detail,
             "32-row slices: %.2g bytes a column, made on the device, %.2g %% "
             "padding, %s",
             (double)S->d.index_bytes / (double)B->stored,
             100.0 * ((double)B->stored / (double)B->nonzeros - 1.0),
             value == 4 ? "floats" : "doubles");
}

static tacit_status make_slices(tacit_queue *q, const tct_device_rows *rows,
                                tct_block **out)
{
    tct_gpu_slices *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    filling f = {.q = q, .rows = rows, .S = S};
    S->base = (tct_gpu_block){.base = {.ops = &rows_ops,
                                       .rows = rows->rows,
                                       .cols = rows->rows,
                                       .nonzeros = rows->entries},
                              .gpu = &tct_gpu_slices_ops};
    snprintf(S->store, sizeof S->store, rows->floats ? "f32" : "f64");
    S->d = (tct_gpu_arrays){.rows = rows->rows,
                            .cols = rows->rows,
                            .b = 1,
                            .store = rows->floats ? GPU_F32 : GPU_F64,
                            .walk = GPU_ANY,
                            .groups = rows->rows,
                            .slices = (rows->rows + GPU_LANES - 1) / GPU_LANES};
    tacit_status status = survey(&f);
    if (status >= 0) status = lay_out(&f);
    if (status >= 0) status = fill(&f);
    tell(S);
    TCT_FREE(f.need, f.slice);
    tct_gpu_release(f.need_there);
    if (status < 0) tct_gpu_slices_destroy(&S->base.base);
    else *out = &S->base.base;
    return status;
}

static tct_store_rows store_rows_of(tacit_queue *q, const tct_device_rows *rows)
{
    return (tct_store_rows){.q = q,
                            .kernels = &tct_gpu_store_kernels,
                            .rows = rows->rows,
                            .cols = rows->rows,
                            .entries = rows->entries,
                            .ptr = rows->ptr,
                            .col = rows->col,
                            .val = rows->val};
}

/* Rows of too different lengths are sorted within windows, which takes
 * longer. */
static tacit_status make_rows(tacit_queue *q, const tct_device_rows *rows,
                              tct_block **out)
{
    const tct_store_rows R = store_rows_of(q, rows);
    const tacit_status status = make_slices(q, rows, out);
    return status == TACIT_UNSUPPORTED
               ? tct_gpu_sell_of_rows(&R, rows->floats, out)
               : status;
}

/* Does a format of dense blocks have blocks of this size? */
static bool has_blocks(const tct_device_rows *rows)
{
    return rows->block > 1 && rows->block <= GPU_BLOCK_MOST &&
           rows->rows % rows->block == 0;
}

static tacit_status make_blocks(tacit_queue *q, const tct_device_rows *rows,
                                tct_block **out)
{
    const tct_store_rows R = store_rows_of(q, rows);
    return tct_gpu_bsell_of_rows(&R, rows->block, rows->floats, out);
}

static tacit_status make_block(tacit_queue *q, const tct_device_rows *rows,
                               tct_stored *out)
{
    const bool blocks = has_blocks(rows);
    const char *name = blocks ? "bsell" : "sell";
    TRY(blocks ? make_blocks(q, rows, &out->block)
               : make_rows(q, rows, &out->block));
    out->format = tct_format_find(q->device->name, name);
    snprintf(out->name, sizeof out->name, "%s%s", name,
             !blocks        ? ""
             : rows->floats ? "/f32"
                            : "/f64");
    return TACIT_OK;
}

static tacit_status build(tct_assembled *A, const tct_device_rows *rows)
{
    tacit_operator *base = &A->base;
    tacit_operator_info *info = &base->info;
    base->n = info->rows = rows->rows;
    info->nonzeros = rows->entries;
    TRY(TCT_ALLOC(2, "an operator", &A->starts));
    A->starts[0] = 0;
    A->starts[1] = rows->rows;
    TRY(make_block(base->q, rows, &A->stored));
    base->local = A->stored.block;
    tct_assembled_describe(A);
    return TACIT_OK;
}

tacit_status tct_operator_of_device_rows(const tacit_operator *like,
                                         const tct_device_rows *rows,
                                         double norm, tacit_operator **out)
{
    tct_assembled *A = tct_calloc(sizeof *A);
    if (!A) FAIL(TACIT_NO_MEMORY, "no memory for an operator");
    tacit_operator *base = &A->base;
    base->ops = &tct_assembled_ops;
    base->q = like->q;
    base->world = like->world;
    base->bits = 64;
    base->norm = norm;
    const tacit_status status = build(A, rows);
    if (status < 0) tacit_operator_destroy(&base);
    else *out = base;
    return status;
}

/* NULL with rows kept apart, which are elsewhere. */
const tct_gpu_arrays *tct_rows_of_operator(const tacit_operator *A)
{
    const tct_gpu_slices *S = (const tct_gpu_slices *)(const void *)A->local;
    if (A->ops != &tct_assembled_ops || !A->local || A->order ||
        S->base.gpu != &tct_gpu_slices_ops)
        return NULL;
    return S->d.long_rows == 0 && !S->lossy ? &S->d : NULL;
}
