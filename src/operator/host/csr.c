/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/csr.c - compressed sparse rows: for any matrix, and best for
 * few or very uneven rows. */
#include "operator/host/csr.h"
#include "operator/host/product.h"
#include "sparse/csr.h"
#include <string.h>

typedef struct {
    tct_block base;
    int64_t *ptr;   /* [rows + 1]    */
    int32_t *col;   /* [nonzeros]    */
    double *val;    /* [nonzeros]    */
    uint8_t *alike; /* of tct_csr_view */
    tct_csr lent;   /* rows whose arrays they are; without any: its own */
    tct_chunks chunks;
} csr_block;

static const csr_block *csr_of(const tct_block *B)
{
    return (const csr_block *)(const void *)B;
}

static void csr_multiply(const tct_block *block, const double *x, double *y,
                         double *dot)
{
    const csr_block *B = csr_of(block);
    const tct_rows_work work = {
        {B->ptr, B->col, B->val, B->alike}, tct_single(x), tct_single(y)};
    tct_product(block, &B->chunks, tct_work_rows, &work, x, y, dot);
}

static void csr_multiply_block(const tct_block *block, const tct_panel *X,
                               const tct_panel *Y)
{
    const csr_block *B = csr_of(block);
    const tct_rows_work work = {{B->ptr, B->col, B->val, B->alike}, *X, *Y};
    tct_product(block, &B->chunks, tct_work_rows, &work, NULL, NULL, NULL);
}

static void work_magnitude(const tct_kernels *kernels, const void *work,
                           int64_t from, int64_t to)
{
    const tct_rows_work *w = work;
    kernels->rows_magnitude(w->A, from, to, w->x.at, w->y.at);
}

static void csr_magnitude(const tct_block *block, const double *x, double *y)
{
    const csr_block *B = csr_of(block);
    const tct_rows_work work = {
        .A = {.ptr = B->ptr, .col = B->col, .val = B->val},
        .x = tct_single(x),
        .y = tct_single(y)};
    tct_product(block, &B->chunks, work_magnitude, &work, NULL, NULL, NULL);
}

static void csr_destroy(tct_block *block)
{
    csr_block *B = (csr_block *)(void *)block;
    if (!B) return;
    if (!B->lent.ptr) TCT_FREE(B->ptr, B->col, B->val);
    tct_csr_clear(&B->lent);
    tct_free(B->alike);
    tct_chunks_clear(&B->chunks);
    tct_free(B);
}

static const tct_block_ops csr_ops = {
    .name = "csr",
    .multiply = csr_multiply,
    .multiply_block = csr_multiply_block,
    .magnitude = csr_magnitude,
    .destroy = csr_destroy,
};

static double csr_bytes(const tct_local *A, const char **reason)
{
    (void)reason;
    return 12.0 * (double)A->ptr[A->rows] + 8.0 * (double)A->rows;
}

typedef struct {
    csr_block *B;
    const tct_local *A;
} copying;

/* Copy the entries of a part, on the thread that multiplies them. */
static void copy_part(void *work, int64_t part)
{
    const copying *c = work;
    const tct_chunks *chunks = &c->B->chunks;
    const int64_t rows = c->A->rows;
    const int64_t first = chunks->split[part] * CHUNK;
    const int64_t last = chunks->split[part + 1] * CHUNK;
    const int64_t from = c->A->ptr[first < rows ? first : rows];
    const int64_t to = c->A->ptr[last < rows ? last : rows];
    memcpy(c->B->col + from, c->A->col + from,
           (size_t)(to - from) * sizeof *c->B->col);
    memcpy(c->B->val + from, c->A->val + from,
           (size_t)(to - from) * sizeof *c->B->val);
}

static tacit_status copy(csr_block *B, const tct_local *A)
{
    const int64_t nonzeros = A->ptr[A->rows];
    TRY(TCT_ALLOC(A->rows + 1, "the matrix in rows", &B->ptr));
    TRY(TCT_ALLOC(nonzeros, "the matrix in rows", &B->col));
    TRY(TCT_ALLOC(nonzeros, "the matrix in rows", &B->val));
    memcpy(B->ptr, A->ptr, (size_t)(A->rows + 1) * sizeof *B->ptr);
    copying c = {B, A};
    tct_team_run(B->chunks.team, B->chunks.parts, B->chunks.parts, NULL,
                 copy_part, &c);
    return TACIT_OK;
}

static void take(csr_block *B, tct_local *A)
{
    B->ptr = A->ptr;
    B->col = A->col;
    B->val = A->val;
    A->ptr = NULL;
    A->col = NULL;
    A->val = NULL;
}

static tacit_status borrow(csr_block *B, const tct_local *A)
{
    TRY(tct_csr_share(A->lent, &B->lent));
    B->ptr = A->ptr;
    B->col = A->col;
    B->val = A->val;
    return TACIT_OK;
}

static tacit_status fill(csr_block *B, tct_local *A)
{
    if (A->lent) return borrow(B, A);
    if (!A->owned) return copy(B, A);
    take(B, A);
    return TACIT_OK;
}

/* --- rows with the same columns -------------------------------------------- */

static bool are_alike(const csr_block *B, int64_t i, int64_t j)
{
    const int64_t n = B->ptr[i + 1] - B->ptr[i];
    return B->ptr[j + 1] - B->ptr[j] == n &&
           memcmp(B->col + B->ptr[i], B->col + B->ptr[j],
                  (size_t)n * sizeof *B->col) == 0;
}

/* Groups of the rows of a chunk. */
static void find_alike(void *block, int64_t chunk)
{
    const csr_block *B = block;
    const int64_t first = chunk * CHUNK, end = first + CHUNK;
    const int64_t last = end < B->base.rows ? end : B->base.rows;
    for (int64_t i = first; i < last;) {
        int g = 1;
        while (g < TCT_SAME_ROWS_MOST && i + g < last && are_alike(B, i, i + g))
            g++;
        for (int k = 0; k < g; k++) B->alike[i + k] = (uint8_t)(g - k);
        i += g;
    }
}

/* Are most rows of a sample like the row before? */
static bool many_are_alike(const csr_block *B)
{
    enum { SAMPLE = 512 };
    const int64_t rows = B->base.rows, step = rows / SAMPLE + 1;
    int64_t looked = 0, like = 0;
    for (int64_t i = 1; i < rows; i += step, looked++)
        like += are_alike(B, i - 1, i);
    return 2 * like > looked;
}

/* Without memory they are multiplied one by one. */
static void group(csr_block *B)
{
    tct_chunks *c = &B->chunks;
    if (!many_are_alike(B)) return;
    B->alike = tct_alloc((size_t)B->base.rows);
    if (B->alike)
        tct_team_run(c->team, c->parts, c->count, c->split, find_alike, B);
}

static tacit_status csr_create(tct_local *A, tct_team *team, tct_block **out)
{
    csr_block *B = tct_calloc(sizeof *B);
    if (!B) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in rows");
    const int64_t nonzeros = A->ptr[A->rows];
    B->base = (tct_block){.ops = &csr_ops,
                          .rows = A->rows,
                          .cols = A->cols,
                          .nonzeros = nonzeros,
                          .stored = nonzeros,
                          .matrix_bytes = csr_bytes(A, NULL)};
    tacit_status status = tct_chunks_create(&B->chunks, A->rows, team, A->ptr);
    if (status >= 0) status = fill(B, A);
    if (status >= 0) group(B);
    if (status < 0) csr_destroy(&B->base);
    else *out = &B->base;
    return status;
}

static tacit_status csr_refill(tct_block *block, const tct_local *A)
{
    csr_block *B = (csr_block *)(void *)block;
    TRY(tct_require_size(&B->base, A));
    for (int64_t i = 0; i < A->rows; i++)
        TRY(tct_require_row(A, i, B->ptr, B->col));
    if (B->lent.ptr) { /* others read them */
        TRY(tct_csr_own(&B->lent));
        take(B, &(tct_local){.ptr = B->lent.ptr,
                             .col = B->lent.col32,
                             .val = B->lent.val});
    }
    memcpy(B->val, A->val, (size_t)B->ptr[A->rows] * sizeof *B->val);
    return TACIT_OK;
}

tct_local tct_csr_rows_of(const tct_block *block)
{
    const csr_block *B = csr_of(block);
    return (tct_local){.rows = block->rows,
                       .cols = block->cols,
                       .ptr = B->ptr,
                       .col = B->col,
                       .val = B->val,
                       .alike = B->alike};
}

static void csr_diagonal(const tct_block *block, double *d)
{
    const tct_local A = tct_csr_rows_of(block);
    tct_local_diagonal(&A, d);
}

const tct_format tct_format_csr = {
    .about = {"csr", "host", "compressed sparse rows, 32-bit columns", false},
    .kind = TCT_KIND_HOST,
    .bytes = csr_bytes,
    .create = csr_create,
    .refill = csr_refill,
    .diagonal = csr_diagonal,
};
