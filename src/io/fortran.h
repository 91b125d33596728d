/* SPDX-License-Identifier: BSD-3-Clause
 * io/fortran.h - formats of Fortran such as (1P,4D20.12), and numbers printed
 * by them.
 *
 * An exponent is marked by D, E or only its sign; a number without a point gets
 * one as many digits from its end as the format says. */
#ifndef TCT_IO_FORTRAN_H
#define TCT_IO_FORTRAN_H
#include "base/base.h"

enum { TCT_FORTRAN_WIDEST = 64 }; /* characters of a field, at most */

/* A Fortran format: `repeat` fields of `width` characters per line; field k
 * begins at column lead + k pitch, from 0. */
typedef struct tct_fortran_format {
    int repeat, width, decimals, scale;
    int lead, pitch;
    char descriptor; /* I, E, D, F or G */
} tct_fortran_format;

/* Parse a format such as (16I5), (1P,4D20.12), (1X,3(E26.18)) and advance
 * `*at`. Its fields are alike, at equal distances, of a descriptor of
 * `allowed`; false: not understood. */
bool tct_fortran_parse(const char **at, const char *allowed,
                       tct_fortran_format *f);

/* Read `word`, a field of `f` without blanks, of at most TCT_FORTRAN_WIDEST
 * characters, padded by TCT_SCAN_PAD zero bytes; false: not a number. */
bool tct_fortran_number(const tct_fortran_format *f, const char *word,
                        double *out);

#endif
