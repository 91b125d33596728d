/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/halo.c - the back ends send and ready of halos of several arrays:
 * matched requests that the host starts in the order of the arrays' queue, or
 * that a kernel on its stream starts and waits for. Two slots in turn let ready sends come early: a rank sends in a slot again after
 * the neighbours' messages of the other slot, which they sent after they had
 * unpacked this one. */
#include "halo/arrays.h"
#include "triggered/gpu.h"

typedef struct {
    tacit_trigger_comm *comm;
    tacit_trigger_queue *line; /* on the stream; NULL: on the host */
    char *memory; /* all messages: of a slot those sent, those received */
    int count;    /* requests of a slot */
    tacit_trigger_request *request[2][2 * TACIT_HALO_DIRECTIONS];
} carrier;

/* --- requests ------------------------------------------------------------- */

static tacit_status add_requests(tacit_halo_arrays *a, int slot, int d,
                                 bool ready)
{
    carrier *t = a->state;
    const int64_t tag = (int64_t)slot * TACIT_HALO_DIRECTIONS;
    const int64_t bytes = a->bytes[d];
    tacit_trigger_request **at = t->request[slot];
    TRY(tacit_trigger_recv_init(
        t->comm, a->from[slot][d], bytes, TACIT_TRIGGER_BYTE, a->peer[d],
        tag + TACIT_HALO_DIRECTIONS - 1 - d, &at[t->count]));
    t->count++;
    TRY((ready ? tacit_trigger_rsend_init : tacit_trigger_send_init)(
        t->comm, a->to[slot][d], bytes, TACIT_TRIGGER_BYTE, a->peer[d], tag + d,
        &at[t->count]));
    t->count++;
    return TACIT_OK;
}

static void set_places(tacit_halo_arrays *a, char *memory)
{
    const int64_t all = tct_halo_arrays_before(a, TACIT_HALO_DIRECTIONS);
    for (int i = 0; i < 2 * TACIT_HALO_DIRECTIONS; i++) {
        const int slot = i % 2, d = i / 2;
        char *at = memory + 2 * slot * all + tct_halo_arrays_before(a, d);
        a->to[slot][d] = at;
        a->from[slot][d] = at + all;
    }
}

static bool on_gpu(const tacit_halo_arrays *a)
{
    return a->q->device->kind == TCT_KIND_GPU;
}

/* Memory of all messages. Collective. */
static tacit_status take_memory(tacit_halo_arrays *a)
{
    carrier *t = a->state;
    const int64_t all = tct_halo_arrays_before(a, TACIT_HALO_DIRECTIONS);
    const size_t bytes = (size_t)(4 * all + 16);
    if (on_gpu(a))
        return tct_gpu_halo_open(t->comm, a->q, bytes, &t->line, &t->memory);
    const tacit_status status = TCT_ALLOC(bytes, "a halo", &t->memory);
    if (status >= 0) memset(t->memory, 0, bytes);
    return tct_agree(a->q->world, status);
}

/* The part of this rank. */
static tacit_status prepare(tacit_halo_arrays *a, bool ready)
{
    carrier *t = a->state;
    set_places(a, t->memory);
    for (int slot = 0; slot < 2; slot++) {
        t->count = 0;
        for (int d = 0; d < TACIT_HALO_DIRECTIONS; d++)
            if (a->peer[d] >= 0) TRY(add_requests(a, slot, d, ready));
    }
    return TACIT_OK;
}

static tacit_status check_queue(const tacit_halo_arrays *a,
                                const tacit_trigger_comm *comm)
{
    if (comm->world != a->q->world)
        FAIL(TACIT_INVALID,
             "halo: the communicator and the queue are of different worlds");
    return TACIT_OK;
}

static tacit_status open_with(tacit_halo_arrays *a, void *with, bool ready)
{
    tacit_world *w = a->q->world;
    TRY(tct_agree(w, check_queue(a, with)));
    carrier *t = tct_calloc(sizeof *t);
    a->state = t;
    if (t) t->comm = with;
    else tacit_error_set(TACIT_NO_MEMORY, "no memory for a halo");
    TRY(tct_agree(w, t ? TACIT_OK : TACIT_NO_MEMORY));
    TRY(take_memory(a));
    TRY(tct_agree(w, prepare(a, ready)));
    tacit_status status = tacit_trigger_matchall(t->count, t->request[0]);
    if (status >= 0) status = tacit_trigger_matchall(t->count, t->request[1]);
    return tct_agree(w, status);
}

static tacit_status send_open(tacit_halo_arrays *a, void *with)
{
    return open_with(a, with, false);
}

static tacit_status ready_open(tacit_halo_arrays *a, void *with)
{
    return open_with(a, with, true);
}

static void close_all(tacit_halo_arrays *a)
{
    carrier *t = a->state;
    for (int i = 0; i < 4 * TACIT_HALO_DIRECTIONS; i++)
        tacit_trigger_request_free(&t->request[i % 2][i / 2]);
    if (on_gpu(a)) tct_gpu_halo_close(t->comm, &t->line, t->memory);
    else tct_free(t->memory);
    tct_free(t);
}

/* --- exchanges ------------------------------------------------------------ */

static void nothing(tacit_halo_arrays *a, int slot)
{
    (void)a;
    (void)slot;
}

/* Operations of the queue may run later: the slot is a function's. */
static tacit_status start_in(const carrier *t, int slot)
{
    return t->line ? TACIT_OK
                   : tacit_trigger_startall(t->count, t->request[slot]);
}

static tacit_status finish_in(carrier *t, int slot)
{
    tacit_status worst = TACIT_OK;
    if (t->line)
        return tacit_trigger_enqueue_exchange(t->line, t->count,
                                              t->request[slot]);
    for (int k = 0; k < t->count; k++) {
        const tacit_status status = tacit_trigger_wait(&t->request[slot][k]);
        if (status < 0) worst = status;
    }
    return worst;
}

static tacit_status start_0(void *ctx, tacit_queue *q, const double *x,
                            double *y)
{
    (void)q;
    (void)x;
    (void)y;
    return start_in(ctx, 0);
}

static tacit_status start_1(void *ctx, tacit_queue *q, const double *x,
                            double *y)
{
    (void)q;
    (void)x;
    (void)y;
    return start_in(ctx, 1);
}

static tacit_status finish_0(void *ctx, tacit_queue *q, const double *x,
                             double *y)
{
    (void)q;
    (void)x;
    (void)y;
    return finish_in(ctx, 0);
}

static tacit_status finish_1(void *ctx, tacit_queue *q, const double *x,
                             double *y)
{
    (void)q;
    (void)x;
    (void)y;
    return finish_in(ctx, 1);
}

static void start(tacit_halo_arrays *a, int slot)
{
    q_call(a->q, slot ? start_1 : start_0, a->state, NULL, NULL);
}

static void finish(tacit_halo_arrays *a, int slot)
{
    q_call(a->q, slot ? finish_1 : finish_0, a->state, NULL, NULL);
}

static const tct_halo_carrier send_carrier = {.name = "send",
                                              .open = send_open,
                                              .close = close_all,
                                              .ready = nothing,
                                              .start = start,
                                              .finish = finish};
static const tct_halo_carrier ready_carrier = {.name = "ready",
                                               .open = ready_open,
                                               .close = close_all,
                                               .ready = nothing,
                                               .start = start,
                                               .finish = finish};

tacit_status tacit_trigger_halo_create(tacit_trigger_comm *comm,
                                       tacit_queue *queue,
                                       const tacit_halo_block *block, int count,
                                       const tacit_halo_array *arrays,
                                       const char *back_end,
                                       tacit_halo_arrays **out)
{
    REQUIRE(comm != NULL, queue != NULL, out != NULL, back_end != NULL);
    const bool ready = strcmp(back_end, "ready") == 0;
    const bool known = ready || strcmp(back_end, "send") == 0;
    if (!known)
        tacit_error_set(TACIT_INVALID,
                        "halo: unknown back end '%s': send or ready, and "
                        "tacit_halo_arrays_create has fences and fused",
                        back_end);
    TRY(tct_agree(queue->world, known ? TACIT_OK : TACIT_INVALID));
    return tct_halo_arrays_make(queue, block, count, arrays,
                                ready ? &ready_carrier : &send_carrier, comm,
                                out);
}
