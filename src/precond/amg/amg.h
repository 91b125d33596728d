/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/amg.h - algebraic multigrid by aggregation: a hierarchy of ever
 * smaller matrices A, P'A P, ..., and a cycle through them that takes a
 * residual to a correction. What is not smooth is left to a smoother of the
 * same level, what is smooth to the next level.
 *
 *     cycle.c     the cycle, an operator
 *     kcycle.c    a visit by two steps of flexible cg
 *     levels.c    how the hierarchy is made, and when it ends
 *     smoother.c  Chebyshev's polynomials, Jacobi; largest.c: of what interval
 *     overcorrect.c  how much longer what comes back is made
 *     transfer.c  P and P'
 *     shares.c    aggregates that have rows on several ranks
 *     moves.c     levels on fewer ranks
 *     precision.c values that are floats
 *     coarsest.c  the inverse of the last matrix
 *     columns.c   room for several right-hand sides at once
 *     describe.c  what is told of it
 *     update.c    the same aggregates for other values
 *     bottom.h    the last levels as one operation
 *     alone.c     ... of which each rank has all
 *     coarsen.h   which rows make an aggregate
 *     there.h     all that but the last levels, where a device has the vectors;
 *                 interface.h: what is between the devices of several ranks */
#ifndef TCT_PRECOND_AMG_AMG_H
#define TCT_PRECOND_AMG_AMG_H
#include "comm/exchange/plan.h"
#include "comm/setup/alltoall.h"
#include "comm/setup/halo.h"
#include "matrix/matrix.h"
#include "operator/operator.h"
#include "precond/amg/systems/near_null.h"
#include "precond/precond.h"

/* --- rows.c --------------------------------------------------------------- */

/* Of each row of a level [n], in the order of its operator and as that stores
 * it: the diagonal, and the sum of |a|. */
typedef struct tct_amg_rows {
    double *diagonal, *sum;
    double bound; /* of the eigenvalues of D^-1 A, this rank's (Gershgorin) */
    tacit_queue *there; /* whose memory they are in; NULL: the host's */
} tct_amg_rows;

/* Errors      INPUT (a diagonal entry that is not positive, naming its row),
 *             NO_MEMORY. Local. */
tacit_status tct_amg_rows_of(const tacit_matrix *m, const tct_order *order,
                             int exponent, tct_amg_rows *out);
void tct_amg_rows_free(tct_amg_rows *rows);

/* Numbers [count] as the device of `q` reads them, in the memory of doubles. */
tacit_status tct_amg_put(tacit_queue *q, size_t count, const int32_t *numbers,
                         double **out);
/* The same of doubles. */
tacit_status tct_amg_put_values(tacit_queue *q, size_t count,
                                const double *values, double **out);

/* --- precision.c ---------------------------------------------------------- */

typedef enum { TCT_AUTO_BITS, TCT_FLOATS, TCT_DOUBLES } tct_amg_precision;

/* Of smooth vectors w'A w and |w|'|A| |w|. */
bool tct_amg_floats_are_harmless(double energy, double size);
/* All values of `m` (tct_rounded), in place. */
void tct_amg_round(tacit_matrix *m);
/* Does rounding leave w'A w, of each of the smooth vectors `w` [rows][vectors]
 * (NULL: ones), as it is? Collective. */
tacit_status tct_amg_floats_will_do(const tacit_matrix *m, const double *w,
                                    int vectors, bool *out);

/* --- smoother.c ----------------------------------------------------------- */

typedef enum { TCT_CHEBYSHEV, TCT_JACOBI, TCT_L1_JACOBI } tct_amg_kind;

/* How to smooth: by a polynomial of D^-1 A for an interval that begins at the
 * largest eigenvalue over `ratio`, or by as many sweeps. */
typedef struct tct_amg_smoothing {
    tct_amg_kind kind;
    int degree;
    double ratio;
} tct_amg_smoothing;

/* What steps have in `c`: alpha and beta each; behind them, of a polynomial's
 * second step where the first was x = d b: x = (1 + beta) x + ... */
enum {
    TCT_AMG_DEGREE_MOST = 16,
    TCT_AMG_COEFFICIENTS = 2 * (TCT_AMG_DEGREE_MOST + 1)
};

/* x = x + S (b - A x), S symmetric. */
typedef struct tct_amg_smoother {
    const tacit_operator *A;
    tct_amg_smoothing how;
    double largest; /* the end of the interval               */
    double *d;      /* [n] D^-1 times the first coefficient  */
    double *c;      /* alpha and beta of each step           */
    double *t;      /* [n + 1] a product, and a sum; as y, b and x of a
                       level the first of as many as there are columns */
    double *y;      /* [n] takes turns with x                */
} tct_amg_smoother;

/* Collective.  Borrows `A`.  Errors NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_smoother_create(const tacit_operator *A,
                                     const tct_amg_rows *rows,
                                     tct_amg_smoothing how,
                                     tct_amg_smoother *out);
void tct_amg_smoother_free(tacit_queue *q, tct_amg_smoother *S);
/* What S->c begins with, into `c` [TCT_AMG_COEFFICIENTS] of the host. */
void tct_amg_coefficients(const tct_amg_smoother *S, double *c);

/* Of two vectors that take turns, the one `steps` before x. */
static inline double *tct_amg_phase(int steps, double *x, double *y)
{
    return steps % 2 ? y : x;
}
/* x = S b; `y` [n] is scratch. */
void tct_amg_smooth_zero(const tct_amg_smoother *S, tacit_queue *q,
                         const double *b, double *x, double *y);
/* x = z + S (b - A z), *dot = (b, x) unless it is NULL; z is x, or S->y where
 * the degree is odd. */
void tct_amg_smooth(const tct_amg_smoother *S, tacit_queue *q, const double *b,
                    double *x, double *dot);

/* --- largest.c ------------------------------------------------------------ */

/* The largest eigenvalue of D^-1 A, `inverse` being D^-1 [n] on the device,
 * from below, as some steps of Lanczos's method find it; 0 where A is not
 * positive. Collective. */
tacit_status tct_amg_spectral_bound(const tacit_operator *A,
                                    const double *inverse, double *out);
/* Some steps of cg with the cycle from `L` on, M: the largest eigenvalue of M
 * A, and by how much the square of the error's norm of A has become smaller.
 * Collective.  Errors NO_MEMORY, whatever the queue has met. */
struct tct_amg;
struct tct_amg_level;
tacit_status tct_amg_try(const struct tct_amg *M, const struct tct_amg_level *L,
                         double *largest, double *nearer);

/* --- moves.c -------------------------------------------------------------- */

/* From the ranks that have made the rows of a level to those that keep them,
 * and back. The rows keep their numbers. */
typedef struct tct_amg_redistribution {
    int64_t *from, *to; /* [ranks + 1] first row of each; NULL: rows stay */
    tct_plan *there, *back;
} tct_amg_redistribution;

/* Move the rows of `m`, of which `width` stay together, to fewer ranks where
 * each has few entries; what is `small`, to be inverted, to all; unless a rank
 * got more than its `room` rows. As `as` [ranks + 1] says, if it is not NULL.
 * `out` is empty before, and to be freed, also after an error.
 * Collective.  Errors as tct_redistribute. */
tacit_status tct_amg_move(tacit_matrix *m, int width, bool small, int64_t room,
                          const int64_t *as, tct_amg_redistribution *out);
/* The same for what *values has, `words` of each row, made anew.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_amg_move_values(tacit_world *w,
                                 const tct_amg_redistribution *redistribution,
                                 int words, double **values);
/* Plan messages of as many vectors at once.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status
tct_amg_redistribution_columns(tct_amg_redistribution *redistribution,
                               tacit_queue *q, int columns);
void tct_amg_redistribution_free(tct_amg_redistribution *redistribution);
/* y = x, on other ranks */
void tct_amg_send(tct_plan *plan, tacit_queue *q, const double *x, double *y);

/* --- shares.c ------------------------------------------------------------- */

struct tct_aggregates;

/* Of a vector of aggregates [made + sent]: sums of rows whose aggregates other
 * ranks keep stand behind those of the aggregates that this rank keeps. */
typedef struct tct_amg_remote {
    int width;     /* elements of an aggregate                                */
    int64_t made;  /* elements of the aggregates that this rank keeps         */
    tct_halo halo; /* of the others that it has rows of; without a world there
                      are none on any rank                                    */
    tct_plan *there, *back;
    tct_sets sets; /* what comes in, of elements that there is some of */
    double *ptr, *list,
        *of; /* numbers; of[made]: the set of each, -1         */
    double *ones, *zeros, *sum;
} tct_amg_remote;

/* `out` is empty before, and to be freed, also after an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_remote_create(tacit_queue *q,
                                   const struct tct_aggregates *G,
                                   tct_amg_remote *out);
void tct_amg_remote_free(tacit_queue *q, tct_amg_remote *S);
/* Elements that go to other ranks, and that come in. */
static inline int64_t tct_amg_sent(const tct_amg_remote *S)
{
    return S->halo.ghosts.count * S->width;
}
static inline int64_t tct_amg_received(const tct_amg_remote *S)
{
    return S->halo.shared * S->width;
}
/* As tct_amg_redistribution_columns. */
tacit_status tct_amg_remote_columns(tct_amg_remote *S, tacit_queue *q,
                                    int columns);
/* Add shares to the aggregates of `v`, on the ranks that keep these; and give
 * to shares what their aggregates have. */
void tct_amg_add_remote(const tct_amg_remote *S, tacit_queue *q, double *v);
void tct_amg_scatter(const tct_amg_remote *S, tacit_queue *q, double *v);

/* --- transfer.c ----------------------------------------------------------- */

/* P, a column an aggregate; its rows are those of a level in the order of its
 * operator. */
typedef struct tct_amg_transfer {
    tct_sets sets;
    double *ptr, *list, *of; /* numbers on the device   */
    double *weight, *listed; /* of the rows; in the order of `list` */
    tct_amg_remote remote;   /* behind those that this rank keeps   */
    tct_amg_redistribution
        redistribution; /* of aggregates' rows                 */
} tct_amg_transfer;

/* All but `shares` and `moves`.
 * Local.  Errors NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_transfer_create(tacit_queue *q, const tct_order *order,
                                     const struct tct_aggregates *G,
                                     tct_amg_transfer *out);
/* What it was made of, but for the smooth vectors; to be freed, also after a
 * failure. Errors NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_transfer_recall(tacit_queue *q, const tct_order *order,
                                     int64_t rows, const tct_amg_transfer *T,
                                     struct tct_aggregates *out);
/* Elements of what is restricted: rows of the next level that this rank makes,
 * and shares. */
static inline int64_t tct_amg_restricted(const tct_amg_transfer *T)
{
    return T->sets.count * T->sets.width;
}
void tct_amg_transfer_free(tacit_queue *q, tct_amg_transfer *T);

/* --- alone.c -------------------------------------------------------------- */

struct tct_amg;

/* The last levels of all ranks on this one, and its own line for them. */
typedef struct tct_amg_replicated {
    tacit_world *world; /* this rank alone */
    tacit_queue *q;
    tacit_operator *A;
    struct tct_amg *M; /* whose `bottom` is all of it; NULL: there are none */
} tct_amg_replicated;

/* From the level on whose matrix is `m`, SPD, with what is `smooth` there
 * [rows] (NULL on all ranks: ones). out->M is NULL where they cannot be had.
 * `out` is empty before, and after an error.
 * Collective.  Errors INPUT, DEVICE, COMM, NO_MEMORY. */
tacit_status tct_amg_replicated_create(const struct tct_amg *M,
                                       const tacit_matrix *m,
                                       const double *smooth,
                                       tct_amg_replicated *out);
void tct_amg_replicated_free(tct_amg_replicated *alone);

/* --- coarsest.c ----------------------------------------------------------- */

/* The inverse of a small matrix, dense, of which each rank has its rows; or a
 * visit to levels of which each has all. The right-hand side of all ranks is
 * gathered before. */
typedef struct tct_amg_coarsest {
    int64_t rows;
    int exponent; /* it is the inverse of the matrix times 2^-exponent */
    int bits;     /* of its values */
    tct_block *block;
    double *visited; /* what the block comes to, of all ranks; NULL: x   */
    tct_plan *plan;  /* NULL: this rank alone */
    double *all;     /* right-hand sides, of all ranks */
    int64_t *starts; /* [ranks + 1] first row of each */
    const tct_order *order; /* of vectors; NULL: that of the matrix */
} tct_amg_coarsest;

/* Vectors are in `order`, which outlives it, or in that of `m` (NULL).
 * *positive false: the matrix is not positive definite as rounded, and there is
 * no inverse.
 * Collective.  Errors NO_MEMORY, DEVICE, COMM. */
tacit_status tct_amg_coarsest_create(tacit_queue *q, const tacit_matrix *m,
                                     const tct_order *order,
                                     tct_amg_precision precision,
                                     tct_amg_coarsest *out, bool *positive);
/* By the visit of `alone`, which outlives it.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_coarsest_visit(tacit_queue *q, const tacit_matrix *m,
                                    const tct_amg_replicated *alone,
                                    tct_amg_coarsest *out);
void tct_amg_coarsest_free(tacit_queue *q, tct_amg_coarsest *C);
/* Let solves be of `columns` systems.  Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_coarsest_columns(tct_amg_coarsest *C, tacit_queue *q,
                                      int columns);
/* x = A^-1 b */
void tct_amg_coarsest_solve(const tct_amg_coarsest *C, tacit_queue *q,
                            const double *b, double *x);

/* --- levels.c ------------------------------------------------------------- */

enum { TCT_AMG_LEVELS_MOST = 40 };

typedef struct tct_amg_level {
    const tacit_operator *A;   /* NULL where the inverse is at hand */
    tacit_operator *own;       /* it, but the matrix's as it is     */
    tct_amg_smoother smoother; /* ... the only one, of the last level */
    tct_amg_transfer down;     /* P' to the next level, and P back  */
    double *smooth;            /* P' of the smooth vectors, on the host; NULL:
                                  a device has made P                   */
    double factor;             /* of what comes back                */
    int exponent;              /* what is stored is A times 2^-exponent */
    int64_t n;
    int64_t first;   /* row of all, where the host has made it            */
    int64_t *index;  /* [n] or NULL: see tct_aggregate                    */
    int64_t room;    /* n, and shares of the level above that come here   */
    double *b, *x;   /* [room] right-hand side and correction; finest: NULL */
    double *b2, *x2; /* [n] of a second visit                            */
    double *e;       /* [restricted] what goes to those who keep the next
                        level and comes back; NULL: rows stay             */
    double *c;       /* scalars of a K-cycle; NULL: none begins here     */
    double *kept;    /* its matrix once more, for bottom.c (there.h: csr);
                        NULL: it is not */
    tacit_precond_level about;
} tct_amg_level;

typedef struct tct_amg {
    tacit_operator base;
    int levels;
    tct_amg_level level[TCT_AMG_LEVELS_MOST];
    bool direct; /* the last level is solved by `coarsest` */
    tct_amg_coarsest coarsest;
    tct_amg_replicated
        alone; /* the last level, and those behind it; or nothing */
    const struct tct_amg *part_of; /* while it is made: of all ranks, with all
                                      levels in `bottom`, for its queue */
    bool twice;                    /* cycle W */
    int krylov;                    /* cycle K: so many levels begin one */
    double overcorrection;         /* coarse corrections are too short      */
    tct_amg_smoothing smoothing;
    int levels_most;
    tct_amg_precision precision;
    int columns;      /* that a cycle may be of                           */
    double *panel;    /* where t, y, b and x of all levels are; NULL: each by
                      itself, of one column                              */
    int vectors;      /* near-null, of P; 0: a row has one element of it */
    bool given;       /* smooth vectors are others than ones             */
    bool there;       /* a device has made levels                        */
    bool loose;       /* no row of the last level depends on another     */
    const char *why;  /* there is no other level; NULL: the last is small */
    tct_block *fused; /* its product is a visit to level `fused_from`, from
                          b to x; NULL: each operation is enqueued */
    int fused_from;
    tacit_precond_info about;
    size_t asked; /* of `detail`, what was asked for */
    char detail[160], end[96];
} tct_amg;

/* The operator of a coarse level.
 * Collective.  Errors as tacit_operator_create. */
tacit_status tct_amg_operator_of(tacit_queue *q, const tacit_matrix *m,
                                 tacit_operator **out);

/* --- update.c ------------------------------------------------------------- */

/* A hierarchy without levels, that wishes what `M` does; NULL: no memory. */
tct_amg *tct_amg_like(const tct_amg *M);

/* --- describe.c ----------------------------------------------------------- */

/* Fill M->about, and how many bytes each level has.
 * Collective.  Errors COMM. */
tacit_status tct_amg_describe(tct_amg *M);

/* --- overcorrect.c -------------------------------------------------------- */

/* By how much corrections are made longer at first (cycle.c). */
double tct_amg_overcorrection(const tct_amg *M);

/* Make over-correction of a cycle V smaller where that is better.
 * Collective.  Errors NO_MEMORY, whatever the queue has met. */
tacit_status tct_amg_overcorrect(tct_amg *M);

/* --- levels.c ------------------------------------------------------------- */

/* The levels of `M`, whose wishes are set, for A; with the P of `as`, NULL: of
 * none, which it shares then, down to as many levels at most.
 * Collective.  Errors INPUT, UNSUPPORTED, NO_MEMORY, DEVICE, COMM. */
tacit_status tct_amg_build(tct_amg *M, const tacit_operator *A,
                           const tct_precond_source *from, const tct_amg *as);
void tct_amg_clear(tct_amg *M);

/* --- columns.c ------------------------------------------------------------ */

/* See tct_operator_columns and for_batch of tct_operator_ops. On a GPU cycles
 * are of one column, and so is cycle K, which has scalars of its own. */
tacit_status tct_amg_columns(tacit_operator *M, int columns);
bool tct_amg_for_batch(const tacit_operator *M, const tacit_queue *q);
/* Before levels are freed: what they have in panels. */
void tct_amg_columns_clear(tct_amg *M);

/* --- update.c ------------------------------------------------------------- */

/* See tacit_precond_update. */
tacit_status tct_amg_renew(tacit_operator *M, const tacit_matrix *matrix);

/* --- cycle.c -------------------------------------------------------------- */

/* x = M b of the levels from `L` on, *dot = (b, x) of this rank; `dot` NULL: it
 * is not wanted. */
void tct_amg_cycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L,
                   const double *b, double *x, double *dot);

/* --- kcycle.c ------------------------------------------------------------- */

enum { TCT_AMG_KRYLOV = 2 }; /* levels behind the first that begin one */

/* The same from L->b to L->x, of a level that is not the last one, by two steps
 * of flexible cg with that cycle as their preconditioner. */
void tct_amg_kcycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L);
/* What such a correction is multiplied by. */
double tct_amg_kfactor(const tct_amg *M);

#endif
