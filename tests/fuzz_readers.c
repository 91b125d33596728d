/* SPDX-License-Identifier: BSD-3-Clause
 * tests/fuzz_readers.c - damaged files of every format, made from good ones by
 * seeded mutations: no crash, leak or hang, a message with every error, and
 * sorted rows with every success.
 *
 *     fuzz_readers [SECONDS [SEED]]
 *
 * With -DTACIT_LIBFUZZER and clang -fsanitize=fuzzer it is a target for
 * libFuzzer instead. */
#include "io_files.h"
#include <math.h>
#include <time.h>

static tacit_world *world;

/* --- one input ------------------------------------------------------------ */

static void expect(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_readers: %s: %s\n", what, tacit_error_message());
    abort();
}

static void expect_rows(const tct_csr *A)
{
    expect(A->rows == A->global_rows && A->ptr[0] == 0, "shape");
    for (int64_t i = 0; i < A->rows; i++) {
        expect(A->ptr[i] <= A->ptr[i + 1], "row starts");
        int64_t last = -1;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
            const int64_t j = tct_csr_col(A, k);
            expect(j > last && j < A->global_cols, "columns");
            last = j;
        }
    }
}

static void read_matrix_and_vector(const char *path)
{
    enum { MOST = 1000 };
    static double x[MOST];
    const size_t blocks = tct_memory_blocks();
    tct_csr A = {0};
    tct_file_info info;
    tct_set_error_message("");
    tacit_status status = tct_read_matrix(world, path, &A, &info);
    if (status == TACIT_OK) expect_rows(&A);
    else
        expect(status < 0 && tacit_error_message()[0],
               "an error has a sentence");
    const int64_t rows = A.rows > 0 && A.rows <= MOST ? A.rows : 5;
    tct_csr_clear(&A);
    tct_set_error_message("");
    status = tct_read_vector(world, path, false, rows, 0, rows, x);
    expect(status == TACIT_OK || tacit_error_message()[0],
           "an error has a sentence");
    status = tct_read_vector(world, path, true, rows, 0, rows, x);
    expect(status == TACIT_OK || tacit_error_message()[0],
           "an error has a sentence");
    int columns = 0;
    double *X = NULL;
    for (int guess = 0; guess < 2; guess++) {
        status = tct_read_vectors(world, path, guess == 1, rows, 0, rows,
                                  &columns, &X);
        expect(status == TACIT_OK ? columns > 0
                                  : tacit_error_message()[0] != '\0',
               "columns, or a sentence");
        if (status == TACIT_OK) tct_free(X);
    }
    expect(tct_memory_blocks() == blocks, "memory is given back");
}

/* --- good files ----------------------------------------------------------- */

enum { SEEDS = 36 };
static struct {
    char *data;
    size_t bytes;
} seeds[SEEDS];
static int seed_count;

static void add_seed(const char *path)
{
    expect(seed_count < SEEDS, "room for seeds");
    seeds[seed_count].data = get_bytes(path, &seeds[seed_count].bytes);
    seed_count++;
}

static void add_text(const char *text)
{
    put_text(in_folder("seed"), text);
    add_seed(in_folder("seed"));
}

static void add_texts(void)
{
    static const char *const texts[] = {
        "%%MatrixMarket matrix coordinate real general\n% note\n5 5 7\n"
        "1 1 2.5\n2 2 -1e-3\n3 3 4\n4 4 1e300\n5 5 0.0\n5 1 7\n1 1 1\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 5\n1 1\n2 1\n"
        "2 2\n3 3\n4 4\n",
        "%%MatrixMarket matrix coordinate integer general\r\n2 3 2\r\n1 3 5\r\n"
        "2 1 -5\r\n",
        "%%MatrixMarket matrix array real general\n5 1\n1\n2\n3\n4.5e-7\n5\n",
        "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
        "% graph\n5 4\n2\n1 3\n2 4\n3 5\n4\n",
        "4 3 111 2\n1 2 3 2 9\n1 2 3 1 9 3 8\n1 2 3 2 8 4 7\n1 2 3 3 7\n",
        "Title                                                                 "
        "  KEY     \n             4             1             1             2\n"
        "RUA                        3             3             5             0"
        "\n(4I1)           (5I1)           (1P,3D8.2)          \n1346\n13213\n"
        " 1.25D+2-2.5-001     300\n-.5E+001     4E0\n",
        HB_FULL,
        HB_SPARSE,
        "# a vector\n1 2.5\n-3e4 % and\n4\n5\n",
        "Rutherford-Boeing\n             2             1             1         "
        "    0\npsa                        3             3             4       "
        " "
        "     0\n(26I3)          (26I3)\n  1  3  4  5\n  1  3  2  3\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        add_text(texts[k]);
    put_gzip(in_folder("seed"), texts[0], 0, 0);
    add_seed(in_folder("seed"));
    put_xz(in_folder("seed"), texts[0], 0, 0);
    add_seed(in_folder("seed"));
}

static void add_binaries(void)
{
    static const char *const names[] = {"a.tacit", "a.petsc", "a.npz",
                                        "a.mtx.gz"};
    static const char *const vectors[] = {"x.tacit", "x.petsc", "x.npy"};
    static const char *const archives[] = {"csr", "csc", "coo"};
    static const double x[10] = {1, -2, 3e10, 0, 5, 6, 0, 8, 9, 10};
    tct_csr A = {0};
    put_text(in_folder("small"),
             "%%MatrixMarket matrix coordinate real general\n5 5 7\n1 1 2\n"
             "2 2 3\n3 3 4\n4 4 5\n5 5 6\n5 1 7\n1 5 8\n");
    expect(tct_read_matrix(world, in_folder("small"), &A, NULL) == TACIT_OK,
           "a good matrix");
    for (int k = 0; k < 4; k++) {
        if (left_out(names[k])) continue;
        expect(tct_write_matrix(world, in_folder(names[k]), NULL, &A) ==
                   TACIT_OK,
               "a good matrix");
        add_seed(in_folder(names[k]));
    }
    tct_csr_clear(&A);
    for (int k = 0; k < 3; k++) {
        expect(tct_write_vector(world, in_folder(vectors[k]), NULL, 5, 5, x) ==
                   TACIT_OK,
               "a good vector");
        add_seed(in_folder(vectors[k]));
        if (k == 1) continue; /* .petsc */
        expect(tct_write_vectors(world, in_folder(vectors[k]), NULL, 5, 5, 2, x,
                                 5) == TACIT_OK,
               "good vectors");
        add_seed(in_folder(vectors[k]));
    }
    for (int k = 0; k < 6; k++) {
        put_npz(in_folder("s.npz"), archives[k % 3], k >= 3);
        add_seed(in_folder("s.npz"));
    }
    for (int k = 0; k < 4; k++) {
        put_npz_packed(in_folder("s.npz"), k & 1, k & 2);
        add_seed(in_folder("s.npz"));
    }
}

static void make_seeds(void)
{
    expect(tacit_world_self(&world) == TACIT_OK, "a world");
    add_texts();
    add_binaries();
}

#ifdef TACIT_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (!world) make_seeds();
    put_bytes(in_folder("input"), data, bytes);
    read_matrix_and_vector(in_folder("input"));
    return 0;
}

#else

/* --- mutations ------------------------------------------------------------ */

static uint64_t state_;

static size_t below(size_t n)
{
    state_ += 1;
    return n > 0 ? (size_t)(tct_mix(state_) % n) : 0;
}

/* What numbers in files are like when they are wrong. */
static const char *const words[] = {"0",
                                    "-1",
                                    "99999999999999999999",
                                    "9223372036854775807",
                                    "2147483648",
                                    "nan",
                                    "inf",
                                    "1e999",
                                    "1e-999",
                                    "%",
                                    "\n",
                                    " ",
                                    "\r\n",
                                    "x",
                                    "1 1 1\n",
                                    "symmetric",
                                    "complex",
                                    "array",
                                    "0x10",
                                    "+",
                                    ".",
                                    "e",
                                    "1000000"};

static size_t insert_word(char *data, size_t n, size_t room)
{
    const char *word = words[below(sizeof words / sizeof *words)];
    const size_t length = strlen(word), at = below(n + 1);
    if (n + length > room) return n;
    memmove(data + at + length, data + at, n - at);
    memcpy(data + at, word, length);
    return n + length;
}

static size_t mutate(char *data, size_t n, size_t room)
{
    static const unsigned char edges[] = {0, 1, 0x7F, 0x80, 0xFF};
    const size_t at = below(n), length = 1 + below(16);
    switch (below(8)) {
    case 0: /* a bit */
        if (n > 0) data[at] = (char)(data[at] ^ 1 << below(8));
        return n;
    case 1: /* a byte at the edge of its range */
        if (n > 0) data[at] = (char)edges[below(sizeof edges)];
        return n;
    case 2: /* shorter */ return n > 0 ? below(n) : 0;
    case 3: /* a hole */
        if (at + length >= n) return n;
        memmove(data + at, data + at + length, n - at - length);
        return n - length;
    case 4: /* something twice */
        if (at + length > n || n + length > room) return n;
        memmove(data + at + length, data + at, n - at);
        return n + length;
    case 5: /* a number of 4 bytes, little- or big-endian */
        if (at + 4 > n) return n;
        memset(data + at, (int)edges[below(sizeof edges)], 4);
        data[at + (below(2) ? 0 : 3)] = (char)below(256);
        return n;
    default: return insert_word(data, n, room);
    }
}

/* Now and then two good files are joined. */
static size_t start_from(char *data, size_t room)
{
    const size_t a = below((size_t)seed_count), b = below((size_t)seed_count);
    size_t n = seeds[a].bytes;
    memcpy(data, seeds[a].data, n);
    if (below(16) == 0 && n + seeds[b].bytes <= room) {
        n = below(n);
        memcpy(data + n, seeds[b].data, seeds[b].bytes);
        n += seeds[b].bytes;
    }
    return n;
}

int main(int argc, char **argv)
{
    enum { ROOM = 1 << 16 };
    int64_t seconds = 20, seed = 1;
    if ((argc > 1 && !tct_parse_int64(argv[1], &seconds)) ||
        (argc > 2 && !tct_parse_int64(argv[2], &seed))) {
        fprintf(stderr, "usage: %s [SECONDS [SEED]]\n", argv[0]);
        return 2;
    }
    state_ = tct_mix((uint64_t)seed);
    make_seeds();
    char path[256], *data = malloc(ROOM);
    must(data != NULL, "memory");
    snprintf(path, sizeof path, "%s", in_folder("input"));
    for (int k = 0; k < seed_count; k++) {
        put_bytes(path, seeds[k].data, seeds[k].bytes);
        read_matrix_and_vector(path);
    }
    const double start = tct_seconds();
    long runs = 0;
    for (; tct_seconds() - start < (double)seconds; runs++) {
        size_t n = start_from(data, ROOM);
        for (size_t k = below(6) + 1; k > 0; k--) n = mutate(data, n, ROOM);
        put_bytes(path, data, n);
        const clock_t before = clock(); /* of the processor */
        read_matrix_and_vector(path);
        expect(clock() - before < 5 * CLOCKS_PER_SEC, "no reader takes long");
    }
    printf("%ld damaged files from %d good ones\n", runs, seed_count);
    for (int k = 0; k < seed_count; k++) free(seeds[k].data);
    free(data);
    tacit_world_destroy(&world);
    return tct_memory_blocks() == 0 ? 0 : 1;
}

#endif
