/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/interface_nodes.c - the interface rows of systems: nodes,
 * near-null vectors, and P'A P in blocks. */
#include "comm/setup/alltoall.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/device/interface_rows.h"
#include "precond/amg/galerkin/row_accumulation.h"
#include "precond/amg/systems/graph_weight.h"
#include <math.h>

static const char *const what = "rows with columns of other ranks";
static const tct_ghosts none = {.count = 0};

/* --- the finest level ----------------------------------------------------- */

/* The nodes of interface rows and ghosts; `number` [rows], `starts` [size +
 * 1]: scratch. */
static tacit_status find_nodes(tacit_world *w, const tct_near_null *near,
                               int64_t *number, int64_t *starts,
                               tct_amg_interface *r)
{
    const int64_t rows = r->of.starts[w->rank + 1] - r->of.starts[w->rank];
    TRY(tct_numbering_starts(w, near->nodes, starts));
    r->first_node = starts[w->rank];
    r->all_nodes = starts[w->size];
    for (int64_t i = 0; i < rows; i++)
        number[i] = r->first_node + near->node[i];
    for (int64_t i = 0; i < r->of.A.rows; i++)
        r->node[i] = near->node[r->of.row[i]];
    return tct_halo_bring(&r->halo, number, r->ghost_node);
}

/* An update has no nodes. */
static tacit_status open_nodes(tacit_world *w, const tct_near_null *near,
                               tct_amg_interface *r)
{
    const int64_t rows = r->of.starts[w->rank + 1] - r->of.starts[w->rank];
    int64_t *number = NULL, *starts = NULL;
    bool known = false;
    TRY(tct_any(w, near->node != NULL, &known));
    if (!known) return TACIT_OK;
    tacit_status status = TCT_ALLOC(r->of.A.rows, what, &r->node);
    if (status >= 0)
        status = TCT_ALLOC(r->of.ghosts.count, what, &r->ghost_node);
    if (status >= 0) status = TCT_ALLOC(rows, what, &number);
    if (status >= 0) status = TCT_ALLOC(w->size + 1, what, &starts);
    status = tct_agree(w, status);
    if (status >= 0) status = find_nodes(w, near, number, starts, r);
    TCT_FREE(number, starts);
    return status;
}

tacit_status tct_amg_interface_open_nodes(tacit_world *w,
                                          const tct_near_null *near,
                                          tct_amg_interface *r)
{
    const int k = near->vectors;
    for (int64_t i = 0; i < r->of.A.rows; i++)
        for (int v = 0; v < k; v++)
            r->w[i * k + v] = near->value[(int64_t)r->of.row[i] * k + v];
    TRY(tct_halo_bring_rows(&r->halo, k, near->value, r->beyond));
    return open_nodes(w, near, r);
}

/* --- the next level ------------------------------------------------------- */

typedef struct {
    const tct_amg_interface *r;
    const double *group, *weight; /* [asked], [asked][k] */
    int32_t *of;          /* [rows] row of the next interface, -1: none */
    int64_t *word;        /* [ghosts][2] received, or [rows], [ghosts] */
    int64_t *ghost_of;    /* [ghosts] aggregate */
    double *ghost_weight; /* [ghosts][k] */
    int32_t *ghost_at;    /* [ghosts] scratch */
    int64_t *starts;      /* [size + 1] first aggregate */
    tct_ghosts own;       /* aggregates of interface rows */
    tct_csr blocks;       /* pattern: own, global aggregates */
    double *sum;          /* [blocks of a row][k] of A P */
} step;

static tacit_status allocate(step *s)
{
    const tct_amg_interface *r = s->r;
    const int64_t rows = r->of.A.rows, ghosts = r->of.ghosts.count;
    TRY(TCT_ALLOC(rows, what, &s->of));
    TRY(TCT_ALLOC(2 * ghosts + rows, what, &s->word));
    TRY(TCT_ALLOC(ghosts, what, &s->ghost_of));
    TRY(TCT_ALLOC(ghosts, what, &s->ghost_at));
    TRY(TCT_ALLOC(r->halo.world->size + 1, what, &s->starts));
    return TCT_ALLOC(ghosts * r->k, what, &s->ghost_weight);
}

/* Word `n` to be sent of row `at` asked for: the aggregate, then weights. */
static int64_t word_of(const step *s, int64_t at, int n)
{
    const int k = s->r->k;
    int64_t word = 0;
    if (n == 0) {
        const int64_t of = (int64_t)s->group[at];
        return of < 0 ? -1 : s->starts[s->r->halo.world->rank] + of;
    }
    if (n <= k) memcpy(&word, &s->weight[at * k + n - 1], sizeof word);
    return word;
}

static void take_word(step *s, int64_t g, int n, int64_t word)
{
    const int k = s->r->k;
    if (n == 0) s->ghost_of[g] = word;
    else if (n <= k)
        memcpy(&s->ghost_weight[g * k + n - 1], &word, sizeof word);
}

/* Exchange the aggregates of ghosts and their weights in P, two words at a
 * time. */
static tacit_status exchange_aggregates(step *s)
{
    const tct_halo *h = &s->r->halo;
    const int64_t own = s->r->of.A.rows;
    for (int n = 0; n <= s->r->k; n += 2) {
        for (int64_t i = 0; i < 2 * h->shared; i++)
            h->out[i] = word_of(s, own + i / 2, n + (int)(i % 2));
        TRY(tct_halo_trade(h, 2, s->word));
        for (int64_t i = 0; i < 2 * h->ghosts.count; i++)
            take_word(s, i / 2, n + (int)(i % 2), s->word[i]);
    }
    return TACIT_OK;
}

/* The pattern of P'A P between ranks in blocks. */
static tacit_status find_blocks(step *s)
{
    const tct_amg_interface *r = s->r;
    const tacit_world *w = r->halo.world;
    for (int64_t i = 0; i < r->of.A.rows; i++)
        s->word[i] = (int64_t)s->group[i];
    TRY(tct_amg_number_distinct(r->of.A.rows, s->word, s->of, &s->own));
    const tct_contraction c = {.A = &r->of.A,
                               .of = s->of,
                               .coarse = s->own.count,
                               .first = s->starts[w->rank],
                               .all = s->starts[w->size],
                               .ghosts = &r->of.ghosts,
                               .ghost_of = s->ghost_of,
                               .others = &none};
    TRY(tct_accumulate_rows(&c, &s->blocks));
    return tct_csr_sort(&s->blocks, false, what);
}

/* The rows of the next interface, k for each aggregate, and their columns. */
static tacit_status open_rows(step *s, tct_amg_interface *next)
{
    const tct_csr *B = &s->blocks;
    const tacit_world *w = s->r->halo.world;
    const int64_t k = s->r->k, all = s->starts[w->size] * k;
    int64_t widest = 0, at = 0;
    TRY(tct_csr_rows(&next->of.A, all, all, s->starts[w->rank] * k,
                     B->rows * k));
    TRY(tct_csr_entries(&next->of.A, tct_csr_nonzeros(B) * k * k));
    TRY(TCT_ALLOC(B->rows * k, what, &next->of.row));
    TRY(TCT_ALLOC(B->rows * k, what, &next->node));
    for (int64_t i = 0; i < B->rows * k; i++) {
        const int64_t n = i / k, from = B->ptr[n], to = B->ptr[n + 1];
        next->node[i] = (int32_t)s->own.id[n];
        next->of.row[i] = (int32_t)(s->own.id[n] * k + i % k);
        for (int64_t e = from * k; e < to * k; e++, at++)
            tct_csr_set_col(&next->of.A, at, tct_csr_col(B, e / k) * k + e % k);
        next->of.A.ptr[i + 1] = at;
        if (to - from > widest) widest = to - from;
    }
    return TCT_ALLOC(widest * k, what, &s->sum);
}

/* The block of aggregate `of` in row `n` of the pattern. */
static int64_t place_in(const tct_csr *B, int64_t n, int64_t of)
{
    int64_t low = B->ptr[n], high = B->ptr[n + 1];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (tct_csr_col(B, middle) <= of) low = middle;
        else high = middle;
    }
    return low - B->ptr[n];
}

/* Add the products of interface row `i` to the rows of its aggregate. */
static void add_row(const step *s, int64_t i, tct_csr *out)
{
    const tct_amg_interface *r = s->r;
    const tct_csr *A = &r->of.A, *B = &s->blocks;
    const int64_t k = r->k, n = s->of[i];
    const int64_t length = (B->ptr[n + 1] - B->ptr[n]) * k;
    for (int64_t e = 0; e < length; e++) s->sum[e] = 0.0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int64_t g = tct_ghost_place(&r->of.ghosts, tct_csr_col(A, e));
        if (s->ghost_of[g] < 0) continue;
        double *sum = s->sum + place_in(B, n, s->ghost_of[g]) * k;
        for (int64_t d = 0; d < k; d++)
            sum[d] += A->val[e] * s->ghost_weight[g * k + d];
    }
    for (int64_t c = 0; c < k; c++) {
        double *to = out->val + out->ptr[n * k + c];
        for (int64_t e = 0; e < length; e++)
            to[e] += s->weight[i * k + c] * s->sum[e];
    }
}

static tacit_status add_up(step *s, tct_amg_interface *next)
{
    TRY(find_blocks(s));
    TRY(open_rows(s, next));
    tct_csr *out = &next->of.A;
    for (int64_t e = 0; e < tct_csr_nonzeros(out); e++) out->val[e] = 0.0;
    for (int64_t i = 0; i < s->r->of.A.rows; i++)
        if (s->of[i] >= 0) add_row(s, i, out);
    return TACIT_OK;
}

/* The ghosts of the next level: k for each aggregate. */
static tacit_status number_ghosts(step *s, tct_amg_interface *next)
{
    const int64_t ghosts = s->r->of.ghosts.count, k = s->r->k;
    tct_ghosts sets = {.count = 0};
    int64_t *id = NULL;
    for (int64_t g = 0; g < ghosts; g++) s->word[g] = s->ghost_of[g];
    TRY(tct_amg_number_distinct(ghosts, s->word, s->ghost_at, &sets));
    tacit_status status = TCT_ALLOC(sets.count * k, what, &id);
    if (status >= 0)
        status = TCT_ALLOC(sets.count * k, what, &next->ghost_node);
    if (status >= 0)
        status = TCT_ALLOC(sets.count * k * k, what, &next->beyond);
    for (int64_t e = 0; status >= 0 && e < sets.count * k; e++) {
        id[e] = sets.id[e / k] * k + e % k;
        next->ghost_node[e] = sets.id[e / k];
    }
    if (status >= 0)
        status = tct_ghosts_of(sets.count * k, id, NULL, &next->of.ghosts);
    tct_ghosts_clear(&sets);
    tct_free(id);
    return status;
}

static tacit_status make_rows(step *s, const double *smooth,
                              tct_amg_interface *next)
{
    const tacit_world *w = s->r->halo.world;
    const int64_t k = s->r->k;
    TRY(add_up(s, next));
    TRY(number_ghosts(s, next));
    TRY(TCT_ALLOC(w->size + 1, what, &next->of.starts));
    for (int p = 0; p <= w->size; p++) next->of.starts[p] = s->starts[p] * k;
    next->first_node = s->starts[w->rank];
    next->all_nodes = s->starts[w->size];
    TRY(TCT_ALLOC(next->of.A.rows * k, what, &next->w));
    for (int64_t e = 0; e < next->of.A.rows * k; e++)
        next->w[e] = smooth[(int64_t)next->of.row[e / k] * k + e % k];
    return TACIT_OK;
}

tacit_status tct_amg_interface_next_nodes(const tct_amg_interface *r,
                                          const double *group,
                                          const double *weight, int64_t coarse,
                                          const double *smooth,
                                          tct_amg_interface *next)
{
    tacit_world *w = r->halo.world;
    step s = {.r = r, .group = group, .weight = weight};
    *next = (tct_amg_interface){.k = r->k};
    tacit_status status = tct_agree(w, allocate(&s));
    if (status >= 0) status = tct_numbering_starts(w, coarse, s.starts);
    if (status >= 0) status = exchange_aggregates(&s);
    if (status >= 0) status = tct_agree(w, make_rows(&s, smooth, next));
    if (status >= 0)
        status = tct_halo_of(w, next->of.starts, next->of.ghosts.count,
                             next->of.ghosts.id, &next->halo);
    if (status >= 0)
        status = tct_halo_bring_rows(&next->halo, r->k, smooth, next->beyond);
    TCT_FREE(s.of, s.word, s.ghost_of, s.ghost_at, s.starts, s.ghost_weight,
             s.sum);
    tct_ghosts_clear(&s.own);
    tct_csr_clear(&s.blocks);
    return status;
}

/* --- sums ----------------------------------------------------------------- */

/* The sums of squares of blocks, by interface nodes; `square` [entries], `of`
 * [rows]. */
static tacit_status condense(const tct_amg_interface *r, int64_t count,
                             const double *square, const int32_t *of,
                             tct_csr *out)
{
    tct_csr squared = r->of.A;
    squared.val = (double *)(uintptr_t)square;
    const tct_contraction c = {.A = &squared,
                               .of = of,
                               .coarse = count,
                               .first = r->first_node,
                               .all = r->all_nodes,
                               .ghosts = &r->of.ghosts,
                               .ghost_of = r->ghost_node,
                               .others = &none};
    TRY(tct_accumulate_rows(&c, out));
    return tct_csr_sort(out, false, what);
}

typedef struct {
    int64_t *word;  /* [rows] */
    int32_t *of;    /* [rows] */
    double *square; /* [entries] */
    tct_ghosts nodes;
    tct_csr N;
} edges;

static tacit_status find_edges(const tct_amg_interface *r, edges *x)
{
    const int64_t rows = r->of.A.rows, entries = tct_csr_nonzeros(&r->of.A);
    TRY(TCT_ALLOC(rows, what, &x->word));
    TRY(TCT_ALLOC(rows, what, &x->of));
    TRY(TCT_ALLOC(entries, what, &x->square));
    for (int64_t i = 0; i < rows; i++) x->word[i] = r->node[i];
    for (int64_t e = 0; e < entries; e++)
        x->square[e] = r->of.A.val[e] * r->of.A.val[e];
    TRY(tct_amg_number_distinct(rows, x->word, x->of, &x->nodes));
    return condense(r, x->nodes.count, x->square, x->of, &x->N);
}

tacit_status tct_amg_interface_edges(const tct_amg_interface *r, int64_t *count,
                                     int32_t **node, double **sum)
{
    edges x = {.word = NULL};
    tacit_status status = find_edges(r, &x);
    const int64_t n = *count = x.nodes.count;
    if (status >= 0) status = TCT_ALLOC(n, what, node);
    if (status >= 0) status = TCT_ALLOC(n, what, sum);
    for (int64_t i = 0; status >= 0 && i < n; i++) {
        (*node)[i] = (int32_t)x.nodes.id[i];
        (*sum)[i] = 0.0;
        for (int64_t e = x.N.ptr[i]; e < x.N.ptr[i + 1]; e++)
            (*sum)[i] += tct_node_norm(x.N.val[e]);
    }
    TCT_FREE(x.word, x.of, x.square);
    tct_ghosts_clear(&x.nodes);
    tct_csr_clear(&x.N);
    return status;
}

void tct_amg_interface_energies(const tct_amg_interface *r, double *sum)
{
    const tct_csr *A = &r->of.A;
    const int k = r->k;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int64_t g = tct_ghost_place(&r->of.ghosts, tct_csr_col(A, e));
            for (int v = 0; v < k; v++) {
                const double part =
                    A->val[e] * (r->w[i * k + v] * r->beyond[g * k + v]);
                sum[v] += part;
                sum[k + v] += fabs(part);
            }
        }
}
