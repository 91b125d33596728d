/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/halo.c - set-up exchanges of data on ghost rows. */
#include "comm/setup/halo.h"
#include "comm/setup/alltoall.h"
#include <string.h>

static const char *const what = "rows of other ranks";
enum { WORD = 8 };

/* --- who needs what ------------------------------------------------------- */

static tacit_status allocate(tct_halo *h)
{
    const size_t size = (size_t)h->world->size;
    TRY(TCT_ALLOC(size, what, &h->to));
    TRY(TCT_ALLOC(size, what, &h->from));
    return TCT_ALLOC(2 * size, what, &h->bytes);
}

static tacit_status make_room(tct_halo *h)
{
    TRY(TCT_ALLOC(h->shared, what, &h->row));
    return TCT_ALLOC(h->shared * TCT_HALO_WORDS, what, &h->out);
}

/* Bytes of messages of `words` a row, to and from each rank. */
static void count_bytes(const tct_halo *h, int words)
{
    const int size = h->world->size;
    for (int r = 0; r < size; r++) {
        h->bytes[r] = h->to[r] * words * WORD;
        h->bytes[size + r] = h->from[r] * words * WORD;
    }
}

/* Send the ghosts' numbers to their owners. */
static tacit_status ask(tct_halo *h, const int64_t *starts)
{
    tacit_world *w = h->world;
    for (int r = 0; r < w->size; r++) h->from[r] = 0;
    for (int64_t k = 0; k < h->ghosts.count; k++)
        h->from[tct_owner(starts, w->size, h->ghosts.id[k])]++;
    TRY(tct_trade_numbers(w, h->from, h->to, h->bytes));
    for (int r = 0; r < w->size; r++) h->shared += h->to[r];
    TRY(tct_agree(w, make_room(h)));
    TRY(tct_halo_return(h, h->ghosts.id));
    for (int64_t k = 0; k < h->shared; k++)
        h->row[k] = (int32_t)(h->out[k] - starts[w->rank]);
    return TACIT_OK;
}

static tacit_status open_halo(const int64_t *starts, tacit_status found,
                              tct_halo *h)
{
    bool any = false;
    if (found >= 0) found = allocate(h);
    TRY(tct_agree(h->world, found));
    TRY(tct_any(h->world, h->ghosts.count > 0, &any));
    h->alone = !any;
    return any ? ask(h, starts) : TACIT_OK;
}

tacit_status tct_halo_of(tacit_world *world, const int64_t *starts,
                         int64_t count, const int64_t *ids, tct_halo *out)
{
    *out = (tct_halo){.world = world};
    return open_halo(starts, tct_ghosts_of(count, ids, NULL, &out->ghosts),
                     out);
}

tacit_status tct_halo_of_columns(tacit_world *world, const int64_t *starts,
                                 const tct_csr *A, tct_halo *out)
{
    *out = (tct_halo){.world = world};
    const tacit_status status =
        tct_ghosts_find(A, 1, A->first, A->first + A->rows, &out->ghosts);
    return open_halo(starts, status, out);
}

void tct_halo_close(tct_halo *h)
{
    tct_ghosts_clear(&h->ghosts);
    TCT_FREE(h->row, h->to, h->from, h->bytes, h->out);
    *h = (tct_halo){.world = NULL};
}

/* --- messages ------------------------------------------------------------- */

tacit_status tct_halo_trade_rows(const tct_halo *h, int words, const void *out,
                                 void *ghost)
{
    if (h->alone) return TACIT_OK;
    count_bytes(h, words);
    return tct_alltoallv(h->world, h->bytes, out, h->bytes + h->world->size,
                         ghost);
}

tacit_status tct_halo_trade(const tct_halo *h, int words, void *ghost)
{
    return tct_halo_trade_rows(h, words, h->out, ghost);
}

tacit_status tct_halo_bring(const tct_halo *h, const void *own, void *ghost)
{
    const char *words = own;
    for (int64_t k = 0; k < h->shared; k++)
        memcpy(&h->out[k], words + WORD * (size_t)h->row[k], WORD);
    return tct_halo_trade(h, 1, ghost);
}

tacit_status tct_halo_return(const tct_halo *h, const void *ghost)
{
    if (h->alone) return TACIT_OK;
    count_bytes(h, 1);
    return tct_alltoallv(h->world, h->bytes + h->world->size, ghost, h->bytes,
                         h->out);
}

tacit_status tct_halo_bring_rows(const tct_halo *h, int words, const void *own,
                                 void *ghost)
{
    const size_t row = WORD * (size_t)words;
    char *out = NULL;
    if (h->alone) return TACIT_OK;
    tacit_status status =
        tct_agree(h->world, TCT_ALLOC(h->shared * (int64_t)row, what, &out));
    if (status >= 0) {
        for (int64_t k = 0; k < h->shared; k++)
            memcpy(out + (size_t)k * row,
                   (const char *)own + (size_t)h->row[k] * row, row);
        status = tct_halo_trade_rows(h, words, out, ghost);
    }
    tct_free(out);
    return status;
}

/* --- lists ---------------------------------------------------------------- */

/* Bytes of the lists of `items` [size] items to or from each rank. */
static void list_bytes(const tct_halo *h, const int64_t *items,
                       const int64_t *begin, int64_t *bytes)
{
    int64_t at = 0;
    for (int r = 0; r < h->world->size; at += items[r++])
        bytes[r] = (begin[at + items[r]] - begin[at]) * WORD;
}

/* Allocate lists with the lengths in h->out. */
static tacit_status open_lists(const tct_halo *h, tct_halo_lists *l)
{
    TRY(TCT_ALLOC(h->shared + 1, what, &l->begin));
    l->begin[0] = 0;
    for (int64_t k = 0; k < h->shared; k++)
        l->begin[k + 1] = l->begin[k] + h->out[k];
    return TCT_ALLOC(l->begin[h->shared], what, &l->word);
}

static tacit_status tell_lengths(const tct_halo *h, const tct_halo_lists *ghost)
{
    int64_t *length = NULL;
    tacit_status status =
        tct_agree(h->world, TCT_ALLOC(h->ghosts.count, what, &length));
    for (int64_t k = 0; status >= 0 && k < h->ghosts.count; k++)
        length[k] = ghost->begin[k + 1] - ghost->begin[k];
    if (status >= 0) status = tct_halo_return(h, length);
    tct_free(length);
    return status;
}

tacit_status tct_halo_return_lists(const tct_halo *h,
                                   const tct_halo_lists *ghost,
                                   tct_halo_lists *out)
{
    int64_t *const to = h->bytes, *const from = h->bytes + h->world->size;
    *out = (tct_halo_lists){.begin = NULL};
    TRY(tell_lengths(h, ghost));
    TRY(tct_agree(h->world, open_lists(h, out)));
    if (h->alone) return TACIT_OK;
    list_bytes(h, h->from, ghost->begin, to);
    list_bytes(h, h->to, out->begin, from);
    return tct_alltoallv(h->world, to, ghost->word, from, out->word);
}

tacit_status tct_halo_trade_lists(const tct_halo *h, const tct_halo_lists *own,
                                  tct_halo_lists *ghost)
{
    int64_t *const to = h->bytes, *const from = h->bytes + h->world->size;
    if (h->alone) return TACIT_OK;
    list_bytes(h, h->to, own->begin, to);
    list_bytes(h, h->from, ghost->begin, from);
    return tct_alltoallv(h->world, to, own->word, from, ghost->word);
}

void tct_halo_lists_clear(tct_halo_lists *l)
{
    TCT_FREE(l->begin, l->word);
    *l = (tct_halo_lists){.begin = NULL};
}
