/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/slices_refill.c - new values for an old pattern. Patterns are
 * compared first, so that a block that cannot be refilled stays as it was. */
#include "operator/host/slices_build.h"

static const tct_difference none = {.row = -1};

typedef struct {
    const tct_slices *S;
    const tct_local *A;
    int32_t *stored; /* [widest slice] block columns of a group */
    int32_t *now;    /* [most entries of a group] those of A, if b > 1 */
} comparison;

/* A slice, and its place in the arrays. */
typedef struct {
    const tct_slices *S;
    const tct_slices_at *at;
} place;

/* --- one group ------------------------------------------------------------ */

static int64_t read_lane(const void *of, int l, int32_t *col)
{
    const place *p = of;
    const tct_slice *s = &p->S->slice[p->at->slice];
    const uint8_t *index = p->S->index + p->at->index;
    const uint8_t *some = p->S->some + p->at->some;
    int64_t n = 0;
    for (int k = 0; k < s->width; k++)
        if (tct_slice_lanes(s, some, k) >> l & 1)
            col[n++] = tct_slice_column(s, index, k, l);
    return n;
}

static int64_t group_of(const void *of, int l)
{
    const place *p = of;
    return tct_slices_group(p->S, p->at->slice, l);
}

static tct_difference compare_slice(const comparison *c,
                                    const tct_slices_at *at)
{
    const tct_slices *S = c->S;
    const place p = {S, at};
    const tct_stored_slice s = {.lanes = LANES,
                                .b = S->b,
                                .of = &p,
                                .group = group_of,
                                .read = read_lane,
                                .long_rows = S->long_rows,
                                .long_row = S->long_row,
                                .long_ptr = S->long_ptr,
                                .long_col = S->long_col};
    return tct_compare_slice(&s, c->A, c->stored, c->now);
}

/* --- all groups ----------------------------------------------------------- */

static tct_difference compare_chunk(const comparison *c, int64_t chunk)
{
    const tct_slices *S = c->S;
    tct_slices_at at = S->at[chunk];
    tct_difference d = none;
    for (; at.slice < S->at[chunk + 1].slice && d.row < 0;
         tct_slices_next(S, &at))
        d = compare_slice(c, &at);
    return d;
}

static tct_difference compare_part(const comparison *c, int part)
{
    const tct_chunks *all = &c->S->chunks;
    tct_difference d = none;
    for (int64_t k = all->split[part]; k < all->split[part + 1] && d.row < 0;
         k++)
        d = compare_chunk(c, k);
    return d;
}

static int64_t widest(const tct_slices *S)
{
    int64_t most = 0;
    for (int64_t n = 0; n < S->slices; n++)
        if (S->slice[n].width > most) most = S->slice[n].width;
    return most;
}

typedef struct {
    const tct_builder *B;
    int32_t *scratch;    /* per part: block columns of a lane, stored */
    int64_t stored, now; /* ... and in A                                     */
    tct_difference *found;
} comparisons;

static void compare_parts(void *work, int64_t part)
{
    const comparisons *w = work;
    int32_t *own = w->scratch + part * (w->stored + w->now);
    const comparison c = {w->B->S, w->B->slicing.A, own, own + w->stored};
    w->found[part] = compare_part(&c, (int)part);
}
static tacit_status compare(const tct_builder *B)
{
    const tct_slices *S = B->S;
    const int parts = S->chunks.parts;
    comparisons w = {.B = B, .stored = widest(S)};
    w.now = S->b > 1 ? tct_most_entries(B->slicing.A, S->b) : 0;
    tct_difference first = none;
    tacit_status status =
        TCT_ALLOC(parts * (w.stored + w.now), "new values", &w.scratch);
    if (status >= 0) status = TCT_ALLOC(parts, "new values", &w.found);
    if (status >= 0)
        tct_team_run(S->chunks.team, parts, parts, NULL, compare_parts, &w);
    for (int k = parts; k-- > 0 && status >= 0;)
        if (w.found[k].row >= 0) first = w.found[k];
    tct_free(w.scratch);
    tct_free(w.found);
    if (first.row >= 0) return tct_pattern_differs(B->slicing.A, first);
    return status;
}

static void refill_part(void *builder, int64_t part)
{
    tct_slices_fill(builder, (int)part, false);
}

/* Another store of values needs another array. */
static tacit_status refill(tct_builder *B, tct_slices *S)
{
    TRY(compare(B));
    tct_slices fresh = *S;
    tct_slices_set_values(B, &fresh);
    if (fresh.kind != S->kind) {
        TRY(tct_slices_allocate_values(&fresh));
        tct_free(S->value);
    }
    *S = fresh;
    tct_team_run(S->chunks.team, S->chunks.parts, S->chunks.parts, NULL,
                 refill_part, B);
    tct_slices_describe(S);
    return TACIT_OK;
}

tacit_status tct_slices_refill(tct_block *block, const tct_local *A)
{
    tct_slices *S = (tct_slices *)(void *)block;
    TRY(tct_require_size(block, A));
    tct_local source = *A;
    source.owned = false;
    tct_builder B = {.slicing = tct_host_slicing(&source, S->b), .S = S};
    B.room = tct_window_room(&B.slicing);
    tacit_status status =
        TCT_ALLOC(S->chunks.parts * B.room, "new values", &B.scratch);
    if (status >= 0) status = refill(&B, S);
    tct_free(B.scratch);
    return status;
}
