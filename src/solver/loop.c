/* SPDX-License-Identifier: BSD-3-Clause
 * solver/loop.c - who drives the iteration: the text of the method, enqueued
 * step by step (host), a recording of it (graph), or one kernel (resident).
 *
 * A recording begins and ends in tct_done, so that it holds whole iterations
 * of whatever the method's text enqueues, residual replacements included. */
#include "solver/resident/resident.h"
#include <stdio.h>

enum { ITERATIONS = 10, WARM = 2 };

/* --- graph ------------------------------------------------------------------ */

/* Iterations of a recording: one residual replacement, if the method has it. */
static int period(const tacit_solver *S)
{
    const int every = S->now->about.replace_every;
    return every ? every : ITERATIONS;
}

void tct_drop_record(tacit_solver *S)
{
    if (S->record) S->q->device->record_free(S->q, S->record);
    S->record = NULL;
}

static bool is_recorded(const tacit_solver *S)
{
    return S->record && S->record_x == S->x && S->record_b == S->b &&
           S->record_of == S->now && S->record_A == S->A &&
           S->record_version == S->A->version;
}

static void begin_record(tacit_solver *S)
{
    tct_drop_record(S);
    S->recorded = 0;
    S->record_replacements = S->result->replacements;
    if (S->q->tally) S->tally = *S->q->tally;
    S->recording = S->q->device->record_begin(S->q);
}

/* The text has gone through a period without running: take that back. */
static void end_record(tacit_solver *S)
{
    S->recording = false;
    S->record = S->q->device->record_end(S->q, S->recorded, S->c);
    S->record_x = S->x;
    S->record_b = S->b;
    S->record_A = S->A;
    S->record_version = S->A->version;
    S->record_of = S->now;
    const int64_t first = S->record_replacements; /* until here: before it */
    S->record_replacements = S->result->replacements - first;
    S->result->replacements = first;
    S->k -= S->recorded;
    if (!S->q->tally) return;
    const tacit_tally before = S->tally;
    S->tally = tct_tally_less(S->q->tally, &before);
    *S->q->tally = before;
}

/* Go on from here, where tct_done is, by the recording. True if the solve is
 * done; else what is left is less than a recording. */
static bool replay(tacit_solver *S)
{
    const int P = S->recorded;
    const int64_t first = S->k;
    tct_seen c;
    if (tct_take_looks(S, 0)) return true;
    if (S->most - S->k < P) return S->k >= S->most;
    S->q->device->replay(S->q, S->record, S->most - S->k);
    bool done = false;
    while (q_seen(S->q, &c)) {
        if (done && tct_is_held(S)) continue;
        S->k++;
        if (!tct_judge(S, &c)) {
            if (S->q->stop_wanted) tct_flags_agreed(S->q, tct_flags_mine(S->q));
            continue;
        }
        done = true;
        S->q->device->replay(S->q, S->record, 0);
    }
    const int64_t replays = (S->k - first + P - 1) / P;
    S->result->replacements += replays * S->record_replacements;
    if (S->q->tally) tct_tally_add(S->q->tally, &S->tally, replays);
    return done || S->q->failed != TACIT_OK;
}

bool tct_done_behind(tacit_solver *S)
{
    q_look(S->q, S->c);
    S->looks++;
    /* who has failed takes part in messages until all know */
    if (S->q->failed != TACIT_OK && S->q->ranks > 1) return S->q->peers_know;
    if (S->recording) {
        if (++S->recorded < period(S)) return false;
        end_record(S);
        if (!S->record) return true; /* the queue has failed */
        return replay(S);
    }
    S->ahead++;
    const bool last = S->k >= S->most || S->q->failed != TACIT_OK;
    if (tct_take_looks(S, last ? 0 : S->lag)) return true;
    if (S->loop != TCT_LOOP_GRAPH || S->most - S->k < period(S)) return last;
    /* also where there is a recording: the same solve then has the same bits */
    if (S->looks <= WARM) return last;
    if (is_recorded(S)) return replay(S);
    if (tct_take_looks(S, 0)) return true;
    begin_record(S);
    return false;
}

/* --- what an iteration counts as ------------------------------------------------ */

/* Between the first look and the second lies one iteration. */
bool tct_done_dry(tacit_solver *S)
{
    if (S->dry_looks++ == 0) {
        S->tally = *S->q->tally;
        return false;
    }
    S->tally = tct_tally_less(S->q->tally, &S->tally);
    return true;
}

void tct_count_iteration(tacit_solver *S)
{
    if (!S->q->tally) return;
    const tacit_tally before = *S->q->tally;
    const int64_t k = S->k;
    S->q->dry = true;
    S->dry_looks = 0;
    S->now->iterate(S);
    S->q->dry = false;
    S->k = k;
    *S->q->tally = before;
}

/* --- iterate ------------------------------------------------------------------ */

void tct_iterate(tacit_solver *S)
{
    S->looks = 0;
    S->ahead = 0;
    if (S->loop == TCT_LOOP_RESIDENT) {
        if (tct_resident_runs(S)) {
            tct_resident_iterate(S);
            return;
        }
        tct_log(TCT_NOTE,
                "iteration %lld: loop host from here on, there is no "
                "persistent kernel for what the solve has come to",
                (long long)S->k);
        S->host_from = S->k;
    }
    S->now->iterate(S);
    tct_seen c;
    while (S->ahead > 0 && q_seen(S->q, &c)) S->ahead--; /* they hold still */
    S->ahead = 0;
}

void tct_loop_free(tacit_solver *S)
{
    tct_drop_record(S);
    tct_resident_free(S);
}

void tct_describe_loop(tacit_solver *S)
{
    tacit_result *r = S->result;
    r->loop = tacit_loop_at(S->loop)->name;
    r->loop_detail[0] = '\0';
    if (S->loop == TCT_LOOP_GRAPH && S->record)
        S->q->device->record_about(S->record, r->loop_detail,
                                   sizeof r->loop_detail);
    if (S->loop == TCT_LOOP_RESIDENT)
        tct_resident_about(S, r->loop_detail, sizeof r->loop_detail);
    if (S->host_from >= 0)
        snprintf(r->loop_detail, sizeof r->loop_detail,
                 "loop host from iteration %lld on", (long long)S->host_from);
}
