/* SPDX-License-Identifier: BSD-3-Clause
 * cli/commands/trsv_system.c - the system of `tacit trsv`: a matrix and its
 * factor, or a factor alone, whose product is then the matrix; right-hand
 * sides, and the errors of a solution. */
#include "cli/commands/factor.h"
#include "cli/commands/trsv_job.h"
#include <inttypes.h>
#include <string.h>

static const tacit_matrix *shape_of(const trsv_job *job)
{
    return job->shape ? job->shape : job->problem.matrix;
}

/* --- products ------------------------------------------------------------- */

static tacit_status multiply_matrix(const trsv_job *job, const double *x,
                                    double *y)
{
    tacit_rows rows;
    TRY(tacit_matrix_view_rows(job->problem.matrix, &rows));
    for (int64_t i = 0; i < rows.count; i++) {
        y[i] = 0.0;
        for (int64_t k = rows.ptr[i]; k < rows.ptr[i + 1]; k++)
            y[i] +=
                rows.vals[k] * x[rows.cols32 ? rows.cols32[k] : rows.cols64[k]];
    }
    return TACIT_OK;
}

/* t = D t, for the columns from `first` on. */
static void multiply_pivots(const tacit_factor_panels *P, int64_t first,
                            int64_t w, double *t)
{
    const double *d = P->diagonal + first,
                 *e = P->off_diagonal ? P->off_diagonal + first : NULL;
    for (int64_t j = 0; j < w; j++) {
        const double x = t[j];
        t[j] *= d[j];
        if (!e || e[j] == 0.0) continue;
        t[j] += e[j] * t[j + 1];
        t[j + 1] = e[j] * x + d[j + 1] * t[j + 1];
        j++;
    }
}

/* Panel K: t = U x of its columns, or y = y + L t. */
static void multiply_panel(const tacit_factor_panels *P, int32_t K,
                           const double *x, double *t, double *y)
{
    const int64_t first = P->first[K], w = P->first[K + 1] - first,
                  h = P->row_start[K + 1] - P->row_start[K];
    const int32_t *row = P->row + P->row_start[K];
    const double *upper = P->upper ? P->upper : P->value;
    for (int64_t j = 0; j < w; j++) {
        const int64_t at = P->value_start[K] + j * h;
        if (x) t[first + j] = 0.0;
        for (int64_t i = j; i < h; i++) {
            if (x) t[first + j] += upper[at + i] * x[row[i]];
            else y[row[i]] += P->value[at + i] * t[first + j];
        }
    }
    if (x && P->diagonal) multiply_pivots(P, first, w, t + first);
}

/* y = L U x, in original order; `v` [3 rows]. */
static void multiply_factor(const tacit_factor_panels *P, const double *x,
                            double *y, double *v)
{
    double *here = v, *t = v + P->rows, *sum = t + P->rows;
    for (int64_t k = 0; k < P->rows; k++) {
        const int64_t i = P->original ? P->original[k] : k;
        here[k] = P->col_scale ? x[i] / P->col_scale[i] : x[i];
        sum[k] = 0.0;
    }
    for (int32_t K = 0; K < P->panels; K++) multiply_panel(P, K, here, t, NULL);
    for (int32_t K = 0; K < P->panels; K++) multiply_panel(P, K, NULL, t, sum);
    for (int64_t k = 0; k < P->rows; k++) {
        const int64_t j = P->original ? P->original[k] : k;
        const int64_t i = P->row_order ? P->row_order[j] : j;
        y[i] = P->row_scale ? sum[k] / P->row_scale[i] : sum[k];
    }
}

static tacit_status multiply(const trsv_job *job, const double *x, double *y)
{
    tacit_factor_panels P = {.size = sizeof P};
    double *v = NULL;
    if (!job->of_factor) return multiply_matrix(job, x, y);
    TRY(tacit_factor_view(job->F, &P));
    TRY(ALLOC(3 * job->rows, "a product with a factor", &v));
    multiply_factor(&P, x, y, v);
    free(v);
    return TACIT_OK;
}

/* --- right-hand sides ----------------------------------------------------- */

/* In [-1, 1), by splitmix64. */
static double uniform(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed + 1) * UINT64_C(0xD1B54A32D192ED03) +
                 (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

static tacit_status manufacture(const cli *c, trsv_job *job)
{
    const int64_t all = job->rows * job->columns;
    TRY(ALLOC(all, "right-hand sides", &job->xstar));
    for (int64_t i = 0; i < all; i++)
        job->xstar[i] = uniform((uint64_t)c->set.seed, (uint64_t)i);
    for (int64_t j = 0; j < job->columns; j++)
        TRY(multiply(job, job->xstar + j * job->rows, job->B + j * job->rows));
    return TACIT_OK;
}

static tacit_status read_rhs(const cli *c, trsv_job *job)
{
    const char *rhs = c->set.operands > 1 ? c->set.operand[1] : "manufactured";
    job->columns = c->set.rhs_columns ? (int)c->set.rhs_columns : 1;
    if (!cli_is_rhs_word(rhs) || cli_is_own(rhs)) {
        double *B = NULL;
        if (c->set.rhs_columns)
            FAIL(TACIT_INVALID,
                 "--rhs-columns is not for '%s', which has its "
                 "own: leave it out",
                 rhs);
        if (cli_is_own(rhs) && c->set.given)
            FAIL(TACIT_INVALID, "RHS file: a factor that is given holds no "
                                "right-hand side: name its file");
        TRY(tacit_matrix_read_vectors(shape_of(job),
                                      cli_is_own(rhs) ? c->set.operand[0] : rhs,
                                      &job->columns, &B));
        tacit_status status =
            ALLOC(job->rows * job->columns, "right-hand sides", &job->B);
        if (status >= 0)
            memcpy(job->B, B, (size_t)(job->rows * job->columns) * sizeof *B);
        tacit_matrix_free_vectors(&B);
        return status;
    }
    TRY(ALLOC(job->rows * job->columns, "right-hand sides", &job->B));
    if (strcmp(rhs, "manufactured") == 0) return manufacture(c, job);
    for (int64_t i = 0; i < job->rows * job->columns; i++) job->B[i] = 1.0;
    return TACIT_OK;
}

/* --- opening -------------------------------------------------------------- */

static tacit_status read_given(const cli *c, int leaves, trsv_job *job)
{
    cli with = *c;
    with.set.leaves = leaves;
    TRY(cli_read_factor(&with, &job->F));
    TRY(tacit_factor_describe(job->F, &job->factor));
    return cli_empty_matrix(c, job->factor.rows, &job->shape);
}

static tacit_status factor_matrix(const cli *c, int leaves, trsv_job *job)
{
    const tacit_factor_options options = {.size = sizeof options,
                                          .leaves = leaves,
                                          .width = (int)c->set.width,
                                          .kind = cli_kind_of(c->set.kind),
                                          .order = c->set.order};
    TRY(cli_problem_open(c, c->set.operand[0], CLI_FOR_FACTORING,
                         &job->problem));
    TRY(tacit_factor_create(job->problem.matrix, &options, &job->F));
    return tacit_factor_describe(job->F, &job->factor);
}

tacit_status trsv_open(const cli *c, int leaves, trsv_job *job)
{
    const char *output = c->set.output;
    TRY(cli_check_given(c));
    if (output)
        TRY(tacit_file_check_writable(c->world, output, TACIT_FILE_VECTOR));
    job->factor.size = sizeof job->factor;
    TRY(c->set.given ? read_given(c, leaves, job)
                     : factor_matrix(c, leaves, job));
    job->rows = job->factor.rows;
    job->of_factor = c->set.given || job->factor.kind == TACIT_FACTOR_IC0 ||
                     job->factor.kind == TACIT_FACTOR_ILU0;
    TRY(read_rhs(c, job));
    return output && job->columns > 1
               ? tacit_file_check_writable(c->world, output, TACIT_FILE_VECTORS)
               : TACIT_OK;
}

void trsv_close(trsv_job *job)
{
    tacit_trsv_destroy(&job->T);
    for (int k = 0; k < 2 && job->queue; k++)
        tacit_queue_free(job->queue, &job->on_gpu[k]);
    tacit_queue_destroy(&job->queue);
    tacit_factor_destroy(&job->F);
    tacit_matrix_destroy(&job->shape);
    cli_problem_close(&job->problem);
    tacit_world_destroy(&job->alone);
    free(job->xstar);
    free(job->B);
    free(job->X);
    free(job->exponent);
}

/* --- errors --------------------------------------------------------------- */

/* The larger one, or the one that is NAN. */
static double worse(double a, double b)
{
    return isnan(b) || b > a ? b : a;
}

static double largest(int64_t n, const double *v)
{
    double most = 0.0;
    for (int64_t i = 0; i < n; i++) most = worse(most, fabs(v[i]));
    return most;
}

/* ||b - r|| / ||b||. b is divided by its largest entry, so that squares stay in
 * range. */
static double residual_of(int64_t n, const double *b, const double *r)
{
    const double most = largest(n, b);
    double rr = 0.0, bb = 0.0;
    if (most == 0.0) return largest(n, r) == 0.0 ? 0.0 : (double)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double d = (b[i] - r[i]) / most, e = b[i] / most;
        rr += d * d;
        bb += e * e;
    }
    return sqrt(rr / bb);
}

static double error_of(int64_t n, const double *x, const double *star)
{
    double ee = 0.0, xx = 0.0;
    for (int64_t i = 0; i < n; i++) {
        ee += (x[i] - star[i]) * (x[i] - star[i]);
        xx += star[i] * star[i];
    }
    return sqrt(ee / xx);
}

tacit_status trsv_judge(trsv_job *job)
{
    const int64_t n = job->rows;
    double *r = NULL;
    job->residual = 0.0;
    job->error = job->xstar ? 0.0 : (double)NAN;
    TRY(ALLOC(n, "the residual", &r));
    for (int64_t j = 0; j < job->columns; j++) {
        const double *x = job->X + j * n, *b = job->B + j * n;
        TRY(multiply(job, x, r));
        job->residual = worse(job->residual, residual_of(n, b, r));
    }
    free(r);
    cli_scale_up(n, job->columns, job->X, job->exponent);
    for (int64_t j = 0; job->xstar && j < job->columns; j++)
        job->error =
            worse(job->error, error_of(n, job->X + j * n, job->xstar + j * n));
    return TACIT_OK;
}

tacit_status trsv_write(const cli *c, const trsv_job *job)
{
    if (!c->set.output) return TACIT_OK;
    return tacit_matrix_write_vectors(shape_of(job), c->set.output,
                                      job->columns, job->X, (size_t)job->rows);
}

double trsv_factor_seconds(const trsv_job *job)
{
    return job->factor.order_seconds + job->factor.symbolic_seconds +
           job->factor.numeric_seconds;
}

cJSON *trsv_json_begin(const cli *c, const trsv_job *job)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "tacit", tacit_version());
    if (c->set.given) cJSON_AddStringToObject(o, "given", c->set.operand[0]);
    else
        cJSON_AddItemToObject(
            o, "matrix",
            cli_json_matrix(job->problem.name, &job->problem.info));
    cJSON_AddStringToObject(o, "kind", cli_kind_name(job->factor.kind));
    cli_json_number(o, "ranks", c->ranks);
    cli_json_number(o, "columns", job->columns);
    cli_json_number(o, "leaves", job->factor.leaves);
    cli_json_number(o, "nonzeros", (double)job->factor.nonzeros);
    cli_json_number(o, "factor_seconds", trsv_factor_seconds(job));
    cli_json_number(o, "relative_residual", job->residual);
    cli_json_number(o, "relative_error", job->error);
    return o;
}

void trsv_print_begin(cli_table *t, const trsv_job *job)
{
    char a[CLI_NUMBER], b[CLI_NUMBER];
    cli_table_row(t, "rows\t%s, %d right-hand %s", cli_integer(job->rows, a),
                  job->columns, job->columns == 1 ? "side" : "sides");
    cli_table_row(t,
                  "entries of L\t%s, in %s panels, %" PRId32 " deep, kind %s",
                  cli_integer(job->factor.nonzeros, a),
                  cli_integer(job->factor.panels, b), job->factor.depth,
                  cli_kind_name(job->factor.kind));
}

void trsv_print_end(cli_table *t, const trsv_job *job)
{
    cli_table_row(t, "residual\t%.2e%s", job->residual,
                  job->of_factor ? ", of the factor's product" : "");
    if (job->xstar) cli_table_row(t, "error\t%.2e", job->error);
}
