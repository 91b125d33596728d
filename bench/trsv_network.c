/* SPDX-License-Identifier: BSD-3-Clause
 * bench/trsv_network.c - triangular solves on thousands of processes,
 * simulated: each has its plan (trisolve/grid/plan.h), and messages take a time
 * of latency + bytes / bandwidth, and each end of one some of its processor's.
 *
 *     trsv_network [-l LATENCY] [-b BANDWIDTH] [-o OVERHEAD] [-m MEMORY]
 *                  [-L LEAVES] [-w WIDEST] [-p RANKS,...] [-z PZ,...]
 *                  MATRIX...
 *
 * Of a process: it takes messages in the order in which they come, one after
 * the other; blocks cost their bytes over MEMORY [bytes/s]; nothing is lost in
 * the network, where no message waits for another. No values are made. Prints
 * tab-separated: matrix, ranks, grid, seconds of 3d, baseline3d (without trees,
 * as its authors ran it, but driven by messages), the baseline with panels in
 * order above the leaves (as in their code), p2p, 2d on as many ranks (with
 * trees), both baselines and 2d over 3d, and messages of 3d and the baselines.
 *
 * The defaults are to be like the machine of "Unified communication
 * optimization strategies ..." [LG23], Cray XC40: 1.3 us and, of a node's 8
 * GB/s for 32 ranks, 0.25 GB/s (Alverson et al., "Cray XC series network", Cray
 * 2012); 68 GB/s a socket for 16 cores (E5-2698v3), 4.2 GB/s; the overhead of
 * 0.4 us is a guess. Its speed-ups, measured, were up to 3.45 (s2D9pt2048),
 * 1.87 (nlpkkt80) and 1.13 (ldoor). */
#include "matrix/matrix.h"
#include "trisolve/grid/plan.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacit/tacit.h>
#include <unistd.h>

static int widest = TCT_WIDTH_USUAL;
static double latency = 1.3e-6, bandwidth = 0.25e9, overhead = 0.4e-6,
              memory = 4.2e9;

/* --- panels, without values ----------------------------------------------- */

typedef struct {
    tacit_factor_panels P;
    int64_t *first, *row_start;
    int32_t *row, *node;
} pattern;

static void need(bool there)
{
    if (there) return;
    fprintf(stderr, "trsv_network: no memory\n");
    exit(1);
}

/* Fronts in panels of even widths, as factor.c cuts them. */
static pattern cut(const tct_fronts *F, int leaves)
{
    pattern p = {.first = NULL};
    const int64_t width = widest;
    int32_t panels = 0;
    int64_t rows = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            p.first = malloc(((size_t)panels + 1) * sizeof *p.first);
            p.row_start = malloc(((size_t)panels + 1) * sizeof *p.row_start);
            p.node = malloc((size_t)panels * sizeof *p.node);
            p.row = malloc((size_t)rows * sizeof *p.row);
            need(p.first && p.row_start && p.node && p.row);
            p.first[0] = p.row_start[0] = 0;
        }
        panels = 0;
        rows = 0;
        for (int32_t f = 0; f < F->count; f++) {
            const int64_t w = tct_front_width(F, f), m = tct_front_below(F, f),
                          pieces = (w + width - 1) / width,
                          even = (w + pieces - 1) / pieces;
            for (int64_t at = 0; at < w; at += even, panels++) {
                const int64_t h = w - at + m;
                if (pass) {
                    int32_t *to = p.row + rows;
                    for (int64_t j = at; j < w; j++)
                        *to++ = (int32_t)(F->first[f] + j);
                    memcpy(to, F->below + F->start[f], (size_t)m * sizeof *to);
                    p.node[panels] = F->node[f];
                    p.first[panels + 1] =
                        F->first[f] + (at + even < w ? at + even : w);
                    p.row_start[panels + 1] = rows + h;
                }
                rows += h;
            }
        }
    }
    p.P = (tacit_factor_panels){.size = sizeof p.P,
                                .rows = F->rows,
                                .panels = panels,
                                .first = p.first,
                                .row_start = p.row_start,
                                .row = p.row,
                                .node = p.node,
                                .leaves = leaves};
    return p;
}

static tacit_status pattern_of(const char *name, int leaves, pattern *out)
{
    tacit_world *w = NULL;
    tacit_matrix *m = NULL;
    tct_nesting x = {.leaves = 0};
    tct_fronts F = {.rows = 0};
    TRY(tacit_world_self(&w));
    TRY(tacit_matrix_open(w, name, NULL, &m));
    const tct_graph g = {m->A.rows, m->A.ptr, m->A.col32};
    TRY(tct_nesting_create(&g, leaves, &x));
    TRY(tct_fronts_create(&g, &x, &F));
    *out = cut(&F, leaves);
    fprintf(stderr, "%s: %" PRId64 " rows, %.3g entries of L, %d panels\n",
            name, F.rows, (double)F.nonzeros, (int)out->P.panels);
    tct_fronts_clear(&F);
    tct_nesting_clear(&x);
    tacit_matrix_destroy(&m);
    tacit_world_destroy(&w);
    return TACIT_OK;
}

static void pattern_free(pattern *p)
{
    free(p->first);
    free(p->row_start);
    free(p->row);
    free(p->node);
}

/* --- messages on their way ------------------------------------------------ */

typedef struct {
    double time;
    int32_t to, panel;
    int16_t box;
    bool is_sum;
} message;

typedef struct { /* the earliest first */
    message *at;
    int64_t count, room;
} heap;

static void push(heap *h, message l)
{
    if (h->count == h->room) {
        h->room = h->room ? 2 * h->room : 1024;
        h->at = realloc(h->at, (size_t)h->room * sizeof *h->at);
        need(h->at != NULL);
    }
    int64_t k = h->count++;
    for (; k > 0 && h->at[(k - 1) / 2].time > l.time; k = (k - 1) / 2)
        h->at[k] = h->at[(k - 1) / 2];
    h->at[k] = l;
}

static message pop(heap *h)
{
    const message top = h->at[0], last = h->at[--h->count];
    int64_t k = 0;
    for (int64_t n = 1; n < h->count; n = 2 * k + 1) {
        if (n + 1 < h->count && h->at[n + 1].time < h->at[n].time) n++;
        if (h->at[n].time >= last.time) break;
        h->at[k] = h->at[n];
        k = n;
    }
    h->at[k] = last;
    return top;
}

/* --- a process ------------------------------------------------------------ */

typedef struct {
    tct_trsv_plan plan;
    double now;
    int stage;
    int64_t coming;
    int32_t *left, *ready;
    int32_t readies;
    heap early; /* messages of later stages */
} process;

typedef struct {
    const tct_pattern *S;
    const tct_grid *grid;
    process *all;
    heap sky;
    int64_t messages_sent;
    int *
        waiting; /* [pz] processes that are about to go in order; NULL: none do */
} network;

static void send(network *n, process *p, int to, int box, int32_t panel,
                 bool is_sum, int64_t width)
{
    p->now += overhead;
    n->messages_sent++;
    push(&n->sky, (message){.time = p->now + latency +
                                    tct_message_bytes(1, width, 1) / bandwidth,
                            .to = to,
                            .panel = panel,
                            .box = (int16_t)box,
                            .is_sum = is_sum});
}

static const tct_stage *stage_of(const process *p)
{
    return &p->plan.step[p->stage];
}
static int box_of(const process *p)
{
    return tct_tag_of(stage_of(p)->kind, stage_of(p)->height);
}
static bool is_sweep(const tct_stage *s)
{
    return s->kind == TCT_SWEEP_L || s->kind == TCT_SWEEP_U;
}
static const tct_side *side_of(const process *p, bool adds)
{
    const tct_sweep *s = &p->plan.sweep[stage_of(p)->sweep];
    return adds == (stage_of(p)->kind == TCT_SWEEP_L) ? &s->row : &s->col;
}
static int64_t width_of(const tct_side *s, int32_t k)
{
    return s->width[k + 1] - s->width[k];
}

static int32_t find(const tct_side *s, int32_t K)
{
    int32_t low = 0, high = s->count;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (s->panel[mid] < K) low = mid + 1;
        else high = mid;
    }
    return low;
}

static void count_down(process *p, int32_t r)
{
    if (--p->left[r] == 0) p->ready[p->readies++] = r;
}

/* What this rank has below panel k. */
static void read_column(process *p, int32_t k)
{
    const tct_sweep *s = &p->plan.sweep[stage_of(p)->sweep];
    const int64_t rows = s->rows[k + 1] - s->rows[k];
    p->now += 8.0 * (double)(rows * width_of(&s->col, k)) / memory;
}

/* Solution k is told, and multiplied with. */
static void spread(network *n, process *p, int32_t k)
{
    const tct_sweep *s = &p->plan.sweep[stage_of(p)->sweep];
    const bool down = stage_of(p)->kind == TCT_SWEEP_L;
    const tct_side *t = side_of(p, false);
    for (int32_t i = t->below_start[k]; i < t->below_start[k + 1]; i++)
        send(n, p, t->below[i], box_of(p), t->panel[k], false, width_of(t, k));
    if (down) read_column(p, k);
    for (int32_t i = t->block_start[k]; i < t->block_start[k + 1]; i++) {
        const int32_t b = t->block[i];
        count_down(p, down ? s->block_row[b] : s->block_col[b]);
    }
}

static void conclude(network *n, process *p, int32_t r)
{
    const tct_side *a = side_of(p, true);
    const double w = (double)width_of(a, r);
    if (stage_of(p)->kind == TCT_SWEEP_U) read_column(p, r);
    if (a->above[r] >= 0)
        send(n, p, a->above[r], box_of(p), a->panel[r], true, width_of(a, r));
    else if (a->twin[r] >= 0) {
        p->now += 4.0 * w * w / memory;
        spread(n, p, a->twin[r]);
    }
}

static void work(network *n, process *p)
{
    while (p->readies > 0) conclude(n, p, p->ready[--p->readies]);
}

static void begin_sweep(network *n, process *p)
{
    const tct_side *a = side_of(p, true), *t = side_of(p, false);
    for (int32_t r = 0; r < a->count; r++) {
        p->left[r] = a->block_start[r + 1] - a->block_start[r] +
                     a->below_start[r + 1] - a->below_start[r];
        if (p->left[r] == 0) p->ready[p->readies++] = r;
    }
    for (int32_t k = 0; k < t->count && stage_of(p)->kind == TCT_SWEEP_U; k++)
        if (t->above[k] < 0 && t->twin[k] < 0) spread(n, p, k);
    work(n, p);
}

static void send_between(network *n, process *p)
{
    const tct_trsv_plan *q = &p->plan;
    const int box = box_of(p);
    int64_t width = 0;
    for (int32_t k = 0; k < q->owns; k++) {
        if (q->own_height[k] <= stage_of(p)->height) continue;
        const int64_t w = q->own_width[k + 1] - q->own_width[k];
        width += w;
        if (q->grid.by_height)
            send(n, p, stage_of(p)->peer, box, q->own[k], false, w);
    }
    p->now += 8.0 * (double)width / memory;
    if (!q->grid.by_height)
        send(n, p, stage_of(p)->peer, box, -1, false, width);
}

static void take(network *n, process *p, const message *l)
{
    if (l->time > p->now) p->now = l->time;
    p->now += overhead;
    p->coming--;
    if (!is_sweep(stage_of(p))) return;
    const int32_t k = find(side_of(p, l->is_sum), l->panel);
    if (l->is_sum) count_down(p, k);
    else spread(n, p, k);
    work(n, p);
}

/* --- panels in order ---------------------------------------------------------------
 * Above the leaves the authors' code of [SLV19] takes the panels of a node in
 * their order, each with a blocking sum over all of a process row and a
 * blocking broadcast over all of a process column, whether they have blocks
 * there or not. */

/* Processes of a row or a column of a grid, from `root` on. */
typedef struct {
    process *first;
    int count, stride, root;
} line;

static line line_of(const network *n, int z, bool is_row, int32_t K,
                    int32_t root)
{
    const tct_grid *g = n->grid;
    const int x = is_row ? K % g->px : 0, y = is_row ? 0 : K % g->py,
              count = is_row ? g->py : g->px;
    return (line){.first = &n->all[tct_rank_at(g, x, y, z)],
                  .count = count,
                  .stride = is_row ? 1 : g->py,
                  .root = root % count};
}
static process *in_line(const line *l, int k)
{
    return &l->first[(k + l->root) % l->count * l->stride];
}
static void hand(network *n, process *from, process *to, int64_t width)
{
    n->messages_sent++;
    from->now += overhead;
    const double then = from->now + latency + 8.0 * (double)width / bandwidth;
    to->now = (then > to->now ? then : to->now) + overhead;
}
/* By binomial trees. */
static void add_up(network *n, const line *l, int64_t width)
{
    for (int step = 1; step < l->count; step *= 2)
        for (int k = 0; k + step < l->count; k += 2 * step)
            hand(n, in_line(l, k + step), in_line(l, k), width);
}
static void broadcast(network *n, const line *l, int64_t width)
{
    int step = 1;
    while (step < l->count) step *= 2;
    for (step /= 2; step > 0; step /= 2)
        for (int k = 0; k + step < l->count; k += 2 * step)
            hand(n, in_line(l, k), in_line(l, k + step), width);
}

/* All of a column's processes read what they have below panel K. */
static void read_line(const line *column, int32_t K)
{
    for (int i = 0; i < column->count; i++) {
        process *p = in_line(column, i);
        const tct_side *c = &p->plan.sweep[stage_of(p)->sweep].col;
        const int32_t k = find(c, K);
        if (k < c->count && c->panel[k] == K) read_column(p, k);
    }
}

/* One panel of a sweep; U is L', so that rows and columns change places. */
static void in_order(network *n, int z, int32_t K, bool down)
{
    const tct_grid *g = n->grid;
    const int64_t w = tct_width(n->S, K);
    const line row = line_of(n, z, true, K, K % g->py),
               column = line_of(n, z, false, K, K % g->px);
    if (!down) read_line(&column, K);
    add_up(n, down ? &row : &column, w);
    in_line(&row, 0)->now += 4.0 * (double)(w * w) / memory;
    broadcast(n, down ? &column : &row, w);
    if (down) read_line(&column, K);
}

/* The sweep of a node by all processes of grid z, which are there. */
static void sweep_in_order(network *n, int z)
{
    const process *p = &n->all[tct_rank_at(n->grid, 0, 0, z)];
    const tct_stage *s = stage_of(p);
    const tct_pattern *S = n->S;
    const bool down = s->kind == TCT_SWEEP_L;
    const int32_t node = tct_node_at(S, z, s->height),
                  *start = &S->member_start[node];
    for (int h = s->height + 1; !down && h < S->heights; h++) {
        if (s[-1].kind != TCT_PASS_ON || s[-1].sends) break;
        const int32_t above = tct_node_at(S, z, h);
        for (int32_t i = S->member_start[above]; i < S->member_start[above + 1];
             i++) {
            const int32_t K = S->member[i];
            const line row = line_of(n, z, true, K, K % n->grid->py);
            broadcast(n, &row, tct_width(S, K));
        }
    }
    for (int32_t i = start[0]; i < start[1]; i++)
        in_order(n, z, S->member[down ? i : start[0] + start[1] - 1 - i], down);
}

static void go_on(network *n, process *p, bool begins);

/* The last of its grid takes the others along. */
static void wait_for_grid(network *n, process *p)
{
    const int z = p->plan.z, each = n->grid->px * n->grid->py;
    if (++n->waiting[z] < each) return;
    n->waiting[z] = 0;
    sweep_in_order(n, z);
    process *all = &n->all[tct_rank_at(n->grid, 0, 0, z)];
    for (int k = 0; k < each; k++) all[k].stage++;
    for (int k = 0; k < each; k++) go_on(n, &all[k], true);
}

/* All stages that need nothing more; of those that have begun one waits. */
static void go_on(network *n, process *p, bool begins)
{
    for (; p->stage < p->plan.steps; p->stage++, begins = true) {
        const tct_stage *s = stage_of(p);
        const int box = box_of(p);
        if (n->waiting && is_sweep(s) && s->height > 0) {
            wait_for_grid(n, p);
            return;
        }
        if (begins) {
            p->coming = p->plan.in[box];
            if (is_sweep(s)) begin_sweep(n, p);
            else if (s->sends) send_between(n, p);
            heap later = {.at = NULL};
            while (p->early.count > 0) {
                const message l = pop(&p->early);
                if (l.box == box) take(n, p, &l);
                else push(&later, l);
            }
            free(p->early.at);
            p->early = later;
        }
        if (p->coming > 0) return;
    }
}

/* --- a solve -------------------------------------------------------------- */

static int32_t most_entries(const tct_trsv_plan *p)
{
    int32_t most = 1;
    for (int k = 0; k < p->sweeps; k++) {
        if (p->sweep[k].col.count > most) most = p->sweep[k].col.count;
        if (p->sweep[k].row.count > most) most = p->sweep[k].row.count;
    }
    return most;
}

/* Seconds from the first rank's beginning to the last one's end. */
static double simulate(const tct_pattern *S, const tct_grid *g, bool ordered,
                       int64_t *messages_sent)
{
    const int size = tct_grid_size(g);
    network n = {.S = S, .grid = g, .all = calloc((size_t)size, sizeof *n.all)};
    need(n.all != NULL);
    if (ordered) {
        n.waiting = calloc((size_t)g->pz, sizeof *n.waiting);
        need(n.waiting != NULL);
    }
    double end = 0.0;
    for (int r = 0; r < size; r++) {
        process *p = &n.all[r];
        need(tct_trsv_plan_create(S, g, r, &p->plan) >= 0);
        const size_t most = (size_t)most_entries(&p->plan);
        p->left = malloc(most * sizeof *p->left);
        p->ready = malloc(most * sizeof *p->ready);
        need(p->left && p->ready);
    }
    for (int r = 0; r < size; r++) go_on(&n, &n.all[r], true);
    while (n.sky.count > 0) {
        const message l = pop(&n.sky);
        process *p = &n.all[l.to];
        if (p->stage < p->plan.steps && l.box == box_of(p)) {
            take(&n, p, &l);
            go_on(&n, p, false);
        } else push(&p->early, l);
    }
    for (int r = 0; r < size; r++) {
        process *p = &n.all[r];
        if (p->stage < p->plan.steps) {
            fprintf(stderr, "trsv_network: rank %d of %d waits for ever\n", r,
                    size);
            exit(1);
        }
        if (p->now > end) end = p->now;
        tct_trsv_plan_clear(&p->plan);
        free(p->left);
        free(p->ready);
        free(p->early.at);
    }
    *messages_sent = n.messages_sent;
    free(n.sky.at);
    free(n.all);
    free(n.waiting);
    return end;
}

/* As square as can be, as in the paper. */
static tct_grid grid_of(int size, int pz)
{
    int px = (int)sqrt((double)(size / pz) + 0.5);
    while (size / pz % px) px--;
    return (tct_grid){.px = px, .py = size / pz / px, .pz = pz};
}

static tacit_status compare(const char *name, const pattern *p, int size,
                            int pz, double *two)
{
    tct_pattern S;
    enum { OURS, BASELINE, ORDERED, FLAT, SCHEMES };
    int64_t messages_sent[SCHEMES];
    double seconds[SCHEMES];
    tct_grid g = grid_of(size, pz);
    TRY(tct_pattern_create(&p->P, pz, &S));
    for (int k = 0; k < SCHEMES; k++) {
        g.by_height = k == BASELINE || k == ORDERED;
        g.flat = k != OURS;
        seconds[k] = simulate(&S, &g, k == ORDERED, &messages_sent[k]);
    }
    tct_pattern_clear(&S);
    if (pz == 1) *two = seconds[OURS];
    printf("%s\t%d\t%dx%dx%d", name, size, g.px, g.py, g.pz);
    for (int k = 0; k < SCHEMES; k++) printf("\t%.4g", seconds[k]);
    printf("\t%.4g\t%.2f\t%.2f\t%.2f\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n",
           *two, seconds[BASELINE] / seconds[OURS],
           seconds[ORDERED] / seconds[OURS], *two / seconds[OURS],
           messages_sent[OURS], messages_sent[BASELINE],
           messages_sent[ORDERED]);
    fflush(stdout);
    return TACIT_OK;
}

/* Numbers with commas between them, after a first one. */
static int numbers(const char *text, int most, int *out)
{
    int count = 0, length = 0;
    while (count < most && sscanf(text, "%d%n", &out[count], &length) == 1) {
        count++;
        text += length;
        if (*text++ != ',') break;
    }
    return count;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    int ranks[MOST] = {64, 256, 1024, 2048}, sizes = 4,
        pz[MOST] = {1, 4, 16, 32}, pzs = 4, leaves = 32, message_ = 0;
    while ((message_ = getopt(argc, argv, "l:b:o:m:L:p:w:z:")) != -1) {
        if (message_ == 'l') latency = atof(optarg);
        else if (message_ == 'b') bandwidth = atof(optarg);
        else if (message_ == 'o') overhead = atof(optarg);
        else if (message_ == 'm') memory = atof(optarg);
        else if (message_ == 'L') leaves = atoi(optarg);
        else if (message_ == 'w') widest = atoi(optarg);
        else if (message_ == 'p') sizes = numbers(optarg, MOST, ranks);
        else if (message_ == 'z') pzs = numbers(optarg, MOST, pz);
        else return 1;
    }
    printf("matrix\tranks\tgrid\t3d\tbaseline\tin order\tp2p\t2d\tbaseline/3d\t"
           "in order/3d\t2d/3d\tletters 3d\tletters baseline\tin order\n");
    for (; optind < argc; optind++) {
        pattern p;
        if (pattern_of(argv[optind], leaves, &p) < 0) {
            fprintf(stderr, "trsv_network: %s\n", tacit_error_message());
            return 1;
        }
        for (int s = 0; s < sizes; s++) {
            double two = (double)NAN;
            for (int k = 0; k < pzs; k++)
                if (ranks[s] % pz[k] == 0 && pz[k] <= leaves &&
                    compare(argv[optind], &p, ranks[s], pz[k], &two) < 0)
                    return 1;
        }
        pattern_free(&p);
    }
    return 0;
}
