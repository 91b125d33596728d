/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/close.c - closure of imported fronts, whose rows may be
 * incomplete because zeros were dropped or the pattern is not symmetric. In a
 * complete factor the parent of a front has all rows below the front that lie
 * beyond the parent's columns [Li90]; kernels that pass updates to the parent
 * require it (trisolve/gpu/supernodes.c). */
#include "factor/import/import.h"
#include <stdlib.h>

static const char *const what = "an imported factor";

/* Limit of stored entries over those before. */
static const double MOST = 1.5;

typedef struct {
    const tct_fronts *F;
    const int32_t *of;     /* [rows] front of each                            */
    int32_t *seen;         /* [rows] last front that has it                   */
    int32_t *child, *next; /* [count] last child, previous sibling; -1 */
    int64_t *start, room;  /* [count + 1]                                     */
    int32_t *below;        /* [room] rows of each front, added ones included */
    double stored,
        allowed; /* entries allowed                                 */
} closing;

static double stored_by(const tct_fronts *F, int32_t f, int64_t below)
{
    const double w = (double)tct_front_width(F, f);
    return w * ((w + 1.0) / 2.0 + (double)below);
}

static int rising(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Add those of `count` rows at `row` that front `f` lacks beyond its columns;
 * false: over the limit. */
static bool add_missing(closing *c, int32_t f, int64_t count,
                        const int32_t *row)
{
    int64_t *end = &c->start[f + 1];
    for (int64_t k = 0; k < count; k++) {
        if (row[k] < c->F->first[f + 1] || c->seen[row[k]] == f) continue;
        if (*end == c->room) return false;
        c->seen[row[k]] = f;
        c->below[(*end)++] = row[k];
    }
    return true;
}

/* The rows of front `f` and of its children; false: over the limit. */
static bool close_front(closing *c, int32_t f)
{
    const tct_fronts *F = c->F;
    const int64_t own = tct_front_below(F, f), first = c->start[f];
    c->start[f + 1] = first;
    if (!add_missing(c, f, own, F->below + F->start[f])) return false;
    for (int32_t g = c->child[f]; g >= 0; g = c->next[g])
        if (!add_missing(c, f, c->start[g + 1] - c->start[g],
                         c->below + c->start[g]))
            return false;
    const int64_t all = c->start[f + 1] - first;
    if (all > own)
        qsort(c->below + first, (size_t)all, sizeof *c->below, rising);
    if (all > 0) {
        const int32_t up = c->of[c->below[first]];
        c->next[f] = c->child[up];
        c->child[up] = f;
    }
    c->stored += stored_by(F, f, all);
    return c->stored <= c->allowed;
}

static tacit_status open_closing(const tct_fronts *F, closing *c)
{
    const int64_t n = F->count;
    double before = 0.0;
    for (int32_t f = 0; f < F->count; f++)
        before += stored_by(F, f, tct_front_below(F, f));
    c->allowed = MOST * before;
    /* each added row is at least one entry */
    c->room = F->start[n] + (int64_t)((MOST - 1.0) * before) + n;
    TRY(TCT_ALLOC(F->rows, what, &c->seen));
    TRY(TCT_ALLOC(n, what, &c->child));
    TRY(TCT_ALLOC(n, what, &c->next));
    TRY(TCT_ALLOC(n + 1, what, &c->start));
    TRY(TCT_ALLOC(c->room, what, &c->below));
    for (int64_t i = 0; i < F->rows; i++) c->seen[i] = -1;
    for (int64_t f = 0; f < n; f++) c->child[f] = -1;
    c->start[0] = 0;
    return TACIT_OK;
}

tacit_status tct_import_close(tct_fronts *F, const int32_t *of)
{
    closing c = {.F = F, .of = of};
    tacit_status status = open_closing(F, &c);
    bool closed = status >= 0;
    for (int32_t f = 0; closed && f < F->count; f++)
        closed = close_front(&c, f);
    if (closed && c.start[F->count] > F->start[F->count]) {
        TCT_FREE(F->start, F->below);
        F->start = c.start;
        F->below = c.below;
        c.start = NULL;
        c.below = NULL;
    }
    TCT_FREE(c.seen, c.child, c.next, c.start, c.below);
    return status;
}
