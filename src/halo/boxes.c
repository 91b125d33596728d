/* SPDX-License-Identifier: BSD-3-Clause
 * halo/boxes.c - blocks, their places and neighbours, and boxes. */
#include "halo/boxes.h"
#include "halo/halo.h"

static const char axis[] = "xyz";

/* --- a block -------------------------------------------------------------- */

/* A number that no description comes near. */
static const double MOST = 4e18;

static tacit_status check_direction(const tct_halo_shape *s, int d)
{
    if (s->n[d] < 1 || s->ghost[d] < 0 || s->blocks[d] < 1)
        FAIL(TACIT_INVALID,
             "halo: %lld cells, %lld ghosts, %d blocks along %c: expected at "
             "least 1, 0, 1",
             (long long)s->n[d], (long long)s->ghost[d], s->blocks[d], axis[d]);
    return TACIT_OK;
}

static tacit_status check_size(const tct_halo_shape *s)
{
    double all = (double)s->bytes;
    for (int d = 0; d < 3; d++)
        all *= (double)s->n[d] + 2.0 * (double)s->ghost[d];
    if (s->bytes < 1 || all > MOST)
        FAIL(TACIT_INVALID,
             "halo: cells of %lld bytes, %g bytes in all: expected at least 1, "
             "and a block that memory can hold",
             (long long)s->bytes, all);
    return TACIT_OK;
}

static int64_t stored(const tct_halo_shape *s, int d)
{
    return s->n[d] + 2 * s->ghost[d];
}

/* Set strides that are 0. Rows, and planes, must not overlap. */
static tacit_status set_strides(tct_halo_shape *s)
{
    const int64_t row = stored(s, 0) * s->bytes;
    if (s->pitch == 0) s->pitch = row;
    if (s->plane == 0) s->plane = stored(s, 1) * s->pitch;
    const int64_t plane = (stored(s, 1) - 1) * s->pitch + row;
    if ((stored(s, 1) > 1 && s->pitch < row) ||
        (stored(s, 2) > 1 && s->plane < plane))
        FAIL(TACIT_INVALID,
             "halo: pitch %lld, plane %lld: rows of %lld bytes and planes of "
             "%lld overlap: take at least these, or 0",
             (long long)s->pitch, (long long)s->plane, (long long)row,
             (long long)plane);
    return TACIT_OK;
}

static tacit_status check_blocks(const tct_halo_shape *s, int ranks)
{
    double all = 1.0;
    for (int d = 0; d < 3; d++) all *= s->blocks[d];
    if (all != ranks)
        FAIL(TACIT_INVALID,
             "halo: %d x %d x %d blocks for %d ranks: expected a block a rank",
             s->blocks[0], s->blocks[1], s->blocks[2], ranks);
    return TACIT_OK;
}

tacit_status tct_halo_shape_of(const tacit_halo_block *block, int rank,
                               int ranks, tct_halo_shape *out)
{
    tacit_halo_block b;
    TRY(tct_read_sized("tacit_halo_block", block, &b, sizeof b));
    if (b.dimensions != 2 && b.dimensions != 3)
        FAIL(TACIT_INVALID, "halo: %d dimensions: expected 2 or 3",
             b.dimensions);
    const bool flat = b.dimensions == 2;
    tct_halo_shape s = {.periodic = b.periodic & (flat ? 3 : 7),
                        .faces_only = b.faces_only != 0,
                        .bytes = b.bytes,
                        .pitch = b.pitch,
                        .plane = flat ? 0 : b.plane};
    for (int d = 0; d < 3; d++) {
        const bool out_of = flat && d == 2;
        s.n[d] = out_of ? 1 : b.n[d];
        s.ghost[d] = out_of ? 0 : b.ghost[d];
        s.blocks[d] = out_of ? 1 : b.blocks[d];
        TRY(check_direction(&s, d));
    }
    TRY(check_size(&s));
    TRY(set_strides(&s));
    TRY(check_blocks(&s, ranks));
    tct_halo_place(s.blocks, rank, s.place);
    *out = s;
    return TACIT_OK;
}

int64_t tct_halo_before(const tct_halo_shape *s)
{
    return tct_halo_distance(s, s->ghost);
}

int64_t tct_halo_after(const tct_halo_shape *s)
{
    const int64_t last[] = {s->n[0] + s->ghost[0] - 1,
                            s->n[1] + s->ghost[1] - 1,
                            s->n[2] + s->ghost[2] - 1};
    return tct_halo_distance(s, last) + s->bytes;
}

/* --- places --------------------------------------------------------------- */

void tct_halo_place(const int blocks[3], int rank, int place[3])
{
    place[0] = rank % blocks[0];
    place[1] = rank / blocks[0] % blocks[1];
    place[2] = rank / blocks[0] / blocks[1];
}

int tct_halo_rank_at(const int blocks[3], unsigned periodic, const int place[3])
{
    int at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = place[d];
        if (at[d] >= 0 && at[d] < blocks[d]) continue;
        if (!(periodic >> d & 1)) return -1;
        at[d] = (at[d] % blocks[d] + blocks[d]) % blocks[d];
    }
    return (at[2] * blocks[1] + at[1]) * blocks[0] + at[0];
}

/* --- boxes ---------------------------------------------------------------- */

/* The neighbour in a direction; -1: none, or no messages. */
static int neighbour(const tct_halo_shape *s, const int step[3])
{
    int place[3], ways = 0;
    for (int d = 0; d < 3; d++) {
        if (step[d] != 0 && s->ghost[d] == 0) return -1;
        ways += step[d] != 0;
        place[d] = s->place[d] + step[d];
    }
    if (ways == 0 || (ways > 1 && s->faces_only)) return -1;
    return tct_halo_rank_at(s->blocks, s->periodic, place);
}

void tct_halo_message(const tct_halo_shape *s, int number,
                      tacit_halo_message *out)
{
    int step[3];
    tct_halo_steps(number, step);
    *out = (tacit_halo_message){.peer = neighbour(s, step)};
    if (out->peer < 0) return;
    out->tag = TACIT_HALO_DIRECTIONS - 1 - number;
    out->bytes = s->bytes;
    for (int d = 0; d < 3; d++) {
        out->extent[d] = step[d] == 0 ? s->n[d] : s->ghost[d];
        out->send[d] = step[d] > 0 ? s->n[d] - s->ghost[d] : 0;
        out->receive[d] = step[d] > 0   ? s->n[d]
                          : step[d] < 0 ? -s->ghost[d]
                                        : 0;
        out->bytes *= out->extent[d];
    }
}

/* --- agreement ------------------------------------------------------------ */

static tacit_status check_same(const tct_halo_shape *all, int r)
{
    const tct_halo_shape *a = &all[0], *b = &all[r];
    const char *what = NULL;
    if (a->bytes != b->bytes) what = "the bytes of a cell";
    if (a->periodic != b->periodic) what = "the periodic directions";
    if (a->faces_only != b->faces_only) what = "faces or corners";
    for (int d = 0; d < 3; d++) {
        if (a->ghost[d] != b->ghost[d]) what = "the ghosts";
        if (a->blocks[d] != b->blocks[d]) what = "the blocks of the grid";
    }
    if (what)
        FAIL(TACIT_INVALID,
             "halo: %s of rank 0 and of rank %d differ: give the same on all "
             "ranks",
             what, r);
    return TACIT_OK;
}

static bool has_neighbours(const tct_halo_shape *s, int d)
{
    return s->ghost[d] > 0 && (s->blocks[d] > 1 || (s->periodic >> d & 1));
}

static tacit_status check_width(const tct_halo_shape *s, int rank)
{
    for (int d = 0; d < 3; d++)
        if (has_neighbours(s, d) && s->n[d] < s->ghost[d])
            FAIL(TACIT_INVALID,
                 "halo: the block of rank %d is %lld cells wide along %c, "
                 "less than the %lld ghosts of its neighbours: take narrower "
                 "ghosts, or fewer blocks along %c",
                 rank, (long long)s->n[d], axis[d], (long long)s->ghost[d],
                 axis[d]);
    return TACIT_OK;
}

/* The faces that `rank` shares with the neighbour in direction `number`. */
static tacit_status check_faces(const tct_halo_shape *all, int rank, int number)
{
    const tct_halo_shape *s = &all[rank];
    int step[3];
    tct_halo_steps(number, step);
    const int other = neighbour(s, step);
    for (int d = 0; d < 3 && other >= 0; d++)
        if (step[d] == 0 && s->n[d] != all[other].n[d])
            FAIL(TACIT_INVALID,
                 "halo: the block of rank %d has %lld cells along %c, that of "
                 "its neighbour, rank %d, has %lld: cut the grid alike",
                 rank, (long long)s->n[d], axis[d], other,
                 (long long)all[other].n[d]);
    return TACIT_OK;
}

tacit_status tct_halo_shapes_check(const tct_halo_shape *all, int ranks,
                                   int rank)
{
    for (int r = 1; r < ranks; r++) TRY(check_same(all, r));
    for (int r = 0; r < ranks; r++) TRY(check_width(&all[r], r));
    for (int i = 0; i < TACIT_HALO_DIRECTIONS; i++)
        TRY(check_faces(all, rank, i));
    return TACIT_OK;
}
