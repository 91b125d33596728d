/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/plan.h - who does what in triangular solves on a grid of Px x
 * Py x Pz processes: from the pattern of the factor alone, for any rank of any
 * grid, whether there are such ranks or not.
 *
 * [LG23]  Liu et al., "Unified communication optimization strategies for sparse
 *         triangular solver on CPU and GPU clusters", SC '23.
 * [LJLG18] Liu et al., "Highly scalable distributed-memory sparse triangular
 *         solution algorithms", SIAM CSC 2018: trees.
 * [SLV19] Sao et al., "A communication-avoiding 3D sparse triangular solver",
 * ICS '19.
 *
 * Block (I, K), the rows of panel I in panel K, is of process (I mod Px, K mod
 * Py) of each grid that has tree node K: grid z has leaf z and the nodes above
 * it. Or column K is whole of one process, where subtrees are. The process of
 * block (K, K) is the owner of panel K there.
 *
 * A sweep is L or U of a set of columns, those of one grid in some of its
 * nodes. Column group K are the processes that have blocks (I, K), row group I
 * those that have blocks (I, K) of any K, owners first. Downwards, L: the owner
 * tells its column group y_K; each subtracts L(I, K) y_K from a sum for row I,
 * and the row group adds up its sums towards the owner of I. Upwards, U = L':
 * the owner tells its row group x_I; each subtracts L(I, K)' x_I from a sum for
 * column K, and the column group adds up. So two lists of groups serve both.
 * Groups speak along binary trees, whose inner nodes change with K; or all with
 * the owner. */
#ifndef TCT_TRISOLVE_GRID_PLAN_H
#define TCT_TRISOLVE_GRID_PLAN_H
#include "factor/factor.h"
#include <tacit/trsv.h>

/* --- pattern.c: the blocks of a factor ------------------------------------ */

/* Tree nodes are those of the top Pz leaves: what lies below one of these
 * counts as it. */
typedef struct tct_pattern {
    tacit_factor_panels P; /* borrowed; values may be NULL                  */
    int leaves, heights;   /* Pz, log2 Pz + 1                               */
    int32_t *node;         /* [panels] its tree node                        */
    int32_t *member;       /* [panels] panels by tree node, ascending in it */
    int32_t *member_start; /* [2 leaves]                                    */
    int64_t *start;        /* [panels + 1] blocks below the diagonal of each */
    int32_t *row;          /* [blocks] their panels I, ascending in a column */
    int32_t *col;          /* [blocks] their panels K                       */
    int32_t *first;        /* [blocks] first of its rows within panel K     */
    int32_t *end;          /* [blocks] behind the last one                  */
    int64_t *row_start;    /* [panels + 1] blocks of each row ...           */
    int64_t *in_row;       /* [blocks] ... by number, columns ascending     */
    int32_t *home;         /* [panels] the process of a grid, x Py + y, that has
                              the whole column; -1: as many as there are; NULL:
                              so all                                        */
} tct_pattern;

/* Of `P`, which has been checked, for `leaves` grids.
 * Errors      INVALID (more grids than leaves), NO_MEMORY. */
tacit_status tct_pattern_create(const tacit_factor_panels *P, int leaves,
                                tct_pattern *out);
void tct_pattern_clear(tct_pattern *S);
/* Subtrees to the `processes` of each grid (map.c); else block by block.
 * Errors      NO_MEMORY. */
tacit_status tct_pattern_map(tct_pattern *S, int processes);

static inline int64_t tct_width(const tct_pattern *S, int32_t K)
{
    return S->P.first[K + 1] - S->P.first[K];
}
/* The height of tree node `node` over the leaves. */
int tct_height_of(const tct_pattern *S, int32_t node);
/* The node of grid `z` at `height`. */
static inline int32_t tct_node_at(const tct_pattern *S, int z, int height)
{
    return ((S->leaves + z) >> height) - 1;
}

/* --- grids ---------------------------------------------------------------- */

typedef struct tct_grid {
    int px, py, pz;
    bool flat;      /* all with the owner: no trees                          */
    bool by_height; /* nodes of one height after the other, as [SLV19]; what
                       goes between grids goes panel by panel, as its code does */
} tct_grid;

static inline int tct_rank_at(const tct_grid *g, int x, int y, int z)
{
    return (z * g->px + x) * g->py + y;
}
static inline int tct_grid_size(const tct_grid *g)
{
    return g->px * g->py * g->pz;
}
/* Panel K as its smallest grid has it: that one begins with b, and gives x. */
static inline bool tct_is_first_grid(const tct_pattern *S, int z, int32_t K)
{
    return z % (1 << tct_height_of(S, S->node[K])) == 0;
}

/* The process x Py + y of block (I, K), and that of panel K. */
static inline int32_t tct_block_owner(const tct_pattern *S, const tct_grid *g,
                                      int32_t I, int32_t K)
{
    return S->home && S->home[K] >= 0 ? S->home[K]
                                      : I % g->px * g->py + K % g->py;
}
static inline int32_t tct_panel_owner(const tct_pattern *S, const tct_grid *g,
                                      int32_t K)
{
    return tct_block_owner(S, g, K, K);
}

/* --- groups --------------------------------------------------------------- */

/* Processes of a grid that have blocks of a column, or of a row. */
typedef struct tct_group {
    int count;
    int *member; /* x Py + y, the owner first */
    int *seen;
    int round;
    bool flat;
} tct_group;
tacit_status tct_group_open(const tct_grid *g, tct_group *t);
void tct_group_close(tct_group *t);
/* Column group K. */
void tct_group_of_column(const tct_pattern *S, const tct_grid *g, int32_t K,
                         tct_group *t);
/* Row group I of the columns in tree nodes [2 leaves - 1] that `has`; false:
 * none of these has such a block. */
bool tct_group_of_row(const tct_pattern *S, const tct_grid *g, int32_t I,
                      const bool *has, tct_group *t);
/* The place of process `who`, -1: it is none of them. */
int tct_group_place(const tct_group *t, int who);
/* Above place i; below it are places [first, end). */
static inline int tct_group_above(const tct_group *t, int i)
{
    return i == 0 ? -1 : t->flat ? 0 : (i - 1) / 2;
}
static inline void tct_group_below(const tct_group *t, int i, int *first,
                                   int *end)
{
    *first = t->flat && i == 0 ? 1 : 2 * i + 1;
    *end = t->flat ? (i == 0 ? t->count : *first) : 2 * i + 3;
    if (*first > t->count) *first = t->count;
    if (*end > t->count) *end = t->count;
}

/* --- plan.c: what one rank does ------------------------------------------- */

/* Kinds of step, and the boxes of its messages: one for each kind and
 * height. */
enum { TCT_SWEEP_L, TCT_ADD_UP, TCT_PASS_ON, TCT_SWEEP_U, TCT_STAGE_KINDS };
enum {
    TCT_HEIGHTS = 13, /* log2 TCT_LEAVES_MOST + 1 */
    TCT_TRSV_TAGS = TCT_STAGE_KINDS * TCT_HEIGHTS
};
static inline int tct_tag_of(int kind, int height)
{
    return kind * TCT_HEIGHTS + height;
}

/* What a rank has to do with columns, or with rows, of a sweep. */
typedef struct tct_side {
    int32_t count;
    int32_t *panel;       /* [count] ascending                              */
    int32_t *twin;        /* [count] of the same panel on the other side, where
                             this rank owns it; -1: there is none            */
    int32_t *own;         /* [count] among those that this rank owns; -1     */
    int32_t *above;       /* [count] rank; -1: the owner                     */
    int32_t *below_start; /* [count + 1]                                     */
    int32_t *below;       /* ranks                                           */
    int32_t *block_start; /* [count + 1]                                     */
    int32_t *block;       /* of the sweep's, by number                       */
    int64_t *width;       /* [count + 1] columns of the panels before it     */
} tct_side;

typedef struct tct_sweep {
    int low, high; /* heights of its columns */
    tct_side col, row;
    int32_t blocks;     /* in order of columns, and of rows in each           */
    int32_t *block_col; /* [blocks] of col                                    */
    int32_t *block_row; /* [blocks] of row                                    */
    int32_t *first;     /* [blocks] first row of it, of the rows of its column
                           that this rank has ...                             */
    int32_t *height;    /* [blocks] and how many                              */
    int32_t *source;    /* [blocks] first of its rows within the panel        */
    int64_t *rows;      /* [col.count + 1] rows of the columns before         */
    int32_t *offset;    /* [rows[count]] of each row within its panel I       */
} tct_sweep;

typedef struct tct_stage {
    int kind, height;
    int sweep; /* of L and U */
    int peer;  /* of the others */
    bool sends;
} tct_stage;

typedef struct tct_trsv_plan {
    tct_grid grid;
    int rank, x, y, z;
    int who; /* x Py + y */
    int sweeps;
    tct_sweep *sweep; /* [sweeps] */
    int steps;
    tct_stage step[4 * TCT_HEIGHTS];
    int32_t owns;
    int32_t *own;       /* [owns] panels, ascending                     */
    int64_t *own_width; /* [owns + 1] columns of those before           */
    int8_t *own_height; /* [owns] of their tree nodes                   */
    int64_t in[TCT_TRSV_TAGS], out[TCT_TRSV_TAGS]; /* messages        */
    int64_t out_width[TCT_TRSV_TAGS]; /* columns of panels in those sent */
    int64_t longest; /* columns of panels in a message, at most          */
} tct_trsv_plan;

/* Of rank `rank`. Errors NO_MEMORY. */
tacit_status tct_trsv_plan_create(const tct_pattern *S, const tct_grid *grid,
                                  int rank, tct_trsv_plan *out);
void tct_trsv_plan_clear(tct_trsv_plan *p);
/* From whom p->in come, into `from` [boxes][ranks]. */
void tct_trsv_plan_senders(const tct_trsv_plan *p, int ranks, int32_t *from);

/* --- message-count model.c, grid.c: what all ranks do --------------------- */

enum { TCT_TRSV_PHASES = 3 }; /* L, between grids, U */

typedef struct tct_message_count {
    int64_t messages_sent
        [TCT_TRSV_PHASES];          /* of all ranks                        */
    int64_t width[TCT_TRSV_PHASES]; /* columns of panels in them           */
    int64_t most[TCT_TRSV_PHASES];  /* messages that one rank sends, at most */
    double entries;                 /* of L                                */
    double most_entries;            /* ... of a grid, at most              */
} tct_message_count;

/* `sent` [ranks][3], messages that each sends, may be NULL. Errors
 * NO_MEMORY. */
tacit_status tct_predict_messages(const tct_pattern *S, const tct_grid *grid,
                                  int64_t (*sent)[TCT_TRSV_PHASES],
                                  tct_message_count *out);

/* What `scheme` on `size` ranks comes to; 0s of `extent` [3] are such that
 * fewest messages are predicted for the factor `P`, dealt out as `map` says.
 * Errors      INVALID, NO_MEMORY. */
tacit_status tct_grid_for(const tacit_factor_panels *P,
                          tacit_trsv_scheme scheme, tacit_trsv_map map,
                          const int extent[3], int size, tct_grid *out);
/* ... block by block. */
static inline tacit_status tct_grid_of(const tacit_factor_panels *P,
                                       tacit_trsv_scheme scheme,
                                       const int extent[3], int size,
                                       tct_grid *out)
{
    return tct_grid_for(P, scheme, TACIT_TRSV_CYCLIC, extent, size, out);
}

/* Bytes of `messages` with `width` columns of panels, for `columns` right-hand
 * sides. */
enum { TCT_MESSAGE_HEAD = 2 }; /* doubles: panel, kind, round */
static inline double tct_message_bytes(int64_t messages_sent, int64_t width,
                                       int columns)
{
    return 8.0 * (double)(TCT_MESSAGE_HEAD * messages_sent + width * columns);
}

#endif
