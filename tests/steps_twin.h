/* SPDX-License-Identifier: BSD-3-Clause
 * tests/steps_twin.h - the steps of a GPU, as a table of functions, on the host:
 * what the kernels read, write, put and signal, by the rows of the host. What
 * drives the kernels is so tested without a GPU. */
#ifndef TESTS_STEPS_TWIN_H
#define TESTS_STEPS_TWIN_H
#include "grid_ranks.h"
#include "halo/halo.h"
#include "operator/stencil/device_steps.h"
#include "operator/stencil/host_rows.h"
#include "stencil/device.h"
#include <sched.h>

typedef struct steps_twin {
    tacit_field *field;
    tct_field_device device;
    char *memory; /* the host's buffer */
    int steps, visits, lanes;
    bool aside; /* in the second lane */
} steps_twin;
static _Thread_local steps_twin twin_of_steps;

/* --- a row ---------------------------------------------------------------- */

/* Cells of all that a visit may read, each level in a buffer of its own. */
typedef struct twin_cube {
    int64_t lo[3], extent[3];
    size_t bytes;
    char *at;
} twin_cube;

static inline char *cube_at(const twin_cube *c, int64_t z, int64_t y, int64_t x)
{
    const int64_t row = (z - c->lo[2]) * c->extent[1] + y - c->lo[1];
    return c->at + (size_t)(row * c->extent[0] + x - c->lo[0]) * c->bytes;
}

static inline bool is_there(const tct_step_work *w, int d, int64_t i)
{
    return w->closes[d] || (i >= w->low[d] && i < w->high[d]);
}

static inline int64_t place_of(const tct_step_work *w, int d, int64_t i)
{
    return w->closes[d] ? ((i % w->n[d]) + w->n[d]) % w->n[d] : i;
}

static inline void set_outside(const tct_step_work *w, char *cell)
{
    const float single = (float)w->boundary;
    memcpy(cell, w->single ? (const void *)&single : &w->boundary,
           w->single ? sizeof single : sizeof w->boundary);
}

static inline void load_cube(const tct_step_work *w, twin_cube *c)
{
    for (int64_t z = c->lo[2]; z < c->lo[2] + c->extent[2]; z++)
        for (int64_t y = c->lo[1]; y < c->lo[1] + c->extent[1]; y++)
            for (int64_t x = c->lo[0]; x < c->lo[0] + c->extent[0]; x++) {
                char *to = cube_at(c, z, y, x);
                set_outside(w, to);
                if (!is_there(w, 0, x) || !is_there(w, 1, y) ||
                    !is_there(w, 2, z))
                    continue;
                const int64_t at = place_of(w, 2, z) * w->plane +
                                   place_of(w, 1, y) * w->pitch +
                                   place_of(w, 0, x);
                memcpy(to, (const char *)w->in + at * (int64_t)c->bytes,
                       c->bytes);
            }
}

/* Row (y, z) of cells [from, to) of the next level. */
static inline void step_row(const tct_step_work *w, const twin_cube *c,
                            char *out, int64_t z, int64_t y, int64_t from,
                            int64_t to)
{
    const tacit_field *f = twin_of_steps.field;
    const bool flat = f->s.about->dimensions == 2;
    const int64_t cell = (z * w->n[1] + y) * w->n[0] + from;
    tct_row_inputs r = {
        .centre = w->centre, .neighbours = w->neighbours, .stride = w->cells};
    if (w->coefficient)
        r.coefficient = (const char *)w->coefficient + cell * (int64_t)c->bytes;
    for (int k = 0; k < (flat ? 3 : TCT_STENCIL_ROWS); k++)
        r.in[k] = flat ? cube_at(c, z + k - 1, y, from)
                       : cube_at(c, z + k / 3 - 1, y + k % 3 - 1, from);
    f->rows->step[w->shape][w->weights](&r, out, 0, 1, to - from);
}

static inline twin_cube make_cube(const tct_step_work *w, int grow)
{
    twin_cube c = {.bytes = w->single ? 4 : 8};
    int64_t cells = 1;
    for (int d = 0; d < 3; d++) {
        c.lo[d] = -grow;
        c.extent[d] = w->n[d] + 2 * grow;
        cells *= c.extent[d];
    }
    c.at = (char *)calloc((size_t)cells, c.bytes);
    assert_non_null(c.at);
    return c;
}

/* A level more, of all cells that it can have. */
static inline void raise_level(const tct_step_work *w, twin_cube *c, int grow)
{
    const bool flat = twin_of_steps.field->s.about->dimensions == 2;
    const int more = flat ? 0 : grow;
    twin_cube next = make_cube(w, (int)-c->lo[0]);
    memcpy(next.at, c->at,
           (size_t)(c->extent[0] * c->extent[1] * c->extent[2]) * c->bytes);
    for (int64_t z = -grow; z < w->n[2] + grow; z++)
        for (int64_t y = -more; y < w->n[1] + more; y++) {
            step_row(w, c, cube_at(&next, z, y, -grow), z, y, -grow,
                     w->n[0] + grow);
            for (int64_t x = -grow; x < w->n[0] + grow; x++)
                if (!is_there(w, 0, x) || !is_there(w, 1, y) ||
                    !is_there(w, 2, z))
                    set_outside(w, cube_at(&next, z, y, x));
        }
    free(c->at);
    *c = next;
}

static inline void store_cell(const tct_step_work *w, char *row, int64_t x,
                              const char *value, int64_t bytes)
{
    memcpy(row + x * bytes, value, (size_t)bytes);
    if (!w->closes[0]) return;
    if (x == 0) memcpy(row + w->n[0] * bytes, value, (size_t)bytes);
    if (x == w->n[0] - 1) memcpy(row - bytes, value, (size_t)bytes);
}

static inline void put_cells(const tct_step_work *w, const tct_step_halo *h,
                             int64_t z, int64_t y, int64_t x, const char *value,
                             int64_t bytes)
{
    const int64_t at[] = {x + h->x, y, z};
    for (int k = 0; k < h->count; k++) {
        const tct_halo_put *p = &h->put[k];
        bool sent = true;
        for (int d = 0; d < 3; d++)
            sent = sent && at[d] >= p->send[d] &&
                   at[d] < p->send[d] + p->extent[d];
        if (sent)
            store_cell(
                w, p->at[h->slot] + z * p->plane + y * p->pitch + h->x * bytes,
                x, value, bytes);
    }
}

/* Cells [lo, hi) of `depth` steps, to the buffer and to neighbours. */
static inline void twin_cells(const tct_step_work *w, const int *lo,
                              const int *hi, int depth, const tct_step_halo *h)
{
    twin_cube c = make_cube(w, depth + 1);
    load_cube(w, &c);
    for (int l = 0; l < depth; l++) raise_level(w, &c, depth - 1 - l);
    for (int64_t z = lo[2]; z < hi[2]; z++)
        for (int64_t y = lo[1]; y < hi[1]; y++)
            for (int64_t x = lo[0]; x < hi[0]; x++) {
                const int64_t bytes = (int64_t)c.bytes;
                char *row =
                    (char *)w->out + (z * w->plane + y * w->pitch) * bytes;
                const char *value =
                    h && h->idle ? row + x * bytes : cube_at(&c, z, y, x);
                store_cell(w, row, x, value, bytes);
                if (h) put_cells(w, h, z, y, x, value, bytes);
            }
    free(c.at);
}

/* --- the table ------------------------------------------------------------ */

static inline void twin_fill(tacit_queue *q, void *cells, int64_t count,
                             bool single, double value)
{
    (void)q;
    (void)single;
    tct_field_set(&twin_of_steps.field->s, cells, count, value);
}

static inline void twin_step(tacit_queue *q, const tct_step_work *w)
{
    const int none[3] = {0, 0, 0};
    (void)q;
    twin_cells(w, none, w->n, 1, NULL);
}

static inline void twin_visit(tacit_queue *q, const tct_step_work *w, int depth)
{
    const int none[3] = {0, 0, 0};
    (void)q;
    twin_of_steps.visits++;
    twin_cells(w, none, w->n, depth, NULL);
}

static inline void twin_await(tacit_queue *q, const tct_step_halo *h)
{
    const uint64_t last = tct_halo_number(twin_of_steps.field->halo);
    (void)q;
    for (int k = 0; k < h->count; k++)
        while (h->put[k].own && tct_signal_value(h->put[k].own) < last)
            sched_yield();
}

/* As the kernel: edges wait, put and tell, then come the inner cells. */
static inline void twin_boxes(tacit_queue *q, const tct_step_work *w,
                              const tct_step_boxes *b)
{
    const tct_step_halo *h = &b->halo;
    const uint64_t last = tct_halo_number(twin_of_steps.field->halo);
    twin_of_steps.steps++;
    if (h->waits) twin_await(q, h);
    for (int k = 0; k < b->boxes; k++) {
        const bool puts = k < b->edges && h->puts;
        twin_cells(w, b->box[k].lo, b->box[k].hi, 1, puts ? h : NULL);
        if (k != b->edges - 1 || !h->tells) continue;
        for (int i = 0; i < h->count; i++)
            if (h->put[i].other) tct_signal_send(h->put[i].other, last + 1);
    }
}

static inline const int *twin_depths(const tct_grid_stencil *s,
                                     const char **reason)
{
    static const int flat[] = {8, 4, 0}, solid[] = {4, 0};
    if (s->weights == TACIT_WEIGHTS_CELLS) *reason = "they are by cell";
    return s->weights == TACIT_WEIGHTS_CELLS ? NULL
           : s->about->dimensions == 2       ? flat
                                             : solid;
}

static inline void twin_change(tacit_queue *q, const tct_step_work *w,
                               int64_t block, double *changes)
{
    const tacit_field *f = twin_of_steps.field;
    const int64_t bytes = w->single ? 4 : 8;
    (void)q;
    for (int64_t z = 0; z < w->n[2]; z++)
        for (int64_t y = 0; y < w->n[1]; y++)
            for (int64_t x = 0; x < w->n[0]; x += block) {
                const int64_t at = (z * w->plane + y * w->pitch + x) * bytes;
                const int64_t left = w->n[0] - x;
                *changes++ = f->rows->change((char *)w->out + at,
                                             (const char *)w->in + at,
                                             left < block ? left : block);
            }
}

static inline void twin_copy(tacit_queue *q, void *to, const void *from,
                             size_t bytes)
{
    (void)q;
    if (to != from) memcpy(to, from, bytes);
}

static inline tacit_status twin_lane_open(tacit_queue *q, tct_step_lane **out)
{
    (void)q;
    *out = (tct_step_lane *)(void *)&twin_of_steps;
    return TACIT_OK;
}
static inline void twin_lane_close(tct_step_lane *l)
{
    (void)l;
}
static inline void twin_lane_go(tacit_queue *q, tct_step_lane *l)
{
    (void)q;
    (void)l;
}
static inline void twin_lane_enter(tacit_queue *q, tct_step_lane *l)
{
    twin_lane_go(q, l);
    assert_false(twin_of_steps.aside);
    twin_of_steps.aside = true;
    twin_of_steps.lanes++;
}
static inline void twin_lane_leave(tacit_queue *q, tct_step_lane *l)
{
    twin_lane_go(q, l);
    assert_true(twin_of_steps.aside);
    twin_of_steps.aside = false;
}

static const tct_device_steps twin_steps = {.fill = twin_fill,
                                            .step = twin_step,
                                            .boxes = twin_boxes,
                                            .await = twin_await,
                                            .visit = twin_visit,
                                            .depths = twin_depths,
                                            .change = twin_change,
                                            .put = twin_copy,
                                            .get = twin_copy,
                                            .lane_open = twin_lane_open,
                                            .lane_close = twin_lane_close,
                                            .lane_fork = twin_lane_go,
                                            .lane_mark = twin_lane_go,
                                            .lane_join = twin_lane_go,
                                            .lane_enter = twin_lane_enter,
                                            .lane_leave = twin_lane_leave};

/* --- a field -------------------------------------------------------------- */

/* Let the buffers of `f`, new and on the host, be those of a device; `f` is as
 * wide as its ways need. */
static inline void open_steps_twin(tacit_field *f)
{
    steps_twin *t = &twin_of_steps;
    const size_t bytes = (size_t)f->block.stored * f->s.bytes;
    *t = (steps_twin){.field = f};
    t->device = (tct_field_device){.steps = &twin_steps,
                                   .buffer = {f->buffer[0], f->buffer[1]},
                                   .outside = f->outside,
                                   .coefficient = f->coefficient,
                                   .host_is_newer = true};
    t->memory = (char *)malloc(bytes);
    assert_non_null(t->memory);
    memcpy(t->memory, f->buffer[0], bytes);
    f->now = 0;
    f->buffer[0] = t->memory;
    f->device = &t->device;
}

static inline void close_steps_twin(tacit_field *f)
{
    steps_twin *t = &twin_of_steps;
    f->buffer[0] = t->device.buffer[0];
    f->device = NULL;
    free(t->memory);
    if (t->device.changes) f->queue->device->free(f->queue, t->device.changes);
}

#endif
