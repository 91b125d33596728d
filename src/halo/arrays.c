/* SPDX-License-Identifier: BSD-3-Clause
 * halo/arrays.c - exchanges of several arrays: made, enqueued, freed. */
#include "halo/arrays.h"
#include <stdio.h>

/* --- checks --------------------------------------------------------------- */

static tacit_status check_count(const tacit_halo_block *block, int count,
                                const tacit_halo_array *arrays)
{
    if (!block || !arrays || count < 1 || count > TACIT_HALO_ARRAYS_MOST)
        FAIL(TACIT_INVALID,
             "halo: %d arrays: expected 1 to %d, and their block", count,
             TACIT_HALO_ARRAYS_MOST);
    return TACIT_OK;
}

static tacit_status read_array(const tacit_halo_array *from, int number,
                               tacit_halo_array *out)
{
    TRY(tct_read_sized("tacit_halo_array", from, out, sizeof *out));
    if ((int)out->type < 0 || out->type > TACIT_HALO_F64 || out->components < 1)
        FAIL(TACIT_INVALID,
             "halo: array %d of type %d with %d components: expected a "
             "tacit_halo_type, and at least 1",
             number, (int)out->type, out->components);
    return TACIT_OK;
}

static tacit_status describe_one(tacit_halo_arrays *a,
                                 const tacit_halo_block *block, int k,
                                 const tacit_halo_array *array)
{
    tct_halo_one *one = &a->one[k];
    tacit_halo_array about;
    tacit_halo_block b;
    TRY(tct_read_sized("tacit_halo_block", block, &b, sizeof b));
    TRY(read_array(array, k, &about));
    b.size = sizeof b;
    b.bytes = tct_halo_type_bytes(about.type) * about.components;
    b.pitch = about.pitch;
    b.plane = about.plane;
    memcpy(b.ghost, about.ghost, sizeof b.ghost);
    one->type = about.type;
    a->dimensions = b.dimensions;
    return tct_halo_shape_of(&b, a->q->rank, a->q->ranks, &one->shape);
}

/* Describe the arrays on this rank. */
static tacit_status describe(tacit_halo_arrays *a,
                             const tacit_halo_block *block, int count,
                             const tacit_halo_array *arrays)
{
    if (!a) FAIL(TACIT_NO_MEMORY, "no memory for a halo");
    TRY(check_count(block, count, arrays));
    TRY(TCT_ALLOC(count, "a halo", &a->one));
    memset(a->one, 0, (size_t)count * sizeof *a->one);
    TRY(TCT_ALLOC(a->q->ranks, "a halo", &a->all));
    a->count = count;
    for (int k = 0; k < count; k++) {
        /* later versions may have more members */
        const char *at = (const char *)arrays + (size_t)k * arrays->size;
        TRY(describe_one(a, block, k,
                         (const tacit_halo_array *)(const void *)at));
    }
    return TACIT_OK;
}

/* Properties that must be alike besides shapes. */
typedef struct {
    int count;
    tacit_halo_type type[TACIT_HALO_ARRAYS_MOST];
    char carrier[16];
} alike;

static tacit_status check_alike(const alike *all, int ranks)
{
    for (int r = 1; r < ranks; r++)
        if (memcmp(&all[r], &all[0], sizeof *all) != 0)
            FAIL(TACIT_INVALID,
                 "halo: arrays, their types or the back end of rank 0 and of "
                 "rank %d differ: give the same on all ranks",
                 r);
    return TACIT_OK;
}

static tacit_status agree(tacit_halo_arrays *a)
{
    tacit_world *w = a->q->world;
    alike own = {.count = a->count}, *all = NULL;
    snprintf(own.carrier, sizeof own.carrier, "%s", a->carrier->name);
    for (int k = 0; k < a->count; k++) own.type[k] = a->one[k].type;
    tacit_status status = tct_agree(w, TCT_ALLOC(a->q->ranks, "a halo", &all));
    if (status >= 0) status = tct_allgather(w, sizeof own, &own, all);
    if (status >= 0) status = tct_agree(w, check_alike(all, a->q->ranks));
    tct_free(all);
    for (int k = 0; k < a->count && status >= 0; k++) {
        const tct_halo_shape *s = &a->one[k].shape;
        status = tct_allgather(w, sizeof *s, s, a->all);
        if (status >= 0)
            status = tct_agree(
                w, tct_halo_shapes_check(a->all, a->q->ranks, a->q->rank));
    }
    return status;
}

/* --- messages ------------------------------------------------------------- */

static int64_t aligned(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static void add_message(tacit_halo_arrays *a, tct_halo_one *one, int d)
{
    tacit_halo_message *m = &one->message[d];
    tct_halo_message(&one->shape, d, m);
    if (m->peer < 0) return;
    a->peer[d] = m->peer;
    one->first[d] = a->bytes[d];
    a->bytes[d] += aligned(m->bytes);
}

static void list_messages(tacit_halo_arrays *a)
{
    a->grid = a->one[0].shape;
    for (int d = 0; d < TACIT_HALO_DIRECTIONS; d++) a->peer[d] = -1;
    for (int k = 0; k < a->count; k++) {
        for (int d = 0; d < TACIT_HALO_DIRECTIONS; d++)
            add_message(a, &a->one[k], d);
        for (int d = 0; d < 3; d++)
            if (a->one[k].shape.ghost[d] > 0) a->grid.ghost[d] = 1;
    }
}

int64_t tct_halo_arrays_before(const tacit_halo_arrays *a, int k)
{
    int64_t before = 0;
    for (int d = 0; d < k; d++) before += a->bytes[d];
    return before;
}

/* --- creation ------------------------------------------------------------- */

static const tct_halo_device *device_of(const tacit_queue *q)
{
#if TCT_HAVE_CUDA
    if (q->device->kind == TCT_KIND_GPU) return &tct_halo_gpu;
#endif
    (void)q;
    return &tct_halo_host;
}

static tacit_status build(tacit_halo_arrays *a, void *with)
{
    TRY(agree(a));
    list_messages(a);
    TRY(a->carrier->open(a, with));
    return tct_agree(a->q->world, tct_halo_arrays_list(a));
}

tacit_status tct_halo_arrays_make(tacit_queue *queue,
                                  const tacit_halo_block *block, int count,
                                  const tacit_halo_array *arrays,
                                  const tct_halo_carrier *carrier, void *with,
                                  tacit_halo_arrays **out)
{
    q_enter(queue);
    tacit_halo_arrays *a = tct_calloc(sizeof *a);
    if (a) {
        a->q = queue;
        a->device = device_of(queue);
        a->carrier = carrier;
    }
    tacit_status status =
        tct_agree(queue->world, describe(a, block, count, arrays));
    if (status >= 0) status = build(a, with);
    if (status < 0) tacit_halo_arrays_destroy(&a);
    else *out = a;
    return status;
}

tacit_status tacit_halo_arrays_create(tacit_queue *queue,
                                      const tacit_halo_block *block, int count,
                                      const tacit_halo_array *arrays,
                                      const char *back_end,
                                      tacit_halo_arrays **out)
{
    REQUIRE(queue != NULL, out != NULL);
    const bool fences = back_end && strcmp(back_end, "fences") == 0;
    const bool fused = back_end && strcmp(back_end, "fused") == 0;
    const bool known = !back_end || fences || fused;
    if (!known)
        tacit_error_set(TACIT_INVALID,
                        "halo: unknown back end '%s': fences or fused, and "
                        "tacit_trigger_halo_create has send and ready",
                        back_end);
    TRY(tct_agree(queue->world, known ? TACIT_OK : TACIT_INVALID));
    if (!fences) {
        const tacit_status status = tct_halo_arrays_make(
            queue, block, count, arrays, &tct_halo_fused, NULL, out);
        if (fused || status != TACIT_UNSUPPORTED) return status;
    }
    return tct_halo_arrays_make(queue, block, count, arrays, &tct_halo_fences,
                                NULL, out);
}

void tacit_halo_arrays_destroy(tacit_halo_arrays **arrays)
{
    if (!arrays || !*arrays) return;
    tacit_halo_arrays *a = *arrays;
    q_enter(a->q);
    (void)q_status(a->q); /* what is enqueued needs the lists */
    if (a->state) a->carrier->close(a);
    tct_halo_arrays_forget(a);
    TCT_FREE(a->one, a->all, a);
    *arrays = NULL;
}

const char *tacit_halo_arrays_back_end(const tacit_halo_arrays *arrays)
{
    return arrays ? arrays->carrier->name : "";
}

/* --- exchanges ------------------------------------------------------------ */

/* In a failed queue nothing is read or written; messages still go out. */
static tacit_status pack(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const tct_arrays_turn *t = ctx;
    const tct_halo_one *one = &t->arrays->one[t->array];
    const tct_halo_copies *list = &one->list[t->slot][t->way][TCT_PACKS];
    (void)y;
    if (!x || list->count == 0 || q->failed != TACIT_OK) return TACIT_OK;
    return t->arrays->device->copy(q, list, (uintptr_t)x, 0);
}

static tacit_status unpack(void *ctx, tacit_queue *q, const double *x,
                           double *y)
{
    const tct_arrays_turn *t = ctx;
    const tct_halo_one *one = &t->arrays->one[t->array];
    const tct_halo_copies *list = &one->list[t->slot][t->way][TCT_UNPACKS];
    const tct_halo_device *device = t->arrays->device;
    (void)x;
    if (!y || list->count == 0 || q->failed != TACIT_OK) return TACIT_OK;
    if (t->way == TCT_INTO_GHOSTS)
        return device->copy(q, list, 0, (uintptr_t)y);
    return device->combine(q, list, 0, (uintptr_t)y, t->element);
}

/* Ghosts do not overlap, so that the same kernel may unpack them; reductions of
 * a border are in order. In a failed queue there is no cell. */
static tacit_status swap(void *ctx, tacit_queue *q, const double *x, double *y)
{
    const tct_arrays_turn *t = ctx;
    tacit_halo_arrays *a = t->arrays;
    const tct_halo_copies *list = &a->one->list[t->slot][t->way][TCT_PACKS];
    const tct_halo_copies *into =
        t->way == TCT_INTO_GHOSTS ? &a->one->list[t->slot][t->way][TCT_UNPACKS]
                                  : NULL;
    const bool may = x && q->failed == TACIT_OK;
    (void)y;
    return a->carrier->swap(a, list, may ? (uintptr_t)x : 0, into);
}

static bool swaps(const tacit_halo_arrays *a)
{
    return a->carrier->swap && a->count == 1;
}

static tct_arrays_turn *turn_of(tacit_halo_arrays *a, int k, int slot, int way,
                                tacit_halo_reduction reduction)
{
    tct_halo_one *one = &a->one[k];
    tct_arrays_turn *t = &one->turn[slot][way][reduction];
    *t = (tct_arrays_turn){a, k, slot, way, {one->type, reduction}};
    return t;
}

/* Is there a cell of each array, at an address of its type? */
static bool require_cells(tacit_halo_arrays *a, void *const *cell)
{
    for (int k = 0; k < a->count; k++) {
        const uintptr_t unit = (uintptr_t)tct_halo_type_bytes(a->one[k].type);
        if (cell && cell[k] && (uintptr_t)cell[k] % unit == 0) continue;
        q_fail(a->q, TACIT_INVALID,
               "halo: array %d: expected the address of its cell (0, 0, 0), a "
               "multiple of %d",
               k, (int)unit);
        return false;
    }
    return true;
}

/* Pack, and bring the messages. */
static void send_all(tacit_halo_arrays *a, int slot, int way,
                     tacit_halo_reduction reduction, void *const *cell)
{
    if (swaps(a)) {
        void *at = cell ? cell[0] : NULL;
        a->carrier->count(a, slot);
        q_call(a->q, swap, turn_of(a, 0, slot, way, reduction), at, at);
        return;
    }
    a->carrier->ready(a, slot);
    for (int k = 0; k < a->count; k++)
        q_call(a->q, pack, turn_of(a, k, slot, way, reduction),
               cell ? cell[k] : NULL, NULL);
    a->carrier->start(a, slot);
    a->carrier->finish(a, slot);
}

static void exchange(tacit_halo_arrays *a, int way,
                     tacit_halo_reduction reduction, void *const *cell)
{
    const bool good = require_cells(a, cell);
    const int slot = (int)(++a->number % 2);
    send_all(a, slot, way, reduction, good ? cell : NULL);
    const bool unpacked = swaps(a) && way == TCT_INTO_GHOSTS;
    for (int k = 0; k < a->count && !unpacked; k++)
        q_call(a->q, unpack, turn_of(a, k, slot, way, reduction), NULL,
               good ? cell[k] : NULL);
    tct_start_messages(a->q);
    if (a->q->device->flush) a->q->device->flush(a->q);
}

void tacit_halo_arrays_gather(tacit_halo_arrays *arrays, void *const *cell)
{
    if (!arrays) return;
    q_enter(arrays->q);
    exchange(arrays, TCT_INTO_GHOSTS, TACIT_HALO_REPLACE, cell);
}

/* Other ranks wait for messages where a reduction cannot be. */
static bool check_reduction(tacit_halo_arrays *a,
                            tacit_halo_reduction reduction)
{
    const bool known = (int)reduction >= 0 && (int)reduction < TCT_REDUCTIONS;
    bool bytes = false;
    for (int k = 0; k < a->count; k++)
        bytes |= a->one[k].type == TACIT_HALO_BYTE;
    if (known && (!bytes || reduction == TACIT_HALO_REPLACE)) return true;
    q_fail(a->q, TACIT_INVALID,
           "halo: reduction %d of %s: expected a tacit_halo_reduction, REPLACE "
           "where elements are of BYTE",
           (int)reduction, bytes ? "bytes" : "arrays");
    return false;
}

void tacit_halo_arrays_scatter(tacit_halo_arrays *arrays,
                               tacit_halo_reduction reduction,
                               void *const *cell)
{
    if (!arrays) return;
    q_enter(arrays->q);
    const bool good = check_reduction(arrays, reduction);
    exchange(arrays, TCT_FROM_GHOSTS, good ? reduction : TACIT_HALO_REPLACE,
             cell);
}
