/* SPDX-License-Identifier: BSD-3-Clause
 * precond/amg/levels.h - a hierarchy that grows level by level (levels.c), and
 * the tables of what makes a level: the host or a device, with new aggregates
 * or again with those of another hierarchy. */
#ifndef TCT_PRECOND_AMG_LEVELS_H
#define TCT_PRECOND_AMG_LEVELS_H
#include "precond/amg/aggregation/coarsen.h"
#include "precond/amg/device/device_setup.h"

struct tct_amg_maker;

typedef struct tct_amg_growth {
    tct_amg *M;
    const tct_amg *as;       /* whose P are used; NULL: new ones */
    const tacit_operator *A; /* finest */
    const struct tct_amg_maker *make;
    const tacit_matrix *m;       /* current level; NULL: on the device only */
    tacit_matrix *own;           /* owned, or NULL: the user's */
    double *smooth;              /* [its rows], NULL: ones */
    int64_t *index;              /* [its rows], see tct_aggregate */
    tct_near_null near;          /* several smooth vectors */
    tct_amg_device *device;      /* NULL: on the host */
    int64_t first;               /* of the level: own rows */
    int64_t rows, all, nonzeros; /* own rows, all rows */
    double entries;              /* of all levels */
    bool loose;                  /* diagonal matrix */
    bool floats;                 /* current level has float values */
} tct_amg_growth;

/* The next level; NULL members: on the device. */
typedef struct tct_amg_next {
    tct_aggregates G;
    tacit_matrix *matrix;
    tct_amg_redistribution redistribution; /* of its rows */
    int64_t rows, all, nonzeros;
    int rounds;
    bool positive, found;
} tct_amg_next;

/* In the order of their calls for a level. */
typedef struct tct_amg_maker {
    const char *where; /* for the log */
    /* Sizes, aggregates and matrix of the next level. Collective. */
    tacit_status (*coarsen)(tct_amg_growth *g, tct_amg_next *next);
    /* Do floats suffice on the current level? Collective. */
    tacit_status (*floats)(const tct_amg_growth *g, bool *out);
    /* L->own: a view of the finest operator, or a coarse one. */
    tacit_status (*view)(const tct_amg_growth *g, tct_amg_level *L);
    tacit_status (*coarse)(const tct_amg_growth *g, tct_amg_level *L);
    tacit_status (*rows)(const tct_amg_growth *g, const tct_amg_level *L,
                         tct_amg_rows *out);
    /* The parts of fused coarse levels. */
    tacit_status (*keep)(const tct_amg_growth *g, tct_amg_level *L);
    /* P to the next level. Collective. */
    tacit_status (*transfer)(tct_amg_growth *g, tct_amg_next *next,
                             tct_amg_level *L);
    /* The next level is the current one from now on; matrix and smooth vectors
     * are taken over. Collective. */
    tacit_status (*descend)(tct_amg_growth *g, tct_amg_next *next);
    /* The current level is the last: it is the host's. */
    tacit_status (*leave)(tct_amg_growth *g);
} tct_amg_maker;

extern const tct_amg_maker tct_amg_on_host, tct_amg_on_host_again,
    tct_amg_on_device, tct_amg_on_device_again;

/* --- growth.c ------------------------------------------------------------- */

static inline bool tct_amg_is_finest(const tct_amg_growth *g)
{
    return g->M->levels == 1;
}
/* The current level, the last so far. */
static inline tct_amg_level *tct_amg_current(const tct_amg_growth *g)
{
    return &g->M->level[g->M->levels - 1];
}
/* The same level of the hierarchy whose P are used. */
static inline const tct_amg_level *tct_amg_model(const tct_amg_growth *g)
{
    return &g->as->level[g->M->levels - 1];
}
/* Use P of that level. */
void tct_amg_borrow_transfer(const tct_amg_growth *g, tct_amg_level *L);
/* Sizes of the current level. */
void tct_amg_set_size(tct_amg_growth *g, const tacit_matrix *m);
/* Will a matrix of so many rows be inverted? */
bool tct_amg_is_small(const tct_amg_growth *g, int64_t rows);
/* The hierarchy of all ranks. */
const tct_amg *tct_amg_whole(const tct_amg_growth *g);

/* Smooth vectors of the finest level: as `o` says, or recovered from g->as, in
 * the range of P.
 * Collective.  Errors NO_MEMORY, INVALID. */
tacit_status tct_amg_open_smooth(tct_amg_growth *g,
                                 const tct_near_null_options *o);
tacit_status tct_amg_recall_smooth(tct_amg_growth *g);
/* The aggregates of a level of g->as; free them also after a failure.
 * Local.  Errors NO_MEMORY. */
tacit_status tct_amg_recall(const tct_amg_growth *g, int level,
                            tct_aggregates *G);
/* Copy P' of the smooth vectors.  Errors NO_MEMORY. */
tacit_status tct_amg_copy_smooth(const tct_aggregates *G, const double *from,
                                 double **out);

#endif
