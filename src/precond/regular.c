/* SPDX-License-Identifier: BSD-3-Clause
 * precond/regular.c - the matrix of a preconditioner of a singular one: a row
 * for each null vector is fixed, which a factor needs, or rows of zeros
 * alone. */
#include "matrix/matrix.h"
#include "operator/null/null_space.h"
#include "precond/precond.h"

tacit_status tct_regular_open(const tct_precond_kind *kind,
                              const tacit_operator *A,
                              const tacit_matrix *matrix, tacit_matrix **out)
{
    const tct_null_space *N = A->null;
    *out = NULL;
    if (!N || !matrix || !kind->about.of_matrix || !matrix->A.ptr)
        return TACIT_OK;
    if (!kind->needs_regular && N->zero_rows == 0) return TACIT_OK;
    tacit_matrix *regular = tct_calloc(sizeof *regular);
    if (!regular) FAIL(TACIT_NO_MEMORY, "no memory for a preconditioner");
    *regular = *matrix;
    regular->A = (tct_csr){0};
    *out = regular;
    return tct_null_fix(A, matrix, !kind->needs_regular, &regular->A);
}

void tct_regular_close(tacit_matrix **regular)
{
    if (*regular) tct_csr_clear(&(*regular)->A);
    tct_free(*regular);
    *regular = NULL;
}
