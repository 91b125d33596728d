/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/original_block.c - the dense blocks of a matrix in its original order;
 * a partition may have divided blocks among ranks. Patterns are compared by
 * sums of hashed columns, which do not depend on the order. */
#include "comm/setup/directory.h"
#include "matrix/matrix.h"
#include "sparse/ghosts.h"

static const char *const what = "the blocks of rows that have moved";
enum { LEAST = 2, MOST = 6 };

typedef struct {
    const tacit_matrix *m;
    tct_ghosts ghosts; /* columns of other ranks                          */
    int64_t *original; /* [ghosts] their original numbers                 */
    int64_t *starts;   /* [size + 1] first group in each rank's table */
    uint64_t *table;   /* the sum of the first row of each group */
    uint64_t *sum;     /* [rows] hash of a row's groups of columns */
    uint64_t *word;    /* [rows] sums of some rows, or from the table */
    int64_t *group;    /* [rows] groups of the same rows */
} search;

/* The original number of column `col`. */
static int64_t original_of(const search *s, int64_t col)
{
    const tacit_matrix *m = s->m;
    return tct_is_local(m, col) ? m->original[col - m->A.first]
                                : s->original[tct_ghost_place(&s->ghosts, col)];
}

/* Row `i` has all or none of each b aligned columns; *sum is their hash. */
static bool has_whole_blocks(const search *s, int64_t i, int b, uint64_t *sum)
{
    const tct_csr *A = &s->m->A;
    uint64_t of[MOST] = {0};
    bool whole = true;
    for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; e++) {
        const int64_t col = original_of(s, tct_csr_col(A, e));
        of[col % b] += tct_mix((uint64_t)(col / b));
    }
    for (int r = 1; r < b; r++) whole = whole && of[r] == of[0];
    *sum = of[0];
    return whole;
}

/* The same for all rows of all ranks. */
static tacit_status check_rows(search *s, int b, bool *holds)
{
    const tct_csr *A = &s->m->A;
    int64_t all = A->global_rows % b == 0 && A->global_cols % b == 0;
    for (int64_t i = 0; i < A->rows && all; i++)
        all = has_whole_blocks(s, i, b, &s->sum[i]);
    TRY(tct_reduce_i64(s->m->world, TCT_MIN, 1, &all));
    *holds = all;
    return TACIT_OK;
}

/* List groups and sums of the rows that begin a group, or of the other rows;
 * returns their number. */
static int64_t list_rows(search *s, int b, bool begin)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->m->A.rows; i++) {
        const int64_t row = s->m->original[i];
        if ((row % b == 0) != begin) continue;
        s->group[count] = row / b;
        s->word[count++] = s->sum[i];
    }
    return count;
}

static tacit_status open_table(search *s, int b)
{
    const tacit_world *w = s->m->world;
    const int64_t groups = s->m->A.global_rows / b;
    for (int r = 0; r <= w->size; r++)
        s->starts[r] = tct_share(groups, w->size, r);
    tct_free(s->table);
    s->table = NULL;
    return TCT_ALLOC(s->starts[w->rank + 1] - s->starts[w->rank], what,
                     &s->table);
}

/* All rows of each group have the same columns. */
static tacit_status check_groups(search *s, int b, bool *holds)
{
    tacit_world *w = s->m->world;
    int64_t same = true, at = 0;
    TRY(tct_agree(w, open_table(s, b)));
    int64_t count = list_rows(s, b, true);
    TRY(tct_directory_set(w, s->starts, s->table, count, s->group, s->word));
    count = list_rows(s, b, false);
    TRY(tct_directory_get(w, s->starts, s->table, count, s->group, s->word));
    for (int64_t i = 0; i < s->m->A.rows; i++)
        if (s->m->original[i] % b != 0)
            same = same && s->sum[i] == s->word[at++];
    TRY(tct_reduce_i64(w, TCT_MIN, 1, &same));
    *holds = same;
    return TACIT_OK;
}

static tacit_status allocate(search *s)
{
    const tct_csr *A = &s->m->A;
    TRY(tct_matrix_require_entries(s->m));
    TRY(tct_ghosts_find(A, 1, A->first, A->first + A->rows, &s->ghosts));
    TRY(TCT_ALLOC(s->ghosts.count, what, &s->original));
    TRY(TCT_ALLOC(s->m->world->size + 1, what, &s->starts));
    TRY(TCT_ALLOC(A->rows, what, &s->sum));
    TRY(TCT_ALLOC(A->rows, what, &s->word));
    return TCT_ALLOC(A->rows, what, &s->group);
}

static tacit_status find(search *s, int *out)
{
    tacit_world *w = s->m->world;
    TRY(tct_agree(w, allocate(s)));
    TRY(tct_directory_get(w, s->m->starts, s->m->original, s->ghosts.count,
                          s->ghosts.id, s->original));
    for (int b = MOST; b >= LEAST; b--) {
        bool holds = s->m->nonzeros > 0;
        if (holds) TRY(check_rows(s, b, &holds));
        if (holds) TRY(check_groups(s, b, &holds));
        if (!holds) continue;
        *out = b;
        return TACIT_OK;
    }
    return TACIT_OK;
}

tacit_status tct_matrix_original_block(const tacit_matrix *m, int *out)
{
    search s = {.m = m};
    *out = 1;
    if (!m->dealt) return tct_matrix_block(m, out);
    const tacit_status status = find(&s, out);
    tct_ghosts_clear(&s.ghosts);
    TCT_FREE(s.original, s.starts, s.table, s.sum, s.word, s.group);
    return status;
}
