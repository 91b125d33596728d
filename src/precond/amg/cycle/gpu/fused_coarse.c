/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/gpu/fused_coarse.c - memory of the block of fused steps,
 * and the distribution of items to threads. */
#include "precond/amg/cycle/gpu/fused_coarse.h"
#include "device/gpu/persistent_grid.h"
#include "operator/gpu/csr.h"

/* A further block pays for this many warps. */
enum { FEW = 8 };

/* Lanes for a row: half its entries. */
static void set_lanes(tct_amg_step *s)
{
    s->shift = 1;
    while (2 << s->shift <= GPU_WAVE &&
           (int64_t)s->rows << (s->shift + 1) < s->entries)
        s->shift++;
    s->lanes = 1 << s->shift;
}

/* Warps with one item each. */
static int64_t warps_for(const tct_amg_step *s)
{
    const int items = s->restricts ? 1 : GPU_WAVE / s->lanes;
    return (s->items + items - 1) / items;
}

static int least_of(int64_t work, int each, int most)
{
    const int64_t parts = (work + each - 1) / each;
    return parts < 1 ? 1 : parts < most ? (int)parts : most;
}

/* Blocks for the largest step; in each step as few warps a block as
 * possible. */
static int divide(tct_amg_step *step, int count, int most)
{
    int64_t warps = 1;
    for (int i = 0; i < count; i++) {
        set_lanes(&step[i]);
        if (warps_for(&step[i]) > warps) warps = warps_for(&step[i]);
    }
    const int blocks = least_of(warps, FEW, most);
    for (int i = 0; i < count; i++)
        step[i].warps = least_of(warps_for(&step[i]), blocks, TCT_FUSED_WARPS);
    return blocks;
}

static tacit_status build(tct_gpu_fused *S, const tct_amg_steps *steps)
{
    const size_t count = (size_t)steps->count;
    const uint64_t zeros[2] = {0, 0};
    tct_amg_step *step = NULL;
    TRY(TCT_ALLOC(count, "steps of a cycle", &step));
    for (size_t i = 0; i < count; i++) step[i] = steps->step[i];
    S->count = steps->count;
    S->blocks = divide(step, S->count, tct_gpu_of(S->q)->sms);
    tacit_status status = tct_gpu_upload(step, count * sizeof *step, &S->step);
    tct_free(step);
    TRY(status);
    return tct_gpu_upload(zeros, sizeof zeros, &S->counter);
}

static void fused_destroy(tct_block *B)
{
    tct_gpu_fused *S = (tct_gpu_fused *)(void *)B;
    if (!S) return;
    tct_gpu_release(S->step);
    tct_gpu_release(S->counter);
    tct_free(S);
}

static const tct_gpu_block_ops gpu_ops = {.multiply = tct_gpu_fused_multiply};
static const tct_block_ops block_ops = {.name = "one kernel",
                                        .destroy = fused_destroy};

static tacit_status fused_create(tacit_queue *q, const tct_amg_steps *steps,
                                 tct_block **out)
{
    if (!tct_persistent_fits(q))
        FAIL(TACIT_UNSUPPORTED, "this GPU has no cooperative launch");
    tct_gpu_fused *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for the steps of a cycle");
    S->base = (tct_gpu_block){.base = steps->about, .gpu = &gpu_ops};
    S->base.base.ops = &block_ops;
    S->q = q;
    const tacit_status status = build(S, steps);
    if (status < 0) fused_destroy(&S->base.base);
    else *out = &S->base.base;
    return status;
}

static const double *fused_dense(const tct_block *B)
{
    const tct_gpu_csr *C = (const tct_gpu_csr *)(const void *)B;
    const bool is = C->base.gpu == &tct_gpu_csr_ops && !C->d.floats &&
                    B->nonzeros == B->rows * B->cols;
    return is ? C->d.val : NULL;
}

const tct_amg_fused_kernels *tct_amg_fused_on(const tacit_queue *q)
{
    static const tct_amg_fused_kernels gpu = {.dense = fused_dense,
                                              .create = fused_create};
    return q->device == &tct_device_cuda ? &gpu : NULL;
}
