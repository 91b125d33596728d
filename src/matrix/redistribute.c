/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/redistribute.c - moves rows to other ranks and renumbers the matrix.
 *
 * The rows of a part are numbered by source rank, then in the current order. So
 * the data from one rank fill a contiguous range of the new arrays in order, no
 * positions are sent, and the old arrays can be freed at the same pace. */
#include "comm/setup/alltoall.h"
#include "comm/setup/directory.h"
#include "matrix/ask_columns.h"
#include "matrix/matrix.h"

typedef struct {
    tacit_matrix *m;
    const int32_t *part; /* [m->A.rows] */
    int64_t *to, *from;  /* [size] rows to and from each rank        */
    int64_t *next;       /* [size] scratch, one value per rank       */
    int64_t *starts;     /* [size + 1] of the new numbering          */
    int64_t *number;     /* [m->A.rows] the new number of each row   */
    int64_t *original;   /* [new rows]                               */
    tct_csr B;           /* the new rows                             */
} move;

static void finish(move *v)
{
    TCT_FREE(v->to, v->from, v->next, v->starts, v->number, v->original);
    tct_csr_clear(&v->B);
}

/* --- the new numbering ---------------------------------------------------- */

static tacit_status allocate_plan(move *v)
{
    const int size = v->m->world->size;
    TRY(TCT_ALLOC(size, "the new numbering", &v->to));
    TRY(TCT_ALLOC(size, "the new numbering", &v->from));
    TRY(TCT_ALLOC(size, "the new numbering", &v->next));
    TRY(TCT_ALLOC(size + 1, "the new numbering", &v->starts));
    return TCT_ALLOC(v->m->A.rows, "the new numbering", &v->number);
}

/* Count rows to and from each rank; set the new row starts. */
static tacit_status plan_rows(move *v)
{
    tacit_world *w = v->m->world;
    for (int r = 0; r < w->size; r++) v->to[r] = 0;
    for (int64_t i = 0; i < v->m->A.rows; i++) v->to[v->part[i]]++;
    TRY(tct_trade_numbers(w, v->to, v->from, v->next));
    int64_t rows = 0;
    for (int r = 0; r < w->size; r++) rows += v->from[r];
    TRY(tct_allgather(w, sizeof rows, &rows, v->next));
    v->starts[0] = 0;
    for (int r = 0; r < w->size; r++)
        v->starts[r + 1] = v->starts[r] + v->next[r];
    return TACIT_OK;
}

/* Send each rank the first new number of its rows here, and number the rows.
 * `scratch` [2 size]. */
static tacit_status number_rows(move *v, int64_t *scratch)
{
    tacit_world *w = v->m->world;
    int64_t at = v->starts[w->rank];
    for (int r = 0; r < w->size; r++) {
        scratch[r] = at;
        at += v->from[r];
    }
    TRY(tct_trade_numbers(w, scratch, v->next, scratch + w->size));
    for (int64_t i = 0; i < v->m->A.rows; i++)
        v->number[i] = v->next[v->part[i]]++;
    return TACIT_OK;
}

static tacit_status plan(move *v)
{
    tacit_world *w = v->m->world;
    int64_t *scratch = NULL;
    tacit_status status = allocate_plan(v);
    if (status >= 0) status = TCT_ALLOC(2 * w->size, "the plan", &scratch);
    status = tct_agree(w, status);
    if (status >= 0) status = plan_rows(v);
    if (status >= 0) status = number_rows(v, scratch);
    tct_free(scratch);
    return status;
}

/* --- columns -------------------------------------------------------------- */

static tacit_status renumber(move *v, int64_t *answers, int64_t *scratch)
{
    tct_csr *A = &v->m->A;
    const int64_t nonzeros = tct_csr_nonzeros(A);
    int64_t from = 0;
    for (bool more = true; more;) {
        int64_t to = from + TCT_COLUMN_BATCH;
        if (to > nonzeros) to = nonzeros;
        TRY(tct_ask_columns(v->m, from, to, v->number, answers, scratch));
        for (int64_t k = from; k < to; k++)
            tct_csr_set_col(A, k, answers[k - from]);
        from = to;
        TRY(tct_any(v->m->world, from < nonzeros, &more));
    }
    return TACIT_OK;
}

static tacit_status renumber_columns(move *v)
{
    int64_t *answers = NULL, *scratch = NULL;
    int64_t batch = tct_csr_nonzeros(&v->m->A);
    if (batch > TCT_COLUMN_BATCH) batch = TCT_COLUMN_BATCH;
    tacit_status status = TCT_ALLOC(batch, "new column numbers", &answers);
    if (status >= 0) status = TCT_ALLOC(batch, "column numbers", &scratch);
    status = tct_agree(v->m->world, status);
    if (status >= 0) status = renumber(v, answers, scratch);
    tct_free(answers);
    tct_free(scratch);
    return status;
}

/* --- rows ----------------------------------------------------------------- */

/* Words of a row, besides its entries. */
typedef enum { LENGTH, ORIGINAL } row_word;

/* Send a word of each row to its new owner, into `in` [new rows]: by rank, then
 * in the order of rows, which is the new order. */
static tacit_status send_row_words(move *v, row_word what, int64_t *out,
                                   int64_t *in, int64_t *bytes)
{
    const tacit_matrix *m = v->m;
    const int size = m->world->size;
    int64_t at = 0;
    for (int r = 0; r < size; r++) {
        v->next[r] = at;
        at += v->to[r];
        bytes[r] = v->to[r] * (int64_t)sizeof *out;
        bytes[size + r] = v->from[r] * (int64_t)sizeof *in;
    }
    for (int64_t i = 0; i < m->A.rows; i++)
        out[v->next[v->part[i]]++] =
            what == LENGTH ? m->A.ptr[i + 1] - m->A.ptr[i] : tct_original(m, i);
    return tct_alltoallv(m->world, bytes, out, bytes + size, in);
}

/* Send lengths and original numbers of rows; `number`, no longer needed, is the
 * send buffer. */
static tacit_status send_rows(move *v)
{
    tacit_world *w = v->m->world;
    const int64_t first = v->starts[w->rank];
    const int64_t rows = v->starts[w->rank + 1] - first,
                  n = v->m->A.global_rows;
    int64_t *bytes = NULL;
    tacit_status status = tct_csr_rows(&v->B, n, n, first, rows);
    if (status >= 0) status = TCT_ALLOC(rows, "row numbers", &v->original);
    if (status >= 0) status = TCT_ALLOC(2 * w->size, "the plan", &bytes);
    status = tct_agree(w, status);
    if (status >= 0)
        status = send_row_words(v, LENGTH, v->number, v->B.ptr + 1, bytes);
    if (status >= 0)
        status = send_row_words(v, ORIGINAL, v->number, v->original, bytes);
    tct_free(bytes);
    TRY(status);
    for (int64_t i = 0; i < rows; i++) v->B.ptr[i + 1] += v->B.ptr[i];
    return tct_agree(w, tct_csr_entries(&v->B, v->B.ptr[rows]));
}

/* --- entries -------------------------------------------------------------- */

typedef struct {
    int64_t col;
    double val;
} entry;

/* Entries [k, end) are sent in this round; `i` is the row of k. */
typedef struct {
    int64_t i, k, end;
} span;

static void skip_empty_rows(const tct_csr *A, span *sp)
{
    while (sp->i < A->rows && A->ptr[sp->i + 1] <= sp->k) sp->i++;
}

static void pack(const move *v, tct_alltoall *alltoall, span sp)
{
    const tct_csr *A = &v->m->A;
    span s = sp;
    tct_alltoall_begin(alltoall);
    for (; s.k < s.end; s.k++) {
        skip_empty_rows(A, &s);
        alltoall->to[v->part[s.i]]++;
    }
    tct_alltoall_address(alltoall);
    for (s = sp; s.k < s.end; s.k++) {
        skip_empty_rows(A, &s);
        entry *e = tct_alltoall_slot(alltoall, v->part[s.i]);
        *e = (entry){tct_csr_col(A, s.k), A->val[s.k]};
    }
}

/* Append the data of each rank to its range of the new rows. */
static void unpack(move *v, const tct_alltoall *alltoall)
{
    const entry *in = (const entry *)(const void *)alltoall->in;
    for (int r = 0; r < alltoall->world->size; r++)
        for (int64_t n = 0; n < alltoall->from[r]; n++, in++) {
            const int64_t k = v->next[r]++;
            tct_csr_set_col(&v->B, k, in->col);
            v->B.val[k] = in->val;
        }
}

static void release_entries(tct_csr *A, int64_t from, int64_t to)
{
    const size_t n = (size_t)(to - from);
    tct_release_pages(A->val + from, n * sizeof *A->val);
    if (A->col32) tct_release_pages(A->col32 + from, n * sizeof *A->col32);
    else if (A->col64) tct_release_pages(A->col64 + from, n * sizeof *A->col64);
}

static tacit_status send_entries(move *v, tct_alltoall *alltoall)
{
    tct_csr *A = &v->m->A;
    const int64_t nonzeros = tct_csr_nonzeros(A);
    int64_t row = 0; /* start of each rank's range */
    for (int r = 0; r < alltoall->world->size; r++) {
        v->next[r] = v->B.ptr[row];
        row += v->from[r];
    }
    span sp = {0};
    for (bool more = true; more;) {
        sp.end =
            nonzeros - sp.k > alltoall->room ? sp.k + alltoall->room : nonzeros;
        pack(v, alltoall, sp);
        release_entries(A, sp.k, sp.end);
        sp.k = sp.end;
        skip_empty_rows(A, &sp);
        TRY(tct_alltoall_send(alltoall));
        unpack(v, alltoall);
        TRY(tct_any(alltoall->world, sp.k < nonzeros, &more));
    }
    return TACIT_OK;
}

static tacit_status move_entries(move *v)
{
    tct_alltoall alltoall;
    tacit_status status = tct_alltoall_open(
        &alltoall, v->m->world, sizeof(entry), tct_csr_nonzeros(&v->m->A));
    if (status >= 0) status = send_entries(v, &alltoall);
    tct_alltoall_close(&alltoall);
    return status;
}

/* --- all ------------------------------------------------------------------ */

/* Replace rows and numbers of the matrix. */
static void install(move *v)
{
    tacit_matrix *m = v->m;
    tct_csr_clear(&m->A);
    m->A = v->B;
    v->B = (tct_csr){0};
    tct_free(m->original);
    m->original = v->original;
    v->original = NULL;
    if (m->dealt) tct_free(m->starts);
    else m->dealt = m->starts;
    m->starts = v->starts;
    v->starts = NULL;
}

static tacit_status run(move *v)
{
    TRY(plan(v));
    TRY(renumber_columns(v));
    TRY(send_rows(v));
    TRY(move_entries(v));
    install(v);
    return tct_agree(v->m->world, tct_csr_sort(&v->m->A, false, "partition"));
}

tacit_status tct_redistribute(tacit_matrix *m, const int32_t *part)
{
    bool moves = false;
    for (int64_t i = 0; i < m->A.rows; i++)
        moves = moves || part[i] != m->world->rank;
    TRY(tct_any(m->world, moves, &moves));
    if (!moves) return TACIT_OK;
    TRY(tct_agree(m->world, tct_csr_own(&m->A))); /* its pages are given back */
    move v = {.m = m, .part = part};
    const tacit_status status = run(&v);
    finish(&v);
    return status;
}
