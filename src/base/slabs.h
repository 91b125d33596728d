/* SPDX-License-Identifier: BSD-3-Clause
 * base/slabs.h - blocks of middle size in shared large pages.
 *
 * The first touch of 4 KiB takes the system about a microsecond, as long as a
 * product takes for a thousand entries; with pages of 2 MiB it takes a sixth.
 * Blocks from an eighth of a megabyte on, each too small for pages of its own,
 * share slabs of such pages; freed ones are used again. */
#ifndef TCT_BASE_SLABS_H
#define TCT_BASE_SLABS_H
#include <stddef.h>

typedef struct tct_slab tct_slab;

/* `bytes` at a multiple of 64 in a slab, which `tct_slab_give` is told; NULL:
 * the size does not suit, or there is no memory. Any thread. */
void *tct_slab_take(size_t bytes, tct_slab **slab);
void tct_slab_give(tct_slab *slab, void *p, size_t bytes);

#endif
