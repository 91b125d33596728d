/* SPDX-License-Identifier: BSD-3-Clause
 * cli/cli.h - the program `tacit`: shared by its files. One file per
 * subcommand, one row in CLI_COMMANDS; parses, calls the library, prints.
 *
 * Every command runs on all ranks and returns the same status on each; rank 0
 * prints. */
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
    const char *device;    /* "host", "cuda": as settled from --device */
    bool oversubscribed;   /* several ranks share one GPU */
    const char *precision; /* NULL: not given, also not in --format */
    double probe_seconds;  /* to look for a GPU */
} cli;

/* Settle the options of the path: device and precision, once the world is
 * known.
 * Errors      INVALID, UNSUPPORTED, DEVICE (--device cuda without a GPU). */
tacit_status cli_settle(cli *c);

/* Does `c` run on a GPU? */
bool cli_on_gpu(const cli *c);
/* May the method's matrix be indefinite? */
bool cli_may_be_indefinite(const cli *c);

/* Does this rank print results (rank 0, without -q)? */
static inline bool cli_prints(const cli *c)
{
    return c->rank == 0 && !c->set.quiet;
}

/* Has a launcher such as mpirun started this process? */
bool cli_is_launched(void);

/* Does the environment have words that the library knows?
 * Collective.  Errors INVALID. */
tacit_status cli_check_environment(const cli *c);

/* The exit status for the status of a call. */
int cli_exit_code(tacit_status status);

/* Print `text`, such as a file's name, without control characters: those of
 * spaces as one, others as ?. */
void cli_print_plain(FILE *to, const char *text);
/* Print "tacit: text" to standard error, always as one line. */
void cli_complain(const char *text);

/* Send the library's messages to standard error: warnings unless `quiet`, notes
 * and details by -v; cli_log adds the program's own. */
void cli_set_log(const cli *c);
enum { CLI_WARN, CLI_NOTE, CLI_DETAIL }; /* the library's levels */
void cli_log(const cli *c, int level, const char *format, ...)
    TACIT_PRINTF(3, 4);

/* Write `text` to `path`, or to standard output if `path` is "-". Rank 0
 * writes, all ranks return its status; a file appears whole or not at all.
 * Collective.  Errors IO. */
tacit_status cli_write_text(const cli *c, const char *path, const char *text);

/* Check that no written file is named twice on the command line: the library
 * may replace it.
 * Collective.  Errors INVALID. */
tacit_status cli_check_paths(const cli *c);

/* Does an output (-) take all of standard output? */
bool cli_output_taken(const cli *c);

/* Can `path` (NULL and "-" are fine) be written?
 * Collective.  Errors IO. */
tacit_status cli_check_writable(const cli *c, const char *path);

/* Give waits for other ranks the timeout of solves or, not `limited`, none:
 * between runs, which all ranks begin at once.
 * Collective.  Errors INVALID (TACIT_PATIENCE), COMM. */
tacit_status cli_wait_as_in_solves(const cli *c, bool limited);

/* The largest `value` of all ranks, such as seconds. Collective. */
double cli_max(const cli *c, double value);
double cli_sum(const cli *c, double value);

#endif
