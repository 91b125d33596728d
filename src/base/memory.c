/* SPDX-License-Identifier: BSD-3-Clause
 * base/memory.c - aligned memory that is counted, is refused before the system
 * runs out, and fails on demand in tests. A header of one cache line keeps each
 * block's size. */
#include "base/base.h"
#include "base/room.h"
#include "base/slabs.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64 };
#define HUGE_PAGE ((size_t)2 << 20)

static atomic_size_t blocks;
static atomic_long fail_at;

typedef struct {
    void *base;     /* as it was allocated */
    tct_slab *slab; /* it is in; NULL: of posix_memalign */
    size_t bytes;
} block_head;

static bool must_fail(void)
{
    if (atomic_load(&fail_at) == 0) return false;
    return atomic_fetch_sub(&fail_at, 1) == 1;
}

/* Linux overcommits: a process is killed when it writes to memory that is
 * short. The check takes some 0.1 ms, little next to writing so much. */
static bool is_available(size_t bytes)
{
    return bytes < 16 * HUGE_PAGE || bytes <= tct_memory_available();
}

/* Memory of its own, in large pages as far as it fills them. */
static char *apart(size_t bytes, void **base)
{
    const bool large = bytes >= 2 * HUGE_PAGE;
    const size_t align = large ? HUGE_PAGE : LINE;
    const size_t whole =
        large ? (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : bytes;
    const size_t lead = LINE; /* the header precedes the data */
    if (posix_memalign(base, align, whole + align + lead) != 0) return NULL;
    char *data = (char *)*base + (large ? align : lead);
    if (large) madvise(data, whole, MADV_HUGEPAGE);
    return data;
}

static bool is_refused(size_t bytes)
{
    return must_fail() || bytes > SIZE_MAX / 2 || !is_available(bytes);
}

/* Write the header of `data`, and count it. */
static void *counted(char *data, block_head of)
{
    if (!data) return NULL;
    *(block_head *)(void *)(data - LINE) = of;
    tct_memory_count((int64_t)of.bytes);
    atomic_fetch_add(&blocks, 1);
    return data;
}

void *tct_alloc(size_t bytes)
{
    if (is_refused(bytes)) return NULL;
    tct_slab *slab = NULL;
    void *base = tct_slab_take(bytes + LINE, &slab);
    char *data = base ? (char *)base + LINE : apart(bytes, &base);
    return counted(data, (block_head){base, slab, bytes});
}

void *tct_alloc_small_pages(size_t bytes)
{
    void *base;
    if (is_refused(bytes) || posix_memalign(&base, LINE, bytes + LINE) != 0)
        return NULL;
    return counted((char *)base + LINE, (block_head){base, NULL, bytes});
}

void *tct_calloc(size_t bytes)
{
    void *p = tct_alloc(bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void tct_free(void *p)
{
    if (!p) return;
    block_head *head = (block_head *)(void *)((char *)p - LINE);
    tct_memory_count(-(int64_t)head->bytes);
    atomic_fetch_sub(&blocks, 1);
    if (head->slab) tct_slab_give(head->slab, head->base, head->bytes + LINE);
    else free(head->base);
}

void tct_memory_keep(void *p, bool kept)
{
    const block_head *head = (block_head *)(void *)((char *)p - LINE);
    if (kept) {
        tct_memory_count(-(int64_t)head->bytes);
        atomic_fetch_sub(&blocks, 1);
    } else {
        tct_memory_count((int64_t)head->bytes);
        atomic_fetch_add(&blocks, 1);
    }
}

void tct_free_each(size_t count, void *const *p)
{
    for (size_t i = 0; i < count; i++) tct_free(p[i]);
}

static tacit_status alloc_array(void *(*alloc)(size_t), size_t count,
                                size_t size, const char *what, void *out)
{
    void *p = count > SIZE_MAX / 2 / size ? NULL : alloc(count * size);
    if (!p)
        FAIL(TACIT_NO_MEMORY,
             "no memory for %s (%.3g GiB, %.3g GiB free): free memory, raise a "
             "limit of it (ulimit -v), or use more ranks on more machines",
             what, (double)count * (double)size / 0x1p30,
             (double)tct_memory_available() / 0x1p30);
    memcpy(out, &p, sizeof p);
    return TACIT_OK;
}

tacit_status tct_alloc_array(size_t count, size_t size, const char *what,
                             void *out)
{
    return alloc_array(tct_alloc, count, size, what, out);
}

tacit_status tct_alloc_array_small_pages(size_t count, size_t size,
                                         const char *what, void *out)
{
    return alloc_array(tct_alloc_small_pages, count, size, what, out);
}

void tct_release_pages(void *p, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)p + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)p + bytes) / page * page;
    if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Below this malloc decides: the check takes some us, some 100 us in nested
 * groups. A check stands for the requests after it, up to GRANTED bytes of
 * them, if there is far more. */
static const double LITTLE = 0x1p20, GRANTED = 0x1p26, FAR_MORE = 64.0;
static _Atomic double granted;

/* Take `bytes` of what the last check has granted, if that suffices. */
static bool is_granted(double bytes)
{
    double left = atomic_load(&granted);
    while (bytes <= left)
        if (atomic_compare_exchange_weak(&granted, &left, left - bytes))
            return true;
    return false;
}

static tacit_status require_room(double bytes, double room, const char *what)
{
    if (bytes <= room) return TACIT_OK;
    FAIL(TACIT_NO_MEMORY,
         "%s needs %.3g GiB of memory, %.3g GiB are free: use more ranks on "
         "more machines, or a smaller matrix",
         what, bytes / 0x1p30, room / 0x1p30);
}

tacit_status tct_memory_require(double bytes, const char *what)
{
    if (bytes <= LITTLE || is_granted(bytes)) return TACIT_OK;
    const double room = (double)tct_memory_available();
    atomic_store(&granted, room > FAR_MORE * GRANTED ? GRANTED : 0.0);
    return require_room(bytes, room, what);
}

tacit_status tct_memory_require_of(int ranks, double bytes, const char *what)
{
    if (bytes <= LITTLE) return TACIT_OK;
    TRY(require_room(bytes, (double)tct_memory_of_machine(), what));
    return tct_memory_require(bytes / ranks, what);
}

size_t tct_memory_blocks(void)
{
    return atomic_load(&blocks);
}

void tct_memory_fail_at(long k)
{
    atomic_store(&fail_at, k);
}
