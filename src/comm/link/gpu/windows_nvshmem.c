/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/gpu/windows_nvshmem.c - GPU memory shared between processes, from
 * NVSHMEM's heap. Kernels store to the memory of P2P ranks directly; non-P2P
 * ("far") ranks need NVSHMEM's calls, which are in a module.
 *
 * A process can start NVSHMEM only once: the job belongs to the first world
 * that asks for it, and to worlds of the same ranks. Ending it and freeing
 * memory are collective and wait without a limit. So the job is left to the end
 * of the process, and memory is freed when all ranks add another arena and have
 * closed the old one. */
#include "comm/link/gpu/libnvshmem.h"
#include "comm/link/gpu/nvshmem_module.h"
#include "comm/link/gpu/reach.h"
#include "comm/link/gpu/windows.h"
#include "device/gpu/gpu.h"
#include <stdlib.h>
#include <string.h>

enum { ARENAS_MOST = 256 };

static struct {
    const tct_nvshmem_library *lib;  /* NULL: not loaded yet */
    tct_nvshmem_id id;               /* of the job                       */
    bool begun, ready;               /* tried once; usable */
    const tct_nvshmem_module *calls; /* NULL: no rank is far */
    int device;                      /* its GPU */
    int arenas;                      /* the same on all ranks            */
    struct {
        char *at;
        bool closed; /* by this rank */
    } arena[ARENAS_MOST];
} job;

/* --- the job -------------------------------------------------------------- */

/* Turn off what is not needed and takes time or can fail, unless the user has
 * set it. `near`: P2P between all ranks. */
static void set_defaults(bool near)
{
    (void)setenv("NVSHMEM_DISABLE_NVLS", "1", 0); /* multicast */
    if (!near) return;
    (void)setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
    (void)setenv("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", "1", 0); /* a thread */
}

/* Can all ranks start NVSHMEM? Checked before any of them waits in its
 * start. */
static tacit_status check_start(tacit_queue *q)
{
    const int *v = job.lib->version;
    int64_t mine = (v[0] * 1000 + v[1]) * 1000 + v[2];
    int64_t extent[2] = {mine, -mine};
    TRY(tct_reduce_i64(q->world, TCT_MIN, 2, extent));
    tacit_status status = TACIT_OK;
    if (extent[0] != -extent[1])
        status = tacit_error_set(TACIT_UNSUPPORTED,
                                 "link nvshmem: rank %d has NVSHMEM %d.%d.%d, "
                                 "others have another one",
                                 q->rank, v[0], v[1], v[2]);
    else if (job.lib->init_status() != TCT_NVSHMEM_UNKNOWN)
        status = tacit_error_set(TACIT_UNSUPPORTED,
                                 "link nvshmem: the program uses NVSHMEM "
                                 "itself, which starts but once: use peer");
    return tct_agree(q->world, status);
}

static tacit_status start(tacit_queue *q)
{
    tct_nvshmem_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.version = TCT_NVSHMEM_VERSION(tct_nvshmem_attr);
    attr.args.version = TCT_NVSHMEM_VERSION(tct_nvshmem_args);
    attr.args.id.version = TCT_NVSHMEM_VERSION(tct_nvshmem_id_args);
    int result = job.lib->set_id(q->rank, q->ranks, &job.id, &attr);
    if (result == 0) result = job.lib->init(TCT_NVSHMEM_BY_ID, &attr);
    /* 0 even if it found its peers but no GPU */
    const int stage = job.lib->init_status();
    job.ready = result == 0 && stage >= TCT_NVSHMEM_READY;
    if (job.ready) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "link nvshmem: NVSHMEM does not start on rank %d (status %d, stage %d "
         "of %d): NVSHMEM_DEBUG=INFO shows why; or use peer, nccl or mpi",
         q->rank, result, stage, TCT_NVSHMEM_READY);
}

/* Collective. */
static tacit_status begin(tacit_queue *q, bool near)
{
    TRY(check_start(q));
    set_defaults(near);
    tacit_status status = TACIT_OK;
    job.id.version = TCT_NVSHMEM_VERSION(tct_nvshmem_id);
    if (q->rank == 0 && job.lib->get_id(&job.id) != 0)
        status = tacit_error_set(
            TACIT_UNSUPPORTED,
            "link nvshmem: NVSHMEM finds no network interface to start by: "
            "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME names one");
    TRY(tct_agree(q->world, status));
    TRY(tct_bcast(q->world, 0, sizeof job.id, &job.id));
    job.begun = true;
    job.device = tct_gpu_of(q)->device;
    status = tct_agree(q->world, start(q));
    if (status >= 0)
        tct_log(TCT_DETAIL, "rank %d  NVSHMEM %d.%d.%d has started", q->rank,
                job.lib->version[0], job.lib->version[1], job.lib->version[2]);
    return status;
}

/* Does the job have the ranks of `q`, in their order, and this rank's GPU? */
static tacit_status check_job(const tacit_queue *q, const tct_nvshmem_id *first)
{
    if (!job.begun || memcmp(first, &job.id, sizeof job.id) != 0)
        FAIL(TACIT_UNSUPPORTED, "link nvshmem: belongs to the first world that "
                                "opened it: use peer");
    if (!job.ready)
        FAIL(TACIT_UNSUPPORTED, "link nvshmem: NVSHMEM did not start before");
    if (job.lib->my_pe() != q->rank || job.lib->n_pes() != q->ranks)
        FAIL(TACIT_UNSUPPORTED, "link nvshmem: belongs to the first world that "
                                "opened it: use peer");
    if (job.device != tct_gpu_of(q)->device)
        FAIL(TACIT_UNSUPPORTED,
             "link nvshmem: rank %d has started it on GPU %d: use peer on "
             "another one",
             q->rank, job.device);
    return TACIT_OK;
}

/* --- the source ----------------------------------------------------------- */

/* Is there P2P between all ranks? An estimate before NVSHMEM starts: on some
 * systems GPUs reach those of other machines. Collective.
 * Errors UNSUPPORTED: no, and there is no module. */
static tacit_status look_around(tacit_queue *q, const tct_rank_device *all,
                                bool *near)
{
    char reason[256];
    int64_t away = 0;
    for (int r = 0; r < q->ranks; r++)
        away |= strcmp(all[r].machine, all[q->rank].machine) != 0;
    tacit_status status = tct_reach_others(q, all);
    if (status < 0) away = 1;
    if (status < 0 && tct_nvshmem_module_load(reason, sizeof reason))
        status = TACIT_OK;
    TRY(tct_agree(q->world, status));
    TRY(tct_reduce_i64(q->world, TCT_MAX, 1, &away));
    *near = !away;
    return TACIT_OK;
}

static tacit_status nvshmem_open(tacit_queue *q, void **state)
{
    char reason[256];
    tct_rank_device all[TCT_PEERS_MOST];
    bool near = false;
    (void)state;
    if (!job.lib) job.lib = tct_nvshmem_load(reason, sizeof reason);
    TRY(tct_device_map(q, all));
    tacit_status status = TACIT_OK;
    if (!job.lib)
        status = tacit_error_set(TACIT_UNSUPPORTED, "link nvshmem: %s", reason);
    if (status >= 0) status = tct_reach_p2p(q, all);
    TRY(tct_agree(q->world, status));
    TRY(look_around(q, all, &near));
    int64_t begun = job.begun;
    TRY(tct_reduce_i64(q->world, TCT_MAX, 1, &begun));
    if (!begun) return begin(q, near);
    tct_nvshmem_id first = job.id;
    TRY(tct_bcast(q->world, 0, sizeof first, &first));
    return tct_agree(q->world, check_job(q, &first));
}

/* Free the arenas that all ranks have closed, in the same order. Collective. */
static tacit_status give_back(tacit_queue *q)
{
    int64_t closed[ARENAS_MOST];
    int kept = 0;
    if (job.arenas == 0) return TACIT_OK;
    for (int i = 0; i < job.arenas; i++) closed[i] = job.arena[i].closed;
    TRY(tct_reduce_i64(q->world, TCT_MIN, (size_t)job.arenas, closed));
    for (int i = 0; i < job.arenas; i++)
        if (closed[i]) job.lib->free(job.arena[i].at);
        else job.arena[kept++] = job.arena[i];
    job.arenas = kept;
    return TACIT_OK;
}

/* Load the module, once; it joins the job of this process. */
static tacit_status have_calls(const tacit_queue *q)
{
    char reason[256];
    if (job.calls) return TACIT_OK;
    const tct_nvshmem_module *m =
        tct_nvshmem_module_load(reason, sizeof reason);
    if (!m)
        FAIL(TACIT_UNSUPPORTED,
             "link nvshmem: not all GPUs reach each other's memory, and %s; or "
             "use nccl or mpi",
             reason);
    const int result = m->start();
    if (result != 0)
        FAIL(TACIT_UNSUPPORTED,
             "link nvshmem: the module for NVSHMEM's calls does not start on "
             "rank %d (status %d): it was built with a newer NVSHMEM than "
             "%d.%d.%d, or see NVSHMEM_DEBUG=INFO; or use nccl or mpi",
             q->rank, result, job.lib->version[0], job.lib->version[1],
             job.lib->version[2]);
    job.calls = m;
    return TACIT_OK;
}

/* The addresses of the other ranks' arenas, as far as they are P2P; with
 * TACIT_NVSHMEM_FAR set (tests) none is. Collective. */
static tacit_status find_others(tacit_queue *q, tct_arena *a)
{
    const bool none = getenv("TACIT_NVSHMEM_FAR") != NULL;
    int64_t far = 0;
    for (int r = 0; r < q->ranks; r++) {
        if (r == q->rank) continue;
        a->at[r] = none ? NULL : job.lib->at(a->at[q->rank], r);
        far |= !a->at[r];
    }
    TRY(tct_reduce_i64(q->world, TCT_MAX, 1, &far));
    return far ? tct_agree(q->world, have_calls(q)) : TACIT_OK;
}

/* Collective; the arena has the same size on all ranks. */
static tacit_status nvshmem_add(tacit_queue *q, void *state, tct_arena *out)
{
    (void)state;
    TRY(tct_reduce_i64(q->world, TCT_MAX, 1, &out->bytes));
    TRY(give_back(q));
    if (job.arenas == ARENAS_MOST) /* on all ranks */
        FAIL(TACIT_NO_MEMORY,
             "link nvshmem: more than %d pieces of memory for messages",
             ARENAS_MOST);
    char *mine = job.lib->align(TCT_WINDOW_ALIGN, (size_t)out->bytes);
    tacit_status status = TACIT_OK;
    if (!mine)
        status = tacit_error_set(
            TACIT_NO_MEMORY,
            "link nvshmem: no %lld bytes for messages in NVSHMEM's heap: "
            "NVSHMEM_SYMMETRIC_SIZE may make it larger",
            (long long)out->bytes);
    TRY(tct_agree(q->world, status)); /* on failure it is leaked */
    job.arena[job.arenas].at = out->at[q->rank] = mine;
    job.arena[job.arenas++].closed = false;
    return find_others(q, out);
}

static const tct_nvshmem_module *nvshmem_calls(void)
{
    return job.calls;
}

static tacit_status nvshmem_settle(tacit_queue *q)
{
    if (!job.calls) return TACIT_OK;
    return tct_gpu_status(job.calls->settle(tct_gpu_of(q)->stream),
                          "waiting for messages to arrive");
}

static void nvshmem_close(tacit_queue *q, void *state, int count,
                          const tct_arena *arena)
{
    (void)state;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < job.arenas; k++)
            if (job.arena[k].at == arena[i].at[q->rank])
                job.arena[k].closed = true;
}

const tct_window_source tct_windows_nvshmem = {.open = nvshmem_open,
                                               .add = nvshmem_add,
                                               .close = nvshmem_close,
                                               .calls = nvshmem_calls,
                                               .settle = nvshmem_settle};
