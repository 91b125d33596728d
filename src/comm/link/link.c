/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/link.c - queues: a device, and one or more links. */
#include "comm/link/link.h"
#include "comm/exchange/plan.h"
#include <sched.h>
#include <stdatomic.h>
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
    {"self", "one process", NULL, "host, graph, resident"},
    {"peer",
     "a kernel starts every message, into memory of another GPU of this "
     "machine",
     TCT_NO_CUDA, "host, graph, resident"},
    {"nccl",
     "the stream starts every message, through NCCL; a recording is replayed "
     "by the CPU",
     TCT_NOT_BY_HIP("NCCL"), "host, graph"},
    {"nvshmem",
     "a kernel starts every message, into memory of another GPU that NVSHMEM "
     "gives, or by NVSHMEM's calls",
     TCT_NOT_BY_HIP("NVSHMEM"), "host, graph, resident"},
    {"shm", "the CPU starts every message, through memory that the ranks share",
     NULL, "host"},
    {"mpi", "the CPU starts every message, through MPI",
     TCT_HAVE_MPI ? NULL : "not in this build: configured without MPI", "host"},
    {"queue",
     "requests of the triggered queue: on GPUs kernels start them, on the host "
     "the CPU; only by name",
     NULL, "host, graph"}};
enum {
    LINKS = sizeof links / sizeof *links,
    ROWS = sizeof rows / sizeof *rows /* with those this build lacks */
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

tacit_status tacit_link_probe(const char *name, char *text, size_t size)
{
    char found[512] = "";
    REQUIRE(name != NULL, size == 0 || text != NULL);
    for (int i = 0; i < LINKS; i++) {
        if (strcmp(links[i]->name, name) != 0) continue;
        if (links[i]->probe && !links[i]->probe(found, sizeof found))
            FAIL(TACIT_UNSUPPORTED, "%s", found);
        if (size > 0) snprintf(text, size, "%s", found);
        return TACIT_OK;
    }
    return unknown(name);
}

/* --- open links ----------------------------------------------------------- */

_Static_assert((int)LINKS <= (int)TCT_LINKS_MOST,
               "there is room for every link");

int tct_links_open(const tacit_queue *q)
{
    int open = 0;
    for (int i = 0; i < TCT_LINKS_MOST; i++) open += q->links[i].link != NULL;
    return open;
}

void tct_link_take(tacit_queue *q, int i)
{
    q->via = i;
    q->link = q->links[i].link;
}

/* Send messages through the first open link. */
static void take_first(tacit_queue *q)
{
    int i = 0;
    while (i < TCT_LINKS_MOST - 1 && !q->links[i].link) i++;
    tct_link_take(q, i);
}

static void close_of_plan(tct_plan *p)
{
    void **state = &p->state[p->q->via];
    if (*state) p->q->link->plan_close(p);
    *state = NULL;
}

void tct_link_drop(tacit_queue *q, int i)
{
    tct_link_take(q, i);
    for (tct_plan *p = q->plans; p; p = p->next) close_of_plan(p);
    if (q->link->close) q->link->close(q);
    q->links[i] = (tct_open_link){0};
    take_first(q);
}

/* Open the state of a plan in the link in use. Collective. */
static tacit_status open_of_plan(tct_plan *plan)
{
    const tct_link *link = plan->q->link;
    const tacit_element element = plan->base.element;
    if (!(link->elements >> element & 1))
        FAIL(TACIT_INVALID,
             "link %s carries %s only; this exchange is %s: name another link, "
             "as in '%s@mpi'",
             link->name, tct_element_name(TACIT_F64), tct_element_name(element),
             plan->q->device->name);
    return link->plan_open ? link->plan_open(plan) : TACIT_OK;
}

tacit_status tct_links_plan_open(tct_plan *plan)
{
    tacit_queue *q = plan->q;
    const int via = q->via;
    plan->next = q->plans;
    q->plans = plan;
    for (int i = 0; i < TCT_LINKS_MOST; i++) {
        if (!q->links[i].link) continue;
        tct_link_take(q, i);
        const tacit_status status = tct_agree(q->world, open_of_plan(plan));
        if (status >= 0) continue;
        if (tct_links_open(q) == 1) return status;
        tct_log(TCT_DETAIL, "link %s: closed: %s", q->link->name,
                tacit_error_message());
        tct_link_drop(q, i);
    }
    if (q->links[via].link) tct_link_take(q, via);
    else take_first(q);
    return TACIT_OK;
}

void tct_links_plan_close(tct_plan *plan)
{
    tacit_queue *q = plan->q;
    const int via = q->via;
    for (int i = 0; i < TCT_LINKS_MOST; i++) {
        if (!q->links[i].link) continue;
        tct_link_take(q, i);
        close_of_plan(plan);
    }
    tct_link_take(q, via);
    for (tct_plan **at = &q->plans; *at; at = &(*at)->next)
        if (*at == plan) {
            *at = plan->next;
            break;
        }
}

/* Is `link` available on all ranks? The reason is this rank's own, if it has
 * one. */
static bool is_available(const tacit_queue *q, const tct_link *link,
                         char *reason, size_t size)
{
    int64_t can = link->available(q, reason, size), all = can;
    if (tct_reduce_i64(q->world, TCT_MIN, 1, &all) < 0) all = 0;
    if (can && !all) snprintf(reason, size, "another rank cannot have it");
    return all;
}

static tacit_status open_link(tacit_queue *q, int i)
{
    q->links[i].link = links[i];
    tct_link_take(q, i);
    const tacit_status status =
        tct_agree(q->world, q->link->open ? q->link->open(q) : TACIT_OK);
    if (status < 0) tct_link_drop(q, i);
    return status;
}

/* Is a link open whose messages the device starts? The same on all ranks. */
static bool has_device_link(const tacit_queue *q)
{
    for (int i = 0; i < TCT_LINKS_MOST; i++)
        if (q->links[i].launcher) return true;
    return false;
}

/* Open the link called `name`, or ("auto") all available ones; a single rank
 * opens only the first. Collective. */
static tacit_status open_links(tacit_queue *q, const char *name)
{
    char reason[256] = "";
    const bool any = strcmp(name, "auto") == 0;
    bool known = any;
    tacit_status failed = TACIT_UNSUPPORTED;
    for (int i = 0; i < LINKS; i++) {
        if (any ? tct_links_open(q) > 0 && q->ranks == 1
                : strcmp(links[i]->name, name) != 0)
            continue;
        known = true;
        if (any && links[i]->named) continue;
        if (any && links[i]->expensive && has_device_link(q)) continue;
        char why[sizeof reason] = "";
        if (!is_available(q, links[i], why, sizeof why)) {
            /* of several the first reason counts: it is nearest to a use */
            if (!reason[0]) snprintf(reason, sizeof reason, "%s", why);
            continue;
        }
        const tacit_status status = open_link(q, i);
        if (status >= 0) continue;
        if (!any || status == TACIT_INVALID) return status;
        failed = status;
        snprintf(reason, sizeof reason, "%s", tacit_error_message());
        tct_log(TCT_DETAIL, "link %s: not used: %s", links[i]->name, reason);
    }
    if (!known) return unknown(name);
    if (tct_links_open(q) == 0) FAIL(failed, "link %s: %s", name, reason);
    take_first(q);
    return TACIT_OK;
}

/* --- queues --------------------------------------------------------------- */

/* Once, by one rank. */
static void tell_wish(const tacit_world *w, long wished, int threads)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    const char *text = getenv("OMP_NUM_THREADS");
    if (w->rank > 0 || !text || !*text || wished == threads) return;
    if (atomic_flag_test_and_set(&warned)) return;
    tct_log(TCT_WARN,
            "OMP_NUM_THREADS is '%.40s', not a number from 1 to %d: %d threads "
            "are taken",
            text, TCT_TEAM_MOST, threads);
}

static int default_threads(const tacit_world *w)
{
    const long wished = tct_threads_wished();
    const int threads = tct_world_threads(w);
    tell_wish(w, wished, threads);
    if (wished > 0)
        tct_log(TCT_DETAIL, "rank %d  threads %d: OMP_NUM_THREADS", w->rank,
                threads);
    else
        tct_log(TCT_DETAIL,
                "rank %d  threads %d: %d processors may be used here, by %d "
                "processes",
                w->rank, threads, tct_processors(), w->local_size);
    return threads;
}

/* The device and decorators of `spec`, up to `at` if that is not NULL. */
static tacit_status build(const tacit_queue *prototype, const char *spec,
                          const char *at, tacit_queue **out)
{
    const size_t n = at ? (size_t)(at - spec) : strlen(spec);
    char *line = NULL;
    TRY(TCT_ALLOC(n + 1, "a queue", &line));
    memcpy(line, spec, n);
    line[n] = '\0';
    const tacit_status status = tct_queue_new(prototype, line, out);
    tct_free(line);
    return status;
}

/* Reductions get a time limit only on devices with loops that run without the
 * CPU; elsewhere the limits of messages suffice. */
static tacit_status agree_on_timeout(tacit_queue *q)
{
    q->timeout = q->device->replay ? q->peer_seconds : 0.0;
    return tct_reduce_f64(q->world, TCT_MIN, 1, &q->timeout);
}

tacit_status tct_queue_open(tacit_world *world, const char *spec, int threads,
                            void *const *stream, tacit_queue **out)
{
    tacit_queue *q = NULL;
    const char *at = strrchr(spec, '@');
    if (threads == 0) threads = world->threads;
    const tacit_queue prototype = {
        .world = world,
        .lost_rank = &world->lost_rank,
        .rank = world->rank,
        .ranks = world->size,
        .one_process = world->size == 1 || world->ops->one_process,
        .place = world->place,
        .neighbours = world->local_size,
        .on_stream = stream != NULL,
        .stream = stream ? *stream : NULL,
        .threads = threads > 0 ? threads : default_threads(world)};
    tacit_status status = tct_agree(world, build(&prototype, spec, at, &q));
    if (status >= 0) status = agree_on_timeout(q);
    if (status >= 0) status = open_links(q, at ? at + 1 : "auto");
    status = tct_agree(world, status);
    if (status < 0) tacit_queue_destroy(&q);
    else *out = q;
    return status;
}

tacit_status tacit_queue_create(tacit_world *world, const char *spec,
                                int threads, tacit_queue **out)
{
    REQUIRE(world != NULL, out != NULL, threads >= 0);
    return tct_queue_open(world, spec ? spec : "host", threads, NULL, out);
}

const char *tacit_queue_link(const tacit_queue *queue)
{
    return queue ? queue->link->name : NULL;
}

const char *tacit_queue_link_detail(const tacit_queue *queue)
{
    const char *detail = queue ? queue->links[queue->via].detail : NULL;
    return detail ? detail : "";
}
