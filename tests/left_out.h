/* SPDX-License-Identifier: BSD-3-Clause
 * tests/left_out.h - file formats that a build may do without. */
#ifndef TEST_LEFT_OUT_H
#define TEST_LEFT_OUT_H
#include "matrix/io/io.h"
#include <string.h>

/* Does this build do without the format of files called like `name`? */
static inline bool left_out(const char *name)
{
    const size_t n = strlen(name);
    for (const tct_file_about *const *f = tct_file_list(); *f; f++)
        for (const char *const *s = (*f)->suffixes; (*f)->missing && *s; s++)
            if (n > strlen(*s) && strcmp(name + n - strlen(*s), *s) == 0)
                return true;
    return false;
}

#endif
