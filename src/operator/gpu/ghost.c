/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/ghost.c - the ghost block, copied to the device. */
#include "operator/gpu/ghost.h"
#include "operator/host/ghost.h"

static void ghost_destroy(tct_block *block)
{
    tct_gpu_ghost *B = (tct_gpu_ghost *)(void *)block;
    if (!B) return;
    tct_gpu_release((void *)(uintptr_t)B->d.row);
    tct_gpu_release((void *)(uintptr_t)B->d.ptr);
    tct_gpu_release((void *)(uintptr_t)B->d.col);
    tct_gpu_release(B->d.val);
    tct_free(B);
}

static const tct_block_ops ghost_ops = {.name = "ghost",
                                        .destroy = ghost_destroy};

static tacit_status upload(const tct_ghost_block *from, tct_gpu_ghost_arrays *d)
{
    const size_t rows = (size_t)from->rows;
    const size_t entries = (size_t)from->base.nonzeros;
    d->rows = from->rows;
    TRY(tct_gpu_upload(from->row, rows * sizeof *d->row, &d->row));
    TRY(tct_gpu_upload(from->ptr, (rows + 1) * sizeof *d->ptr, &d->ptr));
    TRY(tct_gpu_upload(from->col, entries * sizeof *d->col, &d->col));
    return tct_gpu_upload(from->val, entries * sizeof *d->val, &d->val);
}

tacit_status tct_ghost_upload(const tct_block *block, tct_block **out)
{
    const tct_ghost_block *from = (const tct_ghost_block *)(const void *)block;
    tct_gpu_ghost *B = tct_calloc(sizeof *B);
    if (!B) FAIL(TACIT_NO_MEMORY, "no memory for the ghost block");
    B->base.base = *block;
    B->base.base.ops = &ghost_ops;
    B->base.gpu = &tct_gpu_ghost_ops;
    const tacit_status status = upload(from, &B->d);
    if (status < 0) ghost_destroy(&B->base.base);
    else *out = &B->base.base;
    return status;
}

tacit_status tct_ghost_upload_values(const tct_block *block, tct_block *there)
{
    const tct_ghost_block *from = (const tct_ghost_block *)(const void *)block;
    tct_gpu_ghost *B = (tct_gpu_ghost *)(void *)there;
    TRY(tct_gpu_status(gpu_memcpy(B->d.val, from->val,
                                  (size_t)block->nonzeros * sizeof *from->val,
                                  GPU_TO_DEVICE),
                       "copying to the device"));
    return tct_gpu_status(gpu_stream_sync(NULL), "copying to the device");
}
