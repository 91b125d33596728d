/* SPDX-License-Identifier: BSD-3-Clause
 * io/format.h - what a file format provides. One file per format, one
 * table at its bottom, one row in TCT_FILE_FORMATS.
 *
 * Most formats are *sources*: rank 0 reads entries in batches, and read.c
 * deals them out to the ranks that own their rows. A format that each rank can
 * read its own part of has its own functions instead. Vectors are a source of
 * as many columns. */
#ifndef TCT_IO_FORMAT_H
#define TCT_IO_FORMAT_H
#include "io/crew.h"
#include "io/io.h"
#include "io/sink.h"
#include "io/stream.h"

/* In the order in which a file is asked: the surest sign first. */
#define TCT_FILE_FORMATS(X) \
    X(tacit)                \
    X(npz)                  \
    X(npy)                  \
    X(petsc)                \
    X(matrix_market)        \
    X(harwell_boeing)       \
    X(metis)                \
    X(plain)

/* One entry; indices begin at 0 and are global. */
typedef struct tct_entry {
    int64_t row, col;
    double val;
} tct_entry;

/* Entries in the order of the file, in parts that threads can share out. */
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
    int64_t stored; /* entries that the file holds, as it says itself */
    int64_t most;   /* entries that the matrix gets from them         */
    tct_field field;
    bool symmetric;    /* for tct_file_info                              */
    bool below, above; /* ... has shown entries there: then none twice, */
    int64_t diagonal;  /* but for these between the two                 */
    bool own_rhs;      /* the same                                       */
    bool unique;       /* an entry given twice is an error               */
    bool checked;      /* the reader has checked indices and values      */
    bool lasting;      /* a batch stays valid during the next `next`     */

    /* The next entries, valid until the next call; `out->count` 0 at the end,
     * which is reached only if all that was promised was there. */
    tacit_status (*next)(tct_source *s, tct_batch *out);
    /* Say what an entry given twice, or a sum of them, makes wrong; NULL if
     * all is well. Called at the end with their number. */
    tacit_status (*verify)(const tct_source *s, int64_t duplicates);
    void (*close)(tct_source *s);
};

/* What a reader gets. `stream` stands at the beginning of the content. */
typedef struct tct_input {
    const char *path;
    tct_stream *stream;
    bool vector;    /* a vector is wanted */
    bool many;      /* ... or several */
    bool guess;     /* ... to start from, not to solve for */
    int64_t length; /* ... of so many values */
    int machines;   /* that share the memory for it */
    int ranks;      /* on each of these machines    */
    tct_crew *crew;
} tct_input;

/* Where the values of vectors go: rows [first, first + count) of `rows` are
 * this rank's. */
typedef struct tct_vectors {
    int64_t rows, first, count;
    bool many;   /* `out` is made for as many columns as there are, and theirs
                    to free; otherwise it is given, for one */
    int columns; /* of the file */
    double *out; /* [columns][count] */
} tct_vectors;

typedef struct tct_file_format {
    tacit_file_format about;
    /* Do these first bytes [count] of the content belong to it? */
    bool (*probe)(const char *head, size_t count);

    bool guesses; /* may hold what to start from beside a matrix */
    bool seeks;   /* reads here and there, so not what is packed or flows */
    bool again;   /* opens the file more than once, so not what flows */

    /* Rank 0 only. Takes nothing: `in` outlives the source. */
    tacit_status (*open)(const tct_input *in, tct_source **out);

    /* Collective; instead of `open`. */
    tacit_status (*read_matrix)(tacit_world *w, const char *path, tct_csr *out,
                                tct_file_info *info);
    tacit_status (*read_vectors)(tacit_world *w, const char *path,
                                 tct_vectors *v);

    /* Collective; NULL where it cannot be written. */
    tacit_status (*write_matrix)(tct_sink *s, const tct_csr *A,
                                 const tct_write_options *options);
    /* One, or as many as about.writes_vectors permits. */
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

/* --- for the readers ---------------------------------------------------- */

/* Check sizes that a file's header claims, before anything is allocated:
 * against 64 bits, against `room` for entries in the rest of the file, and
 * against the memory of this machine. `where` is "file" or "file:line". */
tacit_status tct_check_sizes(const char *where, const tct_input *in,
                             const tct_source *s, int64_t room);

/* Hand out what was built, or close it if that failed with `status`, which is
 * returned. */
tacit_status tct_source_built(tct_source *s, tacit_status status,
                              tct_source **out);

/* `count` entries as a batch; `parts` [TCT_PARTS]. TCT_BATCH is a good number
 * of entries for one. */
enum { TCT_PARTS = 16, TCT_BATCH = 1 << 16 };
void tct_batch_split(tct_batch *out, tct_part *parts, tct_entry *entries,
                     int64_t count);

/* Fail with INPUT: a vector has `values` where a matrix has `rows`. */
tacit_status tct_wrong_length(const char *path, int64_t values, int64_t rows);

/* Room for the `rows` x `cols` values of the file: sets columns and out.
 * Errors      INPUT (no such vectors are wanted), NO_MEMORY. */
tacit_status tct_vectors_room(tct_vectors *v, const char *path, int64_t rows,
                              int64_t cols);

/* Fail with UNSUPPORTED if this build lacks what the format needs. */
tacit_status tct_check_missing(const char *path, const tct_file_format *f);

/* Read exactly `bytes`. */
tacit_status tct_read_exactly(const char *path, tct_stream *stream, void *out,
                              size_t bytes, const char *what);

/* --- for the writers ---------------------------------------------------- */

/* Entries of the ranks before this one, and of all.
 * Collective. */
tacit_status tct_count_before(tacit_world *w, int64_t mine, int64_t *before,
                              int64_t *total);

/* --- bytes in a given order --------------------------------------------- */

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
