/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/none.c - persistent kernels in a build without CUDA: the
 * reason why there are none. */
#include "solver/resident/resident.h"

bool tct_resident_kernels(const char *method, char *text, size_t size)
{
    (void)method;
    (void)text;
    (void)size;
    return false;
}

/* Never the driver: it needs a GPU's queue. */
const tct_driver tct_driver_resident = {
    .about = {"resident", TCT_RESIDENT_SUMMARY, TCT_NO_CUDA, true},
    .kind = &tct_loop_persistent,
    .iterate = NULL,
};
