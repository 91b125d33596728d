/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/system.c - A x = b on a device: queue, operator and vectors, and one run
 * of a method on them. */
#include "cli/system/problem.h"
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const char *const words[] = {"ones", "manufactured", "file"};
enum { WORDS = sizeof words / sizeof *words };

bool cli_is_rhs_word(const char *text)
{
    for (int i = 0; i < WORDS; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

const char *cli_near_rhs_word(const char *text)
{
    const bool plain = strcspn(text, "/.") == strlen(text);
    return plain ? cli_nearest(text, words, WORDS) : NULL;
}

static const char *rhs_of(const cli *c)
{
    if (c->set.rhs) return c->set.rhs;
    return c->set.operands > 1 ? c->set.operand[1] : "manufactured";
}

bool cli_is_own(const char *text)
{
    return text && strcmp(text, "file") == 0;
}

bool cli_is_manufactured(const cli *c)
{
    return strcmp(rhs_of(c), "manufactured") == 0;
}

/* --- set-up ------------------------------------------------------------------ */

/* The vector that `text`, of --rhs or --x0, names: of a file, or of the matrix's
 * own. */
static tacit_status read_named(const cli *c, const cli_problem *p,
                               const char *text, bool guess, double *x)
{
    const bool own = cli_is_own(text);
    const char *path = own ? c->set.operand[0] : text;
    return own && guess ? tacit_matrix_read_guess(p->matrix, path, x)
                        : tacit_matrix_read_vector(p->matrix, path, x);
}

static tacit_status read_guess(const cli *c, const cli_problem *p,
                               cli_system *s)
{
    if (!c->set.x0) return TACIT_OK;
    TRY(tacit_world_agree(c->world, ALLOC(s->n, "the first guess", &s->guess)));
    return read_named(c, p, c->set.x0, true, s->guess);
}

static tacit_status read_rhs(const cli *c, const cli_problem *p, cli_system *s)
{
    double *host = NULL;
    TRY(tacit_world_agree(c->world, ALLOC(s->n, "the right-hand side", &host)));
    tacit_status status = read_named(c, p, rhs_of(c), false, host);
    if (status >= 0) status = tacit_queue_put(s->queue, s->n, host, s->b);
    free(host);
    return tacit_world_agree(c->world, status);
}

static tacit_status make_rhs(const cli *c, const cli_problem *p, cli_system *s)
{
    if (!cli_is_rhs_word(rhs_of(c)) || cli_is_own(rhs_of(c)))
        return read_rhs(c, p, s);
    if (cli_is_manufactured(c))
        return tacit_operator_manufacture(s->A, p->matrix, c->set.seed,
                                          s->xstar, s->b);
    return tacit_queue_fill(s->queue, s->n, 1.0, s->b);
}

static tacit_status make_vectors(const cli *c, cli_system *s)
{
    TRY(tacit_queue_alloc(s->queue, s->n, &s->b));
    TRY(tacit_queue_alloc(s->queue, s->n, &s->x));
    if (cli_is_manufactured(c))
        TRY(tacit_queue_alloc(s->queue, s->n, &s->xstar));
    return TACIT_OK;
}

/* The threads of OpenMP, which made the matrix, go on spinning for some ms:
 * send them away before threads of the queue are measured, or work. */
static void dismiss_openmp(void)
{
#ifdef _OPENMP
    omp_pause_resource_all(omp_pause_soft);
#endif
}

static tacit_status build(const cli *c, const cli_problem *p,
                          const char *decorators, const char *format, bool take,
                          cli_system *s)
{
    char spec[CLI_SPEC];
    dismiss_openmp();
    const double start = base_seconds();
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, decorators, spec),
                           (int)c->set.threads, &s->queue));
    if (cli_on_gpu(c)) s->context_seconds = base_seconds() - start;
    TRY(take ? tacit_operator_take(s->queue, p->matrix, format, &s->A)
             : tacit_operator_create(s->queue, p->matrix, format, &s->A));
    s->n = (size_t)tacit_operator_local_rows(s->A);
    s->setup_seconds = base_seconds() - start - s->context_seconds;
    TRY(tacit_world_agree(c->world, make_vectors(c, s)));
    TRY(read_guess(c, p, s));
    TRY(make_rhs(c, p, s));
    dismiss_openmp();
    return TACIT_OK;
}

tacit_status cli_system_create(const cli *c, const cli_problem *p,
                               const char *decorators, const char *format,
                               bool take, cli_system *out)
{
    *out = (cli_system){.queue = NULL};
    const tacit_status status = build(c, p, decorators, format, take, out);
    if (status < 0) cli_system_destroy(out);
    return status;
}

tacit_status cli_set_precond(const cli *c, tacit_solver *solver)
{
    const char *wish = c->set.precond;
    return wish ? tacit_solver_set(solver, "precond", wish) : TACIT_OK;
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
    if (s->queue) {
        tacit_queue_free(s->queue, &s->b);
        tacit_queue_free(s->queue, &s->x);
        tacit_queue_free(s->queue, &s->xstar);
    }
    free(s->guess);
    s->guess = NULL;
    tacit_operator_destroy(&s->A);
    tacit_queue_destroy(&s->queue);
}

/* --- a run ---------------------------------------------------------------- */

/* Counts and seconds of the slowest rank; flops, bytes, messages of all. */
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

static tacit_status set_guess(cli_system *s)
{
    if (s->guess) return tacit_queue_put(s->queue, s->n, s->guess, s->x);
    return tacit_queue_fill(s->queue, s->n, 0.0, s->x);
}

tacit_status cli_run_solver(const cli *c, cli_system *s, tacit_solver *solver,
                            cli_monitor *m, cli_run *out)
{
    *out = (cli_run){.error = (double)NAN,
                     .result.size = sizeof out->result,
                     .mixed = cli_is_mixed(s)};
    TRY(set_guess(s));
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = c->set.rtol,
                             .atol = c->set.atol,
                             .max_iterations = c->set.max_iterations,
                             .monitor = cli_monitor_step,
                             .monitor_ctx = m};
    tacit_queue_clear_tally(s->queue);
    cli_monitor_begin(m);
    out->status = tacit_solver_run(solver, s->b, s->x, &stop, &out->result);
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

double cli_measure_copy(const cli *c, tacit_queue *queue)
{
    /* well beyond the caches, and little beside a matrix worth measuring */
    const double bytes = (cli_on_gpu(c) ? 0x1p31 : 0x1p28) / c->ranks;
    double rate = 0.0;
    if (tacit_queue_measure_copy(queue, (size_t)bytes, &rate) < 0)
        rate = (double)NAN;
    return cli_sum(c, rate);
}
