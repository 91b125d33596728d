/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world_threads.c - the set-up plane of threads of one process, each
 * a rank with a world of its own. A step: ranks publish pointers to their data,
 * pass a barrier, read from the others, and pass a barrier again before
 * anything changes. */
#include "comm/world/world.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const void *data;
    const int64_t *bytes;
} published;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_arrived;
    int size, arrived;
    uint64_t barriers;
    int worlds;     /* not yet destroyed */
    published of[]; /* [size] */
} group;

static group *group_of(const tacit_world *w)
{
    return w->state;
}

static void wait_barrier(group *c)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t barrier_number = c->barriers;
    if (++c->arrived == c->size) {
        c->arrived = 0;
        c->barriers++;
        pthread_cond_broadcast(&c->all_arrived);
    }
    while (c->barriers == barrier_number)
        pthread_cond_wait(&c->all_arrived, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* Publish this rank's data until the next barrier. */
static void publish(tacit_world *w, const void *data, const int64_t *bytes)
{
    group *c = group_of(w);
    c->of[w->rank] = (published){data, bytes};
    wait_barrier(c);
}

/* --- set-up plane --------------------------------------------------------- */

enum { PIECE = 64 }; /* elements reduced at once */

/* Reduce elements [from, from + n) in rank order. */
static void reduce_piece(const group *c, tct_type type, tct_reduction op,
                         size_t from, size_t n, int64_t *i, double *f)
{
    for (int r = 0; r < c->size; r++)
        for (size_t k = 0; k < n; k++)
            if (type == TCT_I64) {
                const int64_t v = ((const int64_t *)c->of[r].data)[from + k];
                i[k] = r == 0 ? v : tct_take_i64(op, i[k], v);
            } else {
                const double v = ((const double *)c->of[r].data)[from + k];
                f[k] = r == 0 ? v : tct_take_f64(op, f[k], v);
            }
}

static tacit_status threads_reduce(tacit_world *w, tct_type type,
                                   tct_reduction op, size_t count, void *data)
{
    group *c = group_of(w);
    int64_t i[PIECE];
    double f[PIECE];
    publish(w, data, NULL);
    for (size_t from = 0; from < count; from += PIECE) {
        const size_t n = count - from < PIECE ? count - from : PIECE;
        reduce_piece(c, type, op, from, n, i, f);
        wait_barrier(c);
        if (type == TCT_I64) memcpy((int64_t *)data + from, i, n * sizeof *i);
        else memcpy((double *)data + from, f, n * sizeof *f);
    }
    return TACIT_OK;
}

static tacit_status threads_bcast(tacit_world *w, int root, size_t bytes,
                                  void *data)
{
    publish(w, data, NULL);
    if (w->rank != root && bytes > 0)
        memcpy(data, group_of(w)->of[root].data, bytes);
    wait_barrier(group_of(w));
    return TACIT_OK;
}

static tacit_status threads_allgather(tacit_world *w, size_t bytes,
                                      const void *mine, void *all)
{
    publish(w, mine, NULL);
    for (int r = 0; r < w->size && bytes > 0; r++)
        memcpy((char *)all + (size_t)r * bytes, group_of(w)->of[r].data, bytes);
    wait_barrier(group_of(w));
    return TACIT_OK;
}

static tacit_status threads_alltoallv(tacit_world *w, const int64_t *send_bytes,
                                      const void *send,
                                      const int64_t *recv_bytes, void *recv)
{
    char *to = recv;
    publish(w, send, send_bytes);
    for (int r = 0; r < w->size; r++) {
        const published *s = &group_of(w)->of[r];
        const char *from = s->data;
        if (recv_bytes[r] == 0) continue;
        for (int k = 0; k < w->rank; k++) from += s->bytes[k];
        memcpy(to, from, (size_t)recv_bytes[r]);
        to += recv_bytes[r];
    }
    wait_barrier(group_of(w));
    return TACIT_OK;
}

static void threads_abort(tacit_world *w, int exit_code)
{
    (void)w;
    _exit(exit_code);
}

/* --- worlds --------------------------------------------------------------- */

static group *group_new(int size)
{
    group *c = tct_calloc(sizeof *c + (size_t)size * sizeof(published));
    if (!c) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->all_arrived, NULL);
    c->size = size;
    c->worlds = size;
    return c;
}

/* Drop `worlds` of the group's worlds; the last one frees it. */
static void group_leave(group *c, int worlds)
{
    pthread_mutex_lock(&c->lock);
    const int left = c->worlds -= worlds;
    pthread_mutex_unlock(&c->lock);
    if (left > 0) return;
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->all_arrived);
    tct_free(c);
}

static void threads_destroy(tacit_world *w)
{
    group_leave(group_of(w), 1);
}

static tacit_status threads_split(tacit_world *w, int colour,
                                  tacit_world **out);

static const tct_world_ops threads_ops = {
    TCT_WORLD_OPS(threads),
    .one_process = true,
};

static tacit_status world_of(group *c, int rank, tacit_world **out)
{
    const tacit_status status = tct_world_new(
        &threads_ops, c, rank, c->size, (const int[]){rank, c->size}, out);
    if (status < 0) group_leave(c, 1);
    return status;
}

/* The lowest rank of each colour makes the group. */
static tacit_status threads_split(tacit_world *w, int colour, tacit_world **out)
{
    group *all = group_of(w), *mine = NULL;
    int first = -1, size = 0, rank = 0;
    publish(w, &colour, NULL);
    for (int r = 0; r < w->size; r++) {
        if (*(const int *)all->of[r].data != colour) continue;
        if (first < 0) first = r;
        rank += r < w->rank;
        size++;
    }
    wait_barrier(all);
    if (first == w->rank && colour >= 0) mine = group_new(size);
    publish(w, mine, NULL);
    if (colour >= 0) mine = (group *)(uintptr_t)all->of[first].data;
    wait_barrier(all);
    if (colour < 0) return TACIT_OK;
    if (!mine) FAIL(TACIT_NO_MEMORY, "no memory for a world");
    return world_of(mine, rank, out);
}

tacit_status tacit_world_threads(int size, tacit_world **worlds)
{
    REQUIRE(worlds != NULL);
    if (size < 1)
        FAIL(TACIT_INVALID, "tacit_world_threads: %d ranks: expected 1 or more",
             size);
    group *c = group_new(size);
    if (!c) FAIL(TACIT_NO_MEMORY, "no memory for a world");
    for (int r = 0; r < size; r++) {
        const tacit_status status = world_of(c, r, &worlds[r]);
        if (status >= 0) continue;
        if (size - r > 1) group_leave(c, size - r - 1);
        while (r-- > 0) tacit_world_destroy(&worlds[r]);
        return status;
    }
    return TACIT_OK;
}
