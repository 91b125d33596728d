/* SPDX-License-Identifier: BSD-3-Clause
 * halo/halo.c - halos: made, exchanged by either means, freed. */
#include "halo/halo.h"
#include "halo/state.h"

/* --- creation ------------------------------------------------------------- */

static const tct_halo_device *device_of(const tacit_queue *q)
{
#if TCT_HAVE_CUDA
    if (q->device->kind == TCT_KIND_GPU) return &tct_halo_gpu;
#endif
    (void)q;
    return &tct_halo_host;
}

/* The shapes of all ranks, which must fit. Collective. */
static tacit_status agree(tacit_halo *h)
{
    tacit_world *w = h->q->world;
    TRY(tct_allgather(w, sizeof h->shape, &h->shape, h->all));
    return tct_agree(w, tct_halo_shapes_check(h->all, h->q->ranks, h->q->rank));
}

static tacit_status describe(tacit_queue *q, const tacit_halo_block *block,
                             tacit_halo *h)
{
    if (!h) FAIL(TACIT_NO_MEMORY, "no memory for a halo");
    if (!block) FAIL(TACIT_INVALID, "tacit_halo_create: block is NULL");
    h->q = q;
    h->device = device_of(q);
    h->near.window.arena = -1;
    TRY(tct_halo_shape_of(block, q->rank, q->ranks, &h->shape));
    return TCT_ALLOC(q->ranks, "a halo", &h->all);
}

static tacit_status create(tacit_queue *queue, const tacit_halo_block *block,
                           bool packed, tacit_halo **out)
{
    q_enter(queue);
    tacit_halo *h = tct_calloc(sizeof *h);
    tacit_status status = tct_agree(queue->world, describe(queue, block, h));
    if (status >= 0) status = agree(h);
    for (int i = 0; i < TACIT_HALO_DIRECTIONS && status >= 0; i++)
        tct_halo_message(&h->shape, i, &h->message[i]);
    if (status >= 0 && packed) status = tct_halo_packed_open(h);
    if (status < 0) tacit_halo_destroy(&h);
    else *out = h;
    return status;
}

tacit_status tacit_halo_create(tacit_queue *queue,
                               const tacit_halo_block *block, tacit_halo **out)
{
    REQUIRE(queue != NULL, out != NULL);
    return create(queue, block, true, out);
}

tacit_status tct_halo_create_in_place(tacit_queue *queue,
                                      const tacit_halo_block *block,
                                      tacit_halo **out)
{
    return create(queue, block, false, out);
}

void tacit_halo_destroy(tacit_halo **halo)
{
    if (!halo || !*halo) return;
    tacit_halo *h = *halo;
    if (h->device) {
        q_enter(h->q);
        (void)q_status(h->q); /* what is enqueued needs the halo */
        tct_halo_near_close(h);
        tct_halo_packed_close(h);
        if (h->own) h->q->device->free(h->q, h->own);
    }
    TCT_FREE(h->all, h);
    *halo = NULL;
}

tacit_status tacit_halo_message_of(const tacit_halo *halo, int direction,
                                   tacit_halo_message *out)
{
    REQUIRE(halo != NULL, out != NULL);
    REQUIRE(direction >= 0, direction < TACIT_HALO_DIRECTIONS);
    *out = halo->message[direction];
    return TACIT_OK;
}

/* --- exchanges ------------------------------------------------------------ */

/* The field of an exchange, NULL and a failed queue if it cannot be one. Other
 * ranks wait for the messages of a failed queue, too. */
static char *require_field(tacit_halo *h, void *cell)
{
    const size_t unit = tct_element_bytes(h->packed.element);
    if (!cell) {
        q_fail(h->q, TACIT_INVALID, "tacit_halo_begin: cell is NULL");
        return NULL;
    }
    if (h->packed.direct && (uintptr_t)cell % unit != 0) {
        q_fail(h->q, TACIT_INVALID,
               "tacit_halo_begin: cells of %lld bytes: expected an address "
               "that is a multiple of %zu",
               (long long)h->shape.bytes, unit);
        return NULL;
    }
    return cell;
}

/* May an exchange begin (or end)? If not, the queue fails. */
static bool is_in_turn(tacit_halo *h, bool begins)
{
    if (h->begun != begins) {
        h->begun = begins;
        return true;
    }
    q_fail(h->q, TACIT_INVALID,
           begins ? "halo: an exchange begins before the end of the last one"
                  : "halo: an end without a begin");
    return false;
}

/* The caller may wait for ranks, and enqueue work of its own. */
static void flush(tacit_queue *q)
{
    tct_start_messages(q);
    if (q->device->flush) q->device->flush(q);
}

void tacit_halo_begin(tacit_halo *halo, void *cell)
{
    if (!halo) {
        tct_log(TCT_WARN, "tacit_halo_begin: halo is NULL");
        return;
    }
    q_enter(halo->q);
    if (!is_in_turn(halo, true)) return;
    halo->means = TCT_HALO_PACKED;
    halo->near.packed_came = true;
    tct_halo_packed_begin(halo, require_field(halo, cell));
    flush(halo->q);
}

void tacit_halo_end(tacit_halo *halo)
{
    if (!halo) return;
    q_enter(halo->q);
    tct_halo_finish(halo);
    flush(halo->q);
}

void tacit_halo_exchange(tacit_halo *halo, void *cell)
{
    tacit_halo_begin(halo, cell);
    tacit_halo_end(halo);
}

/* --- of the buffers ------------------------------------------------------- */

/* Has the halo the buffers for it? If not, the queue fails. */
static bool is_possible(tacit_halo *h, tct_halo_means means)
{
    const char *why = tct_halo_why_packed(h);
    if (h->taken && (means == TCT_HALO_PACKED || !why)) return true;
    q_fail(h->q, TACIT_INVALID, "halo: no exchange in place: %s", why);
    return false;
}

void tct_halo_start(tacit_halo *h, int slot, tct_halo_means means)
{
    if (!is_possible(h, means) || !is_in_turn(h, true)) return;
    h->means = means;
    if (means != TCT_HALO_PACKED) {
        tct_halo_near_start(h, slot, means);
        return;
    }
    h->near.packed_came = true;
    tct_halo_packed_begin(h, h->cell[slot]);
}

void tct_halo_finish(tacit_halo *h)
{
    if (!is_in_turn(h, false)) return;
    if (h->means == TCT_HALO_PACKED) tct_halo_packed_end(h);
    else tct_halo_near_finish(h);
}

void tct_halo_swap(tacit_halo *h, int slot, tct_halo_means means)
{
    if (means != TCT_HALO_STORES) {
        tct_halo_start(h, slot, means);
        tct_halo_finish(h);
    } else if (is_possible(h, means) && is_in_turn(h, true)) {
        tct_halo_near_swap(h, slot);
        h->begun = false;
    }
}
