/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_sizes.c - public structs of other versions: a caller with fewer
 * members than the library, with more, and without a size.
 *
 * RUN: np=1,2 */
#include "problem.h"
#include "rows.h"

#define OK(call) assert_int_equal(call, TACIT_OK)

enum { GUARD = 0x5A };

/* tacit_stop as an older header may have had it, and as a newer one may. */
typedef struct {
    size_t size;
    double rtol;
} old_stop;

typedef struct {
    tacit_stop known;
    int64_t timeout;
    void *later;
} new_stop;

typedef struct {
    size_t size;
    bool converged;
    tacit_stop_reason stop;
    int64_t iterations;
} old_result;

typedef struct {
    union {
        old_result result;
        unsigned char bytes[sizeof(tacit_result)];
    } u;
} guarded_result;

typedef struct {
    tacit_result known;
    int64_t later[3];
} new_result;

static void open_problem(problem *p)
{
    *p = (problem){.m = make(line_row, 40)};
    OK(tacit_queue_create(test_world(), "host", 1, &p->q));
    OK(tacit_operator_create(p->q, p->m, "csr", &p->A));
    OK(tacit_solver_create(p->q, p->A, "cg", &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_operator_manufacture(p->A, p->m, 1, p->x, p->b));
    OK(tacit_queue_put(p->q, p->n, (double[40]){0}, p->x));
}

/* Of another version than `type` in this test's header: its first member and
 * what it points at are all that counts. */
#define AS(type, other) ((type *)(void *)(other))

static void an_older_caller_gets_what_it_knows(void **state)
{
    (void)state;
    problem p;
    open_problem(&p);
    guarded_result result;
    memset(&result, GUARD, sizeof result);
    result.u.result.size = sizeof result.u.result;
    old_stop stop = {sizeof stop, 1e-8};
    OK(tacit_solver_run(p.s, p.b, p.x, AS(tacit_stop, &stop),
                        AS(tacit_result, &result)));
    assert_true(result.u.result.converged);
    assert_int_equal(result.u.result.size, sizeof result.u.result);
    assert_int_equal(result.u.result.stop, TACIT_STOP_RTOL);
    assert_in_range(result.u.result.iterations, 10, 40);
    for (size_t k = sizeof(old_result); k < sizeof result; k++)
        assert_int_equal(result.u.bytes[k], GUARD);
    close_problem(&p);
}

static void a_newer_caller_gets_zeros(void **state)
{
    (void)state;
    problem p;
    open_problem(&p);
    new_stop stop = {.known = {.size = sizeof stop, .rtol = 1e-8}};
    new_result result;
    memset(&result, GUARD, sizeof result);
    result.known.size = sizeof result;
    OK(tacit_solver_run(p.s, p.b, p.x, &stop.known, &result.known));
    assert_true(result.known.converged);
    assert_int_equal(result.known.size, sizeof result);
    assert_int_equal(result.known.breakdown_iteration, -1);
    for (int i = 0; i < 3; i++) assert_int_equal(result.later[i], 0);
    close_problem(&p);
}

static void a_newer_callers_wishes_are_not_ignored(void **state)
{
    (void)state;
    problem p;
    open_problem(&p);
    new_stop stop = {.known = {.size = sizeof stop, .rtol = 1e-8}, .later = &p};
    tacit_result result = {.size = sizeof result, .iterations = 77};
    assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop.known, &result),
                     TACIT_UNSUPPORTED);
    assert_message("tacit_stop: it sets what this version of the library");
    assert_int_equal(result.iterations, 77);
    close_problem(&p);
}

/* A size that was not set, and what stands on a stack instead. */
static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,
                                   1,
                                   sizeof(size_t),
                                   sizeof(tacit_stop) + 1,
                                   4104,
                                   SIZE_MAX / 2 + 1,
                                   SIZE_MAX};
    problem p;
    open_problem(&p);
    int32_t part[40];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = sizes[i];
        tacit_matrix *m = NULL;
        tacit_matrix_info info = {.size = size};
        tacit_operator_info about = {.size = size};
        tacit_partition_info cut = {.size = size};
        tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
        tacit_result result = {.size = size};
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &result),
                         TACIT_INVALID);
        assert_message("tacit_result name = {.size = sizeof name}");
        result.size = sizeof result;
        stop.size = size;
        assert_int_equal(tacit_solver_run(p.s, p.b, p.x, &stop, &result),
                         TACIT_INVALID);
        assert_message("tacit_stop name = {.size = sizeof name}");
        assert_int_equal(tacit_matrix_describe(p.m, &info), TACIT_INVALID);
        assert_message("tacit_matrix_info");
        assert_int_equal(tacit_operator_describe(p.A, &about), TACIT_INVALID);
        assert_message("tacit_operator_info");
        assert_int_equal(tacit_matrix_cut(p.m, "contiguous", 3, part, &cut),
                         TACIT_INVALID);
        assert_message("tacit_partition_info");
        const tacit_matrix_options options = {.size = size, .shift = 1.0};
        assert_int_equal(
            tacit_matrix_open(test_world(), "poisson1d:9", &options, &m),
            TACIT_INVALID);
        assert_message("tacit_matrix_options");
        assert_null(m);
    }
    close_problem(&p);
}

/* Every struct, as much of it as an older caller's header may have had. */
static void each_struct_may_be_cut_off_anywhere(void **state)
{
    (void)state;
    problem p;
    open_problem(&p);
    int32_t part[40];
    union {
        tacit_matrix_info matrix;
        tacit_operator_info op;
        tacit_partition_info cut;
        unsigned char bytes[512];
    } u;
    for (int kind = 0; kind < 3; kind++)
        for (size_t size = 2 * sizeof size; size < 512; size += sizeof size) {
            memset(&u, GUARD, sizeof u);
            u.matrix.size = size;
            if (kind == 0) OK(tacit_matrix_describe(p.m, &u.matrix));
            if (kind == 1) OK(tacit_operator_describe(p.A, &u.op));
            if (kind == 2)
                OK(tacit_matrix_cut(p.m, "contiguous", 3, part, &u.cut));
            assert_int_equal(u.matrix.size, size);
            for (size_t k = size; k < sizeof u; k++)
                assert_int_equal(u.bytes[k], GUARD);
            if (kind == 0) assert_int_equal(u.matrix.rows, 40);
            if (kind == 1) assert_int_equal(u.op.rows, 40);
            if (kind == 2) assert_int_equal(u.cut.edge_cut, 2);
            const size_t known[] = {sizeof u.matrix, sizeof u.op, sizeof u.cut};
            for (size_t k = known[kind]; k < size; k++)
                assert_int_equal(u.bytes[k], 0);
        }
    close_problem(&p);
}

/* --- settings ------------------------------------------------------------- */

static void every_setting_has_a_name_and_a_summary(void **state)
{
    (void)state;
    int count = 0;
    for (const tacit_setting *s; (s = tacit_solver_setting(count)); count++) {
        assert_true(strlen(s->name) > 2 && strlen(s->summary) > 5);
        problem p;
        open_problem(&p);
        assert_int_equal(tacit_solver_set(p.s, s->name, "moon"), TACIT_INVALID);
        assert_message(s->name);
        assert_message("'moon'");
        close_problem(&p);
    }
    assert_int_equal(count, 11);
    assert_null(tacit_solver_setting(-1));
}

static void settings_decide_where_a_run_has_no_stop(void **state)
{
    (void)state;
    problem p;
    open_problem(&p);
    const tacit_stop loose = {.size = sizeof loose, .rtol = 0.5};
    tacit_result result = {.size = sizeof result};
    OK(tacit_solver_set(p.s, "max-iterations", "3"));
    assert_int_equal(tacit_solver_run(p.s, p.b, p.x, NULL, &result),
                     TACIT_NOT_CONVERGED);
    assert_int_equal(result.iterations, 3);
    OK(tacit_solver_set(p.s, "max-iterations", "100"));
    OK(tacit_solver_run(p.s, p.b, p.x, NULL, &result));
    assert_true(result.true_relative_residual <= 1e-6);
    OK(tacit_queue_put(p.q, p.n, (double[40]){0}, p.x));
    OK(tacit_solver_set(p.s, "rtol", "0"));
    OK(tacit_solver_set(p.s, "atol", "1e-3"));
    OK(tacit_solver_set(p.s, "loop", "host"));
    OK(tacit_solver_run(p.s, p.b, p.x, NULL, &result));
    assert_int_equal(result.stop, TACIT_STOP_ATOL);
    OK(tacit_queue_put(p.q, p.n, (double[40]){0}, p.x));
    OK(tacit_solver_run(p.s, p.b, p.x, &loose, &result)); /* counts alone */
    assert_int_equal(result.stop, TACIT_STOP_RTOL);
    close_problem(&p);
}

static void wrong_settings_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][3] = {
        {"lop", "host", "did you mean 'loop'?"},
        {"max_iterations", "9", "did you mean 'max-iterations'?"},
        {"xyzzy", "9", "a solver has no 'xyzzy'"},
        {"rtol", "-1", "rtol '-1': expected a finite number, 0 or greater"},
        {"atol", "nan", "atol 'nan': expected a finite number"},
        {"max-iterations", "0", "expected a whole number greater than 0"},
        {"loop", "hots", "unknown loop 'hots'"},
    };
    problem p;
    open_problem(&p);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(tacit_solver_set(p.s, wrong[i][0], wrong[i][1]),
                         TACIT_INVALID);
        assert_message(wrong[i][2]);
    }
    assert_int_equal(tacit_solver_set(p.s, "loop", "resident"),
                     TACIT_UNSUPPORTED);
    assert_int_equal(tacit_solver_set(p.s, "rtol", NULL), TACIT_INVALID);
    close_problem(&p);
}

typedef struct {
    problem *p;
    int refused;
} meddler;

static int meddle(void *ctx, int64_t iteration, double residual)
{
    meddler *m = ctx;
    tacit_result result = {.size = sizeof result};
    (void)iteration;
    (void)residual;
    for (int i = 0; tacit_solver_setting(i); i++) {
        const char *name = tacit_solver_setting(i)->name;
        m->refused += tacit_solver_set(m->p->s, name, "1") == TACIT_INVALID &&
                      strstr(tacit_error_message(), "after a run began");
    }
    m->refused += tacit_solver_run(m->p->s, m->p->b, m->p->x, NULL, &result) ==
                  TACIT_INVALID;
    return 0;
}

static void nothing_is_set_while_a_run_goes_on(void **state)
{
    (void)state;
    problem p;
    open_problem(&p);
    meddler m = {.p = &p};
    const tacit_stop stop = {.size = sizeof stop,
                             .rtol = 1e-8,
                             .monitor = meddle,
                             .monitor_ctx = &m};
    tacit_result result = {.size = sizeof result};
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &result));
    assert_int_equal(m.refused, 12 * (result.iterations + 1));
    OK(tacit_solver_set(p.s, "loop", "host")); /* a run is over */
    OK(tacit_solver_run(p.s, p.b, p.x, NULL, &result));
    close_problem(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_caller_gets_what_it_knows),
        cmocka_unit_test(a_newer_caller_gets_zeros),
        cmocka_unit_test(a_newer_callers_wishes_are_not_ignored),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(each_struct_may_be_cut_off_anywhere),
        cmocka_unit_test(every_setting_has_a_name_and_a_summary),
        cmocka_unit_test(settings_decide_where_a_run_has_no_stop),
        cmocka_unit_test(wrong_settings_are_named),
        cmocka_unit_test(nothing_is_set_while_a_run_goes_on),
    };
    TEST_MPI_MAIN(tests);
}
