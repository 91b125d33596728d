/* SPDX-License-Identifier: BSD-3-Clause
 * precond/kinds.c - the registry of preconditioners. */
#include "precond/precond.h"
#include <string.h>

const tct_precond_kind tct_precond_none = {
    .about = {.name = "none",
              .summary = "no preconditioner",
              .resident = TCT_PRECOND_DIAGONAL}};

static const tct_precond_kind *const preconds[] = {
#define X(name) &tct_precond_##name,
    TCT_PRECONDS(X)
#undef X
};
enum { PRECONDS = sizeof preconds / sizeof *preconds };

const tct_precond_kind *tct_precond_kind_at(int i)
{
    return i >= 0 && i < PRECONDS ? preconds[i] : NULL;
}

const tacit_precond *tacit_precond_at(int i)
{
    const tct_precond_kind *kind = tct_precond_kind_at(i);
    return kind ? &kind->about : NULL;
}

tacit_status tct_precond_find(const char *name, const tct_precond_kind **out)
{
    const char *names[PRECONDS];
    const tct_precond_kind *found = NULL;
    for (int i = 0; i < PRECONDS; i++) {
        names[i] = preconds[i]->about.name;
        if (strcmp(names[i], name) == 0) found = preconds[i];
    }
    if (!found) return tct_unknown("preconditioner", name, names, PRECONDS);
    if (found->about.reason)
        FAIL(TACIT_UNSUPPORTED, "preconditioner '%s' is not available: %s",
             name, found->about.reason);
    if (out) *out = found;
    return TACIT_OK;
}

const tct_precond *tct_precond_of(const tacit_operator *M)
{
    for (int i = 0; M && i < PRECONDS; i++)
        if (M->ops == &preconds[i]->op)
            return (const tct_precond *)(const void *)M;
    return NULL;
}
