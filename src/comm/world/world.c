/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world.c - the part that all kinds of worlds share. */
#include "comm/world/world.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tacit_status tct_world_new(const tct_world_ops *ops, void *state, int rank,
                           int size, const int local[2], tacit_world **out)
{
    tacit_world *w = NULL;
    TRY(TCT_ALLOC(1, "a world", &w));
    *w = (tacit_world){.ops = ops,
                       .state = state,
                       .rank = rank,
                       .size = size,
                       .oversubscribe = getenv("TACIT_OVERSUBSCRIBE") != NULL,
                       .place = local[0],
                       .local_size = local[1]};
    *out = w;
    return TACIT_OK;
}

int tacit_world_rank(const tacit_world *world)
{
    return world ? world->rank : 0;
}

int tacit_world_size(const tacit_world *world)
{
    return world ? world->size : 0;
}

tacit_status tacit_world_split(tacit_world *world, int colour,
                               tacit_world **out)
{
    REQUIRE(world != NULL, out != NULL);
    TRY(tct_complete(world));
    tacit_world *part = NULL;
    const tacit_status status =
        tct_agree(world, world->ops->split(world, colour, &part));
    if (part) {
        part->threads = world->threads;
        part->place = world->place; /* parts keep different GPUs */
        part->oversubscribe = world->oversubscribe;
    }
    if (status < 0) tacit_world_destroy(&part);
    else if (part) *out = part;
    return status;
}

tacit_status tacit_world_set_threads(tacit_world *world, int threads)
{
    REQUIRE(world != NULL, threads >= 0);
    world->threads = threads;
    return TACIT_OK;
}

int tct_world_threads(const tacit_world *w)
{
    if (w->threads > 0) return w->threads;
    const int64_t wished = tct_threads_wished();
    const int64_t share = tct_processors() / w->local_size;
    const int64_t threads = wished > 0 ? wished : share > 1 ? share : 1;
    return threads < TCT_TEAM_MOST ? (int)threads : TCT_TEAM_MOST;
}

tacit_status tacit_world_set_patience(tacit_world *world, double seconds)
{
    REQUIRE(world != NULL);
    if (!isfinite(seconds))
        FAIL(TACIT_INVALID, "%s: seconds is %g: expected a finite number",
             __func__, seconds);
    tacit_status status = TACIT_OK;
    if (seconds < 0.0) status = tct_read_timeout(&seconds);
    TRY(tct_agree(world, status));
    TRY(tct_reduce_f64(world, TCT_MIN, 1, &seconds));
    world->timeout = seconds;
    return TACIT_OK;
}

tacit_status tacit_world_set_oversubscribe(tacit_world *world, bool allowed)
{
    REQUIRE(world != NULL);
    world->oversubscribe = allowed;
    return TACIT_OK;
}

void tacit_world_abort(tacit_world *world, int exit_code)
{
    if (world) world->ops->abort(world, exit_code);
    _exit(exit_code);
}

void tacit_world_destroy(tacit_world **world)
{
    if (!world || !*world) return;
    if ((*world)->runs > 0) {
        tct_refuse_destroy(__func__, "world");
        return;
    }
    (*world)->ops->destroy(*world);
    tct_free(*world);
    *world = NULL;
}

/* The worst status is the least error, or else the largest outcome. */
tacit_status tct_agree(tacit_world *w, tacit_status mine)
{
    if (w->size == 1) return mine;
    TRY(tct_complete(w));
    int64_t worst[2] = {mine, -(int64_t)mine}; /* for a minimum of each */
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

/* A name as it is sent: a hash, and its text, shortened to its end. */
typedef struct {
    int64_t number; /* equal for equal names, and else with probability 2^-64 */
    char text[400];
} name_digest;

static name_digest digest(const char *name)
{
    enum { MOST = 396 };
    name_digest t = {.number = name != NULL};
    for (const char *p = name; p && *p; p++)
        t.number = (int64_t)tct_mix((uint64_t)t.number ^ (unsigned char)*p);
    const size_t length = name ? strlen(name) : 0;
    if (!name) strcpy(t.text, "not given");
    else if (length + 2 <= MOST) snprintf(t.text, sizeof t.text, "'%s'", name);
    else snprintf(t.text, sizeof t.text, "'...%s'", name + length - (MOST - 5));
    return t;
}

/* Called on all ranks if names differ. */
static tacit_status refuse_names(tacit_world *w, const char *what,
                                 const name_digest *mine)
{
    name_digest root = *mine, other = *mine;
    TRY(tct_bcast(w, 0, sizeof root, &root));
    int64_t rank = mine->number == root.number ? w->size : w->rank;
    TRY(tct_reduce_i64(w, TCT_MIN, 1, &rank));
    TRY(tct_bcast(w, (int)rank, sizeof other, &other));
    FAIL(TACIT_INVALID,
         "%s is %s on rank 0 and %s on rank %d: all ranks must give the same",
         what, root.text, other.text, (int)rank);
}

tacit_status tct_agree_name(tacit_world *w, const char *what, const char *name)
{
    if (w->size == 1) return TACIT_OK;
    const name_digest mine = digest(name);
    int64_t least[2] = {mine.number, ~mine.number};
    TRY(tct_reduce_i64(w, TCT_MIN, 2, least));
    if (least[0] == ~least[1]) return TACIT_OK;
    return refuse_names(w, what, &mine);
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
    REQUIRE(world != NULL, count == 0 || values != NULL);
    if (r >= sizeof known / sizeof *known)
        FAIL(TACIT_INVALID,
             "reduction %d: expected TACIT_SUM, TACIT_MIN or "
             "TACIT_MAX",
             (int)reduction);
    return tct_reduce_f64(world, known[r], count, values);
}
