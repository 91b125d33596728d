/* SPDX-License-Identifier: BSD-3-Clause
 * halo/gpu/halo_gpu.h - exchanges in place of clients that have streams of their
 * own, between GPUs. */
#ifndef TCT_HALO_GPU_HALO_GPU_H
#define TCT_HALO_GPU_HALO_GPU_H
#include "device/gpu/gpu.h"
#include "halo/halo.h"

/* As tct_halo_start, on `stream`, which the client orders with the queue's:
 * after tct_halo_ready of this buffer, and before the next exchange. Not with
 * PACKED. */
gpu_error tct_halo_start_on(tacit_halo *h, int slot, tct_halo_means means,
                            gpu_stream stream);
/* As tct_halo_finish; another stream than that of the start is fine if it waits
 * for the latter's work. */
gpu_error tct_halo_finish_on(tacit_halo *h, gpu_stream stream);

/* For kernels that wait by themselves: whom to tell of a lost rank, with the
 * time limit of now. NULL: there is one rank. Not without buffers in place. */
struct tct_peer_common;
const struct tct_peer_common *tct_halo_common(const tacit_halo *h);

#endif
