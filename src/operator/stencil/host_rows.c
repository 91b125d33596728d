/* SPDX-License-Identifier: BSD-3-Clause
 * operator/stencil/host_rows.c - which of the compiled rows this processor
 * takes. */
#include "operator/stencil/host_rows.h"
#include "device/isa.h"

const tct_host_rows *tct_host_rows_of(const tct_grid_stencil *s)
{
#if TCT_X86_ISAS
    switch (tct_isa_best()) {
    case TCT_ISA_AVX512:
        return s->single ? &tct_rows_float_avx512 : &tct_rows_double_avx512;
    case TCT_ISA_AVX2:
        return s->single ? &tct_rows_float_avx2 : &tct_rows_double_avx2;
    case TCT_ISA_BASE: break;
    }
#endif
    return s->single ? &tct_rows_float_base : &tct_rows_double_base;
}

const tct_host_stream *tct_host_stream_best(void)
{
#if TCT_X86_ISAS
    switch (tct_isa_best()) {
    case TCT_ISA_AVX512: return &tct_stream_avx512;
    case TCT_ISA_AVX2: return &tct_stream_avx2;
    case TCT_ISA_BASE: break;
    }
#endif
    return &tct_stream_base;
}
