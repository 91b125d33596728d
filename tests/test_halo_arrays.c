/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_halo_arrays.c - halos of several arrays, by each back end, over
 * random grids: gathers bring the neighbours' cells, scatters reduce as a serial
 * loop over all blocks does. What cannot be is refused.
 *
 * RUN: np=1,2,3,4
 * THREADS: 1,2,3,4
 * PROCESSES: 2,4 */
#include "halo_arrays.h"

static char *memory_take(size_t bytes)
{
    return calloc(1, bytes);
}

static void memory_give(char *p)
{
    free(p);
}

static void memory_copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
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
    tacit_halo_arrays_scatter(a, TACIT_HALO_SUM, s.cell);
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
