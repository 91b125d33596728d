/* SPDX-License-Identifier: BSD-3-Clause
 * precond/precond.c - preconditioners as operators: made, renewed, described. */
#include "precond/precond.h"
#include "device/parallel.h"
#include "matrix/matrix.h"
#include <stdio.h>

/* --- what an operator is -------------------------------------------------- */

bool tct_is_expensive(const tacit_operator *M)
{
    const tct_precond *P = tct_precond_of(M);
    return P && P->kind->expensive;
}

bool tct_is_together(const tacit_operator *M)
{
    const tct_precond *P = tct_precond_of(M);
    return P && P->kind->together;
}

tct_resident_view tct_precond_view(const tacit_operator *M)
{
    const tct_precond *P = tct_precond_of(M);
    return P && P->kind->view ? P->kind->view(P)
                              : (tct_resident_view){NULL, NULL};
}

/* --- its source ----------------------------------------------------------- */

static tacit_status check_matrix(const tct_precond_kind *kind,
                                 const tacit_operator *A,
                                 const tacit_matrix *matrix)
{
    if (!kind->about.of_matrix) return TACIT_OK;
    if (matrix) return tct_precond_fits(A, matrix);
    FAIL(TACIT_UNSUPPORTED,
         "preconditioner '%s' is made of the entries of the matrix, which an "
         "operator does not have: tacit_precond_create_of takes both",
         kind->about.name);
}

static tacit_status take_options(const tct_precond_kind *kind,
                                 const tacit_precond_options *given,
                                 tct_precond_source *out)
{
    tacit_precond_options known = {.size = sizeof known};
    if (given)
        TRY(tct_read_sized("tacit_precond_options", given, &known,
                           sizeof known));
    if (kind->options_size == 0) return TACIT_OK;
    out->options = tct_calloc(kind->options_size);
    if (!out->options) FAIL(TACIT_NO_MEMORY, "no memory for options");
    return tct_options_take(kind, &known, out->options);
}

tacit_status tct_precond_source_open(const tct_precond_kind *kind,
                                     const tacit_operator *A,
                                     const tacit_matrix *matrix,
                                     const tacit_precond_options *given,
                                     tct_precond_source *out)
{
    *out = (tct_precond_source){.matrix = matrix};
    tacit_status status = take_options(kind, given, out);
    if (status >= 0) status = check_matrix(kind, A, matrix);
    if (status >= 0) status = tct_regular_open(kind, A, matrix, &out->regular);
    if (out->regular) out->matrix = out->regular;
    status = tct_agree(A->world, status);
    if (status >= 0 && kind->load)
        status = kind->load(matrix, out->options, &out->vectors);
    if (status < 0) tct_precond_source_close(out);
    return status;
}

void tct_precond_source_close(tct_precond_source *from)
{
    tacit_matrix_free_vectors(&from->vectors);
    tct_regular_close(&from->regular);
    tct_free(from->options);
    from->options = NULL;
}

/* --- making one ----------------------------------------------------------- */

void tct_precond_begin(tct_precond *M, const tct_precond_kind *kind,
                       const tacit_operator *A)
{
    M->op.ops = &kind->op;
    M->op.q = A->q;
    M->op.world = A->world;
    M->op.n = A->n;
    M->op.bits = 64;
    M->op.order = A->order;
    M->op.info.format = kind->about.name;
    M->op.info.order = "none";
    M->kind = kind;
    M->made_for = A;
    M->made_of = A->values;
}

/* A preconditioner to be set up; NULL if there is nothing to make. */
static tacit_status begin(const tct_precond_kind *kind, const tacit_operator *A,
                          tct_precond **out)
{
    if (!kind->setup) return TACIT_OK;
    tct_precond *M = tct_calloc(kind->bytes);
    if (!M) FAIL(TACIT_NO_MEMORY, "no memory for a preconditioner");
    tct_precond_begin(M, kind, A);
    *out = M;
    return TACIT_OK;
}

/* The system is asked for free memory, which takes some 100 us: of little it is
 * not told. */
static void tell_need(const tct_precond_kind *p, double bytes)
{
    static const double LITTLE = 0x1p26;
    char room[64] = "";
    if (bytes > LITTLE)
        snprintf(room, sizeof room, ", %.3g GiB are free",
                 (double)tct_memory_available() / 0x1p30);
    tct_log(TCT_NOTE, "preconditioner %s: about %.3g MiB to set it up%s",
            p->about.name, bytes / 0x1p20, room);
}

/* Is there memory for `p`, for this rank's rows of `m`? Checked before
 * set-up. */
static tacit_status predict(const tct_precond_kind *p, const tacit_matrix *m)
{
    char what[64];
    if (!m || !(p->entry_bytes > 0.0)) return TACIT_OK;
    const double bytes = p->entry_bytes * (double)tct_csr_nonzeros(&m->A) +
                         p->row_bytes * (double)m->A.rows;
    if (m->world->rank == 0) tell_need(p, bytes);
    snprintf(what, sizeof what, "preconditioner %s", p->about.name);
    return tct_memory_require(bytes, what);
}

tacit_status tct_precond_make(const tct_precond_kind *kind,
                              const tacit_operator *A,
                              const tct_precond_source *from,
                              tacit_operator **out)
{
    TCT_THREADS_OF(A->q->team);
    q_enter(A->q);
    const double start = tct_seconds();
    tct_precond *M = NULL;
    tacit_operator *made = NULL;
    tacit_status status = predict(kind, from->matrix);
    if (status >= 0) status = begin(kind, A, &M);
    if (M) made = &M->op;
    status = tct_agree(A->world, status);
    if (status >= 0 && M) status = tct_agree(A->world, kind->setup(M, from));
    if (status < 0) {
        tacit_operator_destroy(&made);
        return status;
    }
    if (made) made->info.setup_seconds = tct_seconds() - start;
    *out = made;
    return status;
}

tacit_status tacit_precond_create_of(const tacit_operator *A,
                                     const tacit_matrix *matrix,
                                     const char *name,
                                     const tacit_precond_options *options,
                                     tacit_operator **out)
{
    REQUIRE(A != NULL, name != NULL, out != NULL);
    const tct_precond_kind *kind = NULL;
    tct_precond_source from;
    TRY(tct_agree(A->world, tct_precond_find(name, &kind)));
    TRY(tct_precond_source_open(kind, A, matrix, options, &from));
    const tacit_status status = tct_precond_make(kind, A, &from, out);
    tct_precond_source_close(&from);
    return status;
}

tacit_status tacit_precond_create(const tacit_operator *A, const char *name,
                                  tacit_operator **out)
{
    return tacit_precond_create_of(A, NULL, name, NULL, out);
}

/* --- new values ----------------------------------------------------------- */

/* Recordings, which know the old values, become invalid. */
static void set_renewed(tct_precond *M, double seconds)
{
    tacit_operator *A = (tacit_operator *)(uintptr_t)M->made_for;
    A->version++;
    M->made_of = A->values;
    M->op.info.setup_seconds = seconds;
}

static tacit_status check_source(const tct_precond *M,
                                 const tacit_matrix *matrix)
{
    const tacit_precond *about = &M->kind->about;
    if (!matrix && !about->of_matrix) return TACIT_OK;
    if (!matrix && M->raced)
        FAIL(TACIT_INVALID,
             "preconditioner %s, which a race has chosen: the operator has "
             "other values since: race again, with their matrix",
             about->name);
    if (!matrix)
        FAIL(
            TACIT_INVALID,
            "preconditioner %s: its operator has other values than it was "
            "made of: give it the matrix of these, by tacit_precond_update, or "
            "make it anew",
            about->name);
    TRY(tct_precond_same(M->made_for, matrix));
    return tct_agree(M->op.world, predict(M->kind, matrix));
}

static tacit_status renew(tct_precond *M, const tacit_matrix *matrix)
{
    tacit_matrix *regular = NULL;
    tacit_status status = tct_agree(
        M->op.world, tct_regular_open(M->kind, M->made_for, matrix, &regular));
    if (status >= 0) status = M->kind->renew(M, regular ? regular : matrix);
    tct_regular_close(&regular);
    return status;
}

tacit_status tacit_precond_update(tacit_operator *M, const tacit_matrix *matrix)
{
    REQUIRE(M != NULL);
    TRY(tct_refuse_use(M, __func__));
    TCT_THREADS_OF(M->q->team);
    q_enter(M->q);
    const double start = tct_seconds();
    tct_precond *P = (tct_precond *)(uintptr_t)tct_precond_of(M);
    if (!P)
        return tct_agree(M->world,
                         tacit_error_set(TACIT_INVALID,
                                         "tacit_precond_update: this is no "
                                         "preconditioner of "
                                         "tacit_precond_create"));
    TRY(check_source(P, matrix));
    TRY(renew(P, matrix));
    set_renewed(P, tct_seconds() - start);
    return TACIT_OK;
}

void tct_precond_set_raced(tacit_operator *M)
{
    tct_precond *P = (tct_precond *)(uintptr_t)tct_precond_of(M);
    if (P) P->raced = true;
}

tacit_status tct_precond_follow(const tacit_operator *M)
{
    const tct_precond *P = tct_precond_of(M);
    if (!P || P->made_of == P->made_for->values) return TACIT_OK;
    tacit_world *w = M->world;
    const double timeout = w->timeout;
    w->timeout = 0.0; /* set-up may take ranks different times */
    const tacit_status status =
        tacit_precond_update((tacit_operator *)(uintptr_t)M, NULL);
    w->timeout = timeout;
    return status;
}

tacit_status tct_precond_pivot(const tacit_operator *M, const char *why,
                               bool *done)
{
    tct_precond *P = (tct_precond *)(uintptr_t)tct_precond_of(M);
    *done = false;
    if (!P || !P->kind->pivot) return TACIT_OK;
    TCT_THREADS_OF(M->q->team);
    const double start = tct_seconds(), timeout = M->world->timeout;
    M->world->timeout = 0.0;
    const tacit_status status = P->kind->pivot(P, why, done);
    M->world->timeout = timeout;
    if (*done) set_renewed(P, M->info.setup_seconds + tct_seconds() - start);
    return status;
}

/* --- description ---------------------------------------------------------- */

tacit_status tacit_precond_describe(const tacit_operator *M,
                                    tacit_precond_info *out)
{
    REQUIRE(M != NULL, out != NULL);
    TRY(tct_check_sized("tacit_precond_info", out));
    const tct_precond *P = tct_precond_of(M);
    tacit_precond_info info = {.name = M->ops->name, .detail = "", .end = ""};
    if (P && P->kind->describe) P->kind->describe(P, &info);
    info.setup_seconds = M->info.setup_seconds;
    info.varies = M->varies;
    tct_write_sized(&info, sizeof info, out);
    return TACIT_OK;
}

const tacit_precond_level *tacit_precond_level_at(const tacit_operator *M,
                                                  int i)
{
    const tct_precond *P = tct_precond_of(M);
    return P && P->kind->level ? P->kind->level(P, i) : NULL;
}
