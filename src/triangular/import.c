/* SPDX-License-Identifier: BSD-3-Clause
 * triangular/import.c - a factor from its columns: checks, supernodes, values. */
#include "triangular/adapters.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "an imported factor";

/* A lower triangle by columns, its diagonal first: L, U', or what both have. */
typedef struct {
    const int64_t *ptr;
    const int32_t *row;
    const double *value;
} triangle;

typedef struct {
    tacit_factor_columns C;
    triangle L, U, both; /* `both` may be L                                */
    int64_t *upper_ptr, *both_ptr;
    int32_t *upper_row, *both_row; /* what was made for U and both         */
    double *upper_value;
    tct_fronts F;
} import;

/* --- checks ---------------------------------------------------------------------- */

static bool is_lu(const import *m)
{
    return m->C.kind == TACIT_FACTOR_LU || m->C.kind == TACIT_FACTOR_ILU0;
}

static tacit_status check_arrays(const import *m)
{
    const tacit_factor_columns *C = &m->C;
    if (C->rows < 0 || C->rows > INT32_MAX)
        FAIL(TACIT_INVALID,
             "an imported factor: expected 0 to 2^31 - 1 rows, got %" PRId64,
             C->rows);
    if ((int)C->kind < 0 || C->kind > TACIT_FACTOR_ILU0)
        FAIL(TACIT_INVALID, "an imported factor: there is no kind %d",
             (int)C->kind);
    if (!C->ptr || (C->rows > 0 && (!C->row || !C->value)))
        FAIL(TACIT_INVALID,
             "an imported factor: `ptr`, `row` or `value` is NULL");
    const bool has_upper = C->upper_ptr && C->upper_row && C->upper_value;
    const bool any_upper = C->upper_ptr || C->upper_row || C->upper_value;
    if (is_lu(m) ? !has_upper : any_upper)
        FAIL(TACIT_INVALID, "an imported factor: the three arrays of U are for "
                            "kinds LU and ILU0, which have them");
    if ((C->kind == TACIT_FACTOR_LDLT) != (C->diagonal != NULL))
        FAIL(TACIT_INVALID, "an imported factor: `diagonal` is for kind LDLT, "
                            "which has it");
    return TACIT_OK;
}

static tacit_status check_starts(const char *name, const int64_t *ptr,
                                 int64_t rows)
{
    if (ptr[0] != 0)
        FAIL(TACIT_INPUT, "%s: its columns must start at 0, not %" PRId64, name,
             ptr[0]);
    for (int64_t j = 0; j < rows; j++)
        if (ptr[j + 1] < ptr[j])
            FAIL(TACIT_INPUT,
                 "%s: column %" PRId64 " ends at %" PRId64
                 ", before it starts, %" PRId64,
                 name, j, ptr[j + 1], ptr[j]);
    return TACIT_OK;
}

/* Entry `k` of column `j`, after row `before`. */
static tacit_status check_entry(const char *name, const triangle *T,
                                int64_t rows, int64_t j, int64_t k,
                                int64_t before)
{
    const int32_t i = T->row[k];
    if (i < 0 || i >= rows)
        FAIL(TACIT_INPUT,
             "%s: column %" PRId64 ": row %" PRId32 " is out of range, 0 to "
             "%" PRId64,
             name, j, i, rows - 1);
    if (i <= before)
        FAIL(TACIT_INPUT,
             "%s: column %" PRId64 ": row %" PRId32 " comes after row %" PRId64
             ", they must ascend",
             name, j, i, before);
    if (!isfinite(T->value[k]))
        FAIL(TACIT_INPUT, "%s: row %" PRId32 ", column %" PRId64 " is %g", name,
             i, j, T->value[k]);
    return TACIT_OK;
}

/* All entries of column `j` on the side that they should be, and a diagonal. */
static tacit_status check_column(const char *name, const triangle *T,
                                 int64_t rows, int64_t j, bool upper)
{
    const int64_t from = T->ptr[j], to = T->ptr[j + 1];
    for (int64_t k = from; k < to; k++) {
        const int32_t i = T->row[k];
        TRY(check_entry(name, T, rows, j, k, k > from ? T->row[k - 1] : -1));
        if (upper ? i > j : i < j)
            FAIL(TACIT_INPUT,
                 "%s: row %" PRId32 ", column %" PRId64 " is %s the diagonal: "
                 "%s is wanted, transpose it",
                 name, i, j, upper ? "below" : "above",
                 upper ? "the upper triangle" : "the lower triangle");
    }
    const int64_t d = upper ? to - 1 : from;
    if (from == to || T->row[d] != j)
        FAIL(TACIT_INPUT,
             "%s: row %" PRId64 ", column %" PRId64 ": the diagonal is missing",
             name, j, j);
    if (T->value[d] == 0.0)
        FAIL(TACIT_INPUT,
             "%s: row %" PRId64 ", column %" PRId64 " is 0, on the diagonal",
             name, j, j);
    return TACIT_OK;
}

static tacit_status check_triangle(const char *name, const triangle *T,
                                   int64_t rows, bool upper)
{
    TRY(check_starts(name, T->ptr, rows));
    for (int64_t j = 0; j < rows; j++)
        TRY(check_column(name, T, rows, j, upper));
    return TACIT_OK;
}

static tacit_status check_diagonal(const import *m)
{
    const double *D = m->C.diagonal;
    for (int64_t j = 0; D && j < m->C.rows; j++) {
        const double one = m->L.value[m->L.ptr[j]];
        if (one != 1.0)
            FAIL(TACIT_INPUT,
                 "L: row %" PRId64 ", column %" PRId64
                 " is %g, and of L D L' it is 1",
                 j, j, one);
        if (!isfinite(D[j]) || D[j] == 0.0)
            FAIL(TACIT_INPUT, "D: row %" PRId64 " is %g", j, D[j]);
    }
    return TACIT_OK;
}

/* --- U' and what both have ------------------------------------------------------- */

static tacit_status transpose_upper(import *m)
{
    const int64_t n = m->C.rows, *ptr = m->C.upper_ptr;
    const int32_t *row = m->C.upper_row;
    TRY(TCT_ALLOC(n + 2, what, &m->upper_ptr));
    TRY(TCT_ALLOC(ptr[n], what, &m->upper_row));
    TRY(TCT_ALLOC(ptr[n], what, &m->upper_value));
    int64_t *at = m->upper_ptr;
    memset(at, 0, ((size_t)n + 2) * sizeof *at);
    for (int64_t k = 0; k < ptr[n]; k++) at[row[k] + 2]++;
    for (int64_t i = 0; i < n; i++) at[i + 2] += at[i + 1];
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
            const int64_t to = at[row[k] + 1]++;
            m->upper_row[to] = (int32_t)j;
            m->upper_value[to] = m->C.upper_value[k];
        }
    m->U = (triangle){at, m->upper_row, m->upper_value};
    return TACIT_OK;
}

static tacit_status unite(import *m)
{
    const int64_t n = m->C.rows;
    int64_t count = 0;
    TRY(TCT_ALLOC(n + 1, what, &m->both_ptr));
    TRY(TCT_ALLOC(m->L.ptr[n] + m->U.ptr[n], what, &m->both_row));
    m->both_ptr[0] = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t a = m->L.ptr[j], b = m->U.ptr[j];
        const int64_t a_end = m->L.ptr[j + 1], b_end = m->U.ptr[j + 1];
        while (a < a_end || b < b_end) {
            const int32_t i = a < a_end ? m->L.row[a] : INT32_MAX;
            const int32_t k = b < b_end ? m->U.row[b] : INT32_MAX;
            m->both_row[count++] = i < k ? i : k;
            a += i <= k;
            b += k <= i;
        }
        m->both_ptr[j + 1] = count;
    }
    m->both = (triangle){m->both_ptr, m->both_row, NULL};
    return TACIT_OK;
}

/* --- supernodes ------------------------------------------------------------------ */

/* Columns [first, end) that are stored as one; rows below are those of the last. */
typedef struct {
    int64_t first, end;
    double entries;
} group;

static int64_t count_of(const triangle *T, int64_t j)
{
    return T->ptr[j + 1] - T->ptr[j];
}

/* The columns before `end` with the same rows. */
static group alike(const triangle *T, int64_t end)
{
    group g = {end - 1, end, (double)count_of(T, end - 1)};
    for (; g.first > 0; g.first--) {
        const int64_t j = g.first, count = count_of(T, j);
        if (count_of(T, j - 1) != count + 1 ||
            memcmp(T->row + T->ptr[j - 1] + 1, T->row + T->ptr[j],
                   (size_t)count * sizeof *T->row) != 0)
            break;
        g.entries += (double)(count + 1);
    }
    return g;
}

/* Are the rows of column `j` from `end` on all rows of column end - 1? */
static bool has_rows_of(const triangle *T, int64_t j, int64_t end)
{
    int64_t a = T->ptr[j], b = T->ptr[end - 1];
    const int64_t a_end = T->ptr[j + 1], b_end = T->ptr[end];
    while (a < a_end && T->row[a] < end) a++;
    for (; a < a_end; a++, b++) {
        while (b < b_end && T->row[b] < T->row[a]) b++;
        if (b == b_end || T->row[b] != T->row[a]) return false;
    }
    return true;
}

/* Take `g`, which comes right before, into `next`, if its first row below is there,
 * `next` has the others, and little is lost. */
static bool merge(const triangle *T, const group *g, group *next)
{
    const int64_t last = g->end - 1, below = count_of(T, next->end - 1) - 1;
    const double w = (double)(next->end - g->first);
    const double stored = w * ((w + 1.0) / 2.0 + (double)below);
    const double entries = g->entries + next->entries;
    if (count_of(T, last) < 2 || T->row[T->ptr[last] + 1] >= next->end ||
        !tct_is_worth_merging(next->end - g->first, stored - entries, stored) ||
        !has_rows_of(T, last, next->end))
        return false;
    next->first = g->first;
    next->entries = entries;
    return true;
}

static tacit_status make_fronts(import *m, const group *all, int32_t count)
{
    const triangle *T = &m->both;
    tct_fronts *F = &m->F;
    F->rows = m->C.rows;
    F->count = count;
    F->nonzeros = m->L.ptr[F->rows];
    TRY(TCT_ALLOC(count + 1, what, &F->first));
    TRY(TCT_ALLOC(count + 1, what, &F->start));
    F->first[0] = F->start[0] = 0;
    for (int32_t f = 0; f < count; f++) {
        const int64_t end = all[count - 1 - f].end;
        F->first[f + 1] = end;
        F->start[f + 1] = F->start[f] + count_of(T, end - 1) - 1;
    }
    TRY(TCT_ALLOC(F->start[count], what, &F->below));
    for (int32_t f = 0; f < count; f++)
        memcpy(F->below + F->start[f], T->row + T->ptr[F->first[f + 1] - 1] + 1,
               (size_t)tct_front_below(F, f) * sizeof *F->below);
    return TACIT_OK;
}

static tacit_status find_fronts(import *m)
{
    group *all = NULL;
    int32_t count = 0;
    TRY(TCT_ALLOC(m->C.rows, what, &all));
    for (int64_t end = m->C.rows; end > 0;) {
        const group g = alike(&m->both, end);
        end = g.first;
        if (count == 0 || !merge(&m->both, &g, &all[count - 1]))
            all[count++] = g;
    }
    const tacit_status status = make_fronts(m, all, count);
    tct_free(all);
    return status;
}

/* --- all of it ------------------------------------------------------------------- */

static void put(const tacit_factor *L, const tct_fronts *F, const triangle *T,
                double *to)
{
    for (int32_t f = 0; f < F->count; f++)
        for (int64_t j = F->first[f]; j < F->first[f + 1]; j++)
            tct_import_put(L, to, f, j, count_of(T, j), T->row + T->ptr[j],
                           T->value + T->ptr[j]);
}

static tacit_status build(import *m, const tacit_factor_options *options,
                          tacit_factor **out)
{
    const int64_t n = m->C.rows;
    const triangle upper = {m->C.upper_ptr, m->C.upper_row, m->C.upper_value};
    TRY(check_arrays(m));
    TRY(check_triangle("L", &m->L, n, false));
    if (is_lu(m)) TRY(check_triangle("U", &upper, n, true));
    TRY(check_diagonal(m));
    if (is_lu(m)) TRY(transpose_upper(m));
    if (is_lu(m)) TRY(unite(m));
    TRY(find_fronts(m));
    TRY(tct_import_begin(&m->F, m->C.kind, m->C.original, options, out));
    put(*out, &m->F, &m->L, (*out)->value);
    if (is_lu(m)) put(*out, &m->F, &m->U, (*out)->upper);
    if (m->C.diagonal)
        memcpy((*out)->diagonal, m->C.diagonal, (size_t)n * sizeof(double));
    return tct_import_end(out);
}

tacit_status tacit_factor_import(const tacit_factor_columns *columns,
                                 const tacit_factor_options *options,
                                 tacit_factor **out)
{
    REQUIRE(columns != NULL && out != NULL);
import m = {.F = {.rows = 0 } };
    tacit_factor *L = NULL;
    TRY(tct_read_sized("tacit_factor_columns", columns, &m.C, sizeof m.C));
    m.L = m.both = (triangle){m.C.ptr, m.C.row, m.C.value};
    const tacit_status status = build(&m, options, &L);
    tct_fronts_clear(&m.F);
    TCT_FREE(m.upper_ptr, m.both_ptr, m.upper_row, m.both_row, m.upper_value);
    if (status >= 0) *out = L;
    return status;
}

const char *tacit_foreign_missing(const char *library)
{
    if (!library) return NULL;
    if (strcmp(library, "cholmod") == 0) return TCT_CHOLMOD_MISSING;
    if (strcmp(library, "superlu_dist") == 0) return TCT_SUPERLU_DIST_MISSING;
    return NULL;
}
