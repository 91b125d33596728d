/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_factor.c - triangular solves on a GPU: kinds of matrices and
 * of factors against the host's solves, one to many right-hand sides, the same
 * bits every time, as part of a user's graph, timeouts, refusals.
 *
 * LABEL: gpu */
#include "gpu.h"
#include "matrix/matrix.h"
#include "methods.h"
#include "turned.h"
#if TCT_HAVE_CUDA
#include <tacit/cuda.h>
#endif

/* --- factors and solvers -------------------------------------------------- */

typedef struct {
    tacit_matrix *m;
    tacit_factor *F;
    tacit_factor_panels panels;
    size_t n;
} factor;

static factor open_factor(tacit_matrix *m)
{
    factor f = {.m = m, .panels = {.size = sizeof f.panels}};
    OK(tacit_factor_create(f.m, NULL, &f.F));
    OK(tacit_factor_view(f.F, &f.panels));
    f.n = (size_t)f.panels.rows;
    return f;
}

static void close_factor(factor *f)
{
    tacit_factor_destroy(&f->F);
    tacit_matrix_destroy(&f->m);
}

static tacit_factor_solver *solver_of(tacit_queue *q, const factor *f,
                                      int columns)
{
    tacit_factor_solver *S = NULL;
    OK(tacit_factor_solver_create(
        q, &f->panels,
        &(tacit_factor_solver_options){
            .size = sizeof(tacit_factor_solver_options), .columns = columns},
        &S));
    return S;
}

static double *random_vectors(size_t n, uint64_t seed)
{
    double *v = malloc(n * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) v[i] = tct_uniform(i, seed) - 0.5;
    return v;
}

/* `columns` at once, each a little apart from the next, as the host solves. */
static void check_columns(tacit_queue *q, const factor *f,
                          tacit_factor_solver *S, int columns)
{
    const size_t ld = f->n + 3, all = ld * (size_t)columns;
    double *b = random_vectors(all, (uint64_t)columns + 1);
    double *want = random_vectors(all, 9);
    double *B = device_vector(q, all, b), *X = poisoned_vector(q, all);
    OK(tacit_factor_solve(f->F, columns, b, ld, want, ld));
    OK(tacit_factor_solver_run(S, columns, B, ld, X, ld));
    OK(tacit_factor_solver_wait(S));
    double *x = host_copy(q, all, X);
    for (int j = 0; j < columns; j++) {
        const double *xj = x + (size_t)j * ld, *wj = want + (size_t)j * ld;
        const double off = distance_of(f->n, xj, wj) / norm_of(f->n, wj);
        if (!(off <= 1e-11))
            fail_msg("column %d of %d is off by %.2e", j, columns, off);
    }
    free(x);
    OK(tacit_factor_solver_run(S, columns, B, ld, B, ld)); /* in place */
    x = host_copy(q, all, X);
    double *y = host_copy(q, all, B);
    for (int j = 0; j < columns; j++)
        assert_memory_equal(x + (size_t)j * ld, y + (size_t)j * ld,
                            f->n * sizeof *x);
    free(x);
    free(y);
    free(b);
    free(want);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
}

/* --- matrices ------------------------------------------------------------- */

static int full_row(int64_t n, int64_t i, int64_t *col)
{
    (void)i;
    for (int64_t j = 0; j < n; j++) col[j] = j;
    return (int)n;
}
static double heavy(int64_t i, int64_t j)
{
    const double u = tct_uniform((uint64_t)(i + j), (uint64_t)llabs(i - j));
    return i == j ? 700.0 : u - 0.5;
}
/* Pairs of rows, and every seventh alone. */
static int pair_row(int64_t n, int64_t i, int64_t *col)
{
    const int64_t first = i / 2 * 2;
    if (i % 14 > 11 || first + 1 >= n) return col[0] = i, 1;
    col[0] = first;
    col[1] = first + 1;
    return 2;
}

static void columns_are_what_the_host_makes_of_them(void **state)
{
    static const char *const names[] = {
        "poisson2d:1x1",  "poisson2d:7x5",    "poisson2d:90x70", "poisson3d:17",
        "elasticity3d:9", "poisson2d:1x3000", "poisson2d9:150"};
    static const int columns[] = {1, 2, 7, 50, 64, 65};
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    for (int i = 0; i < 9; i++) {
        tacit_matrix *m = i == 7   ? matrix_of(1500, full_row, heavy)
                          : i == 8 ? matrix_of(20000, pair_row, heavy)
                                   : gallery_matrix(names[i]);
        factor f = open_factor(m);
        tacit_factor_solver *S = solver_of(q, &f, 50);
        for (int c = 0; c < 6; c++) check_columns(q, &f, S, columns[c]);
        tacit_factor_solver_destroy(&S);
        S = solver_of(q, &f, 1); /* which has several in several launches */
        check_columns(q, &f, S, 3);
        tacit_factor_solver_destroy(&S);
        close_factor(&f);
    }
    tacit_queue_destroy(&q);
}

/* || b - A x || / ||b|| */
static double residual_of(const factor *f, const double *b, const double *x)
{
    const tct_csr *A = &f->m->A;
    double up = 0.0;
    for (int64_t i = 0; i < A->rows; i++) {
        double r = b[i];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
            r -= A->val[k] * x[A->col32[k]];
        up += r * r;
    }
    return sqrt(up) / norm_of(f->n, b);
}

/* Matrices of condition 1e7 to 1e13: what is left is about what the host
 * leaves. */
static void real_matrices_are_solved_as_well_as_on_the_host(void **state)
{
    static const char *const names[] = {
        "spd/bcsstk14.mtx.gz", "spd/bcsstk16.mtx.gz", "spd/bcsstk20.mtx.gz",
        "spd/nos5.mtx.gz", "spd/ex15.mtx.gz"};
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    for (int i = 0; i < 5; i++) {
        tacit_matrix *m = real_matrix(names[i]);
        if (!m) continue;
        factor f = open_factor(m);
        tacit_factor_solver *S = solver_of(q, &f, 1);
        double *b = random_vectors(f.n, 7), *want = random_vectors(f.n, 8);
        double *B = device_vector(q, f.n, b), *X = poisoned_vector(q, f.n);
        OK(tacit_factor_solve(f.F, 1, b, f.n, want, f.n));
        OK(tacit_factor_solver_run(S, 1, B, f.n, X, f.n));
        OK(tacit_factor_solver_wait(S));
        double *x = host_copy(q, f.n, X);
        const double host = residual_of(&f, b, want),
                     here = residual_of(&f, b, x);
        if (!(here <= 100.0 * host + 1e-14))
            fail_msg("%s: %.2e, %.2e on the host", names[i], here, host);
        free(x);
        free(b);
        free(want);
        tacit_queue_free(q, &B);
        tacit_queue_free(q, &X);
        tacit_factor_solver_destroy(&S);
        close_factor(&f);
    }
    tacit_queue_destroy(&q);
}

/* --- kinds ---------------------------------------------------------------- */

/* The factor of `f` as another kind, with rows and columns scaled. */
typedef struct {
    tacit_factor_panels panels;
    double *value, *upper, *diagonal, *row_scale, *col_scale;
    int32_t *row_order;
} other;

/* Row i of the factored matrix is row i + 5 of another, cyclically. */
static int32_t *shifted_rows(size_t n)
{
    int32_t *row = malloc(n * sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < n; i++) row[i] = (int32_t)((i + 5) % n);
    return row;
}

static other other_of(const factor *f, tacit_factor_kind kind)
{
    other o = {.panels = f->panels};
    tacit_factor_panels *P = &o.panels;
    const size_t stored = (size_t)P->value_start[P->panels];
    o.value = calloc(stored, sizeof(double));
    o.upper = calloc(stored, sizeof(double));
    o.diagonal = random_vectors(f->n, 3);
    o.row_scale = random_vectors(f->n, 4);
    o.col_scale = random_vectors(f->n, 6);
    assert_true(o.value && o.upper);
    for (size_t i = 0; i < f->n; i++) {
        o.row_scale[i] += 2.0;
        o.col_scale[i] += 3.0;
    }
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++) {
            const int64_t k = j - P->first[K], at = P->value_start[K] + k * h;
            const double d = P->value[at + k];
            o.diagonal[j] = d * d;
            for (int64_t i = k; i < h; i++) {
                o.value[at + i] = P->value[at + i] / d;
                o.upper[at + i] = P->value[at + i] * d;
            }
        }
    }
    P->kind = kind;
    P->value = o.value;
    P->row_scale = o.row_scale;
    P->col_scale = o.col_scale;
    P->row_order = o.row_order = shifted_rows(f->n);
    if (kind == TACIT_FACTOR_LU) P->upper = o.upper;
    else P->diagonal = o.diagonal;
    return o;
}

static void close_other(other *o)
{
    free(o->value);
    free(o->upper);
    free(o->diagonal);
    free(o->row_scale);
    free(o->col_scale);
    free(o->row_order);
}

/* P R A C z = P R b, x = C z: z of the host, permuted and scaled before and
 * scaled after; X apart from B, and in its place. */
static void check_other(tacit_queue *q, const factor *f, const other *o,
                        int columns)
{
    const size_t all = f->n * (size_t)columns;
    double *b = random_vectors(all, 12), *z = random_vectors(all, 13);
    double *B = device_vector(q, all, b), *X = poisoned_vector(q, all);
    factor with = {.panels = o->panels, .n = f->n};
    tacit_factor_solver *S = solver_of(q, &with, columns);
    for (size_t i = 0; i < all; i++) b[i] *= o->row_scale[i % f->n];
    for (size_t i = 0; i < all; i++)
        z[i] = b[i - i % f->n + (size_t)o->row_order[i % f->n]];
    OK(tacit_factor_solve(f->F, columns, z, f->n, z, f->n));
    for (size_t i = 0; i < all; i++) z[i] *= o->col_scale[i % f->n];
    OK(tacit_factor_solver_run(S, columns, B, f->n, X, f->n));
    OK(tacit_factor_solver_run(S, columns, B, f->n, B, f->n));
    OK(tacit_factor_solver_wait(S));
    double *x = host_copy(q, all, X), *in_place = host_copy(q, all, B);
    const double off = distance_of(all, x, z) / norm_of(all, z);
    if (!(off <= 1e-11)) fail_msg("%d columns: off by %.2e", columns, off);
    assert_memory_equal(x, in_place, all * sizeof *x);
    free(x);
    free(in_place);
    free(b);
    free(z);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_factor_solver_destroy(&S);
}

static void other_kinds_and_scaled_ones_are_solved(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    factor f = open_factor(gallery_matrix("poisson3d:12"));
    for (int k = 0; k < 2; k++) {
        other o = other_of(&f, k ? TACIT_FACTOR_LU : TACIT_FACTOR_LDLT);
        check_other(q, &f, &o, 1);
        check_other(q, &f, &o, 5);
        close_other(&o);
    }
    close_factor(&f);
    tacit_queue_destroy(&q);
}

/* --- again and again ------------------------------------------------------ */

static void a_thousand_solves_have_the_same_bits(void **state)
{
    static const int columns[] = {1, 7};
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    factor f = open_factor(gallery_matrix("poisson2d:120"));
    tacit_factor_solver *S = solver_of(q, &f, 7);
    for (int c = 0; c < 2; c++) {
        const size_t all = f.n * (size_t)columns[c];
        double *b = random_vectors(all, 21);
        double *B = device_vector(q, all, b), *X = poisoned_vector(q, all);
        OK(tacit_factor_solver_run(S, columns[c], B, f.n, X, f.n));
        double *first = host_copy(q, all, X);
        for (int k = 0; k < 1000; k++) {
            if (k % 50 == 0) q_fill(q, all, 0.0, X);
            OK(tacit_factor_solver_run(S, columns[c], B, f.n, X, f.n));
            if (k % 50 != 49) continue;
            double *x = host_copy(q, all, X);
            assert_memory_equal(first, x, all * sizeof *x);
            free(x);
        }
        OK(tacit_factor_solver_wait(S));
        free(first);
        free(b);
        tacit_queue_free(q, &B);
        tacit_queue_free(q, &X);
    }
    tacit_factor_solver_destroy(&S);
    close_factor(&f);
    tacit_queue_destroy(&q);
}

#if TCT_HAVE_CUDA
static void cuda_ok(cudaError_t error, int line)
{
    if (error == cudaSuccess) return;
    print_error("%s:%d: %s\n", __FILE__, line, cudaGetErrorString(error));
    _fail(__FILE__, line);
}
#define CUDA(call) cuda_ok((call), __LINE__)

/* Captured once, with a copy before it, and run again with what is then in
 * B. */
static void a_solve_is_a_part_of_a_graph(void **state)
{
    (void)state;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    tacit_queue *q = NULL;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(tacit_queue_on_stream(test_world(), "cuda", 1, stream, &q));
    factor f = open_factor(gallery_matrix("poisson3d:15"));
    tacit_factor_solver *S = solver_of(q, &f, 1);
    double *B = poisoned_vector(q, f.n), *X = poisoned_vector(q, f.n);
    double *want = random_vectors(f.n, 1);
    OK(tacit_factor_solver_wait(S));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(tacit_factor_solver_run(S, 1, B, f.n, X, f.n));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 20; k++) {
        double *b = random_vectors(f.n, (uint64_t)k + 30);
        CUDA(cudaMemcpyAsync(B, b, f.n * sizeof *b, cudaMemcpyHostToDevice,
                             stream));
        CUDA(cudaGraphLaunch(exec, stream));
        OK(tacit_factor_solver_wait(S));
        double *x = host_copy(q, f.n, X);
        OK(tacit_factor_solve(f.F, 1, b, f.n, want, f.n));
        assert_true(distance_of(f.n, x, want) <= 1e-11 * norm_of(f.n, want));
        free(x);
        free(b);
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    free(want);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_factor_solver_destroy(&S);
    close_factor(&f);
    tacit_queue_destroy(&q);
    CUDA(cudaStreamDestroy(stream));
}

#endif

/* --- a factor of somebody else's ------------------------------------------ */

/* L = 1 with -1/2 below, a column a panel: a chain as long as it can be. */
enum { CHAIN = 20000 };
typedef struct {
    int64_t first[CHAIN + 1], start[CHAIN + 1];
    int32_t parent[CHAIN], row[2 * CHAIN], node[CHAIN];
    double value[2 * CHAIN];
    tacit_factor_panels panels;
} chain;

static chain *open_chain(void)
{
    chain *c = calloc(1, sizeof *c);
    assert_non_null(c);
    for (int k = 0; k < CHAIN; k++) {
        c->first[k] = k;
        c->start[k] = 2 * k;
        c->parent[k] = k + 1 < CHAIN ? k + 1 : -1;
        c->row[2 * k] = k;
        c->row[2 * k + 1] = k + 1;
        c->value[2 * k] = 1.0;
        c->value[2 * k + 1] = -0.5;
    }
    c->first[CHAIN] = CHAIN;
    c->start[CHAIN] = 2 * CHAIN - 1;
    c->panels = (tacit_factor_panels){.size = sizeof c->panels,
                                      .rows = CHAIN,
                                      .panels = CHAIN,
                                      .first = c->first,
                                      .parent = c->parent,
                                      .row_start = c->start,
                                      .row = c->row,
                                      .value_start = c->start,
                                      .value = c->value,
                                      .leaves = 1,
                                      .node = c->node};
    return c;
}

/* A kernel that is to wait no longer than the clock ticks says for whom it
 * waited. */
static void a_wait_in_vain_is_told(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    chain *c = open_chain();
    double *b = random_vectors(CHAIN, 2), *want = random_vectors(CHAIN, 3);
    double *B = device_vector(q, CHAIN, b), *X = poisoned_vector(q, CHAIN);
    for (int k = 0; k < CHAIN; k++)
        want[k] = b[k] + (k ? 0.5 * want[k - 1] : 0.0);
    for (int k = CHAIN - 2; k >= 0; k--) want[k] += 0.5 * want[k + 1];
    for (int again = 0; again < 2; again++) {
        tacit_factor_solver_options o = {.size = sizeof o};
        tacit_factor_solver *S = NULL;
        if (!again) o.seconds = 1e-9;
        OK(tacit_factor_solver_create(q, &c->panels, &o, &S));
        for (int k = 0; !again && k < 2; k++) {
            OK(tacit_factor_solver_run(S, 1, B, CHAIN, X, CHAIN));
            EXPECT(TACIT_DEVICE, tacit_factor_solver_wait(S));
            if (!strstr(tacit_error_message(), "on the way down panel") ||
                !strstr(tacit_error_message(), "for panels below it"))
                fail_msg("%s", tacit_error_message());
        }
        if (again) {
            OK(tacit_factor_solver_run(S, 1, B, CHAIN, X, CHAIN));
            OK(tacit_factor_solver_wait(S));
            double *x = host_copy(q, CHAIN, X);
            assert_true(distance_of(CHAIN, x, want) <=
                        1e-13 * norm_of(CHAIN, want));
            free(x);
        }
        tacit_factor_solver_destroy(&S);
    }
    free(b);
    free(want);
    free(c);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_queue_destroy(&q);
}

/* --- around it ------------------------------------------------------------ */

static void what_it_is_made_of_is_told(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE);
    factor f = open_factor(gallery_matrix("poisson3d:20"));
    tacit_factor_solver *S = solver_of(q, &f, 8);
    tacit_factor_solver_info info = {.size = sizeof info};
    OK(tacit_factor_solver_describe(S, &info));
    assert_true(info.columns == 8 && info.nodes > 0 && info.branches > 0);
    assert_true(info.tasks > info.branches && info.depth > 1);
    assert_true(info.blocks > 0 && info.bytes > info.values_bytes);
    assert_true(info.values_bytes > 0.0 && info.condition >= 1.0);
    assert_non_null(strstr(info.path, "one kernel"));
    tacit_factor_solver_destroy(&S);
    assert_null(S);
    close_factor(&f);
    tacit_queue_destroy(&q);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    tacit_queue *q = open_queue(TEST_DEVICE), *host = open_queue("host");
    factor f = open_factor(gallery_matrix("poisson2d:9"));
    tacit_factor_solver *S = NULL;
    EXPECT(TACIT_UNSUPPORTED,
           tacit_factor_solver_create(host, &f.panels, NULL, &S));
    assert_non_null(strstr(tacit_error_message(), "tacit_factor_solve"));
    EXPECT(TACIT_INVALID,
           tacit_factor_solver_create(
               q, &f.panels,
               &(tacit_factor_solver_options){
                   .size = sizeof(tacit_factor_solver_options), .columns = 65},
               &S));
    f.panels.kind = TACIT_FACTOR_IC0;
    EXPECT(TACIT_UNSUPPORTED,
           tacit_factor_solver_create(q, &f.panels, NULL, &S));
    assert_null(S);
    close_factor(&f);
    tacit_queue_destroy(&q);
    tacit_queue_destroy(&host);
}

/* --precond direct: an iteration or two in every loop. */
static void a_method_needs_but_an_iteration_or_two(void **state)
{
    (void)state;
    tacit_matrix *m = gallery_matrix("poisson2d:70");
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_operator *A = operator_of(q, m, "sell");
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    double *b = random_vectors(n, 2);
    double *B = device_vector(q, n, b), *X = poisoned_vector(q, n);
    static const char *const loops[] = {"host", "graph"};
    for (int l = 0; l < 2; l++) {
        tacit_solver *s = NULL;
        tacit_operator *M = NULL;
        tacit_result result = {.size = sizeof result};
        OK(tacit_solver_create(q, A, "cg", &s));
        OK(tacit_precond_create_of(A, m, "direct", NULL, &M));
        OK(tacit_solver_set_precond(s, M));
        OK(tacit_solver_set_loop(s, loops[l]));
        q_fill(q, n, 0.0, X);
        OK(tacit_solver_run(
            s, B, X, &(tacit_stop){.size = sizeof(tacit_stop), .rtol = 1e-10},
            &result));
        assert_true(result.converged && result.iterations <= 3);
        assert_true(result.true_relative_residual <= 1e-10);
        tacit_solver_destroy(&s);
        tacit_operator_destroy(&M);
    }
    free(b);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

/* Method direct, with vectors in the matrix's order and in another. */
static void turned_rows_are_solved_by_method_direct(void **state)
{
    static const char *const formats[] = {"csr", "sell"};
    (void)state;
    enum { MANY = 3 };
    tacit_queue *q = open_queue(TEST_DEVICE);
    tacit_matrix *m = turned(test_world(), "poisson2d:40x30");
    for (int f = 0; f < 2; f++) {
        const tacit_precond_options o = {.size = sizeof o, .kind = "lu"};
        const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-12};
        tacit_operator *A = operator_of(q, m, formats[f]), *M = NULL;
        assert_non_null(A);
        const size_t n = (size_t)tacit_operator_local_rows(A);
        double *b = random_vectors(MANY * n, 31);
        double *B = device_vector(q, MANY * n, b);
        double *X = poisoned_vector(q, MANY * n);
        tacit_result results[MANY];
        for (int c = 0; c < MANY; c++)
            results[c] = (tacit_result){.size = sizeof *results};
        OK(tacit_precond_create_of(A, m, "direct", &o, &M));
        q_fill(q, MANY * n, 0.0, X);
        OK(tacit_precond_solve(A, M, MANY, B, n, X, n, &stop, results));
        for (int c = 0; c < MANY; c++)
            assert_true(results[c].converged &&
                        results[c].true_relative_residual <= 1e-12);
        free(b);
        tacit_queue_free(q, &B);
        tacit_queue_free(q, &X);
        tacit_operator_destroy(&M);
        tacit_operator_destroy(&A);
    }
    tacit_matrix_destroy(&m);
    tacit_queue_destroy(&q);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_what_the_host_makes_of_them),
        cmocka_unit_test(real_matrices_are_solved_as_well_as_on_the_host),
        cmocka_unit_test(other_kinds_and_scaled_ones_are_solved),
        cmocka_unit_test(turned_rows_are_solved_by_method_direct),
        cmocka_unit_test(a_thousand_solves_have_the_same_bits),
#if TCT_HAVE_CUDA
        cmocka_unit_test(a_solve_is_a_part_of_a_graph),
#endif
        cmocka_unit_test(a_wait_in_vain_is_told),
        cmocka_unit_test(what_it_is_made_of_is_told),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_method_needs_but_an_iteration_or_two),
    };
    TEST_GPU_MAIN(tests);
}
