/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/rows.c - upload of the rows of L and L', in slices. */
#include "trisolve/gpu/kernels/rows.h"
#include "device/parallel.h"
#include "trisolve/gpu/level_slices.h"

_Static_assert(TCT_SLICED_LANES == (int)GPU_WAVE, "a lane has a row");

static const char *const what = "rows of a triangular matrix";

/* Levels in flight at a time: more warps would only wait. */
enum { LEVELS_AHEAD = 6, WARPS = TCT_ROWS_THREADS / GPU_WAVE };

struct tct_rows {
    tct_rows_kernel k;
    int blocks;
    int *late; /* host address of k.late */
    tct_rows_info about;
};

/* --- upload --------------------------------------------------------------- */

/* Data is built piece by piece in mapped host memory: the GPU copies one piece
 * while the host fills the other. */
enum { PIECE = 8 << 20 }; /* bytes, at least */
enum { CELL = (int)GPU_WAVE * (int)(sizeof(double) + sizeof(int32_t)) };
typedef struct {
    gpu_stream stream;
    void *piece[2];
    gpu_event sent[2]; /* NULL: not recorded yet */
    size_t bytes;      /* of a piece */
    int turn;
} conveyor;

static int64_t widest(const tct_sliced *S, const tct_sliced_side *side)
{
    int64_t most = 0;
    for (int64_t s = 0; s < S->slices; s++)
        if (side->cell[s + 1] - side->cell[s] > most)
            most = side->cell[s + 1] - side->cell[s];
    return most;
}

static tacit_status open_conveyor(const tacit_queue *q, const tct_sliced *S,
                                  conveyor *c)
{
    const int64_t down = widest(S, &S->down), up = widest(S, &S->up);
    const size_t slice = (size_t)(down > up ? down : up) * CELL;
    *c = (conveyor){.stream = tct_gpu_of(q)->stream,
                    .bytes = slice > PIECE ? slice : PIECE};
    for (int i = 0; i < 2; i++) {
        TRY(tct_gpu_status(
            gpu_host_malloc(&c->piece[i], c->bytes, GPU_HOST_MAPPED),
            "memory of the host"));
        TRY(tct_gpu_status(
            gpu_event_create_with(&c->sent[i], GPU_EVENT_NO_TIMING),
            "an upload"));
    }
    return TACIT_OK;
}

static tacit_status close_conveyor(conveyor *c)
{
    const gpu_error error = gpu_stream_sync(c->stream);
    for (int i = 0; i < 2; i++) {
        if (c->sent[i]) (void)gpu_event_destroy(c->sent[i]);
        if (c->piece[i]) (void)gpu_host_free(c->piece[i]);
    }
    return tct_gpu_status(error, "an upload");
}

/* Wait for the next piece to be free. */
static tacit_status next_piece(conveyor *c, void **out)
{
    c->turn = !c->turn;
    *out = c->piece[c->turn];
    return tct_gpu_status(gpu_event_sync(c->sent[c->turn]), "an upload");
}

/* Enqueue the copy of part of the piece to the device. */
static tacit_status send(const conveyor *c, const void *from, size_t bytes,
                         void *to)
{
    return tct_gpu_status(
        gpu_memcpy_async(to, from, bytes, GPU_TO_DEVICE, c->stream),
        "an upload");
}

/* Mark the piece as in flight. */
static tacit_status end_piece(const conveyor *c)
{
    return tct_gpu_status(gpu_event_record(c->sent[c->turn], c->stream),
                          "an upload");
}

/* Columns and values of all slices in one pass, so each row is found once. */
static tacit_status send_slices(conveyor *c, const tct_sliced *S,
                                const tct_sliced_side *side, int32_t *col,
                                double *val)
{
    const int64_t most = (int64_t)(c->bytes / CELL);
    for (int64_t from = 0, end; from < S->slices; from = end) {
        void *piece = NULL;
        const int64_t first = side->cell[from];
        for (end = from + 1; end < S->slices; end++)
            if (side->cell[end + 1] - first > most) break;
        TRY(next_piece(c, &piece));
        const size_t before = (size_t)first * GPU_WAVE,
                     count = (size_t)side->cell[end] * GPU_WAVE - before;
        double *const values = piece;
        int32_t *const columns = (int32_t *)(void *)(values + count);
        tct_sliced_fill(S, side, from, end, columns, values);
        TRY(send(c, columns, count * sizeof *columns, col + before));
        TRY(send(c, values, count * sizeof *values, val + before));
        TRY(end_piece(c));
    }
    return TACIT_OK;
}

/* The source of an array by rows. */
typedef struct {
    const tct_sliced *S;
    const tct_sliced_side *side;
    const int32_t *place;
} rows_of;

/* Of elements from `first` on, in `piece`: those that a thread has. */
typedef struct {
    const rows_of *r;
    int64_t first;
    void *piece;
} piece_of;

static void fill_inverse(void *work, int64_t from, int64_t to)
{
    const piece_of *e = work;
    const tct_sliced_side *U = &e->r->S->up;
    const int32_t *row = e->r->side->row + e->first;
    double *out = e->piece;
    for (int64_t p = from; p < to; p++) out[p] = 1.0 / U->val[U->ptr[row[p]]];
}

static void fill_places(void *work, int64_t from, int64_t to)
{
    const piece_of *e = work;
    const int32_t *place = e->r->place, *row = e->r->side->row + e->first;
    int32_t *out = e->piece;
    for (int64_t p = from; p < to; p++) out[p] = place ? place[row[p]] : row[p];
}

/* Of a row of L', which one of L it is. */
static void fill_own(void *work, int64_t from, int64_t to)
{
    const piece_of *e = work;
    const tct_sliced *S = e->r->S;
    int32_t *out = e->piece;
    for (int64_t p = from; p < to; p++)
        out[p] = S->down.position[S->up.row[e->first + p]];
}

static tacit_status send_rows(conveyor *c, const rows_of *r,
                              tct_stretch_fn fill, size_t each, void *to)
{
    const int64_t most = (int64_t)(c->bytes / each);
    for (int64_t from = 0, end; from < r->S->n; from = end) {
        void *piece = NULL;
        end = r->S->n - from > most ? from + most : r->S->n;
        TRY(next_piece(c, &piece));
        tct_parallel(end - from, TCT_SHORT, fill, &(piece_of){r, from, piece});
        TRY(send(c, piece, (size_t)(end - from) * each,
                 (char *)to + (size_t)from * each));
        TRY(end_piece(c));
    }
    return TACIT_OK;
}

static tacit_status store(conveyor *c, const rows_of *r, tct_rows_info *about,
                          tct_rows_side *to)
{
    const tct_sliced_side *side = r->side;
    const size_t rows = (size_t)r->S->n, slices = (size_t)r->S->slices,
                 cells = (size_t)side->cell[slices] * GPU_WAVE;
    void *col = NULL, *val = NULL, *inverse = NULL, *at = NULL;
    TRY(tct_gpu_upload(side->cell, (slices + 1) * sizeof *side->cell,
                       &to->cell));
    TRY(tct_gpu_upload(NULL, cells * sizeof *to->col, &col));
    to->col = col;
    TRY(tct_gpu_upload(NULL, cells * sizeof *to->val, &val));
    to->val = val;
    TRY(tct_gpu_upload(NULL, rows * sizeof *to->inverse, &inverse));
    to->inverse = inverse;
    TRY(tct_gpu_upload(NULL, rows * sizeof *to->at, &at));
    to->at = at;
    about->bytes +=
        12.0 * (double)cells + 12.0 * (double)rows + 8.0 * (double)slices;
    TRY(send_slices(c, r->S, side, col, val));
    TRY(send_rows(c, r, fill_inverse, sizeof *to->inverse, inverse));
    return send_rows(c, r, fill_places, sizeof *to->at, at);
}

static tacit_status store_all(conveyor *c, const tct_sliced *S,
                              const int32_t *place, tct_rows *R)
{
    const rows_of down = {S, &S->down, place}, up = {S, &S->up, place};
    void *own = NULL;
    TRY(store(c, &down, &R->about, &R->k.down));
    TRY(store(c, &up, &R->about, &R->k.up));
    TRY(tct_gpu_upload(NULL, (size_t)S->n * sizeof *R->k.own, &own));
    R->k.own = own;
    return send_rows(c, &up, fill_own, sizeof *R->k.own, own);
}

/* --- all of it ------------------------------------------------------------ */

/* Allocate the vectors and the kernel's counters. */
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

/* As many blocks as have work, at most those that are resident at once. */
static void choose_blocks(const tacit_queue *q, tct_rows *R)
{
    const int32_t *levels = R->about.levels;
    const int64_t deep = levels[0] > levels[1] ? levels[0] : levels[1];
    const int64_t room =
        (int64_t)tct_rows_resident(R->k.near != 0) * tct_gpu_of(q)->sms;
    int64_t warps = LEVELS_AHEAD * R->k.slices / (deep > 0 ? deep : 1);
    if (warps > INT32_MAX) warps = INT32_MAX;
    R->k.warps = warps < 1 ? 1 : (int)warps;
    int64_t blocks = warps / WARPS;
    if (blocks < 1) blocks = 1;
    if (blocks > room) blocks = room;
    R->blocks = (int)blocks;
    R->about.block = R->k.block;
    R->about.lanes = R->k.lanes;
    R->about.warps = R->blocks * WARPS;
}

static tacit_status build(tacit_queue *q, const tacit_factor_panels *P,
                          const int32_t *place, tct_sliced *S, tct_rows *R)
{
    conveyor c = {.stream = NULL};
    TRY(tct_sliced_open(P, S));
    R->k.n = S->n;
    R->k.slices = S->slices;
    R->k.block = S->block;
    R->k.lanes = S->lanes;
    R->k.rows = S->rows;
    R->k.near = S->near;
    R->about.levels[0] = S->down.levels;
    R->about.levels[1] = S->up.levels;
    tacit_status status = open_conveyor(q, S, &c);
    if (status >= 0) status = store_all(&c, S, place, R);
    const tacit_status closed = close_conveyor(&c);
    TRY(status);
    TRY(closed);
    choose_blocks(q, R);
    if (R->blocks < 1)
        FAIL(TACIT_DEVICE, "the GPU holds no block of a triangular solve");
    return open_kernel(q, R);
}

tacit_status tct_rows_create(tacit_queue *q, const tacit_factor_panels *P,
                             const int32_t *place, tct_rows **out)
{
    tct_sliced S = {.n = 0};
    if (P->kind != TACIT_FACTOR_LLT && P->kind != TACIT_FACTOR_IC0)
        FAIL(TACIT_UNSUPPORTED,
             "solves by rows on a GPU are for factors L L': solve on the host");
    tct_rows *R = tct_calloc(sizeof *R);
    if (!R) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    const tacit_status status = build(q, P, place ? place : P->original, &S, R);
    tct_sliced_close(&S);
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
