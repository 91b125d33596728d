/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/decisions.c - what an operator has decided during solves, and what
 * that cost and gained; the whole time. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <string.h>

double cli_whole(const cli_report *r)
{
    return r->partition + r->context + r->setup + r->run.result.seconds;
}

static void print_decision(FILE *to, const tacit_decision *d)
{
    char cost[CLI_NUMBER], gain[CLI_NUMBER];
    fprintf(to, "%s %s after %" PRId64 " product%s, in %s", d->what, d->outcome,
            d->products, d->products == 1 ? "" : "s",
            cli_seconds(d->cost, cost));
    if (d->gain > 0.0)
        fprintf(to, ": it saves %s a product", cli_seconds(d->gain, gain));
    fputc('\n', to);
}

void cli_print_decisions(FILE *to, const tacit_operator *A)
{
    const tacit_decision *d;
    for (int i = 0; A && (d = tacit_operator_decision_at(A, i)) != NULL; i++) {
        fputs(i == 0 ? "decided  " : "         ", to);
        print_decision(to, d);
    }
}

cJSON *cli_json_decisions(const tacit_operator *A)
{
    const tacit_decision *d;
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; A && (d = tacit_operator_decision_at(A, i)) != NULL; i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "what", d->what);
        cJSON_AddStringToObject(o, "outcome", d->outcome);
        cli_json_number(o, "products", (double)d->products);
        cli_json_number(o, "cost", d->cost);
        cli_json_number(o, "gain", d->gain);
        cJSON_AddItemToArray(all, o);
    }
    return all;
}
