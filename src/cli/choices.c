/* SPDX-License-Identifier: BSD-3-Clause
 * cli/choices.c - the values of the options that name one of a few things:
 * from the library's registries where it has one, and a row with the reason
 * for each that this build lacks. */
#include "base/base.h"
#include "cli/options.h"
#include "operator/format.h"
#include <stdio.h>
#include <string.h>
#include <tacit/solver.h>

#ifndef TCT_HAVE_MPI
#define TCT_HAVE_MPI 0
#endif

#define GPU_COMING "not in this build: runs on a GPU (coming)"

/* Row `i` of a fixed table. */
static bool fixed(const cli_choice *rows, int count, int i, cli_choice *out)
{
    if (i < 0 || i >= count) return false;
    *out = rows[i];
    return true;
}
#define FIXED(name, ...)                                               \
    static bool name##_row(int i, cli_choice *out)                     \
    {                                                                  \
        static const cli_choice rows[] = {__VA_ARGS__};                \
        return fixed(rows, (int)(sizeof rows / sizeof *rows), i, out); \
    }

/* clang-format off */
FIXED(device,
    {"host", "the processors of this machine", NULL},
    {"cuda", "an NVIDIA GPU", "not in this build: no CUDA (coming)"})
FIXED(loop,
    {"host", "the CPU enqueues every step", NULL},
    {"graph", "one CUDA graph with a while node", GPU_COMING},
    {"resident", "one persistent kernel", GPU_COMING})
FIXED(comm,
    {"self", "one process", NULL},
    {"mpi", "the CPU starts every message, through MPI",
     TCT_HAVE_MPI ? NULL : "not in this build: configured without MPI"},
    {"nccl", "the stream starts them, through NCCL", GPU_COMING},
    {"queue", "the stream starts them, as triggered operations", GPU_COMING},
    {"nvshmem", "the kernel starts them, through NVSHMEM", GPU_COMING})
FIXED(precision,
    {"double", "all in double precision", NULL},
    {"mixed", "low-precision matrix values, reliable updates in double",
     "not in this build: mixed precision is coming"})
FIXED(precond,
    {"none", "no preconditioner", NULL},
    {"jacobi", "the diagonal", "not in this build: preconditioners are coming"},
    {"amg", "algebraic multigrid",
     "not in this build: preconditioners are coming"})
FIXED(partitioner,
    {"metis", "graph partition that cuts few entries", NULL},
    {"contiguous", "the rows in their order, as many to each", NULL})
FIXED(basis,
    {"monomial", "powers of A", NULL},
    {"newton", "Newton polynomials", NULL},
    {"chebyshev", "Chebyshev polynomials", NULL})
FIXED(coming_method,
    {"flexible", "flexible CG, for preconditioners that change",
     "not in this build: comes with the preconditioners"},
    {"sstep", "s iterations for one reduction",
     "not in this build: s-step CG is coming"})
/* clang-format on */

static bool method_row(int i, cli_choice *out)
{
    const tacit_method *m = NULL;
    int known = 0;
    while ((m = tacit_solver_method(known)) != NULL && known < i) known++;
    if (m) {
        *out = (cli_choice){m->name, m->summary, NULL};
        return true;
    }
    cli_choice row;
    for (int k = 0; coming_method_row(k, &row); k++) {
        if (tacit_solver_find_method(row.name)) continue;
        if (known++ == i) {
            *out = row;
            return true;
        }
    }
    return false;
}

static bool format_row(int i, cli_choice *out)
{
    const tct_format *const *all = tct_formats();
    for (int k = 0; all[k]; k++) {
        if (k != i) continue;
        *out = (cli_choice){all[k]->name, all[k]->summary, NULL};
        return true;
    }
    return false;
}

static bool decorator_row(int i, cli_choice *out)
{
    *out = (cli_choice){NULL, NULL, NULL};
    return tacit_queue_decorator(i, &out->name, &out->summary) != 0;
}

const cli_axis cli_axis_device = {"device", "devices", true, device_row};
const cli_axis cli_axis_loop = {"loop", "loops", true, loop_row};
const cli_axis cli_axis_comm = {"comm", "comms", true, comm_row};
const cli_axis cli_axis_method = {"method", "methods", false, method_row};
const cli_axis cli_axis_format = {"format", "formats", true, format_row};
const cli_axis cli_axis_precision = {"precision", "precisions", false,
                                     precision_row};
const cli_axis cli_axis_precond = {"precond", "preconds", false, precond_row};
const cli_axis cli_axis_partitioner = {"partitioner", "partitioners", false,
                                       partitioner_row};
const cli_axis cli_axis_basis = {"basis", "bases", false, basis_row};
const cli_axis cli_axis_decorator = {"decorator", "decorators", false,
                                     decorator_row};

static const char *nearest(const cli_axis *axis, const char *value)
{
    enum { MOST = 32 };
    const char *names[MOST];
    size_t count = 0;
    cli_choice row;
    for (int i = 0; count < MOST && axis->row(i, &row); i++)
        names[count++] = row.name;
    if (axis->automatic && count < MOST) names[count++] = "auto";
    return tct_nearest(value, names, count);
}

tacit_status cli_axis_check(const cli_axis *axis, const char *value)
{
    if (axis->automatic && strcmp(value, "auto") == 0) return TACIT_OK;
    cli_choice row;
    for (int i = 0; axis->row(i, &row); i++) {
        if (strcmp(row.name, value) != 0) continue;
        if (!row.reason) return TACIT_OK;
        FAIL(TACIT_UNSUPPORTED, "%s '%s' is not available: %s", axis->name,
             value, row.reason);
    }
    char list[256];
    cli_axis_list(axis, false, list, sizeof list);
    const char *near = nearest(axis, value);
    if (near)
        FAIL(TACIT_INVALID,
             "unknown %s '%s': did you mean '%s'? (available: %s)", axis->name,
             value, near, list);
    FAIL(TACIT_INVALID, "unknown %s '%s' (available: %s)", axis->name, value,
         list);
}

void cli_axis_list(const cli_axis *axis, bool all, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    cli_choice row;
    for (int i = 0; axis->row(i, &row); i++) {
        if ((row.reason && !all) || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used ? ", " : "", row.name);
    }
    if (axis->automatic && used < size)
        snprintf(text + used, size - used, "%sauto", used ? ", " : "");
}
