/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/create.c - fields: made and freed, their blocks. */
#include "comm/world/world.h"
#include "stencil/device.h"
#include "stencil/tiling.h"
#include <stdio.h>

enum {
    WORTH = 1 << 15, /* steps of cells: some 10 us             */
    FLAT = 8,        /* steps of a visit that ghosts are for,  */
    SOLID = 4        /* ... at first, in 2D and 3D             */
};

/* --- the same on all ranks ------------------------------------------------ */

tacit_status tct_field_alike(tacit_world *w, const char *what, const void *mine,
                             size_t bytes)
{
    unsigned char first[TCT_ALIKE_MOST];
    tacit_status status = TACIT_OK;
    if (w->size == 1) return TACIT_OK;
    memcpy(first, mine, bytes);
    TRY(tct_bcast(w, 0, bytes, first));
    if (memcmp(first, mine, bytes) != 0)
        status = tacit_error_set(TACIT_INVALID,
                                 "%s differ on ranks 0 and %d: give all ranks "
                                 "the same",
                                 what, w->rank);
    return tct_agree(w, status);
}

/* Numbers that say which grid it is. */
static tacit_status agree_grid(tacit_world *w, const tct_grid_stencil *s)
{
    double all[18] = {(double)s->shape, (double)s->weights, s->single,
                      s->boundary,      s->centre,          s->neighbours};
    for (int d = 0; d < 3; d++) {
        all[6 + d] = (double)s->n[d];
        all[9 + d] = s->periodic[d];
        all[12 + d] = s->blocks[d];
    }
    return tct_field_alike(w, "descriptions of the grid", all, sizeof all);
}

/* --- blocks --------------------------------------------------------------- */

/* "2 x 3", along x, y and, in 3D, z. */
static const char *say_blocks(const tct_grid_stencil *s, const int count[3],
                              char text[48])
{
    if (s->about->dimensions == 2)
        snprintf(text, 48, "%d x %d", count[0], count[2]);
    else snprintf(text, 48, "%d x %d x %d", count[0], count[1], count[2]);
    return text;
}

static tacit_status check_blocks(const tct_grid_stencil *s, int ranks,
                                 const int count[3])
{
    char text[48];
    const int64_t all = (int64_t)count[0] * count[1] * count[2];
    say_blocks(s, count, text);
    if (all != ranks)
        FAIL(TACIT_INVALID,
             "blocks %s: they are %lld, and there are %d ranks: a rank has one",
             text, (long long)all, ranks);
    for (int d = 0; d < 3; d++)
        if (count[d] > s->n[d])
            FAIL(TACIT_INVALID,
                 "blocks %s: more than the %lld cells of that direction: take "
                 "fewer ranks, or other blocks",
                 text, (long long)s->n[d]);
    return TACIT_OK;
}

static tacit_status choose_block(tacit_field *f)
{
    int count[3];
    const tct_grid_stencil *s = &f->s;
    const tacit_world *w = f->queue->world;
    const int usual = s->about->dimensions == 2 ? FLAT : SOLID;
    memcpy(count, s->blocks, sizeof count);
    if (count[0] == 0) tct_block_divide(s, w->size, usual, count);
    TRY(check_blocks(s, w->size, count));
    tct_field_make_block(f, count, 1);
    const int most = tct_field_deepest(f);
    f->ghost = usual < most ? usual : most;
    tct_field_make_block(f, count, f->ghost);
    return TACIT_OK;
}

tacit_status tacit_field_block_of(const tacit_field *field,
                                  tacit_field_block *out)
{
    REQUIRE(field != NULL, out != NULL);
    const tct_grid_block *b = &field->block;
    tacit_field_block r = {.ranks = b->count[0] * b->count[1] * b->count[2]};
    TRY(tct_check_sized("tacit_field_block", out));
    for (int d = 0; d < 3; d++) {
        const int from = tct_stencil_direction(&field->s, d);
        r.blocks[d] = b->count[from];
        r.first[d] = b->first[from];
        r.n[d] = b->n[from];
    }
    tct_write_sized(&r, sizeof r, out);
    return TACIT_OK;
}

/* --- a field -------------------------------------------------------------- */

/* The other functions take half a field, too. */
static tacit_status build(tacit_field *f)
{
    TRY(choose_block(f));
    f->room = tct_tiling_room();
    f->worth = WORTH;
    f->small = INT64_MAX;
    f->rows = tct_host_rows_of(&f->s);
    f->stream = tct_host_stream_best();
    TRY(tct_agree(f->queue->world, tct_field_check_memory(f)));
    TRY(tct_field_open_halo(f));
    TRY(tct_field_allocate(f));
    return tct_field_open_device(f);
}

static tacit_status create(tacit_queue *queue, const tct_grid_stencil *s,
                           tacit_field **out)
{
    tacit_field *f = tct_calloc(sizeof *f);
    if (!f) FAIL(TACIT_NO_MEMORY, "no memory for a grid");
    f->queue = queue;
    f->s = *s;
    *out = f;
    return build(f);
}

tacit_status tacit_field_create(tacit_queue *queue,
                                const tacit_stencil *stencil, tacit_field **out)
{
    REQUIRE(queue != NULL, stencil != NULL, out != NULL);
    tct_grid_stencil s;
    tacit_field *f = NULL;
    TRY(tct_agree(queue->world, tct_stencil_read(stencil, &s)));
    TRY(agree_grid(queue->world, &s));
    const tacit_status status = tct_agree(queue->world, create(queue, &s, &f));
    if (status < 0) {
        tacit_field_destroy(&f);
        return status;
    }
    tct_field_clear(f);
    *out = f;
    return TACIT_OK;
}

void tacit_field_destroy(tacit_field **field)
{
    tacit_field *f = *field;
    if (!f) return;
    tct_field_drop_buffers(f);
    TCT_FREE(f->coefficient, f->outside, f);
    *field = NULL;
}
