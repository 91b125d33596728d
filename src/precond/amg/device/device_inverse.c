/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_inverse.c - the inverse of the coarsest matrix on a
 * device: a sequence of tasks, three for each block of rows. */
#include "precond/amg/device/device_setup.h"
#include <string.h>

static double *state_of(const tct_amg_work *g)
{
    return (double *)(void *)g->state;
}

static size_t room_for(int64_t n)
{
    const size_t rows = (size_t)n, few = TCT_ELIMINATED;
    return rows * rows + (2 * few + 1) * rows + few * few + TCT_AMG_STATE;
}

/* Divide `room`. */
static void divide(double *room, int64_t n, tct_amg_work *g)
{
    const size_t rows = (size_t)n, few = TCT_ELIMINATED;
    tct_amg_dense *D = &g->dense;
    double *const tail = room + rows * rows;
    D->n = n;
    D->a = room;
    D->V = tail;
    D->W = tail + few * rows;
    D->d = tail + 2 * few * rows;
    D->own = D->d + rows;
    g->state = (tct_amg_state *)(void *)(D->own + few * few);
}

static void eliminate(const tct_amg_kernels *K, tacit_queue *q, tct_amg_work *g)
{
    tct_amg_dense *D = &g->dense;
    const int64_t n = D->n;
    K->each(q, TCT_AMG_dense_diagonal, n, g);
    for (D->from = 0; D->from < n; D->from += TCT_ELIMINATED) {
        const int64_t left = n - D->from;
        D->block = left < TCT_ELIMINATED ? (int32_t)left : TCT_ELIMINATED;
        K->pivots(q, g);
        K->each(q, TCT_AMG_dense_rows, n, g);
        K->each(q, TCT_AMG_dense_subtract, n * n, g);
    }
    K->each(q, TCT_AMG_dense_mirror, n * n, g);
}

static tacit_status invert(const tct_amg_kernels *K, tacit_queue *q,
                           tct_amg_work *g, double *a, bool *positive)
{
    const size_t all = (size_t)(g->dense.n * g->dense.n);
    double words[TCT_AMG_STATE];
    tct_amg_state state;
    q_put(q, all, a, g->dense.a);
    q_fill(q, TCT_AMG_STATE, 0.0, state_of(g));
    eliminate(K, q, g);
    q_get(q, TCT_AMG_STATE, state_of(g), words);
    TRY(q_own_status(q));
    memcpy(&state, words, sizeof state);
    *positive = state.bad == 0;
    q_get(q, all, g->dense.a, a);
    return q_own_status(q);
}

tacit_status tct_amg_device_dense(tacit_queue *q, int64_t n, double *a,
                                  bool *positive)
{
    const tct_amg_kernels *K = tct_amg_kernels_of(q);
    tct_amg_work g = {.factor = 0.0};
    double *room = NULL;
    if (!K || K->dense == 0 || n < K->dense) return TACIT_UNSUPPORTED;
    if (tacit_queue_alloc(q, room_for(n), &room) < 0) return TACIT_UNSUPPORTED;
    divide(room, n, &g);
    const tacit_status status = invert(K, q, &g, a, positive);
    tacit_queue_free(q, &room);
    return status;
}
