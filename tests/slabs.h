/* SPDX-License-Identifier: BSD-3-Clause
 * tests/slabs.h - poisson3d:SIDE as a function: a cube of SIDE^3 points in
 * slabs along z, one per rank, with its own halo. The including test supplies
 * the product. */
#ifndef TESTS_SLABS_H
#define TESTS_SLABS_H
#include "gpu.h"

/* 12 divides well: the gallery's rows of 1, 2, 3 and 4 ranks are whole
 * planes */
enum { SIDE = 12, PLANE = SIDE * SIDE };

/* Where in a call it fails. */
enum { BEFORE, BETWEEN, AFTER, PLACES };

typedef struct {
    int rank, size;
    int64_t planes, n;
    tacit_exchange *halo;
    int below, above; /* 1: there is a rank */
    int calls;
    /* The call that fails, 0: none, -1: of the diagonal; where in it; and on
     * which rank, < 0: all. */
    int fail_at, fail_rank;
    int place;
    tacit_status status;
} slab;

static inline void open_slab(slab *s, tacit_queue *q)
{
    *s = (slab){.rank = tacit_world_rank(test_world()),
                .size = tacit_world_size(test_world())};
    s->planes =
        SIDE * (s->rank + 1) / s->size - (int64_t)SIDE * s->rank / s->size;
    s->n = s->planes * PLANE;
    s->below = s->rank > 0;
    s->above = s->rank < s->size - 1;
    tacit_channel channel[2];
    int32_t index[2 * PLANE];
    int count = 0;
    for (int side = 0; side < 2; side++) {
        if (!(side == 0 ? s->below : s->above)) continue;
        const int32_t from = side == 0 ? 0 : (int32_t)(s->n - PLANE);
        for (int32_t k = 0; k < PLANE; k++) index[count * PLANE + k] = from + k;
        channel[count].rank = s->rank + (side == 0 ? -1 : 1);
        channel[count++].count = PLANE;
    }
    OK(tacit_exchange_create(q, count, channel, index, count, channel, 1,
                             &s->halo));
}

static inline const double *ghosts_below(const slab *s, const double *ghosts)
{
    return s->below ? ghosts : NULL;
}
static inline const double *ghosts_above(const slab *s, const double *ghosts)
{
    return s->above ? ghosts + s->below * PLANE : NULL;
}

/* Is this the place where the call fails? */
static inline bool fails_here(const slab *s, int place)
{
    return s->fail_at == s->calls && (int)s->place == place &&
           (s->fail_rank < 0 || s->fail_rank == s->rank);
}

/* A solve with it. */
typedef struct {
    slab s;
    tacit_queue *q;
    tacit_operator *A;
    size_t n;
    double *b, *x;
    tacit_result result;
} problem;

static inline void close_problem(problem *p)
{
    tacit_queue_free(p->q, &p->b);
    tacit_queue_free(p->q, &p->x);
    tacit_operator_destroy(&p->A);
    tacit_exchange_destroy(&p->s.halo);
    tacit_queue_destroy(&p->q);
}

#endif
