/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/blocks.c - the values of P that one process of a grid stores. */
#include "trisolve/gpu/ownership.h"

static const char *const what = "a part of a plan";

/* Destination of this process's values of P: [0] for the pass down, [1] for the
 * pass up, equal where U = L'. With node NULL only the length is counted. */
typedef struct {
    const tct_distributor *d;
    double *to[2];
    const double *from[2];
    int64_t stored[2];
    tct_node *node; /* [nodes + blocks] */
    int32_t count;
} filler;

static void copy(const filler *f, int side, int64_t at, const double *from,
                 int64_t length, int64_t times, int64_t apart)
{
    for (int64_t j = 0; j < times && f->node; j++)
        memcpy(f->to[side] + at + j * length, from + j * apart,
               (size_t)length * sizeof *from);
}

/* Copy the nodes that this process owns whole; offsets are equal in both
 * passes. */
static void fill_whole(filler *f)
{
    const tct_tri_plan *plan = f->d->plan;
    const int sides = f->from[1] == f->from[0] ? 1 : 2;
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        const int64_t length = (int64_t)N->ld * N->w;
        if (f->node) f->node[k] = *N;
        if (f->d->of[k].owner != f->d->s->rank) continue;
        if (f->node) f->node[k].value = f->stored[0];
        for (int side = 0; side < sides; side++)
            copy(f, side, f->stored[0], f->from[side] + N->value, length, 1, 0);
        f->stored[0] += length;
    }
    f->stored[1] = f->stored[0];
}

/* Copy rows (down) or columns (up) [from, to) of node k. */
static void fill_block(filler *f, int32_t k, bool up, int32_t from, int32_t to)
{
    const bool same = f->from[1] == f->from[0];
    const int side = up && !same;
    const tct_node *N = &f->d->plan->node[k];
    const double *P = f->from[side] + N->value;
    const int64_t at = f->stored[side], many = to - from;
    if (f->node) {
        tct_node *B = &f->node[f->count];
        *B = *N;
        B->ld = up ? N->ld : (int32_t)many;
        B->value = up ? at - (int64_t)from * N->ld : at - from;
    }
    if (up) copy(f, side, at, P + (int64_t)from * N->ld, many * N->ld, 1, 0);
    else copy(f, side, at, P + from, many, N->w, N->ld);
    f->stored[side] += up ? many * N->ld : many * N->w;
    f->count++;
}

static void fill_blocks(filler *f, int32_t k, bool up)
{
    const tct_node *N = &f->d->plan->node[k];
    const tct_ownership *h = &f->d->of[k];
    const int32_t end = up ? N->w : N->h, step = up ? h->cols : h->rows;
    for (int32_t from = 0, block = 0; from < end; from += step, block++)
        if (tct_in_block(f->d, h, block) == f->d->s->rank)
            fill_block(f, k, up, from, end - from < step ? end : from + step);
}

static void fill(filler *f)
{
    tct_ownership *of = f->d->of;
    f->count = f->d->plan->nodes;
    f->stored[0] = f->stored[1] = 0;
    fill_whole(f);
    for (int32_t k = 0; k < f->d->plan->nodes; k++) {
        if (of[k].owner >= 0) continue;
        of[k].down = f->count;
        fill_blocks(f, k, false);
        of[k].up = f->count;
        fill_blocks(f, k, true);
    }
}

/* Padding: the last tile of rows is read whole and may pass the block's end. */
enum { PADDING = TCT_TILE * TCT_TILES };

tacit_status tct_take_blocks(const tct_distributor *d)
{
    tct_tri_plan *plan = d->plan;
    filler f = {.d = d,
                .from = {plan->value, plan->upper ? plan->upper : plan->value}};
    fill(&f);
    const int64_t stored =
        (f.stored[0] > f.stored[1] ? f.stored[0] : f.stored[1]) + PADDING;
    tct_node *node = NULL;
    double *to[2] = {NULL, NULL};
    tacit_status status = tct_memory_require(
        8.0 * (plan->upper ? 2.0 : 1.0) * (double)stored, what);
    if (status >= 0) status = TCT_ALLOC(f.count, what, &node);
    if (status >= 0) status = TCT_ALLOC(stored, what, &to[0]);
    if (status >= 0 && plan->upper) status = TCT_ALLOC(stored, what, &to[1]);
    if (status < 0) {
        TCT_FREE(node, to[0], to[1]);
        return status;
    }
    for (int side = 0; side < 2 && to[side]; side++)
        for (int64_t i = f.stored[side]; i < stored; i++) to[side][i] = 0.0;
    memcpy(f.to, to, sizeof to);
    f.node = node;
    fill(&f);
    TCT_FREE(plan->node, plan->value, plan->upper);
    plan->node = node;
    plan->value = to[0];
    plan->upper = to[1];
    plan->stored = stored;
    plan->blocks = f.count - plan->nodes;
    return TACIT_OK;
}
