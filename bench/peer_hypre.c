/* SPDX-License-Identifier: BSD-3-Clause
 * bench/peer_hypre.c - hypre's conjugate gradients with BoomerAMG, on the CPU
 * or a GPU, as hypre was built:
 *
 *     peer_hypre [-r RTOL] [-n RUNS] [-f FUNCTIONS] [-s THRESHOLD]
 *                [-w WEIGHT] [-vm] MATRIX...
 *
 * CMake builds it with -DTACIT_HYPRE_HOME=PREFIX, where hypre is installed
 * (Debian's libhypre-dev: /usr). For CUDA it needs hypre 3. Matrices have
 * Tacit's names, and b = A x* is that of `tacit solve`; x = 0.
 *
 * BoomerAMG: PMIS, at most 4 entries a row of interpolation, one sweep, the
 * transposes kept; extended+i and extended+e, both with l1-Jacobi and with
 * Jacobi of WEIGHT (0.85). FUNCTIONS: unknowns of a node (the size of the rows'
 * dense blocks). THRESHOLD: of strong couplings (0.25). RTOL (1e-6) is of the
 * residual's Euclidean norm. On a GPU hypre multiplies sparse matrices itself,
 * as its manual advises; with -v cuSPARSE does. Device memory comes from CUDA's
 * pool; with -m hypre allocates it as it was built to (cudaMalloc, Umpire).
 *
 * The rows are on the device before the clock runs. *assemble* makes hypre's
 * matrix of them, *set-up* BoomerAMG and the solver. Prints tab-separated,
 * after a line of headings: matrix, rows, entries, options, iterations, ms of
 * assembly, set-up, solve (medians of RUNS, 3, after a warm-up) and of all
 * three, true residual, and `best` where set-up and solve take the least. */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#include <unistd.h>
#ifdef HYPRE_USING_CUDA
#include <cuda_runtime_api.h>
#endif

enum { RUNS_MOST = 100, CHOICES = 4 };
enum { COUNTS, ROWS, COLS, VALS, VECTOR, ARRAYS };

#define STOP(text)                                                    \
    do {                                                              \
        fprintf(stderr, "peer_hypre: line %d: %s\n", __LINE__, text); \
        exit(1);                                                      \
    } while (0)
#define OK(call)                                     \
    do {                                             \
        if ((call) < 0) STOP(tacit_error_message()); \
    } while (0)
#define HYPRE(call)                   \
    do {                              \
        if ((call) != 0) STOP(#call); \
    } while (0)

typedef struct {
    double rtol, threshold, weight;
    int runs, functions, vendor, as_built;
} wishes;

/* A matrix and b on the host, and as hypre has them. */
typedef struct {
    const char *name;
    tacit_matrix *matrix;
    tacit_queue *queue;
    tacit_operator *host;
    size_t n;
    double *v[3]; /* x, b, A x */
    HYPRE_Int functions;
    void *device[ARRAYS]; /* what hypre's are made of */
    HYPRE_IJMatrix ijA;
    HYPRE_IJVector ijb, ijx;
    void *A, *b, *x;
    double assemble;
} problem;

typedef struct {
    const char *name;
    HYPRE_Int interpolation, relaxation; /* 7: Jacobi */
} choice;

typedef struct {
    HYPRE_Int iterations;
    double set_up, solve, residual;
    bool solved;
} outcome;

static const choice choices[CHOICES] = {{"ext+i, l1-jacobi", 6, 18},
                                        {"ext+e, l1-jacobi", 18, 18},
                                        {"ext+i, jacobi", 6, 7},
                                        {"ext+e, jacobi", 18, 7}};

/* --- the device ----------------------------------------------------------- */

#ifdef HYPRE_USING_CUDA
static void cuda(cudaError_t e)
{
    if (e != cudaSuccess) STOP(cudaGetErrorString(e));
}
#define ALLOC(bytes, p) cuda(cudaMalloc(p, bytes))
#define COPY(to, from, bytes) \
    cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault))
#define FREE(p) cuda(cudaFree(p))
#define WAIT()  cuda(cudaDeviceSynchronize())

/* Only hypre's internal header declares them. */
HYPRE_Int hypre_SetUserDeviceMalloc(void (*take)(void **, size_t));
HYPRE_Int hypre_SetUserDeviceMfree(void (*give)(void *));

static void take(void **p, size_t bytes)
{
    cuda(cudaMallocAsync(p, bytes, NULL));
}

static void give(void *p)
{
    cuda(cudaFreeAsync(p, NULL));
}

/* Device memory from CUDA's pool, which keeps what was freed. */
static void open_pool(void)
{
    cudaMemPool_t pool;
    uint64_t most = UINT64_MAX;
    int device = 0;
    cuda(cudaGetDevice(&device));
    cuda(cudaDeviceGetDefaultMemPool(&pool, device));
    cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most));
    HYPRE(hypre_SetUserDeviceMalloc(take));
    HYPRE(hypre_SetUserDeviceMfree(give));
}
#else
#define ALLOC(bytes, p)       (void)(*(p) = malloc(bytes))
#define COPY(to, from, bytes) memcpy(to, from, bytes)
#define FREE(p)               free(p)
#define WAIT()                ((void)0)
#endif

static void *to_device(const void *from, size_t bytes)
{
    void *p = NULL;
    ALLOC(bytes + 16, &p);
    if (!p) STOP("out of memory");
    COPY(p, from, bytes);
    return p;
}

static double now(void)
{
    WAIT();
    return MPI_Wtime();
}

static void open_hypre(const wishes *w)
{
    HYPRE(HYPRE_Init());
#ifdef HYPRE_USING_CUDA
    if (!w->as_built) open_pool();
    HYPRE(HYPRE_DeviceInitialize());
#endif
    HYPRE(HYPRE_SetMemoryLocation(HYPRE_MEMORY_DEVICE));
    HYPRE(HYPRE_SetExecutionPolicy(HYPRE_EXEC_DEVICE));
    HYPRE(HYPRE_SetSpGemmUseVendor(w->vendor));
    HYPRE(HYPRE_SetUseGpuRand(1));
}

/* --- matrix and vectors --------------------------------------------------- */

/* The rows in hypre's integers, on the device. */
static void copy_rows(problem *p)
{
    tacit_rows rows;
    OK(tacit_matrix_view_rows(p->matrix, &rows));
    const size_t n = p->n, entries = (size_t)rows.ptr[n];
    if (sizeof(HYPRE_Int) < 8 && entries > INT32_MAX)
        STOP("more entries than this hypre's integers count");
    HYPRE_Int *counts = malloc((n + 1) * sizeof *counts);
    HYPRE_BigInt *index = malloc((entries + n) * sizeof *index);
    if (!counts || !index) STOP("out of memory");
    for (size_t i = 0; i < n; i++) {
        counts[i] = (HYPRE_Int)(rows.ptr[i + 1] - rows.ptr[i]);
        index[i] = (HYPRE_BigInt)i;
    }
    p->device[COUNTS] = to_device(counts, n * sizeof *counts);
    p->device[ROWS] = to_device(index, n * sizeof *index);
    for (size_t k = 0; k < entries; k++)
        index[k] =
            (HYPRE_BigInt)(rows.cols32 ? rows.cols32[k] : rows.cols64[k]);
    p->device[COLS] = to_device(index, entries * sizeof *index);
    p->device[VALS] = to_device(rows.vals, entries * sizeof *rows.vals);
    p->device[VECTOR] = to_device(p->v[1], n * sizeof *p->v[1]);
    free(counts);
    free(index);
}

static void assemble(problem *p)
{
    const HYPRE_BigInt n = (HYPRE_BigInt)p->n;
    HYPRE(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, 0, n - 1, 0, n - 1, &p->ijA));
    HYPRE(HYPRE_IJMatrixSetObjectType(p->ijA, HYPRE_PARCSR));
#ifndef HYPRE_USING_CUDA /* a GPU takes all rows of one call as they are */
    HYPRE(HYPRE_IJMatrixSetRowSizes(p->ijA, p->device[COUNTS]));
#endif
    HYPRE(HYPRE_IJMatrixInitialize(p->ijA));
    HYPRE(HYPRE_IJMatrixSetValues(p->ijA, (HYPRE_Int)n, p->device[COUNTS],
                                  p->device[ROWS], p->device[COLS],
                                  p->device[VALS]));
    HYPRE(HYPRE_IJMatrixAssemble(p->ijA));
}

static void *make_vector(const problem *p, HYPRE_IJVector *ij)
{
    const HYPRE_Int n = (HYPRE_Int)p->n;
    void *out = NULL;
    HYPRE(HYPRE_IJVectorCreate(MPI_COMM_WORLD, 0, n - 1, ij));
    HYPRE(HYPRE_IJVectorSetObjectType(*ij, HYPRE_PARCSR));
    HYPRE(HYPRE_IJVectorInitialize(*ij));
    HYPRE(HYPRE_IJVectorSetValues(*ij, n, p->device[ROWS], p->device[VECTOR]));
    HYPRE(HYPRE_IJVectorAssemble(*ij));
    HYPRE(HYPRE_IJVectorGetObject(*ij, &out));
    return out;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of all but the first, which is the warm-up. */
static double median(double *took, int runs)
{
    qsort(took + 1, (size_t)runs, sizeof *took, by_value);
    return 0.5 * (took[1 + runs / 2] + took[1 + (runs - 1) / 2]);
}

static problem open_problem(tacit_world *world, const char *name,
                            const wishes *w)
{
    problem it = {.name = name}, *p = &it;
    tacit_matrix_info info = {.size = sizeof info};
    double took[RUNS_MOST + 1];
    OK(tacit_matrix_open(world, name, NULL, &p->matrix));
    OK(tacit_matrix_describe(p->matrix, &info));
    p->functions = w->functions > 0 ? w->functions : info.block;
    OK(tacit_queue_create(world, "host", 0, &p->queue));
    OK(tacit_operator_create(p->queue, p->matrix, "csr@none", &p->host));
    p->n = (size_t)info.rows;
    for (int i = 0; i < 3; i++) OK(tacit_queue_alloc(p->queue, p->n, &p->v[i]));
    OK(tacit_operator_manufacture(p->host, p->matrix, 0, p->v[0], p->v[1]));
    copy_rows(p);
    for (int k = 0; k <= w->runs; k++) {
        if (k > 0) HYPRE(HYPRE_IJMatrixDestroy(p->ijA));
        const double start = now();
        assemble(p);
        took[k] = now() - start;
    }
    p->assemble = median(took, w->runs);
    HYPRE(HYPRE_IJMatrixGetObject(p->ijA, &p->A));
    p->b = make_vector(p, &p->ijb);
    p->x = make_vector(p, &p->ijx);
    return it;
}

static void close_problem(problem *p)
{
    HYPRE(HYPRE_IJVectorDestroy(p->ijb));
    HYPRE(HYPRE_IJVectorDestroy(p->ijx));
    HYPRE(HYPRE_IJMatrixDestroy(p->ijA));
    for (int i = 0; i < ARRAYS; i++) FREE(p->device[i]);
    for (int i = 0; i < 3; i++) tacit_queue_free(p->queue, &p->v[i]);
    tacit_operator_destroy(&p->host);
    tacit_queue_destroy(&p->queue);
    tacit_matrix_destroy(&p->matrix);
}

/* --- the solver ----------------------------------------------------------- */

static HYPRE_Solver boomeramg(const wishes *w, const problem *p,
                              const choice *c)
{
    HYPRE_Solver M = NULL;
    HYPRE(HYPRE_BoomerAMGCreate(&M));
    HYPRE(HYPRE_BoomerAMGSetTol(M, 0.0));
    HYPRE(HYPRE_BoomerAMGSetMaxIter(M, 1));
    HYPRE(HYPRE_BoomerAMGSetNumFunctions(M, p->functions));
    HYPRE(HYPRE_BoomerAMGSetStrongThreshold(M, w->threshold));
    HYPRE(HYPRE_BoomerAMGSetCoarsenType(M, 8));
    HYPRE(HYPRE_BoomerAMGSetInterpType(M, c->interpolation));
    HYPRE(HYPRE_BoomerAMGSetPMaxElmts(M, 4));
    HYPRE(HYPRE_BoomerAMGSetRelaxType(M, c->relaxation));
    if (c->relaxation == 7) HYPRE(HYPRE_BoomerAMGSetRelaxWt(M, w->weight));
    HYPRE(HYPRE_BoomerAMGSetRelaxOrder(M, 0));
    HYPRE(HYPRE_BoomerAMGSetNumSweeps(M, 1));
    HYPRE(HYPRE_BoomerAMGSetKeepTranspose(M, 1));
    return M;
}

/* Seconds go to the two numbers; returns iterations. */
static HYPRE_Int run(const wishes *w, const problem *p, const choice *c,
                     double *set_up, double *solve)
{
    HYPRE_Solver S = NULL;
    HYPRE_Int iterations = 0;
    HYPRE(HYPRE_ParVectorSetConstantValues(p->x, 0.0));
    const double start = now();
    HYPRE_Solver M = boomeramg(w, p, c);
    HYPRE(HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &S));
    HYPRE(HYPRE_PCGSetTol(S, w->rtol));
    HYPRE(HYPRE_PCGSetTwoNorm(S, 1));
    HYPRE(HYPRE_PCGSetMaxIter(S, 1000));
    HYPRE(HYPRE_ParCSRPCGSetPrecond(S, HYPRE_BoomerAMGSolve,
                                    HYPRE_BoomerAMGSetup, M));
    HYPRE(HYPRE_ParCSRPCGSetup(S, p->A, p->b, p->x));
    const double ready = now();
    (void)HYPRE_ParCSRPCGSolve(S, p->A, p->b, p->x); /* the residual tells */
    const double end = now();
    HYPRE(HYPRE_ClearAllErrors());
    HYPRE(HYPRE_PCGGetNumIterations(S, &iterations));
    HYPRE(HYPRE_ParCSRPCGDestroy(S));
    HYPRE(HYPRE_BoomerAMGDestroy(M));
    *set_up = ready - start;
    *solve = end - ready;
    return iterations;
}

static double true_residual(const problem *p)
{
    double rr = 0.0, bb = 0.0;
    HYPRE(HYPRE_IJVectorGetValues(p->ijx, (HYPRE_Int)p->n, p->device[ROWS],
                                  p->device[VECTOR]));
    WAIT();
    COPY(p->v[0], p->device[VECTOR], p->n * sizeof *p->v[0]);
    OK(tacit_operator_apply(p->host, p->v[0], p->v[2]));
    OK(tacit_queue_distance(p->queue, p->n, p->v[1], p->v[2], &rr));
    OK(tacit_queue_distance(p->queue, p->n, p->v[1], NULL, &bb));
    return rr / bb;
}

static outcome measure(const wishes *w, const problem *p, const choice *c)
{
    outcome o = {.iterations = 0};
    double set_up[RUNS_MOST + 1], solve[RUNS_MOST + 1];
    for (int k = 0; k <= w->runs; k++)
        o.iterations = run(w, p, c, set_up + k, solve + k);
    o.set_up = median(set_up, w->runs);
    o.solve = median(solve, w->runs);
    o.residual = true_residual(p);
    o.solved = o.residual <= 2.0 * w->rtol; /* rounding may part the two */
    return o;
}

static void measure_all(const wishes *w, const problem *p)
{
    outcome o[CHOICES];
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < CHOICES; i++) {
        o[i] = measure(w, p, choices + i);
        if (!o[i].solved || o[i].set_up + o[i].solve >= least) continue;
        least = o[i].set_up + o[i].solve;
        best = i;
    }
    for (int i = 0; i < CHOICES; i++) {
        const char *mark = o[i].solved ? "" : "not solved";
        printf("%s\t%zu\t%lld\t%s, %d a node\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t"
               "%.1e\t%s\n",
               p->name, p->n, (long long)tacit_matrix_nonzeros(p->matrix),
               choices[i].name, (int)p->functions, (int)o[i].iterations,
               1e3 * p->assemble, 1e3 * o[i].set_up, 1e3 * o[i].solve,
               1e3 * (p->assemble + o[i].set_up + o[i].solve), o[i].residual,
               i == best ? "best" : mark);
    }
    fflush(stdout);
}

/* False if they cannot be understood. */
static bool read_wishes(int argc, char **argv, wishes *w)
{
    int key;
    while ((key = getopt(argc, argv, "r:n:f:s:w:vm")) != -1) {
        if (key == 'r') w->rtol = atof(optarg);
        else if (key == 'n') w->runs = atoi(optarg);
        else if (key == 'f') w->functions = atoi(optarg);
        else if (key == 's') w->threshold = atof(optarg);
        else if (key == 'w') w->weight = atof(optarg);
        else if (key == 'v') w->vendor = 1;
        else if (key == 'm') w->as_built = 1;
        else return false;
    }
    return w->runs >= 1 && w->runs <= RUNS_MOST && optind < argc;
}

int main(int argc, char **argv)
{
    wishes w = {.rtol = 1e-6, .threshold = 0.25, .weight = 0.85, .runs = 3};
    tacit_world *world = NULL;
    int ranks = 1;
    if (!read_wishes(argc, argv, &w)) {
        fprintf(stderr, "peer_hypre [-r RTOL] [-n RUNS] [-f FUNCTIONS] "
                        "[-s THRESHOLD] [-w WEIGHT] [-vm] MATRIX...\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1) STOP("one process only");
    open_hypre(&w);
    OK(tacit_world_self(&world));
    printf("matrix\trows\tentries\toptions\titerations\tassemble\tset-up\t"
           "solve\twhole\tresidual\tmark\n");
    for (; optind < argc; optind++) {
        problem p = open_problem(world, argv[optind], &w);
        measure_all(&w, &p);
        close_problem(&p);
    }
    tacit_world_destroy(&world);
    HYPRE(HYPRE_Finalize());
    MPI_Finalize();
    return 0;
}
