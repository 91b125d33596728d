/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/precision.c - level values rounded to floats, if that preserves
 * the smooth vectors' energy.
 *
 * Symmetric entries are rounded alike, so matrices stay symmetric. The cycle is
 * positive definite for any symmetric level matrices for which the smoother
 * converges for large eigenvalues: for small or negative ones each factor of 2
 * S - S A S is positive. Rounding can only cost iterations, if the energy w'A w
 * of the smooth vector is of the size of the rounding errors. */
#include "comm/setup/directory.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "precond/amg/amg.h"
#include "sparse/ghosts.h"
#include <math.h>
#include <string.h>

/* Share of w'A w that rounding may change; measured to keep the iterations. */
static const double HARMLESS = 1e-2, ROUNDED = 0x1p-24;

bool tct_amg_floats_are_harmless(double energy, double size)
{
    return ROUNDED * size <= HARMLESS * energy;
}

static void round_values(void *work, int64_t from, int64_t to)
{
    double *val = work;
    for (int64_t k = from; k < to; k++) val[k] = tct_rounded(val[k]);
}

void tct_amg_round(tacit_matrix *m)
{
    tct_parallel(tct_csr_nonzeros(&m->A), TCT_SHORT, round_values, m->A.val);
}

/* Sums are taken in PARTS parts of the rows and added in order: independent of
 * the number of threads. */
enum { MOST = 2 * TACIT_PRECOND_VECTORS_MOST, PARTS = 64 };

/* Smooth vectors with ghosts, and their sums: of this rank, then of all. */
typedef struct {
    const tacit_matrix *m;
    const double *w; /* [rows][vectors], NULL: ones */
    int vectors;
    tct_ghosts ghosts;
    double *ghost_w;          /* [ghosts][vectors]               */
    double sum[MOST];         /* energies, then sizes            */
    double part[PARTS][MOST]; /* of each part of the rows       */
    int parts;
} smoothness;

static tacit_status ask_ghosts(smoothness *s)
{
    const tacit_matrix *m = s->m;
    const tct_csr *A = &m->A;
    if (!s->w || m->world->size == 1) return TACIT_OK;
    tacit_status status =
        tct_ghosts_find(A, 1, A->first, A->first + A->rows, &s->ghosts);
    if (status >= 0)
        status = TCT_ALLOC(s->ghosts.count * s->vectors, "smooth vectors",
                           &s->ghost_w);
    TRY(tct_agree(m->world, status));
    return tct_directory_get_rows(m->world, m->starts, s->vectors, s->w,
                                  s->ghosts.count, s->ghosts.id, s->ghost_w);
}

static inline const double *vectors_at(const smoothness *s, int64_t col)
{
    const int64_t j = col - s->m->A.first;
    if (j >= 0 && j < s->m->A.rows) return s->w + j * s->vectors;
    return s->ghost_w + tct_ghost_place(&s->ghosts, col) * s->vectors;
}

/* Sums of rows [from, to) for the vector of ones, in lanes of their own. */
static void add_entries(const tct_csr *A, int64_t from, int64_t to, double *sum)
{
    enum { LANES = 8 };
    const double *val = A->val;
    const int64_t end = A->ptr[to];
    double energy[LANES] = {0.0}, size[LANES] = {0.0};
    int64_t k = A->ptr[from];
    for (; k + LANES <= end; k += LANES)
        for (int l = 0; l < LANES; l++) {
            energy[l] += val[k + l];
            size[l] += fabs(val[k + l]);
        }
    for (; k < end; k++) {
        energy[0] += val[k];
        size[0] += fabs(val[k]);
    }
    for (int l = 0; l < LANES; l++) {
        sum[0] += energy[l];
        sum[1] += size[l];
    }
}

/* Add row `i` for `count` vectors: constant where it is inlined. */
static inline void add_row(const smoothness *s, int64_t i, int count,
                           double *sum)
{
    const tct_csr *A = &s->m->A;
    const double *own = s->w + i * count;
    double energy[MOST / 2], size[MOST / 2];
    for (int v = 0; v < count; v++) energy[v] = size[v] = 0.0;
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; k++) {
        const double *other = vectors_at(s, tct_csr_col(A, k));
        const double a = A->val[k];
        for (int v = 0; v < count; v++) {
            const double part = a * other[v];
            energy[v] += part;
            size[v] += fabs(part);
        }
    }
    for (int v = 0; v < count; v++) {
        sum[v] += own[v] * energy[v];
        sum[count + v] += fabs(own[v]) * size[v];
    }
}

static void add_part(void *work, int64_t part)
{
    smoothness *s = work;
    const int64_t rows = s->m->A.rows;
    const int64_t from = tct_part_first(rows, (int)part, s->parts);
    const int64_t to = tct_part_first(rows, (int)part + 1, s->parts);
    double sum[MOST] = {0.0};
    if (!s->w) add_entries(&s->m->A, from, to, sum);
    for (int64_t i = from; s->w && i < to; i++) {
        if (s->vectors == 6) add_row(s, i, 6, sum);
        else if (s->vectors == 1) add_row(s, i, 1, sum);
        else add_row(s, i, s->vectors, sum);
    }
    memcpy(s->part[part], sum, sizeof sum);
}

static void add_up(smoothness *s)
{
    s->parts = s->m->A.rows > TCT_SHORT ? PARTS : 1;
    tct_parallel_each(s->parts, add_part, s);
    for (int p = 0; p < s->parts; p++)
        for (int v = 0; v < 2 * s->vectors; v++) s->sum[v] += s->part[p][v];
}

tacit_status tct_amg_floats_will_do(const tacit_matrix *m, const double *w,
                                    int vectors, bool *out)
{
    smoothness s = {.m = m, .w = w, .vectors = vectors};
    tacit_status status = ask_ghosts(&s);
    if (status >= 0) {
        add_up(&s);
        status =
            tct_reduce_f64(m->world, TCT_SUM, (size_t)(2 * vectors), s.sum);
    }
    tct_ghosts_clear(&s.ghosts);
    tct_free(s.ghost_w);
    TRY(status);
    *out = true;
    for (int v = 0; v < vectors; v++)
        *out =
            *out && tct_amg_floats_are_harmless(s.sum[v], s.sum[vectors + v]);
    return TACIT_OK;
}
