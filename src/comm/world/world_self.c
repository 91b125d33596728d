/* SPDX-License-Identifier: BSD-3-Clause
 * comm/world/world_self.c - the world of a single process. */
#include "comm/world/world.h"
#include <string.h>
#include <unistd.h>

static tacit_status self_reduce(tacit_world *w, tct_type type, tct_reduction op,
                                size_t count, void *data)
{
    (void)w;
    (void)type;
    (void)op;
    (void)count;
    (void)data;
    return TACIT_OK;
}

static tacit_status self_bcast(tacit_world *w, int root, size_t bytes,
                               void *data)
{
    (void)w;
    (void)root;
    (void)bytes;
    (void)data;
    return TACIT_OK;
}

static tacit_status self_allgather(tacit_world *w, size_t bytes,
                                   const void *mine, void *all)
{
    (void)w;
    if (bytes) memcpy(all, mine, bytes);
    return TACIT_OK;
}

static tacit_status self_alltoallv(tacit_world *w, const int64_t *send_bytes,
                                   const void *send, const int64_t *recv_bytes,
                                   void *recv)
{
    (void)w;
    (void)recv_bytes;
    if (send_bytes[0]) memcpy(recv, send, (size_t)send_bytes[0]);
    return TACIT_OK;
}

static tacit_status self_split(tacit_world *w, int colour, tacit_world **out)
{
    (void)w;
    return colour < 0 ? TACIT_OK : tacit_world_self(out);
}

static void self_abort(tacit_world *w, int exit_code)
{
    (void)w;
    _exit(exit_code);
}

static void self_destroy(tacit_world *w)
{
    (void)w;
}

static const tct_world_ops self_ops = {
    TCT_WORLD_OPS(self),
};

tacit_status tacit_world_self(tacit_world **out)
{
    REQUIRE(out != NULL);
    return tct_world_new(&self_ops, NULL, 0, 1, (const int[]){0, 1}, out);
}
