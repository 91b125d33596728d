/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/ways.c - the registry of ways. */
#include "stencil/way.h"

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
