/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/components.c - constants of connected components.
 *
 * A component has the constant for a null vector if the sums of all its rows
 * vanish. A row whose sum stands rules its component out. Each rank joins its
 * own rows (local_components.c); what is left is joined over ranks, by labels:
 * the name of a component is its lowest row. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "operator/null/local_components.h"
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
    atomic_int_fast64_t *parent; /* [rows] local row, its component's lowest,
                                  * where it does not stand                */
    int64_t *label;              /* [rows] lowest row of all ranks, or NONE */
    int parts;
    int64_t *begin;          /* [parts + 1] edges of each part of the rows   */
    int64_t *from, *to, *at; /* [edges] local row, global row, its label, of
                              * entries in columns of other ranks */
} search;

/* --- components of this rank ----------------------------------------------- */

/* Rows that may belong to a null vector, of all ranks. */
static tacit_status join_local(search *s, int64_t *left)
{
    tacit_status status = TACIT_OK;
    *left = tct_sweep_local_rows(s->A, s->state);
    if (*left > 0) status = TCT_ALLOC_SMALL_PAGES(s->A->rows, what, &s->parent);
    TRY(tct_agree(s->w, status));
    if (*left > 0) *left = tct_join_local_rows(s->A, s->state, s->parent);
    return tct_reduce_i64(s->w, TCT_SUM, 1, left);
}

/* Is row i ruled out by no row of this rank? */
static bool is_left(const search *s, int64_t i)
{
    return s->state[i] != TCT_ROW_STANDS;
}

static int64_t root_of(const search *s, int64_t i)
{
    return tct_parent_of(s->parent, i);
}

static void label_rows(void *of, int64_t from, int64_t to)
{
    const search *s = of;
    for (int64_t i = from; i < to; i++)
        s->label[i] = is_left(s, i) ? s->A->first + root_of(s, i) : NONE;
}

/* Roots keep theirs. */
static void spread_labels(void *of, int64_t from, int64_t to)
{
    const search *s = of;
    for (int64_t i = from; i < to; i++)
        if (is_left(s, i) && root_of(s, i) != i)
            s->label[i] = s->label[root_of(s, i)];
}

/* --- edges to other ranks -------------------------------------------------- */

/* Count edge k of row i; list it if there is room for it. */
static void take_edge(const search *s, int64_t i, int64_t k, int64_t *at)
{
    if (s->A->val[k] == 0.0) return;
    if (s->to) {
        s->from[*at] = i;
        s->to[*at] = tct_csr_col(s->A, k);
    }
    ++*at;
}

/* Columns ascend: those of other ranks are the first and the last. */
static void take_edges(const search *s, int64_t i, int64_t *at)
{
    const tct_csr *A = s->A;
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    for (; low < high && tct_csr_col(A, low) < A->first; low++)
        take_edge(s, i, low, at);
    for (; high > low && tct_csr_col(A, high - 1) >= A->first + A->rows; high--)
        take_edge(s, i, high - 1, at);
}

static void take_part(void *of, int64_t part)
{
    const search *s = of;
    const int p = (int)part;
    int64_t at = s->to ? s->begin[p] : 0;
    const int64_t end = tct_part_first(s->A->rows, p + 1, s->parts);
    for (int64_t i = tct_part_first(s->A->rows, p, s->parts); i < end; i++)
        if (s->state[i] == TCT_ROW_VANISHES) take_edges(s, i, &at);
    if (!s->to) s->begin[p + 1] = at;
}

static tacit_status allocate(search *s)
{
    s->parts = tct_parallel_parts(s->A->rows, TCT_SHORT);
    TRY(TCT_ALLOC(s->A->rows, what, &s->label));
    TRY(TCT_ALLOC(s->parts + 1, what, &s->begin));
    memset(s->begin, 0, (size_t)(s->parts + 1) * sizeof *s->begin);
    if (s->w->size > 1) tct_parallel_each(s->parts, take_part, s);
    for (int p = 0; p < s->parts; p++) s->begin[p + 1] += s->begin[p];
    const int64_t edges = s->begin[s->parts];
    TRY(TCT_ALLOC(edges, what, &s->from));
    TRY(TCT_ALLOC(edges, what, &s->at));
    return TCT_ALLOC(edges, what, &s->to);
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
    const int64_t edges = s->begin[s->parts];
    bool more = s->w->size > 1;
    for (int round = 0; more && round < ROUNDS; round++) {
        bool changed = false;
        TRY(tct_directory_get(s->w, s->starts, s->label, edges, s->to, s->at));
        for (int64_t e = 0; e < edges; e++) changed = lower(s, e) || changed;
        tct_parallel(s->A->rows, TCT_SHORT, spread_labels, s);
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

static int64_t count_names(const void *of, int64_t from, int64_t to)
{
    int64_t count = 0;
    for (int64_t i = from; i < to; i++) count += names_one(of, i);
    return count;
}

static int64_t count_zeros(const void *of, int64_t from, int64_t to)
{
    const search *s = of;
    int64_t count = 0;
    for (int64_t i = from; i < to; i++) count += s->state[i] == TCT_ROW_ZERO;
    return count;
}

/* The number of the first component that this rank names, and of all. */
static tacit_status count_components(const search *s, int64_t *first,
                                     tct_null_space *N)
{
    const size_t ranks = (size_t)s->w->size;
    const int64_t rows = s->A->rows;
    int64_t *each = NULL;
    int64_t zeros = tct_parallel_sum(rows, TCT_SHORT, count_zeros, s);
    TRY(tct_agree(s->w, TCT_ALLOC(ranks, what, &each)));
    memset(each, 0, ranks * sizeof *each);
    each[s->w->rank] = tct_parallel_sum(rows, TCT_SHORT, count_names, s);
    tacit_status status = tct_reduce_i64(s->w, TCT_SUM, ranks, each);
    if (status >= 0) status = tct_reduce_i64(s->w, TCT_SUM, 1, &zeros);
    *first = 0;
    for (int r = 0; r < s->w->rank; r++) *first += each[r];
    for (int r = 0; r < s->w->size; r++) N->components += each[r];
    N->zero_rows = zeros;
    tct_free(each);
    return status;
}

/* Numbers of the components that this rank names, at the rows that name them;
 * roots named after rows of other ranks are listed in from and to. There is
 * room: an edge has given each its name. */
static int64_t number_names(search *s, int64_t first, tct_null_space *N)
{
    const tct_csr *A = s->A;
    int64_t asked = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        N->label[i] = names_one(s, i) ? first++ : NONE;
        if (!is_left(s, i) || root_of(s, i) != i) continue;
        if (s->label[i] == NONE || s->label[i] == A->first + i) continue;
        s->from[asked] = i;
        s->to[asked++] = s->label[i];
    }
    return asked;
}

static void spread_numbers(const search *s, tct_null_space *N)
{
    for (int64_t i = 0; i < s->A->rows; i++) {
        if (!is_left(s, i)) continue;
        N->label[i] =
            s->state[i] == TCT_ROW_ZERO ? ZEROS : N->label[root_of(s, i)];
        if (N->label[i] >= 0) N->size[N->label[i]] += 1.0;
    }
}

static tacit_status number(search *s, int64_t first, tct_null_space *N)
{
    const int64_t asked = number_names(s, first, N);
    TRY(tct_directory_get(s->w, s->starts, N->label, asked, s->to, s->at));
    for (int64_t e = 0; e < asked; e++) N->label[s->from[e]] = s->at[e];
    spread_numbers(s, N);
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
    if (s->w->size > 1) tct_parallel_each(s->parts, take_part, s);
    tct_parallel(s->A->rows, TCT_SHORT, label_rows, s);
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
    tacit_status status = join_local(&s, &left);
    if (status >= 0 && left > 0) status = join_all(&s, out);
    TCT_FREE(s.parent, s.label, s.begin, s.from, s.to, s.at);
    if (status < 0) tct_null_close(out);
    return status;
}
