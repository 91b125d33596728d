/* SPDX-License-Identifier: BSD-3-Clause
 * bench/stencil_ways.c - time of a step of grids on several ranks, by way.
 *
 *     [mpirun -np N] stencil_ways [-r RANKS] [-w WAY,...] [-n ROUNDS]
 *           DEVICE[@LINK] TYPE SECONDS GRID...
 *
 * RANKS are processes that the program starts, on a GPU each (no -r: those of
 * mpirun, or one). A WAY may have a depth, tiles:8, or a loop, nccl:graph; by
 * default they are all that there are. SECONDS is the time of a round; of five
 * rounds, in which the ways take turns, the median counts. GRID is
 * star2d1r:4096x4096 or the like.
 *
 * Before that each way makes some steps, whose cells must have the bits of the
 * first way that is there; grids of more than 2^24 cells are not compared.
 *
 * Prints tab-separated: grid, type, ranks, link, way, depth, loop, microseconds
 * of a step (median, least), GCell/s, bytes of a step's halos, and whether bits
 * are the same. A way that is refused is a line that begins with #. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#if TCT_HAVE_MPI
#include <tacit/mpi.h>
#endif

enum { LIST = 24, ROUNDS_MOST = 32, CHECKED = 1 << 24, CHECK_STEPS = 23 };

#define TRY(call)                         \
    do {                                  \
        const tacit_status try_ = (call); \
        if (try_ < 0) return try_;        \
    } while (0)

typedef struct candidate {
    char name[32];
    const char *way, *loop;
    int depth;
    int boundary; /* tiles, as in tacit_field_options */
    bool refused;
    double seconds[ROUNDS_MOST];
    tacit_field_result last;
    const char *bits;
} candidate;

typedef struct wishes {
    int ranks, rounds, count;
    candidate way[LIST];
    const char *device, *type;
    double seconds;
    int grids;
    char **grid;
} wishes;

/* --- arguments ------------------------------------------------------------ */

static void add_way(wishes *w, const char *text)
{
    if (w->count == LIST) return;
    candidate *c = &w->way[w->count++];
    snprintf(c->name, sizeof c->name, "%s", text);
    char *after = strchr(c->name, ':');
    c->way = c->name;
    if (!after) return;
    *after++ = '\0';
    if (*after >= '0' && *after <= '9') c->depth = atoi(after);
    else c->loop = after;
}

static void add_all_ways(wishes *w)
{
    const tacit_stencil_way *way;
    for (int i = 0; (way = tacit_stencil_way_at(i)) != NULL; i++)
        if (!way->reason) add_way(w, way->name);
    add_way(w, "mpi:graph");
    add_way(w, "nccl:graph");
}

static bool read_arguments(int argc, char **argv, wishes *w)
{
    int k = 1;
    for (; k + 1 < argc && argv[k][0] == '-'; k += 2) {
        const char option = argv[k][1];
        if (option == 'r') w->ranks = atoi(argv[k + 1]);
        else if (option == 'n') w->rounds = atoi(argv[k + 1]);
        else if (option == 'w')
            for (char *t = strtok(argv[k + 1], ","); t; t = strtok(NULL, ","))
                add_way(w, t);
        else return false;
    }
    if (argc - k < 4 || w->rounds < 1 || w->rounds > ROUNDS_MOST) return false;
    w->device = argv[k];
    w->type = argv[k + 1];
    w->seconds = atof(argv[k + 2]);
    w->grid = argv + k + 3;
    w->grids = argc - k - 3;
    if (w->count == 0) add_all_ways(w);
    return true;
}

/* --- a grid --------------------------------------------------------------- */

typedef struct bench {
    const wishes *w;
    tacit_world *world;
    tacit_field *field;
    int64_t cells;
    double *start, *wanted, *got; /* of all cells, if they are compared */
    candidate way[LIST];
} bench;

static bool speaks(const bench *b)
{
    return tacit_world_rank(b->world) == 0;
}

static tacit_status run(bench *b, const candidate *c, int64_t steps,
                        tacit_field_result *r)
{
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = steps,
                                   .way = c->way,
                                   .depth = c->depth,
                                   .boundary_tiles = c->boundary,
                                   .loop = c->loop};
    *r = (tacit_field_result){.size = sizeof *r};
    return tacit_field_run(b->field, &o, r);
}

static void refuse(const bench *b, candidate *c)
{
    c->refused = true;
    if (speaks(b)) printf("# %s: %s\n", c->name, tacit_error_message());
}

/* Some steps from the start; cells of other ranks stay 0. */
static tacit_status check(bench *b, candidate *c, bool *first)
{
    if (!b->start) return run(b, c, CHECK_STEPS, &c->last);
    double *to = *first ? b->wanted : b->got;
    TRY(tacit_field_put(b->field, 0, b->cells, b->start));
    TRY(run(b, c, CHECK_STEPS, &c->last));
    TRY(tacit_field_get(b->field, 0, b->cells, to));
    const size_t bytes = (size_t)b->cells * sizeof *to;
    c->bits = *first || memcmp(to, b->wanted, bytes) == 0 ? "same" : "DIFFER";
    if (strcmp(c->bits, "DIFFER") == 0)
        printf("# rank %d, %s: bits differ\n", tacit_world_rank(b->world),
               c->name);
    *first = false;
    return TACIT_OK;
}

static tacit_status check_all(bench *b)
{
    bool first = true;
    for (int k = 0; k < b->w->count; k++) {
        candidate *c = &b->way[k];
        c->bits = "-";
        const tacit_status status = check(b, c, &first);
        if (status == TACIT_UNSUPPORTED || status == TACIT_INVALID)
            refuse(b, c);
        else TRY(status);
    }
    return TACIT_OK;
}

/* The boundary tiles that a run finds best are kept. */
static tacit_status find_boundary(bench *b, candidate *c)
{
    if (c->boundary != 0) return TACIT_OK;
    TRY(run(b, c, 4096, &c->last));
    double best = 0.0;
    for (int k = 0; k < c->last.trials; k++) {
        const tacit_field_trial *t = &c->last.trial[k];
        if (strncmp(t->way, "free", 4) != 0) continue;
        if (speaks(b))
            printf("# %s, boundary tiles %d: %.4g us\n", c->name,
                   t->boundary_tiles, t->step_seconds * 1e6);
        if (best > 0.0 && t->step_seconds >= best) continue;
        best = t->step_seconds;
        c->boundary = t->boundary_tiles;
    }
    /* the formula's, as a number; tiles on chip have no layers */
    if (best > 0.0 && c->boundary == 0 && c->last.on_chip == 0.0)
        c->boundary =
            c->last.boundary_formula > 1.0 ? (int)c->last.boundary_formula : 1;
    return TACIT_OK;
}

static tacit_status time_one(bench *b, candidate *c, int round)
{
    for (int64_t steps = 64;; steps *= 2) {
        TRY(run(b, c, steps, &c->last));
        if (c->last.seconds >= b->w->seconds || steps > 1 << 24) break;
    }
    c->seconds[round] = c->last.step_seconds;
    return TACIT_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const bench *b, const char *grid, const char *link,
                  candidate *c)
{
    const int rounds = b->w->rounds;
    qsort(c->seconds, (size_t)rounds, sizeof *c->seconds, by_value);
    const double t = c->seconds[rounds / 2];
    printf("%s\t%s\t%d\t%s\t%s\t%d\t%s\t%.4g\t%.4g\t%.4g\t%.4g\t%s\n", grid,
           b->w->type, tacit_world_size(b->world), link, c->way, c->last.depth,
           c->last.loop ? c->last.loop : "-", t * 1e6, c->seconds[0] * 1e6,
           (double)b->cells / t * 1e-9, c->last.halo_bytes, c->bits);
    fflush(stdout);
}

static tacit_status make(bench *b, tacit_queue *q, const char *grid)
{
    tacit_stencil s = {.size = sizeof s, .type = b->w->type};
    TRY(tacit_stencil_parse(grid, &s));
    TRY(tacit_field_create(q, &s, &b->field));
    b->cells = s.n[0] * s.n[1] * (s.n[2] > 0 ? s.n[2] : 1);
    if (b->cells > CHECKED) return TACIT_OK;
    const size_t n = (size_t)b->cells;
    b->start = (double *)calloc(n, sizeof *b->start);
    b->wanted = (double *)calloc(n, sizeof *b->wanted);
    b->got = (double *)calloc(n, sizeof *b->got);
    uint64_t state = 1;
    for (size_t k = 0; b->start && k < n; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        b->start[k] = (double)(state >> 40) * 0x1p-24 - 0.5;
    }
    return TACIT_OK;
}

static tacit_status measure(const wishes *w, tacit_world *world, tacit_queue *q,
                            const char *grid)
{
    bench b = {.w = w, .world = world};
    memcpy(b.way, w->way, sizeof b.way);
    for (int k = 0; k < w->count; k++) b.way[k].way = b.way[k].name;
    tacit_status status = make(&b, q, grid);
    if (status >= 0) status = check_all(&b);
    for (int k = 0; k < w->count && status >= 0; k++)
        if (!b.way[k].refused) status = find_boundary(&b, &b.way[k]);
    for (int round = 0; round < w->rounds; round++)
        for (int k = 0; k < w->count && status >= 0; k++)
            if (!b.way[k].refused) status = time_one(&b, &b.way[k], round);
    for (int k = 0; k < w->count && status >= 0 && speaks(&b); k++)
        if (!b.way[k].refused) print(&b, grid, tacit_queue_link(q), &b.way[k]);
    tacit_field_destroy(&b.field);
    free(b.start);
    free(b.wanted);
    free(b.got);
    return status;
}

/* --- ranks ---------------------------------------------------------------- */

static int work(tacit_world *world, void *ctx)
{
    const wishes *w = (const wishes *)ctx;
    tacit_queue *q = NULL;
    char about[200];
    tacit_status status = tacit_queue_create(world, w->device, 0, &q);
    if (status >= 0 && tacit_world_rank(world) == 0) {
        tacit_queue_describe(q, about, sizeof about);
        printf("# %s\ngrid\ttype\tranks\tlink\tway\tdepth\tloop\tus\tleast\t"
               "GCell/s\thalo bytes\tbits\n",
               about);
    }
    for (int k = 0; k < w->grids && status >= 0; k++)
        status = measure(w, world, q, w->grid[k]);
    if (status < 0)
        fprintf(stderr, "stencil_ways: %s\n", tacit_error_message());
    tacit_queue_destroy(&q);
    fflush(stdout);
    return status < 0;
}

static int work_alone(wishes *w)
{
    tacit_world *world = NULL;
    if (tacit_world_self(&world) < 0) return 1;
    const int status = work(world, w);
    tacit_world_destroy(&world);
    return status;
}

#if TCT_HAVE_MPI
static int work_by_mpi(wishes *w)
{
    tacit_world *world = NULL;
    int status = 1;
    MPI_Init(NULL, NULL);
    if (tacit_world_from_mpi(MPI_COMM_WORLD, &world) >= 0)
        status = work(world, w);
    tacit_world_destroy(&world);
    MPI_Finalize();
    return status;
}
#else
#define work_by_mpi work_alone
#endif

int main(int argc, char **argv)
{
    wishes w = {.rounds = 5};
    int worst = 1;
    if (!read_arguments(argc, argv, &w)) {
        fprintf(stderr, "usage: stencil_ways [-r RANKS] [-w WAY,...] [-n "
                        "ROUNDS] DEVICE[@LINK] TYPE SECONDS GRID...\n");
        return 1;
    }
    const bool by_mpi = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE");
    if (w.ranks == 0) return by_mpi ? work_by_mpi(&w) : work_alone(&w);
    if (tacit_world_processes(w.ranks, work, &w, &worst) < 0)
        fprintf(stderr, "stencil_ways: %s\n", tacit_error_message());
    return worst;
}
