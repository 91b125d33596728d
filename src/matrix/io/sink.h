/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/io/sink.h - a file that all ranks write together. Rank 0 holds it and
 * gathers the others' bytes in pieces, in rank order; it appears under its
 * name only when it is complete. Every call is collective. */
#ifndef TCT_IO_SINK_H
#define TCT_IO_SINK_H
#include "comm/world.h"
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

/* Bytes written so far, and their CRC-32 since the last tct_sink_crc; known
 * on rank 0. */
int64_t tct_sink_offset(const tct_sink *s);
uint32_t tct_sink_crc(tct_sink *s);

/* Write over bytes at `offset` (rank 0). */
tacit_status tct_sink_patch(tct_sink *s, int64_t offset, const void *data,
                            size_t bytes);

/* Give the file its name; until then closing it leaves nothing behind. */
tacit_status tct_sink_commit(tct_sink *s);
void tct_sink_close(tct_sink **s);

/* write(), or from an `offset` that is not below 0 pwrite(); a limit on the
 * size of files is EFBIG, and no signal. */
ssize_t tct_write(int fd, const void *data, size_t bytes, int64_t offset);

/* Could rank 0 write `path`? */
tacit_status tct_sink_check(tacit_world *w, const char *path);

#endif
