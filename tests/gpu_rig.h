/* SPDX-License-Identifier: BSD-3-Clause
 * tests/gpu_rig.h - helpers of the tests of solvers on the cuda device:
 * problems with the host device's results, and solvers to compare. */
#ifndef TESTS_GPU_RIG_H
#define TESTS_GPU_RIG_H
#include "gpu.h"
#include "methods.h"

/* A format that every loop can have. */
#define PLAIN (strcmp(TEST_DEVICE, "cuda") == 0 ? "sell/f64" : "sell")

/* --- references ----------------------------------------------------------- */

/* A problem, and what the host device makes of it. */
typedef struct {
    const char *name;
    tacit_matrix *m;
    tacit_queue *q;
    tacit_operator *A;
    size_t n;
    double *b, *xstar;
    const char *precond; /* of its solvers; NULL: none */
    int64_t iterations[METHODS];
    double error[METHODS];
    bool anew[METHODS]; /* see begins_anew */
} reference;

/* b = A x* with the x* of `seed`, or all ones if it is 0. */
static inline void set_rhs(reference *ref, int64_t seed)
{
    double *b = poisoned_vector(ref->q, ref->n);
    double *xstar = poisoned_vector(ref->q, ref->n);
    if (seed) OK(tacit_operator_manufacture(ref->A, ref->m, seed, xstar, b));
    else q_fill(ref->q, ref->n, 1.0, b);
    free(ref->b);
    free(ref->xstar);
    ref->b = host_copy(ref->q, ref->n, b);
    ref->xstar = host_copy(ref->q, ref->n, xstar);
    tacit_queue_free(ref->q, &b);
    tacit_queue_free(ref->q, &xstar);
}

static inline void open_reference(reference *ref, const char *name,
                                  tacit_matrix *m, int64_t seed)
{
    *ref = (reference){.name = name, .m = m};
    ref->q = open_queue("host");
    ref->A = operator_of(ref->q, m, "csr");
    ref->n = (size_t)tacit_matrix_local_rows(m);
    set_rhs(ref, seed);
}

static inline void close_reference(reference *ref)
{
    free(ref->b);
    free(ref->xstar);
    tacit_operator_destroy(&ref->A);
    tacit_queue_destroy(&ref->q);
    tacit_matrix_destroy(&ref->m);
}

/* ||b - A x|| / ||b||, formed on the host. */
static inline double true_residual(const reference *ref, const double *b,
                                   const double *x)
{
    double *v = device_vector(ref->q, ref->n, x);
    double *y = poisoned_vector(ref->q, ref->n);
    OK(tacit_operator_apply(ref->A, v, y));
    double *Ax = host_copy(ref->q, ref->n, y);
    const double norm = distance_of(ref->n, b, Ax) / norm_of(ref->n, b);
    free(Ax);
    tacit_queue_free(ref->q, &v);
    tacit_queue_free(ref->q, &y);
    return norm;
}

/* --- solvers -------------------------------------------------------------- */

/* A solver on a device, and its vectors. */
typedef struct {
    const reference *ref;
    char what[160]; /* for messages */
    tacit_queue *q;
    tacit_operator *A;
    bool own_A;
    tacit_solver *s;
    size_t n;
    double *b, *x;
    tacit_result result;
} rig;

static inline void close_rig(rig *r)
{
    tacit_solver_destroy(&r->s);
    if (r->b) tacit_queue_free(r->q, &r->b);
    if (r->x) tacit_queue_free(r->q, &r->x);
    if (!r->own_A) return;
    tacit_operator_destroy(&r->A);
    tacit_queue_destroy(&r->q);
}

/* Must the resident loop be there? */
static inline bool always_resident(const char *format, const char *method)
{
    return strcmp(TEST_DEVICE, "cuda") == 0 &&
           strcmp(method, "pipelined") != 0 &&
           strcmp(method, "flexible") != 0 && strcmp(method, "minres") != 0 &&
           (strcmp(format, "sell/f64") == 0 ||
            (strcmp(format, "bsell/f64") == 0 && strcmp(method, "sstep") != 0));
}

/* A solver with the operator that is in `r`; false if there is no such loop. */
static inline bool open_solver(rig *r, const char *format, const char *method,
                               const char *loop)
{
    const reference *ref = r->ref;
    snprintf(r->what, sizeof r->what, "%s, %s, %s%s%s, loop %s", ref->name,
             format, method, ref->precond ? ", " : "",
             ref->precond ? ref->precond : "", loop);
    r->n = ref->n;
    r->result.size = sizeof r->result;
    r->s = NULL;
    if (r->A->low && tacit_method_find(method)->indefinite) {
        EXPECT(TACIT_UNSUPPORTED,
               tacit_solver_create(r->q, r->A, method, &r->s));
        return false;
    }
    OK(tacit_solver_create(r->q, r->A, method, &r->s));
    if (ref->precond) OK(tacit_solver_set(r->s, "precond", ref->precond));
    const tacit_status status = tacit_solver_set_loop(r->s, loop);
    if (status == TACIT_UNSUPPORTED) {
        assert_true(strlen(tacit_error_message()) > 10); /* it says why */
        if (strcmp(loop, "host") == 0 ||
            (strcmp(TEST_DEVICE, "cuda") == 0 && strcmp(loop, "graph") == 0 &&
             !tacit_method_find(method)->steps) ||
            (strcmp(loop, "resident") == 0 && always_resident(format, method)))
            fail_msg("%s: %s", r->what, tacit_error_message());
        tacit_solver_destroy(&r->s);
        return false;
    }
    OK(status);
    r->b = device_vector(r->q, r->n, ref->b);
    r->x = poisoned_vector(r->q, r->n);
    return true;
}

/* The same with queue and operator of its own. */
static inline bool open_rig(rig *r, const reference *ref, const char *spec,
                            const char *format, const char *method,
                            const char *loop)
{
    *r = (rig){.ref = ref, .own_A = true};
    r->q = open_queue(spec);
    r->A = operator_of(r->q, ref->m, format);
    if (r->A && open_solver(r, format, method, loop)) return true;
    close_rig(r);
    return false;
}

static inline tacit_status run(rig *r, const tacit_stop *stop)
{
    q_fill(r->q, r->n, 0.0, r->x);
    return tacit_solver_run(r->s, r->b, r->x, stop, &r->result);
}

static inline tacit_status solve(rig *r, double rtol, int64_t most)
{
    return run(r, &(tacit_stop){.size = sizeof(tacit_stop),
                                .rtol = rtol,
                                .max_iterations = most});
}

/* Another method goes on, and one of blocks has dropped its directions. The
 * energy of the error is then not the least of a Krylov space: in 300 solves of
 * nos3 on the host to a residual of 1e-8 the error of sstep was up to 180 times
 * that of cg, and without such a beginning at most 1.2 times. */
static inline bool begins_anew(const rig *r, int m)
{
    return tacit_method_at(m)->steps && r->result.rescued_by;
}

static inline void solve_on_host(reference *ref)
{
    assert_string_equal(method_of(0), "cg"); /* for check_solution */
    FOR_METHODS(m)
    {
        rig r;
        assert_true(open_rig(&r, ref, "host", "csr", method_of(m), "host"));
        OK(solve(&r, 1e-8, 0));
        double *x = host_copy(r.q, r.n, r.x);
        ref->iterations[m] = r.result.iterations;
        ref->error[m] = distance_of(r.n, x, ref->xstar);
        ref->anew[m] = begins_anew(&r, m);
        free(x);
        close_rig(&r);
    }
}

/* --- solutions ------------------------------------------------------------ */

/* `low`: the recurrence ran with rounded values; `loose`: the matrix is so bad
 * that rounding decides over iterations. It also decides when another method
 * has to go on, which begins anew: where the host's did, cg stands for it. */
static inline void check_solution(rig *r, int m, bool low, bool loose)
{
    const reference *ref = r->ref;
    const int as = loose && ref->anew[m] ? 0 : m;
    const int64_t host = ref->iterations[as], its = r->result.iterations;
    const int64_t slack = (loose ? host / 4 + 10 : host / 50 + 2) +
                          tacit_method_at(m)->steps; /* the last block */
    double *x = host_copy(r->q, r->n, r->x);
    const bool anew = low || r->result.rescued_by;
    const double residual = true_residual(ref, ref->b, x);
    const double error = distance_of(r->n, x, ref->xstar);
    if (!r->result.converged || !(residual <= 1.001e-8) ||
        !(r->result.true_relative_residual <= 1e-8))
        fail_msg("%s: residual %.3e, said to be %.3e", r->what, residual,
                 r->result.true_relative_residual);
    if (anew ? its > 5 * host / 2 + 20 : llabs(its - host) > slack)
        fail_msg("%s: %lld iterations, %lld on the host", r->what,
                 (long long)its, (long long)host);
    /* The residual is A times the error, so that an error whose energy is not
     * the least is bounded by the residual times ||A^-1||, and by no less. */
    if (!(loose && begins_anew(r, m)) &&
        !(error <= 20.0 * ref->error[as] + 1e-7))
        fail_msg("%s: error %.3e, %.3e on the host", r->what, error,
                 ref->error[as]);
    free(x);
}

/* --- every format, method and loop ---------------------------------------- */

/* Every method and loop with one operator; how many solves that is. */
static inline int check_solves(const reference *ref, tacit_queue *q,
                               tacit_operator *A, const char *format,
                               bool loose)
{
    int solves = 0;
    const bool low = strchr(format, '+') != NULL;
    FOR_METHODS(m)
    FOR_LOOPS(l)
    {
        rig r = {.ref = ref, .q = q, .A = A};
        if (!open_solver(&r, format, method_of(m), loop_of(l))) continue;
        const tacit_status status = solve(&r, 1e-8, 0);
        if (status != TACIT_OK)
            fail_msg("%s: %s after %lld iterations: %s", r.what,
                     tacit_status_name(status), (long long)r.result.iterations,
                     tacit_error_message());
        assert_string_equal(r.result.loop, loop_of(l));
        check_solution(&r, m, low, loose);
        close_rig(&r);
        solves++;
    }
    return solves;
}

static inline int check_format(const reference *ref, tacit_queue *q,
                               const char *format, bool loose)
{
    tacit_operator *A = operator_of(q, ref->m, format);
    const int solves = A ? check_solves(ref, q, A, format, loose) : 0;
    tacit_operator_destroy(&A);
    return solves;
}

static inline void check_matrix(const char *name, tacit_matrix *matrix,
                                const char *precond, bool loose)
{
    static const char *const formats[] = {
        "csr", "sell32", "sell", "auto", "sell/f64", "bsell", "bsell/f64"};
    static const char *const precisions[] = {"", "+low32", "+low48"};
    const bool stores = strcmp(TEST_DEVICE, "cuda") == 0;
    const double start = tct_seconds();
    reference ref;
    char format[32];
    int solves = 0;
    open_reference(&ref, name, matrix, 5);
    ref.precond = precond;
    solve_on_host(&ref);
    tacit_queue *q = open_queue(TEST_DEVICE);
    for (int f = 0; f < 7; f++)
        for (int p = 0; p < (loose || !stores ? 1 : 3); p++) {
            snprintf(format, sizeof format, "%s%s", formats[f], precisions[p]);
            if (!stores && (strchr(format, '/') || strstr(format, "32")))
                continue;
            solves += check_format(&ref, q, format, loose);
        }
    tacit_queue_destroy(&q);
    close_reference(&ref);
    printf("%-28s %d solves, %.1f s\n", name, solves, tct_seconds() - start);
}

/* --- rows kept apart ------------------------------------------------------ */

/* An arrow, the point in row 4321: all of a block's threads sum it. */
static inline int arrow_columns(int64_t n, int64_t i, int64_t *col)
{
    int64_t k = 0;
    for (int64_t j = i == 4321 ? 0 : i; j < n && (i == 4321 || j == i); j++)
        col[k++] = j;
    if (i != 4321) col[k++] = 4321;
    return (int)k;
}
/* Rows of 100 to 614 among short ones, some side by side. */
static inline bool is_hub(int64_t i)
{
    return i % 97 == 3 || (i > 5000 && i < 5040);
}
static inline bool are_linked(int64_t n, int64_t hub, int64_t j)
{
    const int64_t reach = 50 + (int64_t)(tct_mix((uint64_t)hub) % 257);
    return llabs(hub - j) <= reach || (hub + j) % n == 5;
}
static inline int hub_columns(int64_t n, int64_t i, int64_t *col)
{
    int64_t k = 0;
    for (int64_t j = i < 400 ? 0 : i - 400; j < n && j < i + 400; j++)
        if (i == j || (is_hub(i) && are_linked(n, i, j)) ||
            (is_hub(j) && are_linked(n, j, i)))
            col[k++] = j;
    return (int)k;
}
static inline double coupling(int64_t i, int64_t j)
{
    const double u = tct_uniform((uint64_t)(i + j), (uint64_t)llabs(i - j));
    return i == j ? 600.0 + (double)(i % 1000) : u - 0.5;
}
static inline double arrow_coupling(int64_t i, int64_t j)
{
    return i == j ? (i == 4321 ? 4000.0 : 2.0 + (double)(i % 7))
                  : 0.5 * coupling(i, j);
}

static inline void check_rows_kept_apart(const char *precond)
{
    static const struct {
        const char *name;
        int64_t n;
        columns_fn columns;
        value_fn value;
    } cases[] = {{"an arrow", 10000, arrow_columns, arrow_coupling},
                 {"hubs", 8000, hub_columns, coupling}};
    for (int i = 0; i < 2; i++) {
        tacit_matrix *m =
            matrix_of(cases[i].n, cases[i].columns, cases[i].value);
        tacit_queue *q = open_queue(TEST_DEVICE);
        tacit_operator *A = operator_of(q, m, PLAIN);
        tacit_operator_info about = {.size = sizeof about};
        tacit_operator_describe(A, &about);
        if (strcmp(TEST_DEVICE, "cuda") == 0)
            assert_non_null(strstr(about.detail, "long rows"));
        tacit_operator_destroy(&A);
        tacit_queue_destroy(&q);
        check_matrix(cases[i].name, m, precond, false);
    }
}

/* x after `limits` iterations, of every method in every loop, is that of the
 * host, up to `most_off` of its norm. */
static inline void check_long_solves(const reference *ref,
                                     const int64_t limits[2], double most_off)
{
    FOR_METHODS(m)
    for (int i = 0; i < 2; i++) {
        rig r;
        assert_true(open_rig(&r, ref, "host", "csr", method_of(m), "host"));
        EXPECT(TACIT_NOT_CONVERGED, solve(&r, 0.0, limits[i]));
        double *want = host_copy(r.q, r.n, r.x);
        close_rig(&r);
        FOR_LOOPS(l)
        {
            if (!open_rig(&r, ref, TEST_DEVICE, PLAIN, method_of(m),
                          loop_of(l)))
                continue;
            EXPECT(TACIT_NOT_CONVERGED, solve(&r, 0.0, limits[i]));
            assert_int_equal(r.result.iterations, limits[i]);
            double *got = host_copy(r.q, r.n, r.x);
            const double off = distance_of(r.n, got, want) / norm_of(r.n, want);
            if (!(off <= most_off))
                fail_msg("%s: x after %lld iterations is off by %.2e", r.what,
                         (long long)limits[i], off);
            free(got);
            close_rig(&r);
        }
        free(want);
    }
}

#endif
