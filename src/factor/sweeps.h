/* SPDX-License-Identifier: BSD-3-Clause
 * factor/sweeps.h - L and U of a factor, panel by panel, on the threads of a
 * team: the same bits for any number of these. */
#ifndef TCT_FACTOR_SWEEPS_H
#define TCT_FACTOR_SWEEPS_H
#include "device/team.h"
#include "factor/branches.h"

/* What solves go through, borrowed. */
typedef struct tct_sweeps {
    const tacit_factor_panels *P;
    const double *inverse; /* [P->rows] of pivots, where each row is a panel and
                              values stand where rows do; NULL: panels of any
                              width                                           */
    const tct_branches *branches; /* NULL: none                               */
    tct_team *team;               /* NULL: the caller alone; used by nobody
                                     else meanwhile                           */
    int64_t most; /* rows below the columns of a panel, at most               */
} tct_sweeps;

/* Rows of X and of T, below, for a team of so many threads. */
int64_t tct_sweeps_rows(const tct_sweeps *s);
int64_t tct_sweeps_scratch(const tct_sweeps *s, int threads);

/* X = L^-1 X, and X = U^-1 D^-1 X, of `c` columns, those of a row side by side:
 * X [tct_sweeps_rows][c], of which P's rows come first, as P numbers them; `T`
 * [tct_sweeps_scratch][c] is scratch. */
void tct_panels_down(const tct_sweeps *s, int64_t c, double *X, double *T);
void tct_panels_up(const tct_sweeps *s, int64_t c, double *X, double *T);
/* ... without `inverse`. */
void tct_sweep_down(const tct_sweeps *s, int64_t c, double *X, double *T);
void tct_sweep_up(const tct_sweeps *s, int64_t c, double *X, double *T);

#endif
