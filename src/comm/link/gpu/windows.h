/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/windows.h - memory of a GPU into which kernels of all ranks can
 * write: each rank has arenas, which all reach, and windows are pieces of them.
 * Where arenas come from is a source's business: windows_ipc.c,
 * windows_nvshmem.c. Of a source that has calls for it, ranks may be far:
 * kernels do not reach their arenas. */
#ifndef TCT_COMM_LINK_GPU_WINDOWS_H
#define TCT_COMM_LINK_GPU_WINDOWS_H
#include "comm/world/world.h"

enum { TCT_PEERS_MOST = 16, TCT_WINDOW_ALIGN = 256 };

typedef struct tct_windows tct_windows;
struct tct_nvshmem_module;

typedef struct tct_arena {
    char *at[TCT_PEERS_MOST]; /* of each rank, in this process; NULL: far */
    int64_t bytes;            /* of this rank's */
} tct_arena;

/* Where arenas come from, for the ranks of a queue whose device is a GPU; what
 * a source keeps of the queue is in *state, NULL at first. */
typedef struct tct_window_source {
    /* Do kernels of the ranks reach each other's memory so? Collective.
     * Errors UNSUPPORTED, with the reason. */
    tacit_status (*open)(tacit_queue *q, void **state);
    /* An arena: of this rank's `out->bytes`, or more. What there is of it is in
     * `out` also after an error. Collective.
     * Errors NO_MEMORY, DEVICE, UNSUPPORTED. */
    tacit_status (*add)(tacit_queue *q, void *state, tct_arena *out);
    /* This rank is through with its arenas and those of the others, who may be
     * not. Waits, not for long, or not at all. */
    void (*close)(tacit_queue *q, void *state, int count,
                  const tct_arena *arena);
    /* Once there is an arena: what speaks to ranks that are far, on all ranks
     * if on any; NULL: none is. OPTIONAL: none ever is. */
    const struct tct_nvshmem_module *(*calls)(void);
    /* Wait until what this rank has sent has arrived. Errors DEVICE. OPTIONAL,
     * as `calls`. */
    tacit_status (*settle)(tacit_queue *q);
} tct_window_source;

/* CUDA IPC, between processes of one machine. */
extern const tct_window_source tct_windows_ipc;
/* The heap of NVSHMEM. */
extern const tct_window_source tct_windows_nvshmem;

/* A window of a rank's, for all. */
typedef struct tct_peer_window {
    int64_t arena; /* < 0: none */
    int64_t offset, bytes;
} tct_peer_window;

/* For the ranks of `q`, whose device is a GPU.
 * Collective.  Errors as the source's, NO_MEMORY. */
tacit_status tct_windows_open(tacit_queue *q, const tct_window_source *source,
                              tct_windows **out);
void tct_windows_close(tct_windows **windows);

/* A window of `bytes`, zeroed, after all that ranks have enqueued has run, and
 * arrived.
 * Collective.  Errors as the source's. */
tacit_status tct_windows_take(tct_windows *W, size_t bytes,
                              tct_peer_window *out);
void tct_windows_give(tct_windows *W, const tct_peer_window *window);

/* What speaks to ranks that are far; NULL: none is. After the first window. */
const struct tct_nvshmem_module *tct_windows_calls(const tct_windows *W);
bool tct_windows_no_p2p(const tct_windows *W, int rank);

/* Where window `w` of `rank` is in this process; of a rank that is far, where
 * it would be if this rank's arena were that one's, which such calls take. */
void *tct_windows_at(const tct_windows *W, int rank, const tct_peer_window *w);

#endif
