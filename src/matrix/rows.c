/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/rows.c - a matrix of the caller's rows. */
#include "matrix/rows.h"
#include "device/parallel.h"
#include <inttypes.h>
#include <math.h>

/* Check that the ranges of all ranks are consecutive and cover all rows. Every
 * rank sees the same ranges, so all return the same status. */
static tacit_status check_chain(const tct_range *all, int size)
{
    int64_t at = 0;
    for (int r = 0; r < size; r++) {
        if (all[r].global_rows != all[0].global_rows)
            FAIL(TACIT_INVALID,
                 "rank %d says that the matrix has %" PRId64
                 " rows, rank 0 says %" PRId64,
                 r, all[r].global_rows, all[0].global_rows);
        if (all[r].global_rows < 1)
            FAIL(TACIT_INVALID,
                 "a matrix of %" PRId64 " rows: expected 1 at least",
                 all[r].global_rows);
        if (all[r].rows < 0 || all[r].first != at ||
            all[r].rows > all[r].global_rows - at)
            FAIL(TACIT_INVALID,
                 "rank %d has %" PRId64 " rows from `first` %" PRId64
                 " on, of %" PRId64 ": expected `first` %" PRId64
                 ", where the rank before ends",
                 r, all[r].rows, all[r].first, all[r].global_rows, at);
        at += all[r].rows;
    }
    if (at == all[0].global_rows) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "the ranks have %" PRId64 " rows together, but the matrix has %" PRId64
         " rows",
         at, all[0].global_rows);
}

tacit_status tct_ranges_check(tacit_world *world, tct_range mine)
{
    tct_range *all = NULL;
    tacit_status status = TCT_ALLOC(world->size, "the ranges", &all);
    status = tct_agree(world, status);
    if (status >= 0) status = tct_allgather(world, sizeof mine, &mine, all);
    if (status >= 0) status = check_chain(all, world->size);
    tct_free(all);
    return status;
}

static tacit_status check_starts(tct_range r, const tct_rows_given *ptr)
{
    if (!ptr->ptr64 && !ptr->ptr32)
        FAIL(TACIT_INVALID,
             "ptr is NULL: expected the starts of %" PRId64
             " rows, and their end",
             r.rows);
    if (tct_row_start(ptr, 0) != 0)
        FAIL(TACIT_INVALID, "ptr[0] is %" PRId64 ": expected 0",
             tct_row_start(ptr, 0));
    for (int64_t i = 0; i < r.rows; i++)
        if (tct_row_start(ptr, i + 1) < tct_row_start(ptr, i))
            FAIL(TACIT_INVALID,
                 "ptr falls from %" PRId64 " to %" PRId64 ", at ptr[%" PRId64
                 "]",
                 tct_row_start(ptr, i), tct_row_start(ptr, i + 1), i + 1);
    return TACIT_OK;
}

tacit_status tct_rows_check(tct_range r, const tct_rows_given *g)
{
    if (r.rows == 0) return TACIT_OK;
    TRY(check_starts(r, g));
    const int64_t entries = tct_row_start(g, r.rows);
    const bool has_cols = g->cols64 || g->cols32;
    if (entries > 0 && !(has_cols && g->vals))
        FAIL(TACIT_INVALID, "%s is NULL: expected %" PRId64 " of them",
             has_cols ? "vals" : "cols", entries);
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t k = tct_row_start(g, i); k < tct_row_start(g, i + 1); k++)
            if (tct_row_col(g, k) < 0 || tct_row_col(g, k) >= r.global_rows)
                FAIL(TACIT_INPUT,
                     "cols[%" PRId64 "] is %" PRId64 ", of row %" PRId64
                     " counted from 1: expected 0 to %" PRId64,
                     k, tct_row_col(g, k), r.first + i + 1, r.global_rows - 1);
    return TACIT_OK;
}

tacit_status tct_rows_finite(const tct_csr *A)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            if (!isfinite(A->val[k]))
                FAIL(TACIT_INPUT,
                     "row %" PRId64 ", column %" PRId64
                     " holds %g, which is not finite",
                     A->first + i + 1, tct_csr_col(A, k) + 1, A->val[k]);
    return TACIT_OK;
}

static tacit_status copy_rows(tct_range r, const tct_rows_given *g, tct_csr *A)
{
    TRY(tct_rows_check(r, g));
    const int64_t nonzeros = r.rows ? tct_row_start(g, r.rows) : 0;
    TRY(tct_csr_rows(A, r.global_rows, r.global_rows, r.first, r.rows));
    for (int64_t i = 0; i < r.rows; i++)
        A->ptr[i + 1] = tct_row_start(g, i + 1);
    TRY(tct_csr_entries(A, nonzeros));
    for (int64_t k = 0; k < nonzeros; k++) {
        tct_csr_set_col(A, k, tct_row_col(g, k));
        A->val[k] = g->vals[k];
    }
    TRY(tct_csr_sort(A, true, "the rows given"));
    return tct_rows_finite(A);
}

/* Does every row have ascending columns, none of them twice? */
static bool is_sorted(tct_range r, const tct_rows_given *g)
{
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t k = g->ptr32[i] + 1; k < g->ptr32[i + 1]; k++)
            if (g->cols32[k - 1] >= g->cols32[k]) return false;
    return true;
}

/* The arrays as they are, if they can stay so. */
static tacit_status borrow_rows(tct_range r, const tct_rows_given *g,
                                tct_csr *A)
{
    TRY(tct_rows_check(r, g));
    if (r.rows == 0 || r.global_rows > INT32_MAX || !is_sorted(r, g)) {
        if (r.rows > 0)
            tct_log(TCT_DETAIL,
                    "rows from %" PRId64 " are copied: not all of "
                    "their columns ascend",
                    r.first + 1);
        return copy_rows(r, g, A);
    }
    TRY(tct_csr_rows(A, r.global_rows, r.global_rows, r.first, r.rows));
    for (int64_t i = 0; i < r.rows; i++) A->ptr[i + 1] = g->ptr32[i + 1];
    TRY(tct_csr_borrow(A, g->cols32, g->vals));
    return tct_rows_finite(A);
}

static tacit_status make_of_rows(tacit_world *world, tct_range mine,
                                 const tct_rows_given *g, bool borrow,
                                 tacit_matrix **out)
{
    TCT_THREADS_AT_MOST(tct_world_threads(world));
    TRY(tct_ranges_check(world, mine));
    tct_csr A = {0};
    tacit_status status =
        borrow ? borrow_rows(mine, g, &A) : copy_rows(mine, g, &A);
    int64_t summed =
        status >= 0 && mine.rows > 0 ? tct_row_start(g, mine.rows) : 0;
    summed -= tct_csr_nonzeros(&A);
    tacit_matrix *m = NULL;
    TRY(tct_matrix_adopt(world, status, &A, &m));
    m->format = "rows";
    status = tct_reduce_i64(world, TCT_SUM, 1, &summed);
    m->summed = summed;
    if (status < 0) tacit_matrix_destroy(&m);
    else *out = m;
    return status;
}

tacit_status tacit_matrix_from_rows(tacit_world *world, int64_t global_rows,
                                    int64_t first_row, int64_t rows,
                                    const int64_t *ptr, const int64_t *cols,
                                    const double *vals, tacit_matrix **out)
{
    REQUIRE(world != NULL, out != NULL);
    const tct_rows_given g = {.ptr64 = ptr, .cols64 = cols, .vals = vals};
    return make_of_rows(world, (tct_range){global_rows, first_row, rows}, &g,
                        false, out);
}

tacit_status tacit_matrix_from_rows32(tacit_world *world, int64_t global_rows,
                                      int64_t first_row, int64_t rows,
                                      const int32_t *ptr, const int32_t *cols,
                                      const double *vals, tacit_matrix **out)
{
    REQUIRE(world != NULL, out != NULL);
    const tct_rows_given g = {.ptr32 = ptr, .cols32 = cols, .vals = vals};
    return make_of_rows(world, (tct_range){global_rows, first_row, rows}, &g,
                        false, out);
}

tacit_status tacit_matrix_borrow_rows32(tacit_world *world, int64_t global_rows,
                                        int64_t first_row, int64_t rows,
                                        const int32_t *ptr, const int32_t *cols,
                                        const double *vals, tacit_matrix **out)
{
    REQUIRE(world != NULL, out != NULL);
    const tct_rows_given g = {.ptr32 = ptr, .cols32 = cols, .vals = vals};
    return make_of_rows(world, (tct_range){global_rows, first_row, rows}, &g,
                        true, out);
}
