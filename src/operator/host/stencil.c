/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/stencil.c - format stencil: rows of a grid with one stencil of
 * constant coefficients. Nothing is stored but these. */
#include "device/isa.h"
#include "operator/host/grid_kernels.h"
#include "operator/host/product.h"
#include "operator/stencil/grid_matrix.h"
#include <math.h>

typedef struct {
    tct_block base;
    tct_grid_rows grid;
    const int64_t *sample; /* as in tct_local, borrowed */
    int64_t piece;
    tct_chunks chunks;
} stencil_block;

static const stencil_block *stencil_of(const tct_block *B)
{
    return (const stencil_block *)(const void *)B;
}

static tct_grid_kernel *kernel_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return tct_grid_product_avx512;
    if (isa == TCT_ISA_AVX2) return tct_grid_product_avx2;
#endif
    return tct_grid_product_base;
}

/* --- products ------------------------------------------------------------- */

/* Rows [from, to) of a sample, which are somewhere in the grid. */
static void multiply_sample(const stencil_block *B, int64_t from, int64_t to,
                            const double *x, double *y)
{
    tct_grid_kernel *const product = kernel_best();
    for (int64_t i = from, end; i < to; i = end) {
        const int64_t n = i / B->piece, apart = B->sample[n] - n * B->piece;
        end = (n + 1) * B->piece < to ? (n + 1) * B->piece : to;
        double *const row_0 =
            (double *)((uintptr_t)y - (uintptr_t)apart * sizeof *y);
        product(&B->grid, i + apart, end + apart, x, row_0);
    }
}

static void multiply_columns(const tct_kernels *kernels, const tct_block *block,
                             int64_t from, int64_t to, const tct_panel *x,
                             const tct_panel *y)
{
    tct_grid_kernel *const product = kernel_best();
    const stencil_block *B = stencil_of(block);
    (void)kernels;
    for (int j = 0; j < x->columns; j++)
        if (B->sample)
            multiply_sample(B, from, to, tct_column(x, j), tct_column(y, j));
        else product(&B->grid, from, to, tct_column(x, j), tct_column(y, j));
}

typedef struct {
    const tct_block *block;
    tct_panel x, y;
} stencil_work;

static void work_stencil(const tct_kernels *kernels, const void *work,
                         int64_t from, int64_t to)
{
    const stencil_work *w = work;
    multiply_columns(kernels, w->block, from, to, &w->x, &w->y);
}

static void stencil_multiply(const tct_block *block, const double *x, double *y,
                             double *dot)
{
    const stencil_work work = {block, tct_single(x), tct_single(y)};
    tct_product(block, &stencil_of(block)->chunks, work_stencil, &work, x, y,
                dot);
}

static void stencil_multiply_block(const tct_block *block, const tct_panel *X,
                                   const tct_panel *Y)
{
    const stencil_work work = {block, *X, *Y};
    tct_product(block, &stencil_of(block)->chunks, work_stencil, &work, NULL,
                NULL, NULL);
}

static void stencil_multiply_pass(const tct_block *block, const tct_op *op,
                                  void (*range)(const tct_op *op, size_t from,
                                                size_t to, double *sums))
{
    tct_product_pass(block, &stencil_of(block)->chunks, multiply_columns, op,
                     range);
}

static void stencil_magnitude(const tct_block *block, const double *x,
                              double *y)
{
    stencil_block B = *stencil_of(block);
    for (int p = 0; p < TCT_GRID_POINTS; p++) B.grid.k[p] = fabs(B.grid.k[p]);
    stencil_multiply(&B.base, x, y, NULL);
}

static void stencil_destroy(tct_block *block)
{
    stencil_block *B = (stencil_block *)(void *)block;
    if (!B) return;
    tct_chunks_clear(&B->chunks);
    tct_free(B);
}

static const tct_block_ops stencil_ops = {
    .name = "stencil",
    .multiply = stencil_multiply,
    .multiply_block = stencil_multiply_block,
    .multiply_pass = stencil_multiply_pass,
    .magnitude = stencil_magnitude,
    .destroy = stencil_destroy,
};

/* --- create --------------------------------------------------------------- */

static double stencil_bytes(const tct_local *A, const char **reason)
{
    if (!A->grid) *reason = tct_no_grid(A);
    return A->grid ? 0.0 : -1.0;
}

static tacit_status stencil_create(tct_local *A, tct_team *team,
                                   tct_block **out)
{
    if (!A->grid)
        FAIL(TACIT_UNSUPPORTED, "format stencil: %s: try format sell",
             tct_no_grid(A));
    stencil_block *B = tct_calloc(sizeof *B);
    if (!B) FAIL(TACIT_NO_MEMORY, "no memory for a stencil");
    B->grid = *A->grid;
    B->sample = A->sample;
    B->piece = A->piece;
    const int64_t nonzeros =
        A->ptr ? A->ptr[A->rows] : tct_grid_entries(&B->grid);
    B->base = (tct_block){.ops = &stencil_ops,
                          .rows = A->rows,
                          .cols = A->cols,
                          .nonzeros = nonzeros,
                          .stored = nonzeros,
                          .takes_pass = true};
    tct_grid_describe(&B->grid, B->base.detail, sizeof B->base.detail);
    const tacit_status status =
        tct_chunks_create(&B->chunks, A->rows, team, NULL);
    if (status < 0) stencil_destroy(&B->base);
    else *out = &B->base;
    return status;
}

static tacit_status stencil_refill(tct_block *block, const tct_local *A)
{
    stencil_block *B = (stencil_block *)(void *)block;
    TRY(tct_require_size(block, A));
    return tct_grid_refill(&B->grid, A);
}

static void stencil_diagonal(const tct_block *block, double *d)
{
    enum { CELL = 13 };
    const double centre = stencil_of(block)->grid.k[CELL];
    for (int64_t i = 0; i < block->rows; i++) d[i] = centre;
}

const tct_format tct_format_stencil = {
    .about = {"stencil", "host",
              "rows of a gallery grid by its stencil; nothing is stored",
              false},
    .kind = TCT_KIND_HOST,
    .bytes = stencil_bytes,
    .create = stencil_create,
    .refill = stencil_refill,
    .diagonal = stencil_diagonal,
};
