/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/vectors.c - vector files, in the original row order, for matrices that
 * may be redistributed. */
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "io/io.h"
#include "matrix/matrix.h"

/* This rank's range of the original order, and memory for its values. */
static tacit_status original_range(const tacit_matrix *m, int columns,
                                   int64_t *first, int64_t *count,
                                   double **values)
{
    const int rank = m->world->rank;
    *first = m->dealt[rank];
    *count = m->dealt[rank + 1] - *first;
    return tct_agree(m->world, TCT_ALLOC(*count * columns,
                                         "vectors in original order", values));
}

static tacit_status read_values(const tacit_matrix *m, const char *path,
                                bool guess, double *x)
{
    TCT_THREADS_AT_MOST(tct_world_threads(m->world));
    const tct_csr *A = &m->A;
    const int64_t n = A->global_rows;
    TRY(tct_agree(m->world, x || !A->rows
                                ? TACIT_OK
                                : tacit_error_set(TACIT_INVALID,
                                                  "x is NULL, but this rank "
                                                  "owns rows")));
    if (!m->original)
        return tct_read_vector(m->world, path, guess, n, A->first, A->rows, x);
    double *y = NULL;
    int64_t first, count;
    tacit_status status = original_range(m, 1, &first, &count, &y);
    if (status >= 0)
        status = tct_read_vector(m->world, path, guess, n, first, count, y);
    if (status >= 0)
        status =
            tct_directory_get(m->world, m->dealt, y, A->rows, m->original, x);
    tct_free(y);
    return status;
}

tacit_status tacit_matrix_read_vector(const tacit_matrix *matrix,
                                      const char *path, double *x)
{
    REQUIRE(matrix != NULL, path != NULL);
    return read_values(matrix, path, false, x);
}

tacit_status tacit_matrix_read_guess(const tacit_matrix *matrix,
                                     const char *path, double *x)
{
    REQUIRE(matrix != NULL, path != NULL);
    return read_values(matrix, path, true, x);
}

/* From the original order, Y [columns][count], to this rank's current rows. */
static tacit_status ask_columns(const tacit_matrix *m, int columns,
                                int64_t count, const double *Y, double **X)
{
    const int64_t n = m->A.rows;
    TRY(tct_agree(m->world, TCT_ALLOC(n * columns, "vectors of a file", X)));
    tacit_status status = TACIT_OK;
    for (int j = 0; j < columns && status >= 0; j++)
        status = tct_directory_get(m->world, m->dealt, Y + j * count, n,
                                   m->original, *X + j * n);
    return status;
}

static tacit_status read_columns(const tacit_matrix *m, const char *path,
                                 bool guess, int *columns, double **out)
{
    TCT_THREADS_AT_MOST(tct_world_threads(m->world));
    const tct_csr *A = &m->A;
    const int64_t n = A->global_rows;
    if (!m->original)
        return tct_read_vectors(m->world, path, guess, n, A->first, A->rows,
                                columns, out);
    const int64_t *dealt = m->dealt + m->world->rank;
    const int64_t count = dealt[1] - dealt[0];
    double *X = NULL, *Y = NULL;
    int found = 0;
    tacit_status status =
        tct_read_vectors(m->world, path, guess, n, dealt[0], count, &found, &Y);
    if (status >= 0) status = ask_columns(m, found, count, Y, &X);
    tct_free(Y);
    if (status < 0) {
        tct_free(X);
        return status;
    }
    *columns = found;
    *out = X;
    return TACIT_OK;
}

tacit_status tacit_matrix_read_vectors(const tacit_matrix *matrix,
                                       const char *path, int *columns,
                                       double **X)
{
    REQUIRE(matrix != NULL, path != NULL, columns != NULL, X != NULL);
    return read_columns(matrix, path, false, columns, X);
}

tacit_status tacit_matrix_read_guesses(const tacit_matrix *matrix,
                                       const char *path, int *columns,
                                       double **X)
{
    REQUIRE(matrix != NULL, path != NULL, columns != NULL, X != NULL);
    return read_columns(matrix, path, true, columns, X);
}

void tacit_matrix_free_vectors(double **X)
{
    if (!X) return;
    tct_free(*X);
    *X = NULL;
}

tacit_status tacit_matrix_write_vector(const tacit_matrix *matrix,
                                       const char *path, const double *x)
{
    REQUIRE(matrix != NULL, path != NULL);
    return tacit_matrix_write_vectors(matrix, path, 1, x,
                                      (size_t)matrix->A.rows);
}

tacit_status tacit_matrix_write_vectors(const tacit_matrix *matrix,
                                        const char *path, int columns,
                                        const double *X, size_t stride)
{
    REQUIRE(matrix != NULL, path != NULL, columns >= 1);
    const size_t rows = (size_t)matrix->A.rows;
    REQUIRE(stride >= rows);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    const tacit_matrix *m = matrix;
    const tct_csr *A = &m->A;
    if (!m->original)
        return tct_write_vectors(m->world, path, NULL, A->global_rows, A->rows,
                                 columns, X, (int64_t)stride);
    double *Y = NULL;
    int64_t first, count;
    tacit_status status = original_range(m, columns, &first, &count, &Y);
    for (int j = 0; j < columns && status >= 0; j++)
        status = tct_directory_set(m->world, m->dealt, Y + j * count, A->rows,
                                   m->original, X + (size_t)j * stride);
    if (status >= 0)
        status = tct_write_vectors(m->world, path, NULL, A->global_rows, count,
                                   columns, Y, count);
    tct_free(Y);
    return status;
}
