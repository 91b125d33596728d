/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_host_past.c - rows of grids in each instruction set of this
 * machine, in the caches and past them: the bits of plain loops, any length
 * and alignment, rows that follow each other and others, and no cell beside
 * them. */
#include "device/isa.h"
#include "gpu.h"
#include "operator/stencil/host_rows.h"

enum { MOST = 150, PITCH = 192, ROWS = 3, EDGE = 32 };

typedef struct grids {
    double in[TCT_STENCIL_ROWS][EDGE + (ROWS + 2) * PITCH];
    _Alignas(64) double wanted[EDGE + ROWS * PITCH];
    _Alignas(64) double got[EDGE + ROWS * PITCH];
} grids;

static void fill(grids *g, bool single)
{
    for (int k = 0; k < TCT_STENCIL_ROWS; k++)
        for (int i = 0; i < EDGE + (ROWS + 2) * PITCH; i++) {
            const double v = tct_uniform((uint64_t)k, (uint64_t)i) - 0.5;
            if (single) ((float *)(void *)g->in[k])[i] = (float)v;
            else g->in[k][i] = v;
        }
}

/* The rows of `in` one after another, or all of one line of planes, as a tile
 * has them. */
static void set_inputs(const grids *g, size_t bytes, int off, bool follow,
                       tct_row_inputs *r)
{
    for (int k = 0; k < TCT_STENCIL_ROWS; k++) {
        const int plane = follow ? k / 3 : k, row = follow ? k % 3 : 0;
        r->in[k] = (const char *)g->in[plane] +
                   (size_t)(1 + off + row * PITCH) * bytes;
        r->pitch[k] = PITCH;
    }
}

static void run(grids *g, tct_row_fn fn, const tct_row_inputs *r, double *to,
                size_t bytes, int off, int count)
{
    memset(to, 77, sizeof g->wanted);
    fn(r, (char *)to + (size_t)off * bytes, PITCH, ROWS, count);
    tct_host_stream_best()->fence();
}

/* `count` cells of some rows, of which the first is at cell `off`. */
static void compare(grids *g, const tct_host_rows *rows, int shape, int weights,
                    size_t bytes, int off, int count)
{
    const tct_host_rows *plain =
        bytes == 4 ? &tct_rows_float_base : &tct_rows_double_base;
    tct_row_inputs r = {.centre = -0.3, .neighbours = 0.4};
    set_inputs(g, bytes, off, count % 2 == 0, &r);
    run(g, plain->step[shape][weights], &r, g->wanted, bytes, off, count);
    run(g, rows->step[shape][weights], &r, g->got, bytes, off, count);
    assert_memory_equal(g->got, g->wanted, sizeof g->got);
    r.ahead = 512;
    run(g, rows->past[shape][weights], &r, g->got, bytes, off, count);
    assert_memory_equal(g->got, g->wanted, sizeof g->got);
}

static void of_type(grids *g, bool single)
{
    const tct_grid_stencil s = {.single = single};
    const tct_host_rows *rows = tct_host_rows_of(&s);
    fill(g, single);
    for (int shape = 0; shape < TCT_SHAPE_COUNT; shape++) {
        assert_null(rows->past[shape][TACIT_WEIGHTS_CELLS]);
        for (int weights = 0; weights < 2; weights++)
            for (int k = 0; k < 300; k++)
                compare(g, rows, shape, weights, single ? 4 : 8,
                        (int)(tct_mix((uint64_t)k) % (EDGE - 2)),
                        (int)(tct_mix((uint64_t)k + 999) % MOST));
    }
}

static void rows_have_the_bits_of_plain_loops(void **state)
{
    static const char *const isas[] = {"base", "avx2", "avx512"};
    grids *g = (grids *)aligned_alloc(64, sizeof *g);
    (void)state;
    assert_non_null(g);
    for (int k = 0; k < 3; k++) {
        setenv("TACIT_ISA", isas[k], 1);
        of_type(g, false);
        of_type(g, true);
    }
    unsetenv("TACIT_ISA");
    free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_bits_of_plain_loops),
    };
    TEST_MPI_MAIN(tests);
}
