/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/csr.c - allocation of compressed sparse rows, checked against free
 * memory, and sorting of rows. */
#include "sparse/csr.h"
#include "device/parallel.h"
#include <stdatomic.h>
#include <string.h>

/* Column numbers, and their count, fit in 32 bits. */
static bool narrow(int64_t global_cols)
{
    return global_cols <= INT32_MAX;
}

static void clear(void *ptr, int64_t from, int64_t to)
{
    memset((int64_t *)ptr + from, 0, (size_t)(to - from) * sizeof(int64_t));
}

tacit_status tct_csr_rows(tct_csr *A, int64_t global_rows, int64_t global_cols,
                          int64_t first, int64_t rows)
{
    ENSURE(A != NULL && A->ptr == NULL);
    ENSURE(first >= 0 && rows >= 0 && global_rows >= 0 && global_cols >= 0);
    ENSURE(first <= global_rows - rows);
    TRY(tct_memory_require(8.0 * ((double)rows + 1.0), "the rows of a matrix"));
    int64_t *ptr = NULL;
    TRY(TCT_ALLOC(rows + 1, "the rows of a matrix", &ptr));
    tct_parallel(rows + 1, TCT_SHORT, clear, ptr);
    *A = (tct_csr){.global_rows = global_rows,
                   .global_cols = global_cols,
                   .first = first,
                   .rows = rows,
                   .ptr = ptr};
    return TACIT_OK;
}

tacit_status tct_csr_entries(tct_csr *A, int64_t nonzeros)
{
    ENSURE(A != NULL && A->ptr != NULL && nonzeros >= 0);
    ENSURE(A->col32 == NULL && A->col64 == NULL && A->val == NULL);
    const bool is_narrow = narrow(A->global_cols);
    const double each = sizeof(double) + (is_narrow ? 4.0 : 8.0);
    TRY(tct_memory_require(each * (double)nonzeros, "the matrix"));
    TRY(TCT_ALLOC(nonzeros, "the values of a matrix", &A->val));
    if (is_narrow)
        TRY(TCT_ALLOC(nonzeros, "the columns of a matrix", &A->col32));
    else TRY(TCT_ALLOC(nonzeros, "the columns of a matrix", &A->col64));
    return TACIT_OK;
}

/* Several threads may each have a holder. */
static int held(const tct_csr *A, int change)
{
    return __atomic_add_fetch(A->holders, change, __ATOMIC_ACQ_REL);
}

tacit_status tct_csr_share(tct_csr *A, tct_csr *out)
{
    if (!A->holders) {
        TRY(TCT_ALLOC(1, "shared rows", &A->holders));
        *A->holders = 1;
    }
    (void)held(A, 1);
    *out = *A;
    return TACIT_OK;
}

tacit_status tct_csr_borrow(tct_csr *A, const int32_t *cols, const double *vals)
{
    ENSURE(A->ptr != NULL && !A->holders && !A->val);
    TRY(TCT_ALLOC(1, "shared rows", &A->holders));
    *A->holders = 2; /* the caller, and A */
    A->borrowed = true;
    A->col32 = (int32_t *)(uintptr_t)cols; /* shared arrays are only read */
    A->val = (double *)(uintptr_t)vals;
    return TACIT_OK;
}

typedef struct {
    const tct_csr *from;
    tct_csr *to;
} copying;

static void copy_entries(void *work, int64_t first, int64_t last)
{
    const copying *c = work;
    for (int64_t k = first; k < last; k++) {
        tct_csr_set_col(c->to, k, tct_csr_col(c->from, k));
        c->to->val[k] = c->from->val[k];
    }
}

tacit_status tct_csr_copy(const tct_csr *from, tct_csr *to)
{
    const int64_t nonzeros = tct_csr_nonzeros(from);
    TRY(tct_csr_rows(to, from->global_rows, from->global_cols, from->first,
                     from->rows));
    memcpy(to->ptr, from->ptr, (size_t)(from->rows + 1) * sizeof *to->ptr);
    TRY(tct_csr_entries(to, nonzeros));
    tct_parallel(nonzeros, TCT_SHORT, copy_entries, &(copying){from, to});
    return TACIT_OK;
}

bool tct_csr_is_shared(const tct_csr *A)
{
    return A->holders && held(A, 0) > 1;
}

tacit_status tct_csr_own(tct_csr *A)
{
    tct_csr own = {0};
    if (!tct_csr_is_shared(A)) return TACIT_OK;
    const tacit_status status = tct_csr_copy(A, &own);
    if (status < 0) {
        tct_csr_clear(&own);
        return status;
    }
    tct_csr_clear(A);
    *A = own;
    return TACIT_OK;
}

void tct_csr_clear(tct_csr *A)
{
    if (!A) return;
    const int left = A->holders ? held(A, -1) : 0;
    if (A->borrowed && left == 1) TCT_FREE(A->ptr, A->holders);
    else if (left == 0)
        TCT_FREE(A->ptr, A->col32, A->col64, A->val, A->holders);
    *A = (tct_csr){0};
}

/* --- sorting -------------------------------------------------------------- */

typedef struct {
    int64_t col;
    double val;
} entry;

/* Stable merge sort of `a` [n] with workspace `b` [n]; insertion for short
 * runs, since most rows are short. */
static void sort_entries(entry *a, entry *b, int64_t n)
{
    enum { SHORT = 24 };
    if (n <= SHORT) {
        for (int64_t i = 1; i < n; i++) {
            const entry e = a[i];
            int64_t k = i;
            for (; k > 0 && a[k - 1].col > e.col; k--) a[k] = a[k - 1];
            a[k] = e;
        }
        return;
    }
    const int64_t half = n / 2;
    sort_entries(a, b, half);
    sort_entries(a + half, b + half, n - half);
    memcpy(b, a, (size_t)n * sizeof *b);
    int64_t i = 0, j = half;
    for (int64_t k = 0; k < n; k++)
        a[k] = j >= n || (i < half && b[i].col <= b[j].col) ? b[i++] : b[j++];
}

static bool ascending(const tct_csr *A, int64_t from, int64_t to)
{
    bool ok = true;
    for (int64_t k = from + 1; k < to; k++)
        ok = ok && tct_csr_col(A, k - 1) < tct_csr_col(A, k);
    return ok;
}

/* Sort row `i`; true if a column stands twice in it. */
static bool sort_row(tct_csr *A, int64_t i, entry *work)
{
    const int64_t from = A->ptr[i], n = A->ptr[i + 1] - from;
    if (ascending(A, from, from + n)) return false;
    for (int64_t k = 0; k < n; k++)
        work[k] = (entry){tct_csr_col(A, from + k), A->val[from + k]};
    sort_entries(work, work + n, n);
    bool twice = false;
    for (int64_t k = 0; k < n; k++) {
        tct_csr_set_col(A, from + k, work[k].col);
        A->val[from + k] = work[k].val;
        twice = twice || (k > 0 && work[k].col == work[k - 1].col);
    }
    return twice;
}

typedef struct {
    tct_csr *A;
    atomic_int_fast64_t
        twice; /* the first row with an entry that stands twice */
} sorting;

static void sort_range(void *work, int64_t from, int64_t to, void *space)
{
    sorting *s = work;
    int64_t first = INT64_MAX;
    for (int64_t i = from; i < to; i++)
        if (sort_row(s->A, i, space) && i < first) first = i;
    tct_atomic_min(&s->twice, first);
}

static int64_t widest_row(const void *work, int64_t from, int64_t to)
{
    const int64_t *ptr = work;
    int64_t widest = 0;
    for (int64_t i = from; i < to; i++)
        if (ptr[i + 1] - ptr[i] > widest) widest = ptr[i + 1] - ptr[i];
    return widest;
}

/* Sort all rows; `*twice` is the first row with an entry that stands twice,
 * `A->rows` if there is none. */
static tacit_status sort_rows(tct_csr *A, int64_t *twice)
{
    sorting s = {.A = A, .twice = A->rows};
    const int64_t widest =
        tct_parallel_max(A->rows, 10 * TCT_SHORT, widest_row, A->ptr);
    if (!tct_parallel_with(A->rows, TCT_SHORT,
                           2 * (size_t)widest * sizeof(entry), sort_range, &s))
        FAIL(TACIT_NO_MEMORY, "no memory to sort rows of %lld entries",
             (long long)widest);
    *twice = atomic_load(&s.twice);
    return TACIT_OK;
}

/* Add up adjacent entries of the same column, in their original order, and
 * close the gaps. */
static void sum_twice_entries(tct_csr *A)
{
    int64_t out = 0, from = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t to = A->ptr[i + 1], start = out;
        for (int64_t k = from; k < to; k++) {
            const int64_t col = tct_csr_col(A, k);
            if (out > start && tct_csr_col(A, out - 1) == col) {
                A->val[out - 1] += A->val[k];
                continue;
            }
            tct_csr_set_col(A, out, col);
            A->val[out++] = A->val[k];
        }
        from = to;
        A->ptr[i + 1] = out;
    }
}

tacit_status tct_csr_sort(tct_csr *A, bool sum_twice, const char *where)
{
    ENSURE(A != NULL && A->ptr != NULL);
    int64_t row = 0;
    TRY(sort_rows(A, &row));
    if (row == A->rows) return TACIT_OK;
    if (sum_twice) {
        sum_twice_entries(A);
        return TACIT_OK;
    }
    int64_t k = A->ptr[row] + 1;
    while (tct_csr_col(A, k) != tct_csr_col(A, k - 1)) k++;
    FAIL(TACIT_INPUT,
         "%s: the entry in row %lld, column %lld stands twice: "
         "remove one of them",
         where, (long long)(A->first + row + 1),
         (long long)(tct_csr_col(A, k) + 1));
}
