/* SPDX-License-Identifier: BSD-3-Clause
 * bench/columns.c - time of a system and iteration, for many right-hand sides
 * at once and for one alone.
 *
 *     columns [-d DEVICE] [-f FORMAT] [-m METHOD] [-c PRECOND] [-n ITERATIONS]
 *             [-r RUNS] [-T THREADS] [-s SECONDS] MATRIX...
 *
 * Each run does ITERATIONS from x = 0, for 1, 2, 4, 8 and 16 right-hand sides
 * of random numbers; runs of all numbers take turns. Prints tab-separated:
 * matrix, format, method, right-hand sides, microseconds per system and
 * iteration (median of the runs; SECONDS is wall, or processor, where others
 * work), how many times less that is than for one alone, the bound (m + v) / (m
 * / k + v) for m bytes of the matrix and v of vectors in an iteration alone,
 * the share of it, and how they were driven. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#include <time.h>

enum { NUMBERS = 5, MOST = 16, RUNS_MOST = 32 };

#define TRY(call)                         \
    do {                                  \
        const tacit_status try_ = (call); \
        if (try_ < 0) return try_;        \
    } while (0)

typedef struct {
    const char *device, *format, *method, *precond;
    int64_t iterations;
    int runs, threads;
    bool processor;
} wishes;

typedef struct {
    tacit_queue *q;
    tacit_operator *A, *M;
    tacit_solver *s[NUMBERS];
    bool processor;
    size_t n;
    double *B, *X, *host;
    tacit_stop stop;
    tacit_result result[MOST];
    double seconds[NUMBERS][RUNS_MOST], vector_bytes;
    char how[NUMBERS][128];
} problem;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a system and iteration. */
static tacit_status solve(problem *p, int i, double *out)
{
    const int k = 1 << i;
    memset(p->host, 0, p->n * MOST * sizeof *p->host);
    TRY(tacit_queue_put(p->q, p->n * MOST, p->host, p->X));
    memset(p->result, 0, sizeof p->result);
    for (int j = 0; j < k; j++) p->result[j].size = sizeof *p->result;
    const clock_t start = clock();
    TRY(k == 1 ? tacit_solver_run(p->s[i], p->B, p->X, &p->stop, p->result)
               : tacit_solver_run_block(p->s[i], k, p->B, p->n, p->X, p->n,
                                        &p->stop, p->result));
    const double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
    const tacit_result *r = p->result;
    *out =
        (p->processor ? spent : r->seconds) / k / (double)(r->iterations + 1);
    snprintf(p->how[i], sizeof p->how[i], "%s %s", r->loop, r->loop_detail);
    return TACIT_OK;
}

/* Vectors of an iteration: what it moves, less the matrix. */
static tacit_status count(problem *p, double matrix_bytes)
{
    double unused;
    tacit_queue_clear_tally(p->q);
    TRY(solve(p, 0, &unused));
    const tacit_tally *t = tacit_queue_tally(p->q);
    const double products = (double)t->spmv.count;
    p->vector_bytes = (t->moved_bytes - products * matrix_bytes) /
                      (double)(p->result->iterations + 1);
    return TACIT_OK;
}

static tacit_status measure(problem *p, const wishes *w, double matrix_bytes)
{
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->stop = (tacit_stop){.size = sizeof(tacit_stop),
                           .max_iterations = w->iterations};
    p->host = malloc(p->n * MOST * sizeof *p->host);
    if (!p->host) return TACIT_NO_MEMORY;
    TRY(tacit_queue_alloc(p->q, p->n * MOST, &p->B));
    TRY(tacit_queue_alloc(p->q, p->n * MOST, &p->X));
    srand(1);
    for (size_t i = 0; i < p->n * MOST; i++)
        p->host[i] = rand() / (double)RAND_MAX - 0.5;
    TRY(tacit_queue_put(p->q, p->n * MOST, p->host, p->B));
    double warm;
    for (int i = 0; i < NUMBERS; i++) {
        TRY(tacit_solver_create(p->q, p->A, w->method, &p->s[i]));
        if (p->M) TRY(tacit_solver_set_precond(p->s[i], p->M));
        TRY(tacit_solver_set(p->s[i], "loop", "auto"));
        TRY(solve(p, i, &warm));
    }
    TRY(count(p, matrix_bytes));
    for (int run = 0; run < w->runs; run++)
        for (int i = 0; i < NUMBERS; i++) TRY(solve(p, i, &p->seconds[i][run]));
    return TACIT_OK;
}

static void print(const char *name, const wishes *w, problem *p, double m)
{
    double alone = 0.0;
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(p->A, &info);
    for (int i = 0; i < NUMBERS; i++) {
        const double v = p->vector_bytes, k = 1 << i;
        qsort(p->seconds[i], (size_t)w->runs, sizeof(double), by_value);
        const double median = p->seconds[i][w->runs / 2];
        if (i == 0) alone = median;
        const double gain = alone / median, bound = (m + v) / (m / k + v);
        printf("%s\t%s\t%s\t%g\t%.2f\t%.2f\t%.2f\t%.2f\t%s\n", name,
               info.format, w->method, k, 1e6 * median, gain, bound,
               gain / bound, p->how[i]);
    }
    fflush(stdout);
}

static int one_matrix(const char *name, const wishes *w, tacit_world *world)
{
    problem p = {.processor = w->processor};
    tacit_matrix *matrix = NULL;
    char spec[64];
    tacit_operator_info info = {.size = sizeof info};
    snprintf(spec, sizeof spec, "count:%s", w->device);
    tacit_status status = tacit_queue_create(world, spec, w->threads, &p.q);
    if (status >= 0) status = tacit_matrix_open(world, name, NULL, &matrix);
    if (status >= 0)
        status = tacit_operator_create(p.q, matrix, w->format, &p.A);
    if (status >= 0) status = tacit_operator_describe(p.A, &info);
    if (status >= 0)
        status = tacit_precond_create_of(p.A, matrix, w->precond, NULL, &p.M);
    const double bytes = info.bytes_per_nonzero * (double)info.nonzeros;
    if (status >= 0) status = measure(&p, w, bytes);
    if (status >= 0) print(name, w, &p, bytes);
    else fprintf(stderr, "columns: %s: %s\n", name, tacit_error_message());
    for (int i = 0; i < NUMBERS; i++) tacit_solver_destroy(&p.s[i]);
    if (p.q) tacit_queue_free(p.q, &p.B);
    if (p.q) tacit_queue_free(p.q, &p.X);
    free(p.host);
    tacit_operator_destroy(&p.M);
    tacit_operator_destroy(&p.A);
    tacit_matrix_destroy(&matrix);
    tacit_queue_destroy(&p.q);
    return status < 0;
}

int main(int argc, char **argv)
{
    wishes w = {.device = "cuda",
                .format = "auto",
                .method = "cg",
                .precond = "none",
                .iterations = 100,
                .runs = 5};
    int at = 1, failed = 0;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        const char *value = argv[at + 1];
        switch (argv[at][1]) {
        case 'd': w.device = value; break;
        case 'f': w.format = value; break;
        case 'm': w.method = value; break;
        case 'c': w.precond = value; break;
        case 'n': w.iterations = atoi(value); break;
        case 'r': w.runs = atoi(value); break;
        case 'T': w.threads = atoi(value); break;
        case 's': w.processor = strcmp(value, "processor") == 0; break;
        default: return fprintf(stderr, "columns: no option %s\n", argv[at]), 2;
        }
    }
    if (w.runs < 1 || w.runs > RUNS_MOST || w.iterations < 1 || at == argc) {
        fprintf(stderr, "columns: [-r 1..%d] [-n 1..] MATRIX...\n", RUNS_MOST);
        return 2;
    }
    tacit_world *world = NULL;
    if (tacit_world_self(&world) < 0) return 1;
    for (; at < argc; at++) failed |= one_matrix(argv[at], &w, world);
    tacit_world_destroy(&world);
    return failed;
}
