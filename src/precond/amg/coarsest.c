/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/coarsest.c - the last matrix, inverted at set-up by all ranks
 * alike, so that a solve is one product. Each has its own rows of the inverse as
 * one block, and all of the right-hand side: its own elements first, then those
 * of the others as the exchange has brought them. */
#include "precond/amg/amg.h"
#include <math.h>
#include <string.h>

/* The whole of `m` times 2^-exponent, row by row, on every rank. */
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
    for (int64_t k = 0; k < n * n; k++) a[k] = ldexp(a[k], -*exponent);
    for (int64_t i = 0; i < n; i++)
        TRY(tct_reduce_f64(m->world, TCT_SUM, (size_t)n, a + i * n));
    return TACIT_OK;
}

/* Invert the symmetric positive definite `a` [n * n], of which the lower
 * triangle is read and written: Gauss and Jordan, a pivot after the other, which
 * of such a matrix are as good as any. False: a pivot is not positive. `v` [n]
 * is scratch. */
static bool invert(int64_t n, double *a, double *v)
{
    for (int64_t k = 0; k < n; k++) {
        const double pivot = a[k * n + k];
        for (int64_t j = 0; j < k; j++) v[j] = a[k * n + j];
        for (int64_t j = k; j < n; j++) v[j] = a[j * n + k];
        if (!(pivot > 0.0)) return false;
#pragma omp parallel for schedule(static, 16)
        for (int64_t i = 0; i < n; i++) {
            const double f = v[i] / pivot;
            double *row = a + i * n;
            if (f == 0.0) continue; /* it may still be sparse */
            for (int64_t j = 0; j <= i; j++) row[j] -= f * v[j];
        }
        for (int64_t j = 0; j < k; j++) a[k * n + j] = v[j] / pivot;
        for (int64_t j = k + 1; j < n; j++) a[j * n + k] = v[j] / pivot;
        a[k * n + k] = -1.0 / pivot;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) a[j * n + i] = a[i * n + j] *= -1.0;
    return true;
}

/* Each diagonal entry is enlarged by so little that what cg sees of it is an
 * iteration at most; a matrix that is singular, as the Laplacian of a graph is,
 * or is to rounding, then has an inverse that is positive definite, too. */
static const double ENLARGED = 1.0 + 1e-12;

static tacit_status invert_all(int64_t n, double *a, bool *positive)
{
    double *v = NULL;
    TRY(TCT_ALLOC(n, "the coarsest matrix", &v));
    for (int64_t i = 0; i < n; i++) a[i * n + i] *= ENLARGED;
    *positive = invert(n, a, v);
    tct_free(v);
    return TACIT_OK;
}

/* This rank's rows of the inverse `a`, its own columns first, as a block. */
static tacit_status store(tacit_queue *q, const tacit_matrix *m,
                          const double *a, tct_block **out)
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
    for (int64_t k = 0; status >= 0 && k < rows * n; k++) {
        const int64_t j = k % n, other = j - rows;
        const int64_t column = j < rows        ? first + j
                               : other < first ? other
                                               : other + rows;
        L.col[k] = (int32_t)j;
        L.val[k] = a[(first + k / n) * n + column];
    }
    if (status >= 0) status = format->create(&L, q->team, out);
    tct_local_free(&L);
    return status;
}

/* All that other ranks have of a vector. Collective. */
static tacit_status plan(tacit_queue *q, const tacit_matrix *m, tct_plan **out)
{
    const int64_t others = m->A.global_rows - m->A.rows;
    int64_t *ids = NULL;
    if (q->ranks == 1) return TACIT_OK;
    tacit_status status = TCT_ALLOC(others, "the coarsest matrix", &ids);
    for (int64_t k = 0; status >= 0 && k < others; k++)
        ids[k] = k < m->A.first ? k : k + m->A.rows;
    status = tct_agree(m->world, status);
    if (status >= 0)
        status = tct_plan_create(q, m->starts, ids, others, NULL, 1, out);
    tct_free(ids);
    return status;
}

static tacit_status build(tacit_queue *q, const tacit_matrix *m, double *a,
                          tct_amg_coarsest *C, bool *positive)
{
    const int64_t n = m->A.global_rows;
    TRY(gather(m, a, &C->exponent));
    TRY(tct_agree(m->world, invert_all(n, a, positive)));
    if (!*positive) return TACIT_OK; /* all ranks have the same numbers */
    tacit_status status = store(q, m, a, &C->block);
    if (status >= 0) status = tacit_queue_alloc(q, (size_t)n, &C->all);
    TRY(tct_agree(m->world, status));
    return plan(q, m, &C->plan);
}

tacit_status tct_amg_coarsest_create(tacit_queue *q, const tacit_matrix *m,
                                     tct_amg_coarsest *out, bool *positive)
{
    const int64_t n = m->A.global_rows;
    double *a = NULL;
    *out = (tct_amg_coarsest){.rows = m->A.rows};
    *positive = false;
    tacit_status status =
        tct_agree(m->world, TCT_ALLOC(n * n, "the coarsest matrix", &a));
    if (status >= 0) status = build(q, m, a, out, positive);
    tct_free(a);
    return status;
}

void tct_amg_coarsest_free(tacit_queue *q, tct_amg_coarsest *C)
{
    if (C->block) C->block->ops->destroy(C->block);
    tct_plan_destroy(&C->plan);
    tacit_queue_free(q, &C->all);
    C->block = NULL;
}

void tct_amg_coarsest_solve(const tct_amg_coarsest *C, tacit_queue *q,
                            const double *b, double *x)
{
    const size_t n = (size_t)C->rows;
    tct_exchange *e = C->plan ? &C->plan->base : NULL;
    if (e) {
        q_exchange_begin(q, e, tct_single(b));
        q_copy(q, n, b, C->all);
        q_exchange_end(q, e, 1);
        q_copy(q, (size_t)e->ghosts, e->ghost, C->all + n);
    }
    q_multiply(q, C->block, e ? C->all : b, x, NULL);
}
