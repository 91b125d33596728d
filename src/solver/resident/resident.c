/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/resident.c - start a persistent kernel and look on: how its
 * work is divided, and what stays on the chip. */
#include "solver/resident/resident.h"
#include "solver/resident/job.h"
#include <stdio.h>
#include <string.h>

static const tct_resident_kernel *const kernels[] = {
    &tct_resident_cg, &tct_resident_single, &tct_resident_pipe_pr};

enum { LOOKS_AT_ONCE = TCT_LOOKS - 64 };

typedef struct {
    void *meeting; /* where its gang meets */
    double *second[TCT_SECOND_PLACES];
    int blocks, chip_slots[TCT_CHIP_VECTORS], slots;
} residence;

static const tct_resident_kernel *kernel_called(const char *method)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i]->method->about.name, method) == 0)
            return kernels[i];
    return NULL;
}

static const tct_resident_kernel *kernel_of(const tct_method *method)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i]->method == method) return kernels[i];
    return NULL;
}

static const tct_gpu_slices *slices_of(const tct_block *B)
{
    const tct_gpu_block *g = (const tct_gpu_block *)(const void *)B;
    return g && g->gpu == &tct_gpu_slices_ops
               ? (const tct_gpu_slices *)(const void *)B
               : NULL;
}

/* --- can it? ---------------------------------------------------------------- */

static const void *code_for(const tacit_solver *S, char *reason, size_t size)
{
    const tct_resident_kernel *K = kernel_of(S->now ? S->now : S->method);
    if (S->M) {
        snprintf(reason, size, "there are no kernels with a preconditioner");
        return NULL;
    }
    if (!K) {
        snprintf(reason, size, "there is no kernel of %s",
                 S->method->about.name);
        return NULL;
    }
    if (!S->A->local) {
        snprintf(reason, size,
                 "only for a matrix, and this operator is a function");
        return NULL;
    }
    const tct_gpu_slices *B = slices_of(S->A->local);
    if (!B) {
        snprintf(reason, size, "only for the formats sell32, sell and bsell");
        return NULL;
    }
    if (B->d.long_rows > 0 && !B->base.base.persistent) {
        snprintf(reason, size, "not for rows of more than %d entries",
                 GPU_ROW_MOST);
        return NULL;
    }
    const void *code = K->kernel(B->d.b, B->d.store, B->d.walk);
    if (!code)
        snprintf(reason, size, "no kernel of %s for this format and its store",
                 K->method->about.name);
    return code;
}

static tacit_status make_room(tacit_solver *S)
{
    if (S->resident) return TACIT_OK;
    residence *R = NULL;
    const tct_resident_kernel *K = kernel_of(S->method);
    TRY(TCT_ALLOC(1, "a persistent kernel", &R));
    memset(R, 0, sizeof *R);
    S->resident = R;
    TRY(tct_gpu_upload(NULL, tct_gang_bytes(tct_gpu_of(S->q)->sms),
                       &R->meeting));
    for (int i = 0; K && i < K->places; i++)
        TRY(tacit_queue_alloc(S->q, S->n, &R->second[i]));
    return TACIT_OK;
}

bool tct_resident_fits(tacit_solver *S, char *reason, size_t size)
{
    if (!tct_gang_fits(S->q)) {
        snprintf(reason, size, "this GPU has no cooperative launch");
        return false;
    }
    if (!code_for(S, reason, size)) return false;
    if (make_room(S) >= 0) return true;
    snprintf(reason, size, "%s", tacit_error_message());
    return false;
}

void tct_resident_free(tacit_solver *S)
{
    residence *R = S->resident;
    if (!R) return;
    tct_gpu_release(R->meeting);
    for (int i = 0; i < TCT_SECOND_PLACES; i++) q_free(S->q, R->second[i]);
    tct_free(R);
    S->resident = NULL;
}

bool tct_resident_runs(const tacit_solver *S)
{
    char reason[160];
    const residence *R = S->resident;
    if (!R || !code_for(S, reason, sizeof reason)) return false;
    /* a rescue may ask for more second places than the method has */
    const int places = kernel_of(S->now)->places;
    return places == 0 || R->second[places - 1];
}

static void fill_job(tacit_solver *S, const tct_resident_kernel *K,
                     int64_t most, tct_resident_job *J)
{
    const residence *R = S->resident;
    const tct_gpu_slices *B = slices_of(S->A->local);
    *J = (tct_resident_job){.gang =
                                tct_gang_job_of(S->q, R->meeting, S->c, most),
                            .A = B->d,
                            .resumed = S->resumed,
                            .poison = tct_gpu_poisons(),
                            .second = {R->second[0], R->second[1]}};
    for (int v = 0; v < TCT_CHIP_VECTORS; v++)
        J->v[v].memory = K->from[v] < 0 ? S->x : S->v[K->from[v]];
}

/* Launch it for `most` looks; false if the queue has failed. */
static bool launch(tacit_solver *S, const tct_resident_kernel *K, int64_t most)
{
    const tct_gpu *g = tct_gpu_of(S->q);
    residence *R = S->resident;
    char reason[160];
    tct_resident_job J;
    fill_job(S, K, most, &J);
    R->blocks = g->sms;
    tct_resident_divide(&J, R->blocks);
    int threads = GPU_WAVE * J.tile;
    const int pollers = tct_gang_threads(R->blocks);
    if (threads < TCT_THREADS_MOST(J.A.walk))
        threads += GPU_WAVE; /* a warp that speaks */
    if (threads < pollers) threads = pollers;
    if (J.A.long_rows > 0) threads = TCT_THREADS_MOST(J.A.walk);
    const size_t shared = tct_resident_place(&J, K, threads, g->shared_bytes);
    const double chip = (double)J.chip_values * R->blocks;
    J.keep = tct_keep(slices_of(S->A->local)->base.base.matrix_bytes - chip,
                      g->l2_bytes);
    R->slots = J.slots;
    for (int v = 0; v < K->vectors; v++) R->chip_slots[v] = J.v[v].slots;
    return tct_gang_start(
        S->q, &J.gang,
        &(tct_gang_kernel){.code = code_for(S, reason, sizeof reason),
                           .job = &J,
                           .blocks = R->blocks,
                           .threads = threads,
                           .shared = shared});
}

static void count_iterations(tacit_solver *S, int64_t iterations)
{
    if (!S->q->tally || iterations <= 0) return;
    tct_count_iteration(S);
    tct_tally_add(S->q->tally, &S->tally, iterations);
}

void tct_resident_iterate(tacit_solver *S)
{
    const tct_resident_kernel *K = kernel_of(S->now);
    tct_gpu *g = tct_gpu_of(S->q);
    const int64_t first = S->k;
    const bool look_first = K->look_first;
    bool done = false;
    tct_seen c;
    if (K->product >= 0) { /* what its kernel starts from */
        if (!S->resumed) q_copy(S->q, S->n, S->v[V_R], S->v[V_P]);
        apply(S->A, S->q, S->v[V_P], S->v[K->product]);
        S->result->extra_products++;
    }
    while (!done && S->q->failed == TACIT_OK) {
        int64_t looks = S->most - S->k + (look_first ? 1 : 0);
        if (looks > LOOKS_AT_ONCE) looks = LOOKS_AT_ONCE;
        if (looks <= 0 || !launch(S, K, looks)) break;
        int64_t seen = 0;
        while (q_seen(S->q, &c)) {
            if (done && tct_is_held(S)) continue;
            if (seen++ > 0 || !look_first) S->k++;
            if (c.bad == BAD_TIME) {
                q_fail(S->q, TACIT_DEVICE,
                       "the GPU: a block of the persistent kernel did not come "
                       "to its barrier within %g s",
                       S->q->barrier_seconds);
                break;
            }
            if (tct_judge(S, &c)) {
                done = true;
                tct_gang_end(S->q);
            } else if (S->q->stop_wanted) {
                tct_flags_agreed(S->q, tct_flags_mine(S->q));
                tct_gang_end(S->q);
            }
        }
        g->made = g->taken;
        S->resumed = true; /* more looks than fit at once: go on */
    }
    count_iterations(S, S->k - first);
}

void tct_resident_about(const tacit_solver *S, char *text, size_t size)
{
    const residence *R = S->resident;
    const tct_resident_kernel *K = kernel_of(S->method);
    if (!R || !K || R->slots == 0) return;
    double chip = 0.0;
    for (int v = 0; v < K->vectors; v++) chip += R->chip_slots[v];
    snprintf(text, size,
             "%d blocks, %d barriers an iteration, %.1f of %d vectors on the "
             "chip",
             R->blocks, K->barriers, chip / R->slots, K->vectors);
}

/* Stores of the kernels for blocks of `b`, "f64 f32", appended to `text`. */
static void list_stores(const tct_resident_kernel *K, int b, char *text,
                        size_t size)
{
    static const char *const stores[] = {[GPU_F64] = "f64",
                                         [GPU_F32] = "f32",
                                         [GPU_DICT8] = "dict8",
                                         [GPU_DICT16] = "dict16",
                                         [GPU_F48] = "low48"};
    for (size_t s = 0; s < sizeof stores / sizeof *stores; s++) {
        const size_t at = strlen(text);
        if (K->kernel(b, (int)s, GPU_ANY) && at < size)
            snprintf(text + at, size - at, " %s", stores[s]);
    }
}

bool tct_resident_kernels(const char *method, char *text, size_t size)
{
    const tct_resident_kernel *K = kernel_called(method);
    if (!K) return false;
    snprintf(text, size,
             "%d barriers an iteration; sell, sell32:", K->barriers);
    list_stores(K, 1, text, size);
    for (int b = 2; b <= GPU_BLOCK_MOST; b++) {
        const size_t at = strlen(text);
        if (!K->kernel(b, GPU_F64, GPU_ANY) || at >= size) continue;
        snprintf(text + at, size - at, "; bsell %dx%d:", b, b);
        list_stores(K, b, text, size);
    }
    return true;
}
