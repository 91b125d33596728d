/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/table.c - numbers and tables, for people on a terminal and for
 * scripts in a pipe. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MOST = 24 };

char *cli_seconds(double seconds, char text[CLI_NUMBER])
{
    if (!isfinite(seconds)) snprintf(text, CLI_NUMBER, "-");
    else if (seconds == 0.0) snprintf(text, CLI_NUMBER, "0 s");
    else if (seconds < 1e-3)
        snprintf(text, CLI_NUMBER, "%.3g us", 1e6 * seconds);
    else if (seconds < 1.0)
        snprintf(text, CLI_NUMBER, "%.3g ms", 1e3 * seconds);
    else
        snprintf(text, CLI_NUMBER, seconds < 100 ? "%.3g s" : "%.0f s",
                 seconds);
    return text;
}

char *cli_integer(int64_t value, char text[CLI_NUMBER])
{
    char digits[CLI_NUMBER];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    int used = 0;
    for (int i = 0; i < length && used < CLI_NUMBER - 2; i++) {
        const bool group =
            (length - i) % 3 == 0 && i > 0 && digits[i - 1] != '-';
        if (group) text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

char *cli_bytes(double bytes, char text[CLI_NUMBER])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, CLI_NUMBER, bytes < 1000 ? "%.3g %s" : "%.0f %s", bytes,
             units[unit]);
    return text;
}

char *cli_fixed(double value, int digits, char text[CLI_NUMBER])
{
    if (isfinite(value)) snprintf(text, CLI_NUMBER, "%.*f", digits, value);
    else snprintf(text, CLI_NUMBER, "-");
    return text;
}

char *cli_figure(double value, char text[CLI_NUMBER])
{
    if (isfinite(value)) snprintf(text, CLI_NUMBER, "%.4g", value);
    else snprintf(text, CLI_NUMBER, "-");
    return text;
}

char *cli_small(double value, char text[CLI_NUMBER])
{
    if (isfinite(value)) snprintf(text, CLI_NUMBER, "%.6e", value);
    else snprintf(text, CLI_NUMBER, "-");
    return text;
}

char *cli_made(const tacit_result *r, const char *join, char text[CLI_MADE])
{
    int used = snprintf(text, CLI_MADE, r->made[0].method ? "" : "-");
    for (int i = 0; i < TACIT_MADE_MOST && r->made[i].method; i++)
        used += snprintf(text + used, (size_t)(CLI_MADE - used),
                         "%s%s %" PRId64, i > 0 ? join : "", r->made[i].method,
                         r->made[i].iterations);
    return text;
}

void cli_table_row(cli_table *t, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    const size_t length = strlen(line);
    if (t->used + length + 2 > t->room) {
        const size_t room = 2 * (t->used + length) + 1024;
        char *text = realloc(t->text, room);
        t->lost = t->lost || !text;
        if (t->lost) return;
        t->text = text;
        t->room = room;
    }
    memcpy(t->text + t->used, line, length);
    t->used += length;
    t->text[t->used++] = '\n';
    t->text[t->used] = '\0';
}

/* Call `visit` on each cell of the table. */
typedef struct cell {
    const char *text;
    int length, column;
    bool last; /* of its row */
} cell;

static bool next_cell(const char **at, int *column, cell *out)
{
    if (**at == '\0') return false;
    const size_t length = strcspn(*at, "\t\n");
    *out = (cell){*at, (int)length, *column, (*at)[length] != '\t'};
    *at += length + ((*at)[length] != '\0');
    *column = out->last ? 0 : *column + 1;
    return true;
}

static bool is_numeric(const cell *c)
{
    return c->length > 0 && strchr("0123456789.-+", c->text[0]) != NULL;
}

static void print_aligned(const char *text, FILE *to)
{
    int width[COLUMNS_MOST] = {0};
    int column = 0;
    cell c;
    for (const char *at = text; next_cell(&at, &column, &c);)
        if (c.column < COLUMNS_MOST && !c.last && c.length > width[c.column])
            width[c.column] = c.length;
    column = 0;
    for (const char *at = text; next_cell(&at, &column, &c);) {
        const int w = c.column < COLUMNS_MOST && !c.last ? width[c.column] : 0;
        const bool right = is_numeric(&c) && !c.last;
        fprintf(to, right ? "%*.*s" : "%-*.*s", right ? w : w, c.length,
                c.text);
        fputs(c.last ? "\n" : "  ", to);
    }
}

/* A launcher may give a process a pseudo-terminal though the output goes to a
 * file: under a launcher it prints as for a script. */
static bool for_people(FILE *to)
{
    return isatty(fileno(to)) && !cli_is_launched();
}

void cli_table_print(const cli_table *t, FILE *to)
{
    if (t->lost) fputs("(no memory for a table)\n", to);
    else if (t->text && for_people(to)) print_aligned(t->text, to);
    else if (t->text) fputs(t->text, to);
}

void cli_table_free(cli_table *t)
{
    free(t->text);
    *t = (cli_table){.text = NULL};
}
