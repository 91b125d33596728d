/* SPDX-License-Identifier: BSD-3-Clause
 * io/stream.h - a file read in pieces, unpacked if its first bytes say gzip or
 * xz. Pipes work, too. */
#ifndef TCT_IO_STREAM_H
#define TCT_IO_STREAM_H
#include "base/base.h"

typedef struct tct_stream tct_stream;

/* Open `path` (see input.h) and unpack its first bytes.
 * Errors    IO (cannot be read), INPUT (folder, empty, damaged), NO_MEMORY. */
tacit_status tct_stream_open(const char *path, tct_stream **out);

/* The first bytes of the content [*count], without a byte-order mark, to
 * recognize the format; tct_stream_read returns them again. */
const char *tct_stream_head(const tct_stream *s, size_t *count);

/* Read `room` bytes, or to the end of the content.
 * Errors    IO, INPUT (cut short, damaged). */
tacit_status tct_stream_read(tct_stream *s, void *buffer, size_t room,
                             size_t *got);

/* Skip `bytes` of content.
 * Errors    as tct_stream_read; INPUT if it ends earlier. */
tacit_status tct_stream_skip(tct_stream *s, int64_t bytes);

/* An upper bound of the content's bytes; INT64_MAX: unknown. */
int64_t tct_stream_limit(const tct_stream *s);

/* "gzip", "xz" or "" */
const char *tct_stream_packing(const tct_stream *s);

/* Copy the unread content of `*s`, a pipe or a packed file opened as `path`, to
 * an unnamed file. It replaces `*s`, and `path` until tct_input_forget.
 * Errors    as tct_stream_read, IO (no space), NO_MEMORY. */
tacit_status tct_stream_keep(const char *path, tct_stream **s);

/* Can be read only once, such as a pipe. */
bool tct_stream_is_pipe(const tct_stream *s);

/* A plain file, which can be reopened and read at any offset. */
bool tct_stream_seekable(const tct_stream *s);

void tct_stream_close(tct_stream **s);

#endif
