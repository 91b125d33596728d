/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/none.c - what a build without CUDA has of persistent
 * kernels: the sentence that there are none. */
#include "solver/resident/resident.h"

bool tct_resident_kernels(const char *method, char *text, size_t size)
{
    (void)method;
    (void)text;
    (void)size;
    return false;
}

/* Never driven by: it needs a GPU's queue. */
const tct_driver tct_driver_resident = {
    .about = {"resident", TCT_RESIDENT_SUMMARY, TCT_NO_CUDA, true},
    .needs = TCT_BY_KERNEL,
    .iterate = NULL,
};
