/* SPDX-License-Identifier: BSD-3-Clause
 * tests/rows.h - matrices by formula, distributed over the test's ranks, and
 * files that all ranks see, to test the matrix. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H
#include "comm/setup/directory.h"
#include "matrix/ask_columns.h"
#include "matrix/matrix.h"
#include "mpi_main.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- matrices by formula -------------------------------------------------- */

/* Entries of row `i` of an n x n matrix into `cols`, `vals` [MOST]. */
enum { MOST = 80 };
typedef int (*row_fn)(int64_t n, int64_t i, int64_t *cols, double *vals);

/* Unsymmetric pattern, random values, rows of 1 to 6 entries. */
static inline int scattered_row(int64_t n, int64_t i, int64_t *cols,
                                double *vals)
{
    int count = 0;
    const int wanted = 1 + (int)(i % 6);
    for (int64_t k = 0; count < wanted; k++) {
        const int64_t j = (i * 7 + k * k * 5 + k) % n;
        bool there = false;
        for (int c = 0; c < count; c++) there = there || cols[c] == j;
        if (there) continue;
        cols[count] = j;
        vals[count++] = tct_uniform((uint64_t)i, (uint64_t)j);
    }
    return count;
}

/* Second differences in one dimension. */
static inline int line_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    for (int64_t j = i - 1; j <= i + 1; j++) {
        if (j < 0 || j >= n) continue;
        cols[count] = j;
        vals[count++] = j == i ? 2 : -1;
    }
    return count;
}

/* Each row looks at the next one only: no pattern to the left. */
static inline int upper_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    cols[0] = i;
    vals[0] = 1;
    cols[1] = i + 1;
    vals[1] = 1;
    return i + 1 < n ? 2 : 1;
}

/* Five points on a SIDE x SIDE grid, its points numbered in disorder. */
enum { SIDE = 31, GRID = SIDE * SIDE };
static inline int64_t shuffled(int64_t i)
{
    return i * 366 % GRID; /* 366 and 961 have no common divisor */
}
static inline int64_t unshuffled(int64_t i)
{
    for (int64_t k = 0; k < GRID; k++)
        if (shuffled(k) == i) return k;
    return -1;
}
static inline int shuffled_grid_row(int64_t n, int64_t i, int64_t *cols,
                                    double *vals)
{
    assert_int_equal(n, GRID);
    const int64_t p = unshuffled(i), x = p % SIDE, y = p / SIDE;
    int count = 0;
    for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++) {
            const int64_t u = x + dx, v = y + dy;
            if ((dx && dy) || u < 0 || v < 0 || u >= SIDE || v >= SIDE)
                continue;
            cols[count] = shuffled(v * SIDE + u);
            vals[count++] = dx || dy ? -1 : 4;
        }
    return count;
}

/* Dense blocks of 3, each coupled to the next and the one before. */
static inline int block_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    int count = 0;
    for (int64_t b = i / 3 - 1; b <= i / 3 + 1; b++)
        for (int64_t j = 3 * b; j < 3 * b + 3; j++) {
            if (j < 0 || j >= n) continue;
            cols[count] = j;
            vals[count++] = i == j ? 20 : 1;
        }
    return count;
}

static inline int dense_row(int64_t n, int64_t i, int64_t *cols, double *vals)
{
    for (int64_t j = 0; j < n; j++) {
        cols[j] = j;
        vals[j] = (double)(i + j + 1);
    }
    return (int)n;
}

typedef struct {
    int64_t first, rows;
    int64_t *ptr, *cols;
    double *vals;
} given_rows;

static inline given_rows make_rows(row_fn row, int64_t n, int64_t first,
                                   int64_t last)
{
    given_rows g = {.first = first, .rows = last - first};
    const size_t room = (size_t)(g.rows * MOST + 1);
    g.ptr = calloc((size_t)g.rows + 1, sizeof *g.ptr);
    g.cols = calloc(room, sizeof *g.cols);
    g.vals = calloc(room, sizeof *g.vals);
    assert_true(g.ptr && g.cols && g.vals);
    for (int64_t i = 0; i < g.rows; i++)
        g.ptr[i + 1] =
            g.ptr[i] + row(n, first + i, g.cols + g.ptr[i], g.vals + g.ptr[i]);
    return g;
}

static inline void free_rows(given_rows *g)
{
    free(g->ptr);
    free(g->cols);
    free(g->vals);
}

static inline int64_t share(int64_t n, int rank)
{
    return tct_share(n, tacit_world_size(test_world()), rank);
}

static inline int64_t my_first(int64_t n)
{
    return share(n, tacit_world_rank(test_world()));
}

static inline int64_t my_last(int64_t n)
{
    return share(n, tacit_world_rank(test_world()) + 1);
}

static inline tacit_matrix *make(row_fn row, int64_t n)
{
    given_rows g = make_rows(row, n, my_first(n), my_last(n));
    tacit_matrix *m = NULL;
    assert_int_equal(tacit_matrix_from_rows(test_world(), n, g.first, g.rows,
                                            g.ptr, g.cols, g.vals, &m),
                     TACIT_OK);
    free_rows(&g);
    return m;
}

static inline void assert_message(const char *part)
{
    if (!strstr(tacit_error_message(), part))
        fail_msg("\"%s\" does not say \"%s\"", tacit_error_message(), part);
}

/* Every entry of `m`, in original numbers, is as the formula says. */
static inline void assert_entries(const tacit_matrix *m, row_fn row, int64_t n)
{
    const tct_csr *A = &m->A;
    const int64_t nonzeros = tct_csr_nonzeros(A);
    int64_t *table = calloc((size_t)A->rows + 1, sizeof *table);
    int64_t *cols = calloc((size_t)nonzeros + 1, sizeof *cols);
    int64_t *scratch = calloc((size_t)nonzeros + 1, sizeof *scratch);
    for (int64_t i = 0; i < A->rows; i++) table[i] = tct_original(m, i);
    assert_true(nonzeros <= TCT_COLUMN_BATCH);
    assert_int_equal(tct_ask_columns(m, 0, nonzeros, table, cols, scratch),
                     TACIT_OK);
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t expected[MOST];
        double vals[MOST];
        const int count = row(n, table[i], expected, vals);
        assert_int_equal(A->ptr[i + 1] - A->ptr[i], count);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            int at = 0;
            while (at < count && expected[at] != cols[k]) at++;
            assert_true(at < count);
            assert_true(vals[at] == A->val[k]);
            if (k > A->ptr[i])
                assert_true(tct_csr_col(A, k - 1) < tct_csr_col(A, k));
        }
    }
    free(table);
    free(cols);
    free(scratch);
}

/* --- files ---------------------------------------------------------------- */

/* A path that all ranks share, with `text` in it unless NULL. */
static inline const char *temporary(const char *name, const char *text)
{
    static _Thread_local char path[256];
    long id = (long)getpid();
    const char *folder = getenv("TMPDIR");
    assert_int_equal(tct_bcast(test_world(), 0, sizeof id, &id), TACIT_OK);
    snprintf(path, sizeof path, "%s/tacit-%ld-%s", folder ? folder : "/tmp", id,
             name);
    if (text && tacit_world_rank(test_world()) == 0) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        assert_int_equal(fclose(f), 0);
    }
    assert_int_equal(tct_agree(test_world(), TACIT_OK), TACIT_OK);
    return path;
}

static inline void discard(const char *path)
{
    assert_int_equal(tct_agree(test_world(), TACIT_OK), TACIT_OK);
    if (tacit_world_rank(test_world()) == 0) unlink(path);
}

#endif
