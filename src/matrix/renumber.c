/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/renumber.c - the current number of each original row is in a
 * distributed table, on the rank that had the row first. */
#include "matrix/renumber.h"
#include "comm/setup/directory.h"

typedef struct {
    int64_t *of;      /* [rows dealt to this rank] current numbers */
    int64_t *current; /* [A.rows] */
} tables;

static tacit_status allocate(const tacit_matrix *m, tables *t)
{
    const int r = m->world->rank;
    TRY(TCT_ALLOC(m->dealt[r + 1] - m->dealt[r], "current numbers", &t->of));
    TRY(TCT_ALLOC(m->A.rows, "current numbers", &t->current));
    for (int64_t i = 0; i < m->A.rows; i++) t->current[i] = m->A.first + i;
    return TACIT_OK;
}

tacit_status tct_current_numbers(const tacit_matrix *m, int64_t count,
                                 int64_t *numbers)
{
    if (!m->dealt) return TACIT_OK;
    tables t = {0};
    tacit_status status = tct_agree(m->world, allocate(m, &t));
    if (status >= 0)
        status = tct_directory_set(m->world, m->dealt, t.of, m->A.rows,
                                   m->original, t.current);
    if (status >= 0)
        status = tct_directory_get(m->world, m->dealt, t.of, count, numbers,
                                   numbers);
    TCT_FREE(t.of, t.current);
    return status;
}
