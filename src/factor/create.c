/* SPDX-License-Identifier: BSD-3-Clause
 * factor/create.c - a factor from its matrix: order, pattern, panels, values;
 * incomplete factors are in incomplete.c. */
#include "device/parallel.h"
#include "factor/factor.h"
#include "matrix/matrix.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static tacit_status check_options(const tacit_factor_options *o)
{
    tct_rows_order order;
    TRY(tct_check_leaves(o->leaves));
    TRY(tct_rows_order_find(o->order, TCT_ORDER_ND, &order));
    if ((int)o->kind < TACIT_FACTOR_LLT || (int)o->kind > TACIT_FACTOR_ILU0)
        FAIL(TACIT_INVALID, "kind of a factor: expected 0 to %d, got %d",
             TACIT_FACTOR_ILU0, (int)o->kind);
    if (o->width < 0)
        FAIL(TACIT_INVALID,
             "width of a factor's panels: expected 1 or more, "
             "got %d",
             o->width);
    return TACIT_OK;
}

tacit_status tct_factor_options_read(const tacit_factor_options *given,
                                     tacit_factor_options *out)
{
    *out = (tacit_factor_options){.leaves = 0};
    if (given)
        TRY(tct_read_sized("tacit_factor_options", given, out, sizeof *out));
    return check_options(out);
}

/* A matrix with an empty row or column is singular. */
static tacit_status check_structure(const tct_csr *A)
{
    int64_t bad = -1; /* the last one */
    char *occupied = NULL;
    TRY(TCT_ALLOC(A->rows, "a look for empty columns", &occupied));
    memset(occupied, 0, (size_t)A->rows);
    for (int64_t k = 0; k < A->ptr[A->rows]; k++)
        occupied[tct_csr_col(A, k)] = 1;
    bool row = false;
    for (int64_t i = A->rows - 1; i >= 0; i--) {
        row = A->ptr[i] == A->ptr[i + 1];
        if (!row && occupied[i]) continue;
        bad = i;
        break;
    }
    tct_free(occupied);
    if (bad < 0) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s %" PRId64 " of the matrix has no entries, so that it is singular: "
         "leave it out, or solve another matrix, A + shift I",
         row ? "row" : "column", bad + 1);
}

static tacit_status check_matrix(const tacit_matrix *m, tacit_factor_kind kind)
{
    if (m->world->size > 1)
        FAIL(TACIT_UNSUPPORTED,
             "a factor is made by one process, and here are %d: run it with "
             "one, or use preconditioner amg",
             m->world->size);
    TRY(tct_matrix_require_entries(m));
    if (m->A.global_rows != m->A.global_cols)
        FAIL(TACIT_INPUT,
             "a factor is of a square matrix, this one is %" PRId64
             " x %" PRId64,
             m->A.global_rows, m->A.global_cols);
    if (m->A.rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "a factor counts rows in 32 bits, and %" PRId64 " are too many",
             m->A.rows);
    TRY(check_structure(&m->A));
    if (tct_has_upper(kind)) return TACIT_OK;
    TRY(tacit_matrix_check_symmetric(m));
    return kind == TACIT_FACTOR_IC0 ? tct_check_diagonal(m, "factor ic0")
                                    : TACIT_OK;
}

/* Add the time since `*start` to `*seconds` and restart it. */
static void clock_in(double *start, double *seconds)
{
    const double now = tct_seconds();
    *seconds = now - *start;
    *start = now;
}

static tacit_status build(tacit_factor *L, const tct_entries *A,
                          const tacit_factor_options *o, tct_fronts *F)
{
    const tct_graph g = {A->rows, A->ptr, A->col};
    tct_rows_order order = TCT_ORDER_ND;
    double start = tct_seconds();
    TRY(tct_rows_order_find(o->order, TCT_ORDER_ND, &order));
    L->info.order = tct_rows_orders[order];
    L->panels.kind = o->kind;
    if (!L->order.old) TRY(tct_factor_predict(&g, o->kind, order));
    if (!L->order.old) TRY(tct_nesting_by(&g, order, o->leaves, &L->order));
    clock_in(&start, &L->info.order_seconds);
    TRY(tct_fronts_create(&g, &L->order, F));
    TRY(tct_factor_open_pairs(L, F));
    TRY(tct_factor_outline(L, F, o->width));
    TRY(tct_factor_require_memory(
        L, A, L->info.bytes,
        tct_branches_predict(F->rows, L->info.panels,
                             L->row_start[L->info.panels])));
    TRY(tct_factor_list_rows(L, F));
    TRY(tct_factor_open_matched(L, A));
    clock_in(&start, &L->info.symbolic_seconds);
    TRY(tct_factor_open_pivots(L));
    TRY(tct_factor_numeric(L, F, A));
    TRY(tct_factor_take_pivots(L));
    if (L->trial) TRY(tct_factor_learn(L, F));
    if (L->trial) return TACIT_OK; /* the next one has another order */
    tct_factor_count_signs(L);
    tct_factor_show(L);
    TRY(tct_factor_branch(L));
    TRY(o->kind == TACIT_FACTOR_LLT ? tct_check_definite(L, A)
        : L->match.row              ? tct_factor_judge_matched(L, A)
                                    : tct_factor_weigh(L, A));
    clock_in(&start, &L->info.numeric_seconds);
    return TACIT_OK;
}

static tacit_status make_exact(const tct_entries *A,
                               const tacit_factor_options *o,
                               tct_factor_rows *rows, tacit_factor **out)
{
    tct_fronts F = {.rows = 0};
    tacit_factor *L = tct_calloc(sizeof *L);
    if (!L) FAIL(TACIT_NO_MEMORY, "no memory for a factor");
    L->exponent = A->exponent;
    if (rows) tct_factor_take_rows(L, rows);
    const tacit_status status = build(L, A, o, &F);
    tct_fronts_clear(&F);
    if (status < 0) tacit_factor_destroy(&L);
    else *out = L;
    return status;
}

tacit_status tct_factor_make(const tct_entries *A,
                             const tacit_factor_options *o,
                             tct_factor_rows *rows, tacit_factor **out)
{
    if (A->added > 0 && !rows)
        tct_log(TCT_NOTE,
                "factor %s: the pattern is not symmetric: %" PRId64
                " zeros are added to the %" PRId64 " entries to make it so",
                tct_factor_kind_name(o->kind), A->added,
                A->ptr[A->rows] - A->added);
    TRY(tct_is_incomplete(o->kind)
            ? tct_incomplete_create(A, o->kind, o->order, o->leaves, out, NULL)
            : make_exact(A, o, rows, out));
    (*out)->info.added = A->added;
    return TACIT_OK;
}

tacit_status tct_factor_tell_both(tacit_status status, const char *why)
{
    char now[400];
    if (status != TACIT_INPUT) return status;
    snprintf(now, sizeof now, "%s", tacit_error_message());
    FAIL(status, "%s: %s", why, now);
}

static tacit_status advise_lu(void)
{
    char why[400];
    snprintf(why, sizeof why, "%s", tacit_error_message());
    FAIL(TACIT_INPUT, "%s: take the pivots of kind lu", why);
}

/* The test solves of `*out`, an L D L', lost many digits: one with pivots of
 * 2 x 2 replaces it if that loses fewer. */
static void try_pairs(const tct_csr *A, int exponent,
                      const tacit_factor_options *o, tacit_factor **out)
{
    tacit_factor *first = *out, *other = NULL;
    const double error = first->info.backward_error;
    (void)tacit_error_set(
        TACIT_INPUT, "factor ldlt: a solve leaves a residual of %.1e", error);
    const tacit_status status = tct_factor_make_paired(A, exponent, o, &other);
    if (status >= 0 && other->info.backward_error < error) {
        *out = other;
        other = first;
    } else {
        tct_log(TCT_NOTE, "factor ldlt: pivots of 2 x 2 leave no less: %s",
                status < 0 ? tacit_error_message() : "the first one stands");
    }
    tacit_factor_destroy(&other);
}

static tacit_status make_first(const tct_csr *A, int exponent,
                               const tacit_factor_options *o,
                               tacit_factor **out)
{
    tct_entries E;
    tacit_status status = tct_entries_open(A, !tct_has_upper(o->kind), &E);
    if (status >= 0) status = tct_entries_scale(&E, exponent);
    if (status >= 0) status = tct_factor_make(&E, o, NULL, out);
    tct_entries_close(&E);
    return status;
}

/* Without a row order first, so that factors that need none have no scales. */
static tacit_status make_any(const tct_csr *A, int exponent,
                             const tacit_factor_options *o, bool may_pair,
                             tacit_factor **out)
{
    const bool pairs = o->kind == TACIT_FACTOR_LDLT && may_pair;
    const tacit_status status = make_first(A, exponent, o, out);
    if (status >= 0 && pairs &&
        !((*out)->info.backward_error < TCT_BACKWARD_SMALL))
        try_pairs(A, exponent, o, out);
    if (status != TACIT_INPUT) return status;
    if (o->kind == TACIT_FACTOR_LU)
        return tct_factor_make_matched(A, exponent, o, out);
    if (pairs) return tct_factor_make_paired(A, exponent, o, out);
    return o->kind == TACIT_FACTOR_LDLT ? advise_lu() : status;
}

tacit_status tct_factor_create_near(const tacit_matrix *matrix, int exponent,
                                    const tacit_factor_options *options,
                                    bool may_pair, tacit_factor **out)
{
    tacit_factor_options o;
    TRY(tct_factor_options_read(options, &o));
    TRY(check_matrix(matrix, o.kind));
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    return make_any(&matrix->A, exponent, &o, may_pair, out);
}

tacit_status tct_factor_create_pivoted(const tacit_matrix *matrix, int exponent,
                                       const tacit_factor_options *options,
                                       bool may_pair, const char *why,
                                       tacit_factor **out)
{
    tacit_factor_options o;
    TRY(tct_factor_options_read(options, &o));
    TRY(check_matrix(matrix, o.kind));
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    (void)tacit_error_set(TACIT_INPUT, "%s", why);
    if (o.kind == TACIT_FACTOR_LDLT && may_pair)
        return tct_factor_make_paired(&matrix->A, exponent, &o, out);
    o.kind = TACIT_FACTOR_LU;
    return tct_factor_make_matched(&matrix->A, exponent, &o, out);
}

tacit_status tacit_factor_create(const tacit_matrix *matrix,
                                 const tacit_factor_options *options,
                                 tacit_factor **out)
{
    REQUIRE(matrix != NULL, out != NULL);
    TRY(tct_factor_create_near(matrix, 0, options, true, out));
    tct_factor_warn(*out);
    return TACIT_OK;
}

/* --- solving -------------------------------------------------------------- */

static tacit_status solve_once(const tacit_factor *L, tct_team *team,
                               int columns, const double *B, size_t ldb,
                               double *X, size_t ldx)
{
    double *scratch = NULL;
    TRY(TCT_ALLOC(tct_factor_scratch(L, columns, tct_team_size(team)),
                  "a solve", &scratch));
    tct_factor_apply(L, team, NULL, columns, B, ldb, X, ldx, scratch);
    tct_free(scratch);
    return TACIT_OK;
}

tacit_status tacit_factor_solve(const tacit_factor *factor, int columns,
                                const double *B, size_t ldb, double *X,
                                size_t ldx)
{
    REQUIRE(factor != NULL, columns > 0, B != NULL, X != NULL);
    const size_t rows = (size_t)factor->panels.rows;
    REQUIRE(ldb >= rows, ldx >= rows);
    tct_team *team = NULL;
    const bool taken = tct_lent_team_take(factor->lent, &team);
    const tacit_status status =
        factor->match.row
            ? tct_factor_solve_refined(factor, team, columns, B, ldb, X, ldx)
            : solve_once(factor, team, columns, B, ldb, X, ldx);
    if (taken) tct_lent_team_leave(factor->lent, &team);
    return status;
}
