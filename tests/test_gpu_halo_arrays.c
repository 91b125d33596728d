/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_halo_arrays.c - halos of several arrays between GPUs, by the
 * messages of each link and fused, recorded too, and by what NULL chooses.
 *
 * LABEL: gpu
 * RUN: np=1,2,3,4
 * PROCESSES: 2 */
#include "device/gpu/gpu.h"
#include "gpu.h"
#include "halo_arrays.h"
#include <tacit/cuda.h>

static void gpu_ok(gpu_error error)
{
    if (error != GPU_OK) fail_msg("%s", gpu_error_text(error));
}

static char *memory_take(size_t bytes)
{
    void *p = NULL;
    gpu_ok(gpu_malloc(&p, bytes));
    return p;
}

static void memory_give(char *p)
{
    gpu_free(p);
}

static void memory_copy(char *to, const char *from, size_t bytes)
{
    gpu_ok(gpu_memcpy(to, from, bytes, GPU_ANYWHERE));
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

static void each_grid(const char *spec, const char *back_end)
{
    tacit_queue *q = open_link(spec);
    for (int seed = 0; seed < 8 && q; seed++) {
        gather_all(q, seed, back_end);
        scatter_all(q, seed + 40, back_end);
    }
    tacit_queue_destroy(&q);
}

static void fences(void **state)
{
    static const char *const links[] = {"cuda@peer", "cuda@nccl", "cuda@mpi"};
    (void)state;
    if (!gpu_for_each()) skip();
    each_grid("cuda", "fences");
    for (size_t i = 0; i < sizeof links / sizeof *links && size_of() > 1; i++)
        each_grid(links[i], "fences");
}

static void fused(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    each_grid(size_of() > 1 ? "cuda@peer" : "cuda", "fused");
}

/* Two gathers in a recording, after two without: each replay brings the cells
 * that are there then. */
static void replay_all(tacit_queue *q, int seed, const char *back_end)
{
    enum { REPLAYS = 6 };
    gpu_stream stream;
    gpu_graph graph;
    gpu_graph_exec exec;
    several s = make_several(seed, rank_of());
    used = seed % 3 == 0 ? 1 : ARRAYS;
    tacit_halo_arrays *a = open_arrays(q, &s, back_end);
    for (int k = 0; k < 2; k++) tacit_halo_arrays_gather(a, s.cell);
    OK(q_status(q));
    OK(tacit_queue_stream(q, &stream));
    gpu_ok(gpu_capture_begin(stream, GPU_CAPTURE_RELAXED));
    for (int k = 0; k < 2; k++) tacit_halo_arrays_gather(a, s.cell);
    gpu_ok(gpu_capture_end(stream, &graph));
    gpu_ok(gpu_graph_instantiate(&exec, graph, 0));
    for (int round = 0; round < REPLAYS; round++) {
        for (int k = 0; k < used; k++)
            each_cell(&s.p[k], s.zero[k], round + 8 * k, number_cell);
        copy_several(&s, true);
        gpu_ok(gpu_graph_launch(exec, stream));
        for (int k = 0; k < 2 * (round % 2); k++)
            tacit_halo_arrays_gather(a, s.cell);
        OK(q_status(q));
        copy_several(&s, false);
        for (int k = 0; k < used; k++)
            each_cell(&s.p[k], s.zero[k], round + 8 * k, check_cell);
    }
    gpu_ok(gpu_graph_exec_destroy(exec));
    gpu_ok(gpu_graph_destroy(graph));
    tacit_halo_arrays_destroy(&a);
    free_several(&s);
}

/* Kernels of the queue's stream start the messages. */
static void triggered(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    tacit_queue *q = open_link(size_of() > 1 ? "cuda@peer" : "cuda");
    if (q) OK(tacit_trigger_comm_create(test_world(), &comm));
    for (int seed = 0; seed < 6 && q; seed++) {
        gather_all(q, seed, seed % 2 ? "send" : "ready");
        scatter_all(q, seed + 60, seed % 2 ? "ready" : "send");
        replay_all(q, seed + 80, seed % 2 ? "send" : "ready");
    }
    if (q) OK(tacit_trigger_comm_free(&comm));
    tacit_queue_destroy(&q);
}

static void recordings_are_replayed(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    tacit_queue *q = open_link(size_of() > 1 ? "cuda@peer" : "cuda");
    for (int seed = 0; seed < 6 && q; seed++) {
        replay_all(q, seed, "fences");
        replay_all(q, seed + 20, "fused");
    }
    tacit_queue_destroy(&q);
}

static void it_chooses(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    each_grid("cuda", NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences), cmocka_unit_test(fused),
        cmocka_unit_test(triggered), cmocka_unit_test(recordings_are_replayed),
        cmocka_unit_test(it_chooses)};
    TEST_GPU_MAIN(tests);
}
