/* SPDX-License-Identifier: BSD-3-Clause
 * sparse/compact.c - each thread fills its piece from the front; then the
 * pieces are moved together, or their numbers shifted. */
#include "sparse/compact.h"
#include "sparse/parallel.h"
#include <string.h>

enum { PIECES_MOST = 256 };

static int pieces_of(int64_t count)
{
    const int threads = tct_threads_most();
    if (count <= TCT_SHORT) return 1;
    return threads < PIECES_MOST ? threads : PIECES_MOST;
}

int64_t tct_compact(int64_t count, tct_compact_fn pick, const void *of,
                    int32_t *out)
{
    int64_t picked[PIECES_MOST];
    const int pieces = pieces_of(count);
    TCT_OMP(omp parallel for schedule(static) if (pieces > 1))
    for (int t = 0; t < pieces; t++) {
        const int64_t begin = count * t / pieces,
                      end = count * (t + 1) / pieces;
        int64_t at = begin;
        for (int64_t k = begin; k < end; k++) {
            const int32_t found = pick(of, k);
            if (found >= 0) out[at++] = found;
        }
        picked[t] = at - begin;
    }
    int64_t all = 0;
    for (int t = 0; t < pieces; t++) {
        const int64_t begin = count * t / pieces;
        if (begin > all && picked[t] > 0)
            memmove(out + all, out + begin, (size_t)picked[t] * sizeof *out);
        all += picked[t];
    }
    return all;
}

int64_t tct_enumerate(int64_t count, tct_is_picked_fn is_picked, const void *of,
                      int32_t *number)
{
    int64_t before[PIECES_MOST + 1] = {0};
    const int pieces = pieces_of(count);
    TCT_OMP(omp parallel for schedule(static) if (pieces > 1))
    for (int t = 0; t < pieces; t++) {
        const int64_t end = count * (t + 1) / pieces;
        int32_t found = 0;
        for (int64_t k = count * t / pieces; k < end; k++)
            number[k] = is_picked(of, k) ? found++ : -1;
        before[t + 1] = found;
    }
    for (int t = 0; t < pieces; t++) before[t + 1] += before[t];
    TCT_OMP(omp parallel for schedule(static) if (pieces > 1))
    for (int t = 0; t < pieces; t++) {
        const int64_t end = count * (t + 1) / pieces;
        for (int64_t k = count * t / pieces; k < end; k++)
            if (number[k] >= 0) number[k] += (int32_t)before[t];
    }
    return before[pieces];
}
