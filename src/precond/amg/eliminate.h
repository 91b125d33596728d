/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/eliminate.h - the inner loop of the coarsest inverse
 * (coarsest_solve.c), compiled for each instruction set (device/isa.h). */
#ifndef TCT_PRECOND_AMG_ELIMINATE_H
#define TCT_PRECOND_AMG_ELIMINATE_H
#include <stdint.h>

enum { TCT_ELIMINATED = 8 /* rows at once */ };

/* row[j] -= sum over p of f[p] W[p n + j], for each j < columns <= n. */
typedef void tct_eliminate(int64_t n, int64_t columns, const double *f,
                           const double *W, double *row);
tct_eliminate tct_eliminate_base, tct_eliminate_avx2, tct_eliminate_avx512;

#endif
