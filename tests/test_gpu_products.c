/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_gpu_products.c - products on the cuda device, in every format and
 * with every value type, against those of the host device.
 *
 * LABEL: gpu */
#include "device/isa.h"
#include "gpu.h"
#include "matrix/matrix.h"

static double uniform(int64_t a, int64_t b)
{
    return tct_uniform((uint64_t)a, (uint64_t)b);
}

/* --- matrices by formula -------------------------------------------------- */

static int no_row(int64_t n, int64_t i, int64_t *col)
{
    (void)n;
    (void)i;
    (void)col;
    return 0;
}
static int own_row(int64_t n, int64_t i, int64_t *col)
{
    (void)n;
    col[0] = i;
    return 1;
}
static int gaps_row(int64_t n, int64_t i, int64_t *col) /* most are empty */
{
    col[0] = i;
    if (i % 7 != 3) return 0;
    if (i > 0) col[1] = n - 1 - i / 2;
    return i > 0 && col[1] != i ? 2 : 1;
}
static int band_row(int64_t n, int64_t i, int64_t *col)
{
    int count = 0;
    for (int64_t j = i - 2; j <= i + 2; j++)
        if (j >= 0 && j < n) col[count++] = j;
    return count;
}
static int arrow_row(int64_t n, int64_t i, int64_t *col)
{
    for (int64_t j = 0; i == 0 && j < n; j++) col[j] = j;
    if (i == 0) return (int)n;
    col[0] = 0;
    col[1] = i;
    return 2;
}
/* `count` different columns: steps of random length from a random start. */
static int scattered(int64_t n, int64_t i, int64_t count, int64_t *col)
{
    const int64_t longest = n / count;
    int64_t at = (int64_t)((double)n * uniform(i, 1));
    for (int64_t k = 0; k < count; k++) {
        col[k] = at;
        at =
            (at + 1 + (int64_t)((double)(longest - 1) * uniform(i, k + 2))) % n;
    }
    return (int)count;
}
static int irregular_row(int64_t n, int64_t i, int64_t *col)
{
    return scattered(n, i, 1 + (int64_t)(40.0 * uniform(i, 0) * uniform(1, i)),
                     col);
}
static int power_row(int64_t n, int64_t i, int64_t *col)
{
    const double wish = 2.0 / (uniform(i, 0) + 5e-4);
    return scattered(n, i, wish < 2000.0 ? (int64_t)wish : 2000, col);
}
static int far_row(int64_t n, int64_t i, int64_t *col)
{
    return scattered(n, i, 1 + i % 5, col);
}
static int dense_row(int64_t n, int64_t i, int64_t *col)
{
    (void)i;
    for (int64_t j = 0; j < n; j++) col[j] = j;
    return (int)n;
}
/* Dense b x b blocks; a few lack an entry. */
static int block_row(int64_t n, int64_t i, int64_t *col, int b)
{
    const int64_t groups = n / b, group = i / b;
    int count = 0;
    for (int64_t k = 0; k < 3 + group % 4; k++)
        for (int j = 0; j < b; j++) {
            if (group % 9 == 1 && k == 1 && j == (int)(i % b)) continue;
            col[count++] = b * ((group + 17 * k) % groups) + j;
        }
    return count;
}
static int block2_row(int64_t n, int64_t i, int64_t *col)
{
    return block_row(n, i, col, 2);
}
static int block3_row(int64_t n, int64_t i, int64_t *col)
{
    return block_row(n, i, col, 3);
}
static int block4_row(int64_t n, int64_t i, int64_t *col)
{
    return block_row(n, i, col, 4);
}
static int block5_row(int64_t n, int64_t i, int64_t *col)
{
    return block_row(n, i, col, 5);
}
static int block6_row(int64_t n, int64_t i, int64_t *col)
{
    return block_row(n, i, col, 6);
}

/* A band of dense blocks, wider than the 32 runs that a warp reads at once:
 * lane for lane the same distances, and some that are not there at the ends. */
static int band_of_blocks(int64_t n, int64_t i, int64_t *col, int b)
{
    const int64_t groups = n / b, group = i / b;
    int count = 0;
    for (int64_t g = group - 35; g <= group + 36; g++)
        for (int j = 0; j < b && g >= 0 && g < groups; j++)
            col[count++] = b * g + j;
    return count;
}
#define BAND_OF(b)                                               \
    static int band##b##_row(int64_t n, int64_t i, int64_t *col) \
    {                                                            \
        return band_of_blocks(n, i, col, b);                     \
    }
BAND_OF(2)
BAND_OF(3)
BAND_OF(4)
BAND_OF(5)
BAND_OF(6)

static double any_value(int64_t i, int64_t j)
{
    return uniform(i + 77, j) - 0.5;
}
static double one_value(int64_t i, int64_t j)
{
    (void)i;
    (void)j;
    return 0.1;
}
static double float_value(int64_t i, int64_t j)
{
    return (double)(float)any_value(i, j);
}
static double twenty_values(int64_t i, int64_t j)
{
    return floor(20.0 * uniform(i + 77, j)) / 10.0 - 0.95;
}
static double thousand_values(int64_t i, int64_t j)
{
    return floor(1000.0 * uniform(i + 77, j)) / 7.0 - 71.0;
}

static const struct {
    const char *name;
    int64_t n;
    columns_fn row;
    value_fn value;
} formulas[] = {
    {"1 x 1", 1, own_row, any_value},
    {"no entries", 70, no_row, any_value},
    {"diagonal", 1000, own_row, any_value},
    {"most rows empty", 999, gaps_row, any_value},
    {"31 rows", 31, band_row, any_value},
    {"33 rows", 33, band_row, any_value},
    {"band", 1003, band_row, any_value},
    {"band of one value", 1003, band_row, one_value},
    {"band of floats", 1003, band_row, float_value},
    {"band of 20 values", 1003, band_row, twenty_values},
    {"band of 1000 values", 4003, band_row, thousand_values},
    {"irregular", 3001, irregular_row, any_value},
    {"irregular floats", 3001, irregular_row, float_value},
    {"irregular, 20 values", 3001, irregular_row, twenty_values},
    {"irregular, 1000 values", 3001, irregular_row, thousand_values},
    {"arrow", 4001, arrow_row, any_value},
    {"power law", 6007, power_row, any_value},
    {"power law, 20 values", 6007, power_row, twenty_values},
    {"columns far apart", 200003, far_row, any_value},
    {"dense", 200, dense_row, any_value},
    {"blocks of 2", 862, block2_row, any_value},
    {"blocks of 3", 1293, block3_row, any_value},
    {"blocks of 3, floats", 1293, block3_row, float_value},
    {"blocks of 3, 20 values", 1293, block3_row, twenty_values},
    {"blocks of 4", 1724, block4_row, any_value},
    {"blocks of 5", 2155, block5_row, any_value},
    {"blocks of 6", 2586, block6_row, any_value},
    {"blocks of 6, floats", 2586, block6_row, float_value},
    {"a wide band of 2", 2 * 300, band2_row, any_value},
    {"a wide band of 3", 3 * 300, band3_row, any_value},
    {"a wide band of 3, 20 values", 3 * 300, band3_row, twenty_values},
    {"a wide band of 4", 4 * 300, band4_row, any_value},
    {"a wide band of 5", 5 * 300, band5_row, any_value},
    {"a wide band of 6", 6 * 300, band6_row, any_value},
};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

static const char *const gallery[] = {
    "poisson1d:777", "poisson2d:64",   "poisson2d:31x17",
    "poisson3d:20",  "poisson3d27:9",  "elasticity3d:5",
    "tet3d:7,1",     "random:500,6,3", "jump3d:8,1000,1"};
enum { GALLERY = sizeof gallery / sizeof *gallery };

static const char *const real[] = {
    "spd/bcsstk16.mtx.gz", "spd/crystm01.mtx.gz", "spd/bcsstk24.mtx.gz",
    "spd/Trefethen_2000.mtx.gz", "spd/ex15.mtx.gz"};
enum { REAL = sizeof real / sizeof *real };
enum { MATRICES = FORMULAS + GALLERY + REAL };

/* --- references ----------------------------------------------------------- */

/* What the host's rows say of two vectors; `size` is the sum of |a||x|. */
typedef struct {
    const char *name;
    tacit_matrix *m;
    size_t n;
    double *x[2], *y[2], *size[2];
} sample;

static void multiply_on_host(sample *s)
{
    tacit_queue *q = open_queue("host");
    tacit_operator *A = operator_of(q, s->m, "csr");
    const tct_csr *rows = &s->m->A;
    for (int v = 0; v < 2; v++) {
        s->x[v] = random_vector(s->n, v);
        double *x = device_vector(q, s->n, s->x[v]);
        double *y = poisoned_vector(q, s->n);
        OK(tacit_operator_apply(A, x, y));
        s->y[v] = host_copy(q, s->n, y);
        s->size[v] = host_vector(s->n, 0.0);
        for (int64_t i = 0; i < rows->rows; i++)
            for (int64_t k = rows->ptr[i]; k < rows->ptr[i + 1]; k++)
                s->size[v][i] +=
                    fabs(rows->val[k] * s->x[v][tct_csr_col(rows, k)]);
        tacit_queue_free(q, &x);
        tacit_queue_free(q, &y);
    }
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
}

static void sample_of(sample *s, const char *name, tacit_matrix *m)
{
    *s = (sample){.name = name, .m = m};
    s->n = (size_t)tacit_matrix_local_rows(m);
    multiply_on_host(s);
}

/* Sample `i` of MATRICES; false if it is not here. */
static bool open_sample(sample *s, int i)
{
    if (i < FORMULAS) {
        sample_of(s, formulas[i].name,
                  matrix_of(formulas[i].n, formulas[i].row, formulas[i].value));
        return true;
    }
    i -= FORMULAS;
    if (i < GALLERY) {
        sample_of(s, gallery[i], gallery_matrix(gallery[i]));
        return true;
    }
    tacit_matrix *m = real_matrix(real[i - GALLERY]);
    if (m) sample_of(s, real[i - GALLERY], m);
    return m != NULL;
}

static void close_sample(sample *s)
{
    tacit_matrix_destroy(&s->m);
    for (int v = 0; v < 2; v++) {
        free(s->x[v]);
        free(s->y[v]);
        free(s->size[v]);
    }
}

/* --- products ------------------------------------------------------------- */

/* Does the host round once per entry, as a GPU does? */
static bool host_fuses(void)
{
#if defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
    return true;
#else
    return tct_isa_best() != TCT_ISA_BASE;
#endif
}

typedef struct {
    const sample *s;
    const char *format; /* as it was asked for */
    tacit_queue *q;
    const tacit_operator *A;
    double rounding; /* of the values, < 0: none. Of |a||x| */
    double *x[2], *y[2], *c;
} setting;

/* y, which came from the device, against what the host says. */
static void assert_product(const setting *t, int v, const double *y)
{
    const sample *s = t->s;
    const int64_t *ptr = s->m->A.ptr;
    const bool sliced = strstr(t->format, "sell") != NULL;
    for (size_t i = 0; i < s->n; i++) {
        const bool exact = t->rounding < 0.0 && sliced && host_fuses() &&
                           ptr[i + 1] - ptr[i] <= 64;
        const double slack = t->rounding > 1e-13 ? t->rounding : 1e-13;
        if (exact ? same_bits(&y[i], &s->y[v][i], 1)
                  : fabs(y[i] - s->y[v][i]) <= slack * s->size[v][i])
            continue;
        fail_msg("%s, %s: row %zu of %zu (%lld entries) is %.17g, not %.17g",
                 s->name, t->format, i, s->n, (long long)(ptr[i + 1] - ptr[i]),
                 y[i], s->y[v][i]);
    }
}

static void poison(const setting *t)
{
    for (int v = 0; v < 2; v++) q_fill(t->q, t->s->n, NAN, t->y[v]);
    q_fill(t->q, TCT_SCALARS, NAN, t->c);
}

static void check_product(const setting *t, double *y[2])
{
    for (int v = 0; v < 2; v++) {
        poison(t);
        apply(t->A, t->q, t->x[v], t->y[v]);
        OK(q_status(t->q));
        y[v] = host_copy(t->q, t->s->n, t->y[v]);
        assert_product(t, v, y[v]);
    }
}

/* A dot leaves y as it is without one, is right, and always the same. */
static void check_dot(const setting *t, double *const y[2])
{
    const sample *s = t->s;
    double dot[3] = {NAN, NAN, NAN}, sum = 0.0, size = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        sum += s->x[0][i] * s->y[0][i];
        size += fabs(s->x[0][i]) * s->size[0][i];
    }
    for (int run = 0; run < 3; run++) {
        poison(t);
        apply_dot(t->A, t->q, t->x[0], t->y[0], &t->c[C_PT]);
        OK(tacit_queue_get(t->q, 1, &t->c[C_PT], &dot[run]));
        double *again = host_copy(t->q, s->n, t->y[0]);
        if (!same_bits(again, y[0], s->n))
            fail_msg("%s, %s: with a dot the product is another", s->name,
                     t->format);
        free(again);
    }
    const double slack = t->rounding > 1e-12 ? t->rounding : 1e-12;
    if (!(fabs(dot[0] - sum) <= slack * size))
        fail_msg("%s, %s: the dot is %.17g, not %.17g", s->name, t->format,
                 dot[0], sum);
    if (!same_bits(&dot[0], &dot[1], 1) || !same_bits(&dot[0], &dot[2], 1))
        fail_msg("%s, %s: the dot is %.17g, then %.17g, then %.17g", s->name,
                 t->format, dot[0], dot[1], dot[2]);
}

static void check_pair(const setting *t, double *const y[2])
{
    poison(t);
    apply_pair(t->A, t->q, t->x[0], t->y[0], t->x[1], t->y[1]);
    OK(q_status(t->q));
    for (int v = 0; v < 2; v++) {
        double *pair = host_copy(t->q, t->s->n, t->y[v]);
        if (!same_bits(pair, y[v], t->s->n))
            fail_msg("%s, %s: a product of two is not two products", t->s->name,
                     t->format);
        free(pair);
    }
}

/* Column `j` of a product of so many, and the gap behind it. */
static void check_column(const setting *t, int columns, int j,
                         const double *got, const double *want, size_t lead)
{
    const size_t n = t->s->n, written = j < columns ? n : 0;
    if (!same_bits(got, want, written))
        fail_msg("%s, %s: column %d of %d is not its own product", t->s->name,
                 t->format, j, columns);
    for (size_t i = written; i < lead; i++)
        if (!isnan(got[i]))
            fail_msg("%s, %s: %d columns: row %zu of column %d is written",
                     t->s->name, t->format, columns, i, j);
}

/* Column by column what products of single vectors are; nothing is written
 * between columns, and these begin at odd places too. */
static void check_block(const setting *t)
{
    enum { MOST = 9 };
    const size_t n = t->s->n, lead = (n + 3) | 1, all = lead * MOST;
    double *host = random_vector(all, 3), *x = device_vector(t->q, all, host);
    double *y = poisoned_vector(t->q, all), *z = poisoned_vector(t->q, all);
    const tct_panel X = tct_panel_of(x, (ptrdiff_t)lead, MOST);
    const tct_panel Y = tct_panel_of(y, (ptrdiff_t)lead, MOST);
    for (int j = 0; j < MOST; j++)
        apply(t->A, t->q, tct_column(&X, j), z + (size_t)j * lead);
    double *want = host_copy(t->q, all, z);
    for (int columns = 2; columns <= MOST; columns++) {
        q_fill(t->q, all, NAN, y);
        apply_block(t->A, t->q, tct_columns(&X, 0, columns),
                    tct_columns(&Y, 0, columns));
        OK(q_status(t->q));
        double *got = host_copy(t->q, all, y);
        for (int j = 0; j < MOST; j++)
            check_column(t, columns, j, got + (size_t)j * lead,
                         want + (size_t)j * lead, lead);
        free(got);
    }
    free(host);
    free(want);
    tacit_queue_free(t->q, &x);
    tacit_queue_free(t->q, &y);
    tacit_queue_free(t->q, &z);
}

/* All of this for one operator. */
static void check_operator(const sample *s, const char *format, tacit_queue *q,
                           const tacit_operator *A, double rounding)
{
    setting t = {
        .s = s, .format = format, .q = q, .A = A, .rounding = rounding};
    double *y[2] = {NULL, NULL};
    for (int v = 0; v < 2; v++) {
        t.x[v] = device_vector(q, s->n, s->x[v]);
        t.y[v] = poisoned_vector(q, s->n);
    }
    t.c = poisoned_vector(q, TCT_SCALARS);
    check_product(&t, y);
    check_dot(&t, y);
    check_pair(&t, y);
    check_block(&t);
    for (int v = 0; v < 2; v++) {
        free(y[v]);
        tacit_queue_free(q, &t.x[v]);
        tacit_queue_free(q, &t.y[v]);
    }
    tacit_queue_free(q, &t.c);
}

/* --- formats and stores --------------------------------------------------- */

static const char *const stores[] = {"",     "/auto",  "/f64",
                                     "/f32", "/dict8", "/dict16"};
enum { STORES = sizeof stores / sizeof *stores, FORMATS_MOST = 8 };

/* On how many matrices a format has been. */
static struct {
    char text[32];
    int matrices;
} seen[FORMATS_MOST * STORES];

static int *seen_of(const char *format)
{
    size_t i = 0;
    while (seen[i].text[0] && strcmp(seen[i].text, format) != 0) i++;
    assert_true(i + 1 < sizeof seen / sizeof *seen);
    snprintf(seen[i].text, sizeof seen[i].text, "%s", format);
    return &seen[i].matrices;
}

/* Must there be such a block of every matrix? */
static bool always_fits(const char *format)
{
    static const char *const always[] = {"csr", "csr/f64", "sell32", "sell",
                                         "sell/f64"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcmp(format, always[i]) == 0) return true;
    return false;
}

static void check_sample(const sample *s, tacit_queue *q)
{
    char format[32];
    const tacit_format *f;
    for (int i = 0; (f = tacit_format_at(TEST_DEVICE, i)) != NULL; i++)
        for (int store = 0; store < STORES; store++) {
            snprintf(format, sizeof format, "%s%s", f->name, stores[store]);
            tacit_operator *A = operator_of(q, s->m, format);
            if (!A && always_fits(format))
                fail_msg("%s, %s: %s", s->name, format, tacit_error_message());
            *seen_of(format) += A != NULL;
            if (!A) continue;
            check_operator(s, format, q, A, -1.0);
            tacit_operator_destroy(&A);
        }
}

static void products_are_those_of_the_host(void **state)
{
    (void)state;
    static const char *const tried[] = {
        "csr",        "sell32",      "sell",  "sell/f64",  "sell/f32",
        "sell/dict8", "sell/dict16", "bsell", "bsell/f64", "bsell/f32"};
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < MATRICES; i++) {
        sample s;
        if (!open_sample(&s, i)) continue;
        tacit_queue *q = open_queue(TEST_DEVICE);
        check_sample(&s, q);
        tacit_queue_destroy(&q);
        close_sample(&s);
    }
    for (int i = 0; seen[i].text[0]; i++)
        printf("%-12s %d matrices\n", seen[i].text, seen[i].matrices);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (*seen_of(tried[i]) == 0) fail_msg("%s: never tried", tried[i]);
}

/* The measured choice, and what it says of itself. */
static void the_choice_multiplies_too(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "auto/f64", "auto+low32"};
    for (int i = 0; i < MATRICES; i += 4) {
        sample s;
        if (!open_sample(&s, i)) continue;
        tacit_queue *q = open_queue(TEST_DEVICE);
        for (int k = 0; k < 3; k++) {
            tacit_operator *A = operator_of(q, s.m, names[k]);
            tacit_operator_info info = {.size = sizeof info};
            if (!A) fail_msg("%s: %s", s.name, tacit_error_message());
            tacit_operator_describe(A, &info);
            assert_int_equal(info.nonzeros, tacit_matrix_nonzeros(s.m));
            assert_non_null(info.detail);
            assert_non_null(tacit_operator_trial_at(A, 0));
            check_operator(&s, info.format, q, A, -1.0);
            tacit_operator_destroy(&A);
        }
        tacit_queue_destroy(&q);
        close_sample(&s);
    }
}

static void low_precision_is_nearly_right(void **state)
{
    (void)state;
    static const char *const names[] = {"csr+low32", "sell+low32",
                                        "sell/f64+low48", "bsell+low32",
                                        "bsell/f64+low48"};
    int with_blocks = 0;
    for (int i = 0; i < MATRICES; i++) {
        sample s;
        if (!open_sample(&s, i)) continue;
        tacit_queue *q = open_queue(TEST_DEVICE);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const bool blocks = names[k][0] == 'b';
            tacit_operator *A = operator_of(q, s.m, names[k]);
            if (!A && !blocks)
                fail_msg("%s, %s: %s", s.name, names[k], tacit_error_message());
            if (!A) continue;
            with_blocks += blocks;
            assert_non_null(A->low);
            check_operator(&s, names[k], q, A, -1.0);
            check_operator(&s, names[k], q, A->low,
                           strstr(names[k], "low32") ? 1e-6 : 1e-10);
            tacit_operator_destroy(&A);
        }
        tacit_queue_destroy(&q);
        close_sample(&s);
    }
    assert_true(with_blocks > 0);
}

/* --- new values ----------------------------------------------------------- */

/* The operator of `a` is given the values of `b`, and those of `wrong`, whose
 * pattern is another. */
static void check_update(const sample *a, const sample *b, const sample *wrong,
                         const char *format, tacit_queue *q)
{
    tacit_operator *A = operator_of(q, a->m, format);
    if (!A) return;
    const double rounding = strstr(format, "low") ? 1e-6 : -1.0;
    OK(tacit_operator_update(A, b->m));
    check_operator(b, format, q, A, -1.0);
    if (A->low) check_operator(b, format, q, A->low, rounding);
    EXPECT(TACIT_INVALID, tacit_operator_update(A, wrong->m));
    assert_non_null(strstr(tacit_error_message(), ", column ")); /* named */
    check_operator(b, format, q, A, -1.0);
    OK(tacit_operator_update(A, a->m));
    check_operator(a, format, q, A, -1.0);
    tacit_operator_destroy(&A);
}

static void new_values_replace_the_old(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        columns_fn row, wrong;
    } shapes[] = {{1003, band_row, irregular_row},
                  {3001, irregular_row, band_row},
                  {6007, power_row, irregular_row},
                  {4001, arrow_row, own_row},
                  {1293, block3_row, band_row}};
    static const value_fn values[] = {one_value, float_value, twenty_values,
                                      any_value};
    static const char *const formats[] = {
        "csr",         "sell32",   "sell",  "sell/f64",  "sell/dict8",
        "sell/dict16", "sell/f32", "bsell", "bsell/f64", "sell/f64+low32"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int v = 0; v < 4; v++) {
            const int64_t n = shapes[i].n;
            sample a, b, wrong;
            sample_of(&a, "old", matrix_of(n, shapes[i].row, values[v]));
            sample_of(&b, "new",
                      matrix_of(n, shapes[i].row, values[(v + 1) % 4]));
            sample_of(&wrong, "wrong",
                      matrix_of(n, shapes[i].wrong, any_value));
            tacit_queue *q = open_queue(TEST_DEVICE);
            for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
                check_update(&a, &b, &wrong, formats[f], q);
            tacit_queue_destroy(&q);
            close_sample(&a);
            close_sample(&b);
            close_sample(&wrong);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_host),
        cmocka_unit_test(the_choice_multiplies_too),
        cmocka_unit_test(low_precision_is_nearly_right),
        cmocka_unit_test(new_values_replace_the_old),
    };
    TEST_GPU_MAIN(tests);
}
