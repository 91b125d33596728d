/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/memcheck.c - a strict device on any machine. Its memory is
 * poisoned with NaN and protected from the host between synchronisations;
 * operations run only at the next synchronisation; the ghosts of an exchange
 * are poisoned until it ends. So a missing copy, wait or initial value fails
 * without a GPU. */
#include "device/decorators.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LATE_MOST = 4096 };

typedef struct region {
    struct region *next;
    void *data;
    size_t bytes; /* whole pages */
} region;

typedef struct {
    region *regions;
    size_t late;
    bool running; /* submissions run at once */
    tct_op ops[LATE_MOST];
} memcheck_state;

static void protect(memcheck_state *s, int how)
{
    for (region *r = s->regions; r; r = r->next)
        mprotect(r->data, r->bytes, how);
}

/* All bits set is NaN, in doubles and in floats. */
static void poison(void *x, size_t bytes)
{
    memset(x, 0xff, bytes);
}

static void pass_on(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    if (op->code == TCT_EXCHANGE_BEGIN)
        poison(op->exchange->ghost,
               (size_t)(op->x.columns * op->exchange->ghosts) *
                   tct_element_bytes(op->element));
    tct_below_submit(self, q, op);
}

static void run_late(tct_layer *self, tacit_queue *q)
{
    memcheck_state *s = self->state;
    if (s->late == 0 || s->running) return;
    s->running = true;
    protect(s, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < s->late; i++) pass_on(self, q, &s->ops[i]);
    s->late = 0;
    s->running = false;
    tct_below_sync(self, q);
    protect(s, PROT_NONE);
}

static tacit_status memcheck_open(tct_layer *self, tacit_queue *q,
                                  const char *argument)
{
    (void)argument;
    if (q->device != &tct_device_host)
        FAIL(TACIT_UNSUPPORTED, "memcheck: only before host, not %s",
             q->device->name);
    for (const tct_layer *l = self->below; l; l = l->below)
        if (l->ops == &tct_layer_late) /* its thread would use protected
                                        * memory */
            FAIL(TACIT_UNSUPPORTED,
                 "memcheck: behind late, not before it: late:memcheck:host");
    memcheck_state *s = NULL;
    TRY(TCT_ALLOC(1, "memcheck", &s));
    s->regions = NULL;
    s->late = 0;
    s->running = false;
    self->state = s;
    return TACIT_OK;
}

static void memcheck_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    memcheck_state *s = self->state;
    if (s->running) {
        pass_on(self, q, op);
        return;
    }
    if (s->late == LATE_MOST) run_late(self, q);
    s->ops[s->late++] = *op;
}

static void *memcheck_alloc(tct_layer *self, tacit_queue *q, size_t bytes)
{
    (void)q;
    memcheck_state *s = self->state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    region *r = tct_alloc(sizeof *r);
    if (!r) return NULL;
    r->bytes = (bytes + page - 1) / page * page;
    r->data = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->data == MAP_FAILED) {
        tct_free(r);
        return NULL;
    }
    poison(r->data, r->bytes);
    mprotect(r->data, r->bytes, PROT_NONE);
    r->next = s->regions;
    s->regions = r;
    return r->data;
}

static void memcheck_free(tct_layer *self, tacit_queue *q, void *p)
{
    run_late(self, q); /* pending operations may use it */
    memcheck_state *s = self->state;
    for (region **at = &s->regions; *at; at = &(*at)->next) {
        region *r = *at;
        if (r->data != p) continue;
        *at = r->next;
        munmap(r->data, r->bytes);
        tct_free(r);
        return;
    }
}

static void memcheck_close(tct_layer *self, tacit_queue *q)
{
    memcheck_state *s = self->state;
    while (s && s->regions) memcheck_free(self, q, s->regions->data);
    tct_free(s);
}

const tct_layer_ops tct_layer_memcheck = {
    .about =
        {"memcheck",
         "own address space, poisoned memory, execution as late as allowed"},
    .open = memcheck_open,
    .submit = memcheck_submit,
    .sync = run_late,
    .alloc = memcheck_alloc,
    .free = memcheck_free,
    .close = memcheck_close,
};
