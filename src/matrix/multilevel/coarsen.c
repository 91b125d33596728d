/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/multilevel/coarsen.c - pairs of nodes become one: a node goes with the
 * neighbour to which it has the heaviest edge for their weights. */
#include "device/parallel.h"
#include "matrix/multilevel/level.h"
#include <stdlib.h>
#include <string.h>

static const char *const what = "a coarser graph";
static const double ALONE =
    0.1; /* of the nodes: then unmatched ones are matched through a common
          * neighbour */

/* --- matching ------------------------------------------------------------- */

typedef struct {
    const tct_level *g;
    int64_t heaviest;
    int32_t *mate; /* [nodes] itself if it has none, -1: unknown */
} matching;

static int32_t edge_weight(const tct_level *g, int64_t k)
{
    return g->edge ? g->edge[k] : 1;
}

static bool may_join(const matching *m, int64_t i, int64_t j)
{
    return m->mate[j] < 0 &&
           (int64_t)m->g->weight[i] + m->g->weight[j] <= m->heaviest;
}

/* The best unmatched neighbour of node `i`, or -1. */
static int32_t best_neighbour(const matching *m, int64_t i)
{
    const tct_level *g = m->g;
    int32_t best = -1;
    double most = 0.0;
    for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++) {
        const int32_t j = g->next[k];
        if (j >= g->nodes || j == i || !may_join(m, i, j)) continue;
        const double e = edge_weight(g, k);
        const double rating = e * e / g->weight[j]; /* [HS10], over weight[i] */
        if (rating > most) {
            most = rating;
            best = j;
        }
    }
    return best;
}

static void join(matching *m, int64_t i, int64_t j)
{
    m->mate[i] = (int32_t)j;
    m->mate[j] = (int32_t)i;
}

/* Returns the number of unmatched nodes. */
static int64_t match_neighbours(matching *m)
{
    int64_t alone = 0;
    for (int64_t i = 0; i < m->g->nodes; i++) m->mate[i] = -1;
    for (int64_t i = 0; i < m->g->nodes; i++) {
        if (m->mate[i] >= 0) continue;
        const int32_t j = best_neighbour(m, i);
        if (j >= 0) join(m, i, j);
        else alone++;
    }
    return alone;
}

/* Match nodes with a common neighbour on any rank, or without neighbours;
 * `last` [nodes + ghosts + 1] is the last node seen at each neighbour and at
 * none. */
static void match_by_third(matching *m, int32_t *last)
{
    const tct_level *g = m->g;
    const int64_t none = g->nodes + g->ghosts;
    for (int64_t j = 0; j <= none; j++) last[j] = -1;
    for (int64_t i = 0; i < g->nodes; i++) {
        const bool lonely = g->ptr[i] == g->ptr[i + 1];
        const int64_t end = lonely ? g->ptr[i] + 1 : g->ptr[i + 1];
        for (int64_t k = g->ptr[i]; k < end && m->mate[i] < 0; k++) {
            const int64_t third = lonely ? none : g->next[k];
            const int32_t j = last[third];
            if (j >= 0 && j != i && may_join(m, i, j)) join(m, i, j);
            else last[third] = (int32_t)i;
        }
    }
}

static tacit_status match(matching *m)
{
    const int64_t alone = match_neighbours(m), nodes = m->g->nodes;
    if ((double)alone > ALONE * (double)nodes) {
        int32_t *last = NULL;
        TRY(TCT_ALLOC(nodes + m->g->ghosts + 1, what, &last));
        match_by_third(m, last);
        tct_free(last);
    }
    for (int64_t i = 0; i < nodes; i++)
        if (m->mate[i] < 0) m->mate[i] = (int32_t)i;
    return TACIT_OK;
}

/* --- coarse nodes --------------------------------------------------------- */

typedef struct {
    tct_level *fine, *g;
    int32_t *mate, *first; /* [fine nodes] of the pair; [nodes] its first */
    int64_t *word;         /* [fine nodes + ghosts] coarse numbers    */
    int32_t *place;        /* [fine ghosts] index in `g` */
} contraction;

/* Number coarse nodes in the order of their first fine node. */
static void number_nodes(contraction *c)
{
    int64_t nodes = 0;
    for (int64_t i = 0; i < c->fine->nodes; i++) {
        const int32_t j = c->mate[i];
        c->fine->up[i] = j < i ? c->fine->up[j] : (int32_t)nodes;
        if (j >= i) c->first[nodes++] = (int32_t)i;
    }
    c->g->nodes = nodes;
}

static tacit_status number_all(contraction *c)
{
    tct_level *g = c->g;
    tacit_world *w = g->world;
    TRY(tct_allgather(w, sizeof g->nodes, &g->nodes, g->starts + 1));
    g->starts[0] = 0;
    for (int r = 0; r < w->size; r++) g->starts[r + 1] += g->starts[r];
    for (int64_t i = 0; i < c->fine->nodes; i++)
        c->word[i] = tct_level_first(g) + c->fine->up[i];
    return tct_level_share(c->fine, c->word);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void place_ghosts(void *work, int64_t from, int64_t to)
{
    const contraction *c = work;
    const tct_level *g = c->g;
    const int64_t *all = c->word + c->fine->nodes;
    for (int64_t k = from; k < to; k++) {
        const int64_t *at = bsearch(&all[k], g->ghost, (size_t)g->ghosts,
                                    sizeof *all, by_number);
        c->place[k] = (int32_t)(g->nodes + (at - g->ghost));
    }
}

static tacit_status find_ghosts(contraction *c)
{
    tct_level *g = c->g;
    const int64_t n = c->fine->ghosts;
    const int64_t *all = c->word + c->fine->nodes;
    TRY(TCT_ALLOC(n, what, &g->ghost));
    TRY(TCT_ALLOC(n, what, &c->place));
    memcpy(g->ghost, all, (size_t)n * sizeof *all);
    qsort(g->ghost, (size_t)n, sizeof *all, by_number);
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || g->ghost[k] != g->ghost[g->ghosts - 1])
            g->ghost[g->ghosts++] = g->ghost[k];
    tct_parallel(n, TCT_SHORT, place_ghosts, c);
    return TACIT_OK;
}

/* --- coarse edges --------------------------------------------------------- */

typedef struct {
    int32_t to, weight;
} edge;

static int by_end(const void *a, const void *b)
{
    const int32_t x = ((const edge *)a)->to, y = ((const edge *)b)->to;
    return (x > y) - (x < y);
}

static void sort_edges(edge *e, int64_t n)
{
    enum { SHORT = 40 };
    if (n > SHORT) {
        qsort(e, (size_t)n, sizeof *e, by_end);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        const edge one = e[i];
        int64_t k = i;
        for (; k > 0 && e[k - 1].to > one.to; k--) e[k] = e[k - 1];
        e[k] = one;
    }
}

/* Append the edges of fine node `i`, in coarse node `n`, to the `count` in
 * `e`. */
static int64_t add_edges(const contraction *c, int64_t i, int64_t n, edge *e,
                         int64_t count)
{
    const tct_level *f = c->fine;
    for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; k++) {
        const int32_t j = f->next[k];
        const int32_t to = j < f->nodes ? f->up[j] : c->place[j - f->nodes];
        if (to != n) e[count++] = (edge){to, edge_weight(f, k)};
    }
    return count;
}

/* The edges of coarse node `n` into `e`, parallel ones summed. */
static int64_t merge_edges(const contraction *c, int64_t n, edge *e)
{
    const int32_t i = c->first[n], j = c->mate[i];
    int64_t count = add_edges(c, i, n, e, 0), out = 0;
    if (j != i) count = add_edges(c, j, n, e, count);
    sort_edges(e, count);
    for (int64_t k = 0; k < count; k++)
        if (out > 0 && e[out - 1].to == e[k].to)
            e[out - 1].weight += e[k].weight;
        else e[out++] = e[k];
    return out;
}

static int64_t most_edges(const contraction *c)
{
    const int64_t *ptr = c->fine->ptr;
    int64_t most = 0;
    for (int64_t n = 0; n < c->g->nodes; n++) {
        const int32_t i = c->first[n], j = c->mate[i];
        const int64_t all = ptr[i + 1] - ptr[i] + ptr[j + 1] - ptr[j];
        if (all > most) most = all;
    }
    return most;
}

static void keep_edges(const tct_level *g, int64_t n, const edge *e)
{
    for (int64_t k = g->ptr[n]; k < g->ptr[n + 1]; k++, e++) {
        g->next[k] = e->to;
        g->edge[k] = e->weight;
    }
}

static void count_edges(void *work, int64_t from, int64_t to, void *space)
{
    const contraction *c = work;
    for (int64_t n = from; n < to; n++)
        c->g->ptr[n + 1] = merge_edges(c, n, space);
}

static void fill_edges(void *work, int64_t from, int64_t to, void *space)
{
    const contraction *c = work;
    for (int64_t n = from; n < to; n++) {
        merge_edges(c, n, space);
        keep_edges(c->g, n, space);
    }
}

/* Count them or fill them in. */
static tacit_status go_through(contraction *c, tct_space_fn *fn)
{
    const size_t room = (size_t)most_edges(c) * sizeof(edge);
    if (!tct_parallel_with(c->g->nodes, TCT_SHORT, room, fn, c))
        FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

static tacit_status make_edges(contraction *c)
{
    tct_level *g = c->g;
    TRY(TCT_ALLOC(g->nodes + 1, what, &g->ptr));
    TRY(TCT_ALLOC(g->nodes, what, &g->weight));
    for (int64_t n = 0; n < g->nodes; n++) {
        const int32_t i = c->first[n], j = c->mate[i];
        g->weight[n] = c->fine->weight[i] + (j != i ? c->fine->weight[j] : 0);
    }
    g->ptr[0] = 0;
    TRY(go_through(c, count_edges));
    for (int64_t n = 0; n < g->nodes; n++) g->ptr[n + 1] += g->ptr[n];
    TRY(TCT_ALLOC(g->ptr[g->nodes], what, &g->next));
    TRY(TCT_ALLOC(g->ptr[g->nodes], what, &g->edge));
    return go_through(c, fill_edges);
}

/* --- all of it ------------------------------------------------------------ */

static tacit_status find_pairs(contraction *c, int64_t heaviest)
{
    tct_level *f = c->fine;
    TRY(TCT_ALLOC(f->nodes, what, &f->up));
    TRY(TCT_ALLOC(f->nodes, what, &c->mate));
    TRY(TCT_ALLOC(f->nodes, what, &c->first));
    TRY(TCT_ALLOC(f->nodes + f->ghosts, what, &c->word));
    TRY(TCT_ALLOC(f->world->size + 1, what, &c->g->starts));
    TRY(match(&(matching){f, heaviest, c->mate}));
    number_nodes(c);
    return TACIT_OK;
}

static tacit_status contract(contraction *c, int64_t heaviest)
{
    tacit_world *w = c->fine->world;
    TRY(tct_agree(w, find_pairs(c, heaviest)));
    TRY(number_all(c));
    tacit_status status = find_ghosts(c);
    TCT_FREE(c->word);
    c->word = NULL;
    if (status >= 0) status = make_edges(c);
    TRY(tct_agree(w, status));
    return tct_halo_of(w, c->g->starts, c->g->ghosts, c->g->ghost, &c->g->halo);
}

tacit_status tct_level_coarsen(tct_level *fine, int64_t heaviest,
                               tct_level *out)
{
    tct_level g = {.world = fine->world};
    contraction c = {.fine = fine, .g = &g};
    const tacit_status status = contract(&c, heaviest);
    TCT_FREE(c.mate, c.first, c.word, c.place);
    if (status < 0) tct_level_close(&g);
    else *out = g;
    return status;
}
