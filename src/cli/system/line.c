/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/line.c - lines of work and messages. */
#include "cli/system/line.h"
#include "cli/gpu/gpu.h"

/* --- modes ---------------------------------------------------------------- */

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

const char *cli_line_mode(int i)
{
    static const char *const modes[] = {"mpi", "fences", "fused", "send",
                                        "ready"};
    return i < 5 ? modes[i] : NULL;
}

bool cli_mode_is_halo(const char *mode)
{
    return is(mode, "fences") || is(mode, "fused");
}

const char *cli_line_missing(const cli *c, const char *mode, const void *stream)
{
    if (!is(mode, "mpi")) return NULL;
    if (stream) return "plain MPI has no messages from GPU to GPU here";
    return base_mpi_missing(c->ranks);
}

bool cli_in_graph(const cli *c)
{
    return c->set.loop && is(c->set.loop, "graph");
}

tacit_status cli_check_loop(const cli *c)
{
    const char *loop = c->set.loop;
    if (loop && !is(loop, "host") && !cli_in_graph(c))
        FAIL(TACIT_INVALID, "unknown loop '%s': host or graph", loop);
    return TACIT_OK;
}

tacit_status cli_check_recorded(const char *mode, const tacit_queue *queue)
{
    if (is(mode, "fences") && is(tacit_queue_link(queue), "mpi"))
        FAIL(TACIT_UNSUPPORTED,
             "--loop graph: the CPU takes part in messages of link mpi, so "
             "that mode fences cannot be recorded: take --comm peer or nccl");
    return TACIT_OK;
}

/* One mode, which may be missing if it was not asked for by name. */
static tacit_status run_one(const cli *c, const void *stream, const char *mode,
                            cli_mode_fn *run, void *ctx)
{
    const char *missing = cli_line_missing(c, mode, stream);
    const bool named = c->set.mode != NULL;
    const tacit_status status =
        missing && !named ? TACIT_UNSUPPORTED : run(ctx, mode);
    if (status == TACIT_UNSUPPORTED && !named)
        cli_log(c, CLI_NOTE, "no mode %s: %s", mode,
                missing ? missing : tacit_error_message());
    return status;
}

tacit_status cli_each_mode(const cli *c, const void *stream, cli_mode_fn *run,
                           void *ctx)
{
    const char *mode, *asked = c->set.mode;
    int made = 0;
    for (int i = 0; (mode = cli_line_mode(i)) != NULL; i++) {
        if (asked && !is(asked, mode)) continue;
        const tacit_status status = run_one(c, stream, mode, run, ctx);
        if (status != TACIT_UNSUPPORTED || asked) TRY(status);
        made += status >= 0;
    }
    if (made == 0)
        FAIL(TACIT_UNSUPPORTED, "no mode of messages is possible here: -v says "
                                "why");
    return TACIT_OK;
}

/* --- lines ---------------------------------------------------------------- */

static tacit_status open_queue(cli_line *line)
{
    const cli *c = line->c;
    TRY(tacit_trigger_comm_create(c->world, &line->comm));
    if (line->stream) TRY(tacit_trigger_comm_use_gpu(line->comm));
    return tacit_world_agree(
        c->world, tacit_trigger_queue_create(line->comm, TACIT_TRIGGER_AUTO,
                                             line->stream, &line->queue));
}

tacit_status cli_line_open(const cli *c, const char *mode, void *stream,
                           cli_line *out)
{
    *out = (cli_line){.c = c, .mode = mode, .stream = stream};
    const char *missing = cli_line_missing(c, mode, stream);
    if (missing) FAIL(TACIT_UNSUPPORTED, "--mode %s: %s", mode, missing);
    return is(mode, "mpi") ? TACIT_OK : open_queue(out);
}

void cli_line_close(cli_line *line)
{
    cli_line_disconnect(line);
    tacit_trigger_queue_free(&line->queue);
    tacit_trigger_comm_free(&line->comm);
    *line = (cli_line){0};
}

/* --- messages ------------------------------------------------------------- */

static tacit_status make_request(const cli_line *line, const base_message *m,
                                 tacit_trigger_request **out)
{
    if (!m->sends)
        return tacit_trigger_recv_init(line->comm, m->data, m->bytes,
                                       TACIT_TRIGGER_BYTE, m->peer, m->tag,
                                       out);
    return (is(line->mode, "ready") ? tacit_trigger_rsend_init
                                    : tacit_trigger_send_init)(
        line->comm, m->data, m->bytes, TACIT_TRIGGER_BYTE, m->peer, m->tag,
        out);
}

static tacit_status make_requests(cli_line *line, int count,
                                  const base_message *messages)
{
    TRY(ALLOC(count, "requests", &line->request));
    for (int k = 0; k < count; k++, line->count++)
        TRY(make_request(line, &messages[k], &line->request[k]));
    return TACIT_OK;
}

tacit_status cli_line_connect(cli_line *line, int count,
                              const base_message *messages)
{
    tacit_world *w = line->c->world;
    cli_line_disconnect(line);
    if (is(line->mode, "mpi"))
        return tacit_world_agree(w,
                                 base_mpi_create(count, messages, &line->mpi));
    TRY(tacit_world_agree(w, make_requests(line, count, messages)));
    return tacit_world_agree(w, tacit_trigger_matchall(count, line->request));
}

void cli_line_disconnect(cli_line *line)
{
    base_mpi_destroy(&line->mpi);
    for (int k = 0; k < line->count; k++)
        tacit_trigger_request_free(&line->request[k]);
    if (line->stream && line->comm) /* a peer may have a buffer open */
        (void)tacit_world_agree(line->c->world, TACIT_OK);
    free(line->request);
    line->request = NULL;
    line->count = 0;
}

/* --- work ----------------------------------------------------------------- */

tacit_status cli_line_start(cli_line *line, int first, int count)
{
    if (line->mpi) return base_mpi_start(line->mpi, first, count);
    return tacit_trigger_enqueue_startall(line->queue, count,
                                          line->request + first);
}

tacit_status cli_line_wait(cli_line *line, int first, int count)
{
    if (line->mpi) return base_mpi_wait(line->mpi, first, count);
    return tacit_trigger_enqueue_waitall(line->queue, count,
                                         line->request + first);
}

tacit_status cli_line_exchange(cli_line *line, int first, int count)
{
    if (!line->mpi)
        return tacit_trigger_enqueue_exchange(line->queue, count,
                                              line->request + first);
    TRY(base_mpi_start(line->mpi, first, count));
    return base_mpi_wait(line->mpi, first, count);
}

tacit_status cli_line_task(cli_line *line, tacit_trigger_task *task, void *ctx)
{
    if (!line->mpi && !line->stream)
        return tacit_trigger_enqueue_task(line->queue, task, ctx);
    task(ctx);
    return TACIT_OK;
}

tacit_status cli_line_finish(cli_line *line)
{
    if (line->queue) TRY(tacit_trigger_queue_wait(line->queue));
    return line->stream ? cli_gpu_wait(line->stream) : TACIT_OK;
}
