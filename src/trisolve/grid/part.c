/* SPDX-License-Identifier: BSD-3-Clause
 * trisolve/grid/part.c - leaf z of a factor's tree and the nodes above it. */
#include "trisolve/grid/part.h"

static const char *const what = "a part of a factor";

typedef struct {
    const tct_pattern *S;
    int z;
    tct_factor_part *out;
    int owned;
    int32_t *panel; /* [panels] number in the part; -1: not in it */
    int32_t *row;   /* [rows] the same */
    /* The part's arrays, as in tacit_factor_panels */
    int64_t *first, *row_start, *value_start;
    int32_t *parent, *node, *rows;
    double *value, *upper, *diagonal, *off_diagonal;
} maker;

void tct_factor_part_clear(tct_factor_part *s)
{
    tct_free_each(sizeof s->own / sizeof *s->own, s->own);
    TCT_FREE(s->place, s->global);
    *s = (tct_factor_part){.place = NULL};
}

/* Allocate an array that the part owns. */
static tacit_status take(maker *m, int64_t count, size_t size, void *out)
{
    void *p = NULL;
    TRY(tct_alloc_array((size_t)count, size, what, &p));
    m->out->own[m->owned++] = p;
    *(void **)out = p;
    return TACIT_OK;
}
#define TAKE(m, count, out) take((m), (count), sizeof **(out), (out))

/* --- panels and rows of the part ------------------------------------------ */

static int height_of(const maker *m, int32_t K)
{
    return tct_height_of(m->S, m->S->node[K]);
}

static void number(maker *m)
{
    const tacit_factor_panels *P = &m->S->P;
    tacit_factor_panels *to = &m->out->P;
    for (int32_t K = 0; K < P->panels; K++) {
        const bool has =
            m->S->node[K] == tct_node_at(m->S, m->z, height_of(m, K));
        m->panel[K] = has ? to->panels++ : -1;
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++)
            m->row[j] = has ? (int32_t)to->rows++ : -1;
    }
}

/* Copy each panel in the numbers of the part. */
static void copy_pattern(const maker *m)
{
    const tacit_factor_panels *P = &m->S->P;
    int64_t rows = 0;
    m->first[0] = m->row_start[0] = m->value_start[0] = 0;
    for (int32_t K = 0; K < P->panels; K++) {
        const int32_t k = m->panel[K];
        const int64_t w = P->first[K + 1] - P->first[K],
                      h = P->row_start[K + 1] - P->row_start[K];
        if (k < 0) continue;
        m->first[k + 1] = m->first[k] + w;
        m->value_start[k + 1] = m->value_start[k] + w * h;
        m->node[k] = 0;
        m->parent[k] = P->parent[K] < 0 ? -1 : m->panel[P->parent[K]];
        for (int64_t i = P->row_start[K]; i < P->row_start[K + 1]; i++)
            m->rows[rows++] = m->row[P->row[i]];
        m->row_start[k + 1] = rows;
    }
}

static int64_t rows_of_all(const maker *m)
{
    const tacit_factor_panels *P = &m->S->P;
    int64_t rows = 0;
    for (int32_t K = 0; K < P->panels; K++)
        if (m->panel[K] >= 0) rows += P->row_start[K + 1] - P->row_start[K];
    return rows;
}

static tacit_status make_pattern(maker *m)
{
    const tacit_factor_panels *P = &m->S->P;
    tacit_factor_panels *to = &m->out->P;
    *to = (tacit_factor_panels){.size = sizeof *to,
                                .kind = P->kind,
                                .leaves = 1,
                                .row_scale = P->row_scale,
                                .col_scale = P->col_scale,
                                .row_order = P->row_order};
    number(m);
    TRY(TAKE(m, to->panels + 1, &m->first));
    TRY(TAKE(m, to->panels + 1, &m->row_start));
    TRY(TAKE(m, to->panels + 1, &m->value_start));
    TRY(TAKE(m, to->panels, &m->parent));
    TRY(TAKE(m, to->panels, &m->node));
    TRY(TAKE(m, rows_of_all(m), &m->rows));
    copy_pattern(m);
    to->first = m->first;
    to->row_start = m->row_start;
    to->value_start = m->value_start;
    to->parent = m->parent;
    to->node = m->node;
    to->row = m->rows;
    return TACIT_OK;
}

/* --- b, x and D ----------------------------------------------------------- */

static tacit_status make_rows(maker *m)
{
    const tacit_factor_panels *P = &m->S->P;
    tct_factor_part *s = m->out;
    TRY(TCT_ALLOC(s->P.rows, what, &s->place));
    TRY(TCT_ALLOC(s->P.rows, what, &s->global));
    if (P->diagonal) TRY(TAKE(m, s->P.rows, &m->diagonal));
    if (P->off_diagonal) TRY(TAKE(m, s->P.rows, &m->off_diagonal));
    for (int32_t K = 0; K < P->panels; K++) {
        const bool begins =
            m->panel[K] >= 0 && tct_is_first_grid(m->S, m->z, K);
        for (int64_t j = P->first[K]; j < P->first[K + 1]; j++) {
            const int32_t i = m->row[j];
            if (i < 0) continue;
            s->global[i] = P->original ? P->original[j] : j;
            s->place[i] = begins ? (int32_t)s->global[i] : -1;
            if (P->diagonal) m->diagonal[i] = P->diagonal[j];
            if (P->off_diagonal) m->off_diagonal[i] = P->off_diagonal[j];
        }
    }
    s->P.diagonal = m->diagonal;
    s->P.off_diagonal = m->off_diagonal;
    return TACIT_OK;
}

/* --- shared rows ---------------------------------------------------------- */

/* Append the rows of the tree node at `height` to the `count` in `list`. */
static int32_t list_node(const maker *m, int height, int32_t count,
                         int32_t *list)
{
    const tct_pattern *S = m->S;
    const int32_t node = tct_node_at(S, m->z, height);
    for (int32_t k = S->member_start[node]; k < S->member_start[node + 1];
         k++) {
        const int32_t K = S->member[k];
        for (int64_t j = S->P.first[K]; j < S->P.first[K + 1]; j++)
            list[count++] = m->row[j];
    }
    return count;
}

static tacit_status make_shared(maker *m)
{
    const tct_pattern *S = m->S;
    tct_shared_rows *to = &m->out->rows;
    int32_t *list = NULL, count = 0;
    *to = (tct_shared_rows){.all_rows = S->P.rows, .steps = S->heights - 1};
    TRY(TAKE(m, m->out->P.rows, &list));
    for (int h = S->heights - 1; h > 0; h--)
        to->count[h - 1] = count = list_node(m, h, count, list);
    to->row = list;
    return TACIT_OK;
}

/* --- values --------------------------------------------------------------- */

static void take_panels(void *ctx, int32_t from, int32_t end,
                        const double *value, const double *upper)
{
    const maker *m = ctx;
    const tacit_factor_panels *P = &m->S->P;
    for (int32_t K = from; K < end; K++) {
        const int32_t k = m->panel[K];
        const int64_t at = P->value_start[K] - P->value_start[from];
        if (k < 0) continue;
        const int64_t to = m->value_start[k];
        const size_t bytes =
            (size_t)(m->value_start[k + 1] - to) * sizeof *value;
        memcpy(m->value + to, value + at, bytes);
        if (upper) memcpy(m->upper + to, upper + at, bytes);
    }
}

static tacit_status make_local(maker *m)
{
    const tacit_factor_panels *P = &m->S->P;
    const bool has_upper =
        P->kind == TACIT_FACTOR_LU || P->kind == TACIT_FACTOR_ILU0;
    TRY(TCT_ALLOC(P->panels, what, &m->panel));
    TRY(TCT_ALLOC(P->rows, what, &m->row));
    TRY(make_pattern(m));
    TRY(make_rows(m));
    TRY(make_shared(m));
    const int64_t values = m->value_start[m->out->P.panels];
    TRY(TAKE(m, values, &m->value));
    if (has_upper) TRY(TAKE(m, values, &m->upper));
    m->out->P.value = m->value;
    m->out->P.upper = m->upper;
    return TACIT_OK;
}

tacit_status tct_factor_part_create(const tct_factor_distribution *d,
                                    const tct_pattern *S, int z,
                                    tct_factor_part *out)
{
    *out = (tct_factor_part){.place = NULL};
    maker m = {.S = S, .z = z, .out = out};
    tacit_status status = tct_agree(d->world, make_local(&m));
    if (status >= 0)
        status = tct_factor_distribution_values(d, take_panels, &m);
    TCT_FREE(m.panel, m.row);
    if (status < 0) tct_factor_part_clear(out);
    return status;
}
