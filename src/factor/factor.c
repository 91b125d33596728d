/* SPDX-License-Identifier: BSD-3-Clause
 * factor/factor.c - a factor from its matrix: order, pattern, panels, values;
 * incomplete factors are in incomplete.c. */
#include "factor/factor.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "the panels of a factor";

/* --- panels --------------------------------------------------------------- */

static int32_t pieces_of(const tct_fronts *F, int32_t f, int64_t width)
{
    return (int32_t)((tct_front_width(F, f) + width - 1) / width);
}

/* Cut each front into panels of even widths and count their rows and values. */
static tacit_status cut_fronts(tacit_factor *L, const tct_fronts *F,
                               int64_t width)
{
    TRY(TCT_ALLOC(F->count + 1, what, &L->panel));
    L->panel[0] = 0;
    for (int32_t f = 0; f < F->count; f++)
        L->panel[f + 1] = L->panel[f] + pieces_of(F, f, width);
    const int32_t panels = L->panel[F->count];
    TRY(TCT_ALLOC(panels + 1, what, &L->first));
    TRY(TCT_ALLOC(panels + 1, what, &L->row_start));
    TRY(TCT_ALLOC(panels + 1, what, &L->value_start));
    TRY(TCT_ALLOC(panels, what, &L->parent));
    TRY(TCT_ALLOC(panels, what, &L->node));
    L->first[0] = L->row_start[0] = L->value_start[0] = 0;
    for (int32_t f = 0; f < F->count; f++) {
        const int64_t w = tct_front_width(F, f), end = F->first[f + 1];
        const int32_t pieces = L->panel[f + 1] - L->panel[f];
        const int64_t even = (w + pieces - 1) / pieces;
        for (int32_t q = L->panel[f]; q < L->panel[f + 1]; q++) {
            const int64_t left = end - L->first[q];
            const int64_t own = left < even ? left : even;
            const int64_t h = left + tct_front_below(F, f);
            L->first[q + 1] = L->first[q] + own;
            L->row_start[q + 1] = L->row_start[q] + h;
            L->value_start[q + 1] = /* aligned to 16 bytes */
                L->value_start[q] + (own * h + 1) / 2 * 2;
            L->node[q] = F->node[f];
            if (h - own > L->most) L->most = h - own;
        }
    }
    return TACIT_OK;
}

tacit_status tct_factor_list_rows(tacit_factor *L, const tct_fronts *F)
{
    TRY(TCT_ALLOC(L->row_start[L->panel[F->count]], what, &L->row));
    for (int32_t f = 0; f < F->count; f++)
        for (int32_t q = L->panel[f]; q < L->panel[f + 1]; q++) {
            int32_t *to = L->row + L->row_start[q];
            for (int64_t j = L->first[q]; j < F->first[f + 1]; j++)
                *to++ = (int32_t)j;
            memcpy(to, F->below + F->start[f],
                   (size_t)tct_front_below(F, f) * sizeof *to);
        }
    return TACIT_OK;
}

/* The parent is the next panel of the front, or the panel of the first row
 * below. */
static void find_panel_parents(tacit_factor *L, const tct_fronts *F)
{
    for (int32_t f = 0; f < F->count; f++) {
        for (int32_t q = L->panel[f]; q + 1 < L->panel[f + 1]; q++)
            L->parent[q] = q + 1;
        const int32_t last = L->panel[f + 1] - 1, up = F->parent[f];
        L->parent[last] = -1;
        if (up < 0) continue;
        int32_t q = L->panel[up];
        while (L->first[q + 1] <= F->below[F->start[f]]) q++;
        L->parent[last] = q;
    }
}

/* --- info ----------------------------------------------------------------- */

static int32_t depth_of(const tacit_factor *L, int32_t panels, int32_t *depth)
{
    int32_t most = 0;
    for (int32_t q = panels - 1; q >= 0; q--) {
        depth[q] = 1 + (L->parent[q] < 0 ? 0 : depth[L->parent[q]]);
        if (depth[q] > most) most = depth[q];
    }
    return most;
}

static tacit_status describe(tacit_factor *L, const tct_fronts *F)
{
    tacit_factor_info *info = &L->info;
    int32_t *depth = NULL;
    info->rows = F->rows;
    info->nonzeros = F->nonzeros;
    info->supernodes = F->count;
    info->panels = L->panel[F->count];
    info->leaves = L->order.leaves;
    const int sides = tct_has_upper(L->panels.kind) ? 2 : 1;
    info->stored = sides * L->value_start[info->panels];
    for (int32_t f = 0; f < F->count; f++)
        info->flops += sides * tct_front_flops(F, f);
    info->bytes = 8.0 * (double)info->stored +
                  4.0 * (double)L->row_start[info->panels] +
                  32.0 * (double)info->panels + 8.0 * (double)info->rows;
    if (L->panels.kind == TACIT_FACTOR_LDLT)
        info->bytes += 8.0 * (double)info->rows;
    TRY(TCT_ALLOC(info->panels, what, &depth));
    info->depth = depth_of(L, info->panels, depth);
    tct_free(depth);
    return TACIT_OK;
}

tacit_status tct_factor_outline(tacit_factor *L, const tct_fronts *F, int width)
{
    TRY(cut_fronts(L, F, width ? width : TCT_WIDTH_USUAL));
    find_panel_parents(L, F);
    return describe(L, F);
}

void tct_factor_show(tacit_factor *L)
{
    L->info.kind = L->panels.kind;
    L->panels = (tacit_factor_panels){
        .size = sizeof L->panels,
        .kind = L->panels.kind,
        .rows = L->info.rows,
        .panels = L->info.panels,
        .first = L->first,
        .parent = L->parent,
        .row_start = L->row_start,
        .row = L->row,
        .value_start = L->value_start ? L->value_start : L->row_start,
        .value = L->value,
        .upper = L->upper,
        .diagonal = L->diagonal,
        .leaves = L->order.leaves,
        .node = L->node,
        .original = L->order.old};
}

tacit_status tct_factor_branch(tacit_factor *L)
{
    const int threads = tct_parallel_most();
    TRY(tct_branches_create(&L->panels, &L->branches));
    L->info.bytes += L->branches.bytes;
    L->info.peak_bytes = fmax(L->info.peak_bytes, L->info.bytes);
    if (L->branches.count == 0 || threads < 2) return TACIT_OK;
    return tct_lent_team_create(
        threads < TCT_TEAM_MOST ? threads : TCT_TEAM_MOST, &L->lent);
}

tacit_status tacit_factor_describe(const tacit_factor *factor,
                                   tacit_factor_info *out)
{
    REQUIRE(factor != NULL && out != NULL);
    TRY(tct_check_sized("tacit_factor_info", out));
    tct_write_sized(&factor->info, sizeof factor->info, out);
    return TACIT_OK;
}

tacit_status tacit_factor_view(const tacit_factor *factor,
                               tacit_factor_panels *out)
{
    REQUIRE(factor != NULL && out != NULL);
    TRY(tct_check_sized("tacit_factor_panels", out));
    tct_write_sized(&factor->panels, sizeof factor->panels, out);
    return TACIT_OK;
}

/* --- creation ------------------------------------------------------------- */

const char *tct_factor_kind_name(tacit_factor_kind kind)
{
    static const char *const names[] = {"llt", "ldlt", "lu", "ic0", "ilu0"};
    return names[kind];
}

double tct_as_given(const tacit_factor *L, double value)
{
    return ldexp(value, L->exponent);
}

static tacit_status check_options(const tacit_factor_options *o)
{
    tct_rows_order order;
    TRY(tct_check_leaves(o->leaves));
    TRY(tct_rows_order_find(o->order, TCT_ORDER_ND, &order));
    if ((int)o->kind < TACIT_FACTOR_LLT || (int)o->kind > TACIT_FACTOR_ILU0)
        FAIL(TACIT_INVALID, "kind of a factor: expected 0 to %d, got %d",
             TACIT_FACTOR_ILU0, (int)o->kind);
    if (o->width < 0)
        FAIL(TACIT_INVALID,
             "width of a factor's panels: expected 1 or more, "
             "got %d",
             o->width);
    return TACIT_OK;
}

tacit_status tct_factor_options_read(const tacit_factor_options *given,
                                     tacit_factor_options *out)
{
    *out = (tacit_factor_options){.leaves = 0};
    if (given)
        TRY(tct_read_sized("tacit_factor_options", given, out, sizeof *out));
    return check_options(out);
}

/* A matrix with an empty row or column is singular. */
static tacit_status check_structure(const tct_csr *A)
{
    int64_t bad = -1; /* the last one */
    char *occupied = NULL;
    TRY(TCT_ALLOC(A->rows, "a look for empty columns", &occupied));
    memset(occupied, 0, (size_t)A->rows);
    for (int64_t k = 0; k < A->ptr[A->rows]; k++)
        occupied[tct_csr_col(A, k)] = 1;
    bool row = false;
    for (int64_t i = A->rows - 1; i >= 0; i--) {
        row = A->ptr[i] == A->ptr[i + 1];
        if (!row && occupied[i]) continue;
        bad = i;
        break;
    }
    tct_free(occupied);
    if (bad < 0) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s %" PRId64 " of the matrix has no entries, so that it is singular: "
         "leave it out, or solve another matrix, A + shift I",
         row ? "row" : "column", bad + 1);
}

static tacit_status check_matrix(const tacit_matrix *m, tacit_factor_kind kind)
{
    if (m->world->size > 1)
        FAIL(TACIT_UNSUPPORTED,
             "a factor is made by one process, and here are %d: run it with "
             "one, or use preconditioner amg",
             m->world->size);
    TRY(tct_matrix_require_entries(m));
    if (m->A.global_rows != m->A.global_cols)
        FAIL(TACIT_INPUT,
             "a factor is of a square matrix, this one is %" PRId64
             " x %" PRId64,
             m->A.global_rows, m->A.global_cols);
    if (m->A.rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "a factor counts rows in 32 bits, and %" PRId64 " are too many",
             m->A.rows);
    TRY(check_structure(&m->A));
    if (tct_has_upper(kind)) return TACIT_OK;
    TRY(tacit_matrix_check_symmetric(m));
    return kind == TACIT_FACTOR_IC0 ? tct_check_diagonal(m, "factor ic0")
                                    : TACIT_OK;
}

/* Add the time since `*start` to `*seconds` and restart it. */
static void clock_in(double *start, double *seconds)
{
    const double now = tct_seconds();
    *seconds = now - *start;
    *start = now;
}

static tacit_status build(tacit_factor *L, const tct_entries *A,
                          const tacit_factor_options *o, tct_fronts *F)
{
    const tct_graph g = {A->rows, A->ptr, A->col};
    tct_rows_order order = TCT_ORDER_ND;
    double start = tct_seconds();
    TRY(tct_rows_order_find(o->order, TCT_ORDER_ND, &order));
    L->info.order = tct_rows_orders[order];
    L->panels.kind = o->kind;
    TRY(tct_factor_predict(&g, o->kind, order));
    TRY(tct_nesting_by(&g, order, o->leaves, &L->order));
    clock_in(&start, &L->info.order_seconds);
    TRY(tct_fronts_create(&g, &L->order, F));
    TRY(tct_factor_outline(L, F, o->width));
    TRY(tct_factor_require_memory(
        L, A, L->info.bytes,
        tct_branches_predict(F->rows, L->info.panels,
                             L->row_start[L->info.panels])));
    TRY(tct_factor_list_rows(L, F));
    clock_in(&start, &L->info.symbolic_seconds);
    TRY(tct_factor_numeric(L, F, A));
    tct_factor_show(L);
    TRY(tct_factor_branch(L));
    TRY(o->kind == TACIT_FACTOR_LLT ? tct_check_definite(L, A)
                                    : tct_factor_weigh(L, A));
    clock_in(&start, &L->info.numeric_seconds);
    return TACIT_OK;
}

static tacit_status make_exact(const tct_entries *A,
                               const tacit_factor_options *o,
                               tacit_factor **out)
{
    tct_fronts F = {.rows = 0};
    tacit_factor *L = tct_calloc(sizeof *L);
    if (!L) FAIL(TACIT_NO_MEMORY, "no memory for a factor");
    L->exponent = A->exponent;
    const tacit_status status = build(L, A, o, &F);
    tct_fronts_clear(&F);
    if (status < 0) tacit_factor_destroy(&L);
    else *out = L;
    return status;
}

/* Make a factor of the requested kind; logs an unsymmetric pattern. */
static tacit_status make(const tct_entries *A, const tacit_factor_options *o,
                         tacit_factor **out)
{
    if (A->added > 0)
        tct_log(TCT_NOTE,
                "factor %s: the pattern is not symmetric: %" PRId64
                " zeros are added to the %" PRId64 " entries to make it so",
                tct_factor_kind_name(o->kind), A->added,
                A->ptr[A->rows] - A->added);
    TRY(tct_is_incomplete(o->kind)
            ? tct_incomplete_create(A, o->kind, o->order, o->leaves, out, NULL)
            : make_exact(A, o, out));
    (*out)->info.added = A->added;
    return TACIT_OK;
}

tacit_status tct_factor_create_near(const tacit_matrix *matrix, int exponent,
                                    const tacit_factor_options *options,
                                    tacit_factor **out)
{
    tacit_factor_options o;
    tct_entries A;
    TRY(tct_factor_options_read(options, &o));
    TRY(check_matrix(matrix, o.kind));
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    tacit_status status =
        tct_entries_open(&matrix->A, !tct_has_upper(o.kind), &A);
    if (status >= 0) status = tct_entries_scale(&A, exponent);
    if (status >= 0) status = make(&A, &o, out);
    tct_entries_close(&A);
    return status;
}

tacit_status tacit_factor_create(const tacit_matrix *matrix,
                                 const tacit_factor_options *options,
                                 tacit_factor **out)
{
    REQUIRE(matrix != NULL && out != NULL);
    return tct_factor_create_near(matrix, 0, options, out);
}

void tacit_factor_destroy(tacit_factor **factor)
{
    tacit_factor *L = factor ? *factor : NULL;
    if (!L) return;
    tct_nesting_clear(&L->order);
    tct_branches_clear(&L->branches);
    tct_lent_team_destroy(&L->lent);
    TCT_FREE(L->first, L->row_start, L->value_start, L->parent, L->row, L->node,
             L->value, L->upper, L->diagonal, L->inverse, L->panel, L);
    *factor = NULL;
}

tacit_status tacit_factor_solve(const tacit_factor *factor, int columns,
                                const double *B, size_t ldb, double *X,
                                size_t ldx)
{
    REQUIRE(factor != NULL && columns > 0 && B != NULL && X != NULL);
    REQUIRE(ldb >= (size_t)factor->panels.rows &&
            ldx >= (size_t)factor->panels.rows);
    tct_team *team = NULL;
    double *scratch = NULL;
    const bool taken = tct_lent_team_take(factor->lent, &team);
    const tacit_status status =
        TCT_ALLOC(tct_factor_scratch(factor, columns, tct_team_size(team)),
                  "a solve", &scratch);
    if (status >= 0)
        tct_factor_apply(factor, team, factor->order.old, columns, B, ldb, X,
                         ldx, scratch);
    if (taken) tct_lent_team_leave(factor->lent, &team);
    tct_free(scratch);
    return status;
}
