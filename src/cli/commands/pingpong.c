/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/pingpong.c - `tacit pingpong`: messages from each even rank to
 * the next one and back, by each mode. A round trip is pack, send, receive,
 * unpack. A triggered queue gets all round trips of a trial at once, and the
 * host waits once. */
#include "cli/commands/pingpong.h"
#include "cli/gpu/gpu.h"
#include <inttypes.h>

enum { WARM = 10, CHECKED = 4 };
/* Round trips of a trial in the paper: of messages below 4 MiB, up to 64 MiB,
 * above. */
static const double PAPER[] = {100000, 10000, 1000};

/* --- trials --------------------------------------------------------------- */

/* Seconds of a round trip, of the slowest pair. Collective. */
static tacit_status time_trips(trip *t, int64_t times, double *seconds)
{
    TRY(tacit_world_agree(t->c->world, pingpong_prepare(t, times)));
    const double start = base_seconds();
    TRY(pingpong_make(t, times));
    *seconds = cli_max(t->c, (base_seconds() - start) / (double)times);
    return TACIT_OK;
}

static tacit_status count_wrong(trip *t)
{
    unsigned long long wrong = 0;
    if (t->stream) {
        cli_gpu_copy(t->stream, &wrong, t->counter, sizeof wrong);
        TRY(cli_gpu_wait(t->stream));
        t->wrong = (int64_t)wrong;
    }
    if (t->wrong > 0)
        FAIL(TACIT_COMM,
             "messages of %" PRId64 " bytes, mode %s: %" PRId64
             " bytes came back wrong to rank %d",
             t->bytes, t->mode, t->wrong, t->c->rank);
    return TACIT_OK;
}

/* A pass of its own, with other values in each trip; a recording has those of
 * its trips. Collective. */
static tacit_status check_trips(trip *t)
{
    t->number = t->first ? 1 : 0;
    tacit_status status = pingpong_prepare(t, CHECKED);
    if (status >= 0)
        status = pingpong_make(t, t->recording ? 3 * CHECKED : CHECKED);
    pingpong_forget(t);
    t->number = 0;
    if (status >= 0) status = count_wrong(t);
    return tacit_world_agree(t->c->world, status);
}

/* --- a size --------------------------------------------------------------- */

static tacit_status make_buffer(const trip *t, size_t bytes,
                                unsigned char **out)
{
    void *p = NULL;
    if (!t->stream) return ALLOC(bytes, "a message", out);
    TRY(cli_gpu_alloc(bytes, &p));
    *out = p;
    return TACIT_OK;
}

static void free_buffer(const trip *t, void *p)
{
    if (t->stream) cli_gpu_free(p);
    else free(p);
}

/* Bytes of a cell, so that the kernels' units are aligned. */
static int64_t cell_bytes(const trip *t)
{
    return (t->bytes + 15) / 16 * 16;
}

/* Of halos: where the cell and the neighbour's ghost of it are. */
static tacit_status make_field(trip *t)
{
    const int64_t each = cell_bytes(t);
    TRY(make_buffer(t, (size_t)(3 * each), &t->field));
    t->out = t->field + each;
    t->in = t->first ? t->out + each : t->field;
    return TACIT_OK;
}

static tacit_status make_buffers(trip *t)
{
    void *counter = NULL;
    TRY(make_buffer(t, (size_t)t->bytes, &t->data));
    if (cli_mode_is_halo(t->mode)) {
        TRY(make_field(t));
    } else {
        TRY(make_buffer(t, (size_t)t->bytes, &t->out));
        TRY(make_buffer(t, (size_t)t->bytes, &t->in));
    }
    if (t->stream) TRY(cli_gpu_alloc(sizeof *t->counter, &counter));
    t->counter = counter;
    return TACIT_OK;
}

/* Blocks of a cell in pairs along x. */
static tacit_status open_halo(trip *t)
{
    const tacit_halo_block b = {.size = sizeof b,
                                .dimensions = 2,
                                .n = {1, 1},
                                .blocks = {2, t->c->ranks / 2},
                                .faces_only = 1};
    const tacit_halo_array array = {.size = sizeof array,
                                    .type = TACIT_HALO_BYTE,
                                    .components = (int)cell_bytes(t),
                                    .ghost = {1, 0}};
    return tacit_halo_arrays_create(t->queue, &b, 1, &array, t->mode, &t->halo);
}

static tacit_status open_size(trip *t)
{
    const int other = t->c->rank ^ 1;
    TRY(tacit_world_agree(t->c->world, make_buffers(t)));
    if (cli_mode_is_halo(t->mode)) return open_halo(t);
    const base_message both[] = {
        [PINGPONG_RECEIVE] = {false, other, 0, t->in, t->bytes},
        [PINGPONG_SEND] = {true, other, 0, t->out, t->bytes}};
    return cli_line_connect(&t->line, 2, both);
}

static void close_size(trip *t)
{
    pingpong_forget(t);
    cli_line_disconnect(&t->line);
    tacit_halo_arrays_destroy(&t->halo);
    free_buffer(t, t->data);
    free_buffer(t, t->field);
    if (!t->field) {
        free_buffer(t, t->out);
        free_buffer(t, t->in);
    }
    cli_gpu_free(t->counter);
    t->data = t->out = t->in = t->field = NULL;
    t->counter = NULL;
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

static bool prints_table(const cli *c)
{
    return cli_prints(c) && !cli_output_taken(c);
}

static tacit_status measure(trip *t)
{
    trip_row *r = &t->row[t->rows];
    const int trials = (int)t->c->set.trials;
    double warm = 0.0;
    TRY(check_trips(t));
    TRY(time_trips(t, WARM, &warm)); /* and of a tenth of a second */
    TRY(time_trips(t, (int64_t)fmin(1000.0, fmax(WARM, 0.1 / warm)), &warm));
    *r = (trip_row){
        .bytes = t->bytes, .trips = trips_of(t, warm), .mode = t->mode};
    for (int k = 0; k < trials; k++)
        TRY(time_trips(t, r->trips, &t->seconds[k]));
    base_interval(t->seconds, trials, &r->mean, &r->half);
    r->median = base_median(t->seconds, trials);
    t->rows++;
    if (prints_table(t->c)) pingpong_print(r);
    return TACIT_OK;
}

/* --- all sizes ------------------------------------------------------------ */

static bool is_too_large(tacit_status status)
{
    return status == TACIT_NO_MEMORY || status == TACIT_IO;
}

static tacit_status run_sizes(trip *t)
{
    const cli *c = t->c;
    tacit_status status = TACIT_OK;
    for (int64_t bytes = c->set.min_bytes;
         status >= 0 && bytes <= c->set.max_bytes; bytes *= 2) {
        t->bytes = bytes;
        status = open_size(t);
        const bool fits = !is_too_large(status);
        if (status >= 0) status = measure(t);
        close_size(t);
        if (fits || bytes == c->set.min_bytes) continue;
        cli_log(c, CLI_WARN, "no messages of %" PRId64 " bytes or more: %s",
                bytes, tacit_error_message());
        return TACIT_OK;
    }
    return status;
}

static tacit_status run_mode(void *ctx, const char *mode)
{
    trip *t = ctx;
    t->mode = mode;
    if (cli_in_graph(t->c)) TRY(cli_check_recorded(mode, t->queue));
    tacit_status status = cli_mode_is_halo(mode)
                              ? TACIT_OK
                              : cli_line_open(t->c, mode, t->stream, &t->line);
    if (status >= 0) status = run_sizes(t);
    cli_line_close(&t->line);
    return status;
}

/* --- the command ---------------------------------------------------------- */

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
    TRY(cli_check_loop(c));
    return cli_check_writable(c, c->set.json);
}

static tacit_status open_stream(trip *t)
{
    char spec[CLI_SPEC];
    TRY(tacit_queue_create(t->c->world, cli_queue_spec(t->c, "", spec), 1,
                           &t->queue));
    if (!cli_on_gpu(t->c)) return TACIT_OK;
    return tacit_world_agree(t->c->world, cli_gpu_stream(t->queue, &t->stream));
}

static tacit_status pingpong(const cli *c, trip *t)
{
    TRY(check(c));
    TRY(tacit_world_agree(c->world,
                          ALLOC(c->set.trials, "the times", &t->seconds)));
    TRY(open_stream(t));
    if (prints_table(c)) pingpong_print_head();
    TRY(cli_each_mode(c, t->stream, run_mode, t));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, pingpong_json(c, t->row, t->rows));
}

static tacit_status pingpong_run(cli *c)
{
    trip t = {.c = c, .first = c->rank % 2 == 0};
    const tacit_status status = pingpong(c, &t);
    free(t.seconds);
    tacit_queue_destroy(&t.queue);
    return status;
}

const cli_command cli_command_pingpong = {
    .name = "pingpong",
    .operands = "",
    .summary = "messages of a triggered queue, there and back",
    .about =
        "Time messages between each even rank and the next one: pack, send, "
        "receive, unpack. Modes are mpi (persistent requests of plain MPI, "
        "under mpirun), fences and fused (halos: messages of the queue's link, "
        "stores into the neighbour's memory), send and ready (a triggered "
        "queue, into which all round trips of a trial are put before the one "
        "wait for them; on a GPU starts and the wait after them are one "
        "kernel). With --loop graph a recording of at most 50 round trips is "
        "replayed, of each mode but fences over link mpi. Sizes are powers of "
        "two times --min. Each size is first checked, with other "
        "bytes in each trip. The table has the mean over the trials, the "
        "median, half of the 95 % interval of the mean, half of the median "
        "round trip (one way), and its rate. On the host the queue is a "
        "thread.",
    .takes = {0, 0},
    .run = pingpong_run,
};
