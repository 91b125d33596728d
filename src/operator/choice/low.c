/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/low.c - the same matrix with values of fewer bits, for mixed
 * precision: rows of blocks if the exact one has them. */
#include "operator/operator.h"
#include <string.h>

/* A product must be faster by so much, or low precision costs more than it
 * saves: the bytes of vectors do not get fewer, and some iterations are lost. */
static const double FASTER = 0.93;

/* Bytes of a matrix that the caches hold beside the vectors: fewer of them save
 * no time, whatever the measurement of so short a product says. */
static const double CACHED = 1e7;

static tacit_status add(tacit_operator *A, const char *store, int bits,
                        tct_local *local, tacit_operator **out)
{
    tacit_operator *low = tct_calloc(sizeof *low);
    if (!low) FAIL(TACIT_NO_MEMORY, "no memory for an operator");
    const char *name =
        strcmp(A->format->about.name, "bsell") == 0 ? "bsell" : "sell";
    local->store = store;
    low->bits = bits;
    low->format = tct_format_find(A->q->device->name, name);
    const tacit_status status =
        low->format->create(local, A->q->team, &low->local);
    if (status < 0) tct_low_destroy(&low);
    else *out = low;
    return status;
}

/* Drop what is not faster than what has more bits. */
static tacit_status drop_slow(tacit_operator *A)
{
    tct_block *blocks[3] = {A->local, A->low->local, NULL};
    double seconds[3];
    tacit_operator *more = A->low->low;
    if (more) blocks[2] = more->local;
    TRY(tct_time_products(A->q, blocks, more ? 3 : 2, seconds));
    if (more && !(seconds[2] < FASTER * seconds[0])) {
        tct_low_destroy(&A->low->low);
        more = NULL;
    }
    const double next = more ? seconds[2] : seconds[0];
    tct_log(TCT_DETAIL,
            "products: %.3g us in full precision, %.3g us with %d bits",
            1e6 * seconds[0], 1e6 * seconds[1], A->low->bits);
    if (seconds[1] < FASTER * next) return TACIT_OK;
    tacit_operator *slow = A->low;
    A->low = more;
    slow->low = NULL;
    tct_low_destroy(&slow);
    return TACIT_OK;
}

tacit_status tct_low_store(tacit_operator *A, const char *wish,
                           tct_local *local)
{
    const bool mixed = strcmp(wish, "mixed") == 0;
    const bool chosen = mixed || strcmp(wish, "mixed48") == 0;
    if (!wish[0]) return TACIT_OK;
    if (chosen && A->local->matrix_bytes <= CACHED) {
        tct_log(TCT_DETAIL,
                "products: of %.3g bytes, fewer bits would save no time",
                A->local->matrix_bytes);
        return TACIT_OK;
    }
    if (mixed || strcmp(wish, "low32") == 0)
        TRY(add(A, "low32", 32, local, &A->low));
    if (!A->low || mixed)
        TRY(add(A, "low48", 48, local, A->low ? &A->low->low : &A->low));
    return chosen ? drop_slow(A) : TACIT_OK;
}

void tct_low_share(tacit_operator *A)
{
    for (tacit_operator *low = A->low; low; low = low->low) {
        const tacit_operator own = *low;
        *low = *A;
        low->low = own.low;
        low->local = own.local;
        low->format = own.format;
        low->bits = own.bits;
    }
}

tacit_status tct_low_refill(tacit_operator *A, const tct_local *local)
{
    for (tacit_operator *low = A->low; low; low = low->low)
        TRY(low->format->refill(low->local, local));
    return TACIT_OK;
}

void tct_low_destroy(tacit_operator **low)
{
    if (!*low) return;
    tct_low_destroy(&(*low)->low);
    if ((*low)->local) (*low)->local->ops->destroy((*low)->local);
    tct_free(*low);
    *low = NULL;
}
