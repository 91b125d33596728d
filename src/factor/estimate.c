/* SPDX-License-Identifier: BSD-3-Clause
 * factor/estimate.c - memory of a factor before its rows are ordered: a lower
 * bound for any order, and an estimate. The estimate counts the entries of L
 * for a ball of rows and for a part of it, derives the growth as a power of the
 * rows [GL78] (n log n on surfaces, n^4/3 in space), and extrapolates. */
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "an estimate of a factor";

/* --- alternatives --------------------------------------------------------- */

tacit_status tct_factor_refuse(double bytes, double rows, double entries,
                               const char *why)
{
    const double incomplete = 18.0 * entries + 92.0 * rows; /* with set-up */
    FAIL(TACIT_NO_MEMORY,
         "the factor needs at least %.3g GiB of memory%s, and %.3g GiB are "
         "free: an incomplete one (ic0, ilu0) takes about %.3g GiB: solve by a "
         "method with preconditioner ic0 or amg, or with more memory",
         bytes / 0x1p30, why, (double)tct_memory_available() / 0x1p30,
         incomplete / 0x1p30);
}

/* --- the estimate --------------------------------------------------------- */

/* The graph of the first `count` rows of `list`. */
typedef struct {
    const tct_graph *g;
    int32_t *list;  /* [sample] rows, nearest first */
    int32_t *place; /* [rows] position in `list` or the graph; -1: absent */
    int64_t *ptr;
    int32_t *next;
} ball;

/* Collect rows around the middle one, then around another if the component
 * ends. */
static void grow(ball *b, int64_t sample)
{
    const tct_graph *g = b->g;
    int64_t count = 0, root = g->nodes / 2;
    for (int64_t i = 0; i < g->nodes; i++) b->place[i] = -1;
    for (int64_t k = 0; count < sample; k++) {
        if (k == count) {
            while (b->place[root] >= 0) root = (root + 1) % g->nodes;
            b->place[root] = (int32_t)count;
            b->list[count++] = (int32_t)root;
        }
        const int32_t i = b->list[k];
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1] && count < sample; e++)
            if (b->place[g->next[e]] < 0) {
                b->place[g->next[e]] = (int32_t)count;
                b->list[count++] = g->next[e];
            }
    }
}

/* The graph of the `count` nearest rows, in their original order. */
static tct_graph take(ball *b, int64_t sample, int64_t count)
{
    const tct_graph *g = b->g;
    int64_t edges = 0, rows = 0;
    for (int64_t k = 0; k < sample; k++) b->place[b->list[k]] = -1;
    for (int64_t k = 0; k < count; k++) b->place[b->list[k]] = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        if (b->place[i] >= 0) b->place[i] = (int32_t)rows++;
    rows = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        if (b->place[i] < 0) continue;
        b->ptr[rows++] = edges;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++)
            if (b->place[g->next[e]] >= 0)
                b->next[edges++] = b->place[g->next[e]];
    }
    b->ptr[rows] = edges;
    return (tct_graph){rows, b->ptr, b->next};
}

static tacit_status count_entries(const tct_graph *g, double *out)
{
    tct_nesting x = {.leaves = 0};
    tct_fronts F = {.rows = 0};
    tacit_status status = tct_nesting_create(g, 1, &x);
    if (status >= 0) status = tct_fronts_create(g, &x, &F);
    *out = (double)F.nonzeros;
    tct_fronts_clear(&F);
    tct_nesting_clear(&x);
    return status;
}

static tacit_status open_ball(ball *b, int64_t sample)
{
    int64_t edges = 0;
    TRY(TCT_ALLOC(sample, what, &b->list));
    TRY(TCT_ALLOC(b->g->nodes, what, &b->place));
    grow(b, sample);
    for (int64_t k = 0; k < sample; k++)
        edges += b->g->ptr[b->list[k] + 1] - b->g->ptr[b->list[k]];
    TRY(TCT_ALLOC(sample + 1, what, &b->ptr));
    return TCT_ALLOC(edges, what, &b->next);
}

static tacit_status extrapolate(ball *b, int64_t sample, double *entries)
{
    enum { PART = 4 };
    double all = 0.0, part = 0.0;
    TRY(open_ball(b, sample));
    tct_graph g = take(b, sample, sample);
    TRY(count_entries(&g, &all));
    g = take(b, sample, sample / PART);
    TRY(count_entries(&g, &part));
    const double power = log(all / part) / log(PART),
                 more = (double)b->g->nodes / (double)sample;
    *entries = all * pow(more, fmin(fmax(power, 1.0), 2.0));
    return TACIT_OK;
}

tacit_status tct_factor_estimate(const tct_graph *g, int64_t sample,
                                 double *entries)
{
    ball b = {.g = g};
    const tacit_status status = extrapolate(&b, sample, entries);
    TCT_FREE(b.list, b.place, b.ptr, b.next);
    return status;
}

/* --- prediction ----------------------------------------------------------- */

/* The matrix's values, in 8 bytes, or METIS's input and least working
 * memory. */
static double least_bytes(double rows, double entries, int sides,
                          tct_rows_order order)
{
    const double values = 8.0 * sides * 0.5 * (entries + rows) + 8.0 * rows,
                 metis = 4.0 * entries + 40.0 * rows;
    return order == TCT_ORDER_ND ? fmax(values, metis) : values;
}

tacit_status tct_factor_predict(const tct_graph *g, tacit_factor_kind kind,
                                tct_rows_order order)
{
    static const int64_t SAMPLE_MOST = 200000;
    const double rows = (double)g->nodes, entries = (double)g->ptr[g->nodes],
                 room = (double)tct_memory_available();
    const int sides = tct_has_upper(kind) ? 2 : 1;
    const double least = least_bytes(rows, entries, sides, order);
    double likely = 0.0;
    if (least > room)
        return tct_factor_refuse(least, rows, entries, ", whatever fills in");
    if (order != TCT_ORDER_ND || g->nodes < TCT_ROWS_MANY) return TACIT_OK;
    const int64_t part = g->nodes / 20,
                  sample = part < SAMPLE_MOST ? part : SAMPLE_MOST;
    TRY(tct_factor_estimate(g, sample, &likely));
    const double bytes = 8.0 * sides * likely;
    tct_log(
        bytes > room ? TCT_WARN : TCT_NOTE,
        "factor %s: L is likely to have about %.2g entries, %.2g GiB, as an "
        "estimate from %" PRId64 " of %" PRId64 " rows; %.3g GiB are free",
        tct_factor_kind_name(kind), likely, bytes / 0x1p30, sample, g->nodes,
        room / 0x1p30);
    return TACIT_OK;
}
