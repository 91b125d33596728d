/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/halo.h - words of rows that other ranks have, brought as often as
 * set-up needs them: who needs which row is found once.
 *
 *     tct_halo_of_columns(world, starts, A, &h);   ghosts: columns of others
 *     tct_halo_bring(&h, own, ghost);              a word of each
 *     tct_halo_return_lists(&h, &mine, &theirs);   as many as each has, back
 *     tct_halo_close(&h); */
#ifndef TCT_COMM_SETUP_HALO_H
#define TCT_COMM_SETUP_HALO_H
#include "comm/world/world.h"
#include "sparse/ghosts.h"

/* The most words of a row at once. */
enum { TCT_HALO_WORDS = 2 };

typedef struct tct_halo {
    tacit_world *world;
    bool alone;         /* no rank needs anything: nothing is ever sent     */
    tct_ghosts ghosts;  /* rows that this rank needs                        */
    int64_t shared;     /* own rows that others need, once for each of them */
    int32_t *row;       /* [shared] of this rank, rank by rank              */
    int64_t *to, *from; /* [size] rows to and from each rank                */
    int64_t *bytes;     /* [2 size] scratch                                 */
    int64_t *out;       /* [shared][TCT_HALO_WORDS], to be filled for trade */
} tct_halo;

/* For rows `ids` [count] in any order, of a vector divided by `starts`, none of
 * this rank; each counts once. *out is to be closed, also after an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_halo_of(tacit_world *world, const int64_t *starts,
                         int64_t count, const int64_t *ids, tct_halo *out);
/* For the columns of A's rows that other ranks have. */
tacit_status tct_halo_of_columns(tacit_world *world, const int64_t *starts,
                                 const tct_csr *A, tct_halo *out);
void tct_halo_close(tct_halo *h);

/* Rows of `words` 8-byte words: h->out [shared], in the order of h->row, to
 * `ghost` [ghosts].
 * Collective.  Errors COMM. */
tacit_status tct_halo_trade(const tct_halo *h, int words, void *ghost);
/* The same of what `own` has of each row of this rank, a word. */
tacit_status tct_halo_bring(const tct_halo *h, const void *own, void *ghost);
/* The same of rows of any number of words: `own` [rows][words].
 * Memory      what is sent, once.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_halo_bring_rows(const tct_halo *h, int words, const void *own,
                                 void *ghost);
/* The other way about, a word each: from `ghost` [ghosts] to h->out. */
tacit_status tct_halo_return(const tct_halo *h, const void *ghost);

/* Words of each of some items, one item behind the other. */
typedef struct tct_halo_lists {
    int64_t *begin; /* [items + 1] */
    double *word;   /* doubles, or numbers that were copied there */
} tct_halo_lists;

/* From lists of the ghosts, in their order, to those of h->row. *out is to be
 * freed by tct_halo_lists_clear, also after an error.
 * Memory      what comes in.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_halo_return_lists(const tct_halo *h,
                                   const tct_halo_lists *ghost,
                                   tct_halo_lists *out);
/* From lists of h->row to those of the ghosts, whose lengths are known on both
 * sides.
 * Collective.  Errors COMM. */
tacit_status tct_halo_trade_lists(const tct_halo *h, const tct_halo_lists *own,
                                  tct_halo_lists *ghost);
void tct_halo_lists_clear(tct_halo_lists *l);

#endif
