/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/parallel.h - OpenMP where the build has it, nothing where not. */
#ifndef TCT_SPARSE_PARALLEL_H
#define TCT_SPARSE_PARALLEL_H
#include "device/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#define TCT_OMP(directive) _Pragma(#directive)
static inline int tct_thread(void)
{
    return omp_get_thread_num();
}
static inline int tct_thread_count(void)
{
    return omp_get_num_threads();
}
/* Those that a parallel region would have. */
static inline int tct_threads_most(void)
{
    return omp_get_max_threads();
}
#else
#define TCT_OMP(directive)
static inline int tct_thread(void)
{
    return 0;
}
static inline int tct_thread_count(void)
{
    return 1;
}
static inline int tct_threads_most(void)
{
    return 1;
}
#endif

#endif
