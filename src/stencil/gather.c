/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/gather.c - rows of the grid on rank 0, and values of rank 0 on all. */
#include "stencil/gather.h"
#include "comm/world/world.h"

/* --- rows ----------------------------------------------------------------- */

struct tct_row_gather {
    const tacit_field *field;
    char *mine;     /* cells of this rank                       */
    char *all;      /* of rank 0: those of all ranks, by rank   */
    char *rows;     /* ... and in their places                  */
    int64_t *bytes; /* [2][ranks]: to and from each             */
};

/* A function for a row's cells of a block: `bytes` from `at` on in the
 * row. */
typedef void row_fn(char **packed, char *row, const tacit_field *f,
                    int64_t block_row, size_t at, size_t bytes);

static void count_cells(char **packed, char *row, const tacit_field *f,
                        int64_t block_row, size_t at, size_t bytes)
{
    (void)row, (void)f, (void)block_row, (void)at;
    *packed += bytes;
}

static void pack_cells(char **packed, char *row, const tacit_field *f,
                       int64_t block_row, size_t at, size_t bytes)
{
    (void)row, (void)at;
    memcpy(*packed, tct_field_row(f, f->now, block_row), bytes);
    *packed += bytes;
}

static void place_cells(char **packed, char *row, const tacit_field *f,
                        int64_t block_row, size_t at, size_t bytes)
{
    (void)f, (void)block_row;
    memcpy(row + at, *packed, bytes);
    *packed += bytes;
}

/* Of rows [first, first + count) those that block `b` has cells of. Returns
 * where `packed` ends. */
static char *each_row(const tacit_field *f, const tct_grid_block *b,
                      int64_t first, int64_t count, char *packed, char *rows,
                      row_fn *fn)
{
    const size_t each = f->s.bytes, pitch = (size_t)b->grid[0] * each;
    for (int64_t k = 0; k < count; k++) {
        const int64_t y = (first + k) % b->grid[1] - b->first[1];
        const int64_t z = (first + k) / b->grid[1] - b->first[2];
        if (y < 0 || y >= b->n[1] || z < 0 || z >= b->n[2]) continue;
        fn(&packed, rows ? rows + (size_t)k * pitch : NULL, f, z * b->n[1] + y,
           (size_t)b->first[0] * each, (size_t)b->n[0] * each);
    }
    return packed;
}

static tacit_status build(tct_row_gather *g, int64_t most)
{
    const tacit_field *f = g->field;
    const tacit_world *w = f->queue->world;
    const size_t bytes = (size_t)(most * f->s.n[0]) * f->s.bytes;
    TRY(TCT_ALLOC(2 * w->size, "a piece of a file", &g->bytes));
    TRY(TCT_ALLOC(bytes, "a piece of a file", &g->mine));
    if (w->rank > 0) return TACIT_OK;
    TRY(TCT_ALLOC(bytes, "a piece of a file", &g->all));
    return TCT_ALLOC(bytes, "a piece of a file", &g->rows);
}

tacit_status tct_row_gather_create(const tacit_field *f, int64_t most,
                                   tct_row_gather **out)
{
    tct_row_gather *g = tct_calloc(sizeof *g);
    tacit_status status = TACIT_NO_MEMORY;
    if (!g) tacit_error_set(status, "no memory for a piece of a file");
    else {
        g->field = f;
        status = build(g, most);
    }
    status = tct_agree(f->queue->world, status);
    if (status < 0) tct_row_gather_destroy(&g);
    else *out = g;
    return status;
}

void tct_row_gather_destroy(tct_row_gather **gather)
{
    tct_row_gather *g = *gather;
    if (!g) return;
    TCT_FREE(g->rows, g->all, g->mine, g->bytes, g);
    *gather = NULL;
}

/* Go over the blocks of all ranks, on rank 0: count what they send, or put it
 * in its place. */
static void each_block(tct_row_gather *g, int64_t first, int64_t count,
                       bool places)
{
    const tacit_field *f = g->field;
    const int size = f->queue->world->size;
    char *packed = g->all;
    for (int rank = 0; rank < size; rank++) {
        tct_grid_block b;
        tct_block_make(&f->s, f->block.count, rank, 0, &b);
        char *end = each_row(f, &b, first, count, packed, g->rows,
                             places ? place_cells : count_cells);
        g->bytes[size + rank] = end - packed;
        packed = end;
    }
}

tacit_status tct_row_gather_next(tct_row_gather *g, int64_t first,
                                 int64_t count, const char **rows)
{
    const tacit_field *f = g->field;
    tacit_world *w = f->queue->world;
    const char *end =
        each_row(f, &f->block, first, count, g->mine, NULL, pack_cells);
    *rows = w->size == 1 ? g->mine : g->rows;
    if (w->size == 1) return TACIT_OK;
    memset(g->bytes, 0, 2 * (size_t)w->size * sizeof *g->bytes);
    g->bytes[0] = end - g->mine;
    if (w->rank == 0) each_block(g, first, count, false);
    TRY(tct_alltoallv(w, g->bytes, g->mine, g->bytes + w->size, g->all));
    if (w->rank == 0) each_block(g, first, count, true);
    return TACIT_OK;
}

/* --- values --------------------------------------------------------------- */

typedef struct reading {
    tacit_world *world;
    tct_values_take *take;
    void *ctx;
    double *values;      /* [TCT_VALUES_BATCH], of ranks but 0 */
    tacit_status status; /* of a message                       */
} reading;

typedef struct piece {
    int64_t first, count; /* count < 0: the end */
} piece;

/* Rank 0 goes on when its own `take` fails: others learn it at the end. */
static tacit_status send_values(void *ctx, int64_t first, int64_t count,
                                const double *values)
{
    reading *s = ctx;
    piece p = {first, count};
    TRY(s->status = tct_bcast(s->world, 0, sizeof p, &p));
    memcpy(s->values, values, (size_t)count * sizeof *values);
    TRY(s->status =
            tct_bcast(s->world, 0, (size_t)count * sizeof *values, s->values));
    return s->take(s->ctx, first, count, values);
}

static tacit_status take_values(reading *s)
{
    tacit_status status = TACIT_OK;
    for (;;) {
        piece p = {0, 0};
        TRY(s->status = tct_bcast(s->world, 0, sizeof p, &p));
        if (p.count < 0) return status;
        TRY(s->status = tct_bcast(
                s->world, 0, (size_t)p.count * sizeof *s->values, s->values));
        if (status >= 0) status = s->take(s->ctx, p.first, p.count, s->values);
    }
}

static tacit_status read_values(reading *s, const char *path,
                                const tct_values_want *want)
{
    const tacit_status status = tct_values_read(path, want, send_values, s);
    piece end = {0, -1};
    if (s->status >= 0) s->status = tct_bcast(s->world, 0, sizeof end, &end);
    return status < 0 ? status : s->status;
}

tacit_status tct_values_bcast(tacit_world *w, const char *path,
                              const tct_values_want *want,
                              tct_values_take *take, void *ctx)
{
    reading s = {.world = w, .take = take, .ctx = ctx};
    if (w->size == 1) return tct_values_read(path, want, take, ctx);
    TRY(tct_agree_name(w, "the file to read", path));
    tacit_status status =
        TCT_ALLOC(TCT_VALUES_BATCH, "a piece of a file", &s.values);
    status = tct_agree(w, status);
    if (status >= 0)
        status = w->rank == 0 ? read_values(&s, path, want) : take_values(&s);
    tct_free(s.values);
    return tct_agree(w, status);
}
