/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/order.h - a new order of a rank's rows, in which columns of
 * neighbouring rows are close: they fit 16 bits, and x is read again soon.
 * Users' vectors stay in the order of the matrix. */
#ifndef TCT_OPERATOR_PATTERN_ORDER_H
#define TCT_OPERATOR_PATTERN_ORDER_H
#include "operator/format.h"

struct tct_parts;

typedef struct tct_order {
    const char *name; /* "rcm", "metis"                            */
    int32_t *old;     /* [n] row k was row old[k] of the matrix    */
    int32_t *now;     /* [n] its inverse                           */
    double *enter;    /* `old` and `now` for a device              */
    double *leave;
    double *x, *y;  /* [n] on the device, for public products    */
    double seconds; /* to find it                                */
} tct_order;

/* Is `name` an order? "auto" is. */
bool tct_order_is_known(const char *name);

/* Would many columns need 32 bits each, in a matrix large enough to gain? */
bool tct_order_may_pay(const tacit_queue *q, const tct_local *A);

/* Order the rows of `A` by `name`, with dense blocks kept whole.
 * Errors      NO_MEMORY, UNSUPPORTED (see graph/order.h). */
tacit_status tct_order_create(tacit_queue *q, const tct_local *A,
                              const char *name, tct_order **out);
void tct_order_destroy(tacit_queue *q, tct_order **o);

/* A copy of `A` in order `o`. Errors NO_MEMORY. */
tacit_status tct_order_copy(const tct_order *o, const tct_local *A,
                            tct_local *out);
/* Permute `A` itself to order `o`; unchanged on failure. Errors NO_MEMORY. */
tacit_status tct_order_move(const tct_order *o, tct_local *A);
/* Permute the rows of the ghost part, too. Errors NO_MEMORY. */
tacit_status tct_order_ghosts(const tct_order *o, struct tct_parts *parts);

/* y = x in the new order, or back in the matrix's. */
void tct_order_permute_in(const tct_order *o, tacit_queue *q, size_t n,
                          const double *x, double *y);
void tct_order_permute_out(const tct_order *o, tacit_queue *q, size_t n,
                           const double *x, double *y);

#endif
