/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/split.c - a binary tree for any elimination forest. The
 * heaviest root is opened: it is assigned to the top node, and its children
 * become roots, until the roots fill two bins evenly; then each bin is split in
 * the same way. A tree node may have panels of different subtrees: ancestors of
 * a panel are always in its node or above.
 *
 * [SLV18] Sao, Li and Vuduc, "A communication-avoiding 3D LU factorization
 *         algorithm for sparse matrices", IPDPS 2018 (the idea; its rule of when to
 *         stop is another). */
#include "factor/import/import.h"
#include <stdlib.h>

static const char *const what = "the tree above a factor";

/* A root not yet assigned and the weight of its subtree. */
typedef struct {
    double weight;
    int32_t front;
} root;

typedef struct {
    const double *own;    /* weight of each front                          */
    double *all;          /* weight with descendants                       */
    int32_t *head, *next; /* children                                      */
    root *roots;          /* roots of the bins, consecutive                */
    root *trial;          /* a copy of some                                */
    int32_t *node;        /* tree node of each                             */
} forest;

/* --- heap of roots -------------------------------------------------------- */

static void sink(root *S, int32_t n, int32_t k)
{
    const root r = S[k];
    for (int32_t c; (c = 2 * k + 1) < n; k = c) {
        if (c + 1 < n && S[c + 1].weight > S[c].weight) c++;
        if (S[c].weight <= r.weight) break;
        S[k] = S[c];
    }
    S[k] = r;
}

static void push(root *S, int32_t n, root r)
{
    for (int32_t up; n > 0 && S[up = (n - 1) / 2].weight < r.weight; n = up)
        S[n] = S[up];
    S[n] = r;
}

/* Replace the heaviest root by its children; returns it. */
static int32_t open_heaviest(const forest *F, root *S, int32_t *n)
{
    const int32_t f = S[0].front;
    S[0] = S[--*n];
    if (*n > 0) sink(S, *n, 0);
    for (int32_t c = F->head[f]; c >= 0; c = F->next[c])
        push(S, (*n)++, (root){F->all[c], c});
    return f;
}

/* Descending weight, then number: also a heap. */
static int by_weight(const void *a, const void *b)
{
    const root *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->front > y->front) - (x->front < y->front);
}

/* --- two bins ------------------------------------------------------------- */

/* The weight of the fuller bin after greedy packing, heaviest first; `total` is
 * that of all roots. */
static double fuller(root *S, int32_t n, double total)
{
    double bin[2] = {0.0, 0.0};
    if (n == 0 || 2.0 * S[0].weight >= total) return n ? S[0].weight : 0.0;
    qsort(S, (size_t)n, sizeof *S, by_weight);
    for (int32_t k = 0; k < n; k++) bin[bin[1] < bin[0]] += S[k].weight;
    return bin[bin[0] < bin[1]];
}

/* The number of openings that minimizes top + fuller bin. The fuller bin has at
 * least half of what is not in the top, which bounds the search. */
static int32_t count_openings(const forest *F, root *S, int32_t n, double total)
{
    double above = 0.0, least = 0.0;
    int32_t at_least = 0;
    for (int32_t k = 0;; k++) {
        const double cost = above + fuller(S, n, total - above);
        if (k == 0 || cost < least) {
            least = cost;
            at_least = k;
        }
        if (n == 0 || (total + above) / 2.0 >= least) return at_least;
        above += F->own[open_heaviest(F, S, &n)];
    }
}

/* Pack into two bins, the second one first in S; returns its size. */
static int32_t pack(const forest *F, root *S, int32_t n)
{
    double bin[2] = {0.0, 0.0};
    int32_t count[2] = {0, 0};
    qsort(S, (size_t)n, sizeof *S, by_weight);
    for (int32_t k = 0; k < n; k++) {
        const int b = bin[1] < bin[0];
        bin[b] += S[k].weight;
        if (b == 1) S[count[1]] = S[k];
        else F->trial[count[0]] = S[k];
        count[b]++;
    }
    memcpy(S + count[1], F->trial, (size_t)count[0] * sizeof *S);
    return count[1];
}

/* Assign the heap S [n] to tree node `node`, with `leaves` leaves, and below. S
 * has room for all openings. */
static void split(const forest *F, root *S, int32_t n, int32_t node, int leaves)
{
    double total = 0.0;
    for (int32_t k = 0; k < n; k++) total += S[k].weight;
    if (leaves == 1)
        for (int32_t k = 0; k < n; k++) F->node[S[k].front] = node;
    if (leaves == 1 || n == 0) return;
    memcpy(F->trial, S, (size_t)n * sizeof *S);
    for (int32_t k = count_openings(F, F->trial, n, total); k > 0; k--)
        F->node[open_heaviest(F, S, &n)] = node;
    const int32_t second = pack(F, S, n);
    split(F, S + second, n - second, 2 * node + 1, leaves / 2);
    split(F, S, second, 2 * node + 2, leaves / 2);
}

/* --- the tree ------------------------------------------------------------- */

static tacit_status allocate(int32_t count, forest *F)
{
    TRY(TCT_ALLOC(count, what, &F->all));
    TRY(TCT_ALLOC(count, what, &F->head));
    TRY(TCT_ALLOC(count, what, &F->next));
    TRY(TCT_ALLOC(count, what, &F->roots));
    return TCT_ALLOC(count, what, &F->trial);
}

static void deal(forest *F, int32_t count, const int32_t *up, int leaves)
{
    int32_t n = 0;
    for (int32_t f = 0; f < count; f++) {
        F->all[f] = F->own[f];
        F->head[f] = F->node[f] = -1;
    }
    for (int32_t f = 0; f < count; f++) {
        if (up[f] < 0) {
            push(F->roots, n++, (root){F->all[f], f});
            continue;
        }
        F->all[up[f]] += F->all[f];
        F->next[f] = F->head[up[f]];
        F->head[up[f]] = f;
    }
    split(F, F->roots, n, 0, leaves);
    for (int32_t f = count - 1; f >= 0; f--)
        if (F->node[f] < 0) F->node[f] = F->node[up[f]];
}

tacit_status tct_forest_split(int32_t count, const int32_t *up,
                              const double *weight, int leaves, int32_t *node)
{
    forest F = {.own = weight, .node = node};
    const tacit_status status = allocate(count, &F);
    if (status >= 0) deal(&F, count, up, leaves);
    TCT_FREE(F.all, F.head, F.next, F.roots, F.trial);
    return status;
}
