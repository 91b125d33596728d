/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/operator.h - what the solver multiplies by: the local block in the
 * format that is fastest on this device, the ghost block, and the exchange
 * between them (A = local + ghost, Trotter et al., section 3.2). */
#ifndef TACIT_OPERATOR_H
#define TACIT_OPERATOR_H
#include <tacit/matrix.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

typedef struct tacit_operator tacit_operator;

/* Build the operator of `matrix` on the device of `queue`, the local block in
 * `format`: "csr", "sell", "bsell" (and "sell32" on a GPU), or "auto" (NULL):
 * measured, on a sample or, on a GPU, on the matrix. On a GPU "FORMAT/STORE"
 * says how values are kept: "auto" (as small as loses nothing), "f64", "f32",
 * "dict8", "dict16" (only where they lose nothing). For mixed precision there
 * may stand at the end "+low32" or "+low48", which add values of 32 or 48 bits,
 * or "+mixed" and "+mixed48", which add them only if products get faster by it
 * ("+mixed" both, since a solve may find 32 bits too few). Last of all may stand
 * the order in which a rank keeps its rows: "@none", "@rcm" (reverse Cuthill and
 * McKee), "@metis", or "@auto", the default: rcm if it makes products faster,
 * tried where it may. Vectors are those of the matrix's order: they are brought
 * into another one and back by what uses the operator. For another order a
 * second copy of the rows is in memory during set-up.
 * Collective.  Borrows `queue`, which must outlive the operator; the matrix
 * is copied and may be destroyed.
 * Errors      INPUT (not square; entries of sizes too far apart for double
 *             precision), INVALID (unknown format), UNSUPPORTED (a format that
 *             does not fit this matrix), NO_MEMORY, COMM. */
TACIT_API tacit_status tacit_operator_create(tacit_queue *queue,
                                             const tacit_matrix *matrix,
                                             const char *format,
                                             tacit_operator **out);

/* The same, but Takes the entries of `matrix`: they are given back while they
 * are converted, so that memory peaks at little more than one copy. What is
 * left of `matrix` is the numbering of its rows, enough for its vector
 * functions and for tacit_manufacture. */
TACIT_API tacit_status tacit_operator_take(tacit_queue *queue,
                                           tacit_matrix *matrix,
                                           const char *format,
                                           tacit_operator **out);

/* Replace the values by those of `matrix`, which has the same rows and the
 * same pattern. Nothing is planned or measured anew.
 * Collective.
 * Errors      INVALID, naming an entry that only one of them has by its row and
 *             column in original numbers, counted from 1; ranks whose own rows
 *             fit may then have new values already: update again, or destroy. */
TACIT_API tacit_status tacit_operator_update(tacit_operator *A,
                                             const tacit_matrix *matrix);

/* y = A x on device vectors [local rows], which do not overlap.
 * Collective.  Blocking: the queue has drained on return.
 * Cost        1 product, 1 exchange.
 * Errors      INVALID (they do), whatever the queue has met. */
TACIT_API tacit_status tacit_operator_apply(const tacit_operator *A,
                                            const double *x, double *y);

/* Rows (and columns) that this rank owns. */
TACIT_API int64_t tacit_operator_local_rows(const tacit_operator *A);

typedef struct tacit_operator_info {
    int64_t rows, nonzeros;       /* of the whole matrix                   */
    int64_t row_min, row_max;     /* entries per row                       */
    const char *format;           /* of this rank's local block            */
    const char *detail;           /* "32-row slices, 16-bit offsets, ..."  */
    double bytes_per_nonzero;     /* matrix bytes per product / entry      */
    double padding;               /* stored entries / entries - 1          */
    int64_t ghosts;               /* values received per exchange, rank    */
    int neighbours;               /* ranks this one sends to               */
    int64_t messages, volume;     /* per exchange, all ranks               */
    double low_bytes_per_nonzero; /* of the block of low precision, or 0 */
    int low_bits;                 /* of its values, or 0                  */
    const char *order;    /* of rows inside: "none": the matrix's, "rcm", ... */
    double order_seconds; /* to find it; part of the next */
    double setup_seconds;
    int threads; /* of the host that work on it on this rank; at most those of
                    the queue: a small matrix is faster on fewer             */
    bool packed; /* on a GPU: some values take fewer bytes than a double; if
                    not, "FORMAT/f64" is no other format                     */
} tacit_operator_info;

/* What is known of `A` on this rank. The strings are owned by the operator. */
TACIT_API void tacit_operator_describe(const tacit_operator *A,
                                       tacit_operator_info *out);

/* The formats that were measured for this operator: row `i` of them, false
 * past the end. `seconds` of one product with the sampled rows, 0 and a
 * `reason` if it was not tried. */
typedef struct tacit_format_trial {
    const char *format;
    double bytes; /* per product, whole local block; < 0: does not fit */
    double seconds;
    const char *reason;
} tacit_format_trial;
TACIT_API bool tacit_operator_trial(const tacit_operator *A, int i,
                                    tacit_format_trial *out);

/* Free `*A` and set it to NULL; NULL is fine. */
TACIT_API void tacit_operator_destroy(tacit_operator **A);

TACIT_END_DECLS
#endif
