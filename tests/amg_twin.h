/* SPDX-License-Identifier: BSD-3-Clause
 * tests/amg_twin.h - the tasks of set-up on a device
 * (precond/amg/device/setup_tasks.h), run on the host by one thread in a random
 * order. */
#ifndef TESTS_AMG_TWIN_H
#define TESTS_AMG_TWIN_H
#include "gpu.h"
#include "mpi_main.h"
#include "operator/layout/cells.h"
#include "precond/amg/device/device_setup.h"
#include <stdlib.h>

/* Numbers below `n`, each once, from one that is the k-th of a walk. */
static inline int64_t twin_order(int64_t n, int64_t k)
{
    static const int64_t strides[] = {7919, 1, 104729};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        if (n % strides[i] != 0 && strides[i] != 1)
            return (k + 1) * strides[i] % n;
    return n - 1 - k;
}

/* Jumps as if all threads had read before the first of them wrote, which is
 * when they get least far along a path. */
static inline void twin_jump(int64_t n, const tct_amg_work *g)
{
    const size_t bytes = (size_t)g->A.rows * sizeof *g->link;
    tct_amg_work before = *g;
    before.link = malloc(bytes + 1);
    assert_non_null(before.link);
    memcpy(before.link, g->link, bytes);
    for (int64_t k = 0; k < n; k++) {
        const int32_t i = tct_amg_row_at(g, k);
        if (i < 0) continue;
        const uint32_t was = before.link[i];
        tct_amg_task_jump(&before, k);
        g->link[i] = before.link[i];
        before.link[i] = was;
    }
    free(before.link);
}

static inline void twin_each(tacit_queue *q, tct_amg_task task, int64_t n,
                             const tct_amg_work *g)
{
    (void)q;
    if (task == TCT_AMG_jump) {
        twin_jump(n, g);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = twin_order(n, k);
        switch (task) {
#define X(name) \
    case TCT_AMG_##name: tct_amg_task_##name(g, i); break;
            TCT_AMG_TASKS(X)
#undef X
        }
    }
}

static inline void twin_rounds(tacit_queue *q, int64_t most,
                               const tct_amg_work *g)
{
    tct_amg_work w = *g;
    const tct_amg_state *s = g->state;
    for (; most > 0 && !s->done; most--) {
        const int64_t n = s->listed ? (int64_t)s->count : w.A.rows;
        int32_t *const open = w.open;
        twin_each(q, TCT_AMG_look, n, &w);
        twin_each(q, TCT_AMG_link, n, &w);
        for (w.step = 0; w.step < TCT_AMG_JUMPS; w.step++)
            if (w.step == 0 || s->far[w.step])
                twin_each(q, TCT_AMG_jump, n, &w);
        twin_each(q, TCT_AMG_pair, n, &w);
        twin_each(q, TCT_AMG_keep, n, &w);
        twin_each(q, TCT_AMG_decide, 1, &w);
        w.open = w.other;
        w.other = open;
    }
}

static inline void twin_sum_up(tacit_queue *q, int64_t n, const tct_amg_work *g)
{
    int64_t sum = 0;
    (void)q;
    for (int64_t k = 0; k < n; k++) {
        g->sum[k] = sum;
        sum += g->count[k];
    }
    g->sum[n] = sum;
    g->state->total = (uint64_t)sum;
}

/* By as many threads as are of no power of two, one after the other. */
static inline void twin_merge(tacit_queue *q, bool write, const tct_amg_work *g)
{
    enum { LANES = 5 };
    static int32_t col[TCT_AMG_LONG];
    static double val[TCT_AMG_LONG];
    static uint16_t head[TCT_AMG_LONG];
    int32_t heads;
    const tct_amg_entries e = {col, val, head, &heads};
    (void)q;
    for (int64_t n = 0; n < g->coarse; n++) {
        heads = 0;
        for (int l = LANES; l-- > 0;) tct_amg_gather(g, n, l, LANES, &e);
        for (int l = 0; l < LANES; l++)
            tct_amg_mark(g->length[n], l, LANES, &e);
        if (!write) g->count[n] = heads;
        for (int l = LANES; write && l-- > 0;)
            tct_amg_emit(g, n, g->length[n], l, LANES, &e);
    }
}

/* Add the staged entries to a column. */
static inline void twin_add(const tct_amg_work *g, int32_t count,
                            const tct_amg_stage *e, tct_amg_column *s)
{
    for (int32_t k = 0; k < count; k++) {
        bool has;
        const double part = tct_amg_column_part(g, k, e, s, &has);
        tct_amg_column_add(part, has, s);
    }
}

/* One column of one block of an aggregate's rows a lane. */
static inline void twin_columns(const tct_amg_work *g, int64_t n, int64_t base)
{
    enum { LANES = 5, PIECE = 7 };
    static double val[PIECE];
    static int32_t col[PIECE], place[PIECE];
    const tct_amg_stage e = {val, col, place};
    tct_amg_column s[LANES];
    for (int l = 0; l < LANES; l++) s[l] = tct_amg_column_open(g, n, base + l);
    for (int32_t m = g->ptr[n]; m < g->ptr[n + 1]; m++) {
        const int64_t i = g->list[m], end = g->A.ptr[i + 1];
        for (int64_t from = g->A.ptr[i]; from < end; from += PIECE) {
            const int32_t count =
                end - from < PIECE ? (int)(end - from) : PIECE;
            for (int l = LANES; l-- > 0;)
                tct_amg_stage_entries(g, n, from, count, l, LANES, &e);
            for (int l = 0; l < LANES; l++) twin_add(g, count, &e, &s[l]);
        }
        for (int l = 0; l < LANES; l++) tct_amg_column_row(g, i, &s[l]);
    }
    for (int l = 0; l < LANES; l++) tct_amg_column_close(g, n, &s[l]);
}

static inline void twin_multiply(tacit_queue *q, const tct_amg_work *g)
{
    enum { LANES = 5 };
    (void)q;
    for (int64_t n = 0; n < g->coarse; n++)
        for (int64_t at = 0;
             at < (g->blocks.ptr[n + 1] - g->blocks.ptr[n]) * g->k; at += LANES)
            twin_columns(g, n, at);
}

/* Lanes one after the other, the last first. */
static inline void twin_pivots(tacit_queue *q, const tct_amg_work *g)
{
    enum { LANES = TCT_AMG_PIVOT_LANES };
    double own[LANES], v[LANES];
    (void)q;
    if (g->state->bad) return;
    for (int l = LANES; l-- > 0;) tct_amg_pivots_open(g, l, own);
    for (int32_t k = 0; k < g->dense.block; k++) {
        const double pivot = tct_amg_pivots_next(g, k, own);
        g->state->bad = !(pivot > 0.0);
        if (g->state->bad) return;
        for (int l = LANES; l-- > 0;)
            v[l] = tct_amg_pivots_step(g, k, pivot, l, own);
        memcpy(own, v, sizeof own);
    }
    for (int l = LANES; l-- > 0;) tct_amg_pivots_close(g, l, own);
}

/* Slices of the matrix at hand, as a GPU would have them; NULL: there are
 * none. */
static const tct_gpu_arrays *twin_slices;

static inline bool twin_count(const tacit_operator *A, int32_t *count)
{
    (void)A;
    for (int64_t s = 0; twin_slices && s < twin_slices->slices; s++)
        for (int l = 0; l < GPU_LANES; l++)
            tct_cell_count(twin_slices, s, l, count);
    return twin_slices != NULL;
}

static inline void twin_read(const tacit_operator *A, const tct_amg_csr *out)
{
    (void)A;
    for (int64_t s = 0; twin_slices && s < twin_slices->slices; s++)
        for (int l = 0; l < GPU_LANES; l++)
            tct_cell_read(twin_slices, s, l, out->ptr, out->col, out->val);
}

/* Operators that one rank has stored; < 0: the host is to make them. */
static int twin_stored = -1;

/* An operator of this rank's rows and columns. */
static inline tacit_status twin_store(const tacit_operator *finest,
                                      const tct_amg_csr *A, int block,
                                      double norm, bool floats,
                                      tacit_operator **out)
{
    const int64_t n = A->rows;
    tacit_world *alone = NULL;
    tacit_matrix *m = NULL;
    (void)block;
    (void)norm;
    (void)floats;
    if (finest->world->size == 1 && twin_stored++ < 0) {
        twin_stored = -1;
        return TACIT_UNSUPPORTED;
    }
    int64_t *col = malloc((size_t)A->entries * sizeof *col + 1);
    assert_non_null(col);
    for (int64_t k = 0; k < A->entries; k++) col[k] = A->col[k];
    tacit_status status = tacit_world_self(&alone);
    if (status >= 0)
        status =
            tacit_matrix_from_rows(alone, n, 0, n, A->ptr, col, A->val, &m);
    if (status >= 0)
        status = tacit_operator_create(finest->q, m, "csr@none", out);
    if (status >= 0) (*out)->world = finest->world;
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&alone);
    free(col);
    return status;
}

static const tct_amg_kernels twin_kernels = {.small = 800,
                                             .each = twin_each,
                                             .sum_up = twin_sum_up,
                                             .merge = twin_merge,
                                             .multiply = twin_multiply,
                                             .pivots = twin_pivots,
                                             .count = twin_count,
                                             .read = twin_read,
                                             .store = twin_store,
                                             .piece = 1000,
                                             .rounds = twin_rounds,
                                             .together = 600};

/* Whichever allocation fails, there is an M of amg or none, and nothing is left
 * behind. */
static inline void expect_missed(const tacit_operator *A, const tacit_matrix *m)
{
    const size_t before = tct_memory_blocks();
    int met = 0, missed = 0;
    for (long k = 1; met < 30; k++) {
        tacit_operator *M = NULL;
        tct_memory_fail_at(k);
        const tacit_status status =
            tacit_precond_create_of(A, m, "amg", NULL, &M);
        tct_memory_fail_at(0);
        if (status < 0) EXPECT(TACIT_NO_MEMORY, status);
        assert_int_equal(M == NULL, status < 0);
        met = status < 0 ? 0 : met + 1;
        missed += status < 0;
        tacit_operator_destroy(&M);
        assert_int_equal(tct_memory_blocks(), before);
    }
    assert_true(missed > 10);
}

#endif
