/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/values.c - new values for the pattern that a matrix has. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "matrix/entries.h"
#include "matrix/matrix.h"
#include "matrix/renumber.h"
#include <inttypes.h>
#include <math.h>

/* --- in the order of the rows --------------------------------------------- */

static tacit_status check_values(const tacit_matrix *m, const double *vals)
{
    const tct_csr *A = &m->A;
    if (!vals && tct_csr_nonzeros(A) > 0)
        FAIL(TACIT_INVALID, "vals is NULL: expected %" PRId64 " values",
             tct_csr_nonzeros(A));
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (!isfinite(vals[k]))
                FAIL(TACIT_INPUT,
                     "vals[%" PRId64 "], of row %" PRId64
                     " counted from 1, is %g, which is not finite",
                     k, tct_original(m, i) + 1, vals[k]);
    return TACIT_OK;
}

/* Operators that share the old values keep them. Collective. */
static tacit_status take_values(tacit_matrix *m, tacit_status status,
                                const double *vals)
{
    if (status >= 0) status = check_values(m, vals);
    if (status >= 0) status = tct_csr_own(&m->A);
    TRY(tct_agree(m->world, status));
    const size_t count = (size_t)tct_csr_nonzeros(&m->A);
    if (count > 0) memcpy(m->A.val, vals, count * sizeof *vals);
    return TACIT_OK;
}

tacit_status tacit_matrix_set_values(tacit_matrix *matrix, const double *vals)
{
    REQUIRE(matrix != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    TRY(tct_matrix_require_entries(matrix));
    return take_values(matrix, TACIT_OK, vals);
}

/* --- in any order --------------------------------------------------------- */

typedef struct {
    const tacit_matrix *m;
    double *vals;     /* [nonzeros] */
    int64_t row, col; /* the first one without a place, current; -1: none */
} placing;

static void place(placing *p, const tct_entry *e)
{
    const int64_t k = tct_csr_find(&p->m->A, e->row - p->m->A.first, e->col);
    if (k >= 0) {
        p->vals[k] += e->val;
    } else if (p->row < 0) {
        p->row = e->row;
        p->col = e->col;
    }
}

static tacit_status place_entries(void *ctx, const tct_batch *batch)
{
    for (int p = 0; p < batch->count; p++)
        for (int64_t k = 0; k < batch->parts[p].count; k++)
            place(ctx, &batch->parts[p].entries[k]);
    return TACIT_OK;
}

/* Entries in current numbers, of a matrix whose rows have moved: `numbers`
 * [2 count] are rows, then columns. */
static void copy_numbers(const tct_given *from, int64_t *numbers)
{
    tct_given_at at = {0};
    while (at.k < from->count) {
        const int64_t k = at.k;
        const tct_entry e = tct_given_next(from, &at);
        numbers[k] = e.row;
        numbers[from->count + k] = e.col;
    }
}

static tacit_status in_current_numbers(const tacit_matrix *m, tct_given *g,
                                       int64_t **numbers)
{
    if (!m->dealt) return TACIT_OK;
    const tacit_status status =
        TCT_ALLOC(2 * g->count, "the rows of entries", numbers);
    TRY(tct_agree(m->world, status));
    copy_numbers(g, *numbers);
    TRY(tct_current_numbers(m, 2 * g->count, *numbers));
    g->rows32 = g->cols32 = NULL;
    g->rows64 = *numbers;
    g->cols64 = *numbers + g->count;
    return TACIT_OK;
}

/* Fail on all ranks if an entry of one has no place. Collective. */
static tacit_status require_places(const placing *p)
{
    const tacit_matrix *m = p->m;
    bool any = false;
    int64_t col = p->col;
    TRY(tct_any(m->world, p->row >= 0, &any));
    if (!any) return TACIT_OK;
    if (m->original)
        TRY(tct_directory_get(m->world, m->starts, m->original, p->row >= 0,
                              &col, &col));
    tacit_status status = TACIT_OK;
    if (p->row >= 0)
        status = tacit_error_set(
            TACIT_INVALID,
            "row %" PRId64 ", column %" PRId64
            " is not in the pattern: new values are for stored entries only",
            tct_original(m, p->row - m->A.first) + 1, col + 1);
    return tct_agree(m->world, status);
}

static tacit_status place_all(placing *p, tct_given *g, int64_t **numbers,
                              tct_crew **crew)
{
    const tacit_matrix *m = p->m;
    const int64_t nonzeros = tct_csr_nonzeros(&m->A);
    int64_t sent = 0;
    tacit_status status = TCT_ALLOC(nonzeros, "new values", &p->vals);
    if (status >= 0) status = tct_crew_create(crew);
    TRY(tct_agree(m->world, status));
    for (int64_t k = 0; k < nonzeros; k++) p->vals[k] = 0.0;
    TRY(in_current_numbers(m, g, numbers));
    TRY(tct_given_send(m->world, m->starts, g, *crew, place_entries, p, &sent));
    return require_places(p);
}

tacit_status tacit_matrix_set_entries(tacit_matrix *matrix,
                                      const tacit_entries *entries)
{
    REQUIRE(matrix != NULL, entries != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    tct_given g = {0};
    placing p = {.m = matrix, .row = -1};
    int64_t *numbers = NULL;
    tct_crew *crew = NULL;
    TRY(tct_matrix_require_entries(matrix));
    tacit_status status = tct_given_read(entries, &g);
    if (status >= 0) status = tct_given_check(&g, matrix->A.global_rows);
    status = tct_agree(matrix->world, status);
    if (status >= 0) status = place_all(&p, &g, &numbers, &crew);
    if (status >= 0) status = take_values(matrix, TACIT_OK, p.vals);
    tct_crew_destroy(&crew);
    TCT_FREE(p.vals, numbers);
    return status;
}
