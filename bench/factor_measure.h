/* SPDX-License-Identifier: BSD-3-Clause
 * bench/factor_measure.h - what is measured of a factor, and who is asked. */
#ifndef BENCH_FACTOR_MEASURE_H
#define BENCH_FACTOR_MEASURE_H
#include "factor/factor.h"
#include "matrix/matrix.h"
#include <stdio.h>
#include <tacit/tacit.h>

enum { MANY = 50, SOLVES = 5 };
enum {
    ORDER,
    SYMBOLIC,
    NUMERIC,
    SOLVE_ONE,
    SOLVE_MANY,
    PEAK,
    KEPT,
    RESIDUAL,
    KINDS
};

typedef struct {
    double
        figure[KINDS]; /* seconds of processor time; bytes beyond the matrix */
    double rows, entries, pieces, flops;
    bool done;
} outcome;

double cpu_seconds(void);
/* Memory of this process now, and at most. */
double resident_bytes(void);
double most_bytes(void);

/* ||b - A x|| / ||b|| */
double residual_of(const tct_csr *A, const double *b, const double *x);
/* MANY columns, one after the other. */
double *random_vectors(int64_t n);
/* The median, which sorts them. */
double median_of(int count, double *value);
/* The order of rows that ours has, post-ordered: who else takes it? */
tacit_status own_order(const tacit_matrix *m, tct_nesting *out);

/* Theirs, where they are: CHOLMOD's supernodal factor; SuperLU_DIST's on one
 * process, `inverse`: with inverted diagonal blocks. */
tacit_status measure_cholmod(const tacit_matrix *m, outcome *out);
tacit_status measure_superlu_dist(const tacit_matrix *m, bool inverse,
                                  outcome *out);

#endif
