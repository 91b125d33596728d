/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/restore.c - a copy of a matrix in its original order and numbering, on
 * the ranks that had the rows first, and a matrix as a file. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "io/io.h"
#include "matrix/ask_columns.h"
#include "matrix/matrix.h"

typedef struct {
    int64_t row, col; /* original */
    double val;
} entry;

typedef struct {
    const tacit_matrix *m;
    tct_alltoall alltoall;
    int64_t *cols;    /* [batch] original columns of entries from `from` on */
    int64_t *scratch; /* [batch] */
    int64_t *next;    /* [B.rows] offset of each row's next entry */
    tct_csr B;
} restore;

static void finish(restore *v)
{
    tct_alltoall_close(&v->alltoall);
    TCT_FREE(v->cols, v->scratch, v->next);
    tct_csr_clear(&v->B);
}

/* --- rows ----------------------------------------------------------------- */

static tacit_status send_lengths(restore *v)
{
    const tacit_matrix *m = v->m;
    int64_t *length = NULL;
    tacit_status status =
        tct_agree(m->world, TCT_ALLOC(m->A.rows, "row lengths", &length));
    for (int64_t i = 0; status >= 0 && i < m->A.rows; i++)
        length[i] = m->A.ptr[i + 1] - m->A.ptr[i];
    if (status >= 0)
        status = tct_directory_set(m->world, m->dealt, v->B.ptr + 1, m->A.rows,
                                   m->original, length);
    tct_free(length);
    return status;
}

static tacit_status allocate_rows(restore *v)
{
    const tacit_matrix *m = v->m;
    const int64_t n = m->A.global_rows, first = m->dealt[m->world->rank];
    const int64_t rows = m->dealt[m->world->rank + 1] - first;
    TRY(tct_csr_rows(&v->B, n, n, first, rows));
    return TCT_ALLOC(rows, "rows in their original order", &v->next);
}

static tacit_status make_rows(restore *v)
{
    TRY(tct_agree(v->m->world, allocate_rows(v)));
    TRY(send_lengths(v));
    for (int64_t i = 0; i < v->B.rows; i++) {
        v->next[i] = v->B.ptr[i];
        v->B.ptr[i + 1] += v->B.ptr[i];
    }
    return tct_agree(v->m->world, tct_csr_entries(&v->B, v->B.ptr[v->B.rows]));
}

/* --- entries -------------------------------------------------------------- */

/* Send entries [at, end); v->cols begins at entry `from`, `*row` is the row of
 * `at`. */
static tacit_status send_some(restore *v, int64_t from, int64_t at, int64_t end,
                              int64_t *row)
{
    const tacit_matrix *m = v->m;
    const int size = m->world->size;
    tct_alltoall_begin(&v->alltoall);
    int64_t i = *row;
    for (int64_t k = at; k < end; k++) {
        while (m->A.ptr[i + 1] <= k) i++;
        v->alltoall.to[tct_owner(m->dealt, size, m->original[i])]++;
    }
    tct_alltoall_address(&v->alltoall);
    for (int64_t k = at; k < end; k++) {
        while (m->A.ptr[*row + 1] <= k) ++*row;
        const int64_t own = m->original[*row];
        entry *e =
            tct_alltoall_slot(&v->alltoall, tct_owner(m->dealt, size, own));
        *e = (entry){own, v->cols[k - from], m->A.val[k]};
    }
    TRY(tct_alltoall_send(&v->alltoall));
    const entry *in = (const entry *)(const void *)v->alltoall.in;
    for (int64_t k = 0; k < v->alltoall.received; k++) {
        const int64_t to = v->next[in[k].row - v->B.first]++;
        tct_csr_set_col(&v->B, to, in[k].col);
        v->B.val[to] = in[k].val;
    }
    return TACIT_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Look up columns in batches; send each in rounds. */
static tacit_status send_all(restore *v)
{
    const tacit_matrix *m = v->m;
    const int64_t nonzeros = tct_csr_nonzeros(&m->A);
    int64_t from = 0, row = 0;
    for (bool more = true; more;) {
        const int64_t to = least(from + TCT_COLUMN_BATCH, nonzeros);
        TRY(tct_ask_columns(m, from, to, m->original, v->cols, v->scratch));
        int64_t at = from;
        for (bool rest = true; rest;) {
            const int64_t end = least(at + v->alltoall.room, to);
            TRY(send_some(v, from, at, end, &row));
            at = end;
            TRY(tct_any(m->world, at < to, &rest));
        }
        from = to;
        TRY(tct_any(m->world, from < nonzeros, &more));
    }
    return TACIT_OK;
}

static tacit_status make_entries(restore *v)
{
    const tacit_matrix *m = v->m;
    const int64_t nonzeros = tct_csr_nonzeros(&m->A);
    const int64_t batch = least(nonzeros, TCT_COLUMN_BATCH);
    TRY(tct_alltoall_open(&v->alltoall, m->world, sizeof(entry), nonzeros));
    tacit_status status = TCT_ALLOC(batch, "original columns", &v->cols);
    if (status >= 0) status = TCT_ALLOC(batch, "columns", &v->scratch);
    TRY(tct_agree(m->world, status));
    TRY(send_all(v));
    return tct_agree(m->world, tct_csr_sort(&v->B, false, "matrix"));
}

tacit_status tct_restore(const tacit_matrix *m, tct_csr *out)
{
    restore v = {.m = m};
    tacit_status status = make_rows(&v);
    if (status >= 0) status = make_entries(&v);
    if (status >= 0) {
        *out = v.B;
        v.B = (tct_csr){0};
    }
    finish(&v);
    return status;
}

tacit_status tacit_matrix_write(const tacit_matrix *matrix, const char *path)
{
    REQUIRE(matrix != NULL, path != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    TRY(tct_matrix_require_entries(matrix));
    const tct_write_options options = {.symmetric = matrix->symmetric_storage};
    if (!matrix->original)
        return tct_write_matrix(matrix->world, path, &options, &matrix->A);
    tct_csr A = {0};
    TRY(tct_check_writable(matrix->world, path, &options, false));
    TRY(tct_restore(matrix, &A));
    const tacit_status status =
        tct_write_matrix(matrix->world, path, &options, &A);
    tct_csr_clear(&A);
    return status;
}
