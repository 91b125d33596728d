/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/ways.c - the registry of ways, and the rows of those that no device
 * has yet. */
#include "stencil/way.h"

#define LATER "not in this version, which steps grids in one process"
#define ROW(name, deep, text)                \
    const tct_way tct_way_##name = {         \
        .about = {#name, text, LATER, deep}, \
    }

ROW(free, false,
    "one persistent kernel for all steps, halos put by its boundary blocks "
    "(the paper's CPU-Free)");
ROW(free2, false,
    "two persistent kernels, inner cells and boundary (the paper's "
    "alternative to CPU-Free)");
ROW(cached, false,
    "as free, the inner cells kept in registers and shared memory (the "
    "paper's CPU-Free with PERKS)");

static const tct_way *const ways[] = {
#define X(name) &tct_way_##name,
    TCT_STENCIL_WAYS(X)
#undef X
};
enum { WAYS = sizeof ways / sizeof *ways };

const tct_way *tct_way_at(int i)
{
    return i >= 0 && i < WAYS ? ways[i] : NULL;
}

const tacit_stencil_way *tacit_stencil_way_at(int i)
{
    const tct_way *w = tct_way_at(i);
    return w ? &w->about : NULL;
}

tacit_status tct_way_find(const char *name, const tacit_field *f,
                          const tct_way **out)
{
    const char *names[WAYS];
    for (int i = 0; i < WAYS; i++) {
        names[i] = ways[i]->about.name;
        if (strcmp(name, names[i]) != 0) continue;
        if (ways[i]->about.reason)
            FAIL(TACIT_UNSUPPORTED, "way '%s' is not available: %s", name,
                 ways[i]->about.reason);
        if (!tct_way_on(ways[i], f))
            FAIL(TACIT_UNSUPPORTED, "way '%s' is not for device %s", name,
                 f->queue->device->name);
        *out = ways[i];
        return TACIT_OK;
    }
    return tct_unknown("way", name, names, WAYS);
}
