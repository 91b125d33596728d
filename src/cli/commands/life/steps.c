/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/steps.c - steps of a field: tasks of its line. */
#include "cli/commands/life/life.h"
#include "cli/gpu/gpu.h"

enum { EACH = LIFE_DIRECTIONS - 1 };

/* --- the CPU -------------------------------------------------------------- */

static void copy_messages(const life_block *b, double *u, double *messages,
                          int ghosts)
{
    for (int d = 0; d < LIFE_DIRECTIONS; d++)
        for (int64_t i = 0; i < life_cells(b, d); i++) {
            double *cell = u + life_place(b, d, i, ghosts);
            double *message = messages + life_first(b, d) + i;
            if (ghosts) *cell = *message;
            else *message = *cell;
        }
}

static void step_row(int64_t nx, const double *above, const double *row,
                     const double *below, double *next)
{
    for (int64_t x = 0; x < nx; x++)
        next[x] = life_next(row[x], above[x - 1] + above[x] + above[x + 1] +
                                        row[x - 1] + row[x] + row[x + 1] +
                                        below[x - 1] + below[x] + below[x + 1]);
}

static void step_block(const life_block *b, const double *u, double *next)
{
    for (int64_t y = 0; y < b->ny; y++) {
        const double *row = u + life_at(b, 0, y);
        step_row(b->nx, row - b->pitch, row, row + b->pitch,
                 next + life_at(b, 0, y));
    }
}

/* --- tasks ---------------------------------------------------------------- */

static void pack(void *ctx)
{
    const life_turn *t = ctx;
    life_field *f = t->field;
    if (f->stream)
        cli_gpu_life_pack(f->stream, &f->block, f->u[t->parity],
                          f->out[t->parity]);
    else copy_messages(&f->block, f->u[t->parity], f->out[t->parity], 0);
}

static void unpack_and_step(void *ctx)
{
    const life_turn *t = ctx;
    life_field *f = t->field;
    double *u = f->u[t->parity], *next = f->u[1 - t->parity];
    if (f->stream) {
        cli_gpu_life_unpack(f->stream, &f->block, f->in[t->parity], u);
        cli_gpu_life_step(f->stream, &f->block, u, next);
        return;
    }
    copy_messages(&f->block, u, f->in[t->parity], 1);
    step_block(&f->block, u, next);
}

/* Wait for the queue, which has the first error of its exchanges. */
static tacit_status wait_queue(life_field *f)
{
    double cell = 0.0;
    return tacit_queue_get(f->queue, 1, f->u[0], &cell);
}

static void gather(life_field *f)
{
    void *cell = f->u[f->made % 2] + life_at(&f->block, 0, 0);
    tacit_halo_arrays_gather(f->halo, &cell);
    f->exchanges++;
}

static tacit_status step_by_halo(life_field *f)
{
    double *u = f->u[f->made % 2], *next = f->u[1 - f->made % 2];
    gather(f);
    f->made++;
    if (f->stream) {
        TRY(cli_gpu_stream(f->queue, &f->stream));
        cli_gpu_life_step(f->stream, &f->block, u, next);
        return TACIT_OK;
    }
    TRY(wait_queue(f));
    step_block(&f->block, u, next);
    return TACIT_OK;
}

static tacit_status enqueue_step(life_field *f)
{
    if (f->halo) return step_by_halo(f);
    life_turn *turn = &f->turn[f->made % 2];
    const int first = turn->parity * LIFE_MESSAGES;
    if (!f->stream) TRY(cli_line_start(&f->line, first, EACH));
    TRY(cli_line_task(&f->line, pack, turn));
    if (f->stream) {
        TRY(cli_line_exchange(&f->line, first, LIFE_MESSAGES));
    } else {
        TRY(cli_line_start(&f->line, first + EACH, EACH));
        TRY(cli_line_wait(&f->line, first, LIFE_MESSAGES));
    }
    TRY(cli_line_task(&f->line, unpack_and_step, turn));
    f->made++;
    return TACIT_OK;
}

/* --- loops ---------------------------------------------------------------- */

/* A recording of two steps, from an even number on, also of exchanges of a halo:
 * each is of one of its two buffers. */
static tacit_status record(life_field *f)
{
    const int64_t made = f->made;
    if (f->halo && f->exchanges % 2) gather(f);
    if (f->recording) return TACIT_OK;
    for (int k = 0; k < 2 && f->halo; k++) gather(f); /* links make buffers */
    TRY(cli_gpu_stream(f->queue, &f->stream));
    TRY(cli_gpu_record(f->stream));
    tacit_status status = enqueue_step(f);
    if (status >= 0) status = enqueue_step(f);
    f->made = made;
    const tacit_status ended = cli_gpu_recorded(f->stream, &f->recording);
    return status < 0 ? status : ended;
}

tacit_status life_run(life_field *f, int64_t steps, bool graph)
{
    const int64_t end = f->made + steps;
    if (graph) TRY(record(f));
    for (; graph && f->made + 2 <= end; f->made += 2)
        TRY(cli_gpu_replay(f->stream, f->recording));
    while (f->made < end) TRY(enqueue_step(f));
    return f->halo ? wait_queue(f) : cli_line_finish(&f->line);
}
