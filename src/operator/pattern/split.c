/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/split.c - divides a rank's rows into the columns that it
 * owns and those of other ranks (Trotter et al., section 3.2.2). Own entries
 * move to the front of their arrays; ghost entries are copied out. */
#include "operator/pattern/split.h"
#include <stdlib.h>

static bool own(const tct_csr *A, int64_t col)
{
    return col >= A->first && col < A->first + A->rows;
}

/* --- rows ----------------------------------------------------------------- */

enum { STRETCHES = 4 }; /* per thread */

/* Ghost entries and rows of a stretch of rows: its own counts first, then those
 * before it. */
typedef struct {
    int64_t rows, entries;
    int64_t end; /* of its entries, since the next stretch changes ptr */
} stretch;

typedef struct {
    tct_csr *A;
    tct_parts *p;
    int64_t count;
    stretch *at; /* [count] */
} rows_of;

static int64_t first_row(const rows_of *r, int64_t s)
{
    return r->A->rows / r->count * s +
           (s < r->A->rows % r->count ? s : r->A->rows % r->count);
}

static int64_t count_foreign(const tct_csr *A, int64_t from, int64_t to)
{
    int64_t foreign = 0;
    for (int64_t k = from; k < to; k++) foreign += !own(A, tct_csr_col(A, k));
    return foreign;
}

static void count_stretch(void *work, int64_t s)
{
    const rows_of *r = work;
    const int64_t *ptr = r->A->ptr, last = first_row(r, s + 1);
    stretch sum = {.end = ptr[last]};
    for (int64_t i = first_row(r, s); i < last; i++) {
        const int64_t foreign = count_foreign(r->A, ptr[i], ptr[i + 1]);
        sum.rows += foreign > 0;
        sum.entries += foreign;
    }
    r->at[s] = sum;
}

/* Place the ghost rows, and the start of each row's own entries. */
static void place_stretch(void *work, int64_t s)
{
    const rows_of *r = work;
    const int64_t last = first_row(r, s + 1);
    int64_t *ptr = r->A->ptr, row = r->at[s].rows, entry = r->at[s].entries;
    for (int64_t i = first_row(r, s); i < last; i++) {
        const int64_t from = ptr[i];
        const int64_t to = i + 1 < last ? ptr[i + 1] : r->at[s].end;
        const int64_t foreign = count_foreign(r->A, from, to);
        ptr[i] = from - entry;
        if (foreign == 0) continue;
        r->p->ghost_row[row++] = (int32_t)i;
        r->p->ghost_ptr[row] = entry += foreign;
    }
}

static stretch sum_before(rows_of *r)
{
    stretch all = {0};
    for (int64_t s = 0; s < r->count; s++) {
        const stretch one = r->at[s];
        r->at[s].rows = all.rows;
        r->at[s].entries = all.entries;
        all.rows += one.rows;
        all.entries += one.entries;
    }
    return all;
}

/* --- entries -------------------------------------------------------------- */

enum { PIECE = 1 << 16 };

typedef struct {
    int64_t col;
    double val;
} entry;

/* Own entries of a piece, from the front, and ghost entries from the back. */
typedef struct {
    int64_t own, foreign;   /* their numbers      */
    int64_t kept, departed; /* ... in all earlier pieces */
    entry *of;              /* [room]             */
} piece;

/* Entries are moved in rounds, of a piece for each thread: all are read before
 * any is written, so that nothing is overwritten unread. */
typedef struct {
    const tct_csr *A;
    int32_t *col; /* local columns, perhaps in the arrays of A */
    tct_parts *p;
    int64_t *id; /* of each ghost entry, its global column */
    piece *piece;
    int64_t room, first; /* of the round */
} moving;

static void read_piece(void *work, int64_t n)
{
    const moving *m = work;
    piece *to = &m->piece[n];
    const int64_t nonzeros = m->A->ptr[m->A->rows];
    const int64_t from = m->first + n * m->room;
    const int64_t end = from + m->room < nonzeros ? from + m->room : nonzeros;
    to->own = to->foreign = 0;
    for (int64_t k = from; k < end; k++) {
        const int64_t j = tct_csr_col(m->A, k);
        const bool is_own = own(m->A, j);
        const int64_t at = is_own ? to->own++ : m->room - ++to->foreign;
        to->of[at] = (entry){is_own ? j - m->A->first : j, m->A->val[k]};
    }
}

static void write_piece(void *work, int64_t n)
{
    const moving *m = work;
    const piece *from = &m->piece[n];
    for (int64_t k = 0; k < from->own; k++) {
        m->col[from->kept + k] = (int32_t)from->of[k].col;
        m->A->val[from->kept + k] = from->of[k].val;
    }
    for (int64_t k = 0; k < from->foreign; k++) {
        const entry *e = &from->of[m->room - 1 - k];
        m->id[from->departed + k] = e->col;
        m->p->ghost_val[from->departed + k] = e->val;
    }
}

static void move_all(tct_team *team, int pieces, moving *m)
{
    const int64_t nonzeros = m->A->ptr[m->A->rows];
    int64_t kept = 0, departed = 0;
    for (; m->first < nonzeros; m->first += pieces * m->room) {
        const int64_t left = (nonzeros - m->first + m->room - 1) / m->room;
        const int64_t now = left < pieces ? left : pieces;
        tct_team_run(team, pieces, now, NULL, read_piece, m);
        for (int64_t n = 0; n < now; n++) {
            m->piece[n].kept = kept;
            m->piece[n].departed = departed;
            kept += m->piece[n].own;
            departed += m->piece[n].foreign;
        }
        tct_team_run(team, pieces, now, NULL, write_piece, m);
    }
}

/* Call it while the end of the last row is still the number of entries. */
static tacit_status move_entries(tct_team *team, moving *m)
{
    const int pieces = tct_team_size(team);
    const int64_t nonzeros = tct_csr_nonzeros(m->A);
    entry *room = NULL;
    m->room = nonzeros < PIECE ? nonzeros : PIECE;
    tacit_status status = TCT_ALLOC(pieces, "the ghost block", &m->piece);
    if (status >= 0)
        status = TCT_ALLOC(pieces * m->room, "the ghost block", &room);
    for (int n = 0; status >= 0 && n < pieces; n++)
        m->piece[n].of = room + n * m->room;
    if (status >= 0) move_all(team, pieces, m);
    TCT_FREE(room, m->piece);
    return status;
}

/* --- ghosts --------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int32_t find(const int64_t *ids, int64_t count, int64_t id)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (ids[mid] < id) low = mid + 1;
        else high = mid;
    }
    return (int32_t)low;
}

/* Convert 64-bit columns to an array of 32-bit local ones. */
static tacit_status narrow(tct_csr *A, int32_t **out)
{
    *out = A->col32;
    if (A->col32 || tct_csr_nonzeros(A) == 0) return TACIT_OK;
    return TCT_ALLOC(tct_csr_nonzeros(A), "local columns", out);
}

typedef struct {
    tct_parts *p;
    const int64_t *id; /* of each entry */
} numbering;

static void number_entries(void *work, int64_t from, int64_t to)
{
    const numbering *n = work;
    for (int64_t e = from; e < to; e++)
        n->p->ghost_col[e] = find(n->p->ghost_id, n->p->ghosts, n->id[e]);
}

/* Find the distinct ghost columns, and each entry's number among them. */
static tacit_status number_ghosts(tct_team *team, tct_parts *p,
                                  const int64_t *id, int64_t entries)
{
    TRY(TCT_ALLOC(entries, "ghost columns", &p->ghost_id));
    for (int64_t e = 0; e < entries; e++) p->ghost_id[e] = id[e];
    qsort(p->ghost_id, (size_t)entries, sizeof *id, by_number);
    for (int64_t e = 0; e < entries; e++)
        if (e == 0 || p->ghost_id[e] != p->ghost_id[p->ghosts - 1])
            p->ghost_id[p->ghosts++] = p->ghost_id[e];
    tct_team_stretches(team, entries, number_entries, &(numbering){p, id});
    return TACIT_OK;
}

static tacit_status split_foreign(tct_team *team, rows_of *r, int32_t *col,
                                  int64_t entries)
{
    tct_csr *A = r->A;
    tct_parts *p = r->p;
    TRY(TCT_ALLOC(p->ghost_rows, "the ghost block", &p->ghost_row));
    TRY(TCT_ALLOC(p->ghost_rows + 1, "the ghost block", &p->ghost_ptr));
    TRY(TCT_ALLOC(entries, "the ghost block", &p->ghost_col));
    TRY(TCT_ALLOC(entries, "the ghost block", &p->ghost_val));
    int64_t *id = NULL;
    TRY(TCT_ALLOC(entries, "the ghost block", &id));
    p->ghost_ptr[0] = 0;
    tct_team_run(team, tct_team_size(team), r->count, NULL, place_stretch, r);
    moving m = {.A = A, .col = col, .p = p, .id = id};
    tacit_status status = move_entries(team, &m);
    A->ptr[A->rows] -= entries;
    if (status >= 0) status = number_ghosts(team, p, id, entries);
    tct_free(id);
    return status;
}

/* Replace columns of this rank by their local numbers. */
typedef struct {
    const tct_csr *A;
    int32_t *col;
} localising;

static void localise(void *work, int64_t from, int64_t to)
{
    const localising *l = work;
    for (int64_t k = from; k < to; k++)
        l->col[k] = (int32_t)(tct_csr_col(l->A, k) - l->A->first);
}

static tacit_status divide_rows(tct_team *team, rows_of *r, int32_t *col)
{
    tct_csr *A = r->A;
    tct_team_run(team, tct_team_size(team), r->count, NULL, count_stretch, r);
    const stretch all = sum_before(r);
    r->p->ghost_rows = all.rows;
    if (all.entries > 0) return split_foreign(team, r, col, all.entries);
    if (!A->col32 || A->first != 0)
        tct_team_stretches(team, tct_csr_nonzeros(A), localise,
                           &(localising){A, col});
    return TACIT_OK;
}

static tacit_status divide_columns(tct_team *team, tct_csr *A, int32_t *col,
                                   tct_parts *out)
{
    rows_of r = {
        .A = A, .p = out, .count = (int64_t)STRETCHES * tct_team_size(team)};
    if (A->rows == 0) return TACIT_OK;
    TRY(TCT_ALLOC(r.count, "the ghost block", &r.at));
    const tacit_status status = divide_rows(team, &r, col);
    tct_free(r.at);
    return status;
}

tacit_status tct_split(tct_team *team, tct_csr *A, tct_parts *out)
{
    *out = (tct_parts){0};
    if (A->rows > INT32_MAX) {
        tct_csr_clear(A);
        FAIL(TACIT_UNSUPPORTED,
             "%lld rows on one rank, at most 2^31 - 1 are supported: use more "
             "ranks",
             (long long)A->rows);
    }
    int32_t *col = NULL;
    tacit_status status = narrow(A, &col);
    if (status >= 0) status = divide_columns(team, A, col, out);
    out->local = (tct_local){.rows = A->rows,
                             .cols = A->rows,
                             .ptr = A->ptr,
                             .col = col,
                             .val = A->val,
                             .owned = true};
    tct_free(A->col64);
    *A = (tct_csr){0};
    return status;
}

void tct_split_lent(tct_csr *A, tct_parts *out)
{
    *out = (tct_parts){.local = {.rows = A->rows,
                                 .cols = A->rows,
                                 .ptr = A->ptr,
                                 .col = A->col32,
                                 .val = A->val,
                                 .lent = A}};
}

void tct_parts_clear(tct_parts *parts)
{
    tct_local_free(&parts->local);
    TCT_FREE(parts->ghost_id, parts->ghost_row, parts->ghost_ptr,
             parts->ghost_col, parts->ghost_val);
    *parts = (tct_parts){0};
}
