/* SPDX-License-Identifier: BSD-3-Clause
 * bench/stencils_host.c - steps of a grid on the host, and a copy.
 *
 *     stencils_host GRID TYPE THREADS ROUNDS [DEPTH ...]
 *
 * GRID is star2d1r:4096x4096 or the like. Way copy, then way tiles in each
 * depth, take turns for some rounds; between them the same threads copy one
 * array to another past the caches, of as many bytes as the grid's two buffers
 * together. One line each: way, depth, milliseconds of a step (least, median),
 * GCell/s of the median, and the share of the copy's bandwidth: of the medians,
 * of the best of both.
 *
 * Time is that of processors, of all threads over their number: other programs
 * count only as far as they use memory or caches. */
#include "device/parallel.h"
#include "device/queue.h"
#include "operator/stencil/host_rows.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacit/tacit.h>
#include <time.h>

enum { CANDIDATES = 16, ROUNDS_MOST = 256 };
static const double SECONDS = 0.1; /* of a round */

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

/* Of all threads: what other programs take is not in it. */
static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double step_seconds(tacit_queue *q, tacit_field *f, const candidate *c,
                           int64_t steps)
{
    const tacit_field_options o = {
        .size = sizeof o, .steps = steps, .way = c->way, .depth = c->depth};
    tacit_field_result r = {.size = sizeof r};
    const double start = processor_seconds();
    check(tacit_field_run(f, &o, &r));
    return (processor_seconds() - start) / (double)steps /
           tacit_queue_threads(q);
}

/* One candidate's turn: whole visits. */
static double turn(tacit_queue *q, tacit_field *f, const candidate *c)
{
    const double guess = step_seconds(q, f, c, c->depth);
    const int64_t visits = (int64_t)(SECONDS / (guess * c->depth)) + 1;
    return step_seconds(q, f, c, visits * c->depth);
}

/* --- the copy ------------------------------------------------------------- */

enum { PIECE = 32 << 10 }; /* bytes that a thread takes at a time */

typedef struct arrays {
    char *from, *to;
} arrays;

static void touch_pieces(void *work, int64_t from, int64_t to)
{
    const arrays *a = work;
    memset(a->from + from * PIECE, 1, (size_t)(to - from) * PIECE);
    memset(a->to + from * PIECE, 2, (size_t)(to - from) * PIECE);
}

static void copy_pieces(void *work, int64_t from, int64_t to)
{
    const arrays *a = work;
    const tct_host_stream *stream = tct_host_stream_best();
    stream->copy(a->to + from * PIECE, a->from + from * PIECE,
                 (size_t)(to - from) * PIECE);
    stream->fence();
}

/* GB/s, read and written, of arrays of `bytes` in all. */
static double copy_rate(tacit_queue *q, double bytes)
{
    const int64_t pieces = (int64_t)(bytes / 2 / PIECE) + 1;
    arrays a = {NULL, NULL};
    int64_t times = 0;
    check(TCT_ALLOC(pieces * PIECE, "a copy", &a.from));
    check(TCT_ALLOC(pieces * PIECE, "a copy", &a.to));
    TCT_THREADS_OF(q->team);
    tct_parallel(pieces, 1, touch_pieces, &a);
    const double start = processor_seconds();
    do tct_parallel(pieces, 1, copy_pieces, &a);
    while (++times < 8 || processor_seconds() - start < SECONDS);
    const double seconds =
        (processor_seconds() - start) / tacit_queue_threads(q);
    TCT_FREE(a.to, a.from);
    return 2e-9 * PIECE * (double)(pieces * times) / seconds;
}

/* --- the grid ------------------------------------------------------------- */

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
        copies[r] = copy_rate(q, bytes);
        for (int k = 0; k < count; k++) c[k].seconds[r] = turn(q, f, &c[k]);
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
