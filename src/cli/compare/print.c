/* SPDX-License-Identifier: BSD-3-Clause
 * cli/compare/print.c - a comparison ranked, as a table and as JSON. */
#include "cli/compare/compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool is_solved(const cli_compared *r)
{
    return cli_outcome(&r->run.result) == TACIT_OK;
}

double cli_compare_residual(const tacit_result *r)
{
    const double part = r->null_vectors > 0 ? r->outside : 0.0;
    return hypot(r->true_relative_residual, part);
}

static int by_time(const void *a, const void *b)
{
    const cli_compared *x = a, *y = b;
    if (is_solved(x) != is_solved(y)) return is_solved(x) ? -1 : 1;
    return (x->total > y->total) - (x->total < y->total);
}

/* Seconds of the fastest baseline, among those that converged if any did. */
static double best_baseline(const cli_comparison *all)
{
    double best[2] = {(double)NAN, (double)NAN};
    for (int i = 0; i < all->count; i++) {
        const cli_compared *r = &all->rows[i];
        double *b = &best[is_solved(r)];
        if (r->baseline && !(r->total >= *b)) *b = r->total;
    }
    return isfinite(best[1]) ? best[1] : best[0];
}

void cli_compare_rank(cli_comparison *all)
{
    const double best = best_baseline(all);
    if (all->count > 0)
        qsort(all->rows, (size_t)all->count, sizeof *all->rows, by_time);
    for (int i = 0; i < all->count; i++) {
        all->rows[i].ratio = all->rows[i].total / all->rows[0].total;
        all->rows[i].faster = best / all->rows[i].total;
    }
}

static void print_missing(const cli_comparison *all)
{
    cli_table t = {.text = NULL};
    for (int i = 0; i < all->missing_count; i++)
        cli_table_row(&t, "%s\t%s\t%s", all->missing[i].what,
                      all->missing[i].name, all->missing[i].reason);
    cli_table_print(&t, stdout);
    cli_table_free(&t);
}

void cli_compare_print(const cli_comparison *all)
{
    cli_table t = {.text = NULL};
    cli_table_row(&t, "method\tloop\tcomm\tdevice\tformat\torder\tprecision\t"
                      "precond\tsteps\titerations\ttrue residual\t"
                      "us/iteration\tset-up s\tsolve s\tratio\tx peer\tof "
                      "copy\tbytes/entry\tstop\tmade by");
    for (int i = 0; i < all->count; i++) {
        const cli_compared *r = &all->rows[i];
        const cli_path *p = &r->path;
        const tacit_result *s = &r->run.result;
        char made[CLI_MADE], faster[CLI_NUMBER], fraction[CLI_NUMBER],
            bytes[CLI_NUMBER], each[CLI_NUMBER], ratio[CLI_NUMBER];
        cli_table_row(&t,
                      "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%" PRId64
                      "\t%.3e\t%s\t%.3g\t%.4g\t%s\t%s\t%s\t%s\t%s\t%s",
                      p->method, p->loop, p->comm, p->device, p->format,
                      p->order, p->precision, p->precond,
                      r->steps > 0 ? r->steps : 1, s->iterations,
                      cli_compare_residual(s),
                      cli_figure(1e6 * r->solve / (double)s->iterations, each),
                      r->setup, r->solve, cli_fixed(r->ratio, 3, ratio),
                      cli_fixed(r->faster, 2, faster),
                      cli_fixed(r->fraction, 3, fraction),
                      cli_fixed(p->bytes_per_nonzero, 2, bytes),
                      cli_stop_name(s->stop), cli_made(s, " + ", made));
    }
    cli_table_print(&t, stdout);
    cli_table_free(&t);
    fputc('\n', stdout);
    print_missing(all);
}

static cJSON *row_json(const cli_compared *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "path", cli_json_path(&r->path));
    cJSON_AddItemToObject(o, "result", cli_json_result(&r->run));
    cJSON *time = cJSON_AddObjectToObject(o, "time");
    cli_json_number(time, "precond_setup", r->setup);
    cli_json_number(time, "solve", r->solve);
    cli_json_number(time, "total", r->total);
    cli_json_number(time, "per_iteration",
                    r->solve / (double)r->run.result.iterations);
    cli_json_number(o, "steps", r->steps > 0 ? r->steps : 1);
    cJSON_AddItemToObject(o, "precond",
                          r->levels ? cJSON_Duplicate(r->levels, true)
                                    : cJSON_CreateNull());
    cJSON_AddBoolToObject(o, "baseline", r->baseline);
    cli_json_number(o, "ratio", r->ratio);
    cli_json_number(o, "x_peer", r->faster);
    cli_json_number(o, "fraction_of_copy", r->fraction);
    return o;
}

cJSON *cli_compare_json(const cli_comparison *all)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    cJSON_AddItemToObject(
        o, "matrix", cli_json_matrix(all->problem.name, &all->problem.info));
    cli_json_number(o, "copy_gbytes_per_second", all->copy);
    cJSON *rows = cJSON_AddArrayToObject(o, "rows");
    for (int i = 0; i < all->count; i++)
        cJSON_AddItemToArray(rows, row_json(&all->rows[i]));
    cJSON *missing = cJSON_AddArrayToObject(o, "unavailable");
    for (int i = 0; i < all->missing_count; i++) {
        cJSON *m = cJSON_CreateObject();
        cJSON_AddStringToObject(m, "what", all->missing[i].what);
        cJSON_AddStringToObject(m, "name", all->missing[i].name);
        cJSON_AddStringToObject(m, "reason", all->missing[i].reason);
        cJSON_AddItemToArray(missing, m);
    }
    return o;
}
