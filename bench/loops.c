/* SPDX-License-Identifier: BSD-3-Clause
 * bench/loops.c - time per iteration of methods, loops and formats on one
 * matrix.
 *
 *     [mpirun -np N] loops [-d DEVICE[@LINK]] [-f FORMAT,...] [-m METHOD,...]
 *           [-l LOOP,...] [-n ITERATIONS] [-r RUNS] [-t RTOL] MATRIX...
 *
 * Of several ranks, each with a contiguous part, the slowest counts. A METHOD
 * may have its steps, sstep:4.
 *
 * A run is as many solves from x = 0 as it takes to do ITERATIONS. RTOL is 0
 * unless told, but no solve goes as far as rounding allows, where it would look
 * at b - A x time and again: where one that warms up ends before ITERATIONS,
 * the others do half of what it did. In mixed precision (-f FORMAT+mixed) give
 * an RTOL: for 0, any solve takes more bits.
 *
 * Prints tab-separated: matrix, rows, nonzeros, format, method, loop, its
 * detail, ranks and their link, iterations of a solve, its true residual,
 * microseconds per iteration (median of the runs), bytes really moved per
 * second over copy bandwidth, bits of the matrix's values at the end of a
 * solve, what the format did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#if TCT_HAVE_MPI
#include <tacit/mpi.h>
#endif

enum { LIST = 16, RUNS_MOST = 32 };

#define TRY(call)                         \
    do {                                  \
        const tacit_status try_ = (call); \
        if (try_ < 0) return try_;        \
    } while (0)

typedef struct {
    const char *item[LIST];
    int count;
} list;

typedef struct {
    const char *device;
    list formats, methods, loops;
    int64_t iterations;
    int runs;
    double rtol;
} wishes;

static void split(char *text, list *out)
{
    out->count = 0;
    for (char *w = strtok(text, ","); w && out->count < LIST;
         w = strtok(NULL, ","))
        out->item[out->count++] = w;
}

static int complain(const char *what)
{
    fprintf(stderr, "loops: %s: %s\n", what, tacit_error_message());
    return 1;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is solved, and what became of it. */
typedef struct {
    tacit_queue *q;
    tacit_solver *s;
    size_t n;
    double *b, *x, *zero;
    tacit_stop stop;
    tacit_result result; /* of the last solve                      */
    double seconds, moved;
    int64_t iterations; /* of all solves of a run */
} problem;

static tacit_status solve(problem *p)
{
    TRY(tacit_queue_put(p->q, p->n, p->zero, p->x));
    tacit_queue_clear_tally(p->q);
    const tacit_status status =
        tacit_solver_run(p->s, p->b, p->x, &p->stop, &p->result);
    const tacit_tally *t = tacit_queue_tally(p->q);
    p->seconds += p->result.seconds;
    p->moved += t ? t->moved_bytes : 0.0;
    p->iterations += p->result.iterations;
    if (status == TACIT_BREAKDOWN && p->result.iterations == 0)
        return TACIT_INPUT; /* nothing to measure */
    return status;
}

/* Find how many iterations a solve may do. */
static tacit_status warm_up(problem *p)
{
    for (;;) {
        TRY(solve(p));
        const tacit_result *r = &p->result;
        if (r->stop == TACIT_STOP_MAX_ITERATIONS || r->converged ||
            r->iterations < 2)
            return TACIT_OK;
        p->stop.max_iterations = r->iterations / 2;
    }
}

static tacit_status run(problem *p, int64_t iterations)
{
    p->seconds = p->moved = 0.0;
    p->iterations = 0;
    do TRY(solve(p));
    while (p->iterations < iterations && p->result.iterations > 0);
    return TACIT_OK;
}

static tacit_status measure(problem *p, const wishes *w, tacit_operator *A,
                            const char *method, const char *loop,
                            double *per_iteration, double *rate)
{
    double seconds[RUNS_MOST];
    char name[32] = "";
    const size_t length = strcspn(method, ":");
    if (length < sizeof name) memcpy(name, method, length);
    TRY(tacit_solver_create(p->q, A, name, &p->s));
    if (method[length])
        TRY(tacit_solver_set(p->s, "steps", method + length + 1));
    TRY(tacit_solver_set_loop(p->s, loop));
    TRY(tacit_queue_alloc(p->q, p->n, &p->b));
    TRY(tacit_queue_alloc(p->q, p->n, &p->x));
    for (size_t i = 0; i < p->n; i++) p->zero[i] = 1.0;
    TRY(tacit_queue_put(p->q, p->n, p->zero, p->b));
    memset(p->zero, 0, p->n * sizeof *p->zero);
    p->result.size = sizeof p->result;
    p->stop = (tacit_stop){.size = sizeof(tacit_stop),
                           .rtol = w->rtol,
                           .max_iterations = w->iterations};
    TRY(warm_up(p));
    for (int k = 0; k < w->runs; k++) {
        TRY(run(p, w->iterations));
        const int64_t done = p->iterations > 0 ? p->iterations : 1;
        seconds[k] = p->seconds / (double)done;
        *rate = p->moved / p->seconds;
    }
    qsort(seconds, (size_t)w->runs, sizeof *seconds, by_value);
    *per_iteration = seconds[w->runs / 2];
    return TACIT_OK;
}

/* One method in one loop; prints a row. */
static void row(const char *name, const wishes *w, tacit_world *world,
                tacit_queue *q, tacit_operator *A, const char *method,
                const char *loop, double copy)
{
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(A, &info);
    problem p = {.q = q, .n = (size_t)tacit_operator_local_rows(A)};
    double per_iteration = 0.0, rate = 0.0;
    p.zero = malloc((p.n + 1) * sizeof *p.zero);
    tacit_status status =
        p.zero ? measure(&p, w, A, method, loop, &per_iteration, &rate)
               : TACIT_NO_MEMORY;
    status = tacit_world_agree(world, status);
    printf("%s\t%lld\t%lld\t%s\t%s\t", name, (long long)info.rows,
           (long long)info.nonzeros, info.format, method);
    if (status < 0)
        printf("%s\t-\t-\t-\t-\t-\t-\t-\t%s\n", loop, tacit_error_message());
    else
        printf("%s\t%s\t%d %s\t%lld\t%.3g\t%.2f\t%.2f\t%d\t%s\n", p.result.loop,
               p.result.loop_detail, tacit_world_size(world),
               tacit_queue_link(q), (long long)p.result.iterations,
               p.result.true_relative_residual, 1e6 * per_iteration,
               1e-9 * rate / copy, p.result.bits, info.detail);
    fflush(stdout);
    free(p.zero);
    tacit_queue_free(q, &p.b);
    tacit_queue_free(q, &p.x);
    tacit_solver_destroy(&p.s);
}

static int one_matrix(const char *name, const wishes *w, tacit_world *world,
                      tacit_queue *q, double copy)
{
    tacit_matrix *m = NULL;
    if (tacit_matrix_open(world, name, NULL, &m) < 0) return complain(name);
    for (int f = 0; f < w->formats.count; f++) {
        tacit_operator *A = NULL;
        if (tacit_operator_create(q, m, w->formats.item[f], &A) < 0) {
            complain(w->formats.item[f]);
            continue;
        }
        for (int i = 0; i < w->methods.count; i++)
            for (int l = 0; l < w->loops.count; l++)
                row(name, w, world, q, A, w->methods.item[i], w->loops.item[l],
                    copy);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    return 0;
}

/* That of the launcher, or of this process alone. */
static tacit_status open_world(int *argc, char ***argv, tacit_world **out)
{
#if TCT_HAVE_MPI
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE")) {
        MPI_Init(argc, argv);
        return tacit_world_from_mpi(MPI_COMM_WORLD, out);
    }
#endif
    (void)argc;
    (void)argv;
    return tacit_world_self(out);
}

static void close_world(tacit_world **world)
{
    tacit_world_destroy(world);
#if TCT_HAVE_MPI
    int on = 0;
    MPI_Initialized(&on);
    if (on) MPI_Finalize();
#endif
}

int main(int argc, char **argv)
{
    wishes w = {.device = "cuda",
                .formats = {{"auto"}, 1},
                .methods = {{"cg"}, 1},
                .loops = {{"host", "graph", "resident"}, 3},
                .iterations = 500,
                .runs = 5};
    int at = 1;
    (void)setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0); /* as the program does */
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        char *value = argv[at + 1];
        switch (argv[at][1]) {
        case 'd': w.device = value; break;
        case 'f': split(value, &w.formats); break;
        case 'm': split(value, &w.methods); break;
        case 'l': split(value, &w.loops); break;
        case 'n': w.iterations = atoll(value); break;
        case 'r': w.runs = atoi(value); break;
        case 't': w.rtol = atof(value); break;
        default: fprintf(stderr, "loops: unknown %s\n", argv[at]); return 1;
        }
    }
    if (at >= argc || w.runs < 1 || w.runs > RUNS_MOST || w.iterations < 1) {
        fprintf(stderr, "usage: loops [-d DEVICE] [-f FORMAT,...] [-m METHOD,"
                        "...] [-l LOOP,...] [-n ITERATIONS] [-r RUNS] "
                        "[-t RTOL] MATRIX...\n");
        return 1;
    }
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    char spec[64], device[160];
    double copy = 1.0;
    snprintf(spec, sizeof spec, "count:%s", w.device);
    if (open_world(&argc, &argv, &world) < 0 ||
        tacit_queue_create(world, spec, 0, &q) < 0)
        return complain(w.device);
    tacit_queue_describe(q, device, sizeof device);
    if (tacit_queue_measure_copy(q, (size_t)1 << 31, &copy) < 0)
        return complain("copy bandwidth");
    if (tacit_world_rank(world) > 0 && !freopen("/dev/null", "w", stdout))
        return 1;
    printf("# %s, copy %.0f GB/s\n", device, copy);
    printf("matrix\trows\tnonzeros\tformat\tmethod\tloop\tdetail\tranks\t"
           "iterations\tresidual\tus_per_iteration\tfraction_of_"
           "copy\tbits\tstorage\n");
    int bad = 0;
    for (; at < argc; at++) bad |= one_matrix(argv[at], &w, world, q, copy);
    tacit_queue_destroy(&q);
    close_world(&world);
    return bad;
}
