/* SPDX-License-Identifier: BSD-3-Clause
 * factor/factor.h - from a matrix to its factor: entries, order, symbolic,
 * numeric; or entries, order, incomplete.
 *
 * [GL78]  George and Liu, "An automatic nested dissection algorithm for
 *         irregular finite element problems", SIAM J. Numer. Anal. 15 (1978).
 * [Li90]  Liu, "The role of elimination trees in sparse factorization", SIAM J.
 *         Matrix Anal. Appl. 11 (1990).
 * [GNP94] Gilbert, Ng and Peyton, "An efficient algorithm to compute row and
 *         column counts for sparse Cholesky factorization", ibid. 15 (1994).
 * [AG89]  Ashcraft and Grimes, "The influence of relaxed supernode partitions
 *         on the multifrontal method", ACM Trans. Math. Softw. 15 (1989).
 * [DR83]  Duff and Reid, "The multifrontal solution of indefinite sparse
 *         symmetric linear systems", ACM Trans. Math. Softw. 9 (1983).
 * [Li86]  Liu, "On the storage requirement in the out-of-core multifrontal
 *         method for sparse factorization", ibid. 12 (1986).
 * [MV77]  Meijerink and van der Vorst, "An iterative solution method for linear
 *         systems of which the coefficient matrix is a symmetric M-matrix",
 *         Math. Comp. 31 (1977).
 * [LSC03] Li, Saad and Chow, "Crout versions of ILU for general sparse
 * matrices",
 *         SIAM J. Sci. Comput. 25 (2003).
 * [BP71]  Bunch and Parlett, "Direct methods for solving symmetric indefinite
 *         systems of linear equations", SIAM J. Numer. Anal. 8 (1971).
 * [OP64]  Oettli and Prager, "Compatibility of approximate solution of linear
 *         equations with given error bounds for coefficients and right-hand
 *         sides", Numer. Math. 6 (1964). */
#ifndef TCT_FACTOR_FACTOR_H
#define TCT_FACTOR_FACTOR_H
#include "factor/matching.h"
#include "factor/sweeps.h"
#include "graph/order.h"
#include "sparse/csr.h"
#include <stdatomic.h>
#include <tacit/factor.h>

enum { TCT_LEAVES_MOST = 4096, TCT_WIDTH_USUAL = 128 };
enum {
    TCT_COLOUR_BLOCK_MOST = 6
}; /* nodes with the same neighbours, coloured as one */
enum {
    TCT_ROWS_MANY = 1000000
}; /* rows whose ordering time is worth a message */

/* --- entries.c ------------------------------------------------------------ */

/* A symmetric pattern; entry k, in row i and column j, has both a_ij and
 * a_ji. */
typedef struct tct_entries {
    int64_t rows;
    const int64_t *ptr;   /* [rows + 1] */
    const int32_t *col;   /* [ptr[rows]] */
    const double *value;  /* [ptr[rows]] a_ij */
    const double *mirror; /* [ptr[rows]] a_ji */
    int64_t added;        /* entries of the pattern with value zero in A */
    int exponent;         /* values are scaled by 2^-exponent */
    void *own[4];         /* owned arrays */
} tct_entries;

/* From `A`, square, on one rank, with columns of 32 bits; borrowed if
 * `symmetric`.
 * Errors      NO_MEMORY. */
tacit_status tct_entries_open(const tct_csr *A, bool symmetric,
                              tct_entries *out);
/* From 2^-exponent `A`, its rows in the order of `match` and scaled by it.
 * Errors      NO_MEMORY. */
tacit_status tct_entries_matched(const tct_csr *A, int exponent,
                                 const tct_matching *match, tct_entries *out);
/* Scale the values by 2^-exponent; borrowed values are copied first.
 * Errors      NO_MEMORY. */
tacit_status tct_entries_scale(tct_entries *E, int exponent);
void tct_entries_close(tct_entries *E);

/* --- order.c -------------------------------------------------------------- */

/* A row permutation: rows of a tree node are contiguous, children precede
 * parents. The k-th tree node is heap node `node[k]` with rows [start[k],
 * start[k + 1]). */
typedef struct tct_nesting {
    int leaves;
    int32_t *old;   /* [nodes of graph] new row k was old[k] */
    int32_t *now;   /* [nodes of graph] the inverse                  */
    int64_t *start; /* [2 leaves]                                    */
    int32_t *node;  /* [2 leaves - 1]                                */
} tct_nesting;

/* Nested dissection [GL78] of `g`, which has both directions of each edge.
 * Errors      NO_MEMORY, UNSUPPORTED (more edges than METIS's integers). */
tacit_status tct_nesting_create(const tct_graph *g, int leaves,
                                tct_nesting *out);
void tct_nesting_clear(tct_nesting *x);
/* The status of METIS's return code. */
tacit_status tct_metis_status(int code);

/* The orders of tacit_factor_create. */
typedef enum tct_rows_order {
    TCT_ORDER_ND,
    TCT_ORDER_TOP_ND,
    TCT_ORDER_NATURAL,
    TCT_ORDER_MULTICOLOR,
    TCT_ORDERS
} tct_rows_order;
extern const char *const tct_rows_orders[TCT_ORDERS];

/* The order named `name`; NULL and "auto" mean `otherwise`.
 * Errors      INVALID (with the nearest name). */
tacit_status tct_rows_order_find(const char *name, tct_rows_order otherwise,
                                 tct_rows_order *out);
/* Order the rows of `g`; `leaves` as in tacit_factor_options, 0: 1.
 * Errors      as tct_nesting_create. */
tacit_status tct_nesting_by(const tct_graph *g, tct_rows_order order,
                            int leaves, tct_nesting *out);
/* INVALID, unless `leaves` is 0 or an allowed power of two. */
tacit_status tct_check_leaves(int leaves);

/* Is tree node `above` an ancestor of `node`, or `node` itself? */
static inline bool tct_node_is_above(int32_t above, int32_t node)
{
    while (node > above) node = (node - 1) / 2;
    return node == above;
}

/* --- top.c ---------------------------------------------------------------- */

/* Distribute the rows of `g` to tree nodes, in their order within each; fills
 * `old`, `start` and `node` of `x`, which are allocated, for x->leaves leaves.
 * Errors      NO_MEMORY. */
tacit_status tct_nesting_top(const tct_graph *g, tct_nesting *x);
/* Do rows i and j have the same neighbours, themselves included? */
bool tct_rows_are_alike(const tct_graph *g, int64_t i, int64_t j);

/* --- estimate.c ----------------------------------------------------------- */

/* Before the ordering, which can take minutes: fails if memory is too small for
 * a factor of `g` in any order. For many rows in METIS's order, logs the
 * estimated need.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_predict(const tct_graph *g, tacit_factor_kind kind,
                                tct_rows_order order);
/* Estimate the entries of L in METIS's order from `sample` rows.
 * Errors      as tct_nesting_create. */
tacit_status tct_factor_estimate(const tct_graph *g, int64_t sample,
                                 double *entries);
/* NO_MEMORY, with the alternatives: a factor of `rows` and `entries` of the
 * matrix needs `bytes`; `why` gives details. */
tacit_status tct_factor_refuse(double bytes, double rows, double entries,
                               const char *why);

/* --- symbolic.c ----------------------------------------------------------- */

/* The supernodes of L. Front f has the columns [first[f], first[f + 1]), all
 * full, and the rows below[start[f]] to below[start[f + 1] - 1] below them. */
typedef struct tct_fronts {
    int64_t rows;
    int32_t count;
    int64_t *first;  /* [count + 1]                                          */
    int32_t *parent; /* [count] front of the first row below, -1: none       */
    int32_t *node;   /* [count] tree node                                    */
    int64_t *start;  /* [count + 1]                                          */
    int32_t *below;  /* [start[count]] ascending                             */
    int32_t *postorder; /* [count] a post-order: the children of a front come
                       * directly before it */
    int32_t *depth;   /* [count] of a front; a root has 0                     */
    int64_t nonzeros; /* of L, amalgamation zeros excluded                   */
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

/* The fronts of the factor of `g` in the order of `x`, which is post-ordered
 * within tree nodes.
 * Errors      NO_MEMORY. */
tacit_status tct_fronts_create(const tct_graph *g, tct_nesting *x,
                               tct_fronts *out);
void tct_fronts_clear(tct_fronts *F);
/* Sort the rows below each front.
 * Errors      NO_MEMORY. */
tacit_status tct_fronts_sort(tct_fronts *F);

/* Is merging worth `zeros` zeros among the `stored` values of `width`
 * columns? */
bool tct_is_worth_merging(int64_t width, double zeros, double stored);

/* --- factor.c, numeric.c -------------------------------------------------- */

struct tacit_factor {
    tacit_factor_panels panels; /* with these arrays:                        */
    tct_nesting order;
    int64_t *first, *row_start, *value_start;
    int32_t *parent, *row, *node;
    double *value, *upper, *diagonal, *off_diagonal;
    double *inverse; /* [rows] inverse pivots if each row is a panel, with
                      * values stored by row; else NULL */
    bool in_place;   /* rows are not permuted                                */
    int32_t *panel;  /* [fronts + 1] first panel of each                     */
    int64_t most;    /* most rows below a panel's columns                    */
    int exponent;    /* the matrix is scaled by 2^-exponent                  */
    tct_matching match; /* of rows and columns, or no arrays                 */
    double least_pivot; /* smaller ones get this size; 0: they are errors    */
    double weakness;    /* the largest multiplier, and the row of its pivot, */
    int64_t weak_row;   /* from 1; of kinds LDLT and LU                      */
    tct_entries system; /* the matched matrix, owned                         */
    bool trial;         /* of pivots: see matched.c                          */
    int32_t *trial_row, *trial_col; /* [rows] the row and column that pivoting
                                     * brings to each place               */
    const struct tct_pairs *pairs;  /* while pivots of 2 x 2 are sought, else
                                    * NULL; borrowed */
    int32_t *number;  /* [rows] ... the column that is at each place         */
    int64_t left_out; /* of a trial: columns without a pivot, which now are
                       * elsewhere                                          */
    int32_t *b_row;   /* [rows] if matched: row of b of each row, and ...  */
    double *b_scale, *x_scale; /* ... its scales                             */
    tct_branches branches;     /* of an exact factor */
    struct tct_lent_team
        *lent; /* for tacit_factor_solve; NULL: single-threaded */
    tacit_factor_info info;
};

/* Does the kind store U' separately from L? */
static inline bool tct_has_upper(tacit_factor_kind kind)
{
    return kind == TACIT_FACTOR_LU || kind == TACIT_FACTOR_ILU0;
}
static inline bool tct_is_incomplete(tacit_factor_kind kind)
{
    return kind == TACIT_FACTOR_IC0 || kind == TACIT_FACTOR_ILU0;
}
/* Returns `status`; INPUT then has the sentences of both attempts, `why` and the
 * last one. */
tacit_status tct_factor_tell_both(tacit_status status, const char *why);
/* tacit_factor_create for 2^-exponent `matrix`; reported pivots are those of
 * `matrix`. Unless `may_pair`, kind LDLT has no pivots of 2 x 2, which GPUs do
 * not solve with. */
tacit_status tct_factor_create_near(const tacit_matrix *matrix, int exponent,
                                    const tacit_factor_options *options,
                                    bool may_pair, tacit_factor **out);
/* The same with pivots from the start: of 2 x 2 where `kind` is LDLT and may have
 * them, else L U. `why` begins the note of it. */
tacit_status tct_factor_create_pivoted(const tacit_matrix *matrix, int exponent,
                                       const tacit_factor_options *options,
                                       bool may_pair, const char *why,
                                       tacit_factor **out);
/* A pivot, or a sum of its terms, scaled back to the given matrix. */
double tct_as_given(const tacit_factor *L, double value);
/* "lu" */
const char *tct_factor_kind_name(tacit_factor_kind kind);
/* Check the caller's options (NULL: defaults).
 * Errors      INVALID. */
tacit_status tct_factor_options_read(const tacit_factor_options *given,
                                     tacit_factor_options *out);
/* Make the panels of fronts `F`, at most `width` columns wide (0: default), of
 * kind L->panels.kind, and the info; then their rows, after a memory check. */
tacit_status tct_factor_outline(tacit_factor *L, const tct_fronts *F,
                                int width);
tacit_status tct_factor_list_rows(tacit_factor *L, const tct_fronts *F);
/* Point `panels` to the arrays of L. */
void tct_factor_show(tacit_factor *L);
/* Then make the branches of an exact factor, for the threads of parallel loops
 * (device/parallel.h).
 * Errors      NO_MEMORY. */
tacit_status tct_factor_branch(tacit_factor *L);

/* Check that `own` bytes for the factor of `A`, and `more` during its creation,
 * are free.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_require_memory(const tacit_factor *L,
                                       const tct_entries *A, double own,
                                       double more);
/* Compute the values of L from `A`, after a memory check.
 * Errors      INPUT (a failed pivot), NO_MEMORY. */
tacit_status tct_factor_numeric(tacit_factor *L, const tct_fronts *F,
                                const tct_entries *A);

/* --- matched.c, create.c -------------------------------------------------- */

/* The rows of a factor of a matched matrix, moved into it. */
typedef struct tct_factor_rows {
    tct_matching match;
    tct_nesting order; /* no arrays: to be found */
    bool exchanges;    /* a trial: rows are exchanged within panels */
    const struct tct_pairs *pairs; /* of kind LDLT; borrowed */
    int trials;                    /* before it */
} tct_factor_rows;

/* Make a factor of the requested kind; logs an unsymmetric pattern. `rows` NULL:
 * as they are. A trial that has changes has no use but for its order and matching.
 * Errors      as tacit_factor_create. */
tacit_status tct_factor_make(const tct_entries *A,
                             const tacit_factor_options *o,
                             tct_factor_rows *rows, tacit_factor **out);
/* L U of 2^-exponent `A`, with its rows matched to large diagonal entries and
 * exchanged within panels.
 * Errors      as tacit_factor_create. */
tacit_status tct_factor_make_matched(const tct_csr *A, int exponent,
                                     const tacit_factor_options *o,
                                     tacit_factor **out);
void tct_factor_take_rows(tacit_factor *L, tct_factor_rows *rows);
/* Room and places of a matched factor, in the new order.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_open_matched(tacit_factor *L, const tct_entries *A);
/* Find the rows and scales of b and x again, in another order. */
void tct_factor_place_rows(tacit_factor *L);
/* Solve a test system, into the info.
 * Errors      INPUT (it has no solution), NO_MEMORY. */
tacit_status tct_factor_judge_matched(tacit_factor *L, const tct_entries *A);
/* After a trial: take its row order, and put columns that it left out into the
 * next front. L->trial remains true if there are any changes.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_learn(tacit_factor *L, const tct_fronts *F);

/* --- paired.c ------------------------------------------------------------- */

/* L D L' of 2^-exponent `A`, scaled, with pivots of 1 x 1 and 2 x 2 from the rows
 * of each panel.
 * Errors      as tacit_factor_create. */
tacit_status tct_factor_make_paired(const tct_csr *A, int exponent,
                                    const tacit_factor_options *o,
                                    tacit_factor **out);
/* Nothing without L->pairs: before panels are cut, put pairs first in fronts;
 * before elimination, make room for the pivots' order and blocks; after it, take
 * their order.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_open_pairs(tacit_factor *L, tct_fronts *F);
tacit_status tct_factor_open_pivots(tacit_factor *L);
tacit_status tct_factor_take_pivots(tacit_factor *L);
/* Count the signs of pivots into the info: kinds LLT and LDLT. */
void tct_factor_count_signs(tacit_factor *L);

/* --- refined.c ------------------------------------------------------------ */

/* A solve with a matched factor L, in its scaled system. */
typedef struct tct_refinement {
    tacit_factor scaled; /* L without its row order and scales          */
    double *v;           /* [5 rows] b, x, and scratch                   */
    double *scratch;
    double first, error; /* componentwise backward errors [OP64] of the first
                          * x and of the last                           */
    double norm;         /* largest |b - A x| over largest |A| |x| + |b| */
    int steps;           /* the first solve included                    */
} tct_refinement;
tacit_status tct_refinement_open(const tacit_factor *L, tct_refinement *R);
void tct_refinement_close(tct_refinement *R);
/* Solve A x = b, `A` of L's matrix, until the error is rounding or stops
 * falling. */
void tct_refine(tct_refinement *R, tct_team *team, const tct_entries *A);
/* As tacit_factor_solve. */
tacit_status tct_factor_solve_refined(const tacit_factor *L, tct_team *team,
                                      int columns, const double *B, size_t ldb,
                                      double *X, size_t ldx);

/* --- pivots.c ------------------------------------------------------------- */

/* Least pivot relative to the sum of its terms' magnitudes. */
#define TCT_PIVOT_LEAST 1e-13
#define TCT_PIVOT_SMALL 1e-8
/* A test solve that leaves more is warned of, and asks for other pivots. */
#define TCT_BACKWARD_SMALL 1e-10
/* Of a matched matrix, whose entries are 1 at most: the size of repaired pivots,
 * and the least one that a trial takes. */
#define TCT_PIVOT_REPAIRED 0x1p-40
#define TCT_PIVOT_TAKEN    0x1p-26

/* Measure the loss of accuracy of kinds LDLT and LU into `info`.
 * Errors      INPUT, NO_MEMORY. */
tacit_status tct_factor_weigh(tacit_factor *L, const tct_entries *A);
/* Warn of that loss, which a solve without refinement has. */
void tct_factor_warn(const tacit_factor *L);
/* Keep the least ratio of a pivot to its terms in the info, for kind LU.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_note_pivots(tacit_factor *L);
/* For kind LLT: does each pivot exceed rounding errors of the diagonal?
 * Errors      INPUT. */
tacit_status tct_check_definite(const tacit_factor *L, const tct_entries *A);
/* Refuse the pivot of row `row`, in new numbers, of kind LLT: it is rounding of
 * the diagonal, or the matrix is not positive definite. */
tacit_status tct_refuse_indefinite(const tacit_factor *L, const tct_entries *A,
                                   int64_t row, double pivot);
/* Are the pivot and its inverse finite? */
bool tct_divides(double pivot);
/* For a pivot of row `row`, in new numbers, from terms of total magnitude
 * `weight`: fail with the reason; or keep the least ratio in `info`; then warn
 * of it. */
tacit_status tct_refuse_pivot(const tacit_factor *L, int64_t row, double pivot,
                              double weight);
void tct_note_pivot(tacit_factor *L, int64_t row, double pivot, double weight);
void tct_warn_of_pivots(const tacit_factor *L);

/* --- incomplete.c --------------------------------------------------------- */

/* Create a factor of kind IC0 or ILU0, as tacit_factor_create; `*failed`,
 * unless NULL, is the row of A with a failed pivot, or -1.
 * Errors      INPUT, NO_MEMORY, UNSUPPORTED. */
tacit_status tct_incomplete_create(const tct_entries *A, tacit_factor_kind kind,
                                   const char *order, int leaves,
                                   tacit_factor **out, int64_t *failed);

/* --- solve.c -------------------------------------------------------------- */

enum { TCT_SOLVE_COLUMNS = 64 }; /* per block */

/* Scratch doubles of tct_factor_apply for `columns` and a team of `threads`,
 * both upper bounds. */
size_t tct_factor_scratch(const tacit_factor *L, int columns, int threads);
/* Row k of a factor is row b[k] of B and x[k] of X. */
typedef struct tct_places {
    const int32_t *b, *x; /* [rows] */
} tct_places;
/* As tacit_factor_solve, on the threads of `team` (NULL: the caller), and with
 * these places (NULL: of the original rows). */
void tct_factor_apply(const tacit_factor *L, tct_team *team,
                      const tct_places *place, int columns, const double *B,
                      size_t ldb, double *X, size_t ldx, double *scratch);

/* Threads of this process, lent to one solve at a time. */
typedef struct tct_lent_team {
    atomic_bool taken;
    atomic_int threads; /* including the caller */
} tct_lent_team;
tacit_status tct_lent_team_create(int threads, tct_lent_team **out);
void tct_lent_team_destroy(tct_lent_team **lent);
/* Threads of a team that may be taken, at most. */
int tct_lent_threads(tct_lent_team *c);
/* False: no other threads, or lent to another solve. */
bool tct_lent_team_take(tct_lent_team *c, tct_team **team);
void tct_lent_team_leave(tct_lent_team *c, tct_team **team);

#endif
