/* SPDX-License-Identifier: BSD-3-Clause
 * operator/gpu/slices.c - blocks in sliced ELL on a GPU: built on the host,
 * copied to the device, and copied again when values change. */
#include "operator/gpu/slices.h"
#include "operator/gpu/fill.h"
#include "operator/gpu/store.h"
#include <stdio.h>
#include <string.h>

/* --- arrays --------------------------------------------------------------- */

enum { ARRAYS = TCT_GPU_ARRAYS };

static int64_t long_entries(const tct_gpu_arrays *host)
{
    return host->long_rows > 0 ? host->long_ptr[host->long_rows] : 0;
}

static void release(tct_gpu_arrays *d)
{
    tct_gpu_array all[ARRAYS];
    tct_gpu_list(d, 0, all);
    for (int i = 0; i < ARRAYS; i++)
        tct_gpu_release((void *)(uintptr_t)all[i].p);
    tct_gpu_release(d->segment_sum);
    tct_gpu_release(d->long_own);
    *d = (tct_gpu_arrays){0};
}

/* The stream of kernels does not wait for copies: wait here. */
static tacit_status arrived(void)
{
    return tct_gpu_status(gpu_stream_sync(NULL), "copying to the device");
}

/* Scratch of the rows kept apart. */
static tacit_status take_scratch(tct_gpu_arrays *d)
{
    const size_t sums = GPU_PASS * (size_t)d->segments * sizeof(double);
    const size_t own = (size_t)d->long_rows * sizeof *d->long_own;
    d->segment_sum = NULL;
    d->long_own = NULL;
    if (sums > 0) TRY(tct_gpu_upload(NULL, sums, &d->segment_sum));
    return own > 0 ? tct_gpu_upload(NULL, own, &d->long_own) : TACIT_OK;
}

/* Copies of the arrays of `host` in new device memory. */
static tacit_status upload(const tct_gpu_arrays *host, tct_gpu_arrays *d)
{
    tct_gpu_array all[ARRAYS];
    tct_gpu_list(host, long_entries(host), all);
    *d = *host;
    d->segment_sum = NULL;
    d->long_own = NULL;
    for (int i = 0; i < ARRAYS; i++)
        memset((char *)d + all[i].member, 0, sizeof(void *));
    tacit_status status = TACIT_OK;
    for (int i = 0; i < ARRAYS && status >= 0; i++)
        if (all[i].p)
            status = tct_gpu_upload(all[i].p, all[i].bytes,
                                    (char *)d + all[i].member);
    if (status >= 0) status = take_scratch(d);
    if (status < 0) release(d);
    return status;
}

/* Does each array of `host` fit in the device's memory? Nothing is allocated
 * then. */
static bool fits(const tct_gpu_arrays *host, const tct_gpu_arrays *d)
{
    tct_gpu_array from[ARRAYS], to[ARRAYS];
    tct_gpu_list(host, long_entries(host), from);
    tct_gpu_list(d, long_entries(host), to);
    bool same = host->store == d->store;
    for (int i = 0; i < ARRAYS; i++)
        same = same && !from[i].p == !to[i].p && from[i].bytes == to[i].bytes;
    return same;
}

static tacit_status overwrite(const tct_gpu_arrays *host,
                              const tct_gpu_arrays *d)
{
    tct_gpu_array from[ARRAYS], to[ARRAYS];
    tct_gpu_list(host, long_entries(host), from);
    tct_gpu_list(d, long_entries(host), to);
    for (int i = 0; i < ARRAYS; i++)
        if (from[i].p && from[i].bytes > 0)
            TRY(tct_gpu_status(gpu_memcpy((void *)(uintptr_t)to[i].p, from[i].p,
                                          from[i].bytes, GPU_TO_DEVICE),
                               "copying to the device"));
    return arrived();
}

/* --- blocks --------------------------------------------------------------- */

static void take_about(const tct_gpu_about *about, tct_gpu_slices *S)
{
    tct_block *base = &S->base.base;
    base->stored = about->stored;
    base->matrix_bytes = about->matrix_bytes;
    base->kernels = about->kernels;
    base->persistent = about->persistent;
    base->packed = about->packed;
    base->takes_pass = tct_gpu_takes_pass(S);
    memcpy(base->detail, about->detail, sizeof base->detail);
    S->lossy = about->lossy;
    base->magnitude = !about->lossy;
}

static tacit_status require(const tct_gpu_about *about, const char *format)
{
    char what[64];
    snprintf(what, sizeof what, "the matrix in format %s", format);
    return tct_gpu_require(about->bytes, what);
}

/* Of rows on the device. */
static tacit_status build_there(const tct_store_rows *R, int b,
                                tct_gpu_slices *S)
{
    const double start = tct_seconds();
    tct_gpu_about about;
    TRY(tct_store_build(R, b, S->kinds, S->store, &S->d, &about, &S->pattern));
    TRY(take_scratch(&S->d));
    take_about(&about, S);
    tct_log(TCT_DETAIL, "format %s/%s stored on the device in %.2f ms",
            S->base.base.ops->name, S->store, 1e3 * (tct_seconds() - start));
    return TACIT_OK;
}

/* Can the device store the rows of `A`? */
static bool is_there(const tct_local *A, const tct_gpu_slices *S)
{
    return A->device && A->device->ptr && tct_store_takes(S->store);
}

/* There is no memory for it beside the rows: these are given back, and the host
 * builds it. */
static void leave_device(const tct_local *A)
{
    tct_log(TCT_DETAIL, "the host stores the matrix: %s",
            tacit_error_message());
    tct_gpu_rows_drop(A->device);
}

static tacit_status create(const tct_local *A, int b, tct_gpu_slices *S)
{
    tct_gpu_arrays host;
    tct_gpu_about about;
    if (is_there(A, S)) {
        const tacit_status there = build_there(A->device, b, S);
        if (there != TACIT_NO_MEMORY) return there;
        release(&S->d);
        leave_device(A);
    }
    TRY(tct_gpu_slices_build(A, b, S->kinds, S->store, &host, &about));
    tacit_status status = require(&about, S->base.base.ops->name);
    if (status >= 0) status = upload(&host, &S->d);
    tct_gpu_slices_build_free(&host);
    take_about(&about, S);
    S->pattern = tct_gpu_pattern(A);
    return status;
}

static tacit_status open_slices(int64_t rows, int64_t cols, int64_t entries,
                                tct_gpu_kinds kinds, const char *store,
                                const tct_block_ops *ops, tct_gpu_slices **out)
{
    tct_gpu_slices *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in slices");
    S->base = (tct_gpu_block){
        .base = {.ops = ops, .rows = rows, .cols = cols, .nonzeros = entries},
        .gpu = &tct_gpu_slices_ops};
    S->kinds = kinds;
    snprintf(S->store, sizeof S->store, "%s", store ? store : "auto");
    *out = S;
    return TACIT_OK;
}

tacit_status tct_gpu_slices_create(const tct_local *A, int b,
                                   tct_gpu_kinds kinds, const char *store,
                                   const tct_block_ops *ops, tct_block **out)
{
    tct_gpu_slices *S = NULL;
    TRY(open_slices(A->rows, A->cols, A->ptr[A->rows], kinds, store, ops, &S));
    const tacit_status status = create(A, b, S);
    if (status < 0) tct_gpu_slices_destroy(&S->base.base);
    else *out = &S->base.base;
    return status;
}

tacit_status tct_gpu_slices_of_rows(const tct_store_rows *R, int b,
                                    tct_gpu_kinds kinds, const char *store,
                                    const tct_block_ops *ops, tct_block **out)
{
    tct_gpu_slices *S = NULL;
    TRY(open_slices(R->rows, R->cols, R->entries, kinds, store, ops, &S));
    const tacit_status status = build_there(R, b, S);
    if (status < 0) tct_gpu_slices_destroy(&S->base.base);
    else *out = &S->base.base;
    return status;
}

void tct_gpu_slices_destroy(tct_block *block)
{
    tct_gpu_slices *S = (tct_gpu_slices *)(void *)block;
    if (!S) return;
    release(&S->d);
    tct_free(S);
}

/* --- refill --------------------------------------------------------------- */

/* The arrays of the pattern: not values, nor the segments of rows kept
 * apart. */
static const size_t pattern_members[] = {
    offsetof(tct_gpu_arrays, slice),    offsetof(tct_gpu_arrays, index),
    offsetof(tct_gpu_arrays, order),    offsetof(tct_gpu_arrays, length),
    offsetof(tct_gpu_arrays, long_row), offsetof(tct_gpu_arrays, long_ptr),
    offsetof(tct_gpu_arrays, long_col)};
enum { PATTERN_MEMBERS = sizeof pattern_members / sizeof *pattern_members };

static bool says_pattern(size_t member)
{
    for (int k = 0; k < PATTERN_MEMBERS; k++)
        if (pattern_members[k] == member) return true;
    return false;
}

static void free_pattern(tct_gpu_arrays *host)
{
    tct_gpu_array all[ARRAYS];
    tct_gpu_list(host, 0, all);
    for (int i = 0; i < ARRAYS; i++)
        if (says_pattern(all[i].member)) tct_free((void *)(uintptr_t)all[i].p);
}

/* Copy the missing arrays of the pattern to the host; `entries` are those of
 * rows kept apart. */
static tacit_status get_pattern(const tct_gpu_arrays *d, int64_t entries,
                                tct_gpu_arrays *host)
{
    tct_gpu_array from[ARRAYS], to[ARRAYS];
    tct_gpu_list(d, entries, from);
    tct_gpu_list(host, entries, to);
    for (int i = 0; i < ARRAYS; i++) {
        if (!says_pattern(from[i].member) || !from[i].p || to[i].p ||
            from[i].bytes == 0)
            continue;
        char *copy = NULL;
        TRY(TCT_ALLOC(from[i].bytes, "the pattern of the matrix", &copy));
        memcpy((char *)host + from[i].member, &copy, sizeof copy);
        TRY(tct_gpu_status(
            gpu_memcpy(copy, from[i].p, from[i].bytes, GPU_TO_HOST),
            "copying from the device"));
    }
    return TACIT_OK;
}

/* The hash of `A` differs: find the first difference. */
static tacit_status find_difference(const tct_gpu_slices *S, const tct_local *A)
{
    tct_gpu_arrays host = S->d;
    tct_gpu_array all[ARRAYS];
    tct_difference found = {.row = -1};
    tct_gpu_list(&S->d, 0, all);
    for (int i = 0; i < ARRAYS; i++)
        memset((char *)&host + all[i].member, 0, sizeof(void *));
    tacit_status status = get_pattern(&S->d, 0, &host);
    if (status >= 0 && host.long_rows > 0)
        status = get_pattern(&S->d, long_entries(&host), &host);
    if (status >= 0) status = tct_gpu_slices_compare(&host, A, &found);
    free_pattern(&host);
    TRY(status);
    if (found.row >= 0) return tct_pattern_differs(A, found);
    FAIL(TACIT_INVALID,
         "the pattern of the matrix has changed inside its dense blocks; "
         "create a new operator");
}

/* Build again with the store asked for or, if it cannot hold the values, the
 * smallest that can; a reduced store stays. */
static tacit_status rebuild(const tct_gpu_slices *S, const tct_local *A,
                            tct_gpu_arrays *host, tct_gpu_about *about)
{
    tacit_status status =
        tct_gpu_slices_build(A, S->d.b, S->kinds, S->store, host, about);
    if (status == TACIT_UNSUPPORTED && !S->lossy)
        status = tct_gpu_slices_build(A, S->d.b, S->kinds, "auto", host, about);
    return status;
}

/* The same on the device, in new memory beside that of the old values. */
static tacit_status refill_there(tct_gpu_slices *S, const tct_local *A)
{
    tct_gpu_arrays fresh;
    tct_gpu_about about;
    uint64_t pattern = 0;
    tacit_status status = tct_store_build(A->device, S->d.b, S->kinds, S->store,
                                          &fresh, &about, &pattern);
    if (status == TACIT_UNSUPPORTED)
        status = tct_store_build(A->device, S->d.b, S->kinds, "auto", &fresh,
                                 &about, &pattern);
    TRY(status);
    if (pattern != S->pattern) {
        release(&fresh);
        return find_difference(S, A);
    }
    status = take_scratch(&fresh);
    if (status < 0) {
        release(&fresh);
        return status;
    }
    release(&S->d);
    S->d = fresh;
    take_about(&about, S);
    return TACIT_OK;
}

tacit_status tct_gpu_slices_refill(tct_block *block, const tct_local *A)
{
    tct_gpu_slices *S = (tct_gpu_slices *)(void *)block;
    tct_gpu_arrays host, fresh;
    tct_gpu_about about;
    TRY(tct_require_size(block, A));
    if (is_there(A, S)) {
        const tacit_status there = refill_there(S, A);
        if (there != TACIT_NO_MEMORY) return there;
        leave_device(A);
    }
    if (A->ptr[A->rows] != block->nonzeros || tct_gpu_pattern(A) != S->pattern)
        return find_difference(S, A);
    TRY(rebuild(S, A, &host, &about));
    tacit_status status;
    if (fits(&host, &S->d)) {
        status = overwrite(&host, &S->d);
    } else {
        status = require(&about, block->ops->name);
        if (status >= 0) status = upload(&host, &fresh);
        if (status >= 0) {
            release(&S->d);
            S->d = fresh;
        }
    }
    tct_gpu_slices_build_free(&host);
    if (status >= 0) take_about(&about, S);
    return status;
}

/* --- floats --------------------------------------------------------------- */

/* Copy the arrays of `from`, but only allocate the values. */
static tacit_status copy_but_values(const tct_gpu_arrays *from,
                                    tct_gpu_arrays *d)
{
    tct_gpu_array to[ARRAYS], all[ARRAYS];
    *d = *from;
    d->store = GPU_F32;
    tct_gpu_list(from, 0, all);
    tct_gpu_list(d, 0, to);
    for (int i = 0; i < ARRAYS; i++)
        memset((char *)d + all[i].member, 0, sizeof(void *));
    tacit_status status = TACIT_OK;
    for (int i = 0; i < ARRAYS && status >= 0; i++) {
        void *copy = NULL;
        if (!all[i].p) continue;
        status = tct_gpu_upload(NULL, to[i].bytes, &copy);
        memcpy((char *)d + all[i].member, &copy, sizeof copy);
        if (status >= 0 && all[i].member != offsetof(tct_gpu_arrays, value))
            status = tct_gpu_status(
                gpu_memcpy(copy, all[i].p, all[i].bytes, GPU_ON_DEVICE),
                "copying on the device");
    }
    if (status >= 0) status = arrived();
    if (status < 0) release(d);
    return status;
}

tacit_status tct_gpu_slices_rounded(const tct_block *block, tacit_queue *q,
                                    tct_block **out)
{
    const tct_gpu_slices *of = (const tct_gpu_slices *)(const void *)block;
    const tct_gpu_arrays *from = &of->d;
    if (from->store != GPU_F64 || from->long_rows > 0)
        FAIL(TACIT_UNSUPPORTED, "values that are no doubles");
    tct_gpu_slices *S = tct_calloc(sizeof *S);
    if (!S) FAIL(TACIT_NO_MEMORY, "no memory for the matrix in slices");
    *S = *of;
    S->lossy = true;
    tacit_status status = copy_but_values(from, &S->d);
    if (status >= 0) {
        tct_gpu_round_slices(q, from, &S->d);
        status = q_own_status(q);
    }
    const int64_t values = from->cells * from->b * from->b * GPU_LANES;
    tct_block *base = &S->base.base;
    base->matrix_bytes -= 4.0 * (double)values;
    base->takes_pass = tct_gpu_takes_pass(S);
    snprintf(base->detail, sizeof base->detail, "values rounded to floats");
    if (status < 0) tct_gpu_slices_destroy(base);
    else *out = base;
    return status;
}
