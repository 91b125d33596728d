/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/system.c - A x = b on a device: queue, operator and vectors, and
 * one run of a method on them. */
#include "cli/system/problem.h"
#include <math.h>
#include <string.h>

/* --- set-up --------------------------------------------------------------- */

bool cli_is_direct(const cli *c)
{
    return c->set.method && strcmp(c->set.method, "direct") == 0;
}

/* The option that makes M. */
static const char *maker_of(const cli *c)
{
    return cli_is_direct(c) ? "direct" : c->set.precond;
}

static bool is_chosen(const cli *c)
{
    return c->set.precond && strcmp(c->set.precond, "auto") == 0;
}

/* Is the preconditioner made from the matrix, whose entries must then stay? */
static bool is_of_matrix(const cli *c)
{
    const tacit_precond *p;
    const char *maker = maker_of(c);
    for (int i = 0; maker && (p = tacit_precond_at(i)) != NULL; i++)
        if (strcmp(p->name, maker) == 0) return p->of_matrix;
    return false;
}

int64_t cli_solves_of(const cli *c, cli_company company)
{
    const int64_t runs = (c->set.repeat < 0 ? 1 : c->set.repeat) +
                         (c->set.warmup < 0 ? 0 : c->set.warmup);
    if (company != CLI_ALONE || c->set.command != &cli_command_solve) return 2;
    return c->set.amortize > runs ? c->set.amortize : runs;
}

static tacit_status make_operator(const cli *c, const cli_problem *p,
                                  const char *format, cli_company company,
                                  cli_system *s)
{
    const tacit_operator_options o = {.size = sizeof o,
                                      .format = format,
                                      .solves = cli_solves_of(c, company),
                                      .deterministic = c->set.deterministic};
    const bool takes =
        company == CLI_ALONE && !is_of_matrix(c) && !is_chosen(c);
    return takes ? tacit_operator_take_for(s->queue, p->matrix, &o, &s->A)
                 : tacit_operator_create_for(s->queue, p->matrix, &o, &s->A);
}

static tacit_status build(const cli *c, const cli_problem *p,
                          const char *decorators, const char *format,
                          cli_company company, cli_system *s)
{
    char spec[CLI_SPEC];
    const double start = base_seconds();
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, decorators, spec),
                           (int)c->set.threads, &s->queue));
    if (cli_on_gpu(c)) s->context_seconds = base_seconds() - start;
    TRY(make_operator(c, p, format, company, s));
    s->n = (size_t)tacit_operator_local_rows(s->A);
    s->setup_seconds = base_seconds() - start - s->context_seconds;
    TRY(cli_make_vectors(c, p, company, s));
    return TACIT_OK;
}

tacit_status cli_system_create(const cli *c, const cli_problem *p,
                               const char *decorators, const char *format,
                               cli_company company, cli_system *out)
{
    *out = (cli_system){.queue = NULL};
    const tacit_status status = build(c, p, decorators, format, company, out);
    if (status < 0) cli_system_destroy(out);
    return status;
}

/* The options of the command line; method direct chooses the kind of its
 * factor. */
enum { LAUNCH = 32 }; /* right-hand sides that a GPU solves for at once */
static void set_options(const cli *c, cli_system *s)
{
    s->options = c->set.of_precond;
    if (!cli_is_direct(c)) return;
    s->options.kind = "auto";
    s->options.columns = s->columns < LAUNCH ? s->columns : LAUNCH;
}

tacit_status cli_set_race(const cli *c, const cli_problem *p, cli_system *s,
                          const char *loop)
{
    const int64_t solves = c->set.amortize ? c->set.amortize : 1;
    s->races = is_chosen(c);
    if (!s->races) return TACIT_OK;
    set_options(c, s);
    s->race = (tacit_precond_race){.size = sizeof s->race,
                                   .matrix = p->matrix,
                                   .options = &s->options,
                                   .solves = solves * s->columns,
                                   .loop = loop};
    return TACIT_OK;
}

tacit_status cli_make_precond(const cli *c, const cli_problem *p, cli_system *s)
{
    if (s->M || !is_of_matrix(c)) return TACIT_OK;
    set_options(c, s);
    return tacit_precond_create_of(s->A, p->matrix, maker_of(c), &s->options,
                                   &s->M);
}

static tacit_status set_precond(const cli *c, const cli_problem *p,
                                cli_system *s, tacit_solver *solver)
{
    if (!c->set.precond || is_chosen(c)) return TACIT_OK;
    TRY(cli_make_precond(c, p, s));
    return s->M ? tacit_solver_set_precond(solver, s->M)
                : tacit_solver_set(solver, "precond", c->set.precond);
}

tacit_status cli_set_solver(const cli *c, const cli_problem *p, cli_system *s,
                            tacit_solver *solver)
{
    TRY(set_precond(c, p, s, solver));
    if (c->set.pure) TRY(tacit_solver_set(solver, "pure", "on"));
    if (c->set.steps) TRY(tacit_solver_set(solver, "steps", c->set.steps));
    if (c->set.basis) TRY(tacit_solver_set(solver, "basis", c->set.basis));
    return TACIT_OK;
}

bool cli_is_mixed(const cli_system *s)
{
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(s->A, &info);
    return info.low_bits > 0;
}

bool cli_is_missing(const cli *c, tacit_status status)
{
    return status == TACIT_UNSUPPORTED ||
           (status == TACIT_NO_MEMORY && cli_on_gpu(c));
}

void cli_system_destroy(cli_system *s)
{
    if (s->queue) cli_free_vectors(s);
    tacit_operator_destroy(&s->M);
    tacit_operator_destroy(&s->A);
    tacit_queue_destroy(&s->queue);
}

/* --- a run ---------------------------------------------------------------- */

/* --- runs ----------------------------------------------------------------- */
static void sum_row(const cli *c, tacit_tally_row *row)
{
    row->seconds = cli_max(c, row->seconds);
    row->flops = cli_sum(c, row->flops);
    row->bytes = cli_sum(c, row->bytes);
    row->messages = (int64_t)cli_sum(c, (double)row->messages);
}

static void sum_tally(const cli *c, tacit_tally *t)
{
    sum_row(c, &t->spmv);
    sum_row(c, &t->dot);
    sum_row(c, &t->nrm2);
    sum_row(c, &t->axpy);
    sum_row(c, &t->reduce);
    sum_row(c, &t->exchange);
    t->moved_bytes = cli_sum(c, t->moved_bytes);
}

tacit_tally_row cli_tally_total(const tacit_tally *t)
{
    const tacit_tally_row *rows[] = {&t->spmv, &t->dot,    &t->nrm2,
                                     &t->axpy, &t->reduce, &t->exchange};
    tacit_tally_row total = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        total.seconds += rows[i]->seconds;
    for (size_t i = 0; i < 4; i++) { /* messages move no matrix or vector */
        total.count += rows[i]->count;
        total.flops += rows[i]->flops;
        total.bytes += rows[i]->bytes;
    }
    total.messages = t->exchange.messages;
    return total;
}

tacit_status cli_outcome(const tacit_result *result)
{
    if (result->converged) return TACIT_OK;
    switch (result->stop) {
    case TACIT_STOP_ITERATIONS: return TACIT_OK;
    case TACIT_STOP_BREAKDOWN: return TACIT_BREAKDOWN;
    case TACIT_STOP_INTERRUPTED: return TACIT_INTERRUPTED;
    case TACIT_STOP_RTOL:
    case TACIT_STOP_ATOL:
    case TACIT_STOP_MAX_ITERATIONS:
    case TACIT_STOP_STAGNATION:
    case TACIT_STOP_MONITOR:
    case TACIT_STOP_SINGULAR:
    case TACIT_STOP_LEAST_SQUARES: break;
    }
    return TACIT_NOT_CONVERGED;
}

int64_t cli_iterations(const cli_run *run)
{
    int64_t most = run->result.iterations;
    for (int j = 0; run->results && j < run->columns; j++)
        if (run->results[j].iterations > most)
            most = run->results[j].iterations;
    return most;
}

/* A column of zeros has no loop; the others name it. */
static void take_loop(const cli_system *s, tacit_result *to)
{
    for (int j = 0; j < s->columns && !to->loop; j++) {
        to->loop = s->results[j].loop;
        memcpy(to->loop_detail, s->results[j].loop_detail,
               sizeof to->loop_detail);
    }
}

/* The first run, which chooses the preconditioner; all set-ups count as
 * set-up. */
static tacit_status race(cli_system *s, tacit_solver *solver,
                         const tacit_stop *stop, tacit_result *result)
{
    const tacit_precond_trial *trial;
    s->races = false;
    const tacit_status status =
        tacit_solver_race(solver, &s->race, s->b, s->x, stop, result);
    for (int i = 0; (trial = tacit_solver_trial_at(solver, i)) != NULL; i++)
        s->setup_seconds += trial->setup_seconds;
    return status;
}

static tacit_status run_direct(cli_system *s, const tacit_stop *stop,
                               tacit_result *results)
{
    return tacit_precond_solve(s->A, s->M, s->columns, s->b, s->stride, s->x,
                               s->stride, stop, results);
}

/* All columns at once; a race is run with the first. */
static tacit_status run_columns(cli_system *s, tacit_solver *solver,
                                const tacit_stop *stop, cli_run *out)
{
    tacit_stop silent = *stop;
    silent.monitor = NULL;
    if (s->columns == 1 && !solver) return run_direct(s, stop, &out->result);
    if (s->columns == 1)
        return s->races
                   ? race(s, solver, stop, &out->result)
                   : tacit_solver_run(solver, s->b, s->x, stop, &out->result);
    if (s->races) {
        TRY(race(s, solver, &silent, &out->result));
        TRY(cli_set_guess(s));
    }
    for (int j = 0; j < s->columns; j++)
        s->results[j] = (tacit_result){.size = sizeof *s->results};
    const tacit_status status =
        solver ? tacit_solver_run_block(solver, s->columns, s->b, s->stride,
                                        s->x, s->stride, stop, s->results)
               : run_direct(s, stop, s->results);
    out->results = s->results;
    int worst = 0;
    for (int j = 1; j < s->columns; j++)
        if (cli_outcome(&s->results[j]) > cli_outcome(&s->results[worst]))
            worst = j;
    out->result = s->results[worst];
    take_loop(s, &out->result);
    return status;
}

static tacit_norm norm_of(const cli *c)
{
    cli_choice row;
    for (int i = 0; c->set.norm && cli_axis_norm.row(i, &row); i++)
        if (strcmp(row.name, c->set.norm) == 0) return (tacit_norm)i;
    return TACIT_NORM_RESIDUAL;
}

bool cli_is_relative_to_first(const cli *c)
{
    return c->set.relative_to && strcmp(c->set.relative_to, "r0") == 0;
}

tacit_status cli_run_solver(const cli *c, cli_system *s, tacit_solver *solver,
                            cli_monitor *m, cli_run *out)
{
    *out = (cli_run){.error = (double)NAN,
                     .result.size = sizeof out->result,
                     .columns = s->columns,
                     .mixed = cli_is_mixed(s)};
    TRY(cli_set_guess(s));
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = c->set.rtol,
                             .atol = c->set.atol,
                             .max_iterations = c->set.max_iterations,
                             .iterations = c->set.iterations,
                             .norm = norm_of(c),
                             .relative_to_first = cli_is_relative_to_first(c),
                             .monitor = cli_monitor_step,
                             .column_monitor = cli_monitor_column,
                             .monitor_ctx = m};
    tacit_queue_clear_tally(s->queue);
    cli_monitor_begin(m);
    out->status = run_columns(s, solver, &stop, out);
    cli_monitor_end(m);
    TRY(out->status);
    snprintf(out->message, sizeof out->message, "%s", tacit_error_message());
    const tacit_tally *tally = tacit_queue_tally(s->queue);
    if (tally) out->tally = *tally;
    sum_tally(c, &out->tally);
    if (s->xstar)
        TRY(tacit_queue_distance(s->queue, s->n, s->x, s->xstar, &out->error));
    return TACIT_OK;
}

double cli_measure_copy(const cli *c, tacit_queue *queue, double bytes)
{
    /* at most well beyond the caches; a GPU copies these in a millisecond */
    static const double least = 0x1p20, most = 0x1p28, gpu = 0x1p31;
    const double all = cli_on_gpu(c)    ? gpu
                       : bytes >= most  ? most
                       : bytes >= least ? bytes
                                        : least;
    double rate = 0.0;
    if (tacit_queue_measure_copy(queue, (size_t)(all / c->ranks), &rate) < 0)
        rate = (double)NAN;
    return cli_sum(c, rate);
}
