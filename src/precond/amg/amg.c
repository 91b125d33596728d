/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/amg.c - the preconditioner amg: its table. */
#include "precond/amg/amg.h"
#include "operator/null/null_space.h"

static void amg_apply(const tacit_operator *M, tacit_queue *q, const double *x,
                      double *y, double *dot)
{
    const tct_amg *m = (const tct_amg *)(const void *)M;
    tct_amg_cycle(m, q, m->level, x, y, dot);
}

static void amg_destroy(tacit_operator *M)
{
    tct_amg_clear((tct_amg *)(void *)M);
}

/* Are given near-null vectors null vectors of a matrix known to be singular? */
static tacit_status offer_null(const tct_precond *M, const tct_amg_options *o,
                               const tacit_matrix *matrix)
{
    tacit_operator *A = (tacit_operator *)(uintptr_t)M->made_for;
    if (!A->null || !o->near_null) return TACIT_OK;
    return tct_null_add(A, matrix, o->vectors, o->near_null, false);
}

static tacit_status amg_setup(tct_precond *base, const tct_precond_source *from)
{
    tct_amg *M = (tct_amg *)(void *)base;
    const tct_amg_options *o = from->options;
    const tct_near_null_options smooth = {o->node_rows, o->vectors,
                                          o->near_null};
    TRY(offer_null(base, o, from->matrix));
    M->about.size = sizeof M->about;
    tct_amg_take(M, o);
    return tct_amg_build(M, from->matrix, &smooth, NULL);
}

static void describe(const tct_precond *M, tacit_precond_info *out)
{
    *out = ((const tct_amg *)(const void *)M)->about;
}

static const tacit_precond_level *level_at(const tct_precond *M, int i)
{
    const tct_amg *m = (const tct_amg *)(const void *)M;
    if (i < 0 || i >= m->about.levels) return NULL;
    const int before = m->levels - 1;
    return m->alone.M && i >= before ? &m->alone.M->level[i - before].about
                                     : &m->level[i].about;
}

const tct_precond_kind tct_precond_amg = {
    .about = {.name = "amg",
              .summary = "algebraic multigrid, of the entries of the matrix",
              .of_matrix = true},
    .op = {.name = "amg",
           .apply = amg_apply,
           .for_batch = tct_amg_for_batch,
           .columns = tct_amg_columns,
           .destroy = amg_destroy},
    .bytes = sizeof(tct_amg),
    .options = {tct_amg_table},
    .options_size = sizeof(tct_amg_options),
    .check = tct_amg_check,
    .load = tct_amg_load,
    .setup = amg_setup,
    .renew = tct_amg_renew,
    .describe = describe,
    .level = level_at,
    .expensive = true,
    .sweeps = 120.0,
    .products = 6.5,
    .entry_bytes = 16.0,
    .row_bytes = 60.0};
