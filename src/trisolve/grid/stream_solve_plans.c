/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/stream_solve_plans.c - the plans of a stream solve's exchanges.
 * A part's rows are sent in the order of their numbers in the vectors. */
#include "trisolve/grid/stream_solve_plans.h"
#include "comm/setup/directory.h"
#include <stdlib.h>

int64_t tct_stream_plan_messages(const tct_plan *p)
{
    int64_t count = 0;
    for (int k = 0; k < p->sends; k++)
        count += p->send[k].peer != p->q->rank && p->send[k].count > 0;
    return count;
}

int64_t tct_stream_plan_values(const tct_plan *p)
{
    int64_t count = 0;
    for (int k = 0; k < p->sends; k++)
        count += p->send[k].peer != p->q->rank ? p->send[k].count : 0;
    return count;
}

/* --- to make them --------------------------------------------------------- */

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

/* List this part's rows in `row`; `number` [mine] gets their original numbers,
 * by `order` unless that is NULL. */
static void list_mine(const tct_stream_solve *J, const int32_t *order,
                      int32_t *row, int64_t *number)
{
    int64_t count = 0;
    for (int64_t i = 0; i < J->part.P.rows; i++) {
        const int32_t at = J->part.place[i];
        if (at < 0) continue;
        row[count] = (int32_t)i;
        number[count++] = order ? order[at] : at;
    }
}

/* Map original numbers to those of the partition. */
static tacit_status look_up(const tacit_matrix *m, int64_t count,
                            int64_t *number)
{
    tacit_world *w = m->world;
    int64_t *now = NULL, *table = NULL;
    if (!m->dealt) return TACIT_OK;
    tacit_status status = TCT_ALLOC(m->A.rows, tct_stream_solve_name, &now);
    if (status >= 0)
        status = TCT_ALLOC(m->dealt[w->rank + 1] - m->dealt[w->rank],
                           tct_stream_solve_name, &table);
    status = tct_agree(w, status);
    for (int64_t i = 0; status >= 0 && i < m->A.rows; i++)
        now[i] = m->A.first + i;
    if (status >= 0)
        status =
            tct_directory_set(w, m->dealt, table, m->A.rows, m->original, now);
    if (status >= 0)
        status = tct_directory_get(w, m->dealt, table, count, number, number);
    TCT_FREE(now, table);
    return status;
}

/* Sort the rows by number: the order of messages. */
static void sort_mine(int64_t mine, int32_t *row, int64_t *number, place *all)
{
    for (int64_t i = 0; i < mine; i++) all[i] = (place){number[i], row[i]};
    qsort(all, (size_t)mine, sizeof *all, by_number);
    for (int64_t i = 0; i < mine; i++) {
        number[i] = all[i].number;
        row[i] = all[i].row;
    }
}

/* The exchange back is the reverse of the one in, or of that for x. */
static tacit_status plan_back(tct_stream_solve *J)
{
    const tct_plan *in = J->home ? J->home : J->in;
    int32_t *index = NULL;
    TRY(tct_agree(J->q->world,
                  TCT_ALLOC(J->mine, tct_stream_solve_name, &index)));
    for (int64_t i = 0; i < J->mine; i++) index[i] = (int32_t)i;
    const tacit_status status = tct_plan_from_lists(
        J->q, in->recvs, in->recv, index, in->sends, in->send, 1, &J->back);
    tct_free(index);
    return status;
}

/* Make the exchange of this part's rows, in `*row`; their original numbers are
 * those of the part, by `by` unless that is NULL. */
static tacit_status plan_rows(tct_stream_solve *J, const tacit_matrix *m,
                              const tct_order *order, const int32_t *by,
                              int32_t **row, tct_plan **out)
{
    int64_t *number = NULL;
    place *all = NULL;
    tacit_status status = TCT_ALLOC(J->mine, tct_stream_solve_name, &number);
    if (status >= 0) status = TCT_ALLOC(J->mine, tct_stream_solve_name, &all);
    if (status >= 0) status = TCT_ALLOC(J->mine, tct_stream_solve_name, row);
    status = tct_agree(m->world, status);
    if (status >= 0) {
        list_mine(J, by, *row, number);
        status = look_up(m, J->mine, number);
    }
    if (status >= 0) {
        sort_mine(J->mine, *row, number, all);
        status = tct_plan_create(J->q, m->starts, number, J->mine,
                                 order ? order->now : NULL, 1, out);
    }
    TCT_FREE(number, all);
    return status;
}

static tacit_status plan_in_and_back(tct_stream_solve *J,
                                     const tacit_factor_panels *P,
                                     const tacit_matrix *m,
                                     const tct_order *order)
{
    for (int64_t i = 0; i < J->part.P.rows; i++)
        J->mine += J->part.place[i] >= 0;
    TRY(plan_rows(J, m, order, P->row_order, &J->row, &J->in));
    if (P->row_order) TRY(plan_rows(J, m, order, NULL, &J->row_back, &J->home));
    return plan_back(J);
}

/* --- scales --------------------------------------------------------------- */

/* `from`, by original number, of the rows `row`; `by` as in plan_rows. */
static tacit_status take_scale(const tct_stream_solve *J, const int32_t *row,
                               const int32_t *by, const double *from,
                               double **out)
{
    if (!from) return TACIT_OK;
    TRY(TCT_ALLOC(J->mine, tct_stream_solve_name, out));
    for (int64_t i = 0; i < J->mine; i++) {
        const int32_t at = J->part.place[row[i]];
        (*out)[i] = from[by ? by[at] : at];
    }
    return TACIT_OK;
}

static tacit_status take_scales(tct_stream_solve *J,
                                const tacit_factor_panels *P)
{
    const int32_t *back = J->row_back ? J->row_back : J->row;
    TRY(take_scale(J, J->row, P->row_order, P->row_scale, &J->b_scale));
    return take_scale(J, back, NULL, P->col_scale, &J->x_scale);
}

/* Exchange all shared rows between parts that differ in bit `k` and not below:
 * the higher one sends if `up`, else the lower one. */
static tacit_status plan_step(tct_stream_solve *J, int k, bool up,
                              tct_plan **out)
{
    const int z = J->q->rank, bit = 1 << k;
    const bool takes_part = z < J->parts && z % bit == 0, high = z & bit;
    const int64_t count = takes_part ? J->part.rows.count[k] : 0;
    const tct_plan_part channel = {.peer = high ? z - bit : z + bit,
                                   .count = count};
    const bool any = count > 0, sends = any && high == up;
    int32_t *index = NULL;
    TRY(tct_agree(J->q->world,
                  TCT_ALLOC(count, tct_stream_solve_name, &index)));
    for (int64_t i = 0; i < count; i++) index[i] = (int32_t)i;
    const tacit_status status = tct_plan_from_lists(
        J->q, sends, &channel, index, any && !sends, &channel, 1, out);
    tct_free(index);
    return status;
}

tacit_status tct_stream_solve_plan(tct_stream_solve *J,
                                   const tacit_factor_panels *P,
                                   const tacit_matrix *m,
                                   const tct_order *order)
{
    TRY(plan_in_and_back(J, P, m, order));
    TRY(tct_agree(m->world, take_scales(J, P)));
    J->in->base.messages = tct_stream_plan_messages(J->in);
    J->back->base.messages = tct_stream_plan_messages(J->back);
    for (int k = 0; k < J->steps; k++) {
        TRY(plan_step(J, k, true, &J->up[k]));
        TRY(plan_step(J, k, false, &J->down[k]));
    }
    return TACIT_OK;
}

/* --- for several columns -------------------------------------------------- */

/* Replace a plan by one for `columns` columns. */
static tacit_status widen(tct_plan **p, int columns, tct_plan **old)
{
    tct_plan *now = *p;
    TRY(tct_plan_from_lists(now->q, now->sends, now->send, now->base.index,
                            now->recvs, now->recv, columns, p));
    (*p)->base.messages = tct_stream_plan_messages(*p);
    *old = now;
    return TACIT_OK;
}

tacit_status tct_stream_solve_widen(tct_stream_solve *J, int columns)
{
    tct_plan **all[2 * TCT_STREAM_STEPS + 2] = {&J->in, &J->back},
                                          *old[2 * TCT_STREAM_STEPS + 2];
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
