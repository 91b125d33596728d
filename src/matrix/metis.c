/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/metis.c - partitions by multilevel k-way partitioning (Karypis and
 * Kumar 1998, the library METIS).
 *
 * Rank 0 gathers the pattern without its diagonal, adds the transpose if the
 * pattern is not symmetric, partitions it, and sends the parts back. A pattern
 * too large for one rank is first coarsened by all ranks, and the partition
 * refined on the way back (multilevel/level.h). A dense block of rows is one
 * node, so the graph is smaller by the square of the block, and blocks are not
 * divided. A node's weight is its number of entries, so parts have equal
 * work. */
#include "matrix/multilevel/level.h"

/* METIS takes seconds and a gigabyte for the larger bound, which gives the
 * better partition, and very little for the smaller. */
const tct_cut_bounds tct_cut_bounds_usual = {.whole = 8000000,
                                             .coarse = 200000};

enum { LEVELS_MOST = 64, NODES_A_PART = 30 };
static const double SHRINKS = 0.9;  /* else coarsening has stalled */
static const double HEAVIEST = 1.5; /* node, in mean weights of the coarsest
                                     * level */

typedef struct {
    const tacit_matrix *m;
    int parts, block; /* rows per node */
    int count;
    tct_level level[LEVELS_MOST];
    int64_t *part; /* [nodes + ghosts] of the current level */
} cutting;

static tacit_status is_whole(const tct_level *g, const tct_cut_bounds *bounds,
                             bool *out)
{
    int64_t edges = g->ptr[g->nodes];
    TRY(tct_reduce_i64(g->world, TCT_SUM, 1, &edges));
    *out = tct_level_all(g) + edges <= bounds->whole;
    return TACIT_OK;
}

static tacit_status heaviest_node(const tct_level *g, int64_t nodes,
                                  int64_t *out)
{
    int64_t sum = 0;
    for (int64_t n = 0; n < g->nodes; n++) sum += g->weight[n];
    TRY(tct_reduce_i64(g->world, TCT_SUM, 1, &sum));
    const double most = HEAVIEST * (double)sum / (double)nodes;
    *out = most < INT32_MAX ? (int64_t)most : INT32_MAX;
    return TACIT_OK;
}

static tacit_status make_levels(cutting *c, const tct_cut_bounds *bounds)
{
    bool whole;
    int64_t heaviest, wanted = (int64_t)NODES_A_PART * c->parts;
    if (wanted < bounds->coarse) wanted = bounds->coarse;
    TRY(tct_level_open(c->m, c->block, &c->level[0]));
    c->count = 1;
    TRY(is_whole(&c->level[0], bounds, &whole));
    if (whole) return TACIT_OK;
    TRY(heaviest_node(&c->level[0], wanted, &heaviest));
    while (c->count < LEVELS_MOST) {
        tct_level *last = &c->level[c->count - 1];
        const double nodes = (double)tct_level_all(last);
        if (nodes <= (double)wanted) break;
        TRY(tct_level_coarsen(last, heaviest, last + 1));
        c->count++;
        if ((double)tct_level_all(last + 1) > SHRINKS * nodes) break;
    }
    return TACIT_OK;
}

static tacit_status new_parts(const tct_level *g, int64_t **out)
{
    int64_t *part = NULL;
    const tacit_status status = tct_agree(
        g->world, TCT_ALLOC(g->nodes + g->ghosts, "the parts", &part));
    if (status < 0) tct_free(part);
    else *out = part;
    return status;
}

/* Project the last level's partition to the level before. */
static tacit_status step_up(cutting *c)
{
    tct_level *coarse = &c->level[c->count - 1], *fine = coarse - 1;
    int64_t *part = NULL;
    tct_level_close(coarse);
    c->count--;
    TRY(new_parts(fine, &part));
    for (int64_t n = 0; n < fine->nodes; n++) part[n] = c->part[fine->up[n]];
    tct_free(c->part);
    c->part = part;
    return tct_level_refine(fine, c->parts, part);
}

static tacit_status cut_levels(cutting *c)
{
    const tct_level *last = &c->level[c->count - 1];
    const int levels = c->count;
    const double before = tct_seconds();
    TRY(new_parts(last, &c->part));
    TRY(tct_level_cut(last, c->m->A.global_rows, c->parts, c->part));
    while (c->count > 1) TRY(step_up(c));
    if (levels > 1 && c->m->world->rank == 0)
        tct_log(TCT_DETAIL, "metis: cut and refined on %d levels, %.3g s",
                levels, tct_seconds() - before);
    return TACIT_OK;
}

static tacit_status run(cutting *c, const tct_cut_bounds *bounds, int32_t *part)
{
    TRY(make_levels(c, bounds));
    TRY(cut_levels(c));
    return tct_level_to_rows(&c->level[0], c->m, c->block, c->part, part);
}

tacit_status tct_metis_cut(const tacit_matrix *m, int parts,
                           const tct_cut_bounds *bounds, int32_t *part)
{
    cutting c = {.m = m, .parts = parts};
    if (parts == 1) {
        for (int64_t i = 0; i < m->A.rows; i++) part[i] = 0;
        return TACIT_OK;
    }
    TRY(tct_level_block(m, parts, &c.block));
    const tacit_status status = run(&c, bounds, part);
    while (c.count > 0) tct_level_close(&c.level[--c.count]);
    tct_free(c.part);
    return status;
}
