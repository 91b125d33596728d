/* SPDX-License-Identifier: BSD-3-Clause
 * precond/on_grid.c - the factor of a matrix with rows on several ranks: rank 0
 * makes it, and each gets its part (trisolve/grid/stream_solve.h). So M is the
 * same for any number of ranks and any partition. */
#include "precond/by_factor.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* On rank 0, which owns `A`; it is consumed. */
static tacit_status make_on_rank_0(tct_by_factor *M, tct_csr *A, int exponent,
                                   tct_factor_maker *make)
{
    tacit_world *alone = NULL;
    tacit_matrix *whole = NULL;
    const int64_t entries = exponent == 0 ? 0 : tct_csr_nonzeros(A);
    for (int64_t k = 0; k < entries; k++)
        A->val[k] = ldexp(A->val[k], -exponent);
    tacit_status status = tacit_world_self(&alone);
    if (status >= 0)
        status = tacit_world_set_threads(alone, M->base.op.q->threads);
    if (status >= 0) status = tct_matrix_adopt(alone, status, A, &whole);
    if (status >= 0) status = make(M, whole);
    tacit_matrix_destroy(&whole);
    tacit_world_destroy(&alone);
    return status;
}

/* The data of rank 0's factor that all ranks need. */
typedef struct {
    tacit_factor_info info;
    char dense[32], detail[96];
} story;

static tacit_status tell(tct_by_factor *M)
{
    story s = {.info.size = 0};
    if (M->F) {
        s.info = M->F->info;
        snprintf(s.dense, sizeof s.dense, "%s", s.info.dense);
        memcpy(s.detail, M->detail, sizeof s.detail);
    }
    TRY(tct_bcast(M->base.op.world, 0, sizeof s, &s));
    M->made = s.info;
    memcpy(M->detail, s.detail, sizeof M->detail);
    memcpy(M->dense, s.dense, sizeof M->dense);
    M->made.order = M->order; /* addresses of constants differ between
                               * processes */
    M->made.dense = M->dense;
    return TACIT_OK;
}

static void describe(tct_by_factor *M)
{
    tct_stream_solve_info info;
    tct_stream_solve_describe(M->J, &info);
    M->about = (tacit_precond_info){.size = sizeof M->about,
                                    .name = M->base.kind->about.name,
                                    .detail = M->detail,
                                    .end = "",
                                    .bytes = info.bytes,
                                    .factor_info = &M->made,
                                    .grid = {1, 1, info.parts},
                                    .messages = info.messages,
                                    .message_bytes = 8.0 * (double)info.values};
}

tacit_status tct_by_factor_distribute(tct_by_factor *M,
                                      const tacit_matrix *matrix, int exponent,
                                      tct_factor_maker *make)
{
    tacit_world *w = M->base.op.world;
    tct_csr A = {0};
    if (matrix->A.global_rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner %s: a factor counts rows in 32 bits, and %lld "
             "are too many",
             M->base.kind->about.name, (long long)matrix->A.global_rows);
    TRY(tct_gather(matrix, &A));
    tacit_status status =
        w->rank == 0 ? make_on_rank_0(M, &A, exponent, make) : TACIT_OK;
    tct_csr_clear(&A);
    status = tct_agree(w, status);
    if (status >= 0) status = tell(M);
    if (status >= 0)
        status =
            tct_stream_solve_create(M->base.op.q, M->F ? &M->F->panels : NULL,
                                    M->parts, matrix, M->base.op.order, &M->J);
    tacit_factor_destroy(&M->F);
    TRY(status);
    describe(M);
    if (M->columns > 1) TRY(tct_stream_solve_columns(M->J, M->columns));
    if (M->columns < 1) M->columns = 1;
    return TACIT_OK;
}
