/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/import.c - a factor from its columns: checks, supernodes,
 * values. */
#include "factor/import/adapters.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const what = "an imported factor";

/* A lower triangle by columns, diagonal first: L, U', or their union. */
typedef struct {
    const int64_t *ptr;
    const int32_t *row;
    const double *value;
} triangle;

/* Checked input. */
typedef struct {
    const char *name;
    int base;
    int64_t rows;
    triangle T;
    bool upper, ones;
} checked;

typedef struct {
    tacit_factor_columns C;
    tct_import_names names;
    triangle L, U, both; /* `both`: the union, may be L                    */
    int64_t *upper_ptr, *both_ptr;
    int32_t *upper_row, *both_row; /* owned arrays of U and both           */
    double *upper_value;
    tct_fronts F;
} import;

/* --- checks --------------------------------------------------------------- */

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
    if (tct_has_upper(C->kind) ? !has_upper : any_upper)
        FAIL(TACIT_INVALID, "an imported factor: the three arrays of U are for "
                            "kinds LU and ILU0, which have them");
    if ((C->kind == TACIT_FACTOR_LDLT) != (C->diagonal != NULL))
        FAIL(TACIT_INVALID, "an imported factor: `diagonal` is for kind LDLT, "
                            "which has it");
    return TACIT_OK;
}

/* The error at row `i` (unless negative), column `j`. */
static tacit_status wrong(const checked *c, int64_t i, int64_t j,
                          const char *how)
{
    if (i < 0)
        FAIL(TACIT_INPUT, "%s: column %" PRId64 "%s", c->name, j + c->base,
             how);
    FAIL(TACIT_INPUT, "%s: row %" PRId64 ", column %" PRId64 "%s", c->name,
         i + c->base, j + c->base, how);
}

static tacit_status wrong_value(const checked *c, int64_t i, int64_t j,
                                double value, const char *how)
{
    char text[80];
    snprintf(text, sizeof text, " is %g%s", value, how);
    return wrong(c, i, j, text);
}

static tacit_status check_starts(const checked *c)
{
    char text[80];
    if (c->T.ptr[0] != 0)
        FAIL(TACIT_INPUT, "%s: its columns must start at 0, not %" PRId64,
             c->name, c->T.ptr[0]);
    for (int64_t j = 0; j < c->rows; j++) {
        if (c->T.ptr[j + 1] >= c->T.ptr[j]) continue;
        snprintf(text, sizeof text,
                 " ends at %" PRId64 ", before it starts, %" PRId64,
                 c->T.ptr[j + 1], c->T.ptr[j]);
        return wrong(c, -1, j, text);
    }
    return TACIT_OK;
}

/* Check entry `k` of column `j`, after row `before`. */
static tacit_status check_entry(const checked *c, int64_t j, int64_t k,
                                int64_t before)
{
    const int64_t i = c->T.row[k];
    char text[80];
    if (i < 0 || i >= c->rows) {
        snprintf(text, sizeof text,
                 ": row %" PRId64 " is out of range, %d to %" PRId64,
                 i + c->base, c->base, c->rows - 1 + c->base);
        return wrong(c, -1, j, text);
    }
    if (i <= before) {
        snprintf(text, sizeof text,
                 ": row %" PRId64 " comes after row %" PRId64
                 ", they must ascend",
                 i + c->base, before + c->base);
        return wrong(c, -1, j, text);
    }
    if (c->upper ? i > j : i < j)
        return wrong(c, i, j,
                     c->upper ? " is below the diagonal: the upper triangle is "
                                "wanted"
                              : " is above the diagonal: the lower triangle is "
                                "wanted");
    if (!isfinite(c->T.value[k]))
        return wrong_value(c, i, j, c->T.value[k], "");
    return TACIT_OK;
}

static tacit_status check_triangle(const checked *c)
{
    TRY(check_starts(c));
    for (int64_t j = 0; j < c->rows; j++) {
        const int64_t from = c->T.ptr[j], to = c->T.ptr[j + 1];
        for (int64_t k = from; k < to; k++)
            TRY(check_entry(c, j, k, k > from ? c->T.row[k - 1] : -1));
        const int64_t d = c->upper ? to - 1 : from;
        if (from == to || c->T.row[d] != j)
            return wrong(c, j, j, ": the diagonal is missing");
        if (c->T.value[d] == 0.0)
            return wrong(c, j, j, " is 0, on the diagonal");
        if (c->ones && c->T.value[d] != 1.0)
            return wrong_value(c, j, j, c->T.value[d],
                               ", and of L D L' it is 1");
    }
    return TACIT_OK;
}

static tacit_status check_triangles(const import *m)
{
    const tacit_factor_columns *C = &m->C;
    const checked L = {.name = m->names.lower,
                       .base = m->names.base,
                       .rows = C->rows,
                       .T = m->L,
                       .ones = C->diagonal != NULL};
    const checked U = {.name = m->names.upper,
                       .base = m->names.base,
                       .rows = C->rows,
                       .T = {C->upper_ptr, C->upper_row, C->upper_value},
                       .upper = true};
    TRY(check_triangle(&L));
    if (tct_has_upper(C->kind)) TRY(check_triangle(&U));
    for (int64_t j = 0; C->diagonal && j < C->rows; j++)
        if (!isfinite(C->diagonal[j]) || C->diagonal[j] == 0.0)
            FAIL(TACIT_INPUT, "%s: row %" PRId64 " is %g", m->names.diagonal,
                 j + m->names.base, C->diagonal[j]);
    return TACIT_OK;
}

/* --- U' and the union ----------------------------------------------------- */

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

/* --- supernodes ----------------------------------------------------------- */

/* Columns [first, end) of a supernode; the rows below are those of the last
 * column. */
typedef struct {
    int64_t first, end;
    double entries;
} group;

static int64_t count_of(const triangle *T, int64_t j)
{
    return T->ptr[j + 1] - T->ptr[j];
}

/* The longest group of columns before `end` with the same rows. */
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

/* Does column end - 1 have all rows of column `j` from `end` on? */
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

/* Merge `g` into the following group `next` if its first row below is in
 * `next`, `next` has its other rows, and few zeros are added. */
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

/* --- creation ------------------------------------------------------------- */

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
    const bool lu = tct_has_upper(m->C.kind);
    TRY(check_arrays(m));
    TRY(check_triangles(m));
    if (lu) TRY(transpose_upper(m));
    if (lu) TRY(unite(m));
    TRY(find_fronts(m));
    TRY(tct_import_begin(&m->F, m->C.kind, m->C.original, options, out));
    put(*out, &m->F, &m->L, (*out)->value);
    if (lu) put(*out, &m->F, &m->U, (*out)->upper);
    if (m->C.diagonal)
        memcpy((*out)->diagonal, m->C.diagonal,
               (size_t)m->C.rows * sizeof(double));
    return tct_import_end(out);
}

tacit_status tct_import(const tacit_factor_columns *columns,
                        const tct_import_names *names,
                        const tacit_factor_options *options, tacit_factor **out)
{
import m = {.names = * names };
    tacit_factor *L = NULL;
    TRY(tct_read_sized("tacit_factor_columns", columns, &m.C, sizeof m.C));
    m.L = m.both = (triangle){m.C.ptr, m.C.row, m.C.value};
    const tacit_status status = build(&m, options, &L);
    tct_fronts_clear(&m.F);
    TCT_FREE(m.upper_ptr, m.both_ptr, m.upper_row, m.both_row, m.upper_value);
    if (status >= 0) *out = L;
    return status;
}

tacit_status tacit_factor_import(const tacit_factor_columns *columns,
                                 const tacit_factor_options *options,
                                 tacit_factor **out)
{
    static const tct_import_names names = {"L", "U", "D", 0};
    REQUIRE(columns != NULL, out != NULL);
    return tct_import(columns, &names, options, out);
}

const char *tacit_foreign_missing(const char *library)
{
    if (!library) return NULL;
    if (strcmp(library, "cholmod") == 0) return TCT_CHOLMOD_MISSING;
    if (strcmp(library, "superlu_dist") == 0) return TCT_SUPERLU_DIST_MISSING;
    return NULL;
}
