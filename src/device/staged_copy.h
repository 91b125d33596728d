/* SPDX-License-Identifier: BSD-3-Clause
 * device/staged_copy.h - copies host memory to a device in pieces, through a
 * ring of pinned memory: the threads of a team fill a piece while those before
 * it are under way. A copy from pageable memory is a fifth as fast. */
#ifndef TCT_DEVICE_STAGED_COPY_H
#define TCT_DEVICE_STAGED_COPY_H
#include "device/team.h"

enum { TCT_STAGED_PIECES = 4, TCT_STAGED_BYTES = 8 << 20 };

/* The functions of a device, with a state of its own. */
typedef struct tct_staged_device {
    void *state;
    /* Memory that the device reads. Errors NO_MEMORY. */
    tacit_status (*pin)(void *state, size_t bytes, void *out);
    void (*unpin)(void *state, void *p);
    /* Begin to copy `bytes` from piece number `piece`. Errors DEVICE. */
    tacit_status (*send)(void *state, int piece, void *to, const void *from,
                         size_t bytes);
    /* Wait until what was sent from the piece has arrived. Errors DEVICE. */
    tacit_status (*wait)(void *state, int piece);
} tct_staged_device;

typedef struct tct_staged {
    const tct_staged_device *device;
    tct_team *team; /* not used by others meanwhile */
    size_t bytes;   /* of a piece, a multiple of 64 */
    char *ring;
    int next; /* piece to fill */
} tct_staged;

/* `most`: bytes of the largest copy, so that the ring is no larger than needed.
 * Errors      NO_MEMORY. */
tacit_status tct_staged_open(const tct_staged_device *device, tct_team *team,
                             size_t most, tct_staged *out);
/* Copy `bytes`; both return while the last pieces are under way. `from` may
 * change then.
 * Errors      DEVICE. */
tacit_status tct_staged_copy(tct_staged *s, void *to, const void *from,
                             size_t bytes);
/* Copy `count` numbers less `first`, which fit 32 bits then. */
tacit_status tct_staged_narrow(tct_staged *s, int32_t *to, const int64_t *from,
                               int64_t count, int64_t first);
/* Wait for all pieces, free the ring; also after an error. Errors DEVICE. */
tacit_status tct_staged_close(tct_staged *s);

#endif
