/* SPDX-License-Identifier: BSD-3-Clause
 * bench/stencils_host.c - steps of a grid on the host, and a copy.
 *
 *     stencils_host GRID TYPE THREADS ROUNDS [DEPTH ...]
 *
 * GRID is star2d1r:4096x4096 or the like. Way copy, then way tiles in each
 * depth, take turns for some rounds; between them doubles are copied from one
 * vector to another, of as many bytes as the grid's two buffers together. One
 * line each: way, depth, milliseconds of a step (least, median), GCell/s of the
 * median, and the share of the copy's bandwidth: of the medians, of the best of
 * both. */
#include "device/queue.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacit/tacit.h>

enum { CANDIDATES = 16, ROUNDS_MOST = 256 };
static const double SECONDS = 0.15; /* of a round */

typedef struct candidate {
    const char *way;
    int depth;
    double seconds[ROUNDS_MOST];
} candidate;

static void check(tacit_status status)
{
    if (status >= 0) return;
    fprintf(stderr, "stencils_host: %s\n", tacit_error_message());
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static double step_seconds(tacit_field *f, const candidate *c, int64_t steps)
{
    const tacit_field_options o = {
        .size = sizeof o, .steps = steps, .way = c->way, .depth = c->depth};
    tacit_field_result r = {.size = sizeof r};
    check(tacit_field_run(f, &o, &r));
    return r.step_seconds;
}

/* One candidate's turn: whole visits. */
static double turn(tacit_field *f, const candidate *c)
{
    const double guess = step_seconds(f, c, c->depth);
    const int64_t visits = (int64_t)(SECONDS / (guess * c->depth)) + 1;
    return step_seconds(f, c, visits * c->depth);
}

/* Not smooth, and bounded under steps. */
static void start(tacit_field *f, int64_t rows, int64_t n)
{
    double *row = calloc((size_t)n, sizeof *row);
    for (int64_t y = 0; row && y < rows; y++) {
        for (int64_t x = 0; x < n; x++)
            row[x] = (double)((x * 7 + y * 13) % 31) / 31.0;
        check(tacit_field_put(f, y * n, n, row));
    }
    free(row);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "stencils_host GRID TYPE THREADS ROUNDS [DEPTH ...]\n");
        return 1;
    }
    tacit_stencil s = {.size = sizeof s, .type = argv[2]};
    check(tacit_stencil_parse(argv[1], &s));
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    tacit_field *f = NULL;
    check(tacit_world_self(&world));
    check(tacit_queue_create(world, "host", atoi(argv[3]), &q));
    check(tacit_field_create(q, &s, &f));
    const int64_t rows = s.n[1] * (s.n[2] > 0 ? s.n[2] : 1);
    start(f, rows, s.n[0]);
    const double bytes = tacit_stencil_bytes(&s);
    static candidate c[CANDIDATES] = {{"copy", 1, {0.0}}};
    static double copies[ROUNDS_MOST];
    int count = 1;
    for (int k = 5; k < argc && count < CANDIDATES; k++)
        c[count++] = (candidate){.way = "tiles", .depth = atoi(argv[k])};
    int rounds = atoi(argv[4]);
    if (rounds < 1 || rounds > ROUNDS_MOST) rounds = ROUNDS_MOST;
    for (int r = 0; r < rounds; r++) {
        check(tacit_queue_measure_copy(q, (size_t)bytes, &copies[r]));
        for (int k = 0; k < count; k++) c[k].seconds[r] = turn(f, &c[k]);
    }
    const double cells = (double)rows * (double)s.n[0];
    const double each = strcmp(argv[2], "float") == 0 ? 4.0 : 8.0;
    const double copy = median(copies, rounds);
    printf("%s %s, %d threads: copy %.1f GB/s (most %.1f)\n", argv[1], argv[2],
           tacit_queue_threads(q), copy, copies[rounds - 1]);
    for (int k = 0; k < count; k++) {
        const double middle = median(c[k].seconds, rounds);
        const double bytes_a_step = 2e-9 * each * cells;
        printf("%s\t%d\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\n", c[k].way, c[k].depth,
               1e3 * c[k].seconds[0], 1e3 * middle, 1e-9 * cells / middle,
               bytes_a_step / middle / copy,
               bytes_a_step / c[k].seconds[0] / copies[rounds - 1]);
    }
    tacit_field_destroy(&f);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return 0;
}
