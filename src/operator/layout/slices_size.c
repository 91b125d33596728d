/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_size.c - plan all windows of a matrix, to build it, or a
 * sample of them, to foretell its size; which block size is best. */
#include "operator/layout/slices_build.h"
#include <math.h>
#include <string.h>

enum { SAMPLES = 96, NO_MEMORY = 1, TOO_WIDE = 2 };
static const double FILL_MOST = 1.30; /* values of blocks, per non-zero */

int64_t tct_gpu_plan_window(const tct_gpu_plan *P, int64_t i)
{
    return P->window ? P->window[i] : i;
}

int tct_gpu_window_slices(const tct_gpu_maker *M, int64_t window)
{
    const int64_t left = M->slices - window * GPU_WINDOW_SLICES;
    return (int)(left < GPU_WINDOW_SLICES ? left : GPU_WINDOW_SLICES);
}

/* --- values ----------------------------------------------------------------------- */

/* All values of a window: its rows follow one another. */
static void look_at_rows(const tct_gpu_maker *M, int64_t window,
                         tct_gpu_values *set)
{
    const tct_local *A = M->A;
    const int64_t size = (int64_t)GPU_WINDOW * M->b, first = window * size;
    const int64_t last = first + size < A->rows ? first + size : A->rows;
    tct_gpu_values_look(set, A->val + A->ptr[first],
                        A->ptr[last] - A->ptr[first]);
}

/* The values in cells of window `i` of the plan, b = 1. */
static void look_at_cells(const tct_gpu_maker *M, const tct_gpu_plan *P,
                          int64_t i, tct_gpu_values *set)
{
    const tct_local *A = M->A;
    const int64_t window = tct_gpu_plan_window(P, i);
    const int slices = tct_gpu_window_slices(M, window);
    for (int n = 0; n < slices; n++) {
        if (P->slice[GPU_WINDOW_SLICES * i + n].kind == GPU_CONST) continue;
        for (int l = 0; l < GPU_LANES; l++) {
            const int64_t at = GPU_WINDOW * i + GPU_LANES * n + l;
            if (P->length[at] == 0) continue;
            const int64_t row = window * GPU_WINDOW + P->order[at];
            tct_gpu_values_look(set, A->val + A->ptr[row], P->length[at]);
        }
    }
}

static void look(const tct_gpu_maker *M, tct_gpu_plan *P, bool cells)
{
    tct_gpu_values_close(&P->values);
    tct_gpu_values_open(&P->values);
#pragma omp parallel if (P->count > 16)
    {
        tct_gpu_values mine;
        tct_gpu_values_open(&mine);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < P->count; i++)
            if (cells) look_at_cells(M, P, i, &mine);
            else look_at_rows(M, tct_gpu_plan_window(P, i), &mine);
#pragma omp critical
        tct_gpu_values_join(&P->values, &mine);
        tct_gpu_values_close(&mine);
    }
}

/* --- windows ---------------------------------------------------------------------- */

typedef struct {
    int64_t blocks, consts, entries;
} census;

static int plan_window(const tct_gpu_maker *M, tct_gpu_plan *P, int64_t i,
                       int32_t *scratch, census *c)
{
    const tct_local *A = M->A;
    tct_gpu_window w;
    tct_gpu_slice *slice = P->slice + GPU_WINDOW_SLICES * i;
    uint8_t *order = P->order + GPU_WINDOW * i;
    tct_gpu_window_read(M, tct_gpu_plan_window(P, i), scratch, &w);
    if (!tct_gpu_window_plan(M, &w, slice, order)) return TOO_WIDE;
    for (int at = 0; at < GPU_WINDOW; at++) {
        const int g = order[at];
        const int32_t length = g < w.groups ? w.length[g] : 0;
        P->length[GPU_WINDOW * i + at] = (uint16_t)length;
        c->blocks += length;
        if (length > 0 && slice[at / GPU_LANES].kind == GPU_CONST)
            c->consts += length;
    }
    int64_t rows = 0, entries = 0;
    for (int g = 0; g < w.groups && w.cut < INT32_MAX; g++) {
        const int64_t length = A->ptr[w.first + g + 1] - A->ptr[w.first + g];
        rows += length > w.cut;
        entries += length > w.cut ? length : 0;
    }
    P->long_rows[i + 1] = rows;
    P->long_entries[i + 1] = entries;
    c->entries += A->ptr[M->b * (w.first + w.groups)] - A->ptr[M->b * w.first];
    return 0;
}

static int plan_windows(const tct_gpu_maker *M, tct_gpu_plan *P)
{
    const int64_t room = tct_gpu_window_room(M);
    int64_t blocks = 0, consts = 0, entries = 0;
    int failed = 0;
#pragma omp parallel if (P->count > 16) reduction(+ : blocks, consts, entries) \
    reduction(max : failed)
    {
        census c = {0};
        int32_t *scratch = tct_alloc((size_t)room * sizeof *scratch);
        failed = scratch ? 0 : NO_MEMORY;
#pragma omp for schedule(dynamic, 8)
        for (int64_t i = 0; i < P->count; i++)
            if (!failed) failed = plan_window(M, P, i, scratch, &c);
        tct_free(scratch);
        blocks += c.blocks;
        consts += c.consts;
        entries += c.entries;
    }
    for (int64_t i = 0; i < P->count && !failed; i++) {
        P->long_rows[i + 1] += P->long_rows[i];
        P->long_entries[i + 1] += P->long_entries[i];
    }
    P->blocks = blocks;
    P->const_entries = consts;
    P->entries = entries;
    return failed;
}

static tacit_status allocate(tct_gpu_plan *P)
{
    const char *what = "the plan of the matrix in slices";
    P->reason = "no memory to plan it";
    TRY(TCT_ALLOC(P->count * GPU_WINDOW_SLICES, what, &P->slice));
    TRY(TCT_ALLOC(P->count * GPU_WINDOW, what, &P->order));
    TRY(TCT_ALLOC(P->count * GPU_WINDOW, what, &P->length));
    TRY(TCT_ALLOC(P->count + 1, what, &P->long_rows));
    TRY(TCT_ALLOC(P->count + 1, what, &P->long_entries));
    P->long_rows[0] = P->long_entries[0] = 0;
    P->reason = NULL;
    return TACIT_OK;
}

tacit_status tct_gpu_plan_make(tct_gpu_maker *M, tct_gpu_plan *P)
{
    const tct_gpu_wish *wish = &M->wish;
    const bool matters =
        wish->automatic || (wish->store != GPU_F64 && wish->store != GPU_F48);
    TRY(allocate(P));
    if (matters) look(M, P, false);
    if (wish->automatic) M->store = tct_gpu_store_best(&P->values);
    const int failed = plan_windows(M, P);
    if (failed == TOO_WIDE) P->reason = "a row has more than 65535 blocks";
    if (failed == NO_MEMORY) P->reason = "no memory to plan it";
    if (failed)
        FAIL(failed == NO_MEMORY ? TACIT_NO_MEMORY : TACIT_UNSUPPORTED,
             "the matrix in slices: %s", P->reason);
    if (!matters) return TACIT_OK;
    const bool fewer = P->const_entries > 0 || P->long_rows[P->count] > 0;
    bool holds = tct_gpu_store_holds(M->store, wish->low, &P->values);
    if (fewer && !(holds && M->store == GPU_DICT8)) {
        look(M, P, true); /* values that are in no cell do not matter */
        if (wish->automatic) M->store = tct_gpu_store_best(&P->values);
        holds = tct_gpu_store_holds(M->store, wish->low, &P->values);
    }
    if (holds) return TACIT_OK;
    P->reason = tct_gpu_store_reason(M->store, wish->low);
    FAIL(TACIT_UNSUPPORTED,
         "the matrix cannot be stored so: %s: try another store, as in "
         "FORMAT/f64, or none",
         P->reason);
}

void tct_gpu_plan_clear(tct_gpu_plan *P)
{
    tct_free(P->slice);
    tct_free(P->order);
    tct_free(P->length);
    tct_free(P->long_rows);
    tct_free(P->long_entries);
    tct_gpu_values_close(&P->values);
}

double tct_gpu_plan_bytes(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    double bytes = 0.0;
    for (int64_t i = 0; i < P->count; i++) {
        const int slices = tct_gpu_window_slices(M, tct_gpu_plan_window(P, i));
        for (int n = 0; n < slices; n++)
            bytes += tct_gpu_slice_bytes(&P->slice[GPU_WINDOW_SLICES * i + n],
                                         M->b, M->store);
    }
    return bytes;
}

/* --- size ------------------------------------------------------------------------- */

typedef struct {
    double rows, entries;
} tally;

/* Rows of [first, last) that are kept apart wherever they are: one alone can
 * be most of a matrix, and no sample tells. */
static tally count_huge(const tct_gpu_maker *M, int64_t first, int64_t last)
{
    double rows = 0.0, entries = 0.0;
    if (M->b > 1) return (tally){0.0, 0.0};
#pragma omp parallel for schedule(static) reduction(+ : rows, entries) \
    if (last - first > 1 << 16)
    for (int64_t i = first; i < last; i++) {
        const double length = (double)(M->A->ptr[i + 1] - M->A->ptr[i]);
        if (length <= GPU_LONG_ALWAYS) continue;
        rows += 1.0;
        entries += length;
    }
    return (tally){rows, entries};
}

static tally count_huge_of_plan(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    tally sum = {0.0, 0.0};
    if (P->long_rows[P->count] == 0) return sum;
    for (int64_t i = 0; i < P->count; i++) {
        const int64_t first = tct_gpu_plan_window(P, i) * GPU_WINDOW;
        const int64_t last = first + GPU_WINDOW;
        const tally one =
            count_huge(M, first, last < M->groups ? last : M->groups);
        sum.rows += one.rows;
        sum.entries += one.entries;
    }
    return sum;
}

static double long_bytes(double rows, double entries)
{
    return 32.0 * rows + 12.0 * entries;
}

/* Bytes of the whole matrix from the plan of a sample. */
static double scaled_bytes(const tct_gpu_maker *M, const tct_gpu_plan *P)
{
    const tally all = count_huge(M, 0, M->A->rows);
    const tally seen = count_huge_of_plan(M, P);
    const double rows = (double)P->long_rows[P->count] - seen.rows;
    const double entries = (double)P->long_entries[P->count] - seen.entries;
    const double some = (double)P->entries - seen.entries;
    double scale = P->count ? (double)M->windows / (double)P->count : 0.0;
    if (some > 0.0)
        scale = ((double)M->A->ptr[M->A->rows] - all.entries) / some;
    const bool dict = M->store == GPU_DICT8 || M->store == GPU_DICT16;
    return scale * (tct_gpu_plan_bytes(M, P) + long_bytes(rows, entries)) +
           long_bytes(all.rows, all.entries) +
           (dict ? 8.0 * (double)P->values.count : 0.0);
}

/* Windows here and there, not at even distances: grids have periods. */
static int64_t take_sample(const tct_gpu_maker *M, int64_t *window)
{
    const int64_t step = (M->windows + SAMPLES - 1) / SAMPLES;
    int64_t n = 0;
    for (int64_t i = 0; i * step < M->windows; i++) {
        const uint64_t part = tct_mix((uint64_t)i) % (uint64_t)step;
        const int64_t at = i * step + (int64_t)part;
        if (at < M->windows) window[n++] = at;
    }
    return n;
}

double tct_gpu_slices_bytes(const tct_local *A, int b, tct_gpu_kinds kinds,
                            const char *store, const char **reason)
{
    tct_gpu_maker M;
    int64_t window[SAMPLES];
    const char *unused;
    if (!reason) reason = &unused;
    *reason = "no whole blocks";
    if (b > 1 && (A->ptr[A->rows] == 0 || A->rows % b || A->cols % b))
        return -1.0;
    *reason = "an unknown store of values";
    if (tct_gpu_maker_open(A, b, kinds, store, &M) < 0) return -1.0;
    tct_gpu_plan P = {.window = window, .count = take_sample(&M, window)};
    double bytes = -1.0;
    const tacit_status status = tct_gpu_plan_make(&M, &P);
    *reason = P.reason;
    if (status >= 0) {
        const double values = (double)P.blocks * b * b;
        const bool dense = b == 1 || values <= FILL_MOST * (double)P.entries;
        *reason = dense ? NULL : "the blocks are not dense";
        if (dense) bytes = scaled_bytes(&M, &P);
    }
    tct_gpu_plan_clear(&P);
    return bytes;
}

int tct_gpu_best_block(const tct_local *A)
{
    tct_gpu_wish wish;
    if (tct_gpu_wish_read(A->store, 1, GPU_ANY_KIND, &wish) < 0) return 0;
    double least = -1.0;
    if (!wish.low)
        least = tct_gpu_slices_bytes(A, 1, GPU_ANY_KIND, A->store, NULL);
    int best = 0;
    for (int b = 2; b <= GPU_BLOCK_MOST; b++) {
        const double bytes =
            tct_gpu_slices_bytes(A, b, GPU_ANY_KIND, A->store, NULL);
        if (bytes < 0.0 || (least >= 0.0 && bytes >= least)) continue;
        least = bytes;
        best = b;
    }
    return best;
}
