/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/side_lane.h - a second lane of a queue on a GPU: a stream of
 * high priority, and a kernel that waits for neighbours. */
#ifndef TCT_OPERATOR_STENCIL_GPU_SIDE_LANE_H
#define TCT_OPERATOR_STENCIL_GPU_SIDE_LANE_H
#include "comm/link/gpu/peer.h"
#include "operator/stencil/device_steps.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Data of waits: the time limit, and where a lost rank is noted. */
tct_peer_common tct_await_common(const tacit_queue *q, const tct_step_halo *h);

/* As in tct_device_steps. */
void tct_step_await(tacit_queue *q, const tct_step_halo *h);
tacit_status tct_lane_open(tacit_queue *q, tct_step_lane **out);
void tct_lane_close(tct_step_lane *lane);
void tct_lane_fork(tacit_queue *q, tct_step_lane *lane);
void tct_lane_mark(tacit_queue *q, tct_step_lane *lane);
void tct_lane_join(tacit_queue *q, tct_step_lane *lane);
void tct_lane_enter(tacit_queue *q, tct_step_lane *lane);
void tct_lane_leave(tacit_queue *q, tct_step_lane *lane);
#ifdef __cplusplus
}
#endif

#endif
