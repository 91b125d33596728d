/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/sstep.h - blocks of s iterations with one sum: what such a
 * method owns. The small arithmetic between the sum and the updates is
 * device/blocks.h: each rank does it for itself, and since a sum leaves the
 * same bits on all, so does it. */
#ifndef TCT_SOLVER_SSTEP_SSTEP_H
#define TCT_SOLVER_SSTEP_SSTEP_H
#include "solver/run.h"

enum {
    TCT_SSTEP_AUTO = 8,
    TCT_SSTEP_RENEW = 40 /* iterations after which r is formed anew */
};

/* --- basis.c -------------------------------------------------------------- */

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

/* --- panels.c ------------------------------------------------------------- */

enum { TCT_SSTEP_OPENING = 20, TCT_SSTEP_NOTED = 4 };
enum { TCT_SSTEP_FIRST = 3 }; /* x_0 is in this vector */

/* What a method with blocks owns. */
typedef struct tct_sstep {
    int most; /* vectors of a block */
    tct_basis basis;
    double *memory[2];
    tct_panel PZ; /* the last directions P, and Z of the block that is made */
    tct_panel QY; /* Q = A P, and Y = (A Z, r)                              */
    double *sums; /* on the device: [TCT_SSTEP_SUMS]                        */
    double
        *noted;  /* ... [TCT_SSTEP_OPENING * TCT_SSTEP_NOTED] of the opening */
    double *own; /* ... what follows                                      */
    tct_blocks *B;
    tct_blocks host; /* as it was read last, or is to be                    */
    /* what the turn has come to */
    double edge; /* eigenvalues of M A are in [0, edge]                     */
    bool prompt; /* looks come at once, and so does B                       */
    bool twice;  /* the next block is conjugated twice                      */
    int s;       /* vectors of the next block                               */
    int since;   /* iterations since r was formed anew                      */
    double rate; /* what an iteration has made of (r, r)                    */
    double rr;   /* at the look before, ...                                 */
    int64_t at;  /* ... which was at this iteration                         */
    int opening; /* iterations of it that have been done                    */
    bool ended;  /* a look has ended the turn                               */
    bool (*look)(tct_run *R); /* the driver's                                */
} tct_sstep;

/* Make R->own for R->steps and R->basis; what is there stays until that is
 * done.
 * Errors      NO_MEMORY. */
tacit_status tct_sstep_open(tct_run *R);
void tct_sstep_close(tct_run *R);

/* Bring S->B to S->host, or the other way; doubles of it. */
enum { TCT_BLOCKS_DOUBLES = sizeof(tct_blocks) / sizeof(double) };
void tct_sstep_read(tct_run *R);
void tct_sstep_write(tct_run *R);

/* --- ends.c --------------------------------------------------------------- */

/* The first iterations: those of cg, which end the turn, S->ended, or fill the
 * panels. */
void tct_sstep_begin(tct_run *R);
/* Blocks have stopped for another length, or a second conjugation. */
void tct_sstep_go_on(tct_run *R);
/* S->s is the length of what is enqueued now, and the next block is conjugated
 * twice, or not. */
void tct_sstep_length(tct_run *R, bool twice);
/* For who goes on: the last direction in p; or zero, of moments, and since cg
 * along one that is conjugate to little is worse than from r alone, and early
 * on from x_0. */
void tct_sstep_end(tct_run *R);

/* --- block.c -------------------------------------------------------------- */

/* (P, Z)' (A Z, r) and (r, r), in one sum; for moments Z' (A z_(s-1), r) will
 * do. */
void tct_sstep_sum(tct_run *R, int s);
/* P, x, Q and r of the next block, by B->mix. */
void tct_sstep_update(tct_run *R, int s);
/* r = b - A x; the next sum tells what that has changed. */
void tct_sstep_renew(tct_run *R);
/* A kernel has made made[s - 1] blocks of s vectors, `renewed` times r anew,
 * and the last block, of `last` vectors, for a look that ended the turn. */
void tct_sstep_made(tct_run *R, const double *made, int renewed, int last);

/* --- krylov.c ------------------------------------------------------------- */

/* Z = (M y_0, ..., M y_(s-1)) in the basis, y_0 = r, and Y = (A Z, r). */
void tct_sstep_form(tct_run *R, int s);

#endif
