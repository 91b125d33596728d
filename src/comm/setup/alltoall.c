/* SPDX-License-Identifier: BSD-3-Clause
 * comm/setup/alltoall.c - items for other ranks, in rounds of bounded size. */
#include "comm/setup/alltoall.h"

enum { INBOX_BYTES = 16 << 20, LEAST_ROOM = 64 };

static tacit_status allocate(tct_mail *mail)
{
    const size_t size = (size_t)mail->world->size;
    const size_t room = (size_t)mail->room * mail->item;
    TRY(TCT_ALLOC(size, "a mail round", &mail->to));
    TRY(TCT_ALLOC(size, "a mail round", &mail->from));
    TRY(TCT_ALLOC(size, "a mail round", &mail->next));
    TRY(TCT_ALLOC(3 * size, "a mail round", &mail->bytes));
    TRY(TCT_ALLOC(room, "a mail round", &mail->out));
    TRY(TCT_ALLOC(size * room, "a mail round", &mail->in));
    return TACIT_OK;
}

tacit_status tct_mail_open(tct_mail *mail, tacit_world *world, size_t item,
                           int64_t most)
{
    *mail = (tct_mail){.world = world, .item = item};
    TRY(tct_reduce_i64(world, TCT_MAX, 1, &most));
    mail->room = INBOX_BYTES / (int64_t)item / world->size;
    if (mail->room < LEAST_ROOM) mail->room = LEAST_ROOM;
    if (mail->room > most) mail->room = most;
    return tct_agree(world, allocate(mail));
}

void tct_mail_close(tct_mail *mail)
{
    TCT_FREE(mail->to, mail->from, mail->next, mail->bytes, mail->out,
             mail->in);
    *mail = (tct_mail){0};
}

void tct_mail_begin(tct_mail *mail)
{
    for (int r = 0; r < mail->world->size; r++) mail->to[r] = 0;
}

void tct_mail_address(tct_mail *mail)
{
    int64_t at = 0;
    for (int r = 0; r < mail->world->size; r++) {
        mail->next[r] = at;
        at += mail->to[r];
    }
}

tacit_status tct_trade_numbers(tacit_world *world, const int64_t *to,
                               int64_t *from, int64_t *scratch)
{
    for (int r = 0; r < world->size; r++) scratch[r] = sizeof *to;
    return tct_alltoallv(world, scratch, to, scratch, from);
}

tacit_status tct_mail_send(tct_mail *mail)
{
    const int size = mail->world->size;
    int64_t *send = mail->bytes, *recv = mail->bytes + size;
    TRY(tct_trade_numbers(mail->world, mail->to, mail->from,
                          mail->bytes + 2 * size));
    mail->received = 0;
    for (int r = 0; r < size; r++) {
        send[r] = mail->to[r] * (int64_t)mail->item;
        recv[r] = mail->from[r] * (int64_t)mail->item;
        mail->received += mail->from[r];
    }
    return tct_alltoallv(mail->world, send, mail->out, recv, mail->in);
}

tacit_status tct_mail_answer(tct_mail *mail)
{
    const int64_t *out = mail->bytes, *in = mail->bytes + mail->world->size;
    tct_mail_address(mail);
    return tct_alltoallv(mail->world, in, mail->in, out, mail->out);
}

tacit_status tct_any(tacit_world *world, bool mine, bool *out)
{
    int64_t any = mine;
    TRY(tct_reduce_i64(world, TCT_MAX, 1, &any));
    *out = any != 0;
    return TACIT_OK;
}
