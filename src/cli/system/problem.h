/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/problem.h - the linear system of solve, compare and bench, and one
 * run of a method on it.
 *
 *     cli_problem p;                  // the matrix, checked and divided
 *     cli_problem_open(c, name, CLI_FOR_SOLVING, &p);
 *     cli_system s;                   // on a device: operator and vectors
 *     cli_system_create(c, &p, "count", "auto", CLI_ALONE, &s);
 *     cli_run_solver(c, &s, solver, monitor, &run);
 *     cli_system_destroy(&s);
 *     cli_problem_close(&p);
 *
 * All are collective and NULL-safe at the end. */
#ifndef TCT_CLI_SYSTEM_PROBLEM_H
#define TCT_CLI_SYSTEM_PROBLEM_H
#include "cli/cli.h"
#include <limits.h>

typedef struct cli_problem {
    const char *name; /* for people */
    tacit_matrix *matrix;
    tacit_matrix_info info;
    const char *partition; /* "metis", "contiguous", "file" */
    double read_seconds, check_seconds, partition_seconds;
} cli_problem;

typedef enum {
    CLI_FOR_SOLVING,
    CLI_FOR_FACTORING,
    CLI_FOR_PRODUCTS,
    CLI_FOR_READING
} cli_use;

/* Read or make the matrix. For products it must be square, and its rows are
 * divided among the ranks; for solving it must also be symmetric, and zero and
 * negative diagonals get a warning; for factoring its kind decides.
 * Errors      those of tacit_matrix_open and tacit_matrix_partition, INPUT. */
tacit_status cli_problem_open(const cli *c, const char *name, cli_use use,
                              cli_problem *out);
void cli_problem_close(cli_problem *p);

/* The zero and negative diagonals of a matrix that should be positive definite,
 * into `text`, which is returned; NULL: there are none. */
enum { CLI_DIAGONAL = 128 };
const char *cli_bad_diagonal(const cli *c, const cli_problem *p,
                             char text[CLI_DIAGONAL]);
/* Warn of them: `solve` does so where it did not fail for them. */
void cli_warn_diagonal(const cli *c, const cli_problem *p);

/* Open a problem, do `work`, and close it. */
tacit_status cli_problem_with(const cli *c, const char *name, cli_use use,
                              tacit_status (*work)(const cli *c,
                                                   const cli_problem *p));

typedef struct cli_system {
    tacit_queue *queue;
    tacit_operator *A;
    tacit_operator *M; /* a preconditioner made from the matrix, or NULL */
    bool races;        /* the next run chooses the preconditioner */
    tacit_precond_options options; /* when they are needed */
    tacit_precond_race race;
    size_t n;               /* local rows */
    int columns;            /* right-hand sides */
    size_t stride;          /* from a column to the next one */
    double *b, *x;          /* device panels [columns][stride] */
    double *xstar;          /* [n] the manufactured solution, or NULL */
    double *guess;          /* [guesses][n] host, of --x0, or NULL */
    int guesses;            /* columns, or 1 for all of them */
    tacit_result *results;  /* [columns] of the last run, if more than one */
    double context_seconds; /* of a GPU: the driver's part of the set-up */
    double setup_seconds;   /* the rest of it */
} cli_system;

/* The decorators and the device of `c`, "count:cuda", into `text`, which is
 * returned. */
enum { CLI_SPEC = 256 };
const char *cli_queue_spec(const cli *c, const char *decorators,
                           char text[CLI_SPEC]);

/* Do `work` with each link between several ranks, named in `with`, a copy of
 * `c`, until a status is not OK; once with `c` itself if it names a link or
 * there is one rank.
 * Collective.  Errors those of `work`; if there is none, those of the last
 *              link. */
tacit_status cli_each_link(const cli *c,
                           tacit_status (*work)(const cli *with, void *to),
                           void *to);

/* `format` (NULL: auto) with the suffixes of c->precision and --reorder, into
 * `text`, which is returned. */
const char *cli_format_spec(const cli *c, const char *format,
                            char text[CLI_FORMAT]);

/* Is it the only system of its problem? */
typedef enum { CLI_ALONE, CLI_SHARING } cli_company;

/* Solves that set-up may count on: more than one if runs are repeated. */
int64_t cli_solves_of(const cli *c, cli_company company);

/* A queue on the device of `c` with `decorators` ("" for none), the operator in
 * `format`, and the vectors. The only system takes the entries of the problem's
 * matrix, and all columns of the right-hand side; others copy them and have the
 * first column.
 * Errors      those of the library; INPUT and IO of --rhs and --x0. */
tacit_status cli_system_create(const cli *c, const cli_problem *p,
                               const char *decorators, const char *format,
                               cli_company company, cli_system *out);
void cli_system_destroy(cli_system *s);

/* Make its vectors, after queue and operator.
 * Errors      those of the library; INPUT and IO of --rhs and --x0. */
tacit_status cli_make_vectors(const cli *c, const cli_problem *p,
                              cli_company company, cli_system *s);
void cli_free_vectors(cli_system *s);
/* x = the first guess */
tacit_status cli_set_guess(cli_system *s);
/* x into `host` [columns][n]. */
tacit_status cli_get_solution(const cli_system *s, double *host);

/* Is the method direct, without a solver: M solves? */
bool cli_is_direct(const cli *c);
/* Check options against method direct, before the matrix is read.
 * Errors      INVALID; UNSUPPORTED (several processes with GPUs). */
tacit_status cli_check_direct(const cli *c);
/* The grid: of tacit trsv; of a preconditioner or a method, whose factor is
 * dealt out in parts. 0s: auto.
 * Errors      INVALID, UNSUPPORTED (a shape that is not for it). */
typedef enum { CLI_GRID, CLI_GRID_PARTS } cli_grid_use;
tacit_status cli_read_grid(const cli *c, cli_grid_use use, int grid[3]);
tacit_status cli_check_grid(const cli *c, cli_grid_use use, const int grid[3]);

/* Make the preconditioner of the command line, or the M of method direct, if it
 * needs the entries of the matrix and is not made yet. */
tacit_status cli_make_precond(const cli *c, const cli_problem *p,
                              cli_system *s);
/* Apply the command line to a solver, with its preconditioner. */
tacit_status cli_set_solver(const cli *c, const cli_problem *p, cli_system *s,
                            tacit_solver *solver);
/* Let the next run choose the preconditioner, each driven by `loop`, if the
 * command line asks for it; the entries of the matrix stay until it ends. */
tacit_status cli_set_race(const cli *c, const cli_problem *p, cli_system *s,
                          const char *loop);
/* Has its operator reduced-precision values, for mixed precision? */
bool cli_is_mixed(const cli_system *s);

/* Files written with an L at `path`. */
typedef struct {
    char upper[PATH_MAX], diagonal[PATH_MAX], permutation[PATH_MAX];
} cli_factor_names;
void cli_name_factor(const char *path, cli_factor_names *out);

/* Does `text` name a right-hand side that is not a file? */
bool cli_is_rhs_word(const char *text);
/* The word that `text`, which is not a file, resembles; NULL: none. */
const char *cli_near_rhs_word(const char *text);
/* Does `text` name a part of the matrix's file? */
bool cli_is_own(const char *text);
/* Is the right-hand side made from a known solution? */
bool cli_is_manufactured(const cli *c);

/* --- one run -------------------------------------------------------------- */

typedef struct cli_look {
    int column; /* from 0 */
    int64_t iteration;
    double residual;
} cli_look;

typedef struct cli_monitor {
    bool keep;     /* the history                          */
    bool show;     /* progress on standard error           */
    bool terminal; /* where a line can be rewritten */
    int64_t count, room;
    cli_look *look; /* [count] */
    bool lost;      /* no memory for more history */
    bool shown;     /* the terminal shows a line */
    double first;   /* the least residual of first guesses; or infinite */
    double start, last;
} cli_monitor;

/* A monitor that shows progress on a terminal or with -v. */
cli_monitor cli_monitor_of(const cli *c, bool keep);

/* Begin to watch a solve: the first interrupt from now on ends it after the
 * iteration, the second one kills. */
void cli_monitor_begin(cli_monitor *m);
void cli_monitor_end(cli_monitor *m);
/* Callbacks for tacit_stop, with a cli_monitor. */
int cli_monitor_step(void *monitor, int64_t iteration, double residual);
int cli_monitor_column(void *monitor, int column, int64_t iteration,
                       double residual);
void cli_monitor_free(cli_monitor *m);

typedef struct cli_run {
    tacit_status status;
    char message[1024];          /* its explanation */
    tacit_result result;         /* of the first of the worst columns */
    int columns;                 /* 2 or more: a block */
    const tacit_result *results; /* ... [columns], of the system; or NULL */
    bool mixed;                  /* the operator has reduced-precision values */
    double error;                /* ||x - x*||, NAN if there is no x* */
    tacit_tally tally; /* of all ranks: counts and seconds of the slowest,
                        * flops, bytes and messages summed */
} cli_run;

/* The status that `result` stands for. */
tacit_status cli_outcome(const tacit_result *result);
/* The most of any column. */
int64_t cli_iterations(const cli_run *run);

/* Warn once if a few rows decide when b - A x is small, by the right-hand side
 * or by the diagonal, unless the norm has a size for each row; relative to the
 * first residual, by that; in the norm of `M`, if it is known, by that of each
 * row. Collective. */
tacit_status cli_warn_unbalanced(const cli *c, const cli_problem *p,
                                 const cli_system *s, const tacit_operator *M);
/* Is b - A x compared with the first residual, in place of b? */
bool cli_is_relative_to_first(const cli *c);

/* Solve from the first guess with `solver`, NULL: by the system's M alone,
 * watched by `m`. The outcome is in `out->status`; an error is returned. */
tacit_status cli_run_solver(const cli *c, cli_system *s, tacit_solver *solver,
                            cli_monitor *m, cli_run *out);

/* Copy bandwidth of all ranks at once [GB/s], NAN if it cannot be measured; on
 * the host by copies of `bytes` in all, from 1 to 256 MiB, so that what stays in
 * the caches is compared with copies there, and takes no longer to measure. */
double cli_measure_copy(const cli *c, tacit_queue *queue, double bytes);

/* Does `status` make a row missing: a format or a loop that does not fit this
 * matrix, or lack of GPU memory? */
bool cli_is_missing(const cli *c, tacit_status status);

/* The sum of all operations of a tally. */
tacit_tally_row cli_tally_total(const tacit_tally *t);

/* Is this the name of a grid, "star2d1r:9x9"? */
bool cli_is_grid(const char *name);

#endif
