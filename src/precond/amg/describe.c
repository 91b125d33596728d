/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/describe.c - the report on a hierarchy. */
#include "precond/amg/amg.h"

/* Bytes of a level on this rank, without the operator's matrix. */
static double bytes_of(const tct_amg *M, const tct_amg_level *L)
{
    const tct_amg_smoother *S = &L->smoother;
    const int vectors =
        !!S->d + !!S->t + !!S->y + !!L->b + !!L->x + !!L->b2 + !!L->x2;
    double bytes = 8.0 * vectors * (double)L->n;
    if (L->e) bytes += 8.0 * (double)tct_amg_restricted(&L->down);
    if (L->own) bytes += L->own->local->matrix_bytes - L->own->local->borrowed;
    if (L->own && L->own->ghost) bytes += L->own->ghost->matrix_bytes;
    if (L->down.of)
        bytes += 4.0 * (double)L->down.sets.count +
                 (8.0 + 16.0 * L->down.sets.width) * (double)L->n;
    if (L->down.remote.forward)
        bytes += 12.0 * (double)L->down.remote.made +
                 36.0 * (double)tct_amg_received(&L->down.remote);
    if (L->kept) bytes += 8.0 * (double)L->n + 12.0 * (double)L->about.nonzeros;
    if (!L->A) bytes += M->coarsest.block->matrix_bytes;
    return bytes;
}

tacit_status tct_amg_describe(tct_amg *M)
{
    tacit_precond_info *info = &M->about;
    tct_amg *alone = M->alone.M; /* described as on one rank */
    const int own = alone ? M->levels - 1 : M->levels;
    const int levels = own + (alone ? alone->levels : 0);
    double bytes[TCT_AMG_LEVELS_MOST], rows = 0.0, entries = 0.0;
    for (int l = 0; l < levels; l++)
        bytes[l] = l < own ? bytes_of(M, &M->level[l])
                           : alone->level[l - own].about.bytes;
    TRY(tct_reduce_f64(M->base.op.world, TCT_SUM, (size_t)levels, bytes));
    for (int l = 0; l < levels; l++) {
        tacit_precond_level *about =
            l < own ? &M->level[l].about : &alone->level[l - own].about;
        about->bytes = bytes[l];
        info->bytes += bytes[l];
        rows += (double)about->rows;
        entries += (double)about->nonzeros;
    }
    info->name = "amg";
    info->detail = M->detail;
    info->end = M->end[0] ? M->end : "the last is inverted";
    info->levels = levels;
    info->grid_complexity = rows / (double)M->level[0].about.rows;
    info->operator_complexity =
        entries > 0.0 ? entries / (double)M->level[0].about.nonzeros : 1.0;
    return TACIT_OK;
}
