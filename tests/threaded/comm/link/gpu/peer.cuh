/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/comm/link/gpu/peer.cuh - as peer.h. */
#ifndef TESTS_THREADED_COMM_LINK_GPU_PEER_CUH
#define TESTS_THREADED_COMM_LINK_GPU_PEER_CUH
#include "comm/link/gpu/peer.h"
#endif
