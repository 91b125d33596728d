/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/supernodes.h - the plan of a factor for solves by many workers.
 *
 * [APS93] Alvarado, Pothen and Schreiber, "Highly parallel sparse triangular
 *         solution", in Graph Theory and Sparse Matrix Computation, Springer
 *         (1993): partitioned inverses.
 * [Li92]  Liu, "The multifrontal method for sparse matrix solution", SIAM
 *         Review 34 (1992): update vectors.
 *
 * A node is a run of columns with the same rows below: consecutive panels are
 * merged, up to a width. From its diagonal block L11 and the rows below, L21, a
 * node stores
 *
 *     P = [ L11^-1; - L21 L11^-1 ]                       (h x w, by columns)
 *
 * so that each pass is one product per node, of which rows or columns may be
 * computed separately:
 *
 *     down   [ y; u ] = [ 0; v2 ] + P v1,    v = b and the u of its children
 *     up     x = P' [ y; x below ]
 *
 * The parent gathers u from its children in their order; each sum has one
 * writer, so results have the same bits for any distribution of work. Rows
 * below a node must be columns or rows of its parent, as in factors of a
 * symmetric pattern. A product with P has an error of eps cond(L11); a node is
 * halved, down to one column, while ||| L11^-1 | | L11 ||| is above
 * TCT_PLAN_CONDITION.
 *
 * A branch is a set of subtrees at the bottom, packed to some weight: one task,
 * in which nodes of one height are independent. Above branches, a task is some
 * rows (down) or columns (up) of one node. If a node has many such tasks, tasks
 * of their own, marked by from < 0, assemble its right-hand side first. */
#ifndef TCT_TRISOLVE_GPU_SUPERNODES_H
#define TCT_TRISOLVE_GPU_SUPERNODES_H
#include "base/base.h"
#include "trisolve/gpu/counters.h"
#include "trisolve/gpu/task_queue.h"
#include <tacit/factor.h>

enum {
    TCT_NODE_WIDTH = 4096,  /* columns of a node                         */
    TCT_ALONE_WIDTH = 64,   /* of a node for one warp, ... */
    TCT_ALONE_SIZE = 2048,  /* ... and its values                        */
    TCT_TILE = 16,          /* rows or columns that a warp multiplies */
    TCT_TILES = 8,          /* ... in a block                            */
    TCT_DOUBLING_ROWS = 512 /* of a task of recursive doubling, at most */
};
#define TCT_PLAN_CONDITION 1e6

typedef struct tct_node {
    int64_t value; /* offset of P */
    int64_t slot;  /* ... of its h rows in `take` */
    int64_t below; /* ... of its h - w lower rows in `row` */
    int32_t first, w, h;
    int32_t ld;     /* of P: at least h, even */
    int32_t parent; /* -1: none                                         */
    int32_t panel;  /* of its first column                              */
    int32_t leaf;   /* 1: it has no children                            */
} tct_node;

/* The updates that a row sums, in the order of children: first, second; -1:
 * none. second < -1 refers to a list at rest[-2 - second]: its length, then the
 * updates after the first. */
typedef struct tct_take {
    int32_t first, second;
} tct_take;

/* Nodes order[from] to order[to - 1], which are independent; those before
 * `alone` are small. */
typedef struct tct_tri_level {
    int32_t from, alone, to;
} tct_tri_level;

/* Levels [from, to), leaves first. */
typedef struct tct_branch {
    int32_t from, to;
} tct_branch;

/* Cuts of the nodes above branches into tasks: for one column, for several. */
enum { TCT_FOR_ONE = 0, TCT_FOR_MANY = 1, TCT_CUTS = 2 };
typedef struct tct_cut {
    tct_task
        *task; /* [down + between + up] what: node, or -1 - branch; from, to:
                * rows or columns. Between: what is the piece; from, to are its
                * rows in recursive_doubling.h */
    int32_t down, between, up;
    uint32_t *due; /* [tct_counters] additions to each counter */
} tct_cut;

typedef struct tct_tri_plan {
    int64_t rows, stored, updates, slots, rests;
    int32_t nodes, branches, levels, depth; /* depth: of tasks in one pass */
    int32_t blocks; /* entries of `node` for blocks: distribute.h */
    tct_node *node; /* [nodes + blocks]                                  */
    double *value;  /* [stored] P                                        */
    double *upper;  /* the same of U', kind LU; NULL: `value` */
    int32_t *row;   /* [updates] rows below each node                    */
    tct_take *take; /* [slots] updates of each row of a node */
    int32_t *rest;  /* [rests] lists of rows with more than two updates */
    double *scale;  /* [rows] 1 / D, kind LDLT; NULL */
    int32_t *order; /* [nodes] nodes of branches by level */
    tct_tri_level *level;
    tct_branch *branch;
    tct_cut cut[TCT_CUTS];
    double seconds;   /* of the construction */
    double condition; /* of the worst node */
    int32_t narrowed; /* nodes that were halved */
    int32_t panels;   /* of the factor                                 */
} tct_tri_plan;

/* Create the plan of `P` for about `workers` workers. Borrows nothing.
 * Errors    INPUT, INVALID (as tacit_factor_check), UNSUPPORTED (rows below a
 *           panel that its parent does not have; kinds IC0 and ILU0; pivots of
 *           2 x 2; 2^31 updates), NO_MEMORY. */
tacit_status tct_tri_plan_create(const tacit_factor_panels *P, int workers,
                                 tct_tri_plan *out);
void tct_tri_plan_clear(tct_tri_plan *plan);
/* Bytes of the arrays. */
double tct_tri_plan_bytes(const tct_tri_plan *plan);

/* --- tasks.c -------------------------------------------------------------- */

/* Branches and tasks of the nodes. Errors NO_MEMORY. */
tacit_status tct_tri_plan_tasks(tct_tri_plan *plan, int workers);
/* Add tasks that exchange `rows` rows with other ranks between the passes
 * (recursive_doubling.h), at least one; the pass up waits for them. Call once.
 * Errors NO_MEMORY. */
tacit_status tct_tri_plan_doubling(tct_tri_plan *plan, int32_t rows);

#endif
