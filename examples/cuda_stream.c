/* SPDX-License-Identifier: BSD-3-Clause
 * examples/cuda_stream.c - beside a program's own work on a GPU: its stream,
 * its memory.
 *
 *     cc cuda_stream.c -o cuda_stream $(pkg-config --cflags --libs tacit) \
 *         -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart -lm
 *
 * The chain of springs of serial_arrays.c. Its arrays go to the device, the
 * solution comes back, and only who reads it on the host waits for the
 * stream. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tacit/cuda.h>
#include <tacit/tacit.h>

enum { N = 1000 };
static int ptr[N + 1], cols[3 * N]; /* as CUDA's libraries have them */
static double vals[3 * N], f[N], u[N];

/* The same on the device. */
typedef struct {
    int *ptr, *cols;
    double *vals, *b, *x;
} arrays;

static void chain(void)
{
    int k = 0;
    for (int i = 0; i < N; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= N) continue;
            cols[k] = j;
            vals[k++] = i == j ? 2.0 : -1.0;
        }
        ptr[i + 1] = k;
        f[i] = 1.0;
    }
}

static cudaError_t put(cudaStream_t stream, const void *from, size_t bytes,
                       void *to)
{
    void *p = NULL;
    const cudaError_t error = cudaMalloc(&p, bytes);
    if (error != cudaSuccess) return error;
    memcpy(to, &p, sizeof p);
    return cudaMemcpyAsync(p, from, bytes, cudaMemcpyHostToDevice, stream);
}

static cudaError_t put_all(cudaStream_t stream, arrays *d)
{
    cudaError_t e = put(stream, ptr, sizeof ptr, &d->ptr);
    if (e == cudaSuccess) e = put(stream, cols, sizeof cols, &d->cols);
    if (e == cudaSuccess) e = put(stream, vals, sizeof vals, &d->vals);
    if (e == cudaSuccess) e = put(stream, f, sizeof f, &d->b);
    if (e == cudaSuccess) e = put(stream, u, sizeof u, &d->x); /* guess: 0 */
    return e;
}

static void free_all(const arrays *d)
{
    cudaFree(d->ptr);
    cudaFree(d->cols);
    cudaFree(d->vals);
    cudaFree(d->b);
    cudaFree(d->x);
}

/* Everything is in the order of the stream. */
static tacit_status solve(cudaStream_t stream, const arrays *d)
{
    const tacit_device_rows rows = {.size = sizeof rows,
                                    .count = N,
                                    .ptr32 = d->ptr,
                                    .cols32 = d->cols,
                                    .vals = d->vals};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
    tacit_result result = {.size = sizeof result};
    tacit_world *world = NULL;
    tacit_queue *q = NULL;
    tacit_matrix *matrix = NULL;
    tacit_operator *A = NULL;
    tacit_solver *cg = NULL;
    tacit_status s = tacit_world_self(&world);
    if (s == TACIT_OK) s = tacit_queue_on_stream(world, "cuda", 0, stream, &q);
    if (s == TACIT_OK) s = tacit_matrix_from_device_rows(q, N, &rows, &matrix);
    if (s == TACIT_OK) s = tacit_operator_create(q, matrix, "auto", &A);
    if (s == TACIT_OK) s = tacit_solver_create(q, A, "cg", &cg);
    if (s == TACIT_OK) s = tacit_solver_set_loop(cg, "auto");
    if (s == TACIT_OK) s = tacit_solver_run(cg, d->b, d->x, &stop, &result);
    if (s == TACIT_OK)
        printf("%lld iterations, loop %s, ||b - A x|| / ||b|| = %.1e\n",
               (long long)result.iterations, result.loop,
               result.true_relative_residual);
    else fprintf(stderr, "%s\n", tacit_error_message());
    tacit_solver_destroy(&cg);
    tacit_operator_destroy(&A);
    tacit_matrix_destroy(&matrix);
    tacit_queue_destroy(&q);
    tacit_world_destroy(&world);
    return s;
}

int main(void)
{
    cudaStream_t stream = NULL;
    arrays d = {0};
    tacit_status s = TACIT_DEVICE;
    chain();
    cudaError_t e = cudaStreamCreate(&stream);
    if (e == cudaSuccess) e = put_all(stream, &d);
    if (e == cudaSuccess) s = solve(stream, &d);
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(u, d.x, sizeof u, cudaMemcpyDeviceToHost, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    if (e != cudaSuccess) fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
    free_all(&d);
    if (stream) cudaStreamDestroy(stream); /* after the queue that was on it */
    if (e != cudaSuccess || s != TACIT_OK) return 1;

    double worst = 0.0;
    for (int i = 0; i < N; i++) {
        const double exact = 0.5 * (i + 1.0) * (N - i);
        worst = fmax(worst, fabs(u[i] / exact - 1.0));
    }
    printf("largest relative error %.1e\n", worst);
    return worst < 1e-6 ? 0 : 1;
}
