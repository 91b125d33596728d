/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/device/gpu/rows.c - the rows of L and of L' in the order of their levels, and
 * in slices. */
#include "triangular/device/gpu/rows.h"
#include <string.h>

static const char *const what = "rows of a triangular matrix";

/* Levels that are under way at a time: more warps only wait. Entries of a row that a
 * lane has, as a rule at most. */
enum {
    LEVELS_AHEAD = 6,
    WARPS = TCT_ROWS_THREADS / GPU_WAVE,
    ENTRIES_OF_LANE = 8
};

struct tct_rows {
    tct_rows_kernel k;
    int blocks;
    int *late; /* k.late as the host sees it */
    tct_rows_info about;
};

/* Rows by their own numbers. */
typedef struct {
    int64_t n;
    const int64_t *ptr;
    const int32_t *col;
    const double *val;
    int32_t *position; /* [n] of a row in the order of levels  */
    int32_t *row;      /* [n] the other way round              */
    int32_t levels;
} side;

/* --- orders -------------------------------------------------------------------- */

/* The level of each row into `level`; how many there are. Rows of L come after
 * those that they wait for, rows of L' before. */
static int32_t find_levels(const side *S, bool up, int32_t *level)
{
    int32_t most = 0;
    for (int64_t k = 0; k < S->n; k++) {
        const int64_t i = up ? S->n - 1 - k : k;
        int32_t own = 0;
        for (int64_t e = S->ptr[i]; e < S->ptr[i + 1]; e++)
            if (level[S->col[e]] >= own) own = level[S->col[e]] + 1;
        level[i] = own;
        if (own >= most) most = own + 1;
    }
    return most;
}

/* Rows by level, those of one as they are numbered. */
static tacit_status put_in_order(side *S, bool up)
{
    int32_t *level = NULL;
    int64_t *next = NULL;
    TRY(TCT_ALLOC(S->n, what, &S->position));
    TRY(TCT_ALLOC(S->n, what, &S->row));
    TRY(TCT_ALLOC(S->n, what, &level));
    S->levels = find_levels(S, up, level);
    const size_t levels = (size_t)S->levels;
    const tacit_status status = TCT_ALLOC(levels + 1, what, &next);
    if (status >= 0) {
        memset(next, 0, (levels + 1) * sizeof *next);
        for (int64_t i = 0; i < S->n; i++) next[level[i] + 1]++;
        for (size_t l = 0; l < levels; l++) next[l + 1] += next[l];
        for (int64_t i = 0; i < S->n; i++) {
            S->position[i] = (int32_t)next[level[i]]++;
            S->row[S->position[i]] = (int32_t)i;
        }
    }
    TCT_FREE(level, next);
    return status;
}

/* --- slices -------------------------------------------------------------------- */

/* In host memory, but for what tct_rows_side points to in the end. */
typedef struct {
    int lanes; /* of a row */
    int64_t count, *cell;
    int32_t *col, *at;
    double *val, *inverse;
} slices;

/* Cells of a slice. */
static int64_t width_of(const side *S, int64_t slice, int lanes)
{
    const int64_t rows = GPU_WAVE / lanes, first = slice * rows;
    int64_t most = 0;
    for (int64_t p = first; p < first + rows && p < S->n; p++) {
        const int64_t i = S->row[p], length = S->ptr[i + 1] - S->ptr[i];
        if (length > most) most = length;
    }
    return (most + lanes - 1) / lanes;
}

static void fill(const side *S, const double *inverse, const int32_t *place,
                 slices *out)
{
    const int lanes = out->lanes, rows = GPU_WAVE / lanes;
    for (int64_t p = 0; p < S->n; p++) {
        const int64_t i = S->row[p], s = p / rows, l = p % rows * lanes;
        const int64_t from = S->ptr[i], length = S->ptr[i + 1] - from;
        for (int64_t k = 0; k < length; k++) {
            const int64_t cell = out->cell[s] + k / lanes;
            const int64_t at = cell * GPU_WAVE + l + k % lanes;
            out->col[at] = S->position[S->col[from + k]];
            out->val[at] = S->val[from + k];
        }
        out->inverse[p] = inverse[i];
        out->at[p] = place ? place[i] : (int32_t)i;
    }
}

static tacit_status make_slices(const side *S, const double *inverse,
                                const int32_t *place, slices *out)
{
    TRY(TCT_ALLOC(out->count + 1, what, &out->cell));
    out->cell[0] = 0;
    for (int64_t s = 0; s < out->count; s++)
        out->cell[s + 1] = out->cell[s] + width_of(S, s, out->lanes);
    const int64_t cells = out->cell[out->count] * GPU_WAVE;
    TRY(TCT_ALLOC(cells, what, &out->col));
    TRY(TCT_ALLOC(cells, what, &out->val));
    TRY(TCT_ALLOC(S->n, what, &out->inverse));
    TRY(TCT_ALLOC(S->n, what, &out->at));
    memset(out->col, 0xff, (size_t)cells * sizeof *out->col);
    memset(out->val, 0, (size_t)cells * sizeof *out->val);
    fill(S, inverse, place, out);
    return TACIT_OK;
}

static tacit_status upload(int64_t n, const slices *from, tct_rows_side *to)
{
    const size_t rows = (size_t)n, count = (size_t)from->count,
                 cells = (size_t)from->cell[count] * GPU_WAVE;
    TRY(tct_gpu_upload(from->cell, (count + 1) * sizeof *from->cell,
                       &to->cell));
    TRY(tct_gpu_upload(from->col, cells * sizeof *from->col, &to->col));
    TRY(tct_gpu_upload(from->val, cells * sizeof *from->val, &to->val));
    TRY(tct_gpu_upload(from->inverse, rows * sizeof *from->inverse,
                       &to->inverse));
    return tct_gpu_upload(from->at, rows * sizeof *from->at, &to->at);
}

static tacit_status store(const side *S, const double *inverse,
                          const int32_t *place, tct_rows *R, tct_rows_side *to)
{
    slices host = {.lanes = R->k.lanes, .count = R->k.slices};
    tacit_status status = make_slices(S, inverse, place, &host);
    if (status >= 0) status = upload(S->n, &host, to);
    if (status >= 0)
        R->about.bytes += 12.0 * GPU_WAVE * (double)host.cell[R->k.slices] +
                          12.0 * (double)S->n + 8.0 * (double)R->k.slices;
    TCT_FREE(host.cell, host.col, host.val, host.inverse, host.at);
    return status;
}

/* --- all of it ------------------------------------------------------------------- */

/* A triangle by rows, and the reciprocals of the diagonal. */
typedef struct {
    int64_t n, *ptr;
    int32_t *col;
    double *val, *inverse;
} triangle;

static tacit_status open_triangle(int64_t n, int64_t entries, triangle *T)
{
    T->n = n;
    TRY(TCT_ALLOC(n + 1, what, &T->ptr));
    TRY(TCT_ALLOC(entries, what, &T->col));
    return TCT_ALLOC(entries, what, &T->val);
}

static void close_triangle(triangle *T)
{
    TCT_FREE(T->ptr, T->col, T->val, T->inverse);
}

/* L' by rows, which are columns of panels; zeros of panels are left out. */
static tacit_status take_panels(const tacit_factor_panels *P, triangle *T)
{
    int64_t at = 0;
    TRY(open_triangle(P->rows, P->value_start[P->panels], T));
    TRY(TCT_ALLOC(P->rows, what, &T->inverse));
    T->ptr[0] = 0;
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        const int32_t *row = P->row + P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++) {
            const int64_t k = j - P->first[K];
            const double *column = P->value + P->value_start[K] + k * h;
            T->inverse[j] = 1.0 / column[k];
            for (int64_t i = k + 1; i < h; i++) {
                if (column[i] == 0.0) continue;
                T->col[at] = row[i];
                T->val[at++] = column[i];
            }
            T->ptr[j + 1] = at;
        }
    }
    return TACIT_OK;
}

/* The other triangle, rows ascending in each of its rows. */
static tacit_status transpose(const triangle *T, triangle *out)
{
    int64_t *next = NULL;
    TRY(open_triangle(T->n, T->ptr[T->n], out));
    TRY(TCT_ALLOC(T->n + 1, what, &next));
    memset(out->ptr, 0, (size_t)(T->n + 1) * sizeof *out->ptr);
    for (int64_t k = 0; k < T->ptr[T->n]; k++) out->ptr[T->col[k] + 1]++;
    for (int64_t i = 0; i < T->n; i++) out->ptr[i + 1] += out->ptr[i];
    memcpy(next, out->ptr, (size_t)(T->n + 1) * sizeof *next);
    for (int64_t i = 0; i < T->n; i++)
        for (int64_t k = T->ptr[i]; k < T->ptr[i + 1]; k++) {
            const int64_t at = next[T->col[k]]++;
            out->col[at] = (int32_t)i;
            out->val[at] = T->val[k];
        }
    tct_free(next);
    return TACIT_OK;
}

/* Vectors, and what blocks tell one another. */
static tacit_status open_kernel(tacit_queue *q, tct_rows *R)
{
    tct_rows_kernel *k = &R->k;
    const size_t bytes = (size_t)k->n * sizeof(double);
    void *late = NULL, *seen = NULL;
    TRY(tct_gpu_upload(NULL, bytes, &k->t));
    for (int i = 0; i < 2; i++) TRY(tct_gpu_upload(NULL, bytes, &k->u[i]));
    TRY(tct_gpu_upload(NULL, sizeof *k->solves, &k->solves));
    TRY(tct_gpu_upload(NULL, sizeof *k->ticket, &k->ticket));
    TRY(tct_gpu_status(gpu_host_malloc(&late, sizeof *R->late, GPU_HOST_MAPPED),
                       "memory of the host"));
    R->late = late;
    *R->late = 0;
    TRY(tct_gpu_status(gpu_host_pointer(&seen, late, 0), "memory of the host"));
    k->late = seen;
    tct_rows_unset(q, k);
    return q_own_status(q);
}

/* As many as see to it that an entry, in the mean, stands in a row whose lanes have
 * their part of it at once. */
static void choose_lanes(const triangle *L, tct_rows_kernel *k)
{
    const int64_t entries = L->ptr[L->n];
    double squares = 0.0;
    for (int64_t i = 0; i < L->n; i++) {
        const double length = (double)(L->ptr[i + 1] - L->ptr[i]);
        squares += length * length;
    }
    const double mean = entries > 0 ? squares / (double)entries : 0.0;
    k->lanes = 1;
    while (k->lanes < GPU_WAVE && ENTRIES_OF_LANE * k->lanes < mean)
        k->lanes *= 2;
    const int64_t rows = GPU_WAVE / k->lanes;
    k->slices = (L->n + rows - 1) / rows;
}

/* As many as have something to do, and no more than there is room for. */
static void choose_blocks(const tacit_queue *q, tct_rows *R)
{
    const int32_t *levels = R->about.levels;
    const int64_t deep = levels[0] > levels[1] ? levels[0] : levels[1];
    const int64_t room = (int64_t)tct_rows_resident() * tct_gpu_of(q)->sms;
    int64_t warps = LEVELS_AHEAD * R->k.slices / (deep > 0 ? deep : 1);
    if (warps > INT32_MAX) warps = INT32_MAX;
    R->k.warps = warps < 1 ? 1 : (int)warps;
    int64_t blocks = warps / WARPS;
    if (blocks < 1) blocks = 1;
    if (blocks > room) blocks = room;
    R->blocks = (int)blocks;
    R->about.lanes = R->k.lanes;
    R->about.warps = R->blocks * WARPS;
}

static tacit_status build(tacit_queue *q, const triangle *L, const triangle *U,
                          const int32_t *place, side *down, side *up,
                          tct_rows *R)
{
    int32_t *own = NULL;
    *down = (side){.n = L->n, .ptr = L->ptr, .col = L->col, .val = L->val};
    *up = (side){.n = U->n, .ptr = U->ptr, .col = U->col, .val = U->val};
    TRY(put_in_order(down, false));
    TRY(put_in_order(up, true));
    R->about.levels[0] = down->levels;
    R->about.levels[1] = up->levels;
    choose_lanes(L, &R->k);
    TRY(store(down, U->inverse, place, R, &R->k.down));
    TRY(store(up, U->inverse, place, R, &R->k.up));
    TRY(TCT_ALLOC(L->n, what, &own));
    for (int64_t p = 0; p < L->n; p++) own[p] = down->position[up->row[p]];
    const tacit_status status =
        tct_gpu_upload(own, (size_t)L->n * sizeof *own, &R->k.own);
    tct_free(own);
    TRY(status);
    choose_blocks(q, R);
    if (R->blocks < 1)
        FAIL(TACIT_DEVICE, "the GPU holds no block of a triangular solve");
    return open_kernel(q, R);
}

tacit_status tct_rows_create(tacit_queue *q, const tacit_factor_panels *P,
                             const int32_t *place, tct_rows **out)
{
    triangle L = {.n = 0}, U = {.n = 0};
    side down = {.n = 0}, up = {.n = 0};
    if (P->kind != TACIT_FACTOR_LLT && P->kind != TACIT_FACTOR_IC0)
        FAIL(TACIT_UNSUPPORTED,
             "solves by rows on a GPU are for factors L L': solve on the host");
    tct_rows *R = tct_calloc(sizeof *R);
    if (!R) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    R->k.n = P->rows;
    tacit_status status = take_panels(P, &U);
    if (status >= 0) status = transpose(&U, &L);
    if (status >= 0)
        status = build(q, &L, &U, place ? place : P->original, &down, &up, R);
    close_triangle(&L);
    close_triangle(&U);
    TCT_FREE(down.position, down.row, up.position, up.row);
    if (status < 0) tct_rows_destroy(&R);
    else *out = R;
    return status;
}

static void release_side(const tct_rows_side *S)
{
    const void *const all[] = {S->cell, S->col, S->val, S->inverse, S->at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tct_gpu_release((void *)(uintptr_t)all[i]);
}

void tct_rows_destroy(tct_rows **rows)
{
    tct_rows *R = *rows;
    if (!R) return;
    tct_rows_kernel *k = &R->k;
    void *const all[] = {(void *)(uintptr_t)k->own,
                         k->t,
                         k->u[0],
                         k->u[1],
                         k->solves,
                         k->ticket};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tct_gpu_release(all[i]);
    release_side(&k->down);
    release_side(&k->up);
    if (R->late) (void)gpu_host_free(R->late);
    tct_free(R);
    *rows = NULL;
}

tacit_status tct_rows_status(const tct_rows *R)
{
    if (*(volatile const int *)R->late)
        FAIL(TACIT_DEVICE, "the GPU: rows of a triangular solve have waited "
                           "for one another for too long");
    return TACIT_OK;
}

tacit_status tct_rows_solve(const tct_rows *R, tacit_queue *q, const double *x,
                            double *y)
{
    TRY(tct_rows_status(R));
    if (R->k.n == 0) return TACIT_OK;
    tct_gpu_flush(q);
    tct_rows_launch(q, &R->k, R->blocks, x, y);
    return TACIT_OK;
}

tct_rows_info tct_rows_about(const tct_rows *R)
{
    return R->about;
}

const tct_rows_kernel *tct_rows_kernel_of(const tct_rows *R)
{
    return &R->k;
}
