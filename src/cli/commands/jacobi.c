/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/jacobi.c - `tacit jacobi`: steps of a grid. */
#include "cli/commands/jacobi.h"
#include <inttypes.h>
#include <string.h>

/* --- options -------------------------------------------------------------- */

static tacit_status read_sides(const cli *c, tacit_stencil *s, int dimensions)
{
    static const char axes[] = "xyz";
    for (const char *p = c->set.periodic; p && *p; p++) {
        const char *found = strchr(axes, *p);
        const unsigned bit = found ? 1u << (found - axes) : 0;
        if (!found || found - axes >= dimensions || (s->periodic & bit))
            FAIL(TACIT_INVALID,
                 "--periodic '%s': expected letters of %.*s, each once, such "
                 "as x",
                 c->set.periodic, dimensions, axes);
        s->periodic |= bit;
    }
    return TACIT_OK;
}

/* Is the grid periodic in all directions? */
static bool is_closed(const tacit_stencil *s, int dimensions)
{
    return s->periodic == (1u << dimensions) - 1;
}

static void read_weights(const cli *c, tacit_stencil *s)
{
    double pair[2];
    if (!c->set.coefficients) return;
    s->weights = TACIT_WEIGHTS_CELLS;
    if (!cli_parse_pair(c->set.coefficients, pair)) return;
    s->weights = TACIT_WEIGHTS_CONSTANT;
    s->centre = pair[0];
    s->neighbours = pair[1];
}

/* "2x3", a number for each direction. */
static tacit_status read_blocks(const cli *c, tacit_stencil *s, int dimensions)
{
    const char *text = c->set.blocks;
    char all[64];
    if (!text || strcmp(text, "auto") == 0) return TACIT_OK;
    snprintf(all, sizeof all, "%.50s%s", text, dimensions == 2 ? "x1" : "");
    if (cli_parse_shape(all, s->blocks)) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "--blocks '%s': expected %d numbers, such as %s, or auto", text,
         dimensions, dimensions == 2 ? "1x2" : "1x2x2");
}

static tacit_status read_grid(const cli *c, jacobi_job *job)
{
    tacit_stencil *s = &job->stencil;
    *s = (tacit_stencil){.size = sizeof *s, .type = c->set.type};
    TRY(tacit_stencil_parse(c->set.operand[0], s));
    for (int i = 0; (job->shape = tacit_stencil_shape_at(i)) != NULL; i++)
        if (strcmp(job->shape->name, s->shape) == 0) break;
    const int dimensions = job->shape->dimensions;
    TRY(read_sides(c, s, dimensions));
    if (is_closed(s, dimensions) && c->set.boundary != 0.0)
        FAIL(TACIT_INVALID,
             "--boundary %g: nothing is outside a grid with --periodic %s: "
             "leave one of them out",
             c->set.boundary, c->set.periodic);
    s->boundary = c->set.boundary;
    TRY(read_blocks(c, s, dimensions));
    read_weights(c, s);
    return TACIT_OK;
}

/* --no-compute, --no-communication, or NULL. */
static const char *skip_name(const cli *c)
{
    if (c->set.no_compute) return "--no-compute";
    return c->set.no_communication ? "--no-communication" : NULL;
}

static tacit_status check_skip(const cli *c)
{
    const tacit_stencil_way *w;
    const char *name = c->set.way, *skip = skip_name(c);
    if (!skip) return TACIT_OK;
    if (!name || strcmp(name, "auto") == 0)
        FAIL(TACIT_INVALID,
             "%s: ways would be chosen by steps that are not whole: add --way",
             skip);
    for (int i = 0; (w = tacit_stencil_way_at(i)) != NULL; i++)
        if (strcmp(w->name, name) == 0 && w->deep && c->set.depth == 0)
            FAIL(TACIT_INVALID,
                 "%s: the depth of way %s would be chosen by steps that are "
                 "not whole: add --depth",
                 skip, name);
    return TACIT_OK;
}

static tacit_field_skip skip_of(const cli *c)
{
    if (c->set.no_compute) return TACIT_SKIP_COMPUTING;
    return c->set.no_communication ? TACIT_SKIP_COMMUNICATION
                                   : TACIT_SKIP_NOTHING;
}

static tacit_status check_way(const cli *c)
{
    const tacit_stencil_way *w;
    const char *name = c->set.way;
    for (int i = 0; name && (w = tacit_stencil_way_at(i)) != NULL; i++)
        if (strcmp(w->name, name) == 0 && !w->deep && c->set.depth > 0)
            FAIL(TACIT_INVALID,
                 "--depth belongs to --way tiles or auto: way %s makes one "
                 "step at a time",
                 name);
    if (c->set.repeat > 1 && c->set.x0 && strcmp(c->set.x0, "-") == 0)
        FAIL(TACIT_INVALID,
             "--x0 -: standard input is read once, and each of "
             "--repeat %" PRId64 " runs begins with it: name a "
             "file",
             c->set.repeat);
    return TACIT_OK;
}

static tacit_status check_outputs(const cli *c)
{
    const char *path = c->set.output;
    const size_t length = path ? strlen(path) : 0;
    const bool npy = length > 4 && strcmp(path + length - 4, ".npy") == 0;
    if (path && !npy && !tacit_file_is_stdout(path))
        FAIL(TACIT_INVALID,
             "-o %s: a field is written as .npy: give it that ending", path);
    TRY(cli_check_writable(c, path));
    TRY(cli_check_writable(c, c->set.png));
    return cli_check_writable(c, c->set.json);
}

/* --- overflow ------------------------------------------------------------- */

/* Is every value of the field a number? */
static tacit_status is_finite(const cli *c, const jacobi_job *job, bool *out)
{
    enum { BATCH = 1 << 16 };
    const int64_t all = (int64_t)jacobi_cells(job);
    double *value = NULL, wrong = 0.0;
    TRY(tacit_world_agree(c->world, ALLOC(BATCH, "some cells", &value)));
    tacit_status status = TACIT_OK;
    for (int64_t first = 0; first < all && status >= 0; first += BATCH) {
        const int64_t n = all - first < BATCH ? all - first : BATCH;
        memset(value, 0, BATCH * sizeof *value); /* cells of other ranks */
        status = tacit_field_get(job->field, first, n, value);
        for (int64_t k = 0; k < n; k++)
            if (!isfinite(value[k])) wrong = 1.0;
    }
    free(value);
    TRY(tacit_world_agree(c->world, status));
    *out = cli_max(c, wrong) == 0.0;
    return TACIT_OK;
}

static bool is_written(const cli *c)
{
    return c->set.output || c->set.png;
}

/* Weights may let a field grow: it is looked at where it is written or its
 * change is measured, unless values of the start are no numbers, as the user
 * wants it. */
static tacit_status begin_to_watch(const cli *c, jacobi_job *job)
{
    job->grows =
        c->set.norm_every > 0 || (c->set.coefficients && is_written(c));
    return job->grows && c->set.x0 ? is_finite(c, job, &job->grows) : TACIT_OK;
}

static tacit_status find_overflow(const cli *c, jacobi_job *job)
{
    const tacit_field_result *r = &job->best;
    const bool change = r->changed_at > 0 && !isfinite(r->change);
    bool finite = true;
    if (!job->grows || job->status != TACIT_OK) return TACIT_OK;
    if (!change && is_written(c)) TRY(is_finite(c, job, &finite));
    if (!change && finite) return TACIT_OK;
    job->status = TACIT_BREAKDOWN;
    snprintf(job->message, sizeof job->message,
             "step %" PRId64
             ": the %s is not finite: weights let the field grow beyond the "
             "range of its type: give smaller ones, or fewer --steps",
             change ? r->changed_at : r->steps, change ? "change" : "field");
    return TACIT_OK;
}

/* --- the runs ------------------------------------------------------------- */

/* The field of the start, again before each run. */
static tacit_status begin(const cli *c, jacobi_job *job)
{
    const double start = base_seconds();
    TRY(c->set.x0 ? tacit_field_read(job->field, c->set.x0)
                  : tacit_field_fill(job->field, 0.0));
    job->read += base_seconds() - start;
    return TACIT_OK;
}

static tacit_status set_up(const cli *c, jacobi_job *job)
{
    const double start = base_seconds();
    char spec[CLI_SPEC];
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &job->queue));
    job->device = c->device;
    TRY(tacit_field_create(job->queue, &job->stencil, &job->field));
    job->block.size = sizeof job->block;
    TRY(tacit_field_block_of(job->field, &job->block));
    job->setup = base_seconds() - start;
    if (job->stencil.weights != TACIT_WEIGHTS_CELLS) return TACIT_OK;
    TRY(tacit_field_read_weights(job->field, c->set.coefficients));
    job->read = base_seconds() - start - job->setup;
    return TACIT_OK;
}

static int note_change(void *ctx, int64_t step, double change)
{
    cli_log(ctx, CLI_NOTE, "step %" PRId64 ": change %.6e", step, change);
    return 0;
}

/* Run `number`, from the start; the way that the first has found makes the
 * others. */
static tacit_status run_once(const cli *c, jacobi_job *job, int number)
{
    cli log = *c;
    const bool again = number > 0;
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = c->set.field_steps,
                                   .way = again ? job->first.way : c->set.way,
                                   .depth = again ? job->first.depth
                                                  : (int)c->set.depth,
                                   .norm_every = c->set.norm_every,
                                   .rtol = c->set.field_rtol,
                                   .loop = c->set.loop,
                                   .skip = skip_of(c),
                                   .monitor = note_change,
                                   .monitor_ctx = &log};
    tacit_field_result r = {.size = sizeof r};
    TRY(begin(c, job));
    if (!again) TRY(begin_to_watch(c, job));
    TRY(job->status = tacit_field_run(job->field, &o, &r));
    if (job->status != TACIT_OK)
        snprintf(job->message, sizeof job->message, "%s",
                 tacit_error_message());
    if (number == 0) job->first = r;
    if (number == 0 || r.step_seconds < job->best.step_seconds) job->best = r;
    job->seconds[number] = r.step_seconds;
    return TACIT_OK;
}

static tacit_status run_all(const cli *c, jacobi_job *job)
{
    job->runs = c->set.repeat < 1 ? 1 : (int)c->set.repeat;
    double *sorted = NULL;
    TRY(ALLOC(job->runs, "the times", &job->seconds));
    TRY(ALLOC(job->runs, "the times", &sorted));
    tacit_status status = TACIT_OK;
    for (int k = 0; k < job->runs && status >= 0; k++)
        status = run_once(c, job, k);
    memcpy(sorted, job->seconds, (size_t)job->runs * sizeof *sorted);
    job->step_median = base_median(sorted, job->runs);
    free(sorted);
    return status;
}

/* --- the command ---------------------------------------------------------- */

static tacit_status write_outputs(const cli *c, jacobi_job *job)
{
    job->copy = (double)NAN;
    if (!c->set.quiet || c->set.json)
        job->copy = cli_measure_copy(c, job->queue, job->best.bytes);
    if (cli_prints(c) && !cli_output_taken(c)) jacobi_print(c, job);
    fflush(stdout);
    if (c->set.output) TRY(tacit_field_write(job->field, c->set.output));
    if (c->set.png) TRY(tacit_field_write_png(job->field, c->set.png));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, jacobi_json(c, job));
}

static tacit_status jacobi(const cli *c, jacobi_job *job)
{
    TRY(read_grid(c, job));
    TRY(check_way(c));
    TRY(check_skip(c));
    TRY(check_outputs(c));
    TRY(set_up(c, job));
    TRY(run_all(c, job));
    TRY(find_overflow(c, job));
    TRY(write_outputs(c, job));
    if (job->status != TACIT_OK && c->rank == 0) cli_complain(job->message);
    return job->status;
}

static tacit_status jacobi_run(cli *c)
{
    jacobi_job job = {.start = base_seconds()};
    const tacit_status status = jacobi(c, &job);
    free(job.seconds);
    tacit_field_destroy(&job.field);
    tacit_queue_destroy(&job.queue);
    return status;
}

const cli_command cli_command_jacobi = {
    .name = "jacobi",
    .operands = "GRID",
    .summary = "Jacobi iterations on a grid",
    .about =
        "Step a grid: each cell becomes a weighted sum of itself and its "
        "neighbours, all of the step before. By default it is the mean of the "
        "neighbours, Jacobi's iteration for Laplace's equation. GRID is a "
        "stencil and a size: star2d1r:NXxNY (5 points), box2d1r:NXxNY (9), "
        "star3d1r:NXxNYxNZ (7), box3d1r:NXxNYxNZ (27).\n\nWays make the same "
        "steps: copy in a sweep each, tiles several at a time while a tile is "
        "in the cache or, on a GPU, in registers. Others differ in how several "
        "processes exchange ghost cells. Results have the same bits "
        "in each way, for any depth "
        "and number of threads. The report has the time of a step and its "
        "share of a copy's bandwidth, where a step that reads and writes each "
        "cell once counts; tiles exceed 1.\n\nSeveral processes, of mpirun or "
        "--ranks, have a block of the grid each, and ghost cells of their "
        "neighbours, as many as steps are made at a time; results have the "
        "same bits. With --no-compute they exchange ghost cells and compute "
        "nothing, with --no-communication the other way round; times of both "
        "beside that of whole steps say how much overlaps.\n\nFields are row "
        "by row: arrays "
        "of NY rows by NX cells, or NZ by NY by NX.",
    .takes = {1, 1},
    .run = jacobi_run,
};
