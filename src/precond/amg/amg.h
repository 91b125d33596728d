/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/amg.h - algebraic multigrid by aggregation: a hierarchy of ever
 * smaller matrices A, P'A P, ..., and a cycle through them that takes a
 * residual to a correction. The smoother of a level reduces the rough part of
 * the error, the next level the smooth part.
 *
 *     amg.c          the table of the preconditioner
 *     levels.c       set-up of the hierarchy, by host_levels.c or
 *                    device/device_levels.c (levels.h)
 *     update.c       the same aggregates for other values
 *     options.c      their table
 *     describe.c     the report
 *     precision.c    values stored as floats
 *     rows.c         row data for smoothers
 *     aggregation/   which rows make an aggregate (coarsen.h)
 *     galerkin/      P' A P
 *     systems/       several smooth vectors, nodes of several rows
 *     device/        set-up on a device (device_setup.h)
 *     cycle/         the cycle, smoothers, transfer, coarse levels */
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

/* Data of each row of a level [n], in the order and storage of its operator:
 * the diagonal and the sum of |a|. */
typedef struct tct_amg_rows {
    double *diagonal, *sum;
    double bound;       /* Gershgorin bound of D^-1 A, this rank's */
    tacit_queue *queue; /* owner of the memory; NULL: host */
} tct_amg_rows;

/* Errors      INPUT (row and value of a diagonal entry <= 0), NO_MEMORY.
 *             Local. */
tacit_status tct_amg_rows_of(const tacit_matrix *m, const tct_order *order,
                             int exponent, tct_amg_rows *out);
void tct_amg_rows_free(tct_amg_rows *rows);

/* Upload the numbers [count] into memory of doubles. */
tacit_status tct_amg_put(tacit_queue *q, size_t count, const int32_t *numbers,
                         double **out);
/* Upload doubles. */
tacit_status tct_amg_put_values(tacit_queue *q, size_t count,
                                const double *values, double **out);

/* --- precision.c ---------------------------------------------------------- */

typedef enum { TCT_AUTO_BITS, TCT_FLOATS, TCT_DOUBLES } tct_amg_precision;

/* `energy` w'A w and `size` |w|'|A| |w| of a smooth vector. */
bool tct_amg_floats_are_harmless(double energy, double size);
/* Round all values of `m` in place (tct_rounded). */
void tct_amg_round(tacit_matrix *m);
/* Does rounding keep w'A w of each smooth vector in `w` [rows][vectors] (NULL:
 * ones)? Collective. */
tacit_status tct_amg_floats_will_do(const tacit_matrix *m, const double *w,
                                    int vectors, bool *out);

/* --- smoother.c ----------------------------------------------------------- */

typedef enum { TCT_CHEBYSHEV, TCT_JACOBI, TCT_L1_JACOBI } tct_amg_kind;

/* The smoother: a polynomial of D^-1 A on [largest eigenvalue / ratio, largest
 * eigenvalue], or Jacobi sweeps. */
typedef struct tct_amg_smoothing {
    tct_amg_kind kind;
    int degree;
    double ratio;
} tct_amg_smoothing;

/* Layout of `c`: alpha and beta of each step, then those of a polynomial's
 * second step after a first step x = d b: x = (1 + beta) x + ... */
enum {
    TCT_AMG_DEGREE_MOST = 16,
    TCT_AMG_COEFFICIENTS = 2 * (TCT_AMG_DEGREE_MOST + 1)
};

/* x = x + S (b - A x), S symmetric. */
typedef struct tct_amg_smoother {
    const tacit_operator *A;
    tct_amg_smoothing how;
    double largest; /* upper end of the interval             */
    double *d;      /* [n] D^-1 times the first coefficient  */
    double *c;      /* alpha and beta of each step           */
    double *t;      /* [n + 1] a product and a sum; t, y, b and x are the
                     * first of several columns */
    double *y;      /* [n] alternates with x                 */
} tct_amg_smoother;

/* Collective.  Borrows `A`. Errors NO_MEMORY, any error of the queue. */
tacit_status tct_amg_smoother_create(const tacit_operator *A,
                                     const tct_amg_rows *rows,
                                     tct_amg_smoothing how,
                                     tct_amg_smoother *out);
void tct_amg_smoother_free(tacit_queue *q, tct_amg_smoother *S);
/* The initial contents of S->c, into `c` [TCT_AMG_COEFFICIENTS] on the host. */
void tct_amg_coefficients(const tct_amg_smoother *S, double *c);

/* Of the two alternating vectors, the one that holds the iterate `steps` steps
 * before x. */
static inline double *tct_amg_phase(int steps, double *x, double *y)
{
    return steps % 2 ? y : x;
}
/* x = S b; `y` [n] is scratch. */
void tct_amg_smooth_zero(const tct_amg_smoother *S, tacit_queue *q,
                         const double *b, double *x, double *y);
/* x = z + S (b - A z), *dot = (b, x) unless NULL; z is x, or S->y for odd
 * degrees. */
void tct_amg_smooth(const tct_amg_smoother *S, tacit_queue *q, const double *b,
                    double *x, double *dot);

/* --- spectral_bound.c ----------------------------------------------------- */

/* Lower estimate of the largest eigenvalue of D^-1 A by some Lanczos steps, on
 * the host, or of many rows, fewer if they find one of at least `enough`;
 * `inverse` is D^-1 [n] on the device. 0 where A is not positive.
 * Collective. */
tacit_status tct_amg_spectral_bound(const tacit_operator *A,
                                    const double *inverse, double enough,
                                    double *out);
/* Some steps of cg with the cycle M from level `L` on. */
typedef struct tct_amg_trial {
    double largest; /* eigenvalue of M A found                           */
    double nearer;  /* decrease of the squared A-norm of the error       */
    double left;    /* last (r, M r) over the first                      */
    int steps;      /* made: fewer than asked for where r became 0       */
} tct_amg_trial;
/* `steps` is at most 12.
 * Collective.  Errors NO_MEMORY, whatever the queue has met. */
struct tct_amg;
struct tct_amg_level;
tacit_status tct_amg_try(const struct tct_amg *M, const struct tct_amg_level *L,
                         int steps, tct_amg_trial *out);

/* --- cycle/level_redistribution.c ----------------------------------------- */

/* From the ranks that made the rows of a level to the ranks that keep them, and
 * back. Row numbers stay. */
typedef struct tct_amg_redistribution {
    int64_t *from, *to; /* [ranks + 1] first row of each; NULL: rows stay */
    tct_plan *forward, *back;
} tct_amg_redistribution;

/* Move the rows of `m`, in groups of `width`, to fewer ranks if each has few
 * entries; a `small` matrix, which will be inverted, is spread over all ranks.
 * Nothing moves if a rank got more than `room` rows. `as` [ranks + 1], if not
 * NULL, prescribes the distribution. `out` is empty on entry; free it also
 * after an error.
 * Collective.  Errors as tct_redistribute. */
tacit_status tct_amg_move(tacit_matrix *m, int width, bool small, int64_t room,
                          const int64_t *as, tct_amg_redistribution *out);
/* Move `words` values a row in the same way; *values is reallocated.
 * Collective.  Errors NO_MEMORY. */
tacit_status tct_amg_move_values(tacit_world *w,
                                 const tct_amg_redistribution *redistribution,
                                 int words, double **values);
/* Plan messages for `columns` vectors.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status
tct_amg_redistribution_columns(tct_amg_redistribution *redistribution,
                               tacit_queue *q, int columns);
void tct_amg_redistribution_free(tct_amg_redistribution *redistribution);
/* y = x, on the new ranks */
void tct_amg_send(tct_plan *plan, tacit_queue *q, const double *x, double *y);

/* --- cycle/remote_aggregates.c -------------------------------------------- */

struct tct_aggregates;

/* The layout of an aggregate vector [made + sent]: elements of own aggregates,
 * then this rank's partial sums for aggregates of other ranks. */
typedef struct tct_amg_remote {
    int width;     /* elements of an aggregate                                */
    int64_t made;  /* elements of own aggregates                              */
    tct_halo halo; /* of the other ranks' aggregates with rows here; no world
                    * if no rank has any */
    tct_plan *forward, *back;
    tct_sets sets; /* partial sums received, grouped by target element */
    double *ptr, *list,
        *of; /* numbers; of[made]: set of each, -1             */
    double *ones, *zeros, *sum;
} tct_amg_remote;

/* `out` is empty on entry; free it also after an error.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_remote_create(tacit_queue *q,
                                   const struct tct_aggregates *G,
                                   tct_amg_remote *out);
void tct_amg_remote_free(tacit_queue *q, tct_amg_remote *S);
/* Elements sent to and received from other ranks. */
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
/* Add the partial sums to their aggregates in `v`, and send aggregate values
 * back to their place. */
void tct_amg_add_remote(const tct_amg_remote *S, tacit_queue *q, double *v);
void tct_amg_scatter(const tct_amg_remote *S, tacit_queue *q, double *v);

/* --- transfer.c ----------------------------------------------------------- */

/* P has one column (or `width`) per aggregate; its rows are in the order of the
 * level's operator. */
typedef struct tct_amg_transfer {
    tct_sets sets;
    double *ptr, *list, *of; /* indices on the device   */
    double *weight, *listed; /* by row; by `list` */
    tct_amg_remote remote;   /* remote aggregates, after own ones   */
    tct_amg_redistribution
        redistribution; /* of aggregates' rows                 */
} tct_amg_transfer;

/* Creates all but `remote` and `redistribution`.
 * Local.  Errors NO_MEMORY, any error of the queue. */
tacit_status tct_amg_transfer_create(tacit_queue *q, const tct_order *order,
                                     const struct tct_aggregates *G,
                                     tct_amg_transfer *out);
/* Recover the aggregates it was made of, without smooth vectors; free them also
 * after a failure. Errors NO_MEMORY, any error of the queue. */
tacit_status tct_amg_transfer_recall(tacit_queue *q, const tct_order *order,
                                     int64_t rows, const tct_amg_transfer *T,
                                     struct tct_aggregates *out);
/* Elements of a restricted vector: own rows of the next level and partial
 * sums. */
static inline int64_t tct_amg_restricted(const tct_amg_transfer *T)
{
    return T->sets.count * T->sets.width;
}
void tct_amg_transfer_free(tacit_queue *q, tct_amg_transfer *T);

/* --- cycle/replicated_coarse.c -------------------------------------------- */

struct tct_amg;

/* The coarse levels of all ranks replicated on this one, with a queue of their
 * own. */
typedef struct tct_amg_replicated {
    tacit_world *world; /* of this rank only */
    tacit_queue *q;
    tacit_operator *A;
    struct tct_amg *M; /* its `fused` is all of it; NULL: none */
} tct_amg_replicated;

/* From the level with the SPD matrix `m` on; its smooth vector is `smooth`
 * [rows] (NULL on all ranks: ones). out->M is NULL if they cannot be made.
 * `out` is empty on entry and after an error.
 * Collective.  Errors INPUT, DEVICE, COMM, NO_MEMORY. */
tacit_status tct_amg_replicated_create(const struct tct_amg *M,
                                       const tacit_matrix *m,
                                       const double *smooth,
                                       tct_amg_replicated *out);
void tct_amg_replicated_free(tct_amg_replicated *alone);

/* --- cycle/coarsest_solve.c ----------------------------------------------- */

/* The coarsest solve: the dense inverse of a small matrix, distributed by rows,
 * or a visit to replicated levels. The right-hand side of all ranks is gathered
 * first. */
typedef struct tct_amg_coarsest {
    int64_t rows;
    int exponent; /* the inverse is that of 2^-exponent A */
    int bits;     /* of its values */
    tct_block *block;
    double *visited; /* result of all ranks; NULL: x                     */
    tct_plan *plan;  /* NULL: one rank */
    double *all;     /* right-hand sides of all ranks */
    int64_t *starts; /* [ranks + 1] first row of each */
    const tct_order *order; /* of vectors; NULL: the matrix's */
} tct_amg_coarsest;

/* Vectors are in the order of the operator `finest`, which is borrowed, and the
 * inverse is to its scale; NULL: in that of `m`, a coarse matrix.
 * *positive false: the rounded matrix is not positive definite; no inverse is
 * made.
 * Collective.  Errors NO_MEMORY, DEVICE, COMM. */
tacit_status tct_amg_coarsest_create(tacit_queue *q, const tacit_matrix *m,
                                     const tacit_operator *finest,
                                     tct_amg_precision precision,
                                     tct_amg_coarsest *out, bool *positive);
/* Solve by a visit to `alone`, which is borrowed.
 * Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_coarsest_visit(tacit_queue *q, const tacit_matrix *m,
                                    const tct_amg_replicated *alone,
                                    tct_amg_coarsest *out);
void tct_amg_coarsest_free(tacit_queue *q, tct_amg_coarsest *C);
/* Prepare solves of `columns` systems.  Collective.  Errors NO_MEMORY, COMM. */
tacit_status tct_amg_coarsest_columns(tct_amg_coarsest *C, tacit_queue *q,
                                      int columns);
/* x = A^-1 b */
void tct_amg_coarsest_solve(const tct_amg_coarsest *C, tacit_queue *q,
                            const double *b, double *x);

/* --- levels.c ------------------------------------------------------------- */

enum { TCT_AMG_LEVELS_MOST = 40 };

typedef struct tct_amg_level {
    const tacit_operator *A;   /* NULL if the inverse is used */
    tacit_operator *own;       /* owned operator, unless the matrix's */
    tct_amg_smoother smoother; /* or the only one, of the last level */
    tct_amg_transfer down;     /* to the next level                 */
    double *smooth;            /* P' of the smooth vectors, on the host;
                                * NULL: P is from a device */
    double *blocks;            /* device pattern of the next level's blocks
                                * (device_setup.h), or NULL */
    int64_t block_count;
    double factor; /* of the correction                 */
    int exponent;  /* stored is 2^-exponent A */
    int64_t n;
    int64_t first;   /* global row, if made on the host                   */
    int64_t *index;  /* [n] or NULL: see tct_aggregate                    */
    int64_t room;    /* n + partial sums of the level above               */
    double *b, *x;   /* [room] right-hand side and correction; finest: NULL */
    double *b2, *x2; /* [n] for a second visit, or NULL                  */
    double *e;       /* [restricted] exchanged with the ranks that keep the
                      * next level; NULL: rows stay */
    double *c;       /* scalars of a K-cycle, or NULL                    */
    double *kept;    /* device copy of the matrix for fused_coarse.c, or NULL */
    tacit_precond_level about;
} tct_amg_level;

typedef struct tct_amg {
    tct_precond base;
    int levels;
    tct_amg_level level[TCT_AMG_LEVELS_MOST];
    bool direct; /* the last level uses `coarsest` */
    tct_amg_coarsest coarsest;
    tct_amg_replicated alone;      /* replicated levels, or empty */
    const struct tct_amg *part_of; /* during set-up: the hierarchy of all
                                    * ranks that this one replicates */
    bool twice;                    /* W-cycle */
    int krylov;                    /* K-cycle: levels that begin one */
    bool chooses;                  /* between v and w, during set-up */
    double overcorrection;         /* factor for corrections that are too
                                    * short */
    tct_amg_smoothing smoothing;
    int levels_most;
    tct_amg_precision precision;
    int columns;      /* most columns of a cycle                          */
    double *panel;    /* holds t, y, b and x of all levels; NULL: one column,
                       * each separate */
    int vectors;      /* near-null vectors; 0: one element a row */
    bool given;       /* smooth vectors are not ones                     */
    bool on_device;   /* a device has made levels                        */
    bool loose;       /* the last level is diagonal                      */
    const char *why;  /* why the last level is not small, or NULL */
    tct_block *fused; /* a visit to level `fused_from`, from b to x; NULL:
                       * operations are enqueued one by one */
    int fused_from;
    tacit_precond_info about;
    size_t asked; /* length of `detail` that describes the options */
    char detail[160], end[96];
} tct_amg;

/* Levels above `M` during its set-up, of the hierarchy that it is part of. */
static inline int tct_amg_levels_before(const tct_amg *M)
{
    return M->part_of ? M->part_of->levels - 1 : 0;
}

/* Its options; NULL and 0 are the defaults. */
typedef struct tct_amg_options {
    const char *cycle, *smoother, *precision;
    int degree, levels;
    int node_rows, vectors;
    const double *near_null;                  /* [vectors][rows] */
    const char *near_null_file, *coordinates; /* files           */
} tct_amg_options;

/* --- level_operator.c ----------------------------------------------------- */

/* Create the operator of a coarse level, of dense `blocks`, its values rounded
 * if `floats`.
 * Collective.  Errors as tacit_operator_create. */
tacit_status tct_amg_operator_of(tacit_queue *q, const tacit_matrix *m,
                                 bool blocks, bool floats,
                                 tacit_operator **out);

/* --- update.c ------------------------------------------------------------- */

/* A hierarchy without levels with the options of `M`; NULL: no memory. */
tct_amg *tct_amg_like(const tct_amg *M);

/* --- describe.c ----------------------------------------------------------- */

/* Fill M->about and the bytes of each level.
 * Collective.  Errors COMM. */
tacit_status tct_amg_describe(tct_amg *M);

/* --- options.c ------------------------------------------------------------ */

extern const tct_option tct_amg_table[];
/* See tct_precond_kind. */
tacit_status tct_amg_check(const void *options);
tacit_status tct_amg_load(const tacit_matrix *matrix, void *options,
                          double **vectors);
/* Set the options of `M`, and the beginning of its description. */
void tct_amg_take(tct_amg *M, const tct_amg_options *o);

/* --- cycle/overcorrection.c ----------------------------------------------- */

/* The default factor of coarse corrections (options.c). */
double tct_amg_overcorrection(const tct_amg *M);

/* Set the factors of levels, which are stored times a power of 2. */
void tct_amg_set_factors(tct_amg *M);
/* Reduce the over-correction of a V-cycle where that converges faster.
 * Collective.  Errors NO_MEMORY, any error of the queue. */
tacit_status tct_amg_overcorrect(tct_amg *M);

/* --- levels.c ------------------------------------------------------------- */

/* Build the levels of `M`, whose options are set, for its operator, with smooth
 * vectors as in `smooth`; `as`, if not NULL, lends its P and limits the number
 * of levels.
 * Collective.  Errors INPUT, UNSUPPORTED, NO_MEMORY, DEVICE, COMM. */
tacit_status tct_amg_build(tct_amg *M, const tacit_matrix *matrix,
                           const tct_near_null_options *smooth,
                           const tct_amg *as);

/* --- clear.c -------------------------------------------------------------- */

void tct_amg_clear(tct_amg *M);

/* --- cycle/choice.c ------------------------------------------------------- */

/* With option cycle auto: take cycle w where that is foretold to be faster, as
 * `detail` says then.
 * Collective.  Cost  about 2 iterations, 0.2 where v converges fast.
 * Errors      NO_MEMORY, any error of the queue. */
tacit_status tct_amg_choose(tct_amg *M);

/* --- columns.c ------------------------------------------------------------ */

/* See tct_operator_columns and for_batch of tct_operator_ops. On a GPU, and in
 * a K-cycle, which has scalars of its own, cycles have one column. */
tacit_status tct_amg_columns(tacit_operator *M, int columns);
bool tct_amg_for_batch(const tacit_operator *M, const tacit_queue *q);
/* Release the panels before levels are freed. */
void tct_amg_columns_clear(tct_amg *M);

/* --- update.c ------------------------------------------------------------- */

/* See tacit_precond_update. */
tacit_status tct_amg_renew(tct_precond *M, const tacit_matrix *matrix);

/* --- cycle.c -------------------------------------------------------------- */

/* x = M b by the levels from `L` on, *dot = (b, x) of this rank (`dot` NULL:
 * not needed). */
void tct_amg_cycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L,
                   const double *b, double *x, double *dot);

/* --- kcycle.c ------------------------------------------------------------- */

enum { TCT_AMG_KRYLOV = 2 }; /* levels after the first that begin a K-cycle */

/* x = M b from L->b to L->x, `L` not the last level, by two steps of flexible
 * cg preconditioned by the cycle. */
void tct_amg_kcycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L);
/* The default factor of such a correction. */
double tct_amg_kfactor(const tct_amg *M);

/* --- wcycle.c ------------------------------------------------------------- */

enum { TCT_AMG_TWICE = 2 }; /* levels after the first that a W visits twice */

/* The step s within a visit and the factor of such a correction. */
#define TCT_AMG_WSTEP   (1.0 / 1.4)
#define TCT_AMG_WFACTOR (4.0 * 1.3 / 1.4)

/* x = M b - s M A M b from L->b to L->x, `L` not the last level. */
void tct_amg_wcycle(const tct_amg *M, tacit_queue *q, const tct_amg_level *L);

#endif
