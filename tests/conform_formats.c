/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_formats.c - every format of a device with every order of rows,
 * on unevenly distributed matrices: products against sums in long double,
 * panels, new values, diagonals, and what decorators must not change.
 *
 * RUN: np=1,2,4
 * DEVICE: each */
#include "dealt.h"
#include "decorated.h"
#include <float.h>

static const int64_t sizes[] = {1, 3, 7, 8, 9, 31, 33, 64, 65, 130};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* "sell@rcm": format `f` and, in turn, one of the orders, and on a GPU values
 * as they are; false past the end. */
static bool wish_at(int f, int turn, char out[48])
{
    const tacit_format *format = tacit_format_at(TEST_DEVICE, f);
    int orders = 0;
    while (tacit_order_at(orders)) orders++;
    if (format)
        snprintf(out, 48, "%s%s@%s", format->name,
                 format->stores && turn % 2 ? "/f64" : "",
                 tacit_order_at(turn % orders)->name);
    return format != NULL;
}

/* --- a case --------------------------------------------------------------- */

typedef struct {
    formula f;
    deal d;
    char wish[48], what[192];
    tacit_queue *q;
    tacit_matrix *m;
    tacit_operator *A; /* NULL: the format does not fit */
    size_t n;
} matrix_case;

static void open_case(matrix_case *t, const char *spec)
{
    t->q = open_queue(spec);
    t->m = dealt(&t->f, t->d);
    t->A = operator_of(t->q, t->m, t->wish);
    t->n = (size_t)tacit_matrix_local_rows(t->m);
    snprintf(t->what, sizeof t->what, "%s, %s, shape %d of %d, deal %d", spec,
             t->wish, (int)t->f.s, (int)t->f.n, (int)t->d);
}

static void close_case(matrix_case *t)
{
    tacit_operator_destroy(&t->A);
    tacit_matrix_destroy(&t->m);
    tacit_queue_destroy(&t->q);
}

typedef void (*check_fn)(matrix_case *t);

/* Hand every format, shape and every `step`-th size to `check`. */
static void every_case(check_fn check, int step)
{
    int checked = 0;
    for (int f = 0; tacit_format_at(TEST_DEVICE, f); f++)
        for (shape s = 0; s < SHAPES; s++)
            for (int i = (f + (int)s) % step; i < SIZES; i += step) {
                matrix_case t = {.f = {s, sizes[i], 3 + i, number}};
                t.d = (deal)((i + (int)s + f) % DEALS);
                wish_at(f, i + (int)s, t.wish);
                open_case(&t, TEST_DEVICE);
                if (t.A) check(&t);
                checked += t.A != NULL;
                close_case(&t);
            }
    assert_true(checked > 10);
}

/* x of global row `j`, the same on every rank. */
static double x_at(int64_t j)
{
    return number(77, j, 0);
}

static double *global_vector(const matrix_case *t)
{
    double *x = host_vector(t->n, NAN);
    for (size_t i = 0; i < t->n; i++)
        x[i] = x_at(tacit_matrix_first_row(t->m) + (int64_t)i);
    return x;
}

/* --- products ------------------------------------------------------------- */

/* y = A x of global row `i`, and the sum of its terms' sizes. */
static long double exact_row(const formula *f, int64_t i, long double *size)
{
    long double sum = 0.0L;
    *size = 0.0L;
    for (int64_t j = 0; j < f->n; j++) {
        if (!has_entry(f, i, j)) continue;
        const long double term = (long double)f->value(f->seed, i, j) * x_at(j);
        sum += term;
        *size += fabsl(term);
    }
    return sum;
}

static void check_product(matrix_case *t)
{
    double *x = global_vector(t);
    double *dx = device_vector(t->q, t->n, x),
           *dy = poisoned_vector(t->q, t->n);
    OK(tacit_operator_apply(t->A, dx, dy));
    double *y = host_copy(t->q, t->n, dy), *after = host_copy(t->q, t->n, dx);
    assert_true(same_bits(x, after, t->n));
    for (size_t i = 0; i < t->n; i++) {
        long double size;
        const int64_t row = tacit_matrix_first_row(t->m) + (int64_t)i;
        const long double want = exact_row(&t->f, row, &size);
        if (!(fabsl(want - (long double)y[i]) <=
              (long double)(DBL_EPSILON * (double)t->f.n) * size))
            fail_msg("%s: row %lld is %.17g, not %.17Lg", t->what,
                     (long long)row, y[i], want);
    }
    free(x);
    free(y);
    free(after);
    tacit_queue_free(t->q, &dx);
    tacit_queue_free(t->q, &dy);
}

static void products_are_sums_of_products(void **state)
{
    (void)state;
    every_case(check_product, 1);
}

/* --- |A| |x| -------------------------------------------------------------- */

/* Values that formats store as floats, or as bytes. */
static double short_number(int seed, int64_t i, int64_t j)
{
    return (double)(float)number(seed, i, j);
}
static double few_numbers(int seed, int64_t i, int64_t j)
{
    return floor(4.0 * number(seed, i, j)) + 0.5;
}

/* Half of the rows have b = 0: of an empty row that is 0 / 0. */
static double b_at(int64_t i)
{
    return i % 2 ? 0.0 : number(78, i, 0);
}

/* The largest |b - A x| / (|A| |x| + |b|) of a row, of all ranks. */
static double worst_row(const matrix_case *t)
{
    double worst = 0.0;
    for (int64_t i = 0; i < t->f.n; i++) {
        long double size;
        const long double r = b_at(i) - exact_row(&t->f, i, &size);
        const long double all = size + fabsl((long double)b_at(i));
        if (r != 0.0L) worst = fmax(worst, (double)(fabsl(r) / all));
    }
    return worst;
}

static void expect_worst_row(const matrix_case *t)
{
    double *x = global_vector(t), *b = host_vector(t->n, 0.0);
    for (size_t i = 0; i < t->n; i++)
        b[i] = b_at(tacit_matrix_first_row(t->m) + (int64_t)i);
    double *dx = device_vector(t->q, t->n, x),
           *db = device_vector(t->q, t->n, b);
    tacit_backward is = {.size = sizeof is};
    OK(tacit_backward_error(t->A, db, dx, &is));
    const double want = worst_row(t);
    if (!(fabs(is.componentwise - want) <= 1e-12 * want))
        fail_msg("%s: %.17g, not %.17g", t->what, is.componentwise, want);
    free(x);
    free(b);
    tacit_queue_free(t->q, &dx);
    tacit_queue_free(t->q, &db);
}

static void check_accuracy(matrix_case *t)
{
    matrix_case floats = *t, few = *t;
    floats.f.value = short_number;
    few.f.value = few_numbers;
    open_case(&floats, TEST_DEVICE);
    open_case(&few, TEST_DEVICE);
    expect_worst_row(t);
    expect_worst_row(&floats);
    expect_worst_row(&few);
    close_case(&few);
    close_case(&floats);
}

static void backward_errors_are_by_rows(void **state)
{
    (void)state;
    every_case(check_accuracy, 3);
}

/* Products that make sums, too, give the bits of one that does not. */
static void check_sums(matrix_case *t)
{
    double *p = random_vector(t->n, 1), *r = random_vector(t->n, 2);
    double *dp = device_vector(t->q, t->n, p),
           *dr = device_vector(t->q, t->n, r);
    double *plain = poisoned_vector(t->q, t->n);
    double *dotted = poisoned_vector(t->q, t->n);
    double *three = poisoned_vector(t->q, t->n),
           *sums = poisoned_vector(t->q, 4);
    apply(t->A, t->q, dp, plain);
    apply_dot(t->A, t->q, dp, dotted, sums);
    apply_dots(t->A, t->q, dp, dr, three, sums + 1);
    OK(q_status(t->q));
    double *s = host_copy(t->q, t->n, plain), *got = host_copy(t->q, 4, sums);
    double *s1 = host_copy(t->q, t->n, dotted),
           *s3 = host_copy(t->q, t->n, three);
    if (!same_bits(s, s1, t->n) || !same_bits(s, s3, t->n))
        fail_msg("%s: a product that makes sums is another", t->what);
    long double want[4] = {0}, size[4] = {1e-300L, 1e-300L, 1e-300L, 1e-300L};
    for (size_t i = 0; i < t->n; i++) {
        const double by[4] = {p[i], p[i], r[i], s[i]};
        for (int k = 0; k < 4; k++) {
            want[k] += (long double)by[k] * s[i];
            size[k] += fabsl((long double)by[k] * s[i]);
        }
    }
    for (int k = 0; k < 4; k++)
        if (!(fabsl(want[k] - (long double)got[k]) <=
              (long double)(DBL_EPSILON * (double)(t->n + 2)) * size[k]))
            fail_msg("%s: sum %d is %.17g, not %.17Lg", t->what, k, got[k],
                     want[k]);
    free(p), free(r), free(s), free(s1), free(s3), free(got);
    tacit_queue_free(t->q, &dp);
    tacit_queue_free(t->q, &dr);
    tacit_queue_free(t->q, &plain);
    tacit_queue_free(t->q, &dotted);
    tacit_queue_free(t->q, &three);
    tacit_queue_free(t->q, &sums);
}

static void sums_change_no_product(void **state)
{
    (void)state;
    every_case(check_sums, 2);
}

/* Columns that begin anywhere, with room between them that stays as it is. */
static void check_panels(matrix_case *t)
{
    const size_t lead = t->n + 3, all = lead * TCT_COLUMNS_MOST + 1;
    double *x = random_vector(all, 5);
    double *dx = device_vector(t->q, all, x), *dz = poisoned_vector(t->q, all);
    for (int j = 0; j < TCT_COLUMNS_MOST; j++)
        apply(t->A, t->q, dx + 1 + (size_t)j * lead, dz + 1 + (size_t)j * lead);
    double *z = host_copy(t->q, all, dz);
    for (int columns = 1; columns <= TCT_COLUMNS_MOST; columns++) {
        double *dy = poisoned_vector(t->q, all);
        apply_block(t->A, t->q, tct_panel_of(dx + 1, (ptrdiff_t)lead, columns),
                    tct_panel_of(dy + 1, (ptrdiff_t)lead, columns));
        double *y = host_copy(t->q, all, dy);
        for (size_t k = 0; k < all; k++) {
            const bool inside = k > 0 && (k - 1) / lead < (size_t)columns &&
                                (k - 1) % lead < t->n;
            if (inside ? !same_bits(&y[k], &z[k], 1) : !isnan(y[k]))
                fail_msg("%s: %d columns: element %zu", t->what, columns, k);
        }
        free(y);
        tacit_queue_free(t->q, &dy);
    }
    OK(q_status(t->q));
    free(x);
    free(z);
    tacit_queue_free(t->q, &dx);
    tacit_queue_free(t->q, &dz);
}

static void panels_are_so_many_products(void **state)
{
    (void)state;
    every_case(check_panels, 5);
}

/* --- new values ----------------------------------------------------------- */

static double *product_of(const matrix_case *t)
{
    double *x = global_vector(t), *dx = device_vector(t->q, t->n, x);
    double *dy = poisoned_vector(t->q, t->n);
    OK(tacit_operator_apply(t->A, dx, dy));
    free(x);
    x = host_copy(t->q, t->n, dy);
    tacit_queue_free(t->q, &dx);
    tacit_queue_free(t->q, &dy);
    return x;
}

static double other_number(int seed, int64_t i, int64_t j)
{
    return number(seed + 100, i, j);
}

static void expect_product_of(const matrix_case *t, const matrix_case *fresh,
                              const char *what)
{
    double *got = product_of(t), *want = product_of(fresh);
    for (size_t i = 0; i < t->n; i++)
        if (got[i] != want[i]) fail_msg("%s: %s: row %zu", t->what, what, i);
    free(got);
    free(want);
}

/* Of another pattern, named by an entry; or, where dense blocks have room for
 * it, taken as it is. */
static void check_other_pattern(matrix_case *t)
{
    matrix_case other = *t;
    other.f.s = t->f.s == DIAGONAL ? DENSE_ROW : DIAGONAL;
    snprintf(other.wish, sizeof other.wish, "csr");
    open_case(&other, TEST_DEVICE);
    const tacit_status status = tacit_operator_update(t->A, other.m);
    if (status == TACIT_OK) {
        assert_non_null(strstr(t->wish, "bsell"));
        expect_product_of(t, &other, "of another pattern");
    } else {
        assert_int_equal(status, TACIT_INVALID);
        assert_non_null(strstr(tacit_error_message(),
                               "pattern of the matrix has changed: "));
    }
    close_case(&other);
}

/* Updated, it is what it would be if it were made anew, and what does not fit
 * changes nothing that lasts. */
static void check_update(matrix_case *t)
{
    matrix_case fresh = *t, again = *t;
    fresh.f.value = other_number;
    open_case(&fresh, TEST_DEVICE);
    OK(tacit_operator_update(t->A, fresh.m));
    expect_product_of(t, &fresh, "updated");
    if (t->f.n > 1) check_other_pattern(t);
    OK(tacit_operator_update(t->A, t->m));
    open_case(&again, TEST_DEVICE);
    expect_product_of(t, &again, "updated back");
    close_case(&again);
    close_case(&fresh);
}

static void updates_are_as_good_as_new(void **state)
{
    (void)state;
    every_case(check_update, 3);
}

/* --- what is known of them ------------------------------------------------ */

static void check_facts(matrix_case *t)
{
    tacit_operator_info about = {.size = sizeof about};
    int64_t nonzeros = 0, least = t->f.n, most = 0;
    for (int64_t i = 0; i < t->f.n; i++) {
        int64_t row = 0;
        for (int64_t j = 0; j < t->f.n; j++) row += has_entry(&t->f, i, j);
        nonzeros += row;
        least = row < least ? row : least;
        most = row > most ? row : most;
    }
    OK(tacit_operator_describe(t->A, &about));
    assert_int_equal(about.rows, t->f.n);
    assert_int_equal(about.nonzeros, nonzeros);
    assert_int_equal(about.row_min, least);
    assert_int_equal(about.row_max, most);
    assert_int_equal(tacit_operator_local_rows(t->A), t->n);
    double moved[2] = {(double)about.sent, (double)about.ghosts};
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 2, moved));
    assert_true(moved[0] == moved[1] && moved[0] == (double)about.volume);
    double *d = poisoned_vector(t->q, t->n);
    OK(t->A->ops->diagonal(t->A, d));
    double *got = host_copy(t->q, t->n, d);
    for (size_t i = 0; t->A->order == NULL && i < t->n; i++) {
        const int64_t row = tacit_matrix_first_row(t->m) + (int64_t)i;
        const double want =
            has_entry(&t->f, row, row) ? t->f.value(t->f.seed, row, row) : 0.0;
        if (got[i] != want)
            fail_msg("%s: diagonal of row %lld is %g, not %g", t->what,
                     (long long)row, got[i], want);
    }
    free(got);
    tacit_queue_free(t->q, &d);
}

static void descriptions_are_right(void **state)
{
    (void)state;
    every_case(check_facts, 2);
}

/* y must not be x, nor begin or end in it; side by side they may be. */
static void check_overlap(matrix_case *t)
{
    double *x = poisoned_vector(t->q, 2 * t->n + 1);
    tacit_status wanted = t->n > 0 ? TACIT_INVALID : TACIT_OK;
    if (tacit_world_size(test_world()) == 1) { /* alone: an error of its own */
        EXPECT(wanted, tacit_operator_apply(t->A, x, x));
        EXPECT(t->n > 1 ? wanted : TACIT_OK,
               tacit_operator_apply(t->A, x, x + 1));
        EXPECT(t->n > 1 ? wanted : TACIT_OK,
               tacit_operator_apply(t->A, x + 1, x));
    }
    OK(tacit_operator_apply(t->A, x, x + t->n));
    OK(tacit_operator_apply(t->A, x + t->n, x));
    tacit_queue_free(t->q, &x);
}

static void vectors_that_overlap_are_refused(void **state)
{
    (void)state;
    every_case(check_overlap, 5);
}

/* --- decorators ----------------------------------------------------------- */

static void be_silent(void *ctx, int level, const char *text)
{
    (void)ctx;
    (void)level;
    (void)text;
}

static void check_decorated(matrix_case *t)
{
    double *want = product_of(t);
    for (int k = 0; tacit_decorator_at(k); k++) {
        const char *name = tacit_decorator_at(k)->name;
        char spec[64];
        matrix_case other = *t;
        tacit_queue *q = NULL;
        snprintf(spec, sizeof spec, "%s%s:" TEST_DEVICE, name,
                 argument_of(name));
        if (tacit_queue_create(test_world(), spec, 2, &q) == TACIT_UNSUPPORTED)
            continue; /* memcheck and late are for the host */
        tacit_queue_destroy(&q);
        tacit_set_log(be_silent, NULL);
        open_case(&other, spec);
        double *got = product_of(&other);
        if (!same_bits(got, want, t->n)) fail_msg("%s", other.what);
        free(got);
        close_case(&other);
        tacit_set_log(NULL, NULL);
    }
    free(want);
}

static void decorators_change_no_bit(void **state)
{
    (void)state;
    every_case(check_decorated, 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_of_products),
        cmocka_unit_test(backward_errors_are_by_rows),
        cmocka_unit_test(sums_change_no_product),
        cmocka_unit_test(panels_are_so_many_products),
        cmocka_unit_test(updates_are_as_good_as_new),
        cmocka_unit_test(descriptions_are_right),
        cmocka_unit_test(vectors_that_overlap_are_refused),
        cmocka_unit_test(decorators_change_no_bit),
    };
    TEST_GPU_MAIN(tests);
}
