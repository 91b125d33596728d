/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/group.c - the processes of a column or a row of blocks. */
#include "trisolve/grid/plan.h"

tacit_status tct_group_open(const tct_grid *g, tct_group *t)
{
    const int most = g->px * g->py;
    *t = (tct_group){.flat = g->flat};
    TRY(TCT_ALLOC(most, "a group of processes", &t->member));
    TRY(TCT_ALLOC(most, "a group of processes", &t->seen));
    for (int k = 0; k < most; k++) t->seen[k] = 0;
    return TACIT_OK;
}

void tct_group_close(tct_group *t)
{
    TCT_FREE(t->member, t->seen);
}

static void begin(tct_group *t, int owner)
{
    t->round++;
    t->seen[owner] = t->round;
    t->member[0] = owner;
    t->count = 1;
}

static void add(tct_group *t, int process)
{
    if (t->seen[process] == t->round) return;
    t->seen[process] = t->round;
    t->member[t->count++] = process;
}

static void reverse(int *from, int *end)
{
    for (; from < end - 1; from++) {
        const int x = *from;
        *from = *--end;
        *end = x;
    }
}

/* Rotate all but the owner by K, so that the inner nodes of trees vary. */
static void rotate(tct_group *t, int32_t K)
{
    const int others = t->count - 1;
    if (others < 2) return;
    int *from = t->member + 1;
    const int by = K % others;
    reverse(from, from + by);
    reverse(from + by, from + others);
    reverse(from, from + others);
}

void tct_group_of_column(const tct_pattern *S, const tct_grid *g, int32_t K,
                         tct_group *t)
{
    begin(t, tct_panel_owner(S, g, K));
    for (int64_t b = S->start[K]; b < S->start[K + 1]; b++)
        add(t, tct_block_owner(S, g, S->row[b], K));
    rotate(t, K);
}

bool tct_group_of_row(const tct_pattern *S, const tct_grid *g, int32_t I,
                      const bool *has, tct_group *t)
{
    bool any = false;
    begin(t, tct_panel_owner(S, g, I));
    for (int64_t k = S->row_start[I]; k < S->row_start[I + 1]; k++) {
        const int32_t K = S->col[S->in_row[k]];
        if (!has[S->node[K]]) continue;
        any = true;
        add(t, tct_block_owner(S, g, I, K));
    }
    rotate(t, I);
    return any;
}

int tct_group_place(const tct_group *t, int process)
{
    if (t->seen[process] != t->round) return -1;
    int i = 0;
    while (t->member[i] != process) i++;
    return i;
}
