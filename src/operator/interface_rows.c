/* SPDX-License-Identifier: BSD-3-Clause
 * operator/interface_rows.c - the ghost block of an operator, read back or
 * set. */
#include "operator/interface_rows.h"
#include "operator/assembled.h"
#include "operator/host/ghost.h"
#include <string.h>

static const char *const what = "rows with columns of other ranks";

static tacit_status copy_starts(const tct_assembled *A, tct_interface_rows *out)
{
    const size_t count = (size_t)A->base.world->size + 1;
    TRY(TCT_ALLOC(count, what, &out->starts));
    memcpy(out->starts, A->starts, count * sizeof *out->starts);
    return TACIT_OK;
}

tacit_status tct_interface_rows_of(const tacit_operator *base,
                                   tct_interface_rows *out)
{
    static const int64_t none[1] = {0};
    const tct_assembled *A = tct_assembled_of(base);
    const tct_ghost_block *B = (const tct_ghost_block *)(const void *)A->ghost;
    const int64_t *ptr = B ? B->ptr : none;
    const int64_t rows = B ? B->rows : 0, entries = ptr[rows];
    const tacit_world *w = base->world;
    *out = (tct_interface_rows){.row = NULL};
    TRY(copy_starts(A, out));
    const int64_t all = out->starts[w->size];
    TRY(tct_csr_rows(&out->A, all, all, out->starts[w->rank], rows));
    TRY(tct_csr_entries(&out->A, entries));
    TRY(TCT_ALLOC(rows, what, &out->row));
    TRY(TCT_ALLOC(A->ghosts, what, &out->ghosts.id));
    out->ghosts.count = A->ghosts;
    for (int64_t g = 0; g < A->ghosts; g++) out->ghosts.id[g] = A->ghost_id[g];
    for (int64_t i = 0; i < rows; i++) {
        out->row[i] = B->row[i];
        out->A.ptr[i + 1] = ptr[i + 1];
    }
    for (int64_t k = 0; k < entries; k++) {
        tct_csr_set_col(&out->A, k, A->ghost_id[B->col[k]]);
        out->A.val[k] = B->val[k];
    }
    return TACIT_OK;
}

void tct_interface_rows_clear(tct_interface_rows *interface)
{
    tct_csr_clear(&interface->A);
    tct_ghosts_clear(&interface->ghosts);
    TCT_FREE(interface->row, interface->starts);
    *interface = (tct_interface_rows){.row = NULL};
}

/* --- set ------------------------------------------------------------------ */

static tacit_status fill(const tct_interface_rows *interface, bool floats,
                         tct_parts *out)
{
    const tct_csr *R = &interface->A;
    const int64_t entries = tct_csr_nonzeros(R);
    TRY(TCT_ALLOC(interface->ghosts.count, what, &out->ghost_id));
    TRY(TCT_ALLOC(R->rows, what, &out->ghost_row));
    TRY(TCT_ALLOC(R->rows + 1, what, &out->ghost_ptr));
    TRY(TCT_ALLOC(entries, what, &out->ghost_col));
    TRY(TCT_ALLOC(entries, what, &out->ghost_val));
    out->ghosts = interface->ghosts.count;
    out->ghost_rows = R->rows;
    for (int64_t g = 0; g < out->ghosts; g++)
        out->ghost_id[g] = interface->ghosts.id[g];
    for (int64_t i = 0; i <= R->rows; i++) out->ghost_ptr[i] = R->ptr[i];
    for (int64_t i = 0; i < R->rows; i++) out->ghost_row[i] = interface->row[i];
    for (int64_t k = 0; k < entries; k++) {
        out->ghost_col[k] =
            (int32_t)tct_ghost_place(&interface->ghosts, tct_csr_col(R, k));
        out->ghost_val[k] = floats ? tct_rounded(R->val[k]) : R->val[k];
    }
    return TACIT_OK;
}

static tacit_status give(tct_assembled *A, const tct_interface_rows *interface,
                         bool floats)
{
    tct_parts parts = {.ghosts = 0};
    tct_free(A->starts);
    A->starts = NULL;
    const size_t count = (size_t)A->base.world->size + 1;
    TRY(TCT_ALLOC(count, what, &A->starts));
    memcpy(A->starts, interface->starts, count * sizeof *A->starts);
    if (interface->ghosts.count == 0) return TACIT_OK;
    tacit_status status = fill(interface, floats, &parts);
    if (status >= 0) status = tct_store_ghosts(A, &parts);
    tct_parts_clear(&parts);
    return status;
}

tacit_status tct_operator_add_interface(tacit_operator *base,
                                        const tct_interface_rows *interface,
                                        int64_t nonzeros, bool floats)
{
    tct_assembled *A = tct_assembled_of(base);
    tacit_world *w = base->world;
    base->info.rows = interface->starts[w->size];
    base->info.nonzeros = nonzeros;
    TRY(tct_agree(w, give(A, interface, floats)));
    TRY(tct_assembled_plan(A, 2));
    tct_assembled_describe(A);
    return tct_assembled_describe_exchange(A);
}
