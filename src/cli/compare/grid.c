/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/grid.c - `tacit compare GRID`: all ways to step a grid, ranked by
 * the time of a step. */
#include "cli/compare/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 64, DEEP = 160, MOST = 10000, WAYS_MOST = 32 };
static const double SECONDS = 0.1; /* of a run that counts */

typedef struct way_row {
    const tacit_stencil_way *way;
    int depth; /* 0: to be measured */
    tacit_field_result result;
    double step;      /* seconds, the median of the runs; NAN: none */
    char reason[256]; /* why the way is not there                   */
} way_row;

typedef struct ways {
    tacit_stencil stencil;
    tacit_queue *queue;
    tacit_field *field;
    double copy; /* GB/s */
    int count;
    way_row row[WAYS_MOST];
} ways;

/* --- options -------------------------------------------------------------- */

static bool is_of_grids(const cli_option *o)
{
    static const char *const names[] = {
        "type",   "comm", "device",  "ranks", "gpus",   "oversubscribe",
        "repeat", "json", "threads", "quiet", "verbose"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(o->name, names[k]) == 0) return true;
    return false;
}

static tacit_status check_options(const cli *c)
{
    const cli_option *o;
    for (int i = 0; (o = cli_option_at(c->set.command, i)) != NULL; i++)
        if (cli_was_said(&c->set, o) && !is_of_grids(o))
            FAIL(TACIT_INVALID, "--%s belongs to a MATRIX: leave it out of %s",
                 o->name, c->set.operand[0]);
    return cli_check_writable(c, c->set.json);
}

/* --- runs ----------------------------------------------------------------- */

static tacit_status run_way(ways *all, way_row *row, int64_t steps)
{
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = steps,
                                   .way = row->way->name,
                                   .depth = row->depth};
    row->result.size = sizeof row->result;
    TRY(tacit_field_fill(all->field, 1.0));
    return tacit_field_run(all->field, &o, &row->result);
}

/* Of a run that counts; times are those of all ranks. */
static int64_t steps_of(const way_row *row)
{
    const double steps = SECONDS / row->result.step_seconds;
    return steps > MOST ? MOST : steps > FIRST ? (int64_t)steps : FIRST;
}

/* The first run warms up and says how long others are; in one more a deep way
 * finds its depth. */
static tacit_status prepare_way(ways *all, way_row *row)
{
    TRY(run_way(all, row, FIRST));
    const int64_t steps = steps_of(row);
    if (row->way->deep) TRY(run_way(all, row, steps > DEEP ? steps : DEEP));
    row->depth = row->result.depth;
    return TACIT_OK;
}

static tacit_status time_way(const cli *c, ways *all, way_row *row)
{
    const int runs = c->set.repeat < 1 ? CLI_REPEATS : (int)c->set.repeat;
    double *seconds = NULL;
    tacit_status status = ALLOC(runs, "the times", &seconds);
    status = tacit_world_agree(c->world, status);
    if (status >= 0) status = prepare_way(all, row);
    for (int k = 0; status >= 0 && k < runs; k++) {
        status = run_way(all, row, steps_of(row));
        seconds[k] = row->result.step_seconds;
    }
    if (status >= 0) row->step = base_median(seconds, runs);
    free(seconds);
    return status;
}

/* A way that is refused has a reason; any other failure ends the comparison. */
static tacit_status add_way(const cli *c, ways *all,
                            const tacit_stencil_way *way)
{
    way_row *row = &all->row[all->count++];
    *row = (way_row){.way = way, .step = (double)NAN};
    const tacit_status status = time_way(c, all, row);
    if (status != TACIT_UNSUPPORTED && status != TACIT_INVALID) return status;
    snprintf(row->reason, sizeof row->reason, "%s", tacit_error_message());
    return TACIT_OK;
}

static int by_step(const void *a, const void *b)
{
    const way_row *x = a, *y = b;
    if (isfinite(x->step) != isfinite(y->step))
        return isfinite(x->step) ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static tacit_status all_ways(const cli *c, ways *all)
{
    const tacit_stencil_way *w;
    for (int i = 0; i < WAYS_MOST && (w = tacit_stencil_way_at(i)) != NULL; i++)
        TRY(add_way(c, all, w));
    qsort(all->row, (size_t)all->count, sizeof *all->row, by_step);
    if (isfinite(all->row[0].step)) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED, "no way steps this grid: %s", all->row[0].reason);
}

/* --- output --------------------------------------------------------------- */

static double gcells(const ways *all, const way_row *r)
{
    const tacit_stencil *s = &all->stencil;
    const int64_t z = s->n[2] > 0 ? s->n[2] : 1;
    return 1e-9 * (double)s->n[0] * (double)s->n[1] * (double)z / r->step;
}

static double share_of_copy(const ways *all, const way_row *r)
{
    return 1e-9 * r->result.bytes / r->step / all->copy;
}

static void print_ways(const ways *all)
{
    cli_table t = {.text = NULL};
    char share[CLI_NUMBER];
    cli_table_row(&t, "way\tdepth\tus a step\tGCell/s\tof copy\tratio");
    for (int i = 0; i < all->count && isfinite(all->row[i].step); i++) {
        const way_row *r = &all->row[i];
        cli_table_row(&t, "%s\t%d\t%.2f\t%.4g\t%s\t%.2f", r->way->name,
                      r->result.depth, 1e6 * r->step, gcells(all, r),
                      cli_fixed(share_of_copy(all, r), 2, share),
                      r->step / all->row[0].step);
    }
    cli_table_print(&t, stdout);
    cli_table_free(&t);
    for (int i = 0; i < all->count; i++)
        if (all->row[i].reason[0])
            printf("%s: %s\n", all->row[i].way->name, all->row[i].reason);
}

static cJSON *row_json(const ways *all, const way_row *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "way", r->way->name);
    cli_json_number(o, "depth", r->result.depth);
    cli_json_number(o, "step_seconds", r->step);
    cli_json_number(o, "gcells_per_second", gcells(all, r));
    cli_json_number(o, "fraction_of_copy", share_of_copy(all, r));
    cli_json_number(o, "ratio", r->step / all->row[0].step);
    return o;
}

static cJSON *ways_json(const cli *c, const ways *all)
{
    cJSON *o = cJSON_CreateObject(), *rows, *missing;
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddStringToObject(o, "grid", c->set.operand[0]);
    cJSON_AddStringToObject(o, "device", c->device);
    cli_json_number(o, "copy_gbytes_per_second", all->copy);
    rows = cJSON_AddArrayToObject(o, "rows");
    missing = cJSON_AddArrayToObject(o, "unavailable");
    for (int i = 0; i < all->count; i++) {
        const way_row *r = &all->row[i];
        cJSON *m;
        if (!r->reason[0]) {
            cJSON_AddItemToArray(rows, row_json(all, r));
            continue;
        }
        cJSON_AddItemToArray(missing, m = cJSON_CreateObject());
        cJSON_AddStringToObject(m, "what", "way");
        cJSON_AddStringToObject(m, "name", r->way->name);
        cJSON_AddStringToObject(m, "reason", r->reason);
    }
    return o;
}

/* --- the command ---------------------------------------------------------- */

static tacit_status compare_ways(const cli *c, ways *all)
{
    char spec[CLI_SPEC];
    TRY(check_options(c));
    all->stencil =
        (tacit_stencil){.size = sizeof all->stencil, .type = c->set.type};
    TRY(tacit_stencil_parse(c->set.operand[0], &all->stencil));
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &all->queue));
    TRY(tacit_field_create(all->queue, &all->stencil, &all->field));
    TRY(all_ways(c, all));
    all->copy =
        cli_measure_copy(c, all->queue, tacit_stencil_bytes(&all->stencil));
    if (cli_prints(c) && !cli_output_taken(c)) print_ways(all);
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, ways_json(c, all));
}

tacit_status cli_compare_grid(const cli *c)
{
    ways all = {.count = 0};
    const tacit_status status = compare_ways(c, &all);
    tacit_field_destroy(&all.field);
    tacit_queue_destroy(&all.queue);
    return status;
}
