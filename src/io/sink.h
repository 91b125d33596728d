/* SPDX-License-Identifier: BSD-3-Clause
 * io/sink.h - a file that all ranks write together. Rank 0 holds it and
 * gathers the others' bytes in pieces, in rank order; it appears under its
 * name only when it is complete. Every call is collective, but for those of
 * rank 0 alone. */
#ifndef TCT_IO_SINK_H
#define TCT_IO_SINK_H
#include "comm/world/world.h"
#include <sys/types.h>

typedef struct tct_sink tct_sink;

/* The descriptor of this process that `path` stands for: standard output for
 * "-" and /dev/stdout, N for /dev/fd/N; -1 if it names a file. */
int tct_sink_descriptor(const char *path);

/* `pack`: what is written is packed by gzip; then nothing can be patched. */
tacit_status tct_sink_open(tacit_world *w, const char *path, bool pack,
                           tct_sink **out);
tacit_world *tct_sink_world(const tct_sink *s);

/* Bytes that rank 0 has; what the others pass is not looked at. */
tacit_status tct_sink_write(tct_sink *s, const void *data, size_t bytes);

/* Makes the next bytes of this rank: up to `room`, returns how many, 0 when
 * there is no more. */
typedef size_t (*tct_make)(void *ctx, char *out, size_t room);
tacit_status tct_sink_gather(tct_sink *s, tct_make make, void *ctx);

/* The same in steps, for a rank 0 that does something else with the bytes:
 * each brings it the next piece [*bytes], which stays until the next step;
 * `*bytes` is 0 on all ranks after the last. If `before`, what became of the
 * piece before, is a failure on any rank, all of them get it. */
typedef struct tct_gathering {
    tct_make make;
    void *ctx;
    size_t most; /* bytes of a piece; 0: as many as there is room for */
    int rank;    /* whose turn it is, from 0 */
} tct_gathering;
tacit_status tct_sink_next(tct_sink *s, tct_gathering *g, tacit_status before,
                           const char **data, size_t *bytes);

/* Bytes written so far; known on rank 0. */
int64_t tct_sink_offset(const tct_sink *s);
const char *tct_sink_path(const tct_sink *s); /* for rank 0's messages */

/* Rank 0 alone: write at the end, or over bytes that begin at `offset`. */
tacit_status tct_sink_put(tct_sink *s, int64_t offset, const void *data,
                          size_t bytes);

/* Give the file its name; until then closing it leaves nothing behind. */
tacit_status tct_sink_commit(tct_sink *s);
void tct_sink_close(tct_sink **s);

/* write(), or from an `offset` that is not below 0 pwrite(); a limit on the
 * size of files is EFBIG, and no signal. */
ssize_t tct_write(int fd, const void *data, size_t bytes, int64_t offset);

/* All ranks must give the same `path`; so each function here that takes one
 * asks first. Errors INVALID. */
tacit_status tct_sink_agree(tacit_world *w, const char *path);

/* Could rank 0 write `path`? */
tacit_status tct_sink_check(tacit_world *w, const char *path);

#endif
