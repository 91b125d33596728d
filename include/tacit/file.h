/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/file.h - files beside the matrices and vectors of tacit/matrix.h: the
 * formats, and what is asked or written without one. A file that is written
 * appears whole or not at all.
 *
 * Threads: what takes a world is for one thread at a time, as that is
 * (tacit/world.h); the rest may be called by any thread at any time. */
#ifndef TACIT_FILE_H
#define TACIT_FILE_H
#include <stdbool.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

typedef struct tacit_file_format {
    const char *name; /* "matrix-market" */
    const char *summary;
    const char *reason;      /* why this build has it not; NULL: it has */
    const char *told_by;     /* what its content begins with */
    const char *suffixes[4]; /* names that are written in it, NULL at the end */
    bool reads_matrix, writes_matrix, reads_vector, writes_vector;
    bool may_pack; /* a name that ends in .gz, too, is written packed */
    bool reads_vectors, writes_vectors; /* several, as columns        */
} tacit_file_format;

/* File format `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_file_format *tacit_file_format_at(int i);

typedef enum tacit_file_kind {
    TACIT_FILE_TEXT,   /* of any name */
    TACIT_FILE_MATRIX, /* its name tells a format that a matrix, ... */
    TACIT_FILE_VECTOR, /* ... that a vector is written in, */
    TACIT_FILE_VECTORS /* ... that several are */
} tacit_file_kind;

/* OK if rank 0 could write such a file at `path`: to be asked before a long
 * computation. Leaves nothing behind.
 * Collective.
 * Errors      INVALID (its name tells no such format; ranks give different
 *             names), IO, naming the file and the reason. */
TACIT_API tacit_status tacit_file_check_writable(tacit_world *world,
                                                 const char *path,
                                                 tacit_file_kind kind);

/* Does what is written at `path` go to standard output: "-", /dev/stdout,
 * /dev/fd/1? */
TACIT_API bool tacit_file_is_stdout(const char *path);

/* Write the `text` of rank 0 to `path`; that of the others is not looked at.
 * The caller's own FILE on it, such as stdout, has been flushed. Collective.
 * Errors      INVALID (ranks give different names), NO_MEMORY, IO, naming the
 *             file and the reason. */
TACIT_API tacit_status tacit_file_write(tacit_world *world, const char *path,
                                        const char *text);

TACIT_END_DECLS
#endif
