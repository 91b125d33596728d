/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.h - preconditioners: each is an operator, made for another
 * one, with one file and one row in precond.c. */
#ifndef TCT_PRECOND_PRECOND_H
#define TCT_PRECOND_PRECOND_H
#include "operator/operator.h"
#include <tacit/precond.h>

/* The source of a preconditioner, besides the operator. */
typedef struct tct_precond_source {
    const tacit_matrix *matrix; /* the operator's, or NULL */
    tacit_precond_options options;
} tct_precond_source;

typedef struct tct_precond {
    tacit_precond about;
    /* For `A`, in A's order; incomplete on failure. NULL: nothing to make. */
    tacit_status (*create)(const tacit_operator *A,
                           const tct_precond_source *from,
                           tacit_operator **out);
    /* Usual costs, for autotuning: set-up in sweeps of the host over the
     * entries of the matrix, an application in iterations of cg without
     * preconditioner. 0: negligible or, if made from the matrix, its savings
     * are not predictable. */
    double sweeps, products;
    double entry_bytes, row_bytes; /* memory during set-up, and after it */
} tct_precond;

/* Row `i`, NULL past the end. */
const tct_precond *tct_precond_at(int i);

/* Fill in the common members of a preconditioner for `A`. */
void tct_precond_begin(tacit_operator *M, const tct_operator_ops *ops,
                       const tacit_operator *A);

tacit_status tct_jacobi_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out);

tacit_status tct_ic0_create(const tacit_operator *A,
                            const tct_precond_source *from,
                            tacit_operator **out);

/* Before a run with `M`, NULL for none: if its operator's values have changed,
 * renew it, unless that needs the matrix.
 * Collective.  Errors INVALID (it needs the matrix), INPUT, NO_MEMORY,
 *              DEVICE. */
tacit_status tct_precond_follow(const tacit_operator *M);

/* --- same.c --------------------------------------------------------------- */

/* Is `m` as large as A's matrix? Local.  Errors INVALID. */
tacit_status tct_precond_fits(const tacit_operator *A, const tacit_matrix *m);
/* Has `m` A's values, up to the rounding of a product?
 * Collective.  Errors INVALID, naming a row; NO_MEMORY, DEVICE, COMM. */
tacit_status tct_precond_same(const tacit_operator *A, const tacit_matrix *m);

/* --- amg/cycle/ ----------------------------------------------------------- */

tacit_status tct_amg_create(const tacit_operator *A,
                            const tct_precond_source *from,
                            tacit_operator **out);
/* The description of `M`, and of its level `i`; NULL: another kind of operator,
 * or no such level. */
const tacit_precond_info *tct_amg_info(const tacit_operator *M);
const tacit_precond_level *tct_amg_level_at(const tacit_operator *M, int i);

/* --- direct.c ------------------------------------------------------------- */

tacit_status tct_direct_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out);

#endif
