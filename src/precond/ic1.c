/* SPDX-License-Identifier: BSD-3-Clause
 * precond/ic1.c - M = (L L')^-1, L the incomplete Cholesky factor with fill of
 * level 1: places (i, j) for which some row k before both has entries (k, i)
 * and (k, j), in the operator's order [Gu78]. The places are added to A's
 * pattern as zeros, and the factor has that pattern.
 *
 * [Gu78] Gustafsson, "A class of first order factorization methods", BIT 18
 *        (1978). */
#include "precond/by_factor.h"

static const char *const what = "preconditioner ic1";

typedef struct {
    const tct_entries *A;
    /* Of each row of A the columns after it, ascending, and their values. */
    int64_t *start; /* [rows + 1] */
    int32_t *after;
    double *value;
    int64_t *at; /* [rows] how far they were read */
    /* Columns of the current row after it, first A's, and the last row that has
     * found a column. */
    int32_t *found, *mark; /* [rows] */
    int64_t count;
    /* The pattern to be made, whose columns need not ascend. */
    int64_t *ptr, *next; /* [rows + 1], [rows]: where row i goes on */
    int32_t *col;
    double *val;
} filling;

/* --- A's columns after each row ------------------------------------------- */

static void sum_up(int64_t n, int64_t *counts)
{
    for (int64_t i = 0; i < n; i++) counts[i + 1] += counts[i];
}

static void count_after(filling *f)
{
    const tct_entries *A = f->A;
    memset(f->start, 0, (size_t)(A->rows + 1) * sizeof *f->start);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++)
            if (A->col[e] < i) f->start[A->col[e] + 1]++;
    sum_up(A->rows, f->start);
}

static void rewind_all(filling *f)
{
    memcpy(f->at, f->start, (size_t)f->A->rows * sizeof *f->at);
    memset(f->mark, 0xff, (size_t)f->A->rows * sizeof *f->mark);
}

static void list_after(filling *f)
{
    const tct_entries *A = f->A;
    rewind_all(f);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int32_t k = A->col[e];
            if (k >= i) continue;
            f->after[f->at[k]] = (int32_t)i;
            f->value[f->at[k]++] = A->value[e];
        }
}

/* --- fill ----------------------------------------------------------------- */

static void find(filling *f, int32_t i, int32_t j)
{
    if (f->mark[j] == i) return;
    f->mark[j] = i;
    f->found[f->count++] = j;
}

/* Columns after i of row i: A's, and those of each row k before it that has
 * column i. Of row k it is the next one, since rows come in order. */
static void find_row(filling *f, int32_t i)
{
    const tct_entries *A = f->A;
    f->count = 0;
    for (int64_t e = f->start[i]; e < f->start[i + 1]; e++)
        find(f, i, f->after[e]);
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int32_t k = A->col[e];
        if (k >= i) continue;
        for (int64_t d = ++f->at[k]; d < f->start[k + 1]; d++)
            find(f, i, f->after[d]);
    }
}

/* Each place of a row is one of its mirror row, too. */
static void count_places(filling *f)
{
    const int64_t n = f->A->rows;
    rewind_all(f);
    memset(f->ptr, 0, (size_t)(n + 1) * sizeof *f->ptr);
    for (int32_t i = 0; i < n; i++) {
        find_row(f, i);
        f->ptr[i + 1] += f->count + 1;
        for (int64_t c = 0; c < f->count; c++) f->ptr[f->found[c] + 1]++;
    }
    sum_up(n, f->ptr);
}

static void put(filling *f, int64_t i, int32_t j, double a)
{
    f->col[f->next[i]] = j;
    f->val[f->next[i]++] = a;
}

static double diagonal_of(const tct_entries *A, int64_t i)
{
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++)
        if (A->col[e] == i) return A->value[e];
    return 0.0;
}

static void list_places(filling *f)
{
    const int64_t n = f->A->rows;
    rewind_all(f);
    memcpy(f->next, f->ptr, (size_t)n * sizeof *f->next);
    for (int32_t i = 0; i < n; i++) {
        const int64_t first = f->start[i], own = f->start[i + 1] - first;
        find_row(f, i);
        put(f, i, i, diagonal_of(f->A, i));
        for (int64_t c = 0; c < f->count; c++) {
            const double a = c < own ? f->value[first + c] : 0.0;
            put(f, i, f->found[c], a);
            put(f, f->found[c], i, a);
        }
    }
}

/* --- memory --------------------------------------------------------------- */

static tacit_status make(filling *f)
{
    const int64_t n = f->A->rows;
    TRY(TCT_ALLOC(n + 1, what, &f->start));
    TRY(TCT_ALLOC(n, what, &f->at));
    TRY(TCT_ALLOC(n, what, &f->found));
    TRY(TCT_ALLOC(n, what, &f->mark));
    TRY(TCT_ALLOC(n + 1, what, &f->ptr));
    TRY(TCT_ALLOC(n, what, &f->next));
    count_after(f);
    TRY(TCT_ALLOC(f->start[n], what, &f->after));
    TRY(TCT_ALLOC(f->start[n], what, &f->value));
    list_after(f);
    count_places(f);
    TRY(tct_memory_require(18.0 * (double)f->ptr[n], what));
    TRY(TCT_ALLOC(f->ptr[n], what, &f->col));
    TRY(TCT_ALLOC(f->ptr[n], what, &f->val));
    list_places(f);
    return TACIT_OK;
}

static tacit_status add_fill(tct_entries *A)
{
    filling f = {.A = A};
    const int64_t rows = A->rows;
    const tacit_status status = make(&f);
    TCT_FREE(f.start, f.after, f.value, f.at, f.found, f.mark, f.next);
    if (status < 0) {
        TCT_FREE(f.ptr, f.col, f.val);
        return status;
    }
    tct_entries_close(A);
    *A = (tct_entries){.rows = rows,
                       .ptr = f.ptr,
                       .col = f.col,
                       .value = f.val,
                       .mirror = f.val,
                       .own = {f.ptr, f.col, f.val}};
    return TACIT_OK;
}

/* --- the kind ------------------------------------------------------------- */

static tacit_status ic1_setup(tct_precond *M, const tct_precond_source *from)
{
    return tct_ic_setup(M, from, add_fill);
}

static tacit_status ic1_renew(tct_precond *M, const tacit_matrix *matrix)
{
    return tct_ic_renew(M, matrix, add_fill);
}

const tct_precond_kind tct_precond_ic1 = {
    .about = {.name = "ic1",
              .summary = "incomplete Cholesky factor with fill of level 1, of "
                         "a rank's rows",
              .of_matrix = true,
              .when_named = true,
              .resident = "cg",
              .one_gpu = true},
    .op = {.name = "ic1",
           .apply = tct_by_factor_apply,
           .for_batch = tct_by_factor_for_batch,
           .columns = tct_by_factor_columns,
           .destroy = tct_by_factor_destroy},
    .bytes = sizeof(tct_by_factor),
    .setup = ic1_setup,
    .renew = ic1_renew,
    .describe = tct_by_factor_describe,
    .view = tct_by_factor_view,
    .sweeps = 30.0,
    .products = 1.5,
    .share = 0.12,
    .entries = 4.5,
    .entry_bytes = 60.0,
    .row_bytes = 150.0,
    .needs_regular = true};
