/* SPDX-License-Identifier: BSD-3-Clause
 * io/sink.h - a file that all ranks write. Rank 0 gathers the bytes in pieces,
 * in rank order; the file gets its name when it is complete. Calls are
 * collective, except those of rank 0. */
#ifndef TCT_IO_SINK_H
#define TCT_IO_SINK_H
#include "comm/world/world.h"
#include <sys/types.h>

typedef struct tct_sink tct_sink;

/* The descriptor of this process that `path` refers to: standard output for "-"
 * and /dev/stdout, N for /dev/fd/N; -1: a file. */
int tct_sink_descriptor(const char *path);

/* `pack`: compress by gzip; earlier bytes cannot be changed then. */
tacit_status tct_sink_open(tacit_world *w, const char *path, bool pack,
                           tct_sink **out);
tacit_world *tct_sink_world(const tct_sink *s);

/* Write bytes of rank 0; arguments of other ranks are ignored. */
tacit_status tct_sink_write(tct_sink *s, const void *data, size_t bytes);

/* Makes the next bytes of this rank, up to `room`; returns their number, 0 at
 * the end. */
typedef size_t (*tct_make)(void *ctx, char *out, size_t room);
tacit_status tct_sink_gather(tct_sink *s, tct_make make, void *ctx);

/* The same in steps, if rank 0 processes the bytes: each call gives it the next
 * piece [*bytes], valid until the next call; `*bytes` is 0 on all ranks after
 * the last. If `before`, the status of the previous piece, is a failure on any
 * rank, all ranks return it. */
typedef struct tct_gathering {
    tct_make make;
    void *ctx;
    size_t most; /* bytes of a piece; 0: the buffer's size */
    int rank;    /* the current rank, from 0 */
} tct_gathering;
tacit_status tct_sink_next(tct_sink *s, tct_gathering *g, tacit_status before,
                           const char **data, size_t *bytes);

/* Bytes written so far, on rank 0. */
int64_t tct_sink_offset(const tct_sink *s);
const char *tct_sink_path(const tct_sink *s); /* for messages of rank 0 */

/* Rank 0: write at the end, or over the bytes at `offset`. */
tacit_status tct_sink_put(tct_sink *s, int64_t offset, const void *data,
                          size_t bytes);

/* Files that this thread commits from now on, of `w` or of a world of some of
 * its ranks, get their names together, by the release that ends the outermost
 * hold, or none does: `status`, of what
 * was done meanwhile and the same on all ranks, is an error, or a file cannot
 * have its name. Files that are written directly, such as standard output, are
 * not held. Release returns `status` or the error; it is collective. */
void tct_sink_hold(const tacit_world *w);
tacit_status tct_sink_release(tacit_world *w, tacit_status status);

/* Give the file its name; closing it without leaves no file. */
tacit_status tct_sink_commit(tct_sink *s);
void tct_sink_close(tct_sink **s);

/* write(), or pwrite() if `offset` >= 0; a file size limit gives EFBIG, no
 * signal. */
ssize_t tct_write(int fd, const void *data, size_t bytes, int64_t offset);

/* Check that all ranks give the same `path`; functions here with a path call it
 * first. Errors INVALID. */
tacit_status tct_sink_agree(tacit_world *w, const char *path);

/* Check that rank 0 can write `path`. */
tacit_status tct_sink_check(tacit_world *w, const char *path);

#endif
