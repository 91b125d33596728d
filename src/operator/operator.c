/* SPDX-License-Identifier: BSD-3-Clause
 * operator/operator.c - the distributed product: build it, update it, apply
 * it. The exchange is under way while the local block is multiplied. */
#include "operator/operator.h"
#include "matrix/directory.h"
#include "matrix/mail.h"
#include <stdio.h>
#include <string.h>

/* --- apply ----------------------------------------------------------------- */

static void apply_with(const tacit_operator *A, tacit_queue *q, const double *x,
                       double *y, double *dot)
{
    tct_exchange *e = A->plan ? &A->plan->base : NULL;
    if (e) q_exchange_begin(q, e, tct_single(x));
    q_multiply(q, A->local, x, y, dot);
    if (e) q_exchange_end(q, e, 1);
    if (A->ghost) q_multiply_add(q, A->ghost_there, e, 0, y, x, dot);
}

static void assembled_dots(const tacit_operator *A, tacit_queue *q,
                           const double *p, const double *r, double *s,
                           double *out)
{
    if (!A->plan) {
        q_multiply_dots(q, A->local, p, r, s, out);
        return;
    }
    apply_with(A, q, p, s, out); /* s is whole only when ghosts are in it */
    q_dots(q, (size_t)A->n, r, s, out + 1);
}

/* As many columns as an exchange may have. */
static void apply_columns(const tacit_operator *A, tacit_queue *q, tct_panel X,
                          tct_panel Y)
{
    tct_exchange *e = A->plan ? &A->plan->base : NULL;
    if (e) q_exchange_begin(q, e, X);
    q_multiply_block(q, A->local, X, Y);
    if (e) q_exchange_end(q, e, X.columns);
    for (int j = 0; A->ghost && j < X.columns; j++)
        q_multiply_add(q, A->ghost_there, e, j, tct_column(&Y, j),
                       tct_column(&X, j), NULL);
}

static void assembled_block(const tacit_operator *A, tacit_queue *q,
                            tct_panel X, tct_panel Y)
{
    const int most = A->plan ? A->plan->base.columns : X.columns;
    for (int j = 0; j < X.columns; j += most) {
        const int left = X.columns - j, columns = left < most ? left : most;
        apply_columns(A, q, tct_columns(&X, j, columns),
                      tct_columns(&Y, j, columns));
    }
}

static tacit_status assembled_diagonal(const tacit_operator *A, double *d)
{
    const tct_order *o = A->order;
    const size_t n = (size_t)A->n;
    q_put(A->q, n, A->diagonal, o ? o->x : d);
    if (o) tct_order_enter(o, A->q, n, o->x, d);
    return q_own_status(A->q);
}

static const tct_operator_ops assembled_ops = {.name = "assembled",
                                               .apply = apply_with,
                                               .apply_dots = assembled_dots,
                                               .apply_block = assembled_block,
                                               .diagonal = assembled_diagonal};

/* The vectors of all systems of the queue, of which `x` is the first. */
static tct_panel systems(const tacit_queue *q, const double *x)
{
    return (tct_panel){(double *)(uintptr_t)x, (ptrdiff_t)q->systems.stride,
                       q->systems.count};
}

static bool is_block(const tacit_operator *A, const tacit_queue *q)
{
    return q->systems.count > 1 && !A->ops->for_systems;
}

void apply(const tacit_operator *A, tacit_queue *q, const double *x, double *y)
{
    if (is_block(A, q)) apply_block(A, q, systems(q, x), systems(q, y));
    else A->ops->apply(A, q, x, y, NULL);
}

void apply_dot(const tacit_operator *A, tacit_queue *q, const double *x,
               double *y, double *dot)
{
    if (is_block(A, q)) {
        apply(A, q, x, y);
        q_dot(q, (size_t)A->n, x, y, dot);
    } else {
        A->ops->apply(A, q, x, y, dot);
    }
}

void apply_dots(const tacit_operator *A, tacit_queue *q, const double *p,
                const double *r, double *s, double *out)
{
    if (A->ops->apply_dots && q->systems.count <= 1) {
        A->ops->apply_dots(A, q, p, r, s, out);
        return;
    }
    apply_dot(A, q, p, s, out);
    q_dots(q, (size_t)A->n, r, s, out + 1);
}

void apply_pair(const tacit_operator *A, tacit_queue *q, const double *x0,
                double *y0, const double *x1, double *y1)
{
    if (q->systems.count <= 1) {
        apply_block(A, q, tct_pair(x0, x1), tct_pair(y0, y1));
        return;
    }
    apply(A, q, x0, y0);
    apply(A, q, x1, y1);
}

/* Column by column, each as a system of its own. */
static void apply_columns_alone(const tacit_operator *A, tacit_queue *q,
                                tct_panel X, tct_panel Y)
{
    const tct_systems all = q->systems;
    q->systems = (tct_systems){0};
    for (int j = 0; j < X.columns; j++)
        A->ops->apply(A, q, tct_column(&X, j), tct_column(&Y, j), NULL);
    q->systems = all;
}

void apply_block(const tacit_operator *A, tacit_queue *q, tct_panel X,
                 tct_panel Y)
{
    if (A->ops->apply_block) A->ops->apply_block(A, q, X, Y);
    else apply_columns_alone(A, q, X, Y);
}

static bool overlap(const double *x, const double *y, int64_t n)
{
    return (uintptr_t)x < (uintptr_t)(y + n) &&
           (uintptr_t)y < (uintptr_t)(x + n);
}

tacit_status tacit_operator_apply(const tacit_operator *A, const double *x,
                                  double *y)
{
    REQUIRE(A != NULL && (A->n == 0 || (x != NULL && y != NULL)));
    if (overlap(x, y, A->n))
        FAIL(TACIT_INVALID,
             "%s: x and y share memory: y is written while x is needed, so "
             "they must be two vectors",
             __func__);
    const tct_order *o = A->order ? A->order : A->follows;
    const size_t n = (size_t)A->n;
    if (o) tct_order_enter(o, A->q, n, x, o->x);
    apply(A, A->q, o ? o->x : x, o ? o->y : y);
    if (o) tct_order_leave(o, A->q, n, o->y, y);
    tct_unscale(A, A->q, y);
    return q_status(A->q);
}

/* --- build ------------------------------------------------------------------ */

static void row_statistics(const tct_csr *A, int64_t extent[3])
{
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t k = A->ptr[i + 1] - A->ptr[i];
        if (k < least) least = k;
        if (k > most) most = k;
    }
    extent[0] = -least; /* so that one maximum serves both */
    extent[1] = most;
    extent[2] = 0;
}

/* The diagonal, before the rows are consumed; columns of a row ascend. */
static tacit_status keep_diagonal(const tct_csr *rows, double **out)
{
    TRY(TCT_ALLOC(rows->rows, "the diagonal", out));
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t low = rows->ptr[i], high = rows->ptr[i + 1];
        while (low < high) {
            const int64_t mid = low + (high - low) / 2;
            if (tct_csr_col(rows, mid) < rows->first + i) low = mid + 1;
            else high = mid;
        }
        const bool there =
            low < rows->ptr[i + 1] && tct_csr_col(rows, low) == rows->first + i;
        (*out)[i] = there ? rows->val[low] : 0.0;
    }
    return TACIT_OK;
}

/* It is the operator's if all went well. */
static void take_diagonal(tacit_operator *A, double **fresh,
                          tacit_status status)
{
    if (status < 0) {
        tct_free(*fresh);
        return;
    }
    tct_free(A->diagonal);
    A->diagonal = *fresh;
}

typedef struct {
    const tct_csr *from;
    tct_csr *to;
} copying;

static void copy_entries(void *work, int64_t first, int64_t last)
{
    const copying *c = work;
    for (int64_t k = first; k < last; k++) {
        tct_csr_set_col(c->to, k, tct_csr_col(c->from, k));
        c->to->val[k] = c->from->val[k];
    }
}

static tacit_status copy_rows(tct_team *team, const tct_csr *from, tct_csr *to)
{
    const int64_t nonzeros = tct_csr_nonzeros(from);
    TRY(tct_csr_rows(to, from->global_rows, from->global_cols, from->first,
                     from->rows));
    memcpy(to->ptr, from->ptr, (size_t)(from->rows + 1) * sizeof *to->ptr);
    TRY(tct_csr_entries(to, nonzeros));
    tct_team_stretches(team, nonzeros, copy_entries, &(copying){from, to});
    return TACIT_OK;
}

static tacit_status plan_columns(const tacit_operator *A, int columns,
                                 tct_plan **out)
{
    const int32_t *now = A->order ? A->order->now : NULL;
    return tct_plan_create(A->q, A->starts, A->ghost_id, A->ghosts, now,
                           columns, out);
}

tacit_status tct_operator_columns(tacit_operator *A, int columns)
{
    REQUIRE(columns >= 1 && columns <= TCT_COLUMNS_MOST);
    if (!A->plan || columns <= A->plan->base.columns) return TACIT_OK;
    tct_plan *plan = NULL;
    TRY(tct_agree(A->world, q_own_status(A->q))); /* nothing runs any more */
    TRY(plan_columns(A, columns, &plan));
    tct_plan_destroy(&A->plan);
    A->plan = plan;
    A->version++;
    tct_low_share(A);
    return TACIT_OK;
}

static tacit_status describe_exchange(tacit_operator *A)
{
    if (!A->plan) return TACIT_OK;
    int64_t total[2] = {A->plan->base.messages, A->plan->base.values};
    TRY(tct_reduce_i64(A->world, TCT_SUM, 2, total));
    A->info.messages = total[0];
    A->info.volume = total[1];
    A->info.neighbours = A->plan->sends;
    A->info.ghosts = A->ghosts;
    A->info.sent = A->plan->base.values;
    return TACIT_OK;
}

static void describe_blocks(tacit_operator *A)
{
    const tct_block *L = A->local, *G = A->ghost;
    const double entries = (double)L->nonzeros + (G ? (double)G->nonzeros : 0);
    const double stored = (double)L->stored + (G ? (double)G->stored : 0);
    const double bytes = L->matrix_bytes + (G ? G->matrix_bytes : 0);
    A->info.format = A->name;
    A->info.detail =
        A->local->detail[0] ? A->local->detail : A->format->about.summary;
    A->info.packed = A->local->packed;
    A->info.bytes_per_nonzero = entries > 0 ? bytes / entries : 0.0;
    A->info.threads = L->threads ? L->threads : A->q->threads;
    A->info.padding = entries > 0 ? stored / entries - 1.0 : 0.0;
    if (A->low && entries > 0)
        A->info.low_bytes_per_nonzero = A->low->local->matrix_bytes / entries;
    A->info.low_bits = A->low ? A->low->bits : 0;
    A->info.order = A->order ? A->order->name : "none";
    A->info.order_seconds = A->order ? A->order->seconds : 0.0;
}

/* `rows` is consumed. Every rank comes through here, whatever `status`. */
static tacit_status build(tacit_operator *A, const tacit_matrix *matrix,
                          tct_csr *rows, tacit_status status,
                          const char *format)
{
    tacit_world *w = A->world;
    int64_t extent[3] = {0};
    double *diagonal = NULL;
    TRY(tct_agree(w, status));
    TRY(tct_scale(A, rows));
    if (status >= 0) {
        row_statistics(rows, extent);
        status = TCT_ALLOC(w->size + 1, "an operator", &A->starts);
    }
    if (status >= 0) {
        memcpy(A->starts, matrix->starts,
               (size_t)(w->size + 1) * sizeof *A->starts);
        A->n = rows->rows;
        A->info.rows = matrix->A.global_rows;
        A->info.nonzeros = matrix->nonzeros;
        status = keep_diagonal(rows, &diagonal);
    }
    if (status >= 0) status = tct_store(A, format, rows);
    tct_csr_clear(rows);
    take_diagonal(A, &diagonal, status);
    TRY(tct_agree(w, status));
    TRY(tct_reduce_i64(w, TCT_MAX, 3, extent));
    A->info.row_min = -extent[0];
    A->info.row_max = extent[1];
    if (w->size > 1) TRY(plan_columns(A, 2, &A->plan));
    describe_blocks(A);
    tct_low_share(A);
    return describe_exchange(A);
}

static tacit_status create(tacit_queue *queue, const tacit_matrix *matrix,
                           tct_csr *rows, tacit_status status,
                           const char *format, tacit_operator **out)
{
    const double start = tct_seconds();
    tacit_operator *A = tct_calloc(sizeof *A);
    if (!A && status >= 0)
        status = tct_fail(TACIT_NO_MEMORY, "no memory for an operator");
    status = tct_agree(matrix->world, status);
    if (status >= 0) {
        A->ops = &assembled_ops;
        A->q = queue;
        A->world = matrix->world;
        A->bits = 64;
        status = build(A, matrix, rows, status, format);
    }
    tct_csr_clear(rows);
    if (status < 0) {
        tacit_operator_destroy(&A);
        return status;
    }
    A->info.setup_seconds = tct_seconds() - start;
    *out = A;
    return TACIT_OK;
}

static tacit_status require_square(const tacit_matrix *matrix)
{
    if (matrix->A.global_rows == matrix->A.global_cols)
        return tct_matrix_require_entries(matrix);
    FAIL(TACIT_INPUT, "the matrix is not square: %lld rows, %lld columns",
         (long long)matrix->A.global_rows, (long long)matrix->A.global_cols);
}

tacit_status tacit_operator_create(tacit_queue *queue,
                                   const tacit_matrix *matrix,
                                   const char *format, tacit_operator **out)
{
    REQUIRE(queue != NULL && matrix != NULL && out != NULL);
    TCT_THREADS_AT_MOST(queue->threads);
    tct_csr rows = {0};
    tacit_status status = require_square(matrix);
    if (status >= 0) status = copy_rows(queue->team, &matrix->A, &rows);
    return create(queue, matrix, &rows, status, format, out);
}

tacit_status tacit_operator_take(tacit_queue *queue, tacit_matrix *matrix,
                                 const char *format, tacit_operator **out)
{
    REQUIRE(queue != NULL && matrix != NULL && out != NULL);
    TCT_THREADS_AT_MOST(queue->threads);
    tct_csr rows = {0};
    const tacit_status status = require_square(matrix);
    if (status >= 0) {
        rows = matrix->A;
        matrix->A.ptr = NULL;
        matrix->A.col32 = NULL;
        matrix->A.col64 = NULL;
        matrix->A.val = NULL;
        tct_matrix_release_entries(matrix);
    }
    return create(queue, matrix, &rows, status, format, out);
}

/* --- update ----------------------------------------------------------------- */

static tacit_status into_order(const tct_order *o, tct_parts *parts)
{
    TRY(tct_order_move(o, &parts->local));
    return tct_order_ghosts(o, parts);
}

/* New values for this rank's blocks; the ghost block is compared first, so that
 * none is changed where the patterns differ. `found` says where, in numbers of
 * the matrix as it is dealt out. */
static tacit_status refill(tacit_operator *A, tct_csr *rows,
                           tct_difference *found)
{
    tct_parts parts;
    const int64_t first = rows->first;
    tct_difference local = {.row = -1};
    tacit_status status = tct_split(A->q->team, rows, &parts);
    if (status >= 0 && A->order) status = into_order(A->order, &parts);
    if (status >= 0) {
        *found = tct_ghost_compare(A->ghost, A->ghost_id, &parts);
        if (found->row >= 0) status = TACIT_INVALID; /* worded by the caller */
    }
    parts.local.differs = &local;
    if (status >= 0) status = A->format->refill(A->local, &parts.local);
    if (local.row >= 0) {
        *found = local;
        if (A->order) found->col = A->order->old[found->col];
        found->col += first;
    }
    if (found->row >= 0 && A->order) found->row = A->order->old[found->row];
    if (found->row >= 0) found->row += first;
    if (status >= 0) status = tct_low_refill(A, &parts.local);
    if (status >= 0 && A->ghost)
        status = tct_ghost_refill(A->ghost, A->ghost_there, &parts);
    tct_parts_clear(&parts);
    return status;
}

/* The numbers of `found` as the user knows them: before rows were moved. The
 * column may be one of another rank's. Collective, with or without a find. */
static tacit_status original_numbers(const tacit_matrix *m,
                                     tct_difference *found)
{
    bool any = false;
    const bool mine = found->row >= 0;
    TRY(tct_any(m->world, mine, &any));
    if (!any || !m->original) return TACIT_OK;
    if (mine) found->row = m->original[found->row - m->A.first];
    return tct_ask(m->world, m->starts, m->original, mine, &found->col,
                   &found->col);
}

static tacit_status require_same_rows(const tacit_operator *A,
                                      const tacit_matrix *m)
{
    if (!A->starts)
        FAIL(TACIT_INVALID,
             "tacit_operator_update: the operator is a function, without "
             "values of a matrix");
    TRY(require_square(m));
    for (int r = 0; r < A->world->size; r++) {
        const int64_t was = A->starts[r + 1] - A->starts[r];
        const int64_t is = m->starts[r + 1] - m->starts[r];
        if (was != is)
            FAIL(TACIT_INVALID,
                 "the rows of the matrix are not the operator's: rank %d has "
                 "%lld of them where it had %lld",
                 r, (long long)is, (long long)was);
    }
    return TACIT_OK;
}

tacit_status tacit_operator_update(tacit_operator *A,
                                   const tacit_matrix *matrix)
{
    REQUIRE(A != NULL && matrix != NULL);
    TCT_THREADS_AT_MOST(A->q->threads);
    tct_csr rows = {0};
    tct_difference found = {.row = -1};
    double *diagonal = NULL;
    const int exponent = A->exponent; /* of what stays if it is refused */
    const double norm = A->norm;
    tacit_status status = require_same_rows(A, matrix);
    if (status >= 0) status = copy_rows(A->q->team, &matrix->A, &rows);
    if (status >= 0) status = q_own_status(A->q); /* nothing runs any more */
    status = tct_agree(A->world, status);
    if (status >= 0) status = tct_scale(A, &rows);
    if (status >= 0) status = keep_diagonal(&rows, &diagonal);
    if (status >= 0) status = refill(A, &rows, &found);
    take_diagonal(A, &diagonal, status);
    tct_csr_clear(&rows);
    const tacit_status named = original_numbers(matrix, &found);
    if (found.row >= 0) status = named < 0 ? named : tct_pattern_changed(found);
    status = tct_agree(A->world, status);
    A->version++;
    if (status >= 0) {
        describe_blocks(A); /* a GPU's store may have changed */
    } else {
        A->exponent = exponent;
        A->norm = norm;
    }
    tct_low_share(A);
    return status;
}

/* --- the rest --------------------------------------------------------------- */

int64_t tacit_operator_local_rows(const tacit_operator *A)
{
    return A->n;
}

tacit_status tacit_operator_describe(const tacit_operator *A,
                                     tacit_operator_info *out)
{
    REQUIRE(A != NULL && out != NULL);
    TRY(tct_check_sized("tacit_operator_info", out));
    tct_write_sized(&A->info, sizeof A->info, out);
    return TACIT_OK;
}

const tacit_trial *tacit_operator_trial_at(const tacit_operator *A, int i)
{
    return i >= 0 && i < A->trial_count ? &A->trials[i] : NULL;
}

void tacit_operator_destroy(tacit_operator **A)
{
    if (!A || !*A) return;
    tacit_operator *a = *A;
    tct_low_destroy(&a->low);
    tct_free(a->reasons);
    tct_order_destroy(a->q, &a->order);
    if (a->local) a->local->ops->destroy(a->local);
    if (a->ghost_there && a->ghost_there != a->ghost)
        a->ghost_there->ops->destroy(a->ghost_there);
    if (a->ghost) a->ghost->ops->destroy(a->ghost);
    tct_plan_destroy(&a->plan);
    if (a->ops && a->ops->destroy) a->ops->destroy(a);
    tct_free(a->diagonal);
    tct_free(a->ghost_id);
    tct_free(a->starts);
    tct_free(a);
    *A = NULL;
}
