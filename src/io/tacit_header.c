/* SPDX-License-Identifier: BSD-3-Clause
 * io/tacit_header.c - the header of a .tacit file, as bytes. */
#include "io/tacit_header.h"
#include "io/input.h"
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are read as they lie in memory");

const char tct_tacit_magic[8] = {'\x89', 'T', 'A', 'C', 'I', 'T', '\n', '\x1a'};

static int64_t aligned(int64_t x)
{
    return (x + TCT_TACIT_ALIGN - 1) / TCT_TACIT_ALIGN * TCT_TACIT_ALIGN;
}

void tct_tacit_lay_out(tct_tacit_header *h)
{
    const bool matrix = h->kind == TCT_TACIT_MATRIX;
    h->col_bytes = matrix ? (h->cols <= INT32_MAX ? 4 : 8) : 0;
    h->ptr = TCT_TACIT_HEAD;
    h->col = aligned(h->ptr + (matrix ? 8 * (h->rows + 1) : 0));
    h->val = aligned(h->col + h->col_bytes * h->entries);
    h->size = h->val + 8 * h->entries;
}

static uint64_t sum_header(const unsigned char *raw)
{
    uint64_t sum = 0;
    for (int k = 0; k < 11; k++)
        sum += tct_tacit_mixed(7, k, tct_load(raw + 8 * k, 8, false));
    return sum;
}

void tct_tacit_pack(const tct_tacit_header *h, unsigned char *raw)
{
    memset(raw, 0, TCT_TACIT_HEAD);
    memcpy(raw, tct_tacit_magic, sizeof tct_tacit_magic);
    tct_store(raw + 8, 4, false, (uint64_t)h->version);
    tct_store(raw + 12, 4, false, (uint64_t)h->kind);
    const int64_t sizes[] = {h->rows, h->cols, h->entries};
    for (int k = 0; k < 3; k++)
        tct_store(raw + 16 + 8 * k, 8, false, (uint64_t)sizes[k]);
    tct_store(raw + 40, 4, false, (uint64_t)h->col_bytes);
    tct_store(raw + 44, 4, false, (uint64_t)h->flags);
    const int64_t places[] = {h->ptr, h->col, h->val, h->size};
    for (int k = 0; k < 4; k++)
        tct_store(raw + 48 + 8 * k, 8, false, (uint64_t)places[k]);
    tct_store(raw + 80, 8, false, h->sum);
    tct_store(raw + 88, 8, false, sum_header(raw));
}

/* rows times cols is at most `most`. */
static bool fills(int64_t rows, int64_t cols, int64_t most)
{
    return rows == 0 || cols <= most / rows;
}

tacit_status tct_tacit_unpack(const char *path, const unsigned char *raw,
                              tct_tacit_header *h)
{
    if (memcmp(raw, tct_tacit_magic, sizeof tct_tacit_magic) != 0)
        FAIL(TACIT_INPUT, "%s: is no .tacit file", path);
    h->version = (int)tct_load(raw + 8, 4, false);
    if (h->version != 1)
        FAIL(TACIT_INPUT,
             "%s: version %d of .tacit files, this Tacit reads "
             "version 1: convert it with the one that wrote it",
             path, h->version);
    if (tct_load(raw + 88, 8, false) != sum_header(raw))
        FAIL(TACIT_INPUT,
             "%s: the checksum of its header does not agree: copy "
             "or write the file again",
             path);
    h->kind = (int)tct_load(raw + 12, 4, false);
    h->rows = (int64_t)tct_load(raw + 16, 8, false);
    h->cols = (int64_t)tct_load(raw + 24, 8, false);
    h->entries = (int64_t)tct_load(raw + 32, 8, false);
    h->flags = (int)tct_load(raw + 44, 4, false);
    h->sum = tct_load(raw + 80, 8, false);
    const int64_t most = INT64_MAX / 64;
    const bool sizes =
        h->rows >= 0 && h->rows < most && h->cols >= 0 && h->entries >= 0 &&
        h->entries < most &&
        (h->kind == TCT_TACIT_MATRIX ||
         (h->kind == TCT_TACIT_VECTOR && fills(h->rows, h->cols, most) &&
          h->entries == h->rows * h->cols));
    if (sizes) tct_tacit_lay_out(h);
    if (!sizes || (int64_t)tct_load(raw + 72, 8, false) != h->size)
        FAIL(TACIT_INPUT, "%s: its header makes no sense: write it again",
             path);
    return TACIT_OK;
}
