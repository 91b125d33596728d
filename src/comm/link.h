/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link.h - the links: how messages go between the ranks of a world, chosen
 * when a queue is opened. One file each, one row here, first the best. */
#ifndef TCT_LINK_H
#define TCT_LINK_H
#include "comm/world.h"

#if TCT_HAVE_MPI
#define TCT_LINKS(X) X(self) X(mpi)
#else
#define TCT_LINKS(X) X(self)
#endif
#define X(name) extern const tct_link tct_link_##name;
TCT_LINKS(X)
#undef X

/* As tacit_queue_create; where `stream` is not NULL, on the user's stream that
 * it points to. */
tacit_status tct_queue_open(tacit_world *world, const char *spec, int threads,
                            void *const *stream, tacit_queue **out);

#endif
