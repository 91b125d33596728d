/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/csr.c - format csr on a GPU: cuts the merge path into tiles,
 * finds the rows that cross them, copies all to the device. */
#include "operator/gpu/csr.h"
#include "device/parallel.h"
#include "operator/layout/store_device.h"
#include <stdio.h>
#include <string.h>

enum {
    TILE = GPU_CSR_TILE,
    TILES = 256 /* that are worth a thread */
};

/* --- values --------------------------------------------------------------- */

/* Bytes of a value, 0 if the store is not one of csr. */
static int value_bytes(const char *store)
{
    if (!store || strcmp(store, "auto") == 0 || strcmp(store, "f64") == 0)
        return (int)sizeof(double);
    return strcmp(store, "low32") == 0 ? (int)sizeof(float) : 0;
}

/* Rounded in pieces, to save host memory. */
static tacit_status put_floats(float *to, const double *val, int64_t n)
{
    enum { PIECE = 1 << 20 };
    float *piece = NULL;
    TRY(TCT_ALLOC(n < PIECE ? n : PIECE, "values as floats", &piece));
    gpu_error error = GPU_OK;
    for (int64_t k = 0; k < n && error == GPU_OK; k += PIECE) {
        const int64_t count = n - k < PIECE ? n - k : PIECE;
        for (int64_t j = 0; j < count; j++) piece[j] = (float)val[k + j];
        error = gpu_memcpy(to + k, piece, (size_t)count * sizeof *piece,
                           GPU_TO_DEVICE);
    }
    tct_free(piece);
    return tct_gpu_status(error, "copying values to the device");
}

/* Returns after the copy: the stream of kernels does not wait for it. */
static tacit_status put_values(const tct_gpu_csr *B, const double *val)
{
    const int64_t n = B->d.nonzeros;
    if (n == 0) return TACIT_OK;
    if (B->d.floats) TRY(put_floats(B->d.val, val, n));
    else
        TRY(tct_gpu_status(
            gpu_memcpy(B->d.val, val, (size_t)n * sizeof *val, GPU_TO_DEVICE),
            "copying values to the device"));
    return tct_gpu_status(gpu_stream_sync(NULL), "copying to the device");
}

/* --- tiles ---------------------------------------------------------------- */

static int64_t count_tiles(const tct_local *A)
{
    return (A->rows + A->ptr[A->rows] + TILE - 1) / TILE;
}

/* The number of row ends in the first `step` steps of the path. */
static int32_t rows_before(const tct_local *A, int64_t step)
{
    const int64_t nonzeros = A->ptr[A->rows];
    int64_t low = step > nonzeros ? step - nonzeros : 0;
    int64_t high = step < A->rows ? step : A->rows;
    while (low < high) {
        const int64_t mid = (low + high) / 2;
        if (A->ptr[mid + 1] < step - mid) low = mid + 1;
        else high = mid;
    }
    return (int32_t)low;
}

typedef struct { /* host copies of the device's arrays */
    int32_t *start;
    uint16_t *end;
    tct_gpu_csr_carry *row;
} tiling;

static void clear(tiling *T)
{
    TCT_FREE(T->start, T->end, T->row);
}

typedef struct {
    const tct_local *A;
    const tiling *T;
    int64_t tiles;
} cutting;

static void find_starts(void *work, int64_t from, int64_t to)
{
    const cutting *c = work;
    const int64_t steps = c->A->rows + c->A->ptr[c->A->rows];
    for (int64_t t = from; t < to; t++)
        c->T->start[t] = rows_before(c->A, t < c->tiles ? t * TILE : steps);
}

static void find_ends(void *work, int64_t from, int64_t to)
{
    const cutting *c = work;
    const tiling *T = c->T;
    for (int64_t t = from; t < to; t++)
        for (int32_t i = T->start[t]; i < T->start[t + 1]; i++)
            T->end[i] = (uint16_t)(c->A->ptr[i + 1] - (t * TILE - T->start[t]));
}

static void cut(const tct_local *A, int64_t tiles, const tiling *T)
{
    cutting c = {A, T, tiles};
    tct_parallel(tiles + 1, TILES, find_starts, &c);
    tct_parallel(tiles, TILES, find_ends, &c);
}

/* Does the row in which tile `t` starts have entries in the tile before? */
static bool carried(const tct_local *A, const int32_t *start, int64_t t)
{
    const int32_t row = start[t];
    return row < A->rows && t * TILE - row > A->ptr[row];
}

/* The rows that cross tiles, short ones first. */
static tacit_status find_carries(const tct_local *A, tct_gpu_csr_arrays *d,
                                 tiling *T)
{
    TRY(TCT_ALLOC(d->tiles, "the tiles of the matrix", &T->row));
    for (int is_long = 0; is_long < 2; is_long++) {
        for (int32_t t = 0, next; t < d->tiles; t = next) {
            const int32_t row = T->start[t + 1];
            next = t + 1;
            if (!carried(A, T->start, next)) continue;
            while (T->start[next + 1] == row && carried(A, T->start, next + 1))
                next++;
            if ((next - t > GPU_CSR_SHORT) != is_long) continue;
            T->row[d->carries++] = (tct_gpu_csr_carry){row, t, next - t};
        }
        if (!is_long) d->shorts = d->carries;
    }
    return TACIT_OK;
}

/* --- create --------------------------------------------------------------- */

static double csr_bytes(const tct_local *A, const char **reason)
{
    const int value = value_bytes(A->store);
    if (value == 0) {
        *reason = "values are kept as f64 or low32 only";
        return -1.0;
    }
    if (A->rows >= INT32_MAX || count_tiles(A) >= INT32_MAX) {
        *reason = "more rows than 32 bits number";
        return -1.0;
    }
    return (4.0 + value) * (double)A->ptr[A->rows] + 2.0 * (double)A->rows +
           4.0 * (double)count_tiles(A);
}

static void csr_destroy(tct_block *block)
{
    tct_gpu_csr *B = (tct_gpu_csr *)(void *)block;
    if (!B) return;
    tct_gpu_release((void *)(uintptr_t)B->d.start);
    tct_gpu_release((void *)(uintptr_t)B->d.end);
    tct_gpu_release((void *)(uintptr_t)B->d.col);
    tct_gpu_release((void *)(uintptr_t)B->d.row);
    tct_gpu_release(B->d.val);
    tct_gpu_release(B->d.carry);
    tct_gpu_release(B->d.dot);
    tct_free(B);
}

static const tct_block_ops csr_ops = {.name = "csr", .destroy = csr_destroy};

/* Rows that are on the device already. */
static tacit_status take_over(void *to, const void *from, size_t bytes)
{
    TRY(tct_gpu_status(gpu_memcpy(to, from, bytes, GPU_ON_DEVICE),
                       "copying on the device"));
    return tct_gpu_status(gpu_stream_sync(NULL), "copying on the device");
}

static tacit_status upload(const tct_local *A, const tiling *T, tct_gpu_csr *B)
{
    tct_gpu_csr_arrays *d = &B->d;
    const size_t tiles = (size_t)d->tiles, n = (size_t)d->nonzeros;
    const size_t value = d->floats ? sizeof(float) : sizeof(double);
    TRY(tct_gpu_upload(T->start, (tiles + 1) * sizeof *d->start, &d->start));
    TRY(tct_gpu_upload(T->end, (size_t)d->rows * sizeof *d->end, &d->end));
    TRY(tct_gpu_upload(T->row, (size_t)d->carries * sizeof *d->row, &d->row));
    TRY(tct_gpu_upload(NULL, tiles * sizeof *d->carry, &d->carry));
    TRY(tct_gpu_upload(NULL, tiles * sizeof *d->dot, &d->dot));
    const tct_store_rows *R = A->device;
    const bool there = R && R->ptr && !d->floats && n > 0;
    TRY(tct_gpu_upload(there ? NULL : A->col, n * sizeof *d->col, &d->col));
    TRY(tct_gpu_upload(NULL, n * value, &d->val));
    if (!there) return put_values(B, A->val);
    void *col = (void *)(uintptr_t)d->col;
    TRY(take_over(col, R->col, n * sizeof *d->col));
    return take_over(d->val, R->val, n * value);
}

static tacit_status build(const tct_local *A, tiling *T, tct_gpu_csr *B)
{
    tct_gpu_csr_arrays *d = &B->d;
    TRY(tct_gpu_require(B->base.base.matrix_bytes + 28.0 * d->tiles,
                        "the matrix in format csr"));
    TRY(TCT_ALLOC(d->tiles + 1, "the tiles of the matrix", &T->start));
    TRY(TCT_ALLOC(A->rows, "the tiles of the matrix", &T->end));
    cut(A, d->tiles, T);
    TRY(find_carries(A, d, T));
    return upload(A, T, B);
}

static int64_t hash_rows(const void *work, int64_t from, int64_t to)
{
    const tct_local *A = work;
    uint64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        sum += tct_mix(tct_mix((uint64_t)i) + (uint64_t)A->ptr[i + 1]);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            sum += tct_mix(((uint64_t)k << 31) ^ (uint64_t)A->col[k]);
    }
    return (int64_t)sum;
}

/* The sum of hashes of each row's end and each entry's place and column. */
static uint64_t hash_pattern(const tct_local *A)
{
    return (uint64_t)tct_parallel_sum(A->rows, TCT_SHORT, hash_rows, A);
}

static tacit_status csr_create(tct_local *A, tct_team *team, tct_block **out)
{
    (void)team;
    const char *reason = NULL;
    const bool floats = value_bytes(A->store) == (int)sizeof(float);
    const double bytes = csr_bytes(A, &reason);
    if (bytes < 0.0)
        FAIL(TACIT_UNSUPPORTED, "format csr on a GPU: %s: try format sell",
             reason);
    tct_gpu_csr *B = tct_calloc(sizeof *B);
    if (!B) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in rows");
    const int64_t nonzeros = A->ptr[A->rows];
    B->base = (tct_gpu_block){.base = {.ops = &csr_ops,
                                       .rows = A->rows,
                                       .kernels = 1,
                                       .cols = A->cols,
                                       .nonzeros = nonzeros,
                                       .stored = nonzeros,
                                       .magnitude = !floats,
                                       .matrix_bytes = bytes},
                              .gpu = &tct_gpu_csr_ops};
    B->d = (tct_gpu_csr_arrays){.rows = A->rows,
                                .nonzeros = nonzeros,
                                .tiles = (int32_t)count_tiles(A),
                                .floats = floats};
    B->pattern = hash_pattern(A);
    snprintf(B->base.base.detail, sizeof B->base.base.detail,
             "merge path, tiles of %d%s", TILE,
             floats ? ", values rounded to floats" : "");
    tiling T = {0};
    const tacit_status status = build(A, &T, B);
    clear(&T);
    if (status < 0) csr_destroy(&B->base.base);
    else *out = &B->base.base;
    return status;
}

/* --- refill --------------------------------------------------------------- */

typedef struct { /* the block's pattern, copied back to the host */
    int64_t *ptr;
    int32_t *col, *start;
    uint16_t *end;
} pattern;

static tacit_status get(void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return TACIT_OK;
    return tct_gpu_status(gpu_memcpy(to, from, bytes, GPU_TO_HOST),
                          "copying from the device");
}

static tacit_status get_pattern(const tct_gpu_csr_arrays *d, pattern *P)
{
    const size_t tiles = (size_t)d->tiles, n = (size_t)d->nonzeros;
    TRY(TCT_ALLOC(d->rows + 1, "the pattern of the matrix", &P->ptr));
    TRY(TCT_ALLOC(d->nonzeros, "the pattern of the matrix", &P->col));
    TRY(TCT_ALLOC(d->rows, "the pattern of the matrix", &P->end));
    TRY(TCT_ALLOC(d->tiles + 1, "the pattern of the matrix", &P->start));
    TRY(get(P->col, d->col, n * sizeof *P->col));
    TRY(get(P->end, d->end, (size_t)d->rows * sizeof *P->end));
    TRY(get(P->start, d->start, (tiles + 1) * sizeof *P->start));
    P->ptr[0] = 0;
    for (int64_t t = 0; t < d->tiles; t++)
        for (int32_t i = P->start[t]; i < P->start[t + 1]; i++)
            P->ptr[i + 1] = t * TILE - P->start[t] + P->end[i];
    return TACIT_OK;
}

/* The hash of `A` differs: find the first difference. */
static tacit_status find_difference(const tct_gpu_csr *B, const tct_local *A)
{
    pattern P = {0};
    tacit_status status = get_pattern(&B->d, &P);
    for (int64_t i = 0; i < A->rows && status >= 0; i++)
        status = tct_require_row(A, i, P.ptr, P.col);
    TCT_FREE(P.ptr, P.col, P.start, P.end);
    return status;
}

static tacit_status csr_refill(tct_block *block, const tct_local *A)
{
    const tct_gpu_csr *B = (const tct_gpu_csr *)(void *)block;
    TRY(tct_require_size(block, A));
    if (hash_pattern(A) != B->pattern) TRY(find_difference(B, A));
    return put_values(B, A->val);
}

const tct_format tct_format_gpu_csr = {
    .about = {"csr", "cuda",
              "compressed sparse rows, cut into tiles along the merge path",
              false},
    .kind = TCT_KIND_GPU,
    .bytes = csr_bytes,
    .create = csr_create,
    .refill = csr_refill,
};
