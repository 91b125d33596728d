/* SPDX-License-Identifier: BSD-3-Clause
 * device/isa.h - files of host kernels are compiled once per instruction set
 * (src/CMakeLists.txt); this picks the best that the processor has. */
#ifndef TCT_DEVICE_ISA_H
#define TCT_DEVICE_ISA_H
#include <stddef.h>

/* TCT_ISA_NAME(f) is f_base, f_avx2 or f_avx512 in such a file. */
#define TCT_JOIN_(a, b)    a##_##b
#define TCT_JOIN(a, b)     TCT_JOIN_(a, b)
#define TCT_ISA_NAME(name) TCT_JOIN(name, TCT_ISA)

#ifdef TCT_ISA
#define INLINE static inline __attribute__((always_inline))

/* a b + s, rounded once where the instruction set can. */
INLINE double fused(double a, double b, double s)
{
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, s);
#else
    return a * b + s;
#endif
}
#endif

typedef enum tct_isa { TCT_ISA_BASE, TCT_ISA_AVX2, TCT_ISA_AVX512 } tct_isa;

/* The best set of the processor, or a lesser one by the environment variable
 * TACIT_ISA (base, avx2, avx512). */
tct_isa tct_isa_best(void);

#endif
