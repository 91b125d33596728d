/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/link_loop.h - steps and messages of the queue's link in a time loop:
 * the CPU enqueues each step, or a recording of some is replayed. */
#ifndef TCT_STENCIL_LINK_LOOP_H
#define TCT_STENCIL_LINK_LOOP_H
#include "stencil/stepper.h"

enum { TCT_LINK_LOOP_MOST = 4096 }; /* steps of a visit */

/* By f->loop, "host" (NULL) or "graph". Collective.
 * Errors      as tct_stepper_open; INVALID (no such loop), UNSUPPORTED (the
 *             device or the link cannot). */
tacit_status tct_link_loop_open(tacit_field *f, const tct_stepper_way *way,
                                void **out);
/* As those of tct_way_ops. */
void tct_link_loop_visit(void *state, int depth, double *changes);
void tct_link_loop_finish(void *state);
void tct_link_loop_describe(const void *state, tacit_field_result *out);
void tct_link_loop_close(void *state);

#endif
