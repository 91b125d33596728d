/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.h - preconditioners: an operator each, made for another one.
 * One file each, one row in precond.c. */
#ifndef TCT_PRECOND_H
#define TCT_PRECOND_H
#include "operator/operator.h"
#include <tacit/precond.h>

typedef struct tct_precond {
    tacit_precond about;
    /* For `A`, in A's order; half built on failure. NULL: nothing to make. */
    tacit_status (*create)(const tacit_operator *A, tacit_operator **out);
} tct_precond;

tacit_status tct_jacobi_create(const tacit_operator *A, tacit_operator **out);

#endif
