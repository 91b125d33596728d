/* SPDX-License-Identifier: BSD-3-Clause
 * solver/columns/lockstep.c - several right-hand sides, iterated in step: each
 * operation of the method is enqueued once for all of them, so that the matrix
 * is read once for all their products.
 *
 * Each has its own run, and is treated alone between phases. For a phase, runs
 * of the same method and precision get consecutive places, and the method is
 * called once, for the vectors of place 0, in a batch of the queue. A run that
 * has ended stays as it is until the next check and then changes places with
 * the last active one. */
#include "solver/columns/lockstep.h"
#include <stdio.h>
#include <string.h>

/* The vectors of a run, in the order of their panels. */
enum {
    KIND_Z = TCT_VECTORS_MOST,
    KIND_Y,
    KIND_B = KIND_Y + TCT_PRECOND_MOST - 1,
    KIND_X,
    KINDS
};

typedef struct {
    tct_run run;
    tct_system system;
    tct_restart_policy policy;
    tct_reduced low;
    tacit_result result;
    int column; /* in the user's panel */
    bool over;
    int64_t begun; /* run.k at the start of the phase */
} member;

struct tct_lockstep {
    tacit_solver *S;
    int places;
    size_t stride;
    double *panel[KINDS]; /* [places * stride], NULL: no such vector */
    double *c;            /* [places * TCT_SCALARS]                  */
    int members;
    member m[TCT_COLUMNS_MOST];
    /* the phase of members [0, active) */
    tct_run batch; /* one run for all of them */
    tacit_result aside;
    int active;
    int64_t due; /* iteration of the next check */
};

/* --- places --------------------------------------------------------------- */

/* Non-NULL if the solver has this vector. */
static const double *vector_of(const tct_run *R, int kind)
{
    if (kind < KIND_Z) return R->v[kind];
    if (kind == KIND_Z) return R->z;
    return kind < KIND_B ? R->y[kind - KIND_Y] : R->c;
}

static double *place_of(const tct_lockstep *L, int kind, int place)
{
    double *panel = L->panel[kind];
    return panel ? panel + (size_t)place * L->stride : NULL;
}

static void take_place(tct_lockstep *L, int place)
{
    member *m = &L->m[place];
    tct_run *R = &m->run;
    R->system = &m->system;
    R->policy = &m->policy;
    R->low = &m->low;
    R->ritz = NULL;
    R->result = &m->result;
    for (int i = 0; i < TCT_VECTORS_MOST; i++) R->v[i] = place_of(L, i, place);
    R->z = place_of(L, KIND_Z, place);
    for (int i = 0; i < TCT_PRECOND_MOST - 1; i++)
        R->y[i] = place_of(L, KIND_Y + i, place);
    m->system.own_b = place_of(L, KIND_B, place);
    m->system.b = m->system.own_b;
    m->system.permuted_x = R->x = place_of(L, KIND_X, place);
    R->c = L->c + place * TCT_SCALARS;
}

static void change_places(tct_lockstep *L, int i, int j)
{
    if (i == j) return;
    const member m = L->m[i];
    L->m[i] = L->m[j];
    L->m[j] = m;
    take_place(L, i);
    take_place(L, j);
    for (int k = 0; k < KINDS; k++)
        if (L->panel[k])
            q_swap(L->S->run.q, L->S->run.n, place_of(L, k, i),
                   place_of(L, k, j));
}

/* --- a phase -------------------------------------------------------------- */

/* The iteration of the next check. */
static int64_t next_look(const tct_lockstep *L)
{
    int64_t ahead = L->S->loop.lag > 1 ? L->S->loop.lag : 1;
    for (int j = 0; j < L->active; j++) {
        const tct_run *R = &L->m[j].run;
        if (R->policy->most - R->k < ahead) ahead = R->policy->most - R->k;
    }
    return L->batch.k + (ahead > 1 ? ahead : 1);
}

/* Has the phase of this member ended? Its scalars are in `c`. */
static bool judge(member *m, const double *c)
{
    const bool failed = c[C_BAD] == BAD_CURVATURE || c[C_BAD] == BAD_PRECOND ||
                        c[C_BAD] == BAD_LEAST;
    m->run.k = m->begun + (int64_t)c[C_UPDATES] + (failed ? 1 : 0);
    return tct_judge(&m->run, &(tct_sample){.rr = c[C_RR],
                                            .bad = c[C_BAD],
                                            .bad_value = c[C_BAD_VALUE]});
}

/* Remove member `j` from the batch, with its scalars: b - A x needs its
 * sigma. */
static void let_go(tct_lockstep *L, int j, double (*c)[TCT_SCALARS])
{
    double own[TCT_SCALARS];
    tacit_result *r = &L->m[j].result;
    r->replacements += L->aside.replacements;
    r->extra_products += L->aside.extra_products;
    change_places(L, j, --L->active);
    if (j == L->active) return;
    memcpy(own, c[j], sizeof own);
    memcpy(c[j], c[L->active], sizeof own);
    memcpy(c[L->active], own, sizeof own);
}

static bool look(tct_run *batch)
{
    tct_lockstep *L = batch->drive;
    tacit_queue *q = batch->q;
    double c[TCT_COLUMNS_MOST][TCT_SCALARS] = {{0}};
    if (batch->k < L->due) return false;
    q_get(q, (size_t)L->active * TCT_SCALARS, L->c, c[0]);
    if (q->peers_know) return true;
    const int before = L->active;
    bool ended[TCT_COLUMNS_MOST];
    q_batch(q, 0, 0);
    for (int j = 0; j < before; j++) ended[j] = judge(&L->m[j], c[j]);
    for (int j = before - 1; j >= 0; j--) /* from the end: only judged
                                           * members move */
        if (ended[j]) let_go(L, j, c);
    if (L->active < before) q_put(q, (size_t)before * TCT_SCALARS, c[0], L->c);
    q_batch(q, L->active, L->stride);
    L->due = next_look(L);
    return L->active == 0;
}

static void phase(tct_lockstep *L, int count)
{
    L->active = count;
    for (int j = 0; j < count; j++) L->m[j].begun = L->m[j].run.k;
    L->batch = L->m[0].run;
    L->batch.k = 0;
    L->batch.drive = L;
    L->batch.look = look;
    L->batch.result = &L->aside;
    L->aside = (tacit_result){0};
    L->due = next_look(L);
    q_batch(L->batch.q, count, L->stride);
    tct_iterate(&L->batch);
    q_batch(L->batch.q, 0, 0);
}

/* --- from phase to phase -------------------------------------------------- */

static bool go_together(const tct_run *a, const tct_run *b)
{
    return a->policy->now == b->policy->now && a->A == b->A &&
           a->resumed == b->resumed;
}

/* Move the members that can go on together to the front; returns their
 * number. */
static int gather(tct_lockstep *L)
{
    int count = 0;
    for (int j = 0; j < L->members; j++) {
        if (L->m[j].over) continue;
        if (count == 0 || go_together(&L->m[0].run, &L->m[j].run))
            change_places(L, count++, j);
    }
    return count;
}

static void iterate(tct_lockstep *L)
{
    const tacit_queue *q = L->S->run.q;
    for (int count = gather(L); count > 0 && !q->peers_know;
         count = gather(L)) {
        for (int j = 0; j < count; j++) tct_begin_phase(&L->m[j].run);
        if (count == 1) L->S->driver->iterate(&L->m[0].run);
        else phase(L, count);
        for (int j = 0; j < count; j++)
            L->m[j].over = q->peers_know || !tct_next_phase(&L->m[j].run);
    }
}

/* The first residuals of all columns, in one batch. */
static void first_residuals(tct_lockstep *L)
{
    tacit_queue *q = L->S->run.q;
    const size_t n = L->S->run.n;
    double c[TCT_COLUMNS_MOST][TCT_SCALARS] = {{0}};
    const size_t scalars = (size_t)L->members * TCT_SCALARS;
    for (int j = 0; j < L->members; j++) {
        tct_run *R = &L->m[j].run;
        tct_shift(R->q, R->n, R->system->shift, R->x);
        c[j][C_SIGMA] = R->system->sigma;
    }
    if (L->members == 0) return;
    q_put(q, scalars, c[0], L->c);
    tct_run *R = &L->m[0].run;
    double *r = R->v[V_R];
    q_batch(q, L->members, L->stride);
    apply(R->system->exact, q, R->x, r);
    q_scale(q, n, -1.0, r);
    q_axpy(q, n, +1.0, &R->c[C_SIGMA], R->system->b, r);
    q_norm(q, n, r, &R->c[C_RR]);
    q_sum(q, 1, &R->c[C_RR]);
    q_batch(q, 0, 0);
    q_get(q, scalars, L->c, c[0]);
    for (int j = 0; j < L->members; j++) {
        L->m[j].result.extra_products++;
        L->m[j].run.policy->rr = c[j][C_RR];
        L->m[j].over = !tct_run_starts(&L->m[j].run);
    }
}

/* --- all of it ------------------------------------------------------------ */

/* b = 0 takes no place: its solution is 0. */
static tacit_status enter(tct_lockstep *L, const tct_column_batch *C)
{
    L->members = 0;
    for (int j = 0; j < C->columns; j++) {
        member *m = &L->m[L->members];
        const size_t at = (size_t)(C->first + j);
        *m = (member){.run = L->S->run,
                      .system = L->S->system,
                      .policy = L->S->policy,
                      .low = L->S->low,
                      .column = C->first + j,
                      .result = {.breakdown_iteration = -1}};
        take_place(L, L->members);
        tacit_stop stop = C->stop;
        stop.monitor_ctx = C->listener(C->ctx, m->column);
        tacit_status status = tct_run_begin(&m->run, C->B + at * C->B_stride,
                                            C->X + at * C->X_stride, &stop);
        if (status >= 0 && m->run.system->norm_b > 0.0) {
            L->members++;
            continue;
        }
        if (status >= 0) status = tct_run_zero(&m->run);
        C->over(C->ctx, m->column, status, &m->result);
        TRY(status);
    }
    return TACIT_OK;
}

static void describe(tacit_result *r, int columns)
{
    r->loop = tct_driver_host.about.name;
    snprintf(r->loop_detail, sizeof r->loop_detail, "%d columns in step",
             columns);
}

tacit_status tct_lockstep_run(tct_lockstep *L, const tct_column_batch *C)
{
    const double start = tct_seconds();
    tct_begin_runs(L->S);
    TRY(enter(L, C));
    first_residuals(L);
    iterate(L);
    for (int j = 0; j < L->members; j++) {
        member *m = &L->m[j];
        describe(&m->result, C->columns);
        const tacit_status status =
            tct_run_conclude(&m->run, tct_seconds() - start);
        C->over(C->ctx, m->column, status, &m->result);
        if (status < 0) return status;
    }
    return TACIT_OK;
}

static tacit_status make_places(tct_lockstep *L)
{
    const tct_run *R = &L->S->run;
    const size_t places = (size_t)L->places;
    L->stride = tct_stride(R->n);
    for (int k = 0; k < KINDS; k++)
        if (vector_of(R, k))
            TRY(tacit_queue_alloc(R->q, places * L->stride, &L->panel[k]));
    return tacit_queue_alloc(R->q, places * TCT_SCALARS, &L->c);
}

tacit_status tct_lockstep_create(tacit_solver *S, int places,
                                 tct_lockstep **out)
{
    tct_lockstep *L = tct_calloc(sizeof *L);
    tacit_status status = TACIT_OK;
    if (L) {
        L->S = S;
        L->places = places;
        status = make_places(L);
    } else {
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for %d columns",
                                 places);
    }
    status = tct_agree(S->run.q->world, status);
    if (status < 0) tct_lockstep_destroy(&L);
    else *out = L;
    return status;
}

void tct_lockstep_destroy(tct_lockstep **L)
{
    if (!*L) return;
    tct_lockstep *l = *L;
    for (int k = 0; k < KINDS; k++) q_free(l->S->run.q, l->panel[k]);
    q_free(l->S->run.q, l->c);
    tct_free(l);
    *L = NULL;
}

int tct_lockstep_places(const tct_lockstep *L)
{
    return L ? L->places : 0;
}
