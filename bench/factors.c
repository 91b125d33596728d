/* SPDX-License-Identifier: BSD-3-Clause
 * bench/factors.c - processor time and memory of a factor, and of solves with
 * it, beside SuperLU_DIST's where that is, and CHOLMOD's supernodal one, in the
 * same order, in builds configured with -DTACIT_CHOLMOD=ON (that module of
 * CHOLMOD is GPL: such a program is to measure with, not to be passed on).
 *
 *     OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 factors [-r RUNS] [-w WIDTH]
 *         [-k llt|ldlt|lu] MATRIX...
 *
 * Each run is a process of its own, in turns. Prints tab-separated medians:
 * matrix, whose, rows, entries of L (SuperLU_DIST: values of L and U with their
 * indices, in doubles), panels or supernodes, flops of the factorization;
 * seconds of order, symbolic and numeric part (SuperLU_DIST: all in one, with a
 * solve), of a solve with 1 and with 50 right-hand sides, the median of 5;
 * bytes of memory beyond the matrix, at most and afterwards, and ||b - A x|| /
 * ||b||. Of CHOLMOD and SuperLU_DIST the order is ours; superlu_dist+inv has
 * DiagInv. For the same BLAS let TACIT_LAPACK be their liblapack.so.3. */
#include "factor_measure.h"
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MOST = 32 };

/* --- ours ----------------------------------------------------------------- */

/* Order and pattern once more, by themselves. */
static tacit_status time_pattern(const tacit_matrix *m, outcome *out)
{
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    tct_nesting x = {.leaves = 0};
    tct_fronts F = {.rows = 0};
    const double start = cpu_seconds();
    TRY(tct_nesting_create(&g, 1, &x));
    const double middle = cpu_seconds();
    TRY(tct_fronts_create(&g, &x, &F));
    out->figure[ORDER] = middle - start;
    out->figure[SYMBOLIC] = cpu_seconds() - middle;
    tct_fronts_clear(&F);
    tct_nesting_clear(&x);
    return TACIT_OK;
}

static tacit_status time_solves(const tct_csr *A, const tacit_factor *F,
                                int columns, outcome *out)
{
    const size_t n = (size_t)A->rows;
    double *b = random_vectors(A->rows), *x = random_vectors(A->rows);
    double taken[SOLVES];
    for (int k = 0; k < SOLVES; k++) {
        const double from = cpu_seconds();
        TRY(tacit_factor_solve(F, columns, b, n, x, n));
        taken[k] = cpu_seconds() - from;
    }
    out->figure[columns == 1 ? SOLVE_ONE : SOLVE_MANY] =
        median_of(SOLVES, taken);
    out->figure[RESIDUAL] = residual_of(A, b, x);
    TCT_FREE(b, x);
    return TACIT_OK;
}

static tacit_status ours(const tacit_matrix *m, const tacit_factor_options *o,
                         outcome *out)
{
    tacit_factor_info info = {.size = sizeof info};
    tacit_factor *F = NULL;
    const double before = resident_bytes(), start = cpu_seconds();
    TRY(tacit_factor_create(m, o, &F));
    const double end = cpu_seconds();
    out->figure[PEAK] = most_bytes() - before;
    out->figure[KEPT] = resident_bytes() - before;
    TRY(tacit_factor_describe(F, &info));
    out->rows = (double)info.rows;
    out->entries = (double)info.nonzeros;
    out->pieces = info.panels;
    out->flops = info.flops;
    TRY(time_solves(&m->A, F, 1, out));
    TRY(time_solves(&m->A, F, MANY, out));
    tacit_factor_destroy(&F);
    TRY(time_pattern(m, out));
    out->figure[NUMERIC] =
        end - start - out->figure[ORDER] - out->figure[SYMBOLIC];
    return TACIT_OK;
}

/* --- runs ----------------------------------------------------------------- */

static const struct {
    const char *name;
    bool there;
} all_of_them[] = {{"tacit", true},
                   {"cholmod", BENCH_CHOLMOD},
                   {"superlu_dist", BENCH_SUPERLU_DIST},
                   {"superlu_dist+inv", BENCH_SUPERLU_DIST}};
enum { WHOSE = sizeof all_of_them / sizeof *all_of_them };

static tacit_status ask(const tacit_matrix *m, int whose,
                        const tacit_factor_options *o, outcome *out)
{
#if BENCH_CHOLMOD
    if (whose == 1) return measure_cholmod(m, out);
#endif
#if BENCH_SUPERLU_DIST
    if (whose > 1) return measure_superlu_dist(m, whose == 3, out);
#endif
    (void)whose;
    return ours(m, o, out);
}

static tacit_status one(const char *name, int whose,
                        const tacit_factor_options *o, outcome *out)
{
    tacit_world *w = NULL;
    tacit_matrix *m = NULL;
    TRY(tacit_world_self(&w));
    TRY(tacit_matrix_open(w, name, NULL, &m));
    TRY(ask(m, whose, o, out));
    out->done = true;
    return TACIT_OK;
}

/* The same in a process of its own. */
static outcome apart(const char *name, int whose, const tacit_factor_options *o)
{
    outcome out = {.done = false};
    int ends[2];
    if (pipe(ends) != 0) return out;
    const pid_t child = fork();
    if (child == 0) {
        if (one(name, whose, o, &out) < 0)
            fprintf(stderr, "factor: %s: %s\n", name, tacit_error_message());
        _exit(write(ends[1], &out, sizeof out) != (ssize_t)sizeof out);
    }
    close(ends[1]);
    if (read(ends[0], &out, sizeof out) != (ssize_t)sizeof out)
        out.done = false;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return out;
}

static int measure(const char *name, int runs, const tacit_factor_options *how)
{
    outcome all[WHOSE][RUNS_MOST];
    for (int r = 0; r < runs; r++)
        for (int whose = 0; whose < WHOSE; whose++) {
            if (!all_of_them[whose].there) continue;
            all[whose][r] = apart(name, whose, how);
            if (!all[whose][r].done) return 1;
        }
    for (int whose = 0; whose < WHOSE; whose++) {
        if (!all_of_them[whose].there) continue;
        const outcome *o = all[whose];
        printf("%s\t%s\t%.0f\t%.0f\t%.0f\t%.4g", name, all_of_them[whose].name,
               o->rows, o->entries, o->pieces, o->flops);
        for (int k = 0; k < KINDS; k++) {
            double values[RUNS_MOST];
            for (int r = 0; r < runs; r++) values[r] = o[r].figure[k];
            printf("\t%.4g", median_of(runs, values));
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

/* LLT, unless it is another. */
static tacit_factor_kind kind_of(const char *name)
{
    return strcmp(name, "ldlt") == 0 ? TACIT_FACTOR_LDLT
           : strcmp(name, "lu") == 0 ? TACIT_FACTOR_LU
                                     : TACIT_FACTOR_LLT;
}

int main(int argc, char **argv)
{
    int runs = 3, bad = 0, message;
    tacit_factor_options o = {.size = sizeof o};
    while ((message = getopt(argc, argv, "r:w:k:")) != -1) {
        if (message == 'r') runs = atoi(optarg);
        else if (message == 'w') o.width = atoi(optarg);
        else if (message == 'k') o.kind = kind_of(optarg);
        else runs = 0;
    }
    if (runs < 1 || runs > RUNS_MOST || optind == argc) {
        fprintf(stderr,
                "factor [-r RUNS] [-w WIDTH] [-k llt|ldlt|lu] MATRIX...\n");
        return 1;
    }
    printf("matrix\twhose\trows\tentries\tpieces\tflops\torder\tsymbolic\tnumer"
           "ic\t"
           "solve 1\tsolve %d\tbytes\tkept\tresidual\n",
           MANY);
    for (; optind < argc; optind++) bad |= measure(argv[optind], runs, &o);
    return bad;
}
