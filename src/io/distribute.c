/* SPDX-License-Identifier: BSD-3-Clause
 * io/distribute.c - distributes the entries of a file: rank 0 sorts a batch by
 * owner, and an all-to-all sends it. */
#include "io/distribute.h"
#include <math.h>
#include <string.h>

/* Destinations of entries: rank r owns rows starts[r] to starts[r + 1]. */
typedef struct {
    tacit_world *w;
    tct_crew *crew;
    const int64_t *starts; /* [size + 1] */
    int64_t *send, *recv;  /* bytes [size] */
    tct_entry *out, *in;   /* grouped by owner, grown as needed */
    int64_t out_room, in_room;
} router;

static tacit_status grow(tct_entry **array, int64_t *room, int64_t wanted)
{
    if (wanted <= *room) return TACIT_OK;
    tct_free(*array);
    *array = NULL;
    *room = 0;
    const int64_t more = wanted + wanted / 4;
    TRY(TCT_ALLOC(more, "entries on their way", array));
    *room = more;
    return TACIT_OK;
}

/* Check the entries of a binary file; its reader knows no lines. */
static tacit_status check_batch(const char *path, const tct_source *s,
                                const tct_batch *batch, int64_t before)
{
    for (int p = 0; p < batch->count; p++) {
        for (int64_t k = 0; k < batch->parts[p].count; k++, before++) {
            const tct_entry *e = &batch->parts[p].entries[k];
            const bool inside = e->row >= 0 && e->row < s->rows &&
                                e->col >= 0 && e->col < s->cols;
            if (inside && isfinite(e->val)) continue;
            const long long entry = before + 1, i = e->row + 1, j = e->col + 1;
            if (!inside)
                FAIL(TACIT_INPUT,
                     "%s: entry %lld is in row %lld, column %lld of a "
                     "%lld x %lld matrix: the file is damaged",
                     path, entry, i, j, (long long)s->rows, (long long)s->cols);
            FAIL(TACIT_INPUT,
                 "%s: entry %lld (row %lld, column %lld) is "
                 "%g: all values must be finite",
                 path, entry, i, j, e->val);
        }
    }
    return TACIT_OK;
}

/* Rank 0: read the next nonempty batch; empty at the end. */
static tacit_status fetch(const char *path, tct_source *s, int64_t *seen,
                          tct_batch *batch)
{
    int64_t total = 0;
    do {
        TRY(s->next(s, batch));
        for (int p = 0; p < batch->count; p++) total += batch->parts[p].count;
    } while (batch->count > 0 && total == 0);
    if (!s->checked) TRY(check_batch(path, s, batch, *seen));
    *seen += total;
    return TACIT_OK;
}

/* Rank 0: group the entries by owner and set the bytes for each rank. */
static tacit_status sort_by_owner(router *r, const tct_batch *batch)
{
    int64_t total = 0;
    for (int p = 0; p < batch->count; p++) total += batch->parts[p].count;
    const int size = r->w->size;
    TRY(grow(&r->out, &r->out_room, total));
    int64_t *at = r->send; /* counts, then offsets, then bytes */
    memset(at, 0, (size_t)size * sizeof *at);
    for (int p = 0; p < batch->count; p++)
        for (int64_t k = 0; k < batch->parts[p].count; k++)
            at[tct_owner(r->starts, size, batch->parts[p].entries[k].row)]++;
    int64_t sum = 0;
    for (int q = 0; q < size; q++) {
        const int64_t n = at[q];
        at[q] = sum;
        sum += n;
    }
    for (int p = 0; p < batch->count; p++) {
        for (int64_t k = 0; k < batch->parts[p].count; k++) {
            const tct_entry *e = &batch->parts[p].entries[k];
            r->out[at[tct_owner(r->starts, size, e->row)]++] = *e;
        }
    }
    for (int q = size - 1; q >= 0; q--)
        at[q] = (at[q] - (q > 0 ? at[q - 1] : 0)) * (int64_t)sizeof *r->out;
    return TACIT_OK;
}

/* Send rank 0's entries to their owners; `mine` is this rank's. */
static tacit_status exchange(router *r, tct_part *mine, bool *last)
{
    tacit_world *w = r->w;
    int64_t *all = r->recv; /* first the bytes of all ranks */
    if (w->rank == 0) memcpy(all, r->send, (size_t)w->size * sizeof *all);
    TRY(tct_bcast(w, 0, (size_t)w->size * sizeof *all, all));
    const int64_t bytes = all[w->rank];
    *last = true;
    for (int q = 0; q < w->size; q++) *last = *last && all[q] == 0;
    if (*last) return TACIT_OK;
    const int64_t count = bytes / (int64_t)sizeof *r->in;
    TRY(tct_agree(w, grow(&r->in, &r->in_room, count)));
    memset(r->recv, 0, (size_t)w->size * sizeof *r->recv);
    if (w->rank != 0) memset(r->send, 0, (size_t)w->size * sizeof *r->send);
    r->recv[0] = bytes;
    TRY(tct_alltoallv(w, r->send, r->out, r->recv, r->in));
    *mine = (tct_part){r->in, count};
    return TACIT_OK;
}

static tacit_status distribute(const char *path, tct_source *s, router *r,
                               tct_entry_receiver take, void *ctx)
{
    tacit_status status = TACIT_OK;
    for (int64_t seen = 0;;) {
        tct_batch batch = {0};
        const bool root = r->w->rank == 0;
        if (root && status == TACIT_OK) status = fetch(path, s, &seen, &batch);
        if (r->w->size == 1) {
            TRY(status);
            if (batch.count == 0) return TACIT_OK;
            TRY(take(ctx, &batch));
            if (!s->lasting) tct_crew_flush(r->crew);
            continue;
        }
        if (root && status == TACIT_OK) status = sort_by_owner(r, &batch);
        TRY(tct_agree(r->w, status));
        tct_part mine = {0}, parts[TCT_PARTS];
        bool last;
        TRY(exchange(r, &mine, &last));
        if (last) return TACIT_OK;
        tct_batch_split(&batch, parts, mine.entries, mine.count);
        status = take(ctx, &batch); /* agreed on in the next round */
        tct_crew_flush(r->crew);
    }
}

tacit_status tct_distribute_entries(tacit_world *w, const char *path,
                                    tct_source *s, tct_crew *crew,
                                    const int64_t *starts,
                                    tct_entry_receiver take, void *ctx)
{
    router r = {.w = w, .crew = crew, .starts = starts};
    tacit_status status = TCT_ALLOC(w->size, "message sizes", &r.send);
    if (status == TACIT_OK)
        status = TCT_ALLOC(w->size, "message sizes", &r.recv);
    status = tct_agree(w, status);
    if (status == TACIT_OK) status = distribute(path, s, &r, take, ctx);
    TCT_FREE(r.send, r.recv, r.out, r.in);
    return status;
}
