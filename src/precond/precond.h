/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.h - preconditioners: each is an operator, made for another
 * one. A kind of preconditioner has a file with its table at the end, and one
 * word in TCT_PRECONDS. */
#ifndef TCT_PRECOND_PRECOND_H
#define TCT_PRECOND_PRECOND_H
#include "operator/operator.h"
#include "precond/options.h"

/* The source of a preconditioner, besides the operator. */
typedef struct tct_precond_source {
    const tacit_matrix *matrix; /* the operator's, or NULL         */
    tacit_matrix *regular;      /* ... with fixed rows: regular.c; or NULL */
    void *options;              /* the kind's own struct           */
    double *vectors;            /* of files that they name, or NULL */
} tct_precond_source;

/* A preconditioner: the first member of the struct of each kind. */
typedef struct tct_precond {
    tacit_operator op; /* y = M x */
    const struct tct_precond_kind *kind;
    const tacit_operator *made_for;
    int made_of; /* the count of its values then */
    bool raced;  /* chosen by autotuning: its solver has it, not the caller */
} tct_precond;

/* The data by which a persistent kernel applies a preconditioner: one of these,
 * and NULL. */
typedef struct tct_resident_view {
    const double *diagonal; /* d [n] on the device, in the operator's order:
                                    y_i = d_i x_i                           */
    const struct tct_rows *rows; /* y = (L L')^-1 x: trisolve/gpu/rows.h */
} tct_resident_view;

enum { TCT_OPTION_TABLES = 2 };

/* A kind of preconditioner. */
typedef struct tct_precond_kind {
    tacit_precond about;
    tct_operator_ops op; /* of the product y = M x                      */
    size_t bytes;        /* of its struct; 0: M is NULL, nothing is made */
    /* Tables of its options, which other kinds may share, and the size of its
     * struct of options. OPTIONAL: it has none */
    const tct_option *options[TCT_OPTION_TABLES];
    size_t options_size;
    /* Do the options make sense together? OPTIONAL: yes */
    tacit_status (*check)(const void *options);
    /* Read the files that options name; *vectors is freed after set-up.
     * Collective. OPTIONAL: there are none */
    tacit_status (*load)(const tacit_matrix *matrix, void *options,
                         double **vectors);
    /* Make `M`, zero but for what tct_precond_begin has set, for its operator,
     * in the operator's order; incomplete on failure. */
    tacit_status (*setup)(tct_precond *M, const tct_precond_source *from);
    /* See tacit_precond_update. */
    tacit_status (*renew)(tct_precond *M, const tacit_matrix *matrix);
    /* See tct_precond_pivot. OPTIONAL: there are no pivots */
    tacit_status (*pivot)(tct_precond *M, const char *why, bool *done);
    /* Describe it in `out`, which has the name. OPTIONAL: the name is enough */
    void (*describe)(const tct_precond *M, tacit_precond_info *out);
    /* See tacit_precond_level_at. OPTIONAL: none */
    const tacit_precond_level *(*level)(const tct_precond *M, int i);
    /* OPTIONAL: no persistent kernel applies it */
    tct_resident_view (*view)(const tct_precond *M);
    /* Does an application take as long as several iterations without it?
     * Speculative work is avoided then. */
    bool expensive;
    /* Is a batch of several columns so much faster that it needs no trial? */
    bool together;
    /* Usual costs, for autotuning: set-up in sweeps of the host over the
     * entries of the matrix, an application in iterations of cg without
     * preconditioner. 0: negligible or, if made from the matrix, its savings
     * are not predictable. */
    double sweeps, products;
    /* Usual iterations for one with the diagonal, or without preconditioner, of
     * matrices with at most `entries` a row, on the host. 0: they depend little
     * on the matrix, and any may be tried. */
    double share, entries;
    /* Of an exact factor: cost of set-up whatever the matrix, and for each
     * operation of a factor within the profile of the matrix. 0: it is none. */
    double always, operation;
    double entry_bytes, row_bytes; /* memory during set-up, and after it */
    /* Must the matrix be regular? If not, rows of zeros alone are fixed. */
    bool needs_regular;
} tct_precond_kind;

/* The kinds, in the order of tacit_precond_at. */
#define TCT_PRECONDS(X) X(none) X(jacobi) X(ic0) X(ic1) X(amg) X(direct)
#define X(name)         extern const tct_precond_kind tct_precond_##name;
TCT_PRECONDS(X)
#undef X

/* Methods with a persistent kernel for a diagonal. */
#define TCT_PRECOND_DIAGONAL "cg, single, pipe-pr, sstep"

/* Kind `i`, NULL past the end. */
const tct_precond_kind *tct_precond_kind_at(int i);
/* The kind called `name`; `out` may be NULL.
 * Errors      INVALID (unknown, with the nearest name), UNSUPPORTED. */
tacit_status tct_precond_find(const char *name, const tct_precond_kind **out);
/* The preconditioner that `M` is; NULL: none, or a user's operator. */
const tct_precond *tct_precond_of(const tacit_operator *M);

/* Prepare `out` for a preconditioner of `A`: check the options, `given` NULL
 * for defaults, and read their files. It borrows the matrix and, until it is
 * closed, what the options borrow.
 * Collective.  Errors INVALID, UNSUPPORTED (no matrix, which `kind` is made
 *              of), IO, INPUT, NO_MEMORY. */
tacit_status tct_precond_source_open(const tct_precond_kind *kind,
                                     const tacit_operator *A,
                                     const tacit_matrix *matrix,
                                     const tacit_precond_options *given,
                                     tct_precond_source *out);
void tct_precond_source_close(tct_precond_source *from);
/* Make a preconditioner for `A`.
 * Collective.  Errors as tacit_precond_create_of. */
tacit_status tct_precond_make(const tct_precond_kind *kind,
                              const tacit_operator *A,
                              const tct_precond_source *from,
                              tacit_operator **out);
/* Fill in the common members of a preconditioner for `A`. */
void tct_precond_begin(tct_precond *M, const tct_precond_kind *kind,
                       const tacit_operator *A);

/* Properties of `M`, NULL for none, and false of a user's operator: see
 * tct_precond_kind. */
bool tct_is_expensive(const tacit_operator *M);
bool tct_is_together(const tacit_operator *M);
tct_resident_view tct_precond_view(const tacit_operator *M);

/* `M`, NULL for none, is chosen by a race: sentences then ask for another. */
void tct_precond_set_raced(tacit_operator *M);

/* Before a run with `M`, NULL for none: if its operator's values have changed,
 * renew it, unless that needs the matrix.
 * Collective.  Errors INVALID (it needs the matrix), INPUT, NO_MEMORY,
 *              DEVICE. */
tacit_status tct_precond_follow(const tacit_operator *M);

/* If `M` is a factor without pivots that may need some, make it again with
 * them, once; `why` begins the note of it. *done: it is another one now.
 * Collective.  Errors NO_MEMORY, UNSUPPORTED, DEVICE, COMM. */
tacit_status tct_precond_pivot(const tacit_operator *M, const char *why,
                               bool *done);

/* --- regular.c ------------------------------------------------------------ */

/* The matrix that `kind` is made of: `matrix`, or where A is known to be
 * singular a copy with fixed rows in `*out`; free it.
 * Errors      NO_MEMORY. Local. */
tacit_status tct_regular_open(const tct_precond_kind *kind,
                              const tacit_operator *A,
                              const tacit_matrix *matrix, tacit_matrix **out);
void tct_regular_close(tacit_matrix **regular);

/* --- ic0.c ---------------------------------------------------------------- */

struct tct_entries;
/* Add places to the pattern of `A`, in the order of its rows, and free A's.
 * Errors      NO_MEMORY. */
typedef tacit_status tct_ic_fill(struct tct_entries *A);
/* Set up, and renew, an incomplete Cholesky factor of each rank's rows; `fill`
 * NULL: with A's pattern. Without options the order is the operator's.
 * Collective.  Errors INPUT, UNSUPPORTED, NO_MEMORY, DEVICE. */
tacit_status tct_ic_setup(tct_precond *M, const tct_precond_source *from,
                          tct_ic_fill *fill);
tacit_status tct_ic_renew(tct_precond *M, const tacit_matrix *matrix,
                          tct_ic_fill *fill);

/* --- same.c --------------------------------------------------------------- */

/* Is `m` as large as A's matrix? Local.  Errors INVALID. */
tacit_status tct_precond_fits(const tacit_operator *A, const tacit_matrix *m);
/* Has `m` A's values, up to the rounding of a product?
 * Collective.  Errors INVALID, naming a row; NO_MEMORY, DEVICE, COMM. */
tacit_status tct_precond_same(const tacit_operator *A, const tacit_matrix *m);

#endif
