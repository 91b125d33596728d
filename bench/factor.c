/* SPDX-License-Identifier: BSD-3-Clause
 * bench/factor.c - processor time and memory of a factor, and of solves with it,
 * beside CHOLMOD's supernodal one in the same order, in builds configured with
 * -DTACIT_CHOLMOD=ON (that module of CHOLMOD is GPL: such a program is to measure
 * with, not to be passed on).
 *
 *     OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 factor [-r RUNS] [-w WIDTH]
 *         [-k llt|ldlt|lu] MATRIX...
 *
 * Each run is a process of its own. Prints tab-separated medians: matrix, whose,
 * rows, entries of L, panels or supernodes, flops of the factorization, seconds of
 * order, symbolic and numeric part, of a solve with 1 and with 64 right-hand sides,
 * bytes of memory beyond the matrix at most, and ||b - A x|| / ||b||. Of CHOLMOD the
 * order is ours, and the kind L L'. For the same BLAS let TACIT_LAPACK be CHOLMOD's
 * liblapack.so.3. */
#include "triangular/factor.h"
#include "matrix/matrix.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tacit/tacit.h>
#include <time.h>
#include <unistd.h>
#if BENCH_CHOLMOD
#include <suitesparse/cholmod.h>
#endif

enum { RUNS_MOST = 32, MANY = 64, WHOSE = 1 + BENCH_CHOLMOD };
enum {
    ORDER,
    SYMBOLIC,
    NUMERIC,
    SOLVE_ONE,
    SOLVE_MANY,
    BYTES,
    RESIDUAL,
    KINDS
};

typedef struct {
    double figure[KINDS];
    double rows, entries, pieces, flops;
    bool done;
} outcome;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident_bytes(void)
{
    long whole = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &whole, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double most_bytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1024.0 * (double)u.ru_maxrss;
}

/* ||b - A x|| / ||b|| */
static double residual_of(const tct_csr *A, const double *b, const double *x)
{
    double up = 0.0, down = 0.0;
    for (int64_t i = 0; i < A->rows; i++) {
        double r = b[i];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            r -= A->val[k] * x[A->col32[k]];
        up += r * r;
        down += b[i] * b[i];
    }
    return sqrt(up / down);
}

static double *random_vectors(int64_t n)
{
    double *b = tct_alloc((size_t)n * MANY * sizeof *b);
    for (int64_t i = 0; b && i < n * MANY; i++)
        b[i] = tct_uniform((uint64_t)i, 1) - 0.5;
    return b;
}

/* --- ours ------------------------------------------------------------------------ */

/* Order and pattern once more, by themselves. */
static tacit_status time_pattern(const tacit_matrix *m, outcome *out)
{
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    tct_nesting x = {.leaves = 0};
    tct_fronts F = {.rows = 0};
    const double start = seconds();
    TRY(tct_nesting_create(&g, 1, &x));
    const double middle = seconds();
    TRY(tct_fronts_create(&g, &x, &F));
    out->figure[ORDER] = middle - start;
    out->figure[SYMBOLIC] = seconds() - middle;
    tct_fronts_clear(&F);
    tct_nesting_clear(&x);
    return TACIT_OK;
}

static tacit_status ours(const tacit_matrix *m, const tacit_factor_options *o,
                         outcome *out)
{
    const size_t n = (size_t)m->A.rows;
    tacit_factor_info info = {.size = sizeof info};
    tacit_factor *F = NULL;
    const double before = resident_bytes(), start = seconds();
    TRY(tacit_factor_create(m, o, &F));
    const double end = seconds();
    out->figure[BYTES] = most_bytes() - before;
    TRY(tacit_factor_describe(F, &info));
    out->rows = (double)info.rows;
    out->entries = (double)info.nonzeros;
    out->pieces = info.panels;
    out->flops = info.flops;
    TRY(time_pattern(m, out));
    out->figure[NUMERIC] =
        end - start - out->figure[ORDER] - out->figure[SYMBOLIC];
    double *b = random_vectors(m->A.rows), *x = random_vectors(m->A.rows);
    for (int c = 1; c <= MANY; c *= MANY) {
        const double from = seconds();
        TRY(tacit_factor_solve(F, c, b, n, x, n));
        out->figure[c == 1 ? SOLVE_ONE : SOLVE_MANY] = seconds() - from;
    }
    out->figure[RESIDUAL] = residual_of(&m->A, b, x);
    TCT_FREE(b, x);
    tacit_factor_destroy(&F);
    return TACIT_OK;
}

/* --- CHOLMOD's ---------------------------------------------------------------------- */

#if BENCH_CHOLMOD
/* The lower triangle of A, by columns. */
static cholmod_sparse *lower_of(const tct_csr *A, cholmod_common *c)
{
    const size_t n = (size_t)A->rows, entries = (size_t)tct_csr_nonzeros(A);
    cholmod_sparse *S =
        cholmod_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, c);
    int *p = S->p, *row = S->i, count = 0;
    double *value = S->x;
    for (int64_t j = 0; j < A->rows; j++) {
        p[j] = count;
        for (int64_t k = A->ptr[j]; k < A->ptr[j + 1]; k++) {
            if (A->col32[k] < j) continue;
            row[count] = A->col32[k];
            value[count++] = A->val[k];
        }
    }
    p[n] = count;
    return S;
}

static void solve_theirs(const tct_csr *A, cholmod_factor *L, cholmod_common *c,
                         outcome *out)
{
    double *b = random_vectors(A->rows);
    for (int k = 1; k <= MANY; k *= MANY) {
        cholmod_dense *B = cholmod_allocate_dense(
            (size_t)A->rows, (size_t)k, (size_t)A->rows, CHOLMOD_REAL, c);
        memcpy(B->x, b, (size_t)(A->rows * k) * sizeof *b);
        const double from = seconds();
        cholmod_dense *X = cholmod_solve(CHOLMOD_A, L, B, c);
        out->figure[k == 1 ? SOLVE_ONE : SOLVE_MANY] = seconds() - from;
        out->figure[RESIDUAL] = residual_of(A, b, X->x);
        cholmod_free_dense(&X, c);
        cholmod_free_dense(&B, c);
    }
    tct_free(b);
}

static tacit_status theirs(const tacit_matrix *m, outcome *out)
{
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    tct_nesting x = {.leaves = 0};
    tct_fronts F = {.rows = 0};
    cholmod_common c;
    TRY(tct_nesting_create(&g, 1, &x));
    TRY(tct_fronts_create(&g, &x, &F));
    tct_fronts_clear(&F);
    cholmod_start(&c);
    c.supernodal = CHOLMOD_SUPERNODAL;
    c.nmethods = 1;
    c.method[0].ordering = CHOLMOD_GIVEN;
    c.postorder = 0;
    cholmod_sparse *S = lower_of(&m->A, &c);
    const double before = resident_bytes(), start = seconds();
    cholmod_factor *L = cholmod_analyze_p(S, x.old, NULL, 0, &c);
    const double middle = seconds();
    cholmod_factorize(S, L, &c);
    out->figure[SYMBOLIC] = middle - start;
    out->figure[NUMERIC] = seconds() - middle;
    out->figure[BYTES] = most_bytes() - before;
    out->rows = (double)m->A.rows;
    out->entries = c.lnz;
    out->pieces = (double)L->nsuper;
    out->flops = c.fl;
    solve_theirs(&m->A, L, &c, out);
    cholmod_free_factor(&L, &c);
    cholmod_free_sparse(&S, &c);
    cholmod_finish(&c);
    tct_nesting_clear(&x);
    return TACIT_OK;
}
#else
static tacit_status theirs(const tacit_matrix *m, outcome *out)
{
    (void)m, (void)out;
    return TACIT_UNSUPPORTED;
}
#endif

/* --- runs --------------------------------------------------------------------------- */

static tacit_status one(const char *name, int whose,
                        const tacit_factor_options *o, outcome *out)
{
    tacit_world *w = NULL;
    tacit_matrix *m = NULL;
    TRY(tacit_world_self(&w));
    TRY(tacit_matrix_open(w, name, NULL, &m));
    TRY(whose ? theirs(m, out) : ours(m, o, out));
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

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(const char *name, int runs, const tacit_factor_options *how)
{
    static const char *const names[] = {"tacit", "cholmod"};
    outcome all[2][RUNS_MOST];
    for (int r = 0; r < runs; r++) /* in turns */
        for (int whose = 0; whose < WHOSE; whose++) {
            all[whose][r] = apart(name, whose, how);
            if (!all[whose][r].done) return 1;
        }
    for (int whose = 0; whose < WHOSE; whose++) {
        const outcome *o = all[whose];
        printf("%s\t%s\t%.0f\t%.0f\t%.0f\t%.4g", name, names[whose], o->rows,
               o->entries, o->pieces, o->flops);
        for (int k = 0; k < KINDS; k++) {
            double sorted[RUNS_MOST];
            for (int r = 0; r < runs; r++) sorted[r] = o[r].figure[k];
            qsort(sorted, (size_t)runs, sizeof *sorted, by_value);
            printf("\t%.4g", sorted[runs / 2]);
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
    int runs = 3, bad = 0, letter;
    tacit_factor_options o = {.size = sizeof o};
    while ((letter = getopt(argc, argv, "r:w:k:")) != -1) {
        if (letter == 'r') runs = atoi(optarg);
        else if (letter == 'w') o.width = atoi(optarg);
        else if (letter == 'k') o.kind = kind_of(optarg);
        else runs = 0;
    }
    if (runs < 1 || runs > RUNS_MOST || optind == argc) {
        fprintf(stderr,
                "factor [-r RUNS] [-w WIDTH] [-k llt|ldlt|lu] MATRIX...\n");
        return 1;
    }
    printf("matrix\twhose\trows\tentries\tpieces\tflops\torder\tsymbolic\tnumer"
           "ic\t"
           "solve 1\tsolve %d\tbytes\tresidual\n",
           MANY);
    for (; optind < argc; optind++) bad |= measure(argv[optind], runs, &o);
    return bad;
}
