/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/factor/incomplete.c - factors with entries where the matrix has them [MV77],
 * a panel a row, in an order of their own. Column j of L, and row j of U in its
 * places, take off what the columns k before them do that have row j [LSC03]; such
 * columns wait in a list for each row, in that of the next row which they have. */
#include "triangular/factor/dense.h"
#include "triangular/factor/factor.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "an incomplete factor";

/* Of a column k: where its next row stands, and who waits for the same. */
typedef struct {
    int64_t *at;    /* [rows] */
    int32_t *head;  /* [rows] the first that waits for this row, -1: none */
    int32_t *next;  /* [rows] */
    int32_t *place; /* [rows] of those of the column at hand, from its first;
                       -1: it has not that one                             */
} columns;

/* --- where it has entries --------------------------------------------------------- */

/* Entry k of row `old` of A, as a column of the row that it is now. */
static int32_t column_of(const tacit_factor *L, const tct_entries *A, int64_t k)
{
    return L->order.now[A->col[k]];
}

/* Rows of each column, ascending since rows come so, behind the column's own. */
static tacit_status find_rows(tacit_factor *L, const tct_entries *A,
                              int64_t *next)
{
    const int64_t n = A->rows;
    for (int64_t i = 0; i < n; i++) L->row_start[i + 1] = 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (column_of(L, A, k) < L->order.now[i])
                L->row_start[column_of(L, A, k) + 1]++;
    L->row_start[0] = 0;
    for (int64_t i = 0; i < n; i++) L->row_start[i + 1] += L->row_start[i];
    TRY(TCT_ALLOC(L->row_start[n], what, &L->row));
    for (int64_t i = 0; i < n; i++) {
        const int32_t old = L->order.old[i];
        L->row[L->row_start[i]] = (int32_t)i;
        next[i] = L->row_start[i] + 1;
        for (int64_t k = A->ptr[old]; k < A->ptr[old + 1]; k++)
            if (column_of(L, A, k) < i)
                L->row[next[column_of(L, A, k)]++] = (int32_t)i;
    }
    return TACIT_OK;
}

/* What A has there, its diagonal 1 + shift times. */
static void load_values(tacit_factor *L, const tct_entries *A, int64_t *next)
{
    for (int64_t i = 0; i < A->rows; i++) {
        const int32_t old = L->order.old[i];
        next[i] = L->row_start[i] + 1;
        L->value[L->row_start[i]] =
            tct_entries_diagonal(A, old) * (1.0 + L->info.shift);
        if (L->upper) L->upper[L->row_start[i]] = L->value[L->row_start[i]];
        for (int64_t k = A->ptr[old]; k < A->ptr[old + 1]; k++) {
            const int32_t j = column_of(L, A, k);
            if (j >= i) continue;
            if (L->upper) L->upper[next[j]] = A->across[k];
            L->value[next[j]++] = A->here[k];
        }
    }
}

/* --- what it has there ------------------------------------------------------------- */

/* Column k waits for the row at `at`, if it has one there. */
static void wait_at(const tacit_factor *L, columns *c, int32_t k, int64_t at)
{
    if (at == L->row_start[k + 1]) return;
    c->at[k] = at;
    c->next[k] = c->head[L->row[at]];
    c->head[L->row[at]] = k;
}

/* What column k, which waits for row j, does to column j where that has entries;
 * |l_jk u_kj|. */
static double take_off(tacit_factor *L, const columns *c, int64_t j, int32_t k)
{
    const double *u = L->upper ? L->upper : L->value;
    const int64_t at = c->at[k], to = L->row_start[j];
    const double l_jk = L->value[at], u_kj = u[at];
    for (int64_t e = at; e < L->row_start[k + 1]; e++) {
        const int32_t place = c->place[L->row[e]];
        if (place < 0) continue;
        L->value[to + place] -= L->value[e] * u_kj;
        if (L->upper) L->upper[to + place] -= L->upper[e] * l_jk;
        L->info.flops += L->upper ? 4.0 : 2.0;
    }
    return fabs(l_jk * u_kj);
}

/* The pivot, which is left at the head of column j; can it be? `weight` is of the
 * terms that were taken off `diagonal`. */
static bool divide(tacit_factor *L, int64_t j, double diagonal, double weight)
{
    static const double LEAST = 1e-8; /* of the diagonal */
    const int64_t from = L->row_start[j], to = L->row_start[j + 1];
    const double pivot = L->value[from];
    if (!L->upper) {
        if (!(pivot > LEAST * diagonal) || !isfinite(pivot)) return false;
        L->value[from] = sqrt(pivot);
        L->inverse[j] = 1.0 / L->value[from];
        for (int64_t e = from + 1; e < to; e++) L->value[e] *= L->inverse[j];
        return true;
    }
    if (pivot == 0.0 || !isfinite(pivot) ||
        fabs(pivot) < TCT_PIVOT_LEAST * weight)
        return false;
    tct_note_pivot(L, j, pivot, weight);
    L->upper[from] = pivot;
    L->value[from] = 1.0;
    L->inverse[j] = 1.0 / pivot;
    for (int64_t e = from + 1; e < to; e++) L->value[e] *= L->inverse[j];
    return true;
}

/* All columns; the one whose pivot cannot be, of terms of `weight`, or `rows`. */
static int64_t find_values(tacit_factor *L, columns *c, double *weight)
{
    const int64_t n = L->info.rows;
    for (int64_t i = 0; i < n; i++) c->head[i] = c->place[i] = -1;
    for (int64_t j = 0; j < n; j++) {
        const int64_t from = L->row_start[j], to = L->row_start[j + 1];
        const double diagonal = L->value[from];
        *weight = 0.0;
        for (int64_t e = from; e < to; e++)
            c->place[L->row[e]] = (int32_t)(e - from);
        for (int32_t k = c->head[j], next; k >= 0; k = next) {
            next = c->next[k];
            *weight += take_off(L, c, j, k);
            wait_at(L, c, k, c->at[k] + 1);
        }
        if (!divide(L, j, diagonal, *weight)) return j;
        for (int64_t e = from; e < to; e++) c->place[L->row[e]] = -1;
        wait_at(L, c, (int32_t)j, from + 1);
    }
    return n;
}

/* With the least shift of 0, 1e-3, 2e-3, 4e-3, ... that leaves all pivots
 * positive; a diagonally dominant matrix is one, so there is an end. */
static tacit_status find_with_shift(tacit_factor *L, const tct_entries *A,
                                    columns *c, int64_t *failed)
{
    double *shift = &L->info.shift, weight = 0.0;
    for (;;) {
        L->info.flops = (double)(L->row_start[A->rows] - A->rows);
        load_values(L, A, c->at);
        const int64_t bad = find_values(L, c, &weight);
        *failed = bad == A->rows ? -1 : L->order.old[bad];
        if (*failed < 0) break;
        if (L->upper)
            return tct_refuse_pivot(L, bad, L->value[L->row_start[bad]],
                                    weight);
        *shift = *shift > 0.0 ? 2.0 * *shift : 1e-3;
        if (!isfinite(*shift))
            FAIL(TACIT_INPUT,
                 "factor ic0: row %" PRId64 " has entries that are too large",
                 *failed + 1);
    }
    if (*shift > 0.0)
        tct_log(TCT_NOTE,
                "factor ic0: the diagonal is taken %g times as large, so that "
                "all pivots are positive",
                1.0 + *shift);
    tct_warn_of_pivots(L);
    return TACIT_OK;
}

/* --- the factor --------------------------------------------------------------------- */

/* Parents, tree nodes, and the rows that wait for one another. */
static void describe(tacit_factor *L, int32_t *depth)
{
    const int64_t n = L->info.rows;
    tacit_factor_info *info = &L->info;
    int k = 0;
    for (int64_t j = 0; j < n; j++) depth[j] = 1;
    for (int64_t j = 0; j < n; j++) {
        const int64_t below = L->row_start[j] + 1, end = L->row_start[j + 1];
        L->first[j] = j;
        L->parent[j] = below < end ? L->row[below] : -1;
        while (L->order.start[k + 1] <= j) k++;
        L->node[j] = L->order.node[k];
        for (int64_t e = below; e < end; e++)
            if (depth[L->row[e]] <= depth[j]) depth[L->row[e]] = depth[j] + 1;
        if (depth[j] > info->depth) info->depth = depth[j];
        if (end - below > L->most) L->most = end - below;
        L->in_place = (j == 0 || L->in_place) && L->order.old[j] == j;
    }
    L->first[n] = n;
    info->nonzeros = L->row_start[n];
    info->stored = L->row_start[n] * (L->upper ? 2 : 1);
    info->supernodes = info->panels = (int32_t)n;
    info->leaves = L->order.leaves;
    info->bytes = info->peak_bytes = 8.0 * (double)info->stored +
                                     4.0 * (double)L->row_start[n] +
                                     48.0 * (double)n;
    info->dense = tct_dense_own.name;
}

static tacit_status open_arrays(tacit_factor *L, int64_t n, columns *c)
{
    TRY(TCT_ALLOC(n + 1, what, &L->first));
    TRY(TCT_ALLOC(n + 1, what, &L->row_start));
    TRY(TCT_ALLOC(n, what, &L->parent));
    TRY(TCT_ALLOC(n, what, &L->node));
    TRY(TCT_ALLOC(n, what, &L->inverse));
    TRY(TCT_ALLOC(n, what, &c->at));
    TRY(TCT_ALLOC(n, what, &c->head));
    TRY(TCT_ALLOC(n, what, &c->next));
    return TCT_ALLOC(n, what, &c->place);
}

static tacit_status build(tacit_factor *L, const tct_entries *A,
                          tct_rows_order order, int leaves, columns *c,
                          int64_t *failed)
{
    const tct_graph g = {A->rows, A->ptr, A->col};
    const double start = tct_seconds();
    TRY(tct_nesting_by(&g, order, leaves, &L->order));
    const double ordered = tct_seconds();
    TRY(open_arrays(L, A->rows, c));
    TRY(find_rows(L, A, c->at));
    TRY(TCT_ALLOC(L->row_start[A->rows], what, &L->value));
    if (tct_has_upper(L->panels.kind))
        TRY(TCT_ALLOC(L->row_start[A->rows], what, &L->upper));
    describe(L, c->head);
    const double found = tct_seconds();
    TRY(find_with_shift(L, A, c, failed));
    L->info.order_seconds = ordered - start;
    L->info.symbolic_seconds = found - ordered;
    L->info.numeric_seconds = tct_seconds() - found;
    tct_factor_show(L);
    return TACIT_OK;
}

/* Half of the entries, once or twice, and what rows take. */
static tacit_status foresee(const tct_entries *A, tacit_factor_kind kind)
{
    const double entry = tct_has_upper(kind) ? 10.0 : 6.0;
    return tct_memory_require(
        entry * (double)A->ptr[A->rows] + 84.0 * (double)A->rows, what);
}

tacit_status tct_incomplete_create(const tct_entries *A, tacit_factor_kind kind,
                                   const char *order, int leaves,
                                   tacit_factor **out, int64_t *failed)
{
    tct_rows_order found = TCT_ORDER_TOP_ND;
    columns c = {.at = NULL};
    int64_t none = -1;
    if (!failed) failed = &none;
    *failed = -1;
    TRY(tct_rows_order_find(order, TCT_ORDER_TOP_ND, &found));
    TRY(tct_check_leaves(leaves));
    TRY(foresee(A, kind));
    tacit_factor *L = tct_calloc(sizeof *L);
    if (!L) FAIL(TACIT_NO_MEMORY, "no memory for a factor");
    L->panels.kind = kind;
    L->info.rows = A->rows;
    L->info.order = tct_rows_orders[found];
    const tacit_status status = build(L, A, found, leaves, &c, failed);
    TCT_FREE(c.at, c.head, c.next, c.place);
    if (status < 0) tacit_factor_destroy(&L);
    else *out = L;
    return status;
}
