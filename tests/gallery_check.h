/* SPDX-License-Identifier: BSD-3-Clause
 * tests/gallery_check.h - helpers of the tests of the gallery and of meshes:
 * make a matrix and check that it is symmetric and definite. */
#ifndef TESTS_GALLERY_CHECK_H
#define TESTS_GALLERY_CHECK_H
#include "gallery/gallery.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline tct_gallery_matrix *open_matrix(const char *name)
{
    tct_gallery_matrix *g = NULL;
    if (tct_gallery_open(name, &g) < 0)
        fail_msg("%s: %s", name, tacit_error_message());
    return g;
}

static inline tct_csr fill_rows(const tct_gallery_matrix *g, int64_t first,
                                int64_t rows)
{
    tct_csr A = {0};
    if (tct_gallery_fill(g, first, rows, &A) < 0)
        fail_msg("%s: %s", g->name, tacit_error_message());
    return A;
}

static inline tct_csr make_matrix(const char *name)
{
    tct_gallery_matrix *g = open_matrix(name);
    tct_csr A = fill_rows(g, 0, g->rows);
    tct_gallery_close(&g);
    return A;
}

/* The entry in row `i`, column `j`; *there tells if it is stored. */
static inline double entry_of(const tct_csr *A, int64_t i, int64_t j,
                              bool *there)
{
    int64_t low = A->ptr[i], high = A->ptr[i + 1];
    while (low < high) {
        const int64_t mid = (low + high) / 2;
        if (tct_csr_col(A, mid) < j) low = mid + 1;
        else high = mid;
    }
    *there = low < A->ptr[i + 1] && tct_csr_col(A, low) == j;
    return *there ? A->val[low] : 0.0;
}

/* Columns ascend, lie in the matrix, and a_ij is a_ji to the last bit. */
static inline void check_symmetric(const tct_csr *A, const char *name)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            bool there;
            const int64_t j = tct_csr_col(A, k);
            if (j < 0 || j >= A->rows ||
                (k > A->ptr[i] && j <= tct_csr_col(A, k - 1)))
                fail_msg("%s: column %lld in row %lld", name, (long long)j,
                         (long long)i);
            const double other = entry_of(A, j, i, &there);
            if (!there || memcmp(&other, &A->val[k], sizeof other) != 0)
                fail_msg("%s: (%lld, %lld) is %.17g, its partner %.17g", name,
                         (long long)i, (long long)j, A->val[k], other);
        }
}

/* The smallest pivot of a complete Cholesky factorisation, relative to its
 * diagonal entry; not positive if `A` is not positive definite. */
static inline double smallest_pivot(const tct_csr *A)
{
    const int64_t n = A->rows;
    double least = 1.0;
    double *L = calloc((size_t)(n * n), sizeof *L);
    assert_non_null(L);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            L[i * n + tct_csr_col(A, k)] = A->val[k];
    for (int64_t i = 0; i < n && least > 0.0; i++) {
        const double whole = L[i * n + i];
        for (int64_t j = 0; j <= i; j++) {
            double sum = L[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            L[i * n + j] = j < i ? sum / L[j * n + j] : sum;
        }
        const double pivot = L[i * n + i];
        if (!(pivot / whole > 0.0)) least = pivot / whole;
        else if (pivot / whole < least) least = pivot / whole;
        L[i * n + i] = sqrt(pivot > 0.0 ? pivot : 1.0);
    }
    free(L);
    return isnan(least) ? -1.0 : least;
}

/* `A` in one piece and in 2, 3 and 7: the same bits. */
static inline void check_pieces(const char *name)
{
    static const int counts[] = {1, 2, 3, 7};
    tct_gallery_matrix *g = open_matrix(name);
    tct_csr A = fill_rows(g, 0, g->rows);
    for (int c = 0; c < 4; c++)
        for (int p = 0; p < counts[c]; p++) {
            const int64_t from = g->rows * p / counts[c];
            const int64_t to = g->rows * (p + 1) / counts[c];
            tct_csr B = fill_rows(g, from, to - from);
            const int64_t at = A.ptr[from];
            for (int64_t i = from; i <= to; i++)
                if (A.ptr[i] - at != B.ptr[i - from])
                    fail_msg("%s: piece %d of %d, row %lld has another length",
                             name, p, counts[c], (long long)i);
            for (int64_t k = 0; k < tct_csr_nonzeros(&B); k++)
                if (tct_csr_col(&A, at + k) != tct_csr_col(&B, k) ||
                    memcmp(&A.val[at + k], &B.val[k], sizeof A.val[k]) != 0)
                    fail_msg("%s: piece %d of %d, entry %lld differs", name, p,
                             counts[c], (long long)k);
            tct_csr_clear(&B);
        }
    tct_csr_clear(&A);
    tct_gallery_close(&g);
}

/* Opening or filling `name` fails with `code` and a message with `part`, and
 * leaves no memory behind. */
static inline void check_error(const char *name, tacit_status code,
                               const char *part)
{
    const size_t before = tct_memory_blocks();
    tct_gallery_matrix *g = NULL;
    tct_csr A = {0};
    tacit_status status = tct_gallery_open(name, &g);
    if (status >= 0) status = tct_gallery_fill(g, 0, g->rows, &A);
    const char *message = tacit_error_message();
    if (status != code || !strstr(message, part) || strchr(message, '\n'))
        fail_msg("%s: status %s, message \"%s\", expected %s with \"%s\"", name,
                 tacit_status_name(status), message, tacit_status_name(code),
                 part);
    assert_null(A.ptr);
    tct_gallery_close(&g);
    assert_int_equal(tct_memory_blocks(), before);
}

/* Each allocation fails in turn: an error or, where it was not needed, the
 * matrix; and nothing is left behind. */
static inline void check_no_memory(const char *name)
{
    tacit_status status = TACIT_NO_MEMORY;
    int failures = 0;
    for (long k = 1; k < 200 && (status < 0 || k <= 4); k++) {
        tct_gallery_matrix *g = NULL;
        tct_csr A = {0};
        tct_memory_fail_at(k);
        status = tct_gallery_open(name, &g);
        if (status >= 0) status = tct_gallery_fill(g, 0, g->rows, &A);
        tct_memory_fail_at(0);
        assert_true(status == TACIT_OK || status == TACIT_NO_MEMORY);
        failures += status < 0;
        tct_csr_clear(&A);
        tct_gallery_close(&g);
        assert_int_equal(tct_memory_blocks(), 0);
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(failures >= 4);
}

#endif
