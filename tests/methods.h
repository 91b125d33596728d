/* SPDX-License-Identifier: BSD-3-Clause
 * tests/methods.h - all methods and loops, by number. */
#ifndef TESTS_METHODS_H
#define TESTS_METHODS_H
#include <stddef.h>
#include <tacit/solver.h>

enum { METHODS = 8 }; /* at most */

static inline const char *method_of(int m)
{
    const tacit_method *about = tacit_method_at(m);
    return about ? about->name : NULL;
}
static inline const char *loop_of(int l)
{
    const tacit_loop *about = tacit_loop_at(l);
    return about ? about->name : NULL;
}
#define FOR_METHODS(m) for (int m = 0; method_of(m); m++)
#define FOR_LOOPS(l)   for (int l = 0; loop_of(l); l++)

#endif
