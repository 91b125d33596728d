/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/io/zip.h - the members of a zip archive, as far as NumPy needs it:
 * stored or deflated, sizes of 64 bits, checked by their CRC. */
#ifndef TCT_IO_ZIP_H
#define TCT_IO_ZIP_H
#include "matrix/io/sink.h"

typedef struct tct_zip_entry {
    char name[64]; /* longer ones are cut: they are not NumPy's */
    int method;    /* 0 stored, 8 deflated */
    uint32_t crc;
    int64_t packed, size; /* bytes */
    int64_t header;       /* where its local header begins */
} tct_zip_entry;

/* Read the directory of the archive `path`: at most `room` entries.
 * Errors      IO, INPUT. */
tacit_status tct_zip_list(const char *path, tct_zip_entry *out, int room,
                          int *count);

typedef struct tct_member tct_member;

/* Read the content of `entry` from the beginning. Borrows both. */
tacit_status tct_member_open(const char *path, const tct_zip_entry *entry,
                             tct_member **out);
/* Read exactly `bytes`; `what` is named when it ends before. */
tacit_status tct_member_read(tct_member *m, const char *what, void *out,
                             size_t bytes);
/* Check that nothing is left, and the CRC. */
tacit_status tct_member_finish(tct_member *m);
void tct_member_close(tct_member **m);

/* Write a stored member of `size` bytes: begin, then the bytes themselves into
 * the sink, then end, which fills in the CRC. Last the directory of all. */
tacit_status tct_zip_begin(tct_sink *s, const char *name, int64_t size,
                           tct_zip_entry *out);
tacit_status tct_zip_end(tct_sink *s, tct_zip_entry *e);
tacit_status tct_zip_directory(tct_sink *s, const tct_zip_entry *entries,
                               int count);

#endif
