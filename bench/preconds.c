/* SPDX-License-Identifier: BSD-3-Clause
 * bench/preconds.c - preconditioners on one core: set-up and solve by cg.
 *
 *     preconds [-r RTOL] [-n RUNS] [-p NAME,NAME,...] MATRIX...
 *
 * Seconds are of the processor, so that other programs matter little. b = A x*
 * with x* random, x = 0, format auto. Prints tab-separated, after a line of
 * headings: matrix, rows, preconditioner, iterations, ms of set-up, of the
 * solve, of both (medians of RUNS, 7), true residual; or why a solve was not
 * possible. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MOST = 100 };

#define OK(call)                                                 \
    do {                                                         \
        if ((call) < 0) {                                        \
            fprintf(stderr, "preconds: line %d: %s\n", __LINE__, \
                    tacit_error_message());                      \
            exit(1);                                             \
        }                                                        \
    } while (0)

typedef struct {
    double rtol;
    int runs;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A;
    size_t n;
    double *b, *x;
    tacit_result result;
} bench;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int count, double *values)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

static tacit_status solve(bench *w, const tacit_operator *M, double *seconds)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = w->rtol, .max_iterations = 100000};
    tacit_solver *s = NULL;
    w->result = (tacit_result){.size = sizeof w->result};
    OK(tacit_solver_create(w->q, w->A, "cg", &s));
    OK(tacit_solver_set_precond(s, M));
    OK(tacit_queue_fill(w->q, w->n, 0.0, w->x));
    const double start = processor_seconds();
    const tacit_status status =
        tacit_solver_run(s, w->b, w->x, &stop, &w->result);
    *seconds = processor_seconds() - start;
    tacit_solver_destroy(&s);
    return status;
}

/* Set up and solve once. */
static tacit_status run(bench *w, const char *name, double seconds[2])
{
    tacit_operator *M = NULL;
    const double start = processor_seconds();
    tacit_status status = tacit_precond_create_of(w->A, w->m, name, NULL, &M);
    seconds[0] = processor_seconds() - start;
    if (status >= 0) status = solve(w, M, &seconds[1]);
    tacit_operator_destroy(&M);
    return status;
}

static void measure(bench *w, const char *matrix, const char *name)
{
    double setup[RUNS_MOST], solves[RUNS_MOST], both[RUNS_MOST];
    printf("%s\t%zu\t%s\t", matrix, w->n, name);
    for (int r = 0; r < w->runs; r++) {
        double seconds[2] = {0.0, 0.0};
        if (run(w, name, seconds) != TACIT_OK) {
            printf("%s\n", tacit_error_message());
            return;
        }
        setup[r] = seconds[0];
        solves[r] = seconds[1];
        both[r] = seconds[0] + seconds[1];
    }
    printf("%lld\t%.2f\t%.2f\t%.2f\t%.1e\n", (long long)w->result.iterations,
           1e3 * median(w->runs, setup), 1e3 * median(w->runs, solves),
           1e3 * median(w->runs, both), w->result.true_relative_residual);
    fflush(stdout);
}

static void measure_each(bench *w, const char *matrix, const char *names)
{
    char name[32];
    for (int length; *names; names += length + (names[length] == ',')) {
        length = (int)strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", length, names);
        measure(w, matrix, name);
    }
}

static void open_and_measure(tacit_world *world, bench *w, const char *matrix,
                             const char *names)
{
    const char *slash = strrchr(matrix, '/');
    OK(tacit_matrix_open(world, matrix, NULL, &w->m));
    OK(tacit_queue_create(world, "host", 1, &w->q));
    OK(tacit_operator_create(w->q, w->m, "auto", &w->A));
    w->n = (size_t)tacit_operator_local_rows(w->A);
    OK(tacit_queue_alloc(w->q, w->n, &w->b));
    OK(tacit_queue_alloc(w->q, w->n, &w->x));
    OK(tacit_operator_manufacture(w->A, w->m, 0, w->x, w->b));
    measure_each(w, slash ? slash + 1 : matrix, names);
    tacit_queue_free(w->q, &w->b);
    tacit_queue_free(w->q, &w->x);
    tacit_operator_destroy(&w->A);
    tacit_queue_destroy(&w->q);
    tacit_matrix_destroy(&w->m);
}

int main(int argc, char **argv)
{
    bench w = {.rtol = 1e-8, .runs = 7};
    const char *names = "jacobi,ic0,ic1,amg";
    tacit_world *world = NULL;
    for (int o; (o = getopt(argc, argv, "r:n:p:")) != -1;) {
        if (o == 'r') w.rtol = atof(optarg);
        else if (o == 'n') w.runs = atoi(optarg);
        else if (o == 'p') names = optarg;
        else return 1;
    }
    if (w.runs < 1 || w.runs > RUNS_MOST) return 1;
    OK(tacit_world_self(&world));
    OK(tacit_world_set_threads(world, 1));
    printf("matrix\trows\tpreconditioner\titerations\tset-up\tsolve\tboth\t"
           "residual\n");
    for (int i = optind; i < argc; i++)
        open_and_measure(world, &w, argv[i], names);
    tacit_world_destroy(&world);
    return 0;
}
