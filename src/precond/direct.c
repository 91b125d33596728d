/* SPDX-License-Identifier: BSD-3-Clause
 * precond/direct.c - M is the inverse of A, by its factor: what is left to a
 * method is what rounding has left. */
#include "matrix/matrix.h"
#include "precond/by_factor.h"
#include <stdio.h>

static tacit_status check(const tacit_operator *A)
{
    if (A->world->size > 1)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner direct is of one process, and here are %d: solve "
             "with one, or take amg here",
             A->world->size);
    return TACIT_OK;
}

static tacit_status build(tct_by_factor *M, const tacit_matrix *m)
{
    TRY(tacit_factor_create(m, NULL, &M->F));
    const tacit_factor_info *info = &M->F->info;
    snprintf(M->detail, sizeof M->detail,
             "%lld entries of L in %d panels, dense operations by %s",
             (long long)info->nonzeros, (int)info->panels, info->dense);
    return tct_by_factor_open(M, M->base.order);
}

/* All anew, the order of rows, too. */
static tacit_status direct_renew(tacit_operator *base,
                                 const tacit_matrix *matrix)
{
    tct_by_factor *M = (tct_by_factor *)(void *)base,
                  fresh = {.base = *base, .columns = M->columns};
    const tacit_status status = build(&fresh, matrix);
    if (status < 0) tct_by_factor_close(&fresh);
    else tct_by_factor_move(&fresh, M);
    return status;
}

static const tct_operator_ops direct_ops = {.name = "direct",
                                            .dear = true,
                                            .together = true,
                                            .apply = tct_by_factor_apply,
                                            .for_systems =
                                                tct_by_factor_for_systems,
                                            .columns = tct_by_factor_columns,
                                            .renew = direct_renew,
                                            .destroy = tct_by_factor_destroy};

tacit_status tct_direct_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out)
{
    TRY(tct_agree(A->world, check(A)));
    tct_by_factor *M = tct_calloc(sizeof *M);
    if (!M) FAIL(TACIT_NO_MEMORY, "no memory for a preconditioner");
    *out = &M->base;
    tct_precond_begin(&M->base, &direct_ops, A);
    return build(M, from->matrix);
}
