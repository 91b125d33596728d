/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_amg.c - algebraic multigrid on the cuda device: as few
 * iterations as on the host in every loop that supports it, the same bits in
 * two solves, a symmetric positive definite operator; set-up on the device
 * equals the host's; coarse levels as one kernel equal launches.
 *
 * LABEL: gpu
 * RUN: np=1,2
 * PROCESSES: 2 */
#include "amg_problem.h"
#include "matrix/matrix.h"

/* A K is for flexible alone. */
static const char *method_for(const char *cycle)
{
    return strcmp(cycle, "k") == 0 ? "flexible" : "cg";
}

/* Of levels; iterations with doubles are the host's. */
static const char *precision = "double";

static void open_amg(amg *a, const char *device, const char *matrix,
                     const char *format, const char *cycle)
{
    const tacit_precond_options o = {
        .size = sizeof o, .cycle = cycle, .precision = precision};
    open_amg_of(a, device, gallery_matrix(matrix), format, method_for(cycle),
                &o);
}

static void check_solves_near(amg *a, const char *what, int64_t wanted,
                              int64_t apart)
{
    const int64_t first = solve_amg(a, 1e-8);
    double *x = host_copy(a->p.q, a->p.n, a->p.x);
    const int64_t second = solve_amg(a, 1e-8);
    double *y = host_copy(a->p.q, a->p.n, a->p.x);
    if (llabs(first - wanted) > apart || first != second)
        fail_msg("%s: %d and %d iterations, %d on the host", what, (int)first,
                 (int)second, (int)wanted);
    if (!same_bits(x, y, a->p.n)) fail_msg("%s: other bits", what);
    free(x);
    free(y);
}

static void check_solves(amg *a, const char *what, int64_t wanted)
{
    check_solves_near(a, what, wanted, 1);
}

static void iterations_are_those_of_the_host(void **state)
{
    (void)state;
    static const char *const matrices[] = {"poisson3d:24", "jump3d:16,1e4,1",
                                           "tet3d:12,1", "elasticity3d:7"};
    static const char *const formats[] = {"sell", "csr", "sell/f64@rcm"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            static const char *const cycles[] = {"v", "w", "k"};
            const char *cycle = cycles[k];
            amg host, a;
            open_amg(&host, "host", matrices[i], "csr@none", cycle);
            const int64_t wanted = solve_amg(&host, 1e-8);
            close_amg(&host);
            const bool cuda = strcmp(TEST_DEVICE, "cuda") == 0;
            open_amg(&a, TEST_DEVICE, matrices[i], cuda ? formats[k] : "sell",
                     cycle);
            for (int d = 0; tacit_loop_at(d); d++) {
                char what[128];
                const char *loop = tacit_loop_at(d)->name;
                if (tacit_solver_set_loop(a.p.s, loop) < 0) continue;
                assert_string_not_equal(loop, "resident");
                snprintf(what, sizeof what, "%s in %s, loop %s", matrices[i],
                         formats[k], loop);
                check_solves(&a, what, wanted);
            }
            close_amg(&a);
        }
}

/* Of levels that a device has made, P is kept, and the vectors in its range. */
static void new_values_come_into_systems(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, TEST_DEVICE, "elasticity3d:20", "bsell@none", "v");
    tct_csr *A = &a.p.m->A;
    const int64_t before = solve_amg(&a, 1e-8);
    for (int64_t k = 0; k < A->ptr[A->rows]; k++) A->val[k] *= 0x1p30;
    OK(tacit_operator_update(a.p.A, a.p.m));
    OK(tacit_precond_update(a.M, a.p.m));
    check_solves(&a, "new values", before);
    close_amg(&a);
}

/* Values that are larger by a power of 2, and a recording of the old levels: as
 * many iterations, and none of them with memory that is gone. */
static void new_values_come_into_every_loop(void **state)
{
    (void)state;
    for (int d = 0; tacit_loop_at(d); d++) {
        amg a;
        open_amg(&a, TEST_DEVICE, "jump3d:30,1e3,1", "sell", "v");
        tct_csr *A = &a.p.m->A;
        if (tacit_solver_set_loop(a.p.s, tacit_loop_at(d)->name) == TACIT_OK) {
            const int64_t before = solve_amg(&a, 1e-8);
            for (int64_t k = 0; k < A->ptr[A->rows]; k++) A->val[k] *= 0x1p30;
            OK(tacit_operator_update(a.p.A, a.p.m));
            OK(tacit_precond_update(a.M, a.p.m));
            check_solves(&a, tacit_loop_at(d)->name, before);
        }
        close_amg(&a);
    }
}

static void auto_takes_a_loop_that_can(void **state)
{
    (void)state;
    amg a;
    open_amg(&a, TEST_DEVICE, "poisson3d:20", "auto", "v");
    OK(tacit_solver_set_loop(a.p.s, "auto"));
    solve_amg(&a, 1e-8);
    assert_string_not_equal(a.p.result.loop, "resident");
    close_amg(&a);
}

static void it_is_symmetric_and_positive(void **state)
{
    (void)state;
    static const char *const cycles[] = {"v", "w"};
    for (int c = 0; c < 2; c++) {
        amg a;
        open_amg(&a, TEST_DEVICE, "jump3d:15,1e5,1", "sell", cycles[c]);
        const size_t n = a.p.n;
        double *u = random_vector(n, 3), *v = random_vector(n, 4);
        double *mu = image_of(a.M, a.p.q, n, u),
               *mv = image_of(a.M, a.p.q, n, v);
        const double uu = dot_of(n, u, mu), vv = dot_of(n, v, mv);
        assert_true(uu > 0.0 && vv > 0.0);
        assert_true(fabs(dot_of(n, u, mv) - dot_of(n, v, mu)) <=
                    1e-12 * sqrt(uu * vv));
        free(u);
        free(v);
        free(mu);
        free(mv);
        close_amg(&a);
    }
}

/* --- set-up on the device ------------------------------------------------- */

/* Levels that the device has made, and matrices that went to it after
 * multigrid's set-up began, as the log of one rank tells. */
static int64_t told_there, copied;

static void listen(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    told_there += strstr(text, "level") && strstr(text, "on the device");
    if (strstr(text, "amg: opened")) copied = 0;
    copied += strstr(text, "rows copied to the device") != NULL;
}

static void open_set_up(amg *a, const char *where, const char *matrix,
                        const char *format, const char *cycle)
{
    told_there = 0;
    assert_int_equal(setenv("TACIT_AMG_SETUP", where, 1), 0);
    tacit_set_log(listen, NULL);
    open_amg(a, TEST_DEVICE, matrix, format, cycle);
    tacit_set_log(NULL, NULL);
    assert_int_equal(unsetenv("TACIT_AMG_SETUP"), 0);
    OK(tct_reduce_i64(test_world(), TCT_MAX, 1, &told_there));
}

/* The largest eigenvalue is from sums, which formats make in their own
 * order. */
static void expect_same_levels(const amg *host, const amg *a, const char *what)
{
    for (int i = 0; tacit_precond_level_at(host->M, i); i++) {
        const tacit_precond_level *h = tacit_precond_level_at(host->M, i);
        const tacit_precond_level *t = tacit_precond_level_at(a->M, i);
        if (!t || h->rows != t->rows || h->nonzeros != t->nonzeros ||
            h->bits != t->bits ||
            !(fabs(h->largest - t->largest) <= 1e-9 * h->largest))
            fail_msg("%s, level %d: %d rows, %d entries, %.17g on the host; "
                     "%d, %d, %.17g",
                     what, i, (int)h->rows, (int)h->nonzeros, h->largest,
                     t ? (int)t->rows : 0, t ? (int)t->nonzeros : 0,
                     t ? t->largest : 0.0);
    }
}

static void expect_same_images(const amg *host, const amg *a, const char *what,
                               double tolerance)
{
    const size_t n = host->p.n;
    double *x = random_vector(n, 5);
    double *y = image_of(host->M, host->p.q, n, x);
    double *z = image_of(a->M, a->p.q, n, x);
    const double apart = distance_of(n, y, z), size = norm_of(n, y);
    if (!(apart <= tolerance * size))
        fail_msg("%s: M x is %g away, of %g", what, apart, size);
    free(x);
    free(y);
    free(z);
}

/* On several ranks aggregates that are made there are of rows of one rank. */
static void check_set_up(const char *matrix, const char *format,
                         const char *cycle, int levels)
{
    const bool alone = tacit_world_size(test_world()) == 1;
    amg host, a, again;
    open_set_up(&host, "host", matrix, format, cycle);
    assert_int_equal(told_there, 0);
    open_set_up(&a, "device", matrix, format, cycle);
    if (told_there < levels || (levels == 0 && told_there > 0))
        fail_msg("%s: %d levels were made there", matrix, (int)told_there);
    if (alone && levels > 0 && copied > 0)
        fail_msg("%s: the host stored %d levels", matrix, (int)copied);
    open_set_up(&again, "device", matrix, format, cycle);
    const int64_t wanted = solve_amg(&host, 1e-8);
    if (alone || levels == 0) {
        expect_same_levels(&host, &a, matrix);
        expect_same_images(&host, &a, matrix, 1e-9);
        check_solves(&a, matrix, wanted);
    } else {
        check_solves_near(&a, matrix, wanted, 1 + wanted / 5);
    }
    expect_same_images(&again, &a, matrix, 0.0);
    close_amg(&host);
    close_amg(&again);
    close_amg(&a);
}

/* [1] On levels 1 and 2 rows have so different lengths that slices in their
 * order would have half as many cells again. */
static void set_up_there_comes_to_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *matrix, *format, *cycle, *precision;
    } cases[] = {{"poisson3d:40", "csr@none", "v", "double"},
                 {"poisson3d:41", "sell/f64@none", "v", "double"},
                 {"poisson3d:64", "sell@none", "v", "auto"},
                 {"poisson3d:64", "sell32@none", "w", "double"},
                 {"jump3d:64,1e4,1", "sell/f64@none", "v", "float"}, /* [1] */
                 {"anisotropic3d:45,0.01", "sell@none", "v", "float"},
                 {"tet3d:40,1", "sell/f64@none", "v", "auto"},
                 {"tet3d:41,1", "sell/f64@none", "v", "double"},
                 {"poisson2d:400", "sell@none", "v", "double"},
                 {"elasticity3d:24", "bsell@none", "v", "double"},
                 {"elasticity3d:24", "sell/f64@none", "v", "auto"},
                 {"elasticity3d:30x20x10", "csr@none", "w", "double"},
                 {"elasticity3d:24", "sell/f64@rcm", "v", "double"}};
    const bool cuda = strcmp(TEST_DEVICE, "cuda") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *matrix = cases[i].matrix;
        const char *format = cuda ? cases[i].format : "sell";
        const bool left = strstr(format, "@rcm") != NULL;
        precision = cases[i].precision;
        check_set_up(matrix, format, cases[i].cycle, cuda && !left ? 1 : 0);
    }
    precision = "double";
}

/* Coarse levels that are no kernel stay on the device longer. */
static void several_levels_are_made_there(void **state)
{
    (void)state;
    const bool cuda = strcmp(TEST_DEVICE, "cuda") == 0;
    assert_int_equal(setenv("TACIT_AMG_COARSE", "launches", 1), 0);
    precision = "auto";
    check_set_up("poisson3d:96", cuda ? "sell/f64@none" : "sell", "v",
                 cuda ? 2 : 0);
    precision = "double";
    assert_int_equal(unsetenv("TACIT_AMG_COARSE"), 0);
}

/* --- coarse levels as one kernel ------------------------------------------ */

static void open_coarse(amg *a, const char *how, const char *matrix,
                        const char *cycle)
{
    const bool cuda = strcmp(TEST_DEVICE, "cuda") == 0;
    tacit_precond_info info = {.size = sizeof info};
    assert_int_equal(setenv("TACIT_AMG_COARSE", how, 1), 0);
    open_amg(a, TEST_DEVICE, matrix, cuda ? "sell/f64@none" : "sell", cycle);
    assert_int_equal(unsetenv("TACIT_AMG_COARSE"), 0);
    OK(tacit_precond_describe(a->M, &info));
    const bool wanted = cuda && strcmp(how, "launches") != 0 && *cycle != 'k';
    if (!strstr(info.detail, "one kernel") == wanted)
        fail_msg("%s, cycle %s, %s: %s", matrix, cycle, how, info.detail);
}

/* Several ranks find the ends of smoothers' intervals from another start than
 * one rank does that has a level alone, and so to some digits. */
static double image_tolerance(void)
{
    return tacit_world_size(test_world()) == 1 ? 1e-13 : 1e-2;
}

/* Levels of 32,768 and of 1,013 rows, made on the device and by the host; some
 * that end with what is smoothed, some that have hardly any rows. */
static void one_kernel_comes_to_what_launches_do(void **state)
{
    (void)state;
    static const struct {
        const char *matrix, *cycle;
    } cases[] = {{"poisson3d:64", "v"}, {"poisson3d:50", "w"},
                 {"tet3d:30,1", "v"},   {"jump3d:40,1e4,1", "w"},
                 {"poisson2d:90", "v"}, {"poisson3d:30", "k"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *matrix = cases[i].matrix;
        amg launches, a;
        open_coarse(&launches, "launches", matrix, cases[i].cycle);
        open_coarse(&a, "kernel", matrix, cases[i].cycle);
        if (*cases[i].cycle != 'k') {
            expect_same_images(&launches, &a, matrix, image_tolerance());
            expect_same_images(&a, &a, matrix, 0.0);
        }
        const int64_t wanted = solve_amg(&launches, 1e-8);
        for (int d = 0; tacit_loop_at(d); d++)
            if (tacit_solver_set_loop(a.p.s, tacit_loop_at(d)->name) >= 0)
                check_solves(&a, matrix, wanted);
        close_amg(&launches);
        close_amg(&a);
    }
}

static void one_kernel_follows_new_values(void **state)
{
    (void)state;
    amg launches, a;
    amg *both[] = {&launches, &a};
    open_coarse(&launches, "launches", "jump3d:40,1e3,1", "v");
    open_coarse(&a, "kernel", "jump3d:40,1e3,1", "v");
    solve_amg(&a, 1e-8);
    for (int i = 0; i < 2; i++) {
        tct_csr *A = &both[i]->p.m->A;
        for (int64_t k = 0; k < A->ptr[A->rows]; k++) A->val[k] *= 3.0;
        assert_int_equal(
            setenv("TACIT_AMG_COARSE", i == 0 ? "launches" : "kernel", 1), 0);
        OK(tacit_operator_update(both[i]->p.A, both[i]->p.m));
        OK(tacit_precond_update(both[i]->M, both[i]->p.m));
        assert_int_equal(unsetenv("TACIT_AMG_COARSE"), 0);
    }
    expect_same_images(&launches, &a, "new values", image_tolerance());
    check_solves(&a, "new values", solve_amg(&launches, 1e-8));
    close_amg(&launches);
    close_amg(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_those_of_the_host),
        cmocka_unit_test(new_values_come_into_every_loop),
        cmocka_unit_test(new_values_come_into_systems),
        cmocka_unit_test(auto_takes_a_loop_that_can),
        cmocka_unit_test(it_is_symmetric_and_positive),
        cmocka_unit_test(set_up_there_comes_to_the_same),
        cmocka_unit_test(several_levels_are_made_there),
        cmocka_unit_test(one_kernel_comes_to_what_launches_do),
        cmocka_unit_test(one_kernel_follows_new_values),
    };
    TEST_GPU_MAIN(tests);
}
