/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_levels.c - levels made by a device, with new
 * aggregates, or again with those of another hierarchy; the host takes over
 * where levels are small and where the device fails. */
#include "precond/amg/cycle/fused_coarse.h"
#include "precond/amg/levels.h"

static const tct_coarsening pairwise = {.passes = 3};

/* Continue on the host. */
static tacit_status leave(tct_amg_growth *g)
{
    const int vectors = g->near.vectors;
    if (g->m) TRY(tct_agree(g->A->world, tct_near_null_fill(&g->near)));
    else {
        TRY(tct_amg_device_bring(g->device, &g->own, &g->smooth));
        tct_amg_set_size(g, g->own);
        if (vectors > 0) {
            TRY(tct_near_null_of(&g->near, vectors, g->rows, g->smooth));
            g->smooth = NULL;
        }
    }
    tct_amg_device_close(&g->device);
    g->make = g->as ? &tct_amg_on_host_again : &tct_amg_on_host;
    return TACIT_OK;
}

/* Take over the `size` of a next level; the host makes it on failure. */
static tacit_status settle(tct_amg_growth *g, tacit_status status,
                           const tct_amg_size *size, tct_amg_next *next)
{
    if (status == TACIT_UNSUPPORTED || status == TACIT_NO_MEMORY) {
        tct_log(TCT_DETAIL, "amg: the host makes the other levels: %s",
                tacit_error_message());
        TRY(leave(g));
        return g->make->coarsen(g, next);
    }
    next->rows = size->rows;
    next->all = size->all;
    next->nonzeros = size->nonzeros;
    next->rounds = size->rounds;
    next->positive = size->positive;
    return status;
}

static tacit_status coarsen(tct_amg_growth *g, tct_amg_next *next)
{
    tct_amg_size size = {0};
    return settle(g, tct_amg_device_coarsen(g->device, &pairwise, &size), &size,
                  next);
}

static tacit_status coarsen_again(tct_amg_growth *g, tct_amg_next *next)
{
    tct_amg_size size = {0};
    const tacit_status status =
        tct_amg_device_coarsen_as(g->device, tct_amg_model(g), &size);
    return settle(g, status, &size, next);
}

static tacit_status floats(const tct_amg_growth *g, bool *out)
{
    return tct_amg_device_floats(g->device, out);
}

/* No rows of the host are stored, since it would take longer than all
 * levels. */
static tacit_status view(const tct_amg_growth *g, tct_amg_level *L)
{
    return tct_operator_rounded(g->A, NULL, &L->own);
}

static tacit_status coarse(const tct_amg_growth *g, tct_amg_level *L)
{
    return tct_amg_device_operator(g->device, g->A, g->floats, &L->own);
}

static tacit_status rows(const tct_amg_growth *g, const tct_amg_level *L,
                         tct_amg_rows *out)
{
    (void)L;
    return tct_amg_device_rows(g->device, out);
}

/* Its memory is taken over on descent. */
static tacit_status keep(const tct_amg_growth *g, tct_amg_level *L)
{
    (void)g;
    (void)L;
    return TACIT_OK;
}

static tacit_status make_transfer(tct_amg_growth *g, tct_amg_level *L)
{
    const bool several = g->near.vectors > 0; /* an update needs them */
    g->M->on_device = !several;
    TRY(tct_amg_device_transfer(g->device, &L->down));
    if (!several) return TACIT_OK;
    L->blocks = tct_amg_device_blocks(g->device, &L->block_count);
    return tct_amg_device_smooth(g->device, &L->smooth);
}

static tacit_status transfer(tct_amg_growth *g, tct_amg_next *next,
                             tct_amg_level *L)
{
    (void)next;
    return tct_agree(g->A->world, make_transfer(g, L));
}

static tacit_status transfer_again(tct_amg_growth *g, tct_amg_next *next,
                                   tct_amg_level *L)
{
    (void)next;
    g->M->on_device = g->near.vectors == 0;
    tct_amg_borrow_transfer(g, L);
    return tct_agree(g->A->world, tct_amg_device_smooth(g->device, &L->smooth));
}

/* Leave the device at small levels and at levels to be replicated. */
static tacit_status leave_if_done(tct_amg_growth *g)
{
    bool done = false;
    TRY(tct_amg_device_is_done(g->device, &done));
    if (g->as && !g->as->level[g->M->levels].blocks) done = true;
    if (!done && !tct_amg_fused_for_each(g->M, g->all, g->nonzeros))
        return TACIT_OK;
    return leave(g);
}

static tacit_status descend(tct_amg_growth *g, tct_amg_next *next)
{
    tct_amg_level *L = tct_amg_current(g);
    const int vectors = g->near.vectors;
    g->rows = next->rows;
    g->all = next->all;
    g->nonzeros = next->nonzeros;
    g->m = NULL;
    if (L->exponent == 0 && tct_amg_fused_wants(g->M, L))
        L->kept = tct_amg_device_take(g->device);
    tct_free(g->smooth); /* the next one is on the device */
    g->smooth = NULL;
    tct_near_null_clear(&g->near); /* so are the next ones */
    g->near.vectors = vectors;
    tct_amg_device_descend(g->device);
    g->first = tct_amg_device_first(g->device);
    return leave_if_done(g);
}

/* --- the tables ----------------------------------------------------------- */

const tct_amg_maker tct_amg_on_device = {.where = " on the device",
                                         .coarsen = coarsen,
                                         .floats = floats,
                                         .view = view,
                                         .coarse = coarse,
                                         .rows = rows,
                                         .keep = keep,
                                         .transfer = transfer,
                                         .descend = descend,
                                         .leave = leave};

const tct_amg_maker tct_amg_on_device_again = {.where = " on the device",
                                               .coarsen = coarsen_again,
                                               .floats = floats,
                                               .view = view,
                                               .coarse = coarse,
                                               .rows = rows,
                                               .keep = keep,
                                               .transfer = transfer_again,
                                               .descend = descend,
                                               .leave = leave};
