/* SPDX-License-Identifier: BSD-3-Clause
 * bench/loops.c - time per iteration of methods, loops and formats on one
 * matrix, none of which may converge: rtol is 0.
 *
 *     loops [-d DEVICE] [-f FORMAT,...] [-m METHOD,...] [-l LOOP,...]
 *           [-n ITERATIONS] [-r RUNS] MATRIX...
 *
 * Prints tab-separated: matrix, rows, nonzeros, format, method, loop, its
 * detail, iterations, microseconds per iteration (median of the runs), bytes
 * really moved per second over copy bandwidth, what the format did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

enum { LIST = 16, RUNS_MOST = 32 };

typedef struct {
    const char *item[LIST];
    int count;
} list;

typedef struct {
    const char *device;
    list formats, methods, loops;
    int64_t iterations;
    int runs;
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

/* One method in one loop; prints a row. */
static void row(const char *name, const wishes *w, tacit_queue *q,
                tacit_operator *A, const char *method, const char *loop,
                double copy)
{
    tacit_operator_info info;
    tacit_operator_describe(A, &info);
    const size_t n = (size_t)tacit_operator_local_rows(A);
    tacit_solver *s = NULL;
    double *b = NULL, *x = NULL, *host = calloc(n, sizeof *host);
    double seconds[RUNS_MOST];
    tacit_result result = {.loop = NULL};
    const tacit_stop stop = {.rtol = 0.0, .max_iterations = w->iterations};
    tacit_status status = tacit_solver_create(q, A, method, &s);
    if (status >= 0) status = tacit_solver_set_loop(s, loop);
    if (status >= 0) status = tacit_queue_alloc(q, n, &b);
    if (status >= 0) status = tacit_queue_alloc(q, n, &x);
    for (size_t i = 0; i < n; i++) host[i] = 1.0;
    if (status >= 0) status = tacit_queue_put(q, n, host, b);
    memset(host, 0, n * sizeof *host);
    double moved = 0.0;
    for (int run = -1; run < w->runs && status >= 0; run++) {
        tacit_queue_put(q, n, host, x);
        tacit_queue_clear_tally(q);
        status = tacit_solver_run(s, b, x, &stop, &result);
        if (status == TACIT_BREAKDOWN && result.iterations > 0)
            status = TACIT_OK;
        if (run >= 0) seconds[run] = result.seconds;
        const tacit_tally *t = tacit_queue_tally(q);
        moved = t ? t->moved_bytes : 0.0;
    }
    free(host);
    if (status < 0) {
        printf("%s\t%lld\t%lld\t%s\t%s\t%s\t-\t-\t-\t-\t%s\n", name,
               (long long)info.rows, (long long)info.nonzeros, info.format,
               method, loop, tacit_error_message());
    } else {
        qsort(seconds, (size_t)w->runs, sizeof *seconds, by_value);
        const double t = seconds[w->runs / 2];
        printf("%s\t%lld\t%lld\t%s\t%s\t%s\t%s\t%lld\t%.2f\t%.2f\t%s\n", name,
               (long long)info.rows, (long long)info.nonzeros, info.format,
               method, result.loop, result.loop_detail,
               (long long)result.iterations,
               1e6 * t / (double)result.iterations, 1e-9 * moved / t / copy,
               info.detail);
    }
    fflush(stdout);
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    tacit_solver_destroy(&s);
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
                row(name, w, q, A, w->methods.item[i], w->loops.item[l], copy);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    return 0;
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
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        char *value = argv[at + 1];
        switch (argv[at][1]) {
        case 'd': w.device = value; break;
        case 'f': split(value, &w.formats); break;
        case 'm': split(value, &w.methods); break;
        case 'l': split(value, &w.loops); break;
        case 'n': w.iterations = atoll(value); break;
        case 'r': w.runs = atoi(value); break;
        default: fprintf(stderr, "loops: unknown %s\n", argv[at]); return 1;
        }
    }
    if (at >= argc || w.runs < 1 || w.runs > RUNS_MOST || w.iterations < 1) {
        fprintf(stderr, "usage: loops [-d DEVICE] [-f FORMAT,...] [-m METHOD,"
                        "...] [-l LOOP,...] [-n ITERATIONS] [-r RUNS] "
                        "MATRIX...\n");
        return 1;
    }
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    char spec[64], device[160];
    double copy = 1.0;
    snprintf(spec, sizeof spec, "count:%s", w.device);
    if (tacit_world_self(&world) < 0 ||
        tacit_queue_create(world, spec, 0, &q) < 0)
        return complain(w.device);
    tacit_queue_describe(q, device, sizeof device);
    if (tacit_queue_measure_copy(q, (size_t)1 << 31, &copy) < 0)
        return complain("copy bandwidth");
    printf("# %s, copy %.0f GB/s\n", device, copy);
    printf("matrix\trows\tnonzeros\tformat\tmethod\tloop\tdetail\titerations\t"
           "us_per_iteration\tfraction_of_copy\tstorage\n");
    int bad = 0;
    for (; at < argc; at++) bad |= one_matrix(argv[at], &w, world, q, copy);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return bad;
}
