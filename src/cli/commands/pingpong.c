/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/pingpong.c - `tacit pingpong`: messages of a triggered queue
 * from each even rank to the next one and back. All round trips of a trial are
 * enqueued at once: pack, send, receive, unpack; the host waits once. */
#include "cli/cli.h"
#include "cli/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WARM = 10, CHECKED = 4 };
/* Round trips of a trial in the paper: of messages below 4 MiB, up to 64 MiB,
 * above. */
static const double PAPER[] = {100000, 10000, 1000};

typedef struct {
    const cli *c;
    tacit_trigger_comm *comm;
    tacit_trigger_queue *queue;
    tacit_trigger_request *send, *receive;
    bool first; /* of the two */
    int64_t bytes;
    unsigned char *data, *out, *in;
    uint64_t number; /* of the trip that is checked; 0: none is */
    int64_t wrong;
} trip;

/* --- tasks ---------------------------------------------------------------- */

static unsigned char byte_at(const trip *t, int64_t i)
{
    return (unsigned char)(t->number * 31 + (uint64_t)t->bytes + (uint64_t)i);
}

static void pack(void *ctx)
{
    trip *t = ctx;
    if (t->number > 0) t->number++;
    for (int64_t i = 0; t->number > 0 && i < t->bytes; i++)
        t->data[i] = byte_at(t, i);
    memcpy(t->out, t->data, (size_t)t->bytes);
}

static void unpack(void *ctx)
{
    trip *t = ctx;
    memcpy(t->data, t->in, (size_t)t->bytes);
    for (int64_t i = 0; t->number > 0 && i < t->bytes; i++)
        t->wrong += t->data[i] != byte_at(t, i);
}

/* The second rank sends what it has received. */
static void pass_back(void *ctx)
{
    trip *t = ctx;
    memcpy(t->out, t->in, (size_t)t->bytes);
}

/* --- trips ---------------------------------------------------------------- */

static tacit_status enqueue_first(trip *t)
{
    tacit_trigger_request *const both[] = {t->send, t->receive};
    TRY(tacit_trigger_enqueue_start(t->queue, t->receive));
    TRY(tacit_trigger_enqueue_task(t->queue, pack, t));
    TRY(tacit_trigger_enqueue_start(t->queue, t->send));
    TRY(tacit_trigger_enqueue_waitall(t->queue, 2, both));
    return tacit_trigger_enqueue_task(t->queue, unpack, t);
}

static tacit_status enqueue_second(trip *t)
{
    TRY(tacit_trigger_enqueue_start(t->queue, t->receive));
    TRY(tacit_trigger_enqueue_wait(t->queue, t->receive));
    TRY(tacit_trigger_enqueue_task(t->queue, pass_back, t));
    TRY(tacit_trigger_enqueue_start(t->queue, t->send));
    return tacit_trigger_enqueue_wait(t->queue, t->send);
}

static tacit_status make_trips(trip *t, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        TRY(t->first ? enqueue_first(t) : enqueue_second(t));
    return tacit_trigger_queue_wait(t->queue);
}

/* Seconds of a round trip, of the slowest pair. Collective. */
static tacit_status time_trips(trip *t, int64_t times, double *seconds)
{
    TRY(tacit_world_agree(t->c->world, TACIT_OK));
    const double start = base_seconds();
    TRY(make_trips(t, times));
    *seconds = cli_max(t->c, (base_seconds() - start) / (double)times);
    return TACIT_OK;
}

/* A pass of its own, with other values in each trip. Collective. */
static tacit_status check_trips(trip *t)
{
    t->number = t->first ? 1 : 0;
    tacit_status status = make_trips(t, CHECKED);
    t->number = 0;
    if (status >= 0 && t->wrong > 0)
        status = tacit_error_set(TACIT_COMM,
                                 "messages of %" PRId64 " bytes: %" PRId64
                                 " bytes came back wrong to rank %d",
                                 t->bytes, t->wrong, t->c->rank);
    return tacit_world_agree(t->c->world, status);
}

/* --- a size --------------------------------------------------------------- */

static tacit_status make_buffers(trip *t)
{
    TRY(ALLOC(t->bytes, "a message", &t->data));
    TRY(ALLOC(t->bytes, "a message", &t->out));
    TRY(ALLOC(t->bytes, "a message", &t->in));
    memset(t->data, 1, (size_t)t->bytes);
    return TACIT_OK;
}

static tacit_status match_pair(trip *t)
{
    const int other = t->c->rank ^ 1;
    const char *mode = t->c->set.mode;
    const bool ready = mode && strcmp(mode, "ready") == 0;
    TRY((ready ? tacit_trigger_rsend_init : tacit_trigger_send_init)(
        t->comm, t->out, t->bytes, TACIT_TRIGGER_BYTE, other, 0, &t->send));
    TRY(tacit_trigger_recv_init(t->comm, t->in, t->bytes, TACIT_TRIGGER_BYTE,
                                other, 0, &t->receive));
    tacit_trigger_request *const both[] = {t->send, t->receive};
    return tacit_trigger_matchall(2, both);
}

static tacit_status open_size(trip *t)
{
    TRY(tacit_world_agree(t->c->world, make_buffers(t)));
    return tacit_world_agree(t->c->world, match_pair(t));
}

static void close_size(trip *t)
{
    tacit_trigger_request_free(&t->send);
    tacit_trigger_request_free(&t->receive);
    free(t->data);
    free(t->out);
    free(t->in);
    t->data = t->out = t->in = NULL;
}

/* Trips of a trial: as many as in the paper, or by `warm`, the seconds of one,
 * at most a second. */
static int64_t trips_of(const trip *t, double warm)
{
    const double most = t->bytes < 4 << 20     ? PAPER[0]
                        : t->bytes <= 64 << 20 ? PAPER[1]
                                               : PAPER[2];
    if (t->c->set.paper) return (int64_t)most;
    const double fit = floor(1.0 / fmax(warm, 1e-9));
    return (int64_t)fmax(1.0, fmin(most, fit));
}

/* Half the width of the 95 % interval of the mean (Student's t). */
static double interval(int n, const double *x, double mean)
{
    static const double t95[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571,
                                 2.447, 2.365,  2.306, 2.262, 2.228};
    double squares = 0.0;
    for (int k = 0; k < n; k++) squares += (x[k] - mean) * (x[k] - mean);
    if (n < 2) return (double)NAN;
    return (n <= 11 ? t95[n - 1] : 1.96 + 2.6 / n) *
           sqrt(squares / (n - 1) / n);
}

static tacit_status measure(trip *t, double *seconds, cli_table *table)
{
    const int trials = (int)t->c->set.trials;
    double warm = 0.0, mean = 0.0;
    TRY(check_trips(t));
    TRY(time_trips(t, WARM, &warm));
    const int64_t trips = trips_of(t, warm);
    for (int k = 0; k < trials; k++) {
        TRY(time_trips(t, trips, &seconds[k]));
        mean += seconds[k] / trials;
    }
    const double half = interval(trials, seconds, mean);
    const double middle = base_median(seconds, trials);
    cli_table_row(table,
                  "%" PRId64 "\t%" PRId64 "\t%.4g\t%.4g\t%.2g\t%.4g\t%.4g",
                  t->bytes, trips, 1e6 * mean, 1e6 * middle, 1e6 * half,
                  1e6 * middle / 2, 1e-9 * (double)t->bytes / (middle / 2));
    return TACIT_OK;
}

/* --- all sizes ------------------------------------------------------------ */

static bool is_too_large(tacit_status status)
{
    return status == TACIT_NO_MEMORY || status == TACIT_IO;
}

static tacit_status run_sizes(trip *t, double *seconds, cli_table *table)
{
    const cli *c = t->c;
    tacit_status status = TACIT_OK;
    cli_table_row(table, "bytes\ttrips\tround trip us\tmedian us\t95 %% +- us\t"
                         "one way us\tGB/s");
    for (int64_t bytes = c->set.min_bytes;
         status >= 0 && bytes <= c->set.max_bytes; bytes *= 2) {
        t->bytes = bytes;
        status = open_size(t);
        const bool fits = !is_too_large(status);
        if (status >= 0) status = measure(t, seconds, table);
        close_size(t);
        if (fits || bytes == c->set.min_bytes) continue;
        cli_log(c, CLI_WARN, "no messages of %" PRId64 " bytes or more: %s",
                bytes, tacit_error_message());
        return TACIT_OK;
    }
    return status;
}

static tacit_status check(const cli *c)
{
    if (c->ranks % 2)
        FAIL(TACIT_INVALID,
             "pingpong is between two processes, and here are %d: start an "
             "even number, as with --ranks 2",
             c->ranks);
    if (c->set.min_bytes > c->set.max_bytes)
        FAIL(TACIT_INVALID,
             "--min %" PRId64 " is more than --max %" PRId64
             ": no size is left",
             c->set.min_bytes, c->set.max_bytes);
    return TACIT_OK;
}

static tacit_status open_queue(trip *t)
{
    TRY(tacit_trigger_comm_create(t->c->world, &t->comm));
    return tacit_world_agree(
        t->c->world, tacit_trigger_queue_create(t->comm, TACIT_TRIGGER_AUTO,
                                                NULL, &t->queue));
}

static tacit_status pingpong_run(cli *c)
{
    trip t = {.c = c, .first = c->rank % 2 == 0};
    cli_table table = {0};
    double *seconds = NULL;
    TRY(check(c));
    tacit_status status = tacit_world_agree(
        c->world, ALLOC(c->set.trials, "the times", &seconds));
    if (status >= 0) status = open_queue(&t);
    if (status >= 0) status = run_sizes(&t, seconds, &table);
    if (status >= 0 && cli_prints(c)) cli_table_print(&table, stdout);
    cli_table_free(&table);
    free(seconds);
    tacit_trigger_queue_free(&t.queue);
    tacit_trigger_comm_free(&t.comm);
    return status;
}

const cli_command cli_command_pingpong = {
    .name = "pingpong",
    .operands = "",
    .summary = "messages of a triggered queue, there and back",
    .about =
        "Time messages between each even rank and the next one: pack, send, "
        "receive, unpack, by a triggered queue into which all round trips of "
        "a trial are put before the one wait for them. Sizes are powers of "
        "two times --min. Each size is first checked, with other bytes in "
        "each trip. The table has the mean over the trials, the median, half "
        "of the 95 % interval of the mean, half of the median round trip (one "
        "way), and its rate. So far the queue is a thread of the host.",
    .takes = {0, 0},
    .run = pingpong_run,
};
