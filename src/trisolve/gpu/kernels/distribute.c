/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/kernels/distribute.c - a solver whose tasks are distributed over
 * the GPUs of a grid: the windows of memory that its processes share. */
#include "comm/link/gpu/peer.h"
#include "comm/world/world.h"
#include "trisolve/gpu/kernels/parts.h"
#include <inttypes.h>

static const char *const what = "a solver of several GPUs";

typedef struct tct_distribution_gpu {
    tct_distribution s;
    int first; /* rank of process 0 of this grid */
    tct_shared_rows rows;
    tct_peer_window window;
    tct_distribution_side side[TCT_CUTS];
    /* Device arrays that `side` refers to: */
    uint8_t *to_u;
    tct_readers *to;
    uint16_t *speak[TCT_CUTS][2];
} spread;

/* --- create --------------------------------------------------------------- */

/* All processes of a grid must have made the same plan. */
static tacit_status check_marks(const tacit_factor_solver *S, int px, int py)
{
    const spread *g = S->spread;
    const int z = S->q->rank / (px * py), grids = S->q->ranks / (px * py);
    int64_t mark[2 * TCT_PEERS_MOST];
    for (int k = 0; k < 2 * grids; k++) mark[k] = INT64_MIN;
    mark[2 * z] = (int64_t)(g->s.mark >> 2);
    mark[2 * z + 1] = -mark[2 * z];
    TRY(tct_reduce_i64(S->q->world, TCT_MAX, 2 * (size_t)grids, mark));
    for (int k = 0; k < grids; k++)
        if (mark[2 * k] != -mark[2 * k + 1])
            FAIL(TACIT_COMM,
                 "triangular solves on GPUs: the ranks of grid %d have made "
                 "different plans of their part: do all have the same GPU, "
                 "BLAS, and number of threads?",
                 k);
    return TACIT_OK;
}

static tacit_status refuse(const tacit_factor_solver *S, int px, int py)
{
    const char *why = tct_peer_why_not(S->q);
    if (!why) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "a grid of %dx%d GPUs solves by kernels that store into each other's "
         "memory, and link %s has none: take link peer, or a grid of "
         "1x1x%d",
         px, py, tacit_queue_link(S->q), S->q->ranks);
}

tacit_status tct_distribution_open(tacit_factor_solver *S,
                                   const tct_shared_rows *rows, int px, int py)
{
    spread *g = S->spread = tct_calloc(sizeof *g);
    const int each = px * py;
    tacit_status status = refuse(S, px, py);
    if (!g) status = tacit_error_set(TACIT_NO_MEMORY, "no memory for %s", what);
    if (g) g->window.arena = -1;
    if (status >= 0) {
        g->first = S->q->rank / each * each;
        g->rows = *rows;
        g->rows.row = NULL;
        status = tct_tri_plan_distribute(
            &S->plan, px, py, S->q->rank % each, rows->row,
            rows->steps > 0 ? rows->count[0] : 0, &g->s);
    }
    TRY(tct_agree(S->q->world, status));
    return check_marks(S, px, py);
}

/* --- memory --------------------------------------------------------------- */

static tacit_status send(tacit_factor_solver *S, const void *from,
                         int64_t count, size_t size, void *out)
{
    const size_t bytes = (size_t)count * size;
    S->info.bytes += (double)bytes;
    return tct_gpu_upload(from, bytes, out);
}
#define SEND(S, from, count, out) \
    send((S), (from), (count), sizeof **(out), (out))

static tacit_status send_lists(tacit_factor_solver *S)
{
    spread *g = S->spread;
    const tct_tri_plan *p = &S->plan;
    if (p->nodes == 0) return TACIT_OK;
    TRY(SEND(S, g->s.to_u, p->updates, &g->to_u));
    TRY(SEND(S, g->s.to, p->rows, &g->to));
    for (int c = 0; c < TCT_CUTS; c++) {
        const tct_producers *speak = &g->s.cut[c];
        const int32_t counters = tct_counters(p->nodes);
        TRY(SEND(S, speak->adds, counters, &g->speak[c][0]));
        TRY(SEND(S, speak->waits, counters, &g->speak[c][1]));
    }
    return TACIT_OK;
}

/* Layout of a window: words, then values. All processes of a grid have the
 * same. */
typedef struct {
    int64_t over, sent, came[TCT_CUTS], words, y, x, u, values;
} layout;

static layout lay_out(const tacit_factor_solver *S)
{
    const tct_distribution *s = &S->spread->s;
    const int64_t each = (int64_t)s->px * s->py,
                  counters = tct_counters(S->plan.nodes),
                  stride = tct_tri_stride(S->columns);
    layout l = {.over = 0, .sent = each};
    l.came[0] = l.sent + TCT_PEER_SIGNALS_PHASES;
    l.came[1] = l.came[0] + each * counters;
    l.words = (l.came[1] + each * counters + 1) / 2 * 2;
    l.x = S->plan.rows * stride;
    l.u = 2 * l.x;
    l.values = l.u + S->plan.updates * stride;
    return l;
}

/* Set the pointers to the window of process p of the grid. */
static void point_to(const tacit_factor_solver *S, int p, const layout *l,
                     void *at)
{
    uint64_t *words = at;
    double *values = (double *)(void *)(words + l->words);
    for (int c = 0; c < TCT_CUTS; c++) {
        tct_distribution_side *side = &S->spread->side[c];
        side->y[p] = values + l->y;
        side->x[p] = values + l->x;
        side->u[p] = values + l->u;
        side->signals.over[p] = words + l->over;
        side->signals.came[p] = words + l->came[c];
        if (p == S->spread->s.rank) side->signals.sent = words + l->sent;
    }
}

static void make_sides(const tacit_factor_solver *S)
{
    spread *g = S->spread;
    for (int c = 0; c < TCT_CUTS; c++)
        g->side[c] = (tct_distribution_side){
            .to_u = g->to_u,
            .to = g->to,
            .signals = {.rank = g->s.rank,
                        .ranks = g->s.px * g->s.py,
                        .counters = tct_counters(S->plan.nodes),
                        .swapped = tct_counts_swapped(S->plan.nodes),
                        .adds = g->speak[c][0],
                        .waits = g->speak[c][1]}};
}

tacit_status tct_distribution_make(tacit_factor_solver *S)
{
    spread *g = S->spread;
    void *at[TCT_PEERS_MOST];
    const layout l = lay_out(S);
    const size_t bytes = 8 * (size_t)(l.words + l.values);
    TRY(tct_agree(S->q->world, send_lists(S)));
    TRY(tct_peer_take_window(S->q, bytes, &g->window, at));
    S->info.bytes += (double)bytes;
    make_sides(S);
    for (int p = 0; p < g->s.px * g->s.py; p++)
        point_to(S, p, &l, at[g->first + p]);
    const tct_distribution_side *side = &g->side[0];
    S->a.y = side->y[g->s.rank];
    S->a.x = side->x[g->s.rank];
    S->a.u = side->u[g->s.rank];
    return TACIT_OK;
}

void tct_distribution_close(tacit_factor_solver *S)
{
    spread *g = S->spread;
    if (!g) return;
    S->a.y = S->a.x = S->a.u = NULL; /* they are in the window */
    if (g->window.arena >= 0) tct_peer_give_window(S->q, &g->window);
    tct_gpu_release(g->to_u);
    tct_gpu_release(g->to);
    for (int c = 0; c < TCT_CUTS; c++) {
        tct_gpu_release(g->speak[c][0]);
        tct_gpu_release(g->speak[c][1]);
    }
    tct_distribution_clear(&g->s);
    tct_free(g);
    S->spread = NULL;
}

/* --- solve ---------------------------------------------------------------- */

const bool *tct_factor_solver_mine(const tacit_factor_solver *S)
{
    return S->spread ? S->spread->s.mine : NULL;
}

tacit_status tct_distribution_run(const tacit_factor_solver *S,
                                  const tct_tri_job *job)
{
    const int c = tct_solver_cut(job->columns);
    return tct_gpu_status(tct_distribution_launch(job, &S->spread->side[c],
                                                  S->cut[c].blocks,
                                                  tct_gpu_of(S->q)->stream),
                          "starting a triangular solve");
}

/* Number of shared rows that this process exchanges in step k. */
static int32_t swapped_in(const spread *g, int k)
{
    const int32_t each = TCT_DOUBLING_ROWS, many = g->s.px * g->s.py;
    int32_t sum = 0;
    for (int32_t from = g->s.rank * each; from < g->rows.count[k];
         from += many * each)
        sum += g->rows.count[k] - from < each ? g->rows.count[k] - from : each;
    return sum;
}

tacit_status tct_distribution_describe(const tacit_factor_solver *S,
                                       tct_shared_info *out)
{
    const spread *g = S->spread;
    uint64_t sent[TCT_PEER_SIGNALS_PHASES] = {0};
    const uint64_t *from = g->side[0].signals.sent;
    TRY(tct_gpu_status(gpu_memcpy(sent, from, sizeof sent, GPU_TO_HOST),
                       "messages of a triangular solve"));
    for (int k = 0; k < TCT_PEER_SIGNALS_PHASES; k++) {
        out->messages[k] = g->s.messages_sent[k];
        out->values[k] = g->s.values[k];
        out->messages_sent[k] = (int64_t)sent[k];
    }
    for (int k = 0; k < g->rows.steps; k++) {
        const int32_t rows = swapped_in(g, k);
        out->doublings += rows > 0;
        out->values[TCT_PEER_SIGNALS_BETWEEN] += rows;
    }
    return TACIT_OK;
}

tacit_status tct_distribution_signal(const tacit_factor_solver *S, int c,
                                     const tct_task_queue *T)
{
    const spread *g = S->spread;
    const tct_cut *cut = &S->plan.cut[c];
    tct_task_queue queue = *T;
    const tct_round R = {.queue = &queue,
                         .task = cut->task,
                         .end = cut->down + cut->between + cut->up};
    tct_peer_signals M = g->side[c].signals;
    const size_t bytes =
        (size_t)M.ranks * (size_t)M.counters * sizeof(uint64_t);
    uint64_t *came = tct_alloc(bytes);
    if (!came) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    tacit_status status = tct_gpu_status(
        gpu_memcpy(came, M.came[M.rank], bytes, GPU_TO_HOST), what);
    int process = 0;
    M.adds = g->s.cut[c].adds;
    const int32_t k = tct_peer_signals_late(&R, &M, came, &process);
    tct_free(came);
    TRY(status);
    if (k < 0)
        FAIL(TACIT_COMM,
             "a triangular solve on GPUs: rank %d has waited %g s for the "
             "others of its grid to end the last one; X is void",
             S->q->rank, S->seconds);
    FAIL(TACIT_COMM,
         "a triangular solve on GPUs: on the way %s rank %d waited %g s at "
         "panel %" PRId32
         " for rank %d, which did not bring what it has for it; X is void: do "
         "all ranks solve, with as many right-hand sides?",
         k < cut->down ? "down" : "up", S->q->rank, S->seconds,
         tct_solver_panel(S, c, k), g->first + process);
}
