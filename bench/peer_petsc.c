/* SPDX-License-Identifier: BSD-3-Clause
 * bench/peer_petsc.c - PETSc's conjugate gradients on a matrix in PETSc's
 * binary format (as `tacit convert` writes it), measured the way Tacit
 * measures itself, for tables that put the two side by side:
 *
 *     mpirun -np 2 peer_petsc -matrix a.petsc -rtol 1e-8 -repeat 5
 *     mpirun -np 2 peer_petsc -matrix a.petsc -iterations 100
 *
 * KSPCG, without a preconditioner unless -pc_type is given, on the matrix type
 * that PETSc takes by default (AIJ), in natural row order, dealt out as PETSc
 * deals. Prints one tab-separated line after a line of headings:
 *   rows, non-zeros, ranks, iterations, time per iteration [us] (median of the
 *   repeats, the slowest rank, after one warm-up), time of one MatMult [us]
 *   (the same way), true residual ||b - A x|| / ||b||, largest peak memory of
 *   a rank and sum over the ranks [MiB], reason of stopping, set-up of solver
 *   and preconditioner [s].
 *
 * Options: -rhs ones|random (b = 1, or b = A x* with x* random), -rtol T,
 * -iterations K (exactly K, no test of convergence), -max_it K, -repeat R. Any
 * option of PETSc may follow, such as -mat_no_inode. */
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_MOST = 100 };

typedef struct {
    char matrix[4096], rhs[16];
    PetscReal rtol;
    PetscInt iterations, max_it, repeat;
} settings;

typedef struct {
    PetscInt iterations;
    PetscReal residual;
    double seconds, product_seconds, setup_seconds;
    KSPConvergedReason reason;
} result;

static PetscErrorCode read_settings(settings *s)
{
    PetscBool given = PETSC_FALSE;
    *s = (settings){.rhs = "ones", .rtol = 1e-8, .max_it = 100000, .repeat = 5};
    PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", s->matrix,
                                    sizeof s->matrix, &given));
    PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER,
               "usage: peer_petsc -matrix FILE [-rtol T] [-iterations K]");
    PetscCall(
        PetscOptionsGetString(NULL, NULL, "-rhs", s->rhs, sizeof s->rhs, NULL));
    PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &s->rtol, NULL));
    PetscCall(
        PetscOptionsGetInt(NULL, NULL, "-iterations", &s->iterations, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-max_it", &s->max_it, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &s->repeat, NULL));
    PetscCheck(s->repeat >= 1 && s->repeat <= REPEAT_MOST, PETSC_COMM_WORLD,
               PETSC_ERR_USER, "-repeat: expected 1 to %d", REPEAT_MOST);
    return 0;
}

static PetscErrorCode load(const char *path, Mat *A)
{
    PetscViewer file;
    PetscCall(
        PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &file));
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatLoad(*A, file));
    PetscCall(PetscViewerDestroy(&file));
    return 0;
}

static PetscErrorCode make_rhs(const settings *s, Mat A, Vec x, Vec b)
{
    if (strcmp(s->rhs, "ones") == 0) {
        PetscCall(VecSet(b, 1.0));
        return 0;
    }
    PetscRandom random;
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    PetscCall(PetscRandomSetInterval(random, -1.0, 1.0));
    PetscCall(VecSetRandom(x, random));
    PetscCall(PetscRandomDestroy(&random));
    PetscCall(VecNormalize(x, NULL));
    PetscCall(MatMult(A, x, b));
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, PetscInt count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

/* Seconds since `start`, of the slowest rank. */
static PetscErrorCode elapsed(double start, double *out)
{
    *out = MPI_Wtime() - start;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_DOUBLE, MPI_MAX,
                               PETSC_COMM_WORLD));
    return 0;
}

static PetscErrorCode set_up(const settings *s, Mat A, KSP *ksp, result *out)
{
    PC pc;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    const double start = MPI_Wtime();
    PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
    PetscCall(KSPSetOperators(*ksp, A, A));
    PetscCall(KSPSetType(*ksp, KSPCG));
    PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPGetPC(*ksp, &pc));
    PetscCall(PCSetType(pc, PCNONE));
    const PetscBool fixed = s->iterations > 0 ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(KSPSetTolerances(*ksp, fixed ? 1e-300 : s->rtol, 1e-300, 1e300,
                               fixed ? s->iterations : s->max_it));
    PetscCall(KSPSetFromOptions(*ksp));
    PetscCall(KSPSetUp(*ksp));
    PetscCall(elapsed(start, &out->setup_seconds));
    return 0;
}

static PetscErrorCode measure_solve(const settings *s, KSP ksp, Vec b, Vec x,
                                    result *out)
{
    double seconds[REPEAT_MOST];
    for (PetscInt r = -1; r < s->repeat; r++) { /* the first is the warm-up */
        double t;
        PetscCall(VecSet(x, 0.0));
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        const double start = MPI_Wtime();
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(elapsed(start, &t));
        if (r >= 0) seconds[r] = t;
    }
    out->seconds = median(seconds, s->repeat);
    PetscCall(KSPGetIterationNumber(ksp, &out->iterations));
    PetscCall(KSPGetConvergedReason(ksp, &out->reason));
    return 0;
}

static PetscErrorCode measure_product(const settings *s, Mat A, Vec x, Vec y,
                                      result *out)
{
    double seconds[REPEAT_MOST], t = 0.0;
    PetscInt times = 1;
    for (PetscInt r = -1; r < s->repeat; r++) {
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        const double start = MPI_Wtime();
        for (PetscInt k = 0; k < times; k++) PetscCall(MatMult(A, x, y));
        PetscCall(elapsed(start, &t));
        if (r < 0) times = 1 + (PetscInt)(0.02 / (t + 1e-9));
        else seconds[r] = t / (double)times;
    }
    out->product_seconds = median(seconds, s->repeat);
    return 0;
}

static PetscErrorCode true_residual(Mat A, Vec b, Vec x, Vec r, result *out)
{
    PetscReal norm_b, norm_r;
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b)); /* r = b - A x */
    PetscCall(VecNorm(r, NORM_2, &norm_r));
    PetscCall(VecNorm(b, NORM_2, &norm_b));
    out->residual = norm_b > 0.0 ? norm_r / norm_b : norm_r;
    return 0;
}

/* The peak of this process's resident memory. */
static double peak_mib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0.0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1) break;
    if (f) fclose(f);
    return kib / 1024.0;
}

static PetscErrorCode print(Mat A, const result *r, double peak)
{
    double largest = peak, sum = peak;
    PetscMPIInt ranks;
    PetscInt rows, cols;
    MatInfo info;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCallMPI(MPI_Allreduce(&peak, &largest, 1, MPI_DOUBLE, MPI_MAX,
                               PETSC_COMM_WORLD));
    PetscCallMPI(
        MPI_Allreduce(&peak, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(MatGetSize(A, &rows, &cols));
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "rows\tnonzeros\tranks\titerations\tus/iteration\t"
                          "us/product\ttrue residual\tMiB largest\tMiB sum\t"
                          "reason\tset-up\n"));
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "%lld\t%.0f\t%d\t%lld\t%.3f\t%.3f\t%.3e\t%.1f\t%.1f\t%s\t%.6f\n",
        (long long)rows, info.nz_used, ranks, (long long)r->iterations,
        1e6 * r->seconds / (double)(r->iterations > 0 ? r->iterations : 1),
        1e6 * r->product_seconds, (double)r->residual, largest, sum,
        KSPConvergedReasons[r->reason], r->setup_seconds));
    return 0;
}

static PetscErrorCode run(void)
{
    settings s;
    Mat A;
    Vec x, b, y;
    KSP ksp;
    result out = {0};
    PetscCall(read_settings(&s));
    PetscCall(load(s.matrix, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(make_rhs(&s, A, x, b));
    PetscCall(set_up(&s, A, &ksp, &out));
    PetscCall(measure_solve(&s, ksp, b, x, &out));
    const double peak = peak_mib(); /* of the solve, not of what follows */
    PetscCall(VecDuplicate(b, &y));
    PetscCall(true_residual(A, b, x, y, &out));
    PetscCall(measure_product(&s, A, b, y, &out));
    PetscCall(print(A, &out, peak));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    return 0;
}

int main(int argc, char **argv)
{
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(run());
    PetscCall(PetscFinalize());
    return 0;
}
