/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/heap.c - blocks that ranks of one machine share: those of
 * tct_alloc within a process, else parts of a segment, found by first fit. */
#include "comm/world/heap.h"
#include "comm/world/shared.h"
#include <stdatomic.h>
#include <unistd.h>

enum { LINE = 64, LARGE = 1 << 20 /* its pages go back */, LEAST = 64 << 20 };
/* All pieces together have at most so many bytes of addresses. */
#define ADDRESSES ((size_t)1 << 44)

typedef struct range { /* of a piece; in the order of their offsets */
    size_t at, bytes;
    bool taken;
    struct range *next;
} range;

/* Of one process, in the piece of rank 0: blocks that are left live until all
 * ranks have destroyed theirs, since others may still write to them. */
typedef struct {
    atomic_int gone; /* ranks */
    _Atomic(range *) left;
} leftovers;

struct tct_heap {
    bool flat;
    int rank, size;
    tct_shared *memory;
    range *first; /* of a piece; or the blocks of tct_alloc */
    int64_t blocks;
};

bool tct_heap_is_flat(const tct_heap *a)
{
    return a->flat;
}

int64_t tct_heap_blocks(const tct_heap *a)
{
    return a->blocks;
}

/* --- making --------------------------------------------------------------- */

/* Addresses for a piece: as many as the machine has memory. */
static size_t piece_of(const tacit_world *w)
{
    const size_t memory =
        (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    const size_t share = ADDRESSES / (size_t)w->size;
    return memory < share ? memory : share;
}

/* With fewer addresses where the process may not have as many. Collective. */
static tacit_status reserve(tacit_world *w, tct_heap *a)
{
    int64_t piece = (int64_t)piece_of(w);
    TRY(tct_reduce_i64(w, TCT_MIN, 1, &piece));
    tacit_status status = tct_shared_sparse(w, (size_t)piece, &a->memory);
    while (status < 0 && !w->lost_rank.noted && (piece /= 4) >= LEAST)
        status = tct_shared_sparse(w, (size_t)piece, &a->memory);
    TRY(status);
    TRY(tct_agree(w, TCT_ALLOC(1, "shared memory", &a->first)));
    *a->first = (range){.bytes = (size_t)piece};
    return TACIT_OK;
}

tacit_status tct_heap_create(tacit_world *w, tct_heap **out)
{
    char reason[128];
    if (!tct_can_share(w, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "shared memory: %s", reason);
    tct_heap *a = tct_calloc(sizeof *a);
    tacit_status status =
        a ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for shared memory");
    status = tct_agree(w, status);
    if (a) {
        a->flat = w->size == 1 || w->ops->one_process;
        a->rank = w->rank;
        a->size = w->size;
    }
    if (status >= 0)
        status = a->flat ? tct_shared_create(w, sizeof(leftovers), &a->memory)
                         : reserve(w, a);
    if (status < 0) tct_heap_destroy(&a);
    else *out = a;
    return status;
}

static void free_all(range *first)
{
    for (range *r = first, *next; r; r = next) {
        next = r->next;
        tct_free(r);
    }
}

/* Leave the blocks to the last rank that comes, which frees those of all. */
static void leave(tct_heap *a)
{
    leftovers *all = tct_shared_of(a->memory, 0);
    for (range *r = a->first, *next; r; r = next) {
        next = r->next;
        r->next = atomic_load(&all->left);
        while (!atomic_compare_exchange_weak(&all->left, &r->next, r)) continue;
    }
    if (atomic_fetch_add(&all->gone, 1) + 1 == a->size)
        free_all(atomic_load(&all->left));
}

void tct_heap_destroy(tct_heap **heap)
{
    tct_heap *a = *heap;
    if (!a) return;
    if (!a->flat) free_all(a->first);
    else if (a->memory) leave(a);
    tct_shared_destroy(&a->memory);
    tct_free(a);
    *heap = NULL;
}

/* --- one process: blocks behind their entry in a list --------------------- */

static tacit_status take_flat(tct_heap *a, size_t bytes, void **out)
{
    char *block = tct_alloc(LINE + bytes);
    if (!block) FAIL(TACIT_NO_MEMORY, "no memory for %zu bytes", bytes);
    range *r = (range *)(void *)block;
    *r = (range){.next = a->first};
    a->first = r;
    *out = block + LINE;
    return TACIT_OK;
}

static void give_flat(tct_heap *a, void *block)
{
    range *r = (range *)(void *)((char *)block - LINE);
    range **at = &a->first;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    tct_free(r);
}

/* --- processes ------------------------------------------------------------ */

/* Cut what is left over of a range off it. */
static tacit_status cut(range *r, size_t bytes)
{
    range *rest = NULL;
    if (r->bytes == bytes) return TACIT_OK;
    TRY(TCT_ALLOC(1, "shared memory", &rest));
    *rest = (range){.at = r->at + bytes, .bytes = r->bytes - bytes};
    rest->next = r->next;
    r->next = rest;
    r->bytes = bytes;
    return TACIT_OK;
}

static void merge_next(range *r)
{
    range *next = r->next;
    if (!next || next->taken || r->taken) return;
    r->bytes += next->bytes;
    r->next = next->next;
    tct_free(next);
}

static tacit_status take_range(tct_heap *a, size_t bytes, void **out)
{
    const size_t need = (bytes + LINE) / LINE * LINE;
    range *r = a->first;
    while (r && (r->taken || r->bytes < need)) r = r->next;
    if (!r) FAIL(TACIT_NO_MEMORY, "no shared memory left for %zu bytes", bytes);
    TRY(tct_memory_require((double)need, "shared memory"));
    TRY(tct_shared_back(a->memory, a->rank, r->at, need));
    TRY(cut(r, need));
    r->taken = true;
    *out = (char *)tct_shared_of(a->memory, a->rank) + r->at;
    return TACIT_OK;
}

static void give_range(tct_heap *a, const void *block)
{
    const size_t at = (size_t)((const char *)block -
                               (const char *)tct_shared_of(a->memory, a->rank));
    range *r = a->first, *before = NULL;
    for (; r->at != at; r = r->next) before = r;
    r->taken = false;
    if (r->bytes >= LARGE)
        tct_shared_unback(a->memory, a->rank, r->at, r->bytes);
    merge_next(r);
    if (before) merge_next(before);
}

/* --- both ----------------------------------------------------------------- */

tacit_status tct_heap_take(tct_heap *a, size_t bytes, void **out)
{
    TRY(a->flat ? take_flat(a, bytes, out) : take_range(a, bytes, out));
    a->blocks++;
    return TACIT_OK;
}

void tct_heap_give(tct_heap *a, void *block)
{
    if (!block) return;
    if (a->flat) give_flat(a, block);
    else give_range(a, block);
    a->blocks--;
}

int64_t tct_heap_place(const tct_heap *a, const void *block)
{
    if (a->flat) return (int64_t)(uintptr_t)block;
    return (const char *)block -
           (const char *)tct_shared_of(a->memory, a->rank);
}

void *tct_heap_at(const tct_heap *a, int rank, int64_t place)
{
    if (a->flat) return (void *)(uintptr_t)place;
    return (char *)tct_shared_of(a->memory, rank) + place;
}
