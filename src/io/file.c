/* SPDX-License-Identifier: BSD-3-Clause
 * io/file.c - the implementation of tacit/file.h. */
#include "io/format.h"
#include <string.h>
#include <unistd.h>

const tct_file_format *const tct_file_formats[TCT_FILE_FORMAT_COUNT] = {
#define X(name) &tct_file_##name,
    TCT_FILE_FORMATS(X)
#undef X
};

const tacit_file_format *tacit_file_format_at(int i)
{
    return i >= 0 && i < TCT_FILE_FORMAT_COUNT ? &tct_file_formats[i]->about
                                               : NULL;
}

tacit_status tacit_file_check_writable(tacit_world *world, const char *path,
                                       tacit_file_kind kind)
{
    REQUIRE(world != NULL, path != NULL);
    if (kind == TACIT_FILE_TEXT) return tct_sink_check(world, path);
    const int vectors = kind == TACIT_FILE_VECTORS  ? 2
                        : kind == TACIT_FILE_VECTOR ? 1
                                                    : 0;
    return tct_check_writable(world, path, NULL, vectors);
}

bool tacit_file_is_stdout(const char *path)
{
    return path && tct_sink_descriptor(path) == STDOUT_FILENO;
}

void tacit_file_hold(tacit_world *world)
{
    if (world) tct_sink_hold(world);
}

tacit_status tacit_file_release(tacit_world *world, tacit_status status)
{
    REQUIRE(world != NULL);
    return tct_sink_release(world, status);
}

tacit_status tacit_file_write(tacit_world *world, const char *path,
                              const char *text)
{
    REQUIRE(world != NULL, path != NULL);
    const int rank = world->rank;
    REQUIRE(rank != 0 || text != NULL);
    tct_sink *s = NULL;
    TRY(tct_sink_open(world, path, false, &s));
    tacit_status status =
        tct_sink_write(s, text, world->rank == 0 ? strlen(text) : 0);
    if (status >= 0) status = tct_sink_commit(s);
    tct_sink_close(&s);
    return status;
}
