/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/fix.c - unknowns whose values are known: their rows and columns become
 * those of d I, and the right-hand side takes what the columns contributed.
 *
 * Each rank has a table of its rows: the value of a fixed row, or a number that
 * no value can be. Columns of other ranks ask for it as those of a partition
 * do. Matrix and b change only when every rank has all that it needs. */
#include "comm/setup/alltoall.h"
#include "device/parallel.h"
#include "matrix/ask_columns.h"
#include "matrix/renumber.h"
#include <inttypes.h>
#include <math.h>

/* A row to fix, and the value of its x. */
typedef struct {
    int64_t row; /* current number, when it is sent */
    double value;
} fixed_row;

typedef struct {
    tacit_matrix *m;
    int64_t count;
    const int64_t *rows;  /* [count] original numbers */
    const double *values; /* [count] or NULL */
    double *b;
    double *known;  /* [A.rows] the value of a fixed row; NAN: free         */
    double *change; /* [A.rows] what b of a free row loses                  */
    bool *gone;     /* [entries] in the column of a fixed row               */
    double diagonal;
} fixing;

static double value_of(const fixing *f, int64_t k)
{
    return f->values ? f->values[k] : 0.0;
}

static bool is_fixed(const fixing *f, int64_t i)
{
    return !isnan(f->known[i]);
}

/* --- the rows that are named ---------------------------------------------- */

static tacit_status check_named(const fixing *f)
{
    const int64_t n = f->m->A.global_rows;
    if (f->count < 0 || (f->count > 0 && !f->rows))
        FAIL(TACIT_INVALID,
             "tacit_matrix_fix: a count of %" PRId64
             " and rows that are %s: expected the numbers of so many rows",
             f->count, f->rows ? "given" : "NULL");
    for (int64_t k = 0; k < f->count; k++) {
        if (f->rows[k] < 0 || f->rows[k] >= n)
            FAIL(TACIT_INVALID,
                 "tacit_matrix_fix: rows[%" PRId64 "] is %" PRId64
                 ": expected 0 to %" PRId64,
                 k, f->rows[k], n - 1);
        if (!isfinite(value_of(f, k)))
            FAIL(TACIT_INVALID,
                 "tacit_matrix_fix: the value of x[%" PRId64
                 "] is %g, which is not finite",
                 f->rows[k], value_of(f, k));
    }
    return TACIT_OK;
}

/* Note a value for this rank's row. */
static tacit_status note(fixing *f, const fixed_row *r)
{
    const int64_t i = r->row - f->m->A.first;
    if (is_fixed(f, i) && f->known[i] != r->value)
        FAIL(TACIT_INVALID,
             "tacit_matrix_fix: x[%" PRId64
             "] is fixed to %.12g and to %.12g: give it one value",
             tct_original(f->m, i), f->known[i], r->value);
    f->known[i] = r->value;
    return TACIT_OK;
}

/* Send the rows from `from` on that fit in a round to their owners. */
static tacit_status name_some(fixing *f, tct_alltoall *a, const int64_t *rows,
                              int64_t from, int64_t end)
{
    const tacit_matrix *m = f->m;
    const int size = m->world->size;
    tct_alltoall_begin(a);
    for (int64_t k = from; k < end; k++)
        a->to[tct_owner(m->starts, size, rows[k])]++;
    tct_alltoall_address(a);
    for (int64_t k = from; k < end; k++) {
        fixed_row *r =
            tct_alltoall_slot(a, tct_owner(m->starts, size, rows[k]));
        *r = (fixed_row){rows[k], value_of(f, k)};
    }
    TRY(tct_alltoall_send(a));
    const fixed_row *in = (const fixed_row *)(const void *)a->in;
    tacit_status status = TACIT_OK;
    for (int64_t k = 0; k < a->received && status >= 0; k++)
        status = note(f, &in[k]);
    return tct_agree(m->world, status);
}

static tacit_status name_all(fixing *f, const int64_t *rows)
{
    tct_alltoall a;
    int64_t at = 0;
    tacit_status status =
        tct_alltoall_open(&a, f->m->world, sizeof(fixed_row), f->count);
    for (bool more = true; more && status >= 0;) {
        const int64_t left = f->count - at;
        const int64_t end = at + (left < a.room ? left : a.room);
        status = name_some(f, &a, rows, at, end);
        at = end;
        if (status >= 0) status = tct_any(f->m->world, at < f->count, &more);
    }
    tct_alltoall_close(&a);
    return status;
}

/* The table of this rank's rows. Collective. */
static tacit_status find_fixed(fixing *f)
{
    int64_t *rows = NULL;
    tacit_status status =
        tct_agree(f->m->world, TCT_ALLOC(f->count, "the fixed rows", &rows));
    for (int64_t k = 0; status >= 0 && k < f->count; k++) rows[k] = f->rows[k];
    if (status >= 0) status = tct_current_numbers(f->m, f->count, rows);
    if (status >= 0) status = name_all(f, rows);
    tct_free(rows);
    return status;
}

static tacit_status require_b(const fixing *f)
{
    for (int64_t i = 0; i < f->m->A.rows && !f->b; i++)
        if (is_fixed(f, i) && f->known[i] != 0.0)
            FAIL(TACIT_INVALID,
                 "tacit_matrix_fix: x[%" PRId64
                 "] is fixed to %g, which changes b: give b",
                 tct_original(f->m, i), f->known[i]);
    return TACIT_OK;
}

/* --- rows and columns ----------------------------------------------------- */

/* The diagonal of fixed rows. Collective. */
static tacit_status choose_diagonal(fixing *f)
{
    const tct_csr *A = &f->m->A;
    for (int64_t i = 0; i < A->rows; i++)
        if (!is_fixed(f, i))
            f->diagonal = fmax(f->diagonal, fabs(tct_csr_diagonal(A, i)));
    TRY(tct_reduce_f64(f->m->world, TCT_MAX, 1, &f->diagonal));
    if (f->diagonal == 0.0) f->diagonal = 1.0;
    return TACIT_OK;
}

/* Note which of the entries [from, to) are in the column of a fixed row: `of`
 * are the values there; `*row` is the row of `from`. */
static void collect(fixing *f, int64_t from, int64_t to, const int64_t *of,
                    int64_t *row)
{
    const tct_csr *A = &f->m->A;
    for (int64_t k = from; k < to; k++) {
        double g;
        memcpy(&g, &of[k - from], sizeof g);
        while (A->ptr[*row + 1] <= k) ++*row;
        f->gone[k] = !isnan(g);
        if (f->gone[k]) f->change[*row] += A->val[k] * g;
    }
}

/* Ask for the values in all columns, in batches. Collective. */
static tacit_status ask_all(fixing *f, int64_t *of, int64_t *scratch)
{
    const tacit_matrix *m = f->m;
    const int64_t nonzeros = tct_csr_nonzeros(&m->A);
    int64_t from = 0, row = 0;
    const int64_t *table = (const int64_t *)(const void *)f->known;
    for (bool more = true; more;) {
        const int64_t left = nonzeros - from;
        const int64_t to =
            from + (left < TCT_COLUMN_BATCH ? left : TCT_COLUMN_BATCH);
        TRY(tct_ask_columns(m, from, to, table, of, scratch));
        collect(f, from, to, of, &row);
        from = to;
        TRY(tct_any(m->world, from < nonzeros, &more));
    }
    return TACIT_OK;
}

static tacit_status find_columns(fixing *f)
{
    const int64_t nonzeros = tct_csr_nonzeros(&f->m->A);
    const int64_t batch =
        nonzeros < TCT_COLUMN_BATCH ? nonzeros : TCT_COLUMN_BATCH;
    int64_t *of = NULL, *scratch = NULL;
    tacit_status status = TCT_ALLOC(batch, "the fixed columns", &of);
    if (status >= 0) status = TCT_ALLOC(batch, "the fixed columns", &scratch);
    if (status >= 0) status = TCT_ALLOC(nonzeros, "fixed entries", &f->gone);
    status = tct_agree(f->m->world, status);
    if (status >= 0) status = ask_all(f, of, scratch);
    TCT_FREE(of, scratch);
    return status;
}

/* --- the change ----------------------------------------------------------- */

static bool lacks_diagonal(const fixing *f, int64_t i)
{
    const tct_csr *A = &f->m->A;
    return is_fixed(f, i) && tct_csr_find(A, i, A->first + i) < 0;
}

/* Room for the rows with the diagonal entries that fixed rows lack; `B` stays
 * empty if they lack none, and the rows are this matrix's own then. */
static tacit_status make_room(fixing *f, tct_csr *B)
{
    tct_csr *A = &f->m->A;
    int64_t missing = 0;
    for (int64_t i = 0; i < A->rows; i++) missing += lacks_diagonal(f, i);
    if (missing == 0) return tct_csr_own(A);
    TRY(tct_csr_rows(B, A->global_rows, A->global_cols, A->first, A->rows));
    return tct_csr_entries(B, tct_csr_nonzeros(A) + missing);
}

/* The new value of entry `k`, of row `i`. */
static double changed(const fixing *f, int64_t i, int64_t k)
{
    const tct_csr *A = &f->m->A;
    if (!is_fixed(f, i)) return f->gone[k] ? 0.0 : A->val[k];
    return tct_csr_col(A, k) == A->first + i ? f->diagonal : 0.0;
}

static void append(tct_csr *B, int64_t *at, int64_t col, double val)
{
    tct_csr_set_col(B, *at, col);
    B->val[(*at)++] = val;
}

/* Row `i` into `B`, with a diagonal entry if it is fixed. */
static void fill_row(const fixing *f, int64_t i, tct_csr *B, int64_t *at)
{
    const tct_csr *A = &f->m->A;
    const int64_t self = A->first + i;
    bool lacks = lacks_diagonal(f, i);
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        if (lacks && tct_csr_col(A, k) > self) {
            append(B, at, self, f->diagonal);
            lacks = false;
        }
        append(B, at, tct_csr_col(A, k), changed(f, i, k));
    }
    if (lacks) append(B, at, self, f->diagonal);
    B->ptr[i + 1] = *at;
}

static void change_rows(fixing *f, tct_csr *B)
{
    tct_csr *A = &f->m->A;
    int64_t at = 0;
    for (int64_t i = 0; i < A->rows && B->ptr; i++) fill_row(f, i, B, &at);
    for (int64_t i = 0; i < A->rows && !B->ptr; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            A->val[k] = changed(f, i, k);
    if (!B->ptr) return;
    tct_csr_clear(A);
    *A = *B;
    *B = (tct_csr){0};
}

static double changed_b(const fixing *f, int64_t i)
{
    return is_fixed(f, i) ? f->diagonal * f->known[i] : f->b[i] - f->change[i];
}

static tacit_status require_finite(const fixing *f)
{
    for (int64_t i = 0; i < f->m->A.rows && f->b; i++)
        if (!isfinite(changed_b(f, i)))
            FAIL(TACIT_INVALID,
                 "tacit_matrix_fix: b of row %" PRId64
                 " would be %g, from %g and the values of fixed rows",
                 tct_original(f->m, i) + 1, changed_b(f, i), f->b[i]);
    return TACIT_OK;
}

static void change_b(const fixing *f)
{
    for (int64_t i = 0; i < f->m->A.rows && f->b; i++)
        f->b[i] = changed_b(f, i);
}

static tacit_status change(fixing *f)
{
    tct_csr B = {0};
    tacit_matrix *m = f->m;
    tacit_status status = tct_agree(m->world, make_room(f, &B));
    int64_t nonzeros = tct_csr_nonzeros(&m->A);
    for (int64_t i = 0; status >= 0 && B.ptr && i < m->A.rows; i++)
        nonzeros += lacks_diagonal(f, i);
    if (status >= 0) status = tct_reduce_i64(m->world, TCT_SUM, 1, &nonzeros);
    if (status >= 0) {
        m->nonzeros = nonzeros;
        change_rows(f, &B);
        change_b(f);
    }
    tct_csr_clear(&B);
    return status;
}

/* --- the call ------------------------------------------------------------- */

static tacit_status open_tables(fixing *f)
{
    const int64_t n = f->m->A.rows;
    TRY(TCT_ALLOC(n, "the fixed rows", &f->known));
    TRY(TCT_ALLOC(n, "the fixed rows", &f->change));
    for (int64_t i = 0; i < n; i++) {
        f->known[i] = NAN;
        f->change[i] = 0.0;
    }
    return TACIT_OK;
}

static tacit_status fix(fixing *f)
{
    tacit_world *w = f->m->world;
    tacit_status status = check_named(f);
    if (status >= 0) status = open_tables(f);
    TRY(tct_agree(w, status));
    TRY(find_fixed(f));
    TRY(tct_agree(w, require_b(f)));
    TRY(choose_diagonal(f));
    TRY(find_columns(f));
    TRY(tct_agree(w, require_finite(f)));
    return change(f);
}

tacit_status tacit_matrix_fix(tacit_matrix *matrix, int64_t count,
                              const int64_t *rows, const double *values,
                              double *b)
{
    REQUIRE(matrix != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    TRY(tct_matrix_require_entries(matrix));
    if (matrix->A.global_rows != matrix->A.global_cols)
        FAIL(TACIT_INVALID,
             "tacit_matrix_fix: not square, %" PRId64 " rows and %" PRId64
             " columns",
             matrix->A.global_rows, matrix->A.global_cols);
    fixing f = {
        .m = matrix, .count = count, .rows = rows, .values = values, .b = b};
    const tacit_status status = fix(&f);
    TCT_FREE(f.known, f.change, f.gone);
    return status;
}
