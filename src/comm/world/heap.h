/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/heap.h - blocks of memory that one rank takes by itself and that
 * all ranks of a world on one machine reach: by address in one process, else in
 * a segment whose pages are taken with the blocks.
 *
 *     tct_heap_create(world, &a);        // collective
 *     tct_heap_take(a, bytes, &p);       // by this rank alone
 *     place = tct_heap_place(a, p);      // told to another rank, where
 *     q = tct_heap_at(a, rank, place);   // is the same memory
 *
 * Threads: one at a time, except for tct_heap_at. */
#ifndef TCT_COMM_WORLD_HEAP_H
#define TCT_COMM_WORLD_HEAP_H
#include "comm/world/world.h"

typedef struct tct_heap tct_heap;

/* Errors      UNSUPPORTED (ranks on several machines), NO_MEMORY, IO, COMM. */
tacit_status tct_heap_create(tacit_world *w, tct_heap **out);
/* Not collective; blocks that are left are freed. NULL is allowed. */
void tct_heap_destroy(tct_heap **heap);
/* May ranks address each other's own memory, too? */
bool tct_heap_is_flat(const tct_heap *a);

/* A block aligned to 64 bytes, not cleared.
 * Errors      NO_MEMORY. */
tacit_status tct_heap_take(tct_heap *a, size_t bytes, void **out);
void tct_heap_give(tct_heap *a, void *block);
/* Blocks that are taken. */
int64_t tct_heap_blocks(const tct_heap *a);

int64_t tct_heap_place(const tct_heap *a, const void *block);
void *tct_heap_at(const tct_heap *a, int rank, int64_t place);

#endif
