/* SPDX-License-Identifier: BSD-3-Clause
 * factor/branches.h - subtrees of a factor's panels that threads sweep by
 * themselves. They are the same for any number of threads, and so are sums. */
#ifndef TCT_FACTOR_BRANCHES_H
#define TCT_FACTOR_BRANCHES_H
#include <tacit/factor.h>

/* Branch b is panels [first[b], end[b]), whole subtrees; what it adds to rows
 * above it, row[start[b]] to row[start[b + 1] - 1], stands in a place of its
 * own: as rows from P->rows + start[b] on. */
typedef struct tct_branches {
    int32_t count;        /* 0: panels are swept one after the other        */
    int32_t *first, *end; /* [count] ascending                              */
    int64_t *start;       /* [count + 1]                                    */
    int32_t *row;         /* [start[count]] ascending in a branch           */
    int64_t *listed;      /* [panels] the rows below its columns begin at
                             list + listed[K]; -1: they are the factor's     */
    int32_t *list; /* rows of panels, those above their branch in its place */
    double bytes;
} tct_branches;

/* Those of `P`, which has been checked; none where it is small, or where a row
 * of a branch would be in another one.
 * Errors      NO_MEMORY. */
tacit_status tct_branches_create(const tacit_factor_panels *P,
                                 tct_branches *out);
/* Bytes that this takes at most, predicted by rows, panels, and rows of all
 * panels. */
double tct_branches_predict(int64_t rows, int32_t panels, int64_t listed);
void tct_branches_clear(tct_branches *B);

static inline int64_t tct_branches_rows(const tct_branches *B)
{
    return B->count ? B->start[B->count] : 0;
}

#endif
