/* SPDX-License-Identifier: BSD-3-Clause
 * solver/resident/none.c - what a build without CUDA has of persistent
 * kernels: the sentence that there are none. */
#include "solver/resident/resident.h"
#include <stdio.h>

bool tct_resident_runs(const tacit_solver *S)
{
    (void)S;
    return false;
}

bool tct_resident_fits(tacit_solver *S, char *reason, size_t size)
{
    (void)S;
    snprintf(reason, size, "this build has no CUDA");
    return false;
}

void tct_resident_iterate(tacit_solver *S)
{
    S->now->iterate(S); /* not reached: it never fits */
}

void tct_resident_about(const tacit_solver *S, char *text, size_t size)
{
    (void)S;
    if (size) text[0] = '\0';
}

void tct_resident_free(tacit_solver *S)
{
    (void)S;
}

bool tct_resident_kernels(const char *method, char *text, size_t size)
{
    (void)method;
    (void)text;
    (void)size;
    return false;
}
