/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/match.h - offers of ends, as they go from rank to rank through a
 * channel for every two ranks. */
#ifndef TCT_TRIGGERED_MATCH_H
#define TCT_TRIGGERED_MATCH_H
#include "triggered/triggered.h"

enum { TCT_OFFERS = 5 };
/* A message of the channel. */
typedef struct tct_offers {
    int64_t count;
    tct_offer offer[TCT_OFFERS];
} tct_offers;

/* An offer of a peer that is not paired. */
typedef struct tct_remote {
    tct_offer offer;
    struct tct_remote *next;
} tct_remote;

/* Memory of an end that is freed here, and may be in use by its peers. */
typedef struct tct_retired {
    void *block;
    struct tct_gpu_end *gpu; /* or NULL */
    int times;               /* peers that have to close it */
    struct tct_retired *next;
} tct_retired;

/* Free what was never paired, or never closed. */
void tct_match_close(tacit_trigger_comm *c);
/* The words of two ends that do not fit, or false. */
bool tct_match_differs(const tct_trigger_end *e, char *why, size_t size);

#endif
