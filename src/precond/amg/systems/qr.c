/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/qr.c - Gram-Schmidt with two passes a column, so that
 * columns are orthogonal to rounding. No pivoting: the first columns, such as
 * translations, are the safe ones. */
#include "precond/amg/systems/qr.h"
#include <math.h>
#include <stdbool.h>

/* The remainder of a dependent column is rounding, about 1e-16 of it; of a
 * rotation about a far point it is the aggregate's size over the distance. */
static const double DEPENDS = 1e-10;

static double dot(int64_t rows, int columns, const double *B, int i, int j)
{
    double sum = 0.0;
    for (int64_t r = 0; r < rows; r++)
        sum += B[r * columns + i] * B[r * columns + j];
    return sum;
}

/* Orthogonalize column `j` against column `i`; returns the coefficient. */
static double take_out(int64_t rows, int columns, double *B, int i, int j)
{
    const double part = dot(rows, columns, B, i, j);
    for (int64_t r = 0; r < rows; r++)
        B[r * columns + j] -= part * B[r * columns + i];
    return part;
}

int tct_qr(int64_t rows, int columns, double *B, double *R)
{
    int rank = 0;
    for (int k = 0; k < columns * columns; k++) R[k] = 0.0;
    for (int j = 0; j < columns; j++) {
        const double before = sqrt(dot(rows, columns, B, j, j));
        for (int i = 0; i < 2 * j; i++)
            R[i % j * columns + j] += take_out(rows, columns, B, i % j, j);
        const double norm = sqrt(dot(rows, columns, B, j, j));
        const bool kept = norm > DEPENDS * before;
        for (int64_t r = 0; r < rows; r++)
            B[r * columns + j] = kept ? B[r * columns + j] / norm : 0.0;
        R[j * columns + j] = kept ? norm : 0.0;
        rank += kept;
    }
    return rank;
}
