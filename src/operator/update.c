/* SPDX-License-Identifier: BSD-3-Clause
 * operator/update.c - new values for the operator of a matrix with the same
 * pattern. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "matrix/matrix.h"
#include "operator/choice/brought.h"
#include "operator/choice/rental.h"
#include "operator/layout/store_device.h"
#include "operator/null/null_space.h"
#include <string.h>

static tacit_status into_order(const tct_order *o, tct_parts *parts)
{
    TRY(tct_order_move(o, &parts->local));
    return tct_order_ghosts(o, parts);
}

/* On a GPU slices are stored anew by kernels: see gpu/slices.c. */
static tacit_status refill_block(const tct_assembled *A, tct_local *local)
{
    const tct_format *f = A->stored.format;
    tct_store_rows rows;
    if (strcmp(f->about.name, "stencil") == 0)
        return f->refill(A->stored.block, local);
    if (!local->device) TRY(tct_store_bring(A->base.q, local, &rows));
    const tacit_status status = f->refill(A->stored.block, local);
    tct_store_drop(local);
    return status;
}

/* A stencil whose coefficients are no longer those of all rows is stored. */
static tacit_status refill_local(tct_assembled *A, tct_local *local)
{
    const tct_format *f = A->stored.format;
    const tacit_status status = refill_block(A, local);
    if (status != TACIT_UNSUPPORTED || strcmp(f->about.name, "stencil") != 0)
        return status;
    return tct_store_again(A, "sell", local);
}

/* New values for this rank's blocks; the ghost block is compared first, so that
 * none is changed if patterns differ. `found` is the difference, in numbers of
 * the distributed matrix. */
static tacit_status refill(tct_assembled *A, tct_csr *rows,
                           tct_difference *found)
{
    tct_parts parts;
    const int64_t first = rows->first;
    tct_difference local = {.row = -1};
    tacit_status status = tct_divide_rows(A, rows, &parts);
    if (status >= 0 && A->order) status = into_order(A->order, &parts);
    if (status >= 0) {
        *found = tct_ghost_compare(A->ghost, A->ghost_id, &parts);
        if (found->row >= 0) status = TACIT_INVALID; /* the caller words it */
    }
    parts.local.differs = &local;
    if (status >= 0) status = refill_local(A, &parts.local);
    if (local.row >= 0) {
        *found = local;
        if (A->order) found->col = A->order->old[found->col];
        found->col += first;
    }
    if (found->row >= 0 && A->order) found->row = A->order->old[found->row];
    if (found->row >= 0) found->row += first;
    if (status >= 0) status = tct_reduced_refill(A, &parts.local);
    if (status >= 0 && A->ghost)
        status = tct_ghost_refill(A->ghost, A->device_ghost, &parts);
    if (status >= 0) status = tct_keep_diagonal(A, &parts.local);
    tct_parts_clear(&parts);
    return status;
}

/* Convert `found` to the user's numbers, before rows were moved. The column may
 * belong to another rank. Collective, with or without a difference. */
static tacit_status original_numbers(const tacit_matrix *m,
                                     tct_difference *found)
{
    bool any = false;
    const bool mine = found->row >= 0;
    TRY(tct_any(m->world, mine, &any));
    if (!any || !m->original) return TACIT_OK;
    if (mine) found->row = m->original[found->row - m->A.first];
    return tct_directory_get(m->world, m->starts, m->original, mine,
                             &found->col, &found->col);
}

static tacit_status require_same_rows(const tct_assembled *A,
                                      const tacit_matrix *m)
{
    for (int r = 0; r < A->base.world->size; r++) {
        const int64_t was = A->starts[r + 1] - A->starts[r];
        const int64_t is = m->starts[r + 1] - m->starts[r];
        if (was != is)
            FAIL(TACIT_INVALID,
                 "the rows of the matrix are not the operator's: rank %d has "
                 "%lld of them where it had %lld",
                 r, (long long)is, (long long)was);
    }
    return TACIT_OK;
}

tacit_status tct_assembled_update(tacit_operator *base, const tacit_matrix *m)
{
    tct_assembled *A = tct_assembled_of(base);
    tct_csr rows = {0};
    tct_difference found = {.row = -1};
    const int exponent = base->exponent; /* kept if the update is refused */
    const double norm = base->norm;
    const tacit_operator_info info = base->info;
    tct_null_space *null = base->null;
    tacit_status status = tct_rows_of(base->q, m, false, &rows);
    if (status >= 0) status = require_same_rows(A, m);
    if (status >= 0) status = q_own_status(base->q); /* the queue is idle */
    status = tct_agree(base->world, status);
    base->null = NULL;
    if (status >= 0) status = tct_bring_first(A, A->stored.name, &rows);
    if (status >= 0) status = tct_scale_and_look(A, m, &rows);
    tct_rental_keep(A); /* a copy of the old values is of no use */
    const bool begun = status >= 0;
    if (status >= 0) status = refill(A, &rows, &found);
    tct_brought_drop(A);
    tct_csr_clear(&rows);
    const tacit_status named = original_numbers(m, &found);
    if (found.row >= 0) status = named < 0 ? named : tct_pattern_changed(found);
    status = tct_agree(base->world, status);
    base->version++;
    /* alone a rank that refuses the pattern has kept its values; of several,
     * others may have taken the new ones */
    if (begun && (found.row < 0 || base->world->size > 1)) base->values++;
    if (status >= 0) {
        tct_assembled_describe(A); /* a GPU's store may have changed */
        tct_null_close(&null);
    } else {
        tct_null_close(&base->null);
        base->null = null;
        base->exponent = exponent;
        base->norm = norm;
        base->info = info;
    }
    return status;
}
