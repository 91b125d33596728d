/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/shared.c - a solver of which each rank has a part of the
 * factor: the exchange between L and U, by the kernel itself or by messages of
 * the queue. */
#include "comm/channel/channel.h"
#include "comm/link/gpu/peer.h"
#include "comm/world/world.h"
#include "trisolve/gpu/kernels/parts.h"
#include <inttypes.h>
#include <tacit/exchange.h>

static const char *const what = "rows that ranks share";

typedef struct tct_doublings {
    tct_shared_rows rows; /* rows.row is on the device */
    int each;             /* ranks of a grid            */
    bool by_kernel;
    int last; /* cut of the last solve */
    /* By the kernel, per cut; of each step an end that sends, and one that
     * receives */
    tct_channel channel[TCT_CUTS][2 * TCT_DOUBLING_STEPS_MOST];
    tct_channels *set[TCT_CUTS];
    tct_doubling doubling[TCT_CUTS];
    /* By messages, per step */
    tacit_exchange *step[TCT_DOUBLING_STEPS_MOST];
    double *packed; /* [columns count[0]] */
    /* Time stamps of up to two kernels; room for both cuts */
    uint64_t *stamp[2];
    int32_t stamps;
} shared;

/* --- create --------------------------------------------------------------- */

/* Upload the row list and choose kernel or messages, alike on all ranks. */
static tacit_status begin(tacit_factor_solver *S, shared *s,
                          const tct_shared_rows *rows)
{
    const size_t count = (size_t)(rows->steps > 0 ? rows->count[0] : 0);
    const int32_t none = 0;
    s->rows = *rows;
    s->rows.row = NULL;
    s->by_kernel =
        s->each > 1 || (rows->steps > 0 && tct_peer_why_not(S->q) == NULL);
    TRY(tct_gpu_upload(count > 0 ? rows->row : &none,
                       (count > 0 ? count : 1) * sizeof *rows->row,
                       &s->rows.row));
    if (!s->by_kernel && rows->steps > 0) return TACIT_OK;
    return tct_tri_plan_doubling(&S->plan, (int32_t)count);
}

tacit_status tct_shared_open(tacit_factor_solver *S,
                             const tct_shared_rows *rows, int each)
{
    shared *s = S->shared = tct_calloc(sizeof *s);
    tacit_status status = TACIT_OK;
    if (!s) status = tacit_error_set(TACIT_NO_MEMORY, "no memory for %s", what);
    if (s) s->each = each;
    if (status >= 0) status = begin(S, s, rows);
    return tct_agree(S->q->world, status);
}

/* The rank that this one exchanges with in step k. */
static int partner(const tacit_factor_solver *S, int k)
{
    const int each = S->shared->each, z = S->q->rank / each;
    return S->q->rank + ((z ^ 1 << k) - z) * each;
}

/* A channel for each step and direction of one cut: values, and a signal for
 * each piece. */
static tacit_status match(tacit_factor_solver *S, int cut, int64_t values,
                          int64_t pieces)
{
    shared *s = S->shared;
    const int ends = 2 * s->rows.steps;
    for (int k = 0; k < ends; k++)
        s->channel[cut][k] = (tct_channel){.peer = partner(S, k / 2),
                                           .sends = k % 2 == 0,
                                           .signals = (int)pieces,
                                           .bytes = 8 * values};
    S->info.bytes += 8.0 * ends * (double)(values + 2 * pieces);
    return tct_channels_match(tct_peer_medium(S->q), TACIT_OK, ends,
                              s->channel[cut], &s->set[cut]);
}

/* All windows have one length, and so their halves are at one distance on all
 * ranks. */
static tacit_status make_doubling(tacit_factor_solver *S, int c)
{
    shared *s = S->shared;
    tct_doubling *w = &s->doubling[c];
    const int stride = c == TCT_FOR_ONE ? 1 : tct_tri_stride(S->columns);
    int64_t most[2] = {0, S->plan.cut[c].between};
    *w = (tct_doubling){.steps = s->rows.steps, .row = s->rows.row};
    memcpy(w->count, s->rows.count, sizeof w->count);
    if (w->steps == 0) return TACIT_OK;
    most[0] = (int64_t)w->count[0] * stride;
    TRY(tct_reduce_i64(S->q->world, TCT_MAX, 2, most));
    TRY(match(S, c, most[0], most[1]));
    for (int k = 0; k < w->steps; k++) {
        const tct_channel *to = &s->channel[c][2 * k], *from = to + 1;
        w->here[k] = (double *)(void *)from->window[0];
        w->there[k] = (double *)(void *)to->window[0];
        w->heard[k] = &from->own->value;
        w->told[k] = &to->other->value;
        w->room = (from->window[1] - from->window[0]) / 8;
        w->pieces = from->signals;
    }
    return TACIT_OK;
}

/* The exchange of step k: the first packed rows, both ways. */
static tacit_status make_step(tacit_factor_solver *S, int k)
{
    shared *s = S->shared;
    const int32_t count = s->rows.count[k];
    const tacit_channel c = {.rank = partner(S, k), .count = count};
    int32_t *index = NULL;
    tacit_status status = TCT_ALLOC(count, what, &index);
    for (int32_t i = 0; i < count && status >= 0; i++) index[i] = i;
    status = tct_agree(S->q->world, status);
    if (status >= 0)
        status = tacit_exchange_create(S->q, count > 0, &c, index, count > 0,
                                       &c, S->columns, &s->step[k]);
    tct_free(index);
    return status;
}

static tacit_status make_steps(tacit_factor_solver *S)
{
    shared *s = S->shared;
    const size_t bytes =
        ((size_t)s->rows.count[0] * (size_t)S->columns + 1) * sizeof(double);
    S->info.bytes += (double)bytes;
    TRY(tct_agree(S->q->world, tct_gpu_upload(NULL, bytes, &s->packed)));
    for (int k = 0; k < s->rows.steps; k++) TRY(make_step(S, k));
    return TACIT_OK;
}

static tacit_status make_stamps(tacit_factor_solver *S)
{
    shared *s = S->shared;
    s->stamps = TCT_STAMPS;
    for (int c = 0; c < TCT_CUTS; c++)
        s->stamps += S->plan.cut[c].between + S->cut[c].blocks;
    for (int k = 0; k < 2; k++) {
        const size_t bytes = (size_t)s->stamps * sizeof **s->stamp;
        TRY(tct_gpu_upload(NULL, bytes, &s->stamp[k]));
        TRY(tct_gpu_status(
            gpu_memset_async(s->stamp[k], 0, bytes, tct_gpu_of(S->q)->stream),
            "clearing memory"));
    }
    return TACIT_OK;
}

tacit_status tct_shared_make(tacit_factor_solver *S)
{
    const shared *s = S->shared;
    TRY(tct_agree(S->q->world, make_stamps(S)));
    if (!s->by_kernel) return s->rows.steps > 0 ? make_steps(S) : TACIT_OK;
    for (int c = 0; c < TCT_CUTS; c++) TRY(make_doubling(S, c));
    return TACIT_OK;
}

void tct_shared_close(tacit_factor_solver *S)
{
    shared *s = S->shared;
    if (!s) return;
    for (int k = 0; k < TCT_DOUBLING_STEPS_MOST; k++)
        tacit_exchange_destroy(&s->step[k]);
    for (int c = 0; c < TCT_CUTS; c++) tct_channels_free(&s->set[c]);
    tct_gpu_release((void *)(uintptr_t)s->rows.row);
    tct_gpu_release(s->packed);
    tct_gpu_release(s->stamp[0]);
    tct_gpu_release(s->stamp[1]);
    tct_free(s);
    S->shared = NULL;
}

/* --- solve ---------------------------------------------------------------- */

static tacit_status run(const tacit_factor_solver *S, tct_tri_job *job,
                        int stamp)
{
    const shared *s = S->shared;
    if (S->plan.rows == 0) return TACIT_OK;
    job->shared = true;
    job->stamp = s->stamp[stamp];
    job->doubling = s->doubling[s->last];
    return S->spread ? tct_distribution_run(S, job) : tct_solver_launch(S, job);
}

/* Sum y of the shared rows, in the same steps as the kernel. */
static tacit_status exchange(const tacit_factor_solver *S, int columns)
{
    const shared *s = S->shared;
    const gpu_stream stream = tct_gpu_of(S->q)->stream;
    const tct_tri_pack p = {.row = s->rows.row,
                            .count = s->rows.count[0],
                            .columns = columns,
                            .stride = tct_tri_stride(columns),
                            .y = S->a.y,
                            .packed = s->packed};
    TRY(tct_gpu_status(tct_tri_take(&p, stream), what));
    for (int k = 0; k < s->rows.steps; k++) {
        tacit_exchange_begin(s->step[k], s->packed, p.count, columns);
        const double *from = tacit_exchange_end(s->step[k]);
        if (s->rows.count[k] > 0)
            TRY(tct_gpu_status(tct_tri_add(&p, s->rows.count[k], from, stream),
                               what));
    }
    return tct_gpu_status(tct_tri_give(&p, stream), what);
}

tacit_status tct_shared_solve(tacit_factor_solver *S, int columns,
                              const double *B, size_t ldb, double *X,
                              size_t ldx)
{
    shared *s = S->shared;
    s->last = tct_solver_cut(columns);
    if (S->plan.cut[s->last].between > 0 || s->by_kernel) {
        tct_tri_job all =
            tct_solver_job(S, TCT_DOWN | TCT_UP, columns, B, ldb, X, ldx);
        return run(S, &all, 0);
    }
    tct_tri_job down = tct_solver_job(S, TCT_DOWN, columns, B, ldb, X, ldx),
                up = tct_solver_job(S, TCT_UP, columns, B, ldb, X, ldx);
    TRY(run(S, &down, 0));
    if (s->rows.steps > 0) TRY(exchange(S, columns));
    return run(S, &up, 1);
}

/* --- report --------------------------------------------------------------- */

tacit_status tct_shared_tell(const tacit_factor_solver *S, uint64_t missing)
{
    const int k = (int)missing - 1;
    FAIL(TACIT_COMM,
         "a triangular solve on GPUs: rank %d waited %g s for rank %d, which "
         "did "
         "not bring its part of the %" PRId32
         " rows that both have; X is void: do all ranks solve, with as many "
         "right-hand sides?",
         S->q->rank, S->seconds, partner(S, k), S->shared->rows.count[k]);
}

static uint64_t latest(const uint64_t *at, int32_t count)
{
    uint64_t most = 0;
    for (int32_t k = 0; k < count; k++)
        if (at[k] > most) most = at[k];
    return most;
}

static double between(uint64_t from, uint64_t to)
{
    return to > from ? 1e-9 * (double)(to - from) : 0.0;
}

/* Times of the phases, from one kernel or from two. */
static void read_times(const tacit_factor_solver *S, const uint64_t *one,
                       const uint64_t *two, double *seconds)
{
    const shared *s = S->shared;
    const int32_t pieces = S->plan.cut[s->last].between;
    const int32_t blocks = S->cut[s->last].blocks;
    const bool both = pieces == 0;
    const uint64_t end = latest(one + TCT_STAMPS + pieces, blocks),
                   roots = both ? end : one[TCT_STAMP_ROOTS],
                   added = both ? two[TCT_STAMP_BEGIN]
                                : latest(one + TCT_STAMPS, pieces);
    seconds[0] = between(one[TCT_STAMP_BEGIN], roots);
    seconds[1] = between(roots, added);
    seconds[2] = between(added, both ? latest(two + TCT_STAMPS, blocks) : end);
}

tacit_status tct_factor_solver_shared(const tacit_factor_solver *S,
                                      tct_shared_info *out)
{
    const shared *s = S->shared;
    const size_t bytes = (size_t)s->stamps * sizeof **s->stamp;
    uint64_t *at = tct_alloc(2 * bytes);
    if (!at) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    *out = (tct_shared_info){.link = tacit_queue_link(S->q),
                             .by_kernel = s->by_kernel};
    tacit_status status = TACIT_OK;
    for (int k = 0; k < 2 && status >= 0; k++)
        status = tct_gpu_status(
            gpu_memcpy(at + k * s->stamps, s->stamp[k], bytes, GPU_TO_HOST),
            "times of a triangular solve");
    if (status >= 0) read_times(S, at, at + s->stamps, out->seconds);
    for (int k = 0; k < s->rows.steps && !S->spread; k++) {
        out->doublings += s->rows.count[k] > 0;
        out->values[1] += s->rows.count[k];
    }
    if (status >= 0 && S->spread) status = tct_distribution_describe(S, out);
    out->messages[1] += out->doublings;
    tct_free(at);
    return status;
}
