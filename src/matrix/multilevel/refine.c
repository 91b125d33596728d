/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/multilevel/refine.c - moves nodes at the boundary of a part to another
 * part to cut fewer edges.
 *
 * Ranks move nodes simultaneously. In one sweep nodes move only to parts of
 * higher numbers, in the next only to lower ones, so two neighbours cannot swap
 * parts, which would cut more edges than before [KK97]. A node may still follow
 * a neighbour that leaves for a third part, but rarely. Each rank has a share
 * of the weight that a part may gain or lose. */
#include "matrix/multilevel/level.h"
#include <string.h>

enum { ROUNDS = 6 };               /* of two sweeps, at most */
static const double UNEVEN = 1.03; /* as METIS's default */

typedef struct {
    const tct_level *g;
    int parts;
    int64_t *part;     /* [nodes + ghosts] */
    int64_t *weight;   /* [parts] over all ranks */
    int64_t *in, *out; /* [parts] weight that may arrive and leave on this
                        * rank */
    int64_t *bound;    /* [parts] weight of a node's edges to each  */
    int32_t *touched;  /* [parts] where bound is not 0 */
    int64_t most;      /* bounds of a part's weight */
    int64_t least;
} refinement;

/* --- a node --------------------------------------------------------------- */

/* Sum the weights of the edges of node `i` to each part; returns the number of
 * these parts. */
static int bind(const refinement *r, int64_t i)
{
    const tct_level *g = r->g;
    int count = 0;
    for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++) {
        const int64_t p = r->part[g->next[k]];
        if (r->bound[p] == 0) r->touched[count++] = (int32_t)p;
        r->bound[p] += g->edge ? g->edge[k] : 1;
    }
    return count;
}

/* The best part for node `i` above (or below) its own; else its own. */
static int64_t best_part(const refinement *r, int64_t i, bool above, int count)
{
    const int64_t own = r->part[i], w = r->g->weight[i];
    int64_t best = own, most = 0;
    for (int k = 0; k < count; k++) {
        const int64_t p = r->touched[k];
        if (p == own || above != (p > own) || w > r->in[p]) continue;
        const int64_t gain = r->bound[p] - r->bound[own];
        const bool evens = gain == 0 && r->weight[own] - w > r->weight[p];
        if (gain > most || (best == own && evens)) {
            best = p;
            most = gain;
        }
    }
    return w > r->out[own] ? own : best;
}

static bool is_inside(const refinement *r, int64_t i)
{
    const tct_level *g = r->g;
    for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; k++)
        if (r->part[g->next[k]] != r->part[i]) return false;
    return true;
}

/* Move node `i` if that is better; returns whether. */
static bool move(refinement *r, int64_t i, bool above)
{
    if (is_inside(r, i)) return false;
    const int count = bind(r, i);
    const int64_t from = r->part[i], to = best_part(r, i, above, count);
    for (int k = 0; k < count; k++) r->bound[r->touched[k]] = 0;
    if (to == from) return false;
    const int64_t w = r->g->weight[i];
    r->part[i] = to;
    r->in[to] -= w;
    r->out[to] += w;
    r->in[from] += w;
    r->out[from] -= w;
    return true;
}

/* --- sweeps --------------------------------------------------------------- */

static tacit_status weigh(refinement *r)
{
    memset(r->weight, 0, (size_t)r->parts * sizeof *r->weight);
    for (int64_t i = 0; i < r->g->nodes; i++)
        r->weight[r->part[i]] += r->g->weight[i];
    TRY(tct_reduce_i64(r->g->world, TCT_SUM, (size_t)r->parts, r->weight));
    int64_t all = 0;
    for (int p = 0; p < r->parts; p++) all += r->weight[p];
    const double mean = (double)all / r->parts;
    r->most = (int64_t)(UNEVEN * mean);
    r->least = (int64_t)(mean / UNEVEN);
    return TACIT_OK;
}

static int64_t my_share(const tacit_world *w, int64_t all)
{
    return all > 0 ? all / w->size + (w->rank < all % w->size) : 0;
}

static tacit_status sweep(refinement *r, bool above, int64_t *moved)
{
    const tct_level *g = r->g;
    TRY(weigh(r));
    TRY(tct_level_share(g, r->part));
    for (int p = 0; p < r->parts; p++) {
        r->in[p] = my_share(g->world, r->most - r->weight[p]);
        r->out[p] = my_share(g->world, r->weight[p] - r->least);
    }
    for (int64_t i = 0; i < g->nodes; i++) *moved += move(r, i, above);
    return TACIT_OK;
}

static tacit_status sweep_all(refinement *r)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t moved = 0;
        TRY(sweep(r, true, &moved));
        TRY(sweep(r, false, &moved));
        TRY(tct_reduce_i64(r->g->world, TCT_SUM, 1, &moved));
        if (moved == 0) break;
    }
    return TACIT_OK;
}

static tacit_status allocate(refinement *r)
{
    const char *what = "the parts";
    TRY(TCT_ALLOC(r->parts, what, &r->weight));
    TRY(TCT_ALLOC(r->parts, what, &r->in));
    TRY(TCT_ALLOC(r->parts, what, &r->out));
    TRY(TCT_ALLOC(r->parts, what, &r->bound));
    TRY(TCT_ALLOC(r->parts, what, &r->touched));
    memset(r->bound, 0, (size_t)r->parts * sizeof *r->bound);
    return TACIT_OK;
}

tacit_status tct_level_refine(const tct_level *level, int parts, int64_t *part)
{
    refinement r = {.g = level, .parts = parts, .part = part};
    tacit_status status = tct_agree(level->world, allocate(&r));
    if (status >= 0) status = sweep_all(&r);
    TCT_FREE(r.weight, r.in, r.out, r.bound, r.touched);
    return status;
}
