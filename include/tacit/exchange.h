/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/exchange.h - messages between neighbours, planned once: for operators
 * of your own (tacit_operator_from_function).
 *
 *     // elements 0 .. n-1 of x to the next rank, as many from the one before
 *     tacit_channel to = {.rank = next, .count = n};
 *     tacit_channel from = {.rank = last, .count = n};
 *     tacit_exchange_create(q, 1, &to, index, 1, &from, 1, &e);
 *     tacit_exchange_begin(e, x, 0, 1);
 *     ...                               // work that needs no ghosts
 *     const double *ghosts = tacit_exchange_end(e);
 *
 * Threads     as its queue: see tacit/world.h. */
#ifndef TACIT_EXCHANGE_H
#define TACIT_EXCHANGE_H
#include <stddef.h>
#include <stdint.h>
#include <tacit/queue.h>

TACIT_BEGIN_DECLS

typedef struct tacit_exchange tacit_exchange;

/* Values to or from one rank. The library's: it does not grow. */
typedef struct tacit_channel {
    int rank;
    int64_t count; /* elements of a column, 0 or more */
} tacit_channel;

/* Plan messages on `queue`: of each column, send[k].count elements go to
 * send[k].rank, and receive[k].count come from receive[k].rank. `index` lists
 * the numbers of the sent elements, for send[0], send[1], ... in turn. The k-th
 * channel from a rank to another is that rank's k-th to this one; a rank may
 * send to itself. At most `columns` vectors go at once, the same on all ranks.
 *   send     [sends]
 *   index    [sum of send[].count]  from 0
 *   receive  [receives]
 * Collective.  Borrows `queue`; copies the lists.
 * Errors      INVALID (a rank that does not exist, a count or an index below 0,
 *             columns below 1, a rank that does not receive what it is sent),
 *             NO_MEMORY, COMM. An index beyond the vector is not noticed. */
TACIT_API tacit_status tacit_exchange_create(tacit_queue *queue, int sends,
                                             const tacit_channel *send,
                                             const int32_t *index, int receives,
                                             const tacit_channel *receive,
                                             int columns, tacit_exchange **out);

/* The same for vectors whose elements are of type `element`; their messages go
 * through tacit_exchange_begin_in.
 * Errors      as above, and INVALID where the ranks differ in `element`, or the
 *             link of `queue` does not carry it. A queue that has opened several
 *             links closes those that do not. */
TACIT_API tacit_status tacit_exchange_create_in(
    tacit_queue *queue, tacit_element element, int sends,
    const tacit_channel *send, const int32_t *index, int receives,
    const tacit_channel *receive, int columns, tacit_exchange **out);

/* Free `*exchange` and set it to NULL; NULL is fine. */
TACIT_API void tacit_exchange_destroy(tacit_exchange **exchange);

/* A channel that its two ends start independently of other channels is an
 * exchange of its own: one end sends, the other receives, and the other ranks
 * need not begin it.
 *
 * Enqueue the sending of `columns` vectors, the first being `x`, each `stride`
 * doubles after the one before; they must not change before the end, which
 * comes before the next begin.
 * Collective among ranks that share messages: the same `columns` on all, and
 * exchanges that are under way at once in one order. The queue fails (INVALID)
 * where columns are not from 1 to those planned. */
TACIT_API void tacit_exchange_begin(tacit_exchange *exchange, const double *x,
                                    ptrdiff_t stride, int columns);

/* Enqueue the wait for the messages of the last begin.
 * Returns     device memory, owned by the exchange and valid until the next
 *             one begins: for the first column the values of receive[0], then
 *             those of receive[1], ...; then for the second column. */
TACIT_API const double *tacit_exchange_end(tacit_exchange *exchange);

/* The same for vectors of type `element`, with `stride` in elements: the queue
 * fails (INVALID) where the exchange is of another type; its messages go out. */
TACIT_API void tacit_exchange_begin_in(tacit_exchange *exchange,
                                       tacit_element element, const void *x,
                                       ptrdiff_t stride, int columns);
TACIT_API const void *tacit_exchange_end_in(tacit_exchange *exchange);

TACIT_END_DECLS
#endif
