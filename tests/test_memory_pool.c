/* SPDX-License-Identifier: BSD-3-Clause
 * tests/test_memory_pool.c - the memory pool of set-up: pieces never overlap in
 * any order of requests, few slabs are allocated, all are freed after the last
 * use, and requests fail without memory. */
#include "device/memory_pool.h"
#include "mpi_main.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB = 1 << 16 };

/* What slabs are made of here. */
static int held, asked;
static size_t most;

static void *take(size_t bytes)
{
    void *p =
        bytes <= most ? aligned_alloc(4096, (bytes + 4095) & ~4095u) : NULL;
    asked++;
    held += p != NULL;
    return p;
}

static void give(void *p)
{
    assert_non_null(p);
    held--;
    free(p);
}

static const tct_memory_pool_source source = {take, give};

static tct_memory_pool *open_memory_pool(void)
{
    most = SIZE_MAX / 2;
    asked = 0;
    assert_int_equal(held, 0);
    tct_memory_pool *r = tct_memory_pool_open(source, SLAB);
    assert_non_null(r);
    return r;
}

/* --- pieces --------------------------------------------------------------- */

enum { HELD = 60 };
typedef struct {
    unsigned char *at;
    size_t bytes;
    unsigned char mark;
} held_piece;

static void check_marks(const held_piece *p)
{
    for (size_t k = 0; k < p->bytes; k++)
        if (p->at[k] != p->mark)
            fail_msg("byte %zu of a piece of %zu has changed", k, p->bytes);
}

/* All that is in use keeps what is written into it; sizes are small, half a
 * slab, and several slabs. */
static void pieces_do_not_overlap(void **state)
{
    (void)state;
    tct_memory_pool *r = open_memory_pool();
    held_piece all[HELD] = {{NULL, 0, 0}};
    uint64_t seed = 5;
    for (int i = 0; i < 4000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        held_piece *p = &all[(seed >> 33) % HELD];
        if (p->at) {
            check_marks(p);
            assert_true(tct_memory_pool_give(p->at));
            p->at = NULL;
            continue;
        }
        static const size_t largest[] = {64, 5000, SLAB / 2 + 700, 3 * SLAB};
        p->bytes = 1 + (seed >> 20) % largest[(seed >> 50) % 4];
        p->at = tct_memory_pool_take(r, p->bytes);
        p->mark = (unsigned char)i;
        assert_non_null(p->at);
        assert_int_equal((uintptr_t)p->at % 512, 0);
        memset(p->at, p->mark, p->bytes);
    }
    tct_memory_pool_close(r);
    for (int i = 0; i < HELD; i++) {
        if (!all[i].at) continue;
        check_marks(&all[i]);
        assert_true(tct_memory_pool_give(all[i].at));
    }
    assert_int_equal(held, 0);
}

/* What was given back is taken again, and no slab is asked for. */
static void pieces_are_taken_again(void **state)
{
    (void)state;
    tct_memory_pool *r = open_memory_pool();
    for (int i = 0; i < 500; i++) {
        void *a = tct_memory_pool_take(r, 20000),
             *b = tct_memory_pool_take(r, 30000);
        void *c = tct_memory_pool_take(r, 5 * SLAB - (size_t)i);
        assert_true(tct_memory_pool_give(i % 2 ? a : b));
        assert_true(tct_memory_pool_give(i % 2 ? b : a));
        assert_true(tct_memory_pool_give(c));
    }
    assert_int_equal(asked, 2);
    tct_memory_pool_close(r);
    assert_int_equal(held, 0);
}

/* A small piece does not keep what a large one had. */
static void large_pieces_are_not_shared(void **state)
{
    (void)state;
    tct_memory_pool *r = open_memory_pool();
    void *large = tct_memory_pool_take(r, 100 * SLAB);
    assert_true(tct_memory_pool_give(large));
    void *small = tct_memory_pool_take(r, 100);
    void *less = tct_memory_pool_take(r, 10 * SLAB);
    assert_int_equal(held, 3);
    assert_true(tct_memory_pool_give(less));
    tct_memory_pool_close(r);
    assert_int_equal(held, 1);
    assert_true(tct_memory_pool_give(small));
    assert_int_equal(held, 0);
}

/* --- what is of none ------------------------------------------------------ */

static void others_are_left_alone(void **state)
{
    (void)state;
    int mine = 0;
    tct_memory_pool *r = open_memory_pool(),
                    *other = tct_memory_pool_open(source, SLAB);
    void *p = tct_memory_pool_take(r, 100),
         *q = tct_memory_pool_take(other, 100);
    assert_false(tct_memory_pool_give(&mine));
    tct_memory_pool_close(other);
    assert_int_equal(held, 2);
    assert_true(tct_memory_pool_give(q));
    assert_int_equal(held, 1);
    assert_false(tct_memory_pool_give(q));
    assert_true(tct_memory_pool_give(p));
    assert_int_equal(held, 1); /* it is open */
    tct_memory_pool_close(r);
    assert_int_equal(held, 0);
    tct_memory_pool_close(NULL);
}

/* What is kept goes back before memory is refused. */
static void no_memory_is_said(void **state)
{
    (void)state;
    tct_memory_pool *r = open_memory_pool();
    void *p = tct_memory_pool_take(r, SLAB);
    assert_true(tct_memory_pool_give(p));
    most = 1024; /* no slab, but a piece */
    p = tct_memory_pool_take(r, 900);
    assert_non_null(p);
    assert_int_equal(held, 1);
    assert_null(tct_memory_pool_take(r, 2000));
    assert_true(tct_memory_pool_give(p));
    tct_memory_pool_close(r);
    assert_int_equal(held, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(pieces_are_taken_again),
        cmocka_unit_test(large_pieces_are_not_shared),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(no_memory_is_said),
    };
    TEST_MPI_MAIN(tests);
}
