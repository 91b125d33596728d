/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/qr.h - the QR factors of a few rows. */
#ifndef TCT_PRECOND_AMG_SYSTEMS_QR_H
#define TCT_PRECOND_AMG_SYSTEMS_QR_H
#include <stdint.h>

/* B [rows][columns] = Q R; Q replaces B, R [columns][columns] is upper
 * triangular. A column of B that depends on earlier ones (always if rows <
 * columns) gives a zero column of Q and a zero row of R: Q' Q has 1 or 0 on the
 * diagonal. Returns the number of nonzero columns of Q. */
int tct_qr(int64_t rows, int columns, double *B, double *R);

#endif
