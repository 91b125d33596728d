/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/trsv.c - triangular solves on a grid: the factor's values on a
 * rank, and its rows of right-hand sides. */
#include "trisolve/grid/trsv.h"

static const char *const what = "a triangular solve";

/* --- blocks --------------------------------------------------------------- */

static tacit_status make_holding(const tct_sweep *s, bool has_upper,
                                 tct_holding *H)
{
    TRY(TCT_ALLOC(s->col.count, what, &H->below_at));
    TRY(TCT_ALLOC(s->col.count, what, &H->diagonal));
    H->values = 0;
    for (int32_t j = 0; j < s->col.count; j++) {
        const int64_t w = s->col.width[j + 1] - s->col.width[j];
        H->below_at[j] = H->values;
        H->values += w * (s->rows[j + 1] - s->rows[j]);
        H->diagonal[j] = s->col.above[j] < 0 ? H->values : -1;
        if (s->col.above[j] < 0) H->values += w * w;
    }
    TRY(TCT_ALLOC(H->values, what, &H->value));
    return has_upper ? TCT_ALLOC(H->values, what, &H->upper) : TACIT_OK;
}

/* Receives the distributed values. */
typedef struct {
    tacit_trsv *T;
    const tacit_factor_panels *P;
    int32_t next[TCT_HEIGHTS]; /* next column of each sweep */
} receiver;

/* Copy this rank's part of column j of a panel. */
static void copy_column(const tct_sweep *s, const tct_holding *H, int32_t j,
                        int64_t h, const double *from, double *to)
{
    const int64_t w = s->col.width[j + 1] - s->col.width[j],
                  m = s->rows[j + 1] - s->rows[j];
    for (int64_t k = 0; k < w && H->diagonal[j] >= 0; k++)
        memcpy(to + H->diagonal[j] + k * w, from + k * h,
               (size_t)w * sizeof *to);
    for (int32_t n = s->col.block_start[j]; n < s->col.block_start[j + 1];
         n++) {
        const int32_t b = s->col.block[n];
        for (int64_t k = 0; k < w; k++)
            memcpy(to + H->below_at[j] + k * m + s->first[b],
                   from + k * h + s->source[b],
                   (size_t)s->height[b] * sizeof *to);
    }
}

static void take_panels(void *ctx, int32_t from, int32_t end,
                        const double *value, const double *upper)
{
    receiver *t = ctx;
    const tacit_factor_panels *P = t->P;
    for (int k = 0; k < t->T->plan.sweeps; k++) {
        const tct_sweep *s = &t->T->plan.sweep[k];
        const tct_holding *H = &t->T->holding[k];
        int32_t j = t->next[k];
        for (; j < s->col.count && s->col.panel[j] < end; j++) {
            const int32_t K = s->col.panel[j];
            const int64_t h = P->row_start[K + 1] - P->row_start[K],
                          at = P->value_start[K] - P->value_start[from];
            copy_column(s, H, j, h, value + at, H->value);
            if (upper) copy_column(s, H, j, h, upper + at, H->upper);
        }
        t->next[k] = j;
    }
}

static tacit_status make_holdings(tacit_trsv *T, bool has_upper)
{
    TRY(TCT_ALLOC(T->plan.sweeps, what, &T->holding));
    for (int k = 0; k < T->plan.sweeps; k++)
        T->holding[k] = (tct_holding){.values = 0};
    for (int k = 0; k < T->plan.sweeps; k++) {
        TRY(make_holding(&T->plan.sweep[k], has_upper, &T->holding[k]));
        T->bytes += 8.0 * (double)T->holding[k].values * (1 + has_upper);
    }
    return TACIT_OK;
}

/* --- rows ----------------------------------------------------------------- */

static tacit_status take_array(const tct_trsv_plan *p, const int64_t *index,
                               const double *from, double **out)
{
    if (!from) return TACIT_OK;
    TRY(TCT_ALLOC(p->own_width[p->owns], what, out));
    for (int64_t i = 0; i < p->own_width[p->owns]; i++)
        (*out)[i] = from[index[i]];
    return TACIT_OK;
}

static tacit_status make_rows(tacit_trsv *T, const tct_pattern *S, int64_t *now)
{
    const tct_trsv_plan *p = &T->plan;
    const tacit_factor_panels *P = &S->P;
    for (int32_t k = 0; k < p->owns; k++) {
        const int64_t first = P->first[p->own[k]];
        for (int64_t i = p->own_width[k]; i < p->own_width[k + 1]; i++) {
            now[i] = first + i - p->own_width[k];
            T->original[i] = P->original ? P->original[now[i]] : now[i];
            if (tct_is_first_grid(S, p->z, p->own[k]))
                T->row[T->rows++] = T->original[i];
        }
    }
    for (int64_t i = 0; P->row_order && i < p->own_width[p->owns]; i++)
        T->given[i] = P->row_order[T->original[i]];
    TRY(take_array(p, now, P->diagonal, &T->D));
    TRY(take_array(p, now, P->off_diagonal, &T->off_diagonal));
    TRY(take_array(p, T->given, P->row_scale, &T->row_scale));
    return take_array(p, T->original, P->col_scale, &T->col_scale);
}

static tacit_status allocate_rows(tacit_trsv *T, const tct_pattern *S)
{
    const int64_t n = T->plan.own_width[T->plan.owns];
    int64_t *now = NULL;
    TRY(TCT_ALLOC(n, what, &T->original));
    T->given = T->original;
    if (S->P.row_order) TRY(TCT_ALLOC(n, what, &T->given));
    TRY(TCT_ALLOC(n, what, &T->row));
    TRY(TCT_ALLOC(n * T->columns, what, &T->v));
    TRY(TCT_ALLOC(n, what, &now));
    const tacit_status status = make_rows(T, S, now);
    tct_free(now);
    T->bytes += 8.0 * (double)n * (2 + T->columns);
    return status;
}

/* --- messages ------------------------------------------------------------- */

/* Place the messages of a side from double `from` on; returns the end. */
static int64_t place(const tct_side *side, int columns, int64_t *at,
                     int64_t from)
{
    *at = from;
    return from + TCT_MESSAGE_HEAD * side->count +
           columns * side->width[side->count];
}

static int64_t place_messages(tacit_trsv *T)
{
    const tct_trsv_plan *p = &T->plan;
    int64_t at = 0;
    for (int k = 0; k < p->sweeps; k++)
        for (int up = 0; up < 2; up++) {
            tct_holding *H = &T->holding[k];
            const tct_sweep *s = &p->sweep[k];
            at = place(&s->col, T->columns, &H->col_at[up], at);
            at = place(&s->row, T->columns, &H->row_at[up], at);
        }
    for (int k = 0; k < p->steps; k++) {
        const tct_stage *step = &p->step[k];
        if (step->kind != TCT_ADD_UP && step->kind != TCT_PASS_ON) continue;
        const int tag = tct_tag_of(step->kind, step->height);
        T->between[tag] = at;
        at += TCT_MESSAGE_HEAD * p->out[tag] + T->columns * p->out_width[tag];
    }
    return at;
}

static tacit_status open_active(tacit_trsv *T)
{
    tct_active_needs needs = {.tags = TCT_TRSV_TAGS};
    for (int b = 0; b < TCT_TRSV_TAGS; b++) {
        needs.in[b] = T->plan.in[b];
        needs.out += T->plan.out[b];
    }
    needs.room = (size_t)place_messages(T) * sizeof(double);
    needs.longest = (size_t)tct_message_bytes(1, T->plan.longest, T->columns);
    T->bytes += (double)needs.room;
    const int ranks = T->world->size;
    int32_t *from = NULL;
    tacit_status status =
        TCT_ALLOC((int64_t)ranks * TCT_TRSV_TAGS, what, &from);
    if (status >= 0) tct_trsv_plan_senders(&T->plan, ranks, from);
    needs.from = from;
    status = tct_agree(T->world, status);
    if (status >= 0) status = tct_active_open(T->world, &needs, &T->active);
    tct_free(from);
    return status;
}

static tacit_status allocate_scratch(tacit_trsv *T)
{
    int64_t rows = 1, entries = 1;
    for (int k = 0; k < T->plan.sweeps; k++) {
        const tct_sweep *s = &T->plan.sweep[k];
        for (int32_t j = 0; j < s->col.count; j++)
            if (s->rows[j + 1] - s->rows[j] > rows)
                rows = s->rows[j + 1] - s->rows[j];
        if (s->col.count > entries) entries = s->col.count;
        if (s->row.count > entries) entries = s->row.count;
        T->bytes += 4.0 * (double)(s->rows[s->col.count] + 5 * s->blocks) +
                    40.0 * (double)(s->col.count + s->row.count);
    }
    TRY(TCT_ALLOC(rows * T->columns, what, &T->scratch));
    TRY(TCT_ALLOC(entries, what, &T->left));
    return TCT_ALLOC(entries, what, &T->ready);
}

/* --- to make one ---------------------------------------------------------- */

static int32_t depth_of(const tacit_factor_panels *P, int32_t *depth)
{
    int32_t most = 0;
    for (int32_t K = P->panels - 1; K >= 0; K--) {
        depth[K] = 1 + (P->parent[K] < 0 ? 0 : depth[P->parent[K]]);
        if (depth[K] > most) most = depth[K];
    }
    return most;
}

static tacit_status measure_depth(tacit_trsv *T, const tacit_factor_panels *P)
{
    int32_t *depth = NULL;
    TRY(TCT_ALLOC(P->panels, what, &depth));
    T->all_rows = P->rows;
    T->panels = P->panels;
    T->depth = depth_of(P, depth);
    tct_free(depth);
    return TACIT_OK;
}

/* The local part of the construction. */
static tacit_status plan_local(tacit_trsv *T, const tacit_factor_panels *P,
                               const tct_grid *grid, tct_pattern *S)
{
    const bool has_upper =
        P->kind == TACIT_FACTOR_LU || P->kind == TACIT_FACTOR_ILU0;
    const char *why;
    T->dense = tct_dense_get(1, &why);
    T->one = tct_one_column_best();
    TRY(tct_pattern_create(P, grid->pz, S));
    if (T->map == TACIT_TRSV_SUBTREE)
        TRY(tct_pattern_map(S, grid->px * grid->py));
    TRY(tct_predict_messages(S, grid, NULL, &T->message_count));
    TRY(tct_trsv_plan_create(S, grid, T->world->rank, &T->plan));
    TRY(make_holdings(T, has_upper));
    TRY(allocate_rows(T, S));
    TRY(allocate_scratch(T));
    return measure_depth(T, P);
}

static tacit_status build(tacit_trsv *T, const tct_factor_distribution *d,
                          const int extent[3])
{
    tct_grid grid;
    tct_pattern S = {.leaves = 0};
    TRY(tct_agree(T->world, tct_grid_for(&d->P, T->scheme, T->map, extent,
                                         T->world->size, &grid)));
    tacit_status status = tct_agree(T->world, plan_local(T, &d->P, &grid, &S));
    receiver t = {.T = T, .P = &d->P};
    if (status >= 0)
        status = tct_factor_distribution_values(d, take_panels, &t);
    tct_pattern_clear(&S);
    TRY(status);
    return open_active(T);
}

static tacit_status check_options(const tacit_world *world,
                                  const tacit_trsv_options *o)
{
    if (o->queue && o->queue->world != world)
        FAIL(TACIT_INVALID,
             "a triangular solve: its queue is of another world");
    if (o->queue && o->queue->device->kind != TCT_KIND_GPU)
        FAIL(TACIT_INVALID,
             "a triangular solve: its queue is on device %s: expected a GPU, "
             "or no queue for solves on the host",
             o->queue->device->name);
    const int known = (int)o->scheme;
    if (known < TACIT_TRSV_3D || known > TACIT_TRSV_P2P)
        FAIL(TACIT_INVALID, "scheme of a triangular solve: %d is none", known);
    if (o->map != TACIT_TRSV_CYCLIC && o->map != TACIT_TRSV_SUBTREE)
        FAIL(TACIT_INVALID, "map of a triangular solve: %d is none",
             (int)o->map);
    if (o->queue && o->map != TACIT_TRSV_CYCLIC)
        FAIL(TACIT_UNSUPPORTED,
             "on GPUs triangular solves have map cyclic alone: take that, or "
             "solve on device host");
    if (o->columns < 0)
        FAIL(TACIT_INVALID,
             "right-hand sides at once: expected 1 or more, got %d",
             o->columns);
    if (o->grid[0] < 0 || o->grid[1] < 0 || o->grid[2] < 0)
        FAIL(TACIT_INVALID, "grid %dx%dx%d: expected no number below 0",
             o->grid[0], o->grid[1], o->grid[2]);
    return TACIT_OK;
}

static tacit_status start(tacit_world *world, const tacit_trsv_options *given,
                          tacit_trsv_options *o, tacit_trsv **out)
{
    *o = (tacit_trsv_options){.size = sizeof *o};
    if (given) TRY(tct_read_sized("tacit_trsv_options", given, o, sizeof *o));
    TRY(check_options(world, o));
    tacit_trsv *T = tct_calloc(sizeof *T);
    if (!T) FAIL(TACIT_NO_MEMORY, "no memory for a triangular solve");
    T->world = world;
    T->scheme = o->scheme;
    T->map = o->map;
    T->columns = o->columns ? o->columns : 1;
    *out = T;
    return TACIT_OK;
}

tacit_status tacit_trsv_create(tacit_world *world,
                               const tacit_factor_panels *panels,
                               const tacit_trsv_options *options,
                               tacit_trsv **out)
{
    REQUIRE(world != NULL, out != NULL);
    tacit_trsv_options o;
    tacit_trsv *T = NULL;
    tct_factor_distribution d = {.world = NULL};
    tacit_status status = tct_agree(world, start(world, options, &o, &T));
    if (status >= 0) status = tct_factor_distribution_open(world, panels, &d);
    if (status >= 0)
        status = o.queue ? tct_trsv_gpu_open(T, o.queue, &d, o.grid)
                         : build(T, &d, o.grid);
    if (status >= 0 && o.queue)
        status = tct_agree(world, measure_depth(T, &d.P));
    tct_factor_distribution_close(&d);
    if (status < 0) tacit_trsv_destroy(&T);
    else *out = T;
    return status;
}

void tacit_trsv_destroy(tacit_trsv **trsv)
{
    tacit_trsv *T = trsv ? *trsv : NULL;
    if (!T) return;
    tct_trsv_gpu_close(T);
    tct_active_close(&T->active);
    for (int k = 0; k < T->plan.sweeps && T->holding; k++)
        TCT_FREE(T->holding[k].below_at, T->holding[k].diagonal,
                 T->holding[k].value, T->holding[k].upper);
    tct_trsv_plan_clear(&T->plan);
    if (T->given != T->original) tct_free(T->given);
    TCT_FREE(T->holding, T->v, T->D, T->off_diagonal, T->original, T->row_scale,
             T->col_scale, T->row, T->left, T->ready, T->scratch, T);
    *trsv = NULL;
}

tacit_status tacit_trsv_rows(const tacit_trsv *trsv, int64_t *count,
                             const int64_t **rows)
{
    REQUIRE(trsv != NULL, count != NULL, rows != NULL);
    *count = trsv->rows;
    *rows = trsv->row;
    return TACIT_OK;
}

static void describe(const tacit_trsv *T, tacit_trsv_info *info)
{
    static const int phase[] = {0, 1, 1, 2}; /* by kind of step */
    const tct_active *active = T->active;    /* NULL: on a GPU   */
    const tct_message_count *f = &T->message_count;
    *info = (tacit_trsv_info){
        .scheme = T->scheme,
        .map = T->map,
        .grid = {T->plan.grid.px, T->plan.grid.py, T->plan.grid.pz},
        .comm = active && T->world->size > 1 ? active->ops->name : "self",
        .panels = T->panels,
        .depth = T->depth,
        .bytes = T->bytes,
        .replication_bound =
            f->most_entries > 0.0 ? f->entries / f->most_entries : 1.0};
    for (int k = 0; k < TCT_TRSV_PHASES; k++) {
        info->messages[k] = f->messages_sent[k];
        info->message_bytes[k] =
            tct_message_bytes(f->messages_sent[k], f->width[k], 1);
        info->most_messages[k] = f->most[k];
        info->seconds[k] = T->seconds[k];
    }
    for (int b = 0; active && b < TCT_TRSV_TAGS; b++) {
        info->sent[phase[b / TCT_HEIGHTS]] += active->messages_sent[b];
        info->sent_bytes[phase[b / TCT_HEIGHTS]] += active->bytes[b];
    }
    if (T->gpu) tct_trsv_gpu_describe(T, info);
}

tacit_status tacit_trsv_describe(const tacit_trsv *trsv, tacit_trsv_info *out)
{
    REQUIRE(trsv != NULL, out != NULL);
    TRY(tct_check_sized("tacit_trsv_info", out));
    tacit_trsv_info info;
    describe(trsv, &info);
    tct_write_sized(&info, sizeof info, out);
    return TACIT_OK;
}

/* --- right-hand sides ----------------------------------------------------- */

/* This grid reads b of own panel k. */
static bool begins(const tct_trsv_plan *p, int32_t k)
{
    return p->z % (1 << p->own_height[k]) == 0;
}

static void load(tacit_trsv *T, int64_t c, const double *B, size_t ldb,
                 bool split)
{
    const tct_trsv_plan *p = &T->plan;
    for (int32_t k = 0; k < p->owns; k++) {
        const bool takes = split || begins(p, k);
        for (int64_t i = p->own_width[k]; i < p->own_width[k + 1]; i++) {
            const double scale = T->row_scale ? T->row_scale[i] : 1.0;
            const double *b = B + T->given[i];
            for (int64_t j = 0; j < c; j++)
                T->v[i * c + j] = takes ? b[j * (int64_t)ldb] * scale : 0.0;
        }
    }
}

static void store(const tacit_trsv *T, int64_t c, double *X, size_t ldx)
{
    const tct_trsv_plan *p = &T->plan;
    for (int32_t k = 0; k < p->owns; k++) {
        if (!begins(p, k)) continue;
        for (int64_t i = p->own_width[k]; i < p->own_width[k + 1]; i++) {
            const double scale = T->col_scale ? T->col_scale[i] : 1.0;
            double *x = X + T->original[i];
            for (int64_t j = 0; j < c; j++)
                x[j * (int64_t)ldx] = T->v[i * c + j] * scale;
        }
    }
}

tacit_status tct_trsv_solve(tacit_trsv *T, int columns, const double *B,
                            size_t ldb, double *X, size_t ldx, bool split)
{
    for (int k = 0; k < TCT_TRSV_PHASES; k++) T->seconds[k] = 0.0;
    for (int j = 0; j < columns; j += T->columns) {
        const int left = columns - j;
        const int64_t c = left < T->columns ? left : T->columns;
        load(T, c, B + (size_t)j * ldb, ldb, split);
        TRY(tct_trsv_round(T, c));
        store(T, c, X + (size_t)j * ldx, ldx);
    }
    return TACIT_OK;
}

tacit_status tacit_trsv_solve(tacit_trsv *trsv, int columns, const double *B,
                              size_t ldb, double *X, size_t ldx)
{
    REQUIRE(trsv != NULL, columns > 0, B != NULL, X != NULL);
    const size_t rows = (size_t)trsv->all_rows;
    REQUIRE(ldb >= rows, ldx >= rows);
    TRY(tct_complete(trsv->world));
    if (trsv->gpu) return tct_trsv_gpu_solve(trsv, columns, B, ldb, X, ldx);
    return tct_trsv_solve(trsv, columns, B, ldb, X, ldx, false);
}

tacit_status tacit_trsv_wait(tacit_trsv *trsv)
{
    REQUIRE(trsv != NULL);
    return trsv->gpu ? tct_trsv_gpu_wait(trsv) : TACIT_OK;
}
