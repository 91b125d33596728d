/* SPDX-License-Identifier: BSD-3-Clause
 * factor/branches.h - subtrees of a factor's panels that threads sweep
 * independently. They do not depend on the number of threads; nor do sums. */
#ifndef TCT_FACTOR_BRANCHES_H
#define TCT_FACTOR_BRANCHES_H
#include <tacit/factor.h>

/* Branch b has panels [first[b], end[b]), whole subtrees. Its contributions to
 * the rows above it, row[start[b]] to row[start[b + 1] - 1], are kept in its
 * own buffer, addressed as rows P->rows + start[b] and up. */
typedef struct tct_branches {
    int32_t count;        /* 0: panels are swept sequentially               */
    int32_t *first, *end; /* [count] ascending                              */
    int64_t *start;       /* [count + 1]                                    */
    int32_t *row;         /* [start[count]] ascending within a branch       */
    int64_t *listed;      /* [panels] rows below the columns: list +
                           * listed[K]; -1: the factor's list */
    int32_t *list;        /* row lists with buffer addresses for rows above the
                    * branch */
    double bytes;
} tct_branches;

/* Find the branches of `P`, which has been checked; none if it is small or if
 * branches share rows.
 * Errors      NO_MEMORY. */
tacit_status tct_branches_create(const tacit_factor_panels *P,
                                 tct_branches *out);
/* Predicted upper bound of the bytes, from rows, panels and the rows of all
 * panels. */
double tct_branches_predict(int64_t rows, int32_t panels, int64_t listed);
void tct_branches_clear(tct_branches *B);

static inline int64_t tct_branches_rows(const tct_branches *B)
{
    return B->count ? B->start[B->count] : 0;
}

#endif
