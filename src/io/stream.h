/* SPDX-License-Identifier: BSD-3-Clause
 * io/stream.h - a file read in pieces, unpacked on the way where its
 * first bytes say gzip or xz. Pipes work too. */
#ifndef TCT_IO_STREAM_H
#define TCT_IO_STREAM_H
#include "base/base.h"

typedef struct tct_stream tct_stream;

/* Open `path` (see input.h) and unpack its first bytes.
 * Errors      IO (cannot be read), INPUT (folder, empty, damaged), NO_MEMORY. */
tacit_status tct_stream_open(const char *path, tct_stream **out);

/* The first bytes of the content [*count], to tell the format by, without the
 * byte-order mark that some editors write. They are read again by
 * tct_stream_read. */
const char *tct_stream_head(const tct_stream *s, size_t *count);

/* Read until `room` bytes are there or the content ends.
 * Errors      IO, INPUT (cut short, damaged). */
tacit_status tct_stream_read(tct_stream *s, void *buffer, size_t room,
                             size_t *got);

/* Pass over `bytes` of content.
 * Errors      as tct_stream_read; INPUT if it ends before. */
tacit_status tct_stream_skip(tct_stream *s, int64_t bytes);

/* The most bytes that the content can have; INT64_MAX if nobody knows. */
int64_t tct_stream_limit(const tct_stream *s);

/* "gzip", "xz" or "" */
const char *tct_stream_packing(const tct_stream *s);

/* Put a file without a name in the place of `*s`, opened as `path` and unread,
 * which flows by or is packed: it holds the unpacked content, and so does
 * `path` until tct_input_forget.
 * Errors      as tct_stream_read, IO (no room), NO_MEMORY. */
tacit_status tct_stream_keep(const char *path, tct_stream **s);

/* Is it no file, but something that flows by once, such as a pipe? */
bool tct_stream_flows(const tct_stream *s);

/* Is it a plain file, so that it may be opened again and read anywhere? */
bool tct_stream_seekable(const tct_stream *s);

void tct_stream_close(tct_stream **s);

#endif
