/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/kway.c - the one place that calls METIS. */
#include "matrix/kway.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int tct_kway(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
             idx_t *between, idx_t parts, idx_t sweeps, idx_t *edge_cut,
             idx_t *part)
{
    idx_t constraints = 1, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NITER] = sweeps;
    pthread_mutex_lock(&lock);
    const int code = METIS_PartGraphKway(&nodes, &constraints, start, next,
                                         weight, NULL, between, &parts, NULL,
                                         NULL, options, edge_cut, part);
    pthread_mutex_unlock(&lock);
    return code;
}
