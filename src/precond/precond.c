/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.c - the registry of preconditioners. */
#include "precond/precond.h"
#include <string.h>

static const tct_precond preconds[] = {
    {{"none", "no preconditioner", NULL}, NULL},
    {{"jacobi", "the diagonal", NULL}, tct_jacobi_create},
    {{"amg", "algebraic multigrid", "not in this build: it is coming"}, NULL},
};
enum { PRECONDS = sizeof preconds / sizeof *preconds };

const tacit_precond *tacit_precond_at(int i)
{
    return i >= 0 && i < PRECONDS ? &preconds[i].about : NULL;
}

static tacit_status find(const char *name, const tct_precond **out)
{
    const char *names[PRECONDS];
    for (int i = 0; i < PRECONDS; i++) {
        names[i] = preconds[i].about.name;
        if (strcmp(names[i], name) == 0) *out = &preconds[i];
    }
    if (!*out) return tct_unknown("preconditioner", name, names, PRECONDS);
    if ((*out)->about.reason)
        FAIL(TACIT_UNSUPPORTED, "preconditioner '%s' is not available: %s",
             name, (*out)->about.reason);
    return TACIT_OK;
}

tacit_status tacit_precond_create(const tacit_operator *A, const char *name,
                                  tacit_operator **out)
{
    REQUIRE(A != NULL && name != NULL && out != NULL);
    const tct_precond *found = NULL;
    tacit_operator *M = NULL;
    TRY(tct_agree(A->world, find(name, &found)));
    tacit_status status = TACIT_OK;
    if (found->create) status = tct_agree(A->world, found->create(A, &M));
    if (status < 0) tacit_operator_destroy(&M);
    else *out = M;
    return status;
}
