/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/coarsest_solve.c - the coarsest matrix is inverted at
 * set-up on every rank, so that a solve is one product. Each rank stores its
 * own rows of the inverse and gathers the right-hand side in the same order on
 * all ranks. So for a singular matrix the rounding error of the sum is the same
 * in all rows, that is, close to the null space. */
#include "device/isa.h"
#include "device/parallel.h"
#include "precond/amg/amg.h"
#include "precond/amg/cycle/pivot_block.h"
#include "precond/amg/device/device_setup.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ldexp, without a call where the factor is a double. */
static inline double times_power(double a, int exponent)
{
    if (abs(exponent) > 1000) return ldexp(a, exponent);
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double factor;
    memcpy(&factor, &bits, sizeof factor);
    return a * factor;
}

/* Gather 2^-exponent `m` on every rank, row by row. */
static tacit_status gather(const tacit_matrix *m, double *a, int *exponent)
{
    const tct_csr *A = &m->A;
    const int64_t n = A->global_rows;
    double most = 0.0;
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            a[(A->first + i) * n + tct_csr_col(A, k)] = A->val[k];
            most = fmax(most, fabs(A->val[k]));
        }
    TRY(tct_reduce_f64(m->world, TCT_MAX, 1, &most));
    (void)frexp(most, exponent);
    for (int64_t k = 0; k < n * n; k++)
        if (a[k] != 0.0) a[k] = times_power(a[k], -*exponent);
    for (int64_t i = 0; i < n; i++)
        TRY(tct_reduce_f64(m->world, TCT_SUM, (size_t)n, a + i * n));
    return TACIT_OK;
}

/* --- the inverse ---------------------------------------------------------- */

/* Inverts the symmetric `a` [n * n] in its lower triangle by block
 * Gauss-Jordan: with V the rows K of a, W = V(K)^-1 V replaces them, a - V' W
 * the other rows, and -V(K)^-1 the block (K, K); at the end a is -a^-1. No
 * pivoting is needed for an SPD matrix. */
enum {
    BLOCK = TCT_ELIMINATED,
    MANY = 256 /* rows that occupy several threads */
};

static tct_eliminate *eliminate_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return tct_eliminate_avx512;
    if (isa == TCT_ISA_AVX2) return tct_eliminate_avx2;
#endif
    return tct_eliminate_base;
}

/* Row i of a - V' W, up to the diagonal. Smaller blocks are padded with
 * zeros. */
static void subtract(tct_eliminate *eliminate, int64_t n, int64_t i,
                     const double *V, const double *W, double *row)
{
    double f[BLOCK];
    bool any = false; /* zero rows are skipped */
    for (int p = 0; p < BLOCK; p++) {
        f[p] = V[p * n + i];
        any = any || f[p] != 0.0;
    }
    if (any) eliminate(n, i + 1, f, W, row);
}

typedef struct {
    int64_t n;
    double *a, *V, *W;
} elimination;

/* Rows [from, to), and as many from the end: a long row and a short one
 * together have equal work. */
static void subtract_pairs(void *work, int64_t from, int64_t to)
{
    const elimination *e = work;
    tct_eliminate *const best = eliminate_best();
    for (int64_t i = from; i < to; i++) {
        const int64_t j = e->n - 1 - i;
        subtract(best, e->n, i, e->V, e->W, e->a + i * e->n);
        if (j > i) subtract(best, e->n, j, e->V, e->W, e->a + j * e->n);
    }
}

static int64_t least_for(int64_t n, int64_t least)
{
    return n > MANY ? least : n;
}

/* Eliminate rows [k, k + b), whose diagonal was `d`. */
static bool eliminate(int64_t n, int64_t k, int64_t b, const double *d,
                      double *a, double *V, double *W)
{
    double own[BLOCK * BLOCK];
    for (int64_t p = 0; p < b; p++)
        for (int64_t j = 0; j < n; j++)
            V[p * n + j] = *tct_lower_at(a, n, k + p, j);
    for (int64_t p = 0; p < b; p++)
        for (int64_t r = 0; r < b; r++) own[p * b + r] = V[p * n + k + r];
    if (!tct_invert_block(b, d, own)) return false;
    memset(V + b * n, 0, (size_t)((BLOCK - b) * n) * sizeof *V);
    memset(W, 0, (size_t)(BLOCK * n) * sizeof *W);
    for (int64_t p = 0; p < b; p++)
        for (int64_t r = 0; r < b; r++)
            for (int64_t j = 0; j < n; j++)
                W[p * n + j] -= *tct_lower_at(own, b, p, r) * V[r * n + j];
    tct_parallel((n + 1) / 2, least_for(n, 8), subtract_pairs,
                 &(elimination){n, a, V, W});
    for (int64_t p = 0; p < b; p++) {
        for (int64_t j = 0; j < n; j++)
            *tct_lower_at(a, n, k + p, j) = W[p * n + j];
        for (int64_t r = 0; r <= p; r++)
            a[(k + p) * n + k + r] = own[p * b + r];
    }
    return true;
}

enum { TILE = 32 };

static void turn_over_tiles(void *work, int64_t from, int64_t to)
{
    const elimination *e = work;
    const int64_t n = e->n;
    double *const a = e->a;
    for (int64_t t = from * TILE; t < to * TILE && t < n; t += TILE)
        for (int64_t s = 0; s <= t; s += TILE)
            for (int64_t i = t; i < n && i < t + TILE; i++)
                for (int64_t j = s; j <= i && j < s + TILE; j++) {
                    const double minus = -a[i * n + j];
                    a[i * n + j] = a[j * n + i] = minus;
                }
}

/* Negate the lower triangle and mirror it, tile by tile. */
static void turn_over(int64_t n, double *a)
{
    tct_parallel((n + TILE - 1) / TILE, least_for(n, 1), turn_over_tiles,
                 &(elimination){.n = n, .a = a});
}

/* Inverts a positive semidefinite `a`; false: a pivot is not positive.
 * `scratch`
 * [(2 BLOCK + 1) n]. */
static bool invert(int64_t n, double *a, double *scratch)
{
    double *const V = scratch, *const W = V + BLOCK * n,
                  *const d = W + BLOCK * n;
    for (int64_t i = 0; i < n; i++) d[i] = a[i * n + i];
    for (int64_t k = 0; k < n; k += BLOCK)
        if (!eliminate(n, k, n - k < BLOCK ? n - k : BLOCK, d + k, a, V, W))
            return false;
    turn_over(n, a);
    return true;
}

/* On the device, if it can; each of several ranks has the host's inverse, since
 * their devices may differ. */
static tacit_status invert_all(tacit_queue *q, int64_t n, double *a,
                               bool *positive)
{
    double *scratch = NULL;
    if (q->ranks == 1) {
        const tacit_status there = tct_amg_device_dense(q, n, a, positive);
        if (there != TACIT_UNSUPPORTED) return there;
    }
    TRY(TCT_ALLOC((2 * BLOCK + 1) * n, "the coarsest matrix", &scratch));
    *positive = invert(n, a, scratch);
    tct_free(scratch);
    return TACIT_OK;
}

/* The largest row sum of |a|. */
static double norm_of(int64_t n, const double *a)
{
    double most = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < n; j++) sum += fabs(a[i * n + j]);
        most = fmax(most, sum);
    }
    return most;
}

/* Round the inverse `a` of a matrix of this `norm` to floats if the error is
 * small compared to its least eigenvalue, at least 1 / norm. */
static int round_inverse(int64_t n, double *a, double norm)
{
    const double harmless = 1e-2, rounded = 0x1p-24;
    if (rounded * norm_of(n, a) * norm > harmless) return 64;
    for (int64_t k = 0; k < n * n; k++) a[k] = tct_rounded(a[k]);
    return 32;
}

/* Store this rank's rows of the inverse `a` as a block. */
static tacit_status store(tacit_queue *q, const tacit_matrix *m,
                          const double *a, const int32_t *old, tct_block **out)
{
    const bool host = q->device->kind == TCT_KIND_HOST;
    const tct_format *format =
        tct_format_find(q->device->name, host ? "sell" : "csr");
    const int64_t n = m->A.global_rows, rows = m->A.rows, first = m->A.first;
    tct_local L = {.rows = rows, .cols = n};
    tacit_status status = TCT_ALLOC(rows + 1, "the coarsest matrix", &L.ptr);
    if (status >= 0)
        status = TCT_ALLOC(rows * n, "the coarsest matrix", &L.col);
    if (status >= 0)
        status = TCT_ALLOC(rows * n, "the coarsest matrix", &L.val);
    for (int64_t i = 0; status >= 0 && i <= rows; i++) L.ptr[i] = i * n;
    for (int64_t i = 0; status >= 0 && i < rows; i++) {
        const double *row = a + (first + (old ? old[i] : i)) * n;
        for (int64_t j = 0; j < n; j++) {
            const bool own = j >= first && j < first + rows;
            L.col[i * n + j] = (int32_t)j;
            L.val[i * n + j] = row[old && own ? first + old[j - first] : j];
        }
    }
    if (status >= 0) status = format->create(&L, q->team, out);
    tct_local_free(&L);
    return status;
}

/* Plan the gathering of `columns` vectors. Collective. */
static tacit_status plan(tacit_queue *q, const int64_t *starts,
                         const tct_order *order, int columns, tct_plan **out)
{
    const int64_t first = starts[q->rank], rows = starts[q->rank + 1] - first;
    const int64_t others = rows > 0 ? starts[q->ranks] - rows : 0;
    int64_t *ids = NULL;
    if (q->ranks == 1) return TACIT_OK;
    tacit_status status = TCT_ALLOC(others, "the coarsest matrix", &ids);
    for (int64_t k = 0; status >= 0 && k < others; k++)
        ids[k] = k < first ? k : k + rows;
    status = tct_agree(q->world, status);
    if (status >= 0)
        status = tct_plan_create(q, starts, ids, others,
                                 order ? order->now : NULL, columns, out);
    tct_free(ids);
    return status;
}

static tacit_status copy_starts(tacit_queue *q, const tacit_matrix *m,
                                int64_t **out)
{
    const size_t count = (size_t)q->ranks + 1;
    TRY(TCT_ALLOC(count, "the coarsest matrix", out));
    memcpy(*out, m->starts, count * sizeof **out);
    return TACIT_OK;
}

/* An only level is the whole of the preconditioner, and its inverse that of the
 * matrix as the operator has it. */
static void scale_to(const tacit_operator *A, int64_t n, double *a,
                     tct_amg_coarsest *C)
{
    const int by = A->exponent - C->exponent;
    for (int64_t k = 0; k < n * n; k++) a[k] = times_power(a[k], by);
    C->exponent = A->exponent;
}

static tacit_status build(tacit_queue *q, const tacit_matrix *m, double *a,
                          const tacit_operator *finest,
                          tct_amg_precision precision, tct_amg_coarsest *C,
                          bool *positive)
{
    const int64_t n = m->A.global_rows;
    TRY(gather(m, a, &C->exponent));
    const double norm = norm_of(n, a);
    TRY(tct_agree(m->world, invert_all(q, n, a, positive)));
    if (!*positive) return TACIT_OK; /* the same on all ranks */
    if (finest) scale_to(finest, n, a, C);
    if (precision != TCT_DOUBLES) C->bits = round_inverse(n, a, norm);
    tacit_status status =
        store(q, m, a, C->order ? C->order->old : NULL, &C->block);
    if (status >= 0) status = tacit_queue_alloc(q, (size_t)n, &C->all);
    if (status >= 0) status = copy_starts(q, m, &C->starts);
    TRY(tct_agree(m->world, status));
    return plan(q, C->starts, C->order, 1, &C->plan);
}

tacit_status tct_amg_coarsest_create(tacit_queue *q, const tacit_matrix *m,
                                     const tacit_operator *finest,
                                     tct_amg_precision precision,
                                     tct_amg_coarsest *out, bool *positive)
{
    const int64_t n = m->A.global_rows;
    double *a = NULL;
    *out = (tct_amg_coarsest){.rows = m->A.rows, .bits = 64};
    if (finest) out->order = finest->order;
    *positive = false;
    tacit_status status =
        tct_agree(m->world, TCT_ALLOC(n * n, "the coarsest matrix", &a));
    if (status >= 0) status = build(q, m, a, finest, precision, out, positive);
    tct_free(a);
    return status;
}

tacit_status tct_amg_coarsest_visit(tacit_queue *q, const tacit_matrix *m,
                                    const tct_amg_replicated *alone,
                                    tct_amg_coarsest *out)
{
    const tct_amg_level *first = alone->M->level;
    *out = (tct_amg_coarsest){.rows = m->A.rows,
                              .bits = 64,
                              .exponent = first->exponent,
                              .block = alone->M->fused,
                              .all = first->b,
                              .visited = first->x};
    TRY(tct_agree(m->world, copy_starts(q, m, &out->starts)));
    return plan(q, out->starts, NULL, 1, &out->plan);
}

void tct_amg_coarsest_free(tacit_queue *q, tct_amg_coarsest *C)
{
    if (C->block && !C->visited) C->block->ops->destroy(C->block);
    tct_plan_destroy(&C->plan);
    if (!C->visited) tacit_queue_free(q, &C->all);
    tct_free(C->starts);
    C->starts = NULL;
    C->block = NULL;
}

tacit_status tct_amg_coarsest_columns(tct_amg_coarsest *C, tacit_queue *q,
                                      int columns)
{
    double *all = NULL;
    tct_plan *wide = NULL;
    if (!C->plan) return TACIT_OK;
    const size_t n = (size_t)C->starts[q->ranks];
    tacit_status status =
        tct_agree(q->world, tacit_queue_alloc(q, (size_t)columns * n, &all));
    if (status >= 0) status = plan(q, C->starts, C->order, columns, &wide);
    if (status < 0) {
        tacit_queue_free(q, &all);
        return status;
    }
    tct_plan_destroy(&C->plan);
    tacit_queue_free(q, &C->all);
    C->plan = wide;
    C->all = all;
    return TACIT_OK;
}

/* The gathered right-hand sides, which have a smaller stride than a level's. */
static tct_panel gathered(const tct_amg_coarsest *C, tacit_queue *q,
                          tct_panel b)
{
    tct_exchange *e = &C->plan->base;
    const size_t n = (size_t)C->rows, ghosts = (size_t)e->ghosts;
    const size_t before = ghosts > 0 ? (size_t)C->starts[q->rank] : 0;
    const tct_panel all =
        tct_panel_of(C->all, (ptrdiff_t)(n + ghosts), b.columns);
    const tct_system_batch batch = q->batch;
    q->batch = (tct_system_batch){0};
    q_exchange_begin(q, e, b);
    for (int j = 0; j < b.columns; j++)
        q_copy(q, n, tct_column(&b, j), tct_column(&all, j) + before);
    q_exchange_end(q, e, b.columns);
    for (int j = 0; j < b.columns; j++) {
        const double *ghost = e->ghost + (size_t)j * ghosts;
        double *to = tct_column(&all, j);
        q_copy(q, before, ghost, to);
        q_copy(q, ghosts - before, ghost + before, to + before + n);
    }
    q->batch = batch;
    return all;
}

void tct_amg_coarsest_solve(const tct_amg_coarsest *C, tacit_queue *q,
                            const double *b, double *x)
{
    tct_panel all = q_panel(q, b);
    if (C->plan) all = gathered(C, q, all);
    if (C->visited) {
        q_multiply(q, C->block, all.at, C->visited, NULL);
        q_copy(q, (size_t)C->rows, C->visited + C->starts[q->rank], x);
        return;
    }
    if (all.columns > 1) q_multiply_block(q, C->block, all, q_panel(q, x));
    else q_multiply(q, C->block, all.at, x, NULL);
}
