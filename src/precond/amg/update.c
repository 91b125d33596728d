/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/update.c - new values of the same pattern: P is kept, so that
 * nothing is matched. Products, smoothers, formats and the inverse are made in
 * a second hierarchy, which replaces the old one only on success. */
#include "precond/amg/amg.h"
#include <string.h>

tct_amg *tct_amg_like(const tct_amg *M)
{
    tct_amg *N = tct_calloc(sizeof *N);
    if (!N) return NULL;
    N->base = M->base;
    N->twice = M->twice;
    N->krylov = M->krylov;
    N->overcorrection = M->overcorrection;
    N->smoothing = M->smoothing;
    N->levels_most = M->levels_most;
    N->precision = M->precision;
    N->vectors = M->vectors;
    N->given = M->given;
    memcpy(N->detail, M->detail, M->asked);
    N->about.size = sizeof N->about;
    return N;
}

/* Leave the shared P to M: `N` must not free them. */
static void discard(tct_amg *N, const tct_amg *M)
{
    for (int l = 0; l < N->levels; l++)
        if (N->level[l].down.ptr == M->level[l].down.ptr) {
            N->level[l].down = (tct_amg_transfer){.ptr = NULL};
            N->level[l].blocks = NULL;
        }
    tct_amg_clear(N);
}

/* M takes over the contents of `N` but keeps its identity. */
static void take_over(tct_amg *M, tct_amg *N)
{
    const tct_precond base = M->base;
    discard(M, N);
    *M = *N;
    M->base = base;
    M->about.detail = M->detail;
    if (M->end[0]) M->about.end = M->end;
}

/* A device repeats its whole set-up, aggregates included: this is faster than a
 * host update without them. With near-null vectors it keeps P, too. */
static tacit_status build(tct_amg *N, const tct_amg *M,
                          const tacit_matrix *matrix)
{
    const tct_near_null_options by_row = {.node_rows = 1};
    if (M->on_device && M->given)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner amg: of the near-null vector that was given a "
             "device has made levels, and nobody has kept it: make the "
             "preconditioner anew");
    if (M->on_device) N->overcorrection = tct_amg_overcorrection(N);
    return tct_amg_build(N, matrix, &by_row, M->on_device ? NULL : M);
}

tacit_status tct_amg_renew(tct_precond *base, const tacit_matrix *matrix)
{
    tct_amg *M = (tct_amg *)(void *)base;
    tct_amg *N = tct_amg_like(M);
    tacit_status status =
        N ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for a preconditioner");
    status = tct_agree(base->op.world, status);
    if (status >= 0) status = tct_agree(base->op.world, build(N, M, matrix));
    if (status >= 0) take_over(M, N);
    else if (N) discard(N, M);
    tct_free(N);
    return status;
}
