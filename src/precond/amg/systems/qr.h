/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/qr.h - the QR factors of a few rows. */
#ifndef TCT_PRECOND_AMG_SYSTEMS_QR_H
#define TCT_PRECOND_AMG_SYSTEMS_QR_H
#include <stdint.h>

/* B [rows][columns] = Q R, with Q in place of B and R [columns][columns], upper
 * triangular. A column of B that depends on those before it, as any must where
 * rows are fewer, has a column of zeros in Q and a row of zeros in R: then
 * Q' Q is 1 or 0 on the diagonal. Returns how many columns of Q are not 0. */
int tct_qr(int64_t rows, int columns, double *B, double *R);

#endif
