/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/operator.h - the matrix as the solver multiplies by it: the local block
 * in the format that is fastest on this device, the ghost block, and the
 * exchange between them (A = local + ghost, Trotter et al., section 3.2).
 *
 * Threads: an operator, `const` or not, is for one thread at a time, as its
 * queue and its world are (MPI: see tacit/mpi.h). It is set up with the threads
 * of its queue. */
#ifndef TACIT_OPERATOR_H
#define TACIT_OPERATOR_H
#include <tacit/matrix.h>
#include <tacit/queue.h>
#include <tacit/stencil.h>

TACIT_BEGIN_DECLS

typedef struct tacit_operator tacit_operator;

/* A format of the local block. */
typedef struct tacit_format {
    const char *name;   /* "csr", "sell", "bsell", "stencil" */
    const char *device; /* "host", "cuda" */
    const char *summary;
    bool stores; /* values in the fewest bits that lose nothing, unless
                  * NAME/f64 */
} tacit_format;

/* Format `i` of `device`, NULL past the end. Owned by the library. */
TACIT_API const tacit_format *tacit_format_at(const char *device, int i);

/* OK if tacit_operator_create accepts `format` on `device`, for some matrix.
 * Errors      INVALID (unknown, with the nearest one), UNSUPPORTED. */
TACIT_API tacit_status tacit_format_check(const char *device,
                                          const char *format);

/* An order of a rank's rows. */
typedef struct tacit_order {
    const char *name, *summary;
} tacit_order;

/* Order `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_order *tacit_order_at(int i);

/* Build the operator of `matrix` on the device of `queue`, the local block in
 * `format`: "csr", "sell", "bsell", "stencil" of a gallery matrix whose rows
 * have one stencil of constant coefficients (and "sell32" on a GPU), or "auto"
 * (NULL): the fastest, measured on a sample or, on a GPU, on the matrix. On a GPU
 * "FORMAT/STORE" sets the storage of values: "auto" (the smallest without
 * loss), "f64", "f32", "dict8", "dict16" (only if they lose nothing). For mixed
 * precision append "+low32" or "+low48", which add values of 32 or 48 bits, or
 * "+mixed" and "+mixed48", which add them only if that makes products faster
 * ("+mixed" adds both, since a solve may find 32 bits too few). At the end may
 * follow the order of a rank's rows: "@none", "@rcm" (reverse Cuthill and
 * McKee), "@metis", or "@auto", the default: rcm if it makes products faster,
 * tried if it may. Vectors stay in the matrix's order; users of the operator
 * permute them. Another order needs a second copy of the rows during set-up.
 * Collective.  Borrows `queue`, which must outlive the operator; the matrix
 * is copied and may be destroyed.
 * Errors      INPUT (not square; entries of sizes too far apart for double
 *             precision), INVALID (unknown format), UNSUPPORTED (a format that
 *             does not fit this matrix), NO_MEMORY, COMM. */
TACIT_API tacit_status tacit_operator_create(tacit_queue *queue,
                                             const tacit_matrix *matrix,
                                             const char *format,
                                             tacit_operator **out);

/* How often an operator is used, and what its set-up may depend on. */
typedef struct tacit_operator_options {
    size_t size;        /* set by the caller: status.h */
    const char *format; /* as in tacit_operator_create */
    int64_t solves; /* with it: above 1 all formats are measured at once, as in
                     * tacit_operator_create; 1 or 0: see below */
    bool deterministic; /* decide by bytes and counts, not by time */
} tacit_operator_options;

/* The same for few solves, as `options` (NULL: one) say. On the host products
 * begin with the rows as they are: one process shares them with `matrix`, which
 * may be destroyed, and moves or takes its rows as copies. Another format is
 * tried on 2 % of the rows, stored and kept, during solves, when the products
 * so far would have paid for it (Karlin et al. 1988): set-up costs no more than
 * what it saves, or twice the best choice in hindsight at worst. Where the fall
 * of the residual foretells many products, it is stored after a quarter of
 * these, where too few, after twice as many. Up to 500,000 entries of a rank
 * are not tried: the price is taken for 20 products, the gain for 0.4 of one. A
 * format that turns out slower is undone. None changes a bit of a product.
 * tacit_operator_decision_at says what was decided. Ranks with up to 10,000
 * entries store the format of fewest bytes at once. A given
 * format, order or precision, another device, and large matrices with scattered
 * columns are set up as by tacit_operator_create.
 * Collective.
 * Memory      in a solve, for some iterations, rows and another format.
 * Errors      as tacit_operator_create; INVALID (solves < 0). */
TACIT_API tacit_status tacit_operator_create_for(
    tacit_queue *queue, const tacit_matrix *matrix,
    const tacit_operator_options *options, tacit_operator **out);

/* The same as tacit_operator_create, but Takes the entries of `matrix`: they are freed as they are
 * converted, so that memory peaks at little more than one copy. The numbering
 * of its rows remains, enough for its vector functions and for
 * tacit_operator_manufacture. */
TACIT_API tacit_status tacit_operator_take(tacit_queue *queue,
                                           tacit_matrix *matrix,
                                           const char *format,
                                           tacit_operator **out);

/* The same as tacit_operator_create_for, but Takes the entries. */
TACIT_API tacit_status tacit_operator_take_for(
    tacit_queue *queue, tacit_matrix *matrix,
    const tacit_operator_options *options, tacit_operator **out);

/* The operator y = C x + N S of a grid: S is the sum of the neighbours of a
 * cell, all cells outside the grid are 0. Nothing is stored but C and N, and
 * entries in columns of other ranks. `stencil` has TACIT_WEIGHTS_CONSTANT, with
 * centre C and neighbours N: 6 and -1 of star3d1r is the gallery's poisson3d,
 * 26 and -1 of box3d1r poisson3d27. Rows are cells, x fastest, divided among
 * ranks as those of that gallery matrix; a product has the bits of its format
 * stencil. Solvers take it like the operator of a matrix. A preconditioner made
 * of entries needs the matrix too (tacit_precond_create_of); jacobi does not.
 * Collective.  Borrows `queue`, which must outlive the operator.
 * Memory      of surfaces between ranks; in set-up of several ranks 8 bytes a
 *             row.
 * Errors      INVALID (the description; a boundary that is not 0; ranks with
 *             other stencils), UNSUPPORTED (periodic sides, other weights,
 *             type float), INPUT (too many cells), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status tacit_operator_from_stencil(tacit_queue *queue,
                                                   const tacit_stencil *stencil,
                                                   tacit_operator **out);

/* An operator given by a function instead of a matrix. */
typedef struct tacit_operator_function {
    size_t size; /* sizeof, as in {.size = sizeof f} */
    /* y = A x for vectors on the device of `queue` [rows]. Called in the order
     * of the queue: the function does its work at once or, on a GPU, starts it
     * on the queue's stream (tacit/cuda.h) and does not wait. It may call only
     * tacit_exchange_begin, tacit_exchange_end and tacit_queue_stream of this
     * library. A must be symmetric, and linear.
     * Returns     TACIT_OK; below 0 ends the solve, on all ranks, with that
     *             status and the message of tacit_error_set, or one that says
     *             that there is none; the queue is unusable then. It may fail
     *             on one rank alone: the library then makes the exchanges of
     *             the previous call, whose order is the same in every call.
     *             Only a first call must make its exchanges before it fails. */
    tacit_status (*apply)(void *ctx, tacit_queue *queue, const double *x,
                          double *y);
    /* The diagonal of A into `d` [rows], in the same way: for preconditioners
     * that need it. OPTIONAL */
    tacit_status (*diagonal)(void *ctx, tacit_queue *queue, double *d);
    void *ctx;   /* handed to both; borrowed */
    double norm; /* a bound of ||A||; 0: estimated, by eight products */
    /* Of a preconditioner: it is not the same linear map each time, for example
     * an iteration. Methods that need a fixed one refuse it:
     * tacit_solver_set_precond. */
    bool varies;
} tacit_operator_function;

/* Make an operator of `function`, with `rows` elements of a vector on this
 * rank.
 * Collective.  Borrows `queue` and the function's ctx; copies the struct.
 * Errors      INVALID, NO_MEMORY, those of the function. */
TACIT_API tacit_status tacit_operator_from_function(
    tacit_queue *queue, int64_t rows, const tacit_operator_function *function,
    tacit_operator **out);

/* Vectors that A, symmetric and singular, takes to 0. */
typedef struct tacit_null_space {
    size_t size;          /* set by the caller: status.h */
    bool constants;       /* the constants of A's connected components */
    int vectors;          /* others: 0 to 64 */
    const double *values; /* [vectors * local rows] in host memory, in the order
                           * of the matrix: one after the other, as those of
                           * tacit_matrix_rigid_body_modes */
} tacit_null_space;

/* Declare the null space of `A`, besides what was found in the matrix: rows of
 * zeros, constants of connected components (of each kind of unknowns, where up
 * to 6 come in turn), and near-null vectors of
 * preconditioner amg that are null where constants are. A vector z counts as
 * null if |A z| <= 16 eps |A| |z| in every row; `matrix`, that of `A`, has the
 * row sums, without it (NULL, or its entries taken) the norm of A takes their
 * place. Dependent vectors are left out. From then on solves project b out of
 * the null space, say so (tacit_result), and end with OK when A x = P b is
 * solved; x has no part in the null space. Without a declaration they end with
 * NOT_CONVERGED if b has such a part. New values (tacit_operator_update) end
 * the declaration.
 * Collective.  Copies the vectors.
 * Memory      for each vector 8 bytes a row, on the host.
 * Cost        a product and some sums for each vector.
 * Errors      INVALID (a vector that is not null, naming a row; not finite; in
 *             a monitor), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status
tacit_operator_set_null_space(tacit_operator *A, const tacit_matrix *matrix,
                              const tacit_null_space *space);

/* Replace the values by those of `matrix`, which has the same rows and the same
 * pattern. Nothing is planned or measured anew. Preconditioners made for `A`
 * keep the old values: tacit_precond_update.
 * Collective.
 * Errors      INVALID, naming an entry that only one of them has, by row and
 *             column in original numbers, from 1; ranks whose rows fit may have
 *             new values by then: update again, or destroy. Also in a monitor
 *             of a run with `A`, without effect. */
TACIT_API tacit_status tacit_operator_update(tacit_operator *A,
                                             const tacit_matrix *matrix);

/* y = A x on device vectors [local rows], which do not overlap.
 * Collective.  Blocking: the queue has drained on return.
 * Cost        1 product, 1 exchange.
 * Errors      INVALID (they overlap), any of the queue. */
TACIT_API tacit_status tacit_operator_apply(const tacit_operator *A,
                                            const double *x, double *y);

/* The manufactured problem of Trotter et al., section 4.1.4: x* uniform in [-1,
 * 1] by original row number and `seed`, scaled to norm 1; b = A x*. `xstar` and
 * `b` are device vectors [local rows]; `matrix` is that of `A`, though its
 * entries may have been taken. Collective.
 * Errors      INVALID, NO_MEMORY, any of the queue. */
TACIT_API tacit_status tacit_operator_manufacture(const tacit_operator *A,
                                                  const tacit_matrix *matrix,
                                                  int64_t seed, double *xstar,
                                                  double *b);

/* Rows (and columns) that this rank owns. */
TACIT_API int64_t tacit_operator_local_rows(const tacit_operator *A);

typedef struct tacit_operator_info {
    size_t size;                  /* set by the caller: status.h           */
    int64_t rows, nonzeros;       /* of the whole matrix                   */
    int64_t row_min, row_max;     /* entries per row                       */
    const char *format;           /* of this rank's local block            */
    const char *detail;           /* "32-row slices, 16-bit offsets, ..."  */
    double bytes_per_nonzero;     /* matrix bytes per product / entry      */
    double padding;               /* stored entries / entries - 1          */
    int64_t ghosts;               /* values received per exchange, rank    */
    int64_t sent;                 /* values sent per exchange, rank        */
    int neighbours;               /* ranks this one sends to               */
    int64_t messages, volume;     /* per exchange, all ranks               */
    double low_bytes_per_nonzero; /* of the reduced-precision block, or 0 */
    int low_bits;                 /* of its values, or 0                  */
    const char *order;    /* of a rank's rows: "none": the matrix's, "rcm",
                           * ... */
    double order_seconds; /* to find it; part of the next */
    double setup_seconds;
    int threads; /* host threads that work on it on this rank; at most those
                  * of the queue: a small matrix is faster on fewer */
    bool packed; /* on a GPU: some values take fewer bytes than a double; if
                  * not, "FORMAT/f64" is the same format */
    double copy_seconds;  /* on a GPU: until the rows are there, and ...  */
    double store_seconds; /* ... to store and time formats; parts of setup */
} tacit_operator_info;

/* Describe `A` on this rank in `out`, whose size is set:
 *
 *     tacit_operator_info info = {.size = sizeof info};
 *
 * Without a size nothing is written (INVALID). Members about a matrix are 0 if
 * the operator has none. The strings are owned by the operator; they hold until
 * a run with it, or until it is updated or destroyed.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_operator_describe(const tacit_operator *A,
                                               tacit_operator_info *out);

/* A candidate for this rank's format, and its measurements. */
typedef struct tacit_trial {
    const char *format;
    double bytes;       /* per product, whole local block; < 0: does not fit */
    double seconds;     /* of one product with the sampled rows, 0: not tried */
    double spent;       /* seconds to store and to measure it, 0 on the host */
    const char *reason; /* why it was not tried, NULL if it was */
} tacit_trial;

/* Trial `i` of `A`, NULL past the end, so always if the format was given or
 * without a matrix. Owned by the operator. */
TACIT_API const tacit_trial *tacit_operator_trial_at(const tacit_operator *A,
                                                     int i);

/* A decision during solves. */
typedef struct tacit_decision {
    const char *what;    /* a format */
    const char *outcome; /* "stored", "refused", "undone", ... */
    int64_t products;    /* before it                          */
    double cost;         /* seconds that it took               */
    double gain;         /* seconds a product, as foretold; if undone, as
                          * measured */
} tacit_decision;

/* Decision `i` of `A` on this rank, NULL past the end. Owned by the operator,
 * until its next run. */
TACIT_API const tacit_decision *
tacit_operator_decision_at(const tacit_operator *A, int i);

/* Seconds of y = A x, and of the exchange before it for one vector, x, or for
 * two of them at once, x and y, by this rank's clock: one of `times` that
 * follow one another. The vectors are device vectors [local rows], and taken to
 * be in the order that the operator keeps; the exchange changes none.
 * Collective.
 * Errors      INVALID (y shares memory with x), UNSUPPORTED (one process
 *             exchanges nothing), any of the queue. */
TACIT_API tacit_status tacit_operator_measure_product(const tacit_operator *A,
                                                      int64_t times,
                                                      const double *x,
                                                      double *y,
                                                      double *seconds);
TACIT_API tacit_status tacit_operator_measure_exchange(
    const tacit_operator *A, int vectors, int64_t times, const double *x,
    const double *y, double *seconds);

/* Free `*A` and set it to NULL; NULL is fine. In a monitor of a run with it
 * nothing is freed, as of tacit_solver_destroy. */
TACIT_API void tacit_operator_destroy(tacit_operator **A);

TACIT_END_DECLS
#endif
