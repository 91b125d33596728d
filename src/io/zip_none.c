/* SPDX-License-Identifier: BSD-3-Clause
 * io/zip_none.c - refuses in a build without libzip. */
#include "io/zip.h"

tacit_status tct_zip_array(const char *path, const char *name, tct_array *a,
                           int64_t *bytes)
{
    (void)name, (void)a, (void)bytes;
    FAIL(TACIT_UNSUPPORTED, "%s: archives are %s", path, TCT_ZIP_MISSING);
}

tacit_status tct_zip_write(tct_sink *s, const tct_zip_part *parts, int count)
{
    (void)s, (void)parts, (void)count;
    FAIL(TACIT_UNSUPPORTED, "archives are %s", TCT_ZIP_MISSING);
}
