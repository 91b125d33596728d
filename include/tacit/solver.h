/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/solver.h - solve A x = b for symmetric positive definite A.
 *
 * A is taken to be symmetric: its values to rounding, since the methods use it
 * as its own transpose; the whole of it is stored and multiplied by, and
 * nothing here looks. tacit_matrix_check_symmetric does, once per matrix, and
 * the program calls it before a solve. Of a matrix that is not symmetric a
 * solve may end with any outcome; what it calls converged is a solution all
 * the same, as b - A x is formed with A as it is. That A is positive definite
 * is found out on the way: BREAKDOWN if not.
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
 * Threads: a solver is for one thread at a time, as its queue and its world
 * are, and of MPI needs what tacit/mpi.h says; solvers of different worlds may
 * run at the same time. Monitors are called by the thread that runs the
 * solver. */
#ifndef TACIT_SOLVER_H
#define TACIT_SOLVER_H
#include <tacit/operator.h>

TACIT_BEGIN_DECLS

typedef struct tacit_solver tacit_solver;

/* Called once per iteration (of method sstep: once per block of them, which has
 * no other numbers), on every rank with the same numbers: the recurrence's
 * ||r|| / ||b||. The first call is for iteration 0, the first
 * guess, before anything is iterated; a right-hand side of zeros has no calls.
 * Return 0 to go on, anything else to stop with
 * TACIT_INTERRUPTED once every rank knows; ranks may return different
 * things. */
typedef int (*tacit_monitor_fn)(void *ctx, int64_t iteration,
                                double relative_residual);

/* The same for the columns of a block, from 0: once per iteration of each that
 * is not done. The iterations of a column come in their order; those of
 * different columns in any. What is not 0 stops all columns. */
typedef int (*tacit_column_monitor_fn)(void *ctx, int column, int64_t iteration,
                                       double relative_residual);

typedef struct tacit_stop {
    size_t size;            /* of this struct, set by the caller: status.h   */
    double rtol;            /* stop when ||b - A x|| <= max(rtol ||b||,  [-] */
    double atol;            /* atol), both Euclidean norms               [-] */
    int64_t max_iterations; /* or after this many; 0 is 10000                */
    tacit_monitor_fn monitor; /* may be NULL                                 */
    void *monitor_ctx;        /* borrowed during the run                     */
    tacit_column_monitor_fn column_monitor; /* of a block, in place of monitor,
                                 with the same ctx; may be NULL              */
} tacit_stop;

typedef enum tacit_stop_reason {
    TACIT_STOP_RTOL,
    TACIT_STOP_ATOL,
    TACIT_STOP_MAX_ITERATIONS,
    TACIT_STOP_STAGNATION, /* the recurrence converges, b - A x does not   */
    TACIT_STOP_BREAKDOWN,  /* not positive definite, or not finite         */
    TACIT_STOP_INTERRUPTED
} tacit_stop_reason;

enum { TACIT_MADE_MOST = 4 };

/* Iterations that a method made of a solve. */
typedef struct tacit_made {
    const char *method; /* owned by the library; NULL: no more entries */
    int64_t iterations;
} tacit_made;

typedef struct tacit_result {
    size_t size; /* of this struct, set by the caller before the run */
    bool converged;
    tacit_stop_reason stop;
    int64_t iterations;
    double norm_b;
    double relative_residual;      /* ||r|| / ||b|| of the recurrence [-]   */
    double true_relative_residual; /* ||b - A x|| / ||b||, recomputed [-]   */
    int64_t restarts;         /* times the recurrence said converged, or could
                         get no smaller, and b - A x said no; the solve then
                         went on from the true residual                     */
    int64_t replacements;     /* times a method formed vectors anew           */
    int64_t extra_products;   /* with A, besides those of the iterations: for
                         true residuals and replacements                    */
    const char *rescued_by;   /* the method that went on when the recurrences
                               of the chosen one were too inaccurate for this
                               matrix; NULL: none                           */
    int64_t rescued_at;       /* ... after this iteration                     */
    int bits;                 /* of the matrix values in the recurrence at the
                         end: 64, or less in mixed precision                */
    int64_t reliable_updates; /* in mixed precision: times b - A x took the
                         place of r                                         */
    bool fell_back;           /* low precision was too low, and the solve took
                         more bits                                          */
    int64_t fell_back_at;     /* ... after this iteration, the last time      */
    int64_t breakdown_iteration;    /* -1 if none                          */
    const char *breakdown_quantity; /* "p'Ap", "||r||"; NULL if none       */
    double breakdown_value;
    double seconds;       /* of the iterations, slowest rank            */
    const char *loop;     /* that ran: "host", "graph", "resident"        */
    char loop_detail[96]; /* "while node, 10 iterations"; may be empty    */
    tacit_made made[TACIT_MADE_MOST]; /* which method made how many iterations,
                                         in the order in which they began   */
    double
        attainable; /* what rounding allows of the true relative residual at x,
                          eps (|A| |x| + |b|) / |b|; |A| is the largest row sum.
                          Of stagnation and breakdown; 0: not known            */
} tacit_result;

/* Who drives the iteration. */
typedef struct tacit_loop {
    const char *name;
    const char *summary;
    const char *reason; /* why this build has it not; NULL: it has */
    bool needs_gpu;     /* not on the host device */
} tacit_loop;

/* Loop `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_loop *tacit_loop_at(int i);

/* What a solver can be told by name, in the words of the command line. */
typedef struct tacit_setting {
    const char *name; /* "max-iterations" */
    const char *summary;
} tacit_setting;

/* Setting `i`, NULL past the end:
 *   loop             host (its first value), graph, resident, or auto: each
 *                    that the solver can have runs some iterations, with each
 *                    link that its queue has open, and what is fastest on the
 *                    slowest rank stays
 *   steps            of method sstep: iterations for one reduction, 1 to 16, or
 *                    auto (its first value): 8. Takes memory for 4 vectors each
 *   basis            of method sstep: chebyshev (its first value), newton, or
 *                    monomial: the powers of A, in which blocks of more than 4
 *                    break down, and single goes on
 *   pure             off (its first value), or on: the method's published
 *                    recurrence alone, without another method's start or rescue,
 *                    replacements and restarts; sstep then has basis monomial
 *   precond          none (its first value) or jacobi; ic0, amg and direct need
 *                    the matrix, too: tacit/precond.h
 *   rtol             of a run whose tacit_stop is NULL: 1e-6,
 *   atol             0,
 *   max-iterations   and 10000 at first */
TACIT_API const tacit_setting *tacit_solver_setting(int i);

/* Set `name` of `solver` to `value`, both as on the command line, for the runs
 * that follow.
 * Collective.
 * Errors      INVALID (unknown, with the nearest known name; a value that
 *             makes no sense; after a run began and before it ended, as in a
 *             monitor), UNSUPPORTED (with the reason), NO_MEMORY. */
TACIT_API tacit_status tacit_solver_set(tacit_solver *solver, const char *name,
                                        const char *value);

/* tacit_solver_set of the "loop"; NULL is auto. */
TACIT_API tacit_status tacit_solver_set_loop(tacit_solver *solver,
                                             const char *loop);

/* What a method costs, so that it can be read and tested. Per iteration. */
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
    int steps;         /* iterations that have these reductions and scalars in
                      common, as the setting "steps" is at first; 0: each has
                      its own                                              */
    int panel_vectors; /* ... and vectors of local length for these        */
    bool varying_precond; /* a preconditioner need not be the same linear map
                      each time                                            */
} tacit_method;

/* Method `i` of this build, NULL past the end; the method called `name`. Owned
 * by the library. */
TACIT_API const tacit_method *tacit_method_at(int i);
TACIT_API const tacit_method *tacit_method_find(const char *name);

/* What loop resident has kernels for with the method called `name`: barriers,
 * formats and how they store values, without and with a preconditioner, into
 * `text` [size], 768 are enough; false if it has none. */
TACIT_API bool tacit_method_resident(const char *name, char *text, size_t size);

/* A solver of `method` for `A`:
 *   cg         Hestenes and Stiefel 1952: 2 reductions
 *   single     Chen and Carson 2020: predict and recompute, 1 reduction
 *   pipelined  Ghysels and Vanroose 2014: 1 reduction, hidden behind a
 *              product; vectors replaced every 50 iterations; the first 50, and
 *              all that it is too inaccurate for, are done by single
 *   flexible   Notay 2000: 1 reduction, for a preconditioner that changes
 *   pipe-pr    Chen and Carson 2020: predict and recompute, 1 reduction hidden
 *              behind two products; single where it is too inaccurate
 * What breaks down in another method, or stagnates above what rounding allows,
 * cg goes on with. Links of GPUs hide reductions in loop resident alone.
 *   sstep      after Chronopoulos and Gear 1989: 1 reduction for s iterations,
 *              in blocks in a Chebyshev basis; cg before them, single where it
 *              is too inaccurate. Every loop, resident on one GPU; "auto" leaves
 *              loop graph out
 * Collective.  Borrows `queue` and `A`: they must outlive the solver.
 * Errors      INVALID (unknown method, with the nearest known one),
 *             NO_MEMORY. */
TACIT_API tacit_status tacit_solver_create(tacit_queue *queue,
                                           const tacit_operator *A,
                                           const char *method,
                                           tacit_solver **out);

/* Solve on device vectors `b`, `x` [A's local rows], which do not overlap; `x`
 * is guess and result. Where `stop` is NULL what was set by name decides.
 * The recurrence decides when to look; b - A x, recomputed, decides when to
 * stop, and the solve goes on if the recurrence was wrong.
 * Collective.  Blocking.
 * Returns     OK; NOT_CONVERGED, INTERRUPTED or BREAKDOWN, of which `result`
 *             says where: x is the best of those whose residual was recomputed.
 *             The first guess is one of them, except after an interrupt and at
 *             the limit of iterations.
 * Errors      INVALID (sizes not set, vectors that overlap, a solver whose
 *             monitor this is called from), INPUT (b is not finite), DEVICE,
 *             COMM. `result` is filled in whenever the queue still works. */
TACIT_API tacit_status tacit_solver_run(tacit_solver *solver, const double *b,
                                        double *x, const tacit_stop *stop,
                                        tacit_result *result);

/* Solve A X = B for `columns` right-hand sides, at least one and as many as you
 * like, on device panels: column j of B begins at B + j B_stride and has A's
 * local rows, which its stride is not less than; so with X, which is guess and
 * result. From their first element to their last, the panels share no memory.
 * Each column has a recurrence of its own, and stops, or breaks down, by itself
 * and as in tacit_solver_run, with its own entry of `results` [columns], whose
 * `size` is set and the same in all; `seconds` are those of the whole block in
 * each. A column that is done leaves the block. Where `monitor` is set and
 * `column_monitor` is not, it is called for all columns and cannot tell them
 * apart.
 * Collective.  Blocking.
 * Iteration   one of tacit_solver_run for each column that is not done, in
 *             step: a product reads the matrix once for up to 32 columns, and a
 *             sum is one message. Monitors are called where the CPU looks: on
 *             a GPU every few iterations. The first time some iterations are
 *             tried, and columns solved one after the other where that is
 *             faster: where vectors fit on the chip or in caches.
 * Memory      for up to 32 columns: the method's vectors, B and X once more,
 *             until the solver is destroyed; on the CPU amg has three vectors
 *             a column more; fewer at once where there is less.
 * Returns     what the worst column came to, from OK over NOT_CONVERGED and
 *             INTERRUPTED to BREAKDOWN; tacit_error_message() is of the first
 *             column that came to that, and names it, counted from 1: "column
 *             3: not converged ...". The others are as their results say.
 * Errors      INVALID (no columns, or another number on another rank, and as
 *             tacit_solver_run), INPUT (a column of B is not finite), DEVICE,
 *             COMM: X is unspecified then. */
TACIT_API tacit_status tacit_solver_run_block(tacit_solver *solver, int columns,
                                              const double *B, size_t B_stride,
                                              double *X, size_t X_stride,
                                              const tacit_stop *stop,
                                              tacit_result *results);

/* Free `*solver` and set it to NULL; NULL is fine. In a monitor of its own
 * nothing is freed, which is tacit_error_message() and a warning
 * (tacit_set_log). */
TACIT_API void tacit_solver_destroy(tacit_solver **solver);

TACIT_END_DECLS
#endif
