/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/chains.c - paths of links that go through several
 * ranks.
 *
 * Each rank has pieces of them. How a piece that begins at a link to another
 * rank is paired depends on whether so many rows are before it as is an even
 * number or an odd one. Of its last row a rank keeps a word: that, once it is
 * known; until then a row before it, on another rank, and whether that is an
 * even number of links away. Who asks for the word of the row before, and goes
 * on from the row that it names, has twice as far to see each time. */
#include "precond/amg/aggregation/chains.h"
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "sparse/compact.h"

static const char *const what = "paths of pairs";

/* A piece that begins at a link to another rank. */
typedef struct {
    int32_t head, tail;
    bool odd;  /* is the head so many links from the row that it asks? */
    bool even; /* is the tail an even number of links from the head?   */
} piece;

typedef struct {
    int64_t count;
    piece *piece;
    int64_t *number, *answer; /* [count] the row that each asks; its word */
} pieces;

/* Words that are known; others are the number of a row, times 2, and whether
 * the way there is odd. */
static int64_t known(bool odd)
{
    return odd ? -2 : -1;
}

tacit_status tct_chains_open(tct_pairing *p, const int32_t *lower,
                             const int32_t *upper, tct_chains *t)
{
    *t = (tct_chains){.p = p, .lower = lower, .upper = upper};
    if (!p->index) return TACIT_OK;
    TRY(TCT_ALLOC(2 * p->halo->ghosts.count, what, &t->theirs));
    TRY(TCT_ALLOC(p->A->rows, what, &t->head));
    return TCT_ALLOC(p->A->rows, what, &t->word);
}

void tct_chains_close(tct_chains *t)
{
    TCT_FREE(t->theirs, t->word, t->head);
    *t = (tct_chains){.p = NULL};
}

/* --- links ---------------------------------------------------------------- */

/* The other end of the link from row `i` to a lower row; -1: there is none. */
static int64_t link_down(const tct_chains *t, int64_t i)
{
    const int64_t j = t->lower[i], g = j - t->p->A->rows;
    if (j < 0) return -1;
    const bool both =
        g < 0 ? t->upper[j] == i : t->theirs[2 * g + 1] == t->p->index[i];
    return both ? j : -1;
}

static int64_t link_up(const tct_chains *t, int64_t i)
{
    const int64_t j = t->upper[i], g = j - t->p->A->rows;
    if (j < 0) return -1;
    const bool both =
        g < 0 ? t->lower[j] == i : t->theirs[2 * g] == t->p->index[i];
    return both ? j : -1;
}

static int64_t index_of(const tct_chains *t, int32_t place)
{
    return place < 0 ? -1 : t->p->index[place];
}

/* What others' rows look at. */
static tacit_status bring_choices(const tct_chains *t)
{
    const tct_halo *h = t->p->halo;
    for (int64_t k = 0; k < h->shared; k++) {
        h->out[2 * k] = index_of(t, t->lower[h->row[k]]);
        h->out[2 * k + 1] = index_of(t, t->upper[h->row[k]]);
    }
    return tct_halo_trade(h, 2, t->theirs);
}

/* Which of them have a mate by now. */
static tacit_status bring_mates(const tct_chains *t)
{
    const tct_halo *h = t->p->halo;
    int32_t *mate = t->p->mate;
    for (int64_t k = 0; k < h->shared; k++)
        h->out[k] = mate[h->row[k]] == h->row[k];
    TRY(tct_halo_trade(h, 1, t->theirs));
    for (int64_t g = 0; g < h->ghosts.count; g++)
        if (!t->theirs[g]) mate[t->p->A->rows + g] = -1;
    return TACIT_OK;
}

/* --- pieces --------------------------------------------------------------- */

/* Pair the rows of a piece from its head on, which is an odd number of links
 * from the path's beginning or not; returns how many have a mate. */
static int64_t pair_piece(const tct_chains *t, int64_t head, bool odd)
{
    const int64_t rows = t->p->A->rows;
    int64_t paired = 0;
    for (int64_t i = head;; odd = !odd) {
        const int64_t up = link_up(t, i), mate = odd ? link_down(t, i) : up;
        if (mate >= 0) {
            t->p->mate[i] = (int32_t)mate;
            paired++;
        }
        if (up < 0 || up >= rows) {
            t->word[i] = known(odd);
            return paired;
        }
        i = up;
    }
}

/* To the end of a piece. */
static void find_tail(const tct_chains *t, piece *s)
{
    const int64_t rows = t->p->A->rows;
    int64_t up;
    s->tail = s->head;
    s->even = true;
    for (; (up = link_up(t, s->tail)) >= 0 && up < rows; s->even = !s->even)
        s->tail = (int32_t)up;
}

static void keep_word(const tct_chains *t, const piece *s, int64_t number)
{
    t->word[s->tail] = 2 * number + (s->odd == s->even);
}

typedef struct {
    const tct_chains *t;
    const int32_t *open;
} looking;

/* Does open row `k` begin a piece that goes on from another rank's? */
static int32_t comes_from_others(const void *of, int64_t k)
{
    const looking *l = of;
    const int32_t i = l->open[k];
    return link_down(l->t, i) >= l->t->p->A->rows ? i : -1;
}

/* Lists the heads of such pieces. */
static tacit_status open_pieces(const tct_chains *t, const int32_t *open,
                                int64_t count, pieces *s)
{
    const looking l = {t, open};
    s->count = tct_compact(count, comes_from_others, &l, t->head);
    TRY(TCT_ALLOC(s->count, what, &s->piece));
    TRY(TCT_ALLOC(s->count, what, &s->number));
    return TCT_ALLOC(s->count, what, &s->answer);
}

/* Pair what begins at open rows [from, to). No two paths have a row in
 * common. */
static int64_t begin(const void *of, int64_t from, int64_t to)
{
    const looking *l = of;
    int64_t paired = 0;
    for (int64_t k = from; k < to; k++)
        if (link_down(l->t, l->open[k]) < 0 && link_up(l->t, l->open[k]) >= 0)
            paired += pair_piece(l->t, l->open[k], false);
    return paired;
}

/* What does not begin here asks the row before it. */
static void ask_before(tct_chains *t, pieces *s)
{
    const int64_t rows = t->p->A->rows;
    for (int64_t k = 0; k < s->count; k++) {
        piece *at = &s->piece[k];
        *at = (piece){.head = t->head[k], .odd = true};
        find_tail(t, at);
        s->number[k] = t->p->halo->ghosts.id[link_down(t, at->head) - rows];
        keep_word(t, at, s->number[k]);
    }
}

/* What the words of rows before them say to pieces. */
static int64_t go_on(tct_chains *t, pieces *s)
{
    int64_t paired = 0, left = 0;
    for (int64_t k = 0; k < s->count; k++) {
        piece at = s->piece[k];
        const int64_t word = s->answer[k];
        if (word < 0) {
            const bool before = word == known(true);
            paired += pair_piece(t, at.head, at.odd != before);
            continue;
        }
        at.odd = at.odd != (word % 2 == 1);
        s->piece[left] = at;
        s->number[left++] = word / 2;
        keep_word(t, &at, word / 2);
    }
    s->count = left;
    return paired;
}

static tacit_status pair_pieces(tct_chains *t, const int32_t *open,
                                int64_t count, pieces *s, int64_t *paired)
{
    tacit_world *w = t->p->halo->world;
    TRY(tct_agree(w, open_pieces(t, open, count, s)));
    *paired = tct_parallel_sum(count, TCT_SHORT, begin, &(looking){t, open});
    ask_before(t, s);
    for (bool more = true;;) {
        TRY(tct_any(w, s->count > 0, &more));
        if (!more) return TACIT_OK;
        TRY(tct_directory_get(w, t->p->starts, t->word, s->count, s->number,
                              s->answer));
        *paired += go_on(t, s);
    }
}

tacit_status tct_chains_pair(tct_chains *t, const int32_t *open, int64_t count,
                             int64_t *paired)
{
    pieces s = {.count = 0};
    tacit_status status = bring_choices(t);
    if (status >= 0) status = pair_pieces(t, open, count, &s, paired);
    TCT_FREE(s.piece, s.number, s.answer);
    return status < 0 ? status : bring_mates(t);
}
