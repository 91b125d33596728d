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
    rows->match = (tct_matching){.row = NULL};
    rows->order = (tct_nesting){.leaves = 0};
}

tacit_status tct_factor_open_matched(tacit_factor *L)
{
    const tct_matching *m = &L->match;
    const int64_t n = L->info.rows;
    if (!m->row) return TACIT_OK;
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

/* One factor, or a trial, of these rows. */
static tacit_status make_one(const tct_csr *A, int exponent,
                             const tacit_factor_options *o,
                             tct_factor_rows *rows, tacit_factor **out)
{
    tct_entries E;
    TRY(tct_entries_matched(A, exponent, &rows->match, &E));
    const tacit_status status = tct_factor_make(&E, o, rows, out);
    tct_entries_close(&E);
    return status;
}

tacit_status tct_factor_make_matched(const tct_csr *A, int exponent,
                                     const tacit_factor_options *o,
                                     tacit_factor **out)
{
    tct_factor_rows rows = {.exchanges = true};
    tacit_factor *L = NULL;
    TRY(tct_matching_create(A, &rows.match));
    for (int64_t i = 0; i < A->rows; i++)
        rows.match.row_scale[i] = ldexp(rows.match.row_scale[i], exponent);
    tacit_status status = TACIT_OK;
    for (int k = 0; status >= 0; k++) {
        rows.exchanges = k < TRIALS;
        status = make_one(A, exponent, o, &rows, &L);
        if (status < 0) break;
        printf("trial %d: %lld exchanges, entries %lld\n", k, (long long)tct_factor_exchanges(L), (long long)L->info.nonzeros);
        if (status < 0 || tct_factor_exchanges(L) == 0) break;
        learn(&L, &rows);
    }
    tct_matching_clear(&rows.match);
    tct_nesting_clear(&rows.order);
    if (status >= 0) *out = L;
    return status;
}
