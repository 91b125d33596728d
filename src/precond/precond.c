/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.c - the registry of preconditioners. */
#include "device/parallel.h"
#include "matrix/matrix.h"
#include "precond/by_factor.h"
#include <stdio.h>
#include <string.h>

/* Methods with a persistent kernel for a diagonal. */
#define DIAGONAL "cg, single, pipe-pr, sstep"

static const tct_precond preconds[] = {
    {.about = {.name = "none",
               .summary = "no preconditioner",
               .resident = DIAGONAL}},
    {.about = {.name = "jacobi",
               .summary = "the diagonal",
               .resident = DIAGONAL},
     .create = tct_jacobi_create},
    {.about = {.name = "ic0",
               .summary =
                   "incomplete Cholesky factor, of a rank's rows or, over a "
                   "grid, of all",
               .of_matrix = true,
               .resident = "cg",
               .one_gpu = true},
     .create = tct_ic0_create,
     .entry_bytes = 18.0,
     .row_bytes = 92.0},
    {.about = {.name = "amg",
               .summary = "algebraic multigrid, of the entries of the matrix",
               .of_matrix = true},
     .create = tct_amg_create,
     .sweeps = 120.0,
     .products = 6.5,
     .entry_bytes = 16.0,
     .row_bytes = 60.0},
    {.about = {.name = "direct",
               .summary = "a factor of the matrix, made by one process",
               .of_matrix = true,
               .when_named = true},
     .create = tct_direct_create},
};
enum { PRECONDS = sizeof preconds / sizeof *preconds };

const tct_precond *tct_precond_at(int i)
{
    return i >= 0 && i < PRECONDS ? &preconds[i] : NULL;
}

const tacit_precond *tacit_precond_at(int i)
{
    return tct_precond_at(i) ? &preconds[i].about : NULL;
}

static tacit_status find(const char *name, const tct_precond **out)
{
    const char *names[PRECONDS];
    for (int i = 0; i < PRECONDS; i++) {
        names[i] = preconds[i].about.name;
        if (strcmp(names[i], name) == 0) *out = &preconds[i];
    }
    if (!*out) return tct_unknown("preconditioner", name, names, PRECONDS);
    if ((*out)->about.reason)
        FAIL(TACIT_UNSUPPORTED, "preconditioner '%s' is not available: %s",
             name, (*out)->about.reason);
    return TACIT_OK;
}

void tct_precond_begin(tacit_operator *M, const tct_operator_ops *ops,
                       const tacit_operator *A)
{
    M->ops = ops;
    M->q = A->q;
    M->world = A->world;
    M->n = A->n;
    M->bits = 64;
    M->order = A->order;
    M->made_for = A;
    M->made_of = A->values;
    M->info.format = ops->name;
    M->info.order = "none";
}

/* The source of preconditioner `name`. */
static tacit_status prepare(const tacit_operator *A, const char *name,
                            const tacit_matrix *matrix,
                            const tacit_precond_options *options,
                            const tct_precond **found, tct_precond_source *from)
{
    *from = (tct_precond_source){.matrix = matrix};
    TRY(find(name, found));
    if (options)
        TRY(tct_read_sized("tacit_precond_options", options, &from->options,
                           sizeof from->options));
    if (!(*found)->about.of_matrix) return TACIT_OK;
    if (matrix) return tct_precond_fits(A, matrix);
    FAIL(TACIT_UNSUPPORTED,
         "preconditioner '%s' is made of the entries of the matrix, which an "
         "operator does not have: tacit_precond_create_of takes both",
         name);
}

/* Is there memory for `p`, for this rank's rows of `m`? Checked before
 * set-up. */
static tacit_status predict(const tct_precond *p, const tacit_matrix *m)
{
    char what[64];
    if (!m || !(p->entry_bytes > 0.0)) return TACIT_OK;
    const double bytes = p->entry_bytes * (double)tct_csr_nonzeros(&m->A) +
                         p->row_bytes * (double)m->A.rows;
    if (m->world->rank == 0)
        tct_log(TCT_NOTE,
                "preconditioner %s: about %.3g MiB to set it up, %.3g GiB are "
                "free",
                p->about.name, bytes / 0x1p20,
                (double)tct_memory_available() / 0x1p30);
    snprintf(what, sizeof what, "preconditioner %s", p->about.name);
    return tct_memory_require(bytes, what);
}

tacit_status tacit_precond_create_of(const tacit_operator *A,
                                     const tacit_matrix *matrix,
                                     const char *name,
                                     const tacit_precond_options *options,
                                     tacit_operator **out)
{
    REQUIRE(A != NULL && name != NULL && out != NULL);
    TCT_THREADS_OF(A->q->team);
    q_enter(A->q);
    const double start = tct_seconds();
    const tct_precond *found = NULL;
    tct_precond_source from;
    tacit_operator *M = NULL;
    tacit_status status = prepare(A, name, matrix, options, &found, &from);
    if (status >= 0) status = predict(found, matrix);
    TRY(tct_agree(A->world, status));
    if (found->create)
        status = tct_agree(A->world, found->create(A, &from, &M));
    if (status < 0) {
        tacit_operator_destroy(&M);
        return status;
    }
    if (M) M->info.setup_seconds = tct_seconds() - start;
    *out = M;
    return status;
}

tacit_status tacit_precond_create(const tacit_operator *A, const char *name,
                                  tacit_operator **out)
{
    return tacit_precond_create_of(A, NULL, name, NULL, out);
}

/* Recordings, which know the old values, become invalid. */
static void set_renewed(tacit_operator *M, double seconds)
{
    tacit_operator *A = (tacit_operator *)(uintptr_t)M->made_for;
    A->version++;
    M->made_of = A->values;
    M->info.setup_seconds = seconds;
}

static tacit_status check_source(const tacit_operator *M,
                                 const tacit_matrix *matrix)
{
    const tct_precond *row = NULL;
    TRY(find(M->ops->name, &row));
    if (!matrix && !row->about.of_matrix) return TACIT_OK;
    if (!matrix)
        FAIL(
            TACIT_INVALID,
            "preconditioner %s: its operator has other values than it was "
            "made of: give it the matrix of these, by tacit_precond_update, or "
            "make it anew",
            M->ops->name);
    TRY(tct_precond_same(M->made_for, matrix));
    return tct_agree(M->world, predict(row, matrix));
}

tacit_status tacit_precond_update(tacit_operator *M, const tacit_matrix *matrix)
{
    REQUIRE(M != NULL);
    TRY(tct_refuse_use(M, __func__));
    TCT_THREADS_OF(M->q->team);
    q_enter(M->q);
    const double start = tct_seconds();
    if (!M->ops->renew)
        return tct_agree(M->world,
                         tacit_error_set(TACIT_INVALID,
                                         "tacit_precond_update: this is no "
                                         "preconditioner of "
                                         "tacit_precond_create"));
    TRY(check_source(M, matrix));
    TRY(M->ops->renew(M, matrix));
    set_renewed(M, tct_seconds() - start);
    return TACIT_OK;
}

tacit_status tct_precond_follow(const tacit_operator *M)
{
    if (!M || !M->made_for || M->made_of == M->made_for->values)
        return TACIT_OK;
    tacit_world *w = M->world;
    const double timeout = w->timeout;
    w->timeout = 0.0; /* set-up may take ranks different times */
    const tacit_status status =
        tacit_precond_update((tacit_operator *)(uintptr_t)M, NULL);
    w->timeout = timeout;
    return status;
}

tacit_status tacit_precond_describe(const tacit_operator *M,
                                    tacit_precond_info *out)
{
    REQUIRE(M != NULL && out != NULL);
    TRY(tct_check_sized("tacit_precond_info", out));
    const tacit_precond_info *known = tct_amg_info(M);
    if (!known) known = tct_by_factor_info(M);
    tacit_precond_info info = {.name = M->ops->name, .detail = "", .end = ""};
    if (known) info = *known;
    info.setup_seconds = M->info.setup_seconds;
    info.varies = M->varies;
    tct_write_sized(&info, sizeof info, out);
    return TACIT_OK;
}

const tacit_precond_level *tacit_precond_level_at(const tacit_operator *M,
                                                  int i)
{
    return M ? tct_amg_level_at(M, i) : NULL;
}
