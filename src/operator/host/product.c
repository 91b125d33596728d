/* SPDX-License-Identifier: BSD-3-Clause
 * operator/host/product.c - divides the products of the host among its threads.
 * A chunk's share of (x, y) is formed while its rows are in cache; shares are
 * added in the order of the chunks, so that a dot has the same bits with any
 * format and number of threads. */
#include "operator/host/product.h"
#include "device/isa.h"

const tct_kernels *tct_kernels_best(void)
{
#if TCT_X86_ISAS
    const tct_isa isa = tct_isa_best();
    if (isa == TCT_ISA_AVX512) return &tct_kernels_avx512;
    if (isa == TCT_ISA_AVX2) return &tct_kernels_avx2;
#endif
    return &tct_kernels_base;
}

tacit_status tct_chunks_create(tct_chunks *c, int64_t rows, tct_team *team,
                               const int64_t *before)
{
    const int threads = tct_team_size(team);
    c->team = team;
    c->count = (rows + CHUNK - 1) / CHUNK;
    c->parts = c->count < threads ? (int)c->count : threads;
    if (c->parts < 1) c->parts = 1;
    TRY(TCT_ALLOC(c->parts + 1, "a product", &c->split));
    TRY(TCT_ALLOC(c->count * TCT_COLUMNS_MOST, "a product", &c->partial));
    /* entries and rows */
    const double work = (double)((before ? before[rows] : 0) + rows);
    int t = 0;
    for (int64_t k = 0; k < c->count; k++) {
        const int64_t entries = before ? before[k * CHUNK] : 0;
        const double done = (double)(entries + k * CHUNK);
        while (t < c->parts && done >= work * t / c->parts) c->split[t++] = k;
    }
    while (t <= c->parts) c->split[t++] = c->count;
    return TACIT_OK;
}

void tct_chunks_clear(tct_chunks *c)
{
    tct_free(c->split);
    tct_free(c->partial);
}

typedef struct {
    const tct_kernels *kernels;
    double *partial; /* [chunks], NULL: without a dot */
    int64_t rows;
    tct_chunk_fn fn;
    const void *work;
    const double *x, *y;
} product;

static void multiply_chunk(void *product_of, int64_t k)
{
    const product *p = product_of;
    const int64_t from = k * CHUNK;
    const int64_t to = p->rows - from < CHUNK ? p->rows : from + CHUNK;
    p->fn(p->kernels, p->work, from, to);
    if (p->partial)
        p->partial[k] = p->kernels->dot(to - from, p->x + from, p->y + from);
}

/* `each` for all chunks, on the block's number of threads. */
static void share(const tct_block *B, const tct_chunks *c,
                  void (*each)(void *work, int64_t k), void *work)
{
    const bool all = B->threads == 0 || B->threads >= c->parts;
    tct_team_run(c->team, all ? c->parts : B->threads, c->count,
                 all ? c->split : NULL, each, work);
}

/* The dot of column `j` of `columns`. */
static double total(const tct_chunks *c, int columns, int j)
{
    double sum = 0.0;
    for (int64_t k = 0; k < c->count; k++) sum += c->partial[k * columns + j];
    return sum;
}

void tct_product(const tct_block *B, const tct_chunks *c, tct_chunk_fn fn,
                 const void *work, const double *x, const double *y,
                 double *dot)
{
    product p = {.kernels = tct_kernels_best(),
                 .partial = dot ? c->partial : NULL,
                 .rows = B->rows,
                 .fn = fn,
                 .work = work,
                 .x = x,
                 .y = y};
    share(B, c, multiply_chunk, &p);
    if (dot) *dot = total(c, 1, 0);
}

/* Columns multiplied together. All groups of a chunk of rows are done in turn,
 * so that its entries are in cache. */
typedef struct {
    int columns; /* 4, 2 or 1 */
    const double *x[4];
    double *y[4];
} group;

static group group_at(const tct_panel *x, const tct_panel *y, int j)
{
    const int left = x->columns - j;
    group g = {.columns = left >= 4 ? 4 : left >= 2 ? 2 : 1};
    for (int v = 0; v < g.columns; v++) {
        g.x[v] = tct_column(x, j + v);
        g.y[v] = tct_column(y, j + v);
    }
    return g;
}

void tct_work_rows(const tct_kernels *kernels, const void *work, int64_t from,
                   int64_t to)
{
    const tct_rows_work *w = work;
    for (int j = 0; j < w->x.columns;) {
        const group g = group_at(&w->x, &w->y, j);
        if (g.columns == 1) kernels->rows(w->A, from, to, g.x[0], g.y[0]);
        else kernels->rows_some(w->A, from, to, g.columns, g.x, g.y);
        j += g.columns;
    }
}

/* --- slices --------------------------------------------------------------- */

typedef struct {
    const tct_slices *S;
    tct_panel x, y;
} slices_work;

/* Sum the rows kept apart, which slices store as empty. */
static void put_long_rows(const tct_kernels *kernels, const tct_slices *S,
                          int64_t chunk, const double *x, double *y)
{
    for (int64_t r = S->at[chunk].long_row; r < S->at[chunk + 1].long_row;
         r++) {
        const tct_csr_view row = {S->long_ptr + r, S->long_col, S->long_val,
                                  NULL};
        kernels->rows(row, 0, 1, x, y + S->long_row[r]);
    }
}

static void multiply_group(const tct_kernels *kernels, const tct_slices *S,
                           int64_t chunk, const group *g)
{
    if (g->columns == 1) kernels->slices(S, chunk, g->x[0], g->y[0]);
    else kernels->slices_some(S, chunk, g->columns, g->x, g->y);
    for (int v = 0; v < g->columns; v++)
        put_long_rows(kernels, S, chunk, g->x[v], g->y[v]);
}

/* Whole chunks. */
static void multiply_slices(const tct_kernels *kernels, const tct_block *B,
                            int64_t from, int64_t to, const tct_panel *x,
                            const tct_panel *y)
{
    (void)to;
    const tct_slices *S = (const tct_slices *)(const void *)B;
    for (int j = 0; j < x->columns;) {
        const group g = group_at(x, y, j);
        multiply_group(kernels, S, from / CHUNK, &g);
        j += g.columns;
    }
}

static void work_slices(const tct_kernels *kernels, const void *work,
                        int64_t from, int64_t to)
{
    const slices_work *w = work;
    multiply_slices(kernels, &w->S->base, from, to, &w->x, &w->y);
}

void tct_slices_multiply(const tct_block *block, const double *x, double *y,
                         double *dot)
{
    const tct_slices *S = (const tct_slices *)(const void *)block;
    const slices_work work = {S, tct_single(x), tct_single(y)};
    tct_product(block, &S->chunks, work_slices, &work, x, y, dot);
}

static void work_magnitude(const tct_kernels *kernels, const void *work,
                           int64_t from, int64_t to)
{
    const slices_work *w = work;
    const tct_slices *S = w->S;
    const int64_t chunk = from / CHUNK;
    (void)to;
    kernels->slices_magnitude(S, chunk, w->x.at, w->y.at);
    for (int64_t r = S->at[chunk].long_row; r < S->at[chunk + 1].long_row; r++)
        kernels->rows_magnitude((tct_csr_view){.ptr = S->long_ptr + r,
                                               .col = S->long_col,
                                               .val = S->long_val},
                                0, 1, w->x.at, w->y.at + S->long_row[r]);
}

void tct_slices_magnitude(const tct_block *block, const double *x, double *y)
{
    const tct_slices *S = (const tct_slices *)(const void *)block;
    const slices_work work = {S, tct_single(x), tct_single(y)};
    tct_product(block, &S->chunks, work_magnitude, &work, NULL, NULL, NULL);
}

void tct_slices_multiply_block(const tct_block *block, const tct_panel *X,
                               const tct_panel *Y)
{
    const tct_slices *S = (const tct_slices *)(const void *)block;
    const slices_work work = {S, *X, *Y};
    tct_product(block, &S->chunks, work_slices, &work, NULL, NULL, NULL);
}

void tct_slices_multiply_pass(const tct_block *block, const tct_op *op,
                              tct_host_range range)
{
    const tct_slices *S = (const tct_slices *)(const void *)block;
    tct_product_pass(block, &S->chunks, multiply_slices, op, range);
}

/* --- with a pass ---------------------------------------------------------- */

typedef struct {
    const tct_kernels *kernels;
    const tct_block *B;
    const tct_chunks *chunks;
    tct_columns_fn fn;
    const tct_op *op;
    tct_host_range range;
} passing;

/* The pass of column `j` on rows [from, to), whose product is in `t`. */
static void pass_on(const passing *p, int64_t from, int64_t to, int j,
                    double *t)
{
    double sums[TCT_OP_SUMS] = {0.0};
    tct_op one = tct_op_system(p->op, j);
    one.v[1] = t;
    p->range(&one, (size_t)from, (size_t)to, sums);
    p->chunks->partial[from / CHUNK * p->op->x.columns + j] = sums[0];
}

/* The product of a chunk of rows stays in cache. */
static void pass_chunk(void *passing_of, int64_t k)
{
    const passing *p = passing_of;
    const tct_panel *all = &p->op->x;
    const int64_t from = k * CHUNK, rows = p->B->rows;
    const int64_t to = rows - from < CHUNK ? rows : from + CHUNK;
    double here[4][CHUNK];
    const uintptr_t row_0 = (uintptr_t)here - (uintptr_t)k * sizeof here[0];
    for (int j = 0, taken; j < all->columns; j += taken) {
        const int left = all->columns - j;
        taken = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        const tct_panel x = tct_columns(all, j, taken);
        const tct_panel t = tct_panel_of((double *)row_0, CHUNK, taken);
        p->fn(p->kernels, p->B, from, to, &x, &t);
        for (int v = 0; v < taken; v++)
            pass_on(p, from, to, j + v, tct_column(&t, v));
    }
}

void tct_product_pass(const tct_block *B, const tct_chunks *c,
                      tct_columns_fn fn, const tct_op *op, tct_host_range range)
{
    passing p = {tct_kernels_best(), B, c, fn, op, range};
    const int columns = op->x.columns;
    share(B, c, pass_chunk, &p);
    for (int j = 0; op->out && j < columns; j++)
        op->out[j * TCT_SCALARS] = total(c, columns, j);
}
