/* SPDX-License-Identifier: BSD-3-Clause
 * factor/matched.c - L U of a matrix that needs pivots. Its rows are matched to
 * large diagonal entries [DK01]; what then is left to pivot is done by trials: a
 * trial exchanges rows within blocks of columns of a panel, which changes the
 * pattern of L. So its pivots are taken for a better order of rows, and the
 * factor is made again, until nothing is exchanged. A pivot that is still small
 * gets a larger size. */
#include "factor/eliminate.h"
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const what = "the rows of a factor";

enum { TRIALS = 16 };

void tct_factor_take_rows(tacit_factor *L, tct_factor_rows *rows)
{
    L->match = rows->match;
    L->order = rows->order;
    L->trial = rows->exchanges;
    L->pairs = rows->pairs;
    L->least_pivot =
        L->trial || L->pairs ? TCT_PIVOT_TAKEN : TCT_PIVOT_REPAIRED;
    L->info.trials = rows->trials + 1;
    rows->match = (tct_matching){.row = NULL};
    rows->order = (tct_nesting){.leaves = 0};
}

void tct_factor_place_rows(tacit_factor *L)
{
    const tct_matching *m = &L->match;
    for (int64_t k = 0; k < L->info.rows; k++) {
        const int32_t j = L->order.old[k];
        L->b_row[k] = m->row[j];
        L->b_scale[k] = m->row_scale[m->row[j]];
        L->x_scale[k] = m->col_scale[j];
    }
}

tacit_status tct_factor_open_matched(tacit_factor *L, const tct_entries *A)
{
    const int64_t n = L->info.rows;
    if (!L->match.row) return TACIT_OK;
    L->info.bytes +=
        48.0 * (double)n + (L->pairs ? 12.0 : 20.0) * (double)A->ptr[n];
    TRY(TCT_ALLOC(n, what, &L->b_row));
    TRY(TCT_ALLOC(n, what, &L->b_scale));
    TRY(TCT_ALLOC(n, what, &L->x_scale));
    if (L->trial) TRY(TCT_ALLOC(n, what, &L->trial_row));
    if (L->trial) TRY(TCT_ALLOC(n, what, &L->trial_col));
    for (int64_t k = 0; L->trial && k < n; k++)
        L->trial_row[k] = L->trial_col[k] = (int32_t)k;
    tct_factor_place_rows(L);
    return TACIT_OK;
}

/* --- what a trial teaches ------------------------------------------------- */

typedef struct {
    const tct_fronts *F;
    int32_t *next;  /* [rows] places that go to the same front */
    int32_t *head;  /* [fronts] the first of them; -1: none    */
    int32_t *place; /* [rows] of the trial, in the new order   */
    int64_t count, left_out;
} lesson;

static void append(lesson *s, int64_t place)
{
    s->place[s->count++] = (int32_t)place;
}

/* The places of front `f`: its own, those left out far from its end, and those
 * that its children left out. A column at the end of a front has all of its
 * rows. */
static void list_front(lesson *s, const tacit_factor *L, int32_t f)
{
    const int64_t from = s->F->first[f], end = s->F->first[f + 1];
    const int32_t up = s->F->parent[f];
    for (int64_t k = from; k < end; k++)
        if (L->trial_col[k] >= 0) append(s, k);
    for (int64_t k = from; k < end; k++) {
        if (L->trial_col[k] >= 0) continue;
        if (up < 0 || k < end - TCT_ELIMINATE_COLUMNS) append(s, k);
        else {
            s->next[k] = s->head[up];
            s->head[up] = (int32_t)k;
        }
    }
    for (int32_t k = s->head[f]; k >= 0; k = s->next[k]) append(s, k);
}

/* List all places; the tree nodes of `x` get their new sizes. */
static void list_places(lesson *s, const tacit_factor *L, tct_nesting *x)
{
    int k = 0;
    for (int32_t f = 0; f < s->F->count; f++) s->head[f] = -1;
    for (int32_t f = 0; f < s->F->count; f++) {
        while (x->node[k] != s->F->node[f]) x->start[++k] = s->count;
        list_front(s, L, f);
    }
    while (k < 2 * x->leaves - 2) x->start[++k] = s->count;
}

/* Is anything new? */
static bool take_places(lesson *s, tacit_factor *L)
{
    bool changed = false;
    int32_t *old = s->next; /* of no more use */
    for (int64_t k = 0; k < s->F->rows; k++) old[k] = L->order.old[k];
    for (int64_t k = 0; k < s->F->rows; k++) {
        const int32_t p = s->place[k], c = L->trial_col[p],
                      col = c < 0 ? ~c : c, now = old[col];
        L->order.old[k] = now;
        L->order.now[now] = (int32_t)k;
        L->match.row[now] = L->b_row[L->trial_row[p]];
        s->left_out += c < 0;
        changed = changed || col != k || L->trial_row[p] != k;
    }
    return changed;
}

tacit_status tct_factor_learn(tacit_factor *L, const tct_fronts *F)
{
    lesson s = {.F = F};
    tacit_status status = TCT_ALLOC(F->rows, what, &s.next);
    if (status >= 0) status = TCT_ALLOC(F->count, what, &s.head);
    if (status >= 0) status = TCT_ALLOC(F->rows, what, &s.place);
    if (status >= 0) {
        list_places(&s, L, &L->order);
        const bool changed = take_places(&s, L);
        L->trial = changed || s.left_out > 0;
        L->left_out = changed ? s.left_out : 0;
    }
    TCT_FREE(s.next, s.head, s.place);
    return status;
}

/* The rows of a trial; it is freed. */
static void take_rows(tacit_factor **trial, tct_factor_rows *rows)
{
    tacit_factor *L = *trial;
    rows->match = L->match;
    rows->order = L->order;
    L->match = (tct_matching){.row = NULL};
    L->order = (tct_nesting){.leaves = 0};
    tacit_factor_destroy(trial);
}

/* --- judgement ------------------------------------------------------------ */

/* Residual, beside |A| |x| + |b|, that refinement must come below. */
#define RESIDUAL_MOST 1e-14

/* Count the repaired pivots; returns the row of the last, or -1. */
static int64_t count_repaired(tacit_factor *L)
{
    int64_t row = -1;
    for (int32_t q = 0; q < L->info.panels; q++) {
        const int64_t h = L->row_start[q + 1] - L->row_start[q];
        for (int64_t c = L->first[q]; c < L->first[q + 1]; c++) {
            const int64_t at = L->value_start[q] + (c - L->first[q]) * (h + 1);
            if (fabs(L->upper[at]) != L->least_pivot) continue;
            L->info.repaired++;
            row = L->b_row[c];
        }
    }
    return row;
}

/* What may be done where no factor is of use. */
static const char INSTEAD[] =
    "methods cg and minres solve a symmetric one for b in its range; else "
    "solve another matrix, A + shift I";

/* A pivot that is rounding alone in spite of pivoting. If trials came to no
 * end, the solve decides. */
static tacit_status judge_pivots(tacit_factor *L)
{
    const tacit_factor_info *info = &L->info;
    const int64_t row = count_repaired(L);
    TRY(tct_factor_note_pivots(L));
    if (info->trials > TRIALS ||
        (row < 0 && info->least_share >= TCT_PIVOT_LEAST))
        return TACIT_OK;
    FAIL(TACIT_INPUT,
         "the matrix is singular, or nearly so: with rows permuted and scaled "
         "for large pivots, row %" PRId64 " comes to one that is but rounding: "
         "%s",
         (row < 0 ? info->least_row : row) + 1, INSTEAD);
}

static tacit_status judge(const tacit_factor *L, const tct_refinement *R)
{
    const tacit_factor_info *info = &L->info;
    if (!(R->norm <= RESIDUAL_MOST) && !L->upper)
        FAIL(TACIT_INPUT,
             "the matrix is singular, or nearly so, or needs the pivots of "
             "kind lu: scaled and with pivots of 2 x 2, %" PRId64 " made "
             "larger, a solve leaves a residual of %.1e: %s",
             info->repaired, R->norm, INSTEAD);
    if (!(R->norm <= RESIDUAL_MOST))
        FAIL(TACIT_INPUT,
             "the matrix is singular, or nearly so: with rows permuted and "
             "scaled for large pivots, the least of row %" PRId64 ", a solve "
             "leaves a residual of %.1e: %s",
             info->least_row + 1, R->norm, INSTEAD);
    return TACIT_OK;
}

/* b = A x, 0.5 <= x < 1.5 before x is scaled. */
static void make_b(const tacit_factor *L, const tct_entries *A, double *b)
{
    const double *scale = L->match.col_scale;
    for (int64_t i = 0; i < A->rows; i++) {
        b[i] = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int32_t j = A->col[k];
            b[i] +=
                A->value[k] * ((0.5 + tct_uniform((uint64_t)j, 17)) / scale[j]);
        }
    }
}

/* Two right-hand sides: one that has a solution in any case, whose error the
 * factor shows; and one of random numbers, which no singular matrix makes. */
tacit_status tct_factor_judge_matched(tacit_factor *L, const tct_entries *A)
{
    tct_refinement R;
    if (L->upper) TRY(judge_pivots(L));
    tacit_status status = tct_refinement_open(L, &R);
    for (int k = 0; k < 2 && status >= 0; k++) {
        if (k == 0) make_b(L, A, R.v);
        for (int64_t i = 0; k == 1 && i < A->rows; i++)
            R.v[i] = tct_uniform((uint64_t)i, 17) - 0.5;
        tct_refine(&R, NULL, A);
        L->info.backward_error = fmax(L->info.backward_error, R.first);
        L->info.refined_error = fmax(L->info.refined_error, R.error);
    }
    if (status >= 0) status = judge(L, &R);
    tct_refinement_close(&R);
    return status;
}

/* --- trials --------------------------------------------------------------- */

/* One factor, or a trial, of these rows. */
static tacit_status make_one(const tct_csr *A, int exponent,
                             const tacit_factor_options *o,
                             tct_factor_rows *rows, tacit_factor **out)
{
    tct_entries E;
    tacit_status status = tct_entries_matched(A, exponent, &rows->match, &E);
    if (status >= 0) status = tct_factor_make(&E, o, rows, out);
    if (status < 0 || (*out)->trial) tct_entries_close(&E);
    else (*out)->system = E;
    return status;
}

static tacit_status make_by_trials(const tct_csr *A, int exponent,
                                   const tacit_factor_options *o,
                                   tct_factor_rows *rows, tacit_factor **out)
{
    TRY(tct_matching_create(A, &rows->match));
    for (int64_t i = 0; i < A->rows; i++)
        rows->match.row_scale[i] = ldexp(rows->match.row_scale[i], exponent);
    for (;; rows->trials++) {
        TRY(make_one(A, exponent, o, rows, out));
        if (!(*out)->trial) return TACIT_OK;
        /* if all columns had a pivot, the same ones will do */
        rows->exchanges = (*out)->left_out > 0 && rows->trials + 1 < TRIALS;
        take_rows(out, rows);
    }
}

tacit_status tct_factor_make_matched(const tct_csr *A, int exponent,
                                     const tacit_factor_options *o,
                                     tacit_factor **out)
{
    const double start = tct_seconds();
    char why[400];
    tct_factor_rows rows = {.exchanges = true};
    tacit_factor *L = NULL;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    const tacit_status status = make_by_trials(A, exponent, o, &rows, &L);
    tct_matching_clear(&rows.match);
    tct_nesting_clear(&rows.order);
    TRY(tct_factor_tell_both(status, why));
    tacit_factor_info *info = &L->info;
    info->order_seconds =
        tct_seconds() - start - info->symbolic_seconds - info->numeric_seconds;
    tct_log(TCT_NOTE,
            "%s, so rows are permuted and scaled for large entries on the "
            "diagonal: %d trial%s, %" PRId64 " pivots made larger",
            why, info->trials, info->trials == 1 ? "" : "s", info->repaired);
    *out = L;
    return TACIT_OK;
}
