/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/solver_none.c - solves on a GPU in a build without CUDA:
 * refused. */
#include "trisolve/gpu/solver.h"

tacit_status tct_factor_solver_new(tacit_queue *q, const tacit_factor_panels *P,
                                   const int32_t *place, const int32_t *from,
                                   const tacit_factor_solver_options *options,
                                   tacit_factor_solver **out)
{
    (void)q, (void)P, (void)place, (void)from, (void)options, (void)out;
    FAIL(TACIT_UNSUPPORTED,
         "a solver of factors is for a GPU, and this build has no CUDA: solve "
         "with tacit_factor_solve, or configure with -DTACIT_CUDA=ON");
}

tacit_status tct_factor_solver_share(
    tacit_queue *q, const tacit_factor_panels *P, const int32_t *place,
    const tct_shared_rows *rows, int px, int py,
    const tacit_factor_solver_options *options, tacit_factor_solver **out)
{
    (void)rows, (void)px, (void)py;
    return tct_factor_solver_new(q, P, place, NULL, options, out);
}

const bool *tct_factor_solver_mine(const tacit_factor_solver *S)
{
    (void)S;
    return NULL;
}

tacit_status tct_factor_solver_shared(const tacit_factor_solver *S,
                                      tct_shared_info *out)
{
    (void)S, (void)out;
    FAIL(TACIT_UNSUPPORTED, "this build has no CUDA");
}

tacit_status tacit_factor_solver_create(
    tacit_queue *queue, const tacit_factor_panels *panels,
    const tacit_factor_solver_options *options, tacit_factor_solver **out)
{
    REQUIRE(queue != NULL, panels != NULL, out != NULL);
    return tct_factor_solver_new(queue, panels, NULL, NULL, options, out);
}

void tacit_factor_solver_destroy(tacit_factor_solver **solver)
{
    (void)solver; /* none was created */
}

tacit_status tacit_factor_solver_run(tacit_factor_solver *solver, int columns,
                                     const double *B, size_t ldb, double *X,
                                     size_t ldx)
{
    (void)columns, (void)B, (void)ldb, (void)X, (void)ldx;
    REQUIRE(solver != NULL);
    FAIL(TACIT_UNSUPPORTED, "this build has no CUDA");
}

tacit_status tacit_factor_solver_wait(tacit_factor_solver *solver)
{
    REQUIRE(solver != NULL);
    FAIL(TACIT_UNSUPPORTED, "this build has no CUDA");
}

tacit_status tacit_factor_solver_describe(const tacit_factor_solver *solver,
                                          tacit_factor_solver_info *out)
{
    REQUIRE(solver != NULL, out != NULL);
    FAIL(TACIT_UNSUPPORTED, "this build has no CUDA");
}
