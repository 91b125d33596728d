/* SPDX-License-Identifier: BSD-3-Clause
 * device/decorators/chaos.c - injected faults. chaos(seed) delays messages of
 * this rank by up to a millisecond, differently on each rank, so that their
 * order changes; chaos(seed,k) also makes the k-th operation on rank seed mod
 * size fail like a device. */
#include "device/decorators.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint64_t seed, calls;
    uint64_t fail_at; /* 0: never */
} chaos_state;

static tacit_status chaos_open(tct_layer *self, tacit_queue *q,
                               const char *argument)
{
    char text[32] = "";
    int64_t seed = 0, k = 0;
    strncpy(text, argument, sizeof text - 1);
    char *comma = strchr(text, ',');
    if (comma) *comma = '\0';
    if (!tct_parse_int64(text, &seed) || seed < 0 ||
        (comma && (!tct_parse_int64(comma + 1, &k) || k < 1)))
        FAIL(TACIT_INVALID, "chaos(%s): expected chaos(seed) or chaos(seed,k)",
             argument);
    chaos_state *s = NULL;
    TRY(TCT_ALLOC(1, "chaos", &s));
    *s = (chaos_state){.seed = (uint64_t)seed};
    if (seed % q->ranks == q->rank) s->fail_at = (uint64_t)k;
    self->state = s;
    return TACIT_OK;
}

static void chaos_submit(tct_layer *self, tacit_queue *q, const tct_op *op)
{
    chaos_state *s = self->state;
    s->calls++;
    if (s->calls == s->fail_at)
        q_fail(q, TACIT_DEVICE, "chaos: operation %llu (%s) was made to fail",
               (unsigned long long)s->calls, tct_op_info_of(op)->text);
    if (op->code == TCT_EXCHANGE_BEGIN || op->code == TCT_SUM_BEGIN)
        usleep((useconds_t)(1000 *
                            tct_uniform(s->seed + 1000003u * (unsigned)q->rank,
                                        s->calls)));
    tct_below_submit(self, q, op);
}

static void chaos_close(tct_layer *self, tacit_queue *q)
{
    (void)q;
    tct_free(self->state);
}

const tct_layer_ops tct_layer_chaos = {
    .about = {"chaos",
              "chaos(seed[,k]): late messages; the k-th operation fails"},
    .open = chaos_open,
    .submit = chaos_submit,
    .close = chaos_close,
};
