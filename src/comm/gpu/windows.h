/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/windows.h - memory of a GPU into which kernels of all ranks of a
 * machine can write, by CUDA IPC: each rank has arenas, which are exported once,
 * and windows are pieces of them. */
#ifndef TCT_WINDOWS_H
#define TCT_WINDOWS_H
#include "comm/world.h"

enum { TCT_PEERS_MOST = 16 };

typedef struct tct_windows tct_windows;

/* A window of a rank's, for all. */
typedef struct tct_peer_window {
    int64_t arena; /* < 0: none */
    int64_t offset, bytes;
} tct_peer_window;

/* For the ranks of `q`, whose device is a GPU.
 * Collective.  Errors UNSUPPORTED (a rank that cannot reach another's memory, or
 * shares its GPU, with the reason), NO_MEMORY, DEVICE. */
tacit_status tct_windows_open(tacit_queue *q, tct_windows **out);
/* Waits, not for long, until the others do not reach its memory any more. */
void tct_windows_close(tct_windows **windows);

/* A window of `bytes`, zeroed, after all that ranks have enqueued has run.
 * Collective.  Errors NO_MEMORY, DEVICE. */
tacit_status tct_windows_take(tct_windows *W, size_t bytes,
                              tct_peer_window *out);
void tct_windows_give(tct_windows *W, const tct_peer_window *window);

/* Where window `w` of `rank` is in this process. */
void *tct_windows_at(const tct_windows *W, int rank, const tct_peer_window *w);

#endif
