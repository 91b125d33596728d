/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/vectors.c - vector files, which are in the original row order, for
 * rows that a partition may have moved. */
#include "matrix/directory.h"
#include "matrix/io/io.h"

/* This rank's values in the original order: how many, and memory for them. */
static tacit_status original_range(const tacit_matrix *m, int64_t *first,
                                   int64_t *count, double **values)
{
    const int rank = m->world->rank;
    *first = m->dealt[rank];
    *count = m->dealt[rank + 1] - *first;
    return tct_agree(m->world,
                     TCT_ALLOC(*count, "a vector in original order", values));
}

static tacit_status read_values(const tacit_matrix *m, const char *path,
                                bool guess, double *x)
{
    TCT_THREADS_AT_MOST(m->world->threads);
    const tct_csr *A = &m->A;
    const int64_t n = A->global_rows;
    TRY(tct_agree(m->world, x || !A->rows ? TACIT_OK
                                          : tct_fail(TACIT_INVALID,
                                                     "x is NULL, but this rank "
                                                     "owns rows")));
    if (!m->original)
        return tct_read_vector(m->world, path, guess, n, A->first, A->rows, x);
    double *y = NULL;
    int64_t first, count;
    tacit_status status = original_range(m, &first, &count, &y);
    if (status >= 0)
        status = tct_read_vector(m->world, path, guess, n, first, count, y);
    if (status >= 0)
        status = tct_ask(m->world, m->dealt, y, A->rows, m->original, x);
    tct_free(y);
    return status;
}

tacit_status tacit_matrix_read_vector(const tacit_matrix *matrix,
                                      const char *path, double *x)
{
    REQUIRE(matrix && path);
    return read_values(matrix, path, false, x);
}

tacit_status tacit_matrix_read_guess(const tacit_matrix *matrix,
                                     const char *path, double *x)
{
    REQUIRE(matrix && path);
    return read_values(matrix, path, true, x);
}

tacit_status tacit_matrix_write_vector(const tacit_matrix *matrix,
                                       const char *path, const double *x)
{
    REQUIRE(matrix && path);
    TCT_THREADS_AT_MOST(matrix->world->threads);
    const tacit_matrix *m = matrix;
    const tct_csr *A = &m->A;
    if (!m->original)
        return tct_write_vector(m->world, path, NULL, A->global_rows, A->rows,
                                x);
    double *y = NULL;
    int64_t first, count;
    tacit_status status = original_range(m, &first, &count, &y);
    if (status >= 0)
        status = tct_tell(m->world, m->dealt, y, A->rows, m->original, x);
    if (status >= 0)
        status =
            tct_write_vector(m->world, path, NULL, A->global_rows, count, y);
    tct_free(y);
    return status;
}
