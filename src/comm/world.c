/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world.c - what all transports share: agreement, and queues. */
#include "comm/world.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tacit_status tct_world_new(const tct_comm_ops *ops, void *state, int rank,
                           int size, int local_size, tacit_world **out)
{
    tacit_world *w = NULL;
    TRY(TCT_ALLOC(1, "a world", &w));
    *w = (tacit_world){.ops = ops,
                       .state = state,
                       .rank = rank,
                       .size = size,
                       .local_size = local_size};
    *out = w;
    return TACIT_OK;
}

int tacit_world_rank(const tacit_world *world)
{
    return world->rank;
}

int tacit_world_size(const tacit_world *world)
{
    return world->size;
}

const tacit_link *tacit_link_at(int i)
{
    static const tacit_link links[] = {
        {"self", "one process", NULL},
        {"mpi", "the CPU starts every message, through MPI",
         TCT_HAVE_MPI ? NULL : "not in this build: configured without MPI"}};
    return i >= 0 && i < (int)(sizeof links / sizeof *links) ? &links[i] : NULL;
}

const char *tacit_world_comm(const tacit_world *world)
{
    return world->ops->name;
}

void tacit_world_abort(tacit_world *world, int exit_code)
{
    if (world) world->ops->abort(world, exit_code);
    _exit(exit_code);
}

void tacit_world_destroy(tacit_world **world)
{
    if (!world || !*world) return;
    (*world)->ops->destroy(*world);
    tct_free(*world);
    *world = NULL;
}

/* The worst is the least error, or else the largest outcome. */
tacit_status tct_agree(tacit_world *w, tacit_status mine)
{
    if (w->size == 1) return mine;
    int64_t worst[2] = {mine, -(int64_t)mine}; /* of their minima */
    TRY(tct_reduce_i64(w, TCT_MIN, 2, worst));
    const tacit_status status =
        (tacit_status)(worst[0] < 0 ? worst[0] : -worst[1]);
    if (status >= 0) return status;
    int64_t first = mine == status ? w->rank : w->size;
    TRY(tct_reduce_i64(w, TCT_MIN, 1, &first));
    char text[1024] = "";
    strncpy(text, tacit_error_message(), sizeof text - 1);
    TRY(tct_bcast(w, (int)first, sizeof text, text));
    tct_set_error_message(text);
    return status;
}

tacit_status tacit_world_agree(tacit_world *world, tacit_status mine)
{
    REQUIRE(world != NULL);
    return tct_agree(world, mine);
}

tacit_status tacit_world_reduce(tacit_world *world, tacit_reduction reduction,
                                size_t count, double *values)
{
    static const tct_reduction known[] = {
        [TACIT_SUM] = TCT_SUM, [TACIT_MIN] = TCT_MIN, [TACIT_MAX] = TCT_MAX};
    const size_t r = (size_t)reduction;
    REQUIRE(world != NULL && (count == 0 || values != NULL));
    REQUIRE(r < sizeof known / sizeof *known);
    return tct_reduce_f64(world, known[r], count, values);
}

/* --- queues --------------------------------------------------------------- */

/* Processors that this process may use. */
static int processors(void)
{
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* more than a set can hold */
}

static int default_threads(const tacit_world *w)
{
    const char *wish = getenv("OMP_NUM_THREADS"); /* may be a list: its first */
    const long wished = wish ? strtol(wish, NULL, 10) : 0;
    const int all = processors(), share = all / w->local_size;
    const long threads = wished > 0 ? wished : share > 1 ? share : 1;
    const int most = threads < TCT_TEAM_MOST ? (int)threads : TCT_TEAM_MOST;
    if (wished > 0)
        tct_log(TCT_DETAIL, "rank %d  threads %d: OMP_NUM_THREADS", w->rank,
                most);
    else
        tct_log(TCT_DETAIL,
                "rank %d  threads %d: %d processors may be used here, by %d "
                "processes",
                w->rank, most, all, w->local_size);
    return most;
}

tacit_status tacit_queue_create(tacit_world *world, const char *spec,
                                int threads, tacit_queue **out)
{
    REQUIRE(world != NULL && out != NULL && threads >= 0);
    tacit_queue *q = NULL;
    tacit_status status =
        tct_queue_new(world, &world->ops->link, world->rank, world->size, spec,
                      threads > 0 ? threads : default_threads(world), &q);
    if (status >= 0 && world->ops->link_state_bytes) {
        q->link_state = tct_calloc(world->ops->link_state_bytes);
        if (!q->link_state)
            status = tct_fail(TACIT_NO_MEMORY, "no memory for a queue");
    }
    status = tct_agree(world, status);
    if (status < 0) tacit_queue_destroy(&q);
    else *out = q;
    return status;
}
