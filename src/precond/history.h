/* SPDX-License-Identifier: BSD-3-Clause
 * precond/history.h - the caller's history of residuals. */
#ifndef TCT_PRECOND_HISTORY_H
#define TCT_PRECOND_HISTORY_H
#include <math.h>
#include <tacit/solver.h>

/* Note the residual of iteration `k` for column `column`, from 0; `*count` are
 * the elements that are set. Iterations come in order. */
static inline void tct_history_note(const tacit_stop *stop, int column,
                                    int64_t k, double residual, int64_t *count)
{
    if (!stop->history || k >= stop->history_room) return;
    double *of = stop->history + column * stop->history_room;
    while (*count < k) of[(*count)++] = (double)NAN;
    of[k] = residual;
    *count = k + 1;
}

/* Tolerances, limits, monitors and the history of `stop`; column_monitor counts
 * if it is `of_block`.
 * Errors    INVALID. */
tacit_status tct_stop_check(const tacit_stop *stop, bool of_block);

#endif
