/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/gpu/own_job.h - the data of kernels that stay, and what they
 * tell the host of themselves. */
#ifndef TCT_OPERATOR_STENCIL_GPU_OWN_JOB_H
#define TCT_OPERATOR_STENCIL_GPU_OWN_JOB_H
#include "device/numbered.h"
#include "operator/stencil/device_steps.h"
#include "operator/stencil/own_tiles.h"

/* Arrays are in device memory. */
typedef struct tct_own_job {
    tct_step_work w;           /* the first visit goes from w.in to w.out   */
    const tct_box *box;        /* [tiles]                                   */
    const int *first, *others; /* as in tct_own_tiles                       */
    uint64_t *flag;            /* [tiles] visits, TCT_FLAG_WORDS apart      */
    uint64_t visited;          /* ... before this kernel                    */
    uint64_t limit_ns;         /* of a wait, 0: none                        */
    uint64_t peer_ns;          /* ... for another rank                      */
    uint64_t *missing;         /* the mailbox's                             */
    uint64_t *gone;            /* not 0: a wait was in vain, all end        */
    double *flags;             /* for other ranks, or NULL                  */
    int puts;                  /* neighbours of other ranks                 */
    const tct_halo_put *put;   /* [puts]                                    */
    const int *first_side, *sides, *parts; /* as in tct_own_sides           */
    unsigned *ticket;  /* [2][puts] 0 between visits                */
    uint64_t exchange; /* that has brought the first ghosts         */
    uint64_t *number;  /* of the last one; NULL: not told           */
    int slot, x;       /* as in tct_own_peers                       */
    int tile;          /* of the kernel's first block               */
    bool idle;         /* they are not computed                     */
    int steps;
    int reach; /* steps of a visit                                          */
    int more;  /* rows in shared memory: of a warp; of a tile in three
                * dimensions                                                */
    /* Of tiles in shared memory (own_chip.h): cell (0, 0, 0) of the arrays of
     * numbered values; each visit stores all cells. */
    tct_numbered *cell[2];
    bool stores;
} tct_own_job;

enum {
    TCT_SIDES_MOST = 26,
    TCT_FREE_THREADS = 1024,
    TCT_MARCH_THREADS = 512, /* ... of shapes that march */
    TCT_MARCH_WARPS = TCT_MARCH_THREADS / GPU_WAVE,
    TCT_MARCH_ROWS = 4,     /* rows of a plane of such a warp in 3D */
    TCT_CHIP_THREADS = 768, /* ... of tiles in shared memory, at most */
    TCT_CACHED_WARPS = 512 / GPU_WAVE,
    TCT_CACHED_THREADS = TCT_CACHED_WARPS * GPU_WAVE
};

/* The kernels of one type. */
typedef struct tct_own_kernels {
    /* ... and the threads of a block of it. */
    const void *(*free)(const tct_step_work *w, int *threads);
    /* Of two dimensions and weights that are not by cell. A warp has `rows`
     * rows in registers and, with `more`, others in shared memory. */
    const void *(*cached)(const tct_step_work *w, bool more, int *rows);
    int width;    /* columns of a tile of `cached`, ghosts among them  */
    size_t block; /* bytes of shared memory that a block of it has     */
    /* Of the same grids: tiles in shared memory. */
    const void *(*chip)(const tct_step_work *w);
    /* Of three dimensions, weights as above: `strip` columns of a warp. NULL:
     * no kernel has them. */
    const void *(*kept)(const tct_step_work *w);
    int strip, lane; /* columns of a warp, of a lane */
} tct_own_kernels;
#ifdef __cplusplus
extern "C" {
#endif
extern const tct_own_kernels tct_own_kernels_float, tct_own_kernels_double;
#ifdef __cplusplus
}
#endif

#endif
