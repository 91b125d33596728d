/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_io_bad.c - bad files: each gives its status and one sentence with
 * the place, at once, and leaves no file. */
#include "io/sink.h"
#include "io_world.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacit/matrix.h>
#include <time.h>

#include <cmocka.h>

/* `status` came with a sentence that has every one of `words` (NULL ends). */
static void assert_says(tacit_status got, tacit_status want,
                        const char *const *words)
{
    const char *text = tacit_error_message();
    if (got != want)
        fail_msg("%s instead of %s: %s", tacit_status_name(got),
                 tacit_status_name(want), text);
    assert_null(strchr(text, '\n'));
    for (; *words; words++)
        if (!strstr(text, *words)) fail_msg("no '%s' in: %s", *words, text);
}

/* Of the processor, whatever others do meanwhile. */
static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Reading `path` fails so, within a second, and leaves no memory behind. */
static void assert_bad_file(const char *path, tacit_status want,
                            const char *const *words)
{
    const size_t blocks = tct_memory_blocks();
    const double start = processor_seconds();
    tct_csr A = {0};
    tct_file_info info = {0};
    const tacit_status got = tct_read_matrix(world, path, &A, &info);
    assert_true(processor_seconds() - start < 1);
    assert_says(got, want, words);
    assert_null(A.ptr);
    assert_int_equal(tct_memory_blocks(), blocks);
}

#define BAD_FILE(path, status, ...) \
    assert_bad_file(path, status, (const char *const[]){__VA_ARGS__, NULL})

/* --- the file itself ------------------------------------------------------ */

static void no_file(void **state)
{
    (void)state;
    BAD_FILE(in_folder("nowhere.mtx"), TACIT_IO, "nowhere.mtx", "No such file");
    in_folder("x");
    BAD_FILE(test_folder, TACIT_INPUT, test_folder, "is a folder");
    put_text(in_folder("empty"), "");
    BAD_FILE(in_folder("empty"), TACIT_INPUT, "empty", "is empty");
    put_gzip(in_folder("empty"), "", 0, 0);
    BAD_FILE(in_folder("empty"), TACIT_INPUT, "unpacks to nothing");
    put_text(in_folder("hello"), "Hello, here is no matrix.\n");
    BAD_FILE(in_folder("hello"), TACIT_INPUT, "none of the known formats",
             "a text file", "%%MatrixMarket");
    put_text(in_folder("mark"), "\xef\xbb\xbf");
    BAD_FILE(in_folder("mark"), TACIT_INPUT, "mark", "is empty");
    put_bytes(in_folder("wide"), "\xff\xfe%\0%\0M\0", 8);
    BAD_FILE(in_folder("wide"), TACIT_INPUT, "UTF-16", "UTF-8");
    put_bytes(in_folder("noise"), "\177ELF\0\0\0\0\0\0\0\0", 12);
    BAD_FILE(in_folder("noise"), TACIT_INPUT, "none of the known formats",
             "a binary file");
}

/* --- text ----------------------------------------------------------------- */

typedef struct {
    const char *text;
    const char *words[4];
} bad_text;

static void assert_all_bad(const bad_text *cases, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        put_text(in_folder("bad"), cases[k].text);
        assert_bad_file(in_folder("bad"), TACIT_INPUT, cases[k].words);
    }
}

#define HEAD "%%MatrixMarket matrix coordinate real general\n"

static void bad_market_headers(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {"%%MatrixMarket matrix coord", {"bad:1", "3 of 5 words"}},
        {"%%MatrixMarket", {"bad:1", "1 of 5 words"}},
        {"%%MatrixMarket matrix coordinate real general sorted\n1 1 1\n1 1 1\n",
         {"bad:1", "goes on", "sorted"}},
        {"%%MatrixMarkets matrix coordinate real general\n1 1 1\n1 1 1\n",
         {"bad:1", "'%%MatrixMarkets'", "did you mean '%%MatrixMarket'"}},
        {"\xef\xbb\xbf\n\n%%MatrixMarket matrix cordinate real general\n",
         {"bad:3", "'cordinate'"}},
        {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
         {"bad:1", "complex"}},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n",
         {"bad:1", "skew-symmetric"}},
        {"%%MatrixMarket matrix coordinate complex hermitian\n1 1 0\n",
         {"bad:1", "complex"}},
        {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
         {"bad:1", "hermitian"}},
        {"%%MatrixMarket matrix cordinate real general\n1 1 0\n",
         {"bad:1", "'cordinate'", "did you mean 'coordinate'"}},
        {"%%MatrixMarket vector coordinate real general\n1 1 0\n",
         {"bad:1", "'vector'"}},
        {"%%MatrixMarket matrix array pattern general\n1 1\n",
         {"bad:1", "pattern"}},
        {HEAD, {"bad:2", "the file ends", "three sizes"}},
        {HEAD "% only comments\n%\n", {"bad:4", "the file ends"}},
        {HEAD "3 3\n", {"bad:2", "three sizes"}},
        {HEAD "3 3 2 1\n", {"bad:2", "three sizes"}},
        {HEAD "3 x 2\n", {"bad:2", "'x'", "no whole number"}},
        {HEAD "3 3.5 2\n", {"bad:2", "'3.5'"}},
        {HEAD "0 0 0\n", {"bad:2", "at least 1"}},
        {HEAD "-3 3 1\n", {"bad:2", "-3"}},
        {HEAD "3 3 -1\n", {"bad:2", "-1"}},
        {HEAD "99999999999999999999 3 1\n1 1 1\n", {"bad:2", "64 bits"}},
        {HEAD "9000000000000000000 9000000000000000000 1\n1 1 1\n",
         {"bad:2", "64 bits"}},
        {HEAD "3 3 10\n1 1 1\n", {"bad:4", "1 of 10 entries"}},
        {HEAD "3 3 1000\n1 1 1\n", {"bad:2", "promises 1000"}},
        {HEAD "1000000 1000000 1000000000000\n1 1 1\n",
         {"bad:2", "can hold at most"}},
        {HEAD "2000000000 2000000000 1\n1 1 1\n",
         {"bad:2", "nearly all rows would be empty"}},
        {"%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n",
         {"bad:2", "square"}},
        {"%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n",
         {"bad:2", "64 bits"}},
        {"%%MatrixMarket matrix array real general\n40000 40000\n1\n",
         {"bad:2", "can hold at most"}},
    };
    assert_all_bad(cases, sizeof cases / sizeof *cases);
}

static void bad_market_entries(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {HEAD "2 2 2\n1 1 1\n", {"bad:4", "1 of 2 entries"}},
        {HEAD "2 2 3\n1 1 1\n2 2 1.0000\n", {"bad:5", "2 of 3 entries"}},
        {HEAD "2 2 1\n1 1 1\n% well\n2 2 1\n", {"bad:5", "one more entry"}},
        {HEAD "2 2 1\n0 1 1\n", {"bad:3:1", "row 0", "begin at 1"}},
        {HEAD "2 2 1\n1 0 1\n", {"bad:3:3", "column 0"}},
        {HEAD "2 2 1\n-1 1 1\n", {"bad:3:1", "row -1"}},
        {HEAD "2 2 2\n1 1 1\n 3 1 1\n", {"bad:4:2", "row 3", "1 to 2"}},
        {HEAD "2 2 1\n1 3 1\n", {"bad:3:3", "column 3", "1 to 2"}},
        {HEAD "2 2 1\n99999999999999999999 1 1\n", {"bad:3:1", "999"}},
        {HEAD "2 2 1\n1 1 abc\n", {"bad:3:5", "'abc'", "no number"}},
        {HEAD "2 2 1\n1 1 1.5x\n", {"bad:3:5", "'1.5x'"}},
        {HEAD "2 2 1\n1 1 nan\n", {"bad:3:5", "nan", "not a number"}},
        {HEAD "2 2 1\n1 1 -Inf\n", {"bad:3:5", "-Inf", "finite"}},
        {HEAD "2 2 1\n1 1 1e999\n", {"bad:3:5", "1e999", "finite"}},
        {HEAD "2 2 1\nx 1 1.0\n", {"bad:3:1", "'x'", "row number"}},
        {HEAD "2 2 1\n1 1.5 1\n", {"bad:3:3", "'1.5'", "column number"}},
        {HEAD "2 2 1\n1        \n", {"bad:3:10", "a column number"}},
        {HEAD "2 2 1\n1 2      \n", {"bad:3:10", "a value"}},
        {HEAD "2 2 1\n1 2 3 4\n", {"bad:3:7", "'4'", "one entry a line"}},
        {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2 3\n",
         {"bad:3:5", "'3'", "pattern"}},
        {"%%MatrixMarket matrix array real general\n2 1\n1\nx\n",
         {"bad:4:1", "'x'"}},
        {"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 4\n"
         "2 2 4.5\n",
         {"bad:4:5", "4.5", "says integer: write 'real'"}},
        {"%%MatrixMarket matrix array unsigned-integer general\n2 1\n1\n-3\n",
         {"bad:4:1", "-3", "says unsigned-integer"}},
        {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 inf\n",
         {"bad:3:5", "inf", "finite"}},
        {"%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n",
         {"bad:5", "one more"}},
        {"%%MatrixMarket matrix array real general\n2 1\n 1 2\n",
         {"bad:3:4", "'2'"}},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
         "1 1 1\n2 1 5\n1 2 5\n",
         {"bad", "gives 1 entries on both sides of the diagonal"}},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 5\n"
         "1 1 1\n1 1 1\n2 2 3\n2 1 5\n1 2 5\n",
         {"bad", "gives 1 entries on both sides of the diagonal"}},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
         "1 1 1\n2 1 1.7e308\n2 1 1.7e308\n",
         {"bad", "row 1, column 2 add up to inf"}},
    };
    assert_all_bad(cases, sizeof cases / sizeof *cases);
}

/* The trouble is far into the file, in another block and part. */
static void trouble_far_away(void **state)
{
    (void)state;
    enum { N = 600000, AT = 500000 };
    FILE *f = fopen(in_folder("far"), "w");
    assert_non_null(f);
    fprintf(f, HEAD "%d %d %d\n", N, N, N);
    for (int i = 1; i <= N; i++)
        fprintf(f, i == AT ? "%d %d oops\n" : "%d %d 1.25\n", i, i);
    assert_int_equal(fclose(f), 0);
    BAD_FILE(in_folder("far"), TACIT_INPUT, "far:500002:15", "'oops'");
}

static void bad_metis(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {"3 2\n2\n1 3\n", {"2 of 3 vertices"}},
        {"3 2\n2\n1 a\x1b[m\n2\n", {"bad:3:3", "'a?[m' is no whole number"}},
        {"3 2\n2\n1 3\n2\n1\n", {"bad:5:1", "follows the last vertex"}},
        {"3 2\n2\n1 4\n2\n", {"bad:3:3", "'4'", "no vertex"}},
        {"3 2\n2\n0 3\n2\n", {"bad:3:1", "'0'", "no vertex"}},
        {"3 2\n2\n1 2\n2\n", {"bad:3:3", "itself"}},
        {"3 2\n2\n1 x\n2\n", {"bad:3:3", "'x'"}},
        {"3 3\n2\n1 3\n2\n", {"4 neighbours", "3 edges"}},
        {"3 2\n2 3\n1\n2\n", {"only in the line of one"}},
        {"2 2\n2 2\n1 1\n", {"listed twice"}},
        {"2 1 1\n2 5\n1\n", {"bad:3", "the weight of an edge"}},
        {"2 1 1\n2 5\n1 6\n", {"two weights"}},
        {"2 1 1\n2 -5\n1 -5\n", {"bad:2:3", "positive"}},
        {"3 2 1\n2 1.7e308\n1 1.7e308 3 1.7e308\n2 1.7e308\n",
         {"bad:3", "add up to inf"}},
        {"2 1 11\n5 2\n5 1 3\n", {"bad:2", "the weight of an edge"}},
        {"2 1 11\n5 2 3\n\n5 1 3\n", {"bad:4", "follows"}},
        {"2 1 10 2\n5\n5 5 1\n", {"bad:2", "2 vertex weights"}},
        {"2 1 7\n2\n1\n", {"bad:1", "no header"}},
        {"2 99999999\n2\n1\n", {"bad:1", "promises"}},
        /* Matrix Market without its first line */
        {"3 3 3\n1 1 4\n2 2 4\n3 3 4\n", {"bad:1", "%%MatrixMarket"}},
        {"% made by me\n2 2 1\n1 1 4.5\n", {"bad", "%%MatrixMarket"}},
        {"2 2\n1 2\n", {"bad:2:1", "itself", "%%MatrixMarket"}},
        {"99999999 1\n2\n1\n", {"bad:1", "more than the file"}},
    };
    assert_all_bad(cases, sizeof cases / sizeof *cases);
}

#define BOEING(type, formats, rest)                                            \
    "Title                                                                   " \
    "KEY     \n             3             1             1             "        \
    "1\n" type "                        2             2             2        " \
    "     0\n" formats "\n" rest

static void bad_boeing(void **state)
{
    (void)state;
    static const bad_text cases[] = {
        {BOEING("CUA", "(3I2) (2I2) (2E8.1)", ""), {"bad:3", "complex"}},
        {BOEING("RZA", "(3I2) (2I2) (2E8.1)", ""), {"bad:3", "RZA"}},
        {BOEING("RUE", "(3I2) (2I2) (2E8.1)", ""), {"bad:3", "assembled"}},
        {BOEING("RUA", "(3X2) (2I2) (2E8.1)", ""), {"bad:4", "(3X2)"}},
        {BOEING("RUA", "(3I2) (2I2) (2E99.1)", ""), {"bad:4", "formats"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", ""), {"bad:5", "pointers"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2"), {"bad:5:5", "pointers"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n"),
         {"bad:6", "row indices"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 2\n"),
         {"bad:7", "values"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 2 2 3\n 1 2\n"),
         {"bad:5:1", "outside 1 to 1"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 3 2\n 1 2\n"),
         {"bad:5:5", "outside 3 to 3"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 3\n"),
         {"bad:6:3", "outside 1 to 2"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 x\n"),
         {"bad:6:3", "'x'"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 2\n   1.0    hello"),
         {"bad:7:9", "'hello'"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 2\n   1.0   NaN"),
         {"bad:7:9", "finite"}},
        {BOEING("RUA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 2\n   1.0  "),
         {"bad:7:9", "nothing stands"}},
    };
    assert_all_bad(cases, sizeof cases / sizeof *cases);
}

/* --- packed --------------------------------------------------------------- */

static char *long_market(void)
{
    enum { N = 20000, ROOM = 1 << 20 };
    char *text = malloc(ROOM);
    must(text != NULL, "memory");
    int n = snprintf(text, ROOM, HEAD "%d %d %d\n", N, N, N);
    for (int i = 1; i <= N; i++)
        n += snprintf(text + n, (size_t)(ROOM - n), "%d %d %.17g\n", i, i,
                      tct_uniform((uint64_t)i, 1));
    return text;
}

static void bad_packed(void **state)
{
    (void)state;
    char *text = long_market();
    put_gzip(in_folder("cut"), text, 1000, 0);
    BAD_FILE(in_folder("cut"), TACIT_INPUT, "gzip", "cut short");
    put_gzip(in_folder("cut"), text, 4, 0); /* in its checksum */
    BAD_FILE(in_folder("cut"), TACIT_INPUT, "gzip", "cut short");
    put_gzip(in_folder("flip"), text, 0, 100000);
    BAD_FILE(in_folder("flip"), TACIT_INPUT, "flip");
    put_xz(in_folder("cut"), text, 1000, 0);
    BAD_FILE(in_folder("cut"), TACIT_INPUT, "xz", "cut short");
    put_xz(in_folder("flip"), text, 0, 90000);
    BAD_FILE(in_folder("flip"), TACIT_INPUT, "xz", "damaged");
    static const char *const tails[] = {"\n", "garbage", "more than a header"};
    for (size_t k = 0; k < sizeof tails / sizeof *tails; k++) {
        put_xz(in_folder("tail"), text, 0, 0);
        put_more(in_folder("tail"), tails[k], strlen(tails[k]));
        BAD_FILE(in_folder("tail"), TACIT_INPUT, "tail", "follows the xz data");
        put_gzip(in_folder("tail"), text, 0, 0);
        put_more(in_folder("tail"), tails[k], strlen(tails[k]));
        BAD_FILE(in_folder("tail"), TACIT_INPUT, "tail",
                 "follows the gzip data");
    }
    free(text);
}

/* Members follow one another, with padding in between, as xz --keep and cat
 * make them. */
static void packed_in_members(void **state)
{
    (void)state;
    static const char *const parts[] = {HEAD "2 2 2\n1 1", " 4\n2 2 5\n"};
    for (int xz = 0; xz < 2; xz++) {
        void (*put)(const char *, const char *, size_t, size_t) =
            xz ? put_xz : put_gzip;
        put(in_folder("second"), parts[1], 0, 0);
        put(in_folder("both"), parts[0], 0, 0);
        size_t bytes;
        char *raw = get_bytes(in_folder("second"), &bytes);
        put_more(in_folder("both"), "\0\0\0\0", 4);
        put_more(in_folder("both"), raw, bytes);
        put_more(in_folder("both"), "\0\0\0\0\0\0\0\0", 8);
        free(raw);
        tct_csr A = {0};
        assert_int_equal(tct_read_matrix(world, in_folder("both"), &A, NULL),
                         TACIT_OK);
        assert_int_equal(tct_csr_nonzeros(&A), 2);
        assert_true(A.val[0] == 4 && A.val[1] == 5);
        tct_csr_clear(&A);
    }
}

/* One bit is turned in the text, which is stored: only the CRC can tell. */
static void bad_gzip_checksum(void **state)
{
    (void)state;
    gzFile f = gzopen(in_folder("stored"), "wb0");
    const char *text = HEAD "1 1 1\n1 1 4\n";
    gzwrite(f, text, (unsigned)strlen(text));
    gzclose(f);
    size_t bytes;
    char *raw = get_bytes(in_folder("stored"), &bytes);
    char *four = memmem(raw, bytes, "1 1 4", 5);
    assert_non_null(four);
    four[4] = '5';
    put_bytes(in_folder("stored"), raw, bytes);
    free(raw);
    BAD_FILE(in_folder("stored"), TACIT_INPUT, "gzip", "damaged");
}

/* --- binary --------------------------------------------------------------- */

static void write_small(const char *path)
{
    tct_csr A = {0};
    put_text(in_folder("small"), HEAD "3 3 4\n1 1 2\n2 2 3\n3 1 5\n3 3 4\n");
    assert_int_equal(tct_read_matrix(world, in_folder("small"), &A, NULL),
                     TACIT_OK);
    assert_int_equal(tct_write_matrix(world, path, NULL, &A), TACIT_OK);
    tct_csr_clear(&A);
}

/* The file without its last `cut` bytes, and with `bytes` at `at`. */
static void damage(const char *path, size_t cut, size_t at, const char *with,
                   size_t count)
{
    write_small(path);
    size_t bytes;
    char *raw = get_bytes(path, &bytes);
    assert_true(at + count <= bytes && cut < bytes);
    memcpy(raw + at, with, count);
    put_bytes(path, raw, bytes - cut);
    free(raw);
}

static void bad_tacit(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("d.tacit"));
    damage(path, 8, 0, "", 0);
    BAD_FILE(path, TACIT_INPUT, "d.tacit", "cut short");
    damage(path, 200, 0, "", 0);
    BAD_FILE(path, TACIT_INPUT, "d.tacit", "cut short");
    damage(path, 0, 8, "\2", 1);
    BAD_FILE(path, TACIT_INPUT, "version 2");
    damage(path, 0, 16, "\7", 1);
    BAD_FILE(path, TACIT_INPUT, "checksum of its header");
    damage(path, 0, 256 + 1, "\1", 1); /* a value */
    BAD_FILE(path, TACIT_INPUT, "checksum does not agree");
    damage(path, 0, 128 + 8, "\77", 1); /* a row start */
    BAD_FILE(path, TACIT_INPUT, "row 2", "damaged");
    damage(path, 0, 192, "\77", 1); /* a column */
    BAD_FILE(path, TACIT_INPUT, "d.tacit");
}

static void bad_petsc(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("d.petsc"));
    damage(path, 1, 0, "", 0);
    BAD_FILE(path, TACIT_INPUT, "75 bytes", "76", "cut short");
    damage(path, 70, 0, "", 0);
    BAD_FILE(path, TACIT_INPUT, "d.petsc");
    damage(path, 66, 0, "", 0);
    BAD_FILE(path, TACIT_INPUT, "its header", "cut short");
    damage(path, 0, 12, "\177\377\377\377", 4); /* entries */
    BAD_FILE(path, TACIT_INPUT, "promises 2147483647");
    damage(path, 0, 12, "\377\377\377\377", 4);
    BAD_FILE(path, TACIT_INPUT, "dense");
    damage(path, 0, 4, "\177\377\377\377", 4); /* rows */
    BAD_FILE(path, TACIT_INPUT, "d.petsc");
    damage(path, 0, 16, "\0\0\0\7", 4); /* a row length */
    BAD_FILE(path, TACIT_INPUT, "row lengths", "leads beyond");
    damage(path, 0, 16, "\377\377\377\377", 4);
    BAD_FILE(path, TACIT_INPUT, "row lengths", "negative");
    damage(path, 0, 28, "\0\0\0\3", 4); /* a column */
    BAD_FILE(path, TACIT_INPUT, "column 4");
    damage(path, 0, 40, "\0\0\0\0", 4); /* row 2: column 0 twice */
    BAD_FILE(path, TACIT_INPUT, "twice");
    damage(path, 0, 44, "\177\370\0\0", 4);
    BAD_FILE(path, TACIT_INPUT, "entry 1", "nan", "finite");
}

/* As a matrix or, where one is wanted, as a vector `objects` are refused with
 * both words, plain and packed. */
static void assert_bad_objects(const char *objects, bool vector, int index,
                               int value, const char *word, const char *place)
{
    const char *const words[] = {word, place, NULL};
    double x[3];
    put_petsc(in_folder("objects"), objects, index, value);
    gzip_file(in_folder("objects"), in_folder("objects.gz"));
    for (int packed = 0; packed < 2; packed++) {
        const char *path = in_folder(packed ? "objects.gz" : "objects");
        if (!vector) assert_bad_file(path, TACIT_INPUT, words);
        else
            assert_says(tct_read_vector(world, path, false, 3, 0, 3, x),
                        TACIT_INPUT, words);
    }
}

/* Values of another kind are told by where they end, behind m at byte 68 or 136
 * of which the values begin at 48 or 96. */
static void petsc_values_of_another_kind(void **state)
{
    (void)state;
    static const char *const matrices[] = {"m", "mv", "mm", "miv"};
    static const char *const vectors[] = {"v", "vv", "vm", "mv", "miv"};
    for (int wide = 0; wide < 2; wide++)
        for (int single = 0; single < 2; single++) {
            const char *word = single ? "single precision" : "complex";
            const int index = wide ? 8 : 4, value = single ? 4 : 16;
            for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++)
                assert_bad_objects(matrices[k], false, index, value, word,
                                   wide ? "byte 96" : "byte 48");
            for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
                assert_bad_objects(vectors[k], true, index, value, word,
                                   k > 2  ? wide ? "byte 96" : "byte 48"
                                   : wide ? "byte 16"
                                          : "byte 8");
        }
}

/* Behind an object stands another one, or the end. */
static void petsc_goes_on(void **state)
{
    (void)state;
    assert_bad_objects("m?", false, 4, 8, "values end", "byte 88");
    assert_bad_objects("m rubbish", false, 8, 8, "values end", "byte 136");
    assert_bad_objects("v?", true, 4, 8, "values end", "byte 32");
    assert_bad_objects("m?", true, 4, 8, "values end", "byte 88");
    assert_bad_objects("mi", true, 4, 8, "neither a Mat nor a Vec", "byte 88");
    assert_bad_objects("mv?", true, 4, 8, "values end", "byte 120");
    assert_bad_objects("m", true, 4, 8, "without a right-hand side", "");
}

/* NumPy's arrays end the file, or another one follows; archives end it. */
static void numpy_goes_on(void **state)
{
    (void)state;
    double x[3] = {1, 2, 3};
    const char *path = in_folder("x.npy");
    assert_int_equal(tct_write_vector(world, path, NULL, 3, 3, x), TACIT_OK);
    size_t bytes;
    char *raw = get_bytes(path, &bytes);
    put_more(path, raw, bytes);
    assert_int_equal(tct_read_vector(world, path, false, 3, 0, 3, x), TACIT_OK);
    put_bytes(path, raw, bytes);
    put_more(path, "?", 1);
    free(raw);
    gzip_file(path, in_folder("x.gz"));
    for (int packed = 0; packed < 2; packed++)
        assert_says(tct_read_vector(world, in_folder(packed ? "x.gz" : "x.npy"),
                                    false, 3, 0, 3, x),
                    TACIT_INPUT,
                    (const char *const[]){"values end", "byte 152", NULL});
    if (left_out("d.npz")) return;
    put_npz_packed(in_folder("d.npz"), false, false); /* it has a comment */
    put_more(in_folder("d.npz"), "?", 1);
    BAD_FILE(in_folder("d.npz"), TACIT_INPUT, "its archive ends", "follows");
}

static void bad_npz(void **state)
{
    (void)state;
    if (left_out("d.npz")) skip();
    put_npz(in_folder("d.npz"), "dia", false);
    BAD_FILE(in_folder("d.npz"), TACIT_INPUT, "'dia'", "csr");
    put_npz_typed(in_folder("d.npz"), "dia", "<U3", false);
    BAD_FILE(in_folder("d.npz"), TACIT_INPUT, "'dia'", "csr");
    put_npz(in_folder("d.npz"), "csr", false);
    size_t bytes;
    char *raw = get_bytes(in_folder("d.npz"), &bytes);
    put_bytes(in_folder("e.npz"), raw, bytes - 40);
    BAD_FILE(in_folder("e.npz"), TACIT_INPUT, "zip archive", "directory");
    put_bytes(in_folder("e.npz"), raw, 20);
    BAD_FILE(in_folder("e.npz"), TACIT_INPUT, "zip archive");
    char *four = memmem(raw, bytes, "\x10\x40", 2); /* of 4.0 */
    assert_non_null(four);
    *four = '\x14';
    put_bytes(in_folder("e.npz"), raw, bytes);
    BAD_FILE(in_folder("e.npz"), TACIT_INPUT, "checksum of data.npy");
    *four = '\x10';
    char *data = memmem(raw, bytes, "data.npy", 8);
    assert_non_null(data);
    char *entry = memmem(data + 8, bytes - (size_t)(data + 8 - raw), "data.npy",
                         8); /* in the directory */
    assert_non_null(entry);
    *entry = 'D';
    put_bytes(in_folder("e.npz"), raw, bytes);
    BAD_FILE(in_folder("e.npz"), TACIT_INPUT, "no member data.npy");
    free(raw);
    put_npz(in_folder("d.npz"), "csr", true);
    raw = get_bytes(in_folder("d.npz"), &bytes);
    data = memmem(raw, bytes, "data.npy", 8);
    assert_non_null(data);
    data[8 + 20] ^= 1;
    put_bytes(in_folder("e.npz"), raw, bytes);
    free(raw);
    BAD_FILE(in_folder("e.npz"), TACIT_INPUT, "data.npy");
}

/* The archive of put_npz_packed, with `bytes` of the directory's entry of
 * data.npy changed, which begin `at` bytes into it. */
static void change_entry(bool wide, size_t at, const void *bytes, size_t count)
{
    size_t total;
    put_npz_packed(in_folder("c.npz"), wide, false);
    char *raw = get_bytes(in_folder("c.npz"), &total);
    char *entry = memmem(raw, total, "PK\1\2", 4);
    assert_non_null(entry);
    memcpy(entry + at, bytes, count);
    put_bytes(in_folder("c.npz"), raw, total);
    free(raw);
}

static void bad_entries_of_archives(void **state)
{
    (void)state;
    if (left_out("c.npz")) skip();
    const char *path = in_folder("c.npz");
    enum { WORDS = 46 + 8 + 4 }; /* of the extra field: size, packed, place */
    change_entry(false, 10, "\141", 1);
    BAD_FILE(path, TACIT_INPUT, "data.npy", "not known (method 97)");
    change_entry(false, 8, "\1", 1);
    BAD_FILE(path, TACIT_INPUT, "data.npy", "encrypted", "password");
    change_entry(false, 20, "\0\0\1", 3); /* 64 kB */
    BAD_FILE(path, TACIT_INPUT, "zip archive", "outside");
    change_entry(true, WORDS + 8, "\0\0\0\0\0\0\0\100", 8);
    BAD_FILE(path, TACIT_INPUT, "zip archive", "outside");
    change_entry(true, WORDS + 16, "\0\0\0\0\0\0\0\100", 8);
    BAD_FILE(path, TACIT_INPUT, "zip archive");
    change_entry(false, 42, "\7", 1); /* where no header begins */
    BAD_FILE(path, TACIT_INPUT, "zip archive", "data.npy");
    change_entry(false, 24, "\250", 1); /* 168 bytes become as many */
    tct_csr A = {0};
    assert_int_equal(tct_read_matrix(world, path, &A, NULL), TACIT_OK);
    tct_csr_clear(&A);
    change_entry(false, 24, "\251", 1); /* ... one more */
    BAD_FILE(path, TACIT_INPUT, "data.npy", "41 bytes");
    change_entry(false, 0, "PK\1\3", 4);
    BAD_FILE(path, TACIT_INPUT, "zip archive", "directory");
}

/* --- vectors -------------------------------------------------------------- */

/* None, of another length, damaged, or more than a file can hold. */
static void bad_columns(void)
{
    static const struct {
        const char *text, *words[4];
    } cases[] = {
        {"%%MatrixMarket matrix array real general\n3 0\n",
         {"bad", "3 x 0", "at least 1"}},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
         {"bad", "2 columns of 2 values", "3 rows"}},
        {"%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n",
         {"bad", "5 of 6"}},
        {"%%MatrixMarket matrix array real general\n3 99999999999\n1\n2\n",
         {"bad", "cut short"}},
        {"%%MatrixMarket matrix coordinate real general\n3 99999999999 1\n"
         "1 1 1\n",
         {"bad", "99999999999"}},
        {"1 2 3\n4 5 6\n", {"bad", "3 columns of 2 values", "3 rows"}},
        {"1 2 3\n4 5\n6 7 8\n", {"bad:2", "values, 2,", "has 3"}},
        {HB_HEAD HB_BODY
         "F                     123456             0\n" HB_MATRIX
         "   2.000   4.000\n",
         {"bad", "cut short"}},
        {HB_HEAD HB_BODY
         "M                          2             3\n" HB_MATRIX
         "  1  3  5\n  3  1  2\n  10.000   2.000\n   7.000\n",
         {"bad:10", "outside"}},
    };
    int columns = 7;
    double *X = NULL;
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        put_text(in_folder("bad"), cases[k].text);
        assert_says(tct_read_vectors(world, in_folder("bad"), false, 3, 0, 3,
                                     &columns, &X),
                    TACIT_INPUT, cases[k].words);
        assert_null(X);
    }
    const char *path = in_folder("two.tacit");
    assert_int_equal(tct_write_vectors(world, path, NULL, 3, 3, 2, x, 4),
                     TACIT_OK);
    FILE *f = fopen(path, "r+b");
    must(f != NULL && fseek(f, -1, SEEK_END) == 0, path); /* the last value */
    must(fputc(0x41, f) != EOF && fclose(f) == 0, path);
    assert_says(tct_read_vectors(world, path, false, 3, 0, 3, &columns, &X),
                TACIT_INPUT,
                (const char *const[]){"two.tacit", "checksum", NULL});
    assert_says(
        tct_write_vectors(world, in_folder("X.petsc"), NULL, 3, 3, 2, x, 3),
        TACIT_INVALID,
        (const char *const[]){"X.petsc", "one vector", ".npy", NULL});
    assert_says(tct_check_writable(world, in_folder("X.petsc"), NULL, 2),
                TACIT_INVALID,
                (const char *const[]){"X.petsc", "one vector", ".npy", NULL});
}

static void bad_vectors(void **state)
{
    (void)state;
    static const char *const names[] = {"v.mtx", "v.npy", "v.petsc", "v.tacit"};
    double x[9] = {1, 2, 3, 4, 5};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *path = in_folder(names[k]);
        assert_int_equal(tct_write_vector(world, path, NULL, 5, 5, x),
                         TACIT_OK);
        assert_says(
            tct_read_vector(world, path, false, 9, 0, 9, x), TACIT_INPUT,
            (const char *const[]){names[k], "5 values", "9 rows", NULL});
    }
    write_small(in_folder("w.tacit"));
    assert_says(tct_read_vector(world, in_folder("w.tacit"), false, 3, 0, 3, x),
                TACIT_INPUT,
                (const char *const[]){"matrix where a vector", NULL});
    assert_says(tct_read_vector(world, in_folder("small"), false, 3, 0, 3, x),
                TACIT_INPUT, (const char *const[]){"3 x 3 matrix", NULL});
    BAD_FILE(in_folder("v.tacit"), TACIT_INPUT, "vector where a matrix");
    bad_columns();
    put_text(in_folder("v"), "%%MatrixMarket matrix array real general\n"
                             "3 1\n1\nnan\n3\n");
    assert_says(tct_read_vector(world, in_folder("v"), false, 3, 0, 3, x),
                TACIT_INPUT, (const char *const[]){"v:4:1", "nan", NULL});
    static const bad_text cases[] = {
        {"1\n2\n", {"bad", "2 values", "3 rows"}},
        {"1 2\n3 4 # and\n5", {"bad:3", "values, 1,", "has 2"}},
        {"1\n2 x\n", {"bad:2:3", "'x'", "no number"}},
        {"1\n2,5\n3\n", {"bad:2:1", "'2,5'"}},
        {"1\n 2\ninf\n", {"bad:3:1", "finite"}},
        {"# nothing but comments\n", {"bad", "none of the known", "plain"}},
        {"% graph\n3 2\n2\n1 3\n2\n", {"bad", "6 values"}},
        {HB_HEAD HB_BODY
         "FG                         2             0\n" HB_MATRIX
         "   2.000   4.000\n",
         {"bad:11", "right-hand sides", "cut short"}},
        {HB_HEAD HB_BODY
         "F                          0             0\n" HB_MATRIX,
         {"bad:5", "right-hand sides"}},
        {HB_HEAD HB_BODY
         "MG                         1             2\n" HB_MATRIX
         "  1  3\n  1  4\n   2.000   4.000\n",
         {"bad:11:4", "outside 1 to 3"}},
        {BOEING("RSA", "(3I2) (2I2) (2E8.1)", " 1 2 3\n 1 2\n   1.0     2.0\n"),
         {"bad", "without a right-hand side"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        put_text(in_folder("bad"), cases[k].text);
        assert_says(tct_read_vector(world, in_folder("bad"), false, 3, 0, 3, x),
                    TACIT_INPUT, cases[k].words);
    }
    put_text(in_folder("bad"), HB_HEAD HB_BODY
             "F                          1             0\n" HB_MATRIX
             "   2.000   4.000\n  10.000\n");
    assert_says(tct_read_vector(world, in_folder("bad"), true, 3, 0, 3, x),
                TACIT_INPUT,
                (const char *const[]){"bad", "without a first guess", NULL});
    assert_says(tct_read_vector(world, in_folder("v"), true, 3, 0, 3, x),
                TACIT_INPUT,
                (const char *const[]){"without a first guess", NULL});
    assert_int_equal(tct_memory_blocks(), 1); /* the world */
}

/* --- headers that lie ----------------------------------------------------- */

/* Gigantic sizes in a small packed file, whose content nobody knows: refused
 * or found out, without memory for them. */
static void lying_headers(void **state)
{
    (void)state;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    put_xz(in_folder("lie"), HEAD "100000 100000 9999999999\n1 1 1\n", 0, 0);
    const size_t blocks = tct_memory_blocks();
    tct_csr A = {0};
    const double start = processor_seconds();
    const tacit_status status =
        tct_read_matrix(world, in_folder("lie"), &A, NULL);
    assert_true(status == TACIT_NO_MEMORY || status == TACIT_INPUT);
    put_xz(in_folder("lie"), HEAD "20000 20000 300000000\n1 1 1\n", 0, 0);
    assert_true(tct_read_matrix(world, in_folder("lie"), &A, NULL) < 0);
    assert_true(processor_seconds() - start < 1);
    put_xz(in_folder("lie"), HEAD "9000000 9000000 10000000000000\n1 1 1\n", 0,
           0);
    BAD_FILE(in_folder("lie"), TACIT_NO_MEMORY, "lie:2", "GiB");
    assert_int_equal(tct_memory_blocks(), blocks);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 256 << 10); /* KiB */
}

/* --- memory that ends ----------------------------------------------------- */

/* Every allocation fails once: no crash, no leak, and in the end success. */
static void starve(const char *path)
{
    const size_t blocks = tct_memory_blocks();
    for (long k = 1; k < 1000; k++) {
        tct_csr A = {0};
        tct_memory_fail_at(k);
        const tacit_status status = tct_read_matrix(world, path, &A, NULL);
        tct_memory_fail_at(0);
        tct_csr_clear(&A);
        assert_int_equal(tct_memory_blocks(), blocks);
        if (status == TACIT_OK) {
            assert_true(k > 3);
            return;
        }
        assert_int_equal(status, TACIT_NO_MEMORY);
    }
    fail_msg("%s: never read", path);
}

static void no_memory(void **state)
{
    (void)state;
    char *text = long_market();
    put_text(in_folder("long"), text);
    starve(in_folder("long"));
    put_gzip(in_folder("long"), text, 0, 0);
    starve(in_folder("long"));
    put_xz(in_folder("long"), text, 0, 0);
    starve(in_folder("long"));
    free(text);
    static const char *const names[] = {"m.tacit", "m.petsc", "m.npz"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(names[k])) continue;
        write_small(in_folder(names[k]));
        starve(in_folder(names[k]));
    }
    put_npz(in_folder("m.npz"), "coo", true);
    if (!left_out("m.npz")) starve(in_folder("m.npz"));
    put_text(in_folder("m"), "3 2\n2\n1 3\n2\n");
    starve(in_folder("m"));
    put_text(in_folder("m"), BOEING("RUA", "(3I2) (2I2) (2E8.1)",
                                    " 1 2 3\n 1 2\n   1.0     2.0\n"));
    starve(in_folder("m"));
}

/* --- writing -------------------------------------------------------------- */

static int count_files(void)
{
    DIR *d = opendir(test_folder);
    assert_non_null(d);
    int count = 0;
    while (readdir(d)) count++;
    closedir(d);
    return count;
}

static void outputs_that_cannot_be(void **state)
{
    (void)state;
    tct_csr A = {0};
    write_small(in_folder("o.tacit"));
    assert_int_equal(tct_read_matrix(world, in_folder("o.tacit"), &A, NULL),
                     TACIT_OK);
    const int files = count_files();
    const char *nowhere = in_folder("no/such/folder.mtx");
    assert_says(tct_check_writable(world, nowhere, NULL, false), TACIT_IO,
                (const char *const[]){"folder.mtx", "No such file", NULL});
    assert_says(tct_write_matrix(world, nowhere, NULL, &A), TACIT_IO,
                (const char *const[]){"folder.mtx", NULL});
    assert_says(tct_check_writable(world, in_folder("a.doc"), NULL, false),
                TACIT_INVALID, (const char *const[]){"a.doc", ".mtx", NULL});
    assert_says(tct_check_writable(world, in_folder("a.npy"), NULL, false),
                TACIT_INVALID, (const char *const[]){"a.npy", "matrix", NULL});
    assert_int_equal(tct_check_writable(world, in_folder("a.npy"), NULL, true),
                     TACIT_OK);
    const tct_write_options misspelt = {.format = "matrx-market"};
    assert_says(tct_check_writable(world, in_folder("a"), &misspelt, false),
                TACIT_INVALID,
                (const char *const[]){"did you mean 'matrix-market'", NULL});
    const tct_write_options named = {.format = "matrix-market"};
    assert_says(tct_check_writable(world, test_folder, &named, false), TACIT_IO,
                (const char *const[]){"is a folder", NULL});
    assert_int_equal(count_files(), files); /* nothing is left behind */
    if (access("/dev/full", W_OK) == 0)
        assert_says(tct_write_matrix(world, "/dev/full", &named, &A),
                    TACIT_NO_MEMORY,
                    (const char *const[]){"/dev/full", "No space", NULL});
    assert_int_equal(count_files(), files);
    /* the longest name that a file may have, and one more */
    char path[PATH_MAX];
    const int at = snprintf(path, sizeof path, "%s/", test_folder);
    memset(path + at, 'a', NAME_MAX);
    memcpy(path + at + NAME_MAX - 4, ".mtx", 5);
    assert_int_equal(tct_write_matrix(world, path, NULL, &A), TACIT_OK);
    assert_int_equal(unlink(path), 0);
    memcpy(path + at + NAME_MAX - 4, "a.mtx", 6);
    assert_says(tct_check_writable(world, path, NULL, false), TACIT_IO,
                (const char *const[]){"too long", NULL});
    tct_csr_clear(&A);
}

/* A process that is killed while it writes leaves nothing behind, where the
 * file system has files without names. */
static void outputs_that_are_killed(void **state)
{
    (void)state;
    const int probe = open(in_folder("."), O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0) {
        print_message("skipped: no files without names in %s\n", test_folder);
        skip();
    }
    close(probe);
    const int files = count_files();
    const pid_t child = fork();
    if (child == 0) {
        tct_sink *s = NULL;
        char text[100000] = {0};
        if (tct_sink_open(world, in_folder("killed.mtx"), false, &s) < 0 ||
            tct_sink_write(s, text, sizeof text) < 0)
            _exit(1);
        raise(SIGKILL);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    assert_int_equal(count_files(), files);
}

/* New files have the mode that the process gives to new files. */
static void outputs_have_the_mode_of_new_files(void **state)
{
    (void)state;
    static const mode_t masks[] = {022, 077, 0};
    double x[2] = {1, 2};
    struct stat st;
    for (int k = 0; k < 3; k++) {
        const mode_t before = umask(masks[k]);
        assert_int_equal(
            tct_write_vector(world, in_folder("mode.npy"), NULL, 2, 2, x),
            TACIT_OK);
        umask(before);
        assert_int_equal(stat(in_folder("mode.npy"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0666 & ~masks[k]);
        assert_int_equal(unlink(in_folder("mode.npy")), 0);
    }
}

/* To ask whether a pipe can be written is not to open it: its reader would take
 * the closing for its end. */
static void asking_leaves_a_pipe_alone(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    const tct_write_options named = {.format = "matrix-market"};
    alarm(120); /* an open would wait for a reader */
    assert_int_equal(tct_check_writable(world, path, &named, true), TACIT_OK);
    assert_int_equal(tacit_file_check_writable(world, path, TACIT_FILE_TEXT),
                     TACIT_OK);
    alarm(0);
}

static volatile sig_atomic_t limit_signals;
static void count_signal(int number)
{
    (void)number;
    limit_signals++;
}

/* A limit on the size of files is a full disk: an error, nothing left behind,
 * and the process's own ways with the signal stay as they were. */
static void outputs_beyond_the_limit(void **state)
{
    (void)state;
    static const char *const names[] = {"l.mtx", "l.mtx.gz", "l.tacit",
                                        "l.petsc", "l.npz"};
    struct rlimit before, little;
    tct_csr A = {0};
    char *text = long_market();
    put_text(in_folder("long"), text);
    free(text);
    assert_int_equal(tct_read_matrix(world, in_folder("long"), &A, NULL),
                     TACIT_OK);
    const int files = count_files();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 10000;
    for (int with_handler = 0; with_handler < 2; with_handler++) {
        signal(SIGXFSZ, with_handler ? count_signal : SIG_DFL);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (left_out(names[k])) continue;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
            const tacit_status got =
                tct_write_matrix(world, in_folder(names[k]), NULL, &A);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
            assert_says(
                got, TACIT_NO_MEMORY,
                (const char *const[]){names[k], "File too large", NULL});
            assert_int_equal(count_files(), files);
        }
    }
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(limit_signals, 0);
    tct_csr_clear(&A);
}

/* A file that is replaced keeps its mode, and a link stays a link. */
static void outputs_in_place(void **state)
{
    (void)state;
    tct_csr A = {0};
    write_small(in_folder("p.tacit"));
    assert_int_equal(tct_read_matrix(world, in_folder("p.tacit"), &A, NULL),
                     TACIT_OK);
    put_text(in_folder("real.mtx"), "old");
    assert_int_equal(chmod(in_folder("real.mtx"), 0640), 0);
    assert_int_equal(symlink("real.mtx", in_folder("link.mtx")), 0);
    assert_int_equal(tct_write_matrix(world, in_folder("link.mtx"), NULL, &A),
                     TACIT_OK);
    struct stat st;
    assert_int_equal(lstat(in_folder("link.mtx"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(in_folder("real.mtx"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_true(st.st_size > 50);
    tct_csr_clear(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file),
        cmocka_unit_test(bad_market_headers),
        cmocka_unit_test(bad_market_entries),
        cmocka_unit_test(trouble_far_away),
        cmocka_unit_test(bad_metis),
        cmocka_unit_test(bad_boeing),
        cmocka_unit_test(bad_packed),
        cmocka_unit_test(packed_in_members),
        cmocka_unit_test(bad_gzip_checksum),
        cmocka_unit_test(bad_tacit),
        cmocka_unit_test(bad_petsc),
        cmocka_unit_test(petsc_values_of_another_kind),
        cmocka_unit_test(petsc_goes_on),
        cmocka_unit_test(numpy_goes_on),
        cmocka_unit_test(bad_npz),
        cmocka_unit_test(bad_entries_of_archives),
        cmocka_unit_test(bad_vectors),
        cmocka_unit_test(lying_headers),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(outputs_that_cannot_be),
        cmocka_unit_test(outputs_that_are_killed),
        cmocka_unit_test(outputs_have_the_mode_of_new_files),
        cmocka_unit_test(asking_leaves_a_pipe_alone),
        cmocka_unit_test(outputs_beyond_the_limit),
        cmocka_unit_test(outputs_in_place),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
