/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/row_merge.c - rows of aggregates kept by other ranks are
 * sent to these. Received rows are ordered by rank and row, so that sums always
 * have the same bits. */
#include "comm/setup/alltoall.h"
#include "precond/amg/galerkin/row_accumulation.h"

static const char *const what = "rows of other ranks' aggregates";

typedef struct {
    int64_t row, col; /* of the result */
    double value;
} entry;

typedef struct {
    tacit_world *world;
    const int64_t *starts;
    const tct_contraction *c;
    int64_t *to, *from; /* [size] entries, then bytes */
    int64_t *next;      /* [size] */
    entry *out, *in;
    int64_t sent, received;
    tct_csr more;
} merging;

static int64_t entries_of(const tct_csr *A, int64_t i)
{
    return A->ptr[i + 1] - A->ptr[i];
}

/* The aggregate of row `i` if another rank keeps it, else -1. */
static int64_t remote_aggregate(const tct_contraction *c, int64_t i)
{
    const int64_t k = c->of[i] - c->coarse;
    return k < 0 ? -1 : c->others->id[k];
}

static int owner_of(const merging *m, int64_t row)
{
    return tct_owner(m->starts, m->world->size, row);
}

static tacit_status count_entries(merging *m)
{
    const size_t size = (size_t)m->world->size;
    TRY(TCT_ALLOC(size, what, &m->to));
    TRY(TCT_ALLOC(size, what, &m->from));
    TRY(TCT_ALLOC(size, what, &m->next));
    for (size_t r = 0; r < size; r++) m->to[r] = 0;
    for (int64_t i = 0; i < m->c->A->rows; i++) {
        const int64_t row = remote_aggregate(m->c, i),
                      n = entries_of(m->c->A, i);
        if (row < 0) continue;
        m->to[owner_of(m, row)] += n;
        m->sent += n;
    }
    return TCT_ALLOC(m->sent, what, &m->out);
}

static void write_row(merging *m, int64_t i, int64_t row)
{
    const tct_contraction *c = m->c;
    const double own = c->weight ? c->weight[i] : 1.0;
    int64_t *at = &m->next[owner_of(m, row)];
    for (int64_t e = c->A->ptr[i]; e < c->A->ptr[i + 1]; e++) {
        double w;
        const int64_t col =
            tct_contracted(c, tct_csr_col(c->A, e) - c->A->first, &w);
        m->out[(*at)++] =
            (entry){row, col, own * tct_contracted_value(c, e) * w};
    }
}

static void write_rows(merging *m)
{
    int64_t at = 0;
    for (int r = 0; r < m->world->size; r++) {
        m->next[r] = at;
        at += m->to[r];
    }
    for (int64_t i = 0; i < m->c->A->rows; i++) {
        const int64_t row = remote_aggregate(m->c, i);
        if (row >= 0) write_row(m, i, row);
    }
}

static tacit_status exchange_rows(merging *m)
{
    const int size = m->world->size;
    TRY(tct_trade_numbers(m->world, m->to, m->from, m->next));
    for (int r = 0; r < size; r++) m->received += m->from[r];
    TRY(tct_agree(m->world, TCT_ALLOC(m->received, what, &m->in)));
    write_rows(m);
    for (int r = 0; r < size; r++) {
        m->to[r] *= (int64_t)sizeof *m->out;
        m->from[r] *= (int64_t)sizeof *m->in;
    }
    return tct_alltoallv(m->world, m->to, m->out, m->from, m->in);
}

/* Sort the received entries by row. */
static tacit_status list_rows(merging *m)
{
    const tct_contraction *c = m->c;
    tct_csr *more = &m->more;
    TRY(tct_csr_rows(more, c->all, c->all, c->first, c->coarse));
    TRY(tct_csr_entries(more, m->received));
    for (int64_t k = 0; k < m->received; k++)
        more->ptr[m->in[k].row - c->first + 1]++;
    for (int64_t n = 0; n < c->coarse; n++) more->ptr[n + 1] += more->ptr[n];
    for (int64_t k = m->received - 1; k >= 0; k--) { /* ptr[n + 1] goes down */
        const int64_t at = --more->ptr[m->in[k].row - c->first + 1];
        tct_csr_set_col(more, at, m->in[k].col);
        more->val[at] = m->in[k].value;
    }
    for (int64_t n = 0; n < c->coarse; n++) more->ptr[n] = more->ptr[n + 1];
    more->ptr[c->coarse] = m->received;
    return TACIT_OK;
}

static tacit_status merge(merging *m, tct_csr *out)
{
    bool any = false;
    TRY(tct_any(m->world, m->c->others->count > 0, &any));
    if (!any) return tct_accumulate_rows(m->c, out);
    TRY(tct_agree(m->world, count_entries(m)));
    TRY(exchange_rows(m));
    TRY(list_rows(m));
    tct_contraction with = *m->c;
    with.more = &m->more;
    return tct_accumulate_rows(&with, out);
}

tacit_status tct_accumulate_all(tacit_world *world, const int64_t *starts,
                                const tct_contraction *c, tct_csr *out)
{
    merging m = {.world = world, .starts = starts, .c = c};
    *out = (tct_csr){0};
    const tacit_status status = tct_agree(world, merge(&m, out));
    if (status < 0) tct_csr_clear(out);
    tct_csr_clear(&m.more);
    TCT_FREE(m.to, m.from, m.next, m.out, m.in);
    return status;
}
