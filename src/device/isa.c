/* SPDX-License-Identifier: BSD-3-Clause
 * device/isa.c - which instruction set the host kernels use. */
#include "device/isa.h"
#include <stdlib.h>
#include <string.h>

static tct_isa of_processor(void)
{
#if TCT_X86_ISAS
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return TCT_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return TCT_ISA_AVX2;
#endif
    return TCT_ISA_BASE;
}

tct_isa tct_isa_best(void)
{
    const tct_isa best = of_processor();
    const char *wish = getenv("TACIT_ISA");
    if (!wish) return best;
    if (strcmp(wish, "base") == 0) return TCT_ISA_BASE;
    if (strcmp(wish, "avx2") == 0 && best > TCT_ISA_AVX2) return TCT_ISA_AVX2;
    return best;
}
