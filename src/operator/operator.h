/* SPDX-License-Identifier: BSD-3-Clause
 * operator/operator.h - the base of every operator, and its products. A kind of
 * operator has a file: a struct whose first member is tacit_operator, and its
 * table at the end. Other files (for a matrix: other folders,
 * operator/assembled.h) see only this. */
#ifndef TCT_OPERATOR_OPERATOR_H
#define TCT_OPERATOR_OPERATOR_H
#include "comm/world/world.h"
#include "operator/format.h"
#include "operator/pattern/order.h"
#include <tacit/operator.h>

/* Symbols of the static library begin with tct_ (device/symbols.h). */
#define apply_block tct_apply_block
#define apply_dot   tct_apply_dot
#define apply_dots  tct_apply_dots
#define apply_pair  tct_apply_pair
#define apply_pass  tct_apply_pass

/* The functions of an operator. It is linear unless it `varies`; a
 * preconditioner is an operator that is applied to residuals
 * (precond/precond.h). */
typedef struct tct_operator_ops {
    const char *name;
    /* y = A x; `dot` NULL, or *dot = (x, y) of this rank's part */
    void (*apply)(const tacit_operator *A, tacit_queue *q, const double *x,
                  double *y, double *dot);
    /* May `apply` be called in a batch of several columns, the current one of
     * `q`? OPTIONAL: no */
    bool (*for_batch)(const tacit_operator *A, const tacit_queue *q);
    /* s = A p and three sums. OPTIONAL: apply and q_dots */
    void (*apply_dots)(const tacit_operator *A, tacit_queue *q, const double *p,
                       const double *r, double *s, double *out);
    /* See apply_pass; false: not supported, and nothing was done. OPTIONAL:
     * false */
    bool (*apply_pass)(const tacit_operator *A, tacit_queue *q, const double *x,
                       tct_pass pass, const double *alpha, const double *beta,
                       const double *const *v, double *out);
    /* Y = A X, panels of as many columns. OPTIONAL: apply one by one */
    void (*apply_block)(const tacit_operator *A, tacit_queue *q, tct_panel X,
                        tct_panel Y);
    /* y = |A| x for x not negative. Collective. OPTIONAL: not known */
    void (*magnitude)(const tacit_operator *A, tacit_queue *q, const double *x,
                      double *y);
    /* The diagonal into `d` [n] on the device, in the operator's order.
     * Errors      UNSUPPORTED, or its own. OPTIONAL: UNSUPPORTED */
    tacit_status (*diagonal)(const tacit_operator *A, double *d);
    /* The exchange of a product, NULL with one process. OPTIONAL: none, or
     * known to the operator only */
    tct_exchange *(*exchange)(const tacit_operator *A);
    /* See tct_operator_columns. OPTIONAL: nothing to do */
    tacit_status (*columns)(tacit_operator *A, int columns);
    /* See tacit_operator_update. OPTIONAL: INVALID */
    tacit_status (*update)(tacit_operator *A, const tacit_matrix *matrix);
    /* See tacit_operator_trial_at. OPTIONAL: none */
    const tacit_trial *(*trial)(const tacit_operator *A, int i);
    /* See tct_operator_run_begins, _checked, _settle and
     * tacit_operator_decision_at. OPTIONAL: nothing to do, none */
    void (*run_begins)(tacit_operator *A);
    void (*checked)(tacit_operator *A, double left);
    void (*settle)(tacit_operator *A);
    const tacit_decision *(*decision)(const tacit_operator *A, int i);
    /* Free the members after those of tacit_operator. OPTIONAL: none */
    void (*destroy)(tacit_operator *A);
} tct_operator_ops;

struct tacit_operator { /* first member of every operator's struct */
    const tct_operator_ops *ops;
    tacit_queue *q;
    tacit_world *world;
    int64_t n; /* rows of this rank */
    /* Order of its vectors, the operator's own or that of the one it was made
     * for; NULL: the user's. */
    const tct_order *order;
    /* All rows and columns of this rank, as stored, for persistent kernels.
     * NULL: not stored. */
    const tct_block *local;
    /* And its columns of other ranks, with the exchange of their x. NULL:
     * none. */
    const tct_block *ghost;
    const struct tct_plan *plan;
    /* May its format change between iterations, once that pays? */
    bool rents;
    int bits; /* of a value: 64, or fewer in reduced precision */
    /* Of a preconditioner: is it not the same linear map each time? Then only
     * methods with varying_precond take it. */
    bool varies;
    /* Reduced-precision views of this operator, the lowest first, each with the
     * next in its own `low` (choice/reduced_precision.c). NULL: none. */
    struct tacit_operator *low;
    /* The rest belongs to an operator and not to its views, which hold the
     * values of one moment. */
    int exponent; /* the stored matrix is the matrix times 2^-exponent: 0
                   * unless its entries are near the ends of the range of
                   * doubles */
    double norm;  /* of the stored matrix: the largest row sum of |a|     */
    struct tct_null_space *null; /* null/null_space.h; NULL: none is known */
    int version;    /* counts changes that invalidate recordings: values,
                   * exchanges */
    int values;     /* counts updates of values */
    bool one_solve; /* for a single solve, or no decision by time: link and loop
                   * are not tried */
    tacit_operator_info info; /* kept up to date by the functions that change
                               * it */
};

/* The use of `A`, NULL for none, by a run, from begin to end, in stack order:
 * meanwhile A, its queue and its world cannot be freed, nor A changed. */
typedef struct tct_use {
    const tacit_operator *A;
    struct tct_use *before;
} tct_use;
void tct_use_begin(tct_use *u, const tacit_operator *A);
void tct_use_end(tct_use *u);
bool tct_is_used(const tacit_operator *A);
/* INVALID if A is in use; `function` was to change it. */
tacit_status tct_refuse_use(const tacit_operator *A, const char *function);

/* A run with A begins: time that has passed since the last one does not
 * count. */
static inline void tct_operator_run_begins(const tacit_operator *A)
{
    if (A->rents) A->ops->run_begins((tacit_operator *)(uintptr_t)A);
}
/* An iteration has been checked, and `left` are foretold, 0 for unknown: A may
 * now change its format, which changes no bit of a product. Collective, at the
 * same check on all ranks. */
static inline void tct_operator_checked(const tacit_operator *A, double left)
{
    if (A->rents) A->ops->checked((tacit_operator *)(uintptr_t)A, left);
}
/* Many products will follow, or views of A's block: its format changes now if
 * it ever does. */
static inline void tct_operator_settle(const tacit_operator *A)
{
    if (A->rents) A->ops->settle((tacit_operator *)(uintptr_t)A);
}

/* y = A x, with A as stored, x and y in its order: as in all products below. */
void tct_apply(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y);
static inline void apply(const tacit_operator *A, tacit_queue *q,
                         const double *x, double *y)
{
    tct_apply(A, q, x, y);
}
/* INVALID if x and y, arguments of `function`, share memory. */
tacit_status tct_refuse_overlap(const tacit_operator *A, const double *x,
                                const double *y, const char *function);
/* y = A x, *dot = (x, y) of this rank's part */
void apply_dot(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y, double *dot);
/* s = A p, out[0] = (p, s), out[1] = (r, s), out[2] = (s, s) */
void apply_dots(const tacit_operator *A, tacit_queue *q, const double *p,
                const double *r, double *s, double *out);
/* t = A x, and a pass of one sum, of whose vectors `v` t is v[1] [n + 1],
 * scratch: if possible the pass is fused with the product, and t stays as it
 * was. The pass, relax or smooth, must not write x; `out` NULL, for a single
 * system: without the sum. */
void apply_pass(const tacit_operator *A, tacit_queue *q, const double *x,
                tct_pass pass, const double *alpha, const double *beta,
                const double *const *v, double *out);
/* y0 = A x0, y1 = A x1 with one exchange and one pass over the matrix. */
void apply_pair(const tacit_operator *A, tacit_queue *q, const double *x0,
                double *y0, const double *x1, double *y1);
/* Y = A X, panels of up to TCT_COLUMNS_MOST columns; each has the bits of a
 * single product. An exchange has as many columns as the plan allows. */
void apply_block(const tacit_operator *A, tacit_queue *q, tct_panel X,
                 tct_panel Y);
/* y = 2^exponent y: from A x of the stored matrix to that of the matrix */
void tct_unscale(const tacit_operator *A, tacit_queue *q, double *y);

/* The diagonal into `d` [n] on the device, in the operator's order; 1 in rows
 * of zeros (null/null_space.h).
 * Errors      UNSUPPORTED (not given by the operator), or its own. */
tacit_status tct_operator_diagonal(const tacit_operator *A, double *d);
/* A view of A, which must outlive it, with values rounded to floats
 * (tct_rounded): in the memory of A's block if it can, else from the entries of
 * A's `matrix`; on the host the latter only for a kind of block that never can.
 * NULL if it would not be smaller than A's block by a fifth, or there is
 * nothing to round. Ghosts are A's. Local.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_operator_rounded(const tacit_operator *A,
                                  const tacit_matrix *matrix,
                                  tacit_operator **out);
/* Make room in exchanges, and in vectors between the parts of an application,
 * for `columns` columns at once; fewer than now: no change, but 1 may free
 * memory. Recordings become invalid.
 * Collective.  Errors INVALID, NO_MEMORY, COMM. */
tacit_status tct_operator_columns(tacit_operator *A, int columns);

#endif
