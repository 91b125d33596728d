/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare_html.c - a comparison as one self-contained page: table, bars of
 * the time per iteration split by operation, residual histories. No script, no
 * file beside it. */
#include "cli/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 860, LEFT = 190, BAR = 22, PLOT_HEIGHT = 360, MARGIN = 60 };

static const char *const colours[] = {"#3b6ea5", "#d1495b", "#66a182",
                                      "#edae49", "#8f5fa8", "#00798c",
                                      "#7a5c43", "#9c9c9c"};
enum { COLOURS = sizeof colours / sizeof *colours };

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;"
    "padding:0 1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25em .8em;border-bottom:1px solid #ddd;text-align:right}"
    "th:nth-child(-n+6),td:nth-child(-n+6){text-align:left}"
    "td.text{text-align:left}h1{font-size:1.4em}h2{font-size:1.1em;"
    "margin-top:2em}svg{max-width:100%;height:auto;font-size:12px}"
    ".none{color:#777}";

/* Text of a page: markup in names stays text. */
static void escape(FILE *to, const char *text)
{
    for (const char *c = text; *c; c++) switch (*c) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc(*c, to);
        }
}

static void label(FILE *to, const cli_compared *r)
{
    const cli_path *p = &r->path;
    fprintf(to, "%s", p->method);
    if (strcmp(p->loop, "host") != 0) fprintf(to, ", %s", p->loop);
    fprintf(to, ", %s", p->format);
    if (strcmp(p->precision, "double") != 0) fprintf(to, ", %s", p->precision);
}

/* --- the tables ----------------------------------------------------------- */

static void head(FILE *to, const cli_comparison *all)
{
    char rows[CLI_NUMBER], entries[CLI_NUMBER];
    const tacit_matrix_info *m = &all->problem.info;
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
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

static void ranking(FILE *to, const cli_comparison *all)
{
    char time[CLI_NUMBER], solve[CLI_NUMBER], faster[CLI_NUMBER];
    char fraction[CLI_NUMBER], bytes[CLI_NUMBER];
    fputs("<table><tr><th>method<th>loop<th>comm<th>device<th>format"
          "<th>precision<th>iterations<th>true residual<th>per iteration"
          "<th>solve<th>ratio<th>x peer<th>of copy<th>bytes/entry<th>stop"
          "</tr>\n",
          to);
    for (int i = 0; i < all->count; i++) {
        const cli_compared *r = &all->rows[i];
        const tacit_result *s = &r->run.result;
        const cli_path *p = &r->path;
        fprintf(to,
                "<tr%s><td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%" PRId64
                "<td>%.2e<td>%s<td>%s<td>%.2f<td>%s<td>%s<td>%s"
                "<td class=\"text\">%s</tr>\n",
                r->baseline ? " class=\"none\"" : "", p->method, p->loop,
                p->comm, p->device, p->format, p->precision, s->iterations,
                s->true_relative_residual,
                cli_seconds(r->solve / (double)s->iterations, time),
                cli_seconds(r->solve, solve), r->ratio,
                cli_fixed(r->faster, 2, faster),
                cli_fixed(r->fraction, 2, fraction),
                cli_fixed(p->bytes_per_nonzero, 2, bytes),
                cli_stop_name(s->stop));
    }
    fputs("</table>\n", to);
}

static void missing(FILE *to, const cli_comparison *all)
{
    fputs("<h2>Not available</h2>\n<table class=\"none\">\n", to);
    for (int i = 0; i < all->missing_count; i++) {
        const cli_missing *m = &all->missing[i];
        fprintf(to, "<tr><td>%s<td>%s<td class=\"text\">", m->what, m->name);
        escape(to, m->reason);
        fputs("</tr>\n", to);
    }
    fputs("</table>\n", to);
}

/* --- the bars ------------------------------------------------------------- */

enum { PIECES = 7 };
static const char *const piece_names[PIECES] = {
    "spmv", "dot", "nrm2", "axpy", "reduce", "exchange", "other"};

/* Seconds of each operation in the run that was timed operation by operation,
 * scaled to the undisturbed time per iteration. */
static void pieces_of(const cli_compared *r, double out[PIECES])
{
    const tacit_tally *t = &r->profile;
    const double seconds[] = {t->spmv.seconds,   t->dot.seconds,
                              t->nrm2.seconds,   t->axpy.seconds,
                              t->reduce.seconds, t->exchange.seconds};
    double all = r->profile_seconds, sum = 0.0;
    for (int k = 0; k < PIECES - 1; k++) sum += seconds[k];
    if (sum > all) all = sum; /* of the slowest ranks */
    const double per = r->solve / (double)r->run.result.iterations;
    for (int k = 0; k < PIECES - 1; k++)
        out[k] = all > 0 ? per * seconds[k] / all : 0.0;
    out[PIECES - 1] = all > 0 ? per * (all - sum) / all : per;
}

static void one_bar(FILE *to, const cli_compared *r, double scale, int y)
{
    double pieces[PIECES], x = LEFT;
    char time[CLI_NUMBER];
    pieces_of(r, pieces);
    fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8,
            y + BAR - 8);
    label(to, r);
    fputs("</text>", to);
    for (int k = 0; k < PIECES; k++) {
        const double width = scale * pieces[k];
        fprintf(to,
                "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
                "fill=\"%s\"><title>%s %s</title></rect>",
                x, y, width, BAR - 4, colours[k % COLOURS], piece_names[k],
                cli_seconds(pieces[k], time));
        x += width;
    }
    fprintf(to, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x + 6, y + BAR - 8,
            cli_seconds(r->solve / (double)r->run.result.iterations, time));
}

static void bars(FILE *to, const cli_comparison *all)
{
    double longest = 0.0;
    for (int i = 0; i < all->count; i++) {
        const cli_compared *r = &all->rows[i];
        longest = fmax(longest, r->solve / (double)r->run.result.iterations);
    }
    if (!(longest > 0.0) || !isfinite(longest)) return;
    const double scale = (WIDTH - LEFT - 90) / longest;
    fprintf(to,
            "<h2>Time per iteration, by operation</h2>\n<svg "
            "viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">\n",
            WIDTH, BAR * (all->count + 2), WIDTH);
    for (int k = 0; k < PIECES; k++)
        fprintf(to,
                "<rect x=\"%d\" y=\"2\" width=\"12\" height=\"12\" "
                "fill=\"%s\"/><text x=\"%d\" y=\"13\">%s</text>\n",
                LEFT + 90 * k, colours[k % COLOURS], LEFT + 90 * k + 17,
                piece_names[k]);
    for (int i = 0; i < all->count; i++)
        one_bar(to, &all->rows[i], scale, BAR * (i + 1) + 4);
    fputs("</svg>\n", to);
}

/* --- the histories -------------------------------------------------------- */

typedef struct axes {
    double iterations;  /* at the right edge                  */
    double top, bottom; /* decades: log10 of the residuals    */
} axes;

static double x_of(const axes *a, double iteration)
{
    return MARGIN + (WIDTH - 2 * MARGIN) * iteration / a->iterations;
}

static double y_of(const axes *a, double residual)
{
    const double decade = log10(fmax(residual, 1e-300));
    return 10 + (PLOT_HEIGHT - 40) * (a->top - decade) / (a->top - a->bottom);
}

static bool extent(const cli_comparison *all, axes *a)
{
    *a = (axes){.iterations = 1, .top = -300, .bottom = 300};
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < all->rows[i].points; k++) {
            const double r = all->rows[i].residual[k];
            if (!(r > 0.0) || !isfinite(r)) continue;
            a->iterations = fmax(a->iterations, all->rows[i].iteration[k]);
            a->top = fmax(a->top, ceil(log10(r)));
            a->bottom = fmin(a->bottom, floor(log10(r)));
        }
    if (a->top == a->bottom) a->bottom -= 1;
    return a->top > a->bottom;
}

/* The next of 1, 2, 5, 10, 20, ... that is at least `step`. */
static double round_step(double step)
{
    const double decade = pow(10, floor(log10(fmax(step, 1.0))));
    for (int k = 1; k <= 5; k = 2 * k + k / 2)
        if (k * decade >= step) return k * decade;
    return 10 * decade;
}

static void grid(FILE *to, const axes *a)
{
    const int step = (int)ceil((a->top - a->bottom) / 10);
    for (int d = (int)a->bottom; d <= (int)a->top; d += step) {
        const double y = y_of(a, pow(10, d));
        fprintf(to,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" "
                "stroke=\"#e4e4e4\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">1e%d</text>\n",
                MARGIN, WIDTH - MARGIN, y, y, MARGIN - 6, y + 4, d);
    }
    const double stride = round_step(a->iterations / 6);
    for (double k = 0; k <= a->iterations; k += stride)
        fprintf(to,
                "<text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%.0f</text>\n",
                x_of(a, k), PLOT_HEIGHT - 10, k);
}

static void one_history(FILE *to, const axes *a, const cli_compared *r,
                        const char *colour, bool dashed)
{
    fprintf(to,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s "
            "points=\"",
            colour, dashed ? " stroke-dasharray=\"5 4\"" : "");
    for (int k = 0; k < r->points; k++)
        if (r->residual[k] > 0.0 && isfinite(r->residual[k]))
            fprintf(to, "%.1f,%.1f ", x_of(a, r->iteration[k]),
                    y_of(a, r->residual[k]));
    fputs("\"><title>", to);
    label(to, r);
    fputs("</title></polyline>\n", to);
}

static void histories(FILE *to, const cli_comparison *all)
{
    axes a;
    if (!extent(all, &a)) return;
    const int legend = 18 * ((all->count + 3) / 4);
    fprintf(to,
            "<h2>Residual of the recurrence, ||r|| / ||b||, by iteration</h2>\n"
            "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">\n",
            WIDTH, PLOT_HEIGHT + legend, WIDTH);
    grid(to, &a);
    for (int i = 0; i < all->count; i++) {
        const char *colour = colours[i % COLOURS];
        const int x = MARGIN + 190 * (i % 4), y = PLOT_HEIGHT + 18 * (i / 4);
        one_history(to, &a, &all->rows[i], colour, i >= COLOURS);
        fprintf(to,
                "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" "
                "fill=\"%s\"/><text x=\"%d\" y=\"%d\">",
                x, y, colour, x + 17, y + 11);
        label(to, &all->rows[i]);
        fputs("</text>\n", to);
    }
    fputs("</svg>\n", to);
}

char *cli_comparison_html(const cli_comparison *all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    head(to, all);
    ranking(to, all);
    bars(to, all);
    histories(to, all);
    missing(to, all);
    fputs("</body></html>\n", to);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}
