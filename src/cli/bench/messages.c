/* SPDX-License-Identifier: BSD-3-Clause
 * cli/bench/messages.c - `tacit bench exchange` without a matrix: a message
 * from rank 0 to the last rank, which returns it. The other ranks take part in
 * the set-up and wait. */
#include "cli/bench/bench.h"
#include <inttypes.h>

enum { LEAST = 8, MOST = 64 << 20 }; /* bytes */

/* Each direction is a plan of its own, so that its two ends start it alone. */
typedef struct cli_trip {
    const cli *c;
    tacit_queue *q;
    bool first, last; /* is this rank one of the ends? */
    int64_t n;        /* doubles */
    double *x;        /* [n] sent by rank 0, on the device */
    double *host;     /* [n] on both ends */
    tacit_exchange *forth, *back;
} cli_trip;

/* --- one trip ------------------------------------------------------------- */

/* Enqueue a trip; returns the device data that this rank receives. */
static const double *go(const cli_trip *t)
{
    const double *came = NULL;
    if (t->first) {
        tacit_exchange_begin(t->forth, t->x, 0, 1);
        tacit_exchange_end(t->forth);
        tacit_exchange_begin(t->back, NULL, 0, 1);
        came = tacit_exchange_end(t->back);
    } else if (t->last) {
        tacit_exchange_begin(t->forth, NULL, 0, 1);
        came = tacit_exchange_end(t->forth);
        tacit_exchange_begin(t->back, came, 0, 1);
        tacit_exchange_end(t->back);
    }
    return came;
}

/* Timed by rank 0, to which the messages return. */
static tacit_status run_trips(const cli_part *p, int64_t times, double *seconds)
{
    const double *came = NULL;
    double one;
    const double start = base_seconds();
    for (int64_t i = 0; i < times; i++) came = go(p->trip);
    if (came) TRY(tacit_queue_get(p->q, 1, came, &one)); /* waits for all */
    *seconds = p->trip->first ? (base_seconds() - start) / (double)times : 0.0;
    return TACIT_OK;
}

/* Different for each size, so that old data are noticed. */
static double value_at(const cli_trip *t, int64_t i)
{
    return (double)(t->n + i);
}

static tacit_status check_end(const cli_trip *t)
{
    const double *came = go(t);
    if (!came) return TACIT_OK;
    TRY(tacit_queue_get(t->q, (size_t)t->n, came, t->host));
    for (int64_t i = 0; i < t->n; i++)
        if (!(t->host[i] == value_at(t, i)))
            FAIL(TACIT_COMM,
                 "link %s: value %" PRId64 " of %" PRId64
                 " came to rank %d as %.17g, and %.17g was sent",
                 tacit_queue_link(t->q), i, t->n, t->c->rank, t->host[i],
                 value_at(t, i));
    return TACIT_OK;
}

/* --- set-up --------------------------------------------------------------- */

static tacit_status fill_end(cli_trip *t, int32_t **index)
{
    if (!t->first && !t->last) return TACIT_OK;
    TRY(ALLOC(t->n, "the list of a message", index));
    TRY(ALLOC(t->n, "a message", &t->host));
    for (int64_t i = 0; i < t->n; i++) {
        (*index)[i] = (int32_t)i;
        t->host[i] = value_at(t, i);
    }
    if (!t->first) return TACIT_OK;
    TRY(tacit_queue_alloc(t->q, (size_t)t->n, &t->x));
    return tacit_queue_put(t->q, (size_t)t->n, t->host, t->x);
}

static tacit_status make_plans(cli_trip *t)
{
    const tacit_channel other = {t->first ? t->c->ranks - 1 : 0, t->n};
    int32_t *index = NULL;
    tacit_status status = tacit_world_agree(t->c->world, fill_end(t, &index));
    if (status >= 0)
        status = tacit_exchange_create(t->q, t->first, &other, index, t->last,
                                       &other, 1, &t->forth);
    if (status >= 0)
        status = tacit_exchange_create(t->q, t->last, &other, index, t->first,
                                       &other, 1, &t->back);
    free(index);
    return status;
}

static void free_trip(cli_trip *t)
{
    tacit_exchange_destroy(&t->back);
    tacit_exchange_destroy(&t->forth);
    tacit_queue_free(t->q, &t->x);
    free(t->host);
}

/* --- the sizes ------------------------------------------------------------ */

static tacit_status measure_size(const cli_trip *t, cli_table *table)
{
    const cli_part trips = {.q = t->q, .trip = t, .run = run_trips};
    const double bytes = (double)t->n * (double)sizeof(double);
    double both = 0.0;
    TRY(tacit_world_agree(t->c->world, check_end(t)));
    TRY(cli_bench_measure(t->c, &trips, &both));
    cli_table_row(table, "%s\t%.0f\t%.4g\t%.4g\t%.4g", tacit_queue_link(t->q),
                  bytes, 1e6 * both / 2, 1e6 * both, 1e-9 * bytes / (both / 2));
    return TACIT_OK;
}

/* Does the memory, or that shared by ranks, lack room for the message? */
static bool is_too_large(tacit_status status)
{
    return status == TACIT_NO_MEMORY || status == TACIT_IO;
}

static tacit_status one_size(const cli *c, tacit_queue *q, int64_t bytes,
                             bool *fits, cli_table *table)
{
    cli_trip t = {.c = c,
                  .q = q,
                  .first = c->rank == 0,
                  .last = c->rank == c->ranks - 1,
                  .n = bytes / (int64_t)sizeof(double)};
    tacit_status status = make_plans(&t);
    *fits = !is_too_large(status);
    if (status >= 0) status = measure_size(&t, table);
    free_trip(&t);
    return status;
}

tacit_status cli_bench_messages(const cli *c, void *to)
{
    tacit_queue *q = NULL;
    char spec[CLI_SPEC];
    TRY(tacit_queue_create(c->world, cli_queue_spec(c, "", spec),
                           (int)c->set.threads, &q));
    tacit_status status = TACIT_OK;
    bool fits = true;
    int64_t bytes = LEAST;
    for (; status >= 0 && bytes <= MOST; bytes *= 2)
        status = one_size(c, q, bytes, &fits, to);
    if (!fits && bytes > 2 * LEAST) { /* smaller ones did */
        cli_log(c, CLI_WARN,
                "link %s: no messages of %" PRId64 " bytes or more: %s",
                tacit_queue_link(q), bytes / 2, tacit_error_message());
        status = TACIT_OK;
    }
    tacit_queue_destroy(&q);
    return status;
}
