/* SPDX-License-Identifier: BSD-3-Clause
 * tests/conform_files.c - every file format under every suffix: files are read
 * back bit for bit on other ranks, and a truncated file is refused by name.
 *
 * RUN: np=1,3 */
#define TEST_DEVICE "host"
#include "dealt.h"
#include <float.h>

/* --- names ---------------------------------------------------------------- */

typedef struct {
    const tacit_file_format *f;
    char name[48]; /* "a.mtx.gz" */
} written;

/* Name `k` of those that a matrix, or a vector, can be written under here. */
static bool written_at(int k, bool vector, written *out)
{
    for (int i = 0; (out->f = tacit_file_format_at(i)) != NULL; i++) {
        if (out->f->reason) continue;
        if (vector ? !out->f->writes_vector : !out->f->writes_matrix) continue;
        for (int s = 0; s < 4 && out->f->suffixes[s]; s++)
            for (int packed = 0; packed <= out->f->may_pack; packed++) {
                snprintf(out->name, sizeof out->name, "a%s%s",
                         out->f->suffixes[s], packed ? ".gz" : "");
                if (k-- == 0) return true;
            }
    }
    return false;
}

/* Doubles at the ends of their range, and of all magnitudes. */
static double extreme(int seed, int64_t i, int64_t j)
{
    static const double ends[] = {
        0.0,     -0.0,         DBL_MAX, -DBL_MAX, DBL_MIN, 5e-324, -5e-324,
        1.0 / 3, DBL_MIN / 3., 0x1p53,  1e23,     -7.0,    0.1};
    const uint64_t r = tct_mix((uint64_t)(seed + 31 * i + 1009 * j));
    if (r % 3 == 0) return ends[r / 3 % (sizeof ends / sizeof *ends)];
    return number(seed, i, j) * pow(10.0, (double)(r % 601) - 300.0);
}

/* --- there and back ------------------------------------------------------- */

/* Rows of `m` that are not as `f` says; the last of an entry in another value
 * alone counts in `values`. */
static int differing_rows(const tacit_matrix *m, const formula *f, int *values)
{
    tacit_rows A;
    OK(tacit_matrix_view_rows(m, &A));
    int64_t *cols = malloc((size_t)f->n * sizeof *cols);
    double *vals = malloc((size_t)f->n * sizeof *vals);
    int rows = 0;
    for (int64_t i = 0; i < A.count; i++) {
        const int64_t count = row_of(f, A.first + i, cols, vals);
        bool same = A.ptr[i + 1] - A.ptr[i] == count;
        for (int64_t k = 0; same && k < count; k++) {
            const int64_t at = A.ptr[i] + k;
            same = cols[k] == (A.cols32 ? A.cols32[at] : A.cols64[at]);
            *values += same && !same_bits(&vals[k], &A.vals[at], 1);
        }
        rows += !same;
    }
    free(cols);
    free(vals);
    return rows;
}

static void expect_same(const tacit_matrix *m, const formula *f,
                        const char *name)
{
    int values = 0;
    assert_int_equal(tacit_matrix_global_rows(m), f->n);
    const int rows = differing_rows(m, f, &values);
    if (rows + values > 0)
        fail_msg("%s, shape %d of %lld: %d rows and %d values differ", name,
                 (int)f->s, (long long)f->n, rows, values);
}

/* Move rows to and fro, so that what is written is not what a rank has. */
static void scatter_rows(tacit_matrix *m)
{
    const char *path = shared_path("parts");
    const int size = tacit_world_size(test_world());
    const int64_t n = tacit_matrix_local_rows(m);
    int32_t *part = calloc((size_t)n + 1, sizeof *part);
    for (int64_t i = 0; i < n; i++) part[i] = (int32_t)(original(m, i) % size);
    OK(tacit_matrix_write_parts(m, path, part));
    OK(tacit_matrix_partition(m, "file", path));
    free(part);
    discard(path);
}

static void matrices_come_back(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 9, 64, 150};
    written w;
    for (int k = 0; written_at(k, false, &w); k++)
        for (shape s = 0; s < SHAPES; s++)
            for (int i = (k + (int)s) % 3; i < 5; i += 3) {
                const formula f = {s, sizes[i], (int)s + 5 * i, extreme};
                const char *path = shared_path(w.name);
                tacit_matrix *m = dealt(&f, (deal)((i + (int)s) % DEALS));
                if (f.n >= 9 && (k + (int)s) % 2) scatter_rows(m);
                OK(tacit_matrix_write(m, path));
                tacit_matrix_destroy(&m);
                OK(tacit_matrix_open(test_world(), path, NULL, &m));
                expect_same(m, &f, w.name);
                tacit_matrix_info about = {.size = sizeof about};
                OK(tacit_matrix_describe(m, &about));
                assert_string_equal(about.format, w.f->name);
                tacit_matrix_destroy(&m);
                discard(path);
            }
    assert_true(written_at(3, false, &w)); /* or next to nothing was tried */
}

/* Doubles that a vector may have, at row `i`. */
static double *extreme_vector(const tacit_matrix *m, int seed)
{
    const int64_t n = tacit_matrix_local_rows(m);
    double *x = host_vector((size_t)n, NAN);
    for (int64_t i = 0; i < n; i++) x[i] = extreme(seed, original(m, i), 3);
    return x;
}

static void vectors_come_back(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 9, 64, 1000};
    written w;
    for (int k = 0; written_at(k, true, &w); k++)
        for (deal d = 0; d < DEALS; d++)
            for (int i = (k + (int)d) % 3; i < 5; i += 3) {
                const formula f = {DIAGONAL, sizes[i], 1, number};
                const char *path = shared_path(w.name);
                tacit_matrix *m = dealt(&f, d);
                if (d == RAGGED && f.n >= 9) scatter_rows(m);
                const size_t n = (size_t)tacit_matrix_local_rows(m);
                double *x = extreme_vector(m, k + i), *y = host_vector(n, NAN);
                OK(tacit_matrix_write_vector(m, path, x));
                OK(tacit_matrix_read_vector(m, path, y));
                for (size_t at = 0; at < n; at++)
                    if (!same_bits(&x[at], &y[at], 1))
                        fail_msg("%s of %lld: %a is read as %a", w.name,
                                 (long long)f.n, x[at], y[at]);
                free(x);
                free(y);
                tacit_matrix_destroy(&m);
                discard(path);
            }
}

/* What a format is not written for is refused by the file's name. */
static void formats_refuse_what_they_cannot_hold(void **state)
{
    (void)state;
    const formula f = {DIAGONAL, 5, 1, number};
    tacit_matrix *m = dealt(&f, EVENLY);
    double *x = host_vector(5, 1.0);
    const tacit_file_format *about;
    for (int i = 0; (about = tacit_file_format_at(i)) != NULL; i++)
        for (int s = 0; s < 4 && about->suffixes[s]; s++) {
            char name[48];
            snprintf(name, sizeof name, "b%s", about->suffixes[s]);
            const char *path = shared_path(name);
            const tacit_status no =
                about->reason ? TACIT_UNSUPPORTED : TACIT_INVALID;
            if (!about->writes_matrix || about->reason) {
                EXPECT(about->writes_matrix ? no : TACIT_INVALID,
                       tacit_matrix_write(m, path));
                assert_non_null(strstr(tacit_error_message(), name));
            }
            if (!about->writes_vector) {
                EXPECT(TACIT_INVALID, tacit_matrix_write_vector(m, path, x));
                assert_non_null(strstr(tacit_error_message(), name));
            }
            if (tacit_world_rank(test_world()) == 0)
                if (!about->writes_matrix && !about->writes_vector)
                    assert_int_equal(access(path, F_OK), -1);
        }
    free(x);
    tacit_matrix_destroy(&m);
}

/* --- cut short ------------------------------------------------------------ */

/* Where files are cut: at so many places, and anywhere near the end; at fewer
 * where each costs messages. */
enum { PLACES = 120, END = 40 };

/* The file `from` [bytes] on rank 0. */
static char *contents(const char *path, long *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *bytes = ftell(file);
    rewind(file);
    char *text = malloc((size_t)*bytes + 1);
    assert_int_equal(fread(text, 1, (size_t)*bytes, file), *bytes);
    fclose(file);
    return text;
}

/* The first `bytes` of `text` are what all ranks find at `path`. */
static void put_cut(const char *path, const char *text, long bytes)
{
    if (tacit_world_rank(test_world()) == 0) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, (size_t)bytes, file), bytes);
        assert_int_equal(fclose(file), 0);
    }
    OK(tacit_world_agree(test_world(), TACIT_OK));
}

static void expect_refusal(tacit_status status, const char *path, long cut)
{
    if (status != TACIT_INPUT || !strstr(tacit_error_message(), path) ||
        strchr(tacit_error_message(), '\n'))
        fail_msg("%s cut after %ld bytes: %s: %s", path, cut,
                 tacit_status_name(status), tacit_error_message());
}

/* A last number of which only the end is missing cannot be told from another:
 * all else is as it was. */
static void read_cut_matrix(const char *path, const formula *f, long cut,
                            long bytes)
{
    tacit_matrix *m = NULL;
    const tacit_status status = tacit_matrix_open(test_world(), path, NULL, &m);
    if (status == TACIT_OK && bytes - cut < 28) {
        int values = 0, rows = differing_rows(m, f, &values);
        if (rows > 0 || values > 1)
            fail_msg("%s cut after %ld bytes is taken", path, cut);
    } else {
        expect_refusal(status, path, cut);
        assert_null(m);
    }
    tacit_matrix_destroy(&m);
}

static void read_cut_vector(const char *path, const tacit_matrix *like,
                            const double *x, long cut, long bytes)
{
    const int64_t n = tacit_matrix_local_rows(like);
    double *y = host_vector((size_t)n, NAN);
    const tacit_status status = tacit_matrix_read_vector(like, path, y);
    if (status == TACIT_OK && bytes - cut < 28) {
        for (int64_t i = 0; i < n; i++)
            if (!same_bits(&x[i], &y[i], 1) &&
                original(like, i) != tacit_matrix_global_rows(like) - 1)
                fail_msg("%s cut after %ld bytes is taken", path, cut);
    } else {
        expect_refusal(status, path, cut);
    }
    free(y);
}

static void cut_everywhere(const written *w, bool vector)
{
    const formula f = {SCATTERED, 24, 7, number};
    const char *path = shared_path(w->name);
    tacit_matrix *m = dealt(&f, EVENLY);
    double *x = extreme_vector(m, 4), size = 0.0;
    char *text = NULL;
    long bytes = 0;
    if (vector) OK(tacit_matrix_write_vector(m, path, x));
    else OK(tacit_matrix_write(m, path));
    if (tacit_world_rank(test_world()) == 0) text = contents(path, &bytes);
    size = (double)bytes;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &size));
    bytes = (long)size;
    const int fewer = tacit_world_size(test_world()) > 1 ? 4 : 1;
    const long step = 1 + fewer * bytes / PLACES;
    for (long cut = 0; cut<bytes; cut += bytes - cut> END / fewer ? step : 1) {
        put_cut(path, text, cut);
        if (vector) read_cut_vector(path, m, x, cut, bytes);
        else read_cut_matrix(path, &f, cut, bytes);
    }
    free(text);
    free(x);
    tacit_matrix_destroy(&m);
    discard(path);
}

static void files_that_are_cut_short_are_refused(void **state)
{
    (void)state;
    written w;
    for (int vector = 0; vector < 2; vector++)
        for (int k = 0; written_at(k, vector, &w); k++)
            cut_everywhere(&w, vector);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_come_back),
        cmocka_unit_test(vectors_come_back),
        cmocka_unit_test(formats_refuse_what_they_cannot_hold),
        cmocka_unit_test(files_that_are_cut_short_are_refused),
    };
    TEST_GPU_MAIN(tests);
}
