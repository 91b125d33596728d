/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_stencil.c - steps of grids on the cuda device have the bits of
 * the host, which test_stencil compares with a serial loop.
 *
 * LABEL: gpu */
#include "gpu.h"
#include "stencil/field.h"

enum { STEPS = 21 };
static tacit_queue *host, *device;
static int64_t small = INT64_MAX; /* cells of grids with tiles on chip */

static void fill_random(tacit_field *f, int64_t cells, uint64_t seed)
{
    double *v = calloc((size_t)cells, sizeof *v);
    assert_non_null(v);
    for (int64_t k = 0; k < cells; k++)
        v[k] = 2.0 * tct_uniform(seed, (uint64_t)k) - 1.0;
    OK(tacit_field_put(f, 0, cells, v));
    free(v);
}

static void weigh(tacit_field *f, int points, int64_t cells, uint64_t seed)
{
    double *v = calloc((size_t)cells, sizeof *v);
    assert_non_null(v);
    for (int p = 0; p < points; p++) {
        for (int64_t k = 0; k < cells; k++)
            v[k] = tct_uniform(seed + (uint64_t)p, (uint64_t)k) / points;
        OK(tacit_field_put_weights(f, p, 0, cells, v));
    }
    free(v);
}

static int64_t cells_of(const tacit_stencil *s)
{
    return s->n[0] * s->n[1] * (s->n[2] > 0 ? s->n[2] : 1);
}

static int points_of(const tacit_stencil *s)
{
    for (int i = 0; tacit_stencil_shape_at(i); i++)
        if (strcmp(tacit_stencil_shape_at(i)->name, s->shape) == 0)
            return tacit_stencil_shape_at(i)->points;
    fail();
    return 0;
}

static tacit_field *field_on(tacit_queue *q, const tacit_stencil *s)
{
    tacit_field *f = NULL;
    OK(tacit_field_create(q, s, &f));
    f->small = small;
    fill_random(f, cells_of(s), 7);
    if (s->weights == TACIT_WEIGHTS_CELLS)
        weigh(f, points_of(s), cells_of(s), 11);
    return f;
}

static tacit_field_result run(tacit_field *f, const char *way, int depth,
                              int64_t steps, int64_t norm_every)
{
    const tacit_field_options o = {.size = sizeof o,
                                   .steps = steps,
                                   .way = way,
                                   .depth = depth,
                                   .norm_every = norm_every};
    tacit_field_result r = {.size = sizeof r};
    OK(tacit_field_run(f, &o, &r));
    assert_int_equal(r.steps, steps);
    return r;
}

static void expect_same(const tacit_stencil *s, tacit_field *a, tacit_field *b,
                        const char *what)
{
    const int64_t n = cells_of(s);
    double *u = calloc((size_t)n, sizeof *u), *v = calloc((size_t)n, sizeof *v);
    assert_true(u && v);
    OK(tacit_field_get(a, 0, n, u));
    OK(tacit_field_get(b, 0, n, v));
    for (int64_t k = 0; k < n; k++)
        if (memcmp(&u[k], &v[k], sizeof *u) != 0 &&
            !(isnan(u[k]) && isnan(v[k])))
            fail_msg("%s %lldx%lldx%lld %s, periodic %u, weights %d, %s: cell "
                     "%lld is %.17g, not %.17g",
                     s->shape, (long long)s->n[0], (long long)s->n[1],
                     (long long)s->n[2], s->type, s->periodic, (int)s->weights,
                     what, (long long)k, v[k], u[k]);
    free(u);
    free(v);
}

static bool on_host(void)
{
    return strcmp(TEST_DEVICE, "host") == 0;
}

/* Kernels that stay: a call is all steps, some of them, or those to the next
 * measured one. What does not fit is refused. */
static void compare_staying(const tacit_stencil *s, tacit_field *a)
{
    static const char *const ways[] = {"free", "free2", "cached", "cached",
                                       "cached"};
    static const int depths[] = {0, 0, 1, 4, 8};
    for (int k = 0; k < 5; k++) {
        char what[40];
        tacit_field *b = field_on(device, s);
        tacit_field_options o = {.size = sizeof o,
                                 .steps = STEPS,
                                 .way = ways[k],
                                 .depth = depths[k],
                                 .norm_every = k % 2 ? 8 : 0};
        tacit_field_result r = {.size = sizeof r};
        const tacit_status status = tacit_field_run(b, &o, &r);
        const bool solid = s->n[2] > 0 && !on_host();
        const bool can = k < 2 || ((!solid || depths[k] == 1) &&
                                   s->weights != TACIT_WEIGHTS_CELLS);
        snprintf(what, sizeof what, "%s, depth %d", ways[k], depths[k]);
        if (can) OK(status);
        else assert_int_equal(status, TACIT_UNSUPPORTED);
        if (can) expect_same(s, a, b, what);
        tacit_field_destroy(&b);
    }
}

/* In those that stay, and where it has tiles in them, of each depth. */
static void compare_with(const tacit_stencil *s, tacit_field *a)
{
    static const struct {
        const char *way;
        int depth;
    } ways[] = {{"copy", 0},  {"tiles", 5}, {"tiles", 4},
                {"tiles", 2}, {"tiles", 0}, {NULL, 0}};
    compare_staying(s, a);
    const int most = s->weights == TACIT_WEIGHTS_CELLS ? 0
                     : points_of(s) == 27              ? 2
                     : s->n[2] == 0                    ? 8
                                                       : 4;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        char what[40];
        if (ways[k].way && strcmp(ways[k].way, "tiles") == 0 &&
            (most == 0 || ways[k].depth > most))
            continue;
        tacit_field *b = field_on(device, s);
        run(b, ways[k].way, ways[k].depth, STEPS, 0);
        snprintf(what, sizeof what, "%s, depth %d",
                 ways[k].way ? ways[k].way : "auto", ways[k].depth);
        expect_same(s, a, b, what);
        tacit_field_destroy(&b);
    }
}

/* `s` in way copy, and in others: as a small grid, and as a large one. */
static void compare(const tacit_stencil *s)
{
    tacit_field *a = field_on(host, s);
    run(a, "copy", 0, STEPS, 0);
    compare_with(s, a);
    small = 0;
    if (!on_host() && s->n[2] == 0) compare_with(s, a);
    small = INT64_MAX;
    tacit_field_destroy(&a);
}

static tacit_stencil stencil(const char *shape, int64_t nx, int64_t ny,
                             int64_t nz, int number)
{
    tacit_stencil s = {.size = sizeof s, .shape = shape, .n = {nx, ny, nz}};
    s.type = number % 2 ? "float" : "double";
    s.weights = (tacit_stencil_weights)(number % 3);
    s.periodic = (unsigned)number % 8;
    if (nz == 0) s.periodic &= 3;
    s.boundary = number % 5 == 0 ? 0.0 : 0.375;
    s.centre = -0.3;
    s.neighbours = 0.2;
    return s;
}

static void steps_have_the_bits_of_the_host(void **state)
{
    static const int64_t flat[][2] = {{1, 1},    {2, 3},    {33, 7},
                                      {5, 61},   {1031, 9}, {111, 130},
                                      {113, 48}, {700, 413}};
    static const int64_t solid[][3] = {{1, 1, 1},   {2, 3, 4},   {17, 5, 11},
                                       {5, 13, 3},  {517, 3, 4}, {3, 29, 2},
                                       {65, 33, 17}};
    (void)state;
    for (int number = 0; number < 24; number++) {
        for (size_t k = 0; k < sizeof flat / sizeof *flat; k++)
            for (int box = 0; box < 2; box++) {
                const tacit_stencil s =
                    stencil(box ? "box2d1r" : "star2d1r", flat[k][0],
                            flat[k][1], 0, number);
                compare(&s);
            }
        for (size_t k = 0; k < sizeof solid / sizeof *solid; k++)
            for (int box = 0; box < 2; box++) {
                const tacit_stencil s =
                    stencil(box ? "box3d1r" : "star3d1r", solid[k][0],
                            solid[k][1], solid[k][2], number);
                compare(&s);
            }
    }
}

/* Tiles that touch no side: larger grids. */
static void inner_tiles_have_the_bits_of_the_host(void **state)
{
    (void)state;
    for (int number = 0; number < 4; number++)
        for (int box = 0; box < 2; box++) {
            tacit_stencil s =
                stencil(box ? "box2d1r" : "star2d1r", 1500, 1100, 0, number);
            s.weights = (tacit_stencil_weights)(number / 2);
            compare(&s);
            s = stencil("star3d1r", box ? 300 : 391, 150, 80, number);
            s.weights = (tacit_stencil_weights)(number / 2);
            compare(&s);
        }
}

static void changes_have_the_bits_of_the_host(void **state)
{
    (void)state;
    for (int number = 0; number < 6; number++) {
        const tacit_stencil s = number < 3
                                    ? stencil("star2d1r", 1300, 37, 0, number)
                                    : stencil("box3d1r", 600, 9, 5, number);
        tacit_field *a = field_on(host, &s), *b = field_on(device, &s);
        const tacit_field_result p = run(a, "copy", 0, 24, 5);
        const tacit_field_result q = run(b, NULL, 0, 24, 5);
        assert_int_equal(p.changed_at, 20);
        assert_int_equal(q.changed_at, 20);
        assert_true(p.change == q.change);
        expect_same(&s, a, b, "with changes");
        tacit_field_destroy(&a);
        tacit_field_destroy(&b);
    }
}

/* Values that are set between runs count, and values that are not stay. */
static void values_go_in_and_out_between_runs(void **state)
{
    (void)state;
    tacit_stencil s = stencil("star2d1r", 200, 150, 0, 2);
    s.type = "float";
    tacit_field *a = field_on(host, &s), *b = field_on(device, &s);
    for (int k = 0; k < 3; k++) {
        const double v[2] = {k == 1 ? (double)NAN : 3.0, -1.0};
        run(a, "copy", 0, 9, 0);
        run(b, "copy", 0, 9, 0);
        OK(tacit_field_put(a, 7000 + 200 * k, 2, v));
        OK(tacit_field_put(b, 7000 + 200 * k, 2, v));
        if (k == 2) weigh(a, 5, cells_of(&s), 99);
        if (k == 2) weigh(b, 5, cells_of(&s), 99);
        run(a, "copy", 0, 4, 0);
        run(b, NULL, 0, 4, 0);
        expect_same(&s, a, b, "after values");
    }
    OK(tacit_field_fill(a, 2.0));
    OK(tacit_field_fill(b, 2.0));
    expect_same(&s, a, b, "after a fill");
    run(a, "copy", 0, 4, 0);
    run(b, "copy", 0, 4, 0);
    expect_same(&s, a, b, "after a fill and steps");
    tacit_field_destroy(&a);
    tacit_field_destroy(&b);
}

/* 1 to 50 steps, on grids whose tiles are small and large, some of them in
 * shared memory too. */
static void any_number_of_steps_has_the_bits_of_the_host(void **state)
{
    static const int64_t sizes[][2] = {
        {256, 256}, {1000, 37}, {37, 1009}, {2100, 2400}};
    static const int depths[] = {1, 3, 8, 12};
    (void)state;
    for (int number = 0; number < 16; number++) {
        tacit_stencil s =
            stencil(number % 3 ? "star2d1r" : "box2d1r", sizes[number % 4][0],
                    sizes[number % 4][1], 0, number);
        if (s.weights == TACIT_WEIGHTS_CELLS) s.weights = TACIT_WEIGHTS_MEAN;
        if (number % 4 == 3) s.type = "float";
        const int steps = 1 + number * 49 / 15;
        small = number / 4 % 2 ? 0 : INT64_MAX;
        tacit_field *a = field_on(host, &s), *b = field_on(device, &s);
        run(a, "copy", 0, steps, 0);
        run(b, number % 2 ? "cached" : "free",
            number % 2 ? depths[number / 4] : 0, steps, 0);
        expect_same(&s, a, b, "with kernels that stay");
        run(a, "copy", 0, 5, 0);
        run(b, "free2", 0, 5, 0);
        expect_same(&s, a, b, "and steps after them");
        tacit_field_destroy(&a);
        tacit_field_destroy(&b);
    }
    small = INT64_MAX;
}

static void what_no_kernel_has_is_refused(void **state)
{
    (void)state;
    if (strcmp(TEST_DEVICE, "host") == 0) skip();
    const tacit_stencil flat = stencil("star2d1r", 100, 100, 0, 0);
    const tacit_stencil solid = stencil("box3d1r", 10, 10, 10, 2);
    tacit_field_options o = {
        .size = sizeof o, .steps = 9, .way = "tiles", .depth = 9};
    tacit_field_result r = {.size = sizeof r};
    tacit_field *f = field_on(device, &flat);
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_UNSUPPORTED);
    assert_non_null(strstr(tacit_error_message(), "tiles of 8 steps"));
    tacit_field_destroy(&f);
    o.depth = 4;
    f = field_on(device, &solid);
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_UNSUPPORTED);
    assert_non_null(strstr(tacit_error_message(), "take way copy"));
    o.way = NULL;
    assert_int_equal(tacit_field_run(f, &o, &r), TACIT_UNSUPPORTED);
    assert_non_null(strstr(tacit_error_message(), "take way copy"));
    tacit_field_destroy(&f);
}

static void queues_open(void **state)
{
    (void)state;
    OK(tacit_queue_create(test_world(), "host", 2, &host));
    OK(tacit_queue_create(test_world(), TEST_DEVICE, 1, &device));
}

static void queues_close(void **state)
{
    (void)state;
    tacit_queue_destroy(&device);
    tacit_queue_destroy(&host);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_open),
        cmocka_unit_test(steps_have_the_bits_of_the_host),
        cmocka_unit_test(inner_tiles_have_the_bits_of_the_host),
        cmocka_unit_test(changes_have_the_bits_of_the_host),
        cmocka_unit_test(values_go_in_and_out_between_runs),
        cmocka_unit_test(any_number_of_steps_has_the_bits_of_the_host),
        cmocka_unit_test(what_no_kernel_has_is_refused),
        cmocka_unit_test(queues_close),
    };
    TEST_GPU_MAIN(tests);
}
