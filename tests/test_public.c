/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_public.c - the library's lists through the public headers alone,
 * as the program uses them: the library accepts whatever it lists. Names are in
 * conform_names.c.
 *
 * RUN: np=1,2,3 */
#include "decorated.h"
#include "mpi_main.h"
#include <math.h>
#include <stdlib.h>
#include <tacit/tacit.h>

#define OK(call) assert_int_equal((call), TACIT_OK)

/* A file of this test that all ranks see; whoever is first removes it. */
static const char *temporary(const char *name)
{
    static char path[128];
    snprintf(
        path, sizeof path, "/tmp/tacit-test-public.%lld.%s",
        (long long)(tacit_world_size(test_world()) > 1 ? getppid() : getpid()),
        name);
    return path;
}

static tacit_matrix *open_matrix(const char *name)
{
    tacit_matrix *m = NULL;
    OK(tacit_matrix_open(test_world(), name, NULL, &m));
    return m;
}

/* --- lists ---------------------------------------------------------------- */

static void links_and_devices_say_what_they_lack(void **state)
{
    (void)state;
    bool found = false;
    for (int i = 0; tacit_link_at(i); i++)
        if (!strcmp(tacit_link_at(i)->name,
                    (tacit_world_size(test_world()) > 1 ? "mpi" : "self")))
            found = !tacit_link_at(i)->reason;
    assert_true(found);
    for (int i = 0; tacit_link_at(i); i++) { /* a library may be missing */
        const tacit_link *l = tacit_link_at(i);
        char text[64] = "?";
        const tacit_status status = tacit_link_probe(l->name, text, 64);
        assert_true(status ==
                    (l->reason || status < 0 ? TACIT_UNSUPPORTED : TACIT_OK));
        assert_true(status < 0 || text[0] != '?');
    }
    OK(tacit_link_probe("shm", NULL, 0));
    assert_int_equal(tacit_link_probe("shn", NULL, 0), TACIT_INVALID);
    OK(tacit_device_probe("host"));
    assert_int_equal(tacit_device_probe("hots"), TACIT_INVALID);
    assert_non_null(strstr(tacit_error_message(), "hots"));
    for (int i = 0; tacit_device_at(i); i++) {
        const tacit_device *d = tacit_device_at(i);
        const tacit_status status = tacit_device_probe(d->name);
        assert_int_equal(status == TACIT_UNSUPPORTED, d->reason != NULL);
        if (d->reason) assert_string_equal(tacit_error_message(), d->reason);
        for (int l = 0; d->gpu && tacit_loop_at(l); l++)
            assert_true(!tacit_loop_at(l)->reason ==
                        (!d->reason || !tacit_loop_at(l)->needs_gpu));
    }
}

/* What is listed can be asked for. */
static void what_is_listed_is_taken(void **state)
{
    (void)state;
    tacit_matrix *m = open_matrix("poisson2d:12");
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    int32_t *part = calloc(n + 1, sizeof *part);
    tacit_partition_info info = {.size = sizeof info};
    char text[80];
    for (int i = 0; tacit_partitioner_at(i); i++) {
        const tacit_partitioner *p = tacit_partitioner_at(i);
        assert_int_equal(tacit_matrix_cut(m, p->name, 2, part, &info),
                         p->from_file ? TACIT_INVALID
                         : p->reason  ? TACIT_UNSUPPORTED
                                      : TACIT_OK);
    }
    free(part);
    for (int d = 0; tacit_decorator_at(d); d++) {
        tacit_queue *q = NULL;
        const char *name = tacit_decorator_at(d)->name;
        snprintf(text, sizeof text, "%s%s:host", name, argument_of(name));
        const bool processes =
            test_launched_ && tacit_world_size(test_world()) > 1;
        const bool fits = !processes || strcmp(name, "late") != 0;
        assert_int_equal(tacit_queue_create(test_world(), text, 1, &q),
                         fits ? TACIT_OK : TACIT_UNSUPPORTED);
        tacit_queue_destroy(&q);
    }
    tacit_queue *q = NULL;
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    for (int f = 0; tacit_format_at("host", f); f++)
        for (int o = 0; tacit_order_at(o); o++) {
            tacit_operator *A = NULL;
            snprintf(text, sizeof text, "%s@%s",
                     tacit_format_at("host", f)->name, tacit_order_at(o)->name);
            OK(tacit_format_check("host", text));
            const tacit_status s = tacit_operator_create(q, m, text, &A);
            if (s != TACIT_UNSUPPORTED) OK(s); /* no dense blocks */
            tacit_operator_destroy(&A);
        }
    assert_int_equal(tacit_format_check("host", "csx"), TACIT_INVALID);
    assert_int_equal(tacit_format_check("host", "csr@x"), TACIT_INVALID);
    assert_int_equal(tacit_format_check("host", "csr/f64"), TACIT_UNSUPPORTED);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

static void methods_are_found_by_name(void **state)
{
    (void)state;
    const tacit_method *m;
    const char *reason = NULL;
    for (int i = 0; tacit_device_at(i); i++)
        if (tacit_device_at(i)->gpu) reason = tacit_device_at(i)->reason;
    for (int i = 0; (m = tacit_method_at(i)) != NULL; i++) {
        char text[512] = "";
        assert_ptr_equal(tacit_method_find(m->name), m);
        const bool kernels = tacit_method_resident(m->name, text, sizeof text);
        assert_true(kernels == (text[0] != '\0'));
        if (reason) assert_false(kernels);
        else if (!strcmp(m->name, "cg")) assert_true(kernels);
    }
    assert_null(tacit_method_find("cq"));
    assert_null(tacit_method_find(NULL));
}

/* --- files ---------------------------------------------------------------- */

/* A name that a format is written by can be written, as what it is written
 * for. */
static void file_formats_are_written_by_their_names(void **state)
{
    (void)state;
    const tacit_file_format *f;
    int suffixes = 0;
    for (int i = 0; (f = tacit_file_format_at(i)) != NULL; i++)
        for (int k = 0; k < 4 && f->suffixes[k]; k++, suffixes++) {
            char name[32];
            snprintf(name, sizeof name, "a%s%s", f->suffixes[k],
                     f->may_pack ? ".gz" : "");
            const char *path = temporary(name);
            if (f->reason) continue; /* not in this build */
            if (f->writes_matrix)
                OK(tacit_file_check_writable(test_world(), path,
                                             TACIT_FILE_MATRIX));
            if (f->writes_vector)
                OK(tacit_file_check_writable(test_world(), path,
                                             TACIT_FILE_VECTOR));
        }
    assert_true(suffixes >= 5);
    const char *odd = temporary("a.odd");
    OK(tacit_file_check_writable(test_world(), odd, TACIT_FILE_TEXT));
    assert_int_equal(
        tacit_file_check_writable(test_world(), odd, TACIT_FILE_MATRIX),
        TACIT_INVALID);
    assert_int_equal(access(odd, F_OK), -1); /* nothing is left behind */
    assert_true(tacit_file_is_stdout("-"));
    assert_true(tacit_file_is_stdout("/dev/fd/1"));
    assert_false(tacit_file_is_stdout(odd));
}

static void text_is_that_of_rank_0(void **state)
{
    (void)state;
    char got[32] = "";
    const bool first = tacit_world_rank(test_world()) == 0;
    const char *path = temporary("text");
    OK(tacit_file_write(test_world(), path, first ? "one\ntwo\n" : NULL));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(got, "one\ntwo\n");
    OK(tacit_world_agree(test_world(), TACIT_OK)); /* all have read it */
    if (first) unlink(path);
    assert_int_equal(tacit_file_write(test_world(), "/no/such/folder/x", "x"),
                     TACIT_IO);
}

/* --- parts and rows ------------------------------------------------------- */

/* The part of each row by its original number, not by where it is. */
static int32_t part_of(int64_t row)
{
    const int size = tacit_world_size(test_world());
    return (int32_t)((row * row + row / 3) % size);
}

static int64_t original(const tacit_matrix *m, int64_t i)
{
    const int64_t *rows = tacit_matrix_original_rows(m);
    return rows ? rows[i] : tacit_matrix_first_row(m) + i;
}

/* The file that is written is one that tacit_matrix_partition reads, and is
 * written alike after the rows have moved by it. */
static void parts_are_written_in_the_original_order(void **state)
{
    (void)state;
    const int rank = tacit_world_rank(test_world());
    tacit_matrix *m = open_matrix("poisson2d:9");
    const char *path = temporary("parts");
    for (int moves = 0; moves < 3; moves++) {
        const int64_t n = tacit_matrix_local_rows(m);
        int32_t *part = calloc((size_t)n + 1, sizeof *part);
        for (int64_t i = 0; i < n; i++) part[i] = part_of(original(m, i));
        OK(tacit_matrix_write_parts(m, path, part));
        free(part);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        int got, rows = 0;
        for (; fscanf(file, "%d", &got) == 1; rows++)
            assert_int_equal(got, part_of(rows));
        fclose(file);
        assert_int_equal(rows, 81);
        OK(tacit_matrix_partition(m, "file", path));
        for (int64_t i = 0; i < tacit_matrix_local_rows(m); i++)
            assert_int_equal(part_of(original(m, i)), rank);
    }
    if (rank == 0) unlink(path);
    tacit_matrix_destroy(&m);
}

static void rows_are_seen_as_they_are(void **state)
{
    (void)state;
    tacit_matrix *m = open_matrix("poisson1d:50");
    tacit_rows A;
    OK(tacit_matrix_view_rows(m, &A));
    assert_int_equal(A.first, tacit_matrix_first_row(m));
    assert_int_equal(A.count, tacit_matrix_local_rows(m));
    assert_non_null(A.cols32);
    assert_null(A.cols64);
    assert_int_equal(A.ptr[0], 0);
    for (int64_t i = 0; i < A.count; i++) {
        const int64_t row = A.first + i;
        int64_t k = A.ptr[i];
        for (int64_t j = row - 1; j <= row + 1; j++) {
            if (j < 0 || j > 49) continue;
            assert_int_equal(A.cols32[k], j);
            assert_true(A.vals[k++] == (j == row ? 2.0 : -1.0));
        }
        assert_int_equal(A.ptr[i + 1], k);
    }
    tacit_queue *q = NULL;
    tacit_operator *B = NULL;
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    OK(tacit_operator_take(q, m, NULL, &B));
    assert_int_equal(tacit_matrix_view_rows(m, &A), TACIT_INVALID);
    tacit_operator_destroy(&B);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

/* --- worlds and queues ---------------------------------------------------- */

static void ranks_agree(void **state)
{
    (void)state;
    tacit_world *w = test_world();
    const int rank = tacit_world_rank(w), size = tacit_world_size(w);
    double x[2] = {rank, -rank};
    OK(tacit_world_reduce(w, TACIT_SUM, 1, x));
    assert_true(x[0] == size * (size - 1) / 2 && x[1] == -rank);
    x[0] = rank;
    OK(tacit_world_reduce(w, TACIT_MAX, 2, x));
    assert_true(x[0] == size - 1 && x[1] == 0.0);
    x[0] = rank;
    OK(tacit_world_reduce(w, TACIT_MIN, 1, x));
    assert_true(x[0] == 0.0);
    OK(tacit_world_agree(w, TACIT_OK));
    assert_int_equal(
        tacit_world_agree(w, rank ? TACIT_OK : TACIT_NOT_CONVERGED),
        TACIT_NOT_CONVERGED);
    const tacit_status mine =
        rank == size - 1 ? tacit_error_set(TACIT_IO, "no %s on %d", "x", rank)
                         : TACIT_OK;
    char said[32];
    snprintf(said, sizeof said, "no x on %d", size - 1);
    assert_int_equal(tacit_world_agree(w, mine), TACIT_IO);
    assert_string_equal(tacit_error_message(), said);
    assert_int_equal(tacit_error_set(TACIT_INPUT, "%s!", tacit_error_message()),
                     TACIT_INPUT); /* itself among the arguments */
    strcat(said, "!");
    assert_string_equal(tacit_error_message(), said);
}

static void queues_fill_and_measure(void **state)
{
    (void)state;
    tacit_matrix *m = open_matrix("poisson2d:30");
    const size_t n = (size_t)tacit_matrix_local_rows(m);
    tacit_queue *q = NULL;
    tacit_operator *A = NULL;
    double *x = NULL, *y = NULL, norm = 0.0, seconds = 0.0;
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    OK(tacit_operator_create(q, m, "csr", &A));
    OK(tacit_queue_alloc(q, n, &x));
    OK(tacit_queue_alloc(q, n, &y));
    OK(tacit_queue_fill(q, n, 3.0, x));
    OK(tacit_queue_fill(q, n, 1.0, y));
    OK(tacit_queue_distance(q, n, x, y, &norm));
    assert_true(norm == 60.0); /* 2 sqrt(900) */
    for (int count = 1; count <= 1024; count += count < 8 ? 1 : 127) {
        OK(tacit_queue_measure_sum(q, count, 3, &seconds));
        assert_true(seconds > 0.0);
    }
    assert_int_equal(tacit_queue_measure_sum(q, 1025, 1, &seconds),
                     TACIT_INVALID);
    seconds = 0.0;
    OK(tacit_operator_measure_product(A, 3, x, y, &seconds));
    assert_true(seconds > 0.0);
    OK(tacit_queue_distance(q, n, y, NULL, &norm)); /* 3 times the row sums */
    assert_true(fabs(norm * norm - 9 * 128) < 1e-9);
    tacit_operator_info info = {.size = sizeof info};
    tacit_operator_describe(A, &info);
    double sent = (double)info.sent;
    OK(tacit_world_reduce(test_world(), TACIT_SUM, 1, &sent));
    assert_true(sent == (double)info.volume);
    const bool alone = tacit_world_size(test_world()) == 1;
    for (int vectors = 1; vectors <= 2; vectors++)
        assert_int_equal(
            tacit_operator_measure_exchange(A, vectors, 2, x, y, &seconds),
            alone ? TACIT_UNSUPPORTED : TACIT_OK);
    tacit_queue_free(q, &x);
    tacit_queue_free(q, &y);
    tacit_operator_destroy(&A);
    tacit_queue_destroy(&q);
    tacit_matrix_destroy(&m);
}

static void the_headers_have_the_version_of_the_library(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TACIT_VERSION_MAJOR,
             TACIT_VERSION_MINOR, TACIT_VERSION_PATCH);
    assert_string_equal(text, tacit_version());
#if TACIT_VERSION_NUMBER < 200
    fail_msg("version %d", TACIT_VERSION_NUMBER);
#endif
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_headers_have_the_version_of_the_library),
        cmocka_unit_test(links_and_devices_say_what_they_lack),
        cmocka_unit_test(what_is_listed_is_taken),
        cmocka_unit_test(methods_are_found_by_name),
        cmocka_unit_test(file_formats_are_written_by_their_names),
        cmocka_unit_test(text_is_that_of_rank_0),
        cmocka_unit_test(parts_are_written_in_the_original_order),
        cmocka_unit_test(rows_are_seen_as_they_are),
        cmocka_unit_test(ranks_agree),
        cmocka_unit_test(queues_fill_and_measure),
    };
    TEST_MPI_MAIN(tests);
}
