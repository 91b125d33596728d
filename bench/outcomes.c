/* SPDX-License-Identifier: BSD-3-Clause
 * bench/outcomes.c - how solves end: every method with every preconditioner at
 * several tolerances, beside cg.
 *
 *     outcomes [-d DEVICE] [-l LOOP] [-m METHOD,...] [-k PRECOND,...]
 *              [-t RTOL,...] [-n ITERATIONS] [-b ones|random] [-p on] MATRIX...
 *
 * -p on: the methods' recurrences alone, for which nothing is promised.
 *
 * The tolerance that rounding allows is eps (|A| |x| + |b|) / |b|, with the
 * largest row sum for |A| and x of a solve by cg. A row breaks the promise
 *
 *     breakdown   where cg converges or ends honestly without, and the method
 *                 ends with a breakdown or an error;
 *     missed      where cg converges within half of the iterations, RTOL is above
 *                 4 times what rounding allows, and the method does not converge;
 *     worse       where b - A x of what is handed out is not what is reported, or
 *                 not finite.
 *
 * Tab-separated rows; the last lines count, and the exit status is 1 where a
 * promise is broken. */
#include "operator/operator.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>

enum { LIST = 16 };

typedef struct {
    char *item[LIST];
    int count;
} list;

typedef struct {
    const char *device, *loop, *rhs, *pure;
    list methods, preconds, tolerances;
    int64_t most;
} wishes;

typedef struct {
    const char *name;
    const wishes *w;
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A, *M;
    size_t n;
    double *b, *x, *t, *host;
} problem;

static struct {
    int rows, converged, not_converged, breakdown, missed, worse, beyond;
} count;

static int complain(const char *what)
{
    fprintf(stderr, "outcomes: %s: %s\n", what, tacit_error_message());
    return 1;
}

static double norm(const problem *p, const double *device)
{
    double sum = 0.0;
    tacit_queue_get(p->q, p->n, device, p->host);
    for (size_t i = 0; i < p->n; i++) sum = hypot(sum, p->host[i]);
    return sum;
}

/* ||b - A x|| / ||b|| of what is in x. */
static double residual(const problem *p)
{
    double *b = malloc((p->n + 1) * sizeof *b), sum = 0.0, all = 0.0;
    tacit_operator_apply(p->A, p->x, p->t);
    tacit_queue_get(p->q, p->n, p->b, b);
    tacit_queue_get(p->q, p->n, p->t, p->host);
    for (size_t i = 0; i < p->n; i++) {
        sum = hypot(sum, b[i] - p->host[i]);
        all = hypot(all, b[i]);
    }
    free(b);
    return sum / all;
}

static tacit_status solve(const problem *p, const char *method, double rtol,
                          tacit_result *result)
{
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = rtol, .max_iterations = p->w->most};
    tacit_solver *s = NULL;
    *result = (tacit_result){.size = sizeof *result};
    memset(p->host, 0, p->n * sizeof *p->host);
    tacit_queue_put(p->q, p->n, p->host, p->x);
    tacit_status status = tacit_solver_create(p->q, p->A, method, &s);
    if (status >= 0) status = tacit_solver_set_loop(s, p->w->loop);
    if (status >= 0) status = tacit_solver_set_precond(s, p->M);
    if (status >= 0 && strcmp(method, "cg") != 0)
        status = tacit_solver_set(s, "pure", p->w->pure);
    if (status >= 0) status = tacit_solver_run(s, p->b, p->x, &stop, result);
    tacit_solver_destroy(&s);
    return status;
}

/* The outcome of cg at a tolerance. */
typedef struct {
    tacit_status status;
    int64_t iterations;
    double allowed;
} reference;

static const char *verdict(const problem *p, const reference *cg,
                           tacit_status status, const tacit_result *r,
                           double rtol, double honest)
{
    const bool told =
        cg->status == TACIT_OK || cg->status == TACIT_NOT_CONVERGED;
    const bool within = cg->status == TACIT_OK &&
                        cg->iterations <= p->w->most / 2 &&
                        rtol > 4.0 * cg->allowed;
    const double reported = r->true_relative_residual;
    const double slack = 0.01 * reported + 4.0 * cg->allowed;
    count.rows++;
    if (status == TACIT_OK) count.converged++;
    if (status == TACIT_NOT_CONVERGED) count.not_converged++;
    if (told && (status < 0 || status == TACIT_BREAKDOWN)) {
        count.breakdown++;
        return "breakdown";
    }
    if (within && status != TACIT_OK) {
        count.missed++;
        return "missed";
    }
    if (!(fabs(honest - reported) <= slack)) {
        count.worse++;
        return "worse";
    }
    if (cg->status == TACIT_OK && status != TACIT_OK) {
        count.beyond++;
        return "beyond";
    }
    return "-";
}

static void row(const problem *p, const char *precond, const char *method,
                double rtol, reference *cg)
{
    tacit_result r;
    const tacit_status status = solve(p, method, rtol, &r);
    const double honest = residual(p);
    if (strcmp(method, "cg") == 0) {
        const double b = norm(p, p->b);
        *cg = (reference){status, r.iterations,
                          0x1p-52 * (p->A->norm * norm(p, p->x) + b) / b};
    }
    printf("%s\t%s\t%s\t%.0e\t%s\t%lld\t%.2e\t%.2e\t%.2e\t%s\t%lld\t%lld\t%s\t"
           "%.4g\t%s\n",
           p->name, precond, method, rtol, tacit_status_name(status),
           (long long)r.iterations, r.true_relative_residual, honest,
           cg->allowed, r.rescued_by ? r.rescued_by : "-",
           (long long)r.rescued_at, (long long)r.restarts,
           verdict(p, cg, status, &r, rtol, honest), 1e3 * r.seconds,
           status == TACIT_OK ? "-" : tacit_error_message());
    fflush(stdout);
}

static void rows(problem *p, const char *precond)
{
    const wishes *w = p->w;
    if (tacit_precond_create_of(p->A, p->m, precond, NULL, &p->M) < 0) {
        printf("%s\t%s\t%s\n", p->name, precond, tacit_error_message());
        return;
    }
    for (int t = 0; t < w->tolerances.count; t++) {
        reference cg = {0};
        const double rtol = atof(w->tolerances.item[t]);
        row(p, precond, "cg", rtol, &cg);
        for (int i = 0; i < w->methods.count; i++)
            if (strcmp(w->methods.item[i], "cg") != 0)
                row(p, precond, w->methods.item[i], rtol, &cg);
    }
    tacit_operator_destroy(&p->M);
}

/* b = 1, or A x for a random x. */
static tacit_status fill(problem *p)
{
    srand(1);
    for (size_t i = 0; i < p->n; i++)
        p->host[i] = strcmp(p->w->rhs, "ones") == 0
                         ? 1.0
                         : 2.0 * rand() / RAND_MAX - 1.0;
    if (strcmp(p->w->rhs, "ones") == 0)
        return tacit_queue_put(p->q, p->n, p->host, p->b);
    const tacit_status status = tacit_queue_put(p->q, p->n, p->host, p->x);
    return status < 0 ? status : tacit_operator_apply(p->A, p->x, p->b);
}

static int open_problem(problem *p, tacit_world *world, const char *path)
{
    if (tacit_matrix_open(world, path, NULL, &p->m) < 0 ||
        tacit_operator_create(p->q, p->m, "auto", &p->A) < 0)
        return 0;
    p->n = (size_t)tacit_operator_local_rows(p->A);
    p->host = malloc((p->n + 1) * sizeof *p->host);
    return p->host && tacit_queue_alloc(p->q, p->n, &p->b) >= 0 &&
           tacit_queue_alloc(p->q, p->n, &p->x) >= 0 &&
           tacit_queue_alloc(p->q, p->n, &p->t) >= 0 && fill(p) >= 0;
}

static int one_matrix(const char *path, const wishes *w, tacit_world *world,
                      tacit_queue *q)
{
    const char *slash = strrchr(path, '/');
    problem p = {.name = slash ? slash + 1 : path, .w = w, .q = q};
    const int good = open_problem(&p, world, path);
    if (!good) complain(path);
    for (int k = 0; good && k < w->preconds.count; k++)
        rows(&p, w->preconds.item[k]);
    tacit_queue_free(q, &p.b);
    tacit_queue_free(q, &p.x);
    tacit_queue_free(q, &p.t);
    free(p.host);
    tacit_operator_destroy(&p.A);
    tacit_matrix_destroy(&p.m);
    return !good;
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
        case 'l': w->loop = value; break;
        case 'b': w->rhs = value; break;
        case 'p': w->pure = value; break;
        case 'm': split(value, &w->methods); break;
        case 'k': split(value, &w->preconds); break;
        case 't': split(value, &w->tolerances); break;
        case 'n': w->most = atoll(value); break;
        default: fprintf(stderr, "outcomes: unknown %s\n", argv[at]); exit(1);
        }
    }
    return at;
}

int main(int argc, char **argv)
{
    wishes w = {
        .device = "host",
        .loop = "host",
        .rhs = "ones",
        .pure = "off",
        .methods = {{"single", "pipelined", "pipe-pr", "flexible", "sstep"}, 5},
        .preconds = {{"none", "jacobi", "ic0", "amg", "direct"}, 5},
        .tolerances = {{"1e-6", "1e-8", "1e-10", "1e-12"}, 4},
        .most = 10000};
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    int at = read_options(argc, argv, &w), bad = 0;
    if (at >= argc) {
        fprintf(stderr,
                "usage: outcomes [-d DEVICE] [-l LOOP] [-m METHOD,...] [-k "
                "PRECOND,...] [-t RTOL,...] [-n ITERATIONS] [-b ones|random] "
                "[-p on] MATRIX...\n");
        return 1;
    }
    if (tacit_world_self(&world) < 0 ||
        tacit_queue_create(world, w.device, 0, &q) < 0)
        return complain(w.device);
    printf("matrix\tprecond\tmethod\trtol\tstatus\titerations\tresidual\t"
           "of_x\tallowed\trescued_by\tat\trestarts\tverdict\tms\tmessage\n");
    for (; at < argc; at++) bad |= one_matrix(argv[at], &w, world, q);
    printf("# %d solves: %d converged, %d not; broken promises: %d breakdowns, "
           "%d missed, %d worse; %d more that cg converges on, below what "
           "rounding allows or late\n",
           count.rows, count.converged, count.not_converged, count.breakdown,
           count.missed, count.worse, count.beyond);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return bad || count.breakdown || count.missed || count.worse;
}
