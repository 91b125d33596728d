/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_triggered.c - the statements T1 to T37 on the triggered queue, by
 * number, on the host: ranks are threads, processes, and processes of MPI.
 *
 * RUN: np=1,3
 * THREADS: 2,3
 * PROCESSES: 2,3 */
#include "device/signals.h"
#include "triggered_rig.h"
#include <sys/mman.h>

enum { SEVEN = 7 };

/* --- matching ------------------------------------------------------------- */

static void requests_are_matched_once(void **state)
{
    (void)state;
    statement(1, 3);
    rig g = rig_open();
    char from[SEVEN] = "seven", to[SEVEN];
    request *r[2], *none = NULL;
    rig_pair(&g, 3, from, to, SEVEN, TACIT_TRIGGER_BYTE, r);
    for (int k = 0; k < 2; k++)
        if (r[k]) assert_false(matched(r[k]));
    OK(match_those(2, r));
    REFUSES(TACIT_INVALID, "is no request", tacit_trigger_match(none));
    for (int k = 0; k < 2; k++) {
        if (!r[k]) continue;
        assert_true(matched(r[k]));
        REFUSES(TACIT_INVALID, "is matched already", tacit_trigger_match(r[k]));
        assert_true(matched(r[k]));
    }
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    OK(tacit_trigger_queue_wait(g.q));
    if (g.receives) assert_string_equal(to, "seven");
    free_all(2, r);
    rig_close(&g);
}

/* Two of one tag, one of another, which is matched first by the sender. */
static void matches_are_in_order(void **state)
{
    (void)state;
    statement(5, 6);
    rig g = rig_open();
    const int32_t from[3] = {1, 2, 3};
    int32_t to[3] = {0};
    request *r[6], *some[6];
    static const int tag[] = {5, 5, 6}, order[] = {2, 0, 1};
    int n = 0;
    for (int k = 0; k < 3; k++)
        rig_pair(&g, tag[k], &from[k], &to[k], 1, TACIT_TRIGGER_I32, r + 2 * k);
    for (int k = 0; k < 3; k++) {
        if (g.sends) some[n++] = r[2 * order[k]];
        if (g.receives) some[n++] = r[2 * k + 1];
    }
    if (n > 0) OK(tacit_trigger_matchall(n, some));
    OK(tacit_trigger_enqueue_startall(g.q, 6, r));
    OK(tacit_trigger_enqueue_waitall(g.q, 6, r));
    OK(tacit_trigger_queue_wait(g.q));
    for (int k = 0; k < 3 && g.receives; k++) assert_int_equal(to[k], k + 1);
    free_all(6, r);
    rig_close(&g);
}

/* Ranks match on two communicators in opposite orders. */
static void communicators_do_not_cross(void **state)
{
    (void)state;
    statement(5, 5);
    rig g[2] = {rig_open(), rig_open()};
    const int32_t from[2] = {11, 22};
    int32_t to[2] = {0};
    request *r[4], *match[2] = {NULL};
    for (int k = 0; k < 2; k++)
        rig_pair(&g[k], 1, &from[k], &to[k], 1, TACIT_TRIGGER_I32, r + 2 * k);
    for (int i = 0; i < 2; i++) {
        const int k = g->rank % 2 ? 1 - i : i;
        request *some[2];
        int n = 0;
        for (int j = 0; j < 2; j++)
            if (r[2 * k + j]) some[n++] = r[2 * k + j];
        if (n > 0) OK(tacit_trigger_imatchall(n, some, &match[k]));
    }
    for (int k = 0; k < 2; k++) OK(tacit_trigger_wait(&match[k]));
    for (int k = 0; k < 2; k++) {
        OK(tacit_trigger_enqueue_startall(g[k].q, 2, r + 2 * k));
        OK(tacit_trigger_enqueue_wait_started(g[k].q));
    }
    for (int k = 0; k < 2; k++) {
        OK(tacit_trigger_queue_wait(g[k].q));
        if (g->receives) assert_int_equal(to[k], from[k]);
    }
    free_all(4, r);
    for (int k = 0; k < 2; k++) rig_close(&g[k]);
}

/* Messages of MPI with the same tag are neither taken nor delivered. */
static void messages_of_mpi_are_not_touched(void **state)
{
    (void)state;
    statement(4, 4);
#if TCT_HAVE_MPI
    if (!test_launched_ || tacit_world_size(test_world()) == 1) skip();
    rig g = rig_open();
    double mine = 0.0, got = 0.0, sent = 4.0, from = 5.0;
    MPI_Request user = MPI_REQUEST_NULL;
    request *r[2];
    int done = 1;
    if (g.receives)
        MPI_Irecv(&mine, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &user);
    rig_pair(&g, 3, &from, &got, 1, TACIT_TRIGGER_F64, r);
    OK(match_those(2, r));
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    OK(tacit_trigger_queue_wait(g.q));
    meet_all();
    if (g.receives) MPI_Test(&user, &done, MPI_STATUS_IGNORE);
    assert_int_equal(done, g.receives ? 0 : 1);
    meet_all();
    if (g.sends) MPI_Send(&sent, 1, MPI_DOUBLE, g.last, 3, MPI_COMM_WORLD);
    if (g.receives) {
        MPI_Wait(&user, MPI_STATUS_IGNORE);
        assert_true(mine == sent && got == from);
    }
    free_all(2, r);
    rig_close(&g);
#else
    skip();
#endif
}

/* Rank 0 sends `n` elements, the last one has room for `room`. */
static void check_fit(rig *g, int64_t n, tacit_trigger_type type, int64_t room,
                      tacit_trigger_type other, const char *text)
{
    double from[2] = {1.0, 2.0}, to[2];
    request *r[2] = {NULL};
    int64_t bytes = -1;
    if (g->sends)
        OK(tacit_trigger_send_init(g->c, from, n, type, g->last, 0, &r[0]));
    if (g->receives)
        OK(tacit_trigger_recv_init(g->c, to, room, other, 0, 0, &r[1]));
    if (text && (g->sends || g->receives))
        REFUSES(TACIT_INVALID, text, match_those(2, r));
    else OK(match_those(2, r));
    for (int k = 0; k < 2; k++)
        if (r[k]) assert_int_equal(matched(r[k]), !text);
    if (r[1] && !text) {
        OK(tacit_trigger_received(r[1], &bytes));
        assert_int_equal(bytes, n * (type == TACIT_TRIGGER_F64 ? 8 : 1));
    }
    free_all(2, r);
}

static void sizes_and_types_must_fit(void **state)
{
    (void)state;
    statement(7, 7);
    rig g = rig_open();
    check_fit(&g, 2, TACIT_TRIGGER_F64, 1, TACIT_TRIGGER_F64,
              "rank 0 sends 16 bytes");
    check_fit(&g, 1, TACIT_TRIGGER_F64, 1, TACIT_TRIGGER_I64,
              "elements F64 to rank");
    check_fit(&g, 1, TACIT_TRIGGER_F64, 2, TACIT_TRIGGER_F64, NULL);
    check_fit(&g, 1, TACIT_TRIGGER_F64, 8, TACIT_TRIGGER_BYTE, NULL);
    check_fit(&g, 8, TACIT_TRIGGER_BYTE, 1, TACIT_TRIGGER_F64, NULL);
    rig_close(&g);
}

/* Two sends to each other are no pair; nor is a send to the own rank. */
static void sends_do_not_match_sends(void **state)
{
    (void)state;
    statement(7, 7);
    tacit_world *w = NULL;
    OK(tacit_world_split(test_world(), 0, &w));
    rig g = rig_open_in(w);
    double x = 1.0;
    request *r = NULL;
    OK(tacit_trigger_comm_set_patience(g.c, 0.2));
    OK(tacit_trigger_send_init(g.c, &x, 1, TACIT_TRIGGER_F64, g.last - g.rank,
                               4, &r));
    REFUSES(TACIT_COMM, "is not matched", tacit_trigger_match(r));
    assert_non_null(strstr(tacit_error_message(), "the send of 8 bytes"));
    assert_non_null(strstr(tacit_error_message(), "for 0.2 s"));
    REFUSES(TACIT_COMM, "is not matched", tacit_trigger_queue_wait(g.q));
    free_all(1, &r);
    rig_close(&g);
    tacit_world_destroy(&w);
}

static void a_match_is_a_request(void **state)
{
    (void)state;
    statement(8, 9);
    rig g = rig_open();
    int32_t from[2] = {1, 2}, to[2] = {0};
    request *r[4], *m = NULL;
    bool done = false;
    rig_pair(&g, 0, from, to, 1, TACIT_TRIGGER_I32, r);
    rig_pair(&g, 1, from + 1, to + 1, 1, TACIT_TRIGGER_I32, r + 2);
    if (g.sends && g.size > 1) { /* the receiver has not matched: not yet */
        request *those[] = {r[0], r[2]};
        OK(tacit_trigger_imatchall(2, those, &m));
        OK(tacit_trigger_test(&m, &done));
        assert_false(done);
        assert_false(matched(r[0]));
        REFUSES(TACIT_INVALID, "is not matched",
                tacit_trigger_enqueue_start(g.q, r[0]));
        REFUSES(TACIT_INVALID, "being matched", tacit_trigger_match(r[0]));
        REFUSES(TACIT_INVALID, "being matched",
                tacit_trigger_request_free(&r[0]));
        REFUSES(TACIT_INVALID, "cannot be matched", tacit_trigger_match(m));
        REFUSES(TACIT_INVALID, "has not ended", tacit_trigger_request_free(&m));
    }
    meet_all();
    if (g.receives && g.size > 1) OK(tacit_trigger_match(r[1]));
    meet_all();
    if (g.sends && g.size > 1) { /* one of two */
        assert_true(matched(r[0]));
        assert_false(matched(r[2]));
        OK(tacit_trigger_test(&m, &done));
        assert_false(done);
    }
    meet_all();
    if (g.receives && g.size > 1) OK(tacit_trigger_match(r[3]));
    meet_all();
    if (g.sends && g.size > 1) {
        assert_true(matched(r[2]));
        assert_non_null(m); /* is_matched has not ended it */
        OK(tacit_trigger_wait(&m));
        assert_null(m);
    }
    free_all(4, r);
    rig_close(&g);
}

static void what_is_no_request_is_refused(void **state)
{
    (void)state;
    statement(10, 10);
    rig g = rig_open();
    double x = 0.0;
    request *r = NULL, *nobody = NULL;
    REFUSES(TACIT_INVALID, "tag -1",
            tacit_trigger_recv_init(g.c, &x, 1, TACIT_TRIGGER_F64, 0, -1, &r));
    REFUSES(TACIT_INVALID, "rank -2",
            tacit_trigger_recv_init(g.c, &x, 1, TACIT_TRIGGER_F64, -2, 0, &r));
    REFUSES(
        TACIT_INVALID, "a rank from 0",
        tacit_trigger_send_init(g.c, &x, 1, TACIT_TRIGGER_F64, g.size, 0, &r));
    REFUSES(
        TACIT_INVALID, "no type",
        tacit_trigger_send_init(g.c, &x, 1, (tacit_trigger_type)99, 0, 0, &r));
    REFUSES(TACIT_INVALID, "-1 elements",
            tacit_trigger_send_init(g.c, &x, -1, TACIT_TRIGGER_F64, 0, 0, &r));
    REFUSES(TACIT_INVALID, "at NULL",
            tacit_trigger_send_init(g.c, NULL, 1, TACIT_TRIGGER_F64, 0, 0, &r));
    assert_null(r);
    OK(tacit_trigger_send_init(g.c, &x, 1, TACIT_TRIGGER_F64,
                               TACIT_TRIGGER_NOBODY, 0, &nobody));
    OK(tacit_trigger_match(nobody));
    OK(tacit_trigger_enqueue_start(g.q, nobody));
    OK(tacit_trigger_enqueue_wait(g.q, nobody));
    OK(tacit_trigger_queue_wait(g.q));
    free_all(1, &nobody);
    rig_close(&g);
}

/* --- queues --------------------------------------------------------------- */

/* A pair of `count` bytes that is matched. */
static rig open_pair(const void *from, void *to, int64_t count, request **r)
{
    rig g = rig_open();
    rig_pair(&g, 0, from, to, count, TACIT_TRIGGER_BYTE, r);
    OK(match_those(2, r));
    return g;
}

static void close_pair(rig *g, request **r)
{
    OK(tacit_trigger_queue_wait(g->q));
    free_all(2, r);
    rig_close(g);
}

static void unmatched_requests_are_not_enqueued(void **state)
{
    (void)state;
    statement(11, 11);
    rig g = rig_open();
    char x = 0;
    request *r = NULL;
    OK(tacit_trigger_recv_init(g.c, &x, 1, TACIT_TRIGGER_BYTE, 0, 0, &r));
    REFUSES(TACIT_INVALID, "is not matched",
            tacit_trigger_enqueue_start(g.q, r));
    REFUSES(TACIT_INVALID, "is not matched",
            tacit_trigger_enqueue_wait(g.q, r));
    REFUSES(TACIT_INVALID, "is not matched", tacit_trigger_startall(1, &r));
    REFUSES(TACIT_INVALID, "is not matched", tacit_trigger_wait(&r));
    OK(tacit_trigger_queue_wait(g.q));
    free_all(1, &r);
    rig_close(&g);
}

/* Lists with one bad entry start nothing, and wait for nothing. */
static void all_are_started_or_none(void **state)
{
    (void)state;
    statement(12, 12);
    char from = 1, to = 0, x = 0;
    request *r[2], *un = NULL;
    rig g = open_pair(&from, &to, 1, r);
    bool done = false;
    OK(tacit_trigger_recv_init(g.c, &x, 1, TACIT_TRIGGER_BYTE, 0, 9, &un));
    if (g.receives && g.size > 1) OK(tacit_trigger_startall(1, &r[1]));
    meet_all();
    if (g.sends) {
        request *const bad[] = {r[0], un}, *const twice[] = {r[0], NULL, r[0]};
        REFUSES(TACIT_INVALID, "request 1, the receive of 1 bytes with tag 9",
                tacit_trigger_enqueue_startall(g.q, 2, bad));
        REFUSES(TACIT_INVALID, "twice",
                tacit_trigger_enqueue_startall(g.q, 3, twice));
        REFUSES(TACIT_INVALID, "request 1, the receive of 1 bytes with tag 9",
                tacit_trigger_enqueue_exchange(g.q, 2, bad));
        REFUSES(TACIT_INVALID, "twice",
                tacit_trigger_enqueue_exchange(g.q, 3, twice));
        OK(tacit_trigger_queue_wait(g.q));
    }
    meet_all();
    if (g.receives && g.size > 1) {
        OK(tacit_trigger_test(&r[1], &done));
        assert_false(done); /* nothing was sent */
    }
    meet_all();
    OK(tacit_trigger_enqueue_start(g.q, r[0]));
    if (g.sends) { /* the wait of the first one is not enqueued, either */
        request *const bad[] = {r[0], un}, *const twice[] = {r[0], r[0]};
        REFUSES(TACIT_INVALID, "is not matched",
                tacit_trigger_enqueue_waitall(g.q, 2, bad));
        REFUSES(TACIT_INVALID, "twice",
                tacit_trigger_enqueue_waitall(g.q, 2, twice));
        REFUSES(TACIT_INVALID, "is started already",
                tacit_trigger_enqueue_start(g.q, r[0]));
        REFUSES(TACIT_INVALID, "is started already",
                tacit_trigger_enqueue_exchange(g.q, 1, r));
    }
    OK(tacit_trigger_enqueue_wait(g.q, r[0]));
    if (g.size == 1) OK(tacit_trigger_startall(1, &r[1]));
    OK(tacit_trigger_wait(&r[1]));
    assert_int_equal(to, g.receives);
    OK(tacit_trigger_request_free(&un));
    close_pair(&g, r);
}

static void a_start_follows_a_wait(void **state)
{
    (void)state;
    statement(13, 15);
    enum { DEPTH = 20000 };
    char from = 1, to = 0;
    request *r[2];
    rig g = open_pair(&from, &to, 1, r);
    for (int k = 0; k < 2; k++) OK(tacit_trigger_enqueue_wait(g.q, r[k]));
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    for (int k = 0; k < 2; k++)
        if (r[k])
            REFUSES(TACIT_INVALID, "is started already",
                    tacit_trigger_enqueue_start(g.q, r[k]));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r)); /* waited for already */
    for (int k = 0; k < DEPTH; k++) {
        OK(tacit_trigger_enqueue_startall(g.q, 2, r));
        OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    }
    OK(tacit_trigger_enqueue_wait_started(g.q)); /* none */
    OK(tacit_trigger_enqueue_wait(g.q, NULL));
    close_pair(&g, r);
}

static void wait_for_flag(void *ctx)
{
    while (!atomic_load((atomic_int *)ctx)) sched_yield();
}

static void set_flag(void *ctx)
{
    atomic_store((atomic_int *)ctx, 1);
}

/* A request may go to another queue when it has ended in the first one. */
static void a_wait_is_where_the_start_was(void **state)
{
    (void)state;
    statement(16, 18);
    char from = 1, to = 0;
    request *r[2];
    atomic_int go = 0;
    rig g = open_pair(&from, &to, 1, r);
    tacit_trigger_queue *other = NULL;
    OK(tacit_trigger_queue_create(g.c, TACIT_TRIGGER_THREAD, NULL, &other));
    OK(tacit_trigger_enqueue_task(g.q, wait_for_flag, &go));
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    for (int k = 0; k < 2; k++) {
        if (!r[k]) continue;
        REFUSES(TACIT_INVALID, "in another queue",
                tacit_trigger_enqueue_wait(other, r[k]));
        REFUSES(TACIT_INVALID, "in another queue", tacit_trigger_wait(&r[k]));
        REFUSES(TACIT_INVALID, "not come to its end",
                tacit_trigger_request_free(&r[k]));
    }
    REFUSES(TACIT_INVALID, "has work", tacit_trigger_queue_free(&g.q));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    for (int k = 0; k < 2; k++) {
        if (!r[k]) continue;
        bool done;
        REFUSES(TACIT_INVALID, "has not ended in another queue",
                tacit_trigger_enqueue_start(other, r[k]));
        REFUSES(TACIT_INVALID, "is in a queue",
                tacit_trigger_test(&r[k], &done));
    }
    set_flag(&go);
    OK(tacit_trigger_queue_wait(g.q));
    OK(tacit_trigger_enqueue_startall(other, 2, r));
    OK(tacit_trigger_queue_wait(other));
    if (g.sends || g.receives)
        REFUSES(TACIT_INVALID, "not waited for",
                tacit_trigger_queue_free(&other));
    OK(tacit_trigger_enqueue_wait_started(other));
    OK(tacit_trigger_queue_wait(other));
    OK(tacit_trigger_queue_free(&other));
    close_pair(&g, r);
}

/* Completion is known by the caller's own means, too: a task after the wait. */
static void a_request_that_has_ended_may_be_freed(void **state)
{
    (void)state;
    statement(17, 17);
    char from = 1, to = 0;
    request *r[2];
    atomic_int ended = 0, go = 0;
    rig g = open_pair(&from, &to, 1, r);
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    OK(tacit_trigger_enqueue_wait_started(g.q));
    OK(tacit_trigger_enqueue_task(g.q, set_flag, &ended));
    OK(tacit_trigger_enqueue_task(g.q, wait_for_flag, &go));
    wait_for_flag(&ended);
    free_all(2, r); /* while the queue is still at work */
    set_flag(&go);
    close_pair(&g, r);
}

static void sleep_and_set(void *ctx)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    set_flag(ctx);
}

static void a_queue_is_waited_for_with_its_tasks(void **state)
{
    (void)state;
    statement(19, 21);
    char from = 1, to = 0;
    request *r[2];
    atomic_int ended = 0, one = 0, two = 0;
    rig g = open_pair(&from, &to, 1, r);
    tacit_trigger_queue *other = NULL;
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    OK(tacit_trigger_enqueue_task(g.q, sleep_and_set, &ended));
    OK(tacit_trigger_queue_wait(g.q));
    assert_int_equal(atomic_load(&ended), 1);
    /* two queues at once: each waits for a task of the other */
    OK(tacit_trigger_queue_create(g.c, TACIT_TRIGGER_THREAD, NULL, &other));
    OK(tacit_trigger_enqueue_task(g.q, wait_for_flag, &one));
    OK(tacit_trigger_enqueue_task(g.q, set_flag, &two));
    OK(tacit_trigger_enqueue_task(other, set_flag, &one));
    OK(tacit_trigger_enqueue_task(other, wait_for_flag, &two));
    OK(tacit_trigger_queue_wait(g.q));
    OK(tacit_trigger_queue_wait(other));
    OK(tacit_trigger_queue_free(&other));
    close_pair(&g, r);
}

static void queues_of_gpus_need_a_gpu(void **state)
{
    (void)state;
    statement(21, 21);
    rig g = rig_open();
    tacit_trigger_queue *q = NULL;
    int stream = 0;
    REFUSES(TACIT_UNSUPPORTED, "call tacit_trigger_comm_use_gpu first",
            tacit_trigger_queue_create(g.c, TACIT_TRIGGER_KERNEL, NULL, &q));
    REFUSES(TACIT_UNSUPPORTED, "kind memop",
            tacit_trigger_queue_create(g.c, TACIT_TRIGGER_MEMOP, NULL, &q));
    REFUSES(TACIT_UNSUPPORTED, "call tacit_trigger_comm_use_gpu first",
            tacit_trigger_queue_create(g.c, TACIT_TRIGGER_AUTO, &stream, &q));
    REFUSES(TACIT_UNSUPPORTED, "kind thread with a stream",
            tacit_trigger_queue_create(g.c, TACIT_TRIGGER_THREAD, &stream, &q));
    REFUSES(TACIT_INVALID, "no kind 7",
            tacit_trigger_queue_create(g.c, (tacit_trigger_kind)7, NULL, &q));
    assert_null(q);
    OK(tacit_trigger_queue_free(&g.q));
    OK(tacit_trigger_queue_free(&g.q));
    OK(tacit_trigger_queue_create(g.c, TACIT_TRIGGER_AUTO, NULL, &g.q));
    tacit_status status = tacit_trigger_comm_free(&g.c); /* has a queue */
    assert_int_equal(status, TACIT_INVALID);
    rig_close(&g);
}

/* --- order and progress --------------------------------------------------- */

enum { LARGE = 20000 }; /* beyond eager slots */

typedef struct {
    unsigned char *data;
    int64_t bytes;
    uint64_t seed, number; /* of the next message */
    int64_t wrong;
} stuff;

static unsigned char byte_of(const stuff *s, int64_t i)
{
    return (unsigned char)(tct_mix(s->seed << 32 | s->number) +
                           (uint64_t)i * 7);
}

static void pack(void *ctx)
{
    stuff *s = ctx;
    s->number++;
    for (int64_t i = 0; i < s->bytes; i++) s->data[i] = byte_of(s, i);
}

static void unpack(void *ctx)
{
    stuff *s = ctx;
    s->number++;
    for (int64_t i = 0; i < s->bytes; i++)
        s->wrong += s->data[i] != byte_of(s, i);
}

/* Also: a send's buffer is written to right after its wait (T31). */
static void check_order(int64_t bytes, int repeats)
{
    unsigned char *from = tct_alloc((size_t)bytes + 2),
                  *to = tct_alloc((size_t)bytes + 2);
    memset(to, 0xee, (size_t)bytes + 2);
    stuff out = {.data = from + 1, .bytes = bytes, .seed = 5}, in = out;
    in.data = to + 1;
    request *r[2];
    rig g = open_pair(out.data, in.data, bytes, r);
    for (int k = 0; k < repeats; k++) {
        OK(tacit_trigger_enqueue_start(g.q, r[1]));
        if (g.sends) OK(tacit_trigger_enqueue_task(g.q, pack, &out));
        OK(tacit_trigger_enqueue_start(g.q, r[0]));
        OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
        if (g.receives) OK(tacit_trigger_enqueue_task(g.q, unpack, &in));
    }
    OK(tacit_trigger_queue_wait(g.q));
    assert_int_equal(in.wrong, 0);
    if (g.receives) assert_int_equal(in.number, repeats);
    assert_int_equal(to[0], 0xee);
    assert_int_equal(to[bytes + 1], 0xee);
    close_pair(&g, r);
    TCT_FREE(from, to);
}

/* Payloads of the message's number, in buffers that begin and end anywhere. */
static void each_byte_arrives(void **state)
{
    (void)state;
    statement(22, 22);
    statement(30, 32);
    static const int64_t bytes[] = {0, 1, 7, 8191, 8192, 8193, LARGE, 1 << 20};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        check_order(bytes[i], bytes[i] < 8192    ? 2000
                              : bytes[i] < LARGE ? 300
                                                 : 50);
    check_order((8 << 20) + 3, 3);
}

/* The last rank does not start its side before it is told to. */
static void a_start_never_blocks(void **state)
{
    (void)state;
    statement(23, 25);
    static const int64_t bytes[] = {8, LARGE};
    for (int i = 0; i < 2; i++) {
        unsigned char *from = tct_calloc(LARGE), *to = tct_alloc(LARGE);
        atomic_int after = 0;
        request *r[2];
        bool done = true;
        memset(to, 0xee, LARGE);
        rig g = open_pair(from, to, bytes[i], r);
        OK(tacit_trigger_enqueue_start(g.q, r[0]));
        OK(tacit_trigger_enqueue_task(g.q, set_flag, &after));
        OK(tacit_trigger_queue_wait(g.q)); /* the start alone has ended */
        assert_int_equal(atomic_load(&after), 1);
        meet_all();
        for (int k = 0; k < LARGE; k++) assert_int_equal(to[k], 0xee);
        meet_all();
        OK(tacit_trigger_startall(1, &r[1])); /* the host's side */
        OK(tacit_trigger_wait(&r[1]));
        OK(tacit_trigger_enqueue_wait(g.q, r[0]));
        OK(tacit_trigger_queue_wait(g.q));
        for (int k = 0; k < bytes[i] && g.receives; k++)
            assert_int_equal(to[k], 0);
        OK(tacit_trigger_test(&r[1], &done));
        assert_true(done);
        close_pair(&g, r);
        TCT_FREE(from, to);
    }
}

/* A synchronous send ends after its receiver has started, a standard one of few
 * bytes before; the third one of those waits for the first to be read. */
static void few_bytes_do_not_wait(void **state)
{
    (void)state;
    statement(23, 24);
    rig g = rig_open();
    char from[2] = {1, 2}, to[2] = {0};
    request *r[4] = {NULL};
    bool done = true;
    rig_pair(&g, 0, from, to, 1, TACIT_TRIGGER_BYTE, r);
    if (g.sends)
        OK(tacit_trigger_ssend_init(g.c, from + 1, 1, TACIT_TRIGGER_BYTE,
                                    g.last, 1, &r[2]));
    if (g.receives)
        OK(tacit_trigger_recv_init(g.c, to + 1, 1, TACIT_TRIGGER_BYTE, 0, 1,
                                   &r[3]));
    OK(match_those(4, r));
    for (int k = 0; k < 3 && g.sends; k++) {
        OK(tacit_trigger_startall(1, &r[0]));
        OK(tacit_trigger_test(&r[0], &done));
        assert_int_equal(done, k < 2);
    }
    OK(tacit_trigger_startall(1, &r[2]));
    OK(tacit_trigger_test(&r[2], &done));
    assert_int_equal(done, !g.sends);
    meet_all();
    for (int k = 0; k < 3; k++) { /* one end in a queue */
        OK(tacit_trigger_enqueue_start(g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(g.q, r[1]));
    }
    OK(tacit_trigger_enqueue_start(g.q, r[3]));
    OK(tacit_trigger_enqueue_wait(g.q, r[3]));
    OK(tacit_trigger_wait(&r[0]));
    OK(tacit_trigger_wait(&r[2]));
    OK(tacit_trigger_queue_wait(g.q));
    if (g.receives) assert_true(to[0] == 1 && to[1] == 2);
    free_all(4, r);
    rig_close(&g);
}

static void delay(void *ctx)
{
    uint64_t *seed = ctx;
    *seed = tct_mix(*seed);
    for (uint64_t k = *seed % 64; k > 60; k--) sched_yield();
}

/* Each rank sends ready messages to the next one and has two buffers: message k
 * goes out after the wait of k - 1, which the receiver sent after it had read
 * k - 2 out of the buffer of k. */
static void ready_sends_with_two_buffers(void **state)
{
    (void)state;
    statement(26, 26);
    enum { STEPS = 5000, BYTES = 64 };
    rig g = rig_open();
    const int other = g.last - g.rank; /* a partner; the middle one: itself */
    unsigned char from[2][BYTES], to[2][BYTES];
    stuff out[2], in[2];
    request *r[4];
    uint64_t seed = (uint64_t)g.rank;
    for (int k = 0; k < 2; k++) {
        OK(tacit_trigger_rsend_init(g.c, from[k], BYTES, TACIT_TRIGGER_BYTE,
                                    other, k, &r[k]));
        OK(tacit_trigger_recv_init(g.c, to[k], BYTES, TACIT_TRIGGER_BYTE, other,
                                   k, &r[2 + k]));
        out[k] =
            (stuff){from[k], BYTES, (uint64_t)g.rank * 2 + (uint64_t)k, 0, 0};
        in[k] = (stuff){to[k], BYTES, (uint64_t)other * 2 + (uint64_t)k, 0, 0};
    }
    OK(tacit_trigger_matchall(4, r));
    for (int n = 0; n < STEPS; n++) {
        const int k = n % 2;
        OK(tacit_trigger_enqueue_start(g.q, r[2 + k]));
        OK(tacit_trigger_enqueue_task(g.q, pack, &out[k]));
        OK(tacit_trigger_enqueue_task(g.q, delay, &seed));
        OK(tacit_trigger_enqueue_start(g.q, r[k]));
        OK(tacit_trigger_enqueue_wait_started(g.q));
        OK(tacit_trigger_enqueue_task(g.q, unpack, &in[k]));
    }
    OK(tacit_trigger_queue_wait(g.q));
    assert_int_equal(in[0].wrong + in[1].wrong, 0);
    free_all(4, r);
    rig_close(&g);
}

/* Sends of all ranks to all, and only then the receives; large ones. */
static void sends_may_come_first(void **state)
{
    (void)state;
    statement(28, 28);
    rig g = rig_open();
    unsigned char *data = tct_alloc((size_t)(2 * g.size) * LARGE);
    request *r[16];
    for (int k = 0; k < g.size; k++) {
        unsigned char *from = data + k * LARGE, *to = from + g.size * LARGE;
        memset(from, g.rank * 10 + k, LARGE);
        OK(tacit_trigger_send_init(g.c, from, LARGE, TACIT_TRIGGER_BYTE, k, 0,
                                   &r[k]));
        OK(tacit_trigger_recv_init(g.c, to, LARGE, TACIT_TRIGGER_BYTE, k, 0,
                                   &r[g.size + k]));
    }
    OK(tacit_trigger_matchall(2 * g.size, r));
    for (int k = 0; k < 2 * g.size; k++)
        OK(tacit_trigger_enqueue_start(g.q, r[k]));
    for (int k = 0; k < 2 * g.size; k++)
        OK(tacit_trigger_enqueue_wait(g.q, r[k]));
    OK(tacit_trigger_queue_wait(g.q));
    for (int k = 0; k < g.size; k++)
        for (int i = 0; i < LARGE; i++)
            assert_int_equal(data[(g.size + k) * LARGE + i], k * 10 + g.rank);
    free_all(2 * g.size, r);
    tct_free(data);
    rig_close(&g);
}

/* Queue one starts a send that cannot go yet, and has no wait; the host waits
 * for queue two, whose receive the peer sends after it has the first one. */
static void a_pending_send_goes_on(void **state)
{
    (void)state;
    statement(29, 29);
    rig g = rig_open();
    if (g.size == 1) {
        rig_close(&g);
        skip();
    }
    unsigned char *from = tct_calloc(LARGE), *to = tct_alloc(LARGE);
    char word = 1, answer = 0;
    request *r[4] = {NULL};
    tacit_trigger_queue *two = NULL;
    OK(tacit_trigger_queue_create(g.c, TACIT_TRIGGER_THREAD, NULL, &two));
    rig_pair(&g, 0, from, to, LARGE, TACIT_TRIGGER_BYTE, r);
    if (g.receives)
        OK(tacit_trigger_send_init(g.c, &word, 1, TACIT_TRIGGER_BYTE, 0, 1,
                                   &r[2]));
    if (g.sends)
        OK(tacit_trigger_recv_init(g.c, &answer, 1, TACIT_TRIGGER_BYTE, g.last,
                                   1, &r[3]));
    OK(match_those(4, r));
    if (g.sends) {
        OK(tacit_trigger_enqueue_start(g.q, r[0]));
        OK(tacit_trigger_enqueue_start(two, r[3]));
        OK(tacit_trigger_enqueue_wait(two, r[3]));
        OK(tacit_trigger_queue_wait(two));
        assert_int_equal(answer, 1);
        OK(tacit_trigger_enqueue_wait(g.q, r[0]));
    } else if (g.receives) {
        OK(tacit_trigger_enqueue_start(g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(g.q, r[1]));
        OK(tacit_trigger_enqueue_start(g.q, r[2]));
        OK(tacit_trigger_enqueue_wait(g.q, r[2]));
    }
    OK(tacit_trigger_queue_wait(g.q));
    OK(tacit_trigger_queue_free(&two));
    free_all(4, r);
    TCT_FREE(from, to);
    rig_close(&g);
}

/* --- amounts -------------------------------------------------------------- */

/* 2^31 + 8 bytes, in a few pages of memory that appear again and again. */
static unsigned char *map_again(size_t bytes, size_t part)
{
    const int fd = memfd_create("test", 0);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)part) == 0);
    unsigned char *at =
        mmap(NULL, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(at != MAP_FAILED);
    for (size_t k = 0; k < bytes; k += part)
        assert_true(mmap(at + k, bytes - k < part ? bytes - k : part,
                         PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                         0) != MAP_FAILED);
    close(fd);
    return at;
}

/* Where ranks have one address space: else the receiver's window takes as much
 * memory again. */
static void a_message_may_be_of_gigabytes(void **state)
{
    (void)state;
    statement(32, 32);
    const int64_t bytes = (INT64_C(1) << 31) + 8;
    const size_t part = 4 << 20;
    const int ranks = tacit_world_size(test_world());
    if (test_processes_ > 0 || test_launched_ || ranks > 2 || TCT_TSAN) skip();
    unsigned char *from = map_again((size_t)bytes, part),
                  *to = map_again((size_t)bytes, part);
    stuff out = {.data = from, .bytes = (int64_t)part, .seed = 3}, in = out;
    in.data = to;
    pack(&out);
    request *r[2];
    rig g = open_pair(from, to, bytes, r);
    OK(tacit_trigger_enqueue_startall(g.q, 2, r));
    OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
    OK(tacit_trigger_queue_wait(g.q));
    if (g.receives) unpack(&in);
    assert_int_equal(in.wrong, 0);
    close_pair(&g, r);
    munmap(from, (size_t)bytes);
    munmap(to, (size_t)bytes);
}

static void thousands_of_requests(void **state)
{
    (void)state;
    statement(34, 34);
    enum { MANY = 2000 };
    rig g = rig_open();
    request **r = tct_calloc(2 * MANY * sizeof(request *));
    int32_t *from = tct_alloc(2 * MANY * sizeof *from), *to = from + MANY;
    const int next = (g.rank + 1) % g.size,
              last = (g.rank + g.size - 1) % g.size;
    for (int k = 0; k < MANY; k++) {
        from[k] = g.rank * MANY + k;
        OK(tacit_trigger_send_init(g.c, &from[k], 1, TACIT_TRIGGER_I32, next,
                                   k % 3, &r[k]));
        OK(tacit_trigger_recv_init(g.c, &to[k], 1, TACIT_TRIGGER_I32, last,
                                   k % 3, &r[MANY + k]));
    }
    OK(tacit_trigger_matchall(2 * MANY, r));
    OK(tacit_trigger_enqueue_startall(g.q, 2 * MANY, r));
    OK(tacit_trigger_enqueue_wait_started(g.q));
    OK(tacit_trigger_queue_wait(g.q));
    for (int k = 0; k < MANY; k++) assert_int_equal(to[k], last * MANY + k);
    free_all(2 * MANY, r);
    TCT_FREE(r, from);
    rig_close(&g);
}

/* More requests than the channel between two ranks has room for: a rank whose
 * match is over may free them, and say nothing more, before its peer has read. */
static void a_match_that_is_over_needs_no_more(void **state)
{
    (void)state;
    statement(34, 34);
    enum { MANY = 500 };
    rig g = rig_open();
    char x[2] = "";
    request *r[2 * MANY], *match = NULL;
    if (g.size == 1) {
        rig_close(&g);
        skip();
    }
    for (int k = 0; k < MANY; k++)
        rig_pair(&g, k, x, x + 1, 1, TACIT_TRIGGER_BYTE, r + 2 * k);
    request *mine[MANY];
    for (int k = 0; k < MANY; k++) mine[k] = r[2 * k + !g.sends];
    if (g.receives) OK(tacit_trigger_imatchall(MANY, mine, &match));
    meet_all();
    if (g.sends) {
        OK(tacit_trigger_imatchall(MANY, mine, &match));
        meet_all();
        OK(tacit_trigger_wait(&match));
        free_all(2 * MANY, r);
        meet_all();
    } else {
        meet_all();
        if (g.receives) OK(tacit_trigger_wait(&match));
        meet_all();
        if (g.receives) free_all(2 * MANY, r);
    }
    rig_close(&g);
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    statement(35, 35);
    enum { TIMES = 10000, ROUND = 100 };
    rig g = rig_open();
    char from = 1, to = 0;
    size_t blocks = 0;
    for (int n = 0; n < TIMES; n++) {
        request *r[2];
        rig_pair(&g, 0, &from, &to, 1, TACIT_TRIGGER_BYTE, r);
        OK(match_those(2, r));
        if (n % 2 == 0) {
            OK(tacit_trigger_enqueue_startall(g.q, 2, r));
            OK(tacit_trigger_enqueue_waitall(g.q, 2, r));
            OK(tacit_trigger_queue_wait(g.q));
        }
        free_all(2, r);
        if (n % ROUND < ROUND - 1) continue;
        meet_all(); /* or one rank is ahead, and its ends are not closed */
        bool is = false;
        OK(tacit_trigger_send_init(g.c, &from, 1, TACIT_TRIGGER_BYTE,
                                   TACIT_TRIGGER_NOBODY, 0, &r[0]));
        OK(tacit_trigger_is_matched(r[0], &is)); /* gives memory back */
        free_all(1, r);
        meet_all();
        if (n == ROUND - 1) blocks = tct_memory_blocks();
        assert_int_equal(tct_memory_blocks(), blocks);
        meet_all();
    }
    rig_close(&g);
}

/* --- all ranks ------------------------------------------------------------ */

static void all_ranks_together(void **state)
{
    (void)state;
    statement(37, 37);
    enum { STEPS = 500, N = 300 };
    rig g = rig_open();
    double mine[N], total[N], least[N], word = 0.0, all[4];
    int64_t count = 0, counts = 0;
    request *r[6];
    assert_in_range(g.size, 1, 4);
    OK(tacit_trigger_barrier_init(g.c, &r[0]));
    OK(tacit_trigger_allreduce_init(g.c, mine, total, N, TACIT_TRIGGER_F64,
                                    TACIT_SUM, &r[1]));
    OK(tacit_trigger_allreduce_init(g.c, mine, least, N, TACIT_TRIGGER_F64,
                                    TACIT_MIN, &r[2]));
    OK(tacit_trigger_bcast_init(g.c, &word, 1, TACIT_TRIGGER_F64, g.last,
                                &r[3]));
    OK(tacit_trigger_allgather_init(g.c, mine, all, 1, TACIT_TRIGGER_F64,
                                    &r[4]));
    OK(tacit_trigger_allreduce_init(g.c, &count, &counts, 1, TACIT_TRIGGER_I64,
                                    TACIT_SUM, &r[5]));
    OK(tacit_trigger_matchall(6, r));
    for (int n = 0; n < STEPS; n++) {
        for (int i = 0; i < N; i++)
            mine[i] = 1.0 / (1 + n + i) / (1.0 + g.rank);
        word = g.rank == g.last ? n + 0.5 : -1.0;
        count = INT64_MAX - n - g.rank;
        OK(tacit_trigger_enqueue_startall(g.q, 6, r));
        OK(tacit_trigger_enqueue_waitall(g.q, 6, r));
        OK(tacit_trigger_queue_wait(g.q));
        uint64_t wanted = 0;
        for (int k = 0; k < g.size; k++)
            wanted += (uint64_t)(INT64_MAX - n - k);
        assert_true((uint64_t)counts == wanted && word == n + 0.5);
        for (int i = 0; i < N; i++) {
            double sum = 1.0 / (1 + n + i), low = sum;
            for (int k = 1; k < g.size; k++) {
                const double part = 1.0 / (1 + n + i) / (1.0 + k);
                sum += part;
                if (part < low) low = part;
            }
            assert_true(total[i] == sum && least[i] == low);
        }
        for (int k = 0; k < g.size; k++)
            assert_true(all[k] == 1.0 / (1 + n) / (1.0 + k));
    }
    free_all(6, r);
    rig_close(&g);
}

/* Ranks make unlike requests: refused on all, and all can go on. */
static void unlike_requests_are_refused(void **state)
{
    (void)state;
    statement(37, 37);
    rig g = rig_open();
    double x = 1.0, y = 0.0;
    request *r = NULL;
    if (g.size == 1) {
        rig_close(&g);
        skip();
    }
    if (g.rank == 0) OK(tacit_trigger_barrier_init(g.c, &r));
    else
        OK(tacit_trigger_allreduce_init(g.c, &x, &y, 1, TACIT_TRIGGER_F64,
                                        TACIT_SUM, &r));
    REFUSES(TACIT_INVALID, "let all make the same", tacit_trigger_match(r));
    assert_false(matched(r));
    free_all(1, &r);
    OK(tacit_trigger_barrier_init(g.c, &r));
    OK(tacit_trigger_match(r));
    free_all(1, &r);
    REFUSES(TACIT_INVALID, "expected type I32",
            tacit_trigger_allreduce_init(g.c, &x, &y, 1, TACIT_TRIGGER_BYTE,
                                         TACIT_SUM, &r));
    rig_close(&g);
}

/* A ring, in which each rank is twice the neighbour of the next one, and of
 * itself: as one request. */
static void neighbours_exchange(void **state)
{
    (void)state;
    statement(6, 6);
    statement(37, 37);
    rig g = rig_open();
    const int next = (g.rank + 1) % g.size,
              last = (g.rank + g.size - 1) % g.size;
    int32_t from[4], to[4];
    tacit_trigger_part send[4], receive[4];
    static const int64_t wrong[] = {0, 2};
    request *r = NULL;
    for (int k = 0; k < 4; k++) {
        const int s = k < 2    ? next
                      : k == 2 ? g.rank
                               : TACIT_TRIGGER_NOBODY,
                  t = k < 2 ? last : s;
        send[k] = (tacit_trigger_part){s, &from[k], 1, TACIT_TRIGGER_I32};
        receive[k] = (tacit_trigger_part){t, &to[k], 1, TACIT_TRIGGER_I32};
    }
    for (int bad = 1; bad >= 0; bad--) { /* the last rank's part is too long */
        send[0].count = g.rank == g.last ? 1 + wrong[bad] : 1;
        OK(tacit_trigger_neighbours_init(g.c, 4, send, 4, receive, &r));
        if (bad) {
            assert_int_equal(tacit_trigger_match(r), TACIT_INVALID);
            assert_false(matched(r));
            free_all(1, &r);
        }
    }
    OK(tacit_trigger_match(r));
    for (int n = 0; n < 500; n++) {
        for (int k = 0; k < 4; k++) {
            from[k] = n * 100 + g.rank * 10 + k;
            to[k] = -1;
        }
        OK(tacit_trigger_enqueue_start(g.q, r));
        OK(tacit_trigger_enqueue_wait(g.q, r));
        OK(tacit_trigger_queue_wait(g.q));
        for (int k = 0; k < 4; k++)
            assert_int_equal(to[k], k == 3 ? -1
                                           : n * 100 + k +
                                                 (k < 2 ? last : g.rank) * 10);
    }
    free_all(1, &r);
    rig_close(&g);
}

/* --- lost ranks ----------------------------------------------------------- */

static void a_silent_rank_is_named(void **state)
{
    (void)state;
    statement(33, 33);
    tacit_world *w = NULL;
    char from = 1, to = 0;
    request *r[2];
    atomic_int dry = 0;
    OK(tacit_world_split(test_world(), 0, &w));
    rig g = rig_open_in(w);
    rig_pair(&g, 8, &from, &to, 1, TACIT_TRIGGER_BYTE, r);
    OK(match_those(2, r));
    OK(tacit_trigger_comm_set_patience(g.c, 0.2));
    meet_all();
    if (g.receives) {
        OK(tacit_trigger_enqueue_start(g.q, r[1]));
        OK(tacit_trigger_enqueue_wait(g.q, r[1]));
        OK(tacit_trigger_enqueue_task(g.q, set_flag, &dry));
        REFUSES(TACIT_COMM, "rank 0 has not answered for 0.2 s",
                tacit_trigger_queue_wait(g.q));
        assert_non_null(strstr(tacit_error_message(),
                               "the receive of 1 bytes with tag 8 from rank 0, "
                               "number 1: its message has not come"));
        assert_int_equal(atomic_load(&dry), 1);
        OK(tacit_trigger_enqueue_start(g.q, r[1])); /* no wait any more */
        OK(tacit_trigger_enqueue_wait(g.q, r[1]));
        REFUSES(TACIT_COMM, "rank 0", tacit_trigger_queue_wait(g.q));
        REFUSES(TACIT_COMM, "rank 0", tacit_trigger_startall(1, &r[1]));
    }
    meet_all();
    free_all(2, r);
    OK(tacit_trigger_queue_free(&g.q));
    OK(tacit_trigger_comm_free(&g.c));
    tacit_world_destroy(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_matched_once),
        cmocka_unit_test(matches_are_in_order),
        cmocka_unit_test(communicators_do_not_cross),
        cmocka_unit_test(messages_of_mpi_are_not_touched),
        cmocka_unit_test(sizes_and_types_must_fit),
        cmocka_unit_test(sends_do_not_match_sends),
        cmocka_unit_test(a_match_is_a_request),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(unmatched_requests_are_not_enqueued),
        cmocka_unit_test(all_are_started_or_none),
        cmocka_unit_test(a_start_follows_a_wait),
        cmocka_unit_test(a_wait_is_where_the_start_was),
        cmocka_unit_test(a_request_that_has_ended_may_be_freed),
        cmocka_unit_test(a_queue_is_waited_for_with_its_tasks),
        cmocka_unit_test(queues_of_gpus_need_a_gpu),
        cmocka_unit_test(each_byte_arrives),
        cmocka_unit_test(a_start_never_blocks),
        cmocka_unit_test(few_bytes_do_not_wait),
        cmocka_unit_test(ready_sends_with_two_buffers),
        cmocka_unit_test(sends_may_come_first),
        cmocka_unit_test(a_pending_send_goes_on),
        cmocka_unit_test(a_message_may_be_of_gigabytes),
        cmocka_unit_test(thousands_of_requests),
        cmocka_unit_test(a_match_that_is_over_needs_no_more),
        cmocka_unit_test(memory_does_not_grow),
        cmocka_unit_test(all_ranks_together),
        cmocka_unit_test(unlike_requests_are_refused),
        cmocka_unit_test(neighbours_exchange),
        cmocka_unit_test(a_silent_rank_is_named),
    };
    TEST_MPI_MAIN(tests);
}
