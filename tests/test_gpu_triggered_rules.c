/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_triggered_rules.c - matches, frees and several queues on GPUs,
 * by the numbers of the design's statements, and what is for the host alone.
 * Only in builds with CUDA.
 *
 * LABEL: gpu
 * RUN: np=1,2
 * PROCESSES: 2 */
#include "gpu_triggered.h"

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

/* Requests of all ranks are made by the host, and other kinds are refused. */
static void the_host_reduces(void **state)
{
    (void)state;
    statement(37, 37);
    gpu t = gpu_open();
    double *on_gpu = (double *)(void *)t.from, mine = 1.0 + t.g.rank, sum = 0;
    request *r = NULL;
    tacit_trigger_queue *q = NULL;
    REFUSES(TACIT_UNSUPPORTED, "data on a GPU",
            tacit_trigger_allreduce_init(t.g.c, on_gpu, &sum, 1,
                                         TACIT_TRIGGER_F64, TACIT_SUM, &r));
    REFUSES(TACIT_UNSUPPORTED, "data on a GPU",
            tacit_trigger_allgather_init(t.g.c, &mine, on_gpu, 1,
                                         TACIT_TRIGGER_F64, &r));
    REFUSES(
        TACIT_UNSUPPORTED, "data on a GPU",
        tacit_trigger_bcast_init(t.g.c, on_gpu, 1, TACIT_TRIGGER_F64, 0, &r));
    REFUSES(
        TACIT_UNSUPPORTED, "use kind kernel",
        tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_MEMOP, t.stream, &q));
    REFUSES(
        TACIT_UNSUPPORTED, "kind thread with a stream",
        tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_THREAD, t.stream, &q));
    OK(tacit_trigger_allreduce_init(t.g.c, &mine, &sum, 1, TACIT_TRIGGER_F64,
                                    TACIT_SUM, &r));
    OK(tacit_trigger_match(r));
    REFUSES(TACIT_INVALID, "is of all ranks: a queue of kind thread takes it",
            tacit_trigger_enqueue_exchange(t.g.q, 1, &r));
    OK(tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_THREAD, NULL, &q));
    OK(tacit_trigger_enqueue_exchange(q, 1, &r));
    OK(tacit_trigger_queue_wait(q));
    assert_true(sum == t.g.size * (t.g.size + 1) / 2.0);
    OK(tacit_trigger_queue_free(&q));
    free_all(1, &r);
    gpu_close(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_match_is_a_request),
        cmocka_unit_test(a_request_that_has_ended_may_be_freed),
        cmocka_unit_test(a_queue_is_waited_for_with_its_tasks),
        cmocka_unit_test(the_host_reduces),
    };
    TEST_GPU_MAIN(tests);
}
