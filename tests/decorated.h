/* SPDX-License-Identifier: BSD-3-Clause
 * tests/decorated.h - every decorator by name, with an argument that changes no
 * result if it needs one. */
#ifndef TESTS_DECORATED_H
#define TESTS_DECORATED_H
#include <string.h>

static inline const char *argument_of(const char *decorator)
{
    if (strcmp(decorator, "chaos") == 0) return "(5)";
    return strcmp(decorator, "lose") == 0 ? "(0,100000000)" : "";
}

#endif
