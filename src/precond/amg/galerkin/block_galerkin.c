/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/galerkin/block_galerkin.c - P' A P where P has several columns an
 * aggregate. An aggregate after the other: of each of its rows A P is made, one
 * short vector for each aggregate that the row reaches, and goes with the row's
 * own weights into the block. Of an aggregate that another rank keeps the
 * blocks of what rows are here go to that rank (block_shares.c), which adds
 * them to its own. */
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

/* All aggregates that are reached, among all. */
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

/* What a thread needs: of the aggregates that are reached, which block of the
 * row at hand is theirs, if it is one of this row; and, of one row of A, A
 * P. */
typedef struct {
    int64_t *block;   /* [reached] */
    int64_t *met;     /* [widest]  */
    double *sum;      /* [widest][width] */
    int64_t *touched; /* [widest] the blocks of that row */
    int64_t *row;     /* [widest] the last row that has touched a block */
} bench;

/* The aggregate of column `col`, -1: none; what P has there into `*weight`. */
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

/* A block in the column of `r`, unless there is one; how many there are now. */
static inline int64_t meet_one(int64_t r, int64_t from, int64_t count, bench *t)
{
    if (r < 0 || t->block[r] >= from) return count;
    t->block[r] = from + count;
    if (t->met) t->met[count] = r;
    return count + 1;
}

/* How many blocks the row of aggregate `s` has; they are listed in t->met
 * unless that is NULL. `from` grows with s. */
static int64_t meet(const galerkin *g, int64_t s, int64_t from, bench *t)
{
    const tct_csr *A = &g->A->A;
    const double *weight;
    int64_t count = 0;
    for (int64_t at = g->m.begin[s]; at < g->m.begin[s + 1]; at++) {
        const int64_t i = g->m.member[at];
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++)
            count =
                meet_one(reach(g, tct_csr_col(A, e), &weight), from, count, t);
    }
    if (s >= g->G->coarse) return count;
    for (int64_t n = g->in.begin[s]; n < g->in.begin[s + 1]; n++) {
        const int64_t *begin = g->theirs.begin + g->in.member[n];
        const double *word = g->theirs.word + begin[0];
        for (int64_t b = 0; b < tct_block_count(g, begin[1] - begin[0]); b++)
            count = meet_one(tct_block_get(word + b), from, count, t);
    }
    return count;
}

/* The same ascending, each where it stands in the row. */
static int64_t meet_in_order(const galerkin *g, int64_t s, int64_t from,
                             bench *t)
{
    const int64_t count = meet(g, s, from, t);
    qsort(t->met, (size_t)count, sizeof *t->met, ascending);
    for (int64_t b = 0; b < count; b++) t->block[t->met[b]] = from + b;
    return count;
}

/* Row `i` of A P into t->sum, block by block; how many blocks it touches. */
static int64_t multiply_row(const galerkin *g, int64_t i, int64_t from,
                            bench *t)
{
    const tct_csr *A = &g->A->A;
    const int k = g->G->width;
    const double *weight;
    int64_t count = 0;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int64_t r = reach(g, tct_csr_col(A, e), &weight);
        if (r < 0) continue;
        const int64_t b = t->block[r] - from;
        double *sum = t->sum + b * k;
        if (t->row[b] != i) t->touched[count++] = b;
        t->row[b] = i;
        for (int d = 0; d < k; d++) sum[d] += A->val[e] * weight[d];
    }
    return count;
}

/* Add p' times that, p the row of P, to the blocks, whose rows have `length`
 * entries each from `val` on; what was summed is 0 again. */
static void add_row(const galerkin *g, const double *p, int64_t length,
                    int64_t count, bench *t, double *val)
{
    const int k = g->G->width;
    for (int64_t n = 0; n < count; n++) {
        double *sum = t->sum + t->touched[n] * k;
        for (int c = 0; c < k; c++) {
            double *to = val + c * length + t->touched[n] * k;
            for (int d = 0; d < k; d++) to[d] += p[c] * sum[d];
        }
        for (int d = 0; d < k; d++) sum[d] = 0.0;
    }
}

/* What own rows of aggregate `s` come to, of rows with `length` entries. */
static void add_rows(const galerkin *g, int64_t s, int64_t from, int64_t length,
                     bench *t, double *val)
{
    const int64_t k = g->G->width;
    for (int64_t e = 0; e < length * k; e++) val[e] = 0.0;
    for (int64_t n = g->m.begin[s]; n < g->m.begin[s + 1]; n++) {
        const int64_t i = g->m.member[n];
        const int64_t touched = multiply_row(g, i, from, t);
        add_row(g, g->G->weight + i * k, length, touched, t, val);
    }
}

/* What other ranks' rows of aggregate `a` have come to, rank by rank. */
static void add_lists(const galerkin *g, int64_t a, int64_t from,
                      int64_t length, const bench *t, double *val)
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

/* Of this rank's rows of aggregate `a`: at least what P' D P has of them, D
 * being A's diagonal. */
static double largest_diagonal(const galerkin *g, int64_t a)
{
    double most = 0.0;
    for (int64_t n = g->m.begin[a]; n < g->m.begin[a + 1]; n++)
        most = fmax(most, tct_csr_diagonal(&g->A->A, g->m.member[n]));
    return most;
}

/* Of an aggregate whose rows have no other columns than its own. */
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

/* Where P has no column its row of the product is 0: the largest diagonal entry
 * of the others stands there. */
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

/* The rows of aggregate `a`. */
static void fill_row(galerkin *g, int64_t a, bench *t)
{
    tct_csr *out = &g->out;
    const int64_t k = g->G->width, from = g->ptr[a];
    const int64_t length = k * meet_in_order(g, a, from, t);
    int64_t at = out->ptr[a * k];
    double *val = out->val + at;
    for (int64_t e = 0; e < length * k; e++) {
        const int64_t b = e % length / k;
        tct_csr_set_col(out, at++, global_number(g, t->met[b]) * k + e % k);
    }
    add_rows(g, a, from, length, t, val);
    add_lists(g, a, from, length, t, val);
    if (length == k) replace_rounding(g, a, val);
    complete(g, a, length, t->block[g->before + a] - from, val);
}

/* Those of a share, to be sent. */
static void fill_share(galerkin *g, int64_t s, bench *t)
{
    const int64_t from = g->mine.begin[s - g->G->coarse];
    const int64_t count = meet_in_order(g, s, from, t);
    double *word = g->mine.word + from;
    for (int64_t b = 0; b < count; b++)
        tct_block_set(word + b, global_number(g, t->met[b]));
    add_rows(g, s, from, count * g->G->width, t, word + count);
}

/* --- all ------------------------------------------------------------------ */

static bool open_bench(const galerkin *g, int64_t widest, bench *t)
{
    const int64_t reached = tct_block_reached(g);
    *t = (bench){.block = tct_alloc((size_t)reached * sizeof *t->block)};
    for (int64_t r = 0; t->block && r < reached; r++) t->block[r] = -1;
    if (widest == 0) return t->block != NULL;
    t->met = tct_alloc((size_t)widest * sizeof *t->met);
    t->sum = tct_calloc((size_t)(widest * g->G->width) * sizeof *t->sum);
    t->touched = tct_alloc((size_t)widest * sizeof *t->touched);
    t->row = tct_alloc((size_t)widest * sizeof *t->row);
    for (int64_t b = 0; t->row && b < widest; b++) t->row[b] = -1;
    return t->block && t->met && t->sum && t->touched && t->row;
}

enum { LEAST = 64 }; /* aggregates that are worth a thread */

/* Own aggregates are [0, coarse), shares what follows. */
typedef struct {
    int64_t first, last;
    int64_t *count; /* [last - first] blocks of each */
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

static void go_through_one(const passage *p, int64_t s, bench *t)
{
    galerkin *g = p->g;
    if (p->widest == 0)
        p->r.count[s - p->r.first] = meet(g, s, s * tct_block_reached(g), t);
    else if (s < g->G->coarse) fill_row(g, s, t);
    else fill_share(g, s, t);
}

static void go_through_part(void *work, int64_t part)
{
    passage *p = work;
    const int64_t count = p->r.last - p->r.first,
                  from = tct_part_first(count, (int)part, p->parts),
                  to = tct_part_first(count, (int)part + 1, p->parts);
    bench t;
    if (!open_bench(p->g, p->widest, &t)) atomic_store(&p->starved, true);
    for (int64_t s = from; s < to && !atomic_load(&p->starved); s++)
        go_through_one(p, p->r.first + s, &t);
    TCT_FREE(t.block, t.met, t.sum, t.touched, t.row);
}

/* Count the blocks of each of `r` where `widest` is 0, and fill them. */
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

/* Places for all rows, k of each aggregate. */
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
