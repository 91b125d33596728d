/* SPDX-License-Identifier: BSD-3-Clause
 * precond/by_factor.c - common to preconditioners that solve with a factor: one
 * solve for a whole batch, which reads the factor once, and their
 * description. */
#include "precond/by_factor.h"
#include "trisolve/gpu/solver.h"
#include <stdio.h>

/* --- options -------------------------------------------------------------- */

static const char *const orders[] = {"nd", "top-nd", "natural", "multicolor",
                                     NULL};

/* clang-format off */
const tct_option tct_by_factor_table[] = {
    {.about = {.name = "order", .value = "NAME",
               .summary = "of the factor's rows",
               .initial = "direct: nd; ic0: top-nd, which with one leaf is "
                          "natural, on cuda multicolor",
               .choices = orders},
     TCT_OPTION(tct_by_factor_options, order)},
    {.about = {.name = "leaves", .value = "N",
               .summary = "tree nodes at the bottom of the top of the "
                          "dissection, a power of two",
               .initial = "1; as many as there are grids",
               .type = TACIT_OPTION_INTEGER,
               .least = 1, .most = TCT_LEAVES_MOST},
     TCT_OPTION(tct_by_factor_options, leaves)},
    {.about = {.name = "grid", .value = "1x1xPz|auto",
               .summary = "one factor of the whole matrix, on Pz processes, a "
                          "power of two (auto: as many as can be); without it "
                          "each rank has an ic0 of its own rows",
               .type = TACIT_OPTION_GRID},
     TCT_OPTION(tct_by_factor_options, grid)},
    {.bytes = 0}};
/* clang-format on */

/* --- an application ------------------------------------------------------- */

/* The panels of an application have the stride of a solver's vectors. */
static tacit_status solve(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const tct_for_columns *all = ctx;
    const tct_by_factor *M = all->M;
    const size_t stride = tct_stride((size_t)M->base.op.n);
    if (q->failed != TACIT_OK) return TACIT_OK;
    if (M->S)
        return tacit_factor_solver_run(M->S, all->columns, x, stride, y,
                                       stride);
    for (int j = 0; M->R && j < all->columns; j++)
        TRY(tct_rows_solve(M->R, q, x + (size_t)j * stride,
                           y + (size_t)j * stride));
    if (M->R) return TACIT_OK;
    if (M->V && all->columns == 1) {
        tct_level_solve_run(M->V, x, y);
        return TACIT_OK;
    }
    const tct_places at = {M->b_place ? M->b_place : M->place, M->place};
    tct_factor_apply(M->F, q->team, M->place ? &at : NULL, all->columns, x,
                     stride, y, stride, M->scratch);
    return TACIT_OK;
}

void tct_by_factor_apply(const tacit_operator *base, tacit_queue *q,
                         const double *x, double *y, double *dot)
{
    tct_by_factor *M = (tct_by_factor *)(uintptr_t)base;
    const int columns = q->batch.count > 1 ? q->batch.count : 1;
    if (M->J) tct_stream_solve_apply(M->J, columns, x, y);
    else q_call(q, solve, &M->call[columns], x, y);
    if (dot) q_dot(q, (size_t)base->n, x, y, dot);
}

bool tct_by_factor_for_batch(const tacit_operator *base, const tacit_queue *q)
{
    const tct_by_factor *M = (const tct_by_factor *)(const void *)base;
    return q->batch.count <= M->columns &&
           q->batch.stride == tct_stride((size_t)base->n);
}

tct_resident_view tct_by_factor_view(const tct_precond *base)
{
    const tct_by_factor *M = (const tct_by_factor *)(const void *)base;
    return (tct_resident_view){.rows = M->R};
}

/* Scratch for so many columns; a GPU needs none. */
static tacit_status make_room(tct_by_factor *M, int columns)
{
    double *scratch = NULL;
    if (M->S || M->R) {
        M->columns = columns;
        return TACIT_OK;
    }
    const size_t n =
        tct_factor_scratch(M->F, columns, tct_team_size(M->base.op.q->team));
    TRY(tct_memory_require(8.0 * (double)n, "columns of a preconditioner"));
    TRY(TCT_ALLOC(n, "columns of a preconditioner", &scratch));
    tct_free(M->scratch);
    M->scratch = scratch;
    M->columns = columns;
    return TACIT_OK;
}

tacit_status tct_by_factor_columns(tacit_operator *base, int columns)
{
    tct_by_factor *M = (tct_by_factor *)(void *)base;
    const bool less = columns == 1;
    if (less ? M->columns == 1 : columns <= M->columns) return TACIT_OK;
    if (M->J) {
        TRY(tct_stream_solve_columns(M->J, columns));
        if (!less) M->columns = columns;
        return TACIT_OK;
    }
    const tacit_status status = make_room(M, columns);
    if (less) return TACIT_OK; /* it is large enough */
    return tct_agree(base->world, status);
}

/* Find the place of the factor's rows in the operator's order. */
static tacit_status find_places(tct_by_factor *M, const tct_order *order)
{
    if (!order) return TACIT_OK;
    TRY(TCT_ALLOC(M->base.op.n, "a preconditioner", &M->place));
    for (int64_t k = 0; k < M->base.op.n; k++)
        M->place[k] = order->now[M->F->order.old[k]];
    if (!M->F->b_row) return TACIT_OK;
    TRY(TCT_ALLOC(M->base.op.n, "a preconditioner", &M->b_place));
    for (int64_t k = 0; k < M->base.op.n; k++)
        M->b_place[k] = order->now[M->F->b_row[k]];
    return TACIT_OK;
}

/* Copy the factor to the GPU. */
static tacit_status open_on_gpu(tct_by_factor *M)
{
    tacit_factor_solver_info info = {.size = sizeof info};
    const tacit_factor_solver_options options = {.size = sizeof options,
                                                 .columns = M->launch};
    const tacit_factor_panels *P = &M->F->panels;
    tacit_queue *q = M->base.op.q;
    if (tct_is_incomplete(P->kind)) {
        TRY(tct_rows_create(q, P, M->place, &M->R));
        M->about.bytes = tct_rows_about(M->R).bytes;
        return TACIT_OK;
    }
    TRY(tct_factor_solver_new(q, P, M->place, M->b_place, &options, &M->S));
    TRY(tacit_factor_solver_describe(M->S, &info));
    M->about.bytes = info.bytes;
    return TACIT_OK;
}

/* A single right-hand side is solved for level by level if that is faster. */
static tacit_status open_levels(tct_by_factor *M)
{
    const int32_t *place = M->place ? M->place : M->F->panels.original;
    TRY(tct_level_solve_create(M->F, place, &M->V));
    if (M->V) M->about.bytes += M->V->bytes;
    return TACIT_OK;
}

tacit_status tct_by_factor_open(tct_by_factor *M, const tct_order *order)
{
    for (int c = 0; c <= TCT_COLUMNS_MOST; c++)
        M->call[c] = (tct_for_columns){M, c};
    M->made = M->F->info;
    M->about = (tacit_precond_info){.size = sizeof M->about,
                                    .name = M->base.kind->about.name,
                                    .detail = M->detail,
                                    .end = "",
                                    .bytes = M->F->info.bytes,
                                    .factor = M->F,
                                    .factor_info = &M->made};
    TRY(find_places(M, order));
    if (M->base.op.q->device->kind != TCT_KIND_HOST) TRY(open_on_gpu(M));
    else if (M->F->panels.kind == TACIT_FACTOR_IC0) TRY(open_levels(M));
    return make_room(M, M->columns > 1 ? M->columns : 1);
}

/* Parts of the grid asked for. */
static tacit_status check_grid(const tct_by_factor *M, const int grid[3],
                               const char *name)
{
    const int size = M->base.op.world->size, pz = grid[2];
    char which[64];
    snprintf(which, sizeof which, "preconditioner %s: grid %dx%dx%d", name,
             grid[0], grid[1], grid[2]);
    if (grid[0] != 1 || grid[1] != 1 || pz < 0)
        FAIL(grid[0] < 1 || grid[1] < 1 || pz < 0 ? TACIT_INVALID
                                                  : TACIT_UNSUPPORTED,
             "%s: expected 1x1xPz: a rank has a leaf of the tree and all that "
             "is above it (tacit trsv solves on others)",
             which);
    if (pz & (pz - 1))
        FAIL(TACIT_INVALID, "%s: the third number must be a power of two",
             which);
    if (pz > size)
        FAIL(TACIT_INVALID, "%s: here %s %d %s", which,
             size == 1 ? "is" : "are", size,
             size == 1 ? "process" : "processes");
    if (M->leaves > 0 && pz > M->leaves)
        FAIL(TACIT_INVALID,
             "%s: the factor's tree is to have %d %s: ask for %d, or take "
             "fewer parts",
             which, M->leaves, M->leaves == 1 ? "leaf" : "leaves", pz);
    if (M->base.op.q->device->kind != TCT_KIND_HOST)
        FAIL(TACIT_UNSUPPORTED,
             "%s: factors that are dealt out over ranks solve on device host",
             which);
    return TACIT_OK;
}

tacit_status tct_by_factor_take(tct_by_factor *M,
                                const tct_by_factor_options *o,
                                tct_rows_order otherwise, bool alone)
{
    tct_rows_order order = otherwise;
    int grid[3] = {o->grid[0], o->grid[1], o->grid[2]};
    const bool asked = grid[0] || grid[1] || grid[2];
    TRY(tct_rows_order_find(o->order, otherwise, &order));
    TRY(tct_check_leaves(o->leaves));
    M->order = tct_rows_orders[order];
    M->leaves = o->leaves;
    M->parts = 0;
    if (!asked && alone) return TACIT_OK;
    if (!asked) grid[0] = grid[1] = 1;
    TRY(check_grid(M, grid, M->base.kind->about.name));
    M->parts = grid[2]
                   ? grid[2]
                   : tct_stream_solve_parts(M->base.op.world->size, M->leaves);
    if (M->leaves == 0) M->leaves = M->parts;
    return TACIT_OK;
}

void tct_by_factor_close(tct_by_factor *M)
{
    tacit_factor_solver_destroy(&M->S);
    tct_rows_destroy(&M->R);
    tacit_factor_destroy(&M->F);
    tct_stream_solve_destroy(&M->J);
    tct_level_solve_destroy(&M->V);
    TCT_FREE(M->place, M->b_place, M->scratch);
    M->place = M->b_place = NULL;
    M->scratch = NULL;
}

void tct_by_factor_blank(const tct_by_factor *M, tct_by_factor *out)
{
    *out = (tct_by_factor){.base = M->base,
                           .order = M->order,
                           .leaves = M->leaves,
                           .parts = M->parts,
                           .columns = M->columns,
                           .launch = M->launch};
}

void tct_by_factor_destroy(tacit_operator *base)
{
    tct_by_factor_close((tct_by_factor *)(void *)base);
}

void tct_by_factor_move(tct_by_factor *from, tct_by_factor *to)
{
    tct_by_factor_close(to);
    to->F = from->F;
    to->J = from->J;
    to->V = from->V;
    to->made = from->made;
    memcpy(to->dense, from->dense, sizeof to->dense);
    if (to->J) to->made.dense = to->dense;
    to->S = from->S;
    to->R = from->R;
    to->place = from->place;
    to->b_place = from->b_place;
    to->scratch = from->scratch;
    to->columns = from->columns;
    to->about.bytes = from->about.bytes;
    to->about.factor = from->about.factor;
    to->about.messages = from->about.messages;
    to->about.message_bytes = from->about.message_bytes;
    memcpy(to->detail, from->detail, sizeof to->detail);
}

void tct_by_factor_describe(const tct_precond *M, tacit_precond_info *out)
{
    *out = ((const tct_by_factor *)(const void *)M)->about;
}
