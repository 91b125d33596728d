/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/stream_solve.c - solves with a factor whose parts are on
 * several ranks. A part's vectors are stored by row, messages by column. */
#include "trisolve/grid/stream_solve.h"
#include "comm/exchange/plan.h"
#include "comm/setup/directory.h"
#include "trisolve/grid/part.h"
#include <stdlib.h>

static const char *const what = "a factor dealt out over a grid";

enum { STEPS = 13 }; /* log2 TCT_LEAVES_MOST + 1 */

/* Argument of the functions that an application enqueues. */
typedef struct {
    struct tct_stream_solve *J;
    int columns;
} call;

struct tct_stream_solve {
    tacit_queue *q;
    int64_t n; /* rows of this rank's vectors */
    int parts, steps;
    tct_factor_part part;  /* of no rows if this rank has none */
    double *inverse;       /* [part.P.rows] inverse pivots, if panels are rows;
                      * NULL */
    tct_branches branches; /* ... otherwise */
    tct_sweeps sweeps;
    int64_t mine; /* rows whose b and x are this part's */
    int32_t *row; /* [mine] rows of the part, in the order of messages */
    tct_plan *in, *back;
    tct_plan *up[STEPS], *down[STEPS];
    int columns;
    double *v;      /* [part.P.rows][columns], and scratch */
    double *at;     /* [columns][mine] x to return */
    double *shared; /* [columns][part.rows.count[0]] */
    call call[TCT_COLUMNS_MOST + 1];
    tct_stream_solve_info info;
};

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
    const call *of = ctx;
    const tct_stream_solve *J = of->J;
    const int64_t c = of->columns, n = J->mine, shared = J->part.rows.count[0];
    const double *from = J->in->base.ghost;
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int64_t i = 0; i < shared; i++)
        for (int64_t j = 0; j < c; j++) J->v[J->part.rows.row[i] * c + j] = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            J->v[J->row[i] * c + j] = from[j * n + i];
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
    const call *of = ctx;
    const tct_stream_solve *J = of->J;
    const int64_t c = of->columns, n = J->mine, shared = J->part.rows.count[0];
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int64_t i = 0; i < shared; i++)
        for (int64_t j = 0; j < c; j++)
            J->v[J->part.rows.row[i] * c + j] = J->shared[j * shared + i];
    tct_panels_up(&J->sweeps, c, J->v, J->v + tct_sweeps_rows(&J->sweeps) * c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            J->at[j * n + i] = J->v[J->row[i] * c + j];
    return TACIT_OK;
}

/* Store the returned x where b came from. */
static tacit_status return_solution(void *ctx, tacit_queue *q, const double *x,
                                    double *y)
{
    (void)x;
    const call *of = ctx;
    const tct_exchange *e = &of->J->back->base;
    const size_t stride = tct_stride((size_t)of->J->n);
    if (q->failed != TACIT_OK) return TACIT_OK;
    for (int j = 0; j < of->columns; j++)
        for (int64_t i = 0; i < e->ghosts; i++)
            y[(size_t)j * stride + (size_t)of->J->in->base.index[i]] =
                e->ghost[j * e->ghosts + i];
    return TACIT_OK;
}

static void exchange(tct_stream_solve *J, tct_plan *p, int columns,
                     const double *x, size_t stride)
{
    const tct_panel X = {(double *)(uintptr_t)x, (ptrdiff_t)stride, columns};
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
    call *with = &J->call[columns];
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
    TRY(tct_memory_require(8.0 * (double)(all * c), what));
    TRY(TCT_ALLOC(all * c, what, &out->v));
    TRY(tacit_queue_alloc(J->q, (size_t)J->mine * c, &out->at));
    return tacit_queue_alloc(J->q, shared * c, &out->shared);
}

/* Messages to other ranks. */
static int64_t messages_of(const tct_plan *p)
{
    int64_t count = 0;
    for (int k = 0; k < p->sends; k++)
        count += p->send[k].peer != p->q->rank && p->send[k].count > 0;
    return count;
}

static int64_t values_of(const tct_plan *p)
{
    int64_t count = 0;
    for (int k = 0; k < p->sends; k++)
        count += p->send[k].peer != p->q->rank ? p->send[k].count : 0;
    return count;
}

/* Replace a plan by one for `columns` columns. */
static tacit_status widen(tct_plan **p, int columns, tct_plan **old)
{
    tct_plan *now = *p;
    TRY(tct_plan_from_lists(now->q, now->sends, now->send, now->base.index,
                            now->recvs, now->recv, columns, p));
    (*p)->base.messages = messages_of(*p);
    *old = now;
    return TACIT_OK;
}

static tacit_status widen_all(tct_stream_solve *J, int columns)
{
    tct_plan **all[2 * STEPS + 2] = {&J->in, &J->back}, *old[2 * STEPS + 2];
    int count = 2, done = 0;
    tacit_status status = TACIT_OK;
    for (int k = 0; k < J->steps; k++) {
        all[count++] = &J->up[k];
        all[count++] = &J->down[k];
    }
    for (; done < count && status >= 0; done += status >= 0)
        status = widen(all[done], columns, &old[done]);
    for (int k = 0; k < done; k++) { /* replace all, or restore all */
        tct_plan *gone = old[k];
        if (status < 0) {
            gone = *all[k];
            *all[k] = old[k];
        }
        tct_plan_destroy(&gone);
    }
    return status;
}

tacit_status tct_stream_solve_columns(tct_stream_solve *J, int columns)
{
    room r = {.v = NULL};
    if (columns <= J->columns) return TACIT_OK;
    tacit_status status = tct_agree(J->q->world, make_room(J, columns, &r));
    if (status >= 0) status = widen_all(J, columns);
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

/* --- plans ---------------------------------------------------------------- */

/* A row of the part and its number in the vectors. */
typedef struct {
    int64_t number;
    int32_t row;
} place;

static int by_number(const void *a, const void *b)
{
    const int64_t x = ((const place *)a)->number,
                  y = ((const place *)b)->number;
    return (x > y) - (x < y);
}

/* List this part's rows; `number` [mine] gets their original numbers. */
static void list_mine(tct_stream_solve *J, int64_t *number)
{
    int64_t count = 0;
    for (int64_t i = 0; i < J->part.P.rows; i++) {
        if (J->part.place[i] < 0) continue;
        J->row[count] = (int32_t)i;
        number[count++] = J->part.place[i];
    }
}

/* Map original numbers to those of the partition. */
static tacit_status look_up(const tacit_matrix *m, int64_t count,
                            int64_t *number)
{
    tacit_world *w = m->world;
    int64_t *now = NULL, *table = NULL;
    if (!m->dealt) return TACIT_OK;
    tacit_status status = TCT_ALLOC(m->A.rows, what, &now);
    if (status >= 0)
        status =
            TCT_ALLOC(m->dealt[w->rank + 1] - m->dealt[w->rank], what, &table);
    status = tct_agree(w, status);
    for (int64_t i = 0; status >= 0 && i < m->A.rows; i++)
        now[i] = m->A.first + i;
    if (status >= 0)
        status = tct_tell(w, m->dealt, table, m->A.rows, m->original, now);
    if (status >= 0)
        status = tct_ask(w, m->dealt, table, count, number, number);
    TCT_FREE(now, table);
    return status;
}

/* Sort the rows by number: the order of messages. */
static void sort_mine(tct_stream_solve *J, int64_t *number, place *all)
{
    for (int64_t i = 0; i < J->mine; i++)
        all[i] = (place){number[i], J->row[i]};
    qsort(all, (size_t)J->mine, sizeof *all, by_number);
    for (int64_t i = 0; i < J->mine; i++) {
        number[i] = all[i].number;
        J->row[i] = all[i].row;
    }
}

/* The exchange back is the reverse of the one in. */
static tacit_status plan_back(tct_stream_solve *J)
{
    const tct_plan *in = J->in;
    int32_t *index = NULL;
    TRY(tct_agree(J->q->world, TCT_ALLOC(J->mine, what, &index)));
    for (int64_t i = 0; i < J->mine; i++) index[i] = (int32_t)i;
    const tacit_status status = tct_plan_from_lists(
        J->q, in->recvs, in->recv, index, in->sends, in->send, 1, &J->back);
    tct_free(index);
    return status;
}

static tacit_status plan_in_and_back(tct_stream_solve *J, const tacit_matrix *m,
                                     const tct_order *order)
{
    int64_t *number = NULL;
    place *all = NULL;
    for (int64_t i = 0; i < J->part.P.rows; i++)
        J->mine += J->part.place[i] >= 0;
    tacit_status status = TCT_ALLOC(J->mine, what, &number);
    if (status >= 0) status = TCT_ALLOC(J->mine, what, &all);
    if (status >= 0) status = TCT_ALLOC(J->mine, what, &J->row);
    status = tct_agree(m->world, status);
    if (status >= 0) {
        list_mine(J, number);
        status = look_up(m, J->mine, number);
    }
    if (status >= 0) {
        sort_mine(J, number, all);
        status = tct_plan_create(J->q, m->starts, number, J->mine,
                                 order ? order->now : NULL, 1, &J->in);
    }
    TCT_FREE(number, all);
    TRY(status);
    return plan_back(J);
}

/* Exchange all shared rows between parts that differ in bit `k` and not below:
 * the higher one sends if `up`, else the lower one. */
static tacit_status plan_step(tct_stream_solve *J, int k, bool up,
                              tct_plan **out)
{
    const int z = J->q->rank, bit = 1 << k;
    const bool takes_part = z < J->parts && z % bit == 0, high = z & bit;
    const int64_t count = takes_part ? J->part.rows.count[k] : 0;
    const tct_channel channel = {.peer = high ? z - bit : z + bit,
                                 .count = count};
    const bool any = count > 0, sends = any && high == up;
    int32_t *index = NULL;
    TRY(tct_agree(J->q->world, TCT_ALLOC(count, what, &index)));
    for (int64_t i = 0; i < count; i++) index[i] = (int32_t)i;
    const tacit_status status = tct_plan_from_lists(
        J->q, sends, &channel, index, any && !sends, &channel, 1, out);
    tct_free(index);
    return status;
}

static tacit_status plan_all(tct_stream_solve *J, const tacit_matrix *m,
                             const tct_order *order)
{
    TRY(plan_in_and_back(J, m, order));
    J->in->base.messages = messages_of(J->in);
    J->back->base.messages = messages_of(J->back);
    for (int k = 0; k < J->steps; k++) {
        TRY(plan_step(J, k, true, &J->up[k]));
        TRY(plan_step(J, k, false, &J->down[k]));
    }
    return TACIT_OK;
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
    TRY(TCT_ALLOC(P->rows, what, &J->inverse));
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
    int64_t between = 0, values = values_of(J->in) + values_of(J->back);
    for (int k = 0; k < J->steps; k++) {
        between += J->up[k]->base.messages + J->down[k]->base.messages;
        values += values_of(J->up[k]) + values_of(J->down[k]);
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
    TRY(plan_all(J, m, order));
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
    if (!J) status = tacit_error_set(TACIT_NO_MEMORY, "no memory for %s", what);
    if (J) {
        J->q = q;
        J->n = m->A.rows;
        J->parts = parts;
        while (1 << J->steps < parts) J->steps++;
        for (int c = 0; c <= TCT_COLUMNS_MOST; c++) J->call[c] = (call){J, c};
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
    tct_plan_destroy(&J->back);
    for (int k = 0; k < J->steps; k++) {
        tct_plan_destroy(&J->up[k]);
        tct_plan_destroy(&J->down[k]);
    }
    tct_factor_part_clear(&J->part);
    tct_branches_clear(&J->branches);
    TCT_FREE(J->inverse, J->row, J);
    *solve = NULL;
}

void tct_stream_solve_describe(const tct_stream_solve *J,
                               tct_stream_solve_info *out)
{
    *out = J->info;
}
