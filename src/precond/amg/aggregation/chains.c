/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/aggregation/chains.c - chains of edges across several ranks.
 *
 * Each rank has segments of a chain. A segment that begins at an edge to
 * another rank can be paired once the parity of the number of rows before it is
 * known. For the last row of each segment the rank keeps a code: this parity,
 * or else an earlier row on another rank and the parity of the distance to it.
 * A segment asks for the code of the row before it and goes on from the row
 * named in that code, so that the distance doubles in each round (pointer
 * jumping). */
#include "precond/amg/aggregation/chains.h"
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "sparse/compact.h"

static const char *const what = "paths of pairs";

/* A segment that begins at an edge to another rank. */
typedef struct {
    int32_t head, tail;
    bool odd;  /* parity of the distance from the row asked to the head */
    bool even; /* is the distance from head to tail even?              */
} segment;

typedef struct {
    int64_t count;
    segment *segment;
    int64_t *number, *answer; /* [count] row asked, its code */
} segments;

/* Codes of a known parity; other codes are 2 row + parity of the distance. */
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
    return TCT_ALLOC(p->A->rows, what, &t->code);
}

void tct_chains_close(tct_chains *t)
{
    TCT_FREE(t->theirs, t->code, t->head);
    *t = (tct_chains){.p = NULL};
}

/* --- edges ---------------------------------------------------------------- */

/* The other end of the edge from row `i` to a lower row; -1: none. */
static int64_t edge_down(const tct_chains *t, int64_t i)
{
    const int64_t j = t->lower[i], g = j - t->p->A->rows;
    if (j < 0) return -1;
    const bool both =
        g < 0 ? t->upper[j] == i : t->theirs[2 * g + 1] == t->p->index[i];
    return both ? j : -1;
}

static int64_t edge_up(const tct_chains *t, int64_t i)
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

/* Exchange the choices of ghost rows. */
static tacit_status bring_choices(const tct_chains *t)
{
    const tct_halo *h = t->p->halo;
    for (int64_t k = 0; k < h->shared; k++) {
        h->out[2 * k] = index_of(t, t->lower[h->row[k]]);
        h->out[2 * k + 1] = index_of(t, t->upper[h->row[k]]);
    }
    return tct_halo_trade(h, 2, t->theirs);
}

/* Exchange which ghost rows have a mate. */
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

/* --- segments ------------------------------------------------------------- */

/* Pair the rows of a segment from `head`, whose distance from the chain's first
 * row has the given parity; returns how many have a mate. */
static int64_t pair_segment(const tct_chains *t, int64_t head, bool odd)
{
    const int64_t rows = t->p->A->rows;
    int64_t paired = 0;
    for (int64_t i = head;; odd = !odd) {
        const int64_t up = edge_up(t, i), mate = odd ? edge_down(t, i) : up;
        if (mate >= 0) {
            t->p->mate[i] = (int32_t)mate;
            paired++;
        }
        if (up < 0 || up >= rows) {
            t->code[i] = known(odd);
            return paired;
        }
        i = up;
    }
}

/* Find the last row of a segment. */
static void find_tail(const tct_chains *t, segment *s)
{
    const int64_t rows = t->p->A->rows;
    int64_t up;
    s->tail = s->head;
    s->even = true;
    for (; (up = edge_up(t, s->tail)) >= 0 && up < rows; s->even = !s->even)
        s->tail = (int32_t)up;
}

static void keep_code(const tct_chains *t, const segment *s, int64_t number)
{
    t->code[s->tail] = 2 * number + (s->odd == s->even);
}

typedef struct {
    const tct_chains *t;
    const int32_t *open;
} looking;

/* Is open row `k` the head of a segment that continues another rank's? */
static int32_t is_head(const void *of, int64_t k)
{
    const looking *l = of;
    const int32_t i = l->open[k];
    return edge_down(l->t, i) >= l->t->p->A->rows ? i : -1;
}

/* List the heads of such segments. */
static tacit_status list_heads(const tct_chains *t, const int32_t *open,
                               int64_t count, segments *s)
{
    const looking l = {t, open};
    s->count = tct_compact(count, is_head, &l, t->head);
    TRY(TCT_ALLOC(s->count, what, &s->segment));
    TRY(TCT_ALLOC(s->count, what, &s->number));
    return TCT_ALLOC(s->count, what, &s->answer);
}

/* Pair the chains that begin at open rows [from, to). Chains have no row in
 * common. */
static int64_t begin(const void *of, int64_t from, int64_t to)
{
    const looking *l = of;
    int64_t paired = 0;
    for (int64_t k = from; k < to; k++)
        if (edge_down(l->t, l->open[k]) < 0 && edge_up(l->t, l->open[k]) >= 0)
            paired += pair_segment(l->t, l->open[k], false);
    return paired;
}

/* Each segment's first question is for the row before its head. */
static void ask_before(tct_chains *t, segments *s)
{
    const int64_t rows = t->p->A->rows;
    for (int64_t k = 0; k < s->count; k++) {
        segment *at = &s->segment[k];
        *at = (segment){.head = t->head[k], .odd = true};
        find_tail(t, at);
        s->number[k] = t->p->halo->ghosts.id[edge_down(t, at->head) - rows];
        keep_code(t, at, s->number[k]);
    }
}

/* Evaluate the answers: pair a segment of known parity, else ask further. */
static int64_t jump(tct_chains *t, segments *s)
{
    int64_t paired = 0, left = 0;
    for (int64_t k = 0; k < s->count; k++) {
        segment at = s->segment[k];
        const int64_t code = s->answer[k];
        if (code < 0) {
            const bool before = code == known(true);
            paired += pair_segment(t, at.head, at.odd != before);
            continue;
        }
        at.odd = at.odd != (code % 2 == 1);
        s->segment[left] = at;
        s->number[left++] = code / 2;
        keep_code(t, &at, code / 2);
    }
    s->count = left;
    return paired;
}

static tacit_status pair_segments(tct_chains *t, const int32_t *open,
                                  int64_t count, segments *s, int64_t *paired)
{
    tacit_world *w = t->p->halo->world;
    TRY(tct_agree(w, list_heads(t, open, count, s)));
    *paired = tct_parallel_sum(count, TCT_SHORT, begin, &(looking){t, open});
    ask_before(t, s);
    for (bool more = true;;) {
        TRY(tct_any(w, s->count > 0, &more));
        if (!more) return TACIT_OK;
        TRY(tct_directory_get(w, t->p->starts, t->code, s->count, s->number,
                              s->answer));
        *paired += jump(t, s);
    }
}

tacit_status tct_chains_pair(tct_chains *t, const int32_t *open, int64_t count,
                             int64_t *paired)
{
    segments s = {.count = 0};
    tacit_status status = bring_choices(t);
    if (status >= 0) status = pair_segments(t, open, count, &s, paired);
    TCT_FREE(s.segment, s.number, s.answer);
    return status < 0 ? status : bring_mates(t);
}
