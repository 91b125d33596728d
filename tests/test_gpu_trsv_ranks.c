/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_trsv_ranks.c - triangular solves with a factor in parts on the
 * GPUs of several ranks: by kernels with recursive doubling, and by messages
 * between two kernels, against the host's solves; several GPUs in a grid, with
 * the bits of one; the same bits every time; messages as predicted; refusals.
 *
 * RUN: np=1,2,4
 * LABEL: gpu */
#include "gpu.h"
#include "turned.h"

enum { AT_ONCE = 50 /* columns */ };

typedef struct {
    tacit_world *alone;
    tacit_matrix *m;
    tacit_factor *F;
    tacit_factor_panels P;
    size_t n;
} problem;

/* `name` with a + in front: turned. */
static problem open_problem(const char *name, tacit_factor_kind kind)
{
    problem p = {.P.size = sizeof p.P};
    const tacit_factor_options o = {
        .size = sizeof o, .leaves = 4, .kind = kind};
    OK(tacit_world_self(&p.alone));
    if (name[0] == '+') p.m = turned(p.alone, name + 1);
    else OK(tacit_matrix_open(p.alone, name, NULL, &p.m));
    OK(tacit_factor_create(p.m, &o, &p.F));
    OK(tacit_factor_view(p.F, &p.P));
    p.n = (size_t)p.P.rows;
    return p;
}

static void close_problem(problem *p)
{
    tacit_factor_destroy(&p->F);
    tacit_matrix_destroy(&p->m);
    tacit_world_destroy(&p->alone);
}

/* On a grid; NULL: the one that is taken without. */
static tacit_trsv *trsv_on(tacit_queue *q, const problem *p, int columns,
                           const int *grid)
{
    tacit_trsv_options o = {.size = sizeof o, .columns = columns, .queue = q};
    if (grid) memcpy(o.grid, grid, sizeof o.grid);
    tacit_trsv *T = NULL;
    OK(tacit_trsv_create(
        test_world(), tacit_world_rank(test_world()) ? NULL : &p->P, &o, &T));
    return T;
}

/* What this rank gives of X, 0 elsewhere, after a solve with B. */
static double *solved(tacit_queue *q, tacit_trsv *T, size_t n, int columns,
                      const double *b)
{
    const size_t all = n * (size_t)columns;
    double *zero = host_vector(all, 0.0);
    double *B = device_vector(q, all, b), *X = device_vector(q, all, zero);
    OK(tacit_trsv_solve(T, columns, B, n, X, n));
    OK(tacit_trsv_wait(T));
    double *x = host_copy(q, all, X);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    free(zero);
    return x;
}

/* X of this rank's GPU by itself has the same bits. */
static void expect_bits_of_one(const problem *p, int at_once, int columns,
                               const double *b, const double *x)
{
    const tacit_factor_solver_options o = {.size = sizeof o,
                                           .columns = at_once};
    const size_t n = p->n, all = n * (size_t)columns;
    tacit_queue *q = NULL;
    tacit_factor_solver *S = NULL;
    OK(tacit_queue_create(p->alone, TEST_DEVICE, 1, &q));
    OK(tacit_factor_solver_create(q, &p->P, &o, &S));
    double *B = device_vector(q, all, b), *X = device_vector(q, all, b);
    OK(tacit_factor_solver_run(S, columns, B, n, X, n));
    OK(tacit_factor_solver_wait(S));
    double *alone = host_copy(q, all, X);
    assert_true(same_bits(x, alone, all));
    free(alone);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_factor_solver_destroy(&S);
    tacit_queue_destroy(&q);
}

/* `bits`: those of one GPU. */
static void check_columns(tacit_queue *q, const problem *p, tacit_trsv *T,
                          int columns, bool bits)
{
    const size_t n = p->n, all = n * (size_t)columns;
    double *b = random_vector(all, columns), *want = host_vector(all, 0.0);
    OK(tacit_factor_solve(p->F, columns, b, n, want, n));
    double *x = solved(q, T, n, columns, b),
           *again = solved(q, T, n, columns, b);
    assert_true(same_bits(x, again, all));
    OK(tacit_world_reduce(test_world(), TACIT_SUM, all, x));
    for (int j = 0; j < columns; j++) {
        const double *xj = x + (size_t)j * n, *wj = want + (size_t)j * n;
        const double off = distance_of(n, xj, wj) / norm_of(n, wj);
        if (!(off <= 1e-11))
            fail_msg("column %d of %d is off by %.2e on %s", j, columns, off,
                     tacit_queue_link(q));
    }
    if (bits) expect_bits_of_one(p, AT_ONCE, columns, b, x);
    free(b);
    free(want);
    free(x);
    free(again);
}

/* Ranks send as many messages as steps, and L and U are as fast as they are. */
static void check_info(const tacit_trsv *T, int64_t launches)
{
    const int ranks = tacit_world_size(test_world());
    tacit_trsv_info info = {.size = sizeof info};
    int steps = 0;
    while (1 << steps < ranks) steps++;
    OK(tacit_trsv_describe(T, &info));
    assert_int_equal(info.grid[2], ranks);
    assert_int_equal(info.messages[1], (int64_t)steps * ranks);
    assert_int_equal(info.most_messages[1], steps);
    assert_int_equal(info.sent[1], launches * steps);
    assert_true(info.messages[0] == 0 && info.messages[2] == 0);
    assert_true(info.seconds[0] > 0.0 && info.seconds[2] > 0.0);
}

static void check_on(const char *spec, const char *name, tacit_factor_kind kind)
{
    tacit_queue *q = open_queue(spec);
    problem p = open_problem(name, kind);
    tacit_trsv *T = trsv_on(q, &p, AT_ONCE, NULL);
    check_columns(q, &p, T, 1, false);
    check_columns(q, &p, T, 7, false);
    check_columns(q, &p, T, 1, false);
    check_columns(q, &p, T, 53, false); /* in launches of different widths */
    check_info(T, 2 * (1 + 1 + 1 + 2));
    tacit_trsv_destroy(&T);
    close_problem(&p);
    tacit_queue_destroy(&q);
}

/* By which messages go where kernels do not send them. */
static const char *by_host(void)
{
    tacit_queue *q = NULL;
    if (tacit_world_size(test_world()) == 1) return TEST_DEVICE;
    const tacit_status status =
        tacit_queue_create(test_world(), TEST_DEVICE "@shm", 1, &q);
    tacit_queue_destroy(&q);
    return status == TACIT_OK ? TEST_DEVICE "@shm" : TEST_DEVICE "@mpi";
}

static void ranks_solve_in_one_kernel(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    const char *spec =
        tacit_world_size(test_world()) > 1 ? TEST_DEVICE "@peer" : TEST_DEVICE;
    check_on(spec, "poisson2d:90x70", TACIT_FACTOR_LLT);
    check_on(spec, "poisson3d:17", TACIT_FACTOR_LDLT);
    check_on(spec, "elasticity3d:6", TACIT_FACTOR_LU);
    check_on(spec, "+poisson2d:60x50", TACIT_FACTOR_LU);
}

static void ranks_solve_with_messages_between(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    check_on(by_host(), "poisson2d:90x70", TACIT_FACTOR_LLT);
    check_on(by_host(), "poisson3d:17", TACIT_FACTOR_LDLT);
    check_on(by_host(), "+poisson2d:60x50", TACIT_FACTOR_LU);
}

/* All ranks together send what was predicted. */
static void check_messages(const tacit_trsv *T, const int grid[3],
                           int64_t launches)
{
    tacit_trsv_info info = {.size = sizeof info};
    double sent[3];
    OK(tacit_trsv_describe(T, &info));
    for (int k = 0; k < 3; k++) sent[k] = (double)info.sent[k];
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 3, sent));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(info.grid[k], grid[k]);
        assert_true(sent[k] == (double)(launches * info.messages[k]));
        assert_true(info.messages[k] > 0 && info.most_messages[k] > 0);
        assert_true(info.seconds[k] > 0.0);
    }
    assert_true(info.one_kernel);
}

/* Each with one of these factors. */
static const struct {
    const char *name;
    tacit_factor_kind kind;
} zoo[] = {{"poisson3d:17", TACIT_FACTOR_LLT},
           {"elasticity3d:7", TACIT_FACTOR_LU},
           {"poisson2d:90x70", TACIT_FACTOR_LDLT}};
enum { ZOO = sizeof zoo / sizeof *zoo };

static void check_grid(int factor, const int grid[3])
{
    tacit_queue *q = open_queue(TEST_DEVICE "@peer");
    problem p = open_problem(zoo[factor].name, zoo[factor].kind);
    tacit_trsv *T = trsv_on(q, &p, AT_ONCE, grid);
    check_columns(q, &p, T, 1, grid[2] == 1);
    check_columns(q, &p, T, 53, grid[2] == 1);
    check_messages(T, grid, 2 * (1 + 2));
    tacit_trsv_destroy(&T);
    close_problem(&p);
    tacit_queue_destroy(&q);
}

static void grids_of_several_solve_in_one_kernel(void **state)
{
    static const int of_two[][3] = {{2, 1, 1}, {1, 2, 1}, {2, 1, 1}};
    static const int of_four[][3] = {
        {2, 2, 1}, {4, 1, 1}, {2, 1, 2}, {1, 2, 2}, {1, 4, 1}};
    (void)state;
    const int size = tacit_world_size(test_world());
    if (!gpu_for_each() || size == 1) skip();
    const int count = size == 2 ? 3 : 5;
    for (int k = 0; k < count; k++)
        check_grid(k % ZOO, size == 2 ? of_two[k] : of_four[k]);
}

/* Solve after solve, with nobody waiting for another in between. */
static void solve_many(const int *grid, int count)
{
    tacit_queue *q = open_queue(
        tacit_world_size(test_world()) > 1 ? TEST_DEVICE "@peer" : TEST_DEVICE);
    problem p = open_problem("poisson3d:9", TACIT_FACTOR_LLT);
    tacit_trsv *T = trsv_on(q, &p, 1, grid);
    double *b = random_vector(p.n, 4), *zero = host_vector(p.n, 0.0);
    double *first = solved(q, T, p.n, 1, b);
    double *B = device_vector(q, p.n, b), *X = device_vector(q, p.n, zero);
    for (int k = 0; k < count; k++) OK(tacit_trsv_solve(T, 1, B, p.n, X, p.n));
    OK(tacit_trsv_wait(T));
    double *last = host_copy(q, p.n, X);
    assert_true(same_bits(first, last, p.n));
    free(b);
    free(zero);
    free(first);
    free(last);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_trsv_destroy(&T);
    close_problem(&p);
    tacit_queue_destroy(&q);
}

static void many_solves_follow_one_another(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    solve_many(NULL, 60);
    const int size = tacit_world_size(test_world());
    if (size > 1) solve_many((const int[3]){2, 1, size / 2}, 12);
}

/* Rank 0 does not solve once: so the others do not, and never again. */
static void who_was_missed_is_not_made_up_for(void **state)
{
    (void)state;
    const int size = tacit_world_size(test_world());
    if (!gpu_for_each() || size == 1) skip();
    setenv("TACIT_PATIENCE", "0.5", 1);
    tacit_queue *q = open_queue(TEST_DEVICE "@peer");
    unsetenv("TACIT_PATIENCE");
    problem p = open_problem("poisson3d:9", TACIT_FACTOR_LLT);
    tacit_trsv *T = trsv_on(q, &p, 1, (const int[3]){1, 1, size});
    double *b = random_vector(p.n, 4);
    double *x = solved(q, T, p.n, 1, b);
    double *B = device_vector(q, p.n, b), *X = device_vector(q, p.n, b);
    for (int k = 0; k < 2 && tacit_world_rank(test_world()) > 0; k++) {
        OK(tacit_trsv_solve(T, 1, B, p.n, X, p.n));
        if (k == 0) EXPECT(TACIT_COMM, tacit_trsv_wait(T));
        else assert_true(tacit_trsv_wait(T) < TACIT_OK);
    }
    OK(tacit_world_agree(test_world(), TACIT_OK));
    free(b);
    free(x);
    tacit_queue_free(q, &B);
    tacit_queue_free(q, &X);
    tacit_trsv_destroy(&T);
    close_problem(&p);
    tacit_queue_destroy(&q);
}

static void refuse(const tacit_trsv_options *o, const problem *p,
                   tacit_status status, const char *text)
{
    tacit_trsv *T = NULL;
    EXPECT(status, tacit_trsv_create(test_world(), &p->P, o, &T));
    assert_null(T);
    if (!strstr(tacit_error_message(), text))
        fail_msg("no '%s' in '%s'", text, tacit_error_message());
}

static void what_has_no_kernel_is_refused(void **state)
{
    (void)state;
    if (!gpu_for_each()) skip();
    const int size = tacit_world_size(test_world());
    tacit_queue *q = open_queue(TEST_DEVICE), *host = open_queue("host");
    problem p = open_problem("poisson2d:9", TACIT_FACTOR_LLT);
    tacit_trsv_options o = {.size = sizeof o, .queue = host};
    refuse(&o, &p, TACIT_INVALID, "expected a GPU");
    o.queue = q;
    o.columns = 65;
    refuse(&o, &p, TACIT_INVALID, "up to 64");
    o.columns = 1;
    o.scheme = TACIT_TRSV_P2P;
    refuse(&o, &p, TACIT_UNSUPPORTED, "scheme 3d alone");
    o.scheme = TACIT_TRSV_3D;
    o.grid[0] = 2;
    o.grid[1] = 1;
    o.grid[2] = size;
    refuse(&o, &p, TACIT_INVALID, "multiply");
    if (size > 1) {
        tacit_queue *other = open_queue(by_host());
        o.queue = other;
        o.grid[2] = size / 2;
        refuse(&o, &p, TACIT_UNSUPPORTED, "store into each other's memory");
        tacit_queue_destroy(&other);
    }
    close_problem(&p);
    tacit_queue_destroy(&q);
    tacit_queue_destroy(&host);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_solve_in_one_kernel),
        cmocka_unit_test(ranks_solve_with_messages_between),
        cmocka_unit_test(grids_of_several_solve_in_one_kernel),
        cmocka_unit_test(many_solves_follow_one_another),
        cmocka_unit_test(who_was_missed_is_not_made_up_for),
        cmocka_unit_test(what_has_no_kernel_is_refused),
    };
    TEST_GPU_MAIN(tests);
}
