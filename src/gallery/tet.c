/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/tet.c - tet3d:N,SEED, linear finite elements for -div grad u on a
 * tetrahedral mesh of a ball with an ellipsoidal cavity.
 *
 * The ball consists of those of N^3 cubes whose middle is in the ball and
 * outside the cavity. A cube has a node in its middle, connected to the two
 * triangles of each face: 12 tetrahedra. The diagonal of each face is random
 * and common to both its cubes, so rows are irregular: 9 entries for a middle,
 * 15 to 27 for an interior corner. Nodes are moved by up to a tenth of a cube's
 * side, which inverts no tetrahedron: six volumes, 1/2 in an unmoved cube,
 * remain at least 1/10.
 *
 * u is 0 on the outer surface below half of the radius down; the rest of the
 * surface, the cavity's too, is free. Close to N^3 rows, 14.6 entries a row. */
#include "device/parallel.h"
#include "gallery/element.h"
#include "gallery/family.h"
#include <math.h>
#include <string.h>

#define JITTER 0.1

enum { CORNER, MIDDLE, SLOTS = 54, WIDEST = 27, SIDE_MOST = 1000000 };

/* Half axes of the cavity in radii of the ball. */
static const double cavity[3] = {0.40, 0.30, 0.50};

/* Points of the lattice: (N + 1)^3 sites, each a corner and the middle of the
 * cube above it, in this order. Nodes keep it; `start` is the first row of each
 * plane of sites. */
typedef struct {
    int64_t n; /* cubes along a side */
    uint64_t seed;
    int64_t start[]; /* [n + 2] */
} ball;

/* --- existing nodes ------------------------------------------------------- */

/* A row of cubes along x, in half sides from the axis: cubes exist if their
 * middle's
 * |X| is above `cavity` and up to `ball`, both congruent to n + 1 modulo 2. */
typedef struct {
    int64_t ball, cavity;
} reach;

/* The largest number congruent to n + 1 modulo 2 whose square is at most
 * `limit` (below it, if `strict`); negative: none. */
static int64_t root(int64_t n, double limit, bool strict)
{
    const int64_t none = n % 2 ? -2 : -1;
    if (limit < 0.0 || (strict && limit <= 0.0)) return none;
    int64_t r = (int64_t)sqrt(limit) + 2;
    r -= (r + n + 1) % 2;
    while (r >= 0 &&
           (strict ? (double)(r * r) >= limit : (double)(r * r) > limit))
        r -= 2;
    return r >= 0 ? r : none;
}

static reach reach_at(const ball *t, int64_t j, int64_t k)
{
    const int64_t n = t->n, y = 2 * j + 1 - n, z = 2 * k + 1 - n;
    const double radius = (double)n;
    const double v = (double)y / (cavity[1] * radius);
    const double w = (double)z / (cavity[2] * radius);
    const double a = cavity[0] * radius;
    if (j < 0 || k < 0 || j >= n || k >= n) return (reach){-2, -1};
    return (reach){root(n, (double)(n * n - y * y - z * z), false),
                   root(n, a * a * (1.0 - v * v - w * w), true)};
}

static bool cube_there(const reach *r, int64_t n, int64_t i)
{
    const int64_t x = 2 * i + 1 - n, at = x < 0 ? -x : x;
    return i >= 0 && i < n && at <= r->ball && at > r->cavity;
}

/* The four rows of cubes around a row of corners; `low`: corners on the outer
 * surface are held. */
typedef struct {
    reach around[4];
    bool low;
} corner_row;

static corner_row corners_at(const ball *t, int64_t j, int64_t k)
{
    return (corner_row){.around = {reach_at(t, j - 1, k - 1),
                                   reach_at(t, j, k - 1), reach_at(t, j - 1, k),
                                   reach_at(t, j, k)},
                        .low = 2 * (2 * k - t->n) < -t->n};
}

/* Corners with |x| from `low` to `high` touch a cube of row `r`; none if low >
 * high. */
static void touched(const corner_row *c, int r, int64_t n, int64_t *low,
                    int64_t *high)
{
    const reach *q = &c->around[r];
    *low = q->cavity + 1 > n % 2 ? q->cavity + 1 : n % 2;
    *high = q->ball > q->cavity ? q->ball + 1 : -1;
    for (int s = 0; s < 4 && c->low; s++)
        if (c->around[s].ball - 1 < *high) *high = c->around[s].ball - 1;
}

static bool corner_free(const corner_row *c, int64_t n, int64_t i)
{
    const int64_t x = 2 * i - n, at = x < 0 ? -x : x;
    for (int r = 0; r < 4; r++) {
        int64_t low, high;
        touched(c, r, n, &low, &high);
        if (low <= at && at <= high) return true;
    }
    return false;
}

/* The count of x with low <= |x| <= high, x of one parity. */
static int64_t both_sides(int64_t low, int64_t high)
{
    return low > high ? 0 : high + 1 - (low > 1 ? low - 1 : 0);
}

/* Free corners of a row: a union of four intervals of |x|. */
static int64_t count_corners(const corner_row *c, int64_t n)
{
    int64_t low[4], high[4], count = 0, done = -1;
    for (int r = 0; r < 4; r++) {
        int64_t a, b;
        touched(c, r, n, &a, &b);
        int s = r;
        for (; s > 0 && low[s - 1] > a; s--) {
            low[s] = low[s - 1];
            high[s] = high[s - 1];
        }
        low[s] = a;
        high[s] = b;
    }
    for (int r = 0; r < 4; r++) {
        const int64_t from = low[r] > done ? low[r] : done + 2;
        if (high[r] <= done || high[r] < from) continue;
        count += both_sides(from, high[r]);
        done = high[r];
    }
    return count;
}

static int64_t count_plane(const ball *t, int64_t k)
{
    int64_t count = 0;
    for (int64_t j = 0; j <= t->n; j++) {
        const corner_row c = corners_at(t, j, k);
        const reach *r = &c.around[3];
        count += count_corners(&c, t->n);
        count += both_sides(r->cavity < 0 ? 0 : r->cavity + 2, r->ball);
    }
    return count;
}

/* --- numbers of nodes: one bit each, for the planes of a part ------------- */

typedef struct {
    const ball *t;
    int64_t plane, planes; /* planes [plane, plane + planes) */
    int64_t words;         /* of 64 nodes, per plane */
    int64_t *before;       /* free nodes before each word [planes words] */
    uint64_t bits[];       /* [planes words], followed by `before` */
} part;

/* Index of a node in its plane: two for each site. */
static int64_t place(const ball *t, int64_t i, int64_t j, int type)
{
    return 2 * (j * (t->n + 1) + i) + type;
}

static void mark_plane(part *p, int64_t k)
{
    const ball *t = p->t;
    uint64_t *bits = p->bits + (k - p->plane) * p->words;
    int64_t *before = p->before + (k - p->plane) * p->words;
    memset(bits, 0, (size_t)p->words * sizeof *bits);
    for (int64_t j = 0; j <= t->n; j++) {
        const corner_row c = corners_at(t, j, k);
        for (int64_t i = 0; i <= t->n; i++) {
            const int64_t at = place(t, i, j, CORNER);
            const uint64_t corner = corner_free(&c, t->n, i);
            const uint64_t middle = cube_there(&c.around[3], t->n, i);
            bits[at / 64] |= (corner | middle << MIDDLE) << at % 64;
        }
    }
    int64_t count = t->start[k];
    for (int64_t w = 0; w < p->words; w++) {
        before[w] = count;
        count += __builtin_popcountll(bits[w]);
    }
}

/* The plane of row `i`. */
static int64_t plane_of(const ball *t, int64_t i)
{
    int64_t low = 0, high = t->n; /* start[low] <= i < start[high + 1] */
    while (low < high) {
        const int64_t mid = (low + high + 1) / 2;
        if (t->start[mid] <= i) low = mid;
        else high = mid - 1;
    }
    return low;
}

static void mark_planes(void *work, int64_t from, int64_t to)
{
    part *p = work;
    for (int64_t k = from; k < to; k++) mark_plane(p, p->plane + k);
}

static tacit_status tet_part(const void *data, int64_t first, int64_t rows,
                             void **out)
{
    const ball *t = data;
    const int64_t sites = t->n + 1, words = (2 * sites * sites + 63) / 64;
    const int64_t low = plane_of(t, first), from = low > 0 ? low - 1 : 0;
    const int64_t high = plane_of(t, first + (rows > 0 ? rows - 1 : 0));
    const int64_t planes = (high < t->n ? high + 2 : high + 1) - from;
    const double bytes = 16.0 * (double)words * (double)planes;
    TRY(tct_memory_require(bytes, "numbering the nodes of tet3d"));
    part *p = tct_alloc(sizeof *p + (size_t)bytes);
    if (!p) FAIL(TACIT_NO_MEMORY, "no memory to number the nodes of tet3d");
    *p = (part){.t = t, .plane = from, .planes = planes, .words = words};
    p->before = (int64_t *)(p->bits + words * planes);
    tct_parallel(planes, 2, mark_planes, p);
    *out = p;
    return TACIT_OK;
}

/* --- rows ----------------------------------------------------------------- */

/* The nodes of a row: one slot for each node of the 27 surrounding sites, in
 * the order of their numbers. */
typedef struct {
    const part *p;
    int64_t site[3];
    int64_t stride[3]; /* between neighbouring sites */
    int64_t number;    /* of the site                                      */
    int own;           /* the row's slot                                   */
    bool values;
    bool there[SLOTS], placed[SLOTS];
    double sum[SLOTS];
    double x[SLOTS][3]; /* coordinates, if `placed` */
} gather;

/* Distances between the slots of neighbours along x, y and z. */
static const int slot_stride[3] = {2, 6, 18};

enum { OWN_SITE = 26 }; /* the slot of the row's own corner */

static void slot_site(const gather *w, int slot, int64_t site[3])
{
    const int at = slot / 2;
    site[0] = w->site[0] + at % 3 - 1;
    site[1] = w->site[1] + at / 3 % 3 - 1;
    site[2] = w->site[2] + at / 9 - 1;
}

/* Place a node by three times 21 bits of one random number. */
static void place_node(gather *w, int slot)
{
    int64_t s[3];
    slot_site(w, slot, s);
    const int64_t site = (s[2] * w->stride[1] + s[1]) * w->stride[1] + s[0];
    uint64_t u = tct_mix((uint64_t)(2 * site + slot % 2) ^ w->p->t->seed);
    for (int d = 0; d < 3; d++, u >>= 21) {
        const double move = (double)(u & 0x1fffff) * 0x1p-20 - 1.0;
        w->x[slot][d] = (double)s[d] + (slot % 2 ? 0.5 : 0.0) + JITTER * move;
    }
    w->placed[slot] = true;
}

/* Add the tetrahedron of these nodes to the row, whose node is number `own`. */
static void add_tet(gather *w, const int slot[4], int own)
{
    for (int b = 0; b < 4; b++) w->there[slot[b]] = true;
    if (!w->values) return;
    double x[4][3], G[4][3];
    for (int b = 0; b < 4; b++) {
        if (!w->placed[slot[b]]) place_node(w, slot[b]);
        memcpy(x[b], w->x[slot[b]], sizeof x[b]);
    }
    const double volume =
        fabs(tct_tet_gradients((const double(*)[3])x, G)) / 6.0;
    for (int b = 0; b < 4; b++)
        w->sum[slot[b]] += volume * (G[own][0] * G[b][0] + G[own][1] * G[b][1] +
                                     G[own][2] * G[b][2]);
}

/* Add the tetrahedra at a face of cube `c` (relative to the row's site): across
 * `d`, the upper one if `up`. */
static void add_face(gather *w, const int c[3], int d, int up)
{
    static const int triangles[2][2][3] = {{{0, 1, 3}, {0, 3, 2}},
                                           {{0, 1, 2}, {1, 3, 2}}};
    const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
    int middle = OWN_SITE + MIDDLE;
    int64_t site = w->number + up * w->stride[d];
    for (int k = 0; k < 3; k++) {
        middle += c[k] * slot_stride[k];
        site += c[k] * w->stride[k];
    }
    const int low = middle - MIDDLE + up * slot_stride[d];
    const int corner[4] = {low, low + slot_stride[e], low + slot_stride[f],
                           low + slot_stride[e] + slot_stride[f]};
    const uint64_t face = (uint64_t)(3 * site + d);
    const int coin = (int)(tct_mix(face ^ ~w->p->t->seed) >> 63);
    for (int k = 0; k < 2; k++) {
        const int *v = triangles[coin][k];
        const int slot[4] = {corner[v[0]], corner[v[1]], corner[v[2]], middle};
        int own = 0;
        while (own < 4 && slot[own] != w->own) own++;
        if (own < 4) add_tet(w, slot, own);
    }
}

static bool marked(const part *p, int64_t i, int64_t j, int64_t k, int type)
{
    const int64_t n = p->t->n;
    if (i < 0 || j < 0 || k < 0 || i > n || j > n || k > n) return false;
    const int64_t at = place(p->t, i, j, type);
    return p->bits[(k - p->plane) * p->words + at / 64] >> at % 64 & 1;
}

/* Add all tetrahedra of the row: cubes ascending, then faces. */
static void gather_row(gather *w)
{
    const int64_t *s = w->site;
    if (w->own % 2 == MIDDLE) {
        const int c[3] = {0, 0, 0};
        for (int d = 0; d < 3; d++)
            for (int up = 0; up < 2; up++) add_face(w, c, d, up);
        return;
    }
    for (int k = 0; k < 8; k++) {
        const int c[3] = {k % 2 - 1, k / 2 % 2 - 1, k / 4 - 1};
        if (!marked(w->p, s[0] + c[0], s[1] + c[1], s[2] + c[2], MIDDLE))
            continue;
        for (int d = 0; d < 3; d++) add_face(w, c, d, -c[d]);
    }
}

/* The row of a free node. */
static int64_t number(const part *p, const int64_t s[3], int type)
{
    const int64_t at = place(p->t, s[0], s[1], type);
    const int64_t word = (s[2] - p->plane) * p->words + at / 64;
    const uint64_t below = (UINT64_C(1) << at % 64) - 1;
    return p->before[word] + __builtin_popcountll(p->bits[word] & below);
}

static int64_t write_row(const gather *w, int64_t *cols, double *vals)
{
    int64_t n = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (!w->there[slot]) continue;
        int64_t s[3];
        slot_site(w, slot, s);
        if (!marked(w->p, s[0], s[1], s[2], slot % 2)) continue; /* held */
        if (cols) {
            cols[n] = number(w->p, s, slot % 2);
            vals[n] = w->sum[slot];
        }
        n++;
    }
    return n;
}

/* The word of `bits` that has row `i`. */
static int64_t word_of(const part *p, int64_t i)
{
    int64_t low = (plane_of(p->t, i) - p->plane) * p->words;
    int64_t high = low + p->words - 1;
    while (low < high) { /* the last word with before <= i */
        const int64_t mid = (low + high + 1) / 2;
        if (p->before[mid] <= i) low = mid;
        else high = mid - 1;
    }
    return low;
}

/* Start the row of the node at index `at` of the plane of `word`. */
static void start_row(gather *w, const part *p, bool values, int64_t word,
                      int64_t at)
{
    const int64_t sites = p->t->n + 1;
    w->p = p;
    w->values = values;
    w->site[0] = at / 2 % sites;
    w->site[1] = at / 2 / sites;
    w->site[2] = p->plane + word / p->words;
    w->stride[0] = 1;
    w->stride[1] = sites;
    w->stride[2] = sites * sites;
    w->number = w->site[2] * sites * sites + at / 2;
    w->own = OWN_SITE + (int)(at % 2);
    memset(w->there, 0, sizeof w->there);
    memset(w->placed, 0, sizeof w->placed);
    memset(w->sum, 0, sizeof w->sum);
}

static void tet_rows(const void *data, int64_t first, int64_t last,
                     int64_t *length, int64_t *cols, double *vals)
{
    const part *p = data;
    int64_t word = word_of(p, first), i = p->before[word], used = 0;
    for (; i < last; word++)
        for (uint64_t bits = p->bits[word]; bits && i < last; i++) {
            const int64_t at = word % p->words * 64 + __builtin_ctzll(bits);
            bits &= bits - 1;
            if (i < first) continue;
            gather w;
            start_row(&w, p, cols != NULL, word, at);
            gather_row(&w);
            const int64_t n = write_row(&w, cols ? cols + used : NULL,
                                        vals ? vals + used : NULL);
            *length++ = n;
            used += n;
        }
}

static const tct_gallery_maker tet_maker = {
    .rows = tet_rows,
    .part = tet_part,
};

static void count_planes(void *work, int64_t from, int64_t to)
{
    ball *t = work;
    for (int64_t k = from; k < to; k++) t->start[k + 1] = count_plane(t, k);
}

static tacit_status tet3d_open(const char *arguments, tct_gallery_matrix *g)
{
    tct_gallery_spec w;
    int64_t n;
    uint64_t seed;
    TRY(tct_gallery_spec_cut(&tct_gallery_tet3d, arguments, 1, 2, &w));
    TRY(tct_gallery_spec_whole(&w, 0, "N", 2, &n));
    TRY(tct_gallery_spec_seed(&w, 1, &seed));
    if (n > SIDE_MOST)
        FAIL(TACIT_INPUT,
             "tet3d: N = %lld, expected %d or less: its nodes do "
             "not fit in 64 bits",
             (long long)n, SIDE_MOST);
    /* too large even for a thousand ranks: do not count */
    const double about = (double)n * (double)n * (double)n;
    if (about * 180.0 / 1024.0 > (double)tct_memory_available())
        TRY(tct_memory_require(about * 180.0, g->name));
    ball *t = tct_calloc(sizeof *t + (size_t)(n + 2) * sizeof t->start[0]);
    if (!t) FAIL(TACIT_NO_MEMORY, "no memory for the planes of tet3d");
    g->data = t;
    t->n = n;
    t->seed = tct_mix(seed);
    tct_parallel(n + 1, 2, count_planes, t);
    for (int64_t k = 0; k <= n; k++) t->start[k + 1] += t->start[k];
    g->maker = &tet_maker;
    g->rows = t->start[n + 1];
    g->widest = WIDEST;
    g->nonzeros = 14.6 * (double)g->rows;
    g->guessed = true;
    g->irregular = true;
    return TACIT_OK;
}

const tct_gallery tct_gallery_tet3d = {
    {"tet3d", "tet3d:N[,SEED]",
     "linear finite elements on a jittered tetrahedral mesh of a "
     "ball with a cavity, about N^3 rows"},
    tet3d_open};
