/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/components.c - constants of connected components.
 *
 * A component has the constant for a null vector if the sums of all its rows
 * vanish. A row whose sum stands rules its component out. Two sweeps, forward
 * and backward, in pieces of rows and then over all, carry that to neighbours
 * and leave a row at its first such neighbour: in a definite matrix that is
 * mostly its first entry. Rows that remain are joined to components, whose name
 * is their lowest row. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "operator/null/null_space.h"
#include <math.h>

enum { NONE = -1, ZEROS = -2 };
/* A component that goes from rank to rank more often is not joined, and counts
 * as none: each time costs a round of messages. */
enum { ROUNDS = 64 };
static const char *const what = "the null space";

typedef struct {
    tacit_world *w;
    const tct_csr *A;
    const int64_t *starts;
    unsigned char *state;
    int64_t *parent;         /* [rows] local row, its component's lowest */
    int64_t *label;          /* [rows] lowest row of all ranks, or NONE  */
    int64_t edges;           /* to rows of other ranks                   */
    int64_t *from, *to, *at; /* [edges] local row, global row, its label */
} search;

/* --- sweeps ---------------------------------------------------------------- */

/* The local row of entry k of row i, if it couples i to another one; else
 * -1. */
static int64_t neighbour(const tct_csr *A, int64_t i, int64_t k)
{
    const int64_t j = tct_csr_col(A, k) - A->first;
    return A->val[k] != 0.0 && j >= 0 && j < A->rows && j != i ? j : -1;
}

/* Row i stands if a neighbour among rows [from, to) does. */
static void carry(const search *s, int64_t i, int64_t from, int64_t to)
{
    const tct_csr *A = s->A;
    if (s->state[i] != TCT_ROW_VANISHES) return;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = neighbour(A, i, k);
        if (j < from || j >= to || s->state[j] != TCT_ROW_STANDS) continue;
        s->state[i] = TCT_ROW_STANDS;
        return;
    }
}

/* Carry among rows [from, to); returns how many do not stand. */
static int64_t sweep_rows(const search *s, int64_t from, int64_t to)
{
    int64_t left = 0;
    for (int64_t i = from; i < to; i++) {
        carry(s, i, from, to);
        left += s->state[i] != TCT_ROW_STANDS;
    }
    for (int64_t i = to; left > 0 && i-- > from;) {
        const bool stood = s->state[i] == TCT_ROW_STANDS;
        carry(s, i, from, to);
        left -= !stood && s->state[i] == TCT_ROW_STANDS;
    }
    return left;
}

/* Pieces of rows see no rows of others, which other threads may be at. */
static void sweep_piece(void *of, int64_t from, int64_t to)
{
    (void)sweep_rows(of, from, to);
}

/* Rows that may belong to a null vector, of all ranks. */
static tacit_status sweep(search *s, int64_t *left)
{
    tct_parallel(s->A->rows, TCT_SHORT, sweep_piece, s);
    *left = sweep_rows(s, 0, s->A->rows);
    return tct_reduce_i64(s->w, TCT_SUM, 1, left);
}

/* --- components of this rank ----------------------------------------------- */

static int64_t root_of(search *s, int64_t i)
{
    while (s->parent[i] != i) i = s->parent[i] = s->parent[s->parent[i]];
    return i;
}

static void join(search *s, int64_t i, int64_t j)
{
    const int64_t a = root_of(s, i), b = root_of(s, j);
    if (a < b) s->parent[b] = a;
    else s->parent[a] = b;
}

static bool is_away(const tct_csr *A, int64_t k)
{
    const int64_t j = tct_csr_col(A, k) - A->first;
    return A->val[k] != 0.0 && (j < 0 || j >= A->rows);
}

/* Join row i to its neighbours; list, or only count, those of other ranks. */
static void join_row(search *s, int64_t i, bool list)
{
    const tct_csr *A = s->A;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = neighbour(A, i, k);
        if (!list && j >= 0) join(s, i, j);
        if (!is_away(A, k)) continue;
        if (list) {
            s->from[s->edges] = i;
            s->to[s->edges] = tct_csr_col(A, k);
        }
        s->edges++;
    }
}

static void join_rows(search *s, bool list)
{
    s->edges = 0;
    for (int64_t i = 0; i < s->A->rows; i++)
        if (s->state[i] == TCT_ROW_VANISHES) join_row(s, i, list);
}

/* A component that a standing row belongs to has no label. */
static void label_roots(search *s)
{
    const int64_t n = s->A->rows;
    for (int64_t i = 0; i < n; i++)
        s->label[i] = s->state[i] == TCT_ROW_STANDS ? NONE : s->A->first + i;
    for (int64_t i = 0; i < n; i++)
        if (s->label[i] == NONE) s->label[root_of(s, i)] = NONE;
}

static void spread_labels(search *s)
{
    for (int64_t i = 0; i < s->A->rows; i++)
        s->label[i] = s->label[root_of(s, i)];
}

static tacit_status allocate(search *s)
{
    TRY(TCT_ALLOC(s->A->rows, what, &s->parent));
    TRY(TCT_ALLOC(s->A->rows, what, &s->label));
    for (int64_t i = 0; i < s->A->rows; i++) s->parent[i] = i;
    join_rows(s, false);
    TRY(TCT_ALLOC(s->edges, what, &s->from));
    TRY(TCT_ALLOC(s->edges, what, &s->to));
    return TCT_ALLOC(s->edges, what, &s->at);
}

/* --- components of all ranks ----------------------------------------------- */

/* The answer of edge e lowers the label of its component. */
static bool lower(search *s, int64_t e)
{
    int64_t *mine = &s->label[root_of(s, s->from[e])];
    if (*mine == NONE || (s->at[e] != NONE && s->at[e] >= *mine)) return false;
    *mine = s->at[e];
    return true;
}

static tacit_status join_ranks(search *s)
{
    bool more = s->w->size > 1;
    for (int round = 0; more && round < ROUNDS; round++) {
        bool changed = false;
        TRY(tct_directory_get(s->w, s->starts, s->label, s->edges, s->to,
                              s->at));
        for (int64_t e = 0; e < s->edges; e++) changed = lower(s, e) || changed;
        spread_labels(s);
        TRY(tct_any(s->w, changed, &more));
    }
    for (int64_t i = 0; more && i < s->A->rows; i++)
        if (s->state[i] == TCT_ROW_VANISHES) s->label[i] = NONE;
    return TACIT_OK;
}

/* --- the result ------------------------------------------------------------ */

static bool names_one(const search *s, int64_t i)
{
    return s->label[i] == s->A->first + i && s->state[i] == TCT_ROW_VANISHES;
}

/* The number of the first component that this rank names, and of all. */
static tacit_status count_components(const search *s, int64_t *first,
                                     tct_null_space *N)
{
    const size_t ranks = (size_t)s->w->size;
    int64_t *each = NULL, zeros = 0;
    TRY(tct_agree(s->w, TCT_ALLOC(ranks, what, &each)));
    memset(each, 0, ranks * sizeof *each);
    for (int64_t i = 0; i < s->A->rows; i++) {
        each[s->w->rank] += names_one(s, i);
        zeros += s->state[i] == TCT_ROW_ZERO;
    }
    tacit_status status = tct_reduce_i64(s->w, TCT_SUM, ranks, each);
    if (status >= 0) status = tct_reduce_i64(s->w, TCT_SUM, 1, &zeros);
    *first = 0;
    for (int r = 0; r < s->w->rank; r++) *first += each[r];
    for (int r = 0; r < s->w->size; r++) N->components += each[r];
    N->zero_rows = zeros;
    tct_free(each);
    return status;
}

/* Numbers for the labels: rows ask for that of the row they are named after. */
static tacit_status number(search *s, int64_t first, tct_null_space *N)
{
    const tct_csr *A = s->A;
    int64_t *table = s->parent; /* no longer needed */
    for (int64_t i = 0; i < A->rows; i++) {
        table[i] = names_one(s, i) ? first++ : NONE;
        if (s->label[i] == NONE) s->label[i] = A->first + i;
    }
    TRY(tct_directory_get(s->w, s->starts, table, A->rows, s->label, N->label));
    for (int64_t i = 0; i < A->rows; i++) {
        if (s->state[i] == TCT_ROW_ZERO) N->label[i] = ZEROS;
        if (N->label[i] >= 0) N->size[N->label[i]] += 1.0;
    }
    return tct_reduce_f64(s->w, TCT_SUM, (size_t)N->components, N->size);
}

static tacit_status make_room(tct_null_space *N, int64_t rows)
{
    N->rows = rows;
    TRY(TCT_ALLOC(rows, what, &N->label));
    TRY(TCT_ALLOC(rows, what, &N->fixed));
    TRY(TCT_ALLOC(2 * rows, what, &N->scratch));
    TRY(TCT_ALLOC(N->components, what, &N->size));
    memset(N->size, 0, (size_t)N->components * sizeof *N->size);
    return TCT_ALLOC(N->components, what, &N->sum);
}

static tacit_status make(search *s, tct_null_space **out)
{
    int64_t first = 0;
    tct_null_space *N = *out = tct_calloc(sizeof *N);
    tacit_status status = TACIT_OK;
    if (!N) status = tacit_error_set(TACIT_NO_MEMORY, "no memory for %s", what);
    TRY(tct_agree(s->w, status));
    TRY(count_components(s, &first, N));
    if (tct_null_count(N) == 0) return TACIT_OK;
    TRY(tct_agree(s->w, make_room(N, s->A->rows)));
    TRY(number(s, first, N));
    return tct_null_choose_rows(N, s->w);
}

static tacit_status join_all(search *s, tct_null_space **out)
{
    TRY(tct_agree(s->w, allocate(s)));
    join_rows(s, true);
    label_roots(s);
    spread_labels(s);
    TRY(join_ranks(s));
    TRY(make(s, out));
    if (tct_null_count(*out) == 0) tct_null_close(out);
    return TACIT_OK;
}

tacit_status tct_null_find(tacit_world *w, const tct_csr *rows,
                           const int64_t *starts, unsigned char *state,
                           tct_null_space **out)
{
    search s = {.w = w, .A = rows, .starts = starts, .state = state};
    int64_t left = 0;
    *out = NULL;
    tacit_status status = sweep(&s, &left);
    if (status >= 0 && left > 0) status = join_all(&s, out);
    TCT_FREE(s.parent, s.label, s.from, s.to, s.at);
    if (status < 0) tct_null_close(out);
    return status;
}
