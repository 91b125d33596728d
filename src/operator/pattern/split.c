/* SPDX-License-Identifier: BSD-3-Clause
 * operator/pattern/split.c - divide a rank's rows into the columns that it owns and
 * those of other ranks (Trotter et al., section 3.2.2). Own entries move to
 * the front of the arrays they are in; what belongs to others, the surface of
 * the part, is copied out. */
#include "operator/pattern/split.h"
#include <stdatomic.h>
#include <stdlib.h>

static bool own(const tct_csr *A, int64_t col)
{
    return col >= A->first && col < A->first + A->rows;
}

/* Rows and entries with columns of other ranks. */
typedef struct {
    const tct_csr *A;
    atomic_int_fast64_t rows, entries;
} ghost_count;

static void count_ghosts(void *work, int64_t from, int64_t to)
{
    ghost_count *c = work;
    int64_t rows = 0, entries = 0;
    for (int64_t i = from; i < to; i++) {
        int64_t foreign = 0;
        for (int64_t k = c->A->ptr[i]; k < c->A->ptr[i + 1]; k++)
            foreign += !own(c->A, tct_csr_col(c->A, k));
        rows += foreign > 0;
        entries += foreign;
    }
    atomic_fetch_add(&c->rows, rows);
    atomic_fetch_add(&c->entries, entries);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int32_t find(const int64_t *ids, int64_t count, int64_t id)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (ids[mid] < id) low = mid + 1;
        else high = mid;
    }
    return (int32_t)low;
}

/* Columns of 64 bits move to an array of local ones of 32. */
static tacit_status narrow(tct_csr *A, int32_t **out)
{
    *out = A->col32;
    if (A->col32 || tct_csr_nonzeros(A) == 0) return TACIT_OK;
    return TCT_ALLOC(tct_csr_nonzeros(A), "local columns", out);
}

/* One pass: own entries to the front, the others out. `id` gets the global
 * column of each ghost entry. */
static void divide(tct_csr *A, int32_t *col, tct_parts *p, int64_t *id)
{
    int64_t kept = 0, row = 0, entry = 0, k = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t before = entry, end = A->ptr[i + 1];
        A->ptr[i] = kept;
        for (; k < end; k++) {
            const int64_t j = tct_csr_col(A, k);
            if (own(A, j)) {
                col[kept] = (int32_t)(j - A->first);
                A->val[kept++] = A->val[k];
            } else {
                id[entry] = j;
                p->ghost_val[entry++] = A->val[k];
            }
        }
        if (entry == before) continue;
        p->ghost_row[row++] = (int32_t)i;
        p->ghost_ptr[row] = entry;
    }
    A->ptr[A->rows] = kept;
}

typedef struct {
    tct_parts *p;
    const int64_t *id; /* of each entry */
} numbering;

static void number_entries(void *work, int64_t from, int64_t to)
{
    const numbering *n = work;
    for (int64_t e = from; e < to; e++)
        n->p->ghost_col[e] = find(n->p->ghost_id, n->p->ghosts, n->id[e]);
}

/* The distinct ghost columns, and each entry's place among them. */
static tacit_status number_ghosts(tct_team *team, tct_parts *p,
                                  const int64_t *id, int64_t entries)
{
    TRY(TCT_ALLOC(entries, "ghost columns", &p->ghost_id));
    for (int64_t e = 0; e < entries; e++) p->ghost_id[e] = id[e];
    qsort(p->ghost_id, (size_t)entries, sizeof *id, by_number);
    for (int64_t e = 0; e < entries; e++)
        if (e == 0 || p->ghost_id[e] != p->ghost_id[p->ghosts - 1])
            p->ghost_id[p->ghosts++] = p->ghost_id[e];
    tct_team_stretches(team, entries, number_entries, &(numbering){p, id});
    return TACIT_OK;
}

static tacit_status split_foreign(tct_team *team, tct_csr *A, int32_t *col,
                                  tct_parts *p, int64_t entries)
{
    TRY(TCT_ALLOC(p->ghost_rows, "the ghost block", &p->ghost_row));
    TRY(TCT_ALLOC(p->ghost_rows + 1, "the ghost block", &p->ghost_ptr));
    TRY(TCT_ALLOC(entries, "the ghost block", &p->ghost_col));
    TRY(TCT_ALLOC(entries, "the ghost block", &p->ghost_val));
    int64_t *id = NULL;
    TRY(TCT_ALLOC(entries, "the ghost block", &id));
    p->ghost_ptr[0] = 0;
    divide(A, col, p, id);
    const tacit_status status = number_ghosts(team, p, id, entries);
    tct_free(id);
    return status;
}

/* Columns are those of this rank only: their local numbers. */
typedef struct {
    const tct_csr *A;
    int32_t *col;
} localising;

static void localise(void *work, int64_t from, int64_t to)
{
    const localising *l = work;
    for (int64_t k = from; k < to; k++)
        l->col[k] = (int32_t)(tct_csr_col(l->A, k) - l->A->first);
}

static tacit_status divide_columns(tct_team *team, tct_csr *A, int32_t *col,
                                   tct_parts *out)
{
    ghost_count count = {.A = A};
    tct_team_stretches(team, A->rows, count_ghosts, &count);
    const int64_t entries = count.entries;
    out->ghost_rows = count.rows;
    if (entries > 0) return split_foreign(team, A, col, out, entries);
    if (!A->col32 || A->first != 0)
        tct_team_stretches(team, tct_csr_nonzeros(A), localise,
                           &(localising){A, col});
    return TACIT_OK;
}

tacit_status tct_split(tct_team *team, tct_csr *A, tct_parts *out)
{
    *out = (tct_parts){0};
    if (A->rows > INT32_MAX) {
        tct_csr_clear(A);
        FAIL(TACIT_UNSUPPORTED,
             "%lld rows on one rank, at most 2^31 - 1 are supported: use more "
             "ranks",
             (long long)A->rows);
    }
    int32_t *col = NULL;
    tacit_status status = narrow(A, &col);
    if (status >= 0) status = divide_columns(team, A, col, out);
    out->local = (tct_local){.rows = A->rows,
                             .cols = A->rows,
                             .ptr = A->ptr,
                             .col = col,
                             .val = A->val,
                             .owned = true};
    tct_free(A->col64);
    *A = (tct_csr){0};
    return status;
}

void tct_parts_clear(tct_parts *parts)
{
    tct_local_free(&parts->local);
    TCT_FREE(parts->ghost_id, parts->ghost_row, parts->ghost_ptr,
             parts->ghost_col, parts->ghost_val);
    *parts = (tct_parts){0};
}
