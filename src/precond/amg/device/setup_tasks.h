/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/setup_tasks.h - set-up split into tasks, each for one row,
 * aggregate or slice, run by a device's kernels and, in tests, on the host.
 * Results have the bits of the host functions: aggregate.c, match.c,
 * row_accumulation.c, rows.c. Systems of equations have more
 * (system_tasks.h); task_list.h lists all.
 *
 * A task is a function of the work and of an index below its count. It never
 * waits, and its loops are bounded by row lengths, aggregate sizes or
 * logarithms. Several threads only add integers, or take the maximum of
 * positive numbers, so that order does not matter.
 *
 * Every second edge of a chain (match.c) becomes a pair. A device finds a row's
 * position in its chain by pointer jumping: each row stores, in one word, an
 * earlier row of the chain and the parity of the distance to it; a jump
 * continues with what that row stores. A racing read sees the word before or
 * after another jump: both are valid. */
#ifndef TCT_PRECOND_AMG_DEVICE_SETUP_TASKS_H
#define TCT_PRECOND_AMG_DEVICE_SETUP_TASKS_H
#include "base/base.h"
#include "device/steps.h"
#include "precond/amg/aggregation/edges.h"
#include <string.h>

/* --- data ----------------------------------------------------------------- */

/* The matrix of a level or a pass on the device: this rank's rows and columns,
 * unordered unless stated. */
typedef struct tct_amg_csr {
    int64_t rows, entries;
    int64_t *ptr; /* [rows + 1] */
    int32_t *col; /* [entries]  */
    double *val;  /* [entries]  */
} tct_amg_csr;

enum {
    TCT_AMG_HOPS = 8,         /* steps in a jump: 9 times as far            */
    TCT_AMG_JUMPS = 10,       /* 9^10 exceeds any row count                 */
    TCT_AMG_FEW = 8,          /* a round pairs few if at most one row in 8  */
    TCT_AMG_SHORT = 256,      /* entries of an aggregate's rows for a warp */
    TCT_AMG_LONG = 3504,      /* ... for a block, of 48 KiB; longer: host   */
    TCT_AMG_STRETCHES = 1024, /* chunks of a prefix sum                  */
    TCT_AMG_VECTORS = 8       /* near-null vectors, at most */
};

/* All of 8 bytes; the host reads it as a whole. */
typedef struct tct_amg_state {
    uint64_t count, next, paired, by_hash, rounds, done, listed; /* matching */
    uint64_t all, mates;             /* rows; rows with a mate               */
    uint64_t far[TCT_AMG_JUMPS + 1]; /* does jump k have work?           */
    uint64_t longs, too_long;        /* aggregates                       */
    uint64_t total;                  /* of the last prefix sum           */
    uint64_t bad;                    /* rows with a diagonal <= 0        */
    double bound, norm, size;        /* maxima of sum |a| / d, sum |a|, |a| */
} tct_amg_state;
enum { TCT_AMG_STATE = sizeof(tct_amg_state) / sizeof(double) };

/* A dense matrix to be inverted (inverse_tasks.h): its lower triangle. */
typedef struct tct_amg_dense {
    int64_t n, from; /* first row of the current block */
    int32_t block;   /* rows of it */
    double *a;       /* [n][n] */
    double *V, *W;   /* [TCT_ELIMINATED][n] */
    double *own;     /* [TCT_ELIMINATED][TCT_ELIMINATED] */
    double *d;       /* [n] the diagonal before */
} tct_amg_dense;

/* NULL: not needed or not known yet. */
typedef struct tct_amg_work {
    tct_amg_csr A;   /* to coarsen                      */
    tct_amg_csr out; /* the matrix of aggregates        */
    const double *w; /* smooth vector, NULL: ones       */
    double apart;    /* see aggregate.c                 */
    double joins;    /* the same                        */
    double limit;    /* see match.h                     */
    double factor;   /* numerator of D^-1               */
    int step;        /* jump, or pass                   */
    bool sorted;     /* columns of `out` ascend         */
    bool pairs;      /* aggregates: `first` and its mate; else `list` */
    bool squares;    /* of entries are added up */
    int64_t coarse;
    tct_amg_state *state;
    double *diag, *added; /* [rows] see match.h; next pass                */
    int32_t *mate, *lower, *upper, *open, *other; /* [rows] of matching   */
    uint32_t *link;                               /* [rows] */
    int32_t *up;    /* [rows of A] aggregate in a pass                   */
    int32_t *of;    /* [rows of level] over all passes                   */
    int32_t *first; /* [coarse] its first row                            */
    int32_t *place; /* [coarse] aggregate to join, or itself             */
    int32_t *count; /* [rows + 1] input of a prefix sum                  */
    int64_t *sum;   /* [rows + 1] */
    int32_t *length, *longs; /* [coarse] entries of an aggregate's rows  */
    const double *weight;    /* of rows and columns of A, NULL: ones */
    const int32_t *group;    /* [rows] aggregates, -1: none */
    int32_t *ptr, *list;     /* [coarse + 1], [rows] */
    double *listed, *smooth, *scaled; /* weights of P by `list`; smooth
                                       * vector; weights by row */
    double *sums;                     /* [rows] of |a| */
    const double *beyond; /* [rows] sums over columns of other ranks, scaled
                           * by w if there is w; NULL: none */
    double *vector;       /* [rows] */
    int64_t *partial;     /* [TCT_AMG_STRETCHES + 1] partial sums */
    /* Systems (system_tasks.h); NULL `node`: a node has k rows. */
    int k;               /* near-null vectors; columns of P an aggregate */
    const int32_t *node; /* [rows] of A */
    const double *near;  /* [rows of A][k] near-null vectors */
    tct_amg_csr blocks;  /* pattern of `out` in blocks; the graph of nodes */
    tct_amg_dense dense;
} tct_amg_work;

/* --- shared results ------------------------------------------------------- */

TCT_BOTH uint64_t tct_amg_add(uint64_t *to, uint64_t v)
{
#if TCT_ON_GPU
    return atomicAdd((unsigned long long *)to, (unsigned long long)v);
#else
    const uint64_t before = *to;
    *to += v;
    return before;
#endif
}

TCT_BOTH int32_t tct_amg_add_one(int32_t *to)
{
#if TCT_ON_GPU
    return atomicAdd(to, 1);
#else
    return (*to)++;
#endif
}

/* Atomic maximum of nonnegative numbers, whose bits order like integers; NaN
 * counts as largest. The plain read saves most atomics. */
TCT_BOTH void tct_amg_spectral_bound_of(double *to, double v)
{
    const double here = *(const volatile double *)to;
    if (fabs(v) <= here) return;
#if TCT_ON_GPU
    atomicMax((unsigned long long *)to,
              (unsigned long long)__double_as_longlong(fabs(v)));
#else
    *to = fabs(v);
#endif
}

/* Reads a word that other threads may change. */
TCT_BOTH uint32_t tct_amg_fresh(const uint32_t *p)
{
    return *(const volatile uint32_t *)p;
}

/* --- rows ----------------------------------------------------------------- */

typedef struct tct_amg_sums {
    double diagonal, others;
} tct_amg_sums;

/* As sum_row of aggregate.c. */
TCT_BOTH tct_amg_sums tct_amg_sum_row(const tct_amg_csr *A, const double *w,
                                      int64_t i)
{
    tct_amg_sums s = {0.0, 0.0};
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int32_t j = A->col[k];
        const double b = A->val[k] * (w ? w[i] * w[j] : 1.0);
        if (j == i) s.diagonal = b;
        else s.others += fabs(b);
    }
    return s;
}

TCT_BOTH void tct_amg_task_diagonal(const tct_amg_work *g, int64_t i)
{
    tct_amg_sums s = tct_amg_sum_row(&g->A, g->w, i);
    if (g->beyond) s.others += g->beyond[i];
    g->diag[i] = s.diagonal > g->apart * s.others ? 0.0 : s.diagonal;
}

/* As tct_amg_rows_of of rows.c, with the statistics of the matrix. */
TCT_BOTH void tct_amg_task_look_over(const tct_amg_work *g, int64_t i)
{
    const tct_amg_csr *A = &g->A;
    double d = 0.0, sum = 0.0, size = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const double a = fabs(A->val[k]);
        if (A->col[k] == i) d = A->val[k];
        sum += a;
        if (!(a <= size)) size = a;
    }
    if (g->beyond) sum += g->beyond[i];
    g->vector[i] = d;
    g->sums[i] = sum;
    if (!(d > 0.0)) tct_amg_add(&g->state->bad, 1);
    tct_amg_spectral_bound_of(&g->state->bound, sum / d);
    tct_amg_spectral_bound_of(&g->state->norm, sum);
    tct_amg_spectral_bound_of(&g->state->size, size);
}

/* precision.c: terms of w'A w and |w|'|A| |w| of row i. */
TCT_BOTH void tct_amg_task_energy(const tct_amg_work *g, int64_t i)
{
    const tct_amg_csr *A = &g->A;
    double energy = 0.0, size = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const double ww = g->w ? g->w[i] * g->w[A->col[k]] : 1.0;
        energy += A->val[k] * ww;
        size += fabs(A->val[k] * ww);
    }
    g->vector[i] = energy;
    g->sums[i] = size;
}

/* As tct_amg_round, for entry k; all entries are in the range of floats. */
TCT_BOTH void tct_amg_task_round(const tct_amg_work *g, int64_t k)
{
    g->A.val[k] = (double)(float)g->A.val[k];
}

/* smoother.c, put_inverse: `sums` to `vector`. */
TCT_BOTH void tct_amg_task_inverse(const tct_amg_work *g, int64_t i)
{
    g->vector[i] = g->factor / g->sums[i];
}

/* --- matching: match.c ---------------------------------------------------- */

TCT_BOTH double tct_amg_b(const tct_amg_work *g, int64_t i, int64_t j, double a)
{
    return g->w ? g->w[i] * g->w[j] * a : a;
}

/* spectral_bound.c, put_random; `sums` is D^-1, `factor` its trace. */
TCT_BOTH void tct_amg_task_random(const tct_amg_work *g, int64_t i)
{
    const uint64_t rank = (uint64_t)g->step;
    const uint64_t bits =
        tct_amg_mix((uint64_t)i * 0x9E3779B97F4A7C15u ^ tct_amg_mix(rank));
    g->vector[i] = ((double)(bits >> 11) * 0x1p-53 - 0.5) /
                   (g->sums ? sqrt(g->sums[i] / g->factor) : 1.0);
}

/* Open all rows that may be matched, or those of the list; with a new limit all
 * rows without a mate. */
TCT_BOTH void tct_amg_task_open(const tct_amg_work *g, int64_t i)
{
    const bool is = g->diag[i] > 0.0;
    g->mate[i] = is ? (int32_t)i : -1;
    g->lower[i] = g->upper[i] = -1;
    if (is) tct_amg_add(&g->state->count, 1);
}

TCT_BOTH void tct_amg_task_opened(const tct_amg_work *g, int64_t i)
{
    (void)i;
    g->state->done = g->state->count == 0;
    g->state->all = g->state->count;
}

TCT_BOTH void tct_amg_task_reopen(const tct_amg_work *g, int64_t i)
{
    tct_amg_state *s = g->state;
    (void)i;
    s->count = s->all - s->mates;
    s->done = s->count == 0;
    s->by_hash = s->listed = 0;
}

/* Row `k` of a round; -1: none. */
TCT_BOTH int32_t tct_amg_row_at(const tct_amg_work *g, int64_t k)
{
    const tct_amg_state *s = g->state;
    if (s->done) return -1;
    if (s->listed) return (uint64_t)k < s->count ? g->open[k] : -1;
    return g->diag[k] > 0.0 && g->mate[k] == k ? (int32_t)k : -1;
}

/* The best edges of a row so far. */
typedef struct tct_amg_best {
    int64_t low, high;
    uint32_t most;
    uint64_t hash;
} tct_amg_best;

TCT_BOTH void tct_amg_compare(tct_amg_best *b, int64_t i, int64_t j,
                              uint32_t rating, bool by_hash)
{
    if (rating < b->most) return;
    if (rating > b->most) {
        b->most = rating;
        b->hash = 0;
        b->low = b->high = i;
    }
    if (by_hash) {
        const uint64_t hash = tct_edge_hash(i, j);
        if (hash < b->hash) return;
        b->hash = hash;
        b->low = b->high = j;
    } else if (j < i && (b->low == i || j > b->low)) b->low = j;
    else if (j > i && (b->high == i || j < b->high)) b->high = j;
}

TCT_BOTH uint32_t tct_amg_rate(const tct_amg_work *g, int64_t i, int64_t j,
                               double a)
{
    const double b = tct_amg_b(g, i, j, a);
    if (!tct_edge_holds(b, g->diag[i], g->diag[j], g->limit)) return 0;
    return tct_edge_rating(b, g->diag[i] + g->diag[j]);
}

TCT_BOTH void tct_amg_task_look(const tct_amg_work *g, int64_t k)
{
    const int32_t i = tct_amg_row_at(g, k);
    const tct_amg_csr *A = &g->A;
    tct_amg_best b = {i, i, 1, 0};
    if (i < 0) return;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int32_t j = A->col[e];
        if (j == i || g->mate[j] != j) continue;
        tct_amg_compare(&b, i, j, tct_amg_rate(g, i, j, A->val[e]),
                        g->state->by_hash != 0);
    }
    g->lower[i] = b.low < i ? (int32_t)b.low : -1;
    g->upper[i] = b.high > i ? (int32_t)b.high : -1;
}

/* The initial link: 2 * earlier row + parity of the distance. */
TCT_BOTH void tct_amg_task_link(const tct_amg_work *g, int64_t k)
{
    const int32_t i = tct_amg_row_at(g, k);
    if (i < 0) return;
    const int32_t j = g->lower[i];
    const bool linked = j >= 0 && g->upper[j] == i;
    g->link[i] = linked ? 2 * (uint32_t)j + 1 : 2 * (uint32_t)i;
}

TCT_BOTH void tct_amg_task_jump(const tct_amg_work *g, int64_t k)
{
    if (g->step > 0 && !g->state->far[g->step]) return;
    const int32_t i = tct_amg_row_at(g, k);
    if (i < 0) return;
    uint32_t link = g->link[i];
    for (int hop = 0; hop < TCT_AMG_HOPS; hop++) {
        const uint32_t before = tct_amg_fresh(&g->link[link / 2]);
        if (before / 2 == link / 2) { /* first row of the chain */
            g->link[i] = link;
            return;
        }
        link = (before & ~(uint32_t)1) | ((link ^ before) & 1);
    }
    g->link[i] = link;
    g->state->far[g->step + 1] = 1;
}

TCT_BOTH void tct_amg_task_pair(const tct_amg_work *g, int64_t k)
{
    const int32_t i = tct_amg_row_at(g, k);
    if (i < 0 || g->link[i] % 2 == 0) return;
    const int32_t j = g->lower[i];
    g->mate[i] = j;
    g->mate[j] = i;
    tct_amg_add(&g->state->paired, 2);
}

TCT_BOTH void tct_amg_task_keep(const tct_amg_work *g, int64_t k)
{
    const int32_t i = tct_amg_row_at(g, k);
    if (i < 0 || g->mate[i] != i) return;
    if (g->lower[i] < 0 && g->upper[i] < 0) return;
    g->other[tct_amg_add(&g->state->next, 1)] = i;
}

/* End of a round; `open` and `other` swap for the next. */
TCT_BOTH void tct_amg_task_decide(const tct_amg_work *g, int64_t i)
{
    tct_amg_state *s = g->state;
    (void)i;
    if (s->done) return;
    s->rounds++;
    s->done = s->next == 0 || (s->paired == 0 && s->by_hash);
    s->by_hash = s->by_hash || s->paired <= s->count / TCT_AMG_FEW;
    s->mates += s->paired;
    s->count = s->next;
    s->listed = 1;
    s->next = s->paired = 0;
    for (int k = 0; k <= TCT_AMG_JUMPS; k++) s->far[k] = 0;
}

/* --- aggregates: aggregate.c ---------------------------------------------- */

TCT_BOTH void tct_amg_task_lead(const tct_amg_work *g, int64_t i)
{
    g->count[i] = g->mate[i] >= i;
}

TCT_BOTH void tct_amg_task_number(const tct_amg_work *g, int64_t i)
{
    const int32_t j = g->mate[i];
    g->up[i] = j < 0 ? -1 : (int32_t)g->sum[j < i ? j : i];
    if (j >= i) g->first[g->sum[i]] = (int32_t)i;
}

/* aggregate.c, add_up_diagonal: for pair `n`, a row of `out`. */
TCT_BOTH void tct_amg_task_add_up(const tct_amg_work *g, int64_t n)
{
    const int32_t i = g->first[n], j = g->mate[i];
    const bool is = tct_amg_sum_row(&g->out, NULL, n).diagonal > 0.0;
    g->added[n] = !is ? 0.0 : g->diag[i] + (j > i ? g->diag[j] : 0.0);
}

/* For a row of the level, after pass `step`. */
TCT_BOTH void tct_amg_task_go_up(const tct_amg_work *g, int64_t i)
{
    if (g->step == 0) g->of[i] = g->up[i];
    else if (g->of[i] >= 0) g->of[i] = g->up[g->of[i]];
}

TCT_BOTH void tct_amg_task_none(const tct_amg_work *g, int64_t n)
{
    g->count[n] = 0;
}

TCT_BOTH void tct_amg_task_member(const tct_amg_work *g, int64_t i)
{
    if (g->of[i] >= 0) tct_amg_add_one(&g->count[g->of[i]]);
}

/* singletons.c, strongest_aggregate. Rows of larger aggregates all write the
 * same value. */
TCT_BOTH void tct_amg_task_place(const tct_amg_work *g, int64_t i)
{
    const tct_amg_csr *A = &g->A;
    const int32_t n = g->of[i];
    if (n < 0) return;
    int32_t best = n;
    const bool alone = g->count[n] == 1;
    double most = alone ? g->joins * tct_amg_sum_row(A, g->w, i).diagonal : 0.0;
    for (int64_t k = A->ptr[i]; alone && k < A->ptr[i + 1]; k++) {
        const int32_t j = A->col[k];
        if (g->of[j] < 0 || g->count[g->of[j]] < 2) continue;
        const double b = A->val[k] * (g->w ? g->w[i] * g->w[j] : 1.0);
        if (-b <= most) continue;
        most = -b;
        best = g->of[j];
    }
    g->place[n] = best;
}

/* Does the aggregate remain? */
TCT_BOTH void tct_amg_task_stays(const tct_amg_work *g, int64_t n)
{
    g->count[n] = g->place[n] == n;
}

TCT_BOTH void tct_amg_task_renumber(const tct_amg_work *g, int64_t i)
{
    if (g->of[i] >= 0) g->of[i] = (int32_t)g->sum[g->place[g->of[i]]];
}

TCT_BOTH void tct_amg_task_copy(const tct_amg_work *g, int64_t i)
{
    g->up[i] = g->of[i];
}

/* --- rows of aggregates --------------------------------------------------- */

/* `sum` gets the offsets, `count` the rows still to list. */
TCT_BOTH void tct_amg_task_begin(const tct_amg_work *g, int64_t n)
{
    g->ptr[n] = (int32_t)g->sum[n];
}

TCT_BOTH void tct_amg_task_fill(const tct_amg_work *g, int64_t i)
{
    const int32_t n = g->of[i];
    if (n >= 0) g->list[g->ptr[n] + tct_amg_add_one(&g->count[n])] = (int32_t)i;
}

/* Sift `v` down from x[at] in the heap x[0, n). */
TCT_BOTH void tct_amg_sift(int32_t *x, int32_t n, int32_t at, int32_t v)
{
    for (int32_t below = 2 * at + 1; below < n; below = 2 * at + 1) {
        if (below + 1 < n && x[below + 1] > x[below]) below++;
        if (x[below] <= v) break;
        x[at] = x[below];
        at = below;
    }
    x[at] = v;
}

TCT_BOTH void tct_amg_sort(int32_t *x, int32_t n)
{
    for (int32_t at = n / 2 - 1; at >= 0; at--) tct_amg_sift(x, n, at, x[at]);
    for (int32_t end = n - 1; end > 0; end--) {
        const int32_t v = x[end];
        x[end] = x[0];
        tct_amg_sift(x, end, 0, v);
    }
}

/* Sort the rows of an aggregate. */
TCT_BOTH void tct_amg_task_sort(const tct_amg_work *g, int64_t n)
{
    tct_amg_sort(g->list + g->ptr[n], g->ptr[n + 1] - g->ptr[n]);
}

/* Weights of P of an aggregate. */
TCT_BOTH void tct_amg_task_weigh(const tct_amg_work *g, int64_t n)
{
    const int32_t *list = g->list + g->ptr[n];
    const int32_t members = g->ptr[n + 1] - g->ptr[n];
    double sum = 0.0;
    for (int32_t k = 0; k < members; k++) {
        const double w = g->w ? g->w[list[k]] : 1.0;
        sum += w * w;
    }
    g->smooth[n] = sqrt(sum);
    for (int32_t k = 0; k < members; k++) {
        const double w = g->w ? g->w[list[k]] : 1.0;
        g->scaled[list[k]] = g->listed[g->ptr[n] + k] = w / g->smooth[n];
    }
}

/* Weights of rows without an aggregate. */
TCT_BOTH void tct_amg_task_weigh_none(const tct_amg_work *g, int64_t i)
{
    if (g->of[i] < 0) g->scaled[i] = 0.0;
}

/* --- the matrix of aggregates: row_accumulation.c, galerkin.c ------------- */

/* Read the weights of row list[k], and its aggregate unless `of` is NULL. */
TCT_BOTH void tct_amg_task_collect(const tct_amg_work *g, int64_t k)
{
    const int64_t i = g->list[k], width = g->k > 1 ? g->k : 1;
    if (g->of) g->vector[k] = (double)g->of[i];
    for (int64_t v = 0; v < width; v++)
        g->listed[k * width + v] = g->scaled[i * width + v];
}

/* Scatter `listed` to the rows of `list`. */
TCT_BOTH void tct_amg_task_scatter(const tct_amg_work *g, int64_t k)
{
    g->vector[g->list[k]] = g->listed[k];
}

/* S^-1 for the rows of the last pass. */
TCT_BOTH void tct_amg_task_scale(const tct_amg_work *g, int64_t k)
{
    g->vector[k] = g->group[k] < 0 ? 0.0 : 1.0 / g->smooth[g->group[k]];
}

TCT_BOTH int32_t tct_amg_members(const tct_amg_work *g, int64_t n)
{
    if (!g->pairs) return g->ptr[n + 1] - g->ptr[n];
    return g->mate[g->first[n]] == g->first[n] ? 1 : 2;
}

TCT_BOTH int32_t tct_amg_member_at(const tct_amg_work *g, int64_t n, int32_t k)
{
    if (!g->pairs) return g->list[g->ptr[n] + k];
    return k == 0 ? g->first[n] : g->mate[g->first[n]];
}

TCT_BOTH void tct_amg_task_measure(const tct_amg_work *g, int64_t n)
{
    const int32_t members = tct_amg_members(g, n);
    int64_t length = 0;
    for (int32_t k = 0; k < members; k++) {
        const int32_t i = tct_amg_member_at(g, n, k);
        length += g->A.ptr[i + 1] - g->A.ptr[i];
    }
    g->length[n] = length <= TCT_AMG_LONG ? (int32_t)length : 0;
    g->count[n] = 0;
    if (length > TCT_AMG_LONG) g->state->too_long = 1;
    else if (length > TCT_AMG_SHORT)
        g->longs[tct_amg_add(&g->state->longs, 1)] = (int32_t)n;
}

/* The entries of an aggregate's rows, in the order of rows and entries; the
 * length is that of `measure`, 0 if too long. */
typedef struct tct_amg_entries {
    int32_t *col; /* aggregate, or -1 */
    double *val;
    uint16_t *head; /* first entries of each column, in any order */
    int32_t *heads; /* how many; 0 before they are marked */
} tct_amg_entries;

/* The share of thread `lane` of `lanes`; a barrier separates the steps. */
TCT_BOTH void tct_amg_gather(const tct_amg_work *g, int64_t n, int lane,
                             int lanes, const tct_amg_entries *to)
{
    const int32_t members = g->length[n] > 0 ? tct_amg_members(g, n) : 0;
    for (int32_t k = 0, at = 0; k < members; k++) {
        const int32_t i = tct_amg_member_at(g, n, k);
        const int64_t from = g->A.ptr[i];
        const int32_t length = (int32_t)(g->A.ptr[i + 1] - from);
        const double own = g->weight ? g->weight[i] : 1.0;
        for (int32_t e = lane; e < length; e += lanes) {
            const int32_t j = g->A.col[from + e];
            const double a = g->A.val[from + e];
            const double value = own * (g->squares ? a * a : a);
            to->col[at + e] = g->group[j];
            to->val[at + e] = g->weight ? value * g->weight[j] : value;
        }
        at += length;
    }
}

/* Is entry `s` the first of its column? */
TCT_BOTH bool tct_amg_is_first(const int32_t *col, int32_t s)
{
    const int32_t own = col[s];
    bool first = own >= 0;
    int32_t t = 0;
    for (; t + 4 <= s && first; t += 4)
        first = (col[t] != own) & (col[t + 1] != own) & (col[t + 2] != own) &
                (col[t + 3] != own);
    for (; t < s && first; t++) first = col[t] != own;
    return first;
}

/* List the first entries of each column. */
TCT_BOTH void tct_amg_mark(int32_t length, int lane, int lanes,
                           const tct_amg_entries *e)
{
    for (int32_t s = lane; s < length; s += lanes)
        if (tct_amg_is_first(e->col, s))
            e->head[tct_amg_add_one(e->heads)] = (uint16_t)s;
}

/* The columns that precede that of head `s`. */
TCT_BOTH int32_t tct_amg_before(const tct_amg_entries *e, int32_t s,
                                bool sorted)
{
    const int32_t heads = *e->heads, col = e->col[s];
    int32_t before = 0;
    for (int32_t h = 0; sorted && h < heads; h++)
        before += e->col[e->head[h]] < col;
    for (int32_t h = 0; !sorted && h < heads; h++) before += e->head[h] < s;
    return before;
}

/* Writes row `n` of `out`, whose `ptr` is known. */
TCT_BOTH void tct_amg_emit(const tct_amg_work *g, int64_t n, int32_t length,
                           int lane, int lanes, const tct_amg_entries *e)
{
    const int32_t heads = *e->heads;
    for (int32_t h = lane; h < heads; h += lanes) {
        const int32_t s = e->head[h], col = e->col[s];
        const int64_t at = g->out.ptr[n] + tct_amg_before(e, s, g->sorted);
        double sum = e->val[s];
        for (int32_t t = s + 1; t < length; t++)
            if (e->col[t] == col) sum += e->val[t];
        g->out.col[at] = col;
        g->out.val[at] = sum;
    }
}

/* Offsets of the rows of the result, from `sum`. */
TCT_BOTH void tct_amg_task_starts(const tct_amg_work *g, int64_t n)
{
    g->out.ptr[n] = g->sum[n];
}

/* galerkin.c, complete, for row `n` of `out`; A is the level's matrix, `list`
 * its rows. A row with columns of other ranks is not isolated. */
TCT_BOTH void tct_amg_task_complete(const tct_amg_work *g, int64_t n)
{
    const tct_amg_csr *C = &g->out;
    const int64_t own = C->ptr[n];
    double sum = 0.0;
    if (C->ptr[n + 1] != own + 1 || C->col[own] != n) return;
    for (int32_t k = g->ptr[n]; k < g->ptr[n + 1]; k++) {
        const int32_t i = g->list[k];
        const double w = g->weight[i];
        if (g->beyond && g->beyond[i] != 0.0) return;
        sum += w * tct_amg_sum_row(&g->A, NULL, i).diagonal * w;
    }
    if (tct_is_rounding(C->val[own], sum)) C->val[own] = sum;
}

#endif
