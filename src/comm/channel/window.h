/* SPDX-License-Identifier: BSD-3-Clause
 * comm/channel/window.h - a piece of a rank's memory that other ranks reach, as
 * it is described to them. Arenas are numbered alike by all ranks. */
#ifndef TCT_COMM_CHANNEL_WINDOW_H
#define TCT_COMM_CHANNEL_WINDOW_H
#include <stdint.h>

typedef struct tct_peer_window {
    int64_t arena; /* < 0: none */
    int64_t offset, bytes;
} tct_peer_window;

#endif
