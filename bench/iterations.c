/* SPDX-License-Identifier: BSD-3-Clause
 * bench/iterations.c - iterations and time to the solution of every method and
 * precision, over those of cg in double precision.
 *
 *     iterations [-d DEVICE] [-f FORMAT] [-p WORD,...] [-m METHOD,...]
 *                [-l LOOP] [-t RTOL] [-n ITERATIONS] [-r RUNS] MATRIX...
 *
 * -p: what stands after '+' in the format, "-" for nothing (double): mixed,
 * mixed48, low32, ... b is 1, x_0 is 0. Matrices on which cg in double does not
 * converge get no more rows. Tab-separated; the last lines name the worst rows
 * of each method and precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

enum { LIST = 16, RUNS_MOST = 32, WORST = 5, NAME = 64 };

typedef struct {
    const char *item[LIST];
    int count;
} list;

typedef struct {
    const char *device, *format, *loop;
    list methods, precisions;
    double rtol;
    int64_t most;
    int runs;
} wishes;

/* The worst rows of a method in a precision. */
typedef struct {
    int count;
    double sum; /* of logarithms */
    double ratio[WORST];
    char name[WORST][NAME];
} ranking;

static ranking its[LIST][LIST], times[LIST][LIST]; /* [precision][method] */

static void rank(ranking *r, double ratio, const char *name)
{
    r->count++;
    r->sum += log(ratio);
    for (int i = 0; i < WORST; i++) {
        if (r->ratio[i] >= ratio) continue;
        for (int k = WORST - 1; k > i; k--) {
            r->ratio[k] = r->ratio[k - 1];
            memcpy(r->name[k], r->name[k - 1], NAME);
        }
        r->ratio[i] = ratio;
        snprintf(r->name[i], NAME, "%s", name);
        return;
    }
}

static void print_ranking(const char *what, const char *precision,
                          const char *method, const ranking *r)
{
    if (r->count == 0) return;
    printf("# %s, %s, %s: mean %.3f of %d;", what, precision, method,
           exp(r->sum / r->count), r->count);
    for (int i = 0; i < WORST && r->ratio[i] > 0.0; i++)
        printf(" %s %.3f", r->name[i], r->ratio[i]);
    putchar('\n');
}

static int complain(const char *what)
{
    fprintf(stderr, "iterations: %s: %s\n", what, tacit_error_message());
    return 1;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    tacit_queue *q;
    tacit_operator *A;
    size_t n;
    double *b, *x, *host;
    int64_t its; /* of cg in double */
    double seconds;
} problem;

/* Solve `runs` times; the median of seconds. */
static tacit_status solve(problem *p, const wishes *w, const char *method,
                          tacit_result *result, double *median)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = w->rtol, .max_iterations = w->most};
    double seconds[RUNS_MOST];
    tacit_solver *s = NULL;
    tacit_status status = tacit_solver_create(p->q, p->A, method, &s);
    if (status >= 0) status = tacit_solver_set_loop(s, w->loop);
    memset(p->host, 0, p->n * sizeof *p->host);
    int run = 0;
    for (; run < w->runs && status == TACIT_OK; run++) {
        tacit_queue_put(p->q, p->n, p->host, p->x);
        status = tacit_solver_run(s, p->b, p->x, &stop, result);
        seconds[run] = result->seconds;
    }
    tacit_solver_destroy(&s);
    if (run == 0) return status;
    qsort(seconds, (size_t)run, sizeof *seconds, by_value);
    *median = seconds[run / 2];
    return status;
}

/* One method in one precision; false if cg in double did not converge. */
static int row(problem *p, const wishes *w, const char *name, int precision,
               int method)
{
    tacit_result r = {.size = sizeof r, .loop = "-"};
    double seconds = 0.0;
    const char *label = w->methods.item[method];
    const char *bits = w->precisions.item[precision];
    const tacit_status status = solve(p, w, label, &r, &seconds);
    if (!p->its && status != TACIT_OK) {
        printf("%s\t%s\t%s\t%s\t%s\n", name, bits, label,
               tacit_status_name(status), tacit_error_message());
        return 0;
    }
    if (!p->its) {
        p->its = r.iterations ? r.iterations : 1;
        p->seconds = seconds;
    }
    const double ratio = (double)r.iterations / (double)p->its;
    const double time = seconds / p->seconds;
    printf(
        "%s\t%s\t%s\t%s\t%lld\t%.3f\t%.3g\t%.3f\t%s\t%d\t%lld\t%lld\t%s\t%lld"
        "\t%.2e\n",
        name, bits, label, tacit_status_name(status), (long long)r.iterations,
        ratio, 1e3 * seconds, time, r.loop, r.bits,
        r.fell_back ? (long long)r.fell_back_at : -1LL,
        (long long)r.reliable_updates, r.rescued_by ? r.rescued_by : "-",
        (long long)r.extra_products, r.true_relative_residual);
    fflush(stdout);
    const double failed = status == TACIT_OK ? 1.0 : 1000.0;
    rank(&its[precision][method], ratio * failed, name);
    rank(&times[precision][method], time * failed, name);
    return 1;
}

static int open_vectors(problem *p)
{
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->host = malloc((p->n + 1) * sizeof *p->host);
    for (size_t i = 0; p->host && i < p->n; i++) p->host[i] = 1.0;
    return p->host && tacit_queue_alloc(p->q, p->n, &p->b) >= 0 &&
           tacit_queue_alloc(p->q, p->n, &p->x) >= 0 &&
           tacit_queue_put(p->q, p->n, p->host, p->b) >= 0;
}

static int one_matrix(const char *path, const wishes *w, tacit_world *world,
                      tacit_queue *q)
{
    tacit_matrix *m = NULL;
    problem p = {.q = q};
    const char *slash = strrchr(path, '/');
    char name[NAME];
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    if (tacit_matrix_open(world, path, NULL, &m) < 0) return complain(path);
    int good = 1;
    for (int k = 0; k < w->precisions.count && good; k++) {
        char format[64];
        const int low = strcmp(w->precisions.item[k], "-") != 0;
        snprintf(format, sizeof format, "%s%s%s", w->format, low ? "+" : "",
                 low ? w->precisions.item[k] : "");
        if (tacit_operator_create(q, m, format, &p.A) < 0) {
            complain(format);
            continue;
        }
        good = p.b != NULL || open_vectors(&p);
        for (int i = 0; i < w->methods.count && good; i++)
            good = row(&p, w, name, k, i);
        tacit_operator_destroy(&p.A);
    }
    tacit_queue_free(q, &p.b);
    tacit_queue_free(q, &p.x);
    free(p.host);
    tacit_matrix_destroy(&m);
    return 0;
}

static void split(char *text, list *out)
{
    out->count = 0;
    for (char *w = strtok(text, ","); w && out->count < LIST;
         w = strtok(NULL, ","))
        out->item[out->count++] = w;
}

static int read_options(int argc, char **argv, wishes *w)
{
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        char *value = argv[at + 1];
        switch (argv[at][1]) {
        case 'd': w->device = value; break;
        case 'f': w->format = value; break;
        case 'l': w->loop = value; break;
        case 'm': split(value, &w->methods); break;
        case 'p': split(value, &w->precisions); break;
        case 't': w->rtol = atof(value); break;
        case 'n': w->most = atoll(value); break;
        case 'r': w->runs = atoi(value); break;
        default: fprintf(stderr, "iterations: unknown %s\n", argv[at]); exit(1);
        }
    }
    return at;
}

int main(int argc, char **argv)
{
    wishes w = {.device = "host",
                .format = "auto",
                .loop = "auto",
                .methods = {{"cg", "single", "pipelined", "pipe-pr"}, 4},
                .precisions = {{"-"}, 1},
                .rtol = 1e-8,
                .most = 100000,
                .runs = 1};
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    int at = read_options(argc, argv, &w), bad = 0;
    if (at >= argc || w.runs < 1 || w.runs > RUNS_MOST) {
        fprintf(stderr, "usage: iterations [-d DEVICE] [-f FORMAT] [-p WORD,"
                        "...] [-m METHOD,...] [-l LOOP] [-t RTOL] [-n "
                        "ITERATIONS] [-r RUNS] MATRIX...\n");
        return 1;
    }
    if (tacit_world_self(&world) < 0 ||
        tacit_queue_create(world, w.device, 0, &q) < 0)
        return complain(w.device);
    printf("matrix\tprecision\tmethod\tstatus\titerations\tover_cg\tms\ttime_"
           "over_cg\tloop\tbits\tfell_back_at\tupdates\trescued_by\textra_"
           "products\ttrue_residual\n");
    for (; at < argc; at++) bad |= one_matrix(argv[at], &w, world, q);
    for (int k = 0; k < w.precisions.count; k++)
        for (int i = 0; i < w.methods.count; i++) {
            print_ranking("iterations", w.precisions.item[k], w.methods.item[i],
                          &its[k][i]);
            print_ranking("time", w.precisions.item[k], w.methods.item[i],
                          &times[k][i]);
        }
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return bad;
}
