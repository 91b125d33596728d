/* SPDX-License-Identifier: BSD-3-Clause
 * precond/direct.c - M is the inverse of the stored A, by its factor: a method
 * only corrects rounding errors. */
#include "matrix/matrix.h"
#include "precond/by_factor.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"llt", "ldlt", "lu", "auto", NULL};
static const char *const shapes[] = {"L L'", "L D L'", "L U"};
enum { KINDS = sizeof shapes / sizeof *shapes, AUTO = KINDS };

typedef struct {
    tct_by_factor_options base;
    const char *kind; /* NULL: llt */
    int columns;
} direct_options;

/* clang-format off */
static const tct_option table[] = {
    {.about = {.name = "kind", .value = "NAME",
               .summary = "of the factor",
               .initial = "llt",
               .choices = names},
     .noun = "kind of a direct solve's factor",
     TCT_OPTION(direct_options, kind)},
    {TCT_OPTION(direct_options, columns)},
    {.bytes = 0}};
/* clang-format on */

typedef struct {
    tct_by_factor base;
    int kind;           /* of tacit_factor_kind, or AUTO                   */
    tacit_matrix *kept; /* of a factor without pivots that may need some   */
    const char *why;    /* the factor being made has pivots; NULL: as asked */
} direct;

/* --- the factor ----------------------------------------------------------- */

static tacit_status factor(const direct *D, const tacit_matrix *m, int kind,
                           tacit_factor **out)
{
    const tacit_factor_options options = {.size = sizeof options,
                                          .kind = (tacit_factor_kind)kind,
                                          .order = D->base.order,
                                          .leaves = D->base.leaves};
    const bool on_host = D->base.base.op.q->device->kind == TCT_KIND_HOST;
    const int exponent = D->base.base.made_for->exponent;
    return D->why ? tct_factor_create_pivoted(m, exponent, &options, on_host,
                                              D->why, out)
                  : tct_factor_create_near(m, exponent, &options, on_host, out);
}

/* L D L', or L U if trying shows that the matrix needs pivots. */
static tacit_status factor_indefinite(const direct *D, const tacit_matrix *m,
                                      tacit_factor **out)
{
    const tacit_status status = factor(D, m, TACIT_FACTOR_LDLT, out);
    if (status != TACIT_INPUT) return status;
    tct_log(TCT_NOTE, "%s, so it is factored as L U", tacit_error_message());
    return factor(D, m, TACIT_FACTOR_LU, out);
}

/* L D L' with pivots of 2 x 2 of a symmetric matrix, or L U. */
static tacit_status factor_with_pivots(const direct *D, const tacit_matrix *m,
                                       tacit_factor **out)
{
    const tacit_status status = D->kind == TACIT_FACTOR_LU
                                    ? TACIT_INPUT
                                    : tacit_matrix_check_symmetric(m);
    if (status == TACIT_INPUT) return factor(D, m, TACIT_FACTOR_LU, out);
    TRY(status);
    return D->kind == AUTO ? factor_indefinite(D, m, out)
                           : factor(D, m, TACIT_FACTOR_LDLT, out);
}

/* L U of an unsymmetric matrix; of a symmetric one L L', or L D L' if trying
 * shows that it is not positive definite. */
static tacit_status factor_any(const direct *D, const tacit_matrix *m,
                               tacit_factor **out)
{
    tacit_matrix_info info = {.size = sizeof info};
    if (D->why) return factor_with_pivots(D, m, out);
    if (D->kind != AUTO) return factor(D, m, D->kind, out);
    TRY(tacit_matrix_describe(m, &info));
    tacit_status status = tacit_matrix_check_symmetric(m);
    if (status == TACIT_INPUT) return factor(D, m, TACIT_FACTOR_LU, out);
    TRY(status);
    if (info.zero_diagonals + info.negative_diagonals > 0)
        return factor_indefinite(D, m, out);
    status = factor(D, m, TACIT_FACTOR_LLT, out);
    if (status != TACIT_INPUT) return status;
    tct_log(TCT_NOTE, "%s, so it is factored as L D L'", tacit_error_message());
    return factor_indefinite(D, m, out);
}

static tacit_status factor_whole(tct_by_factor *M, const tacit_matrix *m)
{
    TRY(factor_any((const direct *)(const void *)M, m, &M->F));
    const tacit_factor_info *info = &M->F->info;
    snprintf(M->detail, sizeof M->detail,
             "%s%s, %lld entries of L in %d panel%s, dense operations by %s",
             shapes[info->kind],
             info->pairs > 0     ? ", 2 x 2 pivots"
             : info->trials == 0 ? ""
             : M->F->upper       ? " of permuted rows"
                                 : ", scaled",
             (long long)info->nonzeros, (int)info->panels,
             info->panels == 1 ? "" : "s", info->dense);
    return TACIT_OK;
}

static tacit_status make(direct *D, const tacit_matrix *m)
{
    tct_by_factor *M = &D->base;
    if (M->parts > 0) return tct_by_factor_distribute(M, m, 0, factor_whole);
    TRY(factor_whole(M, m));
    return tct_by_factor_open(M, M->base.op.order);
}

/* A copy of `count` numbers, or NULL of none. */
static tacit_status copy_numbers(const int64_t *from, int64_t count,
                                 int64_t **to)
{
    if (!from) return TACIT_OK;
    TRY(TCT_ALLOC(count, "a direct solve", to));
    memcpy(*to, from, (size_t)count * sizeof **to);
    return TACIT_OK;
}

/* Keep the entries of `m`, if the factor has no pivots and is of a kind whose
 * test systems may have hidden that it needs some. */
static tacit_status keep(direct *D, const tacit_matrix *m)
{
    tacit_world *w = D->base.base.op.world;
    const tacit_factor_info *info =
        D->base.F ? &D->base.F->info : &D->base.made;
    tct_csr A = {0};
    if (info->kind == TACIT_FACTOR_LLT || info->trials > 0 || D->why)
        return TACIT_OK;
    TRY(tct_matrix_adopt(w, tct_csr_copy(&m->A, &A), &A, &D->kept));
    tacit_status status =
        copy_numbers(m->original, m->A.rows, &D->kept->original);
    if (status >= 0)
        status = copy_numbers(m->dealt, w->size + 1, &D->kept->dealt);
    return tct_agree(w, status);
}

static tacit_status build(direct *D, const tacit_matrix *m)
{
    TRY(tct_agree(D->base.base.op.world, make(D, m)));
    return keep(D, m);
}

static void clear(direct *D)
{
    tacit_matrix_destroy(&D->kept);
    tct_by_factor_close(&D->base);
}

static void take(direct *fresh, direct *D)
{
    tct_by_factor_move(&fresh->base, &D->base);
    tacit_matrix_destroy(&D->kept);
    D->kept = fresh->kept;
}

/* All anew, including the order of rows. */
static tacit_status direct_renew(tct_precond *base, const tacit_matrix *matrix)
{
    direct *D = (direct *)(void *)base, fresh = {.kind = D->kind};
    tct_by_factor_blank(&D->base, &fresh.base);
    const tacit_status status =
        tct_agree(base->op.world, build(&fresh, matrix));
    if (status < 0) clear(&fresh);
    else take(&fresh, D);
    return status;
}

/* Anew with pivots, once. */
static tacit_status direct_pivot(tct_precond *base, const char *why, bool *done)
{
    direct *D = (direct *)(void *)base, fresh = {.kind = D->kind, .why = why};
    *done = false;
    if (!D->kept) return TACIT_OK; /* on all ranks */
    tct_by_factor_blank(&D->base, &fresh.base);
    tacit_status status = build(&fresh, D->kept);
    if (status >= 0) take(&fresh, D);
    else clear(&fresh);
    *done = status >= 0;
    if (status != TACIT_INPUT) return status;
    tct_log(TCT_NOTE, "%s, so the factor stays as it is",
            tacit_error_message());
    tacit_matrix_destroy(&D->kept);
    return TACIT_OK;
}

/* --- making one ----------------------------------------------------------- */

/* Its options. On one rank nothing is distributed. */
static tacit_status take_options(direct *D, const direct_options *o)
{
    const bool alone = D->base.base.op.world->size == 1;
    TRY(tct_by_factor_take(&D->base, &o->base, TCT_ORDER_ND, alone));
    if (alone) D->base.parts = 0;
    D->base.launch = o->columns;
    while (o->kind && strcmp(o->kind, names[D->kind]) != 0) D->kind++;
    return TACIT_OK;
}

static void direct_destroy(tacit_operator *M)
{
    tacit_matrix_destroy(&((direct *)(void *)M)->kept);
    tct_by_factor_destroy(M);
}

static tacit_status direct_setup(tct_precond *base,
                                 const tct_precond_source *from)
{
    direct *D = (direct *)(void *)base;
    TRY(tct_agree(base->op.world, take_options(D, from->options)));
    return build(D, from->matrix);
}

const tct_precond_kind tct_precond_direct = {
    .about = {.name = "direct",
              .summary = "a factor of the matrix, made by one process",
              .of_matrix = true,
              .when_named = true},
    .op = {.name = "direct",
           .apply = tct_by_factor_apply,
           .for_batch = tct_by_factor_for_batch,
           .columns = tct_by_factor_columns,
           .destroy = direct_destroy},
    .bytes = sizeof(direct),
    .options = {table, tct_by_factor_table},
    .options_size = sizeof(direct_options),
    .setup = direct_setup,
    .renew = direct_renew,
    .pivot = direct_pivot,
    .describe = tct_by_factor_describe,
    .expensive = true,
    .together = true,
    .sweeps = 400.0,
    .products = 6.0,
    .always = 2e7,
    .operation = 0.4,
    .needs_regular = true};
