/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/points.c - the points that rows displace, of a gallery matrix or from
 * a file, and their rigid-body modes. */
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "io/io.h"
#include "matrix/rigid.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const what = "the points of rows";

/* --- modes ---------------------------------------------------------------- */

/* Sum the points of `rows` rows. */
static void add_points(int dims, int64_t rows, const double *points,
                       double sum[3])
{
    for (int d = 0; d < dims; d++) {
        sum[d] = 0.0;
        for (int64_t i = 0; i < rows; i++) sum[d] += points[i * dims + d];
    }
}

/* Component `c` of a rotation in the plane of directions `p` and `q`, at `x`
 * from the centre. */
static double rotation(const double x[3], int p, int q, int c)
{
    return c == p ? -x[q] : c == q ? x[p] : 0.0;
}

/* The elements of a row in direction `c`, `step` apart. */
static void set_row(int dims, const double x[3], int c, double *out,
                    int64_t step)
{
    for (int d = 0; d < dims; d++, out += step) *out = c == d ? 1.0 : 0.0;
    for (int p = 0; p < dims; p++)
        for (int q = p + 1; q < dims; q++, out += step)
            *out = rotation(x, p, q, c);
}

tacit_status tacit_rigid_body_modes(int dims, int64_t rows,
                                    const double *points, const int *component,
                                    const double *centre, double *modes)
{
    REQUIRE(dims >= 1, dims <= 3, rows >= 0);
    REQUIRE(rows == 0 || points != NULL, rows == 0 || component != NULL,
            rows == 0 || modes != NULL);
    double mean[3] = {0.0};
    if (!centre) add_points(dims, rows, points, mean);
    for (int d = 0; d < dims; d++)
        mean[d] = centre ? centre[d] : mean[d] / (double)(rows ? rows : 1);
    for (int64_t i = 0; i < rows; i++) {
        double x[3] = {0.0};
        const int c = component[i];
        if (c < 0 || c >= dims)
            FAIL(TACIT_INVALID,
                 "rigid-body modes: component[%lld] is %d: expected 0 to %d",
                 (long long)i, c, dims - 1);
        for (int d = 0; d < dims; d++) x[d] = points[i * dims + d] - mean[d];
        set_row(dims, x, c, modes + i, rows);
    }
    return TACIT_OK;
}

/* --- of a gallery matrix -------------------------------------------------- */

static void locate(const int64_t n[3], int64_t row, tct_rigid_place *p)
{
    const int64_t node = row / 3, line = node / n[0];
    *p = (tct_rigid_place){row,
                           {node % n[0], line % n[1], line / n[1], row % 3}};
}

static void advance(const int64_t n[3], tct_rigid_place *p)
{
    p->row++;
    if (++p->at[3] < 3) return;
    p->at[3] = 0;
    if (++p->at[0] < n[0]) return;
    p->at[0] = 0;
    if (++p->at[1] < n[1]) return;
    p->at[1] = 0;
    p->at[2]++;
}

/* The point and direction of row `i`, as in a table of points. */
static void on_grid(const tacit_matrix *m, int64_t i, tct_rigid_place *p)
{
    const int64_t row = tct_original(m, i);
    if (p->row >= 0 && row == p->row + 1) advance(m->grid, p);
    else locate(m->grid, row, p);
}

/* The points of this rank's rows, from other ranks if redistributed: a table of
 * four words per row. */
static tacit_status fetch(const tacit_matrix *m, const double **table,
                          double **own)
{
    const int64_t rows = m->A.rows, size = m->world->size;
    int64_t *starts = NULL, *number = NULL;
    *table = m->points;
    if (!m->original) return TACIT_OK;
    tacit_status status = TCT_ALLOC(4 * rows, what, own);
    if (status >= 0) status = TCT_ALLOC(4 * rows, what, &number);
    if (status >= 0) status = TCT_ALLOC(size + 1, what, &starts);
    status = tct_agree(m->world, status);
    for (int64_t r = 0; status >= 0 && r <= size; r++)
        starts[r] = 4 * m->dealt[r];
    for (int64_t k = 0; status >= 0 && k < 4 * rows; k++)
        number[k] = 4 * m->original[k / 4] + k % 4;
    if (status >= 0)
        status = tct_directory_get(m->world, starts, m->points, 4 * rows,
                                   number, *own);
    TCT_FREE(starts, number);
    if (status < 0) tct_free(*own);
    *table = *own;
    return status;
}

typedef struct {
    const tacit_matrix *m;
    int axis;
} coordinate;

/* The sum of a coordinate, which is exact in any order. */
static int64_t sum_on_grid(const void *work, int64_t from, int64_t to)
{
    const coordinate *c = work;
    tct_rigid_place p = {.row = -1};
    int64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        on_grid(c->m, i, &p);
        sum += p.at[c->axis];
    }
    return sum;
}

static void add_grid(const tacit_matrix *m, double sum[3])
{
    for (int d = 0; d < 3; d++)
        sum[d] = (double)tct_parallel_sum(m->A.rows, TCT_SHORT, sum_on_grid,
                                          &(coordinate){m, d});
}

static void add_table(const double *table, int64_t rows, double sum[3])
{
    for (int64_t i = 0; i < rows; i++)
        for (int d = 0; d < 3; d++) sum[d] += table[4 * i + d];
}

/* The mean over all ranks' rows. */
static tacit_status mean_of(const tacit_matrix *m, double sum[3])
{
    const double rows = (double)m->A.global_rows;
    TRY(tct_reduce_f64(m->world, TCT_SUM, 3, sum));
    for (int d = 0; d < 3; d++) sum[d] /= rows > 0.0 ? rows : 1.0;
    return TACIT_OK;
}

tacit_status tct_rigid_open(const tacit_matrix *m, tct_rigid *out)
{
    tct_rigid r = {.m = m};
    if (m->points) TRY(fetch(m, &r.at, &r.own));
    if (m->points) add_table(r.at, m->A.rows, r.centre);
    else add_grid(m, r.centre);
    const tacit_status status = mean_of(m, r.centre);
    *out = r;
    if (status < 0) tct_rigid_close(out);
    return status;
}

void tct_rigid_row(const tct_rigid *r, int64_t i, tct_rigid_place *place,
                   double *out)
{
    double on[4];
    const double *at = r->at ? r->at + 4 * i : on;
    if (!r->at) {
        on_grid(r->m, i, place);
        for (int d = 0; d < 4; d++) on[d] = (double)place->at[d];
    }
    const double x[3] = {at[0] - r->centre[0], at[1] - r->centre[1],
                         at[2] - r->centre[2]};
    set_row(3, x, (int)at[3], out, 1);
}

void tct_rigid_close(tct_rigid *r)
{
    tct_free(r->own);
    *r = (tct_rigid){.m = NULL};
}

/* --- of a file ------------------------------------------------------------ */

/* A file with a point per line, for nodes of `dims` rows each. */
typedef struct {
    const tacit_matrix *m;
    int dims;
    double *points;
    int *component;
    int columns; /* of a file with as many points, whatever its values */
} reader;

/* Distribute the points of the nodes that this rank has read, Y [dims][count],
 * to the ranks of their rows. */
static tacit_status distribute(const reader *r, const double *Y, int64_t count)
{
    const tacit_matrix *m = r->m;
    const int64_t rows = m->A.rows, size = m->world->size;
    int64_t *starts = NULL, *node = NULL;
    double *x = NULL;
    tacit_status status = TCT_ALLOC(size + 1, what, &starts);
    if (status >= 0) status = TCT_ALLOC(rows, what, &node);
    if (status >= 0) status = TCT_ALLOC(rows, what, &x);
    status = tct_agree(m->world, status);
    for (int k = 0; status >= 0 && k <= size; k++)
        starts[k] = tct_share(m->A.global_rows / r->dims, (int)size, k);
    for (int d = 0; status >= 0 && d < r->dims; d++) {
        for (int64_t i = 0; i < rows; i++) {
            node[i] = tct_original(m, i) / r->dims;
            r->component[i] = (int)(tct_original(m, i) % r->dims);
        }
        status =
            tct_directory_get(m->world, starts, Y + d * count, rows, node, x);
        for (int64_t i = 0; status >= 0 && i < rows; i++)
            r->points[i * r->dims + d] = x[i];
    }
    TCT_FREE(starts, node, x);
    return status;
}

static tacit_status read_points(reader *r, const char *path)
{
    const tacit_matrix *m = r->m;
    const int64_t n = m->A.global_rows, nodes = n / r->dims;
    const int rank = m->world->rank, size = m->world->size;
    const int64_t first = tct_share(nodes, size, rank);
    const int64_t count = tct_share(nodes, size, rank + 1) - first;
    double *Y = NULL;
    r->columns = 0;
    tacit_status status = tct_read_vectors(m->world, path, false, nodes, first,
                                           count, &r->columns, &Y);
    if (status >= 0 && r->columns != r->dims)
        status = tacit_error_set(
            TACIT_INPUT,
            "%s: %lld points of %d coordinates, for %lld rows: expected %d, as "
            "each point has as many rows",
            path, (long long)nodes, r->columns, (long long)n, r->dims);
    if (status >= 0) status = distribute(r, Y, count);
    tct_free(Y);
    return status;
}

/* Add what the file should have. */
static tacit_status explain(const reader *r, const char *wrong)
{
    const int64_t n = r->m->A.global_rows;
    FAIL(TACIT_INPUT, "%s (a point a line is wanted, for each %d of %lld rows)",
         wrong, r->dims, (long long)n);
}

/* In three dimensions, or else in two. */
static tacit_status read_any(reader *r, const char *path)
{
    const int64_t n = r->m->A.global_rows, rows = r->m->A.rows;
    char wrong[512];
    tacit_status status = TCT_ALLOC(3 * rows, what, &r->points);
    if (status >= 0) status = TCT_ALLOC(rows, what, &r->component);
    TRY(tct_agree(r->m->world, status));
    if (n % 3 != 0 && n % 2 != 0)
        FAIL(TACIT_INPUT, "%s: %lld rows are neither 2 nor 3 for each point",
             path, (long long)n);
    r->dims = n % 3 == 0 ? 3 : 2;
    status = read_points(r, path);
    if (status != TACIT_INPUT || r->columns == r->dims) return status;
    snprintf(wrong, sizeof wrong, "%s", tacit_error_message());
    if (r->dims == 2 || n % 2 != 0) return explain(r, wrong);
    r->dims = 2;
    status = read_points(r, path);
    if (status != TACIT_INPUT || r->columns == r->dims) return status;
    r->dims = 3;
    return explain(r, wrong);
}

/* --- both ----------------------------------------------------------------- */

/* Those of a file; r->points and r->component are freed by the caller. */
static tacit_status of_file(reader *r, const char *path, int *columns,
                            double **out)
{
    const int64_t rows = r->m->A.rows;
    double centre[3] = {0.0};
    TRY(read_any(r, path));
    const int k = r->dims == 3 ? 6 : 3;
    add_points(r->dims, rows, r->points, centre);
    TRY(mean_of(r->m, centre));
    tacit_status status = TCT_ALLOC(k * rows, "rigid-body modes", out);
    if (status >= 0)
        status = tacit_rigid_body_modes(r->dims, rows, r->points, r->component,
                                        centre, *out);
    *columns = k;
    return tct_agree(r->m->world, status);
}

typedef struct {
    const tct_rigid *r;
    double *out; /* [TCT_RIGID][rows] */
} listing;

static void list_rows(void *work, int64_t from, int64_t to)
{
    const listing *l = work;
    tct_rigid_place place = {.row = -1};
    double row[TCT_RIGID];
    for (int64_t i = from; i < to; i++) {
        tct_rigid_row(l->r, i, &place, row);
        for (int k = 0; k < TCT_RIGID; k++)
            l->out[k * l->r->m->A.rows + i] = row[k];
    }
}

static tacit_status of_gallery(const tacit_matrix *m, int *columns,
                               double **out)
{
    const int64_t rows = m->A.rows;
    tct_rigid r;
    TRY(tct_rigid_open(m, &r));
    const tacit_status status =
        tct_agree(m->world, TCT_ALLOC(TCT_RIGID * rows, what, out));
    if (status >= 0)
        tct_parallel(rows, TCT_SHORT, list_rows, &(listing){&r, *out});
    tct_rigid_close(&r);
    *columns = TCT_RIGID;
    return status;
}

tacit_status tacit_matrix_rigid_body_modes(const tacit_matrix *matrix,
                                           const char *path, int *columns,
                                           double **modes)
{
    REQUIRE(matrix != NULL, columns != NULL, modes != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(matrix->world));
    reader r = {.m = matrix, .dims = 3};
    *columns = 0;
    *modes = NULL;
    TRY(tct_agree_name(matrix->world, "the file of points", path));
    if (!path && !matrix->elastic) return TACIT_OK;
    const tacit_status status = path ? of_file(&r, path, columns, modes)
                                     : of_gallery(matrix, columns, modes);
    TCT_FREE(r.points, r.component);
    if (status < 0) tacit_matrix_free_vectors(modes);
    return status;
}
