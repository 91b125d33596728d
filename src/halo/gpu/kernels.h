/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/kernels.h - the kernels of halos. */
#ifndef TCT_HALO_GPU_KERNELS_H
#define TCT_HALO_GPU_KERNELS_H
#include "comm/link/gpu/peer.h"
#include "halo/copies.h"
#include "halo/put.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the exchanges in place of a halo share, in device memory. */
typedef struct tct_halo_signals {
    int count;
    const tct_halo_put *put; /* [count]                                   */
    uint64_t *number;        /* of the last exchange                      */
    unsigned *ticket;        /* [count + 1], 0: of a direction, of all    */
} tct_halo_signals;

/* Make the copies of a list; `most`: bytes of the largest. */
gpu_error tct_halo_copy_boxes(const tct_halo_copies *list, int64_t most,
                              uintptr_t from, uintptr_t to, gpu_stream stream);
/* The same to peers, whose counters then get the next number. */
gpu_error tct_halo_put_boxes(const tct_halo_copies *list, int64_t most,
                             const tct_halo_signals *signals,
                             gpu_stream stream);
/* The counters alone: cells were stored by earlier work of the stream. */
gpu_error tct_halo_tell(const tct_halo_signals *signals, gpu_stream stream);
/* Wait until the cells of the last exchange have come. After the time limit the
 * neighbour is noted as lost. */
gpu_error tct_halo_await(const tct_peer_common *C,
                         const tct_halo_signals *signals, gpu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
