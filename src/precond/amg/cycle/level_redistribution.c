/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/level_redistribution.c - which ranks keep the rows of a
 * level.
 *
 * On coarse levels, with few rows a rank, a product takes less time than its
 * messages. So groups of consecutive ranks with few entries move their rows to
 * the first rank of the group; global numbers stay. A matrix to be inverted is
 * spread over all ranks, since its dense rows are expensive. */
#include "comm/setup/directory.h"
#include "matrix/matrix.h"
#include "precond/amg/amg.h"
#include <string.h>

static const char *const what = "the rows of a level";

/* Entries worth a rank: their product takes some ten microseconds, as an
 * exchange through MPI does. */
enum { WORTH_A_RANK = 32768 };

/* --- distribution --------------------------------------------------------- */

static int64_t rows_of(const int64_t *starts, int rank)
{
    return starts[rank + 1] - starts[rank];
}

/* First rank of the group of rank `r`, if `size` ranks form `groups`. */
static int first_of(int r, int groups, int size)
{
    const int group = (int)((int64_t)r * groups / size);
    return (int)(((int64_t)group * size + groups - 1) / groups);
}

/* To fewer ranks, each with enough entries. */
static void gather(const tacit_matrix *m, int64_t *to)
{
    const int size = m->world->size;
    int groups = 0;
    for (int r = 0; r < size; r++) groups += rows_of(m->starts, r) > 0;
    const int had = groups;
    while (groups > 1 && m->nonzeros < (int64_t)groups * WORTH_A_RANK)
        groups = (groups + 1) / 2;
    memset(to, 0, ((size_t)size + 1) * sizeof *to);
    for (int r = 0; r < size; r++)
        to[(groups < had ? first_of(r, groups, size) : r) + 1] +=
            rows_of(m->starts, r);
    for (int r = 0; r < size; r++) to[r + 1] += to[r];
}

/* Evenly over all ranks, unless nearly so already; groups of `width` rows stay
 * together. */
static void spread_evenly(const tacit_matrix *m, int width, int64_t *to)
{
    const int size = m->world->size;
    const int64_t *from = m->starts, units = from[size] / width;
    int64_t most = 0;
    for (int r = 0; r < size; r++)
        if (rows_of(from, r) > most) most = rows_of(from, r);
    const bool nearly = 2 * most <= 3 * width * (units / size + 1);
    for (int r = 0; r <= size; r++)
        to[r] = nearly ? from[r] : width * tct_share(units, size, r);
}

/* --- choice --------------------------------------------------------------- */

static tacit_status copy_starts(int size, const int64_t *from, int64_t **out)
{
    TRY(TCT_ALLOC(size + 1, what, out));
    if (from) memcpy(*out, from, ((size_t)size + 1) * sizeof *from);
    return TACIT_OK;
}

static tacit_status find_parts(const tacit_matrix *m, const int64_t *to,
                               int32_t **out)
{
    TRY(TCT_ALLOC(m->A.rows, what, out));
    for (int64_t i = 0; i < m->A.rows; i++)
        (*out)[i] = tct_owner(to, m->world->size, m->A.first + i);
    return TACIT_OK;
}

/* Choose the distribution; *out false: a rank got too much, or nothing
 * moves. */
static tacit_status choose(const tacit_matrix *m, int width, bool small,
                           int64_t room, int64_t *to, bool *out)
{
    const size_t bytes = ((size_t)m->world->size + 1) * sizeof *to;
    bool full = false;
    if (small) spread_evenly(m, width, to);
    else gather(m, to);
    *out = false;
    if (memcmp(m->starts, to, bytes) == 0) return TACIT_OK;
    TRY(tct_any(m->world, rows_of(to, m->world->rank) > room, &full));
    *out = !full;
    return TACIT_OK;
}

tacit_status tct_amg_move(tacit_matrix *m, int width, bool small, int64_t room,
                          const int64_t *as, tct_amg_redistribution *out)
{
    const int size = m->world->size;
    int32_t *part = NULL;
    bool redistribution = as != NULL;
    if (size == 1) return TACIT_OK;
    tacit_status status = copy_starts(size, m->starts, &out->from);
    if (status >= 0) status = copy_starts(size, as, &out->to);
    TRY(tct_agree(m->world, status));
    if (!as) TRY(choose(m, width, small, room, out->to, &redistribution));
    if (!redistribution) {
        tct_amg_redistribution_free(out);
        return TACIT_OK;
    }
    status = tct_agree(m->world, find_parts(m, out->to, &part));
    if (status >= 0) status = tct_redistribute(m, part);
    tct_free(part);
    return status;
}

/* Move `words` values a row to the new ranks. */
static tacit_status send_values(tacit_world *w,
                                const tct_amg_redistribution *redistribution,
                                int words, const double *value, int64_t *starts,
                                int64_t *number, double *out)
{
    const int64_t first = redistribution->from[w->rank] * words;
    const int64_t count = rows_of(redistribution->from, w->rank) * words;
    for (int r = 0; r <= w->size; r++)
        starts[r] = redistribution->to[r] * words;
    for (int64_t k = 0; k < count; k++) number[k] = first + k;
    return tct_directory_set(w, starts, out, count, number, value);
}

tacit_status tct_amg_move_values(tacit_world *w,
                                 const tct_amg_redistribution *redistribution,
                                 int words, double **values)
{
    int64_t *starts = NULL, *number = NULL;
    double *moved = NULL;
    if (!redistribution->to) return TACIT_OK;
    tacit_status status = copy_starts(w->size, NULL, &starts);
    if (status >= 0)
        status = TCT_ALLOC(rows_of(redistribution->from, w->rank) * words, what,
                           &number);
    if (status >= 0)
        status = TCT_ALLOC(rows_of(redistribution->to, w->rank) * words, what,
                           &moved);
    status = tct_agree(w, status);
    if (status >= 0)
        status = send_values(w, redistribution, words, *values, starts, number,
                             moved);
    TCT_FREE(starts, number);
    if (status >= 0) {
        tct_free(*values);
        *values = moved;
    } else {
        tct_free(moved);
    }
    return status;
}

/* --- plans ---------------------------------------------------------------- */

/* List the ranks with rows of [first, last); returns how many. */
static int find_channels(const int64_t *starts, int size, int64_t first,
                         int64_t last, tct_plan_part *out)
{
    int count = 0;
    for (int r = 0; r < size; r++) {
        const int64_t from = starts[r] > first ? starts[r] : first;
        const int64_t to = starts[r + 1] < last ? starts[r + 1] : last;
        if (from < to)
            out[count++] = (tct_plan_part){.peer = r, .count = to - from};
    }
    return count;
}

/* Plan the transfer of a vector from distribution `from` to `to`. */
static tacit_status plan(tacit_queue *q, const int64_t *from, const int64_t *to,
                         int columns, tct_plan **out)
{
    const int size = q->ranks, rank = q->rank;
    const int64_t rows = rows_of(from, rank);
    tct_plan_part *send = NULL, *recv = NULL;
    int32_t *index = NULL;
    int sends = 0, recvs = 0;
    tacit_status status = TCT_ALLOC(size, what, &send);
    if (status >= 0) status = TCT_ALLOC(size, what, &recv);
    if (status >= 0) status = TCT_ALLOC(rows, what, &index);
    status = tct_agree(q->world, status);
    if (status >= 0) {
        sends = find_channels(to, size, from[rank], from[rank + 1], send);
        recvs = find_channels(from, size, to[rank], to[rank + 1], recv);
        for (int64_t i = 0; i < rows; i++) index[i] = (int32_t)i;
        status = tct_plan_from_lists(q, sends, send, index, recvs, recv,
                                     columns, out);
    }
    TCT_FREE(send, recv, index);
    return status;
}

tacit_status
tct_amg_redistribution_columns(tct_amg_redistribution *redistribution,
                               tacit_queue *q, int columns)
{
    tct_plan *forward = NULL, *back = NULL;
    if (!redistribution->to) return TACIT_OK;
    tacit_status status =
        plan(q, redistribution->from, redistribution->to, columns, &forward);
    if (status >= 0)
        status =
            plan(q, redistribution->to, redistribution->from, columns, &back);
    if (status < 0) {
        tct_plan_destroy(&forward);
        return status;
    }
    tct_plan_destroy(&redistribution->forward);
    tct_plan_destroy(&redistribution->back);
    redistribution->forward = forward;
    redistribution->back = back;
    return TACIT_OK;
}

void tct_amg_redistribution_free(tct_amg_redistribution *redistribution)
{
    tct_plan_destroy(&redistribution->forward);
    tct_plan_destroy(&redistribution->back);
    TCT_FREE(redistribution->from, redistribution->to);
    *redistribution = (tct_amg_redistribution){.to = NULL};
}

void tct_amg_send(tct_plan *p, tacit_queue *q, const double *x, double *y)
{
    tct_exchange *e = &p->base;
    const size_t n = (size_t)e->ghosts;
    const tct_panel from = q_panel(q, x), to = q_panel(q, y);
    const tct_system_batch batch = q->batch;
    q->batch = (tct_system_batch){0};
    q_exchange_begin(q, e, from);
    q_exchange_end(q, e, from.columns);
    for (int j = 0; j < from.columns; j++)
        q_copy(q, n, e->ghost + (size_t)j * n, tct_column(&to, j));
    q->batch = batch;
}
