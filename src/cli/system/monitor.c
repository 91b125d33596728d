/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/monitor.c - the monitor of a solve: history, progress,
 * interrupts. */
#include "cli/system/problem.h"
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SECONDS_BETWEEN_LINES 0.1

static volatile sig_atomic_t interrupted;
static struct sigaction old_interrupt, old_terminate;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

cli_monitor cli_monitor_of(const cli *c, bool keep)
{
    const bool terminal = isatty(STDERR_FILENO) != 0;
    return (cli_monitor){.keep = keep,
                         .terminal = terminal,
                         .show = cli_prints(c) && !c->set.no_progress &&
                                 (terminal || c->set.verbose > 0)};
}

void cli_monitor_begin(cli_monitor *m)
{
    struct sigaction act = {.sa_handler = note_interrupt};
    act.sa_flags = SA_RESTART | (int)SA_RESETHAND; /* the second one kills */
    sigemptyset(&act.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &act, &old_interrupt);
    sigaction(SIGTERM, &act, &old_terminate);
    m->count = 0;
    m->shown = false;
    m->first = HUGE_VAL;
    m->start = base_seconds();
    m->last = m->start;
}

void cli_monitor_end(cli_monitor *m)
{
    sigaction(SIGINT, &old_interrupt, NULL);
    sigaction(SIGTERM, &old_terminate, NULL);
    if (m->shown && m->terminal) fputs("\r\033[K", stderr);
}

static void keep(cli_monitor *m, cli_look look)
{
    if (m->count == m->room && !m->lost) {
        const int64_t room = m->room ? 2 * m->room : 1024;
        cli_look *more = realloc(m->look, (size_t)room * sizeof *more);
        m->lost = !more;
        if (more) m->look = more;
        if (more) m->room = room;
    }
    if (!m->lost) m->look[m->count++] = look;
}

static void show(cli_monitor *m, const char *column, int64_t iteration,
                 double residual)
{
    const double now = base_seconds();
    if (now - m->last < SECONDS_BETWEEN_LINES) return;
    m->last = now;
    m->shown = true;
    fprintf(stderr,
            "%s%s  iteration %8" PRId64
            "   relative residual %9.3e   %8.1f s%s",
            m->terminal ? "\r" : "", column, iteration, residual,
            now - m->start, m->terminal ? "\033[K" : "\n");
}

int cli_monitor_step(void *monitor, int64_t iteration, double residual)
{
    cli_monitor *m = monitor;
    if (iteration == 0) m->first = fmin(m->first, residual);
    if (m->keep) keep(m, (cli_look){0, iteration, residual});
    if (m->show) show(m, "", iteration, residual);
    return interrupted;
}

int cli_monitor_column(void *monitor, int column, int64_t iteration,
                       double residual)
{
    cli_monitor *m = monitor;
    char text[32];
    if (iteration == 0) m->first = fmin(m->first, residual);
    if (m->keep) keep(m, (cli_look){column, iteration, residual});
    if (m->show) {
        snprintf(text, sizeof text, "  column %d", column + 1);
        show(m, text, iteration, residual);
    }
    return interrupted;
}

void cli_monitor_free(cli_monitor *m)
{
    free(m->look);
    *m = (cli_monitor){.keep = false};
}
