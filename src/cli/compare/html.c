/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/html.c - a comparison as one self-contained page: tables here,
 * drawings in plot.c. No script, no other file. */
#include "cli/compare/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A table wider than the window scrolls in its box, with row names in sight;
 * the page never does. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#222;--page:#fff;--line:#ddd;"
    "--faint:#6b6b6b;--stripe:#f4f6f8}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--page:#16181b;"
    "--line:#3a3d42;--faint:#a0a0a0;--stripe:#1e2125}}"
    "*{box-sizing:border-box}"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:88em;margin:2em auto;"
    "padding:0 1em;color:var(--ink);background:var(--page);"
    "overflow-wrap:anywhere}"
    ".box{overflow-x:auto;max-width:100%;border:1px solid var(--line)}"
    "table{border-collapse:collapse;font-size:13px;min-width:100%;"
    "font-variant-numeric:tabular-nums}"
    "th,td{padding:.3em .55em;border-bottom:1px solid var(--line);"
    "text-align:right;white-space:nowrap}"
    "th{background:var(--stripe);vertical-align:bottom;font-weight:600}"
    "tr:last-child td{border-bottom:0}"
    "th.text,td.text{text-align:left}"
    "th:first-child,td:first-child{position:sticky;left:0;"
    "background:var(--page)}th:first-child{background:var(--stripe)}"
    "td.why{text-align:left;white-space:normal}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}"
    "svg{display:block;width:100%;max-width:1000px;height:auto;"
    "font-size:13px;fill:var(--ink)}"
    ".grid{stroke:var(--line)}.axis{fill:var(--faint)}"
    ".none{color:var(--faint)}";

/* Text of a page, with markup escaped. */
static void escape(FILE *to, const char *text)
{
    for (const char *c = text; *c; c++) switch (*c) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc((unsigned char)*c < ' ' ? '?' : *c, to);
        }
}

/* --- the tables ----------------------------------------------------------- */

static void head(FILE *to, const cli_comparison *all)
{
    char rows[CLI_NUMBER], entries[CLI_NUMBER];
    const tacit_matrix_info *m = &all->problem.info;
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\">"
          "<title>tacit compare: ",
          to);
    escape(to, all->problem.name);
    fprintf(to, "</title><style>%s</style></head><body>\n<h1>", style);
    escape(to, all->problem.name);
    fprintf(to,
            "</h1>\n<p>%s rows, %s entries, %.2f a row. Tolerance %.3g. Copy "
            "bandwidth %.3g GB/s.",
            cli_integer(m->rows, rows), cli_integer(m->nonzeros, entries),
            m->row_mean, all->rtol, all->copy);
    if (all->count > 0) {
        const cli_path *p = &all->rows[0].path;
        fprintf(to, " %d rank%s x %d thread%s on ", p->ranks,
                p->ranks == 1 ? "" : "s", p->threads,
                p->threads == 1 ? "" : "s");
        escape(to, p->device_name);
        fputc('.', to);
    }
    fprintf(to, " Made by tacit %s.</p>\n", tacit_version());
}

static void ranking_head(FILE *to)
{
    static const char *const texts[] = {"method",    "loop",   "comm",
                                        "device",    "format", "order",
                                        "precision", "precond"};
    static const char *const numbers[] = {
        "steps",      "iterations", "true residual", "us an iteration",
        "set-up, ms", "solve, ms",  "ratio",         "x peer",
        "of copy",    "bytes/entry"};
    fputs("<div class=\"box\" tabindex=\"0\"><table>\n<tr>", to);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        fprintf(to, "<th class=\"text\">%s", texts[k]);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        fprintf(to, "<th>%s", numbers[k]);
    fputs("<th class=\"text\">stop</tr>\n", to);
}

/* A column has one unit and a fixed number of digits, so that numbers align. */
static void ranking(FILE *to, const cli_comparison *all)
{
    char faster[CLI_NUMBER], fraction[CLI_NUMBER], bytes[CLI_NUMBER];
    char each[CLI_NUMBER], ratio[CLI_NUMBER];
    ranking_head(to);
    for (int i = 0; i < all->count; i++) {
        const cli_compared *r = &all->rows[i];
        const tacit_result *s = &r->run.result;
        const cli_path *p = &r->path;
        const char *const texts[] = {p->method,    p->loop,   p->comm,
                                     p->device,    p->format, p->order,
                                     p->precision, p->precond};
        fprintf(to, "<tr%s>", r->baseline ? " class=\"none\"" : "");
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            fprintf(to, "<td class=\"text\">%s", texts[k]);
        fprintf(
            to,
            "<td>%d<td>%" PRId64 "<td>%.2e<td>%s<td>%.3f<td>%.3f<td>%s"
            "<td>%s<td>%s<td>%s<td class=\"text\">%s</tr>\n",
            r->steps > 0 ? r->steps : 1, s->iterations, cli_compare_residual(s),
            cli_fixed(1e6 * r->solve / (double)s->iterations, 2, each),
            1e3 * r->setup, 1e3 * r->solve, cli_fixed(r->ratio, 2, ratio),
            cli_fixed(r->faster, 2, faster),
            cli_fixed(r->fraction, 2, fraction),
            cli_fixed(p->bytes_per_nonzero, 2, bytes), cli_stop_name(s->stop));
    }
    fputs("</table></div>\n", to);
}

/* --- levels of a preconditioner ------------------------------------------- */

static double number_of(const cJSON *o, const char *name)
{
    const cJSON *n = cJSON_GetObjectItem(o, name);
    double value = (double)NAN; /* numbers of reports are raw text */
    return cJSON_IsRaw(n) && cli_parse_real(n->valuestring, &value)
               ? value
               : (double)NAN;
}

static const char *text_of(const cJSON *o, const char *name)
{
    const cJSON *t = cJSON_GetObjectItem(o, name);
    return cJSON_IsString(t) ? t->valuestring : "";
}

static void one_level(FILE *to, int i, const cJSON *level)
{
    char bytes[CLI_NUMBER], rows[CLI_NUMBER], entries[CLI_NUMBER];
    fprintf(
        to, "<tr><td>%d<td>%s<td>%s<td>%.2f<td>%s<td class=\"text\">%s</tr>\n",
        i, cli_integer((int64_t)number_of(level, "rows"), rows),
        cli_integer((int64_t)number_of(level, "nonzeros"), entries),
        number_of(level, "nonzeros") / number_of(level, "rows"),
        cli_bytes(number_of(level, "bytes"), bytes), text_of(level, "format"));
}

static void hierarchy(FILE *to, const cli_compared *r)
{
    char bytes[CLI_NUMBER], setup[CLI_NUMBER], factor[CLI_NUMBER];
    const cJSON *M = r->levels, *level;
    int i = 0;
    fprintf(to, "<h2>Levels of %s</h2>\n<p>", text_of(M, "name"));
    escape(to, text_of(M, "detail"));
    fprintf(to,
            "; set up in %s; %.3f times the rows of the matrix, %.3f times its "
            "entries, %s; one application leaves %s of an error. ",
            cli_seconds(number_of(M, "setup"), setup),
            number_of(M, "grid_complexity"),
            number_of(M, "operator_complexity"),
            cli_bytes(number_of(M, "bytes"), bytes),
            cli_fixed(number_of(M, "convergence"), 3, factor));
    escape(to, text_of(M, "end"));
    fputs(".</p>\n<div class=\"box\" tabindex=\"0\"><table>\n<tr><th>level"
          "<th>rows<th>entries<th>a row<th>memory<th class=\"text\">format"
          "</tr>\n",
          to);
    cJSON_ArrayForEach(level, cJSON_GetObjectItem(M, "levels"))
        one_level(to, i++, level);
    fputs("</table></div>\n", to);
}

/* Of the best row: methods, loops and formats share the levels. */
static void levels(FILE *to, const cli_comparison *all)
{
    for (int i = 0; i < all->count; i++)
        if (all->rows[i].levels) {
            hierarchy(to, &all->rows[i]);
            return;
        }
}

static void missing(FILE *to, const cli_comparison *all)
{
    fputs("<h2>Not available</h2>\n<div class=\"box\" tabindex=\"0\">"
          "<table class=\"none\">\n",
          to);
    for (int i = 0; i < all->missing_count; i++) {
        const cli_missing *m = &all->missing[i];
        fprintf(
            to,
            "<tr><td class=\"text\">%s<td class=\"text\">%s<td class=\"why\">",
            m->what, m->name);
        escape(to, m->reason);
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

char *cli_comparison_html(const cli_comparison *all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    head(to, all);
    ranking(to, all);
    cli_comparison_bars(to, all);
    cli_comparison_histories(to, all);
    levels(to, all);
    missing(to, all);
    fputs("</body></html>\n", to);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}
