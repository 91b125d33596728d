/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/gpu/tasks.c - branches, levels and tasks of a plan. */
#include "trisolve/gpu/supernodes.h"
#include <math.h>
#include <stdlib.h>

static const char *const what = "the tasks of a triangular solve";

enum {
    /* Per worker: fewer are imbalanced, more leave a larger top of the tree. */
    BRANCHES_EACH = 6,
    BRANCH_LEAST = 1024, /* bounds of a branch's values */
    BRANCH_MOST = 20000,
    PIECE_LEAST = 8192, /* ... and of those of a task of one node */
    PIECE_MOST = 32768,
    ROWS_LEAST = 8, /* rows of such a task, one column */
    ROWS_MOST = 256,
    COLUMNS_LEAST = 4,
    COLUMNS_MOST = 32,
    PIECE_OF_MANY = 16384, /* values of a task, several columns */
    SHARED_BY = 2,         /* assemble a right-hand side that more tasks read */
    TOGETHER = 512,        /* ... by tasks of so many rows */
    TOGETHER_OF_MANY = 32,
    DOUBLING_ROWS_OF_MANY = 32 /* as TCT_DOUBLING_ROWS, several columns */
};

typedef struct {
    tct_tri_plan *plan;
    double *weight;  /* [nodes] values of its subtree */
    int32_t *branch; /* [nodes] -1: above branches */
    int32_t *height; /* [nodes] in its branch                              */
    int32_t *depth;  /* [nodes] 0: root */
    int32_t *parent; /* [branches] parent of its subtrees */
    double *carries; /* [branches] values */
    int32_t *open;   /* [nodes + 1] branch below a node with room */
} weighing;

static double between(double least, double x, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* --- branches ------------------------------------------------------------- */

static void weigh(const weighing *W)
{
    const tct_tri_plan *plan = W->plan;
    for (int32_t k = 0; k < plan->nodes; k++) W->weight[k] = 0.0;
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        W->weight[k] += (double)N->h * N->w;
        if (N->parent >= 0) W->weight[N->parent] += W->weight[k];
    }
}

/* Pack subtrees of up to `most` values with the same parent into branches. */
static void find_branches(const weighing *W, double most)
{
    tct_tri_plan *plan = W->plan;
    plan->branches = 0;
    for (int32_t k = 0; k <= plan->nodes; k++) W->open[k] = -1;
    for (int32_t k = plan->nodes - 1; k >= 0; k--) {
        const int32_t up = plan->node[k].parent;
        int32_t *open = &W->open[up < 0 ? plan->nodes : up];
        W->depth[k] = up < 0 ? 0 : W->depth[up] + 1;
        W->branch[k] = up < 0 ? -1 : W->branch[up];
        if (W->branch[k] >= 0 || W->weight[k] > most) continue;
        if (*open < 0 || W->carries[*open] + W->weight[k] > most) {
            *open = plan->branches++;
            W->carries[*open] = 0.0;
            W->parent[*open] = up;
        }
        W->carries[*open] += W->weight[k];
        W->branch[k] = *open;
    }
}

/* Bisect the branch size between `least` and `most` to get about BRANCHES_EACH
 * per worker. */
static void choose_branches(const weighing *W, int workers)
{
    double least = BRANCH_LEAST, most = BRANCH_MOST;
    while (most > 1.1 * least) {
        const double middle = sqrt(least * most);
        find_branches(W, middle);
        if (W->plan->branches > BRANCHES_EACH * workers) least = middle;
        else most = middle;
    }
    find_branches(W, most);
}

static bool is_small(const tct_node *N)
{
    return N->w <= TCT_ALONE_WIDTH && (int64_t)N->w * N->h <= TCT_ALONE_SIZE;
}

typedef struct {
    int32_t branch, height, large, node;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->branch != y->branch) return x->branch < y->branch ? -1 : 1;
    if (x->height != y->height) return x->height < y->height ? -1 : 1;
    if (x->large != y->large) return x->large < y->large ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void find_heights(const weighing *W)
{
    const tct_tri_plan *plan = W->plan;
    for (int32_t k = 0; k < plan->nodes; k++) W->height[k] = 0;
    for (int32_t k = 0; k < plan->nodes; k++) {
        const int32_t up = plan->node[k].parent;
        if (up >= 0 && W->height[up] <= W->height[k])
            W->height[up] = W->height[k] + 1;
    }
}

/* Nodes of branches, by level. */
static void list_levels(const weighing *W, place *all)
{
    tct_tri_plan *plan = W->plan;
    int32_t count = 0;
    find_heights(W);
    for (int32_t k = 0; k < plan->nodes; k++)
        if (W->branch[k] >= 0)
            all[count++] = (place){W->branch[k], W->height[k],
                                   !is_small(&plan->node[k]), k};
    qsort(all, (size_t)count, sizeof *all, by_place);
    for (int32_t i = 0; i < count; i++) {
        const bool opens = i == 0 || all[i].branch != all[i - 1].branch;
        if (opens) plan->branch[all[i].branch].from = plan->levels;
        if (opens || all[i].height != all[i - 1].height)
            plan->level[plan->levels++] = (tct_tri_level){i, i, i};
        tct_tri_level *level = &plan->level[plan->levels - 1];
        level->to = i + 1;
        if (!all[i].large) level->alone = i + 1;
        plan->branch[all[i].branch].to = plan->levels;
        plan->order[i] = all[i].node;
    }
}

/* --- tasks ---------------------------------------------------------------- */

/* How nodes are cut into tasks. */
typedef struct {
    bool many;
    double piece;
} cutting;

static int32_t tiles_of(int32_t length)
{
    return TCT_TILE *
           (int32_t)between(1.0, PIECE_OF_MANY / TCT_TILE / (double)length,
                            TCT_TILES);
}

static int32_t rows_at_once(const cutting *C, const tct_node *N)
{
    int32_t rows = ROWS_MOST;
    if (C->many) return tiles_of(N->w);
    while (rows > ROWS_LEAST && (double)rows * N->w > C->piece) rows /= 2;
    return rows;
}

static int32_t columns_at_once(const cutting *C, const tct_node *N)
{
    int32_t columns = COLUMNS_MOST;
    if (C->many) return tiles_of(N->h);
    while (columns > COLUMNS_LEAST && (double)columns * N->h > C->piece)
        columns /= 2;
    return columns;
}

typedef struct {
    tct_task task;
    int32_t depth;
    double weight;
    int64_t number;
} job;

/* By depth, deepest first; then by weight, heaviest first. */
static int by_depth(const void *a, const void *b)
{
    const job *x = a, *y = b;
    if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* A list of jobs; `all` NULL: they are only counted. */
typedef struct {
    const weighing *W;
    const cutting *C;
    bool up;
    job *all;
    int64_t count;
} joblist;

static void add_job(joblist *J, tct_task task, int32_t depth, double weight)
{
    if (J->all) J->all[J->count] = (job){task, depth, weight, J->count};
    J->count++;
}

/* The counters of the tasks of node or branch `k` below `parent`. */
static tct_task task_of(const joblist *J, int32_t k, int32_t parent)
{
    const int32_t n = J->W->plan->nodes, above = parent < 0 ? n : parent;
    tct_task t = {.what = k, .wait = k < 0 ? -1 : k, .tell = above};
    if (!J->up) return t;
    t.wait = parent < 0 ? n : tct_counts_up(n, parent);
    t.tell = k < 0 ? -1 : tct_counts_up(n, k);
    return t;
}

/* Jobs of `step` rows or columns of node `k`. */
static void add_pieces(joblist *J, int32_t k, tct_task t, int32_t end,
                       int32_t step)
{
    for (int32_t from = 0; from < end; from += step) {
        t.from = from;
        t.to = end - from < step ? end : from + step;
        add_job(J, t, 2 * J->W->depth[k], (double)(t.to - t.from));
    }
}

/* Jobs that assemble the right-hand side of node `k`; *t then waits for
 * them. */
static void add_assembly(joblist *J, int32_t k, tct_task *t)
{
    const int32_t n = J->W->plan->nodes, w = J->W->plan->node[k].w;
    const int32_t step = J->C->many ? TOGETHER_OF_MANY : TOGETHER;
    tct_task first = *t;
    first.tell = t->wait = tct_counts_together(n, k);
    for (int32_t from = 0; from < w; from += step) {
        first.from = -1 - from;
        first.to = w - from < step ? w : from + step;
        add_job(J, first, 2 * J->W->depth[k] + 1, 0.0);
    }
}

static void list_jobs(joblist *J)
{
    const weighing *W = J->W;
    const tct_tri_plan *plan = W->plan;
    for (int32_t b = 0; b < plan->branches; b++) {
        const int32_t p = W->parent[b];
        add_job(J, task_of(J, -1 - b, p), p < 0 ? 0 : 2 * W->depth[p] + 2,
                W->carries[b]);
    }
    for (int32_t k = 0; k < plan->nodes; k++) {
        const tct_node *N = &plan->node[k];
        tct_task t = task_of(J, k, N->parent);
        if (W->branch[k] >= 0) continue;
        if (J->up) {
            add_pieces(J, k, t, N->w, columns_at_once(J->C, N));
            continue;
        }
        const int32_t rows = rows_at_once(J->C, N);
        if ((N->h + rows - 1) / rows > SHARED_BY) add_assembly(J, k, &t);
        add_pieces(J, k, t, N->h, rows);
    }
}

/* One pass: sorted tasks into `to`, their additions into `due`. */
static void list_tasks(joblist *J, tct_task *to, uint32_t *due)
{
    job *all = J->all;
    J->count = 0;
    list_jobs(J);
    for (int64_t i = 0; J->up && i < J->count; i++)
        all[i].depth = -all[i].depth;
    qsort(all, (size_t)J->count, sizeof *all, by_depth);
    for (int64_t i = 0; i < J->count; i++) {
        to[i] = all[i].task;
        if (to[i].tell >= 0) due[to[i].tell]++;
    }
    for (int64_t i = 0; i < J->count; i++) /* a leaf waits for none */
        if (to[i].wait >= 0 && due[to[i].wait] == 0) to[i].wait = -1;
}

static tacit_status cut_tasks(const weighing *W, const cutting *C, tct_cut *cut)
{
    joblist down = {.W = W, .C = C}, up = {.W = W, .C = C, .up = true};
    const size_t counters = (size_t)tct_counters(W->plan->nodes);
    list_jobs(&down);
    list_jobs(&up);
    if (down.count + up.count > INT32_MAX ||
        3.0 * W->plan->nodes > INT32_MAX - 2)
        FAIL(TACIT_UNSUPPORTED, "more tasks than are counted in 32 bits");
    cut->down = (int32_t)down.count;
    cut->up = (int32_t)up.count;
    TRY(TCT_ALLOC(down.count + up.count, what, &cut->task));
    TRY(TCT_ALLOC(counters, what, &cut->due));
    TRY(TCT_ALLOC(down.count > up.count ? down.count : up.count, what,
                  &down.all));
    memset(cut->due, 0, counters * sizeof *cut->due);
    up.all = down.all;
    list_tasks(&down, cut->task, cut->due);
    list_tasks(&up, cut->task + cut->down, cut->due);
    tct_free(down.all);
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

static int32_t depth_of(const weighing *W)
{
    int32_t depth = 0;
    for (int32_t k = 0; k < W->plan->nodes; k++)
        if (W->branch[k] < 0 && W->depth[k] >= depth) depth = W->depth[k] + 1;
    for (int32_t b = 0; b < W->plan->branches; b++) {
        const int32_t d = W->parent[b] < 0 ? 0 : W->depth[W->parent[b]] + 1;
        if (d >= depth) depth = d + 1;
    }
    return depth;
}

static tacit_status make(weighing *W, int workers)
{
    tct_tri_plan *plan = W->plan;
    const int32_t n = plan->nodes;
    const double each = (double)plan->stored / workers;
    place *all = NULL;
    TRY(TCT_ALLOC(n, what, &W->weight));
    TRY(TCT_ALLOC(n, what, &W->branch));
    TRY(TCT_ALLOC(n, what, &W->height));
    TRY(TCT_ALLOC(n, what, &W->depth));
    TRY(TCT_ALLOC(n, what, &W->parent));
    TRY(TCT_ALLOC(n, what, &W->carries));
    TRY(TCT_ALLOC(n + 1, what, &W->open));
    TRY(TCT_ALLOC(n, what, &plan->order));
    TRY(TCT_ALLOC(n, what, &plan->level));
    weigh(W);
    choose_branches(W, workers);
    TRY(TCT_ALLOC(plan->branches, what, &plan->branch));
    TRY(TCT_ALLOC(n, what, &all));
    list_levels(W, all);
    tct_free(all);
    plan->depth = depth_of(W);
    const cutting one = {false, between(PIECE_LEAST, each / 16, PIECE_MOST)},
                  many = {true, 0.0};
    TRY(cut_tasks(W, &one, &plan->cut[TCT_FOR_ONE]));
    return cut_tasks(W, &many, &plan->cut[TCT_FOR_MANY]);
}

tacit_status tct_tri_plan_tasks(tct_tri_plan *plan, int workers)
{
    weighing W = {.plan = plan};
    const tacit_status status = make(&W, workers);
    TCT_FREE(W.weight, W.branch, W.height, W.depth, W.parent, W.carries,
             W.open);
    return status;
}

/* --- between the passes --------------------------------------------------- */

static tacit_status add_doubling(const tct_tri_plan *plan, tct_cut *cut,
                                 int32_t rows, int32_t step)
{
    const int32_t roots = plan->nodes, all = tct_counts_swapped(plan->nodes);
    const int32_t pieces = rows > 0 ? (rows + step - 1) / step : 1;
    tct_task *task = NULL;
    TRY(TCT_ALLOC((int64_t)cut->down + pieces + cut->up, what, &task));
    memcpy(task, cut->task, (size_t)cut->down * sizeof *task);
    for (int32_t k = 0; k < pieces; k++)
        task[cut->down + k] =
            (tct_task){.what = k,
                       .from = k * step,
                       .to = rows - k * step < step ? rows : (k + 1) * step,
                       .wait = roots,
                       .tell = all};
    tct_task *up = task + cut->down + pieces;
    memcpy(up, cut->task + cut->down, (size_t)cut->up * sizeof *task);
    for (int32_t k = 0; k < cut->up; k++)
        if (up[k].wait == roots) up[k].wait = all;
    cut->due[all] = (uint32_t)pieces;
    cut->between = pieces;
    tct_free(cut->task);
    cut->task = task;
    return TACIT_OK;
}

tacit_status tct_tri_plan_doubling(tct_tri_plan *plan, int32_t rows)
{
    if (plan->nodes == 0) return TACIT_OK;
    TRY(add_doubling(plan, &plan->cut[TCT_FOR_ONE], rows, TCT_DOUBLING_ROWS));
    return add_doubling(plan, &plan->cut[TCT_FOR_MANY], rows,
                        DOUBLING_ROWS_OF_MANY);
}

double tct_tri_plan_bytes(const tct_tri_plan *plan)
{
    double bytes = (plan->upper ? 16.0 : 8.0) * (double)plan->stored +
                   4.0 * (double)(plan->updates + plan->rests) +
                   8.0 * (double)plan->slots +
                   (double)(plan->nodes + plan->blocks) * sizeof(tct_node) +
                   4.0 * (double)plan->nodes +
                   (double)plan->levels * sizeof(tct_tri_level) +
                   (plan->scale ? 8.0 * (double)plan->rows : 0.0);
    for (int c = 0; c < TCT_CUTS; c++)
        bytes += ((double)plan->cut[c].down + plan->cut[c].between +
                  plan->cut[c].up) *
                     sizeof(tct_task) +
                 12.0 * tct_counters(plan->nodes);
    return bytes;
}
