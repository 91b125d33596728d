/* SPDX-License-Identifier: BSD-3-Clause
 * operator/from_stencil.c - the operator of a grid's stencil without a matrix:
 * a rank has the slab that it would have of the gallery's matrix. Only entries
 * in columns of other ranks are stored. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "operator/assembled.h"
#include "operator/stencil/stencil.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the description ------------------------------------------------------ */

/* Errors      UNSUPPORTED, INVALID. */
static tacit_status check(const tct_grid_stencil *s)
{
    if (s->periodic[0] || s->periodic[1] || s->periodic[2])
        FAIL(TACIT_UNSUPPORTED,
             "an operator of a stencil with periodic sides: its rows may add "
             "up to 0, and it is singular then: leave `periodic` 0");
    if (s->boundary != 0.0)
        FAIL(TACIT_INVALID,
             "an operator of a stencil with boundary %g: it is linear only "
             "with 0: move the boundary's part to the right-hand side",
             s->boundary);
    if (s->weights != TACIT_WEIGHTS_CONSTANT)
        FAIL(TACIT_UNSUPPORTED,
             "an operator of a stencil with weights %s: it needs "
             "TACIT_WEIGHTS_CONSTANT, such as centre 6 and neighbours -1",
             s->weights == TACIT_WEIGHTS_MEAN ? "MEAN" : "CELLS");
    if (s->single)
        FAIL(TACIT_UNSUPPORTED, "an operator of a stencil of type float: "
                                "operators work with doubles: leave `type` "
                                "NULL");
    if (s->centre != 0.0 || s->neighbours != 0.0) return TACIT_OK;
    FAIL(TACIT_INVALID, "an operator of a stencil whose coefficients are 0: "
                        "set `centre` and `neighbours`");
}

/* A grid of two dimensions has its y in direction 2. */
static void read_grid(const tct_grid_stencil *given, tct_constant_stencil *s)
{
    const bool flat = given->about->dimensions == 2;
    *s = (tct_constant_stencil){
        .n = {given->n[0], flat ? given->n[2] : given->n[1],
              flat ? 1 : given->n[2]},
        .box = given->shape == TCT_BOX2 || given->shape == TCT_BOX3};
    for (int p = 0; p < TCT_AROUND; p++)
        s->k[p] = p == TCT_CELL ? given->centre : given->neighbours;
}

static tacit_status read_stencil(const tacit_stencil *stencil,
                                 tct_constant_stencil *s)
{
    tct_grid_stencil given;
    TRY(tct_stencil_read(stencil, &given));
    TRY(check(&given));
    read_grid(&given, s);
    return TACIT_OK;
}

static int64_t cells_of(const tct_constant_stencil *s)
{
    return s->n[0] * s->n[1] * s->n[2];
}

/* --- this rank's rows ----------------------------------------------------- */

static tacit_status store(tct_assembled *A, const tct_grid_rows *g)
{
    tacit_queue *q = A->base.q;
    tct_stored *S = &A->stored;
    tct_local local = {.rows = g->rows, .cols = g->rows, .grid = g};
    S->format = tct_format_find(q->device->name, "stencil");
    snprintf(S->name, sizeof S->name, "%s", S->format->about.name);
    TRY(S->format->create(&local, q->team, &S->block));
    A->base.local = S->block;
    if (q->device->kind == TCT_KIND_HOST) tct_threads_choose(q, S->block);
    return TACIT_OK;
}

/* --- columns of other ranks ----------------------------------------------- */

typedef struct {
    const tct_constant_stencil *s;
    const double *k; /* as stored */
    int64_t first, rows;
} slab;

/* Entries of local row `i` in columns of other ranks, ascending; returns their
 * number. `out` may have no arrays yet. */
static int64_t foreign_entries(const slab *b, int64_t i, tct_csr *out,
                               int64_t at)
{
    const int64_t *n = b->s->n, cell = b->first + i, line = cell / n[0];
    const int64_t x[3] = {cell % n[0], line % n[1], line / n[1]};
    int64_t count = 0;
    for (int p = 0; p < TCT_AROUND; p++) {
        const int64_t to[3] = {x[0] + p % 3 - 1, x[1] + p / 3 % 3 - 1,
                               x[2] + p / 9 - 1};
        const int64_t arms =
            (to[0] != x[0]) + (to[1] != x[1]) + (to[2] != x[2]);
        bool inside = b->s->box || arms < 2;
        for (int d = 0; d < 3; d++)
            inside = inside && to[d] >= 0 && to[d] < n[d];
        const int64_t j = (to[2] * n[1] + to[1]) * n[0] + to[0];
        if (!inside || (j >= b->first && j < b->first + b->rows)) continue;
        if (out->val) {
            tct_csr_set_col(out, at + count, j);
            out->val[at + count] = b->k[p];
        }
        count++;
    }
    return count;
}

/* Rows that are farther than `reach` from both ends have none. */
static void each_row(const slab *b, tct_csr *out)
{
    const int64_t *n = b->s->n, reach = n[0] * n[1] + n[0] + 1;
    for (int64_t i = 0; i < b->rows; i++) {
        const bool near = i < reach || i >= b->rows - reach;
        const int64_t count =
            near ? foreign_entries(b, i, out, out->ptr[i]) : 0;
        if (!out->val) out->ptr[i + 1] = out->ptr[i] + count;
    }
}

/* The rows without the entries in columns of this rank. */
static tacit_status foreign_rows(const slab *b, tct_csr *out)
{
    const int64_t cells = cells_of(b->s);
    TRY(tct_csr_rows(out, cells, cells, b->first, b->rows));
    each_row(b, out);
    TRY(tct_csr_entries(out, out->ptr[b->rows]));
    each_row(b, out);
    return TACIT_OK;
}

static tacit_status store_foreign(tct_assembled *A, const slab *b)
{
    tct_csr rows = {0};
    tct_parts parts = {.ghosts = 0};
    tacit_status status = foreign_rows(b, &rows);
    if (status >= 0) status = tct_split(A->base.q->team, &rows, &parts);
    if (status >= 0) status = tct_store_ghosts(A, &parts);
    tct_parts_clear(&parts);
    tct_csr_clear(&rows);
    return status;
}

/* --- both ----------------------------------------------------------------- */

static tacit_status store_rows(tct_assembled *A, const tct_constant_stencil *s)
{
    tct_grid_rows g;
    const int64_t first = A->starts[A->base.world->rank];
    const tct_grid_place at = {.n = {s->n[0], s->n[1], s->n[2]},
                               .first = first};
    if (!tct_grid_open(&at, A->base.n, &g))
        FAIL(TACIT_UNSUPPORTED,
             "a grid of %lld x %lld x %lld cells: %lld rows on one rank, or "
             "lines too long: at most about 2^31 are supported: use more "
             "ranks",
             (long long)s->n[0], (long long)s->n[1], (long long)s->n[2],
             (long long)A->base.n);
    g.box = s->box;
    for (int p = 0; p < TCT_AROUND; p++)
        g.k[p] = ldexp(s->k[p], -A->base.exponent);
    TRY(store(A, &g));
    if (A->base.world->size == 1) return TACIT_OK;
    return store_foreign(A, &(slab){s, g.k, first, A->base.n});
}

static tacit_status set_starts(tct_assembled *A, const tct_constant_stencil *s)
{
    const int size = A->base.world->size, rank = A->base.world->rank;
    TRY(TCT_ALLOC(size + 1, "an operator", &A->starts));
    const tct_slabs slabs = tct_slabs_of(s->n, cells_of(s), size);
    for (int r = 0; r <= size; r++) A->starts[r] = tct_slab_first(&slabs, r);
    A->base.n = A->starts[rank + 1] - A->starts[rank];
    return TACIT_OK;
}

static tacit_status set_sizes(tacit_operator *A, const tct_constant_stencil *s)
{
    const tct_stencil_facts f = tct_stencil_facts_of(s);
    TRY(tct_scale_exponent((const double[]){f.high, 1.0 / f.low},
                           &A->exponent));
    A->info.rows = cells_of(s);
    A->info.nonzeros = f.entries;
    A->info.row_min = f.row_min;
    A->info.row_max = f.row_max;
    A->norm = ldexp(f.norm, -A->exponent);
    return TACIT_OK;
}

static tacit_status build(tct_assembled *A, const tct_constant_stencil *s)
{
    TRY(set_sizes(&A->base, s));
    TRY(set_starts(A, s));
    return store_rows(A, s);
}

/* `s` is set if `status` is no failure. */
static tacit_status finish(tct_assembled *A, const tct_constant_stencil *s,
                           tacit_status status)
{
    tacit_world *w = A->base.world;
    char name[160];
    TRY(tct_agree(w, status));
    snprintf(name, sizeof name, "%s of %lldx%lldx%lld with %a, %a",
             s->box ? "box" : "star", (long long)s->n[0], (long long)s->n[1],
             (long long)s->n[2], s->k[TCT_CELL], s->k[TCT_CELL + 1]);
    TRY(tct_agree_name(w, "the stencil", name));
    if (w->size > 1) TRY(tct_assembled_plan(A, 2));
    tct_assembled_describe(A);
    return tct_assembled_describe_exchange(A);
}

/* Every rank calls it, with any `status`. */
static tacit_status create(tacit_queue *q, const tct_constant_stencil *s,
                           tacit_status status, tacit_operator **out)
{
    const double start = tct_seconds();
    tct_assembled *A = tct_calloc(sizeof *A);
    tacit_operator *base = A ? &A->base : NULL;
    if (!A && status >= 0)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for an operator");
    status = tct_agree(q->world, status);
    if (status >= 0) {
        base->ops = &tct_assembled_ops;
        base->q = q;
        base->world = q->world;
        base->bits = 64;
        status = finish(A, s, build(A, s));
    }
    if (status < 0) {
        tacit_operator_destroy(&base);
        return status;
    }
    base->info.setup_seconds = tct_seconds() - start;
    *out = base;
    return TACIT_OK;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Mixed precision is for where it is faster, and here it is not. */
static tacit_status check_format(const tacit_queue *q, const char *format)
{
    tct_format_wish wish;
    TRY(tct_format_parse(q->device->name, format, &wish));
    if (is_one_of(wish.format, "stencil", "auto") &&
        (!wish.store[0] || is_one_of(wish.store, "f64", "auto")) &&
        (!wish.low[0] || is_one_of(wish.low, "mixed", "mixed48")) &&
        is_one_of(wish.order, "none", "auto"))
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "format '%s': this matrix was opened without entries (no_entries): "
         "open it with them, or take format stencil, which needs none",
         format);
}

tacit_status tct_operator_of_grid(tacit_queue *q, const tct_constant_stencil *s,
                                  const char *format, tacit_operator **out)
{
    return create(q, s, check_format(q, format), out);
}

tacit_status tacit_operator_from_stencil(tacit_queue *queue,
                                         const tacit_stencil *stencil,
                                         tacit_operator **out)
{
    REQUIRE(queue != NULL, stencil != NULL, out != NULL);
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    tct_constant_stencil s = {.n = {0}};
    return create(queue, &s, read_stencil(stencil, &s), out);
}
