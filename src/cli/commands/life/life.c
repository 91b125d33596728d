/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/life.c - `tacit life`: the Game of Life on a torus, by each
 * mode of messages, with the gain of each over the first. */
#include "cli/commands/life/life.h"
#include <inttypes.h>

enum { EDGES_MOST = 32, ROWS_MOST = 5 * EDGES_MOST };

typedef struct life_job {
    int64_t edge[EDGES_MOST];
    int edges;
    life_row row[ROWS_MOST];
    int rows;
    double *seconds; /* [trials] */
} life_job;

/* --- options -------------------------------------------------------------- */

static tacit_status add_edge(life_job *job, const char *text)
{
    int64_t n = 0;
    if (!cli_parse_integer(text, &n) || n < 1 || n > 1 << 20)
        FAIL(TACIT_INVALID,
             "life '%s': expected a number of cells, a multiple of 8 up to "
             "1048576",
             text);
    if (job->edges == EDGES_MOST)
        FAIL(TACIT_INVALID, "--edges: at most %d", EDGES_MOST);
    job->edge[job->edges++] = n;
    return TACIT_OK;
}

/* N, or the list of --edges. */
static tacit_status read_edges(const cli *c, life_job *job)
{
    char word[32];
    const char *p = c->set.edges;
    if (c->set.operands > 0) TRY(add_edge(job, c->set.operand[0]));
    if (!p == (c->set.operands == 0))
        FAIL(TACIT_INVALID, "tacit life needs N or --edges, one of them");
    while (p) {
        const size_t length = strcspn(p, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31),
                 p);
        TRY(add_edge(job, word));
        p = p[length] ? p + length + 1 : NULL;
    }
    return TACIT_OK;
}

static tacit_status check(const cli *c, life_job *job)
{
    int blocks[2];
    TRY(read_edges(c, job));
    TRY(cli_check_loop(c));
    for (int k = 0; k < job->edges; k++) {
        TRY(life_cut(job->edge[k], c->ranks, blocks));
        if (!cli_on_gpu(c)) TRY(life_check_room(c, job->edge[k]));
    }
    TRY(cli_check_writable(c, c->set.png));
    return cli_check_writable(c, c->set.json);
}

/* --- a mode --------------------------------------------------------------- */

/* Seconds of a step, of the slowest rank. Collective. */
static tacit_status time_steps(life_field *f, double *seconds)
{
    const cli *c = f->c;
    TRY(tacit_world_agree(c->world, life_fill(f, life_gliders(0))));
    const double start = base_seconds();
    TRY(life_run(f, c->set.life_steps, cli_in_graph(c)));
    *seconds = cli_max(c, (base_seconds() - start) / (double)c->set.life_steps);
    return TACIT_OK;
}

static tacit_status complain(const life_row *r, double wrong, const char *of)
{
    FAIL(TACIT_COMM,
         "life %" PRId64 ", mode %s: %.0f cells are not those of %s", r->n,
         r->mode, wrong, of);
}

/* A random field, for as many steps as a serial run may take. */
static tacit_status check_random(life_field *f, life_row *r)
{
    const int64_t steps = f->c->set.life_steps;
    r->serial_wrong = (double)NAN;
    if (r->n > LIFE_SERIAL) return TACIT_OK;
    TRY(tacit_world_agree(f->c->world, life_fill_random(f)));
    TRY(life_run(f, steps < LIFE_SERIAL_STEPS ? steps : LIFE_SERIAL_STEPS,
                 cli_in_graph(f->c)));
    TRY(life_check_serial(f, &r->serial_wrong));
    return r->serial_wrong > 0.0 ? complain(r, r->serial_wrong, "a serial run")
                                 : TACIT_OK;
}

static tacit_status check_gliders(life_field *f, life_row *r)
{
    TRY(life_check(f, &r->wrong));
    return r->wrong > 0.0 ? complain(r, r->wrong, "the gliders") : TACIT_OK;
}

static bool checks(const cli *c)
{
    return !c->set.check || strcmp(c->set.check, "exact") == 0;
}

static tacit_status measure(life_field *f, double *seconds, life_row *r)
{
    const int trials = (int)f->c->set.trials;
    r->wrong = r->serial_wrong = (double)NAN;
    if (checks(f->c)) TRY(check_random(f, r));
    for (int k = 0; k < trials; k++) {
        TRY(time_steps(f, &seconds[k]));
        if (checks(f->c)) TRY(check_gliders(f, r));
    }
    base_interval(seconds, trials, &r->mean, &r->half);
    r->median = base_median(seconds, trials);
    return TACIT_OK;
}

typedef struct {
    life_field *f;
    life_job *job;
} mode_job;

static tacit_status run_mode(void *ctx, const char *mode)
{
    const mode_job *m = ctx;
    life_field *f = m->f;
    life_job *job = m->job;
    life_row *r = &job->row[job->rows];
    *r = (life_row){.n = f->block.n,
                    .blocks = {f->blocks[0], f->blocks[1]},
                    .mode = mode,
                    .loop = cli_in_graph(f->c) ? "graph" : "host",
                    .bytes = 8.0 *
                             (2.0 * (double)(f->block.nx + f->block.ny) + 4.0)};
    if (cli_in_graph(f->c)) TRY(cli_check_recorded(mode, f->queue));
    TRY(life_connect(f, mode));
    TRY(measure(f, job->seconds, r));
    const life_row *base = r;
    while (base > job->row && base[-1].n == r->n) base--;
    r->gain = base == r ? (double)NAN : 1.0 - r->median / base->median;
    job->rows++;
    return TACIT_OK;
}

/* --- the command ---------------------------------------------------------- */

static tacit_status run_modes(life_field *f, life_job *job)
{
    mode_job m = {f, job};
    TRY(cli_each_mode(f->c, f->stream, run_mode, &m));
    return f->c->set.png ? life_write_png(f, f->c->set.png) : TACIT_OK;
}

static tacit_status run_edges(const cli *c, life_job *job)
{
    tacit_status status = TACIT_OK;
    for (int k = 0; k < job->edges && status >= 0; k++) {
        life_field f;
        status = life_open(c, job->edge[k], &f);
        if (status >= 0) status = run_modes(&f, job);
        life_close(&f);
    }
    return status;
}

static tacit_status life(const cli *c, life_job *job)
{
    TRY(check(c, job));
    TRY(tacit_world_agree(c->world,
                          ALLOC(c->set.trials, "the times", &job->seconds)));
    TRY(run_edges(c, job));
    if (cli_prints(c) && !cli_output_taken(c))
        life_print(c, job->row, job->rows);
    fflush(stdout);
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, life_json(c, job->row, job->rows));
}

static tacit_status life_command(cli *c)
{
    life_job job = {.rows = 0};
    const tacit_status status = life(c, &job);
    free(job.seconds);
    return status;
}

const cli_command cli_command_life = {
    .name = "life",
    .operands = "[N]",
    .summary = "Game of Life on a torus, with messages by a triggered queue",
    .about =
        "Step an N x N torus of cells that are doubles, as in the paper on "
        "triggered messages: a block a process, ghost cells of its eight "
        "neighbours. N is a multiple of 8. Messages go by each mode that this "
        "run can have: mpi (persistent requests of plain MPI, under mpirun), "
        "fences and fused (halos: messages of the queue's link, stores into "
        "the neighbours' memory), send and ready (a triggered queue, into "
        "which all steps are put before the one wait for them). On a GPU "
        "--loop graph replays a recording of two steps, of each mode but "
        "fences over link mpi. The table has the time of a step, and the "
        "gain of a mode over the first one, over the lengths of --edges.\n\n"
        "The field is full of gliders, whose cells are known after any number "
        "of steps: all cells are compared after each trial, and a random field "
        "of at most 512 x 512 with a serial run.",
    .takes = {0, 1},
    .run = life_command,
};
