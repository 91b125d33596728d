/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_rows.c - the interface rows of each level: rows
 * with columns of other ranks. */
#include "precond/amg/device/interface_rows.h"
#include "device/parallel.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/device/interface_product.h"
#include <string.h>

static const char *const what = "rows with columns of other ranks";

static tacit_status open_ones(int64_t count, double **out)
{
    TRY(TCT_ALLOC(count, what, out));
    for (int64_t k = 0; k < count; k++) (*out)[k] = 1.0;
    return TACIT_OK;
}

static tacit_status open_halo(tacit_world *w, tct_amg_interface *r)
{
    return tct_halo_of(w, r->of.starts, r->of.ghosts.count, r->of.ghosts.id,
                       &r->halo);
}

tacit_status tct_amg_interface_open(const tacit_operator *A,
                                    const tct_near_null *near,
                                    tct_amg_interface *out)
{
    const int k = near->vectors;
    *out = (tct_amg_interface){.k = k};
    tacit_status status = tct_interface_rows_of(A, &out->of);
    if (status >= 0 && k == 0) status = open_ones(out->of.A.rows, &out->w);
    if (status >= 0 && k == 0)
        status = open_ones(out->of.ghosts.count, &out->beyond);
    TRY(tct_agree(A->world, status));
    TRY(open_halo(A->world, out));
    if (k == 0) return TACIT_OK;
    return tct_amg_interface_open_nodes(A->world, near, out);
}

void tct_amg_interface_clear(tct_amg_interface *r)
{
    tct_interface_rows_clear(&r->of);
    tct_halo_close(&r->halo);
    TCT_FREE(r->w, r->beyond, r->node, r->ghost_node);
    *r = (tct_amg_interface){.w = NULL};
}

void tct_amg_interface_ask(const tct_amg_interface *r, int32_t *rows)
{
    const int64_t own = r->of.A.rows;
    for (int64_t k = 0; k < own; k++) rows[k] = r->of.row[k];
    for (int64_t k = 0; k < r->halo.shared; k++) rows[own + k] = r->halo.row[k];
}

tct_interface_sums tct_amg_interface_sum(const tct_amg_interface *r, int64_t k)
{
    const tct_csr *A = &r->of.A;
    tct_interface_sums s = {0.0, 0.0, 0.0};
    for (int64_t e = A->ptr[k]; e < A->ptr[k + 1]; e++) {
        const double ww = r->k > 0 ? 1.0 : r->w[k] * r->beyond[A->col32[e]];
        const double part = A->val[e] * ww;
        s.plain += fabs(A->val[e]);
        s.size += fabs(part);
        s.energy += part;
    }
    return s;
}

typedef struct {
    const tct_amg_interface *r;
    double *sum;
} summing;

static void sum_rows(void *work, int64_t from, int64_t to)
{
    const summing *m = work;
    const int64_t rows = m->r->of.A.rows;
    for (int64_t k = from; k < to; k++) {
        const tct_interface_sums s = tct_amg_interface_sum(m->r, k);
        m->sum[k] = s.plain;
        m->sum[rows + k] = s.size;
    }
}

void tct_amg_interface_sums(const tct_amg_interface *r, double *sum)
{
    tct_parallel(r->of.A.rows, TCT_SHORT / 4, sum_rows, &(summing){r, sum});
}

/* --- all columns of a row ------------------------------------------------- */

/* Store entry `k` of the result. */
static void put_entry(tct_csr *out, int64_t k, int64_t col, double val)
{
    tct_csr_set_col(out, k, col);
    out->val[k] = val;
}

/* The number of interface rows before row `i`. */
static int64_t rows_before(const tct_amg_interface *r, int64_t i)
{
    int64_t low = 0, high = r->of.A.rows;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (r->of.row[mid] < i) low = mid + 1;
        else high = mid;
    }
    return low;
}

typedef struct {
    const tct_csr *own;
    const tct_amg_interface *r;
    tct_csr *out;
} joining;

/* Merge rows [from, last). */
static void join_rows(void *work, int64_t from, int64_t last)
{
    const joining *j = work;
    const tct_csr *own = j->own;
    const tct_amg_interface *r = j->r;
    const tct_csr *R = &r->of.A;
    const int64_t *const id = r->of.ghosts.id;
    tct_csr *out = j->out;
    int64_t edge = rows_before(r, from);
    int64_t at = own->ptr[from] + R->ptr[edge];
    for (int64_t i = from; i < last; i++) {
        const bool on = edge < R->rows && r->of.row[edge] == i;
        int64_t k = on ? R->ptr[edge] : 0;
        const int64_t end = on ? R->ptr[edge + 1] : 0;
        for (; k < end && id[R->col32[k]] < out->first; k++)
            put_entry(out, at++, id[R->col32[k]], R->val[k]);
        for (int64_t e = own->ptr[i]; e < own->ptr[i + 1]; e++)
            put_entry(out, at++, out->first + tct_csr_col(own, e), own->val[e]);
        for (; k < end; k++) put_entry(out, at++, id[R->col32[k]], R->val[k]);
        edge += on;
        out->ptr[i + 1] = at;
    }
}

void tct_amg_interface_absorb(const tct_csr *own, const tct_amg_interface *r,
                              tct_csr *out)
{
    tct_parallel(own->rows, TCT_SHORT, join_rows, &(joining){own, r, out});
}

tacit_status tct_amg_interface_without(const tct_csr *A, tct_csr *out)
{
    const int64_t n = A->rows;
    TRY(tct_csr_rows(out, n, n, 0, n));
    for (int64_t i = 0, own = 0; i < n; i++) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k) - A->first;
            own += j >= 0 && j < n;
        }
        out->ptr[i + 1] = own;
    }
    TRY(tct_csr_entries(out, out->ptr[n]));
    for (int64_t k = 0, own = 0; k < A->ptr[n]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        if (j >= 0 && j < n) put_entry(out, own++, j, A->val[k]);
    }
    return TACIT_OK;
}

/* --- the next level ------------------------------------------------------- */

typedef struct {
    const tct_amg_interface *r;
    const double *group, *weight; /* [asked] */
    int32_t *of;       /* [rows] row of the next interface, -1: none */
    int64_t *word;     /* [ghosts][2] received, or [rows] */
    int64_t *ghost_of; /* [ghosts] */
    int32_t *ghost_at; /* [ghosts] ghost of the next interface, -1: none */
    double *ghost_weight;
} step;

static tacit_status allocate(step *s, tct_amg_interface *next)
{
    const tct_amg_interface *r = s->r;
    const int64_t rows = r->of.A.rows, ghosts = r->of.ghosts.count;
    TRY(TCT_ALLOC(r->halo.world->size + 1, what, &next->of.starts));
    TRY(TCT_ALLOC(rows, what, &next->of.row));
    TRY(TCT_ALLOC(rows, what, &next->w));
    TRY(TCT_ALLOC(ghosts, what, &next->beyond));
    TRY(TCT_ALLOC(rows, what, &s->of));
    TRY(TCT_ALLOC(2 * ghosts + rows, what, &s->word));
    TRY(TCT_ALLOC(ghosts, what, &s->ghost_of));
    TRY(TCT_ALLOC(ghosts, what, &s->ghost_at));
    return TCT_ALLOC(ghosts, what, &s->ghost_weight);
}

/* Exchange the aggregates of ghosts and their weights in P. */
static tacit_status exchange_aggregates(step *s, int64_t first)
{
    const tct_halo *h = &s->r->halo;
    const int64_t own = s->r->of.A.rows;
    for (int64_t k = 0; k < h->shared; k++) {
        const int64_t n = (int64_t)s->group[own + k];
        h->out[2 * k] = n < 0 ? -1 : first + n;
        memcpy(&h->out[2 * k + 1], &s->weight[own + k], sizeof *s->weight);
    }
    TRY(tct_halo_trade(h, 2, s->word));
    for (int64_t g = 0; g < h->ghosts.count; g++) {
        s->ghost_of[g] = s->word[2 * g];
        memcpy(&s->ghost_weight[g], &s->word[2 * g + 1],
               sizeof *s->ghost_weight);
    }
    return TACIT_OK;
}

tacit_status tct_amg_number_distinct(int64_t count, int64_t *word, int32_t *at,
                                     tct_ghosts *out)
{
    int64_t some = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t id = word[k];
        if (id >= 0) word[some++] = id;
        at[k] = id >= 0 ? 0 : -1;
    }
    int32_t *place = NULL;
    TRY(TCT_ALLOC(some, what, &place));
    const tacit_status status = tct_ghosts_of(some, word, place, out);
    some = 0;
    for (int64_t k = 0; status >= 0 && k < count; k++)
        if (at[k] == 0) at[k] = place[some++];
    tct_free(place);
    return status;
}

/* The aggregates of interface rows become rows of the next interface. */
static tacit_status number_rows(step *s, tct_amg_interface *next,
                                int64_t *count)
{
    const int64_t rows = s->r->of.A.rows;
    tct_ghosts set;
    for (int64_t k = 0; k < rows; k++) s->word[k] = (int64_t)s->group[k];
    TRY(tct_amg_number_distinct(rows, s->word, s->of, &set));
    for (int64_t n = 0; n < set.count; n++)
        next->of.row[n] = (int32_t)set.id[n];
    *count = set.count;
    tct_ghosts_clear(&set);
    return TACIT_OK;
}

/* P'A P of the interface; columns without an aggregate are dropped. */
static tacit_status multiply(const step *s, int64_t coarse,
                             tct_amg_interface *next)
{
    tct_interface_product p = {.A = &s->r->of.A,
                               .of = s->of,
                               .at = s->ghost_at,
                               .rows = coarse,
                               .cols = next->of.ghosts.count};
    const tacit_status status = tct_interface_product_open(&p);
    if (status >= 0) {
        tct_interface_product_add_up(&p, s->weight, s->ghost_weight, false);
        next->of.A = p.B;
        p.B = (tct_csr){0};
    }
    tct_interface_product_clear(&p);
    return status;
}

static tacit_status add_up(step *s, tct_amg_interface *next)
{
    const int64_t ghosts = s->r->of.ghosts.count;
    int64_t coarse = 0;
    TRY(number_rows(s, next, &coarse));
    for (int64_t g = 0; g < ghosts; g++) s->word[g] = s->ghost_of[g];
    TRY(tct_amg_number_distinct(ghosts, s->word, s->ghost_at,
                                &next->of.ghosts));
    return multiply(s, coarse, next);
}

/* P' of the smooth vector: w over the weight of any row of the aggregate. */
static void restrict_smooth(const step *s, tct_amg_interface *next)
{
    const tct_amg_interface *r = s->r;
    for (int64_t k = 0; k < r->of.A.rows; k++)
        if (s->of[k] >= 0) next->w[s->of[k]] = r->w[k] / s->weight[k];
    for (int64_t g = 0; g < r->of.ghosts.count; g++)
        if (s->ghost_at[g] >= 0)
            next->beyond[s->ghost_at[g]] = r->beyond[g] / s->ghost_weight[g];
}

tacit_status tct_amg_interface_next(const tct_amg_interface *r,
                                    const double *group, const double *weight,
                                    int64_t coarse, tct_amg_interface *next)
{
    tacit_world *w = r->halo.world;
    step s = {.r = r, .group = group, .weight = weight};
    *next = (tct_amg_interface){.w = NULL};
    tacit_status status = tct_agree(w, allocate(&s, next));
    if (status >= 0) status = tct_numbering_starts(w, coarse, next->of.starts);
    if (status >= 0) status = exchange_aggregates(&s, next->of.starts[w->rank]);
    if (status >= 0) status = tct_agree(w, add_up(&s, next));
    if (status >= 0) {
        restrict_smooth(&s, next);
        status = open_halo(w, next);
    }
    TCT_FREE(s.of, s.word, s.ghost_of, s.ghost_at, s.ghost_weight);
    return status;
}
