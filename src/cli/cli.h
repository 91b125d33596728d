/* SPDX-License-Identifier: BSD-3-Clause
 * cli/cli.h - the program `tacit`: what its files share. One file per
 * subcommand, one row in CLI_COMMANDS; parses, calls the library, prints.
 *
 * Every command runs on all ranks alike and returns the same status on each;
 * rank 0 does the printing. */
#ifndef TCT_CLI_CLI_H
#define TCT_CLI_CLI_H
#include "cli/base.h"
#include "cli/options.h"
#include <stdio.h>
#include <tacit/tacit.h>

typedef struct cli {
    tacit_world *world;
    int rank, ranks;
    cli_settings set;
    const char *device;    /* "host", "cuda": what --device came to */
    bool oversubscribed;   /* several ranks have one GPU */
    const char *precision; /* NULL: not asked for, neither by --format */
    double probe_seconds;  /* to find out whether there is a GPU */
} cli;

/* What the options of the path come to together: device and precision, once
 * the world is known.
 * Errors      INVALID, UNSUPPORTED, DEVICE (--device cuda without a GPU). */
tacit_status cli_settle(cli *c);

/* Does `c` run on a GPU? */
bool cli_on_gpu(const cli *c);

/* Is this rank the one that prints results (and not told to be quiet)? */
static inline bool cli_prints(const cli *c)
{
    return c->rank == 0 && !c->set.quiet;
}

/* Has a launcher such as mpirun started this process? */
bool cli_is_launched(void);

/* The exit status that belongs to what a call came to. */
int cli_exit_code(tacit_status status);

/* Print "tacit: text" to standard error as one line, whatever is in it. */
void cli_complain(const char *text);

/* Send the library's messages to standard error: warnings unless `quiet`,
 * notes and details as -v asks for; and say something there oneself. */
void cli_set_log(const cli *c);
enum { CLI_WARN, CLI_NOTE, CLI_DETAIL }; /* the library's levels */
void cli_log(const cli *c, int level, const char *format, ...)
    TACIT_PRINTF(3, 4);

/* Write `text` to `path`, or to standard output where `path` is "-". Rank 0
 * writes, all ranks learn how it went; a file appears whole or not at all.
 * Collective.  Errors IO. */
tacit_status cli_write_text(const cli *c, const char *path, const char *text);

/* Is every file that the command line names another one, as far as files are
 * written? The library may replace any of them without looking.
 * Collective.  Errors INVALID. */
tacit_status cli_check_paths(const cli *c);

/* Does an output (-) take all of standard output? */
bool cli_output_taken(const cli *c);

/* Can `path` (NULL and "-" are fine) be written?
 * Collective.  Errors IO. */
tacit_status cli_check_writable(const cli *c, const char *path);

/* From here on ranks wait for each other as long as in solves, or, not
 * `limited`, for ever again: between runs, of which all begin the next one at
 * once.
 * Collective.  Errors INVALID (TACIT_PATIENCE), COMM. */
tacit_status cli_wait_as_in_solves(const cli *c, bool limited);

/* The slowest rank's `seconds`, and the like. Collective. */
double cli_max(const cli *c, double value);
double cli_sum(const cli *c, double value);

#endif
