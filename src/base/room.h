/* SPDX-License-Identifier: BSD-3-Clause
 * base/room.h - what tells how much memory there is. */
#ifndef TCT_BASE_ROOM_H
#define TCT_BASE_ROOM_H
#include <stdbool.h>
#include <stdint.h>

/* The number in the first line of a file that starts with `key`; false: there
 * is none, as where a limit is "max". */
bool tct_read_number(const char *path, const char *key, uint64_t *out);

/* The bytes that the control groups of this process leave it; UINT64_MAX: all.
 * Files are looked for below `root`, which is "" but in tests. */
uint64_t tct_room_of_groups(const char *root);

/* The bytes that all processes of this machine, or of this container, may still
 * have. */
uint64_t tct_memory_of_machine(void);

#endif
