/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/halo.cu - the places of the rows of a matrix in a persistent
 * kernel. */
#include "solver/resident/rows.cuh"

enum { THREADS = 256 };

template <int B, int WALK>
static __global__ void places(const __grid_constant__ tct_resident_job J,
                              tct_resident_place_of_rows *place)
{
    for (int t = 0; t < J.slots; t++) {
        const int64_t row = tct_row<B, WALK>(J, t);
        if (row >= 0)
            place[row] = {(int)blockIdx.x,
                          t << TCT_THREAD_BITS | (int)threadIdx.x};
    }
}

static __global__ void look_up(const tct_resident_place_of_rows *place,
                               int64_t n, const int32_t *row,
                               tct_resident_place_of_rows *to)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) to[i] = place[row[i]];
}

typedef void (*kernel)(tct_resident_job, tct_resident_place_of_rows *);

static kernel kernel_for(int b, int walk)
{
    if (walk == GPU_RUNS || walk == GPU_GRID) return places<1, GPU_RUNS>;
    if (walk == GPU_JOINED) return places<1, GPU_JOINED>;
    switch (b) {
    case 1: return places<1, GPU_ANY>;
    case 2: return places<2, GPU_ANY>;
    case 3: return places<3, GPU_ANY>;
    case 4: return places<4, GPU_ANY>;
    case 5: return places<5, GPU_ANY>;
    default: return places<6, GPU_ANY>;
    }
}

extern "C" void tct_resident_homes(const tct_resident_job *J, int blocks,
                                   int threads, gpu_stream stream,
                                   tct_resident_place_of_rows *place)
{
    const kernel of_blocks = kernel_for(J->A.b, J->A.walk);
    of_blocks<<<blocks, threads, 0, stream>>>(*J, place);
}

extern "C" void tct_resident_find(const tct_resident_place_of_rows *place,
                                  int64_t n, const int32_t *row,
                                  gpu_stream stream,
                                  tct_resident_place_of_rows *to)
{
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    if (n > 0) look_up<<<blocks, THREADS, 0, stream>>>(place, n, row, to);
}
