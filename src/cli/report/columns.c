/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/columns.c - the results of a block's columns, for people: counts
 * by status, then a line each; if there are many, the first and some unsolved
 * ones. */
#include "cli/report/report.h"
#include <inttypes.h>

enum { FIRST = 12, UNSOLVED = 8 };

typedef struct {
    int64_t least, most; /* iterations */
    int solved, counted, limited, interrupted, broken;
    int restarted, rescued;
} census;

static census count(const cli_run *run)
{
    census a = {.least = INT64_MAX};
    for (int j = 0; j < run->columns; j++) {
        const tacit_result *s = &run->results[j];
        const tacit_status outcome = cli_outcome(s);
        a.solved += outcome == TACIT_OK;
        a.counted += s->stop == TACIT_STOP_ITERATIONS;
        a.limited += outcome == TACIT_NOT_CONVERGED;
        a.interrupted += outcome == TACIT_INTERRUPTED;
        a.broken += outcome == TACIT_BREAKDOWN;
        a.restarted += s->restarts > 0;
        a.rescued += s->rescued_by != NULL;
        if (s->iterations < a.least) a.least = s->iterations;
        if (s->iterations > a.most) a.most = s->iterations;
    }
    return a;
}

static void print_count(FILE *to, int columns, const char *what)
{
    if (columns > 0) fprintf(to, ", %d %s", columns, what);
}

static void print_census(FILE *to, const cli_run *run, const census *a)
{
    fprintf(to, "result   %d right-hand sides: %d converged", run->columns,
            a->solved - a->counted);
    print_count(to, a->counted, "ended as asked for");
    print_count(to, a->limited, "not converged");
    print_count(to, a->interrupted, "interrupted");
    print_count(to, a->broken, "broke down");
    if (a->least < a->most)
        fprintf(to, "; %" PRId64 " to %" PRId64 " iterations\n", a->least,
                a->most);
    else
        fprintf(to, "; %" PRId64 " iteration%s each\n", a->most,
                a->most == 1 ? "" : "s");
}

static void print_table(FILE *to, const cli_run *run)
{
    cli_table t = {.text = NULL};
    int left_out = 0, unsolved = 0;
    const tacit_result *any = &run->results[0]; /* one matrix: as the others */
    const bool singular = any->null_vectors > 0;
    cli_table_row(&t,
                  "column\titerations\t||r|| / ||b||\t"
                  "||%s - A x|| / ||b||\tstop%s",
                  cli_residual_of(any), singular ? "\tb outside" : "");
    for (int j = 0; j < run->columns; j++) {
        const tacit_result *s = &run->results[j];
        const bool solved = cli_outcome(s) == TACIT_OK;
        unsolved += j >= FIRST && !solved;
        if (j >= FIRST && (solved || unsolved > UNSOLVED)) {
            left_out++;
            continue;
        }
        char told[CLI_NUMBER], true_one[CLI_NUMBER], part[CLI_NUMBER] = "";
        if (singular) cli_small(s->outside, part);
        cli_table_row(&t, "%d\t%" PRId64 "\t%s\t%s\t%s%s%s", j + 1,
                      s->iterations, cli_small(s->relative_residual, told),
                      cli_small(s->true_relative_residual, true_one),
                      cli_stop_name(s->stop), singular ? "\t" : "", part);
    }
    cli_table_print(&t, to);
    cli_table_free(&t);
    if (singular)
        fprintf(to,
                "singular %" PRId64 " null vector%s of the matrix; P b is b "
                "without its part along %s, relative to b the last column\n",
                any->null_vectors, any->null_vectors == 1 ? "" : "s",
                any->null_vectors == 1 ? "it" : "them");
    if (left_out > 0)
        fprintf(to, "note     %d columns more, which --json has too\n",
                left_out);
}

void cli_print_columns(FILE *to, const cli_report *r)
{
    const census a = count(&r->run);
    print_census(to, &r->run, &a);
    print_table(to, &r->run);
    if (a.restarted > 0)
        fprintf(to,
                "note     in %d column%s the recurrence met the target before "
                "b - A x did: the solve continued from x\n",
                a.restarted, a.restarted == 1 ? "" : "s");
    if (a.rescued > 0)
        fprintf(to,
                "note     in %d column%s another method did the work at the "
                "end: the recurrences of %s are too inaccurate for this "
                "matrix\n",
                a.rescued, a.rescued == 1 ? "" : "s", r->path.method);
}
