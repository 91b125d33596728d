/* SPDX-License-Identifier: BSD-3-Clause
 * cli/devices.c - `tacit devices`: what this build and this machine offer;
 * what is missing, and why. Every row comes from a registry. */
#include "cli/report.h"
#include "matrix/io/io.h"
#include <string.h>

typedef struct listing {
    cJSON *json;
    cli_table table;
} listing;

static void add(listing *l, const char *what, const char *name,
                const char *summary, const char *reason)
{
    cli_table_row(&l->table, "%s\t%s\t%s\t%s", what, name,
                  reason ? "no" : "yes", reason ? reason : summary);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "what", what);
    cJSON_AddStringToObject(o, "name", name);
    cJSON_AddStringToObject(o, "summary", summary);
    cJSON_AddBoolToObject(o, "available", !reason);
    if (reason) cJSON_AddStringToObject(o, "reason", reason);
    else cJSON_AddNullToObject(o, "reason");
    cJSON_AddItemToArray(l->json, o);
}

static void add_axis(listing *l, const cli_axis *axis)
{
    cli_choice row;
    for (int i = 0; axis->row(i, &row); i++)
        add(l, axis->name, row.name, row.summary, row.reason);
}

/* The devices, the hardware in place of the summary where there is some. */
static tacit_status add_devices(const cli *c, listing *l)
{
    tacit_queue *queue = NULL;
    TRY(tacit_queue_create(c->world, "host", (int)c->set.threads, &queue));
    char name[128];
    tacit_queue_describe(queue, name, sizeof name);
    tacit_queue_destroy(&queue);
    cli_choice row;
    for (int i = 0; cli_axis_device.row(i, &row); i++)
        add(l, "device", row.name,
            strcmp(row.name, "host") == 0 ? name : row.summary, row.reason);
    return TACIT_OK;
}

static void add_file_formats(listing *l)
{
    for (const tct_file_about *const *f = tct_file_list(); *f; f++) {
        char text[256];
        snprintf(text, sizeof text, "%s (%s%s%s%s)", (*f)->summary,
                 (*f)->reads_matrix ? "reads matrices" : "",
                 (*f)->writes_matrix ? ", writes matrices" : "",
                 (*f)->reads_vector ? ", reads vectors" : "",
                 (*f)->writes_vector ? ", writes vectors" : "");
        add(l, "file", (*f)->name, text, NULL);
    }
}

static tacit_status devices_run(cli *c)
{
    TRY(cli_check_writable(c, c->set.json));
    static const cli_axis *const axes[] = {
        &cli_axis_loop,        &cli_axis_comm,      &cli_axis_method,
        &cli_axis_format,      &cli_axis_precision, &cli_axis_precond,
        &cli_axis_partitioner, &cli_axis_decorator};
    listing l = {.json = cJSON_CreateArray()};
    cli_table_row(&l.table, "what\tname\tavailable\tabout");
    const tacit_status status = add_devices(c, &l);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        add_axis(&l, axes[i]);
    add_file_formats(&l);
    if (status >= 0 && cli_prints(c) && !cli_json_only(c))
        cli_table_print(&l.table, stdout);
    cli_table_free(&l.table);
    cJSON *all = cJSON_CreateObject();
    cJSON_AddStringToObject(all, "tacit", tacit_version());
    cJSON_AddItemToObject(all, "offers", l.json);
    if (status >= 0 && c->set.json) return cli_write_json(c, c->set.json, all);
    cJSON_Delete(all);
    return status;
}

const cli_command cli_command_devices = {
    .name = "devices",
    .operands = "",
    .summary = "what this build and this machine offer",
    .about = "List what this build and this machine offer: devices, loops, "
             "comms, methods, formats, precisions, preconditioners, "
             "decorators, file formats; and what is missing, and why.",
    .least = 0,
    .most = 0,
    .run = devices_run,
};
