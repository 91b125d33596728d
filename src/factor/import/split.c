/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/split.c - a binary tree above any elimination forest: the
 * heaviest root is opened, that is, goes into the tree node at the top and
 * leaves its children as roots, until those that are left fill two bins alike;
 * the same again within each bin. That one node of the tree is then a set of
 * panels anywhere in the forest does no harm: what lies above a panel lies in
 * its node or above.
 *
 * [SLV18] Sao, Li and Vuduc, "A communication-avoiding 3D LU factorization
 *         algorithm for sparse matrices", IPDPS 2018 (the idea; its rule of when to
 *         stop is another). */
#include "factor/import/import.h"
#include <stdlib.h>

static const char *const what = "the tree above a factor";

/* A root of what is still to be dealt out, and what it and all below it
 * weigh. */
typedef struct {
    double weight;
    int32_t front;
} root;

typedef struct {
    const double *own;    /* what each front weighs                        */
    double *all;          /* ... and with all below it                     */
    int32_t *head, *next; /* its children                                  */
    root *roots;          /* those of the bins, one behind the other       */
    root *trial;          /* a copy of some                                */
    int32_t *node;        /* where each comes                              */
} forest;

/* --- heaps of roots, the heaviest first ----------------------------------- */

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

/* The children of the heaviest in its place; which it was. */
static int32_t open_heaviest(const forest *F, root *S, int32_t *n)
{
    const int32_t f = S[0].front;
    S[0] = S[--*n];
    if (*n > 0) sink(S, *n, 0);
    for (int32_t c = F->head[f]; c >= 0; c = F->next[c])
        push(S, (*n)++, (root){F->all[c], c});
    return f;
}

/* Falling, and of the same weight as they are numbered: a heap, too. */
static int by_weight(const void *a, const void *b)
{
    const root *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->front > y->front) - (x->front < y->front);
}

/* --- two bins ------------------------------------------------------------- */

/* What the fuller bin comes to, `total` in all; each root goes into the other
 * one, the heaviest first. */
static double fuller(root *S, int32_t n, double total)
{
    double bin[2] = {0.0, 0.0};
    if (n == 0 || 2.0 * S[0].weight >= total) return n ? S[0].weight : 0.0;
    qsort(S, (size_t)n, sizeof *S, by_weight);
    for (int32_t k = 0; k < n; k++) bin[bin[1] < bin[0]] += S[k].weight;
    return bin[bin[0] < bin[1]];
}

/* How many to open so that what is at the top and the fuller bin are least.
 * Neither can come to less than half of what is not at the top, which ends the
 * search. */
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

/* Sort into the bins, the second one to the front of S; how many it has. */
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

/* The heap S [n] over tree node `node` and those below it, of so many leaves.
 * Behind it there is room for all that opening adds. */
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
