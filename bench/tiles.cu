/* SPDX-License-Identifier: BSD-3-Clause
 * bench/tiles.cu - time of a step of tiles on one GPU, by their parameters,
 * which the library has fixed. Stands alone: it has the library's kernels, and
 * nothing else of it. -DBENCH_DOUBLE: doubles instead of floats.
 *
 *     tiles [SECONDS [GRID...]]
 *
 * GRID is 8192x8192 (star2d1r) or 256x256x256 (star3d1r). Each kind of tile is
 * first compared with single steps, to the last bit; a difference ends the
 * program with status 1. SECONDS is the time of a round, and the median of five
 * counts. Tab-separated: grid, type, tiles, depth, registers, bytes of spills,
 * microseconds of a step, GCell/s. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef BENCH_DOUBLE
#define TCT_REAL           double
#define TCT_ADD(a, b)      __dadd_rn((a), (b))
#define TCT_MUL(a, b)      __dmul_rn((a), (b))
#define TCT_FMA(a, b, sum) __fma_rn((a), (b), (sum))
#else
#define TCT_REAL           float
#define TCT_ADD(a, b)      __fadd_rn((a), (b))
#define TCT_MUL(a, b)      __fmul_rn((a), (b))
#define TCT_FMA(a, b, sum) __fmaf_rn((a), (b), (sum))
#endif
#include "operator/stencil/gpu/tiles.cuh"
#include "operator/stencil/gpu/tiles3.cuh"

enum { ROUNDS = 5, LINE = 128 / sizeof(TCT_REAL), THREADS = 256 };

static void ok(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "tiles: %s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

/* --- a grid --------------------------------------------------------------- */

typedef struct buffers {
    TCT_REAL *memory[3];
    int64_t cells; /* of a buffer */
    tct_tile_grid g;
    bool flat;
} buffers;

static __global__ void fill_kernel(TCT_REAL *cells, int64_t count,
                                   tct_tile_grid g)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const int64_t x = i % g.pitch - LINE;
    uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
    cells[i] = x >= 0 && x < g.n[0]
                   ? (TCT_REAL)((double)(h >> 11) * 0x1p-52 - 1.0)
                   : g.boundary;
}

static __device__ TCT_REAL cell_at(const tct_tile_grid &g, int x, int y, int z)
{
    const bool in = stored(g, 0, x) && stored(g, 1, y) && stored(g, 2, z);
    return in ? g.in[z * g.plane + y * g.pitch + x] : g.boundary;
}

/* A step, as the host makes it. */
static __global__ void step_kernel(tct_tile_grid g, bool flat)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int x = (int)(i % g.n[0]), y = (int)(i / g.n[0] % g.n[1]);
    const int z = (int)(i / g.n[0] / g.n[1]);
    if (z >= g.n[2]) return;
    const TCT_REAL row =
        TCT_ADD(cell_at(g, x - 1, y, z), cell_at(g, x + 1, y, z));
    const TCT_REAL far =
        TCT_ADD(cell_at(g, x, y, z - 1), cell_at(g, x, y, z + 1));
    const TCT_REAL near =
        TCT_ADD(cell_at(g, x, y - 1, z), cell_at(g, x, y + 1, z));
    const TCT_REAL sum =
        flat ? TCT_ADD(far, row) : TCT_ADD(far, TCT_ADD(near, row));
    g.out[z * g.plane + y * g.pitch + x] = TCT_MUL(g.neighbours, sum);
}

static __global__ void differ_kernel(const TCT_REAL *a, const TCT_REAL *b,
                                     int64_t count, tct_tile_grid g,
                                     unsigned long long *differences)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const int64_t x = i % g.pitch - LINE;
    if (x >= 0 && x < g.n[0] && a[i] != b[i]) atomicAdd(differences, 1ull);
}

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count - 1) / THREADS + 1);
}

static void look_at(buffers *b, int in, int out)
{
    b->g.in = b->memory[in] + LINE;
    b->g.out = b->memory[out] + LINE;
}

static void make(buffers *b, const int n[3])
{
    tct_tile_grid g = {};
    for (int d = 0; d < 3; d++) g.n[d] = g.high[d] = n[d];
    b->flat = n[1] == 1;
    g.pitch = LINE + ((int64_t)n[0] + 1 + LINE - 1) / LINE * LINE;
    g.plane = g.pitch * n[1];
    g.boundary = (TCT_REAL)0.375;
    g.neighbours = (TCT_REAL)(b->flat ? 0.25 : 1.0 / 6.0);
    b->g = g;
    b->cells = g.plane * n[2];
    for (int k = 0; k < 3; k++)
        ok(cudaMalloc(&b->memory[k], (size_t)b->cells * sizeof(TCT_REAL)),
           "memory of a grid");
}

static void refill(buffers *b)
{
    for (int k = 0; k < 3; k++)
        fill_kernel<<<blocks_for(b->cells), THREADS>>>(b->memory[k], b->cells,
                                                       b->g);
}

/* --- kinds of tiles ------------------------------------------------------- */

typedef struct kind {
    const char *name;
    bool flat;
    int depth;
    void (*visit)(const tct_tile_grid *g, int sms);
    const void *kernel;
    size_t shared;
} kind;

/* Two dimensions: BLOCK blocks of 4 warps a multiprocessor, WAVES of tiles. */
template <int STEPS, int BLOCK>
struct row_kind : tct_row_tile<TCT_STAR2, TACIT_WEIGHTS_MEAN, STEPS> {
    static constexpr int BLOCKS = BLOCK;
};

template <class T, int WAVES>
static void visit_rows(const tct_tile_grid *g, int sms)
{
    const tct_strips c = cut_rows<T>(g, sms * WAVES);
    visit_kernel<T>
        <<<tct_strips_blocks(&c), TILE_WARPS * GPU_WAVE, sizeof(tct_rings)>>>(
            *g, c);
}

template <class T> static void visit_planes(const tct_tile_grid *g, int sms)
{
    double cost;
    const tct_cut3 c = cut_planes<T>(g, sms, &cost);
    solid_kernel<T><<<c.tiles[0] * c.tiles[1] * c.tiles[2], T::THREADS,
                      sizeof(tct_block_memory<T>)>>>(*g, c);
}

#define ROWS(steps, block, waves)                                           \
    {                                                                       \
        "rows blocks=" #block " waves=" #waves, true, steps,                \
            visit_rows<row_kind<steps, block>, waves>,                      \
            (const void *)(void (*)(const tct_tile_grid, const tct_strips)) \
                visit_kernel<row_kind<steps, block>>,                       \
            sizeof(tct_rings)                                               \
    }
#define PLANE(group, rows, threads) \
    tct_plane_tile<TACIT_WEIGHTS_MEAN, group, rows, threads>
#define PLANES(group, rows, threads)                                          \
    {                                                                         \
        "planes lanes=" #group " rows=" #rows " threads=" #threads, false, 4, \
            visit_planes<PLANE(group, rows, threads)>,                        \
            (const void *)(void (*)(const tct_tile_grid, const tct_cut3))     \
                solid_kernel<PLANE(group, rows, threads)>,                    \
            sizeof(tct_block_memory<PLANE(group, rows, threads)>)             \
    }

static const kind kinds[] = {
    ROWS(8, 4, 1),      ROWS(8, 4, 2),      ROWS(8, 3, 1),
    ROWS(12, 3, 1),     ROWS(16, 2, 1),     ROWS(4, 6, 1),
    PLANES(16, 3, 384), PLANES(32, 3, 384), PLANES(16, 2, 512),
    PLANES(32, 2, 512), PLANES(16, 4, 256), PLANES(32, 4, 256)};

/* --- measuring ------------------------------------------------------------ */

static void visits(buffers *b, const kind *k, int count, int sms)
{
    for (int v = 0; v < count; v++) {
        look_at(b, v % 2, 1 - v % 2);
        k->visit(&b->g, sms);
    }
    ok(cudaGetLastError(), k->name);
}

/* Two visits against as many single steps; cells that differ. */
static unsigned long long differences(buffers *b, const kind *k, int sms)
{
    unsigned long long *count, all = 0;
    ok(cudaMalloc(&count, sizeof all), "memory");
    ok(cudaMemset(count, 0, sizeof all), "memory");
    refill(b);
    for (int s = 0; s < 2 * k->depth; s++) {
        look_at(b, s == 0 ? 0 : 1 + s % 2, 1 + (s + 1) % 2);
        const int64_t cells = (int64_t)b->g.n[0] * b->g.n[1] * b->g.n[2];
        step_kernel<<<blocks_for(cells), THREADS>>>(b->g, b->flat);
    }
    /* an even number of steps ends in buffer 1, which visits write first */
    ok(cudaMemcpy(b->memory[2], b->memory[1],
                  (size_t)b->cells * sizeof(TCT_REAL),
                  cudaMemcpyDeviceToDevice),
       "a copy of a grid");
    visits(b, k, 2, sms);
    differ_kernel<<<blocks_for(b->cells), THREADS>>>(b->memory[0], b->memory[2],
                                                     b->cells, b->g, count);
    ok(cudaMemcpy(&all, count, sizeof all, cudaMemcpyDeviceToHost), k->name);
    cudaFree(count);
    return all;
}

static float milliseconds(buffers *b, const kind *k, int count, int sms)
{
    cudaEvent_t from, to;
    float time = 0.0f;
    ok(cudaEventCreate(&from), "an event");
    ok(cudaEventCreate(&to), "an event");
    ok(cudaEventRecord(from), "an event");
    visits(b, k, count, sms);
    ok(cudaEventRecord(to), "an event");
    ok(cudaEventSynchronize(to), k->name);
    ok(cudaEventElapsedTime(&time, from, to), "an event");
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return time;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Microseconds of a step. */
static double measure(buffers *b, const kind *k, double seconds, int sms)
{
    float times[ROUNDS];
    int count = 2;
    while (milliseconds(b, k, count, sms) < 1e3 * seconds && count < 1 << 20)
        count *= 2;
    for (int r = 0; r < ROUNDS; r++) times[r] = milliseconds(b, k, count, sms);
    qsort(times, ROUNDS, sizeof *times, by_value);
    return 1e3 * (double)times[ROUNDS / 2] / count / k->depth;
}

static int run(const char *name, double seconds, int sms)
{
    int n[3] = {0, 0, 0};
    buffers b;
    if (sscanf(name, "%dx%dx%d", &n[0], &n[1], &n[2]) == 2) {
        n[2] = n[1];
        n[1] = 1;
    }
    if (n[0] < 1 || n[1] < 1 || n[2] < 1) return 1;
    make(&b, n);
    int failed = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const kind *k = &kinds[i];
        cudaFuncAttributes about;
        if (k->flat != b.flat) continue;
        ok(cudaFuncGetAttributes(&about, k->kernel), k->name);
        ok(cudaFuncSetAttribute(k->kernel,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)k->shared),
           k->name);
        const unsigned long long wrong = differences(&b, k, sms);
        if (wrong > 0) failed = 1;
        const double us = wrong > 0 ? 0.0 : measure(&b, k, seconds, sms);
        printf("%s\t%s\t%s\t%d\t%d\t%d\t%.4g\t%.4g%s\n", name,
               sizeof(TCT_REAL) == 4 ? "float" : "double", k->name, k->depth,
               about.numRegs, (int)about.localSizeBytes, us,
               us > 0.0 ? (double)n[0] * n[1] * n[2] / us * 1e-3 : 0.0,
               wrong > 0 ? "\tWRONG" : "");
        fflush(stdout);
    }
    for (int k = 0; k < 3; k++) cudaFree(b.memory[k]);
    return failed;
}

int main(int argc, char **argv)
{
    static const char *const grids[] = {"1024x1024",   "2048x2048",
                                        "8192x8192",   "16384x16384",
                                        "256x256x256", "512x512x512"};
    const double seconds = argc > 1 ? atof(argv[1]) : 0.02;
    int sms = 0, failed = 0;
    ok(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0),
       "a GPU");
    printf("grid\ttype\ttiles\tdepth\tregisters\tlocal\tus\tGCell/s\n");
    if (argc > 2)
        for (int k = 2; k < argc; k++) failed |= run(argv[k], seconds, sms);
    else
        for (size_t k = 0; k < sizeof grids / sizeof *grids; k++)
            failed |= run(grids[k], seconds, sms);
    return failed;
}
