/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_triggered_programs.c - T27 with queues on GPUs: random programs
 * that end with MPI's requests end there, with each byte right. Each rank has
 * two queues, each on a stream. Only in builds with CUDA.
 *
 * LABEL: gpu
 * RUN: np=1,2
 * PROCESSES: 2 */
#include "gpu_triggered.h"
#include "triggered_programs.h"

enum {
    PROGRAMS = 400,
    SHARED = 5, /* where ranks share a GPU */
    EACH = 16384,
    COUNTERS = PAIRS * SIDES + 1 /* messages of each end; wrong bytes */
};

typedef struct {
    gpu *t;
    cudaStream_t stream[QUEUES];
    tacit_trigger_queue *queue[QUEUES];
    request *end[PAIRS][SIDES];
    unsigned *counter; /* [COUNTERS] */
} run;

static unsigned char *data_of(const run *x, int k, int side)
{
    return x->t->to + (k * SIDES + side) * EACH;
}

static tacit_status make_end(const run *x, const pair_of_ends *e, int side,
                             unsigned char *data, request **out)
{
    tacit_trigger_comm *c = x->t->g.c;
    const tacit_trigger_type type = TACIT_TRIGGER_BYTE;
    if (side == 1)
        return tacit_trigger_recv_init(c, data, e->bytes, type, e->rank[0], 0,
                                       out);
    return (e->synchronous ? tacit_trigger_ssend_init
                           : tacit_trigger_send_init)(c, data, e->bytes, type,
                                                      e->rank[1], 0, out);
}

static void open_ends(const program *p, run *x)
{
    request *all[PAIRS * SIDES];
    int n = 0;
    for (int i = 0; i < p->pairs * SIDES; i++) {
        const int k = i / SIDES, s = i % SIDES;
        x->end[k][s] = NULL;
        if (p->pair[k].rank[s] != x->t->g.rank) continue;
        OK(make_end(x, &p->pair[k], s, data_of(x, k, s), &x->end[k][s]));
        all[n++] = x->end[k][s];
    }
    if (n > 0) OK(tacit_trigger_matchall(n, all));
    CUDA(cudaMemset(x->counter, 0, COUNTERS * sizeof *x->counter));
    CUDA(cudaDeviceSynchronize());
}

/* The kernel before a send, or after a receive. */
static void kernel_of(const program *p, const run *x, const op *o, int queue)
{
    unsigned *number = x->counter + o->pair * SIDES + o->side;
    unsigned char *data = data_of(x, o->pair, o->side);
    const size_t bytes = (size_t)p->pair[o->pair].bytes;
    const unsigned seed = (unsigned)o->pair;
    if (o->side == 0)
        CUDA(triggered_fill(x->stream[queue], number, seed, data, bytes));
    else
        CUDA(triggered_check(x->stream[queue], number, seed, data, bytes,
                             x->counter + COUNTERS - 1));
}

static void enqueue(const program *p, const run *x, int queue)
{
    const list *l = &p->list[x->t->g.rank][queue];
    tacit_trigger_queue *q = x->queue[queue];
    for (int i = 0; i < l->n; i++) {
        const op *o = &l->op[i];
        request *r = x->end[o->pair][o->side];
        const bool both = exchanges(l, i);
        if (!o->waits && o->side == 0) kernel_of(p, x, o, queue);
        if (both) OK(tacit_trigger_enqueue_exchange(q, 1, &r));
        else if (o->waits) OK(tacit_trigger_enqueue_wait(q, r));
        else OK(tacit_trigger_enqueue_start(q, r));
        if (both) i++;
        if ((both || o->waits) && o->side == 1) kernel_of(p, x, o, queue);
    }
}

static void close_ends(const program *p, run *x)
{
    unsigned counter[COUNTERS];
    CUDA(cudaMemcpy(counter, x->counter, sizeof counter,
                    cudaMemcpyDeviceToHost));
    assert_int_equal(counter[COUNTERS - 1], 0);
    for (int i = 0; i < p->pairs * SIDES; i++) {
        request **r = &x->end[i / SIDES][i % SIDES];
        if (!*r) continue;
        assert_int_equal(counter[i], p->uses);
        OK(tacit_trigger_request_free(r));
    }
}

static run open_run(gpu *t)
{
    run x = {.t = t, .stream = {t->stream}, .queue = {t->g.q}};
    CUDA(cudaMalloc((void **)&x.counter, COUNTERS * sizeof *x.counter));
    CUDA(cudaStreamCreateWithFlags(&x.stream[1], cudaStreamNonBlocking));
    OK(tacit_trigger_queue_create(t->g.c, TACIT_TRIGGER_KERNEL, x.stream[1],
                                  &x.queue[1]));
    /* the first launch of a kernel may wait for the GPU */
    CUDA(triggered_fill(t->stream, x.counter, 0, t->to, 1));
    CUDA(triggered_check(t->stream, x.counter, 0, t->to, 1, x.counter + 1));
    CUDA(cudaDeviceSynchronize());
    return x;
}

static void legal_programs_end(void **state)
{
    (void)state;
    statement(27, 27);
    gpu t = gpu_open();
    run x = open_run(&t);
    program p;
    uint64_t seed = 54321;
    const int programs = t.shared ? SHARED : PROGRAMS;
    assert_in_range(t.g.size, 1, RANKS);
    OK(tacit_trigger_comm_set_patience(t.g.c, 20.0));
    for (int n = 0; n < programs; n++) {
        (void)make_legal(&p, t.g.size, &seed);
        open_ends(&p, &x);
        for (int q = 0; q < QUEUES; q++) enqueue(&p, &x, q);
        for (int q = 0; q < QUEUES; q++)
            OK(tacit_trigger_queue_wait(x.queue[(n + q) % QUEUES]));
        close_ends(&p, &x);
    }
    OK(tacit_trigger_queue_free(&x.queue[1]));
    CUDA(cudaStreamDestroy(x.stream[1]));
    CUDA(cudaFree(x.counter));
    gpu_close(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legal_programs_end),
    };
    TEST_GPU_MAIN(tests);
}
