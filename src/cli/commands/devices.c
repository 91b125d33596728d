/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/devices.c - `tacit devices`: the devices, links, methods and so
 * on of this build and machine, and reasons for missing ones. Every row comes
 * from a registry. */
#include "cli/report/report.h"
#include <string.h>

typedef struct listing {
    cJSON *json;
    cli_table table;
} listing;

/* `device` is that of a format, else NULL. */
static void add(listing *l, const char *what, const char *device,
                const char *name, const char *summary, const char *reason)
{
    const bool elsewhere = device && strcmp(device, "host") != 0;
    cli_table_row(&l->table, "%s%s%s\t%s\t%s\t%s", elsewhere ? device : "",
                  elsewhere ? " " : "", what, name, reason ? "no" : "yes",
                  reason ? reason : summary);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "what", what);
    if (device) cJSON_AddStringToObject(o, "device", device);
    else cJSON_AddNullToObject(o, "device");
    cJSON_AddStringToObject(o, "name", name);
    cJSON_AddStringToObject(o, "summary", summary);
    cJSON_AddBoolToObject(o, "available", !reason);
    if (reason) cJSON_AddStringToObject(o, "reason", reason);
    else cJSON_AddNullToObject(o, "reason");
    cJSON_AddItemToArray(l->json, o);
}

/* Ways to step a grid are named after what GPUs do; the host has them too. */
static void add_ways(listing *l)
{
    cli_choice row;
    const char *none = cli_gpu_reason();
    for (int i = 0; cli_axis_way.row(i, &row); i++) {
        char about[512];
        snprintf(about, sizeof about, "%s%s%s%s", row.summary,
                 none ? "; only on the CPU (cuda: " : "", none ? none : "",
                 none ? ")" : "");
        add(l, cli_axis_way.name, NULL, row.name, about, row.reason);
    }
}

static void add_axis(listing *l, const cli_axis *axis)
{
    cli_choice row;
    if (axis == &cli_axis_way) {
        add_ways(l);
        return;
    }
    const char *device = axis == &cli_axis_format       ? "host"
                         : axis == &cli_axis_gpu_format ? "cuda"
                                                        : NULL;
    for (int i = 0; axis->row(i, &row); i++)
        add(l, device ? "format" : axis->name, device, row.name, row.summary,
            cli_choice_missing(axis, &row));
}

/* The devices, with the hardware as the summary if it is known. */
static tacit_status add_devices(const cli *c, listing *l)
{
    cli_choice row;
    for (int i = 0; cli_axis_device.row(i, &row); i++) {
        const char *reason = cli_choice_missing(&cli_axis_device, &row);
        char name[160] = "", why[256];
        tacit_queue *queue = NULL;
        if (!reason && tacit_queue_create(c->world, row.name,
                                          (int)c->set.threads, &queue) < 0) {
            snprintf(why, sizeof why, "%s", tacit_error_message());
            reason = why; /* it exists but cannot be used */
        } else if (!reason) {
            tacit_queue_describe(queue, name, sizeof name);
            tacit_queue_destroy(&queue);
        }
        add(l, "device", NULL, row.name, name[0] ? name : row.summary, reason);
    }
    return TACIT_OK;
}

/* The comms, with the version of the library that one of them loads. */
static void add_comms(listing *l)
{
    cli_choice row;
    for (int i = 0; cli_axis_comm.row(i, &row); i++) {
        const char *reason = cli_choice_missing(&cli_axis_comm, &row);
        char found[256] = "", why[512], about[512];
        if (!reason && tacit_link_probe(row.name, found, sizeof found) < 0) {
            snprintf(why, sizeof why, "%s", tacit_error_message());
            reason = why;
        }
        snprintf(about, sizeof about, "%s%s%s", row.summary,
                 found[0] ? ": " : "", found);
        add(l, cli_axis_comm.name, NULL, row.name, about, reason);
    }
}

/* The kernels of loop resident. */
static void add_resident(listing *l)
{
    const tacit_method *m;
    char text[768];
    for (int i = 0; (m = tacit_method_at(i)) != NULL; i++)
        if (tacit_method_resident(m->name, text, sizeof text))
            add(l, "resident", NULL, m->name, text, cli_gpu_reason());
}

static void add_file_formats(listing *l)
{
    const tacit_file_format *f;
    for (int i = 0; (f = tacit_file_format_at(i)) != NULL; i++) {
        const struct {
            bool can;
            const char *what;
        } all[] = {{f->reads_matrix, "reads matrices"},
                   {f->writes_matrix, "writes matrices"},
                   {f->reads_vector, "reads vectors"},
                   {f->writes_vector, "writes vectors"},
                   {f->reads_vectors, "reads several vectors"},
                   {f->writes_vectors, "writes several vectors"}};
        enum { ALL = sizeof all / sizeof *all };
        char text[256];
        int used = snprintf(text, sizeof text, "%s", f->summary);
        const char *before = " (";
        for (int k = 0; k < ALL && used < (int)sizeof text; k++) {
            if (!all[k].can) continue;
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
                             before, all[k].what);
            before = ", ";
        }
        if (used < (int)sizeof text)
            snprintf(text + used, sizeof text - (size_t)used, ")");
        add(l, "file", NULL, f->name, text, f->reason);
    }
}

static tacit_status devices_run(cli *c)
{
    TRY(cli_check_writable(c, c->set.json));
    static const cli_axis *const axes[] = {
        &cli_axis_method,      &cli_axis_format, &cli_axis_gpu_format,
        &cli_axis_precision,   &cli_axis_order,  &cli_axis_precond,
        &cli_axis_partitioner, &cli_axis_way,    &cli_axis_decorator};
    listing l = {.json = cJSON_CreateArray()};
    cli_table_row(&l.table, "what\tname\tavailable\tabout");
    const tacit_status status = add_devices(c, &l);
    add_axis(&l, &cli_axis_loop);
    add_comms(&l);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        add_axis(&l, axes[i]);
    add_resident(&l);
    add_file_formats(&l);
    if (status >= 0 && cli_prints(c) && !cli_output_taken(c))
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
             "comms, methods, formats of each device, precisions, what "
             "loop resident has kernels for, "
             "preconditioners, partitioners, ways to step a grid, decorators, "
             "file formats; and "
             "what is missing, and why.",
    .takes = {0, 0},
    .run = devices_run,
};
