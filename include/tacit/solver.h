/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/solver.h - solve A x = b for symmetric positive definite A; method
 * minres: for symmetric A.
 *
 * A must be symmetric, its values up to rounding. Solves do not check it:
 * tacit_matrix_check_symmetric does. If A is not symmetric, a solve may end
 * with any outcome; a converged x is a solution all the same, as b - A x is
 * formed with A as it is. If A is not positive definite, the solve ends with
 * BREAKDOWN, unless its method is minres.
 *
 *     tacit_solver *s = NULL;
 *     tacit_solver_create(q, A, "cg", &s);
 *     tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
 *     tacit_result result = {.size = sizeof result};
 *     tacit_solver_run(s, b, x, &stop, &result);  // as many b as you like
 *     tacit_solver_run_block(s, k, B, n, X, n, &stop, results);  // k at once
 *     tacit_solver_destroy(&s);
 *
 * Creating allocates and returns a status; running never allocates.
 *
 * Threads: a solver is for one thread at a time, as its queue and its world are
 * (MPI: see tacit/mpi.h); solvers of different worlds may run at the same time.
 * Monitors are called by the thread that runs the solver. */
#ifndef TACIT_SOLVER_H
#define TACIT_SOLVER_H
#include <tacit/operator.h>

TACIT_BEGIN_DECLS

typedef struct tacit_solver tacit_solver;

/* Called once per iteration (method sstep: once per block of iterations), on
 * every rank with the same numbers: the recurrence's ||r|| / ||b||. The first
 * call is for iteration 0, the first guess; a right-hand side of zeros has no
 * calls. Return 0 to go on, another value to stop with TACIT_INTERRUPTED once
 * every rank knows; ranks may return different values. It is a convergence test
 * with tacit_stop.monitor_decides. */
typedef int (*tacit_monitor_fn)(void *ctx, int64_t iteration,
                                double relative_residual);

/* The same for the columns of a block, from 0: once per iteration of each
 * unfinished column. The iterations of a column come in order; those of
 * different columns in any. A value other than 0 stops all columns. */
typedef int (*tacit_column_monitor_fn)(void *ctx, int column, int64_t iteration,
                                       double relative_residual);

/* The norm of b - A x that decides, and to which of b it is relative:
 *   residual        the Euclidean one
 *   preconditioned  sqrt(r' M r), of b sqrt(b' M b); M positive definite
 *   scaled          Euclidean, each row divided by A's diagonal entry
 *   backward        the backward error |r|/(|A| |x| + |b|) in maximum norms, an
 *                   absolute number: relative to nothing */
typedef enum tacit_norm {
    TACIT_NORM_RESIDUAL,
    TACIT_NORM_PRECONDITIONED,
    TACIT_NORM_SCALED,
    TACIT_NORM_BACKWARD
} tacit_norm;

typedef struct tacit_stop {
    size_t size;            /* set by the caller: status.h                   */
    double rtol;            /* stop when ||b - A x|| <= max(rtol ||b||,  [-] */
    double atol;            /* atol), both Euclidean norms               [-] */
    int64_t max_iterations; /* or after this many; 0 is 10000                */
    tacit_monitor_fn monitor; /* may be NULL                                 */
    void *monitor_ctx;        /* borrowed during the run                     */
    tacit_column_monitor_fn column_monitor; /* of a block, in place of monitor,
                                 with the same ctx; may be NULL              */
    int64_t iterations; /* make exactly so many, whatever the residual, in place
                         * of max_iterations; 0: not so. Only a breakdown or a
                         * residual of 0 ends earlier; x is the last iterate */
    tacit_norm norm;    /* that rtol and atol are for */
    bool relative_to_first; /* rtol is relative to the first residual, not b */
    bool monitor_decides;   /* the monitor is a convergence test, besides rtol
                             * and atol, which may be 0: a value above 0 ends
                             * the run as converged (OK), one below 0 interrupts
                             * it, as does a rank that differs. The same on all
                             * ranks; INVALID without a monitor. Columns of a
                             * block are solved one by one */
    double *history;        /* [history_room], or of a block [columns]
                             * [history_room]: element k is the relative residual
                             * of iteration k, as a monitor is told, NAN if it is
                             * told of none; NULL: not kept */
    int64_t history_room;
} tacit_stop;

typedef enum tacit_stop_reason {
    TACIT_STOP_RTOL,
    TACIT_STOP_ATOL,
    TACIT_STOP_MAX_ITERATIONS,
    TACIT_STOP_STAGNATION, /* the recurrence converges, b - A x does not.
                            * Converged if rtol and atol are 0 and b - A x is
                            * as small as rounding allows: its backward error
                            * (tacit_backward_error) is at most 10 eps */
    TACIT_STOP_BREAKDOWN,  /* not positive definite, or not finite         */
    TACIT_STOP_INTERRUPTED,
    TACIT_STOP_LEAST_SQUARES, /* method minres: A is singular, b outside its range
                              * and A M (b - A x) nearly 0, with M = I if there
                              * is none; not converged */
    TACIT_STOP_ITERATIONS,    /* as many as tacit_stop.iterations were made; the
                            * run returns OK, `converged` tells about the
                            * target */
    TACIT_STOP_MONITOR, /* converged by the monitor's word: monitor_decides */
    TACIT_STOP_SINGULAR /* A has a null space that was not declared, and b a
                         * part in it: x solves A x = P b, b without that part;
                         * not converged */
} tacit_stop_reason;

enum { TACIT_MADE_MOST = 4 };

/* A method and its iterations in a solve. */
typedef struct tacit_made {
    const char *method; /* owned by the library; NULL: no more entries */
    int64_t iterations;
} tacit_made;

typedef struct tacit_result {
    size_t size; /* set by the caller: status.h */
    bool converged;
    tacit_stop_reason stop;
    int64_t iterations;
    double norm_b;
    double relative_residual;      /* ||r|| / ||b|| of the recurrence [-]   */
    double true_relative_residual; /* ||b - A x|| / ||b||, recomputed [-]   */
    int64_t restarts;         /* times the recurrence claimed convergence, or
                               * could get no smaller, and b - A x did not
                               * meet the target; the solve then went on from
                               * the true residual */
    int64_t replacements;     /* times a method formed vectors anew           */
    int64_t extra_products;   /* with A, besides those of the iterations: for
                         true residuals and replacements                    */
    const char *rescued_by;   /* the method that took over when the
                               * recurrences of the chosen one were too
                               * inaccurate for this matrix; NULL: none */
    int64_t rescued_at;       /* ... after this iteration                     */
    int bits;                 /* of the matrix values in the recurrence at the
                         end: 64, or less in mixed precision                */
    int64_t reliable_updates; /* in mixed precision: times b - A x replaced r */
    bool fell_back;           /* the reduced precision was too low, and the
                               * solve took more bits */
    int64_t fell_back_at;     /* ... after this iteration, the last time      */
    int64_t breakdown_iteration;    /* -1 if none                          */
    const char *breakdown_quantity; /* "p'Ap", "||r||"; NULL if none       */
    double breakdown_value;
    double seconds;       /* of the iterations, slowest rank            */
    const char *loop;     /* that ran: "host", "graph", "resident"        */
    char loop_detail[96]; /* "while node, 10 iterations"; may be empty    */
    tacit_made made[TACIT_MADE_MOST]; /* which method made how many iterations,
                                         in the order in which they began   */
    double attainable; /* the true relative residual that rounding allows at x,
                     * eps (|A| |x| + |b|) / |b|: the product of the norms or,
                     * if that is less, the norm of the product.
                     * After stagnation and breakdown; 0: not known */
    /* b - A x, recomputed, in the norm of the tacit_stop and relative to what
     * that names */
    double measure;
    int64_t history;      /* elements of tacit_stop.history that are set */
    int64_t null_vectors; /* of A, found or declared
                           * (tacit_operator_set_null_space); 0: none is known.
                           * With them b here is P b, b without its part along
                           * them, but for norm_b; x has no such part either */
    double outside;       /* that part, relative to b */
    bool null_declared;   /* b was projected as the caller wants */
} tacit_result;

/* A driver of the iteration. */
typedef struct tacit_loop {
    const char *name;
    const char *summary;
    const char *reason; /* why this build lacks it; NULL: it has it */
    bool needs_gpu;     /* not for the host device */
} tacit_loop;

/* Loop `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_loop *tacit_loop_at(int i);

/* A setting of a solver by name, as on the command line. */
typedef struct tacit_setting {
    const char *name; /* "max-iterations" */
    const char *summary;
} tacit_setting;

/* Setting `i`, NULL past the end:
 *   loop             host (the default), graph, resident, or auto: each
 *                    available one runs some iterations, with each open link of
 *                    its queue, and the fastest on the slowest rank stays; of an
 *                    operator for one solve (tacit_operator_create_for), or
 *                    deterministic, the first link and the last of these loops
 *                    that can be had, without a trial
 *   steps            of method sstep: iterations for one reduction, 1 to 16, or
 *                    auto (the default): 8. Takes memory for 4 vectors each
 *   basis            of method sstep: chebyshev (the default), newton, or
 *                    monomial: the powers of A, in which blocks of more than 4
 *                    break down, and single takes over
 *   pure             off (the default), or on: the method's published
 *                    recurrence alone, without another method's start or
 *                    rescue, replacements and restarts; sstep then has basis
 *                    monomial
 *   precond          none (the default) or jacobi; ic0, amg and direct need the
 *                    matrix, too: tacit/precond.h
 *   rtol             of a run whose tacit_stop is NULL: 1e-6,
 *   atol             0,
 *   max-iterations   and 10000 at first
 *   norm             that rtol and atol are for: residual at first, or
 *                    preconditioned, scaled, backward: see tacit_norm
 *   relative-to      b at first, or r0
 *   iterations       exactly so many, whatever the residual, until
 *                    max-iterations is set */
TACIT_API const tacit_setting *tacit_solver_setting(int i);

/* Set `name` of `solver` to `value`, both as on the command line, for the runs
 * that follow.
 * Collective.
 * Errors      INVALID (unknown, with the nearest known name; an invalid value;
 *             during a run, as in a monitor), UNSUPPORTED (with the reason),
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_solver_set(tacit_solver *solver, const char *name,
                                        const char *value);

/* tacit_solver_set of the "loop"; NULL is auto. */
TACIT_API tacit_status tacit_solver_set_loop(tacit_solver *solver,
                                             const char *loop);

/* The cost of a method, per iteration. */
typedef struct tacit_method {
    const char *name;
    const char *summary;
    int products;         /* with A, each with one exchange           */
    int reductions;       /* global sums                              */
    int scalars;          /* summed over all of them                  */
    bool hidden;          /* the reduction overlaps with the products */
    int vectors;          /* of local length, besides b and x         */
    int precond_vectors;  /* ... and as many more with a preconditioner */
    int replace_every;    /* iterations between residual replacements, or 0 */
    int replace_products; /* products of one replacement                    */
    int look_every;       /* iterations between sums of one scalar more, or 0 */
    const char
        *first_by;     /* the method that does the first iterations, or NULL */
    int first;         /* ... how many                                   */
    int steps;         /* iterations that share these reductions and scalars,
                        * by the default of "steps"; 0: each has its own */
    int panel_vectors; /* ... and vectors of local length for these        */
    bool varying_precond; /* a preconditioner may change between applications */
    bool indefinite;      /* A may be indefinite; M must not */
} tacit_method;

/* Method `i` of this build, NULL past the end; the method called `name`. Owned
 * by the library. */
TACIT_API const tacit_method *tacit_method_at(int i);
TACIT_API const tacit_method *tacit_method_find(const char *name);

/* The kernels of loop resident for the method called `name`: barriers, formats
 * and stores of values, without and with a preconditioner, into `text` [size],
 * 768 are enough; false if it has none. */
TACIT_API bool tacit_method_resident(const char *name, char *text, size_t size);

/* A solver of `method` for `A`:
 *   cg         Hestenes and Stiefel 1952: 2 reductions
 *   single     Chen and Carson 2020: predict and recompute, 1 reduction
 *   pipelined  Ghysels and Vanroose 2014: 1 reduction, hidden by a product;
 *              vectors replaced every 50 iterations; single makes the first 50,
 *              and takes over if it is too inaccurate
 *   flexible   Notay 2000: 1 reduction, for a preconditioner that changes
 *   pipe-pr    Chen and Carson 2020: predict and recompute, 1 reduction hidden
 *              by two products; single takes over if it is too inaccurate
 * After a breakdown of another method, or stagnation above the limit of
 * rounding, cg takes over. On GPUs links hide reductions in loop resident
 * alone.
 *   sstep      after Chronopoulos and Gear 1989: 1 reduction for s iterations,
 *              in blocks in a Chebyshev basis; cg before them, single if it is
 *              too inaccurate. Every loop, resident on one GPU; "auto" leaves
 *              loop graph out
 *   minres     Paige and Saunders 1975: 2 reductions, for an A that may be
 *              indefinite or singular. The preconditioner must be positive
 *              definite: jacobi, made by tacit_solver_set or with the option
 *              `positive`, is that of |diagonal|. No method takes over
 * Collective.  Borrows `queue` and `A`: they must outlive the solver.
 * Errors      INVALID (unknown method, with the nearest known one),
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_solver_create(tacit_queue *queue,
                                           const tacit_operator *A,
                                           const char *method,
                                           tacit_solver **out);

/* Solve on device vectors `b`, `x` [A's local rows], on the host any arrays,
 * which do not overlap; `x` is guess and result. `stop` NULL: as set by name. The recurrence decides when
 * to check; b - A x, recomputed, decides when to stop, and the solve goes on if
 * the recurrence was wrong.
 * Collective.  Blocking.
 * Returns     OK; NOT_CONVERGED, INTERRUPTED or BREAKDOWN, with details in
 *             `result`: x is the best of those whose residual was recomputed.
 *             The first guess is one of them, except after an interrupt and at
 *             the limit of iterations.
 * Errors      INVALID (sizes not set, vectors that overlap, a solver whose
 *             monitor this is called from), INPUT (b is not finite), DEVICE,
 *             COMM. `result` is filled in whenever the queue still works. */
TACIT_API tacit_status tacit_solver_run(tacit_solver *solver, const double *b,
                                        double *x, const tacit_stop *stop,
                                        tacit_result *result);

/* Solve A X = B for `columns` right-hand sides, at least one, on device panels:
 * column j of B begins at B + j B_stride, B_stride >= A's local rows; the same
 * for X, guess and result. From their first element to their last, the panels
 * do not overlap. Each column has its own recurrence, and stops or breaks down
 * alone, as in tacit_solver_run, with its own entry of `results` [columns],
 * whose `size` is set and the same in all; `seconds` are those of the whole
 * block in each. A finished column leaves the block. If `monitor` is set and
 * `column_monitor` is not, it is called for all columns without their number.
 * Collective.  Blocking.
 * Iteration   one of tacit_solver_run for each unfinished column, in step: a
 *             product reads the matrix once for up to 32 columns, and a sum is
 *             one message. Monitors are called at the CPU's checks: on a GPU
 *             every few iterations. The first call times some iterations, and
 *             columns are solved one by one if that is faster, as when vectors
 *             fit on the chip or in caches.
 * Memory      for up to 32 columns: the method's vectors, B and X once more,
 *             until the solver is destroyed; on the CPU amg has three more
 *             vectors a column; fewer columns at once if memory is short.
 * Returns     the worst status of a column, from OK over NOT_CONVERGED and
 *             INTERRUPTED to BREAKDOWN; tacit_error_message() names the first
 *             column with it, from 1: "column 3: not converged ...". `results`
 *             has the others.
 * Errors      INVALID (no columns, or another number on another rank, and as
 *             tacit_solver_run), INPUT (a column of B is not finite), DEVICE,
 *             COMM: X is unspecified then. */
TACIT_API tacit_status tacit_solver_run_block(tacit_solver *solver, int columns,
                                              const double *B, size_t B_stride,
                                              double *X, size_t X_stride,
                                              const tacit_stop *stop,
                                              tacit_result *results);

/* A lower bound for the condition number of the preconditioned operator, from
 * the scalars of the last run's recurrence, which are those of Lanczos's
 * method: the largest Ritz value over the smallest. ||x - A^-1 b|| / ||A^-1 b||
 * in the norm of A is at most the root of that condition times the relative
 * residual in the norm of M. 0: not known, as after a block of columns, and of
 * methods minres and sstep.
 * Cost        some hundred passes over at most 16384 scalars. */
TACIT_API double tacit_solver_condition(const tacit_solver *solver);

/* The accuracy of a solution; NAN: not known. */
typedef struct tacit_backward {
    size_t size;     /* set by the caller: status.h                  */
    double residual; /* ||b - A x|| / ||b||, Euclidean               */
    double normwise; /* ||b - A x|| / (||A|| ||x|| + ||b||) in maximum norms:
                      * the relative change of A and b after which x is exact.
                      * A an operator by a function: not known */
    double
        attainable; /* of `residual`: eps (||A|| ||x|| + ||b||) / ||b||, which
                        * rounding allows; ||A|| is the largest row sum. With
                        * the norm of |A| |x| if that is known and smaller */
    double componentwise; /* max_i |b - A x|_i / (|A| |x| + |b|)_i, 0/0 being 0:
                           * the change of each entry of A and b, relative to
                           * it. A a function: not known */
} tacit_backward;

/* The accuracy of `x` as a solution of A x = b, device vectors [A's local
 * rows], into `out`, whose size is set.
 * Collective.  Blocking.
 * Cost        two products, three norms, four vectors, which are read.
 * Errors      INVALID (the size of `out`), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status tacit_backward_error(const tacit_operator *A,
                                            const double *b, const double *x,
                                            tacit_backward *out);

/* Free `*solver` and set it to NULL; NULL is fine. In a monitor of its own run
 * it frees nothing, with a message in tacit_error_message() and a warning
 * (tacit_set_log). */
TACIT_API void tacit_solver_destroy(tacit_solver **solver);

TACIT_END_DECLS
#endif
