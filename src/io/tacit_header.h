/* SPDX-License-Identifier: BSD-3-Clause
 * io/tacit_header.h - Tacit's own binary format: the arrays of the matrix as in
 * memory, so that each rank reads its rows, and the file can be mapped.
 * Little-endian; each array begins at a multiple of 64 bytes.
 *
 *     0 magic    8 version, kind    16 rows, cols, entries    40 column bytes,
 *     flags      48 offsets of ptr, col and val    72 size of the file
 *     80 checksum of the arrays     88 checksum of the header
 *
 * Vectors have no ptr and col: val holds them column by column.
 * The checksum of the arrays is a sum over all elements, each mixed with its
 * place, so that ranks can sum up their own parts. */
#ifndef TCT_IO_TACIT_HEADER_H
#define TCT_IO_TACIT_HEADER_H
#include "io/format.h"

enum {
    TCT_TACIT_HEAD = 128, /* bytes of the header */
    TCT_TACIT_ALIGN = 64,
    TCT_TACIT_MATRIX = 1, /* kinds */
    TCT_TACIT_VECTOR = 2,
    TCT_TACIT_SYMMETRIC = 1 /* flag */
};

typedef struct tct_tacit_header {
    int version, kind, col_bytes, flags;
    int64_t rows, cols, entries;
    int64_t ptr, col, val, size; /* offsets in bytes */
    uint64_t sum;
} tct_tacit_header;

/* The first bytes. */
extern const char tct_tacit_magic[8];

/* The offsets of the arrays follow from the sizes. */
void tct_tacit_lay_out(tct_tacit_header *h);
/* The header as bytes, `raw` [TCT_TACIT_HEAD], and from them.
 * Errors      INPUT (no such file; another version; damaged). */
void tct_tacit_pack(const tct_tacit_header *h, unsigned char *raw);
tacit_status tct_tacit_unpack(const char *path, const unsigned char *raw,
                              tct_tacit_header *h);

/* An element's share of the checksum: `bits` at `index` of array 1 to 3, ptr,
 * col or val. */
static inline uint64_t tct_tacit_mixed(uint64_t array, int64_t index,
                                       uint64_t bits)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    return tct_mix(bits + odd * (8 * (uint64_t)index + array));
}

/* tacit_write.c: as in tct_file_format. */
tacit_status tct_tacit_write_matrix(tct_sink *s, const tct_csr *A,
                                    const tct_write_options *options);
tacit_status tct_tacit_write_vectors(tct_sink *s, int64_t rows, int64_t count,
                                     int columns, const double *x,
                                     int64_t stride);

#endif
