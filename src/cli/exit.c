/* SPDX-License-Identifier: BSD-3-Clause
 * cli/exit.c - how a run ends: the exit status and one line for an error. */
#include "cli/cli.h"
#include <stdarg.h>
#include <string.h>

enum {
    EXIT_SOLVED = 0,
    EXIT_USAGE = 1,
    EXIT_INPUT = 2,
    EXIT_NOT_CONVERGED = 3,
    EXIT_BREAKDOWN = 4,
    EXIT_MACHINE = 5
};

int cli_exit_code(tacit_status status)
{
    switch (status) {
    case TACIT_OK: return EXIT_SOLVED;
    case TACIT_INVALID:
    case TACIT_UNSUPPORTED: return EXIT_USAGE;
    case TACIT_INPUT:
    case TACIT_IO: return EXIT_INPUT;
    case TACIT_NOT_CONVERGED:
    case TACIT_INTERRUPTED: return EXIT_NOT_CONVERGED;
    case TACIT_BREAKDOWN: return EXIT_BREAKDOWN;
    case TACIT_NO_MEMORY:
    case TACIT_DEVICE:
    case TACIT_COMM: return EXIT_MACHINE;
    }
    return EXIT_MACHINE;
}

void cli_complain(const char *text)
{
    char line[1200];
    snprintf(line, sizeof line, "tacit: %s", text);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    fflush(stdout);
    fprintf(stderr, "%s\n", line);
}

/* Details (the lines of trace:) come from every rank, the rest from rank 0. */
static void log_line(void *ctx, int level, const char *text)
{
    const cli *c = ctx;
    const bool tracing =
        c->set.decorate && strstr(c->set.decorate, "trace") != NULL;
    const bool wanted = level == CLI_WARN   ? !c->set.quiet
                        : level == CLI_NOTE ? c->set.verbose >= 1
                                            : c->set.verbose >= 2 || tracing;
    if (!wanted || (c->rank != 0 && level != CLI_DETAIL)) return;
    fprintf(stderr, "tacit: %s%s\n", level == CLI_WARN ? "warning: " : "",
            text);
}

void cli_set_log(const cli *c)
{
    /* the log returns its context unchanged; it is not written to */
    tacit_set_log(log_line, (void *)(uintptr_t)c);
}

void cli_log(const cli *c, int level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_line((void *)(uintptr_t)c, level, text);
}
