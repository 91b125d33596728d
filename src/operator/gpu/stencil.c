/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/stencil.c - format stencil on a GPU: slices of which nothing is
 * stored, so that all kernels of slices take it (GPU_GRID of layout.h). */
#include "operator/gpu/slices.h"
#include "operator/stencil/grid_matrix.h"
#include <string.h>

static const tct_block_ops stencil_ops = {.name = "stencil",
                                          .destroy = tct_gpu_slices_destroy};

static const char *refusal(const tct_local *A)
{
    const char *s = A->store;
    if (!A->grid) return tct_no_grid(A);
    if (!s || strcmp(s, "auto") == 0 || strcmp(s, "f64") == 0) return NULL;
    return "it stores no values, and so has no store for them";
}

static double stencil_bytes(const tct_local *A, const char **reason)
{
    const char *why = refusal(A);
    if (why) *reason = why;
    return why ? -1.0 : 0.0;
}

static void fill(const tct_local *A, tct_gpu_slices *S)
{
    tct_block *base = &S->base.base;
    S->d = (tct_gpu_arrays){.rows = A->rows,
                            .cols = A->cols,
                            .b = 1,
                            .store = GPU_F64,
                            .walk = GPU_GRID,
                            .groups = A->rows,
                            .slices = (A->rows + GPU_LANES - 1) / GPU_LANES,
                            .grid = *A->grid};
    base->nonzeros = A->ptr ? A->ptr[A->rows] : tct_grid_entries(&S->d.grid);
    base->stored = base->nonzeros;
    base->takes_pass = tct_gpu_takes_pass(S);
    base->magnitude = true;
    tct_grid_describe(&S->d.grid, base->detail, sizeof base->detail);
}

static tacit_status stencil_create(tct_local *A, tct_team *team,
                                   tct_block **out)
{
    (void)team;
    const char *why = refusal(A);
    if (why)
        FAIL(TACIT_UNSUPPORTED, "format stencil: %s: try format sell", why);
    tct_gpu_slices *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for a stencil");
    S->base = (tct_gpu_block){.base = {.ops = &stencil_ops,
                                       .rows = A->rows,
                                       .cols = A->cols,
                                       .kernels = 1,
                                       .persistent = true},
                              .gpu = &tct_gpu_slices_ops};
    fill(A, S);
    *out = &S->base.base;
    return TACIT_OK;
}

static tacit_status stencil_refill(tct_block *block, const tct_local *A)
{
    tct_gpu_slices *S = (tct_gpu_slices *)(void *)block;
    TRY(tct_require_size(block, A));
    return tct_grid_refill(&S->d.grid, A);
}

static void stencil_diagonal(const tct_block *block, double *d)
{
    enum { CELL = 13 };
    const tct_gpu_slices *S = (const tct_gpu_slices *)(const void *)block;
    for (int64_t i = 0; i < block->rows; i++) d[i] = S->d.grid.k[CELL];
}

const tct_format tct_format_gpu_stencil = {
    .about = {"stencil", "cuda",
              "rows of a gallery grid by its stencil; nothing is stored",
              false},
    .kind = TCT_KIND_GPU,
    .bytes = stencil_bytes,
    .create = stencil_create,
    .refill = stencil_refill,
    .diagonal = stencil_diagonal,
};
