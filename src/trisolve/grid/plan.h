/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/plan.h - the work and messages of each rank in triangular
 * solves on a grid of Px x Py x Pz processes. Computed from the factor's
 * pattern for any rank of any grid, also hypothetical ones.
 *
 * [LG23]  Liu et al., "Unified communication optimization strategies for sparse
 *         triangular solver on CPU and GPU clusters", SC '23.
 * [LJLG18] Liu et al., "Highly scalable distributed-memory sparse triangular
 *         solution algorithms", SIAM CSC 2018: trees.
 * [SLV19] Sao et al., "A communication-avoiding 3D sparse triangular solver",
 *         ICS '19.
 *
 * Grid z has leaf z of the tree and the nodes above it. Block (I, K), the rows
 * of panel I in panel K, belongs in each such grid to process (I mod Px, K mod
 * Py); if subtrees are mapped, column K may belong to one process. The process
 * of block (K, K) is the owner of panel K.
 *
 * A sweep solves with L or U for the columns of one grid in some of its nodes.
 * Column group K is the processes that have blocks (I, K); row group I is those
 * that have blocks (I, K) of any K; owners come first. With L, the owner sends
 * y_K to its column group; each member subtracts L(I, K) y_K from a sum for row
 * I, and the row group reduces its sums to the owner of I. With U = L', the
 * owner sends x_I to its row group; each member subtracts L(I, K)' x_I from a
 * sum for column K, and the column group reduces. So both use the same groups.
 * Groups communicate along binary trees whose inner nodes vary with K, or
 * directly with the owner. */
#ifndef TCT_TRISOLVE_GRID_PLAN_H
#define TCT_TRISOLVE_GRID_PLAN_H
#include "factor/factor.h"
#include <tacit/trsv.h>

/* --- pattern.c: the blocks of a factor ------------------------------------ */

/* Tree nodes are those of the top Pz leaves; deeper nodes count as their
 * leaf. */
typedef struct tct_pattern {
    tacit_factor_panels P; /* borrowed; values may be NULL                  */
    int leaves, heights;   /* Pz, log2 Pz + 1                               */
    int32_t *node;         /* [panels] its tree node                        */
    int32_t *member;       /* [panels] panels by tree node, ascending */
    int32_t *member_start; /* [2 leaves]                                    */
    int64_t *start;        /* [panels + 1] blocks below the diagonal of each */
    int32_t *row;          /* [blocks] panel I, ascending in a column */
    int32_t *col;          /* [blocks] panel K */
    int32_t *first;        /* [blocks] first row within panel K */
    int32_t *end;          /* [blocks] end of its rows */
    int64_t *row_start;    /* [panels + 1] blocks of each row ...           */
    int64_t *in_row;       /* [blocks] ... by number, columns ascending     */
    int32_t *column_owner; /* [panels] process x Py + y that has the whole
                            * column; -1: by blocks; NULL: all by blocks */
} tct_pattern;

/* The pattern of `P`, which has been checked, for `leaves` grids.
 * Errors    INVALID (more grids than leaves), NO_MEMORY. */
tacit_status tct_pattern_create(const tacit_factor_panels *P, int leaves,
                                tct_pattern *out);
void tct_pattern_clear(tct_pattern *S);
/* Map subtrees to the `processes` of each grid (map.c); otherwise columns are
 * distributed by blocks.
 * Errors    NO_MEMORY. */
tacit_status tct_pattern_map(tct_pattern *S, int processes);

static inline int64_t tct_width(const tct_pattern *S, int32_t K)
{
    return S->P.first[K + 1] - S->P.first[K];
}
/* The height of tree node `node` over the leaves. */
static inline int tct_height_of(const tct_pattern *S, int32_t node)
{
    int depth = 0;
    for (; node > 0; node = (node - 1) / 2) depth++;
    return S->heights - 1 - depth;
}
/* The node of grid `z` at `height`. */
static inline int32_t tct_node_at(const tct_pattern *S, int z, int height)
{
    return ((S->leaves + z) >> height) - 1;
}

/* --- grids ---------------------------------------------------------------- */

typedef struct tct_grid {
    int px, py, pz;
    bool flat;      /* direct messages with the owner, no trees */
    bool by_height; /* nodes by height, and messages between grids by panel, as
                     * [SLV19] and its code */
} tct_grid;

static inline int tct_rank_at(const tct_grid *g, int x, int y, int z)
{
    return (z * g->px + x) * g->py + y;
}
static inline int tct_grid_size(const tct_grid *g)
{
    return g->px * g->py * g->pz;
}
/* Grid z is the first that has panel K: it reads b and writes x. */
static inline bool tct_is_first_grid(const tct_pattern *S, int z, int32_t K)
{
    return z % (1 << tct_height_of(S, S->node[K])) == 0;
}

/* The process x Py + y of block (I, K), and the owner of panel K. */
static inline int32_t tct_block_owner(const tct_pattern *S, const tct_grid *g,
                                      int32_t I, int32_t K)
{
    return S->column_owner && S->column_owner[K] >= 0
               ? S->column_owner[K]
               : I % g->px * g->py + K % g->py;
}
static inline int32_t tct_panel_owner(const tct_pattern *S, const tct_grid *g,
                                      int32_t K)
{
    return tct_block_owner(S, g, K, K);
}

/* --- groups --------------------------------------------------------------- */

/* The processes of a grid that have blocks of a column or a row. */
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
/* Row group I of the columns in tree nodes with `has` [2 leaves - 1]; false: no
 * such column has a block in row I. */
bool tct_group_of_row(const tct_pattern *S, const tct_grid *g, int32_t I,
                      const bool *has, tct_group *t);
/* The place of a process; -1: not a member. */
int tct_group_place(const tct_group *t, int process);
/* The place above place i; the places below it are [first, end). */
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

/* --- plan_create.c: what one rank does ------------------------------------ */

/* Kinds of step. Messages have one tag for each kind and height. */
enum { TCT_SWEEP_L, TCT_ADD_UP, TCT_PASS_ON, TCT_SWEEP_U, TCT_STAGE_KINDS };
enum {
    TCT_HEIGHTS = 13, /* log2 TCT_LEAVES_MOST + 1 */
    TCT_TRSV_TAGS = TCT_STAGE_KINDS * TCT_HEIGHTS
};
static inline int tct_tag_of(int kind, int height)
{
    return kind * TCT_HEIGHTS + height;
}

/* The columns or the rows of a sweep, as seen by a rank. */
typedef struct tct_side {
    int32_t count;
    int32_t *panel;       /* [count] ascending                              */
    int32_t *twin;        /* [count] entry of the same panel on the other side,
                           * if this rank owns it; -1: none */
    int32_t *own;         /* [count] number among the rank's own panels; -1: not
                           * own */
    int32_t *above;       /* [count] rank above; -1: this one is the owner */
    int32_t *below_start; /* [count + 1]                                     */
    int32_t *below;       /* ranks                                           */
    int32_t *block_start; /* [count + 1]                                     */
    int32_t *block;       /* numbers of blocks */
    int64_t *width;       /* [count + 1] offsets in columns */
} tct_side;

typedef struct tct_sweep {
    int low, high; /* heights of its columns */
    tct_side col, row;
    int32_t blocks;     /* by column, then row */
    int32_t *block_col; /* [blocks] of col                                    */
    int32_t *block_row; /* [blocks] of row                                    */
    int32_t *first;     /* [blocks] first row, among this rank's rows of the
                         * column */
    int32_t *height;    /* [blocks] number of rows */
    int32_t *source;    /* [blocks] first row within the panel */
    int64_t *rows;      /* [col.count + 1] offsets of the columns' rows */
    int32_t *offset;    /* [rows[count]] of each row within panel I */
} tct_sweep;

typedef struct tct_stage {
    int kind, height;
    int sweep; /* L, U */
    int peer;  /* between grids */
    bool sends;
} tct_stage;

typedef struct tct_trsv_plan {
    tct_grid grid;
    int rank, x, y, z;
    int process; /* x Py + y */
    int sweeps;
    tct_sweep *sweep; /* [sweeps] */
    int steps;
    tct_stage step[4 * TCT_HEIGHTS];
    int32_t owns;
    int32_t *own;       /* [owns] panels, ascending                     */
    int64_t *own_width; /* [owns + 1] offsets in columns */
    int8_t *own_height; /* [owns] heights of tree nodes */
    int64_t in[TCT_TRSV_TAGS], out[TCT_TRSV_TAGS]; /* messages        */
    int64_t out_width[TCT_TRSV_TAGS]; /* columns of panels in sent messages */
    int64_t longest; /* columns of panels in the longest message */
} tct_trsv_plan;

/* Create the plan of `rank`. Errors NO_MEMORY. */
tacit_status tct_trsv_plan_create(const tct_pattern *S, const tct_grid *grid,
                                  int rank, tct_trsv_plan *out);
void tct_trsv_plan_clear(tct_trsv_plan *p);
/* Count p->in by sender, into `from` [tags][ranks]. */
void tct_trsv_plan_senders(const tct_trsv_plan *p, int ranks, int32_t *from);

/* --- message_count.c, grid.c: all ranks ----------------------------------- */

enum { TCT_TRSV_PHASES = 3 }; /* L, between grids, U */

typedef struct tct_message_count {
    int64_t messages_sent
        [TCT_TRSV_PHASES];          /* of all ranks                        */
    int64_t width[TCT_TRSV_PHASES]; /* columns of panels in them           */
    int64_t most[TCT_TRSV_PHASES];  /* messages sent by one rank, at most */
    double entries;                 /* of L                                */
    double most_entries;            /* ... of one grid, at most */
} tct_message_count;

/* Count messages; `sent` [ranks][3], those of each rank, may be NULL. Errors
 * NO_MEMORY. */
tacit_status tct_predict_messages(const tct_pattern *S, const tct_grid *grid,
                                  int64_t (*sent)[TCT_TRSV_PHASES],
                                  tct_message_count *out);

/* The grid of `scheme` on `size` ranks. Zeros in `extent` [3] are chosen for
 * the fewest predicted messages of the factor `P`, distributed by `map`.
 * Errors    INVALID, NO_MEMORY. */
tacit_status tct_grid_for(const tacit_factor_panels *P,
                          tacit_trsv_scheme scheme, tacit_trsv_map map,
                          const int extent[3], int size, tct_grid *out);

/* Bytes of messages with `width` columns of panels, for `columns` right-hand
 * sides. */
enum { TCT_MESSAGE_HEAD = 2 }; /* doubles: panel, kind, round */
static inline double tct_message_bytes(int64_t messages_sent, int64_t width,
                                       int columns)
{
    return 8.0 * (double)(TCT_MESSAGE_HEAD * messages_sent + width * columns);
}

#endif
