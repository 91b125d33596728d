/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/supernodes.c - builds a plan from a factor: nodes, the updates
 * that their rows gather, P. */
#include "trisolve/gpu/supernodes.h"
#include "device/parallel.h"
#include "factor/dense.h"
#include "factor/factor.h"
#include <inttypes.h>
#include <math.h>

static const char *const what = "the plan of a triangular solve";

/* Panels [panel, end) have the same rows except for their own columns. */
typedef struct {
    int32_t panel, end;
} front;

/* A plan under construction. */
typedef struct {
    const tacit_factor_panels *P;
    tct_tri_plan *plan;
    const tct_dense *dense;
    front *fronts;
    int32_t count;
    bool *cut_before;  /* [rows] a node begins with this column */
    int32_t *of;       /* [rows] the node of a column           */
    int32_t *front_of; /* [nodes] */
} maker;

static int64_t width_of(const tacit_factor_panels *P, int32_t K)
{
    return P->first[K + 1] - P->first[K];
}
static int64_t height_of(const tacit_factor_panels *P, int32_t K)
{
    return P->row_start[K + 1] - P->row_start[K];
}

/* --- fronts and nodes ----------------------------------------------------- */

/* Panel K + 1 has the rows of panel K. */
static bool goes_on(const tacit_factor_panels *P, int32_t K)
{
    if (K + 1 >= P->panels || P->parent[K] != K + 1) return false;
    const int64_t below = height_of(P, K) - width_of(P, K);
    return below == height_of(P, K + 1) &&
           memcmp(P->row + P->row_start[K] + width_of(P, K),
                  P->row + P->row_start[K + 1],
                  (size_t)below * sizeof *P->row) == 0;
}

/* Fronts, each cut into nodes of equal width. */
static tacit_status find_fronts(maker *M)
{
    const tacit_factor_panels *P = M->P;
    TRY(TCT_ALLOC(P->panels, what, &M->fronts));
    TRY(TCT_ALLOC(P->rows, what, &M->cut_before));
    memset(M->cut_before, 0, (size_t)P->rows * sizeof *M->cut_before);
    for (int32_t K = 0; K < P->panels;) {
        front *f = &M->fronts[M->count++];
        f->panel = K;
        while (goes_on(P, K)) K++;
        f->end = ++K;
        const int64_t first = P->first[f->panel], w = P->first[K] - first;
        const int64_t pieces = (w + TCT_NODE_WIDTH - 1) / TCT_NODE_WIDTH;
        for (int64_t k = 0; k < pieces; k++)
            M->cut_before[first + k * w / pieces] = true;
    }
    return TACIT_OK;
}

/* Rows below the columns of a front. */
static int64_t below_front(const tacit_factor_panels *P, const front *f)
{
    return height_of(P, f->end - 1) - width_of(P, f->end - 1);
}

/* Append the node of columns [from, to) of front `f`. */
static void add_node(maker *M, int32_t f, int64_t from, int64_t to)
{
    const front *F = &M->fronts[f];
    tct_tri_plan *plan = M->plan;
    const int64_t below = M->P->first[F->end] - to + below_front(M->P, F);
    tct_node *N = &plan->node[plan->nodes];
    *N = (tct_node){.value = plan->stored,
                    .slot = plan->slots,
                    .below = plan->updates,
                    .first = (int32_t)from,
                    .w = (int32_t)(to - from),
                    .h = (int32_t)(to - from + below)};
    N->ld = N->h < 2 * TCT_TILE ? (N->h + 1) / 2 * 2 : (N->h + 3) / 4 * 4;
    for (int64_t j = from; j < to; j++) M->of[j] = plan->nodes;
    M->front_of[plan->nodes++] = f;
    plan->stored += (int64_t)N->ld * N->w;
    plan->slots += N->h;
    plan->updates += below;
}

static tacit_status find_nodes(maker *M)
{
    const tacit_factor_panels *P = M->P;
    tct_tri_plan *plan = M->plan;
    int32_t nodes = 0;
    for (int64_t j = 0; j < P->rows; j++) nodes += M->cut_before[j];
    TCT_FREE(plan->node, M->of, M->front_of);
    plan->node = NULL;
    M->of = M->front_of = NULL;
    TRY(TCT_ALLOC(nodes, what, &plan->node));
    TRY(TCT_ALLOC(P->rows, what, &M->of));
    TRY(TCT_ALLOC(nodes, what, &M->front_of));
    plan->nodes = 0;
    plan->stored = plan->slots = plan->updates = 0;
    for (int32_t f = 0; f < M->count; f++) {
        const int64_t end = P->first[M->fronts[f].end];
        for (int64_t j = P->first[M->fronts[f].panel], to; j < end; j = to) {
            for (to = j + 1; to < end && !M->cut_before[to];) to++;
            add_node(M, f, j, to);
        }
    }
    if (plan->updates > INT32_MAX || plan->slots > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "a solve on a GPU counts rows of panels in 32 bits, and %" PRId64
             " are too many: solve on the host",
             plan->slots);
    return TACIT_OK;
}

/* --- rows and gathers ----------------------------------------------------- */

static void list_rows(const maker *M)
{
    const tacit_factor_panels *P = M->P;
    const tct_tri_plan *plan = M->plan;
    for (int32_t k = 0; k < plan->nodes; k++) {
        tct_node *N = &plan->node[k];
        const front *F = &M->fronts[M->front_of[k]];
        int32_t *to = plan->row + N->below;
        for (int64_t j = N->first + N->w; j < P->first[F->end]; j++)
            *to++ = (int32_t)j;
        memcpy(to, P->row + P->row_start[F->end] - below_front(P, F),
               (size_t)below_front(P, F) * sizeof *to);
        N->parent = N->h > N->w ? M->of[plan->row[N->below]] : -1;
        int32_t K = F->panel;
        while (P->first[K + 1] <= N->first) K++;
        N->panel = K;
    }
}

/* The index of `row` among the rows of node `N`, searched from `i` on; -1:
 * none. */
static int32_t place_in(const tct_tri_plan *plan, const tct_node *N, int32_t i,
                        int32_t row)
{
    if (row < N->first + N->w) return row - N->first;
    if (i < N->w) i = N->w;
    while (i < N->h && plan->row[N->below + i - N->w] < row) i++;
    return i < N->h && plan->row[N->below + i - N->w] == row ? i : -1;
}

/* Count the updates of node `k` per row of its parent; with `list`, list
 * them. */
static tacit_status pass_on(const tct_tri_plan *plan, int32_t k, int32_t *start,
                            int32_t *list)
{
    const tct_node *N = &plan->node[k];
    if (N->parent < 0) return TACIT_OK;
    tct_node *up = &plan->node[N->parent];
    up->leaf = 0;
    for (int32_t i = 0, at = 0; i < N->h - N->w; i++) {
        const int32_t row = plan->row[N->below + i];
        at = place_in(plan, up, at, row);
        if (at < 0)
            FAIL(TACIT_UNSUPPORTED,
                 "factor: panel %" PRId32 " has row %" PRId32
                 ", and its parent, panel %" PRId32
                 ", has not: a GPU solves with whole factors of symmetric "
                 "patterns, which tacit_factor_import makes of those that "
                 "lack little, the host with others (tacit_factor_solve, "
                 "device host)",
                 N->panel, row, up->panel);
        int32_t *s = &start[up->slot + at];
        if (list) list[s[0]++] = (int32_t)(N->below + i);
        else s[1]++;
    }
    return TACIT_OK;
}

/* The updates of each row, from `list`. */
static tacit_status find_takes(tct_tri_plan *plan, const int32_t *start,
                               const int32_t *list)
{
    plan->rests = 0;
    for (int64_t s = 0; s < plan->slots; s++) {
        const int32_t count = start[s + 1] - start[s];
        if (count > 2) plan->rests += count;
    }
    TRY(TCT_ALLOC(plan->rests, what, &plan->rest));
    int32_t *rest = plan->rest;
    for (int64_t s = 0; s < plan->slots; s++) {
        const int32_t *from = list + start[s], count = start[s + 1] - start[s];
        plan->take[s] =
            (tct_take){count > 0 ? from[0] : -1,
                       count == 2  ? from[1]
                       : count > 2 ? -2 - (int32_t)(rest - plan->rest)
                                   : -1};
        if (count < 3) continue;
        *rest++ = count - 1;
        memcpy(rest, from + 1, (size_t)(count - 1) * sizeof *rest);
        rest += count - 1;
    }
    return TACIT_OK;
}

/* List the updates of each row, in the order of children. */
static tacit_status list_gathers(tct_tri_plan *plan, int32_t *start,
                                 int32_t *list)
{
    memset(start, 0, (size_t)(plan->slots + 1) * sizeof *start);
    for (int32_t k = 0; k < plan->nodes; k++) plan->node[k].leaf = 1;
    for (int32_t k = 0; k < plan->nodes; k++)
        TRY(pass_on(plan, k, start, NULL));
    for (int64_t s = 0; s < plan->slots; s++) start[s + 1] += start[s];
    for (int32_t k = 0; k < plan->nodes; k++)
        TRY(pass_on(plan, k, start, list));
    for (int64_t s = plan->slots; s > 0; s--) start[s] = start[s - 1];
    start[0] = 0;
    return find_takes(plan, start, list);
}

static tacit_status find_gathers(tct_tri_plan *plan)
{
    int32_t *start = NULL, *list = NULL;
    TCT_FREE(plan->take, plan->rest);
    plan->take = NULL;
    plan->rest = NULL;
    TRY(TCT_ALLOC(plan->slots, what, &plan->take));
    tacit_status status = TCT_ALLOC(plan->slots + 1, what, &start);
    if (status >= 0) status = TCT_ALLOC(plan->updates, what, &list);
    if (status >= 0) status = list_gathers(plan, start, list);
    TCT_FREE(start, list);
    return status;
}

/* --- values --------------------------------------------------------------- */

/* Copy L11 [w w], and L21 into the lower rows of P. */
static void take_values(const maker *M, int32_t k, const double *from,
                        double *L11, double *to)
{
    const tacit_factor_panels *P = M->P;
    const tct_node *N = &M->plan->node[k];
    const int64_t w = N->w;
    for (int32_t j = 0, K = N->panel; j < N->w; j++) {
        const int64_t column = N->first + j;
        while (P->first[K + 1] <= column) K++;
        const int64_t h = height_of(P, K), first = P->first[K];
        const double *l = from + P->value_start[K] + (column - first) * h;
        const int64_t end = N->first + w - first; /* of the node's columns */
        for (int64_t i = 0; i < j; i++) L11[i + j * w] = 0.0;
        memcpy(L11 + j + j * w, l + (column - first),
               (size_t)(w - j) * sizeof *l);
        memset(to + (int64_t)j * N->ld, 0, (size_t)N->ld * sizeof *to);
        memcpy(to + (int64_t)j * N->ld + w, l + end,
               (size_t)(N->h - N->w) * sizeof *l);
        to[(int64_t)j * N->ld + j] = 1.0;
    }
}

/* Returns || | L^-1 | | L | ||_inf, from L11 and its inverse at the top of P.
 * Also clears P above the diagonal and negates the lower rows. */
static double finish(const tct_node *N, double *L11, double *value)
{
    double worst = 0.0, *sum = L11; /* column 0 of L11, free once read */
    for (int32_t i = 0; i < N->w; i++) {
        double s = 0.0;
        for (int32_t j = 0; j <= i; j++) s += fabs(L11[i + (int64_t)j * N->w]);
        sum[i] = s; /* row i of column 0 is not read again */
    }
    for (int32_t i = 0; i < N->w; i++) {
        double s = 0.0;
        for (int32_t j = 0; j <= i; j++)
            s += fabs(value[i + (int64_t)j * N->ld]) * sum[j];
        if (!(s <= worst)) worst = s; /* NaN counts */
    }
    for (int32_t j = 0; j < N->w; j++) {
        double *v = value + (int64_t)j * N->ld;
        for (int32_t i = 0; i < j; i++) v[i] = 0.0;
        for (int32_t i = N->w; i < N->h; i++) v[i] = -v[i];
    }
    return worst;
}

/* Form P of node `k`; returns its condition, < 0: no memory. */
static double form(const maker *M, int32_t k, const double *from, double *to)
{
    const tct_node *N = &M->plan->node[k];
    double *L11 = tct_alloc((size_t)N->w * (size_t)N->w * sizeof *L11);
    if (!L11) return -1.0;
    to += N->value;
    take_values(M, k, from, L11, to);
    M->dense->solve(false, N->h, N->w, L11, N->w, to, N->ld);
    const double condition = finish(N, L11, to);
    tct_free(L11);
    return condition;
}

/* Values of nodes [0, plan->nodes), taken some at a time. */
typedef struct {
    const maker *M;
    const double *from;
    double *to, *condition;
    atomic_int next;
} forming;

static bool is_large(const tct_node *N)
{
    return (double)N->h * N->w * N->w >= 2e8;
}

static void form_small(void *work, int64_t part)
{
    enum { AT_ONCE = 16 };
    forming *f = work;
    const tct_tri_plan *plan = f->M->plan;
    int32_t k = atomic_fetch_add(&f->next, AT_ONCE);
    (void)part;
    for (; k < plan->nodes; k = atomic_fetch_add(&f->next, AT_ONCE))
        for (int32_t i = k; i < k + AT_ONCE && i < plan->nodes; i++)
            if (!is_large(&plan->node[i]))
                f->condition[i] = form(f->M, i, f->from, f->to);
}

/* Of all nodes into `to`, their conditions into `condition`: small ones by
 * threads of ours, others by those of the BLAS. */
static void form_all(const maker *M, const double *from, double *to,
                     double *condition)
{
    const tct_tri_plan *plan = M->plan;
    forming f = {M, from, to, condition, 0};
    M->dense->begin(1);
    tct_parallel_shared(form_small, &f);
    M->dense->end();
    for (int32_t k = 0; k < plan->nodes; k++)
        if (is_large(&plan->node[k])) condition[k] = form(M, k, from, to);
}

/* Halve ill-conditioned nodes; sets *any if there are some. */
static tacit_status narrow(maker *M, const double *condition, bool *any)
{
    tct_tri_plan *plan = M->plan;
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        if (condition[k] < 0.0) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
        if (N->w == 1 || condition[k] <= TCT_PLAN_CONDITION) {
            if (!(condition[k] <= plan->condition))
                plan->condition = condition[k];
            continue;
        }
        M->cut_before[N->first + N->w / 2] = *any = true;
        plan->narrowed++;
    }
    return TACIT_OK;
}

static tacit_status find_values(maker *M, bool *again)
{
    tct_tri_plan *plan = M->plan;
    double *condition = NULL;
    const int stores = M->P->upper ? 2 : 1;
    TCT_FREE(plan->value, plan->upper);
    plan->value = plan->upper = NULL;
    TRY(tct_memory_require(8.0 * stores * (double)plan->stored, what));
    plan->condition = 0.0;
    TRY(TCT_ALLOC(plan->stored, what, &plan->value));
    if (M->P->upper) TRY(TCT_ALLOC(plan->stored, what, &plan->upper));
    TRY(TCT_ALLOC(plan->nodes, what, &condition));
    *again = false;
    form_all(M, M->P->value, plan->value, condition);
    tacit_status status = narrow(M, condition, again);
    if (status >= 0 && M->P->upper && !*again) {
        form_all(M, M->P->upper, plan->upper, condition);
        status = narrow(M, condition, again);
    }
    tct_free(condition);
    return status;
}

/* --- all ------------------------------------------------------------------ */

static tacit_status take_diagonal(maker *M)
{
    const tacit_factor_panels *P = M->P;
    if (!P->diagonal) return TACIT_OK;
    TRY(TCT_ALLOC(P->rows, what, &M->plan->scale));
    for (int64_t i = 0; i < P->rows; i++)
        M->plan->scale[i] = 1.0 / P->diagonal[i];
    return TACIT_OK;
}

static tacit_status make(maker *M, int workers)
{
    const char *why;
    tct_tri_plan *plan = M->plan;
    plan->rows = M->P->rows;
    plan->panels = M->P->panels;
    M->dense = tct_dense_get(tct_parallel_most(), &why);
    TRY(find_fronts(M));
    for (bool again = true; again;) {
        TRY(find_nodes(M));
        TCT_FREE(plan->row);
        TRY(TCT_ALLOC(plan->updates, what, &plan->row));
        list_rows(M);
        TRY(find_gathers(plan)); /* first: it may refuse the factor */
        TRY(find_values(M, &again));
    }
    TRY(take_diagonal(M));
    return tct_tri_plan_tasks(plan, workers);
}

tacit_status tct_tri_plan_create(const tacit_factor_panels *P, int workers,
                                 tct_tri_plan *out)
{
    const double start = tct_seconds();
    *out = (tct_tri_plan){.rows = 0};
    TRY(tacit_factor_check(P));
    if (P->kind == TACIT_FACTOR_IC0 || P->kind == TACIT_FACTOR_ILU0)
        FAIL(TACIT_UNSUPPORTED,
             "a GPU solves with whole factors, not with incomplete ones: take "
             "them on device host");
    if (P->off_diagonal)
        FAIL(TACIT_UNSUPPORTED,
             "a factor L D L' with pivots of 2 x 2 has no solver on a GPU: "
             "take kind lu");
    maker M = {.P = P, .plan = out};
    const tacit_status status = make(&M, workers);
    TCT_FREE(M.fronts, M.cut_before, M.of, M.front_of);
    out->seconds = tct_seconds() - start;
    if (status < 0) tct_tri_plan_clear(out);
    return status;
}

void tct_tri_plan_clear(tct_tri_plan *plan)
{
    for (int c = 0; c < TCT_CUTS; c++)
        TCT_FREE(plan->cut[c].task, plan->cut[c].due);
    TCT_FREE(plan->node, plan->value, plan->upper, plan->row, plan->take,
             plan->rest, plan->scale, plan->order, plan->level, plan->branch);
    *plan = (tct_tri_plan){.rows = 0};
}
