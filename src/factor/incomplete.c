/* SPDX-License-Identifier: BSD-3-Clause
 * factor/incomplete.c - incomplete factors with the pattern of the matrix
 * [MV77], one panel a row, with an own order. Column j of L and row j of U are
 * updated by each column k < j with row j [LSC03]: those where row j of the
 * matrix has an entry. */
#include "device/parallel.h"
#include "factor/dense.h"
#include "factor/factor.h"
#include "graph/levels.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "an incomplete factor";

/* Scratch: where rows of the current column are in `value` and `upper`, and the
 * entry of each column that is processed next. Updates of rows that it
 * lacks go to the first LACKS elements, by turns: a branch could not be
 * predicted. */
enum { LACKS = 8 };
typedef struct {
    int32_t *place;        /* [rows] */
    int64_t *next;         /* [rows] */
    double *value, *upper; /* [LACKS + the longest column]; upper: or NULL */
    int64_t updates;       /* of rows that it has */
} progress;

/* --- pattern -------------------------------------------------------------- */

/* Arguments of loops over rows or columns. */
typedef struct {
    tacit_factor *L;
    const tct_entries *A;
} filling;

/* The place of row `i` of A. */
static int32_t now_of(const tacit_factor *L, int32_t i)
{
    return L->in_place ? i : L->order.now[i];
}

static void count_range(void *work, int64_t from, int64_t to)
{
    const filling *f = work;
    const tct_nesting *x = &f->L->order;
    const tct_entries *A = f->A;
    for (int64_t i = from; i < to; i++) {
        int64_t count = 1;
        for (int64_t k = A->ptr[x->old[i]]; k < A->ptr[x->old[i] + 1]; k++)
            count += now_of(f->L, A->col[k]) > i;
        f->L->row_start[i + 1] = count;
    }
}

/* Count the rows of column i: itself, and the columns after i in row i of A,
 * whose pattern is symmetric. */
static tacit_status count_rows(tacit_factor *L, const tct_entries *A)
{
    tct_parallel(A->rows, TCT_SHORT, count_range, &(filling){L, A});
    L->row_start[0] = 0;
    for (int64_t i = 0; i < A->rows; i++)
        L->row_start[i + 1] += L->row_start[i];
    return TCT_ALLOC(L->row_start[A->rows], what, &L->row);
}

/* Sort entries [from, end) by row; most columns are short and often sorted. */
static void sort_column(tacit_factor *L, int64_t from, int64_t end)
{
    for (int64_t gap = end - from; gap > 1;) {
        gap = gap < 16 ? 1 : gap * 5 / 11;
        for (int64_t e = from + gap; e < end; e++) {
            const int32_t row = L->row[e];
            const double value = L->value[e],
                         upper = L->upper ? L->upper[e] : 0.0;
            int64_t to = e;
            for (; to - gap >= from && L->row[to - gap] > row; to -= gap) {
                L->row[to] = L->row[to - gap];
                L->value[to] = L->value[to - gap];
                if (L->upper) L->upper[to] = L->upper[to - gap];
            }
            L->row[to] = row;
            L->value[to] = value;
            if (L->upper) L->upper[to] = upper;
        }
    }
}

/* Load column i, and row i of U, from A, the diagonal multiplied by 1 +
 * shift. */
static void load_column(tacit_factor *L, const tct_entries *A, int64_t i)
{
    const int32_t old = L->order.old[i];
    const int64_t from = L->row_start[i];
    int64_t at = from + 1;
    bool ascend = true;
    L->row[from] = (int32_t)i;
    L->value[from] = 0.0;
    for (int64_t k = A->ptr[old]; k < A->ptr[old + 1]; k++) {
        const int32_t j = now_of(L, A->col[k]);
        if (j == i) L->value[from] = A->value[k] * (1.0 + L->info.shift);
        if (j <= i) continue;
        ascend = ascend && j > L->row[at - 1];
        L->row[at] = j;
        if (L->upper) L->upper[at] = A->value[k];
        L->value[at++] = A->mirror[k];
    }
    if (L->upper) L->upper[from] = L->value[from];
    if (!ascend) sort_column(L, from + 1, at);
}

static void load_range(void *work, int64_t from, int64_t to)
{
    const filling *f = work;
    for (int64_t i = from; i < to; i++) load_column(f->L, f->A, i);
}

static void load(tacit_factor *L, const tct_entries *A)
{
    tct_parallel(A->rows, TCT_SHORT, load_range, &(filling){L, A});
}

/* --- values --------------------------------------------------------------- */

/* The first of entries [at, end), sorted by row, with a row >= `row`, by
 * galloping and then binary search. */
static int64_t find_row(const tacit_factor *L, int64_t at, int64_t end,
                        int32_t row)
{
    int64_t step = 1;
    for (; step <= end - at && L->row[at + step - 1] < row; step *= 2)
        at += step;
    int64_t high = step <= end - at ? at + step - 1 : end;
    while (at < high) {
        const int64_t mid = at + (high - at) / 2;
        if (L->row[mid] < row) at = mid + 1;
        else high = mid;
    }
    return at;
}

/* As take_off if column k is much longer than column j, such as that of a dense
 * row: the rows of column j are searched in it. */
static void take_by_search(const tacit_factor *L, int64_t j, int32_t k,
                           int64_t at, progress *p)
{
    const double *u = L->upper ? L->upper : L->value;
    const double l_jk = L->value[at], u_kj = u[at];
    const int64_t last = L->row_start[k + 1], from = L->row_start[j];
    for (int64_t to = from; to < L->row_start[j + 1]; to++) {
        at = find_row(L, at, last, L->row[to]);
        if (at == last) break;
        if (L->row[at] != L->row[to]) continue;
        p->value[LACKS + to - from] -= L->value[at] * u_kj;
        if (L->upper) p->upper[LACKS + to - from] -= L->upper[at] * l_jk;
        p->updates++;
    }
}

/* to[place[row]] -= `by` times n entries of a column; returns how many of these
 * rows the current column has. */
static int64_t subtract(int64_t n, const int32_t *row, const double *column,
                        double by, const int32_t *place, double *to)
{
    int64_t count = 0;
    for (int64_t e = 0; e < n; e++) {
        const int32_t position = place[row[e]];
        to[position] -= column[e] * by;
        count += position >= LACKS;
    }
    return count;
}

/* Update column j by column k, whose entry of row j is `at`. */
static void take_off(const tacit_factor *L, int32_t k, int64_t at, progress *p)
{
    const double *u = L->upper ? L->upper : L->value;
    const double l_jk = L->value[at], u_kj = u[at];
    const int64_t n = L->row_start[k + 1] - at;
    p->updates +=
        subtract(n, L->row + at, L->value + at, u_kj, p->place, p->value);
    if (L->upper)
        subtract(n, L->row + at, L->upper + at, l_jk, p->place, p->upper);
}

/* Column j into the scratch, or back. */
static void begin_column(const tacit_factor *L, int64_t j, progress *p)
{
    const int64_t from = L->row_start[j], n = L->row_start[j + 1] - from;
    for (int64_t e = 0; e < n; e++) {
        p->place[L->row[from + e]] = (int32_t)(LACKS + e);
        p->value[LACKS + e] = L->value[from + e];
        if (L->upper) p->upper[LACKS + e] = L->upper[from + e];
    }
}

static void end_column(tacit_factor *L, int64_t j, progress *p)
{
    const int64_t from = L->row_start[j], n = L->row_start[j + 1] - from;
    for (int64_t e = 0; e < n; e++) {
        p->place[L->row[from + e]] = L->row[from + e] % LACKS;
        L->value[from + e] = p->value[LACKS + e];
        if (L->upper) L->upper[from + e] = p->upper[LACKS + e];
    }
}

/* Finish the pivot at the head of column j; false: it fails. `weight` is the
 * magnitude of the terms subtracted from `diagonal`. */
static bool divide(tacit_factor *L, int64_t j, double diagonal, double weight)
{
    static const double LEAST = 1e-8; /* relative to the diagonal */
    const int64_t from = L->row_start[j], to = L->row_start[j + 1];
    const double pivot = L->value[from];
    if (!L->upper) {
        if (!(pivot > LEAST * diagonal) || !isfinite(pivot)) return false;
        L->value[from] = sqrt(pivot);
        L->inverse[j] = 1.0 / L->value[from];
        for (int64_t e = from + 1; e < to; e++) L->value[e] *= L->inverse[j];
        return true;
    }
    if (!tct_divides(pivot) || fabs(pivot) < TCT_PIVOT_LEAST * weight)
        return false;
    tct_note_pivot(L, j, pivot, weight);
    L->upper[from] = pivot;
    L->value[from] = 1.0;
    L->inverse[j] = 1.0 / pivot;
    for (int64_t e = from + 1; e < to; e++) L->value[e] *= L->inverse[j];
    return true;
}

/* The entry of row j in column k, which advances past it; -1: none, the entry
 * of A is on one side of the diagonal only. */
static int64_t next_of(const tacit_factor *L, progress *p, int32_t k, int64_t j)
{
    const int64_t end = L->row_start[k + 1];
    int64_t at = p->next[k];
    while (at < end && L->row[at] < j) at++;
    const bool found = at < end && L->row[at] == j;
    p->next[k] = at + found;
    return found ? at : -1;
}

/* Compute column j; false: the pivot fails. Longer columns are scanned, much
 * longer ones searched. */
enum { MUCH = 16 };
static bool find_column(tacit_factor *L, const tct_entries *A, int64_t j,
                        progress *p, double *weight)
{
    const double *u = L->upper ? L->upper : L->value;
    const int64_t from = L->row_start[j], to = L->row_start[j + 1];
    const double diagonal = L->value[from];
    const int32_t old = L->order.old[j];
    *weight = 0.0;
    begin_column(L, j, p);
    for (int64_t i = A->ptr[old]; i < A->ptr[old + 1]; i++) {
        const int32_t k = now_of(L, A->col[i]);
        if (k >= j) continue;
        const int64_t at = next_of(L, p, k, j);
        if (at < 0) continue;
        *weight += fabs(L->value[at] * u[at]);
        if (L->row_start[k + 1] - at > MUCH * (to - from))
            take_by_search(L, j, k, at, p);
        else take_off(L, k, at, p);
    }
    end_column(L, j, p);
    return divide(L, j, diagonal, *weight);
}

/* Compute all columns; returns the first failed pivot's column, with its
 * `weight`, or `rows`. */
static int64_t find_values(tacit_factor *L, const tct_entries *A, progress *p,
                           double *weight)
{
    for (int64_t j = 0; j < A->rows; j++) {
        p->place[j] = (int32_t)(j % LACKS);
        p->next[j] = L->row_start[j] + 1;
    }
    memset(p->value, 0, LACKS * sizeof *p->value);
    if (p->upper) memset(p->upper, 0, LACKS * sizeof *p->upper);
    p->updates = 0;
    for (int64_t j = 0; j < A->rows; j++)
        if (!find_column(L, A, j, p, weight)) return j;
    return A->rows;
}

/* Use the smallest shift of 0, 1e-3, 2e-3, 4e-3, ... with positive pivots; this
 * ends, since a diagonally dominant matrix has them. */
static tacit_status find_with_shift(tacit_factor *L, const tct_entries *A,
                                    progress *p, int64_t *failed)
{
    double *shift = &L->info.shift, weight = 0.0;
    for (;;) {
        const int64_t bad = find_values(L, A, p, &weight);
        L->info.flops = (double)(L->row_start[A->rows] - A->rows) +
                        (L->upper ? 4.0 : 2.0) * (double)p->updates;
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
        load(L, A);
    }
    if (*shift > 0.0)
        tct_log(TCT_NOTE,
                "factor ic0: the diagonal is taken %g times as large, so that "
                "all pivots are positive",
                1.0 + *shift);
    tct_warn_of_pivots(L);
    return TACIT_OK;
}

/* --- creation ------------------------------------------------------------- */

/* Columns of tree node `node`, from `start`. */
typedef struct {
    tacit_factor *L;
    int64_t start;
    int32_t node;
} naming;

static void name_range(void *work, int64_t from, int64_t to)
{
    const naming *x = work;
    tacit_factor *L = x->L;
    for (int64_t j = x->start + from; j < x->start + to; j++) {
        const bool last = L->row_start[j + 1] - L->row_start[j] == 1;
        L->first[j] = j;
        L->parent[j] = last ? -1 : L->row[L->row_start[j] + 1];
        L->node[j] = x->node;
    }
}

static int64_t most_below(const void *of, int64_t from, int64_t to)
{
    const tacit_factor *L = of;
    int64_t most = 0;
    for (int64_t j = from; j < to; j++) {
        const int64_t below = L->row_start[j + 1] - L->row_start[j] - 1;
        if (below > most) most = below;
    }
    return most;
}

/* Set parents, tree nodes and row counts. */
static void describe(tacit_factor *L, int32_t levels)
{
    const int64_t n = L->info.rows;
    tacit_factor_info *info = &L->info;
    for (int k = 0; k < 2 * L->order.leaves - 1; k++)
        tct_parallel(L->order.start[k + 1] - L->order.start[k], TCT_SHORT,
                     name_range,
                     &(naming){L, L->order.start[k], L->order.node[k]});
    L->most = n > 0 ? tct_parallel_max(n, TCT_SHORT, most_below, L) : 0;
    L->first[n] = n;
    info->depth = levels;
    info->nonzeros = L->row_start[n];
    info->stored = L->row_start[n] * (L->upper ? 2 : 1);
    info->supernodes = info->panels = (int32_t)n;
    info->leaves = L->order.leaves;
    info->bytes = info->peak_bytes = 8.0 * (double)info->stored +
                                     4.0 * (double)L->row_start[n] +
                                     48.0 * (double)n;
    info->dense = tct_dense_own.name;
}

static bool are_in_place(const void *of, int64_t from, int64_t to)
{
    const tacit_factor *L = of;
    for (int64_t j = from; j < to; j++)
        if (L->order.old[j] != j) return false;
    return true;
}

static tacit_status open_arrays(tacit_factor *L, int64_t n)
{
    TRY(TCT_ALLOC(n + 1, what, &L->first));
    TRY(TCT_ALLOC(n + 1, what, &L->row_start));
    TRY(TCT_ALLOC(n, what, &L->parent));
    TRY(TCT_ALLOC(n, what, &L->node));
    return TCT_ALLOC(n, what, &L->inverse);
}

static void clear_range(void *work, int64_t from, int64_t to)
{
    int32_t *place = work;
    for (int64_t i = from; i < to; i++) place[i] = 0;
}

static tacit_status build(tacit_factor *L, const tct_entries *A,
                          tct_rows_order order, int leaves, progress *p,
                          int64_t *failed)
{
    const tct_graph g = {A->rows, A->ptr, A->col};
    const double start = tct_seconds();
    TRY(tct_nesting_by(&g, order, leaves, &L->order));
    L->in_place =
        A->rows > 0 && tct_parallel_all(A->rows, TCT_SHORT, are_in_place, L);
    const double ordered = tct_seconds();
    TRY(open_arrays(L, A->rows));
    TRY(count_rows(L, A));
    TRY(TCT_ALLOC(L->row_start[A->rows], what, &L->value));
    if (tct_has_upper(L->panels.kind))
        TRY(TCT_ALLOC(L->row_start[A->rows], what, &L->upper));
    load(L, A);
    tct_parallel(A->rows, TCT_SHORT, clear_range, p->place);
    describe(
        L, tct_levels_find(A->rows, L->row_start, L->row, 1, false, p->place));
    const double found = tct_seconds();
    TRY(TCT_ALLOC(LACKS + L->most + 1, what, &p->value));
    if (L->upper) TRY(TCT_ALLOC(LACKS + L->most + 1, what, &p->upper));
    TRY(find_with_shift(L, A, p, failed));
    L->info.order_seconds = ordered - start;
    L->info.symbolic_seconds = found - ordered;
    L->info.numeric_seconds = tct_seconds() - found;
    tct_factor_show(L);
    return TACIT_OK;
}

/* Half of the entries, once or twice, and the rows. */
static tacit_status predict(const tct_entries *A, tacit_factor_kind kind)
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
    progress p = {.place = NULL};
    int64_t none = -1;
    if (!failed) failed = &none;
    *failed = -1;
    TRY(tct_rows_order_find(order, TCT_ORDER_TOP_ND, &found));
    TRY(tct_check_leaves(leaves));
    TRY(predict(A, kind));
    tacit_factor *L = tct_calloc(sizeof *L);
    if (!L) FAIL(TACIT_NO_MEMORY, "no memory for a factor");
    L->panels.kind = kind;
    L->info.rows = A->rows;
    L->info.order = tct_rows_orders[found];
    tacit_status status = TCT_ALLOC(A->rows, what, &p.place);
    if (status >= 0) status = TCT_ALLOC(A->rows, what, &p.next);
    if (status >= 0) status = build(L, A, found, leaves, &p, failed);
    TCT_FREE(p.place, p.next, p.value, p.upper);
    if (status < 0) tacit_factor_destroy(&L);
    else *out = L;
    return status;
}
