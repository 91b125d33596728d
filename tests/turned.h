/* SPDX-License-Identifier: BSD-3-Clause
 * tests/turned.h - a matrix whose factor L U needs pivots. */
#ifndef TESTS_TURNED_H
#define TESTS_TURNED_H
#include "mpi_main.h"
#include <stdlib.h>
#include <tacit/matrix.h>

/* The rows of a gallery's matrix, the first 7 last: L U needs pivots. */
static tacit_matrix *turned(tacit_world *w, const char *name)
{
    tacit_matrix *from = NULL, *m = NULL;
    tacit_rows rows;
    OK(tacit_matrix_open(w, name, NULL, &from));
    OK(tacit_matrix_view_rows(from, &rows));
    const int64_t n = rows.count, entries = rows.ptr[n];
    int64_t *ptr = malloc(sizeof *ptr * (size_t)(n + 1));
    int64_t *cols = malloc(sizeof *cols * (size_t)entries), count = 0;
    double *vals = malloc(sizeof *vals * (size_t)entries);
    assert_true(ptr && cols && vals);
    ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = (i + 7) % n;
        for (int64_t k = rows.ptr[row]; k < rows.ptr[row + 1]; k++) {
            cols[count] = rows.cols32[k];
            vals[count++] = rows.vals[k];
        }
        ptr[i + 1] = count;
    }
    OK(tacit_matrix_from_rows(w, n, 0, n, ptr, cols, vals, &m));
    free(ptr);
    free(cols);
    free(vals);
    tacit_matrix_destroy(&from);
    return m;
}

#endif
