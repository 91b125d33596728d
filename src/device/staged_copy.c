/* SPDX-License-Identifier: BSD-3-Clause
 * device/staged_copy.c - copies through a ring of pinned memory: see
 * staged_copy.h. */
#include "device/staged_copy.h"
#include <string.h>

tacit_status tct_staged_open(const tct_staged_device *device, tct_team *team,
                             size_t most, tct_staged *out)
{
    const size_t bytes = most < TCT_STAGED_BYTES ? most : TCT_STAGED_BYTES;
    *out = (tct_staged){
        .device = device, .team = team, .bytes = (bytes + 64) / 64 * 64};
    return device->pin(device->state, TCT_STAGED_PIECES * out->bytes,
                       &out->ring);
}

tacit_status tct_staged_close(tct_staged *s)
{
    tacit_status status = TACIT_OK;
    for (int i = 0; i < TCT_STAGED_PIECES; i++) {
        const tacit_status one = s->device->wait(s->device->state, i);
        if (status >= 0) status = one;
    }
    if (s->ring) s->device->unpin(s->device->state, s->ring);
    s->ring = NULL;
    return status;
}

typedef struct { /* a piece that is filled */
    char *to;
    const char *from;    /* bytes, or */
    const int64_t *wide; /* numbers less `first` */
    int64_t first;
} filling;

static void copy_bytes(void *work, int64_t from, int64_t to)
{
    const filling *f = work;
    memcpy(f->to + from, f->from + from, (size_t)(to - from));
}

static void copy_narrow(void *work, int64_t from, int64_t to)
{
    const filling *f = work;
    int32_t *out = (int32_t *)(void *)f->to;
    for (int64_t k = from; k < to; k++)
        out[k] = (int32_t)(f->wide[k] - f->first);
}

/* The next piece, free to be filled. */
static tacit_status begin(const tct_staged *s, filling *f)
{
    f->to = s->ring + (size_t)s->next * s->bytes;
    return s->device->wait(s->device->state, s->next);
}

static tacit_status send(tct_staged *s, const filling *f, void *to,
                         size_t bytes)
{
    const int piece = s->next;
    s->next = (s->next + 1) % TCT_STAGED_PIECES;
    return s->device->send(s->device->state, piece, to, f->to, bytes);
}

tacit_status tct_staged_copy(tct_staged *s, void *to, const void *from,
                             size_t bytes)
{
    for (size_t at = 0; at < bytes; at += s->bytes) {
        const size_t n = bytes - at < s->bytes ? bytes - at : s->bytes;
        filling f = {.from = (const char *)from + at};
        TRY(begin(s, &f));
        tct_team_stretches(s->team, (int64_t)n, copy_bytes, &f);
        TRY(send(s, &f, (char *)to + at, n));
    }
    return TACIT_OK;
}

tacit_status tct_staged_narrow(tct_staged *s, int32_t *to, const int64_t *from,
                               int64_t count, int64_t first)
{
    const int64_t most = (int64_t)(s->bytes / sizeof *to);
    for (int64_t at = 0; at < count; at += most) {
        const int64_t n = count - at < most ? count - at : most;
        filling f = {.wide = from + at, .first = first};
        TRY(begin(s, &f));
        tct_team_stretches(s->team, n, copy_narrow, &f);
        TRY(send(s, &f, to + at, (size_t)n * sizeof *to));
    }
    return TACIT_OK;
}
