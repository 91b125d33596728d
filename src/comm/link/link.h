/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/link.h - the links: how messages go between the ranks of a world,
 * chosen when a queue is opened. One file and one row each, in order of
 * preference; link queue stands in triggered/. */
#ifndef TCT_COMM_LINK_LINK_H
#define TCT_COMM_LINK_LINK_H
#include "comm/world/world.h"

#if TCT_HAVE_CUDA
#if TCT_HIP
#define TCT_LINKS_GPU(X) X(peer)
#else
#define TCT_LINKS_GPU(X) X(peer) X(nccl) X(nvshmem)
#endif
#else
#define TCT_LINKS_GPU(X)
#endif
#if TCT_HAVE_MPI
#define TCT_LINKS_MPI(X) X(mpi)
#else
#define TCT_LINKS_MPI(X)
#endif
#define TCT_LINKS(X) X(self) TCT_LINKS_GPU(X) X(shm) TCT_LINKS_MPI(X) X(queue)
#define X(name)      extern const tct_link tct_link_##name;
TCT_LINKS(X)
#undef X

/* As tacit_queue_create; if `stream` is not NULL, on the caller's stream
 * *stream. */
tacit_status tct_queue_open(tacit_world *world, const char *spec, int threads,
                            void *const *stream, tacit_queue **out);

/* Where no link is named a queue opens each that it can have, and messages go
 * through the first; who has found out which is the fastest takes that, and
 * drops the others. Open links are those of q->links that are not NULL. All
 * ranks do the same. */
int tct_links_open(const tacit_queue *q); /* how many */
void tct_link_take(tacit_queue *q, int i);
/* Close link `i`, which nobody holds, and its state of each plan. */
void tct_link_drop(tacit_queue *q, int i);

struct tct_plan;
/* Open and close the links' state of a plan. A link that fails is dropped if
 * another is open.
 * Collective.  Errors as the link's. */
tacit_status tct_links_plan_open(struct tct_plan *plan);
void tct_links_plan_close(struct tct_plan *plan);

#endif
