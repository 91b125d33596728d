/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/null_space.h - the null space of a singular symmetric matrix:
 * what was found in its rows, or declared by the caller.
 *
 * A vector z is a null vector if |A z| <= 16 eps |A| |z| in every row. A set-up
 * finds the constants of connected components, of each kind of their unknowns if
 * there are several (translations), and rows of zeros; candidates,
 * such as rigid-body modes, are tried where constants were found or the caller
 * asks for it. Everything is kept in the order of the matrix, on the host. */
#ifndef TCT_OPERATOR_NULL_NULL_SPACE_H
#define TCT_OPERATOR_NULL_NULL_SPACE_H
#include "operator/operator.h"
#include "operator/pattern/row_state.h"
#include "sparse/csr.h"

enum { TCT_NULL_VECTORS_MOST = 64 };

typedef struct tct_null_space {
    bool declared;
    int64_t rows;       /* of this rank */
    int64_t zero_rows;  /* of all ranks */
    int64_t components; /* of all ranks, or kinds of their rows, with constants
                         * for null vectors */
    int64_t *label; /* [rows] its component; -1: none, -2: a row of zeros; NULL:
                     * there are neither */
    double *size;   /* [components] their rows, of all ranks */
    double *sum;    /* [components] scratch                  */
    int vectors;
    double *z;       /* [vectors][rows] orthonormal, also to the constants */
    bool *fixed;     /* [rows] rows to fix for a regular matrix            */
    double *scratch; /* [2][rows] */
} tct_null_space;

/* The null vectors, of all ranks; 0 for NULL. */
int64_t tct_null_count(const tct_null_space *N);
void tct_null_close(tct_null_space **N);

/* --- components.c --------------------------------------------------------- */

/* Find rows of zeros and constants of components in `rows`, whose sums are in
 * `state` [rows], which changes; `*out` is NULL where there are none. Costs a look
 * at few entries a row, and at all only of components that these do not rule out.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_null_find(tacit_world *w, const tct_csr *rows,
                           const int64_t *starts, unsigned char *state,
                           tct_null_space **out);

/* --- translations.c ------------------------------------------------------- */

/* Components of `N` (NULL: nothing is done) with unknowns of up to 6 kinds in
 * turn, whose constants are all null vectors: these become components. `rows`
 * are those of `m`. Costs a pass over the rows where N has components, and of
 * several kinds five over the entries.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_null_split(const tacit_matrix *m, const tct_csr *rows,
                            tct_null_space *N);

/* --- vectors.c ------------------------------------------------------------ */

/* Add `count` of `vectors` [count][local rows], in the matrix's order, to A's
 * null space, without those that are not null or depend on others. With
 * `declared` a vector that is not null is an INVALID error, which names a row;
 * `matrix` NULL: the check takes the norm of A for the sums of its rows.
 * Collective.  Errors INVALID, NO_MEMORY, DEVICE, COMM. */
tacit_status tct_null_add(tacit_operator *A, const tacit_matrix *matrix,
                          int count, const double *vectors, bool declared);

/* --- project.c ------------------------------------------------------------ */

/* Norms of a vector, of all ranks: its own, and that of its part along the
 * null space. NAN: it is not finite, and was left alone. */
typedef struct tct_null_part {
    double whole, part;
} tct_null_part;

/* Project `v` [n], in host memory in the matrix's order, out of N, in place. A
 * vector of which only rounding is left becomes 0.
 * Collective.  Errors COMM. */
tacit_status tct_null_project_host(tct_null_space *N, tacit_world *w, double *v,
                                   tct_null_part *out);
/* The same for a device vector in the order of A, which has a null space. */
tacit_status tct_null_project(const tacit_operator *A, tacit_queue *q,
                              double *v, tct_null_part *out);

/* --- fix.c ---------------------------------------------------------------- */

/* Choose `fixed`, a row for each null vector. Collective. Errors NO_MEMORY,
 * COMM. */
tacit_status tct_null_choose_rows(tct_null_space *N, tacit_world *w);
/* A matrix with the rows of `m` whose diagonal entries are doubled in the
 * `fixed` rows, or only in those of zeros: regular, and its solution for a b
 * in the range of `m` is one of `m`, 0 in these rows. Borrows all but the
 * entries; clear `own`. Local.  Errors NO_MEMORY. */
tacit_status tct_null_fix(const tacit_operator *A, const tacit_matrix *m,
                          bool zeros_only, tct_csr *own);
/* 1 for the diagonal entries `d` [n], on the device in A's order, of rows of
 * zeros. Local.  Errors DEVICE. */
tacit_status tct_null_diagonal(const tacit_operator *A, double *d);

#endif
