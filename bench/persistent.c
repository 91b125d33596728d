/* SPDX-License-Identifier: BSD-3-Clause
 * bench/persistent.c - what it costs the blocks of persistent kernels to meet,
 * on one GPU or several: a sum inside a kernel, and a message of 8 bytes one
 * way.
 *
 *     [mpirun -np N] persistent grid [-n TIMES] [-t THREADS]
 *
 * Prints tab-separated: what, ranks, blocks of a GPU, sums, microseconds
 * each. */
#include "comm/link/gpu/peer.h"
#include "comm/world/world.h"
#include "device/queue.h"
#include "persistent_kernels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#if TCT_HAVE_MPI
#include <tacit/mpi.h>
#endif

typedef struct {
    tacit_queue *q;
    int64_t times;
    int threads;
    char *room;
    double *out, *c; /* on the device */
} bench;

static tacit_status start(const bench *b, const void *code, int blocks)
{
    bench_persistent_job J = {.grid =
                                  tct_persistent_job_of(b->q, b->room, b->c, 0),
                              .times = b->times,
                              .out = b->out};
    if (b->q->ranks > 1 && !(J.grid.peers = tct_peer_grids(b->q)))
        return q_status(b->q);
    (void)tct_persistent_start(
        b->q, &J.grid,
        &(tct_persistent_kernel){
            .code = code, .job = &J, .blocks = blocks, .threads = b->threads});
    return q_status(b->q);
}

/* The slowest rank's. */
static tacit_status show(const bench *b, const char *what, int blocks, int sums,
                         const void *code)
{
    double got[2];
    for (int run = 0; run < 2; run++) { /* the first warms up */
        TRY(start(b, code, blocks));
        TRY(tct_gpu_status(gpu_memcpy(got, b->out, sizeof got, GPU_TO_HOST),
                           "reading"));
        TRY(tct_reduce_f64(b->q->world, TCT_MAX, 2, got));
    }
    if (tacit_world_rank(b->q->world) == 0)
        printf("%s\t%d\t%d\t%d\t%.3f%s\n", what, b->q->ranks, blocks, sums,
               1e-3 * got[0], got[1] > 0.0 ? "\tWRONG" : "");
    return TACIT_OK;
}

static tacit_status all(bench *b)
{
    static const int sums[] = {0, 1, 2, 4, 5};
    const int sms = tct_gpu_of(b->q)->sms;
    const bool peers = b->q->ranks > 1;
    TRY(tct_gpu_upload(NULL, tct_persistent_bytes(sms), &b->room));
    TRY(tacit_queue_alloc(b->q, 2, &b->out));
    TRY(tacit_queue_alloc(b->q, TCT_SCALARS, &b->c));
    q_fill(b->q, 2, 0.0, b->out);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const void *code = bench_meeting(sums[i], peers);
        const char *what = sums[i] ? "sum" : "meeting of one GPU";
        TRY(show(b, what, sms, sums[i], code));
        TRY(show(b, what, 1, sums[i], code));
    }
    return peers ? show(b, "8 bytes one way", 1, 0, bench_pong()) : TACIT_OK;
}

static tacit_status run(tacit_world *world, bench *b)
{
    const char *spec = tacit_world_size(world) > 1 ? "cuda@peer" : "cuda";
    TRY(tacit_queue_create(world, spec, 1, &b->q));
    const tacit_status status = all(b);
    tct_gpu_release(b->room);
    tacit_queue_free(b->q, &b->out);
    tacit_queue_free(b->q, &b->c);
    tacit_queue_destroy(&b->q);
    return status;
}

int main(int argc, char **argv)
{
    bench b = {.times = 10000, .threads = 512};
    tacit_world *world = NULL;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-n") == 0) b.times = atoll(argv[i + 1]);
        else if (strcmp(argv[i], "-t") == 0) b.threads = atoi(argv[i + 1]);
#if TCT_HAVE_MPI
    MPI_Init(&argc, &argv);
    tacit_status status = tacit_world_from_mpi(MPI_COMM_WORLD, &world);
#else
    tacit_status status = tacit_world_self(&world);
#endif
    if (status >= 0) status = run(world, &b);
    if (status < 0) fprintf(stderr, "persistent: %s\n", tacit_error_message());
    tacit_world_destroy(&world);
#if TCT_HAVE_MPI
    MPI_Finalize();
#endif
    return status < 0;
}
