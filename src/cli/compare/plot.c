/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/plot.c - the drawings of a comparison's page: bars of the time
 * per iteration split by operation, and residual histories. */
#include "cli/compare/compare.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 900, LEFT = 250, BAR = 22, PLOT_HEIGHT = 400, MARGIN = 50 };
enum { COLUMNS = 3, LEGEND = (WIDTH - MARGIN) / COLUMNS };

/* visible on white and on black */
static const char *const colours[] = {"#3f7fc1", "#d1495b", "#4f9d69",
                                      "#d08f1c", "#9a6bb8", "#0f97a6",
                                      "#a0714f", "#8a8f98"};
enum { COLOURS = sizeof colours / sizeof *colours };

/* The row's settings that distinguish it: common ones are left out. */
static void label(FILE *to, const cli_comparison *all, const cli_compared *r)
{
    const cli_path *p = &r->path;
    const bool moved = strcmp(p->device, all->device) != 0;
    fprintf(to, "%s", p->method);
    if (r->steps > 0) fprintf(to, "(%d)", r->steps);
    if (strcmp(p->precond, "none") != 0) fprintf(to, ", %s", p->precond);
    if (moved) fprintf(to, " on %s", p->device);
    else if (strcmp(p->loop, "host") != 0) fprintf(to, ", %s", p->loop);
    fprintf(to, ", %s", p->format);
    if (strcmp(p->order, "none") != 0) fprintf(to, ", %s", p->order);
    if (strcmp(p->precision, "double") != 0) fprintf(to, ", %s", p->precision);
}

/* --- the bars ------------------------------------------------------------- */

enum { PIECES = 7 };
static const char *const piece_names[PIECES] = {
    "spmv", "dot", "nrm2", "axpy", "reduce", "exchange", "other"};

/* Seconds of each operation in the timed run, scaled to the undisturbed time
 * per iteration. */
static void pieces_of(const cli_compared *r, double out[PIECES])
{
    const tacit_tally *t = &r->profile;
    const double seconds[] = {t->spmv.seconds,   t->dot.seconds,
                              t->nrm2.seconds,   t->axpy.seconds,
                              t->reduce.seconds, t->exchange.seconds};
    double all = r->profile_seconds, sum = 0.0;
    for (int k = 0; k < PIECES - 1; k++) sum += seconds[k];
    if (sum > all) all = sum; /* ranks differ */
    const double per = r->solve / (double)r->run.result.iterations;
    for (int k = 0; k < PIECES - 1; k++)
        out[k] = all > 0 ? per * seconds[k] / all : 0.0;
    out[PIECES - 1] = all > 0 ? per * (all - sum) / all : per;
}

static void one_bar(FILE *to, const cli_comparison *all, int i, double scale)
{
    const cli_compared *r = &all->rows[i];
    const int y = BAR * (i + 1) + 4;
    double pieces[PIECES], x = LEFT;
    char time[CLI_NUMBER];
    pieces_of(r, pieces);
    fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8,
            y + BAR - 8);
    label(to, all, r);
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

void cli_comparison_bars(FILE *to, const cli_comparison *all)
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
            "viewBox=\"0 0 %d %d\" role=\"img\">\n",
            WIDTH, BAR * (all->count + 2));
    for (int k = 0; k < PIECES; k++)
        fprintf(to,
                "<rect x=\"%d\" y=\"2\" width=\"12\" height=\"12\" "
                "fill=\"%s\"/><text x=\"%d\" y=\"13\">%s</text>\n",
                LEFT + 90 * k, colours[k % COLOURS], LEFT + 90 * k + 17,
                piece_names[k]);
    for (int i = 0; i < all->count; i++) one_bar(to, all, i, scale);
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

static double iteration_of(const axes *a, double x)
{
    return (x - MARGIN) * a->iterations / (WIDTH - 2 * MARGIN);
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
                "class=\"grid\"/><text class=\"axis\" x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">1e%d</text>\n",
                MARGIN, WIDTH - MARGIN, y, y, MARGIN - 6, y + 4, d);
    }
    const double stride = round_step(a->iterations / 6);
    for (double k = 0; k <= a->iterations; k += stride)
        fprintf(to,
                "<text class=\"axis\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%.0f</text>\n",
                x_of(a, k), PLOT_HEIGHT - 10, k);
}

/* Colour, dashes and marks distinguish a curve; overlapping curves have marks
 * at different places (marks). */
static void mark(FILE *to, int i, double x, double y)
{
    static const char *const shapes[] = {
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", /* a disc              */
        "M-3.5-3.5h7v7h-7z",                  /* a square            */
        "M0-4.5L4.3 3.5H-4.3z",               /* a triangle          */
        "M0-5L5 0L0 5L-5 0z",                 /* a diamond           */
        "M0 4.5L4.3-3.5H-4.3z",               /* a triangle, downwards */
        "M-4-4L4 4M4-4L-4 4",                 /* a cross             */
        "M0-5V5M-5 0H5"};                     /* a plus              */
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    fprintf(to, "<path d=\"%s\" transform=\"translate(%.1f %.1f)\"/>",
            shapes[i % SHAPES], x, y);
}

/* The style of curve `i`: seven shapes, eight colours, six dashes. */
static void open_curve(FILE *to, int i)
{
    static const char *const dashes[] = {"none",     "9 4", "2 3",
                                         "12 3 2 3", "5 5", "16 4 4 4"};
    enum { DASHES = sizeof dashes / sizeof *dashes };
    fprintf(to,
            "<g class=\"curve\" stroke=\"%s\" fill=\"%s\" "
            "stroke-width=\"1.6\" stroke-dasharray=\"%s\">",
            colours[i % COLOURS], colours[i % COLOURS], dashes[i % DASHES]);
}

/* Marks at nearly even distances along the iterations of a curve. Curve `i` of
 * n has its marks at x that are i fifths of a unit more than a multiple of n
 * fifths, so that marks never coincide. */
static void marks(FILE *to, const axes *a, const cli_compared *r, int i, int n)
{
    enum { MARKS = 6 };
    const double last = r->points ? r->iteration[r->points - 1] : 0.0;
    const double unit = n / 5.0, own = MARGIN + i / 5.0;
    fputs("<g stroke-dasharray=\"none\">", to);
    int k = 1;
    double before = 0.0;
    for (int m = 0; m < MARKS; m++) {
        const double even = x_of(a, last * (m + (i + 0.5) / n) / MARKS);
        const double x = own + unit * ceil((even - own) / unit);
        const double at = iteration_of(a, x);
        if (x == before) continue;
        before = x;
        while (k < r->points && r->iteration[k] < at) k++;
        if (k >= r->points) break;
        const double from = r->residual[k - 1], to_ = r->residual[k];
        if (!(from > 0.0 && to_ > 0.0 && isfinite(from) && isfinite(to_)))
            continue;
        const double step = r->iteration[k] - r->iteration[k - 1];
        const double t = step > 0.0 ? (at - r->iteration[k - 1]) / step : 0.0;
        mark(to, i, x, (1 - t) * y_of(a, from) + t * y_of(a, to_));
    }
    fputs("</g>", to);
}

static void one_history(FILE *to, const axes *a, const cli_comparison *all,
                        int i)
{
    const cli_compared *r = &all->rows[i];
    open_curve(to, i);
    fputs("<title>", to);
    label(to, all, r);
    fputs("</title><polyline fill=\"none\" points=\"", to);
    for (int k = 0; k < r->points; k++)
        if (r->residual[k] > 0.0 && isfinite(r->residual[k]))
            fprintf(to, "%.1f,%.1f ", x_of(a, r->iteration[k]),
                    y_of(a, r->residual[k]));
    fputs("\"/>", to);
    marks(to, a, r, i, all->count);
    fputs("</g>\n", to);
}

/* As the curve is drawn, with one mark. */
static void legend(FILE *to, const cli_comparison *all, int i)
{
    const int x = MARGIN + LEGEND * (i % COLUMNS);
    const int y = PLOT_HEIGHT + 10 + 18 * (i / COLUMNS);
    open_curve(to, i);
    fprintf(to, "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", x, x + 40, y,
            y);
    fputs("<g stroke-dasharray=\"none\">", to);
    mark(to, i, x + 20, y);
    fprintf(to, "</g></g><text x=\"%d\" y=\"%d\">", x + 48, y + 4);
    label(to, all, &all->rows[i]);
    fputs("</text>\n", to);
}

void cli_comparison_histories(FILE *to, const cli_comparison *all)
{
    axes a;
    if (!extent(all, &a)) return;
    const int height =
        PLOT_HEIGHT + 10 + 18 * ((all->count + COLUMNS - 1) / COLUMNS);
    fprintf(to,
            "<h2>Residual of the recurrence, ||r|| / ||b||, by iteration</h2>\n"
            "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n",
            WIDTH, height);
    grid(to, &a);
    for (int i = all->count - 1; i >= 0; i--) /* the fastest on top */
        one_history(to, &a, all, i);
    for (int i = 0; i < all->count; i++) legend(to, all, i);
    fputs("</svg>\n", to);
}
