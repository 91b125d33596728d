/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/cycle/replicated_coarse.c - coarse levels replicated on every
 * rank.
 *
 * On a device that runs the coarse levels as one kernel (fused_coarse.h), a
 * visit takes as long as a few messages. So each rank gathers the matrix of the
 * first of these levels, builds a single-rank hierarchy for it with a queue of
 * its own, and visits it independently: one exchange gathers the right-hand
 * side (as in coarsest_solve.c), and nothing is sent back. In a W-cycle the
 * visit is a polynomial of the cycle (wcycle.c), as on other levels. */
#include "device/parallel.h"
#include "precond/amg/cycle/fused_coarse.h"
#include <stdio.h>
#include <string.h>

static const char *const what = "the last levels";

/* --- the matrix ----------------------------------------------------------- */

/* A gathered matrix and its smooth vector. */
typedef struct {
    tct_csr A;
    double *smooth; /* NULL: ones */
} gathered;

static tacit_status allocate(const tacit_matrix *m, bool smooth, gathered *W)
{
    const int64_t n = m->A.global_rows;
    TRY(tct_csr_rows(&W->A, n, n, 0, n));
    TRY(tct_csr_entries(&W->A, m->nonzeros));
    return smooth ? TCT_ALLOC(n, what, &W->smooth) : TACIT_OK;
}

/* All-gather in place: rank r contributes elements of `size` bytes from
 * first[r] on. Collective. */
static tacit_status all_gather(tacit_world *w, const int64_t *first,
                               size_t size, void *all)
{
    for (int r = 0; r < w->size; r++)
        TRY(tct_bcast(w, r, (size_t)(first[r + 1] - first[r]) * size,
                      (char *)all + (size_t)first[r] * size));
    return TACIT_OK;
}

/* Offsets of each rank's entries, [size + 1]. */
static tacit_status count_entries(const tacit_matrix *m, int64_t **out)
{
    tacit_world *w = m->world;
    const int64_t mine = tct_csr_nonzeros(&m->A);
    TRY(tct_agree(w, TCT_ALLOC(w->size + 1, what, out)));
    int64_t *first = *out;
    first[0] = 0;
    TRY(tct_allgather(w, sizeof mine, &mine, first + 1));
    for (int r = 0; r < w->size; r++) first[r + 1] += first[r];
    return TACIT_OK;
}

typedef struct {
    const tct_csr *from;
    tct_csr *to;
    int64_t at; /* first entry of this rank */
} copying;

static void copy_entries(void *work, int64_t from, int64_t to)
{
    const copying *c = work;
    for (int64_t k = from; k < to; k++) {
        tct_csr_set_col(c->to, c->at + k, tct_csr_col(c->from, k));
        c->to->val[c->at + k] = c->from->val[k];
    }
}

static void put_own(const tct_csr *A, int64_t at, tct_csr *all)
{
    for (int64_t i = 0; i < A->rows; i++)
        all->ptr[A->first + i + 1] = at + A->ptr[i + 1];
    tct_parallel(tct_csr_nonzeros(A), TCT_SHORT, copy_entries,
                 &(copying){A, all, at});
}

static tacit_status gather(const tacit_matrix *m, const double *smooth,
                           gathered *W)
{
    tacit_world *w = m->world;
    tct_csr *all = &W->A;
    const size_t rows = (size_t)m->A.rows;
    int64_t *first = NULL;
    tacit_status status = count_entries(m, &first);
    if (status >= 0) {
        put_own(&m->A, first[w->rank], all);
        if (W->smooth && rows > 0)
            memcpy(W->smooth + m->A.first, smooth, rows * sizeof *smooth);
        status = all_gather(w, m->starts, sizeof *all->ptr, all->ptr + 1);
    }
    if (status >= 0)
        status = all->col64
                     ? all_gather(w, first, sizeof *all->col64, all->col64)
                     : all_gather(w, first, sizeof *all->col32, all->col32);
    if (status >= 0) status = all_gather(w, first, sizeof *all->val, all->val);
    if (status >= 0 && W->smooth)
        status = all_gather(w, m->starts, sizeof *smooth, W->smooth);
    tct_free(first);
    return status;
}

/* --- the hierarchy -------------------------------------------------------- */

/* Open a single-rank queue on the device of `q`. */
static tacit_status open_queue(const tacit_queue *q, tct_amg_replicated *out)
{
    char spec[64];
    if (q->device->ordinals)
        snprintf(spec, sizeof spec, "%s(%d)", q->device->name, q->ordinal);
    else snprintf(spec, sizeof spec, "%s", q->device->name);
    TRY(tacit_world_self(&out->world));
    return tacit_queue_create(out->world, spec, q->threads, &out->q);
}

/* Take the options of `M` that apply to coarse levels; steps read doubles. */
static tacit_status copy_options(const tct_amg *M, tct_amg_replicated *out)
{
    tct_amg *R = tct_amg_like(M);
    if (!R) FAIL(TACIT_NO_MEMORY, "no memory for %s", what);
    R->base = (tct_precond){.kind = NULL};
    tct_precond_begin(&R->base, M->base.kind, out->A);
    R->precision = TCT_DOUBLES;
    R->given = false;
    R->levels_most -= M->levels - 1;
    R->part_of = M;
    out->M = R;
    return TACIT_OK;
}

/* Build the hierarchy; consumes the matrix of `W`. */
static tacit_status build(const tct_amg *M, gathered *W,
                          tct_amg_replicated *out)
{
    tacit_matrix *m = NULL;
    TRY(open_queue(M->base.op.q, out));
    tacit_status status = tct_matrix_adopt(out->world, TACIT_OK, &W->A, &m);
    if (status >= 0) m->format = "galerkin";
    if (status >= 0)
        status = tct_amg_operator_of(out->q, m, false, false, &out->A);
    if (status >= 0) status = copy_options(M, out);
    if (status >= 0) {
        const tct_near_null_options smooth = {.node_rows = 1,
                                              .vectors = W->smooth ? 1 : 0,
                                              .near_null = W->smooth};
        status = tct_amg_build(out->M, m, &smooth, NULL);
        out->M->part_of = NULL; /* `M` may be replaced later */
    }
    tacit_matrix_destroy(&m);
    if (status >= 0 && (!out->M->fused || out->M->fused_from > 0))
        return tacit_error_set(TACIT_UNSUPPORTED, "they are not one kernel");
    return status;
}

tacit_status tct_amg_replicated_create(const tct_amg *M, const tacit_matrix *m,
                                       const double *smooth,
                                       tct_amg_replicated *out)
{
    tacit_world *w = m->world;
    gathered W = {.smooth = NULL};
    bool without = false, any = false;
    TRY(tct_any(w, smooth != NULL, &any));
    tacit_status status = tct_agree(w, allocate(m, any, &W));
    if (status >= 0) status = gather(m, smooth, &W);
    if (status >= 0) {
        status = build(M, &W, out);
        without = status == TACIT_NO_MEMORY || status == TACIT_UNSUPPORTED;
        if (without)
            tct_log(TCT_DETAIL, "amg: the last levels are of all ranks: %s",
                    tacit_error_message());
        status = tct_agree(w, without ? TACIT_OK : status);
    }
    tct_csr_clear(&W.A);
    tct_free(W.smooth);
    if (status >= 0) status = tct_any(w, without, &without);
    if (status < 0 || without) tct_amg_replicated_free(out);
    return status;
}

void tct_amg_replicated_free(tct_amg_replicated *alone)
{
    tacit_operator *M = alone->M ? &alone->M->base.op : NULL;
    tacit_operator_destroy(&M);
    tacit_operator_destroy(&alone->A);
    tacit_queue_destroy(&alone->q);
    tacit_world_destroy(&alone->world);
    *alone = (tct_amg_replicated){.M = NULL};
}
