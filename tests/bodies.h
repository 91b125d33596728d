/* SPDX-License-Identifier: BSD-3-Clause
 * tests/bodies.h - a small elastic body in files. */
#ifndef TESTS_BODIES_H
#define TESTS_BODIES_H
#include "rows.h"

static const char *const body_ends[] = {"b.node", "b.ele", "b.spc"};

/* mesh:, of two tetrahedra that are held at three of their corners, refined. */
static inline void write_body(int refine, char name[512])
{
    static const char *const text[] = {
        "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1.5\n",
        "2 4 0\n1 1 2 3 4\n2 2 3 4 5\n",
        "7\n1 0\n1 1\n1 2\n2 0\n2 1\n2 2\n3 2\n"};
    for (int k = 2; k >= 0; k--) {
        const char *path = temporary(body_ends[k], text[k]);
        snprintf(name, 512, "mesh:%.*s,kind=elasticity,refine=%d",
                 (int)(strlen(path) - strlen(".node")), path, refine);
    }
}

static inline void discard_body(void)
{
    for (int k = 0; k < 3; k++) discard(temporary(body_ends[k], NULL));
}

#endif
