/* SPDX-License-Identifier: BSD-3-Clause
 * tests/left_out.h - file formats that a build may lack. */
#ifndef TESTS_LEFT_OUT_H
#define TESTS_LEFT_OUT_H
#include "io/io.h"
#include <string.h>
#include <tacit/file.h>

/* Does this build do without the format of files called like `name`? */
static inline bool left_out(const char *name)
{
    const size_t n = strlen(name);
    for (int i = 0; tacit_file_format_at(i); i++) {
        const tacit_file_format *f = tacit_file_format_at(i);
        for (const char *const *s = f->suffixes; f->reason && *s; s++)
            if (n > strlen(*s) && strcmp(name + n - strlen(*s), *s) == 0)
                return true;
    }
    return false;
}

#endif
