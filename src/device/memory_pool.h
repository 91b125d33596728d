/* SPDX-License-Identifier: BSD-3-Clause
 * device/memory_pool.h - a memory pool for set-up: pieces of a few large slabs,
 * for devices on which an allocation takes long (tens of microseconds on a
 * GPU).
 *
 * Large requests get a slab of their own, which is kept for later requests of
 * about this size. Pieces may outlive the pool: a slab is freed when the pool
 * is closed and none of its pieces is in use. */
#ifndef TCT_DEVICE_MEMORY_POOL_H
#define TCT_DEVICE_MEMORY_POOL_H
#include "base/base.h"

/* The allocator below; take returns NULL on failure. */
typedef struct tct_memory_pool_source {
    void *(*take)(size_t bytes);
    void (*give)(void *p);
} tct_memory_pool_source;

typedef struct tct_memory_pool tct_memory_pool;

/* Open a pool with slabs of `bytes`; NULL: no memory. Used by one thread. */
tct_memory_pool *tct_memory_pool_open(tct_memory_pool_source source,
                                      size_t bytes);
/* A piece of `bytes`, aligned as slabs are and to 512; NULL: no memory. */
void *tct_memory_pool_take(tct_memory_pool *r, size_t bytes);
/* Return a piece of any pool; false: `p` is not from a pool. By any thread. */
bool tct_memory_pool_give(const void *p);
/* NULL is allowed. */
void tct_memory_pool_close(tct_memory_pool *r);

#endif
