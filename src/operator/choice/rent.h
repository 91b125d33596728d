/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/rent.h - rent or buy: when is it worth to store a matrix in
 * another format?
 *
 * Products begin with the rows as they came. Another format costs seconds to
 * build and saves some in each product from then on; the number of products to
 * come is not known. It is bought when the products so far would have saved its
 * price: the whole then takes at most twice as long as the best choice in
 * hindsight [KMRS88], and three times where the fall of the residual foretells
 * too few products. These are the decisions alone; rental.h does what they say.
 *
 * [KMRS88] Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching",
 *          Algorithmica 3 (1988). */
#ifndef TCT_OPERATOR_CHOICE_RENT_H
#define TCT_OPERATOR_CHOICE_RENT_H
#include <stdbool.h>
#include <stdint.h>

/* --- time ----------------------------------------------------------------- */

/* Work that takes time. */
typedef enum tct_rent_work {
    RENT_PREPARE,  /* to read the rows once                */
    RENT_PRODUCTS, /* in the present format, with vectors  */
    RENT_SAMPLE,   /* to store a sample                    */
    RENT_OLD,      /* a product of the sample as it was    */
    RENT_NEW,      /* ... in the format on trial           */
    RENT_BUILD     /* to store the matrix                  */
} tct_rent_work;

/* A clock tells the seconds, and is told of all work that was done. */
typedef struct tct_rent_clock {
    double (*now)(void *of);
    void (*charge)(void *of, tct_rent_work work, double bytes); /* OPTIONAL */
    void *of;
} tct_rent_clock;

/* The time of day. */
tct_rent_clock tct_rent_wall(void);
/* Time by bytes alone, in `*seconds`: decisions depend on the matrix and on b,
 * and on nothing else. */
tct_rent_clock tct_rent_model(double *seconds);

/* --- decisions ------------------------------------------------------------ */

typedef enum tct_rent_state {
    RENT_RUNS,   /* nothing was tried          */
    RENT_TRIES,  /* a sample is being measured */
    RENT_TRIED,  /* its price and gain are known */
    RENT_PROVES, /* bought: is it as fast as was foretold? */
    RENT_KEPT,   /* the format stays           */
    RENT_SETTLED /* the number of threads, too */
} tct_rent_state;

typedef enum tct_rent_act {
    RENT_GO_ON,
    RENT_TRY,
    RENT_BUY,
    RENT_REFUSE, /* it does not gain: the rows stay */
    RENT_UNDO,   /* back to the rows                */
    RENT_KEEP,
    RENT_THREADS /* the number of threads may be measured */
} tct_rent_act;

enum {
    RENT_ROUNDS = 4,         /* products with a sample; the first warms up */
    RENT_PROOFS = 8,         /* checks of a format that was bought */
    RENT_THREADS_AFTER = 200 /* products, a part of which a trial of threads
                              * takes */
};

typedef struct tct_rent {
    tct_rent_state state;
    int64_t products; /* so far */
    double spent;     /* seconds of them, with all else of their iterations */
    double trial;     /* seconds to try another format, as foretold */
    double build;     /* ... and to store the matrix in it: its price */
    double gain;      /* seconds that it saves in a product; <= 0: none */
    double before;    /* least seconds of a product with all else, as it was */
    double after;     /* ... in the format that was bought; 0: none yet */
    int rounds;       /* of the sample, or proofs */
} tct_rent;

/* `products` more have taken `seconds` with all else. */
void tct_rent_note(tct_rent *r, int64_t products, double seconds);
/* The next act. `left` products are foretold; 0: not known. */
tct_rent_act tct_rent_decide(const tct_rent *r, double left);

/* All ranks decide alike: each from the sums of what all have measured. */
enum { RENT_SUMS = 6 };
void tct_rent_pack(const tct_rent *r, double sums[RENT_SUMS]);
tct_rent tct_rent_unpack(const tct_rent *mine, const double sums[RENT_SUMS]);

#endif
