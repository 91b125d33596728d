/* SPDX-License-Identifier: BSD-3-Clause
 * factor/sweeps.h - sweeps with L and U, panel by panel, on the threads of a
 * team; the bits do not depend on their number. */
#ifndef TCT_FACTOR_SWEEPS_H
#define TCT_FACTOR_SWEEPS_H
#include "device/team.h"
#include "factor/branches.h"

/* Input of sweeps, borrowed. */
typedef struct tct_sweeps {
    const tacit_factor_panels *P;
    const double *inverse;        /* [P->rows] inverse pivots if each row is a
                            * panel, with values stored by row; NULL: panels
                            * of any width */
    const tct_branches *branches; /* NULL: none                               */
    tct_team *team;               /* NULL: the caller alone; not used
                                   * concurrently */
    int64_t most; /* most rows below a panel's columns                        */
} tct_sweeps;

/* Rows of X and of T for the threads of the team. */
int64_t tct_sweeps_rows(const tct_sweeps *s);
int64_t tct_sweeps_scratch(const tct_sweeps *s, int threads);

/* X = L^-1 X, and X = U^-1 D^-1 X, for `c` interleaved columns: X
 * [tct_sweeps_rows][c] begins with the rows of P in P's order; `T`
 * [tct_sweeps_scratch][c] is scratch. */
void tct_panels_down(const tct_sweeps *s, int64_t c, double *X, double *T);
void tct_panels_up(const tct_sweeps *s, int64_t c, double *X, double *T);
/* X = D^-1 X for rows of `c` columns; D has the diagonal `d` and, unless NULL,
 * the entries `e` below it. */
void tct_divide_by_pivots(int64_t rows, const double *d, const double *e,
                          int64_t c, double *X);
/* The same without `inverse`. */
void tct_sweep_down(const tct_sweeps *s, int64_t c, double *X, double *T);
void tct_sweep_up(const tct_sweeps *s, int64_t c, double *X, double *T);

#endif
