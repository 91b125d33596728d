/* SPDX-License-Identifier: BSD-3-Clause
 * precond/ic0.c - M = (L L')^-1, L the incomplete Cholesky factor with the
 * pattern of A, or one that a kind of preconditioner adds to
 * (factor/incomplete.c). Each of several ranks factors its own rows and columns
 * or, with a grid, has a part of the factor of the whole matrix. */
#include "matrix/matrix.h"
#include "precond/by_factor.h"
#include <math.h>
#include <stdio.h>

static const char *const what = "an incomplete preconditioner";

/* --- entries -------------------------------------------------------------- */

/* Rows of the matrix in the order of the operator. */
typedef struct {
    const tacit_matrix *m;
    const tct_order *order;
    int exponent;
} source;

static int64_t row_of(const source *from, int64_t k)
{
    return from->order ? from->order->old[k] : k;
}

/* Local column of entry `e` of the matrix; -1: of another rank. */
static int64_t column_of(const source *from, int64_t e)
{
    const tct_csr *A = &from->m->A;
    const int64_t j = tct_csr_col(A, e) - A->first;
    if (j < 0 || j >= A->rows) return -1;
    return from->order ? from->order->now[j] : j;
}

/* Entries of row `k` into `col` and `val`, unless they are NULL; returns their
 * number. */
static int64_t list_row(const source *from, int64_t k, int32_t *col,
                        double *val)
{
    const tct_csr *A = &from->m->A;
    const int64_t row = row_of(from, k);
    int64_t count = 0;
    for (int64_t e = A->ptr[row]; e < A->ptr[row + 1]; e++) {
        const int64_t j = column_of(from, e);
        if (j < 0) continue;
        if (col) {
            col[count] = (int32_t)j;
            val[count] = ldexp(A->val[e], -from->exponent);
        }
        count++;
    }
    return count;
}

static tacit_status list_entries(const source *from, tct_entries *E)
{
    const int64_t n = from->m->A.rows;
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    double *val = NULL;
    TRY(TCT_ALLOC(n + 1, what, &ptr));
    E->ptr = E->own[0] = ptr;
    ptr[0] = 0;
    for (int64_t k = 0; k < n; k++)
        ptr[k + 1] = ptr[k] + list_row(from, k, NULL, NULL);
    TRY(TCT_ALLOC(ptr[n], what, &col));
    E->col = E->own[1] = col;
    TRY(TCT_ALLOC(ptr[n], what, &val));
    E->value = E->mirror = E->own[2] = val;
    for (int64_t k = 0; k < n; k++)
        list_row(from, k, col + ptr[k], val + ptr[k]);
    return TACIT_OK;
}

/* The matrix's own entries if the operator has the same order. */
static tacit_status open_entries(const source *from, tct_entries *E)
{
    const tct_csr *A = &from->m->A;
    if (!from->order && from->exponent == 0 && from->m->world->size == 1)
        return tct_entries_open(A, true, E);
    *E = (tct_entries){.rows = A->rows};
    return list_entries(from, E);
}

/* --- set up --------------------------------------------------------------- */

/* Factor `E`, whose row k is row `from` -> of the matrix. */
static tacit_status factor_entries(tct_by_factor *M, const source *from,
                                   const tct_entries *E)
{
    int64_t failed = -1;
    const tacit_status status = tct_incomplete_create(
        E, TACIT_FACTOR_IC0, M->order, M->leaves, &M->F, &failed);
    if (status < 0 && failed >= 0)
        FAIL(TACIT_INPUT,
             "preconditioner %s: row %lld has entries that are too large",
             M->base.kind->about.name,
             (long long)(tct_original(from->m, row_of(from, failed)) + 1));
    TRY(status);
    const tacit_factor_info *info = &M->F->info;
    snprintf(M->detail, sizeof M->detail,
             "%lld entries of L, order %s, at most %d rows wait for another",
             (long long)info->nonzeros, info->order, (int)info->depth);
    return TACIT_OK;
}

static tacit_status factor(tct_by_factor *M, const source *from,
                           tct_ic_fill *fill)
{
    tct_entries E = {.rows = 0};
    tacit_status status = open_entries(from, &E);
    if (status >= 0 && fill) status = fill(&E);
    if (status >= 0) status = factor_entries(M, from, &E);
    tct_entries_close(&E);
    return status;
}

/* Factor the whole matrix, on one rank. */
static tacit_status factor_whole(tct_by_factor *M, const tacit_matrix *whole)
{
    const source from = {whole, NULL, 0};
    return factor(M, &from, NULL);
}

static tacit_status make(tct_by_factor *M, const tacit_matrix *matrix,
                         tct_ic_fill *fill)
{
    const tacit_operator *A = M->base.made_for;
    const source from = {matrix, A->order, A->exponent};
    char name[64];
    snprintf(name, sizeof name, "preconditioner %s", M->base.kind->about.name);
    TRY(tct_agree(A->world, tct_check_diagonal(matrix, name)));
    if (M->parts > 0)
        return tct_by_factor_distribute(M, matrix, A->exponent, factor_whole);
    TRY(factor(M, &from, fill));
    return tct_by_factor_open(M, NULL);
}

tacit_status tct_ic_renew(tct_precond *base, const tacit_matrix *matrix,
                          tct_ic_fill *fill)
{
    tct_by_factor *M = (tct_by_factor *)(void *)base, fresh;
    tct_by_factor_blank(M, &fresh);
    const tacit_status status =
        tct_agree(base->op.world, make(&fresh, matrix, fill));
    if (status < 0) tct_by_factor_close(&fresh);
    else tct_by_factor_move(&fresh, M);
    return status;
}

/* On a GPU a level of dependent rows takes as long as some ten thousand
 * independent rows: rows are ordered by colour, which costs iterations and
 * leaves few levels. */
tacit_status tct_ic_setup(tct_precond *base, const tct_precond_source *from,
                          tct_ic_fill *fill)
{
    const tct_by_factor_options none = {.order = NULL};
    tct_by_factor *M = (tct_by_factor *)(void *)base;
    const bool host = base->op.q->device->kind == TCT_KIND_HOST;
    const tct_rows_order order = host ? TCT_ORDER_TOP_ND : TCT_ORDER_MULTICOLOR;
    tacit_status status = tct_by_factor_take(
        M, from->options ? from->options : &none, order, true);
    if (status >= 0 && from->matrix->A.rows > INT32_MAX)
        status = tacit_error_set(TACIT_UNSUPPORTED,
                                 "preconditioner %s: more than 2^31 rows on a "
                                 "rank: take more ranks",
                                 base->kind->about.name);
    TRY(tct_agree(base->op.world, status));
    return make(M, from->matrix, fill);
}

static tacit_status ic0_setup(tct_precond *M, const tct_precond_source *from)
{
    return tct_ic_setup(M, from, NULL);
}

static tacit_status ic0_renew(tct_precond *M, const tacit_matrix *matrix)
{
    return tct_ic_renew(M, matrix, NULL);
}

const tct_precond_kind tct_precond_ic0 = {
    .about = {.name = "ic0",
              .summary = "incomplete Cholesky factor, of a rank's rows or, "
                         "over a grid, of all",
              .of_matrix = true,
              .resident = "cg",
              .one_gpu = true},
    .op = {.name = "ic0",
           .apply = tct_by_factor_apply,
           .for_batch = tct_by_factor_for_batch,
           .columns = tct_by_factor_columns,
           .destroy = tct_by_factor_destroy},
    .bytes = sizeof(tct_by_factor),
    .options = {tct_by_factor_table},
    .options_size = sizeof(tct_by_factor_options),
    .setup = ic0_setup,
    .renew = ic0_renew,
    .describe = tct_by_factor_describe,
    .view = tct_by_factor_view,
    .entry_bytes = 25.0,
    .row_bytes = 150.0,
    .needs_regular = true};
