/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_halo_arrays.c - halos of several arrays, by each back end, over
 * random grids: gathers bring the neighbours' cells, scatters reduce as a serial
 * loop over all blocks does. What cannot be is refused.
 *
 * RUN: np=1,2,3,4
 * THREADS: 1,2,3,4
 * PROCESSES: 2,4 */
#include "halo/arrays.h"
#include "halo_grid.h"
#include <tacit/triggered.h>

enum { ARRAYS = 3 };

/* Types, and components of a cell. */
static const tacit_halo_type types[ARRAYS] = {TACIT_HALO_F64, TACIT_HALO_I32,
                                              TACIT_HALO_F32};
static const int components[ARRAYS] = {1, 3, 2};

typedef struct {
    grid g[ARRAYS];
    part p[ARRAYS]; /* of a rank */
    char *memory[ARRAYS];
    void *zero[ARRAYS];
} several;

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
        s.memory[k] = calloc(1, (size_t)(s.p[k].before + s.p[k].after) + 64);
        assert_non_null(s.memory[k]);
        s.zero[k] = s.memory[k] + s.p[k].before;
    }
    return s;
}

static void free_several(several *s)
{
    for (int k = 0; k < ARRAYS; k++) free(s->memory[k]);
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

static tacit_halo_arrays *open_arrays(tacit_queue *q, const several *s,
                                      const char *back_end)
{
    tacit_halo_array all[ARRAYS];
    tacit_halo_arrays *a = NULL;
    const bool triggered =
        back_end && (back_end[0] == 's' || back_end[0] == 'r');
    for (int k = 0; k < ARRAYS; k++) all[k] = array_of(&s->p[k], k);
    if (triggered)
        OK(tacit_trigger_halo_create(comm, q, &s->p[0].about, ARRAYS, all,
                                     back_end, &a));
    else
        OK(tacit_halo_arrays_create(q, &s->p[0].about, ARRAYS, all, back_end,
                                    &a));
    if (back_end) assert_string_equal(tacit_halo_arrays_back_end(a), back_end);
    return a;
}

/* --- gathers -------------------------------------------------------------- */

static void gather_all(tacit_queue *q, int seed, const char *back_end)
{
    several s = make_several(seed, rank_of());
    tacit_halo_arrays *a = open_arrays(q, &s, back_end);
    for (int round = 0; round < 5; round++) {
        for (int k = 0; k < ARRAYS; k++)
            each_cell(&s.p[k], s.zero[k], round + 8 * k, number_cell);
        tacit_halo_arrays_gather(a, s.zero);
        OK(q_status(q));
        for (int k = 0; k < ARRAYS; k++)
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
    tacit_halo_arrays *a = open_arrays(q, &s, back_end);
    of_checks = &s;
    for (int round = 0; round < 8; round++) {
        how_now = (tacit_halo_reduction)(round % 4);
        for (array_at = 0; array_at < ARRAYS; array_at++)
            each_cell(&s.p[array_at], s.zero[array_at], round, fill_cell);
        tacit_halo_arrays_scatter(a, how_now, s.zero);
        OK(q_status(q));
        for (array_at = 0; array_at < ARRAYS; array_at++)
            each_cell(&s.p[array_at], s.zero[array_at], round, check_scattered);
    }
    tacit_halo_arrays_destroy(&a);
    free_several(&s);
}

/* --- back ends ------------------------------------------------------------ */

static void each_grid(const char *back_end)
{
    tacit_queue *q = NULL;
    OK(tacit_trigger_comm_create(test_world(), &comm));
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    for (int seed = 0; seed < 12; seed++) {
        gather_all(q, seed, back_end);
        scatter_all(q, seed + 40, back_end);
    }
    tacit_queue_destroy(&q);
    OK(tacit_trigger_comm_free(&comm));
}

static void fences(void **state)
{
    (void)state;
    each_grid("fences");
}

static void fused(void **state)
{
    (void)state;
    each_grid("fused");
}

static void sends(void **state)
{
    (void)state;
    each_grid("send");
}

static void ready_sends(void **state)
{
    (void)state;
    each_grid("ready");
}

static void it_chooses(void **state)
{
    (void)state;
    each_grid(NULL);
}

/* --- refusals ------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    tacit_queue *q = NULL;
    tacit_halo_arrays *a = NULL;
    several s = make_several(3, rank_of());
    const tacit_halo_block *b = &s.p[0].about;
    tacit_halo_array one = array_of(&s.p[0], 0);
    OK(tacit_queue_create(test_world(), "host", 1, &q));
    REFUSES(TACIT_INVALID, "0 arrays",
            tacit_halo_arrays_create(q, b, 0, &one, NULL, &a));
    REFUSES(TACIT_INVALID, "unknown back end 'mpi'",
            tacit_halo_arrays_create(q, b, 1, &one, "mpi", &a));
    one.components = 0;
    REFUSES(TACIT_INVALID, "0 components",
            tacit_halo_arrays_create(q, b, 1, &one, NULL, &a));
    one.components = 1;
    one.type = rank_of() == 1 ? TACIT_HALO_I64 : TACIT_HALO_F64;
    if (size_of() > 1)
        REFUSES(TACIT_INVALID, "differ",
                tacit_halo_arrays_create(q, b, 1, &one, NULL, &a));
    one = array_of(&s.p[0], 0);
    one.type = TACIT_HALO_BYTE;
    one.components = 8;
    OK(tacit_halo_arrays_create(q, b, 1, &one, NULL, &a));
    tacit_halo_arrays_scatter(a, TACIT_HALO_SUM, s.zero);
    REFUSES(TACIT_INVALID, "REPLACE", q_status(q));
    tacit_halo_arrays_destroy(&a);
    tacit_queue_destroy(&q);
    free_several(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences),
        cmocka_unit_test(fused),
        cmocka_unit_test(sends),
        cmocka_unit_test(ready_sends),
        cmocka_unit_test(it_chooses),
        cmocka_unit_test(what_cannot_be_is_refused)};
    TEST_MPI_MAIN(tests);
}
