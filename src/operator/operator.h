/* SPDX-License-Identifier: BSD-3-Clause
 * operator/operator.h - what every operator is, whatever it is made of, and the
 * words that multiply by it. A kind of operator is a file: a struct whose first
 * member is tacit_operator, and its table at the bottom. Outside of its file
 * (of a matrix: of this folder, operator/assembled.h) nobody sees more than
 * this. */
#ifndef TCT_OPERATOR_OPERATOR_H
#define TCT_OPERATOR_OPERATOR_H
#include "comm/world/world.h"
#include "operator/format.h"
#include "operator/pattern/order.h"
#include <tacit/operator.h>

/* All there is to an operator, for a persistent kernel that applies it, too:
 * one of these, and NULL. */
typedef struct tct_resident_view {
    const double *diagonal; /* d [n] on the device, in the operator's order:
                                    y_i = d_i x_i                           */
    const struct tct_rows *rows; /* y = (L L')^-1 x: trisolve/gpu/rows.h */
} tct_resident_view;

/* What an operator must do. An operator is linear unless it says that it
 * varies, and a preconditioner is one, too: applied to residuals. */
typedef struct tct_operator_ops {
    const char *name;
    /* y = A x; `dot` NULL, or *dot = (x, y) of this rank's part */
    void (*apply)(const tacit_operator *A, tacit_queue *q, const double *x,
                  double *y, double *dot);
    /* May `apply` be called where words are for several systems, as those of
     * `q` now are? OPTIONAL: it may not */
    bool (*for_batch)(const tacit_operator *A, const tacit_queue *q);
    /* Of a preconditioner: does an application take as long as some iterations
     * without? Then few are tried, and few begun in vain. */
    bool expensive;
    /* ... and several systems at once so much less than one after the other
     * that none of it needs to be timed? */
    bool together;
    /* s = A p and three sums. OPTIONAL: apply and q_dots */
    void (*apply_dots)(const tacit_operator *A, tacit_queue *q, const double *p,
                       const double *r, double *s, double *out);
    /* See apply_pass; false: not by this operator, and nothing was done.
     * OPTIONAL: false */
    bool (*apply_pass)(const tacit_operator *A, tacit_queue *q, const double *x,
                       tct_pass pass, const double *alpha, const double *beta,
                       const double *const *v, double *out);
    /* Y = A X, panels of as many columns. OPTIONAL: apply one by one */
    void (*apply_block)(const tacit_operator *A, tacit_queue *q, tct_panel X,
                        tct_panel Y);
    /* The diagonal into `d` [n] on the device, in the operator's order.
     * Errors      UNSUPPORTED, or as it finds. OPTIONAL: UNSUPPORTED */
    tacit_status (*diagonal)(const tacit_operator *A, double *d);
    /* OPTIONAL: no persistent kernel applies A as a preconditioner */
    tct_resident_view (*resident_view)(const tacit_operator *A);
    /* The exchange of a product, NULL with one process.
     * OPTIONAL: there is none, or only the operator knows it */
    tct_exchange *(*exchange)(const tacit_operator *A);
    /* See tct_operator_columns. OPTIONAL: nothing has to be done */
    tacit_status (*columns)(tacit_operator *A, int columns);
    /* See tacit_operator_update. OPTIONAL: INVALID */
    tacit_status (*update)(tacit_operator *A, const tacit_matrix *matrix);
    /* Of a preconditioner: see tacit_precond_update. OPTIONAL: INVALID */
    tacit_status (*renew)(tacit_operator *M, const tacit_matrix *matrix);
    /* What it was measured against. OPTIONAL: nothing */
    const tacit_trial *(*trial)(const tacit_operator *A, int i);
    /* Members beyond those of tacit_operator. OPTIONAL: there are none */
    void (*destroy)(tacit_operator *A);
} tct_operator_ops;

struct tacit_operator { /* first member of every operator's struct */
    const tct_operator_ops *ops;
    tacit_queue *q;
    tacit_world *world;
    int64_t n; /* rows of this rank */
    /* Of its vectors, the operator's own or that of the one it was made for;
     * NULL: the user's. */
    const tct_order *order;
    /* The view that a kernel of a whole solve has: all rows and columns of this
     * rank, as they are stored. NULL: they are not. */
    const tct_block *local;
    /* And what it has of other ranks': columns, and the exchange that brings
     * what they are multiplied by. NULL: nothing. */
    const tct_block *ghost;
    const struct tct_plan *plan;
    int bits; /* of a value: 64, or those of low precision */
    /* Of a preconditioner: is it not the same linear map each time? Then it is
     * for methods that say they bear it. */
    bool varies;
    /* Views of this operator with values of low precision, the lowest first,
     * each with the next one in its own `low` (choice/low.c). NULL: none. */
    struct tacit_operator *low;
    /* The rest is kept by an operator and not by the views of it, which know
     * the values of one moment. */
    int exponent; /* what is stored is the matrix times 2^-exponent: 0 unless
                     its entries are near the ends of the range of doubles */
    double norm;  /* of what is stored: the largest row sum of |a|        */
    int version;  /* counts what makes recordings void: values, exchanges */
    int values;   /* counts how often there were new ones */
    /* Of a preconditioner, what it was made for, NULL: a function; and which
     * values that had. */
    const struct tacit_operator *made_for;
    int made_of;
    tacit_operator_info info; /* kept up to date by who changes what it says */
};

/* A run that needs `A`, NULL for none, from begin to end, which come in the
 * order of a stack: nobody may free A, its queue and its world meanwhile, nor
 * change A. */
typedef struct tct_use {
    const tacit_operator *A;
    struct tct_use *before;
} tct_use;
void tct_use_begin(tct_use *u, const tacit_operator *A);
void tct_use_end(tct_use *u);
bool tct_is_used(const tacit_operator *A);
/* Errors      INVALID (it is; `function` was to change it). */
tacit_status tct_refuse_use(const tacit_operator *A, const char *function);

/* Is `M`, NULL for none, what an iteration takes its time for? */
static inline bool tct_is_expensive(const tacit_operator *M)
{
    return M && M->ops->expensive;
}

/* y = A x, A being what is stored, x and y in its order: here and below. */
void apply(const tacit_operator *A, tacit_queue *q, const double *x, double *y);
/* y = A x, *dot = (x, y) of this rank's part */
void apply_dot(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y, double *dot);
/* s = A p, out[0] = (p, s), out[1] = (r, s), out[2] = (s, s) */
void apply_dots(const tacit_operator *A, tacit_queue *q, const double *p,
                const double *r, double *s, double *out);
/* t = A x, and a pass of one sum, of whose vectors `v` t is v[1] [n + 1],
 * scratch: where it can the product has the pass behind it, and t stays as it
 * was. The pass, relax or smooth, must not write x; `out` NULL, of one system
 * alone: the sum is not wanted. */
void apply_pass(const tacit_operator *A, tacit_queue *q, const double *x,
                tct_pass pass, const double *alpha, const double *beta,
                const double *const *v, double *out);
/* y0 = A x0, y1 = A x1 with one exchange and one pass over the matrix. */
void apply_pair(const tacit_operator *A, tacit_queue *q, const double *x0,
                double *y0, const double *x1, double *y1);
/* Y = A X, panels of up to TCT_COLUMNS_MOST columns; each has the bits of a
 * product of its own. An exchange has as many columns as the plan allows. */
void apply_block(const tacit_operator *A, tacit_queue *q, tct_panel X,
                 tct_panel Y);
/* y = 2^exponent y: A x of what is stored becomes that of the matrix */
void tct_unscale(const tacit_operator *A, tacit_queue *q, double *y);

/* The diagonal into `d` [n] on the device, in the operator's order.
 * Errors      UNSUPPORTED (it does not tell), or as it finds. */
tacit_status tct_operator_diagonal(const tacit_operator *A, double *d);
/* A view of A, which must outlive it, with values rounded to floats
 * (tct_rounded): A's block does it where it stands if it can, else those of
 * `matrix`, which is A's, are; on the host only of a block that never can. NULL
 * where it would not be smaller than A's block by a fifth, or there is nothing
 * to round. Ghosts are A's. Local.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_operator_rounded(const tacit_operator *A,
                                  const tacit_matrix *matrix,
                                  tacit_operator **out);
/* Let exchanges, and vectors between the parts of an application, have
 * `columns` columns at once, which takes memory; fewer than there are: nothing
 * is done, but 1 may give some back. Recordings become void.
 * Collective.  Errors INVALID, NO_MEMORY, COMM. */
tacit_status tct_operator_columns(tacit_operator *A, int columns);

#endif
