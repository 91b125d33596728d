/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/resident.c - starts a persistent kernel and takes its
 * samples; divides its work and chooses what stays on the chip. */
#include "solver/resident/resident.h"
#include "comm/link/gpu/peer.h"
#include "comm/world/world.h"
#include "solver/resident/factor.h"
#include "solver/resident/find.h"
#include "solver/resident/halo.h"
#include "solver/resident/sstep.h"
#include <stdio.h>
#include <string.h>

enum { LATE_MOST = 16 }; /* iterations of blocks, until a sample is posted */

typedef struct {
    void *meeting; /* barrier state of its persistent grid */
    double *second[TCT_SECOND_PLACES];
    double *many;       /* sums of a block of iterations */
    tct_peer_halo halo; /* of several GPUs */
    int blocks, slots;
    int vectors;    /* may be on the chip; slots of all */
    double on_chip; /* ... the part that is                                 */
} residence;

static bool resident_fits(const tct_run *R, char *reason, size_t size)
{
    if (tct_persistent_fits(R->q))
        return tct_resident_code_for(R, reason, size) != NULL;
    snprintf(reason, size, "this GPU has no cooperative launch");
    return false;
}

static tacit_status resident_open(tct_run *R)
{
    residence *H = NULL;
    const tct_resident_kernel *K = tct_resident_of(R->system->method, R->M);
    TRY(TCT_ALLOC(1, "a persistent kernel", &H));
    memset(H, 0, sizeof *H);
    R->drive = H;
    TRY(tct_gpu_upload(NULL, tct_persistent_bytes(tct_gpu_of(R->q)->sms),
                       &H->meeting));
    for (int i = 0; K && i < K->places; i++)
        TRY(tacit_queue_alloc(R->q, R->n, &H->second[i]));
    if (!R->system->method->blocks) return TACIT_OK;
    const size_t sums = TCT_SSTEP_SUMS * (size_t)(tct_gpu_of(R->q)->sms + 1);
    return tacit_queue_alloc(R->q, sums, &H->many);
}

static void resident_close(tct_run *R)
{
    residence *H = R->drive;
    if (!H) return;
    tct_gpu_release(H->meeting);
    tct_peer_halo_clear(&H->halo);
    for (int i = 0; i < TCT_SECOND_PLACES; i++) q_free(R->q, H->second[i]);
    q_free(R->q, H->many);
    tct_free(H);
    R->drive = NULL;
}

static double *vector_of(const tct_run *R, int from)
{
    switch (from) {
    case TCT_IS_X: return R->x;
    case TCT_IS_DIAGONAL:
        return (double *)(uintptr_t)tct_precond_view(R->M).diagonal;
    case TCT_IS_Z: return R->z;
    case TCT_IS_Y: return R->y[0];
    default: return R->v[from];
    }
}

static void fill_job(const tct_run *R, const tct_resident_kernel *K,
                     int64_t most, tct_resident_job *J)
{
    const residence *H = R->drive;
    const tct_gpu_slices *B = tct_resident_slices(R->A->local);
    /* M w and M u are not stored by a kernel */
    double *const *second = R->M ? R->y + 1 : H->second;
    *J = (tct_resident_job){
        .grid = tct_persistent_job_of(R->q, H->meeting, R->c, most),
        .A = B->d,
        .resumed = R->resumed,
        .poison = tct_gpu_poisons(),
        .second = {second[0], second[1]}};
    J->A.walk = tct_resident_walk(R, K, &B->d);
    for (int v = 0; v < TCT_CHIP_VECTORS; v++)
        J->v[v].memory = vector_of(R, K->from[v]);
}

/* The launch of a kernel: job and grid. */
typedef struct {
    union { /* all begin with the common job */
        tct_resident_job J;
        tct_factor_job factor;
        tct_sstep_job sstep;
    } job;
    int threads;
    size_t shared;
} plan;

/* Threads of a block, for `blocks` blocks and so many warps in all. */
static int threads_of(const tct_resident_job *J, int warps, int blocks)
{
    const int pollers = tct_persistent_threads(blocks);
    int threads = GPU_WAVE * J->tile * J->team;
    const int solvers = (warps + blocks - 1) / blocks;
    if (solvers > J->tile) threads = GPU_WAVE * solvers;
    if (threads > TCT_THREADS_MOST(J->A.walk))
        threads = TCT_THREADS_MOST(J->A.walk);
    if (threads < TCT_THREADS_MOST(J->A.walk))
        threads += GPU_WAVE; /* a warp for communication */
    if (J->A.long_rows > 0) threads = TCT_THREADS_MOST(J->A.walk);
    return threads < pollers ? pollers : threads;
}

/* Choose what stays on the chip. */
static void place(const tct_run *R, const tct_resident_kernel *K, plan *p)
{
    residence *H = R->drive;
    tct_sstep_job *W = &p->job.sstep;
    const size_t room = tct_gpu_of(R->q)->shared_bytes;
    H->vectors = K->vectors;
    H->on_chip = 0.0;
    if (K->method->blocks) {
        tct_sstep_job_fill(R, H->many, tct_precond_view(R->M).diagonal, W);
        while (W->J.grid.sample_batch > 1 &&
               W->J.grid.sample_batch * W->most > LATE_MOST)
            W->J.grid.sample_batch /= 2;
        H->vectors = tct_sstep_columns(W->most, R->M != NULL);
        p->shared = tct_resident_place_columns(W, H->vectors, p->threads, room);
        H->on_chip = (double)H->vectors * W->slots;
        return;
    }
    p->shared = tct_resident_place(&p->job.J, K, p->threads,
                                   H->halo.here.entries, room);
    for (int v = 0; v < K->vectors; v++) H->on_chip += p->job.J.v[v].slots;
}

/* Plan a kernel for `most` checks.
 * Errors      NO_MEMORY, DEVICE (only of several GPUs). */
static tacit_status make_plan(const tct_run *R, int64_t most, plan *p)
{
    const tct_gpu *g = tct_gpu_of(R->q);
    const tct_resident_kernel *K = tct_resident_of(R->policy->now, R->M);
    const tct_rows *rows = tct_precond_view(R->M).rows;
    residence *H = R->drive;
    tct_resident_job *J = &p->job.J;
    fill_job(R, K, most, J);
    if (rows) p->job.factor.rows = *tct_rows_kernel_of(rows);
    if (R->q->ranks > 1 && !(J->grid.peers = tct_peer_grids(R->q)))
        return q_own_status(R->q);
    /* some blocks wait for peers while others are at the barrier */
    if (R->q->ranks > 1)
        J->grid.limit_ns =
            R->q->peer_seconds > 0.0
                ? J->grid.limit_ns + (uint64_t)(1e9 * R->q->peer_seconds)
                : UINT64_MAX;
    H->blocks = g->sms;
    tct_resident_divide(J, H->blocks);
    if (K->sent > 0) tct_resident_share(J, K->sent);
    p->threads = threads_of(J, rows ? p->job.factor.rows.warps : 0, H->blocks);
    if (R->q->ranks > 1)
        TRY(tct_peer_halo_make(&H->halo, R, K, J, H->blocks, p->threads));
    J->halo = H->halo.there;
    place(R, K, p);
    const double chip = (double)J->chip_values * H->blocks;
    J->keep = tct_l2_share(
        tct_resident_slices(R->A->local)->base.base.matrix_bytes - chip,
        g->l2_bytes);
    H->slots = J->slots;
    return TACIT_OK;
}

/* Launch it for `most` checks, on all ranks or none; false if a queue has
 * failed. */
static bool launch(const tct_run *R, int64_t most)
{
    char reason[TCT_REFUSAL];
    plan p;
    const residence *H = R->drive;
    const tacit_status status =
        R->q->failed == TACIT_OK ? make_plan(R, most, &p) : TACIT_OK;
    if (status < 0) q_fail(R->q, status, "%s", tacit_error_message());
    return tct_loop_is_well(R->q) &&
           tct_persistent_start(
               R->q, &p.job.J.grid,
               &(tct_persistent_kernel){
                   .code = tct_resident_code_for(R, reason, sizeof reason),
                   .job = &p.job,
                   .blocks = H->blocks,
                   .threads = p.threads,
                   .shared = p.shared});
}

/* Is there a kernel for the run's current method and precision? Collective:
 * with several ranks all must have one, and its memory. */
static bool has_kernel(const tct_run *R)
{
    char reason[TCT_REFUSAL];
    const residence *H = R->drive;
    const tacit_queue *q = R->q;
    int64_t has = tct_resident_code_for(R, reason, sizeof reason) != NULL;
    /* a rescue may ask for more second places than the method has */
    const int places = has ? tct_resident_of(R->policy->now, R->M)->places : 0;
    if (places > 0 && !H->second[places - 1]) has = 0;
    if (q->ranks == 1) return has;
    plan p;
    if (q->failed != TACIT_OK || (has && make_plan(R, 1, &p) < 0)) has = 0;
    return tct_reduce_i64(q->world, TCT_MIN, 1, &has) >= 0 && has;
}

/* A kernel enqueues no operations to count: an iteration counts as what the
 * method enqueues between its first two checks. */
typedef struct {
    tct_recording part[2];
    int looks;
} dry_run;

static bool check_dry_run(tct_run *R)
{
    dry_run *s = R->drive;
    q_record_end(R->q, &s->part[s->looks]);
    if (s->looks++ > 0) return true;
    q_record_begin(R->q, &s->part[1]);
    return false;
}

static void count_iterations(const tct_run *R, int64_t iterations)
{
    if (!R->q->tally || iterations <= 0) return;
    dry_run s = {.part = {{.dry_run = true}, {.dry_run = true}}};
    tacit_result aside = {0};
    tct_run copy = *R;
    copy.drive = &s;
    copy.look = check_dry_run;
    copy.result = &aside;
    q_record_begin(R->q, &s.part[0]);
    tct_iterate(&copy);
    q_replayed(R->q, &s.part[1], iterations);
}

static void say_spending(const tct_run *R)
{
    char text[256];
    const residence *H = R->drive;
    tct_persistent_spending(H->meeting, H->blocks, text, sizeof text);
    if (text[0])
        tct_log(TCT_NOTE, "rank %d, %s: us an iteration: %s", R->q->rank,
                R->policy->now->about.name, text);
}

/* Start values of a kernel other than r and p. */
static void enqueue_start(tct_run *R, const tct_resident_kernel *K)
{
    double *const r = R->v[V_R], *const p = R->v[V_P];
    if (tct_precond_view(R->M).rows) {
        apply_dot(R->M, R->q, r, R->z, &R->c[C_RZ]);
        if (!R->resumed) q_copy(R->q, R->n, R->z, p);
    }
    if (K->product < 0) return;
    if (!R->resumed && R->M) apply(R->M, R->q, r, p);
    else if (!R->resumed) q_copy(R->q, R->n, r, p);
    apply(R->A, R->q, p, R->v[K->product]);
    R->result->extra_products++;
}

static void say_what_is_late(const tct_run *R)
{
    const tct_rows *rows = tct_precond_view(R->M).rows;
    if (rows && tct_rows_status(rows) < 0)
        q_fail(R->q, TACIT_DEVICE, "%s", tacit_error_message());
}

static bool launch_run(void *run, int64_t checks)
{
    return launch(run, checks);
}

/* More samples than fit at once: the next kernel goes on. */
static void land_run(void *run)
{
    tct_run *R = run;
    R->resumed = true;
    if (R->loop->block) tct_sstep_flags(R);
}

static const tct_loop_kernel loop_kernel = {launch_run, land_run};
static const tct_iteration iteration = {
    .text = tct_iterate_text, .check = tct_check_run, .kernel = &loop_kernel};

static void run_kernel(tct_run *R)
{
    const tct_resident_kernel *K = tct_resident_of(R->policy->now, R->M);
    const int64_t first = R->k;
    enqueue_start(R, K);
    tct_loop_stay(R->loop, &loop_kernel, K->look_first);
    R->k = R->loop->k;
    say_what_is_late(R);
    say_spending(R);
    if (!R->loop->block) count_iterations(R, R->k - first);
}

/* Driver of blocks, called by the method. */
static void run_blocks(void *run)
{
    tct_run *R = run;
    R->loop->k = R->k;
    const bool ended = tct_loop_take(R->loop, 0);
    R->k = R->loop->k;
    if (!ended) run_kernel(R);
}

static void resident_iterate(tct_run *R)
{
    tct_loop *L = tct_loop_of_phase(R, &iteration);
    const bool has = has_kernel(R);
    if (has && R->policy->now->blocks) {
        L->stay = run_blocks;
        tct_loop_enqueue(L, tct_loop_check_lagged);
        L->stay = NULL;
    } else if (has) {
        run_kernel(R);
    }
    if (has) return;
    tct_log(TCT_NOTE,
            "iteration %lld: loop host from here on, there is no persistent "
            "kernel for what the solve has come to",
            (long long)R->k);
    L->left_from = R->k;
    tct_driver_host.iterate(R);
}

static void resident_describe(const tct_run *R, char *text, size_t size)
{
    const residence *H = R->drive;
    const tct_resident_kernel *K = tct_resident_of(R->system->method, R->M);
    if (!K || H->slots == 0) return;
    const int n = snprintf(text, size, "%d blocks, ", H->blocks);
    tct_resident_say_barriers(K, text + n, size - (size_t)n);
    if (H->vectors == 0) return;
    const size_t at = strlen(text);
    snprintf(text + at, size - at, ", %.1f of %d vectors on the chip",
             H->on_chip / H->slots, H->vectors);
}

const tct_driver tct_driver_resident = {
    .about = {"resident", TCT_RESIDENT_SUMMARY, TCT_NO_CUDA, true},
    .kind = &tct_loop_persistent,
    .fits = resident_fits,
    .open = resident_open,
    .close = resident_close,
    .iterate = resident_iterate,
    .describe = resident_describe,
};
