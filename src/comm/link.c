/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link.c - which link a queue has, and queues: a device, and how its ranks
 * speak. */
#include "comm/link.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tct_link *const links[] = {
#define X(name) &tct_link_##name,
    TCT_LINKS(X)
#undef X
};
static const tacit_link rows[] = {
    {"self", "one process", NULL},
    {"mpi", "the CPU starts every message, through MPI",
     TCT_HAVE_MPI ? NULL : "not in this build: configured without MPI"}};
enum {
    LINKS = sizeof links / sizeof *links,
    ROWS = sizeof rows / sizeof *rows /* with those that this build lacks */
};

const tacit_link *tacit_link_at(int i)
{
    return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

static tacit_status unknown(const char *name)
{
    const char *names[ROWS];
    for (int i = 0; i < ROWS; i++) {
        names[i] = rows[i].name;
        if (rows[i].reason && strcmp(rows[i].name, name) == 0)
            FAIL(TACIT_UNSUPPORTED, "link %s: %s", name, rows[i].reason);
    }
    return tct_unknown("link", name, names, ROWS);
}

/* The link called `name`, or ("auto") the first that can be had. */
static tacit_status find_link(const tacit_queue *q, const char *name,
                              const tct_link **out)
{
    char reason[160] = "";
    bool known = strcmp(name, "auto") == 0;
    for (int i = 0; i < LINKS; i++) {
        const bool named = strcmp(links[i]->name, name) == 0;
        if (!named && strcmp(name, "auto") != 0) continue;
        known = true;
        if (!links[i]->available(q, reason, sizeof reason)) continue;
        *out = links[i];
        return TACIT_OK;
    }
    if (!known) return unknown(name);
    FAIL(TACIT_UNSUPPORTED, "link %s: %s", name, reason);
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

/* `spec` without its "@link". */
static tacit_status build(const tacit_queue *who, const char *spec,
                          tacit_queue **out)
{
    const char *at = strrchr(spec, '@');
    const size_t n = at ? (size_t)(at - spec) : strlen(spec);
    char *line = NULL;
    TRY(TCT_ALLOC(n + 1, "a queue", &line));
    memcpy(line, spec, n);
    line[n] = '\0';
    tacit_status status = tct_queue_new(who, line, out);
    tct_free(line);
    if (status < 0) return status;
    tacit_queue *q = *out;
    TRY(find_link(q, at ? at + 1 : "auto", &q->link));
    return q->link->open ? q->link->open(q) : TACIT_OK;
}

tacit_status tct_queue_open(tacit_world *world, const char *spec, int threads,
                            void *const *stream, tacit_queue **out)
{
    tacit_queue *q = NULL;
    if (threads == 0) threads = world->threads;
    const tacit_queue who = {.world = world,
                             .rank = world->rank,
                             .ranks = world->size,
                             .place = world->local_rank,
                             .on_stream = stream != NULL,
                             .stream = stream ? *stream : NULL,
                             .threads = threads > 0 ? threads
                                                    : default_threads(world)};
    const tacit_status status = tct_agree(world, build(&who, spec, &q));
    if (status < 0) tacit_queue_destroy(&q);
    else *out = q;
    return status;
}

tacit_status tacit_queue_create(tacit_world *world, const char *spec,
                                int threads, tacit_queue **out)
{
    REQUIRE(world != NULL && out != NULL && threads >= 0);
    return tct_queue_open(world, spec ? spec : "host", threads, NULL, out);
}

const char *tacit_queue_link(const tacit_queue *queue)
{
    return queue->link->name;
}
