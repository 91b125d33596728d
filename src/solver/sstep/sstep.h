/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/sstep.h - blocks of s iterations with one sum: what such a method
 * owns, and the small arithmetic between the sum and the updates.
 *
 * The arithmetic is pure functions on what was summed. Each rank does it for
 * itself: a sum leaves the same bits on all, and so do these. */
#ifndef TCT_SSTEP_H
#define TCT_SSTEP_H
#include "solver/run.h"

enum {
    TCT_SSTEP_MOST = 16, /* of a block, and directions that are kept */
    TCT_SSTEP_AUTO = 8,
    TCT_SSTEP_SUMS = 2 * TCT_SSTEP_MOST * (TCT_SSTEP_MOST + 1) + 2
};
/* What is summed for s vectors and w directions before: (r, r), what r changed by
 * when it was formed anew, and Gram matrices: see tct_sstep_decide. */
enum { SUM_RR, SUM_DRIFT, SUM_GRAM };
#define TCT_SSTEP_SUMS_OF(s, w) (SUM_GRAM + ((s) + (w)) * ((s) + 1))

typedef double tct_small[TCT_SSTEP_MOST][TCT_SSTEP_MOST];

/* --- factor.c: small symmetric matrices ------------------------------------------ */

/* W = S L L' S, with S diagonal and ones on the diagonal of L L'. Where W is P' A P,
 * the first columns of P are those of a block, in the order in which they were
 * made, and behind them are directions before, the last one first. */
typedef struct tct_factor {
    int n, block;
    double scale[TCT_SSTEP_MOST]; /* S */
    tct_small l;
    double least; /* square of the smallest diagonal element of L */
} tct_factor;

/* Factor the longest prefix of W [n] whose squares of L's diagonal elements are
 * greater than `least`, a block; how long it is. */
int tct_factor_make(tct_factor *F, int n, tct_small W, double least);
/* b = W^-1 b */
void tct_factor_solve(const tct_factor *F, double *b);
/* b = L^-1 S^-1 b: of P' r that with the directions that Gram and Schmidt would make
 * of P, column after column, of length 1. */
void tct_factor_lower(const tct_factor *F, double *b);
/* Which column is the i-th from the last that was made? */
int tct_factor_before_last(const tct_factor *F, int i);
/* t [F->n]: P t is what they would make of that. */
void tct_factor_direction(const tct_factor *F, int i, double *t);

/* --- basis.c --------------------------------------------------------------------- */

typedef enum tct_basis {
    BASIS_CHEBYSHEV,
    BASIS_NEWTON,
    BASIS_MONOMIAL,
    TCT_BASES
} tct_basis;

/* Its name, NULL past the end. */
const char *tct_basis_name(int basis);

/* y_(j+1) = (A M y_j - theta y_j) / sigma, less y_(j-1) if `three`. */
typedef struct tct_term {
    double theta, sigma;
    bool three;
} tct_term;

/* Terms 0 to s - 2 of a basis for eigenvalues in [0, edge]. */
void tct_basis_terms(tct_basis basis, int s, double edge, tct_term *terms);

/* --- decide.c, moments.c ----------------------------------------------------------- */

/* What comes of it: P_new = Z + P beta, x = x + P_new alpha. */
typedef struct tct_sstep_block {
    int taken;      /* iterations: the longest prefix that is sound; 0: none */
    bool cancelled; /* little is left of Z: conjugate it once more           */
    int sound;      /* directions, from the last, that r is orthogonal to    */
    tct_factor W;   /* P_new' A P_new of those taken                         */
    double beta[TCT_SSTEP_MOST][TCT_SSTEP_MOST]; /* a column in each row     */
    double alpha[TCT_SSTEP_MOST];
} tct_sstep_block;

/* `sums` are, column after column, Z' (r, A Z) and P' (r, A Z), for s vectors Z and
 * the w directions P before.
 * beta = -W_old^-1 P' A Z, W = Z' A Z + beta' P' A Z,
 * alpha = W^-1 (Z' r + beta' P' r); conjugate to nothing if old->n is 0. */
void tct_sstep_decide(const tct_factor *old, int w, int s, const double *sums,
                      tct_sstep_block *B);

/* The same of the moments alone, as in [CG89]: of powers of A M / sigma. B has the
 * alpha of the block before, and old->n is 0 for the first one. All or nothing is
 * taken. */
void tct_sstep_moments(const tct_factor *old, int s, double sigma,
                       const double *sums, tct_sstep_block *B);

/* To how many of the directions of which `W` is, from the last one on, is r still
 * orthogonal, P' r being `mo`, as an error of energy `energy` asks for? */
int tct_sstep_sound(const tct_factor *W, const double *mo, double energy);

/* How many to take at once next, of `most` at most, when s have led to B, with w
 * directions before. */
int tct_sstep_next(const tct_sstep_block *B, int s, int w, int most);

/* --- panels.c ---------------------------------------------------------------------- */

enum { TCT_SSTEP_OPENING = 20, TCT_SSTEP_NOTED = 4 };
enum { TCT_SSTEP_FIRST = 3 }; /* x_0 is in this vector */

/* What a method with blocks owns. */
typedef struct tct_sstep {
    int most; /* vectors of a block */
    tct_basis basis;
    double *memory[4];
    tct_panel Z, Y; /* of the block that is made; Y = (r, A Z)    */
    tct_panel P, Q; /* the last directions, Q = A P               */
    tct_factor W;   /* P' A P; W.n of them                        */
    double *sums;   /* on the device: [TCT_SSTEP_SUMS]             */
    double *small;  /* ... [most * (most + 1)] beta and alpha      */
    double
        *noted; /* ... [TCT_SSTEP_OPENING * TCT_SSTEP_NOTED] of the opening */
    double host[TCT_SSTEP_SUMS];
    tct_sstep_block B;
    /* what the run has come to */
    double edge;              /* eigenvalues of M A are in [0, edge]         */
    int s;                    /* vectors of the next block                   */
    int since;                /* iterations since r was formed anew          */
    bool drifted;             /* it is formed anew no more                   */
    int again;                /* blocks that were conjugate to nothing before */
    int alone;                /* blocks of one, with r lost, in a row        */
    double rate;              /* what an iteration has made of (r, r)        */
    double rr;                /* at the look before, ...                     */
    int64_t at;               /* ... which was at this iteration             */
    int opening;              /* iterations of it that have been done        */
    bool ended;               /* a look has ended the turn                   */
    bool (*look)(tct_run *R); /* the driver's                      */
} tct_sstep;

/* Make R->own for R->steps and R->basis; what is there stays until that is done.
 * Errors      NO_MEMORY. */
tacit_status tct_sstep_open(tct_run *R);
void tct_sstep_close(tct_run *R);

/* The first iterations: those of cg, which end the turn, S->ended, or fill the
 * panels. */
void tct_sstep_begin(tct_run *R);
/* For who goes on: the last direction in p; or zero, since cg along one that is
 * conjugate to little is worse than from r alone, and early on from x_0. */
void tct_sstep_end(tct_run *R);

/* Z = (M y_0, ..., M y_(s-1)) in the basis, y_0 = r, and A Z. krylov.c */
void tct_sstep_form(tct_run *R, int s);
/* Z = Z + P beta, A Z = A Z + Q beta for j columns; alpha goes to S->small, too,
 * behind beta. */
void tct_sstep_conjugate(tct_run *R, int j);
/* The block that was made is the last one now, and Z and Y are for the next; the
 * last `keep` directions stay, if there are as many. */
void tct_sstep_shift(tct_run *R, int keep);
/* The last `count` of directions X with F = X' A X, or of their products, the last
 * one first, each of length 1 and conjugate to the others: into Y. */
void tct_sstep_last(tct_run *R, const tct_factor *F, int count, tct_panel X,
                    tct_panel Y);

#endif
