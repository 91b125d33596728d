/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/matrix.c - a matrix of the caller's rows, and what a matrix tells. */
#include "matrix/matrix.h"
#include "device/parallel.h"
#include <inttypes.h>
#include <math.h>

/* --- the object ----------------------------------------------------------- */

/* Create an empty object. */
static tacit_status new_matrix(tacit_world *world, tacit_matrix **out)
{
    tacit_matrix *m = tct_calloc(sizeof *m);
    if (!m) FAIL(TACIT_NO_MEMORY, "no memory for a matrix object");
    m->world = world;
    *out = m;
    return TCT_ALLOC(world->size + 1, "the row starts", &m->starts);
}

/* Exchange the sizes of the ranks' rows. */
static tacit_status share_sizes(tacit_matrix *m)
{
    const int size = m->world->size;
    m->nonzeros = tct_csr_nonzeros(&m->A);
    TRY(tct_reduce_i64(m->world, TCT_SUM, 1, &m->nonzeros));
    TRY(tct_allgather(m->world, sizeof m->A.first, &m->A.first, m->starts));
    m->starts[size] = m->A.global_rows;
    return TACIT_OK;
}

tacit_status tct_matrix_adopt(tacit_world *world, tacit_status mine, tct_csr *A,
                              tacit_matrix **out)
{
    tacit_matrix *m = NULL;
    if (mine >= 0) mine = new_matrix(world, &m);
    mine = tct_agree(world, mine);
    if (mine >= 0) {
        m->A = *A;
        *A = (tct_csr){0};
        mine = share_sizes(m);
    }
    if (mine < 0) {
        tct_csr_clear(A);
        tacit_matrix_destroy(&m);
        return mine;
    }
    *out = m;
    return TACIT_OK;
}

void tacit_matrix_destroy(tacit_matrix **matrix)
{
    if (!matrix || !*matrix) return;
    tacit_matrix *m = *matrix;
    tct_csr_clear(&m->A);
    TCT_FREE(m->starts, m->original, m->dealt, m->points, m->stencil, m);
    *matrix = NULL;
}

/* --- from the caller's rows ----------------------------------------------- */

typedef struct {
    int64_t global_rows, first, rows;
} range;

/* Check that the ranges of all ranks are consecutive and cover all rows. Every
 * rank sees the same ranges, so all return the same status. */
static tacit_status check_chain(const range *all, int size)
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

static tacit_status check_ranges(tacit_world *world, range mine)
{
    range *all = NULL;
    tacit_status status = TCT_ALLOC(world->size, "the ranges", &all);
    status = tct_agree(world, status);
    if (status >= 0) status = tct_allgather(world, sizeof mine, &mine, all);
    if (status >= 0) status = check_chain(all, world->size);
    tct_free(all);
    return status;
}

/* Rows as given: integers of one of both widths, the other arrays NULL. */
typedef struct {
    const int64_t *ptr64, *cols64;
    const int32_t *ptr32, *cols32;
    const double *vals;
} given_rows;

static inline int64_t start_of(const given_rows *g, int64_t i)
{
    return g->ptr64 ? g->ptr64[i] : g->ptr32[i];
}

static inline int64_t col_of(const given_rows *g, int64_t k)
{
    return g->cols64 ? g->cols64[k] : g->cols32[k];
}

static tacit_status check_starts(range r, const given_rows *ptr)
{
    REQUIRE(ptr->ptr64 || ptr->ptr32);
    if (start_of(ptr, 0) != 0)
        FAIL(TACIT_INVALID, "ptr[0] is %" PRId64 ": expected 0",
             start_of(ptr, 0));
    for (int64_t i = 0; i < r.rows; i++)
        if (start_of(ptr, i + 1) < start_of(ptr, i))
            FAIL(TACIT_INVALID,
                 "ptr falls from %" PRId64 " to %" PRId64 ", at ptr[%" PRId64
                 "]",
                 start_of(ptr, i), start_of(ptr, i + 1), i + 1);
    return TACIT_OK;
}

static tacit_status check_rows(range r, const given_rows *g)
{
    if (r.rows == 0) return TACIT_OK;
    TRY(check_starts(r, g));
    REQUIRE(start_of(g, r.rows) == 0 || ((g->cols64 || g->cols32) && g->vals));
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t k = start_of(g, i); k < start_of(g, i + 1); k++)
            if (col_of(g, k) < 0 || col_of(g, k) >= r.global_rows)
                FAIL(TACIT_INPUT,
                     "cols[%" PRId64 "] is %" PRId64 ", of row %" PRId64
                     ": expected 0 to %" PRId64,
                     k, col_of(g, k), r.first + i + 1, r.global_rows - 1);
    return TACIT_OK;
}

/* Fail at a value that is not finite; duplicates have been added. */
static tacit_status check_finite(const tct_csr *A)
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

static tacit_status copy_rows(range r, const given_rows *g, tct_csr *A)
{
    TRY(check_rows(r, g));
    const int64_t nonzeros = r.rows ? start_of(g, r.rows) : 0;
    TRY(tct_csr_rows(A, r.global_rows, r.global_rows, r.first, r.rows));
    for (int64_t i = 0; i < r.rows; i++) A->ptr[i + 1] = start_of(g, i + 1);
    TRY(tct_csr_entries(A, nonzeros));
    for (int64_t k = 0; k < nonzeros; k++) {
        tct_csr_set_col(A, k, col_of(g, k));
        A->val[k] = g->vals[k];
    }
    TRY(tct_csr_sort(A, true, "the rows given"));
    return check_finite(A);
}

static tacit_status make_of_rows(tacit_world *world, range mine,
                                 const given_rows *g, tacit_matrix **out)
{
    TCT_THREADS_AT_MOST(tct_world_threads(world));
    TRY(check_ranges(world, mine));
    tct_csr A = {0};
    tacit_status status = copy_rows(mine, g, &A);
    int64_t summed = status >= 0 && mine.rows > 0 ? start_of(g, mine.rows) : 0;
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
    REQUIRE(world && out);
    const given_rows g = {.ptr64 = ptr, .cols64 = cols, .vals = vals};
    return make_of_rows(world, (range){global_rows, first_row, rows}, &g, out);
}

tacit_status tacit_matrix_from_rows32(tacit_world *world, int64_t global_rows,
                                      int64_t first_row, int64_t rows,
                                      const int32_t *ptr, const int32_t *cols,
                                      const double *vals, tacit_matrix **out)
{
    REQUIRE(world && out);
    const given_rows g = {.ptr32 = ptr, .cols32 = cols, .vals = vals};
    return make_of_rows(world, (range){global_rows, first_row, rows}, &g, out);
}

/* --- by name -------------------------------------------------------------- */

tacit_status tct_matrix_require_entries(const tacit_matrix *m)
{
    if (!m->released) return TACIT_OK;
    if (m->stencil)
        FAIL(TACIT_INVALID, "this matrix was opened without entries "
                            "(no_entries): open it with them, or take "
                            "format stencil, which needs none");
    FAIL(TACIT_INVALID, "the entries of this matrix were taken by an operator");
}

void tct_matrix_release_entries(tacit_matrix *m)
{
    const tct_csr sizes = {.global_rows = m->A.global_rows,
                           .global_cols = m->A.global_cols,
                           .first = m->A.first,
                           .rows = m->A.rows};
    tct_csr_clear(&m->A);
    m->A = sizes;
    m->released = true;
}

void tacit_matrix_drop_entries(tacit_matrix *matrix)
{
    if (matrix) tct_matrix_release_entries(matrix);
}

int64_t tacit_matrix_local_rows(const tacit_matrix *matrix)
{
    return matrix ? matrix->A.rows : 0;
}

int64_t tacit_matrix_first_row(const tacit_matrix *matrix)
{
    return matrix ? matrix->A.first : 0;
}

int64_t tacit_matrix_global_rows(const tacit_matrix *matrix)
{
    return matrix ? matrix->A.global_rows : 0;
}

int64_t tacit_matrix_nonzeros(const tacit_matrix *matrix)
{
    return matrix ? matrix->nonzeros : 0;
}

const int64_t *tacit_matrix_original_rows(const tacit_matrix *matrix)
{
    return matrix ? matrix->original : NULL;
}

tacit_status tacit_matrix_view_rows(const tacit_matrix *matrix, tacit_rows *out)
{
    REQUIRE(matrix && out);
    TRY(tct_matrix_require_entries(matrix));
    const tct_csr *A = &matrix->A;
    *out = (tacit_rows){.first = A->first,
                        .count = A->rows,
                        .ptr = A->ptr,
                        .cols32 = A->col32,
                        .cols64 = A->col64,
                        .vals = A->val};
    return TACIT_OK;
}
