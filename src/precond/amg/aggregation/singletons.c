/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/singletons.c - absorption of singletons: rows alone
 * in their aggregate. If such a row depends on a neighbour, as a small
 * coefficient next to large ones does, it joins that neighbour's aggregate;
 * otherwise it would remain on all levels. */
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "precond/amg/aggregation/aggregation.h"

static const char *const what = "aggregates of rows";

typedef struct {
    tct_aggregation *g;
    int64_t first;    /* aggregate of this rank                              */
    int64_t *members; /* [coarse + others] rows over all ranks               */
    int64_t *target;  /* [level's ghosts] aggregate to join, or -1           */
    int64_t *place;   /* [coarse + others] new aggregate, mostly itself */
    int64_t *fresh;   /* [coarse] new number, or -1                          */
    int64_t *asked;   /* [coarse + others] scratch                           */
    int64_t *starts;  /* [ranks + 1] new                                     */
} joining;

static tacit_status allocate(joining *j)
{
    const tct_aggregates *G = j->g->G;
    const int64_t all = G->coarse + G->others.count;
    TRY(TCT_ALLOC(all, what, &j->members));
    TRY(TCT_ALLOC(j->g->level.ghosts.count, what, &j->target));
    TRY(TCT_ALLOC(all, what, &j->place));
    TRY(TCT_ALLOC(G->coarse, what, &j->fresh));
    TRY(TCT_ALLOC(all, what, &j->asked));
    return TCT_ALLOC(j->g->A->world->size + 1, what, &j->starts);
}

static int64_t number_of(const joining *j, int64_t of)
{
    const tct_aggregates *G = j->g->G;
    return tct_place_number(of, j->first, G->coarse, &G->others);
}

/* --- sizes ---------------------------------------------------------------- */

static tacit_status count_members(joining *j, const tct_halo *share)
{
    const tct_aggregates *G = j->g->G;
    int64_t *members = j->members;
    for (int64_t n = 0; n < G->coarse + G->others.count; n++) members[n] = 0;
    for (int64_t i = 0; i < G->rows; i++)
        if (G->of[i] >= 0) members[G->of[i]]++;
    TRY(tct_halo_return(share, members + G->coarse));
    for (int64_t k = 0; k < share->shared; k++)
        members[share->row[k]] += share->out[k];
    return tct_halo_bring(share, members, members + G->coarse);
}

/* The aggregate of row `i` if it has several rows, else -1. */
static int64_t target_of(const joining *j, int64_t i)
{
    const int32_t of = j->g->G->of[i];
    return of < 0 || j->members[of] < 2 ? -1 : number_of(j, of);
}

static tacit_status find_targets(joining *j)
{
    const tct_aggregates *G = j->g->G;
    const tct_halo *level = &j->g->level;
    tct_halo share;
    tacit_status status = tct_halo_of(j->g->A->world, j->g->next,
                                      G->others.count, G->others.id, &share);
    if (status >= 0) status = count_members(j, &share);
    tct_halo_close(&share);
    TRY(status);
    for (int64_t k = 0; k < level->shared; k++)
        level->out[k] = target_of(j, level->row[k]);
    return tct_halo_trade(level, 1, j->target);
}

/* --- targets -------------------------------------------------------------- */

static double w_of(const tct_aggregation *g, int64_t place)
{
    const int64_t rows = g->A->A.rows;
    if (!g->w) return 1.0;
    return place < rows ? g->w[place] : g->ghost_w[place - rows];
}

/* The aggregate of the strongest neighbour of singleton `i`, the first of equal
 * ones; its own if all are weak. */
static int64_t strongest_aggregate(const joining *j, int64_t i)
{
    const tct_aggregation *g = j->g;
    const tct_csr *A = &g->A->A;
    const int64_t *index = g->first_index;
    double most =
        tct_joins * (tct_csr_diagonal(A, i) * w_of(g, i) * w_of(g, i));
    int64_t best = number_of(j, g->G->of[i]), at = -1;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t col = tct_csr_col(A, k) - A->first;
        const bool own = col >= 0 && col < A->rows;
        const int64_t p =
            own ? col
                : A->rows + tct_ghost_place(&g->level.ghosts, col + A->first);
        const int64_t to = own ? target_of(j, p) : j->target[p - A->rows];
        const double b = A->val[k] * (w_of(g, i) * w_of(g, p));
        if (to < 0 || -b < most) continue;
        if (-b == most && (at < 0 || !index || index[p] > index[at])) continue;
        most = -b;
        best = to;
        at = p;
    }
    return best;
}

static void place_single_rows(void *of, int64_t from, int64_t to)
{
    const joining *j = of;
    for (int64_t i = from; i < to; i++) {
        const int32_t n = j->g->G->of[i];
        if (n >= 0 && j->members[n] == 1)
            j->place[n] = strongest_aggregate(j, i);
    }
}

static void find_places(joining *j)
{
    const tct_aggregates *G = j->g->G;
    for (int64_t n = 0; n < G->coarse + G->others.count; n++)
        j->place[n] = number_of(j, n);
    tct_parallel(G->rows, TCT_SHORT, place_single_rows, j);
}

/* --- renumbering ---------------------------------------------------------- */

/* Number the remaining aggregates in the same order; returns how many. */
static int64_t number_left(joining *j)
{
    int64_t count = 0;
    for (int64_t n = 0; n < j->g->G->coarse; n++)
        j->fresh[n] = j->place[n] == j->first + n ? count++ : -1;
    return count;
}

static bool is_own(const joining *j, int64_t number)
{
    return number >= j->first && number < j->first + j->g->G->coarse;
}

/* Replace j->place by the new numbers. */
static tacit_status follow(joining *j)
{
    tct_aggregates *G = j->g->G;
    tacit_world *w = j->g->A->world;
    const int64_t all = G->coarse + G->others.count;
    int64_t asked = 0;
    for (int64_t n = 0; n < G->coarse; n++)
        if (j->fresh[n] >= 0) j->fresh[n] += j->starts[w->rank];
    for (int64_t n = 0; n < all; n++)
        if (!is_own(j, j->place[n])) j->asked[asked++] = j->place[n];
    TRY(tct_directory_get(w, j->g->next, j->fresh, asked, j->asked, j->asked));
    asked = 0;
    for (int64_t n = 0; n < all; n++)
        j->place[n] = is_own(j, j->place[n]) ? j->fresh[j->place[n] - j->first]
                                             : j->asked[asked++];
    return TACIT_OK;
}

/* Renumber the pairs of the last pass. */
static tacit_status renumber_up(joining *j, int64_t first, int64_t count)
{
    tct_aggregates *G = j->g->G;
    const tct_ghosts *up = &G->up_others;
    int64_t *number = j->asked;
    for (int64_t n = 0; n < G->coarse; n++) number[n] = j->place[n];
    for (int64_t k = 0; k < up->count; k++)
        number[G->coarse + k] =
            j->place[G->coarse + tct_ghost_place(&G->others, up->id[k])];
    return tct_numbering_renumber(G->B.rows, j->g->up, G->coarse, &G->up_others,
                                  number, first, count);
}

/* Keep the index of the remaining aggregates. */
static tacit_status keep_index(const joining *j, int64_t count)
{
    tct_aggregates *G = j->g->G;
    int64_t at = 0;
    if (!j->g->permuted) return TACIT_OK;
    TRY(TCT_ALLOC(count, what, &G->index));
    for (int64_t n = 0; n < G->coarse; n++)
        if (j->fresh[n] >= 0) G->index[at++] = j->g->index[n];
    return TACIT_OK;
}

static tacit_status renumber(joining *j, int64_t count)
{
    tct_aggregates *G = j->g->G;
    const int64_t first = j->starts[j->g->A->world->rank];
    TRY(keep_index(j, count));
    TRY(renumber_up(j, first, count));
    TRY(tct_numbering_renumber(G->rows, G->of, G->coarse, &G->others, j->place,
                               first, count));
    G->coarse = count;
    return TACIT_OK;
}

static tacit_status join(joining *j)
{
    tct_aggregation *g = j->g;
    tacit_world *w = g->A->world;
    TRY(tct_agree(w, allocate(j)));
    TRY(find_targets(j));
    find_places(j);
    const int64_t count = number_left(j);
    TRY(tct_numbering_starts(w, count, j->starts));
    TRY(follow(j));
    TRY(tct_agree(w, renumber(j, count)));
    if (g->permuted)
        TRY(tct_numbering_close(w, g->next[w->size], count, g->G->index));
    int64_t *const starts = g->next;
    g->next = j->starts;
    j->starts = starts;
    return TACIT_OK;
}

tacit_status tct_absorb_singletons(tct_aggregation *g)
{
    joining j = {.g = g, .first = g->next[g->A->world->rank]};
    const tacit_status status = join(&j);
    TCT_FREE(j.members, j.target, j.place, j.fresh, j.asked, j.starts);
    return status;
}
