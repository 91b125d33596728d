/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare.h - the rows of `tacit compare`, and the page made of them. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H
#include "cli/report.h"

enum { CLI_POINTS = 300 }; /* of a residual history, at most */

typedef struct cli_compared {
    cli_path path;
    cli_run run;     /* the last one; its times are those of the median */
    double solve;    /* median seconds */
    double ratio;    /* to the first row's */
    double fraction; /* of copy bandwidth */
    bool profiled;
    tacit_tally profile; /* of one more run, every operation timed */
    double profile_seconds;
    int points;
    double iteration[CLI_POINTS], residual[CLI_POINTS];
} cli_compared;

typedef struct cli_missing { /* what could not be compared */
    char what[16], name[16], reason[256];
} cli_missing;

typedef struct cli_comparison {
    cli_problem problem;
    cli_compared *rows;
    int count, room;
    cli_missing missing[64];
    int missing_count;
    double copy;
    double rtol, atol;
} cli_comparison;

/* The page as one text, from malloc; NULL if there is no memory. */
char *cli_comparison_html(const cli_comparison *all);

#endif
