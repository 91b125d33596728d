/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor.h - from a matrix to its factor: order, symbolic, numeric.
 *
 * [GL78]  George and Liu, "An automatic nested dissection algorithm for irregular
 *         finite element problems", SIAM J. Numer. Anal. 15 (1978).
 * [Li90]  Liu, "The role of elimination trees in sparse factorization", SIAM J.
 *         Matrix Anal. Appl. 11 (1990).
 * [GNP94] Gilbert, Ng and Peyton, "An efficient algorithm to compute row and
 *         column counts for sparse Cholesky factorization", ibid. 15 (1994).
 * [AG89]  Ashcraft and Grimes, "The influence of relaxed supernode partitions on
 *         the multifrontal method", ACM Trans. Math. Softw. 15 (1989).
 * [DR83]  Duff and Reid, "The multifrontal solution of indefinite sparse symmetric
 *         linear systems", ACM Trans. Math. Softw. 9 (1983).
 * [Li86]  Liu, "On the storage requirement in the out-of-core multifrontal method
 *         for sparse factorization", ibid. 12 (1986). */
#ifndef TCT_FACTOR_H
#define TCT_FACTOR_H
#include "matrix/csr.h"
#include "matrix/order.h"
#include <tacit/factor.h>

enum { TCT_LEAVES_MOST = 4096, TCT_WIDTH_USUAL = 128 };

/* --- order.c -------------------------------------------------------------- */

/* Rows numbered anew: those of a tree node follow one another, children before
 * their parent. Number k is heap node `node[k]`, rows [start[k], start[k + 1]). */
typedef struct tct_nesting {
    int leaves;
    int32_t *old;   /* [nodes of the graph] new row k was row old[k] */
    int32_t *now;   /* [nodes of the graph] the other way round      */
    int64_t *start; /* [2 leaves]                                    */
    int32_t *node;  /* [2 leaves - 1]                                */
} tct_nesting;

/* By nested dissection [GL78] of `g`, whose edges go both ways.
 * Errors      NO_MEMORY, UNSUPPORTED (more edges than this METIS counts). */
tacit_status tct_nesting_create(const tct_graph *g, int leaves,
                                tct_nesting *out);
void tct_nesting_clear(tct_nesting *x);

/* Is tree node `above` `node` or one of those above it? */
static inline bool tct_node_is_above(int32_t above, int32_t node)
{
    while (node > above) node = (node - 1) / 2;
    return node == above;
}

/* --- symbolic.c ------------------------------------------------------------ */

/* The supernodes of L. Front f has columns [first[f], first[f + 1]), all full, and
 * below them rows below[start[f]] to below[start[f + 1] - 1]. */
typedef struct tct_fronts {
    int64_t rows;
    int32_t count;
    int64_t *first;   /* [count + 1]                                          */
    int32_t *parent;  /* [count] that of the first row below, -1: none        */
    int32_t *node;    /* [count] tree node                                    */
    int64_t *start;   /* [count + 1]                                          */
    int32_t *below;   /* [start[count]] ascending                             */
    int32_t *turn;    /* [count] fronts in an order in which the children of
                        each come right before it, the last one nearest      */
    int32_t *depth;   /* [count] of a front; a root has 0                     */
    int64_t nonzeros; /* of L, without the zeros of amalgamation             */
} tct_fronts;

static inline int64_t tct_front_width(const tct_fronts *F, int32_t f)
{
    return F->first[f + 1] - F->first[f];
}
static inline int64_t tct_front_below(const tct_fronts *F, int32_t f)
{
    return F->start[f + 1] - F->start[f];
}
/* Flops to eliminate the columns of front `f`. */
double tct_front_flops(const tct_fronts *F, int32_t f);

/* Of the factor of `g`, in the order of `x`, which gets post-ordered within its
 * tree nodes.
 * Errors      NO_MEMORY. */
tacit_status tct_fronts_create(const tct_graph *g, tct_nesting *x,
                               tct_fronts *out);
void tct_fronts_clear(tct_fronts *F);

/* Merge supernodes, for `zeros` among the `stored` values of so many columns? */
bool tct_is_worth_merging(int64_t width, double zeros, double stored);

/* --- factor.c, numeric.c --------------------------------------------------- */

struct tacit_factor {
    tacit_factor_panels panels; /* whose arrays these are:                   */
    tct_nesting order;
    int64_t *first, *row_start, *value_start;
    int32_t *parent, *row, *node;
    double *value, *upper, *diagonal;
    int32_t *panel; /* [fronts + 1] the first panel of each front            */
    int64_t most;   /* rows below the columns of a panel, at most            */
    tacit_factor_info info;
};

/* Has the kind values of U' beside those of L? */
static inline bool tct_has_upper(tacit_factor_kind kind)
{
    return kind == TACIT_FACTOR_LU || kind == TACIT_FACTOR_ILU0;
}
/* What the caller chose (NULL: the defaults), checked.
 * Errors      INVALID. */
tacit_status tct_factor_options_read(const tacit_factor_options *given,
                                     tacit_factor_options *out);
/* The panels of fronts `F`, of at most `width` columns (0: the usual), and what is
 * known of them, of kind L->panels.kind. */
tacit_status tct_factor_frame(tacit_factor *L, const tct_fronts *F, int width);
/* `panels` of what L has. */
void tct_factor_show(tacit_factor *L);

/* The values of L, of rows `A`; memory for them is foreseen first.
 * Errors      INPUT (a pivot that is not positive), NO_MEMORY. */
tacit_status tct_factor_numeric(tacit_factor *L, const tct_fronts *F,
                                const tct_csr *A);

/* --- solve.c --------------------------------------------------------------- */

enum { TCT_SOLVE_COLUMNS = 64 }; /* at once */

/* Doubles that tct_factor_apply needs for `columns`, of at most so many. */
size_t tct_factor_scratch(const tacit_factor *L, int columns);
/* As tacit_factor_solve, row k of the factor being row `place[k]` of B and X. */
void tct_factor_apply(const tacit_factor *L, const int32_t *place, int columns,
                      const double *B, size_t ldb, double *X, size_t ldx,
                      double *scratch);

#endif
