/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/entries.c - checks a caller's entries and sends them to their owners,
 * in rounds. */
#include "matrix/entries.h"
#include "comm/setup/alltoall.h"
#include <inttypes.h>
#include <math.h>

/* --- what is given -------------------------------------------------------- */

static tacit_status check_arrays(const tacit_entries *e)
{
    if (e->count < 0)
        FAIL(TACIT_INVALID, "tacit_entries: a count of %" PRId64, e->count);
    if ((e->rows && e->rows32) || (e->cols && e->cols32))
        FAIL(TACIT_INVALID,
             "tacit_entries: rows or cols are given with 32 and with 64 bits: "
             "one of them is NULL");
    if (e->triangle > TACIT_TRIANGLE_LOWER)
        FAIL(TACIT_INVALID,
             "tacit_entries: triangle is %d: expected both, "
             "upper or lower",
             (int)e->triangle);
    const bool rows = e->rows || e->rows32, cols = e->cols || e->cols32;
    if (e->count == 0 || (rows && cols && e->vals)) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "tacit_entries: %" PRId64 " entries without %s: give all three arrays",
         e->count,
         !rows   ? "rows"
         : !cols ? "cols"
                 : "vals");
}

tacit_status tct_given_read(const tacit_entries *from, tct_given *out)
{
    tacit_entries e = {0};
    TRY(tct_read_sized("tacit_entries", from, &e, sizeof e));
    TRY(check_arrays(&e));
    *out = (tct_given){.count = e.count,
                       .rows64 = e.rows,
                       .cols64 = e.cols,
                       .rows32 = e.rows32,
                       .cols32 = e.cols32,
                       .vals = e.vals,
                       .triangle = e.triangle};
    return TACIT_OK;
}

static bool is_beyond(const tct_given *g, const tct_entry *e)
{
    if (g->triangle == TACIT_TRIANGLE_UPPER) return e->col < e->row;
    return g->triangle == TACIT_TRIANGLE_LOWER && e->col > e->row;
}

static tacit_status check_entry(const tct_given *g, int64_t n, int64_t k,
                                const tct_entry *e)
{
    if (e->row < 0 || e->row >= n || e->col < 0 || e->col >= n)
        FAIL(TACIT_INVALID,
             "entry %" PRId64 " is in row %" PRId64 ", column %" PRId64
             ", all from 0: expected rows and columns from 0 to %" PRId64,
             k, e->row, e->col, n - 1);
    if (is_beyond(g, e))
        FAIL(TACIT_INVALID,
             "row %" PRId64 ", column %" PRId64
             " is %s the diagonal, but the %s triangle is given: give this one "
             "alone, or all entries as those of both",
             e->row + 1, e->col + 1, e->col < e->row ? "below" : "above",
             g->triangle == TACIT_TRIANGLE_UPPER ? "upper" : "lower");
    if (isfinite(e->val)) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "row %" PRId64 ", column %" PRId64 " holds %g, which is not finite",
         e->row + 1, e->col + 1, e->val);
}

tacit_status tct_given_check(const tct_given *g, int64_t n)
{
    tct_given_at at = {0, g->first};
    while (at.k < g->count) {
        const int64_t k = at.k;
        const tct_entry e = tct_given_next(g, &at);
        TRY(check_entry(g, n, k, &e));
    }
    return TACIT_OK;
}

/* --- to the owners -------------------------------------------------------- */

typedef struct {
    const tct_given *g;
    const int64_t *starts;
    tct_alltoall a;
    tct_crew *crew;
    int64_t sent;
} sender;

static bool has_mirror(const tct_given *g, const tct_entry *e)
{
    return g->triangle != TACIT_TRIANGLE_BOTH && e->row != e->col;
}

static int owner(const sender *s, int64_t row)
{
    return tct_owner(s->starts, s->a.world->size, row);
}

/* Count the entries from `at` on that fit in a round, for each rank; returns
 * the place after them. */
static tct_given_at count_some(sender *s, tct_given_at at)
{
    int64_t items = 0;
    while (at.k < s->g->count && items + 2 <= s->a.room) {
        const tct_entry e = tct_given_next(s->g, &at);
        s->a.to[owner(s, e.row)]++;
        items++;
        if (!has_mirror(s->g, &e)) continue;
        s->a.to[owner(s, e.col)]++;
        items++;
    }
    return at;
}

static void put(sender *s, tct_entry e)
{
    const int to = owner(s, e.row);
    *(tct_entry *)tct_alltoall_slot(&s->a, to) = e;
    s->sent += to != s->a.world->rank;
}

static void put_some(sender *s, tct_given_at at, int64_t end)
{
    while (at.k < end) {
        const tct_entry e = tct_given_next(s->g, &at);
        put(s, e);
        if (has_mirror(s->g, &e)) put(s, (tct_entry){e.col, e.row, e.val});
    }
}

/* One round; one process takes its own entries without a message. */
static tacit_status send_some(sender *s, tct_given_at *at, tct_batch *batch,
                              tct_part *parts)
{
    const bool alone = s->a.world->size == 1;
    tct_alltoall_begin(&s->a);
    const tct_given_at end = count_some(s, *at);
    tct_alltoall_address(&s->a);
    put_some(s, *at, end.k);
    *at = end;
    if (!alone) TRY(tct_alltoall_send(&s->a));
    char *items = alone ? s->a.out : s->a.in;
    tct_batch_split(batch, parts, (tct_entry *)(void *)items,
                    alone ? s->a.to[0] : s->a.received);
    return TACIT_OK;
}

static tacit_status send_all(sender *s, tct_entry_receiver take, void *ctx)
{
    tct_given_at at = {0, s->g->first};
    for (bool more = true; more;) {
        tct_batch batch = {0};
        tct_part parts[TCT_PARTS];
        TRY(send_some(s, &at, &batch, parts));
        const tacit_status status = take(ctx, &batch);
        tct_crew_flush(s->crew);
        TRY(tct_agree(s->a.world, status));
        TRY(tct_any(s->a.world, at.k < s->g->count, &more));
    }
    return TACIT_OK;
}

tacit_status tct_given_send(tacit_world *world, const int64_t *starts,
                            const tct_given *g, tct_crew *crew,
                            tct_entry_receiver take, void *ctx, int64_t *sent)
{
    sender s = {.g = g, .starts = starts, .crew = crew};
    const int64_t each = g->triangle == TACIT_TRIANGLE_BOTH ? 1 : 2;
    tacit_status status =
        tct_alltoall_open(&s.a, world, sizeof(tct_entry), each * g->count + 1);
    if (status >= 0) status = send_all(&s, take, ctx);
    tct_alltoall_close(&s.a);
    if (status >= 0) *sent = s.sent;
    return status;
}
