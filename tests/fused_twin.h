/* SPDX-License-Identifier: BSD-3-Clause
 * tests/fused_twin.h - the steps of the fused coarse levels
 * (precond/amg/cycle/fused_coarse.h), run on the host as a device would, with
 * items in two orders. */
#ifndef TESTS_FUSED_TWIN_H
#define TESTS_FUSED_TWIN_H
#include "amg_twin.h"
#include "gpu.h"
#include "precond/amg/cycle/fused_coarse.h"

typedef struct {
    tct_block base; /* first member */
    tct_amg_step *step;
    int count;
} twin;

/* Items from the last to the first, or in an order of no meaning. */
static bool backwards;
static _Thread_local double *inverse; /* of the operator at hand */
static _Thread_local int products;

static double source_of(const tct_amg_step *s, int64_t j)
{
    return s->x[j] * (s->scale ? s->scale[j] : 1.0);
}

static double sum_of_row(const tct_amg_step *s, int64_t i)
{
    double sum = 0.0;
    if (s->columns)
        for (int64_t j = 0; j < s->columns; j++)
            sum += s->val[i * s->columns + j] * source_of(s, j);
    else if (s->entries)
        for (int64_t k = s->ptr[i]; k < s->ptr[i + 1]; k++)
            sum += s->val[k] * source_of(s, s->col[k]);
    return sum;
}

static void do_set(const tct_amg_step *s, int64_t c)
{
    double sum = 0.0;
    for (int32_t k = s->set[c]; k < s->set[c + 1]; k++)
        sum += s->weight[k] * (s->b[s->list[k]] - sum_of_row(s, s->list[k]));
    s->out[c] = sum;
}

static void do_row(const tct_amg_step *s, int64_t i)
{
    double v = (s->b ? s->b[i] : 0.0) - sum_of_row(s, i);
    v *= s->alpha * (s->d ? s->d[i] : 1.0);
    if (s->of_x != 0.0) v += s->of_x * source_of(s, i);
    if (s->before)
        v += s->of_before * s->before[i] *
             (s->before_scale ? s->before_scale[i] : 1.0);
    if (s->add) v += s->add[i];
    if (s->out) s->out[i] = v;
    for (int32_t k = s->to ? s->set[i] : 0; s->to && k < s->set[i + 1]; k++)
        s->to[s->list[k]] += s->factor * s->weight[k] * v;
}

static void do_steps(const tct_block *B, const double *x, double *y,
                     double *dot)
{
    const twin *T = (const twin *)(const void *)B;
    assert_non_null(x);
    assert_null(dot);
    assert_ptr_equal(T->step[T->count - 1].out, y);
    for (int i = 0; i < T->count; i++) {
        const tct_amg_step *s = &T->step[i];
        for (int64_t k = 0; k < s->items; k++) {
            const int64_t item =
                backwards ? s->items - 1 - k : twin_order(s->items, k);
            if (s->restricts) do_set(s, item);
            else do_row(s, item);
        }
    }
    products++;
}

static void free_steps(tct_block *B)
{
    free(((twin *)(void *)B)->step);
    free(B);
}

static const tct_block_ops twin_ops = {
    .name = "steps", .multiply = do_steps, .destroy = free_steps};

static tacit_status keep_steps(tacit_queue *q, const tct_amg_steps *steps,
                               tct_block **out)
{
    twin *T = malloc(sizeof *T);
    const size_t bytes = (size_t)steps->count * sizeof *T->step;
    (void)q;
    assert_non_null(T);
    *T = (twin){
        .base = steps->about, .step = malloc(bytes), .count = steps->count};
    assert_non_null(T->step);
    memcpy(T->step, steps->step, bytes);
    T->base.ops = &twin_ops;
    *out = &T->base;
    return TACIT_OK;
}

/* Column after column of a symmetric matrix. */
static const double *columns_of(const tct_block *B)
{
    const size_t n = (size_t)B->rows;
    double *unit = calloc(n, sizeof *unit);
    free(inverse);
    inverse = malloc(n * n * sizeof *inverse);
    assert_non_null(unit);
    assert_non_null(inverse);
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1.0;
        B->ops->multiply(B, unit, inverse + j * n, NULL);
        unit[j] = 0.0;
    }
    free(unit);
    return inverse;
}

static const tct_amg_fused_kernels twins = {.dense = columns_of,
                                            .create = keep_steps};

#endif
