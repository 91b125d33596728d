/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/ask_columns.c - looks up own columns locally and others by an
 * exchange. */
#include "matrix/ask_columns.h"
#include "comm/setup/directory.h"
#include "matrix/matrix.h"

tacit_status tct_ask_columns(const tacit_matrix *m, int64_t from, int64_t to,
                             const int64_t *table, int64_t *answers,
                             int64_t *scratch)
{
    int64_t away = 0;
    for (int64_t k = from; k < to; k++) {
        const int64_t j = tct_csr_col(&m->A, k);
        if (tct_is_local(m, j)) answers[k - from] = table[j - m->A.first];
        else scratch[away++] = j;
    }
    TRY(tct_directory_get(m->world, m->starts, table, away, scratch, scratch));
    away = 0;
    for (int64_t k = from; k < to; k++)
        if (!tct_is_local(m, tct_csr_col(&m->A, k)))
            answers[k - from] = scratch[away++];
    return TACIT_OK;
}
