/* SPDX-License-Identifier: BSD-3-Clause
 * operator/layout/slice_text.h - what the host's build of slices and that of
 * kernels share: padding, joined slices, the hash of a pattern. */
#ifndef TCT_OPERATOR_LAYOUT_SLICE_TEXT_H
#define TCT_OPERATOR_LAYOUT_SLICE_TEXT_H
#include "device/steps.h"
#include "operator/layout/layout.h"
#include <string.h>

TCT_BOTH uint64_t tct_bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Bytes of zeros after the runs of a slice: index begins at multiples of 16. */
TCT_BOTH int tct_slice_padding(const tct_gpu_slice *s)
{
    return (int)(-(int64_t)sizeof(tct_column_run) * s->width & 15);
}

/* --- joined slices -------------------------------------------------------- */

/* Has `t` the runs of `s`, the slice before, GPU_LANES columns on, each of one
 * value? */
TCT_BOTH bool tct_slice_goes_on(const uint8_t *index, const tct_gpu_slice *s,
                                const tct_gpu_slice *t)
{
    if (s->kind != SLICE_CONST || t->kind != SLICE_CONST ||
        t->width != s->width ||
        t->index != s->index + (int64_t)sizeof(tct_gpu_const) * s->width)
        return false;
    for (size_t k = 0; k < s->width; k++) {
        tct_gpu_const from, to;
        memcpy(&from, index + s->index + sizeof from * k, sizeof from);
        memcpy(&to, index + t->index + sizeof to * k, sizeof to);
        if (to.base != from.base + GPU_LANES ||
            tct_bits_of(from.value) != tct_bits_of(to.value))
            return false;
    }
    return true;
}

/* Can slice `n` and its successors be joined? */
TCT_BOTH bool tct_slice_joins(const uint8_t *index, const tct_gpu_slice *slice,
                              int64_t groups, int64_t n)
{
    if (n % GPU_JOIN != 0 || (n + GPU_JOIN) * GPU_LANES > groups) return false;
    for (int i = 1; i < GPU_JOIN; i++)
        if (!tct_slice_goes_on(index, &slice[n + i - 1], &slice[n + i]))
            return false;
    return true;
}

/* --- the hash of a pattern ------------------------------------------------ */

TCT_BOTH uint64_t tct_slice_mix(uint64_t z)
{
    z = (z ^ z >> 33) * UINT64_C(0xff51afd7ed558ccd);
    z = (z ^ z >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return z ^ z >> 33;
}

/* Of row `i`: a polynomial of its columns. A matrix has the sum of its rows. */
TCT_BOTH uint64_t tct_slice_hash_row(const int64_t *ptr, const int32_t *col,
                                     int64_t i)
{
    uint64_t row = (uint64_t)(ptr[i + 1] - ptr[i]);
    for (int64_t k = ptr[i]; k < ptr[i + 1]; k++)
        row = row * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)col[k];
    return tct_slice_mix(row ^ tct_slice_mix((uint64_t)i + 1));
}
TCT_BOTH uint64_t tct_slice_hash(int64_t cols, uint64_t rows)
{
    return rows + tct_slice_mix((uint64_t)cols + 1);
}

#endif
