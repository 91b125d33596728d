/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_io_mpi.c - files read and written by several ranks: each gets its
 * rows, and an error reaches all of them.
 *
 * RUN: np=1,3,4 */
#include "io_files.h"
#include "mpi_main.h"
#include <sys/resource.h>
#include <tacit/matrix.h>

#define OK(call) ok_(call, #call)
static void ok_(tacit_status status, const char *call)
{
    if (status != TACIT_OK) fail_msg("%s: %s", call, tacit_error_message());
}

/* A name in rank 0's folder, the same on all ranks. */
static const char *common(const char *name)
{
    static char path[256];
    char mine[256] = "";
    if (tacit_world_rank(test_world()) == 0)
        snprintf(mine, sizeof mine, "%s", in_folder(name));
    OK(tct_bcast(test_world(), 0, sizeof mine, mine));
    memcpy(path, mine, sizeof path);
    return path;
}

/* Rank 0 writes `text`; nobody reads before. */
static const char *common_text(const char *name, const char *text)
{
    const char *path = common(name);
    if (tacit_world_rank(test_world()) == 0) put_text(path, text);
    OK(tct_agree(test_world(), TACIT_OK));
    return path;
}

enum { N = 2500 };

/* Entry (i, j) of an unsymmetric matrix; 0 means there is none. */
static double value(int64_t i, int64_t j)
{
    const uint64_t r = tct_mix((uint64_t)(i * N + j));
    return r % 40 || i % 11 == 4 ? 0 : tct_uniform(r, 7) - 0.5;
}

static void make_share(tct_csr *A)
{
    tacit_world *w = test_world();
    const int64_t first = tct_share(N, w->size, w->rank);
    const int64_t rows = tct_share(N, w->size, w->rank + 1) - first;
    OK(tct_csr_rows(A, N, N, first, rows));
    for (int pass = 0; pass < 2; pass++) {
        int64_t k = 0;
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < N; j++) {
                const double v = value(first + i, j);
                if (v == 0) continue;
                if (pass == 1) {
                    tct_csr_set_col(A, k, j);
                    A->val[k] = v;
                }
                k++;
            }
            A->ptr[i + 1] = k;
        }
        if (pass == 0) OK(tct_csr_entries(A, k));
    }
}

static void assert_share(const tct_csr *A, const tct_csr *B)
{
    assert_int_equal(A->first, B->first);
    assert_int_equal(A->rows, B->rows);
    const size_t n = (size_t)tct_csr_nonzeros(A);
    assert_int_equal(n, tct_csr_nonzeros(B));
    assert_memory_equal(A->ptr, B->ptr, (size_t)(A->rows + 1) * sizeof *A->ptr);
    assert_memory_equal(A->col32, B->col32, n * sizeof *A->col32);
    assert_memory_equal(A->val, B->val, n * sizeof *A->val);
}

static void matrices_there_and_back(void **state)
{
    (void)state;
    static const char *const names[] = {"a.mtx", "a.mtx.gz", "a.tacit",
                                        "a.petsc", "a.npz"};
    tct_csr A = {0};
    make_share(&A);
    int64_t total = tct_csr_nonzeros(&A);
    OK(tct_reduce_i64(test_world(), TCT_SUM, 1, &total));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(names[k])) continue;
        tct_csr B = {0};
        tct_file_info info;
        const char *path = common(names[k]);
        OK(tct_check_writable(test_world(), path, NULL, false));
        OK(tct_write_matrix(test_world(), path, NULL, &A));
        OK(tct_read_matrix(test_world(), path, &B, &info));
        assert_int_equal(info.nonzeros, total);
        assert_int_equal(info.rows, N);
        assert_share(&A, &B);
        tct_csr_clear(&B);
    }
    tct_csr_clear(&A);
}

/* What is written does not depend on the number of ranks. */
static void bytes_are_the_same_for_any_number_of_ranks(void **state)
{
    (void)state;
    static const char *const names[] = {"s.mtx", "s.tacit", "s.petsc", "s.npz"};
    tacit_world *self = NULL;
    tct_csr A = {0}, whole = {0};
    make_share(&A);
    OK(tacit_world_self(&self));
    OK(tct_write_matrix(test_world(), common("whole.tacit"), NULL, &A));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(names[k])) continue;
        OK(tct_write_matrix(test_world(), common(names[k]), NULL, &A));
        if (tacit_world_rank(test_world()) != 0) continue;
        OK(tct_read_matrix(self, in_folder("whole.tacit"), &whole, NULL));
        OK(tct_write_matrix(self, in_folder("one"),
                            &(tct_write_options){.format = k == 0
                                                               ? "matrix-market"
                                                           : k == 1 ? "tacit"
                                                           : k == 2 ? "petsc"
                                                                    : "npz"},
                            &whole));
        tct_csr_clear(&whole);
        size_t n, m;
        char *a = get_bytes(in_folder(names[k]), &n);
        char *b = get_bytes(in_folder("one"), &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        free(a);
        free(b);
    }
    tct_csr_clear(&A);
    tacit_world_destroy(&self);
}

static void vectors_there_and_back(void **state)
{
    (void)state;
    static const char *const names[] = {"x.mtx", "x.npy", "x.petsc", "x.tacit"};
    enum { ROWS = 100003 };
    tacit_world *w = test_world();
    /* not the shares that tct_share would give */
    const int64_t first =
        w->rank == 0 ? 0 : tct_share(ROWS, w->size, w->rank) - 5;
    const int64_t last = w->rank == w->size - 1
                             ? ROWS
                             : tct_share(ROWS, w->size, w->rank + 1) - 5;
    const size_t n = (size_t)(last - first);
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    assert_true(x && y);
    for (size_t i = 0; i < n; i++)
        x[i] = tct_uniform((uint64_t)first + i, 2) - 0.5;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *path = common(names[k]);
        OK(tct_write_vector(w, path, NULL, ROWS, last - first, x));
        memset(y, 0x55, n * sizeof *y);
        OK(tct_read_vector(w, path, false, ROWS, first, last - first, y));
        assert_memory_equal(x, y, n * sizeof *x);
    }
    free(x);
    free(y);
}

static void columns_there_and_back(void **state)
{
    (void)state;
    static const char *const names[] = {"X.mtx", "X.npy", "X.tacit"};
    enum { ROWS = 30011, K = 4 };
    tacit_world *w = test_world();
    const int64_t first = tct_share(ROWS, w->size, w->rank);
    const int64_t n = tct_share(ROWS, w->size, w->rank + 1) - first;
    double *X = malloc(K * (size_t)n * sizeof *X), *Y = NULL;
    assert_non_null(X);
    for (int64_t i = 0; i < K * n; i++)
        X[i] = tct_uniform((uint64_t)(i / n), (uint64_t)(first + i % n)) - 0.5;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *path = common(names[k]);
        int columns = 0;
        OK(tct_write_vectors(w, path, NULL, ROWS, n, K, X, n));
        OK(tct_read_vectors(w, path, false, ROWS, first, n, &columns, &Y));
        assert_int_equal(columns, K);
        assert_memory_equal(X, Y, K * (size_t)n * sizeof *X);
        tct_free(Y);
    }
    free(X);
}

/* Plain numbers, and what a matrix's file holds beside it. */
static void vectors_from_text(void **state)
{
    (void)state;
    tacit_world *w = test_world();
    const int64_t first = tct_share(3, w->size, w->rank);
    const int64_t count = tct_share(3, w->size, w->rank + 1) - first;
    static const double plain[] = {7, -8.5, 9e3}, side[] = {2, 0, 10};
    double x[3];
    const char *path = common_text("plain", "# numbers\n7 -8.5\n9e3\n");
    OK(tct_read_vector(w, path, false, 3, first, count, x));
    assert_memory_equal(x, plain + first, (size_t)count * sizeof *x);
    path = common_text("side", HB_SPARSE);
    OK(tct_read_vector(w, path, false, 3, first, count, x));
    assert_memory_equal(x, side + first, (size_t)count * sizeof *x);
    OK(tct_read_vector(w, path, true, 3, first, count, x));
    for (int64_t i = 0; i < count; i++)
        assert_true(x[i] == (double)(first + i + 1));
}

/* A symmetric file is expanded to whole rows on the ranks that own them. */
static void symmetric_files(void **state)
{
    (void)state;
    const char *path = common_text(
        "sym.mtx", "%%MatrixMarket matrix coordinate real symmetric\n"
                   "9 9 11\n1 1 1\n9 1 2\n2 2 3\n3 3 4\n4 4 5\n5 5 6\n5 2 7\n"
                   "6 6 8\n7 7 9\n8 8 10\n9 9 11\n");
    tct_csr A = {0};
    tct_file_info info;
    OK(tct_read_matrix(test_world(), path, &A, &info));
    assert_true(info.symmetric);
    assert_int_equal(info.stored, 11);
    assert_int_equal(info.nonzeros, 13);
    for (int64_t i = 0; i < A.rows; i++) {
        const int64_t row = A.first + i, n = A.ptr[i + 1] - A.ptr[i];
        const bool two = row == 0 || row == 8 || row == 1 || row == 4;
        assert_int_equal(n, two ? 2 : 1);
        if (row == 8) assert_true(A.val[A.ptr[i]] == 2);
        if (row == 1) assert_int_equal(tct_csr_col(&A, A.ptr[i] + 1), 4);
    }
    tct_csr_clear(&A);
}

static void graphs(void **state)
{
    (void)state;
    const char *path = common_text("g", "5 4\n2\n1 3\n2 4\n3 5\n4\n");
    tct_csr A = {0};
    tct_file_info info;
    OK(tct_read_matrix(test_world(), path, &A, &info));
    assert_int_equal(info.nonzeros, 13);
    for (int64_t i = 0; i < A.rows; i++) {
        double sum = 0;
        for (int64_t k = A.ptr[i]; k < A.ptr[i + 1]; k++) sum += A.val[k];
        assert_true(sum == 0);
    }
    tct_csr_clear(&A);
}

/* All ranks end, with the same status and sentence, and nothing left. */
static void assert_all_fail(const char *path, tacit_status want,
                            const char *word)
{
    const size_t blocks = tct_memory_blocks();
    tct_csr A = {0};
    const tacit_status got = tct_read_matrix(test_world(), path, &A, NULL);
    if (got != want || !strstr(tacit_error_message(), word))
        fail_msg("%s: %s", tacit_status_name(got), tacit_error_message());
    assert_null(A.ptr);
    assert_int_equal(tct_memory_blocks(), blocks);
}

static void errors_reach_all(void **state)
{
    (void)state;
    assert_all_fail(common("nowhere"), TACIT_IO, "No such file");
    assert_all_fail(common_text("bad", "no matrix"), TACIT_INPUT, "none of");
    assert_all_fail(
        common_text("bad", "%%MatrixMarket matrix coordinate real general\n"
                           "3 3 3\n1 1 1\n2 2 oops\n3 3 1\n"),
        TACIT_INPUT, "bad:4:5");
    assert_all_fail(common_text("bad", "3 2\n2 3\n1\n2\n"), TACIT_INPUT,
                    "only in the line of one");
    const char *path = common("cut.tacit");
    tct_csr A = {0};
    make_share(&A);
    OK(tct_write_matrix(test_world(), path, NULL, &A));
    tct_csr_clear(&A);
    if (tacit_world_rank(test_world()) == 0) {
        size_t bytes;
        char *raw = get_bytes(path, &bytes);
        raw[bytes - 100] ^= 1;
        put_bytes(path, raw, bytes);
        free(raw);
    }
    OK(tct_agree(test_world(), TACIT_OK));
    assert_all_fail(path, TACIT_INPUT, "checksum");
    double x[9];
    tacit_world *w = test_world();
    const int64_t first = tct_share(9, w->size, w->rank);
    const int64_t count = tct_share(9, w->size, w->rank + 1) - first;
    assert_int_equal(
        tct_read_vector(w,
                        common_text("v", "%%MatrixMarket matrix array real "
                                         "general\n2 1\n1\n2\n"),
                        false, 9, first, count, x),
        TACIT_INPUT);
    assert_non_null(strstr(tacit_error_message(), "2 values"));
    assert_int_equal(
        tct_write_vector(w, "/no/such/place.mtx", NULL, 9, count, x), TACIT_IO);
}

/* One rank alone has no memory: all end. */
static void one_rank_starves(void **state)
{
    (void)state;
    const char *path = common("starve.mtx");
    tct_csr A = {0};
    make_share(&A);
    OK(tct_write_matrix(test_world(), path, NULL, &A));
    tct_csr_clear(&A);
    const int last = tacit_world_size(test_world()) - 1;
    const bool mine = tacit_world_rank(test_world()) == last;
    const size_t blocks = tct_memory_blocks();
    for (long k = 1; k <= 6; k++) { /* before messages are under way */
        if (mine) tct_memory_fail_at(k);
        const tacit_status status =
            tct_read_matrix(test_world(), path, &A, NULL);
        tct_memory_fail_at(0);
        tct_csr_clear(&A);
        assert_int_equal(status, TACIT_NO_MEMORY);
        assert_int_equal(tct_memory_blocks(), blocks);
    }
    OK(tct_read_matrix(test_world(), path, &A, NULL));
    tct_csr_clear(&A);
}

/* Rank 0 cannot write all of it: every rank learns of it, and none waits. */
static void a_full_disk_ends_all(void **state)
{
    (void)state;
    static const char *const names[] = {"d.mtx", "d.mtx.gz", "d.tacit",
                                        "d.petsc", "d.npz"};
    struct rlimit before, little;
    tct_csr A = {0};
    make_share(&A);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 3000;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(names[k])) continue;
        const char *path = common(names[k]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        const tacit_status got = tct_write_matrix(test_world(), path, NULL, &A);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(got, TACIT_NO_MEMORY); /* the machine's fault */
        assert_non_null(strstr(tacit_error_message(), "File too large"));
        assert_int_equal(access(path, F_OK), -1);
    }
    tct_csr_clear(&A);
}

/* --- names that differ ---------------------------------------------------- */

/* `one`, on the last rank `other`. */
static const char *apart(const char *one, const char *other)
{
    return tacit_world_rank(test_world()) == tacit_world_size(test_world()) - 1
               ? other
               : one;
}

/* All ranks are told both names. */
static void assert_refused(tacit_status got, const char *one, const char *other)
{
    const char *text = tacit_error_message();
    if (got != TACIT_INVALID || !strstr(text, one) || !strstr(text, other))
        fail_msg("%s instead of INVALID with %s and %s: %s",
                 tacit_status_name(got), one, other, text);
    assert_null(strchr(text, '\n'));
}

static void matrices_of_different_names(void **state)
{
    (void)state;
    tacit_world *w = test_world();
    tacit_matrix *m = NULL;
    if (tacit_world_size(w) == 1) skip();
    const char *path = common_text(
        "n.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n"
                 "1 1 1\n2 2 1\n");
    const char *const pairs[][2] = {{path, "nowhere.mtx"},
                                    {path, "poisson2d:20"},
                                    {"poisson2d:20", path},
                                    {"poisson2d:20", "poisson2d:20x20"},
                                    {"laplace1d:9", "-"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const char *one = pairs[k][0], *other = pairs[k][1];
        assert_refused(tacit_matrix_open(w, apart(one, other), NULL, &m), one,
                       other);
        assert_null(m);
    }
    tct_csr A = {0};
    assert_refused(tct_read_matrix(w, apart(path, "nowhere.mtx"), &A, NULL),
                   "n.mtx", "nowhere.mtx");
}

static void files_of_different_names(void **state)
{
    (void)state;
    tacit_world *w = test_world();
    tacit_matrix *m = NULL;
    if (tacit_world_size(w) == 1) skip();
    OK(tacit_matrix_open(w, "poisson2d:20", NULL, &m));
    const int64_t n = tacit_matrix_local_rows(m);
    double *x = calloc((size_t)n, sizeof *x), *X = NULL;
    int32_t *part = calloc((size_t)n, sizeof *part);
    int columns;
    must(x && part, "memory");
    char one[256];
    snprintf(one, sizeof one, "%s", common("x.mtx"));
    const char *name = apart(one, "y.npy");
    OK(tacit_matrix_write_vector(m, one, x));
    assert_refused(tacit_matrix_read_vector(m, name, x), one, "y.npy");
    assert_refused(tacit_matrix_read_guess(m, name, x), one, "y.npy");
    assert_refused(tacit_matrix_read_vectors(m, name, &columns, &X), one,
                   "y.npy");
    assert_refused(tacit_matrix_read_guesses(m, name, &columns, &X), one,
                   "y.npy");
    assert_refused(tacit_matrix_rigid_body_modes(m, name, &columns, &X), one,
                   "y.npy");
    assert_refused(
        tacit_matrix_rigid_body_modes(m, apart(one, NULL), &columns, &X), one,
        "not given");
    assert_refused(tacit_matrix_partition(m, "file", name), one, "y.npy");
    assert_refused(
        tacit_matrix_partition(m, apart("metis", "contiguous"), NULL), "metis",
        "contiguous");
    tacit_partition_info cut = {.size = sizeof cut};
    assert_refused(
        tacit_matrix_cut(m, apart("contiguous", "metis"), 2, part, &cut),
        "metis", "contiguous");
    assert_true(!X && !tacit_matrix_original_rows(m));
    snprintf(one, sizeof one, "%s", common("z.mtx"));
    /* by its ending the last is no name of a matrix, nor of any format */
    static const char *const others[] = {"y.mtx", "y.npy", "y.nothing"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        name = apart(one, others[k]);
        assert_refused(tacit_matrix_write(m, name), one, others[k]);
        assert_refused(tacit_matrix_write_vector(m, name, x), one, others[k]);
        assert_refused(tacit_matrix_write_vectors(m, name, 1, x, (size_t)n),
                       one, others[k]);
        assert_refused(tacit_matrix_write_parts(m, name, part), one, others[k]);
        assert_refused(tacit_file_write(w, name, "text"), one, others[k]);
        for (int kind = TACIT_FILE_TEXT; kind <= TACIT_FILE_VECTORS; kind++)
            assert_refused(
                tacit_file_check_writable(w, name, (tacit_file_kind)kind), one,
                others[k]);
    }
    assert_int_equal(access(one, F_OK), -1);
    free(x);
    free(part);
    tacit_matrix_destroy(&m);
}

/* Of long ones both ends are told. */
static void long_names(void **state)
{
    (void)state;
    tacit_matrix *m = NULL;
    char one[2000], other[2000];
    if (tacit_world_size(test_world()) == 1) skip();
    memset(one, 'a', sizeof one);
    strcpy(one + 1900, "/left.mtx");
    strcpy(other, one);
    strcpy(other + 1900, "/right.mtx");
    assert_refused(tacit_matrix_open(test_world(), apart(one, other), NULL, &m),
                   "/left.mtx'", "/right.mtx'");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_there_and_back),
        cmocka_unit_test(bytes_are_the_same_for_any_number_of_ranks),
        cmocka_unit_test(vectors_there_and_back),
        cmocka_unit_test(columns_there_and_back),
        cmocka_unit_test(vectors_from_text),
        cmocka_unit_test(symmetric_files),
        cmocka_unit_test(graphs),
        cmocka_unit_test(errors_reach_all),
        cmocka_unit_test(one_rank_starves),
        cmocka_unit_test(a_full_disk_ends_all),
        cmocka_unit_test(matrices_of_different_names),
        cmocka_unit_test(files_of_different_names),
        cmocka_unit_test(long_names),
    };
    TEST_MPI_MAIN(tests);
}
