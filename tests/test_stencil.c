/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_stencil.c - steps of grids against a serial loop in this file, to
 * the last bit: shapes, types, weights, sides, sizes, depths and threads; and
 * against what is known by formula. */
#include "gpu.h"
#include "grid_serial.h"
#include "stencil/field.h"

enum { MOST = 1 << 15, STEPS = 13, FEW = 3 };

/* --- fields --------------------------------------------------------------- */

static tacit_world *world;
static tacit_queue *queue[FEW + 1]; /* with 1, 2, 3 threads */

static tacit_field *field_of(const grid *g, int threads)
{
    tacit_field *f = NULL;
    const tacit_stencil s = {.size = sizeof s,
                             .shape = g->shape,
                             .n = {g->n[0], g->n[1], g->n[2]},
                             .type = g->single ? "float" : "double",
                             .periodic = g->periodic,
                             .boundary = g->boundary,
                             .weights = g->weights,
                             .centre = g->centre,
                             .neighbours = g->neighbours};
    OK(tacit_field_create(queue[threads], &s, &f));
    f->worth = 1; /* all threads, however small it is */
    for (int p = 0; g->k && p < g->points; p++)
        OK(tacit_field_put_weights(f, p, 0, cells_of(g),
                                   g->k + p * cells_of(g)));
    return f;
}

static tacit_field_result run(tacit_field *f, const char *way, int depth,
                              int64_t steps)
{
    const tacit_field_options o = {
        .size = sizeof o, .steps = steps, .way = way, .depth = depth};
    tacit_field_result r = {.size = sizeof r};
    OK(tacit_field_run(f, &o, &r));
    assert_int_equal(r.steps, steps);
    assert_true(r.threads == tacit_queue_threads(f->queue) || f->s.cells < FEW);
    return r;
}

static double start_of[MOST], wanted[MOST], last[MOST], got[MOST],
    weight[27 * MOST];

static const int64_t sizes[2][6][3] = {
    {{1, 1, 1}, {2, 3, 1}, {33, 7, 1}, {5, 61, 1}, {1031, 9, 1}, {3, 2, 1}},
    {{1, 1, 1}, {2, 3, 4}, {17, 5, 11}, {5, 13, 3}, {517, 3, 4}, {3, 29, 2}}};
enum { SIZES = 6 };

/* Grid `number` of all combinations. */
static grid grid_of(int number, bool *more)
{
    grid g = shapes[number % SHAPES];
    number /= SHAPES;
    memcpy(g.n, sizes[g.dim - 2][number % SIZES], sizeof g.n);
    number /= SIZES;
    g.single = number % 2;
    number /= 2;
    g.weights = (tacit_stencil_weights)(number % 3);
    number /= 3;
    g.periodic = (unsigned)number % 8;
    if (g.dim == 2) g.periodic &= 3;
    g.boundary = number % 3 == 0 ? 0.0 : 0.375;
    g.centre = -0.3;
    g.neighbours = 1.7 / (g.points - 1);
    *more = number < 8;
    return g;
}

static void expect_same(const grid *g, const char *way, int depth, int threads,
                        bool narrow)
{
    tacit_field *f = field_of(g, threads);
    if (narrow) f->room = 1; /* tiles as small as can be */
    f->streams = narrow;     /* as large grids do */
    OK(tacit_field_put(f, 0, cells_of(g), start_of));
    run(f, way, depth, STEPS);
    OK(tacit_field_get(f, 0, cells_of(g), got));
    const int64_t k = first_difference(got, wanted, cells_of(g));
    if (k >= 0)
        fail_msg("%s %lldx%lldx%lld, periodic %u, weights %d, %s: way %s, "
                 "depth %d, %d threads, narrow %d: cell %lld is %.17g, not "
                 "%.17g",
                 g->shape, (long long)g->n[0], (long long)g->n[1],
                 (long long)g->n[2], g->periodic, (int)g->weights,
                 g->single ? "float" : "double", way, depth, threads, narrow,
                 (long long)k, got[k], wanted[k]);
    tacit_field_destroy(&f);
}

/* Each grid in way copy, in those that stay, and in tiles of two depths; which
 * depths, threads and tiles goes round. */
static void all_ways_have_the_serial_bits(void **state)
{
    static const int depths[] = {2, 3, 4, 5, 8, 12, 16, 64};
    bool more = true;
    (void)state;
    if (EACH > 1)
        print_message("skipped: under a sanitizer all but each %dth grid\n",
                      (int)EACH);
    for (int number = 0, turn = 0; more; number += EACH) {
        grid g = grid_of(number, &more);
        if (!more) break;
        const int64_t n = cells_of(&g);
        assert_true(n <= MOST);
        random_values(&g, (uint64_t)number, n, start_of);
        random_values(&g, (uint64_t)number + 9999, g.points * n, weight);
        if (g.weights == TACIT_WEIGHTS_CELLS) g.k = weight;
        memcpy(wanted, start_of, (size_t)n * sizeof *wanted);
        serial(&g, STEPS, wanted, last);
        expect_same(&g, "copy", 0, 1 + number % FEW, number % 2);
        expect_same(&g, turn % 4 ? "free" : "free2", 0, 1 + turn / 2 % FEW,
                    turn % 2);
        if (!g.k)
            expect_same(&g, "cached", depths[turn / 2 % 8], 1 + turn / 8 % FEW,
                        turn % 3 == 0);
        for (int k = 0; k < 2; k++, turn++)
            expect_same(&g, "tiles", depths[turn % 8], 1 + turn / 8 % FEW,
                        turn / 3 % 2);
    }
}

/* The loop of this file is one that a reader can believe: a step by hand. */
static void the_serial_loop_is_right(void **state)
{
    (void)state;
    grid g = {.shape = "star2d1r", .dim = 2, .points = 5, .n = {2, 2, 1}};
    double u[4] = {1, 2, 3, 4}, before[4];
    serial(&g, 1, u, before);
    const double one[4] = {(2 + 3) / 4.0, (1 + 4) / 4.0, (1 + 4) / 4.0,
                           (2 + 3) / 4.0};
    assert_memory_equal(u, one, sizeof one);
    g = (grid){.shape = "box3d1r",
               .dim = 3,
               .points = 27,
               .n = {1, 1, 1},
               .boundary = 2.0};
    serial(&g, 1, u, before);
    assert_true(u[0] == 26 * 2.0 * (1.0 / 26));
}

/* --- by formula ----------------------------------------------------------- */

static const double PI = 3.14159265358979323846;

/* A sine mode is multiplied by the mean of cosines in each step; with periodic
 * sides a cosine mode is. */
static void a_mode_decays_as_it_should(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int periodic = 0; periodic < 2; periodic++) {
            grid g = shapes[dim == 2 ? 0 : 2];
            const int64_t n[3] = {30, 21, dim == 2 ? 1 : 12};
            memcpy(g.n, n, sizeof n);
            g.periodic = !periodic ? 0 : dim == 2 ? 3 : 7;
            double factor = 0.0;
            for (int d = 0; d < dim; d++)
                factor += cos(periodic ? 2 * PI / (double)n[d]
                                       : PI / (double)(n[d] + 1)) /
                          dim;
            for (int64_t k = 0; k < cells_of(&g); k++) {
                const int64_t i[3] = {k % n[0], k / n[0] % n[1],
                                      k / n[0] / n[1]};
                start_of[k] = 1.0;
                for (int d = 0; d < dim; d++)
                    start_of[k] *=
                        periodic
                            ? cos(2 * PI * (double)i[d] / (double)n[d])
                            : sin(PI * (double)(i[d] + 1) / (double)(n[d] + 1));
            }
            tacit_field *f = field_of(&g, 2);
            OK(tacit_field_put(f, 0, cells_of(&g), start_of));
            run(f, "tiles", 8, 100);
            OK(tacit_field_get(f, 0, cells_of(&g), got));
            for (int64_t k = 0; k < cells_of(&g); k++)
                if (fabs(got[k] - pow(factor, 100) * start_of[k]) > 1e-14)
                    fail_msg("%d dimensions: cell %lld is %g, not %g", dim,
                             (long long)k, got[k],
                             pow(factor, 100) * start_of[k]);
            tacit_field_destroy(&f);
        }
}

/* NaN spreads as the serial loop spreads it, and no further: not from cells
 * that a stencil leaves out. */
static void nan_comes_out_at_the_same_cells(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int depth = 1; depth <= 8; depth += 7) {
            grid g = shapes[shape];
            const int64_t n[3] = {19, 17, g.dim == 2 ? 1 : 9};
            memcpy(g.n, n, sizeof n);
            g.boundary = 1.0;
            const int64_t cells = cells_of(&g);
            random_values(&g, 5, cells, start_of);
            start_of[cells / 2] = (double)NAN;
            start_of[0] = (double)INFINITY;
            memcpy(wanted, start_of, (size_t)cells * sizeof *wanted);
            serial(&g, 4, wanted, last);
            tacit_field *f = field_of(&g, 2);
            OK(tacit_field_put(f, 0, cells, start_of));
            run(f, depth == 1 ? "copy" : "tiles", depth, 4);
            OK(tacit_field_get(f, 0, cells, got));
            assert_int_equal(first_difference(got, wanted, cells), -1);
            int64_t nans = 0;
            for (int64_t k = 0; k < cells; k++) nans += isnan(got[k]) != 0;
            assert_in_range(nans, 1, cells - 1);
            tacit_field_destroy(&f);
        }
}

/* --- changes -------------------------------------------------------------- */

typedef struct notes {
    int count, stop_at;
    int64_t step[64];
    double change[64];
} notes;

static int note(void *ctx, int64_t step, double change)
{
    notes *n = ctx;
    n->step[n->count] = step;
    n->change[n->count++] = change;
    return n->count == n->stop_at;
}

/* Changes have the same bits in each way, and are what they should be. */
static void changes_do_not_depend_on_the_way(void **state)
{
    (void)state;
    grid g = shapes[1];
    const int64_t n[3] = {1300, 20, 1};
    memcpy(g.n, n, sizeof n);
    g.single = true;
    notes first = {.count = 0};
    random_values(&g, 3, cells_of(&g), start_of);
    for (int turn = 0; turn < 8; turn++) {
        tacit_field *f = field_of(&g, 1 + turn % FEW);
        notes own = {.count = 0};
        f->room = turn % 2 ? 1 : f->room;
        f->streams = turn / 2 % 2;
        OK(tacit_field_put(f, 0, cells_of(&g), start_of));
        const tacit_field_options o = {.size = sizeof o,
                                       .steps = 26,
                                       .way = turn < 3 ? "copy" : "tiles",
                                       .depth = turn < 3 ? 0 : turn,
                                       .norm_every = 5,
                                       .monitor = note,
                                       .monitor_ctx = &own};
        tacit_field_result r = {.size = sizeof r};
        OK(tacit_field_run(f, &o, &r));
        assert_int_equal(own.count, 5);
        assert_int_equal(r.changed_at, 25);
        if (turn == 0) first = own;
        assert_memory_equal(&own, &first, sizeof own);
        tacit_field_destroy(&f);
    }
    memcpy(wanted, start_of, (size_t)cells_of(&g) * sizeof *wanted);
    serial(&g, 10, wanted, last);
    double sum = 0.0;
    for (int64_t k = 0; k < cells_of(&g); k++)
        sum += (wanted[k] - last[k]) * (wanted[k] - last[k]);
    assert_true(fabs(first.change[1] - sqrt(sum)) <= 1e-12 * sqrt(sum));
}

static tacit_status run_to(tacit_field *f, const tacit_field_options *o,
                           tacit_field_result *r)
{
    *r = (tacit_field_result){.size = sizeof *r};
    return tacit_field_run(f, o, r);
}

/* rtol stops at the first measured step that meets it, in every way. */
static void rtol_stops(void **state)
{
    (void)state;
    grid g = shapes[0];
    const int64_t n[3] = {24, 24, 1};
    memcpy(g.n, n, sizeof n);
    g.boundary = 1.0;
    tacit_field_result r, other;
    tacit_field_options o = {.size = sizeof o,
                             .steps = 2000,
                             .way = "copy",
                             .norm_every = 16,
                             .rtol = 1e-3};
    tacit_field *f = field_of(&g, 1);
    assert_int_equal(run_to(f, &o, &r), TACIT_OK);
    assert_true(r.steps < 2000 && r.steps % 16 == 0);
    assert_true(r.change <= 1e-3 * r.first_change);
    tacit_field_destroy(&f);
    f = field_of(&g, 2);
    o.way = "tiles";
    o.depth = 8;
    assert_int_equal(run_to(f, &o, &other), TACIT_OK);
    assert_int_equal(other.steps, r.steps);
    assert_true(other.change == r.change &&
                other.first_change == r.first_change);
    tacit_field_destroy(&f);
    f = field_of(&g, 2);
    o.steps = r.steps - 16;
    assert_int_equal(run_to(f, &o, &other), TACIT_NOT_CONVERGED);
    assert_non_null(strstr(tacit_error_message(), "not converged after"));
    notes stop = {.stop_at = 3};
    o.monitor = note;
    o.monitor_ctx = &stop;
    assert_int_equal(run_to(f, &o, &other), TACIT_INTERRUPTED);
    assert_int_equal(other.steps, 32); /* after 1, 16, 32 */
    const double bad = (double)NAN;
    OK(tacit_field_put(f, 7, 1, &bad));
    o.monitor = NULL;
    assert_int_equal(run_to(f, &o, &other), TACIT_BREAKDOWN);
    assert_int_equal(other.steps, 1);
    assert_non_null(strstr(tacit_error_message(), "not finite"));
    tacit_field_destroy(&f);
}

/* Way auto measures with the steps that it was asked for. */
static void auto_wastes_no_step(void **state)
{
    (void)state;
    grid g = shapes[0];
    const int64_t n[3] = {100, 90, 1};
    memcpy(g.n, n, sizeof n);
    random_values(&g, 8, cells_of(&g), start_of);
    memcpy(wanted, start_of, (size_t)cells_of(&g) * sizeof *wanted);
    serial(&g, 300, wanted, last);
    static const struct {
        const char *way;
        int depth, trials;
    } asked[] = {{NULL, 0, 4},   {"auto", 0, 4},  {"tiles", 0, 3},
                 {"auto", 6, 0}, {"tiles", 6, 0}, {"copy", 1, 0}};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        tacit_field *f = field_of(&g, 2);
        OK(tacit_field_put(f, 0, cells_of(&g), start_of));
        const tacit_field_result r = run(f, asked[k].way, asked[k].depth, 300);
        /* a long trial may take all steps */
        assert_in_range(r.trials, asked[k].trials > 0, asked[k].trials);
        assert_non_null(r.way);
        assert_true(r.step_seconds > 0.0 && r.seconds >= r.step_seconds);
        assert_true(r.bytes == 2.0 * 8 * 9000);
        OK(tacit_field_get(f, 0, cells_of(&g), got));
        assert_int_equal(first_difference(got, wanted, cells_of(&g)), -1);
        tacit_field_destroy(&f);
    }
    tacit_field *f = field_of(&g, 1);
    run(f, NULL, 0, 0);
    run(f, NULL, 0, 1);
    tacit_field_destroy(&f);
}

/* --- bad input ------------------------------------------------------------ */

static void refused(tacit_status got_status, tacit_status status,
                    const char *text)
{
    if (got_status != status || !strstr(tacit_error_message(), text))
        fail_msg("%s: '%s', not %s with '%s'", tacit_status_name(got_status),
                 tacit_error_message(), tacit_status_name(status), text);
}

static void names_are_strict(void **state)
{
    (void)state;
    tacit_stencil s = {.size = sizeof s};
    OK(tacit_stencil_parse("box3d1r:12x5x7", &s));
    assert_string_equal(s.shape, "box3d1r");
    assert_true(s.n[0] == 12 && s.n[1] == 5 && s.n[2] == 7);
    OK(tacit_stencil_parse("star2d1r:2147483647x1", &s));
    assert_true(s.n[2] == 1);
    refused(tacit_stencil_parse("star2d:4x4", &s), TACIT_INVALID,
            "did you mean 'star2d1r'");
    static const char *const wrong[] = {"star2d1r",
                                        "star2d1r:",
                                        "star2d1r:4",
                                        "star2d1r:4x",
                                        "star2d1r:4x4x4",
                                        "star2d1r:4x-4",
                                        "star2d1r: 4x4",
                                        "star2d1r:0x4",
                                        "star3d1r:4x4",
                                        "star2d1r:4,4",
                                        "star2d1r:4x4 ",
                                        "star2d1r:4x4e",
                                        "box2d1r:4X4",
                                        "star2d1r:+4x4",
                                        "star2d1r:x4",
                                        "star2d1r:2147483648x1",
                                        "star2d1r:99999999999999999999x1"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refused(tacit_stencil_parse(wrong[k], &s), TACIT_INVALID, "expected");
    tacit_stencil unset = {.size = 0};
    refused(tacit_stencil_parse("star2d1r:4x4", &unset), TACIT_INVALID,
            "its size is 0");
}

static tacit_status try_field(tacit_stencil s)
{
    tacit_field *f = NULL;
    s.size = sizeof s;
    const tacit_status status = tacit_field_create(queue[1], &s, &f);
    assert_int_equal(f == NULL, status < 0);
    tacit_field_destroy(&f);
    return status;
}

static void descriptions_are_checked(void **state)
{
    (void)state;
    const tacit_stencil good = {.shape = "star2d1r", .n = {4, 4}};
    tacit_stencil s = good;
    OK(try_field(s));
    s.shape = "star2d2r";
    refused(try_field(s), TACIT_INVALID, "star2d1r");
    s = good;
    s.shape = NULL;
    refused(try_field(s), TACIT_INVALID, "without a shape");
    s = good;
    s.n[2] = 4;
    refused(try_field(s), TACIT_INVALID, "expected 2 numbers");
    s = good;
    s.n[1] = 0;
    refused(try_field(s), TACIT_INVALID, "4 x 0 x 0");
    s = good;
    s.type = "flaot";
    refused(try_field(s), TACIT_INVALID, "did you mean 'float'");
    s = good;
    s.periodic = TACIT_PERIODIC_Z;
    refused(try_field(s), TACIT_INVALID, "x and y");
    s = good;
    s.boundary = (double)INFINITY;
    refused(try_field(s), TACIT_INVALID, "boundary");
    s = good;
    s.boundary = 1e300;
    s.type = "float";
    refused(try_field(s), TACIT_INVALID, "type float");
    s = good;
    s.weights = TACIT_WEIGHTS_CONSTANT;
    s.neighbours = (double)NAN;
    refused(try_field(s), TACIT_INVALID, "coefficient");
    s = good;
    s.weights = (tacit_stencil_weights)7;
    refused(try_field(s), TACIT_INVALID, "weights 7");
    s = good;
    s.n[0] = s.n[1] = INT32_MAX;
    refused(try_field(s), TACIT_NO_MEMORY, "the grid");
    s = (tacit_stencil){.shape = "star3d1r", .n = {1, INT32_MAX, INT32_MAX}};
    refused(try_field(s), TACIT_NO_MEMORY, "the grid");
    s = (tacit_stencil){.shape = "box3d1r",
                        .n = {INT32_MAX, INT32_MAX, INT32_MAX}};
    refused(try_field(s), TACIT_INPUT, "exceed 64 bits");
}

static void options_are_checked(void **state)
{
    (void)state;
    grid g = {.shape = "star2d1r", .dim = 2, .points = 5, .n = {4, 4, 1}};
    tacit_field *f = field_of(&g, 1);
    tacit_field_result r;
    const tacit_field_options good = {.size = sizeof good, .steps = 3};
    tacit_field_options o = good;
    o.way = "tilse";
    refused(run_to(f, &o, &r), TACIT_INVALID, "did you mean 'tiles'");
    o.way = "shmem";
    refused(run_to(f, &o, &r), TACIT_UNSUPPORTED, "divided among ranks");
    o.way = "copy";
    o.depth = 4;
    refused(run_to(f, &o, &r), TACIT_INVALID, "one step at a time");
    o = good;
    o.depth = TACIT_FIELD_DEPTH_MOST + 1;
    refused(run_to(f, &o, &r), TACIT_INVALID, "expected 1 to 64");
    o = good;
    o.steps = -1;
    refused(run_to(f, &o, &r), TACIT_INVALID, "-1 steps");
    o = good;
    o.rtol = -1.0;
    refused(run_to(f, &o, &r), TACIT_INVALID, "rtol");
    o = good;
    o.norm_every = -1;
    refused(run_to(f, &o, &r), TACIT_INVALID, "norm_every");
    const double one = 1.0;
    refused(tacit_field_put(f, 16, 1, &one), TACIT_INVALID, "has 16");
    refused(tacit_field_put(f, -1, 1, &one), TACIT_INVALID, "has 16");
    refused(tacit_field_put_weights(f, 0, 0, 1, &one), TACIT_INVALID,
            "no coefficients");
    tacit_field_destroy(&f);
}

/* Each allocation that fails is an error, and leaves nothing. */
static void memory_that_is_short_is_an_error(void **state)
{
    (void)state;
    grid g = {.shape = "star2d1r",
              .dim = 2,
              .points = 5,
              .n = {40, 40, 1},
              .weights = TACIT_WEIGHTS_CELLS};
    const size_t blocks = tct_memory_blocks();
    int failed = 0;
    for (long k = 1; k < 100; k++) {
        tacit_field *f = NULL;
        const tacit_stencil s = {.size = sizeof s,
                                 .shape = g.shape,
                                 .n = {40, 40, 1},
                                 .weights = g.weights};
        const tacit_field_options o = {
            .size = sizeof o, .steps = 20, .norm_every = 5};
        tacit_field_result r = {.size = sizeof r};
        tct_memory_fail_at(k);
        tacit_status status = tacit_field_create(queue[1], &s, &f);
        if (status >= 0) status = tacit_field_run(f, &o, &r);
        tct_memory_fail_at(0);
        tacit_field_destroy(&f);
        assert_int_equal(tct_memory_blocks(), blocks);
        if (status >= 0) break;
        assert_int_equal(status, TACIT_NO_MEMORY);
        failed++;
    }
    assert_in_range(failed, 6, 98);
}

static int open_queues(void **state)
{
    (void)state;
    OK(tacit_world_self(&world));
    for (int k = 1; k <= FEW; k++)
        OK(tacit_queue_create(world, "host", k, &queue[k]));
    return 0;
}

static int close_queues(void **state)
{
    (void)state;
    for (int k = 1; k <= FEW; k++) tacit_queue_destroy(&queue[k]);
    tacit_world_destroy(&world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_serial_loop_is_right),
        cmocka_unit_test(all_ways_have_the_serial_bits),
        cmocka_unit_test(a_mode_decays_as_it_should),
        cmocka_unit_test(nan_comes_out_at_the_same_cells),
        cmocka_unit_test(changes_do_not_depend_on_the_way),
        cmocka_unit_test(rtol_stops),
        cmocka_unit_test(auto_wastes_no_step),
        cmocka_unit_test(names_are_strict),
        cmocka_unit_test(descriptions_are_checked),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(memory_that_is_short_is_an_error),
    };
    return cmocka_run_group_tests(tests, open_queues, close_queues);
}
