/* SPDX-License-Identifier: BSD-3-Clause
 * base/threads.c - how many threads OpenMP has for the thread that calls. */
#include "base/base.h"
#ifdef _OPENMP
#include <omp.h>
#endif

int tct_limit_threads(int most)
{
#ifdef _OPENMP
    const int now = omp_get_max_threads();
    if (most <= 0 || most >= now) return 0;
    omp_set_num_threads(most);
    return now;
#else
    (void)most;
    return 0;
#endif
}

void tct_unlimit(const int *before)
{
#ifdef _OPENMP
    if (*before > 0) omp_set_num_threads(*before);
#else
    (void)before;
#endif
}
