/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/csr.h - the rows that one rank owns, in compressed sparse rows. */
#ifndef TCT_SPARSE_CSR_H
#define TCT_SPARSE_CSR_H
#include "base/base.h"

/* Rows [first, first + rows) of a global_rows x global_cols matrix. Columns are
 * global, ascending and unique in each row, and stored in 32 bits if they fit
 * (one of col32 and col64 is set once there are entries). */
typedef struct tct_csr {
    int64_t global_rows, global_cols;
    int64_t first, rows;
    int64_t *ptr;   /* [rows + 1]    */
    int32_t *col32; /* [ptr[rows]]   */
    int64_t *col64; /* [ptr[rows]]   */
    double *val;    /* [ptr[rows]]   */
    int *holders;   /* how many share the arrays, and so only read them; NULL:
                     * nobody else has */
    bool borrowed;  /* the caller is one of them: col32 and val are his */
} tct_csr;

static inline int64_t tct_csr_col(const tct_csr *A, int64_t k)
{
    return A->col32 ? A->col32[k] : A->col64[k];
}
static inline void tct_csr_set_col(tct_csr *A, int64_t k, int64_t col)
{
    if (A->col32) A->col32[k] = (int32_t)col;
    else A->col64[k] = col;
}
static inline int64_t tct_csr_nonzeros(const tct_csr *A)
{
    return A->ptr ? A->ptr[A->rows] : 0;
}
/* The offset of column `col` in local row `i`, or -1. */
static inline int64_t tct_csr_find(const tct_csr *A, int64_t i, int64_t col)
{
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (tct_csr_col(A, mid) < col) low = mid + 1;
        else high = mid;
    }
    return low < A->ptr[i + 1] && tct_csr_col(A, low) == col ? low : -1;
}
/* The diagonal entry of local row `i`; 0 if none is stored. */
static inline double tct_csr_diagonal(const tct_csr *A, int64_t i)
{
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (tct_csr_col(A, k) == A->first + i) return A->val[k];
    return 0.0;
}

/* Set the sizes of an empty `A` and allocate `ptr` (cleared).
 * Errors      NO_MEMORY. */
tacit_status tct_csr_rows(tct_csr *A, int64_t global_rows, int64_t global_cols,
                          int64_t first, int64_t rows);

/* Allocate columns and values for `nonzeros` entries; untouched, so that the
 * pages are placed by the threads that fill them.
 * Errors      NO_MEMORY, before anything is allocated. */
tacit_status tct_csr_entries(tct_csr *A, int64_t nonzeros);

/* Sort the columns of each row. Repeated entries are added up if `sum_twice`;
 * otherwise the first one is an INPUT error. `where` names the matrix in the
 * message. */
tacit_status tct_csr_sort(tct_csr *A, bool sum_twice, const char *where);

/* Add `shift` to the diagonal of the square `A`; a row without a diagonal entry
 * gets one. `where` names the matrix in messages.
 * Memory      a second copy, if a row lacks its diagonal.
 * Errors      INPUT (a sum that is not finite, naming the row), NO_MEMORY. */
tacit_status tct_csr_shift(tct_csr *A, double shift, const char *where);

/* Count, or remove, stored entries of value zero. */
int64_t tct_csr_count_zeros(const tct_csr *A);
void tct_csr_drop_zeros(tct_csr *A);

/* Let `*out` have the arrays of `A` too: the last one to clear them frees them.
 * Errors      NO_MEMORY. */
tacit_status tct_csr_share(tct_csr *A, tct_csr *out);
/* Let `A`, with rows and without entries, have the caller's arrays, which stay
 * as they are until all that share them are cleared.
 * Errors      NO_MEMORY. */
tacit_status tct_csr_borrow(tct_csr *A, const int32_t *cols,
                            const double *vals);
/* Do others have the arrays, too? */
bool tct_csr_is_shared(const tct_csr *A);
/* Make arrays that others have, too, a copy of its own.
 * Errors      NO_MEMORY: `A` stays. */
tacit_status tct_csr_own(tct_csr *A);

/* Copy the rows to the empty `to`; clear it, also after a failure. Errors
 * NO_MEMORY. */
tacit_status tct_csr_copy(const tct_csr *from, tct_csr *to);

/* Free the arrays, unless others have them, and clear `A`. */
void tct_csr_clear(tct_csr *A);

#endif
