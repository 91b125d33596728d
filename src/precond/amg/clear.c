/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/clear.c - the end of a hierarchy. */
#include "precond/amg/amg.h"
#include "precond/amg/cycle/fused_coarse.h"

void tct_amg_clear(tct_amg *M)
{
    tacit_queue *q = M->base.op.q;
    tct_amg_columns_clear(M);
    tct_amg_fused_clear(M);
    for (int l = 0; l < M->levels; l++) {
        tct_amg_level *L = &M->level[l];
        double **const vectors[] = {&L->b, &L->x, &L->b2, &L->x2, &L->c, &L->e};
        tct_amg_smoother_free(q, &L->smoother);
        tct_amg_transfer_free(q, &L->down);
        TCT_FREE(L->smooth, L->index);
        tacit_queue_free(q, &L->blocks);
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
            tacit_queue_free(q, vectors[i]);
        tacit_operator_destroy(&L->own);
    }
    tct_amg_coarsest_free(q, &M->coarsest);
    tct_amg_replicated_free(&M->alone);
}
