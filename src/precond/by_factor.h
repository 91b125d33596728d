/* SPDX-License-Identifier: BSD-3-Clause
 * precond/by_factor.h - the first member of a preconditioner that solves with a
 * factor (factor/factor.h) where the vectors are: a factor of this rank's rows,
 * or of all, distributed over a grid of ranks. */
#ifndef TCT_PRECOND_BY_FACTOR_H
#define TCT_PRECOND_BY_FACTOR_H
#include "factor/factor.h"
#include "factor/level_solve.h"
#include "precond/precond.h"
#include "trisolve/gpu/rows.h"
#include "trisolve/grid/stream_solve.h"

/* The arguments of an application to several columns. */
typedef struct tct_for_columns {
    const struct tct_by_factor *M;
    int columns;
} tct_for_columns;

/* The first member of the options of each; its table has their rows. */
typedef struct tct_by_factor_options {
    const char *order; /* of the factor's rows; NULL: its kind's default */
    int leaves;        /* of its tree                                    */
    int grid[3];       /* 0, 0, 0: not given                             */
} tct_by_factor_options;
extern const tct_option tct_by_factor_table[];

typedef struct tct_by_factor {
    tct_precond base;
    const char *order;   /* of the factor's rows, one of tct_rows_orders */
    int leaves;          /* of its tree, 0: 1                            */
    int parts;           /* of its grid; 0: not distributed              */
    tacit_factor *F;     /* of this rank; NULL: J is used                 */
    tct_stream_solve *J; /* ... of all                                    */
    tct_level_solve *V;  /* of an incomplete F on the host; or NULL        */
    int32_t *place;      /* [n] places of the factor's rows in the operator's
                      * order; NULL: as its `original` */
    int32_t *b_place;    /* [n] ... of its rows in b, if these are permuted */
    double *scratch; /* of a solve with `columns` right-hand sides            */
    int columns;
    int launch;             /* right-hand sides of a launch on a GPU; 0: 1    */
    tacit_factor_solver *S; /* on a GPU, with F                              */
    tct_rows *R;            /* ... or, of an incomplete F                    */
    tct_for_columns call[TCT_COLUMNS_MOST + 1];
    tacit_precond_info about;
    tacit_factor_info made; /* of F, or of the factor of J                    */
    char dense[32];         /* storage of made.dense                          */
    char detail[96]; /* set by the maker of F                                 */
} tct_by_factor;

/* Complete `M`, whose F exists, except `base` and `detail`; `order` NULL: F's
 * rows were the operator's. Room for columns stays as it was.
 * Errors      NO_MEMORY, UNSUPPORTED, DEVICE. */
tacit_status tct_by_factor_open(tct_by_factor *M, const tct_order *order);
void tct_by_factor_close(tct_by_factor *M);
/* As `M` before it had a factor: for a new one, with room for as many
 * columns. */
void tct_by_factor_blank(const tct_by_factor *M, tct_by_factor *out);
/* Take order (`otherwise` by default), leaves, and parts, by default none if
 * `alone`.
 * Errors      INVALID, UNSUPPORTED. */
tacit_status tct_by_factor_take(tct_by_factor *M,
                                const tct_by_factor_options *o,
                                tct_rows_order otherwise, bool alone);
/* Move the contents of `from` to `to`, which is closed. */
void tct_by_factor_move(tct_by_factor *from, tct_by_factor *to);

/* --- on_grid.c ------------------------------------------------------------ */

/* Make `M->F` of a matrix on one rank, and `detail`. */
typedef tacit_status tct_factor_maker(tct_by_factor *M,
                                      const tacit_matrix *whole);
/* Make M->J, of M->parts, in place of F: rank 0 gathers the whole matrix, times
 * 2^-exponent, and factors it; and complete `M` as tct_by_factor_open.
 * Collective.
 * Memory      on rank 0 the matrix and its factor, until the latter is
 *             distributed.
 * Errors      as `make` on rank 0; NO_MEMORY, UNSUPPORTED (2^31 rows), COMM. */
tacit_status tct_by_factor_distribute(tct_by_factor *M,
                                      const tacit_matrix *matrix, int exponent,
                                      tct_factor_maker *make);

/* --- for tables of kinds -------------------------------------------------- */

void tct_by_factor_apply(const tacit_operator *M, tacit_queue *q,
                         const double *x, double *y, double *dot);
bool tct_by_factor_for_batch(const tacit_operator *M, const tacit_queue *q);
tct_resident_view tct_by_factor_view(const tct_precond *M);
tacit_status tct_by_factor_columns(tacit_operator *M, int columns);
void tct_by_factor_destroy(tacit_operator *M);
void tct_by_factor_describe(const tct_precond *M, tacit_precond_info *out);

#endif
