/* SPDX-License-Identifier: BSD-3-Clause
 * base/room.h - how much memory is available. */
#ifndef TCT_BASE_ROOM_H
#define TCT_BASE_ROOM_H
#include <stdbool.h>
#include <stdint.h>

/* The number after `key` in the first line of the file that starts with it;
 * false: none, as where a limit is "max". */
bool tct_read_number(const char *path, const char *key, uint64_t *out);

/* The bytes that this process may still allocate in its control groups;
 * UINT64_MAX: no limit. `root` precedes all paths; it is "" outside of
 * tests. */
uint64_t tct_room_of_groups(const char *root);

/* The bytes that all processes of this machine or container together may still
 * allocate. */
uint64_t tct_memory_of_machine(void);

/* Count `bytes`, below 0 for bytes that are freed, as tct_memory_used reads
 * them. */
void tct_memory_count(int64_t bytes);

#endif
