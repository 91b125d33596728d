/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_chip.cuh - the kernel of own_chip.h, for the type
 * TCT_REAL: small grids of ways free, cached and tiles. A thread has some rows
 * of a column of the room. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_CHIP_CUH
#define TCT_OPERATOR_STENCIL_GPU_OWN_CHIP_CUH
#include "operator/stencil/gpu/own_wait.cuh"
#include "operator/stencil/gpu/step.cuh"
/* after lanes and cells */
#include "operator/stencil/gpu/own_chip.h"

/* A cell did not come: a rank is named, or this GPU where there is no other. */
static __device__ inline void chip_late(const tct_own_job &J, tct_own_place &p,
                                        const chip_cell &c)
{
    const uint64_t lost = chip_owner(&J, p.put, p.sides, &c);
    p.late = 1;
    if (lost > 0) {
        *J.flags = 1.0;
        tct_signal_send(J.gone, lost);
        tct_host_store(J.missing, lost);
    } else if (J.puts == 0) {
        tct_signal_send(J.gone, 1);
        tct_host_store(J.missing, TCT_MISSING_BLOCK);
    }
    tct_fence_all();
}

/* State 0 or 1 of a room, in the block's shared memory. */
static __device__ __forceinline__ TCT_REAL *chip_state(const chip_room &r,
                                                       int state)
{
    alignas(16) extern __shared__ char own_room[];
    return (TCT_REAL *)own_room + state * r.wide * r.high;
}

/* Wait for the cells around the tile. False: one did not come; all end. */
static __device__ inline bool chip_wait(const tct_own_job &J, tct_own_place &p,
                                        const chip_room &r, int now, int visit)
{
    chip_cell lost;
    const tct_wait_status status = chip_receive(
        &J, &r, chip_state(r, now), J.visited + (uint64_t)visit, &lost);
    if (status == TCT_GONE) p.late = 1;
    else if (status != TCT_CAME) chip_late(J, p, lost);
    if (visit == 1) tct_fence_all();
    __syncthreads();
    return p.late == 0;
}

/* `steps` steps; returns the state that has the cells then. */
template <int SHAPE, int WEIGHTS>
static __device__ __forceinline__ int
chip_steps(const tct_own_job &J, const chip_room &r, int now, int steps)
{
    for (int i = 1; i <= steps; i++, now ^= 1) {
        chip_step(&J, &r, chip_state(r, now), chip_state(r, now ^ 1), steps - i,
                  SHAPE == TCT_BOX2, WEIGHTS == TACIT_WEIGHTS_CONSTANT);
        __syncthreads();
    }
    return now;
}

template <int SHAPE, int WEIGHTS>
static __global__ void __launch_bounds__(TCT_CHIP_THREADS, 1)
    chip_kernel(const __grid_constant__ tct_own_job J)
{
    __shared__ tct_own_place p;
    (void)tct_own_open(J, p);
    const tct_box box = J.box[p.tile];
    const chip_room r =
        chip_room_of(&J, &box, (int)threadIdx.x, (int)blockDim.x);
    int now = 0;
    chip_load(&J, &r, (const TCT_REAL *)J.w.in, chip_state(r, 0),
              chip_state(r, 1));
    __syncthreads();
    for (int visit = 0, made = 0; made < J.steps; visit++) {
        TCT_REAL *out = (TCT_REAL *)(visit & 1 ? (void *)J.w.in : J.w.out);
        const int steps = min(J.reach, J.steps - made);
        made += steps;
        if (visit > 0 && !chip_wait(J, p, r, now, visit)) return;
        now = chip_steps<SHAPE, WEIGHTS>(J, r, now, J.idle ? 0 : steps);
        if (visit == 0) tct_fence_all();
        if (made < J.steps)
            chip_send(&J, &r, p.put, p.sides, chip_state(r, now),
                      J.visited + (uint64_t)visit + 1);
        if (J.stores || made == J.steps)
            chip_store(&J, &r, chip_state(r, now), out);
    }
}

template <int SHAPE> static const void *chip_of(int weights)
{
    return weights == TACIT_WEIGHTS_MEAN
               ? (const void *)chip_kernel<SHAPE, TACIT_WEIGHTS_MEAN>
               : (const void *)chip_kernel<SHAPE, TACIT_WEIGHTS_CONSTANT>;
}

static const void *find_chip(const tct_step_work *w)
{
    return w->shape == TCT_STAR2 ? chip_of<TCT_STAR2>(w->weights)
                                 : chip_of<TCT_BOX2>(w->weights);
}

#endif
