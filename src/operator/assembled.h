/* SPDX-License-Identifier: BSD-3-Clause
 * operator/assembled.h - the operator of a matrix, A = local + ghost: for the
 * files of this folder that make it, multiply by it and update it. */
#ifndef TCT_OPERATOR_ASSEMBLED_H
#define TCT_OPERATOR_ASSEMBLED_H
#include "comm/exchange/plan.h"
#include "operator/choice/rent.h"
#include "operator/operator.h"
#include "operator/pattern/row_state.h"
#include "operator/pattern/split.h"
#include "operator/stencil/grid_matrix.h"
#include "sparse/constant_stencil.h"

/* A rank's own rows and columns as stored, and the trials of other formats. */
typedef struct tct_stored {
    const tct_format *format;
    tct_block *block;
    char name[40]; /* "sell/f64": format and store asked for */
    tacit_trial trials[TCT_TRIALS_MOST];
    int trial_count;
    char (*reasons)[TCT_REASON];        /* texts of trials on a GPU */
    double copy_seconds, store_seconds; /* see tacit_operator_info */
} tct_stored;

typedef struct tct_assembled {
    tacit_operator base;
    int64_t *starts;   /* [size + 1] first row of each rank              */
    tct_stored stored; /* its block is base.local                        */
    tct_order *order;  /* base.order                                     */
    tct_block *ghost;  /* columns of other ranks; NULL if there are none */
    tct_block *device_ghost; /* `ghost` on the device; on the host `ghost`
                             * itself */
    int64_t *ghost_id; /* [ghosts] their global numbers, ascending       */
    int64_t ghosts;
    tct_plan *plan; /* of as many columns as tct_operator_columns set, else
                       * two; NULL with one process */
    struct tct_rental *rental; /* of rows as they came: choice/rental.h; NULL:
                                * the format is settled */
    bool by_model;    /* formats are chosen by bytes, threads by size */
    double *diagonal; /* [n] in its order, if the format cannot give it; else
                       * NULL */
    double *device_diagonal;     /* the same in the device's memory, instead */
    struct tct_brought *brought; /* in a set-up: choice/brought.h; else NULL */
} tct_assembled;

/* How an operator is to be made. */
typedef struct tct_operator_wish {
    const char *format;
    bool rents;           /* for a single solve: choice/rent.h */
    bool by_model;        /* ... by bytes, not by time         */
    bool one_solve;       /* link and loop are not tried       */
    tct_rent_clock clock; /* ... by this clock; without `now`: another */
} tct_operator_wish;

/* --- assembled.c --------------------------------------------------------- */

extern const tct_operator_ops tct_assembled_ops;

static inline tct_assembled *tct_assembled_of(const tacit_operator *A)
{
    return (tct_assembled *)(uintptr_t)A;
}

/* The functions of tct_operator_ops, with `local` for the rank's own rows and
 * columns: A's block, or the same in reduced precision. */
void tct_assembled_apply(const tct_assembled *A, const tct_block *local,
                         tacit_queue *q, const double *x, double *y,
                         double *dot);
void tct_assembled_dots(const tct_assembled *A, const tct_block *local,
                        tacit_queue *q, const double *p, const double *r,
                        double *s, double *out);
bool tct_assembled_pass(const tct_assembled *A, const tct_block *local,
                        tacit_queue *q, const double *x, tct_pass pass,
                        const double *alpha, const double *beta,
                        const double *const *v, double *out);
void tct_assembled_block(const tct_assembled *A, const tct_block *local,
                         tacit_queue *q, tct_panel X, tct_panel Y);

/* Plan its exchange, of `columns` columns.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_assembled_plan(tct_assembled *A, int columns);

/* --- build.c ------------------------------------------------------------- */

/* Make the operator of `matrix`; on the host its rows may be shared with it.
 * Collective.  Errors as tacit_operator_create. */
tacit_status tct_operator_make(tacit_queue *queue, const tacit_matrix *matrix,
                               const tct_operator_wish *wish,
                               tacit_operator **out);
/* A copy of the entries of `matrix`, which must be square; clear it, also after
 * a failure. Errors INPUT, INVALID, NO_MEMORY. */
tacit_status tct_copy_rows(const tacit_queue *q, const tacit_matrix *matrix,
                           tct_csr *out);
/* The same for rows that are only read: shared with `matrix` on several ranks,
 * and where one rank `rents` them or has a GPU. */
tacit_status tct_rows_of(const tacit_queue *q, const tacit_matrix *matrix,
                         bool rents, tct_csr *out);
/* tct_scale, and the null vectors that the rows show: A's null space anew,
 * without what was declared. Rows that A has brought are looked at there.
 * Collective.  Errors INPUT, NO_MEMORY, COMM. */
tacit_status tct_scale_and_look(tct_assembled *A, const tacit_matrix *matrix,
                                tct_csr *rows);
/* Update A's info from its blocks. */
void tct_assembled_describe(tct_assembled *A);
/* Update A's info from its exchange. Collective.  Errors COMM. */
tacit_status tct_assembled_describe_exchange(tct_assembled *A);

/* --- from_stencil.c ------------------------------------------------------ */

/* The operator of a grid without entries; `format` is stencil, or auto.
 * Collective.  Errors as tacit_operator_from_stencil, INVALID (the format). */
tacit_status tct_operator_of_grid(tacit_queue *q, const tct_constant_stencil *s,
                                  const char *format, tacit_operator **out);

/* --- update.c ------------------------------------------------------------ */

/* See tacit_operator_update. */
tacit_status tct_assembled_update(tacit_operator *A, const tacit_matrix *m);

/* --- pattern/scale.c ----------------------------------------------------- */

/* Sizes of this rank's `rows`; `state` [rows] gets a tct_row_state each, unless
 * it is NULL. */
void tct_measure_rows(const tct_csr *rows, unsigned char *state,
                      tct_row_sizes *out);
/* Set A's exponent and norm for `rows` of these sizes, and scale their values
 * close to 1 if they are far from it. Collective.
 * Errors      INPUT (no power of 2 suits all entries). */
tacit_status tct_scale(tacit_operator *A, tct_csr *rows,
                       const tct_row_sizes *sizes);
/* The exponent for entries of which the largest and the inverse of the smallest
 * that is not 0 are given. Errors INPUT. */
tacit_status tct_scale_exponent(const double extent[2], int *out);

/* --- choice/store.c ------------------------------------------------------ */

/* Store this rank's `rows`, which are consumed, without communication. `format`
 * as in tacit/operator.h; `at`: where they are in a grid. */
tacit_status tct_store_blocks(tct_assembled *A, const char *format,
                              const tct_grid_place *at, tct_csr *rows);
/* Divide `rows` of A into own and other columns: as tct_split, or as
 * tct_split_lent where nothing has to move.
 * Errors      NO_MEMORY. */
tacit_status tct_divide_rows(const tct_assembled *A, tct_csr *rows,
                             tct_parts *parts);
/* Replace A's block by one of `local` in another format, without a store. It
 * stays after an error. */
tacit_status tct_store_again(tct_assembled *A, const char *format,
                             tct_local *local);
/* Store its ghost block, from the ghost part of `parts`.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_store_ghosts(tct_assembled *A, tct_parts *parts);
void tct_stored_clear(tct_stored *S);
/* Keep the diagonal of `local`, as stored, if the format cannot give it.
 * Errors      NO_MEMORY. */
tacit_status tct_keep_diagonal(tct_assembled *A, const tct_local *local);

/* --- choice/reduced_precision.c ------------------------------------------- */

/* Make the reduced-precision views of `wish`, "" for none: "low32", "low48", or
 * of "mixed" (both) and "mixed48" those that are faster than A's block, which
 * exists. */
tacit_status tct_reduced_store(tct_assembled *A, const char *wish,
                               tct_local *local);
/* Give their blocks the values of `local`, which has A's pattern. */
tacit_status tct_reduced_refill(const tct_assembled *A, const tct_local *local);

/* --- choice/threads.c ---------------------------------------------------- */

/* Set the threads of a host queue for `B`; all, if memory to measure is
 * lacking. */
void tct_threads_choose(tacit_queue *q, tct_block *B);
/* A number of threads for `B` by its bytes, without measuring. */
int tct_threads_guess(const tacit_queue *q, const tct_block *B);

#endif
