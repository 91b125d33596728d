/* SPDX-License-Identifier: BSD-3-Clause
 * io/fortran_fields.h - a text of fields in Fortran formats, field by field. */
#ifndef TCT_IO_FORTRAN_FIELDS_H
#define TCT_IO_FORTRAN_FIELDS_H
#include "io/fortran.h"
#include "io/text.h"

typedef struct tct_fields {
    const char *path; /* for messages; borrowed, as is `text` */
    tct_text *text;
    char *line; /* the current one */
    size_t length;
    int field;     /* the next one in this line; 0: in the next line */
    bool words;    /* fields of this line are separated by blanks */
    size_t column; /* of the current field, from 0 */
    size_t end;    /* behind it */
} tct_fields;

/* The next field begins a line. */
void tct_fields_begin(tct_fields *b);

/* Read the next field of format `f`: a whole number from `low` to `high`, or a
 * finite value. `what` names the fields in messages. */
tacit_status tct_fields_int(tct_fields *b, const tct_fortran_format *f,
                            const char *what, int64_t low, int64_t high,
                            int64_t *out);
tacit_status tct_fields_value(tct_fields *b, const tct_fortran_format *f,
                              const char *what, double *out);

/* Skip `count` fields, which fill whole lines. */
tacit_status tct_fields_skip(tct_fields *b, const tct_fortran_format *f,
                             const char *what, int64_t count);

#endif
