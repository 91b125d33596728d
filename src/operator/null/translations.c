/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/translations.c - unknowns of several kinds, numbered in turn
 * (u1 v1 u2 v2 ...), each with a null vector of its own: translations of an
 * elastic body, without coordinates.
 *
 * Row j is of kind j mod k in the original numbering. A component of the matrix
 * has the constants of its k kinds for null vectors if in each of its rows the
 * values of each kind of columns vanish. They span its constant, so they take
 * its place. */
#include "comm/setup/directory.h"
#include "matrix/matrix.h"
#include "operator/null/null_space.h"
#include <math.h>

enum { KINDS_MOST = 6 };
static const char *const what = "the null space";

typedef struct {
    tct_null_space *N;
    const tct_csr *A;
    int64_t *row;   /* [rows] original numbers                           */
    int64_t *start; /* [rows + 1] of their entries in `away`             */
    int64_t *away;  /* ... original numbers of columns of other ranks    */
    bool *ruled;   /* [components][KINDS_MOST] kinds - 1 that a row ruled out */
    double *found; /* [components][KINDS_MOST] sums over ranks          */
    int *kinds;    /* [components] 1: none were found                   */
    int64_t *label; /* [components][KINDS_MOST] new ones                 */
} search;

static bool is_away(const tct_csr *A, int64_t k)
{
    const int64_t j = tct_csr_col(A, k) - A->first;
    return j < 0 || j >= A->rows;
}

/* --- original numbers ------------------------------------------------------ */

/* Count, or list, the entries in columns of other ranks, of components alone. */
static int64_t visit_away(search *s, bool list)
{
    const tct_csr *A = s->A;
    int64_t at = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        s->start[i] = at;
        if (s->N->label[i] < 0) continue;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            if (!is_away(A, k)) continue;
            if (list) s->away[at] = tct_csr_col(A, k);
            at++;
        }
    }
    return at;
}

static tacit_status allocate(search *s, int64_t *away)
{
    const int64_t words = s->N->components * KINDS_MOST;
    TRY(TCT_ALLOC(s->A->rows, what, &s->row));
    TRY(TCT_ALLOC(s->A->rows + 1, what, &s->start));
    TRY(TCT_ALLOC(words, what, &s->ruled));
    TRY(TCT_ALLOC(words, what, &s->found));
    TRY(TCT_ALLOC(words, what, &s->label));
    TRY(TCT_ALLOC(s->N->components, what, &s->kinds));
    for (int64_t k = 0; k < words; k++) s->ruled[k] = false;
    for (int64_t c = 0; c < s->N->components; c++) s->kinds[c] = 1;
    *away = visit_away(s, false);
    return TCT_ALLOC(*away, what, &s->away);
}

static tacit_status number(search *s, const tacit_matrix *m)
{
    int64_t away = 0;
    TRY(tct_agree(m->world, allocate(s, &away)));
    for (int64_t i = 0; i < s->A->rows; i++) s->row[i] = tct_original(m, i);
    visit_away(s, true);
    return tct_directory_get(m->world, m->starts, s->row, away, s->away,
                             s->away);
}

/* --- the kinds of a component ---------------------------------------------- */

/* Does the sum of each of `kinds` kinds vanish in row i? */
static bool vanishes(const search *s, int64_t i, int kinds)
{
    const tct_csr *A = s->A;
    double sum[KINDS_MOST] = {0.0}, size[KINDS_MOST] = {0.0};
    const int64_t *away = s->away + s->start[i];
    bool all = true;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t col =
            is_away(A, k) ? *away++ : s->row[tct_csr_col(A, k) - A->first];
        sum[col % kinds] += A->val[k];
        size[col % kinds] += fabs(A->val[k]);
    }
    for (int j = 0; j < kinds; j++)
        all = all && tct_row_state_of(sum[j], size[j]) != TCT_ROW_STANDS;
    return all;
}

/* Mostly the first rows rule all out. */
static tacit_status rule_out(search *s, tacit_world *w)
{
    const size_t words = (size_t)s->N->components * KINDS_MOST;
    for (int64_t i = 0; i < s->A->rows; i++) {
        const int64_t c = s->N->label[i];
        if (c < 0) continue;
        bool *ruled = s->ruled + c * KINDS_MOST;
        for (int k = 2; k <= KINDS_MOST; k++)
            ruled[k - 1] = ruled[k - 1] || !vanishes(s, i, k);
    }
    for (size_t k = 0; k < words; k++) s->found[k] = s->ruled[k];
    TRY(tct_reduce_f64(w, TCT_SUM, words, s->found));
    for (size_t k = 0; k < words; k++) s->ruled[k] = s->found[k] > 0.0;
    return TACIT_OK;
}

/* Rows of each kind of each component, of all ranks; `kinds` 0: of those that
 * each has. */
static tacit_status count_rows(search *s, tacit_world *w, int kinds)
{
    const size_t words = (size_t)s->N->components * KINDS_MOST;
    memset(s->found, 0, words * sizeof *s->found);
    for (int64_t i = 0; i < s->A->rows; i++) {
        const int64_t c = s->N->label[i];
        if (c < 0) continue;
        const int64_t kind = s->row[i] % (kinds > 0 ? kinds : s->kinds[c]);
        s->found[c * KINDS_MOST + kind] += 1.0;
    }
    return tct_reduce_f64(w, TCT_SUM, words, s->found);
}

static bool is_possible(const search *s, int64_t c, int kinds)
{
    return s->kinds[c] == 1 && !s->ruled[c * KINDS_MOST + kinds - 1];
}

/* Give `kinds` kinds to components whose rows allow it; one with rows of one
 * kind alone has no more than its constant. */
static tacit_status try_kinds(search *s, tacit_world *w, int kinds)
{
    bool any = false;
    for (int64_t c = 0; c < s->N->components; c++)
        any = any || is_possible(s, c, kinds);
    if (!any) return TACIT_OK; /* on all ranks */
    TRY(count_rows(s, w, kinds));
    for (int64_t c = 0; c < s->N->components; c++) {
        int some = 0;
        for (int j = 0; j < kinds; j++)
            some += s->found[c * KINDS_MOST + j] > 0.0;
        if (is_possible(s, c, kinds) && some > 1) s->kinds[c] = kinds;
    }
    return TACIT_OK;
}

/* --- new labels ------------------------------------------------------------ */

/* Number the kinds that have rows; returns how many there are. */
static int64_t number_labels(search *s)
{
    int64_t next = 0;
    for (int64_t c = 0; c < s->N->components; c++)
        for (int j = 0; j < s->kinds[c]; j++)
            s->label[c * KINDS_MOST + j] =
                s->found[c * KINDS_MOST + j] > 0.0 ? next++ : -1;
    return next;
}

/* `size` and `sum` are for the `count` new labels. */
static void take(search *s, int64_t count, double *size, double *sum)
{
    tct_null_space *N = s->N;
    for (int64_t c = 0; c < N->components; c++)
        for (int j = 0; j < s->kinds[c]; j++) {
            const int64_t label = s->label[c * KINDS_MOST + j];
            if (label >= 0) size[label] = s->found[c * KINDS_MOST + j];
        }
    for (int64_t i = 0; i < N->rows; i++) {
        const int64_t c = N->label[i];
        if (c >= 0)
            N->label[i] = s->label[c * KINDS_MOST + s->row[i] % s->kinds[c]];
    }
    TCT_FREE(N->size, N->sum);
    N->size = size;
    N->sum = sum;
    N->components = count;
}

static tacit_status split(search *s, tacit_world *w)
{
    double *size = NULL, *sum = NULL;
    TRY(count_rows(s, w, 0));
    const int64_t all = number_labels(s);
    if (all == s->N->components) return TACIT_OK;
    tacit_status status = TCT_ALLOC(all, what, &size);
    if (status >= 0) status = TCT_ALLOC(all, what, &sum);
    status = tct_agree(w, status);
    if (status < 0) TCT_FREE(size, sum);
    TRY(status);
    take(s, all, size, sum);
    return tct_null_choose_rows(s->N, w);
}

tacit_status tct_null_split(const tacit_matrix *m, const tct_csr *rows,
                            tct_null_space *N)
{
    search s = {.N = N, .A = rows};
    if (!N || N->components == 0) return TACIT_OK;
    tacit_status status = number(&s, m);
    if (status >= 0) status = rule_out(&s, m->world);
    for (int kinds = KINDS_MOST; kinds > 1 && status >= 0; kinds--)
        status = try_kinds(&s, m->world, kinds);
    if (status >= 0) status = split(&s, m->world);
    TCT_FREE(s.row, s.start, s.away, s.ruled);
    TCT_FREE(s.found, s.kinds, s.label);
    return status;
}
