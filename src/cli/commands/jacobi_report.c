/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/jacobi_report.c - the result of `tacit jacobi`, as text and as
 * JSON. */
#include "cli/commands/jacobi.h"
#include <inttypes.h>

static const char axes[] = "xyz";

double jacobi_cells(const jacobi_job *job)
{
    const tacit_stencil *s = &job->stencil;
    return (double)s->n[0] * (double)s->n[1] * (double)s->n[2];
}

/* NAN: none are computed. */
static double cell_steps(const jacobi_job *job)
{
    return job->best.moved_bytes > 0.0 ? jacobi_cells(job) : (double)NAN;
}

double jacobi_gcells(const jacobi_job *job)
{
    return 1e-9 * cell_steps(job) / job->best.step_seconds;
}

double jacobi_rate(const jacobi_job *job)
{
    return jacobi_gcells(job) * job->best.bytes / jacobi_cells(job);
}

static const char *type_of(const jacobi_job *job)
{
    return job->stencil.type ? job->stencil.type : "double";
}

/* "x, y" or "none". */
static const char *sides_of(const jacobi_job *job, char text[8])
{
    char *end = text;
    for (int d = 0; d < 3; d++)
        if (job->stencil.periodic >> d & 1) *end++ = axes[d];
    *end = '\0';
    return text[0] ? text : "none";
}

static const char *weights_of(const jacobi_job *job)
{
    switch (job->stencil.weights) {
    case TACIT_WEIGHTS_MEAN: return "mean";
    case TACIT_WEIGHTS_CONSTANT: return "constant";
    case TACIT_WEIGHTS_CELLS: return "cells";
    }
    return "mean";
}

/* --- text ----------------------------------------------------------------- */

static void print_grid(const cli *c, const jacobi_job *job)
{
    char cells[CLI_NUMBER], sides[8], memory[CLI_NUMBER];
    printf("grid     %s: %s cells of type %s, periodic sides %s, boundary "
           "%g, weights %s, %s\n",
           c->set.operand[0], cli_integer((int64_t)jacobi_cells(job), cells),
           type_of(job), sides_of(job, sides), job->stencil.boundary,
           weights_of(job),
           cli_bytes(tacit_stencil_bytes(&job->stencil), memory));
}

static void print_blocks(const jacobi_job *job)
{
    char a[CLI_NUMBER];
    const int *blocks = job->block.blocks;
    const tacit_field_result *r = &job->best;
    if (job->block.ranks == 1) return;
    printf("         blocks %d x %d", blocks[0], blocks[1]);
    if (job->shape->dimensions == 3) printf(" x %d", blocks[2]);
    printf(", comm %s, %d ghost cell%s at a side, halos of %s a step%s\n",
           tacit_queue_link(job->queue), r->ghost, r->ghost == 1 ? "" : "s",
           cli_bytes(r->halo_bytes, a),
           r->boundary_tiles < 0 ? ", after all cells" : "");
}

/* Of ways whose tiles have owners. */
static void print_tiles(const tacit_field_result *r)
{
    if (r->tiles == 0) return;
    printf("         %d tiles", r->tiles);
    if (r->boundary_tiles > 0)
        printf(", %d of a boundary layer (the paper's formula: %.3g)",
               r->boundary_tiles, r->boundary_formula);
    if (r->on_chip > 0.0)
        printf(", %.0f %% of the cells stay on chip", 1e2 * r->on_chip);
    printf("\n");
}

static void print_path(const jacobi_job *job)
{
    char name[160], a[CLI_NUMBER];
    const tacit_field_result *r = &job->best;
    tacit_queue_describe(job->queue, name, sizeof name);
    printf("path     way %s%s%s, depth %d, device %s (%s), %d rank%s x %d "
           "thread%s\n",
           r->way, r->loop ? ", loop " : "", r->loop ? r->loop : "", r->depth,
           job->device, name, job->block.ranks,
           job->block.ranks == 1 ? "" : "s", r->threads,
           r->threads == 1 ? "" : "s");
    print_blocks(job);
    print_tiles(&job->best);
    const char *before = "         measured: ";
    for (int k = 0; k < job->first.trials; k++) {
        const tacit_field_trial *t = &job->first.trial[k];
        printf("%s%s", before, t->way);
        if (t->depth > 1) printf("(%d)", t->depth);
        if (t->boundary_tiles != 0)
            printf("(%d at a boundary)",
                   t->boundary_tiles > 0 ? t->boundary_tiles : 0);
        printf(" %s", cli_seconds(t->step_seconds, a));
        before = ", ";
    }
    if (job->first.trials > 0) printf(" a step\n");
}

static void print_result(const jacobi_job *job)
{
    const tacit_field_result *r = &job->best;
    const bool known = isfinite(r->change) && r->first_change > 0.0;
    char change[CLI_NUMBER] = "not finite";
    if (isfinite(r->change)) cli_small(r->change, change);
    printf("result   %" PRId64 " step%s", r->steps, r->steps == 1 ? "" : "s");
    if (r->changed_at > 0)
        printf(", the change of step %" PRId64 " is %s", r->changed_at, change);
    if (r->changed_at > 0 && known)
        printf(", %.3e of the first", r->change / r->first_change);
    printf("\n");
}

static void print_times(const jacobi_job *job)
{
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER];
    const tacit_field_result *r = &job->best;
    printf("time     read %s, set-up %s, steps %s (%s a step)\n",
           cli_seconds(job->read, a), cli_seconds(job->setup, b),
           cli_seconds(r->seconds, d),
           cli_seconds(r->step_seconds, (char[CLI_NUMBER]){0}));
    if (job->runs > 1)
        printf("         %d runs: %s a step at least, %s in the median\n",
               job->runs, cli_seconds(r->step_seconds, a),
               cli_seconds(job->step_median, b));
    if (!isfinite(jacobi_rate(job))) return;
    printf("rate     %.4g GCell/s, %.3g GB/s if each cell is read and written "
           "once",
           jacobi_gcells(job), jacobi_rate(job));
    if (isfinite(job->copy))
        printf(": %.2f of copying at %.3g GB/s", jacobi_rate(job) / job->copy,
               job->copy);
    printf("\n");
}

static const char *skip_of(const cli *c)
{
    if (c->set.no_compute) return "computing";
    return c->set.no_communication ? "communication" : NULL;
}

void jacobi_print(const cli *c, const jacobi_job *job)
{
    const char *skip = skip_of(c);
    print_grid(c, job);
    print_path(job);
    if (skip)
        printf("         steps without %s: the field is undefined\n", skip);
    print_result(job);
    print_times(job);
}

/* --- JSON ----------------------------------------------------------------- */

static void add_grid(const cli *c, const jacobi_job *job, cJSON *to)
{
    const tacit_stencil *s = &job->stencil;
    char sides[8];
    cJSON *o = cJSON_AddObjectToObject(to, "grid");
    cJSON_AddStringToObject(o, "name", c->set.operand[0]);
    cJSON_AddStringToObject(o, "stencil", s->shape);
    cJSON *n = cJSON_AddArrayToObject(o, "n");
    for (int d = 0; d < job->shape->dimensions; d++)
        cJSON_AddItemToArray(n, cli_json_value((double)s->n[d]));
    cli_json_number(o, "cells", jacobi_cells(job));
    cJSON_AddStringToObject(o, "type", type_of(job));
    cJSON_AddStringToObject(o, "periodic", sides_of(job, sides));
    cli_json_number(o, "boundary", s->boundary);
    cJSON_AddStringToObject(o, "weights", weights_of(job));
    const bool constant = s->weights == TACIT_WEIGHTS_CONSTANT;
    cli_json_number(o, "centre", constant ? s->centre : (double)NAN);
    cli_json_number(o, "neighbours", constant ? s->neighbours : (double)NAN);
    cli_json_number(o, "bytes", tacit_stencil_bytes(s));
}

static void add_tiles(cJSON *to, const tacit_field_result *r)
{
    if (r->tiles != 0 || r->boundary_tiles != 0)
        cli_json_number(to, "boundary_tiles", r->boundary_tiles);
    if (r->tiles == 0) return;
    cli_json_number(to, "tiles", r->tiles);
    cli_json_number(to, "boundary_formula", r->boundary_formula);
    cli_json_number(to, "on_chip", r->on_chip);
}

static void add_skip(const char *skip, cJSON *to)
{
    if (skip) cJSON_AddStringToObject(to, "skip", skip);
    else cJSON_AddNullToObject(to, "skip");
}

static void add_path(const cli *c, const jacobi_job *job, cJSON *to)
{
    char name[160];
    const tacit_field_result *r = &job->best;
    cJSON *o = cJSON_AddObjectToObject(to, "path");
    tacit_queue_describe(job->queue, name, sizeof name);
    cJSON_AddStringToObject(o, "way", r->way);
    if (r->loop) cJSON_AddStringToObject(o, "loop", r->loop);
    cli_json_number(o, "depth", r->depth);
    cJSON_AddStringToObject(o, "device", job->device);
    cJSON_AddStringToObject(o, "device_name", name);
    cli_json_number(o, "ranks", job->block.ranks);
    cli_json_number(o, "threads", r->threads);
    cJSON_AddStringToObject(o, "comm", tacit_queue_link(job->queue));
    cJSON_AddItemToObject(
        o, "blocks",
        cJSON_CreateIntArray(job->block.blocks, job->shape->dimensions));
    cli_json_number(o, "ghost", r->ghost);
    cli_json_number(o, "halo_bytes_a_step", r->halo_bytes);
    add_tiles(o, r);
    add_skip(skip_of(c), o);
    cJSON *all = job->first.trials > 0 ? cJSON_AddArrayToObject(o, "trials")
                                       : cJSON_AddNullToObject(o, "trials");
    for (int k = 0; k < job->first.trials; k++) {
        const tacit_field_trial *t = &job->first.trial[k];
        cJSON *trial = cJSON_CreateObject();
        cJSON_AddStringToObject(trial, "way", t->way);
        cli_json_number(trial, "depth", t->depth);
        cli_json_number(trial, "boundary_tiles", t->boundary_tiles);
        cli_json_number(trial, "step_seconds", t->step_seconds);
        cJSON_AddItemToArray(all, trial);
    }
}

static void add_result(const cli *c, const jacobi_job *job, cJSON *to)
{
    const tacit_field_result *r = &job->best;
    cJSON *o = cJSON_AddObjectToObject(to, "result");
    if (c->set.field_rtol > 0.0)
        cJSON_AddBoolToObject(o, "converged", job->status == TACIT_OK);
    else cJSON_AddNullToObject(o, "converged");
    cli_json_number(o, "steps", (double)r->steps);
    cli_json_number(o, "change", r->change);
    cli_json_number(o, "changed_at",
                    r->changed_at > 0 ? (double)r->changed_at : (double)NAN);
    cli_json_number(o, "first_change", r->first_change);
}

static void add_times(const jacobi_job *job, cJSON *to)
{
    const tacit_field_result *r = &job->best;
    cJSON *o = cJSON_AddObjectToObject(to, "time");
    cli_json_number(o, "read", job->read);
    cli_json_number(o, "setup", job->setup);
    cli_json_number(o, "steps", r->seconds);
    cli_json_number(o, "step_min", r->step_seconds);
    cli_json_number(o, "step_median", job->step_median);
    cJSON_AddItemToObject(o, "all_runs",
                          cli_json_values(job->seconds, job->runs));
    cli_json_number(o, "total", base_seconds() - job->start);
    o = cJSON_AddObjectToObject(to, "rate");
    cli_json_number(o, "gcells_per_second", jacobi_gcells(job));
    cli_json_number(o, "bytes_a_step", r->bytes);
    cli_json_number(o, "moved_bytes_a_step", r->moved_bytes);
    cli_json_number(o, "gbytes_per_second", jacobi_rate(job));
    cli_json_number(o, "copy_gbytes_per_second", job->copy);
    cli_json_number(o, "fraction_of_copy", jacobi_rate(job) / job->copy);
}

cJSON *jacobi_json(const cli *c, const jacobi_job *job)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    add_grid(c, job, o);
    add_path(c, job, o);
    add_result(c, job, o);
    add_times(job, o);
    return o;
}
