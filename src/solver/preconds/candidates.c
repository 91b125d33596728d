/* SPDX-License-Identifier: BSD-3-Clause
 * solver/preconds/candidates.c - the candidates of an autotuning and the time
 * each would still need, predicted from how fast its residuals fell last or,
 * before its first iteration, from the usual cost of its kind. */
#include "comm/setup/alltoall.h"
#include "matrix/matrix.h"
#include "solver/preconds/autotune.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A prediction is at most this factor times the cost of the candidate so far:
 * residuals of cg may stagnate for long and then fall; with an expensive
 * preconditioner they do so for fewer iterations. */
static const double TRUST = 6.0, TRUST_EXPENSIVE = 20.0;
/* Usual iterations of an expensive one to reduce a residual to 1 / e; those of
 * an exact factor, one of which corrects its rounding errors. */
static const double EACH = 1.4, EXACT = 2.0;
/* The cost of what cannot be predicted yet. */
static const double AGES = 1e100;
/* The target in place of 0. */
static const double LEAST = 1e-16;
/* Costs are counted, not measured, so that equal runs choose alike. The unit is
 * the reading of an entry by the host. Set-up costs OF_ROW entries more a row
 * and OF_ALL for the matrix: small matrices have levels, too. An iteration
 * costs OF_VECTORS a row and STEP; a GPU reads faster. */
static const double OF_ROW = 8.0, OF_ALL = 2e4, OF_VECTORS = 4.0,
                    STEP_HOST = 4e3, STEP_GPU = 1.5e4, GPU = 150.0;

/* --- what is predicted ---------------------------------------------------- */

double tct_autotuning_each(const tct_autotuning *race, const tct_candidate *c)
{
    return race->iteration * (1.0 + c->row->products);
}

/* ln of how much smaller the residual has to get. */
static double need_of(const tct_autotuning *race, double residual)
{
    return fmax(log(residual / fmax(race->target, LEAST)), 0.0);
}

/* Does the matrix have more entries a row than those for which the gain by `row`
 * is usual? */
static bool is_wide(const tct_autotuning *race, const tct_precond_kind *row)
{
    return row->entries > 0.0 && race->entries > row->entries;
}

static bool is_exact(const tct_precond_kind *row)
{
    return row->operation > 0.0;
}

/* The cost of making a candidate. Longer rows have more pairs of entries. */
static double setup_of(const tct_autotuning *race, const tct_precond_kind *row)
{
    const double wider =
        is_wide(race, row) ? race->entries / row->entries : 1.0;
    return wider * row->sweeps * race->sweep + row->always +
           row->operation * race->squares;
}

/* The candidate whose iterations tell of those of the others: none or jacobi;
 * NULL: it has made none. */
static const tct_candidate *plain_of(const tct_autotuning *race)
{
    for (int i = 0; i < race->count; i++)
        if (!race->candidate[i].row->about.of_matrix &&
            race->candidate[i].about.iterations > 0)
            return &race->candidate[i];
    return NULL;
}

/* The cost of one that has made iterations, by its rate. */
static double go_on(const tct_candidate *c, double need)
{
    const double trust = c->row->products > 0.0 ? TRUST_EXPENSIVE : TRUST;
    const double most = trust * c->spent;
    return need < c->rate * most ? need / c->rate : most;
}

/* The same of one that has made no iteration: a share of those that a plain one
 * would make, or a usual number. Of longer rows the gain is less sure: the
 * plain one is taken at its best rate. */
static double foretell(const tct_autotuning *race, const tct_candidate *c,
                       double need)
{
    const double each = tct_autotuning_each(race, c);
    if (is_exact(c->row)) return each * EXACT;
    if (!(c->row->share > 0.0)) return each * EACH * need;
    const tct_candidate *plain = plain_of(race);
    if (!plain) return AGES;
    if (is_wide(race, c->row))
        return (1.0 + c->row->products) * c->row->share * go_on(plain, need);
    return each * c->row->share * plain->slowness * need;
}

/* The cost from ||r|| / ||b|| at `residual`. */
static double solve_from(const tct_autotuning *race, const tct_candidate *c,
                         double residual)
{
    const double need = need_of(race, residual);
    if (c->about.iterations == 0) return foretell(race, c, need);
    return go_on(c, need);
}

double tct_autotuning_whole(const tct_autotuning *race, const tct_candidate *c)
{
    return c->about.alone ? c->whole : solve_from(race, c, 1.0);
}

double tct_autotuning_left(const tct_autotuning *race, const tct_candidate *c,
                           double residual)
{
    const double setup = c->driver ? 0.0 : setup_of(race, c->row);
    const double more = (double)(race->wish.solves - 1);
    return setup + solve_from(race, c, residual) +
           more * tct_autotuning_whole(race, c);
}

/* Residuals fall as a power of k at first, and as exp(-k) in the end: take the
 * geometric mean of the iterations that are left by either, at most AHEAD times
 * those by the mean rate of the trial. */
void tct_autotuning_slow(const tct_autotuning *race, tct_candidate *c,
                         const tct_fall *f)
{
    static const double AHEAD = 6.0;
    if (!race->shares) return; /* logarithms take time */
    const double need = need_of(race, f->least), k = (double)f->k;
    const double fell = log(f->at_mark / f->least),
                 all = log(f->first / f->least), mark = (double)f->mark;
    if (!(need > 0.0)) return;
    double ahead = AHEAD * k * (all > need ? need / all : 1.0);
    if (fell > 0.0 && mark > 0.0) {
        const double slow = k * (pow(k / mark, need / fell) - 1.0);
        const double fast = need / fell * (k - mark);
        ahead = fmin(ahead, sqrt(slow) * sqrt(fast));
    }
    c->slowness = ahead / need;
}

double tct_autotuning_against(const tct_autotuning *race,
                              const tct_candidate *c,
                              const tct_candidate *other, double residual)
{
    const double left = tct_autotuning_left(race, c, residual);
    if (!(other->row->share > 0.0) || c->row->products > 0.0 ||
        is_wide(race, other->row))
        return left;
    return fmax(left, c->slowness * need_of(race, residual) *
                          tct_autotuning_each(race, c));
}

tct_candidate *tct_autotuning_best(tct_autotuning *race,
                                   const tct_candidate *besides,
                                   double residual)
{
    tct_candidate *best = NULL;
    for (int i = 0; i < race->count; i++) {
        tct_candidate *c = &race->candidate[i];
        if (c == besides || !tct_is_in(c)) continue;
        if (!best || tct_autotuning_left(race, c, residual) <
                         tct_autotuning_left(race, best, residual))
            best = c;
    }
    return best;
}

tct_candidate *tct_autotuning_exact(tct_autotuning *race,
                                    const tct_candidate *c, double much,
                                    double residual)
{
    for (int i = 0; i < race->count; i++) {
        tct_candidate *exact = &race->candidate[i];
        if (is_exact(exact->row) && exact != c && tct_is_in(exact) &&
            exact->about.iterations == 0 &&
            tct_autotuning_left(race, c, residual) >
                much * tct_autotuning_left(race, exact, residual))
            return exact;
    }
    return NULL;
}

/* --- candidates ----------------------------------------------------------- */

void tct_candidate_drop(tct_candidate *c, const char *why)
{
    snprintf(c->reason, sizeof c->reason, "%s", why);
    c->about.reason = c->reason;
}

void tct_candidate_tell(const tct_autotuning *race, const tct_candidate *c)
{
    if (race->S->run.q->world->rank != 0) return;
    tct_log(TCT_DETAIL,
            "precond %s: %lld iterations in %.2f ms, set up in %.2f ms, "
            "||r|| / ||b|| is %.2e",
            c->about.name, (long long)c->about.iterations,
            1e3 * c->about.seconds, 1e3 * c->about.setup_seconds,
            c->about.reached);
}

/* The least and the largest of d [n], on the device. */
static void extent_of(tacit_queue *q, size_t n, const double *d, double *least,
                      double *most)
{
    enum { PIECE = 4096 };
    double piece[PIECE];
    for (size_t i = 0; i < n; i += PIECE) {
        const size_t k = n - i < PIECE ? n - i : PIECE;
        q_get(q, k, d + i, piece);
        for (size_t j = 0; j < k; j++) {
            *least = fmin(*least, piece[j]);
            *most = fmax(*most, piece[j]);
        }
    }
}

/* The same of the diagonal of `m`; stops at the first sign of a varying one. */
static void extent_of_matrix(const tct_csr *A, double *least, double *most)
{
    for (int64_t i = 0; i < A->rows && !(*least < *most); i++) {
        const double d = tct_csr_diagonal(A, i);
        *least = fmin(*least, d);
        *most = fmax(*most, d);
    }
}

/* Would jacobi do nothing? If A does not give its diagonal, so it is
 * assumed. */
static tacit_status is_diagonal_constant(const tacit_operator *A,
                                         const tacit_matrix *m, bool *out)
{
    tacit_queue *q = A->q;
    double *d = NULL, extent[2] = {-HUGE_VAL, -HUGE_VAL}, least = HUGE_VAL;
    tacit_status status = TACIT_OK;
    if (m) {
        extent_of_matrix(&m->A, &least, &extent[1]);
    } else {
        status = tacit_queue_alloc(q, (size_t)A->n, &d);
        if (status >= 0) status = tct_operator_diagonal(A, d);
        if (status >= 0) {
            extent_of(q, (size_t)A->n, d, &least, &extent[1]);
            status = q_own_status(q);
        }
    }
    if (status >= 0) extent[0] = -least;
    tacit_queue_free(q, &d);
    *out = true;
    status = tct_agree(A->world, status);
    if (status == TACIT_UNSUPPORTED || status == TACIT_NO_MEMORY)
        return TACIT_OK;
    TRY(status);
    TRY(tct_reduce_f64(A->world, TCT_MAX, 2, extent));
    *out = extent[1] <= -extent[0];
    return TACIT_OK;
}

static bool is_host(const tacit_queue *q)
{
    return q->device->kind == TCT_KIND_HOST;
}

/* Columns of this rank after row i, in row i. */
static int64_t count_after(const tct_csr *A, int64_t i)
{
    int64_t count = 0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int64_t j = tct_csr_col(A, e) - A->first;
        count += j > i && j < A->rows;
    }
    return count;
}

/* Elimination of a row may join each pair of the columns after it: of networks
 * with large hubs far too many. Of longer rows these are about half, and not
 * counted. */
static tacit_status find_fill(tct_autotuning *race, bool wide)
{
    const tacit_matrix *m = race->wish.matrix;
    const double most = m ? 2.0 * (double)tct_csr_nonzeros(&m->A) : 0.0;
    double pairs = 0.0;
    for (int64_t i = 0; m && i < m->A.rows && pairs <= most; i++) {
        const double all = (double)(m->A.ptr[i + 1] - m->A.ptr[i]);
        const double after =
            wide ? 0.5 * fmax(all - 1.0, 0.0) : (double)count_after(&m->A, i);
        pairs += 0.5 * after * fmax(after - 1.0, 0.0);
    }
    return tct_any(race->S->run.q->world, pairs > most, &race->fills);
}

/* Rows of a factor begin no earlier than the matrix's, in its order. */
static double squares_of(const tct_csr *A)
{
    double all = 0.0;
    for (int64_t i = 0; i < A->rows; i++) {
        if (A->ptr[i] == A->ptr[i + 1]) continue;
        const int64_t first = tct_csr_col(A, A->ptr[i]) - A->first;
        const double width = first < i ? (double)(i - first) : 0.0;
        all += width * width;
    }
    return all;
}

/* Is an exact factor small: do the operations within the profile cost less than
 * all the rest of its set-up? */
static bool is_small(const tct_autotuning *race, const tct_precond_kind *row)
{
    return 2.0 * row->operation * race->squares <= setup_of(race, row);
}

/* Costs of an iteration and a sweep on the rank with the most entries. */
static tacit_status model_costs(tct_autotuning *race)
{
    const tacit_matrix *m = race->wish.matrix;
    const tct_run *R = &race->S->run;
    double size[2] = {m ? (double)tct_csr_nonzeros(&m->A) : 0.0, (double)R->n};
    double all[2] = {size[0], size[1]};
    TRY(tct_reduce_f64(R->q->world, TCT_MAX, 2, size));
    TRY(tct_reduce_f64(R->q->world, TCT_SUM, 2, all));
    race->entries = all[1] > 0.0 ? all[0] / all[1] : 0.0;
    const double pass = size[0] + OF_VECTORS * size[1];
    race->iteration = is_host(R->q) ? pass + STEP_HOST : pass / GPU + STEP_GPU;
    race->sweep = size[0] + OF_ROW * size[1] + OF_ALL;
    if (m && R->q->world->size == 1) race->squares = squares_of(&m->A);
    return TACIT_OK;
}

/* Is `row` of use for matrices with so many entries a row, here? Of longer rows
 * its gain is too unsure to count several times. */
static bool suits(const tct_autotuning *race, const tct_precond_kind *row)
{
    return !(row->entries > 0.0) ||
           (is_host(race->S->run.q) &&
            (!is_wide(race, row) || race->wish.solves == 1));
}

static bool is_called(const tct_precond_kind *row, const char *name)
{
    return strcmp(row->about.name, name) == 0;
}

/* Why `row` is excluded; NULL: it is a candidate. Of none and jacobi one is. */
static const char *why_out(const tct_autotuning *race,
                           const tct_precond_kind *row, bool constant)
{
    if (row->about.reason) return row->about.reason;
    if (row->about.of_matrix && !race->wish.matrix)
        return "the entries of the matrix are not at hand";
    if (row->about.of_matrix && !(row->products > 0.0))
        return "not tried: its gain cannot be predicted; name it to use it";
    if (!suits(race, row))
        return "not tried: it gains most on a CPU, with few entries a row; "
               "name it to use it";
    if (row->entries > 0.0 && race->fills)
        return "not tried: rows with many entries would fill it; name it to "
               "use it";
    if (is_exact(row) &&
        (!is_host(race->S->run.q) || race->S->run.q->world->size > 1 ||
         !is_small(race, row)))
        return "not tried: it is for one process with a CPU, and matrices with "
               "a small profile; name it to use it";
    if (is_called(row, "jacobi") && constant)
        return "the diagonal is constant, so that it changes nothing";
    if (is_called(row, "none") && !constant)
        return "the diagonal is not constant, and jacobi costs next to nothing";
    return NULL;
}

/* The user's options, and what the method asks of a preconditioner. */
static tacit_status read_options(const tct_autotuning *race,
                                 tacit_precond_options *out)
{
    if (race->wish.options)
        TRY(tct_read_sized("tacit_precond_options", race->wish.options, out,
                           sizeof *out));
    out->size = sizeof *out;
    out->positive = race->S->run.system->method->about.indefinite;
    return TACIT_OK;
}

tacit_status tct_autotuning_begin(tct_autotuning *race)
{
    const tct_precond_kind *row;
    bool constant = false;
    tacit_precond_options options = {.size = sizeof options};
    TRY(read_options(race, &options));
    if (race->wish.matrix && tct_matrix_require_entries(race->wish.matrix) < 0)
        race->wish.matrix = NULL; /* on all ranks */
    if (race->wish.matrix && race->S->run.system->method->about.indefinite)
        TRY(tct_agree(
            race->S->run.q->world,
            tct_check_diagonal(race->wish.matrix, "preconditioner auto")));
    TRY(is_diagonal_constant(race->S->run.system->exact, race->wish.matrix,
                             &constant));
    TRY(model_costs(race));
    if (suits(race, &tct_precond_ic1))
        TRY(find_fill(race, is_wide(race, &tct_precond_ic1)));
    while (race->count < TCT_CANDIDATES &&
           (row = tct_precond_kind_at(race->count))) {
        tct_candidate *c = &race->candidate[race->count++];
        const char *why = why_out(race, row, constant);
        c->row = row;
        c->about.name = row->about.name;
        if (why) tct_candidate_drop(c, why);
        else race->shares |= row->share > 0.0 && !is_wide(race, row);
        if (!why || !row->about.of_matrix)
            TRY(tct_precond_source_open(row, race->S->run.system->exact,
                                        race->wish.matrix, &options, &c->from));
    }
    return TACIT_OK;
}

/* --- making them ---------------------------------------------------------- */

/* Without a diagonal to divide by, none takes the place of jacobi. */
static void fall_back(tct_autotuning *race, const tct_candidate *c)
{
    if (!is_called(c->row, "jacobi")) return;
    for (int i = 0; i < race->count; i++)
        if (is_called(race->candidate[i].row, "none"))
            race->candidate[i].about.reason = NULL;
}

static tacit_status precondition(tct_autotuning *race, tct_candidate *c)
{
    tacit_solver *S = race->S;
    TRY(tct_drive_by(S, &tct_driver_host)); /* which suits all */
    if (!c->driver)
        TRY(tct_precond_make(c->row, S->run.system->exact, &c->from, &c->M));
    TRY(tacit_solver_set_precond(S, c->M));
    if (c->driver)
        return tct_agree(S->run.q->world, tct_drive_by(S, c->driver));
    return tacit_solver_set_loop(S, race->wish.loop);
}

tacit_status tct_autotuning_take(tct_autotuning *race, tct_candidate *c)
{
    tacit_world *world = race->S->run.q->world;
    const double start = tct_seconds();
    const tacit_status status = precondition(race, c);
    double seconds = tct_seconds() - start;
    if (status == TACIT_INPUT || status == TACIT_UNSUPPORTED ||
        status == TACIT_NO_MEMORY) {
        tct_candidate_drop(c, tacit_error_message());
        fall_back(race, c);
    } else if (status < 0) {
        return status;
    }
    TRY(tct_reduce_f64(world, TCT_MAX, 1, &seconds));
    c->about.setup_seconds += seconds;
    if (tct_is_in(c)) c->driver = race->S->driver;
    return TACIT_OK;
}

void tct_autotuning_free(tct_autotuning *race)
{
    tacit_queue_free(race->S->run.q, &race->x);
    tacit_queue_free(race->S->run.q, &race->guess);
    for (int i = 0; i < race->count; i++) {
        tacit_operator_destroy(&race->candidate[i].M);
        tct_precond_source_close(&race->candidate[i].from);
    }
}
