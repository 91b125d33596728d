/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/store.c - a rank's rows become blocks: in which format, and in which
 * order of rows. */
#include "operator/operator.h"
#include <stdio.h>
#include <string.h>

/* A product in another order must be faster by so much: it costs memory, and
 * vectors have to be brought into it. */
static const double FASTER = 0.95;

/* On a GPU, where that costs little, a bit faster is enough. Products are timed
 * there as they are launched, and wait for their slowest warp. A persistent
 * kernel gains more: 235 to 174 us an iteration on an H200, 53 to 39, 200 to
 * 183, 162 to 145, by 0.84, 0.83, 0.93 and 0.94 times the bytes. So fewer bytes
 * are a reason, too. */
static const double FASTER_AT_ALL = 0.99, FEWER = 0.95;

/* What was tried for the local block, and what came of it. */
static void tell_trials(const tacit_operator *A)
{
    const int rank = A->world->rank;
    for (int i = 0; i < A->trial_count; i++) {
        const tacit_trial *t = &A->trials[i];
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
    tct_log(TCT_DETAIL, "rank %d  format %s taken%s", rank, A->name,
            A->trial_count > 0 ? "" : ", as it was asked for");
}

/* --- on the host: choose by a sample, then store ----------------------------- */

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

/* Is there room for a second copy while the order is measured? */
static bool has_room(const tct_local *A)
{
    const double copy = 12.0 * (double)A->ptr[A->rows] + 60.0 * (double)A->rows;
    return (double)tct_memory_available() > 2.0 * copy;
}

static void tell_order(const tacit_operator *A, const tct_order *o, double was,
                       double is, bool taken)
{
    tct_log(TCT_DETAIL,
            "rank %d  order %s found in %.3f s: %.2f us a product, %.2f as the "
            "rows come: %s",
            A->world->rank, o->name, o->seconds, 1e6 * is, 1e6 * was,
            taken ? "taken" : "not taken");
}

/* Is it faster in another order? Then `local` is in that order. */
static tacit_status try_order(tacit_operator *A, const tct_format_wish *wish,
                              tct_local *local, choice *c)
{
    tct_order *o = NULL;
    tct_local copy;
    choice other;
    TRY(tct_order_create(A->q, local, "rcm", &o));
    const tacit_status status = tct_order_copy(o, local, &copy);
    if (status >= 0) {
        double seconds[2];
        choose(wish, A->q->team, &copy, &other);
        tct_format_compare((const tct_local *const[]){local, &copy},
                           (const tct_format *const[]){c->format, other.format},
                           A->q->team, seconds);
        const bool better =
            seconds[1] > 0.0 && seconds[1] < FASTER * seconds[0];
        tell_order(A, o, seconds[0], seconds[1], better);
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
    tct_order_destroy(A->q, &o);
    return status;
}

static tacit_status store_host(tacit_operator *A, const tct_format_wish *wish,
                               tct_local *local)
{
    choice c = {.count = 0};
    const bool measure = strcmp(wish->format, "auto") == 0;
    const bool order = strcmp(wish->order, "auto") == 0 &&
                       tct_order_may_pay(local) && has_room(local);
    c.format = tct_format_find("host", wish->format);
    if (measure || order) choose(wish, A->q->team, local, &c);
    if (order) {
        const tacit_status tried = try_order(A, wish, local, &c);
        if (tried < 0 && tried != TACIT_NO_MEMORY) return tried; /* as it was */
    }
    A->format = c.format;
    if (measure) {
        memcpy(A->trials, c.trials, sizeof c.trials);
        A->trial_count = c.count;
    }
    snprintf(A->name, sizeof A->name, "%s", A->format->about.name);
    TRY(A->format->create(local, A->q->team, &A->local));
    tct_threads_choose(A->q, A->local);
    return TACIT_OK;
}

/* --- on a GPU: store all of it, and see -------------------------------------- */

/* In each format that could be, or in one. */
static tacit_status store_as(tacit_operator *A, const tct_format_wish *wish,
                             tct_local *local)
{
    const char *device = A->q->device->name, *winner = wish->format;
    local->owned = false;
    local->store = wish->store[0] ? wish->store : NULL;
    if (strcmp(wish->format, "auto") == 0) {
        TRY(TCT_ALLOC(TCT_TRIALS_MOST, "the choice of a format", &A->reasons));
        TRY(tct_format_race(A->q, local, A->trials, &A->trial_count, A->reasons,
                            &winner, &A->local));
        snprintf(A->name, sizeof A->name, "%s", winner);
    } else {
        snprintf(A->name, sizeof A->name, "%s%s%s", wish->format,
                 wish->store[0] ? "/" : "", wish->store);
    }
    char bare[16];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(winner, "/"), winner);
    A->format = tct_format_find(device, bare);
    if (A->local) return TACIT_OK;
    return A->format->create(local, A->q->team, &A->local);
}

/* What store_as has set. */
static void drop_stored(tacit_operator *A)
{
    if (A->local) A->local->ops->destroy(A->local);
    tct_free(A->reasons);
    A->local = NULL;
    A->reasons = NULL;
}

/* Is it faster in another order? Then A is stored so, and `local` is, too. */
static tacit_status try_order_gpu(tacit_operator *A,
                                  const tct_format_wish *wish, tct_local *local)
{
    tct_order *o = NULL;
    tct_local copy = {0};
    tacit_operator other = *A;
    double seconds[2] = {0.0, 0.0};
    other.local = NULL;
    other.reasons = NULL;
    tacit_status status = tct_order_create(A->q, local, "rcm", &o);
    if (status >= 0) status = tct_order_copy(o, local, &copy);
    if (status >= 0) status = store_as(&other, wish, &copy);
    if (status >= 0)
        status = tct_time_products(A->q, (tct_block *[]){A->local, other.local},
                                   2, seconds);
    const bool better =
        status >= 0 &&
        (seconds[1] < FASTER_AT_ALL * seconds[0] ||
         (other.local->persistent &&
          other.local->matrix_bytes < FEWER * A->local->matrix_bytes));
    if (status >= 0) tell_order(A, o, seconds[0], seconds[1], better);
    if (better) {
        const tacit_operator slow = *A;
        const tct_local old = *local;
        *A = other;
        other = slow;
        *local = copy;
        copy = old;
        A->order = o;
        o = NULL;
    }
    drop_stored(&other);
    tct_local_free(&copy);
    tct_order_destroy(A->q, &o);
    return status == TACIT_NO_MEMORY ? TACIT_OK : status; /* as it was */
}

static tacit_status store_gpu(tacit_operator *A, const tct_format_wish *wish,
                              tct_local *local)
{
    TRY(store_as(A, wish, local));
    if (strcmp(wish->order, "auto") != 0 || !tct_order_may_pay(local) ||
        !has_room(local))
        return TACIT_OK;
    return try_order_gpu(A, wish, local);
}

/* --- either ------------------------------------------------------------------- */

/* The rows in an order that was asked for. */
static tacit_status reorder(tacit_operator *A, const char *name,
                            tct_local *local)
{
    if (strcmp(name, "auto") == 0 || strcmp(name, "none") == 0) return TACIT_OK;
    TRY(tct_order_create(A->q, local, name, &A->order));
    return tct_order_move(A->order, local);
}

static tacit_status store_ghosts(tacit_operator *A, tct_parts *parts)
{
    if (parts->ghosts == 0) return TACIT_OK;
    A->ghosts = parts->ghosts;
    A->ghost_id = parts->ghost_id;
    parts->ghost_id = NULL;
    if (A->order) TRY(tct_order_ghosts(A->order, parts));
    TRY(tct_ghost_create(parts, &A->ghost));
    return tct_ghost_bring(A->q, A->ghost, &A->ghost_there);
}

tacit_status tct_store(tacit_operator *A, const char *format, tct_csr *rows)
{
    tct_parts parts;
    tct_format_wish wish;
    const bool host = A->q->device->kind == TCT_KIND_HOST;
    tacit_status status = tct_split(A->q->team, rows, &parts);
    if (status >= 0)
        status = tct_format_parse(A->q->device->name, format, &wish);
    if (status >= 0) status = reorder(A, wish.order, &parts.local);
    if (status >= 0)
        status = host ? store_host(A, &wish, &parts.local)
                      : store_gpu(A, &wish, &parts.local);
    if (status >= 0) tell_trials(A);
    if (status >= 0) status = tct_low_store(A, wish.low, &parts.local);
    if (status >= 0) status = store_ghosts(A, &parts);
    tct_parts_clear(&parts);
    return status;
}
