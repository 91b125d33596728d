/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slices_plan.c - plan the slices of a window of groups: which
 * rows are kept apart, whether sorting by length pays, and how each slice
 * stores its columns. The cost of everything is the bytes that it reads. */
#include "operator/layout/slices_build.h"
#include <math.h>
#include <string.h>

enum {
    LONG_LEAST = 64,              /* shorter rows are never kept apart    */
    LONG_TIMES = 4,               /* longer than so many times the mean   */
    LENGTH_BYTES = 2 * GPU_LANES, /* of a slice's `length`                */
    ORDER_BYTES = GPU_LANES       /* of a slice's `order`                 */
};
static const double SORT_PAYS = 0.97; /* of the bytes in row order */

tacit_status tct_gpu_maker_open(const tct_local *A, int b, tct_gpu_kinds kinds,
                                const char *store, tct_gpu_maker *out)
{
    *out = (tct_gpu_maker){.A = A, .b = b, .kinds = kinds};
    TRY(tct_gpu_wish_read(store, b, kinds, &out->wish));
    out->store = out->wish.store;
    if (b < 1 || b > GPU_BLOCK_MOST || A->rows % b || A->cols % b)
        FAIL(TACIT_UNSUPPORTED,
             "%lld rows and %lld columns are not blocks of %d",
             (long long)A->rows, (long long)A->cols, b);
    out->groups = A->rows / b;
    out->slices = (out->groups + GPU_LANES - 1) / GPU_LANES;
    out->windows = (out->groups + GPU_WINDOW - 1) / GPU_WINDOW;
    return TACIT_OK;
}

/* --- windows -------------------------------------------------------------------- */

int64_t tct_gpu_window_room(const tct_gpu_maker *M)
{
    return M->b > 1 ? tct_most_entries(M->A, (int64_t)M->b * GPU_WINDOW) : 0;
}

/* Take the longest row out as long as it is too long beside the others. */
static void keep_apart(tct_gpu_window *w)
{
    int64_t sum = 0, rows = w->groups;
    for (int g = 0; g < w->groups; g++) sum += w->length[g];
    for (;;) {
        int top = 0;
        for (int g = 1; g < w->groups; g++)
            if (w->length[g] > w->length[top]) top = g;
        const int64_t length = w->length[top];
        const bool beside =
            rows > 1 && length * (rows - 1) > LONG_TIMES * (sum - length);
        if (length <= LONG_LEAST || (length <= GPU_LONG_ALWAYS && !beside))
            return;
        sum -= length;
        rows--;
        w->cut = (int32_t)length - 1;
        w->length[top] = 0;
    }
}

void tct_gpu_window_read(const tct_gpu_maker *M, int64_t window,
                         int32_t *scratch, tct_gpu_window *w)
{
    const tct_local *A = M->A;
    w->first = window * GPU_WINDOW;
    const int64_t left = M->groups - w->first;
    w->groups = (int)(left < GPU_WINDOW ? left : GPU_WINDOW);
    w->cut = INT32_MAX;
    int64_t longest = 0;
    for (int g = 0; g < w->groups; g++) {
        const int64_t group = w->first + g;
        if (M->b > 1) {
            w->col[g] = scratch;
            w->length[g] = tct_merge_rows(A, M->b, group, scratch);
            scratch += w->length[g];
            continue;
        }
        w->col[g] = A->col + A->ptr[group];
        w->length[g] = (int32_t)(A->ptr[group + 1] - A->ptr[group]);
        if (w->length[g] > longest) longest = w->length[g];
    }
    if (longest > LONG_LEAST) keep_apart(w);
}

/* Slices of a window by which its order is turned round: a warp has slices a
 * multiple of 8 apart, and is not to have the widest of every window. Bits of
 * the window's number are mixed (Knuth 1998, sec. 6.4: multiplicative hashing),
 * for whatever the distance is. */
static int turn_of(const tct_gpu_window *w)
{
    if (w->groups < GPU_WINDOW) return 0; /* its last slices are not there */
    const uint32_t window = (uint32_t)(w->first / GPU_WINDOW);
    return (int)(window * 2654435769u >> 29);
}

/* Order by length, the longest first but for the turn; equal ones as they
 * come. */
static void sort_lengths(const tct_gpu_window *w, uint8_t *order)
{
    uint8_t other[GPU_WINDOW];
    uint16_t key[GPU_WINDOW];
    for (int g = 0; g < GPU_WINDOW; g++) {
        const int32_t n = g < w->groups ? w->length[g] : 0;
        key[g] = (uint16_t)(UINT16_MAX - (n < UINT16_MAX ? n : UINT16_MAX));
        other[g] = (uint8_t)g;
    }
    for (int shift = 0; shift < 16; shift += 8) { /* byte by byte */
        const uint8_t *from = shift ? order : other;
        uint8_t *to = shift ? other : order;
        int at[257] = {0};
        for (int g = 0; g < GPU_WINDOW; g++) at[(key[g] >> shift & 255) + 1]++;
        for (int k = 0; k < 256; k++) at[k + 1] += at[k];
        for (int g = 0; g < GPU_WINDOW; g++)
            to[at[key[from[g]] >> shift & 255]++] = from[g];
    }
    _Static_assert(GPU_WINDOW_SLICES == 8, "turns are three bits");
    const int turn = GPU_LANES * turn_of(w);
    memcpy(order, other + turn, (size_t)(GPU_WINDOW - turn));
    memcpy(order + GPU_WINDOW - turn, other, (size_t)turn);
}

/* --- slices --------------------------------------------------------------------- */

void tct_gpu_view_open(const tct_gpu_maker *M, const tct_gpu_window *w, int n,
                       const uint8_t *order, tct_gpu_view *v)
{
    const tct_local *A = M->A;
    for (int l = 0; l < GPU_LANES; l++) {
        const int at = GPU_LANES * n + l, g = order ? order[at] : at;
        const bool there = g < w->groups;
        v->length[l] = there ? w->length[g] : 0;
        v->group[l] = there ? w->first + g : -1;
        v->col[l] = there ? w->col[g] : NULL;
        v->val[l] = there && M->b == 1 ? A->val + A->ptr[w->first + g] : NULL;
    }
}

void tct_gpu_runs_open(tct_gpu_runs *r, const tct_gpu_view *v)
{
    r->view = v;
    for (int l = 0; l < GPU_LANES; l++) {
        r->at[l] = 0;
        r->head[l] = v->length[l] > 0 ? v->col[l][0] - l : INT32_MAX;
    }
}

bool tct_gpu_runs_next(tct_gpu_runs *r, tct_gpu_run *out)
{
    int32_t least = INT32_MAX;
    for (int l = 0; l < GPU_LANES; l++)
        least = r->head[l] < least ? r->head[l] : least;
    if (least == INT32_MAX) return false;
    uint32_t mask = 0;
    for (int l = 0; l < GPU_LANES; l++)
        mask |= (uint32_t)(r->head[l] == least) << l;
    *out = (tct_gpu_run){least, mask};
    for (; mask; mask &= mask - 1) {
        const int l = __builtin_ctz(mask);
        const int32_t next = ++r->at[l];
        const bool more = next < r->view->length[l];
        r->head[l] = more ? r->view->col[l][next] - l : INT32_MAX;
    }
    return true;
}

int tct_gpu_index_bytes(tct_gpu_slice_kind kind, int width)
{
    switch (kind) {
    case GPU_RUN: return width * (int)sizeof(tct_gpu_run);
    case GPU_CONST: return width * (int)sizeof(tct_gpu_const);
    case GPU_NEAR:
        return (width + 1) / 2 * 2 * GPU_LANES * (int)sizeof(uint16_t);
    case GPU_FAR: break;
    }
    return width * GPU_LANES * (int)sizeof(int32_t);
}

double tct_gpu_slice_bytes(const tct_gpu_slice *s, int b, tct_gpu_store store)
{
    const tct_gpu_slice_kind kind = (tct_gpu_slice_kind)s->kind;
    const int cell =
        kind == GPU_CONST ? 0 : b * b * GPU_LANES * tct_gpu_store_bytes(store);
    const bool ragged = kind >= GPU_NEAR && s->full < s->width;
    return (double)s->width * cell + tct_gpu_index_bytes(kind, s->width) +
           (double)sizeof *s + (ragged ? LENGTH_BYTES : 0) +
           (s->sorted ? ORDER_BYTES : 0);
}

/* Have the lanes of the run just passed one value? */
static bool one_value(const tct_gpu_runs *r, uint32_t mask)
{
    const int first = __builtin_ctz(mask);
    const double *value = r->view->val[first] + r->at[first] - 1;
    if (!isfinite(*value)) return false; /* it meets the 0 of empty lanes */
    for (; mask; mask &= mask - 1) {
        const int l = __builtin_ctz(mask);
        if (memcmp(r->view->val[l] + r->at[l] - 1, value, sizeof *value) != 0)
            return false;
    }
    return true;
}

/* As runs, if that takes no more than `s` does. A run takes one column of a
 * lane at most, so what is left of the longest, lane `widest`, tells early. */
static void plan_runs(const tct_gpu_maker *M, const tct_gpu_view *v, int widest,
                      tct_gpu_slice *s)
{
    const double cost = tct_gpu_slice_bytes(s, M->b, M->store);
    tct_gpu_slice run = *s;
    tct_gpu_runs r;
    tct_gpu_run next;
    int32_t n = 0;
    run.kind = (uint8_t)(M->wish.consts ? GPU_CONST : GPU_RUN);
    run.full = 0;
    tct_gpu_runs_open(&r, v);
    do {
        const int32_t least = n + v->length[widest] - r.at[widest];
        if (least > UINT16_MAX) return;
        run.width = (uint16_t)least;
        while (tct_gpu_slice_bytes(&run, M->b, M->store) > cost) {
            if (run.kind == GPU_RUN) return;
            run.kind = GPU_RUN;
        }
        if (!tct_gpu_runs_next(&r, &next)) break;
        n++;
        if (run.kind == GPU_CONST && !one_value(&r, next.mask))
            run.kind = GPU_RUN;
    } while (n <= UINT16_MAX);
    *s = run;
}

/* Its bytes; negative if it is too wide. */
static double plan_slice(const tct_gpu_maker *M, const tct_gpu_view *v,
                         bool sorted, tct_gpu_slice *s)
{
    int32_t width = 0, full = INT32_MAX, low = INT32_MAX, high = 0;
    int widest = 0;
    for (int l = 0; l < GPU_LANES; l++) {
        const int32_t n = v->length[l];
        if (n > v->length[widest]) widest = l;
        if (n < full) full = n;
        if (n > 0 && v->col[l][0] < low) low = v->col[l][0];
        if (n > 0 && v->col[l][n - 1] > high) high = v->col[l][n - 1];
    }
    width = v->length[widest];
    if (width > UINT16_MAX) return -1.0;
    const bool any = M->kinds == GPU_ANY_KIND;
    const bool near = width == 0 || high - low <= UINT16_MAX;
    *s = (tct_gpu_slice){.base = width > 0 ? low : 0,
                         .width = (uint16_t)width,
                         .full = (uint16_t)full,
                         .kind = (uint8_t)(any && near ? GPU_NEAR : GPU_FAR),
                         .sorted = sorted};
    if (any && !sorted && width > 0) plan_runs(M, v, widest, s);
    return tct_gpu_slice_bytes(s, M->b, M->store);
}

static double plan_slices(const tct_gpu_maker *M, const tct_gpu_window *w,
                          const uint8_t *order, tct_gpu_slice *slice)
{
    double bytes = 0.0;
    for (int n = 0; GPU_LANES * n < w->groups; n++) {
        tct_gpu_view v;
        tct_gpu_view_open(M, w, n, order, &v);
        const double size = plan_slice(M, &v, order != NULL, &slice[n]);
        if (size < 0.0) return -1.0;
        bytes += size;
    }
    return bytes;
}

/* Bytes if no lane were ever empty and there were no runs. */
static double even_bytes(const tct_gpu_maker *M, const tct_gpu_window *w)
{
    tct_gpu_slice s = {
        /* two columns: one of GPU_NEAR takes as much index */
        .width = 2,
        .full = 2,
        .kind = (uint8_t)(M->kinds == GPU_ANY_KIND ? GPU_NEAR : GPU_FAR)};
    const double column =
        0.5 * (tct_gpu_slice_bytes(&s, M->b, M->store) - (double)sizeof s);
    double blocks = 0.0;
    for (int g = 0; g < w->groups; g++) blocks += w->length[g];
    return blocks / GPU_LANES * column +
           (double)w->groups / GPU_LANES * (double)(sizeof s + ORDER_BYTES);
}

bool tct_gpu_window_plan(const tct_gpu_maker *M, const tct_gpu_window *w,
                         tct_gpu_slice slice[GPU_WINDOW_SLICES],
                         uint8_t order[GPU_WINDOW])
{
    for (int g = 0; g < GPU_WINDOW; g++) order[g] = (uint8_t)g;
    const double bytes = plan_slices(M, w, NULL, slice);
    if (bytes < 0.0) return false;
    if (even_bytes(M, w) >= SORT_PAYS * bytes) return true;
    tct_gpu_slice sorted[GPU_WINDOW_SLICES] = {{0}};
    uint8_t by_length[GPU_WINDOW];
    sort_lengths(w, by_length);
    if (plan_slices(M, w, by_length, sorted) >= SORT_PAYS * bytes) return true;
    memcpy(slice, sorted, sizeof sorted);
    memcpy(order, by_length, sizeof by_length);
    return true;
}
