/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/comm/link/gpu/peer.cuh - as peer.h. */
#include "comm/link/gpu/peer.h"
