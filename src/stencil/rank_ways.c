/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/rank_ways.c - ways of grids that are divided among ranks, as steppers
 * make them. On the host they are twins of those of GPUs: the same text, for
 * threads or processes that share memory, or by messages. */
#include "stencil/device.h"
#include "stencil/field_halo.h"
#include "stencil/link_loop.h"
#include "stencil/stepper.h"

/* --- tables --------------------------------------------------------------- */

#define OPEN(name)                                                         \
    static tacit_status name##_open(tacit_field *f, int depth, void **out) \
    {                                                                      \
        return tct_stepper_open(f, &tct_step_##name, depth, NULL, out);    \
    }
#define TABLE                                                     \
    .visit = tct_stepper_visit, .describe = tct_stepper_describe, \
    .finish = tct_stepper_finish, .close = tct_stepper_close

OPEN(copy)
OPEN(overlap)
OPEN(p2p)
OPEN(shmem)
OPEN(shmem1)

/* Kernels of several steps, whose depth is limited. */
static tacit_status tiles_open(tacit_field *f, int depth, void **out)
{
    const int *depths = NULL;
    TRY(tct_device_tiles_check(f, depth, &depths));
    return tct_stepper_open(
        f, f->boundary_tiles < 0 ? &tct_step_tiles_whole : &tct_step_tiles,
        depth, depths, out);
}

const tct_way_ops tct_ranks_copy = {TABLE, .open = copy_open};
const tct_way_ops tct_ranks_tiles = {TABLE, .open = tiles_open,
                                     .depths = tct_device_tiles_depths};

static bool fits_in_place(const tacit_field *f)
{
    return f->device && f->halo && !tct_field_why_packed(f);
}

static const tct_way_ops overlap = {TABLE, .open = overlap_open, .named = true};
static const tct_way_ops p2p = {TABLE, .open = p2p_open, .named = true};
static const tct_way_ops shmem = {TABLE, .open = shmem_open, .named = true};
static const tct_way_ops shmem1 = {TABLE, .open = shmem1_open,
                                   .fits = fits_in_place};

/* --- by messages of a link ------------------------------------------------ */

static bool is_by(const tacit_field *f, const char *link)
{
    return f->halo && strcmp(f->queue->link->name, link) == 0;
}

static bool mpi_fits(const tacit_field *f)
{
    return is_by(f, "mpi");
}

static bool nccl_fits(const tacit_field *f)
{
    return is_by(f, "nccl");
}

static tacit_status mpi_open(tacit_field *f, int depth, void **out)
{
    (void)depth;
    return tct_link_loop_open(f, &tct_step_mpi, out);
}

static tacit_status nccl_open(tacit_field *f, int depth, void **out)
{
    (void)depth;
    return tct_link_loop_open(f, &tct_step_nccl, out);
}

static int link_most(const tacit_field *f, const void *state)
{
    (void)state;
    return f->loop && strcmp(f->loop, "graph") == 0 ? TCT_LINK_LOOP_MOST : 1;
}

#define LINK_TABLE                                                      \
    .visit = tct_link_loop_visit, .close = tct_link_loop_close,         \
    .describe = tct_link_loop_describe, .finish = tct_link_loop_finish, \
    .most = link_most, .loops = true

static const tct_way_ops mpi = {LINK_TABLE, .open = mpi_open, .fits = mpi_fits};
static const tct_way_ops nccl = {LINK_TABLE, .open = nccl_open,
                                 .fits = nccl_fits};

/* --- rows ----------------------------------------------------------------- */

#define ROW(name, host, device, why, text) \
    const tct_way tct_way_##name = {       \
        {#name, text, why, false}, host, device, NULL}

ROW(overlap, &overlap, &overlap, NULL,
    "inner cells and edges in two streams, halos by copy engines after the "
    "edges (the paper's Baseline Overlap)");
ROW(p2p, &p2p, &p2p, NULL,
    "a kernel a step, which stores its halo into the neighbour's memory (the "
    "paper's Baseline P2P)");
ROW(shmem, &shmem, &shmem, NULL,
    "a kernel a step, which puts its halo, and a kernel that waits for the "
    "neighbours (the paper's Baseline NVSHMEM)");
ROW(shmem1, &shmem1, &shmem1, NULL,
    "as shmem, without the second kernel: the edges of the next step wait");
ROW(mpi, &mpi, &mpi,
    TCT_HAVE_MPI ? NULL
                 : "not in this build: configured "
                   "without MPI",
    "a kernel a step, halos by MPI");
ROW(nccl, NULL, &nccl, TCT_NOT_BY_HIP("NCCL"),
    "a kernel a step, halos by NCCL");
