/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/ghost.c - the block of columns that other ranks own: compressed
 * rows, without empty ones. Its product and its share of a dot are added to the
 * local ones. */
#include "operator/host/ghost.h"
#include "operator/pattern/split.h"
#include <math.h>
#include <string.h>

static const tct_ghost_block *ghost_of(const tct_block *B)
{
    return (const tct_ghost_block *)(const void *)B;
}

/* It has few entries: one thread. */
static void ghost_multiply_add(const tct_block *block, const tct_op *op)
{
    const tct_ghost_block *B = ghost_of(block);
    double *y = op->v[0];
    const double *x = op->v[1], *g = op->v[2], *d = op->v[3];
    const double a = op->alpha ? -*op->alpha : 1.0;
    double total = 0.0;
    for (int64_t i = 0; i < B->rows; i++) {
        double sum = 0.0;
        for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; k++)
            sum += B->val[k] * g[B->col[k]];
        if (d) sum *= a * d[B->row[i]];
        y[B->row[i]] += sum;
        if (op->out) total += x[B->row[i]] * sum;
    }
    if (op->out) *op->out += total;
}

void tct_ghost_add_magnitude(const tct_block *block, const double *g, double *y)
{
    const tct_ghost_block *B = ghost_of(block);
    for (int64_t i = 0; i < B->rows; i++)
        for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; k++)
            y[B->row[i]] += fabs(B->val[k] * g[B->col[k]]);
}

static void ghost_destroy(tct_block *block)
{
    tct_ghost_block *B = (tct_ghost_block *)(void *)block;
    if (!B) return;
    TCT_FREE(B->row, B->ptr, B->col, B->val, B);
}

static const tct_block_ops ghost_ops = {
    .name = "ghost",
    .multiply_add = ghost_multiply_add,
    .destroy = ghost_destroy,
};

tacit_status tct_ghost_create(tct_parts *parts, tct_block **out)
{
    tct_ghost_block *B = NULL;
    TRY(TCT_ALLOC(1, "the ghost block", &B));
    const int64_t rows = parts->ghost_rows, entries = parts->ghost_ptr[rows];
    *B = (tct_ghost_block){
        .base = {.ops = &ghost_ops,
                 .rows = rows,
                 .cols = parts->ghosts,
                 .nonzeros = entries,
                 .stored = entries,
                 /* columns, values, x; rows: ptr, row, y */
                 .matrix_bytes = 20.0 * (double)entries + 28.0 * (double)rows},
        .rows = rows,
        .row = parts->ghost_row,
        .ptr = parts->ghost_ptr,
        .col = parts->ghost_col,
        .val = parts->ghost_val};
    parts->ghost_row = NULL;
    parts->ghost_ptr = NULL;
    parts->ghost_col = NULL;
    parts->ghost_val = NULL;
    *out = &B->base;
    return TACIT_OK;
}

/* Columns of row `i` of the ghost block; none after its last row. */
typedef struct {
    int64_t row, from, to;
} ghost_row;

static ghost_row row_at(const int32_t *row, const int64_t *ptr, int64_t rows,
                        int64_t i)
{
    if (i == rows) return (ghost_row){.row = INT64_MAX};
    return (ghost_row){row[i], ptr[i], ptr[i + 1]};
}

/* Both lists of rows ascend, and so do the columns of a row: finds the first
 * difference. */
tct_difference tct_ghost_compare(const tct_block *block, const int64_t *ids,
                                 const tct_parts *now)
{
    static const tct_ghost_block empty = {.rows = 0};
    const tct_ghost_block *B = block ? ghost_of(block) : &empty;
    int64_t i = 0, j = 0;
    for (;;) {
        ghost_row old = row_at(B->row, B->ptr, B->rows, i);
        ghost_row new =
            row_at(now->ghost_row, now->ghost_ptr, now->ghost_rows, j);
        const int64_t row = old.row < new.row ? old.row : new.row;
        if (row == INT64_MAX) return (tct_difference){.row = -1};
        if (old.row != row) old.to = old.from;
        if (new.row != row) new.to = new.from;
        i += old.row == row;
        j += new.row == row;
        while (old.from < old.to || new.from < new.to) {
            const int64_t none = INT64_MAX;
            const int64_t a = old.from < old.to ? ids[B->col[old.from]] : none;
            const int64_t b = new.from < new.to
                                  ? now->ghost_id[now->ghost_col[new.from]]
                                  : none;
            if (a != b)
                return (tct_difference){
                    .row = row, .col = a < b ? a : b, .missing = a < b};
            old.from++;
            new.from++;
        }
    }
}

tacit_status tct_ghost_bring(tacit_queue *q, tct_block *B,
                             tct_block **on_device)
{
    *on_device = B;
#if TCT_HAVE_CUDA
    if (q->device == &tct_device_cuda) return tct_ghost_upload(B, on_device);
#endif
    (void)q;
    return TACIT_OK;
}

tacit_status tct_ghost_refill(tct_block *block, tct_block *on_device,
                              const tct_parts *parts)
{
    tct_ghost_block *B = (tct_ghost_block *)(void *)block;
    memcpy(B->val, parts->ghost_val, (size_t)B->base.nonzeros * sizeof *B->val);
#if TCT_HAVE_CUDA
    if (on_device != block) return tct_ghost_upload_values(block, on_device);
#endif
    (void)on_device;
    return TACIT_OK;
}
