/* SPDX-License-Identifier: BSD-3-Clause
 * factor/paired.c - L D L' of a symmetric matrix that needs pivots: it is
 * scaled, candidates for pivots of 2 x 2 are neighbours in its order, and each
 * panel chooses its pivots among its own rows (pivot_pairs.c). One elimination
 * does; the rows of panels are renumbered afterwards. */
#include "factor/eliminate.h"
#include "factor/pairs.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const what = "the pivots of a factor";

tacit_status tct_factor_open_pairs(tacit_factor *L, tct_fronts *F)
{
    if (!L->pairs) return TACIT_OK;
    L->info.trials = 1;
    return tct_pairs_arrange(L->pairs, &L->order, F);
}

tacit_status tct_factor_open_pivots(tacit_factor *L)
{
    if (!L->pairs) return TACIT_OK;
    TRY(TCT_ALLOC(L->info.rows, what, &L->number));
    for (int64_t k = 0; k < L->info.rows; k++) L->number[k] = (int32_t)k;
    return TCT_ALLOC(L->info.rows, what, &L->off_diagonal);
}

/* --- new numbers ---------------------------------------------------------- */

/* A row below a panel: its new number and its old place. */
typedef struct {
    int32_t number, at;
} below;

static int by_number(const void *a, const void *b)
{
    const below *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sort the rows below the columns of panel `q`, in new numbers; `sorted` and
 * `v` [rows] are scratch. */
static void sort_panel(tacit_factor *L, int32_t q, const int32_t *now,
                       below *sorted, double *v)
{
    const int64_t w = L->first[q + 1] - L->first[q],
                  h = L->row_start[q + 1] - L->row_start[q], m = h - w;
    int32_t *row = L->row + L->row_start[q] + w;
    bool ascends = true;
    for (int64_t i = 0; i < m; i++) {
        sorted[i] = (below){now[row[i]], (int32_t)i};
        ascends = ascends && (i == 0 || now[row[i]] > now[row[i - 1]]);
    }
    if (!ascends) qsort(sorted, (size_t)m, sizeof *sorted, by_number);
    for (int64_t i = 0; i < m; i++) row[i] = sorted[i].number;
    for (int64_t j = 0; j < w && !ascends; j++) {
        double *a = L->value + L->value_start[q] + j * h + w;
        for (int64_t i = 0; i < m; i++) v[i] = a[sorted[i].at];
        memcpy(a, v, (size_t)m * sizeof *a);
    }
}

/* Take the order of the pivots; `old` [rows] is scratch. */
static void take_order(tacit_factor *L, int32_t *old)
{
    const size_t n = (size_t)L->info.rows;
    for (size_t k = 0; k < n; k++) old[k] = L->order.old[L->number[k]];
    memcpy(L->order.old, old, n * sizeof *old);
    for (size_t k = 0; k < n; k++) L->order.now[L->order.old[k]] = (int32_t)k;
    for (size_t k = 0; k < n; k++) old[L->number[k]] = (int32_t)k;
}

tacit_status tct_factor_take_pivots(tacit_factor *L)
{
    int32_t *now = NULL;
    below *sorted = NULL;
    double *v = NULL;
    if (!L->pairs) return TACIT_OK;
    tacit_status status = TCT_ALLOC(L->info.rows, what, &now);
    if (status >= 0) status = TCT_ALLOC(L->most, what, &sorted);
    if (status >= 0) status = TCT_ALLOC(L->most, what, &v);
    if (status >= 0) {
        take_order(L, now);
        for (int32_t q = 0; q < L->info.panels; q++)
            sort_panel(L, q, now, sorted, v);
        tct_factor_place_rows(L);
    }
    TCT_FREE(now, sorted, v, L->number);
    L->number = NULL;
    L->pairs = NULL;
    return status;
}

/* --- inertia -------------------------------------------------------------- */

void tct_factor_count_signs(tacit_factor *L)
{
    tacit_factor_info *info = &L->info;
    const double *d = L->diagonal, *e = L->off_diagonal;
    if (L->panels.kind == TACIT_FACTOR_LLT) info->positive = info->rows;
    for (int64_t k = 0; d && k < info->rows; k++) {
        if (e && e[k] != 0.0) { /* a negative determinant */
            info->pairs++;
            info->positive++;
            info->negative++;
            k++;
        } else if (e && fabs(d[k]) == L->least_pivot) info->repaired++;
        else if (d[k] > 0.0) info->positive++;
        else info->negative++;
    }
}

/* --- all ------------------------------------------------------------------ */

static tacit_status make(const tct_csr *A, int exponent,
                         const tacit_factor_options *o, tct_factor_rows *rows,
                         tct_pairs *pairs, tacit_factor **out)
{
    tct_rows_order order = TCT_ORDER_ND;
    tct_entries E = {.rows = 0};
    TRY(tct_rows_order_find(o->order, TCT_ORDER_ND, &order));
    TRY(tct_matching_create(A, &rows->match));
    TRY(tct_pairs_create(A, exponent, &rows->match, pairs));
    TRY(tct_pairs_order(pairs, order, o->leaves, &rows->order));
    rows->pairs = pairs;
    tacit_status status =
        tct_entries_paired(A, exponent, &rows->match, pairs, &E);
    if (status >= 0) status = tct_factor_make(&E, o, rows, out);
    if (status < 0) tct_entries_close(&E);
    else (*out)->system = E;
    return status;
}

tacit_status tct_factor_make_paired(const tct_csr *A, int exponent,
                                    const tacit_factor_options *o,
                                    tacit_factor **out)
{
    const double start = tct_seconds();
    char why[400];
    tct_factor_rows rows = {.trials = 0};
    tct_pairs pairs = {.nodes = 0};
    tacit_factor *L = NULL;
    snprintf(why, sizeof why, "%s", tacit_error_message());
    const tacit_status status = make(A, exponent, o, &rows, &pairs, &L);
    tct_matching_clear(&rows.match);
    tct_nesting_clear(&rows.order);
    tct_pairs_clear(&pairs);
    TRY(tct_factor_tell_both(status, why));
    tacit_factor_info *info = &L->info;
    info->order_seconds =
        tct_seconds() - start - info->symbolic_seconds - info->numeric_seconds;
    tct_log(TCT_NOTE,
            "%s, so the matrix is scaled, and %" PRId64 " pivots are of 2 x "
            "2, %" PRId64 " made larger",
            why, info->pairs, info->repaired);
    *out = L;
    return TACIT_OK;
}
