/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/random.c - random:N,DEGREE,SEED. Each of DEGREE rounds permutes all
 * rows and pairs them. The permutation can be inverted, so a row's partners are
 * found without storing the graph. A value depends only on its two rows; the
 * diagonal dominates. */
#include "gallery/family.h"

enum { DEGREE_MOST = 4096, HALVES = 4 };

typedef struct {
    int64_t rows;
    int degree;
    int bits[2]; /* of the two halves of a number: 2^(sum) >= rows */
    uint64_t seed;
} random_graph;

/* The permutation is a Feistel network (Luby and Rackoff 1988): each half of
 * the number is changed alternately by a hash of the other, which can be
 * undone. It is repeated until the number is a row. */
static void half_step(const random_graph *t, int round, int k, uint64_t part[2])
{
    const uint64_t key =
        t->seed + (uint64_t)(round * HALVES + k) * UINT64_C(0xD1342543DE82EF95);
    const int to = k % 2;
    part[to] ^= tct_mix(part[!to] ^ key) >> (64 - t->bits[to]);
}

static uint64_t shuffle(const random_graph *t, int round, uint64_t v)
{
    do {
        uint64_t part[2] = {v >> t->bits[1],
                            v & ((UINT64_C(1) << t->bits[1]) - 1)};
        for (int k = 0; k < HALVES; k++) half_step(t, round, k, part);
        v = part[0] << t->bits[1] | part[1];
    } while (v >= (uint64_t)t->rows);
    return v;
}

static uint64_t unshuffle(const random_graph *t, int round, uint64_t v)
{
    do {
        uint64_t part[2] = {v >> t->bits[1],
                            v & ((UINT64_C(1) << t->bits[1]) - 1)};
        for (int k = HALVES - 1; k >= 0; k--) half_step(t, round, k, part);
        v = part[0] << t->bits[1] | part[1];
    } while (v >= (uint64_t)t->rows);
    return v;
}

/* The partner of row `i` in `round`; `i` itself if there is none. */
static int64_t partner(const random_graph *t, int round, int64_t i)
{
    const uint64_t v = shuffle(t, round, (uint64_t)i) ^ 1;
    return v < (uint64_t)t->rows ? (int64_t)unshuffle(t, round, v) : i;
}

static double value(const random_graph *t, int64_t i, int64_t j)
{
    const uint64_t low = (uint64_t)(i < j ? i : j);
    const uint64_t high = (uint64_t)(i < j ? j : i);
    return tct_uniform(low, high ^ t->seed) - 1.0;
}

/* Insert `col` into the ascending `cols` [n] unless present. */
static int insert(int64_t *cols, int n, int64_t col)
{
    int k = n;
    while (k > 0 && cols[k - 1] > col) k--;
    if (k > 0 && cols[k - 1] == col) return n;
    for (int m = n; m > k; m--) cols[m] = cols[m - 1];
    cols[k] = col;
    return n + 1;
}

static int random_row(const void *data, int64_t i, int64_t *cols, double *vals)
{
    const random_graph *t = data;
    int64_t own[DEGREE_MOST + 1];
    int64_t *col = cols ? cols : own;
    col[0] = i;
    int n = 1;
    for (int round = 0; round < t->degree; round++)
        n = insert(col, n, partner(t, round, i));
    if (!cols) return n;
    double sum = 1.0; /* the excess of the diagonal */
    int diagonal = 0;
    for (int k = 0; k < n; k++) {
        if (col[k] == i) {
            diagonal = k;
            continue;
        }
        vals[k] = value(t, i, col[k]);
        sum -= vals[k];
    }
    vals[diagonal] = sum;
    return n;
}

static const tct_gallery_maker random_maker = {.row = random_row};

static tacit_status random_open(const char *arguments, tct_gallery_matrix *g)
{
    tct_gallery_spec w;
    random_graph t = {.bits = {1, 1}};
    int64_t degree;
    TRY(tct_gallery_spec_cut(&tct_gallery_random, arguments, 2, 3, &w));
    TRY(tct_gallery_spec_whole(&w, 0, "N", 1, &t.rows));
    TRY(tct_gallery_spec_whole(&w, 1, "DEGREE", 0, &degree));
    TRY(tct_gallery_spec_seed(&w, 2, &t.seed));
    if (degree > DEGREE_MOST)
        FAIL(TACIT_INVALID,
             "random: DEGREE = %lld, expected %d or less "
             "(usage: %s)",
             (long long)degree, DEGREE_MOST, tct_gallery_random.about.usage);
    t.degree = (int)degree;
    const int64_t n[3] = {t.rows, 1, 1};
    TRY(tct_gallery_size_grid(g, n, 1, degree + 1));
    g->grid[0] = 0; /* neighbours are anywhere */
    int bits = 2;
    while (bits < 62 && INT64_C(1) << bits < t.rows) bits++;
    t.bits[0] = bits / 2;
    t.bits[1] = bits - bits / 2;
    t.seed = tct_mix(t.seed);
    TRY(tct_gallery_keep(g, &t, sizeof t));
    g->maker = &random_maker;
    g->nonzeros = (double)t.rows * (1.0 + (double)degree);
    g->guessed = true;
    return TACIT_OK;
}

const tct_gallery tct_gallery_random = {
    {"random", "random:N,DEGREE[,SEED]",
     "random graph of DEGREE neighbours a row, diagonally dominant"},
    random_open};
