/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/eliminate.c - inner loop of the coarsest inverse. */
#include "precond/amg/eliminate.h"
#include "device/isa.h"

tct_eliminate TCT_ISA_NAME(tct_eliminate);

void TCT_ISA_NAME(tct_eliminate)(int64_t n, int64_t columns,
                                 const double *restrict f,
                                 const double *restrict W, double *restrict row)
{
    double g[TCT_ELIMINATED];
    for (int p = 0; p < TCT_ELIMINATED; p++) g[p] = -f[p];
    for (int64_t j = 0; j < columns; j++) {
        double sum = row[j];
        for (int p = 0; p < TCT_ELIMINATED; p++)
            sum = fused(g[p], W[p * n + j], sum);
        row[j] = sum;
    }
}
