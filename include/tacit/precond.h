/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/precond.h - preconditioners: operators M, near to the inverse of A,
 * that a solver applies to residuals.
 *
 *     tacit_operator *M = NULL;
 *     tacit_precond_create(A, "jacobi", &M);
 *     tacit_solver_set_precond(solver, M);     // or tacit_solver_set, "precond"
 *     ...
 *     tacit_operator_destroy(&M);              // after the solver
 *
 * One that is made of the entries of the matrix takes the matrix, too:
 *
 *     tacit_operator_create(q, matrix, NULL, &A);     // leaves them
 *     tacit_precond_create_of(A, matrix, "amg", NULL, &M);
 *     tacit_matrix_drop_entries(matrix);              // not needed any more
 *
 * An operator of your own (tacit_operator_from_function) is one, too: symmetric
 * positive definite; for method flexible it may change from one application to
 * the next, where it says so (`varies`) and other methods refuse it. Solves
 * stop on the residual of A x = b, as without. On a GPU loops host and graph
 * take any; loop resident takes jacobi and, on one GPU with method cg, ic0
 * (`resident` of tacit_precond_at).
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
    bool when_named;      /* it may take far more time and memory than others:
                           no race tries it, and whoever wants it names it   */
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
 *   amg      algebraic multigrid: tacit_precond_create_of
 *   direct   a factor of the matrix: tacit_precond_create_of
 * It knows A as it is now; after tacit_operator_update see
 * tacit_precond_update.
 * Collective.  Borrows `A`, which must outlive it.
 * Errors      INVALID (unknown, with the nearest known name), INPUT (a diagonal
 *             entry is zero), UNSUPPORTED (A does not tell its diagonal; one
 *             that is made of the matrix), NO_MEMORY. */
TACIT_API tacit_status tacit_precond_create(const tacit_operator *A,
                                            const char *name,
                                            tacit_operator **out);

enum { TACIT_PRECOND_DEGREE_MOST = 8, TACIT_PRECOND_VECTORS_MOST = 32 };

/* How amg is made, and at the end ic0 and direct; NULL and 0 are the
 * defaults. */
typedef struct tacit_precond_options {
    size_t size;       /* of this struct, set by the caller: status.h      */
    const char *cycle; /* "v": each level is visited once; "w": twice; "k": by
                          two steps of flexible cg, for method flexible    */
    const char
        *smoother; /* "chebyshev", "jacobi", "l1-jacobi"                */
    int degree;    /* of its polynomial, or sweeps, before the visit to
                             the next level and after it: 1 to
                             TACIT_PRECOND_DEGREE_MOST; 2, l1-jacobi 4         */
    int levels;    /* at most: 1 to 40                                  */
    int node_rows; /* rows of a node, such as 3 in elasticity, which follow
                             one another and stay together; 0: as the matrix
                             knows, or its pattern of dense blocks says      */
    int vectors;   /* of near_null, 1 to TACIT_PRECOND_VECTORS_MOST; 0: the
                             rigid-body modes of a matrix that knows them
                             (tacit_matrix_rigid_body_modes), unless
                             node_rows is 1, or else one vector of ones      */
    const double *near_null; /* [vectors * local rows] what A takes to next
                             to nothing, vector after vector, each one of all
                             ranks: rotations are about the same point on all;
                             borrowed for the call                          */
    const char *precision;   /* of the values on its levels: "double"; "float",
                              rounded to 24 bits; "auto": float where that
                              leaves smooth vectors what they have      */
    const char *order;       /* of the rows of ic0 and direct, as of
                          tacit_factor_options; of ic0 "top-nd", and on a GPU,
                          where rows that wait cost most, "multicolor"     */
    int leaves;       /* ... of its tree: a power of two up to 4096; 1, or
                          Pz of `grid`                                      */
    const char *kind; /* of direct: "llt", "ldlt", "lu", as of
                             tacit_factor_options, or "auto": lu of a matrix
                             that is not symmetric, llt of one that is
                             positive definite, else ldlt; NULL: llt, since
                             methods want M positive definite                */
    int columns;      /* of direct on a GPU: right-hand sides that one
                             launch solves for, 1 to 64; 1                   */
    int grid[3];      /* 1, 1, Pz: of ic0 and direct, a factor of the whole
                             matrix, dealt out over Pz of the ranks, a power of
                             two (0: as many as there are ranks and leaves for
                             it); 0, 0, 0: direct so on several ranks, of ic0
                             each rank has that of its own rows and columns  */
} tacit_precond_options;

/* The same, with the entries of the matrix at hand: `matrix` is that of `A`, by
 * tacit_operator_create, which leaves them; `options` NULL is all defaults.
 *
 * ic0 is (L L')^-1 by a factor of kind IC0 (tacit/factor.h), of the rows in the
 * operator's order or that of `order`; of several ranks each has that of its
 * own rows and columns, unless `grid` says otherwise. On the host one thread
 * applies it; on a GPU it is for every method with loops host and graph, and on
 * one GPU for cg with loop resident.
 *
 * amg pairs strongly coupled rows, of any ranks, three times over, so that a
 * level has about an eighth of the rows of the one before, down to some hundred
 * rows, whose inverse is formed. Applied, it is a cycle of fixed steps, linear,
 * symmetric and positive definite: for every method, with loops host and graph.
 * Cycle "k" (Notay and Vassilevski 2008) is not linear: what the next two
 * levels come to is the best of two corrections each, and the rest is a V.
 * Iterations then hardly grow with the matrix; on several ranks it makes sums.
 * Where several vectors are smooth, as rigid-body modes are in elasticity,
 * nodes are paired in place of rows and an aggregate has as many columns of P:
 * with six of them and nodes of three rows the next level has a quarter of the
 * rows and half of the entries, those behind it an eighth (Vanek, Mandel and
 * Brezina 1996). Where rows cannot be paired, as in a diagonal or a dense
 * matrix, levels end early and the last is smoothed: tacit_precond_describe
 * tells.
 *
 * direct is L L' = A, or another factor (tacit/factor.h), so that a method
 * needs an iteration or two for what rounding has left. It says what memory it
 * needs before it begins.
 *
 * With `grid`, and direct on several ranks without it, rank 0 gets the whole
 * matrix and makes the factor, of rows in the matrix's original order or that
 * of `order`, so that it is the same however rows are divided; then each of Pz
 * ranks gets one leaf of its tree and the nodes above it (tacit/trsv.h), and
 * the others have none of it. With as many `leaves` it is the same on 1, 2, 3
 * or 4 ranks, and so are iterations, but for rounding. On the host alone. An
 * application moves x to the parts, adds up what these share in at most 2 log2
 * Pz messages a rank, and moves y back; these are exchanges of the queue's,
 * which go on where a queue has failed until all ranks know it, and their order
 * is fixed: two runs give the same bits. The host makes the factors of ic0 and
 * direct; on a GPU each application is one kernel. ic0 and direct are applied
 * to several right-hand sides at once where a solver has them in step; with
 * direct a column may then differ by rounding from what it is alone.
 *
 * Levels whose values are floats take fewer bytes; the finest one has a copy of
 * its values for that, where it is smaller than what the operator stores by a
 * fifth. Vectors are of doubles.
 * Collective.  Borrows `A`, which must outlive it; `matrix` may be destroyed.
 * Memory      about the entries of the matrix once more, on its device; to set it
 *             up some 16 bytes an entry and 60 a row on the host: where these are
 *             not free nothing is begun. With `grid` rank 0 has the whole matrix and
 *             its factor until that is dealt out.
 * Cost        of an application of ic0 about a product with A; of a V with degree k:
 *             2 k products a level, and their exchanges, and two more where
 *             other ranks keep the next level; no sum. Of a K, two
 *             products and two sums more at each of three visits.
 * Errors      as tacit_precond_create; INVALID (`matrix` is not that of A, or an
 *             operator has taken its entries; options; a near-null vector that is
 *             0 or not finite), INPUT (a diagonal entry that is not positive,
 *             naming its row), UNSUPPORTED (2^31 rows on a rank), DEVICE,
 *             COMM. */
TACIT_API tacit_status tacit_precond_create_of(
    const tacit_operator *A, const tacit_matrix *matrix, const char *name,
    const tacit_precond_options *options, tacit_operator **out);

/* Let `M` fit the values that its operator has by tacit_operator_update, which
 * comes first; `matrix` is the one that the operator was given.
 *
 *     tacit_operator_update(A, matrix);        // the same pattern
 *     tacit_precond_update(M, matrix);
 *     tacit_solver_run(solver, b, x, &stop, &result);
 *
 * amg keeps its aggregates and P, with near-null vectors, too, and so has as
 * many levels, or fewer where a matrix is not positive definite; the matrices
 * of levels, whether their values are floats, what smoothers know of them and
 * the inverse are made anew. Where values have changed so much that others are
 * strongly coupled, one that is made anew takes fewer iterations. Levels that a
 * GPU has made (TACIT_AMG_SETUP) it makes wholly anew, aggregates included.
 * jacobi takes the diagonal, for which `matrix` may be NULL; ic0 and direct are
 * factored anew.
 *
 * Without it: a solver's run, or tacit_precond_measure, with amg, ic0 or direct
 * of values that its operator has no longer is refused; jacobi takes the
 * diagonal first. To go on with what was made for old values, make it for an
 * operator of its own. One that a race has chosen is the solver's: race again.
 * Collective.  On all ranks `M` takes the new values, or stays as it was.
 * Memory      as tacit_precond_create_of, while the old levels, but not their P,
 *             stay until the new ones are there.
 * Cost        of amg: set-up but for pairs and P; see docs/performance/amg.md.
 * Errors      INVALID (`M` is an operator of another kind, or one of the run that is
 *             under way, as in its monitor; one of the matrix without
 *             `matrix`; `matrix` is not what the operator has, naming a row),
 *             UNSUPPORTED (levels made by a GPU from a near-null vector), and as
 *             tacit_precond_create_of. */
TACIT_API tacit_status tacit_precond_update(tacit_operator *M,
                                            const tacit_matrix *matrix);

typedef struct tacit_precond_info {
    size_t size;            /* of this struct, set by the caller              */
    const char *name;       /* "amg"                                          */
    const char *detail;     /* "cycle v, smoother chebyshev(2)", or ""        */
    const char *end;        /* what is done with the last level, and why there
                             is no other; or ""                             */
    int levels;             /* 0: it has none                                 */
    double bytes;           /* of all levels and ranks                        */
    double grid_complexity; /* rows of all levels / rows of the matrix  */
    double operator_complexity; /* the same of entries                      */
    double setup_seconds;
    bool
        varies; /* it is not the same linear map each time: for methods of which
                    tacit_method has varying_precond                       */
    const struct tacit_factor
        *factor; /* of ic0 and direct, what they solve with
                    (tacit/factor.h), of the matrix times a power of two where
                    its largest entry is far from 1; owned by M, until it is
                    updated; NULL: none, or it is dealt out over a grid     */
    const struct tacit_factor_info
        *factor_info;     /* what is known of it in either case; as `factor` */
    int grid[3];          /* over which it is dealt out; 0, 0, 0: it is not */
    int64_t messages;     /* of all ranks, in an application of it         */
    double message_bytes; /* ... with one right-hand side                  */
} tacit_precond_info;

/* What is known of preconditioner `M`, into `out`, which says how large it is.
 * Errors      INVALID (the size of `out`). */
TACIT_API tacit_status tacit_precond_describe(const tacit_operator *M,
                                              tacit_precond_info *out);

/* A level of amg; the first is that of the operator. */
typedef struct tacit_precond_level {
    int64_t rows, nonzeros; /* of all ranks                                  */
    double bytes;           /* of its matrix, but the operator's own, and of
                               vectors and what leads to the next level      */
    const char *format;     /* of this rank's rows; "inverse": solved        */
    double largest;         /* eigenvalue of D^-1 A, as the smoother takes it */
    int bits; /* of its values: 32 where they are floats, or else 64         */
} tacit_precond_level;

/* Level `i` of `M`, NULL past the end. Owned by `M`, until it is updated. */
TACIT_API const tacit_precond_level *
tacit_precond_level_at(const tacit_operator *M, int i);

/* How `M` converges by itself: what an application of it leaves of an error, in
 * the norm of A, e = e - M A e, as found in 15 of them from a random e; above 1
 * it needs a solver around it, which is no fault: the over-correction of amg is
 * for that.
 * Collective.  Blocking.
 * Cost        16 products, applications of M and sums; memory for 3 vectors.
 * Errors      INVALID (M is for another operator), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status tacit_precond_measure(const tacit_operator *A,
                                             const tacit_operator *M,
                                             double *out);

/* Solve A X = B by M alone: x = x + M (b - A x), until b - A x, which is formed
 * anew each time, meets `stop`, for `columns` right-hand sides as
 * tacit_solver_run_block takes them. With "direct" that is a direct solve: the
 * first step solves, the others are iterative refinement (Higham 2002, chapter
 * 12), which as a rule are none. A need not be symmetric, nor M.
 * Collective.  Blocking.
 * Iteration   an application of M, of up to 32 columns at once where it can, and a
 *             product with A; one product more. `iterations` counts steps, from 1.
 * Memory      for up to 32 columns: four vectors each.
 * Returns     what the worst column came to, as tacit_solver_run_block.
 *             NOT_CONVERGED also where a step has left more than 9 tenths of a
 *             residual, with stop reason STAGNATION.
 * Errors      INVALID (M is for another operator; sizes), INPUT (a column of B is
 *             not finite), NO_MEMORY, DEVICE, COMM. */
TACIT_API tacit_status tacit_precond_solve(const tacit_operator *A,
                                           const tacit_operator *M, int columns,
                                           const double *B, size_t B_stride,
                                           double *X, size_t X_stride,
                                           const tacit_stop *stop,
                                           tacit_result *results);

/* Precondition what `solver` solves from now on with `M`; NULL: with nothing.
 * Collective.  Borrows `M`, which must outlive the solver or be taken from it.
 * Cost        an application of M an iteration, and a scalar in its sum.
 * Errors      INVALID (M is for other rows, a run has begun), UNSUPPORTED (the
 *             method takes none, or none that varies), NO_MEMORY. */
TACIT_API tacit_status tacit_solver_set_precond(tacit_solver *solver,
                                                const tacit_operator *M);

/* What the solver preconditions with, NULL: nothing. Owned by who made it. */
TACIT_API const tacit_operator *
tacit_solver_precond(const tacit_solver *solver);

/* --- which one? ----------------------------------------------------------------
 *
 *     tacit_precond_race race = {.size = sizeof race, .matrix = matrix};
 *     tacit_solver_race(solver, &race, b, x, &stop, &result); // the fastest
 *     tacit_solver_run(solver, b2, x2, &stop, &result);       // the same again */

/* How preconditioners race; NULL and 0 are the defaults. */
typedef struct tacit_precond_race {
    size_t size; /* of this struct, set by the caller: status.h               */
    const tacit_matrix *matrix; /* that of the solver's operator, which left its
                             entries; NULL, or one that has dropped them: what
                             is made of them is left out                      */
    const tacit_precond_options *options; /* of those that take any           */
    int64_t solves;   /* with this matrix, in which set-up counts once; 0: 1  */
    const char *loop; /* of iterations with each; "auto": the fastest with each;
                   NULL: the one that the solver has                         */
} tacit_precond_race;

/* Solve A x = b as tacit_solver_run does, with the preconditioner that is
 * fastest to the tolerance, set-up included, which is found out on the way;
 * `solver` owns it and keeps it.
 *
 * Candidates are none, where the diagonal is constant, or else jacobi, and all
 * others of tacit_precond_at that can be made, but ic0. The cheapest begins.
 * What each still needs is predicted: from how fast its residuals have fallen
 * of late, but at most 6 times what it has had, amg 20 times; before it was
 * tried, from what its kind costs as a rule, in sweeps over the entries of the
 * matrix, of which some are timed, and in iterations without. Who would need
 * half as long again as another, after two turns much longer, hands over to
 * that one, which goes on from x; so a bad choice costs about what the right
 * one does, once more. What is solved by the first is never set up for another.
 * Of several `solves`, time for all of them is what counts; who then may be
 * faster, though the first solve is done, solves it again for as long as that
 * took. All ranks choose the same.
 * Collective.  Blocking.  Borrows nothing: `race->matrix` may be destroyed.
 * Memory      of all candidates that were tried, until one is chosen.
 * Returns     as tacit_solver_run, with the iterations and their seconds of all
 *             in `result`, and what came last otherwise; set-up is told by
 *             tacit_solver_trial_at. Monitors see one count of iterations.
 * Errors      as tacit_solver_run; INVALID (`race`). A preconditioner that cannot
 *             be made is no error: its trial has the reason. */
TACIT_API tacit_status tacit_solver_race(tacit_solver *solver,
                                         const tacit_precond_race *race,
                                         const double *b, double *x,
                                         const tacit_stop *stop,
                                         tacit_result *result);

/* What a preconditioner came to in the last race of a solver. */
typedef struct tacit_precond_trial {
    const char *name;
    bool picked;
    const char *reason;   /* why it was not tried, or left, or has not solved;
                       NULL: picked                                          */
    double setup_seconds; /* slowest rank, as in the next                     */
    double seconds;       /* of its iterations                                */
    int64_t iterations;
    double reached;       /* ||b - A x|| / ||b|| after the last of them       */
    double solve_seconds; /* of a solve with it alone; 0: it has not iterated */
    bool alone; /* ... which was measured, not predicted             */
} tacit_precond_trial;

/* Trial `i`, NULL past the end, so without a race. Owned by `solver`, until it
 * races again. */
TACIT_API const tacit_precond_trial *
tacit_solver_trial_at(const tacit_solver *solver, int i);

TACIT_END_DECLS
#endif
