/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/windows.h - GPU memory that kernels of all ranks can write:
 * each rank has arenas, and windows are pieces of them. Arenas come from a
 * source: windows_ipc.c or windows_nvshmem.c. With a source that has calls,
 * ranks may be far (non-P2P): kernels do not reach their arenas. */
#ifndef TCT_COMM_LINK_GPU_WINDOWS_H
#define TCT_COMM_LINK_GPU_WINDOWS_H
#include "comm/channel/window.h"
#include "comm/world/world.h"

enum { TCT_PEERS_MOST = 16, TCT_WINDOW_ALIGN = 256 };

typedef struct tct_windows tct_windows;
struct tct_nvshmem_module;

typedef struct tct_arena {
    char *at[TCT_PEERS_MOST]; /* by rank, in this process; NULL: far */
    int64_t bytes;            /* of this rank's arena */
} tct_arena;

/* A source of arenas, for the ranks of a queue on a GPU; *state, NULL at first,
 * is the source's own. */
typedef struct tct_window_source {
    /* Check that kernels of the ranks reach each other's memory. Collective.
     * Errors UNSUPPORTED, with the reason. */
    tacit_status (*open)(tacit_queue *q, void **state);
    /* Make an arena of at least `out->bytes` in each rank. After an error `out`
     * has the part that exists. Collective.
     * Errors NO_MEMORY, DEVICE, UNSUPPORTED. */
    tacit_status (*add)(tacit_queue *q, void *state, tct_arena *out);
    /* This rank will use no arena any more, others still may. Waits for them
     * for a short time at most. */
    void (*close)(tacit_queue *q, void *state, int count,
                  const tct_arena *arena);
    /* Once an arena exists: the calls for far ranks, on all ranks if any rank
     * has a far one; NULL: no rank is far. OPTIONAL: none ever is. */
    const struct tct_nvshmem_module *(*calls)(void);
    /* Wait until this rank's messages have arrived. Errors DEVICE. OPTIONAL, as
     * `calls`. */
    tacit_status (*settle)(tacit_queue *q);
} tct_window_source;

/* CUDA IPC, between processes of one machine. */
extern const tct_window_source tct_windows_ipc;
/* NVSHMEM's symmetric heap. */
extern const tct_window_source tct_windows_nvshmem;

/* Windows for the ranks of `q`, whose device is a GPU.
 * Collective.  Errors as the source's, NO_MEMORY. */
tacit_status tct_windows_open(tacit_queue *q, const tct_window_source *source,
                              tct_windows **out);
void tct_windows_close(tct_windows **windows);

/* A zeroed window of `bytes`, after all enqueued work has run and all messages
 * have arrived.
 * Collective.  Errors as the source's. */
tacit_status tct_windows_take(tct_windows *W, size_t bytes,
                              tct_peer_window *out);
void tct_windows_give(tct_windows *W, const tct_peer_window *window);

/* The calls for far ranks; NULL: no rank is far. After the first window. */
const struct tct_nvshmem_module *tct_windows_calls(const tct_windows *W);
bool tct_windows_no_p2p(const tct_windows *W, int rank);

/* The address of window `w` of `rank` in this process; for a far rank the same
 * offset in this rank's arena, as NVSHMEM's calls take it. */
void *tct_windows_at(const tct_windows *W, int rank, const tct_peer_window *w);

#endif
