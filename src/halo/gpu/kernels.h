/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/kernels.h - the kernels of halos. */
#ifndef TCT_HALO_GPU_KERNELS_H
#define TCT_HALO_GPU_KERNELS_H
#include "comm/link/gpu/peer.h"
#include "halo/combine.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tct_halo_signals; /* halo/signals.h */

/* Blocks that make a copy of so many bytes. */
enum { TCT_HALO_THREADS = 256, TCT_HALO_BLOCKS = 128 };
TCT_BOTH int tct_halo_blocks(int64_t bytes)
{
    const int64_t block = TCT_HALO_THREADS * 16; /* a wide unit a thread */
    const int64_t blocks = (bytes + block - 1) / block;
    return blocks < 1                 ? 1
           : blocks < TCT_HALO_BLOCKS ? (int)blocks
                                      : TCT_HALO_BLOCKS;
}

/* Make the copies of a list. */
gpu_error tct_halo_copy_boxes(const tct_halo_copies *list, uintptr_t from,
                              uintptr_t to, gpu_stream stream);
/* Reduce a box with that at its place. */
gpu_error tct_halo_combine_box(const tct_halo_copy *copy, uintptr_t from,
                               uintptr_t to, tct_halo_element e,
                               gpu_stream stream);
/* Make copies to peers, whose counters then get the next number. */
gpu_error tct_halo_put_boxes(const tct_halo_copies *list, uintptr_t from,
                             const struct tct_halo_signals *signals,
                             gpu_stream stream);
/* The same, and the wait for the neighbours' cells. */
gpu_error tct_halo_swap_boxes(const tct_peer_common *C,
                              const tct_halo_copies *list, uintptr_t from,
                              const struct tct_halo_signals *signals,
                              gpu_stream stream);
/* The same, and the copies of `into`, which has as many directions; both lists
 * are of one array. */
gpu_error tct_halo_trade_boxes(const tct_peer_common *C,
                               const tct_halo_copies *list, uintptr_t from,
                               const tct_halo_copies *into, uintptr_t to,
                               const struct tct_halo_signals *signals,
                               gpu_stream stream);
/* The same in cells (halo/cells.h), which are `shift` bytes behind the messages
 * of both lists. A kernel that is launched early after it may begin at once: what
 * does not need the ghosts need not wait for it. */
gpu_error tct_halo_trade_cells(const tct_peer_common *C,
                               const tct_halo_copies *list, uintptr_t from,
                               const tct_halo_copies *into, uintptr_t to,
                               int64_t shift,
                               const struct tct_halo_signals *signals,
                               bool early, gpu_stream stream);
/* The counters alone: cells were stored by earlier work of the stream. */
gpu_error tct_halo_tell(const struct tct_halo_signals *signals,
                        gpu_stream stream);
/* Wait until the cells of the last exchange have come. After the time limit the
 * neighbour is noted as lost. */
gpu_error tct_halo_await(const tct_peer_common *C,
                         const struct tct_halo_signals *signals,
                         gpu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
