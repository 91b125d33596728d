/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_triggered_programs.c - T27: random programs that end with MPI's
 * requests, even if no send is buffered, end on the triggered queue, with each
 * byte right. A program has some pairs of ends in queues of the ranks; each
 * queue starts and waits for its ends some times, in an order of its own. All
 * ranks make the same programs and run their parts.
 *
 * RUN: np=3
 * THREADS: 2,3,4
 * PROCESSES: 4 */
#include "device/signals.h"
#include "triggered_programs.h"

enum { PROGRAMS = 10000 /* with 3 threads; else a tenth */ };

/* --- running -------------------------------------------------------------- */

typedef struct {
    unsigned char data[LARGE];
    int64_t bytes;
    uint64_t seed, number;
    int64_t wrong;
} buffer;

static unsigned char byte_of(const buffer *b, int64_t i)
{
    return (unsigned char)(tct_mix(b->seed * 64 + b->number) + (uint64_t)i);
}

static void pack(void *ctx)
{
    buffer *b = ctx;
    b->number++;
    for (int64_t i = 0; i < b->bytes; i++) b->data[i] = byte_of(b, i);
}

static void unpack(void *ctx)
{
    buffer *b = ctx;
    b->number++;
    for (int64_t i = 0; i < b->bytes; i++)
        b->wrong += b->data[i] != byte_of(b, i);
}

typedef struct {
    tacit_trigger_queue *queue[QUEUES];
    request *end[PAIRS][SIDES];
    buffer *buffer; /* [PAIRS][SIDES] */
} run;

static buffer *buffer_of(const run *x, int k, int side)
{
    return &x->buffer[k * SIDES + side];
}

static void open_ends(const rig *g, const program *p, run *x, uint64_t seed)
{
    request *all[PAIRS * SIDES];
    int n = 0;
    for (int k = 0; k < p->pairs; k++)
        for (int s = 0; s < SIDES; s++) {
            const pair_of_ends *e = &p->pair[k];
            buffer *b = buffer_of(x, k, s);
            x->end[k][s] = NULL;
            if (e->rank[s] != g->rank) continue;
            b->bytes = e->bytes;
            b->seed = seed * PAIRS + (uint64_t)k;
            b->number = 0;
            b->wrong = 0;
            const tacit_status status =
                s == 1 ? tacit_trigger_recv_init(g->c, b->data, e->bytes,
                                                 TACIT_TRIGGER_BYTE, e->rank[0],
                                                 0, &x->end[k][s])
                : e->synchronous
                    ? tacit_trigger_ssend_init(g->c, b->data, e->bytes,
                                               TACIT_TRIGGER_BYTE, e->rank[1],
                                               0, &x->end[k][s])
                    : tacit_trigger_send_init(g->c, b->data, e->bytes,
                                              TACIT_TRIGGER_BYTE, e->rank[1], 0,
                                              &x->end[k][s]);
            OK(status);
            all[n++] = x->end[k][s];
        }
    if (n > 0) OK(tacit_trigger_matchall(n, all));
}

static void enqueue(const rig *g, const program *p, const run *x, int queue)
{
    const list *l = &p->list[g->rank][queue];
    tacit_trigger_queue *q = x->queue[queue];
    for (int i = 0; i < l->n; i++) {
        const op *o = &l->op[i];
        buffer *b = buffer_of(x, o->pair, o->side);
        request *r = x->end[o->pair][o->side];
        if (!o->waits && o->side == 0)
            OK(tacit_trigger_enqueue_task(q, pack, b));
        const bool both = exchanges(l, i);
        if (both) OK(tacit_trigger_enqueue_exchange(q, 1, &r));
        else if (o->waits) OK(tacit_trigger_enqueue_wait(q, r));
        else OK(tacit_trigger_enqueue_start(q, r));
        if (both) i++;
        if ((both || o->waits) && o->side == 1)
            OK(tacit_trigger_enqueue_task(q, unpack, b));
    }
}

static void close_ends(const program *p, run *x)
{
    for (int k = 0; k < p->pairs; k++)
        for (int s = 0; s < SIDES; s++) {
            if (!x->end[k][s]) continue;
            const buffer *b = buffer_of(x, k, s);
            assert_int_equal(b->number, p->uses);
            assert_int_equal(b->wrong, 0);
            OK(tacit_trigger_request_free(&x->end[k][s]));
        }
}

static void legal_programs_end(void **state)
{
    (void)state;
    statement(27, 27);
    rig g = rig_open();
    run x = {.queue = {g.q}};
    program p;
    uint64_t seed = 12345;
    int refused = 0;
    const int programs =
        test_threads_ == 3 && !TCT_TSAN ? PROGRAMS : PROGRAMS / 10;
    assert_in_range(g.size, 1, RANKS);
    x.buffer = tct_calloc(PAIRS * SIDES * sizeof *x.buffer);
    OK(tacit_trigger_queue_create(g.c, TACIT_TRIGGER_AUTO, NULL, &x.queue[1]));
    OK(tacit_trigger_comm_set_patience(g.c, 20.0));
    for (int n = 0; n < programs; n++) {
        refused += make_legal(&p, g.size, &seed);
        open_ends(&g, &p, &x, (uint64_t)n);
        for (int q = 0; q < QUEUES; q++) enqueue(&g, &p, &x, q);
        for (int q = 0; q < QUEUES; q++)
            OK(tacit_trigger_queue_wait(x.queue[(n + q) % QUEUES]));
        close_ends(&p, &x);
    }
    assert_true(refused > programs / 20); /* some are drawn that never end */
    OK(tacit_trigger_queue_free(&x.queue[1]));
    tct_free(x.buffer);
    rig_close(&g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legal_programs_end),
    };
    TEST_MPI_MAIN(tests);
}
