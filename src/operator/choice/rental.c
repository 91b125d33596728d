/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/rental.c - between two iterations: try another format, store
 * the matrix in it, go back.
 *
 * Ranks decide alike at checks whose distance grows, from sums over all; what a
 * rank then stores is its own affair. */
#include "operator/choice/rental.h"
#include "comm/setup/alltoall.h"
#include "operator/host/csr.h"
#include <math.h>
#include <string.h>

enum {
    RATIO = 4, /* checks grow by 1 / RATIO from one decision to the next */
    VECTOR_BYTES = 80 /* a row and iteration */
};
/* Seconds to try a format, for each entry of the sample, in seconds to read an
 * entry once. */
static const double TRIAL = 10.0;
/* The assumed price of a format, in products, and its gain, in parts of one:
 * eleven matrices of 20,000 to 900,000 entries took 10 to 32 and gained 0.16 to
 * 0.52. */
static const double PRICE = 20.0, GAIN = 0.4;
/* Room for a second copy, in bytes an entry and a row. */
static const double ENTRY_BYTES = 14.0, ROW_BYTES = 20.0;

/* --- the clock ------------------------------------------------------------ */

static double now(const tct_rental *r)
{
    return r->clock.now(r->clock.of);
}

static void charge(const tct_rental *r, tct_rent_work work, double bytes)
{
    if (r->clock.charge) r->clock.charge(r->clock.of, work, bytes);
}

/* --- begin and end -------------------------------------------------------- */

tacit_status tct_rental_open(tct_assembled *A, const tct_operator_wish *wish)
{
    tct_rental *r = tct_calloc(sizeof *r);
    if (!r) FAIL(TACIT_NO_MEMORY, "no memory for an operator");
    A->rental = r;
    r->by_model = wish->by_model;
    r->clock = wish->clock.now  ? wish->clock
               : wish->by_model ? tct_rent_model(&r->model)
                                : tct_rent_wall();
    r->last = now(r);
    r->due = 1;
    return TACIT_OK;
}

bool tct_rental_is_small(const tct_assembled *A, const tct_local *rows)
{
    const int64_t entries = rows->ptr[rows->rows];
    return A->rental && tct_trial_entries(entries) == entries;
}

bool tct_rental_suits(const tct_assembled *A, const tct_format_wish *wish,
                      const tct_local *rows)
{
    const bool plain = strcmp(wish->format, "auto") == 0 && !wish->low[0];
    const bool none = strcmp(wish->order, "none") == 0;
    if (!plain || tct_rental_is_small(A, rows)) return false;
    if (none || !tct_trial_is_cheap(rows->ptr[rows->rows])) return true;
    return strcmp(wish->order, "auto") == 0 &&
           !tct_order_may_pay(A->base.q, rows);
}

/* One pass over the rows has been made since the rental was opened. */
void tct_rental_begin(tct_assembled *A, const tct_grid_place *at)
{
    tct_rental *r = A->rental;
    const double entries = (double)A->stored.block->nonzeros;
    charge(r, RENT_PREPARE, 12.0 * entries);
    const double sample = (double)tct_trial_entries(A->stored.block->nonzeros);
    r->at = *at;
    r->state.trial = TRIAL * sample * (now(r) - r->last) / entries;
}

static void forget(tct_block **B)
{
    if (*B) (*B)->ops->destroy(*B);
    *B = NULL;
}

void tct_rental_close(tct_assembled *A)
{
    tct_rental *r = A->rental;
    if (!r) return;
    tct_trial_close(&r->trial);
    forget(&r->rows);
    tct_free(r);
    A->rental = NULL;
    A->base.rents = false;
}

tacit_status tct_rental_agree(tct_assembled *A)
{
    const bool rents = tct_rental_rents(A);
    const bool tries = rents && tct_trial_is_cheap(A->stored.block->nonzeros);
    bool any = false, any_tries = false;
    TRY(tct_any(A->base.world, rents, &any));
    TRY(tct_any(A->base.world, tries, &any_tries));
    A->base.rents = any;
    if (!any) tct_rental_close(A);
    else if (!any_tries) {
        A->rental->assumes = true;
        A->rental->state.state = RENT_TRIED;
    }
    return TACIT_OK;
}

/* --- decisions are told --------------------------------------------------- */

static void tell(tct_assembled *A, const char *what, const char *outcome,
                 double cost, double gain)
{
    tct_rental *r = A->rental;
    tct_log(TCT_DETAIL,
            "rank %d  after %lld products: %s %s; %.2f ms, and %.2f us a "
            "product gained",
            A->base.world->rank, (long long)r->counted, what, outcome,
            1e3 * cost, 1e6 * gain);
    if (r->tells == TCT_DECISIONS_MOST) return;
    r->told[r->tells++] = (tacit_decision){.what = what,
                                           .outcome = outcome,
                                           .products = r->counted,
                                           .cost = cost,
                                           .gain = gain};
}

/* --- acts ----------------------------------------------------------------- */

static const char *name_of(const tct_assembled *A)
{
    return A->stored.format->about.name;
}

/* The rows, with the stencil that they may have. */
static tct_local rows_of(tct_assembled *A)
{
    tct_rental *r = A->rental;
    tct_local rows = tct_csr_rows_of(A->stored.block);
    rows.no_grid = r->trial.rows.no_grid;
    if (!r->looked_for_grid) {
        r->looked_for_grid = true;
        rows.no_grid = tct_grid_find(&r->at, &rows, &r->grid);
    }
    if (!rows.no_grid) rows.grid = &r->grid;
    return rows;
}

/* The price and the gain of a trial, on the block's threads. */
static void weigh(tct_assembled *A)
{
    tct_rental *r = A->rental;
    const tct_trial *t = &r->trial;
    const int threads = A->stored.block->threads;
    const double share = t->scale / (threads > 0 ? threads : 1);
    const double most =
        t->old > 0.0 ? (1.0 - t->now / t->old) * r->state.before : 0.0;
    r->state.gain = (t->old - t->now) * share;
    if (r->state.before > 0.0) r->state.gain = fmin(r->state.gain, most);
    r->state.build *= share;
    for (int i = 0; i < A->stored.trial_count; i++) {
        tacit_trial *of = &A->stored.trials[i];
        if (strcmp(of->format, "csr") == 0) of->seconds = t->old * t->scale;
        if (t->format == tct_format_at("host", i))
            of->seconds = t->now * t->scale;
    }
}

/* Store a sample; without memory the rows stay. */
static void begin_trial(tct_assembled *A)
{
    tct_rental *r = A->rental;
    const double start = now(r);
    r->state.rounds = 0;
    r->state.state = RENT_TRIES;
    if (r->idle) return;
    const tct_local rows = rows_of(A);
    const tacit_status status = tct_trial_open(
        &rows, &r->clock, A->stored.trials, &A->stored.trial_count, &r->trial);
    r->state.build = r->trial.price;
    r->state.trial = now(r) - start;
    if (status < 0 || !r->trial.block) tct_trial_close(&r->trial);
    r->trial.rows = rows;
}

/* One more round; the last one weighs. */
static void go_on_trying(tct_assembled *A)
{
    tct_rental *r = A->rental;
    tct_trial *t = &r->trial;
    tct_trial_products(t, &r->clock, r->state.rounds > 0);
    if (++r->state.rounds < RENT_ROUNDS) return;
    r->state.rounds = 0;
    r->state.state = RENT_TRIED;
    if (t->block) weigh(A);
    else r->state.gain = r->state.build = 0.0;
    tct_trial_close(t);
}

static tacit_status require_room(const tct_block *B)
{
    return tct_memory_require(
        2.0 * (ENTRY_BYTES * (double)B->nonzeros + ROW_BYTES * (double)B->rows),
        "another format");
}

static void take_block(tct_assembled *A, const tct_format *format,
                       tct_block *block)
{
    A->stored.format = format;
    A->stored.block = block;
    strcpy(A->stored.name, format->about.name);
    A->base.local = block;
    A->base.version++;
    tct_assembled_describe(A);
}

/* Store the matrix in the format of the trial. */
static tacit_status build(tct_assembled *A)
{
    tct_rental *r = A->rental;
    tct_block *made = NULL, *was = A->stored.block;
    tct_local rows = rows_of(A);
    rows.dense = r->trial.dense;
    if (!r->trial.format) FAIL(TACIT_NO_MEMORY, "no memory for a sample");
    TRY(require_room(was));
    TRY(q_own_status(A->base.q)); /* nothing uses the block now */
    const double start = now(r);
    TRY(r->trial.format->create(&rows, A->base.q->team, &made));
    charge(r, RENT_BUILD, 12.0 * (double)made->nonzeros + made->matrix_bytes);
    r->price = now(r) - start;
    made->threads = was->threads;
    r->rows = was;
    take_block(A, r->trial.format, made);
    return TACIT_OK;
}

/* By bytes, where price and gain are assumed. False: the rows have the fewest,
 * or no memory is left to look. */
static bool choose_format(tct_assembled *A)
{
    tct_rental *r = A->rental;
    const double start = now(r);
    const tct_local rows = rows_of(A);
    const tacit_status status = tct_trial_look(
        &rows, A->stored.trials, &A->stored.trial_count, &r->trial);
    r->trial.rows = rows;
    tct_trial_close(&r->trial);
    r->state.trial = now(r) - start;
    if (status >= 0 && r->trial.format) return true;
    tell(A, "csr", status < 0 ? "kept: no memory" : "has the fewest bytes",
         r->state.trial, 0.0);
    return false;
}

static void buy(tct_assembled *A)
{
    tct_rental *r = A->rental;
    r->state.state = RENT_PROVES;
    r->state.rounds = 0;
    r->state.after = 0.0;
    const double gain = r->state.gain;
    if (r->idle || (!r->assumes && !(gain > 0.0))) return; /* others buy */
    if (r->assumes && !choose_format(A)) return;
    const char *what = r->trial.format->about.name;
    const bool bought = build(A) >= 0;
    tell(A, what, bought ? "stored" : "refused: no memory",
         r->price + r->state.trial, gain);
}

static void undo(tct_assembled *A)
{
    tct_rental *r = A->rental;
    r->state.state = RENT_KEPT;
    if (!r->rows || q_own_status(A->base.q) < 0) return;
    tct_block *made = A->stored.block;
    const char *what = name_of(A);
    take_block(A, &tct_format_csr, r->rows);
    r->rows = NULL;
    forget(&made);
    tell(A, what, "undone", 0.0, r->state.before - r->state.after);
}

void tct_rental_keep(tct_assembled *A)
{
    tct_rental *r = A->rental;
    if (!r) return;
    const bool settled = r->state.state == RENT_SETTLED;
    r->state.state = settled ? RENT_SETTLED : RENT_KEPT;
    forget(&r->rows);
}

static void refuse(tct_assembled *A)
{
    tct_rental *r = A->rental;
    const tct_format *f = r->trial.format;
    r->state.state = RENT_KEPT;
    if (r->idle) return;
    tell(A, f ? f->about.name : "csr", f ? "refused" : "has the fewest bytes",
         r->state.trial, r->state.gain);
}

static void choose_threads(tct_assembled *A)
{
    tct_rental *r = A->rental;
    r->state.state = RENT_SETTLED;
    A->base.rents = false;
    if (!r->idle && !r->by_model && q_own_status(A->base.q) >= 0)
        tct_threads_choose(A->base.q, A->stored.block);
    tct_assembled_describe(A);
}

static void act(tct_assembled *A, tct_rent_act what)
{
    switch (what) {
    case RENT_GO_ON: break;
    case RENT_TRY: begin_trial(A); break;
    case RENT_BUY: buy(A); break;
    case RENT_REFUSE: refuse(A); break;
    case RENT_UNDO: undo(A); break;
    case RENT_KEEP: tct_rental_keep(A); break;
    case RENT_THREADS: choose_threads(A); break;
    }
}

/* --- between iterations --------------------------------------------------- */

void tct_rental_run_begins(tacit_operator *base)
{
    tct_rental *r = tct_assembled_of(base)->rental;
    if (!r) return;
    r->noted = r->counted;
    r->last = now(r);
}

/* Several ranks decide at checks that all have, from sums. */
static tct_rent_act decide(tct_assembled *A, double left)
{
    tct_rental *r = A->rental;
    double sums[RENT_SUMS];
    tct_rent all = r->state;
    if (A->base.world->size == 1) return tct_rent_decide(&all, left);
    if (r->state.state == RENT_PROVES && r->state.rounds < RENT_PROOFS)
        return RENT_GO_ON;
    if (r->checks < r->due) return RENT_GO_ON;
    r->due = r->checks + 1 + r->checks / RATIO;
    tct_rent_pack(&r->state, sums);
    if (tct_reduce_f64(A->base.world, TCT_SUM, RENT_SUMS, sums) < 0)
        return RENT_GO_ON;
    all = tct_rent_unpack(&r->state, sums);
    return tct_rent_decide(&all, left);
}

static void note(tct_assembled *A)
{
    tct_rental *r = A->rental;
    const tct_block *B = A->stored.block;
    const int64_t products = r->counted - r->noted;
    charge(r, RENT_PRODUCTS,
           (double)products *
               (B->matrix_bytes + VECTOR_BYTES * (double)B->rows));
    const double is = now(r);
    tct_rent_note(&r->state, products, is - r->last);
    r->noted = r->counted;
    if (r->assumes && r->state.state == RENT_TRIED && !r->idle) {
        r->state.gain = GAIN * r->state.before;
        r->state.build = PRICE * r->state.before;
    }
}

void tct_rental_checked(tacit_operator *base, double left)
{
    tct_assembled *A = tct_assembled_of(base);
    tct_rental *r = A->rental;
    if (!r || r->state.state == RENT_SETTLED) return;
    note(A);
    r->checks++;
    if (r->state.state == RENT_TRIES) go_on_trying(A);
    else act(A, decide(A, left));
    r->last = now(r);
}

void tct_rental_settle(tacit_operator *base)
{
    tct_assembled *A = tct_assembled_of(base);
    tct_rental *r = A->rental;
    if (!r || r->state.state >= RENT_PROVES) return;
    if (r->state.state == RENT_RUNS) begin_trial(A);
    while (r->state.state == RENT_TRIES) go_on_trying(A);
    if (r->state.gain > 0.0 || r->assumes) buy(A);
    else refuse(A);
    tct_rental_keep(A);
}
