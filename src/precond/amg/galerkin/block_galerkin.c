/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/block_galerkin.c - P' A P with several columns of P an
 * aggregate, aggregate by aggregate. For each row of an aggregate, A P is one
 * short vector per adjacent aggregate; its products with the row's weights are
 * added to the blocks. Blocks of aggregates kept by another rank are sent to it
 * (block_remote.c), which adds them to its own. */
#include "precond/amg/galerkin/block_galerkin.h"
#include "device/parallel.h"
#include "precond/amg/aggregation/edges.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const what = "a matrix of aggregates";

typedef tct_block_product galerkin;

/* --- a row of blocks ------------------------------------------------------ */

/* The global number of reached aggregate `r`. */
static int64_t global_number(const galerkin *g, int64_t r)
{
    const int64_t own = r - g->before;
    if (own < 0) return g->others.id[r];
    return own < g->G->coarse ? g->starts[g->A->world->rank] + own
                              : g->others.id[r - g->G->coarse];
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Workspace of a thread: for each reached aggregate its block in the current
 * row, if any; and one row of A P. */
typedef struct {
    int64_t *block;   /* [reached] */
    int64_t *found;   /* [widest] aggregates found */
    double *sum;      /* [widest][width] */
    int64_t *touched; /* [widest] blocks of the row of A P */
    int64_t *row;     /* [widest] last row of A that touched a block */
} workspace;

/* The aggregate of column `col`, -1: none; `*weight`: its row of P. */
static inline int64_t reach(const galerkin *g, int64_t col,
                            const double **weight)
{
    const int64_t j = col - g->A->A.first, k = g->G->width;
    if (j >= 0 && j < g->A->A.rows) {
        const int32_t of = g->G->of[j];
        *weight = g->G->weight + j * k;
        if (of < 0) return -1;
        return of < g->G->coarse ? g->before + of
                                 : g->share_place[of - g->G->coarse];
    }
    const int64_t e = tct_ghost_place(&g->G->halo.ghosts, col);
    *weight = g->ghost_weight + e * k;
    return g->ghost_place[e];
}

/* Append a block for aggregate `r` if it is new; returns the count. */
static inline int64_t find_block(int64_t r, int64_t from, int64_t count,
                                 workspace *t)
{
    if (r < 0 || t->block[r] >= from) return count;
    t->block[r] = from + count;
    if (t->found) t->found[count] = r;
    return count + 1;
}

/* Do rows `i` - 1 and `i` have the same columns, as those of a node? */
static bool is_as_before(const tct_csr *A, int64_t i)
{
    const int64_t *const p = A->ptr + i - 1;
    const int64_t count = p[2] - p[1];
    return A->col32 && p[1] - p[0] == count &&
           memcmp(A->col32 + p[0], A->col32 + p[1],
                  (size_t)count * sizeof *A->col32) == 0;
}

/* Find the blocks in the row of aggregate `s`; lists them in t->found unless
 * that is NULL. `from` increases with s. */
static int64_t find_blocks(const galerkin *g, int64_t s, int64_t from,
                           workspace *t)
{
    const tct_csr *A = &g->A->A;
    const double *weight;
    int64_t count = 0, last = -1;
    for (int64_t at = g->m.begin[s]; at < g->m.begin[s + 1]; at++) {
        const int64_t i = g->m.member[at];
        const bool follows = at > g->m.begin[s] && g->m.member[at - 1] == i - 1;
        if (follows && is_as_before(A, i)) continue;
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int64_t r = reach(g, tct_csr_col(A, e), &weight);
            if (r != last) count = find_block(r, from, count, t);
            last = r;
        }
    }
    if (s >= g->G->coarse) return count;
    for (int64_t n = g->in.begin[s]; n < g->in.begin[s + 1]; n++) {
        const int64_t *begin = g->theirs.begin + g->in.member[n];
        const double *word = g->theirs.word + begin[0];
        for (int64_t b = 0; b < tct_block_count(g, begin[1] - begin[0]); b++)
            count = find_block(tct_block_get(word + b), from, count, t);
    }
    return count;
}

/* The same in ascending order, with positions in the row. */
static int64_t find_sorted_blocks(const galerkin *g, int64_t s, int64_t from,
                                  workspace *t)
{
    const int64_t count = find_blocks(g, s, from, t);
    qsort(t->found, (size_t)count, sizeof *t->found, ascending);
    for (int64_t b = 0; b < count; b++) t->block[t->found[b]] = from + b;
    return count;
}

/* Row `i` of A P into t->sum, block by block; returns the number of blocks
 * touched. Neighbouring columns mostly lie in one block, whose sum is kept
 * apart. `k` is the width: constant where it is inlined. */
static inline int64_t multiply_row(const galerkin *g, int64_t i, int64_t from,
                                   int k, workspace *t)
{
    const tct_csr *A = &g->A->A;
    const double *weight;
    double sum[TACIT_PRECOND_VECTORS_MOST], unused[TACIT_PRECOND_VECTORS_MOST];
    double *last = unused;
    int64_t count = 0, reached = -1;
    for (int d = 0; d < k; d++) sum[d] = 0.0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int64_t r = reach(g, tct_csr_col(A, e), &weight);
        const double a = A->val[e];
        if (r < 0) continue;
        if (r != reached) {
            const int64_t b = t->block[r] - from;
            if (t->row[b] != i) t->touched[count++] = b;
            t->row[b] = i;
            for (int d = 0; d < k; d++) last[d] = sum[d];
            last = t->sum + b * k;
            for (int d = 0; d < k; d++) sum[d] = last[d];
            reached = r;
        }
        for (int d = 0; d < k; d++) sum[d] += a * weight[d];
    }
    for (int d = 0; d < k; d++) last[d] = sum[d];
    return count;
}

/* Add p' sum to the blocks, p the row of P; the block rows have `length`
 * entries each from `val` on. Resets sum to 0. */
static inline void add_row(const double *p, int64_t length, int64_t count,
                           int k, workspace *t, double *val)
{
    for (int64_t n = 0; n < count; n++) {
        double *sum = t->sum + t->touched[n] * k;
        double x[TACIT_PRECOND_VECTORS_MOST];
        for (int d = 0; d < k; d++) x[d] = sum[d];
        for (int d = 0; d < k; d++) sum[d] = 0.0;
        for (int c = 0; c < k; c++) {
            double *to = val + c * length + t->touched[n] * k;
            for (int d = 0; d < k; d++) to[d] += p[c] * x[d];
        }
    }
}

static inline void add_rows_of(const galerkin *g, int64_t s, int64_t from,
                               int64_t length, int k, workspace *t, double *val)
{
    for (int64_t n = g->m.begin[s]; n < g->m.begin[s + 1]; n++) {
        const int64_t i = g->m.member[n];
        const int64_t touched = multiply_row(g, i, from, k, t);
        add_row(g->G->weight + i * k, length, touched, k, t, val);
    }
}

/* Add the own rows of aggregate `s`, with block rows of `length` entries. */
static void add_rows(const galerkin *g, int64_t s, int64_t from, int64_t length,
                     workspace *t, double *val)
{
    const int k = g->G->width;
    for (int64_t e = 0; e < length * k; e++) val[e] = 0.0;
    if (k == 6) add_rows_of(g, s, from, length, 6, t, val);
    else if (k == 3) add_rows_of(g, s, from, length, 3, t, val);
    else add_rows_of(g, s, from, length, k, t, val);
}

/* Add the contributions of other ranks to aggregate `a`, rank by rank. */
static void add_lists(const galerkin *g, int64_t a, int64_t from,
                      int64_t length, const workspace *t, double *val)
{
    const int64_t k = g->G->width;
    for (int64_t n = g->in.begin[a]; n < g->in.begin[a + 1]; n++) {
        const int64_t *begin = g->theirs.begin + g->in.member[n];
        const double *word = g->theirs.word + begin[0];
        const int64_t count = tct_block_count(g, begin[1] - begin[0]);
        for (int64_t b = 0; b < count; b++) {
            const int64_t to = t->block[tct_block_get(word + b)] - from;
            const double *block = word + count + b * k;
            for (int64_t c = 0; c < k; c++)
                for (int64_t d = 0; d < k; d++)
                    val[c * length + to * k + d] += block[c * count * k + d];
        }
    }
}

/* A lower bound of the largest diagonal entry of P' D P in aggregate `a`, D the
 * diagonal of A, from this rank's rows. */
static double largest_diagonal(const galerkin *g, int64_t a)
{
    double most = 0.0;
    for (int64_t n = g->m.begin[a]; n < g->m.begin[a + 1]; n++)
        most = fmax(most, tct_csr_diagonal(&g->A->A, g->m.member[n]));
    return most;
}

/* Replace rounding errors in an aggregate without couplings to others. */
static void replace_rounding(const galerkin *g, int64_t a, double *val)
{
    const int64_t k = g->G->width;
    const double d = largest_diagonal(g, a);
    for (int64_t c = 0; c < k; c++) {
        double sum = 0.0;
        for (int64_t e = 0; e < k; e++) sum += fabs(val[c * k + e]);
        if (tct_is_rounding(sum, d)) val[c * k + c] = d;
    }
}

/* A zero column of P gives a zero row: set its diagonal to the largest of the
 * others. */
static void complete(const galerkin *g, int64_t a, int64_t length,
                     int64_t block, double *val)
{
    const int k = g->G->width;
    const double *R = g->G->smooth + a * k * k;
    double most = 0.0;
    for (int c = 0; c < k; c++) {
        const double d = val[c * length + block * k + c];
        if (d > most) most = d;
    }
    for (int c = 0; c < k; c++)
        if (R[c * k + c] == 0.0)
            val[c * length + block * k + c] = most > 0.0 ? most : 1.0;
}

static void set_columns(galerkin *g, int64_t a, int64_t blocks,
                        const workspace *t)
{
    const int64_t k = g->G->width;
    int64_t at = g->out.ptr[a * k];
    for (int64_t c = 0; c < k; c++)
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t first = global_number(g, t->found[b]) * k;
            for (int64_t d = 0; d < k; d++)
                tct_csr_set_col(&g->out, at++, first + d);
        }
}

/* Compute the rows of aggregate `a`. */
static void fill_row(galerkin *g, int64_t a, workspace *t)
{
    const int64_t k = g->G->width, from = g->ptr[a];
    const int64_t length = k * find_sorted_blocks(g, a, from, t);
    double *val = g->out.val + g->out.ptr[a * k];
    set_columns(g, a, length / k, t);
    add_rows(g, a, from, length, t, val);
    add_lists(g, a, from, length, t, val);
    if (length == k) replace_rounding(g, a, val);
    complete(g, a, length, t->block[g->before + a] - from, val);
}

/* Compute the contribution to another rank's aggregate. */
static void fill_share(galerkin *g, int64_t s, workspace *t)
{
    const int64_t from = g->mine.begin[s - g->G->coarse];
    const int64_t count = find_sorted_blocks(g, s, from, t);
    double *word = g->mine.word + from;
    for (int64_t b = 0; b < count; b++)
        tct_block_set(word + b, global_number(g, t->found[b]));
    add_rows(g, s, from, count * g->G->width, t, word + count);
}

/* --- all ------------------------------------------------------------------ */

static bool open_bench(const galerkin *g, int64_t widest, workspace *t)
{
    const int64_t reached = tct_block_reached(g);
    *t = (workspace){.block = tct_alloc((size_t)reached * sizeof *t->block)};
    for (int64_t r = 0; t->block && r < reached; r++) t->block[r] = -1;
    if (widest == 0) return t->block != NULL;
    t->found = tct_alloc((size_t)widest * sizeof *t->found);
    t->sum = tct_calloc((size_t)(widest * g->G->width) * sizeof *t->sum);
    t->touched = tct_alloc((size_t)widest * sizeof *t->touched);
    t->row = tct_alloc((size_t)widest * sizeof *t->row);
    for (int64_t b = 0; t->row && b < widest; b++) t->row[b] = -1;
    return t->block && t->found && t->sum && t->touched && t->row;
}

enum { LEAST = 64 }; /* aggregates for a thread */

/* Own aggregates are [0, coarse), remote ones follow. */
typedef struct {
    int64_t first, last;
    int64_t *count; /* [last - first] blocks in each */
} range;

static range own_aggregates(const galerkin *g)
{
    return (range){0, g->G->coarse, g->ptr + 1};
}

static range remote(const galerkin *g)
{
    return (range){g->G->coarse, tct_block_sets(g), g->mine.begin + 1};
}

typedef struct {
    galerkin *g;
    range r;
    int64_t widest;
    int parts;
    atomic_bool starved;
} passage;

static void go_through_one(const passage *p, int64_t s, workspace *t)
{
    galerkin *g = p->g;
    if (p->widest == 0)
        p->r.count[s - p->r.first] =
            find_blocks(g, s, s * tct_block_reached(g), t);
    else if (s < g->G->coarse) fill_row(g, s, t);
    else fill_share(g, s, t);
}

static void go_through_part(void *work, int64_t part)
{
    passage *p = work;
    const int64_t count = p->r.last - p->r.first,
                  from = tct_part_first(count, (int)part, p->parts),
                  to = tct_part_first(count, (int)part + 1, p->parts);
    workspace t;
    if (!open_bench(p->g, p->widest, &t)) atomic_store(&p->starved, true);
    for (int64_t s = from; s < to && !atomic_load(&p->starved); s++)
        go_through_one(p, p->r.first + s, &t);
    TCT_FREE(t.block, t.found, t.sum, t.touched, t.row);
}

/* Count the blocks of range `r` if `widest` is 0, else fill them. */
static tacit_status go_through(galerkin *g, range r, int64_t widest)
{
    const int64_t worth = (r.last - r.first) / LEAST;
    const int most = tct_parallel_most();
    passage p = {.g = g, .r = r, .widest = widest};
    p.parts = worth < 1 ? 1 : worth < most ? (int)worth : most;
    tct_parallel_each(p.parts, go_through_part, &p);
    if (atomic_load(&p.starved))
        FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

static int64_t widest_of(range r)
{
    int64_t widest = 1;
    for (int64_t k = 0; k < r.last - r.first; k++)
        if (r.count[k] > widest) widest = r.count[k];
    return widest;
}

static tacit_status multiply_shares(galerkin *g)
{
    const range r = remote(g);
    if (r.first == r.last) return tct_block_make_room(g);
    TRY(go_through(g, r, 0));
    const int64_t widest = widest_of(r);
    TRY(tct_block_make_room(g));
    return go_through(g, r, widest);
}

/* Allocate all rows, k for each aggregate. */
static tacit_status make_room(galerkin *g)
{
    const int64_t k = g->G->width, coarse = g->G->coarse;
    for (int64_t a = 0; a < coarse; a++) {
        const int64_t count = g->ptr[a + 1];
        for (int64_t c = 0; c < k; c++)
            g->out.ptr[a * k + c + 1] = g->out.ptr[a * k + c] + count * k;
        g->ptr[a + 1] += g->ptr[a];
    }
    return tct_csr_entries(&g->out, g->out.ptr[coarse * k]);
}

static tacit_status multiply_own(galerkin *g)
{
    const tacit_world *w = g->A->world;
    const int64_t k = g->G->width, coarse = g->G->coarse;
    const int64_t all = g->starts[w->size] * k, first = g->starts[w->rank] * k;
    TRY(TCT_ALLOC(coarse + 1, what, &g->ptr));
    g->ptr[0] = 0;
    TRY(tct_csr_rows(&g->out, all, all, first, coarse * k));
    TRY(go_through(g, own_aggregates(g), 0));
    const int64_t widest = widest_of(own_aggregates(g));
    TRY(make_room(g));
    return go_through(g, own_aggregates(g), widest);
}

static tacit_status multiply(galerkin *g)
{
    TRY(tct_block_open(g));
    TRY(tct_agree(g->A->world, multiply_shares(g)));
    TRY(tct_block_trade(g));
    return multiply_own(g);
}

tacit_status tct_block_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                                tacit_matrix **coarse)
{
    TCT_THREADS_AT_MOST(tct_world_threads(A->world));
    galerkin g = {.A = A, .G = G};
    const tacit_status status = multiply(&g);
    tct_block_close(&g);
    TRY(tct_matrix_adopt(A->world, status, &g.out, coarse));
    (*coarse)->format = "galerkin";
    return TACIT_OK;
}
