/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/order.h - rows of a rank numbered anew, so that the columns
 * of neighbours are near: they then fit 16 bits, and x is read where it was
 * read just before. Users' vectors stay in the order of the matrix. */
#ifndef TCT_OPERATOR_PATTERN_ORDER_H
#define TCT_OPERATOR_PATTERN_ORDER_H
#include "operator/format.h"

struct tct_parts;

typedef struct tct_order {
    const char *name; /* "rcm", "metis"                            */
    int32_t *old;     /* [n] row k was row old[k] of the matrix    */
    int32_t *now;     /* [n] the other way round                   */
    double *enter;    /* `old` and `now` as a device reads them    */
    double *leave;
    double *x, *y;  /* [n] on the device, for public products    */
    double seconds; /* to find it                                */
} tct_order;

/* Is there such an order? "auto" is. */
bool tct_order_is_known(const char *name);

/* Would many columns need 32 bits each, of a matrix that is large enough to
 * mind? */
bool tct_order_may_pay(const tacit_queue *q, const tct_local *A);

/* Order the rows of `A`, dense blocks kept whole, by `name`.
 * Errors      NO_MEMORY, UNSUPPORTED (see graph/order.h). */
tacit_status tct_order_create(tacit_queue *q, const tct_local *A,
                              const char *name, tct_order **out);
void tct_order_destroy(tacit_queue *q, tct_order **o);

/* A copy of `A` in order `o`. Errors NO_MEMORY. */
tacit_status tct_order_copy(const tct_order *o, const tct_local *A,
                            tct_local *out);
/* `A` itself into order `o`; as it was on failure. Errors NO_MEMORY. */
tacit_status tct_order_move(const tct_order *o, tct_local *A);
/* The rows of the ghost part in this order, too. Errors NO_MEMORY. */
tacit_status tct_order_ghosts(const tct_order *o, struct tct_parts *parts);

/* Into the order, and out of it: y of x. */
void tct_order_permute_in(const tct_order *o, tacit_queue *q, size_t n,
                          const double *x, double *y);
void tct_order_permute_out(const tct_order *o, tacit_queue *q, size_t n,
                           const double *x, double *y);

#endif
