/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_precond_options.c - options of preconditioners by name: their
 * lists, the same effect as the members of tacit_precond_options, and what is
 * refused. */
#include "gpu.h"
#include "problem.h"
#include "rows.h"
#include <stddef.h>

/* --- lists ---------------------------------------------------------------- */

static void check_type(const tacit_precond_option *o)
{
    if (o->type == TACIT_OPTION_CHOICE)
        assert_true(o->choices && o->choices[0] && o->choices[1]);
    if (o->type == TACIT_OPTION_INTEGER) assert_true(o->least < o->most);
}

static void each_option_is_described(void **state)
{
    (void)state;
    const tacit_precond *p;
    const tacit_precond_option *o, *other;
    for (int k = 0; (p = tacit_precond_at(k)) != NULL; k++)
        for (int i = 0; (o = tacit_precond_option_at(p->name, i)); i++) {
            assert_true(o->name && o->name[0] && o->value && o->summary);
            check_type(o);
            for (int j = 0; j < i; j++) {
                other = tacit_precond_option_at(p->name, j);
                assert_string_not_equal(o->name, other->name);
            }
        }
    assert_null(tacit_precond_option_at("jacobi", 0));
    assert_null(tacit_precond_option_at("none", 0));
    assert_null(tacit_precond_option_at("amg", -1));
    assert_null(tacit_precond_option_at("nothing", 0));
    assert_null(tacit_precond_option_at(NULL, 0));
}

static void shared_options_have_one_address(void **state)
{
    (void)state;
    const tacit_precond_option *o;
    assert_string_equal(tacit_precond_option_at("direct", 0)->name, "kind");
    for (int i = 0; (o = tacit_precond_option_at("ic0", i)) != NULL; i++)
        assert_ptr_equal(o, tacit_precond_option_at("direct", i + 1));
    for (int i = 0; (o = tacit_precond_option_at("amg", i)) != NULL; i++)
        assert_ptr_equal(o, tacit_precond_option_at("auto", i));
}

/* --- effects -------------------------------------------------------------- */

static tacit_precond_options named(const char *precond, const char *name,
                                   const char *value)
{
    tacit_precond_options o = {.size = sizeof o};
    if (name) OK(tacit_precond_options_set(&o, precond, name, value));
    return o;
}

/* b = 1 */
static void open_problem(problem *p, const char *matrix, const char *method)
{
    *p =
        (problem){.m = gallery_matrix(matrix), .result.size = sizeof p->result};
    p->q = open_queue("host");
    OK(tacit_operator_create(p->q, p->m, "csr", &p->A));
    OK(tacit_solver_create(p->q, p->A, method, &p->s));
    p->n = (size_t)tacit_operator_local_rows(p->A);
    OK(tacit_queue_alloc(p->q, p->n, &p->b));
    OK(tacit_queue_alloc(p->q, p->n, &p->x));
    OK(tacit_queue_fill(p->q, p->n, 1.0, p->b));
    OK(tacit_queue_fill(p->q, p->n, 0.0, p->x));
}

/* The solution with preconditioner `precond` and these options, and its
 * description. */
static double *solution(const char *precond, const tacit_precond_options *o,
                        size_t *n, char detail[200])
{
    tacit_precond_info info = {.size = sizeof info};
    problem p;
    tacit_operator *M = NULL;
    open_problem(&p, "poisson3d:9", "flexible");
    OK(tacit_precond_create_of(p.A, p.m, precond, o, &M));
    OK(tacit_precond_describe(M, &info));
    snprintf(detail, 200, "%s, %d levels", info.detail, info.levels);
    OK(tacit_solver_set_precond(p.s, M));
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    OK(tacit_solver_run(p.s, p.b, p.x, &stop, &p.result));
    double *x = host_copy(p.q, p.n, p.x);
    *n = p.n;
    OK(tacit_solver_set_precond(p.s, NULL));
    tacit_operator_destroy(&M);
    close_problem(&p);
    return x;
}

static bool are_alike(const char *precond, const tacit_precond_options *a,
                      const tacit_precond_options *b)
{
    char told[2][200];
    size_t n[2];
    double *x = solution(precond, a, &n[0], told[0]);
    double *y = solution(precond, b, &n[1], told[1]);
    assert_int_equal(n[0], n[1]);
    const bool bits = memcmp(x, y, n[0] * sizeof *x) == 0;
    const bool same = bits && strcmp(told[0], told[1]) == 0;
    free(x);
    free(y);
    return same;
}

/* By name as by member, and not as by default. */
static void expect_member(const char *precond, const char *name,
                          const char *value, tacit_precond_options member)
{
    member.size = sizeof member;
    const tacit_precond_options o = named(precond, name, value);
    assert_true(are_alike(precond, &o, &member));
    assert_false(are_alike(precond, &o, NULL));
}

static void names_do_what_members_do(void **state)
{
    (void)state;
    expect_member("amg", "cycle", "w", (tacit_precond_options){.cycle = "w"});
    expect_member("amg", "cycle", "k", (tacit_precond_options){.cycle = "k"});
    expect_member("amg", "smoother", "l1-jacobi",
                  (tacit_precond_options){.smoother = "l1-jacobi"});
    expect_member("amg", "degree", "3", (tacit_precond_options){.degree = 3});
    expect_member("amg", "levels", "1", (tacit_precond_options){.levels = 1});
    expect_member("amg", "precision", "double",
                  (tacit_precond_options){.precision = "double"});
    expect_member("ic0", "order", "multicolor",
                  (tacit_precond_options){.order = "multicolor"});
    expect_member("ic0", "leaves", "4", (tacit_precond_options){.leaves = 4});
    expect_member("direct", "kind", "ldlt",
                  (tacit_precond_options){.kind = "ldlt"});
    expect_member("direct", "order", "natural",
                  (tacit_precond_options){.order = "natural"});
}

static void names_count_over_members(void **state)
{
    (void)state;
    const tacit_precond_options w = {.size = sizeof w, .cycle = "w"};
    tacit_precond_options o = {.size = sizeof o, .cycle = "v"};
    OK(tacit_precond_options_set(&o, "amg", "cycle", "v"));
    OK(tacit_precond_options_set(&o, "amg", "cycle", "w"));
    assert_null(o.named[1].name); /* the last value replaces the first */
    assert_true(are_alike("amg", &o, &w));
}

static void options_of_others_are_ignored(void **state)
{
    (void)state;
    tacit_precond_options o = named("direct", "kind", "ldlt");
    OK(tacit_precond_options_set(&o, "auto", "degree", "3"));
    assert_true(are_alike("ic0", &o, NULL));
    const tacit_precond_options w = {.size = sizeof w, .degree = 3};
    assert_true(are_alike("amg", &o, &w));
}

/* "auto" of an order is its default, as it always was. */
static void auto_is_the_default(void **state)
{
    (void)state;
    const tacit_precond_options o = {.size = sizeof o, .order = "auto"};
    assert_true(are_alike("ic0", &o, NULL));
    const tacit_precond_options p = {.size = sizeof p, .precision = "auto"};
    assert_true(are_alike("amg", &p, NULL));
}

static void files_are_read_when_it_is_made(void **state)
{
    (void)state;
    char path[] = "/tmp/tacit-near-null-XXXXXX", detail[200];
    const int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix array real general\n729 1\n");
    for (int i = 0; i < 729; i++) fprintf(f, "%d\n", 1 + i % 3);
    fclose(f);
    size_t n;
    tacit_precond_options o = named("amg", "near-null", path);
    free(solution("amg", &o, &n, detail));
    assert_non_null(strstr(detail, "1 near-null vector"));
    unlink(path);
    problem p;
    tacit_operator *M = NULL;
    open_problem(&p, "poisson3d:9", "cg");
    EXPECT(TACIT_IO, tacit_precond_create_of(p.A, p.m, "amg", &o, &M));
    assert_message(path);
    assert_null(M);
    /* a race reads the files of all that it may try, before it begins */
    const tacit_precond_race race = {
        .size = sizeof race, .matrix = p.m, .options = &o};
    const tacit_stop stop = {.size = sizeof stop, .rtol = 1e-8};
    EXPECT(TACIT_IO, tacit_solver_race(p.s, &race, p.b, p.x, &stop, &p.result));
    close_problem(&p);
}

/* --- what is refused ------------------------------------------------------ */

static void refuse(const char *precond, const char *name, const char *value,
                   const char *why)
{
    tacit_precond_options o = named("amg", "degree", "3"), before = o;
    EXPECT(TACIT_INVALID, tacit_precond_options_set(&o, precond, name, value));
    assert_message(why);
    assert_memory_equal(&o, &before, sizeof o);
}

static void what_is_no_option_is_refused(void **state)
{
    (void)state;
    refuse("amh", "cycle", "w", "unknown preconditioner 'amh'");
    refuse("amg", "cycel", "w",
           "amg has no option 'cycel': did you mean "
           "'cycle'? (options: cycle, smoother, ");
    refuse("ic0", "cycle", "w", "ic0 has no option 'cycle'");
    refuse("jacobi", "cycle", "w",
           "jacobi has no option 'cycle' (options: none)");
    refuse("auto", "order", "nd", "auto has no option 'order'");
    refuse("amg", "cycle", "q",
           "unknown cycle 'q': did you mean 'v'? (available: v, w, k, auto)");
    refuse("direct", "kind", "ic0",
           "unknown kind of a direct solve's factor 'ic0'");
    refuse("amg", "cycle", "", "cycle: its NAME is empty");
    refuse("amg", "near-null", "", "near-null: its FILE is empty");
    refuse("amg", "degree", "9",
           "degree '9': expected a whole number from 1 to 8");
    refuse("amg", "degree", "0", "degree '0': expected");
    refuse("amg", "degree", "-1", "degree '-1': expected");
    refuse("amg", "degree", "3x", "degree '3x': expected");
    refuse("amg", "degree", "99999999999", "degree '99999999999': expected");
    refuse("amg", "node-rows", "4097", "from 1 to 4096");
    refuse("ic0", "grid", "1x1",
           "grid '1x1': expected three numbers, such as 2x1x4, or auto");
    refuse("ic0", "grid", "1x1x0", "grid '1x1x0': expected three numbers");
    refuse("ic0", "grid", "1x1x2x", "grid '1x1x2x': expected three numbers");
}

static void what_excludes_each_other_is_refused(void **state)
{
    (void)state;
    tacit_precond_options o = named("amg", "near-null", "a");
    EXPECT(TACIT_INVALID,
           tacit_precond_options_set(&o, "amg", "coordinates", "b"));
    assert_message("near-null and coordinates: give one of them");
    assert_null(o.named[1].name);
    EXPECT(TACIT_INVALID,
           tacit_precond_options_set(&o, "auto", "coordinates", "b"));
}

static void structs_are_checked(void **state)
{
    (void)state;
    tacit_precond_options o = {.size = 0};
    EXPECT(TACIT_INVALID, tacit_precond_options_set(&o, "amg", "cycle", "w"));
    assert_message("tacit_precond_options: its size is 0");
    o.size = offsetof(tacit_precond_options, named); /* of an older header */
    EXPECT(TACIT_INVALID, tacit_precond_options_set(&o, "amg", "cycle", "w"));
    assert_message("have no options by name");
    EXPECT(TACIT_INVALID, tacit_precond_options_set(NULL, "amg", "cycle", "w"));
    o.size = sizeof o;
    EXPECT(TACIT_INVALID, tacit_precond_options_set(&o, "amg", "cycle", NULL));
}

/* Members, too, and what nobody has set by the function. */
static void refuse_to_make(const char *precond, tacit_precond_options o,
                           const char *why)
{
    problem p;
    tacit_operator *M = NULL;
    o.size = sizeof o;
    open_problem(&p, "poisson3d:4", "cg");
    EXPECT(TACIT_INVALID, tacit_precond_create_of(p.A, p.m, precond, &o, &M));
    assert_message(why);
    assert_null(M);
    close_problem(&p);
}

static void what_is_no_member_is_refused(void **state)
{
    (void)state;
    refuse_to_make("amg", (tacit_precond_options){.cycle = "u"},
                   "unknown cycle 'u'");
    refuse_to_make("amg", (tacit_precond_options){.degree = 9},
                   "degree '9': expected a whole number from 1 to 8");
    refuse_to_make("amg", (tacit_precond_options){.levels = -1},
                   "levels '-1': expected a whole number from 1 to 40");
    refuse_to_make("ic0", (tacit_precond_options){.order = "ndd"},
                   "unknown order 'ndd': did you mean 'nd'?");
    refuse_to_make("ic0", (tacit_precond_options){.leaves = 3},
                   "expected a power of two");
    refuse_to_make("amg", (tacit_precond_options){.named = {{"cycel", "w"}}},
                   "no preconditioner has an option 'cycel'");
    refuse_to_make("amg", (tacit_precond_options){.named = {{"cycle", "u"}}},
                   "unknown cycle 'u'");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_is_described),
        cmocka_unit_test(shared_options_have_one_address),
        cmocka_unit_test(names_do_what_members_do),
        cmocka_unit_test(names_count_over_members),
        cmocka_unit_test(options_of_others_are_ignored),
        cmocka_unit_test(auto_is_the_default),
        cmocka_unit_test(files_are_read_when_it_is_made),
        cmocka_unit_test(what_is_no_option_is_refused),
        cmocka_unit_test(what_excludes_each_other_is_refused),
        cmocka_unit_test(structs_are_checked),
        cmocka_unit_test(what_is_no_member_is_refused),
    };
    TEST_MPI_MAIN(tests);
}
