/* SPDX-License-Identifier: BSD-3-Clause
 * solver/drivers/choose.c - the loops, and the choice of the fastest link and
 * loop for a solver: each available pair runs some iterations, or, for a single
 * solve, what is usually the fastest is taken. */
#include "comm/link/link.h"
#include "solver/solver.h"
#include <string.h>

enum { TRIAL = 60, EXPENSIVE = 12, WARM = 2 }; /* iterations */
enum { FACTOR_FEW = 1 << 21 };                 /* entries; resident_pays */
enum { BLOCKS = 4 }; /* times as many, if checks stand for blocks */
/* If iterations take longer than LONG seconds, links of one starter hardly
 * differ. SPEND is the limit of a trial in seconds. */
static const double LONG = 2e-3, SPEND = 4e-3;

static const tct_driver *const drivers[] = {
#define X(name) &tct_driver_##name,
    TCT_DRIVERS(X)
#undef X
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

const tacit_loop *tacit_loop_at(int i)
{
    return i >= 0 && i < DRIVERS ? &drivers[i]->about : NULL;
}

tacit_status tct_drive_by(tacit_solver *S, const tct_driver *driver)
{
    if (S->driver->close) S->driver->close(&S->run);
    S->driver = &tct_driver_host; /* it keeps no state */
    const tacit_status status = driver->open ? driver->open(&S->run) : TACIT_OK;
    if (status >= 0) S->driver = driver;
    else driver->close(&S->run);
    return status;
}

static bool has_messages(const tct_driver *D, const tacit_queue *q)
{
    return D->kind->needs <= q->link->starter;
}

/* Undo what the last run has changed. */
static void start_anew(tct_run *R)
{
    R->policy->now = R->system->method;
    R->A = R->system->exact->low ? R->system->exact->low : R->system->exact;
}

static tacit_status set_here(tacit_solver *S, const tct_driver *D)
{
    char reason[TCT_REFUSAL];
    const tacit_queue *q = S->run.q;
    start_anew(&S->run);
    if (D->about.needs_gpu && !q->device->replay)
        FAIL(TACIT_UNSUPPORTED, "loop %s: needs device cuda", D->about.name);
    if (!has_messages(D, q))
        FAIL(TACIT_UNSUPPORTED,
             "loop %s: needs messages that %s starts, and those of link %s are "
             "started by the CPU: loop host can be had",
             D->about.name,
             D->kind->needs == TCT_BY_STREAM ? "the stream" : "a kernel",
             q->link->name);
    if (D->fits && !D->fits(&S->run, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "loop %s: %s", D->about.name, reason);
    return S->driver == D ? TACIT_OK : tct_drive_by(S, D);
}

static tacit_status set(tacit_solver *S, const tct_driver *D)
{
    return tct_agree(S->run.q->world, set_here(S, D));
}

/* Seconds of an iteration with `loop`, from x = 0; < 0: cannot. */
static double try_loop(tacit_solver *S, const tct_driver *D, int iterations,
                       const double *b, double *x)
{
    tct_run *R = &S->run;
    const tacit_stop stop = {.size = sizeof stop, .max_iterations = iterations};
    tacit_result result = {.size = sizeof result};
    if (set(S, D) < 0) return -1.0;
    for (int run = 0; run < 2; run++) { /* the first warms up */
        q_fill(R->q, R->n, 0.0, x);
        if (tct_agree(R->q->world, q_own_status(R->q)) < 0) return -1.0;
        if (tacit_solver_run(S, b, x, &stop, &result) < 0) return -1.0;
    }
    return result.seconds / (double)(result.iterations + 1);
}

/* Few entries on each rank: loop resident is the fastest and needs only a
 * warm-up. */
static bool is_small(tacit_solver *S)
{
    char reason[TCT_REFUSAL];
    const tct_run *R = &S->run;
    const tct_driver *D = &tct_driver_resident;
    start_anew(&S->run);
    int64_t small = has_messages(D, R->q) && R->system->exact->local &&
                    R->system->exact->local->nonzeros <= TCT_GPU_SMALL &&
                    (!D->fits || D->fits(R, reason, sizeof reason));
    return tct_reduce_i64(R->q->world, TCT_MIN, 1, &small) >= 0 && small;
}

/* The time of the slowest rank; < 0 if a rank cannot. */
static double slowest(const tct_run *R, double seconds)
{
    double extent[2] = {seconds, seconds < 0.0 ? 1.0 : 0.0};
    if (tct_reduce_f64(R->q->world, TCT_MAX, 2, extent) < 0) return -1.0;
    return extent[1] > 0.0 ? -1.0 : extent[0];
}

/* A candidate: a link and a loop. */
typedef struct {
    int link;
    const tct_driver *driver;
    double seconds; /* of an iteration; < 0: not tried, or cannot */
} pair;

static void tell(const tacit_queue *q, const pair *p, double spent)
{
    const char *loop = p->driver->about.name;
    if (p->seconds < 0.0)
        tct_log(TCT_DETAIL, "loop %s: not for this solve: %s", loop,
                tacit_error_message());
    else
        tct_log(TCT_DETAIL,
                "link %s, loop %s: %.2f us an iteration, %.2f ms to try",
                q->link->name, loop, 1e6 * p->seconds, 1e3 * spent);
}

/* Try `p`, and let `best` be the faster of the two. */
static tacit_status race(tacit_solver *S, pair p, int iterations,
                         const double *b, double *x, pair *best)
{
    tct_run *R = &S->run;
    const double start = tct_seconds();
    if (p.link != R->q->via) /* the driver's state is of the other link */
        (void)tct_drive_by(S, &tct_driver_host);
    tct_link_take(R->q, p.link);
    p.seconds = slowest(R, try_loop(S, p.driver, iterations, b, x));
    const tacit_status status = tct_agree(R->q->world, q_own_status(R->q));
    tell(R->q, &p, tct_seconds() - start);
    if (p.seconds >= 0.0 && (best->seconds < 0.0 || p.seconds < best->seconds))
        *best = p;
    return status;
}

/* A block ends early when it has to, and the rest of its recording is wasted:
 * on a GPU several times the time of loop host, which a trial does not show. */
static bool is_worth_a_try(const tct_run *R, const tct_driver *D)
{
    return !R->system->method->blocks || D != &tct_driver_graph;
}

/* For a device with all loops. */
static tacit_status autotune_loops(tacit_solver *S, const double *b, double *x,
                                   pair *best)
{
    const bool small = is_small(S);
    const tacit_queue *q = S->run.q;
    const int each = S->run.system->method->blocks ? BLOCKS : 1;
    const int trial = tct_is_expensive(S->run.M) ? EXPENSIVE : each * TRIAL;
    for (int i = 0; i < TCT_LINKS_MOST; i++)
        for (int d = small ? DRIVERS - 1 : 0; d < DRIVERS; d++)
            if (q->links[i].link && is_worth_a_try(&S->run, drivers[d]))
                TRY(race(S, (pair){.link = i, .driver = drivers[d]},
                         small ? WARM : trial, b, x, best));
    return TACIT_OK;
}

/* For a device with loop host alone: iterations may take long. */
static tacit_status autotune_links(tacit_solver *S, const double *b, double *x,
                                   pair *best)
{
    const tacit_queue *q = S->run.q;
    TRY(race(S, *best, WARM, b, x, best));
    if (best->seconds < 0.0 || best->seconds > LONG) return TACIT_OK;
    const double most = SPEND / (best->seconds + SPEND / TRIAL);
    best->seconds = -1.0;
    for (int i = 0; i < TCT_LINKS_MOST; i++)
        if (q->links[i].link)
            TRY(race(S, (pair){.link = i, .driver = best->driver},
                     WARM + (int)most, b, x, best));
    return TACIT_OK;
}

/* Close the other links. */
static void keep_link(tacit_queue *q, int link)
{
    for (int i = 0; i < TCT_LINKS_MOST; i++)
        if (i != link && q->links[i].link && q->links[i].holds == 0)
            tct_link_drop(q, i);
    tct_link_take(q, link);
}

/* --- without a trial -------------------------------------------------------- */

/* Is loop resident the fastest as far as measured? With a factor few rows at a
 * time are ready: kernels that are not persistent have more warps. */
static bool resident_pays(const tct_run *R)
{
    if (!tct_precond_view(R->M).rows) return true;
    const tct_block *local = R->system->exact->local;
    int64_t few = local && local->nonzeros <= FACTOR_FEW;
    return tct_reduce_i64(R->q->world, TCT_MIN, 1, &few) >= 0 && few;
}

/* The first link, as links are listed by how fast they are, and the first loop
 * that it and the method have: resident, graph, host. Few solves do not earn a
 * trial. Collective. */
static tacit_status take_usual(tacit_solver *S)
{
    tacit_queue *q = S->run.q;
    keep_link(q, q->via);
    for (int d = DRIVERS - 1; d > 0 && q->device->replay; d--) {
        if (!is_worth_a_try(&S->run, drivers[d])) continue;
        if (drivers[d] == &tct_driver_resident && !resident_pays(&S->run))
            continue;
        const tacit_status status = set(S, drivers[d]);
        if (status == TACIT_OK)
            tct_log(TCT_DETAIL, "link %s, loop %s: taken, not tried",
                    q->link->name, drivers[d]->about.name);
        if (status != TACIT_UNSUPPORTED && status != TACIT_NO_MEMORY)
            return status;
    }
    return set(S, &tct_driver_host);
}

static tacit_status choose(tacit_solver *S)
{
    const tct_run *R = &S->run;
    tacit_queue *q = R->q;
    if (R->system->exact->one_solve) return take_usual(S);
    pair best = {q->via, &tct_driver_host, -1.0};
    if (!q->device->replay && tct_links_open(q) == 1)
        return set(S, best.driver);
    double *b = NULL, *x = NULL;
    tacit_status status = tacit_queue_alloc(q, R->n, &b);
    if (status == TACIT_OK) status = tacit_queue_alloc(q, R->n, &x);
    status = tct_agree(q->world, status);
    if (status == TACIT_OK) q_fill(q, R->n, 1.0, b);
    if (status == TACIT_OK)
        status = q->device->replay ? autotune_loops(S, b, x, &best)
                                   : autotune_links(S, b, x, &best);
    (void)tct_drive_by(S, &tct_driver_host); /* recordings are of b and x */
    tacit_queue_free(q, &b);
    tacit_queue_free(q, &x);
    keep_link(q, best.link);
    if (status == TACIT_NO_MEMORY) status = TACIT_OK; /* no memory for trials */
    return status < 0 ? status : tct_agree(q->world, set(S, best.driver));
}

tacit_status tct_choose_loop(tacit_solver *S, const char *name)
{
    if (strcmp(name, "auto") == 0) return choose(S);
    for (int i = 0; i < DRIVERS; i++)
        if (strcmp(drivers[i]->about.name, name) == 0)
            return set(S, drivers[i]);
    FAIL(TACIT_INVALID, "unknown loop '%s': host, graph, resident or auto",
         name);
}
