/* SPDX-License-Identifier: BSD-3-Clause
 * operator/assembled.h - the operator of a matrix, A = local + ghost: for the
 * files of this folder that make it, multiply by it and give it new values. */
#ifndef TCT_OPERATOR_ASSEMBLED_H
#define TCT_OPERATOR_ASSEMBLED_H
#include "comm/exchange/plan.h"
#include "operator/operator.h"
#include "operator/pattern/split.h"

/* A rank's own rows and columns as they are stored, and what else was tried. */
typedef struct tct_stored {
    const tct_format *format;
    tct_block *block;
    char name[40]; /* "sell/f64": format and store wished */
    tacit_trial trials[TCT_TRIALS_MOST];
    int trial_count;
    char (*reasons)[TCT_REASON]; /* texts of trials on a GPU */
} tct_stored;

typedef struct tct_assembled {
    tacit_operator base;
    int64_t *starts;        /* [size + 1] first row of each rank              */
    tct_stored stored;      /* its block is base.local                        */
    tct_order *order;       /* base.order                                     */
    tct_block *ghost;       /* columns of other ranks; NULL if there are none */
    tct_block *ghost_there; /* the same on the device: `ghost` on the host    */
    int64_t *ghost_id;      /* [ghosts] their global numbers, ascending       */
    int64_t ghosts;
    tct_plan *plan;   /* of as many columns as tct_operator_columns asked for,
                       else two; NULL with one process                    */
    double *diagonal; /* [n] in its order, kept where the format does not tell
                         it; else NULL                                      */
} tct_assembled;

/* --- assembled.c --------------------------------------------------------- */

extern const tct_operator_ops tct_assembled_ops;

static inline tct_assembled *tct_assembled_of(const tacit_operator *A)
{
    return (tct_assembled *)(uintptr_t)A;
}

/* The words of tct_operator_ops, with `local` for the rank's own rows and
 * columns: A's block, or the same with values of fewer bits. */
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

/* A copy of the entries of `matrix`, which must be square; to be cleared, also
 * after a failure. Errors INPUT, INVALID, NO_MEMORY. */
tacit_status tct_copy_rows(const tacit_queue *q, const tacit_matrix *matrix,
                           tct_csr *out);
/* Bring A's info up to date, as far as blocks say. */
void tct_assembled_describe(tct_assembled *A);
/* The same of its exchange. Collective.  Errors COMM. */
tacit_status tct_assembled_describe_exchange(tct_assembled *A);

/* --- update.c ------------------------------------------------------------ */

/* See tacit_operator_update. */
tacit_status tct_assembled_update(tacit_operator *A, const tacit_matrix *m);

/* --- pattern/scale.c ----------------------------------------------------- */

/* Set A's exponent and norm for `rows`, and bring their values near 1 if they
 * are far from it. Collective.
 * Errors      INPUT (no power of 2 serves all entries). */
tacit_status tct_scale(tacit_operator *A, tct_csr *rows);

/* --- choice/store.c ------------------------------------------------------ */

/* The blocks of this rank's `rows`, which are consumed, without a word to the
 * others. `format` as in tacit/operator.h. */
tacit_status tct_store_blocks(tct_assembled *A, const char *format,
                              tct_csr *rows);
/* Its ghost block, of the ghost part of `parts`.
 * Errors      NO_MEMORY, DEVICE. */
tacit_status tct_store_ghosts(tct_assembled *A, tct_parts *parts);
void tct_stored_clear(tct_stored *S);

/* --- choice/low.c -------------------------------------------------------- */

/* The views of low precision that `wish` asks for, "" for none: "low32",
 * "low48", or of "mixed" (both) and "mixed48" those that are faster than the
 * block of A, which is there. */
tacit_status tct_reduced_store(tct_assembled *A, const char *wish,
                               tct_local *local);
/* Their blocks with the values of `local`, which has A's pattern. */
tacit_status tct_reduced_refill(const tct_assembled *A, const tct_local *local);

/* --- choice/threads.c ---------------------------------------------------- */

/* Set how many threads of a host queue are to work on `B`. Without memory to
 * measure, all. */
void tct_threads_choose(tacit_queue *q, tct_block *B);

#endif
