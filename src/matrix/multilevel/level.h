/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/multilevel/level.h - a graph whose nodes are dealt out over the ranks,
 * and coarser ones of it: to cut a graph that no rank could hold.
 *
 * [KK98] Karypis and Kumar, "A fast and high quality multilevel scheme for
 *        partitioning irregular graphs", SIAM J. Sci. Comput. 20 (1998).
 * [KK97] Karypis and Kumar, "A coarse-grain parallel formulation of multilevel
 *        k-way graph partitioning", Proc. 8th SIAM Conf. Parallel Processing
 *        (1997).
 * [HS10] Holtgrewe, Sanders and Schulz, "Engineering a scalable high quality
 *        graph partitioner", IPDPS (2010): the rating of edges.
 *
 *     level 0    the rows, or dense blocks of them
 *       |  ^     down: neighbours on one rank become one node (coarsen.c)
 *       v  |     up: the parts of the coarse nodes, and nodes on the interface of a
 *     level k    part move (refine.c)
 *        cut     small enough for one rank: by METIS (matrix/metis.c)
 *
 * A node is matched with nodes of its own rank only, so that coarse nodes stay
 * there. Nodes that were dealt out in disorder have most of their neighbours on
 * other ranks: two that have such a neighbour in common are matched, too. */
#ifndef TCT_MATRIX_MULTILEVEL_LEVEL_H
#define TCT_MATRIX_MULTILEVEL_LEVEL_H
#include "matrix/matrix.h"

typedef struct tct_level {
    tacit_world *world;
    int64_t *starts; /* [size + 1] first node of each rank */
    int64_t nodes;   /* of this rank                       */
    int64_t ghosts;  /* of other ranks, next to those      */
    int64_t *ghost;  /* [ghosts] their numbers, ascending  */
    int64_t *ptr;    /* [nodes + 1]                        */
    int32_t *next;   /* [ptr[nodes]] below `nodes`: a node of this rank; else
                        `nodes` and the place of a ghost   */
    int32_t *edge;   /* [ptr[nodes]] weights, NULL: all 1  */
    int32_t *weight; /* [nodes] entries that they stand for */
    int32_t *up;     /* [nodes] which node of this rank they are part of on the
                        next level; NULL: there is none    */
} tct_level;

/* The pattern of `m`, a node for `block` rows, each by its first row.
 * Collective.
 * Memory      16 bytes a row, 4 an entry.
 * Errors      NO_MEMORY, UNSUPPORTED (2^31 nodes and ghosts on a rank). */
tacit_status tct_level_open(const tacit_matrix *m, int block, tct_level *out);
void tct_level_close(tct_level *level);

/* How many rows of `m` are a node where it is cut into `parts`: a dense block
 * of them, if there are enough blocks.
 * Collective. */
tacit_status tct_level_block(const tacit_matrix *m, int parts, int *out);

/* The part [m's rows of this rank] of each row, from those of the `nodes` that
 * `level` of `m` and `block` has here.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_to_rows(const tct_level *level, const tacit_matrix *m,
                               int block, const int64_t *nodes, int32_t *part);

/* The nodes of all ranks. */
static inline int64_t tct_level_all(const tct_level *level)
{
    return level->starts[level->world->size];
}

/* The number of the first node of this rank. */
static inline int64_t tct_level_first(const tct_level *level)
{
    return level->starts[level->world->rank];
}

/* Words of the ghosts: `word` [nodes + ghosts] has those of the nodes.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_share(const tct_level *level, int64_t *word);

/* A graph of about half as many nodes, none heavier than `heaviest` unless it
 * was; sets `fine->up`. Collective.  Errors NO_MEMORY. */
tacit_status tct_level_coarsen(tct_level *fine, int64_t heaviest,
                               tct_level *out);

/* Move nodes between `parts` where that cuts fewer edges, or as many and
 * balances better; `part` [nodes + ghosts], those of the nodes are given.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_refine(const tct_level *level, int parts, int64_t *part);

#endif
