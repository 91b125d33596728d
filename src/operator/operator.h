/* SPDX-License-Identifier: BSD-3-Clause
 * operator/operator.h - A = local + ghost, and the words that multiply by it. */
#ifndef TCT_OPERATOR_H
#define TCT_OPERATOR_H
#include "comm/plan.h"
#include "matrix/csr.h"
#include "operator/format.h"
#include "operator/pattern/order.h"
#include <tacit/operator.h>

/* What an operator must do. An operator is linear, and a preconditioner is one,
 * too: applied to residuals. */
typedef struct tct_operator_ops {
    const char *name;
    /* y = A x; `dot` NULL, or *dot = (x, y) of this rank's part */
    void (*apply)(const tacit_operator *A, tacit_queue *q, const double *x,
                  double *y, double *dot);
    /* May `apply` be called where words are for several systems? */
    bool for_systems;
    /* s = A p and three sums. OPTIONAL: apply and q_dots */
    void (*apply_dots)(const tacit_operator *A, tacit_queue *q, const double *p,
                       const double *r, double *s, double *out);
    /* Y = A X, panels of as many columns. OPTIONAL: apply one by one */
    void (*apply_block)(const tacit_operator *A, tacit_queue *q, tct_panel X,
                        tct_panel Y);
    /* The diagonal into `d` [n] on the device, in the operator's order.
     * Errors      UNSUPPORTED, or as it finds. */
    tacit_status (*diagonal)(const tacit_operator *A, double *d);
    /* All there is to A, for a persistent kernel: d [n] on the device, in the
     * operator's order, with y_i = d_i x_i. OPTIONAL: A is not diagonal. */
    const double *(*resident_view)(const tacit_operator *A);
    /* Members beyond those of tacit_operator. OPTIONAL */
    void (*destroy)(tacit_operator *A);
} tct_operator_ops;

struct tacit_operator {
    const tct_operator_ops *ops;
    tacit_queue *q;
    tacit_world *world;
    int64_t n;       /* rows of this rank                                */
    int64_t *starts; /* [size + 1] first row of each rank                */
    const tct_format *format;
    tct_order *order; /* of what is stored; NULL: as the rows come         */
    const tct_order *follows; /* order of vectors that is another operator's */
    tct_block *local; /* rows and columns of this rank                    */
    tct_block *ghost; /* columns of other ranks; NULL if there are none   */
    tct_block *ghost_there; /* the same on the device: `ghost` on the host */
    double *diagonal;  /* [n] in the order of the matrix                   */
    int64_t *ghost_id; /* [ghosts] their global numbers, ascending         */
    int64_t ghosts;
    tct_plan *plan; /* of as many columns as tct_operator_columns asked for,
                       else two; NULL with one process                    */
    tacit_trial trials[TCT_TRIALS_MOST];
    int trial_count;
    int version; /* counts updates: recordings of the old values are void */
    char (*reasons)[TCT_REASON]; /* texts of trials on a GPU */
    char name[40];               /* "sell/f64": format and store wished */
    int exponent; /* what is stored is the matrix times 2^-exponent: 0 unless
                     its entries are near the ends of the range of doubles */
    double norm;  /* of what is stored: the largest row sum of |a|        */
    int bits;     /* of a value: 64, or those of low precision            */
    /* The same matrix with values of low precision, the lowest first; each
     * shares everything with this one but its block, and has the next one in
     * its own `low`. NULL without. */
    struct tacit_operator *low;
    tacit_operator_info info;
};

/* y = A x, A being what is stored, x and y in its order: here and below. */
void apply(const tacit_operator *A, tacit_queue *q, const double *x, double *y);
/* y = A x, *dot = (x, y) of this rank's part */
void apply_dot(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y, double *dot);
/* y = 2^exponent y: A x of what is stored becomes that of the matrix */
void tct_unscale(const tacit_operator *A, tacit_queue *q, double *y);
/* s = A p, out[0] = (p, s), out[1] = (r, s), out[2] = (s, s) */
void apply_dots(const tacit_operator *A, tacit_queue *q, const double *p,
                const double *r, double *s, double *out);
/* y0 = A x0, y1 = A x1 with one exchange and one pass over the matrix. */
void apply_pair(const tacit_operator *A, tacit_queue *q, const double *x0,
                double *y0, const double *x1, double *y1);
/* Y = A X, panels of up to TCT_COLUMNS_MOST columns; each has the bits of a
 * product of its own. An exchange has as many columns as the plan allows. */
void apply_block(const tacit_operator *A, tacit_queue *q, tct_panel X,
                 tct_panel Y);
/* Let exchanges have `columns` columns at once, which takes memory for their
 * ghosts; fewer than there are: nothing is done. Recordings become void.
 * Collective.  Errors INVALID, NO_MEMORY, COMM. */
tacit_status tct_operator_columns(tacit_operator *A, int columns);

/* --- choice/store.c ------------------------------------------------------ */

/* The blocks of this rank's `rows`, which are consumed, without a word to the
 * others. `format` as in tacit/operator.h. */
tacit_status tct_store(tacit_operator *A, const char *format, tct_csr *rows);

/* --- pattern/scale.c ----------------------------------------------------- */

/* Set A->exponent and A->norm for `rows`, and bring their values near 1 if they
 * are far from it. Collective.
 * Errors      INPUT (no power of 2 serves all entries). */
tacit_status tct_scale(tacit_operator *A, tct_csr *rows);

/* --- choice/low.c -------------------------------------------------------- */

/* The blocks of low precision that `wish` asks for, "" for none: "low32",
 * "low48", or of "mixed" (both) and "mixed48" those that are faster than the
 * block of A, which is there. */
tacit_status tct_low_store(tacit_operator *A, const char *wish,
                           tct_local *local);
/* Give them all else that A has. */
void tct_low_share(tacit_operator *A);
tacit_status tct_low_refill(tacit_operator *A, const tct_local *local);
void tct_low_destroy(tacit_operator **low);

/* --- choice/threads.c ---------------------------------------------------- */

/* Set how many threads of a host queue are to work on `B`. Without memory to
 * measure, all. */
void tct_threads_choose(tacit_queue *q, tct_block *B);

/* --- pattern/split.c ----------------------------------------------------- */

/* The rows of a rank divided by column: its own, and those of others. */
typedef struct tct_parts {
    tct_local local;
    int64_t ghosts;     /* distinct columns of other ranks            */
    int64_t *ghost_id;  /* [ghosts] global, ascending                 */
    int64_t ghost_rows; /* rows that have such columns                */
    int32_t *ghost_row; /* [ghost_rows] local row numbers, ascending  */
    int64_t *ghost_ptr; /* [ghost_rows + 1]                           */
    int32_t *ghost_col; /* [ghost_ptr[ghost_rows]] into ghost_id      */
    double *ghost_val;
} tct_parts;

/* Divide `A`, whose arrays move into `out` (also on failure, when
 * tct_parts_clear frees them); works in place, the ghost part beside it.
 * Errors      NO_MEMORY. */
tacit_status tct_split(tct_team *team, tct_csr *A, tct_parts *out);
void tct_parts_clear(tct_parts *parts);

/* The ghost block of `parts`, which keeps its arrays in the block and gives
 * them up. Errors NO_MEMORY. */
tacit_status tct_ghost_create(tct_parts *parts, tct_block **out);
/* The first entry in which the ghost block `B` (NULL: no such columns), whose
 * columns have the global numbers `ids`, and the ghost part of `parts` differ;
 * its column is global, too. */
tct_difference tct_ghost_compare(const tct_block *B, const int64_t *ids,
                                 const tct_parts *parts);
/* The same on the device of `q`: `B` itself on the host.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_ghost_bring(tacit_queue *q, tct_block *B, tct_block **there);
/* New values from `parts`, which has the same pattern. Errors DEVICE. */
tacit_status tct_ghost_refill(tct_block *B, tct_block *there,
                              const tct_parts *parts);

#endif
