/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/arena.h - blocks of memory that one rank takes by itself and that
 * all ranks of a world on one machine reach: by address in one process, else in
 * a segment whose pages are taken with the blocks.
 *
 *     tct_arena_create(world, &a);        // collective
 *     tct_arena_take(a, bytes, &p);       // by this rank alone
 *     place = tct_arena_place(a, p);      // told to another rank, where
 *     q = tct_arena_at(a, rank, place);   // is the same memory
 *
 * Threads: one at a time, except for tct_arena_at. */
#ifndef TCT_COMM_WORLD_ARENA_H
#define TCT_COMM_WORLD_ARENA_H
#include "comm/world/world.h"

typedef struct tct_arena tct_arena;

/* Errors      UNSUPPORTED (ranks on several machines), NO_MEMORY, IO, COMM. */
tacit_status tct_arena_create(tacit_world *w, tct_arena **out);
/* Not collective; blocks that are left are freed. NULL is allowed. */
void tct_arena_destroy(tct_arena **arena);
/* May ranks address each other's own memory, too? */
bool tct_arena_is_flat(const tct_arena *a);

/* A block aligned to 64 bytes, not cleared.
 * Errors      NO_MEMORY. */
tacit_status tct_arena_take(tct_arena *a, size_t bytes, void **out);
void tct_arena_give(tct_arena *a, void *block);
/* Blocks that are taken. */
int64_t tct_arena_blocks(const tct_arena *a);

int64_t tct_arena_place(const tct_arena *a, const void *block);
void *tct_arena_at(const tct_arena *a, int rank, int64_t place);

#endif
