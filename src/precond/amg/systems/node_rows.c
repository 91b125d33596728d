/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/node_rows.c - the nodes of rows: rows with the same
 * number divided by `block`, or of one mesh point. Nodes are numbered as on a
 * single rank. The rank of a node's first row keeps it; a partition may give
 * its other rows to other ranks. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "precond/amg/aggregation/numbering.h"
#include "precond/amg/systems/near_null.h"
#include <string.h>

static const char *const what = "nodes of a matrix";

typedef struct {
    const tacit_matrix *m;
    int64_t *word;  /* [rows] node, and is the row its first? */
    tct_ghosts own; /* nodes whose first row is here                        */
    tct_ghosts
        foreign;      /* other nodes of own rows                              */
    int64_t *present; /* [foreign] number in rank order                       */
    int64_t *starts;  /* [size + 1] first node of each rank, in rank order    */
    int64_t *share;   /* [size + 1] distribution of the node table            */
    int64_t *table;   /* [share] number in rank order                         */
    int64_t *numbers; /* [own] the same                                       */
} search;

static int64_t word_of(int64_t node, bool first)
{
    return 2 * node + first;
}

/* --- by points ------------------------------------------------------------ */

/* A row of a mesh as in m->points: point and direction. */
typedef struct {
    int64_t rows; /* of the rank whose last row it is */
    double at[4];
} last_row;

/* Directions ascend within a node. */
static bool begins(const double *before, const double *row)
{
    return row[3] <= before[3] || memcmp(row, before, 3 * sizeof *row) != 0;
}

/* The last row of the lower ranks; *any false: none. */
static tacit_status row_before(const tacit_matrix *m, int64_t rows,
                               double before[4], bool *any)
{
    last_row mine = {.rows = rows}, *all = NULL;
    if (rows > 0) memcpy(mine.at, m->points + 4 * (rows - 1), sizeof mine.at);
    *any = false;
    TRY(tct_agree(m->world, TCT_ALLOC(m->world->size, what, &all)));
    const tacit_status status =
        tct_allgather(m->world, sizeof mine, &mine, all);
    for (int r = 0; status >= 0 && r < m->world->rank; r++) {
        if (all[r].rows == 0) continue;
        memcpy(before, all[r].at, sizeof all[r].at);
        *any = true;
    }
    tct_free(all);
    return status;
}

/* Number the nodes of the rows in their initial distribution, into `word`. */
static tacit_status number_points(search *s, int64_t rows, int64_t *word)
{
    const double *point = s->m->points;
    double before[4] = {0.0};
    int64_t count = 0;
    bool any = false;
    TRY(row_before(s->m, rows, before, &any));
    for (int64_t i = 0; i < rows; i++) {
        const double *last = i > 0 ? point + 4 * (i - 1) : before;
        const bool first = (i == 0 && !any) || begins(last, point + 4 * i);
        count += first;
        word[i] = word_of(count - 1, first);
    }
    TRY(tct_numbering_starts(s->m->world, count, s->starts));
    for (int64_t i = 0; i < rows; i++)
        word[i] += 2 * s->starts[s->m->world->rank];
    return TACIT_OK;
}

static tacit_status by_points(search *s)
{
    const tacit_matrix *m = s->m;
    const int rank = m->world->rank;
    int64_t *dealt = NULL;
    if (!m->dealt) return number_points(s, m->A.rows, s->word);
    const int64_t rows = m->dealt[rank + 1] - m->dealt[rank];
    tacit_status status = tct_agree(m->world, TCT_ALLOC(rows, what, &dealt));
    if (status >= 0) status = number_points(s, rows, dealt);
    if (status >= 0)
        status = tct_directory_get(m->world, m->dealt, dealt, m->A.rows,
                                   m->original, s->word);
    tct_free(dealt);
    return status;
}

static void by_block(search *s, int block)
{
    for (int64_t i = 0; i < s->m->A.rows; i++) {
        const int64_t row = tct_original(s->m, i);
        s->word[i] = word_of(row / block, row % block == 0);
    }
}

/* --- ownership ------------------------------------------------------------ */

/* The position of `id`, -1: absent. `last` is that of the row before. */
static int64_t place_of(const tct_ghosts *g, int64_t id, int64_t last)
{
    for (int64_t p = last < 0 ? 0 : last; p <= last + 1 && p < g->count; p++)
        if (g->id[p] == id) return p;
    if (g->count == 0) return -1;
    const int64_t p = tct_ghost_place(g, id);
    return g->id[p] == id ? p : -1;
}

/* List the nodes of own rows, kept by this rank or by others; `scratch`
 * [rows]. */
static tacit_status list_own(search *s, int64_t *scratch)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->m->A.rows; i++)
        if (s->word[i] % 2 == 1) scratch[count++] = s->word[i] / 2;
    return tct_ghosts_of(count, scratch, NULL, &s->own);
}

static tacit_status list_foreign(search *s, int64_t *scratch)
{
    int64_t count = 0, last = -1;
    for (int64_t i = 0; i < s->m->A.rows; i++) {
        const int64_t at = place_of(&s->own, s->word[i] / 2, last);
        if (at < 0) scratch[count++] = s->word[i] / 2;
        else last = at;
    }
    return tct_ghosts_of(count, scratch, NULL, &s->foreign);
}

static tacit_status list_nodes(search *s)
{
    int64_t *scratch = NULL;
    tacit_status status = TCT_ALLOC(s->m->A.rows, what, &scratch);
    if (status >= 0) status = list_own(s, scratch);
    if (status >= 0) status = list_foreign(s, scratch);
    tct_free(scratch);
    return status;
}

static tacit_status open_table(search *s)
{
    const tacit_world *w = s->m->world;
    const int64_t all = s->starts[w->size];
    TRY(TCT_ALLOC(w->size + 1, what, &s->share));
    for (int r = 0; r <= w->size; r++) s->share[r] = tct_share(all, w->size, r);
    TRY(TCT_ALLOC(s->share[w->rank + 1] - s->share[w->rank], what, &s->table));
    TRY(TCT_ALLOC(s->foreign.count, what, &s->present));
    TRY(TCT_ALLOC(s->own.count, what, &s->numbers));
    for (int64_t n = 0; n < s->own.count; n++)
        s->numbers[n] = s->starts[w->rank] + n;
    return TACIT_OK;
}

/* Fetch the rank-order numbers of remote nodes, if there are any. */
static tacit_status fetch_numbers(search *s)
{
    tacit_world *w = s->m->world;
    bool any = false;
    TRY(tct_any(w, s->foreign.count > 0, &any));
    if (!any) return TACIT_OK;
    TRY(tct_numbering_starts(w, s->own.count, s->starts));
    TRY(tct_agree(w, open_table(s)));
    TRY(tct_directory_set(w, s->share, s->table, s->own.count, s->own.id,
                          s->numbers));
    return tct_directory_get(w, s->share, s->table, s->foreign.count,
                             s->foreign.id, s->present);
}

static tacit_status fill(const search *s, tct_near_null *B)
{
    int64_t last = -1;
    B->nodes = s->own.count;
    TRY(tct_ghosts_of(s->foreign.count, s->present, NULL, &B->others));
    TRY(TCT_ALLOC(s->m->A.rows, what, &B->node));
    for (int64_t i = 0; i < s->m->A.rows; i++) {
        int64_t n = place_of(&s->own, s->word[i] / 2, last);
        if (n >= 0) {
            last = n;
        } else {
            const int64_t f = tct_ghost_place(&s->foreign, s->word[i] / 2);
            n = B->nodes + tct_ghost_place(&B->others, s->present[f]);
        }
        B->node[i] = (int32_t)n;
    }
    return TACIT_OK;
}

/* --- one rank, rows as they came ------------------------------------------ */

typedef struct {
    int32_t *node;
    int64_t *number;
    int block;
} numbering;

static void number_rows(void *work, int64_t from, int64_t to)
{
    const numbering *b = work;
    int64_t left = b->block - from % b->block, n = from / b->block;
    for (int64_t i = from; i < to; i++) {
        b->node[i] = (int32_t)n;
        if (--left > 0) continue;
        left = b->block;
        n++;
    }
}

static void number_nodes(void *work, int64_t from, int64_t to)
{
    const numbering *b = work;
    for (int64_t n = from; n < to; n++) b->number[n] = n;
}

/* Blocks of rows in order, without a search: the node table is the identity. */
static tacit_status find_alone(const tacit_matrix *m, int block,
                               tct_near_null *B)
{
    const int64_t rows = m->A.rows, nodes = (rows + block - 1) / block;
    TRY(TCT_ALLOC(rows, what, &B->node));
    TRY(TCT_ALLOC(nodes, what, &B->number));
    numbering b = {B->node, B->number, block};
    tct_parallel(rows, TCT_SHORT, number_rows, &b);
    tct_parallel(nodes, TCT_SHORT, number_nodes, &b);
    B->nodes = nodes;
    return TACIT_OK;
}

/* --- all ------------------------------------------------------------------ */

static tacit_status allocate(search *s)
{
    const int64_t rows = s->m->A.rows;
    if (rows > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "preconditioner amg: %lld rows on one rank: use more ranks",
             (long long)rows);
    return TCT_ALLOC(s->m->world->size + 1, what, &s->starts);
}

static tacit_status find(search *s, int block, tct_near_null *B)
{
    tacit_world *w = s->m->world;
    TRY(tct_agree(w, allocate(s)));
    if (block > 0 && w->size == 1 && !s->m->original)
        return find_alone(s->m, block, B);
    TRY(tct_agree(w, TCT_ALLOC(s->m->A.rows, what, &s->word)));
    if (block > 0) by_block(s, block);
    else TRY(by_points(s));
    TRY(tct_agree(w, list_nodes(s)));
    TRY(fetch_numbers(s));
    TRY(tct_agree(w, fill(s, B)));
    B->number = s->own.id;
    s->own.id = NULL;
    return TACIT_OK;
}

tacit_status tct_near_null_nodes(const tacit_matrix *m, int block,
                                 tct_near_null *B)
{
    search s = {.m = m};
    const tacit_status status = find(&s, block, B);
    tct_ghosts_clear(&s.own);
    tct_ghosts_clear(&s.foreign);
    TCT_FREE(s.word, s.present, s.starts, s.share, s.table, s.numbers);
    return status;
}
