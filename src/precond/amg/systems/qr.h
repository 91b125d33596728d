/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/qr.h - the QR factors of a few rows, one text for host
 * and device: Gram-Schmidt with two passes a column, so that columns are
 * orthogonal to rounding. No pivoting: the first columns, such as translations,
 * are the safe ones. */
#ifndef TCT_PRECOND_AMG_SYSTEMS_QR_H
#define TCT_PRECOND_AMG_SYSTEMS_QR_H
#include "device/steps.h"
#include <stdbool.h>
#include <stdint.h>

/* The remainder of a dependent column is rounding, about 1e-16 of it; of a
 * rotation about a far point it is the aggregate's size over the distance. */
#define TCT_QR_DEPENDS 1e-10

TCT_BOTH double tct_qr_dot(int64_t rows, int columns, const double *B, int i,
                           int j)
{
    double sum = 0.0;
    for (int64_t r = 0; r < rows; r++)
        sum += B[r * columns + i] * B[r * columns + j];
    return sum;
}

/* Orthogonalize column `j` against column `i`; returns the coefficient. */
TCT_BOTH double tct_qr_take_out(int64_t rows, int columns, double *B, int i,
                                int j)
{
    const double part = tct_qr_dot(rows, columns, B, i, j);
    for (int64_t r = 0; r < rows; r++)
        B[r * columns + j] -= part * B[r * columns + i];
    return part;
}

/* B [rows][columns] = Q R; Q replaces B, R [columns][columns] is upper
 * triangular. A column of B that depends on earlier ones (always if rows <
 * columns) gives a zero column of Q and a zero row of R: Q' Q has 1 or 0 on the
 * diagonal. Returns the number of nonzero columns of Q. */
TCT_BOTH int tct_qr(int64_t rows, int columns, double *B, double *R)
{
    int rank = 0;
    for (int k = 0; k < columns * columns; k++) R[k] = 0.0;
    for (int j = 0; j < columns; j++) {
        const double before = sqrt(tct_qr_dot(rows, columns, B, j, j));
        for (int i = 0; i < 2 * j; i++)
            R[i % j * columns + j] +=
                tct_qr_take_out(rows, columns, B, i % j, j);
        const double norm = sqrt(tct_qr_dot(rows, columns, B, j, j));
        const bool kept = norm > TCT_QR_DEPENDS * before;
        for (int64_t r = 0; r < rows; r++)
            B[r * columns + j] = kept ? B[r * columns + j] / norm : 0.0;
        R[j * columns + j] = kept ? norm : 0.0;
        rank += kept;
    }
    return rank;
}

#endif
