/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/factor.c - a factor, for people and for programs. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <string.h>

/* the names of --kind are in the order of the kinds */
const char *cli_kind_name(tacit_factor_kind kind)
{
    cli_choice row = {.name = ""};
    cli_axis_kind.row((int)kind, &row);
    return row.name;
}

tacit_factor_kind cli_kind_of(const char *name)
{
    cli_choice row;
    int i = 0;
    while (name && cli_axis_kind.row(i, &row) && strcmp(row.name, name) != 0)
        i++;
    return (tacit_factor_kind)i;
}

void cli_add_factor(cJSON *o, const tacit_factor_info *f)
{
    cJSON_AddStringToObject(o, "kind", cli_kind_name(f->kind));
    cJSON_AddStringToObject(o, "order", f->order);
    cli_json_number(o, "added", (double)f->added);
    cli_json_number(o, "nonzeros", (double)f->nonzeros);
    cli_json_number(o, "stored", (double)f->stored);
    cli_json_number(o, "supernodes", f->supernodes);
    cli_json_number(o, "panels", f->panels);
    cli_json_number(o, "depth", f->depth);
    cli_json_number(o, "leaves", f->leaves);
    cli_json_number(o, "flops", f->flops);
    cli_json_number(o, "bytes", f->bytes);
    cli_json_number(o, "peak_bytes", f->peak_bytes);
    cli_json_number(o, "order_seconds", f->order_seconds);
    cli_json_number(o, "symbolic_seconds", f->symbolic_seconds);
    cli_json_number(o, "numeric_seconds", f->numeric_seconds);
    cJSON_AddStringToObject(o, "dense", f->dense);
    cli_json_number(o, "shift", f->shift);
    cli_json_number(o, "least_pivot", f->least_pivot);
    cli_json_number(o, "least_row", (double)f->least_row + 1.0);
    cli_json_number(o, "least_share", f->least_share);
    cli_json_number(o, "backward_error", f->backward_error);
    cli_json_number(o, "trials", f->trials);
    cli_json_number(o, "repaired", (double)f->repaired);
    cli_json_number(o, "refined_error", f->refined_error);
    cli_json_number(o, "pairs", (double)f->pairs);
    cli_json_number(o, "positive", (double)f->positive);
    cli_json_number(o, "negative", (double)f->negative);
}

/* Of a preconditioner with a factor. */
static bool describe(const tacit_operator *M, tacit_precond_info *about,
                     tacit_factor_info *factor)
{
    about->size = sizeof *about;
    factor->size = sizeof *factor;
    if (!M || tacit_precond_describe(M, about) < 0 || !about->factor_info)
        return false;
    *factor = *about->factor_info;
    return true;
}

/* The grid of a distributed factor. */
void cli_print_grid(FILE *to, const tacit_precond_info *about)
{
    char bytes[CLI_NUMBER];
    if (about->grid[2] == 0) return;
    fprintf(to,
            "         over a grid of %dx%dx%d: %" PRId64
            " message%s an application, %s with one right-hand side\n",
            about->grid[0], about->grid[1], about->grid[2], about->messages,
            about->messages == 1 ? "" : "s",
            cli_bytes(about->message_bytes, bytes));
}

const char *cli_inertia(const tacit_factor_info *f, char text[CLI_INERTIA])
{
    char a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER] = "";
    if (f->repaired > 0) cli_integer(f->repaired, c);
    snprintf(text, CLI_INERTIA, "%s positive, %s negative%s%s%s",
             cli_integer(f->positive, a), cli_integer(f->negative, b),
             f->repaired > 0 ? ", " : "", c,
             f->repaired > 0 ? " about zero" : "");
    return text;
}

void cli_print_factor(FILE *to, const tacit_operator *M)
{
    tacit_precond_info about = {.size = 0};
    tacit_factor_info f = {.size = 0};
    char a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER], d[CLI_NUMBER];
    if (!describe(M, &about, &f)) return;
    fprintf(to,
            "factor   %s, order %s, %s; set up in %s: order %s, symbolic %s, "
            "numeric %s\n",
            about.detail, f.order, cli_bytes(about.bytes, a),
            cli_seconds(about.setup_seconds, b),
            cli_seconds(f.order_seconds, c), cli_seconds(f.symbolic_seconds, d),
            cli_seconds(f.numeric_seconds, (char[CLI_NUMBER]){0}));
    if (f.kind == TACIT_FACTOR_LDLT)
        fprintf(to, "inertia  %s\n", cli_inertia(&f, (char[CLI_INERTIA]){0}));
    cli_print_grid(to, &about);
}

cJSON *cli_json_factor(const tacit_operator *M)
{
    tacit_precond_info about = {.size = 0};
    tacit_factor_info f = {.size = 0};
    if (!describe(M, &about, &f)) return cJSON_CreateNull();
    cJSON *o = cJSON_CreateObject();
    cli_add_factor(o, &f);
    cli_json_number(o, "setup_seconds", about.setup_seconds);
    cli_json_number(o, "bytes_to_solve", about.bytes);
    if (about.grid[2] == 0) return o;
    cJSON *grid = cJSON_AddArrayToObject(o, "grid");
    for (int k = 0; k < 3; k++)
        cJSON_AddItemToArray(grid, cli_json_value(about.grid[k]));
    cli_json_number(o, "messages", (double)about.messages);
    cli_json_number(o, "message_bytes", about.message_bytes);
    return o;
}
