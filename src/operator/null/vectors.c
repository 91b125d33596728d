/* SPDX-License-Identifier: BSD-3-Clause
 * operator/null/vectors.c - null vectors that are given: checked, made
 * orthonormal, kept; and tacit_operator_set_null_space. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "matrix/matrix.h"
#include "operator/null/null_space.h"
#include <math.h>
#include <stdio.h>

/* Less than this of a vector is left: it depends on the others. */
static const double DEPENDENT = 1e-10;
static const char *const what = "null vectors";

/* --- check ---------------------------------------------------------------- */

typedef struct {
    const tacit_operator *A;
    const tacit_matrix *m; /* with entries, or NULL                     */
    double *image, *sum;   /* [n] A z, |A| |z|, in the matrix's order   */
    double *x, *y;         /* [n] on the device                         */
    int64_t away;          /* entries in columns of other ranks         */
    int64_t *col;          /* [away]                                    */
    double *value;         /* [away] their z                            */
} checks;

static bool is_away(const tct_csr *A, int64_t k)
{
    const int64_t j = tct_csr_col(A, k) - A->first;
    return j < 0 || j >= A->rows;
}

static tacit_status list_away(checks *c)
{
    const tct_csr *A = &c->m->A;
    for (int64_t k = 0; k < tct_csr_nonzeros(A); k++) c->away += is_away(A, k);
    TRY(TCT_ALLOC(c->away, what, &c->col));
    TRY(TCT_ALLOC(c->away, what, &c->value));
    for (int64_t k = 0, at = 0; k < tct_csr_nonzeros(A); k++)
        if (is_away(A, k)) c->col[at++] = tct_csr_col(A, k);
    return TACIT_OK;
}

static tacit_status open_checks(checks *c)
{
    const size_t n = (size_t)c->A->n;
    TRY(TCT_ALLOC(n, what, &c->image));
    TRY(TCT_ALLOC(n, what, &c->sum));
    TRY(tacit_queue_alloc(c->A->q, n, &c->x));
    TRY(tacit_queue_alloc(c->A->q, n, &c->y));
    return c->m ? list_away(c) : TACIT_OK;
}

static void close_checks(checks *c)
{
    TCT_FREE(c->image, c->sum, c->col, c->value);
    tacit_queue_free(c->A->q, &c->x);
    tacit_queue_free(c->A->q, &c->y);
}

static tacit_status form_image(const checks *c, const double *z)
{
    const size_t n = (size_t)c->A->n;
    q_put(c->A->q, n, z, c->x);
    TRY(tacit_operator_apply(c->A, c->x, c->y));
    q_get(c->A->q, n, c->y, c->image);
    return q_own_status(c->A->q);
}

/* |A| |z| of the entries. */
static tacit_status sum_entries(const checks *c, const double *z)
{
    const tct_csr *A = &c->m->A;
    int64_t at = 0;
    TRY(tct_directory_get(c->m->world, c->m->starts, z, c->away, c->col,
                          c->value));
    for (int64_t i = 0; i < A->rows; i++) {
        c->sum[i] = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            c->sum[i] += fabs(A->val[k]) *
                         fabs(is_away(A, k) ? c->value[at++]
                                            : z[tct_csr_col(A, k) - A->first]);
    }
    return TACIT_OK;
}

/* Without entries: the largest sum of a row times the largest of z. */
static tacit_status bound_sums(const checks *c, const double *z)
{
    double most = 0.0;
    for (int64_t i = 0; i < c->A->n; i++) most = fmax(most, fabs(z[i]));
    TRY(tct_reduce_f64(c->A->world, TCT_MAX, 1, &most));
    for (int64_t i = 0; i < c->A->n; i++)
        c->sum[i] = ldexp(c->A->norm, c->A->exponent) * most;
    return TACIT_OK;
}

/* The first row of this rank in which A z is more than rounding; -1: none. */
static tacit_status find_odd(const checks *c, const double *z, int64_t *odd)
{
    tacit_status status = tct_agree(c->A->world, form_image(c, z));
    if (status >= 0) status = c->m ? sum_entries(c, z) : bound_sums(c, z);
    *odd = -1;
    for (int64_t i = c->A->n; status >= 0 && i-- > 0;)
        if (!(fabs(c->image[i]) <= TCT_NULL_BOUND * c->sum[i])) *odd = i;
    return status;
}

static tacit_status refuse(const checks *c, int number, int64_t i)
{
    char row[48];
    if (c->m)
        snprintf(row, sizeof row, "row %lld",
                 (long long)tct_original(c->m, i) + 1);
    else
        snprintf(row, sizeof row, "row %lld of rank %d", (long long)i + 1,
                 c->A->world->rank);
    FAIL(TACIT_INVALID,
         "null vector %d is none: %s of A z is %.3g, and rounding explains "
         "%.3g, which is 16 eps |A| |z|",
         number, row, c->image[i], TCT_NULL_BOUND * c->sum[i]);
}

/* --- keep ----------------------------------------------------------------- */

static double norm_of(tacit_world *w, int64_t n, const double *v)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += v[i] * v[i];
    return tct_reduce_f64(w, TCT_SUM, 1, &sum) < 0 ? (double)NAN : sqrt(sum);
}

/* Make `z`, the next vector of N, orthonormal; keep it if something is left. */
static tacit_status keep(tct_null_space *N, tacit_world *w, double *z)
{
    tct_null_part part;
    const double before = norm_of(w, N->rows, z);
    for (int64_t i = 0; i < N->rows; i++) z[i] /= before;
    TRY(tct_null_project_host(N, w, z, &part));
    const double left = norm_of(w, N->rows, z);
    if (!(left > DEPENDENT)) return TACIT_OK;
    for (int64_t i = 0; i < N->rows; i++) z[i] /= left;
    N->vectors++;
    return TACIT_OK;
}

/* Room for `count` vectors more. */
static tacit_status make_room(tct_null_space *N, int count)
{
    const size_t n = (size_t)N->rows, had = (size_t)N->vectors * n;
    double *z = NULL;
    TRY(TCT_ALLOC(had + (size_t)count * n, what, &z));
    if (!N->scratch) TRY(TCT_ALLOC(2 * n, what, &N->scratch));
    if (!N->fixed) TRY(TCT_ALLOC(n, what, &N->fixed));
    if (had > 0) memcpy(z, N->z, had * sizeof *z);
    tct_free(N->z);
    N->z = z;
    return TACIT_OK;
}

/* z = v over its largest entry, so that squares are doubles; *some: it is not
 * 0 everywhere. */
static tacit_status scale(tacit_world *w, int64_t n, const double *v, double *z,
                          bool *some)
{
    double most = 0.0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    TRY(tct_reduce_f64(w, TCT_MAX, 1, &most));
    *some = most > 0.0;
    for (int64_t i = 0; i < n; i++) z[i] = *some ? v[i] / most : 0.0;
    return TACIT_OK;
}

/* Add the vectors that are null; `declared`: all are. */
static tacit_status add(const checks *c, tct_null_space *N, int count,
                        const double *vectors, bool declared)
{
    tacit_world *w = c->A->world;
    for (int j = 0; j < count; j++) {
        const double *v = vectors + (int64_t)j * N->rows;
        double *z = N->z + (int64_t)N->vectors * N->rows;
        int64_t odd = -1;
        bool any = false, some = false;
        TRY(scale(w, N->rows, v, z, &some));
        if (!some && declared)
            FAIL(TACIT_INVALID, "null vector %d is 0 everywhere", j + 1);
        if (!some) continue;
        TRY(find_odd(c, z, &odd));
        TRY(tct_any(w, odd >= 0, &any));
        if (any && declared)
            return tct_agree(w, odd >= 0 ? refuse(c, j + 1, odd) : TACIT_OK);
        if (!any) TRY(keep(N, w, z));
    }
    return tct_null_choose_rows(N, w);
}

static tacit_status open_space(tacit_operator *A, int count)
{
    if (!A->null) A->null = tct_calloc(sizeof *A->null);
    if (!A->null) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    A->null->rows = A->n;
    if (A->null->vectors + count > TCT_NULL_VECTORS_MOST)
        FAIL(TACIT_INVALID, "%d null vectors: at most %d are kept",
             A->null->vectors + count, TCT_NULL_VECTORS_MOST);
    return make_room(A->null, count);
}

tacit_status tct_null_add(tacit_operator *A, const tacit_matrix *matrix,
                          int count, const double *vectors, bool declared)
{
    const bool entries = matrix && matrix->A.val && !matrix->released;
    bool all = false;
    TRY(tct_any(A->world, !entries && A->n > 0, &all));
    checks c = {.A = A, .m = all ? NULL : matrix};
    const int had = A->null ? A->null->vectors : 0;
    tacit_status status = open_space(A, count);
    if (status >= 0) status = open_checks(&c);
    status = tct_agree(A->world, status);
    if (status >= 0) status = add(&c, A->null, count, vectors, declared);
    close_checks(&c);
    if (status < 0 && A->null) A->null->vectors = had;
    if (tct_null_count(A->null) == 0) tct_null_close(&A->null);
    return status;
}

/* --- public --------------------------------------------------------------- */

static tacit_status check(const tacit_operator *A, const tacit_null_space *S)
{
    if (S->vectors < 0 || S->vectors > TCT_NULL_VECTORS_MOST)
        FAIL(TACIT_INVALID, "%d null vectors: give 0 to %d", S->vectors,
             TCT_NULL_VECTORS_MOST);
    if (S->vectors > 0 && A->n > 0 && !S->values)
        FAIL(TACIT_INVALID, "a null space of %d vectors without values",
             S->vectors);
    if (S->vectors == 0 && !S->constants)
        FAIL(TACIT_INVALID, "a null space without vectors: give some, or set "
                            "constants");
    for (int64_t i = 0; i < (int64_t)S->vectors * A->n; i++)
        if (!isfinite(S->values[i]))
            FAIL(TACIT_INVALID, "null vector %lld is not finite",
                 (long long)(i / A->n) + 1);
    return TACIT_OK;
}

/* Ranks give as many vectors, and constants or none. */
static tacit_status require_alike(tacit_world *w, const tacit_null_space *S)
{
    int64_t most[] = {S->vectors, -S->vectors, S->constants, -S->constants};
    TRY(tct_reduce_i64(w, TCT_MAX, 4, most));
    if (most[0] != -most[1] || most[2] != -most[3])
        FAIL(TACIT_INVALID,
             "null space: one rank gives %lld vectors and another %lld, or "
             "constants and none",
             (long long)most[0], (long long)-most[1]);
    return TACIT_OK;
}

/* The constant, unless those of components were found. */
static tacit_status add_constant(tacit_operator *A, const tacit_matrix *m)
{
    double *ones = NULL;
    if (A->null && A->null->components > 0) return TACIT_OK;
    TRY(tct_agree(A->world, TCT_ALLOC(A->n, what, &ones)));
    for (int64_t i = 0; i < A->n; i++) ones[i] = 1.0;
    const tacit_status status = tct_null_add(A, m, 1, ones, true);
    tct_free(ones);
    return status;
}

static tacit_status declare(tacit_operator *A, const tacit_matrix *m,
                            const tacit_null_space *S)
{
    if (S->constants) TRY(add_constant(A, m));
    if (S->vectors > 0) TRY(tct_null_add(A, m, S->vectors, S->values, true));
    if (A->null) A->null->declared = true;
    A->version++;
    return TACIT_OK;
}

tacit_status tacit_operator_set_null_space(tacit_operator *A,
                                           const tacit_matrix *matrix,
                                           const tacit_null_space *space)
{
    REQUIRE(A != NULL, space != NULL);
    TRY(tct_refuse_use(A, __func__));
    q_enter(A->q);
    tacit_null_space S = {.size = sizeof S};
    tacit_status status =
        tct_read_sized("tacit_null_space", space, &S, sizeof S);
    if (status >= 0) status = check(A, &S);
    if (status >= 0 && matrix && matrix->A.rows != A->n)
        status = tacit_error_set(TACIT_INVALID,
                                 "the null space comes with a matrix of %lld "
                                 "rows here, and the operator has %lld",
                                 (long long)matrix->A.rows, (long long)A->n);
    TRY(tct_agree(A->world, status));
    TRY(require_alike(A->world, &S));
    return declare(A, matrix, &S);
}
