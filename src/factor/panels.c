/* SPDX-License-Identifier: BSD-3-Clause
 * factor/panels.c - the panels of a factor, and what a factor tells. */
#include "device/parallel.h"
#include "factor/factor.h"
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
        const int64_t even = /* no cut goes through a pair */
            L->pairs ? width : (w + pieces - 1) / pieces;
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
        info->bytes += (L->pairs ? 16.0 : 8.0) * (double)info->rows;
    TRY(TCT_ALLOC(info->panels, what, &depth));
    info->depth = depth_of(L, info->panels, depth);
    tct_free(depth);
    return TACIT_OK;
}

tacit_status tct_factor_outline(tacit_factor *L, const tct_fronts *F, int width)
{
    if (width == 0) width = TCT_WIDTH_USUAL;
    if (L->pairs && width > 1) width -= width % 2;
    TRY(cut_fronts(L, F, width));
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
        .off_diagonal = L->off_diagonal,
        .leaves = L->order.leaves,
        .node = L->node,
        .original = L->order.old,
        .row_scale = L->match.row_scale,
        .col_scale = L->match.col_scale,
        .row_order = L->upper ? L->match.row : NULL};
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
    REQUIRE(factor != NULL, out != NULL);
    TRY(tct_check_sized("tacit_factor_info", out));
    tct_write_sized(&factor->info, sizeof factor->info, out);
    return TACIT_OK;
}

tacit_status tacit_factor_view(const tacit_factor *factor,
                               tacit_factor_panels *out)
{
    REQUIRE(factor != NULL, out != NULL);
    TRY(tct_check_sized("tacit_factor_panels", out));
    if (factor->off_diagonal &&
        out->size <= offsetof(tacit_factor_panels, off_diagonal))
        FAIL(TACIT_INVALID,
             "tacit_factor_view: D has blocks of 2 x 2, which the caller's "
             "header does not know: compile with a newer one, or take kind lu");
    tct_write_sized(&factor->panels, sizeof factor->panels, out);
    return TACIT_OK;
}

/* --- names, values, the end ----------------------------------------------- */

const char *tct_factor_kind_name(tacit_factor_kind kind)
{
    static const char *const names[] = {"llt", "ldlt", "lu", "ic0", "ilu0"};
    return names[kind];
}

double tct_as_given(const tacit_factor *L, double value)
{
    return ldexp(value, L->exponent);
}

void tacit_factor_destroy(tacit_factor **factor)
{
    tacit_factor *L = factor ? *factor : NULL;
    if (!L) return;
    tct_nesting_clear(&L->order);
    tct_branches_clear(&L->branches);
    tct_matching_clear(&L->match);
    tct_entries_close(&L->system);
    tct_lent_team_destroy(&L->lent);
    TCT_FREE(L->first, L->row_start, L->value_start, L->parent, L->row, L->node,
             L->value, L->upper, L->trial_row, L->trial_col, L->b_row,
             L->b_scale, L->x_scale, L->diagonal, L->off_diagonal, L->number,
             L->inverse, L->panel, L);
    *factor = NULL;
}
