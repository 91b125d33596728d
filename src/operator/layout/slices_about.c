/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_about.c - describes a matrix in slices: bytes, kernels,
 * a sentence. */
#include "operator/layout/slices_build.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Append to `text` [size]; text that does not fit is cut off. */
static void say(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t size, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list list;
    va_start(list, format);
    if (at < size) vsnprintf(text + at, size - at, format, list);
    va_end(list);
}

/* Describe it in a sentence. */
static void describe(tct_gpu_about *about)
{
    static const char *const kinds[] = {
        [SLICE_RUN] = "runs",
        [SLICE_CONST] = "constant runs",
        [SLICE_NEAR] = "16-bit offsets",
        [SLICE_FAR] = "32-bit columns",
    };
    static const char *const stores[] = {
        [GPU_F64] = "doubles",
        [GPU_F32] = "exact floats",
        [GPU_DICT8] = "8-bit dictionary",
        [GPU_DICT16] = "16-bit dictionary",
        [GPU_F48] = "values rounded to 48 bits",
    };
    const tct_slice_census *c = &about->slices;
    const bool cells = c->all > c->columns[SLICE_CONST];
    const char *comma = "";
    char *t = about->detail;
    const size_t size = sizeof about->detail;
    *t = '\0';
    if (about->b == 1) say(t, size, "32-row slices:");
    else say(t, size, "slices of 32 %dx%d blocks:", about->b, about->b);
    for (int k = 0; k < TCT_SLICE_KINDS; k++) {
        if (c->columns[k] == 0.0) continue;
        say(t, size, "%s %.3g %% %s", comma, 100.0 * c->columns[k] / c->all,
            kinds[k]);
        comma = ",";
    }
    if (c->all == 0.0) say(t, size, " without entries");
    if (c->sorted > 0.0) say(t, size, ", %.3g %% sorted", c->sorted);
    if (about->stored > 0) say(t, size, ", %.2g %% padding", about->padding);
    if (cells)
        say(t, size, ", %s",
            about->lossy && about->store == GPU_F32 ? "values rounded to floats"
                                                    : stores[about->store]);
    if (cells && about->different > 0)
        say(t, size, " of %lld values", (long long)about->different);
    if (about->long_rows > 0)
        say(t, size, ", %lld long rows", (long long)about->long_rows);
}

/* Entries of the longest row kept apart. */
static int64_t longest(const tct_gpu_arrays *a)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->long_rows; i++) {
        const int64_t n = a->long_ptr[i + 1] - a->long_ptr[i];
        most = n > most ? n : most;
    }
    return most;
}

/* Has cg a kernel for this store and block size? See
 * solver/resident/kernel_table.h. */
static bool has_kernel(const tct_gpu_maker *M)
{
    const int b = M->slicing.b;
    return M->store == GPU_F64 || b == 1 || (b == 3 && M->store != GPU_DICT16);
}

void tct_gpu_tell(const tct_gpu_maker *M, const tct_gpu_plan *P,
                  const tct_gpu_arrays *a, tct_gpu_about *about)
{
    const int64_t entries = P->long_entries[P->count];
    const int64_t values = a->cells * a->b * a->b * GPU_LANES;
    const double long_bytes = 12.0 * (double)entries +
                              20.0 * (double)a->long_rows +
                              12.0 * (double)a->segments;
    const double dict = 8.0 * (double)a->dict_count;
    const double nonzeros = (double)P->entries;
    *about = (tct_gpu_about){
        .stored = values + P->const_entries + entries,
        .matrix_bytes = tct_gpu_plan_bytes(M, P) + long_bytes + dict,
        .lossy = M->wish.low,
        .kernels = a->long_rows > 0 ? 3 : 1,
        .persistent = longest(a) <= GPU_ROW_MOST && has_kernel(M),
        .b = a->b,
        .store = M->store,
        .different = a->dict_count,
        .long_rows = a->long_rows,
        .slices = tct_slices_count(P->slice, a->slices)};
    about->packed =
        M->store != GPU_F64 || about->slices.columns[SLICE_CONST] > 0.0;
    if (nonzeros > 0.0)
        about->padding = 100.0 * ((double)about->stored / nonzeros - 1.0);
    about->bytes =
        (double)values * tct_gpu_store_bytes(M->store) +
        (double)a->index_bytes + dict + long_bytes +
        8.0 * GPU_PASS * (double)a->segments +
        (4.0 + sizeof(tct_gpu_long)) * (double)a->long_rows +
        (double)a->slices * (double)(sizeof *a->slice + 3 * GPU_LANES);
    describe(about);
}
