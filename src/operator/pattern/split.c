/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/split.c - divides a rank's rows into the columns that it
 * owns and those of other ranks (Trotter et al., section 3.2.2). The columns of
 * a row ascend: ghost entries are its first and its last ones, and the own
 * entries between those of two rows are one run. Ghost entries are copied out.
 * Runs go to new arrays if others read the old ones, else to the front of
 * these. */
#include "operator/pattern/ghost_numbers.h"

/* Ghost entries and rows of a stretch of rows: its own counts first, then those
 * before it. */
typedef struct {
    int64_t rows, entries;
} stretch;

typedef struct {
    int32_t *col;
    double *val;
} buffer; /* [room] */

typedef struct {
    tct_team *team;
    const tct_csr *A;
    tct_parts *p; /* `local` has the new arrays, perhaps those of A */
    int64_t count;
    stretch *at; /* [count] */
    int64_t nonzeros;
    int64_t entries; /* of them ghost entries */
    int64_t *id;     /* [entries] global columns */
    /* For moves in place: */
    buffer *buffer;      /* of each thread */
    int64_t room, first; /* ... and the first entry of a round */
} division;

static void run_items(const division *d, int64_t count, tct_item_fn fn)
{
    tct_team_run(d->team, tct_team_size(d->team), count, NULL, fn,
                 (void *)(uintptr_t)d);
}

/* --- rows ----------------------------------------------------------------- */

enum { STRETCHES = 4 }; /* per thread */

static int64_t first_row(const division *d, int64_t s)
{
    const int64_t rows = d->A->rows, more = rows % d->count;
    return rows / d->count * s + (s < more ? s : more);
}

/* Entries of a row: own ones from `own` on, ghost ones again from `after` to
 * `end`. */
typedef struct {
    int64_t start, own, after, end;
} row_cuts;

static row_cuts cut_row(const tct_csr *A, int64_t i)
{
    row_cuts c = {A->ptr[i], A->ptr[i], A->ptr[i + 1], A->ptr[i + 1]};
    const int64_t last = A->first + A->rows;
    while (c.own < c.end && tct_csr_col(A, c.own) < A->first) c.own++;
    while (c.after > c.own && tct_csr_col(A, c.after - 1) >= last) c.after--;
    return c;
}

static int64_t ghost_entries(const row_cuts *c)
{
    return c->own - c->start + c->end - c->after;
}

static void count_stretch(void *work, int64_t s)
{
    const division *d = work;
    const int64_t last = first_row(d, s + 1);
    stretch sum = {0};
    for (int64_t i = first_row(d, s); i < last; i++) {
        const row_cuts c = cut_row(d->A, i);
        sum.rows += ghost_entries(&c) > 0;
        sum.entries += ghost_entries(&c);
    }
    d->at[s] = sum;
}

static void count_rows(division *d)
{
    run_items(d, d->count, count_stretch);
    for (int64_t s = 0; s < d->count; s++) {
        const stretch one = d->at[s];
        d->at[s] = (stretch){d->p->ghost_rows, d->entries};
        d->p->ghost_rows += one.rows;
        d->entries += one.entries;
    }
}

/* Copy entries [from, to) to ghost entries from `entry` on; returns the end. */
static int64_t copy_ghosts(const division *d, int64_t from, int64_t to,
                           int64_t entry)
{
    for (int64_t k = from; k < to; k++, entry++) {
        d->id[entry] = tct_csr_col(d->A, k);
        d->p->ghost_val[entry] = d->A->val[k];
    }
    return entry;
}

static void copy_ghost_rows(void *work, int64_t s)
{
    const division *d = work;
    const int64_t last = first_row(d, s + 1);
    int64_t row = d->at[s].rows, entry = d->at[s].entries;
    for (int64_t i = first_row(d, s); i < last; i++) {
        const row_cuts c = cut_row(d->A, i);
        if (ghost_entries(&c) == 0) continue;
        d->p->ghost_row[row++] = (int32_t)i;
        entry = copy_ghosts(d, c.start, c.own, entry);
        entry = copy_ghosts(d, c.after, c.end, entry);
        d->p->ghost_ptr[row] = entry;
    }
}

static tacit_status take_ghosts(division *d)
{
    tct_parts *p = d->p;
    TRY(TCT_ALLOC(p->ghost_rows, "the ghost block", &p->ghost_row));
    TRY(TCT_ALLOC(p->ghost_rows + 1, "the ghost block", &p->ghost_ptr));
    TRY(TCT_ALLOC(d->entries, "the ghost block", &p->ghost_col));
    TRY(TCT_ALLOC(d->entries, "the ghost block", &p->ghost_val));
    TRY(TCT_ALLOC(d->entries, "the ghost block", &d->id));
    p->ghost_ptr[0] = 0;
    run_items(d, d->count, copy_ghost_rows);
    return TACIT_OK;
}

/* The starts of own entries, when all entries are at their places. */
static void place_stretch(void *work, int64_t s)
{
    const division *d = work;
    const tct_parts *p = d->p;
    const int64_t last = first_row(d, s + 1);
    int64_t row = d->at[s].rows, before = d->at[s].entries;
    for (int64_t i = first_row(d, s); i < last; i++) {
        p->local.ptr[i] = d->A->ptr[i] - before;
        if (row < p->ghost_rows && p->ghost_row[row] == i)
            before = p->ghost_ptr[++row];
    }
}

static void place_rows(const division *d)
{
    run_items(d, d->count, place_stretch);
    d->p->local.ptr[d->A->rows] = d->nonzeros - d->entries;
}

/* --- runs of own entries -------------------------------------------------- */

/* The first ghost row that ends after entry `k`. */
static int64_t ghost_row_at(const division *d, int64_t k)
{
    int64_t low = 0, high = d->p->ghost_rows;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (d->A->ptr[d->p->ghost_row[mid] + 1] <= k) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Of ghost row g, without the columns of A, which may be gone; all entries lie
 * before a row behind the last one. */
static row_cuts cut_ghost_row(const division *d, int64_t g)
{
    const int64_t n = d->nonzeros;
    if (g == d->p->ghost_rows) return (row_cuts){n, n, n, n};
    const int64_t i = d->p->ghost_row[g], *ghosts = d->p->ghost_ptr + g;
    row_cuts c = {d->A->ptr[i], d->A->ptr[i], d->A->ptr[i + 1],
                  d->A->ptr[i + 1]};
    int64_t e = ghosts[0];
    while (e < ghosts[1] && d->id[e] < d->A->first) e++;
    c.own += e - ghosts[0];
    c.after -= ghosts[1] - e;
    return c;
}

static int64_t between(int64_t low, int64_t k, int64_t high)
{
    return k < low ? low : k > high ? high : k;
}

/* The place of the first own entry from `k` on among all own ones. */
static int64_t place_of(const division *d, int64_t k)
{
    if (d->entries == 0) return k;
    const int64_t g = ghost_row_at(d, k);
    const row_cuts c = cut_ghost_row(d, g);
    return k - d->p->ghost_ptr[g] - (between(c.start, k, c.own) - c.start) -
           (between(c.after, k, c.end) - c.after);
}

/* Copy the own entries [from, to) to the arrays from `at` on; returns their
 * end. */
static int64_t copy_run(const division *d, int64_t from, int64_t to,
                        const buffer *into, int64_t at)
{
    const tct_csr *A = d->A;
    const int64_t n = to - from;
    int32_t *restrict col = into->col + at;
    if (n <= 0) return at;
    memcpy(into->val + at, A->val + from, (size_t)n * sizeof *A->val);
    if (A->col32) {
        const int32_t *restrict was = A->col32 + from;
        const int32_t first = (int32_t)A->first;
        for (int64_t k = 0; k < n; k++) col[k] = was[k] - first;
    } else {
        const int64_t *restrict was = A->col64 + from;
        for (int64_t k = 0; k < n; k++) col[k] = (int32_t)(was[k] - A->first);
    }
    return at + n;
}

/* The same of those among entries [from, to). */
static int64_t copy_own(const division *d, int64_t from, int64_t to,
                        const buffer *into, int64_t at)
{
    for (int64_t g = ghost_row_at(d, from); from < to; g++) {
        const row_cuts c = cut_ghost_row(d, g);
        at = copy_run(d, from, c.start < to ? c.start : to, into, at);
        if (from < c.own) from = c.own;
        at = copy_run(d, from, c.after < to ? c.after : to, into, at);
        if (from < c.end) from = c.end;
    }
    return at;
}

enum { PIECE = 1 << 16 };

static int64_t piece_end(const division *d, int64_t from)
{
    return from + PIECE < d->nonzeros ? from + PIECE : d->nonzeros;
}

static int64_t pieces(int64_t entries)
{
    return (entries + PIECE - 1) / PIECE;
}

/* --- to new arrays -------------------------------------------------------- */

static tacit_status open_arrays(const division *d)
{
    tct_local *to = &d->p->local;
    const int64_t own = d->nonzeros - d->entries;
    TRY(tct_memory_require(12.0 * (double)own + 8.0 * (double)d->A->rows,
                           "the matrix"));
    TRY(TCT_ALLOC(d->A->rows + 1, "the rows of a matrix", &to->ptr));
    TRY(TCT_ALLOC(own, "the columns of a matrix", &to->col));
    return TCT_ALLOC(own, "the values of a matrix", &to->val);
}

static void copy_piece(void *work, int64_t n)
{
    const division *d = work;
    const int64_t from = n * PIECE;
    const buffer all = {d->p->local.col, d->p->local.val};
    (void)copy_own(d, from, piece_end(d, from), &all, place_of(d, from));
}

/* --- in place ------------------------------------------------------------- */

/* Entries are moved in rounds, of a piece for each thread: all are read before
 * any is written, so that nothing is overwritten unread. */
static void read_piece(void *work, int64_t n)
{
    const division *d = work;
    const int64_t from = d->first + n * PIECE;
    (void)copy_own(d, from, piece_end(d, from), &d->buffer[n], 0);
}

static void write_piece(void *work, int64_t n)
{
    const division *d = work;
    const int64_t from = d->first + n * PIECE;
    const int64_t at = place_of(d, from);
    const size_t own = (size_t)(place_of(d, piece_end(d, from)) - at);
    memcpy(d->p->local.col + at, d->buffer[n].col,
           own * sizeof *d->p->local.col);
    memcpy(d->p->local.val + at, d->buffer[n].val,
           own * sizeof *d->p->local.val);
}

static void move_all(division *d, int64_t each)
{
    for (d->first = 0; d->first < d->nonzeros; d->first += each * PIECE) {
        const int64_t left = pieces(d->nonzeros - d->first);
        run_items(d, left < each ? left : each, read_piece);
        run_items(d, left < each ? left : each, write_piece);
    }
}

static tacit_status move_entries(division *d)
{
    const int64_t all = pieces(d->nonzeros), threads = tct_team_size(d->team);
    const int64_t each = all < threads ? all : threads;
    const int64_t room = d->nonzeros < PIECE ? d->nonzeros : PIECE;
    int32_t *col = NULL;
    double *val = NULL;
    tacit_status status = TCT_ALLOC(each, "the ghost block", &d->buffer);
    if (status >= 0) status = TCT_ALLOC(each * room, "the ghost block", &col);
    if (status >= 0) status = TCT_ALLOC(each * room, "the ghost block", &val);
    for (int64_t n = 0; status >= 0 && n < each; n++)
        d->buffer[n] = (buffer){col + n * room, val + n * room};
    if (status >= 0) move_all(d, each);
    TCT_FREE(col, val, d->buffer);
    return status;
}

/* Replace columns of this rank by their local numbers. */
static void localise(void *work, int64_t from, int64_t to)
{
    const division *d = work;
    for (int64_t k = from; k < to; k++)
        d->p->local.col[k] = (int32_t)(tct_csr_col(d->A, k) - d->A->first);
}

/* --- both ----------------------------------------------------------------- */

static tacit_status copy_out(division *d)
{
    int64_t *spare = NULL;
    TRY(open_arrays(d));
    run_items(d, pieces(d->nonzeros), copy_piece);
    place_rows(d);
    if (d->entries == 0) return TACIT_OK;
    TRY(TCT_ALLOC(d->entries, "ghost columns", &spare));
    const tacit_status status =
        tct_number_ghosts(d->team, d->entries, d->id, spare, d->p);
    tct_free(spare);
    return status;
}

static tacit_status move_up(division *d)
{
    tct_local *to = &d->p->local;
    const bool stay = d->A->col32 && d->A->first == 0;
    if (!d->A->col32 && d->nonzeros > 0)
        TRY(TCT_ALLOC(d->nonzeros, "local columns", &to->col));
    if (d->entries == 0) {
        if (!stay) tct_team_stretches(d->team, d->nonzeros, localise, d);
        return TACIT_OK;
    }
    TRY(move_entries(d));
    place_rows(d);
    /* the ends of the values are free now */
    int64_t *spare = (int64_t *)(void *)(to->val + d->nonzeros - d->entries);
    return tct_number_ghosts(d->team, d->entries, d->id, spare, d->p);
}

static tacit_status divide(division *d, bool shared)
{
    TRY(TCT_ALLOC(d->count, "the ghost block", &d->at));
    if (d->A->rows > 0) count_rows(d);
    if (d->entries > 0) TRY(take_ghosts(d));
    return shared ? copy_out(d) : move_up(d);
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
    const bool shared = tct_csr_is_shared(A);
    out->local = (tct_local){.rows = A->rows, .cols = A->rows, .owned = true};
    if (!shared) {
        out->local.ptr = A->ptr;
        out->local.col = A->col32;
        out->local.val = A->val;
    }
    division d = {.team = team,
                  .A = A,
                  .p = out,
                  .count = (int64_t)STRETCHES * tct_team_size(team),
                  .nonzeros = tct_csr_nonzeros(A)};
    const tacit_status status = divide(&d, shared);
    TCT_FREE(d.at, d.id);
    if (shared) {
        tct_csr_clear(A);
    } else {
        TCT_FREE(A->col64, A->holders);
        *A = (tct_csr){0};
    }
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
