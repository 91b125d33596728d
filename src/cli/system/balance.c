/* SPDX-License-Identifier: BSD-3-Clause
 * cli/system/balance.c - does the Euclidean norm of b - A x look at a few rows
 * alone? */
#include "cli/system/problem.h"
#include <math.h>
#include <stdlib.h>

/* A row of b is large if it is at least this part of the largest; few are at
 * most FEW of all. */
static const double APART = 1e-8, FEW = 0.1;

/* Rows of b that are large, and that are not and not 0. Collective. */
static void count_rows(const cli *c, size_t n, const double *b, double *large,
                       double *small)
{
    double most = 0.0;
    *large = *small = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(b[i]));
    most = cli_max(c, most);
    for (size_t i = 0; i < n; i++) {
        *large += fabs(b[i]) >= APART * most;
        *small += b[i] != 0.0 && fabs(b[i]) < APART * most;
    }
    *large = cli_sum(c, *large);
    *small = cli_sum(c, *small);
}

static void warn(const cli *c, const cli_system *s, int column, double *b)
{
    double large, small;
    count_rows(c, s->n, b, &large, &small);
    if (small == 0.0 || large > FEW * (large + small)) return;
    cli_log(c, CLI_WARN,
            "column %d of the right-hand side: %.0f of its entries are more "
            "than 1e8 times the %.0f others, and they alone decide when "
            "||b - A x|| is small: --norm scaled looks at all rows",
            column + 1, large, small);
}

tacit_status cli_warn_unbalanced(const cli *c, const cli_system *s)
{
    double *b = NULL;
    if (c->set.norm || cli_is_manufactured(c)) return TACIT_OK;
    tacit_status status =
        tacit_world_agree(c->world, ALLOC(s->n, "a vector", &b));
    for (int j = 0; status >= 0 && j < s->columns; j++) {
        status =
            tacit_queue_get(s->queue, s->n, s->b + (size_t)j * s->stride, b);
        status = tacit_world_agree(c->world, status);
        if (status >= 0) warn(c, s, j, b);
    }
    free(b);
    return status;
}
