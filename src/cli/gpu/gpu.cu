/* SPDX-License-Identifier: BSD-3-Clause
 * cli/gpu/gpu.cu - the program's kernels, and the calls of the runtime that
 * they need. */
#include "cli/gpu/gpu.h"
#include "cli/system/trip.h"
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/cuda.h>

enum { THREADS = 256, ROWS = 16 };

/* --- the runtime ---------------------------------------------------------- */

static tacit_status status_of(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return TACIT_OK;
    return tacit_error_set(error == cudaErrorMemoryAllocation ? TACIT_NO_MEMORY
                                                              : TACIT_DEVICE,
                           "%s: %s", what, cudaGetErrorString(error));
}

static cudaStream_t stream_of(void *stream)
{
    return (cudaStream_t)stream;
}

extern "C" tacit_status cli_gpu_stream(tacit_queue *queue, void **stream)
{
    cudaStream_t own = NULL;
    const tacit_status status = tacit_queue_stream(queue, &own);
    if (status >= 0) *stream = own;
    return status;
}

extern "C" tacit_status cli_gpu_wait(void *stream)
{
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t ended = cudaStreamSynchronize(stream_of(stream));
    return status_of(ended == cudaSuccess ? launched : ended,
                     "waiting for the GPU");
}

extern "C" tacit_status cli_gpu_room(double *bytes)
{
    size_t room = 0, all = 0;
    const cudaError_t error = cudaMemGetInfo(&room, &all);
    *bytes = (double)room;
    return status_of(error, "asking for the GPU's memory");
}

extern "C" tacit_status cli_gpu_alloc(size_t bytes, void **out)
{
    void *p = NULL;
    cudaError_t error = cudaMalloc(&p, bytes);
    if (error == cudaSuccess) error = cudaMemset(p, 0, bytes);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) *out = p;
    else cudaFree(p);
    return status_of(error, "memory of the GPU");
}

extern "C" void cli_gpu_free(void *p)
{
    cudaFree(p);
}

extern "C" void cli_gpu_copy(void *stream, void *to, const void *from,
                             size_t bytes)
{
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream));
}

/* --- recordings ----------------------------------------------------------- */

extern "C" tacit_status cli_gpu_record(void *stream)
{
    return status_of(
        cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeRelaxed),
        "recording steps");
}

extern "C" tacit_status cli_gpu_recorded(void *stream, void **recording)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    cudaError_t error = cudaStreamEndCapture(stream_of(stream), &graph);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&made, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    if (error == cudaSuccess) *recording = made;
    return status_of(error, "recording steps");
}

extern "C" tacit_status cli_gpu_replay(void *stream, void *recording)
{
    return status_of(
        cudaGraphLaunch((cudaGraphExec_t)recording, stream_of(stream)),
        "replaying steps");
}

extern "C" void cli_gpu_free_recording(void *recording)
{
    if (recording) cudaGraphExecDestroy((cudaGraphExec_t)recording);
}

/* --- kernels in a row ------------------------------------------------------ */

/* Can a kernel of this file be resident before the one before it has ended? It
 * has to be compiled for such GPUs, too. */
static bool can_be_early(const void *kernel)
{
    enum { FROM = 9, RECORDED_FROM = 12030 };
    static int can = -1;
    int device = 0, major = 0, driver = 0;
    cudaFuncAttributes a = {};
    if (can >= 0) return can != 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDriverGetVersion(&driver);
    cudaFuncGetAttributes(&a, kernel);
    const char *wish = getenv("TACIT_EARLY");
    can = major >= FROM && a.ptxVersion / 10 >= FROM &&
          driver >= RECORDED_FROM && !(wish && strcmp(wish, "no") == 0);
    return can != 0;
}

/* Launch a kernel that calls await_earlier where it needs the kernels before
 * it. */
template <class... A, class... B>
static void launch_early(void *stream, dim3 grid, void (*kernel)(A...),
                         B... arguments)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t c = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    c.gridDim = grid;
    c.blockDim = dim3(THREADS);
    c.stream = stream_of(stream);
    c.attrs = &early;
    c.numAttrs = can_be_early((const void *)kernel) ? 1 : 0;
    cudaLaunchKernelEx(&c, kernel, A(arguments)...);
}

/* Wait for the end of the kernels before this one; let the next one be
 * resident. */
static __device__ inline void await_earlier(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
static __device__ inline void let_later_begin(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/* See what earlier kernels have stored: the L1 forgets what it has. By all
 * threads of a block. */
static __device__ inline void see_stores(void)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    __syncthreads();
#endif
}

/* --- life ----------------------------------------------------------------- */

/* Blocks of THREADS columns and ROWS rows. */
static dim3 grid_of(const life_block *b)
{
    return dim3((unsigned)((b->nx + THREADS - 1) / THREADS),
                (unsigned)((b->ny + ROWS - 1) / ROWS));
}

static __device__ int64_t column(void)
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

static __device__ int64_t first_row(void)
{
    return (int64_t)blockIdx.y * ROWS;
}

static __device__ int64_t end_row(const life_block &b)
{
    const int64_t end = first_row() + ROWS;
    return end < b.ny ? end : b.ny;
}

static __global__ void __launch_bounds__(THREADS)
    fill(const life_block b, uint64_t tile, double *u)
{
    const int64_t x = column();
    if (x >= b.nx) return;
    for (int64_t y = first_row(); y < end_row(b); y++)
        u[life_at(&b, x, y)] = life_tile_cell(tile, b.x0 + x, b.y0 + y);
}

/* Three cells of a row: their sum. */
static __device__ inline double three(const double *u, double *centre)
{
    *centre = u[0];
    return u[-1] + u[0] + u[1];
}

/* Blocks of cells next to ghosts wait for these. The others read what the step
 * before has stored, which has ended: only an exchange by a halo lets this step
 * begin earlier, writes ghosts alone, and has waited for the step before. */
static __device__ inline void await_ghosts(void)
{
    if (blockIdx.x == 0 || blockIdx.x + 1 == gridDim.x || blockIdx.y == 0 ||
        blockIdx.y + 1 == gridDim.y)
        await_earlier();
    else see_stores();
}

/* A thread goes down a column; sums of three rows stay in registers. Sums of
 * cells of 0 and 1 are exact in any order. */
/* A small block takes few rows a thread, whose loads are all on their way at
 * once: most threads of the GPU have work then. It is launched early. Its
 * pointers are not `restrict`: loads of data that never change could come before
 * await_ghosts. */
enum { FEW = 4, FEW_CELLS = 1 << 22 };

static __global__ void __launch_bounds__(THREADS)
    step_few(const life_block b, const double *u, double *next)
{
    const int64_t x = column(), y = (int64_t)blockIdx.y * FEW;
    const int rows = (int)(b.ny - y < FEW ? b.ny - y : FEW);
    double sum[FEW + 2], cell[FEW + 2];
    await_ghosts();
    if (x >= b.nx) return;
    const double *p = u + life_at(&b, x, y - 1);
#pragma unroll
    for (int k = 0; k < FEW + 2; k++)
        if (k < rows + 2) sum[k] = three(p + k * b.pitch, &cell[k]);
#pragma unroll
    for (int k = 0; k < FEW; k++)
        if (k < rows)
            next[life_at(&b, x, y + k)] =
                life_next(cell[k + 1], sum[k] + sum[k + 1] + sum[k + 2]);
}

static __global__ void __launch_bounds__(THREADS)
    step(const life_block b, const double *__restrict__ u,
         double *__restrict__ next)
{
    const int64_t x = column();
    if (x >= b.nx) return;
    int64_t y = first_row();
    double above, cell, below;
    const double *p = u + life_at(&b, x, y);
    double sum_above = three(p - b.pitch, &above);
    double sum = three(p, &cell);
    for (; y < end_row(b); y++, p += b.pitch) {
        const double sum_below = three(p + b.pitch, &below);
        next[life_at(&b, x, y)] = life_next(cell, sum_above + sum + sum_below);
        sum_above = sum;
        sum = sum_below;
        cell = below;
    }
}

static __global__ void __launch_bounds__(THREADS)
    count(const life_block b, uint64_t tile, const double *u,
          unsigned long long *wrong)
{
    const int64_t x = column();
    unsigned long long bad = 0;
    if (x >= b.nx) return;
    for (int64_t y = first_row(); y < end_row(b); y++)
        bad += u[life_at(&b, x, y)] != life_tile_cell(tile, b.x0 + x, b.y0 + y);
    if (bad > 0) atomicAdd(wrong, bad);
}

/* Messages of all directions: a row of blocks each. */
static dim3 messages_of(const life_block *b)
{
    const int64_t most = b->nx > b->ny ? b->nx : b->ny;
    return dim3((unsigned)((most + THREADS - 1) / THREADS), LIFE_DIRECTIONS);
}

static __global__ void __launch_bounds__(THREADS)
    pack(const life_block b, const double *u, double *out)
{
    const int d = (int)blockIdx.y;
    const int64_t i = column();
    if (i < life_cells(&b, d))
        out[life_first(&b, d) + i] = u[life_place(&b, d, i, 0)];
}

static __global__ void __launch_bounds__(THREADS)
    unpack(const life_block b, const double *in, double *u)
{
    const int d = (int)blockIdx.y;
    const int64_t i = column();
    if (i < life_cells(&b, d))
        u[life_place(&b, d, i, 1)] = in[life_first(&b, d) + i];
}

extern "C" void cli_gpu_life_fill(void *stream, const life_block *b,
                                  uint64_t tile, double *u)
{
    fill<<<grid_of(b), THREADS, 0, stream_of(stream)>>>(*b, tile, u);
}

extern "C" void cli_gpu_life_step(void *stream, const life_block *b,
                                  const double *u, double *next)
{
    dim3 grid = grid_of(b);
    if (b->nx * b->ny >= FEW_CELLS) {
        step<<<grid, THREADS, 0, stream_of(stream)>>>(*b, u, next);
        return;
    }
    grid.y = (unsigned)((b->ny + FEW - 1) / FEW);
    launch_early(stream, grid, step_few, *b, u, next);
}

extern "C" void cli_gpu_life_pack(void *stream, const life_block *b,
                                  const double *u, double *out)
{
    pack<<<messages_of(b), THREADS, 0, stream_of(stream)>>>(*b, u, out);
}

extern "C" void cli_gpu_life_unpack(void *stream, const life_block *b,
                                    const double *in, double *u)
{
    unpack<<<messages_of(b), THREADS, 0, stream_of(stream)>>>(*b, in, u);
}

extern "C" void cli_gpu_life_count(void *stream, const life_block *b,
                                   uint64_t tile, const double *u,
                                   unsigned long long *wrong)
{
    count<<<grid_of(b), THREADS, 0, stream_of(stream)>>>(*b, tile, u, wrong);
}

/* --- pingpong ------------------------------------------------------------- */

enum { MOST_BLOCKS = 1024 };

static unsigned trip_blocks(int64_t bytes)
{
    const int64_t blocks = (bytes / 16 + THREADS) / THREADS;
    return (unsigned)(blocks < MOST_BLOCKS ? (int)blocks : (int)MOST_BLOCKS);
}

/* Units of 16 bytes and the bytes that are left: buffers are aligned. */
static __device__ void copy(int64_t bytes, const unsigned char *from,
                            unsigned char *to)
{
    const int64_t units = bytes / 16, all = (int64_t)gridDim.x * THREADS;
    for (int64_t i = column(); i < units; i += all)
        ((uint4 *)(void *)to)[i] = ((const uint4 *)(const void *)from)[i];
    for (int64_t i = units * 16 + column(); i < bytes; i += all)
        to[i] = from[i];
}

static __global__ void __launch_bounds__(THREADS)
    trip_pack(uint64_t number, int64_t bytes, unsigned char *from,
              unsigned char *to)
{
    const int64_t all = (int64_t)gridDim.x * THREADS;
    await_earlier();
    let_later_begin();
    if (number == 0) {
        copy(bytes, from, to);
        return;
    }
    for (int64_t i = column(); i < bytes; i += all)
        from[i] = to[i] = cli_trip_byte(number, bytes, i);
}

static __global__ void __launch_bounds__(THREADS)
    trip_unpack(uint64_t number, int64_t bytes, const unsigned char *from,
                unsigned char *to, unsigned long long *wrong)
{
    const int64_t all = (int64_t)gridDim.x * THREADS;
    unsigned long long bad = 0;
    await_earlier();
    let_later_begin();
    copy(bytes, from, to);
    if (number == 0) return;
    for (int64_t i = column(); i < bytes; i += all)
        bad += from[i] != cli_trip_byte(number, bytes, i);
    if (bad > 0) atomicAdd(wrong, bad);
}

extern "C" void cli_gpu_trip_pack(void *stream, uint64_t number, int64_t bytes,
                                  unsigned char *from, unsigned char *to)
{
    launch_early(stream, trip_blocks(bytes), trip_pack, number, bytes, from,
                 to);
}

extern "C" void cli_gpu_trip_unpack(void *stream, uint64_t number,
                                    int64_t bytes, const unsigned char *from,
                                    unsigned char *to,
                                    unsigned long long *wrong)
{
    launch_early(stream, trip_blocks(bytes), trip_unpack, number, bytes, from,
                 to, wrong);
}
