/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/alltoall.c - items for other ranks, in rounds of bounded size. */
#include "comm/setup/alltoall.h"

enum { INBOX_BYTES = 16 << 20, LEAST_ROOM = 64 };

static tacit_status allocate(tct_alltoall *alltoall)
{
    const size_t size = (size_t)alltoall->world->size;
    const size_t room = (size_t)alltoall->room * alltoall->item;
    TRY(TCT_ALLOC(size, "messages", &alltoall->to));
    TRY(TCT_ALLOC(size, "messages", &alltoall->from));
    TRY(TCT_ALLOC(size, "messages", &alltoall->next));
    TRY(TCT_ALLOC(3 * size, "messages", &alltoall->bytes));
    TRY(TCT_ALLOC(room, "messages", &alltoall->out));
    TRY(TCT_ALLOC(size * room, "messages", &alltoall->in));
    return TACIT_OK;
}

tacit_status tct_alltoall_open(tct_alltoall *alltoall, tacit_world *world,
                               size_t item, int64_t most)
{
    *alltoall = (tct_alltoall){.world = world, .item = item};
    TRY(tct_reduce_i64(world, TCT_MAX, 1, &most));
    alltoall->room = INBOX_BYTES / (int64_t)item / world->size;
    if (alltoall->room < LEAST_ROOM) alltoall->room = LEAST_ROOM;
    if (alltoall->room > most) alltoall->room = most;
    return tct_agree(world, allocate(alltoall));
}

void tct_alltoall_close(tct_alltoall *alltoall)
{
    TCT_FREE(alltoall->to, alltoall->from, alltoall->next, alltoall->bytes,
             alltoall->out, alltoall->in);
    *alltoall = (tct_alltoall){0};
}

void tct_alltoall_begin(tct_alltoall *alltoall)
{
    for (int r = 0; r < alltoall->world->size; r++) alltoall->to[r] = 0;
}

void tct_alltoall_address(tct_alltoall *alltoall)
{
    int64_t at = 0;
    for (int r = 0; r < alltoall->world->size; r++) {
        alltoall->next[r] = at;
        at += alltoall->to[r];
    }
}

tacit_status tct_trade_numbers(tacit_world *world, const int64_t *to,
                               int64_t *from, int64_t *scratch)
{
    for (int r = 0; r < world->size; r++) scratch[r] = sizeof *to;
    return tct_alltoallv(world, scratch, to, scratch, from);
}

tacit_status tct_alltoall_send(tct_alltoall *alltoall)
{
    const int size = alltoall->world->size;
    int64_t *send = alltoall->bytes, *recv = alltoall->bytes + size;
    TRY(tct_trade_numbers(alltoall->world, alltoall->to, alltoall->from,
                          alltoall->bytes + 2 * size));
    alltoall->received = 0;
    for (int r = 0; r < size; r++) {
        send[r] = alltoall->to[r] * (int64_t)alltoall->item;
        recv[r] = alltoall->from[r] * (int64_t)alltoall->item;
        alltoall->received += alltoall->from[r];
    }
    return tct_alltoallv(alltoall->world, send, alltoall->out, recv,
                         alltoall->in);
}

tacit_status tct_alltoall_answer(tct_alltoall *alltoall)
{
    const int64_t *out = alltoall->bytes,
                  *in = alltoall->bytes + alltoall->world->size;
    tct_alltoall_address(alltoall);
    return tct_alltoallv(alltoall->world, in, alltoall->in, out, alltoall->out);
}

tacit_status tct_any(tacit_world *world, bool mine, bool *out)
{
    int64_t any = mine;
    TRY(tct_reduce_i64(world, TCT_MAX, 1, &any));
    *out = any != 0;
    return TACIT_OK;
}
