/* SPDX-License-Identifier: BSD-3-Clause
 * precond/same.c - is a matrix the one that an operator has? An operator keeps
 * no entries, but a product with random numbers says which row is another. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "precond/precond.h"
#include <float.h>
#include <math.h>

/* Part of a row's sum of |a x| that another order of summation may change. */
static const double HARMLESS = 1e-9;

tacit_status tct_precond_fits(const tacit_operator *A, const tacit_matrix *m)
{
    TRY(tct_matrix_require_entries(m));
    if (m->A.rows == A->n && m->nonzeros == A->info.nonzeros) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "preconditioner: the matrix is not that of the operator: %lld rows "
         "here and %lld entries in all, not %lld and %lld",
         (long long)m->A.rows, (long long)m->nonzeros, (long long)A->n,
         (long long)A->info.nonzeros);
}

/* Element `j` of x, the same on every rank. */
static double number_of(int64_t j)
{
    return 0.5 + tct_uniform(UINT64_C(1), (uint64_t)j);
}

typedef struct {
    const tacit_operator *A;
    const tacit_matrix *m;
    double *x, *y;               /* [n] on the host */
    double *x_device, *y_device; /* ... and on the device */
} product;

static tacit_status begin(product *p)
{
    tacit_queue *q = p->A->q;
    const size_t n = (size_t)p->A->n;
    TRY(tct_precond_fits(p->A, p->m));
    TRY(TCT_ALLOC(n, "a product", &p->x));
    TRY(TCT_ALLOC(n, "a product", &p->y));
    TRY(tacit_queue_alloc(q, n, &p->x_device));
    TRY(tacit_queue_alloc(q, n, &p->y_device));
    for (size_t i = 0; i < n; i++)
        p->x[i] = number_of(p->m->A.first + (int64_t)i);
    q_put(q, n, p->x, p->x_device);
    return q_own_status(q);
}

/* Does element `i` of y match the matrix? */
static bool is_same(const product *p, int64_t i)
{
    const tct_csr *A = &p->m->A;
    double sum = 0.0, size = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const int64_t j = tct_csr_col(A, k), own = j - A->first;
        const double ax =
            A->val[k] * (own >= 0 && own < A->rows ? p->x[own] : number_of(j));
        sum += ax;
        size += fabs(ax);
    }
    return p->y[i] == sum || fabs(p->y[i] - sum) <= HARMLESS * size + DBL_MIN;
}

/* The first of rows [from, to) that is another one, or INT64_MAX. */
static int64_t first_other(const void *of, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        if (!is_same(of, i)) return i;
    return INT64_MAX;
}

static tacit_status compare(const product *p)
{
    const int64_t bad =
        tct_parallel_min(p->m->A.rows, TCT_SHORT, first_other, p);
    if (bad == INT64_MAX) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "preconditioner: row %lld of the matrix is not what the operator has: "
         "give it the matrix first, by tacit_operator_update",
         (long long)tct_original(p->m, bad) + 1);
}

static tacit_status multiply(product *p)
{
    tacit_world *w = p->A->world;
    TRY(tct_agree(w, begin(p)));
    tacit_status status = tacit_operator_apply(p->A, p->x_device, p->y_device);
    q_get(p->A->q, (size_t)p->A->n, p->y_device, p->y);
    if (status >= 0) status = q_own_status(p->A->q);
    if (status >= 0) status = compare(p);
    return tct_agree(w, status);
}

tacit_status tct_precond_same(const tacit_operator *A, const tacit_matrix *m)
{
    product p = {.A = A, .m = m};
    const tacit_status status = multiply(&p);
    tacit_queue_free(A->q, &p.x_device);
    tacit_queue_free(A->q, &p.y_device);
    TCT_FREE(p.x, p.y);
    return status;
}
