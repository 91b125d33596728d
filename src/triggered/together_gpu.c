/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/together_gpu.c - requests of all ranks with data on a GPU: messages
 * between every two ranks, also of a rank to itself, empty where there is
 * nothing to tell. So their wait, too, ends after all ranks have started them.
 * What is reduced comes to memory of its own, [ranks] parts, of which a kernel
 * after the wait makes the total. */
#include "triggered/gpu.h"
#include "triggered/request.h"

/* Bytes that rank `from` sends to each. */
static int64_t bytes_of(const tacit_trigger_request *r, int from)
{
    const bool has =
        r->what != TCT_BARRIER && (r->what != TCT_BCAST || from == r->root);
    return has ? r->count * (int64_t)tct_trigger_size_of(r->type) : 0;
}

/* Where the part of rank `from` comes. */
static char *place_of(const tacit_trigger_request *r, int from)
{
    char *all = r->scratch ? r->scratch : (char *)r->result;
    return r->what == TCT_BCAST ? all : all + from * bytes_of(r, from);
}

/* A root has its own data. */
static bool has_itself(const tacit_trigger_request *r)
{
    return r->what != TCT_BARRIER && r->what != TCT_BCAST;
}

static void set_end(tct_trigger_end *e, tct_direction direction, int peer,
                    const void *data, int64_t bytes)
{
    tct_request_set_end(e, direction, TCT_SEND, bytes > 0 ? data : NULL, bytes,
                        TACIT_TRIGGER_BYTE, peer);
    e->mine.on_gpu = true;
}

static void set_ends(tacit_trigger_request *r)
{
    const int rank = r->comm->rank, ranks = r->comm->ranks;
    tct_trigger_end *e = r->end;
    for (int k = has_itself(r) ? 0 : 1; k < ranks; k++, e += 2) {
        const int peer = (rank + k) % ranks;
        set_end(&e[0], TCT_SENDS, peer, r->data, bytes_of(r, rank));
        set_end(&e[1], TCT_RECEIVES, peer, place_of(r, peer),
                bytes_of(r, peer));
    }
}

static tacit_status take_scratch(tacit_trigger_request *r)
{
    const int64_t bytes = bytes_of(r, 0) * r->comm->ranks;
    if (r->what != TCT_ALLREDUCE || bytes == 0) return TACIT_OK;
    r->scratch = tct_gpu_scratch_take(r->comm, (size_t)bytes);
    return r->scratch ? TACIT_OK : TACIT_NO_MEMORY;
}

tacit_status tct_together_on_gpu(const tacit_trigger_request *like,
                                 tacit_trigger_comm *c,
                                 tacit_trigger_request **out)
{
    tacit_trigger_request *r = NULL;
    const int peers = c->ranks - (has_itself(like) ? 0 : 1);
    TRY(tct_request_new(c, like->what, 2 * peers, c->ranks, &r));
    r->data = like->data;
    r->result = like->result;
    r->count = like->count;
    r->type = like->type;
    r->reduction = like->reduction;
    r->root = like->root;
    r->on_gpu = true;
    const tacit_status status = take_scratch(r);
    set_ends(r);
    *out = r;
    if (status < 0) (void)tacit_trigger_request_free(out);
    return status;
}
