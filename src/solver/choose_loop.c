/* SPDX-License-Identifier: BSD-3-Clause
 * solver/choose_loop.c - the loops, and which is fastest for a solver: each
 * that it can have runs some iterations. */
#include "solver/resident/resident.h"
#include <string.h>

enum { TRIAL = 60, WARM = 2 }; /* iterations */

static const tacit_loop loops[TCT_LOOPS] = {
    {"host", "the CPU enqueues every step", NULL, false},
    {"graph",
     "a CUDA graph of some iterations, replayed by the CPU or in a "
     "while node",
     TCT_NO_CUDA, true},
    {"resident", "one persistent kernel for the whole solve", TCT_NO_CUDA,
     true}};

/* Who must be able to start messages. */
static const tct_starter needs[TCT_LOOPS] = {TCT_BY_CPU, TCT_BY_STREAM,
                                             TCT_BY_KERNEL};

const tacit_loop *tacit_loop_at(int i)
{
    return i >= 0 && i < TCT_LOOPS ? &loops[i] : NULL;
}

static tacit_status set(tacit_solver *S, int loop)
{
    char reason[160];
    if (S->loop != loop) tct_drop_record(S);
    S->now = S->method; /* not what the last run came to */
    S->A = S->exact->low ? S->exact->low : S->exact;
    if (loops[loop].needs_gpu && !S->q->device->replay)
        FAIL(TACIT_UNSUPPORTED, "loop %s: needs --device cuda",
             loops[loop].name);
    if (needs[loop] > S->q->link->starter)
        FAIL(TACIT_UNSUPPORTED,
             "loop %s: needs messages that %s starts, and those of link %s are "
             "started by the CPU: loop host can be had",
             loops[loop].name,
             needs[loop] == TCT_BY_STREAM ? "the stream" : "a kernel",
             S->q->link->name);
    if (loop == TCT_LOOP_RESIDENT &&
        !tct_resident_fits(S, reason, sizeof reason))
        FAIL(TACIT_UNSUPPORTED, "loop resident: %s", reason);
    S->loop = loop;
    return TACIT_OK;
}

/* Seconds of an iteration with `loop`, from x = 0; < 0: cannot. */
static double try_loop(tacit_solver *S, int loop, int iterations,
                       const double *b, double *x)
{
    const tacit_stop stop = {.size = sizeof stop, .max_iterations = iterations};
    tacit_result result = {.size = sizeof result};
    if (set(S, loop) < 0) return -1.0;
    for (int run = 0; run < 2; run++) { /* the first warms up */
        q_fill(S->q, S->n, 0.0, x);
        if (q_status(S->q) < 0) return -1.0;
        if (tacit_solver_run(S, b, x, &stop, &result) < 0) return -1.0;
    }
    return result.seconds / (double)(result.iterations + 1);
}

/* Few entries on each rank: loop resident is the fastest, and need only be
 * warmed up. */
static bool is_small(tacit_solver *S)
{
    char reason[160];
    int64_t small = needs[TCT_LOOP_RESIDENT] <= S->q->link->starter &&
                    S->exact->local &&
                    S->exact->local->nonzeros <= TCT_GPU_SMALL &&
                    tct_resident_fits(S, reason, sizeof reason);
    return tct_reduce_i64(S->q->world, TCT_MIN, 1, &small) >= 0 && small;
}

/* The time of the slowest rank; < 0 where a rank cannot. */
static double slowest(tacit_solver *S, double seconds)
{
    double extent[2] = {seconds, seconds < 0.0 ? 1.0 : 0.0};
    if (tct_reduce_f64(S->q->world, TCT_MAX, 2, extent) < 0) return -1.0;
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
    S->loop = TCT_LOOP_HOST;
    if (!S->q->device->replay) return TACIT_OK;
    double *b = NULL, *x = NULL, best = -1.0;
    tacit_status status = tacit_queue_alloc(S->q, S->n, &b);
    if (status == TACIT_OK) status = tacit_queue_alloc(S->q, S->n, &x);
    status = tct_agree(S->q->world, status);
    int fastest = TCT_LOOP_HOST;
    if (status == TACIT_OK) q_fill(S->q, S->n, 1.0, b);
    const bool small = is_small(S);
    int loop = small ? TCT_LOOP_RESIDENT : 0;
    for (; status == TACIT_OK && loop < TCT_LOOPS; loop++) {
        const double start = tct_seconds();
        const double seconds =
            slowest(S, try_loop(S, loop, small ? WARM : TRIAL, b, x));
        status = tct_agree(S->q->world, q_own_status(S->q));
        tell(loops[loop].name, seconds, tct_seconds() - start);
        if (seconds < 0.0 || (best >= 0.0 && seconds >= best)) continue;
        best = seconds;
        fastest = loop;
    }
    tct_drop_record(S);
    tacit_queue_free(S->q, &b);
    tacit_queue_free(S->q, &x);
    if (fastest != TCT_LOOP_RESIDENT) tct_resident_free(S);
    if (status == TACIT_NO_MEMORY) status = TACIT_OK; /* no room to try */
    return status < 0 ? status : tct_agree(S->q->world, set(S, fastest));
}

tacit_status tct_choose_loop(tacit_solver *S, const char *name)
{
    if (strcmp(name, "auto") == 0) return choose(S);
    for (int i = 0; i < TCT_LOOPS; i++)
        if (strcmp(loops[i].name, name) == 0) return set(S, i);
    FAIL(TACIT_INVALID, "unknown loop '%s': host, graph, resident or auto",
         name);
}
