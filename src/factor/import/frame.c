/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/frame.c - imported supernodes become fronts with an elimination
 * forest, a tree and panels without values. */
#include "factor/dense.h"
#include "factor/import/import.h"

static const char *const what = "an imported factor";

/* --- the forest ----------------------------------------------------------- */

/* `of` [rows]: front of each row. `list` [at[i], at[i + 1]): the fronts with
 * rows in front i, ascending; `at` [count + 2]. */
typedef struct {
    int32_t *of, *list;
    int64_t *at;
} readers;

/* Is entry `k` of `f` the first in another front? */
static bool is_new(const tct_fronts *F, const int32_t *of, int32_t f, int64_t k)
{
    return k == F->start[f] || of[F->below[k]] != of[F->below[k - 1]];
}

static tacit_status find_owners(const tct_fronts *F, readers *r)
{
    TRY(TCT_ALLOC(F->rows, what, &r->of));
    for (int32_t f = 0; f < F->count; f++)
        for (int64_t j = F->first[f]; j < F->first[f + 1]; j++) r->of[j] = f;
    return TACIT_OK;
}

static tacit_status find_readers(const tct_fronts *F, readers *r)
{
    TRY(TCT_ALLOC(F->count + 2, what, &r->at));
    memset(r->at, 0, ((size_t)F->count + 2) * sizeof *r->at);
    for (int32_t f = 0; f < F->count; f++)
        for (int64_t k = F->start[f]; k < F->start[f + 1]; k++)
            r->at[r->of[F->below[k]] + 2] += is_new(F, r->of, f, k);
    for (int32_t i = 0; i < F->count; i++) r->at[i + 2] += r->at[i + 1];
    TRY(TCT_ALLOC(r->at[F->count + 1], what, &r->list));
    for (int32_t f = 0; f < F->count; f++)
        for (int64_t k = F->start[f]; k < F->start[f + 1]; k++)
            if (is_new(F, r->of, f, k))
                r->list[r->at[r->of[F->below[k]] + 1]++] = f;
    return TACIT_OK;
}

/* The elimination forest of L + L' [Li90]: the ancestors of a front have all
 * its rows. In a complete factor the parent is the front of the first row; with
 * missing entries it may be lower. */
static void find_forest(const tct_fronts *F, const readers *r,
                        int32_t *ancestor, int32_t *up)
{
    for (int32_t i = 0; i < F->count; i++) {
        up[i] = ancestor[i] = -1;
        for (int64_t k = r->at[i]; k < r->at[i + 1]; k++)
            for (int32_t f = r->list[k]; f >= 0 && f < i;) {
                const int32_t above = ancestor[f];
                ancestor[f] = i;
                if (above < 0) up[f] = i;
                f = above;
            }
    }
}

static tacit_status find_tree(tct_fronts *F, int leaves, const readers *r)
{
    int32_t *up = NULL, *ancestor = NULL;
    double *weight = NULL;
    tacit_status status = TCT_ALLOC(F->count, what, &up);
    if (status >= 0) status = TCT_ALLOC(F->count, what, &ancestor);
    if (status >= 0) status = TCT_ALLOC(F->count, what, &weight);
    if (status >= 0) {
        find_forest(F, r, ancestor, up);
        for (int32_t f = 0; f < F->count; f++) {
            const double w = (double)tct_front_width(F, f);
            const bool any = F->start[f] < F->start[f + 1];
            weight[f] = w * ((w + 1.0) / 2.0 + (double)tct_front_below(F, f));
            F->parent[f] = any ? r->of[F->below[F->start[f]]] : -1;
        }
        status = tct_forest_split(F->count, up, weight, leaves, F->node);
    }
    TCT_FREE(up, ancestor, weight);
    return status;
}

/* --- panels --------------------------------------------------------------- */

static tacit_status take_order(tacit_factor *L, int64_t rows, int leaves,
                               const int32_t *original)
{
    L->order.leaves = leaves;
    TRY(TCT_ALLOC(rows, what, &L->order.old));
    for (int64_t k = 0; k < rows; k++)
        L->order.old[k] = original ? original[k] : (int32_t)k;
    return TACIT_OK;
}

static tacit_status make_room(tacit_factor *L)
{
    const size_t stored = (size_t)L->value_start[L->info.panels];
    const char *why;
    L->info.peak_bytes = L->info.bytes;
    L->info.dense = tct_dense_get(1, &why)->name;
    L->info.order = "given";
    TRY(TCT_ALLOC(stored, what, &L->value));
    memset(L->value, 0, stored * sizeof *L->value);
    if (tct_has_upper(L->panels.kind)) {
        TRY(TCT_ALLOC(stored, what, &L->upper));
        memset(L->upper, 0, stored * sizeof *L->upper);
    }
    if (L->panels.kind == TACIT_FACTOR_LDLT)
        TRY(TCT_ALLOC(L->info.rows, what, &L->diagonal));
    tct_factor_show(L);
    return tct_factor_branch(L);
}

static tacit_status frame(tacit_factor *L, tct_fronts *F,
                          tacit_factor_kind kind, const int32_t *original,
                          const tacit_factor_options *o)
{
    const int leaves = o->leaves ? o->leaves : 1;
    readers r = {.of = NULL};
    TRY(TCT_ALLOC(F->count, what, &F->parent));
    TRY(TCT_ALLOC(F->count, what, &F->node));
    tacit_status status = find_owners(F, &r);
    if (status >= 0 && !tct_is_incomplete(kind))
        status = tct_import_close(F, r.of);
    if (status >= 0) status = find_readers(F, &r);
    if (status >= 0) status = find_tree(F, leaves, &r);
    TCT_FREE(r.of, r.list, r.at);
    TRY(status);
    TRY(take_order(L, F->rows, leaves, original));
    L->panels.kind = kind;
    TRY(tct_factor_outline(L, F, o->width));
    TRY(tct_memory_require(
        L->info.bytes + tct_branches_predict(F->rows, L->info.panels,
                                             L->row_start[L->info.panels]),
        what));
    TRY(tct_factor_list_rows(L, F));
    return make_room(L);
}

tacit_status tct_import_begin(tct_fronts *F, tacit_factor_kind kind,
                              const int32_t *original,
                              const tacit_factor_options *options,
                              tacit_factor **out)
{
    tacit_factor_options o;
    TRY(tct_factor_options_read(options, &o));
    tacit_factor *L = tct_calloc(sizeof *L);
    if (!L) FAIL(TACIT_NO_MEMORY, "no memory for a factor");
    const tacit_status status = frame(L, F, kind, original, &o);
    if (status < 0) tacit_factor_destroy(&L);
    else *out = L;
    return status;
}

/* --- values --------------------------------------------------------------- */

void tct_import_put(const tacit_factor *L, double *to, int32_t f, int64_t j,
                    int64_t count, const int32_t *row, const double *value)
{
    const int32_t first = L->panel[f];
    const int64_t even = L->first[first + 1] - L->first[first];
    const int32_t q = first + (int32_t)((j - L->first[first]) / even);
    const int64_t h = L->row_start[q + 1] - L->row_start[q];
    const int64_t column = j - L->first[q];
    const int32_t *own = L->row + L->row_start[q];
    double *v = to + L->value_start[q] + column * h;
    int64_t i = column;
    for (int64_t k = 0; k < count; k++) {
        while (own[i] != row[k]) i++;
        v[i] = value[k];
    }
}

tacit_status tct_import_end(tacit_factor **factor)
{
    const tacit_status status = tacit_factor_check(&(*factor)->panels);
    if (status < 0) tacit_factor_destroy(factor);
    return status;
}
