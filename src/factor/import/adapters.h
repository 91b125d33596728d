/* SPDX-License-Identifier: BSD-3-Clause
 * factor/import/adapters.h - what a build needs to read the factors of other
 * libraries: their headers, since no function of theirs is called. */
#ifndef TCT_FACTOR_IMPORT_ADAPTERS_H
#define TCT_FACTOR_IMPORT_ADAPTERS_H
#include "factor/import/import.h"

/* NULL, or what a build without these headers lacks. */
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
