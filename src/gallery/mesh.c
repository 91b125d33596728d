/* SPDX-License-Identifier: BSD-3-Clause
 * gallery/mesh.c - mesh:BASE, finite elements on a mesh that is read from files
 * and refined. Every rank has the whole mesh and assembles its own rows. */
#include "gallery/assemble.h"
#include "gallery/family.h"
#include <math.h>
#include <string.h>

enum { BASE_MOST = 4096, REFINE_MOST = 12 };

typedef struct {
    char base[BASE_MOST];
    int64_t refine;
    tct_physics physics;
    bool supports;
} request;

/* --- arguments ------------------------------------------------------------ */

#define USAGE \
    "mesh:BASE[,refine=K][,kind=laplace|mass:TAU|elasticity:E:NU][,spc=no]"

/* Parse the number after ':', up to the next ':' or the end, and advance
 * `*text`. */
static bool take_number(const char **text, double *out)
{
    char word[64];
    if (**text != ':') return false;
    const size_t n = strcspn(*text + 1, ":");
    if (n >= sizeof word) return false;
    memcpy(word, *text + 1, n);
    word[n] = '\0';
    *text += 1 + n;
    return tct_parse_double(word, out) && isfinite(*out);
}

static tacit_status set_kind(request *r, const char *value)
{
    static const char *const names[] = {"laplace", "mass", "elasticity"};
    const size_t n = strcspn(value, ":");
    const char *rest = value + n;
    double young = 1.0, poisson = 0.3;
    int kind = 0;
    while (kind < 3 && (strncmp(names[kind], value, n) || names[kind][n]))
        kind++;
    bool fine = true;
    switch (kind) {
    case TCT_LAPLACE: r->physics = (tct_physics){.kind = TCT_LAPLACE}; break;
    case TCT_MASS:
        r->physics = (tct_physics){.kind = TCT_MASS};
        fine = take_number(&rest, &r->physics.tau) && r->physics.tau >= 0.0;
        break;
    case TCT_ELASTICITY:
        fine = *rest == '\0' ||
               (take_number(&rest, &young) && take_number(&rest, &poisson));
        fine = fine && young > 0.0 && poisson > -1.0 && poisson < 0.5;
        r->physics = tct_elasticity(young, poisson);
        break;
    default: fine = false;
    }
    if (!fine || *rest != '\0')
        FAIL(TACIT_INVALID,
             "mesh: kind=%s: expected laplace, mass:TAU with TAU "
             "0 or more, or elasticity:E:NU with E > 0 and -1 < NU < 0.5 "
             "(usage: " USAGE ")",
             value);
    return TACIT_OK;
}

static tacit_status set_option(request *r, const char *option)
{
    static const char *const keys[] = {"refine", "kind", "spc"};
    const size_t n = strcspn(option, "=");
    const char *value = option + n + (option[n] == '=');
    int key = 0;
    while (key < 3 && (strncmp(keys[key], option, n) || keys[key][n])) key++;
    if (key == 0) {
        if (tct_parse_int64(value, &r->refine) && r->refine >= 0 &&
            r->refine <= REFINE_MOST)
            return TACIT_OK;
        FAIL(TACIT_INVALID,
             "mesh: refine=%s: expected 0 to %d (usage: " USAGE ")", value,
             REFINE_MOST);
    }
    if (key == 1) return set_kind(r, value);
    if (key == 2 && (!strcmp(value, "no") || !strcmp(value, "yes"))) {
        r->supports = value[0] == 'y';
        return TACIT_OK;
    }
    FAIL(TACIT_INVALID, "mesh: there is no option '%s' (usage: " USAGE ")",
         option);
}

static tacit_status parse(const char *arguments, request *r)
{
    *r = (request){.physics = {.kind = TCT_LAPLACE}, .supports = true};
    const size_t n = strcspn(arguments, ",");
    if (n == 0)
        FAIL(TACIT_INVALID, "mesh: expected the files' name without .node and "
                            ".ele (usage: " USAGE ")");
    if (n >= sizeof r->base)
        FAIL(TACIT_INVALID, "mesh: a file's name of more than %d characters",
             BASE_MOST - 1);
    memcpy(r->base, arguments, n);
    for (const char *at = arguments + n; *at == ',';) {
        char option[128];
        const size_t length = strcspn(at + 1, ",");
        if (length >= sizeof option)
            FAIL(TACIT_INVALID,
                 "mesh: an option of more than %zu characters "
                 "(usage: " USAGE ")",
                 sizeof option - 1);
        memcpy(option, at + 1, length);
        option[length] = '\0';
        TRY(set_option(r, option));
        at += 1 + length;
    }
    return TACIT_OK;
}

/* --- the maker ------------------------------------------------------------ */

static tacit_status mesh_part(const void *data, int64_t first, int64_t rows,
                              void **part)
{
    tct_fem_part *p = NULL;
    TRY(tct_fem_part_create(data, first, rows, &p));
    *part = p;
    return TACIT_OK;
}

static tacit_status mesh_lengths(const void *data, int64_t first, int64_t rows,
                                 int64_t *length)
{
    return tct_fem_lengths(data, first, rows, length);
}

static tacit_status mesh_fill(const void *data, tct_csr *A)
{
    return tct_fem_fill(data, A);
}

static void mesh_points(const void *data, int64_t first, int64_t rows,
                        double *out)
{
    const tct_fem *fem = data;
    const tct_mesh *m = &fem->mesh;
    int64_t i = -first; /* the next free component, relative to `first` */
    for (int64_t v = 0; v < m->nodes; v++)
        for (int p = 0; p < 3; p++) {
            if (m->held[v] >> p & 1) continue;
            if (i >= 0 && i < rows) {
                memcpy(out + 4 * i, m->x[v], sizeof m->x[v]);
                out[4 * i + 3] = p;
            }
            i++;
        }
}

static void mesh_close(void *data)
{
    if (data) tct_fem_close(data);
    tct_free(data);
}

static const tct_gallery_maker mesh_maker = {
    .part = mesh_part,
    .lengths = mesh_lengths,
    .fill = mesh_fill,
    .points = mesh_points,
    .close = mesh_close,
};

/* Estimate the entries: an edge is in about five elements. */
static double guess(const tct_fem *fem)
{
    const double nodes = (double)fem->mesh.nodes;
    const double elements = (double)fem->mesh.elements;
    const double pairs = fem->mesh.corners == 4 ? 3.0 * nodes + 2.0 * elements
                                                : nodes + 39.0 * elements;
    const double open = (double)fem->row[fem->mesh.nodes] / nodes;
    return pairs * open * open;
}

static tacit_status read_mesh(const request *r, tct_mesh *mesh)
{
    TRY(tct_mesh_read(r->base, r->supports, mesh));
    for (int64_t k = 0; k < r->refine; k++) TRY(tct_mesh_refine(mesh));
    return TACIT_OK;
}

static tacit_status mesh_open(const char *arguments, tct_gallery_matrix *g)
{
    request r;
    TRY(parse(arguments, &r));
    tct_fem *fem = tct_calloc(sizeof *fem);
    if (!fem) FAIL(TACIT_NO_MEMORY, "no memory to open %s", g->name);
    g->data = fem;
    g->maker = &mesh_maker;
    tct_mesh mesh = {0};
    const tacit_status status = read_mesh(&r, &mesh);
    if (status < 0) {
        tct_mesh_clear(&mesh);
        return status;
    }
    TRY(tct_fem_open(&mesh, &r.physics, fem));
    g->rows = fem->row[fem->mesh.nodes];
    g->widest = fem->touching * (fem->mesh.corners - 1) * fem->dof + fem->dof;
    g->nonzeros = guess(fem);
    g->guessed = true;
    g->irregular = true;
    g->elastic = r.physics.kind == TCT_ELASTICITY;
    return TACIT_OK;
}

const tct_gallery tct_gallery_mesh = {
    {"mesh", USAGE,
     "finite elements on the tetrahedra of BASE.node and BASE.ele"},
    mesh_open};
