/* SPDX-License-Identifier: BSD-3-Clause
 * factor/symbolic.c - the pattern of L: elimination tree [Li90], post-order in
 * each tree node, entries a column [GNP94], supernodes, amalgamation [AG89],
 * rows of fronts. */
#include "factor/factor.h"

static const char *const what = "the pattern of a factor";

/* Column patterns from the rows of the matrix, whose pattern is symmetric:
 * entry k of row j, in new numbers. */
typedef struct {
    const tct_graph *g;
    tct_nesting *x;
    int32_t *parent; /* [n] elimination tree, -1: a root  */
    int64_t *count;  /* [n] entries of each column of L   */
    int32_t *post;   /* [n] columns, children first       */
    int32_t *work;   /* [5 n]                             */
} pattern;

static int64_t rows_of(const pattern *p)
{
    return p->g->nodes;
}
static int64_t begin_of(const pattern *p, int64_t j)
{
    return p->g->ptr[p->x->old[j]];
}
static int64_t end_of(const pattern *p, int64_t j)
{
    return p->g->ptr[p->x->old[j] + 1];
}
static int32_t neighbour(const pattern *p, int64_t k)
{
    return p->x->now[p->g->next[k]];
}

static void fill(int32_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) v[i] = -1;
}

/* --- the elimination tree ------------------------------------------------- */

/* The ancestor root of each entry left of the diagonal gets the row as parent;
 * path compression [Li90]. */
static void find_parents(const pattern *p)
{
    const int64_t n = rows_of(p);
    int32_t *ancestor = p->work;
    for (int32_t i = 0; i < (int32_t)n; i++) {
        p->parent[i] = ancestor[i] = -1;
        for (int64_t k = begin_of(p, i); k < end_of(p, i); k++) {
            int32_t j = neighbour(p, k);
            while (j >= 0 && j < i) {
                const int32_t up = ancestor[j];
                ancestor[j] = i;
                if (up < 0) p->parent[j] = i;
                j = up;
            }
        }
    }
}

/* Post-order of nodes [from, to) of a forest: siblings in the reverse order of
 * `by` [to - from]; a node without parent in the range is a root. */
static void post_order(const int32_t *parent, int64_t from, int64_t to,
                       const int32_t *by, int32_t *head, int32_t *next,
                       int32_t *out)
{
    int32_t root = -1;
    fill(head + from, to - from);
    for (int64_t k = 0; k < to - from; k++) {
        const int32_t j = by[k], up = parent[j];
        int32_t *list = up < 0 || up >= to ? &root : &head[up];
        next[j] = *list;
        *list = j;
    }
    for (; root >= 0; root = next[root])
        for (int32_t j = root;; j = parent[j]) {
            while (head[j] >= 0) {
                const int32_t child = head[j];
                head[j] = next[child];
                j = child;
            }
            *out++ = j;
            if (j == root) break;
        }
}

/* --- entries of columns --------------------------------------------------- */

static int32_t find_root(int32_t *ancestor, int32_t j)
{
    int32_t root = j;
    while (root != ancestor[root]) root = ancestor[root];
    while (j != root) {
        const int32_t up = ancestor[j];
        ancestor[j] = root;
        j = up;
    }
    return root;
}

/* The entries of a column are the row subtrees that contain it: those with
 * leaves below it, less common ancestors [GNP94]. */
static void count_entries(const pattern *p)
{
    const int64_t n = rows_of(p);
    int32_t *first = p->work, *latest = first + n, *leaf = latest + n,
            *ancestor = leaf + n;
    fill(first, 3 * n);
    for (int32_t k = 0; k < (int32_t)n; k++) {
        p->count[p->post[k]] = first[p->post[k]] < 0;
        for (int32_t j = p->post[k]; j >= 0 && first[j] < 0; j = p->parent[j])
            first[j] = k;
        ancestor[k] = k;
    }
    for (int64_t k = 0; k < n; k++) {
        const int32_t j = p->post[k], up = p->parent[j];
        if (up >= 0) p->count[up]--;
        for (int64_t e = begin_of(p, j); e < end_of(p, j); e++) {
            const int32_t i = neighbour(p, e);
            if (i <= j || first[j] <= latest[i]) continue;
            p->count[j]++;
            if (leaf[i] >= 0) p->count[find_root(ancestor, leaf[i])]--;
            latest[i] = first[j];
            leaf[i] = j;
        }
        if (up >= 0) ancestor[j] = up;
    }
    for (int64_t j = 0; j < n; j++)
        if (p->parent[j] >= 0) p->count[p->parent[j]] += p->count[j];
}

/* --- post-order in each tree node ----------------------------------------- */

/* Columns [from, to) by descending count into `by`: the longest child of a
 * column comes last, which favours merging. */
static tacit_status sort_counts(const pattern *p, int64_t from, int64_t to,
                                int32_t *by)
{
    int64_t most = 0, *at = NULL;
    for (int64_t j = from; j < to; j++)
        if (p->count[j] > most) most = p->count[j];
    TRY(TCT_ALLOC(most + 2, what, &at));
    memset(at, 0, (size_t)(most + 2) * sizeof *at);
    for (int64_t j = from; j < to; j++) at[most - p->count[j] + 1]++;
    for (int64_t c = 0; c <= most; c++) at[c + 1] += at[c];
    for (int64_t j = from; j < to; j++)
        by[at[most - p->count[j]]++] = (int32_t)j;
    tct_free(at);
    return TACIT_OK;
}

/* Renumber columns by `post`. */
static tacit_status renumber(pattern *p)
{
    const int64_t n = rows_of(p);
    int32_t *rank = p->work, *old = rank + n, *parent = old + n;
    int64_t *count = NULL;
    TRY(TCT_ALLOC(n, what, &count));
    for (int64_t k = 0; k < n; k++) rank[p->post[k]] = (int32_t)k;
    for (int64_t k = 0; k < n; k++) {
        const int32_t j = p->post[k], up = p->parent[j];
        old[k] = p->x->old[j];
        count[k] = p->count[j];
        parent[k] = up < 0 ? -1 : rank[up];
    }
    memcpy(p->x->old, old, (size_t)n * sizeof *old);
    memcpy(p->parent, parent, (size_t)n * sizeof *parent);
    memcpy(p->count, count, (size_t)n * sizeof *count);
    tct_free(count);
    for (int64_t k = 0; k < n; k++) p->x->now[p->x->old[k]] = (int32_t)k;
    return TACIT_OK;
}

static tacit_status order_columns(pattern *p)
{
    const int64_t n = rows_of(p);
    int32_t *by = p->work + 2 * n;
    find_parents(p);
    for (int64_t j = 0; j < n; j++) by[j] = (int32_t)(n - 1 - j);
    post_order(p->parent, 0, n, by, p->work, p->work + n, p->post);
    count_entries(p);
    for (int k = 0; k < 2 * p->x->leaves - 1; k++) {
        const int64_t from = p->x->start[k], to = p->x->start[k + 1];
        TRY(sort_counts(p, from, to, by));
        post_order(p->parent, from, to, by, p->work, p->work + n,
                   p->post + from);
    }
    return renumber(p);
}

/* --- supernodes ----------------------------------------------------------- */

/* Columns [first, end) of a supernode. */
typedef struct {
    int64_t first, end, below;
    double entries; /* without zeros of merging */
} group;

/* The usual limits of supernodal codes [AG89]. */
bool tct_is_worth_merging(int64_t width, double zeros, double stored)
{
    static const struct {
        int64_t width;
        double zeros;
    } rule[] = {{4, 1.0}, {16, 0.8}, {48, 0.1}, {INT64_MAX, 0.05}};
    for (size_t k = 0; k < sizeof rule / sizeof *rule; k++)
        if (width <= rule[k].width && zeros <= rule[k].zeros * stored)
            return true;
    return false;
}

static double trapezoid(int64_t width, int64_t below)
{
    const double w = (double)width;
    return w * (w + 1.0) / 2.0 + w * (double)below;
}

/* Merge `g` into the following group `next` if its parent is there and few
 * zeros are added. */
static bool merge(const pattern *p, const group *g, group *next)
{
    const int32_t up = p->parent[g->end - 1];
    if (up < 0 || up >= next->end) return false;
    const double stored = trapezoid(next->end - g->first, next->below);
    const double entries = g->entries + next->entries;
    if (!tct_is_worth_merging(next->end - g->first, stored - entries, stored))
        return false;
    next->first = g->first;
    next->entries = entries;
    return true;
}

/* The longest group of columns before `end`, in a tree node beginning at
 * `from`, with the same rows. */
static group alike(const pattern *p, int64_t from, int64_t end)
{
    group g = {end - 1, end, p->count[end - 1] - 1, (double)p->count[end - 1]};
    while (g.first > from && p->parent[g.first - 1] == g.first &&
           p->count[g.first - 1] == p->count[g.first] + 1)
        g.entries += (double)p->count[--g.first];
    return g;
}

/* Groups, last to first, into `all` [n]; returns how many. */
static int32_t find_groups(const pattern *p, group *all)
{
    int32_t count = 0;
    for (int k = 2 * p->x->leaves - 2; k >= 0; k--) {
        const int64_t from = p->x->start[k];
        const int32_t before = count;
        for (int64_t end = p->x->start[k + 1]; end > from;) {
            const group g = alike(p, from, end);
            end = g.first;
            if (count == before || !merge(p, &g, &all[count - 1]))
                all[count++] = g;
        }
    }
    return count;
}

/* --- fronts --------------------------------------------------------------- */

static tacit_status take_groups(const pattern *p, const group *all,
                                int32_t count, tct_fronts *F)
{
    const tct_nesting *x = p->x;
    F->rows = rows_of(p);
    F->count = count;
    TRY(TCT_ALLOC(count + 1, what, &F->first));
    TRY(TCT_ALLOC(count + 1, what, &F->start));
    TRY(TCT_ALLOC(count, what, &F->parent));
    TRY(TCT_ALLOC(count, what, &F->node));
    TRY(TCT_ALLOC(count, what, &F->postorder));
    TRY(TCT_ALLOC(count, what, &F->depth));
    F->first[0] = F->start[0] = 0;
    for (int32_t f = 0, k = 0; f < count; f++) {
        const group *g = &all[count - 1 - f];
        while (g->first >= x->start[k + 1]) k++;
        F->first[f + 1] = g->end;
        F->start[f + 1] = F->start[f] + g->below;
        F->node[f] = x->node[k];
    }
    for (int64_t j = 0; j < F->rows; j++) F->nonzeros += p->count[j];
    return TCT_ALLOC(F->start[count], what, &F->below);
}

static void find_front_parents(const pattern *p, tct_fronts *F)
{
    int32_t *of = p->work;
    for (int32_t f = 0; f < F->count; f++)
        for (int64_t j = F->first[f]; j < F->first[f + 1]; j++) of[j] = f;
    for (int32_t f = 0; f < F->count; f++) {
        const int32_t up = p->parent[F->first[f + 1] - 1];
        F->parent[f] = up < 0 ? -1 : of[up];
    }
}

/* Append `row` to the rows of front `f`, unless it is before `end` or
 * marked. */
static int32_t *take(int32_t row, int64_t end, int32_t f, int32_t *mark,
                     int32_t *to)
{
    if (row < end || mark[row] == f) return to;
    mark[row] = f;
    *to = row;
    return to + 1;
}

/* The rows below a front: the union of those of its columns and children. */
static void unite_rows(const pattern *p, tct_fronts *F)
{
    const int64_t n = rows_of(p);
    int32_t *mark = p->work, *head = mark + n, *next = head + n;
    fill(mark, n);
    fill(head, F->count);
    for (int32_t f = 0; f < F->count; f++) {
        const int64_t end = F->first[f + 1];
        int32_t *to = F->below + F->start[f];
        for (int64_t j = F->first[f]; j < end; j++)
            for (int64_t k = begin_of(p, j); k < end_of(p, j); k++)
                to = take(neighbour(p, k), end, f, mark, to);
        for (int32_t c = head[f]; c >= 0; c = next[c])
            for (int64_t k = F->start[c]; k < F->start[c + 1]; k++)
                to = take(F->below[k], end, f, mark, to);
        const int32_t up = F->parent[f];
        if (up < 0) continue;
        next[f] = head[up];
        head[up] = f;
    }
}

/* All fronts together: transpose twice. */
tacit_status tct_fronts_sort(tct_fronts *F)
{
    int64_t *at = NULL;
    int32_t *fronts = NULL;
    const int64_t n = F->rows, total = F->start[F->count];
    tacit_status status = TCT_ALLOC(n + 2, what, &at);
    if (status >= 0) status = TCT_ALLOC(total, what, &fronts);
    if (status >= 0) {
        memset(at, 0, (size_t)(n + 2) * sizeof *at);
        for (int64_t k = 0; k < total; k++) at[F->below[k] + 2]++;
        for (int64_t i = 0; i < n; i++) at[i + 2] += at[i + 1];
        for (int32_t f = 0; f < F->count; f++)
            for (int64_t k = F->start[f]; k < F->start[f + 1]; k++)
                fronts[at[F->below[k] + 1]++] = f;
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = at[i]; k < at[i + 1]; k++)
                F->below[F->start[fronts[k]]++] = (int32_t)i;
        for (int32_t f = F->count; f > 0; f--) F->start[f] = F->start[f - 1];
        F->start[0] = 0;
    }
    TCT_FREE(at, fronts);
    return status;
}

/* The post-order of fronts and their depths. */
static void find_turns(const pattern *p, tct_fronts *F)
{
    const int64_t n = rows_of(p);
    int32_t *by = p->work + 2 * n;
    for (int32_t f = 0; f < F->count; f++) by[f] = F->count - 1 - f;
    post_order(F->parent, 0, F->count, by, p->work, p->work + n, F->postorder);
    for (int32_t f = F->count - 1; f >= 0; f--)
        F->depth[f] = F->parent[f] < 0 ? 0 : F->depth[F->parent[f]] + 1;
}

static tacit_status make_fronts(pattern *p, tct_fronts *F)
{
    const int64_t n = rows_of(p);
    group *all = NULL;
    TRY(TCT_ALLOC(n, what, &p->parent));
    TRY(TCT_ALLOC(n, what, &p->count));
    TRY(TCT_ALLOC(n, what, &p->post));
    TRY(TCT_ALLOC(5 * n, what, &p->work));
    TRY(order_columns(p));
    TRY(TCT_ALLOC(n, what, &all));
    const tacit_status status = take_groups(p, all, find_groups(p, all), F);
    tct_free(all);
    TRY(status);
    find_front_parents(p, F);
    unite_rows(p, F);
    find_turns(p, F);
    return tct_fronts_sort(F);
}

tacit_status tct_fronts_create(const tct_graph *g, tct_nesting *x,
                               tct_fronts *out)
{
    pattern p = {.g = g, .x = x};
    *out = (tct_fronts){.rows = 0};
    const tacit_status status = make_fronts(&p, out);
    TCT_FREE(p.parent, p.count, p.post, p.work);
    return status;
}

void tct_fronts_clear(tct_fronts *F)
{
    TCT_FREE(F->first, F->parent, F->node, F->start, F->below, F->postorder,
             F->depth);
    *F = (tct_fronts){.rows = 0};
}

double tct_front_flops(const tct_fronts *F, int32_t f)
{
    const double w = (double)tct_front_width(F, f),
                 m = (double)tct_front_below(F, f);
    return w * m * (m + w + 1.0) + w * (w + 1.0) * (2.0 * w + 1.0) / 6.0;
}
