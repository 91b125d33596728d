/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/trial.h - another format tried on a small sample while
 * products go on with the rows. */
#ifndef TCT_OPERATOR_CHOICE_TRIAL_H
#define TCT_OPERATOR_CHOICE_TRIAL_H
#include "operator/choice/rent.h"
#include "operator/format.h"

enum { TCT_SAMPLE_PIECES = 8 };

/* The sample: rows from several places, in the format of fewest bytes. */
typedef struct tct_trial {
    tct_local rows, part; /* all rows; the sample */
    int64_t first[TCT_SAMPLE_PIECES];
    const tct_format *format; /* NULL: none has fewer bytes than the rows */
    int dense;                /* its dense blocks; 0: none */
    double dense_bytes;       /* of the sample in these    */
    tct_block *block;
    double *x, *y;
    double scale;    /* entries of the matrix over those of the sample */
    double price;    /* seconds to store the sample, without a look at it */
    double old, now; /* least seconds of a product, 0: none yet */
} tct_trial;

/* Entries of a sample of so many. */
int64_t tct_trial_entries(int64_t nonzeros);
/* Are they so small a part of `nonzeros` that a trial costs little? */
bool tct_trial_is_cheap(int64_t nonzeros);
/* Take the sample and choose the format; `trials` [TCT_TRIALS_MOST] tells why
 * others are not tried. Close it, also after an error.
 * Errors      NO_MEMORY. */
tacit_status tct_trial_look(const tct_local *rows, tacit_trial *trials,
                            int *count, tct_trial *t);
/* ... and store the sample in it.
 * Errors      NO_MEMORY. */
tacit_status tct_trial_open(const tct_local *rows, const tct_rent_clock *clock,
                            tacit_trial *trials, int *count, tct_trial *t);
void tct_trial_close(tct_trial *t);
/* A product with the rows of the sample, and one with its block, on this
 * thread. */
void tct_trial_products(tct_trial *t, const tct_rent_clock *clock, bool counts);

#endif
