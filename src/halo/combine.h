/* SPDX-License-Identifier: BSD-3-Clause
 * halo/combine.h - reductions of boxes of cells, one text for the CPU and for
 * kernels: element i of a box with the element at its place. */
#ifndef TCT_HALO_COMBINE_H
#define TCT_HALO_COMBINE_H
#include "halo/copies.h"
#include <tacit/halo.h>

/* The elements of cells, and what is to become of two. */
typedef struct tct_halo_element {
    tacit_halo_type type;
    tacit_halo_reduction reduction;
} tct_halo_element;

TCT_BOTH int64_t tct_halo_type_bytes(tacit_halo_type type)
{
    switch (type) {
    case TACIT_HALO_BYTE: return 1;
    case TACIT_HALO_I32:
    case TACIT_HALO_F32: return 4;
    case TACIT_HALO_I64:
    case TACIT_HALO_F64: return 8;
    }
    return 1;
}

TCT_BOTH int64_t tct_halo_elements(const tct_halo_copy *c, tacit_halo_type type)
{
    return tct_halo_copy_bytes(c) / tct_halo_type_bytes(type);
}

/* Integers wrap where they overflow: U is their unsigned type. */
#define TCT_HALO_COMBINE(T, U, name)                                      \
    TCT_BOTH void tct_halo_combine_##name(T *to, T from,                  \
                                          tacit_halo_reduction reduction) \
    {                                                                     \
        switch (reduction) {                                              \
        case TACIT_HALO_REPLACE: *to = from; break;                       \
        case TACIT_HALO_SUM: *to = (T)((U)*to + (U)from); break;          \
        case TACIT_HALO_MIN: *to = from < *to ? from : *to; break;        \
        case TACIT_HALO_MAX: *to = from > *to ? from : *to; break;        \
        }                                                                 \
    }
TCT_HALO_COMBINE(char, unsigned char, byte)
TCT_HALO_COMBINE(int32_t, uint32_t, i32)
TCT_HALO_COMBINE(int64_t, uint64_t, i64)
TCT_HALO_COMBINE(float, float, f32)
TCT_HALO_COMBINE(double, double, f64)
#undef TCT_HALO_COMBINE

/* Element `i` of the box, in the order of planes and rows. */
TCT_BOTH void tct_halo_combine(const tct_halo_copy *c, uintptr_t from,
                               uintptr_t to, tct_halo_element e, int64_t i)
{
    const int64_t byte = i * tct_halo_type_bytes(e.type);
    const int64_t line = byte / c->row, x = byte % c->row;
    const int64_t z = line / c->rows, y = line % c->rows;
    const void *source =
        (const void *)(from + c->from +
                       (uintptr_t)(z * c->from_plane + y * c->from_pitch + x));
    void *target = (void *)(to + c->to +
                            (uintptr_t)(z * c->to_plane + y * c->to_pitch + x));
    const tacit_halo_reduction r = e.reduction;
    switch (e.type) {
    case TACIT_HALO_BYTE:
        tct_halo_combine_byte((char *)target, *(const char *)source, r);
        break;
    case TACIT_HALO_I32:
        tct_halo_combine_i32((int32_t *)target, *(const int32_t *)source, r);
        break;
    case TACIT_HALO_I64:
        tct_halo_combine_i64((int64_t *)target, *(const int64_t *)source, r);
        break;
    case TACIT_HALO_F32:
        tct_halo_combine_f32((float *)target, *(const float *)source, r);
        break;
    case TACIT_HALO_F64:
        tct_halo_combine_f64((double *)target, *(const double *)source, r);
        break;
    }
}

#endif
