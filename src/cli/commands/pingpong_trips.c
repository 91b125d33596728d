/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/pingpong_trips.c - round trips of `tacit pingpong`: their tasks,
 * by a line or a halo, enqueued one by one or as a recording. */
#include "cli/commands/pingpong.h"
#include "cli/gpu/gpu.h"
#include "cli/system/trip.h"

enum { BLOCK = 50 }; /* trips of a recording at most */

/* --- tasks ---------------------------------------------------------------- */

static void pack(void *ctx)
{
    trip *t = ctx;
    if (t->number > 0) t->number++;
    if (t->stream) {
        cli_gpu_trip_pack(t->stream, t->number, t->bytes, t->data, t->out);
        return;
    }
    for (int64_t i = 0; t->number > 0 && i < t->bytes; i++)
        t->data[i] = cli_trip_byte(t->number, t->bytes, i);
    memcpy(t->out, t->data, (size_t)t->bytes);
}

static void unpack(void *ctx)
{
    trip *t = ctx;
    if (t->stream) {
        cli_gpu_trip_unpack(t->stream, t->number, t->bytes, t->in, t->data,
                            t->counter);
        return;
    }
    memcpy(t->data, t->in, (size_t)t->bytes);
    for (int64_t i = 0; t->number > 0 && i < t->bytes; i++)
        t->wrong += t->data[i] != cli_trip_byte(t->number, t->bytes, i);
}

/* The second rank sends what it has received. */
static void pass_back(void *ctx)
{
    trip *t = ctx;
    if (t->stream) cli_gpu_trip_pack(t->stream, 0, t->bytes, t->in, t->out);
    else memcpy(t->out, t->in, (size_t)t->bytes);
}

/* --- trips ---------------------------------------------------------------- */

/* On the host. */
static tacit_status enqueue_first(trip *t)
{
    TRY(cli_line_start(&t->line, PINGPONG_RECEIVE, 1));
    TRY(cli_line_task(&t->line, pack, t));
    TRY(cli_line_start(&t->line, PINGPONG_SEND, 1));
    TRY(cli_line_wait(&t->line, PINGPONG_RECEIVE, 2));
    return cli_line_task(&t->line, unpack, t);
}

static tacit_status enqueue_second(trip *t)
{
    TRY(cli_line_start(&t->line, PINGPONG_RECEIVE, 1));
    TRY(cli_line_wait(&t->line, PINGPONG_RECEIVE, 1));
    TRY(cli_line_task(&t->line, pass_back, t));
    TRY(cli_line_start(&t->line, PINGPONG_SEND, 1));
    return cli_line_wait(&t->line, PINGPONG_SEND, 1);
}

/* Some trips on a stream, where starts and a wait are a kernel. */
static tacit_status stream_first(trip *t, int64_t trips)
{
    for (int64_t i = 0; i < trips; i++) {
        TRY(cli_line_task(&t->line, pack, t));
        TRY(cli_line_exchange(&t->line, PINGPONG_RECEIVE, 2));
        TRY(cli_line_task(&t->line, unpack, t));
    }
    return TACIT_OK;
}

/* A message goes back with the start of the receive of the next one. */
static tacit_status stream_second(trip *t, int64_t trips)
{
    TRY(cli_line_exchange(&t->line, PINGPONG_RECEIVE, 1));
    for (int64_t i = 0; i < trips; i++) {
        const bool more = i + 1 < trips;
        TRY(cli_line_task(&t->line, pass_back, t));
        TRY(cli_line_exchange(&t->line, more ? PINGPONG_RECEIVE : PINGPONG_SEND,
                              more ? 2 : 1));
    }
    return TACIT_OK;
}

/* A task of one of the two. On the host work before it has to end. */
static tacit_status do_task(trip *t, bool mine, tacit_trigger_task *task)
{
    double none = 0.0;
    if (t->stream) TRY(cli_gpu_stream(t->queue, &t->stream));
    else TRY(tacit_queue_get(t->queue, 0, &none, &none));
    if (mine) task(t);
    return TACIT_OK;
}

/* Halos go both ways at once: two exchanges are a round trip. */
static tacit_status exchange_twice(trip *t)
{
    void *cell = t->out;
    TRY(do_task(t, t->first, pack));
    tacit_halo_arrays_gather(t->halo, &cell);
    TRY(do_task(t, !t->first, pass_back));
    tacit_halo_arrays_gather(t->halo, &cell);
    return do_task(t, t->first, unpack);
}

static tacit_status enqueue_exchanges(trip *t, int64_t times)
{
    for (int64_t i = 0; i < times; i++) TRY(exchange_twice(t));
    return TACIT_OK;
}

/* At most BLOCK trips. */
static tacit_status enqueue_trips(trip *t, int64_t times)
{
    if (t->halo) return enqueue_exchanges(t, times);
    if (t->stream)
        return t->first ? stream_first(t, times) : stream_second(t, times);
    for (int64_t i = 0; i < times; i++)
        TRY(t->first ? enqueue_first(t) : enqueue_second(t));
    return TACIT_OK;
}

static tacit_status finish_trips(trip *t)
{
    double none = 0.0;
    if (!t->halo) return cli_line_finish(&t->line);
    if (t->stream) TRY(cli_gpu_wait(t->stream));
    return tacit_queue_get(t->queue, 0, &none, &none);
}

void pingpong_forget(trip *t)
{
    cli_gpu_free_recording(t->recording);
    t->recording = NULL;
    t->recorded = 0;
}

/* Record so many trips, and replay them once. */
static tacit_status record(trip *t, int64_t trips)
{
    if (t->recorded == trips) return TACIT_OK;
    pingpong_forget(t);
    if (t->halo) TRY(exchange_twice(t)); /* links make buffers */
    TRY(cli_gpu_stream(t->queue, &t->stream));
    TRY(cli_gpu_record(t->stream));
    const tacit_status status = enqueue_trips(t, trips);
    const tacit_status ended = cli_gpu_recorded(t->stream, &t->recording);
    TRY(status < 0 ? status : ended);
    t->recorded = trips;
    TRY(cli_gpu_replay(t->stream, t->recording));
    return finish_trips(t);
}

/* Trips of a recording, if that is made. */
tacit_status pingpong_make(trip *t, int64_t times)
{
    for (; t->recording && times >= t->recorded; times -= t->recorded)
        TRY(cli_gpu_replay(t->stream, t->recording));
    for (int64_t n; times > 0; times -= n) {
        n = times < BLOCK ? times : BLOCK;
        TRY(enqueue_trips(t, n));
    }
    return finish_trips(t);
}

tacit_status pingpong_prepare(trip *t, int64_t times)
{
    if (!cli_in_graph(t->c)) return TACIT_OK;
    return record(t, times < BLOCK ? times : BLOCK);
}
