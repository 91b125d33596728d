/* SPDX-License-Identifier: BSD-3-Clause
 * bench/spmv_host.c - the product of every host format on one matrix:
 *
 *     spmv_host NAME [THREADS [SECONDS]]
 *
 * NAME is a file or a gallery matrix, or one of the matrices made here, which
 * need no other part of the library:
 *   grid7:N     N^3 rows, 7-point, constant coefficients
 *   grid27:N    N^3 rows, 27-point, random values
 *   block3:N    3 N^3 rows, 27-point of dense 3 x 3 blocks, random values
 *   random:N    N rows, 1 to 30 columns near the diagonal, random values
 *   power:N     N rows, lengths by a power law, columns anywhere
 *
 * One tab-separated line per format: time of a product (the best of many, of
 * a pair and with the dot beside it), ns per entry, bytes per entry that the
 * format reads, GB/s including x and y once, the ratio to csr, entries per
 * second of building it. Before them the bandwidth of a triad, a = b + s c,
 * larger than any cache, for comparison. */
#include "matrix/matrix.h"
#include "operator/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* --- matrices ------------------------------------------------------------- */

/* Columns of row `i` into `col` [at most 4096], ascending; their number. */
typedef int (*row_maker)(int64_t n, int64_t i, int32_t *col);

static int grid_row(int64_t n, int64_t i, int reach, int32_t *col)
{
    const int64_t at[3] = {i % n, i / n % n, i / (n * n)};
    int count = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int64_t x = at[0] + dx, y = at[1] + dy, z = at[2] + dz;
                if (abs(dx) + abs(dy) + abs(dz) > reach) continue;
                if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n)
                    continue;
                col[count++] = (int32_t)(x + n * (y + n * z));
            }
    return count;
}

static int grid7_row(int64_t n, int64_t i, int32_t *col)
{
    return grid_row(n, i, 1, col);
}

static int grid27_row(int64_t n, int64_t i, int32_t *col)
{
    return grid_row(n, i, 3, col);
}

static int block3_row(int64_t n, int64_t i, int32_t *col)
{
    int32_t node[27];
    const int count = grid_row(n, i / 3, 3, node);
    for (int k = 0; k < count; k++)
        for (int j = 0; j < 3; j++) col[3 * k + j] = 3 * node[k] + j;
    return 3 * count;
}

static int unique(int32_t *col, int count)
{
    int kept = 0;
    qsort(col, (size_t)count, sizeof *col, by_number);
    for (int k = 0; k < count; k++)
        if (k == 0 || col[k] != col[kept - 1]) col[kept++] = col[k];
    return kept;
}

static int random_row(int64_t n, int64_t i, int32_t *col)
{
    const uint64_t row = (uint64_t)i;
    const int count = 1 + (int)(30.0 * tct_uniform(row, 0));
    for (int k = 0; k < count; k++) {
        const double u = tct_uniform(row, (uint64_t)k + 1) - 0.5;
        const int64_t c = i + (int64_t)(u * 20000.0);
        col[k] = (int32_t)(c < 0 ? 0 : c >= n ? n - 1 : c);
    }
    return unique(col, count);
}

static int power_row(int64_t n, int64_t i, int32_t *col)
{
    const uint64_t row = (uint64_t)i;
    const double wish = 3.0 / (tct_uniform(row, 0) + 1e-3);
    const int count = wish < 4096.0 ? (int)wish : 4096;
    for (int k = 0; k < count; k++)
        col[k] = (int32_t)(tct_uniform(row, (uint64_t)k + 1) * (double)n);
    return unique(col, count);
}

static const struct {
    const char *name;
    row_maker row;
    int power, factor; /* rows = factor * N^power */
    bool constant;
} made[] = {{"grid7:", grid7_row, 3, 1, true},
            {"grid27:", grid27_row, 3, 1, false},
            {"block3:", block3_row, 3, 3, false},
            {"random:", random_row, 1, 1, false},
            {"power:", power_row, 1, 1, false}};

static tacit_status make(size_t kind, int64_t n, tct_local *A)
{
    int32_t col[4096];
    A->rows = made[kind].factor;
    for (int p = 0; p < made[kind].power; p++) A->rows *= n;
    A->cols = A->rows;
    TRY(TCT_ALLOC(A->rows + 1, "the matrix", &A->ptr));
    A->ptr[0] = 0;
    for (int64_t i = 0; i < A->rows; i++)
        A->ptr[i + 1] = A->ptr[i] + made[kind].row(n, i, col);
    TRY(TCT_ALLOC(A->ptr[A->rows], "the matrix", &A->col));
    TRY(TCT_ALLOC(A->ptr[A->rows], "the matrix", &A->val));
    for (int64_t i = 0; i < A->rows; i++)
        made[kind].row(n, i, A->col + A->ptr[i]);
    for (int64_t k = 0; k < A->ptr[A->rows]; k++)
        A->val[k] = made[kind].constant ? (k % 2 ? -1.0 : 6.0)
                                        : tct_uniform((uint64_t)k, 7) + 0.5;
    return TACIT_OK;
}

static tacit_status open_matrix(const char *name, tct_local *A)
{
    tacit_world *world = NULL;
    tacit_matrix *matrix = NULL;
    TRY(tacit_world_self(&world));
    TRY(tacit_matrix_open(world, name, NULL, &matrix));
    tct_csr *rows = &matrix->A;
    const int64_t nonzeros = tct_csr_nonzeros(rows);
    A->rows = rows->rows;
    A->cols = rows->global_cols;
    TRY(TCT_ALLOC(A->rows + 1, "the matrix", &A->ptr));
    TRY(TCT_ALLOC(nonzeros, "the matrix", &A->col));
    TRY(TCT_ALLOC(nonzeros, "the matrix", &A->val));
    memcpy(A->ptr, rows->ptr, (size_t)(A->rows + 1) * sizeof *A->ptr);
    for (int64_t k = 0; k < nonzeros; k++) {
        A->col[k] = (int32_t)tct_csr_col(rows, k);
        A->val[k] = rows->val[k];
    }
    tacit_matrix_destroy(&matrix);
    tacit_world_destroy(&world);
    return TACIT_OK;
}

static tacit_status get_matrix(const char *name, tct_local *A)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const size_t length = strlen(made[i].name);
        int64_t n = 0;
        if (strncmp(name, made[i].name, length) != 0) continue;
        if (!tct_parse_int64(name + length, &n) || n < 1)
            FAIL(TACIT_INVALID, "%s: expected a size behind the colon", name);
        return make(i, n, A);
    }
    return open_matrix(name, A);
}

/* --- measuring ------------------------------------------------------------ */

typedef struct {
    double *a, *b, *c;
    bool first;
} triads;

static void triad_stretch(void *work, int64_t from, int64_t to)
{
    const triads *t = work;
    double *restrict a = t->a, *restrict b = t->b, *restrict c = t->c;
    if (t->first)
        for (int64_t i = from; i < to; i++) b[i] = 1.0, c[i] = 2.0;
    for (int64_t i = from; i < to; i++) a[i] = b[i] + 3.0 * c[i];
}

/* GB/s of a triad over 3 x 160 MB, what it must move counted once. */
static double triad(tct_team *team)
{
    const int64_t n = 20000000;
    const size_t bytes = (size_t)n * sizeof(double);
    triads t = {tct_alloc(bytes), tct_alloc(bytes), tct_alloc(bytes), true};
    double best = 0.0;
    for (int r = 0; r < 6 && t.a && t.b && t.c; r++) {
        const double start = tct_seconds();
        t.first = r == 0;
        tct_team_stretches(team, n, triad_stretch, &t);
        const double rate = 24e-9 * (double)n / (tct_seconds() - start);
        if (r > 0 && rate > best) best = rate;
    }
    tct_free(t.a);
    tct_free(t.b);
    tct_free(t.c);
    return best;
}

typedef struct {
    const tct_block *B;
    tct_team *team;
    double *x0, *y0, *x1, *y1, dot;
} product;

static void plain(product *p)
{
    p->B->ops->multiply(p->B, p->x0, p->y0, NULL);
}
static void with_dot(product *p)
{
    p->B->ops->multiply(p->B, p->x0, p->y0, &p->dot);
}
static void pair(product *p)
{
    const tct_panel x = tct_pair(p->x0, p->x1), y = tct_pair(p->y0, p->y1);
    p->B->ops->multiply_block(p->B, &x, &y);
}

static double best_of(void (*once)(product *), product *p, double seconds)
{
    double best = 1e30;
    const double end = tct_seconds() + seconds;
    do {
        const double start = tct_seconds();
        once(p);
        const double t = tct_seconds() - start;
        if (t < best) best = t;
    } while (tct_seconds() < end);
    return best;
}

static double one_format(const tct_format *f, const tct_local *A, product *p,
                         double seconds, double csr)
{
    tct_local copy = *A;
    copy.owned = false;
    tct_block *B = NULL;
    const double start = tct_seconds();
    if (f->create(&copy, p->team, &B) < 0) {
        printf("%s\t%s\n", f->about.name, tacit_error_message());
        return csr;
    }
    const double built = tct_seconds() - start;
    p->B = B;
    const double t = best_of(plain, p, seconds);
    const double dot = best_of(with_dot, p, seconds);
    const double two = best_of(pair, p, seconds);
    const double entries = (double)A->ptr[A->rows];
    const double vectors = 8.0 * (double)(A->rows + A->cols);
    printf("%s\t%.1f\t%.1f\t%.1f\t%.3f\t%.2f\t%.1f\t%.3f\t%.0f\n",
           f->about.name, 1e6 * t, 1e6 * dot, 1e6 * two, 1e9 * t / entries,
           B->matrix_bytes / entries, 1e-9 * (B->matrix_bytes + vectors) / t,
           t / (csr > 0.0 ? csr : t), 1e-6 * entries / built);
    B->ops->destroy(B);
    return csr > 0.0 ? csr : t;
}

static tacit_status run(const char *name, int threads, double seconds)
{
    tct_local A = {0};
    TRY(get_matrix(name, &A));
    product p = {.B = NULL};
    TRY(tct_team_create(threads, &p.team));
    double **vector[] = {&p.x0, &p.y0, &p.x1, &p.y1};
    const int64_t n = A.rows > A.cols ? A.rows : A.cols;
    for (int v = 0; v < 4; v++) {
        TRY(TCT_ALLOC(n, "a vector", vector[v]));
        for (int64_t i = 0; i < n; i++)
            (*vector[v])[i] = tct_uniform((uint64_t)i, (uint64_t)v) - 0.5;
    }
    printf("%s: %lld rows, %lld entries, %d threads, triad %.1f GB/s\n", name,
           (long long)A.rows, (long long)A.ptr[A.rows], threads, triad(p.team));
    tacit_trial trials[TCT_TRIALS_MOST];
    int count = 0;
    const double start = tct_seconds();
    const tct_format *chosen = tct_format_choose(&A, p.team, trials, &count);
    printf("auto: %s, found in %.1f ms\n", chosen->about.name,
           1e3 * (tct_seconds() - start));
    for (int i = 0; i < count; i++)
        printf("  %s\t%.1f us\t%.2f bytes/entry\t%s\n", trials[i].format,
               1e6 * trials[i].seconds, trials[i].bytes / (double)A.ptr[A.rows],
               trials[i].reason ? trials[i].reason : "");
    printf("format\tus\tus+dot\tus pair\tns/entry\tB/entry\tGB/s\tto csr\t"
           "M entries/s built\n");
    double csr = 0.0;
    const tct_format *f;
    for (int i = 0; (f = tct_format_at("host", i)) != NULL; i++)
        csr = one_format(f, &A, &p, seconds, csr);
    for (int v = 0; v < 4; v++) tct_free(*vector[v]);
    tct_free(A.ptr);
    tct_free(A.col);
    tct_free(A.val);
    tct_team_destroy(&p.team);
    return TACIT_OK;
}

int main(int argc, char **argv)
{
    int64_t threads = 1;
    double seconds = 0.3;
    if (argc < 2 || argc > 4 ||
        (argc > 2 && (!tct_parse_int64(argv[2], &threads) || threads < 1)) ||
        (argc > 3 && !tct_parse_double(argv[3], &seconds))) {
        fprintf(stderr, "usage: spmv_host NAME [THREADS [SECONDS]]\n");
        return 2;
    }
    if (run(argv[1], (int)threads, seconds) >= 0) return 0;
    fprintf(stderr, "spmv_host: %s\n", tacit_error_message());
    return 1;
}
