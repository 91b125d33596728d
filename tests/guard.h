/* SPDX-License-Identifier: BSD-3-Clause
 * tests/guard.h - vectors of a queue on the host that only its operations
 * reach, as those of a GPU: any other access ends the test. */
#ifndef TESTS_GUARD_H
#define TESTS_GUARD_H
#include "device/queue.h"
#include "mpi_main.h"
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_BYTES = 1 << 22 };

/* Memory of one queue a rank at a time; none is given back before its end. */
typedef struct {
    char *at;
    size_t used;
} guard;

static _Thread_local guard guard_here;

static inline void guard_submit(tct_layer *self, tacit_queue *q,
                                const tct_op *op)
{
    mprotect(guard_here.at, GUARD_BYTES, PROT_READ | PROT_WRITE);
    tct_below_submit(self, q, op);
    mprotect(guard_here.at, GUARD_BYTES, PROT_NONE);
}

static inline void *guard_alloc(tct_layer *self, tacit_queue *q, size_t bytes)
{
    (void)self;
    (void)q;
    void *p = guard_here.at + guard_here.used;
    guard_here.used += (bytes + 63) / 64 * 64;
    return guard_here.used <= GUARD_BYTES ? p : NULL;
}

static inline void guard_free(tct_layer *self, tacit_queue *q, void *p)
{
    (void)self;
    (void)q;
    (void)p;
}

static inline void guard_close(tct_layer *self, tacit_queue *q)
{
    (void)self;
    (void)q;
    munmap(guard_here.at, GUARD_BYTES);
}

static const tct_layer_ops guard_layer = {.about = {.name = "guard"},
                                          .submit = guard_submit,
                                          .alloc = guard_alloc,
                                          .free = guard_free,
                                          .close = guard_close};

/* Before anything is allocated from `q`. */
static inline void open_guard(tacit_queue *q)
{
    tct_layer *layer = NULL;
    guard_here.used = 0;
    guard_here.at =
        mmap(NULL, GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(guard_here.at != MAP_FAILED);
    assert_int_equal(TCT_ALLOC(1, "a guard", &layer), TACIT_OK);
    *layer = (tct_layer){.ops = &guard_layer, .below = q->top};
    q->top = layer;
}

#endif
