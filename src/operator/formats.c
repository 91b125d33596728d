/* SPDX-License-Identifier: BSD-3-Clause
 * operator/formats.c - the registry of formats. */
#include "operator/format.h"
#include <string.h>

static const tct_format *const formats[] = {
#define X(name) &tct_format_##name,
    TCT_FORMATS(X)
#undef X
        NULL};

const tct_format *const *tct_formats(void)
{
    return formats;
}

const tct_format *tct_format_find(const char *name)
{
    for (int i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}
