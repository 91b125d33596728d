/* SPDX-License-Identifier: BSD-3-Clause
 * device/memory_pool.h - memory of set-up: pieces of few large slabs, where to
 * ask for each of them takes long, as a GPU's runtime takes tens of
 * microseconds.
 *
 * A slab has many pieces. What is too large for that has a slab of its own,
 * which is kept for others of about the size. Pieces may outlive the reserve: a
 * slab goes back when the reserve is closed and none of its pieces is in
 * use. */
#ifndef TCT_DEVICE_MEMORY_POOL_H
#define TCT_DEVICE_MEMORY_POOL_H
#include "base/base.h"

/* Whose memory it is; take(bytes) NULL: there is none. */
typedef struct tct_memory_pool_source {
    void *(*take)(size_t bytes);
    void (*give)(void *p);
} tct_memory_pool_source;

typedef struct tct_memory_pool tct_memory_pool;

/* Slabs have `bytes`; NULL: there is no memory. One thread takes. */
tct_memory_pool *tct_memory_pool_open(tct_memory_pool_source source,
                                      size_t bytes);
/* `bytes`, aligned as slabs are and to 512; NULL: there is none. */
void *tct_memory_pool_take(tct_memory_pool *r, size_t bytes);
/* Give back what any reserve had; false: `p` is of none. By any thread. */
bool tct_memory_pool_give(const void *p);
/* NULL is fine. */
void tct_memory_pool_close(tct_memory_pool *r);

#endif
