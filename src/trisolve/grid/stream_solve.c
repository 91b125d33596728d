/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/stream_solve.c - solves with a factor whose parts are on
 * several ranks: an application, its memory, and how it is made. A part's
 * vectors are stored by row, messages by column. */
#include "trisolve/grid/stream_solve.h"
#include "trisolve/grid/stream_solve_plans.h"

int tct_stream_solve_parts(int size, int leaves)
{
    int parts = 1;
    const int most = leaves > 0 && leaves < size ? leaves : size;
    while (2 * parts <= most && 2 * parts <= TCT_LEAVES_MOST) parts *= 2;
    return parts;
}

/* --- an application ------------------------------------------------------- */

static tacit_status solve_down(void *ctx, tacit_queue *q, const double *x,
                               double *y)
{
    (void)x, (void)y;
    const tct_stream_call *of = ctx;
    const tct_stream_solve *J = of->J;
    const int64_t c = of->columns, n = J->mine, shared = J->part.rows.count[0];
    const double *from = J->in->base.ghost;
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int64_t i = 0; i < shared; i++)
        for (int64_t j = 0; j < c; j++) J->v[J->part.rows.row[i] * c + j] = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            J->v[J->row[i] * c + j] =
                J->b_scale ? from[j * n + i] * J->b_scale[i] : from[j * n + i];
    tct_panels_down(&J->sweeps, c, J->v,
                    J->v + tct_sweeps_rows(&J->sweeps) * c);
    for (int64_t i = 0; i < shared; i++)
        for (int64_t j = 0; j < c; j++)
            J->shared[j * shared + i] = J->v[J->part.rows.row[i] * c + j];
    return TACIT_OK;
}

static tacit_status solve_up(void *ctx, tacit_queue *q, const double *x,
                             double *y)
{
    (void)x, (void)y;
    const tct_stream_call *of = ctx;
    const tct_stream_solve *J = of->J;
    const int64_t c = of->columns, n = J->mine, shared = J->part.rows.count[0];
    const int32_t *row = J->row_back ? J->row_back : J->row;
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int64_t i = 0; i < shared; i++)
        for (int64_t j = 0; j < c; j++)
            J->v[J->part.rows.row[i] * c + j] = J->shared[j * shared + i];
    tct_panels_up(&J->sweeps, c, J->v, J->v + tct_sweeps_rows(&J->sweeps) * c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            J->at[j * n + i] = J->x_scale ? J->v[row[i] * c + j] * J->x_scale[i]
                                          : J->v[row[i] * c + j];
    return TACIT_OK;
}

/* Store the returned x. */
static tacit_status return_solution(void *ctx, tacit_queue *q, const double *x,
                                    double *y)
{
    (void)x;
    const tct_stream_call *of = ctx;
    const tct_exchange *e = &of->J->back->base;
    const size_t stride = tct_stride((size_t)of->J->n);
    const int32_t *home = tct_stream_home(of->J);
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int j = 0; j < of->columns; j++)
        for (int64_t i = 0; i < e->ghosts; i++)
            y[(size_t)j * stride + (size_t)home[i]] =
                e->ghost[j * e->ghosts + i];
    return TACIT_OK;
}

static void exchange(tct_stream_solve *J, tct_plan *p, int columns,
                     const double *x, size_t stride)
{
    const tct_panel X =
        tct_panel_of((double *)(uintptr_t)x, (ptrdiff_t)stride, columns);
    q_exchange_begin(J->q, &p->base, X);
    q_exchange_end(J->q, &p->base, columns);
}

/* The shared rows of two parts: add the higher part's to the lower one's, or
 * replace them by the lower one's. */
static void share(tct_stream_solve *J, tct_plan *p, int columns, bool adds)
{
    const size_t stride = (size_t)J->part.rows.count[0],
                 n = (size_t)p->base.ghosts;
    if (p->sends + p->recvs == 0) return;
    exchange(J, p, columns, J->shared, stride);
    for (int j = 0; j < columns && n > 0; j++) {
        const double *from = p->base.ghost + (size_t)j * n;
        double *to = J->shared + (size_t)j * stride;
        if (adds) q_axpy(J->q, n, 1.0, NULL, from, to);
        else q_copy(J->q, n, from, to);
    }
}

void tct_stream_solve_apply(tct_stream_solve *J, int columns, const double *x,
                            double *y)
{
    tacit_queue *q = J->q;
    tct_stream_call *with = &J->call[columns];
    const tct_system_batch batch = q->batch; /* strides differ here */
    q->batch = (tct_system_batch){0};
    exchange(J, J->in, columns, x, tct_stride((size_t)J->n));
    q_call(q, solve_down, with, NULL, NULL);
    for (int k = 0; k < J->steps; k++) share(J, J->up[k], columns, true);
    for (int k = J->steps; k-- > 0;) share(J, J->down[k], columns, false);
    q_call(q, solve_up, with, NULL, NULL);
    exchange(J, J->back, columns, J->at, (size_t)J->mine);
    q_call(q, return_solution, with, NULL, y);
    q->batch = batch;
}

/* --- room ----------------------------------------------------------------- */

typedef struct {
    double *v, *at, *shared;
} room;

static void free_room(tacit_queue *q, room *r)
{
    tct_free(r->v);
    tacit_queue_free(q, &r->at);
    tacit_queue_free(q, &r->shared);
}

static int64_t rows_of_room(const tct_stream_solve *J)
{
    return tct_sweeps_rows(&J->sweeps) +
           tct_sweeps_scratch(&J->sweeps, tct_team_size(J->q->team));
}

static tacit_status make_room(const tct_stream_solve *J, int columns, room *out)
{
    const size_t c = (size_t)columns, shared = (size_t)J->part.rows.count[0];
    const size_t all = (size_t)rows_of_room(J);
    TRY(tct_memory_require(8.0 * (double)(all * c), tct_stream_solve_name));
    TRY(TCT_ALLOC(all * c, tct_stream_solve_name, &out->v));
    TRY(tacit_queue_alloc(J->q, (size_t)J->mine * c, &out->at));
    return tacit_queue_alloc(J->q, shared * c, &out->shared);
}

tacit_status tct_stream_solve_columns(tct_stream_solve *J, int columns)
{
    room r = {.v = NULL};
    if (columns <= J->columns) return TACIT_OK;
    tacit_status status = tct_agree(J->q->world, make_room(J, columns, &r));
    if (status >= 0) status = tct_stream_solve_widen(J, columns);
    if (status >= 0) {
        const room old = {J->v, J->at, J->shared};
        J->v = r.v;
        J->at = r.at;
        J->shared = r.shared;
        J->columns = columns;
        r = old;
    }
    free_room(J->q, &r);
    return status;
}

/* --- to make one ---------------------------------------------------------- */

static void take_nothing(void *ctx, int32_t from, int32_t end,
                         const double *value, const double *upper)
{
    (void)ctx, (void)from, (void)end, (void)value, (void)upper;
}

/* Create this rank's part; ranks without one join the collective calls. */
static tacit_status take_part(tct_stream_solve *J,
                              const tct_factor_distribution *d,
                              const tct_pattern *S)
{
    if (J->q->rank < J->parts)
        return tct_factor_part_create(d, S, J->q->rank, &J->part);
    TRY(tct_agree(d->world, TACIT_OK));
    return tct_factor_distribution_values(d, take_nothing, NULL);
}

static tacit_status find_pivots(tct_stream_solve *J)
{
    const tacit_factor_panels *P = &J->part.P;
    if (!tct_is_incomplete(P->kind) || P->rows != P->panels)
        return tct_branches_create(P, &J->branches);
    TRY(TCT_ALLOC(P->rows, tct_stream_solve_name, &J->inverse));
    const double *value = P->upper ? P->upper : P->value;
    for (int64_t k = 0; k < P->rows; k++)
        J->inverse[k] = 1.0 / value[P->value_start[k]];
    return TACIT_OK;
}

static tacit_status plan_sweeps(tct_stream_solve *J)
{
    const tacit_factor_panels *P = &J->part.P;
    if (P->panels > 0) TRY(find_pivots(J));
    J->sweeps = (tct_sweeps){.P = P,
                             .inverse = J->inverse,
                             .branches = &J->branches,
                             .team = J->q->team};
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t below = P->row_start[K + 1] - P->row_start[K] -
                              (P->first[K + 1] - P->first[K]);
        if (below > J->sweeps.most) J->sweeps.most = below;
    }
    return TACIT_OK;
}

/* Statistics over all ranks. */
static tacit_status sum_statistics(tct_stream_solve *J,
                                   const tacit_factor_panels *whole)
{
    const tacit_factor_panels *P = &J->part.P;
    const int64_t stored = P->panels ? P->value_start[P->panels] : 0;
    int64_t between = 0, values = tct_stream_plan_values(J->in) +
                                  tct_stream_plan_values(J->back);
    for (int k = 0; k < J->steps; k++) {
        between += J->up[k]->base.messages + J->down[k]->base.messages;
        values += tct_stream_plan_values(J->up[k]) +
                  tct_stream_plan_values(J->down[k]);
    }
    const double bytes =
        8.0 * (double)stored * (P->upper ? 2.0 : 1.0) +
        4.0 * (double)(P->panels ? P->row_start[P->panels] : 0) +
        32.0 * (double)P->panels + 40.0 * (double)P->rows +
        8.0 * (double)(rows_of_room(J) + J->mine) + J->branches.bytes;
    int64_t sum[] = {J->in->base.messages + J->back->base.messages + between,
                     between, values, stored, (int64_t)bytes};
    TRY(tct_reduce_i64(J->q->world, TCT_SUM, sizeof sum / sizeof *sum, sum));
    const double all = (double)whole->value_start[whole->panels];
    J->info = (tct_stream_solve_info){.parts = J->parts,
                                      .messages = sum[0],
                                      .between = sum[1],
                                      .values = sum[2],
                                      .bytes = (double)sum[4],
                                      .replication = (double)sum[3] / all};
    return TACIT_OK;
}

static tacit_status build(tct_stream_solve *J, const tct_factor_distribution *d,
                          const tacit_matrix *m, const tct_order *order)
{
    tacit_world *w = J->q->world;
    tct_pattern S = {.leaves = 0};
    room r = {.v = NULL};
    tacit_status status = tct_agree(w, tct_pattern_create(&d->P, J->parts, &S));
    if (status >= 0) status = take_part(J, d, &S);
    tct_pattern_clear(&S);
    TRY(status);
    TRY(tct_agree(w, plan_sweeps(J)));
    TRY(tct_stream_solve_plan(J, &d->P, m, order));
    J->part.P.row_scale = J->part.P.col_scale = NULL; /* of `d` */
    J->part.P.row_order = NULL;
    status = make_room(J, 1, &r);
    J->v = r.v;
    J->at = r.at;
    J->shared = r.shared;
    J->columns = 1;
    TRY(tct_agree(w, status));
    return sum_statistics(J, &d->P);
}

tacit_status tct_stream_solve_create(tacit_queue *q,
                                     const tacit_factor_panels *panels,
                                     int parts, const tacit_matrix *m,
                                     const tct_order *order,
                                     tct_stream_solve **out)
{
    tct_factor_distribution d = {.world = NULL};
    tct_stream_solve *J = tct_calloc(sizeof *J);
    tacit_status status = TACIT_OK;
    if (!J)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for %s",
                                 tct_stream_solve_name);
    if (J) {
        J->q = q;
        J->n = m->A.rows;
        J->parts = parts;
        while (1 << J->steps < parts) J->steps++;
        for (int c = 0; c <= TCT_COLUMNS_MOST; c++)
            J->call[c] = (tct_stream_call){J, c};
    }
    status = tct_agree(q->world, status);
    if (status >= 0)
        status = tct_factor_distribution_open(q->world, panels, &d);
    if (status >= 0) status = build(J, &d, m, order);
    tct_factor_distribution_close(&d);
    if (status < 0) tct_stream_solve_destroy(&J);
    else *out = J;
    return status;
}

void tct_stream_solve_destroy(tct_stream_solve **solve)
{
    tct_stream_solve *J = *solve;
    if (!J) return;
    room r = {J->v, J->at, J->shared};
    free_room(J->q, &r);
    tct_plan_destroy(&J->in);
    tct_plan_destroy(&J->home);
    tct_plan_destroy(&J->back);
    for (int k = 0; k < J->steps; k++) {
        tct_plan_destroy(&J->up[k]);
        tct_plan_destroy(&J->down[k]);
    }
    tct_factor_part_clear(&J->part);
    tct_branches_clear(&J->branches);
    TCT_FREE(J->inverse, J->row, J->row_back, J->b_scale, J->x_scale, J);
    *solve = NULL;
}

void tct_stream_solve_describe(const tct_stream_solve *J,
                               tct_stream_solve_info *out)
{
    *out = J->info;
}
