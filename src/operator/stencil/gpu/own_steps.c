/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_steps.c - kernels that stay: how many blocks, and
 * their launches. All blocks are resident at once, or nothing starts. */
#include "operator/stencil/own_steps.h"
#include "device/gpu/fork.h"
#include "device/gpu/persistent_grid.h"
#include "operator/stencil/gpu/own_job.h"
#include "operator/stencil/gpu/own_kept.h"
#include "operator/stencil/gpu/side_lane.h"

typedef struct own_steps {
    tacit_queue *queue;
    tct_own_kind kind;
    int reach, more, threads, of_layer;
    bool solid;            /* rows are kept, of three dimensions */
    tct_numbered *cell[2]; /* of tiles in shared memory, or NULL */
    size_t shared;         /* dynamic, of a block */
    const void *code;
    tct_own_tiles tiles; /* its arrays are the host's */
    tct_box *box;        /* the GPU's                 */
    int *first, *others;
    uint64_t *flag, visited;
    uint64_t *gone;
    gpu_stream apart; /* of boundary layers, free2 */
    tct_fork fork;
    tct_own_sides sides; /* the host's; puts of the last run */
    tct_halo_put *given; /* ... as the halo had them, [sides.count] */
    struct {
        tct_halo_put *put;
        int *first, *sides, *parts;
        unsigned *ticket;
    } gpu; /* the same there */
} own_steps;

static const tct_own_kernels *kernels_of(const tct_step_work *w)
{
    return w->single ? &tct_own_kernels_float : &tct_own_kernels_double;
}

/* --- what fits ------------------------------------------------------------ */

/* Rows of a warp, of a tile with so many and its ghosts. */
static int rows_of(int64_t tile, int reach)
{
    return (int)((tile + 2 * reach - 1) / TCT_CACHED_WARPS + 1);
}

static size_t row_bytes(const tct_own_kernels *k, const tct_step_work *w)
{
    return (size_t)TCT_CACHED_WARPS * (size_t)k->width * (w->single ? 4 : 8);
}

/* Rows of a warp that there is shared memory for, beside the kernel's own. */
static int more_most(const tacit_queue *q, const tct_step_work *w)
{
    enum { WORDS = 1024 };
    const tct_own_kernels *k = kernels_of(w);
    const size_t all = tct_gpu_of(q)->shared_bytes;
    const size_t used = k->block + WORDS;
    return all > used ? (int)((all - used) / row_bytes(k, w)) : 0;
}

static tacit_status check_cached(const tct_step_work *w)
{
    if (w->weights == TACIT_WEIGHTS_CELLS)
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' is not for this grid: coefficients by cell are more "
             "bytes than the cells that it keeps: take way free");
    return TACIT_OK;
}

static bool is_solid(const tct_step_work *w)
{
    return w->shape > TCT_BOX2;
}

static tacit_status choose_kept(own_steps *s, const tct_grid_block *b,
                                const tct_step_work *w)
{
    tct_kept_plan plan = {.rows = 0};
    TRY(check_cached(w));
    TRY(tct_kept_choose(s->queue, kernels_of(w), b, w, s->reach, &plan));
    s->tiles = plan.tiles;
    s->more = plan.rows;
    s->shared = plan.shared;
    s->code = kernels_of(w)->kept(w);
    s->threads = TCT_MARCH_THREADS;
    s->solid = true;
    return TACIT_OK;
}

static tacit_status choose_cached(own_steps *s, const tct_grid_block *b,
                                  const tct_step_work *w)
{
    const tct_own_kernels *k = kernels_of(w);
    TRY(check_cached(w));
    TRY(tct_own_columns(b, tct_gpu_of(s->queue)->sms, k->width, s->reach,
                        &s->tiles));
    const int sms = tct_gpu_of(s->queue)->sms, most = more_most(s->queue, w);
    const int wanted = rows_of(tct_own_most(&s->tiles, 2), s->reach);
    int rows = 0;
    s->code = k->cached(w, false, &rows);
    if (wanted > rows) {
        s->code = k->cached(w, true, &rows);
        s->more = wanted - rows;
    }
    if (s->more > most || s->tiles.count > sms)
        FAIL(TACIT_UNSUPPORTED,
             "way 'cached' is not for %lld x %lld cells and depth %d: %d "
             "multiprocessors keep tiles of %d x %d cells, of which %d at each "
             "side are computed twice: take way free or tiles, or more GPUs",
             (long long)b->n[0], (long long)b->n[2], s->reach, sms, k->width,
             (most + rows) * TCT_CACHED_WARPS, s->reach);
    s->shared = (size_t)s->more * row_bytes(k, w);
    s->threads = TCT_CACHED_THREADS;
    return TACIT_OK;
}

static bool own_fits(const tacit_queue *q, const int64_t n[3],
                     const tct_step_work *w, int depth)
{
    const tct_own_kernels *k = kernels_of(w);
    const int64_t width = k->width - 2 * depth, sms = tct_gpu_of(q)->sms;
    int plain = 0, with = 0;
    if (is_solid(w)) return tct_kept_fits(q, k, n, w, depth);
    if (width <= 0 || (n[0] - 1) / width + 1 > sms) return false;
    const int64_t chunks = sms / ((n[0] - 1) / width + 1);
    const int rows = rows_of((n[2] - 1) / chunks + 1, depth);
    (void)k->cached(w, false, &plain);
    (void)k->cached(w, true, &with);
    return rows <= plain || rows <= with + more_most(q, w);
}

/* --- tiles in shared memory ----------------------------------------------- */

enum {
    CHIP_WORDS = 6 << 10,           /* bytes that a block has beside its room */
    CHIP_LEAST = 2 * TCT_SIDES_MOST /* threads, more than sides     */
};

/* Cells of a room, of which there are two states. */
static int64_t chip_most(const tacit_queue *q, const tct_step_work *w)
{
    const size_t all = tct_gpu_of(q)->shared_bytes;
    const size_t each = w->single ? 4 : 8;
    return all > CHIP_WORDS ? (int64_t)((all - CHIP_WORDS) / (2 * each)) : 0;
}

static bool chip_fits(const tacit_queue *q, const int64_t n[3],
                      const tct_step_work *w, int depth)
{
    if (w->weights == TACIT_WEIGHTS_CELLS || w->shape > TCT_BOX2) return false;
    const int64_t room = tct_own_room(n[0], n[2], tct_gpu_of(q)->sms, depth,
                                      TCT_CHIP_THREADS, NULL);
    return room > 0 && room <= chip_most(q, w) && tct_persistent_fits(q);
}

static tacit_status choose_chip(own_steps *s, const tct_grid_block *b,
                                const tct_step_work *w)
{
    const tacit_queue *q = s->queue;
    TRY(tct_own_rooms(b, tct_gpu_of(q)->sms, s->reach, TCT_CHIP_THREADS,
                      &s->tiles));
    const int wide = tct_own_most(&s->tiles, 0) + 2 * s->reach;
    const int high = tct_own_most(&s->tiles, 2) + 2 * s->reach;
    const int64_t cells = (int64_t)wide * high;
    if (cells > chip_most(q, w))
        FAIL(TACIT_UNSUPPORTED,
             "tiles of %d x %d cells are more than the shared memory of a "
             "multiprocessor: take way copy",
             wide, high);
    int rows = TCT_CHIP_THREADS / wide;
    if (rows > high) rows = high;
    s->threads = rows * wide > CHIP_LEAST ? rows * wide : CHIP_LEAST;
    s->threads = (s->threads + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
    s->shared = 2 * (size_t)cells * (w->single ? 4 : 8);
    s->code = kernels_of(w)->chip(w);
    return TACIT_OK;
}

static tacit_status choose_free(own_steps *s, const tct_grid_block *b,
                                const tct_step_work *w)
{
    s->code = kernels_of(w)->free(w, &s->threads);
    return tct_own_layers(b, tct_gpu_of(s->queue)->sms, s->of_layer,
                          s->kind == TCT_OWN_FREE2, &s->tiles);
}

/* All blocks at once, those of both kernels of free2. */
static tacit_status check_resident(const own_steps *s)
{
    int each = 0;
    const int sms = tct_gpu_of(s->queue)->sms;
    gpu_error e =
        gpu_function_attribute(s->code, GPU_DYNAMIC_SHARED, (int)s->shared);
    if (e == GPU_OK) e = gpu_occupancy(&each, s->code, s->threads, s->shared);
    TRY(tct_gpu_status(e, "asking for the blocks of a kernel that stays"));
    if ((int64_t)each * sms >= s->tiles.count) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "%d blocks of a kernel that stays cannot be resident at once: this "
         "GPU holds %d: take way copy",
         s->tiles.count, each * sms);
}

/* --- set-up --------------------------------------------------------------- */

static tacit_status upload(own_steps *s)
{
    const tct_own_tiles *t = &s->tiles;
    const size_t count = (size_t)t->count;
    const size_t flags = count * TCT_FLAG_WORDS * sizeof *s->flag;
    TRY(tct_gpu_upload(t->box, count * sizeof *t->box, &s->box));
    TRY(tct_gpu_upload(t->first, (count + 1) * sizeof *t->first, &s->first));
    TRY(tct_gpu_upload(t->others, (size_t)t->first[count] * sizeof *t->others,
                       &s->others));
    TRY(tct_gpu_upload(NULL, flags, &s->flag));
    TRY(tct_gpu_upload(NULL, sizeof *s->gone, &s->gone));
    TRY(tct_gpu_status(gpu_memset(s->gone, 0, sizeof *s->gone),
                       "clearing memory"));
    return tct_gpu_status(gpu_memset(s->flag, 0, flags), "clearing memory");
}

/* --- sides ---------------------------------------------------------------- */

static void drop_sides(own_steps *s)
{
    tct_gpu_release(s->gpu.ticket);
    tct_gpu_release(s->gpu.parts);
    tct_gpu_release(s->gpu.sides);
    tct_gpu_release(s->gpu.first);
    tct_gpu_release(s->gpu.put);
    memset(&s->gpu, 0, sizeof s->gpu);
    tct_own_sides_free(&s->sides);
    TCT_FREE(s->given);
    s->given = NULL;
}

static tacit_status upload_sides(own_steps *s)
{
    const tct_own_sides *p = &s->sides;
    const size_t tiles = (size_t)s->tiles.count, count = (size_t)p->count;
    const size_t tickets = 2 * count * sizeof *s->gpu.ticket;
    TRY(tct_gpu_upload(p->put, count * sizeof *p->put, &s->gpu.put));
    TRY(tct_gpu_upload(p->first, (tiles + 1) * sizeof *p->first,
                       &s->gpu.first));
    TRY(tct_gpu_upload(p->sides, tiles * count * sizeof *p->sides,
                       &s->gpu.sides));
    TRY(tct_gpu_upload(p->parts, count * sizeof *p->parts, &s->gpu.parts));
    TRY(tct_gpu_upload(NULL, tickets, &s->gpu.ticket));
    return tct_gpu_status(gpu_memset(s->gpu.ticket, 0, tickets),
                          "clearing memory");
}

/* The buffers of the halo may have changed since the last run. */
static tacit_status renew_sides(own_steps *s, const tct_own_peers *peers)
{
    const size_t bytes = (size_t)peers->count * sizeof *s->given;
    if (s->sides.count == peers->count &&
        (bytes == 0 || memcmp(s->given, peers->put, bytes) == 0))
        return TACIT_OK;
    s->queue->device->sync(s->queue);
    drop_sides(s);
    if (bytes == 0) return TACIT_OK;
    TRY(TCT_ALLOC(peers->count, "sides of tiles", &s->given));
    memcpy(s->given, peers->put, bytes);
    TRY(tct_own_find_sides(&s->tiles, peers->count, peers->put, peers->x,
                           s->reach, &s->sides));
    return upload_sides(s);
}

static tacit_status build(own_steps *s, const tct_grid_block *b,
                          const tct_step_work *w)
{
    if (!tct_persistent_fits(s->queue))
        FAIL(TACIT_UNSUPPORTED, "this GPU has no cooperative launches, which "
                                "kernels that stay need: take way copy");
    if (s->cell[0]) TRY(choose_chip(s, b, w));
    else if (s->kind == TCT_OWN_CACHED && is_solid(w))
        TRY(choose_kept(s, b, w));
    else if (s->kind == TCT_OWN_CACHED) TRY(choose_cached(s, b, w));
    else TRY(choose_free(s, b, w));
    TRY(check_resident(s));
    TRY(upload(s));
    if (s->kind != TCT_OWN_FREE2) return TACIT_OK;
    TRY(tct_fork_stream(&s->apart));
    return tct_fork_open(&s->fork, s->apart);
}

static void own_close(void *state)
{
    own_steps *s = state;
    if (!s) return;
    s->queue->device->sync(s->queue);
    tct_fork_close(&s->fork);
    if (s->apart) (void)gpu_stream_destroy(s->apart);
    drop_sides(s);
    tct_gpu_release(s->gone);
    tct_gpu_release(s->flag);
    tct_gpu_release(s->others);
    tct_gpu_release(s->first);
    tct_gpu_release(s->box);
    tct_own_tiles_free(&s->tiles);
    tct_free(s);
}

static tacit_status own_open(tacit_queue *q, const tct_grid_block *block,
                             const tct_step_work *w, tct_own_kind kind,
                             int depth, int of_layer,
                             tct_numbered *const cell[2], void **out)
{
    own_steps *s = tct_calloc(sizeof *s);
    if (!s) FAIL(TACIT_NO_MEMORY, "no memory for kernels that stay");
    s->queue = q;
    s->kind = kind;
    s->reach = kind == TCT_OWN_CACHED ? depth : 1;
    for (int k = 0; k < 2; k++) s->cell[k] = cell[k];
    s->of_layer = kind == TCT_OWN_FREE2 && of_layer < 0 ? 0 : of_layer;
    const tacit_status status = build(s, block, w);
    if (status < 0) own_close(s);
    else *out = s;
    return status;
}

/* --- launches ------------------------------------------------------------- */

static uint64_t ns_of(double seconds)
{
    return (uint64_t)(1e9 * seconds);
}

static tct_own_job job_of(const own_steps *s, const tct_step_work *w, int steps)
{
    const tacit_queue *q = s->queue;
    return (tct_own_job){.w = *w,
                         .box = s->box,
                         .first = s->first,
                         .others = s->others,
                         .flag = s->flag,
                         .visited = s->visited,
                         .limit_ns = ns_of(q->barrier_seconds),
                         .missing =
                             (uint64_t *)&tct_gpu_of(q)->mailbox_gpu->missing,
                         .gone = s->gone,
                         .steps = steps,
                         .reach = s->reach,
                         .more = s->more,
                         .cell = {s->cell[0], s->cell[1]},
                         .stores = s->kind == TCT_OWN_FREE};
}

/* Tiles at a side may wait for their neighbour, and the others then for them: a
 * rank is missed first. */
static void add_peers(const own_steps *s, const tct_own_peers *peers,
                      tct_own_job *job)
{
    const tacit_queue *q = s->queue;
    const tct_step_halo halo = {.count = peers->count, .waits = true};
    const tct_peer_common C = tct_await_common(q, &halo);
    if (peers->count == 0) return;
    job->puts = peers->count;
    job->idle = peers->idle;
    job->put = s->gpu.put;
    job->first_side = s->gpu.first;
    job->sides = s->gpu.sides;
    job->parts = s->gpu.parts;
    job->ticket = s->gpu.ticket;
    job->exchange = peers->number;
    job->number = peers->word;
    job->slot = peers->slot;
    job->x = peers->x;
    job->peer_ns = C.limit_ns;
    job->limit_ns = C.limit_ns > 0 ? 2 * C.limit_ns + job->limit_ns : 0;
    job->gone = &C.state->gone;
    job->flags = &tct_gpu_of(q)->outbox->flags;
}

static dim3 blocks_of(int count)
{
    return (dim3){(unsigned)count, 1, 1};
}

/* Another engine of this kernel may have asked for less shared memory. */
static gpu_error start(const own_steps *s, tct_own_job *job)
{
    const dim3 blocks = blocks_of(s->tiles.count);
    const dim3 threads = blocks_of(s->threads);
    const gpu_error e =
        gpu_function_attribute(s->code, GPU_DYNAMIC_SHARED, (int)s->shared);
    if (e != GPU_OK) return e;
    return gpu_launch_cooperative(s->code, blocks, threads, (void *[]){job},
                                  s->shared, tct_gpu_of(s->queue)->stream);
}

/* The boundary's kernel, then the inner one, in two streams; check_resident has
 * seen that there is room for both. */
static gpu_error start_both(const own_steps *s, tct_own_job *job)
{
    const gpu_stream stream = tct_gpu_of(s->queue)->stream;
    const dim3 threads = blocks_of(s->threads);
    const int of_layers = s->tiles.of_layers;
    const int inner = s->tiles.count - of_layers;
    gpu_error e = tct_fork_begin(&s->fork, stream);
    if (e == GPU_OK)
        e = gpu_launch(s->code, blocks_of(of_layers), threads, (void *[]){job},
                       s->shared, s->apart);
    if (e == GPU_OK) e = tct_fork_end(&s->fork);
    job->tile = of_layers;
    if (e == GPU_OK && inner > 0)
        e = gpu_launch(s->code, blocks_of(inner), threads, (void *[]){job},
                       s->shared, stream);
    if (e == GPU_OK) e = tct_fork_join(&s->fork, stream);
    return e;
}

static int own_run(void *state, const tct_step_work *w,
                   const tct_own_peers *peers, int steps)
{
    own_steps *s = state;
    tacit_queue *q = s->queue;
    const int visits = (steps - 1) / s->reach + 1;
    tct_gpu_flush(q);
    const tacit_status status = renew_sides(s, peers);
    if (status < 0) q_fail(q, status, "%s", tacit_error_message());
    if (q->failed != TACIT_OK) return 0;
    tct_own_job job = job_of(s, w, steps);
    add_peers(s, peers, &job);
    const gpu_error e = s->kind == TCT_OWN_FREE2 && s->tiles.of_layers > 0
                            ? start_both(s, &job)
                            : start(s, &job);
    tct_gpu_ok(q, e, "starting a kernel that stays");
    s->visited += (uint64_t)visits;
    return visits;
}

/* Cells of tiles, and those around them that a visit reads. */
static void count_cells(const own_steps *s, double *own, double *edges)
{
    for (int t = 0; t < s->tiles.count; t++) {
        const tct_box *b = &s->tiles.box[t];
        const double x = b->hi[0] - b->lo[0], y = b->hi[2] - b->lo[2];
        *own += x * y * (b->hi[1] - b->lo[1]);
        *edges += (x + 2.0 * s->reach) * (y + 2.0 * s->reach) - x * y;
    }
}

static double share_on_chip(const own_steps *s)
{
    if (s->solid) return tct_kept_share(&s->tiles, s->more);
    return s->kind == TCT_OWN_CACHED || s->cell[0] ? 1.0 : 0.0;
}

static tct_own_about own_about(const void *state)
{
    const own_steps *s = state;
    double own = 0.0, edges = 0.0;
    count_cells(s, &own, &edges);
    if (s->solid) own = tct_kept_moved(&s->tiles, s->more);
    else if (s->kind == TCT_OWN_CACHED) own = edges / s->reach;
    return (tct_own_about){.blocks = s->tiles.count,
                           .threads = s->threads,
                           .of_layer = s->tiles.of_layer,
                           .formula = s->tiles.formula,
                           .on_chip = share_on_chip(s),
                           .exchanged = own};
}

static const tct_own_steps steps = {.fits = own_fits,
                                    .chip_fits = chip_fits,
                                    .open = own_open,
                                    .run = own_run,
                                    .about = own_about,
                                    .close = own_close};

const tct_own_steps *tct_own_steps_on(const tacit_queue *q)
{
    return q->device->kind == TCT_KIND_GPU ? &steps : NULL;
}
