/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/exchange.c - ghost cells, packed by neighbour. */
#include "stencil/exchange.h"
#include "comm/world/world.h"

enum { DIRECTIONS = 27, HERE = 13 };

typedef struct box {
    int64_t lo[3], extent[3];
} box;

struct tct_ghost_exchange {
    tacit_field *field;
    int64_t depth;
    int peer[DIRECTIONS]; /* -1: none */
    box send[DIRECTIONS], recv[DIRECTIONS];
    int64_t *bytes; /* [2][ranks]: to and from each */
    char *memory[2];
};

/* Of `number`, the step in direction d: -1, 0, 1. */
static int toward(int number, int d)
{
    static const int power[3] = {1, 3, 9};
    return number / power[d] % 3 - 1;
}

static int find_peer(const tct_ghost_exchange *e, int number)
{
    const tct_grid_block *b = &e->field->block;
    int rank = 0;
    for (int d = 2; d >= 0; d--) {
        int at = b->place[d] + toward(number, d);
        if (toward(number, d) != 0 && b->count[d] == 1) return -1;
        if ((at < 0 || at >= b->count[d]) && !e->field->s.periodic[d])
            return -1;
        at = (at + b->count[d]) % b->count[d];
        rank = rank * b->count[d] + at;
    }
    return number == HERE ? -1 : rank;
}

/* Where x closes, a row goes with its ghosts. */
static void find_boxes(tct_ghost_exchange *e, int number)
{
    const tct_grid_block *b = &e->field->block;
    box *send = &e->send[number], *recv = &e->recv[number];
    for (int d = 0; d < 3; d++) {
        const int way = toward(number, d);
        const int64_t more = d == 0 && b->closes[0] ? 1 : 0;
        send->extent[d] = recv->extent[d] = way ? e->depth : b->n[d] + 2 * more;
        send->lo[d] = way > 0 ? b->n[d] - e->depth : -more;
        recv->lo[d] = way > 0 ? b->n[d] : way < 0 ? -e->depth : -more;
    }
}

static int64_t bytes_of(const tct_ghost_exchange *e, const box *b)
{
    return b->extent[0] * b->extent[1] * b->extent[2] *
           (int64_t)e->field->s.bytes;
}

static void pack(const tct_ghost_exchange *e, const box *b, char **at, bool out)
{
    const tacit_field *f = e->field;
    const size_t bytes = (size_t)b->extent[0] * f->s.bytes;
    for (int64_t z = b->lo[2]; z < b->lo[2] + b->extent[2]; z++)
        for (int64_t y = b->lo[1]; y < b->lo[1] + b->extent[1]; y++) {
            char *row = tct_field_cell(f, f->now, z, y, b->lo[0]);
            memcpy(out ? *at : row, out ? row : *at, bytes);
            *at += bytes;
        }
}

/* Boxes by rank, in the order of the sender's directions. */
static void pack_all(const tct_ghost_exchange *e, char *at, bool out)
{
    const int size = e->field->queue->world->size;
    for (int rank = 0; rank < size; rank++)
        for (int k = 0; k < DIRECTIONS; k++) {
            const int number = out ? k : DIRECTIONS - 1 - k;
            if (e->peer[number] == rank)
                pack(e, out ? &e->send[number] : &e->recv[number], &at, out);
        }
}

static tacit_status build(tct_ghost_exchange *e)
{
    const int size = e->field->queue->world->size;
    int64_t all = 0;
    TRY(TCT_ALLOC(2 * size, "ghosts of a grid", &e->bytes));
    memset(e->bytes, 0, 2 * (size_t)size * sizeof *e->bytes);
    for (int k = 0; k < DIRECTIONS; k++) {
        e->peer[k] = find_peer(e, k);
        find_boxes(e, k);
        if (e->peer[k] < 0) continue;
        e->bytes[e->peer[k]] += bytes_of(e, &e->send[k]);
        e->bytes[size + e->peer[k]] += bytes_of(e, &e->recv[k]);
        all += bytes_of(e, &e->send[k]);
    }
    TRY(TCT_ALLOC(all + 1, "ghosts of a grid", &e->memory[0]));
    return TCT_ALLOC(all + 1, "ghosts of a grid", &e->memory[1]);
}

tacit_status tct_ghost_exchange_create(tacit_field *f, int64_t depth,
                                       tct_ghost_exchange **out)
{
    *out = NULL;
    if (!tct_block_is_divided(&f->block)) return TACIT_OK;
    tct_ghost_exchange *e = tct_calloc(sizeof *e);
    tacit_status status = TACIT_NO_MEMORY;
    if (!e) tacit_error_set(status, "no memory for ghosts of a grid");
    else {
        e->field = f;
        e->depth = depth;
        status = build(e);
    }
    status = tct_agree(f->queue->world, status);
    if (status < 0) tct_ghost_exchange_destroy(&e);
    else *out = e;
    return status;
}

void tct_ghost_exchange_destroy(tct_ghost_exchange **exchange)
{
    tct_ghost_exchange *e = *exchange;
    if (!e) return;
    TCT_FREE(e->memory[1], e->memory[0], e->bytes, e);
    *exchange = NULL;
}

void tct_ghost_exchange_run(tct_ghost_exchange *e)
{
    if (!e) return;
    tacit_queue *q = e->field->queue;
    const int64_t *bytes = e->bytes;
    pack_all(e, e->memory[0], true);
    if (tct_alltoallv(q->world, bytes, e->memory[0], bytes + q->world->size,
                      e->memory[1]) < 0)
        q_fail(q, TACIT_COMM, "%s", tacit_error_message());
    else pack_all(e, e->memory[1], false);
}

double tct_ghost_exchange_bytes(const tct_ghost_exchange *e)
{
    double bytes = 0.0;
    for (int k = 0; e && k < e->field->queue->world->size; k++)
        bytes += (double)e->bytes[k];
    return bytes;
}
