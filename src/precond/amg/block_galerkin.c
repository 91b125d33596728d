/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/block_galerkin.c - P' A P where P has several columns an
 * aggregate. An aggregate after the other: of each of its rows A P is made, one
 * short vector for each aggregate that the row reaches, and goes with the row's
 * own weights into the block. */
#include "matrix/directory.h"
#include "matrix/parallel.h"
#include "precond/amg/contract.h"
#include "precond/amg/near_null.h"
#include <stdlib.h>
#include <string.h>

static const char *const what = "a matrix of aggregates";

typedef struct {
    const tacit_matrix *A;
    const tct_aggregates *G;
    tct_members m;
    tct_ghosts ghosts;    /* columns of other ranks                     */
    double *ghost_weight; /* [ghosts][width]                            */
    int64_t *ghost_of;    /* [ghosts] aggregates, -1: none              */
    tct_ghosts others;    /* aggregates of other ranks that are reached */
    int64_t *starts;      /* [size + 1] first aggregate of each rank    */
    int64_t before;       /* of the others, those of lower ranks        */
    int64_t *ptr;         /* [coarse + 1] blocks                        */
    tct_csr out;
} galerkin;

/* All aggregates that are reached are numbered by rank, as everywhere, but
 * without those that are not: lower ranks', this rank's, higher ranks'. */
static int64_t global_number(const galerkin *g, int64_t r)
{
    const int64_t own = r - g->before;
    if (own < 0) return g->others.id[r];
    return own < g->G->coarse ? g->starts[g->A->world->rank] + own
                              : g->others.id[r - g->G->coarse];
}

/* --- what other ranks have --------------------------------------------------- */

static tacit_status allocate(galerkin *g)
{
    const tct_csr *A = &g->A->A;
    TRY(tct_matrix_require_entries(g->A));
    TRY(tct_ghosts_find(A, 1, A->first, A->first + A->rows, &g->ghosts));
    TRY(TCT_ALLOC(g->A->world->size + 1, what, &g->starts));
    TRY(TCT_ALLOC(g->ghosts.count, what, &g->ghost_of));
    TRY(TCT_ALLOC(g->ghosts.count, what, &g->others.id));
    TRY(TCT_ALLOC(g->ghosts.count * g->G->width, what, &g->ghost_weight));
    return tct_list_members(A->rows, g->G->of, g->G->coarse, &g->m);
}

/* Global numbers of the aggregates of this rank's rows, and those of ghosts. */
static tacit_status ask_aggregates(galerkin *g)
{
    tacit_world *w = g->A->world;
    const int64_t rows = g->G->rows;
    int64_t *number = NULL;
    tacit_status status = tct_agree(w, TCT_ALLOC(rows, what, &number));
    for (int64_t i = 0; status >= 0 && i < rows; i++)
        number[i] = g->G->of[i] < 0 ? -1 : g->starts[w->rank] + g->G->of[i];
    if (status >= 0)
        status = tct_ask(w, g->A->starts, number, g->ghosts.count, g->ghosts.id,
                         g->ghost_of);
    tct_free(number);
    return status;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void list_others(galerkin *g)
{
    tct_ghosts *o = &g->others;
    const int64_t first = g->starts[g->A->world->rank];
    for (int64_t e = 0; e < g->ghosts.count; e++)
        if (g->ghost_of[e] >= 0) o->id[o->count++] = g->ghost_of[e];
    if (o->count > 0) qsort(o->id, (size_t)o->count, sizeof *o->id, ascending);
    int64_t kept = 0;
    for (int64_t e = 0; e < o->count; e++)
        if (e == 0 || o->id[e] != o->id[e - 1]) o->id[kept++] = o->id[e];
    o->count = kept;
    while (g->before < kept && o->id[g->before] < first) g->before++;
    for (int64_t e = 0; e < g->ghosts.count; e++) {
        if (g->ghost_of[e] < 0) continue;
        const int64_t place = tct_ghost_place(o, g->ghost_of[e]);
        g->ghost_of[e] = place < g->before ? place : place + g->G->coarse;
    }
}

static tacit_status ask(galerkin *g)
{
    tacit_world *w = g->A->world;
    TRY(tct_allgather(w, sizeof g->G->coarse, &g->G->coarse, g->starts + 1));
    g->starts[0] = 0;
    for (int r = 0; r < w->size; r++) g->starts[r + 1] += g->starts[r];
    TRY(ask_aggregates(g));
    TRY(tct_ask_rows(w, g->A->starts, g->G->width, g->G->weight,
                     g->ghosts.count, g->ghosts.id, g->ghost_weight));
    list_others(g);
    return TACIT_OK;
}

/* --- a row of blocks ----------------------------------------------------------- */

/* What a thread needs: of the aggregates that are reached, which block of the row
 * at hand is theirs, if it is one of this row; and, of one row of A, A P. */
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
        *weight = g->G->weight + j * k;
        return g->G->of[j] < 0 ? -1 : g->before + g->G->of[j];
    }
    const int64_t e = tct_ghost_place(&g->ghosts, col);
    *weight = g->ghost_weight + e * k;
    return g->ghost_of[e];
}

/* How many blocks the row of aggregate `a` has; they are listed in t->met unless
 * that is NULL. `from` grows with a. */
static int64_t meet(const galerkin *g, int64_t a, int64_t from, bench *t)
{
    const tct_csr *A = &g->A->A;
    const double *weight;
    int64_t count = 0;
    for (int64_t at = g->m.begin[a]; at < g->m.begin[a + 1]; at++) {
        const int64_t i = g->m.member[at];
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
            const int64_t r = reach(g, tct_csr_col(A, e), &weight);
            if (r < 0 || t->block[r] >= from) continue;
            t->block[r] = from + count;
            if (t->met) t->met[count] = r;
            count++;
        }
    }
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

/* Where P has no column its row of the product is 0: the largest diagonal entry of
 * the others stands there. */
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
    const int64_t count = meet(g, a, from, t), length = count * k;
    int64_t at = out->ptr[a * k];
    double *val = out->val + at;
    qsort(t->met, (size_t)count, sizeof *t->met, ascending);
    for (int64_t b = 0; b < count; b++) t->block[t->met[b]] = from + b;
    for (int64_t e = 0; e < length * k; e++) {
        const int64_t b = e % length / k;
        val[e] = 0.0;
        tct_csr_set_col(out, at++, global_number(g, t->met[b]) * k + e % k);
    }
    for (int64_t n = g->m.begin[a]; n < g->m.begin[a + 1]; n++) {
        const int64_t i = g->m.member[n];
        const int64_t touched = multiply_row(g, i, from, t);
        add_row(g, g->G->weight + i * k, length, touched, t, val);
    }
    complete(g, a, length, t->block[g->before + a] - from, val);
}

/* --- all ------------------------------------------------------------------------ */

static bool open_bench(const galerkin *g, int64_t widest, bench *t)
{
    const int64_t reached = g->G->coarse + g->others.count;
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

/* Count the blocks of each aggregate where `widest` is 0, and fill them. */
static tacit_status go_through(galerkin *g, int64_t widest)
{
    bool starved = false;
    TCT_OMP(omp parallel reduction(|| : starved))
    {
        bench t;
        const bool fine = open_bench(g, widest, &t);
        starved = !fine;
        TCT_OMP(omp for schedule(static))
        for (int64_t a = 0; a < g->G->coarse; a++) {
            const int64_t mark = a * (g->G->coarse + g->others.count);
            if (!fine) continue;
            if (widest == 0) g->ptr[a + 1] = meet(g, a, mark, &t);
            else fill_row(g, a, &t);
        }
        TCT_FREE(t.block, t.met, t.sum, t.touched, t.row);
    }
    if (starved) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

/* Places for all rows, k of each aggregate; the most blocks of any. */
static tacit_status make_room(galerkin *g, int64_t *widest)
{
    const int64_t k = g->G->width, coarse = g->G->coarse;
    *widest = 1;
    for (int64_t a = 0; a < coarse; a++) {
        const int64_t count = g->ptr[a + 1];
        if (count > *widest) *widest = count;
        for (int64_t c = 0; c < k; c++)
            g->out.ptr[a * k + c + 1] = g->out.ptr[a * k + c] + count * k;
        g->ptr[a + 1] += g->ptr[a];
    }
    return tct_csr_entries(&g->out, g->out.ptr[coarse * k]);
}

static tacit_status multiply(galerkin *g)
{
    tacit_world *w = g->A->world;
    const int64_t k = g->G->width, coarse = g->G->coarse;
    int64_t widest = 0;
    TRY(tct_agree(w, allocate(g)));
    TRY(ask(g));
    TRY(TCT_ALLOC(coarse + 1, what, &g->ptr));
    g->ptr[0] = 0;
    const int64_t all = g->starts[w->size] * k, first = g->starts[w->rank] * k;
    TRY(tct_csr_rows(&g->out, all, all, first, coarse * k));
    TRY(go_through(g, 0));
    TRY(make_room(g, &widest));
    return go_through(g, widest);
}

tacit_status tct_block_galerkin(const tacit_matrix *A, const tct_aggregates *G,
                                tacit_matrix **coarse)
{
    TCT_THREADS_AT_MOST(A->world->threads);
    galerkin g = {.A = A, .G = G};
    const tacit_status status = multiply(&g);
    tct_ghosts_clear(&g.ghosts);
    tct_ghosts_clear(&g.others);
    tct_members_clear(&g.m);
    TCT_FREE(g.ghost_weight, g.ghost_of, g.starts, g.ptr);
    TRY(tct_matrix_adopt(A->world, status, &g.out, coarse));
    (*coarse)->format = "galerkin";
    return TACIT_OK;
}
