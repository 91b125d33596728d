/* SPDX-License-Identifier: BSD-3-Clause
 * factor/check.c - checks that a factor of any origin satisfies what solves
 * require. */
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>

#define BROKEN(...) FAIL(TACIT_INPUT, "factor: " __VA_ARGS__)

static tacit_status check_arrays(const tacit_factor_panels *P)
{
    if (P->rows < 0 || P->rows > INT32_MAX || P->panels < 0 ||
        P->panels > P->rows)
        FAIL(
            TACIT_INVALID,
            "factor: expected 0 to 2^31 - 1 rows and no more panels than rows, "
            "got %" PRId64 " and %" PRId32,
            P->rows, P->panels);
    if (!P->first || !P->row_start || !P->value_start ||
        (P->panels > 0 && (!P->parent || !P->row || !P->value || !P->node)))
        FAIL(TACIT_INVALID, "factor: an array is NULL that every kind has");
    const bool has_upper =
        P->kind == TACIT_FACTOR_LU || P->kind == TACIT_FACTOR_ILU0;
    if (has_upper != (P->upper != NULL) ||
        (P->kind == TACIT_FACTOR_LDLT) != (P->diagonal != NULL) ||
        (P->off_diagonal && !P->diagonal))
        FAIL(TACIT_INVALID, "factor: `upper` is for kinds LU and ILU0, which "
                            "have it, and `diagonal` for LDLT, with or "
                            "without `off_diagonal`");
    if ((int)P->kind < TACIT_FACTOR_LLT || (int)P->kind > TACIT_FACTOR_ILU0)
        FAIL(TACIT_INVALID, "factor: its kind is %d, of 0 to %d", (int)P->kind,
             TACIT_FACTOR_ILU0);
    if (P->leaves < 1 || P->leaves > TCT_LEAVES_MOST ||
        (P->leaves & (P->leaves - 1)))
        FAIL(TACIT_INVALID,
             "factor: leaves: expected a power of two up to %d, got %d",
             TCT_LEAVES_MOST, P->leaves);
    return TACIT_OK;
}

static tacit_status check_starts(const tacit_factor_panels *P)
{
    if (P->first[0] != 0 || P->row_start[0] != 0 || P->value_start[0] != 0)
        BROKEN("columns, rows and values must start at 0");
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t w = P->first[K + 1] - P->first[K],
                      h = P->row_start[K + 1] - P->row_start[K];
        if (w < 1 || w > P->rows - P->first[K])
            BROKEN("panel %" PRId32 " has columns %" PRId64 " to %" PRId64
                   " of %" PRId64,
                   K, P->first[K], P->first[K + 1] - 1, P->rows);
        if (h < w || h > P->rows - P->first[K])
            BROKEN("panel %" PRId32 " has %" PRId64 " rows for its %" PRId64
                   " columns",
                   K, h, w);
        if (P->value_start[K + 1] - P->value_start[K] < w * h)
            BROKEN("panel %" PRId32 " has room for fewer than %" PRId64
                   " values",
                   K, w * h);
        if (P->node[K] < 0 || P->node[K] > 2 * P->leaves - 2)
            BROKEN("panel %" PRId32 " is in tree node %" PRId32 ", of 0 to %d",
                   K, P->node[K], 2 * P->leaves - 2);
    }
    if (P->first[P->panels] != P->rows)
        BROKEN("panels have %" PRId64 " columns, and there are %" PRId64
               " rows",
               P->first[P->panels], P->rows);
    return TACIT_OK;
}

/* Check row `i` of panel `K`, after row `before`; `of` [rows] maps rows to
 * panels. */
static tacit_status check_row(const tacit_factor_panels *P, int32_t K,
                              int64_t i, int64_t before, const int32_t *of)
{
    if (i < 0 || i >= P->rows)
        BROKEN("panel %" PRId32 ": row %" PRId64
               " is out of range, 0 to %" PRId64,
               K, i, P->rows - 1);
    if (i <= before)
        BROKEN("panel %" PRId32 ": row %" PRId64 " comes after row %" PRId64
               ", they must ascend",
               K, i, before);
    if (!tct_node_is_above(P->node[of[i]], P->node[K]))
        BROKEN("panel %" PRId32 " in tree node %" PRId32 ": row %" PRId64
               " is in tree node %" PRId32 ", which is not above it",
               K, P->node[K], i, P->node[of[i]]);
    return TACIT_OK;
}

static tacit_status check_panel_rows(const tacit_factor_panels *P, int32_t K,
                                     const int32_t *of)
{
    const int64_t w = P->first[K + 1] - P->first[K];
    const int64_t h = P->row_start[K + 1] - P->row_start[K];
    const int32_t *row = P->row + P->row_start[K];
    for (int64_t k = 0; k < w; k++)
        if (row[k] != P->first[K] + k)
            BROKEN("panel %" PRId32
                   ": its rows begin with its columns, but row "
                   "%" PRId32 " stands where column %" PRId64 " must",
                   K, row[k], P->first[K] + k);
    for (int64_t k = w; k < h; k++)
        TRY(check_row(P, K, row[k], row[k - 1], of));
    const int32_t parent = h > w ? of[row[w]] : -1;
    if (P->parent[K] != parent)
        BROKEN("panel %" PRId32 " has parent %" PRId32
               ", but its first row below "
               "is one of panel %" PRId32,
               K, P->parent[K], parent);
    return TACIT_OK;
}

/* Check the pivots of L or U' in panel `K`. */
static tacit_status check_pivots(const tacit_factor_panels *P, int32_t K,
                                 const double *value)
{
    const bool ones = P->kind == TACIT_FACTOR_LDLT;
    const int64_t w = P->first[K + 1] - P->first[K];
    const int64_t h = P->row_start[K + 1] - P->row_start[K];
    for (int64_t j = 0; value && j < w; j++) {
        const double d = value[P->value_start[K] + j * h + j];
        if (!isfinite(d) || d == 0.0)
            BROKEN("panel %" PRId32 ": row %" PRId64 " of %s has %g on the "
                   "diagonal",
                   K, P->first[K] + j, value == P->value ? "L" : "U", d);
        if (ones && d != 1.0)
            BROKEN("panel %" PRId32 ": row %" PRId64 " of L has %g on the "
                   "diagonal, and not 1: of kind LDLT the pivots stand in "
                   "`diagonal`",
                   K, P->first[K] + j, d);
    }
    return TACIT_OK;
}

/* Check that `number`, unless NULL, has all row numbers, once each; `seen`
 * [rows] is scratch. */
static tacit_status check_numbers(const tacit_factor_panels *P,
                                  const int32_t *number, int32_t *seen)
{
    for (int64_t i = 0; i < P->rows; i++) seen[i] = -1;
    for (int64_t i = 0; number && i < P->rows; i++) {
        const int32_t old = number[i];
        if (old < 0 || old >= P->rows)
            BROKEN("row %" PRId64 " was row %" PRId32 ", of 0 to %" PRId64, i,
                   old, P->rows - 1);
        if (seen[old] >= 0)
            BROKEN("rows %" PRId32 " and %" PRId64 " were both row %" PRId32,
                   seen[old], i, old);
        seen[old] = (int32_t)i;
    }
    return TACIT_OK;
}

static tacit_status check_scales(const tacit_factor_panels *P)
{
    const double *all[] = {P->off_diagonal ? NULL : P->diagonal, P->row_scale,
                           P->col_scale};
    const char *const names[] = {"D", "row_scale", "col_scale"};
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; all[a] && i < P->rows; i++)
            if (!isfinite(all[a][i]) || all[a][i] == 0.0)
                BROKEN("%s of row %" PRId64 " is %g", names[a], i, all[a][i]);
    return TACIT_OK;
}

/* Check the pivot of row `k` of panel `K`, of 2 x 2 if D has an entry below
 * it. */
static tacit_status check_pivot(const tacit_factor_panels *P, int32_t K,
                                int64_t k)
{
    const double d = P->diagonal[k], e = P->off_diagonal[k];
    const int64_t h = P->row_start[K + 1] - P->row_start[K];
    if (e == 0.0 && isfinite(d) && d != 0.0) return TACIT_OK;
    if (e == 0.0) BROKEN("D of row %" PRId64 " is %g", k, d);
    if (k + 1 >= P->first[K + 1])
        BROKEN("the pivot of 2 x 2 from row %" PRId64 " on ends in another "
               "panel",
               k);
    const double p = d / e, q = P->diagonal[k + 1] / e;
    if (!isfinite(e) || !isfinite(p) || !isfinite(q) || p * q == 1.0 ||
        P->off_diagonal[k + 1] != 0.0)
        BROKEN("the pivot of 2 x 2 from row %" PRId64 " on is singular, or "
               "not finite, or another begins in it",
               k);
    if (P->value[P->value_start[K] + (k - P->first[K]) * (h + 1) + 1] != 0.0)
        BROKEN("L is not 0 between the rows of the pivot of 2 x 2 from row "
               "%" PRId64 " on",
               k);
    return TACIT_OK;
}

static tacit_status check_blocks(const tacit_factor_panels *P)
{
    for (int32_t K = 0; P->off_diagonal && K < P->panels; K++)
        for (int64_t k = P->first[K]; k < P->first[K + 1]; k++) {
            TRY(check_pivot(P, K, k));
            if (P->off_diagonal[k] != 0.0) k++;
        }
    return TACIT_OK;
}

static tacit_status check_panels(const tacit_factor_panels *P, int32_t *of)
{
    for (int32_t K = 0; K < P->panels; K++)
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++) of[j] = K;
    for (int32_t K = 0; K < P->panels; K++) {
        TRY(check_panel_rows(P, K, of));
        TRY(check_pivots(P, K, P->value));
        TRY(check_pivots(P, K, P->upper));
    }
    TRY(check_blocks(P));
    TRY(check_scales(P));
    TRY(check_numbers(P, P->original, of));
    return check_numbers(P, P->row_order, of);
}

tacit_status tacit_factor_check(const tacit_factor_panels *panels)
{
    REQUIRE(panels != NULL);
    tacit_factor_panels P;
    int32_t *of = NULL;
    TRY(tct_read_sized("tacit_factor_panels", panels, &P, sizeof P));
    TRY(check_arrays(&P));
    TRY(check_starts(&P));
    TRY(TCT_ALLOC(P.rows, "the check of a factor", &of));
    const tacit_status status = check_panels(&P, of);
    tct_free(of);
    return status;
}
