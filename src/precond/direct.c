/* SPDX-License-Identifier: BSD-3-Clause
 * precond/direct.c - M is the inverse of A, by its factor: what is left to a
 * method is what rounding has left. */
#include "matrix/matrix.h"
#include "precond/precond.h"
#include "triangular/factor.h"
#include "triangular/solver.h"
#include <stdio.h>

typedef struct {
    tacit_operator base;
    tacit_factor *F;
    int32_t *place;  /* [n] where the factor's rows are in the operator's order;
                        NULL: where the matrix has them                       */
    double *scratch; /* of a solve on the host                                */
    tacit_factor_solver *S; /* on a GPU                                       */
    tacit_precond_info about;
    char detail[96];
} direct;

static tacit_status solve(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const direct *M = ctx;
    const size_t n = (size_t)M->base.n;
    (void)q;
    if (M->S) return tacit_factor_solver_run(M->S, 1, x, n, y, n);
    tct_factor_apply(M->F, M->place ? M->place : M->F->order.old, 1, x, n, y, n,
                     M->scratch);
    return TACIT_OK;
}

static void direct_apply(const tacit_operator *M, tacit_queue *q,
                         const double *x, double *y, double *dot)
{
    q_call(q, solve, (void *)(uintptr_t)M, x, y);
    if (dot) q_dot(q, (size_t)M->n, x, y, dot);
}

static void direct_destroy(tacit_operator *M)
{
    direct *D = (direct *)(void *)M;
    tacit_factor_solver_destroy(&D->S);
    tacit_factor_destroy(&D->F);
    TCT_FREE(D->place, D->scratch);
}

/* Has the operator an order of its own? */
static tacit_status find_places(direct *M)
{
    const tct_order *order = M->base.order;
    if (!order) return TACIT_OK;
    TRY(TCT_ALLOC(M->base.n, "a preconditioner", &M->place));
    for (int64_t k = 0; k < M->base.n; k++)
        M->place[k] = order->now[M->F->order.old[k]];
    return TACIT_OK;
}

static tacit_status check(const tacit_operator *A)
{
    if (A->world->size > 1)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner direct is of one process, and here are %d: solve "
             "with one, or take amg here",
             A->world->size);
    return TACIT_OK;
}

/* The factor goes to the GPU, too. */
static tacit_status build_on_gpu(direct *M)
{
    tacit_factor_solver_info info = {.size = sizeof info};
    TRY(tct_factor_solver_new(M->base.q, &M->F->panels, M->place, NULL, &M->S));
    TRY(tacit_factor_solver_describe(M->S, &info));
    M->about.bytes = info.bytes;
    return TACIT_OK;
}

static tacit_status build(direct *M, const tacit_matrix *m)
{
    TRY(tacit_factor_create(m, NULL, &M->F));
    TRY(find_places(M));
    TRY(TCT_ALLOC(tct_factor_scratch(M->F, 1), "a preconditioner",
                  &M->scratch));
    const tacit_factor_info *info = &M->F->info;
    snprintf(M->detail, sizeof M->detail,
             "%lld entries of L in %d panels, dense operations by %s",
             (long long)info->nonzeros, (int)info->panels, info->dense);
    M->about = (tacit_precond_info){.size = sizeof M->about,
                                    .name = "direct",
                                    .detail = M->detail,
                                    .end = "",
                                    .bytes = info->bytes};
    return M->base.q->device->kind == TCT_KIND_HOST ? TACIT_OK
                                                    : build_on_gpu(M);
}

/* All anew, the order of rows, too. */
static tacit_status direct_renew(tacit_operator *base,
                                 const tacit_matrix *matrix)
{
    direct *M = (direct *)(void *)base, fresh = {.base = *base};
    const tacit_status status = build(&fresh, matrix);
    if (status < 0) {
        direct_destroy(&fresh.base);
        return status;
    }
    direct_destroy(base);
    *M = fresh;
    M->about.detail = M->detail;
    return status;
}

static const tct_operator_ops direct_ops = {.name = "direct",
                                            .dear = true,
                                            .apply = direct_apply,
                                            .renew = direct_renew,
                                            .destroy = direct_destroy};

tacit_status tct_direct_create(const tacit_operator *A,
                               const tct_precond_source *from,
                               tacit_operator **out)
{
    TRY(tct_agree(A->world, check(A)));
    direct *M = tct_calloc(sizeof *M);
    if (!M) FAIL(TACIT_NO_MEMORY, "no memory for a preconditioner");
    *out = &M->base;
    tct_precond_begin(&M->base, &direct_ops, A);
    return build(M, from->matrix);
}

const tacit_precond_info *tct_direct_info(const tacit_operator *M)
{
    return M->ops == &direct_ops ? &((const direct *)(const void *)M)->about
                                 : NULL;
}
