/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/matrix.c - the matrix object, and what a matrix tells. */
#include "matrix/matrix.h"
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

/* --- what it has ---------------------------------------------------------- */

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
    REQUIRE(matrix != NULL, out != NULL);
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
