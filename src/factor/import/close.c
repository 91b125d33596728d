/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/close.c - rows that a factor of somebody's lacks, be it that
 * zeros were not stored or that its pattern is not symmetric: of a whole factor
 * each front has in its parent all rows that it has beyond it [Li90], and
 * kernels that pass on what they have from child to parent ask for that
 * (trisolve/gpu/supernodes.c). */
#include "factor/import/import.h"
#include <stdlib.h>

static const char *const what = "an imported factor";

/* Entries are stored, of rows taken in too, up to so many times as before. */
static const double MOST = 1.5;

typedef struct {
    const tct_fronts *F;
    const int32_t *of;     /* [rows] the front of each                        */
    int32_t *seen;         /* [rows] the last front that has it               */
    int32_t *child, *next; /* [count] the last one of each, and before it; -1 */
    int64_t *start, room;  /* [count + 1]                                     */
    int32_t *below; /* [room] the rows of each front, with what it lacked */
    double stored,
        allowed; /* entries                                         */
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

/* Take those of `count` rows at `row` that front `f` has not, and that lie
 * beyond its columns; is there room for them? */
static bool take(closing *c, int32_t f, int64_t count, const int32_t *row)
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

/* The rows of front `f`, and those of its children; is that little enough? */
static bool close_front(closing *c, int32_t f)
{
    const tct_fronts *F = c->F;
    const int64_t own = tct_front_below(F, f), first = c->start[f];
    c->start[f + 1] = first;
    if (!take(c, f, own, F->below + F->start[f])) return false;
    for (int32_t g = c->child[f]; g >= 0; g = c->next[g])
        if (!take(c, f, c->start[g + 1] - c->start[g], c->below + c->start[g]))
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
    /* a row more is an entry more, or several */
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
