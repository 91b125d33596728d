/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/brought.c - rows on a device from the beginning of a set-up:
 * see brought.h. */
#include "operator/choice/brought.h"
#include "operator/layout/look_device.h"
#include <string.h>

/* Does the device store rows in this format, as they come? */
static tacit_status suits(const tct_assembled *A, const char *format, bool *out)
{
    tct_format_wish wish;
    *out = false;
    if (A->base.q->device->kind != TCT_KIND_GPU || A->base.world->size > 1 ||
        A->order)
        return TACIT_OK;
    TRY(tct_format_parse(A->base.q->device->name, format, &wish));
    *out = strcmp(wish.format, "stencil") != 0 &&
           (strcmp(wish.order, "auto") == 0 || strcmp(wish.order, "none") == 0);
    return TACIT_OK;
}

static tacit_status look(tct_brought *b)
{
    tacit_queue *q = b->rows.q;
    TRY(tacit_queue_alloc(q, (size_t)b->rows.rows, &b->diagonal));
    TRY(tct_look_at_rows(&b->rows, &b->sizes, b->diagonal, &b->state));
    b->looked = true;
    return TACIT_OK;
}

static tacit_status bring(tacit_queue *q, const tct_csr *rows, tct_brought *b)
{
    const double start = tct_seconds();
    tct_local local = {.rows = rows->rows,
                       .cols = rows->rows,
                       .ptr = rows->ptr,
                       .col = rows->col32,
                       .val = rows->val};
    TRY(tct_store_bring(q, &local, &b->rows));
    b->from = rows->val;
    b->seconds = tct_seconds() - start;
    if (!b->rows.ptr) return TACIT_OK;
    const tacit_status status = look(b);
    tct_log(TCT_DETAIL, "rows looked at on the device in %.2f ms%s",
            1e3 * (tct_seconds() - start - b->seconds),
            b->state ? "; the host looks for null vectors" : "");
    return status == TACIT_NO_MEMORY ? TACIT_OK : status;
}

tacit_status tct_bring_first(tct_assembled *A, const char *format,
                             const tct_csr *rows)
{
    bool suited = false;
    TRY(suits(A, format, &suited));
    if (!suited || !rows->col32 || tct_csr_nonzeros(rows) <= TCT_GPU_SMALL)
        return TACIT_OK; /* the host stores few */
    A->brought = tct_calloc(sizeof *A->brought);
    if (!A->brought) FAIL(TACIT_NO_MEMORY, "no memory for an operator");
    const tacit_status status = bring(A->base.q, rows, A->brought);
    if (status < 0 || !A->brought->rows.ptr) tct_brought_drop(A);
    return status;
}

void tct_brought_drop(tct_assembled *A)
{
    tct_brought *b = A->brought;
    if (!b) return;
    tct_store_drop(&(tct_local){.device = &b->rows});
    tacit_queue_free(A->base.q, &b->diagonal);
    TCT_FREE(b->state, b);
    A->brought = NULL;
}

bool tct_brought_sizes(const tct_assembled *A, tct_row_sizes *sizes,
                       unsigned char **state)
{
    tct_brought *b = A->brought;
    if (!b || !b->looked) return false;
    *sizes = b->sizes;
    *state = b->state;
    b->state = NULL;
    return true;
}

void tct_brought_lend(const tct_assembled *A, tct_local *local)
{
    tct_brought *b = A->brought;
    if (b && b->rows.ptr && local->val == b->from) local->device = &b->rows;
}

bool tct_brought_diagonal(tct_assembled *A)
{
    tct_brought *b = A->brought;
    if (!b || !b->looked || A->order) return false;
    if (!b->diagonal) return A->device_diagonal != NULL;
    tacit_queue_free(A->base.q, &A->device_diagonal);
    tct_free(A->diagonal);
    A->diagonal = NULL;
    A->device_diagonal = b->diagonal;
    b->diagonal = NULL;
    return true;
}
