/* SPDX-License-Identifier: BSD-3-Clause
 * solver/sstep/sstep.h - data of a method whose blocks of s iterations have one
 * sum. Each rank does the small arithmetic between sum and updates itself
 * (device/blocks.h); the sum has the same bits on all ranks, and so have its
 * results. */
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

/* The data of a method with blocks. */
typedef struct tct_sstep {
    int most; /* vectors of a block */
    tct_basis basis;
    double *memory[2];
    tct_panel PZ; /* last directions P, and Z of the current block */
    tct_panel QY; /* Q = A P, and Y = (A Z, r)                              */
    double *sums; /* on the device: [TCT_SSTEP_SUMS]                        */
    double
        *noted;  /* ... [TCT_SSTEP_OPENING * TCT_SSTEP_NOTED] of the opening */
    double *own; /* ... and of B                                          */
    tct_blocks *B;
    tct_blocks host; /* as last read, or to be written                      */
    /* state of the phase */
    double edge; /* eigenvalues of M A are in [0, edge]                     */
    bool prompt; /* checks are immediate, and B is read at once             */
    bool twice;  /* the next block is conjugated twice                      */
    int s;       /* vectors of the next block                               */
    int since;   /* iterations since r was formed anew                      */
    double rate; /* factor of (r, r) per iteration                          */
    double rr;   /* at the last check, ...                                  */
    int64_t at;  /* ... and its iteration                                   */
    int opening; /* iterations of cg done                                   */
    bool ended;  /* a check has ended the phase                             */
    bool (*look)(tct_run *R); /* the driver's                                */
} tct_sstep;

/* Make R->own for the steps and the basis of R->system; the old one stays until
 * that succeeds.
 * Errors      NO_MEMORY. */
tacit_status tct_sstep_open(tct_run *R);
void tct_sstep_close(tct_run *R);

/* Copy S->B to S->host, or back; its size in doubles. */
enum { TCT_BLOCKS_DOUBLES = sizeof(tct_blocks) / sizeof(double) };
void tct_sstep_read(tct_run *R);
void tct_sstep_write(tct_run *R);

/* --- ends.c --------------------------------------------------------------- */

/* The first iterations: those of cg. They end the phase, S->ended, or fill the
 * panels. */
void tct_sstep_begin(tct_run *R);
/* Go on after a pause for another length or a second conjugation. */
void tct_sstep_go_on(tct_run *R);
/* Set the length of enqueued blocks to S->s, and whether the next is conjugated
 * twice. */
void tct_sstep_length(tct_run *R, bool twice);
/* Leave the last direction in p. It is zero for moments, early on, and if it is
 * conjugate to few others: cg then goes on better from r alone, or from x_0. */
void tct_sstep_end(tct_run *R);

/* --- block.c -------------------------------------------------------------- */

/* (P, Z)' (A Z, r) and (r, r), in one sum; for moments Z' (A z_(s-1), r). */
void tct_sstep_sum(tct_run *R, int s);
/* P, x, Q and r of the next block, by B->mix. */
void tct_sstep_update(tct_run *R, int s);
/* r = b - A x; the next sum measures the change. */
void tct_sstep_renew(tct_run *R);
/* Count blocks made by a kernel: made[s - 1] blocks of s vectors, r formed anew
 * `renewed` times, and the last block, of `last` vectors, whose check ended the
 * phase. */
void tct_sstep_made(tct_run *R, const double *made, int renewed, int last);

/* --- krylov.c ------------------------------------------------------------- */

/* Z = (M y_0, ..., M y_(s-1)) in the basis, y_0 = r, and Y = (A Z, r). */
void tct_sstep_form(tct_run *R, int s);

#endif
