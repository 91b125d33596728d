/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/adapters.h - headers of other libraries whose factors can be
 * imported; none of their functions is called. */
#ifndef TCT_FACTOR_IMPORT_ADAPTERS_H
#define TCT_FACTOR_IMPORT_ADAPTERS_H
#include "factor/import/import.h"

/* NULL, or the headers that this build lacks. */
#if TCT_HAVE_CHOLMOD
#define TCT_CHOLMOD_MISSING NULL
#else
#define TCT_CHOLMOD_MISSING                                   \
    "not in this build: configured without CHOLMOD (install " \
    "libsuitesparse-dev and configure with -DTACIT_CHOLMOD=ON)"
#endif
#if TCT_HAVE_SUPERLU_DIST
#define TCT_SUPERLU_DIST_MISSING NULL
#else
#define TCT_SUPERLU_DIST_MISSING                                   \
    "not in this build: configured without SuperLU_DIST (install " \
    "libsuperlu-dist-dev, 8.1 or later, and configure with "       \
    "-DTACIT_SUPERLU_DIST=ON)"
#endif

#endif
