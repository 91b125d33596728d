/* SPDX-License-Identifier: BSD-3-Clause
 * matrix/open.c - a matrix by its name: of the gallery, or a file. */
#include "device/parallel.h"
#include "gallery/gallery.h"
#include "io/io.h"
#include "matrix/matrix.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Apply the options that change the rows `A`, from any source. */
static tacit_status alter(const char *name, const tacit_matrix_options *o,
                          tct_csr *A)
{
    if (!isfinite(o->shift))
        FAIL(TACIT_INVALID, "a shift of %g: it must be finite", o->shift);
    if (o->shift != 0 && A->global_rows != A->global_cols)
        FAIL(TACIT_INPUT,
             "%s: not square: %" PRId64 " x %" PRId64
             ": only a square matrix can be shifted",
             name, A->global_rows, A->global_cols);
    if (o->shift != 0) TRY(tct_csr_shift(A, o->shift, name));
    if (o->drop_zeros) tct_csr_drop_zeros(A);
    return TACIT_OK;
}

/* Make this rank's rows of the gallery matrix `g`, if those of all processes on
 * this machine fit into its memory. */
static tacit_status make_rows(tacit_world *w, const tct_gallery_matrix *g,
                              const tacit_matrix_options *o, tct_csr *A)
{
    const tct_slabs slabs = tct_slabs_of(g->grid, g->rows, w->size);
    const int64_t first = tct_slab_first(&slabs, w->rank);
    const int64_t last = tct_slab_first(&slabs, w->rank + 1);
    const double bytes = tct_gallery_bytes(g, last - first);
    TRY(tct_memory_require_of(w->local_size, bytes * w->local_size, g->name));
    TRY(tct_gallery_fill(g, first, last - first, A));
    return alter(g->name, o, A);
}

static tacit_status find_points(const tct_gallery_matrix *g, const tct_csr *A,
                                double **out)
{
    TRY(TCT_ALLOC(4 * A->rows, "the points of rows", out));
    g->maker->points(g->data, A->first, A->rows, *out);
    return TACIT_OK;
}

/* The rows without entries, and what makes up for these. */
static tacit_status number_rows(tacit_world *w, const tct_gallery_matrix *g,
                                const tacit_matrix_options *o, tct_csr *A,
                                tct_constant_stencil **out)
{
    const tct_slabs slabs = tct_slabs_of(g->grid, g->rows, w->size);
    const int64_t first = tct_slab_first(&slabs, w->rank);
    if (g->stencil.n[0] == 0)
        FAIL(TACIT_UNSUPPORTED,
             "%s: not opened without entries: its rows are not those of one "
             "stencil with constant coefficients",
             g->name);
    if (!isfinite(o->shift))
        FAIL(TACIT_INVALID, "a shift of %g: it must be finite", o->shift);
    TRY(TCT_ALLOC(1, "a stencil", out));
    **out = g->stencil;
    (*out)->k[TCT_CELL] += o->shift;
    *A = (tct_csr){.global_rows = g->rows,
                   .global_cols = g->rows,
                   .first = first,
                   .rows = tct_slab_first(&slabs, w->rank + 1) - first};
    return TACIT_OK;
}

/* `A` has no entries, and is a matrix of `s`. */
static tacit_status adopt_numbers(tacit_world *world, tacit_status status,
                                  const tct_csr *A, tct_constant_stencil *s,
                                  tacit_matrix **out)
{
    tct_csr none = {.global_rows = A->global_rows,
                    .global_cols = A->global_cols,
                    .first = A->first};
    if (status >= 0)
        status =
            tct_csr_rows(&none, A->global_rows, A->global_cols, A->first, 0);
    status = tct_matrix_adopt(world, status, &none, out);
    if (status < 0) {
        tct_free(s);
        return status;
    }
    (*out)->stencil = s;
    (*out)->nonzeros = tct_stencil_facts_of(s).entries;
    tct_matrix_release_entries(*out);
    (*out)->A.rows = A->rows;
    return TACIT_OK;
}

static tacit_status open_gallery(tacit_world *world, const char *name,
                                 const tacit_matrix_options *o,
                                 tacit_matrix **out)
{
    tct_gallery_matrix *g = NULL;
    tct_csr A = {0};
    tct_constant_stencil *stencil = NULL;
    tacit_status status = tct_gallery_open(name, &g);
    if (status >= 0)
        status = o->no_entries ? number_rows(world, g, o, &A, &stencil)
                               : make_rows(world, g, o, &A);
    const bool irregular = status >= 0 && g->irregular;
    const bool elastic = status >= 0 && g->elastic;
    int64_t grid[3] = {0};
    double *points = NULL;
    if (status >= 0) memcpy(grid, g->grid, sizeof grid);
    if (elastic && g->maker->points) status = find_points(g, &A, &points);
    tct_gallery_close(&g);
    status = o->no_entries ? adopt_numbers(world, status, &A, stencil, out)
                           : tct_matrix_adopt(world, status, &A, out);
    if (status < 0) tct_free(points);
    TRY(status);
    (*out)->format = "gallery";
    (*out)->irregular = irregular;
    (*out)->elastic = elastic;
    (*out)->points = points;
    memcpy((*out)->grid, grid, sizeof grid);
    return TACIT_OK;
}

/* Refuse a name that has no file and resembles a gallery matrix. */
static tacit_status check_misspelt(const char *name)
{
    if (access(name, F_OK) == 0) return TACIT_OK;
    const size_t word = strcspn(name, ":");
    const bool plain = strcspn(name, "/.") >= word;
    const char *near = plain ? tct_gallery_nearest(name) : NULL;
    if (near)
        FAIL(TACIT_INVALID,
             "unknown gallery matrix '%s', and no such file: did you mean "
             "'%s'?",
             name, near);
    if (tct_gallery_looks_like(name))
        FAIL(TACIT_INVALID,
             "unknown gallery matrix '%s', and no such file: 'tacit info "
             "gallery' lists the gallery",
             name);
    return TACIT_OK;
}

static tacit_status open_file(tacit_world *world, const char *path,
                              const tacit_matrix_options *o, tacit_matrix **out)
{
    const bool looks = world->rank == 0 && strcmp(path, "-") != 0;
    /* other ranks may not see the file */
    TRY(tct_agree(world, looks ? check_misspelt(path) : TACIT_OK));
    tct_csr A = {0};
    tct_file_info info = {0};
    if (o->no_entries)
        FAIL(TACIT_UNSUPPORTED,
             "%s: only a gallery matrix is opened without entries", path);
    tacit_status status = tct_read_matrix(world, path, &A, &info);
    if (status >= 0) status = alter(path, o, &A);
    TRY(tct_matrix_adopt(world, status, &A, out));
    (*out)->format = info.format;
    (*out)->summed = info.duplicates;
    (*out)->symmetric_storage = info.symmetric;
    (*out)->own_rhs = info.own_rhs;
    (*out)->irregular = true;
    return TACIT_OK;
}

tacit_status tacit_matrix_open(tacit_world *world, const char *name,
                               const tacit_matrix_options *options,
                               tacit_matrix **out)
{
    REQUIRE(world != NULL, name != NULL, out != NULL);
    TCT_THREADS_AT_MOST(tct_world_threads(world));
    tacit_matrix_options o = {0};
    if (options)
        TRY(tct_read_sized("tacit_matrix_options", options, &o, sizeof o));
    TRY(tct_agree_name(world, "the matrix", name));
    TRY(tct_gallery_find(name, NULL) ? open_gallery(world, name, &o, out)
                                     : open_file(world, name, &o, out));
    (*out)->shift = o.shift;
    return TACIT_OK;
}
