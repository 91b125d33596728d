/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/sstep.c - what the host tells the kernel of blocks, and is
 * told. */
#include "solver/resident/sstep.h"
#include "solver/sstep/sstep.h"

_Static_assert((int)TCT_SSTEP_FLAGS <= TCT_SSTEP_OPENING * TCT_SSTEP_NOTED,
               "it is told where the opening was noted");

void tct_sstep_job_fill(const tct_run *R, double *many, const double *diagonal,
                        tct_sstep_job *W)
{
    const tct_sstep *S = R->own;
    W->B = S->B;
    W->sums = S->sums;
    W->told = S->noted;
    W->many = many;
    W->b = R->system->b;
    W->most = S->most;
    W->renew_every = TCT_SSTEP_RENEW;
    W->since = S->since;
    W->chebyshev = S->basis == BASIS_CHEBYSHEV;
    W->PZ = S->PZ;
    W->QY = S->QY;
    W->own[TCT_COLUMN_R] = R->v[V_R];
    W->own[TCT_COLUMN_X] = R->x;
    W->own[TCT_COLUMN_D] = (double *)(uintptr_t)diagonal;
    W->own[TCT_COLUMN_Y] = R->z;
    for (int i = 1; i < 3; i++) W->own[TCT_COLUMN_Y + i] = R->y[i - 1];
}

void tct_sstep_flags(tct_run *R)
{
    tct_sstep *S = R->own;
    double told[TCT_SSTEP_FLAGS] = {0};
    q_get(R->q, TCT_SSTEP_FLAGS, S->noted, told);
    S->since = TCT_SSTEP_RENEW; /* not known: now, unless the text goes on */
    tct_sstep_made(R, &told[FLAG_MADE], (int)told[FLAG_RENEWED],
                   R->policy->end == PHASE_ON ? 0 : (int)told[FLAG_LENGTH]);
}
