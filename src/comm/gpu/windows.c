/* SPDX-License-Identifier: BSD-3-Clause
 * comm/gpu/windows.c - memory of a GPU that all ranks of a machine reach.
 *
 * An arena is an allocation of its own, since whoever has its handle reaches all
 * of it, and it is exported as a whole. It may be freed when nobody has it open
 * any more: who closes it says so in memory of the host that the ranks share. */
#include "comm/gpu/windows.h"
#include "comm/places.h"
#include "comm/shared.h"
#include "device/gpu/gpu.h"
#include <sched.h>
#include <string.h>

enum { ARENA = 2 << 20, ARENAS_MOST = 64, ALIGN = 256 };
static const double CLOSE_SECONDS = 5.0;

typedef struct taken {
    int64_t offset, bytes;
    struct taken *next; /* behind it */
} taken;

typedef struct {
    char *at[TCT_PEERS_MOST]; /* of each rank, here */
    int64_t bytes;            /* of this rank's     */
    taken *first;
} arena;

struct tct_windows {
    tacit_queue *q;
    tct_shared *closed; /* of each rank: who has closed its arenas */
    int arenas;
    arena arena[ARENAS_MOST];
};

/* --- who reaches whom? ------------------------------------------------------ */

static tacit_status check_reach(const tacit_queue *q, const tct_place *all)
{
    const int mine = tct_gpu_of(q)->device;
    const int other = tct_place_shared(all, q->ranks, q->rank);
    if (other >= 0 && !q->world->oversubscribe)
        FAIL(TACIT_UNSUPPORTED, "ranks %d and %d share a GPU",
             other < q->rank ? other : q->rank,
             other < q->rank ? q->rank : other);
    for (int r = 0; r < q->ranks; r++) {
        int device = -1, can = 0;
        if (strcmp(all[r].bus, all[q->rank].bus) == 0) continue;
        if (gpu_by_bus_id(&device, all[r].bus) != GPU_OK ||
            gpu_can_reach(&can, mine, device) != GPU_OK || !can) {
            (void)gpu_last_error();
            FAIL(TACIT_UNSUPPORTED,
                 "the GPU of rank %d does not reach that of rank %d%s", q->rank,
                 r, device < 0 ? ", which this process does not see" : "");
        }
    }
    return TACIT_OK;
}

static tacit_status check_ranks(tacit_queue *q)
{
    tct_place all[TCT_PEERS_MOST];
    TRY(tct_places(q, all));
    return tct_agree(q->world, check_reach(q, all));
}

/* --- arenas ----------------------------------------------------------------- */

static tacit_status import(const tct_windows *W, arena *a,
                           const gpu_ipc_handle *all)
{
    for (int r = 0; r < W->q->ranks; r++) {
        void *p = NULL;
        if (r == W->q->rank) continue;
        TRY(tct_gpu_status(gpu_ipc_take(&p, all[r], GPU_IPC_REACH),
                           "reaching memory of another GPU"));
        a->at[r] = p;
    }
    return TACIT_OK;
}

/* Every rank makes one, of its own size. Collective. */
static tacit_status add_arena(tct_windows *W, int64_t bytes)
{
    const tacit_queue *q = W->q;
    gpu_ipc_handle mine, all[TCT_PEERS_MOST];
    if (W->arenas == ARENAS_MOST) /* on all ranks */
        FAIL(TACIT_NO_MEMORY, "more than %d pieces of memory for messages",
             ARENAS_MOST);
    arena *a = &W->arena[W->arenas++];
    *a = (arena){.bytes = bytes < ARENA ? ARENA : bytes};
    memset(&mine, 0, sizeof mine);
    tacit_status status =
        tct_gpu_upload(NULL, (size_t)a->bytes, &a->at[q->rank]);
    if (status >= 0)
        status = tct_gpu_status(gpu_ipc_give(&mine, a->at[q->rank]),
                                "sharing memory of the GPU");
    status = tct_agree(q->world, status);
    if (status >= 0) status = tct_allgather(q->world, sizeof mine, &mine, all);
    if (status >= 0) status = tct_agree(q->world, import(W, a, all));
    if (status < 0) a->bytes = 0; /* there is no room in it */
    return status;
}

static tct_counter *closed_of(const tct_windows *W, int rank, int by)
{
    return (tct_counter *)tct_shared_of(W->closed, rank) + by;
}

/* Nobody else reaches this rank's arenas any more. */
static bool all_closed(const tct_windows *W)
{
    for (int r = 0; r < W->q->ranks; r++)
        if (r != W->q->rank && !tct_signalled(closed_of(W, W->q->rank, r), 1))
            return false;
    return true;
}

tacit_status tct_windows_open(tacit_queue *q, tct_windows **out)
{
    tct_windows *W = tct_calloc(sizeof *W);
    tacit_status status =
        W ? TACIT_OK
          : tacit_error_set(TACIT_NO_MEMORY, "no memory for messages");
    *out = W;
    if (W) W->q = q;
    TRY(tct_agree(q->world, status));
    TRY(check_ranks(q));
    TRY(tct_shared_create(q->world, (size_t)q->ranks * sizeof(tct_counter),
                          &W->closed));
    return TACIT_OK;
}

void tct_windows_close(tct_windows **windows)
{
    tct_windows *W = *windows;
    if (!W) return;
    const tacit_queue *q = W->q;
    for (int i = 0; i < W->arenas; i++)
        for (int r = 0; r < q->ranks; r++)
            if (r != q->rank && W->arena[i].at[r])
                (void)gpu_ipc_close(W->arena[i].at[r]);
    for (int r = 0; W->arenas > 0 && r < q->ranks; r++)
        tct_signal(closed_of(W, r, q->rank), 1);
    const double start = tct_seconds();
    while (W->arenas > 0 && !all_closed(W) &&
           tct_seconds() - start < CLOSE_SECONDS)
        sched_yield();
    const bool unused = W->arenas == 0 || all_closed(W);
    if (!unused)
        tct_log(TCT_DETAIL,
                "rank %d: memory of the GPU is left: others may "
                "still reach it",
                q->rank);
    for (int i = 0; i < W->arenas; i++) {
        if (unused) tct_gpu_release(W->arena[i].at[q->rank]);
        while (W->arena[i].first) {
            taken *t = W->arena[i].first;
            W->arena[i].first = t->next;
            tct_free(t);
        }
    }
    tct_shared_destroy(&W->closed);
    tct_free(W);
    *windows = NULL;
}

/* --- windows ------------------------------------------------------------------ */

/* Room for `bytes` between what is taken, the first there is: behind *at. */
static bool find_room(arena *a, int64_t bytes, taken ***at, int64_t *offset)
{
    *offset = 0;
    for (*at = &a->first;; *at = &(**at)->next) {
        const int64_t end = **at ? (**at)->offset : a->bytes;
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
        if (find_room(&W->arena[out->arena], bytes, &at, &offset)) break;
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
        (void)find_room(&W->arena[out->arena], bytes, &at, &offset);
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
    const int64_t all = ((int64_t)bytes + ALIGN - 1) / ALIGN * ALIGN;
    out->arena = -1;
    q->device->sync(q);
    TRY(tct_agree(q->world, q_own_status(q)));
    TRY(take(W, all > 0 ? all : ALIGN, out));
    gpu_error error =
        gpu_memset(tct_windows_at(W, q->rank, out), 0, (size_t)out->bytes);
    if (error == GPU_OK) error = gpu_stream_sync(NULL);
    return tct_agree(q->world, tct_gpu_status(error, "clearing memory"));
}

void tct_windows_give(tct_windows *W, const tct_peer_window *window)
{
    if (window->arena < 0) return;
    for (taken **at = &W->arena[window->arena].first; *at; at = &(*at)->next)
        if ((*at)->offset == window->offset) {
            taken *t = *at;
            *at = t->next;
            tct_free(t);
            return;
        }
}

void *tct_windows_at(const tct_windows *W, int rank, const tct_peer_window *w)
{
    return W->arena[w->arena].at[rank] + w->offset;
}
