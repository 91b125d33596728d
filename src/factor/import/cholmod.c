/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/cholmod.c - import of CHOLMOD's supernodal factor. Supernodes
 * become fronts, cut into panels. Only the structs of the Core module are
 * used. */
#include "factor/import/adapters.h"
#include <cholmod.h>
#include <inttypes.h>

static const char *const what = "a factor of CHOLMOD";

/* Element `k` of an integer array of either width. */
static int64_t at(bool wide, const void *array, int64_t k)
{
    return wide ? ((const SuiteSparse_long *)array)[k]
                : ((const int *)array)[k];
}

static tacit_status check(const cholmod_factor *C)
{
    if (!C->is_super || !C->is_ll || C->xtype == CHOLMOD_PATTERN)
        FAIL(TACIT_UNSUPPORTED,
             "a factor of CHOLMOD must be supernodal, with values: set "
             "common.supernodal to CHOLMOD_SUPERNODAL before it is analyzed, "
             "and factorize");
    if (C->xtype != CHOLMOD_REAL || C->dtype != CHOLMOD_DOUBLE)
        FAIL(TACIT_UNSUPPORTED,
             "a factor of CHOLMOD must have real values in double precision");
    if (C->minor != C->n)
        FAIL(TACIT_INPUT,
             "a factor of CHOLMOD ends at its column %zu: the matrix is not "
             "positive definite",
             C->minor);
    if (C->n > INT32_MAX)
        FAIL(TACIT_UNSUPPORTED,
             "a factor counts rows in 32 bits, and %zu are too many", C->n);
    return TACIT_OK;
}

static tacit_status take_fronts(const cholmod_factor *C, tct_fronts *F)
{
    const bool wide = C->itype == CHOLMOD_LONG;
    const bool wide_start = C->itype != CHOLMOD_INT;
    F->rows = (int64_t)C->n;
    F->count = (int32_t)C->nsuper;
    TRY(TCT_ALLOC(F->count + 1, what, &F->first));
    TRY(TCT_ALLOC(F->count + 1, what, &F->start));
    F->first[0] = F->start[0] = 0;
    for (int32_t f = 0; f < F->count; f++) {
        const int64_t w = at(wide, C->super, f + 1) - at(wide, C->super, f);
        const int64_t m =
            at(wide_start, C->pi, f + 1) - at(wide_start, C->pi, f) - w;
        F->first[f + 1] = F->first[f] + w;
        F->start[f + 1] = F->start[f] + m;
        F->nonzeros += w * (w + 1) / 2 + w * m;
    }
    TRY(TCT_ALLOC(F->start[F->count], what, &F->below));
    for (int32_t f = 0; f < F->count; f++) {
        const int64_t from = at(wide_start, C->pi, f) + tct_front_width(F, f);
        for (int64_t k = 0; k < tct_front_below(F, f); k++)
            F->below[F->start[f] + k] = (int32_t)at(wide, C->s, from + k);
    }
    return TACIT_OK;
}

/* After closing (close.c) fronts may have more rows than CHOLMOD's. */
static void put(const cholmod_factor *C, const tct_fronts *F, int32_t *rows,
                tacit_factor *L)
{
    const bool wide = C->itype == CHOLMOD_LONG;
    const bool wide_start = C->itype != CHOLMOD_INT;
    for (int32_t f = 0; f < F->count; f++) {
        const int64_t from = at(wide_start, C->pi, f);
        const int64_t h = at(wide_start, C->pi, f + 1) - from;
        const double *x = (const double *)C->x + at(wide_start, C->px, f);
        for (int64_t k = 0; k < h; k++)
            rows[k] = (int32_t)at(wide, C->s, from + k);
        for (int64_t j = 0; j < tct_front_width(F, f); j++)
            tct_import_put(L, L->value, f, F->first[f] + j, h - j, rows + j,
                           x + j * h + j);
    }
}

static tacit_status build(const cholmod_factor *C,
                          const tacit_factor_options *options, tct_fronts *F,
                          tacit_factor **out)
{
    int32_t *scratch = NULL;
    TRY(check(C));
    TRY(take_fronts(C, F));
    TRY(TCT_ALLOC(F->rows, what, &scratch));
    for (int64_t k = 0; k < F->rows; k++)
        scratch[k] = C->Perm ? (int32_t)at(C->itype == CHOLMOD_LONG, C->Perm, k)
                             : (int32_t)k;
    const tacit_status status =
        tct_import_begin(F, TACIT_FACTOR_LLT, scratch, options, out);
    if (status >= 0) put(C, F, scratch, *out);
    tct_free(scratch);
    return status < 0 ? status : tct_import_end(out);
}

tacit_status tacit_factor_import_cholmod(const cholmod_factor *factor,
                                         const tacit_factor_options *options,
                                         tacit_factor **out)
{
    REQUIRE(factor != NULL, out != NULL);
    tct_fronts F = {.rows = 0};
    tacit_factor *L = NULL;
    const tacit_status status = build(factor, options, &F, &L);
    tct_fronts_clear(&F);
    if (status >= 0) *out = L;
    return status;
}
