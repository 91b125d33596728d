/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_triggered_rules.c - matches, frees and several queues on GPUs,
 * by the numbers of the design's statements, and what is for the host alone.
 * Only in builds with CUDA.
 *
 * LABEL: gpu
 * RUN: np=1,2
 * PROCESSES: 2 */
#include "gpu_triggered.h"
#include <math.h>

static void a_match_is_a_request(void **state)
{
    (void)state;
    statement(8, 10);
    gpu t = gpu_open();
    request *r[2], *m = NULL, *any = NULL;
    bool done = false;
    const bool both = t.g.size > 1;
    pair(&t, 0, 64, r);
    if (t.g.sends && both) { /* the receiver has not matched */
        OK(tacit_trigger_imatch(r[0], &m));
        OK(tacit_trigger_test(&m, &done));
        assert_false(done || matched(r[0]));
        REFUSES(TACIT_INVALID, "is not matched",
                tacit_trigger_enqueue_exchange(t.g.q, 1, r));
        REFUSES(TACIT_INVALID, "being matched", tacit_trigger_match(r[0]));
        REFUSES(TACIT_INVALID, "being matched",
                tacit_trigger_request_free(&r[0]));
        REFUSES(TACIT_INVALID, "is not started",
                tacit_trigger_enqueue_start(t.g.q, m));
    }
    meet_all();
    if (t.g.receives && both) OK(tacit_trigger_match(r[1]));
    meet_all();
    if (m) {
        assert_true(matched(r[0]));
        assert_non_null(m); /* is_matched has not ended it */
        OK(tacit_trigger_wait(&m));
        assert_null(m);
    }
    REFUSES(TACIT_INVALID, "rank -2",
            tacit_trigger_recv_init(t.g.c, t.to, 1, TACIT_TRIGGER_BYTE, -2, 0,
                                    &any));
    REFUSES(TACIT_INVALID, "tag -1",
            tacit_trigger_recv_init(t.g.c, t.to, 1, TACIT_TRIGGER_BYTE, 0, -1,
                                    &any));
    assert_null(any);
    free_all(2, r);
    gpu_close(&t);
}

/* Functions of the host between kernels. */
static void set_flag(void *ctx)
{
    __atomic_store_n((int *)ctx, 1, __ATOMIC_RELEASE);
}

static void wait_for_flag(void *ctx)
{
    while (!__atomic_load_n((const int *)ctx, __ATOMIC_ACQUIRE)) sched_yield();
}

/* While a message is on its way the host may not use its request; when the
 * stream is known to be done it may free it. */
static void a_request_that_has_ended_may_be_freed(void **state)
{
    (void)state;
    statement(17, 18);
    gpu t = gpu_open();
    request *r[2];
    int go = 0;
    pair(&t, 0, 3000, r);
    OK(match_those(2, r));
    fill(&t, t.from, 0); /* the first launch of a kernel may wait for the GPU */
    check(&t, t.to, 0);
    CUDA(cudaStreamSynchronize(t.stream));
    OK(tacit_trigger_enqueue_task(t.g.q, wait_for_flag, &go));
    fill(&t, t.from, 3000);
    OK(tacit_trigger_enqueue_startall(t.g.q, 2, r));
    for (int k = 0; k < 2; k++)
        if (r[k])
            REFUSES(TACIT_INVALID, "is started and not waited for",
                    tacit_trigger_request_free(&r[k]));
    OK(tacit_trigger_enqueue_waitall(t.g.q, 2, r));
    for (int k = 0; k < 2; k++)
        if (r[k])
            REFUSES(TACIT_INVALID, "has not come to its end",
                    tacit_trigger_request_free(&r[k]));
    REFUSES(TACIT_INVALID, "has work", tacit_trigger_queue_free(&t.g.q));
    check(&t, t.to, 3000);
    set_flag(&go);
    CUDA(cudaStreamSynchronize(t.stream)); /* the caller's own means */
    free_all(2, r);
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    gpu_close(&t);
}

static void a_queue_is_waited_for_with_its_tasks(void **state)
{
    (void)state;
    statement(19, 21);
    gpu t = gpu_open();
    request *r[2], *s[2];
    int ended = 0, go = 0;
    cudaStream_t own, handle;
    tacit_trigger_queue *other = NULL;
    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    handle = own;
    OK(tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_AUTO, handle, &other));
    handle = NULL; /* the queue has its own copy */
    pair(&t, 0, 8, r);
    pair(&t, 1, 8, s);
    OK(match_those(2, r));
    OK(match_those(2, s));
    OK(tacit_trigger_enqueue_exchange(other, 2, r));
    CUDA(triggered_delay(own, 7));
    OK(tacit_trigger_enqueue_task(other, set_flag, &ended));
    OK(tacit_trigger_queue_wait(other));
    assert_int_equal(ended, 1);
    /* messages of one queue, while the other one is held up */
    ended = 0;
    OK(tacit_trigger_enqueue_task(t.g.q, wait_for_flag, &go));
    OK(tacit_trigger_enqueue_exchange(t.g.q, 2, s));
    OK(tacit_trigger_enqueue_task(t.g.q, set_flag, &ended));
    OK(tacit_trigger_enqueue_exchange(other, 2, r));
    OK(tacit_trigger_queue_wait(other));
    assert_int_equal(__atomic_load_n(&ended, __ATOMIC_ACQUIRE), 0);
    meet_all();
    set_flag(&go);
    OK(tacit_trigger_queue_wait(t.g.q));
    assert_int_equal(ended, 1);
    free_all(2, r);
    free_all(2, s);
    OK(tacit_trigger_queue_free(&other));
    CUDA(cudaStreamDestroy(own));
    gpu_close(&t);
}

/* Data of requests of all ranks are in one kind of memory; other kinds of
 * queues are refused. */
static void the_host_reduces(void **state)
{
    (void)state;
    statement(37, 37);
    gpu t = gpu_open();
    double *on_gpu = (double *)(void *)t.from, mine = 1.0 + t.g.rank, sum = 0;
    request *r = NULL;
    tacit_trigger_queue *q = NULL;
    REFUSES(TACIT_INVALID, "in memory of one kind",
            tacit_trigger_allreduce_init(t.g.c, on_gpu, &sum, 1,
                                         TACIT_TRIGGER_F64, TACIT_SUM, &r));
    REFUSES(TACIT_INVALID, "in memory of one kind",
            tacit_trigger_allgather_init(t.g.c, &mine, on_gpu, 1,
                                         TACIT_TRIGGER_F64, &r));
    REFUSES(
        TACIT_UNSUPPORTED, "use kind kernel",
        tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_MEMOP, t.stream, &q));
    REFUSES(
        TACIT_UNSUPPORTED, "kind thread with a stream",
        tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_THREAD, t.stream, &q));
    OK(tacit_trigger_allreduce_init(t.g.c, &mine, &sum, 1, TACIT_TRIGGER_F64,
                                    TACIT_SUM, &r));
    OK(tacit_trigger_match(r));
    REFUSES(TACIT_INVALID, "a queue of kind thread takes it",
            tacit_trigger_enqueue_exchange(t.g.q, 1, &r));
    OK(tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_THREAD, NULL, &q));
    OK(tacit_trigger_enqueue_exchange(q, 1, &r));
    OK(tacit_trigger_queue_wait(q));
    assert_true(sum == t.g.size * (t.g.size + 1) / 2.0);
    OK(tacit_trigger_queue_free(&q));
    free_all(1, &r);
    gpu_close(&t);
}

/* --- requests of all ranks ------------------------------------------------ */

enum { MOST = 5000 };

/* An element of a rank: sums in another order have other bits. */
static double element(int rank, int64_t i)
{
    return 1.0 / (double)(3 + 7 * rank + i % 11) + (rank % 2 ? 1e9 : 1e-9);
}

static void give(const double *to, int rank, int64_t count)
{
    double host[MOST];
    for (int64_t i = 0; i < count; i++) host[i] = element(rank, i);
    CUDA(cudaMemcpy((void *)(uintptr_t)to, host, (size_t)count * sizeof *host,
                    cudaMemcpyHostToDevice));
}

static double total_of(tacit_reduction op, int ranks, int64_t i)
{
    double t = element(0, i);
    for (int r = 1; r < ranks; r++) {
        const double e = element(r, i);
        t = op == TACIT_SUM ? t + e : op == TACIT_MIN ? fmin(t, e) : fmax(t, e);
    }
    return t;
}

/* Some times, in the two ways. */
static void repeat(gpu *t, request **r)
{
    for (int k = 0; k < 5; k++) {
        if (k % 2) {
            OK(tacit_trigger_enqueue_exchange(t->g.q, 1, r));
            continue;
        }
        OK(tacit_trigger_enqueue_start(t->g.q, r[0]));
        OK(tacit_trigger_enqueue_wait(t->g.q, r[0]));
    }
    OK(tacit_trigger_queue_wait(t->g.q));
}

static void reduce_on_gpus(gpu *t, tacit_reduction op, int64_t count)
{
    double *from = (double *)(void *)t->from, *to = (double *)(void *)t->to;
    double host[MOST];
    request *r = NULL;
    give(from, t->g.rank, count);
    OK(tacit_trigger_allreduce_init(t->g.c, from, to, count, TACIT_TRIGGER_F64,
                                    op, &r));
    OK(tacit_trigger_match(r));
    repeat(t, &r);
    CUDA(cudaMemcpy(host, to, (size_t)count * sizeof *host,
                    cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < count; i++)
        assert_true(host[i] == total_of(op, t->g.size, i));
    free_all(1, &r);
}

static void gather_on_gpus(gpu *t, int64_t count)
{
    double *from = (double *)(void *)t->from, *to = (double *)(void *)t->to;
    double host[MOST];
    request *r = NULL;
    give(from, t->g.rank, count);
    OK(tacit_trigger_allgather_init(t->g.c, from, to, count, TACIT_TRIGGER_F64,
                                    &r));
    OK(tacit_trigger_match(r));
    repeat(t, &r);
    for (int from_rank = 0; from_rank < t->g.size; from_rank++) {
        CUDA(cudaMemcpy(host, to + from_rank * count,
                        (size_t)count * sizeof *host, cudaMemcpyDeviceToHost));
        for (int64_t i = 0; i < count; i++)
            assert_true(host[i] == element(from_rank, i));
    }
    free_all(1, &r);
}

static void broadcast_on_gpus(gpu *t, int root, int64_t count)
{
    double *data = (double *)(void *)t->from, host[MOST];
    request *r = NULL;
    give(data, t->g.rank, count);
    OK(tacit_trigger_bcast_init(t->g.c, data, count, TACIT_TRIGGER_F64, root,
                                &r));
    OK(tacit_trigger_match(r));
    repeat(t, &r);
    CUDA(cudaMemcpy(host, data, (size_t)count * sizeof *host,
                    cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < count; i++)
        assert_true(host[i] == element(root, i));
    free_all(1, &r);
}

/* The barrier has kernels of its own; its wait ends when all have started. */
static void meet_on_gpus(gpu *t)
{
    request *r = NULL;
    OK(tacit_trigger_gpu_barrier_init(t->g.c, &r));
    OK(tacit_trigger_match(r));
    if (t->g.rank == 0) OK(tacit_trigger_enqueue_start(t->g.q, r));
    meet_all();
    if (t->g.rank != 0) OK(tacit_trigger_enqueue_start(t->g.q, r));
    OK(tacit_trigger_enqueue_wait(t->g.q, r));
    repeat(t, &r);
    free_all(1, &r);
}

static void all_ranks_on_gpus(void **state)
{
    static const int64_t counts[] = {1, 3, 1024, MOST};
    (void)state;
    statement(37, 37);
    gpu t = gpu_open();
    for (int k = 0; k < 4; k++) {
        reduce_on_gpus(&t, TACIT_SUM, counts[k]);
        gather_on_gpus(&t, counts[k]);
        broadcast_on_gpus(&t, t.g.last, counts[k]);
    }
    reduce_on_gpus(&t, TACIT_MIN, 7);
    reduce_on_gpus(&t, TACIT_MAX, 7);
    meet_on_gpus(&t);
    gpu_close(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_match_is_a_request),
        cmocka_unit_test(a_request_that_has_ended_may_be_freed),
        cmocka_unit_test(a_queue_is_waited_for_with_its_tasks),
        cmocka_unit_test(the_host_reduces),
        cmocka_unit_test(all_ranks_on_gpus),
    };
    TEST_GPU_MAIN(tests);
}
