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
    int kind; /* of tacit_factor_kind, or AUTO */
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
    return tct_factor_create_near(m, D->base.base.made_for->exponent, &options,
                                  on_host, out);
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

/* L U of an unsymmetric matrix; of a symmetric one L L', or L D L' if trying
 * shows that it is not positive definite. */
static tacit_status factor_any(const direct *D, const tacit_matrix *m,
                               tacit_factor **out)
{
    tacit_matrix_info info = {.size = sizeof info};
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
             "%s%s, %lld entries of L in %d panels, dense operations by %s",
             shapes[info->kind],
             info->pairs > 0     ? ", 2 x 2 pivots"
             : info->trials == 0 ? ""
             : M->F->upper       ? " of permuted rows"
                                 : ", scaled",
             (long long)info->nonzeros, (int)info->panels, info->dense);
    return TACIT_OK;
}

static tacit_status build(direct *D, const tacit_matrix *m)
{
    tct_by_factor *M = &D->base;
    if (M->parts > 0) return tct_by_factor_distribute(M, m, 0, factor_whole);
    TRY(factor_whole(M, m));
    return tct_by_factor_open(M, M->base.op.order);
}

/* All anew, including the order of rows. */
static tacit_status direct_renew(tct_precond *base, const tacit_matrix *matrix)
{
    direct *D = (direct *)(void *)base, fresh = {.kind = D->kind};
    tct_by_factor_blank(&D->base, &fresh.base);
    const tacit_status status =
        tct_agree(base->op.world, build(&fresh, matrix));
    if (status < 0) tct_by_factor_close(&fresh.base);
    else tct_by_factor_move(&fresh.base, &D->base);
    return status;
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
           .destroy = tct_by_factor_destroy},
    .bytes = sizeof(direct),
    .options = {table, tct_by_factor_table},
    .options_size = sizeof(direct_options),
    .setup = direct_setup,
    .renew = direct_renew,
    .describe = tct_by_factor_describe,
    .expensive = true,
    .together = true,
    .needs_regular = true};
