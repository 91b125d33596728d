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
 * [OP64]  Oettli and Prager, "Compatibility of approximate solution of linear
 *         equations with given error bounds for coefficients and right-hand
 *         sides", Numer. Math. 6 (1964). */
#ifndef TCT_FACTOR_FACTOR_H
#define TCT_FACTOR_FACTOR_H
#include "factor/sweeps.h"
#include "graph/order.h"
#include "sparse/csr.h"
#include <stdatomic.h>
#include <tacit/factor.h>

enum { TCT_LEAVES_MOST = 4096, TCT_WIDTH_USUAL = 128 };
enum {
    TCT_COLOUR_BLOCK_MOST = 6
}; /* rows with the same neighbours, coloured as one */
enum {
    TCT_ROWS_MANY = 1000000
}; /* to order them takes long enough to be told */

/* --- entries.c ------------------------------------------------------------ */

/* What a factor is made of: a pattern that is symmetric, and for entry k, in
 * row i and column j, a_ij and a_ji. */
typedef struct tct_entries {
    int64_t rows;
    const int64_t *ptr;   /* [rows + 1] */
    const int32_t *col;   /* [ptr[rows]] */
    const double *here;   /* [ptr[rows]] a_ij */
    const double *across; /* [ptr[rows]] a_ji */
    int64_t added;        /* of the pattern alone: zeros */
    int exponent;         /* these are the matrix's times 2^-exponent */
    void *own[4];         /* arrays that are not the matrix's */
} tct_entries;

/* Of `A`, which is square and on one rank, with columns of 32 bits, and is
 * borrowed where it is `symmetric`.
 * Errors      NO_MEMORY. */
tacit_status tct_entries_open(const tct_csr *A, bool symmetric,
                              tct_entries *out);
/* Multiply them by 2^-exponent; those that are borrowed become own ones.
 * Errors      NO_MEMORY. */
tacit_status tct_entries_scale(tct_entries *E, int exponent);
void tct_entries_close(tct_entries *E);

/* --- order.c -------------------------------------------------------------- */

/* Rows numbered anew: those of a tree node follow one another, children before
 * their parent. Number k is heap node `node[k]`, rows [start[k], start[k +
 * 1]). */
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
/* An error, if METIS returned one. */
tacit_status tct_metis_status(int met);

/* The orders of tacit_factor_create. */
typedef enum tct_rows_order {
    TCT_ORDER_ND,
    TCT_ORDER_TOP_ND,
    TCT_ORDER_NATURAL,
    TCT_ORDER_MULTICOLOR,
    TCT_ORDERS
} tct_rows_order;
extern const char *const tct_rows_orders[TCT_ORDERS];

/* The order called `name`, NULL or "auto": `otherwise`.
 * Errors      INVALID (with the nearest name). */
tacit_status tct_rows_order_find(const char *name, tct_rows_order otherwise,
                                 tct_rows_order *out);
/* Rows of `g` in that order, `leaves` as of tacit_factor_options, 0: 1.
 * Errors      as tct_nesting_create. */
tacit_status tct_nesting_by(const tct_graph *g, tct_rows_order order,
                            int leaves, tct_nesting *out);
/* INVALID, unless they are a power of two that there may be, or 0. */
tacit_status tct_check_leaves(int leaves);

/* Is tree node `above` `node` or one of those above it? */
static inline bool tct_node_is_above(int32_t above, int32_t node)
{
    while (node > above) node = (node - 1) / 2;
    return node == above;
}

/* --- top.c ---------------------------------------------------------------- */

/* Rows of `g` by tree node, those of each as they are, into `old`, `start` and
 * `node` of `x`, which has room for them and says how many leaves there are.
 * Errors      NO_MEMORY. */
tacit_status tct_nesting_top(const tct_graph *g, tct_nesting *x);
/* Have they the same neighbours, each among its own? */
bool tct_rows_are_alike(const tct_graph *g, int64_t i, int64_t j);

/* --- estimate.c ----------------------------------------------------------- */

/* Before rows are ordered, which takes minutes where they are many: is there
 * memory for what a factor of `g` needs in any order? And, for an order by
 * METIS of so many rows, a word about what it is likely to need.
 * Errors      NO_MEMORY. */
tacit_status tct_factor_predict(const tct_graph *g, tacit_factor_kind kind,
                                tct_rows_order order);
/* Entries of L in an order by METIS, as an estimate from `sample` of the rows.
 * Errors      as tct_nesting_create. */
tacit_status tct_factor_estimate(const tct_graph *g, int64_t sample,
                                 double *entries);
/* NO_MEMORY, and what would fit instead: a factor of `rows` and `entries` of
 * the matrix needs `bytes`, which `why` says more of. */
tacit_status tct_factor_refuse(double bytes, double rows, double entries,
                               const char *why);

/* --- symbolic.c ----------------------------------------------------------- */

/* The supernodes of L. Front f has columns [first[f], first[f + 1]), all full,
 * and below them rows below[start[f]] to below[start[f + 1] - 1]. */
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

/* Merge supernodes, for `zeros` among the `stored` values of so many
 * columns? */
bool tct_is_worth_merging(int64_t width, double zeros, double stored);

/* --- factor.c, numeric.c -------------------------------------------------- */

struct tacit_factor {
    tacit_factor_panels panels; /* whose arrays these are:                   */
    tct_nesting order;
    int64_t *first, *row_start, *value_start;
    int32_t *parent, *row, *node;
    double *value, *upper, *diagonal;
    double *inverse; /* [rows] of the pivots, where each row is a panel, and
                        values stand where their rows do; NULL: not so       */
    bool in_place;   /* rows have kept their numbers                         */
    int32_t *panel;  /* [fronts + 1] the first panel of each front           */
    int64_t most;    /* rows below the columns of a panel, at most           */
    int exponent;    /* it is that of the matrix times 2^-exponent           */
    tct_branches branches; /* of an exact factor */
    struct tct_lent_team
        *lent; /* for tacit_factor_solve; NULL: the caller alone */
    tacit_factor_info info;
};

/* Has the kind values of U' beside those of L? */
static inline bool tct_has_upper(tacit_factor_kind kind)
{
    return kind == TACIT_FACTOR_LU || kind == TACIT_FACTOR_ILU0;
}
static inline bool tct_is_incomplete(tacit_factor_kind kind)
{
    return kind == TACIT_FACTOR_IC0 || kind == TACIT_FACTOR_ILU0;
}
/* tacit_factor_create of `matrix` times 2^-exponent, in which pivots are told
 * as those of `matrix`. */
tacit_status tct_factor_create_near(const tacit_matrix *matrix, int exponent,
                                    const tacit_factor_options *options,
                                    tacit_factor **out);
/* `value`, a pivot or a sum of its terms, in the scale of the given matrix. */
double tct_as_given(const tacit_factor *L, double value);
/* "lu" */
const char *tct_factor_kind_name(tacit_factor_kind kind);
/* What the caller chose (NULL: the defaults), checked.
 * Errors      INVALID. */
tacit_status tct_factor_options_read(const tacit_factor_options *given,
                                     tacit_factor_options *out);
/* The panels of fronts `F`, of at most `width` columns (0: the usual), and what
 * is known of them, of kind L->panels.kind; then their rows, which may be more
 * than there is memory for. */
tacit_status tct_factor_outline(tacit_factor *L, const tct_fronts *F,
                                int width);
tacit_status tct_factor_list_rows(tacit_factor *L, const tct_fronts *F);
/* `panels` of what L has. */
void tct_factor_show(tacit_factor *L);
/* ... and of an exact factor that is shown, what threads solve with by
 * themselves, as many as loops may have now (device/parallel.h).
 * Errors      NO_MEMORY. */
tacit_status tct_factor_branch(tacit_factor *L);

/* Are `own` bytes of the factor of `A`, and `more` to make them, free?
 * Errors      NO_MEMORY. */
tacit_status tct_factor_require_memory(const tacit_factor *L,
                                       const tct_entries *A, double own,
                                       double more);
/* The values of L, of `A`; memory for them is predicted first.
 * Errors      INPUT (a pivot that cannot be), NO_MEMORY. */
tacit_status tct_factor_numeric(tacit_factor *L, const tct_fronts *F,
                                const tct_entries *A);

/* --- pivots.c ------------------------------------------------------------- */

/* A pivot is checked against the magnitudes that it is the sum of. */
#define TCT_PIVOT_LEAST 1e-13
#define TCT_PIVOT_SMALL 1e-8

/* What keeps no accuracy, of kinds LDLT and LU, in `info` and told: see
 * tacit_factor_create.
 * Errors      INPUT, NO_MEMORY. */
tacit_status tct_factor_weigh(tacit_factor *L, const tct_entries *A);
/* Of kind LLT: has a pivot more of the diagonal than rounding?
 * Errors      INPUT. */
tacit_status tct_check_definite(const tacit_factor *L, const tct_entries *A);
/* Can it be divided by? */
bool tct_divides(double pivot);
/* The error, and whether it is to be warned, that row `row`, in new numbers,
 * comes to `pivot`, of terms that make up `weight`; the least of them stay in
 * `info`. */
tacit_status tct_refuse_pivot(const tacit_factor *L, int64_t row, double pivot,
                              double weight);
void tct_note_pivot(tacit_factor *L, int64_t row, double pivot, double weight);
void tct_warn_of_pivots(const tacit_factor *L);

/* --- incomplete.c --------------------------------------------------------- */

/* Of kind IC0 or ILU0, of `A`, as tacit_factor_create; `*failed`, unless it is
 * NULL, becomes the row of A whose pivot cannot be, or -1.
 * Errors      INPUT, NO_MEMORY, UNSUPPORTED. */
tacit_status tct_incomplete_create(const tct_entries *A, tacit_factor_kind kind,
                                   const char *order, int leaves,
                                   tacit_factor **out, int64_t *failed);

/* --- solve.c -------------------------------------------------------------- */

enum { TCT_SOLVE_COLUMNS = 64 }; /* at once */

/* Doubles that tct_factor_apply needs for `columns`, of at most so many, and a
 * team of at most `threads`. */
size_t tct_factor_scratch(const tacit_factor *L, int columns, int threads);
/* As tacit_factor_solve, on the threads of `team` (NULL: the caller), row k of
 * the factor being row `place[k]` of B and X; NULL: row original[k]. */
void tct_factor_apply(const tacit_factor *L, tct_team *team,
                      const int32_t *place, int columns, const double *B,
                      size_t ldb, double *X, size_t ldx, double *scratch);

/* Idle threads of this process that work for one solve at a time. */
typedef struct tct_lent_team {
    atomic_bool taken;
    atomic_int threads; /* the caller among them */
} tct_lent_team;
tacit_status tct_lent_team_create(int threads, tct_lent_team **out);
void tct_lent_team_destroy(tct_lent_team **lent);
/* False: there are none but the caller, or they work for another one. */
bool tct_lent_team_take(tct_lent_team *c, tct_team **team);
void tct_lent_team_leave(tct_lent_team *c, tct_team **team);

#endif
