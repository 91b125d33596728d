/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/pingpong_report.c - the table of `tacit pingpong`, as text and
 * JSON. */
#include "cli/commands/pingpong.h"
#include <inttypes.h>
#include <math.h>

/* Bytes of one way per second. */
static double gbytes(const trip_row *r)
{
    return 1e-9 * (double)r->bytes / (r->median / 2);
}

void pingpong_print_head(void)
{
    printf("bytes\tmode\ttrips\tround trip us\tmedian us\t95 %% +- us\t"
           "one way us\tGB/s\n");
    fflush(stdout);
}

void pingpong_print(const trip_row *r)
{
    printf("%" PRId64 "\t%s\t%" PRId64 "\t%.4g\t%.4g\t", r->bytes, r->mode,
           r->trips, 1e6 * r->mean, 1e6 * r->median);
    if (isfinite(r->half)) printf("%.2g", 1e6 * r->half);
    else printf("-");
    printf("\t%.4g\t%.4g\n", 1e6 * r->median / 2, gbytes(r));
    fflush(stdout);
}

static cJSON *row_json(const trip_row *r)
{
    cJSON *o = cJSON_CreateObject();
    cli_json_number(o, "bytes", (double)r->bytes);
    cJSON_AddStringToObject(o, "mode", r->mode);
    cli_json_number(o, "trips", (double)r->trips);
    cli_json_number(o, "round_trip_mean", r->mean);
    cli_json_number(o, "round_trip_median", r->median);
    cli_json_number(o, "round_trip_interval", r->half);
    cli_json_number(o, "one_way_median", r->median / 2);
    cli_json_number(o, "gbytes_per_second", gbytes(r));
    return o;
}

cJSON *pingpong_json(const cli *c, const trip_row *rows, int count)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddStringToObject(o, "device", c->device);
    cli_json_number(o, "ranks", c->ranks);
    cli_json_number(o, "trials", (double)c->set.trials);
    cJSON_AddBoolToObject(o, "paper", c->set.paper);
    cJSON *all = cJSON_AddArrayToObject(o, "results");
    for (int k = 0; k < count; k++)
        cJSON_AddItemToArray(all, row_json(&rows[k]));
    return o;
}
