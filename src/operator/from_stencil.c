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
static void size_of(const tct_grid_stencil *s, int64_t n[3])
{
    const bool turned = s->about->dimensions == 2;
    n[0] = s->n[0];
    n[1] = turned ? s->n[2] : s->n[1];
    n[2] = turned ? 1 : s->n[2];
}

static bool is_box(const tct_grid_stencil *s)
{
    return s->shape == TCT_BOX2 || s->shape == TCT_BOX3;
}

/* Entries of a row: of a corner of the grid (`most` 1) or in its middle (2). */
static int64_t row_entries(const tct_grid_stencil *s, int64_t most)
{
    int64_t star = 1, box = 1;
    for (int d = 0; d < 3; d++) {
        const int64_t beside = s->n[d] - 1 < most ? s->n[d] - 1 : most;
        star += beside;
        box *= 1 + beside;
    }
    return is_box(s) ? box : star;
}

/* Each neighbour is missing on the sides that it points through. */
static double entries_of(const tct_grid_stencil *s)
{
    double star = (double)s->cells, box = 1.0;
    for (int d = 0; d < 3; d++) {
        const double n = (double)s->n[d];
        star += 2.0 * (n - 1.0) * ((double)s->cells / n);
        box *= 3.0 * n - 2.0;
    }
    return is_box(s) ? box : star;
}

/* --- this rank's rows ----------------------------------------------------- */

static void set_coefficients(const tct_grid_stencil *s, int exponent,
                             tct_grid_rows *g)
{
    enum { CELL = 13 };
    g->box = is_box(s);
    for (int p = 0; p < TCT_GRID_POINTS; p++)
        g->k[p] = ldexp(p == CELL ? s->centre : s->neighbours, -exponent);
}

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
    const tct_grid_stencil *s;
    const tct_grid_rows *g; /* its coefficients */
    int64_t n[3], first, rows;
} slab;

/* Entries of local row `i` in columns of other ranks, ascending; returns their
 * number. `out` may have no arrays yet. */
static int64_t foreign_entries(const slab *b, int64_t i, tct_csr *out,
                               int64_t at)
{
    const int64_t *n = b->n, cell = b->first + i, line = cell / n[0];
    const int64_t x[3] = {cell % n[0], line % n[1], line / n[1]};
    int64_t count = 0;
    for (int p = 0; p < TCT_GRID_POINTS; p++) {
        const int64_t to[3] = {x[0] + p % 3 - 1, x[1] + p / 3 % 3 - 1,
                               x[2] + p / 9 - 1};
        const int64_t arms =
            (to[0] != x[0]) + (to[1] != x[1]) + (to[2] != x[2]);
        bool inside = b->g->box || arms < 2;
        for (int d = 0; d < 3; d++)
            inside = inside && to[d] >= 0 && to[d] < n[d];
        const int64_t j = (to[2] * n[1] + to[1]) * n[0] + to[0];
        if (!inside || (j >= b->first && j < b->first + b->rows)) continue;
        if (out->val) {
            tct_csr_set_col(out, at + count, j);
            out->val[at + count] = b->g->k[p];
        }
        count++;
    }
    return count;
}

/* Rows that are farther than `reach` from both ends have none. */
static void each_row(const slab *b, tct_csr *out)
{
    const int64_t reach = b->n[0] * b->n[1] + b->n[0] + 1;
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
    TRY(tct_csr_rows(out, b->s->cells, b->s->cells, b->first, b->rows));
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

static tacit_status store_rows(tct_assembled *A, const tct_grid_stencil *s)
{
    tct_grid_rows g;
    slab b = {.s = s, .g = &g};
    tct_grid_place at = {.first = A->starts[A->base.world->rank]};
    size_of(s, at.n);
    memcpy(b.n, at.n, sizeof b.n);
    b.first = at.first;
    b.rows = A->base.n;
    if (!tct_grid_open(&at, b.rows, &g))
        FAIL(TACIT_UNSUPPORTED,
             "grid of %s: %lld rows on one rank, or lines too long: at most "
             "about 2^31 are supported: use more ranks",
             s->about->name, (long long)b.rows);
    set_coefficients(s, A->base.exponent, &g);
    TRY(store(A, &g));
    return A->base.world->size > 1 ? store_foreign(A, &b) : TACIT_OK;
}

static tacit_status set_starts(tct_assembled *A, const tct_grid_stencil *s)
{
    int64_t n[3];
    const int size = A->base.world->size, rank = A->base.world->rank;
    TRY(TCT_ALLOC(size + 1, "an operator", &A->starts));
    size_of(s, n);
    const tct_slabs slabs = tct_slabs_of(n, s->cells, size);
    for (int r = 0; r <= size; r++) A->starts[r] = tct_slab_first(&slabs, r);
    A->base.n = A->starts[rank + 1] - A->starts[rank];
    return TACIT_OK;
}

static tacit_status set_sizes(tacit_operator *A, const tct_grid_stencil *s)
{
    const double c = fabs(s->centre), n = fabs(s->neighbours);
    const double low = c == 0.0 || (n != 0.0 && n < c) ? n : c;
    const double extent[2] = {c > n ? c : n, 1.0 / (low > 0.0 ? low : c + n)};
    TRY(tct_scale_exponent(extent, &A->exponent));
    A->info.rows = s->cells;
    A->info.nonzeros = (int64_t)entries_of(s);
    A->info.row_min = row_entries(s, 1);
    A->info.row_max = row_entries(s, 2);
    A->norm = ldexp(c + n * (double)(A->info.row_max - 1), -A->exponent);
    return TACIT_OK;
}

static tacit_status build(tct_assembled *A, const tacit_stencil *stencil,
                          tct_grid_stencil *s)
{
    TRY(tct_stencil_read(stencil, s));
    TRY(check(s));
    TRY(set_sizes(&A->base, s));
    TRY(set_starts(A, s));
    return store_rows(A, s);
}

/* `s` is set if `status` is no failure. */
static tacit_status finish(tct_assembled *A, const tct_grid_stencil *s,
                           tacit_status status)
{
    tacit_world *w = A->base.world;
    char name[160];
    TRY(tct_agree(w, status));
    snprintf(name, sizeof name, "%s:%lldx%lldx%lld with coefficients %a, %a",
             s->about->name, (long long)s->n[0], (long long)s->n[1],
             (long long)s->n[2], s->centre, s->neighbours);
    TRY(tct_agree_name(w, "the stencil", name));
    if (w->size > 1) TRY(tct_assembled_plan(A, 2));
    tct_assembled_describe(A);
    return tct_assembled_describe_exchange(A);
}

tacit_status tacit_operator_from_stencil(tacit_queue *queue,
                                         const tacit_stencil *stencil,
                                         tacit_operator **out)
{
    REQUIRE(queue != NULL && stencil != NULL && out != NULL);
    TCT_THREADS_OF(queue->team);
    q_enter(queue);
    const double start = tct_seconds();
    tct_grid_stencil s;
    tct_assembled *A = tct_calloc(sizeof *A);
    tacit_operator *base = A ? &A->base : NULL;
    tacit_status status = TACIT_OK;
    if (!A)
        status = tacit_error_set(TACIT_NO_MEMORY, "no memory for an operator");
    status = tct_agree(queue->world, status);
    if (status >= 0) {
        base->ops = &tct_assembled_ops;
        base->q = queue;
        base->world = queue->world;
        base->bits = 64;
        status = finish(A, &s, build(A, stencil, &s));
    }
    if (status < 0) {
        tacit_operator_destroy(&base);
        return status;
    }
    base->info.setup_seconds = tct_seconds() - start;
    *out = base;
    return TACIT_OK;
}
