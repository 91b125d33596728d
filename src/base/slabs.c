/* SPDX-License-Identifier: BSD-3-Clause
 * base/slabs.c - slabs are divided into units; a block takes the first run of
 * free ones. A slab without blocks is returned to the system unless it is the
 * last one. */
#include "base/slabs.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A sanitizer of addresses sees no ends of such blocks. */
#if defined(__SANITIZE_ADDRESS__)
#define WATCHED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED true
#endif
#endif
#ifndef WATCHED
#define WATCHED false
#endif

#define HUGE_PAGE ((size_t)2 << 20)
enum {
    UNIT = 1 << 14,
    UNITS = 512, /* of a slab: four large pages */
    LEAST = 1 << 17,
    WORTH = 4 << 20, /* bytes asked for: fewer take no large page */
    MOST = UNITS / 2 * UNIT
};

struct tct_slab {
    tct_slab *next;
    char *at, *map; /* aligned; as it was mapped */
    int used;       /* units */
    bool taken[UNITS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tct_slab *slabs;
static size_t asked; /* bytes of such blocks */

/* The child of a fork has no thread that would leave the lock. */
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static int units_of(size_t bytes)
{
    return (int)((bytes + UNIT - 1) / UNIT);
}

static tct_slab *open_slab(void)
{
    const size_t bytes = (size_t)UNITS * UNIT;
    tct_slab *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    void *map = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        free(s);
        return NULL;
    }
    s->map = map;
    s->at = s->map + (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
    madvise(s->at, bytes, MADV_HUGEPAGE);
    s->next = slabs;
    slabs = s;
    return s;
}

static void close_slab(tct_slab *s)
{
    tct_slab **link = &slabs;
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    munmap(s->map, (size_t)UNITS * UNIT + HUGE_PAGE);
    free(s);
}

/* The first of `count` adjacent free units; -1: there are none. */
static int find_run(const tct_slab *s, int count)
{
    int run = 0;
    if (UNITS - s->used < count) return -1;
    for (int u = 0; u < UNITS; u++) {
        run = s->taken[u] ? 0 : run + 1;
        if (run == count) return u + 1 - count;
    }
    return -1;
}

static void *take_units(int count, tct_slab **slab)
{
    tct_slab *s = slabs;
    int first = -1;
    for (; s && first < 0; s = first < 0 ? s->next : s)
        first = find_run(s, count);
    if (first < 0 && (s = open_slab())) first = 0;
    if (!s) return NULL;
    memset(s->taken + first, true, (size_t)count);
    s->used += count;
    *slab = s;
    return s->at + (size_t)first * UNIT;
}

void *tct_slab_take(size_t bytes, tct_slab **slab)
{
    if (WATCHED) return NULL;
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    if (bytes < LEAST || bytes > MOST) return NULL;
    pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&lock);
    asked += bytes;
    void *p = asked < WORTH ? NULL : take_units(units_of(bytes), slab);
    pthread_mutex_unlock(&lock);
    return p;
}

void tct_slab_give(tct_slab *s, void *p, size_t bytes)
{
    const size_t first = (size_t)((char *)p - s->at) / UNIT;
    const int count = units_of(bytes);
    pthread_mutex_lock(&lock);
    memset(s->taken + first, false, (size_t)count);
    s->used -= count;
    if (s->used == 0 && (slabs != s || s->next)) close_slab(s);
    pthread_mutex_unlock(&lock);
}
