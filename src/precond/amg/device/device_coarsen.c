/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/device/device_coarsen.c - aggregates and their matrix on a
 * device: the sequence of tasks. The host reads only the numbers that determine
 * the next allocations. */
#include "precond/amg/aggregation/match.h"
#include "precond/amg/device/device_setup_impl.h"

/* Between two convergence checks; of MANY rows a round takes longer than a
 * check, also one without anything to do. TOGETHER is even: two swaps of lists
 * are none. */
enum { ROUNDS = 2, MANY = 1 << 20, TOGETHER = 64 };

/* Entries of a row in rounds together, on average. */
enum { LEAN = 16 };

/* --- memory --------------------------------------------------------------- */

/* Take the next `count` elements of `size` from the workspace; with `room` NULL
 * only count the doubles. */
typedef struct {
    double *room;
    size_t taken;
} carving;

static void *carve(carving *c, int64_t count, size_t size)
{
    void *at = c->room ? c->room + c->taken : NULL;
    c->taken += tct_amg_doubles_for(count, size);
    return at;
}

size_t tct_amg_device_divide_room(double *room, int64_t n, tct_amg_work *g)
{
    carving c = {.room = room};
    int32_t **const numbers[] = {&g->mate,  &g->lower,  &g->upper, &g->open,
                                 &g->other, &g->up,     &g->of,    &g->first,
                                 &g->count, &g->length, &g->longs};
    g->state = carve(&c, TCT_AMG_STATE, sizeof(double));
    g->diag = carve(&c, n, sizeof *g->diag);
    g->added = carve(&c, n, sizeof *g->added);
    g->sum = carve(&c, n + 1, sizeof *g->sum);
    g->partial = carve(&c, TCT_AMG_STRETCHES + 1, sizeof *g->partial);
    g->link = carve(&c, n, sizeof *g->link);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = carve(&c, n + 1, sizeof **numbers[i]);
    return c.taken;
}

/* Set the pieces of the workspace to those of divide_room. */
void tct_amg_device_tidy(tct_amg_device *t)
{
    t->g = (tct_amg_work){.w = t->vectors > 0 ? NULL : t->smooth};
    tct_amg_device_divide_room(t->room, t->A.rows, &t->g);
}

/* Start on the level's own matrix. */
void tct_amg_device_begin_level(tct_amg_device *t)
{
    t->g.A = t->A;
    t->g.w = t->vectors > 0 ? NULL : t->smooth;
}

/* --- a pass --------------------------------------------------------------- */

/* A chain has at most `n` rows, and each jump is 1 + HOPS times as far. */
static int jumps_for(int64_t n)
{
    int64_t reach = 1 + TCT_AMG_HOPS;
    int jumps = 1;
    for (; reach < n && jumps < TCT_AMG_JUMPS; jumps++)
        reach *= 1 + TCT_AMG_HOPS;
    return jumps;
}

/* For each row the distance to a chain's first row: see setup_tasks.h. */
static void enqueue_round(tct_amg_device *t, int64_t n)
{
    tct_amg_work *g = &t->g;
    const int jumps = jumps_for(n);
    tct_amg_device_each(t, TCT_AMG_look, n);
    tct_amg_device_each(t, TCT_AMG_link, n);
    for (g->step = 0; g->step < jumps; g->step++)
        tct_amg_device_each(t, TCT_AMG_jump, n);
    tct_amg_device_each(t, TCT_AMG_pair, n);
    tct_amg_device_each(t, TCT_AMG_keep, n);
    tct_amg_device_each(t, TCT_AMG_decide, 1);
    int32_t *const open = g->open;
    g->open = g->other;
    g->other = open;
}

/* Few short rows are matched by one kernel. */
static bool are_together(const tct_amg_device *t, int64_t n)
{
    const tct_amg_csr *A = &t->g.A;
    const int64_t most = t->kernels->together;
    return t->kernels->rounds && n > 0 && n <= most &&
           n * (A->entries / A->rows) <= LEAN * most;
}

/* Enqueue the rounds before the next check; returns how many. */
static int64_t enqueue_rounds(tct_amg_device *t, int64_t n)
{
    const int64_t count = n < MANY ? ROUNDS : 1;
    if (are_together(t, n)) {
        t->kernels->rounds(t->q, TOGETHER, &t->g);
        return TOGETHER;
    }
    for (int64_t k = 0; k < count; k++) enqueue_round(t, n);
    return count;
}

/* Rounds end when one pairs no row; the last round is the limit. Pairs are
 * counted before each check, since the check is usually the last. */
static tacit_status run_rounds(tct_amg_device *t, int64_t rows)
{
    int64_t n = rows;
    for (int64_t most = rows + 2; most > 0;) {
        most -= enqueue_rounds(t, n);
        tct_amg_device_each(t, TCT_AMG_lead, rows);
        tct_amg_device_sum_up(t, rows);
        TRY(tct_amg_device_inspect(t));
        if (t->seen.done) break;
        n = (int64_t)t->seen.count;
    }
    return TACIT_OK;
}

/* Match the rows; *pairs: pairs and single rows. */
static tacit_status match(tct_amg_device *t, int *rounds, int64_t *pairs)
{
    const int64_t rows = t->g.A.rows;
    const tct_amg_state *s = &t->seen;
    tct_amg_device_clear_state(t);
    tct_amg_device_each(t, TCT_AMG_open, rows);
    tct_amg_device_each(t, TCT_AMG_opened, 1);
    TRY(run_rounds(t, rows));
    while (tct_match_loosens((int64_t)s->all, (int64_t)(s->all - s->mates),
                             &t->g.limit)) {
        tct_amg_device_each(t, TCT_AMG_reopen, 1);
        TRY(run_rounds(t, rows));
    }
    *rounds += (int)s->rounds;
    *pairs = (int64_t)s->total;
    return TACIT_OK;
}

tacit_status tct_amg_device_accumulate(tct_amg_device *t, double **memory)
{
    tct_amg_work *g = &t->g;
    int64_t entries = 0;
    tct_amg_device_clear_state(t);
    tct_amg_device_each(t, TCT_AMG_measure, g->coarse);
    t->kernels->merge(t->q, false, g);
    TRY(tct_amg_device_find_sum(t, g->coarse, &entries));
    if (t->seen.too_long)
        FAIL(TACIT_UNSUPPORTED, "rows of more than %d entries", TCT_AMG_LONG);
    TRY(tct_amg_csr_open(t->q, g->coarse, entries, memory, &g->out));
    tct_amg_device_each(t, TCT_AMG_starts, g->coarse + 1);
    t->kernels->merge(t->q, true, g);
    return TACIT_OK;
}

/* One pass; *memory holds the matrix of pairs, unless the pass is the last. */
static tacit_status pass(tct_amg_device *t, int step, bool last,
                         double **memory, int *rounds)
{
    tct_amg_work *g = &t->g;
    const int64_t rows = g->A.rows;
    TRY(match(t, rounds, &g->coarse));
    tct_amg_device_each(t, TCT_AMG_number, rows);
    g->step = step;
    tct_amg_device_each(t, TCT_AMG_go_up, t->A.rows);
    if (last) return TACIT_OK;
    g->pairs = true;
    g->sorted = false;
    g->weight = g->w;
    g->group = g->up;
    TRY(tct_amg_device_accumulate(t, memory));
    tct_amg_device_each(t, TCT_AMG_add_up, g->coarse);
    double *const diag = g->diag;
    g->diag = g->added;
    g->added = diag;
    g->A = g->out;
    g->w = NULL;
    return TACIT_OK;
}

/* All passes; keeps the last matrix and its map `up`. */
static tacit_status run_passes(tct_amg_device *t, const tct_coarsening *how,
                               int *rounds)
{
    const int count = how->passes;
    tacit_status status = TACIT_OK;
    t->g.apart = tct_apart;
    t->g.limit = tct_pair_limit(how->nodes);
    t->g.beyond = t->beyond ? t->beyond + t->A.rows : NULL;
    tct_amg_device_each(t, TCT_AMG_diagonal, t->A.rows);
    for (int k = 0; status >= 0 && k < count; k++) {
        double *memory = NULL;
        status = pass(t, k, k == count - 1, &memory, rounds);
        if (!memory) continue;
        tacit_queue_free(t->q, &t->pass);
        t->pass = memory;
    }
    t->B = t->g.A;
    return status;
}

/* --- aggregates ----------------------------------------------------------- */

/* Absorb singletons and renumber the other aggregates. */
static tacit_status absorb_singletons(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    const int64_t rows = t->A.rows;
    int32_t *const of = g->of;
    g->joins = tct_joins;
    g->place = g->lower;
    tct_amg_device_each(t, TCT_AMG_none, g->coarse);
    tct_amg_device_each(t, TCT_AMG_member, rows);
    tct_amg_device_each(t, TCT_AMG_place, rows);
    tct_amg_device_each(t, TCT_AMG_stays, g->coarse);
    int64_t count = 0;
    TRY(tct_amg_device_find_sum(t, g->coarse, &count));
    tct_amg_device_each(t, TCT_AMG_renumber, rows);
    g->of = g->up;
    tct_amg_device_each(t, TCT_AMG_renumber, t->B.rows);
    g->of = of;
    g->coarse = count;
    return TACIT_OK;
}

tacit_status tct_amg_device_open_transfer(tct_amg_device *t, int width)
{
    tct_amg_transfer *T = &t->down;
    const size_t rows = (size_t)t->A.rows, coarse = (size_t)t->g.coarse;
    const size_t halves = (rows + 1) / 2, k = (size_t)width;
    tct_amg_transfer_free(t->q, T);
    *T = (tct_amg_transfer){.sets = {.count = t->g.coarse, .width = width}};
    TRY(tacit_queue_alloc(t->q, (coarse + 2) / 2, &T->ptr));
    TRY(tacit_queue_alloc(t->q, halves, &T->list));
    TRY(tacit_queue_alloc(t->q, halves, &T->of));
    TRY(tacit_queue_alloc(t->q, rows * k, &T->weight));
    TRY(tacit_queue_alloc(t->q, rows * k, &T->listed));
    tacit_queue_free(t->q, &t->next);
    return tacit_queue_alloc(t->q, coarse * k * k, &t->next);
}

void tct_amg_device_list_members(tct_amg_device *t, int64_t rows, int32_t *of,
                                 int32_t *ptr, int32_t *list)
{
    tct_amg_work *g = &t->g;
    int32_t *const was = g->of;
    g->of = of;
    g->ptr = ptr;
    g->list = list;
    tct_amg_device_each(t, TCT_AMG_none, g->coarse);
    tct_amg_device_each(t, TCT_AMG_member, rows);
    tct_amg_device_sum_up(t, g->coarse);
    tct_amg_device_each(t, TCT_AMG_begin, g->coarse + 1);
    tct_amg_device_each(t, TCT_AMG_none, g->coarse);
    tct_amg_device_each(t, TCT_AMG_fill, rows);
    tct_amg_device_each(t, TCT_AMG_sort, g->coarse);
    g->of = was;
}

/* Compute P and the smooth vector of the next level. */
static tacit_status make_p(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    const int64_t rows = t->A.rows;
    int32_t *const up = g->up;
    TRY(tct_amg_device_open_transfer(t, 1));
    g->scaled = t->down.weight;
    g->listed = t->down.listed;
    g->smooth = t->next;
    tct_amg_device_list_members(t, rows, g->of, (int32_t *)(void *)t->down.ptr,
                                (int32_t *)(void *)t->down.list);
    TRY(tct_amg_device_inspect(t));
    t->down.sets.elements = (int64_t)t->seen.total;
    tct_amg_device_each(t, TCT_AMG_weigh, g->coarse);
    tct_amg_device_each(t, TCT_AMG_weigh_none, rows);
    t->down.sets.ptr = g->ptr;
    t->down.sets.list = g->list;
    g->up = (int32_t *)(void *)t->down.of;
    tct_amg_device_each(t, TCT_AMG_copy, rows);
    g->up = up;
    return TACIT_OK;
}

/* P' A P, as S^-1 (Q' B Q) S^-1 or, after a single pass, from A. */
static tacit_status galerkin(tct_amg_device *t)
{
    tct_amg_work *g = &t->g;
    tacit_queue_free(t->q, &t->coarse);
    g->pairs = false;
    g->sorted = true;
    g->weight = t->down.weight;
    g->group = g->of;
    if (t->pass) {
        g->A = t->B;
        g->weight = g->vector = g->diag;
        g->group = g->up;
        tct_amg_device_list_members(t, t->B.rows, g->up, g->first, g->upper);
        tct_amg_device_each(t, TCT_AMG_scale, t->B.rows);
    }
    TRY(tct_amg_device_accumulate(t, &t->coarse));
    tacit_queue_free(t->q, &t->pass);
    t->C = g->out;
    g->A = t->A;
    g->weight = t->down.weight;
    g->ptr = (int32_t *)(void *)t->down.ptr;
    g->list = (int32_t *)(void *)t->down.list;
    tct_amg_device_each(t, TCT_AMG_complete, t->C.rows);
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

tacit_status tct_amg_device_pair_up(tct_amg_device *t,
                                    const tct_coarsening *how, int *rounds)
{
    tct_amg_device_begin_level(t);
    TRY(run_passes(t, how, rounds));
    tct_amg_device_begin_level(t);
    return absorb_singletons(t);
}

tacit_status tct_amg_device_coarsen_own(tct_amg_device *t,
                                        const tct_coarsening *how, int *rounds)
{
    tct_amg_device_tidy(t);
    TRY(tct_amg_device_pair_up(t, how, rounds));
    TRY(make_p(t));
    t->P = &t->down;
    return galerkin(t);
}
