/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/reach.h - can ranks have links that store into GPUs of
 * others? */
#ifndef TCT_COMM_LINK_GPU_REACH_H
#define TCT_COMM_LINK_GPU_REACH_H
#include "comm/world/device_map.h"

/* Has this rank of `q` a GPU for itself? Does that reach those of the other
 * ranks on its machine? Errors UNSUPPORTED: no, with the name of the link. */
tacit_status tct_reach_p2p(const tacit_queue *q, const tct_rank_device *all);
tacit_status tct_reach_others(const tacit_queue *q, const tct_rank_device *all);

#endif
