/* SPDX-License-Identifier: BSD-3-Clause
 * tests/by_entries.h - matrices whose entries are a function, and the backward
 * error of a solution. */
#ifndef TESTS_BY_ENTRIES_H
#define TESTS_BY_ENTRIES_H
#include "base/base.h"
#include "mpi_main.h"
#include "said.h"
#include <math.h>
#include <tacit/matrix.h>

static inline double noise(int64_t i, int64_t j)
{
    return tct_uniform((uint64_t)i + 1, (uint64_t)j + 1000) - 0.5;
}

/* Entry i, j of a matrix of n rows; 0: none. */
typedef double (*entry_fn)(int64_t n, int64_t i, int64_t j);

/* Rows [first, end) of `n`. */
static inline tacit_matrix *rows_by(tacit_world *w, entry_fn a, int64_t n,
                                    int64_t first, int64_t end)
{
    const size_t most = (size_t)(n * (end - first + 1));
    int64_t *ptr = tct_calloc(sizeof *ptr * (size_t)(end - first + 1)),
            *cols = tct_alloc(sizeof *cols * most), count = 0;
    double *vals = tct_alloc(sizeof *vals * most);
    tacit_matrix *m = NULL;
    for (int64_t i = first; i < end; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (a(n, i, j) == 0.0) continue;
            cols[count] = j;
            vals[count++] = a(n, i, j);
        }
        ptr[i - first + 1] = count;
    }
    OK(tacit_matrix_from_rows(w, n, first, end - first, ptr, cols, vals, &m));
    TCT_FREE(ptr, cols, vals);
    return m;
}

/* All rows, on each rank. */
static inline tacit_matrix *whole_by(tacit_world *w, entry_fn a, int64_t n)
{
    return rows_by(w, a, n, 0, n);
}

/* The largest |b - A x| of a row, over |A| |x| + |b| there. */
static inline double backward_error(const tacit_matrix *m, const double *x,
                                    const double *b)
{
    tacit_rows rows;
    double worst = 0.0;
    OK(tacit_matrix_view_rows(m, &rows));
    for (int64_t i = 0; i < rows.count; i++) {
        double r = b[i], size = fabs(b[i]);
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++) {
            const double t = rows.vals[k] * x[rows.cols32[k]];
            r -= t;
            size += fabs(t);
        }
        if (size > 0.0 && !(fabs(r) / size <= worst)) worst = fabs(r) / size;
    }
    return worst;
}

#endif
