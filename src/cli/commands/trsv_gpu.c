/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/trsv_gpu.c - `tacit trsv` by one process on its GPU: L and U in
 * one kernel, from device to device. */
#include "cli/commands/factor.h"
#include "cli/commands/trsv_job.h"
#include <math.h>

typedef struct {
    tacit_queue *queue;
    tacit_factor_solver *S;
    tacit_factor_solver_info info;
    double *B, *X; /* [columns rows] on the GPU                   */
    double copy;   /* GB/s                                        */
    double bound;  /* seconds to read L twice at that bandwidth */
} gpu_job;

static tacit_status bring(const cli *c, const trsv_job *job, gpu_job *g)
{
    char spec[CLI_SPEC];
    tacit_factor_panels panels = {.size = sizeof panels};
    const tacit_factor_solver_options options = {
        .size = sizeof options,
        .columns = job->columns < TRSV_AT_ONCE ? job->columns : TRSV_AT_ONCE};
    const size_t all = (size_t)job->rows * (size_t)job->columns;
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &g->queue));
    TRY(tacit_factor_view(job->F, &panels));
    TRY(tacit_factor_solver_create(g->queue, &panels, &options, &g->S));
    g->info.size = sizeof g->info;
    TRY(tacit_factor_solver_describe(g->S, &g->info));
    TRY(tacit_queue_alloc(g->queue, all, &g->B));
    TRY(tacit_queue_alloc(g->queue, all, &g->X));
    return tacit_queue_put(g->queue, all, job->B, g->B);
}

static tacit_status solve_all(const cli *c, trsv_job *job, gpu_job *g)
{
    const size_t n = (size_t)job->rows, all = n * (size_t)job->columns;
    const int warmup = trsv_warmup(c);
    job->solves = warmup + trsv_repeat(c);
    job->total = (double)INFINITY;
    TRY(tacit_queue_fill(g->queue, all, 0.0, g->X));
    for (int k = 0; k < job->solves; k++) {
        const double start = base_seconds();
        TRY(tacit_factor_solver_run(g->S, job->columns, g->B, n, g->X, n));
        TRY(tacit_factor_solver_wait(g->S));
        const double seconds = base_seconds() - start;
        if (k >= warmup) job->total = fmin(job->total, seconds);
    }
    TRY(ALLOC(all, "the solution", &job->X));
    TRY(tacit_queue_get(g->queue, all, g->X, job->X));
    return trsv_judge(job);
}

/* L is read twice for every launch of columns. */
static void find_bound(const cli *c, const trsv_job *job, gpu_job *g)
{
    const int passes =
        2 * ((job->columns + g->info.columns - 1) / g->info.columns);
    g->copy = cli_measure_copy(c, g->queue, 0.0);
    g->bound = 1e-9 * passes * g->info.values_bytes / g->copy;
}

static void print(const trsv_job *job, const gpu_job *g)
{
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER], name[160];
    cli_table t = {.text = NULL};
    trsv_print_begin(&t, job);
    tacit_queue_describe(g->queue, name, sizeof name);
    cli_table_row(&t, "device\tcuda (%s)", name);
    cli_table_row(&t, "path\t%s", g->info.path);
    cli_table_row(&t, "set-up\tfactor %s, plan %s, upload %s",
                  cli_seconds(trsv_factor_seconds(job), a),
                  cli_seconds(g->info.plan_seconds, b),
                  cli_seconds(g->info.upload_seconds, d));
    cli_table_row(&t, "solve\t%s: L and U, from device to device",
                  cli_seconds(job->total, a));
    cli_table_row(&t, "memory\t%s on the GPU", cli_bytes(g->info.bytes, a));
    if (isfinite(g->bound))
        cli_table_row(&t,
                      "bound\t%s to read %s of L twice at %.3g GB/s, as fast "
                      "as it copies: %.2f of the solve",
                      cli_seconds(g->bound, a),
                      cli_bytes(g->info.values_bytes, b), g->copy,
                      g->bound / job->total);
    trsv_print_end(&t, job);
    cli_table_print(&t, stdout);
    cli_table_free(&t);
}

static cJSON *json_of(const cli *c, const trsv_job *job, const gpu_job *g)
{
    const tacit_factor_solver_info *info = &g->info;
    cJSON *o = trsv_json_begin(c, job);
    cJSON_AddStringToObject(o, "device", "cuda");
    cJSON_AddStringToObject(o, "path", info->path);
    cli_json_number(o, "plan_seconds", info->plan_seconds);
    cli_json_number(o, "upload_seconds", info->upload_seconds);
    cli_json_number(o, "seconds", job->total);
    cli_json_number(o, "columns_at_once", info->columns);
    cli_json_number(o, "condition", info->condition);
    cli_json_number(o, "bytes", info->bytes);
    cli_json_number(o, "values_bytes", info->values_bytes);
    cli_json_number(o, "copy_gbytes_per_second", g->copy);
    cli_json_number(o, "bound_seconds", g->bound);
    return o;
}

static tacit_status run(const cli *c, trsv_job *job, gpu_job *g)
{
    TRY(cli_check_writable(c, c->set.json));
    TRY(trsv_open(c, c->set.leaves ? (int)c->set.leaves : 1, job));
    TRY(cli_scale_down(job->rows, job->columns, job->B, &job->exponent));
    TRY(bring(c, job, g));
    TRY(solve_all(c, job, g));
    const tacit_status status =
        cli_check_finite(c, job->rows, job->columns, job->X);
    if (status != TACIT_OK) return status;
    find_bound(c, job, g);
    if (cli_prints(c) && !cli_output_taken(c)) print(job, g);
    TRY(trsv_write(c, job));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, json_of(c, job, g));
}

tacit_status trsv_run_gpu(const cli *c, trsv_job *job)
{
    gpu_job g = {.queue = NULL};
    const tacit_status status = run(c, job, &g);
    tacit_factor_solver_destroy(&g.S);
    if (g.queue) {
        tacit_queue_free(g.queue, &g.B);
        tacit_queue_free(g.queue, &g.X);
    }
    tacit_queue_destroy(&g.queue);
    return status;
}
