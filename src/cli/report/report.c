/* SPDX-License-Identifier: BSD-3-Clause
 * cli/report/report.c - the result of a solve, for people. */
#include "cli/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static const char *precision_of(const cli *c, const cli_run *run)
{
    if (!run->mixed) return "double";
    return c->precision ? c->precision : "mixed";
}

cli_path cli_path_of(const cli *c, const cli_problem *p, const cli_system *s,
                     const char *method, const cli_run *run)
{
    const tacit_result *result = &run->result;
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(s->A, &info);
    cli_path path = {.method = method,
                     .loop = result->loop ? result->loop : "host",
                     .comm = tacit_queue_link(s->queue),
                     .comm_detail = tacit_queue_link_detail(s->queue),
                     .device = c->device,
                     .precision = precision_of(c, run),
                     .precond = c->set.precond ? c->set.precond : "none",
                     .partition = p->partition,
                     .order = info.order,
                     .order_seconds = info.order_seconds,
                     .copy_seconds = info.copy_seconds,
                     .store_seconds = info.store_seconds,
                     .ranks = c->ranks,
                     .threads = info.threads,
                     .oversubscribed = cli_on_gpu(c) && c->oversubscribed};
    path.bytes_per_nonzero =
        run->mixed ? info.low_bytes_per_nonzero : info.bytes_per_nonzero;
    snprintf(path.format, sizeof path.format, "%s", info.format);
    snprintf(path.detail, sizeof path.detail, "%s",
             info.detail ? info.detail : "");
    snprintf(path.loop_detail, sizeof path.loop_detail, "%s",
             result->loop_detail);
    tacit_queue_describe(s->queue, path.device_name, sizeof path.device_name);
    return path;
}

void cli_peak_memory(const cli *c, cli_report *r)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double bytes = 1024.0 * (double)usage.ru_maxrss;
    r->peak_rank = cli_max(c, bytes);
    r->peak_total = cli_sum(c, bytes);
}

double cli_moved_an_iteration(const cli_run *run)
{
    const int64_t iterations = run->result.iterations;
    return run->tally.moved_bytes / (double)(iterations > 0 ? iterations : 1);
}

double cli_fraction_of_copy(const cli_run *run, double copy)
{
    const double seconds = run->result.seconds;
    if (!(seconds > 0.0) || !(copy > 0.0)) return (double)NAN;
    return 1e-9 * run->tally.moved_bytes / seconds / copy;
}

const char *cli_stop_name(tacit_stop_reason stop)
{
    switch (stop) {
    case TACIT_STOP_RTOL: return "rtol";
    case TACIT_STOP_ATOL: return "atol";
    case TACIT_STOP_MAX_ITERATIONS: return "max_iterations";
    case TACIT_STOP_STAGNATION: return "stagnation";
    case TACIT_STOP_BREAKDOWN: return "breakdown";
    case TACIT_STOP_INTERRUPTED: return "interrupted";
    case TACIT_STOP_LEAST_SQUARES: return "least_squares";
    case TACIT_STOP_ITERATIONS: return "iterations";
    case TACIT_STOP_MONITOR: return "monitor";
    case TACIT_STOP_SINGULAR: return "singular";
    }
    return "unknown";
}

const char *cli_residual_of(const tacit_result *r)
{
    return r->null_vectors > 0 ? "P b" : "b";
}

static const char *label_of(const tacit_result *r)
{
    return r->null_vectors > 0 ? "||P b - A x|| / ||b||"
                               : "||b - A x|| / ||b|| ";
}

void cli_explain(const cli_run *run, char *text, size_t size)
{
    int unsolved = 0;
    for (int j = 0; run->results && j < run->columns; j++)
        unsolved += cli_outcome(&run->results[j]) != TACIT_OK;
    if (run->results)
        snprintf(text, size, "%s; %d of %d columns %s not solved", run->message,
                 unsolved, run->columns, unsolved == 1 ? "is" : "are");
    else snprintf(text, size, "%s", run->message);
}

/* --- the text ------------------------------------------------------------- */

static void print_matrix(FILE *to, const cli_report *r)
{
    char rows[CLI_NUMBER], entries[CLI_NUMBER], shift[CLI_NUMBER] = "";
    const double s = r->matrix.shift;
    if (s != 0)
        snprintf(shift, sizeof shift, " %c %.10g I", s < 0 ? '-' : '+',
                 fabs(s));
    fputs("matrix   ", to);
    cli_print_plain(to, r->name);
    fprintf(to,
            "%s: %s rows, %s entries (%" PRId64 " to %" PRId64
            " a row, mean %.2f)",
            shift, cli_integer(r->matrix.rows, rows),
            cli_integer(r->matrix.nonzeros, entries), r->matrix.row_min,
            r->matrix.row_max, r->matrix.row_mean);
    if (r->matrix.summed > 0)
        fprintf(to, "; %s given twice and summed",
                cli_integer(r->matrix.summed, entries));
    fputc('\n', to);
}

static void print_path(FILE *to, const cli_report *r)
{
    const cli_path *p = &r->path;
    fprintf(
        to,
        "path     method %s, loop %s%s%s%s, comm %s%s%s%s, device %s (%s)\n"
        "         format %s%s%s%s, order %s, precision %s, precond %s, "
        "%d rank%s x %d thread%s%s%s%s\n",
        p->method, p->loop, p->loop_detail[0] ? " (" : "", p->loop_detail,
        p->loop_detail[0] ? ")" : "", p->comm, p->comm_detail[0] ? " (" : "",
        p->comm_detail, p->comm_detail[0] ? ")" : "", p->device, p->device_name,
        p->format, p->detail[0] ? " (" : "", p->detail, p->detail[0] ? ")" : "",
        p->order, p->precision, p->precond, p->ranks, p->ranks == 1 ? "" : "s",
        p->threads, p->threads == 1 ? "" : "s",
        p->oversubscribed ? ", several of them on one GPU" : "",
        p->ranks > 1 ? ", partition " : "", p->ranks > 1 ? p->partition : "");
}

static const char *outcome(const cli_run *run)
{
    if (run->result.stop == TACIT_STOP_ITERATIONS) return "ended as asked for";
    if (run->result.converged)
        return run->result.stop == TACIT_STOP_STAGNATION
                   ? "as far as rounding allows"
                   : "converged";
    switch (run->result.stop) {
    case TACIT_STOP_ITERATIONS:
    case TACIT_STOP_MONITOR:
    case TACIT_STOP_BREAKDOWN: return "broke down";
    case TACIT_STOP_INTERRUPTED: return "interrupted, not converged";
    case TACIT_STOP_STAGNATION: return "stagnated, not converged";
    case TACIT_STOP_LEAST_SQUARES:
        return "a least squares solution, not converged";
    case TACIT_STOP_SINGULAR: return "singular, not converged";
    case TACIT_STOP_RTOL:
    case TACIT_STOP_ATOL:
    case TACIT_STOP_MAX_ITERATIONS: break;
    }
    return "not converged";
}

static void print_steps(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    const int64_t steps = s->iterations > 0 ? s->iterations - 1 : 0;
    char residual[CLI_NUMBER];
    fprintf(to,
            "result   %s: solved with the factor, and %" PRId64
            " step%s of refinement (stop: %s)\n"
            "         %s %s\n",
            outcome(&r->run), steps, steps == 1 ? "" : "s",
            cli_stop_name(s->stop), label_of(s),
            cli_small(s->true_relative_residual, residual));
}

/* If other methods made some iterations. */
static void print_made(FILE *to, const cli_report *r)
{
    char text[CLI_MADE];
    const tacit_made *made = r->run.result.made;
    if (!made[0].method) return;
    if (!made[1].method && strcmp(made[0].method, r->path.method) == 0) return;
    fprintf(to, "made     %s\n", cli_made(&r->run.result, ", ", text));
}

static void print_iterations(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    char told[CLI_NUMBER], recomputed[CLI_NUMBER], measure[CLI_NUMBER];
    fprintf(to,
            "result   %s after %" PRId64 " iteration%s (stop: %s)\n"
            "         ||r|| / ||b||        %s  (of the recurrence)\n"
            "         %s %s  (recomputed)\n",
            outcome(&r->run), s->iterations, s->iterations == 1 ? "" : "s",
            cli_stop_name(s->stop), cli_small(s->relative_residual, told),
            label_of(s), cli_small(s->true_relative_residual, recomputed));
    if (r->norm)
        fprintf(to, "         in norm %-12s %s  (which decides)\n", r->norm,
                cli_small(s->measure, measure));
    print_made(to, r);
}

double cli_attainable(const tacit_result *r, const tacit_backward *a)
{
    if (r->attainable > 0.0 || !a) return r->attainable;
    return a->attainable;
}

static void print_accuracy(FILE *to, const tacit_result *r,
                           const tacit_backward *a)
{
    if (!a || !isfinite(a->attainable)) return;
    fprintf(to, "         rounding allows      %.1e", cli_attainable(r, a));
    if (isfinite(a->normwise))
        fprintf(to, "; backward error %.1e", a->normwise);
    if (isfinite(a->componentwise))
        fprintf(to, ", row by row %.1e", a->componentwise);
    fputc('\n', to);
}

/* Null vectors of the matrix, and the part of b along them. */
static void print_null_space(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    if (s->null_vectors == 0) return;
    fprintf(to,
            "singular %" PRId64 " null vector%s of the matrix; b has a part of "
            "%.1e along %s, P b and x none\n",
            s->null_vectors, s->null_vectors == 1 ? "" : "s", s->outside,
            s->null_vectors == 1 ? "it" : "them");
}

/* Iterations from here on are many. */
enum { SLOW = 300 };
/* A residual up to this times what rounding allows is as small as any. */
static const double NEAR = 4.0;

/* A slow solve without a strong preconditioner: what was measured, and what may
 * help. */
static void print_hint(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    const bool weak = strcmp(r->path.precond, "none") == 0 ||
                      strcmp(r->path.precond, "jacobi") == 0;
    const double digits = -log10(s->true_relative_residual);
    const char *stronger = "--precond amg or ic0 may take fewer, and --precond "
                           "auto finds out while it solves";
    char time[CLI_NUMBER];
    if (!r->solver || !weak || s->iterations < SLOW ||
        s->stop == TACIT_STOP_ITERATIONS || tacit_solver_trial_at(r->solver, 0))
        return;
    if (s->true_relative_residual <= NEAR * cli_attainable(s, r->accuracy))
        return;
    if (digits > 0.0)
        fprintf(to,
                "hint     a digit of the residual took %.0f iterations "
                "(%s): %s\n",
                (double)s->iterations / digits,
                cli_seconds(s->seconds / digits, time), stronger);
    else if (s->stop == TACIT_STOP_MAX_ITERATIONS)
        fprintf(to,
                "hint     b - A x is no smaller than b after %" PRId64
                " iterations (%s): %s\n",
                s->iterations, cli_seconds(s->seconds, time), stronger);
}

/* Rows come in blocks as displacements do, and amg knows no rotations. */
static void print_block_hint(FILE *to, const cli_report *r)
{
    tacit_precond_info info = {.size = sizeof info};
    if (r->block == 0 || !r->M || tacit_precond_describe(r->M, &info) < 0)
        return;
    if (strcmp(info.name, "amg") != 0 || info.levels < 2) return;
    fprintf(to,
            "hint     rows come in dense blocks of %d: of an elastic body amg "
            "would know the rotations by coordinates of its nodes, and take "
            "fewer iterations: amg(coordinates=FILE), or amg(near-null=FILE)\n",
            r->block);
}

/* Of a file: what the command line left open. */
static void print_notice(FILE *to, const cli_report *r)
{
    if (!r->made_up || strcmp(r->path.precond, "none") != 0) return;
    fprintf(to,
            "NOTICE   no right-hand side was given: b is made up, A times a "
            "random x* (--rhs FILE gives yours)%s\n",
            r->solver ? ";\n         no preconditioner is used (--precond)"
                      : "");
}

static void print_result(FILE *to, const cli_report *r)
{
    if (r->solver) print_iterations(to, r);
    else print_steps(to, r);
    print_accuracy(to, &r->run.result, r->accuracy);
    print_null_space(to, r);
    cli_print_condition(to, r);
}

static void print_precision(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    if (s->reliable_updates > 0)
        fprintf(to, "note     %" PRId64 " reliable update%s\n",
                s->reliable_updates, s->reliable_updates == 1 ? "" : "s");
    if (s->fell_back)
        fprintf(to,
                "note     from iteration %" PRId64 " on with values of %d "
                "bits: fewer would have cost more than they save\n",
                s->fell_back_at, s->bits);
    if (r->spared)
        fprintf(to, "note     in double precision: values of fewer bits make "
                    "no faster products here\n");
}

static void print_notes(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    if (s->restarts > 0)
        fprintf(to,
                "note     b - A x was formed %" PRId64 " time%s, and the "
                "solve continued from x\n",
                s->restarts, s->restarts == 1 ? "" : "s");
    if (s->rescued_by)
        fprintf(to,
                "note     from iteration %" PRId64 " on %s did the work: the "
                "recurrences of %s are too inaccurate for this matrix\n",
                s->rescued_at, s->rescued_by, r->path.method);
    print_precision(to, r);
    if (s->replacements > 0 || s->extra_products > 3)
        fprintf(to,
                "extra    %" PRId64 " product%s besides those of the "
                "iterations: recomputed residuals, %" PRId64 " replacement%s\n",
                s->extra_products, s->extra_products == 1 ? "" : "s",
                s->replacements, s->replacements == 1 ? "" : "s");
    if (s->breakdown_quantity)
        fprintf(to, "note     breakdown at iteration %" PRId64 ": %s = %.6g\n",
                s->breakdown_iteration, s->breakdown_quantity,
                s->breakdown_value);
}

static void print_setup(FILE *to, const cli_path *p)
{
    char a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER];
    if (p->store_seconds > 0.0)
        fprintf(to,
                "         of set-up: rows to the GPU %s, formats stored and "
                "timed %s, order found %s\n",
                cli_seconds(p->copy_seconds, a),
                cli_seconds(p->store_seconds, b),
                cli_seconds(p->order_seconds, c));
}

static void print_times(FILE *to, const cli_report *r)
{
    const tacit_result *s = &r->run.result;
    const int64_t iterations = cli_iterations(&r->run);
    char a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER], d[CLI_NUMBER];
    char e[CLI_NUMBER];
    fprintf(to,
            "time     whole %s, from the matrix in memory to x\n"
            "         read %s, check %s, partition %s",
            cli_seconds(cli_whole(r), e), cli_seconds(r->read, a),
            cli_seconds(r->check, b), cli_seconds(r->partition, c));
    if (r->context > 0.0)
        fprintf(to, ", context of the GPU %s", cli_seconds(r->context, e));
    fprintf(to, ", set-up %s, solve %s", cli_seconds(r->setup, d),
            cli_seconds(s->seconds, e));
    if (iterations > 0)
        fprintf(to, " (%s an iteration)",
                cli_seconds(s->seconds / (double)iterations, a));
    fputc('\n', to);
    print_setup(to, &r->path);
    if (r->count < 2) return;
    fprintf(to, "         best of %d solves:", r->count);
    for (int i = 0; i < r->count; i++)
        fprintf(to, " %s%s", cli_seconds(r->solves[i], a),
                i + 1 < r->count ? "," : "\n");
}

static void print_rates(FILE *to, const cli_report *r)
{
    const double seconds = r->run.result.seconds;
    if (!(seconds > 0.0)) return;
    const tacit_tally_row total = cli_tally_total(&r->run.tally);
    const double scale = 1e-9 / seconds;
    fprintf(to,
            "rate     %.3g Gflop/s, %.3g GB/s by the count of CSR, %.3g GB/s "
            "really moved",
            scale * total.flops, scale * total.bytes,
            scale * r->run.tally.moved_bytes);
    const double fraction = cli_fraction_of_copy(&r->run, r->copy);
    if (isfinite(fraction))
        fprintf(to, ": %.2f of copying at %.3g GB/s%s", fraction, r->copy,
                fraction > 1.1 ? " (it stays in the caches)" : "");
    char a[CLI_NUMBER], b[CLI_NUMBER];
    fprintf(to, "\nmemory   %s at the peak", cli_bytes(r->peak_total, a));
    if (r->path.ranks > 1)
        fprintf(to, ", %s in one rank", cli_bytes(r->peak_rank, b));
    fputc('\n', to);
}

static void print_operation(FILE *to, const char *name,
                            const tacit_tally_row *row, double all, bool rated)
{
    if (row->count == 0) return;
    char time[CLI_NUMBER];
    fprintf(to, "         %-9s %8" PRId64 " x  %9s  %5.1f %%", name, row->count,
            cli_seconds(row->seconds, time), 100.0 * row->seconds / all);
    if (rated && row->seconds > 0)
        fprintf(to, "  %7.3g Gflop/s  %7.3g GB/s",
                1e-9 * row->flops / row->seconds,
                1e-9 * row->bytes / row->seconds);
    if (row->messages > 0)
        fprintf(to, "  %" PRId64 " messages, %.3g MB", row->messages,
                1e-6 * row->bytes);
    fputc('\n', to);
}

static void print_operations(FILE *to, const cli_report *r)
{
    const tacit_tally *t = &r->run.tally;
    const double all = r->run.result.seconds;
    if (!r->profiled || !(all > 0.0)) return;
    fputs("profile  (every operation waited for; a fused one counts where "
          "its heaviest part does)\n",
          to);
    print_operation(to, "spmv", &t->spmv, all, true);
    print_operation(to, "dot", &t->dot, all, false);
    print_operation(to, "nrm2", &t->nrm2, all, false);
    print_operation(to, "axpy", &t->axpy, all, true);
    print_operation(to, "reduce", &t->reduce, all, false);
    print_operation(to, "exchange", &t->exchange, all, false);
}

void cli_report_print(FILE *to, const cli_report *r)
{
    print_matrix(to, r);
    print_path(to, r);
    print_notice(to, r);
    cli_print_race(to, r->solver);
    if (r->solver) cli_print_precond(to, r->M);
    else cli_print_factor(to, r->M);
    if (r->run.results) {
        cli_print_columns(to, r);
    } else {
        print_result(to, r);
        print_notes(to, r);
        print_hint(to, r);
    }
    print_block_hint(to, r);
    print_times(to, r);
    cli_print_decisions(to, r->A);
    print_rates(to, r);
    print_operations(to, r);
}
