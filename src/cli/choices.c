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

#define NO_CUDA     "not in this build: configured without CUDA"
#define NEEDS       "needs --device cuda"
#define GPUS_COMING "not in this build: several GPUs are coming"

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
FIXED(comm,
    {"self", "one process", NULL, false},
    {"mpi", "the CPU starts every message, through MPI",
     TCT_HAVE_MPI ? NULL : "not in this build: configured without MPI", false},
    {"nccl", "the stream starts them, through NCCL", GPUS_COMING, false},
    {"queue", "the stream starts them, as triggered operations", GPUS_COMING, false},
    {"nvshmem", "the kernel starts them, through NVSHMEM", GPUS_COMING, false})
FIXED(any_precision,
    {"double", "all in double precision", NULL, false},
    {"mixed", "matrix values of 32 bits, or more where those are too few", NULL, false},
    {"mixed48", "matrix values of 48 bits, or 64", NULL, false})
FIXED(precond,
    {"none", "no preconditioner", NULL, false},
    {"jacobi", "the diagonal", "not in this build: preconditioners are coming", false},
    {"amg", "algebraic multigrid",
     "not in this build: preconditioners are coming", false})
FIXED(order,
    {"none", "the matrix's", NULL, false},
    {"rcm", "reverse Cuthill and McKee: columns of neighbours are near", NULL, false},
    {"metis", "parts with few edges between them, each so", NULL, false})
FIXED(partitioner,
    {"metis", "graph partition that cuts few entries", NULL, false},
    {"contiguous", "the rows in their order, as many to each", NULL, false})
FIXED(basis,
    {"monomial", "powers of A", NULL, false},
    {"newton", "Newton polynomials", NULL, false},
    {"chebyshev", "Chebyshev polynomials", NULL, false})
FIXED(coming_method,
    {"flexible", "flexible CG, for preconditioners that change",
     "not in this build: comes with the preconditioners", false},
    {"sstep", "s iterations for one reduction",
     "not in this build: s-step CG is coming", false})
/* clang-format on */

/* --- devices, and what needs a GPU ------------------------------------------ */

static const tct_device_ops *gpu_device(void)
{
    const tct_device_ops *const *all = tct_devices();
    for (int i = 0; all[i]; i++)
        if (strcmp(all[i]->name, "cuda") == 0) return all[i];
    return NULL;
}

const char *cli_gpu_reason(void)
{
    static char reason[256];
    static bool asked, usable;
    const tct_device_ops *gpu = gpu_device();
    if (!gpu) return NO_CUDA;
    if (!asked)
        usable = !gpu->available || gpu->available(reason, sizeof reason);
    asked = true;
    return usable ? NULL : reason;
}

const char *cli_choice_missing(const cli_axis *axis, const cli_choice *row)
{
    static char text[300];
    if (row->reason || !row->needs_gpu) return row->reason;
    const char *reason = cli_gpu_reason();
    if (!reason || axis == &cli_axis_device) return reason;
    snprintf(text, sizeof text, NEEDS ": %s", reason);
    return text;
}

/* A row that runs on a GPU only. */
static cli_choice gpu_row(const char *name, const char *summary)
{
    return (cli_choice){name, summary, gpu_device() ? NULL : NEEDS ": " NO_CUDA,
                        true};
}

static bool device_row(int i, cli_choice *out)
{
    const tct_device_ops *const *all = tct_devices();
    int count = 0;
    while (all[count]) count++;
    if (i >= 0 && i < count)
        *out = (cli_choice){all[i]->name, all[i]->summary, NULL,
                            all[i]->available != NULL};
    else if (i == count && !gpu_device())
        *out = (cli_choice){"cuda", "an NVIDIA GPU", NO_CUDA, true};
    else return false;
    return true;
}

static bool loop_row(int i, cli_choice *out)
{
    const tacit_loop *loop = tacit_solver_loop(i);
    if (!loop) return false;
    *out = loop->needs_gpu
               ? gpu_row(loop->name, loop->summary)
               : (cli_choice){loop->name, loop->summary, NULL, false};
    return true;
}

static bool precision_row(int i, cli_choice *out)
{
    if (!any_precision_row(i, out)) return false;
    if (i > 0) *out = gpu_row(out->name, out->summary);
    return true;
}

/* --- the rest --------------------------------------------------------------- */

static bool method_row(int i, cli_choice *out)
{
    const tacit_method *m = NULL;
    int known = 0;
    while ((m = tacit_solver_method(known)) != NULL && known < i) known++;
    if (m) {
        *out = (cli_choice){m->name, m->summary, NULL, false};
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

static bool format_of(const char *device, int i, cli_choice *out)
{
    const tct_format *const *all = tct_formats(device);
    const bool gpu = strcmp(device, "host") != 0;
    for (int k = 0; all[k]; k++) {
        if (k != i) continue;
        *out = (cli_choice){all[k]->name, all[k]->summary, NULL, gpu};
        return true;
    }
    return false;
}

static bool format_row(int i, cli_choice *out)
{
    return format_of("host", i, out);
}

static bool gpu_format_row(int i, cli_choice *out)
{
    return format_of("cuda", i, out);
}

bool cli_format_at(const char *device, int i, char name[CLI_FORMAT])
{
    const tct_format *const *all = tct_formats(device);
    const bool gpu = strcmp(device, "host") != 0;
    for (int k = 0; all[k]; k++) {
        const char *own = all[k]->name;
        const bool packs =
            gpu && (strcmp(own, "sell") == 0 || strcmp(own, "bsell") == 0);
        if (i == 0 || (packs && i == 1)) {
            snprintf(name, CLI_FORMAT, "%s%s", own, i == 1 ? "/f64" : "");
            return true;
        }
        i -= packs ? 2 : 1;
    }
    return false;
}

bool cli_format_repeats(const char *name, bool packed)
{
    return strchr(name, '/') != NULL && !packed;
}

static bool decorator_row(int i, cli_choice *out)
{
    *out = (cli_choice){NULL, NULL, NULL, false};
    return tacit_queue_decorator(i, &out->name, &out->summary) != 0;
}

const cli_axis cli_axis_device = {"device", "devices", true, device_row};
const cli_axis cli_axis_loop = {"loop", "loops", true, loop_row};
const cli_axis cli_axis_comm = {"comm", "comms", true, comm_row};
const cli_axis cli_axis_method = {"method", "methods", false, method_row};
const cli_axis cli_axis_format = {"format", "formats", true, format_row};
const cli_axis cli_axis_gpu_format = {"cuda format", "formats on cuda", true,
                                      gpu_format_row};
const cli_axis cli_axis_precision = {"precision", "precisions", true,
                                     precision_row};
const cli_axis cli_axis_order = {"order", "orders of rows", true, order_row};
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
