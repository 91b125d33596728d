/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/divide.c - how the work of a persistent kernel is divided,
 * and what stays on the chip. */
#include "solver/resident/job.h"

enum { SHARED_SPARE = 12288 /* bytes: what kernels have of their own */ };

/* As many rounds as it takes, all equally wide; the blocks are as many as are
 * on the device at once. */
void tct_resident_divide(tct_resident_job *J, int blocks, int m)
{
    const int most = m > 1 ? TCT_THREADS_FOUR : TCT_THREADS_MOST;
    const int b = J->A.b, warps = most / 32 / b * b;
    J->parts = m > 1 ? (J->A.slices + m - 1) / m : J->A.slices * b;
    const int64_t each = (int64_t)blocks * warps;
    J->rounds = (int)((J->parts + each - 1) / each);
    if (J->rounds < 1) J->rounds = 1;
    const int64_t share = (int64_t)blocks * J->rounds;
    const int tile = (int)((J->parts + share - 1) / share);
    J->tile = tile < 1 ? b : (tile + b - 1) / b * b;
    J->slots = J->rounds * m;
}

/* Vectors onto the chip, those first that save most, as far as it goes. */
size_t tct_resident_place(tct_resident_job *J, const tct_resident_kernel *K,
                          int threads, size_t shared_bytes)
{
    const int line = threads * (int)sizeof(double);
    int left = (int)(shared_bytes - SHARED_SPARE) / line, used = 0;
    for (int v = 0; v < K->vectors; v++) {
        const int slots = left < J->slots ? left : J->slots;
        J->v[v].slots = slots;
        J->v[v].offset = used * threads;
        used += slots;
        left -= slots;
    }
    /* what is left is for values of the matrix */
    const size_t vectors = (size_t)used * (size_t)line;
    J->matrix_offset = used * threads;
    J->matrix_bytes =
        (int)(shared_bytes - SHARED_SPARE - vectors) / 1024 * 1024;
    return vectors + (size_t)J->matrix_bytes;
}
