/* SPDX-License-Identifier: BSD-3-Clause
 * precond/by_factor.h - the first member of a preconditioner that solves with a
 * factor of this rank's rows (triangular/factor/factor.h), where the vectors are. */
#ifndef TCT_BY_FACTOR_H
#define TCT_BY_FACTOR_H
#include "precond/precond.h"
#include "triangular/device/rows.h"
#include "triangular/factor/factor.h"

/* What an application of so many columns is called with. */
typedef struct tct_for_columns {
    const struct tct_by_factor *M;
    int columns;
} tct_for_columns;

typedef struct tct_by_factor {
    tacit_operator base;
    tacit_factor *F;
    int32_t *place;  /* [n] where the factor's rows are in the operator's order;
                        NULL: where its `original` says                       */
    double *scratch; /* of a solve with `columns` right-hand sides            */
    int columns;
    int launch;             /* systems that one on a GPU solves for; 0: 1     */
    tacit_factor_solver *S; /* on a GPU, with F                              */
    tct_rows *R;            /* ... or, of an incomplete F                    */
    tct_for_columns call[TCT_COLUMNS_MOST + 1];
    tacit_precond_info about;
    char detail[96]; /* of it, by who has made F                              */
} tct_by_factor;

/* Once there is F: all the rest, but `base` and `detail`; `order` NULL: F's rows
 * were the operator's. Room is for as many columns as there was before.
 * Errors      NO_MEMORY, UNSUPPORTED, DEVICE. */
tacit_status tct_by_factor_open(tct_by_factor *M, const tct_order *order);
void tct_by_factor_close(tct_by_factor *M);
/* `to`, which is closed, gets what `from` has. */
void tct_by_factor_move(tct_by_factor *from, tct_by_factor *to);

/* For the table of operations. */
void tct_by_factor_apply(const tacit_operator *M, tacit_queue *q,
                         const double *x, double *y, double *dot);
bool tct_by_factor_for_systems(const tacit_operator *M, const tacit_queue *q);
tct_resident_view tct_by_factor_view(const tacit_operator *M);
tacit_status tct_by_factor_columns(tacit_operator *M, int columns);
void tct_by_factor_destroy(tacit_operator *M);
/* What is known of `M`; NULL: it is none. */
const tacit_precond_info *tct_by_factor_info(const tacit_operator *M);

#endif
