/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_io.c - reading and writing of matrices and vectors by one process:
 * every format, bit for bit. */
#include "io_world.h"
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacit/matrix.h>

#include <cmocka.h>

#define OK(call) ok_(call, #call)
static void ok_(tacit_status status, const char *call)
{
    if (status != TACIT_OK) fail_msg("%s: %s", call, tacit_error_message());
}

static void assert_same(const tct_csr *a, const tct_csr *b)
{
    assert_int_equal(a->global_rows, b->global_rows);
    assert_int_equal(a->global_cols, b->global_cols);
    assert_int_equal(a->rows, b->rows);
    const size_t n = (size_t)tct_csr_nonzeros(a);
    assert_memory_equal(a->ptr, b->ptr, (size_t)(a->rows + 1) * sizeof *a->ptr);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(tct_csr_col(a, (int64_t)k),
                         tct_csr_col(b, (int64_t)k));
    assert_memory_equal(a->val, b->val, n * sizeof *a->val);
}

/* The entry of row `i`, column `j`, or `otherwise`. */
static double entry(const tct_csr *A, int64_t i, int64_t j, double otherwise)
{
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        if (tct_csr_col(A, k) == j) return A->val[k];
    return otherwise;
}

/* Some entries in each row but every seventh, of all magnitudes. */
static void make_matrix(int64_t rows, int64_t cols, tct_csr *A)
{
    static const double special[] = {0.0,     -0.0, 5e-324, 1e308, -1e-310,
                                     1.0 / 3, -7,   0x1p52, 1e22,  1e23};
    OK(tct_csr_rows(A, rows, cols, 0, rows));
    for (int pass = 0; pass < 2; pass++) {
        int64_t k = 0;
        for (int64_t i = 0; i < rows; i++) {
            const int64_t step = 1 + (int64_t)(tct_mix((uint64_t)i) % 40);
            for (int64_t j = i % 5; i % 7 && j < cols; j += step, k++) {
                if (pass == 0) continue;
                tct_csr_set_col(A, k, j);
                const uint64_t r = tct_mix((uint64_t)(i * cols + j));
                A->val[k] = r % 8 ? (tct_uniform(r, 1) - 0.5) *
                                        pow(10, (double)(r % 600) - 300)
                                  : special[r / 8 % 10];
            }
            A->ptr[i + 1] = k;
        }
        if (pass == 0) OK(tct_csr_entries(A, k));
    }
}

/* --- there and back ------------------------------------------------------- */

static void round_trip(const tct_csr *A, const char *name, const char *format)
{
    tct_csr B = {0};
    tct_file_info info;
    if (left_out(name)) return;
    OK(tct_write_matrix(world, in_folder(name), NULL, A));
    OK(tct_read_matrix(world, in_folder(name), &B, &info));
    assert_string_equal(info.format, format);
    assert_int_equal(info.nonzeros, tct_csr_nonzeros(A));
    assert_int_equal(info.stored, info.nonzeros);
    assert_int_equal(info.duplicates, 0);
    assert_false(info.symmetric);
    assert_same(A, &B);
    tct_csr_clear(&B);
}

static void matrices_there_and_back(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {50, 50}, {20, 300}, {700, 800}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        tct_csr A = {0};
        make_matrix(sizes[k][0], sizes[k][1], &A);
        round_trip(&A, "a.mtx", "matrix-market");
        round_trip(&A, "a.mtx.gz", "matrix-market");
        round_trip(&A, "a.tacit", "tacit");
        round_trip(&A, "a.petsc", "petsc");
        round_trip(&A, "a.npz", "npz");
        tct_csr_clear(&A);
    }
}

static void chain_of_formats(void **state)
{
    (void)state;
    static const char *const names[] = {"b.npz",   "b.mtx",    "b.petsc",
                                        "b.tacit", "b.mtx.gz", "b2.npz"};
    tct_csr A = {0}, B = {0};
    make_matrix(333, 333, &A);
    OK(tct_write_matrix(world, in_folder("b0.tacit"), NULL, &A));
    char last[256];
    snprintf(last, sizeof last, "%s", in_folder("b0.tacit"));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(names[k])) continue;
        OK(tct_read_matrix(world, last, &B, NULL));
        snprintf(last, sizeof last, "%s", in_folder(names[k]));
        OK(tct_write_matrix(world, last, NULL, &B));
        tct_csr_clear(&B);
    }
    OK(tct_read_matrix(world, last, &B, NULL));
    assert_same(&A, &B);
    tct_csr_clear(&A);
    tct_csr_clear(&B);
}

static void vectors_there_and_back(void **state)
{
    (void)state;
    static const char *const names[] = {"x.mtx", "x.mtx.gz", "x.npy", "x.petsc",
                                        "x.tacit"};
    enum { N = 70001 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_true(x && y);
    for (int i = 0; i < N; i++)
        x[i] = i % 9 ? tct_uniform((uint64_t)i, 5) - 0.5 : 0.0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        memset(y, 0x55, N * sizeof *y);
        OK(tct_write_vector(world, in_folder(names[k]), NULL, N, N, x));
        OK(tct_read_vector(world, in_folder(names[k]), false, N, 0, N, y));
        assert_memory_equal(x, y, N * sizeof *x);
    }
    free(x);
    free(y);
}

/* The columns of `path` are those of X. */
static void assert_columns(const char *path, int64_t rows, int columns,
                           const double *X, int64_t stride)
{
    int found = 0;
    double *Y = NULL;
    OK(tct_read_vectors(world, path, false, rows, 0, rows, &found, &Y));
    assert_int_equal(found, columns);
    for (int j = 0; j < columns; j++)
        assert_memory_equal(X + j * stride, Y + j * rows,
                            (size_t)rows * sizeof *X);
    tct_free(Y);
}

static void columns_there_and_back(void **state)
{
    (void)state;
    static const char *const names[] = {"X.mtx", "X.mtx.gz", "X.npy",
                                        "X.tacit"};
    enum { N = 70001, K = 3, STRIDE = N + 5 };
    double *X = malloc(K * STRIDE * sizeof *X);
    assert_non_null(X);
    for (int i = 0; i < K * STRIDE; i++)
        X[i] = i % 9 ? tct_uniform((uint64_t)i, 5) - 0.5 : 0.0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *path = in_folder(names[k]);
        OK(tct_check_writable(world, path, NULL, K));
        OK(tct_write_vectors(world, path, NULL, N, N, K, X, STRIDE));
        assert_columns(path, N, K, X, STRIDE);
        OK(tct_write_vectors(world, path, NULL, N, N, 1, X, N));
        assert_columns(path, N, 1, X, N); /* one is a vector */
        OK(tct_read_vector(world, path, false, N, 0, N, X + STRIDE));
        assert_memory_equal(X, X + STRIDE, N * sizeof *X);
    }
    free(X);
}

/* Files of others: by rows, sparse, with several right-hand sides. */
static void columns_of_others(void **state)
{
    (void)state;
    static const double X[] = {1, 0, -2.5, 4, 5, 0};
    static const char npy[] =
        "\x93NUMPY\1\0\x76\0"
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
        "                                                          \n";
    assert_int_equal(sizeof npy, 10 + 0x76 + 1);
    put_bytes(in_folder("rows.npy"), npy, sizeof npy - 1);
    for (int k = 0; k < 6; k++)
        put_more(in_folder("rows.npy"), &X[k / 2 + k % 2 * 3], sizeof *X);
    assert_columns(in_folder("rows.npy"), 3, 2, X, 3);
    put_text(in_folder("sparse"),
             "%%MatrixMarket matrix coordinate real general\n3 2 4\n"
             "3 1 -2.5\n1 2 4\n1 1 1\n2 2 5\n");
    assert_columns(in_folder("sparse"), 3, 2, X, 3);
    if (!left_out("X.npz")) {
        tct_csr A = {0};
        OK(tct_read_matrix(world, in_folder("sparse"), &A, NULL));
        OK(tct_write_matrix(world, in_folder("X.npz"), NULL, &A));
        assert_columns(in_folder("X.npz"), 3, 2, X, 3);
        tct_csr_clear(&A);
    }
    static const char *const texts[] = {HB_FULL, HB_SPARSE};
    static const double sides[][6] = {{2, 4, 10, 1, 1, 1}, {2, 0, 10, 0, 7, 0}};
    static const double guesses[] = {1, 2, 3, 0, 0, 0};
    for (int k = 0; k < 2; k++) {
        int columns = 0;
        double *Y = NULL;
        put_text(in_folder("text"), texts[k]);
        assert_columns(in_folder("text"), 3, 2, sides[k], 3);
        OK(tct_read_vectors(world, in_folder("text"), true, 3, 0, 3, &columns,
                            &Y));
        assert_int_equal(columns, 2);
        assert_memory_equal(Y, guesses, sizeof guesses);
        tct_free(Y);
    }
}

/* A symmetric matrix as one triangle; written with full precision. */
static void symmetric_as_one_triangle(void **state)
{
    (void)state;
    tct_csr A = {0}, B = {0};
    OK(tct_csr_rows(&A, 40, 40, 0, 40));
    OK(tct_csr_entries(&A, 3 * 40 - 2));
    int64_t k = 0;
    for (int64_t i = 0; i < 40; i++) {
        for (int64_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= 40) continue;
            tct_csr_set_col(&A, k, j);
            A.val[k++] = tct_uniform((uint64_t)(i + j), 3);
        }
        A.ptr[i + 1] = k;
    }
    const tct_write_options half = {.symmetric = true};
    OK(tct_write_matrix(world, in_folder("half.mtx"), &half, &A));
    tct_file_info info;
    OK(tct_read_matrix(world, in_folder("half.mtx"), &B, &info));
    assert_true(info.symmetric);
    assert_int_equal(info.stored, 79);
    assert_int_equal(info.nonzeros, 118);
    assert_same(&A, &B);
    tct_csr_clear(&B);
    OK(tct_write_matrix(world, in_folder("half.tacit"), &half, &A));
    OK(tct_read_matrix(world, in_folder("half.tacit"), &B, &info));
    assert_true(info.symmetric);
    assert_same(&A, &B);
    tct_csr_clear(&A);
    tct_csr_clear(&B);
}

/* --- Matrix Market -------------------------------------------------------- */

static tct_csr read_text(const char *text, tct_file_info *info)
{
    tct_csr A = {0};
    put_text(in_folder("text"), text);
    OK(tct_read_matrix(world, in_folder("text"), &A, info));
    return A;
}

static void market_liberties(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text("%%MATRIXmarket  Matrix\tCOORDINATE Real General\r\n"
                          "% a comment\r\n"
                          "%\r\n"
                          "\r\n"
                          "  3\t3   4  \r\n"
                          "1 1 1.5\r\n"
                          "   3 1   -2e+0 \t\r\n"
                          "\r\n"
                          "% another one\r\n"
                          "2 3 +.25D1\r\n"
                          "+3 3 4.",
                          &info);
    assert_int_equal(info.nonzeros, 4);
    assert_int_equal(info.field, TCT_FIELD_REAL);
    assert_true(entry(&A, 0, 0, 0) == 1.5 && entry(&A, 2, 0, 0) == -2);
    assert_true(entry(&A, 1, 2, 0) == 2.5 && entry(&A, 2, 2, 0) == 4);
    tct_csr_clear(&A);
}

/* A byte-order mark, blank lines before the header; packed, too. */
static void market_after_marks_and_blank_lines(void **state)
{
    (void)state;
    static const char *const fronts[] = {"\xef\xbb\xbf", "\n", "\r\n \t\n\n",
                                         "\xef\xbb\xbf\n"};
    char text[256];
    for (size_t k = 0; k < sizeof fronts / sizeof *fronts; k++) {
        snprintf(text, sizeof text,
                 "%s%%%%MatrixMarket matrix coordinate real symmetric\n"
                 "2 2 2\n1 1 4\n2 1 5\n",
                 fronts[k]);
        tct_file_info info;
        tct_csr A = read_text(text, &info), B = {0};
        assert_string_equal(info.format, "matrix-market");
        assert_int_equal(info.nonzeros, 3);
        assert_true(entry(&A, 0, 1, 0) == 5);
        put_gzip(in_folder("z"), text, 0, 0);
        OK(tct_read_matrix(world, in_folder("z"), &B, &info));
        assert_same(&A, &B);
        tct_csr_clear(&A);
        tct_csr_clear(&B);
    }
    double x[2];
    put_text(in_folder("v"), "\xef\xbb\xbf%%MatrixMarket matrix array real "
                             "general\n2 1\n1\n-3\n");
    OK(tct_read_vector(world, in_folder("v"), false, 2, 0, 2, x));
    assert_true(x[0] == 1 && x[1] == -3);
}

/* More entries than the matrix has places: all of them count. */
static void more_entries_than_places(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text("%%MatrixMarket matrix coordinate real general\n"
                          "2 2 6\n1 1 1\n1 1 2\n2 2 8\n1 1 4\n2 1 3\n2 2 8\n",
                          &info);
    assert_int_equal(info.stored, 6);
    assert_int_equal(info.duplicates, 3);
    assert_int_equal(info.nonzeros, 3);
    assert_true(entry(&A, 0, 0, 0) == 7 && entry(&A, 1, 1, 0) == 16);
    tct_csr_clear(&A);
    tacit_matrix *m = NULL;
    tacit_matrix_info about = {.size = sizeof about};
    OK(tacit_matrix_open(world, in_folder("text"), NULL, &m));
    OK(tacit_matrix_describe(m, &about));
    assert_int_equal(about.summed, 3);
    tacit_matrix_destroy(&m);
}

static void market_patterns_and_integers(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text("%%MatrixMarket matrix coordinate pattern symmetric\n"
                          "3 3 3\n1 1\n3 1\n2 2\n",
                          &info);
    assert_int_equal(info.field, TCT_FIELD_PATTERN);
    assert_int_equal(info.stored, 3);
    assert_int_equal(info.nonzeros, 4);
    assert_true(entry(&A, 0, 2, 0) == 1 && entry(&A, 2, 0, 0) == 1);
    tct_csr_clear(&A);
    /* parts of the diagonal one by one, others on either side */
    A = read_text("%%MatrixMarket matrix coordinate real symmetric\n"
                  "3 3 6\n1 1 2\n1 1 2\n2 1 -1\n2 2 4\n2 3 -1\n3 3 4\n",
                  &info);
    assert_int_equal(info.duplicates, 1);
    assert_true(entry(&A, 0, 0, 0) == 4 && entry(&A, 2, 1, 0) == -1);
    tct_csr_clear(&A);
    A = read_text("%%MatrixMarket matrix coordinate integer general\n"
                  "2 4 2\n1 4 -7\n2 1 12345678901\n",
                  &info);
    assert_int_equal(info.field, TCT_FIELD_INTEGER);
    assert_int_equal(info.cols, 4);
    assert_true(entry(&A, 0, 3, 0) == -7 &&
                entry(&A, 1, 0, 0) == 12345678901.0);
    tct_csr_clear(&A);
    A = read_text("%%MatrixMarket matrix coordinate unsigned-integer general\n"
                  "2 2 2\n1 1 4.0\n2 2 1e3\n",
                  &info);
    assert_true(entry(&A, 0, 0, 0) == 4 && entry(&A, 1, 1, 0) == 1000);
    tct_csr_clear(&A);
}

static void market_duplicates_and_zeros(void **state)
{
    (void)state;
    const char *text = "%%MatrixMarket matrix coordinate real general\n3 3 6\n"
                       "2 2 1\n1 3 0\n2 2 2\n3 3 -0.0\n2 2 4\n1 1 1\n";
    tct_file_info info;
    tct_csr A = read_text(text, &info);
    assert_int_equal(info.stored, 6);
    assert_int_equal(info.duplicates, 2);
    assert_int_equal(info.nonzeros, 4);
    assert_int_equal(info.explicit_zeros, 2);
    assert_true(entry(&A, 1, 1, 0) == 7 && entry(&A, 0, 2, 5) == 0);
    tct_csr_clear(&A);
    A = read_text(text, &info);
    tct_csr_drop_zeros(&A);
    assert_int_equal(tct_csr_nonzeros(&A), 2);
    assert_true(entry(&A, 0, 2, 5) == 5 && entry(&A, 1, 1, 0) == 7);
    tct_csr_clear(&A);
}

static void market_arrays_as_matrices(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text("%%MatrixMarket matrix array real general\n"
                          "2 3\n1\n2\n0\n4\n5\n6\n",
                          &info);
    assert_int_equal(info.nonzeros, 5);
    assert_true(entry(&A, 1, 0, 0) == 2 && entry(&A, 0, 1, 9) == 9);
    assert_true(entry(&A, 1, 1, 0) == 4 && entry(&A, 0, 2, 0) == 5);
    tct_csr_clear(&A);
    A = read_text("%%MatrixMarket matrix array real symmetric\n"
                  "3 3\n1\n2\n3\n4\n5\n6\n",
                  &info);
    assert_int_equal(info.nonzeros, 9);
    assert_true(entry(&A, 0, 1, 0) == 2 && entry(&A, 0, 2, 0) == 3);
    assert_true(entry(&A, 1, 1, 0) == 4 && entry(&A, 2, 1, 0) == 5);
    assert_true(entry(&A, 2, 2, 0) == 6);
    tct_csr_clear(&A);
}

/* A sparse vector, and one in a file of integers. */
static void market_vectors(void **state)
{
    (void)state;
    double x[4];
    put_text(in_folder("v"), "%%MatrixMarket matrix coordinate real general\n"
                             "4 1 2\n4 1 8\n2 1 5\n");
    OK(tct_read_vector(world, in_folder("v"), false, 4, 0, 4, x));
    assert_true(x[0] == 0 && x[1] == 5 && x[2] == 0 && x[3] == 8);
    put_text(in_folder("v"), "%%MatrixMarket matrix array integer general\n"
                             "4 1\n1\n0\n\n-3\n4");
    OK(tct_read_vector(world, in_folder("v"), false, 4, 0, 4, x));
    assert_true(x[0] == 1 && x[1] == 0 && x[2] == -3 && x[3] == 4);
}

/* Larger than several blocks, rows in no order, lines of many lengths. */
static void market_of_many_blocks(void **state)
{
    (void)state;
    enum { N = 5000, EACH = 200 };
    FILE *f = fopen(in_folder("many.mtx"), "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", N,
            N, N * EACH);
    for (int k = 0; k < EACH; k++) {
        for (int i = 0; i < N; i++) {
            const int row = (i * 7 + k) % N, col = (row + k * 25) % N;
            if (i % 100 == 3) fprintf(f, "%% a comment in between\n");
            fprintf(f, "%d %d %.*g\n", row + 1, col + 1, 1 + (i + k) % 17,
                    tct_uniform((uint64_t)row, (uint64_t)col));
        }
    }
    const long bytes = ftell(f);
    assert_int_equal(fclose(f), 0);
    assert_true(bytes > 12 << 20);
    tct_csr A = {0};
    tct_file_info info;
    OK(tct_read_matrix(world, in_folder("many.mtx"), &A, &info));
    assert_int_equal(info.nonzeros, N * EACH);
    assert_int_equal(info.duplicates, 0);
    for (int64_t i = 0; i < N; i++) {
        assert_int_equal(A.ptr[i + 1] - A.ptr[i], EACH);
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const double want =
                tct_uniform((uint64_t)i, (uint64_t)tct_csr_col(&A, k));
            assert_true(fabs(A.val[k] - want) <= 0.5 * want);
            if (k > A.ptr[i])
                assert_true(tct_csr_col(&A, k - 1) < tct_csr_col(&A, k));
        }
    }
    tct_csr_clear(&A);
}

/* --- the others ----------------------------------------------------------- */

static const char *const small_market =
    "%%MatrixMarket matrix coordinate real general\n"
    "3 3 5\n1 1 4\n1 3 1\n2 2 5\n3 1 1\n3 3 6\n";

static void packed_files(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text(small_market, &info), B = {0};
    assert_string_equal(info.packing, "");
    put_gzip(in_folder("z"), small_market, 0, 0);
    OK(tct_read_matrix(world, in_folder("z"), &B, &info));
    assert_string_equal(info.packing, "gzip");
    assert_same(&A, &B);
    tct_csr_clear(&B);
    put_xz(in_folder("z"), small_market, 0, 0);
    OK(tct_read_matrix(world, in_folder("z"), &B, &info));
    assert_string_equal(info.packing, "xz");
    assert_same(&A, &B);
    tct_csr_clear(&B);
    OK(tct_write_matrix(world, in_folder("p.petsc"), NULL, &A));
    size_t bytes;
    char *raw = get_bytes(in_folder("p.petsc"), &bytes);
    gzFile f = gzopen(in_folder("p.gz"), "wb");
    assert_int_equal(gzwrite(f, raw, (unsigned)bytes), (int)bytes);
    gzclose(f);
    free(raw);
    OK(tct_read_matrix(world, in_folder("p.gz"), &B, &info));
    assert_string_equal(info.format, "petsc");
    assert_same(&A, &B);
    tct_csr_clear(&A);
    tct_csr_clear(&B);
}

static void scipy_archives(void **state)
{
    (void)state;
    if (left_out("s.npz")) skip();
    static const char *const formats[] = {"csr", "csc", "coo", "coo:coords"};
    tct_file_info info;
    tct_csr A = read_text(small_market, &info), B = {0};
    for (int k = 0; k < 6; k++) {
        put_npz(in_folder("s.npz"), formats[k % 3], k >= 3);
        OK(tct_read_matrix(world, in_folder("s.npz"), &B, &info));
        assert_string_equal(info.format, "npz");
        assert_same(&A, &B);
        tct_csr_clear(&B);
    }
    static const char *const types[] = {"<U3", ">U3", "|S3"};
    for (int k = 0; k < 3; k++) { /* numpy.savez(format='csr') writes text */
        put_npz_typed(in_folder("s.npz"), "csr", types[k], k == 0);
        OK(tct_read_matrix(world, in_folder("s.npz"), &B, &info));
        assert_same(&A, &B);
        tct_csr_clear(&B);
    }
    tct_csr_clear(&A);
}

/* A path that reads what a child process writes into a pipe. */
static const char *flow(const char *file, int *end, pid_t *child)
{
    static char path[32];
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    size_t bytes;
    char *data = get_bytes(file, &bytes);
    *child = fork();
    if (*child == 0) {
        close(fd[0]);
        for (size_t done = 0; done < bytes;) { /* in small pieces */
            const size_t n = bytes - done < 1000 ? bytes - done : 1000;
            if (write(fd[1], data + done, n) != (ssize_t)n) _exit(1);
            done += n;
        }
        _exit(0);
    }
    free(data);
    close(fd[1]);
    *end = fd[0];
    snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
    return path;
}

/* With 64-bit numbers, and with sizes after the data: from a file and from a
 * pipe. */
static void archives_of_other_tools(void **state)
{
    (void)state;
    if (left_out("o.npz")) skip();
    tct_file_info info;
    tct_csr A = read_text(small_market, &info), B = {0};
    for (int k = 0; k < 8; k++) {
        int end = -1;
        pid_t child = 0;
        put_npz_packed(in_folder("o.npz"), k & 1, k & 2);
        OK(tct_read_matrix(world,
                           k & 4 ? flow(in_folder("o.npz"), &end, &child)
                                 : in_folder("o.npz"),
                           &B, &info));
        if (child > 0) assert_int_equal(waitpid(child, NULL, 0), child);
        if (end >= 0) close(end);
        assert_string_equal(info.format, "npz");
        assert_same(&A, &B);
        tct_csr_clear(&B);
    }
    tct_csr_clear(&A);
}

/* What a build lacks is refused, and what it does not lack is not. */
static void what_a_build_lacks(void **state)
{
    (void)state;
    tct_csr A = {0}, B = {0};
    make_matrix(30, 30, &A);
    put_npz(in_folder("l.npz"), "csr", false);
    const bool lacks = left_out("l.npz");
    const tacit_status want = lacks ? TACIT_UNSUPPORTED : TACIT_OK;
    assert_int_equal(tct_read_matrix(world, in_folder("l.npz"), &B, NULL),
                     want);
    if (lacks) assert_non_null(strstr(tacit_error_message(), "libzip-dev"));
    tct_csr_clear(&B);
    assert_int_equal(tct_check_writable(world, in_folder("w.npz"), NULL, false),
                     want);
    assert_int_equal(tct_write_matrix(world, in_folder("w.npz"), NULL, &A),
                     want);
    if (lacks) assert_non_null(strstr(tacit_error_message(), "libzip-dev"));
    assert_int_equal(access(in_folder("w.npz"), F_OK), lacks ? -1 : 0);
    tct_csr_clear(&A);
}

/* A path of three vertices and one alone; then with all kinds of weights. */
static void metis_graphs(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text("% a graph\n4 2\n2\n1 3\n% in between\n2\n\n", &info);
    assert_string_equal(info.format, "metis");
    assert_int_equal(info.stored, 4);
    assert_int_equal(info.nonzeros, 8);
    assert_true(info.symmetric);
    assert_true(entry(&A, 0, 0, 0) == 1 && entry(&A, 1, 1, 0) == 2);
    assert_true(entry(&A, 1, 2, 0) == -1 && entry(&A, 3, 3, 1) == 0);
    tct_csr_clear(&A);
    A = read_text(" 3 2 111 2 \r\n9 7 7 2 5\r\n9 7 7 1 5 3 8\r\n9 7 7 2 8\r\n",
                  &info);
    assert_int_equal(info.nonzeros, 7);
    assert_true(entry(&A, 0, 1, 0) == -5 && entry(&A, 2, 1, 0) == -8);
    assert_true(entry(&A, 0, 0, 0) == 5 && entry(&A, 1, 1, 0) == 13);
    tct_csr_clear(&A);
    A = read_text("2 1 1\n2 0.25\n1 0.25\n", &info);
    assert_true(entry(&A, 0, 1, 0) == -0.25);
    tct_csr_clear(&A);
}

/* One line longer than a block of text. */
static void metis_star(void **state)
{
    (void)state;
    enum { LEAVES = 700000 };
    FILE *f = fopen(in_folder("star"), "w");
    assert_non_null(f);
    fprintf(f, "%d %d\n", LEAVES + 1, LEAVES);
    for (int i = 0; i < LEAVES; i++) fprintf(f, "%d ", i + 2);
    fprintf(f, "\n");
    for (int i = 0; i < LEAVES; i++) fprintf(f, "1\n");
    assert_int_equal(fclose(f), 0);
    tct_csr A = {0};
    tct_file_info info;
    OK(tct_read_matrix(world, in_folder("star"), &A, &info));
    assert_int_equal(info.nonzeros, 3 * LEAVES + 1);
    assert_int_equal(A.ptr[1], LEAVES + 1);
    assert_true(A.val[0] == LEAVES && A.val[LEAVES] == -1);
    tct_csr_clear(&A);
}

/* Fields that touch, D exponents, exponents without a message, no point. */
static void boeing_fields(void **state)
{
    (void)state;
    tct_file_info info;
    tct_csr A = read_text(
        "A title                                                           "
        "      KEY\n"
        "             4             1             1             2\n"
        "RUA                        3             3             5             "
        "0\n"
        "(4I1)           (5I1)           (1P,3D8.2)          \n"
        "1346\n"
        "13213\n"
        " 1.25D+2-2.5-001     300\n"
        "-.5E+001     4E0\n",
        &info);
    assert_string_equal(info.format, "harwell-boeing");
    assert_int_equal(info.nonzeros, 5);
    assert_true(entry(&A, 0, 0, 0) == 125 && entry(&A, 2, 0, 0) == -0.25);
    /* 300 is 3.00 by D8.2, and a tenth of it by 1P */
    assert_true(entry(&A, 1, 1, 0) == 0.3);
    assert_true(entry(&A, 0, 2, 0) == -5 && entry(&A, 2, 2, 0) == 0.04);
    tct_csr_clear(&A);
    A = read_text("Rutherford-Boeing pattern\n"
                  "             2             1             1             0\n"
                  "psa                        3             3             4    "
                  "         0\n"
                  "(26I3)          (26I3)\n"
                  "  1  3  4  5\n"
                  "  1  3  2  3\n",
                  &info);
    assert_int_equal(info.stored, 4);
    assert_int_equal(info.nonzeros, 5);
    assert_int_equal(info.field, TCT_FIELD_PATTERN);
    assert_true(entry(&A, 0, 2, 0) == 1 && entry(&A, 2, 0, 0) == 1);
    tct_csr_clear(&A);
}

static void boeing_right_hand_sides(void **state)
{
    (void)state;
    static const char *const files[] = {HB_FULL, HB_SPARSE};
    static const double sides[][3] = {{2, 4, 10}, {2, 0, 10}};
    double x[3];
    for (int k = 0; k < 2; k++) {
        tct_file_info info;
        tct_csr A = read_text(files[k], &info);
        assert_string_equal(info.format, "harwell-boeing");
        assert_int_equal(info.nonzeros, 7);
        assert_true(info.own_rhs);
        assert_true(entry(&A, 1, 0, 0) == -1 && entry(&A, 2, 2, 0) == 4);
        tct_csr_clear(&A);
        OK(tct_read_vector(world, in_folder("text"), false, 3, 0, 3, x));
        assert_memory_equal(x, sides[k], sizeof x);
        OK(tct_read_vector(world, in_folder("text"), true, 3, 0, 3, x));
        assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3);
    }
}

/* A line a row, a column a vector. */
static void plain_columns(void **state)
{
    (void)state;
    static const double expected[] = {1, 3, 5, -2, 4, 6e2};
    double *X = NULL;
    int columns = 0;
    put_text(in_folder("table"), "# x y\n1 -2 # first\n\n3\t4\n5 6e2");
    OK(tct_read_vectors(world, in_folder("table"), false, 3, 0, 3, &columns,
                        &X));
    assert_int_equal(columns, 2);
    assert_memory_equal(X, expected, sizeof expected);
    tct_free(X);
    OK(tct_read_vectors(world, in_folder("table"), false, 6, 0, 6, &columns,
                        &X)); /* as many values as rows: one vector */
    assert_int_equal(columns, 1);
    assert_true(X[1] == -2 && X[2] == 3);
    tct_free(X);
}

/* A system of AMGX: entries, a right-hand side, a first guess. */
static void amgx_systems(void **state)
{
    (void)state;
    double x[2];
    tct_csr A = {0};
    tct_file_info info;
    put_text(in_folder("amgx"),
             "%%MatrixMarket matrix coordinate real symmetric\n"
             "%%NVAMG 1 1 sorted rhs solution\n2 2 2\n1 1 4\n"
             "% between\n2 2 5\n7\n8\n0.5\n-1\n");
    OK(tct_read_matrix(world, in_folder("amgx"), &A, &info));
    assert_true(info.own_rhs && A.ptr[2] == 2 && A.val[1] == 5);
    tct_csr_clear(&A);
    OK(tct_read_vector(world, in_folder("amgx"), false, 2, 0, 2, x));
    assert_true(x[0] == 7 && x[1] == 8);
    OK(tct_read_vector(world, in_folder("amgx"), true, 2, 0, 2, x));
    assert_true(x[0] == 0.5 && x[1] == -1);
}

static void same_as(const tct_csr *A, const char *text)
{
    tct_csr B = {0};
    put_text(in_folder("hb"), text);
    OK(tct_read_matrix(world, in_folder("hb"), &B, NULL));
    assert_same(A, &B);
    tct_csr_clear(&B);
}

/* Formats with X and groups, and fields narrower than their format says, as
 * SciPy writes them. */
static void harwell_boeing_formats(void **state)
{
    (void)state;
    tct_csr A = {0};
    put_text(in_folder("mtx"), "%%MatrixMarket matrix coordinate real general\n"
                               "2 2 3\n1 1 2.5\n2 1 -1.25\n2 2 4\n");
    OK(tct_read_matrix(world, in_folder("mtx"), &A, NULL));
#define HB(formats, body)                                                    \
    "t\n 3 1 1 1 0\nRUA                        2             2             " \
    "3             0\n" formats "\n" body
    same_as(&A,
            HB("(3I2) (3I2) (3F6.2)", " 1 3 4\n 1 2 2\n  2.50 -1.25  4.00\n"));
    same_as(&A, HB("(1X,3I2) (3(1X,I1)) (1P,3(E10.2))",
                   "@ 1 3 4\n@1@2@2\n   2.5E+00 -1.25E+00   4.0E+00\n"));
    same_as(&A, HB("(2(I2,I2)) (3I2) (3E9.2)",
                   " 1 3 4\n 1 2 2\n 2.50E+0 -1.25E+0 4.00E+0\n"));
#undef HB
    tct_csr_clear(&A);
}

/* Numbers, one a line or several; comments; no end to the last line. */
static void plain_vectors(void **state)
{
    (void)state;
    static const char *const texts[] = {"1\n-2.5\n3e2\n4\n5\n",
                                        "1 -2.5\t3e2\r\n\r\n4 5",
                                        "# from elsewhere\n% and so on\n  1 # "
                                        "one\n-2.5% two\n+300.0\n\n4\n5\n#",
                                        "\xef\xbb\xbf"
                                        "1 -.25D+1 300 4 5"};
    static const double expected[] = {1, -2.5, 300, 4, 5};
    double x[5];
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        put_text(in_folder("plain"), texts[k]);
        OK(tct_read_vector(world, in_folder("plain"), false, 5, 0, 5, x));
        assert_memory_equal(x, expected, sizeof x);
        put_gzip(in_folder("plain"), texts[k], 0, 0);
        OK(tct_read_vector(world, in_folder("plain"), false, 5, 0, 5, x));
        assert_memory_equal(x, expected, sizeof x);
    }
    enum { N = 300001 }; /* several blocks and batches */
    FILE *f = fopen(in_folder("plain"), "w");
    assert_non_null(f);
    for (int i = 0; i < N; i++)
        fprintf(f, "%.17g%c", tct_uniform((uint64_t)i, 9), i % 3 ? ' ' : '\n');
    assert_int_equal(fclose(f), 0);
    double *y = malloc(N * sizeof *y);
    assert_non_null(y);
    OK(tct_read_vector(world, in_folder("plain"), false, N, 0, N, y));
    for (int i = 0; i < N; i++)
        assert_true(y[i] == tct_uniform((uint64_t)i, 9));
    free(y);
}

static void what_flows_is_read_in_every_format(void **state)
{
    (void)state;
    static const char *const matrices[] = {"f.mtx", "f.mtx.gz", "f.tacit",
                                           "f.petsc", "f.npz"};
    static const char *const vectors[] = {"f.npy", "fx.petsc", "fx.tacit"};
    tct_csr A = {0}, B = {0};
    double x[700], y[700];
    int end;
    pid_t child;
    make_matrix(700, 800, &A);
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
        if (left_out(matrices[k])) continue;
        OK(tct_write_matrix(world, in_folder(matrices[k]), NULL, &A));
        OK(tct_read_matrix(world, flow(in_folder(matrices[k]), &end, &child),
                           &B, NULL));
        close(end);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_same(&A, &B);
        tct_csr_clear(&B);
    }
    tct_csr_clear(&A);
    for (int i = 0; i < 700; i++) x[i] = tct_uniform((uint64_t)i, 4);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        OK(tct_write_vector(world, in_folder(vectors[k]), NULL, 700, 700, x));
        OK(tct_read_vector(world, flow(in_folder(vectors[k]), &end, &child),
                           false, 700, 0, 700, y));
        close(end);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_memory_equal(x, y, sizeof x);
    }
}

/* Archives and .tacit files that are packed once more. */
static void packed_binaries(void **state)
{
    (void)state;
    static const char *const names[] = {"q.tacit", "q.npz", "q.petsc"};
    tct_csr A = {0}, B = {0};
    make_matrix(50, 60, &A);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(names[k])) continue;
        OK(tct_write_matrix(world, in_folder(names[k]), NULL, &A));
        size_t bytes;
        char *raw = get_bytes(in_folder(names[k]), &bytes);
        gzFile f = gzopen(in_folder("q.gz"), "wb");
        assert_int_equal(gzwrite(f, raw, (unsigned)bytes), (int)bytes);
        gzclose(f);
        free(raw);
        OK(tct_read_matrix(world, in_folder("q.gz"), &B, NULL));
        assert_same(&A, &B);
        tct_csr_clear(&B);
    }
    tct_csr_clear(&A);
}

/* A Mat and its right-hand side in one file, both with 64-bit indices. */
static void petsc_matrix_then_vector(void **state)
{
    (void)state;
    unsigned char raw[200] = {0};
    static const int words[] = {1211216, 2, 2, 2, 1, 1, 1, 0};
    size_t n = 0;
    for (int k = 0; k < 8; k++, n += 8) {
        raw[n + 7] = (unsigned char)words[k];
        raw[n + 6] = (unsigned char)(words[k] >> 8);
        raw[n + 5] = (unsigned char)(words[k] >> 16);
    }
    raw[n] = 0x40; /* 2 */
    raw[n + 8] = 0x40;
    raw[n + 9] = 0x08; /* 3 */
    n += 16;
    memcpy(raw + n, raw, 16); /* a Vec of 2 */
    raw[n + 7] = (unsigned char)(1211214 & 255);
    n += 16;
    raw[n] = 0xC0; /* -2 */
    raw[n + 8] = 0x3F;
    raw[n + 9] = 0xF0; /* 1 */
    put_bytes(in_folder("wide"), raw, n + 16);
    tct_csr A = {0};
    double x[2];
    tct_file_info info;
    OK(tct_read_matrix(world, in_folder("wide"), &A, &info));
    assert_true(info.own_rhs);
    assert_true(entry(&A, 0, 1, 0) == 2 && entry(&A, 1, 0, 0) == 3);
    OK(tct_read_vector(world, in_folder("wide"), false, 2, 0, 2, x));
    assert_true(x[0] == -2 && x[1] == 1);
    tct_csr_clear(&A);
}

/* Of several objects the first is read, or the Vec behind a Mat; a Vec that has
 * as many bytes as the values of the Mat is none of their halves. */
static void petsc_of_several_objects(void **state)
{
    (void)state;
    static const char *const files[] = {"m", "mv", "mm", "mi", "miv", "mvv"};
    double x[3];
    for (int wide = 0; wide < 2; wide++)
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            tct_csr A = {0};
            tct_file_info info;
            put_petsc(in_folder("o"), files[k], wide ? 8 : 4, 8);
            gzip_file(in_folder("o"), in_folder("o.gz"));
            OK(tct_read_matrix(world, in_folder("o.gz"), &A, &info));
            tct_csr_clear(&A);
            OK(tct_read_matrix(world, in_folder("o"), &A, &info));
            assert_true(entry(&A, 2, 2, 0) == 6);
            tct_csr_clear(&A);
            assert_int_equal(info.own_rhs, files[k][1] == 'v');
            if (!info.own_rhs) continue;
            OK(tct_read_vector(world, in_folder("o"), false, 3, 0, 3, x));
            assert_true(x[0] == -2 && x[1] == 1 && x[2] == 3);
        }
    const int diagonal[] = {1211216, 2, 2, 3, 2, 1, 0, 1, 1},
              vec[] = {1211214, 2};
    const double values[] = {4, 1, 5, -2, 1};
    petsc_file p = {.index = 4, .value = 8};
    petsc_ints(&p, diagonal, 9);
    petsc_values(&p, values, 3);
    petsc_ints(&p, vec, 2);
    petsc_values(&p, values + 3, 2);
    put_bytes(in_folder("o"), p.data, p.bytes);
    tct_csr A = {0};
    OK(tct_read_matrix(world, in_folder("o"), &A, NULL));
    tct_csr_clear(&A);
}

/* --- real matrices -------------------------------------------------------- */

/* Rows and entries of one table line of the README, or false. */
static bool table_line(const char *line, char *name, long *rows, long *stored,
                       long *nonzeros)
{
    int n = 0;
    return sscanf(line, "| %63s | %*d | %ld | %ld (%*[^|]| %ld |%n", name, rows,
                  stored, nonzeros, &n) == 4 &&
           n > 0;
}

static void real_matrices_have_their_counts(void **state)
{
    (void)state;
    const char *folder = shared_matrices();
    if (!folder) skip();
    static const char *const folders[] = {"spd", "derived", "fe"};
    char path[1200], line[2048], name[64];
    snprintf(path, sizeof path, "%s/README.md", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    int checked = 0;
    long rows, stored, nonzeros;
    while (fgets(line, sizeof line, f)) {
        if (!table_line(line, name, &rows, &stored, &nonzeros)) continue;
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "%s/%s/%s.mtx.gz", folder, folders[k],
                     name);
            if (access(path, R_OK) != 0) continue;
            tct_csr A = {0};
            tct_file_info info;
            OK(tct_read_matrix(world, path, &A, &info));
            assert_int_equal(info.rows, rows);
            assert_int_equal(info.stored, stored);
            assert_int_equal(info.nonzeros, nonzeros);
            tct_csr_clear(&A);
            checked++;
        }
    }
    fclose(f);
    assert_true(checked >= 50);
}

static void real_matrices_by_heart(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int rows, stored, nonzeros;
    } known[] = {{"494_bus", 494, 1080, 1666},
                 {"662_bus", 662, 1568, 2474},
                 {"Trefethen_2000", 2000, 21953, 41906},
                 {"ani4", 3081, 20971, 20971},
                 {"bcsstk01", 48, 224, 400},
                 {"bcsstk13", 2003, 42943, 83883},
                 {"bcsstk16", 4884, 147631, 290378},
                 {"bcsstk24", 3562, 81736, 159910},
                 {"bcsstm25", 15439, 15439, 15439},
                 {"crystm01", 4875, 55107, 105339},
                 {"ex15", 6867, 52769, 98671},
                 {"nos6", 675, 1965, 3255},
                 {"poisson_100x100", 10000, 49600, 49600}};
    const char *folder = shared_matrices();
    if (!folder) skip();
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        char path[1200];
        tct_csr A = {0};
        tct_file_info info;
        snprintf(path, sizeof path, "%s/spd/%s.mtx.gz", folder, known[k].name);
        OK(tct_read_matrix(world, path, &A, &info));
        assert_int_equal(info.rows, known[k].rows);
        assert_int_equal(info.cols, known[k].rows);
        assert_int_equal(info.stored, known[k].stored);
        assert_int_equal(info.nonzeros, known[k].nonzeros);
        assert_string_equal(info.packing, "gzip");
        tct_csr_clear(&A);
    }
}

/* Every file of a folder is read, or is complex and says so. */
static void all_of(const char *folder, const char *part)
{
    char path[1600];
    snprintf(path, sizeof path, "%s/%s", folder, part);
    DIR *d = opendir(path);
    assert_non_null(d);
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s/%s", folder, part, e->d_name);
        tct_csr A = {0};
        const tacit_status status = tct_read_matrix(world, path, &A, NULL);
        if (strstr(e->d_name, ".cua")) {
            assert_int_equal(status, TACIT_INPUT);
            assert_non_null(strstr(tacit_error_message(), "complex"));
        } else {
            OK(status);
            assert_true(tct_csr_nonzeros(&A) > 0);
        }
        tct_csr_clear(&A);
        count++;
    }
    closedir(d);
    assert_true(count > 0);
}

static void real_matrices_are_all_read(void **state)
{
    (void)state;
    const char *folder = shared_matrices();
    if (!folder) skip();
    all_of(folder, "spd");
    all_of(folder, "lu");
    all_of(folder, "hb");
}

static void harwell_boeing_equals_matrix_market(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"hb/bcsstk01.rsa", "spd/bcsstk01.mtx.gz"},
        {"hb/bcsstk02.rsa", "spd/bcsstk02.mtx.gz"},
        {"hb/arc130.rua", "lu/arc130.mtx.gz"},
        {"hb/big.rua", "lu/big.mtx.gz"},
        {"hb/g4.rua", "lu/g4.mtx.gz"},
        {"hb/west0067.rua", "lu/west0067.mtx.gz"}};
    const char *folder = shared_matrices();
    if (!folder) skip();
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        char path[1200];
        tct_csr A = {0}, B = {0};
        snprintf(path, sizeof path, "%s/%s", folder, pairs[k][0]);
        OK(tct_read_matrix(world, path, &A, NULL));
        snprintf(path, sizeof path, "%s/%s", folder, pairs[k][1]);
        OK(tct_read_matrix(world, path, &B, NULL));
        assert_same(&A, &B);
        tct_csr_clear(&A);
        tct_csr_clear(&B);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_there_and_back),
        cmocka_unit_test(chain_of_formats),
        cmocka_unit_test(vectors_there_and_back),
        cmocka_unit_test(columns_there_and_back),
        cmocka_unit_test(columns_of_others),
        cmocka_unit_test(symmetric_as_one_triangle),
        cmocka_unit_test(market_liberties),
        cmocka_unit_test(market_after_marks_and_blank_lines),
        cmocka_unit_test(more_entries_than_places),
        cmocka_unit_test(market_patterns_and_integers),
        cmocka_unit_test(market_duplicates_and_zeros),
        cmocka_unit_test(market_arrays_as_matrices),
        cmocka_unit_test(market_vectors),
        cmocka_unit_test(market_of_many_blocks),
        cmocka_unit_test(packed_files),
        cmocka_unit_test(scipy_archives),
        cmocka_unit_test(archives_of_other_tools),
        cmocka_unit_test(what_a_build_lacks),
        cmocka_unit_test(metis_graphs),
        cmocka_unit_test(metis_star),
        cmocka_unit_test(boeing_fields),
        cmocka_unit_test(boeing_right_hand_sides),
        cmocka_unit_test(plain_vectors),
        cmocka_unit_test(plain_columns),
        cmocka_unit_test(amgx_systems),
        cmocka_unit_test(harwell_boeing_formats),
        cmocka_unit_test(what_flows_is_read_in_every_format),
        cmocka_unit_test(packed_binaries),
        cmocka_unit_test(petsc_matrix_then_vector),
        cmocka_unit_test(petsc_of_several_objects),
        cmocka_unit_test(real_matrices_have_their_counts),
        cmocka_unit_test(real_matrices_by_heart),
        cmocka_unit_test(real_matrices_are_all_read),
        cmocka_unit_test(harwell_boeing_equals_matrix_market),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
