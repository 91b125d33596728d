/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/precision.c - values of levels rounded to floats, where that
 * leaves of smooth vectors what a level is for.
 *
 * Rounded alike at both places, entries stay symmetric; and the cycle is positive
 * definite for any symmetric matrices on its levels, as long as the smoother
 * converges for large eigenvalues: of small ones, even below 0, each factor of
 * 2 S - S A S is positive. What rounding can cost is iterations, where the energy
 * w'A w of the smooth vector is of the size of what was rounded. */
#include "matrix/parallel.h"
#include "precond/amg/amg.h"
#include <math.h>

/* Of w'A w, what rounding may change: measured, iterations stay the same. */
static const double HARMLESS = 1e-2, ROUNDED = 0x1p-24;

bool tct_amg_floats_are_harmless(double energy, double size)
{
    return ROUNDED * size <= HARMLESS * energy;
}

void tct_amg_round(tacit_matrix *m)
{
    const int64_t entries = tct_csr_nonzeros(&m->A);
    TCT_OMP(omp parallel for schedule(static))
    for (int64_t k = 0; k < entries; k++)
        m->A.val[k] = tct_rounded(m->A.val[k]);
}

/* Of row `i` and smooth vector `v`, with ghosts taken for as smooth as the row. */
static void add_row(const tct_csr *A, const double *w, int vectors, int v,
                    int64_t i, double *energy, double *size)
{
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k) - A->first;
        const int64_t there = j >= 0 && j < A->rows ? j : i;
        const double ww = w ? w[vectors * i + v] * w[vectors * there + v] : 1.0;
        *energy += A->val[k] * ww;
        *size += fabs(A->val[k] * ww);
    }
}

static tacit_status will_do_for(const tacit_matrix *m, const double *w,
                                int vectors, int v, bool *out)
{
    const tct_csr *A = &m->A;
    double energy = 0.0, size = 0.0;
    TCT_OMP(omp parallel for schedule(static) reduction(+ : energy, size))
    for (int64_t i = 0; i < A->rows; i++)
        add_row(A, w, vectors, v, i, &energy, &size);
    double sums[] = {energy, size};
    TRY(tct_reduce_f64(m->world, TCT_SUM, 2, sums));
    *out = tct_amg_floats_are_harmless(sums[0], sums[1]);
    return TACIT_OK;
}

tacit_status tct_amg_floats_will_do(const tacit_matrix *m, const double *w,
                                    int vectors, bool *out)
{
    *out = true;
    for (int v = 0; v < vectors && *out; v++)
        TRY(will_do_for(m, w, vectors, v, out));
    return TACIT_OK;
}
