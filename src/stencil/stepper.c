/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/stepper.c - steps of a block that has neighbours: the ways. */
#include "stencil/stepper.h"
#include "comm/world/world.h"
#include "stencil/device.h"

enum { LINE = 32 }; /* cells: edges in x begin and end at multiples */

static int slot_of(const tct_stepper *s)
{
    return *tct_field_now(s->field);
}

static void turn(const tct_stepper *s)
{
    *tct_field_now(s->field) ^= 1;
}

/* --- the lanes ------------------------------------------------------------ */

static bool has_lanes(const tct_stepper *s)
{
    return s->way->overlaps && s->ops->enter;
}

static void enter(tct_stepper *s)
{
    if (has_lanes(s)) s->ops->enter(s);
}

/* The first lane waits for the second one as it is now. */
static void mark(tct_stepper *s)
{
    if (has_lanes(s)) s->ops->mark(s);
}

static void leave(tct_stepper *s)
{
    if (has_lanes(s)) s->ops->leave(s);
}

static void join(tct_stepper *s)
{
    if (has_lanes(s)) s->ops->join(s);
}

/* --- exchanges ------------------------------------------------------------ */

/* Cell (0, 0, 0) of the halo in a buffer. */
static char *cell_of(const tct_stepper *s, int slot)
{
    const tacit_field *f = s->field;
    char *const *buffer = f->device ? f->device->buffer : f->buffer;
    const int64_t at = f->block.origin - f->halo_x;
    return buffer[slot] + (size_t)at * f->s.bytes;
}

static void start(tct_stepper *s, int slot)
{
    if (!tct_field_communicates(s->field)) return;
    if (s->ghosts.packed) tacit_halo_begin(s->ghosts.packed, cell_of(s, slot));
    else tct_halo_start(s->field->halo, slot, s->means);
    s->pending = TCT_EXCHANGE;
}

static void end(tct_stepper *s)
{
    if (s->ghosts.packed) tacit_halo_end(s->ghosts.packed);
    else tct_halo_finish(s->field->halo);
}

static void await_pending(tct_stepper *s)
{
    if (s->pending == TCT_EXCHANGE) end(s);
    if (s->pending == TCT_EDGES) s->ops->await(s);
    s->pending = TCT_NOTHING;
}

/* The lane that has started an exchange waits for it. */
void tct_stepper_settle(tct_stepper *s)
{
    if (s->pending == TCT_NOTHING) return;
    enter(s);
    await_pending(s);
    mark(s);
    leave(s);
    join(s);
}

static void split_block(tct_stepper *s)
{
    const tct_grid_block *b = &s->field->block;
    int64_t low[3], high[3];
    for (int d = 0; d < 3; d++) {
        low[d] = b->low[d] < 0 ? s->deepest : 0;
        high[d] = b->high[d] > b->n[d] ? s->deepest : 0;
    }
    tct_split_block(b->n, low, high, LINE, &s->split);
}

/* The ghosts that a visit reads are the innermost ones. */
static void narrow(const tct_stepper *s, tct_halo_put *p)
{
    for (int d = 0, power = 1; d < 3; d++, power *= 3) {
        const int to = p->direction / power % 3 - 1;
        if (to == 0 || p->extent[d] <= s->deepest) continue;
        if (to > 0) p->send[d] += p->extent[d] - s->deepest;
        p->extent[d] = s->deepest;
    }
}

/* Buffers may have changed since the stepper was opened. */
static void find_puts(tct_stepper *s)
{
    const tct_halo_puts *all = tct_halo_puts_of(s->field->halo);
    s->puts = all ? all->count : 0;
    for (int k = 0; k < s->puts; k++) {
        s->put[k] = all->put[k];
        narrow(s, &s->put[k]);
    }
    if (s->ops->renew) s->ops->renew(s);
}

void tct_stepper_enter(tct_stepper *s)
{
    if (s->entered) return;
    split_block(s);
    find_puts(s);
    tct_field_narrow(s->field, s->deepest);
    start(s, slot_of(s));
    await_pending(s);
    s->entered = true;
}

/* The CPUs of all ranks wait for the device and for each other; they learn of
 * each other's failures. */
static void await_cpus(tct_stepper *s)
{
    tacit_queue *q = s->field->queue;
    if (!tct_field_communicates(s->field)) return;
    const tacit_status status = tct_agree(q->world, q_own_status(q));
    if (status < 0 && q->failed == TACIT_OK)
        q_fail(q, status, "%s", tacit_error_message());
}

/* --- visits --------------------------------------------------------------- */

void tct_stepper_step(tct_stepper *s, int depth)
{
    if (tct_field_computes(s->field)) s->ops->whole(s, depth, NULL);
    turn(s);
    start(s, slot_of(s));
}

/* Edges, and the exchange of their cells, beside the inner cells. */
static void step_beside(tct_stepper *s, int depth)
{
    const bool computes = tct_field_computes(s->field);
    enter(s);
    await_pending(s);
    if (computes) s->ops->edges(s, depth);
    mark(s);
    start(s, slot_of(s) ^ 1);
    leave(s);
    if (computes) s->ops->inner(s, depth);
    join(s);
    turn(s);
}

static void copy_visit(tct_stepper *s, int depth)
{
    tct_stepper_step(s, depth);
    tct_stepper_settle(s);
    await_cpus(s);
}

static void overlap_visit(tct_stepper *s, int depth)
{
    step_beside(s, depth);
    tct_stepper_settle(s);
    await_cpus(s);
}

/* All cells, then one kernel that puts those of the edges and waits for the
 * neighbours'. */
static void whole_visit(tct_stepper *s, int depth)
{
    if (tct_field_computes(s->field)) s->ops->whole(s, depth, NULL);
    turn(s);
    if (tct_field_communicates(s->field))
        tct_halo_swap(s->field->halo, slot_of(s), s->means);
}

static void link_visit(tct_stepper *s, int depth)
{
    tct_stepper_step(s, depth);
    tct_stepper_settle(s);
}

/* No counter is needed: the CPUs have waited between this step and the last. */
static void p2p_visit(tct_stepper *s, int depth)
{
    (void)depth;
    s->ops->step(s, tct_field_communicates(s->field) ? TCT_EDGES_PUT : 0);
    turn(s);
    await_cpus(s);
}

static void put_step(tct_stepper *s, int edges_do)
{
    const bool puts = tct_field_communicates(s->field);
    if (puts) tct_halo_ready(s->field->halo, slot_of(s) ^ 1);
    s->ops->step(s, puts ? edges_do | TCT_EDGES_PUT | TCT_EDGES_TELL : 0);
    turn(s);
    if (puts) s->pending = TCT_EDGES;
}

static void shmem_visit(tct_stepper *s, int depth)
{
    (void)depth;
    put_step(s, 0);
    await_pending(s);
}

static void shmem1_visit(tct_stepper *s, int depth)
{
    (void)depth;
    put_step(s, TCT_EDGES_WAIT);
}

/* The largest depth of the device that is at most `left`. */
static int next_depth(const tct_stepper *s, int left)
{
    for (const int *k = s->depths; k && *k > 0; k++)
        if (*k <= left) return *k;
    return 1;
}

/* Its exchange is of any means: it keeps the order of exchanges. */
static void measured_step(tct_stepper *s, double *changes)
{
    tct_stepper_settle(s);
    s->ops->whole(s, 1, changes);
    turn(s);
    start(s, slot_of(s));
    await_pending(s);
}

void tct_stepper_visit(void *stepper, int depth, double *changes)
{
    tct_stepper *s = stepper;
    tct_stepper_enter(s);
    for (int left = changes ? depth - 1 : depth; left > 0;) {
        const int now = next_depth(s, left);
        s->way->visit(s, now);
        left -= now;
    }
    if (changes) measured_step(s, changes);
    if (s->field->device) s->field->device->host_is_older = true;
}

void tct_stepper_finish(void *stepper)
{
    tct_stepper *s = stepper;
    tacit_queue *q = s->field->queue;
    tct_stepper_settle(s);
    q->device->sync(q);
    s->entered = false;
}

/* --- open and close ------------------------------------------------------- */

static tacit_status check_link(const tacit_field *f, const tct_stepper_way *way)
{
    const char *link = f->queue->link->name;
    if (!f->halo)
        FAIL(TACIT_UNSUPPORTED,
             "way %s is for grids that are divided among ranks: take way copy "
             "or tiles",
             way->name);
    const char *why = tct_field_why_packed(f);
    if (way->link && strcmp(way->link, link) != 0)
        FAIL(TACIT_UNSUPPORTED,
             "way %s: messages go by link %s here: take link %s, or another "
             "way",
             way->name, link, way->link);
    if (way->in_place && why)
        FAIL(TACIT_UNSUPPORTED,
             "way %s stores into the neighbours' memory: %s: take link %s, "
             "or another way",
             way->name, why, f->device ? "peer" : "shm");
    return TACIT_OK;
}

static tacit_status open_here(tct_stepper *s)
{
    TRY(check_link(s->field, s->way));
    return s->ops->open(s);
}

tacit_status tct_stepper_open(tacit_field *f, const tct_stepper_way *way,
                              int depth, const int *depths, void **out)
{
    tct_stepper *s = tct_calloc(sizeof *s);
    tacit_status status =
        s ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for steps of a grid");
    if (status >= 0) {
        *s = (tct_stepper){.field = f,
                           .ops = f->device ? &tct_device_stepper
                                            : &tct_host_stepper,
                           .way = way,
                           .depths = depths,
                           .deepest = depth,
                           .means = way->means};
        status = open_here(s);
    }
    status = tct_agree(f->queue->world, status);
    if (status >= 0) status = tct_field_ghosts_open(f, s->deepest, &s->ghosts);
    if (status >= 0) *out = s;
    else tct_stepper_close(s);
    return status;
}

void tct_stepper_close(void *stepper)
{
    tct_stepper *s = stepper;
    if (!s) return;
    tct_field_ghosts_close(&s->ghosts);
    s->ops->close(s);
    tct_free(s);
}

/* --- the ways ------------------------------------------------------------- */

const tct_stepper_way tct_step_copy = {
    .name = "copy", .means = TCT_HALO_COPIES, .visit = copy_visit};
const tct_stepper_way tct_step_overlap = {.name = "overlap",
                                          .means = TCT_HALO_COPIES,
                                          .overlaps = true,
                                          .visit = overlap_visit};
const tct_stepper_way tct_step_p2p = {.name = "p2p",
                                      .in_place = true,
                                      .means = TCT_HALO_STORES,
                                      .visit = p2p_visit};
const tct_stepper_way tct_step_shmem = {.name = "shmem",
                                        .in_place = true,
                                        .means = TCT_HALO_STORES,
                                        .visit = shmem_visit};
const tct_stepper_way tct_step_shmem1 = {.name = "shmem1",
                                         .in_place = true,
                                         .means = TCT_HALO_STORES,
                                         .visit = shmem1_visit};
const tct_stepper_way tct_step_mpi = {.name = "mpi",
                                      .link = "mpi",
                                      .means = TCT_HALO_PACKED,
                                      .visit = link_visit};
const tct_stepper_way tct_step_nccl = {.name = "nccl",
                                       .link = "nccl",
                                       .means = TCT_HALO_PACKED,
                                       .visit = link_visit};
const tct_stepper_way tct_step_tiles = {.name = "tiles",
                                        .means = TCT_HALO_STORES,
                                        .overlaps = true,
                                        .visit = step_beside};
const tct_stepper_way tct_step_tiles_whole = {.name = "tiles",
                                              .in_place = true,
                                              .means = TCT_HALO_STORES,
                                              .visit = whole_visit};

void tct_stepper_describe(const void *stepper, tacit_field_result *out)
{
    const tct_stepper *s = stepper;
    const tacit_field *f = s->field;
    out->threads = f->device ? 1 : f->queue->threads;
    out->moved_bytes = tct_field_touched(f) / s->deepest;
    out->halo_bytes = tct_field_sent_bytes(f, s->deepest);
    out->boundary_tiles = s->way == &tct_step_tiles_whole ? -1 : 0;
}
