/* SPDX-License-Identifier: BSD-3-Clause
 * operator/choice/min_of_n.h - the least of n times. A disturbance adds a
 * varying amount to a time: a least time that was measured twice is
 * believed. */
#ifndef TCT_OPERATOR_CHOICE_MIN_OF_N_H
#define TCT_OPERATOR_CHOICE_MIN_OF_N_H
#include <stdbool.h>

typedef struct tct_min_of_n {
    int count;
    double seconds, next; /* the least, and the next */
} tct_min_of_n;

static inline void tct_min_of_n_note(tct_min_of_n *l, double seconds)
{
    const bool less = l->count == 0 || seconds < l->seconds;
    if (less) l->next = l->seconds;
    if (l->count == 1 && !less) l->next = seconds;
    if (l->count > 1 && !less && seconds < l->next) l->next = seconds;
    if (less) l->seconds = seconds;
    l->count++;
}

static inline bool tct_min_of_n_is_sure(const tct_min_of_n *l)
{
    return l->count > 1 && l->next <= 1.05 * l->seconds;
}

#endif
