/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/multilevel/level.h - a distributed graph and its coarser levels, to
 * partition a graph that exceeds one rank's memory.
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
 *       v  |     up: coarse nodes pass on their parts, and nodes at the
 *     level k    boundary of a part move (refine.c)
 *        cut     small enough for one rank: by METIS (root_cut.c)
 *
 * Nodes are matched within their rank, so coarse nodes stay on it. If rows are
 * distributed at random, most neighbours are on other ranks: then nodes with a
 * common neighbour are matched, too. */
#ifndef TCT_MATRIX_MULTILEVEL_LEVEL_H
#define TCT_MATRIX_MULTILEVEL_LEVEL_H
#include "comm/setup/halo.h"
#include "matrix/matrix.h"

typedef struct tct_level {
    tacit_world *world;
    int64_t *starts; /* [size + 1] first node of each rank */
    int64_t nodes;   /* of this rank                       */
    int64_t ghosts;  /* of other ranks, adjacent to those */
    int64_t *ghost;  /* [ghosts] their numbers, ascending  */
    int64_t *ptr;    /* [nodes + 1]                        */
    int32_t *next;   /* [ptr[nodes]] below `nodes`: an own node; else `nodes` +
                      * the index of a ghost */
    int32_t *edge;   /* [ptr[nodes]] weights, NULL: all 1  */
    int32_t *weight; /* [nodes] number of entries */
    int32_t *up;     /* [nodes] node of the next level on this rank; NULL: no
                      * next level */
    tct_halo halo;   /* of the ghosts                      */
} tct_level;

/* The pattern of `m` with a node per `block` rows, at the rank of the first
 * one.
 * Collective.
 * Memory    16 bytes a row, 4 an entry.
 * Errors    NO_MEMORY, UNSUPPORTED (2^31 nodes and ghosts on a rank). */
tacit_status tct_level_open(const tacit_matrix *m, int block, tct_level *out);
void tct_level_close(tct_level *level);

/* Rows per node when `m` is cut into `parts`: a dense block, if there are
 * enough blocks.
 * Collective. */
tacit_status tct_level_block(const tacit_matrix *m, int parts, int *out);

/* The part of each of m's rows on this rank, from the parts of `nodes` on
 * `level` of `m` and `block`.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_to_rows(const tct_level *level, const tacit_matrix *m,
                               int block, const int64_t *nodes, int32_t *part);

/* The number of nodes of all ranks. */
static inline int64_t tct_level_all(const tct_level *level)
{
    return level->starts[level->world->size];
}

/* The number of the first node of this rank. */
static inline int64_t tct_level_first(const tct_level *level)
{
    return level->starts[level->world->rank];
}

/* Exchange ghosts: `word` [nodes + ghosts] has the words of own nodes.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_share(const tct_level *level, int64_t *word);

/* A graph of about half as many nodes, matched up to weight `heaviest`; sets
 * `fine->up`.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_coarsen(tct_level *fine, int64_t heaviest,
                               tct_level *out);

/* Move nodes between `parts` to cut fewer edges, or as many with better
 * balance; `part` [nodes + ghosts] is given for own nodes.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_level_refine(const tct_level *level, int parts, int64_t *part);

/* Cut `level` of a matrix of `rows` rows into `parts` on rank 0: `part` [nodes]
 * gets those of this rank's nodes.
 * Collective.
 * Memory    on rank 0, 100 bytes a node and 56 an edge of all ranks.
 * Errors    NO_MEMORY, UNSUPPORTED (more than METIS counts), INVALID. */
tacit_status tct_level_cut(const tct_level *level, int64_t rows, int parts,
                           int64_t *part);

#endif
