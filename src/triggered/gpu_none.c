/* SPDX-License-Identifier: BSD-3-Clause
 * triggered/gpu_none.c - a build without a GPU: there are no ends and no queues
 * on one. */
#include "triggered/link.h"
#include <stdio.h>

static tacit_status refuse(void)
{
    FAIL(TACIT_UNSUPPORTED, "triggered queues on a GPU: this build has none");
}

tacit_status tct_trigger_gpu_open(tacit_trigger_comm *c)
{
    return tct_agree(c->world, refuse());
}

void tct_trigger_gpu_close(tacit_trigger_comm *c)
{
    (void)c;
}

bool tct_trigger_gpu_has(const tacit_trigger_comm *c, const void *data)
{
    (void)c;
    (void)data;
    return false;
}

tacit_status tct_gpu_end_prepare(tacit_trigger_comm *c, tct_trigger_end *e)
{
    (void)c;
    (void)e;
    return refuse();
}

tacit_status tct_gpu_end_connect(tacit_trigger_comm *c, tct_trigger_end *e)
{
    (void)c;
    (void)e;
    return refuse();
}

void tct_gpu_end_leave(tacit_trigger_comm *c, struct tct_gpu_end *g)
{
    (void)c;
    (void)g;
}

void tct_gpu_end_free(tacit_trigger_comm *c, struct tct_gpu_end *g)
{
    (void)c;
    (void)g;
}

bool tct_gpu_end_is_over(tacit_trigger_comm *c, const tct_trigger_end *e)
{
    (void)c;
    (void)e;
    return true;
}

char *tct_gpu_scratch_take(tacit_trigger_comm *c, size_t bytes)
{
    (void)c;
    (void)bytes;
    (void)refuse();
    return NULL;
}

void tct_gpu_scratch_give(tacit_trigger_comm *c, const char *memory)
{
    (void)c;
    (void)memory;
}

tacit_status tct_gpu_queue_open(tacit_trigger_queue *q, void *stream)
{
    (void)q;
    (void)stream;
    return refuse();
}

void tct_gpu_queue_close(tacit_trigger_queue *q)
{
    (void)q;
}

void tct_gpu_queue_run(tacit_trigger_queue *q, tct_command *c)
{
    (void)q;
    (void)c;
}

bool tct_gpu_queue_is_done(const tacit_trigger_queue *q)
{
    (void)q;
    return true;
}

void tct_gpu_queue_wait(tacit_trigger_queue *q)
{
    (void)q;
}

tacit_status tct_gpu_halo_open(tacit_trigger_comm *c, tacit_queue *q,
                               size_t bytes, tacit_trigger_queue **line,
                               char **memory)
{
    (void)q;
    (void)bytes;
    (void)line;
    (void)memory;
    return tct_agree(c->world, refuse());
}

void tct_gpu_halo_close(tacit_trigger_comm *c, tacit_trigger_queue **line,
                        const char *memory)
{
    (void)c;
    (void)line;
    (void)memory;
}

tacit_status tct_gpu_link_open(tacit_queue *q, tct_queue_link *l)
{
    (void)l;
    return tct_agree(q->world, refuse());
}

void tct_gpu_link_close(tacit_queue *q, tct_queue_link *l)
{
    (void)q;
    (void)l;
}

tacit_status tct_gpu_link_plan_open(tct_plan *plan, tct_queue_plan *p)
{
    (void)plan;
    (void)p;
    return refuse();
}

void tct_gpu_link_plan_close(tct_plan *plan, tct_queue_plan *p)
{
    (void)plan;
    (void)p;
}

bool tct_gpu_link_available(const tacit_queue *q, char *reason, size_t size)
{
    (void)q;
    snprintf(reason, size, "this build has no GPU");
    return false;
}
