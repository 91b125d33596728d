/* SPDX-License-Identifier: BSD-3-Clause
 * stencil/own_cached.h - way cached on the host: each tile's cells stay in
 * memory of its own for all steps. Tiles exchange what lies within `reach`
 * cells of their edges through the buffers of the field, once in that many
 * steps, and compute the cells between twice. */
#ifndef TCT_STENCIL_OWN_CACHED_H
#define TCT_STENCIL_OWN_CACHED_H
#include "stencil/own_host.h"

/* Errors      NO_MEMORY, UNSUPPORTED (coefficients by cell). */
tacit_status tct_own_cached_create(tacit_field *f, int reach,
                                   tct_own_host **out);
/* Bytes of a step that tiles exchange. */
double tct_own_cached_bytes(const tct_own_host *h);

#endif
