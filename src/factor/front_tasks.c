/* SPDX-License-Identifier: BSD-3-Clause
 * factor/front_tasks.c - the fronts of a factorization as tasks for threads:
 * subtrees of similar work, and the fronts above them. */
#include "factor/front_tasks.h"
#include <math.h>
#include <stdlib.h>

static const char *const what = "the values of a factor";

enum { TASKS_EACH = 8 }; /* per thread */

/* Children in reverse order of the postorder, as they leave a stack. */
static void list_children(const tct_numeric *N)
{
    for (int32_t f = 0; f < N->F->count; f++) N->child[f] = -1;
    for (int32_t k = 0; k < N->F->count; k++) {
        const int32_t f = N->F->postorder[k], up = N->F->parent[f];
        if (up < 0) continue;
        N->next[f] = N->child[up];
        N->child[up] = f;
    }
}

/* Sum flops and fronts over subtrees. */
static void sum_up(const tct_fronts *F, double *flops, int32_t *fronts)
{
    for (int32_t f = 0; f < F->count; f++) {
        flops[f] = tct_front_flops(F, f);
        fronts[f] = 1;
    }
    for (int32_t f = 0; f < F->count; f++)
        if (F->parent[f] >= 0) {
            flops[F->parent[f]] += flops[f];
            fronts[F->parent[f]] += fronts[f];
        }
}

/* Replace the largest subtree by its children's, until there are enough
 * tasks. */
static void open_largest(tct_numeric *N, const double *flops,
                         const int32_t *fronts)
{
    while (N->count < N->threads * TASKS_EACH) {
        tct_front_task *largest = &N->tasks[0];
        for (int i = 1; i < N->count; i++)
            if (N->tasks[i].flops > largest->flops) largest = &N->tasks[i];
        const int32_t root = N->F->postorder[largest->end - 1];
        int32_t c = N->child[root], end = largest->end - 1;
        if (c < 0) break;
        N->standing_of[root] = TCT_ABOVE_TASKS;
        *largest =
            (tct_front_task){end - fronts[c], end, flops[c], .failed = 0};
        while (end -= fronts[c], (c = N->next[c]) >= 0)
            N->tasks[N->count++] =
                (tct_front_task){end - fronts[c], end, flops[c], .failed = 0};
    }
}

static int by_flops(const void *a, const void *b)
{
    const tct_front_task *x = a, *y = b;
    return (x->flops < y->flops) - (x->flops > y->flops);
}

/* Predict the stack heights of a tct_front_task. */
static void predict_stacks(const tct_numeric *N, tct_front_task *t)
{
    const tct_fronts *F = N->F;
    int64_t now[2] = {0, 0};
    for (int32_t k = t->begin; k < t->end; k++) {
        const int32_t f = F->postorder[k], side = F->depth[f] & 1;
        if (N->standing_of[f] == TCT_IN_TASK)
            now[side] += tct_square_size(N, f);
        if (now[side] > t->stack[side]) t->stack[side] = now[side];
        for (int32_t c = N->child[f]; c >= 0; c = N->next[c])
            if (N->standing_of[c] == TCT_IN_TASK)
                now[1 - side] -= tct_square_size(N, c);
    }
}

tacit_status tct_front_tasks_make(tct_numeric *N)
{
    const tct_fronts *F = N->F;
    double *flops = NULL;
    int32_t *fronts = NULL;
    list_children(N);
    N->tasks[0] = (tct_front_task){.begin = 0, .end = F->count};
    N->count = 1;
    if (N->threads > 1) {
        TRY(TCT_ALLOC(F->count, what, &flops));
        const tacit_status status = TCT_ALLOC(F->count, what, &fronts);
        if (status >= 0) {
            sum_up(F, flops, fronts);
            N->count = 0;
            for (int32_t k = F->count; k > 0;
                 k -= fronts[F->postorder[k - 1]]) {
                const int32_t r = F->postorder[k - 1];
                N->tasks[N->count++] =
                    (tct_front_task){k - fronts[r], k, flops[r], .failed = 0};
            }
            open_largest(N, flops, fronts);
            qsort(N->tasks, (size_t)N->count, sizeof *N->tasks, by_flops);
            for (int i = 0; i < N->count; i++)
                N->standing_of[F->postorder[N->tasks[i].end - 1]] =
                    TCT_ROOT_OF_TASK;
        }
        TCT_FREE(flops, fronts);
        TRY(status);
    }
    for (int i = 0; i < N->count; i++) predict_stacks(N, &N->tasks[i]);
    return TACIT_OK;
}

/* Peak of the squares that are not on stacks: after all tasks, and above
 * them. */
static double predict_above(const tct_numeric *N)
{
    const tct_fronts *F = N->F;
    double now = 0.0, most = 0.0;
    for (int32_t f = 0; f < F->count; f++)
        if (N->standing_of[f] == TCT_ROOT_OF_TASK)
            now += (double)tct_square_size(N, f);
    for (int32_t k = 0; k < F->count; k++) {
        const int32_t f = F->postorder[k];
        if (N->standing_of[f] != TCT_ABOVE_TASKS) continue;
        now += (double)tct_square_size(N, f);
        most = fmax(most, now);
        for (int32_t c = N->child[f]; c >= 0; c = N->next[c])
            now -= (double)tct_square_size(N, c);
    }
    return fmax(most, now);
}

double tct_front_tasks_peak(const tct_numeric *N)
{
    const double places = (double)N->F->rows / 2.0; /* in units of values */
    double stacks = 0.0;
    for (int side = 0; side < 2; side++) {
        double most = 0.0;
        for (int i = 0; i < N->count; i++)
            most = fmax(most, (double)N->tasks[i].stack[side]);
        stacks += most;
    }
    return predict_above(N) +
           (double)N->threads * (stacks + places + (double)N->scaled);
}
