/* SPDX-License-Identifier: BSD-3-Clause
 * precond/options.h - the options of a kind of preconditioner: members of a
 * struct of its own, listed in its table. A caller sets them by name, or by the
 * member of tacit_precond_options that some have. */
#ifndef TCT_PRECOND_OPTIONS_H
#define TCT_PRECOND_OPTIONS_H
#include "base/base.h"
#include <stddef.h>
#include <tacit/precond.h>

/* A member: const char * of a choice, one of its `choices`, or of a file; int;
 * int[3] of a grid. Zero: the default. */
typedef struct tct_option {
    tacit_precond_option about; /* no name: data, which has no text        */
    const char *noun;           /* in errors; NULL: the name               */
    size_t at, bytes;           /* of the member; 0 bytes: end of the table */
    size_t given; /* of the member of tacit_precond_options; 0: none */
} tct_option;

/* Member `field` of `type`, set by name, or by tacit_precond_options, too. */
#define TCT_OPTION_NAMED(type, field) \
    .at = offsetof(type, field), .bytes = sizeof(((type *)0)->field)
#define TCT_OPTION(type, field)    \
    TCT_OPTION_NAMED(type, field), \
        .given = offsetof(tacit_precond_options, field)

struct tct_precond_kind;

/* Option `i` of `kind`, data included; NULL past the end. */
const tct_option *tct_option_at(const struct tct_precond_kind *kind, int i);

/* Fill in `own`, the struct of options of `kind`, zero before: the members of
 * `given`, NULL for none, and what is set by name, which counts.
 * Errors      INVALID, naming option, value, and what is allowed. */
tacit_status tct_options_take(const struct tct_precond_kind *kind,
                              const tacit_precond_options *given, void *own);

#endif
