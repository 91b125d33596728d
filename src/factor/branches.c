/* SPDX-License-Identifier: BSD-3-Clause
 * factor/branches.c - which panels a thread sweeps independently.
 *
 * Panels whose subtree exceeds a share of the total weight are above all
 * branches. The other subtrees between two of them are grouped: consecutive
 * subtrees up to that share make a branch. */
#include "factor/branches.h"
#include "base/base.h"
#include <stdlib.h>

static const char *const what = "the branches of a factor";

enum {
    SHARES = 32,       /* a branch is at most 1/32 of all                   */
    BESIDES = 32,      /* cost of a panel, in entries                       */
    SMALL = 1 << 17,   /* fewer entries: one thread                         */
    BRANCHES_LEAST = 2 /* minimum number of branches                        */
};

typedef struct {
    const tacit_factor_panels *P;
    tct_branches *B;
    int64_t *weight; /* [panels] of the subtree                          */
    int32_t *size;   /* [panels] panels in it                            */
    int32_t *from;   /* [panels] its first panel                         */
    int32_t *mark;   /* [rows] position of a row above the branch */
    int64_t share;
} maker;

static int64_t height_of(const tacit_factor_panels *P, int32_t K)
{
    return P->row_start[K + 1] - P->row_start[K];
}
static int64_t width_of(const tacit_factor_panels *P, int32_t K)
{
    return P->first[K + 1] - P->first[K];
}

/* --- subtrees ------------------------------------------------------------- */

static void weigh(const maker *m)
{
    const tacit_factor_panels *P = m->P;
    for (int32_t K = 0; K < P->panels; K++) {
        m->weight[K] = width_of(P, K) * height_of(P, K) + BESIDES;
        m->size[K] = 1;
        m->from[K] = K;
    }
    for (int32_t K = 0; K < P->panels; K++) {
        const int32_t up = P->parent[K];
        if (up < 0) continue;
        m->weight[up] += m->weight[K];
        m->size[up] += m->size[K];
        if (m->from[K] < m->from[up]) m->from[up] = m->from[K];
    }
}

/* The subtree is light enough and its panels are contiguous. */
static bool fits_branch(const maker *m, int32_t K)
{
    return m->weight[K] <= m->share && m->size[K] == K - m->from[K] + 1;
}

/* Remove panels above the branches: their `m->size` becomes 0. Parents have
 * larger numbers. */
static void find_above(const maker *m)
{
    for (int32_t K = 0; K < m->P->panels; K++) {
        const int32_t up = m->P->parent[K];
        const bool above = m->size[K] == 0 || !fits_branch(m, K);
        if (!above) continue;
        m->size[K] = 0;
        if (up >= 0) m->size[up] = 0;
    }
}

/* Group consecutive subtrees. */
static void gather(const maker *m)
{
    const tacit_factor_panels *P = m->P;
    tct_branches *B = m->B;
    int64_t heavy = 0; /* weight of the last branch; 0: not adjacent */
    B->count = 0;
    for (int32_t K = 0; K < P->panels; K++) {
        const int32_t up = P->parent[K];
        if (m->size[K] == 0) heavy = 0;
        if (m->size[K] == 0 || (up >= 0 && m->size[up] != 0)) continue;
        const int32_t b = B->count - 1;
        if (heavy > 0 && heavy + m->weight[K] <= m->share) {
            B->end[b] = K + 1;
            heavy += m->weight[K];
            continue;
        }
        B->first[B->count] = m->from[K];
        B->end[B->count++] = K + 1;
        heavy = m->weight[K];
    }
}

/* --- rows above ----------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* List the distinct rows above branch b in `to` and mark them. */
static int64_t list_above(const maker *m, int32_t b, int32_t *to)
{
    const tacit_factor_panels *P = m->P;
    const int64_t end = P->first[m->B->end[b]];
    int64_t count = 0;
    for (int32_t K = m->B->first[b]; K < m->B->end[b]; K++)
        for (int64_t i = P->row_start[K + 1];
             i-- > P->row_start[K] && P->row[i] >= end;) {
            int32_t *mark = &m->mark[P->row[i]];
            if (*mark == b + 1) continue;
            *mark = b + 1;
            if (to) to[count] = P->row[i];
            count++;
        }
    return count;
}

/* Does each row of a branch belong to that branch alone? Always in a complete
 * factor, otherwise not necessarily. */
static bool are_disjoint(const maker *m)
{
    const tct_branches *B = m->B;
    int64_t i = 0;
    for (int32_t b = 0; b < B->count; b++) /* no mark is 0 */
        for (i = m->P->first[B->first[b]]; i < m->P->first[B->end[b]]; i++)
            if (m->mark[i] != 0) return false;
    return true;
}

static tacit_status list_rows(maker *m, bool *apart)
{
    const tacit_factor_panels *P = m->P;
    tct_branches *B = m->B;
    memset(m->mark, 0, (size_t)P->rows * sizeof *m->mark);
    B->start[0] = 0;
    for (int32_t b = 0; b < B->count; b++)
        B->start[b + 1] = B->start[b] + list_above(m, b, NULL);
    *apart = are_disjoint(m) && P->rows + B->start[B->count] < INT32_MAX;
    if (!*apart) return TACIT_OK;
    TRY(TCT_ALLOC(B->start[B->count], what, &B->row));
    memset(m->mark, 0, (size_t)P->rows * sizeof *m->mark);
    for (int32_t b = 0; b < B->count; b++) {
        int32_t *row = B->row + B->start[b];
        const int64_t count = list_above(m, b, row);
        qsort(row, (size_t)count, sizeof *row, by_number);
    }
    return TACIT_OK;
}

/* List the panels with rows above their branch; returns the total of their
 * rows. */
static int64_t count_listed(const maker *m)
{
    const tacit_factor_panels *P = m->P;
    const tct_branches *B = m->B;
    int64_t count = 0;
    for (int32_t K = 0; K < P->panels; K++) B->listed[K] = -1;
    for (int32_t b = 0; b < B->count; b++)
        for (int32_t K = B->first[b]; K < B->end[b]; K++) {
            const int64_t rows_below = height_of(P, K) - width_of(P, K);
            if (rows_below == 0 ||
                P->row[P->row_start[K + 1] - 1] < P->first[B->end[b]])
                continue;
            B->listed[K] = count;
            count += rows_below;
        }
    return count;
}

static void fill_lists(const maker *m)
{
    const tacit_factor_panels *P = m->P;
    const tct_branches *B = m->B;
    for (int32_t b = 0; b < B->count; b++) {
        const int64_t end = P->first[B->end[b]];
        for (int64_t i = B->start[b]; i < B->start[b + 1]; i++)
            m->mark[B->row[i]] = (int32_t)(P->rows + i);
        for (int32_t K = B->first[b]; K < B->end[b]; K++) {
            int32_t *to = B->list + B->listed[K];
            if (B->listed[K] < 0) continue;
            for (int64_t i = P->row_start[K] + width_of(P, K);
                 i < P->row_start[K + 1]; i++)
                *to++ = P->row[i] < end ? P->row[i] : m->mark[P->row[i]];
        }
    }
}

double tct_branches_predict(int64_t rows, int32_t panels, int64_t listed)
{
    return 8.0 * (double)listed + 40.0 * (double)panels + 4.0 * (double)rows;
}

/* --- creation ------------------------------------------------------------- */

static tacit_status find(maker *m)
{
    const tacit_factor_panels *P = m->P;
    int64_t all = 0;
    weigh(m);
    for (int32_t K = 0; K < P->panels; K++)
        if (P->parent[K] < 0) all += m->weight[K];
    m->share = all / SHARES;
    find_above(m);
    TRY(TCT_ALLOC(P->panels, what, &m->B->first));
    TRY(TCT_ALLOC(P->panels, what, &m->B->end));
    gather(m);
    return TACIT_OK;
}

static tacit_status fill(maker *m, bool *apart)
{
    tct_branches *B = m->B;
    TRY(TCT_ALLOC(B->count + 1, what, &B->start));
    TRY(list_rows(m, apart));
    if (!*apart) return TACIT_OK;
    TRY(TCT_ALLOC(m->P->panels, what, &B->listed));
    const int64_t listed = count_listed(m);
    TRY(TCT_ALLOC(listed, what, &B->list));
    fill_lists(m);
    B->bytes = 8.0 * (double)(m->P->panels + B->count + 1) +
               4.0 * (double)(listed + B->start[B->count]) +
               8.0 * (double)m->P->panels;
    return TACIT_OK;
}

static tacit_status make(maker *m, bool *apart)
{
    const tacit_factor_panels *P = m->P;
    TRY(TCT_ALLOC(P->panels, what, &m->weight));
    TRY(TCT_ALLOC(P->panels, what, &m->size));
    TRY(TCT_ALLOC(P->panels, what, &m->from));
    TRY(TCT_ALLOC(P->rows, what, &m->mark));
    TRY(find(m));
    return m->B->count < BRANCHES_LEAST ? TACIT_OK : fill(m, apart);
}

tacit_status tct_branches_create(const tacit_factor_panels *P,
                                 tct_branches *out)
{
    maker m = {.P = P, .B = out};
    bool apart = false;
    *out = (tct_branches){.count = 0};
    if (P->panels == 0 || P->value_start[P->panels] < SMALL) return TACIT_OK;
    const tacit_status status = make(&m, &apart);
    TCT_FREE(m.weight, m.size, m.from, m.mark);
    if (status < 0 || !apart) tct_branches_clear(out);
    return status;
}

void tct_branches_clear(tct_branches *B)
{
    TCT_FREE(B->first, B->end, B->start, B->row, B->listed, B->list);
    *B = (tct_branches){.count = 0};
}
