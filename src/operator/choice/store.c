/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/store.c - stores a rank's rows as blocks: chooses the format
 * and the order of rows. */
#include "operator/choice/brought.h"
#include "operator/choice/rental.h"
#include "operator/layout/store_device.h"
#include <stdio.h>
#include <string.h>

/* A product in another order must be faster by this ratio: it costs memory, and
 * vectors must be permuted. */
static const double FASTER = 0.95;

/* On a GPU permuting costs little, and a small gain is enough. Products are
 * timed as launched, and wait for their slowest warp. A persistent kernel gains
 * more (0.84 times the bytes: 235 to 174 us an iteration on an H200), so that
 * fewer bytes are a reason, too. */
static const double FASTER_AT_ALL = 0.99, FEWER = 0.95;

/* Log the trials for the local block. */
static void tell_trials(int rank, const tct_stored *S)
{
    for (int i = 0; i < S->trial_count; i++) {
        const tacit_trial *t = &S->trials[i];
        char time[80] = "not measured";
        if (t->seconds > 0.0 && t->spent > 0.0)
            snprintf(time, sizeof time,
                     "%.2f us a product, %.0f bytes, %.2f ms to try",
                     1e6 * t->seconds, t->bytes, 1e3 * t->spent);
        else if (t->seconds > 0.0)
            snprintf(time, sizeof time, "%.2f us a product, %.0f bytes",
                     1e6 * t->seconds, t->bytes);
        tct_log(TCT_DETAIL, "rank %d  format %-9s %s%s%s", rank, t->format,
                t->bytes < 0.0 ? "does not fit" : time, t->reason ? ": " : "",
                t->reason ? t->reason : "");
    }
    tct_log(TCT_DETAIL, "rank %d  format %s taken%s", rank, S->name,
            S->trial_count > 0 ? "" : ", as it was asked for");
}

/* --- on the host: choose by a sample, then store -------------------------- */

typedef struct {
    const tct_format *format;
    tacit_trial trials[TCT_TRIALS_MOST];
    int count;
} choice;

static void choose(const tct_format_wish *wish, tct_team *team,
                   const tct_local *local, choice *out)
{
    out->format = tct_format_choose(local, team, out->trials, &out->count);
    if (strcmp(wish->format, "auto") != 0)
        out->format = tct_format_find("host", wish->format);
}

/* Is there memory for a second copy while the order is measured? */
static bool has_room(const tct_local *A)
{
    const double copy = 12.0 * (double)A->ptr[A->rows] + 60.0 * (double)A->rows;
    return (double)tct_memory_available() > 2.0 * copy;
}

static void tell_order(int rank, const tct_order *o, double was, double is,
                       bool taken)
{
    tct_log(TCT_DETAIL,
            "rank %d  order %s found in %.3f s: %.2f us a product, %.2f as the "
            "rows come: %s",
            rank, o->name, o->seconds, 1e6 * is, 1e6 * was,
            taken ? "taken" : "not taken");
}

/* Choose another order if that is faster; `local` is then in that order. */
static tacit_status try_order(tct_assembled *A, const tct_format_wish *wish,
                              tct_local *local, choice *c)
{
    tct_order *o = NULL;
    tct_local copy;
    choice other;
    TRY(tct_order_create(A->base.q, local, "rcm", &o));
    const tacit_status status = tct_order_copy(o, local, &copy);
    if (status >= 0) {
        double seconds[2];
        choose(wish, A->base.q->team, &copy, &other);
        tct_format_compare((const tct_local *const[]){local, &copy},
                           (const tct_format *const[]){c->format, other.format},
                           A->base.q->team, seconds);
        const bool better =
            seconds[1] > 0.0 && seconds[1] < FASTER * seconds[0];
        tell_order(A->base.world->rank, o, seconds[0], seconds[1], better);
        if (better) {
            const tct_local old = *local;
            *local = copy;
            copy = old;
            *c = other;
            A->order = o;
            o = NULL;
        }
        tct_local_free(&copy);
    }
    tct_order_destroy(A->base.q, &o);
    return status;
}

/* The rows as they came, for now. */
static tacit_status store_rented(tct_assembled *A, const tct_grid_place *at,
                                 tct_local *local)
{
    tct_stored *S = &A->stored;
    S->format = &tct_format_csr;
    snprintf(S->name, sizeof S->name, "%s", S->format->about.name);
    TRY(S->format->create(local, A->base.q->team, &S->block));
    S->block->threads = tct_threads_guess(A->base.q, S->block);
    tct_rental_begin(A, at);
    tct_log(TCT_DETAIL, "rank %d  the rows as they are, until others pay",
            A->base.world->rank);
    return TACIT_OK;
}

static tacit_status store_host(tct_assembled *A, const tct_format_wish *wish,
                               tct_local *local)
{
    tct_stored *S = &A->stored;
    tct_team *team = A->base.q->team;
    choice c = {.count = 0};
    const bool measure = strcmp(wish->format, "auto") == 0;
    const bool by_bytes = A->by_model || tct_rental_is_small(A, local);
    const bool order = strcmp(wish->order, "auto") == 0 && !by_bytes &&
                       tct_order_may_pay(A->base.q, local) && has_room(local);
    c.format = tct_format_find("host", wish->format);
    if (measure && by_bytes)
        c.format = tct_format_by_bytes(local, c.trials, &c.count);
    else if (measure || order) choose(wish, team, local, &c);
    if (order) {
        const tacit_status tried = try_order(A, wish, local, &c);
        if (tried < 0 && tried != TACIT_NO_MEMORY) return tried; /* unchanged */
    }
    S->format = c.format;
    if (measure) {
        memcpy(S->trials, c.trials, sizeof c.trials);
        S->trial_count = c.count;
    }
    snprintf(S->name, sizeof S->name, "%s", S->format->about.name);
    TRY(S->format->create(local, team, &S->block));
    if (by_bytes) S->block->threads = tct_threads_guess(A->base.q, S->block);
    else tct_threads_choose(A->base.q, S->block);
    return TACIT_OK;
}

/* --- on a GPU: store the whole matrix, and measure ------------------------ */

tacit_status tct_store_bring(tacit_queue *q, tct_local *local,
                             tct_store_rows *rows)
{
    local->device = NULL;
#if TCT_HAVE_CUDA
    if (q->device != &tct_device_cuda) return TACIT_OK;
    TRY(tct_gpu_rows_bring(q, local, rows));
    local->device = rows;
#else
    (void)q;
    (void)rows;
#endif
    return TACIT_OK;
}

void tct_store_drop(tct_local *local)
{
#if TCT_HAVE_CUDA
    if (local->device) tct_gpu_rows_drop(local->device);
#endif
    local->device = NULL;
}

/* In the fastest of all formats, or in the given one; the order of rows
 * stays. */
static tacit_status store_in(const tct_assembled *A,
                             const tct_format_wish *wish, tct_local *local,
                             tct_stored *S)
{
    tacit_queue *q = A->base.q;
    const char *winner = wish->format;
    if (strcmp(wish->format, "auto") == 0) {
        TRY(TCT_ALLOC(TCT_TRIALS_MOST, "the choice of a format", &S->reasons));
        TRY(tct_format_autotune(q, local, A->base.one_solve, S->trials,
                                &S->trial_count, S->reasons, &winner,
                                &S->block));
        snprintf(S->name, sizeof S->name, "%s", winner);
    } else {
        snprintf(S->name, sizeof S->name, "%s%s%s", wish->format,
                 wish->store[0] ? "/" : "", wish->store);
    }
    char bare[16];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(winner, "/"), winner);
    S->format = tct_format_find(q->device->name, bare);
    if (S->block) return TACIT_OK;
    return S->format->create(local, q->team, &S->block);
}

/* The rows go over once, for all formats that are tried. */
static tacit_status store_as(const tct_assembled *A,
                             const tct_format_wish *wish, tct_local *local,
                             tct_stored *S)
{
    tct_store_rows rows;
    local->owned = false;
    local->store = wish->store[0] ? wish->store : NULL;
    const double start = tct_seconds();
    if (strcmp(wish->format, "stencil") != 0 && !local->device)
        TRY(tct_store_bring(A->base.q, local, &rows));
    const double there = tct_seconds();
    const tacit_status status = store_in(A, wish, local, S);
    tct_store_drop(local);
    S->copy_seconds = there - start;
    S->store_seconds = tct_seconds() - there;
    return status;
}

/* Choose another order if that is faster; A and `local` then have it. */
static tacit_status try_order_gpu(tct_assembled *A, const tct_format_wish *wish,
                                  tct_local *local)
{
    tacit_queue *q = A->base.q;
    tct_order *o = NULL;
    tct_local copy = {0};
    tct_stored *was = &A->stored, other = {0};
    double seconds[2] = {0.0, 0.0};
    tacit_status status = tct_order_create(q, local, "rcm", &o);
    if (status >= 0) status = tct_order_copy(o, local, &copy);
    if (status >= 0) status = store_as(A, wish, &copy, &other);
    if (status >= 0)
        status = tct_time_products(q, (tct_block *[]){was->block, other.block},
                                   2, seconds);
    const bool better =
        status >= 0 &&
        (seconds[1] < FASTER_AT_ALL * seconds[0] ||
         (other.block->persistent &&
          other.block->matrix_bytes < FEWER * was->block->matrix_bytes));
    if (status >= 0)
        tell_order(A->base.world->rank, o, seconds[0], seconds[1], better);
    if (better) {
        const tct_stored slow = *was;
        const tct_local old = *local;
        *was = other;
        other = slow;
        *local = copy;
        copy = old;
        A->order = o;
        o = NULL;
    }
    tct_stored_clear(&other);
    tct_local_free(&copy);
    tct_order_destroy(q, &o);
    return status == TACIT_NO_MEMORY ? TACIT_OK : status; /* unchanged */
}

/* The host finds an order in about a second for LARGE entries, which a product
 * of a GPU hardly wins back: columns of 16 bits instead of 32 must save this
 * share of its bytes. A single solve does not win it back: one H200 and its host
 * took 112 ms for the order of 5.5 million entries and 3.3 for the solve. */
static const double LARGE = 2e7, WORTH = 0.2;

static bool order_pays(const tct_assembled *A, const tct_local *local)
{
    const double entries = (double)local->ptr[local->rows];
    const double all = A->stored.block->matrix_bytes +
                       8.0 * (double)(local->rows + local->cols);
    if (A->base.one_solve) {
        tct_log(TCT_DETAIL, "no other order is tried for a single solve");
        return false;
    }
    if (entries < LARGE || 2.0 * entries > WORTH * all) return true;
    tct_log(TCT_DETAIL,
            "no other order is tried: it would save at most %.0f %% of the "
            "bytes of a product",
            200.0 * entries / all);
    return false;
}

static tacit_status store_gpu(tct_assembled *A, const tct_format_wish *wish,
                              tct_local *local)
{
    TRY(store_as(A, wish, local, &A->stored));
    if (A->brought) A->stored.copy_seconds += A->brought->seconds;
    if (strcmp(wish->order, "auto") != 0 ||
        !tct_order_may_pay(A->base.q, local) || !has_room(local) ||
        !order_pays(A, local))
        return TACIT_OK;
    return try_order_gpu(A, wish, local);
}

/* --- both ----------------------------------------------------------------- */

/* The rows in the order asked for. */
static tacit_status reorder(tct_assembled *A, const char *name,
                            tct_local *local)
{
    if (strcmp(name, "auto") == 0 || strcmp(name, "none") == 0) return TACIT_OK;
    TRY(tct_order_create(A->base.q, local, name, &A->order));
    return tct_order_move(A->order, local);
}

tacit_status tct_store_ghosts(tct_assembled *A, tct_parts *parts)
{
    if (parts->ghosts == 0) return TACIT_OK;
    A->ghosts = parts->ghosts;
    A->ghost_id = parts->ghost_id;
    parts->ghost_id = NULL;
    if (A->order) TRY(tct_order_ghosts(A->order, parts));
    TRY(tct_ghost_create(parts, &A->ghost));
    TRY(tct_ghost_bring(A->base.q, A->ghost, &A->device_ghost));
    A->base.ghost = A->device_ghost;
    return TACIT_OK;
}

tacit_status tct_keep_diagonal(tct_assembled *A, const tct_local *local)
{
    const double start = tct_seconds();
    const bool gives = A->stored.format->diagonal && !A->diagonal;
    if (gives || tct_brought_diagonal(A)) return TACIT_OK;
    tacit_queue_free(A->base.q, &A->device_diagonal);
    if (!A->diagonal) TRY(TCT_ALLOC(local->rows, "the diagonal", &A->diagonal));
    tct_local_diagonal(local, A->diagonal);
    tct_log(TCT_DETAIL, "diagonal kept in %.2f ms",
            1e3 * (tct_seconds() - start));
    return TACIT_OK;
}

/* Find the stencil of the rows, if a format may ask for it. */
static void find_grid(const tct_grid_place *at, const tct_format_wish *wish,
                      tct_local *local, tct_grid_rows *grid)
{
    const bool asked = strcmp(wish->format, "stencil") == 0;
    const double start = tct_seconds();
    if (local->no_grid || (!asked && strcmp(wish->format, "auto") != 0)) return;
    local->no_grid = tct_grid_find(at, local, grid);
    if (!local->no_grid) local->grid = grid;
    tct_log(TCT_DETAIL, "stencil looked for in %.2f ms",
            1e3 * (tct_seconds() - start));
}

tacit_status tct_store_again(tct_assembled *A, const char *format,
                             tct_local *local)
{
    tct_stored *S = &A->stored;
    tct_block *was = S->block;
    const tct_format *f = tct_format_find(A->base.q->device->name, format);
    local->owned = false;
    TRY(f->create(local, A->base.q->team, &S->block));
    S->block->threads = was->threads;
    was->ops->destroy(was);
    S->format = f;
    snprintf(S->name, sizeof S->name, "%s", format);
    A->base.local = S->block;
    return A->diagonal ? TACIT_OK : tct_keep_diagonal(A, local);
}

/* Rows of one rank that others have, too, stay where they are if the device takes
 * them so. */
tacit_status tct_divide_rows(const tct_assembled *A, tct_csr *rows,
                             tct_parts *parts)
{
    const bool stay = A->rental || A->base.q->device->kind == TCT_KIND_GPU;
    if (!stay || !rows->holders || !rows->col32 || A->base.world->size > 1)
        TRY(tct_split(A->base.q->team, rows, parts));
    else tct_split_lent(rows, parts);
    tct_brought_lend(A, &parts->local);
    return TACIT_OK;
}

/* Divide `rows` for formats that are rented, if they can be. */
static tacit_status divide(tct_assembled *A, const tct_format_wish *wish,
                           tct_csr *rows, tct_parts *parts)
{
    TRY(tct_divide_rows(A, rows, parts));
    const bool lent = parts->local.lent != NULL;
    if (!A->rental || tct_rental_suits(A, wish, &parts->local)) return TACIT_OK;
    A->rental->idle = true;
    if (!lent) return TACIT_OK;
    tct_parts_clear(parts);
    return tct_split(A->base.q->team, rows, parts);
}

static tacit_status store(tct_assembled *A, const tct_format_wish *wish,
                          const tct_grid_place *at, tct_local *local)
{
    if (tct_rental_rents(A)) return store_rented(A, at, local);
    return A->base.q->device->kind == TCT_KIND_HOST ? store_host(A, wish, local)
                                                    : store_gpu(A, wish, local);
}

tacit_status tct_store_blocks(tct_assembled *A, const char *format,
                              const tct_grid_place *at, tct_csr *rows)
{
    tct_parts parts = {.ghosts = 0};
    tct_grid_rows grid;
    tct_format_wish wish;
    tacit_operator *base = &A->base;
    tacit_status status =
        tct_format_parse(base->q->device->name, format, &wish);
    if (status >= 0) status = divide(A, &wish, rows, &parts);
    if (status >= 0) status = reorder(A, wish.order, &parts.local);
    if (status >= 0 && !tct_rental_rents(A))
        find_grid(at, &wish, &parts.local, &grid);
    if (status >= 0) status = store(A, &wish, at, &parts.local);
    base->local = A->stored.block;
    base->order = A->order;
    if (status >= 0 && !tct_rental_rents(A))
        tell_trials(base->world->rank, &A->stored);
    if (status >= 0) status = tct_reduced_store(A, wish.low, &parts.local);
    if (status >= 0) status = tct_keep_diagonal(A, &parts.local);
    if (status >= 0) status = tct_store_ghosts(A, &parts);
    tct_parts_clear(&parts);
    return status;
}

void tct_stored_clear(tct_stored *S)
{
    if (S->block) S->block->ops->destroy(S->block);
    tct_free(S->reasons);
    *S = (tct_stored){.format = NULL};
}
