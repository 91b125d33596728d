/* SPDX-License-Identifier: BSD-3-Clause
 * io/format.h - the interface of a file format. Each format has a file with a
 * table at its end, and a row in TCT_FILE_FORMATS.
 *
 * Most formats are *sources*: rank 0 reads entries in batches, and distribute.c
 * sends them to the owners of their rows. A format of which each rank can
 * read its own part has functions of its own. Vectors are a source with as many
 * columns. */
#ifndef TCT_IO_FORMAT_H
#define TCT_IO_FORMAT_H
#include "io/crew.h"
#include "io/io.h"
#include "io/sink.h"
#include "io/stream.h"

/* In the order of probing: the most specific first. */
#define TCT_FILE_FORMATS(X) \
    X(tacit)                \
    X(npz)                  \
    X(npy)                  \
    X(petsc)                \
    X(matrix_market)        \
    X(harwell_boeing)       \
    X(metis)                \
    X(plain)

/* One entry; indices are global, from 0. */
typedef struct tct_entry {
    int64_t row, col;
    double val;
} tct_entry;

/* Entries in file order, in parts for parallel work. */
typedef struct tct_part {
    tct_entry *entries;
    int64_t count;
} tct_part;
typedef struct tct_batch {
    tct_part *parts;
    int count; /* of parts */
} tct_batch;

typedef struct tct_source tct_source;
struct tct_source {
    int64_t rows, cols;
    int64_t stored; /* entries in the file, by its header */
    int64_t most;   /* entries of the matrix, at most */
    tct_field field;
    bool symmetric;    /* for tct_file_info */
    bool below, above; /* symmetric: entries seen off the diagonal; duplicates
                        * are checked, ... */
    int64_t diagonal;  /* excluding these on the diagonal */
    bool own_rhs;      /* for tct_file_info */
    bool unique;       /* a duplicate entry is an error */
    bool checked;      /* the reader checks indices and values */
    bool lasting;      /* a batch stays valid during the next `next` */

    /* Read the next entries, valid until the next call; `out->count` is 0 at
     * the end. A file that lacks promised entries fails instead. */
    tacit_status (*next)(tct_source *s, tct_batch *out);
    /* Fail if duplicate entries, or sums of them, are an error; may be NULL.
     * Called at the end. */
    tacit_status (*verify)(const tct_source *s, int64_t duplicates);
    void (*close)(tct_source *s);
};

/* Arguments of a reader; `stream` is at the start of the content. */
typedef struct tct_input {
    const char *path;
    tct_stream *stream;
    bool vector;    /* read a vector */
    bool many;      /* ... or several */
    bool guess;     /* ... an initial guess, not a right-hand side */
    int64_t length; /* ... of this length */
    int machines;   /* that share the memory for it */
    int ranks;      /* per machine */
    tct_crew *crew;
} tct_input;

/* Destination of vectors: this rank's rows are [first, first + count) of
 * `rows`. */
typedef struct tct_vectors {
    int64_t rows, first, count;
    bool many;   /* `out` is allocated for all columns, and the caller frees it;
                  * else it is given, for one */
    int columns; /* of the file */
    double *out; /* [columns][count] */
} tct_vectors;

typedef struct tct_file_format {
    tacit_file_format about;
    /* The first bytes [count] of the content have this format. */
    bool (*probe)(const char *head, size_t count);

    bool guesses; /* may hold an initial guess besides a matrix */
    bool seeks;   /* reads out of order: needs a seekable, unpacked file */
    bool again;   /* opens the file several times: no pipe */

    /* On rank 0. Borrows `in` for the life of the source. */
    tacit_status (*open)(const tct_input *in, tct_source **out);

    /* Collective; instead of `open`. */
    tacit_status (*read_matrix)(tacit_world *w, const char *path, tct_csr *out,
                                tct_file_info *info);
    tacit_status (*read_vectors)(tacit_world *w, const char *path,
                                 tct_vectors *v);

    /* Collective; NULL: cannot be written. */
    tacit_status (*write_matrix)(tct_sink *s, const tct_csr *A,
                                 const tct_write_options *options);
    /* One vector, or as many as about.writes_vectors permits. */
    tacit_status (*write_vectors)(tct_sink *s, int64_t rows, int64_t count,
                                  int columns, const double *x, int64_t stride);
} tct_file_format;

#define X(name) extern const tct_file_format tct_file_##name;
TCT_FILE_FORMATS(X)
#undef X
enum {
#define X(name) TCT_FILE_IS_##name,
    TCT_FILE_FORMATS(X)
#undef X
        TCT_FILE_FORMAT_COUNT
};
extern const tct_file_format *const tct_file_formats[TCT_FILE_FORMAT_COUNT];

/* --- for readers ---------------------------------------------------------- */

/* Check sizes of a file's header before anything is allocated: against 64 bits,
 * against `room` for entries in the rest of the file, and against this
 * machine's memory. `where` is "file" or "file:line". */
tacit_status tct_check_sizes(const char *where, const tct_input *in,
                             const tct_source *s, int64_t room);

/* Set *out to `s`, or close `s` if `status` is a failure; returns `status`. */
tacit_status tct_source_built(tct_source *s, tacit_status status,
                              tct_source **out);

/* Split `count` entries into a batch; `parts` [TCT_PARTS]. TCT_BATCH is a good
 * number of entries. */
enum { TCT_PARTS = 16, TCT_BATCH = 1 << 16 };
void tct_batch_split(tct_batch *out, tct_part *parts, tct_entry *entries,
                     int64_t count);

/* Fail with INPUT: a vector has `values`, but the matrix `rows`. */
tacit_status tct_wrong_length(const char *path, int64_t values, int64_t rows);

/* Set columns and out for the `rows` x `cols` values of the file.
 * Errors    INPUT (not the vectors that are wanted), NO_MEMORY. */
tacit_status tct_vectors_room(tct_vectors *v, const char *path, int64_t rows,
                              int64_t cols);

/* Fail with UNSUPPORTED if this build lacks a library of the format. */
tacit_status tct_check_missing(const char *path, const tct_file_format *f);

/* Read exactly `bytes`. */
tacit_status tct_read_exactly(const char *path, tct_stream *stream, void *out,
                              size_t bytes, const char *what);

/* --- for writers ---------------------------------------------------------- */

/* Sum entries over lower ranks, and over all.
 * Collective. */
tacit_status tct_count_before(tacit_world *w, int64_t mine, int64_t *before,
                              int64_t *total);

/* --- byte order ----------------------------------------------------------- */

static inline uint64_t tct_load(const void *p, int bytes, bool big)
{
    const unsigned char *b = p;
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x = x << 8 | b[big ? i : bytes - 1 - i];
    return x;
}
static inline void tct_store(void *p, int bytes, bool big, uint64_t x)
{
    unsigned char *b = p;
    for (int i = 0; i < bytes; i++)
        b[big ? bytes - 1 - i : i] = (unsigned char)(x >> 8 * i);
}
static inline double tct_load_double(const void *p, bool big)
{
    const uint64_t bits = tct_load(p, 8, big);
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
static inline void tct_store_double(void *p, bool big, double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    tct_store(p, 8, big, bits);
}

#endif
