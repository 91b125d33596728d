/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_nodes.c - the interface rows of systems: nodes,
 * near-null vectors, and P'A P in blocks. */
#include "comm/setup/alltoall.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/device/interface_product.h"
#include "precond/amg/device/interface_rows.h"
#include "precond/amg/systems/graph_weight.h"
#include <math.h>
#include <string.h>

static const char *const what = "rows with columns of other ranks";

/* --- smooth vectors ------------------------------------------------------- */

/* Of own rows and ghosts. */
static tacit_status open_smooth(tct_amg_interface *r)
{
    TRY(TCT_ALLOC(r->of.A.rows * r->k, what, &r->w));
    return TCT_ALLOC(r->of.ghosts.count * r->k, what, &r->beyond);
}

tacit_status tct_amg_interface_take_smooth(tct_amg_interface *r,
                                           const double *smooth)
{
    const int64_t own = r->of.A.rows * r->k;
    for (int64_t e = 0; e < own; e++) r->w[e] = smooth[e];
    return tct_halo_trade_rows(&r->halo, r->k, smooth + own, r->beyond);
}

/* --- the finest level ----------------------------------------------------- */

/* The nodes of interface rows and ghosts; `starts` [size + 1]: scratch. */
static tacit_status find_nodes(tacit_world *w, const tct_near_null *near,
                               int64_t *starts, tct_amg_interface *r)
{
    const tct_halo *h = &r->halo;
    TRY(tct_numbering_starts(w, near->nodes, starts));
    r->first_node = starts[w->rank];
    r->all_nodes = starts[w->size];
    for (int64_t i = 0; i < r->of.A.rows; i++)
        r->node[i] = near->node[r->of.row[i]];
    for (int64_t k = 0; k < h->shared; k++)
        h->out[k] = r->first_node + near->node[h->row[k]];
    return tct_halo_trade(h, 1, r->ghost_node);
}

/* An update has no nodes. */
static tacit_status open_nodes(tacit_world *w, const tct_near_null *near,
                               tct_amg_interface *r)
{
    int64_t *starts = NULL;
    bool known = false;
    TRY(tct_any(w, near->node != NULL, &known));
    if (!known) return TACIT_OK;
    tacit_status status = TCT_ALLOC(r->of.A.rows, what, &r->node);
    if (status >= 0)
        status = TCT_ALLOC(r->of.ghosts.count, what, &r->ghost_node);
    if (status >= 0) status = TCT_ALLOC(w->size + 1, what, &starts);
    status = tct_agree(w, status);
    if (status >= 0) status = find_nodes(w, near, starts, r);
    tct_free(starts);
    return status;
}

typedef struct {
    const tct_near_null *near;
    const int32_t *rows; /* of this rank */
    double *out;         /* [rows][near->vectors] */
} taking;

/* Take near-null vectors of rows [from, to) of the list, consecutive numbers
 * together. */
static void take_rows(void *work, int64_t from, int64_t to)
{
    const taking *t = work;
    const tct_near_null *near = t->near;
    const int64_t k = near->vectors;
    while (from < to) {
        const int64_t row = t->rows[from];
        int64_t end = from + 1;
        while (end < to && t->rows[end] == row + end - from) end++;
        if (!near->value)
            tct_near_null_rows(near, row, row + end - from, t->out + from * k);
        else
            memcpy(t->out + from * k, near->value + row * k,
                   (size_t)((end - from) * k) * sizeof *t->out);
        from = end;
    }
}

static tacit_status make_smooth(const tct_near_null *near,
                                const tct_amg_interface *r, double **out)
{
    const int64_t count = tct_amg_interface_asked(r);
    int32_t *rows = NULL;
    tacit_status status = TCT_ALLOC(count, what, &rows);
    if (status >= 0) status = TCT_ALLOC(count * r->k, what, out);
    if (status >= 0) {
        tct_amg_interface_ask(r, rows);
        tct_parallel(count, TCT_SHORT, take_rows, &(taking){near, rows, *out});
    }
    tct_free(rows);
    return status;
}

tacit_status tct_amg_interface_open_nodes(tacit_world *w,
                                          const tct_near_null *near,
                                          tct_amg_interface *r)
{
    double *smooth = NULL;
    tacit_status status = make_smooth(near, r, &smooth);
    if (status >= 0) status = open_smooth(r);
    status = tct_agree(w, status);
    if (status >= 0) status = tct_amg_interface_take_smooth(r, smooth);
    tct_free(smooth);
    TRY(status);
    return open_nodes(w, near, r);
}

/* --- the next level ------------------------------------------------------- */

typedef struct {
    const tct_amg_interface *r;
    const double *group, *weight; /* [asked], [asked][k] */
    tct_amg_interface *next;
    double *sent, *got;     /* [shared][1 + k], [ghosts][1 + k]: aggregate and
                         * weights */
    int64_t *word;          /* [rows or ghosts] scratch */
    int32_t *of;            /* [rows] row of the product in blocks, -1: none */
    int32_t *at;            /* [ghosts] its column, -1: none */
    int64_t *starts;        /* [size + 1] first aggregate */
    tct_ghosts own, others; /* aggregates of interface rows, of ghosts */
    tct_interface_product blocks;
    int64_t widest; /* blocks of a row */
    double *sum;    /* [parts][widest][k] of A P */
} step;

static tacit_status allocate(step *s)
{
    const tct_amg_interface *r = s->r;
    const int64_t rows = r->of.A.rows, ghosts = r->of.ghosts.count;
    TRY(TCT_ALLOC(r->halo.shared * (1 + r->k), what, &s->sent));
    TRY(TCT_ALLOC(ghosts * (1 + r->k), what, &s->got));
    TRY(TCT_ALLOC(rows > ghosts ? rows : ghosts, what, &s->word));
    TRY(TCT_ALLOC(rows, what, &s->of));
    TRY(TCT_ALLOC(ghosts, what, &s->at));
    return TCT_ALLOC(r->halo.world->size + 1, what, &s->starts);
}

/* Exchange the aggregates of ghosts and their weights in P. */
static tacit_status exchange_aggregates(step *s)
{
    const tct_halo *h = &s->r->halo;
    const int64_t own = s->r->of.A.rows, k = s->r->k;
    const double first = (double)s->starts[h->world->rank];
    double *out = s->sent;
    for (int64_t i = own; i < own + h->shared; i++) {
        *out++ = s->group[i] < 0.0 ? -1.0 : first + s->group[i];
        for (int64_t c = 0; c < k; c++) *out++ = s->weight[i * k + c];
    }
    return tct_halo_trade_rows(h, (int)k + 1, s->sent, s->got);
}

/* The pattern of a product: rows are in groups `of` [rows], ghosts `at`. */
static tacit_status open_product(const tct_amg_interface *r, const int32_t *of,
                                 const tct_ghosts *own, const int32_t *at,
                                 const tct_ghosts *others,
                                 tct_interface_product *out)
{
    *out = (tct_interface_product){.A = &r->of.A,
                                   .of = of,
                                   .at = at,
                                   .rows = own->count,
                                   .cols = others->count};
    return tct_interface_product_open(out);
}

/* The pattern of P'A P between ranks in blocks. */
static tacit_status find_blocks(step *s)
{
    const tct_amg_interface *r = s->r;
    const int64_t ghosts = r->of.ghosts.count;
    for (int64_t i = 0; i < r->of.A.rows; i++)
        s->word[i] = (int64_t)s->group[i];
    TRY(tct_amg_number_distinct(r->of.A.rows, s->word, s->of, &s->own));
    for (int64_t g = 0; g < ghosts; g++)
        s->word[g] = (int64_t)s->got[g * (1 + r->k)];
    TRY(tct_amg_number_distinct(ghosts, s->word, s->at, &s->others));
    return open_product(r, s->of, &s->own, s->at, &s->others, &s->blocks);
}

/* Allocate the rows of the next interface, k for each aggregate. */
static tacit_status open_rows(step *s)
{
    const tct_csr *B = &s->blocks.B;
    tct_interface_rows *out = &s->next->of;
    const int64_t k = s->r->k, rows = B->rows * k;
    TRY(tct_csr_rows(&out->A, rows, B->global_cols * k, 0, rows));
    TRY(tct_csr_entries(&out->A, tct_csr_nonzeros(B) * k * k));
    TRY(TCT_ALLOC(rows, what, &out->row));
    TRY(TCT_ALLOC(rows, what, &s->next->node));
    for (int64_t n = 0; n < B->rows; n++)
        if (B->ptr[n + 1] - B->ptr[n] > s->widest)
            s->widest = B->ptr[n + 1] - B->ptr[n];
    return TCT_ALLOC(s->blocks.parts * s->widest * k, what, &s->sum);
}

/* Write the columns and zero values of the rows of aggregate `n`. */
static void begin_rows(const step *s, int64_t n)
{
    const tct_csr *B = &s->blocks.B;
    tct_interface_rows *out = &s->next->of;
    const int64_t k = s->r->k, from = B->ptr[n], to = B->ptr[n + 1];
    int64_t at = from * k * k;
    for (int64_t i = n * k; i < (n + 1) * k; i++) {
        s->next->node[i] = (int32_t)s->own.id[n];
        out->row[i] = (int32_t)(s->own.id[n] * k + i % k);
        for (int64_t e = from; e < to; e++)
            for (int64_t d = 0; d < k; d++, at++) {
                out->A.col32[at] = (int32_t)(B->col32[e] * k + d);
                out->A.val[at] = 0.0;
            }
        out->A.ptr[i + 1] = at;
    }
}

/* A P of interface row `i`, into the blocks of `sum`. */
static void multiply_row(const step *s, int64_t i, const int32_t *place,
                         double *sum)
{
    const tct_csr *A = &s->r->of.A;
    const int64_t k = s->r->k;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int32_t g = A->col32[e], col = s->at[g];
        if (col < 0) continue;
        const double *const weight = s->got + g * (1 + k) + 1;
        double *const to = sum + place[col] * k;
        for (int64_t d = 0; d < k; d++) to[d] += A->val[e] * weight[d];
    }
}

/* Add the products of interface row `i` to the rows of its aggregate `n`. */
static void add_row(const step *s, int64_t i, int64_t n, const int32_t *place,
                    double *sum)
{
    const tct_csr *B = &s->blocks.B;
    const int64_t k = s->r->k, length = (B->ptr[n + 1] - B->ptr[n]) * k;
    double *to = s->next->of.A.val + B->ptr[n] * k * k;
    for (int64_t e = 0; e < length; e++) sum[e] = 0.0;
    multiply_row(s, i, place, sum);
    for (int64_t c = 0; c < k; c++, to += length)
        for (int64_t e = 0; e < length; e++)
            to[e] += s->weight[i * k + c] * sum[e];
}

static void add_part(void *work, int64_t part)
{
    const step *s = work;
    const tct_interface_product *p = &s->blocks;
    double *const sum = s->sum + part * s->widest * s->r->k;
    const int64_t last = tct_interface_product_first(p, (int)part + 1);
    for (int64_t n = tct_interface_product_first(p, (int)part); n < last; n++) {
        const int32_t *place = tct_interface_product_places(p, (int)part, n);
        begin_rows(s, n);
        for (int64_t m = p->members.begin[n]; m < p->members.begin[n + 1]; m++)
            add_row(s, p->members.member[m], n, place, sum);
    }
}

/* The ghosts of the next level: k for each aggregate. */
static tacit_status make_ghosts(const step *s, tct_amg_interface *next)
{
    const int64_t k = s->r->k, count = s->others.count * k;
    TRY(TCT_ALLOC(count, what, &next->of.ghosts.id));
    TRY(TCT_ALLOC(count, what, &next->ghost_node));
    next->of.ghosts.count = count;
    for (int64_t e = 0; e < count; e++) {
        next->of.ghosts.id[e] = s->others.id[e / k] * k + e % k;
        next->ghost_node[e] = s->others.id[e / k];
    }
    return TACIT_OK;
}

static tacit_status make_rows(step *s)
{
    const tacit_world *w = s->r->halo.world;
    tct_amg_interface *next = s->next;
    TRY(find_blocks(s));
    TRY(open_rows(s));
    tct_parallel_each(s->blocks.parts, add_part, s);
    TRY(make_ghosts(s, next));
    TRY(TCT_ALLOC(w->size + 1, what, &next->of.starts));
    for (int p = 0; p <= w->size; p++)
        next->of.starts[p] = s->starts[p] * s->r->k;
    next->first_node = s->starts[w->rank];
    next->all_nodes = s->starts[w->size];
    return open_smooth(next);
}

tacit_status tct_amg_interface_next_nodes(const tct_amg_interface *r,
                                          const double *group,
                                          const double *weight, int64_t coarse,
                                          tct_amg_interface *next)
{
    tacit_world *w = r->halo.world;
    step s = {.r = r, .group = group, .weight = weight, .next = next};
    *next = (tct_amg_interface){.k = r->k};
    tacit_status status = tct_agree(w, allocate(&s));
    if (status >= 0) status = tct_numbering_starts(w, coarse, s.starts);
    if (status >= 0) status = exchange_aggregates(&s);
    if (status >= 0) status = tct_agree(w, make_rows(&s));
    if (status >= 0)
        status = tct_halo_of(w, next->of.starts, next->of.ghosts.count,
                             next->of.ghosts.id, &next->halo);
    TCT_FREE(s.sent, s.got, s.word, s.of, s.at, s.starts, s.sum);
    tct_ghosts_clear(&s.own);
    tct_ghosts_clear(&s.others);
    tct_interface_product_clear(&s.blocks);
    return status;
}

/* --- sums ----------------------------------------------------------------- */

typedef struct {
    int64_t *word; /* [rows or ghosts] scratch */
    int32_t *of;   /* [rows] */
    int32_t *at;   /* [ghosts] */
    tct_ghosts nodes, others;
    tct_interface_product squares; /* of blocks, summed */
} edges;

static tacit_status find_edges(const tct_amg_interface *r, edges *x)
{
    const int64_t rows = r->of.A.rows, ghosts = r->of.ghosts.count;
    TRY(TCT_ALLOC(rows > ghosts ? rows : ghosts, what, &x->word));
    TRY(TCT_ALLOC(rows, what, &x->of));
    TRY(TCT_ALLOC(ghosts, what, &x->at));
    for (int64_t i = 0; i < rows; i++) x->word[i] = r->node[i];
    TRY(tct_amg_number_distinct(rows, x->word, x->of, &x->nodes));
    for (int64_t g = 0; g < ghosts; g++) x->word[g] = r->ghost_node[g];
    TRY(tct_amg_number_distinct(ghosts, x->word, x->at, &x->others));
    TRY(open_product(r, x->of, &x->nodes, x->at, &x->others, &x->squares));
    tct_interface_product_add_up(&x->squares, NULL, NULL, true);
    return TACIT_OK;
}

tacit_status tct_amg_interface_edges(const tct_amg_interface *r, int64_t *count,
                                     int32_t **node, double **sum)
{
    edges x = {.word = NULL};
    const tct_csr *N = &x.squares.B;
    tacit_status status = find_edges(r, &x);
    const int64_t n = *count = x.nodes.count;
    if (status >= 0) status = TCT_ALLOC(n, what, node);
    if (status >= 0) status = TCT_ALLOC(n, what, sum);
    for (int64_t i = 0; status >= 0 && i < n; i++) {
        (*node)[i] = (int32_t)x.nodes.id[i];
        (*sum)[i] = 0.0;
        for (int64_t e = N->ptr[i]; e < N->ptr[i + 1]; e++)
            (*sum)[i] += tct_node_norm(N->val[e]);
    }
    TCT_FREE(x.word, x.of, x.at);
    tct_ghosts_clear(&x.nodes);
    tct_ghosts_clear(&x.others);
    tct_interface_product_clear(&x.squares);
    return status;
}

/* A constant `k` keeps sums in registers. */
static inline void add_energies(const tct_amg_interface *r, int k, double *sum)
{
    const tct_csr *A = &r->of.A;
    double energy[TACIT_PRECOND_VECTORS_MOST] = {0.0};
    double size[TACIT_PRECOND_VECTORS_MOST] = {0.0};
    for (int v = 0; v < k; v++) {
        energy[v] = sum[v];
        size[v] = sum[k + v];
    }
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++)
            for (int v = 0; v < k; v++) {
                const double w = r->beyond[(int64_t)A->col32[e] * k + v];
                const double part = A->val[e] * (r->w[i * k + v] * w);
                energy[v] += part;
                size[v] += fabs(part);
            }
    for (int v = 0; v < k; v++) {
        sum[v] = energy[v];
        sum[k + v] = size[v];
    }
}

void tct_amg_interface_energies(const tct_amg_interface *r, double *sum)
{
    if (r->k == TCT_RIGID) add_energies(r, TCT_RIGID, sum);
    else add_energies(r, r->k, sum);
}
