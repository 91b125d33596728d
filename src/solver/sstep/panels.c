/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/panels.c - the panels of a method with blocks: those of the block
 * that is made, and those of the directions before, which change places. */
#include "solver/sstep/sstep.h"
#include <string.h>

static void clear(tacit_queue *q, tct_sstep *S)
{
    for (int i = 0; i < 4; i++) q_free(q, S->memory[i]);
    q_free(q, S->sums);
    q_free(q, S->small);
    q_free(q, S->noted);
    tct_free(S);
}

static tct_panel panel(const tct_run *R, double *at, int columns)
{
    return (tct_panel){at, (ptrdiff_t)R->n, columns};
}

static tacit_status allocate(tct_run *R, tct_sstep *S)
{
    tacit_queue *q = R->q;
    const int s = S->most;
    for (int i = 0; i < 4; i++) /* Y has a column more, for r */
        TRY(tacit_queue_alloc(q, R->n * (size_t)(s + (i < 2 ? 0 : 1)),
                              &S->memory[i]));
    S->Z = panel(R, S->memory[0], s);
    S->P = panel(R, S->memory[1], s);
    S->Y = panel(R, S->memory[2], s + 1);
    S->Q =
        tct_columns(&(tct_panel){S->memory[3], (ptrdiff_t)R->n, s + 1}, 1, s);
    TRY(tacit_queue_alloc(q, TCT_SSTEP_SUMS, &S->sums));
    TRY(tacit_queue_alloc(q, (size_t)(s * s + s), &S->small));
    return tacit_queue_alloc(q, TCT_SSTEP_OPENING * TCT_SSTEP_NOTED, &S->noted);
}

tacit_status tct_sstep_open(tct_run *R)
{
    tct_sstep *S = NULL;
    TRY(TCT_ALLOC(1, "blocks of iterations", &S));
    memset(S, 0, sizeof *S);
    S->most = R->steps ? R->steps : TCT_SSTEP_AUTO;
    S->basis = (tct_basis)R->basis;
    const tacit_status status = allocate(R, S);
    if (status < 0) {
        clear(R->q, S);
        return status;
    }
    tct_sstep_close(R);
    R->own = S;
    return TACIT_OK;
}

void tct_sstep_close(tct_run *R)
{
    if (R->own) clear(R->q, R->own);
    R->own = NULL;
}

void tct_sstep_conjugate(tct_run *R, int j)
{
    const tct_sstep *S = R->own;
    const int w = S->W.n;
    const tct_panel P = tct_columns(&S->P, 0, w), Q = tct_columns(&S->Q, 0, w);
    double small[TCT_SSTEP_MOST * (TCT_SSTEP_MOST + 1)];
    for (int k = 0; k < j; k++) {
        memcpy(small + k * w, S->B.beta[k], (size_t)w * sizeof *small);
        small[j * w + k] = S->B.alpha[k];
    }
    q_put(R->q, (size_t)(j * w + j), small, S->small);
    if (w == 0) return;
    q_combine(R->q, R->n, +1, P, S->small, tct_columns(&S->Z, 0, j));
    q_combine(R->q, R->n, +1, Q, S->small, tct_columns(&S->Y, 1, j));
}

void tct_sstep_last(tct_run *R, const tct_factor *F, int count, tct_panel X,
                    tct_panel Y)
{
    const tct_sstep *S = R->own;
    double t[TCT_SSTEP_MOST * TCT_SSTEP_MOST];
    for (int i = 0; i < count; i++) {
        tct_factor_direction(F, i, t + i * F->n);
        q_fill(R->q, R->n, 0.0, tct_column(&Y, i));
    }
    q_put(R->q, (size_t)(F->n * count), t, S->small);
    q_combine(R->q, R->n, +1, tct_columns(&X, 0, F->n), S->small,
              tct_columns(&Y, 0, count));
}

/* F, and ones for `more` directions behind it. */
static void extend(tct_factor *F, int more)
{
    for (int i = F->n; i < F->n + more; i++) {
        memset(F->l[i], 0, sizeof F->l[i]);
        F->l[i][i] = F->scale[i] = 1.0;
    }
    F->n += more;
}

/* The last `keep` of the block that was made, which are not all: W = 1. */
static void keep_part(tct_run *R, int keep)
{
    tct_sstep *S = R->own;
    tct_sstep_last(R, &S->B.W, keep, S->Z, S->P);
    tct_sstep_last(R, &S->B.W, keep, tct_columns(&S->Y, 1, S->most), S->Q);
    S->W.n = S->W.block = 0;
    extend(&S->W, keep);
}

void tct_sstep_shift(tct_run *R, int keep)
{
    tct_sstep *S = R->own;
    const int taken = S->B.taken, room = keep - taken;
    const int kept = S->W.n < room ? S->W.n : room;
    const tct_panel Z = S->Z, AZ = tct_columns(&S->Y, 1, S->most);
    if (room < 0) {
        keep_part(R, keep);
        return;
    }
    if (kept > 0) {
        tct_sstep_last(R, &S->W, kept, S->P, tct_columns(&Z, taken, kept));
        tct_sstep_last(R, &S->W, kept, S->Q, tct_columns(&AZ, taken, kept));
    }
    S->W = S->B.W;
    extend(&S->W, kept);
    S->Y = (tct_panel){S->Q.at - S->Q.stride, S->Q.stride, S->most + 1};
    S->Q = AZ;
    S->Z = S->P;
    S->P = Z;
}
