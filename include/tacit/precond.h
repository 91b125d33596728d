/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/precond.h - preconditioners: operators M, approximate inverses of A,
 * that a solver applies to residuals.
 *
 *     tacit_operator *M = NULL;
 *     tacit_precond_create(A, "jacobi", &M);
 *     tacit_solver_set_precond(solver, M);  // or tacit_solver_set, "precond"
 *     ...
 *     tacit_operator_destroy(&M);              // after the solver
 *
 * A preconditioner that is made from the entries of the matrix takes the
 * matrix, too:
 *
 *     tacit_operator_create(q, matrix, NULL, &A);     // leaves them
 *     tacit_precond_create_of(A, matrix, "amg", NULL, &M);
 *     tacit_matrix_drop_entries(matrix);              // not needed any more
 *
 * An operator of your own (tacit_operator_from_function) is one, too, if it is
 * symmetric positive definite. With `varies` it may change from one application
 * to the next; method flexible takes it, and other methods refuse it. Solves
 * stop on the residual of A x = b. On a GPU loops host and graph take any; loop
 * resident takes jacobi and, on one GPU with method cg, ic0 and ic1 (`resident`
 * of tacit_precond_at).
 *
 * Threads     as their world: see tacit/world.h. */
#ifndef TACIT_PRECOND_H
#define TACIT_PRECOND_H
#include <tacit/solver.h>

TACIT_BEGIN_DECLS

typedef struct tacit_precond {
    const char *name; /* "jacobi" */
    const char *summary;
    const char *reason;   /* why this build has it not; NULL: it has */
    bool of_matrix;       /* it is made of the entries of the matrix, too: by
                           tacit_precond_create_of                          */
    bool when_named;      /* may need far more time and memory than others:
                           * autotuning leaves it out, and only its name
                           * selects it */
    const char *resident; /* methods of which loop resident has kernels with it:
                             "cg, single"; NULL: none. Loops host and graph take
                             it with every method                            */
    bool one_gpu; /* ... and these are for one GPU alone                 */
} tacit_precond;

/* Preconditioner `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_precond *tacit_precond_at(int i);

/* Make the preconditioner called `name` for `A`:
 *   none     no preconditioner: `*out` becomes NULL
 *   jacobi   the inverse of the diagonal
 *   ic0      incomplete Cholesky: tacit_precond_create_of
 *   ic1      the same with more entries: tacit_precond_create_of
 *   amg      algebraic multigrid: tacit_precond_create_of
 *   direct   a factor of the matrix: tacit_precond_create_of
 * It knows A as it is now; after tacit_operator_update see
 * tacit_precond_update.
 * Collective.  Borrows `A`, which must outlive it.
 * Errors      INVALID (unknown, with the nearest known name), INPUT (a diagonal
 *             entry is zero), UNSUPPORTED (A does not give its diagonal; a
 *             preconditioner made from the matrix), NO_MEMORY. */
TACIT_API tacit_status tacit_precond_create(const tacit_operator *A,
                                            const char *name,
                                            tacit_operator **out);

enum {
    TACIT_PRECOND_DEGREE_MOST = 8,
    TACIT_PRECOND_VECTORS_MOST = 32,
    TACIT_PRECOND_NODE_ROWS_MOST = 4096,
    TACIT_PRECOND_NAMED_MOST = 32
};

/* --- options --------------------------------------------------------------
 * Each preconditioner has options of its own, which are set by name:
 *
 *     tacit_precond_options o = {.size = sizeof o};
 *     tacit_precond_options_set(&o, "amg", "cycle", "w");
 *     tacit_precond_options_set(&o, "amg", "degree", "3");
 *     tacit_precond_create_of(A, matrix, "amg", &o, &M);
 *
 * Some have a member of tacit_precond_options, too: .cycle = "w". */

typedef enum tacit_option_type {
    TACIT_OPTION_CHOICE,  /* one of `choices`                    */
    TACIT_OPTION_INTEGER, /* a whole number, `least` to `most`   */
    TACIT_OPTION_GRID,    /* three numbers, "2x1x4", or "auto"   */
    TACIT_OPTION_FILE     /* the path of a file                  */
} tacit_option_type;

typedef struct tacit_precond_option {
    const char *name;    /* "cycle"                                  */
    const char *value;   /* stands for a value in usages: "NAME"     */
    const char *summary; /* "how levels are visited"                 */
    const char *initial; /* without it, for people: "v"; NULL: none  */
    tacit_option_type type;
    const char *const *choices; /* of a choice; NULL after the last one */
    int least, most;            /* of an integer                        */
} tacit_precond_option;

/* Option `i` of the preconditioner called `precond`, NULL past the end; of
 * "auto" the options of all that tacit_solver_race tries. Preconditioners that
 * share an option share its address. Owned by the library. */
TACIT_API const tacit_precond_option *
tacit_precond_option_at(const char *precond, int i);

typedef struct tacit_precond_named {
    const char *name, *value;
} tacit_precond_named;

/* Options of preconditioners; NULL and 0 are the defaults. Each preconditioner
 * takes its own and ignores those of others. The members are of amg, and at the
 * end of ic0 and direct. */
typedef struct tacit_precond_options {
    size_t size;       /* set by the caller: status.h                      */
    const char *cycle; /* "v": each level is visited once; "w": the next two
                          twice, linear; "k": by two steps of flexible cg,
                          for method flexible; NULL, "auto": v or w        */
    const char
        *smoother; /* "chebyshev", "jacobi", "l1-jacobi"                */
    int degree;    /* of its polynomial, or sweeps, before and after the next
                    * level: 1 to TACIT_PRECOND_DEGREE_MOST; 2, l1-jacobi 4 */
    int levels;    /* at most: 1 to 40                                  */
    int node_rows; /* rows of a node, such as 3 in elasticity, which follow
                             one another and stay together, 1 to
                             TACIT_PRECOND_NODE_ROWS_MOST; 0: as the matrix
                             knows, or its pattern of dense blocks says      */
    int vectors;   /* of near_null, 1 to TACIT_PRECOND_VECTORS_MOST; 0: the
                    * rigid-body modes of a matrix that has them
                    * (tacit_matrix_rigid_body_modes), unless node_rows is 1,
                    * or else one vector of ones */
    const double *near_null; /* [vectors * local rows] vectors that A maps
                              * close to zero, one after another; each is one
                              * vector of all ranks: rotations have the same
                              * centre on all; borrowed for the call */
    const char *precision;   /* of the values on its levels: "double";
                              * "float", rounded to 24 bits; "auto": float if
                              * that preserves smooth vectors */
    const char *order;       /* of the rows of ic0 and direct, as in
                              * tacit_factor_options; for ic0 "top-nd", and
                              * on a GPU, where waits cost most, "multicolor" */
    int leaves;       /* ... of its tree: a power of two up to 4096; 1, or
                          Pz of `grid`                                      */
    const char *kind; /* of direct: "llt", "ldlt", "lu", as in
                       * tacit_factor_options, or "auto": lu if the matrix is
                       * not symmetric, llt if it is positive definite, else
                       * ldlt; NULL: llt, since methods need M positive
                       * definite */
    int columns;      /* of direct on a GPU: right-hand sides per launch, 1
                       * to 64; 1 */
    int grid[3];      /* 1, 1, Pz: of ic0 and direct, a factor of the whole
                       * matrix, distributed over Pz of the ranks, a power of
                       * two (0: as many as ranks and leaves allow); 0, 0, 0:
                       * the same for direct on several ranks, while ic0
                       * factors each rank's own rows and columns */
    bool positive;    /* A may be indefinite, M must be positive definite, as
                       * method minres needs it: jacobi takes |diagonal| */
    /* By tacit_precond_options_set, and over the members. */
    tacit_precond_named named[TACIT_PRECOND_NAMED_MOST];
} tacit_precond_options;

/* Set option `name` of the preconditioner called `precond`, or "auto", in
 * `options`, whose size is set; twice: the last value counts.
 * Local.  Borrows `value`, until preconditioners are made.
 * Errors      INVALID (an unknown preconditioner or option, with those that
 *             exist; a value, with what is allowed; options that exclude each
 *             other), NO_MEMORY. */
TACIT_API tacit_status tacit_precond_options_set(tacit_precond_options *options,
                                                 const char *precond,
                                                 const char *name,
                                                 const char *value);

/* The same, from the entries of the matrix: `matrix` is that of `A`, made by
 * tacit_operator_create, which keeps them; `options` NULL is all defaults.
 *
 * ic0 is (L L')^-1 by a factor of kind IC0 (tacit/factor.h), of the rows in the
 * operator's order or that of `order`; on several ranks each factors its own
 * rows and columns, unless `grid` is set. On the host one thread applies it; on
 * a GPU every method takes it with loops host and graph, and cg on one GPU with
 * loop resident.
 *
 * ic1 is the same without options. L has places of level 1, too: (i, j) where
 * some row before both has entries of columns i and j. Its rows have the
 * operator's order, on a GPU by colours. A row of k entries before others
 * makes up to k^2 / 2 places.
 *
 * amg pairs strongly coupled rows, of any ranks, three times, so that a level
 * has about an eighth of the rows of the level above, down to some hundred
 * rows, which are inverted. Its cycle is linear, symmetric and positive
 * definite: for every method, with loops host and graph. Without an option, and
 * with cycle "auto", it is v or w, whichever some steps of cg on levels 1 and 2
 * foretell to be faster, counted in memory traffic; `detail` says so where it
 * is w. No clock decides. Cost: up to 2 iterations; none if level 1 has at most
 * 4,000 rows (on a GPU 50,000), or if several GPUs have the last levels each,
 * where the cycle is v. Cycle "k" (Notay and Vassilevski 2008) is not linear:
 * the next two levels combine two corrections each, at the cost of sums over
 * ranks. `varies` of tacit_precond_describe tells that the method must be
 * flexible. With several near-null vectors, such as rigid-body modes, nodes are
 * paired instead of rows and an aggregate has as many columns of P (Vanek,
 * Mandel and Brezina 1996). If rows cannot be paired, as in a diagonal or a
 * dense matrix, levels end early (see tacit_precond_describe).
 *
 * direct is L L' = A, or another factor (tacit/factor.h), so that a method
 * needs one or two iterations, against rounding. Its memory is predicted first.
 *
 * With `grid`, and for direct on several ranks without it, rank 0 gathers the
 * whole matrix and factors it, in the matrix's original order or that of
 * `order`; then each of Pz ranks gets one leaf of its tree and the nodes above
 * it (tacit/trsv.h), other ranks nothing. With equal `leaves` the factor is the
 * same on any number of ranks. On the host alone. An application moves x to the
 * parts, adds up their common nodes in at most 2 log2 Pz messages a rank, and
 * moves y back, in a fixed order: two runs give the same bits. The host makes
 * the factors of ic0 and direct; on a GPU an application is one kernel. Columns
 * that a solver iterates in step are solved together; with direct a column may
 * then differ by rounding from a solve alone.
 *
 * Levels with float values take fewer bytes; the finest one gets such a copy if
 * it is smaller than the operator's values by a fifth. Vectors are of doubles.
 * Collective.  Borrows `A`, which must outlive it; `matrix` may be destroyed.
 * Memory      about the entries of the matrix once more, on its device; to set
 *             it up some 16 bytes an entry and 60 a row on the host: refused at
 *             once if these are not free. With `grid` rank 0 has the whole
 *             matrix and its factor until the latter is distributed.
 * Cost        an application of ic0 about a product with A; a V with degree k 2
 *             k products a level, with their exchanges, two more exchanges if
 *             other ranks keep the next level, and no sum; a K two more
 *             products and sums at each of three visits.
 * Errors      as tacit_precond_create; INVALID (`matrix` is not that of A, or
 *             an operator has taken its entries; options; a near-null vector
 *             that is 0 or not finite), INPUT (a diagonal entry that is not
 *             positive, naming its row), UNSUPPORTED (2^31 rows on a rank),
 *             DEVICE, COMM. */
TACIT_API tacit_status tacit_precond_create_of(
    const tacit_operator *A, const tacit_matrix *matrix, const char *name,
    const tacit_precond_options *options, tacit_operator **out);

/* Update `M` to the new values of its operator, after tacit_operator_update
 * with the same `matrix`.
 *
 *     tacit_operator_update(A, matrix);        // the same pattern
 *     tacit_precond_update(M, matrix);
 *     tacit_solver_run(solver, b, x, &stop, &result);
 *
 * amg keeps its aggregates, P and levels (fewer if a matrix is not positive
 * definite) and renews all values. If strong couplings have changed, a new
 * preconditioner takes fewer iterations. Levels made by a GPU (TACIT_AMG_SETUP)
 * are renewed wholly, with aggregates. jacobi takes the diagonal, for which
 * `matrix` may be NULL; ic0, ic1 and direct are factored anew.
 *
 * Without this call, a solver's run and tacit_precond_measure refuse all others
 * of old values; jacobi takes the new diagonal by itself. To keep a
 * preconditioner of old values, make it for an operator of its own. A
 * preconditioner chosen by a race belongs to the solver: race again.
 * Collective.  On all ranks `M` takes the new values, or stays as it was.
 * Memory      as tacit_precond_create_of; the old levels, without P, stay until
 *             the new ones are complete.
 * Cost        of amg: set-up without pairs and P; see docs/performance/amg.md.
 * Errors      INVALID (`M` is another kind of operator, or part of a run under
 *             way, as in its monitor; `matrix` is missing, or is not the
 *             operator's, naming a row), UNSUPPORTED (levels made by a GPU from
 *             a near-null vector), and as tacit_precond_create_of. */
TACIT_API tacit_status tacit_precond_update(tacit_operator *M,
                                            const tacit_matrix *matrix);

typedef struct tacit_precond_info {
    size_t size;            /* set by the caller: status.h                    */
    const char *name;       /* "amg"                                          */
    const char *detail;     /* "cycle v, smoother chebyshev(2)", or ""        */
    const char *end;        /* use of the last level, and why it is the last;
                             * or "" */
    int levels;             /* 0: not of this kind                            */
    double bytes;           /* of all levels and ranks                        */
    double grid_complexity; /* rows of all levels / rows of the matrix  */
    double operator_complexity; /* the same of entries                      */
    double setup_seconds;
    bool varies; /* it is not the same linear map each time: for methods with
                 * varying_precond in tacit_method */
    const struct tacit_factor
        *factor; /* the factor of ic0 and direct (tacit/factor.h), of the
                  * matrix times a power of two if its largest entry is far
                  * from 1; owned by M, until it is updated; NULL: none, or
                  * distributed over a grid */
    const struct tacit_factor_info
        *factor_info;     /* its description, distributed or not; owned as
                           * `factor` */
    int grid[3];          /* over which it is distributed; 0, 0, 0: it is not */
    int64_t messages;     /* of all ranks, in an application of it         */
    double message_bytes; /* ... with one right-hand side                  */
} tacit_precond_info;

/* Describe preconditioner `M` in `out`, whose size is set.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_precond_describe(const tacit_operator *M,
                                              tacit_precond_info *out);

/* A level of amg; the first is that of the operator. */
typedef struct tacit_precond_level {
    int64_t rows, nonzeros; /* of all ranks                                  */
    double bytes;           /* of its matrix, unless the operator's own, of
                             * its vectors and of the transfer to the next
                             * level */
    const char *format;     /* of this rank's rows; "inverse": solved        */
    double largest;         /* eigenvalue of D^-1 A, as estimated for the
                             * smoother */
    int bits; /* of its values: 32 for floats, else 64                       */
} tacit_precond_level;

/* Level `i` of `M`, NULL past the end. Owned by `M`, until it is updated. */
TACIT_API const tacit_precond_level *
tacit_precond_level_at(const tacit_operator *M, int i);

/* The convergence factor of `M` alone, in the norm of A: of e = e - M A e,
 * after 15 applications from a random e. Above 1 it needs a solver, which is no
 * fault: amg over-corrects for one.
 * Collective.  Blocking.
 * Cost        16 products, applications of M and sums; memory for 3 vectors.
 * Errors      INVALID (M is for another operator), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status tacit_precond_measure(const tacit_operator *A,
                                             const tacit_operator *M,
                                             double *out);

/* Solve A X = B by M alone: x = x + M (b - A x), until b - A x, formed anew
 * each time, meets `stop`, for `columns` right-hand sides as in
 * tacit_solver_run_block. With "direct" it is a direct solve: the first step
 * solves, and iterative refinement (Higham 2002, chapter 12) is rarely needed.
 * A and M need not be symmetric. A factor without pivots of kind ldlt or lu
 * that leaves a column without need is made again with pivots, once, with a
 * warning: columns that are not solved start from the best x, their counts and
 * histories from 0; `factor` of tacit_precond_describe is another one then.
 * Collective.  Blocking.
 * Iteration   an application of M, of up to 32 columns at once where it can,
 *             and a product with A; one product more. `iterations` counts
 *             steps, from 1.
 * Memory      for up to 32 columns: four vectors each.
 * Returns     the status of the worst column, as tacit_solver_run_block.
 *             NOT_CONVERGED, with stop reason STAGNATION, also if a step leaves
 *             more than 9 tenths of a residual.
 * Errors      INVALID (M is for another operator; sizes; X shares memory
 *             with B), INPUT (a column of B is not finite), NO_MEMORY, DEVICE,
 *             COMM. */
TACIT_API tacit_status tacit_precond_solve(const tacit_operator *A,
                                           const tacit_operator *M, int columns,
                                           const double *B, size_t B_stride,
                                           double *X, size_t X_stride,
                                           const tacit_stop *stop,
                                           tacit_result *results);

/* Use preconditioner `M` in `solver` from now on; NULL: none.
 * Collective.  Borrows `M`, which must outlive the solver or be taken from it.
 * Cost        an application of M an iteration, and a scalar in its sum.
 * Errors      INVALID (M is for other rows, a run has begun), UNSUPPORTED (the
 *             method takes none, or none that varies), NO_MEMORY. */
TACIT_API tacit_status tacit_solver_set_precond(tacit_solver *solver,
                                                const tacit_operator *M);

/* The preconditioner of the solver, NULL: none. Owned by its maker. */
TACIT_API const tacit_operator *
tacit_solver_precond(const tacit_solver *solver);

/* --- which one? ---------------------------------------------------------
 *
 *     tacit_precond_race race = {.size = sizeof race, .matrix = matrix};
 *     tacit_solver_race(solver, &race, b, x, &stop, &result); // the fastest
 *     tacit_solver_run(solver, b2, x2, &stop, &result);  // the same again */

/* Options of a race of preconditioners; NULL and 0 are the defaults. */
typedef struct tacit_precond_race {
    size_t size; /* set by the caller: status.h                               */
    const tacit_matrix *matrix; /* that of the solver's operator, with its
                                 * entries; NULL, or without entries:
                                 * preconditioners made from them are left
                                 * out */
    const tacit_precond_options *options; /* of those that take options       */
    int64_t solves;   /* solves with this matrix, which share one set-up; 0:
                       * 1 */
    const char *loop; /* of iterations with each; "auto": the fastest with
                       * each; NULL: the solver's */
} tacit_precond_race;

/* Solve A x = b as tacit_solver_run does, and find the preconditioner that
 * reaches the tolerance fastest, set-up included; `solver` owns and keeps it.
 *
 * Candidates are jacobi, or none if the diagonal is constant, and all others of
 * tacit_precond_at that can be made, except ic0, ic1 and direct. The cheapest begins. The
 * remaining cost of each is predicted from the last decrease of its residuals,
 * at most 6 times the cost that it has had, 20 times for amg; before its first
 * trial from the usual cost of its kind. If the running candidate's remaining
 * cost exceeds 1.5 times another's (4 times more with each further trial), the
 * other continues from the current x; so a bad choice costs about as much as
 * the right one. If the first candidate solves, no other is set up. Costs are
 * counted by entries and rows, so that equal runs choose alike. With several
 * `solves` the cost of all counts; a candidate that may be faster then solves
 * the first system again, and is taken if it is measured to be 10 % faster. All
 * ranks choose the same. All trials share the limit of iterations; without a
 * solution x is the best of those at the ends of trials.
 * Collective.  Blocking.  Borrows nothing: `race->matrix` may be destroyed.
 * Memory      of all candidates that were tried, and a vector, until one is
 *             chosen.
 * Returns     as tacit_solver_run, with the iterations and seconds of all
 *             trials in `result`, and otherwise the values of the last;
 *             tacit_solver_trial_at has set-up times. Monitors see one count of
 *             iterations.
 * Errors      as tacit_solver_run; INVALID (`race`). If a preconditioner cannot
 *             be made, its trial has the reason; that is no error. */
TACIT_API tacit_status tacit_solver_race(tacit_solver *solver,
                                         const tacit_precond_race *race,
                                         const double *b, double *x,
                                         const tacit_stop *stop,
                                         tacit_result *result);

/* The result of a preconditioner in the last race of a solver. */
typedef struct tacit_precond_trial {
    const char *name;
    bool picked;
    const char *reason;   /* why it was not tried, was stopped, or has not
                           * solved; NULL: picked */
    double setup_seconds; /* slowest rank, as in the next                     */
    double seconds;       /* of its iterations                                */
    int64_t iterations;
    double reached;       /* ||b - A x|| / ||b|| after the last of them       */
    double solve_seconds; /* of a solve with it alone; 0: no iterations */
    bool alone; /* ... which was measured, not predicted             */
} tacit_precond_trial;

/* Trial `i`, NULL past the end, so without a race. Owned by `solver`, until it
 * races again. */
TACIT_API const tacit_precond_trial *
tacit_solver_trial_at(const tacit_solver *solver, int i);

TACIT_END_DECLS
#endif
