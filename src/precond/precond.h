/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.h - preconditioners: an operator each, made for another one.
 * One file each, one row in precond.c. */
#ifndef TCT_PRECOND_PRECOND_H
#define TCT_PRECOND_PRECOND_H
#include "operator/operator.h"
#include <tacit/precond.h>

/* What one is made of besides the operator. */
typedef struct tct_precond_source {
    const tacit_matrix *matrix; /* the operator's, or NULL */
    tacit_precond_options options;
} tct_precond_source;

typedef struct tct_precond {
    tacit_precond about;
    /* For `A`, in A's order; half built on failure. NULL: nothing to make. */
    tacit_status (*create)(const tacit_operator *A,
                           const tct_precond_source *from,
                           tacit_operator **out);
    /* About, and as a rule: set-up in sweeps of the host over the entries of
     * the matrix, an application in iterations of cg without. For a race: 0 is
     * what hardly shows or, of what is made of the matrix, what it saves is not
     * known before. */
    double sweeps, products;
    double entry_bytes, row_bytes; /* memory for set-up, and what stays of it */
} tct_precond;

/* Row `i`, NULL past the end. */
const tct_precond *tct_precond_at(int i);

/* Fill in what every preconditioner for `A` has. */
void tct_precond_begin(tacit_operator *M, const tct_operator_ops *ops,
                       const tacit_operator *A);

tacit_status tct_jacobi_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out);

tacit_status tct_ic0_create(const tacit_operator *A,
                            const tct_precond_source *from,
                            tacit_operator **out);

/* Before a run with `M`, NULL for none: has what it was made for other values
 * by now? Then it takes them, if it needs no matrix for that.
 * Collective.  Errors INVALID (it does), INPUT, NO_MEMORY, DEVICE. */
tacit_status tct_precond_follow(const tacit_operator *M);

/* --- same.c --------------------------------------------------------------- */

/* Is `m` as large as what A was made of? Local.  Errors INVALID. */
tacit_status tct_precond_fits(const tacit_operator *A, const tacit_matrix *m);
/* And has it what A has now, but for what rounding does to a product?
 * Collective.  Errors INVALID, naming a row; NO_MEMORY, DEVICE, COMM. */
tacit_status tct_precond_same(const tacit_operator *A, const tacit_matrix *m);

/* --- amg/cycle.c ---------------------------------------------------------- */

tacit_status tct_amg_create(const tacit_operator *A,
                            const tct_precond_source *from,
                            tacit_operator **out);
/* What is known of `M`, and of its level `i`; NULL: it is none, or has not so
 * many. */
const tacit_precond_info *tct_amg_info(const tacit_operator *M);
const tacit_precond_level *tct_amg_level_at(const tacit_operator *M, int i);

/* --- direct.c ------------------------------------------------------------- */

tacit_status tct_direct_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out);

#endif
