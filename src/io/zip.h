/* SPDX-License-Identifier: BSD-3-Clause
 * io/zip.h - the members of a zip archive, through libzip. In a build without
 * it these functions fail with UNSUPPORTED. */
#ifndef TCT_IO_ZIP_H
#define TCT_IO_ZIP_H
#include "io/arrays.h"

/* NULL, or the reason why this build has no libzip. */
#if TCT_HAVE_ZIP
#define TCT_ZIP_MISSING NULL
#else
#define TCT_ZIP_MISSING                                                     \
    "not in this build: configured without libzip (install libzip-dev and " \
    "build again)"
#endif

/* Open the content of member `name` of the archive `path`, as tct_array_open;
 * `*bytes` is its length. a->finish checks its CRC. Borrows `path` and `name`.
 * Errors    IO, INPUT, NO_MEMORY, UNSUPPORTED. */
tacit_status tct_zip_array(const char *path, const char *name, tct_array *a,
                           int64_t *bytes);

/* A stored member: the bytes that all ranks make, in rank order. */
typedef struct tct_zip_part {
    const char *name;
    int64_t bytes; /* over all ranks */
    tct_make make;
    void *ctx;
} tct_zip_part;

/* Write an archive of `count` members.
 * Collective.
 * Errors      IO, NO_MEMORY, UNSUPPORTED. */
tacit_status tct_zip_write(tct_sink *s, const tct_zip_part *parts, int count);

#endif
