/* SPDX-License-Identifier: BSD-3-Clause
 * device/memory_pool.c - slabs and their pieces: the smallest free piece that
 * is large enough is taken, and free neighbours are joined. */
#include "device/memory_pool.h"
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum {
    ALIGNED = 512,
    PIECES = 256, /* of a slab, at most */
    SHARED = 2    /* a piece is at most 1 / SHARED of a slab */
};

typedef struct {
    size_t at, bytes;
    bool used;
} piece;

typedef struct slab {
    struct slab *next;
    const tct_memory_pool *owner; /* NULL: closed */
    tct_memory_pool_source source;
    char *memory;
    size_t bytes;
    bool shared;      /* may have several pieces */
    int used, pieces; /* contiguous, and all of the slab */
    piece piece[PIECES];
} slab;

struct tct_memory_pool {
    tct_memory_pool_source source;
    size_t slab;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static slab *slabs; /* of all pools */

/* --- pieces --------------------------------------------------------------- */

static void insert(slab *s, int k, piece p)
{
    memmove(s->piece + k + 1, s->piece + k, (size_t)(s->pieces - k) * sizeof p);
    s->piece[k] = p;
    s->pieces++;
}

static void erase(slab *s, int k)
{
    s->pieces--;
    memmove(s->piece + k, s->piece + k + 1,
            (size_t)(s->pieces - k) * sizeof *s->piece);
}

/* Use the first `bytes` of piece `k`. */
static void *use(slab *s, int k, size_t bytes)
{
    piece *p = &s->piece[k];
    const piece rest = {p->at + bytes, p->bytes - bytes, false};
    p->used = true;
    s->used++;
    if (rest.bytes > 0 && s->pieces < PIECES) {
        p->bytes = bytes;
        insert(s, k + 1, rest);
    }
    return s->memory + s->piece[k].at;
}

static void disuse(slab *s, int k)
{
    s->piece[k].used = false;
    s->used--;
    if (k + 1 < s->pieces && !s->piece[k + 1].used) {
        s->piece[k].bytes += s->piece[k + 1].bytes;
        erase(s, k + 1);
    }
    if (k > 0 && !s->piece[k - 1].used) {
        s->piece[k - 1].bytes += s->piece[k].bytes;
        erase(s, k);
    }
}

/* --- slabs ---------------------------------------------------------------- */

/* Is a piece of `bytes` part of a shared slab? */
static bool fits_shared(const tct_memory_pool *r, size_t bytes)
{
    return bytes <= r->slab / SHARED;
}

/* Find the smallest free piece of a slab of `r` that is large enough; without
 * sharing, of at most twice the size. */
static void *find(const tct_memory_pool *r, size_t bytes)
{
    const bool shared = fits_shared(r, bytes);
    slab *best = NULL;
    int at = 0;
    for (slab *s = slabs; s; s = s->next) {
        if (s->owner != r || s->shared != shared) continue;
        for (int k = 0; k < s->pieces; k++) {
            const piece *p = &s->piece[k];
            if (p->used || p->bytes < bytes) continue;
            if (!shared && p->bytes / 2 > bytes) continue;
            if (best && best->piece[at].bytes <= p->bytes) continue;
            best = s;
            at = k;
        }
    }
    if (!best) return NULL;
    return use(best, at, shared ? bytes : best->piece[at].bytes);
}

/* Remove the unused slabs with owner `r` from the list. */
static slab *take_unused(const tct_memory_pool *r)
{
    slab *out = NULL;
    for (slab **at = &slabs; *at;) {
        slab *s = *at;
        if (s->owner != r || s->used > 0) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        s->next = out;
        out = s;
    }
    return out;
}

static void free_all(slab *s)
{
    while (s) {
        slab *next = s->next;
        s->source.give(s->memory);
        tct_free(s);
        s = next;
    }
}

/* A new slab of one free piece. */
static slab *make(const tct_memory_pool *r, size_t bytes, bool shared)
{
    slab *s = tct_calloc(sizeof *s);
    if (!s) return NULL;
    *s = (slab){
        .owner = r, .source = r->source, .bytes = bytes, .shared = shared};
    s->memory = r->source.take(bytes);
    if (!s->memory) {
        tct_free(s);
        return NULL;
    }
    s->piece[s->pieces++] = (piece){0, bytes, false};
    return s;
}

/* --- all ------------------------------------------------------------------ */

tct_memory_pool *tct_memory_pool_open(tct_memory_pool_source source,
                                      size_t bytes)
{
    tct_memory_pool *r = tct_calloc(sizeof *r);
    if (r) *r = (tct_memory_pool){source, bytes};
    return r;
}

void *tct_memory_pool_take(tct_memory_pool *r, size_t bytes)
{
    const size_t least = bytes > 0 ? bytes : 1;
    const size_t all = (least + ALIGNED - 1) / ALIGNED * ALIGNED;
    const bool shared = fits_shared(r, all);
    pthread_mutex_lock(&lock);
    void *p = find(r, all);
    pthread_mutex_unlock(&lock);
    if (p) return p;
    slab *s = make(r, shared ? r->slab : all, shared);
    if (!s) { /* free unused slabs and try again */
        pthread_mutex_lock(&lock);
        slab *unused = take_unused(r);
        pthread_mutex_unlock(&lock);
        free_all(unused);
        s = make(r, all, shared);
    }
    if (!s) return NULL;
    pthread_mutex_lock(&lock);
    s->next = slabs;
    slabs = s;
    p = use(s, 0, all);
    pthread_mutex_unlock(&lock);
    return p;
}

/* The slab that has `p`. */
static slab *slab_of(const void *p)
{
    slab *s = slabs;
    while (s && (uintptr_t)p - (uintptr_t)s->memory >= s->bytes) s = s->next;
    return s;
}

bool tct_memory_pool_give(const void *p)
{
    slab *unused = NULL;
    pthread_mutex_lock(&lock);
    slab *s = slab_of(p);
    if (s) {
        const size_t at = (size_t)((const char *)p - s->memory);
        int k = 0;
        while (k + 1 < s->pieces && s->piece[k].at < at) k++;
        disuse(s, k);
        if (!s->owner) unused = take_unused(NULL);
    }
    pthread_mutex_unlock(&lock);
    free_all(unused);
    return s != NULL;
}

void tct_memory_pool_close(tct_memory_pool *r)
{
    if (!r) return;
    pthread_mutex_lock(&lock);
    slab *unused = take_unused(r);
    for (slab *s = slabs; s; s = s->next)
        if (s->owner == r) s->owner = NULL;
    pthread_mutex_unlock(&lock);
    free_all(unused);
    tct_free(r);
}
