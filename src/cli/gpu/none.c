/* SPDX-License-Identifier: BSD-3-Clause
 * cli/gpu/none.c - the program's work on a GPU, in builds without CUDA. */
#include "baseline/base.h"
#include "cli/gpu/gpu.h"

static tacit_status none(void)
{
    FAIL(TACIT_UNSUPPORTED, "this build is without CUDA");
}

tacit_status cli_gpu_stream(tacit_queue *queue, void **stream)
{
    (void)queue;
    (void)stream;
    return none();
}

tacit_status cli_gpu_wait(void *stream)
{
    (void)stream;
    return none();
}

tacit_status cli_gpu_room(double *bytes)
{
    (void)bytes;
    return none();
}

tacit_status cli_gpu_alloc(size_t bytes, void **out)
{
    (void)bytes;
    (void)out;
    return none();
}

void cli_gpu_free(void *p)
{
    (void)p;
}

void cli_gpu_copy(void *stream, void *to, const void *from, size_t bytes)
{
    (void)stream;
    (void)to;
    (void)from;
    (void)bytes;
}

tacit_status cli_gpu_record(void *stream)
{
    (void)stream;
    return none();
}

tacit_status cli_gpu_recorded(void *stream, void **recording)
{
    (void)stream;
    (void)recording;
    return none();
}

tacit_status cli_gpu_replay(void *stream, void *recording)
{
    (void)stream;
    (void)recording;
    return none();
}

void cli_gpu_free_recording(void *recording)
{
    (void)recording;
}

void cli_gpu_life_fill(void *stream, const life_block *b, uint64_t tile,
                       double *u)
{
    (void)stream;
    (void)b;
    (void)tile;
    (void)u;
}

void cli_gpu_life_step(void *stream, const life_block *b, const double *u,
                       double *next)
{
    (void)stream;
    (void)b;
    (void)u;
    (void)next;
}

void cli_gpu_life_pack(void *stream, const life_block *b, const double *u,
                       double *out)
{
    (void)stream;
    (void)b;
    (void)u;
    (void)out;
}

void cli_gpu_life_unpack(void *stream, const life_block *b, const double *in,
                         double *u)
{
    (void)stream;
    (void)b;
    (void)in;
    (void)u;
}

void cli_gpu_life_count(void *stream, const life_block *b, uint64_t tile,
                        const double *u, unsigned long long *wrong)
{
    (void)stream;
    (void)b;
    (void)tile;
    (void)u;
    (void)wrong;
}

void cli_gpu_trip_pack(void *stream, uint64_t number, int64_t bytes,
                       unsigned char *from, unsigned char *to)
{
    (void)stream;
    (void)number;
    (void)bytes;
    (void)from;
    (void)to;
}

void cli_gpu_trip_unpack(void *stream, uint64_t number, int64_t bytes,
                         const unsigned char *from, unsigned char *to,
                         unsigned long long *wrong)
{
    (void)stream;
    (void)number;
    (void)bytes;
    (void)from;
    (void)to;
    (void)wrong;
}
