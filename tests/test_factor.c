/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_factor.c - sparse factors: L L' is the matrix, rows follow the
 * tree, broken or indefinite matrices are reported, and solves.
 *
 * RUN: np=1 */
#include "base/base.h"
#include "factor/dense.h"
#include "factor/factor.h"
#include "mpi_main.h"
#include "problem.h"
#include "said.h"
#include <math.h>

/* --- matrices ------------------------------------------------------------- */

enum { MOST = 160 };

/* A symmetric matrix by its lower triangle, a_ij, i >= j. */
typedef double (*entry_fn)(int i, int j);

static double noise(int i, int j)
{
    return tct_uniform((uint64_t)i + 1, (uint64_t)j + 1000) - 0.5;
}
static double full(int i, int j)
{
    return i == j ? 60.0 : noise(i, j);
}
static double diagonal(int i, int j)
{
    return i == j ? 1.0 + i : 0.0;
}
static double arrow(int i, int j)
{
    return i == j ? 200.0 : j == 0 ? 1.0 : 0.0;
}
static double arrow_up(int i, int j)
{
    return i == j ? 200.0 : i % 64 == 63 ? 1.0 : 0.0;
}
/* Lines of 10 rows, every seventh row alone. */
static double pieces(int i, int j)
{
    if (i == j) return 2.5;
    return i == j + 1 && i % 10 && i % 7 && j % 7 ? -1.0 : 0.0;
}
static double sparse(int i, int j)
{
    const double x = noise(i, j);
    return i == j ? 40.0 : fabs(x) < 0.02 ? x : 0.0;
}
static double denser(int i, int j)
{
    const double x = noise(i + 7, j);
    return i == j ? 60.0 : fabs(x) < 0.07 ? x : 0.0;
}

static tacit_matrix *matrix_of(entry_fn a, int n)
{
    int64_t *ptr = tct_alloc(sizeof *ptr * (size_t)(n + 1)),
            *cols = tct_alloc(sizeof *cols * (size_t)(n * n)), count = 0;
    double *vals = tct_alloc(sizeof *vals * (size_t)(n * n));
    tacit_matrix *m = NULL;
    ptr[0] = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double x = i < j ? a(j, i) : a(i, j);
            if (x == 0.0) continue;
            cols[count] = j;
            vals[count++] = x;
        }
        ptr[i + 1] = count;
    }
    OK(tacit_matrix_from_rows(test_world(), n, 0, n, ptr, cols, vals, &m));
    TCT_FREE(ptr, cols, vals);
    return m;
}

static const struct {
    entry_fn entry; /* or of the gallery: */
    const char *name;
    int n;
} zoo[] = {{full, "full", 1},
           {full, "full", 2},
           {full, "full", 40},
           {full, "full", 150},
           {diagonal, "diagonal", 1},
           {diagonal, "diagonal", 90},
           {arrow, "arrow", 70},
           {arrow_up, "arrow_up", 128},
           {pieces, "pieces", 150},
           {sparse, "sparse", 60},
           {sparse, "sparse", 160},
           {denser, "denser", 120},
           {NULL, "poisson2d:12x11", 0},
           {NULL, "poisson3d:5", 0},
           {NULL, "elasticity3d:3", 0}};
enum { ZOO = sizeof zoo / sizeof *zoo };

static tacit_matrix *gallery(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

static tacit_matrix *animal(int i)
{
    return zoo[i].entry ? matrix_of(zoo[i].entry, zoo[i].n)
                        : gallery(zoo[i].name);
}

static tacit_factor *factor_of(const tacit_matrix *m, int leaves, int width)
{
    const tacit_factor_options o = {
        .size = sizeof o, .leaves = leaves, .width = width};
    tacit_factor *F = NULL;
    OK(tacit_factor_create(m, &o, &F));
    return F;
}

static tacit_factor_panels view_of(const tacit_factor *F)
{
    tacit_factor_panels P = {.size = sizeof P};
    OK(tacit_factor_view(F, &P));
    return P;
}

/* --- L L' ----------------------------------------------------------------- */

/* L of `P` as a dense matrix, column by column. */
static double *dense_of(const tacit_factor_panels *P)
{
    const size_t n = (size_t)P->rows;
    double *L = tct_calloc(n * n * sizeof *L);
    for (int32_t K = 0; K < P->panels; K++) {
        const int64_t h = P->row_start[K + 1] - P->row_start[K];
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++)
            for (int64_t i = j - P->first[K]; i < h; i++)
                L[(size_t)j * n + (size_t)P->row[P->row_start[K] + i]] =
                    P->value[P->value_start[K] + (j - P->first[K]) * h + i];
    }
    return L;
}

static double entry_of(const tacit_rows *rows, int64_t i, int64_t j)
{
    for (int64_t k = rows->ptr[i]; k < rows->ptr[i + 1]; k++)
        if (rows->cols32[k] == j) return rows->vals[k];
    return 0.0;
}

static void expect_product(const tacit_matrix *m, const tacit_factor *F,
                           const char *name)
{
    const tacit_factor_panels P = view_of(F);
    double *L = dense_of(&P);
    tacit_rows rows;
    OK(tacit_matrix_view_rows(m, &rows));
    for (int64_t i = 0; i < P.rows; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k <= j; k++)
                sum += L[k * P.rows + i] * L[k * P.rows + j];
            const double a = entry_of(&rows, P.original[i], P.original[j]);
            const double d = entry_of(&rows, P.original[i], P.original[i]);
            if (!(fabs(sum - a) <= 1e-13 * fabs(d) * 10))
                fail_msg("%s: entry %d %d: %g, not %g", name, (int)i, (int)j,
                         sum, a);
        }
    tct_free(L);
}

/* Every row lies in the tree node of its panel or above, asked one by one. */
static void expect_closed(const tacit_factor_panels *P)
{
    for (int32_t K = 0; K < P->panels; K++)
        for (int64_t k = P->row_start[K]; k < P->row_start[K + 1]; k++) {
            int32_t J = K, up = P->node[K];
            while (P->first[J + 1] <= P->row[k]) J++;
            while (up > P->node[J]) up = (up - 1) / 2;
            assert_int_equal(up, P->node[J]);
        }
}

static void products_are_the_matrix(void **state)
{
    (void)state;
    static const int leaves[] = {1, 2, 4, 8}, widths[] = {0, 1, 3};
    const size_t before = tct_memory_blocks();
    for (int i = 0; i < ZOO; i++)
        for (int l = 0; l < 4; l++) {
            tacit_matrix *m = animal(i);
            tacit_factor *F = factor_of(m, leaves[l], widths[(i + l) % 3]);
            const tacit_factor_panels P = view_of(F);
            OK(tacit_factor_check(&P));
            assert_int_equal(P.leaves, leaves[l]);
            expect_closed(&P);
            expect_product(m, F, zoo[i].name);
            tacit_factor_destroy(&F);
            tacit_matrix_destroy(&m);
        }
    assert_int_equal(tct_memory_blocks(), before);
}

static uint64_t draw;
static double density;
static double drawn(int i, int j)
{
    const double x = tct_uniform((uint64_t)(i * 1000 + j), draw);
    return i == j ? 40.0 : x < density ? x / density - 0.5 : 0.0;
}

/* Patterns without any structure, from next to nothing to full. */
static void random_ones_are_too(void **state)
{
    (void)state;
    for (draw = 0; draw < 60; draw++) {
        const int n = 1 + (int)(70.0 * tct_uniform(draw, 1));
        const double x = tct_uniform(draw, 2);
        density = x * x * x;
        tacit_matrix *m = matrix_of(drawn, n);
        tacit_factor *F =
            factor_of(m, 1 << draw % 5, (int)(10.0 * tct_uniform(draw, 3)));
        const tacit_factor_panels P = view_of(F);
        OK(tacit_factor_check(&P));
        expect_closed(&P);
        expect_product(m, F, "drawn");
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
}

/* The top of the dissection is there, not all in its root. */
static void tree_nodes_have_rows(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:40x37");
    for (int leaves = 1; leaves <= 8; leaves *= 2) {
        tacit_factor *F = factor_of(m, leaves, 16);
        const tacit_factor_panels P = view_of(F);
        int columns[15] = {0};
        OK(tacit_factor_check(&P));
        for (int32_t K = 0; K < P.panels; K++) {
            columns[P.node[K]] += (int)(P.first[K + 1] - P.first[K]);
            assert_true(P.first[K + 1] - P.first[K] <= 16);
        }
        for (int k = 0; k < 2 * leaves - 1; k++) assert_true(columns[k] > 0);
        if (leaves > 1) assert_true(columns[0] < 80);
        tacit_factor_destroy(&F);
    }
    tacit_matrix_destroy(&m);
}

/* --- what is broken ------------------------------------------------------- */

/* A copy that can be written to. */
typedef struct {
    tacit_factor_panels P;
    int64_t *first, *row_start, *value_start;
    int32_t *parent, *row, *node, *original;
    double *value;
} draft;

static void *copy_of(const void *from, size_t bytes)
{
    return memcpy(tct_alloc(bytes), from, bytes);
}

static draft draft_of(const tacit_factor *F)
{
    draft d = {.P = view_of(F)};
    const size_t K = (size_t)d.P.panels, n = (size_t)d.P.rows;
    const size_t rows = (size_t)d.P.row_start[K];
    d.P.first = d.first = copy_of(d.P.first, (K + 1) * 8);
    d.P.row_start = d.row_start = copy_of(d.P.row_start, (K + 1) * 8);
    d.P.value = d.value =
        copy_of(d.P.value, (size_t)d.P.value_start[K] * sizeof(double));
    d.P.value_start = d.value_start = copy_of(d.P.value_start, (K + 1) * 8);
    d.P.parent = d.parent = copy_of(d.P.parent, K * 4);
    d.P.row = d.row = copy_of(d.P.row, rows * 4);
    d.P.node = d.node = copy_of(d.P.node, K * 4);
    d.P.original = d.original = copy_of(d.P.original, n * 4);
    return d;
}

static void discard(draft *d)
{
    TCT_FREE(d->first, d->row_start, d->value, d->value_start, d->parent,
             d->row, d->node, d->original);
}

/* The first panel with two rows below, in a leaf of the tree. */
static int32_t panel_in_leaf(const draft *d)
{
    int32_t K = 0;
    while (d->node[K] < d->P.leaves - 1 ||
           d->row_start[K + 1] - d->row_start[K] <
               d->first[K + 1] - d->first[K] + 2)
        K++;
    return K;
}

/* Break number `i` of a draft; what is to be said. */
static const char *break_it(draft *d, int i)
{
    static char text[64];
    const int32_t K = panel_in_leaf(d), last = d->P.panels - 1;
    const int64_t w = d->first[K + 1] - d->first[K];
    int32_t *below = d->row + d->row_start[K] + w;
    snprintf(text, sizeof text, "panel %d", (int)K);
    switch (i) {
    case 0: d->first[0] = 1; return "start at 0";
    case 1: d->first[K + 1] = d->first[K]; return text;
    case 2: d->row_start[K + 1] = d->row_start[K] + w - 1; return text;
    case 3: d->value_start[K + 1] = d->value_start[K] + 1; return text;
    case 4: d->node[K] = 2 * d->P.leaves - 1; return text;
    case 5: d->first[last + 1]--; return "columns";
    case 6: below[1] = (int32_t)d->P.rows; return "out of range";
    case 7: below[1] = below[0]; return "must ascend";
    case 8: below[-1]++; return "begin with its columns";
    case 9: d->parent[K] = K; return "has parent";
    case 10: d->parent[last] = 0; return "has parent";
    case 11: d->value[d->value_start[K]] = 0.0; return "on the diagonal";
    case 12: d->value[d->value_start[K]] = NAN; return "on the diagonal";
    case 13: d->original[1] = d->original[0]; return "were both row";
    case 14: d->original[1] = -1; return "was row";
    case 15: /* into the leaf beside it */
        d->node[K] =
            d->node[K] == d->P.leaves - 1 ? d->P.leaves : d->P.leaves - 1;
        return "not above it";
    default: return NULL;
    }
}

static void broken_factors_are_told(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:20");
    tacit_factor *F = factor_of(m, 4, 0);
    for (int i = 0;; i++) {
        draft d = draft_of(F);
        OK(tacit_factor_check(&d.P));
        const char *text = break_it(&d, i);
        if (text) REFUSES(TACIT_INPUT, text, tacit_factor_check(&d.P));
        discard(&d);
        if (!text) break;
    }
    tacit_factor_panels P = view_of(F);
    P.leaves = 3;
    REFUSES(TACIT_INVALID, "power of two", tacit_factor_check(&P));
    P = view_of(F);
    P.kind = TACIT_FACTOR_LU;
    REFUSES(TACIT_INVALID, "upper", tacit_factor_check(&P));
    P = view_of(F);
    P.row = NULL;
    REFUSES(TACIT_INVALID, "NULL", tacit_factor_check(&P));
    P.size = 0;
    REFUSES(TACIT_INVALID, "sizeof", tacit_factor_check(&P));
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
}

/* --- what cannot be factored ---------------------------------------------- */

static int worst_row;
static double one_is_negative(int i, int j)
{
    if (i == j) return i == worst_row ? -3.0 : 4.0;
    return i == j + 1 || i == j + 12 ? -1.0 : 0.0;
}

/* All others are a definite matrix, whatever the order: the row is that one. */
static void the_row_that_is_not_positive_is_named(void **state)
{
    (void)state;
    const size_t before = tct_memory_blocks();
    tacit_factor *F = NULL;
    for (worst_row = 0; worst_row < 140; worst_row += 23)
        for (int leaves = 1; leaves <= 4; leaves *= 4) {
            const tacit_factor_options o = {.size = sizeof o, .leaves = leaves};
            tacit_matrix *m = matrix_of(one_is_negative, 144);
            char text[64];
            snprintf(text, sizeof text, "its row %d comes to the pivot -",
                     worst_row + 1);
            REFUSES(TACIT_INPUT, text, tacit_factor_create(m, &o, &F));
            assert_null(F);
            tacit_matrix_destroy(&m);
        }
    assert_int_equal(tct_memory_blocks(), before);
}

static void what_is_no_factor_is_refused(void **state)
{
    (void)state;
    const int64_t ptr[] = {0, 2, 3}, cols[] = {0, 1, 1};
    const double vals[] = {2.0, 1.0, 2.0};
    tacit_factor_options o = {.size = sizeof o, .leaves = 3};
    tacit_matrix *m = NULL;
    tacit_factor *F = NULL;
    OK(tacit_matrix_from_rows(test_world(), 2, 0, 2, ptr, cols, vals, &m));
    REFUSES(TACIT_INPUT, "", tacit_factor_create(m, NULL, &F));
    REFUSES(TACIT_INVALID, "power of two", tacit_factor_create(m, &o, &F));
    o = (tacit_factor_options){.size = sizeof o, .width = -1};
    REFUSES(TACIT_INVALID, "width", tacit_factor_create(m, &o, &F));
    tacit_matrix_drop_entries(m);
    REFUSES(TACIT_INVALID, "", tacit_factor_create(m, NULL, &F));
    tacit_matrix_destroy(&m);
    tacit_factor_destroy(&F);
}

static void no_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    tacit_matrix *m = gallery("poisson2d:12x11");
    const size_t before = tct_memory_blocks();
    tacit_factor *F = NULL;
    int failed = 0;
    for (long k = 1; !F; k++) {
        tct_memory_fail_at(k);
        const tacit_status status = tacit_factor_create(m, NULL, &F);
        tct_memory_fail_at(0);
        if (F) break;
        assert_int_equal(status, TACIT_NO_MEMORY);
        assert_int_equal(tct_memory_blocks(), before);
        failed++;
    }
    assert_true(failed > 20);
    tacit_factor_destroy(&F);
    tacit_matrix_destroy(&m);
}

/* --- solves --------------------------------------------------------------- */

static void solves_are_right(void **state)
{
    (void)state;
    static const int columns[] = {1, 7, 64, 70};
    enum { STRIDE = 400, COLUMNS = 70 };
    static double X[STRIDE * COLUMNS], B[STRIDE * COLUMNS];
    for (int i = 0; i < ZOO; i++)
        for (int c = 0; c < 4; c++) {
            tacit_matrix *m = animal(i);
            tacit_rows rows;
            OK(tacit_matrix_view_rows(m, &rows));
            assert_true(rows.count <= STRIDE);
            for (int k = 0; k < STRIDE * COLUMNS; k++) B[k] = noise(k, c);
            tacit_factor *F = factor_of(m, c % 2 ? 4 : 1, c == 2 ? 3 : 0);
            OK(tacit_factor_solve(F, columns[c], B, STRIDE, X, STRIDE));
            for (int j = 0; j < columns[c]; j++)
                for (int64_t r = 0; r < rows.count; r++) {
                    double sum = 0.0;
                    for (int64_t k = rows.ptr[r]; k < rows.ptr[r + 1]; k++)
                        sum += rows.vals[k] * X[j * STRIDE + rows.cols32[k]];
                    if (!(fabs(sum - B[j * STRIDE + r]) <= 1e-11))
                        fail_msg("%s, %d columns: row %d of %d: %g, not %g",
                                 zoo[i].name, columns[c], (int)r, j, sum,
                                 B[j * STRIDE + r]);
                }
            OK(tacit_factor_solve(F, columns[c], B, STRIDE, B, STRIDE));
            for (int j = 0; j < columns[c]; j++)
                assert_memory_equal(B + j * STRIDE, X + j * STRIDE,
                                    (size_t)rows.count * sizeof *B);
            tacit_factor_destroy(&F);
            tacit_matrix_destroy(&m);
        }
}

/* Fronts of hundreds of rows, whose squares are stored in blocks. */
static void large_fronts_are_right(void **state)
{
    (void)state;
    static const char *const names[] = {"poisson3d:26", "elasticity3d:8"};
    for (int i = 0; i < 2; i++) {
        tacit_matrix *m = gallery(names[i]);
        tacit_rows rows;
        OK(tacit_matrix_view_rows(m, &rows));
        double *x = tct_alloc((size_t)rows.count * sizeof *x);
        for (int64_t k = 0; k < rows.count; k++) x[k] = noise((int)k, i);
        tacit_factor *F = factor_of(m, 1, 0);
        OK(tacit_factor_solve(F, 1, x, (size_t)rows.count, x,
                              (size_t)rows.count));
        for (int64_t r = 0; r < rows.count; r++) {
            double sum = 0.0;
            for (int64_t k = rows.ptr[r]; k < rows.ptr[r + 1]; k++)
                sum += rows.vals[k] * x[rows.cols32[k]];
            assert_true(fabs(sum - noise((int)r, i)) <= 1e-10);
        }
        tct_free(x);
        tacit_factor_destroy(&F);
        tacit_matrix_destroy(&m);
    }
}

/* Subtrees by threads, and what is above them: the same factor. */
static void threads_change_nothing(void **state)
{
    (void)state;
    tacit_matrix *all[] = {gallery("poisson2d:50x41"), gallery("poisson3d:11"),
                           matrix_of(diagonal, 150), matrix_of(pieces, 150)};
    for (int i = 0; i < 4; i++) {
        tacit_factor *F[2] = {NULL};
        for (int k = 0; k < 2; k++) {
            OK(tacit_world_set_threads(test_world(), k ? 4 : 1));
            F[k] = factor_of(all[i], 1, 0);
        }
        OK(tacit_world_set_threads(test_world(), 0));
        const tacit_factor_panels P = view_of(F[0]), Q = view_of(F[1]);
        assert_int_equal(P.panels, Q.panels);
        for (int32_t K = 0; K < P.panels; K++) {
            const int64_t h = P.row_start[K + 1] - P.row_start[K];
            for (int64_t j = 0; j < P.first[K + 1] - P.first[K]; j++)
                for (int64_t k = j; k < h; k++) {
                    const int64_t at = P.value_start[K] + j * h + k;
                    assert_true(fabs(P.value[at] - Q.value[at]) <= 1e-12);
                }
        }
        tacit_factor_destroy(&F[0]);
        tacit_factor_destroy(&F[1]);
        tacit_matrix_destroy(&all[i]);
    }
}

/* --- as a preconditioner -------------------------------------------------- */

static void open_solver(problem *p, const char *spec, tacit_matrix *m,
                        const char *format, const char *method)
{
    *p = (problem){.m = m, .result = {.size = sizeof p->result}};
    OK(tacit_queue_create(test_world(), spec, 2, &p->q));
    OK(tacit_operator_create(p->q, p->m, format, &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_operator_manufacture(p->A, p->m, 5, p->x, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

static void a_method_needs_but_an_iteration_or_two(void **state)
{
    (void)state;
    static const char *const specs[] = {"host", "memcheck:host",
                                        "chaos(4):host"};
    static const char *const formats[] = {"sell@none", "sell@rcm", "csr@metis"};
    const tacit_stop stop = {
        .size = sizeof stop, .rtol = 1e-11, .max_iterations = 20};
    for (int i = 0; i < 3; i++)
        for (int j = 0; tacit_method_at(j); j++) {
            problem p;
            tacit_operator *M = NULL;
            tacit_precond_info info = {.size = sizeof info};
            open_solver(&p, specs[i], gallery("jump3d:9,1e4,1"), formats[i],
                        tacit_method_at(j)->name);
            OK(tacit_precond_create_of(p.A, p.m, "direct", NULL, &M));
            OK(tacit_precond_describe(M, &info));
            assert_string_equal(info.name, "direct");
            assert_true(info.bytes > 0.0 && info.levels == 0);
            OK(tacit_solver_set_precond(p.s, M));
            OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
            assert_true(p.result.true_relative_residual <= 1e-11);
            const tacit_method *about = tacit_method_at(j);
            if (p.result.iterations > (about->steps ? about->steps : 2))
                fail_msg("%s, %s: %d iterations", specs[i], about->name,
                         (int)p.result.iterations);
            OK(tacit_solver_set_precond(p.s, NULL));
            tacit_operator_destroy(&M);
            close_problem(&p);
        }
}

static void a_preconditioner_that_cannot_be_says_why(void **state)
{
    (void)state;
    problem p;
    tacit_operator *M = NULL;
    worst_row = 30;
    open_solver(&p, "host", matrix_of(one_is_negative, 60), NULL, "cg");
    REFUSES(TACIT_INPUT, "its row 31 comes",
            tacit_precond_create_of(p.A, p.m, "direct", NULL, &M));
    tacit_matrix *other = gallery("poisson2d:5");
    REFUSES(TACIT_INVALID, "is not that of the operator",
            tacit_precond_create_of(p.A, other, "direct", NULL, &M));
    REFUSES(TACIT_UNSUPPORTED, "tacit_precond_create_of",
            tacit_precond_create(p.A, "direct", &M));
    assert_null(M);
    tacit_matrix_destroy(&other);
    close_problem(&p);
}

/* --- dense operations ----------------------------------------------------- */

enum { SIDE = 23, LEAD = 29 };

static void fill(double *A, uint64_t seed)
{
    for (int i = 0; i < LEAD * LEAD; i++)
        A[i] = tct_uniform((uint64_t)i, seed) + (i % (LEAD + 1) ? 0.0 : 9.0);
}

static void expect_near(const double *A, const double *B, const char *name)
{
    for (int i = 0; i < LEAD * LEAD; i++)
        if (!(fabs(A[i] - B[i]) <= 1e-11)) fail_msg("%s: %d", name, i);
}

/* L of SIDE, and what each operation does to C, both ways. */
static void try_dense(const tct_dense *D, double C[7][LEAD * LEAD])
{
    static double L[LEAD * LEAD], A[LEAD * LEAD], B[LEAD * LEAD];
    fill(A, 1);
    fill(B, 2);
    for (int k = 0; k < 7; k++) fill(C[k], 3);
    memcpy(C[0], A, sizeof A);
    assert_int_equal(D->factor(SIDE, C[0], LEAD), 0);
    memcpy(L, C[0], sizeof L);
    D->solve(true, 11, SIDE, L, LEAD, C[1], LEAD);
    D->solve(false, 11, SIDE, L, LEAD, C[2], LEAD);
    D->square(SIDE, 13, A, LEAD, 0.0, C[3], LEAD);
    D->square(SIDE, 13, A, LEAD, 1.0, C[4], LEAD);
    D->subtract(true, 17, SIDE, 9, A, LEAD, B, LEAD, 1.0, C[5], LEAD);
    D->subtract(false, 17, SIDE, 9, A, LEAD, B, LEAD, 0.0, C[6], LEAD);
    A[5 * LEAD + 5] = -1e3;
    assert_int_equal(D->factor(SIDE, A, LEAD), 6);
    assert_true(A[5 * LEAD + 5] < -900.0);
}

/* C - A B' by its definition, and the same operations of both. */
static void own_loops_do_what_lapack_does(void **state)
{
    (void)state;
    static double own[7][LEAD * LEAD], theirs[7][LEAD * LEAD];
    static double A[LEAD * LEAD], B[LEAD * LEAD], C[LEAD * LEAD];
    const char *why;
    fill(A, 1);
    fill(B, 2);
    fill(C, 3);
    for (int i = 0; i < 17; i++)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < 9; k++)
                C[j * LEAD + i] -= A[k * LEAD + i] * B[k * LEAD + j];
    try_dense(&tct_dense_own, own);
    expect_near(own[5], C, "C - A B'");
    try_dense(tct_dense_get(1, &why), theirs);
    if (why) print_message("own loops alone: %s\n", why);
    static const char *const names[] = {
        "L", "B L'^-1", "B L^-1", "-A A'", "C - A A'", "C - A B'", "-A B"};
    for (int k = 0; k < 7; k++) expect_near(own[k], theirs[k], names[k]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_matrix),
        cmocka_unit_test(random_ones_are_too),
        cmocka_unit_test(tree_nodes_have_rows),
        cmocka_unit_test(broken_factors_are_told),
        cmocka_unit_test(the_row_that_is_not_positive_is_named),
        cmocka_unit_test(what_is_no_factor_is_refused),
        cmocka_unit_test(no_memory_is_an_error_and_no_leak),
        cmocka_unit_test(solves_are_right),
        cmocka_unit_test(large_fronts_are_right),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_method_needs_but_an_iteration_or_two),
        cmocka_unit_test(a_preconditioner_that_cannot_be_says_why),
        cmocka_unit_test(own_loops_do_what_lapack_does),
    };
    TEST_MPI_MAIN(tests);
}
