/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/reach.h - checks for links that store into GPUs of other
 * ranks. */
#ifndef TCT_COMM_LINK_GPU_REACH_H
#define TCT_COMM_LINK_GPU_REACH_H
#include "comm/world/device_map.h"

/* Does this rank of `q` have a GPU for itself? Does this GPU reach those of the
 * other ranks on its machine?
 * Errors      UNSUPPORTED: no, with the name of the link. */
tacit_status tct_reach_p2p(const tacit_queue *q, const tct_rank_device *all);
tacit_status tct_reach_others(const tacit_queue *q, const tct_rank_device *all);

#endif
