/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/solve.c - `tacit solve`: read, check, divide, set up, solve,
 * report. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct solve_job {
    cli_problem problem;
    cli_system system;
    tacit_solver *solver;
    cli_monitor monitor;
    cli_report report;
    double start;
    double *seconds;          /* [report.count] of the runs that count */
    tacit_result *best;       /* [columns] of the reported run */
    tacit_backward *accuracy; /* [columns] */
} solve_job;

static const char *method_of(const cli *c)
{
    return c->set.method ? c->set.method : "cg";
}

/* To time operations one by one they must be enqueued one by one. */
static const char *loop_of(const cli *c)
{
    if (c->set.loop) return c->set.loop;
    return c->set.profile ? "host" : "auto";
}

/* Checked before anything long. */
static tacit_status check_outputs(const cli *c)
{
    if (c->set.output)
        TRY(tacit_file_check_writable(c->world, c->set.output,
                                      TACIT_FILE_VECTOR));
    TRY(cli_check_writable(c, c->set.json));
    return cli_check_writable(c, c->set.history);
}

/* The number of output vectors is known now. */
static tacit_status check_columns(const cli *c, const cli_system *s)
{
    if (s->columns == 1 || !c->set.output) return TACIT_OK;
    return tacit_file_check_writable(c->world, c->set.output,
                                     TACIT_FILE_VECTORS);
}

static tacit_status make_factor(const cli *c, solve_job *job)
{
    TRY(cli_make_precond(c, &job->problem, &job->system));
    tacit_matrix_drop_entries(job->problem.matrix); /* no longer needed */
    return TACIT_OK;
}

static tacit_status make_solver(const cli *c, solve_job *job)
{
    TRY(cli_make_precond(c, &job->problem, &job->system));
    TRY(tacit_solver_create(job->system.queue, job->system.A, method_of(c),
                            &job->solver));
    TRY(cli_set_solver(c, &job->problem, &job->system, job->solver));
    TRY(cli_set_race(c, &job->problem, &job->system, loop_of(c)));
    if (job->system.races) return TACIT_OK;
    tacit_matrix_drop_entries(job->problem.matrix); /* no longer needed */
    return tacit_solver_set_loop(job->solver, loop_of(c));
}

static tacit_status set_up(const cli *c, solve_job *job)
{
    const char *decorate = c->set.decorate ? c->set.decorate : "";
    const size_t length = strlen(decorate);
    const bool open = length > 0 && decorate[length - 1] != ':';
    char decorators[CLI_SPEC], format[CLI_FORMAT];
    snprintf(decorators, sizeof decorators, "%s%s%s", decorate, open ? ":" : "",
             c->set.profile ? "count(1)" : "count");
    TRY(cli_problem_open(c, c->set.operand[0],
                         cli_is_direct(c) ? CLI_FOR_FACTORING : CLI_FOR_SOLVING,
                         &job->problem));
    TRY(cli_system_create(c, &job->problem, decorators,
                          cli_format_spec(c, c->set.format, format), CLI_ALONE,
                          &job->system));
    TRY(check_columns(c, &job->system));
    const double start = base_seconds();
    TRY(cli_is_direct(c) ? make_factor(c, job) : make_solver(c, job));
    job->system.setup_seconds += base_seconds() - start;
    return TACIT_OK;
}

/* Results of a block stay the system's until its next run. */
static void take(solve_job *job, const cli_run *run)
{
    job->report.run = *run;
    if (!run->results) return;
    memcpy(job->best, run->results, (size_t)run->columns * sizeof *job->best);
    job->report.run.results = job->best;
}

static tacit_status make_lists(const cli *c, int repeat, solve_job *job)
{
    tacit_status status = ALLOC(repeat, "the times", &job->seconds);
    if (status >= 0)
        status = ALLOC(job->system.columns, "the results", &job->best);
    if (status >= 0)
        status = ALLOC(job->system.columns, "the results", &job->accuracy);
    return tacit_world_agree(c->world, status);
}

/* Does another run make sense? Not after a run that failed to converge, unless
 * it had no tolerance and so a fixed number of iterations. */
static bool goes_on(const cli *c, tacit_status status)
{
    const bool counted = c->set.rtol == 0.0 && c->set.atol == 0.0;
    return status == TACIT_OK || (counted && status == TACIT_NOT_CONVERGED);
}

/* The runs: the best of those that count is reported. */
static tacit_status run_all(const cli *c, solve_job *job)
{
    const int warmup = c->set.warmup < 0 ? 0 : (int)c->set.warmup;
    const int repeat = c->set.repeat < 0 ? 1 : (int)c->set.repeat;
    cli_report *r = &job->report;
    TRY(make_lists(c, repeat, job));
    for (int i = 0; i < warmup + repeat; i++) {
        cli_run run;
        TRY(cli_run_solver(c, &job->system, job->solver, &job->monitor, &run));
        /* the race needed them */
        tacit_matrix_drop_entries(job->problem.matrix);
        if (i == 0) /* all ranks begin the others at once */
            TRY(cli_wait_as_in_solves(c, true));
        const bool more = goes_on(c, run.status);
        if (i < warmup && more) continue;
        job->seconds[r->count++] = run.result.seconds;
        if (r->count == 1 || run.result.seconds < r->run.result.seconds ||
            !more)
            take(job, &run);
        if (!more) break;
    }
    r->solves = job->seconds;
    return cli_wait_as_in_solves(c, false);
}

/* The backward error of each column, once at the end. */
static tacit_status measure_accuracy(const cli *c, solve_job *job)
{
    const cli_system *s = &job->system;
    if (c->set.quiet && !c->set.json) return TACIT_OK;
    if (job->report.run.status == TACIT_INTERRUPTED) return TACIT_OK;
    for (int j = 0; j < s->columns; j++) {
        const size_t at = (size_t)j * s->stride;
        job->accuracy[j] = (tacit_backward){.size = sizeof *job->accuracy};
        TRY(tacit_backward_error(s->A, s->b + at, s->x + at,
                                 &job->accuracy[j]));
    }
    job->report.accuracy = job->accuracy;
    return TACIT_OK;
}

/* The block of rows of a file whose nodes were not described: in 2D or 3D. */
static int block_of(const cli *c, const cli_problem *p)
{
    const tacit_matrix_info *m = &p->info;
    const double rows = (double)m->rows;
    const bool full = (double)m->nonzeros >= rows * rows;
    if (strcmp(m->format, "gallery") == 0 || full) return 0;
    if (cli_named(&c->set, "coordinates") || cli_named(&c->set, "near-null"))
        return 0;
    return m->block == 2 || m->block == 3 ? m->block : 0;
}

static void fill_report(const cli *c, solve_job *job)
{
    cli_report *r = &job->report;
    const cli_problem *p = &job->problem;
    r->name = p->name;
    r->matrix = p->info;
    r->solver = job->solver;
    r->A = job->system.A;
    r->M = job->solver ? tacit_solver_precond(job->solver) : job->system.M;
    r->path = cli_path_of(c, p, &job->system, method_of(c), &r->run);
    if (job->solver) r->path.precond = cli_precond_name(r->M);
    r->norm = c->set.relative_to && !c->set.norm ? "residual" : c->set.norm;
    r->made_up = !c->set.precond && !c->set.rhs && c->set.operands < 2 &&
                 strcmp(p->info.format, "gallery") != 0;
    r->block = block_of(c, p);
    r->condition = tacit_solver_condition(job->solver);
    r->rtol = c->set.rtol;
    r->profiled = c->set.profile;
    r->spared =
        c->precision && strcmp(c->precision, "double") != 0 && !r->run.mixed;
    r->read = cli_max(c, p->read_seconds);
    r->partition = cli_max(c, p->partition_seconds);
    r->context =
        cli_on_gpu(c) ? c->probe_seconds + job->system.context_seconds : 0.0;
    r->setup = cli_max(c, job->system.setup_seconds);
    r->check = cli_max(c, p->check_seconds);
    r->total = cli_max(c, base_seconds() - job->start);
    cli_peak_memory(c, r);
    r->copy = (double)NAN;
    if (r->run.status == TACIT_INTERRUPTED) return; /* the user wants an end */
    if (!c->set.quiet || c->set.json)
        r->copy = cli_measure_copy(c, job->system.queue,
                                   cli_moved_an_iteration(&r->run));
}

static tacit_status write_solution(const cli *c, solve_job *job)
{
    if (!c->set.output) return TACIT_OK;
    const cli_system *s = &job->system;
    double *host = NULL;
    TRY(tacit_world_agree(
        c->world, ALLOC(s->n * (size_t)s->columns, "the solution", &host)));
    tacit_status status =
        tacit_world_agree(c->world, cli_get_solution(s, host));
    if (status >= 0)
        status = tacit_matrix_write_vectors(job->problem.matrix, c->set.output,
                                            s->columns, host, s->n);
    free(host);
    return status;
}

static int by_column(const void *a, const void *b)
{
    const cli_look *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->iteration > y->iteration) - (x->iteration < y->iteration);
}

/* `text` has LINE bytes for each check, and for one more. */
enum { LINE = 64 };
static void print_history(cli_monitor *m, bool columns, char *text)
{
    if (columns && m->count > 1)
        qsort(m->look, (size_t)m->count, sizeof *m->look, by_column);
    text += sprintf(text, "%siteration\trelative_residual\n",
                    columns ? "column\t" : "");
    for (int64_t i = 0; i < m->count; i++) {
        const cli_look *l = &m->look[i];
        if (columns) text += sprintf(text, "%d\t", l->column + 1);
        text += sprintf(text, "%" PRId64 "\t%.9e\n", l->iteration, l->residual);
    }
}

static tacit_status write_history(const cli *c, bool columns, cli_monitor *m)
{
    if (!c->set.history) return TACIT_OK;
    char *text = NULL;
    tacit_status status = TACIT_OK;
    if (c->rank == 0)
        status = ALLOC((m->count + 2) * LINE, "the history", &text);
    if (status >= 0 && m->lost)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for the history");
    status = tacit_world_agree(c->world, status);
    if (status >= 0 && c->rank == 0) print_history(m, columns, text);
    if (status >= 0) status = cli_write_text(c, c->set.history, text);
    free(text);
    return status;
}

/* All outputs of the solve, also without success. */
static tacit_status write_outputs(const cli *c, solve_job *job)
{
    fill_report(c, job);
    if (cli_prints(c) && !cli_output_taken(c))
        cli_report_print(stdout, &job->report);
    TRY(write_solution(c, job));
    TRY(write_history(c, job->system.columns > 1, &job->monitor));
    if (!c->set.json) return TACIT_OK;
    return cli_write_json(c, c->set.json, cli_report_json(&job->report));
}

/* Where else a system that is not positive definite is solved. */
static void add_advice(const cli *c, const solve_job *job, char *text,
                       size_t size)
{
    char diagonal[CLI_DIAGONAL];
    const tacit_result *r = &job->report.run.result;
    const size_t length = strlen(text);
    const char *why = cli_bad_diagonal(c, &job->problem, diagonal);
    if (job->report.run.status != TACIT_BREAKDOWN || cli_is_direct(c)) return;
    if (!r->breakdown_quantity || !isfinite(r->breakdown_value)) return;
    snprintf(text + length, size - length,
             "%s%s; --method minres solves indefinite systems, --method direct "
             "by a factor",
             why ? "; " : "", why ? why : "");
}

/* Is a diagonal that is not positive said otherwise? As the reason of a
 * breakdown; as rows of zeros, which are null vectors; or the end is singular. */
static bool says_more(const solve_job *job)
{
    const tacit_matrix_info *m = &job->problem.info;
    const tacit_result *r = &job->report.run.result;
    return job->report.run.status == TACIT_BREAKDOWN ||
           r->stop == TACIT_STOP_SINGULAR ||
           (m->negative_diagonals == 0 && m->zero_diagonals <= r->null_vectors);
}

/* The iterate that the solution is: at the iteration limit the last one, if
 * none is better than the first guess. */
static const char *iterate_of(const cli *c, const solve_job *job)
{
    const tacit_result *r = &job->report.run.result;
    const bool ended = r->stop == TACIT_STOP_MAX_ITERATIONS ||
                       r->stop == TACIT_STOP_INTERRUPTED;
    if (c->set.pure) return "last";
    return ended && r->true_relative_residual > job->monitor.first ? "last"
                                                                   : "best";
}

/* An unsuccessful solve prints one line. */
static tacit_status conclude(const cli *c, const solve_job *job)
{
    const cli_run *run = &job->report.run;
    char text[1024], *end = text + sizeof text;
    if (!says_more(job)) cli_warn_diagonal(c, &job->problem);
    if (run->status == TACIT_OK) return TACIT_OK;
    cli_explain(run, text, sizeof text);
    add_advice(c, job, text, sizeof text);
    char *at = text + strlen(text);
    if (c->set.output)
        snprintf(at, (size_t)(end - at), "; %s holds the %s iterate",
                 tacit_file_is_stdout(c->set.output) ? "standard output"
                                                     : c->set.output,
                 iterate_of(c, job));
    if (c->rank == 0) cli_complain(text);
    return run->status;
}

/* Refinement may have made b - A x rounding in all rows: no row is overlooked
 * then. */
static tacit_status warn_of_direct(const cli *c, const solve_job *job)
{
    static const double ROUNDING = 1e-13;
    const tacit_backward *a = job->report.accuracy;
    bool overlooked = false;
    if (!cli_is_direct(c) || !a) return TACIT_OK;
    for (int j = 0; j < job->system.columns; j++)
        overlooked = overlooked || !(a[j].componentwise <= ROUNDING);
    if (!overlooked) return TACIT_OK;
    return cli_warn_unbalanced(c, &job->problem, &job->system, NULL);
}

static tacit_status solve(const cli *c, solve_job *job)
{
    TRY(check_outputs(c));
    TRY(set_up(c, job));
    if (!cli_is_direct(c))
        TRY(cli_warn_unbalanced(c, &job->problem, &job->system,
                                tacit_solver_precond(job->solver)));
    job->monitor = cli_monitor_of(c, c->set.history != NULL && c->rank == 0);
    TRY(run_all(c, job));
    TRY(measure_accuracy(c, job));
    TRY(write_outputs(c, job));
    TRY(warn_of_direct(c, job));
    return conclude(c, job);
}

static tacit_status solve_run(cli *c)
{
    if (c->set.rhs && c->set.operands > 1)
        FAIL(TACIT_INVALID, "two right-hand sides: '%s' and --rhs '%s'",
             c->set.operand[1], c->set.rhs);
    if (cli_is_direct(c)) TRY(cli_check_direct(c));
    solve_job job = {.start = base_seconds()};
    const tacit_status status = solve(c, &job);
    free(job.seconds);
    free(job.best);
    free(job.accuracy);
    cli_monitor_free(&job.monitor);
    tacit_solver_destroy(&job.solver);
    cli_system_destroy(&job.system);
    cli_problem_close(&job.problem);
    return status;
}

const cli_command cli_command_solve = {
    .name = "solve",
    .operands = "MATRIX [RHS]",
    .summary = "solve A x = b",
    .about =
        "Solve A x = b for a symmetric positive definite MATRIX (--method "
        "minres: a symmetric one; --method direct: any square one), a file or "
        "a gallery name, and report what happened. The residual that decides "
        "is b - A x, recomputed: where the recurrence is wrong the solve "
        "continues, and the report says so.\n\nRHS is a vector file, or ones, "
        "or "
        "manufactured: b = A x* for a known x*, so that the report has the "
        "error; or file: the one that the file of MATRIX holds beside the "
        "matrix (Harwell-Boeing, PETSc). A vector file is of any format, or "
        "plain numbers with comments from # or %.\n\nAn RHS with several "
        "columns is as many systems with one matrix. Each column stops by "
        "itself, and the exit status is the worst column's. --x0 has as many "
        "columns, or one for all; -o writes as many, in Matrix Market, .npy or "
        ".tacit; --json has results, an array with an object for each column, "
        "in place of result. Times are of all columns together.",
    .takes = {1, 2},
    .run = solve_run,
};
