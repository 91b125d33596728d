/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/systems/near_null.c - smooth vectors, given or derived, and
 * nodes. */
#include "precond/amg/systems/near_null.h"
#include "device/parallel.h"
#include <math.h>
#include <string.h>

static const char *const what = "near-null vectors";

/* --- nodes ---------------------------------------------------------------- */

/* From `block`, the points of the matrix, or its pattern. */
static tacit_status find_nodes(const tacit_matrix *m, int block,
                               tct_near_null *B)
{
    enum { ROWS_ON_GRID = 3 };
    if (block == 0 && m->elastic && !m->points) block = ROWS_ON_GRID;
    if (block == 0 && !m->elastic) TRY(tct_matrix_original_block(m, &block));
    return tct_near_null_nodes(m, block, B);
}

/* --- vectors -------------------------------------------------------------- */

/* The elements of row `i` of all vectors; `place`: see rigid.h. */
static void row_of(const tct_near_null_source *S, int64_t i,
                   tct_rigid_place *place, double *out)
{
    if (!S->X) tct_rigid_row(&S->rigid, i, place, out);
    else
        for (int j = 0; j < S->vectors; j++) out[j] = S->X[j * S->rows + i];
}

void tct_near_null_rows(const tct_near_null *B, int64_t from, int64_t to,
                        double *out)
{
    const tct_near_null_source *S = &B->from;
    tct_rigid_place place = {.row = -1};
    double row[TACIT_PRECOND_VECTORS_MOST];
    for (int64_t i = from; i < to; i++) {
        row_of(S, i, &place, row);
        for (int j = 0; j < S->vectors; j++)
            if (S->kept[j]) *out++ = row[j];
    }
}

static void fill_rows(void *work, int64_t from, int64_t to)
{
    const tct_near_null *B = work;
    tct_near_null_rows(B, from, to, B->value + from * B->vectors);
}

tacit_status tct_near_null_fill(tct_near_null *B)
{
    if (B->from.vectors == 0 || B->value) return TACIT_OK;
    TRY(TCT_ALLOC(B->from.rows * B->vectors, what, &B->value));
    tct_parallel(B->from.rows, TCT_SHORT, fill_rows, B);
    return TACIT_OK;
}

/* --- which of them -------------------------------------------------------- */

enum { MOST = TACIT_PRECOND_VECTORS_MOST, PARTS = 64 };

/* Finds of a part of the rows, of each of which some thread has one;
 * the parts do not depend on how many there are. */
typedef struct {
    const tct_near_null_source *S;
    int parts;
    double (*found)[MOST * MOST]; /* [parts] */
} search;

/* Run `fn` on all parts; out->found is to be freed. Collective. */
static tacit_status look(tacit_world *world, const tct_near_null_source *S,
                         tct_item_fn fn, search *out)
{
    *out = (search){.S = S, .parts = S->rows > TCT_SHORT ? PARTS : 1};
    const size_t bytes = (size_t)out->parts * sizeof *out->found;
    const tacit_status status =
        tct_agree(world, TCT_ALLOC(out->parts, what, &out->found));
    if (status < 0) {
        tct_free(out->found);
        return status;
    }
    memset(out->found, 0, bytes);
    tct_parallel_each(out->parts, fn, out);
    return TACIT_OK;
}

/* Infinite: an element is not finite. */
static void find_most(void *work, int64_t part)
{
    const search *s = work;
    const int64_t rows = s->S->rows;
    double *most = s->found[part];
    for (int j = 0; j < s->S->vectors; j++)
        for (int64_t i = tct_part_first(rows, (int)part, s->parts);
             i < tct_part_first(rows, (int)part + 1, s->parts); i++) {
            const double a = fabs(s->S->X[j * rows + i]);
            if (!(a <= most[j])) most[j] = isfinite(a) ? a : HUGE_VAL;
        }
}

static tacit_status check_vectors(const tacit_matrix *m,
                                  const tct_near_null_source *S)
{
    double most[MOST] = {0.0};
    search s;
    TRY(look(m->world, S, find_most, &s));
    for (int p = 0; p < s.parts; p++)
        for (int j = 0; j < S->vectors; j++)
            most[j] = fmax(most[j], s.found[p][j]);
    tct_free(s.found);
    TRY(tct_reduce_f64(m->world, TCT_MAX, (size_t)S->vectors, most));
    for (int j = 0; j < S->vectors; j++)
        if (!isfinite(most[j]))
            FAIL(TACIT_INVALID,
                 "near-null vector %d of %d has an element that is not finite",
                 j + 1, S->vectors);
    return TACIT_OK;
}

/* The products of a row, which a constant `k` keeps in registers. */
static inline void add_row(int k, const double *row, double *G)
{
    for (int u = 0; u < k; u++)
        for (int v = u; v < k; v++) G[u * k + v] += row[u] * row[v];
}

static void add_products(void *work, int64_t part)
{
    const search *s = work;
    const int k = s->S->vectors;
    const int64_t end = tct_part_first(s->S->rows, (int)part + 1, s->parts);
    tct_rigid_place place = {.row = -1};
    double G[MOST * MOST] = {0.0}, row[MOST];
    for (int64_t i = tct_part_first(s->S->rows, (int)part, s->parts); i < end;
         i++) {
        row_of(s->S, i, &place, row);
        if (k == TCT_RIGID) add_row(TCT_RIGID, row, G);
        else add_row(k, row, G);
    }
    memcpy(s->found[part], G, sizeof G);
}

/* The products of all pairs of vectors, [vectors * vectors]. */
static tacit_status gram(const tacit_matrix *m, const tct_near_null_source *S,
                         double *G)
{
    const int k = S->vectors;
    search s;
    TRY(look(m->world, S, add_products, &s));
    for (int e = 0; e < k * k; e++) G[e] = 0.0;
    for (int p = 0; p < s.parts; p++)
        for (int e = 0; e < k * k; e++) G[e] += s.found[p][e];
    tct_free(s.found);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++) G[i * k + j] = G[j * k + i];
    return tct_reduce_f64(m->world, TCT_SUM, (size_t)(k * k), G);
}

/* Vectors that are 0 or combinations of earlier ones are dropped: the rotations
 * of points that coincide or lie on a line. One step of Cholesky a vector. */
static tacit_status find_dependent(const tacit_matrix *m, tct_near_null *B)
{
    const double depends = 1e-12; /* of the square of a norm */
    double G[MOST * MOST], before[MOST];
    const int k = B->from.vectors;
    bool *kept = B->from.kept;
    int count = 0;
    TRY(gram(m, &B->from, G));
    for (int j = 0; j < k; j++) before[j] = G[j * k + j];
    for (int i = 0; i < k; i++) {
        kept[i] = G[i * k + i] > depends * before[i];
        count += kept[i];
        if (!kept[i] && m->world->rank == 0)
            tct_log(TCT_WARN, "near-null vector %d of %d is dropped: it is %s",
                    i + 1, k,
                    before[i] > 0.0 ? "a combination of those before it"
                                    : "0 everywhere");
        for (int j = i + 1; kept[i] && j < k; j++)
            for (int c = i + 1; c < k; c++)
                G[j * k + c] -= G[i * k + j] * G[i * k + c] / G[i * k + i];
    }
    B->vectors = count;
    if (count > 0) return TACIT_OK;
    FAIL(TACIT_INVALID,
         "near-null vectors: all %d are 0 everywhere: give others, or none", k);
}

static tacit_status check_options(const tacit_matrix *m,
                                  const tct_near_null_options *o)
{
    if (o->vectors < 0 || o->vectors > TACIT_PRECOND_VECTORS_MOST)
        FAIL(TACIT_INVALID, "near-null vectors: expected 1 to %d, got %d",
             TACIT_PRECOND_VECTORS_MOST, o->vectors);
    if (o->node_rows < 0)
        FAIL(TACIT_INVALID, "rows of a node: expected 1 or more, got %d",
             o->node_rows);
    if (o->vectors > 0 && !o->near_null && m->A.rows > 0)
        FAIL(TACIT_INVALID, "near-null vectors: %d of them, but no address",
             o->vectors);
    if (o->node_rows > 0 && m->A.global_rows % o->node_rows != 0)
        FAIL(TACIT_INVALID,
             "%lld rows are not a multiple of %d, the rows of a node",
             (long long)m->A.global_rows, o->node_rows);
    return TACIT_OK;
}

/* The vectors of `o` or the rigid-body modes; none: 0 vectors. */
static tacit_status find_source(const tacit_matrix *m,
                                const tct_near_null_options *o,
                                tct_near_null_source *S)
{
    S->rows = m->A.rows;
    S->X = o->near_null;
    S->vectors = o->vectors;
    if (o->vectors > 0) return check_vectors(m, S);
    S->X = NULL;
    if (!m->elastic || o->node_rows == 1) return TACIT_OK;
    S->vectors = TCT_RIGID;
    return tct_rigid_open(m, &S->rigid);
}

static tacit_status build(const tacit_matrix *m, const tct_near_null_options *o,
                          tct_near_null *B)
{
    TRY(tct_agree(m->world, check_options(m, o)));
    TRY(find_source(m, o, &B->from));
    const int vectors = B->from.vectors;
    if (vectors == 0) return TACIT_OK;
    if (vectors == 1 && o->node_rows == 1) B->nodes = m->A.rows;
    else TRY(find_nodes(m, o->node_rows, B));
    return find_dependent(m, B);
}

tacit_status tct_near_null_find(const tacit_matrix *m,
                                const tct_near_null_options *options,
                                tct_near_null *out)
{
    TCT_THREADS_AT_MOST(tct_world_threads(m->world));
    tct_near_null B = {.vectors = 0};
    const tacit_status status = build(m, options, &B);
    if (status < 0) tct_near_null_clear(&B);
    else *out = B;
    return status;
}

tacit_status tct_near_null_open(const tacit_matrix *m,
                                const tct_near_null_options *options,
                                tct_near_null *out)
{
    TRY(tct_near_null_find(m, options, out));
    const tacit_status status = tct_agree(m->world, tct_near_null_fill(out));
    if (status < 0) tct_near_null_clear(out);
    return status;
}

tacit_status tct_near_null_of(tct_near_null *B, int vectors, int64_t rows,
                              double *value)
{
    int32_t *node = NULL;
    TRY(TCT_ALLOC(rows, what, &node));
    for (int64_t i = 0; i < rows; i++) node[i] = (int32_t)(i / vectors);
    tct_near_null_clear(B);
    *B = (tct_near_null){.vectors = vectors,
                         .value = value,
                         .nodes = rows / vectors,
                         .node = node};
    return TACIT_OK;
}

tacit_status tct_near_null_next(tct_near_null *B, tct_aggregates *G,
                                const int64_t *index)
{
    const int k = B->vectors;
    TRY(tct_near_null_of(B, k, G->coarse * k, G->smooth));
    G->smooth = NULL;
    if (!index) return TACIT_OK;
    TRY(TCT_ALLOC(B->nodes, what, &B->number));
    for (int64_t n = 0; n < B->nodes; n++) B->number[n] = index[n * k] / k;
    return TACIT_OK;
}

void tct_near_null_clear(tct_near_null *B)
{
    TCT_FREE(B->value, B->node, B->number);
    tct_rigid_close(&B->from.rigid);
    tct_ghosts_clear(&B->others);
    *B = (tct_near_null){.vectors = 0};
}
