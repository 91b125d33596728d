/* SPDX-License-Identifier: BSD-3-Clause
 * comm/link/aware_mpi.c - does MPI accept GPU memory? The library is asked at
 * run time, since it may not be the one compiled for; TACIT_GPU_AWARE_MPI
 * overrides its answer. */
#include "comm/world/mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI and derivatives; MPICH has all in mpi.h */
#endif

#define WISH "TACIT_GPU_AWARE_MPI"

typedef enum { WISH_AUTO, WISH_YES, WISH_NO } wish_kind;

static tacit_status read_wish(wish_kind *out)
{
    static const char *const words[] = {
        [WISH_AUTO] = "auto", [WISH_YES] = "yes", [WISH_NO] = "no"};
    const char *given = getenv(WISH);
    *out = WISH_AUTO;
    if (!given) return TACIT_OK;
    for (int i = 0; i < 3; i++) {
        if (strcmp(given, words[i]) != 0) continue;
        *out = (wish_kind)i;
        return TACIT_OK;
    }
    FAIL(TACIT_INVALID, WISH " is '%s': expected auto, yes or no", given);
}

/* MPI may be asked only between its start and its end. */
static bool is_started(void)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended;
}

static bool library_says_so(void)
{
    int says = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    says = MPIX_Query_cuda_support();
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &says) != MPI_SUCCESS)
        says = 0;
#endif
    return says != 0;
}

static const char *describe(wish_kind wish)
{
    if (wish == WISH_YES) return "used as GPU-aware, as " WISH " says";
    if (wish == WISH_NO) return "not used as GPU-aware, as " WISH " says";
    if (!is_started()) return "GPU-aware or not is known under mpirun";
    return library_says_so() ? "GPU-aware" : "not GPU-aware";
}

bool tct_mpi_about(char *text, size_t size)
{
    wish_kind wish;
    const bool known = read_wish(&wish) >= 0;
    snprintf(text, size, "%s", known ? describe(wish) : tacit_error_message());
    return true; /* the host needs no GPU-aware MPI */
}

tacit_status tct_mpi_settle(tacit_world *w, bool *out)
{
    wish_kind wish;
    TRY(tct_agree(w, read_wish(&wish)));
    const bool can =
        wish == WISH_YES || (wish == WISH_AUTO && library_says_so());
    int64_t all[] = {can, wish != WISH_YES}; /* 0 if any rank has 0 */
    TRY(tct_reduce_i64(w, TCT_MIN, 2, all));
    if (!all[0] && !all[1])
        FAIL(TACIT_INVALID, WISH " is 'yes' for some ranks, and others have "
                                 "'no' or a library of MPI that is not "
                                 "GPU-aware: set it for all");
    *out = all[0];
    const char *why = wish != WISH_AUTO ? "as " WISH " says"
                      : *out            ? "MPI is GPU-aware"
                      : can             ? "not every rank can"
                                        : "MPI is not GPU-aware";
    tct_log(TCT_DETAIL, "link mpi: exchanges go %s: %s",
            *out ? "from GPU to GPU" : "through memory of the host", why);
    return TACIT_OK;
}
