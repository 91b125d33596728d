/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/rental.h - an operator whose rows are multiplied as they came
 * until another format pays for itself: tries, builds, proves and undoes what
 * rent.h decides, between the iterations of a solve. On the host only, where
 * formats change no bit of a product. */
#ifndef TCT_OPERATOR_CHOICE_RENTAL_H
#define TCT_OPERATOR_CHOICE_RENTAL_H
#include "operator/assembled.h"
#include "operator/choice/trial.h"

enum { TCT_DECISIONS_MOST = 8 };

typedef struct tct_rental {
    tct_rent state; /* of this rank */
    tct_rent_clock clock;
    bool by_model; /* no decision depends on time      */
    double model;  /* seconds of a clock by bytes */
    tct_grid_place at;
    tct_grid_rows grid;
    bool looked_for_grid;
    bool idle; /* nothing to decide here; other ranks have */
    bool
        assumes; /* price and gain are assumed: on all ranks entries are too few
                   * for a trial */
    tct_trial trial;
    tct_block *rows;     /* the block before a purchase, until it is proved */
    double price;        /* seconds that the purchase took */
    int64_t counted;     /* products of blocks so far */
    int64_t noted;       /* of these, told to `state` */
    double last;         /* when */
    int64_t checks, due; /* of several ranks: when they decide next */
    tacit_decision told[TCT_DECISIONS_MOST];
    int tells;
} tct_rental;

/* Let A's rows be multiplied as they come, by the clock of `wish`.
 * Errors      NO_MEMORY. */
tacit_status tct_rental_open(tct_assembled *A, const tct_operator_wish *wish);
/* May its block be csr for now? Else it is chosen as for many solves. `rows`
 * are those that will be stored. */
bool tct_rental_suits(const tct_assembled *A, const tct_format_wish *wish,
                      const tct_local *rows);
/* Has it so few entries that any sample has all of them? Then the format of
 * fewest bytes is stored at once. */
bool tct_rental_is_small(const tct_assembled *A, const tct_local *rows);
/* A's block is made, with rows at `at`. */
void tct_rental_begin(tct_assembled *A, const tct_grid_place *at);
/* Ranks decide together, as long as one has something to decide. Collective.
 * Errors      COMM. */
tacit_status tct_rental_agree(tct_assembled *A);
void tct_rental_close(tct_assembled *A);
static inline bool tct_rental_rents(const tct_assembled *A)
{
    return A->rental && !A->rental->idle;
}

/* Members of tct_operator_ops. */
void tct_rental_run_begins(tacit_operator *A);
void tct_rental_checked(tacit_operator *A, double left);
void tct_rental_settle(tacit_operator *A);
/* The rows are not needed any more: what was bought stays. */
void tct_rental_keep(tct_assembled *A);

#endif
