/* SPDX-License-Identifier: BSD-3-Clause
 * graph/kway.c - calls METIS; no other file does. */
#include "graph/kway.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int unlock(int code)
{
    pthread_mutex_unlock(&lock);
    return code;
}

int tct_kway(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
             idx_t *between, idx_t parts, idx_t sweeps, idx_t *edge_cut,
             idx_t *part)
{
    idx_t constraints = 1, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NITER] = sweeps;
    pthread_mutex_lock(&lock);
    return unlock(METIS_PartGraphKway(&nodes, &constraints, start, next, weight,
                                      NULL, between, &parts, NULL, NULL,
                                      options, edge_cut, part));
}

int tct_dissect(idx_t nodes, idx_t *start, idx_t *next, idx_t leaves,
                idx_t tries, idx_t *old, idx_t *now, idx_t *sizes)
{
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NSEPS] = tries;
    pthread_mutex_lock(&lock);
    return unlock(METIS_NodeNDP(nodes, start, next, NULL, leaves, options, old,
                                now, sizes));
}

int tct_separate(idx_t nodes, idx_t *start, idx_t *next, idx_t *weight,
                 idx_t *side)
{
    idx_t between = 0, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    pthread_mutex_lock(&lock);
    return unlock(METIS_ComputeVertexSeparator(&nodes, start, next, weight,
                                               options, &between, side));
}
