/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/low.c - the same matrix with values of fewer bits, for mixed
 * precision: rows of blocks if the exact one has them. Each is a view of the
 * exact operator: a block of its own, and everything else from there. */
#include "operator/assembled.h"
#include <string.h>

/* A product must be faster by so much, or low precision costs more than it
 * saves: the bytes of vectors do not get fewer, and some iterations are lost. */
static const double FASTER = 0.93;

/* Bytes of a matrix that the caches hold beside the vectors: fewer of them save
 * no time, whatever the measurement of so short a product says. */
static const double CACHED = 1e7;

/* --- the view ---------------------------------------------------------------- */

typedef struct {
    tacit_operator base;
    const tct_assembled *exact;
    const tct_format *format;
    tct_block *block; /* base.local */
} view;

static view *view_of(const tacit_operator *low)
{
    return (view *)(uintptr_t)low;
}

static void low_apply(const tacit_operator *low, tacit_queue *q,
                      const double *x, double *y, double *dot)
{
    tct_assembled_apply(view_of(low)->exact, low->local, q, x, y, dot);
}

static void low_dots(const tacit_operator *low, tacit_queue *q, const double *p,
                     const double *r, double *s, double *out)
{
    tct_assembled_dots(view_of(low)->exact, low->local, q, p, r, s, out);
}

static void low_block(const tacit_operator *low, tacit_queue *q, tct_panel X,
                      tct_panel Y)
{
    tct_assembled_block(view_of(low)->exact, low->local, q, X, Y);
}

static void low_destroy(tacit_operator *low)
{
    tct_block *B = view_of(low)->block;
    if (B) B->ops->destroy(B);
}

static const tct_operator_ops low_ops = {.name = "low",
                                         .apply = low_apply,
                                         .apply_dots = low_dots,
                                         .apply_block = low_block,
                                         .destroy = low_destroy};

static tacit_status add(const tct_assembled *A, const char *store, int bits,
                        tct_local *local, tacit_operator **out)
{
    view *low = tct_calloc(sizeof *low);
    if (!low) FAIL(TACIT_NO_MEMORY, "no memory for an operator");
    const tacit_operator *base = &A->base;
    const char *name =
        strcmp(A->stored.format->about.name, "bsell") == 0 ? "bsell" : "sell";
    local->store = store;
    low->exact = A;
    low->format = tct_format_find(base->q->device->name, name);
    low->base = (tacit_operator){.ops = &low_ops,
                                 .q = base->q,
                                 .world = base->world,
                                 .n = base->n,
                                 .order = base->order,
                                 .bits = bits};
    tacit_operator *made = &low->base;
    const tacit_status status =
        low->format->create(local, base->q->team, &low->block);
    low->base.local = low->block;
    if (status < 0) tacit_operator_destroy(&made);
    else *out = made;
    return status;
}

tacit_status tct_low_refill(const tct_assembled *A, const tct_local *local)
{
    for (tacit_operator *low = A->base.low; low; low = low->low)
        TRY(view_of(low)->format->refill(view_of(low)->block, local));
    return TACIT_OK;
}

/* --- which of them ----------------------------------------------------------- */

/* Drop what is not faster than what has more bits. */
static tacit_status drop_slow(tct_assembled *A)
{
    tacit_operator *low = A->base.low, *more = low->low;
    tct_block *blocks[3] = {A->stored.block, view_of(low)->block,
                            more ? view_of(more)->block : NULL};
    double seconds[3];
    TRY(tct_time_products(A->base.q, blocks, more ? 3 : 2, seconds));
    if (more && !(seconds[2] < FASTER * seconds[0])) {
        tacit_operator_destroy(&low->low);
        more = NULL;
    }
    const double next = more ? seconds[2] : seconds[0];
    tct_log(TCT_DETAIL,
            "products: %.3g us in full precision, %.3g us with %d bits",
            1e6 * seconds[0], 1e6 * seconds[1], low->bits);
    if (seconds[1] < FASTER * next) return TACIT_OK;
    A->base.low = more;
    low->low = NULL;
    tacit_operator_destroy(&low);
    return TACIT_OK;
}

tacit_status tct_low_store(tct_assembled *A, const char *wish, tct_local *local)
{
    const bool mixed = strcmp(wish, "mixed") == 0;
    const bool chosen = mixed || strcmp(wish, "mixed48") == 0;
    const double bytes = A->stored.block->matrix_bytes;
    tacit_operator **low = &A->base.low;
    if (!wish[0]) return TACIT_OK;
    if (chosen && bytes <= CACHED) {
        tct_log(TCT_DETAIL,
                "products: of %.3g bytes, fewer bits would save no time",
                bytes);
        return TACIT_OK;
    }
    if (mixed || strcmp(wish, "low32") == 0)
        TRY(add(A, "low32", 32, local, low));
    if (!*low || mixed)
        TRY(add(A, "low48", 48, local, *low ? &(*low)->low : low));
    return chosen ? drop_slow(A) : TACIT_OK;
}
