/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/halo.h - set-up exchanges of data on ghost rows: who needs which
 * row is found once, for any number of exchanges.
 *
 *     tct_halo_of_columns(world, starts, A, &h);   ghosts: columns of others
 *     tct_halo_bring(&h, own, ghost);              a word of each
 *     tct_halo_return_lists(&h, &mine, &theirs);   lists of any length, back
 *     tct_halo_close(&h); */
#ifndef TCT_COMM_SETUP_HALO_H
#define TCT_COMM_SETUP_HALO_H
#include "comm/world/world.h"
#include "sparse/ghosts.h"

/* Words of a row in h->out, at most. */
enum { TCT_HALO_WORDS = 2 };

typedef struct tct_halo {
    tacit_world *world;
    bool alone;         /* no rank has ghosts: nothing is sent */
    tct_ghosts ghosts;  /* rows that this rank needs */
    int64_t shared;     /* own rows that others need, once per rank */
    int32_t *row;       /* [shared] their local numbers, by rank */
    int64_t *to, *from; /* [size] rows to and from each rank                */
    int64_t *bytes;     /* [2 size] scratch                                 */
    int64_t *out;       /* [shared][TCT_HALO_WORDS], to send */
} tct_halo;

/* Open a halo for rows `ids` [count], in any order and with repetitions, of a
 * vector distributed by `starts`; none is owned. Close *out also after an
 * error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_halo_of(tacit_world *world, const int64_t *starts,
                         int64_t count, const int64_t *ids, tct_halo *out);
/* The same for the columns of A that other ranks own. */
tacit_status tct_halo_of_columns(tacit_world *world, const int64_t *starts,
                                 const tct_csr *A, tct_halo *out);
void tct_halo_close(tct_halo *h);

/* Send rows of `words` 8-byte words: h->out [shared], in the order of h->row,
 * to `ghost` [ghosts].
 * Collective.  Errors COMM. */
tacit_status tct_halo_trade(const tct_halo *h, int words, void *ghost);
/* The same for rows of any number of words: `out` [shared][words]. */
tacit_status tct_halo_trade_rows(const tct_halo *h, int words, const void *out,
                                 void *ghost);
/* The same for one word of each local row, from `own`. */
tacit_status tct_halo_bring(const tct_halo *h, const void *own, void *ghost);
/* The same for rows of any number of words: `own` [rows][words].
 * Memory      the sent rows, once.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_halo_bring_rows(const tct_halo *h, int words, const void *own,
                                 void *ghost);
/* In the other direction, a word each: from `ghost` [ghosts] to h->out. */
tacit_status tct_halo_return(const tct_halo *h, const void *ghost);

/* Lists of words, one per item, contiguous. */
typedef struct tct_halo_lists {
    int64_t *begin; /* [items + 1] */
    double *word;   /* doubles, or int64_t copied bytewise */
} tct_halo_lists;

/* Send lists of the ghosts, in their order, to the owners: lists of h->row.
 * Free *out by tct_halo_lists_clear, also after an error.
 * Memory      the received lists.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_halo_return_lists(const tct_halo *h,
                                   const tct_halo_lists *ghost,
                                   tct_halo_lists *out);
/* Send lists of h->row to those of the ghosts; both sides know the lengths.
 * Collective.  Errors COMM. */
tacit_status tct_halo_trade_lists(const tct_halo *h, const tct_halo_lists *own,
                                  tct_halo_lists *ghost);
void tct_halo_lists_clear(tct_halo_lists *l);

#endif
