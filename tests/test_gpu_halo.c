/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_halo.c - halos between GPUs: packed messages of each link, and
 * in place by kernels, copy engines and stores of a client, also in a stream of
 * its own and in a recording. halo_grid.h says what each byte must be.
 *
 * LABEL: gpu
 * RUN: np=1,2,3,4
 * PROCESSES: 2 */
#include "comm/link/gpu/peer.h"
#include "gpu.h"
#include "halo/gpu/halo_gpu.h"
#include "halo_grid.h"

static void gpu_ok(gpu_error error)
{
    if (error != GPU_OK) fail_msg("%s", gpu_error_text(error));
}

/* A queue; NULL: not here, as it has said. */
static tacit_queue *open_link(const char *spec)
{
    tacit_queue *q = NULL;
    const tacit_status status = tacit_queue_create(test_world(), spec, 1, &q);
    if (status == TACIT_OK) return q;
    if (status != TACIT_INVALID) EXPECT(TACIT_UNSUPPORTED, status);
    print_message("%s: %s\n", spec, tacit_error_message());
    return NULL;
}

static tacit_queue *open_peers(void)
{
    return open_link(size_of() > 1 ? "cuda@peer" : "cuda");
}

/* --- images of a buffer --------------------------------------------------- */

/* A buffer on a GPU, cell (0, 0, 0) at `zero`, and its image on the host. */
typedef struct {
    tacit_queue *q;
    const part *p;
    char *zero, *image;
} mirror;

static mirror mirror_of(tacit_queue *q, const part *p, char *zero)
{
    mirror m = {q, p, zero, malloc((size_t)(p->before + p->after))};
    assert_non_null(m.image);
    memset(m.image, UNTOUCHED, (size_t)(p->before + p->after));
    return m;
}

/* Copy all bytes, after the work of the queue. */
static void copy_all(const mirror *m, bool to_gpu)
{
    char *gpu = m->zero - m->p->before;
    const size_t bytes = (size_t)(m->p->before + m->p->after);
    m->q->device->sync(m->q);
    gpu_ok(to_gpu ? gpu_memcpy(gpu, m->image, bytes, GPU_TO_DEVICE)
                  : gpu_memcpy(m->image, gpu, bytes, GPU_TO_HOST));
}

static void set_all(const mirror *m, int round)
{
    each_cell(m->p, m->image + m->p->before, round, number_cell);
    copy_all(m, true);
}

/* The block's rows alone: ghosts are the neighbours'. */
static void set_inside(const mirror *m, int round)
{
    const part *p = m->p;
    each_cell(p, m->image + p->before, round, number_inside);
    m->q->device->sync(m->q);
    for (int64_t z = 0; z < p->n[2]; z++)
        for (int64_t y = 0; y < p->n[1]; y++) {
            const int64_t at[] = {0, y, z};
            const int64_t here = offset_of(p, at);
            gpu_ok(gpu_memcpy(m->zero + here, m->image + p->before + here,
                              (size_t)(p->n[0] * p->about.bytes),
                              GPU_TO_DEVICE));
        }
}

static void check_all(const mirror *m, int round)
{
    copy_all(m, false);
    each_cell(m->p, m->image + m->p->before, round, check_cell);
}

/* --- packed --------------------------------------------------------------- */

static void exchange_packed(tacit_queue *q, const grid *g)
{
    const part p = part_of(g, rank_of());
    const int64_t before = (p.before + 63) / 64 * 64;
    tacit_halo *h = NULL;
    double *field = NULL;
    OK(tacit_halo_create(q, &p.about, &h));
    OK(tacit_queue_alloc(q, (size_t)(before + p.after) / 8 + 1, &field));
    mirror m = mirror_of(q, &p, (char *)field + before);
    for (int round = 0; round < 2; round++) {
        set_all(&m, round);
        tacit_halo_exchange(h, m.zero);
        check_all(&m, round);
    }
    OK(q_status(q));
    free(m.image);
    tacit_queue_free(q, &field);
    tacit_halo_destroy(&h);
}

static void ghosts_are_the_neighbours_cells(void **state)
{
    static const char *const links[] = {"cuda", "cuda@peer", "cuda@nccl",
                                        "cuda@mpi"};
    (void)state;
    if (!gpu_for_each()) skip();
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        tacit_queue *q = size_of() > 1 || i == 0 ? open_link(links[i]) : NULL;
        for (int seed = 0; seed < 20 && q; seed++) {
            const grid g = random_grid(size_of(), seed);
            exchange_packed(q, &g);
        }
        tacit_queue_destroy(&q);
    }
}

/* --- in place ------------------------------------------------------------- */

/* Work of a client's kernel: each row of each box goes to the peer. */
static void store_all(tacit_halo *h, int slot, const mirror *m)
{
    const tct_halo_puts *puts = tct_halo_puts_of(h);
    const part *p = m->p;
    tct_halo_ready(h, slot);
    m->q->device->sync(m->q);
    for (int k = 0; k < puts->count; k++) {
        const tct_halo_put *u = &puts->put[k];
        for (int64_t z = 0; z < u->extent[2]; z++)
            for (int64_t y = 0; y < u->extent[1]; y++) {
                const int64_t at[] = {u->send[0], u->send[1] + y,
                                      u->send[2] + z};
                gpu_ok(gpu_memcpy(u->at[slot] + at[2] * u->plane +
                                      at[1] * u->pitch + at[0] * p->about.bytes,
                                  m->zero + offset_of(p, at),
                                  (size_t)(u->extent[0] * p->about.bytes),
                                  GPU_ON_DEVICE));
            }
    }
    gpu_ok(gpu_stream_sync(NULL)); /* such copies may return before their end */
}

typedef struct {
    tacit_queue *q;
    part p;
    tacit_halo *h;
    mirror m[2];
} world_of;

static bool open_in_place(world_of *w, const grid *g)
{
    char *cell[2];
    *w = (world_of){.q = open_peers(), .p = part_of(g, rank_of())};
    if (!w->q) return false;
    OK(tacit_halo_create(w->q, &w->p.about, &w->h));
    OK(tct_halo_take_buffers(w->h, (size_t)w->p.before, (size_t)w->p.after,
                             true, cell));
    assert_null(tct_halo_why_packed(w->h));
    for (int slot = 0; slot < 2; slot++) {
        assert_int_equal((uintptr_t)cell[slot] % 128, 0);
        w->m[slot] = mirror_of(w->q, &w->p, cell[slot]);
        set_all(&w->m[slot], 0);
    }
    OK(tacit_world_agree(test_world(), TACIT_OK));
    return true;
}

static void close_in_place(world_of *w)
{
    for (int slot = 0; slot < 2; slot++) free(w->m[slot].image);
    tacit_halo_destroy(&w->h);
    tacit_queue_destroy(&w->q);
}

static void exchange_rounds(world_of *w, int rounds, uint64_t seed)
{
    for (int r = 0; r < rounds; r++) {
        const uint64_t bits = tct_mix(seed + (uint64_t)r);
        const int slot = bits % 4 == 0 ? (int)(bits >> 2 & 1) : r % 2;
        const tct_halo_means means = (tct_halo_means)(bits >> 8 & 3);
        set_inside(&w->m[slot], r);
        if (means == TCT_HALO_SIGNALS) store_all(w->h, slot, &w->m[slot]);
        if (bits >> 12 & 1) {
            tct_halo_swap(w->h, slot, means);
        } else {
            tct_halo_start(w->h, slot, means);
            tct_halo_finish(w->h);
        }
        check_all(&w->m[slot], r);
    }
    OK(q_status(w->q));
}

static void peers_store_into_ghosts(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    for (int seed = 200; seed < 220; seed++) {
        const grid g = random_grid(size_of(), seed);
        world_of w;
        if (!open_in_place(&w, &g)) skip();
        exchange_rounds(&w, 8, (uint64_t)seed << 32);
        close_in_place(&w);
    }
}

static void exchanges_may_be_narrow(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    for (int seed = 400; seed < 410; seed++) {
        const grid g = random_grid(size_of(), seed);
        world_of w;
        if (!open_in_place(&w, &g)) skip();
        for (int slot = 1; slot >= 0; slot--)
            tct_halo_swap(w.h, slot, TCT_HALO_STORES);
        OK(tct_halo_narrow(w.h, 1, true));
        for (int slot = 1; slot >= 0; slot--) {
            set_inside(&w.m[slot], 5);
            tct_halo_swap(w.h, slot,
                          seed % 2 ? TCT_HALO_STORES : TCT_HALO_COPIES);
            copy_all(&w.m[slot], false);
            each_cell(&w.p, w.m[slot].image + w.p.before, 5,
                      check_next_to_block);
        }
        OK(q_status(w.q));
        close_in_place(&w);
    }
}

static grid ring(void)
{
    return (grid){.dimensions = 3,
                  .blocks = {1, 1, size_of()},
                  .ghost = {1, 0, 2},
                  .periodic = 5,
                  .bytes = 8,
                  .base = 5};
}

/* Work that runs without a stop: many exchanges, then the check. */
static void many_exchanges_are_enqueued(void **state)
{
    (void)state;
    const grid g = ring();
    world_of w;
    if (!gpu_for_each() || !open_in_place(&w, &g)) skip();
    for (int slot = 0; slot < 2; slot++) set_inside(&w.m[slot], 7 + slot);
    for (int e = 1; e <= 1000; e++) {
        tct_halo_start(w.h, e % 2,
                       e % 3 == 0 ? TCT_HALO_COPIES : TCT_HALO_STORES);
        tct_halo_finish(w.h);
    }
    for (int slot = 0; slot < 2; slot++) check_all(&w.m[slot], 7 + slot);
    assert_int_equal(tct_halo_number(w.h), 1000);
    uint64_t number = 0;
    gpu_ok(gpu_memcpy(&number, tct_halo_puts_of(w.h)->number, sizeof number,
                      GPU_TO_HOST));
    assert_int_equal(number, 1000);
    OK(q_status(w.q));
    close_in_place(&w);
}

/* Two exchanges in a recording of a stream of the client's; each replay moves
 * what the block has then. */
static void a_recording_is_replayed(void **state)
{
    (void)state;
    enum { REPLAYS = 20 };
    const grid g = ring();
    world_of w;
    gpu_stream stream;
    gpu_graph graph;
    gpu_graph_exec exec;
    if (!gpu_for_each() || !open_in_place(&w, &g)) skip();
    gpu_ok(gpu_stream_create(&stream, GPU_STREAM_NON_BLOCKING));
    tct_halo_ready(w.h, 1);
    w.q->device->sync(w.q);
    gpu_ok(gpu_capture_begin(stream, GPU_CAPTURE_RELAXED));
    for (int slot = 1; slot >= 0; slot--) {
        gpu_ok(tct_halo_start_on(
            w.h, slot, slot ? TCT_HALO_STORES : TCT_HALO_COPIES, stream));
        gpu_ok(tct_halo_finish_on(w.h, stream));
    }
    gpu_ok(gpu_capture_end(stream, &graph));
    gpu_ok(gpu_graph_instantiate(&exec, graph, 0));
    for (int r = 1; r <= REPLAYS; r++) {
        for (int slot = 0; slot < 2; slot++) set_inside(&w.m[slot], r + slot);
        gpu_ok(gpu_graph_launch(exec, stream));
        gpu_ok(gpu_stream_sync(stream));
        for (int slot = 0; slot < 2; slot++) check_all(&w.m[slot], r + slot);
        /* all have looked before any ghosts change */
        OK(tacit_world_agree(test_world(), TACIT_OK));
    }
    tct_halo_advance(w.h, 2 * (REPLAYS - 1));
    exchange_rounds(&w, 6, 3);
    gpu_ok(gpu_graph_exec_destroy(exec));
    gpu_ok(gpu_graph_destroy(graph));
    gpu_ok(gpu_stream_destroy(stream));
    close_in_place(&w);
}

/* Rank 0 puts nothing: rank 1 names it. */
static void the_lost_rank_is_named(void **state)
{
    (void)state;
    const grid g = ring();
    world_of w;
    if (size_of() == 1) skip();
    if (!gpu_for_each() || !open_in_place(&w, &g)) skip();
    w.q->peer_seconds = 0.3;
    const double start = tct_seconds();
    if (rank_of() == 1) {
        tct_halo_start(w.h, 1, TCT_HALO_STORES);
        tct_halo_finish(w.h);
        EXPECT(TACIT_COMM, q_status(w.q));
        assert_non_null(strstr(tacit_error_message(), "has not answered"));
        assert_true(tct_seconds() - start < 10.0);
    } else {
        while (tct_seconds() - start < 1.0) sched_yield();
    }
    close_in_place(&w);
}

/* A link without memory that peers reach: packed messages remain. */
static void without_reach_there_is_a_reason(void **state)
{
    (void)state;
    const grid g = ring();
    const part p = part_of(&g, rank_of());
    char *cell[2];
    tacit_halo *h = NULL;
    if (size_of() == 1 || !gpu_for_each()) skip();
    tacit_queue *q = open_link("cuda@nccl");
    if (!q) skip();
    OK(tacit_halo_create(q, &p.about, &h));
    OK(tct_halo_take_buffers(h, (size_t)p.before, (size_t)p.after, true, cell));
    assert_non_null(strstr(tct_halo_why_packed(h), "links peer and nvshmem"));
    assert_null(tct_halo_puts_of(h));
    mirror m = mirror_of(q, &p, cell[1]);
    set_all(&m, 4);
    tct_halo_start(h, 1, TCT_HALO_PACKED);
    tct_halo_finish(h);
    check_all(&m, 4);
    tct_halo_start(h, 1, TCT_HALO_COPIES);
    EXPECT(TACIT_INVALID, q_status(q));
    free(m.image);
    tacit_halo_destroy(&h);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ghosts_are_the_neighbours_cells),
        cmocka_unit_test(peers_store_into_ghosts),
        cmocka_unit_test(exchanges_may_be_narrow),
        cmocka_unit_test(many_exchanges_are_enqueued),
        cmocka_unit_test(a_recording_is_replayed),
        cmocka_unit_test(without_reach_there_is_a_reason),
        cmocka_unit_test(the_lost_rank_is_named),
    };
    TEST_GPU_MAIN(tests);
}
