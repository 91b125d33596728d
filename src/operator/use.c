/* SPDX-License-Identifier: BSD-3-Clause
 * operator/use.c - protects the objects of a run from being freed or changed by
 * its monitor. */
#include "comm/world/world.h"
#include "operator/operator.h"

void tct_use_begin(tct_use *u, const tacit_operator *A)
{
    *u = (tct_use){.A = A};
    if (!A) return;
    u->before = A->q->uses;
    A->q->uses = u;
    A->world->runs++;
}

void tct_use_end(tct_use *u)
{
    if (!u->A) return;
    u->A->q->uses = u->before;
    u->A->world->runs--;
}

bool tct_is_used(const tacit_operator *A)
{
    if (!A->q) return false; /* incomplete */
    for (const tct_use *u = A->q->uses; u; u = u->before)
        if (u->A == A) return true;
    return false;
}

tacit_status tct_refuse_use(const tacit_operator *A, const char *function)
{
    if (!tct_is_used(A)) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s: a run with this operator is under way: do it before or after",
         function);
}
