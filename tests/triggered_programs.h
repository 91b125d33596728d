/* SPDX-License-Identifier: BSD-3-Clause
 * tests/triggered_programs.h - random programs of pairs of ends in queues of the
 * ranks, of which those are legal that end with MPI's requests, even if no send
 * is buffered. */
#ifndef TESTS_TRIGGERED_PROGRAMS_H
#define TESTS_TRIGGERED_PROGRAMS_H
#include "triggered_rig.h"

enum {
    QUEUES = 2,
    RANKS = 4,
    PAIRS = 6,
    USES = 3,
    SIDES = 2, /* a send, a receive */
    OPS = 2 * SIDES * PAIRS * USES,
    LARGE = 9000 /* beyond eager slots */
};

typedef struct {
    int rank[SIDES], queue[SIDES];
    bool synchronous;
    int64_t bytes;
} pair_of_ends;

typedef struct { /* an operation of a queue */
    int pair, side;
    bool waits;
} op;

typedef struct {
    int n;
    op op[OPS];
} list;

typedef struct {
    int ranks, pairs, uses;
    pair_of_ends pair[PAIRS];
    list list[RANKS][QUEUES];
} program;

/* --- making --------------------------------------------------------------- */

static uint64_t draw(uint64_t *seed, int most)
{
    *seed = tct_mix(*seed);
    return *seed % (uint64_t)most;
}

/* The order of a queue's operations: of each end start, wait, start, ... */
static void order(program *p, int rank, int queue, uint64_t *seed)
{
    list *l = &p->list[rank][queue];
    int done[PAIRS][SIDES] = {{0}};
    for (int left = 1; left > 0;) {
        left = 0;
        for (int k = 0; k < p->pairs; k++)
            for (int s = 0; s < SIDES; s++) {
                const pair_of_ends *e = &p->pair[k];
                if (e->rank[s] != rank || e->queue[s] != queue ||
                    done[k][s] == 2 * p->uses)
                    continue;
                left++;
                if (draw(seed, 3) > 0) continue;
                l->op[l->n++] = (op){k, s, done[k][s]++ % 2 == 1};
            }
    }
}

static void make(program *p, int ranks, uint64_t *seed)
{
    static const int64_t sizes[] = {0, 1, 13, 1000, LARGE, LARGE};
    memset(p, 0, sizeof *p);
    p->ranks = ranks;
    p->pairs = 1 + (int)draw(seed, PAIRS);
    p->uses = 1 + (int)draw(seed, USES);
    for (int k = 0; k < p->pairs; k++) {
        pair_of_ends *e = &p->pair[k];
        for (int s = 0; s < SIDES; s++) {
            e->rank[s] = (int)draw(seed, ranks);
            e->queue[s] = (int)draw(seed, QUEUES);
        }
        e->synchronous = draw(seed, 4) == 0;
        e->bytes = sizes[draw(seed, 6)];
    }
    for (int r = 0; r < ranks; r++)
        for (int q = 0; q < QUEUES; q++) order(p, r, q, seed);
}

/* Does it end, if each message is taken over when both ends have started? */
static bool is_legal(const program *p)
{
    int at[RANKS][QUEUES] = {{0}}, started[PAIRS][SIDES] = {{0}};
    bool moved = true, ended = true;
    while (moved) {
        moved = false;
        ended = true;
        for (int r = 0; r < p->ranks; r++)
            for (int q = 0; q < QUEUES; q++) {
                const list *l = &p->list[r][q];
                if (at[r][q] == l->n) continue;
                ended = false;
                const op *o = &l->op[at[r][q]];
                const int mine = started[o->pair][o->side];
                if (o->waits && started[o->pair][1 - o->side] < mine) continue;
                if (!o->waits) started[o->pair][o->side]++;
                at[r][q]++;
                moved = true;
            }
    }
    return ended;
}

/* Is operation `i` a start whose wait is the next one? */
static bool exchanges(const list *l, int i)
{
    const op *o = &l->op[i];
    return !o->waits && i + 1 < l->n && o[1].waits && o[1].pair == o->pair &&
           o[1].side == o->side;
}

/* The next legal program; returns how many were drawn that are not. */
static int make_legal(program *p, int ranks, uint64_t *seed)
{
    int refused = 0;
    for (make(p, ranks, seed); !is_legal(p); make(p, ranks, seed)) refused++;
    return refused;
}

#endif
