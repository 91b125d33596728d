/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/divide.c - how the work of a persistent kernel is divided,
 * and what stays on the chip. */
#include "solver/resident/job.h"

enum {
    SHARED_SPARE = 12288, /* bytes: what kernels have of their own */
    RUNS_SPARE = 16384,   /* and runs of joined slices             */
    PEERS_SPARE = 8192,   /* ... of several GPUs                   */
    CACHE_SPARE = 32768   /* left for the L1 where that costs little */
};

/* Warps that share a part: a product whose loads are few at a time waits for
 * memory, so many share where there are few parts. */
static int shares_of(const tct_resident_job *J, int warps)
{
    enum { SHARES_MOST = 4, WORTH = 8, WORTH_BLOCKS = 4 };
    if (J->A.walk != GPU_ANY || J->rounds > 1 || J->A.slices == 0) return 1;
    const int64_t columns = J->A.cells / J->A.slices;
    const int64_t worth = columns / (J->A.b == 1 ? WORTH : WORTH_BLOCKS);
    int shares = (warps - 1) / J->tile; /* one speaks */
    if (shares > SHARES_MOST) shares = SHARES_MOST;
    if (shares > worth) shares = (int)worth;
    return shares < 1 ? 1 : shares;
}

/* As many rounds as it takes, all equally wide; the blocks are as many as are
 * on the device at once. */
void tct_resident_divide(tct_resident_job *J, int blocks)
{
    const int b = J->A.b, m = J->A.walk == GPU_JOINED ? GPU_JOIN : 1;
    const int warps = TCT_THREADS_MOST(J->A.walk) / GPU_WAVE;
    J->parts = (int)((J->A.slices * b + m - 1) / m);
    const int64_t each = (int64_t)blocks * warps;
    J->rounds = (int)((J->parts + each - 1) / each);
    if (J->rounds < 1) J->rounds = 1;
    const int64_t share = (int64_t)blocks * J->rounds;
    const int tile = (int)((J->parts + share - 1) / share);
    J->tile = tile < 1 ? 1 : tile;
    J->slots = J->rounds * m;
    J->shares = shares_of(J, warps);
    J->widest = tct_share_of(J->A.widest, J->shares);
    /* With peers the rows at the edge are dealt out to many blocks. */
    J->round = blocks * J->tile;
    J->block = J->gang.peers ? 1 : J->tile;
    J->warp = J->gang.peers ? blocks : 1;
}

/* Values of the matrix into `bytes`: some columns of every part, a few batches
 * of a product at least; or else all of some parts. The bytes taken. */
static size_t place_matrix(tct_resident_job *J, size_t bytes)
{
    const tct_gpu_store store = (tct_gpu_store)J->A.store;
    const size_t line =
        (size_t)(J->A.b * GPU_LANES * tct_gpu_value_bytes(store));
    const size_t parts = (size_t)(J->rounds * J->tile * J->shares);
    const size_t lines = bytes / line, widest = (size_t)J->widest;
    J->chip_columns = J->chip_parts = 0;
    if (J->A.walk == GPU_JOINED || widest == 0) return 0;
    size_t columns = lines / parts;
    if (columns > widest) columns = widest;
    if (columns >= 8 || columns == widest) {
        if (columns < widest) columns = columns / 4 * 4;
        J->chip_columns = (int)columns;
        return columns * parts * line;
    }
    J->chip_parts = (int)(lines / widest);
    return (size_t)J->chip_parts * widest * line;
}

/* Vectors onto the chip, those first that save most, as far as it goes; what is
 * left is for values of the matrix. Loads under way have their place in the L1,
 * which has what shared memory leaves: unless all vectors fit, some is left. */
size_t tct_resident_place(tct_resident_job *J, const tct_resident_kernel *K,
                          int threads, int entries, size_t shared_bytes)
{
    enum { COLUMNS = 2 }; /* of a product, at most */
    /* an even number of doubles: values, and their columns */
    const int edges = entries + (entries + 3) / 4 * 2;
    const int sums = J->shares * J->tile * GPU_WAVE;
    const int in_front = edges + (J->shares > 1 ? COLUMNS * sums : 0);
    const int line = threads * (int)sizeof(double);
    size_t own = SHARED_SPARE;
    if (J->A.walk == GPU_JOINED) own += RUNS_SPARE;
    if (J->gang.peers) own += PEERS_SPARE;
    own += (size_t)in_front * sizeof(double);
    const size_t most = shared_bytes - own, some = most - CACHE_SPARE;
    const size_t all = (size_t)K->vectors * (size_t)J->slots * (size_t)line;
    const size_t room = all > some && all <= most ? most : some;
    int left = (int)(room / (size_t)line), used = 0;
    J->shares_offset = edges;
    for (int v = 0; v < K->vectors; v++) {
        const int slots = left < J->slots ? left : J->slots;
        J->v[v].slots = slots;
        J->v[v].offset = in_front + used * threads;
        used += slots;
        left -= slots;
    }
    const size_t vectors = (size_t)used * (size_t)line;
    J->matrix_offset = in_front + used * threads;
    const size_t values = place_matrix(J, room - vectors);
    const size_t bytes = (size_t)in_front * sizeof(double) + vectors + values;
    J->chip_doubles = (int)(bytes / sizeof(double));
    J->chip_values = values;
    return bytes;
}
