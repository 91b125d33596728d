/* SPDX-License-Identifier: BSD-3-Clause
 * tests/halo_arrays.h - halos of several arrays over random grids: gathers bring
 * the neighbours' cells, scatters reduce as a serial loop over all blocks does.
 * The test says where arrays are: memory_take, memory_give, memory_copy. */
#ifndef TESTS_HALO_ARRAYS_H
#define TESTS_HALO_ARRAYS_H
#include "halo/arrays.h"
#include "halo_grid.h"
#include <tacit/triggered.h>

enum { ARRAYS = 3 };

/* Memory of the queue's device. */
static char *memory_take(size_t bytes);
static void memory_give(char *p);
static void memory_copy(char *to, const char *from, size_t bytes);

/* Types, and components of a cell. */
static const tacit_halo_type types[ARRAYS] = {TACIT_HALO_F64, TACIT_HALO_I32,
                                              TACIT_HALO_F32};
static const int components[ARRAYS] = {1, 3, 2};

typedef struct {
    grid g[ARRAYS];
    part p[ARRAYS];       /* of a rank */
    char *memory[ARRAYS]; /* the host's image, and its cells (0, 0, 0) */
    void *zero[ARRAYS];
    char *there[ARRAYS]; /* the same where the queue works */
    void *cell[ARRAYS];
} several;

static size_t bytes_of(const part *p)
{
    return (size_t)(p->before + p->after) + 64;
}

/* Arrays differ in ghosts, types, and bytes after a row. */
static several make_several(int seed, int rank)
{
    several s;
    for (int k = 0; k < ARRAYS; k++) {
        s.g[k] = random_grid(size_of(), seed);
        for (int d = 0; d < s.g[k].dimensions && k > 0; d++)
            s.g[k].ghost[d] = (s.g[k].ghost[d] + k) % 4;
        s.g[k].bytes = components[k] * (types[k] == TACIT_HALO_F64 ? 8 : 4);
        s.g[k].pad = s.g[k].bytes * (seed + k) % 3 / s.g[k].bytes * 8;
        s.p[k] = part_of(&s.g[k], rank);
        s.memory[k] = calloc(1, bytes_of(&s.p[k]));
        s.there[k] = memory_take(bytes_of(&s.p[k]));
        assert_non_null(s.memory[k]);
        s.zero[k] = s.memory[k] + s.p[k].before;
        s.cell[k] = s.there[k] + s.p[k].before;
    }
    return s;
}

static void free_several(several *s)
{
    for (int k = 0; k < ARRAYS; k++) {
        free(s->memory[k]);
        memory_give(s->there[k]);
    }
}

/* All bytes to the device, or back. */
static void copy_several(const several *s, bool to)
{
    for (int k = 0; k < ARRAYS; k++)
        memory_copy(to ? s->there[k] : s->memory[k],
                    to ? s->memory[k] : s->there[k], bytes_of(&s->p[k]));
}

static tacit_halo_array array_of(const part *p, int k)
{
    tacit_halo_array a = {.size = sizeof a,
                          .type = types[k],
                          .components = components[k],
                          .pitch = p->about.pitch,
                          .plane = p->about.plane};
    memcpy(a.ghost, p->ghost, sizeof a.ghost);
    return a;
}

static _Thread_local tacit_trigger_comm *comm;
static _Thread_local int used; /* arrays of an exchange */

static tacit_halo_arrays *open_arrays(tacit_queue *q, const several *s,
                                      const char *back_end)
{
    tacit_halo_array all[ARRAYS];
    tacit_halo_arrays *a = NULL;
    const bool triggered =
        back_end && (back_end[0] == 's' || back_end[0] == 'r');
    for (int k = 0; k < ARRAYS; k++) all[k] = array_of(&s->p[k], k);
    if (triggered)
        OK(tacit_trigger_halo_create(comm, q, &s->p[0].about, used, all,
                                     back_end, &a));
    else
        OK(tacit_halo_arrays_create(q, &s->p[0].about, used, all, back_end,
                                    &a));
    if (back_end) assert_string_equal(tacit_halo_arrays_back_end(a), back_end);
    return a;
}

/* --- gathers -------------------------------------------------------------- */

static void gather_all(tacit_queue *q, int seed, const char *back_end)
{
    several s = make_several(seed, rank_of());
    used = seed % 3 == 0 ? 1 : ARRAYS;
    tacit_halo_arrays *a = open_arrays(q, &s, back_end);
    for (int round = 0; round < 5; round++) {
        for (int k = 0; k < used; k++)
            each_cell(&s.p[k], s.zero[k], round + 8 * k, number_cell);
        copy_several(&s, true);
        tacit_halo_arrays_gather(a, s.cell);
        OK(q_status(q));
        copy_several(&s, false);
        for (int k = 0; k < used; k++)
            each_cell(&s.p[k], s.zero[k], round + 8 * k, check_cell);
    }
    tacit_halo_arrays_destroy(&a);
    assert_null(a);
    free_several(&s);
}

/* --- scatters ------------------------------------------------------------- */

/* A small whole number that follows from rank, cell and component. */
static int value_of(int rank, const int64_t at[3], int c, int round)
{
    const uint64_t cell =
        (uint64_t)((at[2] + 8) * 4096 + (at[1] + 8) * 64 + at[0] + 8);
    return (int)(tct_mix(cell * 977 + (uint64_t)(rank * 31 + c * 7 + round)) %
                 1000) -
           500;
}

static double read_element(tacit_halo_type type, const char *at, int c)
{
    double d;
    float f;
    int32_t i;
    if (type == TACIT_HALO_F64) return memcpy(&d, at + 8 * c, 8), d;
    if (type == TACIT_HALO_F32) return memcpy(&f, at + 4 * c, 4), (double)f;
    return memcpy(&i, at + 4 * c, 4), (double)i;
}

static void write_element(tacit_halo_type type, char *at, int c, double value)
{
    const float f = (float)value;
    const int32_t i = (int32_t)value;
    if (type == TACIT_HALO_F64) memcpy(at + 8 * c, &value, 8);
    else if (type == TACIT_HALO_F32) memcpy(at + 4 * c, &f, 4);
    else memcpy(at + 4 * c, &i, 4);
}

static _Thread_local int array_at; /* of each_cell's functions */

static void fill_cell(const part *p, const int64_t at[3], char *cell, int round)
{
    (void)p;
    for (int c = 0; c < components[array_at]; c++)
        write_element(types[array_at], cell, c,
                      value_of(rank_of(), at, c, round));
}

static double reduce(tacit_halo_reduction how, double a, double b)
{
    switch (how) {
    case TACIT_HALO_SUM: return a + b;
    case TACIT_HALO_MIN: return b < a ? b : a;
    case TACIT_HALO_MAX: return b > a ? b : a;
    case TACIT_HALO_REPLACE: return b;
    }
    return 0.0;
}

/* The ghost cell of the neighbour in direction `d` that stands for cell `at`;
 * false: none does. */
static bool ghost_of(const several *s, const part *p, int d,
                     const int64_t at[3], int *rank, int64_t ghost[3])
{
    int step[3], place[3];
    const grid *g = &s->g[array_at];
    int64_t ways = 0;
    for (int k = 0, n = d; k < 3; k++, n /= 3) {
        step[k] = n % 3 - 1;
        place[k] = p->place[k] + step[k];
        ways += step[k] != 0;
    }
    if (ways == 0 || (ways > 1 && g->faces_only)) return false;
    *rank = tct_halo_rank_at(g->blocks, g->periodic, place);
    if (*rank < 0) return false;
    const part other = part_of(g, *rank);
    for (int k = 0; k < 3; k++) {
        ghost[k] = step[k] > 0   ? at[k] - p->n[k]
                   : step[k] < 0 ? at[k] + other.n[k]
                                 : at[k];
        if (step[k] != 0 && g->ghost[k] == 0) return false;
        if (step[k] > 0 && ghost[k] < -other.ghost[k]) return false;
        if (step[k] < 0 && ghost[k] >= other.n[k] + other.ghost[k])
            return false;
    }
    return true;
}

static _Thread_local const several *of_checks;
static _Thread_local tacit_halo_reduction how_now;

static void check_scattered(const part *p, const int64_t at[3], char *cell,
                            int round)
{
    int64_t ghost[3];
    int rank;
    for (int c = 0; c < components[array_at]; c++) {
        double wanted = value_of(rank_of(), at, c, round);
        for (int d = 0; d < TACIT_HALO_DIRECTIONS && is_inside(p, at); d++)
            if (ghost_of(of_checks, p, d, at, &rank, ghost))
                wanted =
                    reduce(how_now, wanted, value_of(rank, ghost, c, round));
        const double is = read_element(types[array_at], cell, c);
        if (is != wanted)
            fail_msg("array %d, cell %d %d %d, component %d: %g, expected %g",
                     array_at, (int)at[0], (int)at[1], (int)at[2], c, is,
                     wanted);
    }
}

static void scatter_all(tacit_queue *q, int seed, const char *back_end)
{
    several s = make_several(seed, rank_of());
    used = seed % 3 == 0 ? 1 : ARRAYS;
    tacit_halo_arrays *a = open_arrays(q, &s, back_end);
    of_checks = &s;
    for (int round = 0; round < 8; round++) {
        how_now = (tacit_halo_reduction)(round % 4);
        for (array_at = 0; array_at < used; array_at++)
            each_cell(&s.p[array_at], s.zero[array_at], round, fill_cell);
        copy_several(&s, true);
        tacit_halo_arrays_scatter(a, how_now, s.cell);
        OK(q_status(q));
        copy_several(&s, false);
        for (array_at = 0; array_at < used; array_at++)
            each_cell(&s.p[array_at], s.zero[array_at], round, check_scattered);
    }
    tacit_halo_arrays_destroy(&a);
    free_several(&s);
}

#endif
