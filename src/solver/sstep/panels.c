/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/panels.c - the device data of a method with blocks: panels of
 * the last directions and of the current block, adjacent, and the state of the
 * blocks. */
#include "solver/sstep/sstep.h"
#include <string.h>

static void clear(tacit_queue *q, tct_sstep *S)
{
    for (int i = 0; i < 2; i++) q_free(q, S->memory[i]);
    q_free(q, S->sums);
    q_free(q, S->noted);
    q_free(q, S->own);
    tct_free(S);
}

static tacit_status allocate(tct_run *R, tct_sstep *S)
{
    tacit_queue *q = R->q;
    const int columns = 2 * S->most; /* and r */
    for (int i = 0; i < 2; i++)
        TRY(tacit_queue_alloc(q, R->n * (size_t)(columns + i), &S->memory[i]));
    S->PZ = tct_panel_of(S->memory[0], (ptrdiff_t)R->n, columns);
    S->QY = tct_panel_of(S->memory[1], (ptrdiff_t)R->n, columns + 1);
    TRY(tacit_queue_alloc(q, TCT_SSTEP_SUMS, &S->sums));
    TRY(tacit_queue_alloc(q, TCT_SSTEP_OPENING * TCT_SSTEP_NOTED, &S->noted));
    TRY(tacit_queue_alloc(q, TCT_BLOCKS_DOUBLES, &S->own));
    S->B = (void *)S->own;
    return TACIT_OK;
}

tacit_status tct_sstep_open(tct_run *R)
{
    tct_sstep *S = NULL;
    TRY(TCT_ALLOC(1, "blocks of iterations", &S));
    memset(S, 0, sizeof *S);
    S->most = R->system->steps ? R->system->steps : TCT_SSTEP_AUTO;
    S->basis = (tct_basis)R->system->basis;
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

void tct_sstep_read(tct_run *R)
{
    tct_sstep *S = R->own;
    q_get(R->q, TCT_BLOCKS_DOUBLES, S->own, (void *)&S->host);
}

void tct_sstep_write(tct_run *R)
{
    const tct_sstep *S = R->own;
    q_put(R->q, TCT_BLOCKS_DOUBLES, (const void *)&S->host, S->own);
}
