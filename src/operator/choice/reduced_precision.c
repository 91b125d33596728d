/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/reduced_precision.c - a matrix with values of fewer bits, for
 * mixed precision and preconditioners: in blocks of rows if the exact one has
 * them. Each is a view of the exact operator, which must outlive it: it has its
 * own block and shares all else. */
#include "matrix/matrix.h"
#include "operator/assembled.h"
#include <math.h>
#include <string.h>

/* Ratio below which reduced precision saves more than it costs: the bytes of
 * vectors stay, and some iterations are lost. */
static const double FASTER = 0.93;

/* Bytes of a matrix that caches hold besides the vectors: fewer bytes save no
 * time then, even if a short product was measured as faster. */
static const double CACHED = 1e7;

/* --- the view ------------------------------------------------------------- */

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

static bool low_pass(const tacit_operator *low, tacit_queue *q, const double *x,
                     tct_pass pass, const double *alpha, const double *beta,
                     const double *const *v, double *out)
{
    return tct_assembled_pass(view_of(low)->exact, low->local, q, x, pass,
                              alpha, beta, v, out);
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
                                         .apply_pass = low_pass,
                                         .apply_block = low_block,
                                         .destroy = low_destroy};

/* A view, still without a block. */
static tacit_status open_view(const tct_assembled *A, int bits, view **out)
{
    view *low = tct_calloc(sizeof *low);
    if (!low) FAIL(TACIT_NO_MEMORY, "no memory for an operator");
    const tacit_operator *base = &A->base;
    const char *name =
        strcmp(A->stored.format->about.name, "bsell") == 0 ? "bsell" : "sell";
    low->exact = A;
    low->format = tct_format_find(base->q->device->name, name);
    low->base = (tacit_operator){.ops = &low_ops,
                                 .q = base->q,
                                 .world = base->world,
                                 .n = base->n,
                                 .order = base->order,
                                 .bits = bits};
    *out = low;
    return TACIT_OK;
}

/* Complete the view with its block, made with `status`. */
static tacit_status close_view(tacit_status status, view *low,
                               tacit_operator **out)
{
    tacit_operator *made = &low->base;
    made->local = low->block;
    if (status < 0) tacit_operator_destroy(&made);
    else *out = made;
    return status;
}

static tacit_status add(const tct_assembled *A, const char *store, int bits,
                        tct_local *local, tacit_operator **out)
{
    view *low = NULL;
    TRY(open_view(A, bits, &low));
    local->store = store;
    return close_view(low->format->create(local, A->base.q->team, &low->block),
                      low, out);
}

tacit_status tct_reduced_refill(const tct_assembled *A, const tct_local *local)
{
    for (tacit_operator *low = A->base.low; low; low = low->low)
        TRY(view_of(low)->format->refill(view_of(low)->block, local));
    return TACIT_OK;
}

/* --- of rounded values ---------------------------------------------------- */

/* Least bytes of an entry's value and column, as floats: fewer mean a
 * dictionary or a grid. */
static const double LEAST = 4.0, SMALLER = 0.8;

/* A's own rows and columns, from `matrix`, in A's order and rounded. */
static tacit_status rounded_rows(const tct_assembled *A,
                                 const tacit_matrix *matrix, tct_parts *out)
{
    tct_csr rows = {0};
    tacit_status status = tct_copy_rows(A->base.q, matrix, &rows);
    const int exponent = A->base.exponent;
    for (int64_t k = 0; status >= 0 && k < tct_csr_nonzeros(&rows); k++)
        rows.val[k] =
            tct_rounded(exponent ? ldexp(rows.val[k], -exponent) : rows.val[k]);
    if (status >= 0) status = tct_split(A->base.q->team, &rows, out);
    if (status >= 0 && A->order) status = tct_order_move(A->order, &out->local);
    tct_csr_clear(&rows);
    return status;
}

/* Round in the memory of A's block. */
static tacit_status round_in_place(const tct_assembled *A, tacit_operator **out)
{
    const tct_block *B = A->base.local;
    view *low = NULL;
    if (!B->ops->rounded) return TACIT_UNSUPPORTED;
    TRY(open_view(A, 32, &low));
    return close_view(B->ops->rounded(B, A->base.q, &low->block), low, out);
}

static tacit_status round_here(const tct_assembled *A,
                               const tacit_matrix *matrix, tacit_operator **out)
{
    tct_parts parts = {.ghosts = 0};
    tacit_status status = rounded_rows(A, matrix, &parts);
    if (status >= 0) status = add(A, NULL, 32, &parts.local, out);
    tct_parts_clear(&parts);
    return status;
}

tacit_status tct_operator_rounded(const tacit_operator *base,
                                  const tacit_matrix *matrix,
                                  tacit_operator **out)
{
    const tct_assembled *A = tct_assembled_of(base);
    *out = NULL;
    if (base->ops != &tct_assembled_ops) return TACIT_OK;
    const tct_block *B = base->local;
    const bool host = base->q->device->kind == TCT_KIND_HOST;
    if (SMALLER * B->matrix_bytes < LEAST * (double)B->nonzeros)
        return TACIT_OK;
    tacit_status status = round_in_place(A, out);
    if (status == TACIT_UNSUPPORTED && matrix && !(host && B->ops->rounded))
        status = round_here(A, matrix, out);
    if (status == TACIT_UNSUPPORTED) return TACIT_OK;
    if (status < 0) return status;
    if ((*out)->local->matrix_bytes > SMALLER * B->matrix_bytes)
        tacit_operator_destroy(out);
    else if (host && B->threads == 1) /* smaller ones gain nothing */
        view_of(*out)->block->threads = 1;
    else if (host) tct_threads_choose(base->q, view_of(*out)->block);
    return TACIT_OK;
}

/* --- choice --------------------------------------------------------------- */

/* Drop views that are no faster than those of more bits. */
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

tacit_status tct_reduced_store(tct_assembled *A, const char *wish,
                               tct_local *local)
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
