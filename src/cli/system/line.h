/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/line.h - work and messages of a rank in one order, by a mode of
 * --mode: a triggered queue, on the host or on a GPU's stream, or persistent
 * requests of plain MPI, between which the CPU does the work itself.
 *
 *     cli_line_open(c, "ready", NULL, &line);     // collective
 *     cli_line_connect(&line, count, messages);   // collective
 *     cli_line_start(&line, 0, 1);
 *     cli_line_task(&line, pack, ctx);
 *     cli_line_wait(&line, 0, 1);
 *     cli_line_finish(&line);                     // all of it has ended
 *     cli_line_close(&line);                      // collective */
#ifndef TCT_CLI_SYSTEM_LINE_H
#define TCT_CLI_SYSTEM_LINE_H
#include "baseline/mpi_messages.h"
#include "cli/cli.h"

typedef struct cli_line {
    const cli *c;
    const char *mode; /* "mpi", "send", "ready" */
    void *stream;     /* of a GPU, or NULL      */
    tacit_trigger_comm *comm;
    tacit_trigger_queue *queue;
    tacit_trigger_request **request; /* [count] */
    base_mpi *mpi;
    int count;
} cli_line;

/* Is the mode one of halos (tacit_halo_arrays_create), not of lines? */
bool cli_mode_is_halo(const char *mode);
/* Call `run` for the mode of --mode, or for each that this run can have; others
 * are left out, with a note.
 * Collective.  Errors those of `run`, UNSUPPORTED only of a mode by name, or if
 *             there is no mode. */
typedef tacit_status cli_mode_fn(void *ctx, const char *mode);
tacit_status cli_each_mode(const cli *c, const void *stream, cli_mode_fn *run,
                           void *ctx);

/* Does --loop ask for recordings? Is it a loop of lines at all?
 * Errors      INVALID. */
bool cli_in_graph(const cli *c);
tacit_status cli_check_loop(const cli *c);
/* Can halos of this mode, whose queue is `queue`, be part of a recording?
 * Errors      UNSUPPORTED, with the reason. */
tacit_status cli_check_recorded(const char *mode, const tacit_queue *queue);

/* The name of mode `i`, NULL past the end; why this run cannot have the mode,
 * with a GPU's `stream` if it is not NULL; NULL: it can, as far as known. */
const char *cli_line_mode(int i);
const char *cli_line_missing(const cli *c, const char *mode,
                             const void *stream);

/* Errors      UNSUPPORTED (queues that this build has not), INVALID, NO_MEMORY,
 *             COMM, on all ranks. */
tacit_status cli_line_open(const cli *c, const char *mode, void *stream,
                           cli_line *out);
/* NULL-safe for lines of zeros. */
void cli_line_close(cli_line *line);

/* Take `count` messages in place of those before; buffers are borrowed. The
 * k-th message to a rank with a tag is for its k-th from this one with it.
 * Errors      NO_MEMORY, COMM, on all ranks. */
tacit_status cli_line_connect(cli_line *line, int count,
                              const base_message *messages);
void cli_line_disconnect(cli_line *line);

/* Messages first to first + count - 1. */
tacit_status cli_line_start(cli_line *line, int first, int count);
tacit_status cli_line_wait(cli_line *line, int first, int count);
/* Both, with no work between: on a GPU a kernel. */
tacit_status cli_line_exchange(cli_line *line, int first, int count);
/* On a stream the task is called at once, and enqueues its work there. */
tacit_status cli_line_task(cli_line *line, tacit_trigger_task *task, void *ctx);
/* Wait until all has ended. Errors COMM, DEVICE. */
tacit_status cli_line_finish(cli_line *line);

#endif
