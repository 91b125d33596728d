/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/symmetric.c - checks that a matrix equals its transpose.
 *
 * Entries between rows of one rank are checked in one sweep. Rows ascend, so
 * the partner (j, i) of (i, j) is the next unmatched entry of row j: a cursor
 * per row finds it without a search, and skipped entries have no partner.
 * Entries between ranks are sent to the owner of the partner, in rounds. */
#include "comm/setup/alltoall.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include <inttypes.h>
#include <math.h>

#define TOLERANCE 1e-9
/* Values that were floats differ by this, after some additions. */
#define SINGLE 0x1p-21

/* An entry without an equal partner; original numbers, from 0. */
typedef struct {
    int64_t row, col; /* row -1: none */
    double value, partner;
    bool stored; /* the partner is stored but differs */
} odd_entry;

typedef struct {
    const tacit_matrix *m;
    bool pattern_only; /* values are ignored */
    odd_entry first;   /* by row, then column, original numbering */
    double most; /* the largest relative difference; infinite: an entry is not
                  * stored */
} search;

static bool comes_before(const odd_entry *a, const odd_entry *b)
{
    if (a->row < 0 || b->row < 0) return b->row < 0 && a->row >= 0;
    return a->row != b->row ? a->row < b->row : a->col < b->col;
}

static void note(search *s, odd_entry e)
{
    if (e.row >= 0 && !e.stored) s->most = HUGE_VAL;
    if (comes_before(&e, &s->first)) s->first = e;
}

/* Entries (row, col) and (col, row) differ by more than rounding, relative also
 * to the diagonals `dr` and `dc`. */
static bool differ(search *s, double value, double partner, double dr,
                   double dc)
{
    if (s->pattern_only) return false;
    double scale = fmax(fabs(value), fabs(partner));
    scale = fmax(scale, sqrt(fabs(dr)) * sqrt(fabs(dc)));
    const double by = fabs(value - partner) / scale;
    if (!(by <= s->most)) s->most = isnan(by) ? HUGE_VAL : by;
    return !(by <= TOLERANCE);
}

static void note_pair(search *s, int64_t row, int64_t col, double value,
                      double partner)
{
    note(s, (odd_entry){row, col, value, partner, true});
    note(s, (odd_entry){col, row, partner, value, true});
}

static double diagonal(const tct_csr *A, int64_t i)
{
    const int64_t k = tct_csr_find(A, i, A->first + i);
    return k < 0 ? 0 : A->val[k];
}

/* --- within this rank ----------------------------------------------------- */

static void note_unmatched(search *s, int64_t i, int64_t k)
{
    const tacit_matrix *m = s->m;
    const int64_t j = tct_csr_col(&m->A, k) - m->A.first;
    note(s, (odd_entry){tct_original(m, i), tct_original(m, j), m->A.val[k], 0,
                        false});
}

/* Match entry k = (i, j), j local, at the cursor of row j. */
static void match_entry(search *s, int64_t *cursor, int64_t i, int64_t j,
                        int64_t k)
{
    const tct_csr *A = &s->m->A;
    const int64_t row = A->first + i, end = A->ptr[j + 1];
    int64_t c = cursor[j];
    for (; c < end && tct_csr_col(A, c) < row; c++) note_unmatched(s, j, c);
    const bool found = c < end && tct_csr_col(A, c) == row;
    cursor[j] = c + found;
    if (!found) note_unmatched(s, i, k);
    else if (i < j && A->val[k] != A->val[c] &&
             differ(s, A->val[k], A->val[c], diagonal(A, i), diagonal(A, j)))
        note_pair(s, tct_original(s->m, i), tct_original(s->m, j), A->val[k],
                  A->val[c]);
}

static void sweep(search *s, int64_t *cursor)
{
    const tct_csr *A = &s->m->A;
    const int64_t last = A->first + A->rows;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = A->ptr[i];
        while (k < A->ptr[i + 1] && tct_csr_col(A, k) < A->first) k++;
        cursor[i] = k;
    }
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k);
            if (j >= A->first && j < last)
                match_entry(s, cursor, i, j - A->first, k);
        }
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = cursor[i]; k < A->ptr[i + 1]; k++)
            if (tct_csr_col(A, k) < last) note_unmatched(s, i, k);
}

static tacit_status search_local(search *s)
{
    int64_t *cursor = NULL;
    TRY(TCT_ALLOC(s->m->A.rows, "the symmetry check", &cursor));
    sweep(s, cursor);
    tct_free(cursor);
    return TACIT_OK;
}

/* --- between ranks -------------------------------------------------------- */

typedef struct {
    int64_t row, col; /* current numbers */
    int64_t original; /* of the row */
    double value, diagonal;
} question;

static void look_up(search *s, const question *q)
{
    const tct_csr *A = &s->m->A;
    const int64_t i = q->col - A->first, k = tct_csr_find(A, i, q->row);
    const int64_t col = tct_original(s->m, i);
    if (k < 0) note(s, (odd_entry){q->original, col, q->value, 0, false});
    else if (q->value != A->val[k] &&
             differ(s, q->value, A->val[k], q->diagonal, diagonal(A, i)))
        note_pair(s, q->original, col, q->value, A->val[k]);
}

/* Entries [k, end) fit into a round; `i` is the row of `k`. */
typedef struct {
    int64_t i, k, end;
} span;

static void choose(const tacit_matrix *m, const tct_alltoall *alltoall,
                   span *sp)
{
    const tct_csr *A = &m->A;
    const int64_t nonzeros = tct_csr_nonzeros(A);
    int64_t n = 0;
    for (sp->end = sp->k; sp->end < nonzeros; sp->end++) {
        const int64_t j = tct_csr_col(A, sp->end);
        if (tct_is_local(m, j)) continue;
        if (n++ == alltoall->room) break;
        alltoall->to[tct_owner(m->starts, m->world->size, j)]++;
    }
}

static void fill(const tacit_matrix *m, tct_alltoall *alltoall, span *sp)
{
    const tct_csr *A = &m->A;
    int64_t known = -1; /* the row whose diagonal is d */
    double d = 0;
    for (; sp->k < sp->end; sp->k++) {
        const int64_t j = tct_csr_col(A, sp->k);
        if (tct_is_local(m, j)) continue;
        while (A->ptr[sp->i + 1] <= sp->k) sp->i++;
        if (known != sp->i) d = diagonal(A, sp->i);
        known = sp->i;
        const int owner = tct_owner(m->starts, m->world->size, j);
        question *q = tct_alltoall_slot(alltoall, owner);
        *q = (question){A->first + sp->i, j, tct_original(m, sp->i),
                        A->val[sp->k], d};
    }
}

static tacit_status ask_all(search *s, tct_alltoall *alltoall)
{
    span sp = {0};
    for (bool more = true; more;) {
        tct_alltoall_begin(alltoall);
        choose(s->m, alltoall, &sp);
        tct_alltoall_address(alltoall);
        fill(s->m, alltoall, &sp);
        TRY(tct_alltoall_send(alltoall));
        const question *in = (const question *)(const void *)alltoall->in;
        for (int64_t k = 0; k < alltoall->received; k++) look_up(s, &in[k]);
        TRY(tct_any(alltoall->world, sp.k < tct_csr_nonzeros(&s->m->A), &more));
    }
    return TACIT_OK;
}

static tacit_status search_between(search *s)
{
    tct_alltoall alltoall;
    int64_t away = 0;
    for (int64_t k = 0; k < tct_csr_nonzeros(&s->m->A); k++)
        away += !tct_is_local(s->m, tct_csr_col(&s->m->A, k));
    bool any;
    TRY(tct_any(s->m->world, away > 0, &any));
    if (!any) return TACIT_OK;
    tacit_status status =
        tct_alltoall_open(&alltoall, s->m->world, sizeof(question), away);
    if (status >= 0) status = ask_all(s, &alltoall);
    tct_alltoall_close(&alltoall);
    return status;
}

/* --- the result ----------------------------------------------------------- */

/* Replace the first odd entry of this rank by the first over all ranks. */
static tacit_status first_of_all(search *s)
{
    tacit_world *w = s->m->world;
    const odd_entry mine = s->first;
    odd_entry *all = NULL;
    tacit_status status = TCT_ALLOC(w->size, "the symmetry check", &all);
    status = tct_agree(w, status);
    if (status >= 0) status = tct_allgather(w, sizeof mine, &mine, all);
    for (int r = 0; status >= 0 && r < w->size; r++) note(s, all[r]);
    tct_free(all);
    if (status >= 0) status = tct_reduce_f64(w, TCT_MAX, 1, &s->most);
    return status;
}

static tacit_status look(search *s)
{
    TRY(tct_agree(s->m->world, search_local(s)));
    TRY(search_between(s));
    return first_of_all(s);
}

tacit_status tct_matrix_asymmetry(const tacit_matrix *m, double *out)
{
    search s = {.m = m, .first = {.row = -1}};
    const tacit_status status = look(&s);
    *out = s.most;
    return status;
}

/* The values were single precision. */
static void warn_of_single(const search *s)
{
    const odd_entry *e = &s->first;
    if (s->m->world->rank != 0) return;
    tct_log(TCT_WARN,
            "symmetric in single precision only: row %" PRId64
            ", column %" PRId64 " holds %.12g, its partner %.12g; such pairs "
            "differ by at most %.1e of the larger one or of the diagonal: "
            "taken as they are",
            e->row + 1, e->col + 1, e->value, e->partner, s->most);
}

static tacit_status check(const tacit_matrix *matrix, bool pattern_only)
{
    search s = {matrix, pattern_only, {.row = -1}, 0.0};
    TRY(look(&s));
    const odd_entry *e = &s.first;
    if (e->row < 0) return TACIT_OK;
    if (s.most <= SINGLE) {
        warn_of_single(&s);
        return TACIT_OK;
    }
    if (e->stored)
        FAIL(TACIT_INPUT,
             "not symmetric: row %" PRId64 ", column %" PRId64
             " holds %.12g, but row %" PRId64 ", column %" PRId64
             " holds %.12g",
             e->row + 1, e->col + 1, e->value, e->col + 1, e->row + 1,
             e->partner);
    FAIL(TACIT_INPUT,
         "not symmetric: row %" PRId64 ", column %" PRId64
         " holds %.12g, but row %" PRId64 ", column %" PRId64
         " is not stored%s",
         e->row + 1, e->col + 1, e->value, e->col + 1, e->row + 1,
         e->value == 0.0 ? ": leave zeros out (drop zeros)" : "");
}

tacit_status tct_matrix_check_pattern(const tacit_matrix *m)
{
    return check(m, true);
}

tacit_status tacit_matrix_check_symmetric(const tacit_matrix *matrix)
{
    REQUIRE(matrix != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    TRY(tct_matrix_require_entries(matrix));
    if (matrix->A.global_rows != matrix->A.global_cols)
        FAIL(TACIT_INPUT,
             "not symmetric: not square, %" PRId64 " rows and %" PRId64
             " columns",
             matrix->A.global_rows, matrix->A.global_cols);
    return check(matrix, false);
}
