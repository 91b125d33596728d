/* SPDX-License-Identifier: BSD-3-Clause
 * factor/matched.c - L U of a matrix that needs pivots. Its rows are matched to
 * large diagonal entries [DK01]; what then is left to pivot is done by trials: a
 * trial exchanges rows within blocks of columns of a panel, which changes the
 * pattern of L. So its pivots are taken for a better order of rows, and the
 * factor is made again, until nothing is exchanged. A pivot that is still small
 * gets a larger size. */
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const what = "the rows of a factor";

enum { TRIALS = 3 };

void tct_factor_take_rows(tacit_factor *L, tct_factor_rows *rows)
{
    L->match = rows->match;
    L->order = rows->order;
    L->trial = rows->exchanges;
    L->least_pivot = TCT_PIVOT_REPAIRED;
    L->info.trials = rows->trials + 1;
    rows->match = (tct_matching){.row = NULL};
    rows->order = (tct_nesting){.leaves = 0};
}

tacit_status tct_factor_open_matched(tacit_factor *L, const tct_entries *A)
{
    const tct_matching *m = &L->match;
    const int64_t n = L->info.rows;
    if (!m->row) return TACIT_OK;
    L->info.bytes += 48.0 * (double)n + 20.0 * (double)A->ptr[n];
    TRY(TCT_ALLOC(n, what, &L->b_row));
    TRY(TCT_ALLOC(n, what, &L->b_scale));
    TRY(TCT_ALLOC(n, what, &L->x_scale));
    if (L->trial) TRY(TCT_ALLOC(n, what, &L->exchanged));
    for (int64_t k = 0; k < n; k++) {
        const int32_t j = L->order.old[k];
        L->b_row[k] = m->row[j];
        L->b_scale[k] = m->row_scale[m->row[j]];
        L->x_scale[k] = m->col_scale[j];
        if (L->trial) L->exchanged[k] = (int32_t)k;
    }
    return TACIT_OK;
}

int64_t tct_factor_exchanges(const tacit_factor *L)
{
    int64_t count = 0;
    for (int64_t k = 0; L->exchanged && k < L->info.rows; k++)
        count += L->exchanged[k] != k;
    return count;
}

/* The rows of a trial, with its exchanges; it is freed. */
static void learn(tacit_factor **trial, tct_factor_rows *rows)
{
    tacit_factor *L = *trial;
    rows->match = L->match;
    rows->order = L->order;
    for (int64_t k = 0; k < L->info.rows; k++)
        rows->match.row[L->order.old[k]] = L->b_row[L->exchanged[k]];
    L->match = (tct_matching){.row = NULL};
    L->order = (tct_nesting){.leaves = 0};
    tacit_factor_destroy(trial);
}

/* --- judgement ------------------------------------------------------------ */

/* Residual, beside |A| |x| + |b|, that refinement must come below. */
#define RESIDUAL_MOST 1e-12
/* First residual that is worth a warning. */
#define RESIDUAL_LARGE 1e-10

/* The least pivot, and how many were repaired. */
static void count_repaired(tacit_factor *L)
{
    tacit_factor_info *info = &L->info;
    for (int32_t q = 0; q < info->panels; q++) {
        const int64_t h = L->row_start[q + 1] - L->row_start[q];
        for (int64_t c = L->first[q]; c < L->first[q + 1]; c++) {
            const double p =
                L->upper[L->value_start[q] + (c - L->first[q]) * (h + 1)];
            info->repaired += fabs(p) == L->least_pivot;
            if (c > 0 && fabs(p) >= fabs(info->least_pivot)) continue;
            info->least_pivot = p;
            info->least_row = L->b_row[c];
        }
    }
}

static tacit_status judge(const tacit_factor *L, const tct_refinement *R)
{
    const tacit_factor_info *info = &L->info;
    if (!(R->norm <= RESIDUAL_MOST))
        FAIL(TACIT_INPUT,
             "the matrix is singular, or nearly so: with rows permuted and "
             "scaled for large pivots, row %" PRId64 " comes to one of %.1e%s, "
             "and a solve leaves a residual of %.1e: solve another matrix, A + "
             "shift I",
             info->least_row + 1, fabs(info->least_pivot),
             info->repaired ? " at most" : "", R->norm);
    if (!(R->first < RESIDUAL_LARGE))
        tct_log(TCT_WARN,
                "factor %s: a solve leaves a residual of %.1e, of %.1e after "
                "%d steps of iterative refinement",
                tct_factor_kind_name(L->panels.kind), R->first, R->error,
                R->steps - 1);
    return TACIT_OK;
}

/* A right-hand side that no matrix has made: the solution of a singular system
 * would come from one that was. */
tacit_status tct_factor_judge_matched(tacit_factor *L, const tct_entries *A)
{
    tct_refinement R;
    tacit_status status = tct_refinement_open(L, &R);
    if (status >= 0) {
        count_repaired(L);
        for (int64_t i = 0; i < A->rows; i++)
            R.v[i] = tct_uniform((uint64_t)i, 17) - 0.5;
        tct_refine(&R, NULL, A);
        L->info.backward_error = R.first;
        L->info.refined_error = R.error;
        status = judge(L, &R);
    }
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
    TRY(tct_entries_matched(A, exponent, &rows->match, &E));
    const tacit_status status = tct_factor_make(&E, o, rows, out);
    if (status < 0 || tct_factor_exchanges(*out) > 0) tct_entries_close(&E);
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
        rows->exchanges = rows->trials < TRIALS;
        TRY(make_one(A, exponent, o, rows, out));
        if (tct_factor_exchanges(*out) == 0) return TACIT_OK;
        learn(out, rows);
    }
}

tacit_status tct_factor_make_matched(const tct_csr *A, int exponent,
                                     const tacit_factor_options *o,
                                     tacit_factor **out)
{
    const double start = tct_seconds();
    char why[400];
    tct_factor_rows rows = {.trials = 0};
    tacit_factor *L = NULL;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    const tacit_status status = make_by_trials(A, exponent, o, &rows, &L);
    tct_matching_clear(&rows.match);
    tct_nesting_clear(&rows.order);
    if (status == TACIT_INPUT) {
        char now[400];
        snprintf(now, sizeof now, "%s", tacit_error_message());
        FAIL(status, "%s: %s", why, now);
    }
    TRY(status);
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
