/* SPDX-License-Identifier: BSD-3-Clause
 * operator/interface_rows.c - the ghost block of an operator, read back or
 * set. */
#include "operator/interface_rows.h"
#include "device/parallel.h"
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
    const tct_assembled *A = tct_assembled_of(base);
    const tct_ghost_block *B = (const tct_ghost_block *)(const void *)A->ghost;
    const int64_t rows = B ? B->rows : 0;
    *out = (tct_interface_rows){.row = NULL};
    TRY(copy_starts(A, out));
    TRY(tct_csr_rows(&out->A, rows, A->ghosts, 0, rows));
    TRY(TCT_ALLOC(rows, what, &out->row));
    TRY(TCT_ALLOC(A->ghosts, what, &out->ghosts.id));
    out->ghosts.count = A->ghosts;
    for (int64_t g = 0; g < A->ghosts; g++) out->ghosts.id[g] = A->ghost_id[g];
    if (!B) return tct_csr_entries(&out->A, 0);
    for (int64_t i = 0; i < rows; i++) {
        out->row[i] = B->row[i];
        out->A.ptr[i + 1] = B->ptr[i + 1];
    }
    return tct_csr_borrow(&out->A, B->col, B->val);
}

void tct_interface_rows_clear(tct_interface_rows *interface)
{
    tct_csr_clear(&interface->A);
    tct_ghosts_clear(&interface->ghosts);
    TCT_FREE(interface->row, interface->starts);
    *interface = (tct_interface_rows){.row = NULL};
}

/* --- set ------------------------------------------------------------------ */

typedef struct {
    const tct_csr *from;
    bool floats;
    const tct_parts *to;
} filling;

static void fill_entries(void *work, int64_t from, int64_t to)
{
    const filling *f = work;
    for (int64_t k = from; k < to; k++) {
        const double val = f->from->val[k];
        f->to->ghost_col[k] = f->from->col32[k];
        f->to->ghost_val[k] = f->floats ? tct_rounded(val) : val;
    }
}

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
    tct_parallel(entries, 10 * TCT_SHORT, fill_entries,
                 &(filling){R, floats, out});
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
