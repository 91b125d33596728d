/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/request.h - how requests are made: for those of one message and of
 * all ranks. */
#ifndef TCT_TRIGGERED_REQUEST_H
#define TCT_TRIGGERED_REQUEST_H
#include "triggered/triggered.h"

/* Errors      INVALID (no such type, count or rank). */
tacit_status tct_request_check(const char *call, const tacit_trigger_comm *c,
                               const void *data, int64_t count,
                               tacit_trigger_type type, int rank);
/* A request with so many ends of messages, and of all ranks.
 * Errors      NO_MEMORY. */
tacit_status tct_request_new(tacit_trigger_comm *c, tct_collective what,
                             int ends, int alls, tacit_trigger_request **out);
/* `detail`: the kind of a send. */
void tct_request_set_end(tct_trigger_end *e, tct_direction direction,
                         int detail, const void *data, int64_t count,
                         tacit_trigger_type type, int peer);

#endif
