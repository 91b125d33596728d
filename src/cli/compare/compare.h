/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/compare.h - the rows of `tacit compare`, and their output. */
#ifndef TCT_CLI_COMPARE_COMPARE_H
#define TCT_CLI_COMPARE_COMPARE_H
#include "cli/report/report.h"

enum { CLI_POINTS = 300, CLI_REPEATS = 3, CLI_MISSING_MOST = 128 };

typedef struct cli_compared {
    cli_path path;
    bool baseline;   /* not of this library                      */
    int steps;       /* iterations per sum, or 0: one */
    double setup;    /* seconds of the preconditioner's set-up   */
    double total;    /* `solve`, and the share of a solve in `setup` */
    cJSON *levels;   /* of a preconditioner with levels, or NULL */
    cli_run run;     /* the last one; its times are those of the median */
    double solve;    /* median seconds */
    double ratio;    /* of `total`, to the first row's */
    double faster;   /* time of the best baseline over `total`, or NAN */
    double fraction; /* of copy bandwidth, or NAN */
    bool profiled;
    tacit_tally profile; /* of one more run, every operation timed */
    double profile_seconds;
    int points; /* of the residual history, at most CLI_POINTS */
    double iteration[CLI_POINTS], residual[CLI_POINTS];
} cli_compared;

typedef struct cli_missing { /* something that could not be compared */
    char what[16], name[CLI_FORMAT], reason[256];
} cli_missing;

typedef struct cli_comparison {
    cli_problem problem;
    cli_compared *rows;
    int count, room;
    cli_missing missing[CLI_MISSING_MOST];
    int missing_count;
    const char *device; /* of this comparison; a row may differ */
    double copy;        /* GB/s of that device */
    double rtol, atol;
    double solves;      /* set-up counts once in so many */
    bool has_baselines; /* they were run with another preconditioner */
    bool besides;       /* rows that nobody asked for: some may not be had */
    bool balanced;      /* the balance of rows was looked at */
    /* of the last operator on that device: its format, what that has done,
     * and for the baselines its path and right-hand side */
    char format[CLI_FORMAT];
    bool packed;
    cli_path path;
    double *b; /* [rows], NULL on the host */
} cli_comparison;

/* All ways to step the grid that is named are compared. */
tacit_status cli_compare_grid(const cli *c);

/* The next row, cleared; NULL if there is no room. */
cli_compared *cli_compare_next(cli_comparison *all);

/* Note once why something is not among the rows. */
void cli_compare_miss(cli_comparison *all, const char *what, const char *name,
                      const char *reason);

/* How often a combination is run: warm-up and timed runs. */
int cli_compare_warmup(const cli *c);
int cli_compare_repeat(const cli *c);

/* The rows of one operator, in `format` and the precision of `c`; `method` and
 * `loop` NULL: each. TACIT_INTERRUPTED ends the comparison. */
tacit_status cli_compare_batch(const cli *c, cli_comparison *all,
                               const char *method, const char *loop,
                               const char *format, cli_monitor *m);

/* Preconditioners, and numbers of steps, with one method each, and method
 * direct, unless the command line sets them. */
tacit_status cli_compare_besides(const cli *c, cli_comparison *all,
                                 cli_monitor *m);

/* The baselines on the GPU that all->path ran on. Errors DEVICE, NO_MEMORY. */
tacit_status cli_compare_peers(const cli *c, cli_comparison *all);

/* Rank the rows and set their ratios. */
void cli_compare_rank(cli_comparison *all);
/* ||b - A x|| / ||b||, also of a singular matrix, whose part of b along null
 * vectors no A x has. */
double cli_compare_residual(const tacit_result *r);

void cli_compare_print(const cli_comparison *all);
cJSON *cli_compare_json(const cli_comparison *all);

/* Drawings of the page. */
void cli_comparison_bars(FILE *to, const cli_comparison *all);
void cli_comparison_histories(FILE *to, const cli_comparison *all);

/* The page as one text, from malloc; NULL if there is no memory. */
char *cli_comparison_html(const cli_comparison *all);

#endif
