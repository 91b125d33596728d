/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/smoother.c - smoothers: polynomials of D^-1 A, so that S is
 * symmetric, the same before and after the visit to the next level.
 *
 * [AB03] Adams, Brezina, Hu and Tuminaro, "Parallel multigrid smoothing:
 *        polynomial versus Gauss-Seidel", J. Comput. Phys. 188 (2003).
 * [Sa03] Saad, "Iterative methods for sparse linear systems" (2003), algorithm
 *        12.1.
 *
 * A step reads the last two iterates and overwrites the older one: no residual
 * is stored, and the step is the epilogue of the product. Chebyshev's
 * polynomial is small on [upper / ratio, upper]; below 1, which is what the
 * cycle needs to be positive definite, it is up to some 1.2 upper. In l1-jacobi
 * D has the row sums of |a|: it never overshoots. */
#include "device/parallel.h"
#include "precond/amg/device/device_setup.h"

/* Coefficients, and slots for unused sums. */
enum {
    COEFFICIENTS = TCT_AMG_COEFFICIENTS,
    C_ROOM = COEFFICIENTS + TCT_BATCH_SCALARS
};

/* Shared by all systems of a batch: d, alpha and beta. */
enum { SHARED = 1 | TCT_SHARED_SCALARS };

/* Factors that enlarge lower estimates; the row sums are an upper bound. */
static const double MARGIN = 1.1, JACOBI = 4.0 / 3.0;

/* --- steps ---------------------------------------------------------------- */

/* Step `k` from iterate `now`; `next` holds the one before (unused in step 0)
 * and gets the result. */
static void step(const tct_amg_smoother *S, tacit_queue *q, int k, bool first,
                 const double *b, const double *now, double *next, double *dot)
{
    const bool chebyshev = S->how.kind == TCT_CHEBYSHEV;
    const int alone = k == 0 ? 0 : S->how.degree;
    const double *c = S->c + 2 * (!chebyshev ? 0 : first ? alone : k);
    const double *const v[] = {S->d, S->t, b, now, next};
    double *const unwanted = q->batch.count > 1 ? S->c + COEFFICIENTS : NULL;
    q->batch.shared = SHARED;
    apply_pass(S->A, q, now, chebyshev && !first ? PASS_smooth : PASS_relax, c,
               c + 1, v, dot ? dot : unwanted);
    q->batch.shared = 0;
}

/* Steps from `from` on, alternating two vectors; the last result is in `x`, the
 * first operand in tct_amg_phase(S->how.degree - from, x, y). */
static void steps(const tct_amg_smoother *S, tacit_queue *q, int from,
                  const double *b, double *x, double *y, double *dot)
{
    const int degree = S->how.degree;
    for (int k = from; k < degree; k++)
        step(S, q, k, k == from, b, tct_amg_phase(degree - k, x, y),
             tct_amg_phase(degree - k - 1, x, y), k + 1 < degree ? NULL : dot);
}

void tct_amg_smooth_zero(const tct_amg_smoother *S, tacit_queue *q,
                         const double *b, double *x, double *y)
{
    double *const first = tct_amg_phase(S->how.degree - 1, x, y);
    q->batch.shared = SHARED;
    q_pass(q, times, (size_t)S->A->n, (NULL, NULL), (S->d, b, first),
           S->c + COEFFICIENTS);
    q->batch.shared = 0;
    steps(S, q, 1, b, x, y, NULL);
}

void tct_amg_smooth(const tct_amg_smoother *S, tacit_queue *q, const double *b,
                    double *x, double *dot)
{
    steps(S, q, 0, b, x, S->y, dot);
}

/* --- set-up --------------------------------------------------------------- */

void tct_amg_coefficients(const tct_amg_smoother *S, double *c)
{
    const double upper = S->largest, lower = upper / S->how.ratio;
    const double theta = 0.5 * (upper + lower), delta = 0.5 * (upper - lower);
    const int degree = S->how.degree;
    double rho = delta / theta;
    c[0] = c[1] = 1.0;
    for (int k = 1; k < degree; k++) {
        const double next = 1.0 / (2.0 * theta / delta - rho);
        c[2 * k] = 2.0 * next / delta * theta; /* d includes 1 / theta */
        c[2 * k + 1] = next * rho;
        rho = next;
    }
    if (degree == 1) return;
    c[2 * degree] = c[2];
    c[2 * degree + 1] = 1.0 + c[3];
}

/* The factor of D^-1 in the first step. */
static double first_of(const tct_amg_smoother *S)
{
    switch (S->how.kind) {
    case TCT_JACOBI: return JACOBI / S->largest;
    case TCT_L1_JACOBI: return 1.0;
    case TCT_CHEBYSHEV: break;
    }
    return 2.0 / (S->largest + S->largest / S->how.ratio);
}

typedef struct {
    const double *of;
    double factor, *out;
} inversion;

static void invert_elements(void *work, int64_t from, int64_t to)
{
    const inversion *v = work;
    for (int64_t k = from; k < to; k++) v->out[k] = v->factor / v->of[k];
}

/* Upload D^-1 of `rows`. */
static tacit_status put_inverse(const tct_amg_smoother *S,
                                const tct_amg_rows *rows, const double *of,
                                double factor)
{
    const size_t n = (size_t)S->A->n;
    double *host = NULL;
    if (rows->queue) {
        tct_amg_device_invert(S->A->q, n, of, factor, S->d);
        return q_own_status(S->A->q);
    }
    TRY(TCT_ALLOC(n, "a smoother", &host));
    tct_parallel(S->A->n, TCT_SHORT, invert_elements,
                 &(inversion){of, factor, host});
    q_put(S->A->q, n, host, S->d);
    tct_free(host);
    return q_own_status(S->A->q);
}

static tacit_status allocate(tct_amg_smoother *S)
{
    tacit_queue *q = S->A->q;
    const size_t n = (size_t)S->A->n;
    TRY(tacit_queue_alloc(q, n, &S->d));
    TRY(tacit_queue_alloc(q, n + 1, &S->t));
    TRY(tacit_queue_alloc(q, n, &S->y));
    return tacit_queue_alloc(q, C_ROOM, &S->c);
}

/* The upper end of the interval: at most the largest row sum of all ranks. */
static tacit_status find_largest(tct_amg_smoother *S, double bound)
{
    const double margin = S->how.kind == TCT_CHEBYSHEV ? MARGIN : 1.0;
    double found = 0.0;
    TRY(tct_reduce_f64(S->A->world, TCT_MAX, 1, &bound));
    const double enough = (1.0 + 1e-9) * bound / margin; /* `bound` is taken */
    TRY(tct_amg_spectral_bound(S->A, S->d, enough, &found));
    found *= margin;
    S->largest = found > 0.0 && found < bound ? found : bound;
    return TACIT_OK;
}

tacit_status tct_amg_smoother_create(const tacit_operator *A,
                                     const tct_amg_rows *rows,
                                     tct_amg_smoothing how, tct_amg_smoother *S)
{
    const bool l1 = how.kind == TCT_L1_JACOBI;
    double c[COEFFICIENTS] = {0.0};
    *S = (tct_amg_smoother){.A = A, .how = how, .largest = 1.0};
    tacit_status status = allocate(S);
    if (status >= 0) status = put_inverse(S, rows, rows->diagonal, 1.0);
    TRY(tct_agree(A->world, status));
    if (!l1) TRY(find_largest(S, rows->bound));
    status = put_inverse(S, rows, l1 ? rows->sum : rows->diagonal, first_of(S));
    tct_amg_coefficients(S, c);
    if (status >= 0) q_put(A->q, COEFFICIENTS, c, S->c);
    return tct_agree(A->world, status < 0 ? status : q_own_status(A->q));
}

void tct_amg_smoother_free(tacit_queue *q, tct_amg_smoother *S)
{
    double **const all[] = {&S->d, &S->c, &S->t, &S->y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tacit_queue_free(q, all[i]);
}
