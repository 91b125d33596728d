/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/describe.c - statistics of a matrix, and the dense blocks in it. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

/* The first row whose diagonal is not positive. */
static int64_t find_bad(const void *work, int64_t from, int64_t to)
{
    const tct_csr *A = work;
    for (int64_t i = from; i < to; i++) {
        const int64_t k = tct_csr_find(A, i, A->first + i);
        if (k < 0 || !(A->val[k] > 0.0)) return i;
    }
    return INT64_MAX;
}

tacit_status tct_check_diagonal(const tacit_matrix *m, const char *who)
{
    const int64_t bad = tct_parallel_min(m->A.rows, TCT_SHORT, find_bad, &m->A);
    if (bad == INT64_MAX) return TACIT_OK;
    FAIL(TACIT_INPUT,
         "%s: row %lld has %g on the diagonal: the matrix is not positive "
         "definite: take method minres with precond jacobi or none, or a "
         "factor (direct), or solve A + shift I, which changes the solution",
         who, (long long)tct_original(m, bad) + 1,
         tct_csr_diagonal(&m->A, bad));
}

/* --- dense blocks --------------------------------------------------------- */

enum { BLOCK_ROWS_MOST = 6 };

/* The columns of local row `i` form aligned dense runs of `b`. */
static bool row_in_runs(const tct_csr *A, int64_t i, int b)
{
    const int64_t from = A->ptr[i], to = A->ptr[i + 1];
    if ((to - from) % b != 0) return false;
    for (int64_t k = from; k < to; k += b) {
        const int64_t j = tct_csr_col(A, k); /* ascending, so the ends
                                              * suffice */
        if (j % b != 0 || tct_csr_col(A, k + b - 1) != j + b - 1) return false;
    }
    return true;
}

/* Local rows `i` and `i` - 1 have the same columns. */
static bool row_as_before(const tct_csr *A, int64_t i)
{
    const int64_t *p = A->ptr + i - 1;
    const size_t n = (size_t)(p[1] - p[0]);
    if (p[2] - p[1] != p[1] - p[0]) return false;
    if (A->col32)
        return !memcmp(A->col32 + p[0], A->col32 + p[1], n * sizeof(int32_t));
    return !n || !memcmp(A->col64 + p[0], A->col64 + p[1], n * sizeof(int64_t));
}

/* A hash of the columns of local row `i`. */
static uint64_t row_hash(const tct_csr *A, int64_t i)
{
    uint64_t h = 1;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++)
        h = tct_mix(h ^ (uint64_t)tct_csr_col(A, k));
    return h;
}

/* Local row `i` fits into blocks of `b`. If its group began on an earlier rank,
 * `before` is the hash of that rank's last row. */
static bool row_goes_on(const tct_csr *A, int64_t i, int b, uint64_t before)
{
    if (!row_in_runs(A, i, b)) return false;
    if ((A->first + i) % b == 0) return true;
    return i > 0 ? row_as_before(A, i) : row_hash(A, 0) == before;
}

typedef struct {
    const tct_csr *A;
    int b;
    uint64_t before;
} blocks;

static bool rows_go_on(const void *work, int64_t from, int64_t to)
{
    const blocks *B = work;
    for (int64_t i = from; i < to; i++)
        if (!row_goes_on(B->A, i, B->b, B->before)) return false;
    return true;
}

/* Do the rows of this rank come in blocks of `b`? Most matrices that have no
 * blocks say so in the first few rows. */
static bool local_blocks(const tct_csr *A, int b, uint64_t before)
{
    if (A->global_rows % b != 0 || A->global_cols % b != 0) return false;
    return tct_parallel_all(A->rows, TCT_SHORT, rows_go_on,
                            &(blocks){A, b, before});
}

typedef struct {
    int64_t rows;
    uint64_t hash; /* of the last row */
} edge;

/* The hash of the last row before this rank's first one. */
static tacit_status hash_before(const tacit_matrix *m, uint64_t *out)
{
    const int64_t rows = m->A.rows;
    const edge mine = {rows, rows ? row_hash(&m->A, rows - 1) : 0};
    edge *all = NULL;
    tacit_status status = TCT_ALLOC(m->world->size, "row hashes", &all);
    status = tct_agree(m->world, status);
    if (status >= 0) status = tct_allgather(m->world, sizeof mine, &mine, all);
    *out = 0;
    for (int r = 0; status >= 0 && r < m->world->rank; r++)
        if (all[r].rows) *out = all[r].hash;
    tct_free(all);
    return status;
}

tacit_status tct_matrix_block(const tacit_matrix *m, int *out)
{
    int64_t holds[BLOCK_ROWS_MOST + 1] = {0};
    uint64_t before;
    TRY(hash_before(m, &before));
    for (int b = 2; b <= BLOCK_ROWS_MOST; b++)
        holds[b] = m->nonzeros > 0 && local_blocks(&m->A, b, before);
    TRY(tct_reduce_i64(m->world, TCT_MIN, BLOCK_ROWS_MOST + 1, holds));
    *out = 1;
    for (int b = 2; b <= BLOCK_ROWS_MOST; b++)
        if (holds[b]) *out = b;
    return TACIT_OK;
}

/* --- statistics ----------------------------------------------------------- */

enum { ZEROS, ZERO_DIAGONALS, NEGATIVE_DIAGONALS, SUMS };
enum { ROW_MIN, FIRST_BAD, MINUS_ROW_MAX, MINUS_BANDWIDTH, LEASTS };
enum { DIAGONAL_MIN, MINUS_DIAGONAL_MAX, MINUS_NORM, REAL_LEASTS };

typedef struct {
    int64_t sum[SUMS];
    int64_t least[LEASTS]; /* largest values are negated */
    double real[REAL_LEASTS];
} tally;

static void keep_least(int64_t *least, int64_t value)
{
    if (value < *least) *least = value;
}

static void look_at_diagonal(const tacit_matrix *m, int64_t i, double d,
                             tally *t)
{
    t->real[DIAGONAL_MIN] = fmin(t->real[DIAGONAL_MIN], d);
    t->real[MINUS_DIAGONAL_MAX] = fmin(t->real[MINUS_DIAGONAL_MAX], -d);
    if (d > 0) return;
    t->sum[d < 0 ? NEGATIVE_DIAGONALS : ZERO_DIAGONALS]++;
    keep_least(&t->least[FIRST_BAD], tct_original(m, i));
}

static void look_at_row(const tacit_matrix *m, int64_t i, tally *t)
{
    const tct_csr *A = &m->A;
    const int64_t row = A->first + i, from = A->ptr[i], to = A->ptr[i + 1];
    double diagonal = 0, sum = 0;
    for (int64_t k = from; k < to; k++) {
        const double v = A->val[k];
        sum += fabs(v);
        if (v == 0) t->sum[ZEROS]++;
        if (tct_csr_col(A, k) == row) diagonal = v;
    }
    if (to > from) { /* columns ascend: the ends are the furthest */
        keep_least(&t->least[MINUS_BANDWIDTH], tct_csr_col(A, from) - row);
        keep_least(&t->least[MINUS_BANDWIDTH], row - tct_csr_col(A, to - 1));
    }
    keep_least(&t->least[ROW_MIN], to - from);
    keep_least(&t->least[MINUS_ROW_MAX], from - to);
    t->real[MINUS_NORM] = fmin(t->real[MINUS_NORM], -sum);
    if (row < A->global_cols) look_at_diagonal(m, i, diagonal, t);
}

static const tally nothing = {.least = {INT64_MAX, INT64_MAX, 0, 0},
                              .real = {HUGE_VAL, HUGE_VAL, 0}};

static void join(tally *to, const tally *t)
{
    for (int i = 0; i < SUMS; i++) to->sum[i] += t->sum[i];
    for (int i = 0; i < LEASTS; i++) keep_least(&to->least[i], t->least[i]);
    for (int i = 0; i < REAL_LEASTS; i++)
        to->real[i] = fmin(to->real[i], t->real[i]);
}

typedef struct {
    const tacit_matrix *m;
    tally all; /* in any order: numbers of rows, and extremes */
    pthread_mutex_t lock;
} survey;

static void look_at_range(void *work, int64_t from, int64_t to)
{
    survey *s = work;
    tally mine = nothing;
    for (int64_t i = from; i < to; i++) look_at_row(s->m, i, &mine);
    pthread_mutex_lock(&s->lock);
    join(&s->all, &mine);
    pthread_mutex_unlock(&s->lock);
}

static void look_at_rows(const tacit_matrix *m, tally *all)
{
    survey s = {m, *all, PTHREAD_MUTEX_INITIALIZER};
    tct_parallel(m->A.rows, TCT_SHORT, look_at_range, &s);
    *all = s.all;
}

static void fill_info(const tacit_matrix *m, const tally *t, int block,
                      tacit_matrix_info *out)
{
    const int64_t first = t->least[FIRST_BAD];
    *out = (tacit_matrix_info){
        .rows = m->A.global_rows,
        .cols = m->A.global_cols,
        .nonzeros = m->nonzeros,
        .explicit_zeros = t->sum[ZEROS],
        .row_min = t->least[ROW_MIN],
        .row_max = -t->least[MINUS_ROW_MAX],
        .row_mean = (double)m->nonzeros / (double)m->A.global_rows,
        .bandwidth = -t->least[MINUS_BANDWIDTH],
        .zero_diagonals = t->sum[ZERO_DIAGONALS],
        .negative_diagonals = t->sum[NEGATIVE_DIAGONALS],
        .first_bad_diagonal = first == INT64_MAX ? -1 : first,
        .diagonal_min = t->real[DIAGONAL_MIN],
        .diagonal_max = -t->real[MINUS_DIAGONAL_MAX],
        .norm_inf = 0.0 - t->real[MINUS_NORM],
        .summed = m->summed,
        .sent = m->sent,
        .shift = m->shift,
        .block = block,
        .format = m->format,
        .symmetric_storage = m->symmetric_storage,
        .irregular = m->irregular,
        .own_rhs = m->own_rhs,
    };
}

/* The same by formula, of a matrix without entries. */
static tally tally_of_stencil(const tacit_matrix *m)
{
    const tct_stencil_facts f = tct_stencil_facts_of(m->stencil);
    const double d = m->stencil->k[TCT_CELL];
    const int64_t bad = d > 0.0 ? 0 : m->A.global_rows;
    return (tally){
        .sum = {f.zeros, d < 0.0 ? 0 : bad, d < 0.0 ? bad : 0},
        .least = {f.row_min, bad ? 0 : INT64_MAX, -f.row_max, -f.bandwidth},
        .real = {d, -d, -f.norm}};
}

static tacit_status tally_all(const tacit_matrix *m, tally *t, int *block)
{
    *block = 1;
    if (m->stencil) {
        *t = tally_of_stencil(m);
        return TACIT_OK;
    }
    *t = nothing;
    look_at_rows(m, t);
    TRY(tct_reduce_i64(m->world, TCT_SUM, SUMS, t->sum));
    TRY(tct_reduce_i64(m->world, TCT_MIN, LEASTS, t->least));
    TRY(tct_reduce_f64(m->world, TCT_MIN, REAL_LEASTS, t->real));
    return tct_matrix_block(m, block);
}

tacit_status tacit_matrix_describe(const tacit_matrix *matrix,
                                   tacit_matrix_info *out)
{
    REQUIRE(matrix != NULL, out != NULL);
    TRY(tct_check_sized("tacit_matrix_info", out));
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    if (!matrix->stencil) TRY(tct_matrix_require_entries(matrix));
    tally t;
    int block;
    TRY(tally_all(matrix, &t, &block));
    tacit_matrix_info info;
    fill_info(matrix, &t, block, &info);
    tct_write_sized(&info, sizeof info, out);
    return TACIT_OK;
}
