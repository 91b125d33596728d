/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/block_remote.c - exchange of a block product: aggregates
 * and rows of P of ghosts, and block rows of aggregates kept by other ranks. */
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/galerkin/block_galerkin.h"
#include <string.h>

static const char *const what = "a matrix of aggregates";

static int64_t first_of(const tct_block_product *g)
{
    return g->starts[g->A->world->rank];
}

/* --- which aggregates are reached ----------------------------------------- */

/* The reached number of a global aggregate; -1 stays. */
static int64_t place_of(const tct_block_product *g, int64_t number)
{
    const int64_t own = number - first_of(g);
    if (number < 0) return -1;
    if (own >= 0 && own < g->G->coarse) return g->before + own;
    const int64_t place = tct_ghost_place(&g->others, number);
    return place < g->before ? place : place + g->G->coarse;
}

/* List the aggregates in the received block rows. */
static int64_t list_theirs(const tct_block_product *g, int64_t *out)
{
    const int64_t lists = g->theirs.begin ? g->share.shared : 0;
    int64_t n = 0;
    for (int64_t l = 0; l < lists; l++) {
        const int64_t from = g->theirs.begin[l], end = g->theirs.begin[l + 1];
        const int64_t count = tct_block_count(g, end - from);
        for (int64_t b = 0; out && b < count; b++)
            out[n + b] = tct_block_get(g->theirs.word + from + b);
        n += count;
    }
    return n;
}

/* Move numbers of other ranks' aggregates in `number` [count] to the front;
 * returns how many. */
static int64_t keep_others(const tct_block_product *g, int64_t count,
                           int64_t *number)
{
    const int64_t first = first_of(g);
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (number[k] >= 0 &&
            (number[k] < first || number[k] >= first + g->G->coarse))
            number[kept++] = number[k];
    return kept;
}

static tacit_status list_others(tct_block_product *g)
{
    const int64_t ghosts = g->G->halo.ghosts.count;
    const int64_t remote = g->G->others.count;
    int64_t count = ghosts + remote, *number = NULL;
    TRY(TCT_ALLOC(count + list_theirs(g, NULL), what, &number));
    memcpy(number, g->ghost_of, (size_t)ghosts * sizeof *number);
    if (remote > 0)
        memcpy(number + ghosts, g->G->others.id,
               (size_t)remote * sizeof *number);
    count += list_theirs(g, number + count);
    count = keep_others(g, count, number);
    tct_ghosts_clear(&g->others);
    const tacit_status status = tct_ghosts_of(count, number, NULL, &g->others);
    tct_free(number);
    return status;
}

static tacit_status find_reached(tct_block_product *g)
{
    TRY(list_others(g));
    g->before = 0;
    while (g->before < g->others.count && g->others.id[g->before] < first_of(g))
        g->before++;
    for (int64_t e = 0; e < g->G->halo.ghosts.count; e++)
        g->ghost_place[e] = place_of(g, g->ghost_of[e]);
    for (int64_t s = 0; s < g->G->others.count; s++)
        g->share_place[s] = place_of(g, g->G->others.id[s]);
    return TACIT_OK;
}

/* --- before and after ----------------------------------------------------- */

static tacit_status allocate(tct_block_product *g)
{
    TRY(tct_matrix_require_entries(g->A));
    TRY(TCT_ALLOC(g->A->world->size + 1, what, &g->starts));
    return tct_list_members(g->A->A.rows, g->G->of, tct_block_sets(g), &g->m);
}

static tacit_status allocate_ghosts(tct_block_product *g)
{
    const int64_t ghosts = g->G->halo.ghosts.count;
    TRY(TCT_ALLOC(ghosts, what, &g->ghost_of));
    TRY(TCT_ALLOC(ghosts, what, &g->ghost_place));
    TRY(TCT_ALLOC(g->G->others.count, what, &g->share_place));
    TRY(TCT_ALLOC(g->G->others.count + 1, what, &g->mine.begin));
    return TCT_ALLOC(ghosts * g->G->width, what, &g->ghost_weight);
}

tacit_status tct_block_open(tct_block_product *g)
{
    tacit_world *w = g->A->world;
    const tct_aggregates *G = g->G;
    const tct_halo *h = &G->halo;
    TRY(tct_agree(w, allocate(g)));
    TRY(tct_numbering_starts(w, G->coarse, g->starts));
    TRY(tct_halo_of(w, g->starts, G->others.count, G->others.id, &g->share));
    TRY(tct_agree(w, allocate_ghosts(g)));
    for (int64_t k = 0; k < h->shared; k++)
        h->out[k] = tct_place_number(G->of[h->row[k]], first_of(g), G->coarse,
                                     &G->others);
    TRY(tct_halo_trade(h, 1, g->ghost_of));
    TRY(tct_halo_bring_rows(h, G->width, G->weight, g->ghost_weight));
    return tct_agree(w, find_reached(g));
}

tacit_status tct_block_make_room(tct_block_product *g)
{
    const int64_t remote = g->G->others.count;
    const int64_t words = 1 + (int64_t)g->G->width * g->G->width;
    int64_t *begin = g->mine.begin;
    begin[0] = 0;
    for (int64_t s = 0; s < remote; s++)
        begin[s + 1] = begin[s] + begin[s + 1] * words;
    return TCT_ALLOC(begin[remote], what, &g->mine.word);
}

tacit_status tct_block_trade(tct_block_product *g)
{
    tacit_world *w = g->A->world;
    const tct_halo *h = &g->share;
    TRY(tct_halo_return_lists(h, &g->mine, &g->theirs));
    TRY(tct_agree(w,
                  tct_list_members(h->shared, h->row, g->G->coarse, &g->in)));
    TRY(tct_agree(w, find_reached(g)));
    for (int64_t l = 0; l < h->shared; l++) {
        double *word = g->theirs.word + g->theirs.begin[l];
        const int64_t words = g->theirs.begin[l + 1] - g->theirs.begin[l];
        for (int64_t b = 0; b < tct_block_count(g, words); b++)
            tct_block_set(word + b, place_of(g, tct_block_get(word + b)));
    }
    return TACIT_OK;
}

void tct_block_close(tct_block_product *g)
{
    tct_members_clear(&g->m);
    tct_members_clear(&g->in);
    tct_halo_close(&g->share);
    tct_ghosts_clear(&g->others);
    tct_halo_lists_clear(&g->mine);
    tct_halo_lists_clear(&g->theirs);
    TCT_FREE(g->starts, g->ghost_of, g->ghost_place, g->ghost_weight,
             g->share_place, g->ptr);
}
