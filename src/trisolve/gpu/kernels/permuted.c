/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/permuted.c - scales of a factor, and right-hand sides of
 * one whose rows are not in the order of its columns: B is gathered in the order
 * of X before a solve. */
#include "trisolve/gpu/kernels/parts.h"

static const char *const what = "the rows of a factor on the GPU";

static tacit_status send(tacit_factor_solver *S, const void *from,
                         int64_t count, size_t size, void *out)
{
    const size_t bytes = (size_t)(count > 0 ? count : 1) * size;
    S->info.bytes += (double)bytes;
    return tct_gpu_upload(count > 0 ? from : NULL, bytes, out);
}

/* --- scales --------------------------------------------------------------- */

/* Original number of the factor's row `k`, and that of its b. */
static int64_t original_of(const tacit_factor_panels *P, const int32_t *place,
                           int64_t k)
{
    return P->original ? P->original[k] : place[k];
}
static int64_t row_of(const tacit_factor_panels *P, const int32_t *place,
                      int64_t k)
{
    const int64_t i = original_of(P, place, k);
    return P->row_order ? P->row_order[i] : i;
}

/* Upload `scale`, by original number, in the order of vectors. */
static tacit_status send_scale(tacit_factor_solver *S,
                               const tacit_factor_panels *P,
                               const int32_t *place, const double *scale,
                               bool of_rows, const double **out)
{
    double *here = NULL;
    *out = NULL;
    if (!scale) return TACIT_OK;
    TRY(TCT_ALLOC(S->all_rows, what, &here));
    for (int64_t i = 0; i < S->all_rows; i++) here[i] = 1.0;
    for (int64_t k = 0; k < P->rows; k++)
        if (place[k] >= 0)
            here[place[k]] =
                scale[of_rows ? row_of(P, place, k) : original_of(P, place, k)];
    const tacit_status status =
        send(S, here, S->all_rows, sizeof *here, (void *)(uintptr_t)out);
    tct_free(here);
    return status;
}

/* --- right-hand sides ----------------------------------------------------- */

/* Upload where b of each row is, and make room for right-hand sides. */
static tacit_status send_from(tacit_factor_solver *S,
                              const tacit_factor_panels *P,
                              const int32_t *place, const int32_t *from)
{
    int32_t *here = NULL;
    if (!P->row_order) return TACIT_OK;
    TRY(TCT_ALLOC(P->rows, what, &here));
    for (int64_t k = 0; k < P->rows; k++)
        here[k] = place[k] < 0 ? -1
                  : from       ? from[k]
                               : (int32_t)row_of(P, place, k);
    tacit_status status = send(S, here, P->rows, sizeof *here, &S->from);
    tct_free(here);
    if (status >= 0)
        status = send(S, NULL, S->all_rows * S->columns, sizeof *S->given,
                      &S->given);
    return status;
}

tacit_status tct_solver_send_permuted(tacit_factor_solver *S,
                                      const tacit_factor_panels *P,
                                      const int32_t *place, const int32_t *from)
{
    TRY(send_scale(S, P, place, P->row_scale, true, &S->a.row_scale));
    TRY(send_scale(S, P, place, P->col_scale, false, &S->a.col_scale));
    return send_from(S, P, place, from);
}

tacit_status tct_solver_gather(const tacit_factor_solver *S, int columns,
                               const double **B, size_t *ldb)
{
    if (!S->given) return TACIT_OK;
    const tct_tri_gathered g = {.place = S->a.place,
                                .from = S->from,
                                .rows = S->plan.rows,
                                .columns = columns,
                                .B = *B,
                                .ldb = (int64_t)*ldb,
                                .to = S->given,
                                .ld = S->all_rows};
    *B = S->given;
    *ldb = (size_t)S->all_rows;
    return tct_gpu_status(tct_tri_gather(&g, tct_gpu_of(S->q)->stream),
                          "the right-hand sides of a triangular solve");
}
