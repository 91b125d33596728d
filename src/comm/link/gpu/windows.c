/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/windows.c - windows: pieces of GPU memory that all ranks
 * reach. */
#include "comm/link/gpu/windows.h"
#include "device/gpu/gpu.h"

enum { ARENA = 2 << 20, ARENAS_MOST = 64 };

typedef struct taken {
    int64_t offset, bytes;
    struct taken *next; /* by offset */
} taken;

struct tct_windows {
    tacit_queue *q;
    const tct_window_source *source;
    void *state; /* of the source */
    int arenas;
    tct_arena arena[ARENAS_MOST];
    taken *first[ARENAS_MOST]; /* of each arena */
};

tacit_status tct_windows_open(tacit_queue *q, const tct_window_source *source,
                              tct_windows **out)
{
    tct_windows *W = tct_calloc(sizeof *W);
    tacit_status status =
        W ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for messages");
    *out = W;
    TRY(tct_agree(q->world, status));
    W->q = q;
    W->source = source;
    return source->open(q, &W->state);
}

void tct_windows_close(tct_windows **windows)
{
    tct_windows *W = *windows;
    if (!W) return;
    W->source->close(W->q, W->state, W->arenas, W->arena);
    for (int i = 0; i < W->arenas; i++)
        while (W->first[i]) {
            taken *t = W->first[i];
            W->first[i] = t->next;
            tct_free(t);
        }
    tct_free(W);
    *windows = NULL;
}

/* Every rank adds an arena, of its own size. Collective. */
static tacit_status add_arena(tct_windows *W, int64_t bytes)
{
    if (W->arenas == ARENAS_MOST) /* on all ranks */
        FAIL(TACIT_NO_MEMORY, "more than %d pieces of memory for messages",
             ARENAS_MOST);
    tct_arena *a = &W->arena[W->arenas++];
    *a = (tct_arena){.bytes = bytes < ARENA ? ARENA : bytes};
    const tacit_status status = W->source->add(W->q, W->state, a);
    if (status < 0) a->bytes = 0; /* it has no room */
    return status;
}

/* --- windows -------------------------------------------------------------- */

/* The first gap of `bytes` in arena `i`: at `*offset`, to be linked at *at. */
static bool find_room(tct_windows *W, int64_t i, int64_t bytes, taken ***at,
                      int64_t *offset)
{
    *offset = 0;
    for (*at = &W->first[i];; *at = &(**at)->next) {
        const int64_t end = **at ? (**at)->offset : W->arena[i].bytes;
        if (end - *offset >= bytes) return true;
        if (!**at) return false;
        *offset = (**at)->offset + (**at)->bytes;
    }
}

/* Collective. */
static tacit_status take(tct_windows *W, int64_t bytes, tct_peer_window *out)
{
    taken **at = NULL, *t = tct_calloc(sizeof *t);
    int64_t lacks = 1, offset = 0;
    for (out->arena = W->arenas; lacks && out->arena-- > 0;)
        if (find_room(W, out->arena, bytes, &at, &offset)) break;
    lacks = out->arena < 0;
    tacit_status status =
        t ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for an exchange");
    status = tct_agree(W->q->world, status);
    if (status >= 0) status = tct_reduce_i64(W->q->world, TCT_MAX, 1, &lacks);
    if (status >= 0 && lacks) status = add_arena(W, bytes);
    if (status < 0) {
        tct_free(t);
        out->arena = -1;
        return status;
    }
    if (out->arena < 0) {
        out->arena = W->arenas - 1;
        (void)find_room(W, out->arena, bytes, &at, &offset);
    }
    *t = (taken){offset, bytes, *at};
    *at = t;
    out->offset = offset;
    out->bytes = bytes;
    return TACIT_OK;
}

tacit_status tct_windows_take(tct_windows *W, size_t bytes,
                              tct_peer_window *out)
{
    tacit_queue *q = W->q;
    const int64_t align = TCT_WINDOW_ALIGN;
    const int64_t all = ((int64_t)bytes + align - 1) / align * align;
    out->arena = -1;
    q->device->sync(q);
    tacit_status status = q_own_status(q);
    if (status >= 0 && W->arenas > 0 && W->source->settle)
        status = W->source->settle(q);
    TRY(tct_agree(q->world, status));
    TRY(take(W, all > 0 ? all : align, out));
    gpu_error error =
        gpu_memset(tct_windows_at(W, q->rank, out), 0, (size_t)out->bytes);
    if (error == GPU_OK) error = gpu_stream_sync(NULL);
    return tct_agree(q->world, tct_gpu_status(error, "clearing memory"));
}

void tct_windows_give(tct_windows *W, const tct_peer_window *window)
{
    if (window->arena < 0) return;
    for (taken **at = &W->first[window->arena]; *at; at = &(*at)->next)
        if ((*at)->offset == window->offset) {
            taken *t = *at;
            *at = t->next;
            tct_free(t);
            return;
        }
}

const struct tct_nvshmem_module *tct_windows_calls(const tct_windows *W)
{
    return W->source->calls ? W->source->calls() : NULL;
}

bool tct_windows_no_p2p(const tct_windows *W, int rank)
{
    return W->arenas > 0 && !W->arena[0].at[rank];
}

void *tct_windows_at(const tct_windows *W, int rank, const tct_peer_window *w)
{
    char *const *at = W->arena[w->arena].at;
    return (at[rank] ? at[rank] : at[W->q->rank]) + w->offset;
}
