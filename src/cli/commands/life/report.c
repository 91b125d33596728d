/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/life/report.c - the table of `tacit life`, as text and JSON. */
#include "cli/commands/life/life.h"
#include <inttypes.h>

static double gcells(const life_row *r)
{
    return 1e-9 * (double)r->n * (double)r->n / r->median;
}

static void add_row(cli_table *table, const life_row *r)
{
    char gain[CLI_NUMBER], wrong[CLI_NUMBER], serial[CLI_NUMBER];
    cli_table_row(table,
                  "%" PRId64 "\t%dx%d\t%s\t%s\t%.4g\t%.4g\t%.2g\t%s\t%.4g\t%s"
                  "\t%s",
                  r->n, r->blocks[0], r->blocks[1], r->mode, r->loop,
                  1e6 * r->mean, 1e6 * r->median, 1e6 * r->half,
                  cli_fixed(100.0 * r->gain, 1, gain), gcells(r),
                  cli_fixed(r->wrong, 0, wrong),
                  cli_fixed(r->serial_wrong, 0, serial));
}

void life_print(const cli *c, const life_row *rows, int count)
{
    cli_table table = {0};
    (void)c;
    cli_table_row(&table, "edge\tblocks\tmode\tloop\tstep us\tmedian us\t"
                          "95 %% +- us\tgain %%\tGCell/s\twrong\t"
                          "wrong, random");
    for (int k = 0; k < count; k++) add_row(&table, &rows[k]);
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

static cJSON *row_json(const life_row *r)
{
    cJSON *o = cJSON_CreateObject();
    cli_json_number(o, "edge", (double)r->n);
    cJSON_AddItemToObject(o, "blocks", cJSON_CreateIntArray(r->blocks, 2));
    cJSON_AddStringToObject(o, "mode", r->mode);
    cJSON_AddStringToObject(o, "loop", r->loop);
    cli_json_number(o, "step_mean", r->mean);
    cli_json_number(o, "step_median", r->median);
    cli_json_number(o, "step_interval", r->half);
    cli_json_number(o, "gain", r->gain);
    cli_json_number(o, "gcells_per_second", gcells(r));
    cli_json_number(o, "halo_bytes_a_step", r->bytes);
    cli_json_number(o, "wrong", r->wrong);
    cli_json_number(o, "wrong_random", r->serial_wrong);
    return o;
}

cJSON *life_json(const cli *c, const life_row *rows, int count)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddStringToObject(o, "device", c->device);
    cli_json_number(o, "ranks", c->ranks);
    cli_json_number(o, "steps", (double)c->set.life_steps);
    cli_json_number(o, "trials", (double)c->set.trials);
    cJSON *all = cJSON_AddArrayToObject(o, "results");
    for (int k = 0; k < count; k++)
        cJSON_AddItemToArray(all, row_json(&rows[k]));
    return o;
}
