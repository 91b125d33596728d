/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/multilevel/level.c - the finest graph, from the rows of a matrix. */
#include "matrix/multilevel/level.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "sparse/ghosts.h"

static const char *const what = "the graph";

void tct_level_close(tct_level *level)
{
    TCT_FREE(level->starts, level->ghost, level->ptr, level->next, level->edge,
             level->weight, level->up);
    tct_halo_close(&level->halo);
    *level = (tct_level){0};
}

tacit_status tct_level_share(const tct_level *level, int64_t *word)
{
    return tct_halo_bring(&level->halo, word, word + level->nodes);
}

/* --- nodes of rows -------------------------------------------------------- */

typedef struct {
    const tct_csr *A;
    int block;
} rows;

/* List the neighbours of node `n`, ascending, in `out` unless NULL. */
static int64_t neighbours(rows r, int64_t n, int64_t *out)
{
    const int64_t i = n * r.block - r.A->first;
    int64_t count = 0;
    for (int64_t k = r.A->ptr[i]; k < r.A->ptr[i + 1]; k += r.block) {
        const int64_t other = tct_csr_col(r.A, k) / r.block;
        if (other == n) continue;
        if (out) out[count] = other;
        count++;
    }
    return count;
}

/* The first node that begins at `row` or later. */
static int64_t node_from(int64_t row, int block)
{
    return (row + block - 1) / block;
}

static tacit_status allocate_nodes(const tacit_matrix *m, int block,
                                   tct_level *g)
{
    const int size = m->world->size, rank = m->world->rank;
    TRY(TCT_ALLOC(size + 1, what, &g->starts));
    for (int r = 0; r <= size; r++)
        g->starts[r] = node_from(m->starts[r], block);
    g->nodes = g->starts[rank + 1] - g->starts[rank];
    TRY(tct_memory_require(12.0 * (double)g->nodes, what));
    TRY(TCT_ALLOC(g->nodes + 1, what, &g->ptr));
    return TCT_ALLOC(g->nodes, what, &g->weight);
}

typedef struct {
    rows r;
    tct_level *g;
} filling;

static void count_range(void *work, int64_t from, int64_t to)
{
    const filling *f = work;
    tct_level *g = f->g;
    for (int64_t n = from; n < to; n++) {
        g->ptr[n + 1] = neighbours(f->r, tct_level_first(g) + n, NULL);
        g->weight[n] = (int32_t)g->ptr[n + 1] + 1;
    }
}

/* A node weighs as much as it has entries, so that parts have equal work. */
static tacit_status count_edges(rows r, tct_level *g)
{
    g->ptr[0] = 0;
    tct_parallel(g->nodes, TCT_SHORT, count_range, &(filling){r, g});
    for (int64_t n = 0; n < g->nodes; n++) g->ptr[n + 1] += g->ptr[n];
    TRY(tct_memory_require(4.0 * (double)g->ptr[g->nodes], what));
    return TCT_ALLOC(g->ptr[g->nodes], what, &g->next);
}

/* --- ghosts --------------------------------------------------------------- */

static tacit_status find_ghosts(rows r, tct_level *g)
{
    const int64_t first = tct_level_first(g);
    tct_ghosts found;
    TRY(tct_ghosts_find(r.A, r.block, first, first + g->nodes, &found));
    g->ghosts = found.count;
    g->ghost = found.id;
    if (g->nodes + g->ghosts <= INT32_MAX) return TACIT_OK;
    FAIL(TACIT_UNSUPPORTED,
         "%lld rows on one rank beside %lld of other ranks: too many to cut by "
         "METIS, use more ranks or the partitioner 'contiguous'",
         (long long)g->nodes, (long long)g->ghosts);
}

/* The index of node `id` on this rank. */
static int32_t place_of(const tct_level *g, int64_t id)
{
    const int64_t own = id - tct_level_first(g);
    const tct_ghosts ghosts = {g->ghosts, g->ghost};
    if (own >= 0 && own < g->nodes) return (int32_t)own;
    return (int32_t)(g->nodes + tct_ghost_place(&ghosts, id));
}

static void fill_range(void *work, int64_t from, int64_t to, void *space)
{
    const filling *f = work;
    const tct_level *g = f->g;
    int64_t *id = space;
    for (int64_t n = from; n < to; n++) {
        const int64_t count = neighbours(f->r, tct_level_first(g) + n, id);
        for (int64_t k = 0; k < count; k++)
            g->next[g->ptr[n] + k] = place_of(g, id[k]);
    }
}

static tacit_status fill(rows r, tct_level *g)
{
    int64_t widest = 0;
    for (int64_t n = 0; n < g->nodes; n++)
        if (g->ptr[n + 1] - g->ptr[n] > widest)
            widest = g->ptr[n + 1] - g->ptr[n];
    if (!tct_parallel_with(g->nodes, TCT_SHORT,
                           (size_t)widest * sizeof(int64_t), fill_range,
                           &(filling){r, g}))
        FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    return TACIT_OK;
}

static tacit_status open_own(const tacit_matrix *m, int block, tct_level *g)
{
    const rows r = {&m->A, block};
    TRY(allocate_nodes(m, block, g));
    TRY(count_edges(r, g));
    TRY(find_ghosts(r, g));
    return fill(r, g);
}

tacit_status tct_level_open(const tacit_matrix *m, int block, tct_level *out)
{
    tct_level g = {.world = m->world};
    tacit_status status = tct_agree(m->world, open_own(m, block, &g));
    if (status >= 0)
        status = tct_halo_of(m->world, g.starts, g.ghosts, g.ghost, &g.halo);
    if (status < 0) tct_level_close(&g);
    else *out = g;
    return status;
}

/* --- rows of nodes -------------------------------------------------------- */

tacit_status tct_level_block(const tacit_matrix *m, int parts, int *out)
{
    TRY(tct_matrix_block(m, out));
    if (m->A.global_rows / *out < parts) *out = 1;
    return TACIT_OK;
}

tacit_status tct_level_to_rows(const tct_level *level, const tacit_matrix *m,
                               int block, const int64_t *nodes, int32_t *part)
{
    const tct_csr *A = &m->A;
    const int64_t first = tct_level_first(level);
    int64_t before = A->first / block; /* its node may begin on an earlier
                                        * rank */
    const bool shares = A->rows > 0 && before < first;
    TRY(tct_directory_get(level->world, level->starts, nodes, shares, &before,
                          &before));
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t n = (A->first + i) / block - first;
        part[i] = (int32_t)(n < 0 ? before : nodes[n]);
    }
    return TACIT_OK;
}
