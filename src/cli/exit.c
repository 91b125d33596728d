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

/* The character shown in place of byte `i` of `text`. */
static char shown(const char *text, size_t i)
{
    const unsigned char c = (unsigned char)text[i];
    const bool of_two = i > 0 && (unsigned char)text[i - 1] == 0xc2;
    if (c == '\t' || c == '\n' || c == '\r') return ' ';
    if (c < ' ' || c == 0x7f || (of_two && c >= 0x80 && c < 0xa0)) return '?';
    return (char)c;
}

void cli_print_plain(FILE *to, const char *text)
{
    for (size_t i = 0; text[i]; i++) fputc(shown(text, i), to);
}

/* In one write, since lines of ranks must not mix. */
static void print_line(const char *before, const char *text)
{
    char line[1200];
    size_t i = 0;
    for (; text[i] && i + 1 < sizeof line; i++) line[i] = shown(text, i);
    line[i] = '\0';
    fprintf(stderr, "tacit: %s%s\n", before, line);
}

void cli_complain(const char *text)
{
    fflush(stdout);
    print_line("", text);
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
    print_line(level == CLI_WARN ? "warning: " : "", text);
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
