/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gallery.c - gallery matrices by formula: their counts, symmetry to
 * the last bit, positive definiteness, independence of the distribution of
 * rows, and errors for bad names. */
#include "gallery/element.h"
#include "gallery/recipe.h"
#include "gallery_check.h"

/* --- counts --------------------------------------------------------------- */

typedef struct {
    const char *name;
    int64_t rows, nonzeros;
    int64_t least, most; /* entries of a row; 0: not checked */
} counts;

/* The large ones are those of the collection's matrices, or as near as the
 * recipe comes; nlpkkt80 stores 512,000 zeros on its diagonal. */
static const counts known_counts[] = {
    {"poisson1d:1000000", 1000000, 2999998, 2, 3},
    {"poisson2d:1000", 1000000, 4996000, 3, 5},
    {"poisson2d:30x50", 1500, 7340, 3, 5},
    {"poisson3d:250", 15625000, 109000000, 4, 7},
    {"poisson3d:3x4x5", 60, 326, 4, 7},
    {"poisson2d9:512", 262144, 2353156, 4, 9},
    {"poisson3d27:100", 1000000, 26463592, 8, 27},
    {"anisotropic3d:100,0.01", 1000000, 6940000, 4, 7},
    {"jump3d:100,1e4,5", 1000000, 6940000, 4, 7},
    {"elasticity3d:30", 81000, 6133248, 24, 81},
    {"like:ecology2", 999999, 4995991, 3, 5},
    {"like:parabolic_fem", 525825, 3674625, 3, 7},
    {"like:apache2", 715176, 4817870, 4, 7},
    {"like:queen_4147", 4147110, 329499288, 24, 81},
    {"like:flan_1565", 1564920, 117415368, 24, 81},
    {"like:consph", 83328, 6007320, 24, 81},
    {"like:crankseg_2", 63825, 11266065, 81, 375},
    {"like:ldoor", 952280, 46517170, 21, 49},
    {"like:hood", 220542, 10737076, 21, 49},
    {"like:serena", 1441908, 63568926, 15, 45},
    {"like:geo_1438", 1441908, 63568926, 15, 45},
    {"like:hook_1498", 1441908, 63568926, 15, 45},
    {"like:bump_2911", 2910897, 128884023, 15, 45},
    {"like:cube_coup_dt6", 2152008, 126595904, 0, 60},
    {"like:stocf-1465", 1468435, 21717815, 5, 15},
    {"like:g3_circuit", 1585081, 7660715, 1, 5},
    {"like:tmt_sym", 726756, 5080474, 3, 7},
    {"like:thermomech_dm", 204304, 1426514, 3, 7},
    {"like:thermal2", 1227664, 8584786, 3, 7},
    {"like:s2d9pt2048", 4194304, 37724164, 4, 9},
    {"like:nlpkkt80", 1062400, 28192672 + 512000, 5, 28},
};

static void check_counts(const counts *want)
{
    tct_gallery_matrix *g = open_matrix(want->name);
    int64_t sum = 0, least = INT64_MAX, most = 0;
    if (g->rows != want->rows)
        fail_msg("%s: %lld rows", want->name, (long long)g->rows);
    int64_t *length = malloc((size_t)g->rows * sizeof *length);
    assert_non_null(length);
    assert_int_equal(tct_gallery_lengths(g, 0, g->rows, length), TACIT_OK);
    for (int64_t i = 0; i < g->rows; i++) {
        sum += length[i];
        if (length[i] < least) least = length[i];
        if (length[i] > most) most = length[i];
    }
    free(length);
    if (sum != want->nonzeros || most != want->most ||
        (want->least && least != want->least))
        fail_msg("%s: %lld entries, %lld to %lld a row", want->name,
                 (long long)sum, (long long)least, (long long)most);
    if (!g->guessed && g->nonzeros != (double)sum)
        fail_msg("%s: %.17g entries foretold", want->name, g->nonzeros);
    assert_true(fabs(g->nonzeros / (double)sum - 1.0) < 0.1);
    assert_true(most <= g->widest);
    tct_gallery_close(&g);
}

static void test_counts(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof known_counts / sizeof known_counts[0]; k++)
        check_counts(&known_counts[k]);
}

/* Sizes that are known without looking at the rows. */
static void test_large_sizes(void **state)
{
    (void)state;
    tct_gallery_matrix *g = open_matrix("poisson1d:1073741824");
    assert_true(g->rows == INT64_C(1) << 30);
    assert_true(g->nonzeros == 3221225470.0);
    tct_gallery_close(&g);
    g = open_matrix("like:nlpkkt160");
    assert_int_equal(g->rows, 8345600);
    assert_true(g->nonzeros == 225422112.0 + 4096000.0);
    tct_gallery_close(&g);
    g = open_matrix("poisson3d:200000"); /* 64 bits are enough to name it */
    tct_csr A = fill_rows(g, g->rows - 2, 2);
    assert_non_null(A.col64);
    assert_int_equal(A.ptr[1], 5);
    assert_true(A.col64[A.ptr[2] - 1] == g->rows - 1);
    assert_true(A.val[A.ptr[2] - 1] == 6.0);
    tct_csr_clear(&A);
    tct_gallery_close(&g);
}

/* --- small instances of everything ---------------------------------------- */

static const char *const definite[] = {
    "poisson1d:1",
    "poisson1d:40",
    "poisson2d:4x7",
    "poisson2d:1x9",
    "poisson3d:3x4x5",
    "poisson3d:6",
    "poisson2d9:9",
    "poisson3d27:1",
    "poisson3d27:5",
    "poisson3d27:2x7x3",
    "anisotropic3d:6,1e-3",
    "anisotropic3d:3x9x2,70",
    "jump3d:1,9",
    "jump3d:7,1e4,3",
    "jump3d:4x9x2,1e-3",
    "elasticity3d:1",
    "elasticity3d:4",
    "elasticity3d:2x5x1",
    "tet3d:2",
    "tet3d:3",
    "tet3d:4,9",
    "tet3d:5,-1",
    "tet3d:6",
    "tet3d:7,2",
    "random:1,3",
    "random:2,1",
    "random:37,80",
    "random:400,7,5",
    "like:apache2,3x4x5",
    "like:ecology2,9x7",
    "like:ecology2,3",
    "like:parabolic_fem,16",
    "like:queen_4147,3x4x5",
    "like:flan_1565,2",
    "like:consph,2x3x4",
    "like:crankseg_1,2",
    "like:ldoor,6x7",
    "like:hood,2",
    "like:serena,4x5x3",
    "like:geo_1438,2",
    "like:hook_1498,3",
    "like:bump_2911,4",
    "like:thermal2,12x9",
    "like:tmt_sym,9x14",
    "like:thermomech_dm,9x7",
    "like:stocf-1465,7",
    "like:g3_circuit,19x24",
    "like:cube_coup_dt6,3x4x3",
    "like:s2d9pt2048,17",
    "like:crankseg_2,2x2x3",
};

enum { DEFINITE = (int)(sizeof definite / sizeof definite[0]) };

static void test_symmetric_and_definite(void **state)
{
    (void)state;
    for (int k = 0; k < DEFINITE; k++) {
        tct_gallery_matrix *g = open_matrix(definite[k]);
        assert_false(g->indefinite);
        tct_gallery_close(&g);
        tct_csr A = make_matrix(definite[k]);
        check_symmetric(&A, definite[k]);
        const double pivot = smallest_pivot(&A);
        if (pivot < 1e-9) fail_msg("%s: pivot %g", definite[k], pivot);
        tct_csr_clear(&A);
    }
}

static void test_kkt_is_indefinite(void **state)
{
    (void)state;
    enum { N = 5 };
    tct_gallery_matrix *g = open_matrix("like:nlpkkt80,5");
    assert_true(g->indefinite);
    tct_csr A = fill_rows(g, 0, g->rows);
    check_symmetric(&A, "nlpkkt80");
    assert_true(smallest_pivot(&A) <= 0.0);
    int zeros = 0;
    for (int64_t k = 0; k < tct_csr_nonzeros(&A); k++) zeros += A.val[k] == 0.0;
    assert_int_equal(zeros, N * N * N);
    tct_csr_clear(&A);
    tct_gallery_close(&g);
}

static void test_pieces_are_the_same(void **state)
{
    (void)state;
    for (int k = 0; k < DEFINITE; k++) check_pieces(definite[k]);
    check_pieces("like:nlpkkt80,5");
    check_pieces("tet3d:17,4"); /* more planes and blocks than one */
    check_pieces("elasticity3d:9");
    check_pieces("random:3000,5");
    check_pieces("poisson2d:70");
}

/* Every recipe is named in the tests above by its small or its real size. */
static void test_every_recipe_opens(void **state)
{
    (void)state;
    int count = 0;
    const tct_recipe *r;
    for (; (r = tct_recipe_at(count)) != NULL; count++) {
        char name[64];
        snprintf(name, sizeof name, "like:%s", tct_recipe_name(r));
        assert_string_equal(r->about.name, name);
        tct_gallery_matrix *g = open_matrix(name);
        tct_csr A = fill_rows(g, g->rows / 2, 100);
        assert_true(tct_csr_nonzeros(&A) >= 100);
        assert_true(strlen(r->about.summary) > 10);
        tct_csr_clear(&A);
        tct_gallery_close(&g);
    }
    assert_int_equal(count, 24);
    tct_csr A = make_matrix("like:StocF_1465,4");
    tct_csr B = make_matrix("like:stocf-1465,4x4x4");
    assert_int_equal(tct_csr_nonzeros(&A), tct_csr_nonzeros(&B));
    tct_csr_clear(&A);
    tct_csr_clear(&B);
}

/* --- what stands in them -------------------------------------------------- */

static void test_stencils(void **state)
{
    (void)state;
    tct_csr A = make_matrix("poisson2d:3x2");
    static const int64_t col[] = {0, 1, 3, 0, 1, 2, 4, 1, 2, 5,
                                  0, 3, 4, 1, 3, 4, 5, 2, 4, 5};
    static const double val[] = {4,  -1, -1, -1, 4,  -1, -1, -1, 4,  -1,
                                 -1, 4,  -1, -1, -1, 4,  -1, -1, -1, 4};
    assert_int_equal(tct_csr_nonzeros(&A), 20);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(tct_csr_col(&A, k), col[k]);
        assert_true(A.val[k] == val[k]);
    }
    tct_csr_clear(&A);
    bool there;
    A = make_matrix("anisotropic3d:3,0.25");
    assert_true(entry_of(&A, 13, 13, &there) == 4.5);
    assert_true(entry_of(&A, 13, 12, &there) == -1.0);
    assert_true(entry_of(&A, 13, 10, &there) == -1.0);
    assert_true(entry_of(&A, 13, 4, &there) == -0.25);
    tct_csr_clear(&A);
    A = make_matrix("poisson3d27:3");
    assert_int_equal(A.ptr[14] - A.ptr[13], 27);
    for (int64_t j = 0; j < 27; j++)
        assert_true(entry_of(&A, 13, j, &there) == (j == 13 ? 26.0 : -1.0));
    tct_csr_clear(&A);
}

/* Two materials, harmonic means between them, and sigma once more on each
 * outer face: row sums tell which cell is which. */
static void test_jump(void **state)
{
    (void)state;
    const double ratio = 100.0;
    tct_csr A = make_matrix("jump3d:8,100,2");
    int mixed = 0, inside[2] = {0, 0};
    for (int64_t i = 0; i < A.rows; i++)
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const double flux = -A.val[k];
            if (tct_csr_col(&A, k) == i) continue;
            mixed += fabs(flux - 2.0 * ratio / (1.0 + ratio)) < 1e-12;
            inside[0] += flux == 1.0;
            inside[1] += fabs(flux - ratio) < 1e-12;
        }
    assert_int_equal(mixed + inside[0] + inside[1],
                     (int)tct_csr_nonzeros(&A) - 512);
    assert_true(mixed > 1000 && inside[0] > 400 && inside[1] > 400);
    tct_csr B = make_matrix("jump3d:8,100,3"), C = make_matrix("jump3d:8,100");
    tct_csr D = make_matrix("jump3d:8,100,1");
    const size_t bytes = (size_t)tct_csr_nonzeros(&A) * sizeof *A.val;
    assert_memory_not_equal(A.val, B.val, bytes); /* the seed matters */
    assert_memory_equal(C.val, D.val, bytes);     /* and is 1 if not given */
    tct_csr_clear(&A);
    tct_csr_clear(&B);
    tct_csr_clear(&C);
    tct_csr_clear(&D);
}

static void test_random(void **state)
{
    (void)state;
    tct_csr A = make_matrix("random:5000,6,11");
    int full = 0;
    double reach = 0.0;
    for (int64_t i = 0; i < A.rows; i++) {
        double beside = 0.0, diagonal = 0.0;
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(&A, k);
            if (j == i) diagonal = A.val[k];
            else beside += fabs(A.val[k]);
            reach += fabs((double)(i - j));
        }
        assert_true(diagonal > beside + 0.999);
        assert_in_range(A.ptr[i + 1] - A.ptr[i], 5, 7);
        full += A.ptr[i + 1] - A.ptr[i] == 7;
    }
    assert_true(full > 4900);
    /* partners are anywhere: a third of the rows away on average */
    reach /= (double)(tct_csr_nonzeros(&A) - A.rows);
    assert_true(fabs(reach / 5000.0 - 1.0 / 3.0) < 0.02);
    check_symmetric(&A, "random");
    tct_csr_clear(&A);
}

/* --- elasticity ----------------------------------------------------------- */

/* The six motions that do not deform: three along the axes, three around. */
static void rigid_motion(int mode, const double x[3], double u[3])
{
    u[0] = u[1] = u[2] = 0.0;
    if (mode < 3) {
        u[mode] = 1.0;
        return;
    }
    const int d = (mode + 1) % 3, e = (mode + 2) % 3;
    u[d] = -x[e];
    u[e] = x[d];
}

/* `K` of an element with nodes at `x` gives no force for them, and some for
 * stretching. */
static void check_rigid(int nodes, const double x[][3], const double *K)
{
    double u[81], largest = 0.0;
    for (int mode = 0; mode < 7; mode++) {
        double worst = 0.0;
        for (int a = 0; a < nodes; a++) {
            if (mode < 6) rigid_motion(mode, x[a], u + 3 * a);
            else memcpy(u + 3 * a, x[a], 3 * sizeof *u);
        }
        for (int i = 0; i < 3 * nodes; i++) {
            double force = 0.0;
            for (int j = 0; j < 3 * nodes; j++)
                force += K[3 * nodes * i + j] * u[j];
            worst = fmax(worst, fabs(force));
            largest = fmax(largest, fabs(K[3 * nodes * i + i]));
        }
        if (mode < 6) assert_true(worst < 1e-13 * largest * 81);
        else assert_true(worst > 1e-3 * largest);
    }
    for (int i = 0; i < 3 * nodes; i++)
        for (int j = 0; j < i; j++)
            assert_true(K[3 * nodes * i + j] == K[3 * nodes * j + i]);
}

static void test_rigid_motions_of_bricks(void **state)
{
    (void)state;
    const tct_physics steel = tct_elasticity(1.0, 0.3);
    static double K[TCT_BRICK_ROWS * TCT_BRICK_ROWS];
    for (int order = 1; order <= 2; order++) {
        double x[27][3];
        const int side = order + 1;
        for (int a = 0; a < side * side * side; a++) {
            x[a][0] = (double)(a % side) / order;
            x[a][1] = (double)(a / side % side) / order;
            x[a][2] = (double)(a / side / side) / order;
        }
        tct_brick_elasticity(&steel, order, K);
        check_rigid(side * side * side, (const double(*)[3])x, K);
    }
}

static void test_rigid_motions_of_tetrahedra(void **state)
{
    (void)state;
    const tct_physics steel = tct_elasticity(7.0, 0.25);
    static const int ends[6][2] = {{0, 1}, {1, 2}, {0, 2},
                                   {0, 3}, {1, 3}, {2, 3}};
    double x[10][3] = {{0.1, 0, 0}, {1, 0.2, 0}, {0, 1.1, 0.1}, {0.2, 0.1, 1}};
    double K[TCT_TET_ROWS * TCT_TET_ROWS];
    assert_true(tct_tet_matrix(&steel, 4, (const double(*)[3])x, K));
    check_rigid(4, (const double(*)[3])x, K);
    for (int m = 0; m < 6; m++) /* its edges are curved */
        for (int d = 0; d < 3; d++)
            x[4 + m][d] = 0.5 * (x[ends[m][0]][d] + x[ends[m][1]][d]) +
                          0.03 * (tct_uniform((uint64_t)(3 * m + d), 1) - 0.5);
    assert_true(tct_tet_matrix(&steel, 10, (const double(*)[3])x, K));
    check_rigid(10, (const double(*)[3])x, K);
}

/* The row of an interior node of elasticity3d feels no rigid motion. */
static void test_rigid_motions_of_elasticity3d(void **state)
{
    (void)state;
    enum { N = 5, MIDDLE = (2 * N + 2) * N + 2 };
    tct_csr A = make_matrix("elasticity3d:5");
    for (int mode = 0; mode < 6; mode++)
        for (int64_t i = 3 * MIDDLE; i < 3 * MIDDLE + 3; i++) {
            double force = 0.0, u[3];
            assert_int_equal(A.ptr[i + 1] - A.ptr[i], 81);
            for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
                const int64_t j = tct_csr_col(&A, k), node = j / 3;
                const double x[3] = {(double)(node % N), (double)(node / N % N),
                                     (double)(node / N / N)};
                rigid_motion(mode, x, u);
                force += A.val[k] * u[j % 3];
            }
            assert_true(fabs(force) < 1e-12);
        }
    tct_csr_clear(&A);
}

/* --- tet3d ---------------------------------------------------------------- */

/* However the nodes of a tetrahedron at rest are moved by a tenth of a side,
 * it keeps its sign; volumes are extreme at the ends of each move. */
static void test_jitter_turns_nothing_over(void **state)
{
    (void)state;
    static const double rest[2][4][3] = {
        {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0.5, 0.5, 0.5}},
        {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0.5}}};
    double least = 1.0;
    for (int shape = 0; shape < 2; shape++)
        for (int bits = 0; bits < 4096; bits++) {
            double x[4][3], G[4][3];
            for (int k = 0; k < 12; k++)
                x[k / 3][k % 3] =
                    rest[shape][k / 3][k % 3] + (bits >> k & 1 ? 0.1 : -0.1);
            const double six = tct_tet_gradients((const double(*)[3])x, G);
            if (six < least) least = six;
        }
    assert_true(fabs(least - 0.1) < 1e-12);
}

/* A Laplacian: rows sum to 0 but for those beside the held nodes, where what
 * is missing is a sum of couplings; rows are irregular. */
static void test_tet3d_is_a_laplacian(void **state)
{
    (void)state;
    tct_csr A = make_matrix("tet3d:24,5");
    int64_t zero = 0, held = 0;
    int lengths[28] = {0}, kinds = 0;
    for (int64_t i = 0; i < A.rows; i++) {
        double sum = 0.0, size = 0.0;
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            sum += A.val[k];
            size += fabs(A.val[k]);
        }
        const bool is_zero = fabs(sum) < 1e-13 * size * 30;
        zero += is_zero;
        held += !is_zero;
        /* numbered upwards: nothing is held in the upper two thirds */
        if (i > A.rows / 2) assert_true(is_zero);
        lengths[A.ptr[i + 1] - A.ptr[i]]++;
    }
    assert_true(held > 100 && zero > 8 * held);
    for (int n = 0; n < 28; n++) kinds += lengths[n] > 0;
    assert_true(kinds >= 20);
    check_symmetric(&A, "tet3d");
    tct_csr_clear(&A);
    tct_gallery_matrix *g = open_matrix("tet3d:100,1");
    assert_in_range(g->rows, 950000, 1050000);
    assert_true(g->irregular);
    tct_gallery_close(&g);
}

/* --- bad names ------------------------------------------------------------ */

static void test_bad_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tacit_status code;
        const char *part;
    } bad[] = {
        {"poison3d:10", TACIT_INVALID, "did you mean 'poisson3d'"},
        {"Poisson2D:10", TACIT_INVALID, "did you mean 'poisson2d'"},
        {"elastic3d:10", TACIT_INVALID, "did you mean 'elasticity3d'"},
        {"qqqqqqqqqqqqqq:1", TACIT_INVALID, "there is no gallery matrix"},
        {":", TACIT_INVALID, "there is no gallery matrix"},
        {"poisson3d", TACIT_INVALID, "usage: poisson3d:N"},
        {"poisson3d:", TACIT_INVALID, "usage: poisson3d:N"},
        {"poisson3d:ten", TACIT_INVALID, "not a whole number: 'ten'"},
        {"poisson3d:10 ", TACIT_INVALID, "not a whole number"},
        {"poisson3d: 10", TACIT_INVALID, "not a whole number"},
        {"poisson3d:1e3", TACIT_INVALID, "not a whole number"},
        {"poisson3d:0", TACIT_INVALID, "expected 1 or more"},
        {"poisson3d:-5", TACIT_INVALID, "expected 1 or more"},
        {"poisson3d:4x5", TACIT_INVALID, "expected 1 or 3 sides"},
        {"poisson3d:4x5x6x7", TACIT_INVALID, "expected 1 or 3 sides"},
        {"poisson3d:4xx6", TACIT_INVALID, "NY is not a whole number"},
        {"poisson2d:4x0", TACIT_INVALID, "NY = 0"},
        {"poisson1d:4x4", TACIT_INVALID, "not a whole number: '4x4'"},
        {"poisson3d:4,5", TACIT_INVALID, "too many arguments"},
        {"poisson3d27:", TACIT_INVALID, "no arguments"},
        {"anisotropic3d:10", TACIT_INVALID, "too few arguments"},
        {"anisotropic3d:10,0", TACIT_INVALID, "EPS = 0, expected a positive"},
        {"anisotropic3d:10,-1", TACIT_INVALID, "expected a positive"},
        {"anisotropic3d:10,inf", TACIT_INVALID, "expected a positive"},
        {"anisotropic3d:10,nan", TACIT_INVALID, "expected a positive"},
        {"anisotropic3d:10,x", TACIT_INVALID, "EPS is not a number"},
        {"jump3d:10", TACIT_INVALID, "too few arguments"},
        {"jump3d:10,5,1.5", TACIT_INVALID, "SEED is not a whole number"},
        {"jump3d:10,5,1,1", TACIT_INVALID, "too many arguments"},
        {"tet3d:1", TACIT_INVALID, "expected 2 or more"},
        {"tet3d:10,", TACIT_INVALID, "SEED is not a whole number"},
        {"random:10", TACIT_INVALID, "too few arguments"},
        {"random:10,-1", TACIT_INVALID, "expected 0 or more"},
        {"random:10,99999", TACIT_INVALID, "expected 4096 or less"},
        {"like:", TACIT_INVALID, "no arguments"},
        {"like:queen", TACIT_INVALID, "did you mean 'queen_4147'"},
        {"like:pwtk", TACIT_INVALID, "there is no recipe 'pwtk'"},
        {"like:quene_4147", TACIT_INVALID, "did you mean 'queen_4147'"},
        {"like:hood,1", TACIT_INVALID, "expected 2 or more"},
        {"like:hood,3x3x3", TACIT_INVALID, "expected 1 or 2 sides"},
        {"like:ecology2,2", TACIT_INVALID, "no interior point"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        check_error(bad[k].name, bad[k].code, bad[k].part);
    char name[600] = "poisson3d:";
    memset(name + 10, '7', sizeof name - 11);
    check_error(name, TACIT_INVALID, "more than 127 characters");
    memset(name, 'p', 10);
    check_error(name, TACIT_INVALID, "there is no gallery matrix");
}

static void test_sizes_that_do_not_fit(void **state)
{
    (void)state;
    static const char *const beyond[] = {
        "poisson1d:9223372036854775808",
        "poisson1d:9223372036854775807",
        "poisson2d:4000000000",
        "poisson3d:3000000",
        "poisson3d:1x1x999999999999999999999999",
        "elasticity3d:2000000",
        "jump3d:3000000,2",
        "random:4611686018427387904,100",
        "tet3d:1000001",
        "like:queen_4147,9223372036854775807",
        "like:ecology2,4000000000",
        "like:nlpkkt80,2000000",
    };
    static const char *const too_large[] = {
        "poisson1d:1000000000000", "poisson3d:30000",
        "elasticity3d:10000",      "tet3d:50000",
        "random:1000000000000,9",  "like:serena,20000",
        "like:nlpkkt80,30000",     "like:crankseg_2,9000",
    };
    for (size_t k = 0; k < sizeof beyond / sizeof beyond[0]; k++)
        check_error(beyond[k], TACIT_INPUT, "64 bits");
    for (size_t k = 0; k < sizeof too_large / sizeof too_large[0]; k++)
        check_error(too_large[k], TACIT_NO_MEMORY, "GiB");
}

static void test_ranges(void **state)
{
    (void)state;
    tct_gallery_matrix *g = open_matrix("tet3d:6");
    tct_csr A = {0};
    int64_t length;
    assert_int_equal(tct_gallery_fill(g, g->rows, 0, &A), TACIT_OK);
    assert_int_equal(tct_csr_nonzeros(&A), 0);
    assert_int_equal(tct_gallery_fill(g, 0, 1, &A), TACIT_INVALID); /* full */
    tct_csr_clear(&A);
    assert_int_equal(tct_gallery_fill(g, 0, g->rows + 1, &A), TACIT_INVALID);
    assert_int_equal(tct_gallery_fill(g, -1, 1, &A), TACIT_INVALID);
    assert_int_equal(tct_gallery_lengths(g, g->rows, 1, &length),
                     TACIT_INVALID);
    assert_int_equal(tct_gallery_open(NULL, &g), TACIT_INVALID);
    tct_gallery_close(&g);
    tct_gallery_close(&g); /* twice is fine */
    assert_int_equal(tct_memory_blocks(), 0);
}

static void test_names(void **state)
{
    (void)state;
    const char *arguments = NULL;
    assert_string_equal(tct_gallery_find("tet3d:9,4", &arguments)->about.name,
                        "tet3d");
    assert_string_equal(arguments, "9,4");
    assert_string_equal(tct_gallery_find("random", &arguments)->about.name,
                        "random");
    assert_string_equal(arguments, "");
    assert_null(tct_gallery_find("poisson", NULL));
    assert_null(tct_gallery_find("poisson3d.mtx", NULL));
    assert_true(tct_gallery_looks_like("poison3d:4"));
    assert_false(tct_gallery_looks_like("poison3d.mtx"));
    assert_false(tct_gallery_looks_like("../a:b"));
    assert_false(tct_gallery_looks_like("C:file"));
    int count = 0;
    const tacit_gallery *f;
    for (; (f = tacit_gallery_at(count)) != NULL; count++) {
        assert_true(strlen(f->summary) > 10);
        assert_ptr_equal(strstr(f->usage, f->name), f->usage);
        if (count >= 12) { /* a recipe: of the family `like` */
            assert_ptr_equal(tacit_gallery_find(f->name),
                             tacit_gallery_find("like"));
            continue;
        }
        assert_non_null(tct_gallery_find(f->name, NULL)->open);
        assert_ptr_equal(tacit_gallery_find(f->name), f);
    }
    assert_int_equal(count, 12 + 24);
    assert_null(tacit_gallery_at(-1));
    assert_null(tacit_gallery_find("poisson3d.mtx"));
}

static void test_no_memory(void **state)
{
    (void)state;
    check_no_memory("poisson2d:5");
    check_no_memory("elasticity3d:2");
    check_no_memory("tet3d:4");
    check_no_memory("like:consph,3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_large_sizes),
        cmocka_unit_test(test_symmetric_and_definite),
        cmocka_unit_test(test_kkt_is_indefinite),
        cmocka_unit_test(test_pieces_are_the_same),
        cmocka_unit_test(test_every_recipe_opens),
        cmocka_unit_test(test_stencils),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_rigid_motions_of_bricks),
        cmocka_unit_test(test_rigid_motions_of_tetrahedra),
        cmocka_unit_test(test_rigid_motions_of_elasticity3d),
        cmocka_unit_test(test_jitter_turns_nothing_over),
        cmocka_unit_test(test_tet3d_is_a_laplacian),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_sizes_that_do_not_fit),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
