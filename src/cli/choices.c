/* SPDX-License-Identifier: BSD-3-Clause
 * cli/choices.c - the values of the options that name one of a few things:
 * from the library's registries where it has one, and a row with the reason
 * for each that this build lacks. */
#include "cli/base.h"
#include "cli/options.h"
#include <stdio.h>
#include <string.h>
#include <tacit/tacit.h>

#define NEEDS "needs --device cuda: "

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
FIXED(any_precision,
    {"double", "all in double precision", NULL, false},
    {"mixed", "matrix values of 32 bits, or more where those are too few", NULL, false},
    {"mixed48", "matrix values of 48 bits, or 64", NULL, false})
FIXED(basis,
    {"chebyshev", "Chebyshev polynomials", NULL, false},
    {"newton", "Newton polynomials", NULL, false},
    {"monomial", "powers of A, from moments: for up to 4 steps", NULL, false})
FIXED(kind,
    {"llt", "A = L L', of a positive definite matrix", NULL, false},
    {"ldlt", "A = L D L', of a symmetric matrix", NULL, false},
    {"lu", "A = L U, of permuted rows if it needs pivots", NULL, false},
    {"ic0", "L L' with the entries of A, of a positive definite matrix", NULL, false},
    {"ilu0", "L U with the entries of A, without pivoting", NULL, false})
FIXED(rows_order,
    {"nd", "nested dissection", NULL, false},
    {"top-nd", "its top alone, and the matrix's order within", NULL, false},
    {"natural", "the matrix's", NULL, false},
    {"multicolor", "as top-nd, and colour after colour within", NULL, false})
FIXED(scheme,
    {"3d", "grids each with a leaf of the tree and what is above it, added up once", NULL, false},
    {"2d", "one grid", NULL, false},
    {"baseline3d", "the tree level by level, and between grids a message a panel", NULL, false},
    {"p2p", "as 3d, without trees of messages", NULL, false})
FIXED(map,
    {"cyclic", "block (I, K) is of process (I mod Px, K mod Py)", NULL, false},
    {"subtree", "subtrees are whole of one process: fewest messages", NULL, false})
FIXED(type,
    {"double", "64 bits", NULL, false},
    {"float", "32 bits", NULL, false})
/* clang-format on */

/* A row that every build has. */
static cli_choice named(const char *name, const char *summary)
{
    return (cli_choice){name, summary, NULL, false};
}

/* --- devices, and what needs a GPU ---------------------------------------- */

const char *cli_gpu_reason(void)
{
    static char reason[256];
    static bool asked;
    if (!asked && tacit_device_probe("cuda") < 0)
        snprintf(reason, sizeof reason, "%s", tacit_error_message());
    asked = true;
    return reason[0] ? reason : NULL;
}

const char *cli_choice_missing(const cli_axis *axis, const cli_choice *row)
{
    static char text[300];
    if (row->reason || !row->needs_gpu) return row->reason;
    const char *reason = cli_gpu_reason();
    if (!reason || axis == &cli_axis_device) return reason;
    snprintf(text, sizeof text, NEEDS "%s", reason);
    return text;
}

static bool device_row(int i, cli_choice *out)
{
    const tacit_device *d = tacit_device_at(i);
    if (d) *out = (cli_choice){d->name, d->summary, d->reason, d->gpu};
    return d != NULL;
}

/* A row that runs on a GPU only, with the reason of a build that has none. */
static cli_choice gpu_row(const char *name, const char *summary)
{
    static char text[300];
    const tacit_device *d;
    for (int i = 0; (d = tacit_device_at(i)) != NULL && !d->gpu; i++) {
    }
    if (d && d->reason) snprintf(text, sizeof text, NEEDS "%s", d->reason);
    return (cli_choice){name, summary, d && d->reason ? text : NULL, true};
}

static bool loop_row(int i, cli_choice *out)
{
    const tacit_loop *loop = tacit_loop_at(i);
    if (!loop) return false;
    *out = loop->needs_gpu ? gpu_row(loop->name, loop->summary)
                           : named(loop->name, loop->summary);
    return true;
}

static bool precision_row(int i, cli_choice *out)
{
    if (!any_precision_row(i, out)) return false;
    if (i > 0) *out = gpu_row(out->name, out->summary);
    return true;
}

/* --- the rest ------------------------------------------------------------- */

#define NAMED(axis, kind)                             \
    static bool axis##_row(int i, cli_choice *out)    \
    {                                                 \
        const tacit_##kind *x = tacit_##kind##_at(i); \
        if (x) *out = named(x->name, x->summary);     \
        return x != NULL;                             \
    }
NAMED(own_method, method)
NAMED(order, order)
NAMED(decorator, decorator)

/* Those of a solver, and the one that needs none. */
static bool method_row(int i, cli_choice *out)
{
    if (own_method_row(i, out)) return true;
    if (i > 0 && !own_method_row(i - 1, out)) return false;
    *out = named("direct",
                 "a factor of the matrix, made by one process, and steps "
                 "of refinement");
    return true;
}

static bool precond_row(int i, cli_choice *out)
{
    const tacit_precond *p = tacit_precond_at(i);
    if (p) *out = (cli_choice){p->name, p->summary, p->reason, false};
    return p != NULL;
}

static bool mode_row(int i, cli_choice *out)
{
    static const cli_choice rows[] = {
        {"mpi", "persistent requests of plain MPI", NULL, false},
        {"fences", "a halo's messages by the queue's link", NULL, false},
        {"fused", "a halo's stores into the neighbours' memory", NULL, false},
        {"send", "standard sends of a triggered queue", NULL, false},
        {"ready", "its ready sends: the receiver's buffer is free", NULL,
         false}};
    if (i >= 5) return false;
    *out = rows[i];
    return true;
}

static bool cells_row(int i, cli_choice *out)
{
    static const cli_choice rows[] = {
        {"exact", "compare every cell", NULL, false},
        {"none", "compare none", NULL, false}};
    if (i >= 2) return false;
    *out = rows[i];
    return true;
}

static bool norm_row(int i, cli_choice *out)
{
    static const cli_choice rows[] = {
        {"residual", "Euclidean", NULL, false},
        {"preconditioned", "sqrt(r' M r), M the preconditioner", NULL, false},
        {"scaled", "Euclidean, rows divided by the diagonal", NULL, false},
        {"backward", "over ||A|| ||x|| + ||b||, in maximum norms", NULL,
         false}};
    if (i >= (int)(sizeof rows / sizeof *rows)) return false;
    *out = rows[i];
    return true;
}

static bool relative_to_row(int i, cli_choice *out)
{
    static const cli_choice rows[] = {
        {"b", "the right-hand side", NULL, false},
        {"r0", "the residual of the first guess", NULL, false}};
    if (i >= 2) return false;
    *out = rows[i];
    return true;
}

static bool way_row(int i, cli_choice *out)
{
    const tacit_stencil_way *w = tacit_stencil_way_at(i);
    if (w) *out = (cli_choice){w->name, w->summary, w->reason, false};
    return w != NULL;
}

static bool comm_row(int i, cli_choice *out)
{
    const tacit_link *link = tacit_link_at(i);
    if (link)
        *out = (cli_choice){link->name, link->summary, link->reason, false};
    return link != NULL;
}

/* Those that cut: --partition reads what was cut. */
static bool partitioner_row(int i, cli_choice *out)
{
    const tacit_partitioner *p;
    for (int k = 0; (p = tacit_partitioner_at(k)) != NULL; k++)
        if (!p->from_file && i-- == 0) break;
    if (p) *out = (cli_choice){p->name, p->summary, p->reason, false};
    return p != NULL;
}

static bool format_row(int i, cli_choice *out)
{
    const tacit_format *f = tacit_format_at("host", i);
    if (f) *out = named(f->name, f->summary);
    return f != NULL;
}

static bool gpu_format_row(int i, cli_choice *out)
{
    const tacit_format *f = tacit_format_at("cuda", i);
    if (f) *out = (cli_choice){f->name, f->summary, NULL, true};
    return f != NULL;
}

bool cli_format_at(const char *device, int i, char name[CLI_FORMAT])
{
    const tacit_format *f;
    for (int k = 0; (f = tacit_format_at(device, k)) != NULL; k++) {
        if (i == 0 || (f->stores && i == 1)) {
            snprintf(name, CLI_FORMAT, "%s%s", f->name, i == 1 ? "/f64" : "");
            return true;
        }
        i -= f->stores ? 2 : 1;
    }
    return false;
}

bool cli_format_repeats(const char *name, bool packed)
{
    return strchr(name, '/') != NULL && !packed;
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
const cli_axis cli_axis_precond = {"precond", "preconds", true, precond_row};
const cli_axis cli_axis_scheme = {"scheme", "schemes", false, scheme_row};
const cli_axis cli_axis_map = {"map", "maps", false, map_row};
const cli_axis cli_axis_partitioner = {"partitioner", "partitioners", false,
                                       partitioner_row};
const cli_axis cli_axis_basis = {"basis", "bases", false, basis_row};
const cli_axis cli_axis_kind = {"kind", "kinds of factor", false, kind_row};
const cli_axis cli_axis_rows_order = {"order", "orders of a factor", false,
                                      rows_order_row};
const cli_axis cli_axis_norm = {"norm", "norms", false, norm_row};
const cli_axis cli_axis_relative_to = {"relative-to", "references", false,
                                       relative_to_row};
const cli_axis cli_axis_mode = {"mode", "modes", false, mode_row};
const cli_axis cli_axis_cells = {"check", "checks", false, cells_row};
const cli_axis cli_axis_way = {"way", "ways", true, way_row};
const cli_axis cli_axis_type = {"type", "types", false, type_row};
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
    return cli_nearest(value, names, count);
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
