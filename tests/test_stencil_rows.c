/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_stencil_rows.c - rows of grids found in matrices, and format
 * stencil on the host: any range of cells, also from the middle of a line, with
 * every instruction set of this machine, to the bit against csr; grids that are
 * none; new values; memory; neighbours near the end of 32 bits. */
#include "device/isa.h"
#include "gallery/gallery.h"
#include "operator/pattern/split.h"
#include "operator/stencil/grid_matrix.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the headers above it */
#include <cmocka.h>

#include "teams.h"

static const char *const names[] = {
    "poisson1d:1",          "poisson1d:2",
    "poisson1d:1500",       "poisson2d:1x1",
    "poisson2d:7x5",        "poisson2d:1x31",
    "poisson2d:31x1",       "poisson2d:2x600",
    "poisson2d:500x3",      "poisson2d:1201x3",
    "poisson2d9:13x11",     "poisson2d9:2x2",
    "poisson2d9:2x9",       "poisson2d9:1x9",
    "poisson3d:5x7x3",      "poisson3d:1x7x11",
    "poisson3d:7x1x11",     "poisson3d:7x11x1",
    "poisson3d:2x2x300",    "poisson3d:1x1x9",
    "poisson3d:17x13x11",   "poisson3d27:5x7x3",
    "poisson3d27:1x7x11",   "poisson3d27:7x1x11",
    "poisson3d27:2x2x2",    "poisson3d27:17x13x11",
    "poisson3d27:520x2x2",  "anisotropic3d:6x5x7,0.1",
    "anisotropic3d:1x1x5,3"};
enum { NAMES = sizeof names / sizeof *names };

/* --- a range of rows ------------------------------------------------------ */

typedef struct {
    char what[96];
    tct_parts parts;
    tct_grid_place at;
    tct_grid_rows grid;
    tct_local *A;
} range;

/* Rows [first, last) of a gallery matrix, as a rank would have them. */
static void open_range(range *r, const char *name, double from, double to)
{
    tct_gallery_matrix *g = NULL;
    tct_csr rows = {0};
    assert_int_equal(tct_gallery_open(name, &g), TACIT_OK);
    const int64_t first = (int64_t)((double)g->rows * from);
    const int64_t last = (int64_t)((double)g->rows * to);
    assert_int_equal(tct_gallery_fill(g, first, last - first, &rows), TACIT_OK);
    assert_int_equal(tct_split(team_of[2], &rows, &r->parts), TACIT_OK);
    memcpy(r->at.n, g->grid, sizeof r->at.n);
    r->at.first = first;
    r->A = &r->parts.local;
    r->A->owned = false;
    snprintf(r->what, sizeof r->what, "%s, rows %lld to %lld", name,
             (long long)first, (long long)last);
    tct_gallery_close(&g);
}

static void find_grid(range *r)
{
    r->A->no_grid = tct_grid_find(&r->at, r->A, &r->grid);
    r->A->grid = r->A->no_grid ? NULL : &r->grid;
}

static void expect_grid(range *r)
{
    find_grid(r);
    if (r->A->no_grid) fail_msg("%s: %s", r->what, r->A->no_grid);
}

typedef void (*check)(range *r);

/* The whole grid, and ranges from anywhere; each rank's slab and its part. */
static void everywhere(check what)
{
    static const double ends[][2] = {
        {0.0, 1.0}, {0.0, 0.4}, {0.37, 0.71}, {0.5, 1.0}, {0.3, 0.3}};
    for (int n = 0; n < NAMES; n++)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            range r;
            open_range(&r, names[n], ends[e][0], ends[e][1]);
            expect_grid(&r);
            what(&r);
            tct_parts_clear(&r.parts);
        }
}

/* --- products ------------------------------------------------------------- */

static double *numbers(int64_t n, int seed)
{
    double *x = malloc(((size_t)n + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = 2.0 * tct_uniform((uint64_t)seed, (uint64_t)i) - 1.0;
    return x;
}

static void expect_bits(const range *r, const char *what, const double *got,
                        const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%s: %s: row %lld is %.17g, not %.17g", r->what, what,
                     (long long)i, got[i], want[i]);
}

static tct_block *block_of(const tct_format *f, tct_local *A, int threads)
{
    tct_block *B = NULL;
    assert_int_equal(f->create(A, team_of[threads], &B), TACIT_OK);
    return B;
}

static void check_products(range *r)
{
    const int64_t n = r->A->rows;
    double *x = numbers(n, 1), *y = numbers(n, 2), *z = numbers(n, 3);
    double dot[2];
    tct_block *csr = block_of(&tct_format_csr, r->A, 1);
    csr->ops->multiply(csr, x, y, &dot[0]);
    for (int threads = 1; threads <= TEAM_MOST; threads++) {
        tct_block *B = block_of(&tct_format_stencil, r->A, threads);
        assert_int_equal(B->nonzeros, csr->nonzeros);
        B->ops->multiply(B, x, z, &dot[1]);
        expect_bits(r, "product", z, y, n);
        expect_bits(r, "dot", &dot[1], &dot[0], 1);
        B->ops->destroy(B);
    }
    csr->ops->destroy(csr);
    free(x), free(y), free(z);
}

static void products_have_the_bits_of_csr(void **state)
{
    (void)state;
    static const char *const isa[] = {"base", "avx2", "avx512"};
    const tct_isa best = tct_isa_best();
    for (int i = 0; i <= (int)best; i++) {
        setenv("TACIT_ISA", isa[i], 1);
        everywhere(check_products);
    }
    unsetenv("TACIT_ISA");
}

static void check_panel(range *r)
{
    enum { COLUMNS = 3 };
    const int64_t n = r->A->rows, all = COLUMNS * n;
    double *x = numbers(all, 4), *y = numbers(all, 5), *z = numbers(all, 6);
    tct_block *csr = block_of(&tct_format_csr, r->A, 1);
    tct_block *B = block_of(&tct_format_stencil, r->A, 2);
    const tct_panel X = tct_panel_of(x, n, COLUMNS);
    const tct_panel Y = tct_panel_of(y, n, COLUMNS);
    const tct_panel Z = tct_panel_of(z, n, COLUMNS);
    csr->ops->multiply_block(csr, &X, &Y);
    B->ops->multiply_block(B, &X, &Z);
    expect_bits(r, "panel", z, y, all);
    csr->ops->destroy(csr);
    B->ops->destroy(B);
    free(x), free(y), free(z);
}

static void panels_are_so_many_products(void **state)
{
    (void)state;
    everywhere(check_panel);
}

/* Without entries to count, entries and diagonal are those of the matrix. */
static void check_facts(range *r)
{
    tct_local bare = {.rows = r->A->rows, .cols = r->A->cols, .grid = &r->grid};
    double *d = numbers(bare.rows, 7), *want = numbers(bare.rows, 8);
    tct_block *B = block_of(&tct_format_stencil, &bare, 1);
    assert_int_equal(B->nonzeros, r->A->ptr[r->A->rows]);
    tct_format_stencil.diagonal(B, d);
    tct_local_diagonal(r->A, want);
    expect_bits(r, "diagonal", d, want, bare.rows);
    B->ops->destroy(B);
    free(d), free(want);
}

static void entries_and_diagonal_are_right(void **state)
{
    (void)state;
    everywhere(check_facts);
}

/* --- what is no grid ------------------------------------------------------ */

static void expect_no_grid(range *r, const char *words)
{
    tct_block *B = NULL;
    const char *reason = NULL;
    find_grid(r);
    if (!r->A->no_grid) fail_msg("%s: a grid", r->what);
    assert_non_null(strstr(r->A->no_grid, words));
    assert_true(tct_format_stencil.bytes(r->A, &reason) < 0.0);
    assert_string_equal(reason, r->A->no_grid);
    assert_int_equal(tct_format_stencil.create(r->A, team_of[1], &B),
                     TACIT_UNSUPPORTED);
    assert_non_null(strstr(tacit_error_message(), words));
}

static void other_rows_are_refused(void **state)
{
    (void)state;
    static const char *const none[] = {"jump3d:9,100", "random:50,3"};
    range r;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        open_range(&r, none[i], 0.0, 1.0);
        expect_no_grid(&r, i == 0 ? "constant coefficients" : "gallery");
        tct_parts_clear(&r.parts);
    }
}

/* One number in any row, or a column, makes it another matrix. */
static void one_entry_makes_it_another(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        range r;
        open_range(&r, "poisson3d27:9x8x7", 0.2, 0.9);
        const int64_t at = r.A->ptr[r.A->rows] / 5 * k + k;
        r.A->val[at] += 1.0;
        expect_no_grid(&r, "constant coefficients");
        r.A->val[at] -= 1.0;
        expect_grid(&r);
        r.A->col[at]++;
        expect_no_grid(&r, "constant coefficients");
        r.A->col[at]--;
        r.at.n[0]++;
        expect_no_grid(&r, "constant coefficients");
        tct_parts_clear(&r.parts);
    }
}

static void grids_beyond_32_bits_are_refused(void **state)
{
    (void)state;
    const tct_grid_place lines = {.n = {INT64_C(3) << 30, 3, 1}};
    const tct_grid_place far = {.n = {INT32_MAX, 2, 2}, .first = INT32_MAX - 1};
    tct_grid_rows g;
    assert_false(tct_grid_open(&lines, 10, &g));
    assert_false(tct_grid_open(&far, 10, &g));
    assert_false(tct_grid_open(&far, INT32_MAX, &g));
    assert_true(tct_grid_open(&far, 1, &g));
}

/* --- new values ----------------------------------------------------------- */

static void new_values_are_taken_or_refused(void **state)
{
    (void)state;
    range r;
    tct_difference where = {.row = -1};
    open_range(&r, "poisson2d:70x9", 0.1, 0.8);
    expect_grid(&r);
    tct_block *B = block_of(&tct_format_stencil, r.A, 2);
    const int64_t n = r.A->rows, entries = r.A->ptr[n];
    for (int64_t k = 0; k < entries; k++) r.A->val[k] *= 3.0;
    assert_int_equal(tct_format_stencil.refill(B, r.A), TACIT_OK);
    double *x = numbers(n, 1), *y = numbers(n, 2), *z = numbers(n, 3);
    tct_block *csr = block_of(&tct_format_csr, r.A, 1);
    csr->ops->multiply(csr, x, y, NULL);
    r.A->val[entries / 2] = 5.0; /* not taken, not even in part */
    assert_int_equal(tct_format_stencil.refill(B, r.A), TACIT_UNSUPPORTED);
    r.A->differs = &where;
    r.A->col[entries / 2]++;
    assert_int_equal(tct_format_stencil.refill(B, r.A), TACIT_INVALID);
    assert_true(r.A->ptr[where.row] <= entries / 2 &&
                entries / 2 < r.A->ptr[where.row + 1]);
    B->ops->multiply(B, x, z, NULL);
    expect_bits(&r, "after refusals", z, y, n);
    csr->ops->destroy(csr);
    B->ops->destroy(B);
    tct_parts_clear(&r.parts);
    free(x), free(y), free(z);
}

/* Rows of a sample are those of the grid from where its pieces begin. */
static void a_sample_has_rows_of_the_grid(void **state)
{
    (void)state;
    enum { PIECE = 700, ROWS = 2 * PIECE + 130 };
    static const int64_t first[] = {100, 1300, 2201};
    range r;
    open_range(&r, "poisson3d27:17x13x11", 0.0, 1.0);
    expect_grid(&r);
    tct_local sample = *r.A;
    int64_t ptr[ROWS + 1] = {0}; /* of which the last counts */
    sample.rows = ROWS;
    sample.ptr = ptr;
    sample.sample = first;
    sample.piece = PIECE;
    double *x = numbers(r.A->rows, 1), *y = numbers(r.A->rows, 2);
    double *z = numbers(ROWS, 3);
    tct_block *all = block_of(&tct_format_stencil, r.A, 2);
    tct_block *B = block_of(&tct_format_stencil, &sample, 2);
    all->ops->multiply(all, x, y, NULL);
    B->ops->multiply(B, x, z, NULL);
    for (int n = 0; n < 3; n++)
        expect_bits(&r, "sample", z + n * PIECE, y + first[n],
                    n < 2 ? PIECE : ROWS - 2 * PIECE);
    all->ops->destroy(all);
    B->ops->destroy(B);
    tct_parts_clear(&r.parts);
    free(x), free(y), free(z);
}

/* --- the choice ----------------------------------------------------------- */

static void the_choice_measures_it(void **state)
{
    (void)state;
    static const char *const grids[] = {"poisson3d:24x23x22",
                                        "poisson3d:3x3x3"};
    for (int i = 0; i < 2; i++) {
        range r;
        tacit_trial trials[TCT_TRIALS_MOST];
        int count = 0, seen = 0;
        open_range(&r, grids[i], 0.0, 1.0);
        expect_grid(&r);
        assert_non_null(tct_format_choose(r.A, team_of[2], trials, &count));
        for (int k = 0; k < count; k++) {
            if (strcmp(trials[k].format, "stencil") != 0) continue;
            seen++;
            if (i == 0) assert_true(trials[k].seconds > 0.0);
            else assert_non_null(strstr(trials[k].reason, "small"));
        }
        assert_int_equal(seen, 1);
        tct_parts_clear(&r.parts);
    }
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    range r;
    open_range(&r, "poisson2d:70x9", 0.1, 0.8);
    expect_grid(&r);
    const size_t blocks = tct_memory_blocks();
    tacit_status status = TACIT_NO_MEMORY;
    for (long k = 1; status != TACIT_OK; k++) {
        tct_block *B = NULL;
        tct_memory_fail_at(k);
        status = tct_format_stencil.create(r.A, team_of[2], &B);
        tct_memory_fail_at(0);
        if (status == TACIT_OK) B->ops->destroy(B);
        assert_int_equal(tct_memory_blocks(), blocks);
        assert_true(k < 100);
    }
    tct_parts_clear(&r.parts);
}

/* --- 32 bits -------------------------------------------------------------- */

/* The neighbour in 64 bits. */
static int64_t neighbour(const tct_grid_place *at, int64_t rows, int64_t row,
                         const int d[3])
{
    const int64_t *n = at->n, cell = at->first + row, line = cell / n[0];
    const int64_t x[3] = {cell % n[0] + d[0], line % n[1] + d[1],
                          line / n[1] + d[2]};
    for (int k = 0; k < 3; k++)
        if (x[k] < 0 || x[k] >= n[k]) return -1;
    const int64_t j = (x[2] * n[1] + x[1]) * n[0] + x[0] - at->first;
    return j < 0 || j >= rows ? -1 : j;
}

/* Rows at both ends of ranges, some of nearly 2^31 rows. */
static void neighbours_are_those_of_64_bits(void **state)
{
    (void)state;
    static const tct_grid_place at[] = {
        {{1290, 1291, 1289}, 0},           {{46341, 46339, 2}, 5},
        {{2147480000, 3, 2}, 3600},        {{3, 2147483000, 5}, 77777},
        {{1, 1, INT64_C(1) << 40}, 1234},  {{65536, 65536, 65536}, 65535},
        {{1000003, 999983, 7}, 123456789}, {{7, 11, 13}, 100}};
    static const int64_t rows[] = {
        1290ll * 1291 * 1289, 2147395599ll, 40000,        2000000000ll,
        2147483000ll,         2147400000ll, 2100000000ll, 800};
    for (size_t g = 0; g < sizeof at / sizeof *at; g++) {
        tct_grid_rows grid;
        assert_true(tct_grid_open(&at[g], rows[g], &grid));
        grid.box = true;
        for (int64_t i = 0; i < 4000; i++) {
            const int64_t each = rows[g] / 1000;
            const int64_t row = i < 1000   ? i % rows[g]
                                : i < 2000 ? rows[g] - 1 - i % 1000 % rows[g]
                                : i < 3000 ? i % 1000 * each
                                           : (i * 7919 + 13) % rows[g];
            if (row < 0 || row >= rows[g]) continue;
            const tct_grid_cell c = tct_grid_cell_of(&grid, (int32_t)row);
            for (int p = 0; p < TCT_GRID_POINTS; p++) {
                const int d[3] = {p % 3 - 1, p / 3 % 3 - 1, p / 9 - 1};
                const int64_t want = neighbour(&at[g], rows[g], row, d);
                const int32_t got = tct_grid_neighbour(&grid, c, p / 3, d[0]);
                if (got != want)
                    fail_msg("grid %zu, row %lld, point %d: %d, not %lld", g,
                             (long long)row, p, got, (long long)want);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_the_bits_of_csr),
        cmocka_unit_test(panels_are_so_many_products),
        cmocka_unit_test(entries_and_diagonal_are_right),
        cmocka_unit_test(other_rows_are_refused),
        cmocka_unit_test(one_entry_makes_it_another),
        cmocka_unit_test(grids_beyond_32_bits_are_refused),
        cmocka_unit_test(new_values_are_taken_or_refused),
        cmocka_unit_test(a_sample_has_rows_of_the_grid),
        cmocka_unit_test(the_choice_measures_it),
        cmocka_unit_test(no_memory_is_survived),
        cmocka_unit_test(neighbours_are_those_of_64_bits),
    };
    return cmocka_run_group_tests(tests, open_teams, close_teams);
}
