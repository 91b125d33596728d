/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/report.h - the result of a solve, as text and as the JSON object
 * that docs and scripts rely on. */
#ifndef TCT_CLI_REPORT_REPORT_H
#define TCT_CLI_REPORT_REPORT_H
#include "cli/system/problem.h"
#include <cjson/cJSON.h>

typedef struct cli_path {
    const char *method, *loop, *comm, *device, *precision, *precond;
    const char *partition, *order;
    double order_seconds;               /* to find it */
    double copy_seconds, store_seconds; /* of set-up on a GPU */
    char format[CLI_FORMAT];
    char detail[160]; /* of the format */
    char loop_detail[96];
    const char *comm_detail;  /* a property of the link, or "" */
    double bytes_per_nonzero; /* of the matrix in that format and precision */
    char device_name[160];
    int ranks, threads;
    bool oversubscribed; /* several ranks share one GPU */
} cli_path;

typedef struct cli_report {
    const char *name; /* of the matrix */
    tacit_matrix_info matrix;
    cli_path path;
    cli_run run; /* the best one */
    const tacit_operator *A;
    const tacit_backward *accuracy; /* of each column; NULL: not measured */
    const char *norm; /* that decides; NULL: residual, relative to b */
    bool made_up;     /* b, and no preconditioner was asked for */
    int block; /* of rows of a file, of whose nodes amg knows no more; or 0 */
    double condition;           /* lower bound; 0: not known */
    double rtol;                /* that was asked for */
    const tacit_operator *M;    /* the preconditioner, or NULL */
    const tacit_solver *solver; /* may have chosen M; NULL: M solves */
    bool profiled;
    bool spared; /* reduced precision was asked for but saves nothing */
    /* seconds, slowest rank; `context`: the driver's part of the set-up */
    double read, check, partition, context, setup, total;
    const double *solves; /* [count] seconds of each */
    int count;
    double copy;      /* GB/s of all ranks, NAN unknown */
    double peak_rank; /* bytes of memory: the largest of a rank, all */
    double peak_total;
} cli_report;

/* The path of `run` on `s`. */
cli_path cli_path_of(const cli *c, const cli_problem *p, const cli_system *s,
                     const char *method, const cli_run *run);

/* Peak memory of this process so far, over all ranks. Collective. */
void cli_peak_memory(const cli *c, cli_report *r);

/* Traffic over copy bandwidth; counted bytes and flops per second [1e9]. NAN if
 * unknown. */
double cli_fraction_of_copy(const cli_run *run, double copy);
/* Bytes of all ranks. */
double cli_moved_an_iteration(const cli_run *run);

/* "rtol", "max_iterations", ... */
const char *cli_stop_name(tacit_stop_reason stop);

/* What A x is compared with in the residuals of `r`: "b", or "P b" where null
 * vectors are known: b without its part along them. */
const char *cli_residual_of(const tacit_result *r);

/* One sentence on a solve without success, into `text` [size]; of a block, on
 * the first of its worst columns. */
void cli_explain(const cli_run *run, char *text, size_t size);

void cli_report_print(FILE *to, const cli_report *r);
/* The results of a block's columns. */
void cli_print_columns(FILE *to, const cli_report *r);

/* From the matrix in memory to x: all but reading and the check. */
double cli_whole(const cli_report *r);
/* The residual that rounding allows: where the solve measured it, as its
 * sentence has it. */
double cli_attainable(const tacit_result *r, const tacit_backward *a);
/* The larger of two bounds of A's condition: of the recurrence, and the known
 * error over the residual; of a preconditioned matrix there is one. */
double cli_condition(const cli_report *r);
/* The error of x, known or allowed, and what may make it smaller. */
void cli_print_condition(FILE *to, const cli_report *r);

/* The decisions of an operator during solves, in words and as an array. */
void cli_print_decisions(FILE *to, const tacit_operator *A);
cJSON *cli_json_decisions(const tacit_operator *A);

/* The whole report, or the parts common to a table of runs. */
cJSON *cli_report_json(const cli_report *r);
cJSON *cli_json_matrix(const char *name, const tacit_matrix_info *m);
cJSON *cli_json_path(const cli_path *p);
cJSON *cli_json_result(const cli_run *run);
/* Numbers that read back as the same bits; null if not finite. */
cJSON *cli_json_value(double value);
cJSON *cli_json_values(const double *values, int count);
void cli_json_number(cJSON *to, const char *name, double value);

/* Print `object` to `path` ("-": standard output) and delete it.
 * Collective.  Errors IO, NO_MEMORY. */
tacit_status cli_write_json(const cli *c, const char *path, cJSON *object);

/* --- numbers and tables for people ---------------------------------------- */

/* "12.3 ms"; "1,234,567"; "12.3 GiB", into `text`, which is returned. */
enum { CLI_NUMBER = 32 };
/* "single 50, pipelined 421": the iterations of each method, with `join`
 * between two. */
enum { CLI_MADE = 160 };
char *cli_made(const tacit_result *r, const char *join, char text[CLI_MADE]);
char *cli_seconds(double seconds, char text[CLI_NUMBER]);
char *cli_integer(int64_t value, char text[CLI_NUMBER]);
char *cli_bytes(double bytes, char text[CLI_NUMBER]);
/* "1.23" with so many digits; "-" for NAN. */
char *cli_fixed(double value, int digits, char text[CLI_NUMBER]);
/* As %.4g; "-" for what is not finite. */
char *cli_figure(double value, char text[CLI_NUMBER]);
/* "1.234567e-07"; "-" for what is not finite. */
char *cli_small(double value, char text[CLI_NUMBER]);

/* Rows of tab-separated cells: aligned on a terminal, unchanged for a
 * script. */
typedef struct cli_table {
    char *text;
    size_t used, room;
    bool lost; /* no memory */
} cli_table;
void cli_table_row(cli_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cli_table_print(const cli_table *t, FILE *to);
void cli_table_free(cli_table *t);

/* The name of `M`; "none" for NULL. */
const char *cli_precond_name(const tacit_operator *M);
/* A preconditioner with levels: in few words, a row a level, as an object;
 * without levels, or for NULL, nothing, or null. `convergence` is its
 * convergence factor, NAN: unknown. */
void cli_print_precond(FILE *to, const tacit_operator *M);
void cli_print_levels(cli_table *to, const tacit_operator *M,
                      double convergence);
cJSON *cli_json_precond(const tacit_operator *M, double convergence);
/* The convergence factor of `M`; NAN: no levels, or not measurable. */
double cli_measure_precond(const tacit_operator *A, const tacit_operator *M);
/* A factor: its kind as in --kind, from NULL for the first; its description;
 * and the factor of `M`, in words and as an object: without one, nothing, null.
 * `bytes_to_solve` are in the vectors' memory. */
const char *cli_kind_name(tacit_factor_kind kind);
tacit_factor_kind cli_kind_of(const char *name);
void cli_add_factor(cJSON *to, const tacit_factor_info *f);
/* "12 positive, 3 negative", of kind ldlt. */
enum { CLI_INERTIA = 128 };
const char *cli_inertia(const tacit_factor_info *f, char text[CLI_INERTIA]);
void cli_print_factor(FILE *to, const tacit_operator *M);
/* The grid of a distributed factor, if any. */
void cli_print_grid(FILE *to, const tacit_precond_info *about);
cJSON *cli_json_factor(const tacit_operator *M);
/* The candidates of a race, in words and as an array; without a race nothing,
 * null. */
void cli_print_race(FILE *to, const tacit_solver *solver);
cJSON *cli_json_race(const tacit_solver *solver);

#endif
