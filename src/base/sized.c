/* SPDX-License-Identifier: BSD-3-Clause
 * base/sized.c - public structs that grow: the first member is the size in the
 * caller's header. */
#include "base/base.h"
#include <string.h>

/* Far more than such a struct will have: a larger size is a mistake. */
enum { SIZE_MOST = 4096 };

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

tacit_status tct_check_sized(const char *type, const void *given)
{
    const size_t size = size_of(given);
    if (size > sizeof size && size <= SIZE_MOST && size % sizeof size == 0)
        return TACIT_OK;
    FAIL(TACIT_INVALID,
         "%s: its size is %zu: set it to what sizeof says before the call, as "
         "in %s name = {.size = sizeof name}",
         type, size, type);
}

tacit_status tct_read_sized(const char *type, const void *given, void *own,
                            size_t size)
{
    TRY(tct_check_sized(type, given));
    const unsigned char *bytes = given;
    const size_t known = size_of(given);
    for (size_t k = size; k < known; k++)
        if (bytes[k])
            FAIL(TACIT_UNSUPPORTED,
                 "%s: it sets what this version of the library, %s, does not "
                 "have yet: its %zu bytes are more than %zu",
                 type, tacit_version(), known, size);
    memset(own, 0, size);
    memcpy(own, given, known < size ? known : size);
    memcpy(own, &size, sizeof size);
    return TACIT_OK;
}

void tct_write_sized(const void *own, size_t size, void *to)
{
    const size_t known = size_of(to), head = sizeof known;
    const size_t both = known < size ? known : size;
    memcpy((char *)to + head, (const char *)own + head, both - head);
    memset((char *)to + both, 0, known - both);
}
