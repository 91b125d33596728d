/* SPDX-License-Identifier: BSD-3-Clause
 * bench/stencils.c - time of a step of grids, by way and depth.
 *
 *     stencils DEVICE TYPE SECONDS GRID...
 *
 * GRID is star2d1r:4096x4096 or the like, SECONDS the time of a round. Of five
 * rounds in which the ways take turns the median counts. Tab-separated: grid,
 * type, way, depth, microseconds of a step, GCell/s, bytes of a step over the
 * copy bandwidth of the device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

enum { ROUNDS = 5, CANDIDATES = 8 };

typedef struct {
    const char *way;
    int depth;
    double seconds[ROUNDS];
    double bytes;
} candidate;

static int complain(void)
{
    fprintf(stderr, "stencils: %s\n", tacit_error_message());
    return 1;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Ways and depths of this grid: those that a trial of way auto has. */
static tacit_status candidates(tacit_field *f, candidate *out, int *count)
{
    const tacit_field_options o = {.size = sizeof o, .steps = 2000};
    tacit_field_result r = {.size = sizeof r};
    const tacit_status status = tacit_field_run(f, &o, &r);
    if (status < 0) return status;
    for (*count = 0; *count < r.trials && *count < CANDIDATES; ++*count)
        out[*count] = (candidate){.way = r.trial[*count].way,
                                  .depth = r.trial[*count].depth};
    if (*count == 0) out[(*count)++] = (candidate){r.way, r.depth, {0}, 0};
    return TACIT_OK;
}

static tacit_status time_one(tacit_field *f, candidate *c, int round,
                             double seconds)
{
    tacit_field_options o = {.size = sizeof o,
                             .steps = 64,
                             .way = c->way,
                             .depth = c->depth > 1 ? c->depth : 0};
    tacit_field_result r = {.size = sizeof r};
    for (;;) {
        const tacit_status status = tacit_field_run(f, &o, &r);
        if (status < 0) return status;
        if (r.seconds >= seconds || o.steps > 1 << 24) break;
        o.steps *= 2;
    }
    c->seconds[round] = r.step_seconds;
    c->bytes = r.bytes;
    return TACIT_OK;
}

static tacit_status measure(tacit_queue *q, const char *grid, const char *type,
                            double seconds, double copy)
{
    candidate all[CANDIDATES];
    int count = 0;
    tacit_field *f = NULL;
    tacit_stencil s = {.size = sizeof s, .type = type};
    tacit_status status = tacit_stencil_parse(grid, &s);
    if (status >= 0) status = tacit_field_create(q, &s, &f);
    if (status >= 0) status = candidates(f, all, &count);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < count && status >= 0; k++)
            status = time_one(f, &all[k], round, seconds);
    for (int k = 0; k < count && status >= 0; k++) {
        qsort(all[k].seconds, ROUNDS, sizeof(double), by_value);
        const double t = all[k].seconds[ROUNDS / 2];
        const double cells =
            (double)s.n[0] * (double)s.n[1] * (double)(s.n[2] > 0 ? s.n[2] : 1);
        printf("%s\t%s\t%s\t%d\t%.4g\t%.4g\t%.3g\n", grid, type, all[k].way,
               all[k].depth, t * 1e6, cells / t * 1e-9,
               all[k].bytes / t / (copy * 1e9));
        fflush(stdout);
    }
    tacit_field_destroy(&f);
    return status;
}

int main(int argc, char **argv)
{
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    double copy = 0.0;
    if (argc < 5) {
        fprintf(stderr, "usage: stencils DEVICE TYPE SECONDS GRID...\n");
        return 1;
    }
    if (tacit_world_self(&world) < 0 ||
        tacit_queue_create(world, argv[1], 0, &q) < 0 ||
        tacit_queue_measure_copy(q, 1 << 26, &copy) < 0)
        return complain();
    char about[200];
    tacit_queue_describe(q, about, sizeof about);
    printf("# %s, copy %.0f GB/s\ngrid\ttype\tway\tdepth\tus\tGCell/s\t"
           "of copy\n",
           about, copy);
    for (int k = 4; k < argc; k++)
        if (measure(q, argv[k], argv[2], atof(argv[3]), copy) < 0)
            return complain();
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return 0;
}
