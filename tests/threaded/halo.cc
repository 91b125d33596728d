/* SPDX-License-Identifier: BSD-3-Clause
 * tests/threaded/halo.cc - exchanges of a fused halo in cells by its kernel
 * (halo/gpu/cells.cu): two ranks in a ring along x, each its own neighbour
 * along y. */
#include "blocks.h"
#include "halo/gpu/cells.cu"
#include "harness.h"
#include <unistd.h>

enum {
    NX = 37,
    NY = 260, /* more cells than a block takes at first */
    PITCH = NX + 2,
    WAYS = 4, /* down, left, right, up: the opposite of k is WAYS - 1 - k */
    ROUNDS = 6,
    SHIFT = 64
};

struct half {
    char message[SHIFT]; /* not used: cells are behind it */
    tct_numbered cell[NY];
};
struct rank_of {
    double field[PITCH * (NY + 2)];
    alignas(16) half landing[2][WAYS];
    uint64_t number, drawn;
    tct_peer_state state;
    tct_halo_copy out[2][WAYS], in[2][WAYS];
    tct_halo_put put[WAYS];
};
struct two {
    rank_of rank[2];
    long wrong;
};

static two *W;

static void call_trade(void **arguments)
{
    trade_cells(*(const tct_peer_common *)arguments[0],
                *(const trading *)arguments[1],
                *(const tct_halo_signals *)arguments[2]);
}

static gpu_error gpu_launch_early(const void *, dim3 blocks, unsigned threads,
                                  void **arguments, gpu_stream, bool)
{
    blocks_launch(blocks, threads, call_trade, arguments);
    return GPU_OK;
}

static bool is_sideways(int k)
{
    return k == 1 || k == 2;
}

/* Of cell (0, 0), in doubles: the border that goes there, or the ghosts. */
static int64_t place(int k, bool ghosts)
{
    const int64_t border[] = {0, 0, NX - 1, (NY - 1) * PITCH};
    const int64_t step[] = {-PITCH, -1, 1, PITCH};
    return border[k] + (ghosts ? step[k] : 0);
}

static void connect(int r, int slot, int k)
{
    const int peer = is_sideways(k) ? 1 - r : r;
    tct_halo_copy c = {};
    c.row = is_sideways(k) ? 8 : 8 * NX;
    c.rows = is_sideways(k) ? NY : 1;
    c.planes = 1;
    tct_halo_copy in = c;
    c.from = (uintptr_t)(8 * place(k, false));
    c.from_pitch = 8 * PITCH;
    c.to = (uintptr_t)&W->rank[peer].landing[slot][WAYS - 1 - k];
    in.from = (uintptr_t)&W->rank[r].landing[slot][k];
    in.to = (uintptr_t)(8 * place(k, true));
    in.to_pitch = 8 * PITCH;
    W->rank[r].out[slot][k] = c;
    W->rank[r].in[slot][k] = in;
    W->rank[r].put[k].peer = peer;
}

static double value(int rank, int64_t x, int64_t y, int round)
{
    return rank * 1e7 + round * 1e5 + (double)(y * 100 + x);
}

static void fill(int r, int round)
{
    double *field = W->rank[r].field;
    for (int64_t y = 0; y < NY && harness_is_first(); y++)
        for (int64_t x = 0; x < NX; x++)
            field[(y + 1) * PITCH + x + 1] = value(r, x, y, round);
    if (harness_is_first() && (round + r) % 3 == 0) usleep(500);
    harness_meet();
}

static void exchange(int r, int round)
{
    rank_of *me = &W->rank[r];
    const int slot = round % 2;
    tct_peer_common C = {0, &me->state}; /* no limit */
    const tct_halo_copies out = {WAYS, me->out[slot], me->out[slot]},
                          in = {WAYS, me->in[slot], me->in[slot]};
    tct_halo_signals L = {};
    L.count = WAYS;
    L.put = me->put;
    L.number = &me->number;
    L.drawn = &me->drawn;
    const uintptr_t cell = (uintptr_t)&me->field[PITCH + 1];
    tct_halo_trade_cells(&C, &out, cell, &in, cell, SHIFT, &L, true, nullptr);
}

static long wrong_ghosts(int r, int round)
{
    const double *cell = &W->rank[r].field[PITCH + 1];
    long n = W->rank[r].number != (uint64_t)round;
    for (int64_t y = 0; y < NY; y++) {
        n += cell[y * PITCH - 1] != value(1 - r, NX - 1, y, round);
        n += cell[y * PITCH + NX] != value(1 - r, 0, y, round);
    }
    for (int64_t x = 0; x < NX; x++) {
        n += cell[x - PITCH] != value(r, x, NY - 1, round);
        n += cell[NY * PITCH + x] != value(r, x, 0, round);
    }
    return n;
}

static void program(int rank)
{
    for (int round = 1; round <= ROUNDS; round++) {
        fill(rank, round);
        exchange(rank, round);
        if (harness_is_first())
            __atomic_fetch_add(&W->wrong, wrong_ghosts(rank, round),
                               __ATOMIC_RELAXED);
        harness_meet();
    }
}

extern "C" long threaded_halo(void)
{
    W = (two *)harness_memory(sizeof *W);
    for (int i = 0; i < 4 * WAYS; i++) connect(i % 2, i / 2 % 2, i / 4);
    return harness_run(2 * WAYS, program) > 0 ? -1 : W->wrong;
}
