/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/supernodes.h - a factor as many workers at once solve with it.
 *
 * [APS93] Alvarado, Pothen and Schreiber, "Highly parallel sparse triangular
 *         solution", in Graph Theory and Sparse Matrix Computation, Springer
 *         (1993): partitioned inverses.
 * [Li92]  Liu, "The multifrontal method for sparse matrix solution", SIAM Review
 *         34 (1992): update vectors.
 *
 * Nodes are runs of columns with the same rows below: panels that were cut are
 * put together again, up to a width. With L11 and L21, what a node has in the
 * rows of its columns and below, it stores
 *
 *     P = [ L11^-1; - L21 L11^-1 ]                       (h x w, by columns)
 *
 * so that both passes are one product of a node, of which any rows or columns
 * may be formed by themselves:
 *
 *     down   [ y; u ] = [ 0; v2 ] + P v1,    v = b and the u of its children
 *     up     x = P' [ y; x below ]
 *
 * u goes from child to parent and is gathered there, in the order of children:
 * nothing is added by two at once, so results have the same bits whoever does
 * what. It asks that rows below a node are columns or rows of its parent, as
 * they are in the factors of a symmetric pattern. A product by P instead of a
 * solve has an error of eps cond(L11); where ||| L11^-1 | | L11 ||| is above
 * TCT_PLAN_CONDITION, a node is cut in two, down to a column.
 *
 * Subtrees at the bottom, packed to some weight, are branches: one task each,
 * in which nodes of the same height follow one another. What is above them goes
 * in tasks of some rows (down) or columns (up) of one node; where these are
 * many, the right-hand side of a node is put together before, by tasks of their
 * own, which are told apart by rows from -1 on down. */
#ifndef TCT_TRISOLVE_GPU_SUPERNODES_H
#define TCT_TRISOLVE_GPU_SUPERNODES_H
#include "base/base.h"
#include "trisolve/gpu/task_queue.h"
#include <tacit/factor.h>

enum {
    TCT_NODE_WIDTH = 4096,  /* columns of a node                         */
    TCT_ALONE_WIDTH = 64,   /* of one that a warp does by itself, ...    */
    TCT_ALONE_SIZE = 2048,  /* ... and its values                        */
    TCT_TILE = 16,          /* rows, or columns, that a warp multiplies  */
    TCT_TILES = 8,          /* ... in a block                            */
    TCT_DOUBLING_ROWS = 512 /* that are swapped by a task, at most       */
};
#define TCT_PLAN_CONDITION 1e6

typedef struct tct_node {
    int64_t value; /* where P starts                                   */
    int64_t slot;  /* ... its h rows among those that gather           */
    int64_t below; /* ... and its h - w rows below, among updates       */
    int32_t first, w, h;
    int32_t ld;     /* of P: h or more, even                            */
    int32_t parent; /* -1: none                                         */
    int32_t panel;  /* of its first column                              */
    int32_t leaf;   /* 1: it has no children                            */
} tct_node;

/* The updates that a row is the sum of, with its right-hand side, in the order
 * of children: first, then second; -1: none. Below -1, second stands for a
 * list: at rest[-2 - second] how many there are besides the first, and then
 * which. */
typedef struct tct_take {
    int32_t first, second;
} tct_take;

/* Nodes order[from] to order[to - 1], none of which builds upon another: those
 * before `alone` are small. */
typedef struct tct_tri_level {
    int32_t from, alone, to;
} tct_tri_level;

/* Levels [from, to), those of leaves first. */
typedef struct tct_branch {
    int32_t from, to;
} tct_branch;

/* How what is above branches is cut: for one column, and for several. */
enum { TCT_FOR_ONE = 0, TCT_FOR_MANY = 1, TCT_CUTS = 2 };
typedef struct tct_cut {
    tct_task
        *task; /* [down + between + up] what: the node, or -1 - branch; from,
                       to: its rows or columns. Between: the piece, and its rows
                       among those of swap.h                                */
    int32_t down, between, up;
    uint32_t *due; /* [tct_counters] additions to each counter: */
} tct_cut;

/* Counters: what the children of node k have passed on, k = nodes: all roots;
 * the right-hand side of node k is together; its x is there; pieces that were
 * swapped. */
static inline int32_t tct_counts_together(int32_t nodes, int32_t k)
{
    return nodes + 1 + k;
}
static inline int32_t tct_counts_up(int32_t nodes, int32_t k)
{
    return 2 * nodes + 1 + k;
}
static inline int32_t tct_counts_swapped(int32_t nodes)
{
    return 3 * nodes + 1;
}
static inline int32_t tct_counters(int32_t nodes)
{
    return 3 * nodes + 2;
}

typedef struct tct_tri_plan {
    int64_t rows, stored, updates, slots, rests;
    int32_t nodes, branches, levels, depth; /* depth: of tasks, one pass */
    int32_t blocks; /* of nodes of which only these are here: spread.h   */
    tct_node *node; /* [nodes + blocks]                                  */
    double *value;  /* [stored] P                                        */
    double *upper;  /* the same of U', of kind LU; NULL: as `value`      */
    int32_t *row;   /* [updates] rows below each node                    */
    tct_take *take; /* [slots] what each row of a node takes             */
    int32_t *rest;  /* [rests] of those that take from more than two     */
    double *scale;  /* [rows] 1 / D, of kind LDLT; or NULL               */
    int32_t *order; /* [nodes] those in branches, level by level        */
    tct_tri_level *level;
    tct_branch *branch;
    tct_cut cut[TCT_CUTS];
    double seconds;   /* it took                                       */
    double condition; /* of the worst node that was kept               */
    int32_t narrowed; /* nodes that were cut because of theirs         */
    int32_t panels;   /* of the factor                                 */
} tct_tri_plan;

/* The plan of `P`, for about `workers` workers. Borrows nothing.
 * Errors      INPUT, INVALID (as tacit_factor_check), UNSUPPORTED (rows below a
 *             panel that its parent does not have; kinds IC0 and ILU0; 2^31
 *             updates), NO_MEMORY. */
tacit_status tct_tri_plan_create(const tacit_factor_panels *P, int workers,
                                 tct_tri_plan *out);
void tct_tri_plan_clear(tct_tri_plan *plan);
/* Bytes of its arrays. */
double tct_tri_plan_bytes(const tct_tri_plan *plan);

/* --- tasks.c -------------------------------------------------------------- */

/* Branches and tasks, once there are nodes. Errors NO_MEMORY. */
tacit_status tct_tri_plan_tasks(tct_tri_plan *plan, int workers);
/* Between the passes `rows` rows are swapped with other ranks (swap.h): tasks
 * for that, one at least, and who goes up waits for them. Once. Errors
 * NO_MEMORY. */
tacit_status tct_tri_plan_doubling(tct_tri_plan *plan, int32_t rows);

#endif
