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

typedef struct {
    int64_t rows;
    int vectors, count; /* given, kept */
    const bool *kept;
    const double *X; /* [vectors][rows] */
    double *out;     /* [rows][count] */
} taking;

static void take_rows(void *work, int64_t from, int64_t to)
{
    const taking *t = work;
    for (int64_t i = from; i < to; i++) {
        double *out = t->out + i * t->count;
        for (int j = 0; j < t->vectors; j++)
            if (t->kept[j]) *out++ = t->X[j * t->rows + i];
    }
}

/* Interleave the vectors X [vectors][rows] of which kept[j]. */
static tacit_status take(const tacit_matrix *m, int vectors, const bool *kept,
                         const double *X, tct_near_null *B)
{
    taking t = {m->A.rows, vectors, 0, kept, X, NULL};
    for (int j = 0; j < vectors; j++) t.count += kept[j];
    TRY(TCT_ALLOC(t.rows * t.count, what, &B->value));
    t.out = B->value;
    tct_parallel(t.rows, TCT_SHORT, take_rows, &t);
    B->vectors = t.count;
    return TACIT_OK;
}

static tacit_status check_vectors(const tacit_matrix *m, int vectors,
                                  const double *X)
{
    double most[TACIT_PRECOND_VECTORS_MOST] = {0.0};
    for (int j = 0; j < vectors; j++)
        for (int64_t i = 0; i < m->A.rows; i++) {
            const double a = fabs(X[j * m->A.rows + i]);
            if (!(a <= most[j])) most[j] = isfinite(a) ? a : HUGE_VAL;
        }
    TRY(tct_reduce_f64(m->world, TCT_MAX, (size_t)vectors, most));
    for (int j = 0; j < vectors; j++)
        if (!isfinite(most[j]))
            FAIL(TACIT_INVALID,
                 "near-null vector %d of %d has an element that is not finite",
                 j + 1, vectors);
    return TACIT_OK;
}

/* The products of all pairs of vectors, [vectors * vectors]. */
static tacit_status gram(const tacit_matrix *m, int vectors, const double *X,
                         double *G)
{
    const int64_t rows = m->A.rows;
    const int k = vectors;
    for (int e = 0; e < k * k; e++) G[e] = 0.0;
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < k; i++)
            for (int j = i; j < k; j++)
                G[i * k + j] += X[i * rows + r] * X[j * rows + r];
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++) G[i * k + j] = G[j * k + i];
    return tct_reduce_f64(m->world, TCT_SUM, (size_t)(k * k), G);
}

/* Vectors that are 0 or combinations of earlier ones are dropped: the rotations
 * of points that coincide or lie on a line. One step of Cholesky a vector. */
static tacit_status find_dependent(const tacit_matrix *m, int vectors,
                                   const double *X, bool *kept)
{
    enum { MOST = TACIT_PRECOND_VECTORS_MOST };
    const double depends = 1e-12; /* of the square of a norm */
    double G[MOST * MOST], before[MOST];
    const int k = vectors;
    int count = 0;
    TRY(gram(m, k, X, G));
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

static tacit_status build(const tacit_matrix *m, const tct_near_null_options *o,
                          double **modes, tct_near_null *B)
{
    const double *X = o->near_null;
    int vectors = o->vectors;
    TRY(tct_agree(m->world, check_options(m, o)));
    if (vectors > 0) TRY(tct_agree(m->world, check_vectors(m, vectors, X)));
    if (vectors == 0 && o->node_rows != 1) {
        TRY(tacit_matrix_rigid_body_modes(m, NULL, &vectors, modes));
        X = *modes;
    }
    if (vectors == 0) return TACIT_OK;
    if (vectors == 1 && o->node_rows == 1) B->nodes = m->A.rows;
    else TRY(find_nodes(m, o->node_rows, B));
    bool kept[TACIT_PRECOND_VECTORS_MOST];
    TRY(find_dependent(m, vectors, X, kept));
    return tct_agree(m->world, take(m, vectors, kept, X, B));
}

tacit_status tct_near_null_open(const tacit_matrix *m,
                                const tct_near_null_options *options,
                                tct_near_null *out)
{
    tct_near_null B = {.vectors = 0};
    double *modes = NULL;
    const tacit_status status = build(m, options, &modes, &B);
    tacit_matrix_free_vectors(&modes);
    if (status < 0) tct_near_null_clear(&B);
    else *out = B;
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
    tct_ghosts_clear(&B->others);
    *B = (tct_near_null){.vectors = 0};
}
