/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/project.c - projection out of the null space.
 *
 * It is made twice, as one of Gram and Schmidt is, so that rounding leaves no
 * part along the null vectors. */
#include "operator/null/null_space.h"
#include <math.h>

int64_t tct_null_count(const tct_null_space *N)
{
    return N ? N->zero_rows + N->components + N->vectors : 0;
}

void tct_null_close(tct_null_space **N)
{
    if (!*N) return;
    TCT_FREE((*N)->label, (*N)->size, (*N)->sum, (*N)->z, (*N)->fixed,
             (*N)->scratch);
    tct_free(*N);
    *N = NULL;
}

/* Subtract the mean of each component; rows of zeros become 0. */
static tacit_status subtract_means(tct_null_space *N, tacit_world *w, double *v)
{
    if (!N->label) return TACIT_OK;
    for (int64_t c = 0; c < N->components; c++) N->sum[c] = 0.0;
    for (int64_t i = 0; i < N->rows; i++)
        if (N->label[i] >= 0) N->sum[N->label[i]] += v[i];
    TRY(tct_reduce_f64(w, TCT_SUM, (size_t)N->components, N->sum));
    for (int64_t i = 0; i < N->rows; i++) {
        const int64_t c = N->label[i];
        if (c >= 0) v[i] -= N->sum[c] / N->size[c];
        if (c < -1) v[i] = 0.0;
    }
    return TACIT_OK;
}

static tacit_status subtract_vectors(tct_null_space *N, tacit_world *w,
                                     double *v)
{
    double dot[TCT_NULL_VECTORS_MOST] = {0.0};
    if (N->vectors == 0) return TACIT_OK;
    for (int j = 0; j < N->vectors; j++)
        for (int64_t i = 0; i < N->rows; i++)
            dot[j] += N->z[(int64_t)j * N->rows + i] * v[i];
    TRY(tct_reduce_f64(w, TCT_SUM, (size_t)N->vectors, dot));
    for (int j = 0; j < N->vectors; j++)
        for (int64_t i = 0; i < N->rows; i++)
            v[i] -= dot[j] * N->z[(int64_t)j * N->rows + i];
    return TACIT_OK;
}

/* The largest magnitude, of all ranks; infinite where one is not finite. */
static tacit_status largest(tacit_world *w, int64_t n, const double *v,
                            double *out)
{
    *out = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) *out = HUGE_VAL;
        *out = fmax(*out, fabs(v[i]));
    }
    return tct_reduce_f64(w, TCT_MAX, 1, out);
}

/* Project `v`, of which `before` is a copy, and form the norms. */
static tacit_status project(tct_null_space *N, tacit_world *w, double most,
                            const double *before, double *v, tct_null_part *out)
{
    double sums[3] = {0.0, 0.0, 0.0};
    for (int time = 0; time < 2; time++) {
        TRY(subtract_means(N, w, v));
        TRY(subtract_vectors(N, w, v));
    }
    for (int64_t i = 0; i < N->rows; i++) {
        const double all = before[i] / most, rest = v[i] / most;
        sums[0] += all * all;
        sums[1] += (all - rest) * (all - rest);
        sums[2] += rest * rest;
    }
    TRY(tct_reduce_f64(w, TCT_SUM, 3, sums));
    if (sqrt(sums[2]) <= TCT_NULL_BOUND * sqrt(sums[0]))
        for (int64_t i = 0; i < N->rows; i++) v[i] = 0.0;
    *out = (tct_null_part){most * sqrt(sums[0]), most * sqrt(sums[1])};
    return TACIT_OK;
}

tacit_status tct_null_project_host(tct_null_space *N, tacit_world *w, double *v,
                                   tct_null_part *out)
{
    double most = 0.0;
    *out = (tct_null_part){NAN, NAN};
    TRY(largest(w, N->rows, v, &most));
    if (!isfinite(most)) return TACIT_OK;
    *out = (tct_null_part){0.0, 0.0};
    if (most == 0.0) return TACIT_OK;
    memcpy(N->scratch, v, (size_t)N->rows * sizeof *v);
    return project(N, w, most, N->scratch, v, out);
}

/* Between the order of A and that of the matrix, in `to`. */
static void permute(const tacit_operator *A, bool enters, const double *from,
                    double *to)
{
    const tct_order *o = A->order;
    for (int64_t k = 0; k < A->n; k++)
        if (enters) to[k] = from[o->old[k]];
        else to[o->old[k]] = from[k];
}

tacit_status tct_null_project(const tacit_operator *A, tacit_queue *q,
                              double *v, tct_null_part *out)
{
    tct_null_space *N = A->null;
    const size_t n = (size_t)A->n;
    double *mine = N->scratch + N->rows;
    q_get(q, n, v, A->order ? N->scratch : mine);
    if (A->order) permute(A, false, N->scratch, mine);
    TRY(tct_agree(A->world, q_own_status(q)));
    TRY(tct_null_project_host(N, A->world, mine, out));
    if (isnan(out->whole)) return TACIT_OK;
    if (A->order) permute(A, true, mine, N->scratch);
    q_put(q, n, A->order ? N->scratch : mine, v);
    return tct_agree(A->world, q_own_status(q));
}
