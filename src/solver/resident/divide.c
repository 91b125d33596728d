/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/divide.c - the division of work in a persistent kernel, and
 * the choice of what stays on the chip. */
#include "solver/resident/sstep.h"

enum {
    SHARED_SPARE = 12288, /* bytes: the kernels' own data */
    RUNS_SPARE = 16384,   /* and runs of joined slices             */
    PEERS_SPARE = 13312,  /* ... of several GPUs                   */
    CACHE_SPARE = 32768   /* left for the L1 where that costs little */
};

/* The fewest rounds, all of equal width; as many blocks as the device runs at
 * once. */
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
    /* With peers, rows that are sent are spread over many blocks. */
    J->round = blocks * J->tile;
    J->block = J->grid.peers ? 1 : J->tile;
    J->warp = J->grid.peers ? blocks : 1;
    J->team = 1;
}

/* A warp waits for one batch of columns after the other (tct_load_batch), so
 * that a part takes time by its batches; below four batches a team costs more
 * than it saves. One warp is kept for communication. */
void tct_resident_share(tct_resident_job *J, int columns)
{
    enum { BATCHES_LEAST = 4 };
    const int64_t batch = (J->A.b == 1 ? 8 : 4) / columns;
    const int64_t slices = J->A.slices + 1; /* avoids a division by 0 */
    const int64_t batches = J->A.cells / (batch * slices);
    const int warps = TCT_THREADS_MOST(J->A.walk) / GPU_WAVE - 1;
    if (J->rounds > 1 || J->A.walk != GPU_ANY || batches < BATCHES_LEAST)
        return;
    J->team = warps / J->tile;
    if (J->team > batches) J->team = (int)batches;
    if (J->team < 1) J->team = 1;
}

/* Place values of the matrix in `bytes`: some columns of every part, at least a
 * few batches of a product, or all columns of some parts. Returns the bytes
 * used. */
static size_t place_matrix(tct_resident_job *J, size_t bytes)
{
    const tct_gpu_store store = (tct_gpu_store)J->A.store;
    const size_t line =
        (size_t)(J->A.b * GPU_LANES * tct_gpu_value_bytes(store));
    const size_t parts = (size_t)J->rounds * (size_t)J->tile;
    const size_t lines = bytes / line, widest = (size_t)J->A.widest;
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

/* Place vectors on the chip, those first that save most; the rest is for values
 * of the matrix. Pending loads need the L1, which shares its memory: unless all
 * vectors fit, some is left to it. */
size_t tct_resident_place(tct_resident_job *J, const tct_resident_kernel *K,
                          int threads, int entries, size_t shared_bytes)
{
    /* an even number of doubles: values and their columns; the sums of teams */
    const int edges = entries + (entries + 3) / 4 * 2,
              each = GPU_WAVE * J->tile;
    const int in_front = edges + (J->team - 1) * K->sent * each;
    if (J->team > 1) threads = each; /* only one slot exists */
    const int line = threads * (int)sizeof(double);
    size_t own = SHARED_SPARE;
    if (J->A.walk == GPU_JOINED) own += RUNS_SPARE;
    if (J->grid.peers) own += PEERS_SPARE;
    own += (size_t)in_front * sizeof(double);
    J->desk = edges;
    const size_t most = shared_bytes - own, some = most - CACHE_SPARE;
    const size_t all = (size_t)K->vectors * (size_t)J->slots * (size_t)line;
    const size_t room = all > some && all <= most ? most : some;
    int left = (int)(room / (size_t)line), used = 0;
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

/* The columns follow the area for the block's sum; each begins four doubles
 * after a bank boundary, since a sum reads eight at once. */
size_t tct_resident_place_columns(tct_sstep_job *W, int columns, int threads,
                                  size_t shared_bytes)
{
    enum { APART = 4 };
    tct_resident_job *J = &W->J;
    const int desk = threads / GPU_WAVE * TCT_SSTEP_DESK;
    size_t own = SHARED_SPARE + TCT_SSTEP_SHARED;
    if (J->A.walk == GPU_JOINED) own += RUNS_SPARE;
    own += (size_t)desk * sizeof(double);
    const size_t most = shared_bytes - own;
    const size_t some = most > CACHE_SPARE ? most - CACHE_SPARE : 0;
    const int64_t all = ((int64_t)J->slots * threads + APART) * columns;
    const size_t room = (size_t)all * sizeof(double) <= most ? most : some;
    const int column = (int)(room / sizeof(double)) / columns - APART;
    W->slots = column < 0 ? 0 : column / threads;
    if (W->slots > J->slots) W->slots = J->slots;
    W->desk = 0;
    W->first = desk;
    W->stride = W->slots ? W->slots * threads + APART : 0;
    J->matrix_offset = desk + columns * W->stride;
    const size_t vectors = (size_t)(columns * W->stride) * sizeof(double);
    J->chip_values = place_matrix(J, room - vectors);
    const size_t bytes =
        (size_t)J->matrix_offset * sizeof(double) + J->chip_values;
    J->chip_doubles = (int)(bytes / sizeof(double));
    return bytes;
}
