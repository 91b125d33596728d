/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/together.c - requests of all ranks. Each stores its part in a
 * window of its own and signals all; the wait combines the parts of all in rank
 * order. An exchange of neighbours is its messages alone. */
#include "triggered/combine.h"
#include "triggered/gpu.h"
#include "triggered/request.h"

/* A block has signals, arrived [ranks], and the window [2]. */
static size_t arrived_bytes(const tacit_trigger_comm *c)
{
    return ((size_t)c->ranks * sizeof(uint64_t) + 63) / 64 * 64;
}

/* Bytes of a half: of the part of rank `from`. */
static size_t half_bytes(const tacit_trigger_request *r, int from)
{
    const bool has =
        r->what != TCT_BARRIER && (r->what != TCT_BCAST || from == r->root);
    return has ? (size_t)r->count * tct_trigger_size_of(r->type) : 0;
}

size_t tct_together_bytes(const tacit_trigger_request *r)
{
    const tacit_trigger_comm *c = r->comm;
    return sizeof(tct_end_signals) + arrived_bytes(c) +
           2 * half_bytes(r, c->rank);
}

static uint64_t *arrived_at(void *block)
{
    return (uint64_t *)(void *)((char *)block + sizeof(tct_end_signals));
}

/* The part of rank `from` in message `number`. */
static char *part_of(const tacit_trigger_request *r, int from, uint64_t number)
{
    return (char *)r->all[from].there + sizeof(tct_end_signals) +
           arrived_bytes(r->comm) +
           (size_t)tct_buffer_of(number) * half_bytes(r, from);
}

void tct_together_start(tacit_trigger_request *r, uint64_t number)
{
    const tacit_trigger_comm *c = r->comm;
    const size_t bytes = half_bytes(r, c->rank);
    if (bytes > 0) memcpy(part_of(r, c->rank, number), r->data, bytes);
    for (int k = 1; k <= c->ranks; k++) {
        tct_trigger_end *e = &r->all[(c->rank + k) % c->ranks];
        tct_signal_send(&arrived_at(e->there)[c->rank], number);
    }
}

/* --- sums ----------------------------------------------------------------- */

typedef void combine(tacit_reduction op, int64_t n, const void *part,
                     void *total);

#define COMBINE(name, T)                                                   \
    static void name(tacit_reduction op, int64_t n, const void *part,      \
                     void *total)                                          \
    {                                                                      \
        const T *a = part;                                                 \
        T *t = total;                                                      \
        for (int64_t i = 0; i < n; i++) t[i] = tct_##name(op, t[i], a[i]); \
    }
COMBINE(combine_i32, int32_t)
COMBINE(combine_i64, int64_t)
COMBINE(combine_f32, float)
COMBINE(combine_f64, double)
#undef COMBINE

static combine *combine_of(tacit_trigger_type type)
{
    static combine *const of[TACIT_TRIGGER_F64 + 1] = {
        [TACIT_TRIGGER_I32] = combine_i32,
        [TACIT_TRIGGER_I64] = combine_i64,
        [TACIT_TRIGGER_F32] = combine_f32,
        [TACIT_TRIGGER_F64] = combine_f64};
    return tct_trigger_size_of(type) > 0 ? of[type] : NULL;
}

static void reduce(const tacit_trigger_request *r, uint64_t number)
{
    memcpy(r->result, part_of(r, 0, number), half_bytes(r, 0));
    for (int k = 1; k < r->comm->ranks; k++)
        combine_of(r->type)(r->reduction, r->count, part_of(r, k, number),
                            r->result);
}

/* --- ends ----------------------------------------------------------------- */

static void finish(const tacit_trigger_request *r, uint64_t number)
{
    const size_t bytes = half_bytes(r, r->root);
    if (r->what == TCT_BARRIER || bytes == 0) return;
    if (r->what == TCT_ALLREDUCE) reduce(r, number);
    else if (r->what == TCT_BCAST && r->root != r->comm->rank)
        memcpy(r->result, part_of(r, r->root, number), bytes);
    for (int k = 0; k < r->comm->ranks && r->what == TCT_ALLGATHER; k++)
        memcpy((char *)r->result + (size_t)k * bytes, part_of(r, k, number),
               bytes);
}

bool tct_together_ended(tacit_trigger_request *r, uint64_t number,
                        tct_trigger_end **missing)
{
    int rank = 0;
    if (r->combined >= number) return true;
    if (!tct_all_arrived(arrived_at(r->block), r->comm->ranks, number, &rank)) {
        *missing = &r->all[rank];
        return false;
    }
    finish(r, number);
    r->combined = number;
    return true;
}

/* --- making --------------------------------------------------------------- */

/* Properties that the ranks must have in common. */
static void describe(tacit_trigger_request *r, int64_t bytes)
{
    for (int k = 0; k < r->alls; k++)
        r->all[k].mine = (tct_offer){.direction = TCT_TOGETHER,
                                     .bytes = bytes,
                                     .type = (int32_t)r->type,
                                     .root = r->root,
                                     .detail = (int32_t)r->what |
                                               (int32_t)r->reduction << 4};
}

/* The next request of all ranks of the communicator. */
static void number_it(tacit_trigger_request *r)
{
    tacit_trigger_comm *c = r->comm;
    pthread_mutex_lock(&c->lock);
    const int64_t space = ++c->spaces;
    pthread_mutex_unlock(&c->lock);
    for (int k = 0; k < r->ends + r->alls; k++) r->end[k].mine.space = space;
}

/* Are its data on the GPU? Not some there and others here. */
static tacit_status find_place(const char *call, const tacit_trigger_comm *c,
                               const tacit_trigger_request *like, bool *on_gpu)
{
    const bool result = tct_trigger_gpu_has(c, like->result);
    *on_gpu = like->on_gpu || result;
    if (like->count > 0 && tct_trigger_gpu_has(c, like->data) != result)
        FAIL(
            TACIT_INVALID,
            "%s: one of data and result is on the communicator's GPU: let both "
            "be in memory of one kind",
            call);
    return TACIT_OK;
}

static tacit_status make_on_host(tacit_trigger_comm *c,
                                 const tacit_trigger_request *like,
                                 tacit_trigger_request **out)
{
    tacit_trigger_request *r = NULL;
    TRY(tct_request_new(c, like->what, 0, c->ranks, &r));
    r->data = like->data;
    r->result = like->result;
    r->count = like->count;
    r->type = like->type;
    r->reduction = like->reduction;
    r->root = like->root;
    *out = r;
    return TACIT_OK;
}

static tacit_status make(const char *call, tacit_trigger_comm *c,
                         const tacit_trigger_request *like,
                         tacit_trigger_request **out)
{
    if (!c || !out)
        FAIL(TACIT_INVALID, "%s: expected a communicator, and out", call);
    TRY(tct_request_check(call, c, like->data, like->count, like->type,
                          like->root));
    if (like->root < 0 || (like->count > 0 && !like->result))
        FAIL(TACIT_INVALID, "%s: expected a root, and room for the result",
             call);
    bool on_gpu = false;
    tacit_trigger_request *r = NULL;
    TRY(find_place(call, c, like, &on_gpu));
    TRY(on_gpu ? tct_together_on_gpu(like, c, &r) : make_on_host(c, like, &r));
    describe(r, r->count * (int64_t)tct_trigger_size_of(r->type));
    number_it(r);
    *out = r;
    return TACIT_OK;
}

tacit_status tacit_trigger_barrier_init(tacit_trigger_comm *comm,
                                        tacit_trigger_request **out)
{
    const tacit_trigger_request like = {.what = TCT_BARRIER};
    return make(__func__, comm, &like, out);
}

tacit_status tacit_trigger_gpu_barrier_init(tacit_trigger_comm *comm,
                                            tacit_trigger_request **out)
{
    const tacit_trigger_request like = {.what = TCT_BARRIER, .on_gpu = true};
    REQUIRE(comm != NULL, out != NULL);
    if (!comm->gpu)
        FAIL(TACIT_INVALID,
             "%s: the communicator has no GPU: call "
             "tacit_trigger_comm_use_gpu first",
             __func__);
    return make(__func__, comm, &like, out);
}

tacit_status tacit_trigger_allreduce_init(tacit_trigger_comm *comm,
                                          const void *data, void *total,
                                          int64_t count,
                                          tacit_trigger_type type,
                                          tacit_reduction reduction,
                                          tacit_trigger_request **out)
{
    const tacit_trigger_request like = {.what = TCT_ALLREDUCE,
                                        .data = data,
                                        .result = total,
                                        .count = count,
                                        .type = type,
                                        .reduction = reduction};
    if (!combine_of(type) || (int)reduction < TACIT_SUM ||
        (int)reduction > TACIT_MAX)
        FAIL(TACIT_INVALID,
             "%s: expected type I32, I64, F32 or F64, and a sum, a minimum or "
             "a maximum",
             __func__);
    return make(__func__, comm, &like, out);
}

tacit_status tacit_trigger_bcast_init(tacit_trigger_comm *comm, void *data,
                                      int64_t count, tacit_trigger_type type,
                                      int root, tacit_trigger_request **out)
{
    const tacit_trigger_request like = {.what = TCT_BCAST,
                                        .data = data,
                                        .result = data,
                                        .count = count,
                                        .type = type,
                                        .root = root};
    return make(__func__, comm, &like, out);
}

tacit_status tacit_trigger_allgather_init(tacit_trigger_comm *comm,
                                          const void *data, void *all,
                                          int64_t count,
                                          tacit_trigger_type type,
                                          tacit_trigger_request **out)
{
    const tacit_trigger_request like = {.what = TCT_ALLGATHER,
                                        .data = data,
                                        .result = all,
                                        .count = count,
                                        .type = type};
    return make(__func__, comm, &like, out);
}

/* --- neighbours ----------------------------------------------------------- */

static tacit_status count_parts(const char *call, const tacit_trigger_comm *c,
                                int count, const tacit_trigger_part *p,
                                int *ends)
{
    if (count < 0 || (count > 0 && !p))
        FAIL(TACIT_INVALID, "%s: expected lists of parts", call);
    for (int k = 0; k < count; k++) {
        TRY(tct_request_check(call, c, p[k].data, p[k].count, p[k].type,
                              p[k].rank));
        *ends += p[k].rank != TACIT_TRIGGER_NOBODY;
    }
    return TACIT_OK;
}

/* Kernels cannot do some of the messages, and the host the rest. */
static tacit_status check_places(tacit_trigger_request **r)
{
    const int ends = (*r)->ends, first = ends > 0 && (*r)->end->mine.on_gpu;
    for (int k = 1; k < ends; k++) {
        if ((*r)->end[k].mine.on_gpu == first) continue;
        (void)tacit_trigger_request_free(r);
        FAIL(TACIT_INVALID, "tacit_trigger_neighbours_init: some parts are on "
                            "a GPU and others are not");
    }
    return TACIT_OK;
}

static tct_trigger_end *set_parts(tct_trigger_end *e, tct_direction direction,
                                  int count, const tacit_trigger_part *p)
{
    for (int k = 0; k < count; k++)
        if (p[k].rank != TACIT_TRIGGER_NOBODY)
            tct_request_set_end(e++, direction, TCT_SEND, p[k].data, p[k].count,
                                p[k].type, p[k].rank);
    return e;
}

tacit_status tacit_trigger_neighbours_init(tacit_trigger_comm *comm, int sends,
                                           const tacit_trigger_part *send,
                                           int receives,
                                           const tacit_trigger_part *receive,
                                           tacit_trigger_request **out)
{
    REQUIRE(comm != NULL, out != NULL);
    int ends = 0;
    TRY(count_parts(__func__, comm, sends, send, &ends));
    TRY(count_parts(__func__, comm, receives, receive, &ends));
    tacit_trigger_request *r = NULL;
    TRY(tct_request_new(comm, TCT_NEIGHBOURS, ends, comm->ranks, &r));
    tct_trigger_end *rest = set_parts(r->end, TCT_SENDS, sends, send);
    set_parts(rest, TCT_RECEIVES, receives, receive);
    TRY(check_places(&r));
    describe(r, 0);
    number_it(r);
    *out = r;
    return TACIT_OK;
}
