/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_triggered.c - the statements of the triggered queue, by
 * number, with queues on GPUs: messages between the first and the last rank,
 * and the own one. Kernels write what is sent and check what has come. Only in
 * builds with CUDA.
 *
 * LABEL: gpu
 * RUN: np=1,2
 * PROCESSES: 2 */
#include "gpu_triggered.h"

/* --- what is refused ------------------------------------------------------ */

static void each_kind_has_its_memory(void **state)
{
    (void)state;
    statement(11, 16);
    gpu t = gpu_open();
    char host[2] = {0};
    request *r[2], *own[2] = {NULL};
    tacit_trigger_queue *thread = NULL, *none = NULL;
    REFUSES(
        TACIT_INVALID, "default stream",
        tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_KERNEL, NULL, &none));
    OK(tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_THREAD, NULL, &thread));
    pair(&t, 0, 8, r);
    if (t.g.sends)
        REFUSES(TACIT_INVALID, "is not matched",
                tacit_trigger_enqueue_start(t.g.q, r[0]));
    OK(match_those(2, r));
    rig_pair(&t.g, 1, host, host + 1, 1, TACIT_TRIGGER_BYTE, own);
    OK(match_those(2, own));
    for (int k = 0; k < 2; k++) {
        if (!r[k]) continue;
        REFUSES(TACIT_INVALID, "queue of kind kernel",
                tacit_trigger_enqueue_start(thread, r[k]));
        REFUSES(TACIT_INVALID, "queue of kind kernel",
                tacit_trigger_startall(1, &r[k]));
        REFUSES(TACIT_INVALID, "queue of kind thread",
                tacit_trigger_enqueue_start(t.g.q, own[k]));
    }
    OK(tacit_trigger_enqueue_startall(t.g.q, 2, r));
    for (int k = 0; k < 2; k++)
        if (r[k])
            REFUSES(TACIT_INVALID, "is started already",
                    tacit_trigger_enqueue_start(t.g.q, r[k]));
    OK(tacit_trigger_enqueue_waitall(t.g.q, 2, r));
    OK(tacit_trigger_enqueue_waitall(t.g.q, 2, r)); /* nothing to wait for */
    OK(tacit_trigger_queue_wait(t.g.q));
    free_all(2, r);
    free_all(2, own);
    OK(tacit_trigger_queue_free(&thread));
    gpu_close(&t);
}

static void both_ends_are_on_gpus(void **state)
{
    (void)state;
    statement(7, 7);
    gpu t = gpu_open();
    char host[8];
    request *r[2];
    rig_pair(&t.g, 0, t.from, host, 8, TACIT_TRIGGER_BYTE, r);
    if (t.g.sends || t.g.receives)
        REFUSES(TACIT_INVALID, "from memory of a GPU to rank",
                match_those(2, r));
    free_all(2, r);
    pair(&t, 1, 16, r);
    if (r[1]) OK(tacit_trigger_request_free(&r[1]));
    if (t.g.receives)
        OK(tacit_trigger_recv_init(t.g.c, t.to, 8, TACIT_TRIGGER_BYTE, 0, 1,
                                   &r[1]));
    if (t.g.sends || t.g.receives)
        REFUSES(TACIT_INVALID, "sends 16 bytes", match_those(2, r));
    free_all(2, r);
    gpu_close(&t);
}

/* --- messages ------------------------------------------------------------- */

typedef tacit_status make_send(tacit_trigger_comm *comm, const void *data,
                               int64_t count, tacit_trigger_type type, int to,
                               int64_t tag, tacit_trigger_request **out);

/* A start and a wait, with other work between; or a kernel for both. */
static void exchange(gpu *t, request **r, int k)
{
    if (k % 4 == 3) {
        OK(tacit_trigger_enqueue_exchange(t->g.q, 2, r));
        return;
    }
    OK(tacit_trigger_enqueue_startall(t->g.q, 2, r));
    if (k % 5 == 2) CUDA(triggered_delay(t->stream, (unsigned)k));
    OK(tacit_trigger_enqueue_waitall(t->g.q, 2, r));
}

/* The sender overwrites its bytes after each wait, the receiver checks them. */
static void rounds(gpu *t, make_send *make, size_t bytes, size_t off, int count)
{
    request *r[2] = {NULL};
    if (t->g.sends)
        OK(make(t->g.c, t->from + off, (int64_t)bytes, TACIT_TRIGGER_BYTE,
                t->g.last, 2, &r[0]));
    if (t->g.receives)
        OK(tacit_trigger_recv_init(t->g.c, t->to + off, (int64_t)bytes + 3,
                                   TACIT_TRIGGER_BYTE, 0, 2, &r[1]));
    OK(match_those(2, r));
    for (int k = 0; k < count; k++) {
        fill(t, t->from + off, bytes);
        if (k % 3 == 1) CUDA(triggered_delay(t->stream, (unsigned)k));
        exchange(t, r, k);
        check(t, t->to + off, bytes);
    }
    OK(tacit_trigger_queue_wait(t->g.q));
    no_byte_is_wrong(t);
    free_all(2, r);
}

static void each_byte_arrives(void **state)
{
    (void)state;
    statement(22, 22);
    statement(30, 32);
    static const size_t sizes[] = {
        0, 1, 7, 8, 4096, 8192, 8193, 65536, (1 << 20) + 5, 8 << 20};
    gpu t = gpu_open();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t off = 0; off < 2; off++) {
            rounds(&t, tacit_trigger_send_init, sizes[k], 3 * off,
                   t.shared ? 3 : 40);
            rounds(&t, tacit_trigger_ssend_init, sizes[k], 8 * off,
                   t.shared ? 2 : 10);
        }
    gpu_close(&t);
}

static void many_messages_in_a_row(void **state)
{
    (void)state;
    statement(14, 14);
    gpu t = gpu_open();
    rounds(&t, tacit_trigger_send_init, 64, 0, t.shared ? 50 : 5000);
    rounds(&t, tacit_trigger_send_init, 100000, 0, t.shared ? 20 : 1000);
    gpu_close(&t);
}

/* Work after a start is done before the receiver starts, whose buffer keeps its
 * bytes until then. */
static void a_start_never_blocks(void **state)
{
    (void)state;
    statement(23, 25);
    enum { LARGE = 1 << 20 };
    gpu t = gpu_open();
    request *r[2];
    pair(&t, 0, LARGE, r);
    OK(match_those(2, r));
    fill(&t, t.from, LARGE);
    if (t.g.sends) OK(tacit_trigger_enqueue_start(t.g.q, r[0]));
    CUDA(triggered_delay(t.stream, 1));
    CUDA(cudaStreamSynchronize(t.stream));
    meet_all();
    if (t.g.receives) assert_int_equal(byte_at(t.to), 0xee);
    meet_all();
    if (t.g.receives) OK(tacit_trigger_enqueue_start(t.g.q, r[1]));
    OK(tacit_trigger_enqueue_waitall(t.g.q, 2, r));
    check(&t, t.to, LARGE);
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    free_all(2, r);
    gpu_close(&t);
}

/* Two small messages end before the receiver starts. */
static void few_bytes_do_not_wait(void **state)
{
    (void)state;
    statement(23, 24);
    enum { SMALL = 8192 };
    gpu t = gpu_open();
    request *r[2];
    pair(&t, 0, SMALL, r);
    OK(match_those(2, r));
    for (int k = 0; k < 2 && t.g.sends; k++) {
        fill(&t, t.from, SMALL);
        OK(tacit_trigger_enqueue_start(t.g.q, r[0]));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[0]));
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    meet_all();
    for (int k = 0; k < 2 && t.g.receives; k++) {
        OK(tacit_trigger_enqueue_start(t.g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[1]));
        check(&t, t.to, SMALL);
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    free_all(2, r);
    gpu_close(&t);
}

/* Two buffers in turn, and answers: a buffer is free when its next message
 * starts. */
static void ready_sends_with_two_buffers(void **state)
{
    (void)state;
    statement(26, 26);
    enum { BYTES = 70000, HALF = 1 << 17 };
    gpu t = gpu_open();
    request *r[2][4] = {{NULL}};
    const int count = t.shared ? 20 : 2000, other = t.g.last - t.g.rank;
    const bool plays = t.g.sends || t.g.receives;
    for (int h = 0; h < 2 && plays; h++) {
        unsigned char *from = t.from + h * HALF, *to = t.to + h * HALF;
        OK(tacit_trigger_recv_init(t.g.c, to, BYTES, TACIT_TRIGGER_BYTE, other,
                                   h, &r[h][0]));
        OK(tacit_trigger_rsend_init(t.g.c, from, BYTES, TACIT_TRIGGER_BYTE,
                                    other, h, &r[h][1]));
    }
    if (plays) {
        request *all[] = {r[0][0], r[0][1], r[1][0], r[1][1]};
        OK(tacit_trigger_matchall(4, all));
    }
    for (int k = 0; k < count && plays; k++) {
        const int h = k % 2;
        CUDA(triggered_fill(t.stream, t.count, 1, t.from + h * HALF, BYTES));
        CUDA(triggered_delay(t.stream, (unsigned)(k + t.g.rank)));
        exchange(&t, r[h], k / 2); /* both ways of each buffer */
        CUDA(triggered_check(t.stream, t.count + 1, 1, t.to + h * HALF, BYTES,
                             t.count + 2));
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    for (int h = 0; h < 2; h++) free_all(2, r[h]);
    gpu_close(&t);
}

/* Both ranks start large sends before their receives. */
static void sends_may_come_first(void **state)
{
    (void)state;
    statement(28, 28);
    enum { LARGE = 3 << 20 };
    gpu t = gpu_open();
    request *r[2] = {NULL};
    if (t.g.sends || t.g.receives) {
        const int other = t.g.last - t.g.rank;
        OK(tacit_trigger_send_init(t.g.c, t.from, LARGE, TACIT_TRIGGER_BYTE,
                                   other, 0, &r[0]));
        OK(tacit_trigger_recv_init(t.g.c, t.to, LARGE, TACIT_TRIGGER_BYTE,
                                   other, 0, &r[1]));
        OK(tacit_trigger_matchall(2, r));
        CUDA(triggered_fill(t.stream, t.count, 1, t.from, LARGE));
        OK(tacit_trigger_enqueue_start(t.g.q, r[0]));
        OK(tacit_trigger_enqueue_start(t.g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[1])); /* the send is pending */
        OK(tacit_trigger_enqueue_wait(t.g.q, r[0]));
        CUDA(triggered_check(t.stream, t.count + 1, 1, t.to, LARGE,
                             t.count + 2));
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    free_all(2, r);
    gpu_close(&t);
}

/* A send without a wait goes on while the host waits for another queue. */
static void a_pending_send_goes_on(void **state)
{
    (void)state;
    statement(29, 29);
    enum { LARGE = 1 << 20 };
    gpu t = gpu_open();
    request *r[4] = {NULL};
    cudaStream_t stream;
    tacit_trigger_queue *two = NULL;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(tacit_trigger_queue_create(t.g.c, TACIT_TRIGGER_KERNEL, stream, &two));
    if (t.g.size > 1) {
        pair(&t, 0, LARGE, r);
        if (t.g.receives)
            OK(tacit_trigger_send_init(t.g.c, t.from, 1, TACIT_TRIGGER_BYTE, 0,
                                       1, &r[2]));
        if (t.g.sends)
            OK(tacit_trigger_recv_init(t.g.c, t.to, 1, TACIT_TRIGGER_BYTE,
                                       t.g.last, 1, &r[3]));
        OK(match_those(4, r));
    }
    if (r[0]) {
        OK(tacit_trigger_enqueue_start(t.g.q, r[0]));
        OK(tacit_trigger_enqueue_start(two, r[3]));
        OK(tacit_trigger_enqueue_wait(two, r[3]));
        OK(tacit_trigger_queue_wait(two));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[0]));
    } else if (r[1]) {
        CUDA(triggered_delay(t.stream, 3));
        OK(tacit_trigger_enqueue_start(t.g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[1]));
        OK(tacit_trigger_enqueue_start(t.g.q, r[2]));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[2]));
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    free_all(4, r);
    OK(tacit_trigger_queue_free(&two));
    CUDA(cudaStreamDestroy(stream));
    gpu_close(&t);
}

/* --- amounts -------------------------------------------------------------- */

static void hundreds_of_requests(void **state)
{
    (void)state;
    statement(34, 34);
    enum { MANY = 700, BYTES = 24 };
    gpu t = gpu_open();
    request **r = tct_calloc(2 * MANY * sizeof *r), *some[2 * MANY];
    int n = 0;
    for (int k = 0; k < MANY; k++) {
        rig_pair(&t.g, k, t.from + k * BYTES, t.to + k * BYTES, BYTES,
                 TACIT_TRIGGER_BYTE, r + 2 * k);
        for (int i = 0; i < 2; i++)
            if (r[2 * k + i]) some[n++] = r[2 * k + i];
    }
    if (n > 0) OK(tacit_trigger_matchall(n, some));
    for (int k = 0; k < 4; k++) {
        fill(&t, t.from, MANY * BYTES);
        if (k == 3) { /* more than a kernel's arguments hold */
            OK(tacit_trigger_enqueue_exchange(t.g.q, 2 * MANY, r));
            check(&t, t.to, MANY * BYTES);
            continue;
        }
        OK(tacit_trigger_enqueue_startall(t.g.q, 2 * MANY, r));
        if (k == 1) OK(tacit_trigger_enqueue_wait_started(t.g.q));
        else OK(tacit_trigger_enqueue_waitall(t.g.q, 2 * MANY, r));
        check(&t, t.to, MANY * BYTES);
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    free_all(2 * MANY, r);
    tct_free(r);
    gpu_close(&t);
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    statement(35, 35);
    gpu t = gpu_open();
    size_t unused[2] = {0}, all;
    for (int k = 0; k < 300; k++) {
        request *r[2];
        if (k == 100) CUDA(cudaMemGetInfo(&unused[0], &all));
        pair(&t, 0, 5000, r);
        OK(match_those(2, r));
        OK(tacit_trigger_enqueue_startall(t.g.q, 2, r));
        OK(tacit_trigger_enqueue_waitall(t.g.q, 2, r));
        CUDA(cudaStreamSynchronize(t.stream)); /* T17: the counters decide */
        free_all(2, r);
    }
    meet_all();
    CUDA(cudaMemGetInfo(&unused[1], &all));
    if (!t.shared) assert_true(unused[1] + (64 << 20) >= unused[0]);
    gpu_close(&t);
}

/* --- recordings ----------------------------------------------------------- */

static void recordings_are_replayed(void **state)
{
    (void)state;
    statement(36, 36);
    static const size_t sizes[] = {8, 8192, 70000, 1 << 20};
    gpu t = gpu_open();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        request *r[2];
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        const int count = t.shared ? 30 : sizes[k] < 100000 ? 10000 : 2000;
        pair(&t, (int)k, (int64_t)sizes[k], r);
        OK(match_those(2, r));
        CUDA(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeRelaxed));
        for (int both = 2; both <= 3; both++) { /* two kernels, and one */
            fill(&t, t.from, sizes[k]);
            exchange(&t, r, both);
            check(&t, t.to, sizes[k]);
        }
        CUDA(cudaStreamEndCapture(t.stream, &graph));
        CUDA(cudaGraphInstantiate(&exec, graph, 0));
        for (int i = 0; i < count; i++) CUDA(cudaGraphLaunch(exec, t.stream));
        OK(tacit_trigger_queue_wait(t.g.q));
        no_byte_is_wrong(&t);
        /* and once more without it */
        fill(&t, t.from, sizes[k]);
        OK(tacit_trigger_enqueue_startall(t.g.q, 2, r));
        OK(tacit_trigger_enqueue_waitall(t.g.q, 2, r));
        check(&t, t.to, sizes[k]);
        OK(tacit_trigger_queue_wait(t.g.q));
        no_byte_is_wrong(&t);
        free_all(2, r);
        CUDA(cudaGraphExecDestroy(exec));
        CUDA(cudaGraphDestroy(graph));
    }
    gpu_close(&t);
}

/* --- several at once ------------------------------------------------------ */

/* A ring, twice to the next rank and once to the own one, as one request. */
static void neighbours_exchange(void **state)
{
    (void)state;
    statement(6, 6);
    enum { EACH = 40000 };
    gpu t = gpu_open();
    const int next = (t.g.rank + 1) % t.g.size,
              before = (t.g.rank + t.g.size - 1) % t.g.size;
    tacit_trigger_part send[3], receive[3];
    for (int k = 0; k < 3; k++) {
        send[k] =
            (tacit_trigger_part){k < 2 ? next : t.g.rank, t.from + k * EACH,
                                 EACH, TACIT_TRIGGER_BYTE};
        receive[k] =
            (tacit_trigger_part){k < 2 ? before : t.g.rank, t.to + k * EACH,
                                 EACH, TACIT_TRIGGER_BYTE};
    }
    request *r = NULL;
    OK(tacit_trigger_neighbours_init(t.g.c, 3, send, 3, receive, &r));
    OK(tacit_trigger_match(r));
    for (int k = 0; k < 20; k++) {
        CUDA(triggered_fill(t.stream, t.count, 1, t.from, 3 * EACH));
        if (k % 2) {
            OK(tacit_trigger_enqueue_exchange(t.g.q, 1, &r));
        } else {
            OK(tacit_trigger_enqueue_start(t.g.q, r));
            OK(tacit_trigger_enqueue_wait(t.g.q, r));
        }
        CUDA(triggered_check(t.stream, t.count + 1, 1, t.to, 3 * EACH,
                             t.count + 2));
    }
    OK(tacit_trigger_queue_wait(t.g.q));
    no_byte_is_wrong(&t);
    free_all(1, &r);
    gpu_close(&t);
}

/* --- lost ranks ----------------------------------------------------------- */

static void a_silent_rank_is_named(void **state)
{
    (void)state;
    statement(33, 33);
    tacit_world *w = NULL;
    request *r[2];
    OK(tacit_world_split(test_world(), 0, &w));
    gpu t = gpu_open_in(w);
    pair(&t, 8, 1, r);
    OK(match_those(2, r));
    OK(tacit_trigger_comm_set_patience(t.g.c, 0.3));
    meet_all();
    if (t.g.receives) {
        OK(tacit_trigger_enqueue_start(t.g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(t.g.q, r[1]));
        REFUSES(TACIT_COMM, "rank 0 has not answered for 0.3 s",
                tacit_trigger_queue_wait(t.g.q));
        assert_non_null(strstr(tacit_error_message(),
                               "the receive of 1 bytes with tag 8 from rank 0, "
                               "number 1: its message has not come"));
        OK(tacit_trigger_enqueue_start(t.g.q, r[1])); /* no wait any more */
        OK(tacit_trigger_enqueue_wait(t.g.q, r[1]));
        REFUSES(TACIT_COMM, "rank 0", tacit_trigger_queue_wait(t.g.q));
    }
    meet_all();
    free_all(2, r);
    gpu_close(&t);
    tacit_world_destroy(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_memory),
        cmocka_unit_test(both_ends_are_on_gpus),
        cmocka_unit_test(each_byte_arrives),
        cmocka_unit_test(many_messages_in_a_row),
        cmocka_unit_test(a_start_never_blocks),
        cmocka_unit_test(few_bytes_do_not_wait),
        cmocka_unit_test(ready_sends_with_two_buffers),
        cmocka_unit_test(sends_may_come_first),
        cmocka_unit_test(a_pending_send_goes_on),
        cmocka_unit_test(hundreds_of_requests),
        cmocka_unit_test(memory_does_not_grow),
        cmocka_unit_test(recordings_are_replayed),
        cmocka_unit_test(neighbours_exchange),
        cmocka_unit_test(a_silent_rank_is_named),
    };
    TEST_GPU_MAIN(tests);
}
