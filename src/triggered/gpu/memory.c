/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu/memory.c - memory of a GPU for ends: pieces of arenas of this
 * rank, and allocations of other ranks, opened as often as ends use them. */
#include "triggered/gpu/driver.h"
#include <string.h>

enum { ARENA = 8 << 20, LINE = 256 };
_Static_assert(sizeof(gpu_ipc_handle) == sizeof((tct_gpu_place *)0)->handle,
               "a place has room for a handle");

tacit_status tct_gpu_copy_aside(struct tct_trigger_gpu *g, void *to,
                                const void *from, size_t bytes, bool to_host)
{
    pthread_mutex_lock(&g->lock);
    gpu_error error =
        from ? gpu_memcpy_async(to, from, bytes,
                                to_host ? GPU_TO_HOST : GPU_TO_DEVICE, g->aside)
             : gpu_memset_async(to, 0, bytes, g->aside);
    if (error == GPU_OK) error = gpu_stream_sync(g->aside);
    pthread_mutex_unlock(&g->lock);
    return tct_gpu_status(error, "memory of a triggered queue");
}

/* --- pieces --------------------------------------------------------------- */

static tct_gpu_arena *add_arena(struct tct_trigger_gpu *g, size_t bytes)
{
    tct_gpu_arena *a = tct_calloc(sizeof *a);
    if (!a) {
        tacit_error_set(TACIT_NO_MEMORY, "no memory for a request");
        return NULL;
    }
    a->bytes = bytes < ARENA ? ARENA : bytes;
    tacit_status status = tct_gpu_take_reached(a->bytes, &a->at);
    if (status >= 0 && !g->flat)
        status = tct_gpu_status(gpu_ipc_give(&a->handle, a->at),
                                "sharing memory of the GPU");
    if (status < 0) {
        tct_gpu_release(a->at);
        tct_free(a);
        return NULL;
    }
    a->next = g->arenas;
    g->arenas = a;
    return a;
}

/* The first gap of `bytes`; NULL: there is none. */
static tct_piece **find_gap(tct_gpu_arena *a, size_t bytes, size_t *at)
{
    *at = 0;
    for (tct_piece **p = &a->first;; p = &(*p)->next) {
        const size_t end = *p ? (*p)->at : a->bytes;
        if (end - *at >= bytes) return p;
        if (!*p) return NULL;
        *at = (*p)->at + (*p)->bytes;
    }
}

static char *take_from(tct_gpu_arena *a, tct_piece **gap, size_t at,
                       size_t bytes)
{
    tct_piece *p = tct_alloc(sizeof *p);
    if (!p) {
        tacit_error_set(TACIT_NO_MEMORY, "no memory for a request");
        return NULL;
    }
    *p = (tct_piece){at, bytes, *gap};
    *gap = p;
    return a->at + at;
}

char *tct_trigger_take(struct tct_trigger_gpu *g, size_t bytes)
{
    const size_t need = (bytes + LINE) / LINE * LINE;
    size_t at = 0;
    tct_piece **gap = NULL;
    tct_gpu_arena *a = g->arenas;
    while (a && !(gap = find_gap(a, need, &at))) a = a->next;
    if (!a) a = add_arena(g, need);
    if (!a) return NULL;
    if (!gap) gap = find_gap(a, need, &at);
    char *piece = take_from(a, gap, at, need);
    if (piece && tct_gpu_copy_aside(g, piece, NULL, need, false) < 0) {
        tct_trigger_give(g, piece);
        return NULL;
    }
    return piece;
}

static tct_gpu_arena *arena_of(const struct tct_trigger_gpu *g, const char *p)
{
    tct_gpu_arena *a = g->arenas;
    while (a && !(p >= a->at && p < a->at + a->bytes)) a = a->next;
    return a;
}

void tct_trigger_give(struct tct_trigger_gpu *g, const void *piece)
{
    tct_gpu_arena *a = piece ? arena_of(g, piece) : NULL;
    if (!a) return;
    tct_piece **at = &a->first;
    while (*at && a->at + (*at)->at != piece) at = &(*at)->next;
    tct_piece *p = *at;
    if (!p) return;
    *at = p->next;
    tct_free(p);
}

char *tct_gpu_scratch_take(tacit_trigger_comm *c, size_t bytes)
{
    const int before = tct_gpu_enter(c);
    pthread_mutex_lock(&c->lock);
    char *memory = tct_trigger_take(c->gpu, bytes);
    pthread_mutex_unlock(&c->lock);
    tct_gpu_leave(before);
    return memory;
}

void tct_gpu_scratch_give(tacit_trigger_comm *c, const char *memory)
{
    if (!memory || !c->gpu) return;
    pthread_mutex_lock(&c->lock);
    tct_trigger_give(c->gpu, memory);
    pthread_mutex_unlock(&c->lock);
}

/* --- places --------------------------------------------------------------- */

/* Of memory that is none of the arenas'. */
static bool place_of_users(const void *p, tct_gpu_place *out)
{
    gpu_ipc_handle handle;
    void *base = NULL;
    size_t bytes = 0;
    if (gpu_allocation(&base, &bytes, p) != GPU_OK ||
        gpu_ipc_give(&handle, base) != GPU_OK) {
        (void)gpu_last_error();
        return false;
    }
    memcpy(out->handle, &handle, sizeof handle);
    out->offset = (const char *)p - (const char *)base;
    return true;
}

bool tct_gpu_place_of(struct tct_trigger_gpu *g, const void *p,
                      tct_gpu_place *out)
{
    memset(out, 0, sizeof *out);
    out->address = (int64_t)(uintptr_t)p;
    const tct_gpu_arena *a = arena_of(g, p);
    if (g->flat) return true;
    if (!a) return place_of_users(p, out);
    memcpy(out->handle, &a->handle, sizeof a->handle);
    out->offset = (const char *)p - a->at;
    return true;
}

/* --- memory of peers ------------------------------------------------------ */

static tct_gpu_import *open_import(struct tct_trigger_gpu *g,
                                   const gpu_ipc_handle *handle)
{
    void *at = NULL;
    tct_gpu_import *i = tct_calloc(sizeof *i);
    if (!i) {
        tacit_error_set(TACIT_NO_MEMORY, "no memory for a request");
        return NULL;
    }
    if (tct_gpu_status(gpu_ipc_take(&at, *handle, GPU_IPC_REACH),
                       "reaching memory of another GPU") < 0) {
        tct_free(i);
        return NULL;
    }
    *i = (tct_gpu_import){.handle = *handle, .at = at, .next = g->imports};
    g->imports = i;
    return i;
}

char *tct_gpu_place_open(const tacit_trigger_comm *c, int peer,
                         const tct_gpu_place *place, tct_gpu_import **used)
{
    struct tct_trigger_gpu *g = c->gpu;
    gpu_ipc_handle handle;
    *used = NULL;
    if (g->flat || peer == c->rank) return (char *)(uintptr_t)place->address;
    memcpy(&handle, place->handle, sizeof handle);
    tct_gpu_import *i = g->imports;
    while (i && memcmp(&i->handle, &handle, sizeof handle) != 0) i = i->next;
    if (!i) i = open_import(g, &handle);
    if (!i) return NULL;
    i->uses++;
    *used = i;
    return i->at + place->offset;
}

void tct_gpu_place_close(struct tct_trigger_gpu *g, tct_gpu_import *used)
{
    if (!used || --used->uses > 0) return;
    tct_gpu_import **at = &g->imports;
    while (*at != used) at = &(*at)->next;
    *at = used->next;
    (void)gpu_ipc_close(used->at);
    tct_free(used);
}
