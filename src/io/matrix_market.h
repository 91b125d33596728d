/* SPDX-License-Identifier: BSD-3-Clause
 * io/matrix_market.h - Matrix Market files: what the reader, the parser of
 * entries and the writer share. */
#ifndef TCT_IO_MATRIX_MARKET_H
#define TCT_IO_MATRIX_MARKET_H
#include "io/format.h"
#include "io/text.h"

/* Bytes of a part, and parts of a block. */
enum {
    TCT_MARKET_PART = 64 << 10,
    TCT_MARKET_PARTS = 2 * TCT_TEXT_BLOCK / TCT_MARKET_PART + 2
};

typedef enum {
    TCT_MARKET_FINE,
    TCT_MARKET_BAD_ROW,
    TCT_MARKET_BAD_COLUMN,
    TCT_MARKET_BAD_VALUE,
    TCT_MARKET_BAD_END
} tct_market_fault;

/* Some lines and their entries. */
typedef struct tct_market_part {
    const char *begin, *end;
    tct_entry *entries;
    int64_t count, room; /* of `entries` */
    int64_t stored;      /* entries in the file */
    int64_t lines;       /* whole lines before `bad`, or all */
    const char *bad;     /* the first wrong word */
    tct_market_fault trouble;
    bool below, above; /* entries off the diagonal, ... */
    int64_t diagonal;  /* ... and on it */
} tct_market_part;

typedef struct tct_market {
    tct_source base;
    tct_input in;
    tct_text *text;
    bool array;
    bool is_unsigned;        /* unsigned integers */
    bool has_rhs, has_guess; /* behind the entries, by AMGX's comment */
    long long banner;        /* the line of the header */
    int64_t seen;            /* entries read so far */
    /* Double buffer: the previous batch is still being distributed. */
    tct_market_part parts[2][TCT_MARKET_PARTS], *part;
    tct_part outs[2][TCT_MARKET_PARTS], *out;
    int buffer; /* of these two */
} tct_market;

/* --- matrix_market_entries.c ---------------------------------------------- */

/* Parse part `k` of the reader `ctx`. The crew calls it. An error stops the
 * part at `bad`. */
void tct_market_parse(void *ctx, int k);

/* Set the positions of an array's values, column by column (the lower triangle
 * if symmetric), and drop a matrix's zeros. `before` values are in earlier
 * parts. */
void tct_market_place_array(const tct_market *m, tct_market_part *p,
                            int64_t before);

/* Report the error in `p`, whose first line is `line`.
 * Errors    INPUT, always. */
tacit_status tct_market_explain(const tct_market *m, const tct_market_part *p,
                                int64_t line);

/* Report the line of entry `stored` + 1, which is in `p`.
 * Errors    INPUT, always. */
tacit_status tct_market_too_many(const tct_market *m, const tct_market_part *p,
                                 int64_t line);

/* --- matrix_market_amgx.c ------------------------------------------------- */

/* `line` is AMGX's comment. */
bool tct_market_is_amgx(const char *line);

/* Parse it; `line` is changed. */
tacit_status tct_market_parse_amgx(tct_market *m, char *line);

/* To read a vector: if this file is a system, skip to the vector behind the
 * entries, which becomes an array of one column. */
tacit_status tct_market_find_vector(tct_market *m);

/* --- matrix_market_write.c ------------------------------------------------ */

/* As write_matrix and write_vectors of tct_file_format. */
tacit_status tct_market_write_matrix(tct_sink *s, const tct_csr *A,
                                     const tct_write_options *options);
tacit_status tct_market_write_vectors(tct_sink *s, int64_t rows, int64_t count,
                                      int columns, const double *x,
                                      int64_t stride);

#endif
