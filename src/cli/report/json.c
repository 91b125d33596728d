/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/json.c - the result of a solve, for programs. Every field of the
 * contract is present; one that does not apply is null. */
#include "cli/report/report.h"
#include <math.h>
#include <string.h>

/* cJSON's own numbers may lose the last bit: it compares with a tolerance. */
cJSON *cli_json_value(double value)
{
    char text[32];
    if (!isfinite(value)) return cJSON_CreateNull();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return cJSON_CreateRaw(text);
}

void cli_json_number(cJSON *to, const char *name, double value)
{
    cJSON_AddItemToObject(to, name, cli_json_value(value));
}

cJSON *cli_json_values(const double *values, int count)
{
    cJSON *all = cJSON_CreateArray();
    for (int k = 0; k < count; k++)
        cJSON_AddItemToArray(all, cli_json_value(values[k]));
    return all;
}

static void number(cJSON *to, const char *name, double value)
{
    cli_json_number(to, name, value);
}

static void text(cJSON *to, const char *name, const char *value)
{
    if (value && value[0]) cJSON_AddStringToObject(to, name, value);
    else cJSON_AddNullToObject(to, name);
}

cJSON *cli_json_matrix(const char *name, const tacit_matrix_info *m)
{
    cJSON *o = cJSON_CreateObject();
    text(o, "name", name);
    number(o, "rows", (double)m->rows);
    number(o, "nonzeros", (double)m->nonzeros);
    number(o, "shift", m->shift);
    cJSON *row = cJSON_AddObjectToObject(o, "nonzeros_per_row");
    number(row, "min", (double)m->row_min);
    number(row, "mean", m->row_mean);
    number(row, "max", (double)m->row_max);
    number(o, "explicit_zeros", (double)m->explicit_zeros);
    number(o, "summed", (double)m->summed);
    text(o, "format", m->format);
    return o;
}

cJSON *cli_json_path(const cli_path *p)
{
    cJSON *o = cJSON_CreateObject();
    text(o, "method", p->method);
    text(o, "loop", p->loop);
    text(o, "loop_detail", p->loop_detail);
    text(o, "comm", p->comm);
    text(o, "comm_detail", p->comm_detail);
    text(o, "device", p->device);
    text(o, "device_name", p->device_name);
    text(o, "format", p->format);
    text(o, "format_detail", p->detail);
    number(o, "bytes_per_nonzero", p->bytes_per_nonzero);
    text(o, "precision", p->precision);
    text(o, "order", p->order);
    number(o, "order_seconds", p->order_seconds);
    number(o, "copy_seconds", p->copy_seconds);
    number(o, "store_seconds", p->store_seconds);
    text(o, "precond", p->precond);
    text(o, "partition", p->partition);
    number(o, "ranks", p->ranks);
    number(o, "threads", p->threads);
    cJSON_AddBoolToObject(o, "oversubscribed", p->oversubscribed);
    return o;
}

/* The iterations of each method. */
static cJSON *made_by(const tacit_result *r)
{
    if (!r->made[0].method) return cJSON_CreateNull();
    cJSON *all = cJSON_CreateObject();
    for (int i = 0; i < TACIT_MADE_MOST && r->made[i].method; i++)
        number(all, r->made[i].method, (double)r->made[i].iterations);
    return all;
}

static cJSON *one_result(const cli_run *run, const tacit_result *r,
                         const tacit_backward *accuracy)
{
    const double attainable = cli_attainable(r, accuracy);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "converged", r->converged);
    text(o, "stop", cli_stop_name(r->stop));
    number(o, "iterations", (double)r->iterations);
    number(o, "relative_residual", r->relative_residual);
    number(o, "true_relative_residual", r->true_relative_residual);
    text(o, "residual_of", cli_residual_of(r));
    number(o, "measure", r->measure);
    number(o, "error_2norm", run->error);
    number(o, "norm_b", r->norm_b);
    number(o, "restarts", (double)r->restarts);
    number(o, "replacements", (double)r->replacements);
    number(o, "extra_products", (double)r->extra_products);
    number(o, "bits", (double)r->bits);
    number(o, "reliable_updates",
           run->mixed ? (double)r->reliable_updates : (double)NAN);
    cJSON_AddItemToObject(o, "fallback",
                          run->mixed ? cJSON_CreateBool(r->fell_back)
                                     : cJSON_CreateNull());
    number(o, "fallback_at",
           r->fell_back ? (double)r->fell_back_at : (double)NAN);
    cJSON_AddItemToObject(o, "rescued_by",
                          r->rescued_by ? cJSON_CreateString(r->rescued_by)
                                        : cJSON_CreateNull());
    number(o, "rescued_at",
           r->rescued_by ? (double)r->rescued_at : (double)NAN);
    cJSON_AddItemToObject(o, "made", made_by(r));
    number(o, "attainable", attainable > 0.0 ? attainable : (double)NAN);
    number(o, "backward_error", accuracy ? accuracy->normwise : (double)NAN);
    number(o, "componentwise_backward_error",
           accuracy ? accuracy->componentwise : (double)NAN);
    number(o, "null_vectors", (double)r->null_vectors);
    number(o, "outside", r->null_vectors > 0 ? r->outside : (double)NAN);
    if (!r->breakdown_quantity) {
        cJSON_AddNullToObject(o, "breakdown");
        return o;
    }
    cJSON *b = cJSON_AddObjectToObject(o, "breakdown");
    number(b, "iteration", (double)r->breakdown_iteration);
    text(b, "quantity", r->breakdown_quantity);
    number(b, "value", r->breakdown_value);
    return o;
}

cJSON *cli_json_result(const cli_run *run)
{
    return one_result(run, &run->result, NULL);
}

/* One object for one column, an array for several. */
static void add_results(cJSON *to, const cli_report *r)
{
    const cli_run *run = &r->run;
    if (!run->results) {
        cJSON_AddItemToObject(to, "result",
                              one_result(run, &run->result, r->accuracy));
        return;
    }
    cJSON *all = cJSON_AddArrayToObject(to, "results");
    for (int j = 0; j < run->columns; j++)
        cJSON_AddItemToArray(all,
                             one_result(run, &run->results[j],
                                        r->accuracy ? &r->accuracy[j] : NULL));
}

static cJSON *times(const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    cJSON *o = cJSON_CreateObject();
    number(o, "whole", cli_whole(r));
    number(o, "read", r->read);
    number(o, "check", r->check);
    number(o, "partition", r->partition);
    number(o, "context", r->context);
    number(o, "setup", r->setup);
    number(o, "solve", s->seconds);
    number(o, "per_iteration", s->seconds / (double)cli_iterations(&r->run));
    cJSON_AddItemToObject(o, "all_solves",
                          cli_json_values(r->solves, r->count));
    number(o, "total", r->total);
    return o;
}

static cJSON *operation(const cli_report *r, cJSON *to, const char *name,
                        const tacit_tally_row *row)
{
    cJSON *o = cJSON_AddObjectToObject(to, name);
    number(o, "count", (double)row->count);
    number(o, "seconds", r->profiled ? row->seconds : (double)NAN);
    return o;
}

static cJSON *work(const cli_report *r, cJSON *to, const char *name,
                   const tacit_tally_row *row)
{
    cJSON *o = operation(r, to, name, row);
    number(o, "flops", row->flops);
    number(o, "bytes", row->bytes);
    return o;
}

static cJSON *operations(const cli_report *r)
{
    const tacit_tally *t = &r->run.tally;
    const tacit_tally_row total = cli_tally_total(t);
    cJSON *o = cJSON_CreateObject();
    work(r, o, "spmv", &t->spmv);
    work(r, o, "dot", &t->dot);
    work(r, o, "nrm2", &t->nrm2);
    work(r, o, "axpy", &t->axpy);
    cJSON *reduce = operation(r, o, "reduce", &t->reduce);
    number(reduce, "flops", (double)NAN);
    number(reduce, "bytes", t->reduce.bytes);
    cJSON *exchange = operation(r, o, "exchange", &t->exchange);
    number(exchange, "messages", (double)t->exchange.messages);
    number(exchange, "bytes", t->exchange.bytes);
    cJSON_AddNullToObject(o, "precond");
    number(work(r, o, "total", &total), "moved_bytes", t->moved_bytes);
    return o;
}

static cJSON *rates(const cli_report *r)
{
    const tacit_tally_row total = cli_tally_total(&r->run.tally);
    const double scale = 1e-9 / r->run.result.seconds;
    cJSON *o = cJSON_CreateObject();
    number(o, "gflops", scale * total.flops);
    number(o, "gbytes_per_second", scale * total.bytes);
    number(o, "moved_gbytes_per_second", scale * r->run.tally.moved_bytes);
    number(o, "copy_gbytes_per_second", r->copy);
    number(o, "fraction_of_copy", cli_fraction_of_copy(&r->run, r->copy));
    return o;
}

cJSON *cli_report_json(const cli_report *r)
{
    cJSON *o = cJSON_CreateObject();
    text(o, "tacit", tacit_version());
    cJSON_AddItemToObject(o, "matrix", cli_json_matrix(r->name, &r->matrix));
    cJSON_AddItemToObject(o, "path", cli_json_path(&r->path));
    cJSON_AddItemToObject(o, "precond", cli_json_precond(r->M, (double)NAN));
    cJSON_AddItemToObject(o, "factor", cli_json_factor(r->M));
    cJSON_AddItemToObject(o, "precond_race", cli_json_race(r->solver));
    add_results(o, r);
    text(o, "norm", r->norm ? r->norm : "residual");
    number(o, "condition", r->condition > 0.0 ? cli_condition(r) : (double)NAN);
    cJSON_AddItemToObject(o, "time", times(r));
    cJSON_AddItemToObject(o, "decisions", cli_json_decisions(r->A));
    cJSON_AddItemToObject(o, "operations", operations(r));
    cJSON_AddItemToObject(o, "rate", rates(r));
    cJSON *memory = cJSON_AddObjectToObject(o, "memory");
    number(memory, "peak_bytes_of_a_rank", r->peak_rank);
    number(memory, "peak_bytes", r->peak_total);
    return o;
}

tacit_status cli_write_json(const cli *c, const char *path, cJSON *object)
{
    char *printed = cJSON_Print(object);
    cJSON_Delete(object);
    const size_t length = printed ? strlen(printed) : 0;
    char *text = NULL;
    tacit_status status = ALLOC(length + 2, "the report", &text);
    if (status >= 0 && !printed)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for the report");
    if (status >= 0) snprintf(text, length + 2, "%s\n", printed);
    cJSON_free(printed);
    status = tacit_world_agree(c->world, status);
    if (status >= 0) status = cli_write_text(c, path, text);
    free(text);
    return status;
}
