/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_sliced.c - rows of L and L' in slices, as a GPU solves with them:
 * a solve on the host goes through them in their order, and comes to what the
 * factor says. Whoever makes them, and in how many pieces, they are the
 * same. */
#include "device/parallel.h"
#include "factor/factor.h"
#include "gpu.h"
#include "matrix/matrix.h"
#include "trisolve/gpu/level_slices.h"

enum { LANES = TCT_SLICED_LANES };

/* Of `m`, which is destroyed. */
static tacit_factor *factor_by(tacit_matrix *m, tacit_factor_kind kind,
                               const char *order, int leaves)
{
    const tacit_factor_options o = {.size = sizeof o,
                                    .kind = kind,
                                    .order = order,
                                    .leaves = leaves,
                                    .width = 7};
    tacit_factor *F = NULL;
    OK(tacit_factor_create(m, &o, &F));
    tacit_matrix_destroy(&m);
    return F;
}

static tacit_factor *factor_of(const char *matrix, tacit_factor_kind kind,
                               const char *order, int leaves)
{
    return factor_by(gallery_matrix(matrix), kind, order, leaves);
}

/* All slices of a side, `step` of them at once, columns and values in one go or
 * not. */
typedef struct {
    int32_t *col;
    double *val;
    size_t cells;
} cells;

static cells fill(const tct_sliced *S, const tct_sliced_side *side,
                  int64_t step)
{
    cells c = {.cells = (size_t)side->cell[S->slices] * LANES};
    c.col = malloc((c.cells + 1) * sizeof *c.col);
    c.val = malloc((c.cells + 1) * sizeof *c.val);
    assert_true(c.col && c.val);
    for (int64_t from = 0; from < S->slices; from += step) {
        const int64_t end = from + step < S->slices ? from + step : S->slices;
        const int64_t at = side->cell[from] * LANES;
        const bool both = from % 2 != 0;
        tct_sliced_fill(S, side, from, end, c.col + at,
                        both ? c.val + at : NULL);
        if (!both) tct_sliced_fill(S, side, from, end, NULL, c.val + at);
    }
    return c;
}

static void drop(cells *c)
{
    free(c->col);
    free(c->val);
}

/* Cell `k` of those of row p, its lanes in turn. */
static size_t cell_of(const tct_sliced *S, const tct_sliced_side *side,
                      int64_t p, int64_t k)
{
    const int64_t first = p % S->rows * S->lanes;
    return (size_t)((side->cell[p / S->rows] + k / S->lanes) * LANES + first +
                    k % S->lanes);
}

/* x by position in, the solution by position out, as the kernel finds it: nodes
 * look at others before their rows do at one another; how many entries. */
static int64_t sweep(const tct_sliced *S, const tct_sliced_side *side,
                     const cells *c, double *x)
{
    const tct_sliced_side *U = &S->up;
    int64_t count = 0;
    for (int64_t p = 0; p < S->n; p++) {
        const int64_t s = p / S->rows, node = p - p % S->block;
        const int64_t width = side->cell[s + 1] - side->cell[s];
        bool over = false;
        for (int64_t k = S->near * S->lanes; k < width * S->lanes; k++) {
            const size_t at = cell_of(S, side, p, k);
            const int32_t col = c->col[at];
            over = over || col < 0;
            assert_true(over ? col == -1 && c->val[at] == 0.0 : col < node);
            if (over) continue;
            x[p] -= c->val[at] * x[col];
            count++;
        }
        for (int64_t k = 0; k < S->near * S->lanes; k++) {
            const size_t at = cell_of(S, side, p, k);
            const double value = c->val[at];
            assert_int_equal(c->col[at], -1);
            assert_true(node + k < p || value == 0.0);
            if (node + k < p) x[p] -= value * x[node + k];
            count += node + k < p;
        }
        x[p] /= U->val[U->ptr[side->row[p]]];
    }
    return count;
}

static void check_solve(const tacit_factor *F, const tct_sliced *S)
{
    const size_t n = (size_t)S->n;
    const tacit_factor_panels *P = &F->panels;
    double *b = random_vector(n, 7), *want = host_vector(n, 0.0),
           *x = host_vector(n, 0.0), *y = host_vector(n, 0.0);
    cells down = fill(S, &S->down, 3), up = fill(S, &S->up, 1000000);
    OK(tacit_factor_solve(F, 1, b, n, want, n));
    for (size_t p = 0; p < n; p++) x[p] = b[P->original[S->down.row[p]]];
    const int64_t entries = sweep(S, &S->down, &down, x);
    for (size_t p = 0; p < n; p++) y[p] = x[S->down.position[S->up.row[p]]];
    assert_int_equal(sweep(S, &S->up, &up, y), entries);
    assert_int_equal(entries, S->up.ptr[S->n] - (int64_t)n);
    for (size_t p = 0; p < n; p++) x[P->original[S->up.row[p]]] = y[p];
    assert_true(distance_of(n, x, want) <= 1e-12 * norm_of(n, want));
    drop(&down);
    drop(&up);
    free(b);
    free(want);
    free(x);
    free(y);
}

static void check_same(const tct_sliced *S, const tct_sliced *T,
                       const tct_sliced_side *a, const tct_sliced_side *b)
{
    const size_t n = (size_t)S->n;
    cells x = fill(S, a, 5), y = fill(T, b, 1);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(x.cells, y.cells);
    assert_memory_equal(a->row, b->row, n * sizeof *a->row);
    assert_memory_equal(x.col, y.col, x.cells * sizeof *x.col);
    assert_memory_equal(x.val, y.val, x.cells * sizeof *x.val);
    drop(&x);
    drop(&y);
}

static void slices_solve(void **state)
{
    (void)state;
    static const struct {
        const char *matrix;
        tacit_factor_kind kind;
        const char *order;
        int leaves, block, lanes, wide; /* lanes of a row, of 32 and of 64 */
    } all[] = {{"poisson3d:22", TACIT_FACTOR_IC0, "natural", 1, 1, 1, 1},
               {"poisson3d:22", TACIT_FACTOR_IC0, "multicolor", 4, 1, 1, 1},
               {"tet3d:9,3", TACIT_FACTOR_IC0, "nd", 2, 1, 2, 2},
               {"elasticity3d:6", TACIT_FACTOR_IC0, "top-nd", 8, 3, 10, 10},
               {"elasticity3d:6", TACIT_FACTOR_IC0, "natural", 1, 3, 5, 4},
               {"elasticity3d:6", TACIT_FACTOR_IC0, "multicolor", 1, 3, 10, 10},
               {"poisson2d:1", TACIT_FACTOR_IC0, "natural", 1, 1, 1, 1},
               {"poisson2d:70", TACIT_FACTOR_LLT, "nd", 2, 1, 16, 16}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tacit_factor *F =
            factor_of(all[i].matrix, all[i].kind, all[i].order, all[i].leaves);
        tct_sliced several, one;
        {
            TCT_THREADS_AT_MOST(3);
            OK(tct_sliced_open(&F->panels, &several));
        }
        {
            TCT_THREADS_AT_MOST(1);
            OK(tct_sliced_open(&F->panels, &one));
        }
        const int lanes = GPU_WAVE == 64 ? all[i].wide : all[i].lanes;
        if (several.block != all[i].block || several.lanes != lanes)
            fail_msg("%s, %s: blocks of %d, %d lanes", all[i].matrix,
                     all[i].order, several.block, several.lanes);
        check_solve(F, &several);
        check_same(&several, &one, &several.down, &one.down);
        check_same(&several, &one, &several.up, &one.up);
        tct_sliced_close(&several);
        tct_sliced_close(&one);
        tacit_factor_destroy(&F);
    }
}

/* A grid's rows wait along its diagonals; a row far below all others is
 * longer. */
static void levels_are_the_longest_way(void **state)
{
    (void)state;
    tacit_factor *F = factor_of("poisson3d:9", TACIT_FACTOR_IC0, "natural", 1);
    tct_sliced S;
    OK(tct_sliced_open(&F->panels, &S));
    assert_int_equal(S.down.levels, 25);
    assert_int_equal(S.up.levels, 25);
    assert_int_equal(F->info.depth, 25);
    tct_sliced_close(&S);
    tacit_factor_destroy(&F);
}

/* A square of points with `unknowns` each: all of a point and of those beside
 * it are neighbours, but that `apart` has lost one of them. */
enum { SIDE = 12 };
static int unknowns;
static int64_t apart;
static int point_columns(int64_t n, int64_t i, int64_t *col)
{
    static const int64_t step[] = {-SIDE, -1, 0, 1, SIDE};
    const int64_t point = i / unknowns;
    int count = 0;
    for (int k = 0; k < 5; k++) {
        const int64_t other = point + step[k];
        if (other < 0 || other >= n / unknowns) continue;
        if (k % 2 && other / SIDE != point / SIDE) continue;
        for (int u = 0; u < unknowns; u++) {
            const int64_t j = other * unknowns + u;
            if ((i == apart && j == i + unknowns) ||
                (j == apart && i == j + unknowns))
                continue;
            col[count++] = j;
        }
    }
    return count;
}
static double point_value(int64_t i, int64_t j)
{
    return i == j ? 6.0 * unknowns : -0.2 * (double)(1 + (i + j) % 4);
}

static void check_points(const char *order, int block, int levels)
{
    tct_sliced S;
    tacit_factor *F = factor_by(
        matrix_of((int64_t)SIDE * SIDE * unknowns, point_columns, point_value),
        TACIT_FACTOR_IC0, order, 1);
    OK(tct_sliced_open(&F->panels, &S));
    assert_int_equal(S.block, block);
    assert_int_equal(S.down.levels, levels);
    assert_int_equal(S.up.levels, levels);
    assert_true(S.lanes * S.rows <= LANES && S.rows % block == 0);
    check_solve(F, &S);
    tct_sliced_close(&S);
    tacit_factor_destroy(&F);
}

/* Unknowns of a point have one level and one colour, as many as there may be; a
 * point that is not like that is known. */
static void points_wait_as_one(void **state)
{
    (void)state;
    apart = -1;
    for (unknowns = 1; unknowns <= TCT_NODE_MOST; unknowns++) {
        check_points("natural", unknowns, 2 * SIDE - 1);
        check_points("multicolor", unknowns, 2);
    }
    unknowns = TCT_NODE_MOST + 1;
    check_points("multicolor", 1, 2 * unknowns);
    unknowns = 3;
    apart = 3 * (SIDE * SIDE - 2);
    check_points("natural", 1, 3 * (2 * SIDE - 1));
}

/* An incomplete factor has the same bits, whoever makes it. */
static void threads_make_the_same_factor(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson3d:40", "elasticity3d:8",
                                           "jump3d:30,1e4,1"};
    for (int i = 0; i < 3; i++) {
        tacit_factor *several = factor_of(matrices[i], TACIT_FACTOR_IC0,
                                          i ? "multicolor" : "nd", 2);
        OK(tacit_world_set_threads(test_world(), 1));
        tacit_factor *one = factor_of(matrices[i], TACIT_FACTOR_IC0,
                                      i ? "multicolor" : "nd", 2);
        OK(tacit_world_set_threads(test_world(), 0));
        const size_t entries = (size_t)one->info.nonzeros;
        assert_int_equal(several->info.nonzeros, entries);
        assert_memory_equal(several->row, one->row, entries * sizeof *one->row);
        assert_memory_equal(several->value, one->value,
                            entries * sizeof *one->value);
        assert_true(several->info.flops == one->info.flops);
        tacit_factor_destroy(&several);
        tacit_factor_destroy(&one);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_solve),
        cmocka_unit_test(levels_are_the_longest_way),
        cmocka_unit_test(points_wait_as_one),
        cmocka_unit_test(threads_make_the_same_factor),
    };
    TEST_MPI_MAIN(tests);
}
