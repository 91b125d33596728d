/* SPDX-License-Identifier: BSD-3-Clause
 * solver/drivers/choose.c - the loops, and which is fastest for a solver: each
 * that it can have runs some iterations. */
#include "solver/solver.h"
#include <string.h>

enum { TRIAL = 60, WARM = 2 }; /* iterations */

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
    S->driver = &tct_driver_host; /* which keeps nothing */
    const tacit_status status = driver->open ? driver->open(&S->run) : TACIT_OK;
    if (status >= 0) S->driver = driver;
    else driver->close(&S->run);
    return status;
}

static bool has_messages(const tct_driver *D, const tacit_queue *q)
{
    return D->needs <= q->link->starter;
}

/* Not what the last run came to. */
static void start_anew(tct_run *R)
{
    R->now = R->method;
    R->A = R->exact->low ? R->exact->low : R->exact;
}

static tacit_status set(tacit_solver *S, const tct_driver *D)
{
    char reason[TCT_REFUSAL];
    const tacit_queue *q = S->run.q;
    start_anew(&S->run);
    if (D->about.needs_gpu && !q->device->replay)
        FAIL(TACIT_UNSUPPORTED, "loop %s: needs --device cuda", D->about.name);
    if (!has_messages(D, q))
        FAIL(TACIT_UNSUPPORTED,
             "loop %s: needs messages that %s starts, and those of link %s are "
             "started by the CPU: loop host can be had",
             D->about.name,
             D->needs == TCT_BY_STREAM ? "the stream" : "a kernel",
             q->link->name);
    if (D->fits && !D->fits(&S->run, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "loop %s: %s", D->about.name, reason);
    return S->driver == D ? TACIT_OK : tct_drive_by(S, D);
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
        if (q_status(R->q) < 0) return -1.0;
        if (tacit_solver_run(S, b, x, &stop, &result) < 0) return -1.0;
    }
    return result.seconds / (double)(result.iterations + 1);
}

/* Few entries on each rank: loop resident is the fastest, and need only be
 * warmed up. */
static bool is_small(tacit_solver *S)
{
    char reason[TCT_REFUSAL];
    const tct_run *R = &S->run;
    const tct_driver *D = &tct_driver_resident;
    start_anew(&S->run);
    int64_t small = has_messages(D, R->q) && R->exact->local &&
                    R->exact->local->nonzeros <= TCT_GPU_SMALL &&
                    (!D->fits || D->fits(R, reason, sizeof reason));
    return tct_reduce_i64(R->q->world, TCT_MIN, 1, &small) >= 0 && small;
}

/* The time of the slowest rank; < 0 where a rank cannot. */
static double slowest(const tct_run *R, double seconds)
{
    double extent[2] = {seconds, seconds < 0.0 ? 1.0 : 0.0};
    if (tct_reduce_f64(R->q->world, TCT_MAX, 2, extent) < 0) return -1.0;
    return extent[1] > 0.0 ? -1.0 : extent[0];
}

static void tell(const char *loop, double seconds, double spent)
{
    if (seconds < 0.0)
        tct_log(TCT_DETAIL, "loop %s: not for this solve: %s", loop,
                tacit_error_message());
    else
        tct_log(TCT_DETAIL, "loop %s: %.2f us an iteration, %.2f ms to try",
                loop, 1e6 * seconds, 1e3 * spent);
}

static tacit_status choose(tacit_solver *S)
{
    const tct_run *R = &S->run;
    const tct_driver *fastest = &tct_driver_host;
    if (!R->q->device->replay) return set(S, fastest);
    double *b = NULL, *x = NULL, best = -1.0;
    tacit_status status = tacit_queue_alloc(R->q, R->n, &b);
    if (status == TACIT_OK) status = tacit_queue_alloc(R->q, R->n, &x);
    status = tct_agree(R->q->world, status);
    if (status == TACIT_OK) q_fill(R->q, R->n, 1.0, b);
    const bool small = is_small(S);
    for (int i = small ? DRIVERS - 1 : 0; status == TACIT_OK && i < DRIVERS;
         i++) {
        const double start = tct_seconds();
        const double seconds =
            slowest(R, try_loop(S, drivers[i], small ? WARM : TRIAL, b, x));
        status = tct_agree(R->q->world, q_own_status(R->q));
        tell(drivers[i]->about.name, seconds, tct_seconds() - start);
        if (seconds < 0.0 || (best >= 0.0 && seconds >= best)) continue;
        best = seconds;
        fastest = drivers[i];
    }
    (void)tct_drive_by(S, &tct_driver_host); /* recordings are of b and x */
    tacit_queue_free(R->q, &b);
    tacit_queue_free(R->q, &x);
    if (status == TACIT_NO_MEMORY) status = TACIT_OK; /* no room to try */
    return status < 0 ? status : tct_agree(R->q->world, set(S, fastest));
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
