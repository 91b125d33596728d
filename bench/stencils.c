/* SPDX-License-Identifier: BSD-3-Clause
 * bench/stencils.c - time of a step of grids, by way and depth.
 *
 *     stencils DEVICE TYPE SECONDS [way=NAME[:DEPTH]]... GRID...
 *
 * Ways are those of auto, or those that are named; a depth that is not named is
 * measured. A grid of up to 2^24 cells is checked first: after some steps each
 * way has the bits of way copy. GRID is star2d1r:4096x4096 or the like, SECONDS
 * the time of a round. Of five rounds in which the ways take turns the median
 * counts. Tab-separated: grid, type, way, depth, microseconds of a step,
 * GCell/s, bytes of a step over the copy bandwidth of the device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

enum { ROUNDS = 5, CANDIDATES = 16 };

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

static int named;
static candidate by_name[CANDIDATES];

/* "way=cached:8" */
static int take_name(char *word)
{
    if (strncmp(word, "way=", 4) != 0) return 0;
    char *depth = strchr(word, ':');
    if (depth) *depth++ = '\0';
    if (named < CANDIDATES)
        by_name[named++] =
            (candidate){.way = word + 4, .depth = depth ? atoi(depth) : 0};
    return 1;
}

/* Those that are named; a depth that is not is the one that a run measures. */
static tacit_status named_ones(tacit_field *f, candidate *out, int *count)
{
    memcpy(out, by_name, sizeof by_name);
    *count = named;
    for (int k = 0; k < named; k++) {
        const tacit_field_options o = {
            .size = sizeof o, .steps = 2000, .way = out[k].way};
        tacit_field_result r = {.size = sizeof r};
        if (out[k].depth > 0) continue;
        const tacit_status status = tacit_field_run(f, &o, &r);
        if (status < 0) return status;
        out[k].depth = r.depth;
    }
    return TACIT_OK;
}

/* Ways and depths of this grid: those that are named, or that a trial of way
 * auto has. */
static tacit_status candidates(tacit_field *f, candidate *out, int *count)
{
    if (named > 0) return named_ones(f, out, count);
    const tacit_field_options o = {.size = sizeof o, .steps = 2000};
    tacit_field_result r = {.size = sizeof r};
    const tacit_status status = tacit_field_run(f, &o, &r);
    if (status < 0) return status;
    *count = 0;
    for (int k = 0; k < r.trials && *count < CANDIDATES; k++) {
        const tacit_field_trial *t = &r.trial[k];
        const candidate *last = *count > 0 ? &out[*count - 1] : NULL;
        if (last && last->depth == t->depth && strcmp(last->way, t->way) == 0)
            continue; /* with other boundary tiles */
        out[(*count)++] = (candidate){.way = t->way, .depth = t->depth};
    }
    if (*count == 0) out[(*count)++] = (candidate){r.way, r.depth, {0}, 0};
    return TACIT_OK;
}

static tacit_status time_one(tacit_field *f, candidate *c, int round,
                             double seconds)
{
    tacit_field_options o = {
        .size = sizeof o, .steps = 64, .way = c->way, .depth = c->depth};
    tacit_field_result r = {.size = sizeof r};
    for (;;) {
        const tacit_status status = tacit_field_run(f, &o, &r);
        if (status < 0) return status;
        if (r.seconds >= seconds || o.steps > 1 << 24) break;
        o.steps *= 2;
    }
    c->seconds[round] = r.step_seconds;
    c->bytes = r.bytes;
    if (round == 0 && r.tiles > 0)
        printf("# %s, depth %d: %d tiles, %d of a boundary layer (formula "
               "%.3g), %.0f %% on chip\n",
               c->way, r.depth, r.tiles, r.boundary_tiles, r.boundary_formula,
               1e2 * r.on_chip);
    return TACIT_OK;
}

/* --- a check -------------------------------------------------------------- */

enum { CHECKED = 1 << 24, CHECK_STEPS = 37 };

static double value_of(int64_t k)
{
    uint64_t x = (uint64_t)k * 6364136223846793005u + 1442695040888963407u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (double)(int64_t)(x >> 11) * 0x1p-52 - 1.0;
}

/* The values after some steps from random ones. */
static tacit_status after_steps(tacit_field *f, const candidate *c,
                                int64_t cells, double *v)
{
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = CHECK_STEPS,
                                   .way = c->way,
                                   .depth = c->depth};
    tacit_field_result r = {.size = sizeof r};
    for (int64_t k = 0; k < cells; k++) v[k] = value_of(k);
    tacit_status status = tacit_field_put(f, 0, cells, v);
    if (status >= 0) status = tacit_field_run(f, &o, &r);
    return status < 0 ? status : tacit_field_get(f, 0, cells, v);
}

/* Say of each way how many cells differ from those of way copy. */
static tacit_status check(tacit_field *f, const candidate *all, int count,
                          int64_t cells)
{
    const candidate copy = {.way = "copy", .depth = 1};
    double *wanted = malloc((size_t)cells * sizeof *wanted);
    double *got = malloc((size_t)cells * sizeof *got);
    tacit_status status =
        wanted && got ? after_steps(f, &copy, cells, wanted) : TACIT_NO_MEMORY;
    for (int i = 0; i < count && status >= 0; i++) {
        int64_t wrong = 0;
        status = after_steps(f, &all[i], cells, got);
        for (int64_t k = 0; k < cells && status >= 0; k++)
            wrong += memcmp(&got[k], &wanted[k], sizeof *got) != 0;
        if (status >= 0)
            printf("# %s, depth %d: %lld of %lld cells differ\n", all[i].way,
                   all[i].depth, (long long)wrong, (long long)cells);
    }
    free(got);
    free(wanted);
    return status;
}

static int64_t cells_of(const tacit_stencil *s)
{
    return s->n[0] * s->n[1] * (s->n[2] > 0 ? s->n[2] : 1);
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
    if (status >= 0 && cells_of(&s) <= CHECKED)
        status = check(f, all, count, cells_of(&s));
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < count && status >= 0; k++)
            status = time_one(f, &all[k], round, seconds);
    for (int k = 0; k < count && status >= 0; k++) {
        qsort(all[k].seconds, ROUNDS, sizeof(double), by_value);
        const double t = all[k].seconds[ROUNDS / 2];
        const double cells = (double)cells_of(&s);
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
        fprintf(stderr, "usage: stencils DEVICE TYPE SECONDS "
                        "[way=NAME[:DEPTH]]... GRID...\n");
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
        if (!take_name(argv[k]) &&
            measure(q, argv[k], argv[2], atof(argv[3]), copy) < 0)
            return complain();
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return 0;
}
