/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/file.h - file formats, and files that are not matrices or vectors
 * (tacit/matrix.h). A file that is written appears whole or not at all.
 *
 * Threads: a function that takes a world is for one thread at a time, as the
 * world is (tacit/world.h); the others may be called by any thread. */
#ifndef TACIT_FILE_H
#define TACIT_FILE_H
#include <stdbool.h>
#include <tacit/world.h>

TACIT_BEGIN_DECLS

typedef struct tacit_file_format {
    const char *name; /* "matrix-market" */
    const char *summary;
    const char *reason;      /* why this build has it not; NULL: it has */
    const char *told_by;     /* how its content begins */
    const char *suffixes[4]; /* endings of file names, NULL at the end */
    bool reads_matrix, writes_matrix, reads_vector, writes_vector;
    bool may_pack; /* a further ending .gz makes a packed file */
    bool reads_vectors, writes_vectors; /* several, as columns        */
} tacit_file_format;

/* File format `i`, NULL past the end. Owned by the library. */
TACIT_API const tacit_file_format *tacit_file_format_at(int i);

typedef enum tacit_file_kind {
    TACIT_FILE_TEXT,   /* of any name */
    TACIT_FILE_MATRIX, /* its name has the ending of a matrix format, ... */
    TACIT_FILE_VECTOR, /* ... of a vector format, ... */
    TACIT_FILE_VECTORS /* ... of a format of several vectors */
} tacit_file_kind;

/* OK if rank 0 could write such a file at `path`: to be asked before a long
 * computation. Leaves nothing behind.
 * Collective.
 * Errors      INVALID (its name has no such ending; ranks give different
 *             names), IO, naming the file and the reason. */
TACIT_API tacit_status tacit_file_check_writable(tacit_world *world,
                                                 const char *path,
                                                 tacit_file_kind kind);

/* Is `path` standard output: "-", /dev/stdout, /dev/fd/1? */
TACIT_API bool tacit_file_is_stdout(const char *path);

/* Write the `text` of rank 0 to `path`; that of other ranks is ignored. Flush
 * your own FILE on it, such as stdout, before. Collective.
 * Errors      INVALID (ranks give different names), NO_MEMORY, IO, naming the
 *             file and the reason. */
TACIT_API tacit_status tacit_file_write(tacit_world *world, const char *path,
                                        const char *text);

/* Files that belong together appear together: those that this thread writes
 * between these calls, in `world` or a world of some of its ranks, by any
 * function of the library, get their names at the release, or none is left, if `status` is below 0 or a file cannot have
 * its name. `status`, the same on all ranks, is that of the calls between.
 * Standard output, pipes and devices are written at once. Pairs may be nested:
 * the outermost release names the files.
 * Collective.
 * Returns     `status`.
 * Errors      INVALID (no world), IO, naming the file. */
TACIT_API void tacit_file_hold(tacit_world *world);
TACIT_API tacit_status tacit_file_release(tacit_world *world,
                                          tacit_status status);

TACIT_END_DECLS
#endif
